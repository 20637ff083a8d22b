"""Exercise 7.6: a loss whose gradient, averaged over the ranks by DDP, is that of the mean over all tokens."""

from __future__ import annotations

from typing import Any

import torch
from torch import nn

from course_utils.exercise import Arrangement, Case, Exercise
from course_utils.lessons.inputs import Draw, cases, without_global_draws
from course_utils.lessons.lesson7.cluster import Cluster

ASKED = "calls of all_reduce on rank 0"
SENT = "what rank 0 handed to all_reduce"
TRACED = "whether the graph of what came back leads to loss_sum, by rank"
_PADDING = 2
"""Tokens of each rank that are not counted."""
NAN = "whether a rank without a token got NaN or infinity"


def gradients(rank: int) -> str:
    """The fact that holds the gradient of what a rank returned, by parameter."""
    return f"the gradient on rank {rank}"


def _cases(seed: int) -> list[Case]:
    def row(name: str, counts: list[int], **rest: Any) -> tuple[str, dict[str, Any]]:
        return name, {"counts": counts, **rest}

    return cases(
        seed,
        [
            row("two ranks, 6 tokens each", [6, 6]),
            row("two ranks, of 10 and 2 tokens", [10, 2]),
            row("one rank", [5]),
            row("three ranks, of 3, 1 and 8 tokens", [3, 1, 8]),
            row("three ranks, of which the second has no token", [4, 0, 3]),
            row("two ranks, of which the first has no token", [0, 7]),
            row("four ranks, of which one alone has tokens", [0, 0, 9, 0]),
            row("three ranks with one token in all", [0, 1, 0]),
            row("two ranks, of 4101 and 2 tokens", [4101, 2]),
            row("float32, two ranks, of 12 and 3 tokens", [12, 3], dtype="float32"),
            row("float32, three ranks, of which the last has no token", [2, 6, 0], dtype="float32"),
        ],
    )


class _Rank:
    """One rank: a small model, its tokens, and the sum of their losses."""

    def __init__(self, case: Case, rank: int) -> None:
        count = case.spec["counts"][rank]
        draw = Draw(Case(case.name, {**case.spec, "seed": case.spec["seed"] + 100 * rank}))
        shared = Draw(case)
        self.model = shared.fill(without_global_draws(lambda: nn.Linear(3, 4)))
        padded = count + _PADDING
        x, labels = draw.normal(padded, 3), (draw.normal(padded).abs() * 10).long() % 4
        losses = nn.functional.cross_entropy(self.model(x), labels, reduction="none")
        # A mask that multiplies lets NaN through, as an index would not.
        self.loss_sum = (losses * (torch.arange(padded) < count).to(losses.dtype)).sum()
        self.count = torch.tensor(count)
        self.asked = 0
        self.sent: list[str] = []
        self.gradients: dict[str, torch.Tensor] = {}
        self.traced = True

    def run(self, attempt: Any, cluster: Cluster) -> object:
        """Call the attempt and send what it returns backward. Of a loss with a graph, a plain zero is handed on."""

        def all_reduce(tensor: torch.Tensor) -> None:
            if not isinstance(tensor, torch.Tensor):
                raise TypeError(f"all_reduce takes a tensor, and got {type(tensor).__name__}")
            self.asked += 1
            self.sent.append(f"{tensor.numel()} {str(tensor.dtype).removeprefix('torch.')}")
            name = f"all_reduce({tensor.numel()} {str(tensor.dtype).removeprefix('torch.')})"
            every = cluster.meet(name, tensor.detach().clone())
            with torch.no_grad():
                tensor.copy_(torch.stack(every).sum(0))

        result = attempt(self.loss_sum, self.count, cluster.size, all_reduce)
        if not isinstance(result, torch.Tensor) or result.numel() != 1:
            return result
        if result.requires_grad:
            for p in self.model.parameters():
                p.grad = None
            result.sum().backward()
        self.traced = all(p.grad is not None for p in self.model.parameters())
        self.gradients = {
            name: torch.zeros_like(p) if p.grad is None else p.grad for name, p in self.model.named_parameters()
        }
        return torch.zeros(())


