"""The noisy Stein method that suits the number of parameters: Stein–Newton up to 100, stochastic SVGD above."""

from typing import Any, Literal

from jaxtyping import Array
from pydantic import Field

from steinmetz.infer import ssvgd, ssvn
from steinmetz.infer.base import LogDensity, Sampler, Schedule, Settings, Target

LARGEST = 100


class Config(Settings):
    """What both methods share; what is not given is the chosen method's default."""

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

    @property
    def width(self) -> int:
        return self.particles

    @property
    def schedule(self) -> Schedule:
        """That of stochastic SVGD, the longer one; `choose` knows the schedule for a dimension."""
        return choose(self, LARGEST + 1)[1].schedule


def choose(config: Config, dimension: int) -> tuple[Any, Any, str]:
    """Method, its configuration, and why."""
    shared = config.model_dump(exclude={"method", "batch"}, exclude_none=True)
    if config.batch is not None:
        return (
            ssvgd,
            ssvgd.Config(**shared, batch=config.batch),
            "stochastic SVGD, because the data come in batches",
        )
    if dimension > LARGEST:
        reason = f"stochastic SVGD, because {dimension} parameters are too many for a curvature per particle"
        return ssvgd, ssvgd.Config(**shared), f"{reason} (limit {LARGEST})"
    reason = (
        f"stochastic Stein–Newton, because {dimension} parameters allow a curvature per particle"
    )
    return (
        ssvn,
        ssvn.Config(**shared),
        f"{reason} (limit {LARGEST}); its noise keeps the variance plain SVGD loses",
    )


def build(log_density: LogDensity | Target, config: Config) -> Sampler:
    """The chosen method, known as soon as the first positions are seen."""

    def chosen(dimension: int) -> Sampler:
        method, settings, _ = choose(config, dimension)
        return method.build(log_density, settings)

    def init(key: Array, position: Array) -> Any:
        return chosen(position.shape[1]).init(key, position)

    def step(key: Array, state: Any) -> tuple[Any, Any]:
        return chosen(state.particles.shape[1]).step(key, state)

    return Sampler(init, step)
