"""The engine on Dask: a cluster on this machine, or a scheduler that is there already.

A cluster that is started here listens on the loopback interface alone, with one thread per worker.
Of a scheduler elsewhere, workers must see folders and tables under the same paths.
"""

import logging
import os
import signal
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING

from steinmetz.errors import InputError, RunFailure
from steinmetz.workers.programs import environment
from steinmetz.workers.seat import seated
from steinmetz.workers.tasks import TRIES, Engine, Task, Told

if TYPE_CHECKING:
    from distributed import Client, Future, LocalCluster

    from steinmetz.workers.engines import Choice, Secured

# Seconds between two looks at what is finished, and until a scheduler has answered.
_PATIENCE, _ANSWER = 0.5, 15


def engine(choice: "Choice") -> Engine:
    """The engine, or one sentence if the package is missing or options do not fit together."""
    try:
        import distributed  # noqa: F401
    except ImportError:
        words = "the package is not installed; install steinmetz[dask], or leave --engine out"
        raise InputError(f"--engine dask: {words}") from None
    scheduler, secured = choice.scheduler, choice.secured
    if scheduler is None and any(secured):
        raise InputError("--tls-ca, --tls-cert and --tls-key are for --scheduler; name it, too")
    if scheduler is not None and choice.workers is not None:
        raise InputError("--workers: a scheduler has its own workers; leave one of both out")
    _check(secured)

    def do(tasks: Sequence[Task], told: Told) -> list[Task]:
        seats = 0 if scheduler else min(choice.number, len(tasks))
        with _here(seats) if scheduler is None else _there(scheduler, secured) as client:
            return _each(client, tasks, seats, told)

    return do


def _check(secured: "Secured") -> None:
    """Refuse files of an encrypted connection that are not there, or only some of them."""
    if any(secured) and not all(secured):
        raise InputError("--tls-ca, --tls-cert and --tls-key belong together; name all three")
    for file in filter(None, secured):
        if not file.is_file():
            raise InputError(f"{file}: no such file; name the PEM file")


@contextmanager
def _here(seats: int) -> "Iterator[Client]":
    """Workers on this machine, which know of jax's settings before they begin."""
    import dask
    from distributed import Client, LocalCluster

    with (
        _told(environment()),
        dask.config.set({"distributed.scheduler.allowed-failures": TRIES - 1}),
        LocalCluster(
            n_workers=seats,
            threads_per_worker=1,
            host="127.0.0.1",
            dashboard_address="127.0.0.1:0",  # whichever port is free
            memory_limit=None,
            silence_logs=logging.CRITICAL,
        ) as cluster,
        Client(cluster) as client,
    ):
        try:
            yield client
        except BaseException:
            _end(cluster)
            raise
        with suppress(TimeoutError):  # one that takes the place of a lost one cannot be closed yet
            client.wait_for_workers(seats, timeout=_ANSWER)


@contextmanager
def _told(settings: dict[str, str]) -> Iterator[None]:
    """Variables that processes which are started now, or in place of a lost one, begin with.

    Dask's own settings for this give way to variables that are there already.
    """
    before = {name: os.environ.get(name) for name in settings}
    os.environ.update(settings)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value


def _end(cluster: "LocalCluster") -> None:
    """Its processes at once: a worker that is asked to leave would finish its run first."""
    for nanny in cluster.workers.values():
        nanny.auto_restart = False
        with suppress(ProcessLookupError):
            os.kill(nanny.pid, signal.SIGKILL)


@contextmanager
def _there(address: str, secured: "Secured") -> "Iterator[Client]":
    """A scheduler that somebody else has started."""
    from distributed import Client, Security

    authority, certificate, key = (str(file) if file else None for file in secured)
    pem = {"tls_ca_file": authority, "tls_client_cert": certificate, "tls_client_key": key}
    security = Security(require_encryption=True, **pem) if any(secured) else None
    try:
        client = Client(address, security=security, timeout=_ANSWER)
    except (OSError, ValueError, TypeError) as error:  # a timeout is an OSError
        reason = " ".join(str(error).split())[:200]
        words = "no scheduler answers there as asked"
        raise RunFailure(f"--scheduler {address}: {words} ({reason})") from None
    with client:
        yield client


def _each(client: "Client", tasks: Sequence[Task], seats: int, told: Told) -> list[Task]:
    """Hand out all tasks; those whose worker was lost too often are given back.

    A task whose worker is lost goes to another one; the scheduler counts how often.
    """
    from distributed import KilledWorker

    names = {client.submit(seated, one.work, one.text, seats, pure=False): one for one in tasks}
    waiting, given_up = set(names), []
    try:
        while waiting:
            under_way = {key for keys in client.processing().values() for key in keys}
            labels = [names[one].label for one in waiting if one.key in under_way]
            told(len(names) - len(waiting), labels[: seats or None])
            for future in _finished(waiting):
                waiting.discard(future)
                error = future.exception()
                if isinstance(error, KilledWorker):
                    given_up.append(names[future])
                elif error is not None:
                    raise error
    except BaseException:
        if not seats:  # runs that have begun go on there; the others are taken back
            client.cancel(list(waiting))
        raise
    return given_up


def _finished(waiting: "set[Future]") -> "set[Future]":
    """Those that end within a moment."""
    from distributed import wait

    with suppress(TimeoutError):
        wait(waiting, timeout=_PATIENCE, return_when="FIRST_COMPLETED")
    return {one for one in waiting if one.done()}
