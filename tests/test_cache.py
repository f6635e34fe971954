"""Finished pieces of work: whole or not at all, for one fingerprint, without executing anything."""

from concurrent.futures import ThreadPoolExecutor

import numpy as np

from steinmetz.cache import Cache, ContentCache, Piece


def test_pieces_come_back_exactly(tmp_path):
    store = Cache(tmp_path / "kept", "study")
    assert not store.found
    assert store.get("a") is None
    values = np.random.default_rng(0).normal(size=(3, 2))
    store.put("a", values=values, count=np.array([3]))
    again = Cache(tmp_path / "kept", "study")
    assert again.found
    found = again.get("a")
    np.testing.assert_array_equal(found["values"], values)
    assert not list((tmp_path / "kept").glob("*.tmp"))


def test_pieces_of_another_study_are_neither_taken_nor_destroyed(tmp_path):
    first, other = Cache(tmp_path / "kept", "study"), Cache(tmp_path / "kept", "other study")
    first.put("a", values=np.ones(2))
    assert not other.found
    assert other.get("a") is None
    other.put("a", values=np.zeros(2))
    np.testing.assert_array_equal(first.get("a")["values"], np.ones(2))
    (tmp_path / "kept" / "thesis.tex").write_text("precious")
    first.clear()
    assert [path.name for path in (tmp_path / "kept").iterdir()] == ["thesis.tex"]


def test_damaged_and_dangerous_files_are_not_read(tmp_path):
    store = Cache(tmp_path / "kept", "study")
    store.put("a", values=np.ones(2))
    (path,) = (tmp_path / "kept").glob("*-a.npz")
    path.write_bytes(path.read_bytes()[:40])
    assert store.get("a") is None
    np.savez(
        str(path).replace("-a.npz", "-b.npz"), values=np.array([{"an": "object"}], dtype=object)
    )
    assert store.get("b") is None


def test_clear_leaves_nothing(tmp_path):
    store = Cache(tmp_path / "kept", "study")
    store.put("a", values=np.ones(2))
    store.clear()
    assert list(tmp_path.iterdir()) == []


def test_two_threads_may_keep_their_first_piece_at_once(tmp_path):
    for attempt in range(20):
        store = Cache(tmp_path / f"kept{attempt}", "study")
        with ThreadPoolExecutor(4) as pool:
            list(
                pool.map(
                    lambda n, store=store: store.put(f"piece{n}", values=np.full(3, n)), range(8)
                )
            )
        again = Cache(tmp_path / f"kept{attempt}", "study")
        assert all(again.get(f"piece{n}")["values"][0] == n for n in range(8))


def counted(value, calls):
    def compute(_):
        calls.append(value)
        return Piece({"x": np.full(3, value)}, {"value": value, "text": "Ψ"})

    return compute


def test_what_is_there_is_not_computed_again(tmp_path):
    calls = []
    for _ in range(3):
        found = ContentCache(tmp_path).get({"a": 1}, "point", counted(2.5, calls))
        assert found.facts == {"value": 2.5, "text": "Ψ"}
        np.testing.assert_array_equal(found.arrays["x"], np.full(3, 2.5))
    assert calls == [2.5]


def test_other_words_are_other_pieces(tmp_path):
    calls = []
    pieces = ContentCache(tmp_path)
    pieces.get({"a": 1}, "point", counted(1.0, calls))
    assert pieces.get({"a": 2}, "point", counted(2.0, calls)).facts["value"] == 2.0
    assert pieces.get({"a": 1}, "other", counted(3.0, calls)).facts["value"] == 3.0
    assert pieces.get({"a": 1}, "point", counted(4.0, calls)).facts["value"] == 1.0


def test_a_damaged_piece_is_computed_anew(tmp_path):
    calls = []
    ContentCache(tmp_path).get("words", "point", counted(1.0, calls))
    for path in tmp_path.glob("*-point.npz"):
        content = bytearray(path.read_bytes())
        content[len(content) // 2] ^= 1
        path.write_bytes(content)
    assert ContentCache(tmp_path).find("words", "point") is None
    assert ContentCache(tmp_path).get("words", "point", counted(5.0, calls)).facts["value"] == 5.0
    assert calls == [1.0, 5.0]
