"""`steinmetz diagnose`: every check of a finished run, pass or fail, and what to do about it."""

from pathlib import Path

from steinmetz.assess.fit import Fit, Range
from steinmetz.assess.outliers import MOST
from steinmetz.infer import checks
from steinmetz.infer.checks import Check
from steinmetz.report.structures import Structures
from steinmetz.report.summary import Summary

# What to do where a point of the certificate is violated.
_SIGNS = "use a potential that keeps signs where they are demanded, such as potential.name=icnn"
_SOFT = "the data leave this stiffness open: add tests that strain it, or take another row (select)"
_ADVICE = {
    "objective": "let the material's inputs depend on FᵀF alone",
    "polyconvex": _SIGNS,
    "monotone": _SIGNS,
    "stress-free": "let the material's reference remove the stress at rest (method §1)",
    "bulk modulus": _SOFT,
    "shear modulus": _SOFT,
    "energy not negative": "do not use the law at the state that admissible.points names; add data "
    "towards it",
    "growth as J → 0": "the law must not be used at volumes far below those of the data; a term "
    "such as -log(J) has this growth, and material.growth=false does not ask for it",
    "growth as ‖F‖ → ∞": "the law must not be used at stretches far beyond those of the data; "
    "material.growth=false does not ask for it",
    "elliptic": "a solver may find spurious localisation there: take another row (select)",
    "bounded below": "the law must not be used at strains far beyond those of the data; take "
    "another row (select)",
}
_OTHERWISE = "see admissible.points in summary.json; take another row (select)"
# What to do where a check of the fit fails; of two, where the number is too small or too large.
_MORE = "measure more: with so few data the posterior is little more than the prior"
_ESTIMATED = "or have them 'estimated' (a network: noise.unknown=true)"
_LESS_NOISE = (
    f"the data scatter less than was stated: lower noise.relative or noise.absolute, {_ESTIMATED}"
)
_MISFIT = (
    _LESS_NOISE,
    "the law misses the data by more than their noise: take a larger row (steinmetz select), or "
    "state more noise (noise.relative, noise.absolute) or discrepancy (noise.floor)",
)
_SCATTER = (
    _LESS_NOISE,
    f"the data scatter more than was stated: raise noise.relative or noise.absolute, {_ESTIMATED}",
)
_TREND = (
    "the law misses something there: take a larger row (steinmetz select), lower "
    "sparsify.bic_slack, or state the discrepancy (noise.floor)"
)
_GROWTH = {
    "small": "errors do not vanish with the stress: state noise.absolute, or have it 'estimated'",
    "large": "errors grow with the stress by more than was stated: raise noise.relative, or have "
    "it 'estimated'",
    "inside": "the law misses something there, or these data are worse: take a larger row "
    "(steinmetz select), or state the discrepancy (noise.floor)",
}
_OUTLIERS = "look at these values; noise.tails=student keeps them from bending the law"
# Outliers that are named.
_NAMED = 5
_COVERAGE = (
    "the bands are too narrow: state the noise and the discrepancy (noise.floor) as they are, or "
    "take a larger row (steinmetz select)",
    "the bands are too wide: state less noise, or a smaller noise.floor",
)
# By how much closed form and draws may differ in the logarithm of the evidence, and the share of
# the draws that must count.
_CLOSE, _EFFECTIVE = 1.0, 0.1
_LINEAR = (
    "weights of laws and bands rest on a linear form that does not hold for this law: add data "
    "that fix its constants, or take the bands of the printed law alone (assess.bands=law)"
)
# Checks whose advice goes first: what is wrong with the fit is not mended by better sampling.
_BY_FIT = (
    *("data for the law", "outliers", "fit quality", "stated noise", "no trend left"),
    "even scatter",
)


def examine(summary: Summary) -> list[Check]:
    """All checks that apply: of the sampling, of the points that are demanded, of the fit."""
    found = [*checks.examine(summary.inference), *_demanded(summary), *fit_checks(summary.fit)]
    return [*found, *_evidence(summary.structures)]


def _evidence(found: Structures) -> list[Check]:
    """Whether the closed form of the evidence of the leading laws is that of their draws."""
    known = [row.evidence for row in found.laws if row.evidence is not None]
    if not known:
        return []
    worst = max(known, key=lambda each: abs(each.sampled - each.linear) - 3 * each.error)
    least = min(each.effective for each in known)
    differ = abs(worst.sampled - worst.linear)
    words = f"differs by {differ:.2f} ± {worst.error:.2f} from that by draws at most, "
    words += f"{100 * least:.0f} % of them effective"
    wanted = f"at most {_CLOSE:g}, {100 * _EFFECTIVE:.0f} % effective"
    passed = differ - 3 * worst.error <= _CLOSE and least >= _EFFECTIVE
    return [Check("evidence of laws", passed, words, wanted, _LINEAR)]


