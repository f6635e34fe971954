"""Hamiltonian Monte Carlo, adapted by windows, of blackjax (Neal 2011; method §5)."""

from typing import Literal

from pydantic import Field

from steinmetz.infer import chains
from steinmetz.infer.base import Sampler, Target

# The paper's one chain of 10⁵ steps, every hundredth kept.
PRESETS = {"paper": {"chains": 1, "steps": 100_000, "thin": 100}}


class Config(chains.Chained):
    """Chains and the length of their trajectories: 10⁵ steps in all, 10³ of them kept."""

    method: Literal["hmc"] = "hmc"
    steps: int = Field(25_000, ge=1, description="steps of every chain after the warm-up")
    thin: int = Field(100, ge=1, description="steps between two draws that are kept")
    leapfrogs: int = Field(10, ge=1, le=10_000, description="leapfrog steps of a trajectory")


def build(target: Target, config: Config) -> Sampler[chains.State]:
    """Fixed trajectories of `leapfrogs` steps."""
    import blackjax

    return chains.sampler(target, config, blackjax.hmc, {"num_integration_steps": config.leapfrogs})
