"""The unseen laws are what their names say: stress-free at rest, finite, not among ours."""

from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import steinmetz
from cases import present
from steinmetz import registry
from steinmetz.engine.problem import Problem, prepare

NAMES = sorted(path.stem for path in (Path(__file__).parent / "laws").glob("*.py"))


def problem(name: str) -> Problem:
    """The data of an unseen law in the built-in study of its material."""
    swells = name == "flory_huggins"
    study = "mechanochemistry" if swells else "hyperelasticity"
    return prepare(jax.random.key(0), steinmetz.study(study, {"data.law": name}))


@pytest.mark.parametrize("name", NAMES)
def test_law_is_finite_and_stress_free(name: str) -> None:
    found = problem(name)
    truth, reference = present(found.truth), found.material.reference
    assert np.isfinite(found.train.values).all()
    assert np.isfinite(truth.stress(reference, found.path.map)).all()
    assert np.isfinite(truth.energies(reference, found.path.map.inputs)).all()
    slope = jax.grad(truth.energy)(jnp.asarray(reference.point))
    if name == "flory_huggins":
        np.testing.assert_allclose(slope[:3], 0, atol=1e-12)
    else:
        assert float(slope @ jnp.array([2.0, 4.0, 1.0])) == pytest.approx(0, abs=1e-12)


def test_no_law_is_ours(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(registry.VARIABLE)
    assert len(NAMES) == 7
    assert not set(NAMES) & set(registry.names("laws"))
