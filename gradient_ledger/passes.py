"""Backward passes, and what each of them adds to which gradient."""

from __future__ import annotations

import math
import sys
import threading
import weakref
from collections.abc import Iterable, Mapping
from functools import partial
from types import FrameType
from typing import Any

import torch
from torch import Tensor

from gradient_ledger import clocks, divisions, graph, lossfacts, midway, opposed, piled, places, scalers, source
from gradient_ledger.account import EMPTY, FRESH, Account, Deposit, grad_of
from gradient_ledger.books import living
from gradient_ledger.budget import SAMPLES
from gradient_ledger.compiled import any_graph, ran_in_graphs, run_as_it_is
from gradient_ledger.events import Backward, Edit, Place, Trail
from gradient_ledger.gradients import book_deposit, changed_by_hook, current_pass, flush, look_at_inputs, settle_all
from gradient_ledger.progress import IN_RHYTHM, Pass, task_id
from gradient_ledger.state import State
from gradient_ledger.tensors import address, changing_print, digest_of, fingerprint, seems_finite

CALLS_KEPT = 16
"""Calls of `torch.autograd.grad` between two backwards that are looked at."""


def backward_begins(state: State, roots: Any, gradient: Any, retain: bool, frame: FrameType) -> Pass | None:
    """`backward` was called. None for one inside another, as reentrant checkpoints do."""
    if task_id() != -1:
        return None
    if state.rhythm is not None and state.rhythm.backward_begins(roots, gradient, retain, frame):
        return IN_RHYTHM
    settle_all(state)
    state.journal.close_groups()
    if not state.books.accounts and not state.own_only and state.budget.may_look("optimizers", 2):
        # No module has run and no optimizer has acted: plain tensors, in optimizers from before the ledger.
        for optimizer in living(torch.optim.Optimizer):
            if "param_groups" in vars(optimizer):
                state.optimizer(optimizer)
    if state.listening < len(state.books.accounts):
        state.hook_up()
    clocks.pass_begins(state, frame)
    if state.inputs:
        look_at_inputs(state)
    several = isinstance(roots, (list, tuple))
    first = roots[0] if several and roots else roots
    node = getattr(first, "grad_fn", None) or getattr(first, "node", None)
    by_scaler = scalers.scaled_by(state, node) if state.progress.scaling else None
    by_hand = by_scaler is None and state.progress.scaling and scalers.scaled_by_hand(state, node)
    scaled = by_scaler is not None or by_hand
    one = open_pass(
        state,
        frame,
        scaled,
        isinstance(first, Tensor) and gradient is None and is_doubtful(first),
        retain_graph=retain,
        gradient=gradient is not None,
        by_itself=gradient is not None and is_itself(first, gradient),
        **graph.describe(node, scaled),
    )
    fields = one.draft.fields
    if by_scaler is not None:
        fields["scaled_twice"] = scalers.scaled_twice(state, by_scaler)
        fields["part_unscaled"] = by_scaler is not node and scalers.part_unscaled(state, node)
    if node is not None and gradient is None and not (several and len(roots) > 1):
        lossfacts.look(state, node, scaled, one, frame, first)
    look_at_forwards(state, roots if several else (roots,), one)
    if state.midway:
        midway.backward_begins(state, roots if several else (roots,), one)
    if state.unseen is not None:
        state.unseen.backward_begins(roots if several else (roots,), one.deposit.number)
    if node is not None and any_graph() and state.budget.may_look("graphs", 256):
        note_graphs(state, node, one.draft.place)
    for root in state.books.roots:
        if root.kind == "ddp" and (module := root.ref()) is not None:
            fields["sync"] = bool(module.require_backward_grad_sync)
    state.retains = state.retains or retain
    if state.retains and node is not None:
        one.sum = graph.without_factors(node)._sequence_nr()
    if retain and node is not None and gradient is None:
        fields["same_root"] = node.metadata.get(f"{state.mark} root")
        node.metadata[f"{state.mark} root"] = one.deposit.number
        watch_again(state, graph.without_scale(node, scaled), one)
        look_for_outlived(state, node, one)
        opposed.listen(state, node, one)
    return one


