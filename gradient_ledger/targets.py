"""Target networks, by their names: kept up to date and never asked, or loaded into what they should follow."""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from functools import lru_cache

from gradient_ledger.behind import KEEPS, ONLY_READS, is_handed
from gradient_ledger.events import Place, TargetNetwork
from gradient_ledger.source import last_name, own, says
from gradient_ledger.uncalled import FOLLOWING, functions_in

_TARGETS = re.compile(r"((?<![a-z])t|T)arg(et)?(?![a-z])|TARG")
"""Words in names of networks that give the targets of others. An average may be made to be saved alone."""
_KEPT = ONLY_READS - {"forward"} | {"parameters", "named_parameters", "state_dict", "load_state_dict", "buffers"}
"""What of a network may be asked for without a call of it."""
_COPIES = re.compile(r"deepcopy|hard_?(update|copy)|copy_(weights|params|model)|^(len|print)$", re.IGNORECASE)
"""Names of functions that copy weights once, or that only look at what they are given."""
_LATER = re.compile(r"next|new|after|prime|(?<![a-z])(ns|s)_?[12]?(?![a-z])|2\b|_\b", re.IGNORECASE)
"""Names of a state that comes after another one."""


@lru_cache(maxsize=64)
def never_asked(files: tuple[str, ...]) -> TargetNetwork | None:
    """A target network, by its name, that these texts make and let follow another one, and never call; and where they
    ask that other one in its place, if one line does."""
    saying = functions_in(file for file in files if says(file, _TARGETS))
    made: dict[str, Place] = {}
    for within in saying:
        for one in own(within):
            if isinstance(one, ast.Assign) and isinstance(one.value, ast.Call):
                for target in one.targets:
                    if _TARGETS.search(name := last_name(target)):
                        made.setdefault(name, Place(saying[within], one.lineno, getattr(within, "name", "<module>")))
    for name, where in made.items():
        uses = [use for within in saying if not is_handed(name, within) for use in _kept(within, name)]
        others = {other for _, other in uses if other}
        words = Counter(word for word, _ in uses)
        if len(others) == 1 and words["follows"] and words["weights"] and not words["asked"]:
            [other] = others
            return TargetNetwork(name, where, other, _asked_instead(other, files))
    return None


def _kept(within: ast.AST, name: str) -> Iterator[tuple[str, str]]:
    """What a function's own text does with what has this name: whether it follows another network by that, with that
    one's name, is asked for its weights or its mode, so that it is a network, is asked anything else, or neither."""
    parents = {inner: one for one in (within, *own(within)) for inner in ast.iter_child_nodes(one)}
    for one in own(within):
        if last_name(one) != name or not isinstance(one, (ast.Name, ast.Attribute)):
            continue
        above = parents.get(one)
        if isinstance(one.ctx, ast.Store):
            value = getattr(above, "value", None)
            given = value.args if isinstance(value, ast.Call) and last_name(value.func) == "deepcopy" else []
            yield "made", last_name(given[0]) if given else ""
            if given:
                yield "weights", ""
        elif isinstance(above, ast.Call) and one in above.args and _is_update(last_name(above.func)):
            rest = [last_name(each) for each in above.args if each is not one and last_name(each)]
            follows = FOLLOWING.search(last_name(above.func)) is not None
            yield ("follows" if follows else "kept"), (rest[0] if rest and not _TARGETS.search(rest[0]) else "")
        elif isinstance(above, ast.Attribute) and above.attr in _KEPT:
            yield "weights", ""
            yield _brought_up(above, parents)
        else:
            yield "asked", ""


def _is_update(function: str) -> bool:
    return bool(FOLLOWING.search(function) or _COPIES.search(function))


def _brought_up(asked: ast.Attribute, parents: dict[ast.AST, ast.AST]) -> tuple[str, str]:
    """What follows from a network's parameters, or its state, being asked for."""
    call = parents.get(asked)
    if asked.attr == "load_state_dict" and isinstance(call, ast.Call) and call.args:
        given = ast.unparse(call.args[0])
        return "follows", given.removesuffix(".state_dict()").rpartition(".")[2] if given.endswith("()") else ""
    if asked.attr in ("parameters", "named_parameters", "state_dict") and isinstance(call, ast.Call):
        zipped = parents.get(call)
        if (
            isinstance(zipped, ast.Call)
            and last_name(zipped.func) == "zip"
            and isinstance(parents.get(zipped), ast.For)
        ):
            rest = [each for each in zipped.args if each is not call and isinstance(each, ast.Call)]
            return "follows", last_name(getattr(rest[0].func, "value", rest[0])) if rest else ""
    return "kept", ""


def _asked_instead(name: str, files: Iterable[str]) -> Place | None:
    """The line of a function that trains, where a network is asked about a later state, and no gradient is to come."""
    for within, file in functions_in(files).items():
        inside = list(own(within))
        if not any(getattr(getattr(one, "func", None), "attr", "") == "backward" for one in inside):
            continue
        asked = [one for one in inside if isinstance(one, ast.Call) and last_name(one.func) == name]
        later = [one for one in asked if any(_LATER.search(ast.unparse(each)) for each in one.args)]
        if later:
            return Place(file, later[0].lineno, getattr(within, "name", "<module>"))
    return None


@lru_cache(maxsize=64)
def copied_back(files: tuple[str, ...]) -> TargetNetwork | None:
    """A target network, by its name, that these texts fill once from another one, and then load into that again and
    again, where nothing else lets it follow."""
    saying = functions_in(file for file in files if says(file, _TARGETS))
    loads = [(within, *load) for within in saying for load in _loads(within)]
    for within, line, into, given in loads:
        if not _TARGETS.search(given) or _TARGETS.search(into) or getattr(within, "name", "") in ("", "__init__"):
            continue
        first = [(maker, at) for maker, at, target, source in loads if (target, source) == (given, into)]
        asks = [one for one in saying if not (is_handed(given, one) or KEEPS.search(getattr(one, "name", "")))]
        uses = [use for one in asks for use in _kept(one, given)]
        follows = sum(word == "follows" for word, _ in uses)
        copies = any(word == "made" and other == into for word, other in uses)
        begun = all(getattr(maker, "name", "") == "__init__" for maker, _ in first)
        if begun and follows == len(first) and (first or copies) and not KEEPS.search(getattr(within, "name", "")):
            made = Place(saying[within], line, getattr(within, "name", "<module>"))
            return TargetNetwork(given, made, into, None)
    return None


def _loads(within: ast.AST) -> Iterator[tuple[int, str, str]]:
    """Where a function's own text loads the state of one network into another: the line, and the names of the two."""
    for one in own(within):
        if isinstance(one, ast.Call) and last_name(one.func) == "load_state_dict" and one.args:
            given = one.args[0]
            if isinstance(given, ast.Call) and last_name(given.func) == "state_dict":
                yield (
                    one.lineno,
                    last_name(getattr(one.func, "value", one)),
                    last_name(getattr(given.func, "value", one)),
                )
