"""`law.json`: structure, signs, values and closed form, to be read back exactly.

Read back from the structure; text is never parsed as code.
"""

import json
from pathlib import Path
from typing import Any

from steinmetz.errors import InputError
from steinmetz.exporters import latex, text
from steinmetz.exporters.base import NOBODY, About
from steinmetz.potentials.law import Law, rebuild, structure
from steinmetz.potentials.volume import completed
from steinmetz.reading import parsed

SUFFIX = ".json"
FORMAT = "steinmetz-law/3"
# Digits that tell every double from its neighbours.
_EXACT = 17


def export(law: Law, about: About = NOBODY) -> str:
    """Everything needed to rebuild the law exactly, and its closed form for people."""
    law = completed(law)
    forms = {
        "text": text.export(law),
        "exact": text.export(law, digits=_EXACT),
        "latex": latex.export(law),
    }
    head = {"format": FORMAT, "material": about.material, "study": about.study}
    head |= {"unit": about.unit} if about.unit else {}
    return json.dumps({**head, **structure(law), "closed_form": forms}, indent=2)


def read(path: Path) -> tuple[Law, About]:
    """The law of a file, and where it comes from."""
    stored = parsed(path)
    try:
        return from_dict(stored)
    except (KeyError, TypeError, ValueError, AttributeError, IndexError) as error:
        words = f"{path} is not a complete law file of format {FORMAT}: {error!r}"
        raise InputError(words) from None


def from_dict(stored: dict[str, Any]) -> tuple[Law, About]:
    """Rebuild a law; a wrong type or number raises ValueError, KeyError or TypeError."""
    if stored["format"] != FORMAT:
        raise ValueError(f"format {stored['format']!r}")
    words = (stored["material"], stored["study"], stored.get("unit", ""))
    return rebuild(stored), About(*map(str, words))
