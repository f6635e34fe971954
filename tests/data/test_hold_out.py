"""Held-out rows: neighbours stay together, ends stay fitted, curves are whole."""

import jax
import numpy as np
import numpy.typing as npt
import pytest

from cases import Numbers
from steinmetz import InputError
from steinmetz.data import hold_out

KEY = jax.random.key(0)


def places(curves: int = 1, rows: int = 100, seed: int | None = None) -> hold_out.Places:
    """Curves of equally many rows, each from rest to twice its length, shuffled if asked."""
    number = np.repeat(np.arange(curves, dtype=float), rows // curves)
    along = np.tile(np.linspace(1, 2, rows // curves), curves)
    order = np.arange(rows) if seed is None else np.random.default_rng(seed).permutation(rows)
    return hold_out.Places(number[order], along[order], (along - 1)[order])


def runs(rows: npt.NDArray[np.bool_], along: Numbers) -> npt.NDArray[np.int_]:
    """Lengths of the runs of held-out neighbours along a curve."""
    flags = np.concatenate([[0], rows[np.argsort(along)].astype(int), [0]])
    begin, end = np.flatnonzero(np.diff(flags) == 1), np.flatnonzero(np.diff(flags) == -1)
    return end - begin


@pytest.mark.parametrize("seed", [None, 0])
@pytest.mark.parametrize("key", range(5))
def test_segments_are_neighbours_spread_over_the_curve(seed: int | None, key: int) -> None:
    at = places(seed=seed)
    kept = hold_out.of_table(jax.random.key(key), at, 0.2, "segments")
    assert kept.rows.sum() == 20
    assert runs(kept.rows, at.along).min() >= 5
    taken = at.along[kept.rows]
    assert np.all(np.histogram(taken, 4, (1, 2))[0] > 0)
    assert not kept.rows[[at.along.argmin(), at.along.argmax()]].any()
    assert kept.words == "20 of 100 rows, in 4 segments of neighbours"


def test_every_curve_has_its_segment() -> None:
    at = places(curves=4)
    kept = hold_out.of_table(KEY, at, 0.2, "segments")
    assert [int(kept.rows[at.curve == name].sum()) for name in range(4)] == [5, 5, 5, 5]


def test_rows_are_scattered_and_the_end_is_far() -> None:
    at = places(seed=1)
    scattered = hold_out.of_table(KEY, at, 0.2, "rows").rows
    assert runs(scattered, at.along).mean() < 2
    far = hold_out.of_table(KEY, at, 0.2, "end").rows
    assert at.reach[far].min() > at.reach[~far].max()


def test_short_tables_are_not_split() -> None:
    for way in ("segments", "rows", "end"):
        kept = hold_out.of_table(KEY, places(rows=19), 0.2, way)
        assert not kept.rows.any()
        assert kept.words == ""
        assert hold_out.of_table(KEY, places(rows=20), 0.2, way).rows.sum() == 4


def test_curves_are_held_out_as_wholes() -> None:
    at = places(curves=5, seed=2)
    (kept,) = hold_out.of_curves(KEY, [at], 0.4)
    shares = [kept.rows[at.curve == name].mean() for name in range(5)]
    assert sorted(shares) == [0, 0, 0, 1, 1]
    tables = hold_out.of_curves(KEY, [places(rows=30), places(rows=40), places(rows=50)], 0.2)
    assert sorted(kept.rows.mean() for kept in tables) == [0, 0, 1]
    assert [kept.words.endswith("the whole table") for kept in tables].count(True) == 1
    with pytest.raises(InputError, match="column 'curve'"):
        hold_out.of_curves(KEY, [places()], 0.2)
