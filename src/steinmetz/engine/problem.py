"""Set a study up: material, data and truth.

In a form in which the stages no longer care where they came from.
"""

from pathlib import Path
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Int

from steinmetz import registry
from steinmetz.data import noise, table
from steinmetz.errors import InputError
from steinmetz.experiments import base as experiments
from steinmetz.experiments import measured, observe
from steinmetz.laws import base as laws
from steinmetz.materials import base as materials
from steinmetz.potentials.base import Network
from steinmetz.records import Observations, Truth, ValidationPath
from steinmetz.studies.study import Source, Study

# Tables with fewer rows are not split: their test score would be luck.
_FEWEST_TO_SPLIT = 20


class Block(NamedTuple):
    """Data of one experiment: what is fitted, and rows held out of it (measured data only).

    `experiment` has the range of these data, `rows` are the columns of what is fitted.
    """

    experiment: experiments.Experiment
    noise: noise.Config
    rows: experiments.Rows
    train: Observations
    held_out: Observations | None


class Problem(NamedTuple):
    """All blocks of a study, and what they make together.

    `train` and `held_out` are the data of all blocks, one below the other; `truth` is known for
    synthetic data only. `floor` is the discrepancy a law is allowed, in the unit of the stress.
    """

    material: materials.Material
    truth: Truth | None
    blocks: tuple[Block, ...]
    train: Observations
    held_out: Observations | None
    path: ValidationPath
    floor: float
    notes: list[str]

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
    blocks, notes = [], []
    for number, source in enumerate(study.sources):
        experiment = experiments.build(source.experiment)
        experiment.check(material)
        at = _block_key(key, number)
        if truth is None:
            block, more = _measured(at, material, experiment, source)
            notes += more
        else:
            block = _synthetic(at, material, experiment, truth, source)
        blocks.append(block)
    train = observe.joined([block.train for block in blocks])
    kept = [block.held_out for block in blocks if block.held_out is not None]
    _check_noise(train, study.noise.floor)
    parts = [(block.experiment, block.noise) for block in blocks]
    path = observe.path(material, parts, study.assess.path_points)
    held_out = observe.joined(kept) if kept else None
    floor = study.noise.floor * train.scale
    return Problem(material, truth, tuple(blocks), train, held_out, path, floor, notes)


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
    return Block(experiment, source.noise, rows, train, None)


def _measured(
    key: Array, material: materials.Material, experiment: experiments.Experiment, source: Source
) -> tuple[Block, list[str]]:
    """The rows of a table, some of them held out."""
    read = table.read(Path(str(source.table)))
    every, rows, notes = measured.observations(material, experiment, read, source.noise)
    fitted, kept = _split(key, len(rows), source.held_out)
    held_out = _rows(every, kept) if len(kept) else None
    covering = experiment.covering(rows)
    return Block(covering, source.noise, rows[fitted], _rows(every, fitted), held_out), notes


def network_of(study: Study, material: materials.Material) -> Network:
    """The untrained network of a study."""
    file = registry.load("potentials", study.potential.name)
    network: Network = file.build(study.potential, material.inputs, material.conditions)
    return network


def _split(
    key: Array, rows: int, share: float
) -> tuple[Int[np.ndarray, "fitted"], Int[np.ndarray, "kept"]]:
    """Numbers of the rows to fit, and of random rows held out; none of a short table."""
    count = round(share * rows)
    if rows < _FEWEST_TO_SPLIT or count == 0:
        return np.arange(rows), np.zeros(0, int)
    order = np.asarray(jax.random.permutation(key, rows))
    return np.sort(order[count:]), np.sort(order[:count])


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
