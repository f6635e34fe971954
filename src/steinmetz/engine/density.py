"""Sample any JAX log density with any of the samplers, without mechanics."""

from typing import Any

import jax
import jax.numpy as jnp
import pydantic
from jaxtyping import Array
from numpy.typing import ArrayLike

from steinmetz.engine.problem import use_double
from steinmetz.errors import InputError
from steinmetz.infer import modes
from steinmetz.infer.base import Settings, Target, as_target, settings_of
from steinmetz.infer.driver import Cache, Checkpoints
from steinmetz.infer.sampling import Samples
from steinmetz.infer.sampling import sample as draw
from steinmetz.laplace import Laplace, LogDensity, Search, at_mode, positive, probed
from steinmetz.records import Report, silent
from steinmetz.shapes import Matrix, Vector

# Many steps, because a start may be far away, of any length, because nothing is known of scales.
_SEARCH = Search(steps=200)
# Least curvature of a step as a share of the largest: directions may differ in width by 10⁴.
_FLATTEST = 1e-8
# Places from which modes are looked for, the given ones among them.
_STARTS = 32
# How far they lie from the first mode, in its deviations: from within reach to far away.
_NEAREST, _FARTHEST = 2.0, 300.0
# Slope, in deviations, above which a point cannot be taken for a mode.
_RISES = 0.5
# Dimension above which no further starts are tried: each needs Hessians.
_LARGEST = 100


def sample(
    log_density: LogDensity | Target,
    start: ArrayLike,
    method: str = "auto",
    seed: int = 0,
    report: Report = silent,
    cache: Cache | None = None,
    **settings: Any,
) -> Samples:
    """Draws from a log density: its modes are looked for, then a sampler goes from there.

    `start` is a point, or several of them as rows, for a density that may have several modes; more
    starts are tried around what is found from them. `settings` are those of the method, such as
    particles=100; whiten=False starts around `start` and keeps the coordinates, unless the method
    must know the modes all the same. With a `cache`, an interrupted call goes on where it was.
    Raises `InputError` for settings and starts that cannot be, and for a density without a mode;
    `RunFailure` where more than a tenth of the particles meet a density that is not finite.
    """
    use_double()
    given = jnp.asarray(start, float)
    if given.ndim not in (1, 2) or given.size == 0:
        raise InputError(
            "start must be a point of the density, a vector, or several of them as rows; got shape "
            f"{given.shape}"
        )
    points, target = jnp.atleast_2d(given), as_target(log_density)
    if not bool(jnp.all(jnp.isfinite(jax.vmap(target.log_density)(points)))):
        raise InputError("the log density is not finite at the start; give a point where it is")
    key, size = jax.random.key(seed), points.shape[1]
    choice = _settings(method, settings).chosen(size)
    known = modes.Modes.single(Laplace(points[0], jnp.eye(size)))
    if choice.settings.whiten or choice.settings.capabilities.bridges:
        known = _modes(jax.random.fold_in(key, 1), target, points)
        _check_mode(known)
    checkpoints = None if cache is None else Checkpoints(cache)
    return draw(key, target, known, choice, report, checkpoints)


def _modes(key: Array, target: Target, points: modes.Starts) -> modes.Modes:
    """The modes reached from the given points, and from others at all distances around the first.

    In many dimensions the given points alone are tried.
    """
    climbers = modes.climber(target.log_density, lambda u: _climb(target, u))
    size = points.shape[1]
    if size > _LARGEST:
        return modes.find(climbers, points)
    first = modes.find(climbers, points)
    far_key, way_key = jax.random.split(key)
    near, wide = jnp.log(_NEAREST), jnp.log(_FARTHEST / _NEAREST)
    far = near + wide * jax.random.uniform(far_key, (_STARTS, 1))
    way = jax.random.normal(way_key, (_STARTS // 2, size))
    way = jnp.concatenate([way, -way])
    away = jnp.exp(far) * way / jnp.linalg.norm(way, axis=1, keepdims=True)
    starts = jnp.concatenate([first.centres, first.main.forward_all(away)])
    return modes.find(climbers, starts[:_STARTS])


def _check_mode(known: modes.Modes) -> None:
    """Refuse a density that still rises at the highest point found, as one with an edge does."""
    slope = 0.0 if known.slope is None else float(known.slope)
    if slope > _RISES:
        raise InputError(
            f"no mode was found: the log density still rises by {slope:.2g} per deviation at the "
            "highest point; it may end at an edge (then sample the logarithm of what must be "
            "positive) or have no maximum"
        )


def _climb(target: Target, start: Vector) -> Laplace:
    """Laplace's approximation at the mode that is reached.

    Where only the density is known, its widths are measured there: a Hessian may say too little.
    """
    if target.likelihood is not None and target.prior is not None:
        return at_mode(target.log_density, target.curvature, start, _SEARCH)

    def hessian(u: Vector) -> Matrix:
        bent: Matrix = -jax.hessian(target.log_density)(u)
        return bent

    def curvature(u: Vector) -> Matrix:
        return positive(hessian(u), _FLATTEST)

    centre = at_mode(target.log_density, curvature, start, _SEARCH).centre
    root = probed(target.log_density, centre, hessian(centre))
    slope = jnp.max(jnp.abs(root.T @ jax.grad(target.log_density)(centre)))
    return Laplace(centre, root, slope)


def _settings(method: str, settings: dict[str, Any]) -> Settings:
    """The method's settings, or the first that is wrong, in words."""
    try:
        return settings_of(method)(**settings)
    except pydantic.ValidationError as error:
        first = error.errors()[0]
        place = "".join(f"{part}: " for part in first["loc"])
        raise InputError(place + first["msg"].removeprefix("Value error, ").lower()) from None
