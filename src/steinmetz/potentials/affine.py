"""Shapes of affine arguments: f of I1, or of I1 and I2 (and J) at once.

y = (I1 − 3 + r (I2 − 3))/(1 + r) is a mean of what two invariants have beyond rest, with weights
that cannot be negative; a *root* shape has the same mean of ‖F‖ and ‖cof F‖. What is convex and
non-decreasing in y is polyconvex, and the mean has slope one at rest whatever r is. Without a third
constant, r is zero and the first invariant stands alone; only then may the volume be taken out of
it. A *unit* is a softplus unit of a network: its argument has J as well, with either sign, because
an energy need only be convex in J.
"""

from collections.abc import Callable

import numpy as np

from steinmetz.potentials.shape import Constants, Invariants, Numerics, Shape, Value, over_volume

# Share of the locking limit from which −log(1 − z) goes on as its parabola: it stays finite.
_LOCKED = 0.999
# Weights of the series of Arruda and Boyce (1993).
_CHAINS = (1 / 2, 1 / 20, 11 / 1050, 19 / 7000, 519 / 673750)
# 2 (√I − √3) √3 has slope one in I at rest.
_ROOT = 12**0.5
# Names of the constants: that of the shape, the power of the volume, the weight of I2.
_MEAN = ("power of the volume", "ratio")

# f and f′ of y.
Outer = Callable[[Numerics, Value, Value], tuple[Value, Value]]
# y, and its slopes in I1, I2 and J.
Argument = Callable[[Numerics, Invariants, Constants], tuple[Value, Invariants]]


def _mean(numerics: Numerics, x: Invariants, p: Constants) -> tuple[Value, Invariants]:
    """I1 J^−q − 3, or its mean with I2 − 3."""
    volume = over_volume(numerics, x[2], p[1])
    slopes = volume, numerics.zeros_like(volume), -p[1] * x[0] * volume / x[2]
    if len(p) == 2:
        return x[0] * volume - 3, slopes
    own, other = _weights(p)
    return (
        own * (x[0] * volume - 3) + other * (x[1] - 3),
        (own * slopes[0], other + slopes[1], own * slopes[2]),
    )


def _root_mean(numerics: Numerics, x: Invariants, p: Constants) -> tuple[Value, Invariants]:
    """√12 (‖F‖ − √3), or its mean with that of cof F."""
    own, other = _weights(p) if len(p) > 2 else (1.0, 0.0)
    first, second = numerics.sqrt(x[0]), numerics.sqrt(x[1])
    y = _ROOT * (own * first + other * second - 3**0.5 * (own + other))
    zero = numerics.zeros_like(first * x[2])
    return y, (zero + own * 3**0.5 / first, zero + other * 3**0.5 / second, zero)


def _weights(p: Constants) -> tuple[Value, Value]:
    """Of I1 and of I2."""
    return 1 / (1 + p[2]), p[2] / (1 + p[2])


def _of(argument: Argument, outer: Outer, **more: Value) -> Shape:
    """f(y; p): `outer` gives f and f′."""

    def energy(numerics: Numerics, x: Invariants, p: Constants) -> Value:
        return outer(numerics, argument(numerics, x, p)[0], p[0])[0]

    def slopes(numerics: Numerics, x: Invariants, p: Constants) -> Invariants:
        y, inner = argument(numerics, x, p)
        slope = outer(numerics, y, p[0])[1]
        return slope * inner[0], slope * inner[1], slope * inner[2]

    return Shape(energy, slopes, **{"outgrows": lambda p: p[1] == 0, **more})


def _exponential(numerics: Numerics, y: Value, b: Value) -> tuple[Value, Value]:
    slope = numerics.exp(b * y)
    return slope / b, slope


def _locking(numerics: Numerics, y: Value, m: Value) -> tuple[Value, Value]:
    """−m log(1 − y/m), and its parabola beyond the share `_LOCKED` of the limit."""
    z = y / m
    inside = numerics.minimum(z, _LOCKED)
    left, beyond = 1 - inside, z - inside
    value = -numerics.log(left) + beyond / left + 0.5 * (beyond / left) ** 2
    return m * value, 1 / left + beyond / left**2


