"""Terms of mechanics: energies, slopes, forms and what they promise."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import sympy

from cases import REFERENCE, Numbers
from steinmetz.exporters import closed_form
from steinmetz.exporters import json as law_json
from steinmetz.potentials.classical import SHAPES
from steinmetz.potentials.law import Law, rebuild, structure
from steinmetz.potentials.mechanics import Term, Terms, slopes_of
from steinmetz.potentials.vocabulary import vocabulary

INPUTS = ("I1", "I2", "J")
ATOMS = vocabulary(reach=0.8, incompressible=False)


def invariants(F: Numbers) -> Numbers:
    C = np.swapaxes(F, 1, 2) @ F
    first = np.trace(C, axis1=1, axis2=2)
    second = 0.5 * (first**2 - np.einsum("nij,nji->n", C, C))
    return np.stack([first, second, np.linalg.det(F)], axis=1)


@pytest.fixture(scope="module")
def everything() -> Law:
    """One law with every term of the vocabulary, free constants at their starts."""
    values = []
    for atom in ATOMS:
        excess = atom.constants[0] - atom.term.constants[0]
        values += [0.5, excess] if atom.term.free else [0.5]
    return Law(Terms(INPUTS, tuple(a.term for a in ATOMS)), jnp.asarray(values), REFERENCE)


def test_slopes_are_those_of_the_energy(everything: Law, random_tensors: Numbers) -> None:
    x = jnp.asarray(invariants(random_tensors))
    graph, values = everything.graph, everything.values
    expected = jax.vmap(jax.grad(graph.energy, argnums=1), (None, 0))(values, x)
    np.testing.assert_allclose(graph.gradients(values, x), expected, rtol=1e-9)


def test_printed_is_what_predicts(random_tensors: Numbers) -> None:
    """The SymPy form of every term, at states with I1 above 3."""
    x = invariants(np.eye(3) + 0.3 * (random_tensors - np.eye(3)))
    x = x[x[:, 0] > 3][:3]
    symbols = sympy.symbols("I1 I2 J", real=True)
    for atom in ATOMS:
        excess = [atom.constants[0] - atom.term.constants[0]] if atom.term.free else []
        law = Law(Terms(INPUTS, (atom.term,)), jnp.asarray([0.7, *excess]), REFERENCE)
        number = sympy.lambdify(symbols, closed_form.expression(law))
        for row in x:
            own = float(law.energy(jnp.asarray(row)[None])[0])
            assert number(*row) == pytest.approx(own, rel=1e-9, abs=1e-12), atom


def test_terms_are_stress_free_and_have_slope_one() -> None:
    """2 Ψ1 + 4 Ψ2 + Ψ_J vanishes at rest with a barrier, and I1 or I2 has slope one."""
    rest = np.array([[3.0, 3.0, 1.0]])
    for atom in ATOMS:
        slope = slopes_of(atom.term, atom.constants, rest)[0]
        if atom.term.barrier:
            assert slope @ [2, 4, 1] == pytest.approx(0, abs=1e-12), atom
        sums = atom.term.shape in ("stretches", "areas")
        if SHAPES[atom.term.shape].feels != "J" and atom.term.shape != "power":
            whole = slope[0] + slope[1] if sums else max(slope[:2])
            assert whole == pytest.approx(1), atom


def test_every_term_is_rank_one_convex_and_grows_where_it_says() -> None:
    """Along F + t a⊗b the energy is convex: polyconvexity implies it."""
    random = np.random.default_rng(0)
    t = np.linspace(-0.3, 0.3, 41)
    for atom in ATOMS:
        for _ in range(20):
            F = np.eye(3) + random.uniform(-0.3, 0.3, (3, 3))
            line = F + t[:, None, None] * np.outer(random.normal(size=3), random.normal(size=3))
            x = invariants(line)
            x = x[x[:, 2] > 0.05]
            if len(x) < 41:
                continue
            energy = atom.term.energy(np, tuple(x.T), atom.constants)
            bend = np.diff(energy, 2)
            assert bend.min() > -1e-9 * np.abs(energy).max(), atom
        s = np.array([1e-4, 1e-8])
        small = atom.term.energy(np, (3 * s**2, 3 * s**4, s**3), atom.constants)
        assert (small[1] > 1.5 * abs(small[0])) == atom.term.bursts(atom.constants), atom


def test_locking_goes_on_beyond_its_limit() -> None:
    shape, x = SHAPES["locking"], (np.array([3.5, 4.9, 5.1, 9.0]), 3.0, 1.0)
    energy = shape.energy(np, x, (2.0, 0.0))
    assert np.isfinite(energy).all()
    assert (np.diff(energy) > 0).all()


def test_a_law_of_terms_survives_its_file(everything: Law) -> None:
    stored = structure(everything)
    again = rebuild(stored)
    assert again.graph == everything.graph
    np.testing.assert_array_equal(again.values, everything.values)
    assert (
        law_json.from_dict(
            {"format": law_json.FORMAT, "material": "isotropic", "study": "s", **stored}
        )[0].names()
        == everything.names()
    )
    with pytest.raises(ValueError, match="unknown term"):
        rebuild({**stored, "terms": [{**stored["terms"][0], "shape": "eval"}]})
    with pytest.raises(ValueError, match="do not fit"):
        rebuild({**stored, "terms": stored["terms"][:1]})


def test_names_differ() -> None:
    twice = Terms(INPUTS, (Term("norm", (2.0, 0.0)), Term("norm", (2.0, 0.0), barrier=True)))
    assert len(set(twice.names())) == 2
