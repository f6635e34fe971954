"""A law that textbooks have gets its name and its parameters, a near miss gets none."""

from collections.abc import Callable, Mapping

import jax.numpy as jnp
import numpy as np
import pytest

from cases import INPUTS, REFERENCE, Numbers, present
from steinmetz.assess.bands import Band
from steinmetz.exporters.names import Textbook, recognise, textbook
from steinmetz.potentials.classical import SHAPES
from steinmetz.potentials.law import Law
from steinmetz.potentials.mechanics import Term, Terms
from steinmetz.records import Reference

Energy = Callable[[Mapping[str, float], Numbers, Numbers, Numbers], Numbers]

SQUARE, LOG, LOG_SQUARE = (Term(n, (0.0, 0.0)) for n in ("volume square", "log", "log square"))
PAIR = Term("volume pair", (5.0, 0.0))


def norm(a: float, q: float = 0.0, barrier: bool = False, free: tuple[int, ...] = ()) -> Term:
    return Term("norm", (a, q), barrier, free)


def cofactor(a: float, q: float = 0.0, barrier: bool = False, free: tuple[int, ...] = ()) -> Term:
    return Term("cofactor", (a, q), barrier, free)


def law_of(terms: tuple[Term, ...], incompressible: bool = False, seed: int = 0) -> Law:
    """Terms with random coefficients and excesses."""
    inputs = INPUTS[:2] if incompressible else INPUTS
    graph = Terms(inputs, terms)
    values = np.random.default_rng(seed).uniform(0.2, 1.5, graph.size)
    reference = Reference((3.0, 3.0)) if incompressible else REFERENCE
    return Law(graph, jnp.asarray(values), reference)


def known(law: Law) -> Textbook:
    return present(textbook(law, np.asarray(law.values)[None] * np.array([[0.9], [1.1]])))


def states(incompressible: bool) -> Numbers:
    stretch = np.random.default_rng(1).uniform(0.85, 1.15, (20, 3))
    if incompressible:
        stretch /= stretch.prod(axis=1, keepdims=True) ** (1 / 3)
    squares, J = stretch**2, stretch.prod(axis=1)
    return np.stack([squares.sum(axis=1), J**2 * (1 / squares).sum(axis=1), J], axis=1)


def bar(I1: Numbers, J: Numbers) -> Numbers:
    return I1 / J ** (2 / 3)


def gent(p: Mapping[str, float], y: Numbers) -> Numbers:
    return -p["μ"] * p["Jm"] / 2 * np.log(1 - y / p["Jm"])


def yeoh(p: Mapping[str, float], I1: Numbers) -> Numbers:
    return sum((p.get(f"C{k}0", 0.0) * (I1 - 3) ** k for k in (1, 2, 3)), np.zeros_like(I1))


def lopez_pamies(mu: float, alpha: float, I1: Numbers) -> Numbers:
    return np.asarray(3 ** (1 - alpha) / (2 * alpha) * mu * (I1**alpha - 3**alpha))


