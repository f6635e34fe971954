"""The command line. Nothing heavy is imported before a command needs it."""

import os
import sys
import tomllib
from pathlib import Path
from typing import Annotated, Any

import typer

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

Out = Annotated[Path | None, typer.Option("--out", help="Folder for the results.", show_default="runs/NAME-seedN")]
Seed = Annotated[int | None, typer.Option("--seed", help="Seed of all random numbers.", show_default="the study's")]
Set = Annotated[
    list[str] | None,
    typer.Option("--set", help="Change a setting, such as infer.particles=100; may be repeated."),
]


@app.command()
def run(
    study: Annotated[str, typer.Argument(help="A built-in study (see `steinmetz list`) or the path of a TOML file.")],
    out: Out = None,
    seed: Seed = None,
    changes: Set = None,
) -> None:
    """Run a study and write its result folder.

    Examples:

      steinmetz run hyperelasticity

      steinmetz run hyperelasticity --seed 3 --out results/gent --set noise.relative=0.05

      steinmetz run my_study.toml --set infer.particles=200
    """
    from steinmetz.studies import config

    _start_jax()
    _carry_out(config.load(study, _changes(changes, seed)), out)


@app.command()
def fit(
    data: Annotated[Path, typer.Argument(help="CSV file: F11…F33 and stress columns named S11, P11 or sigma11.")],
    relative_noise: Annotated[
        float, typer.Option("--relative-noise", help="Standard deviation as a share of the stress.")
    ] = 0.05,
    absolute_noise: Annotated[
        float, typer.Option("--absolute-noise", help="Standard deviation in the unit of the stress.")
    ] = 0.0,
    out: Out = None,
    seed: Seed = None,
    changes: Set = None,
) -> None:
    """Fit a law to measured rows: one deformation gradient and the stresses measured at it per row.

    Empty cells are missing, not zero. A column sd_S11 gives the standard deviation of S11 row by row and replaces the
    two options there. From 20 rows on, a fifth of them is held out for the
    test score (--set data.held_out=0 uses all).

    Examples:

      steinmetz fit rubber.csv

      steinmetz fit rubber.csv --relative-noise 0 --absolute-noise 0.02 --out results/rubber
    """
    from steinmetz.studies import config

    _start_jax()
    _carry_out(config.measured(data, relative_noise, absolute_noise, _changes(changes, seed)), out)


@app.command("list")
def list_() -> None:
    """List studies, generating laws, potentials and samplers.

    Example:

      steinmetz list
    """
    from steinmetz import registry
    from steinmetz.studies import config

    rows = [("studies", [(name, config.title(name)) for name in config.names()])]
    kinds = {"laws": "physics.laws", "physics": "physics", "potentials": "potentials", "samplers": "infer"}
    for title, kind in kinds.items():
        rows.append((title, [(name, registry.summary(kind, name)) for name in registry.names(kind)]))
    for title, entries in rows:
        typer.echo(f"{title}:")
        for name, summary in entries:
            typer.echo(f"  {name:<18} {summary}")


class RunStopped(Exception):
    """Ctrl-C during a run."""


def _changes(changes: list[str] | None, seed: int | None) -> dict[str, Any]:
    """`key=value` pairs as typed values: TOML where it parses, text otherwise."""
    found: dict[str, Any] = {} if seed is None else {"seed": seed}
    for change in changes or []:
        key, equals, value = change.partition("=")
        if not equals or not key:
            raise InputError(f"--set {change}: write key=value, such as --set infer.particles=100")
        try:
            found[key.strip()] = tomllib.loads(f"value = {value}")["value"]
        except tomllib.TOMLDecodeError:
            found[key.strip()] = value.strip()
    return found


def _start_jax() -> None:
    """Double precision, and compiled programs kept between calls."""
    import jax

    jax.config.update("jax_enable_x64", True)
    if "JAX_COMPILATION_CACHE_DIR" not in os.environ:
        cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "steinmetz" / "jax"
        try:
            cache.mkdir(parents=True, exist_ok=True)
        except OSError:
            return
        jax.config.update("jax_compilation_cache_dir", str(cache))
    jax.config.update("jax_persistent_cache_min_compile_time_secs", 0.2)


def _carry_out(study: Any, out: Path | None) -> None:
    """Check the target, run, save, and print the final screen."""
    from steinmetz import progress
    from steinmetz.engine.run import run as run_study
    from steinmetz.report import files, screen

    folder = out or Path("runs") / f"{study.name}-seed{study.seed}"
    files.check_target(folder)
    try:
        with progress.shown() as report:
            result = run_study(study, report)
        summary = files.save(result, folder)
    except KeyboardInterrupt:  # here, because the parser would leave without a word
        raise RunStopped from None
    typer.echo(screen.final(summary, folder))


def main() -> None:
    """Entry point: wrong input is one sentence and exit code 2, a failed run one sentence and exit code 1."""
    try:
        raise SystemExit(app(standalone_mode=False) or 0)
    except InputError as error:
        message, code = str(error), 2
    except (RunFailure, OSError) as error:
        message, code = str(error), 1
    except (RunStopped, KeyboardInterrupt, typer.Abort):
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
