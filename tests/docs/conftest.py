"""What the tests of documents share: the pages' generator, and studies that take seconds."""

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[2] / "docs"))  # the package `pages`

# Sizes at which a study takes seconds; a section's field is only set where its class has it.
QUICK = {
    "potential": {"widths": (6, 6)},
    "sparsify": {
        "restarts": 2, "steps": 600, "stride": 100, "penalties": 2, "max_parameters": 24, "beam": 2,
        "candidates": 2,
    },
    "infer": {"particles": 20, "chains": 2, "warm_up": 50, "steps": 100, "thin": 10},
    "assess": {
        "path_points": 50, "noise_draws": 50, "test_count": 100, "certificate_states": 500,
    },
}  # fmt: skip


def quickened(study, given):
    """The study with quick sizes, but for those that are `given` in the text."""
    sections = {}
    for name, sizes in QUICK.items():
        section = getattr(study, name)
        fields = [key for key in type(section).model_fields if f"{name}.{key}" not in given]
        update = {key: size for key, size in sizes.items() if key in fields}
        sections[name] = section.model_copy(update=update)
    return study.model_copy(update=sections)


@pytest.fixture
def quick(monkeypatch, tmp_path):
    """Every study that is read, by whatever command or function, is quick; files go to `tmp_path`.

    The text that a reader sees is what runs: sizes and methods it names itself stay as they are.
    Where it names nothing of a sampler, the one that compiles fastest takes the place of `auto`.
    """
    from steinmetz.studies import config

    build = config.build

    def quick_build(raw, changes=None, source="study"):
        changes = dict(changes or {})
        if not any(key.startswith("infer.") for key in changes):
            changes["infer.method"] = "svgd"
        return quickened(build(raw, changes, source), changes)

    monkeypatch.setattr(config, "build", quick_build)
    monkeypatch.chdir(tmp_path)
    return tmp_path
