"""The no-U-turn sampler, adapted by windows, of blackjax (Hoffman & Gelman 2014; method §5).

The reference every other method is judged by: exact in the limit of many steps, and its divergences
tell of places that are too steep for it.
"""

from typing import Literal

from pydantic import Field

from steinmetz.infer import chains
from steinmetz.infer.base import Sampler, Target


class Config(chains.Chained):
    """Chains and the depth of their trees."""

    method: Literal["nuts"] = "nuts"
    doublings: int = Field(10, ge=1, le=15, description="most doublings of a trajectory")


def build(target: Target, config: Config) -> Sampler[chains.State]:
    """Trajectories that double until they turn back."""
    import blackjax

    return chains.sampler(target, config, blackjax.nuts, {"max_num_doublings": config.doublings})
