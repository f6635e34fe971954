"""Figures of the paper on tiny settings: points, caching, references, claims and the page."""

import json

import numpy as np
import pytest

from steinmetz.cache import Piece
from steinmetz.paper import claims, page, points, reproduce
from steinmetz.paper import grids as reproduction
from steinmetz.paper.reproduce import Outcome, Row

TINY = {
    "potential.form": "passthrough",
    "potential.widths": [3],
    "sparsify.restarts": 2,
    "sparsify.steps": 60,
    "sparsify.stride": 30,
    "sparsify.penalties": 2,
    "assess.path_points": 21,
    "assess.noise_draws": 40,
    "assess.test_count": 50,
    "data.count": 20,
}
SMALL = {"candidates": 2, "beam": 2}


def tiny(name, **more):
    """A figure with everything small: the same points, checks and drawing."""
    grid = reproduction.load(name)
    own = {}
    for arm in grid.arms:
        sparsifier, _, sampler = arm.partition("+")
        change = dict(more)
        if sparsifier == "L0":
            change |= {f"sparsify.{key}": value for key, value in SMALL.items()}
        if sampler in ("NUTS", "HMC"):
            change |= {"infer.chains": 2, "infer.warm_up": 30, "infer.steps": 40, "infer.thin": 2}
        elif sampler == "default":
            change |= {
                "infer.particles": 8,
                "infer.warm_up": 20,
                "infer.steps": 40,
                "infer.thin": 10,
            }
        elif sampler:
            change |= {"infer.particles": 8, "infer.steps": 30}
        own[arm] = reproduction.Sized(change=change)
    return grid.model_copy(
        update={"change": {**grid.change, **TINY}, "quick": {}, "own": own, "lengths": {}}
    )


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("reproduction")


@pytest.fixture(scope="module")
def outcomes(folder):
    """The comparison, bands and fits of one seed, made as the command makes them."""
    patch = pytest.MonkeyPatch()
    comparison = tiny("hyper-comparison")
    comparison = comparison.model_copy(
        update={"arms": ("L0+NUTS", "L0+SVGD", "L2+SVGD", "L2+pSVGD"), "readings": ("proper",)}
    )
    bands = tiny("hyper-bands").model_copy(update={"readings": ("proper",)})
    grids = {"hyper-comparison": comparison, "hyper-bands": bands, "hyper-fits": tiny("hyper-fits")}
    patch.setattr(reproduce, "load_grid", lambda name: grids.get(name) or reproduction.load(name))
    found = reproduce.reproduce([*grids, "l1-flow"], "quick", 1, folder)
    yield found
    patch.undo()


def test_every_point_of_every_figure_is_there(outcomes):
    assert [len(outcome.rows) for outcome in outcomes] == [4, 1, 3, 1]
    for row in outcomes[0].rows:
        facts = row.found.facts
        for name in (
            "w1_noisy",
            "w1_clean",
            "w1_predictive",
            "crps",
            "coverage_50",
            "coverage_90",
            "coverage_95",
        ):
            for part in ("path", "sampled", "extrapolated"):
                value, low, high = facts["scores"][name]["all"][part]
                assert low <= value <= high
        assert ("w1_reference" in facts["scores"]) == (row.arm != "L0+NUTS")
        assert facts["seconds"]["infer"] > 0


def test_whole_network_is_sampled_for_l2(outcomes):
    active = {row.arm: row.found.facts["active"] for row in outcomes[0].rows}
    full = outcomes[0].rows[0].found.facts["full"]
    assert active["L2+SVGD"] == active["L2+pSVGD"] == full
    assert active["L0+SVGD"] < full


def test_distance_is_zero_at_the_reference_and_is_that_of_the_scores(outcomes):
    for row in outcomes[0].rows:
        a = row.found.arrays
        middle = int(np.argmin(np.abs(a["coordinate"] - 1)))
        assert a["coordinate"][middle] == pytest.approx(1, abs=1e-12)
        assert a["w1_noisy"][middle].max() < 1e-9
        assert a["w1_noisy"].mean() == pytest.approx(
            row.found.facts["scores"]["w1_noisy"]["all"]["path"][0]
        )


