"""Natural units change the numbers and not the law."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from cases import INPUTS, graph, random_data
from steinmetz.data import noise
from steinmetz.data.quadratic import misfit
from steinmetz.potentials.graph import UNIT, Edge
from steinmetz.potentials.law import Law
from steinmetz.potentials.units import NaturalUnits, parameter_units
from steinmetz.records import Observations, Reference

SIZES = (0.1, 0.05, 2.0)


@pytest.fixture(scope="module")
def data() -> Observations:
    return random_data(SIZES)


@pytest.fixture(scope="module")
def units(data: Observations) -> NaturalUnits:
    return NaturalUnits.of(data, Reference((0.0, 0.0, 0.5)), SIZES, 0.02)


def test_units_of_parameters_are_what_makes_the_law_invariant() -> None:
    """A law in natural units and the law in the units of the data are one function."""
    first = (Edge(2, 0, UNIT), Edge(2, 1, 0), Edge(3, 1, 1), Edge(3, 2, 2))
    second = (Edge(4, 2, UNIT), Edge(4, 0, 3), Edge(5, 3, 4), Edge(5, 4, 5), Edge(5, 0, 6))
    mixed = graph(first + second, ("square", "softplus", "square"), inputs=("a", "b"))
    sizes, modulus = (0.1, 4.0), 7.0
    theta, x = jax.random.normal(jax.random.key(0), (7,)), jnp.array([0.7, -0.3])
    outward = mixed.energy(theta * parameter_units(mixed, sizes, modulus), x * jnp.array(sizes))
    assert float(outward) == pytest.approx(float(modulus * mixed.energy(theta, x)), rel=1e-12)


def test_shared_parameter_cannot_have_two_units() -> None:
    tied = graph((Edge(3, 0, 0), Edge(3, 1, 0), Edge(4, 3, 1)))
    assert parameter_units(tied, (1.0, 1.0, 1.0), 2.0).tolist() == [1.0, 2.0]
    with pytest.raises(ValueError, match="two units"):
        parameter_units(tied, (1.0, 2.0, 1.0), 2.0)


def test_law_in_natural_units_predicts_what_the_outward_law_predicts(
    units: NaturalUnits, data: Observations
) -> None:
    edges = (
        Edge(3, 1, UNIT),
        Edge(3, 2, 0),
        Edge(4, 0, 1),
        Edge(4, 3, 2),
        Edge(5, 3, 3),
        Edge(5, 4, 4),
    )
    mixed = graph(edges, ("square", "softplus"))
    law = Law(mixed, jnp.array([0.4, -0.8, 0.3, 1.1, 0.6]), units.reference)
    outward = units.outward(law)
    assert outward.reference == Reference((0.0, 0.0, 0.5))
    np.testing.assert_allclose(units.predict(law), outward.stress(data.map), rtol=1e-11)


def test_misfit_in_natural_units_is_the_sum_of_squared_standardised_residuals(
    units: NaturalUnits, data: Observations
) -> None:
    law = Law(graph((Edge(3, 0, 0), Edge(3, 2, 1)), ()), jnp.array([0.7, -0.2]), units.reference)
    quadratic = units.weighted(data.values)
    residuals = (units.predict(law) - data.values) / noise.deviation(data, data.values, 0.02)
    expected = jnp.sum(jnp.where(data.observed, residuals, 0.0) ** 2)
    chi = misfit(quadratic, law.slopes(quadratic.inputs))
    assert float(chi) == pytest.approx(float(expected), rel=1e-10)
    assert len(INPUTS) == quadratic.inputs.shape[1]


def test_least_relative_noise_is_assumed_for_clean_data(
    units: NaturalUnits, data: Observations
) -> None:
    silent = units.observations._replace(relative=jnp.zeros_like(data.relative))
    clean = units._replace(observations=silent).weighted(data.values, min_relative_noise=0.1)
    np.testing.assert_allclose(clean.factor, units.weighted(data.values).factor, rtol=1e-9)