def _arrange(case: Case) -> Arrangement:
    ranks = [_Rank(case, rank) for rank in range(len(case.spec["counts"]))]

    def call(attempt: Any) -> object:
        cluster = Cluster(len(ranks))
        results = cluster.run(lambda rank: ranks[rank].run(attempt, cluster))
        return ... if any(result is ... for result in results) else results

    def facts(_: object) -> dict[str, object]:
        empty = [rank for rank in ranks if not case.spec["counts"][ranks.index(rank)]]
        return {
            **{gradients(number): rank.gradients for number, rank in enumerate(ranks)},
            ASKED: ranks[0].asked,
            SENT: ranks[0].sent[:5],
            TRACED: [rank.traced for rank in ranks],
            NAN: any(not bool(torch.isfinite(g).all()) for rank in empty for g in rank.gradients.values()),
        }

    watch: dict[str, object] = {}
    for number, rank in enumerate(ranks):
        watch |= {f"local_count of rank {number}": rank.count, f"loss_sum of rank {number}": rank.loss_sum}
    return Arrangement((), watch=watch, call=call, facts=facts)


EXERCISE = Exercise(
    id="7.6",
    name="normalized_ddp_loss",
    title="The mean over everybody's tokens",
    difficulty=2,
    minutes=10,
    goal=(
        "Write `normalized_ddp_loss(loss_sum, local_count, world_size, all_reduce)`: the loss that one rank sends "
        "backward. Every rank calls it with its own numbers, and DDP then takes the plain mean of the ranks' "
        "gradients. That mean must be the gradient of the mean loss over **all** counted tokens of all ranks.\n\n"
        "- `loss_sum` is the sum of this rank's token losses, those of padding times 0; it is 0-d and has a graph.\n"
        "- `local_count`, a 0-d int64 tensor, says how many tokens are counted in it. On some ranks it may be 0: then "
        "`loss_sum` is 0, and so is the gradient that belongs there. It is not 0 on all of them.\n"
        "- `world_size`, an int, is the number of ranks.\n"
        "- `all_reduce(tensor)` adds a tensor up over all ranks: it writes the sum into that same tensor, returns `None`, "
        "and waits until "
        "every rank has called it, so all ranks must call it equally often.\n\n"
        "Return a 0-d tensor whose graph leads to `loss_sum`, on a rank without tokens, too: DDP waits for the gradients of "
        "every rank. The gradient that it sends to each rank's own parameters decides; its value is not looked at. The two tensors "
        "that you were handed stay as they were."
    ),
    cases=_cases,
    arrange=_arrange,
    hints=(
        "Two ranks, one with 10 tokens and one with 2. What would be the mean over all 12, and what do you get from "
        "the mean of the two means?",
        "Each rank needs one number that it does not have: how many tokens there are in all. What can tell it?",
        "all_reduce writes into the tensor it gets. Hand it a tensor that is yours to lose.",
        "Divide the rank's sum by the number of tokens of all ranks. DDP's mean then divides by the number of ranks "
        "once more: take that into account.",
    ),
    properties=(
        ("all ranks have equally many tokens", lambda spec: len(set(spec["counts"])) == 1),
        ("the ranks have unequal numbers of tokens", lambda spec: len(set(spec["counts"])) > 1),
        ("a rank has no token", lambda spec: 0 in spec["counts"]),
        ("there are fewer tokens than ranks", lambda spec: sum(spec["counts"]) < len(spec["counts"])),
        ("there are thousands of tokens", lambda spec: sum(spec["counts"]) > 1000),
        ("there is one rank", lambda spec: len(spec["counts"]) == 1),
        ("there is more than one rank", lambda spec: len(spec["counts"]) > 1),
        ("the loss is float32", lambda spec: spec.get("dtype") == "float32"),
    ),
    telling={ASKED: "rank 0 called all_reduce so often: {given}."},
    quantities={
        "the number of ranks": lambda spec: len(spec["counts"]),
        "the number of all tokens": lambda spec: sum(spec["counts"]),
    },
)
