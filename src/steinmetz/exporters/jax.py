"""A module in Python with JAX: energy, stress and tangent, to be compiled and differentiated."""

from steinmetz.exporters.base import NOBODY, About
from steinmetz.exporters.program.arrays import program
from steinmetz.potentials.law import Law

SUFFIX = ".py"


def export(law: Law, about: About = NOBODY) -> str:
    """The module; double precision needs `jax.config.update("jax_enable_x64", True)`."""
    return program(law, about, "jax", "jax")
