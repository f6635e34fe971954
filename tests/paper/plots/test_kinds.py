"""Kinds of figures are found by their file, and each says what it measures, draws and tells."""

import pytest

from paper.conftest import Outcomes
from steinmetz.paper import grids
from steinmetz.paper.records import Kind

KINDS = grids.kinds()


def test_there_is_a_figure_of_every_kind() -> None:
    assert {grids.load(name).kind for name in grids.titles()} == set(KINDS)


@pytest.mark.parametrize("name", KINDS)
def test_a_kind_keeps_the_protocol(name: str) -> None:
    kind = grids.plot_file(name)
    assert isinstance(kind, Kind)
    assert issubclass(getattr(kind, "Options", grids.Options), grids.Options)


def test_tables_and_closed_forms_stand_under_their_figures(outcomes: Outcomes) -> None:
    for outcome in outcomes[:3]:
        details = grids.plot_file(outcome.grid.kind).details(outcome)
        for table in details.tables:
            assert {len(line) for line in table.lines} == {len(table.head)}
        expected = {"distances": (0, 4), "bands": (0, 4), "fits": (3, 1)}
        assert (len(details.laws), len(details.tables)) == expected[outcome.grid.kind]
