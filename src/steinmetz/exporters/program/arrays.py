"""Programs in Python over arrays: one text for NumPy, JAX and what is built on NumPy."""

from typing import Literal

from steinmetz.exporters.base import About
from steinmetz.exporters.program import comments
from steinmetz.exporters.program.contour import PARTS
from steinmetz.exporters.program.language import Language, statements
from steinmetz.exporters.program.templates import filled
from steinmetz.exporters.program.trace import Formula, trace
from steinmetz.potentials.law import Law

ARRAYS = Language(
    number=repr,
    calls={
        "exp": "_exp({0})",
        "log": "np.log({0})",
        "sqrt": "np.sqrt({0})",
        "softplus": "_softplus({0})",
        "logistic": "_logistic({0})",
        "less": "{0} < {1}",
        "where": "np.where({0}, {1}, {2})",
        "least": "np.minimum({0}, {1})",
        "most": "np.maximum({0}, {1})",
        "integral": "_integral({order}, {0}, {1}, {2}, {3})",
    },
    power="{0}**{1}",
    assign="{name} = {value}",
    symbol=lambda name: f"c[{name[1:]}]" if name.startswith("p") else name,
)
_IMPORTS = {
    "numpy": ["import numpy", "import numpy as np"],
    "jax": ["import jax", "import jax.numpy as np", "import numpy"],
}
_CONVENTIONS = [
    "cauchy(F) gives Cauchy's stress and the modulus of the Jaumann rate of Kirchhoff's stress "
    "over J; second_piola(F) gives S and dS/dE; energy(F) gives Psi. F has the shape (..., 3, 3).",
    "Components 11, 22, 33, 12, 13, 23; shear strains are doubled (engineering).",
]


def program(law: Law, about: About, target: str, by: Literal["numpy", "jax"]) -> str:
    """Energy, stress and tangent at many deformation gradients."""
    formula = trace(law, target)
    slopes, curvatures = [f"d{n}" for n in range(3)], [f"dd{n}" for n in range(6)]
    return filled(
        "law.py.txt",
        head=comments.head(law, about, formula, _CONVENTIONS),
        imports=_IMPORTS[by],
        softplus=filled(f"softplus_{by}.txt").splitlines(),
        values=[f"{row.value!r},  # {row.name}" for row in formula.parameters],
        potential=_statements(formula, ["psi", *slopes, *curvatures]),
        slopes=", ".join(slopes),
        curvatures=", ".join(curvatures),
        **PARTS,
    )


def _statements(formula: Formula, names: list[str]) -> list[str]:
    values = (formula.energy, *formula.slopes, *formula.curvatures)
    return statements(dict(zip(names, values, strict=True)), ARRAYS)
