"""What is done to a part: a mesh, what is held, what pulls, and what is looked at."""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from jaxtyping import Float, Int

from steinmetz.fe.space import Space


class Quantity(NamedTuple):
    """A number of interest: weights times displacements, or times forces on what is held.

    The weights may depend on the share of the load, as arms of forces on a turning face do.
    """

    name: str
    of_forces: bool
    weights: Callable[[float], Float[np.ndarray, "all"]]

    def at(
        self, u: Float[np.ndarray, "all"], internal: Float[np.ndarray, "all"], load: float
    ) -> float:
        """Its value at an equilibrium."""
        return float(self.weights(load) @ (internal if self.of_forces else u))


class Problem(NamedTuple):
    """Displacements `fixed` are `prescribed` at every share of the load, `force` is dead.

    `load` says in words what a share of one is.
    """

    name: str
    space: Space
    fixed: Int[np.ndarray, "fixed"]
    prescribed: Callable[[float], Float[np.ndarray, "fixed"]]
    force: Float[np.ndarray, "all"]
    quantities: tuple[Quantity, ...]
    load: str


def unknowns(
    nodes: Int[np.ndarray, "members"], dimension: int, axis: int
) -> Int[np.ndarray, "members"]:
    """The unknowns of some nodes in a direction."""
    return dimension * nodes + axis


def pick(size: int, places: Int[np.ndarray, "some"], mean: bool = False) -> np.ndarray:
    """Weights that add up, or average, some unknowns."""
    weights = np.zeros(size)
    weights[places] = 1 / len(places) if mean else 1.0
    return weights
