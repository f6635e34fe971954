"""Particles shared out over devices: the same digits on any number of them."""

import json
import os
import subprocess
import sys

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jaxtyping import Array

from steinmetz.errors import InputError
from steinmetz.infer import newton, placement, ssvn, svgd
from steinmetz.infer.base import as_target
from steinmetz.infer.langevin import Metric

from .targets import sample, skewed

LONG = pytest.mark.long
# A run without a mesh and on meshes of 1, 2 and 4 devices, in one process that has four: the digest
# of all draws on each mesh, and how far they are from those without.
PROGRAM = """
import hashlib, json, sys
import jax, numpy as np
jax.config.update("jax_enable_x64", True)
jax.config.update("jax_num_cpu_devices", 4)
from infer.targets import sample, skewed
from steinmetz import registry
from steinmetz.infer import placement
from steinmetz.infer.base import as_target

method, settings = registry.load("infer", sys.argv[1]), json.loads(sys.argv[2])
target, found = as_target(skewed).by_rows(), []
plain = sample(method, target, 3, **settings).draws
for count in (1, 2, 4):
    with placement.devices(count):
        draws = sample(method, target, 3, **settings).draws
    found.append((hashlib.sha256(draws.tobytes()).hexdigest(), float(np.abs(draws - plain).max())))
print(json.dumps(found))
"""


@pytest.mark.parametrize(
    ("method", "settings"),
    [
        ("svgd", {"particles": 70, "steps": 40}),
        pytest.param("ssvn", {"particles": 40, "warm_up": 100, "steps": 400}, marks=LONG),
        pytest.param("ssvgd", {"particles": 40, "warm_up": 20, "steps": 60}, marks=LONG),
    ],
)
def test_draws_are_the_same_on_one_two_and_four_devices(
    method: str, settings: dict[str, int]
) -> None:
    command = [sys.executable, "-c", PROGRAM, method, json.dumps(settings)]
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(["tests", *sys.path])}
    done = subprocess.run(command, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    digests, away = zip(*json.loads(done.stdout), strict=True)
    assert len(set(digests)) == 1
    assert max(away) <= 1e-12


def test_a_mesh_of_one_device_gives_what_there_is_without() -> None:
    """Blocks sum in another order than the whole: rounding alone may differ."""
    plain = sample(svgd, skewed, 2, particles=33, steps=30)
    with placement.devices(1):
        meshed = sample(svgd, skewed, 2, particles=33, steps=30)
    assert placement.chosen().mesh is None
    np.testing.assert_allclose(meshed.draws, plain.draws, atol=1e-13)


def test_more_devices_than_there_are_is_refused() -> None:
    with pytest.raises(InputError, match="there are 1"), placement.devices(3):
        pass


@pytest.mark.parametrize("entries", [1, 10, 10_000])
def test_rows_are_the_same_in_blocks(entries: int) -> None:
    x, y = jnp.arange(35.0).reshape(7, 5), jnp.arange(7)

    def function(some: tuple[Array, Array]) -> dict[str, Array]:
        return {"sum": jnp.sum(some[0], axis=1), "pair": some[0][:, :2] + some[1][:, None]}

    found = placement.rows(function, (x, y), placement.ENTRIES // entries)
    for name, values in function((x, y)).items():
        np.testing.assert_array_equal(found[name], values)


@pytest.mark.parametrize("hessian", ["block", "full"])
def test_common_steps_are_the_same_in_blocks(
    hessian: newton.Hessian, monkeypatch: pytest.MonkeyPatch
) -> None:
    keys = jax.random.split(jax.random.key(0), 3)
    x, slope = jax.random.normal(keys[0], (23, 3)), jax.random.normal(keys[1], (23, 3))
    root = jax.random.normal(keys[2], (23, 3, 3))
    metric = Metric(x, jnp.einsum("nij,nkj->nik", root, root), jnp.asarray(1.3))
    at = metric, slope, jnp.arange(23) != 5, hessian, 0.1
    whole = newton.together(jax.random.key(1), *at), metric.factors(x, at[2])
    monkeypatch.setattr(placement, "ENTRIES", 23 * 4)
    some = newton.together(jax.random.key(1), *at), metric.factors(x, at[2])
    for a, b in zip(some, whole, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-9, atol=1e-12)


@pytest.mark.long
def test_a_step_of_many_particles_never_makes_a_particles_by_particles_array() -> None:
    """At 12 000 particles one would take 1.15 GB; a step of Stein–Newton needs several."""
    sampler = ssvn.build(as_target(skewed), ssvn.Config(particles=12_000))
    key, position = jax.random.key(0), jax.ShapeDtypeStruct((12_000, 7), float)
    state = jax.eval_shape(sampler.init, key, position)
    needed = jax.jit(sampler.step).lower(key, state).compile().memory_analysis()
    assert needed is not None
    assert needed.temp_size_in_bytes < 600e6
