"""Infer: samplers of any log density. They know nothing of mechanics."""
