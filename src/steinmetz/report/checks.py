"""`steinmetz diagnose`: every check of a finished run, pass or fail, and what to do about it."""

from pathlib import Path

from steinmetz.infer import checks
from steinmetz.infer.checks import Check
from steinmetz.report.summary import Summary


def examine(summary: Summary) -> list[Check]:
    """All checks that apply to the method that sampled, and that of the certificate."""
    checked, violated = summary.admissible.checked, summary.admissible.violated
    admissible = Check(
        name="admissible laws",
        passed=violated == 0,
        measured=f"{checked - violated} of {checked}",
        wanted="all",
        advice="see admissible.faults in summary.json; sample fewer parameters (--parameters)",
    )
    return [*checks.examine(summary.inference), admissible]


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
