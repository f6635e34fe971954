"""Large arrays in pieces: the same numbers as at once, and no second array of their size.

Twenty thousand draws are what a run must be able to judge. Pieces are made small here, so that an
array of draws × cells would be seen at once among what is allocated.
"""

import tracemalloc
from collections.abc import Callable

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from cases import REFERENCE, Numbers
from steinmetz import pieces
from steinmetz.assess import answers, measures, scores
from steinmetz.data import noise, student
from steinmetz.posterior.structures import Part
from steinmetz.potentials.law import Law
from steinmetz.potentials.mechanics import Term, Terms
from steinmetz.predict.bands import Bands, Discrepancy
from steinmetz.predict.push_forward import predictive
from steinmetz.records import StressMap

DRAWS, STATES, COMPONENTS = 20_000, 30, 3
SMALL = 2**17
TERMS = (Term("norm", (2.0, 0.0)), Term("cofactor", (2.0, 0.0)))


@pytest.fixture
def drawn() -> Numbers:
    return np.random.default_rng(0).standard_normal((DRAWS, STATES, COMPONENTS))


def most(work: Callable[[], object]) -> int:
    """Numbers of eight bytes that numpy holds at most while it works, beside those before."""
    tracemalloc.start()
    try:
        work()
        return tracemalloc.get_traced_memory()[1] // 8
    finally:
        tracemalloc.stop()


def bands(count: int) -> Bands:
    """Two laws with draws of two parameters."""
    theta = np.random.default_rng(1).uniform(0.1, 1.0, (count, 2))
    law = Law(Terms(("I1", "I2", "J"), TERMS), jnp.asarray(theta[0]), REFERENCE)
    parts = Part(law, 0.7, theta[: count // 3]), Part(law, 0.3, theta[count // 3 :])
    return Bands(parts, noise.Draws(np.ones(count)), Discrepancy(0.3, 2.0, 4.0))


def states() -> StressMap:
    random = np.random.default_rng(2)
    inputs = np.array([3.0, 3.0, 1.0]) + random.uniform(0, 0.2, (STATES, 3))
    operator = random.standard_normal((STATES, COMPONENTS, 3))
    return StressMap(jnp.asarray(inputs), jnp.asarray(operator))


def test_a_piece_is_small_enough_for_many_arrays_of_its_size() -> None:
    assert pieces.NUMBERS * 8 <= 2**25


@pytest.mark.parametrize(("count", "each"), [(10, 3), (7, 1000), (0, 5), (5, 0)])
def test_slices_cover_every_row_once(
    count: int, each: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pieces, "NUMBERS", 9)
    slices = list(pieces.pieces(count, each))
    assert [row for some in slices for row in range(count)[some]] == list(range(count))
    assert all(len(range(count)[some]) * each <= max(9, each) for some in slices)


def predicted(drawn: Numbers) -> answers.Predicted:
    """Three laws with as many draws each."""
    flat = drawn.reshape(len(drawn), -1)
    return answers.Predicted(flat[:3], flat, np.arange(len(flat)) % 3, np.zeros(flat.shape[1]))


JUDGED: dict[str, Callable[[Numbers], Numbers]] = {
    "quantiles": lambda a: pieces.quantiles(a, [0.025, 0.5, 0.975]),
    "bands": lambda a: np.array(list(measures.bands(a).values())),
    "crps": lambda a: measures.crps(a, a[0]),
    "variances": lambda a: np.array(answers.Variances.of(predicted(a))),
    "distance to one value": lambda a: measures.wasserstein_alike(a, a[:1]),
    "distance to many": lambda a: measures.wasserstein(a, 1 + a[:100]),
}


@pytest.mark.parametrize("name", JUDGED)
def test_judging_in_pieces_changes_no_number_and_needs_little(
    name: str, drawn: Numbers, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = JUDGED[name](drawn)
    monkeypatch.setattr(pieces, "NUMBERS", SMALL)
    np.testing.assert_allclose(JUDGED[name](drawn), whole, rtol=1e-12, atol=1e-12)
    assert most(lambda: JUDGED[name](drawn)) < drawn.size < most_of_old(drawn)


def most_of_old(drawn: Numbers) -> int:
    """What the guard has to see: quantiles of all cells at once copy the draws."""
    return most(lambda: np.quantile(drawn, [0.5], axis=0))


def test_scores_along_a_path_copy_no_draws(drawn: Numbers, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pieces, "NUMBERS", SMALL)
    cells, inside = np.ones((STATES, COMPONENTS), bool), np.arange(STATES) < STATES // 2
    cells[:, 1] = False
    every = scores.Ensembles(drawn, drawn, drawn[0], drawn[:200])
    assert most(lambda: scores.wasserstein(every, cells, inside)) < drawn.size


def test_several_laws_in_pieces_are_pushed_to_the_same_stress(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    at = states()
    stress, energy = bands(1000).push(at)
    monkeypatch.setattr(pieces, "NUMBERS", 7 * STATES * COMPONENTS)
    again, again_energy = bands(1000).push(at)
    np.testing.assert_allclose(again, stress, rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(again_energy, energy, rtol=1e-12, atol=1e-12)


def test_a_push_forward_needs_little_beside_what_it_returns(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(pieces, "NUMBERS", SMALL)
    many, at = bands(DRAWS), states()
    returned = DRAWS * STATES * (COMPONENTS + 1)
    assert most(lambda: many.push(at)) < 1.6 * returned


PLAIN = noise.Draws(np.linspace(0.5, 2.0, 500))
DRAWN = {
    "stated": PLAIN,
    "estimated": PLAIN._replace(relative=np.linspace(0.05, 0.2, 500), discrepancy=np.ones(500)),
    "tails": PLAIN._replace(tails=True),
}


@pytest.mark.parametrize("name", DRAWN)
def test_predictive_draws_in_pieces_are_the_same(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Noise belongs to a draw, a state and a component, not to a piece."""
    pushed = np.random.default_rng(3).standard_normal((500, STATES, COMPONENTS))
    relative = jnp.full((STATES, COMPONENTS), jnp.nan if name == "estimated" else 0.1)
    deviations = relative.at[0].set(0.2), jnp.asarray(0.05)

    def drawn() -> Numbers:
        return predictive(jax.random.key(4), pushed, deviations, 0.02, DRAWN[name])

    whole = drawn()
    monkeypatch.setattr(pieces, "NUMBERS", 64 * STATES * COMPONENTS)
    np.testing.assert_allclose(drawn(), whole, rtol=1e-12, atol=1e-12)


def test_noise_is_never_drawn_for_more_than_a_piece(monkeypatch: pytest.MonkeyPatch) -> None:
    sizes: list[int] = []
    monkeypatch.setattr(pieces, "NUMBERS", SMALL)
    for place, name in ((noise, "draw"), (student, "factors")):
        real = getattr(place, name)

        def noted(*given: object, real: Callable[..., np.ndarray] = real) -> np.ndarray:
            found = real(*given)
            sizes.append(found.size)
            return found

        monkeypatch.setattr(place, name, noted)
    pushed = np.zeros((DRAWS, STATES, COMPONENTS))
    deviations = jnp.asarray(0.1), jnp.asarray(0.1)
    factor = noise.Draws(np.ones(DRAWS), tails=True)
    assert most(lambda: predictive(jax.random.key(0), pushed, deviations, 0.0, factor)) < (
        1.5 * pushed.size
    )
    assert max(sizes) <= SMALL
    assert sum(sizes) == 2 * pushed.size
