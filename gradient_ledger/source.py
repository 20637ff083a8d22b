"""What stands around a line of the user's program: the recorder reads it, so that rules need not."""

from __future__ import annotations

import ast
import linecache
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from functools import lru_cache
from types import CodeType
from typing import Any, NamedTuple

from gradient_ledger.events import Place, Trail

FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
LOOPS = (ast.For, ast.While, ast.AsyncFor)
COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
FILES = 1024
"""Texts that are kept parsed. A program of more files than that would have them parsed anew for each question."""

_MIXES = re.compile(
    r"lerp|swa_utils|\b1(\.0*)?\s*-|add_?\(.*\balpha\b|\*.*\+.*\*|\.mul_\(|_foreach_mul_"
    r"|(\+=|add_?\(|-=|sub_?\(|\+ ).*(\*.*\(.* - |\(.* - .*\*)"
)
"""What is written where two things are mixed by factors that make up one."""


def may_average(files: Iterable[str]) -> bool:
    """Whether a running average may be written in one of these files."""
    return any(says(file, _MIXES) for file in files)


@lru_cache(maxsize=1024)
def says(file: str, what: re.Pattern[str]) -> bool:
    """Whether a line of a file holds what is looked for."""
    return any(what.search(line) for line in linecache.getlines(file))


def line_of(node: Any) -> int:
    return int(node.lineno)


def innermost(nodes: list[Any], line: int) -> Any:
    """The innermost of these loops and functions that holds a line."""
    return max((n for n in nodes if n.lineno < line <= (n.end_lineno or 0)), key=line_of, default=None)


def weighing(trail: Trail) -> Place | None:
    """Where a log-probability is multiplied with something, by their names: above a backward in one of the functions
    that called for it, or else at the one such line of its file."""
    for file, line in trail:
        products = [n for n in _products(scope(file, line)) if n <= line]
        if products:
            return Place(file, max(products))
    anywhere = {n for file, _ in trail[:1] for n in _products(parsed(file), inner=True)}
    return Place(trail[0][0], anywhere.pop()) if len(anywhere) == 1 else None


def _products(within: ast.AST | None, inner: bool = False) -> list[int]:
    """Lines of such products in a function, or with `inner` in those inside it, too."""
    if within is None:
        return []
    return [line_of(one) for one in (ast.walk(within) if inner else own(within)) if _is_weighing(one)]


def _is_weighing(node: ast.AST) -> bool:
    if not isinstance(node, ast.BinOp) or not isinstance(node.op, ast.Mult):
        return False
    return any("log" in part or "ratio" in part for part in (ast.unparse(node.left), ast.unparse(node.right)))


def advantage(trail: Trail) -> Place | None:
    """Where a log-probability is multiplied with something; where that is a difference with a name, which is read for
    nothing else, the line that makes it: a clipped loss has two such products."""
    place = weighing(trail)
    within = scope(place.file, place.line) if place is not None else None
    if place is None or within is None:
        return place
    nodes = own(within)
    product = next((one for one in nodes if _is_weighing(one) and one.lineno == place.line), None)
    for side in (product.left, product.right) if isinstance(product, ast.BinOp) else ():
        if isinstance(side, ast.Name) and not re.search("log|ratio", side.id):
            made = assigned(within, side.id, place.line)
            reads = [n for n in nodes if isinstance(n, ast.Name) and n.id == side.id and isinstance(n.ctx, ast.Load)]
            difference = made is not None and isinstance(made.value, ast.BinOp) and isinstance(made.value.op, ast.Sub)
            weighs = {id(inner) for one in nodes if _is_weighing(one) for inner in ast.walk(one)}
            if made is not None and difference and all(id(one) in weighs for one in reads):
                return Place(place.file, made.line)
    return place


def factor(file: str, line: int) -> str | None:
    """The name of what a hook's text multiplies or divides its gradient by, or the number itself; else None."""
    tree = parsed(file)
    hooks = [n for n in blocks_in(tree) if isinstance(n, FUNCTIONS) and n.lineno == line] if tree is not None else []
    if len(hooks) != 1:
        return None
    body: Any = hooks[0].body
    value = body if isinstance(body, ast.expr) else body[-1].value if isinstance(body[-1], ast.Return) else None
    if not isinstance(value, ast.BinOp) or not isinstance(value.op, (ast.Mult, ast.Div)):
        return None
    given = [one.arg for one in hooks[0].args.args]
    for gradient, other in ((value.left, value.right), (value.right, value.left)):
        if isinstance(gradient, ast.Name) and gradient.id in given:
            return other.id if isinstance(other, ast.Name) else str(getattr(other, "value", "")) or None
    return None


_RESIDUAL = re.compile(r"residual.?(gradient|algorithm)|bellman.?residual|baird", re.IGNORECASE)
_TARGETS = (
    re.compile(r"gamma|disc", re.IGNORECASE),
    re.compile(r"rew|done|term|next|target|boot|mask|ret|\br\b", re.IGNORECASE),
)
"""Words of which a target of reinforcement learning has at least one, the sure ones first."""
_REWARDS = re.compile(r"gamma|disc|rew|done", re.IGNORECASE)
"""Words that other sums with a product have not."""


_NETWORK = re.compile(r"critic|^q|q\d?$|q_?net|value|^vf?$|online|policy|target|model|net", re.IGNORECASE)
"""Names under which a network is called whose output is a value."""


@lru_cache(maxsize=256)
def says_residual(trail: Trail) -> bool:
    """Whether a file says that the gradient is meant to flow through the target as well."""
    return any(_RESIDUAL.search("".join(linecache.getlines(file))) for file in {file for file, _ in trail})


def target(trail: Trail, files: Iterable[str], sure: bool = False) -> Place | None:
    """The line that adds a discounted value to a reward: above a backward in one of the functions that called for it,
    or else the first such line in any file. With `sure`, no line that may add other things."""
    sums = [(file, n) for file, line in trail for n in _sums(own(scope(file, line))) if n.lineno <= line]
    sums = sums[::-1] + [(file, n) for file in files if (tree := parsed(file)) for n in _sums(ast.walk(tree))]
    asked = (_REWARDS,) if sure else _TARGETS
    found = ((file, n) for words in asked for file, n in sums if words.search(ast.unparse(n)))
    return next((_value_in(file, n) or Place(file, n.lineno) for file, n in found), None)


def _value_in(file: str, target: ast.BinOp) -> Place | None:
    """Where the value in a target got its name, if a network is called there, in the same function: what is to have no
    graph begins there."""
    within = scope(file, target.lineno)
    names = names_in(target) if within is not None else set()
    made = [one for name in names if within is not None and (one := assigned(within, name, target.lineno)) is not None]
    calls = [(one, n) for one in made for n in ast.walk(one.value) if isinstance(n, ast.Call)]
    lines = {one.line for one, n in calls if _NETWORK.search(ast.unparse(n.func).rpartition(".")[2])}
    return Place(file, lines.pop()) if len(lines) == 1 else None


def _sums(nodes: Iterable[ast.AST]) -> list[ast.BinOp]:
    """The sums with a product, without those of losses."""
    sums = [one for one in nodes if isinstance(one, ast.BinOp) and isinstance(one.op, ast.Add)]
    return [one for one in sums if any(map(_is_product, (one.left, one.right))) and "loss" not in ast.unparse(one)]


def _is_product(node: ast.AST) -> bool:
    return isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mult)


def only_line(files: Iterable[str], text: str) -> Place | None:
    """The one line of all that matches; None where there are several."""
    found = lines(files, text)
    return found[0] if len(found) == 1 else None


def only_call(files: Iterable[str], place: Place | None) -> Place | None:
    """The one line of all that calls the function in which a place stands, by its name; else None."""
    within = scope(place.file, place.line) if place is not None else None
    if not isinstance(within, ast.FunctionDef):
        return None
    found = [
        Place(file, one.lineno, getattr(function, "name", "<module>"))
        for file in files
        for function in functions(file)
        for one in own(function)
        if isinstance(one, ast.Call) and last_name(one.func) == within.name
    ]
    return found[0] if len(found) == 1 else None


