"""The laws of a mixture, examined: what their terms prove of every draw, and ellipticity of some.

Everything is numpy, so that nothing is compiled for a structure; second derivatives of Ψ are
difference quotients of its slopes.
"""

import numpy as np
from jaxtyping import Float
from pydantic import Field

from steinmetz.assess.proof import prove_all
from steinmetz.assess.response import Lines
from steinmetz.posterior.structures import Part
from steinmetz.records import Document

# Laws of which a draw is looked at more closely.
_LAWS = 20
# Relative step of a difference quotient.
_STEP = 1e-5

Draws = Float[np.ndarray, "draws parameters"]


class Mixed(Document):
    """How many draws of the laws behind the bands are admissible."""

    laws: int
    draws: int = Field(description="of all laws")
    polyconvex: int = Field(description="by their terms, which is proven")
    bursting: int | None = Field(description="infinite energy at zero volume; null where J = 1")
    endless: int = Field(description="infinite energy at infinite strain")
    looked: int = Field(description="draws whose ellipticity was measured, one of each law")
    elliptic: int = Field(description="those of them without a counter-example")
    margin: float | None = Field(description="least second derivative along m ⊗ N among them")

    @property
    def sentence(self) -> str:
        """What people read."""
        counts = {"polyconvex by their terms": self.polyconvex, "infinite at ‖F‖ → ∞": self.endless}
        if self.bursting is not None:
            counts["infinite at J → 0"] = self.bursting
        words = ", ".join(f"{n} {name}" for name, n in counts.items())
        words = f"of {self.draws} draws of {self.laws} laws behind the bands {words}"
        if self.margin is None:
            return words
        found = f"{self.elliptic} of {self.looked} that were looked at are elliptic"
        return f"{words}; {found} (least margin {self.margin:.3g})"


def examine(parts: tuple[Part, ...], where: Lines) -> Mixed:
    """Of every draw what its terms prove; of one draw of each leading law its margin."""
    polyconvex = bursting = endless = 0
    for part in parts:
        terms = part.law.terms
        polyconvex += int(np.sum(prove_all(terms, part.theta, ()).convex))
        bursting += int(np.sum(terms.bursts(part.theta)))
        endless += int(np.sum(terms.endless(part.theta)))
    margins = [_margin(part, where) for part in parts[:_LAWS]] if len(where.inputs) else []
    return Mixed(
        laws=len(parts),
        draws=sum(len(part.theta) for part in parts),
        polyconvex=polyconvex,
        bursting=bursting if len(parts[0].law.reference.point) == 3 else None,
        endless=endless,
        looked=len(margins),
        elliptic=sum(least >= -_STEP * most for least, most in margins),
        margin=min((least for least, _ in margins), default=None),
    )


def _margin(part: Part, where: Lines) -> tuple[float, float]:
    """The least second derivative of the first draw of a law, and the largest, for rounding."""
    x, first, second = (np.asarray(each) for each in where)
    slopes, bends = _bent(part, x)
    along = np.einsum("sdvwi,si->sdvw", second, slopes, optimize=True)
    along += np.einsum("sdvi,sij,sdwj->sdvw", first, bends, first, optimize=True)
    return float(np.linalg.eigvalsh(along).min()), float(np.abs(along).max())


def _bent(
    part: Part, x: Float[np.ndarray, "states inputs"]
) -> tuple[Float[np.ndarray, "states inputs"], Float[np.ndarray, "states inputs inputs"]]:
    """Slopes of Ψ̂ and their central difference quotients, for the first draw of a law."""
    reference, size = part.law.reference, x.shape[1]
    step = _STEP * (1 + np.abs(x))
    moved = [x + sign * step * np.eye(size)[i] for i in range(size) for sign in (1, -1)]
    every = np.concatenate([np.asarray(reference.point)[None], x, *moved])
    slopes = part.law.terms.pushed(part.theta[:1], every)[0][0]
    rest, own, *beside = np.split(slopes, 1 + len(x) * np.arange(2 * size + 1))
    bends = [
        (ahead - behind) / (2 * step[:, [i]])
        for i, (ahead, behind) in enumerate(zip(beside[::2], beside[1::2], strict=True))
    ]
    tilt = rest[0] - rest[0] @ reference.responses
    return own - tilt, np.stack(bends, axis=2)
