"""The figures of the paper: every one is there, every point is a study, names are checked."""

import re
from collections.abc import Iterator

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
    points = grids.points(grid, scale, range(2))
    assert points
    labels = [(p.grid.id, p.label, p.reference is None) for p in points]
    assert len(set(labels)) == len(labels)
    for check in grid.checks:
        assert set(check.arms) <= {*grid.arms, *grid.cases}
        if check.kind in ("below", "alike"):
            assert len(check.arms) > 1
    assert all(grid.seeds[scale] >= 3 for scale in grids.SCALES)


@pytest.mark.parametrize("scale", grids.SCALES)
@pytest.mark.parametrize("name", IDS)
def test_the_paper_has_its_networks_whatever_a_run_takes_by_default(name: str, scale: str) -> None:
    """Points are kept by content: another potential would be other work under the same name."""
    for point in grids.points(grids.load(name), scale, range(1)):
        usual = "mlp" if point.grid.study == "mechanochemistry" else "icnn"
        expected = "mixed" if point.arm.startswith("L0 mixed") else usual
        for study in (point.study, point.carve):
            assert study.content("search")["potential"]["name"] == expected
        if expected == "icnn":
            kept = point.study.content("search")["potential"]
            form = "passthrough" if name == "l1-flow" else "tied"
            assert kept == {"name": "icnn", "form": form, "widths": [30, 30]}


def sampler(point: grids.Point) -> dict[str, object]:
    """Settings of the sampler of a point."""
    return point.study.infer.model_dump()


def test_full_scale_has_the_sizes_of_the_paper() -> None:
    points = grids.points(grids.load("hyper-comparison"), "full", range(5))
    assert {p.seed for p in points} == set(range(5))
    for point in points:
        assert point.study.data.count == 80
    chains = grids.points(grids.load("hyper-hmc"), "full", range(1))
    longest = [sampler(p) for p in chains if p.arm == "L0+HMC" and p.value is None]
    assert {(infer["steps"], infer["thin"]) for infer in longest} == {(100_000, 100)}
    mech = grids.points(grids.load("mech-comparison"), "full", range(1))
    assert {sampler(p)["particles"] for p in mech if p.arm == "L0+SVGD"} == {50}
    flows = {"L2+SVGD", "L2+SVGD white", "L2+pSVGD", "L2+pSVGD 0.99"}
    assert {sampler(p)["particles"] for p in mech if p.arm in flows} == {1000}


def test_both_readings_and_all_methods_are_compared() -> None:
    for name in ("hyper-comparison", "mech-comparison"):
        grid = grids.load(name)
        methods = {"L0+SVGD", "L1+SVGD", "L2+SVGD", "L2+pSVGD", "L0+default"}
        methods |= set(grid.reference.values())
        assert set(grid.reference) == {"L0", "L1", "L2"}
        assert methods | {"L2+pSVGD 0.99", "L0+SVGD white", "L2+SVGD white"} <= set(grid.arms)
        points = grids.points(grid, "quick", range(1))
        assert {point.study.prior.temperature for point in points} == {"mean", 1.0}
        assert not any(p.study.infer.whiten for p in points if p.arm.endswith("+SVGD"))
        assert {sampler(p)["content"] for p in points if p.arm == "L2+pSVGD 0.99"} == {0.99}


def judged(grid: grids.Grid) -> set[str]:
    """Arms that a claim of a figure compares, apart from those that are bounded alone."""
    return {arm for check in grid.checks if len(check.arms) > 1 for arm in check.arms}


@pytest.mark.parametrize("name", IDS)
def test_arms_that_a_claim_compares_are_of_one_network(name: str) -> None:
    grid = grids.load(name)
    for source in grid.sources or (name,):
        points = grids.points(grids.load(source), "full", range(1))
        networks = {point.carve.potential for point in points if point.arm in judged(grid)}
        assert len(networks) <= 1
    assert not any("mixed" in arm for check in grid.checks for arm in check.arms)


