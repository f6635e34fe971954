"""Generating laws: plain functions Ψ(x), one per file, found by name."""
