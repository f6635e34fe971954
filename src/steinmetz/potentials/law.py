"""The law: one object that prints, predicts and is exported."""

import equinox as eqx
import jax
from jaxtyping import Array, Float

from steinmetz.nouns import Reference
from steinmetz.potentials.base import normalised_energy, slopes
from steinmetz.potentials.graph import Graph


class Law(eqx.Module):
    """A pruned graph with its parameter values and the reference state that normalises it."""

    graph: Graph
    values: Float[Array, "parameters"]
    reference: Reference = eqx.field(static=True)

    def energy(self, x: Float[Array, "data inputs"]) -> Float[Array, "data"]:
        """Ψ̂ at many inputs."""
        return _energies(self, x)

    def slopes(self, x: Float[Array, "data inputs"]) -> Float[Array, "data inputs"]:
        """∇Ψ̂ at many inputs."""
        return _slopes(self, x)

    def names(self) -> tuple[str, ...]:
        """A name per parameter: target and source of its (first) edge, such as 'h1_J' or 'out_I1'."""
        return parameter_names(self.graph)


@eqx.filter_jit
def _energies(law: Law, x: Float[Array, "data inputs"]) -> Float[Array, "data"]:
    return jax.vmap(lambda row: normalised_energy(law.graph, law.reference, law.values, row))(x)


@eqx.filter_jit
def _slopes(law: Law, x: Float[Array, "data inputs"]) -> Float[Array, "data inputs"]:
    return slopes(law.graph, law.reference, law.values, x)


def parameter_names(graph: Graph) -> tuple[str, ...]:
    """'out_I1', 'h1_J', 'h2_h1', …: target, then source, units counted from 1."""

    def label(node: int) -> str:
        if node < len(graph.inputs):
            return graph.inputs[node]
        return "out" if node == graph.out else f"h{node - len(graph.inputs) + 1}"

    found: dict[int, str] = {}
    for edge in graph.edges:
        found.setdefault(edge.parameter, f"{label(edge.target)}_{label(edge.source)}")
    return tuple(found[index] for index in range(graph.size))
