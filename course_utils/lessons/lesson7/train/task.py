"""Exercise 7.7: a mixed-precision training run that can be killed and goes on to the very same end."""

from __future__ import annotations

from course_utils.exercise import Arrangement, Case, Exercise
from course_utils.lessons.inputs import Draw, cases


def _cases(seed: int) -> list[Case]:
    return cases(seed, [("3 entries", {"n": 3}), ("float32, 4 entries", {"n": 4, "dtype": "float32"})])


def _arrange(case: Case) -> Arrangement:
    x = Draw(case).normal(case.spec["n"])
    return Arrangement((x,), watch={"x": x})


EXERCISE = Exercise(
    id="7.7",
    name="train",
    title="A run that can be killed",
    difficulty=5,
    minutes=40,
    goal=(
        "Write `train(model, batches, config, checkpoint=None)`, the training run that puts this course together. "
        "`config` is a dict with `lr`, `window`, `max_norm`, `steps` and `seed`. The run has `steps` windows of "
        "`window` micro-batches. Micro-batch `j` of window `w`, both from 0, is `batches[(w * window + j) % "
        "len(batches)]`, a pair `(x, y)` of inputs and class numbers; all have equally many rows. The loss is the mean "
        "cross-entropy of the logits `model(x)`, and the gradient of a window that of the mean over its samples. Each "
        "micro-batch goes forward once, under `torch.autocast` in float16, and its loss backward under a "
        "`torch.amp.GradScaler` with its default settings, both for the device of `x` (autocast leaves a float64 model in "
        "float64, and so may you). The gradient is clipped to "
        "`max_norm` (2-norm, over all parameters), and the optimizer is `torch.optim.SGD(model.parameters(), lr, "
        "momentum=0.9)`. Step number `s` of the optimizer, from 0, has the learning rate `lr * (1 - s / steps)`. A "
        "window whose gradient is not finite is skipped, as the scaler does it: it counts among the `steps` windows, "
        "but the optimizer makes no step, the learning rate stays, and nothing of it is left for the next window. "
        "What dropout draws depends on `config['seed']`, and not on the random state that the call finds. `.grad` may "
        "hold anything when the function is called, and the mode of the model stays as it was. The model is trained "
        "in place; what is returned, what `.grad` holds and the random state afterwards do not matter.\n\n"
        "`checkpoint` is `None`, and then nothing is written, or a `pathlib.Path` in a folder of the run's own. Then "
        "the state of the run is saved there after every window, and a call that finds a checkpoint goes on from it. "
        "You may rely on it that the checkpoint is one of the same run. The run may be killed at any moment, as with "
        "`kill -9`: no `except` and no `finally` of it runs any more. Called again, with a model built anew with the "
        "same first weights, it must end with the very same bits, in parameters and in buffers, as if it had never "
        "been killed. No window that was saved runs again. Where the run was killed while it was saving, "
        "it goes on from the save before. A run that has come to its end trains nothing when it is called once more, "
        "and the model holds the trained weights."
    ),
    cases=_cases,
    arrange=_arrange,
    rules=("A `GradientLedger` around the run finds no error in it.",),
    hints=(
        "First without a checkpoint: the step of 7.3 in a loop over windows, with the micro-batches by their position. "
        "Which four objects remember something from one window to the next?",
        "Each of these four has a `state_dict()`. What else must a new process know to go on: how many windows are "
        "behind it, and what dropout draws next?",
        "Random numbers are easiest made a matter of position: a seed for each window, made of config['seed'] and the "
        "window's number, needs no saving.",
        "A file is there with all its bytes or not at all when it was written under another name, in the same folder, "
        "and then renamed: `os.replace` does that in one go.",
        "At the start: build the four, and where the checkpoint exists, load all four and the number of the next "
        "window. At the end of each window, after the schedule: save all of it beside, then replace.",
    ),
)
