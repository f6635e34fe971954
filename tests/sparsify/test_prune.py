"""Pruning is exact."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from steinmetz.potentials import icnn
from steinmetz.potentials.base import normalised_energy, slopes
from steinmetz.potentials.graph import Edge, Graph
from steinmetz.potentials.law import Law
from steinmetz.sparsify.prune import fold_mirrors, prune


@pytest.mark.parametrize("form", ["passthrough", "tied"])
@pytest.mark.parametrize("share", [0.02, 0.1, 0.25])
def test_pruned_law_equals_the_gated_network(physics, form, share):
    potential = icnn.build(icnn.Config(form=form), physics.inputs, physics.conditions)
    x = jnp.array([3.0, 3.0, 1.0]) + jax.random.normal(jax.random.key(9), (20, 3)) * 0.2
    for seed in range(3):
        first, second = jax.random.split(jax.random.key(seed))
        theta = potential.initial(first) * jax.random.bernoulli(second, share, (potential.size,))
        law = prune(potential.graph(), theta, physics.reference)
        assert law.graph.size <= int(jnp.sum(theta != 0))
        expected = slopes(potential, physics.reference, theta, x)
        np.testing.assert_allclose(law.slopes(x), expected, atol=1e-10, rtol=1e-10)
        energies = [float(normalised_energy(potential, physics.reference, theta, row)) for row in x[:3]]
        np.testing.assert_allclose(law.energy(x)[:3], energies, atol=1e-10)


def build(edges, units, parameters):
    return Graph(
        inputs=("I1", "I2", "J"), activations=("softplus",) * units, edges=edges, nonnegative=(False,) * parameters
    )


@pytest.mark.parametrize(
    ("edges", "units", "left"),
    [
        ((Edge(3, 0, 0), Edge(4, 1, 1)), 1, 1),  # a unit with no way to the output
        ((Edge(4, 3, 0), Edge(4, 1, 1)), 1, 1),  # a unit without input only adds a constant
        ((Edge(4, 3, 0), Edge(5, 4, 1), Edge(5, 0, 2)), 2, 1),  # a constant of a constant
        ((Edge(3, 2, 0), Edge(3, 1, 1)), 0, 1),  # a term linear in J is cancelled by the normalisation
        ((Edge(4, 3, 0), Edge(4, 1, 1), Edge(5, 4, 2)), 2, 3),  # a constant inside a unit is a bias and stays
    ],
)
def test_dead_parts_go_and_nothing_else(physics, edges, units, left):
    theta = jnp.array([0.7, 1.3, 0.4])[: max(edge.parameter for edge in edges) + 1]
    graph = build(edges, units, theta.size)
    law = prune(graph, theta, physics.reference)
    assert law.graph.size == left
    x = jnp.array([[3.3, 2.8, 0.9], [2.9, 3.4, 1.2]])
    np.testing.assert_allclose(law.slopes(x), slopes(graph, physics.reference, theta, x), atol=1e-14)


def test_mirror_twins_are_folded_to_one_law(physics):
    """Unit 3 sees J alone and feeds the output, so its sign is free; unit 4 also sees I1 and unit 5 feeds unit 6."""
    edges = (
        Edge(3, 2, 0), Edge(4, 0, 1), Edge(4, 2, 2), Edge(5, 2, 3), Edge(6, 5, 4),
        Edge(7, 3, 5), Edge(7, 4, 6), Edge(7, 6, 7),
    )  # fmt: skip
    law = Law(build(edges, 4, 8), jnp.array([-2.0, 0.5, -1.5, -0.7, 0.9, 3.0, 1.0, 2.0]), physics.reference)
    folded = fold_mirrors(law)
    assert [int(i) for i in np.flatnonzero(np.asarray(folded.values != law.values))] == [0]
    assert folded.graph.nonnegative == (True, *(False,) * 7)
    x = jnp.array([[3.3, 2.8, 0.7], [2.9, 3.4, 1.4]])
    np.testing.assert_allclose(folded.slopes(x), law.slopes(x), atol=1e-13)
    np.testing.assert_allclose(folded.energy(x), law.energy(x), atol=1e-13)