# Terms, name, and the textbook's formula for a material that cannot change its volume.
SHEAR: list[tuple[tuple[Term, ...], str, Energy]] = [
    ((norm(2),), "the neo-Hooke law", lambda p, a, b, J: p["μ"] / 2 * (a - 3)),
    (
        (cofactor(2), norm(2)),
        "the Mooney–Rivlin law",
        lambda p, a, b, J: p["C10"] * (a - 3) + p["C01"] * (b - 3),
    ),
    ((norm(2), norm(4), norm(6)), "Yeoh's law", lambda p, a, b, J: yeoh(p, a)),
    ((norm(2), Term("power", (2.0, 0.0))), "Yeoh's law", lambda p, a, b, J: yeoh(p, a)),
    ((norm(4), Term("power", (3.0, 0.0))), "Yeoh's law", lambda p, a, b, J: yeoh(p, a)),
    (
        (norm(4), norm(2), cofactor(2)),
        "Isihara's law",
        lambda p, a, b, J: yeoh(p, a) + p["C01"] * (b - 3),
    ),
    (
        (norm(6), norm(2), cofactor(2)),
        "Biderman's law",
        lambda p, a, b, J: yeoh(p, a) + p["C01"] * (b - 3),
    ),
    (
        (Term("locking", (1.0, 0.0), free=(0,)),),
        "Gent's law",
        lambda p, a, b, J: gent(p, a - 3),
    ),
    (
        (Term("exponential", (0.0, 0.0), free=(0,)),),
        "the Fung–Demiray law",
        lambda p, a, b, J: p["μ"] / (2 * p["b"]) * np.expm1(p["b"] * (a - 3)),
    ),
    (
        (norm(2), norm(8), cofactor(1)),
        "Carroll's law",
        lambda p, a, b, J: (
            p["a"] * (a - 3) + p["b"] * (a**4 - 81) + p["c"] * (np.sqrt(b) - np.sqrt(3))
        ),
    ),
    (
        (norm(1, free=(0,)),),
        "the Lopez-Pamies law",
        lambda p, a, b, J: lopez_pamies(p["μ"], p["α"], a),
    ),
    (
        (norm(1, free=(0,)), norm(8)),
        "the Lopez-Pamies law",
        lambda p, a, b, J: (
            lopez_pamies(p["μ1"], p["α1"], a) + lopez_pamies(p["μ2"], p["α2"], a)
        ),
    ),
    (
        (norm(6), cofactor(3)),
        "the Hartmann–Neff law",
        lambda p, a, b, J: p["α"] * (a**3 - 27) + p["c01"] * (b**1.5 - 27**0.5),
    ),
]  # fmt: skip


@pytest.mark.parametrize(("terms", "name", "energy"), SHEAR)
def test_textbook_parameters_give_the_same_energy(
    terms: tuple[Term, ...], name: str, energy: Energy
) -> None:
    law, x = law_of(terms, incompressible=True), states(incompressible=True)
    found = known(law)
    assert (found.name, found.whole, found.volume) == (name, True, None)
    numbers = {symbol: each.map for symbol, each in found.parameters.items()}
    own = law.energy(jnp.asarray(x[:, :2]))
    np.testing.assert_allclose(energy(numbers, *x.T), own, rtol=1e-10, atol=1e-12)
    assert found.sentence.startswith(f"This is {name}: ")


