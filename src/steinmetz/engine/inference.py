"""How a posterior was sampled, as the typed record that summary, screen and checks read."""

from pydantic import Field

from steinmetz.records import Document


class Moments(Document):
    """Mean and standard deviation."""

    mean: float
    sd: float


class Inference(Document):
    """How the posterior was sampled, and how well as far as can be measured."""

    method: str
    reason: str = Field(description="why this method was taken")
    particles: int = Field(description="particles or chains that move side by side")
    snapshots: int
    draws: int
    frozen: list[int] = Field(description="particles that met a density that was not finite")
    steps: int
    direction: float | None = Field(description="how far from rest the ensemble is")
    stopped: str
    totals: dict[str, float] = Field(description="counts of the method, such as divergences")
    discrepancy: float | None = Field(description="kernelised Stein discrepancy")
    expected: float | None = Field(description="its root mean square over exact Gaussian draws")
    variance: tuple[float, float] | None = Field(description="least and largest, over Laplace's")
    mean_variance: float | None
    r_hat: float | None
    bulk: float | None = Field(description="effective draws in the bulk")
    tail: float | None = Field(description="effective draws in the tails")
    noise_factor: Moments | None = None
