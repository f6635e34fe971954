"""Data of the tests of a study, block by block: drawn from a law, or read from tables."""

from pathlib import Path
from typing import NamedTuple

import numpy as np
from jaxtyping import Array

from steinmetz import host
from steinmetz.data import hold_out, noise
from steinmetz.errors import InputError
from steinmetz.experiments import base as experiments
from steinmetz.experiments import door, measured, observe
from steinmetz.materials import base as materials
from steinmetz.records import Observations, Truth
from steinmetz.studies.study import Source, Study


class Block(NamedTuple):
    """Data of one experiment: what is fitted, and rows held out of it (measured data only).

    `experiment` has the range of these data, `rows` are the columns of what is fitted, or all if
    nothing of the block is; `places` say where in its table every fitted row is.
    """

    experiment: experiments.Experiment
    noise: noise.Config
    rows: experiments.Rows
    train: Observations
    held_out: Observations | None
    places: tuple[str, ...] = ()


def block_key(key: Array, number: int) -> Array:
    """A key per block; the first has that of the study."""
    return key if number == 0 else host.folded(key, number)


def synthetic(
    key: Array,
    material: materials.Material,
    experiment: experiments.Experiment,
    truth: Truth,
    source: Source,
) -> Block:
    """A test of the generating law, with noise."""
    state_key, noise_key = host.split(key)
    rows = experiment.sample(state_key, source.count)
    try:
        clean = observe.clean(material, experiment, truth, rows)
    except ZeroDivisionError:
        raise InputError(f"law '{truth.name}' divides by zero with its data.parameters") from None
    if not np.isfinite(np.asarray(clean.values)).all():
        settings = source.experiment.model_dump(exclude={"name"})
        words = ", ".join(f"{name} = {value}" for name, value in settings.items())
        raise InputError(f"law '{truth.name}' is not finite for every state with {words}")
    train = observe.noisy(noise_key, clean, source.noise)
    places = tuple(f"state {number + 1}" for number in range(len(rows)))
    return Block(experiment, source.noise, rows, train, None, places)


def from_tables(
    key: Array, material: materials.Material, tests: list[experiments.Experiment], study: Study
) -> tuple[list[Block], list[str], list[str], str]:
    """The rows of all tables, some of them held out; notes, how rows were held out, the unit."""
    tables = [Path(str(source.table)) for source in study.sources]
    clean = door.read(material, _wanted(tests, study))
    read = [
        measured.observations(material, each.experiment, each.table, source.noise)
        for each, source in zip(clean, study.sources, strict=True)
    ]
    kept = _kept(key, material, read, study)
    parts = zip(tests, read, kept, study.sources, strict=True)
    blocks = [_block(test, each, out.rows, source) for test, each, out, source in parts]
    if all(len(block.train.state) == 0 for block in blocks):
        raise InputError("every row is held out; lower data.held_out")
    names = _names(tables, tests)
    notes = [
        f"{name}{note}"
        for name, each, more in zip(names, clean, read, strict=True)
        for note in (*each.notes, *more.notes)
    ]
    kept_as = [f"{name}{out.words}" for name, out in zip(names, kept, strict=True) if out.words]
    return blocks, notes, kept_as, clean[0].unit


def tables(study: Study) -> list[door.Clean]:
    """What is understood of the tables of a study; nothing is fitted."""
    material = materials.build(study.material)
    tests = [experiments.build(source.experiment) for source in study.sources]
    for experiment in tests:
        experiment.check(material)
    return door.read(material, _wanted(tests, study))


def _wanted(tests: list[experiments.Experiment], study: Study) -> list[door.Wanted]:
    """The tables of a study, with what is declared of them."""
    return [
        door.Wanted(Path(str(source.table)), test, source.declared)
        for test, source in zip(tests, study.sources, strict=True)
    ]


def _names(tables: list[Path], tests: list[experiments.Experiment]) -> list[str]:
    """What notes of a table begin with where there are several."""
    if len(tables) == 1:
        return [""]
    parts = [
        f", {test.name}" if tables.count(path) > 1 else ""
        for path, test in zip(tables, tests, strict=True)
    ]
    return [f"{path.name}{part}: " for path, part in zip(tables, parts, strict=True)]


def _kept(
    key: Array, material: materials.Material, read: list[measured.Reading], study: Study
) -> list[hold_out.Kept]:
    """The rows of every table to hold out."""
    places, way = [], study.data.hold_out
    for each in read:
        single = each.rows.shape[1] == 1
        along = each.rows[:, 0] if single else np.arange(len(each.rows), dtype=float)
        away = np.asarray(each.observations.state) - np.asarray(material.undeformed)
        places.append(hold_out.Places(each.curves, along, np.linalg.norm(away, axis=1)))
    if way == "curves" and study.data.held_out > 0:
        return hold_out.of_curves(key, places, study.data.held_out)
    numbered = enumerate(zip(places, study.sources, strict=True))
    return [
        hold_out.of_table(block_key(key, number), place, source.held_out, way)
        for number, (place, source) in numbered
    ]


def _block(
    test: experiments.Experiment, read: measured.Reading, out: hold_out.Mask, source: Source
) -> Block:
    """One table; where all of it is held out, its rows still tell the range of the test."""
    every, fitted = read.observations, np.flatnonzero(~out)
    held_out = every.rows(np.flatnonzero(out)) if out.any() else None
    rows = read.rows[fitted] if fitted.size else read.rows
    places = tuple(f"{Path(str(source.table)).name} line {line}" for line in read.lines[fitted])
    data = every.rows(fitted), held_out
    return Block(test.covering(rows), source.noise, rows, *data, places)
