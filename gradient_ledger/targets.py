"""Target networks and averages, by their names: kept up to date and never asked, loaded into what they should follow,
or led by another network than the one they were made from."""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from functools import lru_cache

from gradient_ledger.behind import KEEPS, ONLY_READS, is_handed
from gradient_ledger.events import OtherFollowed, Place, TargetNetwork
from gradient_ledger.source import assigned, last_name, own, says
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


@lru_cache(maxsize=64)
def under_two_names(files: tuple[str, ...]) -> TargetNetwork | None:
    """What an object keeps under two names where a function of that file goes over the parameters of both, one after
    the other or side by side, and writes: one was to be a copy."""
    for within, file in functions_in(files).items():
        kept: dict[str, str] = {}
        given = {each.arg for each in within.args.args} if isinstance(within, ast.FunctionDef) else set()
        bound = Counter(ast.unparse(at) for n in own(within) if isinstance(n, ast.Assign) for at in n.targets)
        body = within.body if isinstance(within, ast.FunctionDef) else []
        plain = [n for n in body if isinstance(n, ast.Assign) and isinstance(n.value, ast.Name)]
        for one in plain:
            name, value = ast.unparse(one.targets[0]), ast.unparse(one.value)
            if not isinstance(one.targets[0], ast.Attribute) or value not in given or bound[value] or bound[name] > 1:
                continue
            first = kept.setdefault(value, name)
            if first != name and any(_writes_over(each, first, name) for each in functions_in([file])):
                made = Place(file, one.lineno, getattr(within, "name", "<module>"))
                return TargetNetwork(last_name(one.targets[0]), made, first.rpartition(".")[2], None)
    return None


def _writes_over(within: ast.AST, first: str, second: str) -> bool:
    """Whether a function's loops go over the parameters of both, and put something into one of them."""
    loops = [one for one in own(within) if isinstance(one, ast.For)]
    heads = "\n".join(ast.unparse(one.iter) for one in loops)
    if not all(re.search(rf"{re.escape(name)}\.(named_)?parameters\(", heads) for name in (first, second)):
        return False
    return any(_WRITES.search(ast.unparse(each)) for one in loops for each in one.body)


_WRITES = re.compile(r"\.data\s*=(?!=)|\.(copy_|lerp_|mul_|add_)\(")


_FOLLOWS = re.compile(
    r"EMA|Ema(?![a-z])|(?<![A-Za-z])ema(?![a-z])|SWA|(?<![A-Za-z])swa(?![a-z])|[Aa]verag|Avg|(?<![A-Za-z])avg|[Ss]hadow"
)
"""Words in names of averages, and of classes that keep one."""
_UPDATES = re.compile(r"update(?!d)", re.IGNORECASE)


@lru_cache(maxsize=64)
def other_followed(files: tuple[str, ...]) -> OtherFollowed | None:
    """An average, by its name, that these texts make from one trained model and update from another one alone."""
    saying = functions_in(file for file in files if says(file, _FOLLOWS))
    made: dict[str, list[tuple[str, Place]]] = {}
    for within in saying:
        for name, given, line in _averages_made(within):
            made.setdefault(name, []).append((given, Place(saying[within], line, getattr(within, "name", "<module>"))))
    for name, found in made.items():
        if len(found) > 1:
            continue
        [(begun, made_at)] = found
        updates = [(within, *one) for within in saying for one in _updates_of(within, name)]
        others = {other for _, other, _ in updates}
        if len(others) != 1 or begun in others or _FOLLOWS.search(begun):
            continue  # what was given to it may be where the average is kept
        [other] = others
        knows = all(begun in _names_of(within) for within, _, _ in updates)
        if knows and _is_trained(begun, files) and _is_trained(other, files) and not _are_one(begun, other, files):
            within, _, line = updates[0]
            where = Place(saying[within], line, getattr(within, "name", "<module>"))
            return OtherFollowed(name, begun, made_at, other, where)
    return None


_OF = re.compile(r"_?(target|targ|tgt|old|slow)_?", re.IGNORECASE)
"""Words in the name of a target that the name of what it follows has not."""


@lru_cache(maxsize=64)
def led_by_another(files: tuple[str, ...]) -> OtherFollowed | None:
    """A target that is updated from a network with another number than its own by their names, where there is one with
    its own: `target_critic2` from `critic1`; or a part of one from that of another model: `critic_target.encoder` from
    `actor.encoder`."""
    saying = functions_in(file for file in files if says(file, _TARGETS))
    for within, file in saying.items():
        for line, paths in _side_by_side(within):
            parts = [path.removeprefix("self.").partition(".") for path in paths]
            of_parts = parts[0][2] == parts[1][2] != ""
            given = (
                (parts[0][0], parts[1][0]) if of_parts else (paths[0].rpartition(".")[2], paths[1].rpartition(".")[2])
            )
            for name, other in (given, given[::-1]):
                base = _OF.sub("", name)
                numbered = re.sub(r"\d", "", base) == re.sub(r"\d", "", other) and base != other
                numbered |= of_parts and base not in (name, other) and _is_made(other, files)
                if _TARGETS.search(name) and not _TARGETS.search(other) and numbered and _is_made(base, files):
                    where = Place(file, line, getattr(within, "name", "<module>"))
                    return OtherFollowed(name, base, where, other, where)
    return None


