"""Buffers of a step written by hand, and gradients, by their text: a name is taken from where they are kept, and its
new value is not put back there; or the gradient itself is kept, and no copy of it."""

from __future__ import annotations

import ast
import re
from collections.abc import Container, Iterable, Iterator
from functools import lru_cache
from typing import Any, NamedTuple, TypeGuard

from gradient_ledger import source
from gradient_ledger.events import Place

USES = frozenset("add_ sub_ addcdiv_ addcmul_ add sub mul div sqrt norm zeros_like ones_like sign print clamp".split())
"""Calls that do not keep what they are given."""
MEASURES = frozenset("clone detach float double cpu flatten reshape norm mean sum abs item".split())
"""Methods that leave a gradient what it is, or take its measure: nothing was to be changed."""


def forgotten(file: str, line: int) -> Place | None:
    """The first line in the function around this one that gives a buffer a new value which is lost again: a name that
    was taken from a container, or in a loop over one, is bound to a decayed sum of itself and something else."""
    within = source.scope(file, line)
    if within is None:
        return None
    nodes = source.own(within)
    taken = {name for one in nodes for name in _taken(one)}
    for one in nodes:
        name = _decayed(one)
        if name in taken and _reads(nodes, name) > 1 and not any(_keeps(each, name) for each in nodes):
            return Place(file, one.lineno)
    return None


@lru_cache(maxsize=1024)
def kept_gradient(file: str, line: int, added: bool = True) -> Place | None:
    """The first line in the function around this one that keeps a `.grad` as it is, and not a copy of it; with `added`,
    to which that function then adds gradients in place."""
    within = source.scope(file, line)
    if within is None:
        return None
    nodes = source.own(within)
    names: set[str] = set()
    for one in nodes:
        if isinstance(one, ast.Assign) and _is_gradient(one.value, names):
            names |= {target.id for target in one.targets if isinstance(target, ast.Name)}
    keeping = [(one, held) for one in nodes if (held := _put_away(one, names))]
    if added:
        grown = {text for one in nodes for text in _added_to(one, names)}
        taken = {(ast.unparse(one.value), text) for one in nodes if isinstance(one, ast.Assign) for text in _names(one)}
        grown |= {holder for holder, name in taken if name in grown}
        keeping = [(one, held) for one, held in keeping if held & grown]
    return Place(file, keeping[0][0].lineno) if keeping else None


_VIEWS = re.compile(r"\.numpy\(|asarray\(|from_dlpack\(|memoryview\(")
"""Text that gives the memory of a tensor another form."""


class Changed(NamedTuple):
    """A NumPy view of a gradient that is changed in place under its name."""

    place: Place
    """Where."""
    read: bool
    """Whether the name is read after that: a measure was to be taken, and what is under the view was not to change."""
    may_be_copy: bool
    """Whether the view is one of `.cpu()`, which is a copy where the gradient lies elsewhere."""


@lru_cache(maxsize=256)
def changed_view(file: str, line: int) -> Changed | None:
    """Where a name that a line gives to a NumPy view is changed in place, in the same function."""
    within = source.scope(file, line)
    nodes = source.own(within) if within is not None else ()
    taken = [one for one in nodes if isinstance(one, ast.Assign) and one.lineno <= line <= (one.end_lineno or 0)]
    taken = [one for one in taken if _VIEWS.search(ast.unparse(one.value))]
    names = {name for one in taken for name in _names(one)}
    loops = [one for one in nodes if isinstance(one, ast.For) and ast.unparse(one.iter) in names]
    names |= {one.target.id for one in loops if isinstance(one.target, ast.Name)}  # over a list of such views
    changed = [one for one in nodes if getattr(one, "lineno", 0) > line and _written_to(one) in names]
    if not changed:
        return None
    alone = {id(one.value) for one in nodes if isinstance(one, ast.Expr)}  # of another call the result is read
    idle = [one for one in changed if not isinstance(one, ast.Call) or id(one) in alone]
    inside = {id(each) for one in idle for each in ast.walk(one)}
    reads = [one for one in nodes if isinstance(one, ast.Name) and one.id in names and isinstance(one.ctx, ast.Load)]
    after = len(idle) < len(changed) or any(one.lineno > changed[0].lineno and id(one) not in inside for one in reads)
    may_be_copy = any(".cpu()" in ast.unparse(one.value) for one in taken)
    return Changed(Place(file, changed[0].lineno), after, may_be_copy)


