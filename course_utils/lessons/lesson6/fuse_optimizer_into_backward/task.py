"""Exercise 6.8: what is asked."""

from __future__ import annotations

from course_utils.exercise import Arrangement, Case, Exercise
from course_utils.lessons.inputs import Draw, cases


def _cases(seed: int) -> list[Case]:
    return cases(
        seed,
        [
            ("3 entries", {"n": 3}),
            ("one entry", {"n": 1}),
            ("float32, 4 entries", {"n": 4, "dtype": "float32"}),
        ],
    )


def _arrange(case: Case) -> Arrangement:
    x = Draw(case).normal(case.spec["n"])
    return Arrangement((x,), watch={"x": x})


EXERCISE = Exercise(
    id="6.8",
    name="fuse_optimizer_into_backward",
    title="An optimizer inside of backward",
    difficulty=4,
    minutes=20,
    goal=(
        "Write `fuse_optimizer_into_backward(model, make_optimizer, window)`. After it the training loop has neither "
        "`step()` nor `zero_grad()`. It runs `(loss_fn(model(x), y) / window).backward()` for one micro-batch after "
        "the other, and every `window` of them are one step; `window` may be 1. `make_optimizer(params)` takes a list "
        "of parameters and returns an optimizer that holds them: the same kind each time, perhaps with momentum, "
        "Adam's averages or weight decay, and new, without a history. The last backward of each window does the step. "
        "When it returns, every parameter is where ordinary accumulation with one `step()` per window would have put "
        "it, by one optimizer that holds them all from the first window to the last, and every `.grad` is `None`. No "
        "other backward moves a parameter. A parameter that is frozen, or that the loss does not use, never moves. "
        "Every other one gets a gradient in every micro-batch. A weight that two layers share is one parameter. "
        "Between two micro-batches the model may run forward without a backward, as for validation. When you are "
        "called every `.grad` is `None`, and afterwards nobody but backward and your code writes to it. Return a "
        "handle: an object with a method `remove()`. It is called once, between two windows. From then on a backward "
        "only adds to `.grad`, as if you had never been called, and your function may be called again."
    ),
    cases=_cases,
    arrange=_arrange,
    rules=(
        "In the last backward of a window gradients are freed as it goes: when backward comes to a layer, no parameter "
        "of a layer that it has left behind has anything in its `.grad`. Only `.grad` is looked at.",
    ),
    hints=(
        "Which kind of hook runs after a gradient has been added to .grad, while backward is still on its way to the "
        "next layer?",
        "A step of an optimizer moves all that it holds. In the middle of backward one parameter is complete and the "
        "next is not. So how many parameters should an optimizer hold?",
        "Give every trainable parameter an optimizer of its own, a count of its own, and one "
        "register_post_accumulate_grad_hook. The hook counts, and on every window-th call it steps and clears. What "
        "registering returns can be taken away again; keep all of it for remove().",
    ),
)
