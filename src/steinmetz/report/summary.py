"""`summary.json`: the numbers scripts rely on (method §8)."""

import platform
from importlib import metadata
from typing import Any

import numpy as np

from steinmetz.engine.run import Result
from steinmetz.export import closed_form

_LONGEST = 2000
_PACKAGES = ("steinmetz", "jax", "jaxlib", "equinox", "optax", "numpy", "sympy")


def summarise(result: Result) -> dict[str, Any]:
    """Everything measured in one run, in plain types."""
    study, carved = result.study, result.carved
    origin = carved.restarts[carved.chosen.origin]
    return {
        "study": study.name,
        "seed": study.seed,
        "method": f"{study.sparsify.method}+{result.ensemble.method}",
        "law": short(closed_form.text(result.law)),
        "parameters": {
            "full": int(carved.full),
            "active": int(result.law.graph.size),
            "nonzero": origin.nonzero,
            "reason": carved.reason,
            "penalty": origin.penalty,
            "restarts": [
                {"restart": number, **restart._asdict()}
                for number, restart in sorted(carved.restarts.items())
            ],
        },
        **result.scores,
        "seconds": result.seconds,
        "resumed": result.resumed,  # then the seconds are those of the last process
        "admissible": admissible(result),
        "posterior": parameters(result),
        "inference": inference(result),
        "pareto": [
            {**row._asdict(), "law": short(closed_form.text(choice.law))}
            for row, choice in zip(result.pareto, carved.table, strict=True)
        ],
        "data": {
            "rows": len(result.problem.train.state),
            "cells": result.problem.train.cells,
            "held_out": 0
            if result.problem.held_out is None
            else len(result.problem.held_out.state),
            "components": list(result.problem.train.components),
            "notes": result.problem.notes,
        },
        "versions": {
            "python": platform.python_version(),
            **{name: metadata.version(name) for name in _PACKAGES},
        },
    }


def inference(result: Result) -> dict[str, Any]:
    """How the posterior was sampled, and how well as far as can be measured."""
    ensemble = result.ensemble
    found = ensemble.inference.model_dump(mode="json")
    if result.study.noise.unknown:
        found["noise_factor"] = {
            "mean": float(ensemble.factor.mean()),
            "sd": float(ensemble.factor.std()),
        }
    return found


def short(text: str) -> str:
    """A closed form that a person can still read; the whole of it is in law.json."""
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]} …"


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
