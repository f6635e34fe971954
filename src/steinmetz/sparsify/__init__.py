"""From a full network to one small law: train, prune, trim, choose, refit (method §4)."""
