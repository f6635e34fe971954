"""Options of the command line as records: what several commands share is declared once.

`@packed` lets a command take a NamedTuple of options as its last argument; for the parser every
field is an option of its own.
"""

import inspect
import tomllib
from collections.abc import Callable
from functools import wraps
from pathlib import Path
from typing import Annotated, Any, NamedTuple, get_type_hints

import typer

from steinmetz.errors import InputError

StudyName = Annotated[
    str, typer.Argument(help="A study of `steinmetz list`, or the path of a TOML file.")
]
Files = Annotated[
    list[Path],
    typer.Argument(
        metavar="FILE", help="Tables (CSV, TSV, Excel, Parquet); several are fitted jointly."
    ),
]
Folder = Annotated[Path, typer.Argument(help="Folder of a finished run.")]
FigureIds = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="[ID]", help="Figures by id (see `steinmetz list`).", show_default="all"
    ),
]
Seed = Annotated[
    int | None, typer.Option(help="Seed of all random numbers.", show_default="the study's")
]
Changes = Annotated[
    list[str] | None,
    typer.Option("--set", help="Change a setting, such as infer.particles=100; may be repeated."),
]
Resume = Annotated[
    bool | None,
    typer.Option(
        "--resume/--fresh",
        help="Go on from an interrupted run, which must be there, or throw it away.",
        show_default="go on if there is one",
    ),
]


def output(default: str) -> Any:
    """The option --out, whose default is a rule."""
    return typer.Option("--out", help="Folder for the results.", show_default=default)


def whole(
    help_text: str, least: int = 1, most: int | None = None, default: str | bool = True
) -> Any:
    """An option that is a whole number."""
    return typer.Option(min=least, max=most, help=help_text, show_default=default)


class RunOptions(NamedTuple):
    """Options of everything that runs a study."""

    out: Annotated[Path | None, output("runs/NAME-seedN")] = None
    seed: Seed = None
    parameters: Annotated[
        int | None, whole("Take the law with this many parameters.", default="chosen by BIC")
    ] = None
    changes: Changes = None
    resume: Resume = None


class CurveOptions(NamedTuple):
    """Options of an L-curve."""

    methods: Annotated[str, typer.Option(help="Penalties by name, with commas.")] = "l0,l1,l2"
    noise: Annotated[
        str | None,
        typer.Option(help="Relative noise levels, with commas.", show_default="the study's"),
    ] = None
    penalties: Annotated[int, whole("Penalties on the path.", most=64)] = 8
    restarts: Annotated[int, whole("Networks per noise level.", most=4096)] = 8
    parameters: Annotated[
        int | None, whole("Choose λ for this many parameters.", default="by BIC")
    ] = None
    out: Annotated[Path | None, output("runs/NAME-seedN-lcurve")] = None
    seed: Seed = None
    changes: Changes = None
    resume: Resume = None


class PaperOptions(NamedTuple):
    """Options of a reproduction of the paper."""

    scale: Annotated[str, typer.Option(help="quick (minutes) or full (the paper's sizes).")] = (
        "quick"
    )
    seeds: Annotated[int | None, whole("How many seeds.", most=1000, default="the figure's")] = None
    first_seed: Annotated[int, whole("The first of the seeds.", least=0, most=10**6)] = 0
    folder: Annotated[
        Path, typer.Option("--out", help="Folder for figures, page and finished points.")
    ] = Path("reproduction")


class CalibrationOptions(NamedTuple):
    """Options of a calibration: what is drawn, and where results go."""

    law: Annotated[
        list[str] | None,
        typer.Option(
            help="A generating law of `steinmetz list`; may be repeated.",
            show_default="gent, mooney_rivlin, ogden",
        ),
    ] = None
    run: Annotated[
        Path | None,
        typer.Option("--from", help="Draw from the posterior of this finished run instead."),
    ] = None
    seeds: Annotated[
        int | None,
        whole("Data sets of every law and noise.", most=1000, default="10, from a run 200"),
    ] = None
    noise: Annotated[
        str | None,
        typer.Option(help="Relative noise levels, with commas.", show_default="0.05,0.1"),
    ] = None
    folder: Annotated[
        Path, typer.Option("--out", help="Folder for page, figure and finished data sets.")
    ] = Path("calibration")
    changes: Changes = None


