"""Laws as arrays of one padded size: the graph is data, so that one program serves all of them.

Edges, activations and parameters are arrays that are filled up to a common size; what is filled up
points to a weight that is always zero.
"""

from typing import NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, Int

from steinmetz import host
from steinmetz.potentials.activations import ACTIVATIONS
from steinmetz.potentials.graph import UNIT, Graph
from steinmetz.potentials.law import Law
from steinmetz.potentials.mechanics import Terms
from steinmetz.records import Reference
from steinmetz.shapes import Inputs, Points, Scalar, Theta

# Sizes are rounded up to multiples of this, to save compilations.
_ROUND = 4

Numbers = Array | np.ndarray


class Padded(NamedTuple):
    """Graphs of one padded size: edge e adds θ[parameter] to weight (row, column).

    The last row is the output. After the parameters stand a zero, to which padding edges point, and
    a one, the weight of unit edges. `real` marks the parameters that are not padding.
    """

    row: Int[Numbers, "*batch edges"]
    column: Int[Numbers, "*batch edges"]
    parameter: Int[Numbers, "*batch edges"]
    activation: Int[Numbers, "*batch units"]
    nonnegative: Bool[Numbers, "*batch parameters"]
    real: Bool[Numbers, "*batch parameters"]
    values: Float[Numbers, "*batch parameters"]


class Size(NamedTuple):
    """Everything with at most so many parameters, units, edges and layers, of these kinds, fits."""

    parameters: int
    units: int
    edges: int
    depth: int
    kinds: tuple[str, ...]

    @classmethod
    def of(cls, graphs: list[Graph]) -> "Size":
        """Smallest size that holds all graphs, rounded up."""
        counts = [(graph.size, len(graph.activations), len(graph.edges)) for graph in graphs]
        most = (max(numbers) for numbers in zip(*counts, strict=True))
        parameters, units, edges = (max(_ROUND, -(-number // _ROUND) * _ROUND) for number in most)
        return cls(parameters, units, edges, max(map(_depth, graphs)), _kinds(graphs))

    @classmethod
    def small(cls, graphs: list[Graph], parameters: int, depth: int) -> "Size":
        """Size for nearly all laws of at most `parameters` on the way down from these graphs.

        A guess: two units for three parameters, and as many edges per parameter as in the graphs.
        What does not fit goes to the larger program.
        """
        uses = max(int(graph.uses().max(initial=0)) for graph in graphs)
        kinds = _kinds(graphs)
        # a unit without a scale of its own has one edge that costs no parameter
        spare = parameters if any(ACTIVATIONS[kind].degree is not None for kind in kinds) else 0
        units, edges = 2 * parameters // 3 + spare // 3, uses * parameters + spare
        return cls(parameters, units, edges, depth, kinds)

    def holds(self, graph: Graph) -> bool:
        """Whether a graph fits."""
        sizes = (graph.size, len(graph.activations), len(graph.edges), _depth(graph))
        fits = all(size <= limit for size, limit in zip(sizes, self[:4], strict=True))
        return fits and set(graph.activations) <= set(self.kinds)


def _kinds(graphs: list[Graph]) -> tuple[str, ...]:
    """Activations that occur, at least one."""
    return tuple(sorted({name for graph in graphs for name in graph.activations})) or ("softplus",)


def _depth(graph: Graph) -> int:
    """Longest chain of units, at least one."""
    return max(1, len(graph.layers))


def _pad(law: Law, size: Size) -> Padded:
    """One law as padded arrays, in the order of the fields of `Padded`."""
    graph, inputs = law.network, len(law.network.inputs)
    shift = {graph.out: size.units}
    place = {UNIT: size.parameters + 1}
    edges = [
        (shift.get(target, target - inputs), source, place.get(parameter, parameter))
        for target, source, parameter in graph.edges
    ]
    edges += [(0, 0, size.parameters)] * (size.edges - len(edges))
    row, column, parameter = np.array(edges).T
    kinds = [size.kinds.index(name) for name in graph.activations]
    kinds += [0] * (size.units - len(kinds))
    spare = size.parameters - graph.size
    signs = np.array(graph.nonnegative + (False,) * spare)
    values = np.concatenate([np.asarray(law.values), np.zeros(spare)])
    real = np.arange(size.parameters) < graph.size
    return Padded(row, column, parameter, np.array(kinds, int), signs, real, values)


def pad(laws: list[Law], size: Size) -> Padded:
    """Many laws as padded arrays, one law per row."""
    rows = [_pad(law, size) for law in laws]
    return Padded(*(jnp.asarray(np.stack(arrays)) for arrays in zip(*rows, strict=True)))


def padded_slopes(
    padded: Padded, size: Size, reference: Reference, theta: Theta, x: Points
) -> Points:
    """∇Ψ̂ of one padded law by forward accumulation.

    After `depth` sweeps over all units at once, every unit and its slope in x are exact.
    """
    inputs = x.shape[1]
    units = padded.activation.shape[-1]
    extended = jnp.concatenate([theta, jnp.array([0.0, 1.0])])[padded.parameter]
    weights = jnp.zeros((units + 1, inputs + units)).at[padded.row, padded.column].add(extended)
    on_inputs, on_units = weights[:, :inputs], weights[:, inputs:]
    functions = [ACTIVATIONS[kind].both for kind in size.kinds]

    def activate(code: Int[Array, ""], z: Scalar) -> tuple[Scalar, Scalar]:
        value, rate = functions[0](z)
        for number, function in enumerate(functions[1:], start=1):
            other = function(z)
            value = jnp.where(code == number, other[0], value)
            rate = jnp.where(code == number, other[1], rate)
        return value, rate

    def at(point: Inputs) -> Inputs:
        value, slope = jnp.zeros(units), jnp.zeros((units, inputs))
        for _ in range(size.depth):
            z = on_inputs[:-1] @ point + on_units[:-1] @ value
            raw = on_inputs[:-1] + on_units[:-1] @ slope
            value, rate = jax.vmap(activate)(jnp.asarray(padded.activation), z)
            slope = rate[:, None] * raw
        return on_inputs[-1] + on_units[-1] @ slope

    return jax.vmap(at)(x) - reference.removed(at(jnp.asarray(reference.point)))


@eqx.filter_jit
def _slopes(
    padded: Padded, size: Size, reference: Reference, x: Points
) -> Float[Array, "laws data inputs"]:
    def of(law: Padded) -> Points:
        return padded_slopes(law, size, reference, jnp.asarray(law.values), x)

    return jax.vmap(of)(padded)


def many_slopes(laws: list[Law], x: Points) -> Float[Array, "laws data inputs"]:
    """∇Ψ̂ of many laws with one reference, graphs in one program."""
    if any(isinstance(law.graph, Terms) for law in laws):
        return host.held(np.stack([np.asarray(law.slopes(x)) for law in laws]))
    size = Size.of([law.network for law in laws])
    slopes: Array = _slopes(pad(laws, size), size, laws[0].reference, x)
    return slopes
