"""Textbook laws beside the law, tests predicted from the others, and the test to make next."""

from pathlib import Path

import jax
import numpy as np
import pandas as pd
import pytest

from cases import present
from steinmetz.engine import baselines
from steinmetz.engine.across import Across, LeftOut, across, labels
from steinmetz.engine.carved import carve_law
from steinmetz.engine.following import following, ways
from steinmetz.engine.mixture import mixture_of
from steinmetz.engine.problem import Problem, prepare
from steinmetz.errors import InputError
from steinmetz.predict.bands import Bands
from steinmetz.sparsify.judge import Judge
from steinmetz.studies import config, measured
from steinmetz.studies.study import Study

# C10 and C01 of the rubber of these tests.
C10, C01 = 0.4, 0.08
STRETCH = {"uniaxial": 3.0, "equibiaxial": 2.2, "pure_shear": 2.6}


def rubber(folder: Path, names: tuple[str, ...]) -> tuple[Study, Problem]:
    """Measured tests of a Mooney–Rivlin rubber with 2 % noise."""
    random, paths = np.random.default_rng(3), []
    for name in names:
        stretch = np.linspace(1, STRETCH[name], 13)[1:]
        side = {"uniaxial": stretch**-2, "equibiaxial": stretch**-5, "pure_shear": stretch**-3}
        slope = {"uniaxial": 1 / stretch, "equibiaxial": stretch**2, "pure_shear": 1 + 0 * stretch}
        stress = 2 * (stretch - side[name]) * (C10 + slope[name] * C01)
        noisy = stress * (1 + 0.02 * random.standard_normal(len(stretch)))
        paths.append(folder / f"{name}.csv")
        pd.DataFrame({"stretch": stretch, "P11": noisy}).to_csv(paths[-1], index=False)
    study = measured.jointly(paths, list(names), (0.02, 0.0), {"data.held_out": 0.0})
    return study, prepare(jax.random.key(0), study)


def known(study: Study, problem: Problem) -> tuple[Problem, Across, Bands]:
    carved = carve_law(study, problem)
    problem = problem.allowing(carved.noise.level)
    bands = mixture_of(study, problem, carved, np.ones(400))
    return problem, across(study, problem, carved, bands), bands


@pytest.fixture(scope="module")
def three(tmp_path_factory: pytest.TempPathFactory) -> Across:
    return known(*rubber(tmp_path_factory.mktemp("three"), tuple(STRETCH)))[1]


@pytest.fixture(scope="module")
def one(tmp_path_factory: pytest.TempPathFactory) -> tuple[Problem, Across, Bands]:
    return known(*rubber(tmp_path_factory.mktemp("one"), ("uniaxial",)))


def test_textbook_laws_are_fitted_at_their_best(tmp_path: Path) -> None:
    """Mooney and Rivlin's law has the coefficients that made the data."""
    _, problem = rubber(tmp_path, tuple(STRETCH))
    judge = Judge.of(problem.train, None, False)
    found = baselines.every(judge, problem.material.reference)
    np.testing.assert_allclose(found["Mooney–Rivlin"].law.coefficients, [C10, C01], rtol=0.08)
    unlikely = {name: present(judged.law.unlikely) for name, judged in found.items()}
    assert unlikely["Mooney–Rivlin"] < unlikely["neo-Hooke"] - 10
    assert unlikely["Ogden (3 terms)"] < unlikely["neo-Hooke"]


def test_every_baseline_has_scores_of_every_test(three: Across) -> None:
    names = [row.name for row in three.baselines]
    assert set(names) == set(baselines.laws(1.0, True))
    assert [row.bic for row in three.baselines] == sorted(row.bic for row in three.baselines)
    for row in three.baselines:
        assert set(row.r2) == set(row.predicted) == set(STRETCH)
    mooney = three.baselines[names.index("Mooney–Rivlin")]
    assert min(present(value) for value in mooney.r2.values()) > 0.99
    assert min(present(value) for value in mooney.predicted.values()) > 0.98


def test_tests_are_predicted_from_the_others(three: Across) -> None:
    assert [row.test for row in three.left_out] == list(STRETCH)
    sheared = three.left_out[2]
    assert sheared.determined
    assert present(sheared.r2) > 0.99
    assert sheared.coverage > 0.8
    assert "predicted by the other tests" in sheared.sentence
    lost: LeftOut = sheared.model_copy(update={"width": 3.0})
    assert lost.sentence.endswith("by the other tests: the band is 3 times the stress")
    lost = sheared.model_copy(update={"width": 1.4e10})
    assert lost.sentence.endswith("the band is more than 100 times the stress")


def test_one_test_alone_says_little_about_another(one: tuple[Problem, Across, Bands]) -> None:
    _, found, _ = one
    assert found.left_out == []
    width = {mode.test: mode.width for mode in found.modes}
    assert [mode.made for mode in found.modes if mode.test == "uniaxial"] == [True]
    assert width["equibiaxial"] > 1.3 * width["uniaxial"]


def test_the_next_test_is_not_the_same_again(one: tuple[Problem, Across, Bands]) -> None:
    problem, _, bands = one
    ranked = following(problem, bands, 10, (0.02, 0.0))
    assert ranked[0].test in ("equibiaxial", "biaxial")
    assert ranked[0].narrower < 0.5
    worst = max(each.narrower for each in ranked if each.test == "uniaxial")
    assert worst > 2 * ranked[0].narrower
    assert "times as wide" in ranked[0].sentence
    again = following(problem, bands, 10, (0.02, 0.0))
    assert again == ranked


def test_ends_are_where_i1_is(one: tuple[Problem, Across, Bands]) -> None:
    for way in ways(one[0]):
        (at,) = way.maps(one[0], [np.array([way.end(7.0)])])
        assert float(at.inputs[0, 0]) == pytest.approx(7.0, rel=1e-9)


def test_tensors_have_standard_tests_too_and_chemistry_has_none() -> None:
    problem = prepare(jax.random.key(0), config.load("hyperelasticity", {}))
    assert {way.name for way in ways(problem)} >= {"volume", "simple shear"}
    other = prepare(jax.random.key(0), config.load("mechanochemistry", {}))
    with pytest.raises(InputError, match="no standard tests are known"):
        next(ways(other))


def test_tests_of_one_kind_are_numbered(tmp_path: Path) -> None:
    _, problem = rubber(tmp_path, ("uniaxial", "equibiaxial"))
    twice = problem._replace(blocks=(*problem.blocks, problem.blocks[0]))
    assert labels(twice) == ["uniaxial 1", "equibiaxial", "uniaxial 2"]
