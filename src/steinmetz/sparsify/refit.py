"""Refit many small laws at once by Levenberg–Marquardt, with the graph as data: one program serves all of them."""

from collections.abc import Callable
from typing import NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, Int

from steinmetz.data.quadratic import Quadratic, residuals
from steinmetz.potentials.activations import ACTIVATIONS
from steinmetz.potentials.graph import UNIT, Graph
from steinmetz.potentials.law import Law
from steinmetz.records import Reference

# No unconstrained parameter moves further than this in one step.
_LONGEST = 2.0
# A step that lowers χ² by less than this (or by rounding) has converged.
_NOTHING, _ROUNDING = 1e-4, 1e-9
# Laws refitted together; a batch is worked through in groups of this many, so that a short list costs little.
_GROUP = 8


class Padded(NamedTuple):
    """Graphs of one padded size: edge e adds θ[parameter] to weight (row, column); the last row is the output.

    After the parameters stand a zero, to which padding edges point, and a one, the weight of unit edges.
    """

    row: Int[Array | np.ndarray, "*batch edges"]
    column: Int[Array | np.ndarray, "*batch edges"]
    parameter: Int[Array | np.ndarray, "*batch edges"]
    activation: Int[Array | np.ndarray, "*batch units"]
    nonnegative: Bool[Array | np.ndarray, "*batch parameters"]
    real: Bool[Array | np.ndarray, "*batch parameters"]
    values: Float[Array | np.ndarray, "*batch parameters"]


class Fitted(NamedTuple):
    """Refitted parameters, χ² and the rise of χ² that removing each parameter would cost (to second order)."""

    values: Float[np.ndarray, "batch parameters"]
    misfit: Float[np.ndarray, "batch"]
    saliency: Float[np.ndarray, "batch parameters"]