def _written_to(one: ast.AST) -> str:
    """The name of what a statement or a call of NumPy's changes in place; nothing where it is none."""
    if isinstance(one, ast.AugAssign):
        return _base(one.target)
    if not isinstance(one, ast.Call):
        return ""
    given = {each.arg: each.value for each in one.keywords}
    if "out" in given:
        return _base(given["out"])
    copies = given.get("copy")
    in_place = isinstance(copies, ast.Constant) and copies.value is False
    return _base(one.args[0]) if one.args and (in_place or source.last_name(one.func) == "copyto") else ""


def _base(target: ast.expr) -> str:
    """The name of what is written to, as a whole or in part."""
    while isinstance(target, ast.Subscript):
        target = target.value
    return target.id if isinstance(target, ast.Name) else ""


def _is_gradient(value: ast.AST, names: set[str]) -> bool:
    """Whether an expression is a `.grad` itself, by one of these names or in so many words; or shares its memory."""
    if isinstance(value, ast.Call) and isinstance(value.func, ast.Attribute) and value.func.attr == "detach":
        return _is_gradient(value.func.value, names)
    if isinstance(value, ast.Attribute) and value.attr == "data":
        return _is_gradient(value.value, names)
    return (isinstance(value, ast.Attribute) and value.attr == "grad") or (
        isinstance(value, ast.Name) and value.id in names
    )


def _names(one: ast.Assign) -> list[str]:
    return [target.id for target in one.targets if isinstance(target, ast.Name)]


def _put_away(node: ast.AST, names: set[str]) -> set[str]:
    """Where a statement or a call puts a gradient as it is, and by what other names."""
    if isinstance(node, ast.Assign) and _is_gradient(node.value, names):
        places = [
            one for one in node.targets if isinstance(one, (ast.Subscript, ast.Attribute)) and not _is_weight(one)
        ]
        return {ast.unparse(one) for one in places} | (set(_names(node)) if places else set())
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "setdefault":
        if len(node.args) == 2 and _is_gradient(node.args[1], names):
            return {ast.unparse(node), f"{ast.unparse(node.func.value)}[{ast.unparse(node.args[0])}]"}
    return set()


def _added_to(node: ast.AST, names: set[str]) -> list[str]:
    """What a statement adds a gradient to in place."""
    if isinstance(node, ast.AugAssign) and isinstance(node.op, ast.Add):
        return [ast.unparse(node.target)] if any(_is_gradient(one, names) for one in ast.walk(node.value)) else []
    if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute) or node.func.attr != "add_":
        return []
    if not any(_is_gradient(one, names) for given in node.args for one in ast.walk(given)):
        return []
    whole: ast.expr = node
    while isinstance(whole, ast.Call) and isinstance(whole.func, ast.Attribute) and whole.func.attr.endswith("_"):
        whole = whole.func.value
    return [ast.unparse(whole)]


def unchanged(file: str, line: int) -> Place | None:
    """The first line in the function around this one that binds the name of a gradient to something made of it, and
    after which nothing reads that name: the gradient itself stays as it is."""
    within = source.scope(file, line)
    if within is None:
        return None
    nodes = source.own(within)
    lists = {one.targets[0].id for one in nodes if _is_list_of_gradients(one)}
    bound = [(one, name) for one in nodes for name in _gradients(one, lists)]
    for one in nodes:
        if not (name := _rebound(one)):
            continue
        loops = [n for n in nodes if isinstance(n, (ast.For, ast.While)) and n.lineno <= one.lineno <= _end(n)]
        # In a loop that goes on with the new one, an earlier line may read it.
        begun = max((n.lineno for n in loops), default=0)
        if any(at.lineno >= begun and name == bound_name for at, bound_name in bound):
            if not _is_read_later(within, name, one, loops):
                return Place(file, one.lineno)
    return None


def _is_read_later(within: ast.AST, name: str, one: ast.stmt, loops: Iterable[ast.stmt]) -> bool:
    """Whether what a statement binds a name to may be read: later, in a loop's next round, or by another function."""
    nodes = source.own(within)
    own = [n for n in nodes if _is_name(n, name)]
    inner = [n for n in ast.walk(within) if isinstance(n, source.FUNCTIONS) and n is not within]
    if _declares(nodes, name) or any(_looks_up(n, name) for n in inner):
        return True
    # A comprehension over this name reads its own variable.
    again = [
        n for n in nodes if isinstance(n, source.COMPREHENSIONS) and any(_is_name(g.target, name) for g in n.generators)
    ]
    reads = [n for n in own if isinstance(n.ctx, ast.Load) and not any(_holds(each, n) for each in again)]
    for loop in loops:
        first = min(_start(n) for n in own if isinstance(n.ctx, ast.Store) and _holds(loop, n))
        if any(_holds(loop, n) and _start(n) < first for n in reads):
            return True
    return any(_start(n) >= (_end(one), one.end_col_offset or 0) for n in reads)


