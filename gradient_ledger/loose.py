"""Tensors that a loss trains and no optimizer holds: weights of losses, temperatures, and whatever else is no model's.

They have no account, for most leaves of a graph are inputs. So they are looked at in passes 1, 2, 4, 8, … of a line,
and the versions of their gradients tell whether anybody has cleared them in between.
"""

from __future__ import annotations

import re
import weakref
from collections.abc import Iterable, Iterator
from types import FrameType, ModuleType
from typing import Any

from torch import Tensor, nn

from gradient_ledger import compared, graph, losses, places, source
from gradient_ledger.account import grad_of
from gradient_ledger.events import FreshLeaf, LooseLeaf, Place, Trail
from gradient_ledger.progress import Pass
from gradient_ledger.state import State
from gradient_ledger.tensors import fingerprint, hooks_on

LARGEST = 1024
"""Entries of a tensor that is looked at."""
MOST = 1024
"""Leaves that are remembered before those are sought out that are gone."""
LEAST_LOOKS, LEAST_STEPS = 4, 4
"""Looks, and steps between the first and the last of them, after which a leaf counts."""
LATER = graph.BY_ENTRY | graph.TURNS | graph.LIKELIHOODS | compared.LOSSES | compared.CHOICES
LATER |= {f"{name}Backward0" for name in "Sigmoid Softplus Tanh Sqrt Log1P Softmax Relu Abs Square LogSigmoid".split()}
"""What may lie between a loss and a weight of it that stands behind the last layer."""
DATA = compared.LOSSES | {f"{name}Backward0" for name in "Sub Slice Index IndexSelect Gather".split()}
"""What takes a target as it is."""


class Loose:
    """One such leaf, and what is known of it."""

    __slots__ = (
        "attribute",
        "begun",
        "counted",
        "grown",
        "lines",
        "looks",
        "name",
        "out",
        "place",
        "print",
        "ref",
        "steps",
        "version",
    )

    def __init__(self, leaf: Tensor, place: Place | None, steps: int):
        self.ref = weakref.ref(leaf)
        self.version, self.print = leaf._version, fingerprint(leaf)
        self.place = place
        """The line of the backward pass."""
        self.begun, self.steps = steps, steps
        """The steps before the first look, and before the last."""
        self.lines: set[Trail] = set()
        self.counted: tuple[int, int] | None = None
        """The version of its gradient, and the passes of these lines, when we last looked."""
        self.looks, self.grown = 0, 0
        """Looks, and the passes between them that have added to its gradient."""
        self.name = ""
        self.attribute = ""
        """The plain attribute of a module that holds it, by its own name."""
        self.out = False
        """Whether somebody trains it, uses its gradient or clears it, or that is not certain."""


class Fresh:
    """The losses of a line that hold a leaf made for each of them: it ends the graph of what it is made of."""

    __slots__ = ("last", "looks", "out", "place")

    def __init__(self, place: Place | None):
        self.place = place
        self.looks, self.out = 0, False
        """Looks that found such a leaf, and whether any found none, or one that was there before."""
        self.last: list[Loose] = []
        """Those of the last look."""


def look(state: State, node: Any, one: Pass, frame: FrameType) -> None:
    """Look for such leaves of a loss, before it goes backward."""
    line = one.deposit.trail
    new: list[Loose] = []
    attributes = _attributes(state, node)
    leaves = [leaf for leaf in _weights_of(node) if leaf.numel() <= LARGEST and id(leaf) not in attributes]
    for leaf in (*leaves, *(leaf for leaf, _, _ in attributes.values())):
        if not leaf.numel():
            continue
        known = state.loose.get(id(leaf))
        if known is None or known.ref() is not leaf:
            known = state.loose[id(leaf)] = Loose(leaf, one.draft.place, state.progress.steps)
            if known.print != 0.0 and state.books.find(leaf) is None and not hooks_on(leaf):
                new.append(known)  # zeros are where a sum begins
        if not known.out:
            _look_at(state, known, leaf, line)
            if id(leaf) in attributes:
                _, known.name, known.attribute = attributes[id(leaf)]
            known.name = known.name or _name_of(leaf, frame)
    fresh = state.fresh.get(line)
    if fresh is None and new:
        fresh = state.fresh[line] = Fresh(one.draft.place)
    if fresh is not None:
        fresh.out = fresh.out or not new or any(known.out for known in fresh.last)
        fresh.looks, fresh.last = fresh.looks + 1, new


def _look_at(state: State, known: Loose, leaf: Tensor, line: Trail) -> None:
    grad = grad_of(leaf)
    cleared = known.looks > 0 and grad is None
    if _is_changed(known, leaf) or cleared or hooks_on(leaf) or state.books.find(leaf) is not None:
        known.out = True
        return
    is_new = line not in known.lines
    known.lines.add(line)
    passes = sum(state.budget.count(("losses", each)) for each in known.lines) - 1
    before, known.counted = known.counted, (grad._version, passes) if grad is not None else None
    if before is not None and grad is not None and not is_new:
        grown = passes - before[1]
        known.out = grad._version - before[0] != grown
        known.grown += grown
    known.looks += 1
    known.steps = state.progress.steps


