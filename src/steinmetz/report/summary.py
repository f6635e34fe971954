"""`summary.json`: the numbers scripts rely on, as one typed record (method §8).

The screen, the report, the checks and `select` read this record and nothing else; its JSON schema
is in the documentation.
"""

import platform
from importlib import metadata
from pathlib import Path

import numpy as np
import pydantic
from pydantic import Field

from steinmetz import reading
from steinmetz.assess import noise
from steinmetz.assess.bands import Band
from steinmetz.assess.evidence import Point, Status
from steinmetz.assess.mixed import Mixed
from steinmetz.assess.noise import Found
from steinmetz.assess.scores import Scores
from steinmetz.engine.across import Across
from steinmetz.engine.outcome import Outcome
from steinmetz.engine.pareto import Row
from steinmetz.engine.trust import Trust
from steinmetz.errors import InputError
from steinmetz.exporters.names import Textbook
from steinmetz.infer.checks import Inference
from steinmetz.potentials import terms
from steinmetz.records import Document
from steinmetz.report.structures import Structures, short, silent, statement, structures
from steinmetz.studies.study import Study

_PACKAGES = ("steinmetz", "jax", "jaxlib", "equinox", "optax", "numpy", "sympy")
MARKER = "summary.json"

# Bulk over shear modulus from which on a constant volume is wrong by a few per cent at most.
_STIFF = 50.0


class RestartCounts(Document):
    """What became of one restart of the training."""

    restart: int
    penalty: float = Field(description="λ in units of log(n)/n")
    nonzero: int = Field(description="weights that are not zero after gating or clamping")
    pruned: int = Field(description="parameters of the exactly pruned law")


class Parameters(Document):
    """How many parameters there are, and why."""

    full: int = Field(description="weights of the whole network, or terms that were tried")
    active: int = Field(description="parameters of the law")
    nonzero: int
    reason: str
    penalty: float
    restarts: list[RestartCounts]


class AdmissiblePoint(Document):
    """One point of the certificate; a figure that is infinite or not defined is null."""

    name: str
    status: Status = Field(description="the worst of all laws")
    law: Status = Field(description="that of the law itself")
    proven: int = Field(description="laws of which it is proven")
    checked: int = Field(description="laws without a counter-example, not proven")
    violated: int = Field(description="laws with a counter-example")
    figure: float | None = Field(description="what was measured of the law")
    least: float | None = Field(description="the least among the law and its draws")
    short: str
    sentence: str


class Admissible(Document):
    """The certificate in numbers: laws are the MAP and every draw."""

    checked: int
    violated: int = Field(description="laws that violate a point that is demanded")
    random_states: int
    points: list[AdmissiblePoint]
    faults: list[str]
    mixture: Mixed | None = Field(description="of the laws behind the bands, where several are")


class Marginal(Document):
    """One parameter of the law."""

    map: float
    mean: float
    sd: float


class Moments(Document):
    """Mean and standard deviation."""

    mean: float
    sd: float


class PrintedRow(Row):
    """A row of the table with its law."""

    law: str


class DataCounts(Document):
    """What was fitted."""

    rows: int
    cells: int = Field(description="observed stress values")
    held_out: int
    held_out_as: list[str] = Field(description="which rows were held out, by table")
    extrapolated: bool = Field(description="whether these lie beyond the fitted ones")
    components: list[str]
    experiments: list[str]
    unit: str = Field("", description="of stress and energy per volume; empty if not declared")
    notes: list[str]


class Summary(Scores):
    """Everything measured in one run."""

    study: str
    title: str
    seed: int
    method: str = Field(description="penalty+sampler")
    law: str
    textbook: Textbook | None = Field(description="of a law that textbooks have, else null")
    moduli: dict[str, Band] = Field(
        description="G, K, E, ν at small strain; empty where a material has none"
    )
    structures: Structures
    across: Across = Field(
        description="textbook laws beside the law, tests predicted from the others, and standard "
        "tests the data determine or not; empty lists unless data are measured"
    )
    silent: list[str] = Field(description="where no data speak, a sentence each")
    trust: Trust | None = Field(
        None, description="where to trust the law; null unless stress follows from stretches"
    )
    statement: str = Field(description="two sentences to quote")
    parameters: Parameters
    seconds: dict[str, float]
    resumed: bool = Field(description="then the seconds are those of the last process")
    admissible: Admissible
    posterior: dict[str, Marginal]
    noise_factor: Moments | None = Field(description="of the noise, where it was sampled")
    noise: Found | None = Field(description="what was estimated of the noise, else null")
    inference: Inference
    pareto: list[PrintedRow]
    data: DataCounts
    versions: dict[str, str]


def _carved_by(study: Study) -> str:
    """What the law came from: a penalty on a network by name, or terms."""
    composed = isinstance(study.potential, terms.Config)
    return study.potential.name if composed else study.sparsify.method


