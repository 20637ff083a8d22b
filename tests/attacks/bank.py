"""What an attack is, how one is written down, and the pieces that many of them share.

    @attack("reads the answers by importing them")
    def import_answers(world: World) -> Cells:
        return [LOOT, cell('''…'''), SMUGGLE]

The function gives the cells of a notebook, or the bytes of a file, or several of either, graded one after the other.
After each attack everything in `proofs` is checked; `earns` is what the honest part of it is worth, mostly nothing.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from textwrap import dedent
from typing import Any, Literal

Cells = list[str]
Handed = bytes | Cells
"""One notebook: its bytes, or the sources of its code cells."""

FAMILIES = (
    "answers",
    "behaviour",
    "bombs",
    "channel",
    "endless",
    "files",
    "machinery",
    "network",
    "notebooks",
    "pages",
    "processes",
)
TARGET = "1.2"
"""The exercise that most attacks want points for."""
NAME = "linear_mse_gradient"
WORTH = 15
"""Its points."""


@dataclass(frozen=True)
class World:
    """What lies on the host around a run of grading: everything that an attack may want and must not get."""

    secret: str
    """Stands in every file of `secrets`, in an environment variable and in the seed; may show up in no result."""
    secrets: tuple[Path, ...]
    """Files that hold it: a sibling's notebook, a result in the gradebook, a key in the home folder, ..."""
    folder: Path
    """Around all of them. No file in it may change, come or go."""
    clone: Path
    """The clone of the course, answers and all."""
    port: int
    """On which the host listens, on localhost, TCP and UDP."""
    unix: Path
    abstract: str
    """The names of two Unix sockets on which the host listens, one in the file system and one that is not."""
    marker: str
    """What a process of an attack calls itself, so that a survivor can be found; at most 15 characters."""


@dataclass(frozen=True)
class Attack:
    name: str
    family: str
    harm: str
    """What it tries, in a few words: "reads …", "ends …"."""
    make: Callable[..., Any]
    kind: Literal["notebook", "folder"] = "notebook"
    earns: float = 0
    """The points of its honest part: more is a gain."""
    keeps: float = 0
    """The points that its honest part must still get, where the attack is no reason to lose them."""
    real: bool = False
    """Whether it can be shown, without harm, to succeed where nothing isolates it: then it is, so that its proof is
    known to be able to fail."""
    heavy: bool = False
    """Whether it takes long: such tests run at the end of `make test`, while its time allows."""
    gains: float = 0
    """The points that it is known to gain. Where it gains fewer the fault is mended, and this and `limit` go."""
    limit: str = ""
    """Why it gains them: the guide says so, too."""

    def handed(self, world: World) -> list[bytes]:
        """The notebooks of an attack that is one, in the order in which they are graded."""
        found = self.make(world)
        several = found if isinstance(found, tuple) else (found,)
        return [each if isinstance(each, bytes) else notebook(each) for each in several]


_attacks: list[Attack] = []


def attack(harm: str, **rest: Any) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Write down a notebook as an attack; `rest` are fields of `Attack`."""

    def write_down(make: Callable[..., Any]) -> Callable[..., Any]:
        family = make.__module__.rpartition(".")[2]
        _attacks.append(Attack(make.__name__, family, harm, make, **rest))
        return make

    return write_down


def layout(harm: str, **rest: Any) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Write down a folder of submissions as an attack: the function is given an empty one and fills it."""
    return attack(harm, kind="folder", **rest)


def attacks() -> list[Attack]:
    """Every attack of every family."""
    for family in FAMILIES:
        import_module(f"attacks.{family}")
    return sorted(_attacks, key=lambda each: FAMILIES.index(each.family))


# ------------------------------------------------------------------ notebooks


def notebook(cells: Sequence[str], lesson: Any = 1, **top: Any) -> bytes:
    """A notebook with these code cells, as JupyterLab writes one; `top` replaces entries of its top level."""
    tree = {
        "cells": [code_cell(source, f"cell-{number}") for number, source in enumerate(cells)],
        "metadata": {"course": {"lesson": lesson}, "kernelspec": KERNEL, "language_info": {"name": "python"}},
        "nbformat": 4,
        "nbformat_minor": 5,
        **top,
    }
    return json.dumps(tree).encode()


KERNEL = {"display_name": "Python 3 (ipykernel)", "language": "python", "name": "python3"}


def code_cell(source: Any, identifier: str = "one") -> dict[str, Any]:
    return {
        "cell_type": "code",
        "execution_count": None,
        "id": identifier,
        "metadata": {},
        "outputs": [],
        "source": source,
    }


def cell(source: str) -> str:
    """The source of a cell, written indented."""
    return dedent(source).strip() + "\n"


HONEST = cell(f"""
    def {NAME}(w, x, y):
        return 2 * x.T @ (x @ w - y) / len(y)
""")
"""Right, and worth `WORTH` points."""

WRONG = cell(f"""
    def {NAME}(w, x, y):
        return w * 0
""")

LOOT = cell("""
    import contextlib, ctypes, gc, glob, io, os, re, socket, stat, subprocess, sys, threading, time
    import torch
    # Written so that it does not find itself, in its code or in memory.
    SIGNS = re.compile(b"CANARY" + b"[0-9a-f]{16}|exact[ ]to[ ]rounding")
    libc = ctypes.CDLL(None, use_errno=True)
    loot = []

    def look(text):
        text = text.encode("utf-8", "replace") if isinstance(text, str) else text
        loot.extend(found.decode() for found in SIGNS.findall(text))

    def read(path, most=2_000_000):
        with contextlib.suppress(Exception), open(path, "rb") as file:
            look(file.read(most))

    def succeeded():
        loot.append("".join(("CANARY", "0123456789abcdef")))

    def tried(action, *arguments):
        with contextlib.suppress(Exception):
            return action(*arguments)
""")
"""Looks for what is secret, and keeps it in `loot`; what must not work and does calls `succeeded`."""

SMUGGLE = cell(f"""
    def {NAME}(w, x, y):
        words = " ".join(map(str, loot))[:1500]
        print(words)
        raise RuntimeError(words)

    print(loot)
""")
"""Hands over what was found, by every way on which a result carries a learner's text."""
