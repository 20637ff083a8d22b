"""What is often done instead in exercise 2.3."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

import torch

from course_utils.checks.mistakes import mistake
from course_utils.lessons.lesson2.shared_weight_gradient.answers import right

T = torch.Tensor
Code = Callable[[T, T, int], object]


def _sum(found: Sequence[T]) -> T:
    return torch.stack(list(found)).sum(0)


def _fitted(w: T, gradient: T) -> T:
    """Summed over the entries that a 0-d w serves."""
    return gradient.sum_to_size(w.shape)


def _leaves(w: T, depth: int) -> list[T]:
    return [w.detach().clone().requires_grad_() for _ in range(depth)]


def _by_leaves(w: T, x: T, depth: int, rounds: Callable[[T, T], T], loss: Callable[[T], T] = torch.sum) -> list[T]:
    """The contributions where each round is `rounds(weight, h)` and the loss is `loss(h)`."""
    leaves, h = _leaves(w, depth), x.detach()
    for leaf in leaves:
        h = rounds(leaf, h)
    found = torch.autograd.grad(loss(h), leaves, allow_unused=True)
    return [torch.zeros_like(w) if gradient is None else gradient for gradient in found]


def _round(weight: T, h: T) -> T:
    return torch.tanh(weight * h)


def _hidden(w: T, x: T, depth: int) -> list[T]:
    """Every h, x first."""
    hidden = [x.detach()]
    for _ in range(depth):
        hidden.append(_round(w.detach(), hidden[-1]))
    return hidden


def _signals(w: T, x: T, depth: int) -> tuple[list[T], list[T]]:
    """What arrives at each h, x first, and at each product w * h."""
    hidden = _hidden(w, x, depth)
    at_h, at_product = [torch.ones_like(hidden[-1])], []
    for h in reversed(hidden[1:]):
        at_product.append(at_h[-1] * (1 - h**2))
        at_h.append(at_product[-1] * w.detach())
    return at_h[::-1], at_product[::-1]


def _by_hand(
    w: T,
    x: T,
    depth: int,
    slope: Callable[[T], T] = lambda h: 1 - h**2,
    carry: Callable[[T, T], T] = lambda passed, w: passed * w,
    position: int = 0,
    reduce: Callable[[T], T] = torch.sum,
) -> tuple[list[T], T]:
    """The derivation by hand, last use first, with one link replaced."""
    w = w.detach()
    hidden, signal, found = _hidden(w, x, depth), torch.ones_like(x), []
    for use in reversed(range(depth)):
        passed = signal * slope(hidden[use + 1])
        one = passed * hidden[use + position]
        found.append(reduce(one) if w.ndim == 0 else one)
        signal = carry(passed, w)
    return found[::-1], _sum(found)


_unreduced = partial(_by_hand, reduce=lambda one: one)
"""By hand, where what a 0-d w receives is not summed over the entries that it serves."""


def _local(passed: T, w: T) -> T:
    return torch.ones_like(passed)


def _without_w(passed: T, w: T) -> T:
    return passed


@mistake(
    "The last use stands first",
    "The contributions are right, in the order in which backward meets them.",
    "Turn the list around: the first use is the one next to x.",
    "Backward runs from the loss to the input, so it meets the last use first.",
)
def last_use_first(w: T, x: T, depth: int) -> object:
    found, total = right(w, x, depth)
    return found[::-1], total


def _shifted(by: int) -> Code:
    def shifted(w: T, x: T, depth: int) -> object:
        found, total = right(w, x, depth)
        return [found[(use + by) % depth] for use in range(depth)], total

    return shifted


def _shifted_from_zeros(w: T, x: T, depth: int) -> object:
    found, total = right(w, x, depth)
    return [torch.zeros_like(total), *found[:-1]], total


@mistake(
    "The contributions are one position off",
    "The numbers of one use stand at the place of the use next to it.",
    "Which position of your list belongs to the first use? Follow depth = 2 with a finger.",
    "The list of all h has one entry more than there are uses, so two ways of counting meet.",
    also=(_shifted(-1), _shifted_from_zeros),
)
def uses_one_position_off(w: T, x: T, depth: int) -> object:
    return _shifted(1)(w, x, depth)


def _refused_when_cut(w: T, x: T, depth: int) -> object:
    leaves, h = _leaves(w, depth), x.detach()
    for leaf in leaves:
        h = _round(leaf, h.detach())
    found = torch.autograd.grad(h.sum(), leaves)
    return found, _sum(found)


def _begun_at_x_again(w: T, x: T, depth: int) -> object:
    found = _by_leaves(w, x, depth, lambda leaf, h: _round(leaf, x.detach()))
    return found, _sum(found)


@mistake(
    "Not every weight reaches the loss",
    "With depth 1 this does not show. With more rounds nothing arrives at some of the weights, at the earlier ones "
    "for instance: they have no part in the loss.",
    "Is h detached on the way, does each round begin at x again, or do several rounds use the same copy of w? Detach "
    "the copies of w, not h: the signal must run back through all rounds.",
    also=(_refused_when_cut, _begun_at_x_again),
)
def uses_cut_apart(w: T, x: T, depth: int) -> object:
    found = _by_leaves(w, x, depth, lambda leaf, h: _round(leaf, h.detach()))
    return found, _sum(found)


@mistake(
    "Each use stops at its own round",
    "A contribution is the derivative of that round's h alone. What the later rounds make of it is missing.",
    "Multiply by the signal that arrives from the later rounds; with autograd, differentiate the final loss.",
    also=(partial(_unreduced, carry=_local),),
)
def local_derivative_alone(w: T, x: T, depth: int) -> object:
    return _by_hand(w, x, depth, carry=_local)


@mistake(
    "The signal passes tanh unchanged",
    "The derivative of tanh is missing on the way back.",
    "Multiply what arrives at tanh by its local derivative.",
    also=(partial(_unreduced, slope=torch.ones_like),),
)
def activation_derivative_missing(w: T, x: T, depth: int) -> object:
    return _by_hand(w, x, depth, slope=torch.ones_like)


@mistake(
    "The signal passes back without w",
    "On the way back through w * h the signal must be multiplied by w; here it was passed on as it is.",
    "At a product each factor receives the signal times the other factor: w receives h, and h receives w.",
    also=(partial(_unreduced, carry=_without_w),),
)
def weight_left_out_of_chain(w: T, x: T, depth: int) -> object:
    return _by_hand(w, x, depth, carry=_without_w)


@mistake(
    "A round's output in place of its input",
    "The derivative of w * h with respect to w is the h that goes into the round; the one that comes out was used.",
    "Keep the list of all h, x first, and check which position each round reads.",
    also=(partial(_unreduced, position=1),),
)
def output_for_input(w: T, x: T, depth: int) -> object:
    return _by_hand(w, x, depth, position=1)


@mistake(
    "A round's input was read one position too early",
    "Each use was multiplied by the h that goes into the round before its own, and the first use by the last h, "
    "which is what the index -1 reads.",
    "Keep the list of all h, x first, and check which position each round reads.",
    "A negative index is no error in Python: it counts from the end.",
    also=(partial(_unreduced, position=-1),),
)
def input_read_too_early(w: T, x: T, depth: int) -> object:
    return _by_hand(w, x, depth, position=-1)


def _own_slope_missing(reduced: bool) -> Code:
    def code(w: T, x: T, depth: int) -> object:
        signals, hidden = _signals(w, x, depth)[0], _hidden(w, x, depth)
        found = [signals[use + 1] * hidden[use] for use in range(depth)]
        found = [_fitted(w, one) for one in found] if reduced else found
        return found, _sum(found)

    return code


@mistake(
    "The slope of a use's own tanh is missing",
    "Each contribution is the signal that arrives at the round's h, times the h that goes in. The signal passed the tanh "
    "of the later rounds, but not that of the use's own round.",
    "w stands inside tanh(w * h). What does the signal meet first on its way back from this round's h to w?",
    also=(_own_slope_missing(False),),
)
def own_slope_missing(w: T, x: T, depth: int) -> object:
    return _own_slope_missing(True)(w, x, depth)


def _through_earlier_rounds(reduced: bool) -> Code:
    def code(w: T, x: T, depth: int) -> object:
        hidden, found = _hidden(w, x, depth), []
        signal = torch.ones_like(hidden[0])
        for use in range(depth):
            signal = signal * (1 - hidden[use + 1] ** 2)
            found.append(signal * hidden[use])
            signal = signal * w.detach()
        found = [_fitted(w, one) for one in found] if reduced else found
        return found, _sum(found)

    return code


@mistake(
    "The factors of the earlier rounds, not of the later ones",
    "Each contribution was multiplied by what the rounds before it do. With depth 1 this does not show.",
    "Which rounds lie between this use and the loss? Multiply by what those do: the product grows from the loss back.",
    "Forward is the order in which the h are made, so the product is built in that order, too.",
    also=(_through_earlier_rounds(False),),
)
def factors_of_earlier_rounds(w: T, x: T, depth: int) -> object:
    return _through_earlier_rounds(True)(w, x, depth)


def _signal_at(where: int, reduced: bool) -> Code:
    """The gradient with respect to the h after each use (1), or before it (0)."""

    def signals(w: T, x: T, depth: int) -> object:
        found = _signals(w, x, depth)[0][where : depth + where]
        found = [_fitted(w, one) for one in found] if reduced else found
        return found, _sum(found)

    return signals


def _signal_and_total(where: int, reduced: bool) -> Code:
    def signals(w: T, x: T, depth: int) -> object:
        found = _signals(w, x, depth)[0][where : depth + where]
        return ([_fitted(w, one) for one in found] if reduced else found), right(w, x, depth)[1]

    return signals


@mistake(
    "The gradient of h, not of w",
    "Each contribution is the derivative of the loss with respect to one of the h, added up over its entries "
    "perhaps. It is the signal that passes through, not what the use of w receives from it.",
    "Ask for the gradient with respect to a weight of that use's own.",
    "Both come out of the same backward, and when w is shaped like x they have the same shape.",
    also=tuple(
        make(where, reduced)
        for make in (_signal_at, _signal_and_total)
        for where in (0, 1)
        for reduced in (False, True)
        if (make, where, reduced) != (_signal_at, 1, False)
    ),
)
def gradient_of_h(w: T, x: T, depth: int) -> object:
    return _signal_at(1, False)(w, x, depth)


def _at_the_product_unreduced(w: T, x: T, depth: int) -> object:
    found = _signals(w, x, depth)[1]
    return found, _sum(found)


@mistake(
    "The other factor of the product is missing",
    "Each contribution is the signal that arrives at w * h. What w receives from it is that signal times h.",
    "At a product each factor receives the signal times the other factor.",
    also=(_at_the_product_unreduced,),
)
def input_left_out(w: T, x: T, depth: int) -> object:
    found = [_fitted(w, one) for one in _signals(w, x, depth)[1]]
    return found, _sum(found)


@mistake(
    "Everything is divided by the number of entries of x",
    "The numbers are those of the mean of h as loss: too small by the number of entries of x. The loss here is the "
    "sum of h.",
    "Look at the loss in the exercise. Is there a mean, or a division, in your code?",
)
def mean_for_sum(w: T, x: T, depth: int) -> object:
    found = _by_leaves(w, x, depth, _round, torch.mean)
    return found, _sum(found)


@mistake(
    "tanh is missing in the rounds",
    "The numbers are those of h = w * h.",
    "Compare your round with the one of the exercise: h = tanh(w * h).",
)
def rounds_without_tanh(w: T, x: T, depth: int) -> object:
    found = _by_leaves(w, x, depth, lambda leaf, h: leaf * h)
    return found, _sum(found)


@mistake(
    "tanh and the product are in the other order",
    "The numbers are those of h = w * tanh(h).",
    "Compare your round with the one of the exercise: first the product, then tanh.",
)
def tanh_before_the_product(w: T, x: T, depth: int) -> object:
    found = _by_leaves(w, x, depth, lambda leaf, h: leaf * torch.tanh(h))
    return found, _sum(found)


def _total_reduced(w: T, x: T, depth: int) -> object:
    found, _ = _unreduced(w, x, depth)
    return found, right(w, x, depth)[1]


@mistake(
    "A scalar weight with a gradient of many entries",
    "w is 0-d and serves every entry of h, but the contribution still has one number an entry.",
    "Add over the entries: what is broadcast on the way forward is summed on the way back.",
    also=(_total_reduced,),
)
def uses_not_reduced(w: T, x: T, depth: int) -> object:
    return _unreduced(w, x, depth)


@mistake(
    "A scalar weight got the mean over the entries",
    "w is 0-d and serves every entry of h. Its contribution is the sum over the entries; their mean was taken.",
    "Add over the entries: what is broadcast on the way forward is summed on the way back.",
)
def reduced_by_the_mean(w: T, x: T, depth: int) -> object:
    return _by_hand(w, x, depth, reduce=torch.mean)


def _each_and_one_total(w: T, x: T, depth: int) -> object:
    _, total = right(w, x, depth)
    return [total] * depth, total


@mistake(
    "Every contribution is the total",
    "All contributions are the same, and each of them holds all uses.",
    "Is it one tensor that the rounds share? [w] * depth repeats one tensor; make a separate copy for each use.",
    "Fan-in is summed inside one backward, before you can look.",
    also=(_each_and_one_total,),
)
def same_leaf_for_every_use(w: T, x: T, depth: int) -> object:
    _, total = right(w, x, depth)
    return [total] * depth, total * depth


@mistake(
    "The growth of the gradient was shared out, not the gradient",
    "Entry k is the gradient of the chain of k + 1 rounds, less that of the chain of k rounds. They add up to the "
    "right total, but a use contributes what it adds within the whole chain.",
    "Run the whole chain once, with a weight of its own for every use.",
    "What comes to a sum with each round looks like that round's share.",
)
def growth_for_contributions(w: T, x: T, depth: int) -> object:
    totals = [_sum(_by_leaves(w, x, rounds, _round)) for rounds in range(1, depth + 1)]
    shares = [later - earlier for earlier, later in zip(totals, totals[1:], strict=False)]
    return [totals[0], *shares], totals[-1]


@mistake(
    "The slope of tanh was taken at the round's input",
    "1 - h**2 holds for the h that comes out of the round, and the h that goes into it was put in.",
    "Keep all the h, x first, and check which one each slope reads.",
)
def slope_from_the_input(w: T, x: T, depth: int) -> object:
    hidden, signal, found = _hidden(w, x, depth), torch.ones_like(x.detach()), []
    for before in reversed(hidden[:-1]):
        passed = signal * (1 - before**2)
        found.append(_fitted(w, passed * before))
        signal = passed * w.detach()
    return found[::-1], _sum(found)


@mistake(
    "tanh was applied twice in its slope",
    "The slope of tanh was taken as 1 - tanh(h)**2 where h is the value after tanh already.",
    "The slope is one minus the square of the value after tanh: 1 - h**2 for the h that comes out of the round.",
)
def tanh_taken_twice(w: T, x: T, depth: int) -> object:
    hidden, signal, found = _hidden(w, x, depth), torch.ones_like(x.detach()), []
    for before, after in zip(reversed(hidden[:-1]), reversed(hidden[1:]), strict=True):
        passed = signal * (1 - torch.tanh(after) ** 2)
        found.append(_fitted(w, passed * before))
        signal = passed * w.detach()
    return found[::-1], _sum(found)


@mistake(
    "The right total, shared out evenly",
    "Every contribution is the right total divided by depth, but the uses do not contribute alike.",
    "Give each use its own weight of equal value, and ask for each one's gradient.",
)
def total_shared_evenly(w: T, x: T, depth: int) -> object:
    _, total = right(w, x, depth)
    return [total / depth] * depth, total


def _running(backward: bool, turned: bool, summed: bool) -> Code:
    def running(w: T, x: T, depth: int) -> object:
        found, total = right(w, x, depth)
        sums = list(torch.stack(found[::-1] if backward else found).cumsum(0))
        sums = sums[::-1] if turned else sums
        return sums, _sum(sums) if summed else total

    return running


@mistake(
    "Running totals instead of contributions",
    "Each entry holds what the uses counted before it add, too.",
    "Take what each use adds, not what has been added so far.",
    also=tuple(
        _running(backward, turned, summed)
        for backward, turned in ((False, False), (True, False), (True, True))
        for summed in (False, True)
        if backward or summed
    ),
)
def running_totals(w: T, x: T, depth: int) -> object:
    return _running(False, False, False)(w, x, depth)


def _so_far(summed: bool) -> Code:
    def so_far(w: T, x: T, depth: int) -> object:
        leaf, h, found = _leaves(w, 1)[0], x.detach(), []
        for _ in range(depth):
            h = _round(leaf, h)
            found.append(torch.autograd.grad(h.sum(), leaf, retain_graph=True)[0])
        return found, _sum(found) if summed else found[-1]

    return so_far


@mistake(
    "The gradient of the chain so far, not of one use",
    "Each contribution is the gradient of that round's h with respect to w. It holds all uses up to there, and leaves "
    "out what the later rounds make of them.",
    "Give each use a leaf of its own, run the whole chain, and take the gradients of the final loss.",
    "w is one tensor, so a gradient with respect to it cannot tell its uses apart.",
    also=(_so_far(True),),
)
def whole_chain_so_far(w: T, x: T, depth: int) -> object:
    return _so_far(False)(w, x, depth)


def _each_divided(w: T, x: T, depth: int) -> object:
    found, total = right(w, x, depth)
    return [one / depth for one in found], total


@mistake(
    "Each contribution is too small by the factor depth",
    "Each contribution is the right one divided by depth.",
    "Leave the division out: the uses add up, they are not averaged.",
    also=(_each_divided,),
)
def contributions_divided_by_depth(w: T, x: T, depth: int) -> object:
    found, total = right(w, x, depth)
    return [one / depth for one in found], total / depth


@mistake(
    "The total is the mean of the uses",
    "The total is too small by the factor depth. A weight used several times receives the sum.",
    "Add the contributions; do not divide.",
)
def uses_averaged(w: T, x: T, depth: int) -> object:
    found, total = right(w, x, depth)
    return found, total / depth


def _first_for_total(w: T, x: T, depth: int) -> object:
    found, _ = right(w, x, depth)
    return found, found[0]


@mistake(
    "One use stands for the total",
    "What was returned as the sum is the contribution of one use.",
    "Add them all up.",
    also=(_first_for_total,),
)
def one_use_for_total(w: T, x: T, depth: int) -> object:
    found, _ = right(w, x, depth)
    return found, found[-1]


@mistake(
    "The total is the product of the uses",
    "What was returned as the total is the contributions multiplied with each other.",
    "Add them up: each use brings its own part of the gradient.",
    "Along one path the factors multiply; over several paths the products add.",
)
def product_for_sum(w: T, x: T, depth: int) -> object:
    found, _ = right(w, x, depth)
    return found, torch.stack(found).prod(0)


def _summed_to_one_number(w: T, x: T, depth: int) -> object:
    found, total = right(w, x, depth)
    return found, total.sum()


def _nudged_as_a_whole(w: T, x: T, depth: int) -> object:
    found = [one.sum() for one in right(w, x, depth)[0]]
    return found, _sum(found)


@mistake(
    "Each contribution is one number",
    "Where w has several entries, what they add was added up: one number stands for all of them, as when all entries of "
    "a use are nudged together. A contribution has the shape of w.",
    "Keep the entries of w apart. When you nudge, nudge one entry of one use at a time.",
    "Where w is 0-d there is only one entry, and this is right.",
    also=(_nudged_as_a_whole,),
)
def contributions_over_the_entries(w: T, x: T, depth: int) -> object:
    found, total = right(w, x, depth)
    return [one.sum() for one in found], total


@mistake(
    "The total is one number",
    "The contributions were added over their entries, too. The total has the shape of w, as each contribution has.",
    "Add the contributions to each other, entry by entry.",
    "sum(list) adds the tensors to each other; tensor.sum() adds everything there is, unless it is told a dimension.",
)
def total_over_the_entries(w: T, x: T, depth: int) -> object:
    return _summed_to_one_number(w, x, depth)


@mistake(
    "The gradients that were there before are counted in",
    "The total lies on top of what w.grad held before the call.",
    "Begin the sum with zeros, and leave w.grad out of it.",
    "Nothing clears .grad for you: not backward, not the end of a function.",
)
def started_from_old_gradients(w: T, x: T, depth: int) -> object:
    found, total = right(w, x, depth)
    return found, total if w.grad is None else w.grad + total


def _zeros_with_right_total(w: T, x: T, depth: int) -> object:
    found, total = right(w, x, depth)
    return [torch.zeros_like(one) for one in found], total


@mistake(
    "Every contribution is zero",
    "No use of w seems to add anything.",
    "Where do these zeros come from? Did the code put them where a gradient was None? backward fills .grad of "
    "leaves, and of other tensors only after retain_grad(): a clone of a tensor that requires gradients is no leaf, "
    "unless it was detached first.",
    "Where w requires gradients, w.clone() has a history that leads to w, so the gradient travels on to w.",
    also=(_zeros_with_right_total,),
)
def zeros_for_contributions(w: T, x: T, depth: int) -> object:
    found, total = right(w, x, depth)
    return [torch.zeros_like(one) for one in found], torch.zeros_like(total)


@mistake(
    "One round too many",
    "The contributions are those of a chain of depth + 1 rounds.",
    "Count the uses of w: there are depth of them, and the first one takes x.",
)
def one_round_too_many(w: T, x: T, depth: int) -> object:
    return right(w, x, depth + 1)


@mistake(
    "Always two rounds",
    "The numbers are those of depth = 2, whatever depth is.",
    "Make as many copies of w as depth says, in a loop.",
)
def two_rounds_always(w: T, x: T, depth: int) -> object:
    return right(w, x, 2)


@mistake(
    "Only the total was returned",
    "The sum is right; what each use adds to it is missing.",
    "Return a pair: the contributions and the total.",
)
def total_alone(w: T, x: T, depth: int) -> object:
    return right(w, x, depth)[1]


def _stack_alone(w: T, x: T, depth: int) -> object:
    return torch.stack(right(w, x, depth)[0])


@mistake(
    "Only the contributions were returned",
    "The contributions are right; their sum is missing.",
    "Return a pair: the contributions and the total.",
    also=(_stack_alone,),
)
def contributions_alone(w: T, x: T, depth: int) -> object:
    return right(w, x, depth)[0]


def _swapped_stack(w: T, x: T, depth: int) -> object:
    found, total = right(w, x, depth)
    return total, torch.stack(found)


@mistake(
    "The pair is the wrong way round",
    "The total stands first and the contributions second.",
    "Return the contributions first.",
    also=(_swapped_stack,),
)
def pair_swapped(w: T, x: T, depth: int) -> object:
    found, total = right(w, x, depth)
    return total, found


@mistake(
    "The uses stand along the last dimension",
    "The contributions were stacked along another dimension than the first.",
    "Stack along a new dimension 0, or return a list.",
)
def uses_along_the_last_dimension(w: T, x: T, depth: int) -> object:
    found, total = right(w, x, depth)
    return torch.stack(found, dim=-1), total


@mistake(
    "One contribution holds the total",
    "One entry shows the total instead of its own share, as when the total is summed up in the memory of that entry.",
    "Sum into a tensor of its own: is there an in-place += on something that also stands in the list?",
    "`total = contributions[0]` makes a second name for the same tensor, and += changes what both name.",
    also=(lambda w, x, depth: _summed_into(w, x, depth, -1),),
)
def summed_into_a_contribution(w: T, x: T, depth: int) -> object:
    return _summed_into(w, x, depth, 0)


def _summed_into(w: T, x: T, depth: int, use: int) -> object:
    found, total = right(w, x, depth)
    found = list(found)
    found[use] = total
    return found, total


@mistake(
    "The square in the slope of tanh is missing",
    "The numbers are those of the slope 1 - h. Where h is negative that is more than 1, steeper than tanh can be.",
    "The slope of tanh is one minus the square of its value.",
)
def slope_without_square(w: T, x: T, depth: int) -> object:
    return _by_hand(w, x, depth, slope=lambda h: 1 - h)


@mistake(
    "A plus in the slope of tanh",
    "The numbers are those of the slope 1 + h**2: at least 1 everywhere, where tanh is nowhere steeper than 1.",
    "Where tanh is flat, its slope must come out near zero: which sign gives that?",
)
def slope_with_plus(w: T, x: T, depth: int) -> object:
    return _by_hand(w, x, depth, slope=lambda h: 1 + h**2)


@mistake(
    "The slope of the sigmoid for tanh",
    "The numbers are those of the slope h(1 - h): with h the value of a sigmoid, that is the sigmoid's slope.",
    "The derivative of tanh is one minus the square of its value.",
)
def sigmoid_slope(w: T, x: T, depth: int) -> object:
    return _by_hand(w, x, depth, slope=lambda h: h * (1 - h))


def _output_and_slope(slope: Callable[[T], T]) -> Code:
    return lambda w, x, depth: _by_hand(w, x, depth, slope=slope, position=1)


@mistake(
    "Two factors of a round are off",
    "The share of a use multiplies the round's output where its input belongs, and the slope of tanh is not 1 - h**2 "
    "either.",
    "Write one round down, h_new = tanh(w * h): what is its derivative by w? It holds the slope of tanh at h_new, and h.",
    "Each round has an input and an output, and both are called h.",
    also=(
        _output_and_slope(torch.ones_like),
        _output_and_slope(lambda h: 1 - h),
        _output_and_slope(lambda h: h * (1 - h)),
    ),
)
def output_and_another_slope(w: T, x: T, depth: int) -> object:
    return _output_and_slope(lambda h: 1 - torch.tanh(h) ** 2)(w, x, depth)
