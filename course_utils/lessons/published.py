"""Which cells the course ships: `lessons/cells.json`, written by `course build`, with their digests and no answer."""

from __future__ import annotations

import hashlib
import json
from functools import cache
from importlib import resources


def normal(source: str) -> str:
    """The code of a cell as it is compared: no line ends in white space, no empty lines stand at its end."""
    lines = source.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    return "\n".join(line.rstrip() for line in lines).strip("\n")


def cell_digest(source: str) -> str:
    """32 hexadecimal digits of the code of a cell, `normal`ized."""
    return hashlib.sha256(normal(source).encode("utf-8", "replace")).hexdigest()[:32]


@cache
def published_cells() -> dict[int, frozenset[str]]:
    """{lesson: digests of the code cells of its student notebook}; empty where the course was never built."""
    try:
        text = resources.files("course_utils").joinpath("lessons/cells.json").read_text(encoding="utf-8")
    except FileNotFoundError:
        return {}
    return {int(number): frozenset(digests) for number, digests in json.loads(text).items()}
