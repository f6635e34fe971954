"""The command line. Nothing heavy is imported before a command needs it."""

import os
import sys
import tomllib
from pathlib import Path
from typing import Annotated, Any

import typer

from steinmetz import commands
from steinmetz.commands import RunStopped
from steinmetz.errors import InputError, RunFailure

app = typer.Typer(
    name="steinmetz",
    help="From stress data to a sparse, physically admissible constitutive law with honest uncertainty.",
    epilog="Start with: steinmetz run hyperelasticity",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)

Out = Annotated[
    Path | None,
    typer.Option("--out", help="Folder for the results.", show_default="runs/NAME-seedN"),
]
Seed = Annotated[
    int | None,
    typer.Option("--seed", help="Seed of all random numbers.", show_default="the study's"),
]
Set = Annotated[
    list[str] | None,
    typer.Option("--set", help="Change a setting, such as infer.particles=100; may be repeated."),
]
Parameters = Annotated[
    int | None,
    typer.Option(
        "--parameters",
        min=1,
        help="Take the law with this many parameters.",
        show_default="chosen by BIC",
    ),
]

Resume = Annotated[
    bool | None,
    typer.Option(
        "--resume/--fresh",
        help="Go on from an interrupted run, which must be there, or throw it away.",
        show_default="go on if there is one",
    ),
]


@app.command()
def run(
    study: Annotated[
        str,
        typer.Argument(help="A built-in study (see `steinmetz list`) or the path of a TOML file."),
    ],
    out: Out = None,
    seed: Seed = None,
    parameters: Parameters = None,
    changes: Set = None,
    resume: Resume = None,
) -> None:
    """Run a study and write its result folder.

    A run that is interrupted keeps what it has finished; the same command goes on from there.

    Examples:

      steinmetz run hyperelasticity

      steinmetz run mechanochemistry --parameters 8

      steinmetz run hyperelasticity --seed 3 --out results/gent --set noise.relative=0.05

      steinmetz run my_study.toml --set infer.particles=200
    """
    from steinmetz.studies import config

    commands.start_jax()
    commands.carry_out(config.load(study, _changes(changes, seed, parameters)), out, resume)


@app.command()
def fit(
    data: Annotated[
        Path, typer.Argument(help="CSV file: F11…F33 and stress columns such as S11, P11, sigma11.")
    ],
    relative_noise: Annotated[
        float, typer.Option("--relative-noise", help="Standard deviation as a share of the stress.")
    ] = 0.05,
    absolute_noise: Annotated[
        float,
        typer.Option("--absolute-noise", help="Standard deviation in the unit of the stress."),
    ] = 0.0,
    out: Out = None,
    seed: Seed = None,
    parameters: Parameters = None,
    changes: Set = None,
    resume: Resume = None,
) -> None:
    """Fit a law to measured rows: one deformation gradient and the stresses measured at it per row.

    Empty cells are missing, not zero. A column sd_S11 gives the standard deviation of S11 row by row and replaces the
    two options there. From 20 rows on, a fifth of them is held out for the
    test score (--set data.held_out=0 uses all). Other physics have other columns: with --set physics=mechanochemistry
    they are F11, F12, F21, F22, c and S11, S22, S12, mu.

    Examples:

      steinmetz fit rubber.csv

      steinmetz fit rubber.csv --relative-noise 0 --absolute-noise 0.02 --out results/rubber
    """
    from steinmetz.studies import config

    commands.start_jax()
    study = config.measured(
        data, relative_noise, absolute_noise, _changes(changes, seed, parameters)
    )
    commands.carry_out(study, out, resume)


@app.command()
def select(
    folder: Annotated[Path, typer.Argument(help="Folder of a finished run.")],
    row: Annotated[
        int, typer.Option("--row", help="Row of the table: the number of parameters of its law.")
    ],
    out: Annotated[
        Path | None,
        typer.Option("--out", help="Folder for the results.", show_default="the run's own"),
    ] = None,
    resume: Resume = None,
) -> None:
    """Take another law from the table of a finished run, without refitting; its posterior is sampled anew.

    Examples:

      steinmetz select runs/hyperelasticity-seed0 --row 6

      steinmetz select runs/hyperelasticity-seed0 --row 4 --out runs/smaller
    """
    commands.start_jax()
    commands.select_row(folder, row, out, resume)


@app.command()
def lcurve(
    study: Annotated[
        str,
        typer.Argument(help="A built-in study (see `steinmetz list`) or the path of a TOML file."),
    ],
    methods: Annotated[
        str, typer.Option("--methods", help="Ways to sparsify, with commas.")
    ] = "l0,l1,l2",
    noise: Annotated[
        str | None,
        typer.Option(
            "--noise", help="Relative noise levels, with commas.", show_default="the study's"
        ),
    ] = None,
    penalties: Annotated[
        int, typer.Option("--penalties", min=1, max=64, help="Penalties on the path.")
    ] = 8,
    restarts: Annotated[
        int, typer.Option("--restarts", min=1, max=4096, help="Networks per noise level.")
    ] = 8,
    parameters: Annotated[
        int | None,
        typer.Option(
            "--parameters", min=1, help="Choose λ for this many parameters.", show_default="by BIC"
        ),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(
            "--out", help="Folder for the results.", show_default="runs/NAME-seedN-lcurve"
        ),
    ] = None,
    seed: Seed = None,
    changes: Set = None,
    resume: Resume = None,
) -> None:
    """Test R² and loss against the penalty λ and the weights left; choose λ and say why.

    An L-curve that is interrupted keeps what it has finished; the same command goes on from there.

    Examples:

      steinmetz lcurve hyperelasticity

      steinmetz lcurve hyperelasticity --methods l0,l1 --noise 0,0.05,0.1 --penalties 12
    """
    from steinmetz.studies import config

    commands.start_jax()
    commands.draw_lcurve(
        config.load(study, _changes(changes, seed)), _names(methods), _numbers(noise), penalties, restarts, parameters,
        out, resume,
    )  # fmt: skip


