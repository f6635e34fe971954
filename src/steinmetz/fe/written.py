"""What `steinmetz fe` writes: fe.json, fields.vtu, pictures; and what it says on the screen."""

from pathlib import Path

import numpy as np

from steinmetz.fe import pictures, vtu
from steinmetz.fe.draws import Helpers
from steinmetz.fe.fields import STRESSES, Statistics
from steinmetz.fe.result import Asked, Result, finite_elements
from steinmetz.potentials.volume import STIFF
from steinmetz.records import Document, Report
from steinmetz.report import files, stored
from steinmetz.report.whole import whole

MARKER = "fe.json"
# Names of failed draws that are listed on the screen.
_NAMED = 10


class Band(Document):
    """A number over draws."""

    mean: float
    sd: float
    lower: float
    median: float
    upper: float


class Summary(Document):
    """Every number of a finite-element problem over the draws of a run.

    `quantities` and `linearised` have a band per load step; `failed` are numbers of draws. `bulk`
    is the bulk modulus by which incompressible laws were completed, null where there are none.
    """

    format: str = "steinmetz-fe/1"
    problem: str
    load: str
    unit: str
    bulk: float | None
    unknowns: int
    cells: int
    loads: list[float]
    level: float
    laws: int
    draws: int
    failed: list[int]
    ways: dict[str, int]
    steps: int
    tolerance: float
    quantities: dict[str, list[Band]]
    linearised: dict[str, list[Band]]
    largest_von_mises: Band
    limit: float | None
    exceeded_anywhere: float | None
    extrapolated: float


def summarise(result: Result) -> Summary:
    """The numbers of a result."""
    found, mesh = result.found, result.problem.space.mesh
    most = Statistics.of(result.fields.most[:, None], result.asked.level)
    ways = {"chord": found.effort.chord, "newton": found.effort.newton}
    return Summary(
        problem=result.problem.name,
        load=result.problem.load,
        unit=result.unit,
        bulk=result.bulk,
        unknowns=int(result.problem.space.unknowns - len(result.problem.fixed)),
        cells=len(mesh.cells),
        loads=list(found.loads),
        level=result.asked.level,
        laws=result.laws,
        draws=len(found.owner),
        failed=np.flatnonzero(~found.solved).tolist(),
        ways={**ways, "load steps": found.effort.loaded},
        steps=found.effort.steps,
        tolerance=result.asked.tolerance,
        quantities={name: _bands(each) for name, each in result.quantities.items()},
        linearised={name: _bands(each) for name, each in result.linear.items()},
        largest_von_mises=_bands(most)[0],
        limit=result.asked.limit,
        exceeded_anywhere=result.fields.anywhere,
        extrapolated=result.extrapolated,
    )


def _bands(every: Statistics) -> list[Band]:
    """One per load step."""
    rows = np.stack(every, axis=1)
    return [Band(**dict(zip(Statistics._fields, map(float, row), strict=True))) for row in rows]


def save(result: Result, folder: str | Path) -> Summary:
    """Write the folder, whole or not at all."""
    folder = Path(folder).absolute()
    files.check_target(folder, MARKER)
    summary = summarise(result)
    folder.parent.mkdir(parents=True, exist_ok=True)
    with whole(folder) as work:
        files.write(work / "fields.vtu", vtu.text(result.problem.space.mesh, point_data(result)))
        pictures.draw(result, work)
        files.write(work / MARKER, summary.model_dump_json(indent=2))
    return summary


def carried_out(
    run: Path, asked: Asked, folder: Path, report: Report, helpers: Helpers | None = None
) -> str:
    """A problem on a finished run, saved and put into words."""
    result = finite_elements(stored.restore(run), asked, report, helpers)
    return screen(result, save(result, folder), folder)


def point_data(result: Result) -> dict[str, np.ndarray]:
    """Fields at the nodes by name; displacements have three components."""
    found: dict[str, np.ndarray] = {}
    for part, values in zip(Statistics._fields, result.fields.displacement, strict=True):
        wide = np.zeros((len(values), 3))
        wide[:, : values.shape[1]] = values
        found[f"displacement {part}"] = wide
    for place, name in enumerate(STRESSES):
        for part, values in zip(Statistics._fields, result.fields.stress, strict=True):
            found[f"{name} {part}"] = values[:, place]
    if result.fields.exceeded is not None:
        found["probability over the limit"] = result.fields.exceeded
    found["extrapolated"] = result.beyond
    return found


