"""Scores of a prediction beside R², W1 and coverage: one per file, found by name."""
