"""What the user's texts define, make or name, and never call: the update of an average, a schedule, what freezes, a
method without its parentheses, a clear under a condition."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import Any

from gradient_ledger import source, timetables
from gradient_ledger.events import Place, Uncalled, VainClear
from gradient_ledger.source import LOOPS, functions, last_name, own, says
from gradient_ledger.state import State

FOLLOWING = re.compile(
    r"(update|sync)\w*(average|avg|shadow|teacher|target|(?<![a-z])ema(?![a-z]))|soft_?update|"
    r"(average|avg|shadow|teacher|target|momentum|(?<![a-z])ema)_?(update|sync)",
    re.IGNORECASE,
)
"""Names of functions that let an average, a teacher or a target network follow the trained weights."""
BEGINS = re.compile(r"_*(init|build|make|create|set_?up)", re.IGNORECASE)
"""Names of functions that copy weights once, at the beginning."""
_WRITES = ("copy_", "lerp_", "load_state_dict")
RATES = r"\[['\"]lr['\"]\]\s*[*/+-]?=[^=]"
"""A text that sets the rate of a parameter group."""
_RATES = re.compile(RATES)
_FREEZES = re.compile(r"\.requires_grad\s*=\s*False|\.requires_grad_\(False\)")


def facts(state: State, files: tuple[str, ...]) -> dict[str, Any]:
    """The fields of a log on what these texts never call. A module of helpers may hold more than one program uses, so
    what sets a rate or freezes is looked for in the files that train."""
    trains = tuple(state.journal.files())
    unset = schedule(trains, files)
    found = {
        "uncalled_update": update(files),
        "unmoved_average": average(files),
        "uncalled_schedule": unset if unset is not None and timetables.steps_schedules(files) is False else None,
        "uncalled_freeze": freeze(trains, files),
    }
    told: dict[str, Any] = {name: one for name, one in found.items() if one is not None}
    if told and state.progress.last is not None:
        told["loop_at"] = source.outermost_loop(state.progress.last.deposit.trail)
    return told


_METHODS = frozenset("zero_grad step backward eval train update unscale_ requires_grad_ detach_ zero_".split())
"""Methods that are called for what they do."""


def named(files: Iterable[str]) -> tuple[Uncalled, ...]:
    """The statements that are the name of such a method and nothing else, as it is without its parentheses."""
    return tuple(
        Uncalled(ast.unparse(one.value), Place(file, one.lineno, getattr(within, "name", "<module>")))
        for file in files
        for within in functions(file)
        for one in own(within)
        if isinstance(one, ast.Expr) and isinstance(one.value, ast.Attribute) and one.value.attr in _METHODS
    )


_BAD = re.compile(r"isfinite|isnan|isinf|(?<![a-z])(nan|inf)(?![a-z])", re.IGNORECASE)
"""What a condition asks of a loss or a norm that is passed over."""


def guarding_clears(files: Iterable[str]) -> tuple[Place, ...]:
    """Those of them that stand under a condition which asks whether something is finite."""
    return clears_under(files, _BAD)


def clears_under(files: Iterable[str], asking: re.Pattern[str] | None = None) -> tuple[Place, ...]:
    """The lines that call `zero_grad` under an `if`, one whose condition matches: such a clear may never run."""
    found = [
        Place(file, call.lineno, getattr(within, "name", "<module>"))
        for file in files
        for within in functions(file)
        for block in own(within)
        if isinstance(block, ast.If) and (asking is None or asking.search(ast.unparse(block.test)))
        for one in block.body
        if isinstance(call := getattr(one, "value", None), ast.Call) and last_name(call.func) == "zero_grad"
    ]
    return tuple(dict.fromkeys(found))


_CLEARING = re.compile(r"(^|_)(zero|clear|reset|free|wipe|clean|drop)\w*_?grad", re.IGNORECASE)
"""Names of functions that clear gradients."""
_CLEARS = re.compile(r"zero_grad|\.zero_\(|\.fill_\(|\.grad = |\bdel \b|setattr|_foreach_zero_|\.copy_\(|mul_\(0")
"""Text that does so."""


def clears_in_vain(files: Iterable[str]) -> tuple[VainClear, ...]:
    """The functions that clear gradients by their names, and none by their text, nor by what else they call."""
    held = functions_in(files)
    calls: dict[str, Place] = {}
    for within, file in held.items():
        for call in (one for one in own(within) if isinstance(one, ast.Call)):
            calls.setdefault(last_name(call.func), Place(file, call.lineno, getattr(within, "name", "<module>")))
    named = [one for one in held if isinstance(one, ast.FunctionDef) and _CLEARING.search(one.name)]
    found = []
    for function in (one for one in named if one.name in calls):
        nodes = own(function)
        said = [one for one in nodes if isinstance(one, (ast.Assign, ast.Expr)) and "grad" in ast.unparse(one)]
        said = [one for one in said if isinstance(one, ast.Assign) or not isinstance(one.value, ast.Constant)]
        called = {last_name(one.func) for one in nodes if isinstance(one, ast.Call)}
        others = called & {getattr(one, "name", "") for one in held}
        if said and not others and not any(_CLEARS.search(ast.unparse(one)) for one in nodes):
            at = Place(held[function], said[-1].lineno, function.name)
            found.append(VainClear(function.name, at, calls[function.name]))
    return tuple(found)


@lru_cache(maxsize=64)
def update(files: tuple[str, ...]) -> Uncalled | None:
    """A function that lets an average or a target network follow the weights, by its name, and its place, where these
    texts never call it, nor let anything follow in another way."""
    saying = functions_in(file for file in files if says(file, FOLLOWING))
    if not _uncalled(_that_follow(saying), saying):  # what names them says such a name, too
        return None
    held = functions_in(files)
    idle = inner = updates = _uncalled(_that_follow(held), held)
    while inner:  # with what they alone call
        inside = {name for one in idle for name in _called(one)} - _named_outside(held, idle)
        inner = [one for one in held if one not in idle and isinstance(one, ast.FunctionDef) and one.name in inside]
        idle = [*idle, *inner]
    rest = [one for one in held if one not in idle and not BEGINS.match(getattr(one, "name", ""))]
    if not updates or any(_follows(one) for one in rest):
        return None
    last = updates[-1]  # what it calls may have a name of this kind, too, and stand above it
    return Uncalled(last.name, Place(held[last], last.lineno, last.name))


_AVERAGES = re.compile(r"(?<![A-Z])(EMA|Ema)(?![a-z])|MovingAverage(?!Meter)|AveragedModel|WeightAverag")
"""Names of classes that average weights; meters and losses that bear such a word count something else."""
_MEASURES = re.compile(r"Meter|Loss|Metric|Stat|Norm|Pool")
_OF_AVERAGES = re.compile(r"(?<![a-z])(ema|avg|averag\w*|shadow|swa)(?![a-z])", re.IGNORECASE)


@lru_cache(maxsize=64)
def average(files: tuple[str, ...]) -> Uncalled | None:
    """A class that averages weights, by its name, of which these texts make an object and call nothing that may be its
    update; and where they make it."""
    made = [
        (Uncalled(kind, Place(file, one.lineno, getattr(within, "name", "<module>"))), one)
        for file in files
        if says(file, _AVERAGES)
        for within in functions(file)
        for one in own(within)
        if (kind := _average_made(one))
    ]
    if not made:
        return None
    names = {ast.unparse(target).rpartition(".")[2] for _, one in made for target in one.targets} - {"model"}
    every = [one for file in files for within in functions(file) for one in own(within) if isinstance(one, ast.Call)]
    # A method that is handed over may be called where it arrives.
    handed = [each for call in every for each in call.args if isinstance(each, ast.Attribute)]
    methods = [*(call.func for call in every), *handed]
    return None if any(_may_move(ast.unparse(one), names) for one in methods) else made[0][0]


def _average_made(statement: ast.AST) -> str:
    """The class that averages weights, by its name, of which a statement assigns an object; else nothing."""
    call = statement.value if isinstance(statement, ast.Assign) else None
    kind = ast.unparse(call.func).rpartition(".")[2] if isinstance(call, ast.Call) else ""
    return kind if kind[:1].isupper() and _AVERAGES.search(kind) and not _MEASURES.search(kind) else ""


def _may_move(call: str, names: set[str]) -> bool:
    """Whether what is called may be an average, or its update, that the texts know by such names."""
    owner, _, method = call.rpartition(".")
    holds = bool(_OF_AVERAGES.search(owner)) or owner.rpartition(".")[2] in names
    return method in names or (holds and bool(re.search("update|step|call", method)))


@lru_cache(maxsize=64)
def schedule(files: tuple[str, ...], others: tuple[str, ...]) -> Uncalled | None:
    """A function of these files that sets the learning rate, and its place, where neither they nor the others call it,
    nor set it elsewhere."""
    return _uncalled_that(files, others, _RATES)


@lru_cache(maxsize=64)
def freeze(files: tuple[str, ...], others: tuple[str, ...]) -> Uncalled | None:
    """A function of these files that freezes, and its place, where neither they nor the others call it, nor freeze
    anything elsewhere but in a method."""
    return _uncalled_that(files, others, _FREEZES, methods=False)


def _uncalled_that(
    files: tuple[str, ...], others: tuple[str, ...], what: re.Pattern[str], methods: bool = True
) -> Uncalled | None:
    """The function of these files whose own text says this, and its place, where no text calls it or says it, too."""
    every = dict.fromkeys((*files, *others))
    if not any(says(file, what) for file in files):
        return None
    saying = functions_in(file for file in every if says(file, what))
    saying = {one: file for one, file in saying.items() if (methods or not _is_method(one)) and _says_itself(one, what)}
    if len(saying) != 1:
        return None
    [(function, file)] = saying.items()
    if file not in files or not isinstance(function, ast.FunctionDef):
        return None
    name = re.compile(rf"\b{function.name}\b")
    if function.name.startswith("__") or _trains(function):
        return None
    if not _uncalled([function], functions_in(one for one in every if says(one, name))):
        return None
    if any(says(one, re.compile(rf"#.*\b{function.name}\(")) for one in every):
        return None  # a call that was made a comment was taken out on purpose
    return Uncalled(function.name, Place(file, function.lineno, function.name))


def _says_itself(function: ast.AST, what: re.Pattern[str]) -> bool:
    """Whether a statement of a function's own says this."""
    return any(
        isinstance(one, ast.stmt) and not hasattr(one, "body") and what.search(ast.unparse(one))
        for one in own(function)
    )