def test_a_second_call_computes_nothing(outcomes, folder, monkeypatch):
    def fail(*arguments, **named):
        raise AssertionError("computed again")

    monkeypatch.setattr(points, "sample", fail)
    monkeypatch.setattr(points, "carve_law", fail)
    grid = outcomes[0].grid
    monkeypatch.setattr(reproduce, "load_grid", lambda name: grid)
    again = reproduce.reproduce(["hyper-comparison"], "quick", 1, folder)
    for first, second in zip(outcomes[0].rows, again[0].rows, strict=True):
        assert first.found.facts == second.found.facts
    with pytest.raises(AssertionError, match="computed again"):  # another seed is missing
        reproduce.reproduce(["hyper-comparison"], "quick", 2, folder)


def test_the_page_has_every_figure_claim_and_erratum_and_loads_nothing(outcomes, folder):
    found = page.save(outcomes, folder)
    html = (folder / "reproduction.html").read_text(encoding="utf-8")
    for outcome in outcomes:
        assert outcome.grid.title.split(":")[0] in html
        assert (folder / "figures" / f"{outcome.grid.id}.png").stat().st_size > 5000
        assert (folder / "figures" / f"{outcome.grid.id}.pdf").read_bytes().startswith(b"%PDF")
        for check in outcome.grid.checks:
            assert check.says.replace("'", "&#39;") in html
    assert html.count("data:image/png;base64,") == len(outcomes)
    assert "http://" not in html
    assert "https://" not in html
    assert html.count("<tr><td>") > len(reproduction.errata())
    stored = json.loads((folder / "reproduction.json").read_text(encoding="utf-8"))
    assert (
        stored["claims"]
        == found["claims"]
        == sum(len(part["verdicts"]) for part in stored["figures"])
    )
    text = (folder / "reproduction.md").read_text(encoding="utf-8")
    assert text.count("![") == len(outcomes)
    assert "of" in page.screen(found, folder)


def test_settings_that_do_not_go_together_are_refused():
    from steinmetz.errors import InputError
    from steinmetz.studies import config

    with pytest.raises(InputError, match="search"):
        config.load("hyperelasticity", {"sparsify.prune": False})


def rows_of(scores, axis=None):
    found = []
    for arm, values in scores.items():
        for seed, value in enumerate(values):
            facts = {
                "scores": {"w1_noisy": {"all": {"path": [value, value, value]}}},
                "active": 5,
                "full": 9,
            }
            found.append(
                Row(
                    "g", arm, "proper", None if axis is None else axis[seed], seed, Piece({}, facts)
                )
            )
    return found


def judged(check, rows):
    grid = reproduction.load("hyper-comparison").model_copy(
        update={"checks": (reproduction.Check(**check),)}
    )
    return claims.judge(Outcome(grid, "quick", 2, rows))[0]


ORDER = {
    "kind": "order",
    "says": "x",
    "score": "w1_noisy.all.path",
    "arms": ("a", "b"),
    "strict": (False,),
}


@pytest.mark.parametrize(
    ("a", "b", "holds"), [((1, 2), (2, 3), True), ((2, 3), (1, 2), False), ((1, 1), (1, 1), True)]
)
def test_an_order_holds_or_not_by_its_means(a, b, holds):
    assert judged(ORDER, rows_of({"a": a, "b": b})).holds == holds


def test_equal_is_not_strictly_less():
    assert not judged({**ORDER, "strict": (True,)}, rows_of({"a": (1,), "b": (1,)})).holds


@pytest.mark.parametrize(
    ("values", "holds"), [((5, 3, 2, 1), True), ((1, 2, 3, 5), False), ((2, 2, 2, 2), False)]
)
def test_a_trend_falls_or_not(values, holds):
    check = {"kind": "falls", "says": "x", "score": "w1_noisy.all.path"}
    verdict = judged(check, rows_of({"a": values}, axis=(1.0, 2.0, 4.0, 8.0)))
    assert verdict.holds == holds
    assert "rank correlation" in verdict.measured


def test_rank_correlation_is_spearmans():
    from scipy.stats import spearmanr

    random = np.random.default_rng(0)
    x, y = random.integers(0, 5, 40).astype(float), random.normal(size=40).round(1)
    assert claims.correlation(x, y) == pytest.approx(spearmanr(x, y).statistic)
