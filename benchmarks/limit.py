"""The bare products and exponentials of a Stein step, timed alone: what no program on this machine can go below.

Products of networks are timed for a block of particles that stays near the processor, and taken as often as needed.
Logarithms are counted as exponentials: both are polynomials of about the same length.
"""

import jax
import jax.numpy as jnp

BLOCK = 20


def _repeated(function, *arrays):
    """steps → the function that often; one number changes every time and the result is kept, so nothing is left out."""

    def run(first, rest, steps):
        def body(_, carry):
            at, before = carry
            found = function(at.at[(0,) * at.ndim].add(1e-9 * before[(0,) * before.ndim]), *rest)
            return at, found

        shape = jax.eval_shape(function, first, *rest)
        return jax.lax.fori_loop(0, steps, body, (first, jnp.zeros(shape.shape, shape.dtype)))

    program = jax.jit(run)
    return lambda steps: program(arrays[0], arrays[1:], steps)


def parts(cell, particles: int) -> dict:
    """Name → steps → bare work."""
    key = jax.random.key(0)
    draw = lambda *shape: jax.random.normal(key, shape)  # noqa: E731
    found = {
        "distances": _repeated(lambda x: x @ x.T, draw(particles, cell.dimension)),
        "kernel": _repeated(jnp.exp, draw(particles, particles)),
        "sums": _repeated(jnp.matmul, draw(particles, particles), draw(particles, cell.dimension)),
    }
    if cell.data:
        block, points = min(particles, BLOCK), cell.data + 1
        found["units"] = _repeated(jnp.exp, draw(block, sum(cell.units), points))
        for index, (rows, columns) in enumerate(cell.shapes[:-1]):
            W, h, b = draw(block, rows, columns), draw(block, columns, points), draw(block, rows, points)
            found[f"forward {index}"] = _repeated(jnp.matmul, W, h)
            found[f"back {index}"] = _repeated(lambda W, b: jnp.einsum("src,srn->scn", W, b), W, b)
            found[f"outer {index}"] = _repeated(lambda b, h: jnp.einsum("srn,scn->src", b, h), b, h)
    return found


def share(cell, particles: int, name: str) -> float:
    """How often a part is done in a step: forward, back and outer products twice, in every block of particles."""
    blocks = particles / min(particles, BLOCK)
    if name in ("distances", "kernel", "sums"):
        return 1.0
    return blocks if name == "units" else 2 * blocks
