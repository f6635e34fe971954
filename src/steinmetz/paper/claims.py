"""Judge what the paper claims by what was measured: every claim holds or does not, with the figures."""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from steinmetz.paper.grids import Check
from steinmetz.paper.reproduce import Outcome, Row

# W1 at the reference counts as zero below this share of its largest value (a path need not contain the reference).
_ZERO = 0.005
# R² this little below the best is as good: where more is lost, the L-curve rolls off.
_CORNER = 0.01


class Verdict(NamedTuple):
    """A claim, the reading of the posterior it was judged in ('' where there is none), and what was measured."""

    says: str
    reading: str
    holds: bool
    measured: str


def score(row: Row, name: str) -> float:
    """A number of a row by its path, such as w1_noisy.all.path; of those with an interval the middle."""
    facts = row.found.facts
    if name == "count":  # what is not zero: of a carved law all of it
        return float(facts["active"] if facts["active"] < facts["full"] else facts["nonzero"])
    if name == "seconds.total":
        return float(facts["seconds"]["carve"] + facts["seconds"]["infer"])
    place: Any = facts
    head, *rest = name.split(".")
    place = facts["scores"][head] if head in facts.get("scores", {}) else facts[head]
    for part in rest:
        place = place[part]
    return float(place[0] if isinstance(place, list) else place)


def interval(row: Row, name: str) -> tuple[float, float, float]:
    """Value and bootstrap interval of a score."""
    head, *rest = name.split(".")
    place = row.found.facts["scores"][head]
    for part in rest:
        place = place[part]
    return float(place[0]), float(place[1]), float(place[2])


def judge(outcome: Outcome) -> list[Verdict]:
    """All verdicts of a figure; a claim about posteriors is judged in every reading."""
    found = []
    for check in outcome.grid.checks:
        rows = [row for row in outcome.rows if not check.source or row.grid == check.source]
        readings = list(dict.fromkeys(row.reading for row in rows))
        alone = len(readings) < 2
        for reading in readings:
            if not check.readings or reading in check.readings:
                chosen = [row for row in rows if row.reading == reading]
                holds, measured = _KINDS[check.kind](check, chosen, outcome)
                found.append(Verdict(check.says, "" if alone else reading, bool(holds), measured))
    return found


def means(rows: list[Row], arm: str, name: str) -> np.ndarray:
    """Scores of one arm, a seed each."""
    return np.array([score(row, name) for row in rows if row.arm == arm and row.value is None])


def _order(check: Check, rows: list[Row], outcome: Outcome) -> tuple[bool, str]:
    values = [means(rows, arm, check.score) for arm in check.arms]
    signs = ["<" if strict else "≤" for strict in check.strict]

    def ordered(numbers: list[float]) -> bool:
        pairs = zip(numbers, numbers[1:], check.strict, strict=False)
        return all(a < b if strict else a <= b for a, b, strict in pairs)

    middle = [float(value.mean()) for value in values]
    seeds = sum(ordered([float(value[i]) for value in values]) for i in range(len(values[0])))
    listed = ", ".join(
        f"{arm} {number:.3g}" for arm, number in zip(check.arms, middle, strict=True)
    )
    asked = " ".join(
        f"{arm} {sign}" for arm, sign in zip(check.arms, [*signs, ""], strict=True)
    ).strip()
    return ordered(
        middle
    ), f"{listed} (means over seeds; {asked} in {seeds} of {len(values[0])} seeds)"


def _bounded(least: bool) -> Callable[[Check, list[Row], Outcome], tuple[bool, str]]:
    def bounded(check: Check, rows: list[Row], outcome: Outcome) -> tuple[bool, str]:
        said, holds = [], True
        for arm in check.arms:
            values = means(rows, arm, check.score)
            worst = values.min() if least else values.max()
            holds &= bool(worst >= check.value if least else worst <= check.value)
            said.append(f"{arm} {_span(values)}")
        return (
            holds,
            f"{', '.join(said)} over seeds; asked: {'at least' if least else 'at most'} {check.value:g}",
        )

    return bounded


def _span(values: np.ndarray) -> str:
    low, high = f"{values.min():.4g}", f"{values.max():.4g}"
    return low if low == high else f"{low} to {high}"


def correlation(x: np.ndarray, y: np.ndarray) -> float:
    """Spearman's rank correlation; ties share their mean rank."""

    def ranked(values: np.ndarray) -> np.ndarray:
        return np.array([np.mean(np.flatnonzero(np.sort(values) == value)) for value in values])

    a, b = ranked(x), ranked(y)
    return float(np.corrcoef(a, b)[0, 1]) if np.ptp(a) and np.ptp(b) else 0.0


def _falls(check: Check, rows: list[Row], outcome: Outcome) -> tuple[bool, str]:
    if check.score == "roll_off":
        drops = {key: best - end for key, best, end, _ in _curve_facts(rows)}
        worst = min(drops, key=lambda key: drops[key])
        said = f"R² falls by at least {drops[worst]:.2g} ({worst}); asked: {check.value:g}"
        return min(drops.values()) >= check.value, said
    x = np.array([row.value for row in rows], float)
    y = np.array([score(row, check.score) for row in rows])
    places = np.unique(x)
    middle = [float(y[x == place].mean()) for place in places]
    rho, smooth = correlation(x, y), correlation(places, np.array(middle))
    said = f"from {middle[0]:.3g} at {places[0]:g} to {middle[-1]:.3g} at {places[-1]:g}"
    return smooth < 0 and middle[-1] < middle[
        0
    ], f"{said}; rank correlation {rho:.2f} (of the means {smooth:.2f})"


