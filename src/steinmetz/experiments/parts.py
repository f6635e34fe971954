"""One component of the stress, as a column or a force gives it."""

from typing import NamedTuple

import numpy as np
from jaxtyping import Float

from steinmetz.data import headers
from steinmetz.data.headers import Meaning
from steinmetz.data.units import Unit
from steinmetz.experiments.columns import Columns

Column = Float[np.ndarray, "rows"]


class Part(NamedTuple):
    """One component: numbers in its own unit, and the header and measure it was given in.

    `given` is the component as it was given, `factor` what made it nominal.
    """

    component: str
    values: Column
    unit: Unit | None
    header: str
    measure: str
    given: str = ""
    factor: Column | float = 1.0
    note: str = ""


def index_of(columns: Columns, meaning: Meaning) -> str | None:
    """Two digits of the component; a test with one stress need not say them."""
    observed = columns.experiment.observed
    if len(meaning.axes) == 2:
        return meaning.axes
    if meaning.axes:
        return 2 * meaning.axes
    if columns.experiment.free is not None and len(observed) == 1:
        return observed[0][-2:]
    names = ", ".join(f"{headers.bare(meaning.header)}_{name[-2:]}" for name in observed[:2])
    columns.complain(f"which component it is must be said, such as {names}", meaning.header)
    return None
