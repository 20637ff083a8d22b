"""What the exercises of lesson 6 have in common of what is often done instead: words, and the loop that makes them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from itertools import accumulate
from math import prod
from typing import Any, Literal

import torch
from torch import nn

from course_utils.checks.mistakes import Code, named
from course_utils.checks.observe.spies import BACKWARDS, GRADS
from course_utils.lessons.training import Batch, LossFn

Make = Callable[[], torch.Tensor]
"""Makes the loss of one micro-batch."""
Weigh = Callable[[Sequence[int]], Sequence[float]]
"""From the sizes of all micro-batches to what each loss is multiplied by."""
Spec = Mapping[str, Any]
Clear = Literal[
    "before",
    "never",
    "each",
    "after",
    "used alone",
    "times zero",
    "weights alone",
    "biases alone",
    "zeros for all",
]


def by_rows(sizes: Sequence[int]) -> list[float]:
    """What is right: each size divided by the sum of all."""
    return [n / sum(sizes) for n in sizes]


def alike(factor: Callable[[Sequence[int]], float]) -> Weigh:
    """One factor for all micro-batches."""
    return lambda sizes: [factor(sizes)] * len(sizes)


def each(factor: Callable[[int, Sequence[int]], float]) -> Weigh:
    """A factor for each micro-batch, from its size and all sizes."""
    return lambda sizes: [factor(n, sizes) for n in sizes]


def in_later_rounds(weigh: Weigh) -> Weigh:
    """What is multiplied in each round is all that has been gathered so far."""
    return lambda sizes: [prod(weigh(sizes)[place:]) for place in range(len(sizes))]


def by_rounds_so_far(sizes: Sequence[int]) -> list[float]:
    """One over the number of micro-batches up to there."""
    return [1 / place for place in range(1, len(sizes) + 1)]


def sums_in_later_rounds(sizes: Sequence[int]) -> list[float]:
    """Sums over rows go backward, and in each round what has been gathered so far is divided by all rows."""
    return [
        n * share for n, share in zip(sizes, in_later_rounds(alike(lambda all_: 1 / sum(all_)))(sizes), strict=True)
    ]


def by_sum_so_far(sizes: Sequence[int]) -> list[float]:
    """One over the sum of the sizes up to there."""
    return [1 / max(found, 1) for found in accumulate(sizes)]


def sums_over_rows_so_far(sizes: Sequence[int]) -> list[float]:
    """The same, but divided by the rows up to there."""
    return [n * share for n, share in zip(sizes, in_later_rounds(by_sum_so_far)(sizes), strict=True)]


def again_in_later_rounds(weigh: Weigh) -> Weigh:
    """What goes backward in each round is the sum so far."""
    return lambda sizes: [one * (len(sizes) - place) for place, one in enumerate(weigh(sizes))]


def halved_in_each_round(sizes: Sequence[int]) -> list[float]:
    """The mean of the old and the new, round after round; the first one whole."""
    last = len(sizes) - 1
    return [2.0 ** -(last - place + (place > 0)) for place in range(len(sizes))]


def halved_from_the_first(sizes: Sequence[int]) -> list[float]:
    """The same, but the first one was averaged with zeros."""
    return [2.0 ** -(len(sizes) - place) for place in range(len(sizes))]


def counted_before_the_share(sizes: Sequence[int]) -> list[float]:
    """A running mean over rows whose count holds a micro-batch's rows before its share is made, and adds them again."""
    shares = [n / (seen + n) for n, seen in zip(sizes, accumulate(sizes), strict=True)]
    return [share * prod(1 - later for later in shares[place + 1 :]) for place, share in enumerate(shares)]


def so_far(sizes: Sequence[int]) -> list[float]:
    """Each size divided by the sum up to there."""
    return [n / m for n, m in zip(sizes, accumulate(sizes), strict=True)]


