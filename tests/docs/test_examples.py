"""Every example runs, with quick settings, and gives the number it is there for."""

import runpy
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from .blocks import ROOT

Checks = dict[str, Callable[[dict[str, Any]], bool]]

EXAMPLES = sorted((ROOT / "examples").glob("*.py"))


@pytest.fixture(scope="module")
def checks() -> Checks:
    """What each example must end with: name of the file → one statement about its variables."""
    return {
        "fit_a_study": lambda names: names["r2"] > 0.99,
        "fit_a_table": lambda names: names["r2"] > 0.99,
        "fit_three_tests": lambda names: names["r2"] > 0.999,
        "sample_a_density": lambda names: np.allclose(names["deviation"], [1, 1.5], rtol=0.15),
    }


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_example(
    path: Path, checks: Checks, quick: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    names = runpy.run_path(str(path))
    assert checks[path.stem](names), capsys.readouterr().out
    text = path.read_text(encoding="utf-8")
    assert f"Run it with `python examples/{path.name}`." in text
    assert text.count("\n") <= 60
