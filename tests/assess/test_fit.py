"""Checks of the fit: noise and coverage as stated pass, everything else fails."""

import numpy as np
import pytest
from scipy import stats

from cases import present
from steinmetz.assess import fit
from steinmetz.report.checks import fit_checks

FLOOR = 0.02
NAMES = ("S11", "S22", "S12")


def data(
    true: float, stated: float, seed: int = 0, rows: int = 80, bent: float = 0.0
) -> fit.Residuals:
    """Residuals of a law with five parameters under noise that is not as it was stated.

    `bent` is a systematic error along x, in units of the noise.
    """
    random = np.random.default_rng(seed)
    x = random.uniform(-1, 1, (rows, 1))
    prediction = np.array([1.0, 0.8, 0.3]) * (2 * x + 0.3 * random.normal(size=(rows, 3)))
    deviation = np.sqrt((stated * prediction) ** 2 + FLOOR**2)
    error = true * np.abs(prediction) * (random.normal(size=(rows, 3)) + bent * np.cos(4 * x))
    columns = {"its prediction": prediction, "x": np.broadcast_to(x, (rows, 3))}
    observed, share = random.random((rows, 3)) < 0.9, (stated * prediction / deviation) ** 2
    return fit.Residuals(error / deviation, share, observed, NAMES, columns)


def seen(width: float, seed: int = 0, rows: int = 80, draws: int = 500) -> fit.Seen:
    """Values and draws of a band that is `width` times as wide as it should be."""
    random = np.random.default_rng(seed)
    values, ones = random.normal(size=(rows, 3)), np.ones((rows, 3))
    return fit.Seen(width * random.normal(size=(draws, rows, 3)), values, ones, ones > 0, "rows")


def failures(left: fit.Residuals, band: fit.Seen) -> set[str]:
    """Names of the checks that fail."""
    return {check.name for check in fit_checks(fit.examine(left, 5, band)) if not check.passed}


@pytest.mark.parametrize("stated", [0.02, 0.05, 0.1, 0.2])
def test_noise_as_stated_passes_every_check(stated: float) -> None:
    for seed in range(10):
        assert failures(data(stated, stated, seed), seen(1.0, seed)) == set()


@pytest.mark.parametrize(("true", "stated"), [(0.2, 0.05), (0.01, 0.1), (0.1, 0.05), (0.05, 0.15)])
@pytest.mark.parametrize("seed", range(5))
def test_noise_that_is_not_as_stated_fails(true: float, stated: float, seed: int) -> None:
    found = fit.examine(data(true, stated, seed), 5, seen(1.0, seed))
    failed = {check.name: check.advice for check in fit_checks(found) if not check.passed}
    assert set(failed) == {"fit quality", "stated noise"}
    assert ("raise" if true > stated else "lower") in failed["stated noise"]


def test_clean_data_within_the_floor_pass() -> None:
    """No noise is stated, so no residual is too small."""
    left = data(0.0, 0.0)
    assert failures(left, seen(1.0)) == set()
    found = fit.examine(left, 5, seen(1.0))
    assert found.misfit.low == 0
    assert found.scatter.low == 0


@pytest.mark.parametrize("seed", range(5))
def test_a_trend_is_seen_though_the_scatter_is_right(seed: int) -> None:
    bent = data(0.1, 0.1, seed, rows=300, bent=1.5)
    scaled = bent._replace(values=bent.values / bent.values[bent.observed].std())
    found = fit.examine(scaled, 5, seen(1.0, seed))
    assert "no trend left" in failures(scaled, seen(1.0, seed))
    assert present(found.trend).place.split()[0] in NAMES
    assert fit.examine(data(0.1, 0.1, rows=5), 5, seen(1.0)).trend is None


def test_bands_too_narrow_and_too_wide_fail_unless_rows_are_few() -> None:
    few = {"rows": 3, "seed": 1}
    for width in (0.5, 2.5):
        assert failures(data(0.1, 0.1), seen(width)) == {"coverage, 90 % band"}
    assert failures(data(0.1, 0.1), seen(0.7, **few)) == set()
    assert failures(data(0.1, 0.1), seen(0.7, rows=200)) == {"coverage, 90 % band"}


def test_rows_that_share_an_error_count_less() -> None:
    random = np.random.default_rng(0)
    seen_all = np.ones((400, 3), bool)
    alone = random.random((400, 3)) < 0.9
    shared = np.repeat(random.random((40, 1)) < 0.9, 10, axis=0) & seen_all
    assert fit.effective_values(alone, seen_all) > 600
    assert fit.effective_values(shared, seen_all) < 120
    assert fit.effective_values(seen_all, seen_all) == 1200


def test_one_row_and_too_few_values_are_named() -> None:
    one = data(0.1, 0.1, rows=1)
    assert "data for the law" in failures(one._replace(observed=one.observed | True), seen(1.0))
    assert "data for the law" not in failures(data(0.1, 0.1, rows=8), seen(1.0))


@pytest.mark.parametrize("freedom", [3, 20, 500])
@pytest.mark.parametrize("chance", [0.001, 0.5, 0.999])
def test_quantiles_of_chi_square(freedom: int, chance: float) -> None:
    expected = stats.chi2.ppf(chance, freedom)
    assert fit.chi_square(float(freedom), chance) == pytest.approx(expected, rel=0.02, abs=0.05)
