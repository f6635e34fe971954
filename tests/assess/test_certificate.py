"""The certificate: every point has laws that pass it and laws that it flags."""

import dataclasses
from collections.abc import Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jaxtyping import Array

from cases import BY_SIGNS, BY_TERMS, REFERENCE, Numbers, graph, neo_hooke, present, readme_law
from steinmetz.api import Result
from steinmetz.assess import certificate
from steinmetz.assess.certificate import Certificate
from steinmetz.experiments import full_tensor as tensors
from steinmetz.experiments import plane_strain
from steinmetz.materials import isotropic, mechanochemistry
from steinmetz.materials.base import Material, State, States
from steinmetz.materials.demands import Demands
from steinmetz.potentials.graph import UNIT, Edge
from steinmetz.potentials.law import Law
from steinmetz.records import Conditions, Reference

STRESS = ("S11", "S22", "S33", "S12", "S13", "S23")

Term = tuple[float, dict[str, float]]
"""A weight, and the factors of the inputs of its unit."""


@pytest.fixture(scope="module")
def rubber() -> Material:
    """The incompressible isotropic material."""
    return isotropic.build(isotropic.Config(incompressible=True))


@pytest.fixture(scope="module")
def solid() -> Material:
    """Mechanochemistry."""
    return mechanochemistry.build(mechanochemistry.Config())


def around(material: Material, count: int = 2000) -> Numbers:
    """States twice as far as usual data; of constant volume where the material is."""
    if "c" in material.state:
        wide = plane_strain.build(plane_strain.Config(spread=0.4))
        return wide.sample(jax.random.key(0), count)
    rows = tensors.build(tensors.Config(spread=0.4)).sample(jax.random.key(0), count)
    volume = np.linalg.det(rows.reshape(-1, 3, 3)) if material.incompressible else np.ones(count)
    return rows / np.cbrt(volume)[:, None]


def certify(
    material: Material, law: Law, particles: Sequence[Sequence[float]] | None = None
) -> Certificate:
    draws = np.zeros((0, law.graph.size)) if particles is None else np.asarray(particles)
    names: tuple[str, ...] = STRESS if material.name == "isotropic" else ("S11", "S22", "S12", "mu")
    names = ("S12",) if material.incompressible else names
    operator = material.operator(jnp.asarray(material.undeformed), names)
    return certificate.certify(law, draws, material, around(material), operator)


def linear(material: Material, **weights: float) -> Law:
    """Ψ = Σ w x."""
    inputs = material.inputs
    edges = [Edge(len(inputs), inputs.index(n), k) for k, n in enumerate(weights)]
    drawn = graph(edges, (), inputs=inputs)
    return Law(drawn, jnp.array(list(weights.values())), material.reference)


def units(material: Material, terms: Sequence[Term], activation: str = "softplus") -> Law:
    """Ψ = I1 (or nothing) + Σ weight · activation(Σ w x), a term per pair (weight, {input: w})."""
    inputs = material.inputs
    edges: list[Edge] = []
    values: list[float] = []
    out = len(inputs) + len(terms)
    for number, (weight, inner) in enumerate(terms):
        for name, factor in inner.items():
            edges.append(Edge(len(inputs) + number, inputs.index(name), len(values)))
            values.append(factor)
        edges.append(Edge(out, len(inputs) + number, len(values)))
        values.append(weight)
    drawn = graph(edges, (activation,) * len(terms), inputs=inputs)
    return Law(drawn, jnp.array(values), material.reference)


def statuses(found: Certificate) -> dict[str, str]:
    return {point.name: point.status for point in found.points}


def test_energy_in_i1_alone_is_flagged(material: Material) -> None:
    """It is polyconvex, yet a pressure makes it swell: K = −2/3, and σ11 > 0 in compression."""
    law = linear(material, I1=1.0)
    found = certify(material, law)
    expected = dict.fromkeys(BY_SIGNS, "proven") | {"shear modulus": "checked"}
    wrong = ("bulk modulus", "energy not negative", "growth as J → 0", "growth as ‖F‖ → ∞")
    assert statuses(found) == expected | dict.fromkeys(wrong, "violated")
    assert found.point("bulk modulus").figures[0] == pytest.approx(-2 / 3, abs=1e-12)
    assert found.point("shear modulus").figures[0] == pytest.approx(2, abs=1e-12)
    F = 0.95 * np.eye(3)
    sigma = material.operator(jnp.asarray(F.ravel()), ("sigma11",))
    slopes = law.slopes(material.features(jnp.asarray(F.ravel()))[None])
    assert float((sigma @ slopes[0])[0]) > 0
    assert found.violated == 1
    assert "bulk modulus violated by the law: K = -0.6667" in found.faults[0]


