"""Candidates for the next test as a table, a picture and a few lines."""

import io
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from steinmetz.engine.following import Following, following
from steinmetz.engine.outcome import Outcome
from steinmetz.errors import InputError
from steinmetz.potentials import terms
from steinmetz.report import whole

if TYPE_CHECKING:
    from matplotlib.figure import Figure

# Candidates that are printed.
_PRINTED = 8


def ranked(
    outcome: Outcome, points: int, relative: float | None, absolute: float | None
) -> list[Following]:
    """Candidates, the best first; the noise of the rig is that of the run unless given."""
    if not isinstance(outcome.study.potential, terms.Config):
        raise InputError(
            "the next test is named by laws that may hold, and a law carved from a network stands "
            "alone; use potential.name = 'terms'"
        )
    known = outcome.problem.noisy(outcome.problem.train)
    own = [float(np.mean(np.asarray(part))) for part in (known.relative, known.absolute)]
    noise = (own[0] if relative is None else relative, own[1] if absolute is None else absolute)
    if noise == (0.0, 0.0):
        raise InputError("without noise any test says everything; give --relative-noise")
    return following(outcome.problem, outcome.bands, points, noise, outcome.study.seed)


def save(found: list[Following], folder: Path) -> None:
    """`next.csv` and `figures/next.png` in the folder of the run."""
    names = list(Following.model_fields)
    lines = [",".join(names)]
    lines += [
        ",".join(str(getattr(each, name)).replace(",", ";") for name in names) for each in found
    ]
    whole.replace(folder / "next.csv", "\n".join(lines))
    target, made = folder / "figures" / "next.png", io.BytesIO()
    draw(found).savefig(made, format="png", dpi=150)
    target.parent.mkdir(exist_ok=True)
    whole.replace_bytes(target, made.getvalue())


def draw(found: list[Following]) -> "Figure":
    """Every candidate: width of the bands after it, and the doubt it resolves."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(8, 0.32 * len(found) + 1.2), layout="constrained")
    axes = figure.subplots(1, 2, sharey=True)
    place = np.arange(len(found))[::-1]
    axes[0].barh(place, [each.narrower for each in found], color="#2b6cb0")
    axes[1].barh(place, [100 * each.resolved for each in found], color="#b7791f")
    words = [f"{each.test.replace('_', ' ')} to {each.column} {each.end:.3g}" for each in found]
    axes[0].set_yticks(place, words)
    axes[0].set_xlabel("width of the bands after it, over now")
    axes[1].set_xlabel("doubt about the law resolved (%)")
    axes[0].set_xlim(0, 1)
    axes[1].set_xlim(0, 100)
    return figure


def screen(found: list[Following], folder: Path) -> str:
    """The best candidates, a line each."""
    head = f"  {'test':<28} {'to':>18} {'points':>7} {'bands':>7} {'doubt resolved':>15}"
    lines = ["", head]
    for each in found[:_PRINTED]:
        end = f"{each.column} {each.end:.3g}"
        lines.append(
            f"  {each.test.replace('_', ' '):<28} {end:>18} {each.points:>7} "
            f"{each.narrower:>7.2f} {100 * each.resolved:>13.0f} %"
        )
    best = found[0]
    return "\n".join([
        *lines,
        "",
        f"  next        {best.sentence}",
        f"  table       {folder / 'next.csv'}",
        f"  picture     {folder / 'figures' / 'next.png'}",
    ])  # fmt: skip
