"""What is often done instead in exercise 7.5."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import nullcontext
from typing import Literal

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel

from course_utils.checks.mistakes import mistake
from course_utils.lessons.lesson7.ddp_accumulation_step.task import ROUNDS, STEPS
from course_utils.lessons.training import Batch, LossFn

Optimizer = torch.optim.Optimizer
Batches = Sequence[Batch]
Ddp = DistributedDataParallel
Code = Callable[[Ddp, Optimizer, LossFn, Batches], object]
Place = Literal["start", "micro-batch", "end"]


def _last(number: int, count: int) -> bool:
    return number == count - 1


def _ranks() -> int:
    return dist.get_world_size()  # type: ignore[no-any-return, no-untyped-call]


def _step(
    *,
    sends: Callable[[int, int], bool] = _last,
    factor: Callable[[int, int], float] = lambda count, ranks: 1 / count,
    clear: Sequence[Place] = ("start",),
    zeros: bool = False,
    each: bool = False,
    which: Callable[[Batches], Batches] = lambda batches: batches,
    late: bool = False,
    before_step: Callable[[Ddp], None] = lambda ddp: None,
    after: Callable[[Ddp], None] = lambda ddp: None,
    step: bool = True,
) -> Code:
    """The loop; `sends` tells of which of how many passes the ranks' mean is taken, `factor` what each loss is
    multiplied by, `each` whether each micro-batch has a step, `late` whether the switch is thrown after the forward."""

    def code(ddp_model: Ddp, optimizer: Optimizer, loss_fn: LossFn, micro_batches: Batches) -> object:
        def at(place: Place) -> None:
            if place in clear:
                optimizer.zero_grad(set_to_none=not zeros)

        at("start")
        chosen = which(micro_batches)
        for number, (x, y) in enumerate(chosen):
            at("micro-batch")
            alone = not sends(number, len(chosen))
            with ddp_model.no_sync() if alone and not late else nullcontext():
                loss = loss_fn(ddp_model(x), y) * factor(len(chosen), _ranks())
                with ddp_model.no_sync() if alone else nullcontext():
                    loss.backward()
            if each:
                optimizer.step()
        before_step(ddp_model)
        if step and not each:
            optimizer.step()
        at("end")
        after(ddp_model)
        return None

    return code


# ------------------------------------------------------------------ when the ranks talk


@mistake(
    "The gradients were sent in more passes than one",
    "The numbers are right here, and DDP sent every gradient more than once in a call, where once is enough: each sending "
    "waits for the network.",
    "Which of a window's backward passes must be averaged, so that the sum of all is? Under no_sync() the others stay "
    "at home.",
    "Nothing raises and nothing is wrong with the numbers. It is the time of the run that tells.",
)
def averaged_in_every_pass(ddp_model: Ddp, optimizer: Optimizer, loss_fn: LossFn, micro_batches: Batches) -> object:
    return _step(sends=lambda number, count: True)(ddp_model, optimizer, loss_fn, micro_batches)


@mistake(
    "DDP was switched off after the forward pass",
    "The numbers are right here, and DDP sent every gradient more than once in a call. In at least one pass averaging was "
    "on during the forward and off during the backward. The forward decides: DDP averaged.",
    "DDP prepares the averaging in its forward. What must stand inside no_sync(), then?",
    "It is backward that sends, so one puts backward inside.",
)
def forward_outside_no_sync(ddp_model: Ddp, optimizer: Optimizer, loss_fn: LossFn, micro_batches: Batches) -> object:
    return _step(late=True)(ddp_model, optimizer, loss_fn, micro_batches)


def _around(ddp_model: Ddp, optimizer: Optimizer, loss_fn: LossFn, micro_batches: Batches) -> object:
    optimizer.zero_grad()
    for x, y in micro_batches:
        (loss_fn(ddp_model.module(x), y) / len(micro_batches)).backward()
    optimizer.step()
    return None


def _off_for_good(ddp_model: Ddp) -> None:
    ddp_model.require_backward_grad_sync = False


@mistake(
    "The gradients were never averaged over the ranks",
    "No gradient was sent. Each rank stepped with the gradient of its own micro-batches, and the ranks hold other "
    "weights now: they are two trainings.",
    "Which backward sends what was added up? It must be one of the wrapper's, and its forward must stand outside of "
    "no_sync().",
    "Nothing raises, and seen from one rank a gradient that was not averaged looks like one that was.",
    also=(_around, lambda *args: _step(sends=lambda number, count: False, after=_off_for_good)(*args)),
    signs=(ROUNDS,),
)
def never_averaged(ddp_model: Ddp, optimizer: Optimizer, loss_fn: LossFn, micro_batches: Batches) -> object:
    return _step(sends=lambda number, count: False)(ddp_model, optimizer, loss_fn, micro_batches)


@mistake(
    "Only what was there after the first pass was averaged",
    "The first micro-batch's gradient was sent and averaged. What the others added to it stayed on its rank.",
    "A pass that averages sends what .grad holds when it is done. At which pass does it hold the whole window?",
)
def averaged_in_the_first_pass(ddp_model: Ddp, optimizer: Optimizer, loss_fn: LossFn, micro_batches: Batches) -> object:
    return _step(sends=lambda number, count: number == 0)(ddp_model, optimizer, loss_fn, micro_batches)


def _average(gradients: Sequence[torch.Tensor]) -> None:
    for gradient in gradients:
        dist.all_reduce(gradient)
        gradient /= _ranks()


def _held(ddp_model: Ddp) -> list[torch.Tensor]:
    return [p.grad for p in ddp_model.parameters() if p.grad is not None]


@mistake(
    "Gradients were sent by a collective of your own",
    "The numbers are right here. More than a single number went round by calls of torch.distributed beside DDP.",
    "DDP has buckets, and sends them while backward still runs. Which of its backward passes can do the whole work?",
)
def gradients_sent_by_hand(ddp_model: Ddp, optimizer: Optimizer, loss_fn: LossFn, micro_batches: Batches) -> object:
    by_hand = _step(sends=lambda number, count: False, before_step=lambda ddp: _average(_held(ddp)))
    return by_hand(ddp_model, optimizer, loss_fn, micro_batches)


@mistake(
    "A rank waits for one that never comes",
    "One rank stands in a collective and the other has returned, or is in another one. On a cluster they would wait "
    "until a timeout, crash, or get numbers that mean nothing.",
    "Every rank must make the same calls in the same order. What decides there which rank calls?",
)
def a_rank_waits(ddp_model: Ddp, optimizer: Optimizer, loss_fn: LossFn, micro_batches: Batches) -> object:
    if dist.get_rank() == 0:  # type: ignore[no-untyped-call]
        dist.all_reduce(torch.ones(()))
    return _step()(ddp_model, optimizer, loss_fn, micro_batches)


@mistake(
    "DDP no longer averages",
    "The wrapper was left with require_backward_grad_sync False: the backward after the call stays on its rank.",
    "If you set the switch by hand, what is it when the function returns? no_sync() puts it back by itself.",
)
def left_switched_off(ddp_model: Ddp, optimizer: Optimizer, loss_fn: LossFn, micro_batches: Batches) -> object:
    ddp_model.require_backward_grad_sync = True
    return _step(after=_off_for_good)(ddp_model, optimizer, loss_fn, micro_batches)


# ------------------------------------------------------------------ what is divided


@mistake(
    "The micro-batches were added up, not averaged",
    "The step used the mean over the ranks, and the sum over the micro-batches: as many times the gradient as there "
    "are micro-batches.",
    "loss_fn returns a mean. What are k means, added up?",
    "DDP takes a mean by itself, so one thinks it is taken.",
)
def not_divided(ddp_model: Ddp, optimizer: Optimizer, loss_fn: LossFn, micro_batches: Batches) -> object:
    return _step(factor=lambda count, ranks: 1.0)(ddp_model, optimizer, loss_fn, micro_batches)


@mistake(
    "Divided by the number of ranks once too often",
    "The step used the right gradient divided by the number of ranks.",
    "DDP takes the mean over the ranks by itself. Do you divide by their number, too?",
    "An all-reduce is a sum; DDP divides.",
)
def divided_by_the_ranks_too(ddp_model: Ddp, optimizer: Optimizer, loss_fn: LossFn, micro_batches: Batches) -> object:
    return _step(factor=lambda count, ranks: 1 / count / ranks)(ddp_model, optimizer, loss_fn, micro_batches)


def _divided_by_the_ranks_and_cleared(*clear: Place) -> Code:
    return _step(factor=lambda count, ranks: 1 / count / ranks, clear=clear)


@mistake(
    "Divided by the number of ranks once too often, and not cleared before the first backward",
    "Two things at once. The gradient was divided by the number of ranks, though DDP has taken their mean. And what .grad "
    "held before the call was used, too.",
    "DDP takes the mean over the ranks by itself. Do you divide by their number, too? And which line empties .grad before "
    "the first backward of the window?",
    also=(_divided_by_the_ranks_and_cleared(),),
)
def divided_by_the_ranks_and_not_cleared(
    ddp_model: Ddp, optimizer: Optimizer, loss_fn: LossFn, micro_batches: Batches
) -> object:
    return _divided_by_the_ranks_and_cleared("end")(ddp_model, optimizer, loss_fn, micro_batches)


@mistake(
    "Multiplied by the number of ranks",
    "The step used the gradient of a sum over the ranks: the right one times their number.",
    "All ranks have equally many rows here. What is the mean over all rows, from the means of the ranks?",
    "With a sum over all tokens one must multiply, as 7.6 does. Here the losses are means.",
)
def multiplied_by_the_ranks(ddp_model: Ddp, optimizer: Optimizer, loss_fn: LossFn, micro_batches: Batches) -> object:
    return _step(factor=lambda count, ranks: ranks / count)(ddp_model, optimizer, loss_fn, micro_batches)


def _last_once_more(each: bool) -> Code:
    """All micro-batches at home, and the last one once more, to set the sending off."""

    def code(ddp_model: Ddp, optimizer: Optimizer, loss_fn: LossFn, micro_batches: Batches) -> object:
        once_more = [*micro_batches, micro_batches[-1]]
        share = 1 / len(once_more) if each else 1 / len(micro_batches)
        return _step(which=lambda _: once_more, factor=lambda count, ranks: share)(
            ddp_model, optimizer, loss_fn, micro_batches
        )

    return code


@mistake(
    "The last micro-batch counted twice",
    "The gradient that the step used holds the last micro-batch's twice: it went backward once with the others, and once "
    "more.",
    "The last backward can send what all have added up, and bring its own. How often must it run?",
    also=(_last_once_more(each=True),),
)
def last_counted_twice(ddp_model: Ddp, optimizer: Optimizer, loss_fn: LossFn, micro_batches: Batches) -> object:
    return _last_once_more(each=False)(ddp_model, optimizer, loss_fn, micro_batches)


# ------------------------------------------------------------------ clearing and stepping


def _step_for_each_at_home(ddp_model: Ddp, optimizer: Optimizer, loss_fn: LossFn, micro_batches: Batches) -> object:
    stepping = _step(each=True, clear=("micro-batch",), factor=lambda count, ranks: 1.0)
    return stepping(ddp_model, optimizer, loss_fn, micro_batches)


@mistake(
    "One step for each micro-batch",
    "The optimizer stepped once for each micro-batch, and each step moved the weights under the next one.",
    "How many steps does one call ask for?",
    also=(
        _step_for_each_at_home,
        lambda *args: _step(each=True, clear=("micro-batch",), sends=lambda number, count: True)(*args),
        lambda *args: _step(each=True, clear=("micro-batch",))(*args),
        lambda *args: _step(each=True)(*args),
    ),
    signs=(STEPS,),
)
def stepped_for_each_micro_batch(
    ddp_model: Ddp, optimizer: Optimizer, loss_fn: LossFn, micro_batches: Batches
) -> object:
    stepping = _step(each=True, clear=("micro-batch",), sends=lambda n, count: True, factor=lambda count, ranks: 1.0)
    return stepping(ddp_model, optimizer, loss_fn, micro_batches)


@mistake(
    "Cleared for every micro-batch",
    "The step used what the last micro-batch left: the gradients before it were thrown away.",
    "How often should .grad be emptied between two steps?",
)
def cleared_for_each_micro_batch(
    ddp_model: Ddp, optimizer: Optimizer, loss_fn: LossFn, micro_batches: Batches
) -> object:
    return _step(clear=("micro-batch",))(ddp_model, optimizer, loss_fn, micro_batches)


@mistake(
    "Nothing was cleared",
    "Each step used what .grad held before the call as well: earlier gradients, or those of the call before.",
    "Which line empties .grad before the first backward of the window?",
)
def nothing_cleared(ddp_model: Ddp, optimizer: Optimizer, loss_fn: LossFn, micro_batches: Batches) -> object:
    return _step(clear=())(ddp_model, optimizer, loss_fn, micro_batches)


@mistake(
    "The first step used what .grad held before the call",
    "Calls after the first began clean. The first one found gradients in .grad and used them, too.",
    "Nobody promises that .grad is empty when the function begins.",
)
def cleared_after_the_step(ddp_model: Ddp, optimizer: Optimizer, loss_fn: LossFn, micro_batches: Batches) -> object:
    return _step(clear=("end",))(ddp_model, optimizer, loss_fn, micro_batches)


@mistake(
    "A frozen weight's old gradient is still at work",
    "The frozen weight held a gradient from before and kept it, and the step moved the weight.",
    "An optimizer moves what has a gradient, frozen or not. Whose .grad do you empty?",
)
def frozen_weight_not_cleared(ddp_model: Ddp, optimizer: Optimizer, loss_fn: LossFn, micro_batches: Batches) -> object:
    for p in ddp_model.parameters():
        if p.requires_grad:
            p.grad = None
    return _step(clear=())(ddp_model, optimizer, loss_fn, micro_batches)


@mistake(
    "No step was made",
    "No parameter moved, and no optimizer stepped.",
    "What moves the parameters once .grad holds the gradient?",
    signs=(STEPS,),
)
def no_step(ddp_model: Ddp, optimizer: Optimizer, loss_fn: LossFn, micro_batches: Batches) -> object:
    return _step(step=False)(ddp_model, optimizer, loss_fn, micro_batches)


# ------------------------------------------------------------------ which micro-batches


@mistake(
    "The last micro-batch alone",
    "The step used the mean gradient of the last micro-batch, averaged over the ranks; the others had no part in it.",
    "Every micro-batch of the window must go backward before the step.",
)
def last_micro_batch_alone(ddp_model: Ddp, optimizer: Optimizer, loss_fn: LossFn, micro_batches: Batches) -> object:
    return _step(which=lambda batches: batches[-1:])(ddp_model, optimizer, loss_fn, micro_batches)


@mistake(
    "The last micro-batch had no part",
    "The step used the mean over all micro-batches but the last.",
    "Does the loop end one too early?",
)
def last_micro_batch_left_out(ddp_model: Ddp, optimizer: Optimizer, loss_fn: LossFn, micro_batches: Batches) -> object:
    short = _step(which=lambda batches: batches[:-1] if len(batches) > 1 else batches)
    return short(ddp_model, optimizer, loss_fn, micro_batches)


@mistake(
    "The model was put into train mode",
    "Where the model came in eval mode, its forward passes ran in train mode, and gradient and update are those of "
    "train mode.",
    "The mode is the caller's choice: leave train() out.",
)
def put_into_train_mode(ddp_model: Ddp, optimizer: Optimizer, loss_fn: LossFn, micro_batches: Batches) -> object:
    ddp_model.train()
    return _step()(ddp_model, optimizer, loss_fn, micro_batches)
