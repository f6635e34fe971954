"""`steinmetz diagnose`: checks of a saved run, from its summary alone."""

import json
from pathlib import Path

import pytest

from steinmetz.api import Result
from steinmetz.errors import InputError
from steinmetz.report import checks, screen, summary
from steinmetz.report.summary import Summary


@pytest.fixture(scope="module")
def folder(gent: Result, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with nothing but the summary of the main run."""
    path = tmp_path_factory.mktemp("run")
    text = summary.summarise(gent).model_dump_json()
    (path / "summary.json").write_text(text, encoding="utf-8")
    return path


def test_the_main_run_was_sampled_well(folder: Path) -> None:
    numbers = summary.read(folder)
    results = checks.examine(numbers)
    assert [check.name for check in results if not check.passed] == []
    names = {"R-hat", "fit quality", "stated noise", "no trend left", "coverage, 90 % band"}
    assert names <= {check.name for check in results}
    text = checks.screen(results, numbers, folder)
    assert f"{len(results)} of {len(results)} checks pass" in text


def test_failures_are_shown_with_advice(folder: Path) -> None:
    numbers = summary.read(folder)
    sound = list(numbers.admissible.points)
    names = [point.name for point in sound]
    place = names.index("bulk modulus")
    sound[place] = sound[place].model_copy(update={"violated": 2, "status": "violated"})
    proof = numbers.admissible.model_copy(update={"violated": 2, "points": sound})
    done = numbers.inference.model_copy(update={"r_hat": 1.2})
    broken = numbers.model_copy(update={"admissible": proof, "inference": done})
    results = checks.examine(broken)
    assert [check.name for check in results if not check.passed] == ["R-hat", "bulk modulus"]
    text = checks.screen(results, broken, folder)
    assert "FAIL  R-hat" in text
    assert "FAIL  bulk modulus" in text
    assert "1999 of 2001 laws" in text
    assert text.count("        → ") == 2


def test_every_point_that_is_demanded_has_a_check_and_advice(folder: Path) -> None:
    numbers = summary.read(folder)
    points = [point for point in numbers.admissible.points if point.status != "not demanded"]
    results = {check.name: check for check in checks.examine(numbers)}
    assert {point.name for point in points} <= set(results)
    assert all(results[point.name].advice != checks._OTHERWISE for point in points)
    idle = [point.model_copy(update={"status": "not demanded"}) for point in points]
    proof = numbers.admissible.model_copy(update={"points": idle})
    left = {
        check.name for check in checks.examine(numbers.model_copy(update={"admissible": proof}))
    }
    assert left == set(results) - {point.name for point in points}


def with_misfit(numbers: Summary, value: float) -> Summary:
    """The same run with another χ²/n."""
    misfit = numbers.fit.misfit.model_copy(update={"value": value})
    return numbers.model_copy(update={"fit": numbers.fit.model_copy(update={"misfit": misfit})})


@pytest.mark.parametrize(("value", "remedy"), [(18.0, "take a larger row"), (0.02, "lower noise")])
def test_a_bad_fit_changes_the_last_line_of_the_screen(
    folder: Path, value: float, remedy: str
) -> None:
    numbers = summary.read(folder)
    last = screen.final(with_misfit(numbers, value), folder).splitlines()[-1]
    assert "1 of" in last
    assert "fit quality" in last
    assert f"χ²/n {value:g}" in last
    assert remedy in last
    assert f"steinmetz diagnose {folder}" in last


def test_no_run_and_a_run_of_another_version_are_refused(folder: Path, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no finished run"):
        summary.read(tmp_path)
    stored = json.loads((folder / "summary.json").read_text(encoding="utf-8"))
    del stored["inference"]["capabilities"]
    (tmp_path / "summary.json").write_text(json.dumps(stored), encoding="utf-8")
    with pytest.raises(InputError, match="damaged or of another version"):
        summary.read(tmp_path)
