"""What is right in exercise 3.4."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import torch
from torch import nn
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves

from course_utils.checks.answers import Answers
from course_utils.exercise import Case, Evidence
from course_utils.lessons.returned import FLOAT, float_beside
from course_utils.plain import Opaque

COUNT = "the number of bytes"
_NUMBER = Opaque("", "a number")


class _Traffic(TorchDispatchMode):
    """In its block, counts the bytes that the dispatcher's operations read and write."""

    def __init__(self) -> None:
        super().__init__()
        self.bytes = 0

    def __torch_dispatch__(
        self, func: Any, types: object, args: tuple[Any, ...] = (), kwargs: Mapping[str, Any] | None = None
    ) -> Any:
        result = func(*args, **(kwargs or {}))
        given, made = _tensors(args), _tensors(result)
        in_place = func._schema.is_mutable
        if in_place or not _memory(given) & _memory(made):  # else it is a view, and no byte moves
            self.bytes += sum(tensor.nbytes for tensor in made)
            if func is not torch.ops.aten.zero_.default:
                self.bytes += sum(tensor.nbytes for tensor in given)
        return result


def _tensors(tree: object) -> list[torch.Tensor]:
    return [leaf for leaf in tree_leaves(tree) if isinstance(leaf, torch.Tensor)]


def _memory(tensors: list[torch.Tensor]) -> set[int]:
    return {tensor.untyped_storage().data_ptr() for tensor in tensors}


def right(model: nn.Module, set_to_none: bool) -> int:
    """Measured on a copy: clearing and backward, less what the same gradients take when nothing accumulates them."""
    params = [param for param in copy.deepcopy(model).parameters() if param.requires_grad]
    if not params:
        return 0

    def loss() -> torch.Tensor:
        return torch.stack([(param * torch.ones_like(param)).double().sum() for param in params]).sum()

    loss().backward()  # type: ignore[no-untyped-call]
    accumulated, handed_back = loss(), loss()
    with _Traffic() as whole:
        for param in params:
            if set_to_none:
                param.grad = None
            elif param.grad is not None:
                param.grad.zero_()
        accumulated.backward()  # type: ignore[no-untyped-call]
    with _Traffic() as without:
        torch.autograd.grad(handed_back, params)
    return whole.bytes - without.bytes


def _accepted(case: Case, evidence: Evidence) -> Evidence:
    """A count is compared as a tensor beside the result, of which one can say by what factor it differs."""
    told = float_beside(evidence, COUNT)
    return replace(told, result=_NUMBER) if told.result == FLOAT else evidence


ANSWERS = Answers(right, graded=(COUNT,), accept=_accepted)
