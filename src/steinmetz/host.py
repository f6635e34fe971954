"""Numbers between numpy and compiled code, without a program for every small operation.

Outside of compiled functions, JAX compiles every operation anew for every shape: a sum here and an
index there are a program each. So bookkeeping is done by numpy and handed over by `held`, keys are
split by programs that all stages share, and random numbers are drawn in a few sizes: those of a
longer row begin with those of a shorter one.
"""

from functools import partial

import jax
import numpy as np
from jaxtyping import Array, Float

# Least sizes to which rows of states and random numbers are filled up; then come fourfold ones.
_ROWS, _NUMBERS = 2**11, 2**18
# Fewer rows have a program of their own: compiled for a few, the last digit may be another one.
_FEW = 512


def held(array: object, dtype: type | np.dtype[np.generic] | None = None) -> Array:
    """The numbers where compiled functions are; unlike `jnp.asarray`, nothing is compiled."""
    placed: Array = jax.device_put(np.asarray(array, dtype))
    return placed


def _filled(count: int, least: int) -> int:
    """The size to which `count` is filled up, so that one program serves many numbers."""
    size = least
    while size < count:
        size *= 4
    return size


def filled_up(rows: Float[np.ndarray, "rows *rest"]) -> Float[np.ndarray, "filled *rest"]:
    """Rows with the last one repeated, so that one program serves many numbers of them."""
    count = len(rows)
    if count < _FEW:
        return rows
    return rows[np.minimum(np.arange(_filled(count, _ROWS)), count - 1)]


@partial(jax.jit, static_argnames="count")
def split(key: Array, count: int = 2) -> tuple[Array, ...]:
    """Keys from a key, one by one."""
    return tuple(jax.random.split(key, count))


@partial(jax.jit, static_argnames="count")
def _seeded(seed: Array, count: int) -> tuple[Array, ...]:
    return tuple(jax.random.split(jax.random.key(seed), count))


def seeded(seed: int, count: int) -> tuple[Array, ...]:
    """Keys from a seed, one by one."""
    found: tuple[Array, ...] = _seeded(np.int64(seed), count)
    return found


@jax.jit
def _folded(key: Array, number: Array) -> Array:
    return jax.random.fold_in(key, number)


def folded(key: Array, number: int) -> Array:
    """The key with a number folded in."""
    found: Array = _folded(key, np.uint32(number))
    return found


@partial(jax.jit, static_argnames="size")
def _uniform(key: Array, least: Array, most: Array, size: int) -> Array:
    return jax.random.uniform(key, (size,), minval=least, maxval=most)


def uniform(key: Array, shape: tuple[int, ...], least: float, most: float) -> np.ndarray:
    """What `jax.random.uniform(key, shape, minval=least, maxval=most)` draws."""
    count = int(np.prod(shape))
    drawn = _uniform(key, np.float64(least), np.float64(most), _filled(count, _NUMBERS))
    return np.asarray(drawn)[:count].reshape(shape)
