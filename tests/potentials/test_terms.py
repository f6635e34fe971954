"""The potential `terms`."""

import pytest

from cases import CONVEX
from steinmetz import InputError
from steinmetz.potentials import terms


def test_it_is_for_invariants() -> None:
    config = terms.Config(most=3)
    assert terms.build(config, ("I1", "I2", "J"), CONVEX).most == 3
    assert terms.build(config, ("I1", "I2"), CONVEX).inputs == ("I1", "I2")
    with pytest.raises(InputError, match=r"is written in I1, I2, J, this material has e1"):
        terms.build(config, ("e1", "c"), CONVEX)
