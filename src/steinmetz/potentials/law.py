"""The law: one object that prints, predicts and is exported."""

import dataclasses
import math
from collections.abc import Sequence
from typing import Any

import equinox as eqx
import jax
import numpy as np
from jaxtyping import Array, Float

from steinmetz import host
from steinmetz.potentials.activations import ACTIVATIONS
from steinmetz.potentials.base import normalised_energy, slopes
from steinmetz.potentials.classical import SHAPES
from steinmetz.potentials.graph import UNIT, Edge, Graph
from steinmetz.potentials.mechanics import Energies, Laws, Many, Term, Terms
from steinmetz.records import Reference, StressMap
from steinmetz.shapes import Points, Theta


class Law(eqx.Module):
    """A pruned graph, or terms of mechanics, with parameter values and the normalising reference.

    What is printed is what predicts: the closed form, every stress and every file come from these
    three fields.
    """

    graph: Graph | Terms
    values: Theta
    reference: Reference = eqx.field(static=True)

    def energy(self, x: Points) -> Float[Array, "data"]:
        """Ψ̂ at many inputs."""
        if self._in_numbers(x):
            return host.held(self.pushed(np.asarray(self.values)[None], np.asarray(x))[1][0])
        return _energy(self, x)

    def slopes(self, x: Points) -> Points:
        """∇Ψ̂ at many inputs."""
        if self._in_numbers(x):
            return host.held(self.pushed(np.asarray(self.values)[None], np.asarray(x))[0][0])
        return _slopes(self, x)

    def stress(self, at: StressMap) -> Float[Array, "states components"]:
        """ŷ = B ∇Ψ̂: the observed components at many states (method §1)."""
        slopes = self.slopes(at.inputs)
        if self._in_numbers(at.inputs):
            return host.held(np.einsum("sci,si->sc", *map(np.asarray, (at.operator, slopes))))
        return at.stress(slopes)

    def pushed(self, every: Laws, x: Float[np.ndarray, "data inputs"]) -> tuple[Many, Energies]:
        """∇Ψ̂ and Ψ̂ of many laws of these terms, in numpy: nothing is compiled for a structure."""
        reference, point = self.reference, np.asarray(self.reference.point)
        with np.errstate(all="ignore"):  # a state that a law cannot reach is not a number there
            slopes, energies = self.terms.pushed(every, np.concatenate([x, point[None]]))
            rest = slopes[:, -1]
            removed = rest - rest @ reference.responses
            energy = energies[:, :-1] - energies[:, -1:] - removed @ (x - point).T
            return slopes[:, :-1] - removed[:, None], energy

    def _in_numbers(self, x: Points) -> bool:
        """Whether the law is composed of terms and nothing is traced: then numpy is enough."""
        traced = isinstance(x, jax.core.Tracer) or isinstance(self.values, jax.core.Tracer)
        return isinstance(self.graph, Terms) and not traced

    @property
    def network(self) -> Graph:
        """The graph of a law that was carved from a network: what a search changes."""
        if not isinstance(self.graph, Graph):
            raise TypeError("a law composed of terms is not a graph")
        return self.graph

    @property
    def terms(self) -> Terms:
        """The terms of a law that was composed of them."""
        if not isinstance(self.graph, Terms):
            raise TypeError("a law carved from a network has no terms")
        return self.graph

    def names(self) -> tuple[str, ...]:
        """A name per parameter, such as 'I1', 'unit1' or 'unit1.J' (see `Graph.names`)."""
        return self.graph.names()


@eqx.filter_jit
def _energy(law: Law, x: Points) -> Float[Array, "data"]:
    graph, reference = law.graph, law.reference
    return jax.vmap(lambda row: normalised_energy(graph, reference, law.values, row))(x)


@eqx.filter_jit
def _slopes(law: Law, x: Points) -> Points:
    return slopes(law.graph, law.reference, law.values, x)


def structure(law: Law) -> dict[str, Any]:
    """The law in plain types: doubles survive JSON, so it can be rebuilt exactly.

    An edge whose weight is one has the parameter null.
    """
    graph = law.graph
    rows = zip(law.names(), np.asarray(law.values), graph.nonnegative, strict=True)
    return {
        "inputs": list(graph.inputs),
        **_form(graph),
        "parameters": [
            {"name": name, "value": float(value), "nonnegative": sign} for name, value, sign in rows
        ],
        "reference": {k: v for k, v in dataclasses.asdict(law.reference).items() if k != "bulk"},
        **({"bulk": law.reference.bulk} if law.reference.bulk else {}),
    }


