"""Export: the closed form of a law and its safe file format."""
