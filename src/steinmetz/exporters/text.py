"""The closed form of a law in one readable line."""

from steinmetz.exporters import centred
from steinmetz.exporters.base import NOBODY, About
from steinmetz.exporters.closed_form import expression
from steinmetz.potentials.law import Law
from steinmetz.potentials.mechanics import Terms
from steinmetz.potentials.volume import completed

SUFFIX = ".txt"
# Digits of the constants that people read.
DIGITS = 4


def export(law: Law, about: About = NOBODY, digits: int = DIGITS) -> str:
    """Ψ̂ as SymPy prints it, constants rounded to `digits`; centred if it is composed of terms."""
    import sympy

    law = completed(law)
    if isinstance(law.graph, Terms):
        return f"Ψ = {centred.text(law, digits)}"
    return f"Ψ = {sympy.sstr(expression(law, digits))}"
