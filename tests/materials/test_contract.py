"""Every material: its parts fit together, whatever it is."""

import jax.numpy as jnp
import numpy as np
import pytest
from jaxtyping import Array

from steinmetz import registry
from steinmetz.experiments import base as experiments
from steinmetz.materials import base as materials
from steinmetz.materials.base import Material


@pytest.fixture(params=registry.names("materials"))
def any_material(request: pytest.FixtureRequest) -> Material:
    return materials.build(materials.load(request.param).Config(name=request.param))


def test_sizes_agree(any_material: Material) -> None:
    inputs = len(any_material.inputs)
    reference = any_material.reference
    assert len(any_material.sizes) == len(reference.point) == inputs
    assert {len(row) for row in (*reference.weights, *reference.directions)} <= {inputs}
    assert len(any_material.undeformed) == len(any_material.state)
    assert set(any_material.aliases.values()) <= set(any_material.components)
    assert set(any_material.conditions.increasing) <= set(any_material.inputs)


def test_the_undeformed_state_is_possible_and_is_the_reference(any_material: Material) -> None:
    state = np.array(any_material.undeformed)
    assert any_material.possible(state[None]).all()
    np.testing.assert_allclose(
        any_material.features(jnp.asarray(state)), any_material.reference.point, atol=1e-14
    )


def test_its_usual_experiment_and_potential_exist_and_fit(any_material: Material) -> None:
    assert any_material.potential in registry.names("potentials")
    kind = experiments.load(any_material.experiment)
    experiments.build(kind.Config(name=any_material.experiment)).check(any_material)


def test_two_directions_normalise_in_both() -> None:
    """A fibre needs a second direction: after normalisation no combination v·∇Ψ̂ is left at x₀."""
    from steinmetz.records import Reference

    point, weights = (1.0, 2.0, 3.0), ((2.0, 1.0, 0.0), (0.0, 0.0, 1.0))
    reference = Reference(point, weights, ((0.0, 1.0, 0.0), (0.0, 0.0, 1.0)))

    def energy(x: Array) -> Array:
        return jnp.sum(x**2) + x[0] * x[2]

    import jax

    slopes = reference.slopes(jax.vmap(jax.grad(energy)), jnp.asarray([point, (0.0, 1.0, 5.0)]))
    for v in weights:
        assert float(jnp.asarray(v) @ slopes[0]) == pytest.approx(0, abs=1e-12)
    x = jnp.array([0.3, 0.4, 0.5])
    assert float(reference.energy(energy, jnp.asarray(point))) == pytest.approx(0, abs=1e-12)
    np.testing.assert_allclose(
        jax.grad(lambda y: reference.energy(energy, y))(x),
        reference.slopes(jax.vmap(jax.grad(energy)), x[None])[0],
        atol=1e-12,
    )
    sizes = (2.0, 0.5, 4.0)
    scaled = reference.scaled(sizes)
    unit = jnp.asarray(sizes)
    near = scaled.energy(lambda y: energy(y * unit), x / unit)
    assert float(near) == pytest.approx(float(reference.energy(energy, x)), abs=1e-12)