def _curve_facts(rows: list[Row]) -> list[tuple[str, float, float, float]]:
    """For every way and noise: its name, the best median R², that of the largest penalty, and the corner.

    The corner is the largest penalty at which R² is still as good as it gets: the optimum of an L-curve.
    """
    found = []
    for row in rows:
        a = row.found.arrays
        for method in dict.fromkeys(a["method"].tolist()):
            for noise in dict.fromkeys(a["noise"].tolist()):
                here = (a["method"] == method) & (a["noise"] == noise)
                penalties = np.unique(a["penalty"][here])
                median = [
                    float(np.nanmedian(a["r2"][here & (a["penalty"] == penalty)]))
                    for penalty in penalties
                ]
                best = float(np.nanmax(median))
                corner = max(i for i, value in enumerate(median) if value >= best - _CORNER)
                name = f"{method.upper()}, {100 * noise:g} % noise"
                found.append((name, best, median[-1], float(penalties[corner])))
    return found


def _steady(check: Check, rows: list[Row], outcome: Outcome) -> tuple[bool, str]:
    if check.score == "corner":
        spread: dict[str, list[float]] = {}
        for row in rows:
            corners: dict[str, list[float]] = {}
            for name, _, _, penalty in _curve_facts([row]):
                corners.setdefault(name.split(",")[0], []).append(penalty)
            for method, penalties in corners.items():
                spread.setdefault(method, []).append(max(penalties) / min(penalties))
        middle = {method: float(np.median(factors)) for method, factors in spread.items()}
        said = ", ".join(
            f"{method} by a factor of {factor:.2g}" for method, factor in middle.items()
        )
        holds = max(middle.values()) <= check.value
        return (
            holds,
            f"with the noise the corner moves: {said} (medians over seeds); asked: at most {check.value:g}",
        )
    by_value = {
        v: np.mean([score(r, check.score) for r in rows if r.value == v]) for v in (50.0, 100.0)
    }
    ratio = float(max(by_value.values()) / min(by_value.values()))
    said = f"{by_value[50.0]:.3g} with 50, {by_value[100.0]:.3g} with 100"
    return ratio <= check.value, said


def _zero(check: Check, rows: list[Row], outcome: Outcome) -> tuple[bool, str]:
    shares = []
    for row in rows:
        along = row.found.arrays[check.score].mean(axis=1)
        nearest = int(np.argmin(np.abs(row.found.arrays["coordinate"] - check.value)))
        shares.append(float(along[nearest] / along.max()))
    return max(
        shares
    ) <= _ZERO, f"at most {100 * max(shares):.2g} % of its largest value at the nearest point"


def _overlap(check: Check, rows: list[Row], outcome: Outcome) -> tuple[bool, str]:
    shares = []
    for row in rows:
        a = row.found.arrays
        moving = np.isin(row.found.facts["components"], row.found.facts["moving"])
        middle, sd = (
            (a["mean"], a["sd"])
            if check.score == "push_forward"
            else (a["predictive_mean"], a["predictive_sd"])
        )
        inside = np.abs(a["noisy"] - middle) <= 2 * sd
        shares.append(float(inside[:, moving].mean()))
    said = f"{100 * np.mean(shares):.0f} % of the data inside (mean over seeds)"
    return float(np.mean(shares)) >= check.value, said


def _faster(check: Check, rows: list[Row], outcome: Outcome) -> tuple[bool, str]:
    arm = check.arms[0]
    paper = outcome.grid.options["paper"][check.source][arm]
    seconds, count = means(rows, arm, "seconds.total"), means(rows, arm, "active")
    factor = paper["seconds"] / float(seconds.max())
    said = (
        f"{_span(seconds)} s and {_span(count)} parameters, the paper {paper['seconds']} s and {paper['parameters']}: "
        f"at least {factor:.0f} times faster"
    )
    return factor >= check.value and float(count.max()) <= paper["parameters"], said


def _wells(check: Check, rows: list[Row], outcome: Outcome) -> tuple[bool, str]:
    wells = {
        name: [len(one) for one in every] for name, every in rows[0].found.facts["wells"].items()
    }
    said = f"wells per slice: {wells[check.score]}"
    if check.score == "law":
        return wells["law"] == wells["truth"], f"{said}, truth {wells['truth']}"
    return max(wells[check.score]) >= check.value, said


def _driven(check: Check, rows: list[Row], outcome: Outcome) -> tuple[bool, str]:
    last = [row.found.arrays["particles"][-1] for row in rows]
    if check.score == "zero":
        share = min(float(np.mean(particles[:, 2] == 0)) for particles in last)
        return (
            share >= check.value,
            f"{100 * share:.0f} % of the particles or more have exactly zero there",
        )
    off = [
        np.abs(particles.mean(axis=0)[:2] - np.array(outcome.grid.options["mean"])[:2])
        for particles in last
    ]
    return float(np.max(off)) <= check.value, f"means off by at most {np.max(off):.2f}"


_KINDS: dict[str, Callable[[Check, list[Row], Outcome], tuple[bool, str]]] = {
    "order": _order,
    "falls": _falls,
    "least": _bounded(True),
    "most": _bounded(False),
    "zero": _zero,
    "overlap": _overlap,
    "faster": _faster,
    "steady": _steady,
    "wells": _wells,
    "driven": _driven,
}
