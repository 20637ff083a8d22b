"""What is often done instead in exercise 2.1."""

from __future__ import annotations

from collections.abc import Callable

import torch

from course_utils.checks.mistakes import mistake
from course_utils.checks.observe.spies import BACKWARDS, GRADS
from course_utils.lessons.lesson2.backward_n_times.task import ELSEWHERE, LOSSES_MADE, Loss

T = torch.Tensor
Clear = Callable[[T], None]


def _to_none(param: T) -> None:
    param.grad = None


def _to_zeros(param: T) -> None:
    param.grad = torch.zeros_like(param)


def _zeroed_if_held(param: T) -> None:
    if param.grad is not None:
        param.grad.zero_()


def _not_at_all(param: T) -> None:
    pass


def _held(param: T) -> T:
    """The tensor in `.grad`, after a backward."""
    assert param.grad is not None
    return param.grad


def _copied(param: T) -> T:
    return _held(param).clone()


def _single(param: T, loss_fn: Loss) -> T:
    """One gradient, handed back by autograd; `.grad` is not touched."""
    return torch.autograd.grad(loss_fn(param), param)[0]


def _rounds(
    param: T,
    loss_fn: Loss,
    n: int,
    keep: Callable[[T], object] = _copied,
    first: Clear = _to_none,
    before: Clear = _not_at_all,
    after: Clear = _not_at_all,
) -> list[object]:
    """n backwards, each followed by `keep`; `first` runs once, `before` and `after` in each round."""
    first(param)
    kept = []
    for _ in range(n):
        before(param)
        loss_fn(param).backward()
        kept.append(keep(param))
        after(param)
    return kept


# ------------------------------------------------------------------ snapshots that are not tensors of their own


@mistake(
    "Every entry shows the live .grad",
    "All entries share the memory of .grad, so all show its last value: what is added to .grad in place shows in "
    "each of them.",
    "Store a copy that owns its memory. Storing .grad itself, detach(), .data and views share it.",
    "backward, as it is called here, adds in place to the tensor that .grad holds, and a list stores references.",
)
def same_live_grad(param: T, loss_fn: Loss, n: int) -> object:
    return _rounds(param, loss_fn, n, keep=_held)


@mistake(
    "The earlier gradient is counted in, and every entry shows the live .grad",
    "Two things at once: where .grad held something before the call, that is counted in; and all entries share the "
    "memory of .grad, so they show its last value.",
    "Clear once before the first backward, and store copies that own their memory.",
    "Nothing clears .grad for you, and a list stores references.",
)
def neither_cleared_nor_copied(param: T, loss_fn: Loss, n: int) -> object:
    return _rounds(param, loss_fn, n, keep=_held, first=_not_at_all)


@mistake(
    "The snapshots are NumPy arrays that follow .grad",
    "The entries are NumPy arrays that share the memory of .grad, so all show its last value; and the exercise asks "
    "for tensors.",
    "Store tensors, each a copy that owns its memory.",
    "x.numpy() copies nothing: it is another view of the same memory.",
)
def numpy_views_of_grad(param: T, loss_fn: Loss, n: int) -> object:
    return _rounds(param, loss_fn, n, keep=lambda p: _held(p).numpy())


def _last_one_assigned(param: T, loss_fn: Loss, n: int) -> object:
    param.grad = None
    for snapshot in (kept := _rounds(param, loss_fn, n))[-1:]:
        param.grad = snapshot  # type: ignore[assignment]
    return kept


@mistake(
    "The last snapshot is the live .grad",
    "The earlier snapshots have memory of their own, but the last one shares that of .grad: the next backward would "
    "change it.",
    "Store a copy, or put a copy into .grad.",
    "Assigning a tensor to .grad copies nothing.",
    also=(_last_one_assigned,),
)
def last_snapshot_is_live(param: T, loss_fn: Loss, n: int) -> object:
    param.grad = None
    kept = []
    for _ in range(n):
        gradient = _single(param, loss_fn)
        param.grad = gradient if param.grad is None else param.grad + gradient
        kept.append(param.grad)
    return kept


