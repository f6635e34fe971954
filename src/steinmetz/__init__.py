"""steinmetz: sparse, physically admissible constitutive laws with honest uncertainty.

Verbs at the top: `study` (by name or TOML, with changes), `run`, `fit` (tables of measured rows),
`load` (a finished run), `select` (another row of its table), `save`, `measured` (the study of a
table), `lcurve`, `closed_form`, `reproduce` (the paper); and `sample`, for any JAX log density,
with `network_likelihood`, that of a study's whole network. Nothing heavy is imported until one is
used.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from steinmetz.errors import InputError as InputError
from steinmetz.errors import RunFailure as RunFailure

if TYPE_CHECKING:
    from steinmetz.api import Result as Result
    from steinmetz.api import closed_form as closed_form
    from steinmetz.api import fit as fit
    from steinmetz.api import load as load
    from steinmetz.api import run as run
    from steinmetz.api import save as save
    from steinmetz.api import select as select
    from steinmetz.engine.density import sample as sample
    from steinmetz.engine.lcurve import Plan as Plan
    from steinmetz.engine.lcurve import lcurve as lcurve
    from steinmetz.engine.network_likelihood import network_likelihood as network_likelihood
    from steinmetz.paper.page import save as save_reproduction  # noqa: F401
    from steinmetz.paper.reproduce import reproduce as reproduce
    from steinmetz.report.lcurves import save as save_lcurve  # noqa: F401
    from steinmetz.studies.config import load as study  # noqa: F401
    from steinmetz.studies.config import measured as measured

# Public name → where it lives.
_LAZY = {
    **dict.fromkeys(
        ("Result", "closed_form", "fit", "load", "run", "save", "select"), "steinmetz.api"
    ),
    "Plan": "steinmetz.engine.lcurve",
    "lcurve": "steinmetz.engine.lcurve",
    "measured": "steinmetz.studies.config",
    "network_likelihood": "steinmetz.engine.network_likelihood",
    "reproduce": "steinmetz.paper.reproduce",
    "sample": "steinmetz.engine.density",
    "save_lcurve": "steinmetz.report.lcurves:save",
    "save_reproduction": "steinmetz.paper.page:save",
    "study": "steinmetz.studies.config:load",
}

__all__ = ["InputError", "RunFailure", *_LAZY]


def __getattr__(name: str) -> Any:
    if name == "__version__":
        return import_module("importlib.metadata").version("steinmetz")
    if name not in _LAZY:
        raise AttributeError(f"module 'steinmetz' has no attribute '{name}'")
    module, _, attribute = _LAZY[name].partition(":")
    return getattr(import_module(module), attribute or name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__, "__version__"})
