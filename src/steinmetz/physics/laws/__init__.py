"""Generating laws: plain functions Ψ(x), one per file, found by name.

A file declares `PHYSICS`, the default `PARAMETERS` and `energy(inputs, parameters)`, as printed in its source; the
normalisation of method §1 is added by the caller.
"""
