"""Exercise 5.6: repair a loop whose optimizer was made before a layer was replaced."""

from __future__ import annotations

from course_utils.exercise import Exercise
from course_utils.lessons.lesson5.repairs import (
    CLEAN,
    MAY_CHANGE,
    PROPERTIES,
    PROPERTIES_OF_HEADS,
    QUANTITIES,
    arrange_heads,
    cases_of_heads,
    telling,
)

EXERCISE = Exercise(
    id="5.6",
    name="train_swapped_layer",
    title="Repair: a new layer that never moves",
    difficulty=3,
    minutes=8,
    goal=(
        "`train_swapped_layer(model, new_head, make_optimizer, loss_fn, batches, epochs)` runs, raises nothing, and is "
        "wrong. Mend it. The last layer of the model, `model.head`, is to be replaced by `new_head`, and then the whole "
        "model is to be trained, the new head and all the rest, its trunk, whatever the names of their parameters: `epochs` "
        "times through `batches`, a list of pairs `(x, y)`, in their order. `new_head` shares no tensor with the trunk; "
        "the old head may share some with it. Each batch gives one step, with the gradient of `loss_fn(model(x), y)` of that batch and with nothing "
        "else; `loss_fn` returns a mean. `make_optimizer(parameters)` makes a new optimizer of what `torch.optim` takes as "
        "parameters, as often as you like; momentum and the like must run on from the first batch to the last. "
        f"{CLEAN} Judged are the parameters after the call, that `model.head` is then `new_head` itself, and that all "
        "else stayed as it was; not what the function returns."
    ),
    cases=cases_of_heads,
    arrange=arrange_heads,
    may_change=MAY_CHANGE,
    loop=True,
    rules=("No hook may be left behind, on the model or its parameters.",),
    hints=(
        "Compare new_head.weight before and after the call. And what does its .grad hold at the end, after one step "
        "and after ten?",
        "An optimizer is a list of references to tensors. Which tensors did that list get, and when were they taken?",
        "An assignment to model.head changes the model, not the list. Either the list is made when the model is as it "
        "shall be, or the new tensors are added to it; each of the two is one line.",
    ),
    properties=telling((*PROPERTIES_OF_HEADS, *PROPERTIES), cases_of_heads(0)),
    quantities=QUANTITIES,
)
