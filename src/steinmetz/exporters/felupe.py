"""A material for FElupe in Python: gradient and hessian, to be given to a solid body."""

from steinmetz.exporters.base import NOBODY, About
from steinmetz.exporters.program.arrays import program
from steinmetz.exporters.program.templates import filled
from steinmetz.potentials.law import Law

SUFFIX = ".py"


def export(law: Law, about: About = NOBODY) -> str:
    """The module of NumPy, and a class as FElupe wants it; FElupe itself is not imported."""
    return program(law, about, "felupe", "numpy") + "\n\n\n" + filled("felupe.txt")
