"""A header in C: energy, stress and tangent at a deformation gradient, without dependencies."""

from steinmetz.exporters.base import NOBODY, About
from steinmetz.exporters.program import comments
from steinmetz.exporters.program.contour import PARTS
from steinmetz.exporters.program.language import Language, statements
from steinmetz.exporters.program.templates import filled
from steinmetz.exporters.program.trace import Formula, trace
from steinmetz.potentials.law import Law

SUFFIX = ".h"
_SLOPES = [f"d[{n}]" for n in range(3)]
_CURVATURES = [f"dd[{n}]" for n in range(6)]

C = Language(
    number=repr,
    calls={
        "exp": "steinmetz_exp({0})",
        "log": "log({0})",
        "sqrt": "sqrt({0})",
        "softplus": "steinmetz_softplus({0})",
        "logistic": "steinmetz_logistic({0})",
        "less": "{0} < {1}",
        "where": "({0} ? {1} : {2})",
        "least": "fmin({0}, {1})",
        "most": "fmax({0}, {1})",
        "integral": "steinmetz_integral({order}, {0}, {1}, {2}, {3})",
    },
    power="pow({0}, {1})",
    assign="const double {name} = {value};",
    symbol=lambda name: f"c[{name[1:]}]" if name.startswith("p") else name,
)


def potential(formula: Formula) -> list[str]:
    """Statements that give Ψ and its slopes."""
    names = ("*psi", *_SLOPES, *_CURVATURES)
    values = (formula.energy, *formula.slopes, *formula.curvatures)
    lines = statements(dict(zip(names, values, strict=True)), C)
    return [
        line.removeprefix("const double ") if line.startswith(f"const double {mark}") else line
        for line in lines
        for mark in [next((name for name in names if f" {name} =" in line), " ")]
    ]


def header(law: Law, about: About, formula: Formula, conventions: list[str]) -> str:
    """The header, with the constants of the law and functions that take any."""
    values = [f"{row.value!r}," for row in formula.parameters]
    return filled(
        "law.h",
        head=[f"* {line}" for line in comments.head(law, about, formula, conventions)],
        count=str(len(values)),
        values=values,
        potential=potential(formula),
        **PARTS,
    )


def export(law: Law, about: About = NOBODY) -> str:
    """The header of a law."""
    conventions = [
        "steinmetz_cauchy gives Psi, Cauchy's stress and the modulus of the Jaumann rate of "
        "Kirchhoff's stress over J; steinmetz_second_piola gives Psi, S and dS/dE.",
        "Components 11, 22, 33, 12, 13, 23; shear strains are doubled (engineering).",
    ]
    return header(law, about, trace(law, "c"), conventions)
