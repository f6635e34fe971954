"""How near each sampler comes to long NUTS chains, on a Gent law and on a law of 30 parameters.

Prints, for 50 particles, the range of every marginal's deviation over the reference's, the largest
shift of a mean in reference deviations, and the Wasserstein-1 distance of the push-forward over
that of 50 independent reference draws. Takes about ten minutes; `--out FILE` also writes JSON.
"""

import argparse
import json
import time
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np

jax.config.update("jax_enable_x64", True)

import steinmetz  # noqa: E402
from steinmetz.assess import measures  # noqa: E402
from steinmetz.data import noise, quadratic  # noqa: E402
from steinmetz.engine.sample import posterior_of, target_of  # noqa: E402
from steinmetz.experiments import observe, plane_strain  # noqa: E402
from steinmetz.infer import diagnostics, driver, nuts, ssvgd, ssvn, svgd  # noqa: E402
from steinmetz.infer.base import whiten  # noqa: E402
from steinmetz.materials import mechanochemistry  # noqa: E402
from steinmetz.posterior import density  # noqa: E402
from steinmetz.potentials.graph import Edge, Graph  # noqa: E402
from steinmetz.potentials.law import Law  # noqa: E402
from steinmetz.potentials.units import parameter_units  # noqa: E402
from steinmetz.predict.push_forward import push_forward  # noqa: E402
from steinmetz.records import Observations  # noqa: E402

METHODS = {
    "svgd": (svgd, {"particles": 50}),
    "svgd, imq": (svgd, {"particles": 50, "kernel": "imq"}),
    "ssvgd": (ssvgd, {}),
    "ssvn (default)": (ssvn, {}),
}


def gent():
    """The main study's law, carved from a network, with its posterior and validation path."""
    result = steinmetz.run(steinmetz.study("hyperelasticity", {"potential.name": "icnn"}))
    posterior = posterior_of(result.carved, result.problem, result.study)
    problem = result.problem
    return result.law, posterior, _path(problem.material, problem.blocks[0].experiment)


def _path(material, experiment):
    """A few states of a validation path."""
    return observe.path(material, [(experiment, noise.Config())], 41).map


def thirty(seed=2, count=400, relative=0.05, units=6):
    """Six softplus units of four strains each: 30 weights, all determined by the law's own data."""
    material = mechanochemistry.build(mechanochemistry.Config())
    experiment = plane_strain.build(plane_strain.Config())
    inner = [
        Edge(4 + unit, column, 4 * unit + column) for unit in range(units) for column in range(4)
    ]
    outer = [Edge(4 + units, 4 + unit, 4 * units + unit) for unit in range(units)]
    size = 5 * units
    graph = Graph(
        inputs=material.inputs,
        activations=("softplus",) * units,
        edges=(*inner, *outer),
        nonnegative=(False,) * size,
    )
    random = np.random.default_rng(seed)
    weights = random.normal(size=size) * np.repeat([2.0, 1.0], [4 * units, units])
    weights[4 * units :] += 0.5 * np.sign(weights[4 * units :])
    law = Law(
        graph,
        jnp.asarray(weights * parameter_units(graph, material.sizes, 1.0)),
        material.reference,
    )
    states = experiment.sample(jax.random.key(seed), count)
    at = experiment.map(material, states, experiment.observed)
    clean = law.stress(at)
    values = noise.draw(jax.random.key(seed + 1), clean, jnp.asarray(relative), jnp.asarray(0.0))
    shape = values.shape
    data = Observations(
        state=np.asarray(states), inputs=at.inputs, operator=at.operator, values=values,
        observed=jnp.ones(shape, bool), relative=jnp.full(shape, relative),
        absolute=jnp.zeros(shape), components=experiment.observed,
    )  # fmt: skip
    deviation = noise.deviation(data, clean, 0.02)
    modulus = data.modulus(material.reference)
    compressed = quadratic.compress(data, deviation)
    return (
        law,
        density.build(
            law,
            density.Likelihood(compressed, data.cells),
            parameter_units(graph, material.sizes, modulus),
            density.Config(),
        ),
        _path(material, experiment),
    )


def sampled(target, method, settings, seed, size):
    config = method.Config(**settings)
    start = jax.random.normal(jax.random.key(seed + 100), (config.width, size))
    begin = time.perf_counter()
    found = driver.run(jax.random.key(seed), method.build(target, config), start, config.schedule)
    return found, time.perf_counter() - begin


def compare(name, law, posterior, at, acceptance):
    """One table: the reference, then every method with three seeds."""
    laplace, size = density.laplace(posterior, law.values), posterior.dimension
    target = whiten(target_of(posterior), laplace)
    settings = {
        "chains": 10,
        "steps": 1000,
        "warm_up": 1000,
        "acceptance": acceptance,
        "metric": "dense",
    }
    long, seconds = sampled(target, nuts, settings, 77, size)
    measured = diagnostics.examine(jax.random.key(0), target, long.usable)
    divergent = int(long.facts["divergent"].sum())
    chains = f"reference NUTS 10 × 1000 draws in {seconds:.0f} s, R-hat {measured.r_hat:.4f}"
    quality = f"{measured.bulk:.0f} effective, {divergent} divergences"
    print(f"{name}: {size} parameters; {chains}, {quality}", flush=True)
    to_theta = jax.jit(jax.vmap(lambda v: posterior.theta(laplace.forward(v))))
    reference = np.asarray(to_theta(jnp.asarray(long.usable.reshape(-1, size))))
    pushed = push_forward(law, jnp.asarray(reference), at)[0]
    varying = np.ptp(pushed, axis=0) > 1e-9

    def distance(draws):
        return measures.wasserstein(push_forward(law, jnp.asarray(draws), at)[0], pushed)[
            varying
        ].mean()

    random = np.random.default_rng(0)
    fifty = np.mean(
        [distance(reference[random.choice(len(reference), 50, replace=False)]) for _ in range(20)]
    )
    rows = []
    for label, (method, chosen) in METHODS.items():
        for seed in range(3):
            found, seconds = sampled(target, method, chosen, seed, size)
            row = judged(found, to_theta, reference, distance, fifty, size)
            rows.append({"problem": name, "method": label, "seed": seed, "seconds": seconds, **row})
            print(
                f"  {label:<16} seed {seed}: "
                + ", ".join(f"{key} {value}" for key, value in row.items()),
                flush=True,
            )
    figures = {"r_hat": measured.r_hat, "effective": measured.bulk, "divergences": divergent}
    return {**figures, "rows": rows}


def judged(found, to_theta, reference, distance, fifty, size):
    if found.failed:
        return {"failed": found.reason}
    theta = np.asarray(to_theta(jnp.asarray(found.usable.reshape(-1, size))))
    ratio = theta.std(axis=0) / reference.std(axis=0)
    shift = np.abs(theta.mean(axis=0) - reference.mean(axis=0)) / reference.std(axis=0)
    return {
        "draws": len(theta),
        "deviation": f"{ratio.min():.3f}–{ratio.max():.3f}",
        "mean": round(float(shift.max()), 3),
        "w1": round(float(distance(theta) / fifty), 2),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, help="JSON file for the figures")
    out = parser.parse_args().out
    found = {"gent": compare("Gent", *gent(), 0.99), "thirty": compare("thirty", *thirty(), 0.95)}
    if out is not None:
        out.parent.mkdir(parents=True, exist_ok=True)
        out.write_text(json.dumps(found, indent=1), encoding="utf-8")


if __name__ == "__main__":
    main()
