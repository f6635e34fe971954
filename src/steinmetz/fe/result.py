"""`steinmetz fe` from a finished run to numbers: which draws, which problem, what comes out."""

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
from jaxtyping import Float

from steinmetz.engine.outcome import Outcome
from steinmetz.engine.predicted import covered
from steinmetz.errors import InputError, RunFailure
from steinmetz.fe import own, problems
from steinmetz.fe.body import Body
from steinmetz.fe.draws import Helpers, push
from steinmetz.fe.fields import Fields, Statistics, fields
from steinmetz.fe.newton import Equilibrium, Settings
from steinmetz.fe.problem import Problem
from steinmetz.fe.space import smoothing
from steinmetz.fe.substance import of_law
from steinmetz.fe.work import Found, Group
from steinmetz.potentials import volume
from steinmetz.records import Report, silent
from steinmetz.report.stored import Recalled


class Asked(NamedTuple):
    """What is asked of finite elements.

    `problem` is a name or a mesh file, `cells` those along a side, `load` has the meaning that the
    problem gives it, `steps` are load steps that are kept. `draws` are taken evenly from those of
    the bands. `bulk` is K for incompressible laws, a thousand shear moduli where it is not given;
    `limit` is a von Mises stress, `linearised` says that the sensitivity is enough.
    """

    problem: str = "cook"
    cells: int | None = None
    load: float | None = None
    steps: int = 5
    draws: int | None = None
    bulk: float | None = None
    limit: float | None = None
    level: float = 0.95
    linearised: bool = False
    tolerance: float = 1e-9


class Result(NamedTuple):
    """What came out: every draw, fields, and where the data do not reach.

    `beyond` is one at nodes around which the law is extrapolated, `extrapolated` their share of
    the volume. `bulk` is the bulk modulus by which incompressible laws were completed.
    """

    asked: Asked
    problem: Problem
    found: Found
    fields: Fields
    beyond: Float[np.ndarray, "nodes"]
    extrapolated: float
    unit: str
    discrepancy: bool
    laws: int
    bulk: float | None

    @property
    def quantities(self) -> dict[str, Statistics]:
        """Every quantity of the problem over draws, at each load step."""
        kept = self.found.quantities[:, self.found.solved]
        return self._named(kept)

    @property
    def linear(self) -> dict[str, Statistics]:
        """The same by the sensitivity alone."""
        kept = self.found.linear_quantities
        return self._named(kept[:, np.isfinite(kept).all(axis=(0, 2))])

    def _named(self, values: Float[np.ndarray, "loads draws quantities"]) -> dict[str, Statistics]:
        every = Statistics.of(np.swapaxes(values, 0, 1), self.asked.level)
        names = [quantity.name for quantity in self.problem.quantities]
        return {
            name: Statistics(*(part[:, place] for part in every))
            for place, name in enumerate(names)
        }


class Posed(NamedTuple):
    """Draws of every law, and what is to be solved for each."""

    groups: list[Group]
    equilibrium: Equilibrium
    loads: tuple[float, ...]


def posed(outcome: Outcome | Recalled, asked: Asked) -> Posed:
    """What is asked, of the draws of a run."""
    chosen = groups(outcome, asked)
    shear = chosen[0].substance.shear(chosen[0].theta.mean(axis=0))
    wanted = problems.Wanted(
        asked.cells, asked.load, outcome.problem.material.incompressible, shear
    )
    problem = _problem(asked.problem, wanted)
    equilibrium = Equilibrium.of(problem, Settings(asked.tolerance))
    return Posed(chosen, equilibrium, tuple(np.linspace(0, 1, asked.steps + 1)[1:].tolist()))


def finite_elements(
    outcome: Outcome, asked: Asked, report: Report = silent, helpers: Helpers | None = None
) -> Result:
    """Solve a problem for every draw of the bands of a run."""
    _check(outcome, asked)
    chosen, equilibrium, loads = posed(outcome, asked)
    problem = equilibrium.problem
    found = push(chosen, equilibrium, loads, report, not asked.linearised, helpers)
    if not found.solved.any():
        raise RunFailure(
            "no draw reached equilibrium under the full load; try a smaller --load or a finer mesh"
        )
    beyond = _beyond(outcome, problem, chosen, found)
    weights = problem.space.cubature.weights.ravel()
    return Result(
        asked, problem, found,
        fields(problem, chosen, found, asked.level, asked.limit),
        smoothing(problem.space.mesh) @ beyond,
        float(weights @ beyond / weights.sum()),
        outcome.problem.unit,
        outcome.bands.discrepancy is not None,
        len(chosen),
        chosen[0].substance.bulk,
    )  # fmt: skip


def _check(outcome: Outcome, asked: Asked) -> None:
    """Refuse what cannot be computed, before anything is."""
    material = outcome.problem.material
    if material.name != "isotropic":
        raise InputError(f"finite elements need an isotropic material, this is {material.name}")
    if not 0 < asked.level < 1:
        raise InputError(f"level = {asked.level:g} is not possible: it must lie between 0 and 1")


def _problem(name: str, wanted: problems.Wanted) -> Problem:
    """A built-in problem, or that of a mesh file."""
    if name in problems.PROBLEMS or "." not in name:
        return problems.named(name, wanted)
    if not Path(name).is_file():
        raise InputError(f"--problem {name}: there is no such file")
    return own.read(Path(name), wanted)


def groups(outcome: Outcome | Recalled, asked: Asked) -> list[Group]:
    """The draws of every law behind the bands, taken evenly where fewer are asked for.

    All incompressible laws have one bulk modulus, that with which the chosen law is exported.
    """
    whole = volume.completed(outcome.law)
    bulk = volume.stiff(whole) if len(whole.graph.inputs) == 2 else None
    bulk = bulk if asked.bulk is None else asked.bulk
    total = len(outcome.bands.owner)
    wanted = min(asked.draws or total, total)
    kept = np.unique(np.linspace(0, total - 1, wanted).round().astype(int))
    found, start = [], 0
    for part in outcome.bands.completed.parts:
        mine = kept[(kept >= start) & (kept < start + len(part.theta))] - start
        start += len(part.theta)
        if len(mine):
            found.append(Group(of_law(part.law, bulk), np.asarray(part.theta)[mine]))
    return found


def _beyond(
    outcome: Outcome, problem: Problem, chosen: Sequence[Group], found: Found
) -> Float[np.ndarray, "points"]:
    """One at points that no data reach, of the law with most draws."""
    body = Body.of(problem.space, chosen[0].substance)
    x = body.inputs(found.centres[0])
    if outcome.problem.material.incompressible:
        x = np.stack(volume.modified(np, (x[:, 0], x[:, 1], x[:, 2])), axis=1)
    return 1.0 - covered(outcome.problem).covers(x)
