"""Damage to files of a run, made from good ones with a seed, so that it can be made again."""

import json
import random
from collections.abc import Callable
from typing import Any

# Put in the place of any value of a JSON file.
VALUES: tuple[Any, ...] = (
    *(None, True, "", "x", "nan", "<script>", [], {}, [[]], [None], {"a": 1}, "\u0000", "1e5"),
    *(0, -1, 1, 3, 0.5, 1e308, -1e308, 1e-320, float("nan"), float("inf"), 10**30, 2**63),
)
# Put in the place of a value of a TOML file.
WORDS = (
    *("", "x", '""', "-1", "0", "1e400", "nan", "inf", "[]", "{}", "[[]]", "true", "9" * 30),
    *('"../../etc/passwd"', "1979-05-27", "0x1f", "'''", '"\\u0000"', "[1, [2]]", "1e-320", "3.5"),
)
Mutation = Callable[[random.Random, bytes], bytes]


def _places(value: Any, found: list[tuple[Any, Any]]) -> list[tuple[Any, Any]]:
    """Every value of a JSON document, by what holds it and its key there."""
    keys = value if isinstance(value, dict) else range(len(value) if isinstance(value, list) else 0)
    for key in keys:
        found.append((value, key))
        _places(value[key], found)
    return found


def _document(chance: random.Random, content: bytes, change: Callable[[Any, Any], None]) -> bytes:
    try:
        document = json.loads(content)
    except ValueError:
        return content[: len(content) // 2]
    places = _places(document, [])
    if places:
        change(*chance.choice(places))
    return json.dumps(document).encode()


def value(chance: random.Random, content: bytes) -> bytes:
    """Another value somewhere."""

    def change(holder: Any, key: Any) -> None:
        holder[key] = chance.choice(VALUES)

    return _document(chance, content, change)


def gone(chance: random.Random, content: bytes) -> bytes:
    """A field or an entry of a list less."""

    def change(holder: Any, key: Any) -> None:
        del holder[key]

    return _document(chance, content, change)


def length(chance: random.Random, content: bytes) -> bytes:
    """A list cut, doubled or turned around."""

    def change(holder: Any, key: Any) -> None:
        if isinstance(holder[key], list):
            whole = holder[key]
            holder[key] = chance.choice([whole[:-1], whole[:1], whole * 2, whole[::-1]])
        elif isinstance(holder, list):
            holder.insert(key, holder[key])

    return _document(chance, content, change)


def bit(chance: random.Random, content: bytes) -> bytes:
    """One bit, the other way round."""
    made = bytearray(content)
    made[chance.randrange(len(made))] ^= 1 << chance.randrange(8)
    return bytes(made)


def raw(chance: random.Random, content: bytes) -> bytes:
    """Cut, emptied, or with strange bytes."""
    place = chance.randrange(len(content))
    strange = chance.choice([b"\0" * 64, b"\xff\xfe", b"[" * 50_000, b"9" * 5000, b'"', b"\n"])
    return chance.choice(
        [content[:place], b"", content[:place] + strange + content[place:], content + strange]
    )


def block(chance: random.Random, content: bytes) -> bytes:
    """A block of zeros or noise, as a bad sector has it."""
    place, size = chance.randrange(len(content)), chance.choice([8, 64, 512, 4096])
    bad = chance.choice([bytes(size), chance.randbytes(size)])
    return content[:place] + bad + content[place + size :]


def line(chance: random.Random, content: bytes) -> bytes:
    """A line of text gone, twice, elsewhere, or with another value."""
    lines = content.decode(errors="replace").split("\n")
    row = chance.randrange(len(lines))
    key = lines[row].partition("=")[0]
    new = f"{key}= {chance.choice(WORDS)}"
    lines[row : row + 1] = chance.choice([[], [lines[row]] * 2, [new], [new], [new], [f"x{new}"]])
    if chance.random() < 0.1:
        chance.shuffle(lines)
    return "\n".join(lines).encode()


JSON: tuple[Mutation, ...] = (value, value, value, gone, gone, length, bit, raw)
TOML: tuple[Mutation, ...] = (line, line, line, line, bit, raw)
BINARY: tuple[Mutation, ...] = (bit, bit, raw, block)


def damaged(content: bytes, seed: int, mutations: tuple[Mutation, ...]) -> bytes:
    """What is left of a file: changed once, sometimes twice."""
    chance = random.Random(seed)
    for _ in range(chance.choice([1, 1, 1, 2])):
        content = chance.choice(mutations)(chance, content) if content else content
    return content
