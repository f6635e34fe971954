"""Settings and tables that several tests share."""

import numpy as np

# A run of a few seconds: everything small, the path and the checks whole.
QUICK = {
    "potential.widths": [6, 6],
    "sparsify.restarts": 2,
    "sparsify.steps": 600,
    "sparsify.stride": 100,
    "sparsify.penalties": 2,
    "sparsify.max_parameters": 24,
    "sparsify.beam": 2,
    "sparsify.candidates": 2,
    "infer.method": "svgd",
    "infer.particles": 20,
    "infer.steps": 100,
    "assess.path_points": 50,
    "assess.noise_draws": 50,
    "assess.test_count": 100,
    "assess.certificate_states": 500,
}

# Header and one row of a table of full tensors.
STATE = "F11,F12,F13,F21,F22,F23,F31,F32,F33"
ROW = "1.1,0,0,0,1,0,0,0,1"


def mooney_rivlin_stress(F):
    """S of c1 = 0.5, c2 = 0.2, κ = 2, written with nothing of the package."""
    C, J = F.T @ F, np.linalg.det(F)
    volumetric = -2 * (0.5 + 2 * 0.2) / J + 2 * (J - 1)
    shear = 2 * 0.5 * np.eye(3) + 2 * 0.2 * (np.trace(C) * np.eye(3) - C)
    return shear + volumetric * J * np.linalg.inv(C)


def mooney_rivlin_table(path, seed, rows, noise, blank):
    """A CSV file of noisy rows, some cells blank."""
    random = np.random.default_rng(seed)
    tensors = np.eye(3) + random.uniform(-0.2, 0.2, (rows, 3, 3))
    pairs = [(0, 0), (1, 1), (2, 2), (0, 1), (0, 2), (1, 2)]
    lines = [",".join([STATE, *(f"S{i + 1}{j + 1}" for i, j in pairs)])]
    for F in tensors:
        S = mooney_rivlin_stress(F)
        noisy = [float(S[p] * (1 + noise * random.normal())) for p in pairs]
        cells = ["" if random.random() < blank else repr(value) for value in noisy]
        lines.append(",".join([repr(float(x)) for x in F.ravel()] + cells))
    path.write_text("\n".join(lines), encoding="utf-8")