def lines(files: Iterable[str], text: str) -> list[Place]:
    """All lines that match."""
    return [place for file in files for place in _lines(file, text)]


def is_in_step(place: Place) -> bool:
    """Whether a line stands in a function called `step`, as an optimizer's own does."""
    return getattr(scope(place.file, place.line), "name", "") == "step"


_HALF = r"torch\.(bfloat16|float16|half)\b"
CASTS_A_MODEL = (
    r"(?i:model|net|encoder|decoder|policy)\w*(\([^()]*\))?(\.\w+\([^()]*\))*\."
    rf"(half\(\)|bfloat16\(\)|to\(.*({_HALF}|\bdtype\s*=\s*\w*(amp|half|low|mixed)\w*\b))|(set_default_dtype\(|torch_dtype\s*=\s*){_HALF}"
)
"""What casts the weights of a model to half precision, by its name; `x.to(model.device, torch.half)` casts none. Asked
where weights were found to be of half precision: what `amp_dtype` is, no text needs to tell."""
_ENDS_IN_A_CAST = rf"^\s*\)(\.\w+\([^()]*\))*\.(half\(\)|bfloat16\(\)|to\(.*{_HALF})"


def ends_in_a_cast(files: Iterable[str]) -> Place | None:
    """The one line of all that ends a call over several lines with such a cast, where a model gets its name."""
    place = only_line(files, _ENDS_IN_A_CAST)
    if place is None or (within := scope(place.file, place.line)) is None:
        return None
    for one in own(within):
        if isinstance(one, ast.Assign) and one.lineno < place.line == one.end_lineno:
            named = re.search(r"model|net|encoder|decoder|policy", ast.unparse(one.targets[0]), re.IGNORECASE)
            return place if named else None
    return None


CASTS_AN_AVERAGE = (
    r"^(?=.*(deepcopy\(|(?i:target|ema|avg|average|shadow|teacher|smooth|slow)\w*\s*=))[^=]*=(?!=).*"
    rf"\.(half\(\)|bfloat16\(\)|to\(.*{_HALF})"
)
"""What makes an average, by its name, or a copy, in half precision."""


@lru_cache(maxsize=1024)
def _lines(file: str, text: str) -> tuple[Place, ...]:
    """The lines of a file that match."""
    wanted = re.compile(text)
    return tuple(Place(file, n) for n, line in enumerate(linecache.getlines(file), 1) if wanted.search(line))


def told_of_graph(place: Place) -> Place:
    """The line of a call of `grad()` at this one that `create_graph` belongs on: its own or that of `retain_graph`, the
    last argument's, or where the text shows no such call, this line."""
    within = scope(place.file, place.line)
    for one in own(within) if within is not None else ():
        if isinstance(one, ast.Call) and ast.unparse(one.func).rpartition(".")[2] == "grad":
            if one.lineno <= place.line <= (one.end_lineno or 0) and one.args + one.keywords:
                named = {word.arg: word.value for word in one.keywords}
                last = max((*one.args, *named.values()), key=lambda each: each.end_lineno or 0)
                value = named.get("create_graph", named.get("retain_graph", last))
                return replace(place, line=value.end_lineno or value.lineno)
    return place


_TRAINS = re.compile(r"train|fit|epoch|learn", re.IGNORECASE)


@lru_cache(maxsize=256)
def trains_in(step: Place, evaluation: Place) -> Place | None:
    """The first statement of the function that a step stands in, by its name one that trains, where an evaluation has a
    function of its own that this one does not call, and no text says `train()`: that is missing there."""
    within, other = scope(step.file, step.line), scope(evaluation.file, evaluation.line)
    if not isinstance(within, ast.FunctionDef) or not isinstance(other, ast.FunctionDef) or within is other:
        return None
    texts = ["".join(linecache.getlines(file)) for file in (step.file, evaluation.file)]
    if not _TRAINS.search(within.name) or any(re.search(r"\.train\(", text) for text in texts):
        return None
    if re.search(rf"\b{other.name}\b", ast.unparse(within)):
        return None
    body = within.body[1:] if ast.get_docstring(within) is not None else within.body
    return Place(step.file, body[0].lineno, within.name) if body else None


def collected(files: Iterable[str], shared: bool = False) -> Place | None:
    """The one line of all that collects parameters as they are, or their `clone()`; None where there are several. Not
    for a call, as the one that makes an optimizer. With `shared` what lies in their memory without their graph."""
    value_of = re.compile(r"\w+(\.(data|detach\(\)))+" if shared else r"\w+(\.clone\(\))?")
    found = []
    for file in files:
        tree = parsed(file) or ast.Module([], [])
        given = {side for one in ast.walk(tree) if isinstance(one, ast.Call) for side in one.args}
        for one in ast.walk(tree):
            if isinstance(one, (ast.DictComp, ast.ListComp)) and one not in given:
                value = one.value if isinstance(one, ast.DictComp) else one.elt
                if "parameters(" in ast.unparse(one.generators[0].iter) and value_of.fullmatch(ast.unparse(value)):
                    found.append(Place(file, one.lineno))
            elif shared and isinstance(one, ast.For) and re.search(r"^(?!.*copy).*param", ast.unparse(one.iter)):
                found += [Place(file, line) for line in _kept_in_memory(one)]
    return found[0] if len(found) == 1 else None


_KEEPS = re.compile(r"(^|\.)(register|register_buffer|setattr|save|store)$")
"""Calls whose last argument is kept under a name."""


def _kept_in_memory(loop: ast.For) -> Iterator[int]:
    """The lines of a loop over parameters that put what lies in the memory of one into a dictionary or a list, or hand
    it to what keeps it."""
    inside = [one for statement in loop.body for one in ast.walk(statement)]
    for one in inside:
        kept = one.value if isinstance(one, ast.Assign) and isinstance(one.targets[0], ast.Subscript) else None
        if isinstance(one, ast.Expr) and isinstance(one.value, ast.Call) and one.value.args:
            name = ast.unparse(one.value.func)
            kept = (
                one.value.args[0] if name.endswith(".append") else one.value.args[-1] if _KEEPS.search(name) else None
            )
        text = ast.unparse(kept) if kept is not None else ""
        if isinstance(one, ast.stmt) and words(loop.target) & words(one):
            if re.search(r"\.(data\b|detach\(\))(?!\.zero_)", text):
                if not re.search(r"copy|clone|zero|tensor\(| [-+*/] ", text):
                    yield one.lineno


def without_detach(files: Iterable[str]) -> Place | None:
    """The one line of all where a function is called on two things as they are that is also given one of them detached,
    in the same place and by the same function of the file."""
    found = set()
    for file in files:
        for within in functions(file):
            calls: dict[tuple[str, int], list[ast.Call]] = {}
            for one in own(within):
                if isinstance(one, ast.Call) and len(one.args) > 1:
                    calls.setdefault((ast.unparse(one.func), len(one.args)), []).append(one)
            for alike in calls.values():
                for at in (0, 1):
                    cut = [one for one in alike if _CUTS.search(ast.unparse(one.args[at]))]
                    rest = [one for one in alike if one not in cut]
                    if len(cut) == len(rest) == 1:
                        found.add(Place(file, rest[0].lineno))
    return found.pop() if len(found) == 1 else None


_CRITIC = re.compile(r"critic|q|value|vf|(net_?)?d(is(c\w*)?)?(_?\d)?$", re.IGNORECASE)


def given_detached(files: Iterable[str], above: Place | None) -> Place | None:
    """The one line of all that calls a critic, by its name, on something detached in that very call; of several in the
    function of a place, the last above it."""
    found = set()
    for file in files:
        for one in ast.walk(parsed(file) or ast.Module([], [])):
            if isinstance(one, ast.Call) and _CRITIC.match(ast.unparse(one.func).rpartition(".")[2]):
                if any(_CUTS.search(ast.unparse(given)) for given in one.args):
                    found.add(Place(file, one.lineno))
    if len(found) > 1 and above is not None:
        within = scope(above.file, above.line)
        near = [one for one in found if one.file == above.file and scope(one.file, one.line) is within]
        return max((one for one in near if one.line <= above.line), key=lambda one: one.line, default=None)
    return found.pop() if len(found) == 1 else None


