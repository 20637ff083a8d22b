"""Counters of all steps that begin anew in each epoch, and steps that are handed over as epochs: by the text."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator
from typing import NamedTuple

from gradient_ledger import source
from gradient_ledger.events import CounterAnew, Place
from gradient_ledger.timetables import is_by_epochs

_GLOBAL = re.compile(r"^(self\.)?global_?(step|iter|batch|update)\w*$", re.IGNORECASE)
"""Names of counters that go on over epochs, by their name."""
_SHOWS = re.compile(
    r"print|log|add_scalar|write|info|append|report|set_postfix|set_description|display|show|format|save"
)
"""Names of what only shows a number, or keeps it."""
_DEEP = 3
"""Calls between a loop over epochs and the function of its steps."""


def begun_anew(files: tuple[str, ...]) -> CounterAnew | None:
    """A counter of all steps, by its name, that is set to 0 in each epoch and counted up in a loop inside, where more
    than what is shown goes by it; or the turn of a loop over the steps of an epoch that is handed over as such."""
    saying = [(file, one) for file in files if source.says(file, _SET) for one in source.functions(file)]
    begun = (_anew_in(files, file, within) for file, within in saying)
    return next((one for one in begun if one is not None), None) or _handed_for_all(files)


_SET = re.compile(r"\bglobal_?\w+\s*=\s*0\s*(#.*)?$", re.IGNORECASE | re.MULTILINE)


class _Handed(NamedTuple):
    """What a call hands to an argument of a function of these texts."""

    file: str
    within: ast.AST
    """The function that calls."""
    call: ast.Call
    given: ast.expr
    argument: str

    @property
    def place(self) -> Place:
        return Place(self.file, self.call.lineno, getattr(self.within, "name", "<module>"))


def _handed(files: tuple[str, ...], asks: Callable[[ast.FunctionDef, list[str]], str]) -> Iterator[_Handed]:
    """What the calls of functions hand to the argument that `asks` names of each; to none where that is empty."""
    takes: dict[str, tuple[ast.FunctionDef, str]] = {}
    for one in (each for file in files for each in source.functions(file) if isinstance(each, ast.FunctionDef)):
        arguments = [each.arg for each in one.args.args if each.arg not in ("self", "cls")]
        if argument := asks(one, arguments):
            takes[one.name] = one, argument
    for file, within in ((path, one) for path in files if takes for one in source.functions(path)):
        for call in (n for n in source.own(within) if isinstance(n, ast.Call)):
            function, argument = takes.get(source.last_name(call.func), (None, ""))
            given = source.handed_over(call, function).get(argument) if function is not None else None
            if given is not None:
                yield _Handed(file, within, call, given, argument)


def _handed_for_all(files: tuple[str, ...]) -> CounterAnew | None:
    """A call in the loop over the steps of an epoch that hands the number of its turn, or that of the epoch, to what is
    called the number of all steps."""
    for one in _handed(files, lambda _, arguments: next(filter(_ALL_STEPS.match, arguments), "")):
        loop = source.loop_around(one.file, one.call.lineno)
        if not isinstance(loop, ast.For) or not isinstance(one.given, ast.Name):
            continue
        still = bool(_EPOCH.match(one.given.id)) and not _SHOWS.search(source.last_name(one.call.func))
        if not still and not _counts_turns(loop, one.given.id):
            continue
        by_epochs = is_by_epochs(one.file, loop.lineno) or _is_called_by_epochs(files, one.within, _DEEP)
        if by_epochs and not is_by_epochs(one.file, one.call.lineno):
            return CounterAnew(one.place, one.given.id, one.argument, still)
    return None


_ALL_STEPS = re.compile(r"^global_?(step|iter(ation)?)$", re.IGNORECASE)


def _counts_turns(loop: ast.For, name: str) -> bool:
    """Whether a loop gives this name to the number of its turn, from 0 on."""
    head = loop.iter
    turns = {n.id for n in ast.walk(loop.target) if isinstance(n, ast.Name)}
    counts = isinstance(head, ast.Call) and source.last_name(head.func) == "enumerate"
    return isinstance(head, ast.Call) and counts and len(head.args) == 1 and not head.keywords and name in turns


def _anew_in(files: tuple[str, ...], file: str, within: ast.AST) -> CounterAnew | None:
    nodes = source.own(within)
    for one in (
        n for n in nodes if isinstance(n, ast.Assign) and isinstance(n.value, ast.Constant) and n.value.value == 0
    ):
        name = ast.unparse(one.targets[0])
        if len(one.targets) != 1 or not _GLOBAL.match(name):
            continue
        loop = source.loop_around(file, one.lineno)
        region = loop if loop is not None else within
        inside = [n for n in ast.walk(region) if isinstance(n, ast.For) and n is not loop]
        counted = [n for n in inside if _counts_up(n, name)]
        each = is_by_epochs(file, one.lineno) if loop is not None else _is_called_by_epochs(files, within, _DEEP)
        # A loop over whole runs has another one over epochs in it; and who adds the epochs before knows of them.
        runs = any(is_by_epochs(file, n.body[0].lineno) for n in inside)
        knows = _ADDS_EPOCHS.search(ast.unparse(region)) or _sets_again(region, one, name)
        if counted and each and not runs and not knows and any(_is_used(n, name) for n in counted):
            return CounterAnew(Place(file, one.lineno, getattr(within, "name", "<module>")), name)
    return None


_ADDS_EPOCHS = re.compile(r"epoch\w*\s*\*|\*\s*(self\.)?\w*epoch")
"""Text of the steps of the epochs before."""


def _sets_again(region: ast.AST, begun: ast.Assign, name: str) -> bool:
    """Whether a counter is set to something else as well, but for being counted up."""
    sets = (n for n in ast.walk(region) if isinstance(n, ast.Assign) and n is not begun)
    return any(ast.unparse(n.targets[0]) == name and ast.unparse(n.value) != f"{name} + 1" for n in sets)


def _counts_up(loop: ast.For, name: str) -> bool:
    return any(
        (isinstance(n, ast.AugAssign) and isinstance(n.op, ast.Add) and ast.unparse(n.target) == name)
        or (isinstance(n, ast.Assign) and ast.unparse(n.targets[0]) == name and ast.unparse(n.value) == f"{name} + 1")
        for n in ast.walk(loop)
    )


def _is_called_by_epochs(files: tuple[str, ...], within: ast.AST, left: int) -> bool:
    """Whether a call of a function stands in a loop over epochs, or in a function of which that is so."""
    name = getattr(within, "name", "")
    if not name or name.startswith("__") or not left:
        return False
    calls = [
        (file, caller, n.lineno)
        for file in files
        for caller in source.functions(file)
        for n in source.own(caller)
        if isinstance(n, ast.Call) and source.last_name(n.func) == name
    ]
    return any(
        is_by_epochs(file, line) or _is_called_by_epochs(files, caller, left - 1) for file, caller, line in calls
    )


def _is_used(region: ast.AST, name: str) -> bool:
    """Whether a number is read elsewhere than in what shows it, counts it up or sets it."""
    parents = {inner: one for one in ast.walk(region) for inner in ast.iter_child_nodes(one)}
    for one in ast.walk(region):
        if isinstance(one, ast.Name | ast.Attribute) and ast.unparse(one) == name and isinstance(one.ctx, ast.Load):
            above = list(_above(one, parents))
            shown = any(isinstance(n, ast.Call) and _SHOWS.search(ast.unparse(n.func)) for n in above)
            shown = shown or any(isinstance(n, ast.JoinedStr | ast.Return | ast.Dict) for n in above)
            shown = shown or any(
                isinstance(n, ast.BinOp) and isinstance(n.op, ast.Mod) and _is_text(n.left) for n in above
            )
            counted = any(isinstance(n, ast.Assign) and ast.unparse(n.targets[0]) == name for n in above)
            tested = any(isinstance(n, ast.If) and one in ast.walk(n.test) for n in above)
            if not (shown or counted or tested):
                return True
    return False


def _is_text(one: ast.AST) -> bool:
    return isinstance(one, ast.Constant) and isinstance(one.value, str)


def _above(one: ast.AST, parents: dict[ast.AST, ast.AST]) -> Iterator[ast.AST]:
    while one in parents:
        one = parents[one]
        yield one


_EPOCH = re.compile(r"^(cur(rent)?_?)?epoch(_?(num|idx|no))?$", re.IGNORECASE)
_STEP = re.compile(
    r"^(self\.)?((global|cur(rent)?|total|batch)_?)?(step|iter|iteration|batch_idx|idx)s?$", re.IGNORECASE
)


def given_for_epochs(files: tuple[str, ...]) -> CounterAnew | None:
    """A call that hands the number of a step to what is called an epoch by a function that sets the learning rate."""
    for one in _handed(files, _asks_for_epoch):
        given = ast.unparse(one.given)
        if _STEP.match(given) and _is_in_epochs(one.file, one.call.lineno):
            return CounterAnew(one.place, given)
    return None


def _asks_for_epoch(function: ast.FunctionDef, arguments: list[str]) -> str:
    """The argument of what sets a learning rate that is called an epoch, where none counts steps."""
    if any(re.search(r"step|iter|total|batch", one) for one in arguments):
        return ""
    return next(filter(_EPOCH.match, arguments), "") if re.search(r"\[.lr.\] =", ast.unparse(function)) else ""


def _is_in_epochs(file: str, line: int) -> bool:
    """Whether the loop around a line stands itself in a loop over epochs."""
    loop = source.loop_around(file, line)
    return loop is not None and not is_by_epochs(file, line) and is_by_epochs(file, loop.lineno)
