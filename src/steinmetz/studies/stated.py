"""The noise of measured rows: as stated, else estimated with the law."""

from collections.abc import Mapping

from steinmetz.experiments import modes
from steinmetz.materials import base as materials

# Relative and absolute standard deviation of the stress, a number or 'estimated'; None: not stated.
Deviations = tuple[float | str | None, float | str | None]
UNSTATED: Deviations = (None, None)
# Of a network, which is fitted under stated noise alone.
_NETWORK: dict[str, object] = {"relative": 0.05, "absolute": 0.0}
_ESTIMATED: dict[str, object] = {"relative": "estimated", "absolute": "estimated"}


def noise(deviations: Deviations, changes: Mapping[str, object]) -> dict[str, object]:
    """Both parts of the noise; where one is stated, the other is none unless it is stated too.

    Where neither is, both are estimated if the law is composed of terms.
    """
    parts = zip(_ESTIMATED, deviations, strict=True)
    stated = {name: size for name, size in parts if size is not None}
    if stated or any(f"noise.{name}" in changes for name in _ESTIMATED):
        return {"relative": 0.0, "absolute": 0.0, **stated}
    network = changes.get("potential.name", _usual(changes)) != "terms"
    return dict(_NETWORK if network or changes.get("noise.unknown") else _ESTIMATED)


def _usual(changes: Mapping[str, object]) -> str:
    """The potential that suits the material."""
    name = str(changes.get("material.name", modes.USUAL))
    return materials.build(materials.load(name).Config(name=name)).potential
