"""What activations declare of themselves holds."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import sympy
from jaxtyping import Array

from steinmetz.potentials.activations import ACTIVATIONS, Activation

Z = jnp.concatenate([jnp.linspace(-40, 40, 161), jnp.array([1e-9, -1e-9, 0.5])])


def inside(kind: Activation) -> Array:
    return Z[(kind.domain[0] < Z) & (kind.domain[1] > Z)]


@pytest.mark.parametrize("name", ACTIVATIONS)
def test_declared_facts_hold_on_the_domain(name: str) -> None:
    kind = ACTIVATIONS[name]
    z = inside(kind)
    value, slope = kind.both(z)
    each, bend = jax.vmap(jax.grad(kind.value))(z), jax.vmap(jax.grad(jax.grad(kind.value)))(z)
    np.testing.assert_allclose(slope, each, rtol=1e-13)
    assert not kind.convex or (bend >= 0).all()
    assert kind.increasing == bool((slope >= 0).all())
    assert kind.mirrored == np.allclose(value - kind.value(-z), z)
    if kind.degree is not None:
        np.testing.assert_allclose(kind.value(3 * z), 3.0**kind.degree * value, rtol=1e-12)
    for other in kind.many(z) if kind.many else ():
        assert np.isfinite(other).all()
    if kind.many:
        np.testing.assert_allclose(kind.many(z), (value, slope), rtol=1e-14)


@pytest.mark.parametrize("name", ACTIVATIONS)
@pytest.mark.parametrize("end", [0, 1])
def test_declared_limits_are_approached(name: str, end: int) -> None:
    """Far towards an end, a(z) is near its finite limit or large with the sign of it."""
    kind = ACTIVATIONS[name]
    bound, limit = kind.domain[end], kind.ends[end]
    towards = np.array([1e100, 1e200, 1e300])
    z = np.sign(bound) * towards if np.isinf(bound) else bound + (-1) ** end / towards
    with np.errstate(over="ignore"):
        far = np.asarray(kind.value(jnp.asarray(z)))
    if np.isinf(limit):
        assert (np.sign(limit) * np.append(far, limit)[1:] >= np.sign(limit) * far).all()
        assert abs(far[-1]) > 500
    else:
        np.testing.assert_allclose(far, limit, atol=1e-12)
    assert kind.limit(np.array([bound]))[0] == limit
    assert kind.limit(np.array([2.5]))[0] == pytest.approx(float(kind.value(jnp.asarray(2.5))))


def test_a_limit_outside_the_domain_is_not_a_number() -> None:
    assert np.isnan(ACTIVATIONS["neglog"].limit(np.array([-1.0, np.nan]))).all()


@pytest.mark.parametrize("name", ACTIVATIONS)
def test_printed_form_is_the_function(name: str) -> None:
    z = sympy.Symbol("z")
    printed = ACTIVATIONS[name].symbolic(z)
    for number in (-1.5, 0.0, 2.25) if ACTIVATIONS[name].everywhere else (0.5, 1.0, 2.25):
        value = float(ACTIVATIONS[name].value(jnp.asarray(number)))
        assert float(printed.subs(z, number)) == pytest.approx(value, rel=1e-14)


def test_softplus_bends_at_zero() -> None:
    """Differentiating through |z| would say that it is straight there."""
    softplus = ACTIVATIONS["softplus"]
    assert float(jax.grad(jax.grad(softplus.value))(jnp.zeros(()))) == pytest.approx(0.25)
