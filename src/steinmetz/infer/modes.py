"""Several modes of a density: found from many starts, weighed by Laplace, and exchanged exactly.

A chain that starts at one mode and never leaves it agrees with itself whatever it has missed. So
modes are looked for from starts far apart. Each is weighed by its share of the probability as
Laplace's approximations see it, particles are shared out by these weights, and samplers that can
exchange places between modes do so with a Metropolis test, which makes the shares exact.
"""

from collections.abc import Callable

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Int

from steinmetz import host
from steinmetz.errors import InputError
from steinmetz.infer import placement
from steinmetz.laplace import MODE_SLOPE, Laplace, LogDensity
from steinmetz.shapes import Particles, PerParticle, Scalar, Vector

Starts = Float[Array, "starts dimension"]
# Starts → the places reached from them, which may be fewer, and their heights.
Climber = Callable[[Starts], tuple[Laplace, Float[Array, "reached"]]]

# Modes nearer than this, in deviations of the higher one, are the same.
_SAME = 1.0
# Share of the highest below which a mode does not count.
_LEAST = 1e-3
# Most modes that are kept.
_MOST = 8
# How often a start may be drawn in: to a millionth of its distance.
_HALVED = 20
# Draws of a normal density of D dimensions are hardly ever farther below its top than D + this.
_BEYOND = 10.0


class Modes(eqx.Module):
    """Laplace's approximations at the modes, the most probable first, and their shares.

    `starts` is the number of places from which they were looked for.
    """

    centres: Float[Array, "modes dimension"]
    roots: Float[Array, "modes dimension dimension"]
    shares: Float[Array, "modes"]
    slope: Scalar | None = None
    starts: int = eqx.field(static=True, default=1)

    @classmethod
    def single(cls, laplace: Laplace) -> "Modes":
        """The one mode that is known."""
        centre, root = (np.asarray(part) for part in (laplace.centre, laplace.root))
        one = host.held(np.ones(1, centre.dtype))
        return cls(host.held(centre[None]), host.held(root[None]), one, laplace.slope)

    @property
    def main(self) -> Laplace:
        """The most probable one, in whose coordinates the target is made round."""
        centre, root = (host.held(np.asarray(part)[0]) for part in (self.centres, self.roots))
        return Laplace(centre, root, self.slope)

    @property
    def count(self) -> int:
        """How many there are."""
        return len(self.shares)

    def draw(self, key: Array, count: int, spread: float, log_density: LogDensity) -> Particles:
        """`count` places around the modes, as many at each as its share says, `spread` times wider.

        A place whose density is not finite, or less than any draw of such a normal density would
        have, is drawn in towards its mode, half the way each time: where a density is bent,
        Laplace's approximation reaches to where it is nothing, and no step leads back from there.
        """
        place = jnp.asarray(shared_out(np.asarray(self.shares), count))
        normal = spread * jax.random.normal(key, (count, self.centres.shape[1]))
        fall = plausible_fall(self.centres.shape[1], spread)
        size = self.roots[0].size  # a root for every place is large where dimensions are many

        def turned(some: tuple[Array, Particles]) -> Particles:
            return jnp.einsum("nij,nj->ni", self.roots[some[0]], some[1])

        offset = placement.rows(turned, (place, normal), size)

        @jax.jit
        def drawn_in(offset: Particles) -> Particles:
            least = jax.vmap(log_density)(self.centres) - fall

            def half(offset: Particles, _: None) -> tuple[Particles, None]:
                value = jax.vmap(log_density)(self.centres[place] + offset)
                near = jnp.isfinite(value) & (value >= least[place])
                return jnp.where(near[:, None], offset, offset / 2), None

            return jax.lax.scan(half, offset, None, length=_HALVED)[0]

        drawn: Particles = self.centres[place] + drawn_in(offset)
        return drawn

    def log_evidence(self, log_density: LogDensity) -> float:
        """log ∫ π as Laplace's approximations at all modes have it."""
        heights = np.asarray(jax.jit(jax.vmap(log_density))(self.centres))
        volumes = np.linalg.slogdet(np.asarray(self.roots))[1]
        size = self.centres.shape[1]
        return float(np.logaddexp.reduce(heights + volumes) + 0.5 * size * np.log(2 * np.pi))

    def seen_from(self, laplace: Laplace) -> "Modes":
        """The same in the coordinates v of a Laplace approximation, u = centre + root v."""
        roots = jnp.linalg.solve(laplace.root, self.roots)
        return Modes(laplace.inverse(self.centres), roots, self.shares, self.slope, self.starts)

    def exchanged(self, key: Array, x: Particles) -> tuple[Particles, PerParticle]:
        """Every place carried from a random mode to another, and log of the change of volume.

        x → c_l + R_l R_k⁻¹ (x − c_k) for a random pair k ≠ l: the way back is as likely, so a test
        with the density and this volume is exact wherever x lies.
        """
        first_key, second_key = jax.random.split(key)
        k = jax.random.randint(first_key, (len(x),), 0, self.count)
        l = (k + jax.random.randint(second_key, (len(x),), 1, self.count)) % self.count  # noqa: E741
        volume = jnp.linalg.slogdet(self.roots)[1]
        away = jnp.linalg.solve(self.roots[k], (x - self.centres[k])[:, :, None])
        there = self.centres[l] + jnp.matmul(self.roots[l], away)[:, :, 0]
        return there, volume[l] - volume[k]

    def nearest(self, x: Float[np.ndarray, "draws dimension"]) -> Int[np.ndarray, "draws"]:
        """The mode to which every place most probably belongs, by the approximations."""
        heights = []
        parts = (np.asarray(part) for part in (self.centres, self.roots, self.shares))
        for centre, root, share in zip(*parts, strict=True):
            white = np.linalg.solve(root, (x - centre).T)
            volume = np.linalg.slogdet(root)[1]
            heights.append(np.log(float(share)) - volume - 0.5 * np.sum(white**2, axis=0))
        nearest: Int[np.ndarray, "draws"] = np.argmax(np.stack(heights), axis=0)
        return nearest


