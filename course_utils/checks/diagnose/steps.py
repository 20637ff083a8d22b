"""Where a training loop first parts from the right one: how many steps, with which gradient, at which learning rate.

Up to the first step that differs both loops have the same weights, so there the gradients can be compared; what comes
after it is a consequence.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import torch

from course_utils.checks.diagnose.run import Run, close, joined, on_all
from course_utils.checks.difference import nice, wide
from course_utils.checks.observe.steps import STEPS
from course_utils.exercise import Exercise
from course_utils.plain import TensorData

_NEAR = 1e-3
"""Relative difference of two gradients below which their lengths and the angle between them read as the same."""
_SAME = 1e-5
"""Difference of two gradients, relative to the larger one, that counts as none: after some steps in float32."""
Step = Mapping[str, Any]


def questions(exercise: Exercise, group: Sequence[Run], runs: Sequence[Run]) -> list[str]:
    """One sentence, of the first of the failing cases, where all of them part from the right loop in the same way.

    Where some have a side effect, which is told for itself and may be why they part otherwise, the others decide.
    """
    group = [run for run in group if not run.given.changes] or group
    found = [_parting(run) for run in group]
    if not found or any(one is None or one[0] != found[0][0] for one in found):  # type: ignore[index]
        return []
    assert found[0] is not None
    kind, sentence = found[0]
    if kind == "parameters" and not on_all(
        group, lambda run: "parameters" in "".join(d.where for d in run.differences)
    ):
        return []
    return [f"On case {group[0].number}: {sentence}"]


def _parting(run: Run) -> tuple[str, str] | None:
    """(kind, sentence) of where the attempt parts from the right loop; None where that cannot be told."""
    mine, rights = run.given.facts.get(STEPS), run.right.facts.get(STEPS)
    if not isinstance(mine, list) or not isinstance(rights, list) or not rights:
        return None
    if not mine:
        return "none", "no optimizer's `step()` ran."
    zeros = False
    for number, (given, right) in enumerate(zip(mine, rights, strict=False), 1):
        told = _told(number, given, right, rights[: number - 1])
        if told is not None:
            # Zeros may have moved the weights by now, and with them the gradient.
            return None if zeros and told[0] == "direction" else _with_count(told, len(mine), len(rights))
        zeros = zeros or bool(_too_many(given, right))
    if len(mine) != len(rights):
        each = ", each of the first ones as asked for" if len(mine) > len(rights) else ", each as asked for"
        return "count", f"{_steps(len(mine))} of an optimizer{'' if zeros else each}; {len(rights)} are asked for."
    if zeros:
        return None  # plain SGD steps over zeros; whether weight decay or a memory moved something there is not seen
    return "parameters", (
        f"each of the {_steps(len(rights))} began with the gradient and the learning rate that are asked for. If the "
        "parameters are wrong, something else moved them, or changed what the optimizer remembers."
    )


def _with_count(told: tuple[str, str], ran: int, asked: int) -> tuple[str, str]:
    """Where steps are missing too, that is why a step began with the gradient of another batch, or of several."""
    kind, sentence = told
    if kind != "direction" or ran >= asked:
        return told
    return "count", f"{sentence} In all, {_steps(ran)} ran; {asked} are asked for."


def _told(number: int, given: Step, right: Step, before: Sequence[Step]) -> tuple[str, str] | None:
    """How one step differs from the right one; None where it does not."""
    which = f"step {number}" + (", the first that differs," if number > 1 else "")
    missing = [name for name in right["gradients"] if name not in given["gradients"]]
    if missing:
        return "held", f"the optimizer of {which} does not hold {_names(missing)}."
    if any(name not in right["gradients"] for name in given["gradients"]):
        return None
    parts = [part for step in (right, given, *before) for part in step["gradients"].values()]
    if not all(part is None or isinstance(part, TensorData) for part in parts):
        return None
    too_many = [name for name in _too_many(given, right) if bool(given["gradients"][name].value.any())]
    if too_many:
        return "held none", (
            f"{which} found a gradient in `.grad` of {_names(too_many)}, which gets none from the loss asked for."
        )
    shapes = _shapes((right, given, *before))
    a, b = _row(right, shapes), _row(given, shapes)
    if not a.numel() or a.shape != b.shape:
        return None
    if close(a, b, _SAME):
        # Groups may be cut otherwise than in the right loop: only a rate that it does not have says something.
        mine, rights = given["rates"], right["rates"]
        others = [rate for rate in mine if rate not in rights]
        if others and all(isinstance(one, float) for one in (*mine, *rights)):
            whose = "" if len(mine) == 1 else ", of some parameters,"
            asked = joined([f"{rate:.4g}" for rate in dict.fromkeys(rights)])
            return "rate", (
                f"{which} began with the right gradient and a learning rate{whose} of {others[0]:.4g}; the loop "
                f"asked for has {asked} there."
            )
        return None
    return _gradient(which, a, b, [_row(one, shapes) for one in before])


def _too_many(given: Step, right: Step) -> list[str]:
    """Names whose `.grad` is a tensor, perhaps of zeros, where the right loop has None."""
    return [name for name, part in right["gradients"].items() if part is None and given["gradients"][name] is not None]


def _gradient(which: str, right: torch.Tensor, given: torch.Tensor, before: Sequence[torch.Tensor]) -> tuple[str, str]:
    """How a gradient differs from the right one at the same weights, said as exactly as it is certain."""
    if not bool(torch.isfinite(given).all()):
        return "not finite", f"the gradient that {which} began with is not finite."
    if not float(given.abs().max()):
        return "nothing", f"{which} found no gradient, or zeros alone."
    for back in range(1, len(before) + 1):
        old = sum(before[-back:], torch.zeros_like(right))
        if close(given, right + old, _SAME):
            return "sum", f"{which} began with its own gradient and {_older(back)}, added up."
        if back == 1 and close(given, old, _SAME):
            return "again", f"{which} began with the gradient of the step before it, once more."
    length, wanted = float(given.norm()), float(right.norm())
    cosine = float(given @ right) / (length * wanted) if length and wanted else 0.0
    apart = float((given - right).norm()) / wanted if wanted else math.inf
    if apart < _NEAR:
        return (
            "near",
            f"{which} began with a gradient that differs from the one asked for by {100 * apart:.1g} % of its length.",
        )
    if abs(cosine) > 1 - 1e-7:
        factor = float(given @ right) / wanted**2
        return "factor", f"{which} began with {_times(factor)} times the gradient that is asked for."
    return "direction", (
        f"{which} began with another gradient than the one asked for: its length is {length:.4g} in place of "
        f"{wanted:.4g}, and the cosine of the two is {cosine:.3f}."
    )


def _times(factor: float) -> str:
    """The factor without its rounding, as a fraction where it is one."""
    parts = round(1 / factor) if factor else 0
    return nice(1 / parts if parts and abs(factor * parts - 1) < _SAME else round(factor, 6))


def _older(back: int) -> str:
    return "that of the step before it" if back == 1 else f"those of the {back} steps before it"


def _shapes(steps: Sequence[Step]) -> dict[str, torch.Size]:
    """{name: shape} of every gradient that some step holds."""
    return {
        name: part.value.shape
        for step in reversed(steps)
        for name, part in step["gradients"].items()
        if part is not None
    }


def _row(step: Step, shapes: Mapping[str, torch.Size]) -> torch.Tensor:
    """All gradients of a step in one row of float64, zeros where it holds None."""
    held = {name: part.value for name, part in step["gradients"].items() if part is not None}
    rows = [wide(held[name]) if name in held else torch.zeros(shape).double() for name, shape in shapes.items()]
    return torch.cat([row.flatten() for row in rows]) if rows else torch.zeros(0)


def _steps(count: int) -> str:
    return "1 step" if count == 1 else f"{count} steps"


def _names(names: Sequence[str]) -> str:
    shown = [f"`{name}`" for name in names[:4]]
    return joined(shown) if len(names) <= 4 else ", ".join(shown) + f" and {len(names) - 4} more"
