"""Files that others wrote: regular ones, up to a cap, in words where they cannot be read."""

import os
from pathlib import Path

import pytest

from steinmetz import reading
from steinmetz.errors import InputError


def test_content_comes_back_up_to_the_cap(tmp_path: Path) -> None:
    path = tmp_path / "a"
    path.write_bytes(b"x" * 10)
    assert reading.content(path, 10) == b"x" * 10
    with pytest.raises(InputError, match="larger than 0 MB"):
        reading.content(path, 9)


def test_bytes_are_counted_where_no_size_is_stated() -> None:
    """Files of /proc state a size of zero."""
    assert Path("/proc/self/maps").stat().st_size == 0
    with pytest.raises(InputError, match="larger than"):
        reading.content(Path("/proc/self/maps"), 5)


def test_pipes_and_devices_are_refused_without_waiting(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    for path, words in (
        (tmp_path / "pipe", "is a pipe"),
        (Path("/dev/zero"), "is a device"),
        (tmp_path, "is a directory"),
        (tmp_path / "none", "no such file"),
        (tmp_path / "a\0b", "unreadable"),
    ):
        with pytest.raises(InputError, match=words):
            reading.content(path)


@pytest.mark.parametrize(
    "content", [b"{", b"\xff", b"[" * 100_000, b"1" * 10_000, b"", b"\xef\xbb\xbf{}", b"{} {}"]
)
def test_what_is_no_json_is_named(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "a.json").write_bytes(content)
    with pytest.raises(InputError, match=r"a\.json is not a JSON file"):
        reading.parsed(tmp_path / "a.json")


@pytest.mark.parametrize(
    "content", [b"a =", b"\xff", b"a = " + b"[" * 100_000, b"a = " + b"1" * 10_000]
)
def test_what_is_no_toml_is_named(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "a.toml").write_bytes(content)
    with pytest.raises(InputError, match=r"my study is not"):
        reading.toml(tmp_path / "a.toml", "my study")


def test_links_may_not_leave_a_folder(tmp_path: Path) -> None:
    run, other = tmp_path / "run", tmp_path / "run-other"
    (run / "figures").mkdir(parents=True)
    other.mkdir()
    (run / "a.json").write_text("{}")
    (run / "figures" / "inside").symlink_to("../a.json")
    reading.check_folder(run)
    for target in (other, Path("/etc/passwd"), Path("../../run-other/none")):
        (run / "figures" / "away").symlink_to(target)
        with pytest.raises(InputError, match="leaves the run directory"):
            reading.check_folder(run)
        (run / "figures" / "away").unlink()
    (run / "self").symlink_to("self")
    with pytest.raises(InputError, match="self: a link"):
        reading.check_folder(run)
    (run / "self").unlink()
    os.mkfifo(run / "pipe")
    with pytest.raises(InputError, match="neither a file nor a folder"):
        reading.check_folder(run)


def test_a_reader_gets_little_memory_and_the_limit_goes_with_it() -> None:
    resource = pytest.importorskip("resource")
    before = resource.getrlimit(resource.RLIMIT_AS)
    with reading.little_memory(1000), pytest.raises(MemoryError) as raised:
        bytearray(3_000_000_000)
    assert reading.trouble(raised.value) == "it would take too much memory"
    assert resource.getrlimit(resource.RLIMIT_AS) == before
    with reading.little_memory(1000):
        assert len(bytearray(50_000_000)) == 50_000_000


def test_what_another_package_says_is_one_short_line() -> None:
    assert reading.trouble(ValueError("\nfirst " + "x" * 500 + "\nsecond"))[:6] == "first "
    assert len(reading.trouble(ValueError("x" * 500))) == 120
    assert reading.trouble(KeyError()) == "KeyError"


def test_links_in_a_circle_are_refused(tmp_path: Path) -> None:
    (tmp_path / "loop").symlink_to("loop")
    for path in (tmp_path / "loop", tmp_path / "loop" / "run"):
        with pytest.raises(InputError, match="leads nowhere"):
            reading.leads_to(path)
    assert reading.leads_to(tmp_path / "none") == tmp_path.resolve() / "none"
