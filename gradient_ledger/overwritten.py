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
_COMPUTES = re.compile(
    r"loss|criterion|(?<![a-z])ce(?![a-z])|mse|l1|bce|entropy|kl|nll|div|sim|dist|reg|penalty", re.IGNORECASE
)
"""Names of what computes one."""
_MADE = re.compile(r"fn$|func|criterion|weight|coef|class|^F$", re.IGNORECASE)
"""Names with such a word that are no losses themselves."""


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
        for block in source.blocks(within):
            lost = [*_lost_in(block), *_lost_in_turn(block)]
            lines |= dict.fromkeys((getattr(within, "name", "<module>"), line) for line in lost)
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
        following = block[at + 1] if at + 1 < len(block) else None
        if isinstance(following, ast.If) and (line := _weighed_in_its_place(one, following)):
            yield line


def _weighed_in_its_place(statement: ast.stmt, branch: ast.If) -> int:
    """The line of a branch that gives the name of a loss to another one, by a weight that its condition asks for: who
    chooses between two losses asks for their name, or for a flag."""
    name = _bound(statement)
    (one, *more), weights = branch.body, source.read_in(branch.test)
    value = one.value if isinstance(one, ast.Assign) and name and _bound(one) == name and not more else None
    product = isinstance(value, ast.BinOp) and isinstance(value.op, ast.Mult) and not branch.orelse
    if value is None or not product or name in source.read_in(value):
        return 0
    sides = [side.id for side in (value.left, value.right) if isinstance(side, ast.Name)]  # type: ignore[attr-defined]
    return one.lineno if weights & set(sides) else 0


def _lost_in_turn(block: list[ast.stmt]) -> Iterator[int]:
    """The lines of loops that compute a loss in each turn, and hand nothing on to the next: behind the loop its name
    stands for the last one alone, and that goes backward."""
    for at, loop in enumerate(block):
        if not isinstance(loop, ast.For):
            continue
        whole = [one for each in loop.body for one in (each.body if isinstance(each, ast.With) else [each])]
        name = next((name for one in reversed(whole) if (name := _bound(one))), "")
        body = [one for one in whole if not name or not _notes(one, name)]
        last = body[-1] if body else None
        if not isinstance(last, ast.Assign) or _bound(last) != name or not _computes(last.value):
            continue
        jumps = any(isinstance(one, _JUMPS) for each in body for one in ast.walk(each))
        if not name or jumps or any(name in source.read_in(one) for one in body):
            continue
        if not _hands_on(loop, body) and _goes_backward(block[at + 1 :], name):
            yield last.lineno


def _notes(statement: ast.stmt, name: str) -> bool:
    """Whether a statement only writes down the number of a loss, as `total += loss.item()` does."""
    if not isinstance(statement, (ast.AugAssign, ast.Expr)):
        return False
    text = ast.unparse(statement)
    number = rf"\b{name}((\.detach\(\)|\.data|\.cpu\(\))*\.item\(\)|\.detach\(\)|\.data\b)|\bfloat\({name}\)"
    return re.search(number, text) is not None and not re.search(rf"\b{name}\b", re.sub(number, "", text))


def _hands_on(loop: ast.For, body: list[ast.stmt]) -> bool:
    """Whether a turn does anything else than to bind names, or reads what an earlier one has bound."""
    own = {one.id for one in _written(loop.target)}
    later = {one.id for each in body for one in _written(each)} - own
    for each in body:
        if not isinstance(each, ast.Assign) or source.read_in(each.value) & later:
            return True
        later -= {one.id for one in _written(each)}
    return False


def _written(within: ast.AST) -> list[ast.Name]:
    """The names that a piece of text binds."""
    return [one for one in ast.walk(within) if isinstance(one, ast.Name) and isinstance(one.ctx, ast.Store)]


def _goes_backward(statements: list[ast.stmt], name: str) -> bool:
    """Whether these send a loss of this name backward, as it is, before they give the name to another one."""
    goes = re.compile(rf"(?<![\w.]){name}\.backward\(|backward\({name}\b|\.scale\({name}\)")
    for one in statements:
        if name in {each.id for each in _written(one)}:
            return False
        if goes.search(ast.unparse(one)):
            return True
    return False


def _left_by(statement: ast.stmt) -> str:
    """The name that a statement leaves bound to a loss: its own, or that of a branch without another one, which is left
    at its end and reads the name no more; or that both branches give to what they make of it."""
    if not isinstance(statement, ast.If):
        return _bound(statement) if isinstance(statement, ast.Assign) and _computes(statement.value) else ""
    if statement.orelse:
        names = {_bound(block[-1]) for block in (statement.body, statement.orelse)}
        name = names.pop() if len(names) == 1 else ""
        ends = [block[-1] for block in (statement.body, statement.orelse)]
        return name if name and all(name in source.read_in(one) for one in ends) else ""
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
    """Whether an expression computes a loss of something, by a call with arguments, or of another loss, or is one."""
    if isinstance(value, ast.Name):
        return bool(_LOSS.search(value.id) and not _MADE.search(value.id))
    calls = [one for one in ast.walk(value) if isinstance(one, ast.Call)]
    if any(one.args and _COMPUTES.search(source.last_name(one.func)) for one in calls):
        return True
    return bool(calls) and any(_LOSS.search(name) and not _MADE.search(name) for name in source.read_in(value))
