"""What is right in exercise 7.4."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from dataclasses import replace

import torch
from torch import nn

from course_utils.checks.answers import Answers
from course_utils.exercise import Case, Evidence
from course_utils.lessons.lesson7.accumulate_in_fp32.task import CLOSE
from course_utils.lessons.training import Batch, LossFn
from course_utils.plain import TensorData

DTYPES = "the dtype of the gradients"


def right(model: nn.Module, loss_fn: LossFn, micro_batches: Sequence[Batch]) -> dict[str, torch.Tensor]:
    """A float64 copy of the model, the whole window at once, and float32 at the very end."""
    exact = copy.deepcopy(model).double()
    x, y = (torch.cat(parts).double() for parts in zip(*micro_batches, strict=True))
    trainable = {name: p for name, p in exact.named_parameters() if p.requires_grad}
    found = torch.autograd.grad(
        loss_fn(exact(x), y), list(trainable.values()), allow_unused=True, materialize_grads=True
    )
    # In torch 2.6 the zeros of what was not used ask for gradients themselves.
    return {name: gradient.detach().float() for name, gradient in zip(trainable, found, strict=True)}


def _accepted(_: Case, evidence: Evidence) -> Evidence:
    """The dtypes become a fact of their own: float32 is asked, though the model's is another."""
    if not isinstance(evidence.result, dict):
        return evidence
    dtypes, same = set(), {}
    for name, value in evidence.result.items():
        if isinstance(value, TensorData) and value.value.is_floating_point():
            dtypes.add(str(value.value.dtype).removeprefix("torch."))
            value = replace(value, value=value.value.float())
        same[name] = value
    return replace(evidence, result=same, facts={**evidence.facts, DTYPES: " and ".join(sorted(dtypes)) or "none"})


ANSWERS = Answers(right, graded=(DTYPES,), accept=_accepted, tolerance=lambda _: CLOSE)
