"""What exercises 6.1 and 6.2 share: the same call on micro-batches of one size or of several."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from course_utils.exercise import Arrangement, Case
from course_utils.lessons.inputs import LOSSES, gradients_held, hooks_in, model_and_batch
from course_utils.lessons.lesson6.graphs import AT_ONCE, GraphWatch, owners_by_row
from course_utils.lessons.lesson6.inputs import GRAD
from course_utils.lessons.training import HOOKS, batches_of

Spec = Mapping[str, Any]
Property = tuple[str, Callable[[Spec], bool]]


def arrange(case: Case) -> Arrangement:
    """Model, loss and micro-batches of a case; afterwards its gradients, and how many graphs there were at once."""
    model, _, _ = model_and_batch(case)
    micro_batches = batches_of(case)
    watch = GraphWatch(model, owners_by_row([x for x, _ in micro_batches]))
    return Arrangement(
        (model, LOSSES[case.spec["loss"]], micro_batches),
        watch={"model": model, "micro_batches": micro_batches},
        facts=lambda _: {
            GRAD: gradients_held(model),
            HOOKS: hooks_in(model) - watch.hooks,
            AT_ONCE: watch.at_once,
        },
    )


PROPERTIES: tuple[Property, ...] = (
    ("there is one micro-batch", lambda spec: len(spec["rows"]) == 1),
    ("there is more than one micro-batch", lambda spec: len(spec["rows"]) > 1),
    ("there are more than two micro-batches", lambda spec: len(spec["rows"]) > 2),
    ("the micro-batches are not of one size", lambda spec: len(set(spec["rows"])) > 1),
    ("the micro-batches are all of one size", lambda spec: len(set(spec["rows"])) == 1),
    ("each micro-batch has one row", lambda spec: set(spec["rows"]) == {1}),
    ("the first micro-batch is not the largest", lambda spec: spec["rows"][0] < max(spec["rows"])),
    (".grad was None before", lambda spec: "earlier" not in spec),
    ("the gradients held from before are infinite or NaN", lambda spec: spec.get("earlier") == "not finite"),
    (".grad holds earlier gradients", lambda spec: "earlier" in spec),
    ("the model has a layer that it does not use", lambda spec: spec["model"] == "unused"),
    ("a parameter is frozen", lambda spec: spec["model"] == "frozen"),
    ("a weight is tied to two places", lambda spec: spec["model"] == "tied"),
    ("two parameters have the same gradient", lambda spec: spec["model"] == "twins"),
    (
        "the model has a parameter of its own and nested layers, and its targets one column",
        lambda spec: spec["model"] == "scaled",
    ),
    ("the model is in eval mode", lambda spec: spec["model"] == "eval"),
    ("the model behaves otherwise in train mode", lambda spec: spec["model"] == "moded"),
    ("the loss tells prediction and target apart", lambda spec: spec["loss"] != "squared error"),
    ("the model is float32", lambda spec: spec.get("dtype") == "float32"),
)
QUANTITIES: Mapping[str, Callable[[Spec], float | None]] = {
    "the number of micro-batches": lambda spec: len(spec["rows"]),
    "the number of rows": lambda spec: sum(spec["rows"]),
    "the rows of the first micro-batch": lambda spec: spec["rows"][0],
    "the rows of the last micro-batch": lambda spec: spec["rows"][-1],
    "the rows of the largest micro-batch": lambda spec: max(spec["rows"]),
}


def telling_cases(properties: tuple[Property, ...], drawn: list[Case]) -> tuple[Property, ...]:
    """Those properties that some of the cases have and others have not."""
    return tuple(one for one in properties if len({one[1](case.spec) for case in drawn}) == 2)