def _declares(nodes: Iterable[ast.AST], name: str) -> bool:
    """Whether a function says that a name is not its own."""
    return any(isinstance(n, (ast.Global, ast.Nonlocal)) and name in n.names for n in nodes)


def _looks_up(function: Any, name: str) -> bool:
    """Whether a function reads a name that is another's."""
    nodes = source.own(function)
    used = [n.ctx for n in nodes if _is_name(n, name)]
    given = any(isinstance(n, ast.arg) and n.arg == name for n in nodes)
    its = given or (any(isinstance(n, ast.Store) for n in used) and not _declares(nodes, name))
    return not its and any(isinstance(n, ast.Load) for n in used)


def _start(node: Any) -> tuple[int, int]:
    return node.lineno, node.col_offset


def _holds(outer: Any, node: Any) -> bool:
    return bool(_start(outer) <= _start(node) < (outer.end_lineno, outer.end_col_offset))


def _end(node: ast.stmt) -> int:
    return node.end_lineno or node.lineno


def _is_list_of_gradients(node: ast.AST) -> TypeGuard[Any]:
    """Whether a statement gives a list of `.grad` a name."""
    if not isinstance(node, ast.Assign) or len(node.targets) != 1 or not isinstance(node.targets[0], ast.Name):
        return False
    return isinstance(node.value, ast.ListComp) and _is_dot_grad(node.value.elt)


def _is_dot_grad(node: ast.AST) -> bool:
    return isinstance(node, ast.Attribute) and (
        node.attr == "grad" or (node.attr == "data" and _is_dot_grad(node.value))
    )


def _gradients(node: ast.AST, lists: Container[str]) -> Iterable[str]:
    """Names that are bound to a gradient: to a `.grad`, or in a loop over a list of them."""
    if isinstance(node, ast.Assign) and _is_dot_grad(node.value):
        return [one.id for one in node.targets if isinstance(one, ast.Name)]
    if isinstance(node, ast.For) and isinstance(node.target, ast.Name):
        inner = node.iter
        listed = isinstance(inner, (ast.ListComp, ast.GeneratorExp)) and _is_dot_grad(inner.elt)
        return [node.target.id] if listed or (isinstance(inner, ast.Name) and inner.id in lists) else []
    return []


def _rebound(node: ast.AST) -> str:
    """The name in `name = name * factor`, `name = name.clamp(…)` and the like."""
    if not isinstance(node, ast.Assign) or len(node.targets) != 1 or not isinstance(node.targets[0], ast.Name):
        return ""
    name, value = node.targets[0].id, node.value
    if isinstance(value, ast.BinOp) and any(_is_name(side, name) for side in (value.left, value.right)):
        return name
    method = value.func if isinstance(value, ast.Call) else None
    if isinstance(method, ast.Attribute) and not method.attr.endswith("_") and _is_name(method.value, name):
        return name if method.attr not in MEASURES else ""
    return ""


def _taken(node: ast.AST) -> Iterable[str]:
    """Names that are bound to what a container holds."""
    if isinstance(node, ast.Assign) and isinstance(node.value, ast.Subscript):
        return [one.id for one in node.targets if isinstance(one, ast.Name)]
    if isinstance(node, ast.For) and not (isinstance(node.iter, ast.Call) and ast.unparse(node.iter.func) == "range"):
        return [one.id for one in ast.walk(node.target) if isinstance(one, ast.Name)]
    return []


def _decayed(node: ast.AST) -> str:
    """The name in `name = factor * name + other`."""
    if not isinstance(node, ast.Assign) or len(node.targets) != 1 or not isinstance(node.targets[0], ast.Name):
        return ""
    name, value = node.targets[0].id, node.value
    if not isinstance(value, ast.BinOp) or not isinstance(value.op, ast.Add):
        return ""
    sides = [one for one in (value.left, value.right) if isinstance(one, ast.BinOp) and isinstance(one.op, ast.Mult)]
    return name if any(_is_name(factor, name) for one in sides for factor in (one.left, one.right)) else ""