def _softplus(numerics: Numerics, y: Value, b: Value) -> tuple[Value, Value]:
    """2/b log((1 + e^by)/2): from slope one at rest to slope two."""
    tail = numerics.exp(-b * numerics.abs(y))
    value = 2 / b * (numerics.logaddexp(b * y, 0.0) - np.log(2))
    return value, 2 * numerics.where(y > 0, 1.0, tail) / (1 + tail)


def _power(numerics: Numerics, y: Value, k: Value) -> tuple[Value, Value]:
    """y^k of what is positive."""
    positive = numerics.maximum(y, 0.0)
    return positive**k, k * positive ** (k - 1)


def chain_modulus(N: Value) -> Value:
    """The slope at rest of Arruda and Boyce's series Σ w_i I1^i/N^(i−1) of chains of N links."""
    return sum(i * w * (3 / N) ** (i - 1) for i, w in enumerate(_CHAINS, 1))


def _chains(numerics: Numerics, y: Value, N: Value) -> tuple[Value, Value]:
    """Arruda and Boyce's series, divided by its slope at rest."""
    I1, rest = y + 3, chain_modulus(N)
    value = sum(w * (I1**i - 3**i) / N ** (i - 1) for i, w in enumerate(_CHAINS, 1))
    slope = sum(i * w * (I1 / N) ** (i - 1) for i, w in enumerate(_CHAINS, 1))
    return value / rest, slope / rest


def _norm(numerics: Numerics, square: Value, a: Value) -> tuple[Value, Value]:
    """(6/a) m^(a/2): the power a of the norm of F and √r cof F together."""
    return 6 / a * square ** (a / 2), 3 * square ** (a / 2 - 1)


def _square_mean(numerics: Numerics, x: Invariants, p: Constants) -> tuple[Value, Invariants]:
    """m = (I1 + r I2)/(3 + 3 r), which is one at rest."""
    own, other = _weights(p)
    zero = numerics.zeros_like(x[0])
    return (own * x[0] + other * x[1]) / 3, (own / 3 + zero, other / 3 + zero, zero)


def _unit_argument(numerics: Numerics, x: Invariants, p: Constants) -> tuple[Value, Invariants]:
    """The mean with ± s (J − 1) − c; the second constant is the sign."""
    y, (first, second, _) = _mean(numerics, x, (p[0], 0.0, p[2]))
    push = p[1] * p[3]
    return y + push * (x[2] - 1) - p[4], (first, second, push + numerics.zeros_like(first))


def _symbolic_mean(x: Invariants, p: Constants, factor: Value, root: bool = False) -> Value:
    """A multiple of y as people write it: I1 − 3 and I2 − 3, each with its weight."""
    import sympy

    rest = sympy.sqrt(3) if root else 3
    parts = [sympy.sqrt(each) if root else each for each in x[:2]]
    parts[0] *= x[2] ** -p[1]
    weights = _weights(p) if len(p) > 2 else (sympy.Integer(1),)
    unit = factor * (2 * sympy.sqrt(3) if root else 1)
    return sympy.Add(
        *(_times(unit * w, part - rest) for w, part in zip(weights, parts, strict=False) if w != 0)
    )


def _times(factor: Value, form: Value) -> Value:
    """A multiple that SymPy leaves as it is."""
    import sympy

    return form if factor == 1 else sympy.Mul(*sympy.Mul.make_args(factor), form, evaluate=False)


def _exponential_form(x: Invariants, p: Constants, root: bool = False) -> Value:
    import sympy

    inner = _symbolic_mean(x, p, p[0], root)
    return sympy.Mul(1 / p[0], sympy.exp(inner), evaluate=False)


def _locking_form(x: Invariants, p: Constants, root: bool = False) -> Value:
    import sympy

    m = p[0]
    if root or len(p) > 2:
        return sympy.Mul(-m, sympy.log(1 + _symbolic_mean(x, p, -1 / m, root)), evaluate=False)
    limit = m if m.is_Integer else sympy.Float(m, 17 if m.is_Rational else None)
    y = _symbolic_mean(x, p, sympy.Integer(1))
    share = sympy.Mul(-1, y, sympy.Pow(limit, -1, evaluate=False), evaluate=False)
    return sympy.Mul(-m, sympy.log(1 + share), evaluate=False)


