"""`steinmetz diagnose`: checks of a saved run, from its summary alone."""

import json
from pathlib import Path

import pytest

from steinmetz.api import Result
from steinmetz.errors import InputError
from steinmetz.report import checks, summary


@pytest.fixture(scope="module")
def folder(gent: Result, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with nothing but the summary of the main run."""
    path = tmp_path_factory.mktemp("run")
    text = summary.summarise(gent).model_dump_json()
    (path / "summary.json").write_text(text, encoding="utf-8")
    return path


def test_the_main_run_passes(folder: Path) -> None:
    numbers = summary.read(folder)
    results = checks.examine(numbers)
    assert [check.name for check in results if not check.passed] == []
    assert "R-hat" in {check.name for check in results}
    text = checks.screen(results, numbers, folder)
    assert f"{len(results)} of {len(results)} checks pass" in text


def test_failures_are_shown_with_advice(folder: Path) -> None:
    numbers = summary.read(folder)
    proof = numbers.admissible.model_copy(update={"violated": 2})
    done = numbers.inference.model_copy(update={"r_hat": 1.2})
    broken = numbers.model_copy(update={"admissible": proof, "inference": done})
    results = checks.examine(broken)
    assert [check.name for check in results if not check.passed] == ["R-hat", "admissible laws"]
    text = checks.screen(results, broken, folder)
    assert "FAIL  R-hat" in text
    assert text.count("→ ") == 2


def test_no_run_and_a_run_of_another_version_are_refused(folder: Path, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no finished run"):
        summary.read(tmp_path)
    stored = json.loads((folder / "summary.json").read_text(encoding="utf-8"))
    del stored["inference"]["capabilities"]
    (tmp_path / "summary.json").write_text(json.dumps(stored), encoding="utf-8")
    with pytest.raises(InputError, match="damaged or of another version"):
        summary.read(tmp_path)
