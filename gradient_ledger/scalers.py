"""Gradient scalers: what they multiply and divide, and what becomes of their scale between a pass and its step."""

from __future__ import annotations

import linecache
import re
from collections.abc import Iterable
from types import FrameType
from typing import Any

import torch
from torch import Tensor

from gradient_ledger import graph, places
from gradient_ledger.account import FRESH
from gradient_ledger.books import living
from gradient_ledger.budget import SAMPLES
from gradient_ledger.events import Place, ScalerUpdate, Unscale
from gradient_ledger.gradients import settle
from gradient_ledger.journal import Draft
from gradient_ledger.progress import MOST_CHANGES, ScaleChange, Scaler
from gradient_ledger.state import State
from gradient_ledger.tensors import digest_of, number_of, scale_of

_READS_SCALE = re.compile(r"get_scale\(|\._?scale\b(?!\()|inv_scale|unscale")
"""Text that takes a scale to compute with, or takes one off."""
_HANDS_ON = re.compile(r"update\([^()]*get_scale\(\)\s*\)")
"""A scaler that is given its own scale."""


def reads_scale(files: Iterable[str]) -> bool:
    """Whether a line of these texts may take the scale off a gradient by hand."""
    lines = (line for file in files for line in linecache.getlines(file))
    return any(_READS_SCALE.search(_HANDS_ON.sub("", line)) for line in lines)


def loss_scaled(state: State, scaler: Any, given: Any, result: Any, frame: FrameType) -> None:
    """A gradient scaler has scaled a loss."""
    some_before, state.progress.scaling = state.progress.scaling, True
    state.progress.scalers.setdefault(scaler, Scaler())
    looks = some_before and state.budget.may_look(("scaled", places.site(frame)), SAMPLES)
    several = isinstance(given, (list, tuple)) and isinstance(result, (list, tuple))  # else it may be an iterator
    for loss, one in zip(given, result, strict=False) if several else ((given, result),):
        if isinstance(one, Tensor) and one.grad_fn is not None:
            node: Any = one.grad_fn
            node.metadata[state.mark] = True
            if looks and isinstance(loss, Tensor) and _is_scaled_again(state, loss.grad_fn, scaler):
                node.metadata[f"{state.mark} twice"] = places.user_place(frame)


def _is_scaled_again(state: State, node: Any, scaler: Any) -> bool:
    """Whether a loss, or a summand of it, was scaled before, and nothing has taken that off since."""
    factors = graph.factors_to(node, state.mark)
    scale = scale_of(scaler) if factors else None
    return any(scale is not None and scale > 1 and not 0.5 < abs(factor) * scale < 2 for factor in factors)


def scaled_by(state: State, node: Any) -> Any:
    """The product with a scaler's scale that a loss comes from: its graph is looked at near its end."""
    waiting = [node]
    for _ in range(24):
        if not waiting:
            return None
        one = waiting.pop(0)
        if one is None:
            continue
        if state.mark in one.metadata:
            return one
        waiting += [inner for inner, _ in one.next_functions]
    return None


def scaled_by_hand(state: State, node: Any) -> bool:
    """Whether a loss is a product with the very scale that a scaler has now, as `scaler.get_scale() * loss` is."""
    factor = number_of(graph.saved(node, "other")) if type(node).__name__ == "MulBackward0" else None
    if factor is None or factor <= 1:
        return False
    return any(scale_of(scaler) == factor for scaler in list(state.progress.scalers))


MOST = 64
"""Summands of a loss that are looked at: a discriminator may give many."""


def part_unscaled(state: State, node: Any) -> bool:
    """Whether a loss is a sum of what a scaler has scaled and of something that no scaler has, nor a product with a
    number that may be the scale."""
    parts = graph.summands(node, MOST)
    scaled = [scaled_by(state, one) is not None for one in parts]
    bare = [one for one, by_scaler in zip(parts, scaled, strict=True) if not by_scaler]
    by_hand = [one for one in bare if abs(number_of(graph.saved(one, "other")) or 0.0) > 1]
    return any(scaled) and len(bare) > len(by_hand)


def scaled_twice(state: State, node: Any) -> Place | None:
    """Where what `scaled_by` gave was scaled a second time."""
    found: Place | None = node.metadata.get(f"{state.mark} twice") if node is not None else None
    return found


def unscaled(state: State, optimizer: Any, frame: FrameType) -> None:
    """`scaler.unscale_(optimizer)` has run."""
    if not state.knows(optimizer):
        return
    entry = state.optimizer(optimizer)
    for account in entry.accounts:
        settle(state, account)
    fresh = [account for account in entry.accounts if account.status == FRESH]
    draft = state.emit(
        Unscale,
        places.user_place(frame),
        fresh,
        optimizer=entry.number,
    )
    draft.window = entry.steps


def unscaling_ends(state: State, optimizer: Any) -> None:
    """`scaler.unscale_(optimizer)` has returned: it divides gradients without a trace in their version."""
    if not state.digests or not state.knows(optimizer):
        return
    for account in state.optimizer(optimizer).accounts:
        grad = account.grad
        if grad is not None and account.status == FRESH:
            account.digest = digest_of(grad)


def scale_now(state: State, scaler: Any) -> Scaler:
    """A scaler, with its scale as it is now."""
    known = state.progress.scalers.setdefault(scaler, Scaler())
    known.scale = state.progress.scale = scale_of(scaler)
    return known


def updated(state: State, scaler: Any, frame: FrameType) -> None:
    """A gradient scaler has updated its scale."""
    known, place = state.progress.scalers.get(scaler), places.user_place(frame)
    before = known.scale if known is not None else None
    known = scale_now(state, scaler)
    known.changes.append(ScaleChange(state.progress.pass_number, before, place))
    state.emit(ScalerUpdate, place, (), before=before, after=known.scale)


def note_updates(scaler: Scaler, draft: Draft) -> None:
    """Whether a scaler was updated between the passes that a step uses and the step, and what that did to the scale."""
    passes = draft.fields["pass_numbers"]
    since = [one for one in scaler.changes if passes and one.passes >= passes[0]]
    if since and len(since) < MOST_CHANGES:
        before, now = since[0].before, scaler.scale
        draft.fields["updated_at"] = since[0].place
        if before and now and before != now:
            draft.fields["rescaled"] = before / now


def is_idle() -> bool:
    """Whether there is a gradient scaler that is switched on and was never used, and no other."""
    there = [one for one in living(torch.amp.GradScaler) if one.is_enabled()]
    return bool(there) and all(one._scale is None for one in there)
