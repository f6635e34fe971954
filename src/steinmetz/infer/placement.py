"""Where particles are worked on: on one device, or shared out over a mesh of devices.

Samplers are written for all particles at once and know nothing of devices. Whatever costs more than
a few numbers per particle (densities, rows of Gram matrices, curvatures) goes through `rows`, which
is told a function of some rows and all rows. On a mesh every device holds all places, works on
blocks of rows of its own, and gathers those of the others; nothing is summed across devices. The
size of a block depends on the number of particles alone, so that the digits are the same on any
number of devices.
"""

import os
import zlib
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from dataclasses import dataclass
from functools import partial
from typing import ParamSpec, Protocol, TypeVar, runtime_checkable

import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec

from steinmetz.errors import InputError

# The one axis of the mesh.
AXIS = "particles"
# Entries of a block of rows × particles; above, rows are worked through in blocks.
ENTRIES = 4_194_304
# Blocks into which rows are cut on a mesh, if each is to have at least so many rows.
_BLOCKS, _LEAST = 64, 8

# Seconds that devices of a CPU wait for each other: the default, 40, is less than a device may need
# for its rows of a large ensemble on a busy machine. Without an end, a fault would hang.
_PATIENCE = {
    "xla_cpu_collective_timeout_seconds": 600,
    "xla_cpu_collective_call_terminate_timeout_seconds": 600,
    "xla_cpu_collective_call_warn_stuck_timeout_seconds": 120,
}

# Arrays with the same number of rows, in any tree.
Rows = TypeVar("Rows")
Result = TypeVar("Result")
Given = ParamSpec("Given")


@runtime_checkable
class Partners(Protocol):
    """The other processes that share in a run."""

    def lockstep(self) -> AbstractContextManager[None]:
        """In here all processes do the same chunks, and stop at the same step."""

    def agreed(self, number: int, last: int, mark: int) -> int:
        """What the first process has for `last`, once all are at this number with this mark."""


@dataclass(frozen=True)
class Placement:
    """The devices of a run; without a mesh it is the first one, and nothing is cut for its sake.

    A mesh over several processes has `partners`.
    """

    mesh: Mesh | None = None
    partners: Partners | None = None

    def lockstep(self) -> AbstractContextManager[None]:
        """Around chunks of which all processes do the same ones."""
        return nullcontext() if self.partners is None else self.partners.lockstep()

    def agreed(self, number: int, last: int, particles: jax.Array) -> int:
        """Where the chunk after step `number` ends: the first process decides, as it has the clock.

        Raises where a process was stopped, is lost, or has other particles.
        """
        if self.partners is None:
            return last
        mark = zlib.crc32(np.asarray(particles).tobytes())
        return self.partners.agreed(number, last, mark)

    def spread(self, function: Callable[Given, Result]) -> Callable[Given, Result]:
        """The compiled function, in which `rows` are shared out over the devices."""
        if self.mesh is None:
            return jax.jit(function)
        same = PartitionSpec()
        # every device computes the same between two gathers, which cannot be checked by types
        over = partial(jax.shard_map, mesh=self.mesh, in_specs=same, out_specs=same)
        return jax.jit(over(function, check_vma=False))

    def greet(self) -> None:
        """Connect every device with every other: the first gather would do it else."""
        numbers = self.everywhere(jnp.zeros(1))
        gather = self.spread(lambda one: jax.lax.all_gather(one, AXIS, tiled=True))
        gather(numbers).block_until_ready()

    def everywhere(self, tree: Rows) -> Rows:
        """The same arrays on every device, also on those of other processes."""
        if self.mesh is None:
            return tree
        whole = NamedSharding(self.mesh, PartitionSpec())

        def placed(leaf: jax.Array) -> jax.Array:
            values = np.asarray(leaf)
            return jax.make_array_from_callback(values.shape, whole, lambda index: values[index])

        same: Rows = jax.tree.map(placed, tree)
        return same


_chosen = [Placement()]


def chosen() -> Placement:
    """What the runs of this process use at the moment."""
    return _chosen[-1]


@contextmanager
def over(placement: Placement) -> Iterator[None]:
    """Runs in here use these devices, in whatever thread."""
    _chosen.append(placement)
    try:
        yield
    finally:
        _chosen.remove(placement)


@contextmanager
def devices(count: int) -> Iterator[None]:
    """Particles are shared out over so many devices of this process by what is sampled in here."""
    with over(of_devices(count)):
        yield


def of_devices(count: int, partners: Partners | None = None) -> Placement:
    """A mesh of `count` devices; where JAX has not started, a CPU becomes so many.

    With partners it is so many of each process.
    """
    prepare(count)
    there: dict[int, list[jax.Device]] = {}
    for device in jax.devices():
        there.setdefault(device.process_index, []).append(device)
    least = min(map(len, there.values()))
    if not 1 <= count <= least:
        raise InputError(
            f"{count} devices were asked for, and there are {least}; on a CPU, ask before "
            "anything is computed"
        )
    each = [device for one in there.values() for device in one[:count]]
    return Placement(Mesh(np.array(each), (AXIS,)), partners)


def prepare(count: int) -> None:
    """What must be said before JAX starts: CPU devices, and how long one waits for the others."""
    flags = os.environ.get("XLA_FLAGS", "")
    for name, seconds in _PATIENCE.items():
        if name not in flags:
            flags += f" --{name}={seconds}"
    os.environ["XLA_FLAGS"] = flags.strip()
    with suppress(RuntimeError):  # it has started
        jax.config.update("jax_num_cpu_devices", count)


def rows(function: Callable[[Rows], Result], given: Rows, entries: int = 0) -> Result:
    """function(given) for a function that treats every row of the given arrays alike.

    `entries` are those that the function makes of one row: where all together are more than
    `ENTRIES`, rows are worked through in blocks. On a mesh they always are.
    """
    count = len(jax.tree.leaves(given)[0])
    most = max(1, ENTRIES // max(entries, 1))
    if AXIS not in jax.sharding.get_abstract_mesh().manual_axes:
        return function(given) if most >= count else _in_blocks(function, given, most, 1)
    size = min(most, max(_LEAST, -(-count // _BLOCKS)), count)
    return _in_blocks(function, given, size, jax.lax.axis_size(AXIS))


def _in_blocks(function: Callable[[Rows], Result], given: Rows, size: int, devices: int) -> Result:
    """The function of blocks of `size` rows, the same number of them on every device.

    The last row fills up the last blocks.
    """
    count = len(jax.tree.leaves(given)[0])
    each = -(-count // (size * devices))
    index = np.minimum(np.arange(devices * each * size), count - 1)
    shares = jnp.asarray(index.reshape(devices, each, size))
    mine = shares[jax.lax.axis_index(AXIS) if devices > 1 else 0]
    done = jax.lax.map(lambda some: function(jax.tree.map(lambda leaf: leaf[some], given)), mine)

    def whole(leaf: jax.Array) -> jax.Array:
        if devices > 1:
            leaf = jax.lax.all_gather(leaf, AXIS, tiled=True)
        return leaf.reshape(-1, *leaf.shape[2:])[:count]

    gathered: Result = jax.tree.map(whole, done)
    return gathered
