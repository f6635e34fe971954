"""Residuals and left-out densities of a run, against what they are by hand."""

import dataclasses
from pathlib import Path

import jax.numpy as jnp
import numpy as np
import pytest
from scipy import stats

import steinmetz
from cases import CHEAP, mooney_rivlin_table
from steinmetz.api import Result
from steinmetz.engine import fitness
from steinmetz.report.checks import fit_checks
from steinmetz.report.summary import summarise


def test_log_likelihood_is_that_of_the_noise(quick: Result) -> None:
    """One tensor after the other, and its sum is −χ²/2 with the deviations' share."""
    found = fitness.fitted(quick.problem, quick.carved, quick.ensemble)
    train, deviation = quick.problem.train, np.asarray(quick.carved.deviation)
    for draw in (0, 7):
        law = dataclasses.replace(quick.law, values=jnp.asarray(quick.particles[draw]))
        stress = np.asarray(law.stress(train.map))
        expected = stats.norm.logpdf(train.values, stress, deviation).sum(axis=1)
        np.testing.assert_allclose(found[draw], expected, rtol=1e-9)


def test_the_numbers_of_a_run_agree_with_its_table(quick: Result) -> None:
    scores = quick.scores
    row = next(row for row in quick.table if row.picked)
    assert scores.fit.misfit.value == pytest.approx(row.loss, rel=1e-2)
    assert scores.fit.cells == quick.problem.train.cells
    assert scores.elpd.tensors == 80
    assert scores.elpd.elpd_test is None
    assert scores.elpd.p_loo > 0


@pytest.mark.long
@pytest.mark.parametrize(
    ("true", "stated", "passes"), [(0.05, 0.05, True), (0.2, 0.05, False), (0.01, 0.1, False)]
)
@pytest.mark.parametrize("seed", [0, 1])
def test_noise_of_a_table_that_is_not_as_stated_is_named(
    tmp_path: Path, true: float, stated: float, passes: bool, seed: int
) -> None:
    table = tmp_path / "rubber.csv"
    mooney_rivlin_table(table, seed=seed, rows=80, noise=true, blank=0)
    result = steinmetz.run(steinmetz.measured(table, relative=stated, changes=CHEAP))
    failed = {check.name for check in fit_checks(summarise(result).fit) if not check.passed}
    assert failed == set() if passes else {"fit quality", "stated noise"} <= failed
    assert result.scores.elpd.test_tensors == 16
