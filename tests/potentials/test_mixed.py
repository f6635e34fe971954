"""The network whose units choose."""

import pytest

from steinmetz.potentials import mixed


def test_unknown_activation_is_refused() -> None:
    with pytest.raises(ValueError, match="different ones of softplus, square, identity"):
        mixed.Config(activations=("cube",))
