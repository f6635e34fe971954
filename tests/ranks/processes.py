"""Processes of one run, started side by side."""

import os
import socket
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

# Seconds after which a test does not wait any longer.
LONG = 300


def free() -> int:
    """A free port."""
    with socket.create_server(("127.0.0.1", 0)) as door:
        return int(door.getsockname()[1])


def started(
    command: Sequence[str], count: int | None, folder: Path, last: Sequence[str] = ()
) -> list["subprocess.Popen[str]"]:
    """The command as each of so many processes, or alone; what they say is in pipes.

    The last of them has these options more.
    """
    tests = str(Path(__file__).parents[1])
    environment = os.environ | {"PYTHONPATH": os.pathsep.join([tests, *sys.path])}
    shared = [f"--coordinator=127.0.0.1:{free()}", f"--processes={count}"]
    each = [[]] if count is None else [[*shared, f"--process-id={k}"] for k in range(count)]
    each[-1].extend(last)
    return [
        subprocess.Popen(
            [*command, *options],
            cwd=folder,
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        for options in each
    ]


def ended(processes: list["subprocess.Popen[str]"]) -> list[tuple[int, str, str]]:
    """Exit code, output and errors of each."""
    said = [process.communicate(timeout=LONG) for process in processes]
    return [(p.returncode, *words) for p, words in zip(processes, said, strict=True)]
