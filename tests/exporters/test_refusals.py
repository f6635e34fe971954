"""What an exporter cannot hold it refuses in words; what it holds it documents in the file."""

import jax.numpy as jnp
import pytest

from cases import INPUTS, square_law
from export_cases import LAWS, composed
from steinmetz import registry
from steinmetz.errors import InputError
from steinmetz.exporters import base
from steinmetz.exporters.program.comments import provenance
from steinmetz.potentials.law import Law
from steinmetz.potentials.mechanics import Term

SOLVERS = (
    *("c", "python", "jax", "felupe", "ufl", "mfront"),
    *("fortran_umat", "fortran_uhyper", "calculix"),
)
ABOUT = base.About("isotropic", "rubber", "MPa", "7")


@pytest.mark.parametrize("target", SOLVERS)
def test_laws_of_other_inputs_are_refused(target: str) -> None:
    with pytest.raises(InputError, match=f"'{target}' holds isotropic laws of I1, I2, J"):
        base.load(target).export(square_law())


@pytest.mark.parametrize("target", SOLVERS)
def test_a_file_says_what_it_is(target: str) -> None:
    law = LAWS["softplus"]()
    text = base.load(target).export(law, ABOUT)
    text.encode("ascii")
    assert provenance(law, ABOUT) in text
    assert "rubber" in text
    assert "MPa" in text
    assert "Draw 7" in text
    for value in law.values.tolist():
        assert f"{value:.17g}" in text


def test_the_hash_is_of_law_and_origin() -> None:
    law = LAWS["softplus"]()
    moved = Law(law.graph, law.values.at[0].multiply(1 + 1e-15), law.reference)
    assert provenance(law, ABOUT) == provenance(LAWS["softplus"](), ABOUT)
    assert provenance(law, ABOUT) != provenance(moved, ABOUT)
    assert provenance(law, ABOUT) != provenance(law, base.NOBODY)


def test_calculix_takes_so_many_constants() -> None:
    many = composed([1.0] * 22, *(Term("norm", (1.0 + n, 0.0)) for n in range(22)))
    with pytest.raises(InputError, match="21 constants at most, this law has 22"):
        base.load("calculix").export(many)


@pytest.mark.parametrize("target", ["fortran_umat", "fortran_uhyper", "calculix"])
@pytest.mark.parametrize("name", LAWS)
def test_lines_of_fortran_fit(target: str, name: str) -> None:
    text = base.load(target).export(LAWS[name](), ABOUT)
    assert max(map(len, text.splitlines())) <= 72
    assert "@" not in text


def test_an_incompressible_law_gets_a_bulk_modulus() -> None:
    text = base.load("fortran_umat").export(LAWS["incompressible"]())
    assert "K, bulk modulus, not of the law" in text
    assert "NPROPS .NE. 5" in text


def test_hyphens_name_exporters_too() -> None:
    assert base.load("fortran-umat") is base.load("fortran_umat")
    assert set(SOLVERS) < set(registry.names("exporters"))


def test_sympy_builds_the_closed_form() -> None:
    from compilers import module

    law = LAWS["softplus"]()
    psi = module("sympy", law).psi
    at = jnp.array([[3.4, 3.2, 1.1]])
    values = {symbol: at[0, INPUTS.index(symbol.name)].item() for symbol in psi.free_symbols}
    assert float(psi.subs(values)) == pytest.approx(law.energy(at).item(), rel=1e-12)
