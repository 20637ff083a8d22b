"""Sums of losses of which a part goes backward and the rest never does: the total is computed, and only shown."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import lru_cache
from types import FrameType
from typing import Any

from torch import Tensor

from gradient_ledger import graph, losses, places, source
from gradient_ledger.progress import Pass
from gradient_ledger.state import State


def goes(state: State, node: Any) -> None:
    """A loss goes backward: it may be the rest of a sum of which another part did."""
    part = graph.without_factors(node)
    part.metadata[f"{state.mark} went"] = True
    for summand in {part, *graph.summands(part)}:
        for draft in summand.metadata.pop(f"{state.mark} rest", ()):
            draft.fields["part_of"] = ""


def look(state: State, node: Any, one: Pass, frame: FrameType | None) -> None:
    """Of which sum that the user's code has at hand this loss is a part, while no other part has gone backward."""
    one.draft.fields["part_of"] = ""
    for name, beside in _totals(graph.without_factors(node), frame):
        trained = [each for each in beside if _trains(state, each)]
        if trained and not any(f"{state.mark} went" in each.metadata for each in beside):
            one.draft.fields["part_of"] = name
            for each in trained:
                each.metadata.setdefault(f"{state.mark} rest", []).append(one.draft)
            return


def _totals(part: Any, frame: FrameType | None) -> Iterator[tuple[str, list[Any]]]:
    """The sums with this summand that a frame knows, or the object whose method it runs, and their other summands; none
    that its function says goes backward itself."""
    frame = places.user_frame(frame)
    if frame is None or not losses.may_be_read(frame):
        return
    with losses.names_in(frame) as variables:
        own = getattr(variables.get("self"), "__dict__", {})
        known = {**{f"self.{name}": value for name, value in own.items()}, **variables}
    said = _said_backward(frame.f_code.co_filename, frame.f_lineno)
    for name, value in known.items():
        if isinstance(value, Tensor) and value.dim() == 0 and type(value.grad_fn).__name__ == "AddBackward0":
            summands = [graph.without_factors(one) for one in graph.summands(value.grad_fn)]
            if part in summands and not re.search(rf"(?<![\w.]){name}\b", said):
                yield name, [one for one in summands if one is not part]


@lru_cache(maxsize=256)
def _said_backward(file: str, line: int) -> str:
    """All calls of a `backward()` in the function around a line."""
    within = source.scope(file, line)
    calls = [one for one in source.own(within) if isinstance(one, ast.Call)] if within is not None else []
    return "; ".join(ast.unparse(one) for one in calls if source.last_name(one.func) == "backward")


def _trains(state: State, node: Any) -> bool:
    """Whether a summand reaches something that an optimizer holds."""
    known = state.books.by_id
    return any(leaf in known and known[leaf].owned and known[leaf].trains for leaf in graph.uses(node))
