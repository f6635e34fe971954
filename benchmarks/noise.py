"""Noise estimated with the law: how often its interval has the truth, and what laws come of it.

Data sets of the main study with noise that is stated, misstated or estimated. Printed are the share
of data sets whose 90 % interval has the size they were drawn with, its mean over the truth, the
number of parameters of the law, and the share of the clean truth inside the 95 % band, in the range
of the data.

    python benchmarks/noise.py --seeds 100
    python benchmarks/noise.py --seeds 10 --part misstated
"""

import argparse

import numpy as np

from steinmetz.assess import scores as assessed
from steinmetz.engine.carved import carve_law, stage_keys
from steinmetz.engine.mixture import bands_of
from steinmetz.engine.problem import prepare, use_double
from steinmetz.engine.sample import Ensemble
from steinmetz.studies import config

DRAWS = 1000
ENDS = (0.05, 0.95)
BOTH = {"noise.relative": "estimated", "noise.absolute": "estimated"}
ONE = {"noise.relative": "estimated"}
# Laws of three and of four parameters, one or two of them of the shear part.
NEO_HOOKE = {"data.law": "neo_hooke"}
MOONEY = {"data.law": "mooney_rivlin"}
CASES = {
    "intervals": {
        "5 % relative": {**ONE, "noise.drawn_relative": 0.05},
        "10 % relative": {**ONE, "noise.drawn_relative": 0.1},
        "20 % relative": {**ONE, "noise.drawn_relative": 0.2},
        "10 % and 0.03": {**BOTH, "noise.drawn_relative": 0.1, "noise.drawn_absolute": 0.03},
        "5 % and 0.05": {**BOTH, "noise.drawn_relative": 0.05, "noise.drawn_absolute": 0.05},
    },
    "misstated": {
        f"{law['data.law']}, {name}": {**law, **assumed, "noise.drawn_relative": 0.2}
        for law in (NEO_HOOKE, MOONEY)
        for name, assumed in {
            "20 % stated": {"noise.relative": 0.2},
            "5 % stated": {"noise.relative": 0.05},
            "5 % stated, 2 % floor": {"noise.relative": 0.05, "noise.floor": 0.02},
            "estimated": ONE,
            "both estimated": BOTH,
        }.items()
    },
}


def measured(changes, seed):
    """Hits and ratios of both parts of the noise, number of parameters, coverage, time."""
    study = config.load("hyperelasticity", {**changes, "seed": seed, "assess.path_points": 201})
    problem = prepare(stage_keys(seed)["data"], study)
    carved = carve_law(study, problem)
    row = {"parameters": carved.law.graph.size}
    found = zip(("relative", "absolute"), carved.noise[1:3], study.noise.drawn, strict=True)
    for name, draws, truth in found:
        if draws is not None and truth > 0:
            low, high = np.quantile(draws, ENDS)
            row[f"{name} in 90 %"] = low <= truth <= high
            row[f"{name} / truth"] = float(np.median(draws)) / truth
    problem = problem.allowing(carved.noise.level)
    ensemble = Ensemble(np.zeros((DRAWS, 1)), np.zeros(DRAWS), np.ones(DRAWS), (1, DRAWS), None)
    pushed = bands_of(study, problem, carved, ensemble).push(problem.path.map)[0]
    truth = np.asarray(problem.truth.stress(problem.material.reference, problem.path.map))
    cells = assessed.varying(truth, problem.path.observed) & problem.path.sampled[:, None]
    low, high = np.quantile(pushed, [0.025, 0.975], axis=0)
    row["covered"] = float(((low <= truth) & (truth <= high))[cells].mean())
    row["width"] = float((high - low)[cells].mean())
    return row


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=10, help="seeds 0 to N − 1")
    parser.add_argument("--part", choices=tuple(CASES), help="one of both tables")
    given = parser.parse_args()
    use_double()
    for part in [given.part] if given.part else CASES:
        for name, changes in CASES[part].items():
            rows = [measured(changes, seed) for seed in range(given.seeds)]
            means = {key: np.mean([row[key] for row in rows]) for key in rows[0]}
            sizes = [row["parameters"] for row in rows]
            words = ", ".join(f"{key} {value:.3f}" for key, value in means.items())
            print(f"{name:<42} {words}, at most {max(sizes)}", flush=True)


if __name__ == "__main__":
    main()
