"""How a loss was put together, its graph and its text side by side: the graph alone does not name what is missing.

Looked at for the first passes of a line. Local variables are read where the text names them; none is kept.
"""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from types import FrameType
from typing import Any, NamedTuple

from torch import Tensor

from gradient_ledger import source
from gradient_ledger.events import Place, Trail

SUMS = {ast.Add: "AddBackward0", ast.Sub: "SubBackward0"}
_MADE = re.compile(r"(\b|_)(zeros?|zeros_like|tensor|empty|full|float|int|sum)\(")
"""What a sum starts from when it starts from nothing."""

PRODUCTS = {ast.Mult: "MulBackward0", ast.Div: "DivBackward0"}


class Idle(NamedTuple):
    """A summand of a loss that has no graph: it moves nothing."""

    text: str
    line: int
    """Where it got its value: the assignment, or the sum itself."""
    value: float | None
    """None where the text does not tell which variable it is."""
    made: tuple[range, ...]
    """The lines of the same function that it was computed on."""


def idle_summand(frame: FrameType | None, node: Any) -> Idle | None:
    """The first summand without a graph in the loss that this frame's `backward()` begins at."""
    if frame is None or {"locals", "vars", "eval", "exec"} & set(frame.f_code.co_names):
        return None
    scope = source.scope(frame.f_code.co_filename, frame.f_lineno)
    call = next(_calls_of_backward(scope, frame.f_lineno), None) if scope is not None else None
    if scope is None or call is None:
        return None
    with _variables(frame) as variables:
        reader = _Reader(scope, variables)
        loss = call.func.value  # type: ignore[attr-defined]
        if call.args and not isinstance(reader.value(loss), Tensor):
            loss = call.args[0]  # accelerator.backward(loss), torch.autograd.backward(loss)
        return next(reader.idle(loss, node, call.lineno), None)


def stems_from(idle: Idle, file: str, trails: Iterable[Trail]) -> Place | None:
    """The innermost line of a call that this summand was computed with."""
    for trail in trails:
        if any(name == file and any(line in lines for lines in idle.made) for name, line in trail):
            return Place(*trail[0])
    return None


@contextmanager
def _variables(frame: FrameType) -> Any:
    """What a frame's names stand for. The copy that Python makes of a function's variables is emptied again."""
    own = frame.f_locals
    try:
        yield {**frame.f_globals, **own}
    finally:
        if sys.version_info < (3, 13) and own is not frame.f_globals:
            own.clear()


def _calls_of_backward(scope: ast.AST, line: int) -> Iterator[ast.Call]:
    for one in ast.walk(scope):
        if isinstance(one, ast.Call) and isinstance(one.func, ast.Attribute) and one.func.attr == "backward":
            if one.lineno <= line <= (one.end_lineno or 0):
                yield one


def _names(expression: ast.expr) -> list[str]:
    return [one.id for one in ast.walk(expression) if isinstance(one, ast.Name)]


def _number(value: Tensor | float) -> float | None:
    """What a number or a tensor of one entry is worth, where asking does not make a GPU wait."""
    if isinstance(value, float):
        return value
    alone = value.numel() == 1 and value.device.type == "cpu" and not value.requires_grad
    return float(value) if alone else None


class _Reader:
    """Reads one function, as far as a line of it."""

    def __init__(self, scope: ast.AST, variables: Mapping[str, Any]):
        self.scope, self.variables = scope, variables

    def value(self, expression: ast.expr) -> Any:
        return self.variables.get(expression.id) if isinstance(expression, ast.Name) else None

    def idle(self, expression: ast.expr, node: Any, line: int, target: str = "", depth: int = 0) -> Iterator[Idle]:
        """Summands without a graph in an expression, assigned to `target`, whose graph ends in `node`."""
        kind = type(node).__name__
        if node is None or depth > 12:
            return
        if isinstance(expression, ast.Name):
            found = source.assigned(self.scope, expression.id, line)
            if found is not None:
                yield from self.idle(found.value, node, found.line, expression.id, depth + 1)
        elif isinstance(expression, ast.Call):
            scaled = isinstance(expression.func, ast.Attribute) and expression.func.attr == "scale"
            if scaled and len(expression.args) == 1 and kind == "MulBackward0":
                yield from self.idle(expression.args[0], node.next_functions[0][0], line, "", depth + 1)
        elif isinstance(expression, ast.BinOp) and PRODUCTS.get(type(expression.op)) == kind:  # type: ignore[call-overload]
            graphs = [inner for inner, _ in node.next_functions if inner is not None]
            sides = [side for side in (expression.left, expression.right) if not self._is_number(side)]
            if len(graphs) == len(sides) == 1:
                yield from self.idle(sides[0], graphs[0], line, target, depth + 1)
        elif isinstance(expression, ast.BinOp) and SUMS.get(type(expression.op)) == kind:  # type: ignore[call-overload]
            (left, _), (right, _) = node.next_functions
            own = any(_names(one) == [target] for one in (expression.left, expression.right))
            if own and (left is None or (right is None and self._begins_empty(target, line))):
                return  # a running sum, whose first term was a number or a tensor of zeros
            if right is None and self._is_number(expression.left):
                left, right = right, left  # Python hands the sum of a number and a tensor to the tensor
            for side, inner in ((expression.left, left), (expression.right, right)):
                if inner is not None:
                    yield from self.idle(side, inner, line, target, depth + 1)
                elif not self._is_constant(side) and not (isinstance(side, ast.Name) and kind == "SubBackward0"):
                    # what is subtracted as it is may be a baseline, or what a teacher reaches
                    yield self._described(side, line)

    def _described(self, side: ast.expr, line: int) -> Idle:
        names = _names(side)
        known = [name for name in names if isinstance(self.variables.get(name), (Tensor, float))]
        plain = len(known) == 1 and not any(isinstance(one, ast.Call) for one in ast.walk(side))
        begun = source.assigned(self.scope, known[0], line) if plain else None
        made = [range(side.lineno, (side.end_lineno or side.lineno) + 1)]
        waiting = [(name, line) for name in names]
        seen: set[str] = set()
        while waiting:
            name, before = waiting.pop()
            found = source.assigned(self.scope, name, before)
            if name not in seen and found is not None:
                seen.add(name)
                made.append(range(found.line, found.end + 1))
                waiting += [(one, found.line) for one in _names(found.value)]
        value = _number(self.variables[known[0]]) if plain else None
        return Idle(ast.unparse(side), begun.line if begun else side.lineno, value, tuple(made))

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
        return isinstance(expression, (ast.Constant, ast.Attribute, ast.Subscript))

    def _is_constant(self, expression: ast.expr) -> bool:
        """Whether it is a number as settings are, or the empty start of a sum."""
        whole = isinstance(expression, ast.Name) and isinstance(self.variables.get(expression.id), int)
        return whole or (self._is_number(expression) and not isinstance(expression, (ast.Name, ast.BinOp)))
