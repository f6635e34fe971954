"""A behaviour for MFront: Cauchy's stress and dS/dE, with the constants as properties."""

from steinmetz.exporters import c
from steinmetz.exporters.base import NOBODY, About
from steinmetz.exporters.program.templates import filled
from steinmetz.exporters.program.trace import trace
from steinmetz.potentials.law import Law

SUFFIX = ".mfront"
_CONVENTIONS = [
    "Behaviour of finite strain: sig is Cauchy's stress, the tangent is dS/dE_GL. Its functions "
    "are those of the export to C, which is tested; MFront itself is not run in our tests."
]


def export(law: Law, about: About = NOBODY) -> str:
    """The behaviour, with the functions of the header in C."""
    formula = trace(law, "mfront")
    header = c.header(law, about, formula, _CONVENTIONS).splitlines()
    return filled("mfront.txt", count=str(len(formula.parameters)), header=header)
