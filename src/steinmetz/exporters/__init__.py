"""Exporters: a law as text for people or programs, one form per file, found by name."""
