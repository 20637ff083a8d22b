"""What a loss is divided by, by the text: where, how often, and whether it is the size of a window."""

from __future__ import annotations

import ast
import linecache
import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import Any, NamedTuple, TypeGuard

from gradient_ledger import source
from gradient_ledger.events import Place, SumApart, Trail


@lru_cache(maxsize=4096)
def gathers(trail: Trail, condition: str) -> bool:
    """Whether the text gathers micro-batches for a step and divides nothing by their number but losses: it counts up to
    that number in the condition of the step, or in a loop around a backward that is named for it."""
    counted = re.search(r"% \(?([\w.]+)", condition) or re.search(r"[>=]= ([\w.]*(?:accum|micro)\w*)$", condition)
    if re.search(r"episode|rollout|traj|\bep\b", condition, re.IGNORECASE):
        return False  # a return is a sum, and so are those of several episodes
    sizes = {counted[1]} if counted is not None else set()
    for within in (found for file, line in trail if (found := source.scope(file, line)) is not None):
        sizes |= _sizes_in(within)
    names, files = {size.rpartition(".")[2] for size in sizes}, {file for file, _ in trail}
    if not sizes or any(_HOOKS.search("".join(linecache.getlines(file))) for file in files):
        return False  # a hook may divide as well
    return not any(_divides_other(file, name) for file in files for name in names)


@lru_cache(maxsize=256)
def _sizes_in(within: ast.AST) -> frozenset[str]:
    """Up to what the loops of a function count whose text says that they go over the parts of a batch, and in which a
    backward stands; an empty text where they say no number."""
    found: set[str] = set()
    for loop in source.own(within):
        if isinstance(loop, ast.For) and _MICRO.search(f"{ast.unparse(loop.target)} {ast.unparse(loop.iter)}"):
            if "backward(" in ast.unparse(loop):
                counts = [n for n in ast.walk(loop.iter) if _is_range(n) or _cuts_a_batch(n)]
                found |= {ast.unparse(n.args[0]) for n in counts if isinstance(n, ast.Call)} or {""}
    return frozenset(found)


def in_micro_batches(forward: Place, backward: Place | None) -> bool:
    """Whether the loop around a forward goes over the parts of a batch by its head, and a backward stands behind it."""
    loop = source.loop_around(forward.file, forward.line)
    head = f"{ast.unparse(loop.target)} {ast.unparse(loop.iter)}" if isinstance(loop, ast.For) else ""
    behind = backward is not None and backward.file == forward.file and bool(head) and backward.line > loop.end_lineno
    return behind and _MICRO.search(head) is not None


_HOOKS = re.compile(r"\bregister_(hook|post_accumulate_grad_hook)\(")
"""What may change gradients on their way, out of sight of the loss."""
_MICRO = re.compile(r"accum|micro|chunk", re.IGNORECASE)
"""Words for the parts of a batch, and for how many there are."""
_WINDOW = re.compile(r"accum|micro|(^|\.)window$", re.IGNORECASE)
"""Words for how many of them a step uses."""
_ROWS = re.compile(
    r"^[\w.]+\.(size\(0\)|shape\[0\])$|^len\((?!\w*(batches|loader|micro|accum|chunks|splits|losses|steps))[\w.]+\)$|"
    r"(^|[._])(batch_?size|bs|B)$|^num_(rows|samples)$"
)
"""Words for how many rows a batch has."""


_LOSS = re.compile(r"loss|\.item\(\)|total|running|sum|mean|avg|average", re.IGNORECASE)
"""Words in what is divided that say it is a loss, or is shown."""


@lru_cache(maxsize=256)
def _divides_other(file: str, name: str) -> bool:
    """Whether a file divides something by a number of this name that is no loss by its own."""
    for one in ast.walk(source.parsed(file) or ast.Module([], [])):
        if isinstance(one, (ast.BinOp, ast.AugAssign)) and isinstance(one.op, ast.Div):
            left, right = (one.left, one.right) if isinstance(one, ast.BinOp) else (one.target, one.value)
            words = {each.rpartition(".")[2] for each in _factors(right)}
            if name in words and not _LOSS.search(ast.unparse(left)):
                return True
    return False


