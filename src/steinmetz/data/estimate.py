"""Noise estimated together with a law: its relative and its constant part (method §3).

Given both parts, a law is linear in its coefficients, which are integrated out: what they take of
the scatter of the data is not taken for small noise (restricted likelihood). What is left is a
function of two numbers, on a grid. Each has a half-Cauchy prior, half of which lies below a tenth
of the stress, or of the root-mean-square stress.
"""

from typing import Any, NamedTuple

import jax.numpy as jnp
import numpy as np
from jaxtyping import Bool, Float

from steinmetz.data import student
from steinmetz.data.axes import RANGE, Axis, around, step, window
from steinmetz.data.linear import Linear, Pairs
from steinmetz.data.noise import PART, USUAL, Level
from steinmetz.records import Observations, spaced
from steinmetz.shapes import Cells

# The median of the priors.
_USUAL = 0.1
# Points of the whole range, of the step in which the likeliest lies, and around it.
_COARSE, _NEAR, _FINE = 16, 9, 15
_NEARER = 4.0
# Added to a scaled Gram matrix: terms may be nearly the same.
_RIDGE = 1e-11
# Cells that the first grid is looked at with, at most, and fields that have a value for each.
_FIRST = 5000
PER_CELL = ("share", "variance", "relative", "constant")
# Points of a grid times cells that are worked on at once.
_AT_ONCE = 2_000_000

Vector = Float[np.ndarray, "cells"]


class Grid(NamedTuple):
    """The posterior of both parts: logarithms of their sizes, and log weights that add up to one.

    A part that is stated has the single size zero. `unlikely` is −2 log likelihood with the
    coefficients and the noise integrated out.
    """

    relative: Axis
    constant: Axis
    weights: Float[np.ndarray, "relative constant"]
    unlikely: float

    @property
    def best(self) -> tuple[float, float]:
        """The most probable sizes."""
        i, j = np.unravel_index(int(np.argmax(self.weights)), self.weights.shape)
        return float(np.exp(self.relative[i])), float(np.exp(self.constant[j]))

    def drawn(self, random: np.random.Generator, count: int) -> Float[np.ndarray, "draws 2"]:
        """Sizes of both parts, each point of the grid as often as its weight says."""
        share = np.cumsum(np.exp(self.weights).ravel())
        at = (np.arange(count) + random.random()) / count * share[-1]
        i, j = np.unravel_index(np.searchsorted(share, at), self.weights.shape)
        columns = []
        for axis, place in ((self.relative, i), (self.constant, j)):
            step = axis[1] - axis[0] if len(axis) > 1 else 0.0
            columns.append(np.exp(axis[place] + step * (random.random(count) - 0.5)))
        return np.stack(columns, axis=1)


