"""Batched refits: the hand-written Levenberg–Marquardt against optimistix, compile and run.

In one process.

Run by `make bench`. Prints seconds and ratios; on a shared machine only the ratios mean something.
"""

import time

import jax
import jax.numpy as jnp
import numpy as np

jax.config.update("jax_enable_x64", True)

import optimistix  # noqa: E402

from steinmetz.sparsify.refit import _levenberg_marquardt  # noqa: E402

BATCH, PARAMETERS, DATA, STEPS = 64, 12, 240, 24


def problem(key):
    """Softplus regression with as many rows and parameters as a typical refit."""
    first, second = jax.random.split(key)
    inputs = jax.random.normal(first, (DATA, PARAMETERS))
    target = jax.nn.softplus(inputs @ jax.random.normal(second, (PARAMETERS,)))
    return inputs, target


def own(inputs, target, start):
    return _levenberg_marquardt(
        lambda theta: jax.nn.softplus(inputs @ theta) - target, start, STEPS
    )


def library(inputs, target, start):
    solver = optimistix.LevenbergMarquardt(rtol=1e-8, atol=1e-8)
    function = lambda theta, _: jax.nn.softplus(inputs @ theta) - target  # noqa: E731
    return optimistix.least_squares(function, solver, start, max_steps=STEPS, throw=False).value


def timed(function, *arguments):
    begin = time.perf_counter()
    result = jax.block_until_ready(function(*arguments))
    return time.perf_counter() - begin, result


def main() -> None:
    inputs, target = jax.vmap(problem)(jax.random.split(jax.random.key(0), BATCH))
    start = jnp.zeros((BATCH, PARAMETERS))
    rows = {}
    for name, method in (("own", own), ("optimistix", library)):
        batched = jax.jit(jax.vmap(method))
        first, result = timed(batched, inputs, target, start)
        later = min(timed(batched, inputs, target, start)[0] for _ in range(5))
        error = float(
            np.abs(jax.nn.softplus(jnp.einsum("bnp,bp->bn", inputs, result)) - target).max()
        )
        rows[name] = (first - later, later)
        print(
            f"{name:>10}: compile {first - later:.2f} s, run {later * 1e3:.1f} ms, "
            f"largest residual {error:.1e}"
        )
    compile_ratio, run_ratio = (rows["optimistix"][k] / rows["own"][k] for k in (0, 1))
    print(f"{'ratio':>10}: compile {compile_ratio:.1f}, run {run_ratio:.1f} (optimistix / own)")


if __name__ == "__main__":
    main()
