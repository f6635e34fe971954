"""Data sets with a known truth, and a finished run to draw others from."""

from pathlib import Path

import pytest

import steinmetz
from cases import CHEAP
from steinmetz.calibrate import cases
from steinmetz.calibrate.cases import Case
from steinmetz.engine import carving
from steinmetz.engine.carved import carve_law, stage_keys
from steinmetz.engine.problem import prepare, use_double
from steinmetz.studies.study import to_toml


@pytest.fixture(scope="session")
def mooney() -> Case:
    """Noisy tensors of a law that is linear in its parameters."""
    use_double()
    return cases.case(cases.of_law("mooney_rivlin", 0.1, 0, {}))


@pytest.fixture(scope="session")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """As much of a finished run as data sets are drawn from."""
    use_double()
    folder = tmp_path_factory.mktemp("runs") / "mooney"
    folder.mkdir()
    study = steinmetz.study("hyperelasticity", {**CHEAP, "data.law": "mooney_rivlin"})
    carved = carve_law(study, prepare(stage_keys(study.seed)["data"], study))
    (folder / "carving.json").write_text(carving.to_json(carved))
    (folder / "study.toml").write_text(to_toml(study))
    return folder
