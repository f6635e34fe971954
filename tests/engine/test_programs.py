"""How many programs XLA compiles in a run: structures are mixed without any of their own."""

import json
import os
import subprocess
import sys

import pytest

# A fresh process counts what is compiled, run and files together.
SCRIPT = """
import json, sys, tempfile
import jax

compiled = []
jax.monitoring.register_event_duration_secs_listener(
    lambda event, seconds, **facts: compiled.append(event)
)
import steinmetz
from steinmetz.sparsify import compose

changes, compose._MIXED = json.loads(sys.argv[1]), int(sys.argv[2])
result = steinmetz.run(steinmetz.study("hyperelasticity", changes))
with tempfile.TemporaryDirectory() as folder:
    result.save(folder + "/run")
count = compiled.count("/jax/core/compile/backend_compile_duration")
print(json.dumps([count, len(result.bands.parts)]))
"""
# Programs that a run may compile; each takes time at every first run, however small it is.
MOST = 80
CHEAP = {"infer.method": "svgd", "infer.particles": 50, "infer.steps": 50}


def programs(structures: int, **changes: object) -> tuple[int, int]:
    """Programs of the main job on a small sampler, and laws behind its bands."""
    hidden = ("JAX_COMPILATION_CACHE_DIR", "JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS")
    environment = {name: value for name, value in os.environ.items() if name not in hidden}
    study = json.dumps({**CHEAP, **changes})
    command = [sys.executable, "-c", SCRIPT, study, str(structures)]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    count, laws = json.loads(done.stdout.splitlines()[-1])
    return count, laws


@pytest.mark.long
def test_a_run_compiles_few_programs() -> None:
    """Bookkeeping that is left to JAX outside of compiled functions would show here."""
    count, laws = programs(80)
    assert laws > 3
    assert count <= MOST


@pytest.mark.long
def test_a_mixture_compiles_no_more_than_one_law() -> None:
    many, laws = programs(80)
    assert laws > 3
    few, pair = programs(2)
    assert pair == 2
    alone, single = programs(80, **{"assess.bands": "law"})
    assert single == 1
    assert many == few
    assert many <= alone