def test_law_that_is_finite_at_zero_volume_is_flagged_for_that_alone(material: Material) -> None:
    found = certify(material, readme_law())
    expected = dict.fromkeys(BY_SIGNS, "proven") | {"growth as ‖F‖ → ∞": "proven"}
    checked = ("bulk modulus", "shear modulus", "energy not negative")
    expected |= dict.fromkeys(checked, "checked") | {"growth as J → 0": "violated"}
    assert statuses(found) == expected
    point = found.point("growth as J → 0")
    assert point.figures[0] == pytest.approx(0.446, abs=5e-4)
    assert "0.4463 in uniform compression, after 0.63" in point.sentence
    assert len(found.faults) == 1


def test_growth_is_shown_also_where_it_is_not_demanded() -> None:
    free = isotropic.build(isotropic.Config(growth=False))
    found = certify(free, readme_law())
    point = found.point("growth as J → 0")
    assert point.status == point.law == "not demanded"
    assert "ends at 0.4463" in point.sentence
    assert (found.violated, found.faults) == (0, [])
    assert point.count("not demanded") == 1
    assert point.count("violated") == 0


def test_neo_hooke_with_a_barrier_passes_every_point(material: Material) -> None:
    found = certify(material, neo_hooke(), [[0.5, 1.0, 1.0], [0.4, 1.2, 0.8]])
    assert (found.violated, found.faults, found.checked) == (0, [], 3)
    by_proof = (*BY_SIGNS, "growth as J → 0", "growth as ‖F‖ → ∞")
    assert {name: status for name, status in statuses(found).items() if status == "proven"} == (
        dict.fromkeys(by_proof, "proven")
    )
    assert found.point("bulk modulus").figures[0] == pytest.approx(2 + 2 / 3)  # κ + ⅔ μ
    assert found.point("shear modulus").figures[0] == pytest.approx(1)
    assert found.point("elliptic").figures[0] == pytest.approx(1)  # μ, from m across cof F N


def test_plain_neo_hooke_has_no_tangent_that_proves_its_growth(material: Material) -> None:
    """½ I1 − log J grows, but its slope in J is negative everywhere: it is checked on paths."""
    assert statuses(certify(material, neo_hooke(bulk=0.0)))["growth as ‖F‖ → ∞"] == "checked"


@pytest.mark.parametrize("weight", [-1.0, 0.0])
def test_a_barrier_counts_only_with_a_positive_weight(material: Material, weight: float) -> None:
    assert statuses(certify(material, neo_hooke(barrier=weight)))["growth as J → 0"] == "violated"


def test_a_barrier_that_another_input_softens_is_not_a_proof(material: Material) -> None:
    """−log(I1 + J) is finite in uniaxial compression, though infinite where I1 vanishes too."""
    edges = (Edge(3, 0, 0), Edge(3, 2, 1), Edge(4, 3, 2))
    law = Law(graph(edges, ("neglog",)), jnp.ones(3), REFERENCE)
    assert statuses(certify(material, law))["growth as J → 0"] == "violated"


def test_pressure_that_beats_the_stretch_is_flagged_far_out(material: Material) -> None:
    """I1 − 0.01 J: what is left of the normalisation wins only at a stretch of three hundred."""
    law = neo_hooke(shear=2.0, barrier=1.99, bulk=0.0)
    point = certify(material, law).point("growth as ‖F‖ → ∞")
    assert point.status == "violated"
    assert "uniform extension" in point.sentence


def test_convexity_is_flagged(material: Material) -> None:
    law = units(material, [(-1.0, {"J": 2.0})])
    assert not certificate.prove(law.graph, np.asarray(law.values)).convex
    found = certify(material, law)
    assert found.point("polyconvex").status == "violated"
    assert found.point("monotone").status == "proven"


def test_convexity_that_signs_do_not_prove_is_checked(material: Material) -> None:
    """softplus(J) + softplus(−J) − ½ … written with a negative weight: 2 softplus(J) − J + J."""
    law = units(material, [(1.0, {"I1": 0.5}), (2.0, {"J": 1.0}), (-0.5, {"J": 1.0})])
    point = certify(material, law).point("polyconvex")
    assert point.status == "checked"
    assert "do not prove" in point.sentence


