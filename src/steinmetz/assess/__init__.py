"""Assess: scores of predictions and the certificate of a law."""
