"""Input-convex neural network with softplus units and no biases (method §2).

Convex in all inputs, non-decreasing in I1 and I2: every weight on a hidden unit and every weight on those inputs is
non-negative; weights on the remaining inputs (J) have either sign.
"""

from itertools import pairwise
from typing import Literal

import equinox as eqx
import jax
import numpy as np
from jaxtyping import Array, Float
from pydantic import BaseModel, ConfigDict, Field, PositiveInt

from steinmetz.errors import InputError
from steinmetz.nouns import Conditions
from steinmetz.potentials.base import Network
from steinmetz.potentials.graph import Edge, Graph


class Config(BaseModel):
    """Shape of the network."""

    model_config = ConfigDict(frozen=True, extra="forbid")
    name: Literal["icnn"] = "icnn"
    form: Literal["passthrough", "tied"] = Field(
        "passthrough",
        description="separate input weights per layer (Amos et al. 2017), or the paper's W(x + h)",
    )
    widths: tuple[PositiveInt, ...] = Field((30, 30), min_length=1, max_length=6, description="units per hidden layer")


class Layer(eqx.Module):
    """Where one layer's weights lie in θ: `hidden` acts on the layer before, `direct` on the inputs (or is empty)."""

    hidden: tuple[int, int, int] = eqx.field(static=True)  # offset, rows, columns
    direct: tuple[int, int, int] = eqx.field(static=True)

    @property
    def end(self) -> int:
        offset, rows, columns = self.direct
        return offset + rows * columns


def _take(theta: Float[Array, "parameters"], place: tuple[int, int, int]) -> Float[Array, "rows columns"]:
    offset, rows, columns = place
    return theta[offset : offset + rows * columns].reshape(rows, columns)


class ICNN(Network):
    """h₁ = softplus(W₁x); passthrough: h_k = softplus(W_k h_{k−1} + V_k x); tied: h_k = softplus(W_k (x + h_{k−1}))."""

    inputs: tuple[str, ...] = eqx.field(static=True)
    nonnegative: tuple[bool, ...] = eqx.field(static=True)
    layers: tuple[Layer, ...] = eqx.field(static=True)
    tied: bool = eqx.field(static=True)

    @property
    def output(self) -> tuple[bool, ...]:
        first = self.layers[-1].hidden[0]
        return tuple(index >= first for index in range(self.size))

    def energy(self, theta: Float[Array, "parameters"], x: Float[Array, "inputs"]) -> Float[Array, ""]:
        hidden = x
        for depth, layer in enumerate(self.layers):
            z = self._total(theta, layer, hidden, x, first=depth == 0)
            hidden = jax.nn.softplus(z)
        return z[0]

    def _total(
        self,
        theta: Array,
        layer: Layer,
        hidden: Float[Array, "units"],
        x: Float[Array, "inputs"],
        first: bool,
    ) -> Float[Array, "rows"]:
        if first:
            return _take(theta, layer.hidden) @ x
        if self.tied:
            return _take(theta, layer.hidden) @ hidden.at[: x.size].add(x)
        return _take(theta, layer.hidden) @ hidden + _take(theta, layer.direct) @ x

    def initial(self, key: Array) -> Float[Array, "parameters"]:
        """Normal weights of variance 1/fan-in; the trainer takes absolute values where the sign is fixed."""
        deviation = np.concatenate([_deviations(layer) for layer in self.layers])
        return jax.random.normal(key, (self.size,)) * deviation

    def graph(self) -> Graph:
        """Every connection of the network as a graph over the same θ."""
        width = len(self.inputs)
        edges: list[Edge] = []
        before, start = range(width), width
        for depth, layer in enumerate(self.layers):
            offset, rows, columns = layer.hidden
            direct_offset, _, direct_columns = layer.direct
            for row in range(rows):
                node = start + row
                edges += [Edge(node, before[c], offset + row * columns + c) for c in range(columns)]
                if self.tied and depth > 0:
                    edges += [Edge(node, c, offset + row * columns + c) for c in range(width)]
                edges += [Edge(node, c, direct_offset + row * width + c) for c in range(direct_columns)]
            before, start = range(start, start + rows), start + rows
        units = sum(layer.hidden[1] for layer in self.layers[:-1])
        return Graph(
            inputs=self.inputs,
            activations=("softplus",) * units,
            edges=tuple(edges),
            nonnegative=self.nonnegative,
        )


def _deviations(layer: Layer) -> np.ndarray:
    (_, rows, columns), (_, _, direct) = layer.hidden, layer.direct
    return np.full(rows * (columns + direct), 1 / np.sqrt(columns + direct))


def build(config: Config, inputs: tuple[str, ...], conditions: Conditions) -> ICNN:
    """Lay out θ layer by layer and declare its signs."""
    tied = config.form == "tied"
    if tied and min(config.widths) < len(inputs):
        raise InputError(f"the tied form needs potential.widths of at least {len(inputs)}, got {config.widths}")
    sizes = (len(inputs), *config.widths, 1)
    free = np.array([name not in conditions.increasing for name in inputs])
    layers, signs, offset = [], [], 0
    for depth, (columns, rows) in enumerate(pairwise(sizes)):
        direct = 0 if tied or depth == 0 else len(inputs)
        layer = Layer((offset, rows, columns), (offset + rows * columns, rows, direct))
        acts_on_inputs = np.tile(~free, rows)
        signs.append(acts_on_inputs if depth == 0 else np.ones(rows * columns, bool))
        signs.append(acts_on_inputs if direct else np.ones(0, bool))
        layers.append(layer)
        offset = layer.end
    return ICNN(inputs, tuple(bool(s) for s in np.concatenate(signs)), tuple(layers), tied)


__all__ = ["ICNN", "Config", "build"]
