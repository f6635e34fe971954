"""Cells of text in little memory: what goes in comes out."""

import tracemalloc

import numpy as np

from steinmetz.data.cells import Cells

ROWS = [["1.5", "", "λ"], ["-2e3", "a word that is longer than others", "x"], ["", "3", ""]]


def test_rows_and_columns_come_back() -> None:
    cells = Cells.of(iter(ROWS), 3)
    assert len(cells) == 3
    assert list(cells) == ROWS
    assert cells.column(2) == ["λ", "x", ""]
    assert list(cells.columns([1])) == [[row[1]] for row in ROWS]
    assert list(cells.rows(slice(1, None))) == ROWS[1:]
    assert list(cells.rows(np.array([2, 0]))) == [ROWS[2], ROWS[0]]
    assert len(cells.rows(np.array([], int))) == 0
    assert list(cells.replaced([["u", "v", "w"]])) == [["u"], ["v"], ["w"]]
    assert list(Cells.of([], 2)) == []


def test_a_short_cell_takes_few_bytes() -> None:
    rows = 50_000
    tracemalloc.start()
    cells = Cells.of((["0.12345678", "1.2345678"] for _ in range(rows)), 2)
    taken = tracemalloc.get_traced_memory()[0]
    tracemalloc.stop()
    assert len(cells) == rows
    assert taken < 40 * 2 * rows  # as Python's own strings: 59 and a pointer of 8
