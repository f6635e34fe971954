"""Experiments: how the rows of a table make states of a material, and what is observed at them."""
