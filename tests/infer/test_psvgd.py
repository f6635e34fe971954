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


def test_a_plain_density_is_refused_with_the_remedy() -> None:
    with pytest.raises(InputError, match="needs a Target with likelihood, prior and draw_prior"):
        psvgd.build(as_target(standard), psvgd.Config())
