"""Posterior: bijector, prior, likelihood and the Gaussian approximation at the mode."""
