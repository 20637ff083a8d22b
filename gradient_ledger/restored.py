"""What a program restores from its checkpoints, by the keys in its texts."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator

from gradient_ledger import source
from gradient_ledger.events import Place, UnsavedKey

_SAVES = re.compile(r"torch\.save\(")


def asked_for_in_vain(files: Iterable[str]) -> UnsavedKey | None:
    """The first load of a state that waits for a key which no checkpoint of these texts has, where they save that of
    the same object by another key, and nothing reads that one. Without a condition it would raise an error."""
    trees = {file: tree for file in files if (tree := source.parsed(file)) is not None}
    saved: dict[str, str] = {}
    keys: set[str] = set()
    for file in trees:
        for entries in _checkpoints(file) if source.says(file, _SAVES) else ():
            if entries is None:
                return None  # what is saved is not all to be seen
            keys |= entries.keys()
            saved |= {of: key for key, value in entries.items() if (of := _whose_state(value))}
    if not saved:
        return None
    words = [word for tree in trees.values() for word in _words(tree)]
    for file, tree in trees.items():
        for line, of, key in _loads(tree):
            written = saved.get(of)
            if key not in keys and written is not None and words.count(written) == 1:
                return UnsavedKey(Place(file, line), of, key, written)
    return None


def left_behind(files: Iterable[str]) -> UnsavedKey | None:
    """The first place where a run goes on from a checkpoint, by the number of an epoch or step that is read from it and
    that a loop begins with, with the model's state and without that of an optimizer, a scheduler or an average, which
    the text saves beside it and nothing reads."""
    for file in files:
        for within in source.functions(file) if source.says(file, _SAVES) else ():
            nodes = [*source.own(within)]
            made = [n for n in nodes if isinstance(n, ast.Assign)]
            given = [pair for one in made for pair in source.bindings(one.targets[0], one.value)]
            counts = [value for target, value in given if _begins_a_loop(file, target)]
            goes_on = {holder for value in counts for holder, key in _read(value) if _COUNT.fullmatch(key)}
            loads = [n for n in nodes if isinstance(n, ast.Call) and source.last_name(n.func) == "load_state_dict"]
            whole = [n for n in loads if n.args and any(holder in goes_on for holder in _holders(n.args[0]))]
            if whole and (told := _unread(file)) is not None:
                return UnsavedKey(Place(file, whole[-1].lineno), told[0], "", told[1])
    return _not_handed_over(files)


def _not_handed_over(files: Iterable[str]) -> UnsavedKey | None:
    """The first call that a run goes on from, by the number that it gives to a loop, of a function which loads a state
    that the text saves only where it is given the object, and here is not."""
    for file in (one for one in files if source.says(one, _SAVES)):
        tree = source.parsed(file)
        words = _words(tree) if tree is not None else []
        entries = [one for held in _checkpoints(file) for one in (held or {}).items()]
        # Each key stands where it is saved, and where that function loads it.
        kept = {key for key, value in entries if _GATHERS.search(_whose_state(value)) and words.count(key) == 2}
        for within in (one for one in source.functions(file) if kept and isinstance(one, ast.FunctionDef)):
            asked = {of: key for of, key in _loads_if_given(within).items() if key in kept}
            for call in _calls_to_go_on(file, within.name) if asked else ():
                given = source.handed_over(call, within).keys()
                of = next((of for of in asked if not given & {of, None}), None)
                if of is not None:
                    return UnsavedKey(Place(file, call.lineno), of, "", asked[of], within.name)
    return None


def _loads_if_given(function: ast.FunctionDef) -> dict[str, str]:
    """The arguments without which a function does without loading their state, and the keys of that."""
    defaults = function.args.defaults
    pairs = zip(function.args.args[len(function.args.args) - len(defaults) :], defaults, strict=True)
    bare = {one.arg for one, by in pairs if isinstance(by, ast.Constant) and not by.value}
    found: dict[str, list[str]] = {}
    for one in (n for n in source.own(function) if isinstance(n, ast.Call) and n.args):
        if isinstance(one.func, ast.Attribute) and one.func.attr == "load_state_dict":
            found[ast.unparse(one.func.value)] = [key for _, key in _read(one.args[0])]
    return {name: keys[-1] for name, keys in found.items() if name in bare and keys}


def _calls_to_go_on(file: str, function: str) -> Iterator[ast.Call]:
    """The calls of a function that give a loop what it begins with."""
    for within in source.functions(file):
        for one in source.own(within):
            call = one.value if isinstance(one, ast.Assign) else None
            if isinstance(one, ast.Assign) and isinstance(call, ast.Call) and source.last_name(call.func) == function:
                targets = [each for target in one.targets for each in getattr(target, "elts", [target])]
                if any(_begins_a_loop(file, each) for each in targets):
                    yield call


_COUNT = re.compile(r"(start_|last_|global_|cur(rent)?_)?(epoch|step|iter|iteration|iters|steps)", re.IGNORECASE)
"""Keys of what a run goes on from."""
_GATHERS = re.compile(r"opt|sched|(?<![a-z])ema(?![a-z])|average|target|teacher|shadow", re.IGNORECASE)
"""Names of what a run gathers beside its weights."""
_SCHEDULE = re.compile(r"sched", re.IGNORECASE)
_TOLD_ELSEWHERE = re.compile(r"\blast_epoch\b")
"""How a scheduler is told where it stands, without a state."""


def _begins_a_loop(file: str, target: ast.expr) -> bool:
    """Whether a `range()` or a `while` of the file reads this name: where it is only shown, nothing goes on."""
    name = re.escape(source.last_name(target))
    return bool(name) and source.says(file, re.compile(rf"range\(.*\b{name}\b|^\s*while\b.*\b{name}\b"))


def _read(value: ast.expr) -> list[tuple[str, str]]:
    """What a value is read from, and by which keys."""
    read = [n for n in ast.walk(value) if isinstance(n, ast.Subscript)]
    return [(ast.unparse(n.value), str(n.slice.value)) for n in read if isinstance(n.slice, ast.Constant)]


def _holders(value: ast.expr) -> list[str]:
    """What a value is read from by a key, which a loop over such keys may give."""
    return [ast.unparse(n.value) for n in ast.walk(value) if isinstance(n, ast.Subscript)]


def _unread(file: str) -> tuple[str, str] | None:
    """What a file saves the state of beside others, and its key, which stands nowhere else in it: an optimizer, an
    average, or a scheduler that is stepped in one place and not told where it stands."""
    tree = source.parsed(file)
    nodes = [*ast.walk(tree)] if tree is not None else []
    methods = [n.func for n in nodes if isinstance(n, ast.Call) and isinstance(n.func, ast.Attribute)]
    loaded = {source.last_name(one.value) for one in methods if one.attr == "load_state_dict"}
    words = _words(tree) if tree is not None else []
    for entries in _checkpoints(file):
        for key, value in (entries or {}).items():
            of = _whose_state(value)
            steps = [one for one in methods if one.attr == "step" and source.last_name(one.value) == of]
            if _SCHEDULE.search(of) and (len(steps) != 1 or source.says(file, _TOLD_ELSEWHERE)):
                continue
            if _GATHERS.search(of) and of not in loaded and words.count(key) == 1 and len(entries or ()) > 1:
                return of, key
    return None


def _words(tree: ast.AST) -> list[object]:
    """The constants of a text, and its keywords: where a key may stand."""
    found: list[object] = [n.value for n in ast.walk(tree) if isinstance(n, ast.Constant)]
    return found + [n.arg for n in ast.walk(tree) if isinstance(n, ast.keyword)]


def _checkpoints(file: str) -> Iterator[dict[str, ast.expr] | None]:
    """The entries of each dict that a file saves, those set by its name too; None where some are not in the text."""
    for within in source.functions(file):
        nodes = [*source.own(within)]
        for call in (n for n in nodes if isinstance(n, ast.Call) and ast.unparse(n.func) == "torch.save" and n.args):
            given = call.args[0]
            name = ast.unparse(given)
            made = source.assigned(within, name, call.lineno) if isinstance(given, ast.Name | ast.Attribute) else None
            value = made.value if made is not None else given
            entries = _entries(value)
            if entries is not None:
                yield entries | _set_later(nodes, name)
            elif not _whose_state(value):
                yield None


def _set_later(nodes: Iterable[ast.AST], name: str) -> dict[str, ast.expr]:
    """What a function puts into a dict of this name, by constant keys."""
    puts = [(target, one.value) for one in nodes if isinstance(one, ast.Assign) for target in one.targets]
    return {key: value for target, value in puts for holder, key in _read(target) if holder == name}


def _entries(value: ast.expr) -> dict[str, ast.expr] | None:
    """What a dict holds by which constant keys, None where this is none, or has others."""
    if isinstance(value, ast.Call) and ast.unparse(value.func) == "dict" and not value.args:
        return {str(one.arg): one.value for one in value.keywords} if all(k.arg for k in value.keywords) else None
    if not isinstance(value, ast.Dict) or not all(isinstance(key, ast.Constant) for key in value.keys):
        return None
    return {
        str(key.value): one for key, one in zip(value.keys, value.values, strict=True) if isinstance(key, ast.Constant)
    }


def _whose_state(value: ast.expr) -> str:
    """The name of the object whose `state_dict()` this is, without what holds it; empty where it is none."""
    if isinstance(value, ast.Call) and isinstance(value.func, ast.Attribute) and value.func.attr == "state_dict":
        return source.last_name(value.func.value)
    return ""


def _loads(tree: ast.AST) -> Iterator[tuple[int, str, str]]:
    """The loads that a condition on a key decides about: where that is asked, whose state it is, and the key."""
    for test in (n for n in ast.walk(tree) if isinstance(n, ast.If)):
        asked = [n for n in ast.walk(test.test) if isinstance(n, ast.Compare) and isinstance(n.ops[0], ast.In)]
        keys = {n.left.value for n in asked if isinstance(n.left, ast.Constant) and isinstance(n.left.value, str)}
        for call in (n for one in test.body for n in ast.walk(one) if isinstance(n, ast.Call)):
            if isinstance(call.func, ast.Attribute) and call.func.attr == "load_state_dict" and call.args:
                for _, key in _read(call.args[0]):
                    if key in keys:
                        yield test.lineno, source.last_name(call.func.value), key
