"""Finished pieces of work: whole or not at all, for one fingerprint, without executing anything."""

import math
import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest
from pydantic import BaseModel, ConfigDict

from cases import present
from steinmetz.cache import Cache, ContentCache


def test_pieces_come_back_exactly(tmp_path: Path) -> None:
    cache = Cache(tmp_path / "kept", "study")
    assert not cache.found
    assert cache.get("a") is None
    values = np.random.default_rng(0).normal(size=(3, 2))
    cache.put("a", values=values, count=np.array([3]))
    again = Cache(tmp_path / "kept", "study")
    assert again.found
    stored = present(again.get("a"))
    np.testing.assert_array_equal(stored["values"], values)
    assert not list((tmp_path / "kept").glob("*.tmp"))


def test_pieces_of_another_study_are_neither_taken_nor_destroyed(tmp_path: Path) -> None:
    first, other = Cache(tmp_path / "kept", "study"), Cache(tmp_path / "kept", "other study")
    first.put("a", values=np.ones(2))
    assert not other.found
    assert other.get("a") is None
    other.put("a", values=np.zeros(2))
    np.testing.assert_array_equal(present(first.get("a"))["values"], np.ones(2))
    (tmp_path / "kept" / "thesis.tex").write_text("precious")
    first.clear()
    assert [path.name for path in (tmp_path / "kept").iterdir()] == ["thesis.tex"]


def test_damaged_and_dangerous_files_are_not_read(tmp_path: Path) -> None:
    cache = Cache(tmp_path / "kept", "study")
    cache.put("a", values=np.ones(2))
    (path,) = (tmp_path / "kept").glob("*-a.npz")
    path.write_bytes(path.read_bytes()[:40])
    assert cache.get("a") is None
    np.savez(
        str(path).replace("-a.npz", "-b.npz"), values=np.array([{"an": "object"}], dtype=object)
    )
    assert cache.get("b") is None


@pytest.mark.parametrize("how", ["cut", "flip", "gone", "empty"])
def test_where_a_piece_is_damaged_the_one_before_is_used_and_it_is_said(
    tmp_path: Path, how: str, caplog: pytest.LogCaptureFixture
) -> None:
    cache = Cache(tmp_path / "kept", "study")
    for number in range(3):
        cache.put("a", number=np.array(number))
    (path,) = (tmp_path / "kept").glob("*-a.npz")
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 4
    made = {"cut": path.read_bytes()[:-1], "flip": bytes(content), "empty": b""}
    path.write_bytes(made[how]) if how in made else path.unlink()
    again = Cache(tmp_path / "kept", "study")
    assert again.found
    assert present(again.get("a"))["number"] == 1
    assert "going on from the one before it" in caplog.text
    (before,) = (tmp_path / "kept").glob("*-a.before")
    before.write_bytes(b"")
    assert again.get("a") is None
    again.put("a", number=np.array(7))
    assert present(again.get("a"))["number"] == 7


def test_a_kill_between_two_renames_loses_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """At every moment of a `put`, what was kept before it can be read."""
    real, seen = os.replace, []

    def looked(source: str | Path, target: str | Path) -> None:
        seen.append(int(present(Cache(tmp_path, "x").get("a"))["number"]))
        real(source, target)
        seen.append(int(present(Cache(tmp_path, "x").get("a"))["number"]))

    Cache(tmp_path, "x").put("a", number=np.array(0))
    monkeypatch.setattr(os, "replace", looked)
    Cache(tmp_path, "x").put("a", number=np.array(1))
    assert seen == [0, 0, 0, 1]


def test_a_full_disk_is_said_once_and_the_work_goes_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    cache = Cache(tmp_path, "x")
    cache.put("a", number=np.array(0))
    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", lambda _: (_ for _ in ()).throw(OSError(28, "No space left")))
        for number in (1, 2):
            cache.put("a", number=np.array(number))
    assert caplog.text.count("no space left") == 1
    assert present(cache.get("a"))["number"] == 0
    assert not list(tmp_path.glob("*.tmp"))


def test_clear_leaves_nothing(tmp_path: Path) -> None:
    cache = Cache(tmp_path / "kept", "study")
    cache.put("a", values=np.ones(2))
    cache.clear()
    assert list(tmp_path.iterdir()) == []


