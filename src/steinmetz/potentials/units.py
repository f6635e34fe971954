"""Natural units: the sizes in which data and parameters are numbers near one.

Inputs are measured in units of their sizes (a strain of 0.1 is one), Ψ in units of the modulus of
the data, so that one learning rate, one prior and one rule of trimming suit every material and
every unit of stress. Training, search and prior all work in these units; a law that leaves them is
brought into the units of the data by `NaturalUnits.outward`.
"""

from typing import NamedTuple

import jax.numpy as jnp
import numpy as np
from jaxtyping import Float

from steinmetz import host
from steinmetz.data import noise
from steinmetz.data.quadratic import Quadratic, compress
from steinmetz.potentials.activations import ACTIVATIONS
from steinmetz.potentials.graph import UNIT, Graph
from steinmetz.potentials.law import Law
from steinmetz.potentials.mechanics import Terms
from steinmetz.records import Observations, Reference
from steinmetz.shapes import Cells, Theta

Sizes = tuple[float, ...]


class NaturalUnits(NamedTuple):
    """The data and the reference in natural units, with the way back.

    `observations` and `reference` are scaled by `sizes`; `outer` is the reference in the units of
    the data. `floor` is the share of the root-mean-square stress that is allowed as discrepancy.
    """

    observations: Observations
    reference: Reference
    outer: Reference
    sizes: Sizes
    modulus: float
    floor: float

    @classmethod
    def of(
        cls, observations: Observations, reference: Reference, sizes: Sizes, floor: float
    ) -> "NaturalUnits":
        """Measure data in units of input sizes and of their own modulus."""
        scaled, near = observations.scaled(sizes), reference.scaled(sizes)
        return cls(scaled, near, reference, sizes, scaled.modulus(near), floor)

    def parameters(self, graph: Graph | Terms) -> Theta:
        """The natural unit of every parameter of a graph."""
        return host.held(parameter_units(graph, self.sizes, self.modulus))

    def weighted(self, prediction: Cells, min_relative_noise: float = 0.0) -> Quadratic:
        """Residuals in units of the noise, whose size is judged at a prediction (method §3)."""
        least = jnp.maximum(self.observations.relative, min_relative_noise)
        judged = self.observations._replace(relative=least)
        quadratic = compress(self.observations, noise.deviation(judged, prediction, self.floor))
        return quadratic._replace(factor=quadratic.factor * self.modulus)

    def predict(self, law: Law) -> Cells:
        """ŷ = B ∇Ψ̂ of a law in natural units, in the unit of the data."""
        return self.modulus * law.stress(self.observations.map)

    def outward(self, law: Law) -> Law:
        """A law in natural units as the same law in the units of the data."""
        return Law(law.graph, law.values * self.parameters(law.graph), self.outer)


def parameter_units(
    graph: Graph | Terms, sizes: Sizes, modulus: float
) -> Float[np.ndarray, "parameters"]:
    """The natural unit of every parameter: input i has the size `sizes[i]`, Ψ the size `modulus`.

    A softplus unit sees a pure number. A unit without a scale of its own (`degree`) has the size
    that its edge of weight one gives it. A weight on an edge then has the unit of what it leads to
    over the unit of what it comes from.
    """
    if isinstance(graph, Terms):
        return graph.units(modulus)
    node = dict(enumerate(sizes))
    units: dict[int, float] = {}
    for target in (*graph.units(), graph.out):
        fixed = [edge for edge in graph.into(target) if edge.parameter == UNIT]
        argument = modulus if target == graph.out else (node[fixed[0].source] if fixed else 1.0)
        degree = None if target == graph.out else ACTIVATIONS[graph.activation(target)].degree
        node[target] = argument**degree if degree is not None else 1.0
        for _, source, parameter in graph.into(target):
            if parameter == UNIT:
                continue
            unit = argument / node[source]
            if not np.isclose(units.setdefault(parameter, unit), unit):
                raise ValueError(
                    "a shared parameter cannot have two units; use a potential without tied weights"
                )
    return np.array([units[index] for index in range(graph.size)])
