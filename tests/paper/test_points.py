"""One point: what it depends on, and what is measured."""

from typing import cast

import numpy as np
import pytest

from cases import present
from steinmetz.paper import grids, points
from steinmetz.paper.records import Row, SampledPoint
from steinmetz.paper.scores import PARTS, SCORES, ScoreKey

from .conftest import Outcomes


def compared(outcomes: Outcomes) -> list[Row[SampledPoint]]:
    """Rows of the comparison."""
    rows = list(outcomes[0].rows)
    assert all(isinstance(row.result, SampledPoint) for row in rows)
    return cast(list[Row[SampledPoint]], rows)


def test_every_score_of_every_part_has_an_interval_around_it(outcomes: Outcomes) -> None:
    for row in compared(outcomes):
        for name in set(SCORES) - {"w1_reference", "w1_halfway"}:
            for part in PARTS:
                value, low, high = present(row.result.scores.get(ScoreKey(name, "all", part)))
                assert low <= value <= high
        reference = row.result.scores.get(ScoreKey("w1_reference"))
        assert (reference is not None) == (row.arm == "L0+SVGD")
        assert (row.result.reference is not None) == (row.arm == "L0+SVGD")
        halfway = row.result.scores.get(ScoreKey("w1_halfway"))
        assert (halfway is not None) == (row.arm != "L0+reference")  # all others are flows
        assert (row.result.mixing is not None) == (row.arm == "L0+reference")
        assert row.result.spent.infer > 0


def test_whole_network_is_sampled_for_l2(outcomes: Outcomes) -> None:
    active = {row.arm: row.result.active for row in compared(outcomes)}
    full = compared(outcomes)[0].result.full
    assert active["L2+SVGD"] == active["L2+pSVGD"] == full
    assert active["L0+SVGD"] < full


def test_distance_is_zero_at_the_reference_and_is_that_of_the_scores(outcomes: Outcomes) -> None:
    for row in compared(outcomes):
        point, along = row.result, row.result.along["w1_noisy"]
        middle = int(np.argmin(np.abs(point.coordinate - 1)))
        assert point.coordinate[middle] == pytest.approx(1, abs=1e-12)
        assert along[middle].max() < 1e-9
        assert along.mean() == pytest.approx(point.number(ScoreKey("w1_noisy")))


def test_constant_predictions_are_at_the_distance_of_the_stress_itself(outcomes: Outcomes) -> None:
    for row in compared(outcomes):
        point, moving = row.result, np.isin(row.result.components, row.result.moving)
        clean = np.abs(point.truth[:, moving])
        np.testing.assert_allclose(point.constants["zero"]["w1_clean"], clean)
        key = ScoreKey("w1_clean")
        assert point.constant("zero", key) == pytest.approx(clean.mean())
        assert point.constant("mean", key) != point.constant("zero", key)
        assert point.constant("zero", ScoreKey("crps")) is None
        assert ("w1_reference" in point.constants["mean"]) == (row.arm == "L0+SVGD")


def test_seconds_and_memory_of_every_arm_are_known(outcomes: Outcomes) -> None:
    for row in compared(outcomes):
        assert row.result.spent.carve_memory > 0
        assert row.result.spent.infer_memory > 0
    assert outcomes[0].seconds >= max(row.result.seconds for row in compared(outcomes))


def test_a_point_depends_on_the_study_of_its_law_and_on_its_reference() -> None:
    every = grids.points(grids.load("hyper-comparison"), "quick", range(1))
    contents = [points.content_of(point) for point in every]
    assert all(one not in contents[:index] for index, one in enumerate(contents))
    judged = next(point for point in every if point.reference is not None)
    assert points.content_of(judged)["reference"] == points.content_of(present(judged.reference))
