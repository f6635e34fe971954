"""What the head of an exported file says: which law, from where, in which unit, with which limits.

There is no date: the same law gives the same file, and the hash names it.
"""

import hashlib
import json
import textwrap
from collections.abc import Sequence

from steinmetz.exporters import text
from steinmetz.exporters.base import About
from steinmetz.exporters.program.trace import Formula
from steinmetz.potentials.law import Law, structure

_ASCII = {"Ψ": "Psi", "λ": "lambda", "μ": "mu", "·": " ", "–": "-", "−": "-"}


def provenance(law: Law, about: About) -> str:
    """A hash of structure and values of a law, and of where it comes from."""
    whole = json.dumps({**structure(law), "about": list(about)}, sort_keys=True)
    return hashlib.sha256(whole.encode()).hexdigest()[:16]


def head(law: Law, about: About, formula: Formula, conventions: Sequence[str]) -> list[str]:
    """Lines of plain ASCII, none longer than 66 characters."""
    unit = about.unit or "that of the stress of the data (none was declared)"
    facts = [
        f"A hyperelastic law, exported by steinmetz; {provenance(law, about)}.",
        text.export(law),
        f"Study: {about.study or 'none'}; material: {about.material or 'isotropic'}.",
        *([f"Draw {about.draw} of the posterior."] if about.draw else []),
        f"Unit of stress and of energy per volume: {unit}.",
        *conventions,
        *_limits(formula),
    ]
    if formula.nearly:
        facts.append(
            "The law is incompressible. Here it has the modified invariants I1 J^(-2/3) and "
            "I2 J^(-4/3), and K/2 (J - 1)^2 is added; K is the last constant."
        )
    lines = [line for fact in facts for line in _wrapped(fact)]
    return [*lines, "", "Material constants in this order:", *_constants(formula)]


def _limits(formula: Formula) -> list[str]:
    """Where the program is not the formula."""
    found = ["Limits: J > 0; the argument of an exponential is held at 300, so that it is finite."]
    if formula.integrals:
        found.append(
            "Sums of powers of stretches are contour integrals over the invariants: "
            "stretches from 0.1 to 10."
        )
    return found


def _constants(formula: Formula) -> list[str]:
    rows = []
    for number, (name, value, meaning) in enumerate(formula.parameters, start=1):
        words = f"{number:3d}  {value:.17g}  {name}" + (f", {meaning}" if meaning else "")
        rows += _wrapped(words, "     ")
    return rows


def _wrapped(words: str, indent: str = "  ") -> list[str]:
    for letter, plain in _ASCII.items():
        words = words.replace(letter, plain)
    plain = words.encode("ascii", "replace").decode()
    return textwrap.wrap(plain, 66, subsequent_indent=indent)
