"""Across tests: textbook laws beside the law, every test predicted from the others, silent ones.

A law that fits one test may say anything about another. So textbook laws are fitted to the same
data; every test is left out once and predicted from the others, with bands; and the bands of the
standard tests that were not made say whether the data determine them.
"""

import numpy as np
from jaxtyping import Bool, Float
from pydantic import Field

from steinmetz.assess import measures
from steinmetz.assess.silence import times
from steinmetz.data.quadratic import compress
from steinmetz.engine import baselines
from steinmetz.engine.carved import carve_law
from steinmetz.engine.following import ways
from steinmetz.engine.mixture import mixture_of
from steinmetz.engine.problem import Problem, few
from steinmetz.potentials import terms
from steinmetz.potentials.law import Law
from steinmetz.predict.bands import Bands
from steinmetz.records import Document, Observations
from steinmetz.sparsify import many_rows, written
from steinmetz.sparsify.carve import Carved
from steinmetz.sparsify.judge import Judge, Judged
from steinmetz.studies.study import Study

# Draws of the bands of a test that is left out.
_DRAWS = 1000
# Width of a 95 % band over the stress from which on a test is not determined.
UNDETERMINED = 1.0
# States of a standard test.
_STATES = 12

R2 = dict[str, float | None]


class Baseline(Document):
    """A textbook law, fitted to the same data under the same noise."""

    name: str
    parameters: int
    bic: float = Field(description="that of the law subtracted: below zero it is better")
    r2: R2 = Field(description="of every test")
    predicted: R2 = Field(description="of every test by a fit to all others; empty with one test")


class LeftOut(Document):
    """A test predicted from all others."""

    test: str
    r2: float | None = Field(description="of the median of the bands")
    law_r2: float | None = Field(description="of the law of the others")
    coverage: float = Field(description="share of its data inside the 95 % band of new data")
    width: float = Field(
        description="median width of the 95 % band of the law over the median stress"
    )

    @property
    def determined(self) -> bool:
        """Whether the others say what this test shows."""
        return self.width < UNDETERMINED

    @property
    def sentence(self) -> str:
        """What people read."""
        if not self.determined:
            return (
                f"{self.test} is not determined by the other tests: the band is "
                f"{times(self.width)} the stress"
            )
        return (
            f"{self.test} is predicted by the other tests: R² {self.r2:.4f}, "
            f"{100 * self.coverage:.0f} % of its data inside the 95 % band, whose width is "
            f"{self.width:.2g} of the stress"
        )


class Mode(Document):
    """A standard test as far as the data go, made or not."""

    test: str
    column: str
    end: float
    made: bool
    width: float = Field(
        description="median width of the 95 % band of the law over the median stress"
    )

    @property
    def determined(self) -> bool:
        """Whether the data say what this test would show."""
        return self.width < UNDETERMINED

    @property
    def sentence(self) -> str:
        """What people read."""
        if self.determined:
            return f"{self.test} to {self.column} {self.end:.3g}: known to {self.width:.2g}"
        return (
            f"{self.test} is not determined by these data: its band is {times(self.width)} "
            "the stress"
        )


class Across(Document):
    """What is known of tests that are not the one that is looked at."""

    baselines: list[Baseline] = Field(default_factory=list)
    left_out: list[LeftOut] = Field(default_factory=list)
    modes: list[Mode] = Field(default_factory=list)


def across(study: Study, problem: Problem, carved: Carved, bands: Bands) -> Across:
    """Everything that can be said of measured data; nothing of laws not composed of terms."""
    asked = study.assess.across and problem.truth is None
    if not asked or not isinstance(study.potential, terms.Config):
        return Across()
    several = len(problem.blocks) > 1
    others = [problem.without(number) for number in range(len(problem.blocks))] if several else []
    return Across(
        baselines=_baselines(study, problem, others, carved.law),
        left_out=[_left_out(study, problem, number, rest) for number, rest in enumerate(others)],
        modes=_modes(problem, bands) if problem.material.incompressible else [],
    )


def labels(problem: Problem) -> list[str]:
    """A name for the test of every block."""
    names = [block.experiment.name for block in problem.blocks]
    return [
        name if names.count(name) == 1 else f"{name} {names[: number + 1].count(name)}"
        for number, name in enumerate(names)
    ]


