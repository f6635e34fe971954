"""The certificate: proves what is true, flags what is not, the paper's printed law among it."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jaxtyping import Array

from cases import Numbers
from steinmetz.api import Result
from steinmetz.assess import certificate
from steinmetz.assess.certificate import Certificate
from steinmetz.experiments import full_tensor as tensors
from steinmetz.materials.base import Material
from steinmetz.potentials.graph import Edge, Graph
from steinmetz.potentials.law import Law


def states(material: Material, count: int = 20_000, spread: float = 0.4) -> Array:
    wide = tensors.build(tensors.Config(spread=spread))
    return wide.map(material, wide.sample(jax.random.key(0), count), ("S11",)).inputs


def certify(material: Material, law: Law, particles: Numbers | None = None) -> Certificate:
    particles = np.asarray(law.values)[None] if particles is None else particles
    operator = material.operator(jnp.eye(3).ravel(), ("S11", "S22", "S33", "S12", "S13", "S23"))
    return certificate.certify(law, particles, material.conditions, states(material), operator)


def law_of(material: Material, edges: tuple[Edge, ...], units: int, values: list[float]) -> Law:
    graph = Graph(
        inputs=material.inputs,
        activations=("softplus",) * units,
        edges=edges,
        nonnegative=(False,) * len(values),
    )
    return Law(graph, jnp.array(values), material.reference)


def test_printed_law_is_flagged_as_not_monotone_in_i2(material: Material, printed_law: Law) -> None:
    slope = jax.grad(printed_law.graph.energy, argnums=1)(
        printed_law.values, jnp.array([3.0, 3.0, 1.0])
    )
    assert float(slope[1]) == pytest.approx(-0.53, abs=0.005)
    proof = certificate.prove(printed_law.graph, np.asarray(printed_law.values))
    assert proof.convex
    assert "I2" not in proof.increasing
    found = certify(material, printed_law)
    assert found.violated == 2
    assert any("Ψ falls with I2" in fault for fault in found.faults)
    assert any("signs do not prove growth in I2" in fault for fault in found.faults)


def test_printed_law_is_the_printed_expression(printed_law: Law) -> None:
    I1, I2, J = 3.3, 3.1, 1.05
    inner = (
        (1 + np.exp(-1.264 * I2)) ** 0.764
        * (np.exp(-0.187 * I2 - 0.339 * J) + 1) ** 1.8
        * np.exp(0.251 * I1)
    )
    expected = 0.665 * J + 5.623 * np.log(inner + 1)
    found = printed_law.graph.energy(printed_law.values, jnp.array([I1, I2, J]))
    assert float(found) == pytest.approx(expected, rel=1e-12)


def test_main_run_has_no_violation(gent: Result) -> None:
    found = gent.certificate
    assert found.violated == 0
    assert found.faults == []
    assert found.states == 100_000
    assert len(found.proven) == 2001
    assert found.reference_stress.max() < 1e-12


def test_negative_weight_on_a_unit_is_not_convex(material: Material) -> None:
    law = law_of(material, (Edge(3, 2, 0), Edge(4, 3, 1), Edge(4, 0, 2)), 1, [2.0, -1.0, 1.0])
    assert not certificate.prove(law.graph, np.asarray(law.values)).convex
    assert any("not convex" in fault for fault in certify(material, law).faults)


def test_sign_of_each_particle_counts(material: Material) -> None:
    law = law_of(material, (Edge(3, 0, 0),), 0, [1.0])
    found = certify(material, law, np.array([[1.0], [-0.1], [0.5]]))
    np.testing.assert_array_equal(found.proven, [True, True, False, True])
    np.testing.assert_array_equal(found.sound, [True, True, False, True])
    assert found.violated == 1
    assert found.faults[0].startswith("particle 1:")


def test_two_negative_weights_in_a_row_rise_again(material: Material) -> None:
    """−softplus(−I1) rises with I1; it is concave, so only growth is proven."""
    law = law_of(material, (Edge(3, 0, 0), Edge(4, 3, 1)), 1, [-1.0, -2.0])
    proof = certificate.prove(law.graph, np.asarray(law.values))
    assert "I1" in proof.increasing
    assert not proof.convex


def test_indefinite_agrees_with_eigenvalues() -> None:
    random = np.random.default_rng(0)
    for _ in range(200):
        half = random.normal(size=(3, 3))
        matrix = half @ half.T - random.uniform(0, 1) * np.eye(3)
        expected = np.linalg.eigvalsh(matrix).min() < -1e-12
        assert bool(certificate._indefinite(jnp.asarray(matrix), jnp.asarray(1e-12))) == expected
