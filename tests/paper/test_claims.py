"""Claims: every kind of check has a function; arms that have not converged decide nothing."""

import json
from collections.abc import Mapping, Sequence
from typing import get_args

import numpy as np
import pytest

from cases import partial, present
from steinmetz.infer.base import Capabilities
from steinmetz.infer.checks import Inference, Mixing
from steinmetz.paper import claims, convergence, findings, grids, statements
from steinmetz.paper.curves import CurveRows
from steinmetz.paper.records import (
    FlowSnapshots,
    Outcome,
    PlaneSlices,
    Record,
    Row,
    SampledPoint,
    Sampling,
)
from steinmetz.paper.scores import Interval, ScoreTable

SCORE = "w1_noisy.all.path"
BELOW = {"kind": "below", "says": "x", "words": "y", "scores": (SCORE,), "arms": ("a", "b")}


def inference(direction: float = 0.0, variance: float = 1.0) -> Inference:
    """A flow that is at rest unless told otherwise."""
    facts = {"method": "svgd", "reason": "", "capabilities": Capabilities(rests=True), "frozen": ()}
    facts |= {
        "particles": 50,
        "snapshots": 1,
        "draws": 50,
        "steps": 10,
        "stopped": "",
        "totals": {},
    }
    numbers = {"discrepancy": 1.0, "expected": 1.0, "variance": (variance, variance)}
    return Inference(**facts, **numbers, mean_variance=variance, direction=direction)


def rows_of(
    scores: Mapping[str, Sequence[float]],
    axis: Sequence[float] | None = None,
    runs: Mapping[str, Inference] | None = None,
    reading: str = "proper",
    halfway: float = 100.0,
    mixing: Mixing | None = None,
) -> list[Row[Record]]:
    """Points that have nothing but a score; `axis`: values of the axis, the same for each seed.

    `halfway` is W1 that flows moved in the second half of their steps, `mixing` that of
    push-forwards.
    """
    rows: list[Row[Record]] = []
    for arm, values in scores.items():
        for index, value in enumerate(values):
            cell = {"all": {"path": Interval(value, value, value)}}
            moved = {"all": {"path": Interval(halfway, halfway, halfway)}}
            table = ScoreTable({"w1_noisy": cell, "w1_reference": cell, "w1_halfway": moved})
            run = (runs or {}).get(arm, inference())
            longest = (runs or {}).get("reference", inference())
            point = partial(
                SampledPoint, scores=table, active=5, full=9, inference=run, moving=("S11",),
                mixing=mixing, reference=Sampling(longest, mixing),
            )  # fmt: skip
            place = None if axis is None else axis[index % len(axis)]
            seed = index if axis is None else index // len(axis)
            rows.append(Row("g", arm, reading, place, seed, point))
    return rows


def judged(
    check: Mapping[str, object], rows: list[Row[Record]], axis: grids.Axis | None = None
) -> claims.Verdict:
    kind = statements.ScoreCheck if "scores" in check else statements.FigureCheck
    update = {"checks": (kind(**{"words": "y", **check}),), "axis": axis}
    grid = grids.load("hyper-comparison").model_copy(update=update)
    return claims.judge(Outcome(grid, "quick", (0, 1, 2), rows))[0]


AXIS = grids.load("hyper-data").axis


def test_every_kind_of_check_has_a_function() -> None:
    kinds = [c.model_fields["kind"] for c in (statements.FigureCheck, statements.ScoreCheck)]
    assert {name for kind in kinds for name in get_args(kind.annotation)} == set(findings.KINDS)


@pytest.mark.parametrize(
    ("a", "b", "verdict"),
    [
        ((1, 2, 3), (2, 4, 6), "holds"),
        ((2, 4, 6), (1, 2, 3), "does not hold"),
        ((1, 4, 3), (2, 2, 3), "undecided"),
    ],
)
def test_arms_are_compared_seed_by_seed(
    a: tuple[float, ...], b: tuple[float, ...], verdict: str
) -> None:
    found = judged(BELOW, rows_of({"a": a, "b": b}))
    assert found.verdict == verdict
    assert "a to b: ratio" in found.measured
    assert found.per_seed == {"a": list(a), "b": list(b)}
    low, high = present(found.interval)
    assert low <= high


def test_a_chain_of_arms_holds_only_if_every_pair_does() -> None:
    check = {**BELOW, "arms": ("a", "b", "c")}
    rising = {"a": (1, 1, 1), "b": (2, 2.1, 2), "c": (3, 3, 3.2)}
    assert judged(check, rows_of(rising)).verdict == "holds"
    assert judged(check, rows_of({**rising, "c": (1, 1, 1)})).verdict == "does not hold"
    assert judged(check, rows_of({**rising, "c": (3, 1, 4)})).verdict == "undecided"


