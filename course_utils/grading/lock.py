"""One process at a time: a file that a command holds locked for as long as it lives."""

from __future__ import annotations

import getpass
import os
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from gradient_ledger.errors import UserError

_held: set[Path] = set()
"""Files that this process has locked: a process's own lock does not keep itself out."""


@contextmanager
def locked(path: Path) -> Iterator[None]:
    """Keep every other process that asks for the same file out meanwhile; its folder is made where there is none.

    Raises `UserError`, saying who has it. The lock ends with its process, however that ends. Windows has none.
    """
    folder, path = path.parent, path.resolve()
    busy = "another `course grade` is at work on it ({who}): wait until it is done, or give another folder to --out"
    if path in _held:
        raise UserError(f"{folder}: {busy.format(who='this process')}")
    try:
        folder.mkdir(parents=True, exist_ok=True)
        handle = os.open(path, os.O_RDWR | os.O_CREAT | getattr(os, "O_CLOEXEC", 0), 0o600)
    except (FileExistsError, NotADirectoryError):
        raise UserError(
            f"{folder} cannot be a gradebook: there is a file in its place; give a folder to --out"
        ) from None
    except OSError as error:
        raise UserError(f"{folder} cannot be a gradebook ({error.strerror or error}): give another to --out") from error
    try:
        if not _try_lock(handle):
            who = os.read(handle, 200).decode("utf-8", "replace").strip() or "unknown"
            raise UserError(f"{folder}: {busy.format(who=who)}")
        _held.add(path)
        try:
            os.ftruncate(handle, 0)
            os.write(handle, f"process {os.getpid()} of {_user()} on {socket.gethostname()}\n".encode())
            yield
        finally:
            _held.discard(path)
    finally:
        os.close(handle)  # which gives the lock back; the file stays, or two processes could lock two files


def _try_lock(handle: int) -> bool:
    """Whether the file is now this process's. It ends with the process, and its children have no part in it."""
    try:
        import fcntl
    except ImportError:  # Windows
        return True
    try:
        fcntl.lockf(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        if isinstance(error, BlockingIOError | PermissionError):
            return False
        raise UserError(f"the gradebook cannot be locked ({error.strerror}): put it on a local disk") from error
    return True


def _user() -> str:
    try:
        return getpass.getuser()
    except (OSError, KeyError):  # a container's user may have no name
        return f"user {os.getuid()}" if hasattr(os, "getuid") else "a user"
