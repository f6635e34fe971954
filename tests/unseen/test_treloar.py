"""Treloar's rubber, which is read where it lies and is no part of the project."""

from pathlib import Path

import jax
import numpy as np
import pandas as pd
import pytest

import steinmetz
from cases import present
from steinmetz.engine.problem import Problem, prepare
from steinmetz.sparsify.compose import Wanted, compose
from steinmetz.studies import measured

FOLDER = Path(__file__).parents[3] / "shared" / "data"
TESTS = {"uniaxial": "uniaxial", "equibiaxial": "equibiaxial", "pureshear": "pure_shear"}


@pytest.fixture(scope="module")
def tables(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """The three curves as stretch and nominal stress."""
    if not FOLDER.is_dir():
        pytest.skip(f"Treloar's curves are not at {FOLDER.name} beside the project")
    folder = tmp_path_factory.mktemp("treloar")
    paths = []
    for name in TESTS:
        table = pd.read_csv(FOLDER / f"treloar_{name}.csv", comment="#")
        table.columns = ["stretch", "P11"]
        table.to_csv(folder / f"{name}.csv", index=False)
        paths.append(folder / f"{name}.csv")
    return paths


@pytest.fixture(scope="module")
def rubber(tables: list[Path]) -> Problem:
    """The three curves with a noise of 0.04 MPa, nothing held out."""
    study = measured.jointly(tables, list(TESTS.values()), (0.0, 0.04))
    return prepare(jax.random.key(0), study)


def test_four_parameters_hold_every_mode(rubber: Problem) -> None:
    """R² of each of the three tests, by the best law with at most four parameters."""
    laws = compose(rubber.train, rubber.material.reference, Wanted(5, None, True)).laws
    law = next(law for law in laws if law.size <= 4).law(rubber.material.reference)
    for block in rubber.blocks:
        measured = np.asarray(block.train.values)
        left = np.asarray(law.stress(block.train.map)) - measured
        assert 1 - np.sum(left**2) / np.sum((measured - measured.mean()) ** 2) > 0.997


@pytest.mark.long
def test_every_test_is_predicted_by_the_others(tables: list[Path]) -> None:
    """As good as averages of classical terms, with noise that nobody stated."""
    result = steinmetz.fit(tables, [*TESTS.values()])
    assert result.certificate.violated == 0
    across = present(result.summary.across)
    left = {test.test: test for test in across.left_out}
    least = {"uniaxial": 0.95, "equibiaxial": 0.99, "pure_shear": 0.998}
    assert {name: present(left[name].r2) > bound for name, bound in least.items()} == dict.fromkeys(
        least, True
    )
    assert all(test.coverage > 0.8 for test in left.values())
    assert left["equibiaxial"].width < 0.53
