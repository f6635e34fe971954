"""Every code block of README and docs: Python runs as printed, commands exist."""

from pathlib import Path

import pytest

from .blocks import PAGES, ROOT, Session, parse

SAMPLE = '''
# A page

<!-- setup:
import os
from pathlib import Path
seen = []
-->

```python
def double(x):
    return 2 * x


seen.append(double(21))
```

Between the blocks, `steinmetz run hyperelasticity --seed 3` and `steinmetz select DIR --row K`.

    steinmetz run hyperelasticity --set noise.relative=0.05   # an indented block
    make test

```sh
steinmetz run mine.toml \\
    --parameters 5
steinmetz reproduce hyper-fits --seeds 2
```

## A file

```python
# laws/spring.py
"""A law."""
```

```sh
steinmetz list
```

```python
seen.append((Path(os.environ["STEINMETZ_PLUGINS"]) / "laws" / "spring.py").read_text())
```
'''


# Pages with many fits; another page shows each of their commands, too.
MANY = {"docs/measured-data.md", "docs/tutorials/tissue.md"}


@pytest.mark.parametrize(
    "page", [pytest.param(page, marks=pytest.mark.long) if page in MANY else page for page in PAGES]
)
def test_page(page: str, quick: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    Session(page, quick, monkeypatch).read((ROOT / page).read_text(encoding="utf-8"))


def test_sample_page(quick: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    session = Session("sample.md", quick, monkeypatch)
    session.read(SAMPLE)
    assert session.namespace["seen"] == [42, '# laws/spring.py\n"""A law."""\n']
    assert session.done == [["list"]]
    assert Path("mine.toml").is_file()


def test_parts_of_a_page_know_their_lines() -> None:
    kinds = [(block.line, block.kind) for block in parse(SAMPLE) if block.kind not in ("prose",)]
    assert kinds[:5] == [(2, "heading"), (4, "setup"), (11, "python"), (20, "indented"), (24, "sh")]


def test_a_traceback_names_the_page_and_its_line(
    quick: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(ZeroDivisionError) as error:
        Session("page.md", quick, monkeypatch).read("text\n\n```python\nx = 1\n1 / 0\n```\n")
    last = error.traceback[-1]
    assert (str(last.path), last.lineno + 1) == ("page.md", 5)


@pytest.mark.parametrize(
    "line",
    [
        "steinmetz run hyperelastic",
        "steinmetz run hyperelasticity --sed 3",
        "steinmetz run hyperelasticity --set infer.partcles=3",
        "steinmetz run hyperelasticity --set data.count=0",
        "steinmetz frobnicate",
        "steinmetz run STUDY",
        "make nothing",
        "python examples/nothing.py",
    ],
)
def test_a_command_that_cannot_be_typed_is_noticed(
    line: str, quick: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(AssertionError, match=r"page\.md, line 4"):
        Session("page.md", quick, monkeypatch).read(f"text\n\n```sh\n{line}\n```\n")


def test_a_figure_that_does_not_exist_is_noticed(
    quick: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(Exception, match="did you mean 'hyper-fits'"):
        Session("page.md", quick, monkeypatch).read("    steinmetz reproduce hyper-fit\n")
