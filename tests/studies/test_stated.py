"""Noise that nobody states is estimated, where it can be."""

import pytest

from steinmetz.studies.stated import UNSTATED, noise

ESTIMATED = {"relative": "estimated", "absolute": "estimated"}
NETWORK = {"relative": 0.05, "absolute": 0.0}


def test_unstated_noise_is_estimated() -> None:
    assert noise(UNSTATED, {}) == ESTIMATED
    assert noise(UNSTATED, {"potential.name": "terms"}) == ESTIMATED


@pytest.mark.parametrize(
    "changes",
    [{"potential.name": "icnn"}, {"noise.unknown": True}, {"material.name": "mechanochemistry"}],
)
def test_where_it_cannot_be_estimated_it_is_a_number(changes: dict[str, object]) -> None:
    assert noise(UNSTATED, changes) == NETWORK


def test_a_stated_part_is_all_there_is() -> None:
    assert noise((0.03, None), {}) == {"relative": 0.03, "absolute": 0.0}
    assert noise((None, "estimated"), {}) == {"relative": 0.0, "absolute": "estimated"}
    assert noise(UNSTATED, {"noise.absolute": 0.1}) == {"relative": 0.0, "absolute": 0.0}