class Noise(NamedTuple):
    """What is known of the noise of the observed cells, and where each part is to be estimated.

    `relative` and `constant` are masks; `scale` is the unit of the constant part, `share` the
    stated relative noise, `variance` what is stated besides, with the discrepancy `floor` in it.
    `absolute` says that the constant part is absolute noise, `tails` that errors have those of
    Student's t. `part` is the least constant part, as one of all noise: data near zero stress do
    not decide everything then; `size` is that of the stated noise, in the unit of `scale`.
    """

    share: Vector
    variance: Vector
    relative: Bool[np.ndarray, "cells"]
    constant: Bool[np.ndarray, "cells"]
    scale: float
    floor: float
    absolute: bool
    tails: bool
    part: float
    size: float

    @classmethod
    def of(cls, observations: Observations, floor: float | None, tails: bool) -> "Noise":
        """Of data whose noise is not a number where it is to be estimated.

        The constant part is absolute noise if some of that is unknown, else the discrepancy, unless
        its `floor` is given.
        """
        seen = np.asarray(observations.observed)
        share = np.asarray(observations.relative)[seen]
        absolute = np.asarray(observations.absolute)[seen]
        unknown, scale = np.isnan(absolute), observations.scale
        stated = np.where(unknown, 0.0, absolute)
        given, known = max(floor or 0.0, RANGE[0]), np.where(np.isnan(share), 0.0, share)
        own = stated**2 + (known * np.asarray(observations.values)[seen]) ** 2
        return cls(
            share=known,
            variance=stated**2 + (given * scale) ** 2,
            relative=np.isnan(share),
            constant=unknown if unknown.any() else np.full(len(share), floor is None),
            scale=scale,
            floor=given,
            absolute=bool(unknown.any()),
            tails=tails,
            part=PART if floor is None else 0.0,
            size=float(np.sqrt(np.mean(own))) / scale,
        )

    @property
    def start(self) -> Level:
        """The noise before anything is known of it."""
        return self.level(_USUAL, _USUAL if self.absolute else USUAL)

    @property
    def free(self) -> "Noise":
        """The same without a least constant part: what is asked where the noise itself is."""
        return self._replace(part=0.0)

    def level(self, relative: float, constant: float) -> Level:
        """Sizes of both parts as a level, with the least constant part."""
        all_noise = np.hypot(relative if self.relative.any() else 0.0, self.size)
        least = max(self.part * float(all_noise), self.floor)
        if self.absolute:
            lacking = float(np.sqrt(max(least**2 - constant**2, self.floor**2)))
            return Level(lacking, relative, constant * self.scale)
        return Level(max(constant, least) if self.constant.any() else self.floor, relative)

    def posterior(self, law: Linear, points: int = _FINE) -> Grid:
        """The posterior of both parts for a law, on a grid around the likeliest.

        It is sought until the step is a few deviations: many data leave little room around it.
        """
        first, last = np.log(RANGE)
        axes = [
            np.linspace(first, last, _COARSE) if part.any() else np.full(1, -np.inf)
            for part in (self.relative, self.constant)
        ]
        few, some = self._spread(law)
        centre = few._likeliest(some, axes)
        axes = [around(axis, at, _NEAR) for axis, at in zip(axes, centre, strict=True)]
        centre = self._likeliest(law, axes)
        sizes = self._deviations(law, *centre)
        while any(step(axis) > _NEARER * size for axis, size in zip(axes, sizes, strict=True)):
            axes = [around(axis, at, _NEAR) for axis, at in zip(axes, centre, strict=True)]
            centre = self._likeliest(law, axes)
            sizes = self._deviations(law, *centre)
        windows = zip(axes, centre, sizes, strict=True)
        axes = [window(axis, at, size, points) for axis, at, size in windows]
        loss, volume = self._unlikely(law, *axes)
        found = loss + volume - _prior(*axes)
        return _normalised(axes, found - volume.ravel()[np.argmin(found)])

    def _spread(self, law: Linear) -> tuple["Noise", Linear]:
        """The same with fewer cells: the step of the first grid is wide beside what many leave."""
        index = spaced(len(law.left), _FIRST)
        masks = {name: getattr(self, name)[index] for name in PER_CELL}
        return self._replace(**masks), Linear(*(part[index] for part in law))

    def _likeliest(self, law: Linear, axes: list[Axis]) -> list[float]:
        """Of the points of a grid."""
        found = np.sum(self._unlikely(law, *axes), axis=0) - _prior(*axes)
        place = np.unravel_index(int(np.argmin(found)), found.shape)
        return [float(axis[at]) for axis, at in zip(axes, place, strict=True)]

    def _variances(self, law: Linear, relative: Axis, constant: Axis) -> np.ndarray:
        """Of every cell (last) at every pair of sizes."""
        stated = self.variance + (self.share * law.prediction) ** 2
        stated = stated + (self.part * self.size * self.scale) ** 2
        first = self.relative * (law.prediction**2 + (self.part * self.scale) ** 2)
        first = np.exp(2 * relative)[:, None] * first
        second = (self.scale * np.exp(constant))[:, None] ** 2 * self.constant
        return np.asarray(stated + first[:, None] + second[None])

    def _unlikely(self, law: Linear, relative: Axis, constant: Axis) -> np.ndarray:
        """−2 log likelihood of the best coefficients at every pair of sizes (first).

        And the logarithm of the volume that integrating them out takes: log det of their precision.
        """
        some = max(_AT_ONCE // (len(law.left) * len(constant)), 1)
        pairs = Pairs.of(law)
        parts = [
            self._block(law, pairs, relative[first : first + some], constant)
            for first in range(0, len(relative), some)
        ]
        return np.concatenate(parts, axis=1)

    def _block(self, law: Linear, pairs: Pairs, relative: Axis, constant: Axis) -> np.ndarray:
        """The same at some of them: e²/v + log v, and what a refit of coefficients gains."""
        variance = self._variances(law, relative, constant)
        squares = law.left**2 / variance
        loss, weight = squares, 1 / variance
        if self.tails:
            loss, weight = student.unlikely(squares), student.weights(squares) / variance
        own = np.sum(loss + np.log(variance), axis=-1)
        gram, pull = pairs.summed(weight)
        count = pull.shape[-1]
        mean = np.einsum("...ii->...", gram) / count
        gram = gram + (_RIDGE * mean)[..., None, None] * np.eye(count)
        gain = np.sum(pull * np.linalg.solve(gram, pull[..., None])[..., 0], axis=-1)
        return np.stack([own - gain, np.linalg.slogdet(gram)[1]])

    def changes(
        self, law: Linear, relative: float, constant: float
    ) -> tuple[Vector, Float[np.ndarray, "cells 2"]]:
        """The variance of every cell, and how its logarithm changes with those of both sizes."""
        variance = self._variances(law, np.array([relative]), np.array([constant]))[0, 0]
        first = np.exp(2 * relative) * self.relative * law.prediction**2 / variance
        second = (self.scale * np.exp(constant)) ** 2 * self.constant / variance
        return variance, 2 * np.stack([first, second], axis=1)

    def _deviations(self, law: Linear, relative: float, constant: float) -> tuple[float, float]:
        """Of the logarithms of both sizes, by Fisher's information of a normal distribution."""
        rows = self.changes(law, relative, constant)[1]
        found = np.linalg.inv(rows.T @ rows / 2 + np.eye(2) / 4)
        return float(np.sqrt(found[0, 0])), float(np.sqrt(found[1, 1]))


def _prior(relative: Axis, constant: Axis) -> np.ndarray:
    """Twice the log density of the logarithms under half-Cauchy priors; zero where stated."""
    sizes = [np.exp(axis) / _USUAL for axis in (relative, constant)]
    parts = [
        2 * np.log(2 / np.pi * size / (1 + size**2)) if len(size) > 1 else np.zeros(1)
        for size in sizes
    ]
    return np.asarray(parts[0][:, None] + parts[1])


def _normalised(axes: list[Axis], unlikely: np.ndarray) -> Grid:
    """Weights that add up to one, and −2 log of their sum times the size of a cell."""
    least = unlikely.min()
    weights = -(unlikely - least) / 2
    total = np.log(np.sum(np.exp(weights)))
    cell = sum(np.log(axis[1] - axis[0]) for axis in axes if len(axis) > 1)
    return Grid(axes[0], axes[1], weights - total, float(least - 2 * (total + cell)))


class Estimate(NamedTuple):
    """The noise of a carved law: the level it was judged with, and draws of what was estimated.

    `relative` is a share of the stress, `absolute` has its unit, `floor` is a share of the root
    mean square of the stress. `weights` are those of cells in the fit, where errors have the tails
    of Student's t.
    """

    level: Level
    relative: Float[np.ndarray, "draws"] | None = None
    absolute: Float[np.ndarray, "draws"] | None = None
    floor: Float[np.ndarray, "draws"] | None = None
    weights: Cells | None = None

    def weighted(self, deviation: Cells) -> Cells:
        """Deviations as they count in the fit."""
        return deviation if self.weights is None else deviation / jnp.sqrt(self.weights)


def to_plain(found: Estimate) -> dict[str, Any]:
    """As lists and numbers."""
    level, *arrays = found
    parts = zip(Estimate._fields[1:], arrays, strict=True)
    lists = {name: None if part is None else np.asarray(part).tolist() for name, part in parts}
    return {"level": list(level), **lists}


def from_plain(stored: dict[str, Any]) -> Estimate:
    """The estimate again; a wrong type raises ValueError, KeyError or TypeError."""
    relative, absolute, floor = (
        None if stored[name] is None else np.asarray(stored[name], float)
        for name in ("relative", "absolute", "floor")
    )
    weights = None if stored["weights"] is None else jnp.asarray(stored["weights"], float)
    level = Level(*(float(value) for value in stored["level"]))
    return Estimate(level, relative, absolute, floor, weights)