def test_every_claim_about_w1_to_data_is_judged_to_the_reference_too() -> None:
    for grid in map(grids.load, IDS):
        for check in grid.checks:
            scores = {score.name for score in getattr(check, "scores", ())}
            if scores & {"w1_noisy", "w1_clean"} and not check.by_design:
                assert "w1_reference" in scores
                assert {arm.partition("+")[0] for arm in check.arms or grid.arms} <= set(
                    grid.reference
                )


# Numbers that are sizes, bounds or words of the paper and not results.
SAID = {"2", "7", "10", "34", "50", "80", "95", "100", "148", "1000", "500", "0", "1", "3", "0.025"}
SAID |= {"401", "0.99", "0.95", "0.05", "0.01", "1.1", "4–16–4", "A6000", "100 000", "000"}


def prose() -> Iterator[tuple[str, str]]:
    """Every text that the page prints before anything is measured, with where it stands."""
    for name in IDS:
        raw = read(f"figures/{name}")
        for field in ("title", "shows", "why", "sizes"):
            yield f"{name}.{field}", raw.get(field, "")
        for check in raw["checks"]:
            yield f"{name}: {check['says']}", f"{check['says']} {check['words']}"
    for kind in ("sparsifiers", "samplers"):
        for name, method in read("arms")[kind].items():
            yield f"arms: {name}", method["about"]


@pytest.mark.parametrize(("place", "text"), [pytest.param(*p, id=p[0]) for p in prose()])
def test_no_sentence_carries_a_number_that_was_not_measured_where_it_is_printed(
    place: str, text: str
) -> None:
    plain = re.sub(r"\b[A-Za-z]+\d+\b", "", text)  # names: L0, F11, S12, W1
    found = re.findall(r"\d+(?:[.–]\d+)*", plain)
    assert not ("why" in place and found), f"{place} carries {found}"
    assert set(found) <= SAID, f"{place} carries {set(found) - SAID}"


def test_references_come_first_and_are_the_same_data() -> None:
    points = grids.points(grids.load("hyper-hmc"), "quick", range(2))
    first = next(i for i, point in enumerate(points) if point.reference is not None)
    assert all(point.reference is not None for point in points[first:])
    for point in points[first:]:
        reference = present(point.reference)
        assert reference.study.infer.method == "ssvn"
        assert (reference.seed, reference.study.data) == (point.seed, point.study.data)


def test_structure_of_hyper_data_is_that_of_80_tensors() -> None:
    points = grids.points(grids.load("hyper-data"), "quick", range(1))
    assert {point.study.data.count for point in points} > {80}
    assert {point.carve.data.count for point in points} == {80}


def test_unknown_figure_is_one_sentence() -> None:
    with pytest.raises(InputError, match="did you mean 'hyper-fits'"):
        grids.load("hyper-fit")


def altered(monkeypatch: pytest.MonkeyPatch, name: str, **changes: object) -> grids.Grid:
    """A figure whose file says something else."""
    raw = {**read(f"figures/{name}"), **changes}
    monkeypatch.setattr(grids, "read", lambda _: dict(raw))
    return grids.load.__wrapped__(name)


CHECK = {"kind": "below", "says": "x", "words": "x", "scores": ["w1_noisy.all.path"]}
PANELS = {"panels": [{"score": "w1_noisy.mu.path", "title": "x"}]}


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        (
            {"checks": [{**CHECK, "scores": ["w1_nosy.all.path"]}]},
            "no score 'w1_nosy.all.path'.*did you",
        ),
        ({"checks": [{**CHECK, "scores": ["w1_noisy.mu.path"]}]}, "no kind of component 'mu'.*S"),
        ({"checks": [{**CHECK, "kind": "ordered"}]}, "hyper-comparison.toml: checks.0"),
        ({"checks": [{"kind": "below", "says": "x", "words": "x"}]}, "scores: Field required"),
        ({"checks": [{"kind": "below", "says": "x"}]}, "words: Field required"),
        ({"options": PANELS}, "no kind of component 'mu'"),
        ({"options": {"panel": []}}, "hyper-comparison.toml: panel"),
        ({"arms": ["L0+SVDG"]}, "no sampler 'SVDG'.*did you mean 'SVGD'"),
        ({"arms": ["L1+HMC"]}, "no look of an arm 'L1\\+HMC'"),
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
