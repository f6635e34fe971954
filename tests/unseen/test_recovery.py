"""Textbook laws are found again: name, structure and parameters."""

from collections.abc import Callable

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jaxtyping import Array

import steinmetz
from cases import Numbers
from steinmetz.engine.problem import Problem, prepare
from steinmetz.exporters.names import textbook
from steinmetz.materials.principal import power_sum
from steinmetz.potentials import vocabulary
from steinmetz.potentials.law import Law
from steinmetz.records import Observations
from steinmetz.sparsify.compose import Wanted, compose

Energy = Callable[[Array, Array], Array]
Parameters = dict[str, float]


def ogden(I1: Array, I2: Array) -> Array:
    """Two terms, α = 1.3 and 5."""
    x = (I1, I2, jnp.ones_like(I1))
    first: Array = 0.6 / 1.3 * power_sum(jnp, 0.65, x)
    second: Array = 0.002 / 5 * power_sum(jnp, 2.5, x)
    return first + second


def arruda_boyce(I1: Array, I2: Array) -> Array:
    """Five terms of the series, chains that lock at 2.8."""
    weights = (1 / 2, 1 / 20, 11 / 1050, 19 / 7000, 519 / 673750)
    parts = [c / 2.8 ** (2 * i - 2) * I1**i for i, c in enumerate(weights, 1)]
    return jnp.sum(jnp.stack(parts))


# Energy, name and parameters; stretches up to which the three tests must go to determine the law.
LAWS: dict[str, tuple[Energy, str, Parameters, tuple[float, float, float]]] = {
    "neo-Hooke": (lambda a, b: 0.5 * a, "the neo-Hooke law", {"μ": 1.0}, (3.0, 2.5, 3.0)),
    "Mooney–Rivlin": (
        lambda a, b: 0.4 * a + 0.1 * b,
        "the Mooney–Rivlin law",
        {"C10": 0.4, "C01": 0.1},
        (3.0, 2.5, 3.0),
    ),
    "Yeoh": (
        lambda a, b: 0.5 * (a - 3) + 0.02 * (a - 3) ** 2 + 0.002 * (a - 3) ** 3,
        "Yeoh's law",
        {"C10": 0.5, "C20": 0.02, "C30": 0.002},
        (5.0, 3.5, 4.5),
    ),
    "Gent": (
        lambda a, b: -0.5 * 40 * jnp.log(1 - (a - 3) / 40),
        "Gent's law",
        {"μ": 1.0, "Jm": 40.0},
        (5.8, 4.0, 5.0),
    ),
    "Fung–Demiray": (
        lambda a, b: 0.5 / 0.35 * jnp.exp(0.35 * (a - 3)),
        "the Fung–Demiray law",
        {"μ": 1.0, "b": 0.35},
        (2.5, 2.0, 2.3),
    ),
    "Carroll": (
        lambda a, b: 0.15 * a + 3.1e-7 * a**4 + 0.095 * jnp.sqrt(b),
        "Carroll's law",
        {"a": 0.15, "b": 3.1e-7, "c": 0.095},
        (7.5, 4.5, 5.0),
    ),
    "Arruda–Boyce": (arruda_boyce, "the Arruda–Boyce law", {"μ": 1.0, "λm": 2.8}, (4.5, 3.3, 4.0)),
    "Ogden": (
        ogden,
        "Ogden's law",
        {"μ1": 0.6, "α1": 1.3, "μ2": 0.002, "α2": 5.0},
        (6.0, 4.0, 5.0),
    ),
}
# Laws of compressible bodies: the generating law of a study, its name and parameters.
COMPRESSIBLE: dict[str, tuple[str, Parameters]] = {
    "neo_hooke": ("the neo-Hooke law", {"μ": 1.0, "λ": 2.0}),
    "simo_pister": ("the Simo–Pister law", {"μ": 1.0, "λ": 2.0}),
}
SEEDS = range(5)


@pytest.fixture(scope="module")
def rubber() -> Problem:
    return prepare(jax.random.key(0), steinmetz.study("rubber_tests"))


def three_tests(
    rubber: Problem, energy: Energy, ends: tuple[float, float, float]
) -> tuple[Observations, Numbers]:
    """Forty points of each of three tests, and their clean stress."""
    inputs, operators = [], []
    for block, end in zip(rubber.blocks, ends, strict=True):
        test = block.experiment
        rows = np.linspace(1, end, 41)[1:, None]
        at = test.map(rubber.material, test.states(rows), test.observed)
        inputs.append(at.inputs)
        operators.append(at.operator)
    x, operator = jnp.concatenate(inputs), jnp.concatenate(operators)
    slope = jax.vmap(jax.grad(lambda row: energy(row[0], row[1])))(x)
    clean = jnp.einsum("nci,ni->nc", operator, slope)
    nothing = jnp.zeros(clean.shape)
    observations = rubber.train._replace(
        state=np.zeros((len(x), 9)),
        inputs=x,
        operator=operator,
        values=clean,
        observed=jnp.ones(clean.shape, bool),
        absolute=nothing,
        relative=nothing,
    )
    return observations, np.asarray(clean)


