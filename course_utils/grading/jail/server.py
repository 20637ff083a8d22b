"""The warm process: everything a submission needs is imported once, then a child is forked for each.

It reads requests from the control socket (its standard input) and never anything that a child says. A request is JSON,
with two descriptors beside it: the child's end of a socket, and a pipe.
"""

from __future__ import annotations

import gc
import json
import os
import shutil
import socket
import tempfile
from pathlib import Path
from typing import Any

from course_utils.grading.jail import linux, plan, wire
from course_utils.grading.jail.kernel import plain_python
from course_utils.grading.jail.warm_up import warm_up

CONTROL = 0


def main(isolation: str) -> None:
    """Serve until the control socket is closed."""
    control = socket.socket(fileno=os.dup(CONTROL))
    # First of all, while this process is small: the warm one is a fork of it.
    nursery = linux.Nursery() if isolation == "bubblewrap" else None
    if nursery is None:
        linux.end_with_parent()
    warm_up()
    gc.collect()
    gc.disable()
    _say(control, {"others": _other_threads()})
    while True:
        request, descriptors = _request(control)
        if request is None:
            return
        _learn(request)
        _serve(control, request, descriptors, nursery)


def _request(control: socket.socket) -> tuple[dict[str, Any] | None, list[int]]:
    head, descriptors, _, _ = socket.recv_fds(control, 8, 2)
    if not head:
        return None, []
    length, parts = int.from_bytes(head, "big"), b""
    while len(parts) < length:
        part = control.recv(length - len(parts))
        if not part:
            return None, []
        parts += part
    return json.loads(parts), list(descriptors)


def _say(control: socket.socket, said: dict[str, Any], descriptors: list[int] | None = None) -> None:
    socket.send_fds(control, [json.dumps(said).encode() + b"\n"], descriptors or [])


def _serve(
    control: socket.socket, request: dict[str, Any], descriptors: list[int], nursery: linux.Nursery | None
) -> None:
    """Fork a child, tell the outer half who it is, wait for its end and tell how it ended."""
    scratch = "" if nursery else tempfile.mkdtemp(prefix="submission-")
    gc.freeze()
    child = nursery.fork() if nursery else os.fork()
    if not child:
        try:
            control.close()
            _be_a_child(request, descriptors, nursery, scratch)
        except BaseException:  # whatever it is, this process is the child's and ends here
            pass
        finally:
            os._exit(0)
    for descriptor in descriptors:
        os.close(descriptor)
    handle = [os.pidfd_open(child)] if hasattr(os, "pidfd_open") else []
    _say(control, {"pid": child}, handle)
    for descriptor in handle:
        os.close(descriptor)
    _, status = os.waitpid(child, 0)
    if scratch:
        shutil.rmtree(scratch, ignore_errors=True)
    _say(control, {"ended": os.waitstatus_to_exitcode(status)})


def _be_a_child(request: dict[str, Any], descriptors: list[int], nursery: linux.Nursery | None, scratch: str) -> None:
    from course_utils.grading.jail import child  # imports torch: not before the nursery is made

    line, trouble = socket.socket(fileno=descriptors[0]), descriptors[1]
    try:
        os.setsid()  # else a signal to "my process group" would reach the warm process
        linux.end_with_parent()
        if nursery:
            scratch = request["scratch"]
            linux.shut_in(nursery, scratch, request["disk"])
            linux.limit_resources(request["seconds"], request["memory"], request["processes"], request["disk"])
        _settle(scratch, keep={line.fileno(), trouble})
    except Exception as error:
        wire.send(line, wire.notice(wire.FAULT, f"{type(error).__name__}: {error}"))
        return
    gc.enable()
    child.live(line, trouble)


def _settle(scratch: str, keep: set[int]) -> None:
    """Nothing in, nothing out, a folder of one's own, no descriptors but `keep`."""
    empty = os.open(os.devnull, os.O_RDWR)
    for standard in (0, 1, 2):
        os.dup2(empty, standard)
    edges = [2, *sorted(keep), 2**16]
    for low, high in zip(edges, edges[1:], strict=False):
        os.closerange(low + 1, high)
    work = os.path.join(scratch, "work")
    os.makedirs(work, exist_ok=True)
    os.chdir(work)
    os.environ.update(HOME=work, TMPDIR=scratch)
    tempfile.tempdir = None


def _learn(request: dict[str, Any]) -> None:
    """Read the names in cells of the course, once for all children. The outer half knows that they are the course's."""
    for source in request["published"]:
        plan.names_of(plain_python(source))


def _other_threads() -> list[str]:
    """The names of the threads beside this one: a fork would be left with what they held."""
    try:
        own = os.readlink("/proc/self")  # by the numbers of this /proc, which may be another namespace's
        others = [one for one in Path("/proc/self/task").iterdir() if one.name != own]
        return [Path(one, "comm").read_text().strip() for one in others]
    except OSError:
        return []