def open_pass(state: State, frame: FrameType, scaled: bool, doubtful: bool = False, **fields: Any) -> Pass:
    """Begin the event of a backward pass, and the pass itself."""
    return open_pass_at(state, *places.place_and_trail(frame), scaled, doubtful, fields)


def open_pass_at(
    state: State, place: Place | None, trail: Trail, scaled: bool, doubtful: bool, fields: dict[str, Any]
) -> Pass:
    """The same for a pass whose line is known."""
    progress = state.progress
    if progress.pass_number & (progress.pass_number - 1) == 0:  # before passes 1, 2, 3, 5, 9, …
        state.books.look_at_groups()
    progress.pass_number += 1
    number = progress.pass_number
    draft = state.emit(Backward, place, (), pass_number=number, scaled=scaled, **fields)
    deposit = Deposit(number, place, trail, progress.steps, scaled, doubtful)
    one = Pass(deposit, draft, threading.get_ident())
    progress.passes.append(one)
    progress.last = one
    return one


def is_itself(loss: Any, gradient: Any) -> bool:
    """Whether a loss of one number is handed over as its own gradient, `detach()`ed or not, or a multiple of it."""
    given = gradient[0] if isinstance(gradient, (list, tuple)) and gradient else gradient
    if not (isinstance(loss, Tensor) and isinstance(given, Tensor)) or loss.numel() != 1:
        return False
    same = given is loss or (address(given) is not None and address(given) == address(loss))
    return same or (loss.grad_fn is not None and graph.is_multiple(given.grad_fn, loss.grad_fn))


def is_doubtful(loss: Tensor) -> bool:
    """Whether a loss on the CPU is inf or nan; on a GPU asking would make the program wait."""
    if not loss.is_cpu or loss.numel() != 1:
        return False
    try:
        return not math.isfinite(loss.item())
    except (RuntimeError, TypeError):
        return False


def gradients_taken(state: State, outputs: Any, inputs: Any, frame: FrameType) -> None:
    """`torch.autograd.grad` was called without `create_graph`: what it gives has no graph."""
    calls = state.progress.graphless.setdefault(threading.get_ident(), [])
    if len(calls) < CALLS_KEPT:
        trail = places.place_and_trail(frame)[1]
        roots = outputs if isinstance(outputs, (list, tuple)) else (outputs,)
        looks = state.budget.may_look(("graphless", trail), SAMPLES)
        nodes = [node for root in roots if looks and (node := getattr(root, "grad_fn", None)) is not None]
        calls.append((trail, frozenset(graph.uses(*nodes))))
        if all(isinstance(one, Tensor) and state.books.find(one) is not None for one in inputs):
            state.progress.of_weights.add(trail)


def gradients_made(state: State, inputs: Any, results: Any) -> None:
    """`torch.autograd.grad` was called with `create_graph`: mark gradients of parameters, which may match others."""
    for tensor, gradient in zip(inputs, results, strict=False):
        node = getattr(gradient, "grad_fn", None)
        account = state.books.find(tensor) if isinstance(tensor, Tensor) else None
        if node is not None and account is not None:
            node.metadata[f"{state.mark} gradient"] = account


def look_at_forwards(state: State, roots: Iterable[Any], one: Pass) -> None:
    """Whether several training forwards of one call are waiting, and how many of them these losses can hold."""
    progress = state.progress
    call = progress.last_run.pop(one.thread, None)
    runs = progress.runs.pop(one.thread, None)
    waiting = runs.get(call, 0) if runs is not None else 0
    if call is not None and waiting > 1:
        one.draft.fields["forwards"] = waiting
        nodes = [node for root in roots if (node := getattr(root, "grad_fn", None)) is not None]
        if nodes and state.budget.may_look("uses"):
            uses = graph.uses(*nodes)
            # A teacher that runs beside the model, and is in no loss, may have run last.
            beside = [other for other, ran in (runs or {}).items() if ran == waiting and other != call]
            for _, model, root, place in (call, *beside):
                held = _held(state, root, model, uses)
                if held is not None:
                    one.draft.fields["held"] = held
                    if place is not None:
                        one.draft.fields["piled"] = piled.piles_losses(place.file, place.line)
                        one.draft.fields["looped"] = source.loop_around(place.file, place.line) is not None
                        one.draft.fields["gathered"] = divisions.in_micro_batches(place, one.draft.place)
                    break
    _look_at_window_sum(state, roots, one)


