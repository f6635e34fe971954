"""What the figures of the reproduction share."""

from typing import Any

import numpy as np
from matplotlib.ticker import FormatStrFormatter, LogLocator, NullFormatter

from steinmetz.paper.reproduce import Outcome, Row
from steinmetz.report.figures import distinct
from steinmetz.report.style import COLOURS

# Every method looks the same in every figure.
LOOKS: dict[str, tuple[str, Any]] = {
    "L0+SVGD": (COLOURS[0], "-"),
    "L1+SVGD": (COLOURS[4], "-"),
    "L2+SVGD": (COLOURS[1], "-"),
    "L2+pSVGD": (COLOURS[2], "-"),
    "L0+HMC": (COLOURS[3], "--"),
    "L0+NUTS": ("0.15", ":"),
    "L0+default": (COLOURS[5], "-."),
    "L0/MLP+SVGD": (COLOURS[0], (0, (1, 1))),
}
READINGS = {"tempered": "tempered (paper)", "proper": "proper posterior"}


def borders(axis: Any, row: Row) -> None:
    """Green lines where the sampled range ends; beyond is extrapolation."""
    x, inside = row.found.arrays["coordinate"], row.found.arrays["sampled"].astype(bool)
    for border in (x[inside].min(initial=np.inf), x[inside].max(initial=-np.inf)):
        if x.min() < border < x.max():
            axis.axvline(border, color=COLOURS[2], lw=0.9, alpha=0.8, zorder=0)


def plain_ticks(axis: Any) -> None:
    """1, 2, 5, 10 … along a logarithmic axis that spans little."""
    axis.set_major_locator(LogLocator(subs=(1, 2, 5)))
    axis.set_major_formatter(FormatStrFormatter("%g"))
    axis.set_minor_formatter(NullFormatter())


def readings(outcome: Outcome) -> list[str]:
    return list(dict.fromkeys(row.reading for row in outcome.rows))


def of_kind(row: Row, name: str, kind: str) -> np.ndarray:
    """W1 (or another score along the path), mean over the components of a kind ('all', 'S', 'mu')."""
    chosen = [kind in ("all", other.rstrip("0123456789")) for other in row.found.facts["moving"]]
    return np.asarray(row.found.arrays[name][:, np.array(chosen)].mean(axis=1))


def shown(row: Row) -> list[int]:
    """Components that vary along the path; equal ones once."""
    return distinct(row.found.arrays["truth"])
