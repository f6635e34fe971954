"""Draws that make the bands: of one law, or of a mixture of laws (method §6)."""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from jaxtyping import Float, Int

from steinmetz.data.noise import Draws
from steinmetz.pieces import pieces
from steinmetz.posterior.structures import Part
from steinmetz.potentials.law import Law
from steinmetz.potentials.volume import completed, drawn
from steinmetz.predict.push_forward import Pushed, push_forward
from steinmetz.records import StressMap

# The most components that a stress has.
_COMPONENTS = 10


class Discrepancy(NamedTuple):
    """What all laws miss, in the unit of stress, by the energy of a state.

    It grows as the root of the energy, as stress does: nothing at rest, `size` at the energy
    `usual`. Beyond the energy `largest`, where there are no data, it grows as the energy.
    """

    size: float
    usual: float
    largest: float

    def at(self, energy: Float[np.ndarray, "draws states"]) -> Float[np.ndarray, "draws states"]:
        """The deviation at every state."""
        positive = np.maximum(energy, 0.0)
        beyond = np.sqrt(np.maximum(positive / self.largest, 1.0))
        return np.asarray(self.size * np.sqrt(positive / self.usual) * beyond)


class Bands(NamedTuple):
    """Laws with draws of their parameters, and the noise of every draw.

    One part is the posterior of one law; several are a posterior over laws, each with as many draws
    as its weight is worth. Where the data say that no law is right, stress differs from that of its
    law by a `discrepancy`, in each component and draw by another share of it.
    """

    parts: tuple[Part, ...]
    noise: Draws
    discrepancy: Discrepancy | None = None

    @classmethod
    def of(cls, law: Law, theta: Float[np.ndarray, "draws parameters"], noise: Draws) -> "Bands":
        """The posterior of one law."""
        return cls((Part(law, 1.0, theta),), noise)

    @property
    def completed(self) -> "Bands":
        """The same of laws with their volume part, where one was given."""
        parts = [
            part._replace(law=completed(part.law), theta=drawn(part.law, part.theta))
            for part in self.parts
        ]
        return self._replace(parts=tuple(parts))

    def push(self, at: StressMap) -> tuple[Pushed, Float[np.ndarray, "draws states"]]:
        """Observed components and energy of every draw at every state."""
        if len(self.parts) == 1:
            (only,) = self.parts
            return push_forward(only.law, only.theta, at)
        return self.composed(at)

    def composed(self, at: StressMap) -> tuple[Pushed, Float[np.ndarray, "draws states"]]:
        """The same of laws composed of terms, however many: nothing is compiled."""
        states, components = at.operator.shape[:2]
        draws = len(self.owner)
        stress, energy = np.empty((draws, states, components)), np.empty((draws, states))
        for some, part in self._portions(states * components):
            stress[some], energy[some] = push_forward(part.law, part.theta, at)
        if self.discrepancy is not None:
            shares = np.random.default_rng(draws).standard_normal((draws, _COMPONENTS))
            for some in pieces(draws, states * components):
                size = self.discrepancy.at(energy[some])
                stress[some] += size[:, :, None] * shares[some, None, :components]
        return stress, energy

    def _portions(self, each: int) -> Iterator[tuple[slice, Part]]:
        """Some draws of a law at a time, with their place among all; `each` numbers per draw."""
        start = 0
        for part in self.parts:
            for some in pieces(len(part.theta), each):
                yield (
                    slice(start + some.start, start + some.stop),
                    part._replace(theta=part.theta[some]),
                )
            start += len(part.theta)

    @property
    def owner(self) -> Int[np.ndarray, "draws"]:
        """The number of the law that every draw belongs to."""
        return np.repeat(np.arange(len(self.parts)), [len(part.theta) for part in self.parts])

    def centres(self, at: StressMap) -> Float[np.ndarray, "laws states components"]:
        """Stress of every law at its fitted values."""
        fitted = [(part.law, np.asarray(part.law.values)[None]) for part in self.parts]
        return np.concatenate([push_forward(law, values, at)[0] for law, values in fitted])
