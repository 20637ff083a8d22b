"""Exercise 7.5: one optimizer step of accumulated gradients under DistributedDataParallel."""

from __future__ import annotations

from course_utils.exercise import Arrangement, Case, Exercise
from course_utils.lessons.inputs import Draw, cases


def _cases(seed: int) -> list[Case]:
    return cases(seed, [("3 entries", {"n": 3}), ("float32, 4 entries", {"n": 4, "dtype": "float32"})])


def _arrange(case: Case) -> Arrangement:
    x = Draw(case).normal(case.spec["n"])
    return Arrangement((x,), watch={"x": x})


EXERCISE = Exercise(
    id="7.5",
    name="ddp_accumulation_step",
    title="One all-reduce a window",
    difficulty=3,
    minutes=15,
    goal=(
        "Write `ddp_accumulation_step(ddp_model, optimizer, loss_fn, micro_batches)`: one optimizer step of one rank. "
        "`ddp_model` is a `DistributedDataParallel`, and `optimizer` holds its parameters. Every rank calls the "
        "function, each with micro-batches of its own: a list of pairs `(x, y)`, one or more, and equally many on "
        "every rank. All of them have equally many rows. `loss_fn(prediction, target)` returns a mean. The step uses "
        "the gradient of the mean over **all** samples: of all micro-batches and of all ranks. Whatever `.grad` held "
        "before plays no part; what it holds afterwards does not matter, and neither does what is returned. A frozen "
        "parameter does not move, the mode of the model stays as it was, and so do the settings of `ddp_model`: a "
        "backward pass after the call is averaged over the ranks as one before it was. The check runs two ranks side "
        "by side in one process and needs no network; `torch.distributed` works there, with a group of these two."
    ),
    cases=_cases,
    arrange=_arrange,
    rules=(
        "The gradients travel by DDP's own all-reduce, once a bucket and call: each of its buckets goes round once.",
        "No gradient travels by a collective of your own. A further `torch.distributed.all_reduce` of a single number, "
        "a count of rows for example, is all right.",
    ),
    hints=(
        "Without a word from you, DDP averages the gradients over the ranks in every backward pass. How many of a "
        "window's passes need that, and which?",
        "`no_sync()` of the wrapper is a context manager: inside, backward adds to this rank's own `.grad` and sends "
        "nothing. The first backward outside of it sends all that was added up.",
        "Whether a pass will average is settled in the forward pass. What must stand inside `no_sync()`, then: the "
        "backward alone, or more?",
        "Clear. For each micro-batch, the last one apart: forward and backward inside `no_sync()`. The last: forward "
        "and backward as they are. Then one step. DDP takes the mean over ranks; the mean over the window is yours.",
    ),
)
