"""What students hand in, put on disk, and what is found of it."""

from __future__ import annotations

import io
import sys
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from course_utils.grading.archives import Unreadable
from course_utils.grading.roster import Roster, read_roster
from course_utils.grading.submissions import Found, read

NB = b'{"nbformat": 4, "metadata": {"course": {"lesson": 3}}, "cells": []}'
LINUX = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="names and files that only Linux has")

Tree = Mapping[str, Any]
"""{name: bytes, or a Tree for a folder, or for a zip where the name ends in .zip}."""


def lay(folder: Path, tree: Tree) -> Path:
    """Put files, folders and zips on disk."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, content in tree.items():
        if isinstance(content, bytes):
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).write_bytes(content)
        elif name.endswith(".zip"):
            (folder / name).write_bytes(packed(content))
        else:
            lay(folder / name, content)
    return folder


def packed(tree: Tree) -> bytes:
    """A zip of files; a Tree in it is a zip, too."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in tree.items():
            archive.writestr(name, content if isinstance(content, bytes) else packed(content))
    return buffer.getvalue()


def whose(found: Found) -> dict[str, list[str]]:
    """{student: labels}, after every notebook could be read."""
    result: dict[str, list[str]] = {}
    for each in found.submissions:
        assert read(each) == NB, each
        result.setdefault(each.student, []).append(each.label)
    return result


def unreadable(found: Found) -> dict[str, str]:
    """{student: what reading the notebook says}, of those that cannot be read."""
    result = {}
    for each in found.submissions:
        try:
            read(each)
        except Unreadable as error:
            result[each.student] = str(error)
    return result


def students(found: Found) -> list[str]:
    return list(whose(found))


def warned(found: Found, *parts: str) -> bool:
    return any(all(part in line for part in parts) for line in found.warnings)


def listed(folder: Path, data: str | bytes) -> Roster:
    """The roster in a file that holds `data`."""
    (folder / "r.csv").write_bytes(data.encode() if isinstance(data, str) else data)
    return read_roster(folder / "r.csv")
