"""The choice follows its rule and says so."""

import pytest
from test_refit import small_law

from steinmetz.sparsify.choose import Choice, choose

COUNT = 480


def table(*rows):
    """Rows of (parameters, χ²) with a price of 6 per parameter."""
    return [Choice(active, misfit, misfit + 6.0 * active, small_law()) for active, misfit in rows]


@pytest.mark.parametrize(
    ("rows", "evidence", "chosen"),
    [
        (((3, 500.0), (4, 420.0), (5, 410.0), (6, 409.0)), 0.0, 5),
        (((3, 500.0), (4, 420.0), (5, 410.0), (6, 409.0)), 10.0, 4),
        (((3, 500.0), (4, 420.0), (5, 410.0)), 1e9, 3),
        (((7, 1.0), (8, 1e-9)), 10.0, 8),  # exact: not a better approximation but the law itself
        (((7, 20.0), (8, 3.0)), 20.0, 7),  # better, not exact
        (((7, 1e-6), (12, 1e-12)), 10.0, 7),  # exact already
    ],
)
def test_smallest_within_the_evidence_unless_a_larger_one_is_exact(rows, evidence, chosen):
    found, reason = choose(table(*rows), COUNT, evidence)
    assert found.active == chosen
    assert reason.startswith(f"{chosen} parameters")


@pytest.mark.parametrize(
    ("target", "chosen", "words"),
    [(4, 4, "as asked"), (9, 5, "nearest to the 9"), (1, 3, "nearest")],
)
def test_target_count_goes_first(target, chosen, words):
    found, reason = choose(table((3, 500.0), (4, 420.0), (5, 410.0)), COUNT, 10.0, target)
    assert found.active == chosen
    assert words in reason