class DataOptions(NamedTuple):
    """What is declared of measured tables; a table may declare it itself."""

    experiment: Annotated[
        list[str] | None,
        typer.Option(
            help="What was done, once for all files or once for each (see `steinmetz list`).",
            show_default="what a file declares, else full_tensor",
        ),
    ] = None
    unit: Annotated[
        str | None, typer.Option(help="Unit of stress columns whose header names none: MPa, psi …")
    ] = None
    measure: Annotated[
        str | None,
        typer.Option(help="Measure of a column 'stress': nominal, cauchy or second_piola."),
    ] = None
    area: Annotated[
        str | None, typer.Option(help="Undeformed area under a force, such as '12.5 mm^2'.")
    ] = None
    bulk: Annotated[
        str | None,
        typer.Option(
            help="Bulk modulus of a nearly incompressible material, such as '2 GPa'; it is given, "
            "not fitted."
        ),
    ] = None
    branch: Annotated[
        str | None,
        typer.Option(help="Rows to take: loading, unloading or both.", show_default="both"),
    ] = None

    def kinds(self, count: int) -> list[str | None]:
        """An experiment for each of some files; None where it is not said."""
        given: list[str | None] = [*(self.experiment or [])] or [None]
        given = given * count if len(given) == 1 else given
        if len(given) != count:
            raise InputError(
                f"--experiment: {len(given)} given for {count} files; name one for each"
            )
        return given

    def changes(self) -> dict[str, Any]:
        """Settings of the data."""
        said = {"unit": self.unit, "measure": self.measure, "area": self.area}
        said["branch"] = self.branch
        found = {f"data.{name}": word for name, word in said.items() if word is not None}
        return found | ({} if self.bulk is None else settings([f"material.bulk={self.bulk}"], None))


class NoiseOptions(NamedTuple):
    """Noise of measured rows."""

    relative_noise: Annotated[
        str | None,
        typer.Option(
            metavar="SIZE",
            help="Standard deviation as a share of the stress, or 'estimated'.",
            show_default="estimated, if neither is given; of a network 0.05",
        ),
    ] = None
    absolute_noise: Annotated[
        str | None,
        typer.Option(
            metavar="SIZE",
            help="Standard deviation in the unit of the stress, or 'estimated'.",
            show_default="estimated, if neither is given",
        ),
    ] = None


def packed(command: Callable[..., None]) -> Callable[..., None]:
    """Fields of the NamedTuples among the arguments become options of their own."""
    hints = get_type_hints(command, include_extras=True)
    hints.pop("return", None)
    records = {name: hint for name, hint in hints.items() if hasattr(hint, "_fields")}
    plain = inspect.signature(command).parameters
    parameters = [
        plain[name].replace(annotation=hints[name]) for name in plain if name not in records
    ]
    for record in records.values():
        fields = get_type_hints(record, include_extras=True)
        kind = inspect.Parameter.KEYWORD_ONLY
        parameters += [
            inspect.Parameter(
                name, kind, default=record._field_defaults[name], annotation=fields[name]
            )
            for name in record._fields
        ]

    @wraps(command)
    def parsed(**given: Any) -> None:
        made = {
            name: record(**{field: given.pop(field) for field in record._fields})
            for name, record in records.items()
        }
        command(**given, **made)

    parsed.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    parsed.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    return parsed


def settings(
    changes: list[str] | None, seed: int | None, parameters: int | None = None
) -> dict[str, Any]:
    """`key=value` pairs as typed values: TOML where it parses, text otherwise."""
    values: dict[str, Any] = {} if seed is None else {"seed": seed}
    if parameters is not None:
        values["sparsify.parameters"] = parameters
    for change in changes or []:
        key, equals, value = change.partition("=")
        if not equals or not key:
            raise InputError(f"--set {change}: write key=value, such as --set infer.particles=100")
        try:
            values[key.strip()] = tomllib.loads(f"value = {value}")["value"]
        except tomllib.TOMLDecodeError:
            values[key.strip()] = value.strip()
    return values


def names(text: str) -> tuple[str, ...]:
    """Penalties from a list with commas."""
    from steinmetz import registry

    listed = tuple(part.strip() for part in text.split(",") if part.strip())
    for name in listed:
        registry.path_of("sparsify", name)
    if not listed or len(set(listed)) < len(listed):
        raise InputError(f"--methods {text}: name each penalty once, such as --methods l0,l1,l2")
    return listed


def numbers(text: str | None) -> tuple[float, ...] | None:
    """Noise levels from a list with commas."""
    if text is None:
        return None
    try:
        values = tuple(float(part) for part in text.split(","))
    except ValueError:
        words = "write numbers with commas, such as --noise 0,0.05,0.1"
        raise InputError(f"--noise {text}: {words}") from None
    if not all(0 <= value <= 10 for value in values) or len(set(values)) < len(values):
        words = "different shares of the stress between 0 and 10 are possible"
        raise InputError(f"--noise {text}: {words}")
    return values
