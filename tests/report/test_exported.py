"""The command `export`: files, draws of the posterior, and the table of their constants."""

import csv
from pathlib import Path

import numpy as np
import pytest

from steinmetz.api import Result
from steinmetz.errors import InputError
from steinmetz.finished import export


def test_a_table_has_the_constants_of_every_draw(
    quick: Result, quick_folder: Path, tmp_path: Path
) -> None:
    """Draw 0 is the law; the order is that of the properties of a routine."""
    export(quick_folder, "fortran-umat", tmp_path / "umat.f", None, tmp_path / "draws.csv")
    with (tmp_path / "draws.csv").open(encoding="utf-8") as stream:
        head, *rows = csv.reader(stream)
    assert head == ["draw", *quick.law.names()]
    values = np.array(rows, float)
    np.testing.assert_array_equal(values[:, 0], np.arange(len(quick.particles) + 1))
    np.testing.assert_array_equal(values[0, 1:], np.asarray(quick.law.values))
    np.testing.assert_array_equal(values[1:, 1:], quick.particles)
    assert (tmp_path / "umat.f").read_text(encoding="utf-8").endswith("END\n")


def test_a_draw_is_exported_with_its_own_constants(
    quick: Result, quick_folder: Path, tmp_path: Path
) -> None:
    export(quick_folder, "c", tmp_path / "law.h", 3, None)
    text = (tmp_path / "law.h").read_text(encoding="utf-8")
    assert "Draw 3 of the posterior" in text
    assert all(repr(value) in text for value in quick.particles[2].tolist())


def test_a_draw_that_does_not_exist(quick: Result, quick_folder: Path) -> None:
    with pytest.raises(InputError, match=f"has {len(quick.particles)} draws"):
        export(quick_folder, "c", None, len(quick.particles) + 1, None)
