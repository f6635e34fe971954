"""From network to law: natural units, the place on the path, and what is kept of a search."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from steinmetz.physics import mechanochemistry, observe
from test_refit import small_law

from steinmetz.cache import Cache
from steinmetz.data import noise
from steinmetz.data.quadratic import misfit
from steinmetz.potentials.graph import UNIT, Edge, Graph
from steinmetz.potentials.law import Law
from steinmetz.records import Reference
from steinmetz.sparsify import carve, l0
from steinmetz.sparsify.train import Trained
from steinmetz.sparsify.trim import Candidate, Trimmed


@pytest.fixture(scope="module")
def scene():
    physics = mechanochemistry.build()
    data = observe.synthetic(
        jax.random.key(0), physics, observe.law(physics, "rudraraju"), 12, 0.2, noise.Config()
    )
    return carve.NaturalUnits.of(data, physics.reference, physics.sizes, 0.02), data, physics


def test_law_in_natural_units_predicts_what_the_outward_law_predicts(scene):
    natural, data, physics = scene
    graph = Graph(
        inputs=physics.inputs,
        activations=("square", "softplus"),
        edges=(
            Edge(4, 1, UNIT),
            Edge(4, 3, 0),
            Edge(5, 0, 1),
            Edge(5, 4, 2),
            Edge(6, 4, 3),
            Edge(6, 5, 4),
        ),
        nonnegative=(False,) * 5,
    )
    law = Law(graph, jnp.array([0.4, -0.8, 0.3, 1.1, 0.6]), natural.reference)
    outward = natural.outward(law, physics.reference)
    np.testing.assert_allclose(natural.predict(law), carve.predict(outward, data), rtol=1e-11)


def test_misfit_in_natural_units_is_the_sum_of_squared_standardised_residuals(scene):
    natural, data, physics = scene
    graph = Graph(
        inputs=physics.inputs,
        activations=(),
        edges=(Edge(4, 0, 0), Edge(4, 3, 1)),
        nonnegative=(False,) * 2,
    )
    law = Law(graph, jnp.array([0.7, -0.2]), natural.reference)
    quadratic = natural.weighted(data.values)
    deviation = noise.deviation(data, data.values, 0.02)
    expected = jnp.sum(((natural.predict(law) - data.values) / deviation) ** 2)
    assert float(misfit(quadratic, law.slopes(quadratic.inputs))) == pytest.approx(
        float(expected), rel=1e-10
    )


def test_blur_sets_the_least_relative_noise(scene):
    natural, data, _ = scene
    clean = natural._replace(
        observations=natural.observations._replace(relative=jnp.zeros_like(data.relative))
    )
    np.testing.assert_allclose(
        clean.weighted(data.values, min_relative_noise=0.1).factor,
        natural.weighted(data.values).factor,
        rtol=1e-9,
    )


def test_place_on_the_path_has_the_lowest_criterion_and_can_be_searched():
    """Columns are restarts: a plain one, one that failed at the end, one too rich everywhere, one that failed."""
    theta = np.zeros((3, 4, 60))
    counts = np.array([[20, 20, 60, 5], [10, 9, 55, 5], [4, 2, 50, 5]])
    for place in np.ndindex(3, 4):
        theta[place][: counts[place]] = 1.0
    misfits = np.array(
        [[0.9, 0.9, 0.9, np.inf], [0.9, 0.9, 0.9, np.nan], [3.0, np.nan, 0.9, np.inf]]
    )
    trained = Trained(theta, misfits, counts, np.array([1, 2, 3]), np.array([5.0, 10.0, 20.0]))
    settings = l0.Config(largest=30)
    assert carve._taken(trained, 480, settings) == {0: 1, 1: 1, 2: 2}
    assert carve._taken(trained, 480, settings.model_copy(update={"search": False})) == {
        0: 1,
        1: 1,
        2: 2,
    }


def test_finished_search_is_kept_and_read_back_exactly(tmp_path):
    store = Cache(tmp_path / "kept", "study")
    assert carve._kept(store) is None
    assert carve._kept(None) is None
    law = small_law()
    found = Trimmed(
        [Candidate(law, 1 / 3, np.array([0.1, 0.2, 0.3, 0.4, 1e-17]), 2)], {5: {2: 1 / 3, 0: 2.5}}
    )
    carve._keep(store, found)
    again = carve._kept(store)
    assert again is not None
    assert again.spread == found.spread
    assert again.best[0].law.graph == law.graph
    np.testing.assert_array_equal(again.best[0].law.values, law.values)
    np.testing.assert_array_equal(again.best[0].saliency, found.best[0].saliency)


@pytest.mark.parametrize("text", [b"{", b'{"best": [{}], "spread": {}}', b'{"best": 3}', b"[]"])
def test_damaged_search_is_done_again(tmp_path, text):
    store = Cache(tmp_path / "kept", "study")
    store.put("trimmed", text=np.frombuffer(text, np.uint8))
    assert carve._kept(store) is None


def test_tied_weights_are_refused_where_inputs_have_sizes():
    from steinmetz import InputError
    from steinmetz.potentials import layered

    tied = layered.build(("a", "b"), (3, 3), tied=True)
    reference = Reference((0.0, 0.0))
    with pytest.raises(InputError, match="without tied weights"):
        carve._check_units(tied.graph(), carve.NaturalUnits(None, reference, (0.1, 1.0), 1.0, 0.02))
