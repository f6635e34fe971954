"""Laws written as terms with coefficients, and their fit to data under a given noise.

Coefficients of terms with given constants are a linear least-squares problem; free constants are
fitted by damped Gauss–Newton steps, the coefficients going along.
"""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from jaxtyping import Float

from steinmetz import host
from steinmetz.data.linear import Linear
from steinmetz.data.quadratic import Quadratic
from steinmetz.potentials.law import Law
from steinmetz.potentials.mechanics import INVARIANTS, Terms, slopes_of
from steinmetz.potentials.vocabulary import Atom
from steinmetz.records import Observations, Reference
from steinmetz.shapes import Cells
from steinmetz.sparsify.subsets import Normal

# Gauss–Newton steps of the free constants, and the longest, in their logarithm.
_STEPS, _LONGEST = 20, 0.5
# Relative step of a difference quotient in a free constant.
_DIFFERENCE = 1e-5
# Places of constants that are weights in an argument.
_WEIGHTS = (2, 3)


class Written(NamedTuple):
    """A law as atoms with their coefficients, its χ², and its price beside that of parameters.

    `unlikely` is −2 log likelihood with the noise at its own prediction, if that was asked for.
    """

    atoms: tuple[Atom, ...]
    coefficients: tuple[float, ...]
    misfit: float
    price: float = 0.0
    unlikely: float | None = None

    @property
    def size(self) -> int:
        """Parameters."""
        return sum(atom.term.size for atom in self.atoms)

    def bic(self, count: int) -> float:
        """−2 log likelihood, or χ², and the price of parameters."""
        loss = self.misfit if self.unlikely is None else self.unlikely
        return loss + self.size * float(np.log(count))

    def score(self, count: int) -> float:
        """BIC, and the price."""
        return self.bic(count) + self.price

    def grows(self, reference: Reference) -> bool:
        """Whether its energy is infinite at infinite strain and, if there is one, zero volume."""
        law = self.law(reference)
        every = np.asarray(law.values)[None]
        terms = law.terms
        bursts = len(terms.inputs) == 2 or bool(terms.bursts(every)[0])
        return bursts and bool(terms.endless(every)[0])

    @property
    def vector(self) -> Float[np.ndarray, "parameters"]:
        """All coefficients, then all free constants."""
        return np.array(
            [*self.coefficients, *(value for atom in self.atoms for value in atom.free)]
        )

    @property
    def least(self) -> Float[np.ndarray, "free"]:
        """The least values of the free constants."""
        terms = [atom.term for atom in self.atoms]
        return np.array([term.constants[place] for term in terms for place in term.free])

    @property
    def widths(self) -> Float[np.ndarray, "free"]:
        """How far free constants may be from zero: as far as they are, weights at least to one."""
        places = [place for atom in self.atoms for place in atom.term.free]
        own = self.vector[len(self.atoms) :]
        return np.where(np.isin(places, _WEIGHTS), np.maximum(own, 1.0), own)

    def parameters(
        self, vectors: Float[np.ndarray, "draws parameters"]
    ) -> Float[np.ndarray, "draws parameters"]:
        """Rows like `vector` as parameters of a law: coefficients, each with its excesses."""
        columns: list[Float[np.ndarray, "draws"]] = []
        excess = iter((vectors[:, len(self.atoms) :] - self.least).T)
        for place, atom in enumerate(self.atoms):
            columns += [vectors[:, place], *(next(excess) for _ in atom.term.free)]
        return np.stack(columns, axis=1)

    def stepped(
        self,
        bent: Float[np.ndarray, "parameters parameters"],
        pull: Float[np.ndarray, "parameters"],
    ) -> tuple["Written", float]:
        """The law after a Gauss–Newton step, and the largest relative change of a parameter.

        JᵀJ and Jᵀr are those of `Problem.bent`, or sums of them.
        """
        held = bent + 1e-14 * np.trace(bent) * np.eye(len(bent))
        move, known = -np.linalg.solve(held, pull), len(self.atoms)
        factors = np.where(np.array(self.coefficients) == 0, 0.0, 1 + move[:known])
        found = tuple((np.array(self.coefficients) * factors).tolist())
        atoms = _moved(self.atoms, np.clip(move[known:], -_LONGEST, _LONGEST))
        return self._replace(atoms=atoms, coefficients=found), float(np.abs(move).max())

    def law(self, reference: Reference) -> Law:
        """As a law: every coefficient, then the excesses of its free constants."""
        values: list[float] = []
        for atom, coefficient in zip(self.atoms, self.coefficients, strict=True):
            values += [coefficient, *atom.term.excess(atom.constants)]
        terms = tuple(atom.term for atom in self.atoms)
        inputs = INVARIANTS[: len(reference.point)]
        return Law(Terms(inputs, terms), host.held(values, float), reference)


