"""A law as a traced formula Ψ(I1, I2, J) with its parameters as symbols.

The formula comes from the code that predicts, so what is exported is what predicts. A law of an
incompressible material is completed with a bulk modulus K, one more parameter: solvers need it
(`potentials/volume.py`).
"""

from collections.abc import Callable
from types import SimpleNamespace
from typing import NamedTuple

import numpy as np

from steinmetz.errors import InputError
from steinmetz.exporters.program import nodes
from steinmetz.exporters.program.nodes import ONE, ZERO, Node
from steinmetz.exporters.program.slopes import put, slope
from steinmetz.potentials import volume
from steinmetz.potentials.graph import UNIT, Graph
from steinmetz.potentials.law import Law
from steinmetz.potentials.mechanics import INVARIANTS, Terms

# What laws composed of terms compute with, in place of numpy.
STEPS = SimpleNamespace(
    exp=nodes.exp, log=nodes.log, sqrt=nodes.sqrt, where=nodes.where, abs=nodes.absolute,
    minimum=nodes.minimum, maximum=nodes.maximum, logaddexp=nodes.logaddexp,
    zeros_like=nodes.zeros_like, ones_like=nodes.ones_like, asarray=nodes.asarray,
    power_sum=nodes.power_sum, power_slopes=nodes.power_slopes,
)  # fmt: skip
_ACTIVATIONS: dict[str, Callable[[Node], Node]] = {
    "softplus": nodes.softplus,
    "square": lambda z: z * z,
    "identity": lambda z: z,
    "neglog": lambda z: -nodes.log(z),
}
X = (nodes.symbol("I1"), nodes.symbol("I2"), nodes.symbol("J"))


class Parameter(NamedTuple):
    """A material constant: its name, its value, and what it means beyond that."""

    name: str
    value: float
    meaning: str = ""


class Formula(NamedTuple):
    """Ψ in the symbols I1, I2, J, and its parameters as `p0`, `p1`, …

    `modified` is Ψ with I1 and I2 as symbols of the modified invariants. `nearly` says that the law
    itself is incompressible, and that K was added.
    """

    energy: Node
    modified: Node
    parameters: tuple[Parameter, ...]
    nearly: bool

    @property
    def slopes(self) -> tuple[Node, ...]:
        """Ψ₁, Ψ₂, Ψ_J."""
        return tuple(slope(self.energy, x) for x in X)

    @property
    def curvatures(self) -> tuple[Node, ...]:
        """Ψ₁₁, Ψ₂₂, Ψ_JJ, Ψ₁₂, Ψ₁J, Ψ₂J."""
        first = self.slopes
        return tuple(slope(first[i], X[j]) for i, j in PAIRS)

    @property
    def integrals(self) -> bool:
        """Whether powers of stretches occur that are no polynomials of the invariants."""
        return any(node.kind == "integral" for node in every(self.energy))


# The order of second slopes, which is also Abaqus's.
PAIRS = ((0, 0), (1, 1), (2, 2), (0, 1), (0, 2), (1, 2))


def every(*roots: Node) -> list[Node]:
    """All steps of some formulas, each after its inputs."""
    found: dict[Node, None] = {}
    stack = [(root, False) for root in reversed(roots)]
    while stack:
        node, ready = stack.pop()
        if node in found:
            continue
        if ready or not node.inputs:
            found[node] = None
        else:
            stack.append((node, True))
            stack += [(each, False) for each in reversed(node.inputs)]
    return list(found)


def trace(law: Law, target: str) -> Formula:
    """The formula of a law with its volume part; `target` is named where it cannot hold it."""
    law = volume.completed(law)
    inputs = law.graph.inputs
    if inputs not in (INVARIANTS, INVARIANTS[:2]):
        raise InputError(
            f"'{target}' holds isotropic laws of {', '.join(INVARIANTS)}; this one depends on "
            f"{', '.join(inputs)}: use 'text', 'latex', 'sympy' or 'json'"
        )
    theta = [nodes.symbol(f"p{number}") for number in range(law.graph.size)]
    raw = _raw(law, theta, target)
    energy = _normalised(raw, law)
    if inputs == INVARIANTS:
        modified = put(energy, _replaced(volume.modified(STEPS, X, back=True)))
        return Formula(energy, modified, _parameters(law), False)
    return _stiffened(energy, law)


def _replaced(invariants: tuple[Node, Node]) -> dict[Node, Node]:
    """Others in place of I1 and I2."""
    return dict(zip(X[:2], invariants, strict=True))


def _raw(law: Law, theta: list[Node], target: str) -> Node:
    """Ψ as the potential says it, with J = 1 where the material cannot change its volume."""
    x = X if len(law.graph.inputs) == 3 else (X[0], X[1], ONE)
    if isinstance(law.graph, Terms):
        total = ZERO
        for term, coefficient, constants in law.graph.placed(theta):
            total = total + coefficient * term.energy(STEPS, x, constants)
        return total
    return _network(law.graph, theta, list(x[: len(law.graph.inputs)]), target)


def _network(graph: Graph, theta: list[Node], known: list[Node], target: str) -> Node:
    """Node by node."""

    def total(node: int) -> Node:
        found = ZERO
        for _, source, parameter in graph.into(node):
            weight = ONE if parameter == UNIT else theta[parameter]
            found = found + weight * known[source]
        return found

    for node in graph.units():
        name = graph.activation(node)
        if name not in _ACTIVATIONS:
            raise InputError(f"'{target}' does not know the activation '{name}'")
        known.append(_ACTIVATIONS[name](total(node)))
    return total(graph.out)


def _normalised(raw: Node, law: Law) -> Node:
    """Ψ̂ = Ψ − Ψ(x₀) − n d·(x − x₀), with n in the parameters (method §1)."""
    reference = law.reference
    rest = {x: nodes.step(value) for x, value in zip(X, reference.point, strict=False)}
    slopes = [put(slope(raw, x), rest) for x in X[: len(reference.point)]]
    total = raw - put(raw, rest)
    for weights, directions in zip(reference.weights, reference.directions, strict=True):
        n = ZERO
        for weight, each in zip(weights, slopes, strict=True):
            n = n + weight * each
        for d, x in zip(directions, X, strict=False):
            total = total - (d * n) * (x - rest[x]) if d else total
    return total


def _parameters(law: Law) -> tuple[Parameter, ...]:
    """Names and values of θ; free constants of terms are counted from their least values."""
    values = np.asarray(law.values).tolist()
    meanings = [""] * len(values)
    if isinstance(law.graph, Terms):
        meanings = []
        for term in law.graph.terms:
            least = [term.constants[place] for place in term.free]
            meanings += ["", *(f"above {value:.17g}" if value else "" for value in least)]
    rows = zip(law.names(), values, meanings, strict=True)
    return tuple(Parameter(*row) for row in rows)


def _stiffened(energy: Node, law: Law) -> Formula:
    """With modified invariants and K/2 (J − 1)²."""
    parameters = _parameters(law)
    half = 0.5 * nodes.symbol(f"p{len(parameters)}")
    swelling = half * volume.VOLUME.energy(STEPS, X, volume.VOLUME.constants)
    times = f"{volume.STIFF:g} times the shear modulus"
    words = f"bulk modulus, not of the law: {times}; choose your own"
    whole = put(energy, _replaced(volume.modified(STEPS, X))) + swelling
    bulk = Parameter("K", volume.stiff(law), words)
    return Formula(whole, energy + swelling, (*parameters, bulk), True)
