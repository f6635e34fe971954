"""What the tests of documents share: the pages' generator, and studies that take seconds."""

import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from cases import QUICK
from steinmetz.potentials import terms
from steinmetz.studies.study import Study

sys.path.insert(0, str(Path(__file__).parents[2] / "docs"))  # the package `pages`

# Sizes at which a study takes seconds, whatever sampler it names.
SIZES = {
    **{key: value for key, value in QUICK.items() if not key.endswith((".method", ".name"))},
    "infer.chains": 2,
    "infer.warm_up": 50,
    "infer.thin": 10,
}


def quickened(study: Study, given: Mapping[str, object]) -> Study:
    """The study with quick sizes where its classes have such a field and the text gives none."""
    sections = {}
    composed = isinstance(study.potential, terms.Config)
    for name in {key.partition(".")[0] for key in SIZES} - ({"sparsify"} if composed else set()):
        section = getattr(study, name)
        sizes = {
            field: SIZES[f"{name}.{field}"]
            for field in type(section).model_fields
            if f"{name}.{field}" in SIZES and f"{name}.{field}" not in given
        }
        sections[name] = type(section).model_validate({**section.model_dump(), **sizes})
    return study.model_copy(update=sections)


@pytest.fixture
def quick(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """Every study that is read, by whatever command or function, is quick; files go to `tmp_path`.

    The text that a reader sees is what runs: sizes and methods it names itself stay as they are.
    Where it names nothing of a sampler, the one that compiles fastest takes the place of `auto`.
    """
    from steinmetz.studies import config

    build = config.build

    def quick_build(
        raw: dict[str, Any], changes: Mapping[str, object] | None = None, source: str = "study"
    ) -> Study:
        changes = dict(changes or {})
        named = raw.get("infer", {}).get("method", "auto") != "auto"
        if not named and not any(key.startswith("infer.") for key in changes):
            changes["infer.method"] = QUICK["infer.method"]
        return quickened(build(raw, changes, source), changes)

    monkeypatch.setattr(config, "build", quick_build)
    monkeypatch.chdir(tmp_path)
    return tmp_path
