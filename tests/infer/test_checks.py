"""Every check passes and fails where it should, and applies to methods that declare it."""

import math

import pytest

from steinmetz.infer.base import settings_of
from steinmetz.infer.checks import Inference, examine

GOOD = {
    "reason": "asked for by name", "stopped": "all 4400 steps done", "steps": 4400,
    "particles": 50, "snapshots": 40, "draws": 2000, "frozen": (), "direction": 0.001,
    "discrepancy": 0.16, "expected": 0.15, "variance": (0.9, 1.2), "mean_variance": 1.02,
    "r_hat": 1.004, "bulk": 1500.0, "tail": 900.0,
    "totals": {
        "divergent": 0.0, "accepted": 570.0, "tried": 1000.0, "missing": 0.0, "evidence": -40.0,
    },
    "facts": {"evidence of modes": -38.0, "dimension": 5.0},
}  # fmt: skip
WORK = {"accepted": 570.0, "tried": 1000.0}


def done(method: str, **changes: object) -> Inference:
    capabilities = settings_of(method).capabilities
    return Inference(**{"method": method, "capabilities": capabilities, **GOOD, **changes})


def failed(method: str, **changes: object) -> list[str]:
    return [check.name for check in examine(done(method, **changes)) if not check.passed]


def test_a_check_applies_where_the_method_declares_it() -> None:
    always = {"finite particles", "Stein discrepancy", "variance over Laplace's"}
    chains = {"R-hat", "effective draws, bulk", "effective draws, tail"}
    expected = {
        "svgd": {"at rest"},
        "psvgd": {"at rest"},
        "ssvgd": chains,
        "ssvn": chains | {"accepted moves"},
        "hmc": chains | {"divergences"},
        "nuts": chains | {"divergences"},
        "smc": chains | {"accepted moves", "whole likelihood", "evidence"},
        "l1flow": set(),
    }
    for method, more in expected.items():
        assert {check.name for check in examine(done(method))} == always | more
        assert failed(method) == []


@pytest.mark.parametrize(
    ("method", "changes", "name"),
    [
        ("ssvn", {"frozen": (3, 4)}, "finite particles"),
        ("ssvn", {"r_hat": 1.2}, "R-hat"),
        ("ssvn", {"r_hat": None}, "R-hat"),
        ("ssvn", {"bulk": 30.0}, "effective draws, bulk"),
        ("ssvn", {"tail": None}, "effective draws, tail"),
        ("svgd", {"discrepancy": 9.0}, "Stein discrepancy"),
        ("svgd", {"discrepancy": math.nan}, "Stein discrepancy"),
        ("svgd", {"mean_variance": 0.2, "variance": (0.1, 0.3)}, "variance over Laplace's"),
        ("ssvn", {"totals": {"accepted": 1.0, "tried": 100.0}}, "accepted moves"),
        ("svgd", {"direction": 0.5}, "at rest"),
        ("svgd", {"direction": math.inf}, "at rest"),
        ("nuts", {"totals": {"divergent": 4.0}}, "divergences"),
        ("smc", {"totals": {**WORK, "missing": 0.1, "evidence": -40.0}}, "whole likelihood"),
        ("smc", {"totals": {**WORK, "missing": 0.0, "evidence": -40.6}}, "evidence"),
    ],
)
def test_each_failure_is_found_and_has_advice(
    method: str, changes: dict[str, object], name: str
) -> None:
    assert failed(method, **changes) == [name]
    (check,) = [check for check in examine(done(method, **changes)) if not check.passed]
    assert check.advice


def test_modes_are_weighed_by_particles_that_come_from_the_prior() -> None:
    """Others must change between two modes to know their shares."""
    two = {"starts": 12, "modes": (0.7, 0.3), "exchanges": 0}
    assert failed("nuts", **two) == ["modes"]
    assert failed("smc", **two) == []


def test_a_record_survives_being_saved() -> None:
    record = done("ssvn", discrepancy=math.nan)
    assert Inference.model_validate_json(record.model_dump_json()) == record
    assert record.discrepancy is None
