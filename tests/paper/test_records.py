"""Records: numbers by key, curves from networks, rows in groups."""

import math

import numpy as np
import pytest

from cases import partial
from steinmetz.engine.lcurve import Point
from steinmetz.paper.curves import CurveRows
from steinmetz.paper.records import FitPoint, Row, SampledPoint, Spent, grouped, numbers
from steinmetz.paper.scores import Interval, ScoreKey, ScoreTable


def test_a_fit_has_counts_seconds_and_r2_by_key() -> None:
    r2 = {"path": 0.9, "path_extrapolated": None}
    spent = Spent(2.0, 1.0, 3.0, 0.5)
    carved = partial(FitPoint, active=4, full=9, nonzero=7, r2=r2, spent=spent)
    whole = carved.model_copy(update={"active": 9})
    assert (carved.number(ScoreKey("count")), whole.number(ScoreKey("count"))) == (4, 7)
    assert carved.number(ScoreKey("seconds")) == 5.0
    assert carved.number(ScoreKey("r2", part="path")) == 0.9
    assert math.isnan(carved.number(ScoreKey("r2", part="path_extrapolated")))


def test_a_sampled_point_gives_the_value_of_an_interval_and_scores_along_the_path() -> None:
    table = ScoreTable({"crps": {"S": {"path": Interval(1.0, 0.5, 2.0)}}})
    along = {"crps": np.array([[1.0, 3.0, 5.0], [2.0, 4.0, 6.0]])}
    moving = ("S11", "S22", "mu")
    point = partial(SampledPoint, scores=table, along=along, moving=moving, active=4)
    assert point.number(ScoreKey("crps", "S")) == 1.0
    assert point.number(ScoreKey("active")) == 4
    np.testing.assert_array_equal(point.score_along(ScoreKey("crps", "S")), [2.0, 3.0])
    np.testing.assert_array_equal(point.score_along(ScoreKey("crps")), [3.0, 4.0])


def test_networks_make_curves_with_penalties_in_order_and_failures_that_do_not_count() -> None:
    networks = [
        Point("l0", 0.1, penalty, restart, 5, 5, 1.0, r2)
        for penalty, values in ((10.0, (0.5, None)), (1.0, (0.9, 0.7)))
        for restart, r2 in enumerate(values)
    ]
    (curve,) = CurveRows(networks=networks, picks=[], full=9, seconds=1.0, memory=1.0).curves()
    assert (curve.method, curve.noise) == ("l0", 0.1)
    np.testing.assert_array_equal(curve.penalties, [1.0, 10.0])
    assert curve.median == pytest.approx([0.8, 0.5])


def test_rows_are_grouped_in_their_order_and_points_on_an_axis_are_not_counted() -> None:
    points = [partial(FitPoint, active=count) for count in (3, 4, 5)]
    rows = [Row("g", "L1", "", None, 0, points[0]), Row("g", "L0", "", None, 0, points[1])]
    rows.append(Row("g", "L1", "", 2.0, 0, points[2]))
    groups = grouped(rows, lambda row: row.arm)
    assert [(arm, len(same)) for arm, same in groups.items()] == [("L1", 2), ("L0", 1)]
    np.testing.assert_array_equal(numbers(rows, "L1", ScoreKey("active")), [3])


def test_a_record_takes_no_other_fields_and_checks_shapes() -> None:
    with pytest.raises(ValueError, match="truth"):
        FitPoint.model_validate({"truth": np.ones(3)})
    with pytest.raises(ValueError, match="Extra inputs"):
        FitPoint.model_validate({"nonsense": 1})
