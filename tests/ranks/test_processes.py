"""Two real processes: the same draws as one, and the same result after any fault."""

import json
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import xarray

from .processes import ended, started

LONG = pytest.mark.long
# Draws of a skewed target in this process, alone on one device or with others.
PROGRAM = """
import argparse, hashlib, json
import jax
from infer.targets import linear_model, sample, skewed
from steinmetz import devices, registry
from steinmetz.infer.base import as_target

options = argparse.ArgumentParser()
options.add_argument("method")
options.add_argument("settings", type=json.loads)
options.add_argument("--coordinator")
options.add_argument("--process-id", type=int)
options.add_argument("--processes", type=int)
asked = options.parse_args()
jax.config.update("jax_enable_x64", True)
with devices(1, asked.coordinator, asked.process_id, asked.processes):
    whole = linear_model(3, 8)[0] if asked.method == "psvgd" else as_target(skewed)
    draws = sample(registry.load("infer", asked.method), whole.by_rows(), 3, **asked.settings).draws
print(hashlib.sha256(draws.tobytes()).hexdigest())
"""
SMALL = {
    "infer.method": "svgd",
    "infer.particles": 20,
    "infer.steps": 10_000,
    "infer.tolerance": 0,
    "assess.path_points": 20,
    "assess.noise_draws": 20,
    "assess.test_count": 50,
    "assess.certificate_states": 100,
    "assess.across": "false",
}


@pytest.mark.parametrize(
    ("method", "settings"),
    [
        ("svgd", {"particles": 70, "steps": 40}),
        pytest.param("psvgd", {"particles": 40, "steps": 60}, marks=LONG),
        pytest.param("ssvgd", {"particles": 40, "warm_up": 20, "steps": 60}, marks=LONG),
        pytest.param("ssvn", {"particles": 40, "warm_up": 50, "steps": 200}, marks=LONG),
    ],
)
def test_draws_of_two_processes_are_those_of_one_device(
    method: str, settings: dict[str, int], tmp_path: Path
) -> None:
    program = [sys.executable, "-c", PROGRAM, method, json.dumps(settings)]
    done = ended([*started(program, 2, tmp_path), *started(program, None, tmp_path)])
    for code, _, said in done:
        assert code == 0, said
    assert len({output for _, output, _ in done}) == 1
    assert len(done[0][1].strip()) == 64  # and nothing else was printed


def command(target: str) -> list[str]:
    changes = [f"--set={key}={value}" for key, value in SMALL.items()]
    return [sys.executable, "-m", "steinmetz", "run", "hyperelasticity", *changes, "--out", target]


def draws(folder: Path) -> bytes:
    with xarray.open_datatree(folder / "posterior.nc", engine="h5netcdf") as tree:
        values = [np.asarray(v.values).tobytes() for v in tree["posterior"].data_vars.values()]
    return b"".join(values)


def struck(folder: Path, victim: int, how: signal.Signals) -> list[tuple[int, str]]:
    """Exit codes and last words, if a process gets a signal while particles move."""
    processes = started(command("run"), 2, folder)
    stream = processes[victim].stderr
    assert stream is not None
    assert any("sampling" in line for line in stream)
    processes[victim].send_signal(how)
    return [(code, said) for code, _, said in ended(processes)]


@pytest.mark.long
def test_faults_of_either_process_and_the_same_commands_again(tmp_path: Path) -> None:
    """SIGTERM and SIGKILL of each in turn, then both commands to the end: as one device does it."""
    codes = {signal.SIGTERM: (143, 143), signal.SIGKILL: (-signal.SIGKILL, 1)}
    for how, (struck_code, other_code) in codes.items():
        for victim in (0, 1):
            found = struck(tmp_path, victim, how)
            assert [found[victim][0], found[1 - victim][0]] == [struck_code, other_code], found
            assert all("Traceback" not in said for _, said in found)
            named = f"process {victim} was lost" in found[1 - victim][1]
            assert named == (how == signal.SIGKILL)
            assert not (tmp_path / "run").exists()
    assert list((tmp_path / ".run.partial").glob("*-infer-*.npz"))
    done = ended(started([*command("run"), "--resume"], 2, tmp_path))
    assert [code for code, *_ in done] == [0, 0], done
    assert "done; process 0 has the results" in done[1][1]
    assert "[Gloo]" not in done[0][1]
    whole = subprocess.run([*command("whole"), "--devices", "1"], cwd=tmp_path, capture_output=True)
    assert whole.returncode == 0
    assert draws(tmp_path / "run") == draws(tmp_path / "whole")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["run", "whole"]


def test_another_seed_is_refused_by_both(tmp_path: Path) -> None:
    found = ended(started(command("run"), 2, tmp_path, ["--seed", "3"]))
    assert [code for code, *_ in found] == [2, 2]
    for _, _, said in found:
        assert "process 1 (process 0) was started with seed = 3 (0)" in said
    assert list(tmp_path.iterdir()) == []
