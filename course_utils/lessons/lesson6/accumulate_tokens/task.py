"""Exercise 6.3: the mean over the tokens of a window, where the micro-batches have different numbers of them."""

from __future__ import annotations

from typing import Any

from course_utils.exercise import Arrangement, Case, Exercise
from course_utils.lessons.inputs import cases, gradients_held, hooks_in
from course_utils.lessons.lesson6.graphs import AT_ONCE, GraphWatch, owners_by_first_token
from course_utils.lessons.lesson6.inputs import (
    GRAD,
    GRAD_BEFORE,
    NO_HOOKS,
    ONE_GRAPH,
    reader_of,
    token_batches_of,
)
from course_utils.lessons.training import HOOKS


def _counted(spec: Any) -> list[int]:
    return [counted for _, _, counted in spec["shapes"]]


def _cases(seed: int) -> list[Case]:
    def row(name: str, *shapes: tuple[int, int, int], **rest: Any) -> tuple[str, dict[str, Any]]:
        return name, {"model": "plain", "shapes": [list(shape) for shape in shapes], **rest}

    return cases(
        seed,
        [
            row("one micro-batch, every target counts", (2, 4, 6)),
            row("two micro-batches of one shape, every target counts", (2, 4, 6), (2, 4, 6)),
            row("one micro-batch, some targets are ignored", (3, 4, 5)),
            row("two micro-batches of one shape, with 6 and 2 targets that count", (2, 5, 6), (2, 5, 2)),
            row("micro-batches of different rows and lengths", (2, 4, 5), (1, 7, 1), (3, 2, 3), earlier="all"),
            row("a micro-batch without a target that counts", (2, 4, 4), (1, 4, 0), (2, 3, 3), earlier="all"),
            row("the first micro-batch has no target that counts", (2, 3, 0), (2, 4, 3)),
            row("ignore_index=0, which is a token", (2, 5, 8), (3, 3, 4), ignore=0, other_labels=True),
            row("labels that are not the tokens", (2, 4, 5), (1, 5, 2), other_labels=True, earlier="all"),
            row(".grad holds infinite and NaN gradients", (2, 3, 3), (2, 4, 5), earlier="not finite"),
            row("a frozen embedding", (2, 4, 3), (2, 3, 4), model="frozen", earlier="all", ignore=-1),
            row(
                "a layer that the model does not use holds a gradient",
                (2, 3, 4),
                (2, 4, 2),
                model="unused",
                earlier="all",
            ),
            row("a model that behaves otherwise in train mode, in which it is", (2, 4, 6), (1, 4, 1), model="moded"),
            row(
                "float32, four micro-batches",
                (2, 4, 3),
                (2, 5, 7),
                (2, 2, 1),
                (1, 3, 0),
                dtype="float32",
                earlier="all",
            ),
        ],
    )


def _arrange(case: Case) -> Arrangement:
    model = reader_of(case)
    micro_batches = token_batches_of(case)
    watch = GraphWatch(model, owners_by_first_token([tokens for tokens, _ in micro_batches]))
    ignore = {"ignore_index": case.spec["ignore"]} if "ignore" in case.spec else {}
    return Arrangement(
        (model, micro_batches),
        kwargs=ignore,
        watch={"model": model, "micro_batches": micro_batches},
        facts=lambda _: {
            GRAD: gradients_held(model),
            HOOKS: hooks_in(model) - watch.hooks,
            AT_ONCE: watch.at_once,
        },
    )


