"""What each step needs, and stands under a condition for what is shown or saved now and then: by the text."""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Iterable, Iterator

from gradient_ledger import source
from gradient_ledger.events import Place, ShownWith

_NOW_AND_THEN = re.compile(r"print|log|disp|report|verbose|show", re.IGNORECASE)
"""Words of a number of steps after which something is shown."""
_SOMETIMES = re.compile(r"\bif\b.*(print|log|disp|report|verbose|show|best|improved|better)", re.IGNORECASE)
_SHOWS = re.compile(r"print|log|add_scalar|write|info|append|report|set_postfix|set_description|display|show|format")
"""Names of what shows something."""
_BEST = re.compile(r"^(self\.)?(is_)?(new_)?(best|improved|better)(_\w+)?$|[<>].*best|best\w*\)? *[<>]", re.IGNORECASE)
"""Conditions that hold where the model is better than ever."""
_SAVES = re.compile(r"save|dump", re.IGNORECASE)
_OPTIMIZERS = re.compile(r"optim|^opt$|^opt_|_opt$", re.IGNORECASE)
_SCHEDULERS = re.compile(r"sched", re.IGNORECASE)
_UPDATES = re.compile(r"update|step|momentum|soft", re.IGNORECASE)
_FOLLOWS = re.compile(r"(?<![a-z])ema(?![a-z])|averag|teacher|target|momentum|shadow|swa", re.IGNORECASE)
_SHOWN = re.compile(r"loss|metric|meter|acc|stat|time|bar|score|lr|rate", re.IGNORECASE)
"""Names of averages that are there to be shown."""


def found(files: Iterable[str]) -> ShownWith | None:
    """The first call that steps an optimizer or a scheduler, or lets an average follow, which stands under a condition
    for what is shown, beside what shows it, and nowhere else."""
    functions = [(file, one) for file in files if source.says(file, _SOMETIMES) for one in source.functions(file)]
    return next((one for file, within in functions for one in _found_in(file, within)), None)


def _found_in(file: str, within: ast.AST) -> Iterator[ShownWith]:
    nodes = source.own(within)
    calls = [(n, n.value) for n in nodes if isinstance(n, ast.Expr) and isinstance(n.value, ast.Call)]
    named = Counter(ast.unparse(call.func) for _, call in calls)
    for block in (n for n in nodes if isinstance(n, ast.If)):
        beside = _SHOWS if _is_now_and_then(block.test) else _SAVES if _BEST.search(ast.unparse(block.test)) else None
        inside = [call for statement, call in calls if statement in block.body]
        for call in inside if beside and any(beside.search(source.last_name(one.func)) for one in inside) else ():
            what = _needed(call)
            if what and named[ast.unparse(call.func)] == 1:
                place = Place(file, call.lineno, getattr(within, "name", "<module>"))
                yield ShownWith(place, ast.unparse(block.test), what)


def _is_now_and_then(test: ast.expr) -> bool:
    """Whether a condition takes a remainder by a number that is named for what is shown."""
    remainders = [n for n in ast.walk(test) if isinstance(n, ast.BinOp) and isinstance(n.op, ast.Mod)]
    return any(_NOW_AND_THEN.search(ast.unparse(one.right)) for one in remainders)


def _needed(call: ast.Call) -> str:
    """What a call does that each step needs: a word for it, or nothing."""
    method = source.last_name(call.func)
    holder = ast.unparse(call.func.value) if isinstance(call.func, ast.Attribute) else ""
    if method == "step" and not call.args and not call.keywords:
        last = holder.rpartition(".")[2]
        return "schedule" if _SCHEDULERS.search(last) else "optimizer" if _OPTIMIZERS.search(last) else ""
    written = f"{holder.rpartition('.')[2]} {method}"
    follows = _UPDATES.search(method) and _FOLLOWS.search(written) and not _SHOWN.search(written)
    return "average" if follows and not any("item()" in ast.unparse(one) for one in call.args) else ""
