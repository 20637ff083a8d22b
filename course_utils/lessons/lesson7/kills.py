"""What a run that is killed leaves behind: its folder, as it is at every moment at which it might be killed.

Nothing is killed here. The folder's files are noted in front of each forward pass and around each write; to go on after
a kill is to begin anew with the files of that moment. So no `except` and no `finally` has a say, as with `kill -9`.
"""

from __future__ import annotations

import builtins
import io
import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import torch

Files = Mapping[str, bytes]
"""{name: content} of the files in a folder."""
FORWARD = "a forward pass"


@dataclass(frozen=True)
class Moment:
    """A moment at which a run might be killed: what comes next, the forward passes done so far, and the files."""

    what: str
    forwards: int
    files: Files


@contextmanager
def a_folder() -> Iterator[Path]:
    """A temporary folder, in memory where there is such a place: a renamed file need not reach a disk here."""
    memory = Path("/dev/shm")
    with TemporaryDirectory(dir=memory if memory.is_dir() and os.access(memory, os.W_OK) else None) as name:
        yield Path(name)


@contextmanager
def _patched(owner: object, name: str, value: object) -> Iterator[None]:
    before = getattr(owner, name)
    setattr(owner, name, value)
    try:
        yield
    finally:
        setattr(owner, name, before)


class Folder:
    """A folder of a run, whose moments are noted."""

    def __init__(self, path: Path, anywhere: bool = False) -> None:
        """With `anywhere`, what torch.save writes into other folders is a moment, too."""
        self._path = path
        self._anywhere = anywhere
        self.moments: list[Moment] = []
        self._forwards = 0

    def files(self) -> Files:
        """What is in the folder now."""
        found = (path for path in sorted(self._path.rglob("*")) if path.is_file())
        return {path.relative_to(self._path).as_posix(): path.read_bytes() for path in found}

    def put(self, files: Files) -> None:
        """Make the folder what it was at another moment."""
        now = self.files()
        for name in now.keys() - files.keys():
            (self._path / name).unlink()
        for folder in sorted((path for path in self._path.rglob("*") if path.is_dir()), reverse=True):
            if not any(folder.iterdir()):
                folder.rmdir()
        for name, content in files.items():
            if now.get(name) == content:
                continue
            path = self._path / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)

    def forward(self) -> None:
        """To be called in front of each forward pass."""
        self._note(FORWARD)
        self._forwards += 1

    @contextmanager
    def noting(self) -> Iterator[None]:
        """In the block, each write into the folder is a moment, too: before it, and when it is half done."""
        with ExitStack() as stack:
            for name in ("replace", "rename", "remove", "unlink"):
                stack.enter_context(_patched(os, name, self._around(name, getattr(os, name))))
            stack.enter_context(_patched(torch, "save", self._halved(torch.save)))
            opened = self._opened(builtins.open)
            for module in (builtins, io):
                stack.enter_context(_patched(module, "open", opened))
            yield

    # ------------------------------------------------------------------ taps

    def _note(self, what: str) -> None:
        self.moments.append(Moment(what, self._forwards, self.files()))

    def _holds(self, file: object) -> bool:
        try:
            return Path(os.fsdecode(file)).resolve().is_relative_to(self._path.resolve())  # type: ignore[arg-type]
        except (TypeError, ValueError, OSError):
            return False

    def _around(self, name: str, original: Callable[..., Any]) -> Callable[..., Any]:
        def call(path: Any, *args: Any, **kwargs: Any) -> Any:
            if self._holds(path):
                self._note(f"os.{name}")
            return original(path, *args, **kwargs)

        return call

    def _opened(self, original: Callable[..., Any]) -> Callable[..., Any]:
        def call(file: Any, mode: str = "r", *args: Any, **kwargs: Any) -> Any:
            found = original(file, mode, *args, **kwargs)
            if isinstance(mode, str) and set(mode) & set("wxa+") and self._holds(file):
                self._note("the first byte of a file")
            return found

        return call

    def _halved(self, original: Callable[..., Any]) -> Callable[..., Any]:
        """torch.save, noted when half of its bytes are written."""

        def call(value: Any, f: Any, *args: Any, **kwargs: Any) -> Any:
            whole = io.BytesIO()
            try:
                original(value, whole, *args, **kwargs)
            except Exception:
                return original(value, f, *args, **kwargs)  # it raises where the learner's own call stands
            half = whole.getvalue()[: whole.tell() // 2]
            if self._holds(f) or self._anywhere and isinstance(f, str | os.PathLike):
                with io.FileIO(f, "w") as file:  # not by open, which is noted itself
                    file.write(half)
                self._note("the second half of a file")
            elif self._holds(getattr(f, "name", None)):
                start = f.tell()
                f.write(half)
                f.flush()
                self._note("the second half of a file")
                f.seek(start)
                f.truncate()
            return original(value, f, *args, **kwargs)

        return call
