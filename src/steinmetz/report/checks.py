"""`steinmetz diagnose`: every check of a finished run, pass or fail, and what to do about it."""

import json
from pathlib import Path
from typing import Any

import pydantic

from steinmetz.errors import InputError
from steinmetz.infer import checks
from steinmetz.infer.checks import Check, Inference


def read(folder: Path) -> dict[str, Any]:
    """The summary of a finished run."""
    try:
        summary: dict[str, Any] = json.loads((folder / "summary.json").read_text(encoding="utf-8"))
        Inference.model_validate(summary["inference"])
    except OSError:
        raise InputError(f"{folder}: no finished run there (summary.json is missing)") from None
    except (ValueError, KeyError, TypeError, pydantic.ValidationError):
        raise InputError(
            f"{folder}/summary.json is damaged or of another version; run the study again"
        ) from None
    return summary


def examine(summary: dict[str, Any]) -> list[Check]:
    """All checks that apply to the method that sampled, and that of the certificate."""
    proof = summary["admissible"]
    checked, violated = proof["checked"], proof["violated"]
    admissible = Check(
        "admissible laws", violated == 0, f"{checked - violated} of {checked}", "all",
        "see admissible.faults in summary.json; sample fewer parameters (--parameters)",
    )  # fmt: skip
    return [*checks.examine(Inference.model_validate(summary["inference"])), admissible]


def screen(results: list[Check], summary: dict[str, Any], folder: Path) -> str:
    """One line per check, advice under those that fail."""
    done = Inference.model_validate(summary["inference"])
    active = summary["parameters"]["active"]
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
