"""The pages that follow from the code: settings, commands, Python interface, schemas.

`make docs-pages` writes them. What they say is read from the classes and docstrings they are about,
so a new setting, method, kind of method, command or function needs no edit here. A test
(tests/docs/test_pages.py) fails when a page in docs/ differs from what would be written.
"""

import json
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path

from pydantic import BaseModel

from pages import api, commands, settings
from steinmetz.report.summary import Summary

FOLDER = Path(__file__).parent.parent
COMMAND = "make docs-pages"
NOTE = f"<!-- written by `{COMMAND}`; edit the code it describes instead -->\n\n"

# JSON files of a run whose form is promised: name of the file → class that it holds.
SCHEMAS: Mapping[str, type[BaseModel]] = {"summary.schema.json": Summary}


def schema(model: type[BaseModel]) -> str:
    """The JSON schema of a file."""
    return json.dumps(model.model_json_schema(), indent=1, ensure_ascii=False) + "\n"


# What is written where, relative to docs/.
PAGES: Mapping[str, Callable[[], str]] = {
    "settings.md": lambda: NOTE + settings.page(),
    "commands.md": lambda: NOTE + commands.page(),
    "api.md": lambda: NOTE + api.page(),
    **{f"schemas/{name}": partial(schema, model) for name, model in SCHEMAS.items()},
}


def stale() -> list[str]:
    """Pages that are not there or are not what the code says."""
    texts = {FOLDER / name: write() for name, write in PAGES.items()}
    return [
        path.name
        for path, text in texts.items()
        if not path.is_file() or path.read_text(encoding="utf-8") != text
    ]
