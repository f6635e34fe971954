"""Certificate: is a law admissible? Proven from signs and activations.

Then cross-checked on random states.

The proof walks the graph with the rules of disciplined convexity: a sum of convex terms with
non-negative weights is convex, a convex non-decreasing activation of a convex argument is convex,
and growth in an input passes through in the same way. It proves less than everything, but never too
much. The cross-check looks for a counter-example among many states.
"""

from typing import NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float

from steinmetz.potentials.activations import ACTIVATIONS
from steinmetz.potentials.base import slopes
from steinmetz.potentials.graph import Graph
from steinmetz.potentials.law import Law
from steinmetz.records import Conditions, Reference

# Rounding in slopes and curvatures, relative to the largest of them.
_ROUNDING = 1e-9
# Laws whose faults are named one by one.
_NAMED = 10


class Proof(NamedTuple):
    """What signs and activations prove of one parameter vector."""

    convex: bool
    increasing: tuple[str, ...]


class _Knowledge(NamedTuple):
    """Of a node: affine, convex, and in which inputs it can rise or fall."""

    affine: bool
    convex: bool
    rises: frozenset[int]
    falls: frozenset[int]


class Certificate(NamedTuple):
    """Per parameter vector.

    Proven, no counter-example found, and the stress left at the reference.
    """

    proven: Bool[np.ndarray, "laws"]
    sound: Bool[np.ndarray, "laws"]
    reference_stress: Float[np.ndarray, "laws"]
    faults: list[str]
    states: int

    @property
    def violated(self) -> int:
        """Laws that are not proven admissible.

        Or for which a counter-example or reference stress was found.
        """
        return int(np.sum(~(self.proven & self.sound)))


def prove(graph: Graph, values: Float[np.ndarray, "parameters"]) -> Proof:
    """Walk the graph once; the normalisation is affine and decides nothing."""
    known = [
        _Knowledge(True, True, frozenset([index]), frozenset())
        for index in range(len(graph.inputs))
    ]
    values = np.append(values, 1.0)  # the weight of unit edges
    for node in graph.units():
        total = _sum(graph, node, values, known)
        rule = ACTIVATIONS[graph.activation(node)]
        moving = total.rises | total.falls
        known.append(
            _Knowledge(
                affine=not moving or (total.affine and rule.degree == 1),
                convex=rule.convex and (total.affine or (rule.increasing and total.convex)),
                rises=total.rises if rule.increasing else moving,
                falls=total.falls if rule.increasing else moving,
            )
        )
    out = _sum(graph, graph.out, values, known)
    increasing = tuple(name for index, name in enumerate(graph.inputs) if index not in out.falls)
    return Proof(out.convex, increasing)


def _sum(graph: Graph, node: int, values: np.ndarray, known: list[_Knowledge]) -> _Knowledge:
    affine, convex = True, True
    rises: frozenset[int] = frozenset()
    falls: frozenset[int] = frozenset()
    for edge in graph.into(node):
        weight, source = values[edge.parameter], known[edge.source]
        if weight == 0:
            continue
        affine = affine and source.affine
        convex = convex and (source.affine or (weight > 0 and source.convex))
        rises |= source.rises if weight > 0 else source.falls
        falls |= source.falls if weight > 0 else source.rises
    return _Knowledge(affine, convex, rises, falls)


def admissible(proof: Proof, conditions: Conditions) -> bool:
    """Whether a proof covers everything that is demanded."""
    return (proof.convex or not conditions.convex) and set(conditions.increasing) <= set(
        proof.increasing
    )


class _Evidence(NamedTuple):
    """Per parameter vector (the law first): what was proven, and counter-examples that were met."""

    proven: Bool[np.ndarray, "laws"]
    falling: Bool[np.ndarray, "laws increasing"]
    bent: Bool[np.ndarray, "laws"]
    still: Bool[np.ndarray, "laws"]

    @property
    def sound(self) -> Bool[np.ndarray, "laws"]:
        """No counter-example was met."""
        return np.asarray(~self.falling.any(axis=1) & ~self.bent & self.still)


