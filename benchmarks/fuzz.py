"""Ten thousand damaged files over every reader: what is said, and how long it takes.

`PYTHONPATH=src:tests python benchmarks/fuzz.py --count 10000` damages tables (text, workbooks,
Parquet), `law.json`, `summary.json`, `carving.json`, `study.toml`, `posterior.nc`,
`predictions.nc`, checkpoints, meshes and their conditions, grids and files of campaigns, values of
`--set` and targets of `--out` with a seed each, and calls the command that reads them, in this
process. A traceback, an exit code other than 0, 1 (`diagnose`) and 2, a message without a place and
more than two seconds of processor time (other work on the machine does not count) are failures.
`--only law.json` tries one kind alone.
"""

import argparse
import os
import shutil
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path
from typing import NamedTuple

import numpy as np

import fuzzed
import mutations
from engine.test_malformed import GOOD, mutated
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
    """File of a run directory, damage, and the command that reads it."""

    file: str
    ways: tuple[mutations.Mutation, ...]
    words: tuple[str, ...]


READERS = (
    Reader("summary.json", mutations.JSON, ("diagnose", "run")),
    Reader("law.json", mutations.JSON, ("export", "run")),
    Reader("carving.json", mutations.JSON, ("select", "run", "--row", "999")),
    Reader("study.toml", mutations.TOML, ("select", "run", "--row", "999")),
    Reader("posterior.nc", mutations.BINARY, ("compare", "run", "whole")),
    Reader("predictions.nc", mutations.BINARY, ("compare", "run", "whole")),
)
# Shares of all inputs, in percent.
SHARES = {"tables": 15, "checkpoints": 5, "workbooks": 5, "parquet": 5, "meshes": 8}
SHARES |= {"conditions": 4, "grid.toml": 4, "campaigns": 4, "--set": 8, "--out": 10}
SHARES |= {"summary.json": 10, "law.json": 8, "carving.json": 5, "study.toml": 5}
SHARES |= {"posterior.nc": 2, "predictions.nc": 2}


class Tally:
    """Codes, the longest time and failures, by reader."""

    def __init__(self) -> None:
        self.codes: dict[str, Counter[int]] = {}
        self.longest: dict[str, float] = {}
        self.failures: list[str] = []

    def add(self, name: str, seed: int, outcome: tuple[int, str, float], *places: str) -> None:
        """Judge one input."""
        code, said, seconds = outcome
        self.codes.setdefault(name, Counter())[code] += 1
        self.longest[name] = max(self.longest.get(name, 0.0), seconds)
        placed = code != 2 or any(place in said for place in places)
        fine = (0, 1, 2) if name == "summary.json" else (0, 2)
        if code not in fine or not placed or seconds > LONGEST:
            self.failures.append(f"{name} seed {seed}: {code}, {seconds:.1f} s: {said[-1500:]}")
            print(self.failures[-1], flush=True)


def seeds(name: str, count: int, first: int) -> range:
    """The seeds of a kind of input."""
    return range(first, first + round(SHARES[name] * count / 100))


def damaged(tally: Tally, reader: Reader, every: range) -> None:
    """One file of a run directory."""
    path, whole = Path("run") / reader.file, (Path("whole") / reader.file).read_bytes()
    for seed in every:
        made = mutations.damaged(whole, seed, reader.ways)
        path.write_bytes(made)
        code, said, seconds = fuzzed.called(reader.words)
        if reader.ways is mutations.BINARY and made != whole and code == 0:
            code, said = 98, "taken for whole"
        tally.add(reader.file, seed, (code, said, seconds), "run", "row 999")
    path.write_bytes(whole)


def tables(tally: Tally, every: range) -> None:
    """Tables, as `check` reads them."""
    good = [*GOOD, *(example(m) for m in ("uniaxial", "biaxial", "simple_shear", "full_tensor"))]
    for seed in every:
        Path("a.csv").write_bytes(mutated(good, seed))
        tally.add("tables", seed, fuzzed.called(("check", "a.csv")), "a.csv")


def checkpoints(tally: Tally, every: range) -> None:
    """Never anything but the last or the one before, as they were written."""
    cache = Cache(Path("kept"), "study")
    for number in (1, 2):
        cache.put("a", values=np.arange(200.0) * number)
    files = {path: path.read_bytes() for path in Path("kept").iterdir()}
    for seed in every:
        for number, (path, whole) in enumerate(files.items()):
            path.write_bytes(mutations.damaged(whole, 2 * seed + number, mutations.BINARY))
        begun, found = time.process_time(), cache.get("a")
        intact = [path.read_bytes() == whole for path, whole in files.items()]
        assert (found is not None) == any(intact), seed
        seconds = time.process_time() - begun
        tally.add("checkpoints", seed, (0 if any(intact) else 2, "none", seconds), "none")


def made(tally: Tally, name: str, every: range) -> None:
    """Inputs that are made one by one."""
    for seed in every:
        given = fuzzed.MAKERS[name](seed)
        tally.add(name, seed, fuzzed.called(given.call), *given.places)


def tried(tally: Tally, name: str, every: range) -> None:
    """One kind of input."""
    print(f"{name} …", file=sys.stderr, flush=True)
    reader = {reader.file: reader for reader in READERS}.get(name)
    if reader is not None:
        damaged(tally, reader, every)
    elif name in fuzzed.MAKERS:
        made(tally, name, every)
    else:
        {"tables": tables, "checkpoints": checkpoints}[name](tally, every)


def main() -> None:
    """Do all of it in a folder of its own."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--count", type=int, default=10_000)
    options.add_argument("--first", type=int, default=0, help="first seed")
    options.add_argument("--only", choices=SHARES, help="one kind alone")
    asked, tally = options.parse_args(), Tally()
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        understood.draw = lambda *_: None  # pictures are all alike
        changes = [f"--set={key}={value}" for key, value in CHEAP.items()]
        code, said, _ = fuzzed.called(("run", "hyperelasticity", *changes, "--out", "whole"))
        assert code == 0, said
        shutil.copytree("whole", "run")
        for name in (asked.only,) if asked.only else SHARES:
            tried(tally, name, seeds(name, asked.count, asked.first))
        os.chdir("/")
    for name, codes in tally.codes.items():
        said = ", ".join(f"exit {code}: {codes[code]}" for code in sorted(codes))
        print(f"{name:15} {sum(codes.values()):6}  {said}  (longest {tally.longest[name]:.2f} s)")
    print(f"{sum(map(sum, (c.values() for c in tally.codes.values())))} inputs", end=", ")
    print(f"{len(tally.failures)} failures")
    raise SystemExit(1 if tally.failures else 0)


if __name__ == "__main__":
    main()