# The same with a volume: terms, name, formula of the volume part, and the whole energy.
VOLUME: list[tuple[tuple[Term, ...], str, str, Energy]] = [
    (
        (norm(2, barrier=True), LOG_SQUARE),
        "the Simo–Pister law",
        "-μ log J + λ/2 (log J)²",
        lambda p, a, b, J: (
            p["μ"] / 2 * (a - 3) - p["μ"] * np.log(J) + p["λ"] / 2 * np.log(J) ** 2
        ),
    ),
    (
        (norm(2, barrier=True), SQUARE),
        "the neo-Hooke law",
        "-μ log J + λ/2 (J - 1)²",
        lambda p, a, b, J: p["μ"] / 2 * (a - 3 - 2 * np.log(J)) + p["λ"] / 2 * (J - 1) ** 2,
    ),
    (
        (norm(2), SQUARE),
        "the neo-Hooke law",
        "-μ (J - 1) + λ/2 (J - 1)²",
        lambda p, a, b, J: p["μ"] / 2 * (a - 3 - 2 * (J - 1)) + p["λ"] / 2 * (J - 1) ** 2,
    ),
    (
        (norm(2, barrier=True),),
        "the neo-Hooke law",
        "-μ log J",
        lambda p, a, b, J: p["μ"] / 2 * (a - 3 - 2 * np.log(J)),
    ),
    (
        (norm(2, 2 / 3), LOG),
        "the neo-Hooke law",
        "κ (J - 1 - log J)",
        lambda p, a, b, J: p["μ"] / 2 * (bar(a, J) - 3) + p["κ"] * (J - 1 - np.log(J)),
    ),
    (
        (norm(2, barrier=True), cofactor(2, barrier=True), SQUARE),
        "the Mooney–Rivlin law",
        "-(2 C10 + 4 C01) log J + λ/2 (J - 1)²",
        lambda p, a, b, J: (
            p["C10"] * (a - 3) + p["C01"] * (b - 3)
            - (2 * p["C10"] + 4 * p["C01"]) * np.log(J) + p["λ"] / 2 * (J - 1) ** 2
        ),
    ),
    (
        (norm(4, barrier=True), norm(2, barrier=True), SQUARE),
        "Yeoh's law",
        "-2 C10 log J + λ/2 (J - 1)²",
        lambda p, a, b, J: (
            yeoh(p, a) - 2 * p["C10"] * np.log(J) + p["λ"] / 2 * (J - 1) ** 2
        ),
    ),
    (
        (Term("exponential", (1.0, 2 / 3)), SQUARE),
        "the Fung–Demiray law",
        "κ/2 (J - 1)²",
        lambda p, a, b, J: (
            p["μ"] / 2 * np.expm1(bar(a, J) - 3) + p["κ"] / 2 * (J - 1) ** 2 + 0 * p["b"]
        ),
    ),
    (
        (Term("locking", (1.0, 2 / 3), free=(0,)), LOG_SQUARE),
        "Gent's law",
        "κ/2 (log J)²",
        lambda p, a, b, J: gent(p, bar(a, J) - 3) + p["κ"] / 2 * np.log(J) ** 2,
    ),
    (
        (norm(6, 2.0), norm(2, 2 / 3), cofactor(3, 2.0), PAIR),
        "the Hartmann–Neff law",
        "κ/50 (J^5 + J^-5 - 2)",
        lambda p, a, b, J: (
            p["α"] * (bar(a, J) ** 3 - 27) + p["c10"] * (bar(a, J) - 3)
            + p["c01"] * ((b / J ** (4 / 3)) ** 1.5 - 27**0.5) + p["κ"] / 50 * (J**5 + J**-5 - 2)
        ),
    ),
    (
        (norm(1, free=(0,), barrier=True), norm(6, barrier=True), SQUARE),
        "the Lopez-Pamies law",
        "-(μ1 + μ2) log J + λ/2 (J - 1)²",
        lambda p, a, b, J: (
            lopez_pamies(p["μ1"], p["α1"], a) + lopez_pamies(p["μ2"], p["α2"], a)
            - (p["μ1"] + p["μ2"]) * np.log(J) + p["λ"] / 2 * (J - 1) ** 2
        ),
    ),
]  # fmt: skip


@pytest.mark.parametrize(("terms", "name", "volume", "energy"), VOLUME)
def test_the_volume_part_has_a_formula_of_its_own(
    terms: tuple[Term, ...], name: str, volume: str, energy: Energy
) -> None:
    law, x = law_of(terms), states(incompressible=False)
    found = known(law)
    assert (found.name, found.whole, found.volume) == (name, True, volume)
    numbers = {symbol: each.map for symbol, each in found.parameters.items()}
    own = law.energy(jnp.asarray(x))
    np.testing.assert_allclose(energy(numbers, *x.T), own, rtol=1e-10, atol=1e-12)


def test_a_volume_part_without_a_name_leaves_that_of_the_shear_part() -> None:
    for more in ((SQUARE, LOG), (Term("volume power", (2.0, 0.0)),), (PAIR,)):
        found = known(law_of((norm(2, barrier=True), *more)))
        assert (found.name, found.volume, found.whole) == ("the neo-Hooke law", None, False)
        assert list(found.parameters) == ["μ"]
        assert found.sentence.startswith("In shear this is the neo-Hooke law: μ = ")
    mixed = known(law_of((norm(2, barrier=True), cofactor(2), SQUARE)))
    assert (mixed.name, mixed.whole) == ("the Mooney–Rivlin law", False)
    assert not known(law_of((norm(2, 2 / 3),))).whole


