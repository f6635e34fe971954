"""Options that say where the particles of one posterior are worked on."""

from typing import Annotated, NamedTuple

import typer

from steinmetz.options import whole


class PlacementOptions(NamedTuple):
    """Where the particles of one posterior are worked on."""

    devices: Annotated[
        int | None,
        whole(
            "Devices over which particles are shared out; a CPU becomes as many.",
            most=4096,
            default="one, nothing is shared out",
        ),
    ] = None
    coordinator: Annotated[
        str | None,
        typer.Option(
            metavar="HOST:PORT",
            help="Where the first of several processes listens; the same for all of them.",
            show_default="one process",
        ),
    ] = None
    process_id: Annotated[
        int | None, whole("Number of this process, from 0 on.", least=0, default="one process")
    ] = None
    processes: Annotated[
        int | None,
        whole("Processes that share in the run, each with --devices.", default="one process"),
    ] = None
