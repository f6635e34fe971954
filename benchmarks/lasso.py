"""Sparse regression on a fixed library, as others do it, beside the search of the package.

LASSO (non-negative, its whole path, refitted, lowest BIC) and sequential thresholding (least
squares, drop what is below a share of the largest contribution, refit, lowest BIC over shares) see
the same terms with fixed constants, the same data and the same noise as the search; only that
fits constants, too. Printed are parameters, R² in range and at ±30 % strain, BIC, seconds.

    python benchmarks/lasso.py --law gent --seeds 5
"""

import argparse
import os
import time
from pathlib import Path

import jax.numpy as jnp
import numpy as np
from scipy.optimize import nnls

from steinmetz import registry
from steinmetz.assess import scores
from steinmetz.data import noise
from steinmetz.data.quadratic import compress
from steinmetz.engine.carved import stage_keys
from steinmetz.engine.problem import prepare, use_double
from steinmetz.experiments import observe
from steinmetz.potentials.vocabulary import vocabulary
from steinmetz.sparsify.compose import Wanted, compose
from steinmetz.sparsify.written import Problem, Written
from steinmetz.studies import config

os.environ[registry.VARIABLE] = str(Path(__file__).parent.parent / "tests" / "unseen")
# Prices of the LASSO, as shares of the one that leaves nothing; shares of thresholding.
PRICES = np.geomspace(1e-6, 0.5, 60)
SHARES = np.geomspace(1e-4, 0.3, 40)
# Times that the noise is judged anew at the prediction.
PASSES = 4


def chosen(rows, target, constant, count, supports):
    """Of several sets of terms, refitted with signs kept, the one with the lowest BIC."""
    best = None
    for support in {tuple(s) for s in supports if len(s)}:
        values, distance = nnls(rows[:, support], target)
        kept = [place for place, value in zip(support, values, strict=True) if value > 0]
        bic = distance**2 + constant + len(kept) * np.log(count)
        if kept and (best is None or bic < best[0]):
            best = bic, kept, values[values > 0]
    return best


def lasso(rows, target):
    """Supports along the path of min ‖rows c − target‖²/2 + price Σ c with c ≥ 0."""
    gram, product = rows.T @ rows, rows.T @ target
    found = np.zeros(rows.shape[1])
    for price in sorted(PRICES * product.max(), reverse=True):
        for _ in range(200):
            before = found.copy()
            for place in range(len(found)):
                left = product[place] - gram[place] @ found + gram[place, place] * found[place]
                found[place] = max(left - price, 0.0) / gram[place, place]
            if np.abs(found - before).max() < 1e-6 * max(found.max(), 1e-12):
                break
        yield np.flatnonzero(found > 0)


def thresholding(rows, target):
    """Supports of least squares whose small contributions are dropped again and again."""
    for share in SHARES:
        support = np.arange(rows.shape[1])
        while support.size:
            values = nnls(rows[:, support], target)[0]
            kept = support[values > share * values.max()]
            if kept.size == support.size:
                break
            support = kept
        yield support


def regressed(problem, study, method):
    """The law that a method finds among terms with fixed constants."""
    data, reference = problem.train, problem.material.reference
    first, second = (np.asarray(data.inputs).max(axis=0)[:2] - 3).tolist()
    atoms = [atom for atom in vocabulary((first, second), False) if not atom.term.free]
    prediction = data.values
    for _ in range(PASSES):
        deviation = noise.deviation(data, prediction, study.noise.allowed)
        seen = Problem.of(compress(data, deviation), reference)
        rows = np.stack([seen.rows(atom) for atom in atoms], axis=1)
        size = np.linalg.norm(rows, axis=0)
        bic, kept, values = chosen(
            rows / size, seen.target, seen.constant, data.cells, method(rows / size, seen.target)
        )
        law = Written(tuple(atoms[i] for i in kept), tuple(values / size[kept]), 0.0)
        prediction = jnp.asarray(seen.stress(law, np.asarray(data.operator)))
    return law, bic


def searched(problem, study):
    """The law of the package, under the same noise."""
    wanted = Wanted(5, study.noise.allowed, True)
    law = compose(problem.train, problem.material.reference, wanted).laws[0]
    return law, law.bic(problem.train.cells)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--law", action="append", help="generating law, may be repeated")
    parser.add_argument("--seeds", type=int, default=3, help="seeds 0 to N − 1")
    given = parser.parse_args()
    use_double()
    methods = {
        "search": searched,
        "lasso": lambda problem, study: regressed(problem, study, lasso),
        "thresholding": lambda problem, study: regressed(problem, study, thresholding),
    }
    for law in given.law or ["gent"]:
        for seed in range(given.seeds):
            study = config.load("hyperelasticity", {"data.law": law, "seed": seed})
            keys = stage_keys(seed)
            problem = prepare(keys["data"], study)
            for name, method in methods.items():
                begin = time.perf_counter()
                found, bic = method(problem, study)
                seconds, figures = time.perf_counter() - begin, []
                for factor in (1.0, 1.5):
                    box = problem.blocks[0].experiment.widened(factor)
                    rows = box.sample(keys["test"], 2000)
                    clean = observe.clean(problem.material, box, problem.truth, rows)
                    stress = found.law(problem.material.reference).stress(clean.map)
                    figures.append(scores.r2(np.asarray(stress), clean))
                print(
                    f"{law:<14} seed {seed} {name:<13} {found.size} parameters, BIC {bic:7.1f}, "
                    f"R² {figures[0]:.5f} {figures[1]:.5f}, {seconds:6.2f} s",
                    flush=True,
                )


if __name__ == "__main__":
    main()
