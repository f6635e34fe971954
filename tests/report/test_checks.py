"""`steinmetz diagnose`: checks of a saved run, from its summary alone."""

import json

import pytest

from steinmetz.errors import InputError
from steinmetz.report import checks
from steinmetz.report.summary import summarise


@pytest.fixture(scope="module")
def folder(gent, tmp_path_factory):
    """A folder with nothing but the summary of the main run."""
    path = tmp_path_factory.mktemp("run")
    (path / "summary.json").write_text(json.dumps(summarise(gent)), encoding="utf-8")
    return path


def test_the_main_run_passes(folder):
    summary = checks.read(folder)
    results = checks.examine(summary)
    assert [check.name for check in results if not check.passed] == []
    assert "R-hat" in {check.name for check in results}
    assert f"{len(results)} of {len(results)} checks pass" in checks.screen(
        results, summary, folder
    )


def test_failures_are_shown_with_advice(folder):
    summary = checks.read(folder)
    summary["admissible"]["violated"] = 2
    summary["inference"]["r_hat"] = 1.2
    results = checks.examine(summary)
    assert [check.name for check in results if not check.passed] == ["R-hat", "admissible laws"]
    text = checks.screen(results, summary, folder)
    assert "FAIL  R-hat" in text
    assert text.count("→ ") == 2


def test_no_run_and_a_run_of_another_version_are_refused(folder, tmp_path):
    with pytest.raises(InputError, match="no finished run"):
        checks.read(tmp_path)
    summary = checks.read(folder)
    del summary["inference"]["capabilities"]
    (tmp_path / "summary.json").write_text(json.dumps(summary), encoding="utf-8")
    with pytest.raises(InputError, match="damaged or of another version"):
        checks.read(tmp_path)
