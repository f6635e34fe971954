"""`carving.json`: the table of laws and how they were carved.

Another row can be taken later without refitting.
"""

import json
from pathlib import Path
from typing import Any

import jax.numpy as jnp
import numpy as np

from steinmetz.data.estimate import from_plain as noise_from_plain
from steinmetz.data.estimate import to_plain as noise_to_plain
from steinmetz.data.quadratic import Quadratic, compress
from steinmetz.errors import InputError
from steinmetz.potentials.law import rebuild, structure
from steinmetz.reading import parsed
from steinmetz.records import Observations
from steinmetz.sparsify import many_rows
from steinmetz.sparsify.carve import Carved, Restart
from steinmetz.sparsify.choose import from_plain, to_plain
from steinmetz.sparsify.written import Structure

FORMAT = "steinmetz-carving/5"


class ChangedData(ValueError):
    """The laws belong to other data."""


def to_dict(carved: Carved) -> dict[str, Any]:
    """Everything but the data, which the study gives again."""
    return {
        "format": FORMAT,
        "full": int(carved.full),
        "reason": carved.reason,
        "chosen": carved.law.graph.size,
        "data": _fingerprint(carved.quadratic),
        "restarts": {str(number): list(restart) for number, restart in carved.restarts.items()},
        "steps": carved.steps.tolist(),
        "active": carved.active.tolist(),
        **_noise(carved),
        "table": to_plain(carved.table),
        "structures": [
            {"price": each.price, "law": structure(each.law)} for each in carved.structures
        ],
    }


def _noise(carved: Carved) -> dict[str, object]:
    """The noise, and its size at every datum; of many rows, that is computed again when read."""
    found, deviation = carved.noise, carved.deviation
    if carved.structures and len(deviation) > many_rows.SEARCHED:
        weights = None if found.weights is None else jnp.ones(())
        return {"noise": noise_to_plain(found._replace(weights=weights)), "deviation": None}
    return {"noise": noise_to_plain(found), "deviation": np.asarray(deviation).tolist()}


def to_json(carved: Carved) -> str:
    """The same as text."""
    return json.dumps(to_dict(carved))


def from_dict(stored: dict[str, Any], observations: Observations) -> Carved:
    """Put a carving together again with its data.

    A wrong type or number raises ValueError, KeyError or TypeError.
    """
    if stored["format"] != FORMAT:
        raise ValueError(f"format {stored['format']!r}")
    table = from_plain(stored["table"])
    structures = tuple(
        Structure(rebuild(row["law"]), float(row["price"])) for row in stored["structures"]
    )
    noise = noise_from_plain(stored["noise"])
    if stored["deviation"] is None:
        best = structures[0]
        deviation, noise = many_rows.judged(observations, best.law.reference, best.written, noise)
    else:
        deviation = jnp.asarray(stored["deviation"], float)
    if deviation.shape != observations.values.shape:
        raise ChangedData
    restarts = {
        int(n): Restart(float(p), int(k), int(m)) for n, (p, k, m) in stored["restarts"].items()
    }
    quadratic = compress(observations, noise.weighted(deviation))
    if stored["data"] != _fingerprint(quadratic):
        raise ChangedData
    return Carved(
        law=next(row.law for row in table if row.active == int(stored["chosen"])),
        full=int(stored["full"]),
        table=table,
        reason=str(stored["reason"]),
        restarts=restarts,
        steps=np.array(stored["steps"], int),
        active=np.array(stored["active"], int),
        deviation=deviation,
        quadratic=quadratic,
        noise=noise,
        structures=structures,
    )


def _fingerprint(quadratic: Quadratic) -> list[float]:
    """A few sums that tell one data set from another, whatever the last bit of rounding does."""
    sums = (
        np.asarray(part).sum() for part in (quadratic.inputs, quadratic.target, quadratic.constant)
    )
    return [float(f"{float(value):.9g}") for value in sums]


def read(path: Path, observations: Observations) -> Carved:
    """The carving of a run directory, joined with the data of its study."""
    stored = parsed(path)
    try:
        return from_dict(stored, observations)
    except ChangedData:
        raise InputError(
            f"{path.parent}: the data of this run have changed since; run it again"
        ) from None
    except (KeyError, TypeError, ValueError, AttributeError, IndexError, StopIteration) as error:
        raise InputError(f"{path} is not a complete file of format {FORMAT}: {error!r}") from None


def select(carved: Carved, row: int) -> Carved:
    """The same carving with the law of another row."""
    chosen = [choice for choice in carved.table if choice.active == row]
    if not chosen:
        rows = ", ".join(str(choice.active) for choice in carved.table)
        raise InputError(f"there is no row {row}; rows are numbered by their parameters: {rows}")
    return carved._replace(law=chosen[0].law, reason=f"{row} parameters: selected from the table")
