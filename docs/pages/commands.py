"""The page of commands: what `--help` says."""

import inspect
from typing import Any

import typer

from steinmetz import cli


def page() -> str:
    """The command line, as `--help` says it."""
    parts = ["# Commands\n", "What `steinmetz --help` and `steinmetz COMMAND --help` say.\n"]
    group: Any = typer.main.get_command(cli.app)
    for name, command in group.commands.items():
        text, _, examples = inspect.cleandoc(command.help or "").partition("Example")
        parts.append(f"## steinmetz {name}\n\n{text.strip()}\n")
        lines = ["| | | default |", "|---|---|---|"]
        for parameter in command.params:
            lines.append(_parameter(parameter))
        parts.append("\n".join(lines) + "\n" if len(lines) > 2 else "")
        told = [line.strip() for line in examples.splitlines()[1:] if line.strip()]
        parts.append("```sh\n" + "\n".join(told) + "\n```\n")
    return "\n".join(part for part in parts if part)


def _parameter(parameter: Any) -> str:
    """A row of the table of a command's arguments and options."""
    name = " / ".join([*parameter.opts, *parameter.secondary_opts])
    if not name.startswith("-"):
        name = parameter.metavar or name.upper()
    shown, default = parameter.show_default, parameter.default
    text = shown if isinstance(shown, str) else "" if default is None else str(default)
    return f"| `{name}` | {parameter.help or ''} | {text} |"
