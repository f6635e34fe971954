"""Means over data sets, and ranks that are uniform or not."""

import numpy as np
import pytest

from steinmetz.calibrate import tables
from steinmetz.calibrate.judged import DataSet, Judged, Region
from steinmetz.calibrate.ways import DRAWS, LEVELS


def data_set(law: str, seed: int, covered: float, rank: int, width: float = 2.0) -> DataSet:
    coverage = dict.fromkeys(LEVELS, covered)
    found = Region(coverage=coverage, width=width, interval_score=3.0, crps=0.1)
    own = Judged(clean={"in range": found}, noisy={"in range": found}, r2=0.9, rank=rank)
    sure = own.model_copy(update={"clean": {"in range": found.model_copy(update={"width": 1.0})}})
    named = {"law": law, "noise": 0.1, "seed": seed, "size": 2, "functional": "S11"}
    return DataSet(**named, seconds=1.0, ways={"bagged": own, "oracle": sure})


def test_means_with_intervals_over_data_sets() -> None:
    data = [data_set("gent", n, covered, 500) for n, covered in enumerate([0.5, 0.7, 1.0, 1.0])]
    found = tables.summed(data)["bagged"]
    inside = found.clean["in range"]["coverage 95"]
    assert inside.value == pytest.approx(0.8)
    assert 0.5 < inside.low < 0.8 < inside.high <= 1
    assert found.clean["in range"]["width / oracle"].value == 2
    assert "width / oracle" in found.noisy["in range"]
    assert found.below == 0.25
    assert "beyond" not in found.clean


def test_intervals_are_over_seeds() -> None:
    """Laws share the random numbers of a seed: twice the data sets, and no narrower interval."""
    values = [0.5, 0.7, 1.0, 1.0]
    once = [data_set("gent", n, covered, 500) for n, covered in enumerate(values)]
    twice = once + [data_set("ogden", n, covered, 500) for n, covered in enumerate(values)]
    first, second = (tables.summed(some)["bagged"].clean["in range"] for some in (once, twice))
    assert first["coverage 95"] == second["coverage 95"]


def test_groups_are_by_law_and_noise() -> None:
    data = [data_set(law, seed, 1.0, 500) for law in ("gent", "ogden") for seed in range(3)]
    assert [(group.law, group.count) for group in tables.grouped(data)] == [
        ("gent", 3),
        ("ogden", 3),
    ]


def test_a_way_that_not_all_data_sets_have_is_left_out() -> None:
    first, second = data_set("gent", 0, 1.0, 500), data_set("gent", 1, 1.0, 500)
    fewer = second.model_copy(update={"ways": {"bagged": second.ways["bagged"]}})
    found = tables.summed([first, fewer])
    assert list(found) == ["bagged"]
    assert "width / oracle" not in found["bagged"].clean["in range"]


def test_uniform_ranks_are_inside_and_others_outside() -> None:
    random = np.random.default_rng(0)
    uniform = [data_set("gent", n, 1, int(random.integers(0, DRAWS + 1))) for n in range(100)]
    found = tables.summed(uniform)["bagged"].ranks
    assert found is not None
    assert found.inside
    assert abs(found.shift) < 0.3
    assert found.spread == pytest.approx(1, abs=0.25)
    middle = [data_set("gent", n, 1, int(random.integers(300, 700))) for n in range(100)]
    found = tables.summed(middle)["bagged"].ranks
    assert found is not None
    assert not found.inside
    assert found.spread < 0.5
    assert tables.classed([0, DRAWS]).tolist() == [0, tables.CLASSES - 1]
