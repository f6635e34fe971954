"""Laws composed of terms: known laws are found again."""

from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import steinmetz
from cases import present
from steinmetz.assess import measures
from steinmetz.engine.carved import carve_law, stage_keys
from steinmetz.engine.problem import Problem, prepare
from steinmetz.potentials.law import Law
from steinmetz.potentials.mechanics import Term, Terms
from steinmetz.sparsify import compose
from steinmetz.sparsify.carve import Carved

TERMS = {"potential.name": "terms"}


def composed(**changes: object) -> tuple[Problem, Carved]:
    study = steinmetz.study("hyperelasticity", {**TERMS, **changes})
    problem = prepare(stage_keys(study.seed)["data"], study)
    return problem, carve_law(study, problem)


def labels(law: Law) -> set[str]:
    assert isinstance(law.graph, Terms)
    return {term.label() for term in law.graph.terms}


def path_r2(problem: Problem, law: Law) -> float:
    assert problem.truth is not None
    truth = problem.truth.stress(problem.material.reference, problem.path.map)
    return present(measures.r2(np.asarray(law.stress(problem.path.map)), np.asarray(truth)))


@pytest.mark.parametrize("seed", [0, 1])
def test_gent_rubber(seed: int) -> None:
    """Four terms, better on the whole path than the law carved from a network."""
    problem, carved = composed(seed=seed)
    assert carved.law.graph.size <= 4
    assert path_r2(problem, carved.law) > 0.998
    sizes = [row.active for row in carved.table]
    assert sizes == sorted(sizes)
    assert carved.chosen.criterion < 10 + min(row.criterion for row in carved.table)


def test_clean_mooney_rivlin_is_found_exactly() -> None:
    problem, carved = composed(**{"data.law": "mooney_rivlin", "noise.relative": 0.0})
    assert {"|F|^2", "|cof F|^2"} <= labels(carved.law)
    assert path_r2(problem, carved.law) > 0.99999


def test_a_number_of_parameters_can_be_asked_for() -> None:
    _, carved = composed(**{"sparsify.parameters": 2})
    assert carved.law.graph.size == 2
    assert "as asked" in carved.reason


def test_three_standard_tests_of_an_incompressible_rubber() -> None:
    """The two coefficients of Mooney and Rivlin, within 3 %."""
    study = steinmetz.study("rubber_tests", TERMS)
    problem = prepare(stage_keys(study.seed)["data"], study)
    law = carve_law(study, problem).law
    assert labels(law) == {"|F|^2", "|cof F|^2"}
    found = dict(zip(law.names(), np.asarray(law.values), strict=True))
    assert found["|F|^2"] * 1.0 == pytest.approx(0.5, rel=0.03)
    assert found["|cof F|^2"] == pytest.approx(0.2, rel=0.03)


def test_a_locking_limit_is_fitted() -> None:
    """Clean tests of a rubber whose chains lock at I1 − 3 = 30 give that number."""
    study = steinmetz.study("rubber_tests", {**TERMS, "noise.relative": 0.01})
    problem = prepare(jax.random.key(0), study)
    truth = Law(
        Terms(("I1", "I2"), (Term("locking", (30.0, 0.0)),)),
        jnp.array([0.5]),
        problem.material.reference,
    )
    data = problem.train._replace(values=truth.stress(problem.train.map))
    best = compose.compose(data, truth.reference, compose.Wanted(3, None, True)).laws[0]
    assert [atom.term.shape for atom in best.atoms] == ["locking"]
    assert best.atoms[0].constants[0] == pytest.approx(30.0, rel=0.01)
    assert best.coefficients[0] == pytest.approx(0.5, rel=0.01)


def test_a_run_is_certified_with_growth_and_can_be_loaded(tmp_path: Path) -> None:
    cheap = {"infer.method": "svgd", "infer.particles": 20, "infer.steps": 100}
    cheap |= {"assess.certificate_states": 500, "assess.noise_draws": 50, "assess.path_points": 101}
    result = steinmetz.run(steinmetz.study("hyperelasticity", {**TERMS, **cheap}))
    assert result.certificate.violated == 0
    growth = result.certificate.point("growth as J → 0")
    assert growth.status in ("proven", "checked")
    assert result.select(3).law.graph.size == 3
    assert "I_{1}" in result.export("latex")
    result.save(tmp_path / "run")
    again = steinmetz.load(tmp_path / "run")
    assert again.law.graph == result.law.graph
    np.testing.assert_array_equal(again.law.values, result.law.values)


def test_what_needs_a_network_says_so() -> None:
    with pytest.raises(steinmetz.InputError, match="is no network"):
        steinmetz.network_likelihood(steinmetz.study("hyperelasticity", TERMS))


def multiplied(problem: Problem, share: float) -> Problem:
    """The same data with a share of the cells three times as large."""
    values = np.array(problem.train.values)
    wrong = np.random.default_rng(0).random(values.shape) < share
    values[wrong] *= 3
    return problem._replace(train=problem.train._replace(values=jnp.asarray(values)))


def test_outliers_bend_a_law_unless_tails_are_heavy() -> None:
    """Mooney–Rivlin with 5 % of the cells multiplied by three."""
    found = {}
    for tails in ("normal", "student"):
        changes = {"data.law": "mooney_rivlin", "noise.tails": tails, "noise.relative": 0.02}
        study = steinmetz.study("hyperelasticity", {**TERMS, **changes})
        problem = multiplied(prepare(stage_keys(study.seed)["data"], study), 0.05)
        found[tails] = carve_law(study, problem)
        assert (found[tails].noise.weights is None) == (tails == "normal")
    law = found["student"].law
    assert labels(law) == {"|F|^2", "|cof F|^2", "(J - 1)^2"}
    assert path_r2(problem, law) > 0.99995 > path_r2(problem, found["normal"].law)


@pytest.mark.parametrize("seed", [0, 1])
def test_noise_is_estimated_with_the_law(seed: int) -> None:
    """Data with 20 % noise: the truth's size, and the noise in its interval."""
    changes = {"data.law": "mooney_rivlin", "noise.drawn_relative": 0.2, "seed": seed}
    _, carved = composed(**changes, **{"noise.relative": "estimated"})
    assert carved.law.graph.size <= 3
    assert carved.noise.relative is not None
    low, high = np.quantile(carved.noise.relative, [0.005, 0.995])
    assert low < 0.2 < high
    assert carved.noise.absolute is None


def test_absolute_noise_is_estimated_beside_the_relative() -> None:
    changes = {"noise.drawn_relative": 0.05, "noise.drawn_absolute": 0.05}
    estimated = {"noise.relative": "estimated", "noise.absolute": "estimated"}
    _, carved = composed(**changes, **estimated)
    for draws in (carved.noise.relative, carved.noise.absolute):
        low, high = np.quantile(present(draws), [0.005, 0.995])
        assert low < 0.05 < high
    assert carved.noise.floor is None
