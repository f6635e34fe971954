"""Synthetic data and measured tables as observations."""

from pathlib import Path

import jax
import numpy as np
import pytest

from steinmetz import InputError, registry
from steinmetz.data import noise, table
from steinmetz.physics import observe

STATE = "F11,F12,F13,F21,F22,F23,F31,F32,F33"
ROW = "1.1,0,0,0,1,0,0,0,1"


def measure(tmp_path: Path, text: str, physics, config=None):
    file = tmp_path / "data.csv"
    file.write_text(text, encoding="utf-8")
    return observe.measured(physics, table.read(file), config or noise.Config())


LAWS = [
    name
    for name in registry.names("physics.laws")
    if registry.load("physics.laws", name).PHYSICS == "hyperelasticity"
]


@pytest.mark.parametrize("name", LAWS)
def test_every_law_gives_finite_data(physics, name):
    data = observe.synthetic(
        jax.random.key(0), physics, observe.law(physics, name), 20, 0.2, noise.Config()
    )
    assert np.isfinite(data.values).all()
    assert data.cells == 120


def test_states_fill_the_sampled_box(physics):
    state = physics.sample(jax.random.key(0), 4000, 0.2) - np.eye(3).ravel()
    assert np.abs(state).max() <= 0.2
    assert np.abs(state).max(axis=0).min() > 0.19
    assert np.abs(state.mean(axis=0)).max() < 4 * 0.2 / np.sqrt(3 * 4000)


def test_path_marks_the_sampled_range(physics):
    path = physics.path(1000, 0.2)
    assert path.coordinate[0] == pytest.approx(0.6)
    assert path.coordinate[-1] == pytest.approx(1.4)
    inside = path.coordinate[path.sampled]
    assert inside.min() >= 0.8 - 1e-9
    assert inside.max() <= 1.2 + 1e-9
    assert len(inside) == 500


def test_unknown_law_and_parameter_are_named(physics):
    with pytest.raises(InputError, match=r"no law 'gnet'.*did you mean 'gent'"):
        observe.law(physics, "gnet")
    with pytest.raises(InputError, match="possible: Jm, theta1"):
        observe.law(physics, "gent", {"jm": 2.0})


def test_empty_cells_are_missing_and_not_zero(tmp_path, physics):
    data, notes = measure(tmp_path, f"{STATE},S11,S12\n{ROW},0.3,\n{ROW},,0.1\n", physics)
    np.testing.assert_array_equal(np.asarray(data.observed), [[True, False], [False, True]])
    assert data.cells == 2
    assert notes == []


def test_measures_may_be_mixed_and_extra_columns_are_noted(tmp_path, physics):
    data, notes = measure(tmp_path, f"{STATE},P11,sigma22,time\n{ROW},0.3,0.1,7\n", physics)
    assert data.components == ("P11", "sigma22")
    assert notes == ["columns not used: time"]


def test_noise_column_replaces_the_setting(tmp_path, physics):
    text = f"{STATE},S11,S22,sd_S11\n{ROW},0.3,0.1,0.02\n"
    data, _ = measure(tmp_path, text, physics, noise.Config(relative=0.1, absolute=0.5))
    np.testing.assert_allclose(data.absolute, [[0.02, 0.5]])
    np.testing.assert_allclose(data.relative, [[0.0, 0.1]])


def test_rows_without_stress_are_left_out_and_noted(tmp_path, physics):
    data, notes = measure(tmp_path, f"{STATE},S11\n{ROW},0.3\n{ROW},\n", physics)
    assert len(data.state) == 1
    assert notes == ["1 rows without any stress value left out (line 3)"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (f"{STATE}\n{ROW}\n", "no stress column"),
        ("F11,S11\n1,2\n", "column 'F12' is missing"),
        (
            f"{STATE},S11\n-1.1,0,0,0,1,0,0,0,1,0.3\n",
            "line 2, columns F11…F33: det F = -1.1 must be positive",
        ),
        (f"{STATE},S11\n1.1,,0,0,1,0,0,0,1,0.3\n", "line 2, column 'F12': empty"),
        (f"{STATE},S12,S21\n{ROW},0.3,0.4\n", "line 2: columns 'S21' and 'S12' differ"),
        (f"{STATE},S11,sd_S11\n{ROW},0.3,-1\n", "column 'sd_S11': a standard deviation must be"),
        (f"{STATE},S11\n{ROW},0\n", "nothing to fit"),
    ],
)
def test_wrong_tables_are_refused_with_their_place(tmp_path, physics, text, message):
    with pytest.raises(InputError, match=message):
        measure(tmp_path, text, physics)


def test_transposed_twin_that_agrees_counts_once(tmp_path, physics):
    data, _ = measure(tmp_path, f"{STATE},S12,S21\n{ROW},0.3,0.3\n", physics)
    assert data.components == ("S12",)


def test_modulus_does_not_depend_on_the_amplitude_of_strain(physics):
    """Neo-Hooke with the same modulus, sampled near and far: a weight on the output keeps its size."""
    truth = observe.law(physics, "neo_hooke")
    clean = noise.Config(relative=0.0, absolute=1e-6)
    moduli = [
        observe.synthetic(jax.random.key(0), physics, truth, 200, spread, clean).modulus(
            physics.reference
        )
        for spread in (0.01, 0.1)
    ]
    assert moduli[0] == pytest.approx(moduli[1], rel=0.15)