def plausible_fall(dimension: int, spread: float = 1.0) -> float:
    """How far below the top of a normal density its draws may lie, if `spread` times as wide."""
    return spread**2 * (dimension + _BEYOND)


def shared_out(shares: Float[np.ndarray, "modes"], count: int) -> Int[np.ndarray, "count"]:
    """The mode of each of `count` particles: shares rounded, largest remainders first.

    Particles of different modes alternate, so that any half of them has its part of each.
    """
    exact = shares / shares.sum() * count
    number = np.floor(exact).astype(int)
    for index in np.argsort(number - exact, kind="stable")[: count - number.sum()]:
        number[index] += 1
    for index in np.flatnonzero(number == 0):
        if number.max() > 1:
            number[np.argmax(number)] -= 1
            number[index] += 1
    at = np.concatenate([(np.arange(n) + 0.5) / n for n in number if n > 0])
    return np.repeat(np.arange(len(shares)), number)[np.argsort(at, kind="stable")]


def climber(log_density: LogDensity, climb: Callable[[Vector], Laplace]) -> Climber:
    """What `climb` reaches from many starts, with the heights there; compiled for one start."""

    @jax.jit
    def reached(start: Vector) -> tuple[Laplace, Scalar]:
        laplace = climb(start)
        return laplace, log_density(laplace.centre)

    def every(starts: Starts) -> tuple[Laplace, Float[Array, "starts"]]:
        found = [reached(start) for start in starts]
        stacked: tuple[Laplace, Array] = jax.tree.map(lambda *parts: jnp.stack(parts), *found)
        return stacked

    return every


def find(climbers: Climber, starts: Starts) -> Modes:
    """The different modes that are reached from the starts.

    A place whose slope says that it is no mode is left out, unless there is no other: then it is
    the only one, and its slope tells.
    """
    found, heights = climbers(starts)
    centres, roots, slopes = (np.asarray(part) for part in (found.centre, found.root, found.slope))
    with np.errstate(invalid="ignore"):  # a climb that was lost has no root
        evidence = np.asarray(heights) + np.linalg.slogdet(roots)[1]
    evidence = np.where(np.isfinite(evidence) & np.isfinite(roots).all((1, 2)), evidence, -np.inf)
    good = (slopes <= MODE_SLOPE) & np.isfinite(evidence)
    rank = np.lexsort((-evidence, ~good))
    kept: list[int] = []
    for index in rank:
        if kept and (not good[index] or evidence[index] - evidence[kept[0]] < np.log(_LEAST)):
            continue
        if all(_apart(centres[index], centres[one], roots[one]) for one in kept):
            kept.append(int(index))
    if not np.isfinite(evidence[kept[0]]):
        raise InputError(
            "the log density has no finite width around the start; give a density of one piece, "
            "and a start inside it"
        )
    kept = kept[:_MOST]
    shares = np.exp(evidence[kept] - evidence[kept[0]])
    return Modes(
        centres=host.held(centres[kept]),
        roots=host.held(roots[kept]),
        shares=host.held(shares / shares.sum()),
        slope=host.held(slopes[kept[0]]),
        starts=len(starts),
    )


def _apart(
    centre: Float[np.ndarray, "dimension"],
    other: Float[np.ndarray, "dimension"],
    root: Float[np.ndarray, "dimension dimension"],
) -> bool:
    """Whether a mode is another one than `other`, whose deviations are the measure."""
    return bool(np.linalg.norm(np.linalg.solve(root, centre - other)) > _SAME)
