"""Finished pieces of work: whole or not at all, for one fingerprint, without executing anything."""

import numpy as np

from steinmetz.store import Store


def test_pieces_come_back_exactly(tmp_path):
    store = Store(tmp_path / "kept", "study")
    assert not store.found
    assert store.get("a") is None
    values = np.random.default_rng(0).normal(size=(3, 2))
    store.put("a", values=values, count=np.array([3]))
    again = Store(tmp_path / "kept", "study")
    assert again.found
    found = again.get("a")
    np.testing.assert_array_equal(found["values"], values)
    assert not list((tmp_path / "kept").glob("*.tmp"))


def test_another_study_starts_anew(tmp_path):
    Store(tmp_path / "kept", "study").put("a", values=np.ones(2))
    other = Store(tmp_path / "kept", "other study")
    assert not other.found
    assert other.get("a") is None


def test_damaged_and_dangerous_files_are_not_read(tmp_path):
    store = Store(tmp_path / "kept", "study")
    store.put("a", values=np.ones(2))
    (tmp_path / "kept" / "a.npz").write_bytes((tmp_path / "kept" / "a.npz").read_bytes()[:40])
    assert store.get("a") is None
    np.savez(tmp_path / "kept" / "b.npz", values=np.array([{"an": "object"}], dtype=object))
    assert store.get("b") is None


def test_clear_leaves_nothing(tmp_path):
    store = Store(tmp_path / "kept", "study")
    store.put("a", values=np.ones(2))
    store.clear()
    assert list(tmp_path.iterdir()) == []
