"""Talk with a child: frames of bounded length, under a deadline, with an eye on the child.

Whatever a child says is a stranger's: bytes counted before they are kept, and read as plain data or not at all.
"""

from __future__ import annotations

import json
import select
import socket
import time
from collections.abc import Callable
from typing import Any

from course_utils.grading.jail import wire

_LOOK = 0.05
"""Seconds between two looks at how much a child holds."""
_FRAMES = 200_000
"""Most frames that a child may send."""


class Broken(Exception):
    """The child's end is closed, or what came from it makes no sense."""


class Late(Exception):
    """The deadline has passed."""


class Over(Exception):
    """The child holds more than it may: `what` is too much."""

    def __init__(self, what: str) -> None:
        super().__init__(what)
        self.what = what


class Line:
    """Our end of the socket that a child talks on."""

    def __init__(self, line: socket.socket, longest: int, over: Callable[[], str]) -> None:
        """`longest` is the most bytes of one piece of evidence; `over` says what the child holds too much of."""
        self._line, self._longest, self._over = line, longest, over
        self._held = bytearray()
        self._look_at = time.monotonic() + _LOOK
        self._left = _FRAMES

    def send(self, framed: bytes, deadline: float) -> None:
        """Raises `Broken`, or `Late` where the child does not read."""
        self._line.settimeout(max(0.001, deadline - time.monotonic()))
        try:
            self._line.sendall(framed)
        except TimeoutError:
            raise Late from None
        except OSError as error:
            raise Broken(str(error)) from None

    def next(self, deadline: float) -> tuple[bytes, bytes]:
        """The next frame as (kind, payload). Raises `Late` at `deadline` (by `time.monotonic`), `Over`, `Broken`."""
        self._left -= 1
        if self._left < 0:
            raise Broken("too many messages")
        kind, length = wire.HEAD.unpack(self._exactly(wire.HEAD.size, deadline))
        if length > (self._longest if kind == wire.EVIDENCE else wire.MAX_NOTICE):
            raise Over("evidence")
        return kind, self._exactly(length, deadline)

    def _exactly(self, count: int, deadline: float) -> bytes:
        while len(self._held) < count:
            now = time.monotonic()
            if now > deadline:
                raise Late
            if now > self._look_at:
                what = self._over()
                took = time.monotonic() - now
                # Reading what hundreds of processes hold takes long itself: a tenth of the time at most.
                self._look_at = now + took + max(_LOOK, 10 * took)
                if what:
                    raise Over(what)
            if not select.select([self._line], [], [], min(_LOOK, max(0.0, deadline - now) + 0.001))[0]:
                continue
            try:
                part = self._line.recv(2**18)
            except OSError as error:
                raise Broken(str(error)) from None
            if not part:
                raise Broken("it ended")
            self._held += part
        found = bytes(self._held[:count])
        del self._held[:count]
        return found


def notice(payload: bytes, kind: type) -> Any:
    """The JSON of a frame, which must be of `kind`. Raises `Broken`."""
    try:
        said = json.loads(payload)
    except (ValueError, RecursionError):
        raise Broken("a message that cannot be read") from None
    if type(said) is not kind:
        raise Broken("a message of another kind")
    return said
