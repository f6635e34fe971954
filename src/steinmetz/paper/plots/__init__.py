"""Figures and pages of the reproduction: one file per kind of figure, each with `draw(outcome)`."""