def test_an_arm_that_has_not_converged_is_not_beaten() -> None:
    scores = {"a": (1, 2, 3), "b": (20, 40, 60)}
    found = judged(BELOW, rows_of(scores, runs={"b": inference(direction=9.0)}))
    assert (found.verdict, found.converged) == ("undecided", {"a": True, "b": False})
    assert "b not converged" in found.measured


def test_a_flow_that_moved_little_beside_what_a_claim_compares_has_settled() -> None:
    scores = {"a": (1, 2, 3), "b": (20, 40, 60)}
    moving = {"b": inference(direction=9.0)}
    assert judged(BELOW, rows_of(scores, runs=moving, halfway=1.9)).verdict == "holds"
    assert judged(BELOW, rows_of(scores, runs=moving, halfway=2.1)).verdict == "undecided"


def test_chains_are_judged_by_the_mixing_of_the_push_forward() -> None:
    """Weights that change places have an R-hat of their own, which is named and decides nothing."""
    can = {"capabilities": Capabilities(snapshots=True), "snapshots": 50}
    chains = inference().model_copy(update={**can, "r_hat": 3.0, "bulk": 9.0, "tail": 9.0})
    scores, runs = {"a": (1, 2, 3), "b": (20, 40, 60)}, {"a": chains, "b": chains}
    good, bad = Mixing(1.001, 900.0, 900.0), Mixing(1.2, 900.0, 900.0)
    rows = rows_of(scores, runs=runs, mixing=good)
    assert judged(BELOW, rows).verdict == "holds"
    health = convergence.by_arm(rows)["a"]
    assert (health.state, "R-hat of parameters" in health.failed) == ("converged", True)
    assert judged(BELOW, rows_of(scores, runs=runs, mixing=bad)).verdict == "undecided"
    assert judged(BELOW, rows_of(scores, runs=runs)).verdict == "undecided"  # not known


def test_counts_do_not_wait_for_samplers() -> None:
    check = {**BELOW, "kind": "most", "scores": ("active",), "arms": ("a",), "value": 7}
    rows = rows_of({"a": (1, 2, 3)}, runs={"a": inference(direction=9.0)})
    assert judged(check, rows).verdict == "holds"


def test_an_arm_that_lost_variance_at_rest_is_biased_and_can_be_beaten() -> None:
    scores = {"a": (1, 2, 3), "b": (20, 40, 60)}
    found = judged(BELOW, rows_of(scores, runs={"b": inference(variance=0.1)}))
    assert (found.verdict, found.converged["b"]) == ("holds", True)


def test_a_reference_that_has_not_converged_decides_nothing() -> None:
    check = {**BELOW, "scores": ("w1_reference.all.path",)}
    scores = {"a": (1, 2, 3), "b": (2, 4, 6)}
    assert judged(check, rows_of(scores)).verdict == "holds"
    found = judged(check, rows_of(scores, runs={"reference": inference(direction=9.0)}))
    assert (found.verdict, found.converged["reference"]) == ("undecided", False)


def test_what_is_true_by_construction_is_not_counted() -> None:
    rows = rows_of({"a": (1, 2, 3), "b": (2, 4, 6)})
    found = judged({**BELOW, "by_design": True}, rows)
    assert (found.verdict, found.counted) == ("by construction", False)
    wrong = judged({**BELOW, "by_design": True, "arms": ("b", "a")}, rows)
    assert (wrong.verdict, wrong.counted) == ("does not hold", True)


@pytest.mark.parametrize(("kind", "verdict"), [("least", "undecided"), ("most", "holds")])
def test_a_bound_is_for_every_seed(kind: str, verdict: str) -> None:
    check = {**BELOW, "kind": kind, "value": 2.0}
    assert judged(check, rows_of({"a": (2, 2, 2), "b": (1, 2, 2)})).verdict == verdict


@pytest.mark.parametrize(
    ("values", "verdict"),
    [
        ((5, 3, 2, 5, 3.1, 2, 6, 3, 2), "holds"),
        ((1, 2, 3, 1, 2.1, 3, 1, 2, 3), "does not hold"),
        ((1, 2, 3, 3, 2, 1, 2, 2, 2.1), "undecided"),
    ],
)
def test_a_trend_is_the_slope_of_every_seed(values: tuple[float, ...], verdict: str) -> None:
    check = {"kind": "falls", "says": "x", "scores": (SCORE,)}
    found = judged(check, rows_of({"a": values}, axis=(1.0, 2.0, 4.0)), AXIS)
    assert found.verdict == verdict
    assert len(found.per_seed["a"]) == 3


