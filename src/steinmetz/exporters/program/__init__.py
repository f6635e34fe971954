"""A law as a program: the formula of a law traced into steps that every language can print."""
