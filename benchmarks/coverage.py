"""How often the bands cover the clean truth: laws × data sets × noise.

The band of all laws that may hold beside that of the printed law alone, both averaged over
bootstraps of the data in closed form, along the validation path, in the range of the data and
beyond it (to ±40 %). Printed are the share of the clean truth inside the 95 % band, its mean width,
the interval score, and R² of the median.

    python benchmarks/coverage.py --seeds 10
"""

import argparse
import os
from pathlib import Path

import numpy as np

from steinmetz import registry
from steinmetz.assess import measures
from steinmetz.assess import scores as assessed
from steinmetz.engine.mixture import bands_of
from steinmetz.engine.problem import prepare, use_double
from steinmetz.engine.run import carve_law, stage_keys
from steinmetz.engine.sample import Ensemble
from steinmetz.studies import config

os.environ[registry.VARIABLE] = str(Path(__file__).parent.parent / "tests" / "unseen")
LAWS = ("gent", "mooney_rivlin", "ogden", "lopez_pamies", "hartmann_neff", "blatz_ko")
NOISE = (0.05, 0.1)
DRAWS = 1000
LEVEL = 0.95


def bands(study, problem, carved):
    """Stress along the path: of all laws that may hold, and of the printed one."""
    ensemble = Ensemble(np.zeros((DRAWS, 1)), np.zeros(DRAWS), np.ones(DRAWS), (1, DRAWS), None)
    alone = carved._replace(structures=(carved.structures[0], carved.structures[0]), floor=0.0)
    return {
        "all laws": bands_of(study, problem, carved, ensemble).push(problem.path.map)[0],
        "one law": bands_of(study, problem, alone, ensemble).push(problem.path.map)[0],
    }


def judged(draws, truth, cells):
    """Coverage, width and interval score of the central band."""
    low, high = np.quantile(draws, [(1 - LEVEL) / 2, (1 + LEVEL) / 2], axis=0)
    outside = np.maximum(low - truth, 0) + np.maximum(truth - high, 0)
    score = high - low + 2 / (1 - LEVEL) * outside
    return [float(part[cells].mean()) for part in (outside == 0, high - low, score)]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--law", action="append", help="generating law, may be repeated")
    parser.add_argument("--seeds", type=int, default=3, help="seeds 0 to N − 1")
    given = parser.parse_args()
    use_double()
    total = {}
    for relative in NOISE:
        for law in given.law or LAWS:
            rows = {}
            for seed in range(given.seeds):
                changes = {"data.law": law, "seed": seed, "noise.relative": relative}
                study = config.load("hyperelasticity", {**changes, "assess.path_points": 201})
                problem = prepare(stage_keys(seed)["data"], study)
                reference, path = problem.material.reference, problem.path
                truth = np.asarray(problem.truth.stress(reference, path.map))
                cells = assessed.varying(truth, path.observed)
                inside = path.sampled[:, None]
                for name, draws in bands(study, problem, carve_law(study, problem)).items():
                    row = [
                        *judged(draws, truth, cells & inside),
                        *judged(draws, truth, cells & ~inside),
                    ]
                    row.append(measures.r2(np.median(draws, axis=0), truth))
                    rows.setdefault(name, []).append(row)
                    total.setdefault(name, []).append(row)
            for name, many in rows.items():
                print(f"{law:<14} noise {relative:<5} {name:<9} {line(many)}", flush=True)
    for name, many in total.items():
        print(f"{'all':<14} {'':<11} {name:<9} {line(many)}")


def line(many):
    """Means over data sets, and how many have less than 0.6 of their range covered."""
    a, w, s, b, v, t, r2 = np.mean(many, axis=0)
    few = np.mean([row[0] < 0.6 for row in many])
    return (
        f"in range {a:.3f} (below 0.6: {few:.2f}), width {w:.4f}, score {s:.4f}; "
        f"beyond {b:.3f}, {v:.4f}, {t:.4f}; R² {r2:.5f}"
    )


if __name__ == "__main__":
    main()
