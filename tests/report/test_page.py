"""The page: offline, escaped, and as a browser shows it.

Chromium opens it at the width of a screen and of a phone; a script beside the page measures it.
"""

import dataclasses
import html
import json
import re
import shutil
import subprocess
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import jax.numpy as jnp
import numpy as np
import pytest

import steinmetz
from cases import REFERENCE
from steinmetz.api import Result
from steinmetz.exporters import mathml
from steinmetz.potentials.law import Law
from steinmetz.potentials.mechanics import Terms
from steinmetz.report import page
from steinmetz.report.curves import curves
from steinmetz.report.summary import summarise

BROWSERS = ("chromium", "chromium-browser", "google-chrome")
# What is measured of the page once it is drawn: results go into the title of
# the window, in which the page is a frame, because windows have a least width.
LISTEN = "<script>window.faults = []; window.onerror = (words) => { faults.push(words); };</script>"
MEASURE = """<script>
window.addEventListener("load", () => {
  const body = document.scrollingElement, table = document.querySelector("table.sortable");
  const column = () => [...table.rows].slice(1).map((row) => parseFloat(row.cells[0].textContent));
  table.rows[0].cells[0].click();
  const rising = column();
  table.rows[0].cells[0].click();
  const svg = document.querySelector(".curve svg"), seen = svg.getBoundingClientRect();
  svg.dispatchEvent(new PointerEvent("pointermove", { clientX: seen.left + seen.width / 2 }));
  const formula = document.querySelector(".law math").getBoundingClientRect();
  const missing = [...document.images].filter((each) => !each.naturalWidth).length;
  top.document.title = JSON.stringify({
    faults, width: innerWidth, wide: body.scrollWidth, rising, falling: column(),
    figures: document.querySelectorAll(".curve svg").length,
    drawn: svg.querySelectorAll("path").length, formula: formula.height, missing,
    readout: document.querySelector(".readout").textContent,
  });
});
</script>"""


@pytest.fixture(scope="module")
def written(gent: Result, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The page of a finished run."""
    folder = tmp_path_factory.mktemp("runs") / "gent"
    steinmetz.save(gent, folder)
    return folder / "report.html"


def opened(file: Path, width: int, folder: Path) -> tuple[dict[str, Any], str]:
    """What a browser measures of a page, and what it complains about."""
    browser = next(filter(None, map(shutil.which, BROWSERS)), None)
    if browser is None:
        pytest.skip("no browser: install the system package 'chromium'")
    text = file.read_text(encoding="utf-8")
    watched = text.replace("<head>", f"<head>{LISTEN}").replace("</body>", f"{MEASURE}</body>")
    target = folder / "watched.html"
    frame = (
        f'<iframe srcdoc="{html.escape(watched)}" width="{width}" height="900" style="border:0">'
    )
    target.write_text(f"<!doctype html><title></title>{frame}</iframe>", encoding="utf-8")
    options = ["--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--dump-dom"]
    options += [f"--user-data-dir={folder / 'profile'}", "--window-size=1300,1000"]
    options += ["--enable-logging=stderr", "--virtual-time-budget=3000", target.as_uri()]
    done = subprocess.run([browser, *options], capture_output=True, text=True, timeout=90)
    title = re.search(r"<title>(.*?)</title>", done.stdout, re.S)
    assert title is not None, done.stderr[-2000:]
    return json.loads(html.unescape(title[1])), done.stderr


@pytest.mark.parametrize("width", [1200, 390])
def test_a_browser_shows_it_without_errors_and_nothing_cut_off(
    written: Path, width: int, tmp_path: Path
) -> None:
    found, complaints = opened(written, width, tmp_path)
    assert found["faults"] == []
    assert "CONSOLE" not in complaints
    assert found["width"] == width
    assert found["wide"] <= width
    assert found["missing"] == 0
    assert found["formula"] > 10
    assert found["rising"] == sorted(found["falling"])
    assert found["falling"] == sorted(found["falling"], reverse=True)
    assert found["figures"] > 0
    assert found["drawn"] > 3
    assert "printed law" in found["readout"]


def test_nothing_is_fetched(written: Path) -> None:
    text = written.read_text(encoding="utf-8")
    assert not re.search(r"(src|href)\s*=\s*[\"']?(https?:)?//", text)
    assert not re.search(r"url\((?!#)|@import|fetch\(|XMLHttpRequest", text)


def test_what_is_drawn_is_escaped(gent: Result) -> None:
    hostile = "</script><script>alert(1)</script>"
    changed = dataclasses.replace(gent, problem=gent.problem._replace(unit=hostile))
    assert hostile in curves(changed)[0].stress
    assert "alert(1)" in page.render(changed, summarise(changed), {})
    assert "<script>alert" not in page.render(changed, summarise(changed), {})


class Tags(HTMLParser):
    """Names of all elements."""

    def __init__(self) -> None:
        super().__init__()
        self.found: set[str] = set()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.add(tag)
        assert attrs in ([], [("separators", "")]) or tag in ("mfenced", "mrow", "math", "mo")


def test_a_law_of_no_terms_is_zero() -> None:
    law = Law(Terms(("I1", "I2", "J"), ()), jnp.zeros(0), REFERENCE)
    assert mathml.pieces(law)[-1] == "<math><mrow><mn>0</mn></mrow></math>"


def test_the_printed_law_has_no_elements_but_those_of_formulas(gent: Result) -> None:
    parser = Tags()
    parser.feed("".join(map(str, page.formula(gent.law))))
    assert {"math", "mn"} <= parser.found
    assert all(tag.startswith("m") for tag in parser.found)
    assert mathml.export(gent.law).count("<math") == 1


def test_correlations_are_those_of_draws(gent: Result) -> None:
    rows = page.correlations(gent)
    assert [name for name, _ in rows] == list(gent.law.names())
    values = np.array([row for _, row in rows])
    np.testing.assert_allclose(np.diag(values), 1)
    np.testing.assert_allclose(values[0, 1], np.corrcoef(gent.particles[:, :2].T)[0, 1])


def test_curves_hold_band_and_laws(gent: Result) -> None:
    drawn = curves(gent)
    assert drawn
    for curve in drawn:
        assert len(curve.x) == len(curve.laws_low) == len(curve.lines[0].y)
        assert curve.lines[0].name == "printed law"
        assert curve.view[0] < curve.view[1]
    assert summarise(gent).trust is not None
