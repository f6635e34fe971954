"""The page of the Python interface: what `import steinmetz` offers, from its docstrings."""

import inspect
from typing import Any

import steinmetz


def page() -> str:
    """Every public name, then the classes of the package that public functions give back."""
    text = (inspect.getdoc(steinmetz) or "").partition("\n")[2].strip()
    names = {name: getattr(steinmetz, name) for name in sorted(steinmetz.__all__, key=str.lower)}
    public = {name: what for name, what in names.items() if callable(what)}
    parts = [
        f"# Python\n\n{text}\n",
        *(_entry(what, f"steinmetz.{n}") for n, what in public.items()),
    ]
    returned = {what: what.__name__ for what in map(_returned, public.values()) if what}
    parts += [_entry(what, name) for what, name in returned.items() if what not in public.values()]
    return "\n".join(parts)


def _entry(what: Any, heading: str) -> str:
    """What mkdocstrings turns into signature and docstring."""
    label = heading.removeprefix("steinmetz.")
    options = f"    options:\n      heading: {heading}\n      toc_label: {label}\n"
    return f"::: {what.__module__}.{what.__qualname__}\n{options}"


def _returned(function: Any) -> type | None:
    """The class of the package that a function gives back, if it is one."""
    if not inspect.isfunction(function):
        return None
    what = inspect.signature(function).return_annotation
    inside = inspect.isclass(what) and what.__module__.startswith("steinmetz.")
    return what if inside else None
