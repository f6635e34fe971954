"""Modes found from many starts, shared out and exchanged."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jaxtyping import Array

from cases import present
from steinmetz.errors import InputError
from steinmetz.infer import modes
from steinmetz.infer.modes import Modes
from steinmetz.laplace import Laplace, Search, at_mode, gauss_newton

from .targets import standard

CENTRES = jnp.array([[0.0, 0.0], [10.0, 0.0]])
ROOTS = jnp.stack([jnp.eye(2), jnp.array([[2.0, 0.0], [0.5, 1.0]])])
MODES = Modes(CENTRES, ROOTS, jnp.array([0.7, 0.3]))


def of_two(x: Array) -> Array:
    """A quarter of the probability lies in the wider of two normal densities."""
    return jnp.logaddexp(-0.5 * jnp.sum(x**2), jnp.log(1 / 12) - 0.5 * jnp.sum((x - 20) ** 2) / 4)


def climb(x: Array) -> Laplace:
    rows = lambda u: jnp.where(jnp.sum(u) < 20, u, (u - 20) / 2)  # noqa: E731
    return at_mode(of_two, gauss_newton(rows), x, Search(80))


def test_different_modes_are_found_and_weighed_by_height_and_width() -> None:
    starts = jnp.array([[3.0, -1.0], [18.0, 25.0], [0.1, 0.0], [22.0, 19.0]])
    found = modes.find(modes.climber(of_two, climb), starts)
    np.testing.assert_allclose(found.centres, [[0, 0], [20, 20]], atol=1e-3)
    np.testing.assert_allclose(found.shares, [0.75, 0.25], rtol=1e-3)
    assert found.starts == 4
    assert present(found.slope) < 1e-3


def test_what_is_no_mode_is_left_out_unless_there_is_no_other() -> None:
    stuck = lambda x: Laplace(x, jnp.eye(2), jnp.where(x[0] > 1, 5.0, 0.0))  # noqa: E731
    found = modes.find(modes.climber(of_two, stuck), jnp.array([[2.0, 2.0], [0.0, 0.0]]))
    np.testing.assert_allclose(found.centres, [[0, 0]])
    alone = modes.find(modes.climber(of_two, stuck), jnp.array([[2.0, 2.0]]))
    assert present(alone.slope) == 5
    with pytest.raises(InputError, match="no finite width"):
        modes.find(modes.climber(lambda x: -jnp.inf * jnp.sum(x**2 + 1), stuck), jnp.zeros((2, 2)))


def test_draws_of_many_dimensions_hold_no_root_for_every_place() -> None:
    size, count = 80, 2000
    random = np.random.default_rng(0)
    roots, centres = random.standard_normal((2, size, size)), random.standard_normal((2, size))
    two = Modes(jnp.asarray(centres), jnp.asarray(roots), jnp.array([0.7, 0.3]))

    def drawn(key: Array) -> Array:
        return two.draw(key, count, 1.0, lambda x: 0.0 * x[0])  # flat: nothing is drawn in

    key = jax.random.key(0)
    arrays = str(jax.make_jaxpr(drawn)(key))
    assert f"[{count},{size}]" in arrays
    assert f"[{count},{size},{size}]" not in arrays
    normal = np.asarray(jax.random.normal(key, (count, size)))
    place = modes.shared_out(np.array([0.7, 0.3]), count)
    turned = np.where(place[:, None] == 0, normal @ roots[0].T, normal @ roots[1].T)
    np.testing.assert_allclose(drawn(key), centres[place] + turned, rtol=1e-10, atol=1e-10)


@pytest.mark.parametrize(
    ("shares", "count", "expected"), [([0.7, 0.3], 10, [7, 3]), ([0.99, 0.01], 10, [9, 1])]
)
def test_particles_are_shared_out(shares: list[float], count: int, expected: list[int]) -> None:
    """Every mode has one, and any half of the particles has its part of each."""
    place = modes.shared_out(np.array(shares), count)
    np.testing.assert_array_equal(np.bincount(place), expected)
    assert 1 in place[:5] or expected[1] == 1


def test_starts_without_a_finite_density_are_drawn_in() -> None:
    half = lambda x: jnp.where(x[0] > -0.5, 0.0, -jnp.inf)  # noqa: E731
    drawn = Modes.single(Laplace(jnp.zeros(2), jnp.eye(2))).draw(jax.random.key(0), 50, 3.0, half)
    assert (drawn[:, 0] > -0.5).all()
    assert drawn[:, 1].std() > 1.5


def test_starts_where_the_density_is_nothing_are_drawn_in() -> None:
    """Draws of the approximation stay as they are where the density is as it says."""

    def steep(x: Array) -> Array:
        return standard(x) - jnp.sum(jnp.exp(8 * x))

    wide, key = Modes.single(Laplace(jnp.zeros(3), jnp.eye(3))), jax.random.key(0)
    as_drawn = 2 * jax.random.normal(key, (500, 3))
    np.testing.assert_array_equal(wide.draw(key, 500, 2.0, standard), as_drawn)
    drawn = wide.draw(key, 500, 2.0, steep)
    fall = steep(jnp.zeros(3)) - jax.vmap(steep)(drawn)
    assert fall.max() <= modes.plausible_fall(3, 2.0)
    assert drawn.min() < -3, "the other side is as wide as before"


def test_an_exchange_has_a_way_back_and_the_right_volume() -> None:
    """Whoever goes from the first mode to the second can come back, and the volumes are inverse."""
    x = jax.random.normal(jax.random.key(1), (200, 2))
    there, volume = MODES.exchanged(jax.random.key(2), x)
    forward = CENTRES[1] + x @ ROOTS[1].T
    backward = jnp.linalg.solve(ROOTS[1], (x - CENTRES[1]).T).T
    gone = np.isclose(volume, np.log(np.linalg.det(ROOTS[1])))
    assert 50 < gone.sum() < 150
    np.testing.assert_allclose(there[gone], forward[gone], atol=1e-12)
    np.testing.assert_allclose(there[~gone], backward[~gone], atol=1e-12)


def test_draws_belong_to_the_mode_that_explains_them() -> None:
    np.testing.assert_array_equal(MODES.nearest(np.array([[0.5, 0.0], [9.0, 0.0]])), [0, 1])
    seen = MODES.seen_from(Laplace(jnp.array([1.0, 1.0]), 2 * jnp.eye(2)))
    np.testing.assert_allclose(seen.centres, (CENTRES - 1) / 2)
