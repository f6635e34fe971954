"""Figures of a run: path with bands, gates over training, marginals, and (measured data) predicted against measured."""

from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import matplotlib
import numpy as np
from jaxtyping import Float
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from steinmetz.engine.run import Result
from steinmetz.predict.push_forward import components as predict
from steinmetz.predict.push_forward import predictive, push_forward
from steinmetz.records import StressMap
from steinmetz.report.planes import planes
from steinmetz.report.style import COLOURS, STYLE

# Histograms of the first parameters only; nobody reads a thousand.
_MARGINALS = 48


def draw(result: Result, folder: Path) -> dict[str, Path]:
    """Draw everything; returns captions and files, in the order of reading."""
    drawn = {}
    plots = {
        "path.png": (
            path,
            "Energy and stress along the validation path, with 95 % bands of law and of data",
        ),
        "gates.png": (gates, "Weights left over training, and what the law was chosen from"),
        "marginals.png": (marginals, "Posterior of the parameters"),
    }
    if result.along.truth is None:
        plots["parity.png"] = (
            parity,
            "Predicted against measured stress, with 95 % predictive bands",
        )
    if result.problem.physics.planes:
        plots["planes.png"] = (
            planes,
            "Slices of Ψ through the reference, with the minima of each slice",
        )
    with matplotlib.rc_context(STYLE):
        for name, (plot, caption) in plots.items():
            figure = plot(result)
            figure.savefig(folder / name)
            drawn[caption] = folder / name
    return drawn


def _moving(result: Result) -> list[int]:
    return distinct(result.along.law if result.along.truth is None else result.along.truth)


def distinct(values: Float[np.ndarray, "points components"]) -> list[int]:
    """Components that vary along the path; equal ones (S22 = S33) once."""
    kept: list[int] = []
    for index in range(values.shape[1]):
        repeated = any(np.allclose(values[:, index], values[:, other]) for other in kept)
        if np.ptp(values[:, index]) > 1e-12 * np.ptp(values) and not repeated:
            kept.append(index)
    return kept


def path(result: Result) -> Figure:
    """Ψ (never observed) above, stress below; dotted lines bound the sampled range."""
    along, course = result.along, result.problem.path
    figure = Figure(figsize=(6.4, 6.4), layout="constrained")
    top, bottom = figure.subplots(2, 1, sharex=True, height_ratios=[1, 1.6])
    x = course.coordinate
    low, high = np.quantile(along.pushed_energy, [0.025, 0.975], axis=0)
    top.fill_between(x, low, high, color=COLOURS[0], alpha=0.3, lw=0, label="95 % push-forward")
    top.plot(
        x, along.law_energy, color=COLOURS[0], label=f"law, {result.law.graph.size} parameters"
    )
    if along.truth_energy is not None:
        top.plot(x, along.truth_energy, "k--", lw=1, label="truth (never observed)")
    top.set_ylabel("energy Ψ")
    top.legend()
    for colour, index in zip(COLOURS, _moving(result), strict=False):
        _stress(bottom, result, index, colour)
    bottom.set_xlabel(course.label)
    bottom.set_ylabel(", ".join(sorted({name.rstrip("0123456789") for name in along.components})))
    bottom.legend(loc="lower right")
    for axis in (top, bottom):
        for border in (
            x[course.sampled].min(initial=np.inf),
            x[course.sampled].max(initial=-np.inf),
        ):
            if x.min() < border < x.max():
                axis.axvline(border, color="0.3", ls=":", lw=1)
    return figure


