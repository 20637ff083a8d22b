"""Exercise 5.7: repair a loop that sends a running loss backward again and again."""

from __future__ import annotations

from course_utils.exercise import Exercise
from course_utils.lessons.lesson5.repairs import (
    CLEAN,
    JUDGED,
    MAY_CHANGE,
    NO_HOOKS,
    PROPERTIES,
    QUANTITIES,
    STEPPED,
    arrange,
    cases_of_epochs,
    telling,
)

EXERCISE = Exercise(
    id="5.7",
    name="train_kept_running_loss",
    title="Repair: early batches count more than late ones",
    difficulty=3,
    minutes=10,
    goal=(
        "`train_kept_running_loss(model, optimizer, loss_fn, batches, epochs)` runs, raises nothing, and is wrong. Mend "
        "it. It goes `epochs` times through `batches`, a list of pairs `(x, y)` with equally many rows, and takes one "
        "step of the optimizer an **epoch**: with the gradient of the mean of `loss_fn(model(x), y)` over the batches, "
        "each counted once. `loss_fn` returns a mean, so this is the mean over all rows. Batches go through the model "
        "one by one so that one graph at a time has to be in memory. That is the point of such a loop, but it is not "
        f"judged. {CLEAN} {STEPPED} {JUDGED}"
    ),
    cases=cases_of_epochs,
    arrange=arrange,
    may_change=MAY_CHANGE,
    loop=True,
    rules=(NO_HOOKS,),
    hints=(
        "With one batch an epoch the loop is right. With three: through how many of its backward passes does the loss "
        "of the first batch go, and that of the last?",
        "Why was retain_graph=True needed? The same losses go backward a second time, and what arrives in .grad is "
        "added there a second time, too.",
        ".grad does the adding. Send the loss of one batch backward, with its share of the mean, and keep the running "
        "sum as a number for the report. Then no graph has to be retained.",
    ),
    properties=telling(PROPERTIES, cases_of_epochs(0)),
    quantities=QUANTITIES,
)