@mistake(
    "All entries share one memory",
    "The entries share memory with one another, though not with .grad: all show what was written there last.",
    "Store a tensor with memory of its own each round: a sum made anew, or a copy.",
    "x += g writes into the tensor x, and a list that holds it shows that; x = x + g makes a new one.",
)
def one_tensor_for_all(param: T, loss_fn: Loss, n: int) -> object:
    total, kept = torch.zeros_like(param), []
    for _ in range(n):
        total = total.add_(_single(param, loss_fn)).detach()
        kept.append(total)
    param.grad = total.clone()
    return kept


def _stored_and_wiped_each_round(param: T, loss_fn: Loss, n: int) -> object:
    return _rounds(param, loss_fn, n, keep=_held, first=_to_zeros, after=_zeroed_if_held)


@mistake(
    "What was stored was set to zero",
    "The list holds tensors that share the memory of .grad, and that memory was zeroed afterwards: all entries are "
    "zeros, and so is .grad.",
    "Store copies that own their memory, and leave .grad alone once the backwards have run.",
    "zero_() writes into the tensor, and whoever holds it sees that.",
    also=(_stored_and_wiped_each_round,),
    signs=(
        BACKWARDS,
        ELSEWHERE,
    ),
)
def wiped_what_was_stored(param: T, loss_fn: Loss, n: int) -> object:
    kept = _rounds(param, loss_fn, n, keep=_held)
    _zeroed_if_held(param)
    return kept


# ------------------------------------------------------------------ when it was cleared


def _old_kept_unless_n_is_0(param: T, loss_fn: Loss, n: int) -> object:
    return _rounds(param, loss_fn, n, first=_not_at_all if n else _to_none)


@mistake(
    "The gradients that were there before are counted in",
    "backward() adds to what .grad holds, and it held an earlier gradient when this began.",
    "Empty .grad before anything is added to it.",
    "Nothing clears .grad for you: not backward, not the end of a function.",
    also=(_old_kept_unless_n_is_0,),
)
def started_from_old_gradients(param: T, loss_fn: Loss, n: int) -> object:
    return _rounds(param, loss_fn, n, first=_not_at_all)


def _subtracted_at_the_end(param: T, loss_fn: Loss, n: int) -> object:
    old = torch.zeros_like(param) if param.grad is None else param.grad.clone()
    kept = _rounds(param, loss_fn, n, keep=lambda p: _held(p) - old, first=_not_at_all)
    if param.grad is not None:
        param.grad -= old
    return kept


@mistake(
    "Cleared by arithmetic",
    "Where .grad held inf or NaN, NaN is left: 0 times inf and inf minus inf are NaN, and a NaN stays what it is.",
    "Clear by putting something in the place of the old values, not by computing with them.",
    "Multiplying by zero and taking away work as long as every entry is finite.",
    also=(_subtracted_at_the_end,),
)
def cleared_by_arithmetic(param: T, loss_fn: Loss, n: int) -> object:
    if param.grad is not None:
        param.grad.mul_(0)
    return _rounds(param, loss_fn, n, first=_not_at_all)


@mistake(
    "The earlier gradient is left out of the snapshots and still in .grad",
    ".grad holds the sum on top of what was there before; the snapshots hold it without that, as far as the numbers "
    "were finite.",
    "Empty .grad before the first backward. Then nothing has to be taken away.",
    "Nothing clears .grad for you: not backward, not the end of a function.",
)
def old_gradient_subtracted(param: T, loss_fn: Loss, n: int) -> object:
    old = torch.zeros_like(param) if param.grad is None else param.grad.clone()
    return _rounds(param, loss_fn, n, keep=lambda p: _held(p) - old, first=_not_at_all)


def _cleared_in_the_loop_alone(param: T, loss_fn: Loss, n: int) -> object:
    return _rounds(param, loss_fn, n, first=_not_at_all, before=_to_none)


