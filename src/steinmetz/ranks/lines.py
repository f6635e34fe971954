"""Lines of JSON over a connection, with caps: what is received is text, and nothing is executed."""

import json
import socket
import threading
import time
from collections.abc import Mapping
from typing import TypeAlias

# Bytes of a line; settings of a study are the longest.
LONGEST = 1_000_000
# Seconds in which what is sent must go out.
_PATIENCE = 20.0
# Bytes that are sent in that time at least.
_BLOCK = 1 << 20

Message: TypeAlias = dict[str, object]


class Closed(ConnectionError):
    """The other end has closed the connection, or says what nobody of us would."""


class Line:
    """A connection to another process: messages in both directions, bytes where both expect them.

    `heard` is when something came last. Sending is safe from several threads, receiving is not.
    """

    def __init__(self, connection: socket.socket) -> None:
        connection.settimeout(_PATIENCE)
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._connection, self._left, self._lock = connection, bytearray(), threading.Lock()
        self.heard = time.monotonic()

    def fileno(self) -> int:
        """For `select`."""
        return self._connection.fileno()

    def close(self) -> None:
        """Nothing more is said."""
        self._connection.close()

    def say(self, kind: str, **facts: object) -> None:
        """Send a message; raises `Closed` where nobody takes it."""
        self.send(json.dumps({"is": kind, **facts}).encode() + b"\n")

    def send(self, content: bytes) -> None:
        """Send bytes that the other end waits for."""
        try:
            with self._lock:
                for begin in range(0, len(content), _BLOCK):
                    self._connection.sendall(content[begin : begin + _BLOCK])
        except OSError as error:
            raise Closed(str(error)) from None

    def ready(self) -> list[Message]:
        """What has come, all whole messages of it; called where something can be read."""
        self._left += self._received(65536)
        *whole, rest = self._left.split(b"\n")
        self._left = bytearray(rest)
        return [_message(one) for one in whole]

    def next(self, seconds: float) -> Message:
        """The next message, waited for so long; raises TimeoutError."""
        end = time.monotonic() + seconds
        while b"\n" not in self._left:
            self._left += self._received(65536, end - time.monotonic())
        line, _, rest = self._left.partition(b"\n")
        self._left = bytearray(rest)
        return _message(line)

    def take(self, size: int, seconds: float) -> bytes:
        """So many bytes that the other end sends; no pause may be longer than the seconds."""
        while len(self._left) < size:
            more = min(size - len(self._left), _BLOCK)
            self._left += self._received(more, seconds, size)
        content, self._left = bytes(self._left[:size]), self._left[size:]
        return content

    def _received(self, most: int, seconds: float = _PATIENCE, cap: int = LONGEST) -> bytes:
        """The next bytes; an end of them, or a line without end, is no partner of ours."""
        if seconds <= 0:
            raise TimeoutError
        self._connection.settimeout(seconds)
        try:
            content = self._connection.recv(most)
        except TimeoutError:
            raise
        except OSError as error:
            raise Closed(str(error)) from None
        finally:
            if self._connection.fileno() >= 0:
                self._connection.settimeout(_PATIENCE)
        if not content or len(self._left) > cap:
            raise Closed("closed" if not content else "a line without end")
        self.heard = time.monotonic()
        return content


def _message(line: bytes | bytearray) -> Message:
    """An object of JSON; anything else is not one of ours."""
    try:
        found = json.loads(line)
    except (ValueError, RecursionError):
        raise Closed("not a message of steinmetz") from None
    if not isinstance(found, dict) or not isinstance(found.get("is"), str):
        raise Closed("not a message of steinmetz")
    return found


def number(message: Mapping[str, object], name: str) -> int:
    """A whole number of a message."""
    value = message.get(name)
    if not isinstance(value, int):
        raise Closed(f"a message without '{name}'")
    return value


def words(message: Mapping[str, object], name: str = "words") -> str:
    """A text of a message."""
    return str(message.get(name, ""))[:2000]
