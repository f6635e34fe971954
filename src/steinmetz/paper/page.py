"""Write the reproduction: figures, one offline page, a short version of it, and all numbers.

Texts are templates beside this file: the page, its Markdown version, and what the command prints.
"""

import base64
import dataclasses
import datetime
import json
import os
import platform
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path

import jinja2
import matplotlib

from steinmetz.paper import claims, grids
from steinmetz.paper.records import Details, Outcome, Record, Table
from steinmetz.paper.reproduce import kind_of
from steinmetz.report.files import write
from steinmetz.report.style import STYLE

# The file that says of a folder that it is a reproduction.
MARKER = "reproduction.json"
# Packages whose versions are written down: results depend on them.
_PACKAGES = ("steinmetz", "jax", "jaxlib", "equinox", "optax", "blackjax", "numpy", "matplotlib")


@dataclass(frozen=True)
class Part:
    """Everything the page says of one figure, but the picture.

    `figure` is what the paper calls it, `shows` its caption; `why` is said where a claim `failed`.
    """

    id: str
    title: str
    figure: str
    shows: str
    scale: str
    seeds: int
    verdicts: list[claims.Verdict]
    failed: bool
    why: str
    laws: list[str]
    tables: list[Table]


@dataclass(frozen=True)
class Reproduction:
    """What `reproduction.json` has: what was done with what, how many claims hold, every figure."""

    scale: str
    date: str
    claims: int
    holds: int
    versions: dict[str, str]
    machine: str
    figures: list[Part]


def save(outcomes: list[Outcome[Record]], folder: str | Path) -> Reproduction:
    """Draw, judge and write everything, each file whole or not at all; returns what the JSON has.

    Files: `figures/ID.png` and `.pdf`, `reproduction.html`, `reproduction.md`, `reproduction.json`.
    """
    folder = Path(folder)
    (folder / "figures").mkdir(parents=True, exist_ok=True)
    parts = [_part(outcome, folder / "figures") for outcome in outcomes]
    verdicts = [verdict for part in parts for verdict in part.verdicts]
    versions = {"python": platform.python_version()}
    about = Reproduction(
        scale=outcomes[0].scale,
        date=datetime.datetime.now(datetime.UTC).date().isoformat(),
        claims=len(verdicts),
        holds=sum(verdict.holds for verdict in verdicts),
        versions=versions | {name: metadata.version(name) for name in _PACKAGES},
        machine=f"{os.cpu_count()} processor cores ({platform.machine()}), no accelerator",
        figures=parts,
    )
    _replace(folder / "reproduction.html", _rendered("reproduction.html", about, folder))
    _replace(folder / "reproduction.md", _rendered("reproduction.md", about, folder))
    plain = dataclasses.asdict(about)
    _replace(folder / MARKER, json.dumps(plain, indent=1, allow_nan=False, ensure_ascii=False))
    return about


def _part(outcome: Outcome[Record], folder: Path) -> Part:
    """Draw a figure and judge its claims."""
    grid, kind = outcome.grid, kind_of(outcome.grid)
    with matplotlib.rc_context(STYLE):
        figure = kind.draw(outcome)
        figure.savefig(folder / f"{grid.id}.png")
        figure.savefig(folder / f"{grid.id}.pdf", metadata={"CreationDate": None})
    verdicts, no_details = claims.judge(outcome), lambda _: Details()
    details = getattr(kind, "details", no_details)(outcome)
    return Part(
        id=grid.id, title=grid.title, figure=grid.figure, shows=grid.shows, why=grid.why,
        scale=outcome.scale, seeds=outcome.seeds, verdicts=verdicts,
        failed=not all(verdict.holds for verdict in verdicts),
        laws=details.laws, tables=details.tables,
    )  # fmt: skip


def _rendered(name: str, about: Reproduction, folder: Path) -> str:
    """A template of this folder; the page holds its pictures, and loads nothing."""
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(Path(__file__).parent), undefined=jinja2.StrictUndefined,
        autoescape=jinja2.select_autoescape(),
    )  # fmt: skip

    def picture(part: Part) -> str:
        return base64.b64encode((folder / "figures" / f"{part.id}.png").read_bytes()).decode()

    template = environment.get_template(name)
    return template.render(about=about, picture=picture, errata=grids.errata(), folder=folder)


def _replace(path: Path, text: str) -> None:
    """Write a file whole or not at all: a reader sees the old one or the new one."""
    beside = path.with_name(f".{path.name}.tmp")
    write(beside, text.rstrip("\n"))
    beside.replace(path)


def screen(about: Reproduction, folder: Path) -> str:
    """Every verdict in a line, and where the page is."""
    return _rendered("reproduction.txt", about, folder)
