"""From network to law: the place on the path, and what is refused."""

import jax
import numpy as np
import pytest

import steinmetz
from cases import present, random_data
from steinmetz import InputError
from steinmetz.assess import scores
from steinmetz.engine.carved import carve_law
from steinmetz.engine.problem import prepare
from steinmetz.potentials.layered import Layered, Wiring
from steinmetz.potentials.units import NaturalUnits
from steinmetz.records import Reference
from steinmetz.sparsify import carve, l0
from steinmetz.sparsify.train import Trained


def test_place_on_the_path_has_the_lowest_criterion_and_can_be_searched() -> None:
    """Columns are restarts: plain, failed at the end, too rich everywhere, failed."""
    theta = np.zeros((3, 4, 60))
    counts = np.array([[20, 20, 60, 5], [10, 9, 55, 5], [4, 2, 50, 5]])
    for place in np.ndindex(3, 4):
        theta[place][: counts[place]] = 1.0
    misfits = np.array(
        [[0.9, 0.9, 0.9, np.inf], [0.9, 0.9, 0.9, np.nan], [3.0, np.nan, 0.9, np.inf]]
    )
    trained = Trained(theta, misfits, counts, np.array([1, 2, 3]), np.array([5.0, 10.0, 20.0]))
    for search in (True, False):
        settings = l0.Config(max_parameters=30, search=search)
        assert carve._taken(trained, 480, settings) == {0: 1, 1: 1, 2: 2}


def test_tied_weights_are_refused_where_inputs_have_sizes() -> None:
    tied = Layered(("a", "b", "c"), (3, 3), wiring=Wiring(tied=True))
    sizes, reference = (0.1, 0.05, 2.0), Reference((0.0, 0.0, 0.0))
    data = random_data(sizes)
    task = carve.Task(tied, data, NaturalUnits.of(data, reference, sizes, 0.02), 5.0)
    with pytest.raises(InputError, match="without tied weights"):
        carve.carve(jax.random.key(0), task, l0.Config())


@pytest.mark.parametrize(("spread", "precision"), [(0.2, "float32"), (1e-6, "float64")])
def test_small_strains_are_trained_in_float64(spread: float, precision: str) -> None:
    """At strain 1e-6 float32 rounds a stress by many deviations of its noise."""
    study = steinmetz.study("hyperelasticity", {"data.experiment.spread": spread})
    found = prepare(jax.random.key(0), study)
    weighted = found.units.weighted(found.train.values, study.sparsify.min_relative_noise)
    assert carve.precise(study.sparsify, weighted).precision == precision


@pytest.mark.long
def test_strains_of_a_millionth_give_a_law() -> None:
    study = steinmetz.study("hyperelasticity", {"data.experiment.spread": 1e-6})
    found = prepare(jax.random.key(0), study)
    carved = carve_law(study, found)
    fresh = found.fresh(jax.random.key(1), 500)
    assert present(scores.r2(np.asarray(carved.law.stress(fresh.map)), fresh)) > 0.99
