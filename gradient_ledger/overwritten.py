"""Losses that the user's text computes, and binds their name to another one before anything reads it."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator
from functools import lru_cache

from gradient_ledger import source
from gradient_ledger.events import Event, Place

_LOSS = re.compile(r"loss|(?<![a-z])err(or)?(?![a-z])|objective", re.IGNORECASE)
"""Names of losses."""
_COMPUTES = re.compile(r"loss|criterion|mse|l1|bce|entropy|kl|nll|div|sim|dist|reg|penalty", re.IGNORECASE)
"""Names of what computes one."""


def found(files: Iterable[str], events: Iterable[Event]) -> tuple[Place, ...]:
    """The lines that compute a loss which is lost, in functions that have run."""
    ran = {(e.where.file, e.where.function) for e in events if e.where is not None}
    return tuple(
        Place(file, line, function) for file in files for function, line in _lost(file) if (file, function) in ran
    )


@lru_cache(maxsize=256)
def _lost(file: str) -> tuple[tuple[str, int], ...]:
    lines: dict[tuple[str, int], None] = {}
    for within in source.functions(file):
        for one in (within, *source.own(within)):
            for block in (getattr(one, "body", None), getattr(one, "orelse", None)):
                if isinstance(block, list):
                    lines |= dict.fromkeys((getattr(within, "name", "<module>"), line) for line in _lost_in(block))
    return tuple(lines)


def _lost_in(block: list[ast.stmt]) -> Iterator[int]:
    """The lines of one block that bind a name to a loss, where the block binds it again before it reads it."""
    for at, one in enumerate(block):
        if name := _left_by(one):
            for later in block[at + 1 :]:
                if name in source.read_in(later) or not isinstance(
                    later, (ast.Assign, ast.Expr, ast.AugAssign, ast.With)
                ):
                    break
                if _bound(later) == name and isinstance(later, ast.Assign) and _computes(later.value):
                    yield later.lineno
                    break


def _left_by(statement: ast.stmt) -> str:
    """The name that a statement leaves bound to a loss: its own, or that of a branch without another one, which is left
    at its end and reads the name no more."""
    if not isinstance(statement, ast.If) or statement.orelse:
        return _bound(statement) if isinstance(statement, ast.Assign) and _computes(statement.value) else ""
    *before, last = statement.body
    jumps = any(isinstance(one, _JUMPS) for each in before for one in ast.walk(each))
    return "" if jumps else _left_by(last)


_JUMPS = (ast.Return, ast.Raise, ast.Break, ast.Continue)
"""What leaves a branch before its end."""


def _bound(statement: ast.stmt) -> str:
    """The one plain name that a statement binds, if that is a loss's."""
    targets = statement.targets if isinstance(statement, ast.Assign) else []
    name = targets[0].id if len(targets) == 1 and isinstance(targets[0], ast.Name) else ""
    return name if _LOSS.search(name) else ""


def _computes(value: ast.expr) -> bool:
    """Whether an expression computes a loss of something, by a call with arguments."""
    calls = [one for one in ast.walk(value) if isinstance(one, ast.Call) and one.args]
    return any(_COMPUTES.search(source.last_name(one.func)) for one in calls)
