"""Run a built-in study and read the law: closed form, scores, stress with a band.

Run it with `python examples/fit_a_study.py`.
"""

import numpy as np

import steinmetz

result = steinmetz.run("hyperelasticity")
print(result)

r2 = result.scores.r2.path
print(f"R² along the validation path: {r2:.4f}")

stretched = np.diag([1.1, 1, 1])
stress = result.stress(stretched, "P11")  # one value per draw of the posterior
low, high = np.quantile(stress, [0.05, 0.95])
print(f"P11 at a stretch of 1.1: between {low:.3f} and {high:.3f} with a probability of 90 %")

result.plot("path").savefig("path.png")
result.save("runs/example-study")
again = steinmetz.load("runs/example-study")
print(again.export("latex"))