def _stress(axis: Any, result: Result, index: int, colour: str) -> None:
    along, x = result.along, result.problem.path.coordinate
    name = along.components[index]
    for samples, alpha in ((along.predictive, 0.15), (along.pushed, 0.4)):
        low, high = np.quantile(samples[:, :, index], [0.025, 0.975], axis=0)
        axis.fill_between(x, low, high, color=colour, alpha=alpha, lw=0)
    axis.plot(
        x, along.law[:, index], color=colour, label=f"{name} law (inner band: law, outer: data)"
    )
    if along.truth is not None and along.noisy is not None:
        every = max(1, len(x) // 100)
        axis.plot(
            x[::every],
            along.noisy[0, ::every, index],
            ".",
            ms=3,
            color=colour,
            label=f"{name} noisy validation",
        )
        axis.plot(x, along.truth[:, index], "k--", lw=1)


def gates(result: Result) -> Figure:
    """Left: weights that are not zero at test time, one line per restart. Right: BIC of the best law of each size."""
    carved = result.carved
    figure = Figure(figsize=(7.2, 3.2), layout="constrained")
    left, right = figure.subplots(1, 2)
    left.plot(carved.steps, np.maximum(carved.active, 1), lw=1)
    left.set_yscale("log")
    left.set_xlabel("step")
    left.set_ylabel("weights left")
    right.plot(
        [row.active for row in carved.table],
        [row.criterion for row in carved.table],
        "o-",
        color=COLOURS[0],
        ms=4,
    )
    chosen = carved.chosen
    right.plot(
        chosen.active,
        chosen.criterion,
        "o",
        ms=9,
        mfc="none",
        mec=COLOURS[1],
        mew=2,
        label="chosen",
    )
    right.set_yscale("log")
    right.xaxis.set_major_locator(MaxNLocator(integer=True))
    right.set_xlabel("active parameters")
    right.set_ylabel("BIC (lower is better)")
    right.legend()
    return figure


def marginals(result: Result) -> Figure:
    """Histogram of the particles, MAP marked."""
    shown = slice(None, _MARGINALS)
    names, values = result.law.names()[shown], np.asarray(result.law.values)[shown]
    draws = result.particles[:, shown]
    columns = min(4, len(names))
    rows = -(-len(names) // columns)
    figure = Figure(figsize=(2.0 * columns + 0.6, 1.8 * rows + 0.4), layout="constrained")
    axes = np.atleast_1d(figure.subplots(rows, columns)).ravel()
    for axis, name, value, column in zip(axes, names, values, draws.T, strict=False):
        axis.hist(column, bins=min(30, max(5, len(draws) // 10)), color=COLOURS[0], alpha=0.7)
        axis.axvline(value, color=COLOURS[1], lw=1.5)
        axis.set_title(name, fontsize=9)
        axis.set_yticks([])
    for axis in axes[len(names) :]:
        axis.set_axis_off()
    figure.supxlabel("parameter (line: MAP)", fontsize=9)
    return figure


def parity(result: Result) -> Figure:
    """Measured rows: held-out ones where there are any, else all."""
    shown = result.problem.held_out or result.problem.train
    at = StressMap(shown.inputs, shown.operator)
    pushed = push_forward(result.law, jnp.asarray(result.particles), at)[0]
    key = jax.random.key(result.study.seed)
    floor = result.study.noise.floor * result.problem.train.scale
    drawn = predictive(key, pushed, shown.relative, shown.absolute, floor, result.ensemble.factor)
    low, high = np.quantile(drawn, [0.025, 0.975], axis=0)
    predicted = np.asarray(predict(result.law, at))
    figure = Figure(figsize=(4.6, 4.4), layout="constrained")
    axis = figure.subplots()
    for index, name in enumerate(shown.components):
        seen = np.asarray(shown.observed)[:, index]
        y = predicted[seen, index]
        bars = np.maximum([y - low[seen, index], high[seen, index] - y], 0.0)
        colour = COLOURS[index % len(COLOURS)]
        axis.errorbar(
            np.asarray(shown.values)[seen, index],
            y,
            bars,
            fmt=".",
            ms=4,
            lw=0.6,
            color=colour,
            label=name,
        )
    low_end, high_end = axis.get_xlim()
    axis.plot([low_end, high_end], [low_end, high_end], "k--", lw=1)
    held_out = result.problem.held_out is not None
    axis.set_xlabel(f"measured stress ({'held-out' if held_out else 'fitted'} rows)")
    axis.set_ylabel("predicted stress")
    axis.legend(ncols=2, fontsize=7)
    return figure