@mistake(
    "Every entry is a single gradient, and so is .grad at the end",
    "As many backwards ran as were asked, but .grad ends as a single gradient. That is what clearing .grad in each "
    "round leaves, or assigning to it: what the rounds before had put there is lost.",
    "Clear once, before the first backward. Is there a clearing, or an assignment to .grad, or a division, inside "
    "the loop or after it?",
    "A plain training loop clears in each round, but there a step has used the gradient before it is cleared.",
    also=(_cleared_in_the_loop_alone,),
    signs=(BACKWARDS,),
)
def cleared_between_backwards(param: T, loss_fn: Loss, n: int) -> object:
    return _rounds(param, loss_fn, n, before=_to_none)


def _zeroed_and_live(param: T, loss_fn: Loss, n: int) -> object:
    return _rounds(param, loss_fn, n, keep=_held, first=_to_zeros, before=_zeroed_if_held)


def _in_the_loop_alone_and_live(param: T, loss_fn: Loss, n: int) -> object:
    return _rounds(param, loss_fn, n, keep=_held, first=_not_at_all, before=_to_none)


def _zeroed_in_the_loop_alone_and_live(param: T, loss_fn: Loss, n: int) -> object:
    return _rounds(param, loss_fn, n, keep=_held, first=_not_at_all, before=_zeroed_if_held)


@mistake(
    ".grad ends as a single gradient, and what was stored is no copy",
    "Two things at once: .grad ends as a single gradient, where the sum of n belongs; and what was stored, the last entry "
    "at least, shares the memory of .grad.",
    "Store copies that own their memory. And is there a clearing, an assignment to .grad, or a division by n inside the "
    "loop or after it?",
    "A plain training loop clears in each round; there a step has used the gradient before it is cleared.",
    also=(_zeroed_and_live, _in_the_loop_alone_and_live, _zeroed_in_the_loop_alone_and_live),
    signs=(BACKWARDS,),
)
def cleared_between_and_not_copied(param: T, loss_fn: Loss, n: int) -> object:
    return _rounds(param, loss_fn, n, keep=_held, before=_to_none)


@mistake(
    "Without a backward, nothing was cleared",
    "With n = 0 .grad still holds the earlier gradient. Starting from a cleared .grad does not depend on how many "
    "backwards follow.",
    "Is .grad cleared, or assigned, inside the loop alone? A loop of no rounds does neither.",
    "A loop over range(0) never enters its body.",
)
def not_cleared_when_n_is_0(param: T, loss_fn: Loss, n: int) -> object:
    return _rounds(param, loss_fn, n, first=_to_none if n else _not_at_all)


def _zeroed_after_each(param: T, loss_fn: Loss, n: int) -> object:
    return _rounds(param, loss_fn, n, after=_zeroed_if_held)


@mistake(
    "Every entry is a single gradient, and .grad ends cleared",
    "Every entry is a single gradient, and .grad is cleared at the end, as clearing after each backward leaves it: "
    "the sum that the caller asked for is nowhere.",
    "Clear once, before the first backward, and let the gradients add up in .grad.",
    "A plain training loop clears in each round, but there a step has used the gradient before it is cleared.",
    also=(_zeroed_after_each,),
)
def cleared_after_each_backward(param: T, loss_fn: Loss, n: int) -> object:
    return _rounds(param, loss_fn, n, after=_to_none)


def _zeroed_after_and_not_before(param: T, loss_fn: Loss, n: int) -> object:
    return _rounds(param, loss_fn, n, first=_not_at_all, after=_zeroed_if_held)


@mistake(
    "The earlier gradient is in the first entry alone, and .grad ends cleared",
    "The first entry has the earlier gradient in it, every later one is a single gradient, and .grad is cleared at "
    "the end unless n is 0. Clearing after each backward, instead of before the first, leaves this.",
    "Clear once, before the first backward, and not again.",
    "In many training loops backward, step and zero_grad() follow each other; the step has used the gradient by then.",
    also=(_zeroed_after_and_not_before,),
)
def cleared_after_and_not_before(param: T, loss_fn: Loss, n: int) -> object:
    return _rounds(param, loss_fn, n, first=_not_at_all, after=_to_none)


