"""The paper, figure by figure: the only layer that knows figure numbers, arms and claims.

A figure is one TOML file in `figures`; `grids` reads it and makes studies of it, `points` carves,
samples and judges one of them, `reproduce` works through all, `claims` says which claims hold, and
`page` draws and writes. Files in `plots` are the kinds of figures, `records` what they measure.
"""
