"""The warm process, seen from outside: start it, ask it for children, end it."""

from __future__ import annotations

import contextlib
import json
import os
import select
import signal
import site
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from course_utils.grading.sandbox import bubble, staging
from course_utils.grading.sandbox.contract import ROOM, NoIsolation

_START = 180.0
"""Seconds that it may take to start: it imports torch, perhaps from a slow disk."""
_END = 30.0
"""Seconds that the end of a killed child may take to be told."""
_RUN = "import sys; sys.path[0] = sys.argv[1]; from course_utils.grading.jail.server import main; main(sys.argv[2])"


class Gone(Exception):
    """The warm process has ended: what it wrote last."""


@dataclass
class Child:
    """A child just forked: our end of its socket, the pipe that it writes its stack to, and how to end it."""

    line: socket.socket
    trouble: int
    pid: int
    handle: int | None
    isolated: bool

    def signal(self, number: int) -> None:
        """Send a signal; nothing happens where the child is gone."""
        with contextlib.suppress(ProcessLookupError, PermissionError):
            if self.handle is not None:
                signal.pidfd_send_signal(self.handle, number)
            else:
                os.kill(self.pid, number)

    def kill(self) -> None:
        """End it, and all that it started: they go with the first of their pid namespace, or with its group."""
        if not self.isolated:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(self.pid, signal.SIGKILL)
        self.signal(signal.SIGKILL)

    def close(self) -> None:
        self.line.close()
        os.close(self.trouble)
        if self.handle is not None:
            os.close(self.handle)


class Warm:
    """A warm process, which forks one child at a time."""

    def __init__(self, isolation: str) -> None:
        """Start it, and wait until it is warm. Raises `Gone`, and `NoIsolation` where temporary files find no room."""
        self._isolated = isolation == "bubblewrap"
        self._rest, self._descriptors = b"", list[int]()
        self._one_lives = False
        with contextlib.ExitStack() as held:  # whatever interrupts this, all of it is undone
            try:
                folder = held.enter_context(tempfile.TemporaryDirectory(prefix="grading-", ignore_cleanup_errors=True))
                staged, scratch = Path(folder, "course"), Path(folder, "tmp")
                scratch.mkdir()
                staging.stage(staged)
                self._wrote = held.enter_context(tempfile.TemporaryFile())
            except OSError as error:
                why = f"the sandbox cannot write its temporary files, some megabytes ({error.strerror or error})"
                raise NoIsolation(f"{why}: {ROOM}") from error
            self._scratch = bubble.scratch() if self._isolated else str(scratch)
            self._control, theirs = socket.socketpair()
            held.callback(self._control.close)
            with theirs:
                self._process = self._start(isolation, staged, theirs)
            held.callback(self._end)
            said = self._hear(_START)
            if others := said.get("others"):
                raise NoIsolation(
                    f"The warm process cannot be forked: this build of torch has started a thread in it ({others[0]}), "
                    "as some packages of Linux distributions do at the first backward pass. Grade with torch from PyPI."
                )
            self._held = held.pop_all()

    def _start(self, isolation: str, staged: Path, theirs: socket.socket) -> subprocess.Popen[bytes]:
        environment = {
            "PATH": "/usr/bin:/bin",
            "LANG": "C.UTF-8",
            "HOME": self._scratch,
            "TMPDIR": self._scratch,
            "USER": "student",
            "PYTHONHASHSEED": "0",  # the order of a set of strings is the same in every run
            "PYTHONDONTWRITEBYTECODE": "1",
            "PYTHONBREAKPOINT": "0",
            "MPLBACKEND": "template",  # figures that nobody judges are not drawn
            "OMP_NUM_THREADS": "1",
            "MKL_NUM_THREADS": "1",
            "OPENBLAS_NUM_THREADS": "1",
            "CUDA_VISIBLE_DEVICES": "",  # for each device autograd has a thread, and what has threads cannot be forked
        }
        if site.ENABLE_USER_SITE:  # where torch itself may be; else HOME would say where it is
            environment["PYTHONUSERBASE"] = site.getuserbase()
        wrapped: list[str] = []
        where = str(staged)
        if self._isolated:
            wrapped, where = bubble.command(staged), bubble.COURSE
            for name, value in environment.items():
                wrapped += ["--setenv", name, value]
        try:
            return subprocess.Popen(
                [*wrapped, sys.executable, "-c", _RUN, where, isolation],
                stdin=theirs.fileno(),
                stdout=subprocess.DEVNULL,
                stderr=self._wrote,
                env={"PATH": os.environ.get("PATH", "/usr/bin:/bin")} if self._isolated else environment,
                cwd="/",
                start_new_session=True,
            )
        except OSError as error:
            raise Gone(str(error)) from error

    def child(self, request: Mapping[str, Any]) -> Child:
        """A new child, `request` saying what it may take. Raises `Gone`. The one before must have been ended."""
        if self._one_lives and self.ended_within(_END) is None:
            raise Gone("a child that was killed does not end")
        ours, theirs = socket.socketpair()
        read, write = os.pipe()
        os.set_blocking(read, False)
        try:
            words = json.dumps({**request, "scratch": self._scratch}).encode()
            self._control.settimeout(_START)
            socket.send_fds(self._control, [len(words).to_bytes(8, "big")], [theirs.fileno(), write])
            self._control.sendall(words)
            said = self._hear(_START)
            self._one_lives = True
        except OSError as error:
            ours.close()
            os.close(read)
            raise Gone(self._last_words(str(error))) from error
        finally:
            theirs.close()
            os.close(write)
        handle = self._descriptors.pop(0) if self._descriptors else None
        pid = int(said["pid"]) if handle is None else _pid_of(handle)
        return Child(ours, read, pid, handle, self._isolated)

    def ended_within(self, seconds: float) -> int | None:
        """How the last child ended: its exit code, or the signal's number, negative. None where it lives on so long."""
        if b"\n" not in self._rest and not select.select([self._control], [], [], seconds)[0]:
            return None
        self._one_lives = False
        return int(self._hear(_END)["ended"])

    def close(self) -> None:
        """End it, and whatever is left in it."""
        self._held.close()

    def _end(self) -> None:
        self._control.close()
        try:
            # Without isolation it ends by itself when it finds the socket closed; bubblewrap takes all along.
            self._process.wait(0 if self._isolated else 2)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        for descriptor in self._descriptors:
            os.close(descriptor)
        self._descriptors = []

    def _hear(self, seconds: float) -> dict[str, Any]:
        """The next line that the warm process says, with descriptors put aside."""
        deadline = time.monotonic() + seconds
        while b"\n" not in self._rest:
            self._control.settimeout(max(0.001, deadline - time.monotonic()))
            try:
                part, descriptors, _, _ = socket.recv_fds(self._control, 2**16, 4)
            except OSError as error:
                raise Gone(self._last_words(str(error))) from error
            if not part:
                raise Gone(self._last_words("it ended"))
            self._descriptors += descriptors
            self._rest += part
        line, _, self._rest = self._rest.partition(b"\n")
        said: dict[str, Any] = json.loads(line)
        return said

    def _last_words(self, default: str) -> str:
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(1)
        self._wrote.seek(0)
        return self._wrote.read().decode(errors="replace").strip()[-2000:] or default


def _pid_of(handle: int) -> int:
    """The process behind a descriptor, by its number out here."""
    for row in Path(f"/proc/self/fdinfo/{handle}").read_text().splitlines():
        if row.startswith("Pid:"):
            return int(row.split()[1])
    return -1
