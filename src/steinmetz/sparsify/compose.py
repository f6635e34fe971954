"""A law composed of terms of mechanics: best subsets first, then their constants (method §4).

Everything that is linear is solved exactly (`subsets`); then the free constants of the best subsets
of every size are fitted by Gauss–Newton steps, put to simple values where that costs less than the
parameter it saves, and the noise is judged anew at the prediction. Nothing is trained.
"""

from typing import NamedTuple

import jax.numpy as jnp
import numpy as np
from jaxtyping import Float

from steinmetz.data import noise
from steinmetz.data.quadratic import Quadratic, compress
from steinmetz.errors import RunFailure
from steinmetz.potentials.law import Law
from steinmetz.potentials.mechanics import Terms, slopes_of
from steinmetz.potentials.units import NaturalUnits
from steinmetz.potentials.vocabulary import Atom, nice, vocabulary
from steinmetz.records import Observations, Reference, Report
from steinmetz.sparsify.base import Settings
from steinmetz.sparsify.carve import Carved, Restart
from steinmetz.sparsify.choose import Choice, choose
from steinmetz.sparsify.subsets import Normal, Subset, search

# Price of any term beside BIC's, in units of χ²: about the logarithm of how many there are.
_PRICE = 3.0
# Times that subsets are searched, each under the noise judged at the best prediction so far.
_PASSES = 4
# Different structures of every size that are fitted: in the last pass, and before it.
_FITTED, _FIRST = 6, 3
# Gauss–Newton steps of the free constants, and the longest, in their logarithm.
_STEPS, _LONGEST = 20, 0.5
# Relative step of a difference quotient in a free constant.
_DIFFERENCE = 1e-5


class Written(NamedTuple):
    """A law as atoms with their coefficients, and its χ²."""

    atoms: tuple[Atom, ...]
    coefficients: tuple[float, ...]
    misfit: float

    @property
    def size(self) -> int:
        """Parameters."""
        return sum(atom.term.size for atom in self.atoms)

    def score(self, count: int) -> float:
        """BIC, and the prices of the terms."""
        own = sum(_PRICE + atom.price for atom in self.atoms)
        return self.misfit + self.size * float(np.log(count)) + own

    def law(self, inputs: tuple[str, ...], reference: Reference) -> Law:
        """As a law: every coefficient, then the excess of a free constant."""
        values: list[float] = []
        for atom, coefficient in zip(self.atoms, self.coefficients, strict=True):
            excess = atom.constants[0] - atom.term.constants[0]
            values += [coefficient, excess] if atom.term.free else [coefficient]
        terms = tuple(atom.term for atom in self.atoms)
        return Law(Terms(inputs, terms), jnp.asarray(values), reference)


class Problem(NamedTuple):
    """Data under a given noise, ready for terms: inputs, residual rows, and the reference."""

    x: Float[np.ndarray, "data inputs"]
    factor: Float[np.ndarray, "data rows inputs"]
    target: Float[np.ndarray, "rows"]
    constant: float
    reference: Reference

    @classmethod
    def of(cls, quadratic: Quadratic, reference: Reference) -> "Problem":
        """From residuals in units of the noise."""
        inputs, factor, target = (np.asarray(part) for part in quadratic[:3])
        return cls(inputs, factor, target.ravel(), float(quadratic.constant), reference)

    def slopes(self, atom: Atom) -> Float[np.ndarray, "data inputs"]:
        """∇T̂ of an atom at the data."""
        point = np.asarray(self.reference.point)[None]
        own = slopes_of(atom.term, atom.constants, np.concatenate([self.x, point]))
        return np.asarray(own[:-1] - own[-1] + own[-1] @ self.reference.responses)

    def rows(self, atom: Atom) -> Float[np.ndarray, "rows"]:
        """What an atom of coefficient one adds to the residual rows."""
        rows: Float[np.ndarray, "rows"] = np.einsum(
            "nri,ni->nr", self.factor, self.slopes(atom)
        ).ravel()
        return rows

    def normal(self, atoms: list[Atom]) -> Normal:
        """The normal equations of many atoms."""
        rows = np.stack([self.rows(atom) for atom in atoms], axis=1)
        return Normal.of(rows, self.target, self.constant)

    def written(self, atoms: tuple[Atom, ...]) -> Written:
        """The best coefficients of some atoms with their constants as they are."""
        found, chi = self.normal(list(atoms)).solved(tuple(range(len(atoms))))
        return Written(atoms, tuple(found.tolist()), max(chi, 0.0))

    def fitted(self, atoms: tuple[Atom, ...]) -> Written:
        """The same with the free constants fitted, by damped steps in their logarithms."""
        best, damping = self.written(atoms), 1e-3
        for _ in range(_STEPS if any(atom.term.free for atom in atoms) else 0):
            step = self._step(best, damping)
            tried = self.written(_moved(best.atoms, step))
            if tried.misfit < best.misfit and np.isfinite(tried.misfit):
                gain, best, damping = best.misfit - tried.misfit, tried, damping * 0.2
                if gain < 1e-9 * max(best.misfit, 1e-9):
                    break
            else:
                damping *= 8
        return best

    def _step(self, at: Written, damping: float) -> Float[np.ndarray, "free"]:
        """Changes of the logarithms of the free constants, coefficients going along."""
        own = [self.rows(atom) for atom in at.atoms]
        rows = [row * c for row, c in zip(own, at.coefficients, strict=True)]
        residual = np.sum(rows, axis=0) - self.target
        for row, atom, c in zip(own, at.atoms, at.coefficients, strict=True):
            if atom.term.free:
                value = atom.constants[0]
                further = self.rows(atom.moved(value * (1 + _DIFFERENCE)))
                rows.append((further - row) / _DIFFERENCE * c)
        matrix = np.stack(rows, axis=1)
        bent = matrix.T @ matrix
        bent += np.diag(damping * np.diag(bent) + 1e-14 * np.trace(bent))
        move = -np.linalg.solve(bent, matrix.T @ residual)[len(at.atoms) :]
        return np.clip(move, -_LONGEST, _LONGEST)


