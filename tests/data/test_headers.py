"""Headers and units as people write them."""

import pytest

from steinmetz import InputError
from steinmetz.data import headers, units


@pytest.mark.parametrize(
    ("header", "quantity", "measure", "axes", "unit"),
    [
        ("stretch", "stretch", "", "", ""),
        ("λ", "stretch", "", "", ""),
        ("lambda_2", "stretch", "", "2", ""),
        ("stretch1 (-)", "stretch", "", "1", "-"),
        ("Strain (%)", "strain", "", "", "%"),
        ("strain_percent", "strain", "", "", "percent"),
        ("engineering strain", "strain", "", "", ""),
        ("true_strain_1", "true strain", "", "1", ""),
        ("γ", "shear", "", "", ""),
        ("F11", "F", "", "11", ""),
        ("f_12", "F", "", "12", ""),
        ("F[1,3]", "F", "", "13", ""),
        ("Fxy", "F", "", "12", ""),
        ("F", "other", "", "", ""),
        ("P11 (MPa)", "stress", "P", "11", "MPa"),
        ("P_{11} [N/mm²]", "stress", "P", "11", "N/mm²"),
        ("nominal_stress_MPa", "stress", "P", "", "MPa"),
        ("Engineering Stress / kPa", "stress", "P", "", "kPa"),
        ("S11", "stress", "S", "11", ""),
        ("second_piola_kirchhoff_12", "stress", "S", "12", ""),
        ("sigma11", "stress", "sigma", "11", ""),
        ("σ_22 (psi)", "stress", "sigma", "22", "psi"),
        ("sigma", "stress", "", "", ""),
        ("true_stress", "stress", "sigma", "", ""),
        ("stress [kPa]", "stress", "", "", "kPa"),
        ("force (N)", "force", "", "", "N"),
        ("area_mm2", "area", "", "", "mm2"),
        ("Test", "mode", "", "", ""),
        ("time (s)", "other", "", "", "s"),
    ],
)
def test_spellings(header: str, quantity: str, measure: str, axes: str, unit: str) -> None:
    found = headers.read(header)
    assert found == (header, quantity, measure, axes, unit, False)


def test_a_deviation_is_marked() -> None:
    found = headers.read("sd_P11 (MPa)")
    assert (found.deviation, found.measure, found.axes, found.unit) == (True, "P", "11", "MPa")


@pytest.mark.parametrize(
    ("text", "name", "size"),
    [
        ("MPa", "MPa", 1e6),
        ("mpa", "MPa", 1e6),
        ("[N/mm^2]", "MPa", 1e6),
        ("N/mm2", "MPa", 1e6),
        ("kN/m²", "kPa", 1e3),
        ("psi", "psi", 6894.757293168361),
        ("%", "%", 0.01),
        ("mm^2", "mm^2", 1e-6),
        ("mN", "mN", 1e-3),
    ],
)
def test_units(text: str, name: str, size: float) -> None:
    found = units.parse(text)
    assert found is not None
    assert (found.name, found.size) == (name, size)


@pytest.mark.parametrize("text", ["mPa", "furlong", "", "N"])
def test_what_is_no_unit_of_stress_is_refused(text: str) -> None:
    with pytest.raises(InputError, match="not a unit of stress; possible: Pa, kPa, MPa"):
        units.of_stress(text)


def test_areas() -> None:
    assert units.area("12.5 mm^2") == pytest.approx(12.5e-6)
    assert units.area("0,2cm2") == pytest.approx(2e-5)
    for wrong in ("12.5", "-1 mm^2", "big", "3 N", "0 mm^2"):
        with pytest.raises(InputError, match="positive number and its unit"):
            units.area(wrong)


def test_a_pound_per_square_inch_is_force_over_area() -> None:
    pound, inch, psi = (units.parse(text) for text in ("lbf", "in^2", "psi"))
    assert pound is not None
    assert inch is not None
    assert psi is not None
    assert pound.size / inch.size == pytest.approx(psi.size, rel=1e-12)