class Division(NamedTuple):
    """Where a text divides a loss, and by what."""

    place: Place
    by: str
    """As it is written."""


@lru_cache(maxsize=256)
def divided_again(trail: Trail) -> tuple[Place | None, str]:
    """Where what goes backward is divided once more than it should be, if the text shows that: the outermost of the
    functions that called for the pass, or the statement itself. With what two divisions of one function divide by, if
    that is written the same; else with nothing."""
    frames = [found for file, line in trail if (found := _divisions(file, line))]
    if not frames:
        return None, ""
    outermost = frames[-1]
    twice = len(frames) == 1 and len(outermost) > 1 and outermost[0].by == outermost[1].by
    return outermost[0].place, outermost[0].by if twice else ""


def last(trail: Trail) -> Division | None:
    """The last time that it divides that, in the innermost of these functions that does."""
    return next((found[0] for file, line in trail if (found := _divisions(file, line))), None)


def by_what(trail: Trail) -> str:
    """By what it divides that then, as it is written."""
    found = last(trail)
    return found.by if found is not None else ""


def for_windows(trail: Trail) -> bool:
    """Whether it divides that by what it calls the size of a window or the number of micro-batches."""
    return any(_WINDOW.search(one.by) for file, line in trail for one in _divisions(file, line))


def by_rows(trail: Trail) -> Place | None:
    """Where it divides that by what it calls the number of rows of a batch."""
    found = (one for file, line in trail for one in _divisions(file, line) if _ROWS.search(one.by))
    return next((one.place for one in found), None)


class Summands(NamedTuple):
    """What divides the summands of a sum that goes backward, by the text."""

    again: Place | None = None
    """Where one of them is divided by what the sum is divided by as well."""
    for_windows: bool = False
    """Whether one of them, and not the sum, is divided by what the text calls the size of a window."""


def of_summands(trail: Trail) -> Summands:
    """What divides the summands of what goes backward, in the innermost of the functions that shows them."""
    return next((found for file, line in trail if (found := _of_summands(file, line)) is not None), Summands())


@lru_cache(maxsize=256)
def _of_summands(file: str, line: int) -> Summands | None:
    within = source.scope(file, line)
    nodes = source.own(within) if within is not None else ()
    calls = [n for n in nodes if isinstance(n, ast.Call) and n.lineno <= line <= (n.end_lineno or 0)]
    for one in (part for call in calls for part in _handed_on(call)):
        whole = _undivided(within, one, line)
        if not isinstance(whole.value, ast.BinOp) or not isinstance(whole.value.op, ast.Add):
            continue
        parts = [*_parts(within, whole)]
        again = next((Place(file, part.at) for part in parts if whole.by and part.by == whole.by), None)
        return Summands(again, not whole.by and any(_WINDOW.search(part.by) for part in parts))
    return None


def _parts(within: Any, whole: Undivided, deep: int = 3) -> Iterator[Undivided]:
    """The summands of a sum; of those that got their names as sums themselves, theirs."""
    for side in (each for part in source.terms(whole.value) for each in _weighted(part)):
        one = _undivided(within, side, whole.line)
        if deep and not one.by and isinstance(one.value, ast.BinOp) and isinstance(one.value.op, ast.Add):
            yield from _parts(within, one, deep - 1)
        else:
            yield one


_CASTS = frozenset("float double half bfloat16 to".split())


def _weighted(term: ast.expr) -> list[ast.expr]:
    """A summand, or what may be one where a weight stands beside it; as it is before it is cast."""
    if isinstance(term, ast.BinOp) and isinstance(term.op, ast.Mult):
        return [*_weighted(term.left), *_weighted(term.right)]
    if isinstance(term, ast.Call) and isinstance(term.func, ast.Attribute) and term.func.attr in _CASTS:
        return _weighted(term.func.value)
    return [term]


class Undivided(NamedTuple):
    """What a value is a quotient of, there or where its names got theirs."""

    value: ast.expr
    line: int
    """Where that stands."""
    by: str = ""
    """What the outermost division divides by; nothing where there is none."""
    at: int = 0
    """Where it stands."""


