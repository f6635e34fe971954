"""What data do not speak of."""

import jax
import jax.numpy as jnp
import pytest

import steinmetz
from steinmetz.assess import silence
from steinmetz.engine.problem import prepare
from steinmetz.records import Observations


def data(name: str, **changes: object) -> Observations:
    return prepare(jax.random.key(0), steinmetz.study(name, changes)).train


def test_an_input_that_stands_still_is_named(observations: Observations) -> None:
    names, sizes = ("I1", "I2", "J"), (1.0, 1.0, 1.0)
    assert silence.still(observations, names, sizes) == []
    still = observations._replace(
        inputs=observations.inputs.at[:, 2].set(1 + 0.001 * observations.inputs[:, 2])
    )
    assert silence.still(still, names, sizes) == ["J"]


@pytest.mark.parametrize(("experiment", "slopes"), [("uniaxial", 1), ("biaxial", 2)])
def test_slopes_that_a_test_tells_apart(experiment: str, slopes: int) -> None:
    changes = {"data.blocks": [], "data.experiment.name": experiment, "data.count": 20}
    assert silence.slopes_seen(data("rubber_tests", **changes)) == slopes


def test_cells_that_were_not_measured_tell_nothing(observations: Observations) -> None:
    assert silence.slopes_seen(observations) == 3
    one = jnp.zeros_like(observations.observed).at[:, 0].set(True)
    assert silence.slopes_seen(observations._replace(observed=one)) == 1


@pytest.mark.parametrize(
    ("ratio", "words"), [(3.21, "3.2 times"), (100.0, "100 times"), (1.4e10, "more than 100 times")]
)
def test_ratios_are_words(ratio: float, words: str) -> None:
    assert silence.times(ratio) == words
