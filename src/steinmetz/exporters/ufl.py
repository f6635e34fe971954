"""A module in Python with UFL, for dolfinx: energy and first Piola–Kirchhoff stress."""

from steinmetz.errors import InputError
from steinmetz.exporters.base import NOBODY, About
from steinmetz.exporters.program import comments
from steinmetz.exporters.program.language import Language, statements
from steinmetz.exporters.program.templates import filled
from steinmetz.exporters.program.trace import trace
from steinmetz.potentials.law import Law

SUFFIX = ".py"
_CONVENTIONS = [
    "For forms of dolfinx: first_piola(deformation_gradient(u)) is P, energy is Psi per unit "
    "volume of the reference state. Constants may be a fem.Constant with as many entries."
]

UFL = Language(
    number=repr,
    calls={
        "exp": "_exp({0})",
        "log": "ufl.ln({0})",
        "sqrt": "ufl.sqrt({0})",
        "softplus": "_softplus({0})",
        "logistic": "_logistic({0})",
        "less": "ufl.lt({0}, {1})",
        "where": "ufl.conditional({0}, {1}, {2})",
        "least": "ufl.min_value({0}, {1})",
        "most": "ufl.max_value({0}, {1})",
    },
    power="{0}**{1}",
    assign="{name} = {value}",
    symbol=lambda name: f"c[{name[1:]}]" if name.startswith("p") else name,
)


def export(law: Law, about: About = NOBODY) -> str:
    """The module; UFL takes further slopes itself."""
    formula = trace(law, "ufl")
    if formula.integrals:
        raise InputError(
            "UFL cannot hold sums of odd or fitted powers of principal stretches, whose slopes it "
            "would take where stretches coincide; use 'fortran_umat', 'c', 'python' or 'jax'"
        )
    names = [f"d{n}" for n in range(3)]
    return filled(
        "law.ufl.txt",
        head=comments.head(law, about, formula, _CONVENTIONS),
        values=[f"{row.value!r},  # {row.name}" for row in formula.parameters],
        energy=statements({"psi": formula.energy}, UFL),
        slopes=statements(dict(zip(names, formula.slopes, strict=True)), UFL),
    )
