"""Draws of the posterior for export: one as a law, all as a table of constants."""

import csv
import io
from pathlib import Path

import jax.numpy as jnp
import numpy as np

from steinmetz.errors import InputError
from steinmetz.exporters.base import About
from steinmetz.exporters.program.trace import trace
from steinmetz.potentials import volume
from steinmetz.potentials.law import Law
from steinmetz.report import stored


def drawn(folder: Path, law: Law, about: About, particle: int) -> tuple[Law, About]:
    """A draw of the posterior as a law; draws are counted from one."""
    every = stored.draws(folder, law)
    if particle > len(every):
        raise InputError(f"--particle {particle}: {folder} has {len(every)} draws")
    values = jnp.asarray(every[particle - 1])
    return Law(law.graph, values, law.reference), about._replace(draw=str(particle))


def table(folder: Path, law: Law) -> str:
    """A row of constants per draw as CSV, the law itself first with the number zero."""
    parameters = trace(law, "--table").parameters
    found = np.concatenate([np.asarray(law.values)[None], stored.draws(folder, law)])
    every = volume.drawn(law, found)
    more = [row.value for row in parameters[every.shape[1] :]]
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(["draw", *(row.name for row in parameters)])
    for number, values in enumerate(every.tolist()):
        writer.writerow([number, *(repr(value) for value in [*values, *more])])
    return text.getvalue()