NEAR_MISSES = [
    (norm(2), norm(8), cofactor(2)),  # Carroll's with I2 in place of its root
    (norm(2), norm(8), cofactor(1), norm(4)),  # and with a term more
    (norm(2), norm(8), cofactor(1, free=(0,))),  # and with an exponent that is only near
    (norm(2), Term("locking", (1.0, 0.0), free=(0,))),  # Gent's with a term more
    (norm(2), cofactor(4)),  # Mooney–Rivlin with I2²
    (norm(2), cofactor(2, free=(0,))),
    (norm(2), norm(4), cofactor(1)),
    (norm(2), norm(1, free=(0,)), norm(8)),  # three powers of I1
    (Term("power", (2.0, 0.0)),),  # Yeoh's without a shear modulus
    (norm(6), cofactor(4)),
    (Term("exponential", (1.0, 0.0)), Term("exponential", (2.0, 0.0))),
    (cofactor(1),),
]


@pytest.mark.parametrize("terms", NEAR_MISSES)
def test_near_misses_have_no_name(terms: tuple[Term, ...]) -> None:
    assert recognise(law_of(terms, incompressible=True)) is None
    assert recognise(law_of((*terms, SQUARE))) is None


@pytest.mark.parametrize(
    "terms",
    [
        (norm(2, 1.0), SQUARE),  # I1/J
        (norm(2, 2 / 3), cofactor(2), SQUARE),  # one invariant isochoric, the other not
        (norm(6), cofactor(3), PAIR),  # Hartmann–Neff with the volume in it
        (Term("exponential", (1.0, 0.5)), SQUARE),
        (norm(2), Term("power", (2.0, 0.0)), SQUARE),  # zero where I1 < 3, Yeoh's is not
        (SQUARE, LOG),  # no shear part at all
        (cofactor(2), SQUARE),
    ],
)
def test_the_power_of_the_volume_matters(terms: tuple[Term, ...]) -> None:
    assert recognise(law_of(terms)) is None


@pytest.mark.skipif("stretches" not in SHAPES, reason="there are no sums over stretches")
def test_sums_over_stretches_are_ogdens() -> None:
    terms = (Term("stretches", (1.0, 0.0), free=(0,)), Term("areas", (3.0, 0.0)))
    law = law_of(terms, incompressible=True)
    found = known(law)
    assert found.name == "Ogden's law"
    p = {symbol: each.map for symbol, each in found.parameters.items()}
    assert p["α2"] == -3
    stretch = np.random.default_rng(1).uniform(0.85, 1.15, (20, 3))
    stretch /= stretch.prod(axis=1, keepdims=True) ** (1 / 3)
    expected = sum(
        p[f"μ{k}"] / p[f"α{k}"] * ((stretch ** p[f"α{k}"]).sum(axis=1) - 3) for k in (1, 2)
    )
    own = law.energy(jnp.asarray(states(incompressible=True)[:, :2]))
    np.testing.assert_allclose(expected, own, rtol=1e-9)
    assert recognise(law_of((*terms, SQUARE))) is None
    assert recognise(law_of((terms[0], norm(3)), incompressible=True)) is None
    squares = law_of((Term("stretches", (2.0, 0.0)),), incompressible=True)
    assert known(squares).name == "the neo-Hooke law"


def test_spread_comes_from_the_draws() -> None:
    law = law_of((Term("locking", (1.0, 0.0), free=(0,)),), incompressible=True)
    draws = np.array([[1.0, 0.5], [2.0, 1.5], [3.0, 1.0]])
    found = present(textbook(law, draws)).parameters
    assert found["μ"].mean == pytest.approx(4)
    assert found["μ"].sd == pytest.approx(2 * np.std([1, 2, 3]))
    assert found["Jm"].mean == pytest.approx(2)
    assert found["Jm"].low == pytest.approx(np.quantile([1.5, 2.5, 2.0], 0.025))
    fixed = law_of((Term("exponential", (2.0, 0.0)),), incompressible=True)
    rate = present(textbook(fixed, np.array([[1.0], [2.0]]))).parameters["b"]
    assert rate == Band(map=2, mean=2, sd=0, low=2, high=2)


def test_networks_have_no_name(printed_law: Law) -> None:
    assert recognise(printed_law) is None
