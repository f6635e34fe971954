"""Keys of scores: parsed once, and wrong ones are refused with the nearest that there is."""

import pytest

from cases import present
from steinmetz.paper.scores import Interval, ScoreKey, ScoreTable


@pytest.mark.parametrize(
    ("text", "key"),
    [
        ("w1_noisy.S.sampled", ScoreKey("w1_noisy", "S", "sampled")),
        ("r2.test", ScoreKey("r2", part="test")),
        ("count", ScoreKey("count")),
    ],
)
def test_a_text_names_a_score(text: str, key: ScoreKey) -> None:
    assert ScoreKey.parse(text) == key


@pytest.mark.parametrize(
    "text",
    ["w1_nosy.all.path", "w1_noisy", "w1_noisy.all.paths", "r2", "r2.all.path", "active.x", ""],
)
def test_a_wrong_name_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="there is no score"):
        ScoreKey.parse(text)


def test_a_table_gives_intervals_by_key_and_none_where_there_is_none() -> None:
    table = ScoreTable({"crps": {"S": {"path": Interval(1.0, 0.5, 2.0)}}})
    assert table.get(ScoreKey("crps", "S")) == (1.0, 0.5, 2.0)
    again = ScoreTable.model_validate(table.model_dump())
    assert present(again.get(ScoreKey("crps", "S"))).high == 2.0
    for key in (ScoreKey("crps"), ScoreKey("crps", "S", "sampled"), ScoreKey("w1_noisy")):
        assert table.get(key) is None
