"""Tables of the page: laws and counts, scores with their intervals, cost."""

from typing import Any

import numpy as np

from steinmetz.paper import claims
from steinmetz.paper.plots.cost import TITLES
from steinmetz.paper.reproduce import Outcome, Row

_SCORES = {
    "w1_noisy": "W1 noisy",
    "w1_clean": "W1 clean",
    "w1_predictive": "W1 predictive",
    "w1_reference": "W1 to NUTS",
    "crps": "CRPS",
    "coverage_50": "50 % band",
    "coverage_90": "90 % band",
    "coverage_95": "95 % band",
}
_PARTS = ("path", "sampled", "extrapolated")
_NOTE = (
    "Mean over seeds, and the range of their 95 % bootstrap intervals (over particles and noise draws for W1, over "
    "path points for CRPS and coverage). Push-forward unless it says predictive; coverage: predictive bands."
)


def laws(outcome: Outcome) -> list[str]:
    """Closed forms of the first seed, where they can be read."""
    if outcome.grid.kind not in ("fits", "planes"):
        return []
    rows = [row for row in outcome.rows if row.seed == 0 and "law" in row.found.facts]
    return [
        f"{row.arm}: {row.found.facts['law']}" for row in rows if row.found.facts["active"] <= 40
    ]


def tables(outcome: Outcome) -> list[dict[str, Any]]:
    """What suits the kind of figure."""
    if outcome.grid.kind == "fits":
        return [_fits(outcome)]
    if outcome.grid.kind == "cost":
        return [_cost(outcome)]
    if outcome.grid.kind in ("distances", "bands", "trend"):
        return [table for part in _PARTS if (table := _scores(outcome, part))["lines"]]
    return []


def _fits(outcome: Outcome) -> dict[str, Any]:
    parts = ("path", "path_sampled", "path_extrapolated", "test", "energy")
    names = list(outcome.rows[0].found.facts["r2"]["per_component"])
    paper = outcome.grid.options["paper"]
    lines = []
    for row in outcome.rows:
        facts = row.found.facts
        r2 = [f"{facts['r2'][part]:.4f}" for part in parts]
        each = [f"{facts['r2']['per_component'].get(name, float('nan')):.4f}" for name in names]
        lines.append(
            [
                f"{row.arm}, seed {row.seed}",
                facts["full"],
                facts["nonzero"],
                facts["active"],
                paper[row.arm],
                *r2,
                *each,
                f"{facts['seconds']['carve']:.0f}",
            ]
        )
    head = [
        "",
        "weights",
        "not zero",
        "parameters",
        "paper",
        "R² path",
        "in range",
        "extrapolated",
        "test",
        "Ψ on path",
    ]
    note = (
        "R² against the clean truth; test and components: 2000 fresh states of the sampled domain. Not zero: weights "
        "after training; parameters: of the law that predicts, after pruning and refit (L2 keeps its network)."
    )
    return {"head": [*head, *names, "seconds"], "lines": lines, "note": note}


def _scores(outcome: Outcome, part: str) -> dict[str, Any]:
    rows = outcome.rows
    names = [
        name
        for name in _SCORES
        if name in {key for row in rows for key in row.found.facts["scores"]}
    ]
    kinds = [kind for kind in rows[0].found.facts["scores"]["crps"] if kind != "all"]
    kinds = kinds if len(kinds) > 1 else ["all"]
    title = {"path": "whole path", "sampled": "sampled range", "extrapolated": "extrapolated"}[part]
    head = [
        title,
        "parameters",
        *(_SCORES[n] + ("" if kind == "all" else f" {kind}") for n in names for kind in kinds),
    ]
    lines = []
    for key in dict.fromkeys((row.arm, row.reading, row.value) for row in rows):
        same = [row for row in rows if (row.arm, row.reading, row.value) == key]
        if part not in same[0].found.facts["scores"]["crps"]["all"]:
            continue
        value = "" if key[2] is None else f" at {key[2]:g}"
        counts = sorted({row.found.facts["active"] for row in same})
        cells = [_cell(same, f"{name}.{kind}.{part}") for name in names for kind in kinds]
        lines.append(
            [
                f"{key[0]}{value}, {key[1]}",
                "–".join(map(str, dict.fromkeys((counts[0], counts[-1])))),
                *cells,
            ]
        )
    return {"head": [*head, "seconds"], "lines": _timed(lines, rows), "note": _NOTE}


def _timed(lines: list[list[Any]], rows: list[Row]) -> list[list[Any]]:
    keys = list(dict.fromkeys((row.arm, row.reading, row.value) for row in rows))
    found = []
    for line, key in zip(lines, keys, strict=False):
        same = [row for row in rows if (row.arm, row.reading, row.value) == key]
        found.append(
            [*line, f"{np.mean([claims.score(row, 'seconds.total') for row in same]):.0f}"]
        )
    return found


def _cell(rows: list[Row], name: str) -> str:
    if name.split(".")[0] not in rows[0].found.facts["scores"]:
        return "–"
    every = [claims.interval(row, name) for row in rows]
    middle = np.mean([one[0] for one in every])
    return f"{middle:.3g} ({min(one[1] for one in every):.3g}–{max(one[2] for one in every):.3g})"


def _cost(outcome: Outcome) -> dict[str, Any]:
    lines = []
    for source in outcome.grid.sources:
        rows = [row for row in outcome.rows if row.grid == source]
        for arm in outcome.grid.arms:
            paper = outcome.grid.options["paper"][source][arm]
            seconds, count = (
                claims.means(rows, arm, "seconds.total"),
                claims.means(rows, arm, "active"),
            )
            particles = max(
                row.found.facts["inference"]["particles"] for row in rows if row.arm == arm
            )
            compiled = np.mean(
                [
                    sum(v for k, v in r.found.facts["seconds"].items() if "compile" in k)
                    for r in rows
                    if r.arm == arm
                ]
            )
            lines.append(
                [
                    f"{TITLES.get(source, source)}, {arm}",
                    f"{seconds.mean():.1f}",
                    f"{compiled:.1f}",
                    f"{paper['seconds']:,}",
                    f"{paper['seconds'] / seconds.mean():.0f}×",
                    "–".join(dict.fromkeys(f"{n:.0f}" for n in (count.min(), count.max()))),
                    paper["parameters"],
                    particles,
                ]
            )
    head = [
        "",
        "seconds here",
        "of them compiling",
        "paper's seconds",
        "ratio",
        "parameters here",
        "paper's",
        "particles",
    ]
    return {
        "head": head,
        "lines": lines,
        "note": "Carving and inference together, mean over seeds, proper reading.",
    }
