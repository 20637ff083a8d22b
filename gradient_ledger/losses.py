"""How a loss was put together, its graph and its text side by side: the graph alone does not name what is missing.

Looked at for the first passes of a line. Local variables are read where the text names them; none is kept.
"""

from __future__ import annotations

import ast
import inspect
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from functools import lru_cache
from types import FrameType, FunctionType
from typing import Any, NamedTuple

from torch import Tensor, nn

from gradient_ledger import places, source
from gradient_ledger.events import Place, Trail
from gradient_ledger.graph import LEAVING

SUMS = {ast.Add: "AddBackward0", ast.Sub: "SubBackward0"}
_MADE = re.compile(r"(\b|_)(zeros?|zeros_like|tensor|empty|full|float|int|sum)\(")
"""What a sum starts from when it starts from nothing."""

PRODUCTS = {ast.Mult: "MulBackward0", ast.Div: "DivBackward0"}


HINGES = ("ReluBackward0", "ClampMinBackward0", "ClampBackward1", "SoftplusBackward0")
WRAPPERS: dict[str, tuple[str, ...]] = dict.fromkeys(HINGES, ("relu", "clamp", "clamp_min", "softplus"))
WRAPPERS |= {f"{name}Backward{n}": (name.lower(),) for name in ("Mean", "Sum") for n in (0, 1)}
WRAPPERS |= {"MulBackward0": ("scale", "mul", "multiply"), "DivBackward0": ("div", "divide")}
SQUARES = {"PowBackward0": ("pow", "square"), "AbsBackward0": ("abs",), "MseLossBackward0": ("mse_loss",)}
WRAPPERS |= SQUARES
"""By operation, the functions and methods of that name: what they are given stands in their argument."""

CRITERIA = {
    "MSELoss": ("MseLossBackward0",),
    "mse_loss": ("MseLossBackward0",),
    "SmoothL1Loss": ("SmoothL1LossBackward0",),
    "smooth_l1_loss": ("SmoothL1LossBackward0",),
    "HuberLoss": ("HuberLossBackward0",),
    "huber_loss": ("HuberLossBackward0",),
    "L1Loss": ("MeanBackward0", "AbsBackward0", "SubBackward0"),
    "l1_loss": ("MeanBackward0", "AbsBackward0", "SubBackward0"),
}
"""What compares two things, and the operations that it leaves in the graph: the last one knows both."""
SQUARED = ("square", "loss")
"""Under a square, or what a criterion compares with something else: a residual with zero, say."""


MODULES = ("F", "torch", "functional", "nn.functional", "torch.nn.functional")


MOST_LISTENERS = 16
"""Objects that a loop goes over whose methods are looked at."""
MOST_BRANCHES = 4
"""Assignments that the graph does not show, each in a branch that did not run, behind the one that did."""
MOST_STEPS = 24
"""Names and functions that a summand is followed through."""
HOLDERS = (list, tuple, nn.ModuleList, nn.Sequential)
LOGS = ("log", "logdet", "slogdet", "logabsdet")
LEAVES = re.compile(rf"\.({'|'.join(LEAVING)})\(\)|\.data\b")
"""Text that takes a tensor out of its graph."""


class Idle(NamedTuple):
    """A summand of a loss that has no graph: it moves nothing."""

    text: str
    line: int
    """Where it got its value: the assignment, or the sum itself."""
    value: float | None
    """None where the text does not tell which variable it is."""
    cut: bool
    """Whether the text shows where the graph was left: under `no_grad()`, by `detach()` or the like."""
    file: str
    made: tuple[range, ...]
    """The lines of the same function that it was computed on."""
    inner: bool = False
    """Whether it stands under a square, as a term of a difference, or in a function of its own: it may be meant as a
    target or a baseline is."""
    meant: tuple[range, ...] = ()
    """Those of these lines whose text says that something is a constant."""
    result_meant: tuple[range, ...] = ()
    """Those of them where it says so of what is computed there, and not of a name that is handed on."""
    beside: Any = None
    """The graph of what it is added to."""
    lost: bool = False
    """Whether something that the other summand is made of leaves its graph on the way into this one."""
    graph: Any = None
    """Its own graph, where it has one that trains nothing."""
    frozen: frozenset[int] = frozenset()
    """The parameters, by `id`, of the modules it was made by that are frozen now."""
    product: Any = None
    """The graph of the summand as a whole, where it is made of a derivative and of something else that has one."""
    missed: bool = True
    """Whether the text shows where a graph was left, or a model all of which is trained made it: else it is one of
    the data's constants, or the work of what is frozen."""
    of_weights: bool = False
    """Whether a function of the user's took weights out of their graphs for it, as for a penalty on them."""


def idle_summand(
    frame: FrameType | None,
    node: Any,
    certain: Callable[[Idle], bool] = lambda inner: False,
    trains: Callable[[Any, Any], bool] = lambda graph, beside: True,
) -> Idle | None:
    """The first summand without a graph in the loss that this frame's `backward()` begins at, or whose graph `trains`
    nothing of what the other summand's does.

    Of the inner ones, the first that is `certain` to miss one.
    """
    if frame is None:
        return None
    scope = source.scope(frame.f_code.co_filename, frame.f_lineno)
    call = _call_of_backward(scope, frame.f_lineno) if scope is not None else None
    if scope is None or call is None or _reads_all(scope):
        return None
    with names_in(frame) as variables:
        reader = _Reader(scope, frame.f_code.co_filename, variables, trains)
        loss = call.func.value  # type: ignore[attr-defined]
        if call.args and not isinstance(reader.value(loss), Tensor):
            loss = call.args[0]  # accelerator.backward(loss), torch.autograd.backward(loss)
        found = reader.idle(loss, node, call.lineno)
        found = (one for one in found if one.graph is None or one.lost)
        meant = [one for one in found if not one.inner or certain(one)]
        told = (one for one in meant if one.graph is not None or one.missed or one.lost)
        idle = next(told, meant[0] if meant else None)
        if idle is not None and (idle.value is None or idle.lost):
            return idle
        volume = next(reader.volumes(loss, call.lineno), None)
        if volume is not None and idle is not None:  # the same one, where it left its graph
            return idle._replace(line=volume.line, file=volume.file, cut=True)
        return volume or idle


def made_at(frame: FrameType | None) -> Place | None:
    """The line of the last assignment to the loss whose `backward()` a frame calls."""
    if frame is None:
        return None
    file, line = frame.f_code.co_filename, frame.f_lineno
    scope = source.scope(file, line)
    call = _call_of_backward(scope, line) if scope is not None else None
    loss = _goes_backward(call) if call is not None else None
    found = source.assigned(scope, loss.id, line) if scope is not None and isinstance(loss, ast.Name) else None
    return Place(file, found.line) if found is not None else None


