"""Work through the figures of the paper: every point once, by content, with the time that is left."""

import time
from pathlib import Path
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from steinmetz import registry
from steinmetz.cache import ContentCache, Piece
from steinmetz.engine import density, lcurve
from steinmetz.engine.problem import require_double
from steinmetz.errors import InputError
from steinmetz.paper import points
from steinmetz.paper.grids import SCALES, Grid, Point
from steinmetz.paper.grids import load as load_grid
from steinmetz.paper.grids import points as points_of
from steinmetz.physics import slices
from steinmetz.records import Report, silent
from steinmetz.studies import config

# ContentCache of memory above which programs are let go (Linux allows 65 530), and how often where they cannot be counted.
_MAPS, _EVERY = 20_000, 25


class Row(NamedTuple):
    """One finished point of a figure."""

    grid: str
    arm: str
    reading: str
    value: float | None
    seed: int
    found: Piece


class Outcome(NamedTuple):
    """One figure: what was asked, at which scale, and all rows."""

    grid: Grid
    scale: str
    seeds: int
    rows: list[Row]


class Unit(NamedTuple):
    """A piece of work of one figure."""

    grid: Grid
    label: str
    point: Point | None
    seed: int


def units(grid: Grid, scale: str, seeds: int) -> list[Unit]:
    """The work of a figure in its order."""
    if grid.kind in ("lcurves", "flow"):
        return [Unit(grid, f"seed {seed}", None, seed) for seed in range(seeds)]
    return [Unit(grid, point.label, point, point.seed) for point in points_of(grid, scale, seeds)]


def reproduce(
    names: list[str], scale: str = "quick", seeds: int | None = None, folder: str | Path = "reproduction",
    report: Report = silent,
) -> list[Outcome]:  # fmt: skip
    """All rows of the named figures; what is finished stays in `folder`/pieces, and is not computed again."""
    require_double()
    if scale not in SCALES:
        raise InputError(registry.unknown("scale", scale, list(SCALES)))
    grids = [load_grid(name) for name in names]
    counts = [seeds or grid.seeds[scale] for grid in grids]
    pieces = ContentCache(Path(folder) / "pieces")
    plan = [units(grid, scale, count) for grid, count in zip(grids, counts, strict=True)]
    total, done, begun = sum(map(len, plan)), 0, time.monotonic()
    outcomes = []
    for grid, count, work in zip(grids, counts, plan, strict=True):
        rows = []
        for unit in work:
            say = _saying(report, unit, done, total, begun)
            say("point", 0, 1)
            rows.append(_row(unit, scale, pieces, say))
            done += 1
            _tidy(done)
        outcomes.append(Outcome(grid, scale, count, rows))
    report("point", total, total)
    return outcomes


def _tidy(done: int) -> None:
    """Let go of compiled programs in time: every law has its own, and a process may map only so much memory."""
    try:
        with open("/proc/self/maps", encoding="utf-8", errors="replace") as maps:
            crowded = sum(1 for _ in maps) > _MAPS
    except OSError:  # not Linux
        crowded = done % _EVERY == 0
    if crowded:
        jax.clear_caches()


def _saying(report: Report, unit: Unit, done: int, total: int, begun: float) -> Report:
    """Progress of all the work, whatever stage of one point is under way."""

    def say(stage: str, at: int, of: int, **facts: object) -> None:
        spent = time.monotonic() - begun
        left = f"{spent / done * (total - done) / 60:.0f} min" if done and spent > 5 else ""
        report("point", done, total, now=f"{unit.grid.id} {unit.label}", left=left)

    return say