def _undivided(within: Any, value: ast.expr, line: int) -> Undivided:
    one = Undivided(value, line)
    for _ in range(4):
        if _is_quotient(one.value):
            outer = (one.by, one.at) if one.by else (ast.unparse(one.value.right), one.line)
            one = Undivided(one.value.left, one.line, *outer)
        elif (found := source.assigned(within, ast.unparse(one.value), one.line)) is not None and found.at is None:
            one = one._replace(value=found.value, line=found.line)
        else:
            break
    return one


def _handed_on(call: ast.Call) -> list[ast.expr]:
    """What a call may send backward: its first argument, and what it is a method of."""
    return [*call.args[:1], *([call.func.value] if isinstance(call.func, ast.Attribute) else [])]


def _divisions(file: str, line: int) -> list[Division]:
    """Divisions of what the statement at a line hands on: there, and where it got its name, the last one first."""
    within = source.scope(file, line)
    nodes = source.own(within) if within is not None else ()
    calls = [n for n in nodes if isinstance(n, ast.Call) and n.lineno <= line <= (n.end_lineno or 0)]
    for call in calls:
        for one in _handed_on(call):
            found: list[Division] = []
            if _is_quotient(one):
                found.append(Division(Place(file, line), ast.unparse(one.right)))
                one = one.left
            found += _made_by_division(file, nodes, ast.unparse(one), line)
            if found:
                return found
    return []


def in_other_branch(trail: Trail) -> Division | None:
    """Where the other branch of a condition divides what it sends backward by the size of the window, which is what the
    function takes a remainder by, and the branch of this line does not."""
    return next((found for file, line in trail if (found := _in_other_branch(file, line)) is not None), None)


@lru_cache(maxsize=4096)
def _in_other_branch(file: str, line: int) -> Division | None:
    within = source.scope(file, line)
    nodes = source.own(within) if within is not None else ()
    sizes = {ast.unparse(n.right) for n in nodes if isinstance(n, ast.BinOp) and isinstance(n.op, ast.Mod)}
    for one in (n for n in nodes if isinstance(n, ast.If) and n.orelse and sizes):
        branches = [
            [n for statement in branch for n in ast.walk(statement) if _goes_backward(n)]
            for branch in (one.body, one.orelse)
        ]
        for mine, other in (branches, branches[::-1]):
            if any(n.lineno <= line <= (n.end_lineno or 0) for n in mine) and other and not _divisions(file, line):
                found = [by for n in other for by in _divisions(file, n.lineno) if by.by in sizes]
                if len(mine) == 1 and found:
                    return found[0]
    return None


def _goes_backward(one: ast.AST) -> TypeGuard[ast.Call]:
    return isinstance(one, ast.Call) and source.last_name(one.func) == "backward"


def _made_by_division(file: str, nodes: Sequence[Any], name: str, line: int) -> Iterator[Division]:
    """Divisions that a name has its value by, from the last one above a line upwards, as far as each begins with it."""
    for node in sorted((n for n in nodes if isinstance(n, (ast.Assign, ast.AugAssign))), key=lambda n: -n.lineno):
        target = node.targets[0] if isinstance(node, ast.Assign) else node.target
        if node.lineno >= line or ast.unparse(target) != name:
            continue
        if isinstance(node, ast.AugAssign):
            if isinstance(node.op, ast.Div):
                yield Division(Place(file, node.lineno), ast.unparse(node.value))
            continue
        if not _is_quotient(node.value):
            return
        yield Division(Place(file, node.lineno), ast.unparse(node.value.right))
        if ast.unparse(node.value.left) != name:
            return


def _is_quotient(value: Any) -> TypeGuard[ast.BinOp]:
    return isinstance(value, ast.BinOp) and isinstance(value.op, ast.Div)


def reported(trail: Trail) -> Place | None:
    """The line where a loss that is shown is divided by the size of the window, by the text of a step's function.

    The size is what a loop counts up to, or what a condition takes the remainder by, or into how many a batch is cut.
    """
    return next((found for file, line in trail if (found := _share(file, line)) is not None), None)


