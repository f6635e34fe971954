"""Stability of isotropic laws at principal stretches λ: Drucker's, and ellipticity.

With e_i = log λ_i the slopes τ_i = ∂Ψ̂/∂e_i are the principal Kirchhoff stresses, and their slopes
H_ij = ∂τ_i/∂e_j say how stress follows strain. Drucker's condition dτ·de > 0 is a positive definite
H, and ellipticity (Legendre–Hadamard) a positive definite acoustic matrix for every direction; both
are written in τ and H alone. Slopes are difference quotients of τ. Where the volume is constant,
strains keep it: the pressure then does no work and is left out.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from jaxtyping import Bool, Float

from steinmetz.materials.stretches import Stretches, directions, orthogonal

# Slopes of Ψ̂ in its inputs, of many laws at many inputs.
Slopes = Callable[[Float[np.ndarray, "states inputs"]], Float[np.ndarray, "laws states inputs"]]
Margins = Float[np.ndarray, "laws states"]
Spatial = Float[np.ndarray, "states 3 inputs"]

# Step of difference quotients, in log λ.
_STEP = 1e-4
# Normals are (i, j, k)/|(i, j, k)| with i + j + k equal to this.
_NORMALS = 4
# Two squared stretches closer than this, relatively, are the same.
_SAME = 1e-3
# Rounding and difference quotients, relative to the largest stiffness.
ROUNDING = 1e-6
# Strains that keep the volume.
_ISOCHORIC = np.array([[1, -1, 0], [1, 1, -2]]).T / np.sqrt([2, 6])


class Stiffness(NamedTuple):
    """Stretches, τ and H of many laws; `isochoric` where the volume is constant."""

    stretches: Stretches
    stress: Float[np.ndarray, "laws states 3"]
    bend: Float[np.ndarray, "laws states 3 3"]
    isochoric: bool

    @property
    def strains(self) -> Float[np.ndarray, "3 free"]:
        """A basis of the strains that are possible."""
        return _ISOCHORIC if self.isochoric else np.eye(3)


def inputs(stretches: Stretches, count: int) -> Float[np.ndarray, "states inputs"]:
    """I1, I2 and, unless it is one always, J."""
    square = stretches**2
    first = square.sum(axis=1)
    second = (first**2 - (square**2).sum(axis=1)) / 2
    return np.stack([first, second, stretches.prod(axis=1)], axis=1)[:, :count]


def operator(stretches: Stretches, count: int) -> Spatial:
    """∂(I1, I2, J)/∂e: what slopes of Ψ̂ are multiplied by to give τ."""
    square = stretches**2
    others = square.sum(axis=1, keepdims=True) - square
    volume = np.broadcast_to(stretches.prod(axis=1, keepdims=True), square.shape)
    return np.stack([2 * square, 2 * square * others, volume], axis=2)[:, :, :count]


def stiffness(slopes: Slopes, stretches: Stretches, count: int) -> Stiffness:
    """τ and H of laws with `count` inputs: two where the volume is constant."""
    isochoric = count == 2
    kept = np.eye(3) - isochoric / 3
    moves = np.exp(_STEP * np.concatenate([np.zeros((1, 3)), kept, -kept]))
    every = (moves[:, None] * stretches).reshape(-1, 3)
    with np.errstate(all="ignore"):
        found = slopes(inputs(every, count))
        stress = np.einsum("sci,lsi->lsc", operator(every, count), found) @ kept
    own, *beside = np.split(stress, len(moves), axis=1)
    with np.errstate(invalid="ignore"):
        columns = [(a - b) / (2 * _STEP) for a, b in zip(beside[:3], beside[3:], strict=True)]
    bend = np.stack(columns, axis=3)
    return Stiffness(stretches, own, (bend + np.swapaxes(bend, 2, 3)) / 2, isochoric)


def drucker(found: Stiffness) -> Margins:
    """The least eigenvalue of H over its largest entry; −∞ where a law has no stress."""
    U = found.strains
    return _least(np.einsum("af,lsab,bg->lsfg", U, found.bend, U, optimize=True))


def elliptic(found: Stiffness) -> Margins:
    """The least eigenvalue of all acoustic matrices over the largest entry of one."""
    normals, margins = directions(_NORMALS), []
    for normal in normals:
        matrix = _acoustic(found, normal)
        if found.isochoric:
            basis = orthogonal((normal / found.stretches)[:, None])[:, 0]
            matrix = np.einsum("sfa,lsab,sgb->lsfg", basis, matrix, basis, optimize=True)
        margins.append(_least(matrix))
    return np.asarray(np.min(margins, axis=0))


def _least(matrix: Float[np.ndarray, "laws states n n"]) -> Margins:
    finite = np.isfinite(matrix).all(axis=(2, 3))
    safe = np.where(finite[..., None, None], matrix, 0.0)
    scale = np.maximum(np.abs(safe).max(axis=(2, 3)), 1e-300)
    return np.where(finite, np.linalg.eigvalsh(safe / scale[..., None, None])[..., 0], -np.inf)


def _acoustic(
    found: Stiffness, normal: Float[np.ndarray, "3"]
) -> Float[np.ndarray, "laws states 3 3"]:
    """A of d²Ψ̂(m ⊗ N) = m · A m, by ∂²Ψ̂/∂F∂F in principal axes (Ogden 1984, §6.1)."""
    stretch, first = found.stretches, found.stress / found.stretches
    eye = np.eye(3)
    second = found.bend - found.stress[..., None] * eye
    second = second / (stretch[:, :, None] * stretch[:, None, :])
    straight, crossed = _shears(stretch, first, second)
    off = np.outer(normal, normal) * (second + crossed) * (1 - eye)
    along = np.einsum("lsii->lsi", second) * normal**2
    across = np.einsum("lsij,j->lsi", straight * (1 - eye), normal**2)
    return np.asarray(off + (along + across)[..., None] * eye)


def _shears(
    stretch: Stretches,
    first: Float[np.ndarray, "laws states 3"],
    second: Float[np.ndarray, "laws states 3 3"],
) -> tuple[Float[np.ndarray, "laws states 3 3"], Float[np.ndarray, "laws states 3 3"]]:
    """∂²Ψ̂/∂F_ij∂F_ij and ∂²Ψ̂/∂F_ij∂F_ji of i ≠ j; their limits where two stretches coincide."""
    a, b = stretch[:, :, None], stretch[:, None, :]
    p, q = first[..., :, None], first[..., None, :]
    gap = a**2 - b**2
    same: Bool[np.ndarray, "states 3 3"] = np.abs(gap) < _SAME * (a**2 + b**2)
    gap = np.where(same, 1.0, gap)
    own = np.einsum("lsii->lsi", second)
    bent = (own[..., :, None] + own[..., None, :]) / 2 - second
    mean = (p + q) / (a + b)
    straight = np.where(same, (bent + mean) / 2, (a * p - b * q) / gap)
    crossed = np.where(same, (bent - mean) / 2, (b * p - a * q) / gap)
    return straight, crossed
