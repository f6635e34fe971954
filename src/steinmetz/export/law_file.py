"""`law.json`: structure, signs, values and closed form. Read back from the structure; text is never parsed as code."""

import json
import math
from pathlib import Path
from typing import Any

import jax.numpy as jnp
import numpy as np

from steinmetz.errors import InputError
from steinmetz.export import closed_form
from steinmetz.nouns import Reference
from steinmetz.potentials.activations import ACTIVATIONS
from steinmetz.potentials.graph import Edge, Graph
from steinmetz.potentials.law import Law

FORMAT = "steinmetz-law/1"


def to_dict(law: Law, physics: str) -> dict[str, Any]:
    """Everything needed to rebuild the law exactly (doubles survive JSON), and its closed form for people."""
    graph = law.graph
    return {
        "format": FORMAT,
        "physics": physics,
        "inputs": list(graph.inputs),
        "units": list(graph.activations),
        "edges": [{"target": edge.target, "source": edge.source, "parameter": edge.parameter} for edge in graph.edges],
        "parameters": [
            {"name": name, "value": float(value), "nonnegative": sign}
            for name, value, sign in zip(law.names(), np.asarray(law.values), graph.nonnegative, strict=True)
        ],
        "reference": {
            "point": list(law.reference.point),
            "weights": list(law.reference.weights),
            "direction": list(law.reference.direction),
        },
        "closed_form": {
            "text": closed_form.text(law),
            "exact": closed_form.text(law, digits=17),
            "latex": closed_form.latex(law),
        },
    }


def read(path: Path) -> tuple[Law, str]:
    """The law of a file and the name of its physics."""
    try:
        stored = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise InputError(f"cannot read {path}: {(error.strerror or 'unreadable').lower()}") from None
    except (UnicodeDecodeError, json.JSONDecodeError, RecursionError):
        raise InputError(f"{path} is not a JSON file") from None
    try:
        return from_dict(stored)
    except (KeyError, TypeError, ValueError, AttributeError, IndexError) as error:
        raise InputError(f"{path} is not a complete law file of format {FORMAT}: {error!r}") from None


def from_dict(stored: dict[str, Any]) -> tuple[Law, str]:
    """Rebuild a law from whitelisted fields; a wrong type or number raises ValueError, KeyError or TypeError."""
    if stored["format"] != FORMAT:
        raise ValueError(f"format {stored['format']!r}")
    inputs = tuple(str(name) for name in stored["inputs"])
    units = tuple(stored["units"])
    unknown = set(units) - set(ACTIVATIONS)
    if unknown:
        raise ValueError(f"unknown activation {sorted(unknown)[0]!r}")
    values = [float(row["value"]) for row in stored["parameters"]]
    signs = tuple(bool(row["nonnegative"]) for row in stored["parameters"])
    wrong = [v for v, sign in zip(values, signs, strict=True) if not math.isfinite(v) or (sign and v < 0)]
    if wrong:
        raise ValueError(f"parameter value {wrong[0]} is not allowed")
    edges = tuple(Edge(int(e["target"]), int(e["source"]), int(e["parameter"])) for e in stored["edges"])
    fields = {key: tuple(float(x) for x in stored["reference"][key]) for key in ("point", "weights", "direction")}
    if {len(numbers) for numbers in fields.values()} != {len(inputs)}:
        raise ValueError("reference and inputs differ in length")
    law = Law(
        Graph(inputs=inputs, activations=units, edges=edges, nonnegative=signs),
        jnp.asarray(values, float),
        Reference(**fields),
    )
    return law, str(stored["physics"])