@pytest.mark.parametrize(("last", "verdict"), [(1.01, "holds"), (2.0, "does not hold")])
def test_two_values_of_an_axis_agree_or_not(last: float, verdict: str) -> None:
    check = {"kind": "steady", "says": "x", "scores": (SCORE,), "between": (50, 100), "value": 1.1}
    rows = rows_of({"a": (1.0, last) * 3}, axis=(50.0, 100.0))
    assert judged(check, rows, AXIS).verdict == verdict


def curves(r2: Sequence[Sequence[float]]) -> list[Row[Record]]:
    """One method at two noises, three seeds; a row of `r2` per noise, an entry per penalty."""
    from steinmetz.engine.lcurve import Point

    networks = [
        Point("l0", noise, penalty, restart, 5, 5, 1.0, value)
        for noise, values in zip((0.0, 0.1), r2, strict=True)
        for penalty, value in zip((1.0, 10.0, 100.0), values, strict=True)
        for restart in range(2)
    ]
    rows = CurveRows(networks=networks, picks=[], full=9, seconds=1.0, memory=1.0)
    return [Row("g", "additive", "", None, seed, rows) for seed in range(3)]


CURVES = {"says": "x", "arms": ("additive",)}


@pytest.mark.parametrize(("end", "verdict"), [(0.2, "holds"), (0.97, "does not hold")])
def test_a_curve_rolls_off_or_not(end: float, verdict: str) -> None:
    rows = curves([(0.99, 0.99, 0.2), (0.99, 0.98, end)])
    assert judged({**CURVES, "kind": "rolls_off", "value": 0.05}, rows).verdict == verdict


@pytest.mark.parametrize(("second", "verdict"), [(0.5, "does not hold"), (0.985, "holds")])
def test_a_corner_moves_with_the_noise_or_not(second: float, verdict: str) -> None:
    rows = curves([(0.99, 0.99, 0.2), (0.99, second, 0.2)])
    assert judged({**CURVES, "kind": "corner", "value": 5}, rows).verdict == verdict


FLOWS = [("sparse", 0.5, "holds"), ("sparse", 0.6, "does not hold"), ("near_mean", 0.5, "holds")]


@pytest.mark.parametrize(
    ("kind", "value", "verdict"), [*FLOWS, ("near_mean", 0.4, "does not hold")]
)
def test_particles_end_at_zero_and_near_the_mean_or_not(
    kind: str, value: float, verdict: str
) -> None:
    particles = np.array([[[9.0, 9.0, 9.0]] * 2, [[1.5, 2.0, 0.0], [1.4, 2.0, 1.0]]])
    flow = FlowSnapshots(steps=(0, 9), particles=particles, mean=(1.0, 2.0, 3.0), seconds=1.0)
    rows: list[Row[Record]] = [Row("g", "flow", "", None, seed, flow) for seed in range(3)]
    assert judged({"kind": kind, "says": "x", "value": value}, rows).verdict == verdict


@pytest.mark.parametrize(
    ("found", "verdict"),
    [((2, 2, 2), "holds"), ((1, 1, 1), "does not hold"), ((2, 1, 2), "undecided")],
)
def test_wells_are_those_of_the_truth_in_every_seed(found: tuple[int, ...], verdict: str) -> None:
    rows: list[Row[Record]] = []
    for seed, wells in enumerate(found):
        cuts = partial(PlaneSlices, law_wells=[wells], truth_wells=[2])
        rows.append(Row("g", "L0", "", None, seed, cuts))
    check = {"kind": "same_wells", "says": "x", "arms": ("L0",)}
    assert judged(check, rows).verdict == verdict


def test_a_claim_is_judged_in_each_reading_that_it_names() -> None:
    check = statements.ScoreCheck(**BELOW)
    grid = grids.load("hyper-comparison")
    rows = rows_of({"a": (1, 1, 1), "b": (2, 2, 2)})
    rows += rows_of({"a": (1, 1, 1), "b": (2, 2, 2)}, reading="tempered")
    for readings, expected in (((), ["proper", "tempered"]), (("tempered",), ["tempered"])):
        asked = grid.model_copy(
            update={"checks": (check.model_copy(update={"readings": readings}),)}
        )
        assert [v.reading for v in claims.judge(Outcome(asked, "quick", (0,), rows))] == expected


def test_a_verdict_is_plain_json_and_is_read_back() -> None:
    found = judged(BELOW, rows_of({"a": (1, 2, np.nan), "b": (2, 4, 6)}))
    text = json.dumps(found.model_dump(), allow_nan=False)
    assert claims.Verdict.model_validate(json.loads(text)) == found
    assert (found.verdict, found.interval, found.per_seed["a"][2]) == ("undecided", None, None)
