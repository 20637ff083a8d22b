"""What is right in exercise 7.5."""

from __future__ import annotations

from dataclasses import replace

import torch
from torch.nn.parallel import DistributedDataParallel

from course_utils.checks.answers import Answers, Broken
from course_utils.exercise import Case, Evidence
from course_utils.lessons.lesson4.steps import UPDATE, tolerance
from course_utils.lessons.lesson7.ddp_accumulation_step import mistakes
from course_utils.lessons.lesson7.ddp_accumulation_step.task import AVERAGES, OWN, ROUNDS, SWITCH
from course_utils.lessons.training import Batch, LossFn


def right(
    ddp_model: DistributedDataParallel, optimizer: torch.optim.Optimizer, loss_fn: LossFn, micro_batches: list[Batch]
) -> None:
    """All micro-batches but the last around the wrapper, their gradients handed back and put in place."""
    trainable = [p for p in ddp_model.module.parameters() if p.requires_grad]
    for p in ddp_model.module.parameters():
        p.grad = None
    for x, y in micro_batches[:-1]:
        loss = loss_fn(ddp_model.module(x), y) / len(micro_batches)
        found = torch.autograd.grad(loss, trainable, allow_unused=True)
        for p, gradient in zip(trainable, found, strict=True):
            if gradient is not None:
                p.grad = gradient if p.grad is None else p.grad + gradient
    x, y = micro_batches[-1]
    (loss_fn(ddp_model(x), y) / len(micro_batches)).backward()
    optimizer.step()


_FEW = 2
"""As many numbers of one's own are no gradient: a count, and perhaps a loss for a log."""


def _accepted(_: Case, evidence: Evidence) -> Evidence:
    return replace(evidence, result=None)


def _rules(_: Case, evidence: Evidence) -> Broken | None:
    own, rounds = evidence.facts.get(OWN), evidence.facts.get(ROUNDS)
    if not isinstance(own, list) or not isinstance(rounds, list):
        return None
    for number, sizes in enumerate(own, 1):
        if sum(sizes) > _FEW:
            seen = f"numbers sent by collectives of your own in call {number}: {', '.join(map(str, sizes))}"
            return Broken(mistakes.gradients_sent_by_hand, seen)
    for number, (times, switch) in enumerate(zip(rounds, evidence.facts.get(SWITCH) or [], strict=False), 1):
        if times != 1:
            seen = f"times that every gradient was sent in call {number}: {times:g}"
            late = any(len(one) == 2 and one[0] and not one[1] for one in switch)
            return Broken(mistakes.forward_outside_no_sync if late else mistakes.averaged_in_every_pass, seen)
    return None


ANSWERS = Answers(right, graded=(UPDATE, AVERAGES), accept=_accepted, rules=_rules, tolerance=tolerance)