def noisy(observations: Observations, seed: int, relative: float) -> Observations:
    """With noise that is stated as it is; of clean data next to none is."""
    values = np.asarray(observations.values)
    factor = 1 + relative * np.random.default_rng(seed).standard_normal(values.shape)
    stated = jnp.full(values.shape, max(relative, 1e-6))
    return observations._replace(values=jnp.asarray(values * factor), relative=stated)


def found(problem: Problem, observations: Observations) -> Law:
    reference = problem.material.reference
    return compose(observations, reference, Wanted(4, None, True)).laws[0].law(reference)


def misses(law: Law, name: str, expected: Parameters) -> float:
    """The largest relative error of a parameter; infinite if the law is another one."""
    values = np.asarray(law.values)
    known = textbook(law, np.stack([values, values]))
    if known is None or known.name != name or set(known.parameters) != set(expected):
        return float("inf")
    return max(abs(known.parameters[key].map / value - 1) for key, value in expected.items())


def compressible(name: str, seed: int, relative: float) -> tuple[Problem, Observations]:
    changes = {"data.law": name, "seed": seed, "noise.relative": relative}
    problem = prepare(jax.random.key(seed), steinmetz.study("hyperelasticity", changes))
    if relative == 0:
        return problem, noisy(problem.clean(problem.train), seed, 0.0)
    return problem, problem.train


@pytest.mark.parametrize("law", LAWS)
def test_clean_data_give_the_law_itself(law: str, rubber: Problem) -> None:
    energy, name, expected, ends = LAWS[law]
    data = noisy(three_tests(rubber, energy, ends)[0], 0, 0.0)
    assert misses(found(rubber, data), name, expected) < 0.01


@pytest.mark.parametrize("law", COMPRESSIBLE)
def test_clean_tensors_give_the_law_itself(law: str) -> None:
    name, expected = COMPRESSIBLE[law]
    problem, data = compressible(law, 0, 0.0)
    assert misses(found(problem, data), name, expected) < 0.01


@pytest.mark.long
def test_most_laws_are_found_in_noise(rubber: Problem) -> None:
    """5 % noise, five data sets each: at least six of ten laws in all of them, within 10 %."""
    sure = []
    for law, (energy, name, expected, ends) in LAWS.items():
        data = three_tests(rubber, energy, ends)[0]
        errors = [misses(found(rubber, noisy(data, s, 0.05)), name, expected) for s in SEEDS]
        sure += [law] if max(errors) < 0.1 else []
    for law, (name, expected) in COMPRESSIBLE.items():
        errors = [misses(found(*compressible(law, s, 0.05)), name, expected) for s in SEEDS]
        sure += [law] if max(errors) < 0.1 else []
    assert len(sure) >= 6, sure


@pytest.mark.parametrize("relative", [0.0, 0.05])
def test_two_invariants_in_one_argument_are_found(rubber: Problem, relative: float) -> None:
    """5/4 exp(0.3 (I1 − 3) + 0.1 (I2 − 3)): the rates within 1 % clean and 10 % in noise."""

    def energy(a: Array, b: Array) -> Array:
        return 1.25 * jnp.exp(0.3 * (a - 3) + 0.1 * (b - 3))

    data = noisy(three_tests(rubber, energy, (2.2, 1.7, 2.0))[0], 0, relative)
    law = found(rubber, data)
    ((term, coefficient, (rate, _, ratio)),) = law.terms.placed(np.asarray(law.values))
    within = 0.1 if relative else 0.01
    assert term.shape == "exponential"
    assert coefficient == pytest.approx(0.5, rel=within)
    assert rate / (1 + ratio) == pytest.approx(0.3, rel=within)
    assert rate * ratio / (1 + ratio) == pytest.approx(0.1, rel=within)


@pytest.mark.parametrize(
    "relative",
    [pytest.param(0.0, marks=pytest.mark.long), 0.02, pytest.param(0.05, marks=pytest.mark.long)],
)
def test_units_hold_what_no_term_holds(
    rubber: Problem, monkeypatch: pytest.MonkeyPatch, relative: float
) -> None:
    """Fibres that bear from a mean strain on: a bend of I1 and I2 together."""

    def energy(a: Array, b: Array) -> Array:
        return 0.2 * a + 0.4 * jax.nn.softplus(2 * (0.6 * a + 0.4 * b - 6))

    data, clean = three_tests(rubber, energy, (3.6, 2.2, 3.0))

    def missed(law: Law) -> float:
        predicted = np.asarray(law.stress(data.map))
        return float(np.sqrt(np.mean((predicted - clean) ** 2) / np.mean(clean**2)))

    law = found(rubber, noisy(data, 0, relative))
    with_units = missed(law)
    monkeypatch.setattr(vocabulary, "_units", lambda *_: iter(()))
    without = missed(found(rubber, noisy(data, 0, relative)))
    assert "unit" in {term.shape for term in law.terms.terms}
    assert with_units < max(1e-4, relative / 2)
    assert without > 2 * with_units
    assert without > 0.01
