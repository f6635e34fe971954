"""A law that was found at constant volume, completed for one that changes a little.

With a bulk modulus κ given at the fit, it is part of the law: Ψ̂(I1, I2) becomes

    Ψ̂(I1, I2, J) = Ψ(I1, I2) − n log J + κ/2 (J − 1)²,   n = 2Ψ₁ + 4Ψ₂ at rest,

which is the same law where J = 1. I1 and I2 stay as they are: with I2 J^−4/3 in their place a term
linear in I2 would not be polyconvex. Every part is polyconvex by itself, −n log J takes the stress
at rest away and holds the volume above zero. Powers of I1 − 3, which fall where I1 < 3, are taken
of I1 J^−2/3 − 3, which is never negative. The bulk modulus at rest is κ and what Ψ − n log J adds.

With none given, solvers need one all the same. Exports and finite elements both take

    Ψ̂(I1, I2, J) = Ψ(I1 J^−2/3, I2 J^−4/3) + K/2 (J − 1)²,

of any law, networks too. The two parts do not feel each other, so K is the bulk modulus at rest and
the pressure is K (J − 1): what is not known stands alone, and no draw changes it. K is a thousand
shear moduli unless stated.
"""

import jax.numpy as jnp
import numpy as np
from jaxtyping import Float

from steinmetz.potentials.law import Law
from steinmetz.potentials.mechanics import INVARIANTS, Term, Terms
from steinmetz.potentials.shape import Invariants, Numerics, Value, over_volume
from steinmetz.records import Reference

Draws = Float[np.ndarray, "draws parameters"]
_REFERENCE = Reference((3.0, 3.0, 1.0), ((2.0, 4.0, 1.0),), ((0.0, 0.0, 1.0),))
# J^−2/3 takes the volume out of I1.
_ISOCHORIC = 2 / 3
# (J − 1)², whose coefficient is half a bulk modulus.
VOLUME = Term("volume square", (0.0, 0.0))
# K over the shear modulus, where nothing else is known: Poisson's ratio is 0.4995.
STIFF = 1000.0


def completed(law: Law) -> Law:
    """The law with its volume part, one more parameter; as it is where none was given."""
    if not law.reference.bulk:
        return law
    terms = tuple(_freed(term) for term in law.terms.terms)
    values = jnp.append(law.values, law.reference.bulk / 2)
    return Law(Terms(INVARIANTS, (*terms, VOLUME)), values, _REFERENCE)


def drawn(law: Law, theta: Draws) -> Float[np.ndarray, "draws whole"]:
    """Draws of the parameters of a law as draws of its completed form."""
    if not law.reference.bulk:
        return theta
    bulk = np.full((len(theta), 1), law.reference.bulk / 2)
    return np.concatenate([theta, bulk], axis=1)


def _freed(term: Term) -> Term:
    """The same term at J = 1, stress-free at rest whatever J does."""
    if term.shape == "power":
        return term._replace(constants=(term.constants[0], _ISOCHORIC))
    return term._replace(barrier=True)


def stiff(law: Law) -> float:
    """K of an incompressible law where none is stated, from its shear modulus 2 (Ψ₁ + Ψ₂)."""
    return STIFF * 2 * float(law.slopes(jnp.asarray([law.reference.point])).sum())


def modified(numerics: Numerics, x: Invariants, back: bool = False) -> tuple[Value, Value]:
    """I1 J^−2/3 and I2 J^−4/3, which the volume does not change; `back` gives I1 and I2 again."""
    q = -_ISOCHORIC if back else _ISOCHORIC
    return x[0] * over_volume(numerics, x[2], q), x[1] * over_volume(numerics, x[2], 2 * q)


def pulled(numerics: Numerics, slopes: tuple[Value, Value], x: Invariants) -> Invariants:
    """Slopes in I1, I2 and J of a function of the modified invariants, from those in these."""
    first = slopes[0] * over_volume(numerics, x[2], _ISOCHORIC)
    second = slopes[1] * over_volume(numerics, x[2], 2 * _ISOCHORIC)
    pressure = _ISOCHORIC * (first * x[0] + 2 * second * x[1])
    return first, second, -pressure / x[2]
