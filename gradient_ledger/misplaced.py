"""Values that are written where nothing reads them, by the text: entries of the dictionary that `state_dict()` gave, a
rate among an optimizer's defaults or its attributes, or a number that no optimizer reads, a projected gradient under a
loop's name, a rate that the next statement overwrites."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterable, Iterator
from functools import lru_cache
from itertools import pairwise
from typing import TypeGuard

from gradient_ledger import source
from gradient_ledger.events import Place
from gradient_ledger.uncalled import BEGINS

_LOOKS = ("items", "keys", "values", "get")
"""Methods of a dictionary that leave it where it is."""


def unloaded(files: Iterable[str]) -> tuple[Place, ...]:
    """The lines that put something else in the place of an entry of a `state_dict()`, which its function neither loads
    nor hands on to anybody. Writing into the entry as it is, by `+=` or `copy_()`, writes into the weights."""
    return _lines(files, _unloaded)


def in_defaults(files: Iterable[str]) -> tuple[Place, ...]:
    """The lines that write a learning rate into the `defaults` of an optimizer, in functions that set that of no group.
    Not in an optimizer's own class."""
    return _lines(files, _defaults)


def in_attributes(files: Iterable[str]) -> tuple[Place, ...]:
    """The lines that give an optimizer of torch's an attribute by the name of an option, where it reads its groups."""
    return _lines(files, _attributes)


def in_numbers(files: Iterable[str]) -> tuple[Place, ...]:
    """The lines that give a number a new value which was the learning rate of an optimizer when that was made, in
    functions that only show it otherwise."""
    return _lines(files, _numbers)


def unprojected(files: Iterable[str]) -> tuple[Place, ...]:
    """The lines that bind the name of a loop over gradients to something made of it in an inner loop, behind which
    nothing reads it."""
    return _lines(files, _projected)


def given_memory(files: Iterable[str]) -> tuple[Place, ...]:
    """The lines that give the parameters of what is to follow another model, by a name, the data of that one's, in a
    loop that goes over both, in a function that is no beginning: no copy of them."""
    return _lines(files, _given_memory)


def backup_in_memory(files: Iterable[str]) -> tuple[Place, ...]:
    """The lines that keep the memory of weights in a method which then copies other values into that memory, where
    another line of the class copies back what was kept: by then that is what was copied there."""
    return _lines(files, _backup_in_memory)


_IN_MEMORY = re.compile(r"^(?!.*(clone|copy)\()[\w.()\[\]]+\.(data|detach\(\))$")
"""What lies where the weights lie."""


def _backup_in_memory(file: str, within: ast.AST) -> Iterator[int]:
    if not isinstance(within, ast.FunctionDef):
        return
    nodes = source.own(within)
    texts = [(n.lineno, ast.unparse(n)) for n in nodes if isinstance(n, ast.Expr)]
    for one in (n for n in nodes if isinstance(n, ast.Assign)):
        target = one.targets[0]
        name = ast.unparse(target.value if isinstance(target, ast.Subscript) else target)
        filled = [n for n in ast.walk(one.value) if isinstance(n, source.COMPREHENSIONS)]
        values = [n.value if isinstance(n, ast.DictComp) else n.elt for n in filled]
        values += [one.value] if isinstance(target, ast.Subscript) else []
        values = [n.elts[-1] if isinstance(n, ast.Tuple) else n for n in values]
        kept = [n for n in values if _IN_MEMORY.match(ast.unparse(n))]
        writes = any(".copy_(" in text and f"{name}[" not in text and line > one.lineno for line, text in texts)
        back = re.compile(rf"\.copy_\(.*{re.escape(name)}\[")
        if kept and name.startswith("self.") and writes and source.says(file, back):
            yield kept[0].lineno


def remainder_of_one(files: Iterable[str]) -> tuple[Place, ...]:
    """The lines of conditions that ask for `t + 1 % k`, which is `t + (1 % k)`."""
    return _lines(files, _remainder_of_one)


