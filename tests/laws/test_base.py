"""Generating laws: every one gives finite data with every material that has its inputs."""

import jax
import numpy as np
import pytest

from steinmetz import InputError, registry
from steinmetz.experiments import base as experiments
from steinmetz.experiments import observe
from steinmetz.laws import base as laws
from steinmetz.materials import base as materials
from steinmetz.materials import isotropic
from steinmetz.materials.base import Material

RUBBER = isotropic.build(isotropic.Config(incompressible=True))
EVERY = [
    *(
        materials.build(materials.load(name).Config(name=name))
        for name in registry.names("materials")
    ),
    RUBBER,
]


@pytest.mark.parametrize("name", registry.names("laws"))
def test_every_law_gives_finite_data_where_its_inputs_are(name: str) -> None:
    law = laws.load(name)
    used = 0
    for material in EVERY:
        if not set(law.INPUTS) <= {*material.inputs, *material.constants}:
            with pytest.raises(InputError, match="name another law or material"):
                laws.truth(material, name)
            continue
        experiment = experiments.build(
            experiments.load(material.experiment).Config(name=material.experiment)
        )
        rows = experiment.sample(jax.random.key(0), 20)
        data = observe.clean(material, experiment, laws.truth(material, name), rows)
        assert np.isfinite(data.values).all()
        assert data.cells == 20 * len(experiment.observed)
        used += 1
    assert used


def test_unknown_law_and_parameter_are_named(material: Material) -> None:
    with pytest.raises(InputError, match=r"no law 'gnet'.*did you mean 'gent'"):
        laws.truth(material, "gnet")
    with pytest.raises(InputError, match="possible: Jm, theta1"):
        laws.truth(material, "gent", {"jm": 2.0})
