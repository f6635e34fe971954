"""Posterior: bijector, prior, likelihood and the Gaussian that touches them at the MAP."""
