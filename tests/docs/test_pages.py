"""Pages that follow from the code are what the code says."""

from typing import Any, Literal

import pages
import pytest
from pages import tables, words
from pages.settings import undescribed
from pydantic import BaseModel, Field, PositiveFloat, TypeAdapter


def test_pages_are_what_the_code_says() -> None:
    assert pages.stale() == [], f"run `{pages.COMMAND}` and commit what it writes"


def test_every_setting_says_what_it_means() -> None:
    assert undescribed() == []


@pytest.mark.parametrize(
    ("field", "text"),
    [
        (bool, "`true` or `false`"),
        (Literal["rbf", "imq", "none"], '`"rbf"`, `"imq"` or `"none"`'),
        (Literal["one"] | None, '`"one"`'),
        (dict[str, float], "a table, each value number"),
        (tuple[PositiveFloat, PositiveFloat], "list of 2, each number, above 0"),
        (list[int], "list, each whole number"),
    ],
)
def test_what_a_type_allows_in_words(field: Any, text: str) -> None:
    assert words.possible(TypeAdapter(field).json_schema()) == text


@pytest.mark.parametrize(
    ("bounds", "text"),
    [
        ({"ge": 0, "le": 10}, "number, 0 to 10"),
        ({"gt": 0, "le": 1e6}, "number, above 0, at most 1 000 000"),
        ({"ge": 0.5, "lt": 1}, "number, at least 0.5, below 1"),
        ({}, "number"),
    ],
)
def test_limits_in_words(bounds: dict[str, Any], text: str) -> None:
    class Config(BaseModel):
        x: float = Field(0.5, description="a number | bar", **bounds)

    assert tables.rows(Config) == [("x", "`0.5`", "a number | bar", text)]
    assert r"| `s.x` | `0.5` | a number \| bar |" in tables.described(Config, "s.")


def test_tables_within_tables() -> None:
    class Inner(BaseModel):
        """What is inside."""

        count: int = Field(3, ge=1, description="how many")

    class Outer(BaseModel):
        """What is outside."""

        parts: tuple[Inner, ...] = Field((), description="parts")
        law: str = Field(description="a law")

    text = tables.described(Outer, "data.")
    assert "| `data.parts` | `[]` | parts | list, each a table, see Inner below |" in text
    assert "| `data.law` | required | a law | text |" in text
    assert "Inner: What is inside." in text
    assert "| `count` | `3` | how many | whole number, at least 1 |" in text


def test_schema_of_a_file() -> None:
    class Summary(BaseModel):
        seed: int = Field(description="seed")

    assert '"description": "seed"' in pages.schema(Summary)
