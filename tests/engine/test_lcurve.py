"""L-curves: every network of the grid, and a choice that follows its rule."""

import csv
import json
from pathlib import Path

import numpy as np
import pytest

import steinmetz
from cases import QUICK, ROW, STATE
from steinmetz import InputError
from steinmetz.engine.lcurve import LCurve
from steinmetz.report import lcurves

SMALL = {**QUICK, "sparsify.stride": 60}


@pytest.fixture(scope="module")
def curve() -> LCurve:
    study = steinmetz.study("hyperelasticity", SMALL)
    return steinmetz.lcurve(study, steinmetz.Plan(("l0", "l1"), (0.0, 0.1), 3, 2))


def test_every_network_of_the_grid_is_there(curve: LCurve) -> None:
    assert len(curve.points) == 2 * 2 * 3 * 2
    assert {(p.method, p.noise) for p in curve.points} == {
        (m, n) for m in ("l0", "l1") for n in (0.0, 0.1)
    }
    for point in curve.points:
        assert point.pruned <= point.nonzero


def test_choice_is_the_lowest_criterion_and_says_so(curve: LCurve) -> None:
    cells = 480
    for pick in curve.picks:
        own = [
            p
            for p in curve.points
            if (p.method, p.noise) == (pick.method, pick.noise) and np.isfinite(p.loss)
        ]
        best = min(
            (p for p in own if p.nonzero), key=lambda p: p.loss * cells + p.pruned * np.log(cells)
        )
        assert pick.penalty == best.penalty
        assert "lowest χ² + k log n" in pick.reason


def test_files_hold_the_points_and_the_choices(curve: LCurve, tmp_path: Path) -> None:
    steinmetz.save_lcurve(curve, tmp_path / "curve")
    with (tmp_path / "curve" / "lcurve.csv").open(encoding="utf-8") as stream:
        rows = list(csv.DictReader(stream))
    assert len(rows) == len(curve.points)
    assert float(rows[0]["loss"]) == curve.points[0].loss
    assert len(json.loads((tmp_path / "curve" / "lcurve.json").read_text())["picks"]) == 4
    assert (tmp_path / "curve" / "lcurve.png").stat().st_size > 20_000


def test_target_count_chooses_the_penalty() -> None:
    study = steinmetz.study("hyperelasticity", SMALL)
    found = steinmetz.lcurve(study, steinmetz.Plan(("l1",), None, 3, 2, parameters=6))
    (pick,) = found.picks
    counts = [point.pruned for point in found.points if point.nonzero and np.isfinite(point.loss)]
    assert f"{min(counts, key=lambda k: abs(k - 6))} parameters, nearest to the 6" in pick.reason


def test_a_study_of_terms_has_the_curve_of_the_usual_network() -> None:
    """What no one has to know: an L-curve is of a network, and says of which."""
    small = {key: value for key, value in SMALL.items() if not key.startswith("potential.")}
    study = steinmetz.study("hyperelasticity", {**small, "sparsify.steps": 5, "sparsify.stride": 5})
    assert study.potential.name == "terms"
    found = steinmetz.lcurve(study, steinmetz.Plan(("l0",), None, 2, 1))
    assert found.full == 1113
    assert found.study == steinmetz.study(
        "hyperelasticity",
        {**small, "sparsify.steps": 5, "sparsify.stride": 5, "potential.name": "icnn"},
    )
    assert "--set potential.name=icnn" in lcurves.screen(found, Path("curve"))


def test_noise_levels_are_refused_for_measured_rows(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text(f"{STATE},S11\n{ROW},0.3\n")
    study = steinmetz.measured(tmp_path / "a.csv", changes=SMALL)
    with pytest.raises(InputError, match="measured table has the noise it has"):
        steinmetz.lcurve(study, steinmetz.Plan(noises=(0.0, 0.1)))
