"""Every check of how a posterior was sampled: pass or fail, and what to do about it."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from steinmetz.errors import InputError

# Limits: R-hat and effective draws as in Vehtari et al. (2021); the others by the experiments in docs/samplers.md.
_R_HAT, _EFFECTIVE, _DISCREPANCY, _COLLAPSED, _REST = 1.01, 400, 2.0, 0.5, 0.02
_ACCEPTED = (0.3, 0.95)
_NOISY, _CHAINS = ("ssvgd", "ssvn"), ("hmc", "nuts")


class Check(NamedTuple):
    """`measured` and `wanted` are words with numbers; `advice` is for when it fails."""

    name: str
    passed: bool
    measured: str
    wanted: str
    advice: str


def read(folder: Path) -> dict[str, Any]:
    """The summary of a finished run."""
    try:
        summary = json.loads((folder / "summary.json").read_text(encoding="utf-8"))
        if "discrepancy" not in summary.inference:
            raise KeyError
    except OSError:
        raise InputError(f"{folder}: no finished run there (summary.json is missing)") from None
    except (ValueError, KeyError, TypeError):
        raise InputError(
            f"{folder}/summary.json is damaged or of another version; run the study again"
        ) from None
    return summary


def examine(summary: dict[str, Any]) -> list[Check]:
    """All checks that apply to the method."""
    found, proof = summary.inference, summary.admissible
    checks = [*_always(found)]
    if found.method in _NOISY + _CHAINS:
        checks += _chains(found)
    if found.method in _CHAINS:
        count = int(found.totals["divergent"])
        checks.append(
            Check("divergences", count == 0, str(count), "0",
                  "raise infer.acceptance towards 0.99, or set infer.metric=dense")
        )  # fmt: skip
    if found.method == "ssvn" and found.totals["tried"] > 0:
        share = found.totals["accepted"] / max(found.totals["tried"], 1)
        low, high = _ACCEPTED
        checks.append(
            Check("accepted moves", low <= share <= high, f"{share:.2f}", f"{low} to {high}",
                  "raise infer.warm_up, so that the size of the moves is found")
        )  # fmt: skip
    violated = proof.violated
    checks.append(
        Check("admissible laws", violated == 0, f"{proof.checked - violated} of {proof.checked}", "all",
              "see admissible.faults in summary.json; sample fewer parameters (--parameters)")
    )  # fmt: skip
    return checks


def _always(found: dict[str, Any]) -> Iterator[Check]:
    frozen, collapse = (
        found.frozen,
        "use infer.method=auto, whose noise keeps the variance, or more particles",
    )
    yield Check("finite particles", not frozen, f"{len(frozen)} of {found.particles} frozen", "none",
                "a smaller infer.rate or prior.deviation; look at the data for outliers")  # fmt: skip
    if found.method in ("svgd", "psvgd"):
        length = found.direction
        rest = length is not None and length < _REST
        yield Check("at rest", rest, "not finite" if length is None else f"direction {length:.2g}", f"below {_REST}",
                    "raise infer.steps, or set infer.batch to use all data")  # fmt: skip
    share, expected = found.discrepancy, found.expected
    good = share is not None and share <= _DISCREPANCY * expected
    words = "not finite" if share is None else f"KSD {share:.3g}"
    yield Check("Stein discrepancy", good, words, f"at most {_DISCREPANCY * expected:.3g}",
                "the posterior is far from a Gaussian or not yet reached: raise infer.steps and infer.warm_up, or "
                "compare with infer.method=nuts")  # fmt: skip
    mean = found.mean_variance
    low, high = found.variance
    spread = "not finite" if mean is None else f"{low:.2g} to {high:.2g}, mean {mean:.2f}"
    yield Check("variance over Laplace's", mean is not None and mean >= _COLLAPSED and low >= _COLLAPSED / 2, spread,
                f"mean at least {_COLLAPSED}, all at least {_COLLAPSED / 2}", collapse)  # fmt: skip


def _chains(found: dict[str, Any]) -> Iterator[Check]:
    longer = "raise infer.steps, or infer.thin with it; with few parameters try infer.method=nuts"
    if found.r_hat is None:
        yield Check(
            "R-hat", False, f"unknown with {found.snapshots} snapshots", f"below {_R_HAT}", longer
        )
        return
    limit = _R_HAT + 3 * _scatter(found)
    yield Check("R-hat", found.r_hat < limit, f"{found.r_hat:.3f}", f"below {limit:.3f}", longer)
    for name in ("bulk", "tail"):
        count = getattr(found, name) or 0.0
        yield Check(
            f"effective draws, {name}",
            count >= _EFFECTIVE,
            f"{count:.0f}",
            f"at least {_EFFECTIVE}",
            longer,
        )


def _scatter(found: dict[str, Any]) -> float:
    """Standard error of split R-hat for independent draws: 2m halves of n/2 draws each, R-hat² = 1 + (F − 1)/(n/2)."""
    return float((1 / max(found.particles, 1)) ** 0.5 / max(found.snapshots, 1))


def screen(checks: list[Check], summary: dict[str, Any], folder: Path) -> str:
    """One line per check, advice under those that fail."""
    found = summary.inference
    lines = [
        f"  {folder}: {found.method}, {found.draws} draws of {summary.parameters.active} parameters",
        f"  {found.reason}; {found.stopped}",
        "",
    ]
    for check in checks:
        mark = "pass" if check.passed else "FAIL"
        lines.append(f"  {mark}  {check.name:<24} {check.measured}  (wanted: {check.wanted})")
        if not check.passed:
            lines.append(f"        → {check.advice}")
    failed = sum(not check.passed for check in checks)
    lines += ["", f"  {len(checks) - failed} of {len(checks)} checks pass"]
    return "\n".join(lines)
