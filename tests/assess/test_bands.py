"""Bands of figures, and moduli that follow from those of the certificate."""

import numpy as np
import pytest

from cases import Numbers, present
from steinmetz.assess.bands import Band, band, listed, moduli
from steinmetz.assess.certificate import Certificate
from steinmetz.assess.evidence import Point


def certificate(**figures: Numbers) -> Certificate:
    names = {"G": "shear modulus", "K": "bulk modulus"}
    return Certificate(
        tuple(
            Point(names[symbol], True, np.zeros(len(values), int), values, symbol, "")
            for symbol, values in figures.items()
        ),
        0,
    )


def test_moduli_are_those_of_linear_elasticity() -> None:
    G, K = np.array([2.0, 1.9, 2.1, 2.2]), np.array([5.0, 4.0, 6.0, 5.0])
    found = moduli(certificate(K=K, G=G), incompressible=False)
    assert list(found) == ["G", "K", "E", "ν"]
    E, nu = found["E"].map, found["ν"].map
    assert pytest.approx(2) == E / (2 * (1 + nu))
    assert pytest.approx(5) == E / (3 * (1 - 2 * nu))
    assert found["G"].sd == pytest.approx(G[1:].std())
    assert found["K"].low == pytest.approx(np.quantile(K[1:], 0.025))


def test_without_a_volume_poissons_ratio_is_a_half() -> None:
    found = moduli(certificate(G=np.array([2.0, 1.0, 3.0])), incompressible=True)
    assert list(found) == ["G", "E", "ν"]
    assert found["E"].map == 6
    assert found["ν"] == Band(map=0.5, mean=0.5, sd=0, low=0.5, high=0.5)


def test_materials_without_these_moduli_have_none() -> None:
    assert moduli(certificate(), incompressible=False) == {}
    assert moduli(certificate(G=np.ones(2)), incompressible=False) == {}


@pytest.mark.parametrize(
    ("value", "sd", "words"),
    [
        (2.4312, 0.0512, "2.43 ± 0.05"),
        (77.3, 3.1, "77 ± 3"),
        (77.3, 1.42, "77.3 ± 1.4"),
        (1234.6, 85.0, "1235 ± 85"),
        (0.00123, 0.00004, "0.00123 ± 0.00004"),
        (0.5, 0.0, "0.5"),
        (3.0, 0.0996, "3.00 ± 0.10"),
    ],
)
def test_as_many_decimals_as_are_known(value: float, sd: float, words: str) -> None:
    assert Band(map=value, mean=value, sd=sd, low=value, high=value).words == words


def test_draws_that_are_not_finite_do_not_count() -> None:
    found = present(band(np.array([1.0, 2.0, np.nan, 4.0])))
    assert found.mean == 3
    assert band(np.array([np.nan, 1.0])) is None
    assert listed({"G": present(band(np.array([1.5])))}) == "G = 1.5"
