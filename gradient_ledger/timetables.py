"""What the text tells of the time that a schedule counts: epochs, steps, or nothing at all."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from typing import Any

from gradient_ledger import source
from gradient_ledger.events import Place, RateByPasses


@lru_cache(maxsize=256)
def is_by_epochs(file: str, line: int) -> bool:
    """Whether the innermost loop around a line goes over epochs, by its head."""
    loop = source.loop_around(file, line)
    if not isinstance(loop, ast.For):
        return False
    over = loop.iter
    if isinstance(over, ast.Call) and ast.unparse(over.func) == "enumerate":
        over = over.args[0]  # `start=epoch * len(loader)` says where the count of steps begins
    return "epoch" in ast.unparse(loop.target) + ast.unparse(over)


_TRAINS = re.compile(r"(^|[\s=.])_?(train|fit)_?\w+\(|(^|[\s=.])_?(train|fit)\(.*\w")
"""Text that calls a function which takes the steps of an epoch; `model.train()` is none."""
_TAKES_STEPS = re.compile(rf"\.step\(|backward\(|{_TRAINS.pattern}")
"""Text of a loop that takes them."""


@lru_cache(maxsize=1024)
def behind_the_steps(place: Place) -> bool:
    """Whether a line stands in a loop over epochs, behind a loop or a function that takes the steps of one."""
    if not is_by_epochs(place.file, place.line):
        return False
    before = [one for one in source.loop_around(place.file, place.line).body if (one.end_lineno or 0) < place.line]
    taking = [one for one in before if isinstance(one, (ast.For, ast.While, ast.Expr, ast.Assign))]
    loops = (ast.For, ast.While)
    texts = [(isinstance(one, loops), ast.unparse(one)) for one in taking]
    return any((_TAKES_STEPS if loop else _TRAINS).search(text) for loop, text in texts)


@lru_cache(maxsize=256)
def ends_an_epoch(place: Place) -> bool:
    """Whether a line stands in no loop of its function, behind one that takes the steps of an epoch."""
    within = source.scope(place.file, place.line)
    if within is None or isinstance(within, ast.Module) or source.loop_around(place.file, place.line) is not None:
        return False
    loops = [one for one in source.own(within) if isinstance(one, ast.For) and (one.end_lineno or 0) < place.line]
    return any(_TAKES_STEPS.search(ast.unparse(one)) for one in loops)


def once_an_epoch(calls: Sequence[Place]) -> Place | None:
    """Of the lines that led to one, the innermost first, the one that is run once an epoch, behind its steps."""
    for number, at in enumerate(calls):
        outer = calls[number + 1 :]
        if behind_the_steps(at) or (ends_an_epoch(at) and any(is_by_epochs(one.file, one.line) for one in outer)):
            return at
    return None


CLOCKED = {"StepLR": "step_size", "MultiStepLR": "milestones"}


_EPOCHS = re.compile(r"(^|_)epochs?($|_)", re.IGNORECASE)
_STEPS = re.compile(r"per_epoch|steps?($|s_|_per)|iter|batch|len\b|loader|updates?$", re.IGNORECASE)


@lru_cache(maxsize=256)
def epochs_around(file: str, line: int) -> ast.expr | None:
    """How many turns the loop around a line takes, if that is a `range` of as many and counts epochs by its text."""
    call = source.loop_around(file, line).iter if is_by_epochs(file, line) else None
    if not isinstance(call, ast.Call) or getattr(call.func, "id", "") not in ("range", "trange") or not call.args:
        return None
    last = call.args[min(1, len(call.args) - 1)]
    return last.left if isinstance(last, ast.BinOp) and isinstance(last.op, ast.Add) else last  # range(1, epochs + 1)


@lru_cache(maxsize=256)
def argument_in_epochs(file: str, line: int, name: str) -> str:
    """The function at this line, where its argument has this name, as `epoch` or `e`, and it neither says a number of
    steps nor holds one that nobody means by the epoch."""
    for one in source.functions(file):
        if isinstance(one, (ast.FunctionDef, ast.Lambda)) and one.lineno == line and one.args.args:
            held = [n.value for n in ast.walk(one) if isinstance(n, ast.Constant)]
            slow = any(isinstance(n, float) and _SLOW < n < 1.0 or isinstance(n, int) and n > _MANY for n in held)
            same = one.args.args[0].arg == name and _EPOCH_NUMBER.fullmatch(name)
            if same and not slow and not any(map(_STEPS.search, source.names_in(one))):
                return ast.unparse(one) if isinstance(one, ast.Lambda) else f"{one.name}({name})"
    return ""


_EPOCH_NUMBER = re.compile(r"e|ep|epochs?|epoch_(n|num|number|idx|id|i)", re.IGNORECASE)
_SLOW, _MANY = 0.99, 1000
"""Nobody lets a rate fall by so little an epoch, nor counts more epochs than that."""


@lru_cache(maxsize=256)
def length_in_epochs(file: str, kind: str) -> str:
    """What the one scheduler of this kind in a file is given as the time to lower the rate, where the text calls that a
    number of epochs: `milestones=args.decay_epochs`. Not where it is multiplied by anything but a number."""
    given = _given_length(file, kind, CLOCKED.get(kind), 1)
    within = source.scope(file, given.lineno) if given is not None else None
    if given is None or within is None:
        return ""
    whole: list[ast.AST] = [given]
    if isinstance(given, ast.Name) and (found := source.assigned(within, given.id, given.lineno)) is not None:
        whole.append(found.value)
    inner = [one for part in whole for one in ast.walk(part)]
    names = [name for one in inner if (name := source.last_name(one))]
    names += [one.value for one in inner if isinstance(one, ast.Constant) and isinstance(one.value, str)]
    products = [one for one in inner if isinstance(one, ast.BinOp) and isinstance(one.op, ast.Mult)]
    if any(not isinstance(one.left, ast.Constant) and not isinstance(one.right, ast.Constant) for one in products):
        return ""
    told = any(map(_EPOCHS.search, names)) and not any(map(_STEPS.search, names))
    return f"{CLOCKED[kind]}={ast.unparse(given)}" if told else ""


def _given_length(file: str, kind: str, name: str | None, at: int) -> ast.expr | None:
    """What the one scheduler of this kind in a file is given as its time, by this name or in this place."""
    tree = source.parsed(file) if name is not None and source.says(file, re.compile(rf"\b{kind}\(")) else None
    calls = [one for one in ast.walk(tree) if isinstance(one, ast.Call)] if tree is not None else []
    calls = [one for one in calls if source.last_name(one.func) == kind]
    if len(calls) != 1:
        return None
    given = [one.value for one in calls[0].keywords if one.arg == name] or calls[0].args[at : at + 1]
    return given[0] if given else None


LENGTHS = {
    "OneCycleLR": ("total_steps", 2),
    "CosineAnnealingLR": ("T_max", 1),
    "PolynomialLR": ("total_iters", 1),
    "CyclicLR": ("total_size", 99),
}
"""Schedulers that are over after so many steps: where they keep the number, and which of their arguments it is (of a
cycle none: it is a sum). A warm-up is stepped on after it."""


def last_of(scheduler: Any) -> tuple[int, Any]:
    """After how many steps a `SequentialLR` hands over to its last scheduler, and that one; else 0 and itself."""
    own = vars(scheduler)
    inner, milestones = own.get("_schedulers"), own.get("_milestones")
    if isinstance(inner, list) and isinstance(milestones, list) and inner and milestones:
        if type(inner[-1]).__name__ in LENGTHS and isinstance(milestones[-1], int):
            return milestones[-1], inner[-1]
    return 0, scheduler


_COUNTED = re.compile(r"^(num|n|max|total|all|train(ing)?)_?(train(ing)?)?_?(steps?|iter\w*|updates?)$", re.IGNORECASE)


def length_in_steps(files: Iterable[str], kind: str) -> str:
    """What the one scheduler of this kind is given as its time, where the text calls that a number of steps:
    `total_steps=args.num_steps`, and nothing else but a number with it."""
    name, at = LENGTHS.get(kind, ("", 0))
    for given in (one for file in files if name and (one := _given_length(file, kind, name, at)) is not None):
        names = map(source.last_name, ast.walk(given))
        sums = (ast.Add, ast.Sub)
        plain = all(isinstance(one.op, sums) for one in ast.walk(given) if isinstance(one, ast.BinOp))
        if plain and any(map(_COUNTED.search, names)):
            return f"{name}={ast.unparse(given)}"
    return ""


_STEP_NUMBER = re.compile(r"(^|_)(step|iter|iteration|it|update|batch)s?(_?(num|idx|no))?$", re.IGNORECASE)
_STEP_COUNT = re.compile(r"warm_?up|(^|[_.])(max|total|num|n|all)_?\w*(steps?|iter\w*|updates)\b", re.IGNORECASE)


@lru_cache(maxsize=256)
def counts_steps(file: str, line: int) -> str:
    """The function at this line as `name(argument)`, where the argument is called the number of a step or an update,
    and the text compares it with a number of steps, as a warm-up's, or where the text holds the steps of all epochs;
    else nothing."""
    for one in source.functions(file):
        if isinstance(one, (ast.FunctionDef, ast.Lambda)) and one.lineno == line and one.args.args:
            name = one.args.args[0].arg
            keys = [ast.unparse(n.slice).strip("'\"") for n in ast.walk(one) if isinstance(n, ast.Subscript)]
            named = (*source.names_in(one), *keys)
            counts = [each for each in named if _STEP_COUNT.search(each) and "epoch" not in each.lower()]
            whole = any(_of_all_epochs(each) for each in ast.walk(one))
            if whole or _STEP_NUMBER.search(name) and any(_STEPS.search(each) for each in counts):
                return f"{getattr(one, 'name', 'lambda')}({name})"
    return ""


_PER_EPOCH = re.compile(r"(iter|step|batch|update)\w*_per_epoch$|^len\(\w*(loader|dl)\w*\)$", re.IGNORECASE)


def _of_all_epochs(node: ast.AST) -> bool:
    """Whether this is a number of epochs times how many steps each holds."""
    if not isinstance(node, ast.BinOp) or not isinstance(node.op, ast.Mult):
        return False
    sides = [ast.unparse(node.left), ast.unparse(node.right)]
    per = [one for one in sides if _PER_EPOCH.search(one)]
    return len(per) == 1 and any(_EPOCHS.search(one.rpartition(".")[2]) for one in sides if one not in per)


_OPTIMIZERS = re.compile(r"opt|adam|sgd|solver", re.IGNORECASE)
_SCHEDULES = re.compile(r"sch|lr|plateau|anneal", re.IGNORECASE)
_OTHERS = re.compile(r"scaler|env|prof|accel|bar|sim", re.IGNORECASE)


@lru_cache(maxsize=256)
def gives_rate(file: str, line: int) -> tuple[str, Place] | None:
    """The function at this line as `name(argument)`, and where it returns, where that is a product with something
    called the learning rate."""
    for one in source.functions(file):
        if not isinstance(one, (ast.FunctionDef, ast.Lambda)) or one.lineno != line or not one.args.args:
            continue
        returns = [each.value for each in source.own(one) if isinstance(each, ast.Return) and each.value is not None]
        for value in [one.body] if isinstance(one, ast.Lambda) else returns:
            products = [n for n in ast.walk(value) if isinstance(n, ast.BinOp) and isinstance(n.op, ast.Mult)]
            if any(_RATE_NAME.fullmatch(ast.unparse(side)) for n in products for side in (n.left, n.right)):
                name = getattr(one, "name", "lambda")
                return f"{name}({one.args.args[0].arg})", Place(file, value.lineno, name)
    return None


_RATE_NAME = re.compile(r"(\w+\.)*(base_|init_|initial_|max_|peak_)?(lr|learning_rate)", re.IGNORECASE)
_STEP_CALL = re.compile(r"\.step\s*\(")


@lru_cache(maxsize=64)
def steps_schedules(files: tuple[str, ...], others: frozenset[tuple[str, int]] = frozenset()) -> bool | None:
    """Whether these texts step something that may be a scheduler, on other lines than those that step `others`. None
    where they step no optimizer themselves, or the step of what may be a scheduler depends on a count, as that of an
    iteration, or on an option."""
    saying = [file for file in files if source.says(file, _STEP_CALL)]
    functions = [(file, within) for file in saying for within in source.functions(file)]
    calls = [(file, one) for file, within in functions for one in source.own(within) if _is_step(one)]
    held = [(file, one.lineno, ast.unparse(one.func.value)) for file, one in calls]
    rest = [one for one in held if _SCHEDULES.search(one[2]) or not _OPTIMIZERS.search(one[2])]
    schedules = [(file, line) for file, line, what in rest if _SCHEDULES.search(what) or not _OTHERS.search(what)]
    schedules = [at for at in schedules if at not in others]
    if len(rest) == len(held) or any(_is_chosen(*at) for at in schedules):
        return None
    return bool(schedules)


def _is_step(node: ast.AST) -> bool:
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "step"


def _is_chosen(file: str, line: int) -> bool:
    """Whether a line stands under a condition that compares numbers, or asks for an option or for a thing itself."""
    within = source.scope(file, line)
    ifs = [one for one in (source.own(within) if within is not None else ()) if isinstance(one, ast.If)]
    for test in (one.test for one in ifs if one.lineno <= line <= (one.end_lineno or 0)):
        inner = [each for each in ast.walk(test) if not isinstance(each, (ast.Load, ast.boolop))]
        if not all(isinstance(each, (ast.Compare, ast.BoolOp, ast.Name, ast.Constant, ast.Eq)) for each in inner):
            return True
        if isinstance(test, (ast.Name, ast.Constant)):
            return True
    return False


def rate_by_passes(files: Iterable[str]) -> RateByPasses | None:
    """Where what sets the rate is given a count of micro-batches, under the condition that takes a step for so many of
    them, and the same function divides the count by that number elsewhere; or a count made of two loops', where what
    sets the rate knows how many turns the outer one has, which steps."""
    files = tuple(files)
    functions = [(file, one) for file in files if source.says(file, _FLOOR) for one in source.functions(file)]
    found = next((one for file, within in functions for one in _rates_by_passes(files, file, within)), None)
    loops = [(file, one) for file in files if source.says(file, _RANGE) for one in source.functions(file)]
    return found or next((one for file, within in loops for one in _rates_by_products(files, file, within)), None)


_RANGE = re.compile(r"^\s*for \w+ in range\(")


def _rates_by_products(files: tuple[str, ...], file: str, within: ast.AST) -> Iterator[RateByPasses]:
    """Calls in a loop over micro-batches that set the rate by `step * size + i`, in a loop over steps."""
    for outer, inner in _windows(within):
        size = re.escape(_turns(inner))
        step = re.escape(ast.unparse(outer.target)) if isinstance(outer, ast.For) else r"[\w.]+"
        product = re.compile(rf"^(?:({step}) \* {size}|{size} \* ({step})) \+ {ast.unparse(inner.target)}$")
        calls = [n for n in source.own(inner) if isinstance(n, ast.Call)]
        for call, given in ((one, given) for one in calls for given in one.args):
            made = source.assigned(within, given.id, call.lineno) if isinstance(given, ast.Name) else None
            found = product.search(ast.unparse(made.value if made is not None else given))
            if found is not None and _is_rate_of_steps(files, outer, inner, call):
                place = Place(file, call.lineno, getattr(within, "name", "<module>"))
                yield RateByPasses(place, source.last_name(call.func), ast.unparse(given), found[1] or found[2])


def _windows(within: ast.AST) -> Iterator[tuple[ast.For | ast.While, ast.For]]:
    """The loops of a function that step an optimizer, each with a loop over a `range()` in it that does not."""

    def steps(loop: ast.AST) -> bool:
        return any(_steps_an_optimizer(n) for n in source.own(loop) if isinstance(n, ast.Call))

    for outer in (n for n in source.own(within) if isinstance(n, ast.For | ast.While) and steps(n)):
        for inner in (n for n in source.own(outer) if isinstance(n, ast.For) and n is not outer):
            if _turns(inner) and not steps(inner):
                yield outer, inner


def _is_rate_of_steps(files: tuple[str, ...], outer: ast.For | ast.While, inner: ast.For, call: ast.Call) -> bool:
    """Whether a call sets the rate, or gives what is set as one in the same loop, and knows a number of steps: that of
    the turns of the loop around, or one that it is given by such a name."""
    name, whole = source.last_name(call.func), _turns(outer) if isinstance(outer, ast.For) else ""
    if whole and _sets_rate(files, name, whole):
        return True
    counts = [
        one for one in (*call.args, *(k.value for k in call.keywords)) if isinstance(one, ast.Name | ast.Attribute)
    ]
    if not any(_STEP_COUNT.search(ast.unparse(one)) for one in counts):
        return False
    text = ast.unparse(inner)
    given = [n.targets[0] for n in ast.walk(inner) if isinstance(n, ast.Assign) and n.value is call]
    return _sets_rate(files, name) or any(re.search(rf"\[.lr.\] = {ast.unparse(one)}\b", text) for one in given)


def _turns(loop: ast.For) -> str:
    """How many turns a loop over a `range()` has, by its text."""
    calls = isinstance(loop.iter, ast.Call) and source.last_name(loop.iter.func) == "range" and len(loop.iter.args) == 1
    return ast.unparse(loop.iter.args[0]) if calls and isinstance(loop.iter, ast.Call) else ""


def _rates_by_passes(files: tuple[str, ...], file: str, within: ast.AST) -> Iterator[RateByPasses]:
    nodes = source.own(within)
    quotients = {ast.unparse(n) for n in nodes if isinstance(n, ast.BinOp) and isinstance(n.op, ast.FloorDiv)}
    for block in (n for n in nodes if isinstance(n, ast.If)):
        calls = [n for n in source.own(block) if isinstance(n, ast.Call)]
        counts = _remainders(block.test) if any(map(_steps_an_optimizer, calls)) else []
        for count, size in ((count, size) for count, size in counts if f"{count} // {size}" in quotients):
            for call in (one for one in calls if count in map(ast.unparse, one.args)):
                if _sets_rate(files, name := source.last_name(call.func)):
                    place = Place(file, call.lineno, getattr(within, "name", "<module>"))
                    yield RateByPasses(place, name, count, f"{count} // {size}")


_FLOOR = re.compile(r"//")


def _remainders(test: ast.expr) -> list[tuple[str, str]]:
    """What remainders are taken of in a condition, and by what."""
    found = [n for n in ast.walk(test) if isinstance(n, ast.BinOp) and isinstance(n.op, ast.Mod)]
    return [(ast.unparse(one.left), ast.unparse(one.right)) for one in found]


def _steps_an_optimizer(call: ast.Call) -> bool:
    return _is_step(call) and bool(_OPTIMIZERS.search(ast.unparse(call.func)))


def _sets_rate(files: tuple[str, ...], name: str, by: str = "") -> bool:
    """Whether a function of this name writes learning rates, by its text, and knows a number."""
    texts = [ast.unparse(one) for file in files for one in source.functions(file) if getattr(one, "name", "") == name]
    return any(re.search(r"\[.lr.\] =", text) and by in text for text in texts)
