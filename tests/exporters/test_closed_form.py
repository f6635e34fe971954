"""The closed form is the law."""

import jax.numpy as jnp
import numpy as np
import sympy

from steinmetz.api import Result
from steinmetz.exporters import closed_form
from steinmetz.potentials.law import Law


def test_expression_equals_the_law(quick: Result) -> None:
    law = quick.law
    x = np.array([3.0, 3.0, 1.0]) + np.random.default_rng(0).uniform(-0.5, 0.5, (50, 3))
    symbols = [sympy.Symbol(name, real=True) for name in law.graph.inputs]
    psi = closed_form.expression(law)
    energy = sympy.lambdify(symbols, psi, "numpy")(*x.T)
    np.testing.assert_allclose(energy, law.energy(jnp.asarray(x)), atol=1e-10)
    for index, symbol in enumerate(symbols):
        slope = sympy.lambdify(symbols, sympy.diff(psi, symbol), "numpy")(*x.T)
        np.testing.assert_allclose(
            slope * np.ones(50), law.slopes(jnp.asarray(x))[:, index], atol=1e-10
        )


def test_normalisation_of_the_printed_law(printed_law: Law) -> None:
    psi = closed_form.expression(printed_law)
    at = {
        sympy.Symbol("I1", real=True): 3,
        sympy.Symbol("I2", real=True): 3,
        sympy.Symbol("J", real=True): 1,
    }
    assert abs(float(psi.subs(at))) < 1e-12
