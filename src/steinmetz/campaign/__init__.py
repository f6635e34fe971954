"""Many independent runs: a grid of them, engines that carry them out, and what became of each.

Truth is on the disk: a result is a folder named by the hash of what it depends on, so that any
engine goes on from where another stopped.
"""
