"""Tests run in double precision with every shape checked.

Compiled programs are kept between tests and processes.
"""

import os
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

os.environ.setdefault(
    "JAX_COMPILATION_CACHE_DIR", str(Path(__file__).parent.parent / ".pytest_cache" / "jax")
)
os.environ.setdefault("JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS", "0")

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jaxtyping import install_import_hook

jax.config.update("jax_enable_x64", True)
install_import_hook("steinmetz", "beartype.beartype")

import steinmetz  # noqa: E402
from cases import QUICK, Numbers  # noqa: E402
from steinmetz.api import Result  # noqa: E402
from steinmetz.data import noise  # noqa: E402
from steinmetz.experiments import full_tensor as tensors  # noqa: E402
from steinmetz.experiments import observe  # noqa: E402
from steinmetz.experiments.base import Experiment  # noqa: E402
from steinmetz.laws import base as laws  # noqa: E402
from steinmetz.materials import isotropic  # noqa: E402
from steinmetz.materials.base import Material  # noqa: E402
from steinmetz.potentials.graph import Edge, Graph  # noqa: E402
from steinmetz.potentials.law import Law  # noqa: E402
from steinmetz.records import Observations, Reference  # noqa: E402

if TYPE_CHECKING:
    from xdist.remote import Producer
    from xdist.scheduler import LoadScopeScheduling

# Runs that many files look at, by how a test asks for them; files of one run share a process.
SHARED = {"gent": "gent: Result", "quick": "quick: Result", "paper": "outcomes: Outcomes"}
# Files that take longest, to be begun first.
LONGEST = ("engine/test_mechanochemistry.py", "docs/test_blocks.py", "test_cli.py")


@cache
def group_of(file: str) -> str:
    """What runs in one process: a file, or all files that look at one run.

    Told from the text alone, because the process that hands tests out does not import them.
    """
    text = (Path(__file__).parent.parent / file).read_text(encoding="utf-8")
    return next((name for name, asked in SHARED.items() if asked in text), file)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: "Producer") -> "LoadScopeScheduling":
    """Every run is made once: a group goes to one process, in the order of collection."""
    from xdist.scheduler import LoadScopeScheduling

    class Grouped(LoadScopeScheduling):  # type: ignore[misc]  # it has no types
        def _split_scope(self, nodeid: str) -> str:
            return group_of(nodeid.partition("::")[0])

    config.option.loadscopereorder = False
    return Grouped(config, log)


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """What takes long comes first, so that two processes end together."""
    files = {item.path: item.path.relative_to(config.rootpath).as_posix() for item in items}
    shared = {path for path, file in files.items() if group_of(file) != file}
    first = {path for path, file in files.items() if file.removeprefix("tests/") in LONGEST}
    items.sort(key=lambda item: (item.path not in shared, item.path not in first))


@pytest.fixture(scope="session")
def gent() -> Result:
    """The main study, as a user runs it."""
    return steinmetz.run("hyperelasticity")


@pytest.fixture(scope="session")
def quick() -> Result:
    """Carved from a small network, on small settings: a law of four parameters."""
    changes = {**QUICK, "sparsify.parameters": 4}
    return steinmetz.run(steinmetz.study("hyperelasticity", changes))


@pytest.fixture(scope="session")
def quick_folder(quick: Result, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Its run directory; tests that change it copy it."""
    folder = tmp_path_factory.mktemp("runs") / "quick"
    quick.save(folder)
    return folder


@pytest.fixture(scope="session")
def material() -> Material:
    """The compressible isotropic material."""
    return isotropic.build(isotropic.Config())


@pytest.fixture(scope="session")
def full_tensor() -> Experiment:
    """Its experiment."""
    return tensors.build(tensors.Config())


@pytest.fixture(scope="session")
def observations(material: Material, full_tensor: Experiment) -> Observations:
    """80 noisy tensors of the Gent law."""
    state_key, noise_key = jax.random.split(jax.random.key(3))
    rows = full_tensor.sample(state_key, 80)
    clean = observe.clean(material, full_tensor, laws.truth(material, "gent"), rows)
    return observe.noisy(noise_key, clean, noise.Config())


@pytest.fixture(scope="session")
def printed_law() -> Law:
    """The paper's 7-parameter law (its signs are not constrained here.

    It is a case for the certificate).

    0.665 J + 5.623 log(1 + exp(0.251 I1) (1 + exp(−1.264 I2))^0.764 (1 + exp(−0.187 I2 − 0.339
    J))^1.8) − 9.71
    """
    edges = (
        Edge(3, 1, 0), Edge(4, 1, 1), Edge(4, 2, 2),
        Edge(5, 0, 3), Edge(5, 3, 4), Edge(5, 4, 5), Edge(6, 2, 6), Edge(6, 5, 7),
    )  # fmt: skip
    graph = Graph(
        inputs=("I1", "I2", "J"),
        activations=("softplus",) * 3,
        edges=edges,
        nonnegative=(False,) * 8,
    )
    values = jnp.array([-1.264, -0.187, -0.339, 0.251, 0.764, 1.8, 0.665, 5.623])
    return Law(graph, values, Reference((3.0, 3.0, 1.0), ((2.0, 4.0, 1.0),), ((0.0, 0.0, 1.0),)))


@pytest.fixture(scope="session")
def random_tensors() -> Numbers:
    """Deformation gradients well inside det F > 0."""
    return np.eye(3) + np.random.default_rng(0).uniform(-0.3, 0.3, (50, 3, 3))