def test_printed_law_is_flagged_as_not_monotone_in_i2(material: Material, printed_law: Law) -> None:
    slope = jax.grad(printed_law.graph.energy, argnums=1)(
        printed_law.values, jnp.array([3.0, 3.0, 1.0])
    )
    assert float(slope[1]) == pytest.approx(-0.53, abs=0.005)
    proof = certificate.prove(printed_law.graph, np.asarray(printed_law.values))
    assert proof.convex
    assert "I2" not in proof.increasing
    found = certify(material, printed_law)
    assert found.point("monotone").status == "violated"
    assert "Ψ falls with I2" in found.point("monotone").sentence
    assert found.point("polyconvex").status == "violated"


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


def test_stress_at_rest_is_flagged(material: Material) -> None:
    """Without its directions the normalisation shifts the energy and leaves the stress 2 I."""
    law = linear(material, I1=1.0)
    point = certify(material, Law(law.graph, law.values, Reference(REFERENCE.point))).point(
        "stress-free"
    )
    assert point.status == "violated"
    assert point.figures[0] == pytest.approx(2)


def test_shear_modulus_is_flagged(material: Material) -> None:
    point = certify(material, neo_hooke(shear=-1.0)).point("shear modulus")
    assert point.status == "violated"
    assert point.figures[0] == pytest.approx(-1)


def test_lost_ellipticity_is_flagged_with_its_place(material: Material) -> None:
    """I1 − 2 J²: 2 − 4 |cof F N|², least where two stretches are largest."""
    edges = (Edge(3, 2, UNIT), Edge(4, 0, 0), Edge(4, 3, 1))
    law = Law(graph(edges, ("square",)), jnp.array([1.0, -2.0]), REFERENCE)
    found = certify(material, law).point("elliptic")
    assert found.status == "violated"
    stretches = np.linalg.svd(around(material).reshape(-1, 3, 3), compute_uv=False)
    largest = max(1.4**4, np.max((stretches[:, 0] * stretches[:, 1]) ** 2))
    assert 2 - 4 * largest <= found.figures[0] <= 2 - 4 * 1.4**4 + 1e-9


def test_margin_is_the_least_second_derivative_along_m_and_n(material: Material) -> None:
    """Against the Hessian in F of a law with all three invariants, at one state."""
    law, F = readme_law(), np.diag([0.6, 1.0, 1.4])

    def energy(flat: Array) -> Array:
        return law.energy(material.features(flat)[None])[0]

    tangent = np.asarray(jax.hessian(energy)(jnp.asarray(F.ravel()))).reshape(3, 3, 3, 3)
    random = np.random.default_rng(0).normal(size=(4000, 3))
    normals = random / np.linalg.norm(random, axis=1, keepdims=True)
    acoustic = np.einsum("ijkl,nj,nl->nik", tangent, normals, normals)
    exact = np.linalg.eigvalsh(acoustic)[:, 0].min()
    found = certificate.certify(
        law, np.zeros((0, 5)), OneState(**fields(material)), F.reshape(1, 9), jnp.zeros((1, 3))
    )
    assert found.point("elliptic").figures[0] == pytest.approx(exact, rel=0.02)


class OneState(isotropic.Isotropic):
    """Ellipticity at the state of the data and nowhere else."""

    def demands(self, states: States) -> Demands:
        whole = super().demands(states)
        kept, count = present(whole.increments), len(states)
        one = kept._replace(states=kept.states[-count:], bases=kept.bases[-count:])
        return whole._replace(increments=one)


def fields(material: Material) -> dict[str, Any]:
    return {f.name: getattr(material, f.name) for f in dataclasses.fields(material)}


class Slanted(isotropic.Isotropic):
    """Its second input is an entry of F."""

    def features(self, state: State) -> Array:
        return super().features(state).at[1].set(3 * state[0])


@pytest.mark.parametrize("declared", [True, False])
def test_inputs_that_are_not_objective_are_flagged(material: Material, declared: bool) -> None:
    """Whatever the material declares of itself."""
    changed = dataclasses.replace(material, objective=declared)
    assert certify(changed, neo_hooke()).point("objective").status == (
        "proven" if declared else "checked"
    )
    point = certify(Slanted(**fields(changed)), neo_hooke()).point("objective")
    assert point.status == "violated"
    assert point.figures[0] > 0.01


def test_incompressible_mooney_rivlin_passes(rubber: Material) -> None:
    found = certify(rubber, linear(rubber, I1=0.5, I2=0.2))
    assert found.violated == 0
    expected = dict.fromkeys((*BY_SIGNS, "growth as ‖F‖ → ∞"), "proven")
    expected |= dict.fromkeys(("shear modulus", "energy not negative"), "checked")
    assert statuses(found) == expected
    assert found.point("shear modulus").figures[0] == pytest.approx(2 * 0.7)


