"""What the data do not speak of: states, inputs and slopes of Ψ that they never see."""

import numpy as np
from jaxtyping import Float

from steinmetz.records import Observations

# An input that moves by less than this share of the one that moves most, stands still.
_STILL = 0.02
# A singular value that is smaller, relatively to the largest, is none.
_RANK = 1e-6
# Beyond it, how many times one thing is another says nothing more to a reader.
MANY = 100.0


def times(ratio: float) -> str:
    """How many times in words that a person reads: '3.2 times', or 'more than 100 times'."""
    if ratio > MANY:
        return f"more than {MANY:g} times"
    return f"{ratio:.0f} times" if ratio >= 10 else f"{ratio:.2g} times"


def still(train: Observations, inputs: tuple[str, ...], sizes: tuple[float, ...]) -> list[str]:
    """Inputs of the potential that hardly change from datum to datum, in their natural units."""
    moved = np.ptp(np.asarray(train.inputs), axis=0) / np.asarray(sizes)
    largest = moved.max(initial=0.0)
    return [
        name
        for name, by in zip(inputs, moved, strict=True)
        if largest > 0 and by < _STILL * largest
    ]


def slopes_seen(train: Observations) -> int:
    """How many slopes of Ψ the data of one state tell apart, at the state that tells most."""
    operator, observed = np.asarray(train.operator), np.asarray(train.observed)
    rows: Float[np.ndarray, "data components inputs"] = np.where(observed[..., None], operator, 0.0)
    values = np.linalg.svd(rows, compute_uv=False)
    return int(np.max(np.sum(values > _RANK * values[:, :1], axis=1), initial=0))
