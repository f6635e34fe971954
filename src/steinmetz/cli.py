"""The command line. Nothing heavy is imported before a command needs it."""

import errno
import io
import os
import sys
from typing import Annotated, NoReturn

import typer

from steinmetz import campaign_commands, commands, fe_commands, run_commands, table_commands
from steinmetz.commands import RunStopped
from steinmetz.engine_options import EngineOptions
from steinmetz.errors import InputError, RunFailure, unwritten
from steinmetz.options import (
    CalibrationOptions,
    CurveOptions,
    DataOptions,
    FigureIds,
    Files,
    NoiseOptions,
    PaperOptions,
    RunOptions,
    StudyName,
    names,
    numbers,
    packed,
    settings,
)
from steinmetz.placement_options import PlacementOptions

app = typer.Typer(
    name="steinmetz",
    help="From stress data to a sparse, physically admissible constitutive law with honest "
    "uncertainty.",
    epilog="Start with: steinmetz run hyperelasticity",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _version(wanted: bool) -> bool:
    """Print the version and leave, if it is asked for."""
    if wanted:
        from importlib import metadata

        typer.echo(f"steinmetz {metadata.version('steinmetz')}")
        raise typer.Exit
    return wanted


@app.callback()
def _main(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    """Stress data in, a sparse, physically admissible constitutive law out.

    Its uncertainty is said with it.
    """


@app.command()
@packed
def run(study: StudyName, *, options: RunOptions, place: PlacementOptions) -> None:
    """Run a study and write its result folder.

    A run that is interrupted keeps what it has finished; the same command goes on from there.

    Examples:

      steinmetz run hyperelasticity

      steinmetz run mechanochemistry --parameters 8

      steinmetz run hyperelasticity --seed 3 --out results/gent --set noise.relative=0.05

      steinmetz run hyperelasticity --set potential.name=icnn

      steinmetz run my_study.toml --set infer.particles=200

      steinmetz run hyperelasticity --set infer.particles=5000 --devices 4

      steinmetz run hyperelasticity --coordinator 127.0.0.1:9911 --process-id 0 --processes 2
    """
    from steinmetz.studies import config

    commands.start_jax()
    changes = settings(options.changes, options.seed, options.parameters)
    commands.carry_out(config.load(study, changes), options.out, options.resume, place)


@app.command()
@packed
def fit(
    data: Files,
    *,
    tables: DataOptions,
    noise: NoiseOptions,
    options: RunOptions,
    place: PlacementOptions,
) -> None:
    """Fit a law to measured rows: a state and the stresses measured at it per row.

    Columns of a full_tensor file are F11…F33 and stresses such as S11, P11, sigma11; those of the
    tests of incompressible materials are a stretch (or stretch1 and stretch2, or shear) and P11.
    Strains, forces, units such as 'P11 (MPa)' and other spellings are read too, if they are
    declared: `steinmetz check` says what is understood, `steinmetz template` writes an example.
    Empty cells are missing, not zero. A column sd_S11 gives the standard deviation of S11 row by
    row and replaces the two options of noise there; noise that is not stated is estimated with the
    law. From 20 rows on, a fifth of them is held out for the test score, in segments of neighbours
    (--set data.hold_out names other ways, --set data.held_out=0 uses all); where several tests are
    fitted, each is predicted from the others instead.

    Examples:

      steinmetz fit rubber.csv

      steinmetz fit pull.csv --experiment uniaxial --unit MPa --measure nominal

      steinmetz fit rubber.csv --relative-noise 0 --absolute-noise 0.02 --out results/rubber

      steinmetz fit rubber.csv --relative-noise 0.03 --absolute-noise estimated

      steinmetz fit pull.csv bulge.csv --experiment uniaxial --experiment equibiaxial
    """
    from steinmetz.studies import measured

    commands.start_jax()
    changes = tables.changes() | settings(options.changes, options.seed, options.parameters)
    study = measured.jointly(data, tables.kinds(len(data)), (*noise,), changes)
    commands.carry_out(study, options.out, options.resume, place)


@app.command()
@packed
def lcurve(study: StudyName, *, options: CurveOptions, engines: EngineOptions) -> None:
    """Test R² and loss against the penalty λ and the weights left; choose λ and say why.

    It is of a network: where the law of a study is composed of terms, the usual one is taken.
    An L-curve that is interrupted keeps what it has finished; the same command goes on from there.

    Examples:

      steinmetz lcurve hyperelasticity

      steinmetz lcurve hyperelasticity --methods l0,l1 --noise 0,0.05,0.1 --penalties 12

      steinmetz lcurve hyperelasticity --restarts 64 --workers 8
    """
    methods, noises = names(options.methods), numbers(options.noise)
    helpers = engines.choice().helpers()
    commands.start_jax()
    from steinmetz.engine.lcurve import Plan
    from steinmetz.studies import config

    plan = Plan(methods, noises, options.penalties, options.restarts, options.parameters)
    chosen = config.load(study, settings(options.changes, options.seed))
    commands.draw_lcurve(chosen, plan, options.out, options.resume, helpers)


@app.command()
@packed
def reproduce(figures: FigureIds = None, *, options: PaperOptions, engines: EngineOptions) -> None:
    """Do the paper again, figure by figure, and say of each claim whether it holds.

    Every finished point is kept by its content: the same command goes on after an interrupt, and
    another figure, scale or number of seeds only does what is missing.

    Examples:

      steinmetz reproduce

      steinmetz reproduce hyper-comparison --seeds 5 --first-seed 10

      steinmetz reproduce cost --scale full --out results/paper

      steinmetz reproduce --scale full --engine dask --scheduler tls://node1:8786
    """
    commands.start_jax()
    from steinmetz.paper.reproduce import Seeds

    seeds, folder = Seeds(options.seeds, options.first_seed), options.folder
    commands.reproduce(figures or [], options.scale, seeds, folder, engines.choice())


@app.command()
@packed
def calibrate(*, options: CalibrationOptions, engines: EngineOptions) -> None:
    """Draw data sets whose truth is known, and show how often bands cover it.

    From laws, or from the posterior of a finished run. Each is carved as a run does it; the bands
    of several ways to average laws are judged on the same data. Every finished data set is kept:
    the same command goes on after an interrupt, and more seeds only add what is missing.

    Examples:

      steinmetz calibrate

      steinmetz calibrate --law gent --law yeoh --noise 0.02,0.1 --seeds 20

      steinmetz calibrate --from runs/hyperelasticity-seed0 --seeds 100 --out results/ranks
    """
    noises, changes = numbers(options.noise), settings(options.changes, None)
    helpers = engines.choice().helpers()
    commands.start_jax()
    from steinmetz.calibrate.work import Plan

    plan = Plan(tuple(options.law or ()), noises or (), options.seeds, options.run, changes)
    commands.calibrate(plan, options.folder, helpers)


@app.command("list")
def list_() -> None:
    """List studies, materials, experiments, laws, potentials, samplers and whatever else there is.

    Files of your own are listed too, if the environment variable STEINMETZ_PLUGINS names their
    folder.

    Example:

      steinmetz list
    """
    typer.echo(commands.listing())


run_commands.register(app)
table_commands.register(app)
fe_commands.register(app)
campaign_commands.register(app)


def _leave(code: int) -> NoReturn:
    """End now: a compilation in another thread cannot be stopped, and must not be waited for.

    Semaphores of processes that worked side by side are given back first, or Python complains.
    """
    shared = sys.modules.get("multiprocessing.util")
    if shared is not None:
        shared._run_finalizers(0)
    os._exit(code)


def main() -> None:
    """Entry point: wrong input is one sentence and exit code 2, a failed run one sentence and 1."""
    if isinstance(sys.stdout, io.TextIOWrapper):  # names of files may be no text at all
        sys.stdout.reconfigure(errors="backslashreplace")
    try:
        raise SystemExit(app(standalone_mode=False) or 0)
    except InputError as error:
        message, code = str(error), 2
    except RunFailure as error:
        message, code = str(error), 1
    except OSError as error:  # a name that no file can have is not the disk's fault
        message, code = unwritten(error), 2 if error.errno == errno.ENAMETOOLONG else 1
    except RunStopped as stopped:
        print(f"steinmetz: {stopped}", file=sys.stderr, flush=True)
        sys.stdout.flush()
        _leave(stopped.code)
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
