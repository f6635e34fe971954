"""A nearly incompressible material through the whole pipeline: every output has the volume part."""

import json
from pathlib import Path

import numpy as np
import pytest

import steinmetz
from steinmetz import InputError, Result

KAPPA = 500.0
QUICK = {
    "data.count": 6,
    "infer.particles": 8,
    "infer.steps": 10,
    "potential.most": 2,
    "assess.certificate_states": 50,
    "assess.path_points": 12,
    "assess.test_count": 20,
    "assess.noise_draws": 4,
}


@pytest.fixture(scope="module")
def rubber() -> Result:
    return steinmetz.run(steinmetz.study("rubber_tests", {"material.bulk": KAPPA, **QUICK}))


def test_stress_follows_from_the_volume_without_a_free_face(rubber: Result) -> None:
    """Swelling alone: σ = κ (J − 1), and what the shape adds is as small as the shear modulus."""
    J = 1.01
    hydrostatic = rubber.stress([J ** (1 / 3) * np.eye(3)], "sigma11")
    assert np.median(hydrostatic) == pytest.approx(KAPPA * (J - 1), rel=0.01)
    held = np.diag([1.3, 1.3**-0.5, 1.3**-0.5])[None]
    difference = rubber.stress(held, "sigma11") - rubber.stress(held, "sigma22")
    np.testing.assert_allclose(difference, rubber.stress(held, "sigma11", free="22"), atol=1e-9)


def test_everything_that_is_written_has_the_volume_part(rubber: Result, tmp_path: Path) -> None:
    summary = rubber.save(tmp_path / "run")
    law = json.loads((tmp_path / "run" / "law.json").read_text())
    assert law["inputs"] == ["I1", "I2", "J"]
    assert law["parameters"][-1]["value"] == KAPPA / 2
    assert "(J - 1)**2" in summary.law
    assert summary.moduli["K"].map == pytest.approx(KAPPA, rel=0.01)
    assert any("tests are analysed with J = 1; κ = 500" in note for note in summary.data.notes)
    points = {point.name: point.status for point in summary.admissible.points}
    assert (points["polyconvex"], points["growth as J → 0"]) == ("proven", "proven")
    assert summary.admissible.violated == 0
    again, F = steinmetz.load(tmp_path / "run"), [1.1 * np.eye(3)]
    np.testing.assert_array_equal(again.stress(F, "P11"), rubber.stress(F, "P11"))


def test_networks_cannot_be_completed() -> None:
    study = steinmetz.study("rubber_tests", {"material.bulk": KAPPA, "potential.name": "icnn"})
    with pytest.raises(InputError, match="completes laws composed of terms"):
        steinmetz.run(study)


def test_a_soft_volume_is_noted(rubber: Result, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("steinmetz.report.summary._STIFF", KAPPA)
    assert any("times the shear modulus" in note for note in rubber.summary.data.notes)
