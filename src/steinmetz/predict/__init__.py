"""Predict: push an ensemble of laws forward along states."""
