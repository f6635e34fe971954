"""Refit many small laws at once by Levenberg–Marquardt, with the graph as data: one program serves all of them."""

from collections.abc import Callable
from typing import NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, Int

from steinmetz.data.quadratic import Quadratic, residuals
from steinmetz.nouns import Reference
from steinmetz.potentials.activations import ACTIVATIONS
from steinmetz.potentials.graph import Graph
from steinmetz.potentials.law import Law

# No unconstrained parameter moves further than this in one step.
_LONGEST = 2.0
_CODES = {name: code for code, name in enumerate(ACTIVATIONS)}


class Padded(NamedTuple):
    """Graphs of one padded size: edge e adds θ[parameter] to weight (row, column); the last row is the output.

    Padding edges point to a parameter slot that is always zero.
    """

    row: Int[np.ndarray, "*batch edges"]
    column: Int[np.ndarray, "*batch edges"]
    parameter: Int[np.ndarray, "*batch edges"]
    activation: Int[np.ndarray, "*batch units"]
    nonnegative: Bool[np.ndarray, "*batch parameters"]
    real: Bool[np.ndarray, "*batch parameters"]
    values: Float[np.ndarray, "*batch parameters"]


class Fitted(NamedTuple):
    """Refitted parameters, χ² and the rise of χ² that removing each parameter would cost (to second order)."""

    values: Float[np.ndarray, "batch parameters"]
    misfit: Float[np.ndarray, "batch"]
    saliency: Float[np.ndarray, "batch parameters"]


class Size(NamedTuple):
    """Padded size: everything with at most so many parameters, units, edges and layers fits."""

    parameters: int
    units: int
    edges: int
    depth: int

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
        )

    @classmethod
    def small(cls, graph: Graph, parameters: int, depth: int) -> "Size":
        """Size for nearly all laws of at most `parameters` parameters pruned from a graph like this one."""
        uses = max(sum(edge.parameter == index for edge in graph.edges) for index in range(graph.size))
        return cls(parameters, 2 * parameters // 3, uses * parameters, depth)

    def holds(self, graph: Graph) -> bool:
        """Whether a graph fits."""
        sizes = (graph.size, len(graph.activations), len(graph.edges), _depth(graph))
        return all(size <= limit for size, limit in zip(sizes, self, strict=True))


def _depth(graph: Graph) -> int:
    """Longest chain of units."""
    depth = dict.fromkeys(range(len(graph.inputs)), 0)
    for node in graph.units():
        depth[node] = 1 + max((depth[edge.source] for edge in graph.into(node)), default=0)
    return max(1, max(depth.values()))


def pad(law: Law, size: Size) -> Padded:
    """One law as padded arrays."""
    graph, inputs = law.graph, len(law.graph.inputs)
    shift = {graph.out: size.units}
    edges = [(shift.get(e.target, e.target - inputs), e.source, e.parameter) for e in graph.edges]
    edges += [(0, 0, size.parameters)] * (size.edges - len(edges))
    row, column, parameter = np.array(edges).T
    activation = [_CODES[name] for name in graph.activations] + [0] * (size.units - len(graph.activations))
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
    depth: int,
    reference: Reference,
    theta: Float[Array, "parameters"],
    x: Float[Array, "data inputs"],
) -> Float[Array, "data inputs"]:
    """∇Ψ̂ by forward accumulation: after `depth` sweeps every unit and its slope in x are exact."""
    inputs = x.shape[1]
    units = padded.activation.shape[-1]
    extended = jnp.append(theta, 0.0)[padded.parameter]
    weights = jnp.zeros((units + 1, inputs + units)).at[padded.row, padded.column].add(extended)
    on_inputs, on_units = weights[:, :inputs], weights[:, inputs:]
    functions = [activation.value for activation in ACTIVATIONS.values()]

    def activate(code: Int[Array, ""], z: Float[Array, ""]) -> tuple[Float[Array, ""], Float[Array, ""]]:
        return jax.lax.switch(code, [jax.value_and_grad(function) for function in functions], z)

    def at(row: Float[Array, "inputs"]) -> Float[Array, "inputs"]:
        value, slope = jnp.zeros(units), jnp.zeros((units, inputs))
        for _ in range(depth):
            z = on_inputs[:-1] @ row + on_units[:-1] @ value
            raw = on_inputs[:-1] + on_units[:-1] @ slope
            value, rate = jax.vmap(activate)(jnp.asarray(padded.activation), z)
            slope = rate[:, None] * raw
        return on_inputs[-1] + on_units[-1] @ slope

    n = jnp.asarray(reference.weights) @ at(jnp.asarray(reference.point))
    return jax.vmap(at)(x) - n * jnp.asarray(reference.direction)


