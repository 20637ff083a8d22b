"""Exercise 5.5: repair a loop in which the backward of a saliency map reaches the parameters."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import torch

from course_utils.exercise import Arrangement, Case, Exercise
from course_utils.lessons.lesson5.repairs import (
    MAY_CHANGE,
    NO_HOOKS,
    PROPERTIES,
    QUANTITIES,
    arrange,
    cases_of_batches,
    one_step_a_batch,
    telling,
)

SIZES = "largest entries of the maps"
_SHOWN = 3


def _sizes(maps: object) -> str:
    """The largest entry of each of the first maps in a phrase; empty where these are no tensors with entries."""
    shown = maps[:_SHOWN] if isinstance(maps, (list, tuple)) else ()
    if not shown or not all(isinstance(one, torch.Tensor) and one.numel() for one in shown):
        return ""
    return ", ".join(f"{float(one.detach().max()):.3g}" for one in shown)


def _arrange(case: Case) -> Arrangement:
    found = arrange(case)

    def facts(maps: object) -> Mapping[str, object]:
        assert found.facts is not None
        return {**found.facts(maps), SIZES: _sizes(maps)}

    return replace(found, facts=facts)


EXERCISE = Exercise(
    id="5.5",
    name="train_leaky_saliency",
    title="Repair: a map of the input leaks into the training",
    difficulty=3,
    minutes=10,
    goal=one_step_a_batch(
        "train_leaky_saliency",
        "Before its step each batch also gives a saliency map: the absolute value of the derivative of that batch's "
        "loss with respect to `x`, entry by entry, at the weights before the step; same shape as `x`, without a graph. "
        "The function returns the list of these maps, one a step, in the order of the steps. The batches come back as "
        "they were: `x` requires no gradient, and its `.grad` is None. Judged are the parameters after the call, the "
        "maps, and that all else stayed as it was.",
    ),
    cases=cases_of_batches,
    arrange=_arrange,
    may_change=MAY_CHANGE,
    loop=True,
    rules=(NO_HOOKS, "No gradient may be left in the `.grad` of a batch's own tensors."),
    hints=(
        "The maps are right. What else does a backward fill, beside the .grad of the tensor that you are after?",
        "Two backward passes run between two clearings, and the parameters get a gradient from both. Draw the ledger: "
        "how high is the stack at each step?",
        "Either clear once more, or let the first pass reach nothing but the pixels: torch.autograd.grad hands "
        "gradients back in place of storing them, and backward takes inputs=. Or let one backward serve both.",
    ),
    properties=telling(PROPERTIES, cases_of_batches(0)),
    quantities=QUANTITIES,
    telling={SIZES: "the largest entries of the first maps are {given}, those of the maps asked for {right}."},
)
