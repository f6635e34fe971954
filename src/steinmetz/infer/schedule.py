"""How long a sampler runs, what is kept of its way, and when that suffices."""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from jaxtyping import Float

# Places that were kept of all particles.
Kept = Float[np.ndarray, "kept particles dimension"]
Counted = Float[np.ndarray, "counted particles dimension"]
# Whether they suffice.
Settled = Callable[[Counted], bool]


class Schedule(NamedTuple):
    """How long to run and what to keep.

    After `burn` steps come `steps` more, of which every `thin`-th is kept; 0 keeps the last places
    only. A run ends early when `info.direction` is below `tolerance`. Where what was kept is not
    yet `settled`, the steps are doubled, up to `extensions` times; of the kept places every second
    then counts, so that there are as many as before.
    """

    steps: int
    burn: int = 0
    thin: int = 0
    tolerance: float = 0.0
    extensions: int = 0
    settled: Settled | None = None
    stride: int = 1

    @property
    def total(self) -> int:
        """All steps of a run that is not ended early."""
        return self.burn + self.steps

    def doubled(self) -> "Schedule":
        """Twice as long, with the same number of places."""
        steps, stride = 2 * self.steps, 2 * self.stride
        return self._replace(steps=steps, stride=stride, extensions=self.extensions - 1)

    def counted(self, kept: Kept) -> Counted:
        """Those of the kept places that count."""
        return kept[self.stride - 1 :: self.stride]

    def unfinished(self, kept: Kept) -> bool:
        """Whether a run of this length is to be doubled."""
        if self.settled is None or self.extensions <= 0 or self.thin == 0:
            return False
        return not self.settled(self.counted(kept))
