"""Names: a law composed of terms that is a textbook law, with its textbook parameters.

The shear part and the volume part are recognised one after the other (`families.py`). A law of
which one term, one exponent or one power of the volume differs is not that law and gets no name.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from jaxtyping import Float
from pydantic import Field

from steinmetz.assess.bands import Band, band, listed
from steinmetz.exporters.families import FAMILIES, TOGETHER, VOLUMES, Family, Slot
from steinmetz.potentials.law import Law
from steinmetz.potentials.mechanics import Term, Terms
from steinmetz.potentials.shape import Value
from steinmetz.potentials.vocabulary import SAME
from steinmetz.records import Document

# Textbook parameters by symbol, as functions of θ; θ may have a second axis, over draws.
Formulas = dict[str, Callable[[Value], Value]]
_ONLY_VOLUME = ("log", "log square", "volume square", "volume power", "volume pair")
# J^−q without which a term does not feel the volume: q over the exponent, or q.
_RATIOS = {"norm": 1 / 3, "cofactor": 2 / 3}
_SHARE = 2 / 3


class Textbook(Document):
    """The name of a law, and its parameters as textbooks define them."""

    name: str = Field(
        description="of the shear part, and of the whole law if its volume part is known"
    )
    volume: str | None = Field(description="the formula of the volume part; null if it has no name")
    whole: bool = Field(description="whether the volume part is known too, or cannot change")
    parameters: dict[str, Band]

    @property
    def sentence(self) -> str:
        """What people read."""
        known = listed(self.parameters)
        if not self.whole:
            return f"In shear this is {self.name}: {known}; its volume part has no name."
        volume = f" with volume part {self.volume}" if self.volume else ""
        return f"This is {self.name}{volume}: {known}."


class Named(NamedTuple):
    """A law that was recognised."""

    name: str
    volume: str | None
    whole: bool
    formulas: Formulas


class _Placed(NamedTuple):
    """A term, and where its coefficient stands in θ."""

    term: Term
    place: int

    @property
    def shape(self) -> str:
        """The shape; a sum of squared stretches is an invariant."""
        own = self.term.shape
        return own if self.term.free else SAME.get((own, self.term.constants[0]), own)

    def fills(self, slot: Slot) -> bool:
        """Whether it is such a term; an exponent that is fitted is never a prescribed one."""
        constant, prescribed = self.term.constants[0], slot.constant
        free = self.term.free
        return self.shape == slot.shape and (
            prescribed is None or (not free and constant == prescribed)
        )

    def formula(self, function: Callable[[Value, Value], Value]) -> Callable[[Value], Value]:
        """A parameter of a slot as a function of θ."""
        term, place = self.term, self.place
        return lambda theta: function(
            theta[place], term.at([theta[place + 1 + n] for n in range(term.size - 1)])[0]
        )


def textbook(law: Law, draws: Float[np.ndarray, "draws parameters"]) -> Textbook | None:
    """The name of a law with its parameters over the draws; None if it has none."""
    named = recognise(law)
    if named is None:
        return None
    theta = np.concatenate([np.asarray(law.values)[None], np.asarray(draws)]).T
    found = {symbol: band(formula(theta)) for symbol, formula in named.formulas.items()}
    bands = {symbol: each for symbol, each in found.items() if each is not None}
    return Textbook(name=named.name, volume=named.volume, whole=named.whole, parameters=bands)


def recognise(law: Law) -> Named | None:
    """Which textbook law a law is, if it is one."""
    graph = law.graph
    if not isinstance(graph, Terms):
        return None
    sizes = [term.size for term in graph.terms]
    places = np.cumsum([0, *sizes])[:-1].tolist()
    every = [_Placed(*pair) for pair in zip(graph.terms, places, strict=True)]
    shear = [each for each in every if each.term.shape not in _ONLY_VOLUME]
    volume = [each for each in every if each.term.shape in _ONLY_VOLUME]
    kind = _kind(shear) if law.reference.directions else "incompressible"
    if kind is None or not shear:
        return None
    for family in FAMILIES:
        formulas = _filled(family, shear, kind)
        if formulas is not None:
            return _with_volume(family, formulas, volume, kind)
    return None


def _kind(shear: list[_Placed]) -> str | None:
    """How terms of the shape are stress-free, if all of them are in the same way.

    "isochoric" if they do not feel the volume, "barrier" by −n log J, "linear" by −n (J − 1);
    "mixed" if both occur. None where the power of the volume is none of a textbook; so with
    (I1 − 3)^k, which is zero where I1 < 3; and where a term has I1 and I2 in one argument.
    """
    found = set()
    for each in shear:
        if len(each.term.constants) > 2:
            return None
        constant, q = each.term.constants
        ratio = _RATIOS.get(each.shape)
        isochoric = _SHARE if ratio is None else ratio * constant
        if q == 0 and each.shape != "power":
            found.add("barrier" if each.term.barrier else "linear")
        elif abs(q - isochoric) < 1e-12 and not (each.term.free and ratio is not None):
            found.add("isochoric")
        else:
            return None
    if len(found) == 1:
        return found.pop()
    return None if "isochoric" in found else "mixed"


def _filled(family: Family, shear: list[_Placed], kind: str) -> Formulas | None:
    """The parameters of a family, if the terms are its terms."""
    least, most = family.counts
    if family.isochoric and kind not in ("isochoric", "incompressible"):
        return None
    if not least <= len(shear) <= most or (
        family.ways == "once" and len(shear) != len(family.slots)
    ):
        return None
    chosen = [next((slot for slot in family.slots if each.fills(slot)), None) for each in shear]
    pairs = [(each, slot) for each, slot in zip(shear, chosen, strict=True) if slot is not None]
    if len(pairs) < len(shear):
        return None
    if family.ways == "numbered":
        return _numbered(pairs, kind)
    if family.ways == "once" and len({id(slot) for _, slot in pairs}) < len(pairs):
        return None
    formulas = _summed(pairs)
    if family.ways == "once":
        return formulas
    order = next((row for row in family.symbols if set(row) == formulas.keys()), None)
    return None if order is None else {symbol: formulas[symbol] for symbol in order}


def _summed(pairs: list[tuple[_Placed, Slot]]) -> Formulas:
    """Equal parameters of several terms added up."""
    summands: dict[str, list[Callable[[Value], Value]]] = {}
    for each, slot in pairs:
        for symbol, function in slot.parameters.items():
            summands.setdefault(symbol, []).append(each.formula(function))
    return {symbol: _sum(functions) for symbol, functions in summands.items()}


def _sum(functions: list[Callable[[Value], Value]]) -> Callable[[Value], Value]:
    return lambda theta: sum(function(theta) for function in functions)


def _numbered(pairs: list[tuple[_Placed, Slot]], kind: str) -> Formulas | None:
    """Parameters of every term by its number; products of stretches only where J = 1."""
    if kind != "incompressible" and any(slot.shape in ("areas", "cofactor") for _, slot in pairs):
        return None
    alone = len(pairs) == 1
    return {
        symbol if alone else f"{symbol}{number}": each.formula(function)
        for number, (each, slot) in enumerate(pairs, start=1)
        for symbol, function in slot.parameters.items()
    }


def _with_volume(family: Family, formulas: Formulas, volume: list[_Placed], kind: str) -> Named:
    """The name of a shear part, and that of the volume part if it has one."""
    if kind == "incompressible":
        return Named(family.name, None, True, formulas)
    pull = _pull(family, formulas)
    if kind == "barrier" and not volume:
        return Named(family.name, f"-{pull} log J", True, formulas)
    only = volume[0].term if len(volume) == 1 else None
    known = VOLUMES.get((kind, only.shape)) if only is not None else None
    if only is None or known is None or only.free:
        return Named(family.name, None, False, formulas)
    name = TOGETHER.get((family.name, kind, only.shape), family.name)
    k = only.constants[0]
    formula = known.formula.format(n=pull, k=f"{k:g}", twice=f"{2 * k**2:g}")
    own = {known.symbol: volume[0].formula(lambda c, s: known.factor * c)}
    return Named(name, formula, True, {**formulas, **own})


def _pull(family: Family, formulas: Formulas) -> str:
    """What the pressure of a shear part is called."""
    if family.ways != "numbered":
        return family.pull
    symbols = [symbol for symbol in formulas if symbol.startswith("μ")]
    return symbols[0] if len(symbols) == 1 else f"({' + '.join(symbols)})"