def _is_name(node: ast.AST | None, name: str) -> TypeGuard[ast.Name]:
    return isinstance(node, ast.Name) and node.id == name


def _reads(nodes: Iterable[ast.AST], name: str) -> int:
    """How often a name is read."""
    return sum(isinstance(one, ast.Name) and one.id == name and isinstance(one.ctx, ast.Load) for one in nodes)


def _keeps(node: ast.AST, name: str) -> bool:
    """Whether a statement or a call may keep what a name stands for, or changes it in place."""
    if isinstance(node, (ast.Return, ast.Yield)):
        return node.value is not None and any(_is_name(one, name) for one in ast.walk(node.value))
    if isinstance(node, ast.AugAssign):
        return _is_name(node.target, name)
    if isinstance(node, ast.Assign):
        kept = any(isinstance(one, (ast.Subscript, ast.Attribute)) and not _is_weight(one) for one in node.targets)
        holds = any(_is_name(one, name) for one in ast.walk(node.value))
        return (kept and holds) or _is_name(node.value, name)
    if isinstance(node, ast.Call):
        called = node.func.attr if isinstance(node.func, ast.Attribute) else ast.unparse(node.func)
        given = [*node.args, *(one.value for one in node.keywords)]
        in_place = isinstance(node.func, ast.Attribute) and called.endswith("_")
        if in_place and any(_is_name(one, name) for one in ast.walk(node.func)):
            return True
        return called not in USES and any(_is_name(one, name) for one in given)
    return isinstance(node, (ast.List, ast.Tuple, ast.Dict)) and _is_held(node, name)


def _is_weight(target: ast.expr) -> bool:
    return isinstance(target, ast.Attribute) and target.attr in ("data", "grad")


def _is_held(node: ast.List | ast.Tuple | ast.Dict, name: str) -> bool:
    """Whether a name is put into a list or the like, and not bound by it."""
    held = node.values if isinstance(node, ast.Dict) else node.elts
    return any(_is_name(one, name) and isinstance(one.ctx, ast.Load) for one in held if isinstance(one, ast.Name))


MAKES = frozenset("add sub mul div neg clamp clip clamp_min clamp_max nan_to_num renorm".split())
"""Methods, and functions of torch, that make a new tensor of one, and leave it as it is."""


@lru_cache(maxsize=1024)
def thrown_away(file: str, line: int) -> Place | None:
    """The first statement in the function around this one that makes a new tensor of a gradient, and does nothing with
    it."""
    within = source.scope(file, line)
    nodes = source.own(within) if within is not None else ()
    names = {
        name for one in nodes if isinstance(one, ast.Assign) and _is_gradient(one.value, set()) for name in _names(one)
    }
    return next((Place(file, one.lineno) for one in nodes if any(_is_gradient(o, names) for o in _in_vain(one))), None)


def _in_vain(statement: ast.AST) -> list[ast.expr]:
    """What a statement makes a new tensor of, and does nothing with that."""
    value = statement.value if isinstance(statement, ast.Expr) else None
    if isinstance(value, ast.BinOp):
        return [value.left, value.right]
    if isinstance(value, ast.Call) and isinstance(value.func, ast.Attribute) and value.func.attr in MAKES:
        if not any(keyword.arg == "out" for keyword in value.keywords):
            return value.args[:1] if ast.unparse(value.func.value) == "torch" else [value.func.value]
    return []


@lru_cache(maxsize=256)
def weights_in_vain(file: str) -> tuple[int, ...]:
    """The lines of a file that make a new tensor of a weight and do nothing with it: a parameter that a loop goes over,
    one that the text makes as such, or a layer's weight or bias."""
    found: list[int] = []
    made = {f"self.{name}" for within in source.functions(file) for name in _parameters_made(within)}
    for within in source.functions(file):
        nodes = source.own(within)
        loops = [one for one in nodes if isinstance(one, ast.For) and "parameters()" in ast.unparse(one.iter)]
        names = {each: source.words(loop.target) for loop in loops for each in ast.walk(loop)}
        for one in nodes:
            for operand in _in_vain(one):
                weight = ast.unparse(operand).removesuffix(".data")
                if weight in names.get(one, ()) or weight in made or weight.endswith((".weight", ".bias")):
                    found.append(getattr(one, "lineno", 0))
    return tuple(dict.fromkeys(found))


