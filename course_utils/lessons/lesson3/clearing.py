"""What became of gradients that code was asked to clear: facts shared by exercises 3.1 and 3.2."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import torch

GRAD = ".grad after the call"
WHERE = "where .grad lies after the call"
VALUES = "values of the parameters after the call"
KEPT = "gradients that are what they were"
IN_PLACE, MOVED, SHARING, ANOTHER, NOWHERE = (
    "in the tensor that was there",
    "in the tensor that was there, in other memory",
    "in another tensor, in the memory of the one that was there",
    "in another tensor, in other memory",
    "nowhere",
)


def keeps(spec: Mapping[str, Any]) -> bool:
    """Whether the call of a case says set_to_none=False."""
    return spec.get("set_to_none", True) is False


class Before:
    """Which tensor each `.grad` was, and in which memory it lay, so that one can tell whether it still is."""

    def __init__(self, named: Mapping[str, torch.Tensor], keeps: bool) -> None:
        """`keeps` says whether the tensors are to be kept and filled with zeros; else None is asked for."""
        self._named, self._keeps = dict(named), keeps
        self._held = {name: param.grad for name, param in named.items()}
        self._numbers = {name: None if grad is None else _in_numbers(grad) for name, grad in self._held.items()}
        self._address = {name: None if grad is None else grad.data_ptr() for name, grad in self._held.items()}

    def facts(self) -> dict[str, object]:
        """What is in each `.grad` and in each parameter, and where a tensor lies that was to be kept."""
        now = {name: param.grad for name, param in self._named.items()}
        after = {name: None if grad is None else grad.detach().clone() for name, grad in now.items()}
        values = {name: param.detach().clone() for name, param in self._named.items()}
        facts: dict[str, object] = {GRAD: after, VALUES: values, KEPT: [n for n in now if self._as_it_was(n)]}
        if self._keeps:
            facts[WHERE] = {name: self._where(name) for name, grad in self._held.items() if grad is not None}
        return facts

    def _as_it_was(self, name: str) -> bool:
        """Whether `.grad` holds the numbers that it held, and they are not all zero."""
        grad, before = self._named[name].grad, self._numbers[name]
        if grad is None or before is None or grad.shape != before.shape:
            return False
        return bool(before.any()) and torch.equal(_in_numbers(grad), before)

    def _where(self, name: str) -> str:
        grad = self._named[name].grad
        if grad is None:
            return NOWHERE
        same_memory = grad.data_ptr() == self._address[name]
        if grad is not self._held[name]:
            return SHARING if same_memory else ANOTHER
        return IN_PLACE if same_memory else MOVED


def _in_numbers(grad: torch.Tensor) -> torch.Tensor:
    """A copy in which NaN is a number like any other, so that it equals itself."""
    return grad.detach().nan_to_num(nan=1e30)
