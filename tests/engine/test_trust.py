"""Where a law can be trusted: the band and stability over the plane of two stretches."""

from pathlib import Path

import numpy as np
import pytest

from cases import present
from engine.test_across import STRETCH, rubber
from steinmetz.api import Result
from steinmetz.engine.carved import carve_law
from steinmetz.engine.mixture import mixture_of
from steinmetz.engine.trust import KNOWN, Map, Trust, applies, trust_map
from steinmetz.predict.bands import Bands


@pytest.fixture(scope="module")
def uniaxial(tmp_path_factory: pytest.TempPathFactory) -> Map:
    """The map of a law of uniaxial data alone."""
    study, problem = rubber(tmp_path_factory.mktemp("rubber"), ("uniaxial",))
    assert applies(problem)
    carved = carve_law(study, problem)
    return trust_map(problem, carved.law, mixture_of(study, problem, carved, np.ones(200)))


def test_data_lie_where_the_band_is_narrow(uniaxial: Map) -> None:
    (states,) = uniaxial.measured.values()
    assert states.max() == pytest.approx(STRETCH["uniaxial"])
    np.testing.assert_allclose(states[:, 1], states[:, 0] ** -0.5)
    assert present(uniaxial.found.within) < KNOWN
    assert uniaxial.axis[0] < states.min() < states.max() < uniaxial.axis[-1]


def test_uniaxial_data_leave_equibiaxial_tension_open(uniaxial: Map) -> None:
    known = {row.test: row for row in uniaxial.found.tests}
    tension, both = known["uniaxial tension"], known["equibiaxial tension"]
    assert present(tension.known) > 0.9 * STRETCH["uniaxial"]
    assert (both.known or 1.0) < 0.7 * present(tension.known)
    place = int(np.argmin(np.abs(uniaxial.axis - 2.5)))
    assert uniaxial.width[place, place] > 2 * present(uniaxial.found.within)


def test_only_half_of_the_plane_is_shown_where_faces_may_be_exchanged(uniaxial: Map) -> None:
    assert np.isnan(uniaxial.stable[np.triu_indices(41, 1)[::-1]]).all()
    assert np.isfinite(uniaxial.stable[np.triu_indices(41, 1)]).all()


def test_polyconvex_laws_are_elliptic(uniaxial: Map) -> None:
    assert uniaxial.found.elliptic == 1


def test_full_tensors_have_a_map_of_one_axis_and_the_sides(gent: Result) -> None:
    found = present(gent.trust)
    assert not found.incompressible
    assert np.isfinite(found.stable).all()
    assert present(found.found.within) < 1


def test_a_law_that_softens_is_said_to_lose_stability(tmp_path: Path) -> None:
    study, problem = rubber(tmp_path, ("uniaxial",))
    law = carve_law(study, problem).law
    soft = law.__class__(law.graph, -law.values, law.reference)
    bands = mixture_of(study, problem, carve_law(study, problem), np.ones(50))
    alone = Bands.of(soft, np.asarray(soft.values)[None], bands.noise)
    found = trust_map(problem, soft, alone).found
    assert found.stable == 0
    assert found.elliptic == 0
    assert "lost: uniaxial tension at" in found.sentence


def test_sentence_names_what_is_known() -> None:
    words = Trust(tests=[], within=0.1, stable=1, elliptic=1).sentence
    assert words.startswith("at the states of the data the 95 % band is at most 0.1 of the stress")
    assert "on the whole map" in words
