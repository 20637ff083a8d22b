"""The last of several losses, divided as if it were all of them: by the text around a backward pass."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import lru_cache
from typing import Any, TypeGuard

from gradient_ledger import source
from gradient_ledger.events import Place, Trail
from gradient_ledger.source import words

_STEPS = 4
"""Names that are followed from a backward pass to what was divided."""


@lru_cache(maxsize=256)
def taken(trail: Trail) -> Place | None:
    """Where the text divides by how often a loop ran, and takes the last alone of what the loop computed: the last of
    a list that it fills, or a name that it gives another value each time; None where it adds up."""
    found = (_taken_at(file, line) or _whole_at_last(file, line) for file, line in trail)
    return next((place for place in found if place is not None), None)


def _whole_at_last(file: str, line: int) -> Place | None:
    """Where a loop gives a name another loss in each round, and every so many rounds divides the last of them by their
    number and lets it go backward."""
    within = source.scope(file, line)
    nodes = source.own(within) if within is not None else ()
    for around in (
        n for n in nodes if isinstance(n, ast.If) and n.body[0].lineno <= line <= (n.body[-1].end_lineno or 0)
    ):
        loop, number = source.loop_around(file, around.lineno), _rounds(around.test)
        for one in source.own(around) if loop is not None and number else ():
            divided = _quotient(one)
            if divided is not None and one.lineno <= line and ast.unparse(divided[1]) == number:
                name = ast.unparse(divided[0])
                made = [n for n in ast.walk(loop) if _binds(n, name) and n.lineno < around.lineno]
                if len(made) == 1 and isinstance(made[0], ast.Assign) and name not in words(made[0].value):
                    if any(isinstance(n, ast.Call) for n in ast.walk(made[0].value)):
                        return Place(file, made[0].lineno)
    return None


def _rounds(test: ast.expr) -> str:
    """What a count is compared with, as in `count == rounds`, or the number that a remainder is taken by."""
    if not isinstance(test, ast.Compare) or not isinstance(test.ops[0], ast.Eq):
        return ""
    if isinstance(test.left, ast.BinOp) and isinstance(test.left.op, ast.Mod):
        return ast.unparse(test.left.right)
    return ast.unparse(test.comparators[0]) if isinstance(test.left, ast.Name) else ""


def _quotient(one: ast.AST) -> tuple[ast.expr, ast.expr] | None:
    """What a quotient divides and by what, or a statement that divides in place."""
    if isinstance(one, ast.BinOp) and isinstance(one.op, ast.Div):
        return one.left, one.right
    return (one.target, one.value) if isinstance(one, ast.AugAssign) and isinstance(one.op, ast.Div) else None


def _binds(one: ast.AST, name: str) -> TypeGuard[ast.Assign | ast.AugAssign]:
    if not isinstance(one, (ast.Assign, ast.AugAssign)):
        return False
    return name in map(ast.unparse, one.targets if isinstance(one, ast.Assign) else [one.target])


def _taken_at(file: str, line: int) -> Place | None:
    within = source.scope(file, line)
    nodes = source.own(within) if within is not None else ()
    for call in (n for n in nodes if isinstance(n, ast.Call) and n.lineno <= line <= (n.end_lineno or 0)):
        holder = [call.func.value] if isinstance(call.func, ast.Attribute) else []
        for given in (*holder, *call.args[:1]):
            if within is not None and (found := _divided(file, within, given, line)) is not None:
                inside, whole, at, end = found
                where = next((last for one in _quotients(whole) if (last := _last(inside, one, at, end))), None)
                if where is not None:
                    return Place(file, where)
    return None


def _quotients(one: ast.expr) -> Iterator[ast.BinOp]:
    """A quotient, and those that it divides in their turn, as in `loss / rounds / 2`."""
    while isinstance(one, ast.BinOp) and isinstance(one.op, ast.Div):
        yield one
        one = one.left


def _divided(file: str, within: ast.AST, given: ast.expr, line: int) -> tuple[ast.AST, ast.BinOp, int, int] | None:
    """The quotient that an expression is, or the name of, or that a function of the same file returns: that function,
    the quotient, its line, and the line that hands it on."""
    end = line
    for _ in range(_STEPS):
        if isinstance(given, ast.BinOp) and isinstance(given.op, ast.Div):
            return within, given, line, end
        if isinstance(given, ast.Call):
            place = source.returned_at(Place(file, line))
            inner = source.scope(file, place.line) if place is not None else None
            back = (
                next((one.value for one in source.own(inner) if isinstance(one, ast.Return)), None) if inner else None
            )
            if place is None or inner is None or back is None:
                return None
            given, within, line, end = (
                back.elts[0] if isinstance(back, ast.Tuple) else back,
                inner,
                place.line,
                place.line,
            )
            continue
        made = source.assigned(within, given.id, line) if isinstance(given, ast.Name) else None
        if made is None or made.at not in (None, 0):
            return None
        given, line = made.value, made.line
    return None


def _last(within: ast.AST, quotient: ast.BinOp, at: int, line: int) -> int | None:
    """The line that takes the last of what a loop above a backward pass has computed, if it is divided by how often
    that ran: of the list, or in the loop."""
    value, taken_at = [quotient, *_quotients(quotient.left)][-1].left, at
    made = None
    for _ in range(_STEPS):
        if not isinstance(value, ast.Name):
            break
        made = source.assigned(within, value.id, taken_at)
        if made is None or made.at is not None:
            return None
        if any(_ran_for(loop, quotient.right) for loop in _loops(within, made.line, line)):
            return made.line if _is_new_each_time(within, value.id, made.value, made.line, line) else None
        value, taken_at = made.value, made.line
    if not isinstance(value, ast.Subscript) or not _is_last_entry(value):
        return None
    name = ast.unparse(value.value)
    fills = [one for one in source.own(within) if _appends(one, name) and one.lineno < line]
    if len(fills) != 1:
        return None
    loops = _loops(within, fills[0].lineno, line)
    counted = any(_ran_for(loop, quotient.right) for loop in loops) or ast.unparse(quotient.right) == f"len({name})"
    if loops and counted and _is_new_each_time(within, name, fills[0].args[0], fills[0].lineno, line):
        return taken_at
    return None


def _loops(within: ast.AST, line: int, outside: int) -> list[ast.For]:
    """The loops around a line that another one below stands outside of, and that nothing breaks off."""
    return [
        one
        for one in source.own(within)
        if isinstance(one, ast.For)
        and one.lineno < line <= (one.end_lineno or 0) < outside
        and not any(isinstance(inner, ast.Break) for inner in ast.walk(one))
    ]


def _ran_for(loop: ast.For, number: ast.expr) -> bool:
    """Whether a number is how often a loop runs, by its text."""
    over = loop.iter
    while isinstance(over, ast.Call) and ast.unparse(over.func) in ("enumerate", "tqdm", "zip") and over.args:
        over = over.args[0]
    if isinstance(over, ast.Call) and ast.unparse(over.func) == "range" and len(over.args) == 1:
        count = ast.unparse(over.args[0])
        return _word(count) == _word(ast.unparse(number))
    return ast.unparse(number) == f"len({ast.unparse(over)})"


def _word(text: str) -> str:
    """A name without the objects that hold it."""
    return text.rpartition(".")[2] if text.replace(".", "").replace("_", "").isalnum() else text


def _is_last_entry(value: ast.expr) -> bool:
    return isinstance(value, ast.Subscript) and isinstance(value.value, ast.Name) and ast.unparse(value.slice) == "-1"


def _appends(one: Any, name: str) -> bool:
    called = one.func if isinstance(one, ast.Call) and len(one.args) == 1 else None
    return isinstance(called, ast.Attribute) and called.attr == "append" and ast.unparse(called.value) == name


def _is_new_each_time(within: ast.AST, name: str, value: ast.expr, line: int, end: int) -> bool:
    """Whether a value is made of nothing that is carried from one round of its loop to the next: what is, may be a sum
    of all rounds, or the end of a path."""
    carried = {word for loop in _loops(within, line, end) for word in _carried(loop)}
    known, waiting = {name}, [*words(value)]
    while waiting:
        word = waiting.pop()
        if word in carried or word == name:
            return False
        made = source.assigned(within, word, line) if word not in known else None
        known.add(word)
        waiting += words(made.value) if made is not None else ()
    return True


def _carried(loop: ast.For) -> set[str]:
    """The names that a loop gives a value which is made of the one before, or that it adds to, and that no round of it
    begins anew."""
    found: set[str] = set()
    for one in ast.walk(loop):
        if isinstance(one, ast.AugAssign):
            found |= words(one.target)
        elif isinstance(one, ast.Assign):
            found |= {word for target in one.targets for word in words(target)} & words(one.value)
            found |= {word for target in one.targets if isinstance(target, ast.Subscript) for word in words(target)}
        elif isinstance(one, ast.Expr) and isinstance(one.value, ast.Call):  # what is called for what it changes
            found |= words(one.value.func)
    begun = [one for one in loop.body if isinstance(one, ast.Assign)]
    return found - {n for one in begun for target in one.targets for n in words(target) - words(one.value)}
