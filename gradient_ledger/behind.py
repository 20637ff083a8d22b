"""Networks that should follow others, by their names: those that the user's texts make as copies and never change, and
those that they update at each micro-batch."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator
from functools import lru_cache

from gradient_ledger import source
from gradient_ledger.events import Place, Trail, Uncalled
from gradient_ledger.source import LOOPS, last_name, own, says
from gradient_ledger.uncalled import FOLLOWING, functions_in, writes

_BEHIND = re.compile(r"(?<![a-z])(target|targ|ema|momentum|slow|avg|shadow)(?![a-z])|^target", re.IGNORECASE)
"""Words in names of networks that follow others."""
ONLY_READS = {"eval", "train", "to", "cuda", "cpu", "requires_grad_", "forward", "zero_grad", "training", "device"}
"""What of a network may be asked for without a change of its weights."""
KEEPS = re.compile(r"save|load|store|restor|checkpoint|ckpt|resum|eval|test", re.IGNORECASE)
"""Names of functions that keep weights, bring them back or try them."""
_WALKS = re.compile(r"parameters\(|modules\(|state_dict\(")


@lru_cache(maxsize=64)
def left_behind(files: tuple[str, ...]) -> Uncalled | None:
    """A network that follows others, by its name, which these texts make once and as a copy, call, and let follow
    nowhere after that; and where they make it."""
    saying = functions_in(file for file in files if says(file, _BEHIND))
    made: dict[str, list[tuple[ast.AST, ast.Assign]]] = {}
    for within in saying:
        for one in own(within):
            if isinstance(one, ast.Assign) and isinstance(one.value, ast.Call):
                for target in one.targets:
                    name = last_name(target)
                    if _BEHIND.search(name):
                        made.setdefault(name, []).append((within, one))
    for name, places in made.items():
        if len(places) == 1:
            [(within, one)] = places
            again = _is_called_in_a_loop(getattr(within, "name", ""), files)
            if _begins_as_copy(name, one, within) and _is_left(name, within, saying) and not again:
                return Uncalled(name, Place(saying[within], one.lineno, getattr(within, "name", "<module>")))
    return None


def _is_called_in_a_loop(name: str, files: Iterable[str]) -> bool:
    """Whether a function that is no constructor is called again and again, each time with a copy of its own."""
    if name in ("", "__init__"):
        return False
    loops = (one for one in functions_in(files) for one in own(one) if isinstance(one, LOOPS))
    return any(isinstance(one, ast.Call) and last_name(one.func) == name for loop in loops for one in own(loop))


def _begins_as_copy(name: str, made: ast.Assign, within: ast.AST) -> bool:
    """Whether a network is made as a copy of another one, or filled with its weights where it is made."""
    if "deepcopy(" in ast.unparse(made.value):
        return True
    for one in own(within):
        if isinstance(one, ast.Call):
            given = [ast.unparse(each) for each in one.args]
            if last_name(one.func) == "load_state_dict" and last_name(getattr(one.func, "value", one)) == name:
                if any(each.endswith(".state_dict()") for each in given):
                    return True
            elif FOLLOWING.search(last_name(one.func)) and any(each.rpartition(".")[2] == name for each in given):
                return True
        elif isinstance(one, ast.For) and writes(one) and re.search(rf"\b{name}\.", ast.unparse(one.iter)):
            return True
    return False


def _is_left(name: str, maker: ast.AST, among: Iterable[ast.AST]) -> bool:
    """Whether a network of this name is called in some function, and may change in none after it was made."""
    called = False
    for within in among:
        if within is not maker and is_handed(name, within):
            continue  # it has this name for something that is handed in
        uses = set(_uses(within, name))
        called = called or "called" in uses
        if within is maker:
            changes = "in a loop" in uses
        else:
            changes = not uses <= {"called", "read"} and not KEEPS.search(getattr(within, "name", ""))
        if changes:
            return False
    return called


def is_handed(name: str, within: ast.AST) -> bool:
    """Whether a function is handed something by this name."""
    arguments = getattr(within, "args", None)
    return arguments is not None and name in {one.arg for one in arguments.args}


def _uses(within: ast.AST, name: str) -> Iterator[str]:
    """What a function's own text does with a network of this name, use by use: it is called, read, used in another way,
    or that in a loop that goes over anything but weights."""
    loops = [one for one in own(within) if isinstance(one, LOOPS)]
    heads = [(loop, ast.unparse(loop.test if isinstance(loop, ast.While) else loop.iter)) for loop in loops]
    over = {each for loop, head in heads if not _WALKS.search(head) for each in own(loop)}
    parents = {inner: one for one in (within, *own(within)) for inner in ast.iter_child_nodes(one)}
    for one in own(within):
        if last_name(one) == name:
            above = parents.get(one)
            if isinstance(above, ast.Call) and above.func is one:
                yield "called"
            elif isinstance(above, ast.Attribute) and above.attr in ONLY_READS:
                yield "called" if above.attr == "forward" else "read"
            else:
                yield "in a loop" if one in over else "other"


_AVERAGE = re.compile(r"(?<![a-z])(ema|averager?|averaged|avg|polyak|swa)(?![a-z])", re.IGNORECASE)
"""Words in names of averages of weights."""
_UPDATES = re.compile(r"^_?(update|step|update_parameters|update_(ema|params|weights|average)|ema_(update|step))$")
"""Methods that let one take in the weights."""
_WAITS = re.compile(r"%|sync|accum|micro|step|boundary|update", re.IGNORECASE)
"""Words in conditions that may wait for a step of the optimizer."""


def follows_each_turn(files: tuple[str, ...], trail: Trail) -> Place | None:
    """The line that updates what is an average by its name in the loop around this pass, under no condition there that
    may wait for a step, where each turn of that loop makes one pass."""
    for file, line in trail:
        loop = source.loop_around(file, line)
        if loop is None:
            continue  # a function that a turn calls
        updates = [one for one in _every_turn(loop.body) if _updates(one)] if isinstance(loop, ast.For) else []
        waiting = _that_wait(files) if updates else set()
        calls = [one for one in updates if last_name(one.func) not in waiting]
        if len(calls) != 1:
            return None
        return Place(file, calls[0].lineno, getattr(source.scope(file, line), "name", "<module>"))
    return None


@lru_cache(maxsize=64)
def _that_wait(files: tuple[str, ...]) -> frozenset[str]:
    """The names of functions that may wait for a step by themselves."""
    held = (one for one in functions_in(files) if isinstance(one, ast.FunctionDef))
    return frozenset(one.name for one in held if _WAITS_BY_ITSELF.search(ast.unparse(one)))


_WAITS_BY_ITSELF = re.compile(r"sync_gradients|accum|micro_?batch", re.IGNORECASE)
"""Words by which an update may wait for steps by itself."""


def _every_turn(body: list[ast.stmt]) -> Iterator[ast.Call]:
    """The calls of a loop's turn that no condition makes wait for a step, and no loop inside it repeats."""
    for one in body:
        if isinstance(one, LOOPS):
            continue
        if isinstance(one, ast.If) and _WAITS.search(ast.unparse(one.test)):
            if any(isinstance(inner, ast.Continue | ast.Break | ast.Return) for inner in ast.walk(one)):
                return
        elif isinstance(one, ast.If | ast.With | ast.Try):
            yield from _every_turn(one.body)
        elif isinstance(one, ast.Expr) and isinstance(one.value, ast.Call):
            yield one.value


def _updates(call: ast.Call) -> bool:
    return (
        isinstance(call.func, ast.Attribute)
        and _UPDATES.search(call.func.attr) is not None
        and _AVERAGE.search(last_name(call.func.value)) is not None
    )
