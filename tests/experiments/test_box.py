"""Deformation gradients in a box around the identity."""

import jax
import numpy as np
import pytest

from steinmetz.data import noise
from steinmetz.experiments import full_tensor as module
from steinmetz.experiments import observe
from steinmetz.experiments.base import Experiment
from steinmetz.laws import base as laws
from steinmetz.materials.base import Material


def test_states_fill_the_sampled_box(full_tensor: Experiment) -> None:
    state = full_tensor.sample(jax.random.key(0), 4000) - np.eye(3).ravel()
    assert np.abs(state).max() <= 0.2
    assert np.abs(state).max(axis=0).min() > 0.19
    assert np.abs(state.mean(axis=0)).max() < 4 * 0.2 / np.sqrt(3 * 4000)


def test_a_wide_box_has_no_turned_volume() -> None:
    rows = module.build(module.Config(spread=0.9)).sample(jax.random.key(0), 500)
    assert np.linalg.det(rows.reshape(-1, 3, 3)).min() > 0


def test_path_marks_the_sampled_range(material: Material, full_tensor: Experiment) -> None:
    path = observe.path(material, [(full_tensor, noise.Config())], 1000)
    assert path.coordinate[0] == pytest.approx(0.6)
    assert path.coordinate[-1] == pytest.approx(1.4)
    inside = path.coordinate[path.sampled]
    assert inside.min() >= 0.8 - 1e-9
    assert inside.max() <= 1.2 + 1e-9
    assert len(inside) == 500
    assert path.observed.all()


def test_modulus_does_not_depend_on_the_amplitude_of_strain(material: Material) -> None:
    """Neo-Hooke with the same modulus, sampled near and far: an output weight keeps its size."""
    truth, moduli = laws.truth(material, "neo_hooke"), []
    for spread in (0.01, 0.1):
        experiment = module.build(module.Config(spread=spread))
        data = observe.clean(material, experiment, truth, experiment.sample(jax.random.key(0), 200))
        moduli.append(data.modulus(material.reference))
    assert moduli[0] == pytest.approx(moduli[1], rel=0.15)
