"""`steinmetz diagnose`: every check passes where it should, fails where it should, and then says what to do."""

from pathlib import Path

import pytest

from steinmetz.report import checks
from steinmetz.report.summary import summarise


@pytest.fixture(scope="module")
def summary(gent):
    return summarise(gent)


def failed(summary, **changes):
    changed = {**summary, "inference": {**summary["inference"], **changes}}
    return [check.name for check in checks.examine(changed) if not check.passed]


def test_the_main_run_passes(summary):
    assert failed(summary) == []


@pytest.mark.parametrize(
    ("changes", "name"),
    [
        ({"frozen": [3, 4]}, "finite particles"),
        ({"r_hat": 1.2}, "R-hat"),
        ({"r_hat": None}, "R-hat"),
        ({"bulk": 30.0}, "effective draws, bulk"),
        ({"tail": None}, "effective draws, tail"),
        ({"discrepancy": 9.0}, "Stein discrepancy"),
        ({"discrepancy": None}, "Stein discrepancy"),
        ({"mean_variance": 0.2, "variance": [0.1, 0.3]}, "variance over Laplace's"),
        ({"accepted": 1.0}, "accepted moves"),
        ({"method": "svgd", "direction": 0.5}, "at rest"),
        ({"method": "nuts", "divergent": 4.0}, "divergences"),
    ],
)
def test_each_failure_is_found_and_has_advice(summary, changes, name):
    assert failed(summary, **changes) == [name]
    changed = {**summary, "inference": {**summary["inference"], **changes}}
    text = checks.screen(checks.examine(changed), changed, Path("runs/x"))
    assert f"FAIL  {name}" in text
    assert "→ " in text


def test_a_violated_law_fails(summary):
    broken = {**summary, "admissible": {**summary["admissible"], "violated": 2}}
    assert [check.name for check in checks.examine(broken) if not check.passed] == [
        "admissible laws"
    ]
