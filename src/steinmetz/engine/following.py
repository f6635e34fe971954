"""Which test to make next: what candidates would teach about the stress field and about the law.

The field is the stress in every standard test as far as the data go, measured by I1. A candidate is
a standard test to some part of that, or beyond, with as many points and the noise of the rig.
"""

import dataclasses
import itertools
from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np
from jaxtyping import Float
from pydantic import Field

from steinmetz.engine.problem import Problem
from steinmetz.errors import InputError
from steinmetz.experiments import base as experiments
from steinmetz.experiments.incompressible import Incompressible
from steinmetz.predict.bands import Bands
from steinmetz.predict.gain import Draws, gain
from steinmetz.records import Document, StressMap

# Standard tests with a free face.
_STANDARD = ("uniaxial", "equibiaxial", "pure_shear", "biaxial", "simple_shear")
# How far candidates go, in I1 − 3, as a share of what the data reach.
_SHARES = (0.5, 1.0, 2.0)
# States of every standard test at which the stress is to be known.
_FIELD = 8
# Stress is cut off at so many times what is usual: draws of laws that data do not hold explode.
_LARGEST = 1e9

Course = Float[np.ndarray, "states"]
Courses = list[Float[np.ndarray, "_"]]


class Following(Document):
    """A candidate for the next test."""

    test: str = Field(description="name of the test")
    column: str = Field(description="what is controlled, such as stretch")
    end: float = Field(description="how far it goes")
    points: int
    reach: float = Field(description="its largest I1 − 3 over that of the data")
    narrower: float = Field(description="width of the bands of the stress field after it, over now")
    resolved: float = Field(
        description="part of the doubt about which law holds that it takes away; 0 without doubt"
    )

    @property
    def sentence(self) -> str:
        """What people read."""
        return (
            f"{self.test} to {self.column} {self.end:.3g}, {self.points} points: bands of the "
            f"stress field {self.narrower:.2f} times as wide, {100 * self.resolved:.0f} % of the "
            "doubt about the law resolved"
        )


class Way(NamedTuple):
    """A test along one coordinate, from rest on."""

    name: str
    column: str
    rest: float
    experiment: experiments.Experiment
    rows: Callable[[Course], experiments.Rows]

    def end(self, I1: float) -> float:
        """The coordinate at which the first invariant is reached."""
        low, high = self.rest, self.rest + 1.0
        while self._first(high) < I1 and high < 1e3:
            low, high = high, 2 * high
        for _ in range(60):
            middle = (low + high) / 2
            low, high = (middle, high) if self._first(middle) < I1 else (low, middle)
        return high

    def _first(self, at: float) -> float:
        state = self.experiment.states(self.rows(np.array([at])))
        return float(np.sum(state[0, :9] ** 2))

    def maps(self, problem: Problem, courses: Courses) -> list[StressMap]:
        """Inputs and B of several courses, in one compiled batch."""
        test, rows = self.experiment, self.rows(np.concatenate(courses))
        whole = test.map(problem.material, test.states(rows), test.observed)
        ends = np.cumsum([0, *map(len, courses)])
        return [
            StressMap(whole.inputs[a:b], whole.operator[a:b]) for a, b in itertools.pairwise(ends)
        ]


def ways(problem: Problem) -> Iterator[Way]:
    """The standard tests of a material."""
    material, first = problem.material, problem.blocks[0].experiment
    if material.incompressible:
        for name in _STANDARD:
            test = experiments.build(experiments.load(name).Config(name=name))
            assert isinstance(test, Incompressible)
            yield Way(name, test.columns[0], test.rest, test, _along(test))
        return
    if first.state != tuple(f"F{i}{j}" for i in (1, 2, 3) for j in (1, 2, 3)):
        raise InputError(f"no standard tests are known for material '{material.name}'")
    first = _whole(first)
    for name, directions in _HELD.items():
        yield Way(name, "stretch", 1.0, first, _held(np.array(directions)))
    yield Way("simple shear", "shear", 0.0, first, _sheared)


def _whole(test: experiments.Experiment) -> experiments.Experiment:
    """An experiment whose rows are whole deformation gradients, with the same stress observed."""
    if not isinstance(test, Incompressible):
        return test
    full = experiments.build(experiments.load("full_tensor").Config(name="full_tensor"))
    return dataclasses.replace(full, observed=test.observed)


# Tests in which every stretch is prescribed: which of them move along.
_HELD = {
    "uniaxial, sides held": (1.0, 0.0, 0.0),
    "equibiaxial, thickness held": (1.0, 1.0, 0.0),
    "volume": (1.0, 1.0, 1.0),
    "isochoric tension": (1.0, -0.5, -0.5),
}


def _along(test: Incompressible) -> Callable[[Course], experiments.Rows]:
    """Rows of a test by its first column; the others follow."""
    return lambda t: np.stack([t, *(test.beside(t) for _ in test.columns[1:])], axis=1)


def _held(powers: Float[np.ndarray, "3"]) -> Callable[[Course], experiments.Rows]:
    """Rows of F = diag(λ^p)."""

    def rows(t: Course) -> experiments.Rows:
        stretches = t[:, None] ** powers
        return np.asarray((stretches[:, :, None] * np.eye(3)).reshape(len(t), 9))

    return rows


def _sheared(t: Course) -> experiments.Rows:
    """Rows of F = I + γ e1⊗E2."""
    found = np.tile(np.eye(3).ravel(), (len(t), 1))
    found[:, 1] = t
    return found


def following(
    problem: Problem, bands: Bands, points: int, noise: tuple[float, float], seed: int = 0
) -> list[Following]:
    """Candidates for the next test, the one that narrows the bands most first."""
    largest = float(np.asarray(problem.train.inputs)[:, 0].max()) - 3
    random, labels = np.random.default_rng(seed), bands.owner
    shown: list[tuple[Way, float, float, Draws]] = []
    field: list[Draws] = []
    for way in ways(problem):
        ends = [way.end(3 + share * largest) for share in _SHARES]
        courses = [np.linspace(way.rest, end, points + 1)[1:] for end in ends]
        whole = np.linspace(way.rest, ends[_SHARES.index(1.0)], _FIELD + 1)[1:]
        *maps, everywhere = way.maps(problem, [*courses, whole])
        field.append(_stress(bands, everywhere))
        for share, end, at in zip(_SHARES, ends, maps, strict=True):
            shown.append((way, share, end, _stress(bands, at)))
    wanted = np.concatenate(field, axis=1)
    found = []
    for way, share, end, seen in shown:
        taught = gain(random, labels, wanted, seen, noise)
        found.append(
            Following(
                test=way.name,
                column=way.column,
                end=end,
                points=points,
                reach=share,
                narrower=float(np.exp(-taught.field)),
                resolved=taught.structure / taught.doubt if taught.doubt > 0 else 0.0,
            )
        )
    return sorted(found, key=lambda each: each.narrower)


def _stress(bands: Bands, at: StressMap) -> Draws:
    """Every draw of every observed stress that moves, cut off where it explodes."""
    with np.errstate(over="ignore", invalid="ignore"):
        draws = bands.composed(at)[0]
    flat = draws.reshape(len(draws), -1)
    usual = np.nanmedian(np.abs(flat), axis=0)
    moving = usual > 1e-9 * usual.max()
    limit = _LARGEST * usual[moving]
    return np.asarray(np.clip(np.nan_to_num(flat[:, moving], nan=0.0), -limit, limit))