def _begun(model: nn.Module, clear: Clear, make: Make) -> None:
    """What is done to `.grad` before the first backward; `make` makes a loss."""
    params = list(model.parameters())
    if clear == "used alone":
        trainable = [p for p in params if p.requires_grad]
        found = torch.autograd.grad(make(), trainable, allow_unused=True)
        params = [p for p, gradient in zip(trainable, found, strict=True) if gradient is not None]
    for p in params:
        if clear == "zeros for all":
            p.grad = torch.zeros_like(p, requires_grad=False)
        elif clear == "times zero":
            p.grad = None if p.grad is None else p.grad * 0
        elif clear in ("before", "used alone") or clear == ("weights alone" if p.dim() > 1 else "biases alone"):
            p.grad = None


def sent(
    model: nn.Module,
    losses: Sequence[Make],
    factors: Sequence[float],
    *,
    clear: Clear = "before",
    old: float = 1.0,
    which: slice = slice(None),
) -> None:
    """Each loss, times its factor, goes backward by itself; `.grad` is cleared as it is said, what it held before
    multiplied by `old`."""
    _begun(model, clear, losses[0])
    for p in model.parameters():
        if p.grad is not None:
            p.grad *= old
    for make, factor in zip(losses[which], factors[which], strict=True):
        if clear == "each":
            model.zero_grad()
        (make() * factor).backward()
    if clear == "after":
        model.zero_grad()


def assigned(model: nn.Module, losses: Sequence[Make], factors: Sequence[float]) -> None:
    """Each loss's gradients are handed back and put into `.grad`, one after another."""
    params = [p for p in model.parameters() if p.requires_grad]
    model.zero_grad()
    for make, factor in zip(losses, factors, strict=True):
        for p, gradient in zip(params, torch.autograd.grad(make() * factor, params, allow_unused=True), strict=True):
            p.grad = gradient


def hooked(model: nn.Module, losses: Sequence[Make], factors: Sequence[float]) -> None:
    """As it should be, and a hook stays."""
    for p in model.parameters():
        if p.requires_grad:
            p.register_hook(lambda gradient: None)
    sent(model, losses, factors)


def together(model: nn.Module, losses: Sequence[Make], factors: Sequence[float]) -> None:
    """One backward over the sum."""
    model.zero_grad()
    torch.stack([make() * factor for make, factor in zip(losses, factors, strict=True)]).sum().backward()


# ------------------------------------------------------------------ as answers to 6.1 and 6.2


def on_rows(
    weigh: Weigh = by_rows,
    *,
    how: Callable[..., None] = sent,
    old: Callable[[Sequence[int]], float] | None = None,
    **rest: Any,
) -> Code:
    """An answer that goes about it as `how` does, with losses weighed by the numbers of rows."""

    def code(model: nn.Module, loss_fn: LossFn, micro_batches: Sequence[Batch]) -> None:
        losses = [partial(_loss, model, loss_fn, x, y) for x, y in micro_batches]
        sizes = [len(x) for x, _ in micro_batches]
        more = rest if old is None else {**rest, "old": old(sizes)}
        how(model, losses, weigh(sizes), **more)

    return code


def in_eval_mode(model: nn.Module, loss_fn: LossFn, micro_batches: Sequence[Batch]) -> None:
    """As it should be, but in eval mode; the mode is put back."""
    modes = [(module, module.training) for module in model.modules()]
    model.eval()
    on_rows()(model, loss_fn, micro_batches)
    for module, mode in modes:
        module.training = mode


def in_train_mode(model: nn.Module, loss_fn: LossFn, micro_batches: Sequence[Batch]) -> None:
    """As it should be, but in train mode, in which the model stays."""
    model.train()
    on_rows()(model, loss_fn, micro_batches)


def target_first(model: nn.Module, loss_fn: LossFn, micro_batches: Sequence[Batch]) -> None:
    """As it should be, but for the order of the arguments of the loss."""
    on_rows()(model, lambda prediction, target: loss_fn(target, prediction), micro_batches)


