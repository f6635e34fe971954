"""Stress at the rows of a table: law, bands of laws and of new data, and where data reach.

What is said of a row does not depend on the other rows of its table, beyond chance in the noise of
new data.
"""

from pathlib import Path
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float

from steinmetz.assess.reach import Reach, reach
from steinmetz.data.noise import Draws
from steinmetz.engine.blocks import Block
from steinmetz.engine.outcome import Outcome
from steinmetz.engine.problem import Problem
from steinmetz.errors import InputError
from steinmetz.experiments import asked as tables
from steinmetz.experiments import base as experiments
from steinmetz.experiments import modes
from steinmetz.experiments.asked import Asked
from steinmetz.experiments.incompressible import Incompressible
from steinmetz.pieces import quantiles
from steinmetz.predict.push_forward import Pushed, predictive
from steinmetz.records import StressMap

# Folded into the key of a study: noise drawn here is not that of another stage.
_STREAM = 1729
# Rows that are predicted at once.
_CHUNK = 250
# New observations of every cell, at least: ends of a band of fewer are left to chance.
_COPIES = 2000
# States that stand for the range of a test along one column.
_ALONG = 200
# Shares of the way from rest to a fitted state that count as covered with it: small deformations of
# any kind are, and a hull of the fitted states alone would leave most of them out.
_WAY = (0.25, 0.5, 0.75, 1.0)

Stress = Float[np.ndarray, "rows components"]
Copies = Float[np.ndarray, "copies states components"]


class Limits(NamedTuple):
    """Ends of the central band: of the laws, and of new data, not a number without known noise."""

    median: Stress
    lower: Stress
    upper: Stress
    new_lower: Stress
    new_upper: Stress


class Predicted(NamedTuple):
    """Stress at the rows of one test, and which rows lie outside the range of the data."""

    asked: Asked
    components: tuple[str, ...]
    law: Stress
    limits: Limits
    extrapolated: Bool[np.ndarray, "rows"]

    @property
    def measured(self) -> Stress:
        """What the table says was measured, not a number where it says nothing."""
        table, nothing = self.asked.table, np.full(len(self.law), np.nan)
        known = [
            table.column(name) if name in self.asked.measured else nothing
            for name in self.components
        ]
        return np.stack(known, axis=1)


class Noise(NamedTuple):
    """Deviations of new data, cell by cell; `known` where data say what they are."""

    relative: Stress
    absolute: Stress
    known: Bool[np.ndarray, "rows components"]


def predicted(
    outcome: Outcome, path: Path, experiment: str | None = None, level: float = 0.95
) -> list[Predicted]:
    """Stress at the rows of a table, test by test.

    `experiment` names the test where the table does not; without either it is the only one of the
    run. `level` is the probability of the bands.
    """
    if not 0 < level < 1:
        raise InputError(f"level = {level:g} is not possible: it must lie between 0 and 1")
    problem = outcome.problem
    usual = list(dict.fromkeys(block.experiment.name for block in problem.blocks))
    names = tables.tests_of(path, experiment, usual)
    tests = [modes.suited(name, problem.material) for name in names]
    declared = outcome.study.sources[0].declared
    read = tables.read(problem.material, path, tests, declared)
    return [_test(outcome, tables.in_unit(each, problem.unit), level) for each in read]


def _test(outcome: Outcome, asked: Asked, level: float) -> Predicted:
    """The rows of one test."""
    problem, test = outcome.problem, asked.experiment
    rows = np.stack([asked.table.column(name) for name in test.columns], axis=1)
    names = _components(problem, asked)
    noise = _noise(problem, asked, names)
    every, key = [], jax.random.fold_in(jax.random.key(outcome.study.seed), _STREAM)
    whole = test.map(problem.material, test.states(rows), names)
    for start in range(0, len(rows), _CHUNK):
        part = slice(start, start + _CHUNK)
        at = StressMap(whole.inputs[part], whole.operator[part])
        drawn = outcome.bands.push(at)[0]
        own = Noise(*(cells[part] for cells in noise))
        new = _new(jax.random.fold_in(key, start), outcome, drawn, own)
        every.append((np.asarray(outcome.law.stress(at)), *_limits(drawn, new, own, level)))
    law, *limits = (np.concatenate(parts) for parts in zip(*every, strict=True))
    return Predicted(asked, names, law, Limits(*limits), outside(problem, test, rows))


def _components(problem: Problem, asked: Asked) -> tuple[str, ...]:
    """Those fitted in this test, else its usual ones; and those that the table has measured."""
    name = asked.experiment.name
    blocks = [block for block in problem.blocks if block.experiment.name == name]
    fitted = [component for block in blocks for component in block.train.components]
    usual = fitted or list(asked.experiment.observed)
    return tuple(dict.fromkeys([*usual, *asked.measured]))


