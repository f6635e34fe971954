"""`report.html`: one file that works offline, everything escaped."""

import base64
from pathlib import Path
from typing import Any

import jinja2

from steinmetz.engine.run import Result
from steinmetz.report import checks
from steinmetz.studies import config


def render(result: Result, summary: dict[str, Any], drawn: dict[str, Path]) -> str:
    """Fill the template beside this file; pictures are embedded."""
    loader = jinja2.FileSystemLoader(Path(__file__).parent)
    environment = jinja2.Environment(
        loader=loader, autoescape=True, undefined=jinja2.StrictUndefined
    )
    environment.filters["number"] = number
    pictures = {
        caption: base64.b64encode(file.read_bytes()).decode("ascii")
        for caption, file in drawn.items()
    }
    template = environment.get_template("report.html")
    return template.render(
        summary=summary,
        study=result.study,
        toml=config.to_toml(result.study),
        pictures=pictures,
        checks=checks.examine(summary),
    )


def number(value: Any) -> str:
    """Four significant digits; a dash where there is no number."""
    if value is None:
        return "–"
    return f"{value:.4g}" if isinstance(value, float) else str(value)
