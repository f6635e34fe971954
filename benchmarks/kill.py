"""Kill a small run at random moments, give the same command again, and compare every bit.

`python benchmarks/kill.py --times 100` kills 100 times with SIGKILL: every run is killed up to
three times, ends by itself, is compared, and then the next begins. Every result must hold what an
uninterrupted run holds: all arrays of `posterior.nc` and `predictions.nc`, all text of `law.json`,
`carving.json` and `study.toml`, and `summary.json` but for its seconds; and nothing may be left
beside it. With `--pairs` every run is shared by two processes, a random one of which is killed: the
other must name it, and both commands are given again.
"""

import argparse
import json
import random
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import NamedTuple

import numpy as np
import xarray

SMALL = {
    "potential.name": "icnn",
    "potential.widths": [6, 6],
    "sparsify.restarts": 2,
    "sparsify.steps": 600,
    "sparsify.stride": 100,
    "sparsify.penalties": 2,
    "sparsify.max_parameters": 24,
    "sparsify.beam": 2,
    "sparsify.candidates": 2,
    "infer.method": "svgd",
    "infer.particles": 20,
    "infer.steps": 2000,
    "assess.path_points": 50,
    "assess.noise_draws": 50,
    "assess.test_count": 100,
    "assess.certificate_states": 500,
    "assess.across": "false",
}
# Kills of one run at most.
EACH = 3
TEXTS = ("law.json", "carving.json", "study.toml")


# Seconds after which a process that was not killed is waited for no longer.
FOREVER = 3600.0


def command(target: str, *more: str) -> list[str]:
    """What is typed."""
    changes = [f"--set={key}={value}" for key, value in SMALL.items()]
    words = ["run", "hyperelasticity", *changes, *more, "--out", target]
    return [sys.executable, "-m", "steinmetz", *words]


def content(folder: Path) -> dict[str, object]:
    """Everything that a run found, but for the time it took."""
    found: dict[str, object] = {name: (folder / name).read_text() for name in TEXTS}
    summary = json.loads((folder / "summary.json").read_text())
    found["summary"] = {k: v for k, v in summary.items() if k not in ("seconds", "resumed")}
    for name in ("posterior.nc", "predictions.nc"):
        with xarray.open_datatree(folder / name, engine="h5netcdf") as tree:
            for group, node in tree.subtree_with_keys:
                for key, array in node.to_dataset().variables.items():
                    values = np.asarray(array.values)
                    text = values.dtype.kind in "OUT"
                    found[f"{name}/{group}/{key}"] = (
                        values.tolist() if text else (values.shape, values.tobytes())
                    )
    return found


class Attempt(NamedTuple):
    """Exit codes of all processes, what they said, and which one was killed."""

    codes: list[int]
    said: list[str]
    victim: int | None

    @property
    def finished(self) -> bool:
        """Whether the process that writes came to its end."""
        return self.codes[0] == 0

    def check(self) -> None:
        """Who was not killed ends well, or names the process that was, and nothing worse."""
        assert all("Traceback" not in said for said in self.said), self.said
        for process, (code, said) in enumerate(zip(self.codes, self.said, strict=True)):
            if process == self.victim or code == 0:
                continue
            named = code == 1 and f"process {self.victim} was lost" in said
            never = "start process 0 there", f"process {self.victim} did not come"
            awaited = code == 2 and never[self.victim or 0] in said  # killed before it came
            assert named or awaited or self.in_jax(process), (self.codes, self.said)

    def in_jax(self, process: int) -> bool:
        """Whether JAX ended a process because the first one was killed while both connected."""
        return self.victim == 0 and self.codes[process] == -signal.SIGABRT


def attempt(folder: Path, commands: list[list[str]], wait: float, victim: int) -> Attempt:
    """Give the commands, and kill one of them after a while unless it has ended by then."""
    processes = [
        subprocess.Popen(
            words, cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True
        )
        for words in commands
    ]
    end = time.monotonic() + wait
    while time.monotonic() < end and any(process.poll() is None for process in processes):
        time.sleep(0.01)
    alive = processes[victim].poll() is None
    if alive:
        processes[victim].send_signal(signal.SIGKILL)
    said = [process.communicate(timeout=FOREVER)[1] for process in processes]
    return Attempt([p.returncode for p in processes], said, victim if alive else None)


def commands(pairs: bool) -> list[list[str]]:
    """One command, or those of two processes that share in one run."""
    if not pairs:
        return [command("run")]
    with socket.create_server(("127.0.0.1", 0)) as door:
        shared = [f"--coordinator=127.0.0.1:{door.getsockname()[1]}", "--processes=2"]
    return [command("run", *shared, f"--process-id={process}") for process in range(2)]


def main() -> None:
    """Kill so many times, or until the minutes are over."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--times", type=int, default=100)
    options.add_argument("--minutes", type=float, default=60)
    options.add_argument("--pairs", action="store_true", help="kill one of two processes of a run")
    options.add_argument("--seed", type=int, default=0, help="of the moments and the victims")
    asked = options.parse_args()
    chance, begun = random.Random(asked.seed), time.monotonic()
    killed, resumed, ended, in_jax = [0, 0], 0, 0, 0
    with tempfile.TemporaryDirectory() as name:
        here = Path(name)
        # on one device rows are cut as on several: the same bits
        whole = command("whole", *(["--devices=1"] if asked.pairs else []))
        for _ in range(2):  # the second time, programs are compiled already
            started = time.monotonic()
            subprocess.run(whole, cwd=here, check=True, capture_output=True)
        longest, wanted, left = time.monotonic() - started, content(here / "whole"), EACH
        while left < EACH or (
            sum(killed) < asked.times and time.monotonic() - begun < 60 * asked.minutes
        ):
            wait = chance.uniform(0.2, 1.0) * longest if left else FOREVER
            found = attempt(here, commands(asked.pairs), wait, chance.randrange(1 + asked.pairs))
            found.check()
            resumed += "going on from" in found.said[0]
            if found.victim is not None:
                killed[found.victim] += 1
                in_jax += any(found.in_jax(process) for process in range(len(found.codes)))
            if not found.finished:
                left -= 1
                continue
            ended, left = ended + 1, EACH
            compare(here, wanted)
            print(f"{sum(killed)} kills, {resumed} resumed, {ended} results equal", flush=True)
    print(
        f"killed {sum(killed)} times, resumed {resumed} times; {ended} results, all bit-identical"
    )
    if asked.pairs:
        print(f"killed process 0 {killed[0]} times, process 1 {killed[1]} times; {in_jax} in JAX")


def compare(folder: Path, wanted: dict[str, object]) -> None:
    """Every result holds what an uninterrupted run holds, and nothing is left beside it."""
    found = content(folder / "run")
    wrong = [key for key in wanted | found if wanted.get(key) != found.get(key)]
    assert not wrong, wrong
    names = sorted(path.name for path in folder.iterdir())
    assert names == ["run", "whole"], names
    shutil.rmtree(folder / "run")


if __name__ == "__main__":
    main()
