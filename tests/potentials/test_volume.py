"""Laws found at constant volume, completed with a given bulk modulus."""

import dataclasses
import json

import jax.numpy as jnp
import numpy as np
import pytest

from cases import Numbers
from steinmetz import InputError, closed_form
from steinmetz.assess.proof import prove_all
from steinmetz.exporters import json as law_json
from steinmetz.exporters.program.trace import trace
from steinmetz.materials import isotropic
from steinmetz.potentials.law import Law, rebuild, structure
from steinmetz.potentials.mechanics import Term, Terms
from steinmetz.potentials.vocabulary import Atom, vocabulary
from steinmetz.potentials.volume import completed, drawn
from steinmetz.records import Reference

KAPPA = 40.0
RUBBER = Reference((3.0, 3.0), bulk=KAPPA)
# One of every shape, with and without fitted constants.
ATOMS = {
    (atom.term.shape, atom.term.free, len(atom.constants)): atom
    for atom in vocabulary((2.0, 2.0), incompressible=True)
}


def alone(atom: Atom) -> Law:
    """A law of one term."""
    values = [0.7, *atom.term.excess(atom.constants)]
    return Law(Terms(("I1", "I2"), (atom.term,)), jnp.asarray(values), RUBBER)


def invariants(stretches: Numbers) -> Numbers:
    squared = stretches**2
    I1, J = squared.sum(axis=1), stretches.prod(axis=1)
    return np.asarray(np.stack([I1, (I1**2 - (squared**2).sum(axis=1)) / 2, J], axis=1))


@pytest.mark.parametrize("atom", ATOMS.values(), ids=lambda atom: f"{atom.term[0]}{atom.term[3]}")
def test_completed_terms_are_the_same_at_constant_volume_and_admissible(atom: Atom) -> None:
    law = alone(atom)
    whole, theta = completed(law), np.asarray(law.values)[None]
    own = drawn(law, theta)
    np.testing.assert_array_equal(own[0], whole.values)
    a, b = np.random.default_rng(0).uniform(0.8, 1.3, (2, 20))
    kept = np.concatenate([[[1, 1, 1]], np.stack([a, b, 1 / (a * b)], axis=1)])
    swollen = np.random.default_rng(1).uniform(0.7, 1.4, (200, 3))
    x = invariants(np.concatenate([kept, swollen]))
    (slopes,), (energy,) = whole.terms.pushed(own, x)
    found = law.terms.pushed(theta, x[: len(kept), :2])[1][0]
    np.testing.assert_allclose((energy - energy[0])[: len(kept)], found - found[0], atol=1e-9)
    assert abs(slopes[0] @ [2, 4, 1]) < 1e-10
    assert (energy - energy[0])[1:].min() > 0
    assert prove_all(whole.graph, own, ("I1", "I2")).convex.all()
    assert whole.terms.bursts(own).all() or atom.term.shape == "power"


def test_the_bulk_modulus_is_that_of_the_volume_part() -> None:
    """d²Ψ̂/dJ² under swelling is κ and −2/3 c + 2 c of c (I1 − 3 − 2 log J)."""
    law = alone(ATOMS["norm", (), 2])
    law = dataclasses.replace(law, graph=Terms(("I1", "I2"), (Term("norm", (2.0, 0.0)),)))
    step = 1e-4
    J = 1 + np.array([-step, 0, step])
    x = np.stack([3 * J ** (2 / 3), 3 * J ** (4 / 3), J], axis=1)
    bent = float(np.asarray(completed(law).energy(jnp.asarray(x))) @ [1, -2, 1]) / step**2
    assert bent == pytest.approx(KAPPA + 0.7 * (2 - 2 / 3), rel=1e-5)


def test_what_is_written_is_the_completed_law() -> None:
    law = alone(ATOMS["norm", (), 2])
    assert closed_form(law).endswith("+ 20.0*(J - 1)**2")
    assert rebuild(structure(law)).reference == RUBBER
    read, _ = law_json.from_dict(json.loads(law_json.export(law)))
    assert read.graph.inputs == ("I1", "I2", "J")
    np.testing.assert_array_equal(read.values, completed(law).values)
    with pytest.raises(ValueError, match="bulk modulus -1"):
        rebuild({**structure(law), "bulk": -1.0})


def test_a_law_without_a_bulk_modulus_stays_as_it_is() -> None:
    law = dataclasses.replace(alone(ATOMS["norm", (), 2]), reference=Reference((3.0, 3.0)))
    assert completed(law) is law
    assert "bulk" not in structure(law)


def test_a_bulk_modulus_is_taken_in_the_unit_of_the_data() -> None:
    def bulk(given: float | str, unit: str) -> float:
        made = isotropic.build(isotropic.Config(incompressible=True, bulk=given))
        return made.in_unit(unit).reference.bulk

    assert bulk("2 GPa", "MPa") == 2000
    assert bulk(1500, "MPa") == 1500
    with pytest.raises(InputError, match="has a unit, but the stress has none"):
        bulk("2 GPa", "")


@pytest.mark.parametrize(
    ("given", "incompressible", "words"),
    [
        ("estimated", True, "cannot be estimated from tests in which the volume is taken"),
        ("2 GPa", False, "follows from the data"),
        ("2 mm", True, "is not a modulus"),
        (-1.0, True, "must be positive"),
    ],
)
def test_a_bulk_modulus_that_makes_no_sense_is_refused(
    given: float | str, incompressible: bool, words: str
) -> None:
    with pytest.raises(ValueError, match=words):
        isotropic.Config(incompressible=incompressible, bulk=given)


def test_solvers_get_the_volume_part_that_was_given() -> None:
    law = alone(ATOMS["norm", (), 2])
    assert trace(law, "c") == trace(completed(law), "c")
    assert trace(law, "c").parameters[-1].value == KAPPA / 2