@app.command()
def reproduce(
    figures: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[ID]", help="Figures by id (see `steinmetz list`).", show_default="all"
        ),
    ] = None,
    scale: Annotated[
        str, typer.Option("--scale", help="quick (minutes) or full (the paper's sizes).")
    ] = "quick",
    seeds: Annotated[
        int | None,
        typer.Option(
            "--seeds", min=1, max=1000, help="Seeds, from 0 on.", show_default="the figure's"
        ),
    ] = None,
    out: Annotated[
        Path, typer.Option("--out", help="Folder for figures, page and finished points.")
    ] = Path("reproduction"),
) -> None:
    """Do the paper again, figure by figure, and say of each claim whether it holds.

    Every finished point is kept by its content: the same command goes on after an interrupt, and another figure, scale
    or number of seeds only does what is missing.

    Examples:

      steinmetz reproduce

      steinmetz reproduce hyper-comparison --seeds 5

      steinmetz reproduce cost --scale full --out results/paper
    """
    commands.start_jax()
    commands.reproduce(figures or [], scale, seeds, out)


@app.command()
def diagnose(folder: Annotated[Path, typer.Argument(help="Folder of a finished run.")]) -> None:
    """Print every check of how the posterior of a run was sampled, pass or fail, and what to do about it.

    The exit code is 0 if all checks pass and 1 if one fails.

    Example:

      steinmetz diagnose runs/hyperelasticity-seed0
    """
    raise typer.Exit(0 if commands.diagnose(folder) else 1)


@app.command("list")
def list_() -> None:
    """List studies, generating laws, potentials and samplers.

    Example:

      steinmetz list
    """
    from steinmetz import registry
    from steinmetz.paper import grids
    from steinmetz.studies import config

    rows = [("studies", [(name, config.title(name)) for name in config.names()])]
    rows.append(
        (
            "figures of the paper",
            list(grids.titles().items()),
        )
    )
    kinds = {
        "laws": "physics.laws",
        "physics": "physics",
        "potentials": "potentials",
        "ways to sparsify": "sparsify",
        "samplers": "infer",
    }
    for title, kind in kinds.items():
        rows.append(
            (title, [(name, registry.summary(kind, name)) for name in registry.names(kind)])
        )
    for title, entries in rows:
        typer.echo(f"{title}:")
        for name, summary in entries:
            typer.echo(f"  {name:<18} {summary}")


def _changes(
    changes: list[str] | None, seed: int | None, parameters: int | None = None
) -> dict[str, Any]:
    """`key=value` pairs as typed values: TOML where it parses, text otherwise."""
    found: dict[str, Any] = {} if seed is None else {"seed": seed}
    if parameters is not None:
        found["sparsify.parameters"] = parameters
    for change in changes or []:
        key, equals, value = change.partition("=")
        if not equals or not key:
            raise InputError(f"--set {change}: write key=value, such as --set infer.particles=100")
        try:
            found[key.strip()] = tomllib.loads(f"value = {value}")["value"]
        except tomllib.TOMLDecodeError:
            found[key.strip()] = value.strip()
    return found


def _names(text: str) -> tuple[str, ...]:
    """Ways to sparsify from a list with commas."""
    from steinmetz import registry

    names = tuple(part.strip() for part in text.split(",") if part.strip())
    for name in names:
        registry.load("sparsify", name)
    if not names or len(set(names)) < len(names):
        raise InputError(f"--methods {text}: name each way once, such as --methods l0,l1,l2")
    return names


def _numbers(text: str | None) -> tuple[float, ...] | None:
    """Noise levels from a list with commas."""
    if text is None:
        return None
    try:
        found = tuple(float(part) for part in text.split(","))
    except ValueError:
        raise InputError(
            f"--noise {text}: write numbers with commas, such as --noise 0,0.05,0.1"
        ) from None
    if not all(0 <= value <= 10 for value in found) or len(set(found)) < len(found):
        raise InputError(
            f"--noise {text}: different shares of the stress between 0 and 10 are possible"
        )
    return found


def main() -> None:
    """Entry point: wrong input is one sentence and exit code 2, a failed run one sentence and exit code 1."""
    try:
        raise SystemExit(app(standalone_mode=False) or 0)
    except InputError as error:
        message, code = str(error), 2
    except (RunFailure, OSError) as error:
        message, code = str(error), 1
    except RunStopped as stopped:
        print(f"steinmetz: {stopped}", file=sys.stderr, flush=True)
        sys.stdout.flush()
        os._exit(
            stopped.code
        )  # a compilation in another thread cannot be stopped, and must not be waited for
    except (KeyboardInterrupt, typer.Abort):
        message, code = "interrupted; nothing was written", 130
    except Exception as error:
        if not hasattr(error, "format_message"):  # not one of the command-line parser's own
            raise
        message, code = f"{error.format_message().rstrip('.')}; see steinmetz --help", 2
        if type(error).__name__ == "NoArgsIsHelpError":
            raise SystemExit(2) from None
    print(f"steinmetz: {message}", file=sys.stderr)
    raise SystemExit(code)


if __name__ == "__main__":
    main()
