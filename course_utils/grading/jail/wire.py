"""Frames over a stream socket: one byte that says what it is, four of length, the payload."""

from __future__ import annotations

import json
import socket
import struct
from typing import Any

HEAD = struct.Struct("!cI")
MAX_NOTICE = 2**20
"""Longest payload of any frame but evidence, in bytes."""

# What the outer half says.
JOB, CASES = b"J", b"K"
# What a child says: shut in, and ready to be given a job.
READY, FAULT = b"R", b"!"
# A cell begins, and what came of one that did not end well; all are through.
CELL, FAILED, FOUND = b"c", b"e", b"f"
# An exercise begins, one of its cases begins, its evidence; all is done.
EXERCISE, CASE, EVIDENCE, DONE = b"x", b"t", b"v", b"d"


class Closed(ConnectionError):
    """The other end is gone."""


def frame(kind: bytes, payload: bytes = b"") -> bytes:
    return HEAD.pack(kind, len(payload)) + payload


def notice(kind: bytes, said: Any) -> bytes:
    """A frame of JSON."""
    return frame(kind, json.dumps(said).encode())


def send(line: socket.socket, framed: bytes) -> None:
    line.sendall(framed)


def receive(line: socket.socket) -> tuple[bytes, bytes]:
    """The next frame; waits for it. For the inner half alone, which trusts who talks to it. Raises `Closed`."""
    kind, length = HEAD.unpack(_exactly(line, HEAD.size))
    return kind, _exactly(line, length)


def _exactly(line: socket.socket, count: int) -> bytes:
    parts = bytearray()
    while len(parts) < count:
        part = line.recv(min(count - len(parts), 2**20))
        if not part:
            raise Closed("the other end is gone")
        parts += part
    return bytes(parts)