@lru_cache(maxsize=4096)
def _share(file: str, line: int) -> Place | None:
    within = source.scope(file, line)
    nodes = source.own(within) if within is not None else ()
    sizes = {ast.unparse(n.right) for n in nodes if isinstance(n, ast.BinOp) and isinstance(n.op, ast.Mod)}
    sizes |= {ast.unparse(n.args[0]) for n in nodes if _is_range(n) or _cuts_a_batch(n)}
    added = {n.value for n in nodes if isinstance(n, ast.AugAssign) and isinstance(n.op, ast.Add)}
    sums = {ast.unparse(n.target) for n in nodes if isinstance(n, ast.AugAssign) and ".item()" in ast.unparse(n.value)}
    for node in nodes:
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Div) and sizes & _factors(node.right):
            shown = ast.unparse(node.left)
            if ".item()" in shown or shown in sums or node in added:
                return Place(file, node.lineno)
    return None


def unread(trail: Trail) -> tuple[str, Place] | None:
    """A name of a step's function that holds something made of the size of the window, and that nothing reads."""
    return next((found for file, line in trail if (found := _unread(file, line)) is not None), None)


@lru_cache(maxsize=4096)
def _unread(file: str, line: int) -> tuple[str, Place] | None:
    within = source.scope(file, line)
    if within is None:
        return None
    found = [n for n in source.own(within) if isinstance(n, ast.BinOp) and isinstance(n.op, ast.Mod)]
    sizes = {ast.unparse(n.right) for n in found if not isinstance(n.left, (ast.Constant, ast.JoinedStr))}
    read = source.read_in(within)
    for node in source.own(within) if sizes else ():
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name) and node.targets[0].id not in read:
            if _is_share(node.value, sizes):
                return node.targets[0].id, Place(file, node.lineno)
    return None


def _is_share(value: ast.expr, sizes: set[str]) -> bool:
    """Whether it is one of these sizes, or the smaller one of it and what is left, as that of a last window."""
    if isinstance(value, ast.Call) and ast.unparse(value.func) == "min":
        return any(ast.unparse(one) in sizes for one in value.args)
    if isinstance(value, ast.IfExp):
        return _is_share(value.body, sizes) or _is_share(value.orelse, sizes)
    return ast.unparse(value) in sizes


def _factors(expression: ast.expr) -> set[str]:
    if isinstance(expression, ast.BinOp) and isinstance(expression.op, ast.Mult):
        return _factors(expression.left) | _factors(expression.right)
    return {ast.unparse(expression)}


def _cuts_a_batch(node: Any) -> bool:
    own = isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "chunk"
    return own and bool(node.args)


def _is_range(node: Any) -> bool:
    return isinstance(node, ast.Call) and ast.unparse(node.func) == "range" and len(node.args) == 1


@lru_cache(maxsize=64)
def left_apart(files: tuple[str, ...]) -> SumApart | None:
    """A sum of several that a loop adds up, each divided behind it by the same number but one, where a function that
    goes backward puts them together."""
    found = (_apart_in(file, one) for file in files if source.says(file, _BACKWARD) for one in source.functions(file))
    return next(filter(None, found), None)


_BACKWARD = re.compile(r"backward\(")


_SIDES = re.compile(
    r"real|fake|true|gen(erated)?|refined|synth(etic)?|forw(ar)?d|backw(ar)?d|fwd|bwd|[ti]2[it]|ab|ba|12|21"
)
"""Words that tell one of two losses of a kind from the other."""


@lru_cache(maxsize=64)
def halved_alone(files: tuple[str, ...]) -> SumApart | None:
    """A sum of two losses of a kind, by their names, of which one is halved: as `real + fake / 2` is, in the place of
    `(real + fake) / 2`, in a file that goes backward."""
    saying = [(file, one) for file in files if source.says(file, _BACKWARD) for one in source.functions(file)]
    for file, one in ((file, one) for file, within in saying for one in source.own(within)):
        told = (
            isinstance(one, ast.Return)
            or isinstance(one, ast.Assign)
            and _LOSS_NAME.search(ast.unparse(one.targets[0]))
        )
        for whole, half in _halves_in(one) if told else ():
            return SumApart(Place(file, source.line_of(one)), ast.unparse(whole), (ast.unparse(half),), "2")
    return None


