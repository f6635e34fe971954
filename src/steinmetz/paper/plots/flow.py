"""Particles of the L1 flow at its epochs: the third coordinate against the first, the second as colour."""

import numpy as np
from matplotlib.figure import Figure

from steinmetz.paper.reproduce import Outcome
from steinmetz.report.style import COLOURS


def draw(outcome: Outcome) -> Figure:
    """The first seed; a cross marks the mean of the likelihood."""
    arrays, facts = outcome.rows[0].found
    mean, epochs = outcome.grid.options["mean"], facts["epochs"]
    figure = Figure(figsize=(3.0 * len(epochs) + 0.6, 3.0), layout="constrained")
    axes = figure.subplots(1, len(epochs), sharex=True, sharey=True, squeeze=False)[0]
    for axis, epoch, particles in zip(axes, epochs, arrays["particles"], strict=True):
        shown = axis.scatter(
            particles[:, 0],
            particles[:, 2],
            c=particles[:, 1],
            s=12,
            cmap="viridis",
            vmin=-1,
            vmax=3,
            lw=0,
        )
        axis.plot(
            mean[0], mean[2], "x", color=COLOURS[1], ms=9, mew=2, label="mean of the likelihood"
        )
        zero = 100 * float(np.mean(particles[:, 2] == 0))
        axis.set_title(f"step {epoch}: θ₃ = 0 in {zero:.0f} %", fontsize=9)
        axis.set_xlabel("θ₁")
    axes[0].set_ylabel("θ₃")
    axes[0].legend(fontsize=7)
    figure.colorbar(shown, ax=axes, label="θ₂")
    return figure
