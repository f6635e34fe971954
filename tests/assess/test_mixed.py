"""The laws of a mixture, examined without compiling."""

import jax.numpy as jnp
import numpy as np
import pytest

from cases import INPUTS, REFERENCE
from steinmetz.assess import mixed, response
from steinmetz.materials.base import Material
from steinmetz.posterior.structures import Part
from steinmetz.potentials.law import Law
from steinmetz.potentials.mechanics import Term, Terms

BARRED = Term("norm", (2.0, 0.0), barrier=True)
SQUARE = Term("volume square", (0.0, 0.0))


def part(terms: tuple[Term, ...], *rows: tuple[float, ...]) -> Part:
    law = Law(Terms(INPUTS, terms), jnp.asarray(rows[0]), REFERENCE)
    return Part(law, 0.5, np.array(rows))


@pytest.fixture(scope="module")
def where(material: Material) -> response.Probe:
    few = np.eye(3).ravel()[None]
    demands = material.demands(few)
    return response.probe(material, demands, jnp.zeros((1, 3)), few)


def test_margins_are_those_of_the_certificate(where: response.Probe) -> None:
    one = part((BARRED, SQUARE), (1.2, 3.0))
    found = response.respond(one.law.graph, REFERENCE, one.theta, where)
    least, most = mixed._margin(one, where.increments)
    assert least == pytest.approx(found.margin[0], rel=1e-5)
    assert most == pytest.approx(found.scale[0], rel=1e-5)


def test_draws_are_counted_by_what_their_terms_prove(where: response.Probe) -> None:
    """The second law has no barrier, and one draw of it a negative coefficient."""
    laws = (
        part((BARRED, SQUARE), (1.2, 3.0), (1.0, 2.0)),
        part((Term("norm", (2.0, 0.0)), SQUARE), (1.0, 3.0), (1.0, 2.0), (-9.0, 1.0)),
    )
    found = mixed.examine(laws, where.increments)
    assert (found.laws, found.draws, found.polyconvex) == (2, 5, 4)
    assert found.bursting == 2
    assert (found.looked, found.elliptic) == (2, 2)
    assert "4 polyconvex by their terms" in found.sentence
    bad = mixed.examine((laws[0], laws[1]._replace(theta=laws[1].theta[2:])), where.increments)
    assert bad.elliptic == 1
