"""The command line: what people type, and what they read when it is wrong."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from cases import QUICK, STATE
from steinmetz.cli import main


def call(*arguments: str, cwd: Path | None = None) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "steinmetz", *arguments]
    return subprocess.run(command, capture_output=True, text=True, cwd=cwd, timeout=300)


def test_help_is_quick_and_does_not_import_jax() -> None:
    code = (
        "import sys\nsys.argv = ['steinmetz', '--help']\nfrom steinmetz.cli import app\n"
        "try:\n    app()\nexcept SystemExit:\n    pass\n"
        "assert 'jax' not in sys.modules, 'jax was imported'\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert "run" in done.stdout


@pytest.mark.parametrize(
    "command",
    [
        *("run", "fit", "list", "select", "export", "lcurve", "reproduce", "calibrate"),
        *("diagnose", "next", "check", "template", "predict", "report", "compare", "fe"),
        *("campaign", "status"),
    ],
)
def test_every_command_shows_examples(command: str) -> None:
    done = call(command, "--help")
    assert done.returncode == 0
    assert f"steinmetz {command}" in done.stdout
    assert "Example" in done.stdout


def test_version() -> None:
    assert call("--version").stdout.startswith("steinmetz 0.")


def test_list_names_everything() -> None:
    done = call("list")
    assert done.returncode == 0
    for name in (
        "hyperelasticity",
        "gent",
        "neo_hooke",
        "mooney_rivlin",
        "icnn",
        "svgd",
        "mechanochemistry",
        "mixed",
        "l1",
        "ogden",
        "hyper-comparison",
        "l1flow",
        "uniaxial",
        "isotropic",
        "latex",
        "crps",
    ):
        assert name in done.stdout


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["run", "hyperelastic"], "did you mean 'hyperelasticity'?"),
        (["run", "none.toml"], "no such file"),
        (["run", "hyperelasticity", "--set", "noise.relative=-0.1"], "greater than or equal to 0"),
        (["run", "hyperelasticity", "--set", "data.count=0"], "greater than or equal to 1"),
        (
            ["run", "hyperelasticity", "--set", "infer.partcles=5"],
            "did you mean 'infer.particles'?",
        ),
        (
            ["run", "hyperelasticity", "--set", "infer.method=nut"],
            "there is no sampler 'nut' (did you mean 'nuts'?)",
        ),
        (
            ["run", "hyperelasticity", "--set", "infer.method=ssvn", "--set", "infer.warm_up=3"],
            "at least 20 steps",
        ),
        (
            ["run", "hyperelasticity", "--set", "infer.method=nuts", "--set", "infer.batch=3"],
            "no setting 'infer.batch'",
        ),
        (["run", "hyperelasticity", "--set", "prior.temperature=0"], "prior.temperature"),
        (["run", "hyperelasticity", "--resume"], "leave --resume out"),
        (["diagnose", "nowhere"], "summary.json is missing"),
        (["run", "hyperelasticity", "--set", "particles"], "write key=value"),
        (["run", "hyperelasticity", "--out", "/dev/null/run"], "cannot write there"),
        (["fit", "none.csv"], "no such file"),
        (["fit", "bad.csv"], "line 2, column 'S11': 'x' is not a number"),
        (["fit", "good.csv", "--relative-noise", "-1"], "greater than or equal to 0"),
        (["fit", "short.csv"], "column 'F12' is missing"),
        (["fit", "nan.csv"], "line 2, column 'F11': empty"),
        (["run", "hyperelasticity", "--set", "data.law=gnet"], "did you mean 'gent'?"),
        (["run", "hyperelasticity", "--parameters", "0"], "Invalid value for '--parameters'"),
        (["run", "hyperelasticity", "--set", "sparsify.preset=papr"], "did you mean 'paper'?"),
        (["run", "hyperelasticity", "--set", "potential.name=mlp"], "cannot keep Ψ convex"),
        (["run", "hyperelasticity", "--set", "sparsify.steps=5"], "set potential.name = 'icnn'"),
        (["run", "hyperelasticity", "--set", "potential.form=tied"], "potential.name = 'icnn'"),
        (["fit", "good.csv", "--set", "sparsify.method=l1"], "set potential.name = 'icnn'"),
        (["select", "runs/none", "--row", "3"], "no finished run there"),
        (["lcurve", "hyperelasticity", "--methods", "l0,l3"], "there is no penalty 'l3'"),
        (["lcurve", "hyperelasticity", "--noise", "0,much"], "write numbers with commas"),
        (["run", "mechanochemistry", "--set", "data.parameters.s_e=0"], "divides by zero"),
        (["fit", "blind.csv"], "do not depend on the potential"),
        (["reproduce", "hyper-fit"], "did you mean 'hyper-fits'?"),
        (["reproduce", "--scale", "huge"], "possible: quick, full"),
        (["reproduce", "l1-flow", "--out", "full"], "the folder holds other files"),
        (["calibrate", "--law", "gnet"], "did you mean 'gent'?"),
        (["calibrate", "--law", "rudraraju"], "name another law or material"),
        (["calibrate", "--noise", "0.1,much"], "write numbers with commas"),
        (["calibrate", "--seeds", "0"], "Invalid value for '--seeds'"),
        (["calibrate", "--from", "runs/none"], "no finished run there"),
        (["calibrate", "--from", "runs/none", "--law", "gent"], "leave --law, --noise and --set"),
        (["calibrate", "--set", "potential.name=icnn"], "use potential.name = 'terms'"),
        (["calibrate", "--law", "gent", "--out", "full"], "the folder holds other files"),
        (
            ["run", "hyperelasticity", "--set", "prior.deviation=penalty"],
            "such as sparsify.method = 'l2'",
        ),
        (
            [
                "run",
                "hyperelasticity",
                "--set",
                "infer.method=l1flow",
                "--set",
                "infer.whiten=true",
            ],
            "coordinates of the density itself",
        ),
        (
            ["run", "hyperelasticity", "--set", "infer.method=l1flow"],
            "steinmetz.network_likelihood(study)",
        ),
        (["run", "hyperelasticity", "--set", "data.experiment=uniaxial"], "incompressible = true"),
        (["run", "rubber_tests", "--set", "material.incompressible=false"], "incompressible test"),
        (["check", "bad.csv"], "line 2, column 'S11': 'x' is not a number"),
        (["check", "good.csv", "--unit", "ell"], "'ell' is not a unit of stress"),
        (["check", "good.csv", "--out", "none/a.png"], "there is no folder"),
        (["template", "uniaxal"], "did you mean 'uniaxial'?"),
        (["fit", "good.csv", "--experiment", "pull"], "there is no experiment 'pull'"),
        (["fit", "good.csv", "--experiment", "uniaxial"], "column 'stretch' is missing"),
        (["export", "runs/none"], "no such file"),
        (["predict", "runs/none", "good.csv"], "no finished run there"),
        (["report", "runs/none"], "no finished run there"),
        (["compare", "runs/none", "runs/other"], "no finished run there"),
        (["compare", "runs/none", "runs/other", "--out", "full"], "a folder of that name"),
        (["compare", "runs/none", "runs/other", "--picture", "a.pdf"], "written as .png"),
        (["export", "runs/none", "--to", "cobol"], "there is no exporter 'cobol'"),
        (["frobnicate"], "frobnicate"),
        (["run", "hyperelasticity", "--seed", "one"], "Invalid value for '--seed'"),
    ],
)
def test_wrong_input_is_one_sentence_and_exit_2(
    tmp_path: Path,
    tmp_path_factory: pytest.TempPathFactory,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    arguments: list[str],
    message: str,
) -> None:
    (tmp_path / "bad.csv").write_text(f"{STATE},S11\n1.1,0,0,0,1,0,0,0,1,x\n")
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "mine.txt").write_text("mine")
    (tmp_path / "good.csv").write_text(f"{STATE},S11\n1.1,0,0,0,1,0,0,0,1,0.3\n")
    (tmp_path / "blind.csv").write_text(f"{STATE},S12\n1.1,0,0,0,1,0,0,0,1,0.01\n")
    (tmp_path / "short.csv").write_text("F11,S11\n1.1,0.3\n")
    (tmp_path / "nan.csv").write_text(f"{STATE},S11\nnan,0,0,0,1,0,0,0,1,0.3\n")
    before = sorted(os.listdir(tmp_path))
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "argv", ["steinmetz", *arguments])
    with (tmp_path_factory.mktemp("said") / "stderr").open("w+", encoding="utf-8") as stream:
        monkeypatch.setattr(sys, "stderr", stream)
        with pytest.raises(SystemExit) as left:
            main()
        stream.seek(0)
        said = stream.read()
    assert left.value.code == 2, said
    assert message in said
    assert said.count("\n") == 1
    assert capsys.readouterr().out == ""
    assert sorted(os.listdir(tmp_path)) == before


def test_wrong_input_in_a_process_of_its_own(tmp_path: Path) -> None:
    done = call("run", "hyperelastic", cwd=tmp_path)
    assert done.returncode == 2
    assert "did you mean 'hyperelasticity'?" in done.stderr
    assert "Traceback" not in done.stderr
    assert done.stdout == ""
    assert os.listdir(tmp_path) == []


def interrupted(
    command: list[str],
    cwd: Path,
    ready: Callable[[str], bool],
    how: signal.Signals = signal.SIGINT,
    code: int = 130,
) -> str:
    """Send a signal as soon as `ready(line)` for a line of standard error.

    Returns the rest of it.
    """
    before = signal.signal(
        signal.SIGINT, signal.default_int_handler
    )  # in the background, children would ignore Ctrl-C
    with subprocess.Popen(command, cwd=cwd, stderr=subprocess.PIPE, text=True) as process:
        signal.signal(signal.SIGINT, before)
        assert process.stderr is not None
        for line in process.stderr:
            if ready(line):
                break
        process.send_signal(how)
        started = time.monotonic()
        rest = process.stderr.read()
        assert process.wait(timeout=60) == code
    assert time.monotonic() - started < 60
    assert "Traceback" not in rest
    return rest


def test_early_interrupt_leaves_nothing(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "steinmetz", "run", "hyperelasticity", "--out", "run"]
    rest = interrupted(command, tmp_path, lambda line: "composing: 0/" in line)
    assert "interrupted; nothing was written" in rest
    assert os.listdir(tmp_path) == []


def test_interrupts_keep_what_is_finished_and_the_run_goes_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Ctrl-C while trimming, SIGTERM while sampling.

    What is done is not done again, and the end is that of one run.
    """
    changes = [
        f"--set={key}={value}"
        for key, value in {**QUICK, "infer.method": "auto", "infer.steps": 3000}.items()
    ]
    command = [sys.executable, "-m", "steinmetz", "run", "hyperelasticity", *changes, "--out"]
    rest = interrupted(
        [*command, "run"], tmp_path, lambda line: "trimming" in line or "sampling" in line
    )
    assert "the same command goes on from there" in rest
    assert os.listdir(tmp_path) == [".run.partial"]
    rest = interrupted(
        [*command, "run"], tmp_path, lambda line: "sampling" in line, signal.SIGTERM, 143
    )
    assert "the same command goes on from there" in rest
    assert list((tmp_path / ".run.partial").glob("*-infer-*.npz"))
    for target, more in (("run", ["--resume"]), ("whole", [])):
        done = subprocess.run(
            [*command, target, *more], cwd=tmp_path, capture_output=True, text=True, timeout=300
        )
        assert done.returncode == 0, done.stderr
        assert ("going on from" in done.stderr) == (target == "run")
        for word in ("Ψ = ", "R²", "coverage", "admissible", "seconds", f"{target}/report.html"):
            assert word in done.stdout
    assert "training: 12/12" in done.stderr
    assert sorted(os.listdir(tmp_path)) == ["run", "whole"]
    found = [
        json.loads((tmp_path / target / "summary.json").read_text()) for target in ("run", "whole")
    ]
    assert [summary.pop("resumed") for summary in found] == [True, False]
    for summary in found:
        del summary["seconds"]
    assert found[0] == found[1]  # to the last bit, in four processes
    monkeypatch.setattr(sys, "argv", ["steinmetz", "diagnose", str(tmp_path / "run")])
    with pytest.raises(SystemExit) as left:
        main()
    assert left.value.code in (0, 1)
    told = capsys.readouterr().out
    assert "pass  finite particles" in told
    assert "R-hat" in told
    (tmp_path / "run" / "summary.json").write_text("{")
    with pytest.raises(SystemExit):
        main()
    assert "is not a JSON file" in capsys.readouterr().err
