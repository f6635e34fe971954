"""Laws that exports are tested with, and what they must give: energy, stress and tangent by JAX."""

import functools
from collections.abc import Callable, Sequence
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array

import cases
from steinmetz.exporters.program.trace import trace
from steinmetz.materials.kinematics import invariants
from steinmetz.potentials.base import normalised_energy, slopes
from steinmetz.potentials.graph import Edge
from steinmetz.potentials.law import Law
from steinmetz.potentials.mechanics import Term, Terms
from steinmetz.records import Reference

FLAT = Reference((3.0, 3.0))
PAIRS = ((0, 0), (1, 1), (2, 2), (0, 1), (0, 2), (1, 2))


def composed(values: Sequence[float], *terms: Term, inputs: tuple[str, ...] = cases.INPUTS) -> Law:
    """A law of terms; without J it is incompressible."""
    reference = cases.REFERENCE if len(inputs) == 3 else FLAT
    return Law(Terms(inputs, terms), jnp.array(values, float), reference)


def _network() -> Law:
    """An incompressible law carved from a network."""
    edges = (Edge(2, 0, 0), Edge(2, 1, 1), Edge(3, 0, 2), Edge(3, 2, 3))
    graph = cases.graph(edges, inputs=("I1", "I2"), signs=(True,) * 4)
    return Law(graph, jnp.array([0.4, 0.1, 0.3, 1.5]), FLAT)


def _units() -> Law:
    """Units of a network among terms, and terms of roots."""
    unit = Term("unit", (0.0, -1.0, 0.0, 0.0, 0.0), free=(0, 2, 3, 4))
    return composed(
        (0.5, 2.0, 0.7, 1.0, 0.4, 0.6, 3.0, 0.3, 0.8, 0.2, 6.0, 0.4),
        unit,
        Term("softplus", (0.0, 0.0), True, (0,)),
        Term("root exponential", (0.0, 0.0, 0.0), True, (0,)),
        Term("root locking", (8.0, 0.0), True, (0,)),
        Term("log square", (0.0, 0.0)),
    )


LAWS: dict[str, Callable[[], Law]] = {
    "found": lambda: composed(
        (0.94, 0.40, 0.12, 0.62),
        Term("norm", (1.0, 0.0), True),
        Term("cofactor", (1.0, 0.0)),
        Term("stretches", (6.0, 0.0)),
        Term("volume square", (0.0, 0.0)),
    ),
    "neo-Hooke": cases.neo_hooke,
    "softplus": cases.readme_law,
    "nested": cases.nested_law,
    "Mooney-Rivlin": lambda: composed(
        (0.5, 0.2, 3.0),
        Term("norm", (2.0, 2 / 3)),
        Term("cofactor", (3.0, 2.0)),
        Term("log square", (0.0, 0.0)),
    ),
    "Fung": lambda: composed(
        (0.4, 0.3, 0.2, 0.7),
        Term("exponential", (0.0, 0.0, 0.0), True, (0, 2)),
        Term("volume pair", (5.0, 0.0)),
    ),
    "Gent": lambda: composed(
        (0.5, 12.0, 0.3, 0.4, 0.2),
        Term("locking", (20.0, 2 / 3), False, (0,)),
        Term("log", (0.0, 0.0)),
        Term("volume power", (-3.0, 0.0)),
        Term("volume power", (2.0, 0.0)),
    ),
    "odd stretches": lambda: composed(
        (0.8, 0.3, 1.5),
        Term("stretches", (3.0, 0.0), True),
        Term("areas", (1.0, 0.0)),
        Term("volume square", (0.0, 0.0)),
    ),
    "Ogden": lambda: composed(
        (0.8, 0.7, 0.1, 0.9),
        Term("stretches", (1.0, 0.0), True, (0,)),
        Term("areas", (4.0, 0.0)),
        Term("volume square", (0.0, 0.0)),
    ),
    "units": _units,
    "chains": lambda: composed(
        (0.4, 7.0, 0.05, 0.2, 2.0, 0.5, 0.5),
        Term("chains", (1.0, 2 / 3), False, (0,)),
        Term("power", (3.0, 2 / 3)),
        Term("common norm", (1.0, 0.0, 0.0), True, (0, 2)),
        Term("volume pair", (2.0, 0.0)),
    ),
    "incompressible": lambda: composed(
        (0.4, 0.3, 0.6, 0.05),
        Term("norm", (2.0, 0.0)),
        Term("stretches", (1.0, 0.0), False, (0,)),
        Term("exponential", (0.5, 0.0)),
        inputs=("I1", "I2"),
    ),
    "incompressible softplus": _network,
}  # fmt: skip


class Truth(NamedTuple):
    """Energies, Cauchy stress with its modulus, and S with dS/dE, at many F."""

    energy: np.ndarray
    cauchy: np.ndarray
    jaumann: np.ndarray
    piola: np.ndarray
    material: np.ndarray


def constants(law: Law) -> np.ndarray:
    """What a routine gets as constants: θ, and K if the law is incompressible."""
    return np.array([row.value for row in trace(law, "a test").parameters])


