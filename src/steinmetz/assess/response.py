"""Energies, slopes and second derivatives of many laws where a material wants them examined.

Geometry (inputs x of a state, and how they change along a line of states) does not depend on the
law: it is computed once. Then, with g and H the slopes and the Hessian of Ψ̂ in x,

    d²Ψ̂ = g · d²x + dx · H dx,

for every law in one compiled program.
"""

from typing import NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, Int

from steinmetz import host
from steinmetz.materials.base import Material, States
from steinmetz.materials.demands import Demands, Increments
from steinmetz.potentials.base import Potential
from steinmetz.records import Reference
from steinmetz.shapes import Points, Theta

# Rounding in energies, relative to the numbers they are the difference of.
_ROUNDING = 1e-9


class Lines(NamedTuple):
    """Inputs at states, and their first and second derivatives along bases of changes of state."""

    inputs: Float[Array, "states inputs"]
    first: Float[Array, "states directions vectors inputs"]
    second: Float[Array, "states directions vectors vectors inputs"]


class Probe(NamedTuple):
    """Where a material's laws are examined, as inputs of the potential.

    `looks` are the steps of every path that make up its last two factors of ten: the last, that a
    factor of ten before and that of a hundred. `states` are those of the search for
    counter-examples, which no measurement here needs.
    """

    operator: Float[Array, "components inputs"]
    moduli: Lines
    increments: Lines
    far: Points
    paths: Float[Array, "paths steps inputs"]
    looks: Int[Array, "paths 3"]
    tangents: Points
    states: Points


class Response(NamedTuple):
    """What was measured of every law.

    `offset` and `tilt` are those of the normalisation, Ψ̂ = Ψ − offset − tilt · (x − x₀); `stress`
    is the largest at the reference; `margin` is the least second derivative along unit m ⊗ N, and
    `weakest` the number of the state where; `scale` is the largest, for rounding. `least` is the
    least Ψ̂ at far states, `lowest` the number of the state, and `negative` says whether it lies
    below zero beyond rounding. `ends` is Ψ̂ on the last steps of paths (`looks`), `peaks` and `dips`
    the most and the least on them; `slopes` are those of Ψ̂ at the points of tangents.
    """

    offset: Float[np.ndarray, "laws"]
    tilt: Float[np.ndarray, "laws inputs"]
    stress: Float[np.ndarray, "laws"]
    moduli: Float[np.ndarray, "laws moduli"]
    margin: Float[np.ndarray, "laws"]
    weakest: Int[np.ndarray, "laws"]
    scale: Float[np.ndarray, "laws"]
    least: Float[np.ndarray, "laws"]
    lowest: Int[np.ndarray, "laws"]
    negative: Bool[np.ndarray, "laws"]
    ends: Float[np.ndarray, "laws paths 3"]
    peaks: Float[np.ndarray, "laws paths"]
    dips: Float[np.ndarray, "laws paths"]
    slopes: Float[np.ndarray, "laws tangents inputs"]


def probe(material: Material, demands: Demands, operator: Array, states: States) -> Probe:
    """The geometry of all that is demanded, and inputs at further `states`.

    Tangents are taken at the reference and on the first decade of paths.
    """
    columns, none = len(material.state), np.zeros((0, len(material.state)))
    middle = np.asarray(material.undeformed)[None]
    bent = demands.increments or Increments("", none, np.zeros((0, 1, 1, columns)))
    far = none if demands.far is None else demands.far.states
    steps = max((limit.paths.shape[1] for limit in demands.limits), default=1)
    paths = [_lengthened(limit.paths, steps).reshape(-1, columns) for limit in demands.limits]
    forced = [limit for limit in demands.limits if limit.signs]
    near = [limit.paths[:, : limit.decade + 1].reshape(-1, columns) for limit in forced]
    decades = [limit.decade for limit in demands.limits for _ in limit.labels]
    parts = [middle, bent.states, far, np.concatenate([none, *paths]), *near, states]
    ends = np.cumsum([len(part) for part in parts])[:-1]
    x, first, second = _derivatives(material, np.concatenate(parts), int(ends[1]))
    inputs = np.split(x, ends)
    directions = np.array([row.direction for row in demands.moduli]).reshape(1, -1, 1, columns)
    return Probe(
        operator=operator,
        moduli=_lines(inputs[0], directions, first[:1], second[:1]),
        increments=_lines(inputs[1], bent.bases, first[1:], second[1:]),
        far=host.held(inputs[2]),
        paths=host.held(inputs[3].reshape(-1, steps, x.shape[1])),
        looks=host.held(steps - 1 - np.outer(np.array(decades, int), [0, 1, 2])),
        tangents=host.held(np.concatenate([inputs[0], *inputs[4:-1]])),
        states=host.held(inputs[-1]),
    )


def _lengthened(
    paths: Float[np.ndarray, "paths steps columns"], steps: int
) -> Float[np.ndarray, "paths more columns"]:
    """Repeat the first state, so that all paths have as many steps and end together."""
    first = np.repeat(paths[:, :1], steps - paths.shape[1], axis=1)
    return np.concatenate([first, paths], axis=1)