def certify(
    law: Law,
    particles: Float[np.ndarray, "particles parameters"],
    conditions: Conditions,
    states: Float[Array, "states inputs"],
    operator: Float[Array, "components inputs"],
) -> Certificate:
    """Check the law itself (first) and every particle.

    `states` are inputs for the cross-check: the law sees all of them, every particle its own share.
    `operator` gives the stress at the reference.
    """
    every = np.concatenate([np.asarray(law.values)[None], np.asarray(particles)])
    proven = np.array([admissible(prove(law.graph, values), conditions) for values in every])
    left = _reference_stress(law.graph, law.reference, jnp.asarray(every), operator)
    stress = np.asarray(left)
    share = max(1, len(states) // max(1, len(particles)))
    shares = jnp.resize(states, (-(-len(states) // share), share, states.shape[1]))
    repeated = jnp.broadcast_to(law.values, (len(shares), law.values.size))
    cycled = shares[np.arange(len(particles)) % len(shares)]
    alone = _search(law.graph, repeated, shares, conditions)
    others = _search(law.graph, jnp.asarray(particles), cycled, conditions)
    falling, bent = (
        np.concatenate([np.any(np.asarray(a), axis=0, keepdims=True), np.asarray(b)])
        for a, b in zip(alone, others, strict=True)
    )
    allowed = _ROUNDING * np.maximum(1.0, np.max(np.abs(every), axis=1, initial=0.0))
    evidence = _Evidence(proven, falling, bent, (not conditions.stress_free) | (stress <= allowed))
    faults = _faults(law.graph, every, evidence, conditions)
    return Certificate(proven, evidence.sound, stress, faults, len(states))


@eqx.filter_jit
def _reference_stress(graph: Graph, reference: Reference, every: Array, operator: Array) -> Array:
    point = jnp.asarray(reference.point)[None]
    return jax.vmap(
        lambda theta: jnp.max(jnp.abs(operator @ slopes(graph, reference, theta, point)[0]))
    )(every)


@eqx.filter_jit
def _search(
    graph: Graph, every: Array, states: Array, conditions: Conditions
) -> tuple[Bool[Array, "laws increasing"], Bool[Array, "laws"]]:
    """Where a slope that must not be negative is, and where the Hessian has a negative eigenvalue.

    Beyond rounding.
    """
    increasing = np.array([graph.inputs.index(name) for name in conditions.increasing], int)

    def at(theta: Float[Array, "parameters"], x: Float[Array, "inputs"]) -> tuple[Array, Array]:
        slope = jax.grad(graph.energy, argnums=1)(theta, x)
        hessian = jax.hessian(graph.energy, argnums=1)(theta, x)
        rounding = _ROUNDING * (1 + jnp.max(jnp.abs(slope)) + jnp.max(jnp.abs(hessian)))
        return slope[increasing] < -rounding, _indefinite(hessian, rounding) & conditions.convex

    def one(pair: tuple[Array, Array]) -> tuple[Array, Array]:
        falling, bent = jax.vmap(at, (None, 0))(*pair)
        return jnp.any(falling, axis=0), jnp.any(bent)

    met: tuple[Array, Array] = jax.lax.map(one, (every, states))
    return met


def _indefinite(matrix: Float[Array, "n n"], rounding: Float[Array, ""]) -> Bool[Array, ""]:
    """Whether a symmetric matrix has an eigenvalue below −`rounding`.

    A pivot of matrix + rounding·I.
    """
    left = matrix + rounding * jnp.eye(matrix.shape[0])
    negative = jnp.zeros((), bool)
    while left.shape[0]:
        pivot = left[0, 0]
        negative |= pivot <= 0
        left = left[1:, 1:] - jnp.outer(left[1:, 0], left[0, 1:]) / jnp.where(pivot > 0, pivot, 1.0)
    return negative


def _faults(
    graph: Graph,
    every: Float[np.ndarray, "laws parameters"],
    evidence: _Evidence,
    conditions: Conditions,
) -> list[str]:
    """One sentence per fault, for the law (MAP) and for the first particles that have one."""
    faults = []
    for index in np.flatnonzero(~evidence.proven | ~evidence.sound)[:_NAMED]:
        name = "the law" if index == 0 else f"particle {index - 1}"
        proof = prove(graph, every[index])
        missing = [f"growth in {n}" for n in conditions.increasing if n not in proof.increasing]
        missing += ["convexity"] if conditions.convex and not proof.convex else []
        falling = zip(conditions.increasing, evidence.falling[index], strict=True)
        shrinking = [needed for needed, falls in falling if falls]
        if missing:
            faults.append(f"{name}: signs do not prove {' and '.join(missing)}")
        if shrinking:
            faults.append(f"{name}: Ψ falls with {' and '.join(shrinking)} at a sampled state")
        if evidence.bent[index]:
            faults.append(f"{name}: Ψ is not convex at a sampled state")
        if not evidence.still[index]:
            faults.append(f"{name}: stress is left at the reference")
    return faults
