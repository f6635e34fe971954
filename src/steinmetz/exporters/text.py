"""The closed form of a law in one readable line."""

from steinmetz.exporters.base import NOBODY, About
from steinmetz.exporters.closed_form import expression
from steinmetz.potentials.law import Law

SUFFIX = ".txt"
# Digits of the constants that people read.
DIGITS = 4


def export(law: Law, about: About = NOBODY, digits: int = DIGITS) -> str:
    """Ψ̂ as SymPy prints it, constants rounded to `digits`."""
    import sympy

    return f"Ψ = {sympy.sstr(expression(law, digits))}"
