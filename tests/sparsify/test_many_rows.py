"""Tables with many rows: sought with some, fitted to all of them, block by block."""

from pathlib import Path

import jax
import numpy as np
import pytest
import xarray

import steinmetz
from cases import CHEAP, mooney_rivlin_table, present
from steinmetz.data.quadratic import compress
from steinmetz.engine import problem as problems
from steinmetz.engine.carved import carve_law, stage_keys
from steinmetz.engine.problem import Problem, prepare
from steinmetz.engine.sample import posterior_of
from steinmetz.posterior import density
from steinmetz.potentials.straight import Straight
from steinmetz.sparsify import many_rows, written
from steinmetz.sparsify.carve import Carved
from steinmetz.sparsify.judge import Judge
from steinmetz.studies.study import Study


@pytest.fixture(scope="module")
def bent() -> tuple[Study, Problem, Carved]:
    """A law with a free constant, carved from all rows."""
    study = steinmetz.study("hyperelasticity", {**CHEAP, "data.law": "gent"})
    problem = prepare(stage_keys(0)["data"], study)
    carved = carve_law(study, problem)
    some = [each.law for each in carved.structures if each.written.least.size]
    return study, problem, carved._replace(law=some[0])


def test_blocks_lead_where_all_data_at_once_do(
    bent: tuple[Study, Problem, Carved], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(many_rows, "_AT_ONCE", 7)
    _, problem, carved = bent
    reference = carved.law.reference
    parts = many_rows.blocks(carved.quadratic, reference)
    assert sum(len(part.x) for part in parts) == len(problem.train.state)
    whole = written.Problem.of(carved.quadratic, reference)
    best = whole.fitted(written.Structure(carved.law, 0.0).written.atoms)
    aside = best._replace(coefficients=tuple(1.1 * c for c in best.coefficients))
    found = many_rows.refitted(parts, aside)
    again = whole.written(found.atoms)
    assert found.coefficients == pytest.approx(again.coefficients, rel=1e-3)
    assert again.misfit == pytest.approx(best.misfit, abs=1e-2)


def test_laws_of_some_rows_become_those_of_all(bent: tuple[Study, Problem, Carved]) -> None:
    _, problem, carved = bent
    reference = carved.law.reference
    laws = [each.written for each in carved.structures if not each.written.least.size]
    judge = Judge.of(problem.train, None, False)
    moved = [law._replace(coefficients=tuple(1.3 * c for c in law.coefficients)) for law in laws]
    found = many_rows.completed(judge, reference, moved, carved.noise)
    scores = [law.score(problem.train.cells) for law in found.laws]
    assert scores == sorted(scores)
    weighted = compress(problem.train, found.deviation)
    whole = written.Problem.of(weighted, reference)
    for law in found.laws:
        assert law.misfit == pytest.approx(whole.written(law.atoms).misfit, rel=1e-3)


def test_many_data_leave_a_free_constant_nearly_linear(
    bent: tuple[Study, Problem, Carved], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Density, slopes and curvature at the law are those of all data."""
    study, problem, carved = bent
    whole = posterior_of(carved, problem, study)
    assert not isinstance(whole.potential, Straight)
    monkeypatch.setattr(many_rows, "SEARCHED", 1)
    straight = posterior_of(carved, problem, study)
    assert isinstance(straight.potential, Straight)
    at = whole.inverse(carved.law.values)
    assert float(straight.log_density(at)) == pytest.approx(float(whole.log_density(at)), rel=1e-7)
    slopes = [jax.grad(each.log_density)(at) for each in (straight, whole)]
    rows = [_curvature(each, at) for each in (straight, whole)]
    scale = np.sqrt(np.diag(rows[1]))
    np.testing.assert_allclose(slopes[0] / scale, slopes[1] / scale, atol=1e-3)
    np.testing.assert_allclose(rows[0], rows[1], atol=1e-3 * float(np.max(np.diag(rows[1]))))


def _curvature(posterior: density.Posterior, at: jax.Array) -> np.ndarray:
    rows = np.asarray(jax.jacobian(posterior.likelihood_rows)(at))
    return np.asarray(rows.T @ rows)


@pytest.mark.long
def test_a_long_table_is_said_and_kept_in_few_numbers(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(many_rows, "SEARCHED", 50)
    monkeypatch.setattr(problems, "_JUDGED", 54)
    monkeypatch.setattr(problems, "_LEFT_OUT", 30)
    table = tmp_path / "long.csv"
    mooney_rivlin_table(table, seed=1, rows=150, noise=0.02, blank=0.0)
    result = steinmetz.fit(table, changes=CHEAP)
    assert any("found with 50 of them" in note for note in result.problem.notes)
    assert present(result.scores.fit.coverage).of.endswith(" of 30 held-out rows")
    assert result.scores.fit.rows == 120
    assert result.scores.elpd.tensors == 30
    reference = result.law.reference
    all_rows = written.Problem.of(result.carved.quadratic, reference)
    own = written.Structure(result.law, 0.0).written
    if not own.least.size:
        assert own.coefficients == pytest.approx(all_rows.written(own.atoms).coefficients, rel=1e-3)
    result.save(tmp_path / "run")
    assert '"deviation": null' in (tmp_path / "run" / "carving.json").read_text()
    with xarray.open_datatree(tmp_path / "run" / "posterior.nc", engine="h5netcdf") as tree:
        assert tree["log_likelihood"]["stress"].sizes["datum"] == 30
        assert int(np.asarray(tree["observed_data"]["datum"])[-1]) == 119
    again = steinmetz.load(tmp_path / "run")
    np.testing.assert_allclose(again.carved.deviation, result.carved.deviation, rtol=1e-12)
    np.testing.assert_array_equal(again.particles, result.particles)
