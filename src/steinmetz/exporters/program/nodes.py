"""Formulas as graphs of elementary steps, in which equal steps are one step.

The code that defines a law works on any kind of numbers; given these, it writes down what it does.
A step is safe at extreme arguments: softplus and its slope have no overflow, an exponential is held
at a finite value. Powers of principal stretches are contour integrals (`materials/principal.py`),

    Q_0(s) = Σ x_i^s,     Q_k(s) = 1/(2πi) ∮ z^s/p(z)^k dz,     p(z) = z³ − A z² + B z − J²,

whose slopes in A, B and J are integrals of the same kind.
"""

import math
from collections.abc import Callable
from typing import TypeAlias
from weakref import WeakValueDictionary

# What may stand where a step is expected.
Number: TypeAlias = "Node | float | int"


class Node:
    """A step: the name of what is done, what it is done to, and a constant or a name.

    Kinds: `number`, `symbol`; `add`, `multiply`, `divide`, `power`; `exp`, `log`, `sqrt`,
    `softplus`, `logistic`; `less`, `where`, `least`, `most`; `integral` of order `detail`.
    Equal steps are the same object, so steps are compared by identity.
    """

    __slots__ = ("__weakref__", "detail", "inputs", "kind")

    kind: str
    inputs: tuple["Node", ...]
    detail: float | int | str

    def __new__(
        cls, kind: str, inputs: tuple["Node", ...] = (), detail: float | int | str = 0
    ) -> "Node":
        """The step that is known already, or a further one."""
        key = (kind, tuple(map(id, inputs)), detail)
        found = _KNOWN.get(key)
        if found is None:
            found = super().__new__(cls)
            found.kind, found.inputs, found.detail = kind, inputs, detail
            _KNOWN[key] = found
        return found

    def __add__(self, other: Number) -> "Node":
        return add(self, other)

    def __radd__(self, other: Number) -> "Node":
        return add(other, self)

    def __sub__(self, other: Number) -> "Node":
        return add(self, multiply(-1.0, other))

    def __rsub__(self, other: Number) -> "Node":
        return add(other, multiply(-1.0, self))

    def __mul__(self, other: Number) -> "Node":
        return multiply(self, other)

    def __rmul__(self, other: Number) -> "Node":
        return multiply(other, self)

    def __truediv__(self, other: Number) -> "Node":
        return divide(self, other)

    def __rtruediv__(self, other: Number) -> "Node":
        return divide(other, self)

    def __pow__(self, other: Number) -> "Node":
        return power(self, other)

    def __neg__(self) -> "Node":
        return multiply(-1.0, self)

    def __lt__(self, other: Number) -> "Node":
        return Node("less", (step(self), step(other)))

    def __gt__(self, other: Number) -> "Node":
        return Node("less", (step(other), step(self)))

    @property
    def value(self) -> float | None:
        """The constant that it is; None if it is none."""
        return float(self.detail) if self.kind == "number" else None


# Steps that something still uses.
_KNOWN: "WeakValueDictionary[tuple[object, ...], Node]" = WeakValueDictionary()


def step(value: Number) -> Node:
    """A number as a step."""
    return value if isinstance(value, Node) else Node("number", (), float(value))


def symbol(name: str) -> Node:
    """A quantity that is known when the program runs."""
    return Node("symbol", (), name)


ZERO, ONE = step(0.0), step(1.0)


def add(a: Number, b: Number) -> Node:
    """a + b."""
    first, second = step(a), step(b)
    x, y = first.value, second.value
    if x is not None and y is not None:
        return step(x + y)
    if x == 0:
        return second
    return first if y == 0 else Node("add", (first, second))


def multiply(a: Number, b: Number) -> Node:
    """a b; constants stand first and are collected."""
    first, second = step(a), step(b)
    x, y = first.value, second.value
    if x is not None and y is not None:
        return step(x * y)
    if y is not None:
        first, second, x, y = second, first, y, x
    if x is not None:
        inner = second.inputs[0].value if second.kind == "multiply" else None
        if inner is not None:
            return multiply(x * inner, second.inputs[1])
        return ZERO if x == 0 else second if x == 1 else Node("multiply", (first, second))
    return Node("multiply", (first, second))


