"""Certificate: is a law admissible? Point by point, of the law and of every draw.

What signs, activations and construction prove is proven (`proof`); the rest is looked for at many
states (`search`, `response`). A point that is demanded and broken is violated, and so is the whole.
"""

from dataclasses import replace
from typing import NamedTuple

import numpy as np
from jaxtyping import Array, Bool, Float

from steinmetz import host
from steinmetz.assess import mixed, response
from steinmetz.assess.evidence import Evidence, Point
from steinmetz.assess.mixed import Mixed
from steinmetz.assess.points import points
from steinmetz.assess.proof import admissible, prove, prove_all
from steinmetz.assess.search import search
from steinmetz.materials.base import Material, States
from steinmetz.posterior.structures import Part
from steinmetz.potentials.law import Law
from steinmetz.potentials.mechanics import Terms
from steinmetz.records import Reference

__all__ = ["Certificate", "Point", "admissible", "certify", "prove"]

# Of the states around the data so many are looked at more closely.
_CLOSER = 29
# By this angle, in radians, and in space about two axes, the body is turned.
_ANGLE = 0.7


class Certificate(NamedTuple):
    """Every point, and how many random states the search for counter-examples saw.

    `mixture` is what was found of the laws behind the bands, where there are several.
    """

    points: tuple[Point, ...]
    states: int
    mixture: Mixed | None = None

    def point(self, name: str) -> Point:
        """A point by its name."""
        return {point.name: point for point in self.points}[name]

    @property
    def broken(self) -> Bool[np.ndarray, "laws"]:
        """Laws (the law first) that violate a point that is demanded."""
        return np.asarray(np.any([point.violated for point in self.points], axis=0))

    @property
    def checked(self) -> int:
        """How many laws were examined."""
        return len(self.points[0].codes)

    @property
    def violated(self) -> int:
        """How many of them violate something."""
        return int(self.broken.sum())

    @property
    def faults(self) -> list[str]:
        """One sentence per violated point, with who violates it."""
        return [
            f"{point.name} violated by {_who(point.violated)}: {point.sentence}"
            for point in self.points
            if point.violated.any()
        ]


def _who(broken: Bool[np.ndarray, "laws"]) -> str:
    """The law, draws, or both."""
    draws, all_draws = int(broken[1:].sum()), len(broken) - 1
    if broken[0]:
        return f"the law and {draws} of {all_draws} draws" if all_draws else "the law"
    return f"{draws} of {all_draws} draws (first: draw {int(np.argmax(broken[1:]))})"


def certify(
    law: Law,
    particles: Float[np.ndarray, "particles parameters"],
    material: Material,
    states: States,
    operator: Float[Array, "components inputs"],
    parts: tuple[Part, ...] = (),
) -> Certificate:
    """Examine the law itself (first) and every particle.

    `states` are around and beyond the data: the search sees all of them; moduli, energies, limits
    and ellipticity are measured where the material says, and at some of them. `operator` gives the
    stress at the reference. `parts` are the laws behind the bands.
    """
    every = np.concatenate([np.asarray(law.values)[None], np.asarray(particles)])
    conditions = material.conditions
    few = states[np.unique(np.linspace(0, len(states) - 1, _CLOSER).astype(int))]
    demands = material.demands(few)
    turned = np.concatenate([few, _turned(material, few)])
    where = response.probe(material, demands, operator, np.concatenate([turned, states]))
    looked = np.asarray(where.states)
    before, after = np.split(looked[: len(turned)], 2)
    by_term = isinstance(law.graph, Terms)
    wanted = replace(conditions, convex=False, increasing=()) if by_term else conditions
    falling, bent = search(law, np.asarray(particles), wanted, host.held(looked[len(turned) :]))
    seen = Evidence(
        law=law,
        every=every,
        material=material,
        demands=demands,
        proofs=prove_all(law.graph, every, conditions.increasing),
        falling=falling,
        bent=bent,
        response=response.respond(law.graph, law.reference, every, where),
        turned=float(np.max(np.abs(after - before) / (1 + np.abs(before)))),
        removes=_removes(law.reference, np.asarray(operator)),
    )
    beside = mixed.examine(parts, where.increments) if len(parts) > 1 else None
    return Certificate(tuple(points(seen)), len(states), beside)


def _removes(reference: Reference, operator: Float[np.ndarray, "components inputs"]) -> bool:
    """Whether the normalisation leaves no stress at the reference, whatever the slopes of Ψ are."""
    return bool(np.abs(operator @ reference.responses.T).max(initial=0.0) < 1e-12)


def _turned(material: Material, states: States) -> States:
    """The same states with F replaced by R F; unchanged where a state has no whole F."""
    places = [index for index, name in enumerate(material.state) if name.startswith("F")]
    size = round(len(places) ** 0.5)
    if size < 2 or size**2 != len(places):
        return states
    turn = _rotation(size, 0, 1) @ _rotation(size, size - 2, size - 1)
    turned = states.copy()
    tensors = states[:, places].reshape(-1, size, size)
    turned[:, places] = np.einsum("ij,sjk->sik", turn, tensors).reshape(len(states), -1)
    return turned


def _rotation(size: int, first: int, second: int) -> Float[np.ndarray, "n n"]:
    """In the plane of two axes."""
    turn = np.eye(size)
    turn[[first, second], [first, second]] = np.cos(_ANGLE)
    turn[first, second], turn[second, first] = -np.sin(_ANGLE), np.sin(_ANGLE)
    return turn
