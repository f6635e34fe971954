"""Two source trees beside each other: programs, seconds of a first run and of a second one.

`python benchmarks/startup.py BEFORE AFTER` runs the main study by turns from both trees, first with
an empty folder of compiled programs (cold), then again with what is kept there (warm), and prints
wall-clock and processor seconds with their ratios. Wall-clock seconds mean little on a busy
machine; processor seconds are those of all threads.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

SCRIPT = """
import json, sys, time
from pathlib import Path
import jax

begin, compiled = time.perf_counter(), []
jax.monitoring.register_event_duration_secs_listener(
    lambda event, seconds, **facts: compiled.append(event)
)
import steinmetz
from steinmetz.cli import main

assert Path(steinmetz.__file__).is_relative_to(sys.argv[1]), steinmetz.__file__
sys.argv = ["steinmetz", "run", sys.argv[2], "--out", sys.argv[3]]
try:
    main()
except SystemExit as end:
    assert not end.code, end.code
count = compiled.count("/jax/core/compile/backend_compile_duration")
print(json.dumps([count, time.perf_counter() - begin, time.process_time()]))
"""


def measured(tree: Path, study: str, folder: Path, out: str) -> tuple[int, float, float]:
    """Programs, wall-clock and processor seconds of one run from a tree."""
    kept = {"JAX_COMPILATION_CACHE_DIR": str(folder / "programs"), "PYTHONPATH": str(tree / "src")}
    command = [sys.executable, "-c", SCRIPT, str(tree), study, str(folder / out)]
    done = subprocess.run(
        command, env={**os.environ, **kept}, stdout=subprocess.PIPE, text=True, check=True
    )
    programs, wall, processor = json.loads(done.stdout.splitlines()[-1])
    return programs, wall, processor


def main() -> None:
    """Measure by turns and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("before", type=Path)
    parser.add_argument("after", type=Path)
    parser.add_argument("--study", default="hyperelasticity")
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        trees = {name: getattr(asked, name).resolve() for name in ("before", "after")}
        for state in ("cold", "warm"):
            found = {}
            for name, tree in trees.items():
                found[name] = measured(tree, asked.study, Path(scratch) / name, state)
                programs, wall, processor = found[name]
                print(f"{state} {name}: {programs} programs, {wall:.1f} s, {processor:.1f} s busy")
            ratios = [b / a for a, b in zip(found["before"], found["after"], strict=True)]
            print(
                f"{state} ratios: programs {ratios[0]:.2f}, wall {ratios[1]:.2f}, "
                f"processor {ratios[2]:.2f}"
            )


if __name__ == "__main__":
    main()
