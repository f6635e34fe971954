"""`report.html`: one file that works offline, everything escaped."""

import base64
from pathlib import Path

import jinja2
import numpy as np
from markupsafe import Markup

from steinmetz.assess.silence import MANY
from steinmetz.engine.outcome import Outcome
from steinmetz.exporters import mathml
from steinmetz.infer import checks
from steinmetz.potentials.law import Law
from steinmetz.report.curves import curves
from steinmetz.report.summary import Summary
from steinmetz.studies.study import to_toml

# Parameters up to which a law is typeset, and correlations are listed.
_TYPESET = 16


def environment(folder: Path) -> jinja2.Environment:
    """Templates of a folder: everything escaped, a name that does not exist is an error."""
    loader = jinja2.FileSystemLoader(folder)
    made = jinja2.Environment(loader=loader, autoescape=True, undefined=jinja2.StrictUndefined)
    made.filters["number"] = number
    made.filters["wide"] = wide
    return made


def render(outcome: Outcome, summary: Summary, drawn: dict[str, Path]) -> str:
    """Fill the template beside this file; pictures are embedded."""
    pictures = {caption: embedded(file) for caption, file in drawn.items()}
    return (
        environment(Path(__file__).parent)
        .get_template("report.html")
        .render(
            summary=summary,
            study=outcome.study,
            toml=to_toml(outcome.study),
            pictures=pictures,
            checks=checks.examine(summary.inference),
            formula=formula(outcome.law),
            curves=[curve.model_dump() for curve in curves(outcome)],
            correlations=correlations(outcome),
        )
    )


def formula(law: Law) -> list[Markup]:
    """The law typeset, piece by piece; nothing where it is too long to be read."""
    return [Markup(piece) for piece in mathml.pieces(law)] if law.graph.size <= _TYPESET else []


def correlations(outcome: Outcome) -> list[tuple[str, list[float]]]:
    """Correlations of parameters over draws, a row each; nothing of one parameter or very many."""
    draws, names = outcome.particles, outcome.law.names()
    if not 1 < len(names) <= _TYPESET:
        return []
    with np.errstate(all="ignore"):
        found = np.nan_to_num(np.corrcoef(draws.T))
    return [(name, row.tolist()) for name, row in zip(names, found, strict=True)]


def embedded(picture: Path) -> str:
    """A picture as text that a page can hold."""
    return base64.b64encode(picture.read_bytes()).decode("ascii")


def wide(ratio: float) -> str:
    """A width over the stress; how large it is beyond all measure matters to nobody."""
    return number(ratio) if ratio <= MANY else f"more than {MANY:g}"


def number(value: object) -> str:
    """Four significant digits; a dash where there is no number."""
    if value is None:
        return "–"
    return f"{value:.4g}" if isinstance(value, float) else str(value)
