"""What is printed of a law composed of terms is that law, written from the reference on."""

import jax.numpy as jnp
import numpy as np
import pytest
import sympy
from sympy.parsing.sympy_parser import parse_expr

from cases import INPUTS, REFERENCE, Numbers
from steinmetz.exporters import closed_form, latex, text
from steinmetz.potentials.classical import SHAPES
from steinmetz.potentials.law import Law
from steinmetz.potentials.mechanics import Term, Terms
from steinmetz.potentials.vocabulary import Atom, vocabulary
from steinmetz.records import Reference

ATOMS = {free: vocabulary(reach=(0.8, 1.8), incompressible=free) for free in (False, True)}


def law_of(terms: tuple[Term, ...], values: list[float], incompressible: bool = False) -> Law:
    reference = Reference((3.0, 3.0)) if incompressible else REFERENCE
    inputs = INPUTS[:2] if incompressible else INPUTS
    return Law(Terms(inputs, terms), jnp.asarray(values), reference)


def law_with(atoms: list[Atom], incompressible: bool = False) -> Law:
    values: list[float] = []
    for number, atom in enumerate(atoms):
        excess = atom.term.excess(atom.constants)
        values += [0.7 + 0.01 * number, *excess]
    return law_of(tuple(atom.term for atom in atoms), values, incompressible)


def states(incompressible: bool) -> tuple[Numbers, dict[str, Numbers]]:
    """Inputs at random states with J < e, and everything a printed law may name there."""
    stretch = np.random.default_rng(1).uniform(0.8, 1.2, (30, 3))
    if incompressible:
        stretch /= stretch.prod(axis=1, keepdims=True) ** (1 / 3)
    squares, J = stretch**2, stretch.prod(axis=1)
    x = np.stack([squares.sum(axis=1), J**2 * (1 / squares).sum(axis=1), J], axis=1)
    known = dict(zip(INPUTS, x.T, strict=True))
    known |= {f"lambda{i + 1}": stretch[:, i] for i in range(3)}
    return x[:, : 2 if incompressible else 3], known


def read(line: str, known: dict[str, Numbers]) -> Numbers:
    """The numbers that a printed line gives."""
    symbols = {name: sympy.Symbol(name, positive=True) for name in known}
    form = parse_expr(line.removeprefix("Ψ = "), local_dict=symbols)
    return np.asarray(sympy.lambdify(list(symbols.values()), form)(*known.values()))


def shape_of(atom: Atom) -> str:
    return atom.term.shape


@pytest.mark.parametrize("incompressible", [False, True])
@pytest.mark.parametrize("shape", SHAPES)
def test_every_shape_is_printed_as_it_predicts(shape: str, incompressible: bool) -> None:
    x, known = states(incompressible)
    near = x[:, 0] > 3  # (I1 - 3)^k is that of its positive part
    known = {name: values[near] for name, values in known.items()}
    atoms = [atom for atom in ATOMS[incompressible] if shape_of(atom) == shape]
    for atom in [*atoms[:3], *atoms[-3:]]:
        law = law_with([atom], incompressible)
        energy = np.asarray(law.energy(jnp.asarray(x[near])))
        size = np.abs(energy).max()
        np.testing.assert_allclose(
            read(text.export(law, digits=17), known),
            energy,
            atol=1e-12 * max(size, 1.0),
            err_msg=str(atom),
        )


def test_a_law_of_many_terms_is_printed_as_it_predicts() -> None:
    law = law_with(ATOMS[False][::9])
    x, known = states(incompressible=False)
    near = x[:, 0] > 3
    known = {name: values[near] for name, values in known.items()}
    energy = np.asarray(law.energy(jnp.asarray(x[near])))
    np.testing.assert_allclose(read(text.export(law, digits=17), known), energy, rtol=1e-11)
    symbols = {name: sympy.Symbol(name, real=True) for name in INPUTS}
    at_rest = {symbols[name]: 3 - 2 * (name == "J") for name in INPUTS}
    at_rest |= dict.fromkeys(closed_form.expression(law).free_symbols - at_rest.keys(), 1)
    assert abs(closed_form.expression(law).subs(at_rest)) < 1e-10


FORMS = [
    (
        (Term("norm", (2.0, 0.0), True), Term("volume square", (0.0, 0.0))),
        [0.21, 0.9],
        "0.21*(I1 - 3) - 0.42*log(J) + 0.9*(J - 1)**2",
        r"0.21 \left(I_{1} - 3\right) - 0.42 \log{\left(J \right)} + 0.9 \left(J - 1\right)^{2}",
    ),
    (
        (Term("norm", (4.0, 0.0)), Term("cofactor", (1.0, 0.0), True)),
        [0.6, 0.1],
        "0.6*(I1 - 3) + 0.1*(I1 - 3)**2 + 0.6*(sqrt(I2/3) - 1) - 0.4*log(J) - 1.2*(J - 1)",
        r"0.6 \left(I_{1} - 3\right) + 0.1 \left(I_{1} - 3\right)^{2}"
        r" + 0.6 \left(\sqrt{\frac{I_{2}}{3}} - 1\right)"
        r" - 0.4 \log{\left(J \right)} - 1.2 \left(J - 1\right)",
    ),
    (
        (Term("locking", (1.0, 2 / 3), free=(0,)), Term("volume pair", (5.0, 0.0))),
        [0.5, 1.5, 2.0],
        "-1.25*log(1 - (I1/J**(2/3) - 3)/2.5) + 0.08*(J**5 + J**(-5) - 2)",
        r"-1.25 \log{\left(1 - \frac{\frac{I_{1}}{J^{\frac{2}{3}}} - 3}{2.5} \right)}"
        r" + 0.08 \left(J^{5} + \frac{1}{J^{5}} - 2\right)",
    ),
    (
        (Term("exponential", (1.0, 0.0), True), Term("log", (0.0, 0.0))),
        [0.5, 1.0],
        "0.5*(exp(I1 - 3) - 1) - 2.0*log(J) + 1.0*(J - 1)",
        r"0.5 \left(e^{I_{1} - 3} - 1\right) - 2.0 \log{\left(J \right)} + 1.0 \left(J - 1\right)",
    ),
]  # fmt: skip


@pytest.mark.parametrize(("terms", "values", "line", "typeset"), FORMS)
def test_forms_that_people_read(
    terms: tuple[Term, ...], values: list[float], line: str, typeset: str
) -> None:
    law = law_of(terms, values)
    assert text.export(law) == f"Ψ = {line}"
    assert latex.export(law) == r"\hat{\Psi} = " + typeset


def test_without_volume_nothing_is_said_of_it() -> None:
    law = law_of((Term("norm", (2.0, 0.0)), Term("cofactor", (2.0, 0.0))), [0.3, 0.1], True)
    assert text.export(law) == "Ψ = 0.3*(I1 - 3) + 0.1*(I2 - 3)"
