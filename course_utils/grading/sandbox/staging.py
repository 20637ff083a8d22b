"""What the sandbox may see: a copy of the course without answers, and the folders that Python needs."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path, PurePath

import course_utils
import gradient_ledger
from course_utils.checks import knows_an_answer

PACKAGES = tuple(Path(package.__path__[0]).resolve() for package in (course_utils, gradient_ledger))
_SYSTEM = ("/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/etc/ld.so.cache", "/etc/alternatives", "/nix/store")


def stays_outside(path: PurePath) -> bool:
    """Whether a file of the course, by its path from the folder of the packages on, has no business in the sandbox."""
    parts = path.parts
    outer = parts[:2] == ("course_utils", "grading") and parts[2:3] not in (("__init__.py",), ("jail",))
    return knows_an_answer(path) or outer or parts[:2] == ("course_utils", "authoring") or "__pycache__" in parts


def stage(folder: Path) -> None:
    """Copy both packages into `folder`, without what stays outside."""
    for package in PACKAGES:
        for source in sorted(package.rglob("*")):
            path = source.relative_to(package.parent)
            if source.is_file() and not stays_outside(path):
                target = folder / path
                target.parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(source, target)


def visible() -> list[str]:
    """Folders and files to be seen inside where they are outside: Python, its libraries, the system's."""
    python = {sys.prefix, sys.base_prefix, sys.exec_prefix, sys.base_exec_prefix}
    python.add(str(Path(sys.executable).resolve().parent.parent))
    libraries = {path for path in sys.path if Path(path).name in ("site-packages", "dist-packages")}
    found: list[str] = []
    for path in sorted({*_SYSTEM, *python, *libraries}, key=lambda path: len(PurePath(path).parts)):
        covered = any(PurePath(path).is_relative_to(one) for one in found)
        if os.path.exists(path) and path != "/" and not (covered and not _in_clone(path)):
            found.append(path)
    return found


def clone() -> Path | None:
    """The folder of the course's sources, where this Python runs them from there; None for an installed course."""
    folder = PACKAGES[0].parent
    return folder if (folder / "pyproject.toml").is_file() else None


def _in_clone(path: str) -> bool:
    root = clone()
    return root is not None and Path(path).is_relative_to(root)


def hidden() -> tuple[list[str], list[str]]:
    """(folders, files) inside of what is visible that hold the course itself, or tell where it is."""
    folders, files, seen = [], [], visible()
    sites = {path for path in (*sys.path, *seen) if any(PurePath(path).is_relative_to(one) for one in seen)}
    for root in seen:  # those of other Pythons, too
        sites.update(map(str, Path(root).glob("lib*/python3*/*-packages")))
        sites.update(map(str, Path(root).glob("local/lib*/python3*/*-packages")))
    for site in sites:
        for entry in _entries(site):
            name = entry.name.lower()
            if entry.is_dir() and name in ("course_utils", "gradient_ledger"):
                folders.append(str(entry))
            elif entry.is_dir() and name.startswith(("gradient_ledger-", "gradient-ledger-")):
                folders.append(str(entry))
            elif entry.is_file() and "gradient_ledger" in name and name.endswith((".pth", ".py", ".egg-link")):
                files.append(str(entry))
    return sorted(folders), sorted(files)


def _entries(folder: str) -> Iterator[Path]:
    try:
        yield from Path(folder).iterdir()
    except OSError:
        return
