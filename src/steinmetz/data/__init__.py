"""Data: noise models and tables of measured rows."""