def _remainder_of_one(file: str, within: ast.AST) -> Iterator[int]:
    for test in (n for n in source.own(within) if isinstance(n, ast.Compare)):
        one = test.left
        if isinstance(one, ast.BinOp) and isinstance(one.op, ast.Add) and isinstance(one.right, ast.BinOp):
            inner = one.right
            if isinstance(inner.op, ast.Mod) and isinstance(inner.left, ast.Constant) and inner.left.value == 1:
                yield test.lineno


Question = Callable[[str, ast.AST], Iterator[int]]
"""What asks the text of a function, in a file, for lines."""


def _lines(files: Iterable[str], ask: Question) -> tuple[Place, ...]:
    return tuple(Place(file, line) for file in files for line in _found(file, ask))


@lru_cache(maxsize=1024)
def _found(file: str, ask: Question) -> tuple[int, ...]:
    return tuple(dict.fromkeys(line for within in source.functions(file) for line in ask(file, within)))


def _unloaded(file: str, within: ast.AST) -> Iterator[int]:
    nodes = [*source.own(within)]
    made = [one for one in nodes if isinstance(one, ast.Assign)]
    bound = [pair for one in made for pair in source.bindings(one.targets[0], one.value)]
    taken = {name.id for name, value in bound if isinstance(name, ast.Name) and _is_state(value)}
    if not taken:
        return
    if _is_called_for_nothing(file, within):
        returned = {one.value for one in nodes if isinstance(one, ast.Return)}
        nodes = [one for one in nodes if one not in returned]
    # What is only looked at is neither loaded nor kept: N[k], N.items(), k in N.
    harmless = {one.value for one in nodes if isinstance(one, ast.Subscript)}
    harmless |= {one.value for one in nodes if isinstance(one, ast.Attribute) and one.attr in _LOOKS}
    harmless |= {side for one in nodes if isinstance(one, ast.Compare) for side in one.comparators}
    harmless |= {one.iter for one in nodes if isinstance(one, (ast.For, ast.comprehension))}
    inner = [n for n in ast.walk(within) if isinstance(n, source.FUNCTIONS) and n is not within]
    handed = {one.id for one in nodes if isinstance(one, ast.Name) and _loads(one) and one not in harmless}
    handed |= {name for one in inner for name in source.words(one)}
    for one in nodes:
        target = one.targets[0] if isinstance(one, ast.Assign) else None
        if isinstance(target, ast.Subscript) and isinstance(target.value, ast.Name):
            if target.value.id in taken - handed and not _is_read_behind(nodes, target.value.id, target.lineno):
                yield target.lineno


def _is_called_for_nothing(file: str, within: ast.AST) -> bool:
    """Whether every call of a function in its file throws away what it returns."""
    name = getattr(within, "name", "")
    tree = next(iter(source.functions(file)), None)
    nodes = [*ast.walk(tree)] if tree is not None and name else []
    calls = [one for one in nodes if isinstance(one, ast.Call) and ast.unparse(one.func).rpartition(".")[2] == name]
    dropped = {one.value for one in nodes if isinstance(one, ast.Expr)}
    named = [one for one in nodes if isinstance(one, ast.Name) and one.id == name]
    return 0 < len(calls) == len(set(calls) & dropped) and len(named) <= len(calls)


def _is_read_behind(nodes: Iterable[ast.AST], name: str, line: int) -> bool:
    """Whether the entries of a dictionary are read behind a line, and the loops around it; writing into one is not."""
    around = [one for one in nodes if isinstance(one, source.LOOPS) and one.lineno <= line <= (one.end_lineno or 0)]
    end = max((one.end_lineno or 0 for one in around), default=line)
    written = {
        one.value.value
        for one in nodes
        if isinstance(one, ast.Attribute) and one.attr.endswith("_") and isinstance(one.value, ast.Subscript)
    }
    written |= {one.value for one in nodes if isinstance(one, ast.Subscript) and isinstance(one.ctx, ast.Store)}
    reads = (one for one in nodes if isinstance(one, ast.Name) and one.id == name and _loads(one))
    return any(one.lineno > end and one not in written for one in reads)


