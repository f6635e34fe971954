"""A law as finite elements need it: slopes and curvatures, compressible and nearly not."""

from collections.abc import Callable

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from cases import REFERENCE, Numbers
from steinmetz.errors import InputError
from steinmetz.fe.substance import Substance, of_law
from steinmetz.potentials.law import Law
from steinmetz.potentials.mechanics import Term, Terms
from steinmetz.records import Reference

TERMS = (
    Term("norm", (1.0, 0.0)),
    Term("stretches", (3.0, 0.0)),
    Term("cofactor", (1.0, 0.0), False, (0,)),
)
THETA = np.array([0.7, 0.4, 0.3, 0.2])


def states() -> Numbers:
    """I1, I2 and J of random F."""
    F = np.eye(3) + 0.3 * np.random.default_rng(0).uniform(-1, 1, (40, 3, 3))
    C = np.swapaxes(F, 1, 2) @ F
    first = np.trace(C, axis1=1, axis2=2)
    second = 0.5 * (first**2 - np.sum(C * C, axis=(1, 2)))
    return np.stack([first, second, np.linalg.det(F)], axis=1)


@pytest.mark.parametrize("bulk", [None, 50.0])
def test_slopes_are_those_of_the_energy(bulk: float | None) -> None:
    """By JAX of the energy as it is written; curvatures and changes with θ by differences."""
    inputs = ("I1", "I2", "J") if bulk is None else ("I1", "I2")
    reference = REFERENCE if bulk is None else Reference((3.0, 3.0))
    potential = Terms(inputs, TERMS)
    made, x = Substance.of(potential, reference, bulk), states()

    def energy(theta: jax.Array, at: jax.Array) -> jax.Array:
        if bulk is None:
            return reference.energy(lambda each: potential.energy(theta, each), at)
        J = at[2]
        inner = jnp.stack([at[0] * J ** (-2 / 3), at[1] * J ** (-4 / 3)])
        volume = bulk / 2 * (J - 1) ** 2
        return reference.energy(lambda each: potential.energy(theta, each), inner) + volume

    slope = jax.jit(jax.vmap(jax.grad(energy, 1), (None, 0)))
    assert np.allclose(made.slopes(THETA, x), slope(jnp.asarray(THETA), x), atol=1e-10)
    first, second = made.local(THETA, x)
    assert np.allclose(first, made.slopes(THETA, x), atol=1e-10)
    along = [_difference(lambda move: made.slopes(THETA, x + move), e) for e in np.eye(3)]
    assert np.allclose(second, np.stack(along, axis=2), atol=1e-6)
    beside = [_difference(lambda move: made.slopes(THETA + move, x), e) for e in np.eye(4)]
    assert np.allclose(made.changes(THETA, x), np.stack(beside, axis=2), atol=1e-6)


def _difference(function: Callable[[Numbers], Numbers], way: Numbers) -> Numbers:
    """Its slope at zero along a way."""
    return (function(1e-5 * way) - function(-1e-5 * way)) / 2e-5


def test_an_incompressible_law_gets_a_bulk_modulus() -> None:
    law = Law(Terms(("I1", "I2"), TERMS[:1]), jnp.array([0.5]), Reference((3.0, 3.0)))
    assert of_law(law).bulk == 1000.0
    assert of_law(law, 100.0).bulk == 100.0


def test_a_compressible_law_has_its_own() -> None:
    law = Law(Terms(("I1", "I2", "J"), TERMS[:1]), jnp.array([0.5]), REFERENCE)
    with pytest.raises(InputError, match="leave it out"):
        of_law(law, 100.0)
