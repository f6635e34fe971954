"""Set a study up: physics, data and truth, in a form in which the stages no longer care where they came from."""

from pathlib import Path
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array

from steinmetz import registry
from steinmetz.data import noise, table
from steinmetz.errors import InputError
from steinmetz.physics import observe
from steinmetz.physics.base import Physics
from steinmetz.potentials.base import Network
from steinmetz.records import Observations, Truth, ValidationPath

_FEWEST_TO_SPLIT = 20


class Problem(NamedTuple):
    """Training data, held-out rows (measured data only), the truth (synthetic data only) and the validation path."""

    physics: Physics
    truth: Truth | None
    train: Observations
    held_out: Observations | None
    path: ValidationPath
    notes: list[str]


def require_double() -> None:
    """Laws and posteriors are float64; say how to switch it on."""
    if not jax.config.read("jax_enable_x64"):
        raise InputError(
            "steinmetz computes in float64: call jax.config.update('jax_enable_x64', True) before anything else"
        )


def prepare(key: Array, study: Any) -> Problem:
    """Generate or read the data of a study."""
    physics = registry.load("physics", study.physics).build()
    notes: list[str] = []
    if study.data.table is None:
        truth = observe.law(physics, study.data.law, study.data.parameters)
        try:
            train = observe.synthetic(
                key, physics, truth, study.data.count, study.data.spread, study.noise
            )
        except ZeroDivisionError:
            raise InputError(
                f"law '{truth.name}' divides by zero with data.parameters = {study.data.parameters}"
            ) from None
        held_out, spread = None, study.data.spread
        if not bool(jnp.all(jnp.isfinite(train.values))):
            raise InputError(
                f"law '{truth.name}' is not finite for every state with data.spread = {study.data.spread}"
            )
    else:
        truth = None
        every, notes = observe.measured(physics, table.read(Path(study.data.table)), study.noise)
        train, held_out = _split(key, every, study.data.held_out)
        spread = physics.reach(every.state)
    _check_noise(train, study.noise)
    return Problem(
        physics, truth, train, held_out, physics.path(study.assess.path_points, spread), notes
    )


def network_of(study: Any, physics: Physics) -> Network:
    """The untrained network of a study."""
    potential = registry.load("potentials", study.potential.name)
    return potential.build(study.potential, physics.inputs, physics.conditions)


def undeformed(physics: Physics) -> np.ndarray:
    """The state in the middle of the validation path."""
    return physics.path(3, 0.1).state[1]


def _split(
    key: Array, every: Observations, share: float
) -> tuple[Observations, Observations | None]:
    rows = len(every.state)
    count = round(share * rows)
    if rows < _FEWEST_TO_SPLIT or count == 0:
        return every, None
    order = np.asarray(jax.random.permutation(key, rows))
    return _rows(every, np.sort(order[count:])), _rows(every, np.sort(order[:count]))


def _rows(observations: Observations, index: np.ndarray) -> Observations:
    arrays = {
        name: array[index] for name, array in observations._asdict().items() if name != "components"
    }
    return observations._replace(**arrays)


def _check_noise(train: Observations, config: noise.Config) -> None:
    """Every observed datum needs a positive standard deviation."""
    deviation = np.asarray(noise.deviation(train, train.values, config.floor))[
        np.asarray(train.observed)
    ]
    if not np.all(deviation > 0):
        raise InputError(
            "some data have zero noise and would get infinite weight; give noise.absolute, or a noise.floor above zero"
        )
