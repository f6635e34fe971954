"""`steinmetz diagnose`: checks of a saved run, from its summary alone."""

import json

import pytest

from steinmetz.errors import InputError
from steinmetz.report import checks, screen, summary


@pytest.fixture(scope="module")
def folder(gent, tmp_path_factory):
    """A folder with nothing but the summary of the main run."""
    path = tmp_path_factory.mktemp("run")
    text = summary.summarise(gent).model_dump_json()
    (path / "summary.json").write_text(text, encoding="utf-8")
    return path


def test_the_main_run_passes(folder):
    numbers = summary.read(folder)
    results = checks.examine(numbers)
    assert [check.name for check in results if not check.passed] == []
    names = {"R-hat", "fit quality", "stated noise", "no trend left", "coverage, 90 % band"}
    assert names <= {check.name for check in results}
    text = checks.screen(results, numbers, folder)
    assert f"{len(results)} of {len(results)} checks pass" in text


def test_failures_are_shown_with_advice(folder):
    numbers = summary.read(folder)
    proof = numbers.admissible.model_copy(update={"violated": 2})
    done = numbers.inference.model_copy(update={"r_hat": 1.2})
    broken = numbers.model_copy(update={"admissible": proof, "inference": done})
    results = checks.examine(broken)
    assert [check.name for check in results if not check.passed] == ["R-hat", "admissible laws"]
    text = checks.screen(results, broken, folder)
    assert "FAIL  R-hat" in text
    assert text.count("→ ") == 2


def with_misfit(numbers, value):
    """The same run with another χ²/n."""
    misfit = numbers.fit.misfit.model_copy(update={"value": value})
    return numbers.model_copy(update={"fit": numbers.fit.model_copy(update={"misfit": misfit})})


@pytest.mark.parametrize(("value", "remedy"), [(18.0, "take a larger row"), (0.02, "lower noise")])
def test_a_bad_fit_changes_the_last_line_of_the_screen(folder, value, remedy):
    numbers = summary.read(folder)
    last = screen.final(numbers, folder).splitlines()[-1]
    assert last.endswith(f"all {len(checks.examine(numbers))} checks pass")
    last = screen.final(with_misfit(numbers, value), folder).splitlines()[-1]
    assert "1 of" in last
    assert "fit quality" in last
    assert f"χ²/n {value:g}" in last
    assert remedy in last
    assert f"steinmetz diagnose {folder}" in last


def test_no_run_and_a_run_of_another_version_are_refused(folder, tmp_path):
    with pytest.raises(InputError, match="no finished run"):
        summary.read(tmp_path)
    stored = json.loads((folder / "summary.json").read_text(encoding="utf-8"))
    del stored["inference"]["capabilities"]
    (tmp_path / "summary.json").write_text(json.dumps(stored), encoding="utf-8")
    with pytest.raises(InputError, match="damaged or of another version"):
        summary.read(tmp_path)
