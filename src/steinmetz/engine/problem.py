"""Set a study up: material, data and truth.

In a form in which the stages no longer care where they came from.
"""

from typing import NamedTuple

import jax
import numpy as np
from jaxtyping import Array, Float

from steinmetz import registry
from steinmetz.data import noise
from steinmetz.engine.blocks import Block, block_key, from_tables, synthetic
from steinmetz.errors import InputError
from steinmetz.experiments import base as experiments
from steinmetz.experiments import observe
from steinmetz.laws import base as laws
from steinmetz.materials import base as materials
from steinmetz.potentials import terms
from steinmetz.potentials.base import Network
from steinmetz.potentials.units import NaturalUnits
from steinmetz.records import Observations, Truth, ValidationPath
from steinmetz.sparsify import many_rows
from steinmetz.studies.study import Study

Stress = Float[np.ndarray, "points components"]
# Relative noise and, in the unit of the stress, absolute noise before either is estimated.
_STARTS = (0.1, 1.0)
# Values of measured rows that predictive draws are judged by, at most.
_JUDGED = 4500
# Rows whose likelihood is kept for every draw, at most.
_LEFT_OUT = 5000


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
            rows = block.experiment.fresh(block_key(key, number), share)
            parts.append(observe.clean(self.material, block.experiment, self.truth, rows))
        return observe.joined(parts)

    @property
    def judged(self) -> Observations:
        """Measured rows that draws are judged by: held out, or all; of many, some of them."""
        return few(self.held_out or self.train)

    @property
    def left_out(self) -> Observations:
        """Fitted rows whose density is asked for, each without itself; of many, some of them."""
        return self.train.spread(_LEFT_OUT)

    @property
    def tested(self) -> Observations | None:
        """Held-out rows whose density is asked for, where there are any; of many, some of them."""
        return None if self.held_out is None else self.held_out.spread(_LEFT_OUT)

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


def few(rows: Observations) -> Observations:
    """Of many rows some: there is a number for every value and draw, and `_JUDGED` say enough."""
    return rows.spread(max(_JUDGED // len(rows.components), 1))


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
        blocks, notes, kept_as, unit = from_tables(key, material, tests, study)
    else:
        numbered = enumerate(zip(tests, study.sources, strict=True))
        blocks = [
            synthetic(block_key(key, number), material, test, truth, source)
            for number, (test, source) in numbered
        ]
    material = _completed(material.in_unit(unit), study)
    train = observe.joined([block.train for block in blocks])
    kept = [block.held_out for block in blocks if block.held_out is not None]
    level = noise.Level(study.noise.allowed, *_STARTS)
    _check_noise(noise.filled(train, level), study.noise.allowed)
    parts = [(block.experiment, block.noise) for block in blocks]
    path = observe.path(material, parts, study.assess.path_points)
    held_out = observe.joined(kept) if kept else None
    units = NaturalUnits.of(train, material.reference, material.sizes, study.noise.allowed)
    data = train, held_out, path, level, units
    notes += [*_few(train), *_many(train, study), *_nearly(material, unit)]
    return Problem(material, truth, tuple(blocks), *data, notes, kept_as, unit)


def _few(train: Observations) -> list[str]:
    """A note where one state is all there is."""
    single = len(np.unique(np.asarray(train.state), axis=0)) == 1
    words = "all data are of one state: law and bands elsewhere are those of the prior"
    return [words] if single else []


def _many(train: Observations, study: Study) -> list[str]:
    """A note where not everything is computed with all rows."""
    count = len(train.state)
    if count <= many_rows.SEARCHED or not isinstance(study.potential, terms.Config):
        return []
    return [
        f"{count} fitted rows: which terms laws have, how well the noise is known and the bands "
        f"are found with {many_rows.SEARCHED} of them, evenly spread; coefficients, their "
        "posterior, the size of the noise and the choice among laws with all"
    ]


def _completed(material: materials.Material, study: Study) -> materials.Material:
    """The material, refused where a bulk modulus is given and laws cannot be completed with it."""
    if material.reference.bulk and not isinstance(study.potential, terms.Config):
        raise InputError(
            "material.bulk completes laws composed of terms; leave it out, or set potential.name "
            "= 'terms'"
        )
    return material


def _nearly(material: materials.Material, unit: str) -> list[str]:
    """What is assumed where a bulk modulus is given."""
    bulk = material.reference.bulk
    words = f"nearly incompressible: tests are analysed with J = 1; κ = {bulk:.4g} {unit}".rstrip()
    return [f"{words} of κ/2 (J - 1)² is given, not fitted"] if bulk else []


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


def _check_noise(train: Observations, floor: float) -> None:
    """Every observed datum needs a positive standard deviation."""
    deviation = np.asarray(noise.deviation(train, train.values, floor))[np.asarray(train.observed)]
    if not np.all(deviation > 0):
        raise InputError(
            "some data have zero noise and would get infinite weight; give noise.absolute, or a "
            "noise.floor above zero"
        )
