"""What an exercise of lesson 4 sees of a training step: how far the parameters moved, and what each step found."""

from __future__ import annotations

from typing import Any

import torch
from torch import nn

from course_utils.lessons.training import parameters_after
from course_utils.lessons.training import tolerance as tolerance

UPDATE = "the update"
"""Parameters after the call minus before it: a factor shows in it, which in the parameters themselves it would not."""
STEPS = "calls of optimizer.step"
HELD = ".grad when each step began"
LEFT = ".grad after the call"


def held_by(model: nn.Module) -> str:
    """What the `.grad` of a model's parameters hold together: "None", "zeros" or "numbers"."""
    found = [p.grad for p in model.parameters() if p.grad is not None]
    if not found:
        return "None"
    return "numbers" if any(bool(gradient.any()) for gradient in found) else "zeros"


class StepWatch:
    """Notes what moves a model, from now on, and each step of its optimizer."""

    def __init__(self, model: nn.Module, optimizer: torch.optim.Optimizer) -> None:
        self._model = model
        self._before = parameters_after(model)
        self._held: list[str] = []
        optimizer.register_step_pre_hook(self._note)

    def _note(self, *_: Any) -> None:
        self._held.append(held_by(self._model))

    def update(self) -> dict[str, torch.Tensor]:
        """{name: by how much that parameter moved}."""
        return {name: p.detach() - self._before[name] for name, p in self._model.named_parameters()}

    def facts(self) -> dict[str, object]:
        left = held_by(self._model)
        return {
            UPDATE: self.update(),
            STEPS: len(self._held),
            HELD: self._held[:20],
            LEFT: "cleared" if left != "numbers" else "filled",
        }
