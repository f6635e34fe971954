"""`report.html`: one file that works offline, everything escaped."""

import base64
from pathlib import Path

import jinja2

from steinmetz.engine.outcome import Outcome
from steinmetz.infer import checks
from steinmetz.report.summary import Summary
from steinmetz.studies.study import to_toml


def environment(folder: Path) -> jinja2.Environment:
    """Templates of a folder: everything escaped, a name that does not exist is an error."""
    loader = jinja2.FileSystemLoader(folder)
    made = jinja2.Environment(loader=loader, autoescape=True, undefined=jinja2.StrictUndefined)
    made.filters["number"] = number
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
        )
    )


def embedded(picture: Path) -> str:
    """A picture as text that a page can hold."""
    return base64.b64encode(picture.read_bytes()).decode("ascii")


def number(value: object) -> str:
    """Four significant digits; a dash where there is no number."""
    if value is None:
        return "–"
    return f"{value:.4g}" if isinstance(value, float) else str(value)