def _form(graph: Graph | Terms) -> dict[str, Any]:
    """Units and edges, or terms."""
    if isinstance(graph, Terms):
        return {"terms": [term._asdict() for term in graph.terms]}
    edges = [
        {"target": target, "source": source, "parameter": None if p == UNIT else p}
        for target, source, p in graph.edges
    ]
    return {"units": list(graph.activations), "edges": edges}


def _terms(stored: list[dict[str, Any]]) -> tuple[Term, ...]:
    """Terms whose shapes are known and whose constants are finite."""
    found = []
    for row in stored:
        constants = tuple(float(value) for value in row["constants"])
        free = tuple(int(place) for place in row["free"])
        known = row["shape"] in SHAPES and math.isfinite(sum(constants)) and len(constants) >= 2
        if not known or not set(free) <= set(range(len(constants))):
            raise ValueError(f"unknown term {row['shape']!r} with {row['constants']}")
        if len(constants) > len(SHAPES[row["shape"]].constants):
            raise ValueError(f"term {row['shape']!r} has no {len(constants)} constants")
        found.append(Term(row["shape"], constants, bool(row["barrier"]), free))
    return tuple(found)


def rebuild(stored: dict[str, Any]) -> Law:
    """A law from `structure`; a wrong type or number raises ValueError, KeyError or TypeError.

    Nothing that is read is executed: names must be known, numbers finite and signs as declared.
    """
    inputs = tuple(str(name) for name in stored["inputs"])
    values = [float(row["value"]) for row in stored["parameters"]]
    signs = tuple(bool(row["nonnegative"]) for row in stored["parameters"])
    for value, sign in zip(values, signs, strict=True):
        if not math.isfinite(value) or (sign and value < 0):
            raise ValueError(f"parameter value {value} is not allowed")
    graph: Graph | Terms
    if "terms" in stored:
        graph = Terms(inputs, _terms(stored["terms"]))
        if graph.nonnegative != signs:
            raise ValueError("parameters and terms do not fit together")
    else:
        graph = _graph(stored, inputs, signs)
    reference = _reference(stored["reference"], len(inputs))
    bulk = float(stored.get("bulk", 0.0))
    if not 0 <= bulk < math.inf or (bulk and (len(inputs) != 2 or isinstance(graph, Graph))):
        raise ValueError(f"bulk modulus {bulk} is not allowed")
    return Law(graph, host.held(values, float), dataclasses.replace(reference, bulk=bulk))


def _graph(stored: dict[str, Any], inputs: tuple[str, ...], signs: tuple[bool, ...]) -> Graph:
    """Units and edges, if every activation is known."""
    units = tuple(stored["units"])
    unknown = set(units) - set(ACTIVATIONS)
    if unknown:
        raise ValueError(f"unknown activation {sorted(unknown)[0]!r}")
    edges = tuple(
        Edge(int(e["target"]), int(e["source"]), _parameter(e["parameter"]))
        for e in stored["edges"]
    )
    return Graph(inputs=inputs, activations=units, edges=edges, nonnegative=signs)


def _reference(stored: dict[str, Any], inputs: int) -> Reference:
    """The reference state, if all its rows have as many numbers as there are inputs."""
    (point,), weights, directions = (
        _rows(part) for part in ([stored["point"]], stored["weights"], stored["directions"])
    )
    if not all(math.isfinite(x) for row in (point, *weights, *directions) for x in row):
        raise ValueError("a reference that is not finite")
    lengths = {len(row) for row in (point, *weights, *directions)}
    if lengths != {inputs} or len(weights) != len(directions):
        raise ValueError("reference and inputs differ in length")
    return Reference(point, weights, directions)


def _rows(stored: Sequence[Sequence[float]]) -> tuple[tuple[float, ...], ...]:
    """Rows of numbers."""
    return tuple(tuple(float(x) for x in row) for row in stored)


def _parameter(number: int | None) -> int:
    """The number of a parameter, or UNIT; a negative one would count from the end."""
    if number is None:
        return UNIT
    if int(number) < 0:
        raise ValueError(f"parameter {number}")
    return int(number)
