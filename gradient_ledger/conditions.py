"""When a step is taken, by the text: the condition that it stands under, and what may pass over that."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from functools import lru_cache
from types import FrameType
from typing import Any, NamedTuple

from gradient_ledger import divisions, places, source
from gradient_ledger.events import Place, Trail


class Around(NamedTuple):
    """The conditions a line stands under."""

    under: int | None
    """Line of the innermost `if` whose body holds it."""
    condition: str
    """The text of that `if`'s test."""
    passed_over: int | None
    """Line of the last `continue` before that `if` in the same loop, or `return` in the same function."""


_NOTHING = Around(None, "", None)


def of_step(place: Place, trail: Trail) -> dict[str, Any]:
    """When a step is taken: the `if` it stands under, and what may pass over that.

    A step in a helper is taken when the helper is called: of its callers, the one that counts decides.
    """
    frames = [Place(file, line, place.function, place.through) for file, line in trail] or [place]
    found = [(frame, _around(frame.file, frame.line)) for frame in frames]
    pairs = zip(found, frames[1:], strict=False)
    found += [(outer, told) for (inner, one), outer in pairs if (told := _asked_for(inner, one, outer)) is not None]
    under = [(frame, one) for frame, one in found if one.under is not None]
    frame, one = next(((f, o) for f, o in under if "%" in o.condition), under[0] if under else (place, _NOTHING))
    over = next(((f, o.passed_over) for f, o in found if o.passed_over is not None), None)
    lines = tuple((one.file, one.line) for one in frames)
    return {
        "under": Place(frame.file, one.under, frame.function, frame.through) if one.under is not None else None,
        "condition": one.condition,
        "never_last": never_last(frame.file, one.under, one.condition) if one.under is not None else "",
        "reported": divisions.reported(lines),
        "unread": divisions.unread(lines),
        "gathers": divisions.gathers(lines, one.condition),
        "passed_over": Place(over[0].file, over[1]) if over is not None and over[1] is not None else None,
        "behind": Place(place.file, head) if (head := _loop_before(place.file, place.line)) is not None else None,
        "turned_at": next((at for one in frames if (at := _turned(one.file, one.line)) is not None), None),
        "on_last_of": Place(place.file, head) if (head := _last_turn(place.file, place.line)) is not None else None,
    }


@lru_cache(maxsize=256)
def never_last(file: str, line: int, condition: str) -> str:
    """The part of a condition that asks whether a loop is at its last turn, and that its counter never fulfils: `i ==
    len(x)` where `enumerate(x)` or `range(len(x))` count from 0; else nothing."""
    loop = source.loop_around(file, line)
    if not isinstance(loop, ast.For) or not isinstance(loop.iter, ast.Call):
        return ""
    counts, target = source.last_name(loop.iter.func), loop.target
    given = loop.iter.args[0] if len(loop.iter.args) == 1 and not loop.iter.keywords else None
    if given is None or counts not in ("enumerate", "range"):
        return ""
    first = target.elts[0] if isinstance(target, ast.Tuple) and target.elts else target
    ends = ast.unparse(given) if counts == "range" else f"len({ast.unparse(given)})"
    for one in ast.walk(ast.parse(condition)):
        if isinstance(one, ast.Compare) and isinstance(one.ops[0], ast.Eq) and len(one.ops) == 1:
            sides = {ast.unparse(one.left), ast.unparse(one.comparators[0])}
            if sides == {ast.unparse(first), ends} and "len(" in ends:
                return ast.unparse(one)
    return ""


NEAR = 6
"""Of the user's frames, how many are asked for the condition of a step."""


def counted_to(frame: FrameType | None) -> int:
    """The number whose remainder decides about a step, as the frame that holds the condition has it; 0 where none does.

    Names, attributes and keys are read, and no code of the user's runs for that.
    """
    for _ in range(NEAR):
        frame = places.user_frame(frame)
        if frame is None:
            break
        condition = _around(frame.f_code.co_filename, frame.f_lineno).condition
        if "%" in condition:
            by = [
                n.right
                for n in ast.walk(ast.parse(condition))
                if isinstance(n, ast.BinOp) and isinstance(n.op, ast.Mod)
            ]
            value = _value(by[0], frame) if len(by) == 1 else None
            return value if isinstance(value, int) and value > 1 else 0
        frame = frame.f_back
    return 0


