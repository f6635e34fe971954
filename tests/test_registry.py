"""Plug-ins: found by their file, used everywhere, with no other edit."""

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from cases import QUICK
from steinmetz import InputError, registry
from steinmetz.cli import main

FILES = {
    "materials/rubber_band.py": '''"""A band with one invariant: Ψ(I1), incompressible."""
import dataclasses
from typing import Literal

from steinmetz.materials import base, isotropic
from steinmetz.records import Conditions, Reference


class Config(base.Settings):
    name: Literal["rubber_band"] = "rubber_band"


def build(config):
    rubber = isotropic.build(isotropic.Config(incompressible=True))
    return dataclasses.replace(
        rubber, name="rubber_band", inputs=("I1",), sizes=(1.0,), reference=Reference((3.0,)),
        conditions=Conditions(True, ("I1",), True), experiment="half_pull",
    )
''',
    "experiments/half_pull.py": '''"""Uniaxial tension of a band that is never compressed."""
from typing import Literal

from steinmetz.experiments import uniaxial
from steinmetz.experiments.incompressible import Curve, curve


class Config(Curve):
    name: Literal["half_pull"] = "half_pull"
    stretch: tuple[float, float] = (1.0, 2.0)


def build(config):
    return curve(uniaxial.Uniaxial, config, ("P11",), free="22")
''',
    "laws/spring.py": '''"""A spring: Ψ = k (I1 − 3)."""
INPUTS = ("I1",)
PARAMETERS = {"k": 0.7}


def energy(inputs, parameters):
    return parameters["k"] * (inputs[0] - 3)
''',
    "potentials/tiny.py": '''"""One convex layer."""
from typing import Literal

from steinmetz.potentials import base, icnn

TRAINING = {}


class Config(base.Settings):
    name: Literal["tiny"] = "tiny"


def build(config, inputs, conditions):
    return icnn.build(icnn.Config(widths=(3,)), inputs, conditions)
''',
    "sparsify/half.py": '''"""Lp with p = ½."""
from typing import Literal

from steinmetz.sparsify import lp

RANGE, PRESETS, build = lp.RANGE, {}, lp.build


class Config(lp.Config):
    method: Literal["half"] = "half"
''',
    "infer/walk.py": '''"""A random walk with a Metropolis test."""
from typing import ClassVar, Literal, NamedTuple

import jax
import jax.numpy as jnp

from steinmetz.infer import base


class Config(base.Settings):
    method: Literal["walk"] = "walk"
    capabilities: ClassVar[base.Capabilities] = base.Capabilities(snapshots=True)

    @property
    def width(self):
        return 20

    @property
    def schedule(self):
        return base.Schedule(steps=400, burn=100, thin=10)


class State(NamedTuple):
    particles: jax.Array
    alive: jax.Array
    value: jax.Array


def build(log_density, config):
    target = base.as_target(log_density)

    def init(key, position):
        particles, alive = base.admitted(position)
        return State(particles, alive, jax.vmap(target.log_density)(particles))

    def step(key, state):
        first, second = jax.random.split(key)
        y = state.particles + 0.8 * jax.random.normal(first, state.particles.shape)
        value = jax.vmap(target.log_density)(y)
        taken = jnp.log(jax.random.uniform(second, value.shape)) < value - state.value
        moved = State(
            jnp.where(taken[:, None], y, state.particles), state.alive,
            jnp.where(taken, value, state.value),
        )
        return moved, base.Info(jnp.zeros(()), jnp.sum(~state.alive), {})

    return base.Sampler(init, step)
''',
    "scores/worst.py": '''"""The largest error of the law on the validation path."""
import numpy as np


def score(judged):
    known = judged.values if judged.clean is None else judged.clean
    return float(np.max(np.abs(judged.law - known)[judged.observed]))
''',
    "exporters/shout.py": '''"""The law in capital letters."""
from steinmetz.exporters import text

SUFFIX = ".txt"


def export(law, about=None):
    return text.export(law).upper()
''',
    "studies/band.toml": """title = "A rubber band"
[material]
name = "rubber_band"
[data]
law = "spring"
count = 30
[noise]
relative = 0.02
[potential]
name = "tiny"
[sparsify]
method = "half"
[infer]
method = "walk"
""",
}  # fmt: skip


@pytest.fixture
def plugins(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with one file of every kind."""
    folder = tmp_path / "mine"
    for name, text in FILES.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    monkeypatch.setenv(registry.VARIABLE, str(folder))
    return folder


@pytest.fixture
def said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Callable[..., str]:
    """What a command prints, in this process."""
    monkeypatch.chdir(tmp_path)

    def said(*arguments: str) -> str:
        monkeypatch.setattr(sys, "argv", ["steinmetz", *arguments])
        with pytest.raises(SystemExit):
            main()
        return capsys.readouterr().out

    return said


def test_one_file_of_every_kind_is_used_with_no_other_edit(
    plugins: Path, tmp_path: Path, said: Callable[..., str]
) -> None:
    assert {name.split("/")[0] for name in FILES} == set(registry.KINDS)
    listed = said("list")
    small = {k: v for k, v in QUICK.items() if k.startswith(("sparsify", "assess"))}
    changes = [f"--set={key}={value}" for key, value in small.items()]
    command = [sys.executable, "-m", "steinmetz", "run", "band", "--out", "run", *changes]
    done = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, timeout=300)
    assert done.returncode == 0, done.stderr
    summary = json.loads((tmp_path / "run" / "summary.json").read_text())
    assert summary["method"] == "half+walk"
    assert summary["r2"]["path"] > 0.99
    assert summary["other"]["worst"] > 0
    report = (tmp_path / "run" / "report.html").read_text()
    assert "R-hat" in said("diagnose", "run")
    assert "R-hat" in report
    assert "worst" in report
    assert said("export", "run", "--to", "shout").startswith("Ψ = 0.")
    for name in FILES:
        assert name.split("/")[1].split(".")[0] in listed


def test_a_file_that_lacks_a_part_is_refused(plugins: Path) -> None:
    from steinmetz.laws import base as laws

    (plugins / "laws" / "half.py").write_text(
        '"""Half."""\n\ndef energy(inputs, parameters): ...\n'
    )
    with pytest.raises(InputError, match=r"half\.py: a law also needs INPUTS, PARAMETERS"):
        laws.load("half")


def test_two_files_of_one_name_are_refused(plugins: Path) -> None:
    (plugins / "laws" / "gent.py").write_text(
        '"""Mine."""\n\ndef energy(inputs, parameters): ...\n'
    )
    with pytest.raises(InputError, match=r"there is a law 'gent' already"):
        registry.names("laws")


def test_a_file_that_is_no_python_is_named(plugins: Path) -> None:
    (plugins / "laws" / "odd.py").write_text("def energy(:\n")
    with pytest.raises(InputError, match=r"odd\.py is not a Python file"):
        registry.names("laws")


@pytest.mark.parametrize("kind", [k for k, v in registry.KINDS.items() if v.suffix == ".py"])
def test_every_plugin_has_a_summary(kind: str) -> None:
    assert registry.names(kind)
    for name in registry.names(kind):
        assert registry.summary(kind, name).endswith(".")
