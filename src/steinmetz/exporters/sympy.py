"""A module in Python that builds the closed form as an expression of SymPy, to all digits."""

import re

from steinmetz.exporters.base import NOBODY, About
from steinmetz.exporters.closed_form import expression
from steinmetz.exporters.program.comments import provenance
from steinmetz.potentials.law import Law

SUFFIX = ".py"
# A constructor that is called.
_NAME = r"(?<!['\w])([A-Za-z_]\w*)\("


def export(law: Law, about: About = NOBODY) -> str:
    """Nothing is parsed: the module calls the constructors of SymPy."""
    import sympy

    code = sympy.srepr(expression(law))
    names = ", ".join(sorted(set(re.findall(_NAME, code))))
    unit = about.unit or "that of the data"
    inputs = ", ".join(law.graph.inputs)
    return (
        f'"""Psi as an expression in {inputs}, exported by steinmetz; {provenance(law, about)}.\n\n'
        f"Study: {about.study or 'none'}. Unit of energy per volume: {unit}. Symbols lambda1 to\n"
        "lambda3 are principal stretches. Beyond a locking limit, and for (log J)**2 beyond\n"
        'J = e, the law itself goes on smoothly, this expression does not.\n"""\n\n'
        f"from sympy import {names}\n\npsi = {code}"
    )
