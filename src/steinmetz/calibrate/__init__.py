"""Calibration of the whole pipeline: data sets whose truth is known, and how bands do on them.

`cases` draws a data set from a law or from the posterior of a finished run, `judged` carves it and
judges the bands of every way to average laws, `work` goes through many in several processes, and
`page` writes tables and figures.
"""