def computed_at(frame: FrameType | None) -> Place | None:
    """The line of the last assignment to the loss; where that calls functions of the same file, what those return."""
    made = made_at(frame)
    while made is not None and (inner := source.returned_at(made)) is not None:
        made = inner
    return made


def called(frame: FrameType | None, module: nn.Module) -> list[str]:
    """What the user's frame, or the object whose method it runs, calls a module."""
    frame = places.user_frame(frame)
    if frame is None or not may_be_read(frame):
        return []
    with names_in(frame) as variables:
        own = getattr(variables.get("self"), "__dict__", {})
        known = {**own, **own.get("_modules", {}), **variables}
    return [name for name, value in known.items() if value is module]


def models_known(frame: FrameType | None) -> dict[str, nn.Module]:
    """The modules that a frame knows, or the object whose method it runs, by their names."""
    if frame is None or not may_be_read(frame):
        return {}
    with names_in(frame) as variables:
        own = getattr(variables.get("self"), "__dict__", {})
        known = {**variables, **own, **(own.get("_modules") or {})}
    return {name: value for name, value in known.items() if isinstance(value, nn.Module)}


def parameters_called(frame: FrameType | None, wanted: re.Pattern[str]) -> set[int]:
    """The parameters, by `id`, of the modules that a frame knows by such a name, or the object whose method it runs."""
    models = [value for name, value in models_known(frame).items() if wanted.search(name.lower())]
    return {id(parameter) for model in models for parameter in model.parameters()}


def tensors_called(frame: FrameType | None, wanted: re.Pattern[str]) -> list[tuple[Tensor, Place | None]]:
    """What a frame knows by such names, of tensors with a graph, and the line that gave it its name."""
    frame = places.user_frame(frame)
    if frame is None or not may_be_read(frame):
        return []
    with names_in(frame) as variables:
        found = [(name, value) for name, value in variables.items() if wanted.search(name.lower())]
    file, line = frame.f_code.co_filename, frame.f_lineno
    graphs = [(name, value) for name, value in found if isinstance(value, Tensor) and value.grad_fn is not None]
    return [(value, source.bound_at(file, line, name)) for name, value in graphs]


def stems_from(idle: Idle, trails: Iterable[Trail]) -> Place | None:
    """The innermost line of a call that this summand was computed with."""
    found = _stem(idle, trails)
    return Place(*found[0][0]) if found is not None else None


def is_meant(idle: Idle, trails: Iterable[Trail]) -> bool:
    """Whether the text says that this summand is a constant, in the call that it was computed with or after it: what
    goes into that call may well be one."""
    found = _stem(idle, trails)
    if found is None:
        return bool(idle.meant)
    at = found[1]
    return any(lines.start > at for lines in idle.meant) or any(at in lines for lines in idle.result_meant)


def _stem(idle: Idle, trails: Iterable[Trail]) -> tuple[Trail, int] | None:
    """The call that this summand was computed with, and the line of its function which that came from."""
    for trail in trails:
        for name, line in trail:
            if name == idle.file and any(line in lines for lines in idle.made):
                return trail, line
    return None


def may_be_read(frame: FrameType) -> bool:
    """Whether the variables of a frame may be read: not where its function may read them as a whole itself."""
    return not _reads_all(source.scope(frame.f_code.co_filename, frame.f_lineno) or ast.Module([], []))


@contextmanager
def names_in(frame: FrameType) -> Any:
    """What a frame's names stand for. The copy that Python makes of a function's variables is emptied again."""
    own = frame.f_locals
    try:
        yield {**frame.f_globals, **own}
    finally:
        if sys.version_info < (3, 13) and frame.f_code.co_flags & inspect.CO_OPTIMIZED:
            own.clear()  # elsewhere, in a class or under exec(), these are the variables themselves


def stands_for(expression: ast.expr, variables: Mapping[str, Any]) -> Any:
    """What a constant, a name or an attribute stands for, without running anything of the user's."""
    if isinstance(expression, ast.Constant):
        return expression.value
    if isinstance(expression, ast.Name):
        return variables.get(expression.id)
    if not isinstance(expression, ast.Attribute):
        return None
    owner = stands_for(expression.value, variables)
    own = getattr(owner, "__dict__", {})
    for table in (own, own.get("_modules") or {}, own.get("_buffers") or {}):
        if isinstance(table, Mapping) and expression.attr in table:
            return table[expression.attr]
    return next((vars(kind)[expression.attr] for kind in type(owner).__mro__ if expression.attr in vars(kind)), None)


@lru_cache(maxsize=256)
def _reads_all(scope: ast.AST) -> bool:
    """Whether a function may read its variables as a whole: by a name, not by a method such as `model.eval()`, nor
    those of something else, as by `vars(args)`."""
    words = source.words(scope)
    if "vars" in words:
        calls = [one for one in ast.walk(scope) if isinstance(one, ast.Call) and one.args]
        of_others = sum(isinstance(one.func, ast.Name) and one.func.id == "vars" for one in calls)
        if of_others == sum(isinstance(one, ast.Name) and one.id == "vars" for one in ast.walk(scope)):
            words = words - {"vars"}
    return bool({"locals", "vars", "eval", "exec"} & words)


@lru_cache(maxsize=256)  # the same line is asked for by every ledger that is opened around it
def _call_of_backward(scope: ast.AST, line: int) -> ast.Call | None:
    """The first call of a `backward` on a line of a function."""
    for one in ast.walk(scope):
        if isinstance(one, ast.Call) and isinstance(one.func, ast.Attribute) and one.func.attr == "backward":
            if one.lineno <= line <= (one.end_lineno or 0):
                return one
    return None


def _goes_backward(call: ast.Call) -> ast.expr | None:
    """What a call of `backward` is for: what it is a method of, under the product with a loss scale; or what it is
    given, where it is a method of something else, as of an accelerator."""
    of = call.func.value if isinstance(call.func, ast.Attribute) else None
    if isinstance(of, ast.Call) and source.last_name(of.func) == "scale" and of.args:
        return of.args[0]
    given = call.args[0] if call.args and not (isinstance(of, ast.Name) and "loss" in of.id.lower()) else None
    return given if isinstance(given, ast.Name) else of


