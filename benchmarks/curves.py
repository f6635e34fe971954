"""Do predictive bands of standard tests cover new curves? Many data sets, several materials.

Every data set is a uniaxial, an equibiaxial and a planar test of one rubber with 5 % noise. Bands
of 90 % are judged by new noisy data: of the same tests, by bands from all three; and of a test
that was left out, by bands from the other two. Printed is the share of new values inside, for
every material and for all of them; the last column is how wide the band of laws is, over the
stress, in the median over data sets.

    python benchmarks/curves.py --sets 100 --jobs 2
"""

import argparse
import multiprocessing
from typing import NamedTuple

import jax
import numpy as np

from steinmetz.data import noise
from steinmetz.engine.carved import carve_law, stage_keys
from steinmetz.engine.mixture import mixture_of
from steinmetz.engine.problem import Problem, prepare, use_double
from steinmetz.predict.bands import Bands
from steinmetz.predict.push_forward import predictive
from steinmetz.records import Observations
from steinmetz.studies import config
from steinmetz.studies.study import Study

DRAWS, LEVEL, NOISE = 2000, 0.9, 0.05
# New values of every cell.
COPIES = 20
LAWS = {
    "neo_hooke": {},
    "mooney_rivlin": {},
    "gent": {"Jm": 50.0},
    "yeoh": {},
    "carroll": {},
    "arruda_boyce": {},
    "ogden": {},
}
SAME = "same tests"


class Judged(NamedTuple):
    """Of one data set and one test: the share of new values inside, and the width of the band."""

    law: str
    part: str
    covered: float
    width: float


def study_of(law: str, seed: int) -> Study:
    """Three standard tests of a law."""
    given = LAWS[law]
    changes = {f"data.parameters.{name}": value for name, value in given.items()}
    changes |= {"data.law": law, "noise.relative": NOISE, "seed": seed}
    return config.load("rubber_tests", {**changes, "assess.path_points": 2})


def bands_from(study: Study, problem: Problem) -> tuple[Problem, Bands]:
    """The laws that data allow, as a run finds them."""
    carved = carve_law(study, problem)
    problem = problem.allowing(carved.noise.level)
    return problem, mixture_of(study, problem, carved, np.ones(DRAWS))


def judged(
    study: Study, whole: Problem, fitted: tuple[Problem, Bands], rows: Observations, part: str
) -> Judged:
    """New data at some rows against the bands."""
    problem, bands = fitted
    key = jax.random.fold_in(jax.random.key(study.seed), len(part))
    pushed = bands.push(rows.map)[0]
    deviations = (rows.relative, rows.absolute)
    drawn = predictive(key, pushed, deviations, problem.floor, bands.noise)
    low, high = np.quantile(drawn, [(1 - LEVEL) / 2, (1 + LEVEL) / 2], axis=0)
    clean, seen = np.asarray(whole.clean(rows).values), np.asarray(rows.observed)
    inside = []
    for copy in range(COPIES):
        new = noise.draw(jax.random.fold_in(key, copy + 1), clean, *deviations)
        inside.append(((low <= new) & (new <= high))[seen].mean())
    narrow, wide = np.quantile(pushed, [(1 - LEVEL) / 2, (1 + LEVEL) / 2], axis=0)
    width = float(np.mean((wide - narrow)[seen]) / np.mean(np.abs(clean[seen])))
    return Judged(str(study.data.law), part, float(np.mean(inside)), width)


def one(task: tuple[str, int]) -> list[Judged]:
    """All that is found of one data set."""
    use_double()
    study = study_of(*task)
    problem = prepare(stage_keys(study.seed)["data"], study)
    found = [judged(study, problem, bands_from(study, problem), problem.train, SAME)]
    for number, block in enumerate(problem.blocks):
        rest = bands_from(study, problem.without(number))
        found.append(judged(study, problem, rest, block.train, f"without {block.experiment.name}"))
    return found


def table(found: list[Judged]) -> str:
    """Means of every material and part, and of all materials."""
    parts = list(dict.fromkeys(each.part for each in found))
    lines = ["| new data of | material | data sets | inside the 90 % band | width / stress |"]
    lines += ["|---|---|---|---|---|"]
    for part in parts:
        for law in ("all", *LAWS):
            some = [e for e in found if e.part == part and law in ("all", e.law)]
            if not some:
                continue
            covered = 100 * np.array([each.covered for each in some])
            error = covered.std(ddof=1) / np.sqrt(len(some)) if len(some) > 1 else np.nan
            width = np.median([each.width for each in some])
            cells = (part, law, len(some), f"{covered.mean():.1f} ± {error:.1f} %", f"{width:.2g}")
            lines.append(f"| {' | '.join(map(str, cells))} |")
    return "\n".join(lines)


def main() -> None:
    """Draw data sets, the materials in turn, and print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sets", type=int, default=100)
    parser.add_argument("--jobs", type=int, default=1)
    asked = parser.parse_args()
    names = list(LAWS)
    tasks = [(names[number % len(names)], number) for number in range(asked.sets)]
    found: list[Judged] = []
    with multiprocessing.get_context("spawn").Pool(asked.jobs) as pool:
        for number, each in enumerate(pool.imap_unordered(one, tasks), 1):
            found += each
            print(f"{number} of {len(tasks)}", *each, sep="\n  ", flush=True)
    print(table(found))


if __name__ == "__main__":
    main()