def _zeroed_at_the_end(param: T, loss_fn: Loss, n: int) -> object:
    kept = _rounds(param, loss_fn, n)
    _zeroed_if_held(param)
    return kept


@mistake(
    ".grad ends cleared",
    "n backwards ran into .grad, but whoever called this function finds .grad cleared, where the sum should be.",
    "The sum should stay in .grad; it is what the caller asked for. Is there a clearing after a backward?",
    "Tidying up is right where .grad belongs to somebody else. Here filling it is the task.",
    also=(_zeroed_at_the_end,),
    signs=(BACKWARDS, ELSEWHERE),
)
def cleared_at_the_end(param: T, loss_fn: Loss, n: int) -> object:
    kept = _rounds(param, loss_fn, n)
    param.grad = None
    return kept


def _zeroed_at_the_end_and_not_before(param: T, loss_fn: Loss, n: int) -> object:
    kept = _rounds(param, loss_fn, n, first=_not_at_all)
    _zeroed_if_held(param)
    return kept


@mistake(
    "Cleared at the end, and not at the start",
    "Every entry lies on top of what .grad held before the call, where it held something; and at the end .grad is "
    "cleared, where the sum should be.",
    "Clear once, before the first backward, and leave the sum in .grad.",
    "In a training loop the end of one round is the start of the next. Here somebody else calls first.",
    also=(_zeroed_at_the_end_and_not_before,),
    signs=(BACKWARDS, ELSEWHERE),
)
def cleared_at_the_end_and_not_before(param: T, loss_fn: Loss, n: int) -> object:
    kept = _rounds(param, loss_fn, n, first=_not_at_all)
    param.grad = None
    return kept


def _cleared_to_zeros_and_summed_by_hand(param: T, loss_fn: Loss, n: int) -> object:
    kept = cleared_and_never_written.forms[0](param, loss_fn, n)
    _to_zeros(param)
    return kept


@mistake(
    ".grad was cleared, and the sum is not in it",
    "No backward pass ran that writes into .grad, and at the end .grad is cleared: the sum is not there.",
    "Run backwards that fill .grad, or put the sum into it at the end.",
    "torch.autograd.grad hands gradients back; it writes into no parameter's .grad.",
    also=(_cleared_to_zeros_and_summed_by_hand,),
    signs=(BACKWARDS,),
)
def cleared_and_never_written(param: T, loss_fn: Loss, n: int) -> object:
    param.grad = None
    kept: list[T] = []
    for _ in range(n):
        gradient = _single(param, loss_fn)
        kept.append(gradient if not kept else kept[-1] + gradient)
    return kept


def _put_back_unless_n_is_0(param: T, loss_fn: Loss, n: int) -> object:
    saved, kept = param.grad, _rounds(param, loss_fn, n)
    param.grad = saved if n else None
    return kept


def _put_back_where_held(param: T, loss_fn: Loss, n: int) -> object:
    saved, kept = param.grad, _rounds(param, loss_fn, n)
    param.grad = param.grad if saved is None else saved
    return kept


@mistake(
    ".grad holds the earlier gradient again",
    "n backwards ran; where .grad held a gradient before the call and n is not 0, it holds that one again at the "
    "end, not the sum.",
    "Leave the sum in .grad.",
    "In exercise 1.3 .grad had to end as it was; here it has to hold the sum.",
    also=(_put_back_unless_n_is_0, _put_back_where_held),
    signs=(BACKWARDS, ELSEWHERE),
)
def old_gradient_put_back(param: T, loss_fn: Loss, n: int) -> object:
    saved, kept = param.grad, _rounds(param, loss_fn, n)
    param.grad = saved
    return kept


def _on_a_copy(param: T, loss_fn: Loss, n: int) -> object:
    return _rounds(param.detach().clone().requires_grad_(), loss_fn, n)


def _multiples_alone(param: T, loss_fn: Loss, n: int) -> object:
    gradient = _single(param, loss_fn)
    return [k * gradient for k in range(1, n + 1)]