def _softplus_form(x: Invariants, p: Constants, root: bool = False) -> Value:
    import sympy

    inner = _symbolic_mean(x, p, p[0], root)
    return 2 / p[0] * sympy.log((1 + sympy.exp(inner)) / 2)


def _unit_form(x: Invariants, p: Constants) -> Value:
    import sympy

    rate, sign, ratio, push, shift = p
    mean = _symbolic_mean(x, (rate, sympy.Integer(0), ratio), sympy.Integer(1))
    volume = _times(sign * push, x[2] - 1) if push else sympy.Integer(0)
    inner = sympy.Mul(rate, sympy.Add(mean, volume, -shift), evaluate=False)
    return 2 / rate * sympy.log(1 + sympy.exp(inner))


def _chains_form(x: Invariants, p: Constants) -> Value:
    own = x[0] * x[2] ** -p[1]
    rest = chain_modulus(p[0])
    return sum(w / rest * own**i / p[0] ** (i - 1) for i, w in enumerate(_CHAINS, 1))


def _norm_form(x: Invariants, p: Constants) -> Value:
    """Not evaluated by SymPy, which would pull the 3 out of the power."""
    import sympy

    own, other = _weights(p)
    inner = sympy.Add(x[0] * own / 3, x[1] * other / 3)
    return sympy.Mul(6 / p[0], sympy.Pow(inner, p[0] / 2, evaluate=False), evaluate=False)


def _label(form: str) -> Callable[[Constants], str]:
    """A label; the argument is barred without its volume, or says what I2 weighs in it."""

    def label(p: Constants) -> str:
        own = "I1bar" if p[1] else "I1"
        inner = f"{own} + {p[2]:.3g} I2" if len(p) > 2 and p[2] else own
        return form.format(p[0], y=inner)

    return label


def _unit_label(p: Constants) -> str:
    second = f" + {p[2]:.3g} I2" if p[2] else ""
    volume = f" {'+' if p[1] > 0 else '-'} {p[3]:.3g} J" if p[3] else ""
    return f"unit({p[0]:.3g}, I1{second}{volume} - {p[4]:.3g})"


def _root(form: Callable[..., Value]) -> Callable[[Invariants, Constants], Value]:
    return lambda x, p: form(x, p, root=True)


SHAPES: dict[str, Shape] = {
    "exponential": _of(
        _mean,
        _exponential,
        symbolic=_exponential_form,
        label=_label("exp({:.3g} {y})"),
        least=0.0,
        constants=("rate", *_MEAN),
    ),
    "locking": _of(
        _mean,
        _locking,
        symbolic=_locking_form,
        label=_label("lock({y}, {:.3g})"),
        constants=("limit", *_MEAN),
    ),
    "softplus": _of(
        _mean,
        _softplus,
        symbolic=_softplus_form,
        label=_label("softplus({:.3g} {y})"),
        least=0.0,
        constants=("rate", *_MEAN),
        outgrows=lambda p: False,
    ),
    "power": _of(
        _mean,
        _power,
        symbolic=lambda x, p: (x[0] * x[2] ** -p[1] - 3) ** p[0],
        label=_label("({y} - 3)^{:.3g}"),
    ),
    "chains": _of(
        _mean,
        _chains,
        symbolic=_chains_form,
        label=_label("chains({y}, {:.3g})"),
        constants=("links", "power of the volume"),
    ),
    "common norm": _of(
        _square_mean,
        _norm,
        symbolic=_norm_form,
        label=_label("norm({y})^{:.3g}"),
        constants=("exponent", *_MEAN),
        outgrows=lambda p: p[0] > 3,
    ),
    "root exponential": _of(
        _root_mean,
        _exponential,
        symbolic=_root(_exponential_form),
        label=_label("exp({:.3g} root {y})"),
        least=0.0,
        constants=("rate", *_MEAN),
    ),
    "root locking": _of(
        _root_mean,
        _locking,
        symbolic=_root(_locking_form),
        label=_label("lock(root {y}, {:.3g})"),
        constants=("limit", *_MEAN),
        outgrows=lambda p: False,
    ),
    "unit": _of(
        _unit_argument,
        _softplus,
        symbolic=_unit_form,
        label=_unit_label,
        least=0.0,
        constants=("rate", "sign of the volume", "ratio", "volume", "shift"),
        feels="J",
        outgrows=lambda p: False,
    ),
}
