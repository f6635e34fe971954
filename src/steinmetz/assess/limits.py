"""Points at the ends of the domain: growth without bound, or a bound from below."""

import numpy as np
from jaxtyping import Bool, Float

from steinmetz.assess.evidence import (
    PROVEN,
    ROUNDING,
    VIOLATED,
    Evidence,
    Figures,
    Flags,
    Point,
    any_of,
    codes_of,
    told,
)
from steinmetz.assess.proof import limit
from steinmetz.materials.demands import Limit, Signs
from steinmetz.potentials.mechanics import Terms

# On the last step of every path, a factor of ten before it and a factor of a hundred.
Energies = Float[np.ndarray, "laws paths 3"]

# Of a path: what a factor of ten adds must not shrink by more than this, or the energy converges.
_LASTING = 0.5
_BY_TERM = "a term of Ψ becomes infinite there, and Ψ does not fall with the other inputs"
_BY_TANGENT = "Ψ is convex and lies above an affine function of its inputs that grows without bound"


def limit_point(seen: Evidence, number: int) -> Point:
    """Growth, or a bound from below, at an end of the domain."""
    wanted = seen.demands.limits[number]
    first = sum(len(before.labels) for before in seen.demands.limits[:number])
    mine = slice(first, first + len(wanted.labels))
    energies, peaks = seen.response.ends[:, mine], seen.response.peaks[:, mine]
    if not wanted.grows:
        return _bounded(wanted, energies, seen.response.dips[:, mine])
    ends = energies[:, :, 0]
    value = _at_the_end(seen, wanted)
    proven = _proven(seen, wanted, value)
    stopped = any_of(~_lasting(energies), 1) & ~proven
    broken = stopped | np.isfinite(value) | (value == -np.inf) | any_of(np.isnan(ends), 1)
    codes, figures = codes_of(proven, broken), np.where(np.isfinite(value), value, ends.min(axis=1))
    law = told(codes)
    way = int(np.argmin(ends[law]))
    peak, label = peaks[law, way], wanted.labels[way]
    if codes[law] == VIOLATED:
        words = f"Ψ̂ does not grow without bound: it ends at {figures[law]:.4g} in {label}"
        words += f", after {peak:.4g} on the way" if peak > 1.001 * max(figures[law], 0) else ""
    elif codes[law] == PROVEN:
        by_term = wanted.end is not None or isinstance(seen.law.graph, Terms)
        words = _BY_TERM if by_term else _BY_TANGENT
    else:
        words = f"Ψ̂ grows on every path, to {figures[law]:.3g} or more (least in {label})"
    return Point(wanted.name, wanted.demanded, codes, figures, wanted.name, words)


def _proven(seen: Evidence, wanted: Limit, value: Figures) -> Flags:
    """Where a term, or a tangent of a convex Ψ, forces the limit."""
    graph = seen.law.graph
    if isinstance(graph, Terms):
        grows = graph.endless if wanted.end is None else graph.bursts
        return np.asarray(grows(seen.every) & seen.proofs.convex)
    return np.asarray(_by_tangent(seen, wanted) | ((value == np.inf) & seen.proofs.increasing))


def _by_tangent(seen: Evidence, wanted: Limit) -> Flags:
    """Where a convex Ψ has a tangent with slopes that force the limit."""
    tangent = np.zeros(len(seen.every), bool)
    for signs in wanted.signs:
        tangent |= _forced(seen, signs)
    return np.asarray(tangent & seen.proofs.convex)


def _forced(seen: Evidence, signs: Signs) -> Flags:
    """Whether the slopes of one of the tangents have these signs, beyond rounding."""
    slopes, inputs = seen.response.slopes, seen.law.graph.inputs
    rounding = ROUNDING * np.abs(slopes).max(axis=2)
    holds = np.ones(slopes.shape[:2], bool)
    for index, name in enumerate(inputs):
        if name in signs.positive:
            holds &= slopes[:, :, index] > rounding
        elif name not in signs.either:
            holds &= slopes[:, :, index] >= -1e-6 * rounding
    return any_of(holds, 1)


def _at_the_end(seen: Evidence, wanted: Limit) -> Figures:
    """Ψ̂ in the limit, where the limit has inputs; not a number where it is unknown.

    A finite one is a counter-example; an infinite one is a proof where Ψ does not fall with the
    other inputs.
    """
    if wanted.end is None or isinstance(seen.law.graph, Terms):
        return np.full(len(seen.every), np.nan)
    away = np.asarray(wanted.end) - np.asarray(seen.law.reference.point)
    value = limit(seen.law.graph, seen.every, wanted.end)
    return np.asarray(value - seen.response.offset - seen.response.tilt @ away)


def _bounded(wanted: Limit, energies: Energies, dips: Float[np.ndarray, "laws paths"]) -> Point:
    """Ψ̂ does not fall without bound on any path."""
    broken = _lasting(-energies) | np.isnan(energies[:, :, 0])
    figures, falls = dips.min(axis=1), any_of(broken, 1)
    codes = codes_of(np.zeros_like(falls), falls)
    law = told(codes)
    way = wanted.labels[int(np.argmin(dips[law]))]
    words = f"least Ψ̂ {figures[law]:.4g} over {len(wanted.labels)} paths to large strains ({way})"
    if codes[law] == VIOLATED:
        words = f"Ψ̂ falls without bound: {figures[law]:.3g} at the end of the path of {way}"
    return Point(wanted.name, wanted.demanded, codes, figures, wanted.name, words)


def _lasting(energies: Energies) -> Bool[np.ndarray, "laws paths"]:
    """Whether the last factor of ten still adds, and about as much as the one before it."""
    end, ten, hundred = np.moveaxis(energies, 2, 0)
    with np.errstate(invalid="ignore"):
        grows = (end - ten > ROUNDING * np.abs(end)) & (end - ten >= _LASTING * (ten - hundred))
    return np.asarray(grows | (end == np.inf))