def _value(node: ast.expr, frame: FrameType) -> Any:
    """What a name, an attribute, a key or a constant holds; None for all else."""
    if isinstance(node, ast.Constant):
        return node.value
    if isinstance(node, ast.Name):
        return frame.f_locals.get(node.id, frame.f_globals.get(node.id))
    if isinstance(node, ast.Attribute):
        return getattr(_value(node.value, frame), "__dict__", {}).get(node.attr)
    if isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Constant):
        held = _value(node.value, frame)
        return held.get(node.slice.value) if type(held) is dict else None
    return None


@lru_cache(maxsize=256)
def _asked_for(inner: Place, around: Around, outer: Place) -> Around | None:
    """Where a function's caller gives the argument that decides about the step in it, as `update=(i + 1) % k == 0`."""
    function = source.scope(inner.file, inner.line)
    if not isinstance(function, ast.FunctionDef) or not around.condition.isidentifier():
        return None
    asked = [one.arg for one in (*function.args.posonlyargs, *function.args.args)]
    within = source.scope(outer.file, outer.line)
    for call in source.own(within) if within is not None else ():
        if isinstance(call, ast.Call) and call.lineno <= outer.line <= (call.end_lineno or 0):
            given = {one.arg: one.value for one in call.keywords if one.arg is not None}
            given |= dict(zip(asked[asked[:1] == ["self"] :], call.args, strict=False))
            value = given.get(around.condition)
            if value is not None and "%" in (text := ast.unparse(value)):
                return Around(value.lineno, text, None)
    return None


@lru_cache(maxsize=256)
def _loop_before(file: str, line: int) -> int | None:
    """The head of the `for` that a statement stands behind, in the same block, and whose turns clear, go backward and
    step nothing."""
    loop, _ = _behind(file, line)
    names = _methods([loop]) if loop is not None else set()
    return loop.lineno if loop is not None and {"backward", "zero_grad"} <= names and "step" not in names else None


@lru_cache(maxsize=256)
def _turned(file: str, line: int) -> Place | None:
    """The `if` whose remainder must not be 0 for a statement to run: it stands in the branch of all other turns."""
    tree = source.parsed(file)
    for one in source.blocks_in(tree) if tree is not None else ():
        if isinstance(one, ast.If) and (told := _remainder_is_zero(one.test)) is not None:
            branch = one.orelse if told else one.body
            if branch and branch[0].lineno <= line <= (branch[-1].end_lineno or 0):
                return Place(file, one.lineno)
    return None


def _remainder_is_zero(test: ast.expr) -> bool | None:
    """Whether a test asks for a remainder of 0, or for one that is not; None where it asks for something else."""
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        inner = _remainder_is_zero(test.operand)
        return None if inner is None else not inner
    if isinstance(test, ast.BinOp) and isinstance(test.op, ast.Mod):
        return False
    if isinstance(test, ast.Compare) and len(test.ops) == 1 and _remainder_is_zero(test.left) is False:
        by = test.comparators[0]
        if isinstance(by, ast.Constant) and by.value == 0 and isinstance(test.ops[0], ast.Eq | ast.NotEq | ast.Gt):
            return isinstance(test.ops[0], ast.Eq)
    return None


@lru_cache(maxsize=256)
def _last_turn(file: str, line: int) -> int | None:
    """The head of the `for` that a step and its backward() stand behind, in the same block, where each turn trains
    something, and the loss behind it is made of what the last of them was given."""
    loop, between = _behind(file, line)
    if loop is None or not {"backward", "step"} <= _methods([loop]):
        return None
    needed: set[str] = set()
    for one in reversed(between):
        if isinstance(one, ast.Assign):
            made = {word for target in one.targets for word in source.words(target)}
            needed = (needed - made) | source.words(one.value) if made & needed else needed
        elif isinstance(one, ast.Expr) and "backward" in _methods([one]):
            needed |= source.words(one)
    return loop.lineno if needed & _given_to_turns(loop) else None


def _behind(file: str, line: int) -> tuple[ast.For | None, list[ast.stmt]]:
    """The last `for` before a statement in its block, and what stands from its end to that statement."""
    within = source.scope(file, line)
    for block in source.blocks(within) if within is not None else ():
        for at, one in enumerate(block):
            if isinstance(one, ast.Expr | ast.Assign) and one.lineno <= line <= (one.end_lineno or 0):
                loop = next((each for each in reversed(block[:at]) if isinstance(each, ast.For)), None)
                return loop, block[block.index(loop) + 1 : at + 1] if loop is not None else []
    return None, []