def _attributes(state: State, node: Any) -> dict[int, tuple[Tensor, str, str]]:
    """By `id`, the leaves of a loss that modules hold as plain attributes, each with its full name and its own."""
    held = {}
    for entry in state.books.modules.values():
        part = entry.ref()
        for name, path, value in _held_by(part) if part is not None else ():
            if value.requires_grad and value.is_leaf and state.books.find(value) is None:
                held[id(value)] = value, f"{type(part).__name__}.{path}", name
    reached = graph.uses(node) if held else {}
    return {key: one for key, one in held.items() if key in reached}


def _held_by(part: nn.Module) -> Iterator[tuple[str, str, Tensor]]:
    """The tensors that a module has as plain attributes, and the parameters in plain dicts and lists of its own: by
    which attribute, and by what name."""
    for name, value in tuple(vars(part).items()):
        if isinstance(value, Tensor):
            yield name, name, value
        elif isinstance(value, (dict, list, tuple)) and not name.startswith("_") and len(value) <= MOST:
            pairs = value.items() if isinstance(value, dict) else enumerate(value)
            yield from ((name, f"{name}[{key!r}]", one) for key, one in pairs if isinstance(one, nn.Parameter))


def _is_changed(known: Loose, leaf: Tensor) -> bool:
    return leaf._version != known.version or fingerprint(leaf) != known.print


def _weights_of(node: Any) -> list[Tensor]:
    """The leaves that a loss reaches behind the last layer alone, without those that are only compared with something:
    these are targets."""
    found: dict[int, Tensor] = {}
    ends = []
    for one in graph.by_entry(node, LATER):
        if type(one).__name__ in LATER:
            leaves = [getattr(inner, "variable", None) for inner, _ in one.next_functions]
            found |= {id(leaf): leaf for leaf in leaves if leaf is not None and type(one).__name__ not in DATA}
        elif not hasattr(one, "variable"):
            ends.append(one)
    behind = compared.leaves(ends) if found else set()
    return [leaf for key, leaf in found.items() if key not in behind]


def used(state: State, leaves: Iterable[Any]) -> None:
    """`torch.autograd.grad` is asked for the gradients of these."""
    for leaf in leaves:
        known = state.loose.get(id(leaf))
        if known is not None:
            known.out = True


def written(state: State, leaf: Tensor, value: Tensor | None) -> None:
    """The user's code sets or deletes the gradient of a tensor that has no account, and may keep what it sets."""
    known = state.loose.get(id(leaf))
    if known is not None and known.ref() is leaf:
        known.out = True
    elif value is not None and leaf.numel() <= LARGEST:
        if len(state.loose) >= MOST:
            state.loose = {key: one for key, one in state.loose.items() if one.ref() is not None}
        if len(state.loose) < MOST:
            state.loose[id(leaf)] = known = Loose(leaf, None, state.progress.steps)
            known.out = True


def _name_of(leaf: Tensor, frame: FrameType | None) -> str:
    """What the user's code calls a tensor: a variable, or an attribute of one."""
    inner = places.user_frame(frame)
    for _ in range(3):
        if inner is None:
            break
        with losses.names_in(inner) as held:
            names = _names(leaf, held)
            found = next(names, "")
        if found:
            return found
        inner = places.user_frame(inner.f_back)
    return ""


def _names(leaf: Tensor, held: dict[str, Any]) -> Iterator[str]:
    yield from (name for name, value in held.items() if value is leaf)
    for name, value in held.items():
        try:
            own = vars(value) if not isinstance(value, (type, ModuleType)) else None
        except Exception:  # it has none, or is a stand-in for something that cannot be asked now
            continue
        if isinstance(own, dict):
            within = {**own, **own["_parameters"]} if isinstance(own.get("_parameters"), dict) else own
            yield from (f"{name}.{each}" for each, thing in within.items() if thing is leaf)


def made_anew(state: State) -> tuple[FreshLeaf, ...]:
    """The losses that begin with a leaf of their own each time, where nobody uses its gradient."""
    told = []
    for one in state.fresh.values():
        if one.out or one.looks < LEAST_LOOKS or any(known.out for known in one.last):
            continue
        made = source.only_line(state.journal.files(), r"requires_grad\s*=\s*True|\.requires_grad_\(\s*(True)?\s*\)")
        told.append(FreshLeaf(one.place, made, one.looks))
    return tuple(told)


def found(state: State) -> tuple[LooseLeaf, ...]:
    """Those of which it is certain that nobody trains them."""
    told = []
    for known in state.loose.values():
        leaf = known.ref()
        enough = known.looks >= LEAST_LOOKS and known.grown > 1 and known.steps - known.begun >= LEAST_STEPS
        if known.out or not enough:
            continue
        if leaf is not None and (_is_changed(known, leaf) or state.books.find(leaf) is not None):
            continue
        files, made = state.journal.files(), None
        if known.attribute:
            made = source.only_line(files, rf"\bself\.{re.escape(known.attribute)}\s*(:[^=]+)?=(?!=)")
        told.append(LooseLeaf(known.name, known.place, known.grown, bool(known.attribute), made))
    return tuple(told)
