"""Terms of mechanics: energies, slopes, forms and what they promise."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from cases import REFERENCE, Numbers
from steinmetz.exporters import json as law_json
from steinmetz.potentials.classical import SHAPES
from steinmetz.potentials.law import Law, rebuild, structure
from steinmetz.potentials.mechanics import Term, Terms, slopes_of
from steinmetz.potentials.vocabulary import Atom, vocabulary

INPUTS = ("I1", "I2", "J")
ATOMS = vocabulary(reach=(0.8, 0.8), incompressible=False)


def invariants(F: Numbers) -> Numbers:
    C = np.swapaxes(F, 1, 2) @ F
    first = np.trace(C, axis1=1, axis2=2)
    second = 0.5 * (first**2 - np.einsum("nij,nji->n", C, C))
    return np.stack([first, second, np.linalg.det(F)], axis=1)


@pytest.fixture(scope="module")
def everything() -> Law:
    """One law with every kind of term of the vocabulary, free constants at their starts."""
    kinds = {}
    for atom in ATOMS:
        term = atom.term
        kinds[term.shape, term.barrier, term.free, term.constants[1] > 0] = atom
    values = []
    for atom in kinds.values():
        values += [0.5, *atom.term.excess(atom.constants)]
    terms = tuple(atom.term for atom in kinds.values())
    return Law(Terms(INPUTS, terms), jnp.asarray(values), REFERENCE)


def test_slopes_are_those_of_the_energy(everything: Law, random_tensors: Numbers) -> None:
    """At the reference as well, where a kink would be."""
    x = jnp.asarray(np.concatenate([invariants(random_tensors), [REFERENCE.point]]))
    graph, values = everything.graph, everything.values
    expected = jax.vmap(jax.grad(graph.energy, argnums=1), (None, 0))(values, x)
    np.testing.assert_allclose(graph.gradients(values, x), expected, rtol=1e-9)


def test_terms_are_stress_free_and_have_slope_one() -> None:
    """2 Ψ1 + 4 Ψ2 + Ψ_J vanishes at rest with a barrier, and I1 or I2 has slope one."""
    rest = np.array([[3.0, 3.0, 1.0]])
    for atom in ATOMS:
        slope = slopes_of(atom.term, atom.constants, rest)[0]
        if atom.term.barrier:
            assert slope @ [2, 4, 1] == pytest.approx(0, abs=1e-12), atom
        sums = atom.term.shape in ("stretches", "areas") or len(atom.constants) > 2
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


def normalised(atom: Atom, x: tuple[Numbers, Numbers, Numbers]) -> Numbers:
    """T̂ = T − T(x₀) − n (J − 1); a barrier leaves nothing of n."""
    term, rest = atom.term, tuple(np.array(value) for value in (3.0, 3.0, 1.0))
    pull = 0.0 if term.barrier else float(term.pressure(np, atom.constants))
    start = float(term.energy(np, (rest[0], rest[1], rest[2]), atom.constants))
    return np.asarray(term.energy(np, x, atom.constants)) - start - pull * (x[2] - 1)


def test_growth_is_claimed_only_where_it_is() -> None:
    """Ψ̂ of random laws on paths to infinite strain: what is said to be endless rises on all."""
    random = np.random.default_rng(1)
    ways = [(1, 1, 1), (1, 1, 0), (1, 0, 0), (1, -1, -1), (1, 1, -1), (1, -0.5, -0.5), (1, 1, -2)]
    stretch = np.array([1e3, 1e4])
    counts = {True: 0, False: 0}
    for _ in range(300):
        some = [ATOMS[i] for i in random.choice(len(ATOMS), random.integers(1, 4), replace=False)]
        if any("exponential" in atom.term.shape for atom in some):
            continue
        values = []
        for atom in some:
            values += [1.0, *atom.term.excess(atom.constants)]
        ends = []
        for way in ways:
            each = stretch[:, None] ** np.array(way)
            J = each.prod(axis=1)
            x = (each**2).sum(axis=1), (J[:, None] ** 2 / each**2).sum(axis=1), J
            energy = np.sum([normalised(atom, x) for atom in some], axis=0)
            ends.append(bool(energy[1] > 1 and energy[1] > 1.05 * energy[0]))
        terms = Terms(INPUTS, tuple(atom.term for atom in some))
        said = bool(terms.endless(np.asarray(values)[None])[0])
        counts[said] += 1
        if said:
            assert all(ends), ([atom.term for atom in some], ways[ends.index(False)])
    assert min(counts.values()) > 20


def test_laws_that_fall_at_large_volume_are_not_said_to_grow() -> None:
    """I1 − 3 − 2 (J − 1) falls in uniform extension; a barrier or (J − 1)² helps."""
    plain, barred = Term("norm", (2.0, 0.0)), Term("norm", (2.0, 0.0), barrier=True)
    square, cofactor = Term("volume square", (0.0, 0.0)), Term("cofactor", (2.0, 0.0))

    def grows(*terms: Term) -> bool:
        return bool(Terms(INPUTS, terms).endless(np.ones((1, len(terms))))[0])

    assert not grows(plain)
    assert grows(barred)
    assert grows(plain, square)
    assert not grows(cofactor, square)
    assert grows(cofactor, square, Term("log", (0.0, 0.0)))
    assert not bool(Terms(INPUTS, (plain, square)).bursts(np.ones((1, 2)))[0])


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
