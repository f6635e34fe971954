"""A problem of one's own: a mesh that meshio reads, and a TOML file that says what is done to it.

[[hold]]                 # displacements that are prescribed at the full load, zero if not said
group = "left"           # a group of the mesh, or a place:
at = {x = 0.0}
x = 0.0                  # directions that are not named stay free
y = 0.0

[[pull]]                 # a dead traction, force per undeformed area
at = {x = 48.0}
traction = [0.0, 0.1]

[[watch]]                # mean displacement of nodes, or sum of forces on what is held
name = "tip"
at = {x = 48.0, y = 52.0}
direction = "y"
of = "displacement"      # or "force"
"""

from pathlib import Path
from typing import Literal

import numpy as np
from jaxtyping import Int
from pydantic import BaseModel, ConfigDict, ValidationError

from steinmetz import reading
from steinmetz.errors import InputError, about
from steinmetz.fe import elements, foreign
from steinmetz.fe.mesh import Mesh
from steinmetz.fe.problem import Problem, Quantity, pick
from steinmetz.fe.problems import Wanted
from steinmetz.fe.space import Space, space, tractions


class _Place(BaseModel):
    """Nodes: those of a group, or at a place."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)
    group: str | None = None
    at: dict[str, float] | None = None


class Hold(_Place):
    """Prescribed displacements."""

    x: float | None = None
    y: float | None = None
    z: float | None = None


class Pull(_Place):
    """A dead traction."""

    traction: tuple[float, ...]


class Watch(_Place):
    """A number of interest."""

    name: str
    direction: Literal["x", "y", "z"]
    of: Literal["displacement", "force"] = "displacement"


class Conditions(BaseModel):
    """What is held, what pulls, and what is looked at."""

    model_config = ConfigDict(frozen=True, extra="forbid")
    hold: tuple[Hold, ...]
    pull: tuple[Pull, ...] = ()
    watch: tuple[Watch, ...]


def read(path: Path, wanted: Wanted) -> Problem:
    """A mesh file and the TOML file of the same name beside it; --load scales what is done."""
    stated = path.with_suffix(".toml")
    mesh, said = mesh_of(path), conditions(stated)
    with about(path):
        room = space(mesh, wanted.projected or mesh.kind in ("quad", "hexahedron"))
    with about(stated):
        return _problem(path, room, said, wanted)


def _problem(path: Path, room: Space, said: Conditions, wanted: Wanted) -> Problem:
    """What is held and pulled, at the nodes."""
    mesh = room.mesh
    dimension, size = mesh.points.shape[1], mesh.points.size
    scale = 1.0 if wanted.load is None else wanted.load
    held: dict[int, float] = {}
    for hold in said.hold:
        for axis, value in zip("xyz", (hold.x, hold.y, hold.z), strict=True):
            if value is not None:
                places = dimension * nodes(mesh, hold) + mesh.axis(axis)
                held.update(dict.fromkeys(places.tolist(), scale * value))
    fixed = np.array(sorted(held), int)
    ends = np.array([held[place] for place in fixed.tolist()])
    force = np.zeros(size)
    for pull in said.pull:
        force += scale * _traction(mesh, pull)
    return Problem(
        path.stem,
        room,
        fixed,
        lambda share: share * ends,
        force,
        tuple(_watched(mesh, watch) for watch in said.watch),
        f"{scale:.4g} times what {path.with_suffix('.toml').name} says",
    )


def _traction(mesh: Mesh, pull: Pull) -> np.ndarray:
    """Forces at the nodes."""
    if len(pull.traction) != mesh.points.shape[1]:
        raise InputError(
            f"traction = {list(pull.traction)}: {mesh.points.shape[1]} components are needed"
        )
    faces = mesh.boundary(nodes(mesh, pull))
    if not len(faces):
        raise InputError(f"pull at {pull.group or pull.at}: no whole face of the surface is there")
    return tractions(mesh, faces, np.array(pull.traction))


def _watched(mesh: Mesh, watch: Watch) -> Quantity:
    """Mean displacement, or sum of forces."""
    places = mesh.points.shape[1] * nodes(mesh, watch) + mesh.axis(watch.direction)
    weights = pick(mesh.points.size, places, mean=watch.of == "displacement")
    return Quantity(watch.name, watch.of == "force", lambda _: weights)


def nodes(mesh: Mesh, place: _Place) -> Int[np.ndarray, "members"]:
    """Nodes that a condition is about."""
    if (place.group is None) == (place.at is None):
        raise InputError('every condition needs either group = "…" or at = {x = …}')
    if place.group is not None:
        if place.group not in mesh.groups:
            known = ", ".join(mesh.groups) or "none"
            raise InputError(f"the mesh has no group '{place.group}'; it has: {known}")
        return mesh.groups[place.group]
    found = mesh.on(**(place.at or {}))
    if not len(found):
        raise InputError(f"at = {place.at}: the mesh has no node there")
    return found


def conditions(path: Path) -> Conditions:
    """The TOML file, every field checked."""
    if not path.exists():
        raise InputError(f"{path} is missing: it says what is held, pulled and watched")
    try:
        return Conditions.model_validate(reading.toml(path, str(path)))
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(map(str, first["loc"]))
        raise InputError(f"{path}: {place}: {first['msg'].lower()}") from None


def mesh_of(path: Path) -> Mesh:
    """Cells of the highest dimension, all of one kind; groups are those that have names."""
    try:
        raw = foreign.read(path)
        with about(path):
            return _solid(raw)
    except InputError:
        raise
    except (IndexError, TypeError, ValueError) as error:  # parts that do not fit together
        raise InputError(f"{path} is damaged: its parts do not fit together ({error})") from None


def _solid(raw: foreign.Raw) -> Mesh:
    """What is meshed of the highest dimension."""
    blocks = [b for b in raw.cells if b.type in elements.ELEMENTS and b.type[:4] != "line"]
    solid = [b for b in blocks if elements.ELEMENTS[b.type].dimension == 3]
    used = solid or blocks
    kinds = sorted({block.type for block in used} or {block.type for block in raw.cells})
    if not kinds:
        raise InputError("there are no cells in this mesh; write its volume, too")
    kind = elements.element(kinds[0])
    if len(kinds) > 1:
        raise InputError(f"cells of kinds {', '.join(kinds)} are mixed; use one of them")
    cells = np.concatenate([block.data for block in used]).astype(int)
    used_nodes, compact = np.unique(cells, return_inverse=True)
    points = raw.points[used_nodes, : kind.dimension]
    placed = points.shape[1] == kind.dimension and np.isfinite(points).all()
    if not cells.size or cells.min() < 0 or not placed:
        raise InputError("a cell has no node, or a node no place; write the mesh again")
    return Mesh(points, compact.reshape(cells.shape), kind.name, _groups(raw, used_nodes))


def _groups(raw: foreign.Raw, used: np.ndarray) -> dict[str, np.ndarray]:
    """Nodes of the cells of every named set, or physical group of Gmsh, renumbered."""
    found: dict[str, np.ndarray] = {}
    tags, sets = raw.cell_data.get(foreign.PHYSICAL, []), dict(raw.cell_sets)
    for name, (tag, dimension) in (raw.field_data if tags else {}).items():
        sets[name] = [
            np.flatnonzero((own == tag) & (block.dim == dimension))
            for block, own in zip(raw.cells, tags, strict=True)
        ]
    for name, parts in sets.items():
        members = [
            block.data[np.asarray(part, int)].ravel()
            for block, part in zip(raw.cells, parts, strict=True)
            if len(part)
        ]
        if members and not name.startswith("gmsh:"):
            found[name] = np.flatnonzero(np.isin(used, np.concatenate(members)))
    for name, part in raw.point_sets.items():
        found[name] = np.flatnonzero(np.isin(used, part))
    return found