def summarise(outcome: Outcome) -> Summary:
    """Everything measured in one run, in plain types."""
    study, carved, problem = outcome.study, outcome.carved, outcome.problem
    origin, law = carved.restarts[carved.chosen.origin], short(outcome.law)
    found = structures(outcome)
    restarts = [
        RestartCounts(restart=number, **counts._asdict())
        for number, counts in sorted(carved.restarts.items())
    ]
    return Summary(
        **{name: getattr(outcome.scores, name) for name in Scores.model_fields},
        study=study.name,
        title=study.title,
        seed=study.seed,
        method=f"{_carved_by(study)}+{outcome.ensemble.method}",
        law=law,
        textbook=outcome.textbook,
        moduli=outcome.moduli,
        structures=found,
        across=outcome.across,
        silent=silent(outcome),
        trust=outcome.trust.found if outcome.trust else None,
        statement=statement(outcome, law, found),
        parameters=Parameters(
            full=int(carved.full),
            active=int(outcome.law.graph.size),
            nonzero=origin.nonzero,
            reason=carved.reason,
            penalty=origin.penalty,
            restarts=restarts,
        ),
        seconds=dict(outcome.seconds),
        resumed=outcome.resumed,
        admissible=_admissible(outcome),
        posterior=_marginals(outcome),
        noise_factor=_noise_factor(outcome),
        noise=noise.found(carved.noise),
        inference=outcome.ensemble.inference,
        pareto=[
            PrintedRow(**{n: getattr(row, n) for n in Row.model_fields}, law=short(choice.law))
            for row, choice in zip(outcome.table, carved.table, strict=True)
        ],
        data=DataCounts(
            rows=len(problem.train.state),
            cells=problem.train.cells,
            held_out=0 if problem.held_out is None else len(problem.held_out.state),
            held_out_as=problem.held_out_as,
            extrapolated=outcome.extrapolated,
            components=list(problem.train.components),
            experiments=[block.experiment.name for block in problem.blocks],
            unit=problem.unit,
            notes=[*problem.notes, *_soft(outcome)],
        ),
        versions={
            "python": platform.python_version(),
            **{name: metadata.version(name) for name in _PACKAGES},
        },
    )


def _soft(outcome: Outcome) -> list[str]:
    """A note where a given bulk modulus is too small for tests analysed with a constant volume."""
    known = outcome.moduli
    if not outcome.problem.material.reference.bulk or not {"G", "K"} <= known.keys():
        return []
    ratio = known["K"].map / known["G"].map
    words = (
        f"the bulk modulus is only {ratio:.2g} times the shear modulus: the volume changes in "
        "these tests, and stress is wrong by about as much; measure the lateral stretch too"
    )
    return [words] if ratio < _STIFF else []


def _admissible(outcome: Outcome) -> Admissible:
    proof = outcome.certificate
    return Admissible(
        checked=proof.checked,
        violated=proof.violated,
        random_states=proof.states,
        points=[_point(point) for point in proof.points],
        faults=proof.faults,
        mixture=proof.mixture,
    )


def _point(point: Point) -> AdmissiblePoint:
    figure, least = float(point.figures[0]), float(point.figures.min())
    return AdmissiblePoint(
        name=point.name,
        status=point.status,
        law=point.law,
        proven=point.count("proven"),
        checked=point.count("checked"),
        violated=point.count("violated"),
        figure=figure if np.isfinite(figure) else None,
        least=least if np.isfinite(least) else None,
        short=point.short,
        sentence=point.sentence,
    )


def _noise_factor(outcome: Outcome) -> Moments | None:
    factor = outcome.ensemble.factor
    known = not outcome.study.noise.unknown
    return None if known else Moments(mean=float(factor.mean()), sd=float(factor.std()))


def _marginals(outcome: Outcome) -> dict[str, Marginal]:
    """MAP, posterior mean and standard deviation of every parameter of the law."""
    values, draws = np.asarray(outcome.law.values), outcome.particles.T
    return {
        name: Marginal(map=float(value), mean=float(row.mean()), sd=float(row.std()))
        for name, value, row in zip(outcome.law.names(), values, draws, strict=True)
    }


def read(folder: Path) -> Summary:
    """The summary of a finished run."""
    path = folder / MARKER
    if not path.is_file() and not path.is_fifo():
        raise InputError(f"{folder}: no finished run there ({MARKER} is missing)")
    reading.check_folder(folder)
    try:
        return Summary.model_validate(reading.parsed(path))
    except pydantic.ValidationError as error:
        first = error.errors()[0]
        place = ".".join(map(str, first["loc"])) or "all of it"
        words = f"{place}: {first['msg'].lower()}"
        raise InputError(
            f"{path} is damaged or of another version ({words}); run the study again"
        ) from None