class Structure(NamedTuple):
    """A law of terms that may hold, and its price: minus twice the logarithm of its prior."""

    law: Law
    price: float

    @property
    def written(self) -> Written:
        """As atoms with coefficients."""
        placed = self.law.terms.placed(np.asarray(self.law.values))
        atoms = [Atom(term, tuple(map(float, p)), 0.0) for term, _, p in placed]
        return Written(tuple(atoms), tuple(float(c) for _, c, _ in placed), 0.0, self.price)


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

    def steepest(self, atom: Atom) -> float:
        """The largest slope of an atom at the data."""
        return float(np.abs(slopes_of(atom.term, atom.constants, self.x)).max())

    def stress(self, law: Written, operator: Float[np.ndarray, "data components inputs"]) -> Cells:
        """ŷ = B ∇Ψ̂ of a law at the data."""
        parts = zip(law.atoms, law.coefficients, strict=True)
        slopes = sum(coefficient * self.slopes(atom) for atom, coefficient in parts)
        return host.held(np.einsum("nci,ni->nc", operator, slopes))

    def linear(self, law: Written, observations: Observations) -> Linear:
        """A law at the observed cells, with how its stress changes with its parameters."""
        operator, seen = np.asarray(observations.operator), np.asarray(observations.observed)

        def stresses(slopes: Float[np.ndarray, "data inputs"]) -> Float[np.ndarray, "cells"]:
            return np.asarray(np.einsum("nci,ni->nc", operator, slopes)[seen])

        columns = [stresses(self.slopes(atom)) for atom in law.atoms]
        prediction = np.stack(columns, axis=1) @ np.asarray(law.coefficients)
        for atom, coefficient, own in zip(law.atoms, law.coefficients, tuple(columns), strict=True):
            for there, step in _beside(atom):
                columns.append((stresses(self.slopes(there)) - own) / step * coefficient)
        values = np.asarray(observations.values)[seen]
        return Linear(values - prediction, prediction, np.stack(columns, axis=1))

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
        """The best coefficients of some atoms with their constants as they are.

        χ² is infinite where a step has gone so far that numbers overflow.
        """
        with np.errstate(over="ignore", invalid="ignore"):
            rows = np.stack([self.rows(atom) for atom in atoms], axis=1)
            size = np.maximum(np.linalg.norm(rows, axis=0), 1e-300)
        if not np.isfinite(size).all():
            return Written(atoms, (0.0,) * len(atoms), np.inf)
        found = np.linalg.lstsq(rows / size, self.target, rcond=1e-12)[0] / size
        left = self.target - rows @ found
        return Written(atoms, tuple(found.tolist()), float(left @ left) + self.constant)

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

    def changes(self, law: Written) -> Float[np.ndarray, "rows parameters"]:
        """How residual rows change with the coefficients of a law, and with its free constants."""
        own = [self.rows(atom) for atom in law.atoms]
        bent = [
            coefficient * (self.rows(there) - row) / step
            for row, atom, coefficient in zip(own, law.atoms, law.coefficients, strict=True)
            for there, step in _beside(atom)
        ]
        return np.stack([*own, *bent], axis=1)

    def beside(self, law: Written) -> Float[np.ndarray, "rows columns"]:
        """Changes with the parameters of a law, in their order, and the data they are to meet.

        Linearised at the law where it has free constants, which are counted from their least.
        """
        changes, known = self.changes(law), len(law.atoms)
        order = law.parameters(np.concatenate([np.zeros(known), law.least]) + _places(law))[0]
        above = law.vector[known:] - law.least
        target = self.target + changes[:, known:] @ above if above.size else self.target
        return np.concatenate([changes[:, order.round().astype(int)], target[:, None]], axis=1)

    def _step(self, at: Written, damping: float) -> Float[np.ndarray, "free"]:
        """Changes of the logarithms of the free constants, coefficients going along."""
        bent, pull = self.bent(at)
        bent += np.diag(damping * np.diag(bent) + 1e-14 * np.trace(bent))
        move = -np.linalg.solve(bent, pull)[len(at.atoms) :]
        return np.clip(move, -_LONGEST, _LONGEST)

    def bent(
        self, at: Written
    ) -> tuple[Float[np.ndarray, "parameters parameters"], Float[np.ndarray, "parameters"]]:
        """JᵀJ and Jᵀr of the residual rows r in the logarithms of all parameters."""
        scale, known = at.vector, len(at.atoms)
        matrix = self.changes(at) * np.where(scale == 0, 1.0, scale)
        residual = matrix[:, :known].sum(axis=1) - self.target
        return matrix.T @ matrix, matrix.T @ residual


def _places(law: Written) -> Float[np.ndarray, "1 parameters"]:
    """The place of every parameter in `vector`."""
    return np.arange(len(law.vector), dtype=float)[None]


def _beside(atom: Atom) -> Iterator[tuple[Atom, float]]:
    """An atom with one of its free constants a little larger, and by how much."""
    values = atom.free
    for number, value in enumerate(values):
        step = _DIFFERENCE * max(abs(value), _DIFFERENCE)
        yield atom.moved((*values[:number], value + step, *values[number + 1 :])), step


def _moved(atoms: tuple[Atom, ...], step: Float[np.ndarray, "free"]) -> tuple[Atom, ...]:
    """Atoms with their free constants changed."""
    factors = iter(np.exp(step).tolist())
    return tuple(atom.moved([value * next(factors) for value in atom.free]) for atom in atoms)