def compared_without_detach(files: Iterable[str]) -> Place | None:
    """The first line that compares two things as they are, in a function that also compares one of them with the other
    one detached."""
    for file in files:
        for within in functions(file):
            seen: dict[tuple[str, frozenset[str]], list[tuple[bool, int]]] = {}
            cut = {
                one.value for one in own(within) if isinstance(one, ast.Attribute) and one.attr in ("detach", "data")
            }
            for one in own(within):
                sides, how = (one.args[:2], ast.unparse(one.func)) if isinstance(one, ast.Call) else ([], "-")
                if isinstance(one, ast.BinOp) and isinstance(one.op, ast.Sub) and one not in cut:
                    sides = [one.left, one.right]
                texts = [ast.unparse(side) for side in sides]
                names = frozenset(_CUTS.sub("", text) for text in texts)
                if len(names) == 2 and not any(isinstance(side, ast.Constant) for side in sides):
                    seen.setdefault((how, names), []).append((any(map(_CUTS.search, texts)), one.lineno))
            for alike in seen.values():
                bare = [line for is_cut, line in alike if not is_cut]
                if len(alike) == 2 and bare:
                    return Place(file, min(bare))
    return None


_COPYING = {"load_state_dict", "items", "values", "keys", "clone", "detach", "contiguous", "deepcopy", "copy", "dict"}
_COPYING |= {"to", "cpu", "cuda", "float", "double", "half", "bfloat16", "type", "device", "OrderedDict"}


def made_of(file: str, line: int) -> tuple[list[str], list[str]]:
    """The names of dictionaries whose values the statement at this line, or what it is given, is computed from.

    First those of the statement itself, where it does nothing to the values but copy them; then all of them.
    """
    within = scope(file, line)
    if within is None:
        return [], []
    plain = (n for n in own(within) if isinstance(n, (ast.Expr, ast.Assign)))
    here = [one for one in plain if one.lineno <= line <= (one.end_lineno or 0)]
    names = dict.fromkeys(n.id for one in here for n in ast.walk(one) if isinstance(n, ast.Name))
    before = [found.value for name in names if (found := assigned(within, name, line)) is not None]
    copied = [name for one in here if _only_copies(one) for name in _values_of(one)]
    return copied, list(dict.fromkeys(name for one in [*here, *before] for name in _values_of(one)))


def _only_copies(node: ast.AST) -> bool:
    """Whether nothing in a statement changes a number."""
    calls = (one.func for one in ast.walk(node) if isinstance(one, ast.Call))
    names = {one.attr if isinstance(one, ast.Attribute) else getattr(one, "id", "") for one in calls}
    return names <= _COPYING and not any(isinstance(one, ast.BinOp) for one in ast.walk(node))


def _values_of(node: ast.AST) -> Iterator[str]:
    """The names that are subscripted in an expression, or asked for their values."""
    for one in ast.walk(node):
        if isinstance(one, ast.Subscript) or (isinstance(one, ast.Attribute) and one.attr in ("items", "values")):
            if isinstance(one.value, ast.Name):
                yield one.value.id


def sets_requires_grad(file: str, name: str, value: bool) -> Place | None:
    """The line that sets `requires_grad` of a module of that name to this."""
    wanted = re.compile(rf"\b{re.escape(name)}\.requires_grad\s*=\s*{value}")
    lines = linecache.getlines(file)
    return next((Place(file, number) for number, text in enumerate(lines, 1) if wanted.search(text)), None)


def gathers_gradients(place: Place) -> bool:
    """Whether the statement at a line keeps gradients or adds them up, and neither measures them nor takes what one
    pass has added."""
    within = scope(place.file, place.line)
    nodes = own(within) if within is not None else ()
    found = [n for n in nodes if isinstance(n, ast.stmt) and n.lineno <= place.line <= (n.end_lineno or 0)]
    statement = found[-1] if found else None
    if statement is None or any(_takes_difference(n) for n in ast.walk(statement)):
        return False
    calls = [n.func.attr for n in ast.walk(statement) if isinstance(n, ast.Call) and isinstance(n.func, ast.Attribute)]
    if isinstance(statement, ast.AugAssign):
        return True
    kept = isinstance(statement, ast.Return) or bool(_KEEP & set(calls))
    return kept and not {"item", "tolist", "norm"} & set(calls)


_GRADIENT = re.compile(r"\.grad(\.data|\.detach\(\))?$")
"""A text that stands for a gradient, in its own memory."""


def _statements_at(place: Place) -> Iterator[ast.stmt]:
    """The statements around a line, of its own function."""
    within = scope(place.file, place.line)
    for one in own(within) if within is not None else ():
        if isinstance(one, ast.stmt) and one.lineno <= place.line <= (one.end_lineno or 0):
            yield one


@lru_cache(maxsize=256)
def overwrites_gradient(place: Place) -> bool:
    """Whether the statement at a line puts something else into the whole of a gradient, in its own memory."""
    for one in _statements_at(place):
        if isinstance(one, ast.Assign) and isinstance(one.targets[0], ast.Subscript):
            holder, value = one.targets[0].value, one.value
            if ast.unparse(one.targets[0].slice) not in ("...", ":"):
                continue
        elif isinstance(one, ast.Expr) and isinstance(call := one.value, ast.Call) and call.args:
            if not isinstance(call.func, ast.Attribute) or call.func.attr != "copy_":
                continue
            holder, value = call.func.value, call.args[0]
        else:
            continue
        if _GRADIENT.search(ast.unparse(holder)) and ".grad" not in ast.unparse(value):
            return True
    return False


@lru_cache(maxsize=256)
def changes_gradient(place: Place) -> bool:
    """Whether the statement at a line does nothing but change a `.grad`: in place, by putting another one there, or by
    listing gradients that its function changes in a loop."""
    for one in _statements_at(place):
        changed: ast.expr | None = None
        if isinstance(one, ast.Assign) and len(one.targets) == 1:
            changed = one.targets[0]
        elif isinstance(one, ast.AugAssign):
            changed = one.target
        elif isinstance(one, ast.Expr) and isinstance(one.value, ast.Call):
            function = one.value.func
            changed = function.value if isinstance(function, ast.Attribute) and function.attr.endswith("_") else None
        while isinstance(changed, ast.Subscript):
            changed = changed.value
        if changed is not None and _GRADIENT.search(ast.unparse(changed)):
            return True
        listed = one.value.elt if isinstance(one, ast.Assign) and isinstance(one.value, ast.ListComp) else None
        if listed is not None and isinstance(changed, ast.Name) and _GRADIENT.search(ast.unparse(listed)):
            return _changes_each(scope(place.file, place.line), changed.id)
    return False


def _changes_each(within: ast.AST | None, name: str) -> bool:
    """Whether a function changes in place what a list of this name holds, as one that clips by itself does."""
    for loop in (one for one in own(within) if isinstance(one, ast.For)) if within is not None else ():
        if isinstance(loop.target, ast.Name) and ast.unparse(loop.iter) == name:
            for one in own(loop):
                if isinstance(one, ast.Call) and isinstance(one.func, ast.Attribute) and one.func.attr in _IN_PLACE:
                    if loop.target.id in words(one.func.value):
                        return True
    return False


_IN_PLACE = {"mul_", "div_", "clamp_", "copy_", "add_"}
"""What changes a gradient in place."""


def called_after(place: Place, name: str) -> Place | None:
    """The next line of the function around a line that calls a function or a method of this name."""
    within = scope(place.file, place.line)
    for one in own(within) if within is not None else ():
        if isinstance(one, ast.Call) and one.lineno > place.line:
            if (one.func.attr if isinstance(one.func, ast.Attribute) else getattr(one.func, "id", "")) == name:
                return Place(place.file, one.lineno)
    return None


