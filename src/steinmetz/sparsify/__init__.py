"""Sparsify: train gates, prune the dead graph, trim by refits, and keep the law that earns its parameters."""
