"""The site builds strictly, and reading it needs no network."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from .blocks import ROOT


def test_the_changelog_has_no_links_into_the_docs() -> None:
    """It is a page of the site, too, where they lead nowhere; seen without what builds the site."""
    assert "](docs/" not in (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")


def test_site_builds_strictly_and_fetches_nothing(tmp_path: Path) -> None:
    pytest.importorskip("mkdocs", reason="the site needs `pip install '.[docs]'`; see `make docs`")
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(tmp_path)]
    environment = {**os.environ, "NO_MKDOCS_2_WARNING": "1"}
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    pages = list(tmp_path.rglob("*.html"))
    assert len(pages) > 10
    fetched = re.compile(
        r"""<(?:script|img|iframe)[^>]* src=["']?https?:|<link[^>]* href=["']?https?:"""
    )
    assert [page.name for page in pages if fetched.search(page.read_text(encoding="utf-8"))] == []
