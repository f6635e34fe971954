"""Projected SVGD against SVGD and against posteriors that are known."""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import optax
import pytest
from jaxtyping import Array

from cases import present
from steinmetz.errors import InputError
from steinmetz.infer import psvgd, svgd
from steinmetz.infer.base import Target, as_target, whiten
from steinmetz.laplace import Laplace

from .targets import linear_model, sample, standard


def basis_of(target: Target) -> tuple[tuple[Array, Array], Array, Array]:
    centre = present(target.centre)
    slopes = jax.jacfwd(present(target.likelihood))(centre)
    prior = jax.jacfwd(present(target.prior))(centre)
    return psvgd.spectrum(slopes.T @ slopes, prior.T @ prior), slopes.T @ slopes, prior.T @ prior


def test_generalised_eigenproblem() -> None:
    target, _, _ = linear_model(6, 4)
    (values, vectors), curvature, precision = basis_of(target)
    np.testing.assert_allclose(curvature @ vectors, precision @ vectors * values, atol=1e-10)
    np.testing.assert_allclose(vectors.T @ precision @ vectors, np.eye(6), atol=1e-12)
    assert (np.diff(values) <= 1e-12).all()


@pytest.mark.parametrize(
    ("values", "content", "rank"),
    [([90, 9, 1], 0.99, 2), ([90, 9, 1], 0.9, 1), ([90, 9, 1], 0.995, 3), ([1, 1], 1.0, 2)],
)
def test_spectral_content(values: list[int], content: float, rank: int) -> None:
    assert psvgd.kept(jnp.array(values, float), psvgd.Config(content=content)) == rank


@pytest.mark.parametrize(("least", "rank"), [(0.01, 4), (1.0, 3), (50.0, 1), (1e9, 1)])
def test_every_informed_direction_is_kept_and_what_is_left_is_told(least: float, rank: int) -> None:
    """The paper's share would keep one of these, and leave out what the data know well."""
    values = jnp.array([6e4, 40.0, 3.0, 0.5, 1e-4])
    assert psvgd.kept(values, psvgd.Config(least=least)) == rank
    assert psvgd.kept(values, psvgd.Config(content=0.99)) == 1


def test_rank_and_the_largest_direction_left_out_are_facts() -> None:
    target, _, _ = linear_model(6, 2)
    facts = psvgd.build(target, psvgd.Config()).facts
    assert facts["dimension"] == 6
    assert facts["rank"] == 2
    assert abs(facts["largest discarded"]) < 1e-9
    assert psvgd.build(target, psvgd.Config(content=0.01)).facts["largest discarded"] > 0.1


@pytest.mark.parametrize("basis", [0, 7])
def test_without_truncation_it_is_svgd(basis: int) -> None:
    """With all directions kept, psvgd is SVGD in the coordinates of its basis, renewed or not.

    On a linear model the curvature is the same everywhere, so a renewed basis is the old one.
    """
    target, _, _ = linear_model(4, 6)
    (_, vectors), _, precision = basis_of(target)
    centre = present(target.centre)
    start = centre + jax.random.normal(jax.random.key(0), (20, 4))
    full = sample(
        psvgd, target, 4, position=start, particles=20, steps=40, content=1.0, basis=basis
    )
    w = (start - centre) @ precision @ vectors
    plain = sample(
        svgd, whiten(target, Laplace(centre, vectors)), 4, position=w, particles=20, steps=40
    )
    np.testing.assert_allclose(full.particles, centre + plain.particles @ vectors.T, atol=1e-8)


