"""From experiments to `Observations`: synthetic data of a generating law, several blocks as one.

Blocks of data that were observed in different ways are fitted jointly: their rows stand below each
other, with a column for every component that any of them observed and a mask where one did not.
"""

from collections.abc import Sequence

import numpy as np
from jaxtyping import Array, Shaped

from steinmetz import host
from steinmetz.data import noise
from steinmetz.experiments.base import Experiment, Rows
from steinmetz.materials.base import Material
from steinmetz.records import Observations, Segment, StressMap, Truth, ValidationPath

# Fields of `Observations` with a column per component.
_PER_COMPONENT = ("operator", "values", "observed", "absolute", "relative")


def clean(material: Material, experiment: Experiment, truth: Truth, rows: Rows) -> Observations:
    """What a generating law gives at the rows of a test, without noise."""
    state = experiment.states(rows)
    at = experiment.map(material, state, experiment.observed)
    values = truth.stress(material.reference, at)
    nothing = host.held(np.zeros(values.shape))
    everything = host.held(np.ones(values.shape, bool))
    parts = (values, everything, nothing, nothing, experiment.observed)
    return Observations(state, at.inputs, at.operator, *parts)


def noisy(key: Array, observations: Observations, config: noise.Config) -> Observations:
    """Clean observations with noise drawn on top, and the deviations that are stated of it."""
    shape = observations.values.shape
    relative, absolute = (host.held(np.full(shape, size)) for size in config.numbers)
    drawn = (host.held(np.full(shape, size)) for size in config.drawn)
    values = noise.draw(key, observations.values, *drawn)
    return observations._replace(values=values, relative=relative, absolute=absolute)


def joined(blocks: Sequence[Observations]) -> Observations:
    """Several blocks as one; a component that a block did not observe is masked there."""
    if len(blocks) == 1:
        return blocks[0]
    names = union([block.components for block in blocks])
    wide = [_widened(block, names) for block in blocks]
    fields = {
        name: np.concatenate([np.asarray(getattr(block, name)) for block in wide])
        for name in Observations._fields
        if name != "components"
    }
    arrays = {name: host.held(array) for name, array in fields.items() if name != "state"}
    return Observations(state=fields["state"], components=names, **arrays)


def union(lists: Sequence[tuple[str, ...]]) -> tuple[str, ...]:
    """All names, in the order in which they first occur."""
    return tuple(dict.fromkeys(name for names in lists for name in names))


def _widened(block: Observations, names: tuple[str, ...]) -> Observations:
    operator, values, observed, absolute, relative = (
        spread(getattr(block, name), block.components, names) for name in _PER_COMPONENT
    )
    parts = (values, observed, absolute, relative, names)
    return Observations(block.state, block.inputs, operator, *parts)


def spread(
    columns: Shaped[Array | np.ndarray, "data some *rest"],
    present: tuple[str, ...],
    names: tuple[str, ...],
) -> Shaped[Array, "data all *rest"]:
    """Columns of some components put in their places among all; the others are zero or False."""
    given = np.asarray(columns)
    wide = np.zeros((len(given), len(names), *given.shape[2:]), given.dtype)
    wide[:, [names.index(name) for name in present]] = given
    return host.held(wide)


def path(
    material: Material, parts: Sequence[tuple[Experiment, noise.Config]], count: int
) -> ValidationPath:
    """The validation paths of all experiments, one after the other, `count` points each."""
    names = union([experiment.observed for experiment, _ in parts])
    segments, columns = [], []
    for number, (experiment, config) in enumerate(parts):
        course = experiment.course(count)
        state = experiment.states(course.rows)
        at = experiment.map(material, state, experiment.observed)
        seen = np.ones((len(state), len(experiment.observed)), bool)
        observed = np.asarray(spread(seen, experiment.observed, names))
        columns.append((
            state, at.inputs, spread(at.operator, experiment.observed, names), observed,
            *(np.full(observed.shape, size) for size in config.numbers),
            course.coordinate, course.sampled,
        ))  # fmt: skip
        points = slice(number * count, (number + 1) * count)
        segments.append(Segment(experiment.name, course.label, points))
    state, inputs, operator, *rest = (np.concatenate(part) for part in zip(*columns, strict=True))
    at = StressMap(host.held(inputs), host.held(operator))
    observed, relative, absolute, coordinate, sampled = rest
    return ValidationPath(
        state, at, names, observed, relative, absolute, coordinate, sampled, tuple(segments)
    )
