"""Files that say the same thing twice say the same."""

import re
import tomllib

from cases import present

from .blocks import ROOT

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]


def text(name: str) -> str:
    return (ROOT / name).read_text(encoding="utf-8")


def test_one_version_with_one_date() -> None:
    citation = dict(
        re.findall(r'^(version|date-released): "?([\d.-]+)"?$', text("CITATION.cff"), re.M)
    )
    released = re.findall(r"^## \[([\d.]+)\] - (\d{4}-\d{2}-\d{2})$", text("CHANGELOG.md"), re.M)
    assert text("CHANGELOG.md").index("## [Unreleased]") < text("CHANGELOG.md").index("## [0.1.0]")
    assert released[0] == (citation["version"], citation["date-released"])
    assert citation["version"] == PROJECT["version"]


def test_what_is_installed_for_tests_and_documents_is_pinned() -> None:
    pinned = set(
        re.findall(r"^([\w.-]+)==", text("constraints.txt").lower().replace("_", "-"), re.M)
    )
    extras = PROJECT["optional-dependencies"]
    named = [*PROJECT["dependencies"], *extras["dev"], *extras["docs"]]
    assert {present(re.match(r"[\w.-]+", entry))[0].lower() for entry in named} <= pinned


def test_the_workflow_runs_what_a_person_types() -> None:
    assert re.findall(r"run: (.*)", text(".github/workflows/test.yml")) == ["bash .ci/run"]
    steps = [line for line in text(".ci/run").splitlines() if line.startswith("make ")]
    assert steps == ["make sbom", "make test", "make test-newer"]
