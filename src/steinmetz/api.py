"""The verbs of the package and the object they give: what `import steinmetz` offers.

Everything here runs in float64: a call switches JAX to it for the process.
"""

import atexit
import dataclasses
import html
import shutil
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from steinmetz.data import formats
from steinmetz.data import table as tables
from steinmetz.engine import predicted
from steinmetz.engine import run as engine
from steinmetz.engine.blocks import tables as understood
from steinmetz.engine.outcome import Outcome
from steinmetz.errors import InputError
from steinmetz.exporters.base import About
from steinmetz.exporters.base import load as exporter
from steinmetz.fe.result import Asked as FiniteElements
from steinmetz.fe.result import Result as Part
from steinmetz.fe.result import finite_elements
from steinmetz.records import Report, silent
from steinmetz.report import figures, files
from steinmetz.report import predicted as tabulated
from steinmetz.report import summary as summaries
from steinmetz.report.stored import restore
from steinmetz.report.summary import Summary, summarise
from steinmetz.report.understood import Check
from steinmetz.studies import config, measured
from steinmetz.studies.study import Study

if TYPE_CHECKING:
    import pandas
    import xarray
    from matplotlib.figure import Figure

    Table: TypeAlias = str | Path | pandas.DataFrame


class Result(Outcome):
    """What a run found: a law, the table it was chosen from, its posterior, scores and certificate.

    `law`, `table`, `scores`, `certificate`, `particles` are at hand; `stress` and `predict` give
    draws of the posterior, `predict_table` law and bands at the rows of a table, `posterior` the
    draws as ArviZ reads them, `plot` a figure, `export` the law in another form, `select` another
    row of the table, `save` the run directory.
    """

    @classmethod
    def of(cls, outcome: Outcome) -> "Result":
        """The same numbers with everything that can be done with them."""
        fields = dataclasses.fields(outcome)
        return cls(**{field.name: getattr(outcome, field.name) for field in fields})

    @property
    def summary(self) -> Summary:
        """Every number, as in `summary.json`."""
        return summarise(self)

    @property
    def posterior(self) -> "xarray.DataTree":
        """Draws, log density, data and noise in the groups that ArviZ expects."""
        return files.posterior(self)

    def export(self, form: str = "text") -> str:
        """The law in a form of `steinmetz list`, such as 'text', 'latex' or 'json'."""
        about = About(self.study.material.name, self.study.name, self.problem.unit)
        return exporter(form).export(self.law, about)

    def plot(self, figure: str = "path") -> "Figure":
        """A figure by name: path, marginals; laws, gates, sizes, parity, planes if they apply."""
        known = [name for name, plot in figures.FIGURES.items() if plot.applies(self)]
        if figure not in known:
            raise InputError(f"there is no figure '{figure}'; possible: {', '.join(known)}")
        return figures.FIGURES[figure].draw(self)

    def predict_table(
        self, data: "Table", experiment: str | None = None, level: float = 0.95
    ) -> "pandas.DataFrame":
        """Stress at the rows of a table, a file or DataFrame: law, bands, what is extrapolated.

        The table is read as `fit` reads it but needs no stress. `experiment` names the test where
        the table does not. Columns `P11_law`, `P11_median`, `P11_lower`, `P11_upper` are law and
        band of laws, `P11_new_lower`, `P11_new_upper` the band of new data, `P11_measured` what
        the table has; `attrs["unit"]` is the unit of the stress.
        """
        found = predicted.predicted(self, _file(data, 0), experiment, level)
        return tabulated.frame(found, self.problem.unit)

    def finite_elements(self, asked: FiniteElements | None = None, report: Report = silent) -> Part:
        """A finite-element problem solved for every draw: fields, quantities, bands.

        `asked` says which problem and how, such as `FiniteElements("cook", cells=8, draws=100)`;
        `steinmetz.save_part` writes the folder that the command line writes.
        """
        return finite_elements(self, asked or FiniteElements(), report)

    def select(self, row: int, report: Report = silent) -> "Result":
        """The law with `row` parameters instead: its posterior is sampled, nothing is refitted."""
        return self.of(engine.reselect(self, row, report))

    def save(self, folder: str | Path) -> Summary:
        """Write the run directory, whole or not at all."""
        return files.save(self, folder)

    def _repr_html_(self) -> str:
        """Law typeset, table below it."""
        from steinmetz.exporters import latex, text

        head = ("row", "χ²/n", "BIC", "R² test", "law")
        lines = [f"<tr>{''.join(f'<th>{name}</th>' for name in head)}</tr>"]
        for row, choice in zip(self.table, self.carved.table, strict=True):
            test = "–" if row.r2.test is None else f"{row.r2.test:.5f}"
            cells = (
                row.active,
                f"{row.loss:.4g}",
                f"{row.criterion:.1f}",
                test,
                text.export(choice.law),
            )
            bold = " style='font-weight:bold'" if row.picked else ""
            lines.append(
                f"<tr{bold}>{''.join(f'<td>{html.escape(str(c))}</td>' for c in cells)}</tr>"
            )
        law = html.escape(latex.export(self.law))
        return (
            f"<p>$${law}$$</p><pre>{html.escape(repr(self))}</pre><table>{''.join(lines)}</table>"
        )