def _methods(statements: Iterable[ast.stmt]) -> set[str]:
    """The names of the methods that they call."""
    calls = [each.func for one in statements for each in ast.walk(one) if isinstance(each, ast.Call)]
    return {each.attr for each in calls if isinstance(each, ast.Attribute)}


def _given_to_turns(loop: ast.For) -> set[str]:
    """The names that hold what a turn is given of the data, or that are made of it alone; no counters, and no sums."""
    through = ast.unparse(loop.iter)
    if "range(" in through:
        return set()
    target = loop.target
    if "enumerate(" in through and isinstance(target, ast.Tuple):
        target = target.elts[1]
    names = source.words(target)
    for one in loop.body:
        if isinstance(one, ast.Assign) and source.words(one.value) & names:
            made = {word for target in one.targets for word in source.words(target)}
            names |= set() if made & source.words(one.value) else made
    return names


@lru_cache(maxsize=4096)
def _around(file: str, line: int) -> Around:
    tree = source.parsed(file)
    if tree is None:
        return _NOTHING
    holders = [n for n in source.blocks_in(tree) if not isinstance(n, ast.If)]
    ifs = [n for n in source.blocks_in(tree) if isinstance(n, ast.If)]
    around = source.innermost(holders, line)
    inside = [n for n in ifs if n.body[0].lineno <= line <= (n.body[-1].end_lineno or 0)]
    under = max(inside, key=source.line_of, default=None)
    if under is not None and around is not None and under.lineno < around.lineno:
        # Around a loop over optimizers it decides about the step; around the whole run it does not.
        around = source.innermost(holders, under.lineno) or around
        under = under if around.lineno < under.lineno else None
    elif under is not None and around is None and _is_main(under.test):
        under = None
    holding = inside if under is not None else []
    # One around a loop over optimizers decides as well, but not one around the loop over the data.
    whole = around is None or "backward(" not in ast.unparse(around)
    nearest = sorted((n for n in holding if whole or n.lineno > around.lineno), key=source.line_of, reverse=True)
    counted = next(((n, told) for n in nearest if (told := _counts(file, n)) is not None), None)
    if counted is not None:
        under = counted[0]  # not what asks for a scaler inside it
    start = under.lineno if under is not None else line
    word = ast.Continue if isinstance(around, source.LOOPS) else ast.Return
    skips = [one.lineno for one in _inside(around, word, line) if one.lineno < start] if around is not None else []
    if under is None and skips:
        # `if number % k: continue` above the step decides about it as an `if` around it would.
        last = max(skips)
        found = [(n, told) for n in ifs if n.body[0].lineno == last and (told := _counts(file, n)) is not None]
        if found:
            count, (at, test) = max(found, key=lambda one: source.line_of(one[0]))
            return Around(at, _negated(test), max((one for one in skips if one < count.lineno), default=None))
    over = max(skips, default=None)
    if under is None:
        return Around(None, "", over)
    at, test = counted[1] if counted is not None else (under.lineno, ast.unparse(under.test))
    return Around(at, test, over)


def _counts(file: str, condition: ast.If) -> tuple[int, str] | None:
    """Where an `if` takes a remainder, and the text of that: in its test, or where what it tests got its value."""
    if "%" in (test := ast.unparse(condition.test)):
        return condition.lineno, test
    within = source.scope(file, condition.lineno)
    for name in sorted(source.words(condition.test)) if within is not None else ():
        made = source.assigned(within, name, condition.lineno)
        if made is not None and "%" in (value := ast.unparse(made.value)):
            return made.line, _negated(value) if isinstance(condition.test, ast.UnaryOp) else value
    return None


def _negated(condition: str) -> str:
    negated = condition.startswith("not (") and condition.endswith(")")
    return condition[5:-1] if negated else f"not ({condition})"


def _is_main(test: ast.expr) -> bool:
    return any(isinstance(node, ast.Name) and node.id == "__name__" for node in ast.walk(test))


def _inside(node: Any, word: type[ast.stmt], line: int) -> Iterator[ast.stmt]:
    """Every `continue` or `return` that leaves this loop or function, and passes over that line in doing so."""
    for inner in ast.iter_child_nodes(node):
        if isinstance(inner, word):
            yield inner
        elif isinstance(inner, ast.Try) and any(s.lineno <= line <= (s.end_lineno or 0) for s in inner.finalbody):
            continue  # its `finally` runs whatever happens
        elif not isinstance(inner, source.FUNCTIONS) and not (word is ast.Continue and isinstance(inner, source.LOOPS)):
            yield from _inside(inner, word, line)
