"""A data set whose truth is known: from a law, or from a draw of the posterior of a finished run.

Such a draw makes new data, and is looked for in these and the data of the run together: then, and
not in the new data alone, a draw of the posterior of all is as good as it (posterior
simulation-based calibration, Säilynoja et al. 2025).

With the truth goes how stress changes with its parameters: an oracle that knows the structure, and
only estimates these, has the narrowest bands there can be.
"""

import hashlib
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from steinmetz import reading, registry
from steinmetz.cache import Content
from steinmetz.data import noise
from steinmetz.engine import carving
from steinmetz.engine.carved import stage_keys
from steinmetz.engine.mixture import mixture_of
from steinmetz.engine.problem import Problem, prepare
from steinmetz.errors import InputError
from steinmetz.experiments import observe
from steinmetz.laws import base as laws
from steinmetz.materials import base as materials
from steinmetz.potentials import terms
from steinmetz.potentials.units import NaturalUnits
from steinmetz.predict.bands import Bands
from steinmetz.predict.push_forward import Pushed, predictive
from steinmetz.records import StressMap, Truth
from steinmetz.studies import config
from steinmetz.studies.study import Study

# Draws of the posterior of a run, of which data sets take one each.
POOL = 1000
# Points of the validation path on which bands are judged.
_POINTS = {"assess.path_points": 101}
# Share of a parameter by which it is changed for a difference quotient.
_STEP = 1e-4
# Changed when the same task would mean other numbers.
_EDITION = 2

Stress = Float[np.ndarray, "states components"]
Slopes = Float[np.ndarray, "parameters states components"]


class Task(NamedTuple):
    """One data set: of the law of a study, or of a draw of a finished run by its number."""

    study: Study
    run: Path | None = None
    number: int = 0

    @property
    def label(self) -> str:
        """In words."""
        if self.run is not None:
            return f"{self.run.name}, draw {self.number}"
        return f"{self.study.data.law}, noise {self.study.noise.relative:g}, seed {self.study.seed}"

    @property
    def content(self) -> Content:
        """All that its result depends on; files count by what is in them."""
        if self.run is None:
            path = registry.path_of("laws", str(self.study.data.law))
        else:
            path = self.run / "carving.json"
        digest = hashlib.sha256(reading.content(path)).hexdigest()
        about = {"calibrate": _EDITION, "from": digest, "number": self.number}
        return {**self.study.content("assess"), **about}


class Changes(NamedTuple):
    """How stress changes with the parameters of the truth, each in units of its own value."""

    train: Slopes
    path: Slopes


class Case(NamedTuple):
    """Noisy data, and what no fit knows: clean stress there and along the path, and its changes."""

    study: Study
    problem: Problem
    clean: Stress
    truth: Stress
    changes: Changes | None


def of_law(law: str, relative: float, seed: int, changes: Mapping[str, object]) -> Task:
    """A data set of a law; what cannot be calibrated is an error here, before any is drawn."""
    chosen = {"data.law": law, "noise.relative": relative, "seed": seed, **_POINTS, **changes}
    study = config.load("hyperelasticity", chosen)
    if not isinstance(study.potential, terms.Config):
        raise InputError(
            "calibrate: bands are averaged over laws composed of terms, and potential "
            f"'{study.potential.name}' is a network; use potential.name = 'terms'"
        )
    return Task(study)


def of_run(folder: Path, number: int) -> Task:
    """A data set of a draw of the posterior of a finished run."""
    if not (folder / "carving.json").is_file():
        raise InputError(f"--from {folder}: no finished run there (carving.json is missing)")
    return Task(config.of_run(folder, _POINTS), folder, number)


def case(task: Task) -> Case:
    """Draw the data of a task: always the same ones."""
    return _of_law(task.study) if task.run is None else _of_draw(task)


def _of_law(study: Study) -> Case:
    """As a run of the study would draw them."""
    problem = prepare(stage_keys(study.seed)["data"], study)
    reference, at = problem.material.reference, _both(problem)
    name, count = str(study.data.law), len(problem.train.inputs)
    given = {**laws.load(name).PARAMETERS, **study.data.parameters}
    truth, *moved = _moved(study.material, name, tuple(given.items()))
    stress = np.asarray(truth.stress(reference, at))
    changes = [(np.asarray(each.stress(reference, at)) - stress) / _STEP for each in moved]
    slopes = np.stack(changes)
    known = Changes(slopes[:, :count], slopes[:, count:])
    return Case(study, problem, stress[:count], stress[count:], known)