def test_two_threads_may_keep_their_first_piece_at_once(tmp_path: Path) -> None:
    for attempt in range(20):
        cache = Cache(tmp_path / f"kept{attempt}", "study")
        with ThreadPoolExecutor(4) as pool:
            list(
                pool.map(
                    lambda n, cache=cache: cache.put(f"piece{n}", values=np.full(3, n)), range(8)
                )
            )
        again = Cache(tmp_path / f"kept{attempt}", "study")
        assert all(present(again.get(f"piece{n}"))["values"][0] == n for n in range(8))


class Inner(NamedTuple):
    """A record in a record, with an array of its own."""

    name: str
    values: np.ndarray


class Finished(BaseModel):
    """Arrays and plain values, at several depths."""

    model_config = ConfigDict(arbitrary_types_allowed=True)
    x: np.ndarray
    value: float
    text: str = "Ψ"
    inner: tuple[Inner, ...] = ()
    by_name: dict[str, np.ndarray] = {}


def counted(value: float, calls: list[float]) -> Callable[[Cache], Finished]:
    def compute(_: Cache) -> Finished:
        calls.append(value)
        return Finished(x=np.full(3, value), value=value)

    return compute


def test_what_is_there_is_not_computed_again(tmp_path: Path) -> None:
    calls: list[float] = []
    for _ in range(3):
        result = ContentCache(tmp_path).get({"a": 1}, Finished, counted(2.5, calls))
        assert (result.value, result.text) == (2.5, "Ψ")
        np.testing.assert_array_equal(result.x, np.full(3, 2.5))
    assert calls == [2.5]


def test_arrays_come_back_from_any_depth_and_everything_else_with_its_type(tmp_path: Path) -> None:
    inner = (Inner("a", np.arange(3)), Inner("b", np.eye(2, dtype=np.float32)))
    result = Finished(x=np.ones(1), value=math.nan, inner=inner, by_name={"y": np.zeros((0, 2))})
    ContentCache(tmp_path).keep({"a": 1}, result)
    again = present(ContentCache(tmp_path).find({"a": 1}, Finished))
    assert math.isnan(again.value)
    assert [one.name for one in again.inner] == ["a", "b"]
    assert again.inner[1].values.dtype == np.float32
    np.testing.assert_array_equal(again.inner[0].values, np.arange(3))
    assert again.by_name["y"].shape == (0, 2)


def test_only_arrays_and_json_are_kept(tmp_path: Path) -> None:
    class Odd(BaseModel):
        value: object

    with pytest.raises(TypeError, match="neither JSON nor an array"):
        ContentCache(tmp_path).keep({}, Odd(value=Path()))


def test_other_content_and_other_kinds_are_other_results(tmp_path: Path) -> None:
    class Other(Finished):
        pass

    calls: list[float] = []
    results = ContentCache(tmp_path)
    results.get({"a": 1}, Finished, counted(1.0, calls))
    assert results.find({"a": 1}, Other) is None
    assert results.get({"a": 2}, Finished, counted(2.0, calls)).value == 2.0
    assert results.get({"a": 1}, Finished, counted(4.0, calls)).value == 1.0


def test_a_damaged_result_is_computed_anew(tmp_path: Path) -> None:
    calls: list[float] = []
    ContentCache(tmp_path).get({"a": 1}, Finished, counted(1.0, calls))
    for path in tmp_path.glob("*-Finished.npz"):
        content = bytearray(path.read_bytes())
        content[len(content) // 2] ^= 1
        path.write_bytes(content)
    assert ContentCache(tmp_path).find({"a": 1}, Finished) is None
    assert ContentCache(tmp_path).get({"a": 1}, Finished, counted(5.0, calls)).value == 5.0
    assert calls == [1.0, 5.0]


def test_a_result_with_other_fields_is_computed_anew(tmp_path: Path) -> None:
    cache = ContentCache(tmp_path).unfinished({"a": 1})
    cache.put("Finished", json=np.frombuffer(b'{"value": 1.0}', np.uint8))
    assert ContentCache(tmp_path).find({"a": 1}, Finished) is None