def _new(key: Array, outcome: Outcome, drawn: Pushed, noise: Noise) -> Copies:
    """New observations, as many of every draw."""
    level, factor = outcome.problem.level, outcome.bands.noise
    relative, absolute = noise.relative, noise.absolute
    if factor.relative is None:
        relative = np.where(np.isnan(relative), level.relative, relative)
    if factor.absolute is None:
        absolute = np.where(np.isnan(absolute), level.absolute, absolute)
    deviations = (jnp.asarray(relative), jnp.asarray(absolute))
    copies = -(-_COPIES // len(drawn))
    many = Draws(
        np.repeat(factor.factor, copies),
        _repeated(factor.relative, copies),
        _repeated(factor.absolute, copies),
        _repeated(factor.discrepancy, copies),
        factor.tails,
    )
    return predictive(
        key, np.repeat(drawn, copies, axis=0), deviations, outcome.problem.floor, many
    )


def _repeated(part: Float[np.ndarray, "draws"] | None, copies: int) -> np.ndarray | None:
    """The same with copies of every draw beside it."""
    return None if part is None else np.repeat(part, copies)


def _limits(drawn: Pushed, new: Copies, noise: Noise, level: float) -> tuple[Stress, ...]:
    """Median and ends of both bands."""
    ends = [(1 - level) / 2, (1 + level) / 2]
    lower, median, upper = quantiles(drawn, [ends[0], 0.5, ends[1]])
    outer = (np.where(noise.known, end, np.nan) for end in quantiles(new, ends))
    return median, lower, upper, *outer


def _noise(problem: Problem, asked: Asked, names: tuple[str, ...]) -> Noise:
    """Deviations of new data: those of the table, else those of the data of this test.

    A test that was not done is taken to have the noise of the others, where they agree.
    """
    table, blocks = asked.table, [b for b in problem.blocks if len(b.train.state)]
    mine = [b for b in blocks if b.experiment.name == asked.experiment.name] or blocks
    shape = (len(table.lines), len(names))
    relative, absolute = np.zeros(shape), np.zeros(shape)
    known = np.zeros(shape, bool)
    for index, name in enumerate(names):
        pairs = {pair for block in mine for pair in _stated(block, name)}
        if len(pairs) == 1:
            own = (np.nan if part is None else part for part in pairs.pop())
            relative[:, index], absolute[:, index] = own
            known[:, index] = True
        if f"sd_{name}" in table.columns and name in asked.measured:
            given = table.column(f"sd_{name}")
            said = np.isfinite(given)
            relative[said, index], absolute[said, index] = 0.0, given[said]
            known[said, index] = True
    return Noise(relative, absolute, known)


def _stated(block: Block, name: str) -> set[tuple[float | None, float | None]]:
    """Every pair of relative and absolute noise of a component; None where it was estimated."""
    sizes = np.array([block.noise.numbers])
    if name in block.train.components:
        index = block.train.components.index(name)
        seen = np.asarray(block.train.observed)[:, index]
        parts = (block.train.relative, block.train.absolute)
        sizes = np.stack([np.asarray(part)[seen, index] for part in parts], axis=1)
    unique = np.unique(sizes, axis=0, equal_nan=True)
    pairs = [[None if np.isnan(size) else float(size) for size in pair] for pair in unique]
    return {(relative, absolute) for relative, absolute in pairs}


def outside(
    problem: Problem, test: experiments.Experiment, rows: experiments.Rows
) -> Bool[np.ndarray, "rows"]:
    """Rows that extrapolate: neither in the range of the same test nor among the inputs of data.

    A test along one column covers what lies between its ends, and between them and rest.
    """
    inside = covered(problem).covers(_inputs(problem, test, rows))
    if len(test.columns) == 1:
        for block in problem.blocks:
            if block.experiment.name == test.name and len(block.train.state):
                ends = _ends(block)
                inside |= (rows[:, 0] >= ends[0] - 1e-9) & (rows[:, 0] <= ends[1] + 1e-9)
    return np.asarray(~inside)


def covered(problem: Problem) -> Reach:
    """Where the fitted data are, in the inputs of the potential, rest among them."""
    parts = [np.asarray(problem.material.reference.point)[None]]
    for block in problem.blocks:
        if len(block.train.state):
            parts.append(_inputs(problem, block.experiment, _reached(problem, block)))
    return reach(np.concatenate(parts))


def _reached(problem: Problem, block: Block) -> experiments.Rows:
    """Rows of a test as far as its data go: along its only column, or on the way to every row."""
    test = block.experiment
    if len(test.columns) == 1:
        return np.linspace(*_ends(block), _ALONG)[:, None]
    rest = np.asarray(problem.material.undeformed)
    if isinstance(test, Incompressible):
        rest = np.full(len(test.columns), test.rest)
    return np.concatenate([rest + share * (block.rows - rest) for share in _WAY])


def _inputs(
    problem: Problem, test: experiments.Experiment, rows: experiments.Rows
) -> Float[np.ndarray, "rows inputs"]:
    """Arguments of the potential at the rows of a test."""
    at = test.map(problem.material, test.states(rows), test.observed[:1])
    return np.asarray(at.inputs)


def _ends(block: Block) -> tuple[float, float]:
    """The range of the only column of a test, rest included."""
    test = block.experiment
    rest = test.rest if isinstance(test, Incompressible) else float(block.rows.min())
    return min(rest, float(block.rows.min())), max(rest, float(block.rows.max()))
