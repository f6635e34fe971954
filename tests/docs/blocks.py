"""Code blocks of a page, and what it takes to run them as they are printed.

- A fenced `python` block is run; all blocks of a page share one namespace.
- A block whose first line is a comment such as `# laws/spring.py` is a file: it is written to the
  plug-in folder (STEINMETZ_PLUGINS), and commands up to the next heading are carried out.
- A line `steinmetz …` in any other block, or in `code` within a sentence, is read by the real
  command line: options, studies, settings and figures must exist. It is carried out if it is
  cheap, stands below a file as above, or below a hidden comment `<!-- run -->`.
- A line `make …` names a target that exists, a line `python FILE` a file that exists.
- A hidden comment `<!-- setup: … -->` holds Python that a reader need not see, such as the file
  that an example reads.
"""

import inspect
import re
import shlex
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

from steinmetz import cli, commands, finished, many
from steinmetz.paper import grids
from steinmetz.studies import config
from steinmetz.studies.study import to_toml

ROOT = Path(__file__).parents[2]
# Every page that people read, relative to the root.
PAGES = sorted(
    str(path.relative_to(ROOT)) for path in [*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")]
)
FENCE = re.compile(r"^(?P<indent> *)(?P<mark>```+|~~~+) *(?P<language>[\w-]*)")
PLUGIN = re.compile(r"^# (?P<path>[a-z_]+/[\w.-]+\.(?:py|toml))$")
SPAN = re.compile(r"`(steinmetz [^`]+)`")
# Words of a command that stand for something else: STUDY, K, […], DIR/…
PLACEHOLDER = re.compile(r"^[A-Z][A-Z_]*$|[\[…]|NAME")
# Commands that are always carried out.
CHEAP = {"list", "--help", "--version"}


class Block(NamedTuple):
    """A part of a page: its first line (from 1), its kind, its text.

    Kinds are the language of a fence, `indented`, `setup`, `run`, `heading` and `prose`.
    """

    line: int
    kind: str
    text: str


def parse(text: str) -> Iterator[Block]:
    """The parts of a Markdown page, in order."""
    lines = text.splitlines()
    place = 0
    while place < len(lines):
        end, block = _next(lines, place)
        yield block
        place = end


def _next(lines: list[str], start: int) -> tuple[int, Block]:
    """The part that begins at a line, and the line after it."""
    line = lines[start]
    fence = FENCE.match(line)
    if fence:
        close = start + 1
        while close < len(lines) and not lines[close].strip().startswith(fence["mark"]):
            close += 1
        assert close < len(lines), f"line {start + 1}: a fence without an end"
        inside = [entry.removeprefix(fence["indent"]) for entry in lines[start + 1 : close]]
        return close + 1, Block(start + 2, fence["language"] or "output", "\n".join(inside) + "\n")
    if line.startswith("<!--"):
        close = next(i for i in range(start, len(lines)) if "-->" in lines[i])
        text = "\n".join(lines[start : close + 1])[len("<!--") :].strip().removesuffix("-->")
        word = text.split()[0].rstrip(":") if text.split() else ""
        kind = word if word in ("setup", "run") else "prose"
        return close + 1, Block(
            start + 1, kind, text.partition(word)[2].lstrip(":").strip("\n ") + "\n"
        )
    if line.startswith("    ") and (start == 0 or not lines[start - 1].strip()):
        close = start
        while close < len(lines) and (lines[close].startswith("    ") or not lines[close].strip()):
            close += 1
        inside = [entry.removeprefix("    ") for entry in lines[start:close]]
        return close, Block(start + 1, "indented", "\n".join(inside) + "\n")
    kind = "heading" if re.match(r"#+ ", line) else "prose"
    return start + 1, Block(start + 1, kind, line + "\n")


def command_lines(block: Block) -> Iterator[tuple[int, list[str]]]:
    """The command lines of a block, as words, with the line each begins at."""
    if block.kind == "prose":
        for span in SPAN.findall(block.text):
            yield block.line, shlex.split(span)
        return
    start, gathered = block.line, ""
    for number, line in enumerate(block.text.splitlines(), block.line):
        start = start if gathered else number
        gathered += line.removesuffix("\\").removeprefix("$ ")
        if line.endswith("\\"):
            continue
        if gathered.split(" ")[0] in ("steinmetz", "make", "python"):
            yield start, shlex.split(gathered, comments=True)
        gathered = ""


class Session:
    """A page being read: its namespace, its plug-in folder, whether commands are carried out."""

    def __init__(self, page: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.page = page
        self.plugins = folder / "plugins"
        self.monkeypatch = monkeypatch
        self.namespace: dict[str, object] = {"__name__": page}
        self.carries_out = False
        self.done: list[list[str]] = []
        monkeypatch.setenv("STEINMETZ_PLUGINS", str(self.plugins))

    def read(self, text: str) -> None:
        """Do with every part of the page what its kind asks for."""
        for block in parse(text):
            head = PLUGIN.match(block.text.partition("\n")[0])
            if block.kind == "heading":
                self.carries_out = False
            elif block.kind == "run":
                self.carries_out = True
            elif block.kind in ("python", "toml") and head:
                self.write(head["path"], block.text)
                self.carries_out = True
            elif block.kind in ("python", "setup"):
                self.python(block)
            else:
                for line, words in command_lines(block):
                    self.command(line, words, block.kind)

    def write(self, path: str, text: str) -> None:
        """A file that the page shows, into the plug-in folder."""
        target = self.plugins / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text, encoding="utf-8")

    def python(self, block: Block) -> None:
        """Run a block; a traceback names the page and its line."""
        code = compile("\n" * (block.line - 1) + block.text, self.page, "exec")
        exec(code, self.namespace)  # noqa: S102 (text of this repository, run as a reader would)

    def command(self, line: int, words: list[str], kind: str) -> None:
        """Carry a command out, or see that it could be."""
        place = f"{self.page}, line {line}: {shlex.join(words)}"
        program, *arguments = words
        if program == "make":
            targets = re.findall(r"^([\w-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE)
            assert set(arguments) <= set(targets), place
        elif program == "python":
            assert all((ROOT / word).is_file() for word in arguments if word.endswith(".py")), place
        elif any(PLACEHOLDER.search(word) for word in arguments):
            assert kind == "prose", f"{place}: a block must hold what can be typed"
        elif kind == "prose" and len(arguments) == 1:  # a command is named, not shown
            assert self.call([*arguments, "--help"]) == 0, place
        elif (self.carries_out and kind != "prose") or CHEAP & set(arguments):
            self.done.append(arguments)
            assert self.call(arguments) == 0, place
        else:
            self.understand(arguments, place)

    def call(self, arguments: list[str]) -> object:
        """The command line, in this process; returns its exit code."""
        self.monkeypatch.setattr(sys, "argv", ["steinmetz", *arguments])
        with pytest.raises(SystemExit) as left:
            cli.main()
        return left.value.code

    def understand(self, arguments: list[str], place: str) -> None:
        """Let the command line read a command up to the work itself, which is left out."""
        for word in arguments:
            if word.endswith(".toml") and not Path(word).exists():  # a reader's own study
                study = to_toml(config.load(config.names()[0]))
                Path(word).write_text(study, encoding="utf-8")
        if arguments[:1] == ["reproduce"]:
            for word in arguments[1:]:
                if word.startswith("--"):
                    break
                grids.load(word)
        with self.monkeypatch.context() as patched:
            for module in (commands, finished, many):
                for name, function in inspect.getmembers(module, inspect.isfunction):
                    if function.__module__ == module.__name__:
                        patched.setattr(module, name, lambda *_, **__: True)
            assert self.call(arguments) == 0, place
