"""A posterior over laws: closed forms, weights and bounds."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import steinmetz
from cases import Numbers, present
from steinmetz.data import noise
from steinmetz.data.noise import Draws
from steinmetz.data.quadratic import compress
from steinmetz.engine.problem import Problem, prepare
from steinmetz.posterior import structures
from steinmetz.potentials.law import Law
from steinmetz.potentials.mechanics import Term, Terms
from steinmetz.predict.bands import Bands, Discrepancy
from steinmetz.predict.push_forward import push_forward
from steinmetz.sparsify import written
from steinmetz.sparsify.written import Structure

MOONEY = (Term("norm", (2.0, 0.0)), Term("cofactor", (2.0, 0.0)))
LOCKING = (Term("locking", (5.0, 0.0), free=(0,)),)
NEO_HOOKE = MOONEY[:1]


@pytest.fixture(scope="module")
def rubber() -> Problem:
    """Three tests of 0.5 I1 + 0.2 I2 with 2 % noise."""
    return prepare(jax.random.key(0), steinmetz.study("rubber_tests"))


def data(problem: Problem) -> written.Problem:
    train = problem.train
    deviation = noise.deviation(train, train.values, 0.02)
    return written.Problem.of(compress(train, deviation), problem.material.reference)


def structure(problem: Problem, terms: tuple[Term, ...], *values: float) -> Structure:
    reference = problem.material.reference
    return Structure(Law(Terms(("I1", "I2"), terms), jnp.array(values), reference), 0.0)


def test_evidence_of_one_coefficient_is_its_integral(rubber: Problem) -> None:
    """∫ likelihood × half-normal prior, by a sum over the coefficient."""
    problem = data(rubber)
    law = structure(rubber, NEO_HOOKE, 0.6).written
    found = structures.gaussians(problem, law, np.ones((1, len(problem.x))))
    (column,) = problem.changes(law).T
    size = np.linalg.norm(problem.target) / np.linalg.norm(column)
    values, step = np.linspace(0, 4 * size, 400_001, retstep=True)
    left = problem.target @ problem.target - 2 * values * (problem.target @ column)
    left += values**2 * (column @ column)
    prior = 2 / np.sqrt(2 * np.pi) / size * np.exp(-0.5 * (values / size) ** 2)
    best = left.min()
    integral = np.log(np.sum(np.exp(-0.5 * (left - best)) * prior) * step) - best / 2
    assert found.evidence[0] == pytest.approx(integral, abs=0.001)


def test_the_true_structure_has_the_weight(rubber: Problem) -> None:
    laws = [
        structure(rubber, NEO_HOOKE, 0.7),
        structure(rubber, MOONEY, 0.5, 0.2),
        structure(rubber, LOCKING, 0.6, 30.0),
    ]
    parts = structures.mixture(np.random.default_rng(0), laws, data(rubber), 1000)
    assert parts[0].law.graph == laws[1].law.graph
    assert parts[0].weight > 0.9
    assert sum(len(part.theta) for part in parts) == 1000
    np.testing.assert_allclose(parts[0].theta.mean(axis=0), [0.5, 0.2], rtol=0.05)


def test_without_bags_weights_have_the_odds_of_evidence_and_price(rubber: Problem) -> None:
    problem, random = data(rubber), np.random.default_rng(0)
    law = structure(rubber, MOONEY, 0.5, 0.2)
    dear = law._replace(price=2 * np.log(3))
    parts = structures.mixture(random, [law, dear], problem, 100, bags=0)
    np.testing.assert_allclose([part.weight for part in parts], [0.75, 0.25])
    assert sum(len(part.theta) for part in parts) == 100
    whole = structures.gaussians(problem, law.written, np.ones((1, len(problem.x))))
    np.testing.assert_allclose(parts[0].theta.mean(axis=0), whole.mean[0], rtol=0.01)


def test_draws_keep_their_bounds(rubber: Problem) -> None:
    """Half of the unconstrained Gaussian of a term that is not there lies below zero."""
    terms = (*MOONEY, Term("norm", (8.0, 0.0)))
    laws = [structure(rubber, terms, 0.5, 0.2, 1e-9), structure(rubber, LOCKING, 0.6, 30.0)]
    parts = structures.mixture(np.random.default_rng(0), laws, data(rubber), 500)
    assert min(part.theta.min() for part in parts) >= 0
    again = structures.mixture(np.random.default_rng(0), laws, data(rubber), 500)
    for one, other in zip(parts, again, strict=True):
        np.testing.assert_array_equal(one.theta, other.theta)


def test_pushed_without_compiling_is_the_same(rubber: Problem) -> None:
    """Several laws are pushed in numpy, one by JAX."""
    law, at = structure(rubber, LOCKING, 0.6, 30.0).law, rubber.path.map
    theta: Numbers = np.random.default_rng(0).uniform(0.1, 1.0, (7, 2)) * [1.0, 30.0]
    part = structures.Part(law, 0.5, theta)
    stress, energy = Bands((part, part), Draws(np.ones(14))).push(at)
    alone, alone_energy = push_forward(law, jnp.asarray(theta), at)
    np.testing.assert_allclose(stress, np.concatenate([alone, alone]), rtol=1e-10, atol=1e-12)
    np.testing.assert_allclose(energy[:7], alone_energy, rtol=1e-10, atol=1e-12)


def test_a_discrepancy_widens_all_but_rest(rubber: Problem) -> None:
    """Nothing at rest; its size at the usual energy; as the energy beyond the largest."""
    found = Discrepancy(0.3, 2.0, 4.0).at(np.array([[0.0, 2.0, 4.0, 8.0]]))
    np.testing.assert_allclose(found, [[0.0, 0.3, 0.3 * 2**0.5, 0.3 * 2 * 2**0.5]])
    part = structures.Part(structure(rubber, NEO_HOOKE, 0.7).law, 0.5, np.full((500, 1), 0.7))
    stress, energy = Bands((part, part), Draws(np.ones(1000)), Discrepancy(0.3, 2.0, 4.0)).push(
        rubber.path.map
    )
    expected = Discrepancy(0.3, 2.0, 4.0).at(energy[:1])[0]
    observed = rubber.path.observed[:, 0]
    np.testing.assert_allclose(stress.std(axis=0)[observed, 0], expected[observed], rtol=0.1)


@pytest.mark.long
@pytest.mark.parametrize("law", ["gent", "arruda_boyce", "mooney_rivlin"])
@pytest.mark.parametrize("relative", [0.05, 0.1])
def test_bands_cover_the_clean_truth(law: str, relative: float) -> None:
    """Six data sets: the 95 % band holds most of the path, and is not much wider than one law's."""
    cheap = {"infer.method": "svgd", "infer.particles": 50, "infer.steps": 200}
    cheap |= {"assess.certificate_states": 200, "assess.noise_draws": 50, "assess.path_points": 101}
    covered = []
    for seed in range(6):
        changes = {**cheap, "seed": seed, "data.law": law, "noise.relative": relative}
        result = steinmetz.run(steinmetz.study("hyperelasticity", changes))
        covered.append(present(present(result.scores.coverage_clean)["95"]))
    assert np.mean(covered) > 0.85
