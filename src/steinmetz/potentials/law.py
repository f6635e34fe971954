"""The law: one object that prints, predicts and is exported."""

import math
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from steinmetz.potentials.activations import ACTIVATIONS
from steinmetz.potentials.base import normalised_energy, slopes
from steinmetz.potentials.graph import UNIT, Edge, Graph
from steinmetz.records import Reference, StressMap


class Law(eqx.Module):
    """A pruned graph with its parameter values and the reference state that normalises it."""

    graph: Graph
    values: Float[Array, "parameters"]
    reference: Reference = eqx.field(static=True)

    def energy(self, x: Float[Array, "data inputs"]) -> Float[Array, "data"]:
        """Ψ̂ at many inputs."""
        return _energies(self, x)

    def slopes(self, x: Float[Array, "data inputs"]) -> Float[Array, "data inputs"]:
        """∇Ψ̂ at many inputs."""
        return _slopes(self, x)

    def stress(self, at: StressMap) -> Float[Array, "states components"]:
        """ŷ = B ∇Ψ̂ at many states."""
        return at.stress(self.slopes(at.inputs))

    def names(self) -> tuple[str, ...]:
        """A name per parameter: target and source of its (first) edge, such as 'h1_J' or 'out_I1'."""
        return parameter_names(self.graph)


@eqx.filter_jit
def _energies(law: Law, x: Float[Array, "data inputs"]) -> Float[Array, "data"]:
    return jax.vmap(lambda row: normalised_energy(law.graph, law.reference, law.values, row))(x)


@eqx.filter_jit
def _slopes(law: Law, x: Float[Array, "data inputs"]) -> Float[Array, "data inputs"]:
    return slopes(law.graph, law.reference, law.values, x)


def parameter_names(graph: Graph) -> tuple[str, ...]:
    """'out_I1', 'h1_J', 'h2_h1', …: target, then source, units counted from 1."""

    def label(node: int) -> str:
        if node < len(graph.inputs):
            return graph.inputs[node]
        return "out" if node == graph.out else f"h{node - len(graph.inputs) + 1}"

    found: dict[int, str] = {}
    for edge in graph.edges:
        if edge.parameter != UNIT:
            found.setdefault(edge.parameter, f"{label(edge.target)}_{label(edge.source)}")
    return tuple(found[index] for index in range(graph.size))


def structure(law: Law) -> dict[str, Any]:
    """The law in plain types: doubles survive JSON, so it can be rebuilt exactly."""
    graph = law.graph
    return {
        "inputs": list(graph.inputs),
        "units": list(graph.activations),
        "edges": [
            {
                "target": edge.target,
                "source": edge.source,
                "parameter": None
                if edge.parameter == UNIT
                else edge.parameter,  # null: the weight is one
            }
            for edge in graph.edges
        ],
        "parameters": [
            {"name": name, "value": float(value), "nonnegative": sign}
            for name, value, sign in zip(
                law.names(), np.asarray(law.values), graph.nonnegative, strict=True
            )
        ],
        "reference": {
            "point": list(law.reference.point),
            "weights": [list(v) for v in law.reference.weights],
            "directions": [list(d) for d in law.reference.directions],
        },
    }


def rebuild(stored: dict[str, Any]) -> Law:
    """A law from `structure`; a wrong type or number raises ValueError, KeyError or TypeError."""
    inputs = tuple(str(name) for name in stored["inputs"])
    units = tuple(stored["units"])
    unknown = set(units) - set(ACTIVATIONS)
    if unknown:
        raise ValueError(f"unknown activation {sorted(unknown)[0]!r}")
    values = [float(row["value"]) for row in stored["parameters"]]
    signs = tuple(bool(row["nonnegative"]) for row in stored["parameters"])
    wrong = [
        v for v, sign in zip(values, signs, strict=True) if not math.isfinite(v) or (sign and v < 0)
    ]
    if wrong:
        raise ValueError(f"parameter value {wrong[0]} is not allowed")
    edges = tuple(
        Edge(
            int(e["target"]),
            int(e["source"]),
            UNIT if e["parameter"] is None else _index(e["parameter"]),
        )
        for e in stored["edges"]
    )
    kept = stored["reference"]
    point, weights, directions = (
        _rows([kept["point"]]),
        _rows(kept["weights"]),
        _rows(kept["directions"]),
    )
    if {len(row) for row in (*point, *weights, *directions)} != {len(inputs)} or len(
        weights
    ) != len(directions):
        raise ValueError("reference and inputs differ in length")
    graph = Graph(inputs=inputs, activations=units, edges=edges, nonnegative=signs)
    return Law(graph, jnp.asarray(values, float), Reference(point[0], weights, directions))


def _rows(stored: Any) -> tuple[tuple[float, ...], ...]:
    return tuple(tuple(float(x) for x in row) for row in stored)


def _index(number: Any) -> int:
    """The number of a parameter; a negative one would count from the end."""
    if int(number) < 0:
        raise ValueError(f"parameter {number}")
    return int(number)
