"""What is kept of a search."""

from pathlib import Path

import numpy as np
import pytest

from cases import present, small_law
from steinmetz.cache import Cache
from steinmetz.sparsify import search
from steinmetz.sparsify.choose import Choice


def test_finished_search_is_kept_and_read_back(tmp_path: Path) -> None:
    cache, table = Cache(tmp_path / "kept", "study"), [Choice(5, 1 / 3, 31.2, small_law(), 2)]
    assert search._kept(cache) is None
    assert search._kept(None) is None
    search._keep(cache, table)
    (again,) = present(search._kept(cache))
    assert again.misfit == 1 / 3
    np.testing.assert_array_equal(again.law.values, table[0].law.values)


@pytest.mark.parametrize("text", [b"{", b'[{"active": 3}]', b'{"best": 3}', b"[3]"])
def test_damaged_search_is_done_again(tmp_path: Path, text: bytes) -> None:
    cache = Cache(tmp_path / "kept", "study")
    cache.put(search._PIECE, text=np.frombuffer(text, np.uint8))
    assert search._kept(cache) is None
