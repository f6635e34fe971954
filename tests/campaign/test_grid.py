"""A grid becomes runs: the product of its lists, each named by what its result depends on."""

from pathlib import Path

import pytest

from steinmetz.campaign.grid import Planned, plan
from steinmetz.errors import InputError

HEAD = "F11,F12,F13,F21,F22,F23,F31,F32,F33,P11\n"


def test_every_value_meets_every_seed(planned: list[Planned]) -> None:
    pairs = [(one.run.changes["noise.relative"], one.run.changes["seed"]) for one in planned]
    assert pairs == [(0.05, 0), (0.05, 1), (0.1, 0), (0.1, 1)]
    assert len({one.name for one in planned}) == 4
    assert planned[1].label == "hyperelasticity noise.relative=0.05 seed=1"


def test_a_run_is_the_same_after_its_journey_as_json(planned: list[Planned]) -> None:
    run = planned[3].run
    again = type(run).model_validate_json(run.model_dump_json())
    assert again.build() == run.build()
    assert again.build().noise.relative == 0.1


def test_names_depend_on_what_is_in_tables_and_not_on_where_they_are(tmp_path: Path) -> None:
    names = []
    for folder, stress in (("a", 1), ("b", 1), ("c", 2)):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "pull.csv").write_text(f"stretch,P11\n1.1,{stress}\n1.2,2\n")
        text = '[[data]]\nfiles = ["pull.csv"]\nexperiments = ["uniaxial"]\n'
        (tmp_path / folder / "grid.toml").write_text(text)
        names += [one.name for one in plan(tmp_path / folder / "grid.toml")]
    assert names[0] == names[1] != names[2]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("seeds = [0]", "name either a study"),
        ('study = "hyperelastic"', "did you mean 'hyperelasticity'"),
        ('study = "hyperelasticity"\nseed = [0]', "seed: extra inputs are not permitted"),
        ('study = "hyperelasticity"\nseeds = [1, 1]', "is the same as another"),
        ('study = "hyperelasticity"\n[axes]\n"noise.relative" = []', "list its values"),
        ('study = "hyperelasticity"\n[axes]\n"noise.relative" = [0.1, -1]', "run 1 .*relative"),
        ('study = "hyperelasticity"\n[axes]\nseed = [1]', "a list of their own"),
        ('[[data]]\nfiles = ["a.csv"]\nexperiments = ["uniaxial", "biaxial"]', "one for each"),
    ],
)
def test_what_is_wrong_is_said_before_anything_runs(text: str, words: str, tmp_path: Path) -> None:
    (tmp_path / "grid.toml").write_text(text)
    with pytest.raises(InputError, match=words):
        plan(tmp_path / "grid.toml")