def _summed_if_n_is_not_0(param: T, loss_fn: Loss, n: int) -> object:
    param.grad = param.grad if n else None
    return _summed_by_hand(param, loss_fn, n)


def _summed_by_hand(param: T, loss_fn: Loss, n: int) -> object:
    total, kept = torch.zeros_like(param), []
    for _ in range(n):
        total = total + _single(param, loss_fn)
        kept.append(total.detach())
    return kept


@mistake(
    "The sum is not in param.grad",
    "Unless n is 0, param.grad holds after the call what it held before it, not the sum of the gradients.",
    "Afterwards param.grad itself should hold the sum. backward() puts gradients into .grad of the leaf that the "
    "loss was made from; torch.autograd.grad hands them back instead.",
    "A gradient and the .grad of a parameter are two things: one is a result, the other a place.",
    also=(_on_a_copy, _multiples_alone, _summed_if_n_is_not_0),
    signs=(BACKWARDS, ELSEWHERE),
)
def grad_left_untouched(param: T, loss_fn: Loss, n: int) -> object:
    return _summed_by_hand(param, loss_fn, n)


# ------------------------------------------------------------------ which gradients, and how many


def _divided_so_far(param: T, loss_fn: Loss, n: int) -> object:
    kept = _rounds(param, loss_fn, n)
    return [total / k for k, total in enumerate(kept, 1)]  # type: ignore[operator]


@mistake(
    "A single gradient, instead of what is held",
    "Every entry equals the gradient of one backward. A snapshot shows what .grad holds after that backward: the sum "
    "so far.",
    "Each entry should be what .grad holds at that moment, with all backwards up to it.",
    "",
    also=(_divided_so_far,),
)
def increments_for_snapshots(param: T, loss_fn: Loss, n: int) -> object:
    param.grad = torch.zeros_like(param)
    kept = []
    for _ in range(n):
        kept.append(_single(param, loss_fn))
        param.grad += kept[-1]
    return kept


def _one_for_all(param: T, loss_fn: Loss, n: int) -> object:
    param.grad = None
    loss_fn(param).backward()
    return [_copied(param) for _ in range(n)]


def _one_for_all_if_any(param: T, loss_fn: Loss, n: int) -> object:
    param.grad = None
    return _one_for_all(param, loss_fn, n) if n else []


@mistake(
    "A single gradient everywhere, and too few backwards",
    "Every entry is a single gradient, and so is .grad at the end. Where n is 2 or more, fewer than n backwards ran "
    "into .grad.",
    "Let n backwards add to .grad, and copy what it holds after each.",
    "",
    also=(_one_for_all, _one_for_all_if_any),
    signs=(BACKWARDS,),
)
def each_gradient_alone(param: T, loss_fn: Loss, n: int) -> object:
    param.grad = None
    kept = []
    for _ in range(n):
        param.grad = _single(param, loss_fn)
        kept.append(param.grad.clone())
    return kept


def _one_backward_always(param: T, loss_fn: Loss, n: int) -> object:
    param.grad = None
    loss_fn(param).backward()
    return [k * _held(param) for k in range(1, n + 1)]


def _one_gradient_assigned(param: T, loss_fn: Loss, n: int) -> object:
    param.grad = _single(param, loss_fn) if n else None
    return [k * _held(param) for k in range(1, n + 1)]


@mistake(
    "One gradient, multiplied",
    "One gradient was computed and the entries are multiples of it; .grad ends as that one gradient, not as the sum "
    "of n.",
    "Run n backwards, and read each snapshot off .grad.",
    "The multiples come out right only because the loss is the same each time.",
    also=(_one_backward_always, _one_gradient_assigned),
    signs=(BACKWARDS, GRADS),
)
def one_backward_multiplied(param: T, loss_fn: Loss, n: int) -> object:
    param.grad = None
    return _one_backward_always(param, loss_fn, n) if n else []


def _assigned_each_round(param: T, loss_fn: Loss, n: int) -> object:
    total, kept = torch.zeros_like(param).detach(), []
    param.grad = None
    for _ in range(n):
        param.grad = _single(param, loss_fn)
        total = total + param.grad
        kept.append(total)
    return kept


