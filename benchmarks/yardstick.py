"""The yardstick of the carve step: a fixed library of classical terms, least squares, elimination.

Every term is polyconvex and enters with a non-negative coefficient, so the fit is one non-negative
least-squares problem. From all terms that it keeps, the one whose removal raises χ² least goes
until one is left, and the law with the lowest BIC = χ² + k log n is taken. Exponents and rates are
those of the library: they are not fitted and not counted.

    python benchmarks/yardstick.py [--law NAME] [--seeds N] [--out FILE]

prints parameters, BIC, R² on fresh states of ±20 % and ±30 %, R² on the validation path and the
time. A law is a generating law of the package, or of a folder that STEINMETZ_PLUGINS names.
"""

import argparse
import json
import time
from pathlib import Path
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from scipy.optimize import nnls

jax.config.update("jax_enable_x64", True)

from steinmetz.assess import measures  # noqa: E402
from steinmetz.data import noise  # noqa: E402
from steinmetz.data.quadratic import compress  # noqa: E402
from steinmetz.engine.problem import prepare  # noqa: E402
from steinmetz.engine.run import stage_keys  # noqa: E402
from steinmetz.experiments import observe  # noqa: E402
from steinmetz.studies import config  # noqa: E402

# Times that the noise is judged by the law that was fitted under the noise before.
REWEIGHTINGS = 4
# Fresh states on which R² is taken, and how far they reach.
FRESH, SPREADS = 2000, (0.2, 0.3)

POWERS = (0.5, 1.0, 1.5, 2.0, 3.0)
VOLUMES = (2, 3, 4, 5)


def first(x):
    """Ī1 = I1 J^(−2/3)."""
    return x[0] * x[2] ** (-2 / 3)


def second(x):
    """Ī2^(3/2) = (I2 J^(−4/3))^(3/2): the lowest polyconvex power of Ī2."""
    return (x[1] * x[2] ** (-4 / 3)) ** 1.5


# Ψ(I1, I2, J) by name. Convex and non-decreasing in ‖F‖ = √I1 or ‖cof F‖ = √I2, convex in J, or
# one of the mixed terms known to be polyconvex.
LIBRARY = {
    **{f"I1^{p:g}": lambda x, p=p: x[0] ** p for p in POWERS},
    **{f"I2^{p:g}": lambda x, p=p: x[1] ** p for p in POWERS},
    "exp(I1-3)": lambda x: jnp.exp(x[0] - 3),
    "exp(I2-3)": lambda x: jnp.exp(x[1] - 3),
    "I1bar": first,
    "I1bar^2": lambda x: first(x) ** 2,
    "I1bar^3": lambda x: first(x) ** 3,
    "exp(I1bar-3)": lambda x: jnp.exp(first(x) - 3),
    "I2bar^1.5": second,
    "I2bar^3": lambda x: second(x) ** 2,
    "I1/J": lambda x: x[0] / x[2],
    "-log J": lambda x: -jnp.log(x[2]),
    "(J-1)^2": lambda x: (x[2] - 1) ** 2,
    **{f"J^{k}": lambda x, k=k: x[2] ** k for k in VOLUMES},
    **{f"J^-{k}": lambda x, k=k: x[2] ** -k for k in (1, *VOLUMES)},
}


class Fitted(NamedTuple):
    """Coefficients of all terms, zero for those that went, with χ² and BIC."""

    coefficients: np.ndarray
    misfit: float
    criterion: float

    @property
    def terms(self) -> dict[str, float]:
        """The terms that were kept, with their coefficients."""
        pairs = zip(LIBRARY, self.coefficients, strict=True)
        return {name: float(value) for name, value in pairs if value}


@jax.jit
def gradients(inputs):
    """∇Ψ of every term at every state: states × terms × inputs."""
    return jax.vmap(jax.jacfwd(lambda x: jnp.stack([term(x) for term in LIBRARY.values()])))(inputs)


def slopes(reference, inputs):
    """∇Ψ̂ of every term at every state, normalised like every potential: states × inputs × terms."""
    points = jnp.concatenate([jnp.asarray(inputs), jnp.asarray(reference.point)[None]])
    every = gradients(points)
    normalised = every[:-1] - jax.vmap(reference.removed)(every[-1])
    return np.asarray(normalised).swapaxes(1, 2)


