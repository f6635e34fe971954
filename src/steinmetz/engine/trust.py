"""Where a law can be trusted: the plane of two stretches, with the band of stress and stability.

Incompressible materials in plane stress, by the stretches λ1 ≥ λ2 of the loaded faces; compressible
ones by a stretch along an axis and one across it. Three things may be wrong at a state: the data
leave the stress open (a wide band), the law softens so that stress falls as strain grows (Drucker),
or it forms shear bands (ellipticity).
"""

from typing import NamedTuple

import numpy as np
from jaxtyping import Bool, Float
from pydantic import Field

from steinmetz import host
from steinmetz.assess import stability
from steinmetz.assess.proof import prove_all
from steinmetz.engine import plane
from steinmetz.engine.problem import Problem
from steinmetz.experiments.incompressible import STATE
from steinmetz.materials.stretches import Stretches
from steinmetz.potentials.law import Law
from steinmetz.potentials.mechanics import Terms
from steinmetz.predict.bands import Bands
from steinmetz.records import Document, StressMap, spaced

# Draws that make the band, and laws whose stability is looked at, composed of terms or not.
_DRAWS, _LAWS, _UNPROVEN = 400, 60, 6
# States of the data of a test, at most.
_STATES = 1000
# Width of the 95 % band over the stress up to which it is known.
KNOWN = 0.2
Values = Float[np.ndarray, "states"]


class Trusted(Document):
    """How far a test can be predicted, by the larger change of its two stretches."""

    test: str
    end: float = Field(description="where the map ends, as a stretch")
    known: float | None = Field(
        description="stretch up to which the 95 % band is narrower than a fifth of the stress"
    )
    stable: float | None = Field(description="stretch at which the law is no longer stable")


class Trust(Document):
    """Where to trust a law, and where not."""

    tests: list[Trusted]
    within: float | None = Field(
        description="widest 95 % band over stress at states of the data; null if not finite"
    )
    stable: float = Field(description="share of the map where the law is stable (Drucker)")
    elliptic: float = Field(description="share of the map where the law is elliptic")

    @property
    def sentence(self) -> str:
        """What people read."""
        known = [f"{row.test} to {row.known:.3g}" for row in self.tests if row.known is not None]
        size = "not bounded" if self.within is None else f"at most {self.within:.2g} of the stress"
        words = f"at the states of the data the 95 % band is {size}"
        if known:
            words += f"; it stays below {KNOWN:g} for {', '.join(known)} (stretch)"
        return f"{words}. {self._stability}"

    @property
    def _stability(self) -> str:
        """Where the law itself fails."""
        lost = [f"{row.test} at {row.stable:.3g}" for row in self.tests if row.stable is not None]
        if self.elliptic < 1:
            lost.append(f"ellipticity on {100 * (1 - self.elliptic):.0f} % of the map")
        if self.stable == 1 and not lost:
            return "The law is elliptic and stable (Drucker) on the whole map"
        places = ", ".join(lost) or "no standard test"
        return (
            f"The law is stable (Drucker) on {100 * self.stable:.0f} % of the map; lost: {places}"
        )


class Map(NamedTuple):
    """The plane, state by state: rows are the second stretch, columns the first.

    Not a number where λ1 < λ2 says nothing more. `unstable` and `not_elliptic` are shares of laws
    behind the bands; `measured` are the states of the data by test.
    """

    axis: Float[np.ndarray, "side"]
    width: Float[np.ndarray, "side side"]
    stable: Float[np.ndarray, "side side"]
    elliptic: Float[np.ndarray, "side side"]
    unstable: Float[np.ndarray, "side side"]
    not_elliptic: Float[np.ndarray, "side side"]
    measured: dict[str, plane.Pairs]
    incompressible: bool
    found: Trust


class _Judged(NamedTuple):
    """The same at a list of states."""

    width: Values
    stable: Bool[np.ndarray, "states"]
    elliptic: Bool[np.ndarray, "states"]
    unstable: Values
    not_elliptic: Values


def applies(problem: Problem) -> bool:
    """Whether the stress follows from principal stretches alone."""
    material = problem.material
    return material.state == STATE and material.inputs == ("I1", "I2", "J")[: len(material.inputs)]


def trust_map(problem: Problem, law: Law, bands: Bands) -> Map:
    """Band and stability over the plane, along standard tests, and at the states of the data."""
    flat = problem.material.incompressible
    measured = {name: states for name, states in plane.measured(problem).items() if len(states)}
    measured = {name: states[spaced(len(states), _STATES)] for name, states in measured.items()}
    data = np.concatenate(list(measured.values()))
    axis = plane.axis(data)
    grid = np.stack(np.meshgrid(axis, axis), axis=-1).reshape(-1, 2)
    shown = grid[:, 0] >= grid[:, 1] * (1 - 1e-12) if flat else np.ones(len(grid), bool)
    tests = {name: plane.course(powers, axis) for name, powers in plane.tests(flat).items()}
    parts = [grid[shown], *tests.values(), data]
    judged = _judge(law, bands, plane.stretches(np.concatenate(parts), flat))
    ends = np.cumsum([len(part) for part in parts])[:-1]
    whole, *along, seen = (
        _Judged(*part) for part in zip(*(np.split(each, ends) for each in judged), strict=True)
    )
    found = Trust(
        tests=[_trusted(n, s, j) for (n, s), j in zip(tests.items(), along, strict=True)],
        within=_widest(seen.width),
        stable=float(np.mean(whole.stable)),
        elliptic=float(np.mean(whole.elliptic)),
    )
    width, stable, elliptic, unstable, broken = (_placed(each, shown) for each in whole)
    return Map(axis, width, stable, elliptic, unstable, broken, measured, flat, found)


