"""Claims: every kind of check has a function, which holds and fails where it should."""

from collections.abc import Mapping, Sequence
from typing import get_args

import numpy as np
import pytest

from cases import partial
from steinmetz.paper import claims, grids
from steinmetz.paper.claims import Verdict
from steinmetz.paper.records import CurveRows, FlowSnapshots, Outcome, Record, Row, SampledPoint
from steinmetz.paper.scores import Interval, ScoreTable

ORDER = {
    "kind": "order",
    "says": "x",
    "score": "w1_noisy.all.path",
    "arms": ("a", "b"),
    "strict": (False,),
}


def rows_of(
    scores: Mapping[str, Sequence[float]], axis: Sequence[float] | None = None
) -> list[Row[Record]]:
    """Points that have nothing but a score."""
    rows: list[Row[Record]] = []
    for arm, values in scores.items():
        for seed, value in enumerate(values):
            table = ScoreTable({"w1_noisy": {"all": {"path": Interval(value, value, value)}}})
            point = partial(SampledPoint, scores=table, active=5, full=9)
            place = None if axis is None else axis[seed]
            rows.append(Row("g", arm, "proper", place, seed, point))
    return rows


def judged(check: Mapping[str, object], rows: list[Row[Record]]) -> Verdict:
    kind = grids.ScoreCheck if "score" in check else grids.FigureCheck
    grid = grids.load("hyper-comparison").model_copy(update={"checks": (kind(**check),)})
    return claims.judge(Outcome(grid, "quick", 2, rows))[0]


def test_every_kind_of_check_has_a_function() -> None:
    kinds = [check.model_fields["kind"] for check in (grids.FigureCheck, grids.ScoreCheck)]
    assert {name for kind in kinds for name in get_args(kind.annotation)} == set(claims._KINDS)


@pytest.mark.parametrize(
    ("a", "b", "holds"), [((1, 2), (2, 3), True), ((2, 3), (1, 2), False), ((1, 1), (1, 1), True)]
)
def test_an_order_holds_or_not_by_its_means(
    a: tuple[int, ...], b: tuple[int, ...], holds: bool
) -> None:
    verdict = judged(ORDER, rows_of({"a": a, "b": b}))
    assert verdict.holds == holds
    assert "(means over seeds; a ≤ b in" in verdict.measured


def test_equal_is_not_strictly_less() -> None:
    assert not judged({**ORDER, "strict": (True,)}, rows_of({"a": (1,), "b": (1,)})).holds


@pytest.mark.parametrize(("kind", "holds"), [("least", False), ("most", True)])
def test_a_bound_is_for_every_seed(kind: str, holds: bool) -> None:
    check = {**ORDER, "kind": kind, "strict": (), "value": 2.0}
    assert judged(check, rows_of({"a": (2, 2), "b": (1, 2)})).holds == holds


@pytest.mark.parametrize(
    ("values", "holds"), [((5, 3, 2, 1), True), ((1, 2, 3, 5), False), ((2, 2, 2, 2), False)]
)
def test_a_trend_falls_or_not(values: tuple[int, ...], holds: bool) -> None:
    check = {"kind": "falls", "says": "x", "score": "w1_noisy.all.path"}
    verdict = judged(check, rows_of({"a": values}, axis=(1.0, 2.0, 4.0, 8.0)))
    assert verdict.holds == holds
    assert "rank correlation" in verdict.measured


@pytest.mark.parametrize(("last", "holds"), [(1.05, True), (2.0, False)])
def test_two_values_of_an_axis_agree_or_not(last: float, holds: bool) -> None:
    steady = {"kind": "steady", "says": "x", "score": "w1_noisy.all.path"}
    check = {**steady, "between": (50, 100), "value": 1.1}
    assert judged(check, rows_of({"a": (1.0, last)}, axis=(50.0, 100.0))).holds == holds


def curves(r2: Sequence[Sequence[float]]) -> list[Row[Record]]:
    """One method at two noises; a row of `r2` per noise, an entry per penalty, two restarts."""
    from steinmetz.engine.lcurve import Point

    networks = [
        Point("l0", noise, penalty, restart, 5, 5, 1.0, value)
        for noise, values in zip((0.0, 0.1), r2, strict=True)
        for penalty, value in zip((1.0, 10.0, 100.0), values, strict=True)
        for restart in range(2)
    ]
    return [Row("g", "lcurves", "", None, 0, CurveRows(networks=networks, picks=[], full=9))]


@pytest.mark.parametrize(("end", "holds"), [(0.2, True), (0.97, False), (None, False)])
def test_a_curve_rolls_off_or_not(end: float | None, holds: bool) -> None:
    check = {"kind": "rolls_off", "says": "x", "value": 0.05}
    rows = curves([(0.99, 0.99, 0.2), (0.99, 0.98, 0.5 if end is None else end)])
    if end is None:  # nothing rolls off
        rows = curves([(0.99, 0.99, 0.2), (0.99, 0.99, 0.99)])
    assert judged(check, rows).holds == holds


@pytest.mark.parametrize(("second", "holds"), [(0.5, False), (0.985, True)])
def test_a_corner_moves_with_the_noise_or_not(second: float, holds: bool) -> None:
    check = {"kind": "corner", "says": "x", "value": 5}
    assert judged(check, curves([(0.99, 0.99, 0.2), (0.99, second, 0.2)])).holds == holds


FLOWS = [("sparse", 0.5, True), ("sparse", 0.6, False), ("near_mean", 0.5, True)]


@pytest.mark.parametrize(("kind", "value", "holds"), [*FLOWS, ("near_mean", 0.4, False)])
def test_particles_end_at_zero_and_near_the_mean_or_not(
    kind: str, value: float, holds: bool
) -> None:
    particles = np.array([[[9.0, 9.0, 9.0]] * 2, [[1.5, 2.0, 0.0], [1.4, 2.0, 1.0]]])
    flow = FlowSnapshots(steps=(0, 9), particles=particles, mean=(1.0, 2.0, 3.0), seconds=1.0)
    rows: list[Row[Record]] = [Row("g", "flow", "", None, 0, flow)]
    assert judged({"kind": kind, "says": "x", "value": value}, rows).holds == holds


def test_a_claim_is_judged_in_each_reading_that_it_names() -> None:
    check = grids.ScoreCheck(**ORDER)
    grid = grids.load("hyper-comparison")
    rows = rows_of({"a": (1,), "b": (2,)})
    rows += [Row("g", row.arm, "tempered", None, 0, row.result) for row in rows]
    for readings, expected in (((), ["proper", "tempered"]), (("tempered",), ["tempered"])):
        asked = grid.model_copy(
            update={"checks": (check.model_copy(update={"readings": readings}),)}
        )
        assert [v.reading for v in claims.judge(Outcome(asked, "quick", 1, rows))] == expected


def test_rank_correlation_is_spearmans() -> None:
    from scipy.stats import spearmanr

    random = np.random.default_rng(0)
    x, y = random.integers(0, 5, 40).astype(float), random.normal(size=40).round(1)
    assert claims.correlation(x, y) == pytest.approx(spearmanr(x, y).statistic)