def _row(unit: Unit, scale: str, pieces: ContentCache, report: Report) -> Row:
    grid, point = unit.grid, unit.point
    if point is None:
        found = (
            _curves(grid, scale, unit.seed, pieces, report)
            if grid.kind == "lcurves"
            else _flow(grid, unit.seed, pieces, report)
        )
        return Row(grid.id, grid.kind, "", None, unit.seed, found)
    if grid.kind == "planes":
        found = _planes(point, pieces, report)
    else:
        keep = point.reference is None and bool(load_grid(point.grid).reference)
        found = points.work(point, pieces, report, sampled="+" in point.arm, keep=keep)
    return Row(point.grid, point.arm, point.reading, point.value, point.seed, found)


def _curves(grid: Grid, scale: str, seed: int, pieces: ContentCache, report: Report) -> Piece:
    """L-curves of one seed: a row per network."""
    study, size = config.load(grid.study, {**grid.at(scale), "seed": seed}), grid.options[scale]
    methods, noises = tuple(grid.options["methods"]), tuple(size["noises"])

    def compute(store: Any) -> Piece:
        curve = lcurve.lcurve(
            study, methods, noises, size["penalties"], size["restarts"], None, report, store
        )
        columns = {
            name: np.array([getattr(p, name) for p in curve.points])
            for name in ("noise", "penalty", "nonzero", "loss")
        }
        columns["r2"] = np.array([np.nan if p.r2 is None else p.r2 for p in curve.points])
        columns["method"] = np.array([p.method for p in curve.points])
        return Piece(
            columns, {"picks": [pick._asdict() for pick in curve.picks], "full": curve.full}
        )

    said = {
        "study": study.model_dump(mode="json", exclude={"name", "title", "infer"}),
        "lcurve": size,
    }
    ranges = {method: registry.load("sparsify", method).RANGE for method in methods}
    return pieces.get({**said, "ranges": ranges}, "curves", compute)


def _flow(grid: Grid, seed: int, pieces: ContentCache, report: Report) -> Piece:
    """Particles of a Stein flow under an L1 prior at some epochs."""
    options = grid.options
    mean, precision = jnp.asarray(options["mean"]), jnp.asarray(options["precision"])
    epochs = [int(epoch) for epoch in options["epochs"]]

    def log_likelihood(x: Any) -> Any:
        return -0.5 * (x - mean) @ precision @ (x - mean)

    def compute(store: Any) -> Piece:
        begun = time.monotonic()
        size = {"particles": options["particles"], "steps": epochs[-1], "thin": epochs[1]}
        found = density.sample(
            log_likelihood,
            jnp.zeros(len(mean)),
            "l1flow",
            seed,
            report,
            store,
            penalty=options["penalty"],
            **size,
        )
        first = density.start_of(seed, options["particles"], len(mean))
        taken = np.concatenate([first[None], found.run.draws])
        return Piece({"particles": taken}, {"epochs": epochs, "seconds": time.monotonic() - begun})

    return pieces.get({"flow": options, "seed": seed}, "flow", compute)


def _planes(point: Point, pieces: ContentCache, report: Report) -> Piece:
    """Slices of Ψ of truth and law."""

    def compute(store: Any) -> Piece:
        problem, carved, _ = points.law_of(point.study, pieces, report)
        energies = {
            "truth": slices.energy_of(points.truth_of(problem), problem.physics.reference),
            "law": carved.law.energy,
        }
        arrays: dict[str, np.ndarray] = {}
        wells: dict[str, Any] = {}
        for name, energy in energies.items():
            every = [
                slices.grid(plane, problem.physics, energy) for plane in problem.physics.planes
            ]
            for index, one in enumerate(every):
                arrays |= {
                    f"{name}_{index}_{axis}": values
                    for axis, values in zip("xyz", one, strict=True)
                }
            wells[name] = [[list(place) for place in slices.minima(one[2])] for one in every]
        planes = [[plane.first, plane.second] for plane in problem.physics.planes]
        active = int(carved.law.graph.size)
        return Piece(arrays, {"planes": planes, "wells": wells, "active": active})

    said = {
        "planes": point.study.model_dump(mode="json", exclude={"name", "title", "infer", "assess"})
    }
    return pieces.get(said, "planes", compute)
