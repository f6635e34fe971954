"""Counter-examples to convexity and growth in the inputs, among many random states."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float

from steinmetz import host
from steinmetz.potentials.base import Potential
from steinmetz.potentials.law import Law
from steinmetz.records import Conditions

# Rounding in slopes and curvatures, relative to the largest of them.
_ROUNDING = 1e-9

Found = tuple[Bool[np.ndarray, "laws increasing"], Bool[np.ndarray, "laws"]]


def search(
    law: Law,
    particles: Float[np.ndarray, "particles parameters"],
    conditions: Conditions,
    states: Float[Array, "states inputs"],
) -> Found:
    """Which laws (the law first) fall with an input that they must not, and which are bent.

    The law sees all states, every particle its own share.
    """
    share = max(1, len(states) // max(1, len(particles)))
    shares = np.resize(np.asarray(states), (-(-len(states) // share), share, states.shape[1]))
    repeated = np.broadcast_to(np.asarray(law.values), (len(shares), law.values.size))
    cycled = shares[np.arange(len(particles)) % len(shares)]
    alone = _search(law.graph, host.held(repeated), host.held(shares), conditions)
    others = _search(law.graph, host.held(particles), host.held(cycled), conditions)
    falling, bent = (
        np.concatenate([np.any(np.asarray(a), axis=0, keepdims=True), np.asarray(b)])
        for a, b in zip(alone, others, strict=True)
    )
    return falling, bent


@eqx.filter_jit
def _search(
    graph: Potential, every: Array, states: Array, conditions: Conditions
) -> tuple[Bool[Array, "laws increasing"], Bool[Array, "laws"]]:
    """Where a slope that must not be negative is, and where the Hessian has a negative eigenvalue.

    Beyond rounding.
    """
    increasing = np.array([graph.inputs.index(name) for name in conditions.increasing], int)

    def at(theta: Float[Array, "parameters"], x: Float[Array, "inputs"]) -> tuple[Array, Array]:
        slope = jax.grad(graph.energy, argnums=1)(theta, x)
        largest = 1 + jnp.max(jnp.abs(slope))
        if not conditions.convex:
            return slope[increasing] < -_ROUNDING * largest, jnp.zeros((), bool)
        hessian = jax.hessian(graph.energy, argnums=1)(theta, x)
        rounding = _ROUNDING * (largest + jnp.max(jnp.abs(hessian)))
        return slope[increasing] < -rounding, _indefinite(hessian, rounding)

    def one(pair: tuple[Array, Array]) -> tuple[Array, Array]:
        falling, bent = jax.vmap(at, (None, 0))(*pair)
        return jnp.any(falling, axis=0), jnp.any(bent)

    found: tuple[Array, Array] = jax.lax.map(one, (every, states))
    return found


def _indefinite(matrix: Float[Array, "n n"], rounding: Float[Array, ""]) -> Bool[Array, ""]:
    """Whether a symmetric matrix has an eigenvalue below −`rounding`.

    A pivot of matrix + rounding·I.
    """
    left = matrix + rounding * jnp.eye(matrix.shape[0])
    negative = jnp.zeros((), bool)
    while left.shape[0]:
        pivot = left[0, 0]
        negative |= pivot <= 0
        left = left[1:, 1:] - jnp.outer(left[1:, 0], left[0, 1:]) / jnp.where(pivot > 0, pivot, 1.0)
    return negative