@mistake(
    ".grad ends as a single gradient",
    ".grad itself ends as a single gradient, not as the sum of all n.",
    "Afterwards .grad holds the sum of all n. What becomes of the earlier gradients when the next one arrives in "
    ".grad? Is it cleared, assigned to or divided?",
    "backward adds to .grad by itself; a sum kept beside it is not needed.",
    also=(_assigned_each_round,),
    signs=(BACKWARDS, GRADS),
)
def sum_kept_elsewhere(param: T, loss_fn: Loss, n: int) -> object:
    total, kept = torch.zeros_like(param).detach(), []
    param.grad = None
    for _ in range(n):
        param.grad = None
        loss_fn(param).backward()
        total = total + _held(param)
        kept.append(total)
    return kept


def _last_one_in_a_list(param: T, loss_fn: Loss, n: int) -> object:
    param.grad = None
    for _ in range(n):
        loss = loss_fn(param)
    loss.backward()
    return [_copied(param)]


def _last_one_in_a_list_if_any(param: T, loss_fn: Loss, n: int) -> object:
    param.grad = None
    return _last_one_in_a_list(param, loss_fn, n) if n else []


def _last_one_itself_if_any(param: T, loss_fn: Loss, n: int) -> object:
    param.grad = None
    return only_the_last_loss.forms[0](param, loss_fn, n) if n else []


@mistake(
    "One backward instead of n",
    "n losses were made and one backward ran; what .grad holds and what was returned are a single gradient.",
    "What belongs inside the loop? Each of the n losses goes backward, and after each a snapshot is taken.",
    "A loss that is made and not sent backward leaves no trace in .grad.",
    also=(_last_one_in_a_list, _last_one_in_a_list_if_any, _last_one_itself_if_any),
    signs=(BACKWARDS, LOSSES_MADE),
)
def only_the_last_loss(param: T, loss_fn: Loss, n: int) -> object:
    param.grad = None
    for _ in range(n):
        loss = loss_fn(param)
    loss.backward()
    return _copied(param)


def _lagging(param: T, loss_fn: Loss, n: int, first: Clear) -> object:
    first(param)
    kept = []
    for _ in range(n):
        kept.append(None if param.grad is None else param.grad.clone())
        loss_fn(param).backward()
    return kept


@mistake(
    "The snapshots lag one backward behind",
    "The list starts with the cleared gradient and lacks the final sum.",
    "Take the snapshot after the backward.",
    "",
    also=(lambda p, f, n: _lagging(p, f, n, _to_none), lambda p, f, n: _lagging(p, f, n, _zeroed_if_held)),
)
def snapshot_before_backward(param: T, loss_fn: Loss, n: int) -> object:
    return _lagging(param, loss_fn, n, _to_zeros)


def _with_none_first(param: T, loss_fn: Loss, n: int) -> object:
    return [None, *_rounds(param, loss_fn, n)]


@mistake(
    "The cleared gradient stands first",
    "There are n + 1 entries: zeros, or None, stand before the n snapshots.",
    "One snapshot after each backward makes n of them.",
    "",
    also=(_with_none_first,),
)
def began_with_the_cleared_gradient(param: T, loss_fn: Loss, n: int) -> object:
    return [torch.zeros_like(param).detach(), *_rounds(param, loss_fn, n)]


@mistake(
    "Divided by n",
    "Everything came out n times too small: the list and .grad end at the mean of the gradients. Did you divide the "
    "loss by n?",
    "Leave the division out; the sum is asked for.",
    "Gradient accumulation often divides, to imitate a mean over a large batch. backward itself only adds.",
)
def loss_divided_by_n(param: T, loss_fn: Loss, n: int) -> object:
    return _rounds(param, lambda p: loss_fn(p) / n, n)


@mistake(
    "The snapshots were divided by n",
    "Every entry is n times too small: what .grad holds after a backward is the sum so far, not a mean.",
    "A snapshot shows what .grad holds, as it is.",
    "",
)
def snapshots_divided_by_n(param: T, loss_fn: Loss, n: int) -> object:
    return _rounds(param, loss_fn, n, keep=lambda p: _held(p) / n)


