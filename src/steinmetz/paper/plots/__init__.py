"""Kinds of figures, one file each: what is measured at a point, and how rows of it are drawn.

A file has `measure` and `draw` (see `records.Kind`), `Options` where its grids have any, and
`details` where it says more than the figure. A grid names it as its `kind`; one new kind is one
new file, and no list has to know it.
"""
