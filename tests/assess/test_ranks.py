"""Ranks: uniform ones are inside the band as often as it says, others are not."""

import numpy as np

from steinmetz.assess import ranks

DRAWS = 63


def test_uniform_ranks_are_inside_and_those_of_narrow_draws_outside() -> None:
    random = np.random.default_rng(1)
    limit = ranks.limit(200, DRAWS)
    inside = [ranks.excess(random.integers(0, DRAWS + 1, 200), DRAWS) < limit for _ in range(400)]
    assert 0.92 < np.mean(inside) < 0.98
    narrow = np.clip(np.rint(random.normal(DRAWS / 2, DRAWS, 200)), 0, DRAWS).astype(int)
    assert ranks.excess(narrow, DRAWS) > 1.5 * limit


def test_distance_from_uniform_by_hand() -> None:
    """Ranks 0 and 1 of one draw: exactly uniform; both 0: half too much below."""
    assert ranks.excess(np.array([0, 1]), 1) == 0
    distance, error = ranks.apart(np.array([0, 0]), 1)
    assert distance.tolist() == [0.5]
    np.testing.assert_allclose(error, [(0.25 / 2) ** 0.5])
