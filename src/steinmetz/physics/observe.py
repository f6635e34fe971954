"""From a physics to `Observations`: synthetic data from a generating law, or rows of a measured table."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from steinmetz import registry
from steinmetz.data import noise
from steinmetz.data.table import Table
from steinmetz.errors import InputError
from steinmetz.physics.base import Physics
from steinmetz.records import Observations, Reference, StressMap, Truth


def rig(
    physics: Physics, state: Float[np.ndarray, "states columns"], components: tuple[str, ...]
) -> StressMap:
    """Features and operator of every state, in one compiled batch."""
    at = jax.jit(jax.vmap(lambda row: (physics.features(row), physics.operator(row, components))))
    return StressMap(*at(jnp.asarray(state)))


def law(physics: Physics, name: str, parameters: dict[str, float] | None = None) -> Truth:
    """A generating law by name, with its own parameters where none are given."""
    module = registry.load("physics.laws", name)
    if physics.name != module.PHYSICS:
        raise InputError(f"law '{name}' belongs to {module.PHYSICS}, not to {physics.name}")
    chosen = dict(module.PARAMETERS)
    for key, value in (parameters or {}).items():
        if key not in chosen:
            raise InputError(
                registry.unknown(f"parameter of law '{name}' called", key, sorted(chosen))
            )
        chosen[key] = value
    return Truth(name, lambda inputs: module.energy(inputs, chosen))


@eqx.filter_jit
def clean_values(
    truth: Truth, reference: Reference, at: StressMap
) -> Float[Array, "states components"]:
    """y = B ∇Ψ̂ of the generating law, normalised like every potential (method §1)."""
    slope = jax.grad(truth.energy)
    removed = reference.removed(slope(jnp.asarray(reference.point)))
    return at.stress(jax.vmap(slope)(at.inputs) - removed)


@eqx.filter_jit
def clean_energy(truth: Truth, reference: Reference, at: StressMap) -> Float[Array, "states"]:
    """Ψ̂ of the generating law."""
    return jax.vmap(lambda x: reference.energy(truth.energy, x))(at.inputs)


def synthetic(
    key: Array, physics: Physics, truth: Truth, count: int, spread: float, config: noise.Config
) -> Observations:
    """`count` random states and their noisy default components."""
    state_key, noise_key = jax.random.split(key)
    state = physics.sample(state_key, count, spread)
    components = physics.default_components
    at = rig(physics, state, components)
    clean = clean_values(truth, physics.reference, at)
    relative, absolute = (
        jnp.full(clean.shape, config.relative),
        jnp.full(clean.shape, config.absolute),
    )
    values = noise.draw(noise_key, clean, relative, absolute)
    return Observations(
        state,
        at.inputs,
        at.operator,
        values,
        jnp.ones(clean.shape, bool),
        absolute,
        relative,
        components,
    )


def measured(
    physics: Physics, table: Table, config: noise.Config
) -> tuple[Observations, list[str]]:
    """Rows of a table as observations, and notes on what was left out.

    State columns must be complete. A component column may have empty cells. A column `sd_X` gives the absolute standard
    deviation of component X row by row and replaces the noise of `config` there.
    """
    missing = [name for name in physics.state if name not in table.columns]
    if missing:
        raise InputError(
            f"{table.source}: column '{missing[0]}' is missing; needed are {', '.join(physics.state)} and at least "
            f"one stress column such as {physics.default_components[0]}"
        )
    components = _components(physics, table)
    state = np.stack([table.column(name) for name in physics.state], axis=1)
    values = np.stack([table.column(name) for name in components], axis=1)
    _check_state(physics, table, state)
    keep = np.isfinite(values).any(axis=1)
    notes = _notes(physics, table, components, keep)
    absolute, relative = _noise(table, components, values, config)
    state, values, absolute, relative = state[keep], values[keep], absolute[keep], relative[keep]
    observed = np.isfinite(values)
    if not np.any(values[observed]):
        raise InputError(
            f"{table.source}: every stress value is zero or missing; there is nothing to fit"
        )
    at = rig(physics, state, components)
    found = Observations(
        state=state,
        inputs=at.inputs,
        operator=at.operator,
        values=jnp.asarray(np.where(observed, values, 0.0)),
        observed=jnp.asarray(observed),
        absolute=jnp.asarray(absolute),
        relative=jnp.asarray(relative),
        components=components,
    )
    return found, notes


def _components(physics: Physics, table: Table) -> tuple[str, ...]:
    """Observed components of the table; a transposed twin (S21 beside S12) must agree and is then dropped."""
    found = [name for name in table.columns if name in physics.components]
    if not found:
        raise InputError(
            f"{table.source}: no stress column; name columns by measure and component, possible: "
            f"{', '.join(physics.components)}"
        )
    for name in list(found):
        twin = physics.aliases.get(name)
        if twin not in found:
            continue
        first, second = table.column(name), table.column(str(twin))
        differ = np.flatnonzero(
            np.isfinite(first) & np.isfinite(second) & ~np.isclose(first, second)
        )
        if differ.size:
            raise InputError(
                f"{table.source}, line {table.lines[differ[0]]}: columns '{name}' and '{twin}' differ, but this "
                "stress is symmetric; keep one of them"
            )
        if np.any(np.isfinite(first) & ~np.isfinite(second)):
            raise InputError(
                f"{table.source}: columns '{name}' and '{twin}' are the same stress; merge them into one"
            )
        found.remove(name)
    return tuple(found)


def _check_state(physics: Physics, table: Table, state: Float[np.ndarray, "rows columns"]) -> None:
    empty = np.argwhere(~np.isfinite(state))
    if len(empty):
        row, column = empty[0]
        raise InputError(
            f"{table.source}, line {table.lines[row]}, column '{physics.state[column]}': empty, but every row "
            "needs its state"
        )
    wrong = np.flatnonzero(~physics.possible(state))
    if wrong.size:
        place = f"line {table.lines[wrong[0]]}, columns {physics.state[0]}…{physics.state[-1]}"
        raise InputError(f"{table.source}, {place}: {physics.fault(state[wrong[0]])}")


def _notes(
    physics: Physics, table: Table, components: tuple[str, ...], keep: np.ndarray
) -> list[str]:
    notes = []
    used = {*physics.state, *components, *(f"sd_{name}" for name in components)}
    ignored = [name for name in table.columns if name not in used and name not in physics.aliases]
    if ignored:
        notes.append(f"columns not used: {', '.join(ignored)}")
    if not keep.all():
        lines = ", ".join(str(line) for line in table.lines[~keep][:5])
        notes.append(f"{int((~keep).sum())} rows without any stress value left out (line {lines})")
    return notes


def _noise(
    table: Table,
    components: tuple[str, ...],
    values: Float[np.ndarray, "rows components"],
    config: noise.Config,
) -> tuple[np.ndarray, np.ndarray]:
    absolute = np.full(values.shape, config.absolute)
    relative = np.full(values.shape, config.relative)
    for index, name in enumerate(components):
        column = f"sd_{name}"
        if column not in table.columns:
            continue
        given = table.column(column)
        wrong = np.flatnonzero(np.isfinite(values[:, index]) & ~(given >= 0))
        if wrong.size:
            raise InputError(
                f"{table.source}, line {table.lines[wrong[0]]}, column '{column}': a standard deviation must be a "
                "number, zero or larger"
            )
        absolute[:, index] = np.where(np.isfinite(given), given, 0.0)
        relative[:, index] = 0.0
    return absolute, relative
