"""The plain network."""

from cases import FREE
from steinmetz.potentials import mlp


def test_paper_network_has_148_weights() -> None:
    assert mlp.build(mlp.Config(), ("e1", "e2", "e6", "c"), FREE).size == 148
