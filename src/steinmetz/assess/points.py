"""The points of a certificate, one function each: what is claimed, proven, measured, in words."""

from collections.abc import Iterator

import numpy as np
from jaxtyping import Float

from steinmetz.assess.evidence import (
    CHECKED,
    PROVEN,
    ROUNDING,
    VIOLATED,
    Codes,
    Evidence,
    Flags,
    Point,
    any_of,
    codes_of,
    least,
    nothing,
    told,
)
from steinmetz.assess.limits import limit_point
from steinmetz.materials.base import Material
from steinmetz.potentials.mechanics import Terms

# Rounding in eigenvalues by a closed form.
_EIGENVALUE = 1e-6


def points(seen: Evidence) -> Iterator[Point]:
    """Every point, in the order in which people read them."""
    yield _objective(seen)
    yield _polyconvex(seen)
    yield _monotone(seen)
    yield _stress_free(seen)
    yield from _moduli(seen)
    yield _energy(seen)
    for number in range(len(seen.demands.limits)):
        yield limit_point(seen, number)
    yield _elliptic(seen)


def _all(seen: Evidence, value: bool) -> Flags:
    return np.full(len(seen.every), value)


def _objective(seen: Evidence) -> Point:
    """Inputs depend on FᵀF alone: a fact of the material, the same for every law."""
    broken = seen.turned > ROUNDING
    codes = codes_of(_all(seen, seen.material.objective), _all(seen, broken))
    words = f"inputs change by {seen.turned:.2g} of their size when the body is turned"
    if not broken:
        kept = "are functions of FᵀF" if seen.material.objective else "stayed the same"
        words = f"turning the body changes no energy: inputs {kept}"
    return Point("objective", True, codes, _all(seen, True) * seen.turned, "objective", words)


def _polyconvex(seen: Evidence) -> Point:
    """Convex in all inputs and non-decreasing in some: sufficient for polyconvexity."""
    wanted, name = seen.material.conditions, "polyconvex"
    if not wanted.convex:
        return nothing(seen, name, "no convexity is demanded: Ψ may have several wells")
    if isinstance(seen.law.graph, Terms):
        return _by_term(seen)
    broken = seen.bent | any_of(seen.falling, 1)
    codes = codes_of(seen.proofs.convex & seen.proofs.increasing, broken)
    inputs, rising = ", ".join(seen.law.graph.inputs), " and ".join(wanted.increasing)
    claim = f"convex in ({inputs}) and non-decreasing in {rising}"
    words = {
        PROVEN: f"signs and activations prove Ψ {claim}, which is sufficient",
        CHECKED: f"signs do not prove Ψ {claim}; no random state contradicts",
        VIOLATED: f"the sufficient condition fails at a random state: Ψ {claim}",
    }
    return _of_worst(name, codes, words)


def _of_worst(name: str, codes: Codes, words: dict[int, str]) -> Point:
    """A point without a figure, with the sentence of the worst law."""
    return Point(name, True, codes, np.full(len(codes), np.nan), name, words[int(codes.max())])


def _by_term(seen: Evidence) -> Point:
    """A sum of polyconvex terms; a law that is not elliptic would contradict."""
    codes = codes_of(seen.proofs.convex, _not_elliptic(seen))
    words = {
        PROVEN: "every term is polyconvex, and no coefficient is negative",
        CHECKED: "a coefficient is negative; no state was met where Ψ is not elliptic",
        VIOLATED: "Ψ is not elliptic at some state, which every polyconvex law is",
    }
    return _of_worst("polyconvex", codes, words)


def _not_elliptic(seen: Evidence) -> Flags:
    """Where the least second derivative along m ⊗ N is negative beyond rounding."""
    margin, rounding = seen.response.margin, _EIGENVALUE * seen.response.scale
    return np.asarray(~(margin >= -rounding))


