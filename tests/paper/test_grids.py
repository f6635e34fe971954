"""The figures of the paper: every one is there, every point is a study, names are checked."""

import pytest

from cases import present
from steinmetz.errors import InputError
from steinmetz.paper import grids
from steinmetz.paper.arms import read

IDS = [
    "hyper-fits", "hyper-lcurves", "hyper-comparison", "hyper-bands", "hyper-data",
    "hyper-particles", "hyper-hmc", "mech-potential", "mech-fits", "mech-comparison", "cost",
    "l1-flow",
]  # fmt: skip


def test_every_figure_is_there_in_the_order_of_the_paper() -> None:
    assert list(grids.titles()) == IDS


@pytest.mark.parametrize("scale", grids.SCALES)
@pytest.mark.parametrize("name", IDS)
def test_every_point_is_a_study(name: str, scale: str) -> None:
    grid = grids.load(name)
    points = grids.points(grid, scale, 2)
    assert points
    labels = [(p.grid.id, p.label, p.reference is None) for p in points]
    assert len(set(labels)) == len(labels)
    for check in grid.checks:
        assert set(check.arms) <= set(grid.arms)
        if check.kind == "order":
            assert len(check.strict) == len(check.arms) - 1


def sampler(point: grids.Point) -> dict[str, object]:
    """Settings of the sampler of a point."""
    return point.study.infer.model_dump()


def test_full_scale_has_the_sizes_of_the_paper() -> None:
    points = grids.points(grids.load("hyper-comparison"), "full", 5)
    assert {p.seed for p in points} == set(range(5))
    for point in points:
        assert point.study.assess.path_points == 1000
        assert point.study.data.count == 80
        if point.arm.startswith("L2"):
            assert sampler(point)["particles"] == 1000
        if point.arm == "L0+HMC":
            assert (sampler(point)["steps"], sampler(point)["thin"]) == (100_000, 100)
    mech = grids.points(grids.load("mech-comparison"), "full", 1)
    assert {sampler(p)["particles"] for p in mech if p.arm == "L0+SVGD"} == {50}
    assert {sampler(p)["particles"] for p in mech if p.arm.startswith("L2")} == {1000}


def test_both_readings_and_all_methods_are_compared() -> None:
    for name in ("hyper-comparison", "mech-comparison"):
        grid = grids.load(name)
        methods = {"L0+SVGD", "L1+SVGD", "L2+SVGD", "L2+pSVGD", "L0+HMC", "L0+NUTS", "L0+default"}
        assert methods <= set(grid.arms)
        points = grids.points(grid, "quick", 1)
        assert {point.study.prior.temperature for point in points} == {"mean", 1.0}


def test_references_come_first_and_are_the_same_data() -> None:
    points = grids.points(grids.load("hyper-hmc"), "quick", 2)
    first = next(i for i, point in enumerate(points) if point.reference is not None)
    assert all(point.reference is not None for point in points[first:])
    for point in points[first:]:
        reference = present(point.reference)
        assert reference.study.infer.method == "nuts"
        assert (reference.seed, reference.study.data) == (point.seed, point.study.data)


def test_structure_of_hyper_data_is_that_of_80_tensors() -> None:
    points = grids.points(grids.load("hyper-data"), "quick", 1)
    assert {point.study.data.count for point in points} > {80}
    assert {point.carve.data.count for point in points} == {80}


def test_unknown_figure_is_one_sentence() -> None:
    with pytest.raises(InputError, match="did you mean 'hyper-fits'"):
        grids.load("hyper-fit")


def altered(monkeypatch: pytest.MonkeyPatch, name: str, **changes: object) -> grids.Grid:
    """A figure whose file says something else."""
    raw = {**read(f"figures/{name}"), **changes}
    monkeypatch.setattr("steinmetz.paper.grids.read", lambda _: dict(raw))
    return grids.load.__wrapped__(name)


CHECK = {"kind": "order", "says": "x", "score": "w1_noisy.all.path"}
PANELS = {"panels": [{"score": "w1_noisy.mu.path", "title": "x"}]}


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        (
            {"checks": [{**CHECK, "score": "w1_nosy.all.path"}]},
            "no score 'w1_nosy.all.path'.*did you",
        ),
        ({"checks": [{**CHECK, "score": "w1_noisy.mu.path"}]}, "no kind of component 'mu'.*S"),
        ({"checks": [{**CHECK, "kind": "ordered"}]}, "hyper-comparison.toml: checks.0"),
        ({"checks": [{"kind": "order", "says": "x"}]}, "score: Field required"),
        ({"options": PANELS}, "no kind of component 'mu'"),
        ({"options": {"panel": []}}, "hyper-comparison.toml: panel"),
        ({"arms": ["L0+SVDG"]}, "no sampler 'SVDG'.*did you mean 'SVGD'"),
        ({"arms": ["L1+NUTS"]}, "no look of an arm 'L1\\+NUTS'"),
        ({"kind": "distance"}, "no kind of figure 'distance'.*did you mean 'distances'"),
    ],
)
def test_a_wrong_name_in_a_figure_is_one_sentence_when_it_is_read(
    monkeypatch: pytest.MonkeyPatch, changes: dict[str, object], message: str
) -> None:
    with pytest.raises(InputError, match=message):
        altered(monkeypatch, "hyper-comparison", **changes)


def test_options_are_those_of_the_kind_of_figure() -> None:
    from steinmetz.paper.plots import cost, distances

    grid = grids.load("cost")
    assert grid.of(cost.Options).paper["hyper-comparison"]["L0+SVGD"].parameters == 7
    with pytest.raises(InputError, match="not those of its kind"):
        grid.of(distances.Options)
