"""Textbook laws fitted to the same data under the same noise, beside the law that was found.

Their coefficients may have any sign, as fits of textbooks have. Where the volume can change, every
one has −n log J and a bulk modulus κ/2 (J − 1)² beside it.
"""

from collections.abc import Iterator
from itertools import product

import numpy as np
from jaxtyping import Float

from steinmetz.data.noise import Draws
from steinmetz.data.quadratic import compress
from steinmetz.posterior.structures import Part
from steinmetz.potentials.law import Law
from steinmetz.potentials.mechanics import Term
from steinmetz.potentials.vocabulary import Atom
from steinmetz.predict.bands import Bands
from steinmetz.records import Reference, StressMap
from steinmetz.sparsify.judge import Judge, Judged
from steinmetz.sparsify.written import Problem

# Times that the noise is judged at the prediction.
_PASSES = 3
# Least exponent of a stretch, and starts of Ogden's three.
_LEAST, _OGDEN = 0.1, ((1.0, 1.7), (4.0, 7.0), (1.0, 2.5))

Atoms = tuple[Atom, ...]


def _fixed(shape: str, exponent: float) -> Atom:
    constants = (exponent, 0.0)
    return Atom(Term(shape, constants), constants, 0.0)


def _free(shape: str, least: float, start: float) -> Atom:
    return Atom(Term(shape, (least, 0.0), free=(0,)), (start, 0.0), 0.0)


def laws(reach: float, incompressible: bool) -> dict[str, list[Atoms]]:
    """Every law with the atoms it may start from, for data whose largest I1 − 3 is `reach`."""
    I1, I2 = _fixed("norm", 2.0), _fixed("cofactor", 2.0)
    shear: dict[str, list[Atoms]] = {
        "neo-Hooke": [(I1,)],
        "Mooney–Rivlin": [(I1, I2)],
        "Yeoh": [(I1, _fixed("power", 2.0), _fixed("power", 3.0))],
        "Gent": [(_free("locking", reach, reach * share),) for share in (1.2, 3.0)],
        "Arruda–Boyce": [(_free("chains", 1.0, (1 + reach / 3) * share),) for share in (1.5, 5)],
        "Carroll": [(I1, _fixed("norm", 8.0), _fixed("cofactor", 1.0))],
        "Ogden (3 terms)": list(_ogden()),
    }
    if incompressible:
        return shear
    volume = _fixed("volume square", 0.0)
    return {
        name: [(*(_barred(atom) for atom in atoms), volume) for atoms in starts]
        for name, starts in shear.items()
    }


def _ogden() -> Iterator[Atoms]:
    """Two positive exponents and a negative one, from several starts."""
    for first, second, third in product(*_OGDEN):
        shapes = ("stretches", "stretches", "areas")
        starts = zip(shapes, (first, second, third), strict=True)
        yield tuple(_free(shape, _LEAST, start) for shape, start in starts)


def _barred(atom: Atom) -> Atom:
    """The same, made stress-free by −n log J."""
    return atom._replace(term=atom.term._replace(barrier=True))


def fitted(judge: Judge, reference: Reference, starts: list[Atoms]) -> Judged:
    """A law at its best: the start that ends lowest, the noise judged at its prediction."""
    observations = judge.observations
    prediction, level = observations.values, judge.start
    for _ in range(_PASSES):
        weighted = compress(observations, judge.weighted(prediction, level))
        problem = Problem.of(weighted, reference)
        best = min((problem.fitted(atoms) for atoms in starts), key=lambda law: law.misfit)
        starts = [best.atoms]
        judged = judge.one(problem, best)
        prediction, level = judge.settled(problem, judged)
    return judged


def every(judge: Judge, reference: Reference) -> dict[str, Judged]:
    """All of them, fitted to the same data."""
    x = np.asarray(judge.observations.inputs)
    possible = laws(float(x[:, 0].max()) - 3, x.shape[1] == 2)
    return {name: fitted(judge, reference, starts) for name, starts in possible.items()}


def stress(law: Law, at: StressMap) -> Float[np.ndarray, "states components"]:
    """That of a law composed of terms, in numpy: nothing is compiled."""
    part = Part(law, 1.0, np.asarray(law.values)[None])
    return np.asarray(Bands((part,), Draws(np.ones(1))).composed(at)[0][0])
