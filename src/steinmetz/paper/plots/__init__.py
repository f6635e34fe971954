"""Kinds of figures, one file each: what a point of it is, how it is drawn, and its tables.

A file has `measure`, `draw` and `details` (see `kinds.Kind`), and `Options` where its grids have
any; it is found by its name, which a grid gives as `kind`.
"""
