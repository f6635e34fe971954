"""What is measured for a figure: one typed record per kind, rows of them, and what a kind is.

A record is a frozen pydantic model. `steinmetz.cache.ContentCache` keeps its arrays as arrays and
the rest as JSON, and checks every field when it is read again.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Generic, NamedTuple, Protocol, TypeVar, runtime_checkable

import numpy as np
from jaxtyping import Bool, Float
from matplotlib.figure import Figure
from pydantic import BaseModel, ConfigDict, JsonValue

from steinmetz.cache import ContentCache
from steinmetz.infer.checks import Inference, Mixing
from steinmetz.materials.slices import Slice
from steinmetz.paper.grids import Grid, Point
from steinmetz.paper.scores import SCORES, ScoreKey, ScoreTable, component_kind
from steinmetz.records import Report

# A number per point of the validation path, and one per point and component.
AlongPath = Float[np.ndarray, "points"]
PerComponent = Float[np.ndarray, "points components"]


class Record(BaseModel):
    """Anything that is kept."""

    model_config = ConfigDict(frozen=True, extra="forbid", arbitrary_types_allowed=True)


class Spent(NamedTuple):
    """Seconds of carving and of inference, how many of each went into compilation, and memory.

    Memory is the most gigabytes that the process held meanwhile, all its libraries included.
    """

    carve: float
    carve_compile: float
    infer: float = 0.0
    infer_compile: float = 0.0
    carve_memory: float = 0.0
    infer_memory: float = 0.0


class CarvedLaw(Record):
    """A carving in the form of `export.carving`, and the seconds it took when it was done."""

    carving: dict[str, JsonValue]
    spent: Spent


class FitPoint(Record):
    """A carved law along the validation path.

    `predicted` is the law, `truth` the generating law, `noisy` one draw of validation data. `full`
    counts the weights of the network, `nonzero` those left by training, `active` the parameters of
    the law that predicts. R² is against the clean truth: `r2` by part (see `R2_PARTS`), None where
    a part has no point or the truth does not vary; `r2_components` at fresh states. A law that is
    short enough has its closed form, as text and for typesetting.
    """

    components: tuple[str, ...]
    label: str
    coordinate: AlongPath
    sampled: Bool[np.ndarray, "points"]
    predicted: PerComponent
    truth: PerComponent
    noisy: PerComponent
    energy: AlongPath
    truth_energy: AlongPath
    full: int
    nonzero: int
    active: int
    penalty: float
    reason: str
    r2: dict[str, float | None]
    r2_components: dict[str, float]
    spent: Spent
    closed_form: str | None
    latex: str | None

    @property
    def count(self) -> int:
        """Parameters that are not zero: of a carved law all, of a whole network what is left."""
        return self.active if self.active < self.full else self.nonzero

    @property
    def seconds(self) -> float:
        """Carving and inference together."""
        return self.spent.carve + self.spent.infer

    def number(self, key: ScoreKey) -> float:
        """The number that a key names; not a number where it is not known."""
        value = self.r2[key.part] if key.name == "r2" else getattr(self, key.name)
        return math.nan if value is None else float(value)


class Moments(NamedTuple):
    """Mean and standard deviation over draws."""

    mean: np.ndarray
    sd: np.ndarray

    @classmethod
    def of(cls, draws: np.ndarray) -> "Moments":
        """Over the first axis."""
        return cls(draws.mean(axis=0), draws.std(axis=0))


class Sampling(NamedTuple):
    """How a posterior was sampled, and how well its push-forward has mixed."""

    inference: Inference
    mixing: Mixing | None


class SampledPoint(FitPoint):
    """A carved law with its posterior: two distributions along the path, and their scores.

    `pushed` is the push-forward and `predictive` the posterior predictive (method §6). `along` has
    W1 and CRPS at every point of the path, of the components that vary there, `moving`; `scores`
    are their means, and coverage, with intervals. `constants` has W1 at every point of predictors
    that know no mechanics: zero, and the mean of the training data. The rest says how the posterior
    was sampled: `shape` is (snapshots, particles) of the draws, where a chain counts as a particle;
    `mixing` is that of the push-forward where particles keep moving, `reference` how the posterior
    was sampled that W1 to the reference refers to.
    """

    moving: tuple[str, ...]
    shape: tuple[int, int]
    inference: Inference
    mixing: Mixing | None
    reference: Sampling | None
    pushed: Moments
    predictive: Moments
    pushed_energy: Moments
    along: dict[str, Float[np.ndarray, "points moving"]]
    scores: ScoreTable
    constants: dict[str, dict[str, Float[np.ndarray, "points moving"]]]

    def number(self, key: ScoreKey) -> float:
        """The number that a key names; of a score with an interval its value.

        Not a number where this point has no such score: a reference has no distance to itself.
        """
        if key.name not in SCORES:
            return super().number(key)
        interval = self.scores.get(key)
        return math.nan if interval is None else interval.value

    def score_along(self, key: ScoreKey) -> AlongPath:
        """A score at every point: the mean over the components of its kind."""
        return self._of_kind(self.along[key.name], key)

    def constant_along(self, predictor: str, key: ScoreKey) -> AlongPath | None:
        """The same of a constant predictor; None where it has no such score."""
        along = self.constants[predictor].get(key.name)
        return None if along is None else self._of_kind(along, key)

    def constant(self, predictor: str, key: ScoreKey) -> float | None:
        """Its mean over a part of the path; None where there is no such score or no point."""
        along = self.constant_along(predictor, key)
        parts = {"path": np.ones_like(self.sampled), "sampled": self.sampled}
        chosen = parts.get(key.part, ~self.sampled)
        return None if along is None or not chosen.any() else float(along[chosen].mean())

    def _of_kind(self, along: np.ndarray, key: ScoreKey) -> AlongPath:
        chosen = [key.component in ("all", component_kind(name)) for name in self.moving]
        return np.asarray(along[:, np.array(chosen)].mean(axis=1))


class PushedDraws(Record):
    """Draws of a push-forward along the path, for others to be compared with."""

    values: Float[np.ndarray, "draws points moving"]


class Timed(Record):
    """A result that is no law, with the seconds it took."""

    seconds: float


class FlowSnapshots(Timed):
    """Particles of a Stein flow at some steps, and the mean of the likelihood they flow to."""

    steps: tuple[int, ...]
    particles: Float[np.ndarray, "steps particles dimension"]
    mean: tuple[float, ...]


class PlaneSlices(Record):
    """Slices of Ψ of law and truth, and how many wells each slice has."""

    law: list[Slice]
    truth: list[Slice]
    law_wells: list[int]
    truth_wells: list[int]
    active: int


Measured = TypeVar("Measured", bound=Record, covariant=True)
Key = TypeVar("Key")


@dataclass(frozen=True)
class Row(Generic[Measured]):
    """A finished point: `grid` is the figure it belongs to, `value` its place on the axis."""

    grid: str
    arm: str
    reading: str
    value: float | None
    seed: int
    result: Measured


@dataclass(frozen=True)
class Outcome(Generic[Measured]):
    """One figure: what was asked, at which scale, and all rows."""

    grid: Grid
    scale: str
    seeds: tuple[int, ...]
    rows: Sequence[Row[Measured]]

    @property
    def first(self) -> list[Row[Measured]]:
        """Rows of the first seed, which figures of single laws show."""
        return [row for row in self.rows if row.seed == self.seeds[0]]

    @property
    def seconds(self) -> float:
        """Seconds of all points, whoever did them; a law that several share counts once."""
        results = [row.result for row in self.rows]
        fits = [each for each in results if isinstance(each, FitPoint)]
        others = [each.seconds for each in results if isinstance(each, Timed)]
        laws = {(fit.spent.carve, fit.active) for fit in fits}
        return sum(s for s, _ in laws) + sum(fit.spent.infer for fit in fits) + sum(others)


def grouped(
    rows: Sequence[Row[Measured]], key: Callable[[Row[Measured]], Key]
) -> dict[Key, list[Row[Measured]]]:
    """Rows by a key, in the order in which the keys occur."""
    groups: dict[Key, list[Row[Measured]]] = {}
    for row in rows:
        groups.setdefault(key(row), []).append(row)
    return groups


def numbers(rows: Sequence[Row[FitPoint]], arm: str, key: ScoreKey) -> np.ndarray:
    """A number of one arm, an entry per seed and in their order; points on an axis are left out."""
    chosen = [row for row in rows if row.arm == arm and row.value is None]
    ordered = sorted(chosen, key=lambda row: row.seed)
    return np.array([row.result.number(key) for row in ordered])


@dataclass(frozen=True)
class Table:
    """A table of the page: its head, its lines and what to know about it."""

    head: list[str]
    lines: list[list[str | int]]
    note: str


@dataclass(frozen=True)
class Details:
    """What stands under a figure on the page: closed forms and tables."""

    laws: list[str] = field(default_factory=list)
    tables: list[Table] = field(default_factory=list)


@runtime_checkable
class Kind(Protocol):
    """A kind of figure: a file in `plots`, found by its name.

    A kind whose grids have options also has `Options`, a model of them; one that says more than
    its figure has `details`, a function from an outcome to `Details`.
    """

    def measure(self, point: Point, results: ContentCache, report: Report) -> Record:
        """The result of one point: what is kept in `results`, else computed and kept there."""

    def draw(self, outcome: Outcome[Record]) -> Figure:
        """The figure, from rows that `measure` gave."""
