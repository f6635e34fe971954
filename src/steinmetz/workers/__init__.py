"""Many independent tasks, in processes of this machine or on a Dask cluster.

A task is the name of a function of this package and a JSON text; what it finds stays on the disk,
whole or not at all. So any worker may be lost at any moment, and any engine goes on from where
another stopped.
"""
