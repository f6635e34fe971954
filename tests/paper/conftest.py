"""Figures of the paper on tiny settings, made as the command makes them."""

from pathlib import Path
from typing import Any

import pytest

from steinmetz.paper import grids, page, reproduce
from steinmetz.paper.arms import Sized
from steinmetz.paper.records import Outcome, Record

Outcomes = list[Outcome[Record]]
"""Finished figures, in their order."""

TINY = {
    "potential.form": "passthrough",
    "potential.widths": [3],
    "sparsify.restarts": 2,
    "sparsify.steps": 60,
    "sparsify.stride": 30,
    "sparsify.penalties": 2,
    "assess.path_points": 21,
    "assess.noise_draws": 40,
    "assess.test_count": 50,
    "data.count": 20,
}
# Settings of a sampler that ends soon.
CHAINS = {"infer.chains": 2, "infer.warm_up": 30, "infer.steps": 40, "infer.thin": 2}
MOVING = {"infer.particles": 8, "infer.warm_up": 20, "infer.steps": 40, "infer.thin": 4}
LONG = {"reference": MOVING | {"infer.extend": 0}, "SMC": MOVING}
SAMPLERS = {"": {}, "NUTS": CHAINS, "HMC": CHAINS, **LONG}
PARTICLES = {"infer.particles": 8, "infer.steps": 30}
SEED = reproduce.Seeds(1, first=2)


def tiny(name: str, **update: Any) -> grids.Grid:
    """A figure with everything small: the same points, checks and drawing."""
    grid = grids.load(name)
    per_arm = {}
    for arm in update.get("arms", grid.arms):
        sparsifier, _, sampler = arm.partition("+")
        small = {"sparsify.candidates": 2, "sparsify.beam": 2} if sparsifier == "L0" else {}
        per_arm[arm] = Sized(change={**small, **SAMPLERS.get(sampler, PARTICLES)})
    changes = {"change": {**grid.change, **TINY}, "quick": {}, "per_arm": per_arm, "lengths": {}}
    return grid.model_copy(update={**changes, **update})


@pytest.fixture(scope="session")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("reproduction")


@pytest.fixture(scope="session")
def outcomes(folder: Path) -> Outcomes:
    """Comparison, bands, fits and flow of one seed, which need not be 0."""
    arms = ("L0+reference", "L0+SVGD", "L2+SVGD", "L2+pSVGD")
    loaded = grids.load("hyper-comparison")
    checks = tuple(check for check in loaded.checks if set(check.arms) <= set(arms))
    compared = {"arms": arms, "readings": ("proper",), "checks": checks}
    figures = {
        "hyper-comparison": tiny("hyper-comparison", **compared, reference={"L0": "L0+reference"}),
        "hyper-bands": tiny("hyper-bands", readings=("proper",), reference={}),
        "hyper-fits": tiny("hyper-fits"),
    }
    load = grids.load
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(grids, "load", lambda name: figures.get(name) or load(name))
        return reproduce.reproduce([*figures, "l1-flow"], "quick", SEED, folder)


@pytest.fixture(scope="session")
def about(outcomes: Outcomes, folder: Path) -> page.Reproduction:
    """What the page says of them; its files are in the folder."""
    return page.save(outcomes, folder, page.Run("1 process", 2.0))
