"""Fit a CSV table of measured stress. Here the rows are made up: a neo-Hookean solid, 2 % noise.

Run it with `python examples/fit_a_table.py`.
"""

import csv
from pathlib import Path

import numpy as np

import steinmetz

MU = 1.0
KAPPA = 2.0
NOISE = 0.02


def second_piola(F: np.ndarray) -> np.ndarray:
    """S of Ψ = μ/2 (I1 − 3 − 2 log J) + κ/2 (J − 1)²."""
    J = np.linalg.det(F)
    inverse = np.linalg.inv(F.T @ F)
    S: np.ndarray = MU * (np.eye(3) - inverse) + KAPPA * (J - 1) * J * inverse
    return S


random = np.random.default_rng(0)
Path("runs").mkdir(exist_ok=True)
with open("runs/rubber.csv", "w", newline="", encoding="utf-8") as file:
    writer = csv.writer(file)
    header = [f"F{i}{j}" for i in (1, 2, 3) for j in (1, 2, 3)]
    writer.writerow([*header, "S11", "S22", "S12"])
    for F in np.eye(3) + random.uniform(-0.2, 0.2, (100, 3, 3)):
        S = second_piola(F) * (1 + NOISE * random.standard_normal((3, 3)))
        writer.writerow([*F.ravel(), S[0, 0], S[1, 1], S[0, 1]])

result = steinmetz.fit("runs/rubber.csv", relative=NOISE)  # a pandas DataFrame will do as well
print(result)

r2 = result.scores.r2.test
print(f"R² on the rows that were held out: {r2:.4f}")