@mistake(
    "1, 3, 6, ... gradients instead of 1, 2, 3",
    "The entries hold 1, 3, 6, ... gradients instead of 1, 2, 3, and .grad ends like the last of them. A running sum "
    "of losses does that if it goes backward each time: round k sends k losses, on top of what .grad has.",
    "Send each loss backward by itself; .grad does the adding.",
    "Both the sum of losses and .grad accumulate. One of the two is enough.",
)
def running_sum_backward(param: T, loss_fn: Loss, n: int) -> object:
    weights = iter(range(1, n + 1))
    return _rounds(param, lambda p: next(weights) * loss_fn(p), n)


@mistake(
    "The entries are sums of sums",
    "The entries hold 1, 3, 6, ... gradients instead of 1, 2, 3. What .grad holds after each backward is a sum "
    "already: was it added up again?",
    "What .grad holds is the snapshot; nothing has to be added to it.",
    "",
)
def sums_summed_again(param: T, loss_fn: Loss, n: int) -> object:
    total, kept = torch.zeros_like(param).detach(), []
    for snapshot in _rounds(param, loss_fn, n):
        total = total + snapshot  # type: ignore[operator]
        kept.append(total)
    return kept


@mistake(
    "One round too many",
    "There are n + 1 snapshots, and .grad holds n + 1 gradients.",
    "Count the rounds of the loop.",
)
def one_backward_too_many(param: T, loss_fn: Loss, n: int) -> object:
    return _rounds(param, loss_fn, n + 1)


@mistake(
    "One round too few",
    "There are n - 1 snapshots, where n is not 0, and .grad holds n - 1 gradients.",
    "Count the rounds of the loop: how many does range(1, n) make?",
    also=(
        lambda p, f, n: _rounds(p, f, n - 1, first=_to_zeros),
        lambda p, f, n: _rounds(p, f, n - 1, first=_zeroed_if_held),
    ),
)
def one_backward_too_few(param: T, loss_fn: Loss, n: int) -> object:
    return _rounds(param, loss_fn, n - 1)


def _one_before_if_any(param: T, loss_fn: Loss, n: int) -> object:
    param.grad = None
    return one_backward_before_the_first.forms[0](param, loss_fn, n) if n else []


@mistake(
    "Every snapshot holds one gradient too many",
    "There are n snapshots, and each of them, like .grad at the end, holds one gradient more than it should.",
    "Is there a backward before the loop, or is the first gradient counted twice? n backwards run altogether.",
    "",
    also=(_one_before_if_any,),
)
def one_backward_before_the_first(param: T, loss_fn: Loss, n: int) -> object:
    param.grad = None
    loss_fn(param).backward()
    return _rounds(param, loss_fn, n, first=_not_at_all)


# ------------------------------------------------------------------ what was returned


def _sum_alone(otherwise: Callable[[T], object], first: Clear = _to_none) -> Callable[[T, Loss, int], object]:
    """n backwards, then .grad as it is; `otherwise` without a backward."""

    def code(param: T, loss_fn: Loss, n: int) -> object:
        _rounds(param, loss_fn, n, first=first)
        return _copied(param) if n else otherwise(param)

    return code


def _refused_by_none(param: T) -> object:
    return param.grad.clone()  # type: ignore[union-attr]


def _sum_in_a_list(param: T, loss_fn: Loss, n: int) -> object:
    return _rounds(param, loss_fn, n)[-1:]


@mistake(
    "Only the last snapshot was returned",
    "What came back is the final sum; the snapshots on the way to it are missing.",
    "Collect a snapshot after each backward and return the list.",
    "",
    also=(
        _sum_alone(lambda param: None),
        _sum_alone(torch.zeros_like),
        _sum_alone(_refused_by_none),
        _sum_alone(lambda param: param.grad, _zeroed_if_held),
        _sum_in_a_list,
    ),
)
def last_snapshot_alone(param: T, loss_fn: Loss, n: int) -> object:
    return _sum_alone(lambda param: [])(param, loss_fn, n)


