"""Large arrays worked through in pieces: draws × states × components of thousands of draws.

A function that treats every draw alike gets some draws at a time, and one that treats every cell (a
state and a component) alike all draws of some cells. Temporary arrays then stay as small as
`NUMBERS`, however many draws there are.
"""

from collections.abc import Callable, Iterator, Sequence

import numpy as np
from jaxtyping import Float

# Numbers of an array that is worked on at once: 32 MB.
NUMBERS = 2**22


def pieces(count: int, each: int) -> Iterator[slice]:
    """Slices of `count` rows of `each` numbers, of one size but for the last; at least one."""
    size = max(1, NUMBERS // max(each, 1))
    yield from (slice(first, min(first + size, count)) for first in range(0, max(count, 1), size))


def cellwise(
    function: Callable[..., np.ndarray],
    samples: Float[np.ndarray, "draws *cells"],
    *others: Float[np.ndarray, "some *cells"],
) -> np.ndarray:
    """function(samples, *others) for one that treats all places but the first axis alike.

    What it returns has the cells last, in their shape.
    """
    every, cells = (samples, *others), samples.shape[1:]
    if sum(array.size for array in every) <= NUMBERS:
        return function(*every)
    flat = [array.reshape(len(array), -1) for array in every]
    parts = [
        function(*(array[:, some] for array in flat))
        for some in pieces(flat[0].shape[1], sum(map(len, every)))
    ]
    found = np.concatenate(parts, axis=-1)
    return found.reshape(*found.shape[:-1], *cells)


def quantiles(
    samples: Float[np.ndarray, "draws *cells"], levels: Sequence[float]
) -> Float[np.ndarray, "levels *cells"]:
    """Quantiles over draws in every cell."""
    return cellwise(lambda some: _quantiles(some, levels), samples)


def _quantiles(
    samples: Float[np.ndarray, "draws *cells"], levels: Sequence[float]
) -> Float[np.ndarray, "levels *cells"]:
    # along the last axis, where draws of one value stand together: much faster
    drawn = np.ascontiguousarray(np.moveaxis(samples, 0, -1))
    return np.asarray(np.quantile(drawn, levels, axis=-1, overwrite_input=True))
