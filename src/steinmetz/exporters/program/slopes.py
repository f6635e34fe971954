"""Slopes of traced formulas, and values put in for symbols: each step once."""

from collections.abc import Callable, Mapping

from steinmetz.exporters.program import nodes
from steinmetz.exporters.program.nodes import ONE, ZERO, Node

# The slope of a step from its inputs and their slopes.
Rule = Callable[[Node, list[Node]], Node]


def _divide(node: Node, by: list[Node]) -> Node:
    return (by[0] - node * by[1]) / node.inputs[1]


def _power(node: Node, by: list[Node]) -> Node:
    """Exponents are constants of the law: they do not change with the state."""
    base, exponent = node.inputs
    assert by[1] is ZERO
    return exponent * base ** (exponent - 1.0) * by[0]


def _logistic(node: Node, by: list[Node]) -> Node:
    """s(z) s(−z), in which nothing cancels."""
    return node * nodes.logistic(-node.inputs[0]) * by[0]


def _integral(node: Node, by: list[Node]) -> Node:
    """Of Q_0 = Σ x_i^s: s Q_1(s + 1), −s Q_1(s), 2 J s Q_1(s − 1); of Q_k, see `nodes`."""
    order = int(node.detail)
    s, J = node.inputs[0], node.inputs[3]
    front, rise = (s, 1.0) if order == 0 else (nodes.step(float(order)), 2.0)
    weights = (ONE, -ONE, 2.0 * J)
    total = ZERO
    for place, weight in enumerate(weights):
        if by[place + 1] is not ZERO:
            exponent = s + (rise - place)
            each = nodes.integral(order + 1, exponent, (node.inputs[1], node.inputs[2], J))
            total = total + front * weight * each * by[place + 1]
    return total


RULES: Mapping[str, Rule] = {
    "add": lambda node, by: by[0] + by[1],
    "multiply": lambda node, by: node.inputs[0] * by[1] + by[0] * node.inputs[1],
    "divide": _divide,
    "power": _power,
    "exp": lambda node, by: node * by[0],
    "log": lambda node, by: by[0] / node.inputs[0],
    "sqrt": lambda node, by: by[0] / (2.0 * node),
    "softplus": lambda node, by: nodes.logistic(node.inputs[0]) * by[0],
    "logistic": _logistic,
    "less": lambda node, by: ZERO,
    "where": lambda node, by: nodes.where(node.inputs[0], by[1], by[2]),
    "least": lambda node, by: nodes.where(node.inputs[0] < node.inputs[1], by[0], by[1]),
    "most": lambda node, by: nodes.where(node.inputs[1] < node.inputs[0], by[0], by[1]),
    "integral": _integral,
}


def slope(whole: Node, variable: Node) -> Node:
    """∂(whole)/∂(variable)."""
    return _slope(whole, variable, {})


def _slope(node: Node, variable: Node, known: dict[Node, Node]) -> Node:
    if not node.inputs:
        return ONE if node is variable else ZERO
    if node not in known:
        by = [_slope(each, variable, known) for each in node.inputs]
        still = all(each is ZERO for each in by)
        known[node] = ZERO if still else RULES[node.kind](node, by)
    return known[node]


_BUILD: Mapping[str, Callable[..., Node]] = {
    "add": nodes.add,
    "multiply": nodes.multiply,
    "divide": nodes.divide,
    "power": nodes.power,
    "exp": nodes.exp,
    "log": nodes.log,
    "sqrt": nodes.sqrt,
    "softplus": nodes.softplus,
    "logistic": nodes.logistic,
    "least": nodes.minimum,
    "most": nodes.maximum,
    "where": nodes.where,
}


def put(node: Node, values: Mapping[Node, Node], known: dict[Node, Node] | None = None) -> Node:
    """The same with other formulas in place of symbols."""
    memory = {} if known is None else known
    if not node.inputs:
        return values.get(node, node)
    if node not in memory:
        inputs = tuple(put(each, values, memory) for each in node.inputs)
        memory[node] = _rebuilt(node, inputs)
    return memory[node]


def _rebuilt(node: Node, inputs: tuple[Node, ...]) -> Node:
    """The same step of other inputs; what has become constant is computed."""
    if node.kind == "integral":
        s, a, b, j = inputs
        return nodes.integral(int(node.detail), s, (a, b, j))
    build = _BUILD.get(node.kind)
    return build(*inputs) if build else Node(node.kind, inputs, node.detail)
