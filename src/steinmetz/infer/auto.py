"""The noisy Stein method that suits the dimension: `ssvn` up to 100, `ssvgd` above.

It never runs itself: `Config.chosen` hands over the settings of the method it takes, and with them
that method's capabilities and checks.
"""

from typing import ClassVar, Literal

from pydantic import Field, ValidationError, model_validator

from steinmetz.infer.base import Capabilities, Choice, settings_of
from steinmetz.infer.particles import Batched

# Parameters up to which a curvature per particle pays: its Cholesky factor grows with their cube.
LARGEST = 100


class Config(Batched):
    """What both methods share; what is not given is the chosen method's default."""

    capabilities: ClassVar[Capabilities] = Capabilities(snapshots=True)
    method: Literal["auto"] = "auto"
    particles: int = Field(50, ge=1, le=5000, description="laws that move together")
    warm_up: int | None = Field(None, ge=0, description="steps before the first snapshot")
    steps: int | None = Field(None, ge=1, description="steps after the warm-up")
    thin: int | None = Field(None, ge=1, description="steps between two snapshots of the particles")

    @model_validator(mode="after")
    def _suits(self) -> "Config":
        """What the method for few parameters refuses is refused here, before all computing."""
        try:
            self.chosen(1)
        except ValidationError as error:
            raise ValueError(error.errors()[0]["msg"].removeprefix("Value error, ")) from None
        return self

    def chosen(self, dimension: int) -> Choice:
        """Stein–Newton, whose moves are exact; stochastic SVGD for batches and many parameters."""
        name, label, limit = "ssvgd", "stochastic SVGD", f"(limit {LARGEST})"
        if self.batch is not None:
            reason = "the data come in batches"
        elif dimension > LARGEST:
            reason = f"{dimension} parameters are too many for a curvature per particle {limit}"
        else:
            name, label = "ssvn", "stochastic Stein–Newton"
            reason = f"{dimension} parameters allow a curvature per particle {limit}; its noise "
            reason += "keeps the variance plain SVGD loses"
        shared = self.model_dump(exclude={"method"}, exclude_none=True)
        return Choice(settings_of(name)(**shared), f"{label}, because {reason}")
