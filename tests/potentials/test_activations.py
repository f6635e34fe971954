"""What activations declare of themselves holds."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import sympy

from steinmetz.potentials.activations import ACTIVATIONS

Z = jnp.concatenate([jnp.linspace(-40, 40, 161), jnp.array([1e-9, -1e-9, 0.5])])


@pytest.mark.parametrize("name", ACTIVATIONS)
def test_declared_facts_hold_on_the_line(name: str) -> None:
    kind = ACTIVATIONS[name]
    value, slope = kind.both(Z)
    each, bend = jax.vmap(jax.grad(kind.value))(Z), jax.vmap(jax.grad(jax.grad(kind.value)))(Z)
    np.testing.assert_allclose(slope, each, rtol=1e-13)
    assert not kind.convex or (bend >= 0).all()
    assert kind.increasing == bool((slope >= 0).all())
    assert kind.mirrored == np.allclose(value - kind.value(-Z), Z)
    if kind.degree is not None:
        np.testing.assert_allclose(kind.value(3 * Z), 3.0**kind.degree * value, rtol=1e-12)
    for other in kind.many(Z) if kind.many else ():
        assert np.isfinite(other).all()
    if kind.many:
        np.testing.assert_allclose(kind.many(Z), (value, slope), rtol=1e-14)


@pytest.mark.parametrize("name", ACTIVATIONS)
def test_printed_form_is_the_function(name: str) -> None:
    z = sympy.Symbol("z")
    printed = ACTIVATIONS[name].symbolic(z)
    for number in (-1.5, 0.0, 2.25):
        value = float(ACTIVATIONS[name].value(jnp.asarray(number)))
        assert float(printed.subs(z, number)) == pytest.approx(value, rel=1e-14)


def test_softplus_bends_at_zero() -> None:
    """Differentiating through |z| would say that it is straight there."""
    softplus = ACTIVATIONS["softplus"]
    assert float(jax.grad(jax.grad(softplus.value))(jnp.zeros(()))) == pytest.approx(0.25)
