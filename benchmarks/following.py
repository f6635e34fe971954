"""Whether the test that is named next is worth making: synthetic rubbers, uniaxial data first.

A law is drawn at random from several families. From uniaxial data alone the next test is named and
made, with as many points; beside it are uniaxial again, a test at random, and points spread over
all tests. Printed is the error of the stress field (root mean square over the standard tests as far
as I1 of the data goes, relative) of the median of all laws that may hold, after each choice.

    python benchmarks/following.py --materials 10
"""

import argparse
import tempfile
from pathlib import Path

import jax
import numpy as np
import pandas as pd

from steinmetz.engine import following as following_
from steinmetz.engine.carved import carve_law
from steinmetz.engine.mixture import bands_of
from steinmetz.engine.problem import prepare, use_double
from steinmetz.engine.sample import Ensemble
from steinmetz.laws import base as laws
from steinmetz.studies import config, measured

POINTS, NOISE, DRAWS = 15, 0.03, 1000


def material(random):
    """A law that is not a matter of one invariant: its name and parameters."""
    kind = str(random.choice(["mooney_rivlin", "ogden", "carroll"]))
    size = np.exp(random.uniform(-0.3, 0.3, 4))
    if kind == "mooney_rivlin":
        return kind, {"c1": 0.4 * size[0], "c2": 0.05 * size[1]}
    if kind == "carroll":
        return kind, {"a": 0.15 * size[0], "b": 3e-7 * size[1], "c": 0.1 * size[2]}
    return kind, {"mu1": 0.63 * size[0], "mu2": 0.0012 * size[1], "mu3": -0.01 * size[2]}


def written(folder, truth, problem, tests, random):
    """Tables of tests with noise: (name, rows) each."""
    paths = []
    for number, (way, rows) in enumerate(tests):
        test = way.experiment
        at = test.map(problem.material, test.states(rows), test.observed)
        clean = np.asarray(truth.stress(problem.material.reference, at))
        noisy = clean * (1 + NOISE * random.standard_normal(clean.shape))
        columns = {name: rows[:, i] for i, name in enumerate(test.columns)}
        columns |= {name: noisy[:, i] for i, name in enumerate(test.observed)}
        path = Path(folder) / f"{number}-{way.name.replace(' ', '_')}.csv"
        pd.DataFrame(columns).to_csv(path, index=False)
        paths.append(path)
    return paths


def fitted(paths, names):
    """The study, problem and bands of some tables."""
    changes = {"data.held_out": 0.0}
    study = measured.jointly(paths, names, (NOISE, 0.0), changes)
    problem = prepare(jax.random.key(0), study)
    carved = carve_law(study, problem)
    ensemble = Ensemble(np.zeros((DRAWS, 1)), np.zeros(DRAWS), np.ones(DRAWS), (1, DRAWS), None)
    return problem, bands_of(study, problem, carved, ensemble)


def error(bands, problem, truth, ends):
    """Of the median of the field, relative."""
    off, size = 0.0, 0.0
    for way in following_.ways(problem):
        course = np.linspace(way.rest, ends[way.name], 13)[1:]
        (at,) = way.maps(problem, [course])
        clean = np.asarray(truth.stress(problem.material.reference, at))
        miss = np.median(bands.push(at)[0], axis=0) - clean
        off, size = off + np.mean(miss**2) / np.mean(clean**2), size + 1
    return float(np.sqrt(off / size))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--materials", type=int, default=10)
    parser.add_argument("--stretch", type=float, default=4.0, help="end of the uniaxial test")
    given = parser.parse_args()
    use_double()
    totals = {}
    for seed in range(given.materials):
        random = np.random.default_rng(seed)
        with tempfile.TemporaryDirectory() as folder:
            base_study = config.load("rubber_tests", {})
            material_ = prepare(jax.random.key(0), base_study).material
            name, parameters = material(random)
            truth = laws.truth(material_, name, parameters)
            empty = prepare(jax.random.key(0), base_study)
            ways = {way.name: way for way in following_.ways(empty)}
            pull = np.linspace(1, given.stretch, POINTS + 1)[1:]
            start = [(ways["uniaxial"], ways["uniaxial"].rows(pull))]
            paths = written(folder, truth, empty, start, random)
            problem, bands = fitted(paths, ["uniaxial"])
            first = 3 + float(np.asarray(problem.train.inputs)[:, 0].max()) - 3
            ends = {way.name: way.end(first) for way in ways.values()}
            ranked = following_.following(problem, bands, POINTS, (NOISE, 0.0))
            best = next(each for each in ranked if each.reach <= 1.0)
            choices = {
                f"named ({best.test})": [(ways[best.test], best.end, POINTS)],
                "uniaxial again": [(ways["uniaxial"], given.stretch, POINTS)],
                "at random": [(ways[w := random.choice(sorted(ways))], ends[w], POINTS)],
                "spread over all": [(way, ends[way.name], 3) for way in ways.values()],
            }
            before = error(bands, problem, truth, ends)
            line = [f"before {before:.3f}"]
            for number, (label, tests) in enumerate(choices.items()):
                sub = Path(folder) / str(number)
                sub.mkdir()
                rows = [
                    (way, way.rows(np.linspace(way.rest, end, count + 1)[1:]))
                    for way, end, count in tests
                ]
                more = written(sub, truth, problem, rows, random)
                names = ["uniaxial", *(way.name for way, _, _ in tests)]
                after = error(fitted([*paths, *more], names)[1], problem, truth, ends)
                totals.setdefault(label.split(" (")[0], []).append(after)
                line.append(f"{label} {after:.3f}")
            print(f"{name} {seed}: {', '.join(line)}", flush=True)
    for label, errors in totals.items():
        print(f"{label}: mean {np.mean(errors):.3f}, median {np.median(errors):.3f}")
    ratio = np.mean(np.array(totals["uniaxial again"])) / np.mean(totals["named"])
    print(f"uniaxial again over named, means: {ratio:.1f}")


if __name__ == "__main__":
    main()