def _is_state(value: ast.expr) -> bool:
    return isinstance(value, ast.Call) and isinstance(value.func, ast.Attribute) and value.func.attr == "state_dict"


def _loads(one: ast.Name) -> bool:
    return isinstance(one.ctx, ast.Load)


def _defaults(file: str, within: ast.AST) -> Iterator[int]:
    nodes = [*source.own(within)]
    held = [one for one in nodes if isinstance(one, ast.Attribute)]
    targets = [one.targets[0] for one in nodes if isinstance(one, ast.Assign)]
    targets += [one.target for one in nodes if isinstance(one, ast.AugAssign)]
    rates = [one for one in targets if isinstance(one, ast.Subscript) and ast.unparse(one.slice) == "'lr'"]
    found = [one.value for one in rates if isinstance(one.value, ast.Attribute) and one.value.attr == "defaults"]
    set_elsewhere = len(found) < len(rates) or any(one.attr == "add_param_group" for one in held)
    # Another optimizer may be made of them.
    if not set_elsewhere and all(one in found for one in held if one.attr == "defaults"):
        yield from (one.lineno for one in found if ast.unparse(one.value) != "self")


_OPTIMIZER = re.compile(r"(SGD|Adam\w*|RMSprop|Adagrad|Adadelta|NAdam|RAdam|Lion|Muon)$")
_SHOWS = re.compile(
    r"(print|format|write|log\w*|info|debug|append|add_scalar|set_(postfix|description)\w*)$", re.IGNORECASE
)


_OPTIONS = ("lr", "betas", "momentum", "weight_decay")


def _attributes(file: str, within: ast.AST) -> Iterator[int]:
    every = [one for each in source.functions(file) for one in source.own(each)]
    made = {ast.unparse(one.targets[0]) for one in every if _makes_one(one)}
    read = {ast.unparse(one) for one in every if isinstance(one, ast.Attribute) and isinstance(one.ctx, ast.Load)}
    for one in source.own(within):
        for target in one.targets if isinstance(one, ast.Assign) else ():
            if isinstance(target, ast.Attribute) and target.attr in _OPTIONS and ast.unparse(target.value) in made:
                if ast.unparse(target) not in read:
                    yield one.lineno


def _makes_one(one: ast.AST) -> TypeGuard[ast.Assign]:
    """Whether a statement binds one name to an optimizer of torch's, by its class."""
    called = one.value if isinstance(one, ast.Assign) and len(one.targets) == 1 else None
    return isinstance(called, ast.Call) and _OPTIMIZER.search(ast.unparse(called.func)) is not None


def _numbers(file: str, within: ast.AST) -> Iterator[int]:
    nodes = [*source.own(within)]
    calls = [one for one in nodes if isinstance(one, ast.Call)]
    made = [one for one in calls if _OPTIMIZER.search(ast.unparse(one.func))]
    given = {one: one.args[1:2] + [word.value for word in one.keywords if word.arg == "lr"] for one in made}
    rates = {rate.id: one for one, found in given.items() for rate in found if isinstance(rate, ast.Name)}
    shown = {n for one in calls if _SHOWS.search(ast.unparse(one.func)) for n in ast.walk(one)}
    shown |= {n for one in nodes if isinstance(one, (ast.JoinedStr, ast.Compare)) for n in ast.walk(one)}
    loops = [one for one in nodes if isinstance(one, source.LOOPS)]
    inner = [one for one in ast.walk(within) if isinstance(one, source.FUNCTIONS) and one is not within]
    elsewhere = {word for one in inner for word in source.words(one)}
    elsewhere |= {name for one in nodes if isinstance(one, (ast.Global, ast.Nonlocal)) for name in one.names}
    for name, maker in rates.items():
        changes = [one for one in nodes if _scales(one, name) and one.lineno > maker.lineno]
        own = {n for one in (maker, *changes) for n in ast.walk(one)}
        reads = {one for one in nodes if isinstance(one, ast.Name) and one.id == name and _loads(one)}
        around = [one for one in loops if changes and one.lineno <= changes[0].lineno <= (one.end_lineno or 0)]
        made_again = any(one.lineno <= maker.lineno <= (one.end_lineno or 0) for one in around)
        if around and not made_again and name not in elsewhere and reads <= own | shown:
            yield changes[0].lineno


