"""One point: what it depends on, and what is measured."""

from typing import cast

import numpy as np
import pytest

from cases import present
from steinmetz.paper import grids, points
from steinmetz.paper.records import SampledPoint
from steinmetz.paper.scores import PARTS, SCORES, ScoreKey

from .conftest import Outcomes


def compared(outcomes: Outcomes) -> dict[str, SampledPoint]:
    """Points of the comparison, by their methods."""
    points = {row.arm: row.result for row in outcomes[0].rows}
    assert all(isinstance(point, SampledPoint) for point in points.values())
    return cast(dict[str, SampledPoint], points)


def test_every_score_of_every_part_has_an_interval_around_it(outcomes: Outcomes) -> None:
    for arm, point in compared(outcomes).items():
        for name in set(SCORES) - {"w1_reference"}:
            for part in PARTS:
                value, low, high = present(point.scores.get(ScoreKey(name, "all", part)))
                assert low <= value <= high
        reference = point.scores.get(ScoreKey("w1_reference"))
        assert (reference is None) == (arm == "L0+NUTS")
        assert point.spent.infer > 0


def test_whole_network_is_sampled_for_l2(outcomes: Outcomes) -> None:
    active = {arm: point.active for arm, point in compared(outcomes).items()}
    full = compared(outcomes)["L2+SVGD"].full
    assert active["L2+SVGD"] == active["L2+pSVGD"] == full
    assert active["L0+SVGD"] < full


def test_distance_is_zero_at_the_reference_and_is_that_of_the_scores(outcomes: Outcomes) -> None:
    for point in compared(outcomes).values():
        along = point.along["w1_noisy"]
        middle = int(np.argmin(np.abs(point.coordinate - 1)))
        assert point.coordinate[middle] == pytest.approx(1, abs=1e-12)
        assert along[middle].max() < 1e-9
        assert along.mean() == pytest.approx(point.number(ScoreKey("w1_noisy")))


def test_a_point_depends_on_the_study_of_its_law_and_on_its_reference() -> None:
    every = grids.points(grids.load("hyper-comparison"), "quick", 1)
    contents = [points.content_of(point) for point in every]
    assert all(one not in contents[:index] for index, one in enumerate(contents))
    judged = next(point for point in every if point.reference is not None)
    assert points.content_of(judged)["reference"] == points.content_of(present(judged.reference))
