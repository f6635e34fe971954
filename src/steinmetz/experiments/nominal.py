"""Stress of other measures as nominal stress, in tests whose deformation gradient is known.

P = J σ F⁻ᵀ = F S. Where one component of P takes one component of σ or S alone, as in every test
along principal axes (P11 = σ11/λ1 = λ1 S11 with J = 1), it is converted row by row.
"""

import numpy as np
from jaxtyping import Float

from steinmetz.data.headers import Measure


def factor(
    measure: Measure, index: str, F: Float[np.ndarray, "rows 3 3"]
) -> Float[np.ndarray, "rows"] | None:
    """What a component is multiplied by to give the same component of P.

    None where it takes other components too, such as S12 in simple shear (P12 = S12 + γ S22).
    """
    i, j = int(index[0]) - 1, int(index[1]) - 1
    if measure == "P":
        return np.ones(len(F))
    if measure == "S":
        row, own = F[:, i, :], i
    else:
        row, own = np.linalg.det(F)[:, None] * np.linalg.inv(F)[:, j, :], j
    others = np.delete(row, own, axis=1)
    return None if np.any(others != 0) else row[:, own]