def divide(a: Number, b: Number) -> Node:
    """a / b."""
    first, second = step(a), step(b)
    x, y = first.value, second.value
    if x is not None and y is not None:
        return step(x / y)
    if x == 0:
        return ZERO
    return first if y == 1 else Node("divide", (first, second))


def power(a: Number, b: Number) -> Node:
    """a^b."""
    base, exponent = step(a), step(b)
    x, n = base.value, exponent.value
    if x is not None and n is not None:
        return step(x**n)
    if n == 0:
        return ONE
    if n == 0.5:
        return sqrt(base)
    return base if n == 1 else Node("power", (base, exponent))


def _function(name: str, now: Callable[[float], float]) -> Callable[[Number], Node]:
    """A function of one argument; of a constant it is computed now."""

    def apply(value: Number) -> Node:
        argument = step(value)
        known = argument.value
        return Node(name, (argument,)) if known is None else step(now(known))

    return apply


def _softplus(z: float) -> float:
    return max(z, 0.0) + math.log1p(math.exp(-abs(z)))


def _logistic(z: float) -> float:
    """1/(1 + e^−z), the slope of softplus."""
    return 1.0 / (1.0 + math.exp(-z)) if z > 0 else math.exp(z) / (1.0 + math.exp(z))


exp, log, sqrt = (
    _function("exp", math.exp),
    _function("log", math.log),
    _function("sqrt", math.sqrt),
)
softplus, logistic = _function("softplus", _softplus), _function("logistic", _logistic)


def logaddexp(a: Number, b: Number) -> Node:
    """log(e^a + e^b) for b = 0: softplus."""
    assert step(b) is ZERO
    return softplus(a)


def where(condition: Node, a: Number, b: Number) -> Node:
    """A where the condition holds, b elsewhere."""
    first, second = step(a), step(b)
    x, y = (each.value for each in condition.inputs)
    if x is not None and y is not None:
        return first if x < y else second
    return first if first is second else Node("where", (condition, first, second))


def minimum(a: Number, b: Number) -> Node:
    """The smaller of both."""
    return _extreme("least", a, b, min)


def maximum(a: Number, b: Number) -> Node:
    """The larger of both."""
    return _extreme("most", a, b, max)


def _extreme(kind: str, a: Number, b: Number, choose: Callable[[float, float], float]) -> Node:
    first, second = step(a), step(b)
    x, y = first.value, second.value
    if x is not None and y is not None:
        return step(choose(x, y))
    return Node(kind, (first, second))


def absolute(a: Number) -> Node:
    """|a|."""
    return maximum(a, -step(a))


def zeros_like(_: Number) -> Node:
    """Zero."""
    return ZERO


def ones_like(_: Number) -> Node:
    """One."""
    return ONE


def asarray(value: Number) -> Node:
    """A number as a step."""
    return step(value)


def integral(order: int, exponent: Number, x: tuple[Number, Number, Number]) -> Node:
    """Q_k(s) of the polynomial with the invariants A, B and J; at rest, Q_0 and Q_1 are known."""
    s, inputs = step(exponent), tuple(map(step, x))
    if [each.value for each in inputs] == [3.0, 3.0, 1.0] and order < 2:
        return s * (s - 1.0) / 2.0 if order else step(3.0)
    return Node("integral", (s, *inputs), order)


def power_sum(exponent: Number, x: tuple[Number, Number, Number]) -> Node:
    """Σ x_i^s over the squared stretches; a polynomial of the invariants if s is whole."""
    known = step(exponent).value
    if known is None or known != int(known) or not 1 <= known <= 12:
        return integral(0, exponent, x)
    A, B, J = map(step, x)
    sums: list[Node] = [step(3.0), A, A * A - 2.0 * B]
    for _ in range(3, int(known) + 1):
        sums.append(A * sums[-1] - B * sums[-2] + J * J * sums[-3])
    return sums[int(known)]


def power_slopes(exponent: Number, x: tuple[Number, Number, Number]) -> tuple[Node, Node, Node]:
    """The slopes of Σ x_i^s in A, B and J."""
    s = step(exponent)
    first, second, third = (integral(1, s + shift, x) for shift in (1.0, 0.0, -1.0))
    return s * first, -s * second, 2.0 * x[2] * s * third
