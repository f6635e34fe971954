"""A law composed of terms of mechanics: best subsets first, then their constants (method §4).

Everything that is linear is solved exactly (`subsets`); then the free constants of the best subsets
of every size are fitted by Gauss–Newton steps, put to simple values where that costs less than the
parameter it saves, and the noise is judged anew at the prediction. Nothing is trained.
"""

from itertools import combinations
from typing import NamedTuple

import jax.numpy as jnp
import numpy as np

from steinmetz.data.estimate import Estimate
from steinmetz.data.quadratic import compress
from steinmetz.errors import RunFailure
from steinmetz.potentials.units import NaturalUnits
from steinmetz.potentials.vocabulary import Atom, nice, vocabulary
from steinmetz.records import Observations, Reference, Report, silent
from steinmetz.shapes import Cells
from steinmetz.sparsify import many_rows
from steinmetz.sparsify.base import Settings
from steinmetz.sparsify.carve import Carved, Restart
from steinmetz.sparsify.choose import Choice, choose
from steinmetz.sparsify.judge import Judge
from steinmetz.sparsify.subsets import Subset, search
from steinmetz.sparsify.written import Problem, Structure, Written

# Price of any term beside BIC's, in units of χ²: the logarithm of how many there are.
_PRICE = 5.0
# Times that subsets are searched, each under the noise judged at the best prediction so far.
_PASSES = 4
# Different structures of every size that are fitted: in the last pass, and before it.
_FITTED, _FIRST = 6, 3
# Price of a law whose energy stays finite where it should not.
_NO_GROWTH = 4.0
# Laws of a pass among which the likeliest is looked for.
_JUDGED = 12
# The same of every size, where the noise is not known either.
_OF_SIZE = 4
# Laws that are kept beside the best: how much higher their score may be, and how many.
_WORSE, _MIXED = 40.0, 80
# Rise of χ² up to which a fitted law is tried without a term.
_LITTLE = 10.0
# Slope of a term at the data, one at rest, from which on it is a wall at the last of them.
_WALL = 1e8
# Two free constants of one shape that differ by less, relatively, are the same.
_TWINS = 0.03


class Wanted(NamedTuple):
    """What laws are looked for.

    `most` terms at most; `floor` is the discrepancy, as a share of the root-mean-square stress, or
    None if it is to be estimated; `growth` asks for an energy that is infinite at the ends of the
    domain; `tails` says that errors have those of Student's t.
    """

    most: int
    floor: float | None
    growth: bool
    tails: bool = False


class Composed(NamedTuple):
    """All laws that were fitted, the best first, and the noise at the prediction of the best."""

    laws: list[Written]
    deviation: Cells
    noise: Estimate


def compose(
    observations: Observations, reference: Reference, wanted: Wanted, report: Report = silent
) -> Composed:
    """The best laws of every size, best first."""
    x = np.asarray(observations.inputs)
    first, second = (x.max(axis=0)[:2] - 3).tolist()
    atoms = vocabulary((first, second), x.shape[1] == 2)
    count, judge = observations.cells, Judge.of(observations, wanted.floor, wanted.tails)
    prediction, level = observations.values, judge.start
    price = np.array([_PRICE + a.asked + a.term.size * np.log(count) for a in atoms])
    starts: list[Subset] = []
    for number in range(_PASSES):
        report("composing", number, _PASSES)
        weighted = compress(observations, judge.weighted(prediction, level))
        problem = Problem.of(weighted, reference)
        found = search(problem.normal(atoms), price, wanted.most, starts)
        starts = [subset for some in found.values() for subset in some[:8]]
        last = number == _PASSES - 1
        laws = _candidates(problem, atoms, found, _FITTED if last else _FIRST)
        laws = [_priced(law, reference, wanted.growth) for law in laws]
        if not laws:
            raise RunFailure("no term has a positive coefficient; check the signs of the data")
        judged = judge.all(problem, laws if last else _some(laws, count, judge.estimates))
        prediction, level = judge.settled(problem, judged[0])
    report("composing", _PASSES, _PASSES)
    deviation = judge.deviation(prediction, level)
    laws = [each.under(observations, deviation) for each in judged]
    laws = _level(laws) if judge.estimates else laws
    return Composed(laws, deviation, judge.estimate(problem, judged, prediction, level))


def _level(laws: list[Written]) -> list[Written]:
    """Laws with −2 log likelihood less a constant, so that the best has χ² there."""
    losses = [law.misfit if law.unlikely is None else law.unlikely for law in laws]
    shift = losses[0] - laws[0].misfit
    return [law._replace(unlikely=loss - shift) for law, loss in zip(laws, losses, strict=True)]


def _some(laws: list[Written], count: int, every: bool) -> list[Written]:
    """The best laws; where the noise is not known, some of every size."""
    ranked = sorted(laws, key=lambda law: law.score(count))
    if not every:
        return ranked[:_JUDGED]
    sizes: dict[int, list[Written]] = {}
    for law in ranked:
        sizes.setdefault(law.size, []).append(law)
    return [law for some in sizes.values() for law in some[:_OF_SIZE]]


