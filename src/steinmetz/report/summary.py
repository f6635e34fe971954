"""`summary.json`: the numbers scripts rely on (method §8)."""

import platform
from importlib import metadata
from typing import Any

import numpy as np

from steinmetz.engine.run import Result
from steinmetz.export import closed_form

_PACKAGES = ("steinmetz", "jax", "jaxlib", "equinox", "optax", "numpy", "sympy")


def summarise(result: Result) -> dict[str, Any]:
    """Everything measured in one run, in plain types."""
    study, carved, run = result.study, result.carved, result.ensemble.run
    return {
        "study": study.name,
        "seed": study.seed,
        "method": f"{study.sparsify.method}+{study.infer.method}",
        "law": closed_form.text(result.law),
        "parameters": {
            "full": int(carved.full),
            "active": int(result.law.graph.size),
            "restarts": [int(size) for size in carved.pruned],
            "reason": carved.reason,
        },
        **result.scores,
        "seconds": result.seconds,
        "admissible": admissible(result),
        "posterior": parameters(result),
        "inference": {
            "particles": int(run.alive.size),
            "frozen": run.frozen,
            "steps": int(run.marks[-1]),
            "direction": float(run.direction[-1]),
            "stopped": run.reason,
        },
        "candidates": [
            {
                "active": row.active,
                "misfit": row.misfit,
                "criterion": row.criterion,
                "law": closed_form.text(row.law),
            }
            for row in carved.table
        ],
        "data": {
            "rows": len(result.problem.train.state),
            "cells": result.problem.train.cells,
            "held_out": 0 if result.problem.held_out is None else len(result.problem.held_out.state),
            "components": list(result.problem.train.components),
            "notes": result.problem.notes,
        },
        "versions": {
            "python": platform.python_version(),
            **{name: metadata.version(name) for name in _PACKAGES},
        },
    }


def admissible(result: Result) -> dict[str, Any]:
    """The certificate in numbers: laws checked (MAP and particles), laws that violate a condition, and the faults."""
    proof = result.certificate
    return {
        "checked": len(proof.proven),
        "violated": proof.violated,
        "proven": int(proof.proven.sum()),
        "random_states": proof.states,
        "largest_reference_stress": float(proof.reference_stress.max()),
        "faults": proof.faults,
    }


def parameters(result: Result) -> dict[str, dict[str, float]]:
    """MAP, posterior mean and standard deviation of every parameter of the law."""
    rows = zip(result.law.names(), np.asarray(result.law.values), result.particles.T, strict=True)
    return {
        name: {"map": float(value), "mean": float(draws.mean()), "sd": float(draws.std())}
        for name, value, draws in rows
    }
