"""The page of the Python interface: what `import steinmetz` offers, from its docstrings."""

import inspect

import steinmetz


def page() -> str:
    """The names of `import steinmetz`, each from its docstring."""
    text = (inspect.getdoc(steinmetz) or "").partition("\n")[2].strip()
    parts = [f"# Python\n\n{text}\n"]
    for name in sorted(steinmetz.__all__, key=str.lower):
        what = getattr(steinmetz, name)
        if callable(what):
            options = f"    options:\n      heading: steinmetz.{name}\n      toc_label: {name}\n"
            parts.append(f"::: {what.__module__}.{what.__qualname__}\n{options}")
    return "\n".join(parts)