def _moved(atoms: tuple[Atom, ...], step: Float[np.ndarray, "free"]) -> tuple[Atom, ...]:
    """Atoms with their free constants changed."""
    changes = iter(step.tolist())
    return tuple(
        atom.moved(atom.constants[0] * float(np.exp(next(changes)))) if atom.term.free else atom
        for atom in atoms
    )


def compose(
    observations: Observations, reference: Reference, floor: float, most: int, report: Report
) -> tuple[list[Written], Float[np.ndarray, "data components"]]:
    """The best law of every size, and the noise of every datum judged at the best of all."""
    x = np.asarray(observations.inputs)
    atoms = vocabulary(float(x[:, 0].max()) - 3, x.shape[1] == 2)
    count, prediction = observations.cells, observations.values
    price = np.array([_PRICE + a.price + a.term.size * np.log(count) for a in atoms])
    starts: list[Subset] = []
    for number in range(_PASSES):
        report("composing", number, _PASSES)
        deviation = noise.deviation(observations, prediction, floor)
        problem = Problem.of(compress(observations, deviation), reference)
        found = search(problem.normal(atoms), price, most, starts)
        starts = [subset for some in found.values() for subset in some[:8]]
        last = number == _PASSES - 1
        laws = _candidates(problem, atoms, found, _FITTED if last else _FIRST)
        if not laws:
            raise RunFailure("no term has a positive coefficient; check the signs of the data")
        best = min(laws, key=lambda law: law.score(count))
        law = best.law(("I1", "I2", "J")[: x.shape[1]], reference)
        prediction = law.stress(observations.map)
    report("composing", _PASSES, _PASSES)
    table = [
        min((law for law in laws if law.size == size), key=lambda law: law.score(count))
        for size in sorted({law.size for law in laws})
    ]
    return table, np.asarray(deviation)


def _candidates(
    problem: Problem, atoms: list[Atom], found: dict[int, list[Subset]], most: int
) -> list[Written]:
    """Structures of every size with fitted constants, and with constants at simple values."""
    laws: dict[tuple[object, ...], Written] = {}

    def judge(chosen: tuple[Atom, ...]) -> Written | None:
        law = problem.fitted(chosen)
        if not np.isfinite(law.misfit) or min(law.coefficients) <= 0:
            return None
        key = tuple(sorted((*atom.term, round(atom.constants[0], 3)) for atom in law.atoms))
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
                queue += [judge(simple) for simple in _simpler(queue.pop())]
    return list(laws.values())


def _simpler(law: Written | None) -> list[tuple[Atom, ...]]:
    """The atoms of a law with one free constant put to a simple value near it."""
    if law is None:
        return []
    return [
        (*law.atoms[:place], atom.snapped(value), *law.atoms[place + 1 :])
        for place, atom in enumerate(law.atoms)
        if atom.term.free
        for value in nice(atom)
    ]


def composed(
    observations: Observations, units: NaturalUnits, most: int, settings: Settings, report: Report
) -> Carved:
    """The law that is chosen, and the table of the best law of every size.

    The lowest BIC with the prices of terms is taken, or the asked number of parameters.
    """
    reference, count = units.outer, observations.cells
    laws, deviation = compose(observations, reference, units.floor, most, report)
    inputs = ("I1", "I2", "J")[: observations.inputs.shape[1]]
    table = [
        Choice(law.size, law.misfit, law.misfit + law.size * float(np.log(count)), written)
        for law in laws
        for written in [law.law(inputs, reference)]
    ]
    best = min(laws, key=lambda law: law.score(count))
    reason = f"{best.size} parameters: lowest BIC with the prices of its terms"
    if settings.parameters is not None:
        row, reason = choose(table, count, 0.0, settings.parameters)
        best = next(law for law in laws if law.size == row.active)
    full = len(vocabulary(1.0, len(inputs) == 2))
    chosen = next(row.law for row in table if row.active == best.size)
    return Carved(
        law=chosen,
        full=full,
        table=table,
        reason=reason,
        restarts={0: Restart(0.0, full, best.size)},
        steps=np.zeros(0, int),
        active=np.zeros((0, 1), int),
        deviation=jnp.asarray(deviation),
        quadratic=compress(observations, jnp.asarray(deviation)),
    )
