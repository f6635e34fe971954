"""A user material in Fortran for CalculiX: second Piola–Kirchhoff stress and dS/dE."""

from steinmetz.errors import InputError
from steinmetz.exporters.base import NOBODY, About
from steinmetz.exporters.program import comments, solver
from steinmetz.exporters.program.templates import filled
from steinmetz.exporters.program.trace import trace
from steinmetz.potentials.law import Law

SUFFIX = ".f"
# Constants of a user material that CalculiX hands over.
_MOST = 21
_CONVENTIONS = [
    "umat_user of CalculiX (in place of the file umat_user.f of its sources, then compile): S and "
    "dS/dE, in the order 11, 22, 33, 12, 13, 23, from the deformation gradient XKL. Use "
    "*USER MATERIAL, a name that begins with USER, and *STEP, NLGEOM."
]


def export(law: Law, about: About = NOBODY) -> str:
    """The routine, and what it calls."""
    formula = trace(law, "calculix")
    count = len(formula.parameters)
    if count > _MOST:
        raise InputError(f"CalculiX takes {_MOST} constants at most, this law has {count}")
    head = comments.head(law, about, formula, _CONVENTIONS)
    top = filled("calculix.f.txt", head=head)
    return solver.with_tensors(top, formula, "piola.f.txt")