_CHANGES = re.compile(
    r"\.(add|sub|mul|copy|lerp|addcmul|addcdiv)_\(|\.data\s*[-+]?=(?!=)|\b(p|param|parameter|w|weight)\s*[-+]=(?!=)"
)


@lru_cache(maxsize=256)
def changes_in_place(file: str, line: int) -> bool:
    """Whether the function that holds a line changes tensors in place."""
    within = scope(file, line)
    first, last = getattr(within, "lineno", 1), getattr(within, "end_lineno", None)
    return any(map(_CHANGES.search, linecache.getlines(file)[first - 1 : last]))


_KEEP = frozenset("append extend add_ clone cat stack flatten view reshape".split())
"""Methods and functions in a statement that keeps what it reads."""


def _takes_difference(node: ast.AST) -> bool:
    return isinstance(node, ast.BinOp) and isinstance(node.op, ast.Sub) and ".grad" in ast.unparse(node.left)


@lru_cache(maxsize=1024)
def class_at(place: Place) -> str:
    """The name of the innermost class that holds a line."""
    tree = parsed(place.file)
    classes = [one for one in ast.walk(tree) if isinstance(one, ast.ClassDef)] if tree is not None else []
    found = innermost(classes, place.line)
    return found.name if found is not None else ""


@lru_cache(maxsize=1024)
def list_around(place: Place) -> Place | None:
    """The line that makes the plain list, or another container, into which the statement at a line puts what it makes,
    where that is an attribute: there nothing is registered."""
    within = scope(place.file, place.line)
    nodes = own(within) if within is not None else ()
    made = {ast.unparse(target): one for one in nodes if isinstance(one, ast.Assign) for target in one.targets}
    mine = {name for name, one in made.items() if name.startswith("self.") and _is_container(one.value)}
    mine |= {one.value.id for name, one in made.items() if name.startswith("self.") and isinstance(one.value, ast.Name)}
    for one in nodes:
        if getattr(one, "lineno", 0) <= place.line <= (getattr(one, "end_lineno", 0) or 0):
            if isinstance(one, ast.Assign) and _is_container(one.value):
                return place if {ast.unparse(target) for target in one.targets} & mine else None
            called = one.value.func if isinstance(one, ast.Expr) and isinstance(one.value, ast.Call) else None
            if isinstance(called, ast.Attribute) and called.attr == "append":
                name = ast.unparse(called.value)
                filled = name in mine and _is_container(made[name].value)
                return Place(place.file, made[name].lineno, place.function) if filled else None
    return None


def _is_container(value: ast.AST | None) -> bool:
    return isinstance(value, (ast.List, ast.ListComp, ast.Tuple, ast.Dict, ast.DictComp))


def without_grad_by_decorator(place: Place) -> Place | None:
    """The line of the decorator that switches gradients off in the function that holds a line."""
    line = switched_off(scope(place.file, place.line))
    return Place(place.file, line, place.function) if line is not None else None


def switched_off(function: ast.AST | None) -> int | None:
    """The line of a function's decorator that switches gradients off."""
    for one in getattr(function, "decorator_list", ()):
        if re.search(r"\b(no_grad|inference_mode)\b", ast.unparse(one)):
            return int(one.lineno)
    return None


def lines_with_attribute(files: Iterable[str], word: str) -> tuple[list[Place], list[Place]]:
    """The lines that set an attribute of that name, and those that only read it."""
    wanted, sets = re.compile(rf"\.{word}\b"), re.compile(rf"\.{word}\s*=(?!=)")
    texts = ((Place(file, n), text) for file in files for n, text in enumerate(linecache.getlines(file), 1))
    found = [(place, bool(sets.search(text))) for place, text in texts if wanted.search(text)]
    return [place for place, is_set in found if is_set], [place for place, is_set in found if not is_set]


NO_GRAD = re.compile(r"\b(no_grad|inference_mode)\(")
_CUTS = re.compile(r"\.detach\(\)|\.data\b")


def cut_around(calls: Sequence[Place]) -> Place | None:
    """The one place that takes what goes into a call, or comes out of it, out of its graph.

    Looked for from the call outwards, as far as the innermost loop, a sequence's, or one loop more: the inner may be
    over layers. None where there are several.
    """
    found: set[Place] = set()
    passed_through = {place.function for place in calls}
    for place in calls:
        within, loop = scope(place.file, place.line), loop_around(place.file, place.line)
        if within is None:
            break
        outer = loop_around(place.file, loop.lineno) if loop is not None else None
        for block in (loop or within, outer):
            if block is not None and not found:
                found |= _cuts_in(block, within, place, passed_through)
        if loop is not None:
            break
    lines = sorted(place.line for place in found)
    together = bool(lines) and lines[-1] - lines[0] == len(lines) - 1  # a line for each part of the state
    return (
        min(found, key=lambda one: one.line)
        if together and len({(one.file, one.function) for one in found}) == 1
        else None
    )


@lru_cache(maxsize=256)
def clips_one_group(file: str, line: int) -> bool:
    """Whether a call of clipping at this line is given one group of several: `param_groups[0]`, itself or by a name of
    the same function, or what a loop over `param_groups` has left its name on."""
    within = scope(file, line)
    loops = [n for n in own(within) if isinstance(n, ast.For)] if within is not None else []
    ended = [n for n in loops if (n.end_lineno or 0) < line and ast.unparse(n.iter).endswith(".param_groups")]
    left = {f"{ast.unparse(n.target)}['params']" for n in ended}
    for given in _given_to_clip(within, line, 0, ("parameters",)):
        before = assigned(within, given.id, line) if isinstance(given, ast.Name) and within is not None else None
        text = ast.unparse(before.value if before is not None else given)
        if ".param_groups[0]" in text or text in left:
            return True
    return False


@lru_cache(maxsize=256)
def whole_is_clipped(file: str, line: int) -> int | None:
    """The line of another call in the same function that clips the parameters of a model by the same limit, where the
    call at this line is given those of a part of it: `model.head.parameters()` and `model.parameters()`."""
    within = scope(file, line)
    calls = [n for n in _clips(within) if len(n.args) > 1 and ast.unparse(n.args[0]).endswith(".parameters()")]
    mine = next((n for n in calls if n.lineno <= line <= (n.end_lineno or 0)), None)
    if mine is None:
        return None
    part, limit = ast.unparse(mine.args[0]).removesuffix("parameters()"), ast.unparse(mine.args[1])
    for one in calls:
        model = ast.unparse(one.args[0]).removesuffix("parameters()")
        if part != model and part.startswith(model) and limit == ast.unparse(one.args[1]):
            return one.lineno
    return None


@lru_cache(maxsize=256)
def limit_is_product(file: str, line: int) -> bool:
    """Whether the limit of a call of clipping at this line is a product, there or where its name was made."""
    within, names = scope(file, line), set[str]()
    waiting = _given_to_clip(within, line, 1, ("max_norm", "clip_value"))
    while waiting:
        given = waiting.pop()
        if any(isinstance(one, ast.BinOp) and isinstance(one.op, ast.Mult) for one in ast.walk(given)):
            return True
        for name in words(given) - names:
            names.add(name)
            makers = [one for one in (within, parsed(file)) if one is not None]
            waiting += [made.value for one in makers if (made := assigned(one, name, line)) is not None]
    return False


def _clips(within: ast.AST | None) -> list[ast.Call]:
    """The calls of clipping in a function."""
    calls = [n for n in own(within) if isinstance(n, ast.Call)] if within is not None else []
    return [n for n in calls if "clip_grad" in ast.unparse(n.func)]


def _given_to_clip(within: ast.AST | None, line: int, at: int, keywords: Sequence[str]) -> list[ast.expr]:
    """What calls of clipping at this line are given at that place, or by one of these keywords."""
    calls = [n for n in _clips(within) if n.lineno <= line <= (n.end_lineno or 0)]
    return [one for n in calls for one in (*n.args[at : at + 1], *(k.value for k in n.keywords if k.arg in keywords))]


