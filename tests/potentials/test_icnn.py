"""The input-convex network: counts, and which weights are free."""

import pytest

from cases import convex_network
from steinmetz import InputError


def test_parameter_counts() -> None:
    assert convex_network((30, 30), "tied").size == 1020
    assert convex_network((30, 30)).size == 90 + 900 + 90 + 30 + 3


def test_only_weights_on_j_are_free() -> None:
    assert sum(not sign for sign in convex_network((30, 30), "tied").nonnegative) == 30
    through = convex_network((30, 30))
    assert sum(not sign for sign in through.nonnegative) == 30 + 30 + 1
    edges = through.graph().edges
    assert {e.source for e in edges if not through.nonnegative[e.parameter]} == {2}


def test_tied_form_needs_room_for_the_inputs() -> None:
    with pytest.raises(InputError, match="at least 3"):
        convex_network((2, 2), "tied")