def states(count: int, seed: int = 0) -> np.ndarray:
    """Deformation gradients with large stretch, shear and rotation: Q1 diag(λ) (I + γ e1⊗e2) Q2."""
    random = np.random.default_rng(seed)
    turns = np.linalg.qr(random.normal(size=(2, count, 3, 3)))[0]
    turns *= np.sign(np.linalg.det(turns))[..., None, None]
    stretch = np.exp(random.uniform(-0.5, 0.6, (count, 3)))[:, :, None] * np.eye(3)
    shear = np.tile(np.eye(3), (count, 1, 1))
    shear[:, 0, 1] = random.uniform(-1.5, 1.5, count)
    return np.asarray(turns[0] @ stretch @ shear @ turns[1])


def _energy(law: Law, x: Array) -> Array:
    return normalised_energy(law.graph, law.reference, law.values, x)


def _energies(law: Law, x: Array) -> Array:
    """Ψ of the law itself; with K and modified invariants if it is incompressible."""

    def own(inputs: Array) -> Array:
        every: Array = jax.vmap(lambda row: _energy(law, row))(inputs)
        return every

    if len(law.graph.inputs) == 3:
        return own(x)
    return own(_modified(x)) + float(constants(law)[-1]) / 2 * (x[:, 2] - 1) ** 2


def _modified(x: Array) -> Array:
    return jnp.stack([x[:, 0] * x[:, 2] ** (-2 / 3), x[:, 1] * x[:, 2] ** (-4 / 3)], axis=1)


def _slopes(law: Law, x: Array) -> Array:
    """∇Ψ in I1, I2 and J, as the law predicts it."""
    if len(law.graph.inputs) == 3:
        return slopes(law.graph, law.reference, law.values, x)
    own = slopes(law.graph, law.reference, law.values, _modified(x))
    J = x[:, 2]
    first, second = own[:, 0] * J ** (-2 / 3), own[:, 1] * J ** (-4 / 3)
    volume = -(2 * first * x[:, 0] + 4 * second * x[:, 1]) / (3 * J)
    return jnp.stack([first, second, volume + float(constants(law)[-1]) * (J - 1)], axis=1)


@jax.jit
def _kinematics(F: Array) -> tuple[Array, Array, Array]:
    """x, ∂x/∂F and ∂²x/∂F² at many F, by JAX: none of the formulas of an export."""
    first = jax.jacfwd(invariants)
    second = jax.jacfwd(first)
    return jax.vmap(lambda each: (invariants(each), first(each), second(each)))(F)


def first_piola(law: Law, F: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Ψ, P and dP/dF."""
    x, G, H = _kinematics(jnp.asarray(F))
    psi, d = _energies(law, x), _slopes(law, x)
    ways = [jnp.zeros_like(x).at[:, place].set(1.0) for place in range(3)]
    dd = [jax.jvp(functools.partial(_slopes, law), (x,), (way,))[1] for way in ways]
    P = np.einsum("nm,nmij->nij", d, G)
    A = np.einsum("nm,nmijkl->nijkl", d, H)
    A = A + np.einsum("nmp,nmij,npkl->nijkl", np.stack(dd, 2), G, G, optimize=True)
    return np.asarray(psi), P, A


@functools.lru_cache(maxsize=64)
def truth(name: str, count: int, seed: int = 0) -> Truth:
    """What an export of a law must give at some states."""
    law, F = LAWS[name](), states(count, seed)
    psi, P, A = first_piola(law, F)
    J, back, turned = np.linalg.det(F)[:, None], np.linalg.inv(F), np.swapaxes(F, 1, 2)
    S, jaumann, material = back @ P, [], []
    for k, m in PAIRS:
        D = np.zeros((3, 3))
        D[k, m] += 0.5
        D[m, k] += 0.5
        change = np.einsum("niJkL,nkL->niJ", A, D @ F)
        jaumann.append(_picked(change @ turned + P @ np.swapaxes(D @ F, 1, 2)))
        # dF = F⁻ᵀ dE is one of the changes of F that give dE
        along = np.swapaxes(back, 1, 2) @ D
        moved = np.einsum("niJkL,nkL->niJ", A, along)
        material.append(_picked(back @ (moved - along @ S)))
    moduli = np.stack(jaumann, 2) / J[:, None], np.stack(material, 2)
    return Truth(psi, _picked(P @ turned) / J, moduli[0], _picked(S), moduli[1])


def _picked(tensor: np.ndarray) -> np.ndarray:
    return np.stack([tensor[:, i, j] for i, j in PAIRS], axis=1)


def error(found: np.ndarray, wanted: np.ndarray) -> float:
    """The largest error over the largest entry of its own state, and of a typical state."""
    if wanted.ndim == 1:
        size = np.abs(wanted) + np.abs(wanted).mean()
    else:
        axes = tuple(range(1, wanted.ndim))
        size = np.abs(wanted).max(axis=axes, keepdims=True)
        size = size + np.median(size)
    return float((np.abs(found - wanted) / np.maximum(size, 1e-12)).max())