def _widest(width: Values) -> float | None:
    """The largest, if it is a number; at rest there is none."""
    largest = float(np.nan_to_num(width, nan=0.0, posinf=np.inf).max())
    return largest if np.isfinite(largest) else None


def _placed(
    values: np.ndarray, shown: Bool[np.ndarray, "states"]
) -> Float[np.ndarray, "side side"]:
    """Values on the grid, not a number where there is none."""
    whole = np.full(len(shown), np.nan)
    whole[shown] = values
    return whole.reshape(plane.SIDE, plane.SIDE)


def _judge(law: Law, bands: Bands, stretches: Stretches) -> _Judged:
    """Band, and stability of the law and of a sample of those behind the band."""
    width = _width(_thinned(bands, _DRAWS), stretches)
    own = _stable(Bands.of(law, np.asarray(law.values)[None], bands.noise), stretches)
    count = _LAWS if _composed(bands) else _UNPROVEN
    every = [_stable(each, stretches) for each in _apart(_thinned(bands, count))]
    drucker, elliptic = (np.concatenate(part) for part in zip(*every, strict=True))
    return _Judged(width, own[0][0], own[1][0], 1 - drucker.mean(axis=0), 1 - elliptic.mean(axis=0))


def _thinned(bands: Bands, count: int) -> Bands:
    """The same with fewer draws, evenly taken from all."""
    owner = bands.owner
    every = max(1, len(owner) // count)
    starts = np.searchsorted(owner, np.arange(len(bands.parts)))
    parts = [
        part._replace(theta=part.theta[(-start) % every :: every])
        for part, start in zip(bands.parts, starts, strict=True)
    ]
    return bands._replace(parts=tuple(part for part in parts if len(part.theta)))


def _apart(bands: Bands) -> list[Bands]:
    return [bands._replace(parts=(part,), discrepancy=None) for part in bands.parts]


def _push(bands: Bands, at: StressMap) -> Float[np.ndarray, "draws states components"]:
    """Stress of every draw, infinite beyond where a law locks and has no energy.

    Nothing is compiled for laws composed of terms.
    """
    with np.errstate(all="ignore"):
        stress, energy = bands.composed(at) if _composed(bands) else bands.push(at)
    return np.where(np.isfinite(energy)[..., None], stress, np.inf)


def _composed(bands: Bands) -> bool:
    return all(isinstance(part.law.graph, Terms) for part in bands.parts)


def _width(bands: Bands, stretches: Stretches) -> Values:
    """Width of the 95 % band of the loaded faces over their stress; infinite where there is none.

    Where J = 1, the stress of the third face is taken away: it is free.
    """
    count = len(bands.parts[0].law.reference.point)
    operator = stability.operator(stretches, count)
    loaded = operator[:, :2] - operator[:, 2:] if count == 2 else operator[:, :2]
    x = stability.inputs(stretches, count)
    stress = _push(bands, StressMap(host.held(x), host.held(loaded)))
    with np.errstate(all="ignore"):
        low, middle, high = np.quantile(stress, (0.025, 0.5, 0.975), axis=0)
        width = np.linalg.norm(high - low, axis=1) / np.linalg.norm(middle, axis=1)
    rest = np.abs(np.log(stretches)).max(axis=1) < 1e-9
    return np.where(rest, np.nan, np.where(np.isfinite(width), width, np.inf))


def _stable(
    bands: Bands, stretches: Stretches
) -> tuple[Bool[np.ndarray, "draws states"], Bool[np.ndarray, "draws states"]]:
    """Which draws of one law are stable, and elliptic; polyconvex ones are wherever they exist."""
    (part,) = bands.parts
    count = len(part.law.reference.point)

    def slopes(x: Float[np.ndarray, "states inputs"]) -> Float[np.ndarray, "draws states inputs"]:
        identity = np.broadcast_to(np.eye(count), (len(x), count, count))
        return _push(bands, StressMap(host.held(x), host.held(identity)))

    found = stability.stiffness(slopes, stretches, count)
    exists = np.isfinite(found.bend).all(axis=(2, 3))
    drucker = stability.drucker(found) > -stability.ROUNDING
    elliptic = exists.copy()
    proofs = prove_all(part.law.graph, part.theta, ("I1", "I2"))
    unproven = np.flatnonzero(~(proofs.convex & proofs.increasing))
    if unproven.size:
        some = found._replace(stress=found.stress[unproven], bend=found.bend[unproven])
        elliptic[unproven] &= stability.elliptic(some) > -stability.ROUNDING
    return drucker, elliptic


def _trusted(name: str, states: plane.Pairs, judged: _Judged) -> Trusted:
    """How far a test goes before it is not known, and not stable."""
    furthest = int(np.argmax(np.abs(np.log(states[-1]))))
    stretch = states[:, furthest]
    wide, failed = judged.width >= KNOWN, ~(judged.stable & judged.elliptic)
    known = int(np.argmax(wide)) if wide.any() else len(stretch)
    return Trusted(
        test=name,
        end=float(stretch[-1]),
        known=float(stretch[known - 1]) if known else None,
        stable=float(stretch[np.argmax(failed)]) if failed.any() else None,
    )