def _may_leave(value: ast.expr, kind: str) -> bool:
    """Whether an expression can have left an operation of that kind: sums and products leave their own."""
    left = (SUMS | PRODUCTS).get(type(value.op)) if isinstance(value, ast.BinOp) else None  # type: ignore[operator]
    return left is None or left == kind


def _function(called: Any) -> Any:
    """The Python function behind what is called: a module's `forward`, a method's own."""
    if isinstance(called, nn.Module):
        called = places.forward_of(type(called))
    called = inspect.unwrap(getattr(called, "__func__", called))
    return called if isinstance(called, FunctionType) else None


def _argument(call: ast.Call, node: Any) -> ast.expr | None:
    """What a function that is applied to a loss as a whole is applied to, if `node` is what it left in the graph."""
    function = call.func
    name = function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")
    if name not in WRAPPERS.get(type(node).__name__, ()):
        return None
    if name == "scale" or not isinstance(function, ast.Attribute) or ast.unparse(function.value) in MODULES:
        return call.args[0] if call.args else None
    return function.value


def _says_constant(expression: ast.expr) -> bool:
    """Whether the text takes something out of its graph, and not to make it a leaf of a new one."""
    text = ast.unparse(expression)
    return bool(LEAVES.search(text)) and "requires_grad_(" not in text


@lru_cache(maxsize=256)
def _function_leaves(file: str, line: int) -> bool:
    """Whether the text of the function around a line takes anything out of its graph."""
    within = source.scope(file, line)
    text = ast.unparse(within) if within is not None else ""
    return bool(LEAVES.search(text) or source.NO_GRAD.search(text))


def _hands_on(expression: ast.expr) -> bool:
    """Whether all that a text takes out of its graph are names, given to calls."""
    cuts = [one for one in ast.walk(expression) if _leaves(one)]
    given = [
        each for one in ast.walk(expression) if isinstance(one, ast.Call) for arg in one.args for each in ast.walk(arg)
    ]
    return all(_detached(one) and one in given for one in cuts)


def _names(expression: ast.AST) -> list[str]:
    """The names in a text in its order, each as often as it is written."""
    return [one.id for one in ast.walk(expression) if isinstance(one, ast.Name)]


def _path(one: ast.AST) -> str:
    """A name as the text writes it, with its dots: `loss`, `self.loss`."""
    inner = one
    while isinstance(inner, ast.Attribute):
        inner = inner.value
    return ast.unparse(one) if isinstance(inner, ast.Name) else ""


def _paths(expression: ast.AST) -> list[str]:
    """The names in an expression, and those with dots: of `self.net.loss` all three."""
    return [path for one in ast.walk(expression) if (path := _path(one))]


def _leaves(one: ast.AST) -> bool:
    """Whether an expression takes something out of its graph."""
    if isinstance(one, ast.Call):
        return isinstance(one.func, ast.Attribute) and one.func.attr in LEAVING
    return isinstance(one, ast.Attribute) and one.attr == "data"


def _detached(one: ast.AST) -> str:
    """The name that an expression takes out of its graph."""
    if isinstance(one, ast.Call) and isinstance(one.func, ast.Attribute) and one.func.attr in LEAVING:
        one = one.func
    elif not (isinstance(one, ast.Attribute) and one.attr == "data"):
        return ""
    return _path(one.value)


def _cut_out(one: ast.AST) -> ast.expr | None:
    """What an expression takes out of its graph."""
    if isinstance(one, ast.Call) and isinstance(one.func, ast.Name) and one.func.id == "float" and len(one.args) == 1:
        return one.args[0]
    if isinstance(one, ast.Call) and isinstance(one.func, ast.Attribute) and one.func.attr in LEAVING:
        return one.func.value
    return one.value if isinstance(one, ast.Attribute) and one.attr == "data" else None


def _uncut(statement: ast.AST) -> set[str]:
    """The names that a statement uses outside of everything that it takes out of its graph."""
    gone = {one for each in ast.walk(statement) if _cut_out(each) is not None for one in ast.walk(each)}
    return {path for one in ast.walk(statement) if one not in gone and (path := _path(one))}


def _alive(expression: ast.AST) -> set[str]:
    """The names that an expression uses with their graphs."""
    gone = {one for each in ast.walk(expression) if _detached(each) for one in ast.walk(each)}
    return {path for one in ast.walk(expression) if one not in gone and (path := _path(one))}


def _given_detached(expression: ast.expr, names: set[str]) -> list[int]:
    """The lines where a call is given one of these names without its graph."""
    calls = [one for one in ast.walk(expression) if isinstance(one, ast.Call) and not _detached(one)]
    given = [each for one in calls for each in ast.walk(one)]
    return [one.lineno for one in given if isinstance(one, ast.expr) and _detached(one) in names]


def _number(value: Tensor | float) -> float | None:
    """What a number is worth, or a tensor on average, where asking does not make a GPU wait."""
    if isinstance(value, float):
        return value
    plain = value.is_floating_point() and value.device.type == "cpu" and not value.requires_grad
    return float(value.double().mean()) if plain and value.numel() else None


def _inside_cut(value: ast.expr) -> ast.expr:
    """What a text takes out of its graph first, or all of it."""
    return next((inner for one in ast.walk(value) if (inner := _cut_out(one)) is not None), value)


def _copied(one: ast.AST) -> ast.expr | None:
    """What `torch.tensor()` makes a number of, which keeps no graph."""
    called = ast.unparse(one.func) if isinstance(one, ast.Call) else ""
    return one.args[0] if called == "torch.tensor" and isinstance(one, ast.Call) and one.args else None


def _gone_over(within: ast.AST) -> Iterator[tuple[ast.expr, ast.expr]]:
    """What the loops and the comprehensions of a function call each of what they go over."""
    for one in source.own(within):
        if isinstance(one, (ast.For, ast.comprehension)):
            yield one.target, one.iter


def _calls(one: ast.AST, names: tuple[str, ...]) -> bool:
    """Whether this calls a function, or a method, of such a name."""
    if not isinstance(one, ast.Call):
        return False
    return (one.func.attr if isinstance(one.func, ast.Attribute) else getattr(one.func, "id", "")) in names


class _Held(NamedTuple):
    """A tensor that an object holds, and where a method of its class puts it there, if one place does."""

    value: Tensor
    file: str
    begun: source.Assigned | None


