"""The public object: what people type, what they see, and what they are told."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest

import steinmetz
from cases import CHEAP, mooney_rivlin_table
from steinmetz import InputError
from steinmetz.api import Result


def test_repr_is_a_few_lines_and_html_has_law_and_table(quick: Result) -> None:
    text = repr(quick)
    assert len(text) < 800
    assert "Ψ = " in text
    assert "4 of 81 parameters" in text
    page = quick._repr_html_()
    assert page.count("<tr") == len(quick.table) + 1
    assert "hat{\\Psi}" in page


def test_tab_completion_shows_the_verbs() -> None:
    names = dir(steinmetz)
    for name in ("run", "fit", "load", "study", "sample", "select", "save", "Result", "reproduce"):
        assert name in names
    assert set(steinmetz.__all__) == {"InputError", "RunFailure", *steinmetz._LAZY}
    assert steinmetz.__version__
    with pytest.raises(AttributeError, match="no attribute 'weights'"):
        _ = steinmetz.weights


def test_import_alone_changes_no_setting_and_loads_nothing_heavy() -> None:
    code = "import sys, steinmetz; assert not {'jax', 'sympy', 'xarray'} & set(sys.modules)"
    assert subprocess.run([sys.executable, "-c", code]).returncode == 0


@pytest.mark.parametrize(
    ("F", "component", "message"),
    [
        (np.eye(3), "P44", "no stress component 'P44'"),
        (np.eye(3), "p11", r"did you mean 'P11'\?"),
        (-np.eye(3), "P11", r"state 0: det F = -1 must be positive"),
        (np.full((3, 3), np.nan), "P11", "state 0"),
        (np.eye(2), "P11", r"columns F11, .*shape \(2, 2\)"),
        ([], "P11", "shape"),
    ],
)
def test_stress_refuses_in_words(
    quick: Result, F: npt.ArrayLike, component: str, message: str
) -> None:
    with pytest.raises(InputError, match=message):
        quick.stress(F, component)


def test_stress_has_a_row_per_draw_and_a_column_per_state(quick: Result) -> None:
    F = np.stack([np.eye(3), np.diag([1.2, 0.9, 1.0])])
    stress = quick.stress(F, "sigma11")
    assert stress.shape == (len(quick.particles), 2)
    assert np.abs(stress[:, 0]).max() < 1e-12
    np.testing.assert_array_equal(stress, quick.stress(F.reshape(2, 9), "sigma11"))


def test_predict_in_a_test_that_was_done(quick: Result) -> None:
    rows = np.eye(3).ravel() + np.array([[0.1] + [0] * 8])
    prediction = quick.predict("full_tensor", rows, ("S11", "P11"))
    low, high = prediction.band(0.9)
    assert prediction.draws.shape == (len(quick.particles), 1, 2)
    assert (low <= high).all()
    with pytest.raises(InputError, match="columns stretch, lateral_stretch"):
        quick.predict("uniaxial", [[1.2]])


@pytest.mark.parametrize("figure", ["path", "gates", "marginals"])
def test_plots(quick: Result, figure: str) -> None:
    assert quick.plot(figure).axes


def test_unknown_plot_is_named(quick: Result) -> None:
    with pytest.raises(InputError, match="possible: path, trust, gates, marginals"):
        quick.plot("parity")


def test_export_in_every_form(quick: Result) -> None:
    assert quick.export() == steinmetz.closed_form(quick.law)
    assert quick.export("latex").startswith("\\hat")
    with pytest.raises(InputError, match="no exporter 'fortran'"):
        quick.export("fortran")


def test_load_gives_back_the_same_object(quick: Result, quick_folder: Path) -> None:
    loaded = steinmetz.load(quick_folder)
    np.testing.assert_array_equal(loaded.particles, quick.particles)
    np.testing.assert_array_equal(loaded.along.predictive, quick.along.predictive)
    np.testing.assert_array_equal(loaded.ensemble.log_density, quick.ensemble.log_density)
    assert loaded.study == quick.study
    assert loaded.summary == quick.summary
    assert loaded.table == quick.table
    F = np.diag([1.1, 1.0, 1.0])
    np.testing.assert_array_equal(loaded.stress(F, "P11"), quick.stress(F, "P11"))


def test_load_refuses_what_is_not_a_run(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no finished run there"):
        steinmetz.load(tmp_path)


def test_another_row_from_the_object_or_its_folder(quick: Result, quick_folder: Path) -> None:
    row = next(row.active for row in quick.table if row.active not in (1, quick.law.graph.size))
    here, there = quick.select(row), steinmetz.select(quick_folder, row)
    assert here.law.graph.size == row
    np.testing.assert_array_equal(here.particles, there.particles)


def test_a_data_frame_and_its_file_give_the_same_law(tmp_path: Path) -> None:
    import pandas

    path = tmp_path / "rubber.csv"
    mooney_rivlin_table(path, seed=1, rows=30, noise=0.05, blank=0.1)
    here = steinmetz.fit(path, changes=CHEAP)
    there = steinmetz.fit(pandas.read_csv(path), changes=CHEAP)
    np.testing.assert_array_equal(here.law.values, there.law.values)
    assert here.scores.r2.path is None
    saved = tmp_path / "run"
    there.save(saved)
    path.unlink()
    again = steinmetz.load(saved)  # the table travels with the run
    np.testing.assert_array_equal(again.particles, there.particles)
    assert list((saved / "tables").iterdir())


def test_tables_and_experiments_must_match_in_number(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="name one for each table"):
        steinmetz.fit([tmp_path / "a.csv", tmp_path / "b.csv"], ["uniaxial"])


def test_incompressible_laws_ask_for_the_free_face(tmp_path: Path) -> None:
    stretch = np.linspace(0.8, 2.0, 15)
    P = 2 * (stretch - stretch**-2) * 0.6
    rows = [f"{a},{b}" for a, b in zip(stretch, P, strict=True)]
    (tmp_path / "pull.csv").write_text("\n".join(["stretch,P11", *rows]))
    result = steinmetz.fit(tmp_path / "pull.csv", "uniaxial", changes=CHEAP)
    F = np.diag([1.5, 1.5**-0.5, 1.5**-0.5])
    with pytest.raises(InputError, match="free='33'"):
        result.stress(F, "P11")
    pulled = result.stress(F, "P11", free="22")
    np.testing.assert_allclose(pulled, result.predict("uniaxial", [1.5]).draws[:, :, 0])
