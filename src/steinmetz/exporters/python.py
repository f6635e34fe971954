"""A module in Python: energy, stress and tangent at deformation gradients, with NumPy alone."""

from steinmetz.exporters.base import NOBODY, About
from steinmetz.exporters.program.arrays import program
from steinmetz.potentials.law import Law

SUFFIX = ".py"


def export(law: Law, about: About = NOBODY) -> str:
    """The module."""
    return program(law, about, "python", "numpy")
