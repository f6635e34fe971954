"""The second material through the same stages: a polynomial law is discovered exactly."""

import dataclasses
from pathlib import Path

import jax.numpy as jnp
import numpy as np
import pytest
import sympy

import steinmetz
from cases import present
from steinmetz.api import Result
from steinmetz.exporters import closed_form
from steinmetz.potentials.graph import UNIT, Edge, Graph
from steinmetz.potentials.law import Law

MONOMIALS: dict[str, float] = {
    "c**4": 32,
    "c**3": -64,
    "c**2": 32,
    "e1**2": 20,
    "e6**2": 20,
    "e2**4": 1000,
    "c*e2**2": 40,
    "e2**2": -20,
}
CHEAP = {
    "infer.method": "svgd",
    "infer.particles": 20,
    "infer.steps": 100,
    "assess.certificate_states": 500,
    "assess.noise_draws": 50,
}


def coefficients(law: Law) -> dict[str, float]:
    """The law expanded in monomials, by name."""
    polynomial = sympy.Poly(sympy.expand(closed_form.expression(law)))
    terms = {}
    for powers, value in polynomial.terms():
        monomial = sympy.prod(g**p for g, p in zip(polynomial.gens, powers, strict=True))
        terms[str(monomial)] = float(value)
    return terms


def in_the_domain(result: Result) -> float:
    """R² of every component on 2000 fresh states."""
    scores = result.scores.r2.per_component
    assert set(scores) == {"S11", "S22", "S12", "mu"}
    return min(scores.values())


@pytest.fixture(scope="module")
def clean() -> Result:
    fewer = {"sparsify.restarts": 4, "sparsify.beam": 4}
    return steinmetz.run(
        steinmetz.study("mechanochemistry", {**CHEAP, **fewer, "noise.relative": 0.0})
    )


def test_clean_data_give_the_generating_law(clean: Result) -> None:
    assert clean.law.graph.size == 8
    assert in_the_domain(clean) >= 0.9999
    found = coefficients(clean.law)
    for name, value in MONOMIALS.items():
        assert found[name] == pytest.approx(value, rel=0.01), name
    scale = {"e1": 0.1, "e2": 0.1, "e6": 0.1, "c": 1.0}
    for (
        name,
        value,
    ) in found.items():  # whatever else is there does not matter at the size of the inputs
        if name not in MONOMIALS and name != "1":
            assert abs(value * float(sympy.sympify(name).subs(scale))) < 0.01


def test_wells_and_summary(clean: Result, tmp_path: Path) -> None:
    summary = steinmetz.save(clean, tmp_path / "run")
    assert (tmp_path / "run" / "figures" / "planes.png").stat().st_size > 20_000
    assert summary.admissible.violated == 0
    assert (summary.textbook, summary.moduli) == (None, {})


def test_planes_mark_the_wells(clean: Result) -> None:
    from steinmetz.materials import slices

    material = clean.problem.material
    one = slices.grid(material.planes[0], material, clean.law.energy)
    wells = sorted((round(float(one.x[j]), 1), round(float(one.y[i]), 1)) for i, j in one.minima)
    assert [(abs(a), abs(b)) for a, b in wells] == [(0.1, 0.0), (0.0, 1.0), (0.1, 0.0)]


def test_planes_of_a_law_that_ignores_them(clean: Result) -> None:
    """Ψ = 2 c² is constant over e1 and e2; measured data have no truth to take levels from."""
    from steinmetz.report.planes import planes

    graph = Graph(
        inputs=clean.law.graph.inputs,
        activations=("square",),
        edges=(Edge(4, 3, UNIT), Edge(5, 4, 0)),
        nonnegative=(False,),
    )
    flat = Law(graph, jnp.array([2.0]), clean.law.reference)
    carved, problem = clean.carved._replace(law=flat), clean.problem._replace(truth=None)
    blind = dataclasses.replace(clean, carved=carved, problem=problem)
    assert len(planes(blind).axes) >= 3


@pytest.mark.long
@pytest.mark.parametrize("noise", [0.0, 0.1])
@pytest.mark.parametrize("seed", range(5))
def test_at_most_34_parameters_explain_every_component(seed: int, noise: float) -> None:
    result = steinmetz.run(
        steinmetz.study("mechanochemistry", {**CHEAP, "seed": seed, "noise.relative": noise})
    )
    assert result.law.graph.size <= 34
    assert in_the_domain(result) >= 0.99


def test_measured_table_of_this_material(tmp_path: Path) -> None:
    """Columns F11…F22, c and S11, S22, S12, mu, written with nothing of the package."""
    random = np.random.default_rng(0)
    rows = ["F11,F12,F21,F22,c,S11,S22,S12,mu"]
    for _ in range(60):
        F, c = np.eye(2) + random.uniform(-0.2, 0.2, (2, 2)), random.uniform()
        E = 0.5 * (F.T @ F - np.eye(2))
        e1, e2, e6 = (
            np.trace(E) / np.sqrt(3),
            (E[0, 0] - E[1, 1]) / np.sqrt(2),
            np.sqrt(2) * E[0, 1],
        )
        first, second = 40 * e1, 4000 * e2**3 + 40 * (2 * c - 1) * e2
        stress = (
            first / np.sqrt(3) + second / np.sqrt(2),
            first / np.sqrt(3) - second / np.sqrt(2),
            40 * e6 / np.sqrt(2),
        )
        mu = 32 * (4 * c**3 - 6 * c**2 + 2 * c) + 40 * e2**2
        values = [*F.ravel(), c, *(y * (1 + 0.02 * random.normal()) for y in (*stress, mu))]
        rows.append(",".join(repr(float(v)) for v in values))
    (tmp_path / "data.csv").write_text("\n".join(rows), encoding="utf-8")
    quick = {
        **CHEAP,
        "material.name": "mechanochemistry",
        "potential.activations": ["square"],
        "potential.widths": [6, 6],
        "sparsify.restarts": 2,
        "sparsify.beam": 2,
        "sparsify.candidates": 2,
        "assess.path_points": 50,
        "assess.test_count": 100,
    }
    result = steinmetz.run(steinmetz.measured(tmp_path / "data.csv", relative=0.02, changes=quick))
    assert result.study.potential.name == "mixed"
    assert present(result.scores.r2.test) >= 0.99
