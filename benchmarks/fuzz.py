"""Ten thousand damaged files over every reader: what is said, and how long it takes.

`PYTHONPATH=src:tests python benchmarks/fuzz.py --count 10000` damages tables, `law.json`,
`summary.json`, `carving.json`, `study.toml`, `posterior.nc`, `predictions.nc` and checkpoints with
a seed each, and calls the command that reads them, in this process. A traceback, an exit code other
than 0, 1 (`diagnose`) and 2, a message without a place and more than two seconds of processor time
(other work on the machine does not count) are failures. `--only law.json` tries one file alone.
"""

import argparse
import contextlib
import io
import os
import shutil
import sys
import tempfile
import time
import traceback
from collections import Counter
from pathlib import Path
from typing import NamedTuple

import numpy as np

import mutations
from engine.test_malformed import GOOD, mutated
from steinmetz import cli
from steinmetz.cache import Cache
from steinmetz.engine.template import example
from steinmetz.report import understood

LONGEST = 2.0
CHEAP = {
    "infer.method": "svgd",
    "infer.particles": 20,
    "infer.steps": 100,
    "assess.path_points": 50,
    "assess.noise_draws": 50,
    "assess.test_count": 100,
    "assess.certificate_states": 500,
    "assess.across": "false",
}


class Reader(NamedTuple):
    """Share of all inputs, file, damage, and the command that reads it."""

    share: float
    file: str
    ways: tuple[mutations.Mutation, ...]
    words: tuple[str, ...]


READERS = (
    Reader(0.20, "summary.json", mutations.JSON, ("diagnose", "run")),
    Reader(0.15, "law.json", mutations.JSON, ("export", "run")),
    Reader(0.15, "carving.json", mutations.JSON, ("select", "run", "--row", "999")),
    Reader(0.15, "study.toml", mutations.TOML, ("select", "run", "--row", "999")),
    Reader(0.05, "posterior.nc", mutations.BINARY, ("compare", "run", "whole")),
    Reader(0.05, "predictions.nc", mutations.BINARY, ("compare", "run", "whole")),
)
TABLES, CHECKPOINTS = 0.20, 0.05


def called(words: tuple[str, ...]) -> tuple[int, str, float]:
    """Exit code, what was said, seconds."""
    sys.argv, said, begun = ["steinmetz", *words], io.StringIO(), time.process_time()
    with contextlib.redirect_stderr(said), contextlib.redirect_stdout(io.StringIO()):
        try:
            cli.main()
            code = 0
        except SystemExit as left:
            code = int(left.code or 0)
        except BaseException:
            code = 99
            traceback.print_exc(file=said)
    return code, said.getvalue(), time.process_time() - begun


class Tally:
    """Codes, the longest time and failures, by reader."""

    def __init__(self) -> None:
        self.codes: dict[str, Counter[int]] = {}
        self.longest: dict[str, float] = {}
        self.failures: list[str] = []

    def add(self, name: str, seed: int, outcome: tuple[int, str, float]) -> None:
        """Judge one input."""
        code, said, seconds = outcome
        self.codes.setdefault(name, Counter())[code] += 1
        self.longest[name] = max(self.longest.get(name, 0.0), seconds)
        placed = code != 2 or any(word in said for word in ("run", "a.csv", "row 999"))
        fine = (0, 1, 2) if name == "summary.json" else (0, 2)
        if code not in fine or not placed or seconds > LONGEST:
            self.failures.append(f"{name} seed {seed}: {code}, {seconds:.1f} s: {said[-1500:]}")
            print(self.failures[-1], flush=True)


def runs(tally: Tally, count: int, first: int, only: str = "") -> None:
    """Files of a run directory, or one of them."""
    for reader in (each for each in READERS if only in ("", each.file)):
        path, whole = Path("run") / reader.file, (Path("whole") / reader.file).read_bytes()
        for seed in range(first, first + round(reader.share * count)):
            made = mutations.damaged(whole, seed, reader.ways)
            path.write_bytes(made)
            print(f"\r{reader.file} {seed}   ", end="", file=sys.stderr)
            code, said, seconds = called(reader.words)
            if reader.ways is mutations.BINARY and made != whole and code == 0:
                code, said = 98, "taken for whole"
            tally.add(reader.file, seed, (code, said, seconds))
        path.write_bytes(whole)


def tables(tally: Tally, count: int, first: int) -> None:
    """Tables, as `check` reads them; pictures are all alike and left out."""
    understood.draw = lambda *_: None
    good = [*GOOD, *(example(m) for m in ("uniaxial", "biaxial", "simple_shear", "full_tensor"))]
    for seed in range(first, first + round(TABLES * count)):
        Path("a.csv").write_bytes(mutated(good, seed))
        tally.add("tables", seed, called(("check", "a.csv")))


def checkpoints(tally: Tally, count: int, first: int) -> None:
    """Never anything but the last or the one before, as they were written."""
    cache = Cache(Path("kept"), "study")
    for number in (1, 2):
        cache.put("a", values=np.arange(200.0) * number)
    files = {path: path.read_bytes() for path in Path("kept").iterdir()}
    for seed in range(first, first + round(CHECKPOINTS * count)):
        for number, (path, whole) in enumerate(files.items()):
            path.write_bytes(mutations.damaged(whole, 2 * seed + number, mutations.BINARY))
        begun, found = time.monotonic(), cache.get("a")
        intact = [path.read_bytes() == whole for path, whole in files.items()]
        assert (found is not None) == any(intact), seed
        tally.add("checkpoints", seed, (0 if any(intact) else 2, "run", time.monotonic() - begun))


def main() -> None:
    """Do all of it in a folder of its own."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--count", type=int, default=10_000)
    options.add_argument("--first", type=int, default=0, help="first seed")
    options.add_argument("--only", default="", help="one file of a run directory")
    asked, tally = options.parse_args(), Tally()
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        changes = [f"--set={key}={value}" for key, value in CHEAP.items()]
        code, said, _ = called(("run", "hyperelasticity", *changes, "--out", "whole"))
        assert code == 0, said
        shutil.copytree("whole", "run")
        for part in () if asked.only else (checkpoints, tables):
            part(tally, asked.count, asked.first)
        runs(tally, asked.count, asked.first, asked.only)
        os.chdir("/")
    for name, codes in tally.codes.items():
        said = ", ".join(f"exit {code}: {codes[code]}" for code in sorted(codes))
        print(f"{name:15} {sum(codes.values()):6}  {said}  (longest {tally.longest[name]:.2f} s)")
    print(f"{sum(map(sum, (c.values() for c in tally.codes.values())))} inputs", end=", ")
    print(f"{len(tally.failures)} failures")
    raise SystemExit(1 if tally.failures else 0)


if __name__ == "__main__":
    main()