def eliminated(matrix, target, constant, count):
    """The law with the lowest BIC on the way of backward elimination."""
    # in units of each column, or nnls ends early
    sizes = np.linalg.norm(matrix, axis=0)
    scaled = matrix / sizes
    kept, best = np.flatnonzero(nnls(scaled, target)[0]), None
    while kept.size:
        values, distance = nnls(scaled[:, kept], target)
        kept, values = kept[values > 0], values[values > 0]
        misfit = distance**2 + constant
        criterion = misfit + kept.size * np.log(count)
        if best is None or criterion < best.criterion:
            coefficients = np.zeros(len(sizes))
            coefficients[kept] = values / sizes[kept]
            best = Fitted(coefficients, float(misfit), float(criterion))
        without = [np.delete(kept, place) for place in range(kept.size)]
        distances = [nnls(scaled[:, rest], target)[1] if rest.size else np.inf for rest in without]
        kept = without[int(np.argmin(distances))]
    return best


def fit(problem, floor, passes=REWEIGHTINGS):
    """The yardstick's law of a problem; its own prediction says how noisy each datum is."""
    data = problem.train
    every, prediction = slopes(problem.material.reference, data.inputs), data.values
    for _ in range(passes + 1):
        quadratic = compress(data, noise.deviation(data, prediction, floor))
        rows = np.einsum("nri,nit->nrt", np.asarray(quadratic.factor), every)
        matrix, target = rows.reshape(-1, len(LIBRARY)), np.asarray(quadratic.target).ravel()
        fitted = eliminated(matrix, target, float(quadratic.constant), data.cells)
        prediction = data.map.stress(jnp.asarray(every @ fitted.coefficients))
    return fitted


def r2(fitted, reference, at, truth, observed):
    """R² of a fitted law against the clean truth."""
    slope = slopes(reference, at.inputs) @ fitted.coefficients
    return measures.r2(np.asarray(at.stress(jnp.asarray(slope))), truth, observed)


def judged(problem, fitted, key):
    """R² on fresh states by how far they reach, and on the validation path."""
    material, truth, path = problem.material, problem.truth, problem.path
    box, scores = problem.blocks[0].experiment, {}
    for spread in SPREADS:
        wide = box.widened(spread / box.spread)
        clean = observe.clean(material, wide, truth, wide.sample(key, FRESH))
        seen = np.ones(clean.values.shape, bool)
        values = np.asarray(clean.values)
        scores[f"{spread:g}"] = r2(fitted, material.reference, clean.map, values, seen)
    values = np.asarray(truth.stress(material.reference, path.map))
    scores["path"] = r2(fitted, material.reference, path.map, values, path.observed)
    return scores


def measured(law, seed):
    """One row of the table: 80 tensors of a law within ±20 %, 10 % noise."""
    study = config.load("hyperelasticity", {"data.law": law, "seed": seed})
    keys = stage_keys(seed)
    problem = prepare(keys["data"], study)
    fit(problem, study.noise.allowed, passes=0)  # compiles the library
    begin = time.perf_counter()
    fitted = fit(problem, study.noise.allowed)
    seconds = time.perf_counter() - begin
    scores, terms = judged(problem, fitted, keys["test"]), fitted.terms
    row = {"law": law, "seed": seed, "parameters": len(terms), "bic": fitted.criterion}
    return {**row, "r2": scores, "seconds": seconds, "terms": terms}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--law", action="append", help="generating law, may be repeated")
    parser.add_argument("--seeds", type=int, default=5, help="seeds 0 to N − 1")
    parser.add_argument("--out", type=Path, help="JSON file for the figures")
    given = parser.parse_args()
    rows = []
    for law in given.law or ["gent"]:
        for seed in range(given.seeds):
            row = measured(law, seed)
            rows.append(row)
            figures = " ".join(f"{value:.5f}" for value in row["r2"].values())
            print(
                f"{law:<14} seed {seed}: {row['parameters']} parameters, BIC {row['bic']:.1f}, "
                f"R² {figures}, {1e3 * row['seconds']:.0f} ms, {' + '.join(row['terms'])}",
                flush=True,
            )
    if given.out is not None:
        given.out.write_text(json.dumps(rows, indent=1), encoding="utf-8")


if __name__ == "__main__":
    main()
