"""Exercise 2.1: what `.grad` holds after each of several backwards."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import torch
from torch import nn

from course_utils.exercise import Arrangement, Case, Exercise
from course_utils.lessons.inputs import Draw, cases
from course_utils.lessons.memory import share_memory

Loss = Callable[[torch.Tensor], torch.Tensor]

GRAD = ".grad after the call"
WITH_GRAD = "snapshots that share memory with .grad"
WITH_ANOTHER = "snapshots that share memory with one another"
HOOKS = "hooks that the call left on param"
LOSSES_MADE = "calls of loss_fn"
ELSEWHERE = "calls of loss_fn with another tensor than param"


def _ripple(p: torch.Tensor) -> torch.Tensor:
    weights = torch.arange(1, p.numel() + 1, dtype=p.dtype, device=p.device).reshape(p.shape)
    return (weights * torch.sin(p)).sum() + (p**2).sum()


def _product(p: torch.Tensor) -> torch.Tensor:
    return (p * torch.exp(0.2 * p)).mean() + p.sum() ** 2


_LOSSES: Mapping[str, Loss] = {"ripple": _ripple, "product": _product}


class _Loss:
    """The `loss_fn` of a case, and how it was called."""

    def __init__(self, loss: Loss, param: torch.Tensor) -> None:
        self._loss, self._param = loss, param
        self.calls = self.elsewhere = 0

    def __call__(self, p: torch.Tensor) -> torch.Tensor:
        self.calls += 1
        self.elsewhere += p is not self._param
        return self._loss(p)


def _hooks_on(tensor: torch.Tensor) -> int:
    kinds = ("_backward_hooks", "_post_accumulate_grad_hooks")
    return sum(len(getattr(tensor, kind, None) or ()) for kind in kinds)


def _numbers(found: Sequence[int]) -> str:
    return ", ".join(map(str, found)) or "none"


def _facts(result: object, param: torch.Tensor, loss: _Loss) -> dict[str, object]:
    kept = list(result)[:20] if isinstance(result, list | tuple) else []
    grad = param.grad
    live = [i for i, one in enumerate(kept) if share_memory(one, grad)]
    same = [i for i, one in enumerate(kept) if any(share_memory(one, kept[j]) for j in range(len(kept)) if j != i)]
    return {
        GRAD: None if grad is None else grad.detach().clone(),
        WITH_GRAD: _numbers(live),
        WITH_ANOTHER: _numbers(same),
        HOOKS: _hooks_on(param),
        LOSSES_MADE: loss.calls,
        ELSEWHERE: loss.elsewhere,
    }


def _param(case: Case) -> torch.Tensor:
    """The parameter of a case, of any shape, with its earlier `.grad` where the case has one."""
    draw, shape = Draw(case), case.spec["shape"]
    value = draw.normal(*shape)
    param = nn.Parameter(value) if case.spec.get("parameter", True) else value.requires_grad_()
    earlier = case.spec.get("earlier")
    if earlier:
        param.grad = draw.normal(*shape)
    if earlier == "broken":
        param.grad.view(-1)[:3] = torch.tensor([torch.inf, -torch.inf, torch.nan])  # type: ignore[union-attr]
    return param


def _cases(seed: int) -> list[Case]:
    held = {"earlier": "held"}
    return cases(
        seed,
        [
            ("3 backwards, .grad None before", {"loss": "ripple", "shape": [3], "n": 3}),
            ("4 backwards, .grad holds an earlier gradient", {"loss": "product", "shape": [4], "n": 4, **held}),
            ("one backward", {"loss": "ripple", "shape": [2], "n": 1}),
            ("one backward, .grad holds an earlier gradient", {"loss": "product", "shape": [2], "n": 1, **held}),
            ("no backward, .grad None before", {"loss": "ripple", "shape": [2], "n": 0}),
            ("no backward, .grad holds an earlier gradient", {"loss": "ripple", "shape": [2], "n": 0, **held}),
            (
                "5 backwards, a 0-d tensor that is no nn.Parameter",
                {"loss": "product", "shape": [], "n": 5, "parameter": False},
            ),
            ("2 backwards, a matrix of 2 by 3", {"loss": "ripple", "shape": [2, 3], "n": 2, **held}),
            ("float32, 6 backwards", {"loss": "ripple", "shape": [3], "n": 6, "dtype": "float32", **held}),
            (
                "3 backwards, the earlier gradient has inf and NaN in it",
                {"loss": "product", "shape": [5], "n": 3, "earlier": "broken"},
            ),
        ],
    )


def _arrange(case: Case) -> Arrangement:
    param = _param(case)
    loss = _Loss(_LOSSES[case.spec["loss"]], param)
    return Arrangement(
        (param, loss, case.spec["n"]), watch={"param": param}, facts=lambda result: _facts(result, param, loss)
    )


EXERCISE = Exercise(
    id="2.1",
    name="backward_n_times",
    title="Watch the ledger fill",
    difficulty=1,
    minutes=8,
    goal=(
        "Write `backward_n_times(param, loss_fn, n)`. `loss_fn(param)` returns a 0-d loss. Start from a cleared "
        "`.grad`, whatever was in it, run `n` backwards without clearing in between, and return the list of `n` "
        "snapshots of `param.grad`, one after each backward. Each snapshot is a tensor of its own: a later backward "
        "changes none of them. Afterwards `param.grad` holds the sum of the `n` gradients, and `param` has its old "
        "value. `n = 0` returns `[]` and leaves `.grad` cleared: None or zeros, as you like. One graph walked `n` "
        "times is as good as `n` forward passes."
    ),
    cases=_cases,
    arrange=_arrange,
    may_change=frozenset({"grad"}),
    hints=(
        "Three things happen in each round: a loss is made, it goes backward, and what .grad holds is written down. "
        "One more thing happens once, before the first round. Which?",
        "The second backward adds in place to the tensor that the first one made. What does a list show that stores "
        "this tensor itself, once for each round?",
        "Clear before the loop, never inside it. In the loop, store a copy of the gradient that owns its memory: "
        "detach() alone shares it.",
    ),
    properties=(
        ("n is 0", lambda spec: spec["n"] == 0),
        ("n is 1", lambda spec: spec["n"] == 1),
        ("n is at most 1", lambda spec: spec["n"] <= 1),
        ("n is 2 or more", lambda spec: spec["n"] > 1),
        (".grad has inf and NaN in it before", lambda spec: spec.get("earlier") == "broken"),
        (".grad is None before", lambda spec: "earlier" not in spec),
        (".grad holds an earlier gradient", lambda spec: "earlier" in spec),
        ("param is a 0-d tensor and no nn.Parameter", lambda spec: spec["shape"] == []),
        ("param has more than one dimension", lambda spec: len(spec["shape"]) > 1),
        ("the inputs are float32", lambda spec: spec.get("dtype") == "float32"),
    ),
    quantities={
        "n": lambda spec: spec["n"],
        "the number of entries of param": lambda spec: torch.Size(spec["shape"]).numel(),
    },
)