def _judge(study: Study, observations: Observations) -> Judge:
    floor = None if study.noise.floor == "estimated" else study.noise.floor
    return Judge.of(observations, floor, study.noise.tails == "student")


def _baselines(study: Study, problem: Problem, others: list[Problem], law: Law) -> list[Baseline]:
    """Textbook laws, the best first."""
    reference, names = problem.material.reference, labels(problem)
    judge, *apart_from = (_judge(study, _some(each.train)) for each in (problem, *others))
    found = baselines.every(judge, reference)
    by_rest = [baselines.every(each, reference) for each in apart_from]
    own = _criterion(judge, problem, law)
    rows = []
    for name, judged in found.items():
        fits = [judged] * len(names)
        apart = [each[name] for each in by_rest]
        rows.append(
            Baseline(
                name=name,
                parameters=judged.law.size,
                bic=judged.law.bic(judge.observations.cells) - own,
                r2=dict(zip(names, _every_r2(problem, fits), strict=True)),
                predicted=dict(zip(names, _every_r2(problem, apart), strict=False)),
            )
        )
    return sorted(rows, key=lambda row: row.bic)


def _criterion(judge: Judge, problem: Problem, law: Law) -> float:
    """BIC of the law, judged as the others are."""
    rows = judge.observations
    start = judge.weighted(rows.values, judge.start)
    data = written.Problem.of(compress(rows, start), problem.material.reference)
    return judge.one(data, written.Structure(law, 0.0).written).law.bic(rows.cells)


def _some(rows: Observations) -> Observations:
    """As many rows as laws are sought with, at most."""
    return rows.spread(many_rows.SEARCHED)


def _every_r2(problem: Problem, laws: list[Judged]) -> list[float | None]:
    """R² of every test by its law."""
    reference = problem.material.reference
    return [
        _r2(baselines.stress(judged.law.law(reference), block.train.map), block.train)
        for block, judged in zip(problem.blocks, laws, strict=False)
    ]


def _r2(predicted: Float[np.ndarray, "rows components"], rows: Observations) -> float | None:
    return measures.r2(predicted, np.asarray(rows.values), np.asarray(rows.observed))


def _left_out(study: Study, problem: Problem, number: int, rest: Problem) -> LeftOut:
    """One test, by bands of all laws that the others allow."""
    carved, rows = carve_law(study, rest), few(problem.blocks[number].train)
    rest = rest.allowing(carved.noise.level)
    bands = mixture_of(study, rest, carved, np.ones(_DRAWS))
    draws = bands.composed(rows.map)[0]
    known, random = rest.noisy(rows), np.random.default_rng([study.seed, number])
    size = np.hypot(np.asarray(known.relative) * draws, np.asarray(known.absolute))
    size = np.hypot(size, rest.floor)
    new = draws + size * random.standard_normal(draws.shape)
    values, seen = np.asarray(rows.values), np.asarray(rows.observed)
    low, high = np.quantile(new, (0.025, 0.975), axis=0)
    return LeftOut(
        test=labels(problem)[number],
        r2=_r2(np.median(draws, axis=0), rows),
        law_r2=_r2(baselines.stress(carved.law, rows.map), rows),
        coverage=float(np.mean(((low <= values) & (values <= high))[seen])),
        width=_width(draws, seen, np.abs(values)),
    )


def _width(
    draws: Float[np.ndarray, "draws rows components"],
    seen: Bool[np.ndarray, "rows components"],
    size: Float[np.ndarray, "rows components"],
) -> float:
    """The median width of the 95 % band over the median stress: one state says little of a test."""
    low, high = np.quantile(draws, (0.025, 0.975), axis=0)
    return float(np.median((high - low)[seen]) / max(float(np.median(size[seen])), 1e-300))


def _modes(problem: Problem, bands: Bands) -> list[Mode]:
    """Every standard test as far as I1 of the data goes."""
    largest = float(np.asarray(problem.train.inputs)[:, 0].max())
    made, found = {block.experiment.name for block in problem.blocks}, []
    for way in ways(problem):
        end = way.end(largest)
        (at,) = way.maps(problem, [np.linspace(way.rest, end, _STATES + 1)[1:]])
        draws = bands.composed(at)[0]
        middle = np.abs(np.median(draws, axis=0))
        width = _width(draws, np.ones(middle.shape, bool), middle)
        known = way.name in made
        found.append(Mode(test=way.name, column=way.column, end=end, made=known, width=width))
    return found