def _look_at_window_sum(state: State, roots: Iterable[Any], one: Pass) -> None:
    """Of how many micro-batches a loss is the sum by its text: the model may run in a function of
    its own, and its call then stands in no loop."""
    place = one.draft.place
    if place is None or not piled.window_sum(place.file, place.line):
        return
    nodes = [node for root in roots if (node := getattr(root, "grad_fn", None)) is not None]
    if any(map(graph.is_sum, nodes)) and state.budget.may_look("window sum", SAMPLES):
        uses = graph.uses(*nodes)
        counts = [uses[id(a.ref())] for a in state.books.accounts if len(a.shape) > 1 and id(a.ref()) in uses]
        one.draft.fields["window_sum"] = min(counts, default=0)


def _held(state: State, root: Any, called: str, uses: Mapping[int, int]) -> int | None:
    """How many forwards of a model, or of a part of it that is `called` by itself, losses can hold at most, None where
    they hold none of its parameters.

    A bias is not in a derivative of what it is added to, as a loss with a differential equation takes them.
    """
    inside = [a for a in state.books.accounts if a.root is root]
    inside = [a for a in inside if a.name.startswith(f"{called}.")] or inside
    mine = [(len(a.shape) < 2, id(a.ref())) for a in inside]
    counts = [(bias, uses[leaf]) for bias, leaf in mine if leaf in uses]
    return min(counts)[1] if counts else None


def note_graphs(state: State, node: Any, place: Place | None) -> None:
    """Count the modules whose parameters went into compiled graphs as having run: nobody sees them called."""
    for parameter in ran_in_graphs(node):
        state.compiled.add("forward")
        account = state.books.find(parameter)
        if account is not None and account.module is not None:
            account.module.calls += 1
            whole = state.compiled_models.get(account.root.number) if account.root is not None else None
            account.module.called_at = account.module.called_at or (whole and whole.called_at) or place


_COMBINING = graph.COMBINING | {"NegBackward0", "SubBackward0", "RsubBackward1"}
"""What losses are put together by, a difference to 1 included, as a Dice loss is."""


def watch_again(state: State, node: Any, one: Pass) -> None:
    """Be told when a later backward comes through this loss again, or through some of the losses that it is made of."""
    mine, number = weakref.ref(state), one.deposit.number
    parts = 0

    def again(grads: Any, part: int | None = None) -> None:
        recorder = mine()
        if recorder is None or recorder.muted:
            return
        current = current_pass(recorder)
        if current is not None and current.deposit.number != number:
            seen = current.draft.fields.setdefault("again", [])
            if number not in seen:
                seen.append(number)
            left = current.left.setdefault(number, set(range(parts)))
            if part is None:
                left.clear()
            else:
                left.discard(part)

    def again_within(grads: Any) -> None:
        recorder = mine()
        current = current_pass(recorder) if recorder is not None else None
        # Another line may want this sum for another purpose, and another factor of the very same one is no running sum.
        if current is not None and current.deposit.place == place and current.sum != total:
            again(grads)

    run_as_it_is(again)
    core, total, place = graph.without_factors(node), one.sum, one.deposit.place
    if core is not node and type(core).__name__ in ("AddBackward0", "SubBackward0"):
        run_as_it_is(again_within)
        core.register_prehook(again_within)
    del core  # what listens must not hold the graph that holds it
    # Losses are seldom summed the same way twice: the single losses in a sum are watched too.
    waiting, seen = [node], 0
    node.register_prehook(again)
    while waiting and seen < 64:
        one_node = waiting.pop()
        if type(one_node).__name__ not in _COMBINING:
            continue
        for inner, _ in one_node.next_functions:
            if inner is not None and seen < 64:
                seen += 1
                if graph.is_loss(inner):
                    inner.register_prehook(partial(again, part=parts))
                    parts += 1
                waiting.append(inner)


