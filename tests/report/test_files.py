"""The run directory: complete, readable elsewhere, written as a whole."""

import dataclasses
import json
import os
import re
from pathlib import Path
from typing import NoReturn

import jax.numpy as jnp
import numpy as np
import pytest
import xarray

import steinmetz
from cases import BY_SIGNS, BY_TERMS
from steinmetz import InputError
from steinmetz.api import Result
from steinmetz.exporters import json as law_json
from steinmetz.potentials.law import Law, rebuild
from steinmetz.report import files, page

# Figures of a run on synthetic data.
DRAWN = ("path", "laws", "trust", "sizes", "marginals")


@pytest.fixture(scope="module")
def folder(gent: Result, tmp_path_factory: pytest.TempPathFactory) -> Path:
    target = tmp_path_factory.mktemp("runs") / "gent"
    steinmetz.save(gent, target)
    return target


def test_everything_is_there(folder: Path) -> None:
    names = {str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file()}
    assert names == {
        *("summary.json", "law.json", "carving.json", "study.toml", "report.html"),
        *("posterior.nc", "predictions.nc", "SHA256SUMS"),
        *(f"figures/{name}.{kind}" for name in DRAWN for kind in ("png", "pdf")),
    }
    assert list(folder.parent.iterdir()) == [folder]


def test_summary_has_the_promised_fields(folder: Path, gent: Result) -> None:
    summary = json.loads((folder / "summary.json").read_text())
    assert summary["study"] == "hyperelasticity"
    assert summary["seed"] == 0
    assert summary["method"] == "terms+ssvn"
    assert summary["parameters"]["full"] > 50
    assert summary["parameters"]["active"] == gent.law.graph.size
    assert {"train", "test", "path", "per_component"} <= set(summary["r2"])
    assert set(summary["coverage"]) == {"50", "90", "95"}
    assert {"sparsify", "infer", "total", "compile"} == set(summary["seconds"])
    assert summary["admissible"]["checked"] == 2001
    points = {point["name"]: point for point in summary["admissible"]["points"]}
    assert {points[name]["status"] for name in BY_TERMS} == {"proven"}
    assert points["growth as J → 0"]["status"] in ("proven", "checked")
    assert summary["admissible"]["violated"] == 0
    assert summary["w1"]["push_forward_clean"]["path"] > 0


def test_posterior_opens_with_the_groups_of_arviz(folder: Path, gent: Result) -> None:
    tree = xarray.open_datatree(folder / "posterior.nc", engine="h5netcdf")
    assert {"posterior", "sample_stats", "observed_data", "constant_data"} <= set(tree.children)
    for index, name in enumerate(gent.law.names()):
        np.testing.assert_array_equal(
            tree["posterior"].dataset[name].values.T.ravel(), gent.particles[:, index]
        )
    assert dict(tree["posterior"].sizes) == {"chain": 50, "draw": 40}  # a chain per particle
    np.testing.assert_array_equal(
        tree["sample_stats"].dataset["lp"].values.T.ravel(), gent.ensemble.log_density
    )
    left = tree["log_likelihood"]["stress"]
    assert left.dims == ("chain", "draw", "datum")
    assert left.shape == (50, 40, 80)
    tree.close()


def test_draws_of_the_mixture_give_its_predictions(folder: Path, gent: Result) -> None:
    """Laws rebuilt from the file, with the parameters it names, give the draws of the bands."""
    tree = xarray.open_datatree(folder / "posterior.nc", engine="h5netcdf")
    found = tree["mixture"].dataset.load()
    assert "mixture" in tree["posterior"].attrs["draws_of"]
    tree.close()
    assert float(found["weight"].sum()) == pytest.approx(1, abs=0.02)
    expected = gent.bands._replace(discrepancy=None).push(gent.problem.train.map)[0]
    for draw in (0, 700, 1999):
        number = int(found["law"][draw])
        law = rebuild(json.loads(str(found["fitted"][number].values)))
        size = int(found["parameters"][number])
        assert tuple(found["parameter"][number].values[:size]) == law.names()
        theta = jnp.asarray(found["theta"][draw].values[:size])
        own = Law(law.graph, theta, law.reference).stress(gent.problem.train.map)
        np.testing.assert_allclose(own, expected[draw], rtol=1e-9, atol=1e-9)


def test_predictions_hold_both_distributions_apart(folder: Path) -> None:
    found = xarray.open_dataset(folder / "predictions.nc", engine="h5netcdf")
    outer = found["posterior_predictive"].sel(quantile=[0.025, 0.975]).diff("quantile")
    inner = found["push_forward"].sel(quantile=[0.025, 0.975]).diff("quantile")
    assert float(outer.mean()) > 2 * float(inner.mean())
    assert found.sizes["point"] == 1000
    found.close()


def test_law_of_the_folder_predicts_what_the_summary_prints(folder: Path, gent: Result) -> None:
    law, _ = law_json.read(folder / "law.json")
    np.testing.assert_array_equal(law.values, gent.law.values)
    stored = json.loads((folder / "law.json").read_text())
    assert stored["closed_form"]["text"] == json.loads((folder / "summary.json").read_text())["law"]


def test_report_is_one_offline_file(folder: Path) -> None:
    page = (folder / "report.html").read_text()
    assert page.count("data:image/png;base64,") == len(DRAWN)
    assert not re.search(r"""(src|href)=["'](?!data:)""", page)
    assert "Admissible" in page
    assert all(f"<td>{name}</td>" in page for name in (*BY_SIGNS, "growth as J → 0"))


def test_labels_are_escaped(quick: Result, tmp_path: Path) -> None:
    nasty = quick.study.model_copy(update={"title": "<script>alert(1)</script>"})
    steinmetz.save(dataclasses.replace(quick, study=nasty), tmp_path / "run")
    text = (tmp_path / "run" / "report.html").read_text()
    assert "<script>alert" not in text
    assert "&lt;script&gt;" in text


def test_earlier_run_is_replaced_and_other_folders_are_not(quick: Result, tmp_path: Path) -> None:
    target = tmp_path / "run"
    steinmetz.save(quick, target)
    (target / "mine.txt").write_text("old")
    steinmetz.save(quick, target)
    assert not (target / "mine.txt").exists()
    other = tmp_path / "other"
    other.mkdir()
    (other / "thesis.tex").write_text("precious")
    with pytest.raises(InputError, match="holds other files"):
        steinmetz.save(quick, other)
    assert (other / "thesis.tex").read_text() == "precious"


def test_failure_while_writing_leaves_nothing_behind(
    quick: Result, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    target = tmp_path / "run"
    steinmetz.save(quick, target)
    before = (target / "summary.json").read_bytes()

    def fail(*_: object) -> NoReturn:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(page, "render", fail)
    with pytest.raises(OSError, match="No space"):
        steinmetz.save(quick, target)
    assert os.listdir(tmp_path) == ["run"]
    assert (target / "summary.json").read_bytes() == before


def test_links_in_place_of_a_folder_are_refused_before_the_work(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to("real")
    (tmp_path / "dangling").symlink_to("nowhere")
    for target in ("link", "dangling", "dangling/run"):
        with pytest.raises(InputError, match="link to"):
            files.check_target(tmp_path / target)
    files.check_target(tmp_path / "link" / "run")


@pytest.mark.parametrize("place", ["/dev/null/run", "/proc/run"])
def test_unwritable_place_is_refused(place: str) -> None:
    from pathlib import Path

    with pytest.raises(InputError, match="cannot write there"):
        files.check_target(Path(place))
