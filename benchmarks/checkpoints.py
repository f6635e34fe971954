"""Memory over ten thousand checkpoints, and programs that are compiled meanwhile.

`python benchmarks/checkpoints.py` samples a Gaussian with a checkpoint after every chunk of steps,
and prints the resident memory after a tenth of them and at the end: both should be the same within
5 %, and nothing should be compiled after the first chunks.
"""

import argparse
import tempfile
from pathlib import Path

import jax

from steinmetz.cache import Cache
from steinmetz.infer import driver, svgd
from steinmetz.infer.base import as_target

COMPILED: list[str] = []


def resident() -> float:
    """Megabytes of this process that are in memory."""
    for line in Path("/proc/self/status").read_text(encoding="utf-8").splitlines():
        if line.startswith("VmRSS:"):
            return int(line.split()[1]) / 1024
    raise OSError("no VmRSS in /proc/self/status")


def heard(event: str, *_: object, **__: object) -> None:
    """Note a compilation."""
    if event == "/jax/core/compile/backend_compile_duration":
        COMPILED.append(event)


def main() -> None:
    """Step, keep, look at memory."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--count", type=int, default=10_000)
    count = options.parse_args().count
    jax.config.update("jax_enable_x64", True)
    jax.monitoring.register_event_duration_secs_listener(heard)
    driver._CHECKPOINT = driver._CHUNK = 0.0  # one step, one checkpoint
    config = svgd.Config(particles=200, steps=count, tolerance=0.0)
    sampler = svgd.build(as_target(lambda x: -0.5 * x @ x), config)
    seen: dict[int, tuple[float, int]] = {}

    def report(stage: str, done: int, total: int, **facts: object) -> None:
        if done in (count // 10, count):
            seen[done] = resident(), len(COMPILED)

    with tempfile.TemporaryDirectory() as folder:
        kept = driver.Checkpoints(Cache(Path(folder), "memory"))
        start = jax.random.normal(jax.random.key(0), (200, 7))
        driver.run(jax.random.key(1), sampler, start, config.schedule, report, kept)
        files = len(list(Path(folder).iterdir()))
    (first, programs), (last, every) = seen[count // 10], seen[count]
    print(f"{first:.1f} MB after {count // 10} checkpoints, {last:.1f} MB after {count}", end=": ")
    print(f"{100 * (last / first - 1):+.2f} %; {every - programs} programs compiled", end="; ")
    print(f"{files} files")


if __name__ == "__main__":
    main()