def _trains(function: ast.AST) -> bool:
    """Whether a function trains by itself: it is another loop than the one that ran, and no part of that."""
    calls = (one.func for one in own(function) if isinstance(one, ast.Call))
    return any(getattr(one, "attr", "") in ("backward", "step") for one in calls)


def _is_method(function: ast.AST) -> bool:
    arguments = getattr(function, "args", None)
    return arguments is not None and [one.arg for one in arguments.args[:1]] == ["self"]


def functions_in(files: Iterable[str]) -> dict[ast.AST, str]:
    """The functions of these texts, and the texts themselves, each with its file."""
    return {one: file for file in files for one in functions(file)}


def _that_follow(among: Iterable[ast.AST]) -> list[ast.FunctionDef]:
    """Those that let something follow the weights, by their names."""
    return [one for one in among if isinstance(one, ast.FunctionDef) and FOLLOWING.search(one.name)]


def _uncalled(idle: list[ast.FunctionDef], among: Iterable[ast.AST]) -> list[ast.FunctionDef]:
    """Those of these functions that none among some name but one another."""
    while used := [one for one in idle if one.name in _named_outside(among, idle)]:
        idle = [one for one in idle if one not in used]
    return idle


@lru_cache(maxsize=16 * source.FILES)
def _called(within: ast.AST) -> frozenset[str]:
    """The names of what a function's own text calls, or hands on."""
    names = {one.attr for one in own(within) if isinstance(one, ast.Attribute)}
    return frozenset(names | {one.id for one in own(within) if isinstance(one, ast.Name)})


def _named_outside(among: Iterable[ast.AST], idle: Sequence[ast.AST]) -> set[str]:
    """The names that stand in all functions among some but these."""
    return {name for one in among if one not in idle for name in _called(one)}


def _follows(within: ast.AST) -> bool:
    """Whether a function's own text copies weights in a loop."""
    return any(writes(loop) for loop in own(within) if isinstance(loop, LOOPS))


def writes(loop: ast.AST) -> bool:
    """Whether what a loop does is to write to tensors, as one does that copies weights."""
    return any(
        (isinstance(one, ast.Assign) and any(getattr(target, "attr", "") == "data" for target in one.targets))
        or (isinstance(one, ast.Call) and getattr(one.func, "attr", "") in _WRITES)
        for one in own(loop)
    )
