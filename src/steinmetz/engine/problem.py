"""Set a study up: material, data and truth.

In a form in which the stages no longer care where they came from.
"""

from pathlib import Path
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Int

from steinmetz import registry
from steinmetz.data import hold_out, noise
from steinmetz.errors import InputError
from steinmetz.experiments import base as experiments
from steinmetz.experiments import door, measured, observe
from steinmetz.laws import base as laws
from steinmetz.materials import base as materials
from steinmetz.potentials import terms
from steinmetz.potentials.base import Network
from steinmetz.potentials.units import NaturalUnits
from steinmetz.records import Observations, Truth, ValidationPath
from steinmetz.studies.study import Source, Study

Stress = Float[np.ndarray, "points components"]
# Relative noise and, in the unit of the stress, absolute noise before either is estimated.
_STARTS = (0.1, 1.0)


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


class Problem(NamedTuple):
    """All blocks of a study, and what they make together.

    `train` and `held_out` are the data of all blocks, one below the other; `truth` is known for
    synthetic data only. `level` is the discrepancy a law is allowed, and noise that is not stated;
    `units` are the training data in units in which they are near one.
    `notes` say what of the tables is not used, `held_out_as` which rows are held out; `unit` is
    that of stress and energy, empty where none is declared.
    """

    material: materials.Material
    truth: Truth | None
    blocks: tuple[Block, ...]
    train: Observations
    held_out: Observations | None
    path: ValidationPath
    level: noise.Level
    units: NaturalUnits
    notes: list[str]
    held_out_as: list[str]
    unit: str = ""

    def fresh(self, key: Array, count: int) -> Observations:
        """What a law is judged by.

        Clean truth at `count` new states, or held-out rows, or all rows.

        Several experiments share the states as evenly as they can.
        """
        if self.truth is None:
            return self.held_out or self.train
        parts = []
        for number, block in enumerate(self.blocks):
            share = -(-count // len(self.blocks))
            rows = block.experiment.fresh(_block_key(key, number), share)
            parts.append(observe.clean(self.material, block.experiment, self.truth, rows))
        return observe.joined(parts)

    @property
    def floor(self) -> float:
        """The discrepancy that laws are allowed, in the unit of stress."""
        return self.level.floor * self.train.scale

    def allowing(self, level: noise.Level) -> "Problem":
        """The same with noise as it was found."""
        return self._replace(level=level)

    @property
    def path_noise(self) -> tuple[Float[np.ndarray, "..."], Float[np.ndarray, "..."]]:
        """The relative and the absolute noise along the path, as estimated where not stated."""
        found = (self.path.relative, self.level.relative), (self.path.absolute, self.level.absolute)
        relative, absolute = (np.where(np.isnan(part), level, part) for part, level in found)
        return relative, absolute

    def noisy(self, observations: Observations) -> Observations:
        """The same data with numbers where their noise was to be estimated."""
        return noise.filled(observations, self.level)

    @property
    def drawn(self) -> tuple[Stress, Stress]:
        """Relative and absolute noise that synthetic data have along the path."""
        shape, parts = self.path.observed.shape, zip(self.path.segments, self.blocks, strict=True)
        relative, absolute = np.zeros(shape), np.zeros(shape)
        for segment, block in parts:
            relative[segment.points], absolute[segment.points] = block.noise.drawn
        return relative, absolute

    def without(self, number: int) -> "Problem":
        """The same without the data of one block."""
        blocks = self.blocks[:number] + self.blocks[number + 1 :]
        train = observe.joined([block.train for block in blocks])
        material, floor = self.material, self.units.floor
        units = NaturalUnits.of(train, material.reference, material.sizes, floor)
        return self._replace(blocks=blocks, train=train, held_out=None, units=units)

    def clean(self, observations: Observations) -> Observations:
        """The same states with the values of the generating law, where there is one."""
        if self.truth is None:
            return observations
        values = self.truth.stress(self.material.reference, observations.map)
        return observations._replace(values=values)


def use_double() -> None:
    """Laws and posteriors are float64: switch JAX to it, for this process."""
    jax.config.update("jax_enable_x64", True)


def prepare(key: Array, study: Study) -> Problem:
    """Generate or read the data of a study."""
    material = materials.build(study.material)
    truth = laws.truth(material, study.data.law, study.data.parameters) if study.data.law else None
    tests = [experiments.build(source.experiment) for source in study.sources]
    for experiment in tests:
        experiment.check(material)
    notes, kept_as, unit = list[str](), list[str](), study.data.unit or ""
    if truth is None:
        blocks, notes, kept_as, unit = _measured(key, material, tests, study)
    else:
        numbered = enumerate(zip(tests, study.sources, strict=True))
        blocks = [
            _synthetic(_block_key(key, number), material, test, truth, source)
            for number, (test, source) in numbered
        ]
    train = observe.joined([block.train for block in blocks])
    kept = [block.held_out for block in blocks if block.held_out is not None]
    level = noise.Level(study.noise.allowed, *_STARTS)
    _check_noise(noise.filled(train, level), study.noise.allowed)
    parts = [(block.experiment, block.noise) for block in blocks]
    path = observe.path(material, parts, study.assess.path_points)
    held_out = observe.joined(kept) if kept else None
    units = NaturalUnits.of(train, material.reference, material.sizes, study.noise.allowed)
    data = train, held_out, path, level, units
    return Problem(material, truth, tuple(blocks), *data, notes + _few(train), kept_as, unit)


def _few(train: Observations) -> list[str]:
    """A note where one state is all there is."""
    single = len(np.unique(np.asarray(train.state), axis=0)) == 1
    words = "all data are of one state: law and bands elsewhere are those of the prior"
    return [words] if single else []


def _block_key(key: Array, number: int) -> Array:
    """A key per block; the first has that of the study."""
    return key if number == 0 else jax.random.fold_in(key, number)


def _synthetic(
    key: Array,
    material: materials.Material,
    experiment: experiments.Experiment,
    truth: Truth,
    source: Source,
) -> Block:
    """A test of the generating law, with noise."""
    state_key, noise_key = jax.random.split(key)
    rows = experiment.sample(state_key, source.count)
    try:
        clean = observe.clean(material, experiment, truth, rows)
    except ZeroDivisionError:
        raise InputError(f"law '{truth.name}' divides by zero with its data.parameters") from None
    if not bool(jnp.all(jnp.isfinite(clean.values))):
        settings = source.experiment.model_dump(exclude={"name"})
        words = ", ".join(f"{name} = {value}" for name, value in settings.items())
        raise InputError(f"law '{truth.name}' is not finite for every state with {words}")
    train = observe.noisy(noise_key, clean, source.noise)
    places = tuple(f"state {number + 1}" for number in range(len(rows)))
    return Block(experiment, source.noise, rows, train, None, places)


def _measured(
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
        hold_out.of_table(_block_key(key, number), place, source.held_out, way)
        for number, (place, source) in numbered
    ]


def _block(
    test: experiments.Experiment, read: measured.Reading, out: hold_out.Mask, source: Source
) -> Block:
    """One table; where all of it is held out, its rows still tell the range of the test."""
    every, fitted = read.observations, np.flatnonzero(~out)
    held_out = _rows(every, np.flatnonzero(out)) if out.any() else None
    rows = read.rows[fitted] if fitted.size else read.rows
    places = tuple(f"{Path(str(source.table)).name} line {line}" for line in read.lines[fitted])
    data = _rows(every, fitted), held_out
    return Block(test.covering(rows), source.noise, rows, *data, places)


def built(study: Study, material: materials.Material) -> Network | terms.Vocabulary:
    """What the law of a study is made of: an untrained network, or a vocabulary of terms."""
    file = registry.load("potentials", study.potential.name)
    made: Network | terms.Vocabulary = file.build(
        study.potential, material.inputs, material.conditions
    )
    return made


def network_of(study: Study, material: materials.Material) -> Network:
    """The untrained network of a study; where it has none, an error that says so."""
    made = built(study, material)
    if isinstance(made, terms.Vocabulary):
        raise InputError(
            f"potential '{study.potential.name}' is no network, which is what is asked for here; "
            f"use potential.name = '{terms.NETWORK}'"
        )
    return made


def _rows(observations: Observations, index: Int[np.ndarray, "rows"]) -> Observations:
    fields = observations._asdict().items()
    arrays = {name: array[index] for name, array in fields if name != "components"}
    return observations._replace(**arrays)


def _check_noise(train: Observations, floor: float) -> None:
    """Every observed datum needs a positive standard deviation."""
    deviation = np.asarray(noise.deviation(train, train.values, floor))[np.asarray(train.observed)]
    if not np.all(deviation > 0):
        raise InputError(
            "some data have zero noise and would get infinite weight; give noise.absolute, or a "
            "noise.floor above zero"
        )