def look_for_outlived(state: State, node: Any, one: Pass) -> None:
    """Whether all that this loss makes of trained weights was made for an earlier pass, and they have changed since.

    Where autograd needs the old weights it raises; a gradient of one layer behind the input does not need them.
    """
    if not state.budget.may_look(("outlived", one.deposit.trail), 2 * SAMPLES):
        return
    mark, number = f"{state.mark} made for", one.deposit.number
    made: list[int] = []
    moved = False
    for inner, leaf in graph.users(node):
        account = state.books.find(leaf)
        if account is None or not account.owned:
            continue
        before = inner.metadata.get(mark)
        now = changing_print(leaf)
        if before is None:
            inner.metadata[mark] = number, now
        made.append(number if before is None else before[0])
        moved = moved or (before is not None and None not in (before[1], now) and before[1] != now)
    if made and moved and max(made) < number:
        one.draft.fields["made_for"] = max(made)


def deposited(state: State, account: Account, parameter: Tensor) -> None:
    """A gradient has just been accumulated."""
    if grad_of(parameter) is None:
        return  # a hook before ours used it and cleared it: booked at that step
    passes = state.progress.passes
    current = passes[0] if len(passes) == 1 else current_pass(state)
    if current is None:
        # backward was called in a way we did not see: through C++, or imported by name beforehand.
        settle_all(state)
        current = open_pass(state, sys._getframe(2), False)
        current.task = task_id()
    elif current.task != -1 and current.task != task_id():
        backward_ends(state, current)
        deposited(state, account, parameter)
        return
    book_deposit(state, account, parameter, current)


def backward_ends(state: State, one: Pass) -> None:
    """The backward pass is over, whatever way it ended."""
    if one is IN_RHYTHM:
        if state.rhythm is not None and state.rhythm.backward_ends():
            return
        one = state.progress.passes[-1]  # by now it is written, like any other
    flush(state, one)
    if one in state.progress.passes:
        state.progress.passes.remove(one)
    number = one.deposit.number
    if one.left:
        one.draft.fields["again_partly"] = [earlier for earlier, left in one.left.items() if left]
    look_for_nonfinite(one)
    for account in state.within_reach():
        if account.status == EMPTY or (parameter := account.ref()) is None or (grad := grad_of(parameter)) is None:
            continue
        account.version = grad._version
        if account.seen != number:
            continue
        changed_by_hook(state, account, grad)
        account.read = account.before = None
        if state.digests and account.status == FRESH:
            account.digest = digest_of(grad)
        if not account.owned:
            before, now = account.print, fingerprint(parameter) if state.budget.may_look("prints", 4000) else None
            account.rewritten = account.rewritten or (None not in (before, now) and before != now)
            account.stands(parameter, now)
    if state.sharing or state.progress.pass_number < 3:
        find_aliases(state, one)


def look_for_nonfinite(one: Pass) -> None:
    """Where gradients pile up, look at a small one after 4, 8, 16, … passes: inf or nan would stay in it."""
    owners = one.touched[0].owners if one.touched else []
    small = owners[-1].smallest() if owners else None
    count = len(small.deposits) if small is not None else 0
    if small is not None and count > 3 and count & (count - 1) == 0:
        grad = small.grad
        if grad is not None and not seems_finite(grad):
            small.found_nonfinite()


def find_aliases(state: State, one: Pass) -> None:
    """Look whether this pass added to a tensor that two parameters hold as their gradient.

    Where no optimizer holds one of the two, it computes gradients for the other.
    """
    holders: dict[int, Account] = {}
    for account in state.within_reach():
        grad = account.grad
        if grad is None:
            continue
        other = holders.setdefault(id(grad), account)
        added = one.deposit.number in (account.seen, other.seen)
        if other is not account and added and account.owned == other.owned:
            place = state.sharing.get(account.index) or state.sharing.get(other.index) or one.deposit.place
            state.join(Edit, place, account, "shared", how="shared", status=account.status)
