"""Modes of a posterior, looked for once for all samplers of a figure.

Those of a whole network take longer to find than some samplers take to draw; every sampler is
charged with the search all the same.
"""

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Float

from steinmetz.cache import Cache, Content, ContentCache
from steinmetz.engine.carved import stage_keys
from steinmetz.engine.clock import Clock
from steinmetz.engine.problem import Problem
from steinmetz.engine.sample import Posed, modes_of, posterior_of
from steinmetz.infer.modes import Modes
from steinmetz.paper.grids import Point
from steinmetz.paper.records import Record
from steinmetz.sparsify.carve import Carved


class KnownModes(Record):
    """Modes of a posterior, and the seconds that finding them took, in all and to compile."""

    centres: Float[np.ndarray, "modes dimension"]
    roots: Float[np.ndarray, "modes dimension dimension"]
    shares: Float[np.ndarray, "modes"]
    slope: float
    starts: int
    total: float
    compile: float

    @classmethod
    def of(cls, known: Modes, seconds: dict[str, float]) -> "KnownModes":
        """What is kept of modes that were looked for."""
        return cls(
            centres=np.asarray(known.centres), roots=np.asarray(known.roots),
            shares=np.asarray(known.shares), slope=float(np.asarray(known.slope)),
            starts=known.starts, total=seconds["total"], compile=seconds["compile"],
        )  # fmt: skip

    @property
    def modes(self) -> Modes:
        """They, for a sampler."""
        return Modes(
            centres=jnp.asarray(self.centres), roots=jnp.asarray(self.roots),
            shares=jnp.asarray(self.shares), slope=jnp.asarray(self.slope), starts=self.starts,
        )  # fmt: skip


def modes_content(point: Point) -> Content:
    """What modes depend on: the posterior, and not how it is sampled."""
    settings = point.study.content("infer")
    same = {name: part for name, part in settings.items() if name != "infer"}
    return {**same, "carve": point.carve.content("carve")}


def posed_of(
    point: Point, problem: Problem, carved: Carved, results: ContentCache
) -> tuple[Posed, KnownModes]:
    """The posterior of a point and its modes."""
    study, posterior = point.study, posterior_of(carved, problem, point.study)

    def compute(_: Cache) -> KnownModes:
        clock, key = Clock(), jax.random.fold_in(stage_keys(study.seed)["infer"], 1)
        return KnownModes.of(modes_of(key, posterior, carved.law.values), clock.seconds())

    found = results.get(modes_content(point), KnownModes, compute)
    return Posed(posterior, found.modes), found
