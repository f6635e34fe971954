"""The walk through a run is what happens: every hop is called, in order, once where it says so."""

import re
import sys
import threading
from pathlib import Path
from types import FrameType

import jax
import pytest

import steinmetz

from .blocks import ROOT, Session

PACKAGE = str(Path(steinmetz.__file__).parent) + "/"
# What the last column of a hop may say, and how often that is in a study of one block.
TIMES = {"once": 1, "once per block": 1, "twice": 2, "five times": 5}
HOP = re.compile(r"^\| `([\w/]+\.py:[\w.]+)` \|.*\| ([^|]+) \|$", re.MULTILINE)


@pytest.fixture
def calls(quick: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, int]:
    """Functions of the package in the order in which a quick run first calls them, with counts."""
    seen: dict[str, int] = {}

    def look(frame: FrameType, event: str, _: object) -> None:
        code = frame.f_code
        if event == "call" and code.co_filename.startswith(PACKAGE):
            name = f"{code.co_filename.removeprefix(PACKAGE)}:{code.co_qualname}"
            seen[name] = seen.get(name, 0) + 1

    session = Session("walk.md", quick, monkeypatch)
    jax.clear_caches()  # a program that another test compiled would be called without its function
    threading.settrace(look)
    sys.settrace(look)
    try:
        assert session.call(["run", "hyperelasticity", "--parameters", "4"]) == 0
    finally:
        sys.settrace(None)
        threading.settrace(None)
    return seen


def test_walk(calls: dict[str, int]) -> None:
    hops = HOP.findall((ROOT / "docs" / "walk.md").read_text(encoding="utf-8"))
    assert len(hops) > 40
    assert [name for name, _ in hops if name not in calls] == []
    in_turn = [name for name, words in hops if not words.endswith("beside what follows")]
    assert len(hops) - len(in_turn) < 2
    assert in_turn == sorted(in_turn, key=list(calls).index)
    said = {name: words.partition(":")[0] for name, words in hops}
    told = {name: TIMES[words] for name, words in said.items() if words in TIMES}
    assert {name: calls[name] for name in told} == told
