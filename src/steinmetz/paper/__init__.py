"""The paper, figure by figure: grids of studies, what is measured, claims, figures and the page.

The only layer that knows figure numbers, arms, readings and claims.
"""