@pytest.mark.parametrize("settings", [{}, {"basis": 50, "optimiser": "adagrad", "rate": 0.3}])
def test_low_rank_likelihood_gives_the_analytic_posterior(settings: dict[str, Any]) -> None:
    """Two informed directions of six: the rest must be the prior, in mean and in variance."""
    target, mean, covariance = linear_model(6, 2)
    found = sample(psvgd, target, 6, particles=400, steps=3000, **settings)
    deviation = np.sqrt(np.diag(covariance))
    error = (found.particles.mean(axis=0) - mean) / deviation
    assert np.abs(error).max() < 4 / np.sqrt(400)
    ratio = found.particles.var(axis=0) / deviation**2
    np.testing.assert_allclose(ratio, 1, atol=0.25)
    (values, _), *_ = basis_of(target)
    assert psvgd.kept(values, psvgd.Config()) <= 2


def test_moments_follow_a_turned_basis() -> None:
    """First moments are slopes: a new basis changes nothing in the whole space."""
    random = np.random.default_rng(0)
    old, _ = np.linalg.qr(random.normal(size=(5, 5)))
    new, _ = np.linalg.qr(random.normal(size=(5, 5)))
    slopes, squares = random.normal(size=(3, 5)), random.uniform(size=(3, 5))
    adam = optax.ScaleByAdamState(jnp.array(7), jnp.asarray(slopes @ old), jnp.asarray(squares))
    adagrad = optax.ScaleByRssState(jnp.asarray(squares))
    turned = psvgd.carried((adam, adagrad, optax.EmptyState()), jnp.asarray(old.T @ new))
    np.testing.assert_allclose(turned[0].mu, slopes @ new, atol=1e-12)
    assert int(turned[0].count) == 7
    assert (turned[0].nu > 0).all()
    np.testing.assert_array_equal(turned[0].nu, turned[1].sum_of_squares)


def bent() -> Target:
    """y = 10 x₀ x₁ observed once, x₂ never, prior N(0, 1): at the mode 0 nothing is informed."""

    def likelihood(x: Array) -> Array:
        return 10 * x[:1] * x[1:2]

    plain = as_target(lambda x: -0.5 * jnp.sum(likelihood(x) ** 2) - 0.5 * x @ x)
    return plain._replace(
        likelihood=likelihood, prior=lambda x: x, centre=jnp.zeros(3),
        draw_prior=lambda key: jax.random.normal(key, (3,)),
    )  # fmt: skip


def test_directions_are_found_that_only_draws_of_the_prior_know() -> None:
    """SVGD on them gives the posterior; the curvature at the mode alone leaves all prior draws."""
    alone = psvgd.build(bent(), psvgd.Config(average=0))
    assert alone.facts["largest discarded"] == 0
    assert psvgd.build(bent(), psvgd.Config()).facts["rank"] == 2
    settings: dict[str, Any] = {"particles": 200, "steps": 1500}
    product = {
        average: np.abs(np.prod(found.particles[:, :2], axis=1)).mean()
        for average in (0, 64)
        for found in [sample(psvgd, bent(), 3, average=average, **settings)]
    }
    assert product[64] < 0.2 < 0.5 < product[0]


def test_a_draw_without_finite_slopes_tells_nothing() -> None:
    """And one whose slopes are endless does not hide the others in rounding."""
    target, _, _ = linear_model(6, 2)
    (known, _), *_ = basis_of(target)
    likelihood, centre = present(target.likelihood), present(target.centre)
    rows = lambda x: likelihood(x) * jnp.where(x[0] > 1e3, 1e200, 1.0)  # noqa: E731
    precision = jnp.eye(6)
    draws = jnp.stack([centre, centre.at[0].set(1e4), centre.at[0].set(jnp.nan)])
    values, vectors = psvgd.averaged(rows, centre, draws, precision)
    assert np.isfinite(values).all()
    assert np.sum(values > 1e-9) == np.sum(known > 1e-9)
    np.testing.assert_allclose(vectors.T @ vectors, np.eye(6), atol=1e-12)


def test_a_plain_density_is_refused_with_the_remedy() -> None:
    with pytest.raises(InputError, match="needs a Target with likelihood, prior and draw_prior"):
        psvgd.build(as_target(standard), psvgd.Config())