class Size(NamedTuple):
    """Padded size: everything with at most so many parameters, units, edges and layers, of these kinds, fits."""

    parameters: int
    units: int
    edges: int
    depth: int
    kinds: tuple[str, ...]

    @classmethod
    def of(cls, graphs: list[Graph]) -> "Size":
        """Smallest size that holds all graphs, rounded up to multiples of four to save compilations."""

        def up(numbers: list[int]) -> int:
            return max(4, -(-max(numbers) // 4) * 4)

        return cls(
            up([graph.size for graph in graphs]),
            up([len(graph.activations) for graph in graphs]),
            up([len(graph.edges) for graph in graphs]),
            max(_depth(graph) for graph in graphs),
            _kinds(graphs),
        )

    @classmethod
    def small(cls, graphs: list[Graph], parameters: int, depth: int) -> "Size":
        """Size for nearly all laws of at most `parameters` parameters on the way down from these graphs."""
        counts = [
            np.bincount([e.parameter for e in g.edges if e.parameter != UNIT], minlength=1)
            for g in graphs
        ]
        uses = max(int(count.max()) for count in counts)
        kinds = _kinds(graphs)
        # a unit without a scale of its own has one edge that costs no parameter
        spare = parameters if any(ACTIVATIONS[kind].degree is not None for kind in kinds) else 0
        return cls(
            parameters, 2 * parameters // 3 + spare // 3, uses * parameters + spare, depth, kinds
        )

    def holds(self, graph: Graph) -> bool:
        """Whether a graph fits."""
        sizes = (graph.size, len(graph.activations), len(graph.edges), _depth(graph))
        fits = all(size <= limit for size, limit in zip(sizes, self[:4], strict=True))
        return fits and set(graph.activations) <= set(self.kinds)


def _kinds(graphs: list[Graph]) -> tuple[str, ...]:
    """Activations that occur, at least one."""
    return tuple(sorted({name for graph in graphs for name in graph.activations})) or ("softplus",)


def _depth(graph: Graph) -> int:
    """Longest chain of units."""
    return max(1, len(graph.levels))


def pad(law: Law, size: Size) -> Padded:
    """One law as padded arrays."""
    graph, inputs = law.graph, len(law.graph.inputs)
    shift = {graph.out: size.units}
    place = {UNIT: size.parameters + 1}
    edges = [
        (shift.get(e.target, e.target - inputs), e.source, place.get(e.parameter, e.parameter))
        for e in graph.edges
    ]
    edges += [(0, 0, size.parameters)] * (size.edges - len(edges))
    row, column, parameter = np.array(edges).T
    activation = [size.kinds.index(name) for name in graph.activations]
    activation += [0] * (size.units - len(graph.activations))
    spare = size.parameters - graph.size
    return Padded(
        row,
        column,
        parameter,
        np.array(activation, int),
        np.array(graph.nonnegative + (False,) * spare),
        np.arange(size.parameters) < graph.size,
        np.concatenate([np.asarray(law.values), np.zeros(spare)]),
    )


def _padded_slopes(
    padded: Padded,
    size: Size,
    reference: Reference,
    theta: Float[Array, "parameters"],
    x: Float[Array, "data inputs"],
) -> Float[Array, "data inputs"]:
    """∇Ψ̂ by forward accumulation: after `depth` sweeps every unit and its slope in x are exact."""
    inputs = x.shape[1]
    units = padded.activation.shape[-1]
    extended = jnp.concatenate([theta, jnp.array([0.0, 1.0])])[padded.parameter]
    weights = jnp.zeros((units + 1, inputs + units)).at[padded.row, padded.column].add(extended)
    on_inputs, on_units = weights[:, :inputs], weights[:, inputs:]
    functions = [ACTIVATIONS[kind].both for kind in size.kinds]

    def activate(
        code: Int[Array, ""], z: Float[Array, ""]
    ) -> tuple[Float[Array, ""], Float[Array, ""]]:
        every = [function(z) for function in functions]
        found = every[0]
        for other, pair in enumerate(every[1:], start=1):
            found = jax.tree.map(
                lambda a, b, other=other: jnp.where(code == other, b, a), found, pair
            )
        return found

    def at(row: Float[Array, "inputs"]) -> Float[Array, "inputs"]:
        value, slope = jnp.zeros(units), jnp.zeros((units, inputs))
        for _ in range(size.depth):
            z = on_inputs[:-1] @ row + on_units[:-1] @ value
            raw = on_inputs[:-1] + on_units[:-1] @ slope
            value, rate = jax.vmap(activate)(jnp.asarray(padded.activation), z)
            slope = rate[:, None] * raw
        return on_inputs[-1] + on_units[-1] @ slope

    return jax.vmap(at)(x) - reference.removed(at(jnp.asarray(reference.point)))


def _free(
    theta: Float[Array, "parameters"], signed: Bool[Array, "parameters"]
) -> Float[Array, "parameters"]:
    """Inverse of `_bound`."""
    positive = jnp.maximum(theta, 1e-6)
    return jnp.where(signed, positive + jnp.log(-jnp.expm1(-positive)), theta)


def _bound(
    free: Float[Array, "parameters"], signed: Bool[Array, "parameters"]
) -> Float[Array, "parameters"]:
    """Unconstrained numbers to parameters: softplus where the sign is fixed."""
    return jnp.where(signed, jax.nn.softplus(free), free)


def _levenberg_marquardt(
    function: Callable[[Array], Array], start: Float[Array, "parameters"], steps: int
) -> Float[Array, "parameters"]:
    """Damped Gauss–Newton with Marquardt's scaling, made to be mapped over many laws.

    Ends after `steps` trials, or when two accepted ones in a row gain next to nothing. Under `vmap` it compiles about
    twice as fast as a general solver (`benchmarks/refit.py`), and compilation is most of what a user waits for here.
    """
    basis = jnp.eye(start.size)

    def linearise(x: Array) -> tuple[Array, Array]:
        rows, push = jax.linearize(function, x)
        return rows, jax.vmap(push)(basis)

    def step(carry: tuple) -> tuple:
        index, still, x, damping, cost, rows, jacobian = carry
        normal = jacobian @ jacobian.T
        damped = normal + jnp.diag(damping * (jnp.diag(normal) + 1e-8) + 1e-9)
        move = -jax.scipy.linalg.solve(damped, jacobian @ rows, assume_a="pos")
        trial = x + jnp.clip(jnp.nan_to_num(move), -_LONGEST, _LONGEST)
        trial_rows, trial_jacobian = linearise(trial)
        trial_cost = jnp.sum(trial_rows**2)
        better = trial_cost < cost  # false for NaN: a failed trial is never taken
        gain = cost - trial_cost
        still = jnp.where(
            better, jnp.where(gain < _NOTHING + _ROUNDING * cost, still + 1, 0), still
        )
        new = (trial, damping * 0.2, trial_cost, trial_rows, trial_jacobian)
        old = (x, damping * 4, cost, rows, jacobian)
        return (index + 1, still, *jax.tree.map(lambda a, b: jnp.where(better, a, b), new, old))

    rows, jacobian = linearise(start)
    carry = (0, jnp.zeros((), int), start, jnp.asarray(1e-2), jnp.sum(rows**2), rows, jacobian)
    return jax.lax.while_loop(lambda carry: (carry[0] < steps) & (carry[1] < 2), step, carry)[2]


@eqx.filter_jit
def _refit(
    padded: Padded,
    groups: Int[Array, ""],
    size: Size,
    reference: Reference,
    quadratic: Quadratic,
    ridge: float,
    steps: int,
) -> tuple[Array, Array, Array]:
    """Refit the first `groups` groups of laws; the rest of the batch is padding."""

    def one(padded: Padded) -> tuple[Array, Array, Array]:
        real, signed = jnp.asarray(padded.real), jnp.asarray(padded.nonnegative)

        def stacked(theta: Float[Array, "parameters"]) -> Float[Array, "rows"]:
            slope = _padded_slopes(padded, size, reference, theta, quadratic.inputs)
            return jnp.concatenate([residuals(quadratic, slope).ravel(), ridge * theta])

        def bound(free: Float[Array, "parameters"]) -> Float[Array, "parameters"]:
            return jnp.where(real, _bound(free, signed), 0.0)

        start = _free(jnp.asarray(padded.values), signed)
        theta = bound(_levenberg_marquardt(lambda free: stacked(bound(free)), start, steps))
        jacobian = jax.jacfwd(stacked)(theta)
        curvature = jacobian.T @ jacobian + jnp.diag(jnp.where(real, 1e-9, 1.0))
        saliency = theta**2 / jnp.diag(jnp.linalg.inv(curvature))
        misfit = jnp.sum(stacked(theta)[: -theta.size] ** 2) + quadratic.constant
        return theta, misfit, saliency

    def group(
        index: Int[Array, ""], found: tuple[Array, Array, Array]
    ) -> tuple[Array, Array, Array]:
        taken = jax.tree.map(
            lambda a: jax.lax.dynamic_slice_in_dim(a, index * _GROUP, _GROUP), padded
        )
        fitted = jax.vmap(one)(taken)
        return jax.tree.map(
            lambda a, b: jax.lax.dynamic_update_slice_in_dim(a, b, index * _GROUP, 0), found, fitted
        )

    batch = padded.values.shape
    return jax.lax.fori_loop(
        0, groups, group, (jnp.zeros(batch), jnp.zeros(batch[:1]), jnp.zeros(batch))
    )


def refit(
    laws: list[Law], size: Size, quadratic: Quadratic, ridge: float, steps: int, batch: int
) -> tuple[list[Law], Fitted]:
    """Minimise χ² + ridge² ‖θ‖² for every law; `batch` is the padded number of laws (one compilation)."""
    groups = -(-len(laws) // _GROUP)
    filled = laws + [laws[0]] * (max(-(-batch // _GROUP), groups) * _GROUP - len(laws))
    arrays = (np.stack(arrays) for arrays in zip(*(pad(law, size) for law in filled), strict=True))
    padded = Padded(*(jnp.asarray(array) for array in arrays))
    out = _refit(padded, jnp.asarray(groups), size, laws[0].reference, quadratic, ridge, steps)
    fitted = Fitted(*(np.asarray(array)[: len(laws)] for array in out))
    renewed = [
        Law(law.graph, jnp.asarray(values[: law.graph.size]), law.reference)
        for law, values in zip(laws, fitted.values, strict=True)
    ]
    return renewed, fitted


@eqx.filter_jit
def _slopes(
    padded: Padded, size: Size, reference: Reference, x: Float[Array, "data inputs"]
) -> Array:
    return jax.vmap(lambda one: _padded_slopes(one, size, reference, jnp.asarray(one.values), x))(
        padded
    )


def many_slopes(
    laws: list[Law], x: Float[Array, "data inputs"]
) -> Float[Array, "laws data inputs"]:
    """∇Ψ̂ of many laws with one reference, in one program."""
    size = Size.of([law.graph for law in laws])
    arrays = (np.stack(arrays) for arrays in zip(*(pad(law, size) for law in laws), strict=True))
    return _slopes(Padded(*(jnp.asarray(array) for array in arrays)), size, laws[0].reference, x)