def run(study: Study | str, report: Report = silent) -> Result:
    """Carve, sample and judge: a study, or the name or TOML file of one."""
    chosen = config.load(study) if isinstance(study, str) else study
    return Result.of(engine.run(chosen, report))


def fit(
    data: "Table | Sequence[Table]",
    experiment: str | Sequence[str] | None = None,
    relative: float | str | None = None,
    absolute: float | str | None = None,
    changes: Mapping[str, Any] | None = None,
    report: Report = silent,
) -> Result:
    """Fit a law to measured rows: a file or DataFrame, or several that are fitted jointly.

    `experiment` names what was done (see `steinmetz list`), once for all tables or once for each;
    incompressible tests make the material incompressible. `relative` and `absolute` are the
    standard deviations of the stress, each a number or 'estimated'; if neither is given, both are
    estimated with the law (of a network: 0.05 and 0). What a table does not declare is given by
    `changes`, such as {"data.unit": "MPa", "data.measure": "nominal"}; `check` says what is
    understood.
    """
    paths, kinds = _tables(data, experiment)
    return run(measured.jointly(paths, kinds, (relative, absolute), changes), report)


def check(
    data: "Table | Sequence[Table]",
    experiment: str | Sequence[str] | None = None,
    changes: Mapping[str, Any] | None = None,
) -> Check:
    """What `fit` understands of tables, and what is odd about them; nothing is fitted."""
    paths, kinds = _tables(data, experiment)
    study = measured.jointly(paths, kinds, changes=changes)
    return Check(tuple(understood(study)))


def _tables(
    data: "Table | Sequence[Table]", experiment: str | Sequence[str] | None
) -> tuple[list[Path], list[str | None]]:
    """A file and an experiment for each table."""
    given = [data] if isinstance(data, str | Path) or hasattr(data, "columns") else list(data)
    kinds: list[str | None] = (
        [experiment] * len(given) if isinstance(experiment, str | None) else [*experiment]
    )
    if not given or len(kinds) != len(given):
        raise InputError(
            f"{len(given)} tables and {len(kinds)} experiments: name one for each table"
        )
    return [_file(table, number) for number, table in enumerate(given)], kinds


def _file(table: "Table", number: int) -> Path:
    """The file of a table; a DataFrame becomes one, for as long as this process lives."""
    if isinstance(table, str | Path):
        return Path(table)
    folder = Path(tempfile.mkdtemp(prefix="steinmetz-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    path = folder / f"table{number}.csv"
    tables.write(path, formats.grid(table))
    return path


def load(folder: str | Path) -> Result:
    """A finished run from its directory: the same law, draws, scores and predictions."""
    return Result.of(restore(Path(folder)))


def select(folder: str | Path, row: int, report: Report = silent) -> Result:
    """Another row of the table of a finished run: its law, a new posterior, no refit."""
    return Result.of(engine.select(folder, row, report))


def redraw(folder: str | Path) -> None:
    """Draw figures and page of a finished run again; nothing is fitted or sampled."""
    numbers = summaries.read(Path(folder))
    files.redraw(restore(Path(folder)), numbers, Path(folder))


def save(result: Outcome, folder: str | Path) -> Summary:
    """Write the run directory of a result, whole or not at all."""
    return files.save(result, folder)


def closed_form(law: Any) -> str:
    """A law in one readable line."""
    from steinmetz.exporters import text

    return text.export(law)
