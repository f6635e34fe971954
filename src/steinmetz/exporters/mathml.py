"""The closed form of a law for a web page, in MathML: browsers typeset it without any script."""

from steinmetz.exporters import centred
from steinmetz.exporters.base import NOBODY, About
from steinmetz.exporters.closed_form import expression
from steinmetz.exporters.text import DIGITS
from steinmetz.potentials.law import Law
from steinmetz.potentials.mechanics import Terms
from steinmetz.potentials.volume import completed

SUFFIX = ".mml"
_NAMESPACE = "http://www.w3.org/1998/Math/MathML"


def export(law: Law, about: About = NOBODY, digits: int = DIGITS) -> str:
    """Ψ̂ as one formula."""
    every = "".join(_rows(law, digits))
    return f'<math xmlns="{_NAMESPACE}" display="block"><mrow>{_HEAD}{every}</mrow></math>'


def pieces(law: Law, digits: int = DIGITS) -> list[str]:
    """Ψ̂ as formulas one after the other, between which a line may be broken."""
    return [f"<math><mrow>{row}</mrow></math>" for row in [_HEAD, *_rows(law, digits)]]


_HEAD = "<mover><mi>Ψ</mi><mo>^</mo></mover><mo>=</mo>"


def _rows(law: Law, digits: int) -> list[str]:
    """Every term with its sign; the whole where a law is not composed of terms."""
    import sympy
    from sympy.printing.mathml import MathMLPresentationPrinter

    law = completed(law)
    printer = centred.one_first(MathMLPresentationPrinter)()
    if not isinstance(law.graph, Terms):
        return [str(printer.doprint(expression(law, digits)))]
    rows: list[str] = []
    for weight, form in centred.parts(law, digits):
        sign = "<mo>−</mo>" if weight < 0 else "<mo>+</mo>" if rows else ""
        size = sympy.Float(abs(weight), digits)
        rows.append(sign + str(printer.doprint(sympy.Mul(size, form, evaluate=False))))
    return rows or ["<mn>0</mn>"]
