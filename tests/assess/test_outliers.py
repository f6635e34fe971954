"""Scatter that grows is named with its place; single values that lie too far are too."""

import numpy as np
import pytest

from steinmetz.assess import fit
from steinmetz.report.checks import advice, fit_checks

NAMES = ("S11", "S22")


def left(seed: int, relative: float, absolute: float, stated: tuple[float, float]) -> fit.Residuals:
    """Residuals of data with noise of two parts under another that was stated."""
    random = np.random.default_rng(seed)
    x = random.uniform(0.0, 1.0, (150, 1))
    prediction = np.concatenate([2 * x, -1.5 * x], axis=1)
    deviation = np.hypot(stated[0] * prediction, np.hypot(stated[1], 0.005))
    true = np.hypot(relative * prediction, absolute)
    columns = {fit.PREDICTION: prediction, "x": np.broadcast_to(x, (150, 2))}
    share = 1 - (0.005 / deviation) ** 2
    values = true * random.normal(size=(150, 2)) / deviation
    return fit.Residuals(values, share, np.ones((150, 2), bool), NAMES, columns)


def failed(residuals: fit.Residuals) -> dict[str, str]:
    nothing = np.zeros((0, 0))
    seen = fit.Seen(np.zeros((1, 0, 0)), nothing, nothing, nothing > 0, "rows")
    checks = fit_checks(fit.examine(residuals, 3, seen))
    return {check.name: check.advice for check in checks if not check.passed}


@pytest.mark.parametrize("seed", range(5))
def test_noise_of_the_right_kind_is_even(seed: int) -> None:
    assert "even scatter" not in failed(left(seed, 0.1, 0.0, (0.1, 0.0)))
    assert "even scatter" not in failed(left(seed, 0.0, 0.1, (0.0, 0.1)))
    assert "even scatter" not in failed(left(seed, 0.3, 0.0, (0.1, 0.0)))


@pytest.mark.parametrize("seed", range(5))
def test_the_part_that_is_missing_is_named(seed: int) -> None:
    assert "noise.absolute" in failed(left(seed, 0.1, 0.05, (0.12, 0.0)))["even scatter"]
    assert "noise.relative" in failed(left(seed, 0.2, 0.05, (0.0, 0.12)))["even scatter"]


def test_outliers_have_a_place_and_come_first() -> None:
    data = left(0, 0.1, 0.0, (0.1, 0.0))
    values = data.values.copy()
    values[7, 1], values[20, 0] = -12.0, 9.0
    places = tuple(f"rubber.csv line {number + 2}" for number in range(150))
    found = failed(data._replace(values=values, places=places))
    assert "noise.tails=student" in found["outliers"]
    nothing = np.zeros((0, 0))
    seen = fit.Seen(np.zeros((1, 0, 0)), nothing, nothing, nothing > 0, "rows")
    numbers = fit.examine(data._replace(values=values, places=places), 3, seen)
    assert [(each.place, each.component) for each in numbers.outliers] == [
        ("rubber.csv line 9", "S22"),
        ("rubber.csv line 22", "S11"),
    ]
    assert advice(fit_checks(numbers)).startswith("outliers: 2: rubber.csv line 9, S22 (-12.0)")
    tails = fit.examine(data._replace(raw=values, places=places), 3, seen)
    assert len(tails.outliers) == 2
    assert all(check.passed for check in fit_checks(tails) if check.name == "outliers")