class _Reader:
    """Reads one function, as far as a line of it."""

    def __init__(self, scope: ast.AST, file: str, variables: Mapping[str, Any], trains: Callable[[Any, Any], bool]):
        self.scope, self.file, self.variables, self.trains = scope, file, variables, trains

    def value(self, expression: ast.expr) -> Any:
        return self._object(expression)

    def idle(
        self, expression: ast.expr, node: Any, line: int, target: str = "", depth: int = 0, under: str = ""
    ) -> Iterator[Idle]:
        """Summands without a graph in an expression, assigned to `target`, whose graph ends in `node`.

        What is a term of a difference as it is may be a baseline, or what a teacher reaches; `under` a hinge it is a
        distance, and under a square it may be a target.
        """
        kind = type(node).__name__
        if node is None or depth > 12:
            return
        if path := _path(expression):
            found = source.assigned(self.scope, path, line)
            for _ in range(MOST_BRANCHES):
                if found is None or (_may_leave(found.value, kind) and not self._has_not_run(found.value, path)):
                    break
                found = source.assigned(self.scope, path, found.line)  # that one stands in a branch that did not run
            if found is not None and found.at is not None and isinstance(found.value, ast.Call):
                yield from self._returned(found.value, node, found.at, depth, under)
            elif found is not None and found.at is None:
                yield from self.idle(found.value, node, found.line, path, depth + 1, under)
        elif isinstance(expression, ast.Call):
            inner = _argument(expression, node)
            if inner is not None:
                under = "square" if kind in SQUARES else under or ("hinge" if kind in HINGES else "")
                yield from self.idle(inner, node.next_functions[0][0], line, "", depth + 1, under)
            elif (compared := self._compared(expression, node)) is not None:
                yield from self.idle(*compared, line, "", depth + 1, "loss")
            else:
                yield from self._returned(expression, node, 0, depth, under)
        elif isinstance(expression, ast.IfExp):  # the graph tells which of the two it was
            for side in (expression.body, expression.orelse):
                yield from self.idle(side, node, line, target, depth + 1, under)
        elif isinstance(expression, ast.UnaryOp) and isinstance(expression.op, ast.USub) and kind == "NegBackward0":
            yield from self.idle(expression.operand, node.next_functions[0][0], line, "", depth + 1, under)
        elif isinstance(expression, ast.BinOp) and isinstance(expression.op, ast.Pow) and kind == "PowBackward0":
            yield from self.idle(expression.left, node.next_functions[0][0], line, "", depth + 1, "square")
        elif isinstance(expression, ast.BinOp) and PRODUCTS.get(type(expression.op)) == kind:  # type: ignore[call-overload]
            graphs = [inner for inner, _ in node.next_functions if inner is not None]
            sides = [side for side in (expression.left, expression.right) if not self._is_number(side)]
            if len(graphs) == len(sides) == 1:
                yield from self.idle(sides[0], graphs[0], line, target, depth + 1, under)
        elif isinstance(expression, ast.BinOp) and SUMS.get(type(expression.op)) == kind:  # type: ignore[call-overload]
            (left, _), (right, _) = node.next_functions
            own = any(
                target and target in (_path(one), " ".join(_names(one))) for one in (expression.left, expression.right)
            )
            if own and (left is None or (right is None and self._begins_empty(target, line))):
                return  # a running sum, whose first term was a number or a tensor of zeros
            if right is None and self._gives_number(expression.left):
                left, right = right, left  # Python hands the sum of a number and a tensor to the tensor
            summands: list[tuple[ast.expr, Any]] = [(expression.left, left), (expression.right, right)]
            for (side, inner), (beside, graph) in (summands, summands[::-1]):
                if under in SQUARED and inner is not None and graph is not None:
                    yield self._described(side, line, beside)._replace(beside=graph, product=inner, inner=True)
                if under != "loss" and inner is not None and graph is not None and not self.trains(inner, graph):
                    yield self._described(side, line, beside)._replace(beside=graph, graph=inner, inner=False)
                elif inner is not None:
                    yield from self.idle(side, inner, line, target, depth + 1, under)
                elif not self._is_constant(side):
                    plain = (
                        under == "hinge"
                        or bool(under and side is expression.left)
                        or not isinstance(side, ast.Name)
                        or kind == "AddBackward0"
                    )
                    if plain or not under:
                        described = self._described(side, line, beside)
                        shut = self._shut_out(side, beside, line) if not under and kind == "AddBackward0" else None
                        if shut is not None and not described.lost:
                            described = described._replace(line=shut, file=self.file, cut=True, missed=True, lost=True)
                        elif not under and (kind == "AddBackward0" or isinstance(side, ast.BinOp)):
                            described = self._as_cut(described, side)
                        elif not under and (at := self._value_cut(side, line)) is not None:
                            described, plain = described._replace(line=at, value=None, cut=True, missed=True), True
                        yield described._replace(inner=under in SQUARED or not plain, beside=graph)

    def _has_not_run(self, value: ast.expr, path: str) -> bool:
        """Whether a sum or a product takes a name that is not bound, in a function whose names are known."""
        sides = (value.left, value.right) if isinstance(value, ast.BinOp) and path in self.variables else ()
        return any(isinstance(side, ast.Name) and side.id not in self.variables for side in sides)

    def _compared(self, call: ast.Call, node: Any) -> tuple[ast.expr, Any] | None:
        """What a criterion, a function or a module of any name, compares with something else, and its graph."""
        function = call.func
        if isinstance(function, ast.Call):  # nn.MSELoss()(residual, zeros)
            function = function.func
        criterion = type(called).__name__ if isinstance(called := self._object(function), nn.Module) else None
        chain = CRITERIA.get(criterion or ast.unparse(function).rpartition(".")[2], ())
        for kind in chain[:-1]:
            if type(node).__name__ == kind:
                node = node.next_functions[0][0]
        if not chain or type(node).__name__ != chain[-1]:
            return None
        graphs = [inner for inner, _ in node.next_functions[:2]]
        return next(((one, inner) for one, inner in zip(call.args, graphs, strict=False) if inner is not None), None)

    def _returned(self, call: ast.Call, node: Any, at: int, depth: int, under: str) -> Iterator[Idle]:
        """The same in what a function of the user's returns, as the `at`-th of several things."""
        for owner, called in self._candidates(call):
            function = _function(called)
            code = getattr(function, "__code__", None)
            if code is not None and places.kind_of(code.co_filename) == places.USER:
                owner = called if isinstance(called, nn.Module) else owner
                for one in self._returned_by(function, owner, node, at, depth, under):
                    found = self._as_given(one, function, call)
                    yield found if found.cut or found.graph is not None else found._replace(inner=True)

    def _candidates(self, call: ast.Call) -> Iterator[tuple[Any, Any]]:
        """What may have been called, and the object whose method it is: a loop may have gone over several."""
        holder = call.func.value if isinstance(call.func, ast.Attribute) else None
        owner = self._object(holder) if holder is not None else None
        yield owner, self._object(call.func)
        if isinstance(holder, ast.Name) and isinstance(call.func, ast.Attribute):
            loops = [one for one in source.own(self.scope) if isinstance(one, ast.For) and call in set(ast.walk(one))]
            over = [one.iter for one in loops if isinstance(one.target, ast.Name) and one.target.id == holder.id]
            others = self._object(over[-1]) if over else None
            for other in others[:MOST_LISTENERS] if isinstance(others, (list, tuple)) else ():
                if type(other) is not type(owner):
                    yield other, getattr(type(other), call.func.attr, None)

    def _returned_by(self, function: Any, owner: Any, node: Any, at: int, depth: int, under: str) -> Iterator[Idle]:
        code = function.__code__
        scope = source.function_at(code.co_filename, code.co_firstlineno)
        returns = [one for one in source.own(scope) if isinstance(one, ast.Return)] if scope is not None else []
        if scope is None or len(returns) != 1 or returns[0].value is None:
            return
        value = returns[0].value
        if isinstance(value, ast.Tuple):
            value = value.elts[at] if at < len(value.elts) else value
        names = dict(function.__globals__)
        if owner is not None and code.co_varnames[:1] == ("self",):
            names["self"] = owner
        there = _Reader(scope, code.co_filename, names, self.trains)
        yield from there.idle(value, node, returns[0].lineno + 1, "", depth + 1, under)

    def _as_given(self, idle: Idle, function: Any, call: ast.Call) -> Idle:
        """The same as it stands in this call, where the function makes it of nothing but one of its arguments: what
        that was computed by is to be read here."""
        code = function.__code__
        scope = source.function_at(code.co_filename, code.co_firstlineno)
        if idle.cut or idle.graph is not None or idle.product is not None or idle.file != code.co_filename:
            return idle
        if scope is None or any(isinstance(one, ast.Starred) for one in call.args):
            return idle
        names = list(code.co_varnames[: code.co_argcount + code.co_kwonlyargcount])
        given = dict(zip(names[names[:1] == ["self"] :], call.args, strict=False))
        given |= {one.arg: one.value for one in call.keywords if one.arg is not None}
        there = _Reader(scope, code.co_filename, function.__globals__, self.trains)
        text = ast.parse(idle.text, mode="eval").body
        used = {name for made in there._chain(text, idle.line + 1) for name in _alive(made.value)}
        sides = [given[name] for name in names if name in used and name in given and not self._is_number(given[name])]
        if len(sides) != 1:
            return idle
        found = self._described(sides[0], call.lineno, ast.copy_location(ast.Constant(0), call))
        return found._replace(inner=idle.inner or not found.cut, beside=idle.beside)

    def _object(self, expression: ast.expr) -> Any:
        return stands_for(expression, self.variables)

    def _chain(self, side: ast.expr, line: int) -> Iterator[source.Assigned]:
        """What an expression was computed by in this function, itself first."""
        yield source.Assigned(side, side.lineno, side.end_lineno or side.lineno, None, False)
        waiting = [(name, line) for name in _paths(side)]
        seen: set[str] = set()
        while waiting:
            name, before = waiting.pop()
            found = source.assigned(self.scope, name, before)
            if name not in seen and found is not None:
                seen.add(name)
                for each in (found, *source.put_into(self.scope, name, before)):
                    yield each
                    waiting += [(one, each.line) for one in _paths(each.value)]

    def _lost(self, side: ast.expr, beside: ast.expr, line: int) -> int | None:
        """Where something that the other summand is made of leaves its graph on the way into this one's loss."""
        alive = {name for made in self._chain(beside, line) for name in _alive(made.value)}
        return next((n for made in self._chain(side, line) for n in _given_detached(made.value, alive)), None)

    def _shut_out(self, side: ast.expr, beside: ast.expr, line: int) -> int | None:
        """Where this summand leaves the graph of what the other one is made of: a name for it without one, the same
        name later or another; where it is computed from that, or a network is asked about it, and no graph is kept."""
        used: dict[str, int] = {}
        for made in self._chain(beside, line):
            asked = {name for one in ast.walk(made.value) for name in self._asked(one)}  # what a network is given
            for name in _alive(made.value) - asked - {"self"}:
                used[name] = min(made.line, used.get(name, made.line))
        for made in self._chain(side, line):
            path = _detached(made.value)
            if made.value is not side and path in used and used[path] <= made.line:
                return made.line
            if made.without_grad and any(used.get(name, made.line) < made.line for name in _alive(made.value)):
                return made.line
            cuts = [made.value] if made.without_grad else filter(None, map(_cut_out, ast.walk(made.value)))
            if any(name in used for cut in cuts for one in ast.walk(cut) for name in self._asked(one)):
                return made.line
        return None

    def _asked(self, one: ast.AST) -> set[str]:
        """The names that a network is given here, with their graphs."""
        called = self._object(one.func) if isinstance(one, ast.Call) else None
        if (
            not isinstance(one, ast.Call)
            or not isinstance(called, nn.Module)
            or next(iter(called.parameters()), None) is None
        ):
            return set()
        return {path for each in one.args for path in _alive(each)}

    def _described(self, side: ast.expr, line: int, beside: ast.expr) -> Idle:
        names = _names(side)
        called = {name for one in ast.walk(side) if isinstance(one, ast.Call) for name in _names(one)}
        known = [name for name in names if isinstance(self.variables.get(name), (Tensor, float))]
        if len(known) > 1:  # a weight beside it comes from elsewhere
            known = [name for name in known if self._is_computed(name, line)] or known
        if len(known) > 1:
            known = [name for name in known if isinstance(self.variables[name], Tensor)] or known
        plain = len(known) == 1 and known[0] not in called
        held, local = self._held(side), self._set_here(side, line)
        if local is not None and not plain:
            held = None
        holders = {each.value for each in ast.walk(side) if isinstance(each, ast.Attribute)}
        bare = [one.id for one in ast.walk(side) if isinstance(one, ast.Name) and one not in holders]
        subject = "" if held else known[0] if plain else next((one[0] for one in (names, bare) if len(one) == 1), "")
        if local is not None and not plain:
            subject = local
        begun = source.assigned(self.scope, subject, line) if subject else None
        file = self.file
        if held is not None:
            file, begun = held.file, held.begun
        cut = begun is not None and (begun.without_grad or bool(LEAVES.search(ast.unparse(begun.value))))
        calls = [one for one in ast.walk(side) if isinstance(one, ast.Call)]
        calls += [begun.value] if begun is not None and isinstance(begun.value, ast.Call) else []
        cut = cut or any(map(self._has_no_graph, calls))
        inside = self._cut_inside(begun) if begun is not None and not cut else None
        chain = list(self._chain(side, line))
        made = tuple(range(one.line, one.end + 1) for one in chain)
        said = [(range(one.line, one.end + 1), one) for one in chain if one.without_grad or _says_constant(one.value)]
        meant = tuple(lines for lines, _ in said)
        result = tuple(lines for lines, one in said if one.without_grad or not _hands_on(one.value))
        value = _number(self.variables[known[0]]) if plain else None
        missed = held is not None or bool(said) or self._is_number(side) or any(map(self._may_miss, chain))
        at = begun.at if begun is not None else None
        penalty = next((place for one in calls if (place := self._penalty(one, at)) is not None), None)
        if penalty is not None:
            text = ast.unparse(side)
            return Idle(text, penalty.line, None, True, penalty.file, made, of_weights=True)
        if held is not None:
            value = _number(held.value)
        elif local is not None and not plain and isinstance(known_as := self._at(local), (Tensor, float)):
            value = _number(known_as)
        lost = None if held is not None else self._lost(side, beside, line)
        if lost is not None:
            return Idle(
                ast.unparse(side), lost, value, True, self.file, made, meant=meant, result_meant=result, lost=True
            )
        at = begun.line if begun else side.lineno
        cuts = [one for one in ast.walk(begun.value) if _cut_out(one) is not None] if begun is not None else []
        if len(cuts) == 1:
            at = getattr(cuts[0], "end_lineno", at)
        file = file if begun else self.file
        if inside is not None:
            file, at, cut = inside.file, inside.line, True
        frozen = frozenset(id(p) for one in chain for p in self._frozen(one))
        return Idle(
            ast.unparse(side),
            at,
            value,
            cut,
            file,
            made,
            meant=meant,
            result_meant=result,
            frozen=frozen,
            missed=missed,
        )

    def _cut_inside(self, begun: source.Assigned) -> Place | None:
        """Where a function of the user's takes what it returns for this name out of its graph, by that name's text."""
        call = begun.value if isinstance(begun.value, ast.Call) else None
        for there, value, line in self._reader_of(call, begun.at) if call is not None else ():
            made = source.assigned(there.scope, value.id, line) if isinstance(value, ast.Name) else None
            if made is not None and (made.without_grad or _says_constant(made.value)):
                return Place(there.file, made.line)
        return None

    def _is_computed(self, name: str, line: int) -> bool:
        """Whether this function computes what a name stands for, and does not take a number from somewhere."""
        found = source.assigned(self.scope, name, line)
        taken = (ast.Name, ast.Attribute, ast.Subscript, ast.Tuple, ast.Constant)
        return found is not None and not isinstance(found.value, taken)

    def _value_cut(self, side: ast.expr, line: int) -> int | None:
        """Where a value is cut that a trained module gave to something that has a graph, as a critic to an action: what
        made that something was to be trained by it. A density has no module, and what it compares may be a constant."""
        chain = list(self._chain(side, line))[:4]
        left = next((one for one in chain if one.without_grad or _says_constant(one.value)), None)
        inner = side if left is None else _inside_cut(left.value)
        if left is None or ((path := _path(inner)) and self._has_graph(self._at(path)) and self._lives(path)):
            return None
        for call in (one for made in chain for one in ast.walk(made.value) if self._is_trained(one)):
            given = [path for each in getattr(call, "args", ()) for path in _alive(each)]
            if any(self._has_graph(self._at(path)) for path in given):
                return left.line
        return None

    def _reader_of(self, call: ast.Call, at: int | None) -> Iterator[tuple[_Reader, ast.expr, int]]:
        """Who reads the functions of the user's that may be called here, with what each returns as the `at`-th."""
        candidates = [*self._candidates(call)]
        if isinstance(call.func, ast.Name) and candidates[0][1] is None:
            loops = [one for one in source.own(self.scope) if isinstance(one, ast.For) and call in set(ast.walk(one))]
            over = [one.iter for one in loops if call.func.id in _names(one.target)]
            others = self._object(over[-1]) if over else None
            kinds = {type(one): one for one in list(others)[:MOST_LISTENERS]} if isinstance(others, HOLDERS) else {}
            candidates = [(one, one) for one in kinds.values()]
        for owner, called in candidates:
            function = _function(called)
            code = getattr(function, "__code__", None)
            if function is None or code is None or places.kind_of(code.co_filename) != places.USER:
                continue
            scope = source.scope(code.co_filename, code.co_firstlineno + 1)
            returns = [one for one in source.own(scope) if isinstance(one, ast.Return)] if scope is not None else []
            if scope is None or len(returns) != 1 or returns[0].value is None:
                continue
            value, names = returns[0].value, dict(function.__globals__)
            if isinstance(value, ast.Tuple):
                value = value.elts[at] if at is not None and at < len(value.elts) else value
            asked = list(code.co_varnames[: code.co_argcount])
            if asked[:1] == ["self"]:
                names["self"] = called if isinstance(called, nn.Module) else owner
                del asked[0]
            given = [*zip(asked, call.args, strict=False), *((one.arg, one.value) for one in call.keywords if one.arg)]
            names |= dict.fromkeys(asked) | {name: self._weights(one) for name, one in given}
            yield _Reader(scope, code.co_filename, names, self.trains), value, returns[0].lineno + 1

    def _weights(self, expression: ast.expr) -> Any:
        """The module, or the parameters, that an expression stands for."""
        called = expression.func if isinstance(expression, ast.Call) else None
        if isinstance(called, ast.Attribute) and called.attr in ("parameters", "named_parameters"):
            owner = self._object(called.value)
            return list(getattr(owner, called.attr)()) if isinstance(owner, nn.Module) else None
        found = self._object(expression)
        return found if isinstance(found, (nn.Module, list, tuple)) else None

    def _penalty(self, call: ast.Call, at: int | None) -> Place | None:
        """Where a function of the user's takes trained weights out of their graphs for what it returns."""
        for there, value, line in self._reader_of(call, at):
            own = {name for target, over in _gone_over(there.scope) if there._train(over) for name in _names(target)}
            chain = list(there._chain(value, line))
            for cuts in (_cut_out, _copied) if own else ():
                for line, one in ((made.line, one) for made in chain for one in ast.walk(made.value)):
                    inner = cuts(one)
                    if inner is not None and any(
                        own & set(_names(each.value)) for each in there._chain(inner, line + 1)
                    ):
                        return Place(there.file, one.lineno)  # type: ignore[attr-defined]
        return None

    def _train(self, over: ast.expr) -> bool:
        """Whether a loop over this goes over parameters of which some are trained."""
        found = self._weights(over)
        each = [one[-1] if isinstance(one, tuple) and one else one for one in found or ()] if found is not None else []
        return any(isinstance(one, nn.Parameter) and one.requires_grad for one in each)

    def volumes(self, expression: ast.expr, line: int, depth: int = 0, at: int | None = None) -> Iterator[Idle]:
        """Changes of volume, as a flow adds them to its loss, that leave the graph of what makes the change: the log of
        what something is multiplied by, or what something is multiplied by the exponential of."""
        if depth > MOST_STEPS:
            return
        inner: list[ast.expr] = []
        if path := _path(expression):
            found = source.assigned(self.scope, path, line)
            if found is not None and (found.at is None or isinstance(found.value, ast.Call)):
                if cut := self._changes(found.value):
                    yield self._as_volume(found.value, cut)
                else:
                    yield from self.volumes(found.value, found.line, depth + 1, found.at)
            return
        if isinstance(expression, ast.UnaryOp):
            inner = [expression.operand]
        elif isinstance(expression, ast.BinOp):
            numbers = [self._is_number(one) for one in (expression.left, expression.right)]
            if isinstance(expression.op, (ast.Add, ast.Sub)) or any(numbers):
                inner = [
                    one for one, number in zip((expression.left, expression.right), numbers, strict=True) if not number
                ]
        elif isinstance(expression, ast.Call):
            function = expression.func
            if isinstance(function, ast.Attribute) and function.attr in ("mean", "sum"):
                plain = ast.unparse(function.value) in MODULES
                inner = expression.args[:1] if plain else [function.value]
            else:
                for there, value, end in self._reader_of(expression, at):
                    if cut := there._changes(value):
                        yield there._as_volume(value, cut)
                    else:
                        yield from there.volumes(value, end, depth + 1)
        for one in inner:
            yield from self.volumes(one, line, depth + 1)

    def _changes(self, value: ast.expr) -> ast.AST | None:
        """What a text takes out of its graph as the change of a volume, where the same function makes that change."""
        owner = self.variables.get("self")
        if not isinstance(owner, nn.Module) or not any(p.requires_grad for p in owner.parameters()):
            return None
        others = [
            one
            for one in source.own(self.scope)
            if isinstance(one, (ast.Assign, ast.Return))
            and one.value is not None
            and value not in set(ast.walk(one))
            or isinstance(one, ast.Return)
            and isinstance(one.value, ast.Tuple)
        ]
        for one in ast.walk(value):
            path = _detached(one)
            cut = _cut_out(one)
            path = path or (_path(cut) if cut is not None else "")
            if not path or (path.startswith("self.") and not self._has_graph(owner._parameters.get(path[5:]))):
                continue
            logs = [each for each in ast.walk(value) if _calls(each, LOGS) and one in set(ast.walk(each))]
            for other in others:
                if path not in _uncut(other):
                    continue
                kinds = [each for each in ast.walk(other) if path in _uncut(each)]
                scaled = any(isinstance(each, ast.BinOp) and isinstance(each.op, (ast.Mult, ast.Div)) for each in kinds)
                if (logs and scaled) or (not logs and any(_calls(each, ("exp",)) for each in kinds)):
                    return one
        return None

    def _as_volume(self, value: ast.expr, cut: Any) -> Idle:
        return Idle(ast.unparse(value), cut.lineno, None, True, self.file, ())

    def _set_here(self, side: ast.expr, line: int) -> str | None:
        """The one attribute in an expression, as `self.loss_gan`, that this function gives its value: it is followed as
        a name is. A tensor comes before the factors that it may stand beside."""
        if any(isinstance(one, ast.Call) for one in ast.walk(side)):
            return None
        found = [path for path in _paths(side) if "." in path and source.assigned(self.scope, path, line) is not None]
        tensors = [path for path in found if isinstance(self._at(path), Tensor)]
        return next((each[0] for each in (tensors, found) if len(each) == 1), None)

    def _at(self, path: str) -> Any:
        return self._object(ast.parse(path, mode="eval").body)

    def _as_cut(self, idle: Idle, side: ast.expr) -> Idle:
        """The same, where the summand itself takes out of its graph what has one, and nothing else uses that with it.

        A straight-through sum, `soft + (hard - soft).detach()`, uses it beside; what is to change the printed value
        alone is taken off again; and what had its own `backward()` has trained already.
        """
        calls: list[tuple[ast.Call, int | None]]
        calls = [(one, None) for one in ast.walk(side) if isinstance(one, ast.Call)]
        made = source.assigned(self.scope, path, side.lineno) if (path := _path(side)) else None
        if made is not None and isinstance(made.value, ast.Call):
            calls.append((made.value, made.at))
        for call, at in calls if not idle.lost else ():
            if (shut := self._shut_inside(call, at)) is not None:
                return idle._replace(line=shut.line, file=shut.file, value=None, cut=True, missed=True)
        for one in ast.walk(side):
            inner = _cut_out(one)
            if inner is None or any(isinstance(each, (ast.Sub, ast.USub)) for each in ast.walk(inner)):
                continue
            used = [path for path in dict.fromkeys(_paths(inner)) if self._has_graph(self._at(path))]
            trained = any(self._is_trained(each) or self._asks_trained(each) for each in ast.walk(inner))
            if any(map(self._lives, used)) or not (used or trained):
                continue
            return (
                idle
                if idle.lost
                else idle._replace(line=side.lineno, file=self.file, value=None, cut=True, missed=True)
            )
        given = [path for one in calls for each in one[0].args for path in _alive(each)]
        for path in dict.fromkeys(given if idle.value is None and not (idle.lost or idle.cut) else ()):
            made = source.assigned(self.scope, path, side.lineno)
            inner = _cut_out(made.value) if made is not None else None
            if made is not None and inner is not None and any(self._has_graph(self._at(one)) for one in _paths(inner)):
                return idle._replace(line=made.line, file=self.file, cut=True, missed=True)
        return idle

    def _shut_inside(self, call: ast.Call, at: int | None) -> Place | None:
        """Where a function of the user's uses what it is given with its graph under `no_grad()`, or takes it out of its
        graph, and nowhere else; `at` for the one of its results that counts."""
        for there, value, line in self._reader_of(call, at):
            asked = [one.arg for one in there.scope.args.args]  # type: ignore[attr-defined]
            given = [*zip(asked[asked[:1] == ["self"] :], call.args, strict=False)]
            given += [(one.arg, one.value) for one in call.keywords if one.arg]
            names = {name for name, one in given if (path := _path(one)) and self._has_graph(self._at(path))}
            users = [made for made in there._chain(value, line) if names & {*_names(made.value)}]
            if users and all(made.without_grad or not names & _uncut(made.value) for made in users):
                return Place(there.file, users[-1].line)
        return None

    def _has_graph(self, value: Any) -> bool:
        return isinstance(value, Tensor) and value.requires_grad

    def _is_trained(self, call: ast.AST) -> bool:
        """Whether this calls a module all of which is trained, or asks one for its parameters."""
        if not isinstance(call, ast.Call):
            return False
        asked = isinstance(call.func, ast.Attribute) and call.func.attr == "parameters"
        called = self._object(call.func.value if asked and isinstance(call.func, ast.Attribute) else call.func)
        own = [p.requires_grad for p in called.parameters()] if isinstance(called, nn.Module) else []
        return bool(own) and all(own)

    def _asks_trained(self, call: ast.AST) -> bool:
        """Whether this hands a module all of which is trained to a function of the user's, as `residual(model)`."""
        code = getattr(_function(self._object(call.func)), "__code__", None) if isinstance(call, ast.Call) else None
        if not isinstance(call, ast.Call) or code is None or places.kind_of(code.co_filename) != places.USER:
            return False
        given = [one for each in call.args if isinstance(one := self._object(each), nn.Module)]
        return any(own and all(own) for own in ([p.requires_grad for p in one.parameters()] for one in given))

    def _lives(self, path: str) -> bool:
        """Whether this function uses a name with its graph, other than to make it or to show it."""
        for one in source.own(self.scope):
            targets = one.targets if isinstance(one, ast.Assign) else [getattr(one, "target", None)]
            if not isinstance(one, ast.stmt) or hasattr(one, "body") or path in map(_path, filter(None, targets)):
                continue
            shown = isinstance(one, ast.Expr) and not re.search(r"backward|append|grad\(", ast.unparse(one))
            if not shown and path in _uncut(one):
                return True
        return False

    def _has_no_graph(self, call: ast.Call) -> bool:
        """Whether a decorator switches gradients off in what is called."""
        code = getattr(_function(self._object(call.func)), "__code__", None)
        if code is None or places.kind_of(code.co_filename) != places.USER:
            return False
        return source.switched_off(source.function_at(code.co_filename, code.co_firstlineno)) is not None

    def _frozen(self, made: source.Assigned) -> Iterator[nn.Parameter]:
        """The parameters of modules that an expression calls and all of which are frozen."""
        for one in ast.walk(made.value):
            called = self._object(one.func) if isinstance(one, ast.Call) else None
            own = list(called.parameters()) if isinstance(called, nn.Module) else []
            if not any(p.requires_grad for p in own):
                yield from own

    def _may_miss(self, made: source.Assigned) -> bool:
        """Whether an expression calls a module all of which is trained, or what leaves a graph by its text."""
        for called in (self._object(one.func) for one in ast.walk(made.value) if isinstance(one, ast.Call)):
            if isinstance(called, nn.Module) and (trained := [p.requires_grad for p in called.parameters()]):
                if all(trained):
                    return True
            code = getattr(_function(called), "__code__", None)
            if code is not None and places.kind_of(code.co_filename) == places.USER:
                if _function_leaves(code.co_filename, code.co_firstlineno + 1):
                    return True
        return False

    def _held(self, side: ast.expr) -> _Held | None:
        """The one tensor in an expression that an object holds, as `model.layer.balance`, besides settings."""
        found: list[_Held] = []
        for one in ast.walk(side):
            if isinstance(one, ast.Attribute) and isinstance(value := self._object(one), Tensor):
                kind = type(self._object(one.value))
                file = getattr(getattr(kind, "forward", None), "__code__", None)
                own = source.held(file.co_filename, kind.__name__, one.attr) if file is not None else None
                found.append(_Held(value, file.co_filename if file is not None else self.file, own))
        return found[0] if len(found) == 1 and not any(isinstance(one, ast.Call) for one in ast.walk(side)) else None

    def _begins_empty(self, name: str, line: int) -> bool:
        """Whether a name seems to be a number, or zeros, before a line that adds to it."""
        found = source.assigned(self.scope, name, line)
        return found is None or isinstance(found.value, ast.Constant) or bool(_MADE.search(ast.unparse(found.value)))

    def _is_number(self, expression: ast.expr) -> bool:
        """Whether it certainly is a number and no tensor."""
        if isinstance(expression, ast.Name):
            return isinstance(self.variables.get(expression.id), (int, float))
        if isinstance(expression, ast.UnaryOp):
            return self._is_number(expression.operand)
        if isinstance(expression, ast.BinOp):
            return self._is_number(expression.left) and self._is_number(expression.right)
        if isinstance(expression, ast.Attribute) and self._has_graph(self._object(expression)):
            return False  # self.loss is a loss; without a graph it may be a setting that was made a tensor
        return isinstance(expression, (ast.Constant, ast.Attribute, ast.Subscript))

    def _gives_number(self, expression: ast.expr) -> bool:
        """Whether it is a number and no tensor, or asks a tensor for its number."""
        if isinstance(expression, ast.BinOp):
            return self._gives_number(expression.left) and self._gives_number(expression.right)
        if isinstance(expression, ast.Call):
            called = expression.func
            name = called.attr if isinstance(called, ast.Attribute) else getattr(called, "id", "")
            return name == ("item" if isinstance(called, ast.Attribute) else "float")
        return self._is_number(expression)

    def _is_constant(self, expression: ast.expr) -> bool:
        """Whether it is a number as settings are, or the empty start of a sum."""
        if isinstance(expression, ast.Attribute) and isinstance(self._object(expression), Tensor):
            # What another function keeps may be a running mean; what this one computes is followed.
            return source.assigned(self.scope, ast.unparse(expression), sys.maxsize) is None
        whole = isinstance(expression, ast.Name) and isinstance(self.variables.get(expression.id), int)
        return whole or (self._is_number(expression) and not isinstance(expression, (ast.Name, ast.BinOp)))