def _scales(one: ast.AST, name: str) -> TypeGuard[ast.Assign | ast.AugAssign]:
    """Whether a statement makes a number a multiple of itself."""
    scaled = (ast.Mult, ast.Div)
    if isinstance(one, ast.AugAssign):
        return ast.unparse(one.target) == name and isinstance(one.op, scaled)
    return _remakes(one, name) and isinstance(one.value, ast.BinOp) and isinstance(one.value.op, scaled)


def _projected(file: str, within: ast.AST) -> Iterator[int]:
    nodes = [*source.own(within)]
    loops = [one for one in nodes if isinstance(one, ast.For) and isinstance(one.target, ast.Name)]
    for loop in (one for one in loops if "grad" in ast.unparse(one)):
        name = ast.unparse(loop.target)
        reads = [one for one in nodes if isinstance(one, ast.Name) and one.id == name and _loads(one)]
        for inner in (one for one in loop.body if isinstance(one, ast.For)):
            end = inner.end_lineno or 0
            made = [one.lineno for one in ast.walk(inner) if _remakes(one, name)]
            # Inside the inner loop the name may be measured, and is made anew; behind it nobody asks for it.
            free = {each for one in ast.walk(inner) if isinstance(one, (ast.Assign, ast.If)) for each in _asked(one)}
            inside = [one for one in reads if inner.lineno <= one.lineno <= end]
            if made and set(inside) <= free and not any(one.lineno > end for one in reads):
                yield made[0]


def _remakes(one: ast.AST, name: str) -> TypeGuard[ast.Assign]:
    """Whether a statement binds a name to a sum of itself and something else."""
    return (
        isinstance(one, ast.Assign)
        and isinstance(one.targets[0], ast.Name)
        and one.targets[0].id == name
        and isinstance(one.value, ast.BinOp)
        and name in source.words(one.value)
    )


def _asked(one: ast.Assign | ast.If) -> Iterator[ast.AST]:
    """The names that a condition asks for, or a statement that makes a new name and no more."""
    if isinstance(one, ast.If):
        yield from ast.walk(one.test)
    elif all(isinstance(target, ast.Name) for target in one.targets):
        yield from ast.walk(one.value)


_FOLLOWS = re.compile(
    r"target|teacher|shadow|average|momentum|(?<![a-z])(ema|avg|old|key|k|tgt)(?![a-z])", re.IGNORECASE
)
"""Words in the names of what follows another model."""


def _given_memory(file: str, within: ast.AST) -> Iterator[int]:
    # What shares its memory from the beginning may be meant to.
    if not isinstance(within, ast.FunctionDef) or BEGINS.match(within.name):
        return
    for loop in (one for one in source.own(within) if isinstance(one, ast.For)):
        for mine, other in _follower(loop):
            gives = (f"{other}.data", f"{other}.detach()", f"{other}.data.detach()")
            for one in (each for each in loop.body if isinstance(each, ast.Assign)):
                if ast.unparse(one.targets[0]) == f"{mine}.data" and ast.unparse(one.value) in gives:
                    yield one.lineno


