"""The choice follows its rule and says so; a table survives JSON."""

import json

import numpy as np
import pytest

from cases import nested_law, small_law
from steinmetz.sparsify.choose import Choice, choose, from_plain, tabulate, to_plain
from steinmetz.sparsify.refit import Candidate

COUNT = 480


def table(*rows: tuple[int, float]) -> list[Choice]:
    """Rows of (parameters, χ²) with a price of 6 per parameter."""
    return [Choice(active, misfit, misfit + 6.0 * active, small_law()) for active, misfit in rows]


@pytest.mark.parametrize(
    ("rows", "slack", "chosen"),
    [
        (((3, 500.0), (4, 420.0), (5, 410.0), (6, 409.0)), 0.0, 5),
        (((3, 500.0), (4, 420.0), (5, 410.0), (6, 409.0)), 10.0, 4),
        (((3, 500.0), (4, 420.0), (5, 410.0)), 1e9, 3),
        (((7, 1.0), (8, 1e-9)), 10.0, 8),  # exact: not a better approximation but the law itself
        (((7, 20.0), (8, 3.0)), 20.0, 7),  # better, not exact
        (((7, 1e-6), (12, 1e-12)), 10.0, 7),  # exact already
    ],
)
def test_smallest_within_the_slack_unless_a_larger_one_is_exact(
    rows: tuple[tuple[int, float], ...], slack: float, chosen: int
) -> None:
    row, reason = choose(table(*rows), COUNT, slack)
    assert row.active == chosen
    assert reason.startswith(f"{chosen} parameters")


@pytest.mark.parametrize(
    ("target", "chosen", "words"),
    [(4, 4, "as asked"), (9, 5, "nearest to the 9"), (1, 3, "nearest")],
)
def test_target_count_goes_first(target: int, chosen: int, words: str) -> None:
    row, reason = choose(table((3, 500.0), (4, 420.0), (5, 410.0)), COUNT, 10.0, target)
    assert row.active == chosen
    assert words in reason


def test_table_has_the_best_law_of_every_size_with_its_criterion() -> None:
    laws = [(small_law(), 0, 30.0), (nested_law(), 1, 20.0)]
    candidates = [Candidate(law, origin, chi, np.zeros(5)) for law, origin, chi in laws]
    (row,) = tabulate(candidates, COUNT, {5: (20.0, 30.0)})
    assert (row.active, row.origin, row.misfit, row.restarts) == (5, 1, 20.0, (20.0, 30.0))
    assert row.criterion == pytest.approx(20.0 + 5 * np.log(COUNT))


def test_table_survives_json_exactly() -> None:
    row = Choice(5, 1 / 3, 31.2, small_law(), 2, (1 / 3, 2.5))
    (again,) = from_plain(json.loads(json.dumps(to_plain([row]))))
    assert again._replace(law=row.law) == row
    assert again.law.graph == row.law.graph
    np.testing.assert_array_equal(again.law.values, row.law.values)
