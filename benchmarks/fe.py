"""Many draws of a law on Cook's membrane, beside a loop of scikit-fem solves in the same process.

Both solve the same weak form (Q2, 3 × 3 points, μ/2 (Ī1 − 3) + κ/4 (J² − 1 − 2 log J), 5 % spread
of μ and κ) to the same relative residual. The loop is timed over a few draws and scaled, once from
the unloaded membrane and once from the solution of the mean draw, which is the better it can do
without sensitivities. Printed are seconds, their ratio, the memory of the process, and how far tip
displacements differ.

    python benchmarks/fe.py --draws 1000 --cells 16 --loop 20
"""

import argparse
import resource
import time

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import scipy.sparse.linalg
import skfem
from skfem.helpers import ddot, det, grad, inv, transpose

from steinmetz.fe import draws
from steinmetz.fe.newton import Equilibrium, Settings
from steinmetz.fe.problems import Wanted, cook
from steinmetz.fe.substance import Substance
from steinmetz.potentials.base import Potential
from steinmetz.records import Reference

MEAN, SPREAD, TRACTION, TOLERANCE = np.array([0.4225, 0.91541667]), 0.05, 1 / 16, 1e-9


class NeoHooke(Potential):
    """μ/2 (Ī1 − 3) + κ/4 (J² − 1 − 2 log J)."""

    inputs: tuple[str, ...] = eqx.field(static=True, default=("I1", "I2", "J"))
    nonnegative: tuple[bool, ...] = eqx.field(static=True, default=(True, True))

    def energy(self, theta, x):
        """Ψ(θ, x)."""
        J = x[2]
        volume = theta[1] / 4 * (J**2 - 1 - 2 * jnp.log(J))
        return theta[0] / 2 * (x[0] * J ** (-2 / 3) - 3) + volume


def _state(w):
    F = grad(w["u"]) + np.eye(2)[:, :, None, None]
    return F, det(F), transpose(inv(F)), np.einsum("ij...,ij...", F, F) + 1


@skfem.LinearForm
def forces(v, w):
    """P : ∇v."""
    F, J, T, I1 = _state(w)
    P = w.mu * J ** (-2 / 3) * (F - I1 / 3 * T) + w.kappa / 2 * (J**2 - 1) * T
    return ddot(P, grad(v))


@skfem.BilinearForm
def stiffness(du, v, w):
    """∇v : ∂P/∂F : ∇du, written out."""
    F, J, T, I1 = _state(w)
    H = grad(du)
    along, across = ddot(T, H), ddot(F, H)
    turned = -np.einsum("ij...,kj...,kl...->il...", T, H, T)
    scale = w.mu * J ** (-2 / 3)
    own = F - I1 / 3 * T
    first = scale * (H - 2 / 3 * across * T - I1 / 3 * turned - 2 / 3 * along * own)
    second = w.kappa / 2 * ((J**2 - 1) * turned + 2 * J**2 * along * T)
    return ddot(first + second, grad(v))


class Loop:
    """One draw after the other in scikit-fem."""

    def __init__(self, problem):
        """The same mesh and the same unknowns, in the order of scikit-fem."""
        source = problem.space.mesh
        mesh = skfem.MeshQuad2(source.points.T, source.cells.T)
        self.basis = skfem.Basis(mesh, skfem.ElementVector(skfem.ElementQuad2()), intorder=5)
        place = {tuple(row): k for k, row in enumerate(np.round(source.points, 6).tolist())}
        axis = np.zeros(self.basis.N, int)
        for dofs in (self.basis.nodal_dofs, self.basis.facet_dofs, self.basis.interior_dofs):
            axis[dofs[1]] = 1
        at = np.round(self.basis.doflocs.T, 6).tolist()
        self.numbers = np.array([2 * place[tuple(row)] for row in at]) + axis
        self.load = problem.force[self.numbers]
        self.free = np.flatnonzero(~np.isin(self.numbers, problem.fixed))
        self.tip = int(np.flatnonzero(self.numbers == 2 * source.nearest((48.0, 52.0)) + 1)[0])

    def solve(self, theta, start, shares):
        """Newton's method without line search, in as few load steps as every draw needs."""
        u = start.copy()
        for share in shares:
            u = self.newton(theta, u, share * self.load)
        return u

    def newton(self, theta, u, load):
        """Equilibrium under one load."""
        for _ in range(30):
            given = {"u": self.basis.interpolate(u), "mu": theta[0], "kappa": theta[1]}
            left = (forces.assemble(self.basis, **given) - load)[self.free]
            if np.linalg.norm(left) <= TOLERANCE * np.linalg.norm(load):
                return u
            matrix = stiffness.assemble(self.basis, **given)[self.free][:, self.free]
            u[self.free] -= scipy.sparse.linalg.spsolve(matrix.tocsc(), left)
        raise RuntimeError("the loop did not converge")


def main() -> None:
    """Both ways, and how they compare."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--draws", type=int, default=1000)
    parser.add_argument("--cells", type=int, default=16)
    parser.add_argument("--loop", type=int, default=20, help="draws that the loop is timed over")
    options = parser.parse_args()
    jax.config.update("jax_enable_x64", True)
    random = np.random.default_rng(0)
    theta = MEAN * np.exp(SPREAD * random.standard_normal((options.draws, 2)))
    problem = cook(Wanted(options.cells, TRACTION))
    substance = Substance.of(NeoHooke(), Reference((3.0, 3.0, 1.0)))
    equilibrium = Equilibrium.of(problem, Settings(TOLERANCE))
    begun = time.perf_counter()
    draws.push([draws.Group(substance, theta[:1])], equilibrium, (1.0,))
    print(f"compiling and the first draw: {time.perf_counter() - begun:.1f} s")
    begun = time.perf_counter()
    found = draws.push([draws.Group(substance, theta)], equilibrium, (1.0,))
    ours = time.perf_counter() - begun
    print(f"{len(equilibrium.free)} unknowns, {options.draws} draws: {ours:.1f} s, {found.effort}")
    print(f"{int((~found.solved).sum())} failed")
    loop, tips = Loop(problem), found.quantities[-1, :, 0]
    nothing = loop.basis.zeros()
    middle = loop.solve(theta.mean(axis=0), nothing, (0.5, 1.0))
    for name, start, shares in (("unloaded", nothing, (0.5, 1.0)), ("mean", middle, (1.0,))):
        begun = time.perf_counter()
        solved = [loop.solve(one, start, shares) for one in theta[: options.loop]]
        some = np.array([u[loop.tip] for u in solved])
        each = (time.perf_counter() - begun) / options.loop
        ratio, away = each * options.draws / ours, np.abs(some - tips[: options.loop]).max()
        print(
            f"scikit-fem from the {name} state: {each:.3f} s per draw, "
            f"{each * options.draws:.0f} s scaled: {ratio:.1f} × slower; tips differ by {away:.1e}"
        )
        wanted = [0.025, 0.5, 0.975]
        apart = np.quantile(some, wanted) - np.quantile(tips[: options.loop], wanted)
        print(f"  quantiles of the tip over these draws differ by {np.abs(apart).max():.1e}")
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024**2
    print(f"memory {memory:.2f} GB; tip {np.quantile(tips, [0.025, 0.5, 0.975])}")


if __name__ == "__main__":
    main()
