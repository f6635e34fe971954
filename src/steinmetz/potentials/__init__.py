"""Learnable potentials: networks that are trained, graphs that they become, laws that are read."""
