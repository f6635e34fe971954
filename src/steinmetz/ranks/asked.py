"""Which process of how many this is, and where the first one listens."""

from typing import NamedTuple

from steinmetz.errors import InputError

# Processes that may work together.
MOST = 4096


class Asked(NamedTuple):
    """Process number `process` of `processes`; the first one listens at `host` and `port`."""

    host: str
    port: int
    process: int
    processes: int

    @property
    def first(self) -> bool:
        """Whether this process decides, and writes what is found."""
        return self.process == 0

    @property
    def address(self) -> str:
        """Where the first process listens, as it is typed."""
        return joined(self.host, self.port)


def asked(coordinator: str | None, process: int | None, processes: int | None) -> Asked | None:
    """What is asked for by three options that belong together; None where none is given."""
    given = {"--coordinator": coordinator, "--process-id": process, "--processes": processes}
    missing = [name for name, value in given.items() if value is None]
    if len(missing) == len(given):
        return None
    if coordinator is None or process is None or processes is None:
        there = ", ".join(name for name in given if name not in missing)
        raise InputError(f"{there}: several processes also need {' and '.join(missing)}")
    if not 1 <= processes <= MOST:
        raise InputError(f"--processes {processes}: 1 to {MOST} are possible")
    if not 0 <= process < processes:
        raise InputError(
            f"--process-id {process}: {processes} processes are numbered 0 to {processes - 1}"
        )
    return Asked(*_address(coordinator), process, processes)


def _address(text: str) -> tuple[str, int]:
    """Host and port of HOST:PORT; an IPv6 address stands in brackets."""
    host, colon, port = text.rpartition(":")
    bare = host.removeprefix("[").removesuffix("]")
    plain = bare == host or host == f"[{bare}]"
    usable = port.isascii() and port.isdigit() and 1 <= int(port) <= 65535
    if not (colon and bare and plain and usable) or (":" in bare and bare == host):
        words = "write HOST:PORT, such as 127.0.0.1:9911, with a port from 1 to 65535"
        raise InputError(f"--coordinator {text}: {words}")
    return bare, int(port)


def joined(host: str, port: int) -> str:
    """Host and port as one text."""
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"
