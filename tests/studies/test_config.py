"""Studies: complete, strict, and written as they ran."""

import tomllib
from pathlib import Path

import pytest

from steinmetz import InputError
from steinmetz.potentials import icnn
from steinmetz.sparsify import l0
from steinmetz.studies import config, measured
from steinmetz.studies.study import Stage, to_toml


@pytest.mark.parametrize("name", config.names())
def test_built_in_study_survives_its_own_file(name: str, tmp_path: Path) -> None:
    study = config.load(name)
    path = tmp_path / "study.toml"
    path.write_text(to_toml(study), encoding="utf-8")
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
        (
            {"potential.name": "icnn", "potential.widths": [0]},
            "potential.widths.0 = 0 is not possible",
        ),
        ({"potential.widths": [6, 6]}, "'potential.widths' with 'terms'.*potential.name = 'icnn'"),
        ({"sparsify.penalty": [0, 1]}, "sparsify.penalty.0 = 0 is not possible"),
        ({"material.name": "clay"}, "no material 'clay'.*; possible: isotropic, mechanochemistry"),
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
def test_wrong_settings_are_named_with_what_is_possible(
    changes: dict[str, object], message: str
) -> None:
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
def test_wrong_files(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "study.toml"
    path.write_text(text)
    with pytest.raises(InputError, match=message):
        config.load(str(path))


def test_unknown_study_lists_the_known_ones(tmp_path: Path) -> None:
    with pytest.raises(
        InputError, match=r"no study 'hyperelastic'.*did you mean 'hyperelasticity'.*\.toml"
    ):
        config.load("hyperelastic")
    with pytest.raises(InputError, match=r"cannot read .*: no such file"):
        config.load(str(tmp_path / "none.toml"))


def test_measured_study_names_its_table(tmp_path: Path) -> None:
    study = measured.measured(tmp_path / "Gummi Probe #1.csv", relative=0.02)
    assert study.name == "Gummi_Probe__1"
    assert tomllib.loads(to_toml(study))["data"]["table"].endswith("Gummi Probe #1.csv")


def test_naming_the_method_that_is_used_anyway_keeps_the_settings() -> None:
    raw = {"data": {"law": "gent"}, "sparsify": {"steps": 123}, "potential": {"widths": [5, 5]}}
    study = config.build(raw, {"sparsify.method": "l0", "potential.name": "icnn"})
    assert study.sparsify.steps == 123
    assert isinstance(study.potential, icnn.Config)
    assert study.potential.widths == (5, 5)
    assert config.load("hyperelasticity", {"sparsify.method": "l2"}).sparsify.rate == 0.005


def test_laws_of_isotropic_materials_are_composed_of_terms_unless_told_otherwise(
    tmp_path: Path,
) -> None:
    fits = measured.measured(tmp_path / "a.csv"), config.load("rubber_tests")
    for study in (config.load("hyperelasticity"), *fits):
        assert study.potential.name == "terms"
    network = config.load("hyperelasticity", {"potential.name": "icnn"})
    assert isinstance(network.potential, icnn.Config)
    assert network.potential == icnn.Config()


def test_networks_advise_and_presets_replace_the_advice() -> None:
    study = config.load("mechanochemistry")
    assert isinstance(study.sparsify, l0.Config)
    assert (study.potential.name, study.sparsify.offset) == ("mixed", 2.0)
    paper = config.load("mechanochemistry", {"potential.name": "mlp", "sparsify.preset": "paper"})
    assert isinstance(paper.sparsify, l0.Config)
    assert (paper.sparsify.rate, paper.sparsify.offset, paper.sparsify.search) == (0.08, 0.0, False)


def test_blocks_take_from_data_what_they_do_not_say() -> None:
    study = config.load("rubber_tests", {"data.count": 12})
    assert [source.count for source in study.sources] == [12, 12, 12]
    assert [source.experiment.name for source in study.sources] == [
        "uniaxial",
        "equibiaxial",
        "pure_shear",
    ]
    assert {source.noise.relative for source in study.sources} == {0.02}


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"data.experiment": "pull"}, "no experiment 'pull'"),
        ({"data.experiment": {"name": "uniaxial", "stretch": [2, 1]}}, "must be positive and rise"),
        ({"data.experiment.spread": 3}, r"data\.experiment\.spread = 3 is not possible"),
        ({"data.blocks": "three"}, r"\[\[data\.blocks\]\]"),
        ({"data.blocks": [{"experiment": 3}]}, "must name an experiment"),
        ({"data.blocks": [{"table": "a.csv"}]}, "either a generating law"),
        ({"material.incompressible": "perhaps"}, r"material\.incompressible = 'perhaps'"),
    ],
)
def test_wrong_experiments_and_blocks_are_named(changes: dict[str, object], message: str) -> None:
    with pytest.raises(InputError, match=message):
        config.load("hyperelasticity", changes)


def test_content_grows_from_stage_to_stage_and_knows_files(tmp_path: Path) -> None:
    study = config.load("hyperelasticity")
    stages: tuple[Stage, ...] = ("search", "carve", "infer", "assess")
    contents = {stage: study.content(stage) for stage in stages}

    def same(stage: Stage, **changes: object) -> bool:
        return config.load("hyperelasticity", changes).content(stage) == contents[stage]

    assert all(same(stage, name="other", title="other") for stage in stages)
    assert [same(s, **{"assess.path_points": 7}) for s in stages] == [True, True, True, False]
    assert [same(s, **{"infer.particles": 7}) for s in stages] == [True, True, False, False]
    assert [same(s, **{"prior.temperature": 2.0}) for s in stages] == [True, True, False, False]
    assert [same(s, **{"noise.unknown": True}) for s in stages] == [True, True, False, False]
    assert [same(s, **{"sparsify.parameters": 4}) for s in stages] == [True, False, False, False]
    assert [same(s, **{"sparsify.bic_slack": 4}) for s in stages] == [True, False, False, False]
    assert not any(same(s, **{"data.count": 7}) for s in stages)
    table = tmp_path / "a.csv"
    table.write_text("one")
    before = measured.measured(table).content("search")
    table.write_text("two")
    assert measured.measured(table).content("search") != before


def test_a_title_does_not_outlive_its_data() -> None:
    assert config.load("hyperelasticity", {"seed": 3}).title.startswith("Gent rubber")
    changed = config.load("hyperelasticity", {"data.law": "neo_hooke", "noise.relative": 0.05})
    assert changed.title == "neo_hooke (full tensor), 80 states, 5 % relative noise"
