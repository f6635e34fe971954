"""Ways to average laws: each beside an integral, a grid or a refit that takes no short cut."""

import numpy as np
import pytest

from cases import Numbers
from steinmetz.engine.problem import Problem
from steinmetz.posterior import weights
from steinmetz.posterior.structures import Gaussians
from steinmetz.posterior.weights import Candidates
from steinmetz.sparsify.written import Problem as Data
from steinmetz.sparsify.written import Structure

from .test_structures import LOCKING, MOONEY, NEO_HOOKE, data, rubber, structure

assert rubber  # a fixture, used by its name


def laws(problem: Problem) -> list[Structure]:
    return [
        structure(problem, NEO_HOOKE, 0.7),
        structure(problem, MOONEY, 0.5, 0.2),
        structure(problem, LOCKING, 0.6, 30.0),
    ]


@pytest.fixture(scope="module")
def candidates(rubber: Problem) -> Candidates:
    return Candidates.of(laws(rubber), data(rubber))


def made(scores: Numbers, price: tuple[float, ...] = (0.0, 0.0)) -> Candidates:
    """Candidates of whom only the densities of left-out data are known."""
    none = np.zeros(0)
    evidence = [np.concatenate([[0.0], -row]) for row in scores]
    every = [Gaussians(none[None], none[None, None], each) for each in evidence]
    nothing = [Structure(None, each) for each in price]  # type: ignore[arg-type]
    return Candidates(nothing, [], every)


def grid(problem: Data, law: Structure) -> tuple[Numbers, Numbers, Numbers]:
    """Values of one coefficient, its log prior, and minus half the misfit of every tensor there."""
    (column,) = problem.changes(law.written).T
    size = np.linalg.norm(problem.target) / np.linalg.norm(column)
    values = np.linspace(0, 4 * size, 100_001)
    rows, target = column.reshape(len(problem.x), -1), problem.target.reshape(len(problem.x), -1)
    squared = np.sum(target**2, axis=1)[:, None] + np.sum(rows**2, axis=1)[:, None] * values**2
    squared -= 2 * np.sum(rows * target, axis=1)[:, None] * values
    return values, -0.5 * (values / size) ** 2, -squared / 2


def test_density_of_a_tensor_left_out_is_its_integral(
    rubber: Problem, candidates: Candidates
) -> None:
    """∫ p(y_i | c) p(c | all others) dc, by a sum over the coefficient."""
    _, prior, each = grid(data(rubber), candidates.laws[0])
    for tensor in (0, 7, 50):
        others = prior + each.sum(axis=0) - each[tensor]
        posterior = np.exp(others - others.max())
        expected = np.log(np.sum(np.exp(each[tensor]) * posterior) / posterior.sum())
        assert candidates.scores[0, tensor] == pytest.approx(expected, abs=2e-4)


def test_stacking_is_the_best_point_of_the_simplex() -> None:
    """Two laws: the best of a fine grid, with log densities whose exponential is zero."""
    random = np.random.default_rng(3)
    scores = random.normal(size=(2, 40)) * 3 - 2000
    share = np.linspace(0, 1, 100_001)[1:-1]
    top = scores.max(axis=0)
    first, second = np.exp(scores - top)
    total = np.log(np.outer(share, first) + np.outer(1 - share, second)).mean(axis=1)
    found = weights.best(scores)
    assert found[0] == pytest.approx(share[np.argmax(total)], abs=0.01)
    reached = np.log(found[0] * first + found[1] * second).mean()
    assert reached == pytest.approx(total.max(), abs=1e-4)


def test_stacking_leaves_out_what_adds_nothing() -> None:
    good = np.random.default_rng(0).normal(size=40)
    found = weights.best(np.stack([good, good - 1, good - 5]))
    assert found[0] > 0.99
    assert found.sum() == pytest.approx(1)


def test_pseudo_bma_is_the_mean_over_bayesian_bootstraps() -> None:
    """Of two data, the share of the first is uniform: one integral."""
    scores = np.array([[0.3, -0.4], [-0.6, 1.1]])
    share = np.linspace(0, 1, 10_001)
    ahead = 2 * (
        share * (scores[0, 0] - scores[1, 0]) + (1 - share) * (scores[0, 1] - scores[1, 1])
    )
    expected = np.mean(1 / (1 + np.exp(-ahead)))
    found = weights.pseudo(np.random.default_rng(0), made(scores))
    assert found[0] == pytest.approx(expected, abs=0.02)
    assert found.sum() == pytest.approx(1)


def test_draws_are_those_of_the_weights(rubber: Problem, candidates: Candidates) -> None:
    random = np.random.default_rng(0)
    alone = candidates.drawn(random, weights.single(random, candidates), 300)
    assert [len(part.theta) for part in alone] == [300]
    values, prior, each = grid(data(rubber), candidates.laws[0])
    density = np.exp(prior + each.sum(axis=0) - np.max(prior + each.sum(axis=0)))
    mean = np.sum(values * density) / density.sum()
    spread = np.sqrt(np.sum((values - mean) ** 2 * density) / density.sum())
    assert alone[0].theta.mean() == pytest.approx(mean, abs=4 * spread / 300**0.5)
    assert alone[0].theta.std() == pytest.approx(spread, rel=0.2)
    some = candidates.drawn(random, np.array([0.2, 0.0, 0.8]), 1000)
    assert [part.law for part in some] == [candidates.laws[2].law, candidates.laws[0].law]
    assert len(some[0].theta) == pytest.approx(800, abs=60)


def test_laws_without_a_tensor_are_refits(rubber: Problem, candidates: Candidates) -> None:
    """Least squares of all rows but those of the tensor, and of the prior."""
    problem, found = data(rubber), weights.left_out(candidates)
    assert sorted(found.order) == list(range(len(problem.x)))
    (only,) = found.parts  # the true law, whatever is left out
    assert only.law == candidates.laws[1].law
    columns = problem.changes(candidates.written[1])
    size = np.linalg.norm(problem.target) / np.linalg.norm(columns, axis=0)
    for place, tensor in enumerate(found.order[:3]):
        keep = np.repeat(np.arange(len(problem.x)) != tensor, len(columns) // len(problem.x))
        rows = np.concatenate([columns[keep], np.diag(1 / size)])
        expected = np.linalg.lstsq(rows, np.concatenate([problem.target[keep], np.zeros(2)]))[0]
        np.testing.assert_allclose(only.theta[place], expected, rtol=1e-6)


def test_jackknife_borders_by_hand() -> None:
    """Three data at 50 %: the second of four places from either end."""
    predicted, missed = np.array([1.0, 2.0, 3.0]), np.array([0.5, 0.1, 1.5])
    low, high = weights.jackknife(predicted, missed, 0.5)
    assert (float(low), float(high)) == (1.5, 2.1)
    low, high = weights.jackknife(predicted, missed, 0.99)
    assert (float(low), float(high)) == (0.5, 4.5)


def test_jackknife_covers_new_data() -> None:
    """The mean of normal data: at 90 % a new one is inside in nine of ten, and not in all."""
    random, inside = np.random.default_rng(0), []
    for _ in range(2000):
        values = random.normal(size=21)
        seen, new = values[:-1], values[-1]
        predicted = (seen.sum() - seen) / (len(seen) - 1)
        low, high = weights.jackknife(predicted, np.abs(seen - predicted), 0.9)
        inside.append(low <= new <= high)
    assert 0.87 < np.mean(inside) < 0.94
