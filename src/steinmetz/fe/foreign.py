"""Meshes in the formats of others, read by meshio in a process of its own.

Some of its readers never end where a file is cut off, and take as much memory as a number in it
says. That process gets little of both, measured by the size of the file; what comes back are arrays
(NPZ without objects) and JSON.
"""

import importlib.util
import json
import os
import signal
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from steinmetz import reading
from steinmetz.errors import InputError

if TYPE_CHECKING:
    import meshio

# Seconds of processor time to read any mesh, and further ones for every million bytes.
_SECONDS, _FURTHER = 1.0, 10.0
# Seconds on the clock for one of processor time; a machine may be busy.
_PATIENCE = 60.0
# The name that Gmsh gives its physical groups.
PHYSICAL = "gmsh:physical"


class Block(NamedTuple):
    """Cells of one kind, as nodes, and their dimension."""

    type: str
    data: np.ndarray
    dim: int


class Raw(NamedTuple):
    """What is used of a mesh; names are meshio's. A set has an array of cells for every block."""

    points: np.ndarray
    cells: list[Block]
    cell_data: dict[str, list[np.ndarray]]
    cell_sets: dict[str, list[np.ndarray]]
    field_data: dict[str, tuple[int, int]]
    point_sets: dict[str, np.ndarray]


def read(path: Path) -> Raw:
    """The mesh of a file, or one sentence about why there is none."""
    if importlib.util.find_spec("meshio") is None:
        raise InputError(
            "meshes are read by meshio: pip install 'steinmetz[fem]', or name a built-in problem"
        )
    size = len(reading.content(path))
    with tempfile.TemporaryDirectory() as folder:
        target = Path(folder) / "mesh.npz"
        command = [sys.executable, "-P", "-m", __name__, str(path.absolute()), str(target)]
        found = os.pathsep.join(filter(None, sys.path))  # this very package, wherever it lies
        try:
            done = subprocess.run(
                command,
                env={**os.environ, "PYTHONPATH": found},
                capture_output=True,
                timeout=_PATIENCE * allowed(size),
            )
            code, said = done.returncode, done.stderr.decode(errors="replace").strip()
        except subprocess.TimeoutExpired:
            code, said = -1, ""
        if code != 0:
            endless = "it does not come to an end; it may be cut off"
            why = said.splitlines()[-1] if code > 0 and said else endless
            raise InputError(f"{path} cannot be read as a mesh: {why}")
        with np.load(target, allow_pickle=False) as stored:
            return _unpacked({name: stored[name] for name in stored.files})


def allowed(size: int) -> float:
    """Seconds of processor time for a file of so many bytes."""
    return _SECONDS + _FURTHER * size / 1e6


def _packed(mesh: "meshio.Mesh") -> dict[str, np.ndarray]:
    """Arrays by name, and JSON that says what they are."""
    arrays = {"points": np.asarray(mesh.points, float)}
    for number, block in enumerate(mesh.cells):
        data = np.asarray(block.data)
        arrays[f"cells {number}"] = data if data.dtype.kind in "iu" else np.zeros((0, 0), int)
    for number, tags in enumerate(mesh.cell_data.get(PHYSICAL, [])):
        arrays[f"tags {number}"] = np.asarray(tags, int)
    for place, parts in enumerate(mesh.cell_sets.values()):
        for number, part in enumerate(parts):
            arrays[f"set {place} {number}"] = np.asarray([] if part is None else part, int)
    for place, members in enumerate(mesh.point_sets.values()):
        arrays[f"nodes {place}"] = np.asarray(members, int)
    about = {
        "blocks": [(block.type, int(block.dim)) for block in mesh.cells],
        "tagged": len(mesh.cell_data.get(PHYSICAL, [])),
        "sets": {str(name): len(parts) for name, parts in mesh.cell_sets.items()},
        "fields": {str(n): [int(each) for each in pair] for n, pair in mesh.field_data.items()},
        "nodes": [str(name) for name in mesh.point_sets],
    }
    return {**arrays, "about": np.frombuffer(json.dumps(about).encode(), np.uint8)}


def _unpacked(arrays: dict[str, np.ndarray]) -> Raw:
    about = json.loads(arrays["about"].tobytes())
    tags = [arrays[f"tags {number}"] for number in range(about["tagged"])]
    return Raw(
        arrays["points"],
        [Block(kind, arrays[f"cells {i}"], dim) for i, (kind, dim) in enumerate(about["blocks"])],
        {PHYSICAL: tags} if tags else {},
        {
            name: [arrays[f"set {place} {number}"] for number in range(count)]
            for place, (name, count) in enumerate(about["sets"].items())
        },
        {name: (pair[0], pair[1]) for name, pair in about["fields"].items()},
        {name: arrays[f"nodes {place}"] for place, name in enumerate(about["nodes"])},
    )


def _limit(size: int) -> None:
    """The system ends this process where it takes longer than allowed."""
    if hasattr(signal, "setitimer"):  # elsewhere the clock ends it
        signal.signal(signal.SIGPROF, signal.SIG_DFL)
        signal.setitimer(signal.ITIMER_PROF, allowed(size))


def main() -> None:
    """Read one file and write its arrays to another."""
    import meshio

    path, target = map(Path, sys.argv[1:])
    size = path.stat().st_size
    _limit(size)
    try:
        with reading.little_memory(size):
            np.savez(target, allow_pickle=False, **_packed(meshio.read(path)))
    except (Exception, SystemExit) as error:  # meshio leaves by either
        print(f"\n{reading.trouble(error)}", file=sys.stderr)
        raise SystemExit(2) from None


if __name__ == "__main__":
    main()