def _both(problem: Problem) -> StressMap:
    """States of the data, then those of the path: one program for both."""
    data, path = problem.train.map, problem.path.map
    return StressMap(*(jnp.concatenate(pair) for pair in zip(data, path, strict=True)))


@cache
def _moved(
    material: materials.Settings, name: str, given: tuple[tuple[str, float], ...]
) -> list[Truth]:
    """The law, and with each parameter that is not zero a little larger; each compiled once."""
    built, values = materials.build(material), dict(given)
    larger = [{symbol: value * (1 + _STEP)} for symbol, value in given if value != 0]
    return [laws.truth(built, name, {**values, **change}) for change in ({}, *larger)]


class Pool(NamedTuple):
    """Draws of the posterior of a run with their stress at its data and along the path."""

    study: Study
    problem: Problem
    bands: Bands
    clean: Pushed
    truth: Pushed

    @property
    def missed(self) -> float:
        """What the likelihood allows laws to miss, less what draws of the stress have of it."""
        if self.bands.discrepancy is None:
            return self.problem.floor
        return noise.least(self.problem.noisy(self.problem.train)) * self.problem.train.scale

    def again(self, key: Array, draw: int) -> Problem:
        """The data of the run, and below them new ones of a draw, with the noise it has."""
        train = self.problem.train
        own = self.clean[draw : draw + 1], (train.relative, train.absolute)
        values = predictive(key, *own, self.missed, self.bands.noise.only(draw))[0]
        new = train._replace(values=jnp.asarray(values))
        return self.problem._replace(train=observe.joined([train, new]), held_out=None, truth=None)


@cache
def _pool(folder: Path) -> Pool:
    """The posterior of a finished run over its laws, by evidence: nothing is bagged here."""
    study = config.of_run(folder, _POINTS)
    problem = prepare(stage_keys(study.seed)["data"], study)
    carved = carving.read(folder / "carving.json", problem.train)
    if not carved.structures:
        raise InputError(
            f"--from {folder}: its law was carved from a network and has no mixture; only runs "
            "of laws composed of terms can be calibrated"
        )
    problem = problem.allowing(carved.noise.level)
    bands = mixture_of(study, problem, carved, np.ones(POOL), bags=0)
    pushed = (bands.composed(at)[0] for at in (problem.train.map, problem.path.map))
    return Pool(study, problem, bands, *pushed)


def checked(folder: Path) -> None:
    """An error where a finished run has no mixture, or its files do not belong together."""
    _pool(folder.absolute())


def _of_draw(task: Task) -> Case:
    """The data of a run and new ones at the same states, of one draw of its posterior."""
    assert task.run is not None
    pool = _pool(task.run.absolute())
    study, problem = pool.study, pool.problem
    draw = int(np.random.default_rng(study.seed).permutation(POOL)[task.number])
    key = jax.random.fold_in(jax.random.key(task.number), study.seed)
    both = pool.again(key, draw)
    sizes = problem.material.sizes, study.noise.allowed
    units = NaturalUnits.of(both.train, problem.material.reference, *sizes)
    own = study.model_copy(update={"seed": task.number})
    clean = np.concatenate([pool.clean[draw]] * 2)
    changes = _changes_of_draw(pool.bands, draw, problem)
    return Case(own, both._replace(units=units), clean, pool.truth[draw], changes)


def _changes_of_draw(bands: Bands, draw: int, problem: Problem) -> Changes | None:
    """Difference quotients; none where stress is not that of the law alone."""
    if bands.discrepancy is not None:
        return None
    for part in bands.parts:
        if draw < len(part.theta):
            break
        draw -= len(part.theta)
    theta = part.theta[draw]
    steps = np.concatenate([theta * (1 + _STEP * np.eye(len(theta))), theta[None]])
    moved = Bands((part._replace(theta=steps),), noise.Draws(np.ones(len(steps))))

    def slopes(at: StressMap) -> Slopes:
        stress = moved.composed(at)[0]
        return np.asarray((stress[:-1] - stress[-1]) / _STEP)

    return Changes(np.tile(slopes(problem.train.map), (1, 2, 1)), slopes(problem.path.map))
