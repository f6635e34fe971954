"""Example tables of every test: a textbook law with a little noise, and comments that explain."""

import jax
import numpy as np

from steinmetz.experiments import base as experiments
from steinmetz.experiments import modes, observe
from steinmetz.laws import base as laws
from steinmetz.materials import base as materials

_ROWS = 25
# Relative noise, and absolute noise as a share of the root-mean-square stress.
_NOISE = (0.01, 0.005)
_LAWS = {"isotropic": "mooney_rivlin", "mechanochemistry": "rudraraju"}
_UNIT = "MPa"


def example(mode: str) -> str:
    """The text of a CSV file that `fit` reads as it is."""
    said = modes.material([mode])
    name = str(said.get("material.name", modes.USUAL))
    kind = materials.load(name).Config
    free = bool(said.get("material.incompressible"))
    material = materials.build(kind(name=name, **({"incompressible": True} if free else {})))
    test = experiments.build(experiments.load(mode).Config(name=mode))
    law = _LAWS.get(name, _LAWS["isotropic"])
    rows = test.sample(jax.random.key(0), _ROWS)
    clean = np.asarray(observe.clean(material, test, laws.truth(material, law), rows).values)
    values = _noisy(clean)
    stresses = [f"{part} ({_UNIT})" if part[-1].isdigit() else part for part in test.observed]
    lines = [*_comments(test, law, name), ",".join([*test.columns, *stresses])]
    for row, stress in zip(rows, values, strict=True):
        lines.append(",".join(f"{value:.5g}" for value in (*row, *stress)))
    return "\n".join(lines)


def _noisy(clean: np.ndarray) -> np.ndarray:
    """Clean stress with a little noise, the same in every call."""
    relative, absolute = _NOISE
    deviation = np.hypot(relative * clean, absolute * np.sqrt(np.mean(clean**2)))
    return np.asarray(clean + deviation * np.random.default_rng(0).normal(size=clean.shape))


def _comments(test: experiments.Experiment, law: str, material: str) -> list[str]:
    """What a reader should know before putting numbers of their own into the table."""
    columns = ", ".join(test.columns)
    meanings = {
        "P": "P is force over undeformed area (nominal stress)",
        "S": "S is the second Piola-Kirchhoff stress",
        "m": "mu is the chemical potential",
    }
    kinds = dict.fromkeys(name[0] for name in test.observed)
    return [
        f"# A {test.name} table with made-up numbers: the law {law} with a little noise.",
        f"# mode: {test.name}",
        f"# Every row is one measurement: {columns} and the stress measured there.",
        f"# {'; '.join(meanings[kind] for kind in kinds if kind in meanings)}. The unit stands in "
        "the header.",
        "# Leave a cell empty where nothing was measured: empty is not zero. Lines with # are not "
        "read, but for declarations such as mode.",
        *([] if material == modes.USUAL else [f"# The material is {material}."]),
    ]