def _loss(model: nn.Module, loss_fn: LossFn, x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    return loss_fn(model(x), y)


# ------------------------------------------------------------------ where a mistake can show


def _held(spec: Spec) -> bool:
    return "earlier" in spec


def _not_finite(spec: Spec) -> bool:
    return bool(spec.get("earlier") == "not finite")


def _unused(spec: Spec) -> bool:
    return bool(spec["model"] == "unused")


def _frozen(spec: Spec) -> bool:
    return bool(spec["model"] == "frozen")


def _moded(spec: Spec) -> bool:
    return bool(spec["model"] == "moded")


def _lopsided(spec: Spec) -> bool:
    return bool(spec["loss"] != "squared error")


# ------------------------------------------------------------------ rules about how

several_graphs_at_once = named(
    "several-graphs-at-once",
    "More than one micro-batch was in memory",
    "The numbers are right here. But when rows went through the model, the graph of another micro-batch was still there, or "
    "rows of several went through together. That is the memory of a larger batch: what accumulation is for is lost.",
    "Let the loss of a micro-batch go backward before the next forward: backward frees the graph it has walked. Keep "
    "no sum of losses as a tensor, and retain no graph. A loss that never goes backward keeps its graph as long as a "
    "name stands for it.",
    "The gradient is the same, and numbers do not show what is kept.",
)
hooks_left_behind = named(
    "hooks-left-behind",
    "A hook was left behind",
    "The numbers are right here, but a hook is still registered after the call. It will act on every later backward or "
    "forward, too.",
    "Keep the handle that the registration returns, and call its remove() before the function ends. Or do without.",
    "A hook is registered once, and stays until it is removed.",
)

# ------------------------------------------------------------------ where it is cleared

not_cleared = named(
    "not-cleared",
    "What .grad held before is counted in",
    ".grad ends as the gradient asked for plus what it held before the call.",
    "Where must .grad be empty, and which line empties it? backward() adds.",
    "With a fresh model there is nothing to clear, and all is right.",
    where=_held,
)
old_gradients_scaled_in = named(
    "old-gradients-scaled-in",
    "What .grad held before is counted in, scaled",
    ".grad ends as the gradient asked for plus a multiple of what it held before the call. That is what comes out when "
    ".grad is divided after the backwards, and was never emptied before them.",
    "Dividing .grad afterwards is right. What else does it divide? Empty .grad before the first backward.",
    where=_held,
)
old_gradients_and_weights = named(
    "old-gradients-and-weights",
    "What .grad held before is counted in, and the micro-batches do not have their share",
    "Two things at once: what .grad held before the call is in it, and the losses do not count as they should.",
    "Begin with the clearing, before the first backward. Then run the check again: it will say what the losses count.",
)
cleared_in_each_round = named(
    "cleared-in-each-round",
    "Only the last micro-batch is left",
    "Backward ran for each micro-batch, and only the last one's gradient is left. That is what emptying .grad in each "
    "round leaves.",
    "How often may .grad be emptied here? Look at what stands inside the loop.",
    "In a loop with a step in each round the clearing belongs there. Here there is none.",
    signs=(BACKWARDS,),
)
last_alone = named(
    "last-alone",
    "Only the last micro-batch went backward",
    "One backward pass ran, the last micro-batch's: of the others nothing arrived.",
    "Does the backward stand in the loop, or after it? After a loop a name holds what the last round gave it.",
    signs=(BACKWARDS,),
)
first_alone = named(
    "first-alone",
    "Only the first micro-batch went backward",
    "One backward pass ran, the first micro-batch's: of the others nothing arrived.",
    "What ends the loop after its first round? A return that is indented one level too far does.",
    signs=(BACKWARDS,),
)
assigned_not_added = named(
    "assigned-not-added",
    "Each micro-batch's gradient replaced the one before",
    "No backward pass wrote to .grad. Gradients were handed back and put there, and the last micro-batch's took the "
    "place of all others.",
    "Add to what is there by then, or let backward() do so: it adds by itself.",
    "An assignment forgets what the name held.",
    signs=(BACKWARDS, GRADS),
)
cleared_at_the_end = named(
    "cleared-at-the-end",
    ".grad was emptied at the end",
    "Backward ran, and what it brought into .grad is gone: None or zeros stand there.",
    "Somebody wants to read .grad after your function. Which line runs last?",
    "In a training loop a step comes before that line.",
    signs=(BACKWARDS,),
)
nothing_sent = named(
    "nothing-sent",
    "No gradient was computed",
    "No backward pass ran, and no gradient was asked of autograd.",
    "What brings a gradient into .grad? It is a call, with its parentheses.",
    signs=(BACKWARDS, GRADS),
)
cancelled_not_cleared = named(
    "cancelled-not-cleared",
    "Infinite and NaN gradients were still there",
    "Where .grad held infinite or NaN entries, NaN is left. Zero times infinity is NaN, and so is infinity minus "
    "infinity: such arithmetic clears finite numbers alone.",
    "Write None or zeros over what is there, without reading it.",
    where=_not_finite,
)
unused_not_cleared = named(
    "unused-not-cleared",
    "A layer that the model does not use kept its old gradient",
    "What the layer without a part in the loss held before the call, it still holds.",
    "Emptying and writing are two things. Does your code reach a parameter that gets no new gradient?",
    "Writing a new gradient over the old one clears only where there is a new one.",
    where=_unused,
)
cleared_in_part = named(
    "cleared-in-part",
    "Some parameters were not cleared",
    "Some of the parameters ended with the gradient asked for. Others hold what was there before the call, too.",
    "Does the clearing reach every parameter, those of nested layers and the model's own as well?",
    where=_held,
)
frozen_given_zeros = named(
    "frozen-given-zeros",
    "A frozen parameter was given a gradient",
    "The frozen parameter had None in .grad, and now a tensor of zeros stands there.",
    "None and zeros differ for an optimizer with weight decay or momentum. Which parameters does your loop go through?",
    "For what is trained, zeros are a good start of a sum.",
    where=_frozen,
)

# ------------------------------------------------------------------ how much each one counts

counted_again = named(
    "counted-again",
    "Earlier micro-batches went backward again",
    "The first of k micro-batches counts k times as much as it should, the last one once. That is what a running sum of "
    "losses does that goes backward in each round.",
    "Send each loss backward by itself, as soon as it is made. .grad does the adding.",
    "Both the running sum and .grad accumulate. That autograd asked for retain_graph was the sign.",
)
scaled_in_each_round = named(
    "scaled-in-each-round",
    "What was gathered so far was divided in each round",
    "The earlier a micro-batch, the more often it was divided: each round divided what .grad held by then, the rounds "
    "before included.",
    "Divide each loss before its backward, or .grad once, after the last one.",
)
mean_of_old_and_new = named(
    "mean-of-old-and-new",
    "In each round the mean of the old and the new was taken",
    "The last micro-batch counts half, the one before it a quarter, and so on: in each round what was there and what came "
    "were given equal shares.",
    "How many micro-batches stand behind what was gathered so far, and how many behind the new one? To add first and to "
    "divide once is easier.",
    "With two micro-batches it is the mean.",
)
counted_twice_in_a_running_mean = named(
    "counted-twice-in-a-running-mean",
    "In a running mean the new one was counted twice",
    "In each round what came in got its share as if it stood twice among all that has been seen so far: a single "
    "micro-batch counts half.",
    "Count by hand for the first micro-batch: what is its share in what has been seen, and which number does your code "
    "have there? At which line does the count grow?",
)
predicted_in_eval_mode = named(
    "predicted-in-eval-mode",
    "The model ran in another mode",
    "On the model that behaves otherwise in train mode the gradient is that of eval mode.",
    "Leave model.train() and model.eval() to the caller.",
    "Before an evaluation eval() is right. Here gradients are asked for, in the mode the model came in.",
    where=_moded,
)
put_into_train_mode = named(
    "put-into-train-mode",
    "The model was put into train mode",
    "Where the model came in eval mode, dropout drew and batch norm used the statistics of the micro-batch.",
    "The mode is the caller's choice: leave model.train() out.",
    where=lambda spec: spec["model"] == "eval",
)
prediction_and_target_swapped = named(
    "prediction-and-target-swapped",
    "Prediction and target changed places",
    "The gradient is that of loss_fn(target, prediction). For the squared error it is the same; for the others not.",
    "Which argument of loss_fn comes first?",
    "Other libraries ask for the target first.",
    where=_lopsided,
)
