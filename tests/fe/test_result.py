"""From a finished run to fields, files and words."""

import json
from pathlib import Path

import numpy as np
import pytest

import steinmetz
from steinmetz.api import Result
from steinmetz.errors import InputError
from steinmetz.fe import result, written
from steinmetz.fe.result import Asked

SMALL = Asked("cook", cells=2, steps=2, draws=5, limit=0.1)


@pytest.fixture(scope="module")
def part(quick: Result) -> result.Result:
    return quick.finite_elements(SMALL)


def test_bands_of_a_run(part: result.Result) -> None:
    tip = part.quantities["tip y"]
    assert part.found.solved.all()
    assert tip.mean.shape == (2,)
    assert 0 < tip.lower[-1] <= tip.median[-1] <= tip.upper[-1]
    assert tip.mean[-1] > tip.mean[0] > 0
    assert part.linear["tip y"].mean[-1] == pytest.approx(tip.mean[-1], rel=0.05)


def test_fields_of_a_run(part: result.Result) -> None:
    """The traction is the stress on the loaded edge; the limit is a probability."""
    nodes = len(part.problem.space.mesh.points)
    assert part.fields.displacement.sd.shape == (nodes, 2)
    assert part.fields.stress.mean.shape == (nodes, 7)
    assert part.fields.exceeded is not None
    assert ((part.fields.exceeded >= 0) & (part.fields.exceeded <= 1)).all()
    assert 0 <= part.extrapolated <= 1
    held = part.problem.space.mesh.on(x=0.0)
    assert np.abs(part.fields.displacement.mean[held]).max() == 0


def test_files_and_words(part: result.Result, tmp_path: Path) -> None:
    summary = steinmetz.save_part(part, tmp_path / "part")
    stored = json.loads((tmp_path / "part" / "fe.json").read_text(encoding="utf-8"))
    assert stored["quantities"]["tip y"][-1]["mean"] == summary.quantities["tip y"][-1].mean
    assert {file.name for file in (tmp_path / "part").iterdir()} == {
        "fe.json", "fields.vtu", "fields.png", "load.png",
    }  # fmt: skip
    text = written.screen(part, summary, tmp_path / "part")
    assert "5 of 5 draws in equilibrium" in text
    assert "is exceeded with probability" in text


def test_failed_draws_are_named_in_words(part: result.Result, tmp_path: Path) -> None:
    values = part.found.quantities.copy()
    values[:, 3] = np.nan
    lost = part._replace(found=part.found._replace(quantities=values))
    text = written.screen(lost, written.summarise(lost), tmp_path)
    assert "4 of 5 draws in equilibrium" in text
    assert "1 failed: 3" in text


@pytest.mark.parametrize(
    ("stated", "said"),
    [(None, "K = 500, 1000 shear moduli: state another with --bulk\n"), (500.0, "K = 500\n")],
)
def test_the_bulk_modulus_is_said(
    part: result.Result, tmp_path: Path, stated: float | None, said: str
) -> None:
    soft = part._replace(bulk=500.0, asked=SMALL._replace(bulk=stated))
    summary = written.summarise(soft)
    assert summary.bulk == 500.0
    assert said in written.screen(soft, summary, tmp_path)
    assert "incompressible" not in written.screen(part, written.summarise(part), tmp_path)


def test_vtu_is_read_by_meshio(part: result.Result, tmp_path: Path) -> None:
    meshio = pytest.importorskip("meshio", reason="meshio reads VTU: pip install meshio")
    steinmetz.save_part(part, tmp_path / "part")
    read = meshio.read(tmp_path / "part" / "fields.vtu")
    wanted = part.fields.stress.mean[:, -1]
    assert np.allclose(read.point_data["von Mises mean"], wanted, rtol=1e-8)
    assert read.cells[0].type == "quad9"


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        (Asked("beam"), "there is no problem 'beam'; possible: cook, plate-with-hole"),
        (Asked("none.msh"), "there is no such file"),
        (Asked(level=1.5), "between 0 and 1"),
        (Asked(bulk=100.0), "leave it out"),
    ],
)
def test_what_cannot_be_asked(quick: Result, asked: Asked, said: str) -> None:
    with pytest.raises(InputError, match=said):
        quick.finite_elements(asked)
