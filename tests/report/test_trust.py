"""The figure of where a law can be trusted."""

import dataclasses

import numpy as np

from cases import present
from steinmetz.api import Result
from steinmetz.report.trust import trust


def entries(result: Result) -> list[str]:
    """What the legend names."""
    figure = trust(result)
    return [text.get_text() for text in present(figure.axes[0].get_legend()).get_texts()]


def test_what_is_lost_is_drawn_and_named(gent: Result) -> None:
    found = present(gent.trust)
    assert entries(gent)[-1] == "data: full tensor"
    left = np.where(found.axis < 0.8, 0.0, 1.0) * np.ones_like(found.stable)
    changed = dataclasses.replace(gent)
    lost = found._replace(stable=left, unstable=1 - left, elliptic=left, not_elliptic=0 * left)
    changed.__dict__["trust"] = lost
    assert entries(changed)[:3] == [
        "law without stability (Drucker)",
        "5 % of laws without stability (Drucker)",
        "law without ellipticity",
    ]
