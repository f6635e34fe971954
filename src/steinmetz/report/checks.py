"""`steinmetz diagnose`: every check of a finished run, pass or fail, and what to do about it."""

from pathlib import Path

from steinmetz.infer import checks
from steinmetz.infer.checks import Check
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


def examine(summary: Summary) -> list[Check]:
    """All checks that apply to the method that sampled, and the points that are demanded."""
    return [*checks.examine(summary.inference), *_demanded(summary)]


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
