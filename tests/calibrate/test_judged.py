"""Scores by hand, and bands that are what they are taken for."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from cases import present
from steinmetz.calibrate import cases, judged, ways
from steinmetz.calibrate.cases import Case
from steinmetz.calibrate.judged import DataSet
from steinmetz.data import noise


def test_scores_of_a_band_by_hand() -> None:
    """One value inside, one 0.5 below, one 1 above; of two copies and two cells one is left out."""
    low, high = np.zeros((2, 1)), np.full((2, 1), 2.0)
    values = np.array([[[1.0], [-0.5]], [[3.0], [9.0]]])
    cells = np.array([[True], [False]])
    found = judged.region({95: (low, high)}, values, cells)
    assert found.coverage == {95: 0.5}
    assert found.width == 2
    assert found.interval_score == pytest.approx(2 + 40 * 1.0 / 2)
    every = judged.region({95: (low, high)}, values[:1], np.ones((2, 1), bool))
    assert every.interval_score == pytest.approx(2 + 40 * 0.5 / 2)


def test_borders_are_quantiles() -> None:
    draws = np.arange(1001.0)[:, None, None]
    found = ways.borders(draws)
    assert {level: (low.item(), high.item()) for level, (low, high) in found.items()} == {
        50: (250, 750),
        80: pytest.approx((100, 900)),
        90: pytest.approx((50, 950)),
        95: pytest.approx((25, 975)),
    }


def test_the_oracle_covers_what_it_says(mooney: Case) -> None:
    """New noise on the same states: 80 % of the truths are inside, or few more."""
    inside, end = [], (np.flatnonzero(mooney.problem.path.sampled)[-1], 0)
    train = mooney.problem.train
    for number in range(100):
        key = jax.random.key(number)
        values = noise.draw(key, jnp.asarray(mooney.clean), train.relative, train.absolute)
        data = mooney.problem._replace(train=train._replace(values=values))
        draws = ways.oracle(mooney._replace(problem=data), present(mooney.changes))[:, *end]
        low, high = np.quantile(draws, [0.1, 0.9])
        inside.append(low <= mooney.truth[end] <= high)
    assert 0.7 < np.mean(inside) < 0.95


@pytest.fixture(scope="module")
def known() -> DataSet:
    """One data set of a law that is among the candidates, judged."""
    return judged.judge(cases.of_law("mooney_rivlin", 0.1, 0, {}))


def test_every_way_is_judged_on_one_data_set(known: DataSet) -> None:
    names = {"single", "bma", "stacked", "pseudo-BMA+", "bagged", "jackknife+", "oracle"}
    assert set(known.ways) == names
    assert known.functional == "S11 at F11 = 1.2"
    for name, way in known.ways.items():
        assert set(way.noisy) == {"in range", "beyond"}
        assert set(way.clean) == (set() if name == "jackknife+" else {"in range", "beyond"})
        for found in (*way.clean.values(), *way.noisy.values()):
            assert list(found.coverage) == [50, 80, 90, 95]
            assert list(found.coverage.values()) == sorted(found.coverage.values())
            assert found.interval_score >= found.width > 0


def test_bands_of_a_law_that_is_known_are_near_those_of_the_oracle(known: DataSet) -> None:
    sure = known.ways["oracle"].clean["in range"].width
    assert known.ways["single"].clean["in range"].width < 1.6 * sure
    assert known.ways["bagged"].clean["in range"].width > known.ways["bma"].clean["in range"].width
    for way in known.ways.values():
        assert 0.85 < way.noisy["in range"].coverage[95] <= 1
