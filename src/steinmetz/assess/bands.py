"""A figure of the law with its spread over the posterior, and small-strain moduli as such figures.

The certificate has measured K and G of the law and of every draw (`response`); E and ν follow.
"""

import numpy as np
from jaxtyping import Float
from pydantic import Field

from steinmetz.assess.certificate import Certificate
from steinmetz.records import Document

Figures = Float[np.ndarray, "laws"]
# The central interval that is given of draws.
_BORDERS = (0.025, 0.975)


class Band(Document):
    """A figure of the law, and mean, standard deviation and interval of it over draws."""

    map: float
    mean: float
    sd: float
    low: float = Field(description="below it lie 2.5 % of the draws")
    high: float = Field(description="above it lie 2.5 % of the draws")

    @property
    def words(self) -> str:
        """Such as '2.43 ± 0.05': as many decimals as the deviation has a use for."""
        if not self.sd > 1e-9 * abs(self.map):
            return f"{self.map:.4g}"
        size = int(np.floor(np.log10(self.sd)))
        first = round(self.sd / 10.0**size, 6)
        places = max(-size + (first < 2), 0)
        return f"{self.map:.{places}f} ± {self.sd:.{places}f}"


def band(figures: Figures) -> Band | None:
    """Of a figure of the law (first) and of every draw; None where that of the law is not finite.

    A law without draws has no spread.
    """
    figures = np.asarray(figures, float)
    if not np.isfinite(figures[0]):
        return None
    drawn = figures[1:][np.isfinite(figures[1:])]
    drawn = drawn if drawn.size else figures[:1]
    low, high = np.quantile(drawn, _BORDERS)
    return Band(
        map=float(figures[0]),
        mean=float(drawn.mean()),
        sd=float(drawn.std()),
        low=float(low),
        high=float(high),
    )


def listed(bands: dict[str, Band]) -> str:
    """Such as 'μ = 2.43 ± 0.05, Jm = 77 ± 3'."""
    return ", ".join(f"{symbol} = {each.words}" for symbol, each in bands.items())


def moduli(certificate: Certificate, incompressible: bool) -> dict[str, Band]:
    """G, K, E and ν at small strain; without K where the volume cannot change.

    Nothing where the material has no shear modulus, or no bulk modulus that it needs.
    """
    measured = {point.name: point.figures for point in certificate.points}
    shear, bulk = measured.get("shear modulus"), measured.get("bulk modulus")
    if shear is None or (bulk is None and not incompressible):
        return {}
    found = {symbol: band(figures) for symbol, figures in _elastic(shear, bulk).items()}
    return {symbol: each for symbol, each in found.items() if each is not None}


def _elastic(G: Figures, K: Figures | None) -> dict[str, Figures]:
    """E = 9KG/(3K + G) and ν = (3K − 2G)/(6K + 2G); their limits as K → ∞."""
    if K is None:
        return {"G": G, "E": 3 * G, "ν": np.full(len(G), 0.5)}
    with np.errstate(all="ignore"):
        return {
            "G": G,
            "K": K,
            "E": 9 * K * G / (3 * K + G),
            "ν": (3 * K - 2 * G) / (6 * K + 2 * G),
        }