_CLEARS = re.compile(r"\.grad(\.data)?\.zero_\(|\.grad\s*=(?!=)|grad\.detach_\(|set_to_none")


@lru_cache(maxsize=256)
def uses_gradients(file: str, line: int) -> bool:
    """Whether the function around a line makes something of gradients: it does more than to ask whether there are any,
    and neither clears them nor puts them there."""
    within = scope(file, line)
    nodes = own(within) if within is not None else ()
    asked = {one.left for one in nodes if isinstance(one, ast.Compare) and isinstance(one.ops[0], ast.Is | ast.IsNot)}
    used = any(isinstance(one, ast.Attribute) and one.attr == "grad" and one not in asked for one in nodes)
    return used and within is not None and not _CLEARS.search(ast.unparse(within))


@lru_cache(maxsize=256)
def throws_away(file: str, line: int) -> bool:
    """Whether what a call on this line gives, or one of its values, has the name of what nobody reads, `_`, or none; or
    whether it gives several, and its function reads some of them and others not."""
    nameless = any(isinstance(one, ast.Expr) for one in _calls_at(file, line))
    names, within = _names_given(file, line), scope(file, line)
    unread = set(names) - read_in(within) if within is not None and len(names) > 1 else set()
    return nameless or any(not name.strip("_") for name in names) or 0 < len(unread) < len(set(names))


def read_in(within: ast.AST) -> set[str]:
    """The names that a statement or a function reads, or what stands inside it."""
    return {one.id for one in ast.walk(within) if isinstance(one, ast.Name) and isinstance(one.ctx, ast.Load)}


def _calls_at(file: str, line: int) -> list[ast.Assign | ast.Expr]:
    """The statements on a line that are a call, or give names to what one gives."""
    within = scope(file, line)
    made = [one for one in own(within) if isinstance(one, ast.Assign | ast.Expr)] if within is not None else []
    return [one for one in made if isinstance(one.value, ast.Call) and one.lineno <= line <= (one.end_lineno or 0)]


def _names_given(file: str, line: int) -> list[str]:
    """The names that a call on this line gives its values."""
    made = [one for one in _calls_at(file, line) if isinstance(one, ast.Assign)]
    targets = [each for one in made for target in one.targets for each in getattr(target, "elts", [target])]
    return [one.id for one in targets if isinstance(one, ast.Name)]


@lru_cache(maxsize=256)
def ends_with(file: str, line: int) -> bool:
    """Whether a call on this line stands in a loop that hands what it gives on from turn to turn, and nobody reads that
    of the last turn: behind the loop the name is bound anew, or not read."""
    within, loop = scope(file, line), loop_around(file, line)
    if within is None or loop is None:
        return False
    end = loop.end_lineno or 0
    for name in _names_given(file, line):
        uses = [one for one in own(within) if isinstance(one, ast.Name) and one.id == name]
        uses.sort(key=lambda one: (one.lineno, isinstance(one.ctx, ast.Store)))  # what is bound is computed first
        inside = [one for one in uses if loop.lineno <= one.lineno <= end]
        after = [one for one in uses if one.lineno > end]
        handed_on = any(isinstance(one.ctx, ast.Load) for one in inside) and isinstance(inside[-1].ctx, ast.Store)
        if handed_on and not (after and isinstance(after[0].ctx, ast.Load)):
            return True
    return False


@lru_cache(maxsize=256)
def made_frozen(file: str, name: str) -> bool:
    """Whether a parameter of that name is made with `requires_grad=False`."""
    return says(file, re.compile(rf"\b{re.escape(name)}\b\s*[=:,].*\bParameter\(.*requires_grad\s*=\s*False"))


def loop_around(file: str, line: int) -> Any:
    """The innermost loop around a line, if it stands in the same function."""
    tree = parsed(file)
    holder = innermost([n for n in blocks_in(tree) if not isinstance(n, ast.If)], line) if tree is not None else None
    return holder if isinstance(holder, LOOPS) else None


@lru_cache(maxsize=1024)
def with_around(file: str, line: int, text: str) -> Place | None:
    """The line of the innermost `with` around a line whose head has this text, if it stands in the same function."""
    within = scope(file, line)
    blocks = [one for one in own(within) if isinstance(one, ast.With)] if within is not None else []
    around = [one for one in blocks if one.lineno < line <= (one.end_lineno or 0)]
    told = [one for one in around if any(text in ast.unparse(item.context_expr) for item in one.items)]
    return Place(file, told[-1].lineno, getattr(within, "name", "<module>")) if told else None


def outermost_loop(trail: Trail) -> Place | None:
    """The head of the outermost loop that a line runs in, by the lines of the calls that led to it."""
    for file, line in reversed(trail):
        within = scope(file, line)
        loops = [one for one in own(within) if isinstance(one, LOOPS)] if within is not None else []
        around = [one.lineno for one in loops if one.lineno < line <= (one.end_lineno or 0)]
        if around:
            return Place(file, min(around), getattr(within, "name", "<module>"))
    return None


@lru_cache(maxsize=1024)
def called_in_loop(trail: Trail) -> Place | None:
    """Of the calls that led to a line, the first that stands in a loop; None where the line itself does, or none."""
    looped = next((at for at, line in enumerate(trail) if loop_around(*line) is not None), 0)
    return Place(*trail[looped]) if looped else None


def last_name(node: ast.AST) -> str:
    """The last part of a dotted name; of anything else, nothing."""
    return node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""


def terms(value: ast.expr) -> list[ast.expr]:
    """The summands of a sum."""
    if isinstance(value, ast.BinOp) and isinstance(value.op, ast.Add):
        return [*terms(value.left), *terms(value.right)]
    return [value]


def words(node: ast.AST) -> set[str]:
    """The names in a piece of text; of what is written with dots the first alone."""
    return {one.id for one in ast.walk(node) if isinstance(one, ast.Name)}


def names_in(node: ast.AST) -> set[str]:
    """The names and attributes in a piece of text, without the objects that hold the attributes."""
    owners = {one.value for one in ast.walk(node) if isinstance(one, ast.Attribute)}
    return {ast.unparse(n) for n in ast.walk(node) if isinstance(n, (ast.Name, ast.Attribute)) and n not in owners}


def _left(statement: ast.stmt) -> set[str]:
    """What a statement hands on: the names that it assigns to, what it returns, what it detaches in place."""
    if isinstance(statement, ast.Assign):
        return {name for target in statement.targets for name in names_in(target)}
    if isinstance(statement, ast.Return):
        owners = (
            n.func.value for n in ast.walk(statement) if isinstance(n, ast.Call) and isinstance(n.func, ast.Attribute)
        )
        return {name for one in owners for name in names_in(one)}
    return {name.removesuffix(".detach_") for name in names_in(statement) if name.endswith(".detach_")}


def _cuts_in(block: ast.AST, within: ast.AST, place: Place, besides: set[str]) -> set[Place]:
    """The places in a loop or a function that take what a call on a line uses out of its graph, or the call itself; a
    loop hands on what it goes over."""
    nodes = own(block)
    statements = [n for n in nodes if isinstance(n, (ast.Assign, ast.Expr, ast.Return))]
    call = next((n for n in statements if n.lineno <= place.line <= (n.end_lineno or 0)), None)
    if call is None:
        return set()
    used = names_in(call)
    for loop in (n for n in nodes if isinstance(n, ast.For) and used & names_in(n.target)):
        used |= names_in(loop.iter)
    cuts = [n for n in statements if (n is call or used & _left(n)) and _cuts(n, within, place, besides)]
    return {Place(place.file, n.lineno, place.function) for n in cuts}


