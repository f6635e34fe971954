"""Laws composed of terms as people write them: Ψ̂ = Σ w_i f_i, every f_i zero at the reference.

The energy at the reference and the stress there are taken out of every term, so no large numbers
cancel: I1 − 3, J − 1, (I1/3)^a − 1. What several terms have in common is added up, such as log J of
their barriers. A locking term is printed as it is below its limit, (log J)² as it is below J = e
(`potentials/classical.py` has what follows beyond).
"""

from collections.abc import Iterator
from fractions import Fraction
from typing import Any

import numpy as np

from steinmetz.potentials.classical import SHAPES
from steinmetz.potentials.law import Law
from steinmetz.potentials.mechanics import Terms

# An expression of SymPy.
Form = Any
# What rounding leaves where coefficients cancel, as a share of the largest.
_ROUNDING = 1e-13
# Powers of I/3 up to this one are written out in I − 3.
_EXPANDED = 3


def parts(law: Law, digits: int) -> list[tuple[float, Form]]:
    """Every w_i and f_i; constants inside f_i have so many digits."""
    assert isinstance(law.graph, Terms)
    collected: dict[Form, float] = {}
    for weight, form in _every(law, law.graph, digits):
        collected[form] = collected.get(form, 0.0) + weight
    largest = max(map(abs, collected.values()), default=0.0)
    kept = [(w, form) for form, w in collected.items() if abs(w) > _ROUNDING * largest]
    return sorted(kept, key=lambda part: _place(part[1]))


def _place(form: Form) -> int:
    """What feels the shape first, then log J and J − 1, then functions of the volume."""
    if {symbol.name for symbol in form.free_symbols} != {"J"}:
        return 0
    return 1 if form.is_Function else 2 if form.is_Add and len(form.args) == 2 else 3


def _every(law: Law, graph: Terms, digits: int) -> Iterator[tuple[float, Form]]:
    """Terms, then their barriers, then what the normalisation takes away, centred one by one."""
    import sympy

    symbols = [sympy.Symbol(name, real=True) for name in graph.inputs]
    rest = dict(zip(symbols, map(exact, law.reference.point), strict=True))
    x = (*symbols, sympy.Integer(1))[:3]
    placed = [
        (term, float(coefficient), tuple(float(p) for p in constants))
        for term, coefficient, constants in graph.placed(np.asarray(law.values))
    ]
    for term, coefficient, constants in placed:
        form = SHAPES[term.shape].symbolic(x, tuple(exact(p, digits) for p in constants))
        for weight, factor in _centred(form, rest, digits):
            yield coefficient * weight, factor
    for term, coefficient, constants in placed:
        if term.barrier:
            yield -coefficient * float(term.pressure(np, constants)), sympy.log(x[2])
    point = np.asarray(law.reference.point)[None]
    slope = graph.pushed(np.asarray(law.values)[None], point)[0][0, 0]
    removed = slope - slope @ law.reference.responses
    for taken, symbol in zip(removed.tolist(), symbols, strict=True):
        yield -taken, symbol - rest[symbol]


def _centred(form: Form, rest: dict[Form, Form], digits: int) -> Iterator[tuple[float, Form]]:
    """A sum as weights times factors that vanish at rest; equal weights share one factor."""
    import sympy

    groups: dict[Form, list[Form]] = {}
    for part in sympy.Add.make_args(form):
        weight, factor = part.as_coeff_Mul()
        for share, power in _expanded(factor):
            groups.setdefault(weight * share, []).append(power)
    for weight, factors in groups.items():
        whole = sympy.Add(*factors)
        others = dict.fromkeys(whole.free_symbols - rest.keys(), 1)
        value = float(whole.subs({**rest, **others}))
        if whole.free_symbols:
            yield float(weight), whole - exact(value, digits)


def _expanded(factor: Form) -> list[tuple[Form, Form]]:
    """(I/3)^k of a small k in powers of y = I − 3: Σ (k over j) (y/3)^j; any other as it is."""
    import sympy

    base, exponent = factor.as_base_exp()
    own = {symbol.name for symbol in base.free_symbols} & {"I1", "I2"}
    if not (base.is_Mul and own and exponent.is_Integer and 1 <= exponent <= _EXPANDED):
        return [(1, factor)]
    y = 3 * base - 3
    return [
        (sympy.binomial(exponent, j) / sympy.Integer(3) ** j, y**j)
        for j in range(1, int(exponent) + 1)
    ]


def exact(value: float, digits: int = 17) -> Form:
    """A number of SymPy: a simple fraction as such, any other with so many digits."""
    import sympy

    simple = Fraction(float(value)).limit_denominator(12)
    near = abs(float(simple) - float(value)) <= 1e-13 * abs(float(value))
    return (
        sympy.Rational(simple.numerator, simple.denominator) if near else sympy.Float(value, digits)
    )


def expression(law: Law, digits: int) -> Form:
    """Ψ̂ as one expression."""
    import sympy

    return sympy.Add(*(sympy.Float(weight, digits) * form for weight, form in parts(law, digits)))


def text(law: Law, digits: int) -> str:
    """Ψ̂ in one line."""
    from sympy.printing.str import StrPrinter

    return _joined(law, digits, one_first(StrPrinter)())


def latex(law: Law, digits: int, names: dict[Form, str]) -> str:
    """Ψ̂ for a paper; `names` are those of symbols."""
    from sympy.printing.latex import LatexPrinter

    return _joined(law, digits, one_first(LatexPrinter)({"symbol_names": names}))


def one_first(printer: Any) -> Any:
    """A printer that puts numbers last, J⁵ + J⁻⁵ − 2, but writes 1 − x and not −x + 1."""

    class Printer(printer):  # type: ignore[misc]
        def _as_ordered_terms(self, expr: Form, order: str | None = None) -> list[Form]:
            terms: list[Form] = super()._as_ordered_terms(expr, order)
            numbers = [term for term in terms if term.is_Number]
            others = [term for term in terms if not term.is_Number]
            falling = bool(others) and others[0].could_extract_minus_sign()
            return [*numbers, *others] if falling else [*others, *numbers]

    return Printer


def _joined(law: Law, digits: int, printer: Any) -> str:
    """Weights times factors, in the order of the terms."""
    import sympy

    whole = ""
    for weight, form in parts(law, digits):
        size = sympy.Float(abs(weight), digits)
        sign = "-" if weight < 0 else "+" if whole else ""
        each = printer.doprint(sympy.Mul(size, form, evaluate=False))
        whole += f" {sign} {each}" if whole else f"{sign}{each}"
    return whole or "0"
