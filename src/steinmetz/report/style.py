"""One style for all figures, and what several of them draw."""

from typing import Any

import numpy as np
from jaxtyping import Bool, Float
from matplotlib.axes import Axes

# Okabe–Ito: distinguishable with every kind of colour vision.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9")
STYLE: dict[Any, Any] = {
    "font.size": 9,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "grid.alpha": 0.25,
    "legend.frameon": False,
    "savefig.dpi": 160,
}
# Room above and below the sampled range, in its height.
_ROOM = 0.8


def distinct(values: Float[np.ndarray, "points components"]) -> list[int]:
    """Components that vary along the path; equal ones (S22 = S33) once."""
    kept: list[int] = []
    for index in range(values.shape[1]):
        repeated = any(np.allclose(values[:, index], values[:, other]) for other in kept)
        if np.ptp(values[:, index]) > 1e-12 * np.ptp(values) and not repeated:
            kept.append(index)
    return kept


def limits(sampled: Bool[np.ndarray, "points"], *curves: np.ndarray) -> tuple[float, float] | None:
    """What to show of curves: the sampled range and some room; None where there is nothing."""
    every = np.stack([np.broadcast_to(curve, sampled.shape) for curve in curves])
    if not sampled.any():
        return None
    inside = every[:, sampled]
    low, high = float(np.nanmin(inside)), float(np.nanmax(inside))
    room = _ROOM * (high - low)
    least, most = max(low - room, np.nanmin(every)), min(high + room, np.nanmax(every))
    margin = 0.04 * (most - least)
    return (float(least - margin), float(most + margin)) if most > least else None


def focus(axis: Axes, sampled: Bool[np.ndarray, "points"], *curves: np.ndarray) -> None:
    """Limits that show the sampled range well: what explodes beyond it runs out of the picture."""
    shown = limits(sampled, *curves)
    if shown is not None:
        axis.set_ylim(*shown)


def mark_range(
    axis: Axes, x: Float[np.ndarray, "points"], sampled: Bool[np.ndarray, "points"]
) -> None:
    """Dotted lines where the sampled range ends."""
    inside = x[sampled]
    for border in (inside.min(initial=np.inf), inside.max(initial=-np.inf)):
        if x.min() < border < x.max():
            axis.axvline(border, color="0.3", ls=":", lw=1)