def _cuts(statement: ast.stmt, within: ast.AST, place: Place, besides: set[str]) -> bool:
    """Whether a statement takes something out of its graph, itself or by a function that stands in the same file."""
    text = ast.unparse(statement)
    if _CUTS.search(text) or ".detach_()" in text or _without_grad(within, statement):
        return True
    called = {ast.unparse(one.func).rpartition(".")[2] for one in ast.walk(statement) if isinstance(one, ast.Call)}
    tree = parsed(place.file)
    helpers = [n for n in blocks_in(tree) if isinstance(n, ast.FunctionDef)] if tree is not None else []
    texts = [ast.unparse(one) for one in helpers if one.name in called - besides]
    return any(_CUTS.search(text) or NO_GRAD.search(text) for text in texts)


_COPIED = re.compile(r"clone|copy|\.to\(|\bload")
_EMPTY = re.compile(r"\{\}|\[\]|None|\w*\b(list|dict|OrderedDict)\(\)")
_FILLS = ("append", "extend", "update")


def kept(place: Place) -> Place | None:
    """The one line that fills what the method called at this line is called on, with no copy in its text."""
    tree = parsed(place.file)
    within = scope(place.file, place.line)
    if tree is None or within is None:
        return None
    at = [one for one in own(within) if getattr(one, "lineno", 0) == place.line]
    names = {name for one in at if isinstance(one, ast.Call) for name in _on(one)}
    names |= {name for one in at if isinstance(one, ast.AugAssign) for name in _on(one.target)}
    for one in own(within):
        if isinstance(one, ast.For) and one.lineno <= place.line <= (one.end_lineno or 0):
            names |= _run_through(one.target, one.iter, names)
    found = [one for one in ast.walk(tree) if _fills(one, names) and not _COPIED.search(ast.unparse(one))]
    if len(found) != 1:
        return None
    value = getattr(found[0], "value", None)
    inside = [*_returned_by(place.file, value), *_appended_to(place.file, line_of(found[0]), value)]
    shown = next((inner for inner in inside if _views(inner)), None)
    return Place(place.file, shown.lineno if shown is not None else line_of(found[0]))


def _returned_by(file: str, call: Any) -> list[Any]:
    """All that stands in what a call gives, where it is of the one function of that name in a file, with one return."""
    called = ast.unparse(call.func).rpartition(".")[2] if isinstance(call, ast.Call) else ""
    found = [one for one in functions(file) if getattr(one, "name", "") == called]
    returns = [one for each in found for one in own(each) if isinstance(one, ast.Return) and one.value is not None]
    return list(ast.walk(returns[0])) if len(found) == len(returns) == 1 else []


def _appended_to(file: str, line: int, value: Any) -> list[Any]:
    """All that was appended, in the function of a line, to the list that a value is made of: `kept` in `dict(kept)`."""
    within = scope(file, line)
    names = words(value) if isinstance(value, ast.expr) and within is not None else set()
    calls = [one for one in own(within) if isinstance(one, ast.Call)] if within is not None else []
    appends = [one for one in calls if ast.unparse(one.func) in {f"{name}.append" for name in names}]
    return [inner for one in appends for given in one.args for inner in ast.walk(given)]


def _views(node: Any) -> bool:
    """Whether it takes a tensor out of its graph, and leaves it in its memory."""
    return isinstance(node, ast.Attribute) and node.attr in ("detach", "data")


def _run_through(target: ast.expr, through: ast.expr, names: set[str]) -> set[str]:
    """What a loop takes these names from, as `kept` in `for mine, theirs in zip(kept.values(), …)`."""
    if isinstance(through, ast.Call) and ast.unparse(through.func) == "zip" and isinstance(target, ast.Tuple):
        pairs = zip(target.elts, through.args, strict=False)
        return {name for one, each in pairs for name in _run_through(one, each, names)}
    if not names & names_in(target):
        return set()
    if isinstance(through, ast.Call) and isinstance(through.func, ast.Attribute) and not through.args:
        through = through.func.value
    return {ast.unparse(through)}


def _on(whole: ast.expr) -> set[str]:
    """What a method is called on, or the first of the lists that a function is given."""
    while isinstance(whole, ast.Call) and isinstance(whole.func, ast.Attribute):
        whole = whole.args[0] if whole.func.attr.startswith("_foreach_") and whole.args else whole.func.value
    while isinstance(whole, ast.Subscript):
        whole = whole.value
    return {ast.unparse(whole)} if isinstance(whole, (ast.Name, ast.Attribute)) else set()


def _fills(statement: ast.AST, names: set[str]) -> bool:
    """Whether a statement puts something into what has one of these names."""
    if isinstance(statement, ast.Assign):
        held = [one.value if isinstance(one, ast.Subscript) else one for one in statement.targets]
        return any(ast.unparse(one) in names for one in held) and not _EMPTY.fullmatch(ast.unparse(statement.value))
    call = statement.value if isinstance(statement, ast.Expr) else None
    if isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute) and call.func.attr in _FILLS:
        return ast.unparse(call.func.value) in names
    return False


def replaced(place: Place) -> Place | None:
    """The one line that gives another value to what is called at this line: to an attribute of `self` outside its
    `__init__`, or to a name that the same function had given one before."""
    tree, within = parsed(place.file), scope(place.file, place.line)
    if tree is None or within is None:
        return None
    here = (n for n in own(within) if isinstance(n, ast.Call) and n.lineno <= place.line <= (n.end_lineno or 0))
    called = {ast.unparse(one.func) for one in here if isinstance(one.func, (ast.Name, ast.Attribute))}
    found: set[int] = set()
    for name in called:
        holders: dict[str, list[int]] = {}
        for function in functions(place.file):
            lines = sorted(n.lineno for n in own(function) if isinstance(n, ast.Assign) and name in _given(n))
            if lines:
                holders.setdefault(getattr(function, "name", ""), []).extend(lines)
        if name.startswith("self.") and "__init__" in holders:
            found |= {line for holder, lines in holders.items() if holder != "__init__" for line in lines}
        elif "." not in name and len(holders) == 1:
            found |= {line for lines in holders.values() for line in lines[1:]}
    return Place(place.file, found.pop()) if len(found) == 1 else None


def _given(statement: ast.Assign) -> set[str]:
    return {ast.unparse(one) for one in statement.targets}


@lru_cache(maxsize=256)
def grouped_at(place: Place) -> Place | None:
    """Where the parameters that an optimizer is given at a line were put together, where that is a statement of its
    own in the same function: a list of some of them, or of groups."""
    within = scope(place.file, place.line)
    nodes = own(within) if within is not None else ()
    calls = [n for n in nodes if isinstance(n, ast.Call) and n.lineno <= place.line <= (n.end_lineno or 0)]
    for call in calls if within is not None else ():
        for one in (*call.args[:1], *(k.value for k in call.keywords if k.arg == "params")):
            made = assigned(within, one.id, call.lineno) if isinstance(one, ast.Name) and within is not None else None
            if made is not None and made.at is None and _puts_together(made.value):
                changed = (
                    n for n in nodes if isinstance(n, ast.Attribute) and ast.unparse(n.value) == ast.unparse(one)
                )
                filled = any(n.attr in _FILLS for n in changed)
                grouped = isinstance(made.value, ast.List) and any(isinstance(n, ast.Dict) for n in made.value.elts)
                return Place(place.file, made.line, place.function) if grouped or not filled else None
    return None


def filtered_at(place: Place) -> Place | None:
    """Where what is put together for an optimizer at a line was chosen by `requires_grad`, further up in its
    function."""
    within = scope(place.file, place.line)
    if within is None:
        return None
    statements = (n for n in own(within) if isinstance(n, (ast.Assign, ast.Return)) and n.lineno == place.line)
    value = next((n.value for n in statements), None)
    for name in sorted(names_in(value)) if value is not None else ():
        made = assigned(within, name, place.line)
        if made is not None and ".requires_grad" in ast.unparse(made.value):
            return Place(place.file, made.line, place.function)
        for loop in (one for one in own(within) if isinstance(one, ast.For) and _fills_in(one, name)):
            asked = [n for n in own(loop) if isinstance(n, ast.If) and ".requires_grad" in ast.unparse(n.test)]
            if asked:
                return Place(place.file, asked[0].lineno, place.function)
    return None


