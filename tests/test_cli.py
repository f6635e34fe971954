"""The command line: what people type, and what they read when it is wrong."""

import os
import signal
import subprocess
import sys
import time

import pytest

from engine.test_run import QUICK

STATE = "F11,F12,F13,F21,F22,F23,F31,F32,F33"


def call(*arguments, cwd=None):
    command = [sys.executable, "-m", "steinmetz", *arguments]
    return subprocess.run(command, capture_output=True, text=True, cwd=cwd, timeout=300)


def test_help_is_quick_and_does_not_import_jax():
    code = (
        "import sys\nsys.argv = ['steinmetz', '--help']\nfrom steinmetz.cli import app\n"
        "try:\n    app()\nexcept SystemExit:\n    pass\nassert 'jax' not in sys.modules, 'jax was imported'\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert "run" in done.stdout


@pytest.mark.parametrize("command", ["run", "fit", "list"])
def test_every_command_shows_examples(command):
    done = call(command, "--help")
    assert done.returncode == 0
    assert f"steinmetz {command}" in done.stdout
    assert "Example" in done.stdout


def test_list_names_everything():
    done = call("list")
    assert done.returncode == 0
    for name in ("hyperelasticity", "gent", "neo_hooke", "mooney_rivlin", "icnn", "svgd"):
        assert name in done.stdout


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["run", "hyperelastic"], "did you mean 'hyperelasticity'?"),
        (["run", "none.toml"], "no such file"),
        (["run", "hyperelasticity", "--set", "noise.relative=-0.1"], "greater than or equal to 0"),
        (["run", "hyperelasticity", "--set", "data.count=0"], "greater than or equal to 1"),
        (["run", "hyperelasticity", "--set", "infer.partcles=5"], "did you mean 'infer.particles'?"),
        (["run", "hyperelasticity", "--set", "particles"], "write key=value"),
        (["run", "hyperelasticity", "--out", "/dev/null/run"], "cannot write there"),
        (["fit", "none.csv"], "no such file"),
        (["fit", "bad.csv"], "line 2, column 'S11': 'x' is not a number"),
        (["fit", "good.csv", "--relative-noise", "-1"], "greater than or equal to 0"),
        (["fit", "short.csv"], "column 'F12' is missing"),
        (["fit", "nan.csv"], "line 2, column 'F11': empty"),
        (["run", "hyperelasticity", "--set", "data.law=gnet"], "did you mean 'gent'?"),
        (["frobnicate"], "frobnicate"),
        (["run", "hyperelasticity", "--seed", "one"], "Invalid value for '--seed'"),
    ],
)
def test_wrong_input_is_one_sentence_and_exit_2(tmp_path, arguments, message):
    (tmp_path / "bad.csv").write_text(f"{STATE},S11\n1.1,0,0,0,1,0,0,0,1,x\n")
    (tmp_path / "good.csv").write_text(f"{STATE},S11\n1.1,0,0,0,1,0,0,0,1,0.3\n")
    (tmp_path / "short.csv").write_text("F11,S11\n1.1,0.3\n")
    (tmp_path / "nan.csv").write_text(f"{STATE},S11\nnan,0,0,0,1,0,0,0,1,0.3\n")
    before = sorted(os.listdir(tmp_path))
    done = call(*arguments, cwd=tmp_path)
    assert done.returncode == 2, done.stderr
    assert message in done.stderr
    assert "Traceback" not in done.stderr
    assert done.stdout == ""
    assert sorted(os.listdir(tmp_path)) == before


def test_quick_run_prints_law_scores_and_paths(tmp_path):
    changes = [f"--set={key}={value}" for key, value in QUICK.items()]
    done = call("run", "hyperelasticity", "--seed", "4", *changes, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    for word in ("Ψ = ", "R²", "coverage", "admissible", "seconds", "runs/hyperelasticity-seed4/report.html"):
        assert word in done.stdout
    assert "training gates: 400/400" in done.stderr
    assert (tmp_path / "runs" / "hyperelasticity-seed4" / "figures" / "path.png").is_file()


def test_interrupt_leaves_nothing_half_written(tmp_path):
    command = [sys.executable, "-m", "steinmetz", "run", "hyperelasticity", "--out", "run"]
    with subprocess.Popen(command, cwd=tmp_path, stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr is not None
        for line in process.stderr:
            if "training gates" in line:
                break
        process.send_signal(signal.SIGINT)
        started = time.monotonic()
        rest = process.stderr.read()
        assert process.wait(timeout=60) == 130
    assert time.monotonic() - started < 60
    assert "interrupted; nothing was written" in rest
    assert "Traceback" not in rest
    assert os.listdir(tmp_path) == []
