"""Files that are written whole or not at all."""

from __future__ import annotations

import os
import re
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

LEFTOVER = re.compile(r"\.(.+)\.[a-z0-9_]{8}")
"""The name of a file that a killed process was writing; in parentheses the name it would have had."""


@contextmanager
def writing_atomically(path: Path) -> Iterator[BinaryIO]:
    """A file that takes the place of `path` when the block ends, and leaves nothing behind when the block raises.

    Only its owner may read it. For what is too long to hold in memory.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(handle, "wb") as file:
            yield file
        os.replace(temporary, path)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise


def write_atomically(path: Path, text: str) -> None:
    """Write `text` so that a reader, or a crash, finds the old file or the new one and nothing between."""
    write_bytes_atomically(path, text.encode("utf-8"))


def write_bytes_atomically(path: Path, content: bytes) -> None:
    """The same for bytes."""
    with writing_atomically(path) as file:
        file.write(content)
