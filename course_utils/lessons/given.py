"""What the steps of a training loop were given, beside what is due at them: in words, for the cards of exercises."""

from __future__ import annotations

import copy
import math
from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import nn

from course_utils.lessons.training import Batch, LossFn

GIVEN = "what the steps were given"
"""The fact that holds the words."""
AS_DUE = "each step was given what was due"
_NEAR = {torch.float64: 1e-7, torch.float32: 1e-3}
"""How far a gradient may be from what is due, relative to its length."""


class WatchedSteps:
    """Writes down the weights and the gradients at each step of `optimizer`, which nobody else may have hooked yet.

    At step k, from 0, the gradient of the mean loss of the batches `due(k)` is due, at the weights of that moment;
    `steps` steps are due in all. Gradients are read after a step, since a closure computes them within it.
    """

    def __init__(
        self,
        model: nn.Module,
        optimizer: torch.optim.Optimizer,
        loss_fn: LossFn,
        due: Callable[[int], Sequence[Batch]],
        steps: int,
    ) -> None:
        self._model, self._twin = model, copy.deepcopy(model)
        self._batches = [[(x.clone(), y.clone()) for x, y in due(k)] for k in range(steps)]
        self._loss_fn, self._due = loss_fn, steps
        self._settings, self._changed = _settings(optimizer), list[str]()
        self._weights: list[list[torch.Tensor]] = []
        self._gradients: list[list[torch.Tensor | None]] = []
        optimizer.register_step_pre_hook(self._before)
        optimizer.register_step_post_hook(self._after)

    def _before(self, optimizer: torch.optim.Optimizer, *_: Any) -> None:
        if not self._changed:
            pairs = zip(self._settings, _settings(optimizer), strict=False)
            changed = {name: (a[name], b[name]) for a, b in pairs for name in a if name in b and b[name] != a[name]}
            self._changed = [
                f"{name} of the optimizer was {now:g} at step {len(self._weights) + 1}, and {before:g} when it was handed over"
                for name, (before, now) in changed.items()
            ]
        if len(self._weights) <= self._due:
            self._weights.append([p.detach().clone() for p in self._model.parameters()])

    def _after(self, *_: Any) -> None:
        if len(self._gradients) <= self._due:
            held = [p.grad for p in self._model.parameters()]
            self._gradients.append([None if grad is None else grad.detach().clone() for grad in held])

    def words(self) -> str:
        """The first step that was given something else than what was due, and how many steps there were."""
        taken = min(len(self._weights), len(self._gradients))
        if not taken:
            return "the optimizer that was handed over took no step" if self._due else AS_DUE
        found = (self._of_step(k) for k in range(min(taken, self._due)))
        said = [next((words for words in found if words), "")]
        if taken < self._due:
            said.append(f"the optimizer that was handed over took {_count(taken)} of the {self._due} due")
        elif taken > self._due:
            said.append(f"the optimizer that was handed over took more than the {_count(self._due)} due")
        said += self._changed
        return "; ".join(words for words in said if words) or AS_DUE

    def _of_step(self, k: int) -> str:
        wanted = self._wanted(k)
        given = [grad for grad, due in zip(self._gradients[k], wanted, strict=True) if due is not None]
        if all(grad is None for grad in given):
            return f"step {k + 1} found no gradient"
        if any(grad is None for grad in given):
            return f"step {k + 1} found no gradient for some of the parameters"
        a = torch.cat([due.flatten() for due in wanted if due is not None]).double()
        b = torch.cat([grad.flatten() for grad in given if grad is not None]).double()
        near = _NEAR[self._weights[k][0].dtype]
        length, its = float(a.norm()), float(b.norm())
        if not float((a - b).norm()) > near * length:
            return ""
        if not its:
            return f"step {k + 1} was given zeros"
        if not length:
            return f"step {k + 1} was given a gradient, where zeros were due"
        cosine, ratio = float(a @ b) / (length * its), its / length
        degrees = math.degrees(math.acos(max(-1.0, min(1.0, cosine))))
        if degrees < 0.01:
            return f"the gradient of step {k + 1} has the right direction and is {ratio:.4g} times as long as is due"
        size = "has the right length" if abs(ratio - 1) < near else f"is {ratio:.3g} times as long as is due"
        return f"the gradient of step {k + 1} points {degrees:.3g} degrees away from what is due and {size}"

    def _wanted(self, k: int) -> list[torch.Tensor | None]:
        """What is due at step k; None for a parameter that is frozen."""
        params = list(self._twin.parameters())
        with torch.no_grad():
            for p, value in zip(params, self._weights[k], strict=True):
                p.copy_(value)
        losses = [self._loss_fn(self._twin(x), y) for x, y in self._batches[k]]
        trained = [p for p in params if p.requires_grad]
        gradients = iter(torch.autograd.grad(torch.stack(losses).mean(), trained))
        return [next(gradients) if p.requires_grad else None for p in params]


def _settings(optimizer: torch.optim.Optimizer) -> list[dict[str, float]]:
    """The numbers among the settings of each group of parameters."""
    return [
        {name: float(value) for name, value in group.items() if isinstance(value, int | float)}
        for group in optimizer.param_groups
    ]


def _count(steps: int) -> str:
    return f"{steps} step{'s' * (steps != 1)}"