def _derivatives(
    material: Material, states: States, count: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """x at all states; dx/dstate and d²x/dstate² at the first `count`, in one program."""

    @jax.jit
    def every(states: Array) -> tuple[Array, Array, Array]:
        slope = jax.jacfwd(material.features)
        few = states[:count]
        x, bend = jax.vmap(material.features)(states), jax.vmap(jax.jacfwd(slope))(few)
        return x, jax.vmap(slope)(few), bend

    x, slope, bend = every(states)
    return np.asarray(x), np.asarray(slope), np.asarray(bend)


def _lines(
    inputs: Float[np.ndarray, "states inputs"],
    bases: Float[np.ndarray, "states directions vectors columns"],
    slope: Float[np.ndarray, "states inputs columns"],
    bend: Float[np.ndarray, "states inputs columns columns"],
) -> Lines:
    """The derivatives of x along bases."""
    first = np.einsum("sdva,sia->sdvi", bases, slope)
    half = np.einsum("sdva,siab->sdvib", bases, bend)
    second = np.einsum("sdvib,sdwb->sdvwi", half, bases)
    return Lines(host.held(inputs), host.held(first), host.held(second))


def respond(
    graph: Potential,
    reference: Reference,
    every: Float[np.ndarray, "laws parameters"],
    where: Probe,
) -> Response:
    """Measure all laws."""
    needed = where._replace(states=host.held(np.zeros((0, where.states.shape[1]))))
    measured = _respond(graph, reference, host.held(every), needed)
    return Response(*(np.asarray(part) for part in measured))


@eqx.filter_jit
def _respond(
    graph: Potential, reference: Reference, every: Array, where: Probe
) -> tuple[Array, ...]:
    point, inputs = jnp.asarray(reference.point), len(reference.point)
    lines = jnp.concatenate([where.moduli.inputs, where.increments.inputs])
    sloped = jnp.concatenate([lines, where.tangents])
    valued = jnp.concatenate([where.far, where.paths.reshape(-1, inputs)])
    slope_of, bend_of = jax.grad(graph.energy, argnums=1), jax.hessian(graph.energy, argnums=1)

    def one(theta: Theta) -> tuple[Array, ...]:
        slope = slope_of(theta, point)
        value, tilt = graph.energy(theta, point), reference.removed(slope)
        g = jax.vmap(slope_of, (None, 0))(theta, sloped) - tilt
        H = jax.vmap(bend_of, (None, 0))(theta, lines)
        psi = jax.vmap(graph.energy, (None, 0))(theta, valued) - value - (valued - point) @ tilt
        stress = jnp.max(jnp.abs(where.operator @ (slope - tilt)), initial=0.0)
        moduli = _along(where.moduli, g[:1], H[:1])[0, :, 0, 0]
        stiffness = _along(where.increments, g[1 : len(lines)], H[1:])
        least = jnp.min(_least_eigenvalue(stiffness), axis=1)
        margin = jnp.min(least, initial=jnp.inf)
        largest = jnp.max(jnp.abs(stiffness), initial=0.0)
        far, paths = psi[: len(where.far)], psi[len(where.far) :].reshape(where.paths.shape[:2])
        negative = jnp.any(~(far >= -_ROUNDING * (jnp.abs(far) + jnp.abs(value))))
        ends = jnp.take_along_axis(paths, where.looks, axis=1)
        peaks, dips = jnp.max(paths, axis=1), jnp.min(paths, axis=1)
        slack = (value, tilt, stress, moduli, margin, _first(least), largest)
        lowest = (jnp.min(far, initial=jnp.inf), _first(far), negative)
        return (*slack, *lowest, ends, peaks, dips, g[len(lines) :])

    found: tuple[Array, ...] = jax.lax.map(one, every)
    return found


def _first(values: Float[Array, "many"]) -> Int[Array, ""]:
    """Where the least is; zero where there are none."""
    return jnp.argmin(values) if values.size else jnp.zeros((), int)


def _along(lines: Lines, g: Array, H: Array) -> Float[Array, "states directions vectors vectors"]:
    """d²Ψ̂ = g · d²x + dx · H dx."""
    bent = jnp.einsum("sdvwi,si->sdvw", lines.second, g)
    return bent + jnp.einsum("sdvi,sij,sdwj->sdvw", lines.first, H, lines.first)


def _least_eigenvalue(matrix: Float[Array, "*batch n n"]) -> Float[Array, "*batch"]:
    """Of symmetric matrices; up to three rows in closed form, which is fast for many of them."""
    size = matrix.shape[-1]
    if size > 3:
        ascending: Array = jnp.linalg.eigvalsh(matrix)
        return ascending[..., 0]
    if size == 1:
        return matrix[..., 0, 0]
    if size == 2:
        a, b, c = matrix[..., 0, 0], matrix[..., 0, 1], matrix[..., 1, 1]
        return (a + c) / 2 - jnp.hypot((a - c) / 2, b)
    mean = jnp.trace(matrix, axis1=-2, axis2=-1) / 3
    rest = matrix - mean[..., None, None] * jnp.eye(3)
    size_of_rest = jnp.sqrt(jnp.sum(rest * rest, axis=(-2, -1)) / 6)
    scaled = rest / jnp.where(size_of_rest > 0, size_of_rest, 1.0)[..., None, None]
    angle = jnp.arccos(jnp.clip(_determinant(scaled) / 2, -1.0, 1.0)) / 3
    return mean + 2 * size_of_rest * jnp.cos(angle + 2 * jnp.pi / 3)


def _determinant(a: Float[Array, "*batch 3 3"]) -> Float[Array, "*batch"]:
    """Of a symmetric matrix, written out."""
    first = a[..., 1, 1] * a[..., 2, 2] - a[..., 1, 2] ** 2
    second = a[..., 0, 1] * a[..., 2, 2] - a[..., 1, 2] * a[..., 0, 2]
    third = a[..., 0, 1] * a[..., 1, 2] - a[..., 1, 1] * a[..., 0, 2]
    return a[..., 0, 0] * first - a[..., 0, 1] * second + a[..., 0, 2] * third
