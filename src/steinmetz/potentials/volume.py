"""A law that was found at constant volume, completed for one that changes a little.

With a bulk modulus κ given, Ψ̂(I1, I2) becomes

    Ψ̂(I1, I2, J) = Ψ(I1, I2) − n log J + κ/2 (J − 1)²,   n = 2Ψ₁ + 4Ψ₂ at rest,

which is the same law where J = 1. I1 and I2 stay as they are: with I2 J^−4/3 in their place a term
linear in I2 would not be polyconvex. Every part is polyconvex by itself, −n log J takes the stress
at rest away and holds the volume above zero. Powers of I1 − 3, which fall where I1 < 3, are taken
of I1 J^−2/3 − 3, which is never negative. The bulk modulus at rest is κ and what Ψ − n log J adds.
"""

import jax.numpy as jnp
import numpy as np
from jaxtyping import Float

from steinmetz.potentials.law import Law
from steinmetz.potentials.mechanics import INVARIANTS, Term, Terms
from steinmetz.records import Reference

Draws = Float[np.ndarray, "draws parameters"]
_REFERENCE = Reference((3.0, 3.0, 1.0), ((2.0, 4.0, 1.0),), ((0.0, 0.0, 1.0),))
# J^−2/3 takes the volume out of I1.
_ISOCHORIC = 2 / 3
_VOLUME = Term("volume square", (0.0, 0.0))


def completed(law: Law) -> Law:
    """The law with its volume part, one more parameter; as it is where none was given."""
    if not law.reference.bulk:
        return law
    terms = tuple(_freed(term) for term in law.terms.terms)
    values = jnp.append(law.values, law.reference.bulk / 2)
    return Law(Terms(INVARIANTS, (*terms, _VOLUME)), values, _REFERENCE)


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
