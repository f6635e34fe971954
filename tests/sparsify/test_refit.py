"""Refits: the minimum is found, signs hold, and one failure stays alone."""

import jax.numpy as jnp
import numpy as np
import pytest

from cases import REFERENCE, Form, Numbers, admissible, convex_network, graph, small_law, weighted
from steinmetz.data.quadratic import misfit, residuals
from steinmetz.potentials.graph import Edge
from steinmetz.potentials.law import Law
from steinmetz.records import Observations
from steinmetz.sparsify.padded import Size, many_slopes
from steinmetz.sparsify.prune import prune
from steinmetz.sparsify.refit import Candidate, Objective, refit


def fitted(
    laws: list[Law], observations: Observations, ridge: float, steps: int, batch: int = 1
) -> list[Candidate]:
    """Candidates of some laws."""
    objective = Objective(weighted(observations), REFERENCE, ridge)
    starts = [Candidate(law, origin) for origin, law in enumerate(laws)]
    return refit(starts, Size.of([law.network for law in laws]), objective, steps, batch)


@pytest.mark.parametrize("form", ["passthrough", "tied"])
def test_no_steps_leave_the_law_and_give_its_misfit(observations: Observations, form: Form) -> None:
    """The padded evaluation is the law, for edges that share parameters too."""
    network, quadratic = convex_network((3, 3), form), weighted(observations)
    law = prune(network.graph(), jnp.abs(admissible(network)) + 0.01, REFERENCE)
    (same,) = fitted([law], observations, 0.0, 0, 2)
    np.testing.assert_allclose(same.law.values, law.values, rtol=1e-9)
    slopes = law.slopes(quadratic.inputs)
    np.testing.assert_allclose(
        many_slopes([law], quadratic.inputs)[0], slopes, rtol=1e-9, atol=1e-12
    )
    assert same.misfit == pytest.approx(float(misfit(quadratic, slopes)), rel=1e-9)


def test_minimum_is_reached_and_signs_hold(observations: Observations) -> None:
    """A general least-squares solver with bounds ends at the same misfit."""
    from scipy.optimize import least_squares

    law, quadratic = small_law(), weighted(observations)
    for _ in range(4):
        law = fitted([law], observations, 0.1, 30)[0].law
    assert (np.asarray(law.values)[np.array(law.graph.nonnegative)] > 0).all()

    def rows(theta: Numbers) -> Numbers:
        slope = Law(law.graph, jnp.asarray(theta), REFERENCE).slopes(quadratic.inputs)
        return np.concatenate([np.asarray(residuals(quadratic, slope)).ravel(), 0.1 * theta])

    low = np.where(law.graph.nonnegative, 0.0, -np.inf)
    start = np.asarray(small_law().values)
    other = least_squares(rows, start, bounds=(low, np.inf), xtol=1e-12, ftol=1e-12)
    np.testing.assert_allclose(law.values, other.x, rtol=2e-3)
    assert (rows(np.asarray(law.values)) ** 2).sum() <= 2 * other.cost * (1 + 1e-8)


def test_saliency_predicts_the_cost_of_removal_for_a_linear_law(observations: Observations) -> None:
    """Ψ = a I1 + b I2 is linear in its parameters, so the second-order prediction is exact."""
    linear = graph((Edge(3, 0, 0), Edge(3, 1, 1)), ())
    (both,) = fitted([Law(linear, jnp.array([1.0, 0.5]), REFERENCE)], observations, 0.0, 30)
    for index in range(2):
        alone = prune(linear, both.law.values.at[index].set(0.0), REFERENCE)
        (one,) = fitted([alone], observations, 0.0, 30)
        assert both.saliency[index] == pytest.approx(one.misfit - both.misfit, rel=1e-6)


def test_failed_start_never_spoils_its_neighbours(observations: Observations) -> None:
    good, bad = small_law(), small_law(values=(0.05, 0.1, float("nan"), 1.0, 6.0))
    (alone,) = fitted([good], observations, 0.1, 20, 2)
    (left,) = fitted([bad, good], observations, 0.1, 20, 2)
    assert left.misfit == alone.misfit
    assert left.origin == 1
