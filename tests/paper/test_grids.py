"""The figures of the paper: every one is there, every point is a valid study, sizes are those of the paper."""

import pytest

from steinmetz.errors import InputError
from steinmetz.paper import grids as reproduction

IDS = [
    "hyper-fits", "hyper-lcurves", "hyper-comparison", "hyper-bands", "hyper-data", "hyper-particles", "hyper-hmc",
    "mech-potential", "mech-fits", "mech-comparison", "cost", "l1-flow",
]  # fmt: skip


def test_every_figure_is_there_in_the_order_of_the_paper():
    assert reproduction.names() == IDS


@pytest.mark.parametrize("scale", reproduction.SCALES)
@pytest.mark.parametrize("name", IDS)
def test_every_point_is_a_study(name, scale):
    grid = reproduction.load(name)
    points = reproduction.points(grid, scale, 2)
    assert bool(points) == (grid.kind not in ("lcurves", "flow"))
    labels = [(p.grid, p.label, p.reference is None) for p in points]
    assert len(set(labels)) == len(labels)
    for check in grid.checks:
        assert set(check.arms) <= set(grid.arms)
        assert not check.strict or len(check.strict) == len(check.arms) - 1


def test_full_scale_has_the_sizes_of_the_paper():
    points = reproduction.points(reproduction.load("hyper-comparison"), "full", 5)
    assert {p.seed for p in points} == set(range(5))
    for point in points:
        assert point.study.assess.path_points == 1000
        assert point.study.data.count == 80
        if point.arm.startswith("L2"):
            assert point.study.infer.particles == 1000
        if point.arm == "L0+HMC":
            assert (point.study.infer.steps, point.study.infer.thin) == (100_000, 100)
    mech = reproduction.points(reproduction.load("mech-comparison"), "full", 5)
    assert {p.study.infer.particles for p in mech if p.arm == "L0+SVGD"} == {50}
    assert {p.study.infer.particles for p in mech if p.arm.startswith("L2")} == {1000}


def test_both_readings_and_all_methods_are_compared():
    for name in ("hyper-comparison", "mech-comparison"):
        grid = reproduction.load(name)
        methods = {"L0+SVGD", "L1+SVGD", "L2+SVGD", "L2+pSVGD", "L0+HMC", "L0+NUTS", "L0+default"}
        assert methods <= set(grid.arms)
        assert {p.study.prior.temperature for p in reproduction.points(grid, "quick", 1)} == {
            "mean",
            1.0,
        }


def test_references_come_first_and_are_the_same_data():
    points = reproduction.points(reproduction.load("hyper-hmc"), "quick", 2)
    first = next(i for i, point in enumerate(points) if point.reference is not None)
    assert all(point.reference is not None for point in points[first:])
    for point in points[first:]:
        assert point.reference.study.infer.method == "nuts"
        assert (point.reference.seed, point.reference.study.data) == (point.seed, point.study.data)


def test_structure_of_hyper_data_is_that_of_80_tensors():
    points = reproduction.points(reproduction.load("hyper-data"), "quick", 1)
    assert {point.study.data.count for point in points} > {80}
    assert {point.carve.data.count for point in points} == {80}


def test_unknown_figure_is_one_sentence():
    with pytest.raises(InputError, match="did you mean 'hyper-fits'"):
        reproduction.load("hyper-fit")