def _follower(loop: ast.For) -> Iterator[tuple[str, str]]:
    """The names that a loop over the parameters of two models gives to those of what follows, and to the others."""
    zips = (n for n in ast.walk(loop.iter) if isinstance(n, ast.Call) and source.last_name(n.func) == "zip")
    names = [n.id for n in ast.walk(loop.target) if isinstance(n, ast.Name)][-2:]
    for call in zips:
        models = [ast.unparse(one) for one in call.args]
        both = len(models) == len(names) == 2
        if both and all(re.search(r"\.(named_)?parameters\(\)$", one) for one in models):
            sides = [_FOLLOWS.search(f"{name} {model}") for name, model in zip(names, models, strict=True)]
            if bool(sides[0]) != bool(sides[1]):
                yield (names[0], names[1]) if sides[0] else (names[1], names[0])


def set_twice(files: Iterable[str]) -> tuple[Place, ...]:
    """The lines that set the learning rate of an optimizer's groups, by the name of a second one, where the statement
    before sets that of the same groups to something else."""
    return _lines(files, _set_twice)


def _set_twice(file: str, within: ast.AST) -> Iterator[int]:
    for block in source.blocks(within):
        for first, second in pairwise(map(_sets, block)):
            if first is not None and second is not None and first[0] == second[0] and first[1] != second[1]:
                yield second[2]


def _sets(statement: ast.stmt) -> tuple[str, str, int] | None:
    """Whose groups' learning rate a statement sets, to what, and the line that names them."""
    line, inner = statement.lineno, statement
    groups = ""
    if isinstance(statement, ast.For) and len(statement.body) == 1:
        groups, inner = ast.unparse(statement.iter), statement.body[0]
    if not isinstance(inner, ast.Assign) or not isinstance(inner.targets[0], ast.Subscript):
        return None
    target = inner.targets[0]
    if not isinstance(target.slice, ast.Constant) or target.slice.value != "lr":
        return None
    groups = groups or ast.unparse(target.value)
    return (groups, ast.unparse(inner.value), line) if "param_groups" in groups else None


_GIVES_RATE = re.compile(
    r"(adjust|decay|update|anneal|get|compute|calc|schedul|warm)\w*_?(lr|learning_rate)(?![a-z])", re.IGNORECASE
)
"""Names of functions that compute a learning rate."""
_SETS_RATE = re.compile(r"param_groups|lr_scheduler|\.defaults|set_lr|set_learning_rate")


def unwritten(files: Iterable[str]) -> tuple[Place, ...]:
    """The lines that ask a function of these texts for a learning rate, by its name, and do no more than show it, where
    no text sets one."""
    files = tuple(files)
    if any(source.says(file, _SETS_RATE) for file in files):
        return ()
    return tuple(Place(file, line) for file in files for line in _only_shown(file))


@lru_cache(maxsize=256)
def _only_shown(file: str) -> tuple[int, ...]:
    own = {one.name for one in source.functions(file) if isinstance(one, ast.FunctionDef) and _gives_rate(one)}
    found = []
    for within in source.functions(file) if own else ():
        for one in source.own(within):
            if isinstance(one, ast.Assign) and isinstance(one.value, ast.Call) and len(one.targets) == 1:
                name = one.targets[0].id if isinstance(one.targets[0], ast.Name) else ""
                if name and source.last_name(one.value.func) in own and not _is_handed_on(name, within):
                    found.append(one.lineno)
    return tuple(found)


def _gives_rate(function: ast.FunctionDef) -> bool:
    gives = any(isinstance(one, ast.Return) and one.value is not None for one in source.own(function))
    return gives and _GIVES_RATE.search(function.name) is not None


def _is_handed_on(name: str, within: ast.AST) -> bool:
    """Whether what a name stands for is kept, given back, or handed to anything but what shows it."""
    for one in source.own(within):
        if isinstance(one, ast.Call):
            given = [*one.args, *(each.value for each in one.keywords)]
            shows = _SHOWS.search(ast.unparse(one.func)) or "clip" in source.last_name(one.func)
            if not shows and any(name in source.words(each) for each in given):
                return True
        elif isinstance(one, (ast.Return, ast.Yield, ast.Assign, ast.AugAssign)):
            if one.value is not None and name in source.words(one.value):
                return True
    return False
