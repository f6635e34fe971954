"""Every exporter gives the law of a run as text; those for people are short and readable."""

import pytest

from steinmetz import registry
from steinmetz.api import Result
from steinmetz.exporters import base, latex, text


@pytest.mark.parametrize("name", registry.names("exporters"))
def test_every_exporter_gives_text(quick: Result, name: str) -> None:
    exporter = base.load(name)
    exported = exporter.export(quick.law, base.About("isotropic", "quick"))
    assert exported.strip() == exported
    assert exported
    assert exporter.SUFFIX.startswith(".")
    assert registry.summary("exporters", name).endswith(".")


def test_text_is_rounded_and_readable(quick: Result) -> None:
    line = text.export(quick.law)
    assert line.startswith("Ψ = ")
    assert len(line) < 400
    assert r"\hat{\Psi}" in latex.export(quick.law)
    assert "_{" in latex.export(quick.law)
