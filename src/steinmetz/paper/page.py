"""Write the reproduction: figures, one offline page, a short version of it, and all numbers.

Texts are templates beside this file: the page, its Markdown version, and what the command prints.
"""

import base64
import contextlib
import dataclasses
import datetime
import json
import os
import platform
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path
from typing import NamedTuple, get_args

import jinja2
import matplotlib

from steinmetz import threads
from steinmetz.paper import convergence, grids, verdicts
from steinmetz.paper.arms import arms
from steinmetz.paper.claims import Verdict, judge
from steinmetz.paper.records import Details, Outcome, Record, Table
from steinmetz.paper.reproduce import kind_of
from steinmetz.report.style import STYLE
from steinmetz.report.whole import replace

# The file that says of a folder that it is a reproduction.
MARKER = "reproduction.json"
CLAIMS = "claims.json"
# What can become of a claim.
VERDICTS: tuple[str, ...] = get_args(Verdict.model_fields["verdict"].annotation)
# Packages whose versions are written down: results depend on them.
_PACKAGES = ("steinmetz", "jax", "jaxlib", "equinox", "optax", "blackjax", "numpy", "matplotlib")


class Run(NamedTuple):
    """The call that wrote the page: processes side by side, and its wall-clock seconds."""

    workers: str
    seconds: float


@dataclass(frozen=True)
class Part:
    """Everything the page says of one figure, but the picture.

    `figure` is what the paper calls it, `shows` its caption, `command` what gives it again; `why`
    is said where a claim does not hold or is undecided, `sizes` where less was done than in the
    paper. `seconds` are those of all its points, whoever did them and when.
    """

    id: str
    title: str
    figure: str
    shows: str
    command: str
    scale: str
    seeds: tuple[int, ...]
    seconds: float
    verdicts: list[Verdict]
    designed: list[Verdict]
    why: str
    sizes: str
    laws: list[str]
    tables: list[Table]


@dataclass(frozen=True)
class Reproduction:
    """What `reproduction.json` has: what was done with what, what became of the claims, figures."""

    command: str
    scale: str
    date: str
    workers: str
    seconds: float
    counts: dict[str, int]
    versions: dict[str, str]
    machine: str
    figures: list[Part]


def save(outcomes: list[Outcome[Record]], folder: str | Path, run: Run) -> Reproduction:
    """Draw, judge and write everything, each file whole or not at all; returns what the JSON has.

    Files: `figures/ID.png` and `.pdf`, `reproduction.html`, `reproduction.md`, `reproduction.json`,
    and `claims.json`, a list of verdicts.
    """
    folder = Path(folder)
    (folder / "figures").mkdir(parents=True, exist_ok=True)
    parts = [_part(outcome, folder / "figures") for outcome in outcomes]
    judged = [verdict for part in parts for verdict in (*part.verdicts, *part.designed)]
    versions = {"python": platform.python_version()}
    about = Reproduction(
        command=_command(outcomes),
        scale=outcomes[0].scale,
        date=datetime.datetime.now(datetime.UTC).date().isoformat(),
        workers=run.workers, seconds=run.seconds,
        counts={name: sum(one.verdict == name for one in judged) for name in VERDICTS},
        versions=versions | {name: metadata.version(name) for name in _PACKAGES},
        machine=machine(),
        figures=parts,
    )  # fmt: skip
    replace(folder / "reproduction.html", _rendered("reproduction.html", about, folder))
    replace(folder / "reproduction.md", _rendered("reproduction.md", about, folder))
    claims = [verdict.model_dump() for verdict in judged]
    plain = dataclasses.asdict(about)
    for part in plain["figures"]:
        del part["verdicts"], part["designed"]  # they stand in claims.json
    replace(folder / CLAIMS, _json(claims))
    replace(folder / MARKER, _json(plain))
    return about


def _command(outcomes: list[Outcome[Record]]) -> str:
    """The call that gives these figures of these seeds."""
    some, first = [outcome.grid.id for outcome in outcomes], outcomes[0]
    words = ["steinmetz reproduce", *(some if len(some) < len(grids.titles()) else [])]
    if first.scale != grids.SCALES[0]:
        words.append(f"--scale {first.scale}")
    if any(len(each.seeds) != each.grid.seeds[each.scale] for each in outcomes):
        words.append(f"--seeds {len(first.seeds)}")
    if first.seeds[0]:
        words.append(f"--first-seed {first.seeds[0]}")
    return " ".join(words)


def _json(plain: object) -> str:
    return json.dumps(plain, indent=1, allow_nan=False, ensure_ascii=False)


def machine() -> str:
    """Processor, cores and memory, as far as the system tells."""
    model, memory = platform.machine(), ""
    with contextlib.suppress(OSError, ValueError):
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
        names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
        model = names[0] if names else model
        memory = f", {os.sysconf('SC_PAGE_SIZE') * os.sysconf('SC_PHYS_PAGES') / 1e9:.0f} GB"
    return f"{threads.cores()} processor cores ({model}){memory}, no accelerator"


def _part(outcome: Outcome[Record], folder: Path) -> Part:
    """Draw a figure and judge its claims."""
    grid, kind = outcome.grid, kind_of(outcome.grid)
    with matplotlib.rc_context(STYLE):
        figure = kind.draw(outcome)
        figure.savefig(folder / f"{grid.id}.png")
        figure.savefig(folder / f"{grid.id}.pdf", metadata={"CreationDate": None})
    judged, no_details = judge(outcome), lambda _: Details()
    counted = [verdict for verdict in judged if verdict.counted]
    details = getattr(kind, "details", no_details)(outcome)
    settled = all(verdict.verdict == "holds" for verdict in counted)
    return Part(
        id=grid.id, title=grid.title, figure=grid.figure, shows=grid.shows,
        command=_command([outcome]), scale=outcome.scale, seeds=outcome.seeds,
        seconds=outcome.seconds, verdicts=counted,
        designed=[verdict for verdict in judged if not verdict.counted],
        why="" if settled else grid.why, sizes=grid.sizes if outcome.scale == "full" else "",
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
    rules = verdicts.RULE, convergence.RULE
    texts = {"errata": grids.errata(), "rules": rules, "arms": arms()}
    return template.render(about=about, picture=picture, folder=folder, **texts)


def screen(about: Reproduction, folder: Path) -> str:
    """Every verdict in a line, and where the page is."""
    return _rendered("reproduction.txt", about, folder)
