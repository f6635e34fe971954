"""Cut dead units out of networks while they are trained, so that the remaining steps cost less."""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Int

_SHARES = (0.5, 0.27)
# Below this width a step is all overhead.
_LEAST_WIDTH = 8


def narrow(
    network: Any,
    variables: Any,
    places: Int[np.ndarray, "block parameters"],
    alive: Bool[np.ndarray, "block parameters"],
) -> tuple[Any, Any, Int[np.ndarray, "block small"]]:
    """The network narrowed to one of a few shapes, if the living units of every network of the block fit it.

    `variables` are raw weights and moments (arrays of block × parameters among others); `places` says where the weights
    lie in the full network.
    """
    useful = [network.living(mask) for mask in alive]
    needed = [max(int(row[layer].sum()) for row in useful) for layer in range(len(network.widths))]
    shapes = [tuple(max(1, round(share * width)) for width in network.widths) for share in _SHARES]
    fitting = [shape for shape in shapes if all(n <= w for n, w in zip(needed, shape, strict=True))]
    if not fitting or max(network.widths) < _LEAST_WIDTH:
        return network, variables, places
    widths = fitting[-1]
    # living units first, then dead ones to fill up
    index = np.stack(
        [
            network.narrowed(
                widths,
                [np.argsort(~row[layer], kind="stable")[:w] for layer, w in enumerate(widths)],
            )
            for row in useful
        ]
    )

    def taken(array: Array) -> Array:
        if array.ndim == 2 and array.shape[1] == network.size:
            return jnp.take_along_axis(array, jnp.asarray(index), axis=1)
        return array

    return (
        network.narrow(widths),
        jax.tree.map(taken, variables),
        np.take_along_axis(places, index, axis=1),
    )
