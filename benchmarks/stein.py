"""One Stein step: Gram products and counting median against blackjax, on a 7-D Gaussian, in one process.

Run by `make bench`. Prints microseconds per step and ratios; on a shared machine only the ratios mean something.
"""

import time

import blackjax
import jax
import jax.numpy as jnp
import optax

jax.config.update("jax_enable_x64", True)

from steinmetz.infer import svgd  # noqa: E402

DIMENSION, STEPS = 7, 200


def log_density(x):
    return -0.5 * jnp.sum(x**2 / jnp.linspace(0.1, 1, DIMENSION))


def ours(position):
    sampler = svgd.build(log_density, svgd.Config(particles=len(position), refresh=1))
    key = jax.random.key(0)
    return jax.lax.scan(
        lambda state, _: (sampler.step(key, state)[0], None), sampler.init(key, position), length=STEPS
    )[0].particles


def theirs(position):
    kernel, heuristic = blackjax.vi.svgd.rbf_kernel, blackjax.vi.svgd.update_median_heuristic
    algorithm = blackjax.svgd(jax.grad(log_density), optax.adam(0.1), kernel, heuristic)
    state = algorithm.init(position, {"length_scale": 1.0})
    return jax.lax.scan(lambda state, _: (algorithm.step(state), None), state, length=STEPS)[0].particles


def microseconds(function, position) -> float:
    compiled = jax.jit(function)
    jax.block_until_ready(compiled(position))
    best = float("inf")
    for _ in range(3):
        begin = time.perf_counter()
        jax.block_until_ready(compiled(position))
        best = min(best, time.perf_counter() - begin)
    return best / STEPS * 1e6


def main() -> None:
    for particles in (50, 200, 500):
        position = jax.random.normal(jax.random.key(1), (particles, DIMENSION))
        own, other = microseconds(ours, position), microseconds(theirs, position)
        print(f"{particles:>5} particles: steinmetz {own:8.0f} µs, blackjax {other:8.0f} µs, ratio {other / own:.1f}")


if __name__ == "__main__":
    main()
