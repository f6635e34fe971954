"""Traced formulas as statements of a programming language.

A step that is used twice, or that is long, gets a name; all others are written where they are used.
"""

from collections import Counter
from collections.abc import Callable, Mapping
from typing import NamedTuple

from steinmetz.exporters.program.nodes import Node
from steinmetz.exporters.program.trace import every

# How tightly a written step binds: sums, products, signs and powers, names and calls.
_SUM, _PRODUCT, _POWER, _ATOM = 1, 2, 4, 5
# Characters from which a step is written into a line of its own.
_LONG = 60
# Whole exponents up to this one are written as such.
_WHOLE = 64


class Language(NamedTuple):
    """How a language writes steps.

    `calls` are functions by kind of step, with places for their arguments; `power` takes base and
    exponent; `whole` says that whole exponents must be written as integers. `assign` is a
    statement with the places `name` and `value`. `symbol` writes what is known.
    """

    number: Callable[[float], str]
    calls: Mapping[str, str]
    power: str
    assign: str
    symbol: Callable[[str], str]


class _Written(NamedTuple):
    """A step as text, and how tightly it binds."""

    text: str
    tight: int = _ATOM

    def within(self, tight: int) -> str:
        """The text, in brackets if it binds more loosely than what it stands in."""
        return self.text if self.tight >= tight else f"({self.text})"


def statements(outputs: Mapping[str, Node], language: Language) -> list[str]:
    """Statements that give the outputs their values, in order."""
    steps = every(*outputs.values())
    uses = Counter(each for node in steps for each in node.inputs)
    uses.update(outputs.values())
    written: dict[Node, _Written] = {}
    lines: list[str] = []
    count = 0
    for node in steps:
        text = _write(node, written, language)
        named = uses[node] > 1 or len(text.text) > _LONG
        if node.inputs and named and node.kind != "less":
            count += 1
            lines.append(language.assign.format(name=f"t{count}", value=text.text))
            text = _Written(f"t{count}")
        written[node] = text
    for name, node in outputs.items():
        lines.append(language.assign.format(name=name, value=written[node].text))
    return lines


def _write(node: Node, written: Mapping[Node, _Written], language: Language) -> _Written:
    """One step, its inputs being written."""
    if node.kind == "number":
        return _number(node, language)
    if node.kind == "symbol":
        return _Written(language.symbol(str(node.detail)))
    inputs = [written[each] for each in node.inputs]
    if node.kind == "add":
        return _sum(node, inputs, language)
    if node.kind == "multiply":
        return _product(node, inputs)
    if node.kind == "divide":
        return _Written(f"{inputs[0].within(_PRODUCT)}/{inputs[1].within(_POWER)}", _PRODUCT)
    if node.kind == "power":
        return _power(node, inputs, language)
    texts = [each.text for each in inputs]
    return _Written(language.calls[node.kind].format(*texts, order=node.detail))


def _number(node: Node, language: Language) -> _Written:
    """A number; a negative one binds as a sum does."""
    value = node.value
    assert value is not None
    return _Written(language.number(value), _ATOM if value >= 0 else _SUM)


def _sum(node: Node, inputs: list[_Written], language: Language) -> _Written:
    """A sum, with a minus sign where what is added is negative."""
    first, second = inputs
    if second.text.startswith("-") and second.tight > _SUM:
        return _Written(f"{first.within(_SUM)} - {second.text[1:]}", _SUM)
    last = node.inputs[1].value
    if last is not None and last < 0:
        return _Written(f"{first.within(_SUM)} - {language.number(-last)}", _SUM)
    return _Written(f"{first.within(_SUM)} + {second.within(_PRODUCT)}", _SUM)


def _product(node: Node, inputs: list[_Written]) -> _Written:
    """A product; that with −1 is a sign."""
    first, second = inputs
    if node.inputs[0].value == -1:
        return _Written(f"-{second.within(_POWER)}", _PRODUCT)
    if node.inputs[0].kind == "number":
        return _Written(f"{first.text}*{second.within(_POWER)}", _PRODUCT)
    return _Written(f"{first.within(_PRODUCT)}*{second.within(_POWER)}", _PRODUCT)


def _power(node: Node, inputs: list[_Written], language: Language) -> _Written:
    """A power; whole exponents are integers, because bases may then be negative."""
    exponent = node.inputs[1].value
    base = inputs[0].within(_ATOM)
    if exponent is not None and exponent == int(exponent) and abs(exponent) <= _WHOLE:
        whole = str(int(exponent)) if exponent > 0 else f"({int(exponent)})"
        return _Written(language.power.format(base, whole), _POWER)
    return _Written(language.power.format(base, inputs[1].within(_ATOM)), _POWER)
