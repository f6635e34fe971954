"""Laws behind the bands in sentences: on screen, page, in the summary and in the checks."""

from pathlib import Path

import pytest

import steinmetz
from cases import CHEAP
from steinmetz.api import Result
from steinmetz.report import checks, page, screen
from steinmetz.report.summary import Summary, summarise

# Rows along one test, the last of which are held out on request.
ROWS = 40


@pytest.fixture(scope="module")
def rubber() -> Result:
    """Three tests, several laws."""
    return steinmetz.run(steinmetz.study("rubber_tests", CHEAP))


@pytest.fixture(scope="module")
def told(rubber: Result) -> Summary:
    return summarise(rubber)


@pytest.fixture(scope="module")
def stretched(tmp_path_factory: pytest.TempPathFactory) -> Summary:
    """Uniaxial rows of a neo-Hookean rubber, the largest stretches held out."""
    path = tmp_path_factory.mktemp("tables") / "pulled.csv"
    stretches = [1 + 0.04 * (number + 1) for number in range(ROWS)]
    lines = [f"{s},{0.8 * (s - s**-2) * (1 + 0.02 * (-1) ** n)}" for n, s in enumerate(stretches)]
    path.write_text("\n".join(["stretch,P11", *lines]), encoding="utf-8")
    changes = {**CHEAP, "data.hold_out": "end"}
    return summarise(steinmetz.fit(path, "uniaxial", 0.03, changes=changes))


def test_answers_share_the_weight(told: Summary) -> None:
    found = told.structures
    assert found.bands == "mixture"
    assert found.answers[0].weight >= found.laws[0].weight
    weights = [answer.weight for answer in found.answers]
    assert 0.5 < sum(weights) <= 1 + 1e-9
    assert weights == sorted(weights, reverse=True)
    assert sum(answer.ways for answer in found.answers) <= found.count
    assert found.printed <= found.printed_answer
    named = [law for law in found.laws if law.law == told.law]
    assert named[0].weight == found.printed
    for answer in found.answers:
        assert "of all laws" in answer.differs
        assert "at stretch = " in answer.differs


def test_bands_widen_beyond_the_data_and_the_summary_says_why(told: Summary) -> None:
    inside, beyond = told.structures.sampled, told.structures.extrapolated
    assert inside is not None
    assert beyond is not None
    assert beyond.width > inside.width
    (words,) = told.silent
    assert words.startswith("outside stretch from 0.7 to 2.5 in uniaxial")
    assert f"{100 * beyond.between:.0f} % of the variance because laws differ" in words


def test_the_statement_has_law_probability_fit_and_range(told: Summary) -> None:
    words = told.statement
    assert words.startswith(told.law)
    assert f"{100 * told.structures.printed:.0f} % among {told.structures.count} laws" in words
    assert f"χ²/n = {told.fit.misfit.value:.2f}" in words
    assert "stretch from 0.7 to 2.5" in words


def test_screen_and_page_say_the_same(rubber: Result, told: Summary) -> None:
    text, html = screen.final(told, Path()), page.render(rubber, told, {})
    for words in (told.statement, *told.silent):
        assert words in text
        assert words.split(":")[0] in html
    assert told.structures.answers[0].differs in html
    assert "restarts" not in text
    assert "Restarts" not in html
    assert "behind the bands" in text


def test_figures_of_networks_are_not_drawn_for_terms(rubber: Result, quick: Result) -> None:
    for result, drawn, missing in ((rubber, "laws", "gates"), (quick, "gates", "laws")):
        assert result.plot(drawn).axes
        with pytest.raises(steinmetz.InputError, match="possible"):
            result.plot(missing)


def test_the_largest_strains_are_said_to_be_extrapolated(stretched: Summary) -> None:
    assert stretched.data.extrapolated
    assert stretched.coverage_fitted is not None
    lines = screen.final(stretched, Path()).splitlines()
    (held,) = [line for line in lines if "held-out rows, extrapolated" in line and "band" in line]
    (rest,) = [line for line in lines if "of fitted rows" in line and "coverage" in line]
    assert held.strip().startswith("coverage")
    assert f"95 % band {stretched.coverage_fitted['95']:.4g}" in rest
    assert "one kind of test (uniaxial)" in " ".join(stretched.silent)
    coverage = stretched.fit.coverage
    assert coverage is not None
    assert coverage.of == "held-out rows, extrapolated"


def test_evidence_that_is_far_from_its_draws_fails(told: Summary) -> None:
    (sound,) = [check for check in checks.examine(told) if check.name == "evidence of laws"]
    assert sound.passed
    first, *others = told.structures.laws
    evidence = first.evidence
    assert evidence is not None
    for wrong in ({"sampled": evidence.linear - 3.0}, {"effective": 0.01}):
        worse = first.model_copy(update={"evidence": evidence.model_copy(update=wrong)})
        broken = told.structures.model_copy(update={"laws": [worse, *others]})
        results = checks.examine(told.model_copy(update={"structures": broken}))
        (failed,) = [check for check in results if check.name == "evidence of laws"]
        assert not failed.passed
        assert "assess.bands=law" in failed.advice
