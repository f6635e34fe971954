"""Pictures of a finite-element result: fields on the deformed part, and bands over the load."""

from pathlib import Path

import matplotlib
import numpy as np
from jaxtyping import Float, Int
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.tri import Triangulation

from steinmetz.fe.fields import STRESSES
from steinmetz.fe.mesh import Mesh
from steinmetz.fe.result import Result
from steinmetz.report.style import COLOURS, STYLE

Triangles = Int[np.ndarray, "triangles 3"]
_AROUND = (0, 4, 1, 5, 2, 6, 3, 7)
# Corners of triangles that fill an element or its face.
_FANS = {
    "triangle": ((0, 1, 2),),
    "quad": ((0, 1, 2), (0, 2, 3)),
    "quad9": tuple((_AROUND[k - 1], _AROUND[k], 8) for k in range(8)),
    "triangle6": ((0, 3, 5), (3, 1, 4), (5, 4, 2), (3, 4, 5)),
}  # fmt: skip
# Spread that is none, as a share of the value.
_SAME = 1e-6
# Directions from which solids are seen.
_ELEVATION, _AZIMUTH = np.radians(20), np.radians(-60)


def draw(result: Result, folder: Path) -> None:
    """`fields.png` and `load.png`."""
    with matplotlib.rc_context(STYLE):
        _fields(result).savefig(folder / "fields.png")
        _loads(result).savefig(folder / "load.png")


def _fields(result: Result) -> Figure:
    """Mean and deviation of the von Mises stress, and the probability of the limit if given."""
    place, unit = STRESSES.index("von Mises"), f" ({result.unit})" if result.unit else ""
    stress, moved = result.fields.stress, result.fields.displacement
    length = np.linalg.norm(moved.sd, axis=1)
    shown = {
        f"von Mises stress, mean{unit}": stress.mean[:, place],
        f"von Mises stress, sd{unit}": stress.sd[:, place],
        "displacement, sd": length,
    }
    if result.fields.exceeded is not None:
        shown[f"probability over {result.asked.limit:g}"] = result.fields.exceeded
    if result.extrapolated > 0:
        shown["beyond the data (1)"] = np.clip(result.beyond, 0, 1)
    figure = Figure(figsize=(3.3 * len(shown), 3.8), layout="constrained")
    flat, triangles = _flat(result.problem.space.mesh, moved.mean)
    for number, (title, values) in enumerate(shown.items()):
        axis = figure.add_subplot(1, len(shown), number + 1)
        _coloured(axis, flat, triangles, values)
        axis.set_title(title)
    return figure


def _coloured(
    axis: Axes, flat: Float[np.ndarray, "nodes 2"], triangles: Triangles, values: np.ndarray
) -> None:
    """A field on the deformed part, with its colours beside it."""
    mesh = Triangulation(flat[:, 0], flat[:, 1], triangles)
    drawn = axis.tripcolor(mesh, values, shading="gouraud")
    axis.figure.colorbar(drawn, ax=axis, shrink=0.8)
    axis.set_aspect("equal")
    axis.grid(visible=False)


def _flat(
    mesh: Mesh, moved: Float[np.ndarray, "nodes dimension"]
) -> tuple[Float[np.ndarray, "nodes 2"], Triangles]:
    """The deformed part in the plane of the picture; of a solid the faces that are seen."""
    at = mesh.points + moved
    cells, kind = mesh.cells, mesh.kind
    if at.shape[1] == 3:
        cells, kind = mesh.boundary(np.arange(len(mesh.points))), mesh.element.face
    triangles = cells[:, np.array(_FANS[kind])].reshape(-1, 3)
    if at.shape[1] == 2:
        return at, triangles
    east = np.array([-np.sin(_AZIMUTH), np.cos(_AZIMUTH), 0])
    out = np.array([np.cos(_AZIMUTH), np.sin(_AZIMUTH), 0]) * np.cos(_ELEVATION)
    out[2] = np.sin(_ELEVATION)
    up = np.cross(out, east)
    middle = at[triangles].mean(axis=1) @ out
    return np.stack([at @ east, at @ up], axis=1), triangles[np.argsort(middle)]


def _loads(result: Result) -> Figure:
    """Every quantity over the share of the load, with its band, and its draws at the full load."""
    names = list(result.quantities)
    figure = Figure(figsize=(3.0 * len(names), 4.6), layout="constrained")
    loads, level = [0.0, *result.found.loads], 100 * result.asked.level
    for number, (name, band) in enumerate(result.quantities.items()):
        axis = figure.add_subplot(2, len(names), number + 1)
        low, middle, high = (np.concatenate([[0.0], part]) for part in band[2:])
        axis.fill_between(loads, low, high, color=COLOURS[0], alpha=0.3, label=f"{level:g} % band")
        axis.plot(loads, middle, color=COLOURS[0], lw=1, label="median")
        axis.set(xlabel="share of the load", title=name)
        below = figure.add_subplot(2, len(names), len(names) + number + 1)
        _spread(below, result, number)
        if number == 0:
            axis.legend()
            below.legend()
    return figure


def _spread(axis: Axes, result: Result, number: int) -> None:
    """Draws at the full load, sampled and linearised."""
    sampled = result.found.quantities[-1, result.found.solved, number]
    straight = result.found.linear_quantities[-1, :, number]
    every = np.concatenate([sampled, straight[np.isfinite(straight)]])
    axis.set(xlabel="at the full load", yticks=[])
    if np.ptp(every) <= _SAME * np.abs(every).max():
        axis.text(
            0.5, 0.5, f"{every.mean():.5g} in all draws", ha="center", transform=axis.transAxes
        )
        return
    edges = np.linspace(every.min(), every.max(), 31).tolist()
    axis.hist(sampled, edges, color=COLOURS[0], alpha=0.4, label="sampled", density=True)
    axis.hist(straight, edges, color=COLOURS[1], histtype="step", label="linearised", density=True)
