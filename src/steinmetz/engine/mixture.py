"""Whose draws make the bands of a run: those of all laws that may hold, or of the law alone."""

import numpy as np

from steinmetz.engine.problem import Problem
from steinmetz.engine.sample import Ensemble
from steinmetz.posterior import structures
from steinmetz.predict.bands import Bands
from steinmetz.sparsify import written
from steinmetz.sparsify.carve import Carved
from steinmetz.studies.study import Study

# Added to the seed of a study: the numbers drawn here are not those of another stage.
_STREAM = 13


def bands_of(study: Study, problem: Problem, carved: Carved, ensemble: Ensemble) -> Bands:
    """As many draws as the posterior of the law has, always the same for the same run."""
    if study.assess.bands == "law" or len(carved.structures) < 2:
        return Bands.of(carved.law, ensemble.theta, ensemble.factor)
    random = np.random.default_rng([study.seed, _STREAM])
    data = written.Problem.of(carved.quadratic, problem.material.reference)
    parts = structures.mixture(random, list(carved.structures), data, len(ensemble.theta))
    return Bands(parts, random.permutation(ensemble.factor))
