"""Names and moduli stand on the screen, on the page, in the object and in the summary."""

from pathlib import Path

import jax.numpy as jnp
import numpy as np
import pytest

from cases import INPUTS, REFERENCE, present
from steinmetz.api import Result
from steinmetz.exporters.names import textbook
from steinmetz.potentials.law import Law
from steinmetz.potentials.mechanics import Term, Terms
from steinmetz.report import page, screen
from steinmetz.report.summary import Summary, summarise

SENTENCE = (
    "This is the neo-Hooke law with volume part -μ log J + λ/2 (J - 1)²: "
    "μ = 2.40 ± 0.10, λ = 6.0 ± 0.5."
)


@pytest.fixture(scope="module")
def named(quick: Result) -> Summary:
    """The numbers of a small run, as if its law had a name."""
    terms = (Term("norm", (2.0, 0.0), barrier=True), Term("volume square", (0.0, 0.0)))
    law = Law(Terms(INPUTS, terms), jnp.array([1.2, 3.0]), REFERENCE)
    known = textbook(law, np.array([[1.15, 2.75], [1.25, 3.25]]))
    return summarise(quick).model_copy(update={"textbook": known})


def test_a_name_is_shown_under_the_law(quick: Result, named: Summary) -> None:
    assert present(named.textbook).sentence == SENTENCE
    lines = screen.final(named, Path()).splitlines()
    place = lines.index(f"  {SENTENCE}")
    assert lines[place - 1].startswith("  Ψ = ")
    assert SENTENCE in page.render(quick, named, {})
    assert Summary.model_validate_json(named.model_dump_json()) == named


def test_moduli_are_those_of_the_certificate(quick: Result) -> None:
    found = summarise(quick)
    assert found.textbook is None
    assert list(found.moduli) == ["G", "K", "E", "ν"]
    for symbol, name in (("G", "shear modulus"), ("K", "bulk modulus")):
        figures = quick.certificate.point(name).figures
        assert found.moduli[symbol].map == figures[0]
        assert found.moduli[symbol].sd == pytest.approx(figures[1:].std())
    words = f"G = {found.moduli['G'].words}, K = {found.moduli['K'].words}, E = "
    assert words in repr(quick)
    assert words in screen.final(found, Path())
    assert "at small strain" in page.render(quick, found, {})
