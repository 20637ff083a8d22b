"""What the text freezes: for a while, with a line that is to thaw it again; norms, with their statistics; in vain,
where a later loop thaws all before training begins."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator
from functools import lru_cache
from itertools import combinations
from typing import Any

from gradient_ledger import places, source
from gradient_ledger.events import FrozenMeanwhile, Place


def for_a_while(files: Iterable[str]) -> tuple[FrozenMeanwhile, ...]:
    """The function that freezes parameters and thaws, further down, what it has frozen, where nothing else of the text
    freezes any while training is under way; one that thaws a part alone of what it freezes is told of in any case."""
    return _for_a_while(tuple(files))


@lru_cache(maxsize=64)
def _for_a_while(files: tuple[str, ...]) -> tuple[FrozenMeanwhile, ...]:
    known = {places.absolute(file): file for file in reversed(list(files))}  # a script may be there by two names
    every = [(file, one) for file in known.values() for one in source.functions(file)]
    found = [(one, told) for file, one in every if (told := _restores(file, one)) is not None]
    inside = [one for one, _ in found]
    others = [one for _, one in every if one not in inside and getattr(one, "name", "") != "__init__"]
    besides = any(True for one in others for _ in _frozen(one))
    if len(found) != 1 or (besides and not found[0][1].a_part):
        return ()
    return (found[0][1],)


def norms(files: Iterable[str]) -> Place | None:
    """The line that freezes the parameters of norms, chosen by their class and put into eval mode."""
    return next((place for file in files if (place := _norms(file)) is not None), None)


@lru_cache(maxsize=256)
def _norms(file: str) -> Place | None:
    for within in source.functions(file):
        for one in source.own(within):
            if isinstance(one, ast.If) and "Norm" in ast.unparse(one.test):
                lines = list(_frozen(one))
                if lines and any(ast.unparse(each).endswith(".eval()") for each in one.body):
                    return Place(file, lines[0], getattr(within, "name", ""))
    return None


def _frozen(within: ast.AST) -> Iterator[int]:
    """The lines of a function that freeze parameters."""
    for one in source.own(within):
        if (value := _given(one)) is not None and isinstance(value, ast.Constant) and value.value is False:
            yield one.lineno


def _given(node: Any) -> ast.expr | None:
    """What a statement gives to `requires_grad`."""
    if isinstance(node, ast.Assign) and any(
        isinstance(t, ast.Attribute) and t.attr == "requires_grad" for t in node.targets
    ):
        return node.value
    called = isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "requires_grad_"
    return (node.args[0] if node.args else ast.Constant(True)) if called else None


@lru_cache(maxsize=256)
def _restores(file: str, within: ast.AST) -> FrozenMeanwhile | None:
    """Whether a function thaws what it has frozen: by a list that it filled meanwhile, by flags that it kept, or a part
    of it behind a backward pass or an evaluation.

    What is chosen from elsewhere and thawed is what is to be trained from then on.
    """
    lines = list(_frozen(within))
    nodes, name = source.own(within), getattr(within, "name", "<module>")
    if not lines:
        return _a_part(file, name, _thaws_some(nodes))
    if isinstance(within, ast.Module):
        return None
    first = min(lines)
    filled, flags = dict(_filled(nodes)), dict(_flags(nodes))
    for loop in nodes:
        if not isinstance(loop, ast.For) or loop.lineno <= first:
            continue
        through = source.words(loop.iter)
        for value in (value for one in ast.walk(loop) if (value := _given(one)) is not None):
            if isinstance(value, ast.Constant):
                names = through & filled.keys() if value.value is True else set()
            else:
                kept = {ast.unparse(n) for n in ast.walk(value) if isinstance(n, (ast.Name, ast.Attribute))}
                names = (through | kept) & flags.keys()
            for held in sorted(names):
                late = flags.get(held, 0)
                line = _emptied(nodes, held, lines) or (late if late > max(lines) else first)
                first_at, thawed, line_at = (Place(file, at, name) for at in (first, loop.lineno, line))
                return FrozenMeanwhile(first_at, thawed, line_at)
    return _a_part(file, name, _thaws_a_part(nodes))


def _a_part(file: str, function: str, lines: tuple[int, int] | None) -> FrozenMeanwhile | None:
    """What freezes at the first of two lines and thaws a part of that at the second."""
    if lines is None:
        return None
    frozen, thawed = (Place(file, line, function) for line in lines)
    return FrozenMeanwhile(frozen, thawed, thawed, a_part=True)


_BETWEEN = re.compile(r"\.backward\(|autograd\.grad\(|no_grad\(\)|inference_mode\(")
"""What a model is frozen for, for a while."""


def _thaws_a_part(nodes: Iterable[Any]) -> tuple[int, int] | None:
    """Where a function freezes a whole model, and where it thaws a part of that alone, behind a backward pass or an
    evaluation."""
    whole: dict[str, int] = {}
    told = [one for one in nodes if isinstance(one, ast.For | ast.Expr | ast.With)]
    between = [n.lineno for n in told if _BETWEEN.search(ast.unparse(n).partition("\n")[0])]
    for one in told:
        given = [v.value for each in getattr(one, "body", [one]) if isinstance(v := _told(each), ast.Constant)]
        model = _WHOLE.sub("", ast.unparse(one.iter if isinstance(one, ast.For) else _holder(one)))
        if given == [False]:
            whole[model] = one.lineno
        for name, line in whole.items() if given == [True] else ():
            if model.startswith(f"{name}.") and any(line < at < one.lineno for at in between):
                return line, one.lineno
    return None


_SETS = re.compile(r"requires_grad|trainable|freez|toggle", re.IGNORECASE)
"""Names of functions that freeze and thaw what they are given."""


def _thaws_some(nodes: Iterable[Any]) -> tuple[int, int] | None:
    """Where a call freezes several models, and where one thaws some of these, behind a backward pass, and none the
    others."""
    told = [one.value for one in nodes if isinstance(one, ast.Expr) and isinstance(one.value, ast.Call)]
    between = [one.lineno for one in told if _BETWEEN.search(ast.unparse(one))]
    calls = [(one.lineno, *_sets(one)) for one in told if _SETS.search(source.last_name(one.func))]
    thawed = {name for _, names, value in calls if value is True for name in names}
    for frozen_at, frozen, value in calls:
        if value is False and frozen & thawed and frozen - thawed:
            back = (line for line, names, value in calls if value is True and line > frozen_at and names & frozen)
            for line in back:
                if any(frozen_at < at < line for at in between):
                    return frozen_at, line
    return None


def _sets(call: ast.Call) -> tuple[set[str], Any]:
    """The models that a call is given, one or a list of them, and what they are set to."""
    given = call.args[0] if call.args else ast.Tuple([])
    names = {ast.unparse(one) for one in (given.elts if isinstance(given, ast.List | ast.Tuple) else [given])}
    values = [*call.args[1:], *(one.value for one in call.keywords)]
    return names, values[0].value if len(values) == 1 and isinstance(values[0], ast.Constant) else None


_WHOLE = re.compile(r"\.parameters\(\)$")


def _holder(statement: ast.stmt) -> ast.AST:
    """What `requires_grad_` is called on."""
    call = getattr(statement, "value", None)
    return call.func.value if isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute) else ast.Constant("")


def _filled(nodes: Iterable[Any]) -> Iterator[tuple[str, int]]:
    """Lists that get something where parameters are frozen."""
    for block in nodes:
        body = getattr(block, "body", None)
        if isinstance(body, list) and any(True for each in body if _freezes(each)):
            for call in (
                each.value for each in body if isinstance(each, ast.Expr) and isinstance(each.value, ast.Call)
            ):
                if isinstance(call.func, ast.Attribute) and call.func.attr == "append":
                    yield ast.unparse(call.func.value), call.lineno


def _freezes(statement: ast.stmt) -> bool:
    value = _told(statement)
    return isinstance(value, ast.Constant) and value.value is False


def _told(statement: ast.stmt) -> ast.expr | None:
    """What a statement gives to `requires_grad`, by itself or by the method."""
    return _given(statement.value if isinstance(statement, ast.Expr) else statement)


def _flags(nodes: Iterable[Any]) -> Iterator[tuple[str, int]]:
    """Names that keep which parameters require gradients."""
    for one in nodes:
        if isinstance(one, ast.Assign) and ".requires_grad" in ast.unparse(one.value):
            for target in one.targets:
                yield ast.unparse(target.value if isinstance(target, ast.Subscript) else target), one.lineno


def _emptied(nodes: Iterable[Any], name: str, lines: list[int]) -> int | None:
    """The line in a loop around a freezing that begins a list anew, so that it holds the last round's alone."""
    for loop in nodes:
        if isinstance(loop, source.LOOPS) and any(loop.lineno < line <= (loop.end_lineno or 0) for line in lines):
            for one in loop.body:
                if isinstance(one, ast.Assign) and ast.unparse(one.targets[0]) == name:
                    return one.lineno
    return None


