"""The page: every figure, claim and erratum is on it, and it loads nothing."""

import json
from pathlib import Path

from steinmetz.paper import grids, page

from .conftest import Outcomes


def test_the_page_has_every_figure_claim_and_erratum_and_loads_nothing(
    outcomes: Outcomes, folder: Path
) -> None:
    about = page.save(outcomes, folder)
    html = (folder / "reproduction.html").read_text(encoding="utf-8")
    for outcome in outcomes:
        assert outcome.grid.title.split(":")[0] in html
        assert (folder / "figures" / f"{outcome.grid.id}.png").stat().st_size > 5000
        assert (folder / "figures" / f"{outcome.grid.id}.pdf").read_bytes().startswith(b"%PDF")
        for check in outcome.grid.checks:
            assert check.says.replace("'", "&#39;") in html
    assert html.count("data:image/png;base64,") == len(outcomes)
    assert "http://" not in html
    assert "https://" not in html
    assert html.count("<tr><td>") > len(grids.errata())
    stored = json.loads((folder / "reproduction.json").read_text(encoding="utf-8"))
    verdicts = sum(len(part["verdicts"]) for part in stored["figures"])
    assert stored["claims"] == about.claims == verdicts
    text = (folder / "reproduction.md").read_text(encoding="utf-8")
    assert text.count("![") == len(outcomes)
    screen = page.screen(about, folder)
    assert f"{about.holds} of {about.claims} claims hold" in screen
    assert all(verdict.measured in screen for part in about.figures for verdict in part.verdicts)
