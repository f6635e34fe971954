"""The no-U-turn sampler with window adaptation, through blackjax (Hoffman & Gelman 2014; method §5)."""

from typing import Literal

from pydantic import Field

from steinmetz.infer import chains
from steinmetz.infer.base import LogDensity, Sampler, Target


class Config(chains.Chained):
    """Chains and the depth of their trees."""

    method: Literal["nuts"] = "nuts"
    doublings: int = Field(
        10, ge=1, le=15, description="largest number of doublings of a trajectory"
    )


def build(log_density: LogDensity | Target, config: Config) -> Sampler:
    """The reference every other method is judged by."""
    import blackjax

    extra = {"max_num_doublings": config.doublings}
    return chains.sampler(log_density, config, blackjax.nuts, blackjax.nuts.build_kernel(), extra)
