"""What is often done instead in exercise 2.4."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import torch
from torch import nn

from course_utils.checks.mistakes import mistake
from course_utils.checks.observe.spies import BACKWARDS, GRADS
from course_utils.lessons.lesson2.multi_loss_gradients.task import ARRIVED

Loss = Callable[[nn.Module], torch.Tensor]
Losses = Sequence[Loss]
Weights = Sequence[float]
Code = Callable[[nn.Module, Losses, Weights], object]


def _cleared(model: nn.Module) -> None:
    for p in model.parameters():
        p.grad = None


def _sent(model: nn.Module, losses: Losses, factors: Weights) -> None:
    """Each loss backward by itself, times its factor, on top of what .grad holds."""
    for loss, factor in zip(losses, factors, strict=False):
        (factor * loss(model)).backward()


def _weighed(change: Callable[[list[float]], list[float]]) -> Code:
    """Right but for the weights, which were changed."""

    def code(model: nn.Module, losses: Losses, weights: Weights) -> None:
        _cleared(model)
        _sent(model, losses, change(list(weights)))

    return code


@mistake(
    "The gradients that were there before are counted in",
    "backward() adds to what .grad holds, and it held an earlier gradient when this began.",
    "Empty every .grad before the first backward.",
    "Nothing clears .grad for you: not backward, not the end of a function.",
)
def started_from_old_gradients(model: nn.Module, losses: Losses, weights: Weights) -> None:
    _sent(model, losses, weights)


def _subtracted(model: nn.Module, losses: Losses, weights: Weights) -> None:
    old = {p: p.grad.clone() for p in model.parameters() if p.grad is not None}
    _sent(model, losses, weights)
    for p, gradient in old.items():
        assert p.grad is not None
        p.grad -= gradient


@mistake(
    "The old gradients were cancelled, not cleared",
    "Where .grad was infinite or NaN before, it is NaN now: zero times infinity is NaN, and so is infinity minus "
    "infinity. On finite numbers such arithmetic does clear.",
    "Clear by setting .grad to None, or by writing zeros over it.",
    "For finite numbers, multiplying by zero and subtracting the old value do clear.",
    also=(_subtracted,),
)
def cancelled_not_cleared(model: nn.Module, losses: Losses, weights: Weights) -> None:
    for p in model.parameters():
        if p.grad is not None:
            p.grad *= 0
    _sent(model, losses, weights)


def _clearing_with_zeros(model: nn.Module, losses: Losses, weights: Weights) -> None:
    for loss, weight in zip(losses, weights, strict=True):
        model.zero_grad(set_to_none=False)
        (weight * loss(model)).backward()


def _clearing_without_weight_zero(model: nn.Module, losses: Losses, weights: Weights) -> None:
    for loss, weight in zip(losses, weights, strict=True):
        if weight:
            _cleared(model)
            (weight * loss(model)).backward()


@mistake(
    "The last loss's gradient is all that is left",
    "Backward ran for each loss, or for each of a weight that is not zero, and only the last one's gradient is left. "
    "That is what clearing between the backwards leaves: what the rounds before had put into .grad is lost.",
    "Clear once, before the first backward. Is .grad cleared, or assigned to, inside the loop?",
    "A plain training loop clears in each round, but there a step has used the gradient before it is cleared.",
    also=(_clearing_with_zeros, _clearing_without_weight_zero),
    signs=(BACKWARDS,),
)
def cleared_between_backwards(model: nn.Module, losses: Losses, weights: Weights) -> None:
    for loss, weight in zip(losses, weights, strict=True):
        _cleared(model)
        (weight * loss(model)).backward()


@mistake(
    "Only the last loss went backward",
    "One backward pass ran, and .grad holds the last loss's gradient: of the others nothing arrived.",
    "Does the backward stand in the loop, or after it? After the loop a name holds what the last round gave it.",
    "A line that is indented one level too little runs once, and Python says nothing.",
    signs=(BACKWARDS,),
)
def only_the_last_loss(model: nn.Module, losses: Losses, weights: Weights) -> None:
    _cleared(model)
    _sent(model, losses[-1:], weights[-1:])


@mistake(
    "Only the last loss went backward, and the old gradients are counted in",
    "One backward pass ran, the last loss's, on top of what .grad held before. Of the other losses nothing arrived.",
    "Does the backward stand in the loop, or after it? And what empties .grad before the first one?",
    "A line that is indented one level too little runs once, and Python says nothing.",
    signs=(BACKWARDS,),
)
def last_loss_on_old_gradients(model: nn.Module, losses: Losses, weights: Weights) -> None:
    _sent(model, losses[-1:], weights[-1:])


@mistake(
    "Only the first loss went backward",
    "One backward pass ran, and .grad holds the first loss's gradient: of the others nothing arrived.",
    "Is there a loop over all losses, and what ends it after its first round? A return that is indented one level "
    "too far does.",
    signs=(BACKWARDS,),
)
def only_the_first_loss(model: nn.Module, losses: Losses, weights: Weights) -> None:
    _cleared(model)
    _sent(model, losses[:1], weights[:1])


def _assigned(unused: str) -> Code:
    def code(model: nn.Module, losses: Losses, weights: Weights) -> None:
        _cleared(model)
        params = [p for p in model.parameters() if p.requires_grad]
        for loss, weight in zip(losses, weights, strict=True):
            found: Sequence[torch.Tensor | None] = torch.autograd.grad(weight * loss(model), params, allow_unused=True)
            for p, gradient in zip(params, found, strict=True):
                if gradient is not None or unused == "assigned":
                    p.grad = gradient

    return code


@mistake(
    "Each loss's gradient replaced the one before",
    "No backward pass wrote to .grad: gradients were handed back and put there, and those of a later loss took the "
    "place of those of an earlier one.",
    "Add to what .grad holds by then, or let backward() do so: it adds by itself.",
    "An assignment forgets what the name held.",
    also=(_assigned("left"),),
    signs=(BACKWARDS, GRADS),
)
def assigned_not_added(model: nn.Module, losses: Losses, weights: Weights) -> None:
    _assigned("assigned")(model, losses, weights)


@mistake(
    "The weights were not used",
    "Every loss counts as one.",
    "Multiply each loss by its weight before its backward.",
)
def weights_ignored(model: nn.Module, losses: Losses, weights: Weights) -> None:
    _cleared(model)
    _sent(model, losses, [1.0] * len(weights))


@mistake(
    "The weights were not used, and the old gradients are counted in",
    "Every loss counts as one, on top of what .grad held before.",
    "Empty every .grad before the first backward, and multiply each loss by its weight before its own.",
)
def not_cleared_and_not_weighed(model: nn.Module, losses: Losses, weights: Weights) -> None:
    _sent(model, losses, [1.0] * len(weights))


@mistake(
    "Divided by the number of losses",
    "The result is the weighted sum, divided by the number of losses.",
    "Leave the division out; the weights say all there is to say.",
)
def averaged_over_losses(model: nn.Module, losses: Losses, weights: Weights) -> None:
    _weighed(lambda w: [one / len(w) for one in w])(model, losses, weights)


@mistake(
    "Divided by the number of losses, and the weights were not used",
    "The result is the plain mean over the losses: every loss counts alike.",
    "Multiply each loss by its weight before its backward, and divide by nothing.",
)
def plain_mean_over_losses(model: nn.Module, losses: Losses, weights: Weights) -> None:
    _weighed(lambda w: [1 / len(w)] * len(w))(model, losses, weights)


@mistake(
    "The weights were made to add up to one",
    "Each weight counts as if divided by the sum of all weights, or of their absolute values.",
    "Use the weights as they are.",
    also=(_weighed(lambda w: [one / sum(map(abs, w)) for one in w]),),
)
def weights_normalised(model: nn.Module, losses: Losses, weights: Weights) -> None:
    _weighed(lambda w: [one / sum(w) for one in w])(model, losses, weights)


def _unweighed_sum_each_time(model: nn.Module, losses: Losses, weights: Weights) -> None:
    _weighed(lambda w: [float(len(w) - index) for index in range(len(w))])(model, losses, weights)


@mistake(
    "Earlier losses were counted again in later rounds",
    "The first of n losses counts n times, the second n - 1 times, and so on. That is what a running sum of losses "
    "does that goes backward in each round: it contains the losses before.",
    "Send each loss, times its weight, backward by itself, as soon as it is made; .grad does the adding.",
    "Both the running sum and .grad accumulate.",
    also=(_unweighed_sum_each_time,),
)
def running_sum_backward(model: nn.Module, losses: Losses, weights: Weights) -> None:
    _weighed(lambda w: [one * (len(w) - index) for index, one in enumerate(w)])(model, losses, weights)


def _whole_sum_each_time(model: nn.Module, losses: Losses, weights: Weights) -> None:
    _weighed(lambda w: [float(len(w))] * len(w))(model, losses, weights)


@mistake(
    "The whole sum was counted as often as there are losses",
    "The result is the sum of all losses, weighed or not, times the number of losses.",
    "Did the sum of all losses go backward in each round? Send each loss, times its weight, backward by itself, "
    "once, as soon as it is made; .grad does the adding.",
    also=(_whole_sum_each_time,),
)
def whole_sum_each_time(model: nn.Module, losses: Losses, weights: Weights) -> None:
    _weighed(lambda w: [one * len(w) for one in w])(model, losses, weights)


def _backward_twice(model: nn.Module, losses: Losses, weights: Weights) -> None:
    loss = losses[0](model)
    loss.backward()
    loss.backward()


@mistake(
    "One graph was walked backward twice",
    "Something went backward of which a part had gone backward before, and that first time had freed its graph. A "
    "running sum of losses is such a thing: it contains the losses before.",
    "Send each loss backward by itself, once, as soon as it is made; .grad does the adding. To retain the graph "
    "would end the error, and may count a loss again.",
    "Both the running sum and .grad accumulate.",
    also=(_backward_twice,),
)
def graph_freed(model: nn.Module, losses: Losses, weights: Weights) -> None:
    total = torch.zeros(())
    for loss, weight in zip(losses, weights, strict=True):
        total = total + weight * loss(model)
        total.backward()


@mistake(
    "The weight scaled everything gathered so far",
    "Each loss counts with the product of its own weight and all later ones, as when .grad, or a running sum of "
    "losses, is multiplied in each round: by then it holds the earlier losses too.",
    "Put the weight on the loss, before its backward: then only its own gradient is scaled.",
)
def running_grad_scaled(model: nn.Module, losses: Losses, weights: Weights) -> None:
    _weighed(lambda w: [math.prod(w[index:]) for index in range(len(w))])(model, losses, weights)


@mistake(
    "What was weighed held the earlier losses, too",
    "Each loss counts with the sum of its own weight and all later ones: the first one with all the weights. Was a "
    "sum weighed in each round, in .grad or of losses, that held the rounds before?",
    "Put the weight on the loss, before its backward: then only its own gradient is scaled, and .grad does the adding.",
    "Without a clearing in between, .grad after a backward is not that loss's gradient but the sum so far.",
)
def running_grad_weighed(model: nn.Module, losses: Losses, weights: Weights) -> None:
    _weighed(lambda w: [sum(w[index:]) for index in range(len(w))])(model, losses, weights)


def _scaled_as_a_whole(factor: Callable[[list[float]], float]) -> Code:
    return _weighed(lambda w: [factor(w)] * len(w))


@mistake(
    "The sum was weighed as a whole",
    "The numbers are those of all losses added up without their weights, and multiplied by one number for all.",
    "Each loss has its own weight: bring the two together before that loss's backward.",
    "After a loop a name still holds what its last round gave it, a weight for example.",
    also=tuple(_scaled_as_a_whole(factor) for factor in (math.prod, sum, lambda w: w[0], lambda w: sum(w) / len(w))),
)
def scaled_as_a_whole(model: nn.Module, losses: Losses, weights: Weights) -> None:
    _scaled_as_a_whole(lambda w: w[-1])(model, losses, weights)


@mistake(
    "The weight was applied twice",
    "The gradient of each loss is multiplied by the square of its weight.",
    "Apply each weight once: to the loss or to its gradient, not to both.",
)
def weighted_twice(model: nn.Module, losses: Losses, weights: Weights) -> None:
    _weighed(lambda w: [one * one for one in w])(model, losses, weights)


@mistake(
    "The sign of a weight was lost",
    "A negative weight counts as a positive one.",
    "Use the weight as it is: a negative one pushes that loss up.",
)
def weight_sign_lost(model: nn.Module, losses: Losses, weights: Weights) -> None:
    _weighed(lambda w: [abs(one) for one in w])(model, losses, weights)


@mistake(
    "A loss of negative weight was left out",
    "Only losses of positive weight count: a negative weight counts as zero.",
    "Leave out losses of weight exactly zero, or none.",
)
def negative_weight_skipped(model: nn.Module, losses: Losses, weights: Weights) -> None:
    _weighed(lambda w: [max(one, 0.0) for one in w])(model, losses, weights)


@mistake(
    "The losses after the one of weight zero do not count",
    "Where a weight is zero, nothing that stands after it in the list counts.",
    "Does the loop go on after a weight of zero, or does that weight multiply what comes later, too?",
)
def stopped_at_weight_zero(model: nn.Module, losses: Losses, weights: Weights) -> None:
    _weighed(lambda w: [*w[: w.index(0.0)], *([0.0] * len(w[w.index(0.0) :]))] if 0.0 in w else w)(
        model, losses, weights
    )


@mistake(
    "The weights are one position off",
    "A loss was multiplied by the weight of the loss next to it in the list. At one end the weight came from the "
    "other end, or the loss does not count.",
    "Which weight does the first loss get, and which the last? Go through both lists together.",
    "A negative index counts from the end, and zip stops at the shorter of two lists: neither is an error.",
    also=(
        _weighed(lambda w: w[1:] + w[:1]),
        _weighed(lambda w: [*w[1:], 0.0]),
        _weighed(lambda w: [0.0, *w[:-1]]),
    ),
)
def weights_one_position_off(model: nn.Module, losses: Losses, weights: Weights) -> None:
    _weighed(lambda w: w[-1:] + w[:-1])(model, losses, weights)


@mistake(
    "The weights were read from the other end",
    "Losses and weights were paired in opposite directions, one list forward and the other backward, but for the "
    "first pair perhaps.",
    "Which weight does the first loss get? Go through both lists together, in the same direction.",
    "pop() takes from the end of a list, and a negative index counts from there.",
    also=(_weighed(lambda w: w[:1] + w[:0:-1]),),
)
def weights_in_reverse(model: nn.Module, losses: Losses, weights: Weights) -> None:
    _weighed(lambda w: w[::-1])(model, losses, weights)


def _last_weight_once(model: nn.Module, losses: Losses, weights: Weights) -> None:
    pairs = dict(zip(losses, weights, strict=True))
    _cleared(model)
    _sent(model, list(pairs), list(pairs.values()))


def _first_weight_once(model: nn.Module, losses: Losses, weights: Weights) -> None:
    pairs: dict[Loss, float] = {}
    for loss, weight in zip(losses, weights, strict=True):
        pairs.setdefault(loss, weight)
    _cleared(model)
    _sent(model, list(pairs), list(pairs.values()))


@mistake(
    "A loss that stands twice did not get both its weights",
    "Where a loss stands in the list twice, with a weight at each place, only one of the two weights was used.",
    "Go by the places of the two lists, not by the losses: index() finds the first place, and a dict keeps one entry "
    "for each key.",
    "As long as no loss comes again, a loss and its place say the same.",
    also=(_last_weight_once, _first_weight_once),
)
def same_loss_same_weight(model: nn.Module, losses: Losses, weights: Weights) -> None:
    _weighed(lambda w: [w[list(losses).index(loss)] for loss in losses])(model, losses, weights)


def _without_weight_zero_then_cleared(model: nn.Module, losses: Losses, weights: Weights) -> None:
    _sent(
        model, [loss for loss, weight in zip(losses, weights, strict=True) if weight], [one for one in weights if one]
    )
    _cleared(model)


@mistake(
    ".grad was cleared at the end",
    "Backward ran and put gradients into .grad, and they were thrown away: whoever called this function finds .grad "
    "cleared.",
    "Leave the sum in .grad; it is what the caller asked for. Is there a clearing after a backward?",
    "Tidying up is right where .grad belongs to somebody else. Here filling it is the task.",
    also=(_without_weight_zero_then_cleared,),
    signs=(BACKWARDS, ARRIVED),
)
def cleared_at_the_end(model: nn.Module, losses: Losses, weights: Weights) -> None:
    _sent(model, losses, weights)
    _cleared(model)


@mistake(
    "What went backward is not connected with the model",
    "backward ran, but no gradient arrived at a parameter of the model: what went backward was not made from them.",
    "Follow the loss from the model's own parameters to its backward. A copy of the model, item(), float(), detach() "
    "and torch.tensor(...) cut it off.",
    "A new tensor that requires gradients has a graph of its own, in which the model does not occur.",
    signs=(BACKWARDS, ARRIVED),
)
def cut_off_from_the_model(model: nn.Module, losses: Losses, weights: Weights) -> None:
    _cleared(model)
    for loss, weight in zip(losses, weights, strict=True):
        (weight * loss(model).detach().requires_grad_()).backward()


@mistake(
    "No backward filled .grad",
    ".grad is empty after the call: what was there before is gone, and no backward pass ran that writes there.",
    "Which line sends a loss backward? A loss that is only computed leaves no gradient, and torch.autograd.grad hands "
    "gradients back without writing them.",
    signs=(BACKWARDS,),
)
def no_backward(model: nn.Module, losses: Losses, weights: Weights) -> None:
    _cleared(model)


@mistake(
    "Nothing arrived in .grad",
    ".grad holds after the call what it held before it.",
    "Assign to the .grad of the model's own parameters, or let backward() write there; a local name, a returned dict "
    "or a copy of the model does not reach it.",
)
def grad_left_untouched(model: nn.Module, losses: Losses, weights: Weights) -> None:
    return None


@mistake(
    "A parameter that no loss uses kept its old gradient",
    "It was not cleared, so the next step moves it by a gradient of the past.",
    "Clear every parameter of the model, not only those the losses reach.",
)
def unused_kept_old_gradient(model: nn.Module, losses: Losses, weights: Weights) -> None:
    params = [p for p in model.parameters() if p.requires_grad]
    fresh: dict[nn.Parameter, torch.Tensor] = {}
    for loss, weight in zip(losses, weights, strict=True):
        found = torch.autograd.grad(weight * loss(model), params, allow_unused=True)
        for p, gradient in zip(params, found, strict=True):
            if gradient is not None:
                fresh[p] = fresh[p] + gradient if p in fresh else gradient
    for p, gradient in fresh.items():
        p.grad = gradient


@mistake(
    "A frozen parameter was given a gradient of zeros",
    "Its .grad was None and is zeros now. An optimizer skips None; on zeros, weight decay and momentum still move it.",
    "Clear to None, or put zeros only where requires_grad is set.",
)
def frozen_got_zeros(model: nn.Module, losses: Losses, weights: Weights) -> None:
    for p in model.parameters():
        p.grad = torch.zeros_like(p, requires_grad=False)
    _sent(model, losses, weights)


@mistake(
    "backward() was called on something that is no tensor",
    "Only a tensor can go backward. The losses are functions: a function has no backward(), the value it returns does. "
    "And item() or float() makes a plain number of that value, which has none either.",
    "What stands before .backward() in that line? It must be what a loss returns when it is called with the model.",
)
def loss_not_called(model: nn.Module, losses: Losses, weights: Weights) -> None:
    for loss in losses:
        loss.backward()  # type: ignore[attr-defined]


@mistake(
    "A product with something that is no number",
    "A weight can be multiplied by the value of a loss, a 0-d tensor; the other factor was nothing that can be "
    "multiplied.",
    "What are the two factors in that line? The losses are functions: call one with the model, and weigh what comes "
    "back.",
)
def weighed_the_function(model: nn.Module, losses: Losses, weights: Weights) -> None:
    for loss, weight in zip(losses, weights, strict=True):
        (weight * loss).backward()  # type: ignore[operator, attr-defined]


def _three_losses(model: nn.Module, losses: Losses, weights: Weights) -> None:
    first, second, third = losses  # noqa: F841
    _weighed(lambda w: w)(model, losses, weights)


@mistake(
    "The list was taken apart into a fixed number of names",
    "There may be any number of losses and weights, and Python refuses to spread a list over another number of names.",
    "Go through losses and weights in a loop.",
    also=(_three_losses,),
)
def fixed_number_of_losses(model: nn.Module, losses: Losses, weights: Weights) -> None:
    first, second = losses  # noqa: F841
    _weighed(lambda w: w)(model, losses, weights)


# ------------------------------------------------------------------ the rules


def _all_losses_first(model: nn.Module, losses: Losses, weights: Weights) -> None:
    _cleared(model)
    values = [loss(model) for loss in losses]
    for value, weight in zip(values, weights, strict=True):
        (weight * value).backward()


@mistake(
    "More than one graph was alive",
    "The gradients are right, but when a later loss was called, the graph of an earlier one still held its tensors: "
    "two or more need memory at once.",
    "Send each loss backward before the next one is made, and do not retain its graph.",
    "One backward over the summed loss gives the same numbers and needs the memory of all graphs at once.",
    also=(_all_losses_first,),
)
def graphs_kept_alive(model: nn.Module, losses: Losses, weights: Weights) -> None:
    _cleared(model)
    values = [weight * loss(model) for loss, weight in zip(losses, weights, strict=True)]
    torch.stack(values).sum().backward()


@mistake(
    "A loss was called more than once",
    "The gradients are right, but each call of a loss is a whole forward pass.",
    "Call each loss once and keep its value in a name until its backward.",
)
def loss_not_called_once(model: nn.Module, losses: Losses, weights: Weights) -> None:
    _cleared(model)
    for loss, weight in zip(losses, weights, strict=True):
        (weight * loss(model)).backward()
        with torch.no_grad():
            loss(model)


@mistake(
    "A hook stayed registered",
    "A hook that was registered during the call is still there and can run at later passes of the caller.",
    "Keep the handle that registering returns, and call its remove() at the end.",
    "Hooks live on the parameter or module, not in your function.",
)
def hooks_left_behind(model: nn.Module, losses: Losses, weights: Weights) -> None:
    _cleared(model)
    _sent(model, losses, weights)
    next(p for p in model.parameters() if p.requires_grad).register_hook(lambda gradient: None)


@mistake(
    "Each weight scales the later losses, too",
    "Loss k counts with the product of all weights up to its own: what scaled an earlier loss is still at work.",
    "What multiplies a gradient must end with its loss: put the weight on the loss itself, or remove each hook in "
    "time.",
    "A hook stays on its parameter until somebody removes it.",
)
def weights_pile_up(model: nn.Module, losses: Losses, weights: Weights) -> None:
    _weighed(lambda given: [math.prod(given[: k + 1]) for k in range(len(given))])(model, losses, weights)


@mistake(
    "The last loss's gradient stands for each loss",
    "Each weight multiplies the last loss's gradient. References to the one tensor in .grad show that, when it is "
    "cleared in place and filled again for each loss.",
    "What was kept of each loss: a copy, or the one tensor in .grad? Or let backward add the weighted losses up.",
    "A list stores references; zeroing in place and the next backward change what all of them show.",
)
def last_gradient_for_every_loss(model: nn.Module, losses: Losses, weights: Weights) -> None:
    trained = [p for p in model.parameters() if p.requires_grad]
    for p in trained:
        p.grad = torch.zeros_like(p)
    kept: list[list[torch.Tensor | None]] = []
    for loss in losses:
        model.zero_grad(set_to_none=False)
        loss(model).backward()
        kept.append([p.grad for p in trained])
    for place, p in enumerate(trained):
        p.grad = torch.stack([w * g[place] for w, g in zip(weights, kept, strict=False)]).sum(0)  # type: ignore[operator,misc]


@mistake(
    "What was there before was replaced for some parameters alone",
    "Parameters that the first loss reaches hold the right sum; the others still count their earlier gradient in.",
    "Empty every .grad before the first backward, also those that the first loss does not use.",
    "A loss fills the .grad of the parameters it uses, and of no others.",
)
def cleared_where_the_first_loss_reaches(model: nn.Module, losses: Losses, weights: Weights) -> None:
    for number, (loss, weight) in enumerate(zip(losses, weights, strict=False)):
        trained = [p for p in model.parameters() if p.requires_grad]
        found = torch.autograd.grad(weight * loss(model), trained, allow_unused=True)
        for p, gradient in zip(trained, found, strict=True):
            if gradient is not None:
                p.grad = gradient.clone() if p.grad is None or not number else p.grad + gradient