def screen(result: Result, summary: Summary, folder: Path) -> str:
    """What was solved, how it went, and the numbers with their bands."""
    of = f" {summary.unit}" if summary.unit else ""
    lines = [
        "",
        f"  problem     {summary.problem}, {summary.load}; {summary.cells} cells, "
        f"{summary.unknowns} unknowns",
        f"  draws       {summary.draws} of {summary.laws} "
        f"{'law' if summary.laws == 1 else 'laws'}, {len(summary.loads)} load "
        f"{'step' if len(summary.loads) == 1 else 'steps'}",
        f"  convergence {_convergence(result, summary)}",
        *([] if summary.bulk is None else [f"  volume      {_volume(result.asked, summary)}"]),
        "",
        *_table(summary),
        "",
        f"  stress      largest von Mises {_band(summary.largest_von_mises)}{of}",
    ]
    if summary.exceeded_anywhere is not None:
        share = f"{100 * summary.exceeded_anywhere:.3g} %"
        lines.append(f"  limit       {summary.limit:g}{of} is exceeded with probability {share}")
    lines.append(f"  reach       {_reach(summary)}")
    if result.discrepancy:
        lines.append(
            "  note        the data say that every law misses something: not in these bands"
        )
    return "\n".join([*lines, f"  files       {folder}"])


def _convergence(result: Result, summary: Summary) -> str:
    """How equilibrium was found, and which draws did not find it."""
    if result.asked.linearised:
        return "linearised: every law solved at its mean, draws by the sensitivity alone"
    tries = sum(summary.ways.values())
    words = f"{summary.draws - len(summary.failed)} of {summary.draws} draws in equilibrium to "
    words += f"{summary.tolerance:g}, {summary.steps / max(tries, 1):.1f} steps each"
    slow = [f"{count} by {way}" for way, count in summary.ways.items() if count and way != "chord"]
    words += f" ({', '.join(slow)})" if slow else ""
    if summary.failed:
        listed = ", ".join(map(str, summary.failed[:_NAMED]))
        more = " …" if len(summary.failed) > _NAMED else ""
        words += f"; {len(summary.failed)} failed: {listed}{more}"
    return words


def _volume(asked: Asked, summary: Summary) -> str:
    """The bulk modulus, and that it was chosen if nobody stated it."""
    words = f"the law is incompressible; K = {summary.bulk:.4g} {summary.unit}".rstrip()
    return words if asked.bulk else f"{words}, {STIFF:g} shear moduli: state another with --bulk"


def _table(summary: Summary) -> list[str]:
    """Quantities at the full load, with what the linearised propagation says of them."""
    head = ("quantity", "mean", "sd", f"{100 * summary.level:g} % band", "linearised mean", "sd")
    rows = [head]
    for name, bands in summary.quantities.items():
        own, straight = bands[-1], summary.linearised[name][-1]
        ends = f"{own.lower:.5g} … {own.upper:.5g}"
        numbers = (f"{own.mean:.5g}", f"{own.sd:.3g}", ends)
        rows.append((name, *numbers, f"{straight.mean:.5g}", f"{straight.sd:.3g}"))
    widths = [max(len(row[place]) for row in rows) for place in range(len(head))]
    return [
        "  " + "  ".join(cell.rjust(width) for cell, width in zip(row, widths, strict=True))
        for row in rows
    ]


def _band(band: Band) -> str:
    return f"{band.mean:.4g} ({band.lower:.4g} … {band.upper:.4g})"


def _reach(summary: Summary) -> str:
    """How much of the part is strained beyond the data."""
    if summary.extrapolated == 0:
        return "the data reach the strains everywhere in the part"
    share = 100 * summary.extrapolated
    return f"{share:.2g} % of the volume is strained beyond the data: there the law extrapolates"