def thawed_again(files: Iterable[str]) -> tuple[tuple[Place, Place], ...]:
    """The lines that make all parameters of something require gradients, in a loop, where a loop over the same in front
    of it, in the same function and before any backward, has frozen some; and the lines that freeze."""
    return tuple(
        (Place(file, thaws, function), Place(file, freezes, function))
        for file in files
        for thaws, freezes, function in _thawed_again(file)
    )


@lru_cache(maxsize=1024)
def _thawed_again(file: str) -> tuple[tuple[int, int, str], ...]:
    found = []
    for within in source.functions(file):
        nodes = source.own(within)
        repeated = [one for one in nodes if isinstance(one, source.LOOPS)]
        trains = [one.lineno for one in nodes if isinstance(one, ast.Call) and source.last_name(one.func) == "backward"]
        for before, after in combinations([one for one in repeated if _goes_over_parameters(one)], 2):
            freezes = list(_frozen(before))
            thaws = [one.lineno for one in after.body if isinstance(v := _told(one), ast.Constant) and v.value is True]
            inner = any(one.lineno < before.lineno <= (one.end_lineno or 0) for one in repeated)
            # In front of it in its own block: what runs before it, and not instead.
            above = (block[: block.index(after)] for block in source.blocks(within) if after in block)
            behind = any(before in ast.walk(one) for block in above for one in block)
            same = _over(before) == _over(after)
            if freezes and thaws and behind and same and not inner:
                if not any(before.lineno < line < after.lineno for line in trains):
                    found.append((thaws[0], freezes[0], getattr(within, "name", "<module>")))
    return tuple(found)


def _goes_over_parameters(loop: ast.stmt) -> bool:
    return isinstance(loop, ast.For) and "parameters(" in ast.unparse(loop.iter)


def _over(loop: Any) -> str:
    """What a loop goes over, whether it takes the names as well or not."""
    return ast.unparse(loop.iter).replace("named_", "")
