"""Exercise 6.6: what is asked."""

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
    id="6.6",
    name="make_accumulation_safe",
    title="A model that accumulation does not change",
    difficulty=3,
    minutes=15,
    goal=(
        "Write `make_accumulation_safe(model)`. It changes `model` in place. Afterwards, in train mode, accumulated "
        "gradients are those of the whole batch. What stands in the way is batch norm: layers of "
        "`nn.BatchNorm1d`, `nn.BatchNorm2d` or `nn.BatchNorm3d`, anywhere inside of `model`, in parts of parts, too. "
        "Some have `affine=False` or `track_running_stats=False`. The model itself is none of them, and none stands "
        "in two places. What you put there is yours: another normalization, none at all, or statistics that stand "
        "still. The check calls `model.train()` after your function, as a training loop does, and then compares the "
        "model **as you left it** with itself: one backward for the whole batch, and one for each micro-batch, the "
        "mean losses weighted by their rows. Micro-batches have any number of rows, one included. Predictions keep "
        "their shape, in train mode and in eval mode. Parameters and buffers of batch norm are yours to keep or to "
        "drop. Every other parameter stays: the same object, with the same values, `requires_grad` and `.grad`. If "
        "the whole batch gave it a gradient other than zero before, it still does. Every other layer stays, too, the "
        "same object with the same settings, and follows `model.train()` and `model.eval()`. That goes for dropout "
        "and for layers that normalize each row by itself. Dropout draws anew in every pass, accumulated or not, so "
        "for the comparison the check sets its probability to 0. Each batch norm has at least three features, and "
        "their number may be a prime. What the function returns does not matter."
    ),
    cases=_cases,
    arrange=_arrange,
    hints=(
        "Which layers let one row of a batch have a say in what the others become? And what does model.train() do to "
        "a layer that you have put into eval mode?",
        "A layer can only be replaced in the module that holds it, under the name that it has there. You do not know "
        "how deep that module lies, so you need a walk over all of them.",
        "Walk over model.modules(), and in each over named_children(). Where a child is a batch norm, setattr puts "
        "another layer under its name. nn.GroupNorm with one group takes num_features and works for rows of any "
        "shape. Its parameters must have the dtype of the model's.",
    ),
)
