"""VTU files (XML, plain text), which ParaView, VisIt and meshio read."""

import numpy as np

from steinmetz.fe.mesh import Mesh

# Numbers of VTK for kinds of cells.
_KINDS = {
    "triangle": 5, "quad": 9, "tetra": 10, "hexahedron": 12,
    "triangle6": 22, "tetra10": 24, "quad9": 28,
}  # fmt: skip


def text(mesh: Mesh, data: dict[str, np.ndarray]) -> str:
    """The mesh with values at its nodes: numbers, or vectors with three components."""
    points = np.zeros((len(mesh.points), 3))
    points[:, : mesh.points.shape[1]] = mesh.points
    cells, corners = mesh.cells.shape
    kinds = np.full(cells, _KINDS[mesh.kind])
    parts = [
        '<?xml version="1.0"?>',
        '<VTKFile type="UnstructuredGrid" version="0.1" byte_order="LittleEndian">',
        f'<UnstructuredGrid><Piece NumberOfPoints="{len(points)}" NumberOfCells="{cells}">',
        "<Points>",
        _array("Points", points),
        "</Points><Cells>",
        _array("connectivity", mesh.cells.ravel()),
        _array("offsets", corners * np.arange(1, cells + 1)),
        _array("types", kinds, "UInt8"),
        "</Cells><PointData>",
        *(_array(name, values) for name, values in data.items()),
        "</PointData></Piece></UnstructuredGrid></VTKFile>",
    ]
    return "\n".join(parts)


def _array(name: str, values: np.ndarray, kind: str = "") -> str:
    """One array; floats keep nine digits."""
    whole = values.dtype.kind in "iu"
    width = f' NumberOfComponents="{values.shape[1]}"' if values.ndim == 2 else ""
    numbers = " ".join(map(str, values.ravel()) if whole else (f"{v:.9g}" for v in values.ravel()))
    written = kind or ("Int64" if whole else "Float64")
    head = f'<DataArray type="{written}" Name="{name}"{width} format="ascii">'
    return f"{head}\n{numbers}\n</DataArray>"
