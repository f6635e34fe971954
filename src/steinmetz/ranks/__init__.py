"""Several processes that sample one posterior: who they are, and what they tell each other.

Particles go through JAX's collectives. Everything else (who is there, whether all do the same,
where the next chunk ends, who was lost) goes over a small channel of our own: lines of JSON between
the first process and each of the others.
"""