def _fills_in(loop: ast.For, name: str) -> bool:
    """Whether a loop appends to what has this name, be it one of two that a condition chooses from, or adds to it."""
    return any(
        (isinstance(one, ast.AugAssign) and ast.unparse(one.target) == name)
        or (
            isinstance(one, ast.Call)
            and isinstance(one.func, ast.Attribute)
            and one.func.attr in ("append", "extend")
            and name in names_in(one.func.value)
        )
        for one in own(loop)
    )


_PART = re.compile(r"(?!(?:self\.)?\w+(?:\.module)?\.(?:named_)?parameters)(?:\w+\.)+(?:named_)?parameters\(\)")
"""All parameters of what is an attribute of a model."""


@lru_cache(maxsize=256)
def picked_from_part(place: Place) -> Place | None:
    """The one loop over the parameters of a part of a model that fills what an optimizer is given at a line, in lists
    that nothing else fills."""
    within = scope(place.file, place.line)
    statement = next((one for one in _statements_at(place) if not hasattr(one, "body")), None)
    if within is None or statement is None:
        return None
    given = names_in(statement)
    loops = [one for one in own(within) if isinstance(one, ast.For) and any(_fills_in(one, name) for name in given)]
    parts = [one for one in loops if one.lineno < place.line and _PART.fullmatch(ast.unparse(one.iter))]
    return Place(place.file, parts[0].lineno, place.function) if len(parts) == len(loops) == 1 else None


@lru_cache(maxsize=256)
def filled_in_vain(place: Place) -> tuple[str, Place] | None:
    """The one list that a loop over parameters fills, beside others that are read, in the function which makes an
    optimizer at a line, and that nothing reads; and where it is filled."""
    within = scope(place.file, place.line)
    if within is None:
        return None
    for loop in (one for one in own(within) if isinstance(one, ast.For)):
        if "parameters()" not in ast.unparse(loop.iter) or loop.lineno > place.line:
            continue
        filled: dict[str, ast.Name] = {}
        for one in own(loop):
            if isinstance(one, ast.Attribute) and one.attr in _FILLS and isinstance(one.value, ast.Name):
                filled.setdefault(one.value.id, one.value)
        fills = {id(one.value) for one in ast.walk(within) if isinstance(one, ast.Attribute) and one.attr in _FILLS}
        read = {
            one.id
            for one in ast.walk(within)
            if isinstance(one, ast.Name) and isinstance(one.ctx, ast.Load) and id(one) not in fills
        }
        unread = [name for name in filled if name not in read]
        if len(unread) == 1 and len(filled) > 1:
            return unread[0], Place(place.file, filled[unread[0]].lineno, place.function)
    return None


_ONCE = re.compile(r"^(filter|map|zip|chain|iter|itertools\.\w+)\(|\.(named_)?parameters\([^()]*\)$")
"""Calls whose result can be gone through a single time."""


def used_up_at(place: Place) -> Place | None:
    """Where something was gone through, further up in the function, that can be a single time and that the statement
    at a line uses again."""
    within = scope(place.file, place.line)
    statement = next((one for one in _statements_at(place) if not hasattr(one, "body")), None)
    if within is None or statement is None:
        return None
    given = dict.fromkeys(names_in(statement), statement.lineno)
    for name, line in [*given.items()]:  # and what a list of groups was made of
        if (made := assigned(within, name, line)) is not None:
            given |= dict.fromkeys(names_in(made.value) - given.keys(), made.line)
    for name, line in sorted(given.items()):
        made = assigned(within, name, line)
        if made is None or not (isinstance(made.value, ast.GeneratorExp) or _ONCE.search(ast.unparse(made.value))):
            continue
        for one in own(within):
            if isinstance(one, ast.Name) and one.id == name and made.end < one.lineno < line:
                return Place(place.file, one.lineno, place.function)
    return None


def _puts_together(value: ast.expr) -> bool:
    """Whether an expression makes a list of its own of some parameters, and not one of none, which is filled later."""
    if isinstance(value, ast.BinOp):
        return isinstance(value.op, ast.Add) and _puts_together(value.left)
    called = isinstance(value, ast.Call) and ast.unparse(value.func) in ("list", "filter", "chain", "itertools.chain")
    kept = isinstance(value, (ast.ListComp, ast.GeneratorExp)) or (isinstance(value, ast.List) and bool(value.elts))
    return (called or kept) and "param" in ast.unparse(value)


def zeroed_by_name(file: str, name: str) -> list[Place]:
    """The lines that name something of that name, and zeros."""
    return [*_lines(file, rf"\b{re.escape(name)}\b.*zero|zero.*\b{re.escape(name)}\b")]


class Assigned(NamedTuple):
    """What was assigned to a name."""

    value: ast.expr
    line: int
    end: int
    at: int | None
    """Which of several things that are assigned together; None for one alone."""
    without_grad: bool
    """Whether it stands under `no_grad()` or `inference_mode()`."""


_FOLLOWS = re.compile(r"target|teacher|shadow|average|(?<![a-z])(ema|avg|ma)(?![a-z])", re.IGNORECASE)
"""Names of what follows trained weights."""


def _crosswise(pairs: dict[str, str]) -> bool:
    """Whether an argument that is named for what follows the weights is given something else, and another one that."""
    sides = [(bool(_FOLLOWS.search(name)), bool(_FOLLOWS.search(got))) for name, got in pairs.items()]
    return (True, False) in sides and (False, True) in sides


def _gone_over_crosswise(place: Place) -> Place | None:
    """The head of a loop around a line that goes over weights by the name of what follows them, and over that by
    another one."""
    within = scope(place.file, place.line)
    for one in own(within) if within is not None else ():
        if isinstance(one, ast.For) and one.lineno < place.line <= (one.end_lineno or 0):
            targets = [each for each in ast.walk(one.target) if isinstance(each, ast.Name)]
            calls = (n for n in ast.walk(one.iter) if isinstance(n, ast.Call) and ast.unparse(n.func) == "zip")
            zipped = next(calls, None)
            if zipped is not None and len(zipped.args) <= len(targets):
                names = [each.id for each in targets[-len(zipped.args) :]]
                if _crosswise(dict(zip(names, map(ast.unparse, zipped.args), strict=True))):
                    return replace(place, line=one.lineno)
    return None


def swapped_at(calls: Sequence[Place]) -> Place | None:
    """The call, among calls that led to one another, innermost first, that hands something over by the name of another
    argument, which in turn gets what is named otherwise; or what follows the weights in the place of these. So may a
    loop that goes over both."""
    if calls and (across := _gone_over_crosswise(calls[0])) is not None:
        return across
    for inner, outer in zip(calls, calls[1:], strict=False):
        within, line = scope(inner.file, inner.line), scope(outer.file, outer.line)
        if not isinstance(within, ast.FunctionDef) or line is None:
            continue
        asked = [one.arg for one in (*within.args.posonlyargs, *within.args.args) if one.arg not in ("self", "cls")]
        for one in own(line):
            if isinstance(one, ast.Call) and one.lineno <= outer.line <= (one.end_lineno or 0):
                given = [ast.unparse(each).rpartition(".")[2] for each in one.args]
                called = ast.unparse(one.func).rpartition(".")[2] == within.name
                pairs = dict(zip(asked, given, strict=False))
                named = any(name != got and got in pairs and pairs[got] != got for name, got in pairs.items())
                if called and (named or _crosswise(pairs)):
                    return outer
    return None


@lru_cache(maxsize=4096)
def scope(file: str, line: int) -> ast.AST | None:
    """The innermost function that holds a line, or the whole file."""
    tree = parsed(file)
    if tree is None:
        return None
    return innermost([n for n in blocks_in(tree) if isinstance(n, FUNCTIONS)], line) or tree