def _side_by_side(within: ast.AST) -> Iterator[tuple[int, tuple[str, str]]]:
    """The paths of two networks whose parameters a loop goes over together, or of which a call updates one."""
    for one in own(within):
        if isinstance(one, ast.Call) and len(one.args) >= 2:
            sides = [_networks(each) for each in one.args[:2]]
            zipped = last_name(one.func) == "zip" and not any(map(sides.__contains__, one.args[:2]))
            if zipped or _is_update(last_name(one.func)):
                if all(map(last_name, sides)):
                    yield one.args[0].lineno, (ast.unparse(sides[0]), ast.unparse(sides[1]))
        elif (mixed := _mixed(one)) is not None:
            sides = [_holder(within, each, one.lineno) for each in mixed]
            if all(map(last_name, sides)):
                yield one.lineno, (ast.unparse(sides[0]), ast.unparse(sides[1]))


def _mixed(one: ast.AST) -> tuple[ast.expr, ast.expr] | None:
    """What an expression mixes by a share and the rest of it: `a * t + (1 - t) * b`."""
    sides = [one.left, one.right] if isinstance(one, ast.BinOp) and isinstance(one.op, ast.Add) else []
    products = [side for side in sides if isinstance(side, ast.BinOp) and isinstance(side.op, ast.Mult)]
    factors = [[side.left, side.right] for side in products]
    if len(factors) != 2:
        return None
    shares = {f"1 - {ast.unparse(each)}": each for pair in factors for each in pair}
    rest = next((each for pair in factors for each in pair if ast.unparse(each) in shares), None)
    share = shares.get(ast.unparse(rest)) if rest is not None else None
    left = [[each for each in pair if each not in (rest, share)] for pair in factors]
    return (left[0][0], left[1][0]) if share is not None and [*map(len, left)] == [1, 1] else None


def _holder(within: ast.AST, one: ast.expr, line: int) -> ast.expr:
    """What a name got its value from by a method, or what it stands for itself."""
    made = assigned(within, ast.unparse(one), line) if isinstance(one, ast.Name) else None
    call = made.value if made is not None else None
    if made is not None and made.at is not None and isinstance(made.value, ast.Tuple):
        call = made.value.elts[made.at]
    return call.func.value if isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute) else one


def _is_made(name: str, files: Iterable[str]) -> bool:
    return any(says(file, re.compile(rf"\b{name}\s*=(?!=)")) for file in files)


def _networks(one: ast.expr) -> ast.expr:
    """What is asked for its parameters, or what stands there itself."""
    if isinstance(one, ast.Call) and isinstance(one.func, ast.Attribute) and one.func.attr == "parameters":
        return one.func.value
    return one


def _averages_made(within: ast.AST) -> Iterator[tuple[str, str, int]]:
    """Where a function's own text makes an average of a model: its name, the model's, and the line."""
    for one in own(within):
        call = one.value if isinstance(one, ast.Assign) else None
        while isinstance(call, ast.Call) and isinstance(inner := getattr(call.func, "value", None), ast.Call):
            call = inner  # deepcopy(model).eval()
        if isinstance(call, ast.Call) and call.args:
            name, kind = last_name(one.targets[0]), last_name(call.func)
            given = call.args[0]
            if isinstance(given, ast.Call) and last_name(given.func) == "deepcopy" and given.args:
                given = given.args[0]
            keeps = _FOLLOWS.search(kind) or (kind == "deepcopy" and _FOLLOWS.search(name))
            if name and keeps and _model(given):
                yield name, _model(given), one.lineno


def _updates_of(within: ast.AST, name: str) -> Iterator[tuple[str, int]]:
    """Where a function's own text updates an average from a model: that one's name, and the line."""
    for one in own(within):
        if isinstance(one, ast.Call) and one.args and _UPDATES.search(last_name(one.func)):
            holder = last_name(getattr(one.func, "value", one))
            given = [_model(each) for each in one.args]
            if holder == name and given[0]:
                yield given[0], one.lineno
            elif name in given[:2] and len(given) > 1 and all(given[:2]) and holder != name:
                yield next(each for each in given[:2] if each != name), one.lineno


_WRAPPED = ("module", "_orig_mod")
"""What a wrapper calls the model in it."""


def _model(node: ast.expr) -> str:
    """The last part of a model's name, also of one that is asked for through its wrapper."""
    return last_name(node.value if isinstance(node, ast.Attribute) and node.attr in _WRAPPED else node)


def _names_of(within: ast.AST) -> set[str]:
    arguments = getattr(within, "args", None)
    asked = {one.arg for one in arguments.args} if arguments is not None else set()
    return asked | {last_name(one) for one in own(within)}


def _is_trained(name: str, files: Iterable[str]) -> bool:
    asks = re.compile(rf"\b{name}\.(module\.)?(named_)?parameters\(")
    return any(says(file, asks) for file in files)


def _are_one(one: str, other: str, files: Iterable[str]) -> bool:
    """Whether one of two names is ever given what the other one stands for, as a wrapper around it."""
    for within in functions_in(files):
        for each in own(within):
            if isinstance(each, ast.Assign):
                bound = {last_name(inner) for target in each.targets for inner in ast.walk(target)}
                read = {last_name(inner) for inner in ast.walk(each.value)}
                copied = isinstance(each.value, ast.Call) and last_name(each.value.func) == "deepcopy"
                if not copied and ((one in bound and other in read) or (other in bound and one in read)):
                    return True
    return False
