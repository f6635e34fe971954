"""The closed form of a law for a paper, in LaTeX."""

from steinmetz.exporters import centred
from steinmetz.exporters.base import NOBODY, About
from steinmetz.exporters.closed_form import expression
from steinmetz.exporters.text import DIGITS
from steinmetz.potentials.law import Law
from steinmetz.potentials.mechanics import Terms
from steinmetz.potentials.volume import completed

SUFFIX = ".tex"


def export(law: Law, about: About = NOBODY, digits: int = DIGITS) -> str:
    """Ψ̂ with inputs such as I_{1}, constants rounded to `digits`."""
    import sympy

    law = completed(law)
    names = {sympy.Symbol(name, real=True): _subscript(name) for name in law.graph.inputs}
    if isinstance(law.graph, Terms):
        return r"\hat{\Psi} = " + centred.latex(law, digits, names)
    text: str = sympy.latex(expression(law, digits), symbol_names=names)
    return r"\hat{\Psi} = " + text


def _subscript(name: str) -> str:
    head = name.rstrip("0123456789")
    tail = name[len(head) :]
    return f"{head}_{{{tail}}}" if tail else head
