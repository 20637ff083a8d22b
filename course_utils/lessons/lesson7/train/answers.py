"""What is right in exercise 7.7."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import torch
from torch import nn

from course_utils.checks.answers import Answers, Broken
from course_utils.checks.mistakes import mistake
from course_utils.checks.observe.ledger import SAID
from course_utils.exercise import Case, Evidence
from course_utils.lessons.lesson4.steps import UPDATE
from course_utils.lessons.lesson7.train.task import (
    AGAIN,
    DRAWN,
    DRIFT,
    DTYPE,
    ENDED,
    FINISHED,
    FORWARDS,
    KEPT,
    OTHER,
    SEEDED,
    UNREADABLE,
    WHILE_SAVED,
    WRITTEN,
)
from course_utils.lessons.training import Batch
from course_utils.plain import TensorData


def right(
    model: nn.Module, batches: Sequence[Batch], config: Mapping[str, Any], checkpoint: Path | None = None
) -> None:
    """The scaler by hand: a scale, gradients handed back, and a step only where all of them are finite."""
    optimizer = torch.optim.SGD(model.parameters(), lr=config["lr"], momentum=0.9)
    trained = [p for p in model.parameters() if p.requires_grad]
    window, steps, k = 0, 0, config["window"]
    scale = 65536.0
    if checkpoint is not None and checkpoint.exists():
        saved = torch.load(checkpoint)
        model.load_state_dict(saved["model"])
        optimizer.load_state_dict(saved["optimizer"])
        window, steps, scale = saved["window"], saved["steps"], saved["scale"]
    while window < config["steps"]:
        torch.default_generator.manual_seed(7919 * config["seed"] + window)
        for p in model.parameters():
            p.grad = None
        for number in range(window * k, (window + 1) * k):
            x, y = batches[number % len(batches)]
            with torch.autocast("cpu", dtype=torch.float16):
                loss = nn.functional.cross_entropy(model(x), y) / k
            for p, gradient in zip(trained, torch.autograd.grad(loss * scale, trained), strict=True):
                p.grad = gradient if p.grad is None else p.grad + gradient
        for p in trained:
            assert p.grad is not None
            p.grad.div_(scale)
        if all(bool(torch.isfinite(p.grad).all()) for p in trained):  # type: ignore[arg-type]
            nn.utils.clip_grad_norm_(trained, config["max_norm"])
            optimizer.param_groups[0]["lr"] = config["lr"] * (1 - steps / config["steps"])
            optimizer.step()
            steps += 1
        else:
            scale /= 2
        window += 1
        if checkpoint is not None:
            state = {"model": model.state_dict(), "optimizer": optimizer.state_dict()}
            torch.save({**state, "window": window, "steps": steps, "scale": scale}, f"{checkpoint}.new")
            os.replace(f"{checkpoint}.new", checkpoint)


_WHILE = WHILE_SAVED.split("{")[0]
_GRADED = (UPDATE, FORWARDS, DTYPE, WRITTEN, ENDED, DRIFT, AGAIN, FINISHED, KEPT, SEEDED, DRAWN)


def _accepted(_: Case, evidence: Evidence) -> Evidence:
    """What was returned does not matter. At which of its moments a save was cut is the attempt's own affair."""
    facts = dict(evidence.facts)
    for name in (ENDED, DRIFT, AGAIN):
        found = facts.get(name)
        if isinstance(found, dict):
            facts[name] = _joined(found)
    return replace(evidence, result=None, facts=facts)


def _joined(found: Mapping[str, Any]) -> dict[str, Any]:
    """All kills in the save of one window as one: the first that went wrong, where one did."""
    joined: dict[str, Any] = {}
    for words, value in found.items():
        key = words.split(", before")[0] if words.startswith(_WHILE) else words
        if key not in joined or not _wrong(joined[key]):
            joined[key] = value
    return joined


def _wrong(value: Any) -> bool:
    if isinstance(value, TensorData):
        return bool(value.value.any())
    return value in (OTHER, UNREADABLE) if isinstance(value, str) else bool(value)


def _tolerance(case: Case) -> float:
    """Half precision rounds; logits may be made float32 for the loss; clipping adds a millionth to the norm. What .grad
    held before is unscaled, 1/65536 of what a window adds to it, and must be seen."""
    if case.spec.get("dtype") == "float32":
        return 1e-2
    return 3e-6 if case.spec["max_norm"] > 1 else 1e-5


@mistake(
    "The ledger finds a mistake",
    "The numbers are right to the precision of half floats, and a GradientLedger around the run reports an error.",
    "What the ledger says stands above, with the line that it means.",
)
def found_by_the_ledger(*_: Any) -> None:
    """No code makes it: it stands here, and not among the mistakes, since most that do have wrong numbers, too."""


def _rules(_: Case, evidence: Evidence) -> Broken | None:
    said = evidence.facts.get(SAID)
    for one in said if isinstance(said, list) else ():
        if one["severity"] == "error":
            return Broken(found_by_the_ledger, f"{one['id']}: {one['text']}")
    return None


ANSWERS = Answers(right, graded=_GRADED, accept=_accepted, rules=_rules, tolerance=_tolerance)
