"""Sparsification: a whole L-curve in one batch against separate runs.

And one step against a plain loop.

Run by `make bench`. Everything in one process and one run; on a shared machine only the ratios mean
something.
"""

import statistics
import time

import jax
import jax.numpy as jnp
import numpy as np
import optax

jax.config.update("jax_enable_x64", True)

from steinmetz.data import noise  # noqa: E402
from steinmetz.data.quadratic import compress  # noqa: E402
from steinmetz.engine.problem import prepare  # noqa: E402
from steinmetz.materials import kinematics  # noqa: E402
from steinmetz.potentials import icnn  # noqa: E402
from steinmetz.sparsify import l0  # noqa: E402
from steinmetz.sparsify.prune import prune  # noqa: E402
from steinmetz.sparsify.train import Grid, Trial, train  # noqa: E402
from steinmetz.studies import config  # noqa: E402

PENALTIES, RESTARTS, STEPS = 8, 8, 3000
YARDSTICK_STEPS = 300


def setting():
    """80 noisy tensors of the Gent law and the 3–30–30–1 network."""
    problem = prepare(jax.random.key(0), config.load("hyperelasticity"))
    material = problem.material
    return material, problem.train, icnn.build(icnn.Config(), material.inputs, material.conditions)


def carve(material, data, network, quadratic, penalty, penalties, restarts, key):
    """Train and prune: what a run does before its search."""
    settings = l0.Config(penalty=penalty, penalties=penalties, restarts=restarts, steps=STEPS)
    trials = [Trial(restart) for restart in range(restarts)]
    grid = Grid(network, material.reference, [quadratic], [data.cells], trials, settings)
    trained = train(key, grid)
    graph = network.graph()
    laws = [
        prune(graph, jnp.asarray(theta), material.reference)
        for theta in trained.theta.reshape(-1, network.size)
    ]
    return trained, laws


def plain_step(material, data, network):
    """The yardstick: stress tensors by vmap(grad) of the energy in float64, gates as printed.

    One jitted Adam step.
    """
    F, S = jnp.asarray(data.state).reshape(-1, 3, 3), data.values
    reference, signs = jnp.asarray(material.reference.point), jnp.asarray(network.nonnegative)
    deviation = noise.deviation(data, data.values, 0.02)
    pairs = [(0, 0), (1, 1), (2, 2), (0, 1), (0, 2), (1, 2)]
    optimiser = optax.adam(0.08)

    def energy(theta, x):
        shapes, hidden, start = network.shapes, x, 0
        for depth, (rows, columns) in enumerate(shapes):
            W = theta[start : start + rows * columns].reshape(rows, columns)
            start += rows * columns
            z = W @ (hidden if depth == 0 else jnp.concatenate([x, hidden]))
            hidden = jax.nn.softplus(z)
        return z[0]

    def stress(theta, F):
        slope, at = jax.grad(energy, argnums=1), kinematics.invariants(F)
        g, g0 = slope(theta, at), slope(theta, reference)
        n = 2 * (g0[0] + 2 * g0[1]) + g0[2]
        C, J = F.T @ F, jnp.linalg.det(F)
        first = 2 * g[0] * jnp.eye(3) + 2 * g[1] * (at[0] * jnp.eye(3) - C)
        whole = first + (g[2] - n) * J * jnp.linalg.inv(C)
        return jnp.stack([whole[i, j] for i, j in pairs])

    def loss(raw, key):
        u = jax.random.uniform(key, raw[0].shape, minval=1e-6, maxval=1 - 1e-6)
        s = jax.nn.sigmoid((jnp.log(u) - jnp.log(1 - u) + raw[1]) / l0.BETA)
        z = jnp.clip(s * (l0.ZETA - l0.GAMMA) + l0.GAMMA, 0, 1)
        theta = jnp.where(signs, jnp.abs(raw[0]), raw[0]) * z
        residual = (jax.vmap(stress, (None, 0))(theta, F) - S) / deviation
        return jnp.mean(residual**2) + 0.06 * l0.expected_open(raw[1])

    @jax.jit
    def step(raw, moments, key):
        change, moments = optimiser.update(jax.grad(loss)(raw, key), moments)
        return optax.apply_updates(raw, change), moments

    start = (network.initial(jax.random.key(0)), jnp.zeros(network.size))
    return step, start, optimiser.init(start)


def timed(function):
    begin = time.perf_counter()
    result = function()
    return time.perf_counter() - begin, result


def main() -> None:
    material, data, network = setting()
    quadratic = compress(data, noise.deviation(data, data.values, 0.02))
    keys = jax.random.split(jax.random.key(1), RESTARTS)
    grid = np.geomspace(5.0, 300.0, PENALTIES)

    def batch():
        return carve(material, data, network, quadratic, (5.0, 300.0), PENALTIES, RESTARTS, keys[0])

    def one(penalty, key):
        return carve(material, data, network, quadratic, (penalty, penalty), 1, 1, key)

    cold_batch, _ = timed(batch)
    cold_one, _ = timed(lambda: one(grid[0], keys[0]))
    whole, (path, _) = timed(batch)
    separate, apart = 0.0, []
    for penalty in grid:
        for key in keys:
            seconds, (trained, _) = timed(lambda penalty=penalty, key=key: one(float(penalty), key))
            separate += seconds
            apart.append(trained)
    print(
        f"L-curve of {PENALTIES} penalties × {RESTARTS} restarts, Gent, {STEPS} steps, training "
        "and pruning:"
    )
    print(
        f"  one batch {whole:.1f} s, {len(apart)} separate runs {separate:.1f} s: "
        f"ratio {whole / separate:.3f}"
    )
    with_compile = cold_batch / (separate + cold_one - separate / len(apart))
    print(f"  with compilation on both sides: ratio {with_compile:.3f}")
    losses = np.array([run.misfit[0, 0] for run in apart]).reshape(PENALTIES, RESTARTS)
    counts = np.array([run.nonzero[0, 0] for run in apart]).reshape(PENALTIES, RESTARTS)
    for index, penalty in enumerate(grid):
        print(
            f"  λ {penalty:6.1f}: median loss {np.median(path.misfit[index]):.2f}, weights "
            f"{np.median(path.nonzero[index]):.0f} (separate: {np.median(losses[index]):.2f}, "
            f"{np.median(counts[index]):.0f})"
        )

    step, raw, moments = plain_step(material, data, network)
    raw, moments = jax.block_until_ready(step(raw, moments, keys[0]))
    times = []
    for index in range(YARDSTICK_STEPS):
        begin = time.perf_counter()
        raw, moments = jax.block_until_ready(step(raw, moments, jax.random.fold_in(keys[0], index)))
        times.append(time.perf_counter() - begin)
    plain = statistics.median(times)
    last = STEPS + (PENALTIES - 1) * l0.Config().stride
    alone, in_batch = separate / len(apart) / STEPS, whole / (RESTARTS * last)
    print("per step of one restart, 3–30–30–1, 80 data:")
    print(f"  plain vmap(grad) loop {plain * 1e6:.0f} µs")
    print(f"  ours, one restart alone {alone * 1e6:.0f} µs: {plain / alone:.1f} × faster")
    print(f"  ours, in the batch {in_batch * 1e6:.0f} µs: {plain / in_batch:.1f} × faster")


if __name__ == "__main__":
    main()