def _priced(law: Written, reference: Reference, growth: bool) -> Written:
    """A law with its price: that of its terms, and of growth that it lacks."""
    lacking = _NO_GROWTH if growth and not law.grows(reference) else 0.0
    return law._replace(price=lacking + sum(_PRICE + atom.asked for atom in law.atoms))


def _candidates(
    problem: Problem, atoms: list[Atom], found: dict[int, list[Subset]], most: int
) -> list[Written]:
    """Structures of every size with fitted constants, and with constants at simple values."""
    laws: dict[tuple[object, ...], Written] = {}

    def judge(chosen: tuple[Atom, ...]) -> Written | None:
        law = problem.fitted(chosen)
        if not np.isfinite(law.misfit) or min(law.coefficients) <= 0 or _twins(law.atoms):
            return None
        if any(problem.steepest(atom) > _WALL for atom in law.atoms):
            return None
        key = tuple(sorted((*atom.term, tuple(np.round(atom.free, 3))) for atom in law.atoms))
        if key in laws and laws[key].misfit <= law.misfit:
            return None
        laws[key] = law
        return law

    for subsets in found.values():
        seen: set[tuple[object, ...]] = set()
        for subset in subsets:
            structure = tuple(sorted(atoms[place].term for place in subset))
            if structure in seen:
                continue
            seen.add(structure)
            if len(seen) > most:
                break
            queue = [judge(tuple(atoms[place] for place in subset))]
            while queue:
                queue += [judge(simple) for simple in _simpler(problem, queue.pop())]
    return list(laws.values())


def _twins(atoms: tuple[Atom, ...]) -> bool:
    """Whether two terms are the same but for a hair."""
    same = [
        first.term.shape == second.term.shape
        and first.term.barrier == second.term.barrier
        and len(first.constants) == len(second.constants)
        and np.allclose(first.constants, second.constants, rtol=_TWINS)
        for first, second in combinations(atoms, 2)
    ]
    return any(same)


def _simpler(problem: Problem, law: Written | None) -> list[tuple[Atom, ...]]:
    """The atoms of a law without one that hardly matters, or with a constant at a simple value."""
    if law is None:
        return []
    fewer = [law.atoms[:number] + law.atoms[number + 1 :] for number in range(len(law.atoms))]
    enough = law.misfit + _LITTLE
    matter = [atoms for atoms in fewer if atoms and problem.written(atoms).misfit < enough]
    return matter + [
        (*law.atoms[:number], atom.snapped(place, value), *law.atoms[number + 1 :])
        for number, atom in enumerate(law.atoms)
        for place, value in nice(atom)
    ]


def composed(
    observations: Observations, units: NaturalUnits, wanted: Wanted, settings: Settings,
    report: Report,
) -> Carved:  # fmt: skip
    """The law that is chosen, and the table of the best law of every size.

    The lowest BIC with the prices of terms is taken, or the asked number of parameters.
    """
    reference, count = units.outer, observations.cells
    few = observations.spread(many_rows.SEARCHED)
    found = compose(few, reference, wanted, report)
    if few is not observations:
        near = _near(found.laws, few.cells)
        smallest = [law for law in _of_size(found.laws).values() if law not in near]
        judge = Judge.of(observations, wanted.floor, wanted.tails)
        laws = [*near, *smallest]
        found = Composed(*many_rows.completed(judge, reference, laws, found.noise))
    of_size = _of_size(found.laws)
    table = [
        Choice(size, of_size[size].misfit, of_size[size].bic(count), of_size[size].law(reference))
        for size in sorted(of_size)
    ]
    best = found.laws[0].size
    reason = f"{best} parameters: lowest BIC with the prices of its terms"
    if settings.parameters is not None:
        row, reason = choose(table, count, 0.0, settings.parameters)
        best = row.active
    full = len(vocabulary((1.0, 1.0), len(reference.point) == 2))
    return Carved(
        law=of_size[best].law(reference),
        full=full,
        table=table,
        reason=reason,
        restarts={0: Restart(0.0, full, best)},
        steps=np.zeros(0, int),
        active=np.zeros((0, 1), int),
        deviation=jnp.asarray(found.deviation),
        quadratic=compress(observations, found.noise.weighted(jnp.asarray(found.deviation))),
        noise=found.noise,
        structures=_mixed(found.laws, reference, count),
    )


def _mixed(laws: list[Written], reference: Reference, count: int) -> tuple[Structure, ...]:
    """The laws that may hold: all that are not much worse than the best of them."""
    near = _near(laws, count)
    return tuple(Structure(law.law(reference), law.price) for law in near)


def _near(laws: list[Written], count: int) -> list[Written]:
    """Those that are not much worse than the best, which comes first."""
    best = laws[0].score(count)
    return [law for law in laws if law.score(count) < best + _WORSE][:_MIXED]


def _of_size(laws: list[Written]) -> dict[int, Written]:
    """The best law of every number of parameters."""
    return {law.size: law for law in reversed(laws)}
