"""Treloar's rubber, which is read where it lies and is no part of the project."""

from pathlib import Path

import jax
import numpy as np
import pandas as pd
import pytest

from steinmetz.engine.problem import Problem, prepare
from steinmetz.sparsify.compose import Wanted, compose
from steinmetz.studies import config

FOLDER = Path(__file__).parents[3] / "shared" / "data"
TESTS = {"uniaxial": "uniaxial", "equibiaxial": "equibiaxial", "pureshear": "pure_shear"}


@pytest.fixture(scope="module")
def rubber(tmp_path_factory: pytest.TempPathFactory) -> Problem:
    """The three curves with a noise of 0.04 MPa, nothing held out."""
    if not FOLDER.is_dir():
        pytest.skip(f"Treloar's curves are not at {FOLDER.name} beside the project")
    folder = tmp_path_factory.mktemp("treloar")
    paths = []
    for name in TESTS:
        table = pd.read_csv(FOLDER / f"treloar_{name}.csv", comment="#")
        table.columns = ["stretch", "P11"]
        table.to_csv(folder / f"{name}.csv", index=False)
        paths.append(folder / f"{name}.csv")
    nothing = {"data.held_out": 0.0}
    study = config.measured_jointly(paths, list(TESTS.values()), (0.0, 0.04), nothing)
    return prepare(jax.random.key(0), study)


def test_four_parameters_hold_every_mode(rubber: Problem) -> None:
    """R² of each of the three tests, by the best law with at most four parameters."""
    laws = compose(rubber.train, rubber.material.reference, Wanted(5, None, True)).laws
    law = next(law for law in laws if law.size <= 4).law(rubber.material.reference)
    for block in rubber.blocks:
        measured = np.asarray(block.train.values)
        left = np.asarray(law.stress(block.train.map)) - measured
        assert 1 - np.sum(left**2) / np.sum((measured - measured.mean()) ** 2) > 0.997
