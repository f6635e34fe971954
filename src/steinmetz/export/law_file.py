"""`law.json`: structure, signs, values and closed form. Read back from the structure; text is never parsed as code."""

import json
from pathlib import Path
from typing import Any

from steinmetz.errors import InputError
from steinmetz.export import closed_form
from steinmetz.potentials.law import Law, rebuild, structure

FORMAT = "steinmetz-law/2"


def to_dict(law: Law, physics: str) -> dict[str, Any]:
    """Everything needed to rebuild the law exactly, and its closed form for people."""
    return {
        "format": FORMAT,
        "physics": physics,
        **structure(law),
        "closed_form": {
            "text": closed_form.text(law),
            "exact": closed_form.text(law, digits=17),
            "latex": closed_form.latex(law),
        },
    }


def read(path: Path) -> tuple[Law, str]:
    """The law of a file and the name of its physics."""
    try:
        stored = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise InputError(
            f"cannot read {path}: {(error.strerror or 'unreadable').lower()}"
        ) from None
    except (UnicodeDecodeError, json.JSONDecodeError, RecursionError):
        raise InputError(f"{path} is not a JSON file") from None
    try:
        return from_dict(stored)
    except (KeyError, TypeError, ValueError, AttributeError, IndexError) as error:
        raise InputError(
            f"{path} is not a complete law file of format {FORMAT}: {error!r}"
        ) from None


def from_dict(stored: dict[str, Any]) -> tuple[Law, str]:
    """Rebuild a law from whitelisted fields; a wrong type or number raises ValueError, KeyError or TypeError."""
    if stored["format"] != FORMAT:
        raise ValueError(f"format {stored['format']!r}")
    return rebuild(stored), str(stored["physics"])
