"""Exercise 7.6: a loss whose gradient, averaged over the ranks by DDP, is that of the mean over all tokens."""

from __future__ import annotations

from course_utils.exercise import Arrangement, Case, Exercise
from course_utils.lessons.inputs import Draw, cases


def _cases(seed: int) -> list[Case]:
    return cases(seed, [("3 entries", {"n": 3}), ("float32, 4 entries", {"n": 4, "dtype": "float32"})])


def _arrange(case: Case) -> Arrangement:
    x = Draw(case).normal(case.spec["n"])
    return Arrangement((x,), watch={"x": x})


EXERCISE = Exercise(
    id="7.6",
    name="normalized_ddp_loss",
    title="The mean over everybody's tokens",
    difficulty=2,
    minutes=10,
    goal=(
        "Write `normalized_ddp_loss(loss_sum, local_count, world_size, all_reduce)`: the loss that one rank sends "
        "backward. Every rank calls it with its own numbers, and DDP then takes the plain mean of the ranks' "
        "gradients. That mean must be the gradient of the mean loss over **all** counted tokens of all ranks. "
        "`loss_sum` is the sum of this rank's token losses, 0-d, with its graph. `local_count`, a 0-d int64 tensor, "
        "says how many tokens are in it. On some ranks it may be 0: `loss_sum` is then 0, with a graph, and its "
        "gradient 0. It is not 0 on all of them. `world_size`, an int, is the number of ranks. `all_reduce(tensor)` "
        "adds a tensor up over all ranks: it writes the sum into that same tensor, returns `None`, and waits until "
        "every rank has called it, so all ranks must call it equally often. Return a 0-d tensor with a graph. The "
        "gradient that it sends to each rank's own parameters decides; its value is not looked at. The two tensors "
        "that you were handed stay as they were."
    ),
    cases=_cases,
    arrange=_arrange,
    hints=(
        "Two ranks, one with 10 tokens and one with 2. What would be the mean over all 12, and what do you get from "
        "the mean of the two means?",
        "Each rank needs one number that it does not have: how many tokens there are in all. What can tell it?",
        "all_reduce writes into the tensor it gets. Hand it a tensor that is yours to lose.",
        "Divide the rank's sum by the number of tokens of all ranks. DDP's mean then divides by the number of ranks "
        "once more: take that into account.",
    ),
)
