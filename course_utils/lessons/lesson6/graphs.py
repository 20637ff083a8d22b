"""How many micro-batches have a graph in memory at once: for the exercises that allow one.

Each layer after the first keeps its input for backward. A weak reference to the memory of that input tells whether the
graph it belongs to has been freed; a variable that still names a loss or a prediction does not matter.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import nn

from course_utils.lessons.memory import Remembered

AT_ONCE = "micro-batches in memory at each pass through the model"
"""The fact: a list with a number for each pass, its own micro-batch counted in. Right is 1 each time."""
Owners = Callable[[torch.Tensor], set[int]]
"""From what goes into the first layer to the numbers of the micro-batches it belongs to; empty where it is none's."""


class GraphWatch:
    """Looks at what goes into a model and into its layers, from now on; `hooks` are its own."""

    def __init__(self, model: nn.Module, owners: Owners) -> None:
        self._owners = owners
        self._owner: set[int] = set()
        self._kept = Remembered()
        self._at_once: list[int] = []
        layers = [module for module in model.modules() if isinstance(module, nn.Linear) and module is not model]
        for layer in layers:
            layer.register_forward_pre_hook(self._note)
        self.hooks = len(layers)
        kind = type(model)

        def forward(of: nn.Module, given: torch.Tensor, *args: Any, **kwargs: Any) -> Any:
            self._begin(given)
            try:
                return kind.forward(of, given, *args, **kwargs)
            finally:
                self._owner = set()

        # No hook: whoever calls model.forward is looked at as well, and a copy of the model is.
        model.__class__ = type(kind.__name__, (kind,), {"forward": forward})

    def __deepcopy__(self, memo: dict[int, Any]) -> GraphWatch:
        return self  # its hooks are copied with a model

    @property
    def at_once(self) -> list[int]:
        """For each pass that was recorded, the number of micro-batches in memory; of the first 200."""
        return self._at_once[:200]

    def _begin(self, given: torch.Tensor) -> None:
        if torch.is_grad_enabled() and isinstance(given, torch.Tensor):
            self._owner = self._owners(_unwrapped(given).detach())
            if self._owner:
                self._at_once.append(len(self._owner | self._kept.there()))

    def _note(self, _: nn.Module, args: tuple[Any, ...]) -> None:
        if self._owner and torch.is_grad_enabled() and args and isinstance(args[0], torch.Tensor):
            if args[0].requires_grad:  # else it is the data, which stays anyway
                for owner in self._owner:
                    self._kept.note(owner, _unwrapped(args[0]))


def _unwrapped(tensor: torch.Tensor) -> torch.Tensor:
    """What is inside of the wrappers that torch.func puts around a tensor; the tensor itself where there are none."""
    functorch = getattr(torch._C, "_functorch", None)  # a private name: where a torch has none, wrappers stay unread
    if functorch is None or not hasattr(functorch, "get_unwrapped"):
        return tensor
    while functorch.is_functorch_wrapped_tensor(tensor):
        tensor = functorch.get_unwrapped(tensor)
    return tensor


def owners_by_row(inputs: Sequence[torch.Tensor]) -> Owners:
    """By the rows that are in it, compared with those of each micro-batch's input. No row may be in two of them."""
    rows = torch.cat([one.reshape(len(one), -1) for one in inputs]).double()
    numbers = torch.tensor([number for number, one in enumerate(inputs) for _ in one])

    def owners(given: torch.Tensor) -> set[int]:
        if not given.is_floating_point() or not given.numel() or given.numel() % rows.shape[1]:
            return set()
        same = (given.double().reshape(-1, 1, rows.shape[1]) == rows).all(-1)
        return set(numbers[same.any(0)].tolist())

    return owners


def owners_by_first_token(inputs: Sequence[torch.Tensor]) -> Owners:
    """By the first token of each row, which no row of another micro-batch may have."""
    first = {int(token): number for number, one in enumerate(inputs) for token in one[:, 0]}

    def owners(given: torch.Tensor) -> set[int]:
        if given.dim() < 2 or given.is_floating_point():
            return set()
        return {first[int(token)] for token in given.flatten(0, -2)[:, 0] if int(token) in first}

    return owners