def _monotone(seen: Evidence) -> Point:
    """Ψ does not fall with the inputs that the material names."""
    names, name = seen.material.conditions.increasing, "monotone"
    if isinstance(seen.law.graph, Terms):
        return nothing(seen, name, "polyconvexity is that of the terms, whatever they grow with")
    if not names:
        return nothing(seen, name, "no growth in an input is demanded")
    codes = codes_of(seen.proofs.increasing, any_of(seen.falling, 1))
    falling = [n for n, falls in zip(names, any_of(seen.falling, 0), strict=True) if falls]
    listed = " and ".join(names)
    words = {
        PROVEN: f"signs and activations prove that Ψ does not fall with {listed}",
        CHECKED: f"signs do not prove that Ψ does not fall with {listed}; no random state does",
        VIOLATED: f"Ψ falls with {' and '.join(falling)} at a random state",
    }
    return _of_worst(name, codes, words)


def _stress_free(seen: Evidence) -> Point:
    """No stress is left at the reference."""
    demanded, stress = seen.material.conditions.stress_free, seen.response.stress
    size = np.maximum(1.0, np.max(np.abs(seen.every), axis=1, initial=0.0))
    codes = codes_of(_all(seen, seen.removes), ~(stress <= ROUNDING * size))
    words = f"the largest stress at the reference is {np.max(stress):.2g}"
    words += "; the normalisation removes it for every Ψ" if seen.removes else ""
    return Point("stress-free", demanded, codes, stress, "stress-free", words)


def _moduli(seen: Evidence) -> Iterator[Point]:
    """Stiffnesses at the reference."""
    for number, modulus in enumerate(seen.demands.moduli):
        figures = seen.response.moduli[:, number] / modulus.divisor
        codes = codes_of(_all(seen, False), ~(figures > 0))
        words = f"{modulus.symbol} = {figures[0]:.4g} at the reference{least(figures)}"
        words += "; it must be positive" if (codes == VIOLATED).any() else ""
        short = f"{modulus.symbol} {figures[0]:.3g}"
        yield Point(modulus.name, True, codes, figures, short, words)


def _energy(seen: Evidence) -> Point:
    """No state has less energy than the reference."""
    region, name = seen.demands.far, "energy not negative"
    if region is None:
        return nothing(seen, name, "a state may have less energy than the reference")
    codes, figures = codes_of(_all(seen, False), seen.response.negative), seen.response.least
    law = told(codes)
    place = _place(seen.material, region.states[int(seen.response.lowest[law])])
    words = f"least Ψ̂ {figures[law]:.3g} at {place}, over {region.words}"
    return Point(name, True, codes, figures, "Ψ̂ ≥ 0", words)


def _place(material: Material, state: Float[np.ndarray, "columns"]) -> str:
    """A state in words, without entries that are as at rest."""
    pairs = zip(material.state, state, material.undeformed, strict=True)
    moved = [f"{name} = {value:.3g}" for name, value, rest in pairs if abs(value - rest) > 1e-9]
    return ", ".join(moved) or "the reference"


def _elliptic(seen: Evidence) -> Point:
    """Legendre–Hadamard: m ⊗ N : ∂²Ψ̂/∂F∂F : m ⊗ N ≥ 0; follows from polyconvexity."""
    increments, name = seen.demands.increments, "elliptic"
    if increments is None:
        return nothing(seen, name, "no ellipticity is demanded: Ψ may have several wells")
    margin = seen.response.margin
    proven = seen.proofs.convex & seen.proofs.increasing & seen.material.conditions.convex
    codes = codes_of(proven, _not_elliptic(seen))
    law = told(codes)
    place = _place(seen.material, increments.states[int(seen.response.weakest[law])])
    words = f"margin {margin[law]:.4g} at {place}{least(margin)}, over {increments.words}"
    words = f"polyconvexity proves it; {words}" if codes[law] == PROVEN else words
    return Point(name, True, codes, margin, f"elliptic (margin {margin[law]:.3g})", words)
