"""Physics: what a potential depends on, how stress follows from its slopes, and the laws that generate data."""
