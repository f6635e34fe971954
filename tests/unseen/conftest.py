"""Laws that no part of the package knows: plug-ins of these tests only."""

from pathlib import Path

import pytest

from steinmetz import registry


@pytest.fixture(autouse=True)
def unseen(monkeypatch: pytest.MonkeyPatch) -> None:
    """The laws of this folder, found by name."""
    monkeypatch.setenv(registry.VARIABLE, str(Path(__file__).parent))
