"""Pieces by content: found again, never mistaken, and computed anew where they are damaged."""

import numpy as np

from steinmetz.engine.pieces import Piece, Pieces


def counted(value, calls):
    def compute(store):
        calls.append(value)
        return Piece({"x": np.full(3, value)}, {"value": value, "text": "Ψ"})

    return compute


def test_what_is_there_is_not_computed_again(tmp_path):
    calls = []
    for _ in range(3):
        found = Pieces(tmp_path).get({"a": 1}, "point", counted(2.5, calls))
        assert found.facts == {"value": 2.5, "text": "Ψ"}
        np.testing.assert_array_equal(found.arrays["x"], np.full(3, 2.5))
    assert calls == [2.5]


def test_other_words_are_other_pieces(tmp_path):
    calls = []
    pieces = Pieces(tmp_path)
    pieces.get({"a": 1}, "point", counted(1.0, calls))
    assert pieces.get({"a": 2}, "point", counted(2.0, calls)).facts["value"] == 2.0
    assert pieces.get({"a": 1}, "other", counted(3.0, calls)).facts["value"] == 3.0
    assert pieces.get({"a": 1}, "point", counted(4.0, calls)).facts["value"] == 1.0


def test_a_damaged_piece_is_computed_anew(tmp_path):
    calls = []
    Pieces(tmp_path).get("words", "point", counted(1.0, calls))
    for path in tmp_path.glob("*-point.npz"):
        content = bytearray(path.read_bytes())
        content[len(content) // 2] ^= 1
        path.write_bytes(content)
    assert Pieces(tmp_path).find("words", "point") is None
    assert Pieces(tmp_path).get("words", "point", counted(5.0, calls)).facts["value"] == 5.0
    assert calls == [1.0, 5.0]
