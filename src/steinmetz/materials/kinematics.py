"""Kinematics of finite strain.

Right Cauchy–Green tensor, invariants and stress measures (method §1).
"""

import jax.numpy as jnp
from jaxtyping import Array, Float

Tensor = Float[Array, "3 3"]


def right_cauchy_green(F: Tensor) -> Tensor:
    """C = FᵀF (the *right* tensor; the paper calls it left, method §9.7)."""
    return F.T @ F


def invariants(F: Tensor) -> Float[Array, "3"]:
    """(I1, I2, J) = (tr C, tr cof C, det F)."""
    C = right_cauchy_green(F)
    I1 = jnp.trace(C)
    I2 = 0.5 * (I1**2 - jnp.sum(C * C))
    return jnp.stack([I1, I2, jnp.linalg.det(F)])


def second_piola_basis(F: Tensor) -> Float[Array, "3 3 3"]:
    """The tensors that multiply (Ψ₁, Ψ₂, Ψ_J) in S = 2Ψ₁ I + 2Ψ₂.

    I1 I − C + Ψ_J J C⁻¹, on the last axis.
    """
    C = right_cauchy_green(F)
    identity = jnp.eye(3, dtype=F.dtype)
    terms = (2 * identity, 2 * (jnp.trace(C) * identity - C), jnp.linalg.det(F) * jnp.linalg.inv(C))
    return jnp.stack(terms, axis=-1)


def first_piola_basis(F: Tensor) -> Float[Array, "3 3 3"]:
    """P = F S, term by term."""
    return jnp.einsum("ik,kjn->ijn", F, second_piola_basis(F))


def cauchy_basis(F: Tensor) -> Float[Array, "3 3 3"]:
    """σ = J⁻¹ F S Fᵀ, term by term."""
    J: Array = jnp.linalg.det(F)
    return jnp.einsum("ikn,jk->ijn", first_piola_basis(F), F) / J
