"""Problems by name: Cook's membrane, a plate with a hole, a block in torsion."""

from collections.abc import Callable
from functools import partial
from typing import NamedTuple

import numpy as np
from jaxtyping import Float

from steinmetz.errors import InputError
from steinmetz.fe.mesh import Mesh, block, joined
from steinmetz.fe.problem import Problem, Quantity, pick, unknowns
from steinmetz.fe.space import space, tractions

Points = Float[np.ndarray, "nodes dimension"]


class Wanted(NamedTuple):
    """How fine the mesh is, how large the load, and whether the volume is projected.

    `cells` are those along a side, `load` has the meaning that a problem gives it; None is usual.
    """

    cells: int | None = None
    load: float | None = None
    projected: bool = False
    shear: float = 1.0


def cook(wanted: Wanted) -> Problem:
    """Cook's membrane in plane strain: clamped at the left, a dead shear traction at the right.

    The load is the traction, usually 0.1479 times the shear modulus (1/16 over 0.4225).
    """
    count = wanted.cells or 16
    mesh = block("quad9", (count, count), _cook)
    force = wanted.shear * 0.0625 / 0.4225 if wanted.load is None else wanted.load
    held = mesh.on(x=0.0)
    fixed = np.concatenate([2 * held, 2 * held + 1])
    faces = mesh.boundary(mesh.on(x=48.0))
    own, size = space(mesh, wanted.projected), mesh.points.size
    ends = {"tip": (48.0, 52.0), "upper corner": (48.0, 60.0)}
    seen = [
        _displacement(f"{name} {axis}", mesh, at, axis)
        for name, at in ends.items()
        for axis in "yx"
    ]
    return Problem(
        "cook",
        own,
        fixed,
        lambda share: np.zeros(len(fixed)),
        tractions(mesh, faces, np.array([0.0, force])),
        (*seen, Quantity("reaction y", True, lambda _: pick(size, 2 * held + 1))),
        f"shear traction {force:.4g} on the right edge",
    )


def _cook(at: Points) -> Points:
    """The trapezium (0,0) (48,44) (48,60) (0,44)."""
    low, high = 44 * at[:, 0], 44 + 16 * at[:, 0]
    return np.stack([48 * at[:, 0], low + (high - low) * at[:, 1]], axis=1)


def _displacement(name: str, mesh: Mesh, at: tuple[float, ...], axis: str) -> Quantity:
    """A displacement of the node at a point."""
    place = mesh.points.shape[1] * mesh.nearest(at) + mesh.axis(axis)
    return Quantity(name, False, lambda _: pick(mesh.points.size, np.array([place])))


def plate(wanted: Wanted) -> Problem:
    """A quarter of a square plate with a hole in plane strain, pulled at its upper edge.

    Half the side is 10, the radius of the hole 2.5. The load is the relative elongation, 0.2.
    """
    count = wanted.cells or 8
    parts = [block("quad9", (count, count), partial(_plate, side=side)) for side in (0, 1)]
    mesh = joined(parts)
    stretch = 0.2 if wanted.load is None else wanted.load
    left, bottom, top = mesh.on(x=0.0), mesh.on(y=0.0), mesh.on(y=10.0)
    fixed = np.concatenate([2 * left, 2 * bottom + 1, 2 * top + 1])
    ends = np.concatenate([np.zeros(len(left) + len(bottom)), np.full(len(top), 10 * stretch)])
    return Problem(
        "plate-with-hole",
        space(mesh, wanted.projected),
        fixed,
        lambda share: share * ends,
        np.zeros(mesh.points.size),
        (
            Quantity("force y", True, lambda _: pick(mesh.points.size, 2 * top + 1)),
            _displacement("top of the hole y", mesh, (0.0, 2.5), "y"),
            _displacement("side of the hole x", mesh, (2.5, 0.0), "x"),
        ),
        f"upper edge moved by {stretch:.4g} of half the height",
    )


def _plate(at: Points, side: int) -> Points:
    """Rays from the hole to the right (0) or upper (1) edge, denser at the hole."""
    turn = np.pi / 4 * (at[:, 1] + side)
    circle = 2.5 * np.stack([np.cos(turn), np.sin(turn)], axis=1)
    along = np.tan(np.pi / 4 * at[:, 1]) if side == 0 else np.tan(np.pi / 4 * (1 - at[:, 1]))
    whole = np.full(len(at), 10.0)
    edge = np.stack([whole, 10 * along] if side == 0 else [10 * along, whole], axis=1)
    away = at[:, :1] * (1 + at[:, :1]) / 2
    return np.asarray(circle + away * (edge - circle))


def torsion(wanted: Wanted) -> Problem:
    """A block 1 × 1 × 2, its lower face clamped, its upper one turned and held at its height.

    The load is the angle in degrees, usually 60.
    """
    count = wanted.cells or 4
    mesh = block("hexahedron", (count, count, 2 * count), lambda p: p * [1, 1, 2] - [0.5, 0.5, 0])
    angle = np.radians(60.0 if wanted.load is None else wanted.load)
    low, high = mesh.on(z=0.0), mesh.on(z=2.0)
    ends = np.concatenate([low, high])
    fixed = np.concatenate([unknowns(ends, 3, axis) for axis in range(3)])
    upper, size = mesh.points[high], mesh.points.size

    def turned(share: float) -> np.ndarray:
        cos, sin = np.cos(share * angle), np.sin(share * angle)
        return np.asarray(upper[:, :2] @ np.array([[cos, sin], [-sin, cos]]))

    def prescribed(share: float) -> np.ndarray:
        moved = np.zeros((3, len(ends)))
        moved[:2, len(low) :] = (turned(share) - upper[:, :2]).T
        return moved.ravel()

    def arms(share: float) -> np.ndarray:
        weights, at = np.zeros(size), turned(share)
        weights[3 * high + 1], weights[3 * high] = at[:, 0], -at[:, 1]
        return weights

    return Problem(
        "block-torsion",
        space(mesh, True),
        fixed,
        prescribed,
        np.zeros(size),
        (
            Quantity("torque", True, arms),
            Quantity("axial force", True, lambda _: pick(size, 3 * high + 2)),
        ),
        f"upper face turned by {np.degrees(angle):.4g}°",
    )


PROBLEMS: dict[str, Callable[[Wanted], Problem]] = {
    "cook": cook,
    "plate-with-hole": plate,
    "block-torsion": torsion,
}


def named(name: str, wanted: Wanted) -> Problem:
    """A problem by name."""
    if name not in PROBLEMS:
        raise InputError(
            f"there is no problem '{name}'; possible: {', '.join(PROBLEMS)}, or a mesh file"
        )
    return PROBLEMS[name](wanted)
