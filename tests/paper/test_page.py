"""The page: every figure, claim and erratum is on it, and it loads nothing."""

import json
from pathlib import Path

from steinmetz.paper import claims, grids, page
from steinmetz.paper.records import Outcome, Record

from .conftest import Outcomes


def test_the_page_has_every_figure_claim_and_erratum_and_loads_nothing(
    outcomes: Outcomes, folder: Path, about: page.Reproduction
) -> None:
    html = (folder / "reproduction.html").read_text(encoding="utf-8")
    for outcome in outcomes:
        assert outcome.grid.title.split(":")[0] in html
        assert (folder / "figures" / f"{outcome.grid.id}.png").stat().st_size > 5000
        assert (folder / "figures" / f"{outcome.grid.id}.pdf").read_bytes().startswith(b"%PDF")
        for check in outcome.grid.checks:
            assert check.says.replace("'", "&#39;") in html
            assert check.words.replace("'", "&#39;") in html
    assert html.count("data:image/png;base64,") == len(outcomes)
    assert "http://" not in html
    assert "https://" not in html
    assert html.count("<tr><td>") > len(grids.errata())
    stored = json.loads((folder / "reproduction.json").read_text(encoding="utf-8"))
    assert stored["counts"] == about.counts
    text = (folder / "reproduction.md").read_text(encoding="utf-8")
    assert text.count("![") == len(outcomes)
    screen = page.screen(about, folder)
    assert f"{about.counts['holds']} hold, {about.counts['does not hold']} do not" in screen
    for part in about.figures:
        assert all(one.measured in screen for one in (*part.verdicts, *part.designed))
        assert f"seeds {part.seeds[0]}–{part.seeds[-1]}" in text
        assert f"`{part.command}`" in text


def test_a_page_names_the_call_that_gives_it_again() -> None:
    """Figures, scale and seeds, as far as they are not the usual ones."""

    def asked(name: str, scale: str, first: int = 0, count: int = 0) -> Outcome[Record]:
        grid = grids.load(name)
        seeds = tuple(range(first, first + (count or grid.seeds[scale])))
        return Outcome(grid, scale, seeds, [])

    own = [asked("hyper-fits", "full", 6)]
    assert page._command(own) == "steinmetz reproduce hyper-fits --scale full --first-seed 6"
    every = [asked(name, "quick") for name in grids.titles()]
    assert page._command(every) == "steinmetz reproduce"
    single = [asked(name, "quick", count=1) for name in grids.titles()]
    assert page._command(single) == "steinmetz reproduce --seeds 1"


def test_claims_are_a_list_that_scripts_can_read(
    outcomes: Outcomes, folder: Path, about: page.Reproduction
) -> None:
    stored = json.loads((folder / page.CLAIMS).read_text(encoding="utf-8"))
    verdicts = [claims.Verdict.model_validate(entry) for entry in stored]
    assert len(verdicts) == sum(about.counts.values()) > 0
    for entry in stored:
        assert {"id", "claim", "reading", "verdict", "measured"} <= set(entry)
        assert entry["verdict"] in ("holds", "does not hold", "undecided", "by construction")
        assert entry["id"] in grids.titles()
    counted = [one for one in verdicts if one.counted]
    assert {one.verdict for one in counted} == {"undecided"}  # one seed decides nothing


def test_every_arm_has_its_diagnostics_and_constant_predictions_are_in_the_table(
    outcomes: Outcomes, folder: Path, about: page.Reproduction
) -> None:
    part = about.figures[0]
    scores, sampling = part.tables[0], part.tables[-1]
    assert [line[0] for line in scores.lines[-2:]] == [
        "predicting zero", "predicting the training mean",
    ]  # fmt: skip
    assert len(sampling.lines) == len(outcomes[0].rows)
    for line in sampling.lines:
        found = dict(zip(sampling.head, line, strict=True))
        assert found["state"] in ("converged", "biased", "not converged")
        assert str(found["sampling"]).startswith("(") == (found["state"] == "not converged")
        assert float(found["peak memory"]) > 0
