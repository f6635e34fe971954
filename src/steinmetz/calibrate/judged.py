"""One data set, carved and judged: the bands of every way to average laws, beside the truth."""

import time
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float
from pydantic import BaseModel, ConfigDict, Field

from steinmetz.assess import measures, scores
from steinmetz.calibrate.cases import Case, Stress, Task, case
from steinmetz.calibrate.ways import (
    JACKKNIFE,
    ORACLE,
    STREAM,
    Borders,
    borders,
    drawn,
    jackknife,
    oracle,
)
from steinmetz.data import noise
from steinmetz.engine.carved import carve_law
from steinmetz.predict.push_forward import Pushed, predictive
from steinmetz.records import ValidationPath

# Noisy data at every point of the path that a predictive band is judged on.
_COPIES = 20

Cells = Bool[np.ndarray, "states components"]


class Record(BaseModel):
    """Anything that is kept."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class Region(Record):
    """How bands do on a part of the path: means over its points and components."""

    coverage: dict[int, float] = Field(description="share of the values inside, by level")
    width: float = Field(description="of the 95 % band")
    interval_score: float = Field(description="of the 95 % band: width, and 40 times what is out")
    crps: float | None = Field(None, description="of draws; none where there are only borders")


class Judged(Record):
    """The bands of one way to average laws.

    `clean` are those of the push-forward beside the clean truth, `noisy` those of the predictive
    distribution beside new noisy data, both in range and beyond. `rank` is that of the true stress
    among the draws, at the place that the data set names.
    """

    clean: dict[str, Region] = Field(default_factory=dict)
    noisy: dict[str, Region] = Field(default_factory=dict)
    r2: float | None = Field(None, description="of the median of the draws")
    rank: int | None = None
    laws: int | None = Field(None, description="how many are drawn")


class DataSet(Record):
    """All ways on one data set; `size` is the number of parameters of its printed law."""

    law: str
    noise: float
    seed: int
    size: int
    functional: str = Field(description="whose rank is taken")
    seconds: float
    ways: dict[str, Judged]


class _Setting(NamedTuple):
    """What all ways are judged on: components that vary along the path, clean and noisy.

    `parts` are its points in range and beyond, `place` is where ranks are taken.
    """

    moving: Bool[np.ndarray, "all"]
    truth: Stress
    noisy: Pushed
    stated: tuple[Array, Array]
    parts: dict[str, Cells]
    place: tuple[int, int]
    seed: int


def judge(task: Task) -> DataSet:
    """Draw the data, carve them, and judge the bands of every way."""
    begun, known = time.monotonic(), case(task)
    setting, carved = _setting(known), carve_law(known.study, known.problem)
    floor = carved.noise.level.floor * known.problem.train.scale
    ways = {}
    for name, draws, laws in drawn(known, carved):
        ways[name] = _judged(setting, draws, floor).model_copy(update={"laws": laws})
    borders_of_new = {
        level: (low[:, setting.moving], high[:, setting.moving])
        for level, (low, high) in jackknife(known, carved).items()
    }
    ways[JACKKNIFE] = Judged(noisy=_regions(borders_of_new, setting, setting.noisy))
    if known.changes is not None:
        ways[ORACLE] = _judged(setting, oracle(known, known.changes), floor)
    return DataSet(
        law=task.run.name if task.run else str(task.study.data.law),
        noise=task.study.noise.drawn[0],
        seed=task.number if task.run else task.study.seed,
        size=carved.law.graph.size,
        functional=_words(known.problem.path, setting),
        seconds=time.monotonic() - begun,
        ways=ways,
    )


def _setting(known: Case) -> _Setting:
    """Cells in range and beyond, noisy data there, and where ranks are taken."""
    path = known.problem.path
    cells = scores.varying(known.truth, path.observed)
    moving, inside = np.asarray(cells.any(axis=0)), path.sampled[:, None]
    cells, truth = cells[:, moving], known.truth[:, moving]
    relative, absolute = (jnp.asarray(part[:, moving]) for part in known.problem.path_noise)
    stated = relative, absolute
    key = jax.random.fold_in(jax.random.key(known.study.seed), STREAM)
    many = jnp.broadcast_to(jnp.asarray(truth), (_COPIES, *truth.shape))
    noisy = np.asarray(noise.draw(key, many, *stated))
    parts = {"in range": cells & inside, "beyond": cells & ~inside}
    parts = {name: part for name, part in parts.items() if part.any()}
    first = parts[next(iter(parts))]
    component = int(np.flatnonzero(first.any(axis=0))[0])
    place = int(np.flatnonzero(first[:, component])[-1]), component
    return _Setting(moving, truth, noisy, stated, parts, place, known.study.seed)


def _words(path: ValidationPath, setting: _Setting) -> str:
    """Such as 'S11 at F11 = 1.2'."""
    point, component = setting.place
    name = path.components[int(np.flatnonzero(setting.moving)[component])]
    (label,) = (s.label for s in path.segments if s.points.start <= point < s.points.stop)
    return f"{name} at {label} = {path.coordinate[point]:.3g}"


def _judged(setting: _Setting, every: Pushed, allowed: float) -> Judged:
    """Draws beside the truth, and with noise (and what laws are allowed) beside noisy data."""
    draws, truth, place = every[..., setting.moving], setting.truth, setting.place
    key = jax.random.key(setting.seed + STREAM)
    noisy = predictive(key, draws, setting.stated, allowed, noise.Draws(np.ones(len(draws))))
    score = measures.crps(draws, truth)
    clean = {
        name: each.model_copy(update={"crps": float(score[setting.parts[name]].mean())})
        for name, each in _regions(borders(draws), setting, truth[None]).items()
    }
    return Judged(
        clean=clean,
        noisy=_regions(borders(noisy), setting, setting.noisy),
        r2=measures.r2(np.median(draws, axis=0), truth),
        rank=int(np.sum(draws[:, *place] < truth[place])),
    )


def _regions(
    found: Borders, setting: _Setting, values: Float[np.ndarray, "copies states components"]
) -> dict[str, Region]:
    """Coverage, width and interval score in range and beyond."""
    return {name: region(found, values, part) for name, part in setting.parts.items()}


def region(
    found: Borders, values: Float[np.ndarray, "copies states components"], cells: Cells
) -> Region:
    """Coverage at every level, width and interval score of the widest band (Gneiting 2007)."""
    coverage = {}
    for level, (low, high) in found.items():
        out = np.maximum(low - values, 0) + np.maximum(values - high, 0)
        coverage[level] = float(np.mean((out == 0)[:, cells]))
        width = float(np.mean((high - low)[cells]))
        score = width + 2 / (1 - level / 100) * float(np.mean(out[:, cells]))
    return Region(coverage=coverage, width=width, interval_score=score)