def is_repeated(file: str, line: int, column: int | None) -> bool:
    """Whether what stands at a line, and a column of it, is done again and again by a loop or a comprehension of its
    function."""
    within = scope(file, line)
    for one in own(within) if within is not None else ():
        if isinstance(one, LOOPS) and one.body[0].lineno <= line <= (one.end_lineno or 0):
            return True
        if isinstance(one, COMPREHENSIONS) and column is not None:
            again = (one.key, one.value) if isinstance(one, ast.DictComp) else (one.elt,)
            if any((n.lineno, n.col_offset) <= (line, column) < (n.end_lineno, n.end_col_offset) for n in again):
                return True
    return False


def functions(file: str) -> Iterator[ast.AST]:
    """A file's own text, and each function of it."""
    tree = parsed(file)
    if tree is not None:
        yield tree
        yield from (one for one in blocks_in(tree) if isinstance(one, FUNCTIONS))


def function_at(file: str, line: int) -> ast.FunctionDef | None:
    """The function whose code begins at this line, which may be that of a decorator."""
    for one in functions(file):
        if isinstance(one, ast.FunctionDef) and line == min([one.lineno, *(d.lineno for d in one.decorator_list)]):
            return one
    return None


@lru_cache(maxsize=256)
def hands_on(code: CodeType) -> bool:
    """Whether a function consists of a single statement that calls what has the name of the function itself."""
    function = function_at(code.co_filename, code.co_firstlineno)
    if function is None:
        return False
    body = function.body[ast.get_docstring(function) is not None :]
    calls = [one for one in ast.walk(function) if isinstance(one, ast.Call)]
    return len(body) == 1 and any(ast.unparse(one.func).rpartition(".")[2] == code.co_name for one in calls)


@lru_cache(maxsize=FILES)
def blocks_in(tree: ast.AST) -> tuple[ast.AST, ...]:
    """The functions, loops and ifs of a file, in the order of `ast.walk`. A long file is walked once, not for each
    new line of a program that runs in it."""
    return tuple(n for n in ast.walk(tree) if isinstance(n, (*FUNCTIONS, *LOOPS, ast.If)))


@lru_cache(maxsize=256)
def assigned(within: ast.AST, name: str, before: int) -> Assigned | None:
    """The last assignment to a name, or to `self.name`, above a line of this function, `+=` and the like as the sum it
    stands for. Where that is the number in an `else`, as of a loss that is switched off, it is the one in its `if`."""
    last = None
    for one in own(within):
        if getattr(one, "lineno", before) >= before:
            continue
        at = None
        if isinstance(one, ast.Assign) and (found := _target(one, name)) is not None:
            value: ast.expr = one.value
            at = found if found >= 0 else None
        elif isinstance(one, ast.AugAssign) and _is_called(one.target, name):
            value = ast.copy_location(ast.BinOp(one.target, one.op, one.value), one)
        else:
            continue
        if last is None or one.lineno > last.line:
            last = Assigned(value, one.lineno, one.end_lineno or one.lineno, at, _without_grad(within, one))
    if last is not None and isinstance(last.value, ast.Constant):
        for one in own(within):
            if isinstance(one, ast.If) and any(each.lineno == last.line for each in one.orelse):
                other = assigned(within, name, one.orelse[0].lineno)
                return other if other is not None and other.line >= one.body[0].lineno else last
    return last


def put_into(within: ast.AST, name: str, before: int) -> list[Assigned]:
    """What is assigned to entries of a name, as to those of a tensor, above a line of this function."""
    return [
        Assigned(one.value, one.lineno, one.end_lineno or one.lineno, None, _without_grad(within, one))
        for one in own(within)
        if isinstance(one, ast.Assign) and one.lineno < before
        if any(isinstance(target, ast.Subscript) and _is_called(target.value, name) for target in one.targets)
    ]


def handed_over(call: ast.Call, function: ast.FunctionDef) -> dict[str | None, ast.expr]:
    """What a call hands to a function or method, by the names of its arguments; under None what `**` hands over."""
    places = [one.arg for one in function.args.args if one.arg not in ("self", "cls")]
    return {**dict(zip(places, call.args, strict=False)), **{one.arg: one.value for one in call.keywords}}


def bindings(target: ast.expr, value: ast.expr) -> Iterator[tuple[ast.expr, ast.expr]]:
    """What an assignment gives which value, also where several are given at once."""
    if isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple) and len(target.elts) == len(value.elts):
        for one, each in zip(target.elts, value.elts, strict=True):
            yield from bindings(one, each)
    else:
        yield target, value


def bound_at(file: str, line: int, name: str) -> Place | None:
    """The last line above this one, in its function, that binds a name."""
    within = scope(file, line)
    made = assigned(within, name, line) if within is not None else None
    return Place(file, made.line, getattr(within, "name", "<module>")) if made is not None else None


def returned_at(place: Place) -> Place | None:
    """Where the function returns, if at one place, that the statement at this line gives its value; one of the same
    file, further up."""
    within = scope(place.file, place.line)
    nodes = own(within) if within is not None else ()
    given = next((n for n in nodes if isinstance(n, (ast.Assign, ast.Return)) and n.lineno == place.line), None)
    if given is None or not isinstance(given.value, ast.Call):
        return None
    called = ast.unparse(given.value.func).rpartition(".")[2]
    found = [one for one in functions(place.file) if getattr(one, "name", "") == called]
    lines = [one.lineno for each in found for one in own(each) if isinstance(one, ast.Return)]
    above = len(found) == len(lines) == 1 and lines[0] < place.line
    return Place(place.file, lines[0], called) if above else None


def held(file: str, kind: str, name: str) -> Assigned | None:
    """The one assignment to `self.name` in a class outside its `__init__`."""
    tree = parsed(file)
    classes = [one for one in ast.walk(tree) if isinstance(one, ast.ClassDef) and one.name == kind] if tree else []
    methods = [
        one for each in classes for one in each.body if isinstance(one, ast.FunctionDef) and one.name != "__init__"
    ]
    wanted = f"self.{name}"
    found = [
        Assigned(one.value, one.lineno, one.end_lineno or one.lineno, None, _without_grad(within, one))
        for within in methods
        for one in own(within)
        if isinstance(one, ast.Assign) and [ast.unparse(target) for target in one.targets] == [wanted]
    ]
    return found[0] if len(found) == 1 else None


def _target(statement: ast.Assign, name: str) -> int | None:
    """Where a name stands among several targets, -1 where it stands alone, None where it does not."""
    for target in statement.targets:
        if _is_called(target, name):
            return -1
        if isinstance(target, ast.Tuple):
            for at, one in enumerate(target.elts):
                if _is_called(one, name):
                    return at
    return None


def _is_called(target: ast.expr, name: str) -> bool:
    """Whether this is that name, with dots where it has some."""
    if isinstance(target, ast.Name):
        return target.id == name
    return isinstance(target, ast.Attribute) and "." in name and ast.unparse(target) == name


def blocks(within: ast.AST) -> Iterator[list[ast.stmt]]:
    """The blocks of a function: statements that stand one below the other at one depth."""
    for one in (within, *own(within)):
        for name in ("body", "orelse", "finalbody"):
            if isinstance(block := getattr(one, name, None), list):  # the body of a lambda is none
                yield block


def _without_grad(within: ast.AST, statement: ast.stmt) -> bool:
    blocks = [one for one in own(within) if isinstance(one, ast.With)]
    return any(
        NO_GRAD.search(ast.unparse(item.context_expr)) and block.lineno < statement.lineno <= (block.end_lineno or 0)
        for block in blocks
        for item in block.items
    )


@lru_cache(maxsize=16 * FILES)
def own(node: ast.AST) -> tuple[Any, ...]:
    """Everything in a function but the functions inside it, in the order of the text."""
    found: list[Any] = []
    waiting: list[ast.AST] = [node]
    while waiting:
        one = waiting.pop()
        found.append(one)
        waiting += [inner for inner in ast.iter_child_nodes(one) if not isinstance(inner, FUNCTIONS)][::-1]
    return tuple(found[1:])


@lru_cache(maxsize=FILES)
def parsed(file: str) -> ast.Module | None:
    try:
        return ast.parse("".join(linecache.getlines(file)))
    except (SyntaxError, ValueError, RecursionError):
        return None
