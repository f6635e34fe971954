"""Fit three standard tests of an incompressible rubber jointly, and predict a fourth.

The study `rubber_tests` has uniaxial, equibiaxial and pure shear tests of a Mooney–Rivlin rubber
with 2 % noise. Simple shear was not measured; the law predicts it with a band.

Run it with `python examples/fit_three_tests.py`.
"""

import numpy as np

import steinmetz

result = steinmetz.run("rubber_tests")  # tables of your own: steinmetz.fit([…], [experiments])
print(result.export("text"))

shear = np.linspace(0.1, 1.0, 10)
predicted = result.predict("simple_shear", shear)
low, high = (border[:, 0] for border in predicted.band(0.95))
truth = 2 * shear * (0.5 + 0.2)  # P12 = 2γ (Ψ₁ + Ψ₂), after Rivlin
for row in zip(shear, predicted.law[:, 0], low, high, truth, strict=True):
    print("γ = {:.1f}: P12 = {:.3f}, 95 % band {:.3f} to {:.3f}, truth {:.3f}".format(*row))

r2 = 1 - np.sum((predicted.law[:, 0] - truth) ** 2) / np.sum((truth - truth.mean()) ** 2)
print(f"R² in simple shear: {r2:.5f}")
