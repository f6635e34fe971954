"""What a run gives: law, table, posterior, predictions, scores and certificate, in one record."""

import dataclasses
import functools
from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
from jaxtyping import Float
from numpy.typing import ArrayLike

from steinmetz.assess import bands
from steinmetz.assess.bands import Band
from steinmetz.assess.certificate import Certificate
from steinmetz.assess.scores import Scores
from steinmetz.engine.across import Across
from steinmetz.engine.answers import Answers, answers_of
from steinmetz.engine.judge import PathPredictions
from steinmetz.engine.pareto import Row
from steinmetz.engine.problem import Problem
from steinmetz.engine.sample import Ensemble
from steinmetz.engine.trust import Map, applies, trust_map
from steinmetz.errors import InputError
from steinmetz.experiments import modes
from steinmetz.exporters.names import Textbook, textbook
from steinmetz.potentials.law import Law
from steinmetz.potentials.volume import completed, drawn
from steinmetz.predict.bands import Bands
from steinmetz.sparsify.carve import Carved
from steinmetz.studies.study import Study


class Prediction(NamedTuple):
    """Stress at some states: that of the law, and of every draw that makes the bands."""

    components: tuple[str, ...]
    law: Float[np.ndarray, "states components"]
    draws: Float[np.ndarray, "draws states components"]

    def band(self, level: float = 0.95) -> tuple[np.ndarray, np.ndarray]:
        """Lower and upper border of the central band, states × components."""
        low, high = np.quantile(self.draws, [(1 - level) / 2, (1 + level) / 2], axis=0)
        return low, high


@dataclasses.dataclass(frozen=True, repr=False)
class Outcome:
    """Everything a run found.

    `law` prints and is exported, `particles` is its posterior. `bands` are the draws of every
    prediction: of all laws that may hold, or of this one alone (`assess.bands`).
    """

    study: Study
    problem: Problem
    carved: Carved
    table: list[Row]
    ensemble: Ensemble
    bands: Bands
    along: PathPredictions
    scores: Scores
    certificate: Certificate
    seconds: Mapping[str, float]
    across: Across = dataclasses.field(default_factory=Across)
    resumed: bool = False

    @property
    def law(self) -> Law:
        """The chosen law."""
        return self.carved.law

    @property
    def particles(self) -> Float[np.ndarray, "draws parameters"]:
        """Parameters of every draw of the posterior."""
        return self.ensemble.theta

    @property
    def textbook(self) -> Textbook | None:
        """Name and parameters of the law if it is one of textbooks, with bands over draws."""
        return textbook(completed(self.law), drawn(self.law, self.particles))

    @functools.cached_property
    def answers(self) -> Answers | None:
        """What the laws behind the bands say together; None where there is one law alone."""
        return answers_of(self.problem, self.bands, self.along)

    @functools.cached_property
    def trust(self) -> Map | None:
        """Where the law can be trusted; None unless stress follows from principal stretches."""
        return trust_map(self.problem, self.law, self.bands) if applies(self.problem) else None

    @property
    def extrapolated(self) -> bool:
        """Whether rows are held out that lie beyond the fitted ones."""
        return self.problem.held_out is not None and self.study.data.hold_out == "end"

    @property
    def moduli(self) -> dict[str, Band]:
        """G, K, E and ν at small strain, with bands over draws; empty where there are none."""
        return bands.moduli(self.certificate, self.problem.material.incompressible)

    def stress(
        self, F: ArrayLike, component: str | None = None, free: str | None = None
    ) -> Float[np.ndarray, "draws states"]:
        """A stress component of every draw at states F.

        F are deformation gradients, or rows of what describes a state of the material. The stress
        of an incompressible law is known up to a pressure: `free` names the face without traction.
        With a bulk modulus given, it need not be named: the volume decides the pressure.
        """
        material, bands = self.problem.material, self.bands
        if free is None:
            material, bands = material.completed, bands.completed
        experiment = dataclasses.replace(self.problem.blocks[0].experiment, free=free)
        if material.incompressible and free is None:
            raise InputError(
                "the stress of an incompressible law is known up to a pressure: name the face "
                "without traction, such as stress(F, 'P11', free='33')"
            )
        name = component or experiment.observed[0]
        states = self._states(F)
        at = experiment.map(material, states, (name,))
        return bands.push(at)[0][:, :, 0]

    def _states(self, given: ArrayLike) -> Float[np.ndarray, "states columns"]:
        """States from deformation gradients or rows, every one of them possible."""
        material, array = self.problem.material, np.asarray(given, float)
        columns = len(material.state)
        square = columns == 9 and array.shape[-2:] == (3, 3)
        if array.size == 0 or not (square or array.shape[-1:] == (columns,)):
            raise InputError(
                f"a state has the columns {', '.join(material.state)}; got an array of shape "
                f"{array.shape}"
            )
        states = array.reshape(-1, columns)
        if not np.isfinite(states).all():
            number = int(np.argmin(np.isfinite(states).all(axis=1)))
            raise InputError(f"state {number}: every entry must be a finite number")
        wrong = np.flatnonzero(~material.possible(states))
        if wrong.size:
            raise InputError(f"state {wrong[0]}: {material.fault(states[wrong[0]])}")
        return states

    def predict(
        self, experiment: str, rows: ArrayLike, components: tuple[str, ...] | None = None
    ) -> Prediction:
        """Stress in an experiment, seen or not: rows of its columns, such as stretches."""
        test = modes.suited(experiment, self.problem.material)
        table = np.asarray(rows, float)
        if len(test.columns) > 1 and table.shape[-1:] != (len(test.columns),):
            raise InputError(
                f"a row of '{experiment}' has the columns {', '.join(test.columns)} for this "
                f"material; got an array of shape {table.shape}"
            )
        table = table.reshape(-1, len(test.columns))
        for number, row in enumerate(table):
            if fault := test.fault(row):
                raise InputError(f"row {number}: {fault}")
        names = components or test.observed
        at = test.map(self.problem.material, test.states(table), names)
        draws = self.bands.push(at)[0]
        return Prediction(names, np.asarray(self.law.stress(at)), draws)

    def __repr__(self) -> str:
        from steinmetz.exporters.text import export

        r2, level = self.scores.r2, self.scores.coverage.get("95")
        judged = {"path": r2.path, "test": r2.test, "train": r2.train}
        parts = [f"R² {name} {value:.4f}" for name, value in judged.items() if value is not None]
        if level is not None:
            parts.append(f"95 % band covers {100 * level:.0f} %")
        text, known, stiff = export(self.law), self.textbook, bands.listed(self.moduli)
        return "\n".join([
            f"{type(self).__name__} of study '{self.study.name}', seed {self.study.seed}",
            f"  {text if len(text) < 400 else text[:399] + '…'}",
            *([f"  {known.sentence}"] if known else []),
            *([f"  moduli {stiff}"] if stiff else []),
            f"  {self.law.graph.size} of {self.carved.full} parameters, {', '.join(parts)}",
            f"  {len(self.particles)} draws by {self.ensemble.method}; "
            f"{self.certificate.violated} of {self.certificate.checked} laws inadmissible",
        ])  # fmt: skip
