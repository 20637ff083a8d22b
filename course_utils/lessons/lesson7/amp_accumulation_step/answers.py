"""What is right in exercise 7.3."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import torch
from torch import nn

from course_utils.checks.answers import Answers
from course_utils.exercise import Case, Evidence
from course_utils.lessons.lesson7.amp_accumulation_step.task import AUTOCAST, LEFT, RATES, SCALER, STEPS, UPDATE
from course_utils.lessons.returned import FLOAT, number_in
from course_utils.lessons.training import Batch, LossFn
from course_utils.plain import Plain, TensorData

LOSS, NORM = "the returned loss", "the returned norm"
NOT_FINITE = "not finite"
Scheduler = torch.optim.lr_scheduler.LRScheduler


def right(
    model: nn.Module,
    optimizer: torch.optim.Optimizer,
    scaler: torch.amp.GradScaler,
    loss_fn: LossFn,
    micro_batches: Sequence[Batch],
    max_norm: float,
    scheduler: Scheduler | None = None,
    dtype: torch.dtype = torch.float16,
) -> dict[str, Any]:
    """Scaled gradients handed back and summed up by samples, and clipped at their scaled size."""
    params, samples = [p for p in model.parameters() if p.requires_grad], sum(len(x) for x, _ in micro_batches)
    totals: list[torch.Tensor | None] = [None] * len(params)
    loss_sum, scale = 0.0, scaler.get_scale()
    for x, y in micro_batches:
        with torch.autocast(x.device.type, dtype=dtype):
            prediction = model(x)
        loss = loss_fn(prediction, y) * len(x) / samples
        loss_sum += loss.item()
        found: Sequence[torch.Tensor | None] = torch.autograd.grad(scaler.scale(loss), params, allow_unused=True)
        totals = [a if b is None else b if a is None else a + b for a, b in zip(totals, found, strict=True)]
    norm = math.sqrt(sum(float((total.double() ** 2).sum()) for total in totals if total is not None)) / scale
    factor = min(1.0, max_norm / norm) if math.isfinite(norm) and norm else 1.0
    for p in model.parameters():
        p.grad = None
    for p, total in zip(params, totals, strict=True):
        p.grad = None if total is None else total * factor
    scaler.step(optimizer)
    scaler.update()
    skipped = scaler.is_enabled() and not math.isfinite(norm)
    for p in model.parameters():
        p.grad = None
    if scheduler is not None and not skipped:
        scheduler.step()
    return {"loss": loss_sum, "grad_norm": norm, "skipped": skipped}


def _accepted(_: Case, evidence: Evidence) -> Evidence:
    """Losses and norms become facts, a window each; which number stands for a norm that is not finite is left open."""
    if not isinstance(evidence.result, list):
        return evidence
    found: dict[str, dict[str, Plain]] = {LOSS: {}, NORM: {}}
    windows: list[Plain] = []
    for number, told in enumerate(evidence.result, 1):
        if not isinstance(told, dict):
            windows.append(told)
            continue
        window = dict(told)
        for key, fact in (("loss", LOSS), ("grad_norm", NORM)):
            value = number_in(told.get(key))
            if value is not None:
                held = TensorData(torch.tensor(value, dtype=torch.float64))
                found[fact][f"window {number}"] = held if math.isfinite(value) else NOT_FINITE
                if fact == NORM or isinstance(told[key], int | float):
                    window[key] = FLOAT
        windows.append(window)
    return replace(evidence, result=windows, facts={**evidence.facts, **found})


_TOLERANCE = {"float16": 2e-2, "bfloat16": 8e-2}
"""For models that autocast turns down: how often a sum is rounded, and where, is the attempt's own business."""


def _tolerance(case: Case) -> float:
    # In float64 it is torch's 1e-6 beside the norm that one divides by.
    return _TOLERANCE[case.spec.get("to", "float16")] if case.spec.get("dtype") == "float32" else 1e-5


ANSWERS = Answers(
    right,
    graded=(AUTOCAST, STEPS, SCALER, RATES, LEFT, UPDATE, LOSS, NORM),
    accept=_accepted,
    tolerance=_tolerance,
)
