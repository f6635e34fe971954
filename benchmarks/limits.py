"""Peak memory of whole commands at the sizes that must fit: many particles, weights, rows.

`python benchmarks/limits.py` runs every case as a process of its own, one after another, and prints
the most memory it had in use, as the operating system counts it, beside the limit, and the seconds.
Should it start processes, those that were waited for are looked at too, and the largest counts.
Samplers make few steps: memory does not depend on their number. `--only NAME` takes one case.
"""

import argparse
import csv
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import NamedTuple

import numpy as np

ROWS = 1_000_000
MANY = ("infer.method=svgd", "infer.particles=20000", "infer.steps=5")
# Nothing is carved, and the price is the prior: the posterior of the paper's comparison.
NETWORK = (
    "potential.name=icnn",
    "potential.form=tied",
    "sparsify.method=l2",
    "sparsify.prune=false",
    "sparsify.clamp=0",
    "prior.deviation=penalty",
    "prior.temperature=mean",
)
SHORT = ("sparsify.restarts=1", "sparsify.steps=200", "sparsify.stride=50")


class Case(NamedTuple):
    """A command, and the gigabytes it may have in use."""

    words: str
    limit: float
    given: tuple[str, ...]
    settings: tuple[str, ...]

    def command(self, folder: Path) -> list[str]:
        """As a person would type it, with the results in a folder."""
        changed = [word for setting in self.settings for word in ("--set", setting)]
        given = [str(folder / word) if word.endswith(".csv") else word for word in self.given]
        call = [sys.executable, "-m", "steinmetz", *given, *changed]
        return [*call, "--out", str(folder / "run")]


CASES = {
    "law": Case(
        "20 000 particles of the law of the main study, bands of all laws that may hold",
        8.0,
        ("run", "hyperelasticity"),
        MANY,
    ),
    "seven": Case(
        "20 000 particles of a law of 7 parameters, carved from a network",
        8.0,
        ("run", "hyperelasticity", "--parameters", "7"),
        ("potential.name=icnn", *MANY),
    ),
    "network": Case(
        "2000 particles of a whole network of 1020 weights",
        8.0,
        ("run", "hyperelasticity"),
        (*NETWORK, *SHORT, "infer.method=svgd", "infer.particles=2000", "infer.steps=5"),
    ),
    "rows": Case(
        "a table of 10⁶ rows of a uniaxial test, read and fitted",
        4.0,
        ("fit", "many.csv", "--experiment", "uniaxial", "--relative-noise", "0.02"),
        (),
    ),
    "tensors": Case(
        "10⁶ states with six stresses each, fitted",
        4.0,
        ("run", "hyperelasticity"),
        (f"data.count={ROWS}",),
    ),
}


def table(path: Path) -> None:
    """Mooney–Rivlin in uniaxial tension and compression with 2 % noise."""
    random = np.random.default_rng(0)
    stretch = random.uniform(0.7, 3.0, ROWS)
    stress = 2 * (stretch - stretch**-2) * (0.5 + 0.2 / stretch)
    noisy = stress * (1 + 0.02 * random.standard_normal(ROWS))
    with path.open("w", newline="", encoding="utf-8") as stream:
        writer = csv.writer(stream)
        writer.writerow(["stretch", "P11"])
        writer.writerows(zip(stretch.tolist(), noisy.tolist(), strict=True))


def measured(command: list[str], folder: Path) -> str:
    """Parameters, gigabytes at most, seconds of processors and those that passed, as cells."""
    log, begin = folder / "log", time.monotonic()
    with log.open("w", encoding="utf-8") as stream:
        process = subprocess.Popen(command, cwd=folder, stdout=stream, stderr=stream)
        _, status, usage = os.wait4(process.pid, 0)
    passed, spent = time.monotonic() - begin, usage.ru_utime + usage.ru_stime
    if status:
        said = log.read_text(encoding="utf-8")[-1500:]
        raise SystemExit(f"{' '.join(command)} failed:\n{said}")
    summary = json.loads((folder / "run/summary.json").read_text(encoding="utf-8"))
    peak = f"{usage.ru_maxrss / 2**20:.2f} GB"
    return f"{summary['parameters']['active']} | {peak} | {spent:.0f} s | {passed:.0f} s"


def main() -> None:
    """Every case in turn, as a table."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--only", choices=CASES, action="append")
    print("| what | limit | parameters | peak | processors | passed |\n|" + 6 * "---|", flush=True)
    for name in options.parse_args().only or CASES:
        case = CASES[name]
        with tempfile.TemporaryDirectory() as place:
            folder = Path(place)
            if "many.csv" in case.given:
                table(folder / "many.csv")
            found = measured(case.command(folder), folder)
        print(f"| {case.words} | {case.limit:.0f} GB | {found} |", flush=True)


if __name__ == "__main__":
    main()
