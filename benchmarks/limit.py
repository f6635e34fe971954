"""The bare products and exponentials of a Stein step: what no program here can go below.

Products of networks are timed for a block of particles that stays near the processor, and taken as
often as needed. Logarithms are counted as exponentials: both are polynomials of about the same
length.
"""

import jax
import jax.numpy as jnp

BLOCK = 20


def _repeated(step, first, shape):
    """steps → the step that often; each needs a number of the one before, so none is left out."""
    program = jax.jit(
        lambda at, steps: jax.lax.fori_loop(
            0, steps, lambda _, carry: step(*carry), (at, jnp.zeros(shape))
        )
    )
    return lambda steps: program(first, steps)


def _exponentials(numbers):
    return _repeated(
        lambda at, found: (at, jnp.exp(at + 1e-30 * found.ravel()[0])), numbers, numbers.shape
    )


def _products(form, first, second):
    def step(at, found):
        at = at.at[(0,) * at.ndim].set(1e-30 * found.ravel()[0])
        return at, jnp.einsum(form, at, second)

    return _repeated(
        step, first, jax.eval_shape(lambda a, b: jnp.einsum(form, a, b), first, second).shape
    )


def parts(cell, particles: int) -> dict:
    """Name → steps → bare work."""
    key = jax.random.key(0)
    draw = lambda *shape: jax.random.normal(key, shape)  # noqa: E731
    x = draw(particles, cell.dimension)
    found = {
        "distances": _products("id,jd->ij", x, x),
        "kernel": _exponentials(draw(particles, particles)),
        "sums": _products("ij,jd->id", draw(particles, particles), x),
    }
    if cell.data:
        block, points = min(particles, BLOCK), cell.data + 1
        found["units"] = _exponentials(draw(block, sum(cell.units), points))
        for index, (rows, columns) in enumerate(cell.shapes[:-1]):
            W, h, b = (
                draw(block, rows, columns),
                draw(block, columns, points),
                draw(block, rows, points),
            )
            found[f"forward {index}"] = _products("src,scn->srn", W, h)
            found[f"back {index}"] = _products("src,srn->scn", W, b)
            found[f"outer {index}"] = _products("srn,scn->src", b, h)
    return found


def share(cell, particles: int, name: str) -> float:
    """How often a part is done in a step: products twice, in every block of particles."""
    blocks = particles / min(particles, BLOCK)
    if name in ("distances", "kernel", "sums"):
        return 1.0
    return blocks if name == "units" else 2 * blocks