EXERCISE = Exercise(
    id="6.3",
    name="accumulate_tokens",
    title="The mean over tokens",
    difficulty=3,
    minutes=15,
    goal=(
        "Write `accumulate_tokens(model, micro_batches, ignore_index=-100)`. Afterwards every `.grad` holds the gradient "
        "of the cross-entropy, as a mean over all targets that count in all micro-batches together.\n\n"
        "- `micro_batches` is a list of one pair `(tokens, labels)` or more, two int64 tensors, both of shape "
        "`(b, t)`. `t` is 2 or more; `b` and `t` may differ from pair to pair.\n"
        "- `model(tokens)` returns logits of shape `(b, t, v)`. Those at place `i` are to say the **next** token, "
        "`labels[:, i + 1]`: the labels are not shifted, and may differ from the tokens. So the first label of a row is no "
        "target, and the logits of the last place have none.\n"
        "- The model treats each row by itself and is causal: the logits at place `i` depend on the row's tokens up to `i` "
        "alone.\n"
        "- A target that is `ignore_index` does not count. `ignore_index` may be any whole number, a token from 0 to `v - 1`, "
        "too; the labels that count are such tokens.\n"
        "- A micro-batch may have no target that counts. In all of them together there is at least one.\n\n"
        f"{GRAD_BEFORE}"
    ),
    cases=_cases,
    arrange=_arrange,
    may_change=frozenset({"grad"}),
    rules=(ONE_GRAPH, NO_HOOKS),
    hints=(
        "Take one micro-batch with two targets that count and another with six. Over how many is the mean to be taken, "
        "and how much may a single target count?",
        "You need one number: how many targets count in all. It can be had from the labels "
        "alone. Which column of the labels is not among the targets?",
        'Cross-entropy with reduction="sum" adds up and divides by nothing; it leaves out what is ignore_index, and '
        "where nothing counts it is 0.",
        "Shift both: the logits without their last place, the labels without their first. Count the labels so shifted "
        "that are not ignore_index, over all micro-batches. Then send each micro-batch's sum backward, divided by that "
        "count.",
    ),
    properties=(
        ("there is one micro-batch", lambda spec: len(spec["shapes"]) == 1),
        ("there is more than one micro-batch", lambda spec: len(spec["shapes"]) > 1),
        ("every target counts", lambda spec: all(n == b * (t - 1) for b, t, n in spec["shapes"])),
        ("some targets are ignored", lambda spec: any(n < b * (t - 1) for b, t, n in spec["shapes"])),
        ("as many targets count in each micro-batch", lambda spec: len(set(_counted(spec))) == 1),
        ("not as many targets count in each micro-batch", lambda spec: len(set(_counted(spec))) > 1),
        ("a micro-batch has no target that counts", lambda spec: 0 in _counted(spec)),
        ("the micro-batches are of one shape", lambda spec: len({(b, t) for b, t, _ in spec["shapes"]}) == 1),
        ("the micro-batches are of different shapes", lambda spec: len({(b, t) for b, t, _ in spec["shapes"]}) > 1),
        ("a micro-batch has two tokens a row", lambda spec: any(t == 2 for _, t, _ in spec["shapes"])),
        ("ignore_index is given", lambda spec: "ignore" in spec),
        ("ignore_index is a token", lambda spec: spec.get("ignore", -100) >= 0),
        ("the labels are not the tokens", lambda spec: bool(spec.get("other_labels"))),
        (".grad was None before", lambda spec: "earlier" not in spec),
        ("the gradients held from before are infinite or NaN", lambda spec: spec.get("earlier") == "not finite"),
        (".grad holds earlier gradients", lambda spec: "earlier" in spec),
        ("the model has a layer that it does not use", lambda spec: spec["model"] == "unused"),
        ("a parameter is frozen", lambda spec: spec["model"] == "frozen"),
        ("the model behaves otherwise in train mode", lambda spec: spec["model"] == "moded"),
        ("the model is float32", lambda spec: spec.get("dtype") == "float32"),
    ),
    quantities={
        "the number of micro-batches": lambda spec: len(spec["shapes"]),
        "the number of targets that count": lambda spec: sum(_counted(spec)),
        "the number of targets": lambda spec: sum(b * (t - 1) for b, t, _ in spec["shapes"]),
        "the number of labels": lambda spec: sum(b * t for b, t, _ in spec["shapes"]),
        "the number of rows": lambda spec: sum(b for b, _, _ in spec["shapes"]),
    },
)
