"""Batched refits: the padded evaluation is the law, and the minimum is found."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from steinmetz.data import noise
from steinmetz.data.quadratic import compress, misfit
from steinmetz.potentials import icnn
from steinmetz.potentials.graph import Edge, Graph
from steinmetz.potentials.law import Law
from steinmetz.records import Reference
from steinmetz.sparsify import refit
from steinmetz.sparsify.prune import prune

REFERENCE = Reference((3.0, 3.0, 1.0), ((2.0, 4.0, 1.0),), ((0.0, 0.0, 1.0),))


def small_law(values=(0.05, 0.1, -1.5, 1.0, 6.0)):
    edges = (Edge(3, 0, 0), Edge(3, 1, 1), Edge(3, 2, 2), Edge(4, 0, 3), Edge(4, 3, 4))
    graph = Graph(
        inputs=("I1", "I2", "J"),
        activations=("softplus",),
        edges=edges,
        nonnegative=(True, True, False, True, True),
    )
    return Law(graph, jnp.array(values), REFERENCE)


def weighted(observations):
    return compress(observations, noise.deviation(observations, observations.values, 0.02))


@pytest.mark.parametrize("form", ["passthrough", "tied"])
def test_no_steps_leave_the_law_and_give_its_misfit(physics, observations, form):
    potential = icnn.build(
        icnn.Config(form=form, widths=(4, 4)), physics.inputs, physics.conditions
    )
    theta = jnp.abs(potential.initial(jax.random.key(0))) + 0.01
    law, quadratic = prune(potential.graph(), theta, physics.reference), weighted(observations)
    renewed, fitted = refit.refit([law], refit.Size.of([law.graph]), quadratic, 0.0, 0, 2)
    np.testing.assert_allclose(renewed[0].values, law.values, rtol=1e-9)
    assert fitted.misfit[0] == pytest.approx(
        float(misfit(quadratic, law.slopes(quadratic.inputs))), rel=1e-9
    )


def test_minimum_is_reached_and_signs_hold(observations):
    """A general least-squares solver with bounds ends at the same misfit."""
    from scipy.optimize import least_squares

    from steinmetz.data.quadratic import residuals

    law, quadratic = small_law(), weighted(observations)
    size = refit.Size.of([law.graph])
    for _ in range(4):
        (law,), _ = refit.refit([law], size, quadratic, 0.1, 30, 1)
    assert (np.asarray(law.values)[np.array(law.graph.nonnegative)] > 0).all()

    def rows(theta):
        slope = Law(law.graph, jnp.asarray(theta), REFERENCE).slopes(quadratic.inputs)
        return np.concatenate([np.asarray(residuals(quadratic, slope)).ravel(), 0.1 * theta])

    low = np.where(law.graph.nonnegative, 0.0, -np.inf)
    other = least_squares(
        rows, np.asarray(small_law().values), bounds=(low, np.inf), xtol=1e-12, ftol=1e-12
    )
    np.testing.assert_allclose(law.values, other.x, rtol=2e-3)
    assert (rows(np.asarray(law.values)) ** 2).sum() <= 2 * other.cost * (1 + 1e-8)


def test_saliency_predicts_the_cost_of_removal_for_a_linear_law(observations):
    """Ψ = a I1 + b I2 is linear in its parameters, so the second-order prediction is exact."""
    graph = Graph(
        inputs=("I1", "I2", "J"),
        activations=(),
        edges=(Edge(3, 0, 0), Edge(3, 1, 1)),
        nonnegative=(False, False),
    )
    quadratic = weighted(observations)
    law = Law(graph, jnp.array([1.0, 0.5]), REFERENCE)
    size = refit.Size.of([graph])
    (law,), both = refit.refit([law], size, quadratic, 0.0, 30, 1)
    for index in range(2):
        alone = prune(graph, law.values.at[index].set(0.0), REFERENCE)
        _, one = refit.refit([alone], size, quadratic, 0.0, 30, 1)
        assert both.saliency[0, index] == pytest.approx(one.misfit[0] - both.misfit[0], rel=1e-6)


def test_failed_start_never_spoils_its_neighbours(observations):
    good, bad = small_law(), small_law(values=(0.05, 0.1, float("nan"), 1.0, 6.0))
    size, quadratic = refit.Size.of([good.graph]), weighted(observations)
    _, alone = refit.refit([good], size, quadratic, 0.1, 20, 2)
    _, both = refit.refit([good, bad], size, quadratic, 0.1, 20, 2)
    assert both.misfit[0] == alone.misfit[0]
    assert not np.isfinite(both.misfit[1])
