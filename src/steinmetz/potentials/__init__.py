"""Potentials: learnable energies Ψ(θ, x), their graphs, and the law that remains after carving."""
