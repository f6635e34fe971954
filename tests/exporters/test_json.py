"""`law.json` gives back the same law, and nothing but a law."""

import copy
import json
from pathlib import Path
from typing import Any

import jax.numpy as jnp
import numpy as np
import pytest

from steinmetz import InputError
from steinmetz.api import Result
from steinmetz.exporters import json as law_json
from steinmetz.exporters.base import About


def test_round_trip_is_exact(quick: Result, tmp_path: Path) -> None:
    path = tmp_path / "law.json"
    about = About("isotropic", "gent")
    path.write_text(law_json.export(quick.law, about), encoding="utf-8")
    law, read = law_json.read(path)
    assert read == about
    np.testing.assert_array_equal(law.values, quick.law.values)
    x = jnp.array([[3.1, 3.2, 1.05]])
    np.testing.assert_array_equal(law.energy(x), quick.law.energy(x))


def spoil(stored: dict[str, Any], *place: str | int, value: object) -> dict[str, Any]:
    stored = copy.deepcopy(stored)
    target: Any = stored
    for key in place[:-1]:
        target = target[key]
    target[place[-1]] = value
    return stored


@pytest.mark.parametrize(
    ("place", "value"),
    [
        (("format",), "other/1"),
        (("units", 0), "__import__('os')"),
        (("edges", 0, "source"), 99),
        (("edges", 0, "parameter"), -1),
        (("parameters", 0, "value"), float("nan")),
        (("parameters", 0, "value"), "1+1"),
        (("reference", "point"), [3.0]),
        (("edges",), 7),
        (("parameters",), None),
    ],
)
def test_damaged_files_are_refused(
    quick: Result, tmp_path: Path, place: tuple[str | int, ...], value: object
) -> None:
    path = tmp_path / "law.json"
    path.write_text(json.dumps(spoil(json.loads(law_json.export(quick.law)), *place, value=value)))
    with pytest.raises(InputError, match="law"):
        law_json.read(path)


def test_negative_value_of_a_constrained_parameter_is_refused(
    quick: Result, tmp_path: Path
) -> None:
    stored = json.loads(law_json.export(quick.law))
    index = quick.law.graph.nonnegative.index(True)
    path = tmp_path / "law.json"
    path.write_text(json.dumps(spoil(stored, "parameters", index, "value", value=-1.0)))
    with pytest.raises(InputError, match="not allowed"):
        law_json.read(path)


@pytest.mark.parametrize("text", ["", "{", "[]", "3", "[" * 100_000])
def test_text_that_is_no_law(tmp_path: Path, text: str) -> None:
    path = tmp_path / "law.json"
    path.write_text(text)
    with pytest.raises(InputError, match="law"):
        law_json.read(path)
