"""Where isotropic laws are examined: states of principal stretches.

Turning a state before or after it is deformed changes nothing in an isotropic material, so F =
diag(λ1, λ2, λ3) with λ1 ≤ λ2 ≤ λ3 stands for all states with these stretches, and normals N with
non-negative entries for all normals.
"""

from collections.abc import Sequence
from itertools import combinations_with_replacement, product

import numpy as np
from jaxtyping import Float

from steinmetz.materials.demands import Demands, Increments, Limit, Modulus, Region, Signs

Stretches = Float[np.ndarray, "states 3"]

# Stretches of the region in which ellipticity is measured, whatever the data.
_NEAR = (0.6, 0.8, 1.0, 1.2, 1.4)
# Stretches at which the energy is checked, far beyond most data.
_FAR = tuple(np.geomspace(0.1, 10, 11).tolist())
# Normals N are (i, j, k)/|(i, j, k)| with i + j + k equal to this.
_NORMALS = 6
# Steps of a path per factor of ten, and factors of ten in all.
_DECADE, _DOWN, _UP = 8, 8, 4
# F = diag(s^a, s^b, s^c), s → 0: the volume vanishes.
_COLLAPSE = {
    "uniform compression": (1.0, 1.0, 1.0),
    "biaxial compression": (1.0, 1.0, 0.0),
    "uniaxial compression": (1.0, 0.0, 0.0),
}
# The same with s → ∞, at any volume and at constant volume.
_STRETCH = {
    "uniform extension": (1.0, 1.0, 1.0),
    "biaxial extension": (1.0, 1.0, 0.0),
    "uniaxial extension": (1.0, 0.0, 0.0),
    "extension to a thread": (1.0, -1.0, -1.0),
}
_ISOCHORIC = {
    "uniaxial tension": (1.0, -0.5, -0.5),
    "equibiaxial tension": (0.5, 0.5, -1.0),
    "pure shear": (1.0, 0.0, -1.0),
}


def demands(measured: Stretches, incompressible: bool, growth: bool) -> Demands:
    """Everything an isotropic law is examined for; `measured` are stretches around the data."""
    near = _every(_NEAR, incompressible)
    more = f"{len(measured)} random states around the data"
    far = _every(_FAR, incompressible)
    far = far[np.abs(far - 1).max(axis=1) > 1e-9]
    words, wide = (
        f"principal stretches {values[0]:g} to {values[-1]:g} and {more}"
        for values in (_NEAR, _FAR)
    )
    return Demands(
        moduli=_moduli(incompressible),
        far=Region(wide, tensors(np.concatenate([far, measured]))),
        limits=_limits(incompressible, growth),
        increments=_increments(words, np.concatenate([near, measured]), incompressible),
    )


def tensors(stretches: Stretches) -> Float[np.ndarray, "states 9"]:
    """F = diag(λ1, λ2, λ3), row by row."""
    return (stretches[:, :, None] * np.eye(3)).reshape(-1, 9)


def _every(values: Sequence[float], incompressible: bool) -> Stretches:
    """All triples of these stretches, or all pairs and what keeps the volume."""
    if incompressible:
        pairs = np.array(list(combinations_with_replacement(values, 2)))
        return np.column_stack([pairs, 1 / pairs.prod(axis=1)])
    return np.array(list(combinations_with_replacement(values, 3)))


def _moduli(incompressible: bool) -> tuple[Modulus, ...]:
    """Ψ̂ ≈ ½ K (3s)² of F = (1 + s) I, and ½ G γ² of F = I + γ e1⊗E2."""
    shear, swelling = np.zeros(9), np.eye(3).ravel()
    shear[1] = 1.0
    bulk = Modulus("K", "bulk modulus", tuple(swelling.tolist()), 9.0)
    stiff = Modulus("G", "shear modulus", tuple(shear.tolist()), 1.0)
    return (stiff,) if incompressible else (bulk, stiff)


def _limits(incompressible: bool, demanded: bool) -> tuple[Limit, ...]:
    """Zero volume and infinite stretch.

    With slopes g of an affine bound, g1 I1 + g2 I2 + g_J J → ∞ as ‖F‖² = I1 → ∞ if g1 > 0 and the
    others are not negative; if g2 > 0 too, g_J may be negative, because I2 ≥ 3 J^(4/3). Where
    J = 1, I2 grows with ‖F‖ as I1 does, so either slope will do.
    """
    signs = (Signs(("I1",)), Signs(("I1", "I2"), ("J",)))
    ways = _ISOCHORIC if incompressible else {**_STRETCH, **_ISOCHORIC}
    far = Limit(
        name="growth as ‖F‖ → ∞",
        grows=True,
        demanded=demanded,
        labels=tuple(ways),
        paths=_paths(tuple(ways.values()), _UP),
        decade=_DECADE,
        signs=(Signs(("I1",)), Signs(("I2",))) if incompressible else signs,
    )
    if incompressible:
        return (far,)
    flat = Limit(
        name="growth as J → 0",
        grows=True,
        demanded=demanded,
        labels=tuple(_COLLAPSE),
        paths=_paths(tuple(_COLLAPSE.values()), -_DOWN),
        decade=_DECADE,
        end=(0.0, 0.0, 0.0),
    )
    return flat, far


def _paths(
    exponents: tuple[tuple[float, ...], ...], decades: int
) -> Float[np.ndarray, "paths steps 9"]:
    """F = diag(s^a, s^b, s^c) with log10 s from 0 to `decades`."""
    s = np.logspace(0, decades, _DECADE * abs(decades) + 1)
    return np.stack([tensors(s[:, None] ** np.array(row)) for row in exponents])


def _increments(words: str, stretches: Stretches, incompressible: bool) -> Increments:
    """Bases of m ⊗ N: all m, or those that keep the volume, m · F⁻ᵀN = 0."""
    normals = directions(_NORMALS)
    vectors = np.broadcast_to(np.eye(3), (len(stretches), len(normals), 3, 3))
    if incompressible:
        vectors = orthogonal(normals[None] / stretches[:, None])
    made = vectors[..., None] * normals[:, None, None, :]
    return Increments(words, tensors(stretches), made.reshape(*made.shape[:3], 9))


def directions(count: int) -> Float[np.ndarray, "normals 3"]:
    """Unit vectors along (i, j, k), non-negative integers whose sum is `count`."""
    steps = product(range(count + 1), repeat=3)
    rows = np.array([row for row in steps if sum(row) == count], float)
    return np.asarray(rows / np.linalg.norm(rows, axis=1, keepdims=True))


def orthogonal(
    across: Float[np.ndarray, "states normals 3"],
) -> Float[np.ndarray, "states normals 2 3"]:
    """Two unit vectors at right angles to a vector and to each other."""
    unit = across / np.linalg.norm(across, axis=-1, keepdims=True)
    helper = np.eye(3)[np.argmin(np.abs(unit), axis=-1)]
    first = np.cross(unit, helper)
    first = first / np.linalg.norm(first, axis=-1, keepdims=True)
    return np.stack([first, np.cross(unit, first)], axis=-2)
