"""Tests run in double precision with every shape checked; compiled programs are kept between tests and processes."""

import os
from pathlib import Path

os.environ.setdefault(
    "JAX_COMPILATION_CACHE_DIR", str(Path(__file__).parent.parent / ".pytest_cache" / "jax")
)
os.environ.setdefault("JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS", "0.2")

import jax
import numpy as np
import pytest
from jaxtyping import install_import_hook

jax.config.update("jax_enable_x64", True)
install_import_hook("steinmetz", "beartype.beartype")

import steinmetz  # noqa: E402


def pytest_collection_modifyitems(items):
    """Where tests run in several processes: a file stays in one, all that share a long run too."""
    shared = {
        item.path: name
        for item in items
        for name in ("outcomes", "gent")
        if name in getattr(item, "fixturenames", ())
    }
    for item in items:
        item.add_marker(pytest.mark.xdist_group(shared.get(item.path, str(item.path))))
    items.sort(key=lambda item: shared.get(item.path) != "gent")  # the longest first


@pytest.fixture(scope="session")
def gent():
    """The main study, as a user runs it."""
    return steinmetz.run(steinmetz.study("hyperelasticity"))


@pytest.fixture(scope="session")
def physics():
    from steinmetz.physics import hyperelasticity

    return hyperelasticity.build()


@pytest.fixture(scope="session")
def observations(physics):
    """80 noisy tensors of the Gent law."""
    from steinmetz.data import noise
    from steinmetz.physics import observe

    return observe.synthetic(
        jax.random.key(3), physics, observe.law(physics, "gent"), 80, 0.2, noise.Config()
    )


@pytest.fixture(scope="session")
def printed_law():
    """The paper's 7-parameter law (its signs are not constrained here: it is a case for the certificate).

    0.665 J + 5.623 log(1 + exp(0.251 I1) (1 + exp(−1.264 I2))^0.764 (1 + exp(−0.187 I2 − 0.339 J))^1.8) − 9.71
    """
    import jax.numpy as jnp

    from steinmetz.potentials.graph import Edge, Graph
    from steinmetz.potentials.law import Law
    from steinmetz.records import Reference

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
def random_tensors():
    """Deformation gradients well inside det F > 0."""
    return np.eye(3) + np.random.default_rng(0).uniform(-0.3, 0.3, (50, 3, 3))
