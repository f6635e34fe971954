"""Finite elements over a posterior: what the uncertainty of a law is worth in a part."""