def _parameters_made(within: ast.AST) -> Iterator[str]:
    """The attributes that a function makes parameters of."""
    for one in source.own(within):
        if isinstance(one, ast.Assign) and isinstance(one.value, ast.Call):
            if source.last_name(one.value.func) == "Parameter":
                yield from (target.attr for target in one.targets if isinstance(target, ast.Attribute))


def rebound(files: Iterable[str]) -> tuple[Place, ...]:
    """The lines in loops over parameters that bind a loop's own name to something computed from it, which nothing reads
    afterwards: no parameter is changed by that."""
    return tuple(Place(file, line) for file in files for line in _lost_names(file))


@lru_cache(maxsize=256)
def _lost_names(file: str) -> tuple[int, ...]:
    found: list[int] = []
    for within in source.functions(file):
        for loop in source.own(within):
            if isinstance(loop, ast.For) and _PARAMETERS.search(ast.unparse(loop.iter)):
                found += _lost_in(loop, source.own(within))
    return tuple(dict.fromkeys(found))


def _lost_in(loop: ast.For, nodes: Iterable[ast.AST]) -> list[int]:
    """The lines of a loop that bind a name of its target to a sum or a product with it, and that is all."""
    targets = source.words(loop.target)
    reads = [one for one in nodes if isinstance(one, ast.Name) and isinstance(one.ctx, ast.Load)]
    lambdas = [each for one in ast.walk(loop) if isinstance(one, ast.Lambda) for each in ast.walk(one)]
    reads += [one for one in lambdas if isinstance(one, ast.Name)]
    found = []
    for one in _outside_inner_loops(loop):
        if isinstance(one, ast.Assign) and (isinstance(one.value, ast.BinOp) or _makes(one.value)):
            own = set(ast.walk(one))
            for name in targets.intersection(_names(one)):
                mine = [each for each in reads if each.id == name]
                later = [each for each in mine if each not in own and _begin(each) > _begin(one)]
                if own.intersection(mine) and not later:
                    found.append(one.lineno)
    return found


def _makes(value: ast.expr) -> bool:
    """Whether a call makes a new tensor of the one whose method it is."""
    return isinstance(value, ast.Call) and isinstance(value.func, ast.Attribute) and value.func.attr in MAKES


def _begin(node: Any) -> tuple[int, int]:
    return node.lineno, node.col_offset


_PARAMETERS = re.compile(r"param|grad|weight|\bps\b|state_dict\(\)")


@lru_cache(maxsize=1024)
def counts_parameters(file: str, line: int) -> Place | None:
    """The line in the function around this one that counts steps in a loop over parameters, which also takes a power
    by the count, as a bias correction does: it grows by one for each parameter of each step."""
    within = source.scope(file, line)
    loops = [one for one in source.own(within) if isinstance(one, ast.For)] if within is not None else []
    for loop in loops:
        nodes = _outside_inner_loops(loop)
        text = ast.unparse(loop)
        reads = any(isinstance(one, ast.Attribute) and one.attr == "grad" for one in nodes)
        if "backward(" in text or "autograd.grad(" in text or not (reads or _PARAMETERS.search(ast.unparse(loop.iter))):
            continue
        made = [one for one in nodes if isinstance(one, ast.Assign)]
        bound = {name for one in made for name in _names(one)} | source.words(loop.target)
        powers = {ast.unparse(one) for each in nodes for one in _exponents(each)}
        powers |= {ast.unparse(one.value) for one in made if powers.intersection(_names(one))}
        for one in nodes:
            if isinstance(one, ast.AugAssign) and isinstance(one.op, ast.Add) and ast.unparse(one.value) == "1":
                held = source.words(one.target)
                if ast.unparse(one.target) in powers and not held & bound:
                    return Place(file, one.lineno)
    return None


def _exponents(node: ast.AST) -> Iterator[ast.expr]:
    """By what an expression takes a power."""
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Pow):
        yield node.right
    if isinstance(node, ast.Call) and ast.unparse(node.func).rpartition(".")[2] == "pow" and len(node.args) == 2:
        yield node.args[1]


def _outside_inner_loops(loop: ast.For) -> list[ast.AST]:
    """What stands in a loop, and in no loop inside it."""
    found: list[ast.AST] = []
    waiting: list[ast.AST] = [*loop.body]
    while waiting:
        one = waiting.pop(0)
        if not isinstance(one, (ast.For, ast.While)):
            found.append(one)
            waiting += ast.iter_child_nodes(one)
    return found
