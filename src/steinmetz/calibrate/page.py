"""Write a calibration: all numbers as JSON, a page in Markdown, and a figure."""

import datetime
from importlib import metadata
from pathlib import Path

import jinja2
import matplotlib
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FixedLocator, FuncFormatter, NullLocator
from pydantic import Field

from steinmetz.assess import ranks
from steinmetz.calibrate.judged import DataSet, Record
from steinmetz.calibrate.tables import CLASSES, PARTS, Group, Mean, Way, classed, grouped, summed
from steinmetz.calibrate.ways import EVIDENCE, JACKKNIFE, LEVELS, ORACLE, USUAL
from steinmetz.report.style import COLOURS, STYLE
from steinmetz.report.whole import replace

MARKER = "calibration.json"
# Marks of widths beside the oracle's.
_RATIOS = (0.5, 0.7, 1.0, 1.5, 2.0, 3.0, 5.0, 10.0, 20.0, 50.0, 100.0)
# Words for every way, in the order of the tables.
WAYS = {
    USUAL: "averaged over bootstraps of the tensors, as runs do",
    EVIDENCE: "by evidence and price",
    "stacked": "the likeliest mixture of left-out tensors",
    "pseudo-BMA+": "by the density of left-out tensors, over Bayesian bootstraps",
    "single": "the printed law alone",
    JACKKNIFE: "refits without each tensor; for new noisy data only",
    ORACLE: "knows the structure, estimates its parameters",
}


class Calibration(Record):
    """What `calibration.json` has."""

    version: str
    date: str
    command: str
    functional: str = Field(description="whose ranks are taken")
    seconds: float = Field(description="of all data sets, whoever did them and when")
    ways: dict[str, Way]
    groups: list[Group]
    data: list[DataSet]


def about(data: list[DataSet], command: str) -> Calibration:
    """Everything that is written of some data sets."""
    found = summed(data)
    return Calibration(
        version=metadata.version("steinmetz"),
        date=datetime.datetime.now(datetime.UTC).date().isoformat(),
        command=command,
        functional=data[0].functional,
        seconds=sum(each.seconds for each in data),
        ways={name: found[name] for name in WAYS if name in found},
        groups=grouped(data),
        data=data,
    )


def save(data: list[DataSet], folder: Path, command: str) -> Calibration:
    """`calibration.json`, `calibration.md` and `calibration.png`, each whole or not at all."""
    folder.mkdir(parents=True, exist_ok=True)
    found = about(data, command)
    with matplotlib.rc_context(STYLE):
        beside = folder / ".calibration.tmp.png"
        draw(found).savefig(beside)
        beside.replace(folder / "calibration.png")
    replace(folder / "calibration.md", rendered("calibration.md", found, folder))
    replace(folder / MARKER, found.model_dump_json(indent=1))
    return found


def rendered(name: str, found: Calibration, folder: Path) -> str:
    """A template of this folder."""
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(Path(__file__).parent), undefined=jinja2.StrictUndefined
    )
    environment.filters.update(spread=_spread, short=_short)
    words = {"parts": PARTS, "levels": LEVELS, "words": WAYS, "usual": USUAL}
    template = environment.get_template(name)
    return template.render(about=found, folder=folder, **words)


def _short(value: Mean | None) -> str:
    """Three digits."""
    return "–" if value is None else f"{value.value:.3g}"


def _spread(value: Mean | None) -> str:
    """With its interval."""
    return "–" if value is None else f"{value.value:.3g} ({value.low:.3g}–{value.high:.3g})"


def draw(found: Calibration) -> Figure:
    """Coverage beside its level in range and beyond, width beside coverage, and ranks."""
    figure = Figure(figsize=(8.4, 6.6), layout="constrained")
    axes = figure.subplots(2, 2)
    colours = dict(zip(WAYS, (*COLOURS, "black"), strict=False))
    for axis, part in zip(axes[0], PARTS, strict=True):
        _levels(axis, found, part, colours)
    _widths(axes[1, 0], found, colours)
    _ranks(axes[1, 1], found, colours)
    axes[0, 0].legend(fontsize=7)
    return figure


def _levels(axis: Axes, found: Calibration, part: str, colours: dict[str, str]) -> None:
    """What a band should cover, and what it does, with intervals over data sets."""
    axis.plot([45, 100], [0.45, 1], color="0.6", lw=0.8)
    for place, (name, way) in enumerate(found.ways.items()):
        figures = way.clean.get(part)
        if figures is None:
            continue
        means = [figures[f"coverage {level}"] for level in LEVELS]
        error = [[m.value - m.low for m in means], [m.high - m.value for m in means]]
        shifted = [level + 0.5 * (place - 2) for level in LEVELS]
        values = [m.value for m in means]
        axis.errorbar(
            shifted, values, np.maximum(error, 0), fmt="o-", ms=3, lw=1, label=name,
            color=colours[name],
        )  # fmt: skip
    axis.set_xlabel("level of the band, %")
    axis.set_ylabel(f"clean truth inside, {part}")
    axis.set_ylim(0, 1.02)


def _widths(axis: Axes, found: Calibration, colours: dict[str, str]) -> None:
    """Width of the 95 % band beside that of the oracle, and what it covers, by law and noise."""
    for group in found.groups:
        for name, way in group.ways.items():
            figures = way.clean.get("in range", {})
            ratio = figures.get("width / oracle")
            if ratio is not None:
                inside = figures["coverage 95"].value
                axis.plot(ratio.value, inside, "o", ms=4, alpha=0.7, color=colours[name])
    axis.axhline(0.95, color="0.6", lw=0.8)
    axis.set_xscale("log")
    axis.xaxis.set_major_locator(FixedLocator(_RATIOS))
    axis.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    axis.xaxis.set_minor_locator(NullLocator())
    axis.set_xlabel("width of the 95 % band / that of the oracle, in range")
    axis.set_ylabel("inside, a point per law and noise")


def _ranks(axis: Axes, found: Calibration, colours: dict[str, str]) -> None:
    """Distance of the ranks from uniform, and what uniform ones keep in 95 of 100 samples."""
    place, band = np.arange(1, CLASSES) / CLASSES, np.zeros(CLASSES - 1)
    for name, way in found.ways.items():
        if way.ranks is None:
            continue
        every = [each.ways[name].rank or 0 for each in found.data]
        distance, error = ranks.apart(classed(every), CLASSES - 1)
        axis.plot(place, distance, lw=1, color=colours[name])
        band = way.ranks.limit * error
    axis.fill_between(place, -band, band, color="0.85", lw=0, zorder=0)
    axis.set_xlabel(f"rank of the truth among draws, {found.functional}")
    axis.set_ylabel("empirical CDF − uniform")


def screen(found: Calibration, folder: Path) -> str:
    """The main figures of every way, and where the page is."""
    return rendered("calibration.txt", found, folder)
