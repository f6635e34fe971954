"""The closed form of a law through SymPy: exact as an expression, rounded where people read it."""

from typing import Any

import numpy as np

from steinmetz.exporters import centred
from steinmetz.potentials.activations import ACTIVATIONS
from steinmetz.potentials.graph import Graph
from steinmetz.potentials.law import Law
from steinmetz.potentials.mechanics import Terms
from steinmetz.potentials.volume import completed


def expression(law: Law, digits: int | None = None) -> Any:
    """Ψ̂ as a SymPy expression in the inputs; with `digits`, every constant is rounded first."""
    import sympy

    law = completed(law)
    if isinstance(law.graph, Terms):
        return centred.expression(law, 17 if digits is None else digits)
    symbols = [sympy.Symbol(name, real=True) for name in law.graph.inputs]
    values = [*(_constant(value, digits) for value in np.asarray(law.values)), sympy.Integer(1)]
    nodes: list[Any] = list(symbols)
    for node in law.graph.units():
        z = _total(law, node, values, nodes)
        nodes.append(ACTIVATIONS[law.graph.activation(node)].symbolic(z))
    psi = _total(law, law.graph.out, values, nodes)
    return psi + _normalisation(law, symbols, digits)


def _total(law: Law, node: int, values: list[Any], nodes: list[Any]) -> Any:
    import sympy

    graph = law.graph
    assert isinstance(graph, Graph)
    terms = [values[edge.parameter] * nodes[edge.source] for edge in graph.into(node)]
    return sympy.Add(*terms)


def _normalisation(law: Law, symbols: list[Any], digits: int | None) -> Any:
    """− Ψ(x₀) − n d·(x − x₀), with both constants taken from the law itself."""
    import jax
    import jax.numpy as jnp

    reference = law.reference
    point = jnp.asarray(reference.point)
    value, slope = jax.value_and_grad(law.graph.energy, argnums=1)(law.values, point)
    removed = np.asarray(reference.removed(slope))
    shift = float(value) - float(removed @ np.asarray(reference.point))
    linear = [
        _constant(-n, digits) * symbol for n, symbol in zip(removed, symbols, strict=True) if n
    ]
    return sum(linear, start=_constant(-shift, digits))


def _constant(value: float, digits: int | None) -> Any:
    """A SymPy number: all 17 digits of the double, or a few."""
    import sympy

    return sympy.Float(float(value), 17 if digits is None else digits)