def _free(theta: Float[Array, "parameters"], signed: Bool[Array, "parameters"]) -> Float[Array, "parameters"]:
    """Inverse of `_bound`."""
    positive = jnp.maximum(theta, 1e-6)
    return jnp.where(signed, positive + jnp.log(-jnp.expm1(-positive)), theta)


def _bound(free: Float[Array, "parameters"], signed: Bool[Array, "parameters"]) -> Float[Array, "parameters"]:
    """Unconstrained numbers to parameters: softplus where the sign is fixed."""
    return jnp.where(signed, jax.nn.softplus(free), free)


def _levenberg_marquardt(
    function: Callable[[Array], Array], start: Float[Array, "parameters"], steps: int
) -> Float[Array, "parameters"]:
    """Damped Gauss–Newton with Marquardt's scaling, a fixed number of steps, made to be mapped over many laws.

    Under `vmap` it compiles about twice as fast as a general solver (`benchmarks/refit.py`), and compilation is most of
    what a user waits for here.
    """
    basis = jnp.eye(start.size)

    def linearise(x: Array) -> tuple[Array, Array]:
        rows, push = jax.linearize(function, x)
        return rows, jax.vmap(push)(basis)

    def step(carry: tuple, _: None) -> tuple[tuple, None]:
        x, damping, cost, rows, jacobian = carry
        normal = jacobian @ jacobian.T
        damped = normal + jnp.diag(damping * (jnp.diag(normal) + 1e-8) + 1e-9)
        move = -jax.scipy.linalg.solve(damped, jacobian @ rows, assume_a="pos")
        trial = x + jnp.clip(jnp.nan_to_num(move), -_LONGEST, _LONGEST)
        trial_rows, trial_jacobian = linearise(trial)
        trial_cost = jnp.sum(trial_rows**2)
        better = trial_cost < cost  # false for NaN: a failed trial is never taken
        new = (trial, damping * 0.2, trial_cost, trial_rows, trial_jacobian)
        old = (x, damping * 4, cost, rows, jacobian)
        return jax.tree.map(lambda a, b: jnp.where(better, a, b), new, old), None

    rows, jacobian = linearise(start)
    carry = (start, jnp.asarray(1e-2), jnp.sum(rows**2), rows, jacobian)
    return jax.lax.scan(step, carry, None, length=steps)[0][0]


@eqx.filter_jit
def _refit(
    padded: Padded, depth: int, reference: Reference, quadratic: Quadratic, ridge: float, steps: int
) -> tuple[Array, Array, Array]:
    def one(padded: Padded) -> tuple[Array, Array, Array]:
        real, signed = jnp.asarray(padded.real), jnp.asarray(padded.nonnegative)

        def stacked(theta: Float[Array, "parameters"]) -> Float[Array, "rows"]:
            slope = _padded_slopes(padded, depth, reference, theta, quadratic.inputs)
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

    return jax.vmap(one)(padded)


def refit(
    laws: list[Law], size: Size, quadratic: Quadratic, ridge: float, steps: int, batch: int
) -> tuple[list[Law], Fitted]:
    """Minimise χ² + ridge² ‖θ‖² for every law; `batch` is the padded number of laws (one compilation)."""
    filled = laws + [laws[0]] * (batch - len(laws))
    padded = Padded(*(np.stack(arrays) for arrays in zip(*(pad(law, size) for law in filled), strict=True)))
    out = _refit(padded, size.depth, laws[0].reference, quadratic, ridge, steps)
    fitted = Fitted(*(np.asarray(array)[: len(laws)] for array in out))
    renewed = [
        Law(law.graph, jnp.asarray(values[: law.graph.size]), law.reference)
        for law, values in zip(laws, fitted.values, strict=True)
    ]
    return renewed, fitted
