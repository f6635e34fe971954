"""Settings, laws, networks and data that several tests share."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, TypeVar

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import numpy.typing as npt
from jaxtyping import Array
from pydantic import BaseModel

from steinmetz import registry
from steinmetz.data import noise
from steinmetz.data.quadratic import Quadratic, compress
from steinmetz.potentials import icnn
from steinmetz.potentials.base import Network, Potential, PotentialFile
from steinmetz.potentials.graph import UNIT, Edge, Graph
from steinmetz.potentials.law import Law
from steinmetz.potentials.layered import Layered
from steinmetz.records import Conditions, Observations, Reference

Numbers = npt.NDArray[np.float64]
"""Real numbers of NumPy, of any shape."""

Form = Literal["passthrough", "tied"]
"""Forms of the input-convex network."""

Value = TypeVar("Value")
Model = TypeVar("Model", bound=BaseModel)

# Compressible isotropic hyperelasticity: what its potentials need to know of it.
INPUTS = ("I1", "I2", "J")
REFERENCE = Reference((3.0, 3.0, 1.0), ((2.0, 4.0, 1.0),), ((0.0, 0.0, 1.0),))
# What the graph proves of every law that a convex network can become.
BY_SIGNS = ("objective", "polyconvex", "monotone", "stress-free", "elliptic")
# The same of a law composed of terms, which are polyconvex whatever they grow with.
BY_TERMS = tuple(name for name in BY_SIGNS if name != "monotone")
CONVEX = Conditions(convex=True, increasing=("I1", "I2"), stress_free=True)
FREE = Conditions(convex=False, increasing=(), stress_free=False)

# A posterior and checks of a few seconds, whatever the law.
CHEAP: dict[str, Any] = {
    "infer.method": "svgd",
    "infer.particles": 20,
    "infer.steps": 100,
    "assess.path_points": 50,
    "assess.noise_draws": 50,
    "assess.test_count": 100,
    "assess.certificate_states": 500,
    "assess.across": False,
}

# The same with a law that is carved from a small network.
QUICK: dict[str, Any] = {
    "potential.name": "icnn",
    "potential.widths": [6, 6],
    "sparsify.restarts": 2,
    "sparsify.steps": 600,
    "sparsify.stride": 100,
    "sparsify.penalties": 2,
    "sparsify.max_parameters": 24,
    "sparsify.beam": 2,
    "sparsify.candidates": 2,
    **CHEAP,
}

# Header and one row of a table of full tensors.
STATE = "F11,F12,F13,F21,F22,F23,F31,F32,F33"
ROW = "1.1,0,0,0,1,0,0,0,1"


def present(value: Value | None) -> Value:
    """A value that must be there."""
    assert value is not None
    return value


def defaults(kind: type[Model], **changes: object) -> Model:
    """Settings of a plug-in; its class names itself, the class of all plug-ins cannot."""
    return kind.model_validate(changes)


def partial(kind: type[Model], **fields: Any) -> Model:
    """A record that has nothing but these fields."""
    return kind.model_construct(**fields)


def mooney_rivlin_stress(F: Numbers) -> Numbers:
    """S of c1 = 0.5, c2 = 0.2, κ = 2, written with nothing of the package."""
    C, J = F.T @ F, np.linalg.det(F)
    volumetric = -2 * (0.5 + 2 * 0.2) / J + 2 * (J - 1)
    shear = 2 * 0.5 * np.eye(3) + 2 * 0.2 * (np.trace(C) * np.eye(3) - C)
    return np.asarray(shear + volumetric * J * np.linalg.inv(C))


def mooney_rivlin_table(path: Path, seed: int, rows: int, noise: float, blank: float) -> None:
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


def graph(
    edges: Sequence[Edge],
    activations: tuple[str, ...] = ("softplus",),
    signs: tuple[bool, ...] | None = None,
    inputs: tuple[str, ...] = INPUTS,
) -> Graph:
    """A graph with as many parameters as its edges name, of free signs unless given."""
    count = 1 + max(edge.parameter for edge in edges)
    signs = (False,) * count if signs is None else signs
    return Graph(inputs=inputs, activations=activations, edges=tuple(edges), nonnegative=signs)


def readme_law() -> Law:
    """Ψ = 1.107 I1 + 8.505 softplus(0.04535 I1 + 0.1365 I2 − 1.793 J): finite at zero volume."""
    return small_law((0.04535, 0.1365, -1.793, 1.107, 8.505))


def neo_hooke(shear: float = 1.0, barrier: float = 1.0, bulk: float = 2.0) -> Law:
    """Ψ = ½μ I1 − b log J + ½κ J²; the normalisation makes the last ½κ (J − 1)²."""
    edges = (Edge(3, 2, UNIT), Edge(4, 2, UNIT), Edge(5, 0, 0), Edge(5, 3, 1), Edge(5, 4, 2))
    values = jnp.array([shear / 2, barrier, bulk / 2])
    return Law(graph(edges, ("neglog", "square")), values, REFERENCE)


def small_law(values: tuple[float, ...] = (0.05, 0.1, -1.5, 1.0, 6.0)) -> Law:
    """Ψ = 1.0 I1 + 6.0 softplus(0.05 I1 + 0.1 I2 − 1.5 J)."""
    edges = (Edge(3, 0, 0), Edge(3, 1, 1), Edge(3, 2, 2), Edge(4, 0, 3), Edge(4, 3, 4))
    signs = (True, True, False, True, True)
    return Law(graph(edges, signs=signs), jnp.array(values), REFERENCE)


def nested_law() -> Law:
    """Ψ = 0.7 I1 + softplus(0.5 I1 + 3 softplus(−2 J))."""
    edges = (Edge(3, 2, 0), Edge(4, 0, 1), Edge(4, 3, 2), Edge(5, 0, 3), Edge(5, 4, 4))
    nested = graph(edges, ("softplus",) * 2, (False, True, True, True, True))
    return Law(nested, jnp.array([-2.0, 0.5, 3.0, 0.7, 1.0]), REFERENCE)


def square_law() -> Law:
    """Ψ = 2 (a + 0.5 b)² + 3 softplus(1.5 a)."""
    edges = (Edge(2, 0, UNIT), Edge(2, 1, 0), Edge(3, 0, 1), Edge(4, 2, 2), Edge(4, 3, 3))
    squared = graph(edges, ("square", "softplus"), inputs=("a", "b"))
    return Law(squared, jnp.array([0.5, 1.5, 2.0, 3.0]), Reference((0.0, 0.0)))


def convex_network(widths: tuple[int, ...] = (8, 8), form: Form = "passthrough") -> Layered:
    """The input-convex network for hyperelasticity."""
    return icnn.build(icnn.Config(form=form, widths=widths), INPUTS, CONVEX)


def potential(
    name: str, changes: Mapping[str, object] | None = None, conditions: Conditions | None = None
) -> Network:
    """A small network of any potential, under the conditions that suit it unless given."""
    module = registry.load_as("potentials", name, PotentialFile)
    small = {"widths": (4, 3)} if "widths" in module.Config.model_fields else {}
    conditions = conditions or (CONVEX if module.CONVEX else FREE)
    settings = defaults(module.Config, **{**small, **(changes or {})})
    network = module.build(settings, INPUTS, conditions)
    assert isinstance(network, Network)
    return network


def admissible(network: Network, seed: int = 0) -> Array:
    """Random weights with the signs that the network demands."""
    theta = network.initial(jax.random.key(seed))
    return jnp.where(jnp.asarray(network.nonnegative), jnp.abs(theta), theta)


def near_reference(count: int, seed: int = 1, spread: float = 0.2) -> Array:
    """Invariants around the undeformed state."""
    return jnp.array(REFERENCE.point) + spread * jax.random.normal(jax.random.key(seed), (count, 3))


def weighted(observations: Observations) -> Quadratic:
    """Residuals in units of the noise, judged by the data themselves."""
    return compress(observations, noise.deviation(observations, observations.values, 0.02))


def random_data(sizes: tuple[float, ...] = (0.1, 0.05, 2.0), count: int = 12) -> Observations:
    """Data of no material: random stress maps of inputs of very different sizes."""
    first, second, third = jax.random.split(jax.random.key(0), 3)
    inputs = jax.random.normal(first, (count, 3)) * jnp.array(sizes)
    operator, shape = jax.random.normal(second, (count, 4, 3)), (count, 4)
    values = 3.0 + jax.random.normal(third, shape)
    relative, absolute = jnp.full(shape, 0.1), jnp.zeros(shape)
    seen = jnp.ones(shape, bool).at[0, 0].set(False)
    state, names = np.asarray(inputs), ("P1", "P2", "P3", "P4")
    return Observations(state, inputs, operator, values, seen, absolute, relative, names)


class Formula(Potential):
    """A potential Ψ(θ, I1, I2, J) with two parameters, written as a function."""

    inputs: tuple[str, ...] = eqx.field(static=True)
    nonnegative: tuple[bool, ...] = eqx.field(static=True)
    formula: Callable[[Array, Array], Array] = eqx.field(static=True)

    def __init__(self, formula: Callable[[Array, Array], Array]) -> None:
        self.inputs, self.nonnegative, self.formula = INPUTS, (True, True), formula

    def energy(self, theta: Array, x: Array) -> Array:
        """Ψ(θ, x)."""
        return self.formula(theta, x)


def split(theta: Array, x: Array) -> Array:
    """μ/2 (Ī1 − 3) + κ/4 (J² − 1 − 2 log J)."""
    J = x[2]
    volume: Array = theta[1] / 4 * (J**2 - 1 - 2 * jnp.log(J))
    return theta[0] / 2 * (x[0] * J ** (-2 / 3) - 3) + volume


def coupled(theta: Array, x: Array) -> Array:
    """μ/2 (I1 − 3) − μ log J + λ/4 (J² − 1 − 2 log J)."""
    J = x[2]
    volume: Array = theta[1] / 4 * (J**2 - 1 - 2 * jnp.log(J))
    return theta[0] / 2 * (x[0] - 3) - theta[0] * jnp.log(J) + volume


def lame(young: float, poisson: float) -> tuple[float, float]:
    """μ and λ from Young's modulus and Poisson's ratio."""
    return (young / 2 / (1 + poisson), young * poisson / (1 + poisson) / (1 - 2 * poisson))
