"""Slices of Ψ with their minima: the generating law and the law that was found."""

from matplotlib.figure import Figure

from steinmetz.paper.reproduce import Outcome
from steinmetz.report import planes


def draw(outcome: Outcome) -> Figure:
    """The first seed."""
    arrays, facts = outcome.rows[0].found
    rows = {}
    for name, title in (("law", f"law, {facts['active']} parameters"), ("truth", "truth")):
        rows[title] = [
            planes.Slice(*pair, *(arrays[f"{name}_{index}_{axis}"] for axis in "xyz"))
            for index, pair in enumerate(facts["planes"])
        ]
    return planes.draw(rows)
