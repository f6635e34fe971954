"""Throughput of campaigns with one and two workers on each engine, and every bit of their results.

`python benchmarks/campaigns.py` does 64 small runs five times: by processes and by Dask, with one
worker and with two, and by Dask with two of which one is killed half-way. Each time begins with
nothing: no result and no compiled program is there. All results must hold what those of one process
hold. How much more two workers do depends on the machine as well: the first line says how much more
two processes do that share nothing and compute nothing but whole numbers.
"""

import argparse
import os
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import NamedTuple

from kill import content

GRID = """
study = "hyperelasticity"
seeds = {seeds}
[settings]
"data.count" = 12
"infer.method" = "svgd"
"infer.particles" = 20
"infer.steps" = 100
"assess.path_points" = 50
"assess.noise_draws" = 50
"assess.test_count" = 100
"assess.certificate_states" = 500
"assess.across" = false
"""
SPIN = "x = 0\nfor i in range(40_000_000): x = (x * 31 + i) & 0xffff"
# Seconds between two looks at what is done.
PAUSE = 0.5


class Took(NamedTuple):
    """Seconds that passed, and seconds of processors."""

    passed: float
    spent: float


def clock() -> Took:
    """Now, with what all processes have spent that were waited for."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return Took(time.monotonic(), used.ru_utime + used.ru_stime)


def since(begun: Took) -> Took:
    """What passed and was spent."""
    now = clock()
    return Took(now.passed - begun.passed, now.spent - begun.spent)


def of_machine() -> float:
    """How much more two processes do at once than one, that have nothing to do with each other."""
    rates = []
    for count in (1, 2):
        begun = clock()
        processes = [subprocess.Popen([sys.executable, "-c", SPIN]) for _ in range(count)]
        for process in processes:
            process.wait()
        rates.append(count / since(begun).passed)
    return rates[1] / rates[0]


def worker(root: int) -> int:
    """The process below another one that has computed longest."""
    spent = {}
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            text = stat.read_text(encoding="utf-8").rpartition(")")[2].split()
        except OSError:  # it has ended meanwhile
            continue
        spent[int(stat.parent.name)] = int(text[1]), int(text[11])
    family, grown = {root}, True
    while grown:
        more = {pid for pid, (parent, _) in spent.items() if parent in family} - family
        family, grown = family | more, bool(more)
    return max(family - {root}, key=lambda pid: spent[pid][1])


def campaign(grid: Path, out: Path, words: list[str], killed_after: int | None) -> Took:
    """One campaign as it is typed, with compiled programs of its own; a worker may be killed."""
    command = [sys.executable, "-m", "steinmetz", "campaign", str(grid), "--out", str(out), *words]
    programs = out.with_name(f"{out.name}-programs")
    environment = {**os.environ, "JAX_COMPILATION_CACHE_DIR": str(programs)}
    begun = clock()
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    with subprocess.Popen(command, env=environment, **quiet) as process:
        while killed_after is not None and process.poll() is None:
            if len(list(out.glob("runs/*/DONE"))) >= killed_after:
                os.kill(worker(process.pid), signal.SIGKILL)
                break
            time.sleep(PAUSE)
    if process.returncode:
        raise SystemExit(f"{' '.join(command)} ended with {process.returncode}")
    shutil.rmtree(programs)
    return since(begun)


def differing(one: Path, other: Path) -> list[str]:
    """Runs whose results differ in any bit."""
    names = sorted(path.name for path in (one / "runs").iterdir() if (path / "DONE").is_file())
    return [
        name for name in names if content(one / "runs" / name) != content(other / "runs" / name)
    ]


def main() -> None:
    """Five campaigns of the same runs."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--runs", type=int, default=64)
    options.add_argument("--engine", choices=["local", "dask"], help="this one alone")
    asked = options.parse_args()
    print(f"the machine itself: two processes do {of_machine():.2f} times as much as one")
    print(f"{'':<22}{'seconds':>9}{'of processors, a run':>22}{'against one':>13}{'differ':>8}")
    with tempfile.TemporaryDirectory() as folder:
        grid = Path(folder) / "grid.toml"
        grid.write_text(GRID.format(seeds=list(range(asked.runs))), encoding="utf-8")
        variants = [("local", 1, None), ("local", 2, None), ("dask", 1, None), ("dask", 2, None)]
        variants.append(("dask", 2, asked.runs // 2))
        alone: dict[str, float] = {}
        first: Path | None = None
        for engine, workers, killed in variants:
            if asked.engine not in (None, engine):
                continue
            name = f"{engine}, {workers}" + ("" if killed is None else ", one killed")
            out = Path(folder) / name.replace(", ", "-").replace(" ", "-")
            words = ["--engine", engine, "--workers", str(workers)]
            took = campaign(grid, out, words, killed)
            first, usual = first or out, alone.setdefault(engine, took.passed)
            ratio = f"{usual / took.passed:.2f}" if workers > 1 else ""
            wrong = len(differing(first, out))
            print(
                f"{name:<22}{took.passed:>9.0f}{took.spent / asked.runs:>22.2f}{ratio:>13}"
                f"{wrong:>4} of {asked.runs}",
                flush=True,
            )


if __name__ == "__main__":
    main()
