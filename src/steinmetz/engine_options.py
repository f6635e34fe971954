"""Options of everything that is many independent tasks: who does them."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, NamedTuple

import typer

from steinmetz.options import whole

if TYPE_CHECKING:
    from steinmetz.workers.engines import Choice


class EngineOptions(NamedTuple):
    """Processes of this machine, or a cluster."""

    engine: Annotated[
        str, typer.Option(help="local (processes) or dask (a cluster here or elsewhere).")
    ] = "local"
    workers: Annotated[
        int | None, whole("Tasks side by side.", most=1000, default="one per core")
    ] = None
    scheduler: Annotated[
        str | None, typer.Option(help="Join the Dask scheduler at this address.")
    ] = None
    tls_ca: Annotated[
        Path | None, typer.Option(help="Authority of the scheduler's certificate (PEM).")
    ] = None
    tls_cert: Annotated[Path | None, typer.Option(help="Own certificate (PEM).")] = None
    tls_key: Annotated[Path | None, typer.Option(help="Its key (PEM).")] = None

    def choice(self) -> "Choice":
        """The engine that is asked for."""
        from steinmetz.workers.engines import Choice, Secured

        secured = Secured(self.tls_ca, self.tls_cert, self.tls_key)
        return Choice(self.engine, self.workers, self.scheduler, secured)