@mistake(
    "The newest snapshot stands first",
    "The right snapshots stand there, in the opposite order.",
    "The first entry is what .grad holds after the first backward.",
    "",
)
def newest_first(param: T, loss_fn: Loss, n: int) -> object:
    return _rounds(param, loss_fn, n)[::-1]


@mistake(
    "The parameter's values instead of its gradient",
    "The list holds the values of the parameter, which no backward changes.",
    "Read .grad. The gradient is another tensor than the parameter, stored beside it.",
    "",
    also=(lambda p, f, n: _rounds(p, f, n, keep=lambda p: p.data),),
)
def values_for_gradients(param: T, loss_fn: Loss, n: int) -> object:
    return _rounds(param, loss_fn, n, keep=lambda p: p.detach().clone())


def _norms_as_numbers(param: T, loss_fn: Loss, n: int) -> object:
    return _rounds(param, loss_fn, n, keep=lambda p: _held(p).norm().item())


@mistake(
    "Norms instead of gradients",
    "Each entry is the length of .grad, one number. A snapshot is the whole tensor.",
    "Store the tensor that .grad holds, as a copy.",
    "A log of a training run often keeps norms, because gradients are large. Here they are small.",
    also=(_norms_as_numbers,),
)
def norms_for_gradients(param: T, loss_fn: Loss, n: int) -> object:
    return _rounds(param, loss_fn, n, keep=lambda p: _held(p).norm())


def _losses(param: T, loss_fn: Loss, n: int) -> list[T]:
    param.grad = None
    kept = []
    for _ in range(n):
        loss = loss_fn(param)
        loss.backward()
        kept.append(loss.detach())
    return kept


@mistake(
    "Losses instead of gradients",
    "The list holds the value of the loss once for each round.",
    "Read .grad after each backward, and store a copy of that.",
    "",
    also=(_losses,),
)
def losses_for_gradients(param: T, loss_fn: Loss, n: int) -> object:
    return [loss.item() for loss in _losses(param, loss_fn, n)]


def _hook_on_each_gradient(param: T, loss_fn: Loss, n: int) -> object:
    for _ in range(n):
        param.register_hook(lambda gradient: None)
    return _rounds(param, loss_fn, n)


@mistake(
    "A hook stayed registered",
    "A hook that was registered on param in this call is still there, and runs at each later backward of the "
    "caller's that reaches param.",
    "Keep the handle that registering returns, and call its remove() at the end.",
    "Hooks live on the parameter or module, not in your function.",
    also=(_hook_on_each_gradient,),
)
def hooks_left_behind(param: T, loss_fn: Loss, n: int) -> object:
    kept: list[T] = []
    param.register_post_accumulate_grad_hook(lambda p: kept.append(_copied(p)))
    _rounds(param, loss_fn, n)
    return kept


@mistake(
    ".grad doubles from round to round",
    "The snapshots are 1, 2, 4, 8 ... times one gradient: what is added each time is as large as what is there.",
    "Does .grad share its tensor with the gradient that is added to it? Let each backward add its own.",
    "`param.grad = g` makes .grad and g one tensor, and `param.grad += g` then changes both.",
)
def grad_added_to_itself(param: T, loss_fn: Loss, n: int) -> object:
    param.grad = None
    kept = []
    gradient = _single(param, loss_fn) if n else param
    for _ in range(n):
        if param.grad is None:
            param.grad = gradient
        else:
            param.grad += gradient
        kept.append(param.grad.clone())
    return kept


@mistake(
    "`param` was zeroed in place of its .grad",
    "The gradients are those at zero, and the values of `param` are gone.",
    "What is to be cleared is param.grad; param itself keeps its values.",
    "The names lie close together: param.data.zero_() clears the weights, param.grad.zero_() the gradient.",
)
def parameter_zeroed(param: T, loss_fn: Loss, n: int) -> object:
    with torch.no_grad():
        param.zero_()
    return _rounds(param, loss_fn, n, first=_not_at_all)