def test_incompressible_law_that_falls_with_i2_is_flagged(rubber: Material) -> None:
    found = certify(rubber, linear(rubber, I1=0.5, I2=-0.2))
    wrong = {name for name, status in statuses(found).items() if status == "violated"}
    assert wrong == {
        "polyconvex", "monotone", "energy not negative", "growth as ‖F‖ → ∞", "elliptic"
    }  # fmt: skip
    assert found.point("shear modulus").figures[0] == pytest.approx(2 * 0.3)


def test_mechanochemistry_says_what_is_not_demanded(solid: Material) -> None:
    """20 e1² + 20 e6² + (c + 50 e2²)² − 20 e2²: four wells, and a quartic that holds them."""
    edges = (
        Edge(4, 0, UNIT), Edge(5, 1, UNIT), Edge(6, 2, UNIT), Edge(7, 3, UNIT), Edge(7, 5, 0),
        Edge(8, 4, 1), Edge(8, 5, 2), Edge(8, 6, 3), Edge(8, 7, 4),
    )  # fmt: skip
    values = jnp.array([50.0, 20.0, -20.0, 20.0, 0.4])
    wells = Law(graph(edges, ("square",) * 4, inputs=solid.inputs), values, solid.reference)
    found = certify(solid, wells)
    idle = ("polyconvex", "monotone", "stress-free", "energy not negative", "elliptic")
    assert statuses(found) == {"objective": "proven", "bounded below": "checked"} | (
        dict.fromkeys(idle, "not demanded")
    )
    assert found.violated == 0


@pytest.mark.parametrize("activation", ["square", "softplus"])
def test_energy_that_falls_without_bound_is_flagged(solid: Material, activation: str) -> None:
    law = units(solid, [(1.0, {"e1": 1.0}), (-2.0, {"e1": 1.0, "e2": 0.5})], activation)
    found = certify(solid, law)
    assert found.point("bounded below").status == "violated"
    assert found.violated == 1


def test_energy_that_falls_to_a_bound_is_bounded(solid: Material) -> None:
    """−softplus(−e1) … rises to zero, softplus(−e1) falls to zero."""
    law = units(solid, [(1.0, {"e1": -1.0}), (1.0, {"e2": 1.0})])
    assert certify(solid, law).point("bounded below").status == "checked"


def test_sign_of_each_particle_counts(material: Material) -> None:
    law = linear(material, I1=1.0)
    found = certify(material, law, [[1.0], [-0.1], [0.5]])
    np.testing.assert_array_equal(found.point("monotone").violated, [False, False, True, False])
    assert found.point("monotone").law == "proven"
    assert found.point("monotone").status == "violated"
    assert found.point("monotone").count("proven") == 3
    assert "monotone violated by 1 of 3 draws (first: draw 1): Ψ falls with I1" in found.faults[1]
    assert "bulk modulus violated by the law and 2 of 3 draws" in found.faults[2]


def test_two_negative_weights_in_a_row_rise_again(material: Material) -> None:
    """−softplus(−I1) rises with I1; it is concave, so only growth is proven."""
    law = units(material, [(-2.0, {"I1": -1.0})])
    proof = certificate.prove(law.graph, np.asarray(law.values))
    assert "I1" in proof.increasing
    assert not proof.convex


class Plain(isotropic.Isotropic):
    """It declares no places to look at."""

    def demands(self, states: States) -> Demands:
        return super(isotropic.Isotropic, self).demands(states)


def test_a_material_that_demands_nothing_says_so(material: Material) -> None:
    plain = dataclasses.replace(material, conditions=Conditions(False, (), False))
    found = statuses(certify(Plain(**fields(plain)), linear(material, I1=-1.0)))
    assert found.pop("objective") == "proven"
    assert set(found.values()) == {"not demanded"}


def test_main_run_is_proven_by_its_terms(gent: Result) -> None:
    found = gent.certificate
    assert (found.checked, found.states) == (2001, 100_000)
    assert (found.violated, found.faults) == (0, [])
    assert {found.point(name).status for name in BY_TERMS} == {"proven"}
    assert found.point("stress-free").figures.max() < 1e-12
    assert found.point("bulk modulus").figures.min() > 0
    assert found.point("shear modulus").figures.min() > 0
    assert found.point("elliptic").figures.min() > 0
