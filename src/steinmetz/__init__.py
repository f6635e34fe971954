"""steinmetz: sparse, physically admissible constitutive laws with honest uncertainty.

Verbs at the top: `study` (by name or TOML, with changes), `run`, `fit` (tables of measured rows),
`check` (what is understood of them), `load` (a finished run), `select` (another row of its table),
`save`, `redraw` (figures and page of a finished run), `compare` (runs beside each other),
`measured` (the study of a table), `lcurve`, `closed_form`, `reproduce` (the paper); and `sample`,
for any JAX log density, with `network_likelihood`, that of a study's whole network. `devices`
shares out the particles of what is sampled over several of them, of one process or of more.
`FiniteElements` says what `Result.finite_elements` computes, `save_part` writes it.
Nothing heavy is imported until one is used.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from steinmetz.errors import InputError, RunFailure

if TYPE_CHECKING:
    from steinmetz.api import Result, check, closed_form, fit, load, redraw, run, save, select
    from steinmetz.engine.density import sample
    from steinmetz.engine.lcurve import Plan, lcurve
    from steinmetz.engine.network_likelihood import network_likelihood
    from steinmetz.fe.result import Asked as FiniteElements
    from steinmetz.fe.written import save as save_part
    from steinmetz.paper.page import save as save_reproduction
    from steinmetz.paper.reproduce import reproduce
    from steinmetz.ranks.door import devices
    from steinmetz.report.compared import Comparison, compare
    from steinmetz.report.lcurves import save as save_lcurve
    from steinmetz.report.understood import Check
    from steinmetz.studies.config import load as study
    from steinmetz.studies.measured import measured

# Public name → where it lives.
_LAZY = {
    **dict.fromkeys(
        ("Result", "check", "closed_form", "fit", "load", "redraw", "run", "save", "select"),
        "steinmetz.api",
    ),
    "Check": "steinmetz.report.understood",
    "Comparison": "steinmetz.report.compared",
    "FiniteElements": "steinmetz.fe.result:Asked",
    "Plan": "steinmetz.engine.lcurve",
    "compare": "steinmetz.report.compared",
    "devices": "steinmetz.ranks.door",
    "lcurve": "steinmetz.engine.lcurve",
    "measured": "steinmetz.studies.measured",
    "network_likelihood": "steinmetz.engine.network_likelihood",
    "reproduce": "steinmetz.paper.reproduce",
    "sample": "steinmetz.engine.density",
    "save_lcurve": "steinmetz.report.lcurves:save",
    "save_part": "steinmetz.fe.written:save",
    "save_reproduction": "steinmetz.paper.page:save",
    "study": "steinmetz.studies.config:load",
}

# Written out for type checkers; a test compares it with what is there.
__all__ = [
    "Check",
    "Comparison",
    "FiniteElements",
    "InputError",
    "Plan",
    "Result",
    "RunFailure",
    "check",
    "closed_form",
    "compare",
    "devices",
    "fit",
    "lcurve",
    "load",
    "measured",
    "network_likelihood",
    "redraw",
    "reproduce",
    "run",
    "sample",
    "save",
    "save_lcurve",
    "save_part",
    "save_reproduction",
    "select",
    "study",
]


def __getattr__(name: str) -> Any:
    if name == "__version__":
        return import_module("importlib.metadata").version("steinmetz")
    if name not in _LAZY:
        raise AttributeError(f"module 'steinmetz' has no attribute '{name}'")
    module, _, attribute = _LAZY[name].partition(":")
    return getattr(import_module(module), attribute or name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__, "__version__"})
