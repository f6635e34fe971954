"""The noisy Stein method that suits the dimension: Stein–Newton up to 100, stochastic SVGD above."""

from typing import ClassVar, Literal

from pydantic import Field

from steinmetz.infer.base import Capabilities, Choice, Settings, settings_of

# Parameters up to which a curvature per particle pays: its Cholesky factor grows with their cube.
LARGEST = 100


class Config(Settings):
    """What both methods share; what is not given is the chosen method's default."""

    capabilities: ClassVar[Capabilities] = Capabilities(snapshots=True)
    method: Literal["auto"] = "auto"
    particles: int = Field(50, ge=1, le=5000, description="laws that move together")
    warm_up: int | None = Field(None, ge=0, description="steps before the first snapshot")
    steps: int | None = Field(None, ge=1, description="steps after the warm-up")
    thin: int | None = Field(
        None,
        ge=1,
        description="steps between two snapshots of the particles, all of which are kept",
    )
    batch: int | None = Field(
        None, ge=1, description="data drawn anew for every step; all of them if not given"
    )

    def chosen(self, dimension: int) -> Choice:
        """Stochastic SVGD where it must be, Stein–Newton else: its noise keeps the variance."""
        shared = self.model_dump(exclude={"method"}, exclude_none=True)
        noisy = "stochastic SVGD, because"
        if self.batch is not None:
            return Choice(settings_of("ssvgd")(**shared), f"{noisy} the data come in batches")
        if dimension > LARGEST:
            reason = f"{noisy} {dimension} parameters are too many for a curvature per particle"
            return Choice(settings_of("ssvgd")(**shared), f"{reason} (limit {LARGEST})")
        reason = f"{dimension} parameters allow a curvature per particle (limit {LARGEST})"
        return Choice(
            settings_of("ssvn")(**shared),
            f"stochastic Stein–Newton, because {reason}; its noise keeps the variance plain SVGD loses",
        )
