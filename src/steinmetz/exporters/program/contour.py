"""The contour on which sums of powers of stretches are integrated, for every language.

An ellipse in log z around the roots, which lie between log(J²/B) and log A; half of it is enough.
"""

# Points on the upper half, its height, and its way beyond the bounds of the roots, in log z.
POINTS, HEIGHT, BEYOND = 48, 2.6, 1.2
PARTS = {"points": str(POINTS), "height": repr(HEIGHT), "beyond": repr(BEYOND)}
