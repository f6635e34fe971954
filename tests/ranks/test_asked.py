"""Options of several processes: what is missing or impossible is one sentence, exit code 2."""

import sys

import pytest

from steinmetz.cli import main
from steinmetz.errors import InputError
from steinmetz.ranks.asked import Asked, asked

CHAINS = "--set=infer.method=nuts"


def test_options_that_belong_together() -> None:
    assert asked(None, None, None) is None
    assert asked("127.0.0.1:9911", 1, 2) == Asked("127.0.0.1", 9911, 1, 2)
    found = asked("[::1]:80", 0, 1)
    assert found is not None
    assert (found.host, found.first, found.address) == ("::1", True, "[::1]:80")


@pytest.mark.parametrize(
    ("given", "words"),
    [
        (("127.0.0.1:9911", None, None), "also need --process-id and --processes"),
        ((None, 0, 2), "also need --coordinator"),
        (("127.0.0.1:9911", 2, 2), "2 processes are numbered 0 to 1"),
        (("127.0.0.1:9911", 0, 5000), "1 to 4096 are possible"),
        (("127.0.0.1", 0, 2), "write HOST:PORT"),
        ((":9911", 0, 2), "write HOST:PORT"),
        (("here:0", 0, 2), "write HOST:PORT"),
        (("here:99999", 0, 2), "write HOST:PORT"),
        (("here:port", 0, 2), "write HOST:PORT"),
        (("::1:9911", 0, 2), "write HOST:PORT"),
        (("[here:9911", 0, 2), "write HOST:PORT"),
    ],
)
def test_what_is_impossible_is_said(
    given: tuple[str | None, int | None, int | None], words: str
) -> None:
    with pytest.raises(InputError, match=words.replace("[", r"\[")):
        asked(*given)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--coordinator", "127.0.0.1:9911"], "several processes also need --process-id"),
        (
            ["--coordinator=127.0.0.1:9911", "--process-id=0", "--processes=2", CHAINS],
            "infer.method = 'nuts': chains are not shared out",
        ),
    ],
)
def test_the_command_line_refuses_before_anything_begins(
    options: list[str],
    words: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr(sys, "argv", ["steinmetz", "run", "hyperelasticity", *options])
    with pytest.raises(SystemExit) as left:
        main()
    assert left.value.code == 2
    assert words in capsys.readouterr().err