def _halves_in(statement: ast.AST) -> Iterator[tuple[ast.expr, ast.expr]]:
    """The sums of a loss and of a half of another one of its kind: the two."""
    for one in ast.walk(statement):
        if isinstance(one, ast.BinOp) and isinstance(one.op, ast.Add):
            for whole, other in ((one.left, one.right), (one.right, one.left)):
                half = _half(other)
                if half is not None and _are_two_sides(whole, half):
                    yield whole, half


_LOSS_NAME = re.compile(r"loss|err(or)?(_?[dg])?$", re.IGNORECASE)


def _half(one: ast.expr) -> ast.expr | None:
    """What is halved here, as it is written."""
    if not isinstance(one, ast.BinOp) or not isinstance(one.op, (ast.Div, ast.Mult)):
        return None
    sides = [(one.left, one.right)] if isinstance(one.op, ast.Div) else [(one.left, one.right), (one.right, one.left)]
    by = 2 if isinstance(one.op, ast.Div) else 0.5
    return next((what for what, number in sides if isinstance(number, ast.Constant) and number.value == by), None)


def _are_two_sides(one: ast.expr, other: ast.expr) -> bool:
    """Whether two names of losses differ in words for the two sides of one thing alone."""
    if not all(isinstance(each, (ast.Name, ast.Attribute)) for each in (one, other)):
        return False
    words = [re.split(r"_|(?<=[a-z])(?=[A-Z])", ast.unparse(each)) for each in (one, other)]
    words = [[word.lower() for word in each] for each in words]
    rest = [[word for word in each if not _SIDES.fullmatch(word)] for each in words]
    return (
        words[0] != words[1]
        and rest[0] == rest[1]
        and len(rest[0]) < min(map(len, words))
        and "loss" in "".join(rest[0])
    )


def _apart_in(file: str, within: ast.AST) -> SumApart | None:
    nodes = source.own(within)
    if not any(isinstance(n, ast.Call) and source.last_name(n.func) == "backward" for n in nodes):
        return None
    added: dict[str, ast.For] = {}
    for loop in (n for n in nodes if isinstance(n, ast.For)):
        added |= {ast.unparse(n.target): loop for n in loop.body if isinstance(n, ast.AugAssign) and _adds(n)}
    by: dict[str, dict[str, int]] = {}
    for one in (n for n in nodes if isinstance(n, (ast.AugAssign, ast.Assign))):
        target = ast.unparse(one.target if isinstance(one, ast.AugAssign) else one.targets[0])
        divided = one.value if isinstance(one, ast.AugAssign) and isinstance(one.op, ast.Div) else None
        if _is_quotient(one.value) and ast.unparse(one.value.left) == target:
            divided = one.value.right
        if divided is not None and target in added and one.lineno > (added[target].end_lineno or 0):
            by.setdefault(ast.unparse(divided), {})[target] = one.lineno
    for number, names in by.items():
        loops = {id(added[name]) for name in names}
        left = [name for name, loop in added.items() if id(loop) in loops and name not in names]
        for one in nodes if len(names) > 1 and len(loops) == len(left) == 1 else ():
            if isinstance(one, (ast.Assign, ast.Return)) and isinstance(one.value, ast.BinOp):
                terms = [_factors_of_term(term) for term in source.terms(one.value)]
                last = max(names.values())
                inside = all(any(name in term for term in terms) for name in (*names, *left))
                if inside and one.lineno > last:
                    place = Place(file, one.lineno, getattr(within, "name", "<module>"))
                    return SumApart(place, left[0], tuple(names), number)
    return None


def _adds(one: ast.AugAssign) -> bool:
    return isinstance(one.op, ast.Add) and isinstance(one.target, ast.Name) and not isinstance(one.value, ast.Constant)


def _factors_of_term(value: ast.expr) -> set[str]:
    """The factors of a summand as they are written; of a quotient none, for it is divided where it stands."""
    return _factors(value) if not _is_quotient(value) else set()
