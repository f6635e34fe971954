"""A law that is linear in its parameters has one triangle for all data."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import steinmetz
from cases import CHEAP
from steinmetz.engine.carved import carve_law
from steinmetz.engine.problem import prepare
from steinmetz.engine.sample import posterior_of, straightened
from steinmetz.posterior import density
from steinmetz.potentials.straight import Straight
from steinmetz.sparsify.carve import Carved


@pytest.fixture(scope="module", params=[False, True])
def both(request: pytest.FixtureRequest) -> tuple[density.Posterior, density.Posterior, Carved]:
    """The posterior as it is and straightened, with and without a sampled noise factor."""
    study = steinmetz.study("hyperelasticity", {**CHEAP, "noise.unknown": request.param})
    problem = prepare(jax.random.key(0), study)
    carved = carve_law(study, problem)
    likelihood = density.Likelihood(carved.quadratic, problem.train.cells, request.param)
    units = problem.units.parameters(carved.law.graph)
    whole = density.build(carved.law, likelihood, units, study.prior)
    return whole, posterior_of(carved, problem, study), carved


def test_density_and_slopes_are_the_same(
    both: tuple[density.Posterior, density.Posterior, Carved],
) -> None:
    whole, straight, carved = both
    assert isinstance(straight.potential, Straight)
    assert straight.likelihood.quadratic.inputs.shape[0] == 1
    at = whole.inverse(carved.law.values)
    for seed in range(3):
        u = at + 0.1 * jax.random.normal(jax.random.key(seed), at.shape)
        assert float(straight.log_density(u)) == pytest.approx(
            float(whole.log_density(u)), rel=1e-9
        )
        np.testing.assert_allclose(
            jax.grad(straight.log_density)(u), jax.grad(whole.log_density)(u), rtol=1e-6, atol=1e-7
        )
        np.testing.assert_allclose(straight.theta(u), whole.theta(u))


def test_curvatures_are_the_same(both: tuple[density.Posterior, density.Posterior, Carved]) -> None:
    whole, straight, carved = both
    at = whole.inverse(carved.law.values)
    pairs = []
    for posterior in (whole, straight):
        rows = jax.jacobian(posterior.likelihood_rows)(at)
        pairs.append(rows.T @ rows)
    np.testing.assert_allclose(pairs[1], pairs[0], rtol=1e-8, atol=1e-8 * float(jnp.max(pairs[0])))


def test_laws_with_free_constants_stay_as_they_are(
    both: tuple[density.Posterior, density.Posterior, Carved],
) -> None:
    whole, _, carved = both
    graph = carved.law.terms
    free = type(graph)(graph.inputs, (graph.terms[0]._replace(free=(0,)), *graph.terms[1:]))
    values = jnp.insert(carved.law.values, 1, 0.5)
    bent = carved._replace(law=type(carved.law)(free, values, carved.law.reference))
    assert straightened(whole, bent) is whole
