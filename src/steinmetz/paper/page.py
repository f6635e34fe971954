"""Write the reproduction: figures as PDF and PNG, one offline page, its short Markdown version and all numbers."""

import base64
import datetime
import importlib
import json
import os
import platform
from importlib import metadata
from pathlib import Path
from typing import Any

import jinja2
import matplotlib

from steinmetz.paper import claims, grids, tables
from steinmetz.paper.reproduce import Outcome
from steinmetz.report.files import write
from steinmetz.report.style import STYLE

MARKER = "reproduction.json"
_PACKAGES = ("steinmetz", "jax", "jaxlib", "equinox", "optax", "blackjax", "numpy", "matplotlib")


def save(outcomes: list[Outcome], folder: str | Path) -> dict[str, Any]:
    """`figures/ID.png` and `.pdf`, `reproduction.html`, `reproduction.md`, `reproduction.json`; returns the last."""
    folder = Path(folder)
    (folder / "figures").mkdir(parents=True, exist_ok=True)
    parts = [_part(outcome, folder / "figures") for outcome in outcomes]
    verdicts = [verdict for part in parts for verdict in part["verdicts"]]
    about = {
        "scale": outcomes[0].scale,
        "date": datetime.datetime.now(datetime.UTC).date().isoformat(),
        "claims": len(verdicts),
        "holds": sum(verdict["holds"] for verdict in verdicts),
        "versions": {
            "python": platform.python_version(),
            **{name: metadata.version(name) for name in _PACKAGES},
        },
        "machine": f"{os.cpu_count()} processor cores ({platform.machine()}), no accelerator",
    }
    loader = jinja2.FileSystemLoader(Path(__file__).parent)
    environment = jinja2.Environment(
        loader=loader, autoescape=True, undefined=jinja2.StrictUndefined
    )
    page = environment.get_template("reproduction.html").render(
        parts=parts, about=about, errata=grids.errata()
    )
    _replace(folder / "reproduction.html", page)
    _replace(folder / "reproduction.md", markdown(parts, about))
    plain = [{key: value for key, value in part.items() if key != "picture"} for part in parts]
    _replace(
        folder / MARKER,
        json.dumps({**about, "figures": plain}, indent=1, allow_nan=False, ensure_ascii=False),
    )
    return {**about, "figures": plain}


def screen(found: dict[str, Any], folder: Path) -> str:
    """Every verdict in a line, and where the page is."""
    lines = [""]
    for part in found["figures"]:
        for verdict in part["verdicts"]:
            mark = "holds   " if verdict["holds"] else "does NOT"
            reading = f" ({verdict['reading']})" if verdict["reading"] else ""
            lines += [
                f"  {mark}  {part['id']}{reading}: {verdict['says']}",
                f"            {verdict['measured']}",
            ]
    lines += ["", f"  {found['holds']} of {found['claims']} claims hold"]
    lines += [
        f"  page        {folder / 'reproduction.html'}",
        f"  figures     {folder / 'figures'}",
    ]
    return "\n".join(lines)


def _replace(path: Path, text: str) -> None:
    """Whole or not at all."""
    beside = path.with_name(f".{path.name}.tmp")
    write(beside, text.rstrip("\n"))
    beside.replace(path)


def _part(outcome: Outcome, folder: Path) -> dict[str, Any]:
    """Everything of one figure."""
    grid = outcome.grid
    kind = importlib.import_module(f"steinmetz.paper.plots.{grid.kind}")
    with matplotlib.rc_context(STYLE):
        figure = kind.draw(outcome)
        figure.savefig(folder / f"{grid.id}.png")
        figure.savefig(folder / f"{grid.id}.pdf", metadata={"CreationDate": None})
    verdicts = [verdict._asdict() for verdict in claims.judge(outcome)]
    return {
        "id": grid.id,
        "title": grid.title,
        "figure": grid.options["figure"],
        "shows": grid.shows,
        "scale": outcome.scale,
        "seeds": outcome.seeds,
        "verdicts": verdicts,
        "failed": any(not verdict["holds"] for verdict in verdicts),
        "why": grid.why,
        "laws": tables.laws(outcome),
        "tables": tables.tables(outcome),
        "picture": base64.b64encode((folder / f"{grid.id}.png").read_bytes()).decode("ascii"),
    }


def markdown(parts: list[dict[str, Any]], about: dict[str, Any]) -> str:
    """The short version: a figure, its claims and their verdicts."""
    lines = [
        "# The paper, figure by figure",
        "",
        f"Written by `steinmetz reproduce --scale {about['scale']}` ({about['date']}, {about['machine']}; "
        f"{', '.join(f'{name} {version}' for name, version in about['versions'].items())}). "
        f"{about['holds']} of {about['claims']} claims hold as measured; the page `reproduction.html`, which the "
        "command writes, has all tables, and the errata.",
        "",
    ]
    for part in parts:
        lines += [f"## {part['title']}", "", f"![{part['title']}](figures/{part['id']}.png)", ""]
        lines += [
            f"{part['figure']} of the paper; `steinmetz reproduce {part['id']}`; seeds 0–{part['seeds'] - 1}. "
            f"{part['shows']}",
            "",
            "| claim | reading | verdict | measured here |",
            "|---|---|---|---|",
        ]
        for verdict in part["verdicts"]:
            holds = "holds" if verdict["holds"] else "**does not hold**"
            lines.append(
                f"| {verdict['says']} | {verdict['reading']} | {holds} | {verdict['measured']} |"
            )
        lines += [""] + ([part["why"], ""] if part["failed"] else [])
    return "\n".join(lines).rstrip("\n")
