"""Studies: complete, strict, and written as they ran."""

import tomllib

import pytest

from steinmetz import InputError
from steinmetz.studies import config


@pytest.mark.parametrize("name", config.names())
def test_built_in_study_survives_its_own_file(name, tmp_path):
    study = config.load(name)
    path = tmp_path / "study.toml"
    path.write_text(config.to_toml(study), encoding="utf-8")
    assert config.load(str(path)) == study
    assert config.title(name)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"infer.particle": 3}, "no setting 'infer.particle'.*did you mean 'infer.particles'"),
        (
            {"noise.relative": -0.1},
            "noise.relative = -0.1 is not possible.*greater than or equal to 0",
        ),
        ({"noise.relative": float("nan")}, "noise.relative = nan is not possible"),
        ({"data.count": 0}, "data.count = 0 is not possible"),
        ({"data.count": "many"}, "data.count = 'many' is not possible"),
        ({"potential.name": "mlpp"}, "no potential 'mlpp' .*; possible: icnn, mixed, mlp"),
        ({"potential.widths": [0]}, "potential.widths.0 = 0 is not possible"),
        ({"sparsify.penalty": [0, 1]}, "sparsify.penalty.0 = 0 is not possible"),
        (
            {"physics": "chemistry"},
            "no physics 'chemistry' .*; possible: hyperelasticity, mechanochemistry",
        ),
        ({"nosie.relative": 1}, "no setting 'nosie'.*did you mean 'noise'"),
        ({"data.table": "a.csv"}, "either a generating law"),
        ({"data": 3}, "'data' must be a table of settings"),
        ({"sparsify.prune": False}, "search"),
        ({"seed": -1}, "seed = -1 is not possible"),
        ({"sparsify.penalty": [30, 5]}, "must rise"),
        ({"sparsify.penalty": [1, float("inf")]}, "finite number"),
        ({"noise.absolute": float("nan")}, "finite number"),
        ({"sparsify.preset": ["paper"]}, "no sparsify.preset"),
        ({"name": "../up"}, "name = '../up' is not possible"),
        ({"seed.x": 1}, "'seed' is not a section"),
    ],
)
def test_wrong_settings_are_named_with_what_is_possible(changes, message):
    with pytest.raises(InputError, match=message):
        config.load("hyperelasticity", changes)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a = ", "not valid TOML"),
        ("colour = 3\n[data]\nlaw='gent'", "no setting 'colour'"),
        ("", "either a generating law"),
    ],
)
def test_wrong_files(tmp_path, text, message):
    path = tmp_path / "study.toml"
    path.write_text(text)
    with pytest.raises(InputError, match=message):
        config.load(str(path))


def test_unknown_study_lists_the_known_ones(tmp_path):
    with pytest.raises(
        InputError, match=r"no study 'hyperelastic'.*did you mean 'hyperelasticity'.*\.toml"
    ):
        config.load("hyperelastic")
    with pytest.raises(InputError, match=r"cannot read .*: no such file"):
        config.load(str(tmp_path / "none.toml"))


def test_measured_study_names_its_table(tmp_path):
    study = config.measured(tmp_path / "Gummi Probe #1.csv", relative=0.02)
    assert study.name == "Gummi_Probe__1"
    assert tomllib.loads(config.to_toml(study))["data"]["table"].endswith("Gummi Probe #1.csv")


def test_naming_the_method_that_is_used_anyway_keeps_the_settings():
    raw = {"data": {"law": "gent"}, "sparsify": {"steps": 123}, "potential": {"widths": [5, 5]}}
    study = config.build(raw, {"sparsify.method": "l0", "potential.name": "icnn"})
    assert study.sparsify.steps == 123
    assert study.potential.widths == (5, 5)
    assert config.load("hyperelasticity", {"sparsify.method": "l2"}).sparsify.rate == 0.005


def test_networks_advise_and_presets_replace_the_advice():
    study = config.load("mechanochemistry")
    assert (study.potential.name, study.sparsify.offset) == ("mixed", 2.0)
    paper = config.load("mechanochemistry", {"potential.name": "mlp", "sparsify.preset": "paper"})
    assert (paper.sparsify.rate, paper.sparsify.offset, paper.sparsify.search) == (0.08, 0.0, False)
