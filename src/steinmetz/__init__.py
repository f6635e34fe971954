"""steinmetz: sparse, physically admissible constitutive laws with honest uncertainty.

Verbs at the top: `study` (built-in or TOML, with changes), `measured` (a CSV file), `run`, `select` (another row of a
finished run), `save`, `lcurve`, `save_lcurve`, `closed_form`, `reproduce` (the paper) and `save_reproduction`; and
`sample`, for any JAX log density, with `weights`, the likelihood of a study's whole network.
Nothing heavy is imported until one of them is used.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from steinmetz.errors import InputError as InputError
from steinmetz.errors import RunFailure as RunFailure

if TYPE_CHECKING:
    from steinmetz.engine.density import sample as sample
    from steinmetz.engine.lcurve import lcurve as lcurve
    from steinmetz.engine.network_likelihood import weights as weights
    from steinmetz.engine.run import run as run
    from steinmetz.engine.run import select as select
    from steinmetz.export.closed_form import text as closed_form
    from steinmetz.paper.page import save as save_reproduction
    from steinmetz.paper.reproduce import reproduce as reproduce
    from steinmetz.report.files import save as save
    from steinmetz.report.lcurves import save as save_lcurve
    from steinmetz.studies.config import load as study
    from steinmetz.studies.config import measured as measured

_LAZY = {
    "study": ("steinmetz.studies.config", "load"),
    "measured": ("steinmetz.studies.config", "measured"),
    "run": ("steinmetz.engine.run", "run"),
    "select": ("steinmetz.engine.run", "select"),
    "reproduce": ("steinmetz.paper.reproduce", "reproduce"),
    "save_reproduction": ("steinmetz.paper.page", "save"),
    "weights": ("steinmetz.engine.network_likelihood", "weights"),
    "lcurve": ("steinmetz.engine.lcurve", "lcurve"),
    "save_lcurve": ("steinmetz.report.lcurves", "save"),
    "sample": ("steinmetz.engine.density", "sample"),
    "save": ("steinmetz.report.files", "save"),
    "closed_form": ("steinmetz.export.closed_form", "text"),
}

__all__ = [
    "InputError", "RunFailure", "closed_form", "lcurve", "measured", "reproduce", "run", "sample", "save",
    "save_lcurve", "save_reproduction", "select", "study", "weights",
]  # fmt: skip


def __getattr__(name: str) -> Any:
    if name not in _LAZY:
        raise AttributeError(f"module 'steinmetz' has no attribute '{name}'")
    module, attribute = _LAZY[name]
    return getattr(import_module(module), attribute)
