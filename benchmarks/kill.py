"""Kill a small run at random moments, give the same command again, and compare every bit.

`python benchmarks/kill.py --times 100` kills 100 times with SIGKILL: every run is killed up to
three times, ends by itself, is compared, and then the next begins. Every result must hold what an
uninterrupted run holds: all arrays of `posterior.nc` and `predictions.nc`, all text of `law.json`,
`carving.json` and `study.toml`, and `summary.json` but for its seconds; and nothing may be left
beside it.
"""

import argparse
import json
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

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


def command(target: str) -> list[str]:
    """What is typed."""
    changes = [f"--set={key}={value}" for key, value in SMALL.items()]
    return [sys.executable, "-m", "steinmetz", "run", "hyperelasticity", *changes, "--out", target]


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


def until_killed(folder: Path, wait: float) -> tuple[int, str]:
    """Give the command, and kill it after a while: its exit code and what it said."""
    with subprocess.Popen(
        command("run"), cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True
    ) as process:
        try:
            said = process.communicate(timeout=wait)[1]
        except subprocess.TimeoutExpired:
            process.send_signal(signal.SIGKILL)
            said = process.communicate()[1]
        return process.returncode, said


def main() -> None:
    """Kill so many times, or until the minutes are over."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--times", type=int, default=100)
    options.add_argument("--minutes", type=float, default=60)
    asked, chance = options.parse_args(), random.Random(0)
    begun, killed, resumed, ended = time.monotonic(), 0, 0, 0
    with tempfile.TemporaryDirectory() as name:
        here = Path(name)
        subprocess.run(command("whole"), cwd=here, check=True, capture_output=True)
        started = time.monotonic()
        subprocess.run([*command("whole")], cwd=here, check=True, capture_output=True)
        longest, wanted, left = time.monotonic() - started, content(here / "whole"), EACH
        while left < EACH or (
            killed < asked.times and time.monotonic() - begun < 60 * asked.minutes
        ):
            wait = chance.uniform(0.2, 1.0) * longest if left else 3600.0
            code, said = until_killed(here, wait)
            assert "Traceback" not in said, said
            resumed += "going on from" in said
            killed += code == -signal.SIGKILL
            if code == -signal.SIGKILL:
                left -= 1
                continue
            assert code == 0, said
            ended, left = ended + 1, EACH
            found = content(here / "run")
            wrong = [key for key in wanted | found if wanted.get(key) != found.get(key)]
            assert not wrong, wrong
            names = sorted(path.name for path in here.iterdir())
            assert names == ["run", "whole"], names
            shutil.rmtree(here / "run")
            print(f"{killed} kills, {resumed} resumed, {ended} results equal", flush=True)
    print(f"killed {killed} times, resumed {resumed} times; {ended} results, all bit-identical")


if __name__ == "__main__":
    main()
