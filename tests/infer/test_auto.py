"""The choice of a method by the number of parameters."""

import pytest

from steinmetz.infer import auto, ssvgd, ssvn


def test_auto_says_what_it_takes_and_why() -> None:
    config = auto.Config()
    assert config.chosen(7).settings == ssvn.Config()
    assert config.chosen(1020).settings == ssvgd.Config()
    assert "1020 parameters are too many" in config.chosen(1020).reason
    assert auto.Config(batch=10).chosen(7).settings == ssvgd.Config(batch=10)
    assert auto.Config(steps=123, whiten=False).chosen(7).settings == ssvn.Config(
        steps=123, whiten=False
    )


def test_what_the_chosen_method_refuses_is_refused_at_once() -> None:
    with pytest.raises(ValueError, match="ssvn needs at least 20 steps"):
        auto.Config(warm_up=3)
    assert auto.Config(warm_up=3, batch=5).chosen(7).settings == ssvgd.Config(warm_up=3, batch=5)
