"""What each step of an optimizer had in hand while an attempt ran: for exercises whose attempts are training loops."""

from __future__ import annotations

from typing import Any

import torch
from torch import nn
from torch.optim.optimizer import register_optimizer_step_pre_hook

from course_utils.plain import Plain

STEPS = "the optimizer's steps"
"""The fact: a list with a dict for each step, `rates` (of the groups) and `gradients` ({name: tensor, or None})."""
MOST = 40
"""Most steps that are written down; of a longer run there is no fact."""


class Steps:
    """Writes down, in its block, the gradients and learning rates that each optimizer step begins with.

    `watch` holds the models whose names are used. A step with a closure is not written down, and ends the writing:
    its gradients are made inside.
    """

    def __init__(self, watch: dict[str, object]) -> None:
        models = [(name, item) for name, item in watch.items() if isinstance(item, nn.Module)]
        self._names = {
            id(p): f"{name}.{key}" if len(models) > 1 else key
            for name, item in models
            for key, p in item.named_parameters()
        }
        self._found: list[dict[str, Plain]] | None = []

    def __enter__(self) -> Steps:
        self._handle = register_optimizer_step_pre_hook(self._note)
        return self

    def __exit__(self, *_: object) -> None:
        self._handle.remove()

    def found(self) -> dict[str, Plain]:
        """The fact, or none where a closure was used or the steps were too many."""
        return {} if self._found is None else {STEPS: self._found}

    def _note(self, optimizer: torch.optim.Optimizer, args: Any, kwargs: Any) -> None:
        if self._found is None:
            return
        if any(callable(item) for item in (*args, *kwargs.values())) or len(self._found) == MOST:
            self._found = None
            return
        held = [p for group in optimizer.param_groups for p in group["params"]]
        gradients = {
            self._names.get(id(p), f"parameter {place}"): None if p.grad is None else p.grad.detach().clone()
            for place, p in enumerate(held)
        }
        self._found.append({"rates": [group.get("lr") for group in optimizer.param_groups], "gradients": gradients})
