"""The processes of a run find each other, and make sure that all of them do the same."""

import hashlib
import json
import platform
import socket
import time
from collections.abc import Mapping
from contextlib import suppress
from importlib import metadata

from steinmetz.errors import InputError, RunFailure
from steinmetz.ranks.asked import Asked
from steinmetz.ranks.lines import Closed, Line, Message, number, words

# Seconds that the processes have to come after the first of them.
PATIENCE = 120.0
# Seconds in which somebody who connects must say who it is.
_HELLO = 5.0
# Characters of a value that are shown where two processes differ; differences that are named.
_SHOWN, _NAMED = 60, 3

Facts = Mapping[str, str]
"""What all processes must have alike, by name."""


def facts_of(content: Mapping[str, object]) -> dict[str, str]:
    """Settings by dotted name, each as text, and the versions that digits depend on.

    Paths of tables are left out: tables count by what is in them.
    """
    found: dict[str, str] = {}

    def flat(name: str, value: object) -> None:
        if isinstance(value, Mapping):
            for key, inner in value.items():
                flat(f"{name}.{key}" if name else str(key), inner)
        elif not name.endswith("table"):
            text = json.dumps(value, sort_keys=True, default=str)
            long = len(text) > _SHOWN
            found[name] = hashlib.sha256(text.encode()).hexdigest()[:12] if long else text

    flat("", content)
    versions = {name: metadata.version(name) for name in ("steinmetz", "jax", "jaxlib", "numpy")}
    return {**versions, "processor": platform.machine(), **found}


def greet(asked: Asked, facts: Facts, patience: float = PATIENCE) -> dict[int, Line]:
    """A connection to every other process in the first one, else to the first one alone."""
    return _gathered(asked, facts, patience) if asked.first else _joined(asked, facts, patience)


def _gathered(asked: Asked, facts: Facts, patience: float) -> dict[int, Line]:
    """All others, by number, each with the same facts; else all are told why not."""
    found: dict[int, Line] = {}
    end = time.monotonic() + patience
    try:
        with _listening(asked) as door:
            while len(found) < asked.processes - 1:
                door.settimeout(max(end - time.monotonic(), 0.01))
                line = Line(door.accept()[0])
                process = _admitted(line, asked, found, facts)
                found |= {} if process is None else {process: line}
    except TimeoutError:
        missing = [str(k) for k in range(1, asked.processes) if k not in found]
        said = f"process {', '.join(missing)} did not come to {asked.address} in {patience:g} s"
        raise InputError(_refused(found, f"{said}; start every process within that time")) from None
    except InputError as error:
        raise InputError(_refused(found, str(error))) from None
    for process, line in found.items():
        try:
            line.say("welcome")
        except Closed:
            raise RunFailure(f"process {process} left before the start") from None
    return found


def _listening(asked: Asked) -> socket.socket:
    """The door of the first process, open at the address that was named and at no other."""
    try:
        family, *_, at = socket.getaddrinfo(asked.host, asked.port, type=socket.SOCK_STREAM)[0]
        return socket.create_server(at[:2], family=family, backlog=asked.processes)
    except (OSError, UnicodeError) as error:
        why = (getattr(error, "strerror", None) or str(error)).lower()
        advice = "name an address of this machine and a port that is free"
        raise InputError(f"--coordinator {asked.address}: {why}; {advice}") from None


def _admitted(line: Line, asked: Asked, found: Mapping[int, Line], facts: Facts) -> int | None:
    """The number of who has come; None for a stranger, who is sent away."""
    try:
        hello = line.next(_HELLO)
        process, processes = number(hello, "process"), number(hello, "processes")
        theirs = hello.get("facts")
        if hello["is"] != "hello" or not isinstance(theirs, dict):
            raise Closed("no greeting")
        if processes == asked.processes and (not 0 < process < processes or process in found):
            line.say("refused", words=f"--process-id {process} is taken; give each its own")
            raise Closed("taken")
    except (Closed, TimeoutError):
        line.close()
        return None
    told = {"--processes": str(processes)} | {str(k): str(v) for k, v in theirs.items()}
    different = differences(process, told, {"--processes": str(asked.processes)} | dict(facts))
    if different:
        _refused({process: line}, different)
        raise InputError(different)
    return process


def differences(process: int, theirs: Facts, ours: Facts) -> str:
    """What a process has other than the first one, as a sentence; empty where all is alike."""
    names = [name for name in {**ours, **theirs} if theirs.get(name) != ours.get(name)]
    if not names:
        return ""
    pairs = [f"{n} = {_shown(theirs.get(n))} ({_shown(ours.get(n))})" for n in names[:_NAMED]]
    more = f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
    return (
        f"process {process} (process 0) was started with {', '.join(pairs)}{more}; "
        "give all the same command and version but for --process-id"
    )


def _shown(value: str | None) -> str:
    return "nothing" if value is None else value[:_SHOWN]


def _refused(found: Mapping[int, Line], why: str) -> str:
    """Tell all who are there why nothing begins."""
    for line in found.values():
        with suppress(Closed):
            line.say("refused", words=why)
        line.close()
    return why


def _joined(asked: Asked, facts: Facts, patience: float) -> dict[int, Line]:
    """The first process, once everybody is there and all do the same."""
    end = time.monotonic() + patience
    line = _called(asked, end, patience)
    try:
        mine: Message = {"process": asked.process, "processes": asked.processes}
        line.say("hello", **mine, facts=dict(facts))
        # the first process waits for the others as long as this one waits for it, and a bit
        answer = line.next(max(end - time.monotonic(), 0.01) + patience)
    except (Closed, TimeoutError):
        line.close()
        raise InputError(
            f"--coordinator {asked.address}: process 0 left, or something else listens there"
        ) from None
    if answer["is"] == "refused":
        line.close()
        raise InputError(words(answer))
    return {0: line}


def _called(asked: Asked, end: float, patience: float) -> Line:
    """A connection to the first process, tried until it is there."""
    while True:
        try:
            left = max(end - time.monotonic(), 0.01)
            return Line(socket.create_connection((asked.host, asked.port), timeout=left))
        except (socket.gaierror, UnicodeError) as error:
            why = (getattr(error, "strerror", None) or str(error)).lower()
            raise InputError(f"--coordinator {asked.address}: {why}") from None
        except OSError as error:
            if time.monotonic() >= end - 0.2:
                why = (error.strerror or "no answer").lower()
                raise InputError(
                    f"--coordinator {asked.address}: no answer in {patience:g} s ({why}); "
                    "start process 0 there"
                ) from None
            time.sleep(0.2)
