"""Seconds of one step of a sampler, and the memory of the process: an entry of `scaling.py`.

`python benchmarks/pace.py --particles 1000 --method svgd` prints them. A step is timed in a
compiled chunk, after its compilation and, where steps are short, after a first chunk; the least of
some repetitions counts. `--method gather` times an exchange of numbers between devices in place of
a step, `--method width` the search for the width of the kernel.
"""

import argparse
import json
import resource
import time
from contextlib import contextmanager

# A method that does other things after its warm-up than in it.
APART = "ssvn, after its warm-up"
# Seconds of steps in a chunk that is timed, and how often it is.
CHUNK, REPEATS = 0.5, 3
# Steps of which one looks at the width of the kernel: chunks have whole tens of them, and no more
# than ssvn makes with all particles together at first.
ROUND, MOST = 10, 190
# Share of the seconds of an entry above which a single step is all that is timed.
LONG = 0.01
# Parameters that the data of the Gaussian know of.
INFORMED = 20


def gaussian(dimension):
    """A round prior, and data that make the first parameters ten times narrower."""
    import jax
    import jax.numpy as jnp

    from steinmetz.infer.base import as_target

    some = min(INFORMED, dimension)
    likelihood = lambda x: 10.0 * x[:some]  # noqa: E731
    log_density = lambda x: -0.5 * (x @ x + jnp.sum(likelihood(x) ** 2))  # noqa: E731
    return as_target(log_density)._replace(
        likelihood=likelihood,
        prior=lambda x: x,
        draw_prior=lambda key: jax.random.normal(key, (dimension,)),
    )


def law(rows, batch):
    """The paper's law of 8 parameters, all data or a batch of them in every step."""
    import cells

    from steinmetz.engine.sample import target_of

    cell = cells.sparse_gent(rows)
    return cell.target if batch is None else target_of(cell.posterior, batch), cell


def posed(asked):
    """The density of an entry, and where particles start."""
    import jax

    key = jax.random.key(1)
    if asked.parameters:
        target = gaussian(asked.parameters)
        return target, 0.1 * jax.random.normal(key, (asked.particles, asked.parameters))
    target, cell = law(asked.rows, asked.batch)
    return target, cell.start(key, asked.particles)


def timed(chunk, state, asked, over):
    """Processor and wall seconds of a step, and how many were timed.

    Of several processes the first one decides how many they are.
    """
    import jax
    import jax.numpy as jnp

    def after(steps):
        ends = over.everywhere((jnp.asarray(0), jnp.asarray(steps)))
        wall, processor = time.monotonic(), time.process_time()
        jax.block_until_ready(chunk(state, *ends))
        return (time.process_time() - processor) / steps, (time.monotonic() - wall) / steps

    def fitting(seconds):
        rounds = max(1, round(CHUNK / seconds / ROUND))
        return over.agreed(0, min(ROUND * rounds, MOST), jnp.zeros(1))

    none = over.everywhere((jnp.asarray(0), jnp.asarray(0)))
    jax.block_until_ready(chunk(state, *none))  # compiles, and makes no step
    first = after(1)
    if over.agreed(0, int(first[1] > LONG * asked.seconds), jnp.zeros(1)):
        return *first, 1
    steps = fitting(after(fitting(first[1]))[1])
    every = [after(steps) for _ in range(REPEATS)]
    return min(one[0] for one in every), min(one[1] for one in every), steps * REPEATS


@contextmanager
def placed(asked):
    """The devices of an entry: those of one process, or one of each of several."""
    from steinmetz.infer import placement
    from steinmetz.ranks.door import devices

    if asked.processes:
        with devices(1, asked.coordinator, asked.process, asked.processes):
            over = placement.chosen()
            with over.lockstep():
                yield over
        return
    over = placement.of_devices(asked.devices) if asked.devices else placement.Placement()
    with placement.over(over):
        yield over


def stepping(asked, over):
    """A chunk of steps of a sampler, and the state that it begins with."""
    import jax

    from steinmetz.infer import driver
    from steinmetz.infer.base import build, settings_of
    from steinmetz.infer.schedule import Schedule

    method = "ssvn" if asked.method == APART else asked.method
    target, position = posed(asked)
    sampler = build(target, settings_of(method)(particles=asked.particles))
    state = jax.jit(sampler.init)(jax.random.key(2), position)
    if method == "ssvn":  # its first step only looks
        state = state._replace(number=state.number + (1000 if asked.method == APART else 1))
    return driver._compiled(sampler, Schedule(10**6), jax.random.key(3)), over.everywhere(state)


def gathering(asked, over):
    """A chunk of gathers: every device has a share of the numbers and gets the others."""
    import jax
    import jax.numpy as jnp

    from steinmetz.infer.placement import AXIS

    share = asked.particles // over.mesh.size

    def once(_, numbers):
        first = jax.lax.axis_index(AXIS) * share
        mine = jax.lax.dynamic_slice(numbers, (first,), (share,))
        return jax.lax.all_gather(mine, AXIS, tiled=True)

    chunk = over.spread(lambda numbers, first, last: jax.lax.fori_loop(first, last, once, numbers))
    return chunk, over.everywhere(jnp.zeros(share * over.mesh.size))


def looking(asked, over):
    """A chunk of looks at the width of the kernel, which every device makes for itself."""
    import jax
    import jax.numpy as jnp

    from steinmetz.infer.kernels import bandwidth

    def once(_, x):
        return x * (1 + 1e-9 * bandwidth(x, jnp.ones(len(x), bool)))

    start = jax.random.normal(jax.random.key(1), (asked.particles, asked.parameters))
    return jax.jit(lambda x, first, last: jax.lax.fori_loop(first, last, once, x)), start


def one(asked):
    """An entry: seconds of a step, and peak memory of this process."""
    import jax

    jax.config.update("jax_enable_x64", True)
    with placed(asked) as over:
        what = {"gather": gathering, "width": looking}.get(asked.method, stepping)
        processor, wall, steps = timed(*what(asked, over), asked, over)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    print(json.dumps({"processor": processor, "wall": wall, "steps": steps, "gigabytes": peak}))


def main() -> None:
    """One entry."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=300.0, help="most of one entry")
    parser.add_argument("--method", default="svgd")
    for name in ("particles", "parameters", "rows", "batch", "devices", "process", "processes"):
        parser.add_argument(f"--{name}", type=int)
    parser.set_defaults(rows=80)
    parser.add_argument("--coordinator")
    one(parser.parse_args())


if __name__ == "__main__":
    main()