def _demanded(summary: Summary) -> list[Check]:
    """A check per point of the certificate that the material demands."""
    laws = summary.admissible.checked
    return [
        Check(
            name=point.name,
            passed=point.violated == 0,
            measured=f"{point.status}, {laws - point.violated} of {laws} laws: {point.sentence}",
            wanted="violated by none",
            advice=_ADVICE.get(point.name, _OTHERWISE),
        )
        for point in summary.admissible.points
        if point.status != "not demanded"
    ]


def fit_checks(fit: Fit) -> list[Check]:
    """Whether the law fits its data as well as the stated noise says, no worse and no better."""
    enough = fit.rows > 1 and fit.cells > fit.parameters
    counts = f"{fit.cells} values in {fit.rows} {'rows' if fit.rows > 1 else 'row'}"
    found = [
        Check("data for the law", enough, counts, f"more than {fit.parameters}, in rows", _MORE),
        _in_range("fit quality", "χ²/n ", fit.misfit, _MISFIT),
        _in_range("stated noise", "scatter over stated ", fit.scatter, _SCATTER),
    ]
    if (trend := fit.trend) is not None:
        words = f"{trend.value:.1f} standard errors, {trend.place}"
        flat = trend.value <= trend.limit
        found.append(Check("no trend left", flat, words, f"at most {trend.limit:.1f}", _TREND))
    if (covered := fit.coverage) is not None:
        row = _in_range("coverage, 90 % band", "", covered, _COVERAGE)
        found.append(row._replace(measured=f"{row.measured} of {covered.of}"))
    return [*found, *_sizes(fit)]


def _sizes(fit: Fit) -> list[Check]:
    """Whether some of the data scatter more than the others, and single values that do."""
    found = []
    if (growth := fit.growth) is not None:
        words = f"{growth.ratio:.2g} times the scatter {growth.place}"
        even = growth.value <= growth.limit
        wanted = "the same everywhere, within chance"
        found.append(Check("even scatter", even, words, wanted, _GROWTH[growth.end]))
    named = [f"{each.place}, {each.component} ({each.deviations:+.1f})" for each in fit.outliers]
    more = f" and {len(named) - _NAMED} more" if len(named) > _NAMED else ""
    count = f"{len(named)} or more" if len(named) == MOST else f"{len(named)}"
    words = f"{count}: {'; '.join(named[:_NAMED])}{more}" if named else "none"
    wanted = "any, with Student's tails" if fit.tails else "none"
    found.append(Check("outliers", fit.tails or not named, words, wanted, _OUTLIERS))
    return found


def _in_range(name: str, label: str, found: Range, advice: tuple[str, str]) -> Check:
    """A number between two; the first advice is for one too small, the second for one too large."""
    wanted = f"{found.low:.2f} to {found.high:.2f}"
    remedy = advice[found.value > found.high]
    return Check(name, found.inside, f"{label}{found.value:.3g}", wanted, remedy)


def advice(results: list[Check]) -> str:
    """One sentence on what failed first and what to do about it; empty if all pass."""
    failed = [check for check in results if not check.passed]
    if not failed:
        return ""
    order = {name: place for place, name in enumerate(_BY_FIT)}
    first = min(failed, key=lambda check: order.get(check.name, len(order)))
    if first.name in _BY_FIT:
        return f"{first.name}: {first.measured} (wanted: {first.wanted}); {first.advice}"
    return f"{first.name}: {first.advice}"


def screen(results: list[Check], summary: Summary, folder: Path) -> str:
    """One line per check, advice under those that fail."""
    done, active = summary.inference, summary.parameters.active
    lines = [
        f"  {folder}: {done.method}, {done.draws} draws of {active} parameters",
        f"  {done.reason}; {done.stopped}",
        "",
    ]
    for check in results:
        mark = "pass" if check.passed else "FAIL"
        lines.append(f"  {mark}  {check.name:<24} {check.measured}  (wanted: {check.wanted})")
        if not check.passed:
            lines.append(f"        → {check.advice}")
    passed = sum(check.passed for check in results)
    return "\n".join([*lines, "", f"  {passed} of {len(results)} checks pass"])
