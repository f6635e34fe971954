"""What a generating law declares, and the truth it makes for a material.

A file declares `INPUTS`, the quantities it depends on, its default `PARAMETERS`, and
`energy(inputs, parameters)` as printed in its source; the reference of the material normalises it.
A law may be used with every material that has its inputs, or holds them constant.
"""

from typing import Protocol, runtime_checkable

import jax.numpy as jnp
from jaxtyping import Array, Float

from steinmetz import registry
from steinmetz.errors import InputError
from steinmetz.materials.base import Material
from steinmetz.records import Truth
from steinmetz.shapes import Inputs, Scalar


@runtime_checkable
class LawFile(Protocol):
    """What a file in `laws` defines."""

    INPUTS: tuple[str, ...]
    PARAMETERS: dict[str, float]

    def energy(self, inputs: Float[Array, "needed"], parameters: dict[str, float]) -> Scalar:
        """Ψ, not normalised."""


def load(name: str) -> LawFile:
    """The file of a law by name."""
    return registry.load_as("laws", name, LawFile)


def truth(material: Material, name: str, parameters: dict[str, float] | None = None) -> Truth:
    """A generating law with its own parameters where none are given.

    For the inputs of a material.
    """
    law = load(name)
    missing = [i for i in law.INPUTS if i not in material.inputs and i not in material.constants]
    if missing:
        raise InputError(
            f"law '{name}' needs {', '.join(law.INPUTS)}, but material '{material.name}' has "
            f"{', '.join(material.inputs)}; name another law or material"
        )
    chosen = dict(law.PARAMETERS)
    for key, value in (parameters or {}).items():
        if key not in chosen:
            what = f"parameter of law '{name}' called"
            raise InputError(registry.unknown(what, key, sorted(chosen)))
        chosen[key] = value

    def energy(x: Inputs) -> Scalar:
        if material.inputs == law.INPUTS:
            return law.energy(x, chosen)
        values = dict(zip(material.inputs, x, strict=True))
        needed = [values.get(i, material.constants.get(i, 0.0)) for i in law.INPUTS]
        return law.energy(jnp.stack([jnp.asarray(v, x.dtype) for v in needed]), chosen)

    return Truth(name, energy)
