"""Random numbers of a part of a large array, the same that jax.random gives for all of it.

Entry i of an array of random numbers is made of the key and of i alone (Threefry, Salmon et al.
2011): any part of it can be had without the rest, which may be too large.
"""

import jax
import jax.numpy as jnp
import numpy as np
from jax.extend.random import threefry_2x32
from jaxtyping import Array, Float, UInt64

# Bits of a double besides those after its leading one, and the double 1.
_SIGN_AND_EXPONENT = 12
_ONE = np.float64(1.0).view(np.uint64)
# The least number above −1: errors are drawn from an interval open at both ends.
_LEAST = float(np.nextafter(-1.0, 0.0))


def normal(key: Array, first: int | Array, shape: tuple[int, ...]) -> Float[Array, "*shape"]:
    """Entries from the number `first` on of jax.random.normal, whatever the shape of all."""
    unit = _unit(key, first, shape)
    inside = jnp.maximum(unit * (1.0 - _LEAST) + _LEAST, _LEAST)
    found: Array = np.sqrt(2.0) * jax.lax.erf_inv(inside)
    return found


def exponential(key: Array, first: int | Array, shape: tuple[int, ...]) -> Float[Array, "*shape"]:
    """The same of jax.random.exponential."""
    return -jnp.log1p(-_unit(key, first, shape))


def _unit(key: Array, first: int | Array, shape: tuple[int, ...]) -> Float[Array, "*shape"]:
    """Uniform doubles from 0 to 1: random bits after the leading one."""
    bits = _bits(key, first, int(np.prod(shape))) >> _SIGN_AND_EXPONENT
    return (jax.lax.bitcast_convert_type(bits | _ONE, jnp.float64) - 1.0).reshape(shape)


def _bits(key: Array, first: int | Array, count: int) -> UInt64[Array, "count"]:
    """64 bits of every number: both halves of its place, encrypted."""
    place = jnp.asarray(first, jnp.uint64) + jnp.arange(count, dtype=jnp.uint64)
    halves = jnp.concatenate([place >> 32, place & 0xFFFFFFFF]).astype(jnp.uint32)
    one, two = jax.random.key_data(key)
    high, low = jnp.split(threefry_2x32((one, two), halves).astype(jnp.uint64), 2)
    return (high << 32) | low
