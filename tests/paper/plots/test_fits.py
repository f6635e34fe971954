"""Closed forms under the figure: broken between terms, never inside a bracket."""

from cases import partial
from steinmetz.paper.plots import fits
from steinmetz.paper.records import FitPoint, Row


def typeset(latex: str | None) -> str:
    point = partial(FitPoint, latex=latex, active=9)
    return fits._typeset(Row("g", "L0", "", None, 0, point))


def test_a_long_sum_is_broken_before_a_sign_outside_of_all_brackets() -> None:
    term = r"0.123 \left(c - 17.8 e_{1} + 40.7 e_{6}\right)^{2}"
    text = typeset(r"\hat{\Psi} = " + " + ".join([term] * 9))
    lines = text.removeprefix("L0: ").split("\n")
    assert len(lines) > 1
    for line in lines:
        assert line.startswith("$")
        assert line.endswith("$")
        assert line.count("(") == line.count(")")
    assert all(line.startswith("$+ 0.123") for line in lines[1:])


def test_exponents_of_ten_stay_whole_and_what_is_too_long_is_not_typeset() -> None:
    assert fits._terms("a - 1.5e-05 b + c") == ["a ", "- 1.5e-05 b ", "+ c"]
    assert "on the page" in typeset(" + ".join(["x_{1}"] * 900))
    assert typeset(None) == ""
