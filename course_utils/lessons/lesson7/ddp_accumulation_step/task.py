"""Exercise 7.5: one optimizer step of accumulated gradients under DistributedDataParallel."""

from __future__ import annotations

import inspect
from typing import TYPE_CHECKING, Any

import torch
from torch import nn
from torch.nn.parallel import DistributedDataParallel

from course_utils.exercise import Arrangement, Case, Exercise
from course_utils.lessons.inputs import LOSSES, Draw, cases, model_and_batch
from course_utils.lessons.lesson4.steps import UPDATE
from course_utils.lessons.lesson7.cluster import Cluster
from course_utils.lessons.training import Batch, optimizer_of

if TYPE_CHECKING:
    from course_utils.lessons.lesson7.group import Group

RANKS = 2
ROUNDS = "times that DDP sent the gradients, in each call"
OWN = "numbers sent by collectives of one's own, in each call"
SWITCH = "whether each pass was to be averaged: in its forward, in its backward"
AVERAGES = "whether DDP averages the next backward"
STEPS = "steps of each rank's optimizer"


_BUILT_ALIKE: dict[str, Any] = (
    {"init_sync": False} if "init_sync" in inspect.signature(DistributedDataParallel).parameters else {}
)
"""Ranks need not be told how the first was built; torch 2.6 tells them anyway."""


def updates(rank: int) -> str:
    """The fact that holds by how much each parameter of a rank moved."""
    return f"{UPDATE} of rank {rank}"


def _cases(seed: int) -> list[Case]:
    def row(name: str, windows: list[int], **rest: Any) -> tuple[str, dict[str, Any]]:
        return name, {"model": "mlp", "optimizer": "SGD", "lr": 0.1, "rows": 2, "windows": windows, **rest}

    return cases(
        seed,
        [
            row("one layer, two micro-batches", [2], model="linear"),
            row("two layers, three micro-batches", [3]),
            row(".grad holds earlier gradients", [2], earlier="all"),
            row("two calls, of two micro-batches and of one", [2, 1]),
            row(
                "two calls, momentum, gradients that are views of several buckets",
                [1, 2],
                optimizer="momentum",
                bucket_cap_mb=1e-5,
                views=True,
            ),
            row("a frozen weight holds a gradient", [2], model="frozen", frozen_holds=True),
            row("seventeen micro-batches", [17]),
            row(
                "two calls in float32, AdamW, and one weight tied to two places",
                [4, 2],
                model="tied",
                optimizer="AdamW",
                dtype="float32",
            ),
            row("a layer that the model does not use holds a gradient", [2], model="unused", earlier="all"),
            row("eval mode", [2], model="moded", eval=True, earlier="some"),
        ],
    )


def _batches(case: Case, rank: int) -> list[list[Batch]]:
    """The micro-batches of one rank, by call."""
    draw = Draw(Case(case.name, {**case.spec, "seed": case.spec["seed"] + 500 + 100 * rank}))
    rows, outputs = case.spec["rows"], 3 if case.spec["model"] == "tied" else 2
    return [
        [(draw.normal(rows, 3), draw.normal(rows, outputs)) for _ in range(count)] for count in case.spec["windows"]
    ]


class _Rank:
    """One rank: its model, optimizer and micro-batches, and what is seen while they are used."""

    def __init__(self, case: Case, rank: int) -> None:
        self._case = case
        self._rank = rank
        self.model, _, _ = model_and_batch(case)
        self.model.train(not case.spec.get("eval", False))
        self.batches = _batches(case, rank)
        self._optimizer = optimizer_of(case, self.model)
        self._before = {name: p.detach().clone() for name, p in self.model.named_parameters()}
        self._stepped = 0
        self.rounds: list[float] = []
        self.own: list[list[int]] = []
        self.switch: list[list[list[bool]]] = []
        self.averages = True

    def run(self, attempt: Any, group: Group) -> object:
        """Call the attempt, once for each of its windows; the last result, or `...`."""
        spec, result = self._case.spec, None
        wrapped = DistributedDataParallel(
            self.model,
            process_group=group,
            **_BUILT_ALIKE,
            bucket_cap_mb=spec.get("bucket_cap_mb", 25),
            find_unused_parameters=spec["model"] == "unused",
            gradient_as_bucket_view=spec.get("views", False),
        )
        self._optimizer.register_step_post_hook(self._count_step)
        self.model.register_forward_hook(lambda *passed: self._watch(wrapped, passed[-1]))
        trainable = sum(p.numel() for p in self.model.parameters() if p.requires_grad)
        for micro_batches in self.batches:
            self.switch.append([])
            start = len(group.sent[self._rank])
            result = attempt(wrapped, self._optimizer, LOSSES["squared error"], list(micro_batches))
            if result is ...:
                return result
            sent = group.sent[self._rank][start:]
            by_ddp = sum(one.entries for one in sent if one.name == "all_reduce" and not one.own)
            self.rounds.append(by_ddp / trainable)
            self.own.append([one.numbers for one in sent if one.own])
            self.averages = self.averages and wrapped.require_backward_grad_sync
        return result

    def _count_step(self, *_: Any) -> None:
        self._stepped += 1

    def _watch(self, wrapped: DistributedDataParallel, output: torch.Tensor) -> None:
        """Note DDP's switch now, in a forward pass, and again when a backward reaches the model's output."""
        if not output.requires_grad:
            return
        seen = [wrapped.require_backward_grad_sync]
        self.switch[-1].append(seen)
        output.register_hook(lambda _: seen.append(wrapped.require_backward_grad_sync))

    def facts(self) -> dict[str, object]:
        moved = {name: p.detach() - self._before[name] for name, p in self.model.named_parameters()}
        return {updates(self._rank): moved}

    @property
    def stepped(self) -> int:
        return self._stepped


def _arrange(case: Case) -> Arrangement:
    ranks = [_Rank(case, rank) for rank in range(RANKS)]

    def call(attempt: Any) -> object:
        # Here, so that a torch without its distributed part can do all other exercises.
        from course_utils.lessons.lesson7.group import Group, default_group

        cluster = Cluster(RANKS)
        group = Group(cluster)
        with default_group(group):
            results = cluster.run(lambda rank: ranks[rank].run(attempt, group))
        return ... if any(result is ... for result in results) else None

    def facts(_: object) -> dict[str, object]:
        first = ranks[0]
        return {
            **ranks[0].facts(),
            **ranks[1].facts(),
            ROUNDS: [round(times, 3) for times in first.rounds],
            OWN: first.own,
            SWITCH: first.switch,
            AVERAGES: all(rank.averages for rank in ranks),
            STEPS: [rank.stepped for rank in ranks],
        }

    models: dict[str, nn.Module] = {f"model of rank {number}": rank.model for number, rank in enumerate(ranks)}
    batches = {f"micro_batches of rank {number}": rank.batches for number, rank in enumerate(ranks)}
    return Arrangement((), watch={**models, **batches}, call=call, facts=facts)


EXERCISE = Exercise(
    id="7.5",
    name="ddp_accumulation_step",
    title="One all-reduce a window",
    difficulty=3,
    minutes=15,
    goal=(
        "Write `ddp_accumulation_step(ddp_model, optimizer, loss_fn, micro_batches)`: one optimizer step of one rank. "
        "`ddp_model` is a `DistributedDataParallel`, and `optimizer` holds its parameters. Every rank calls the "
        "function, each with micro-batches of its own: a list of pairs `(x, y)`, one or more, and equally many on "
        "every rank. All of them have equally many rows. `loss_fn(prediction, target)` returns a mean.\n\n"
        "The step uses the gradient of the mean over **all** samples: of all micro-batches and of all ranks. One forward "
        "pass for "
        "each micro-batch is what a large model leaves room for; whoever puts several into one pass is right, too.\n\n"
        "Whatever `.grad` held before plays no part; what it holds afterwards does not matter, and neither does what is "
        "returned. A frozen "
        "parameter does not move, the mode of the model stays as it was, and so do the settings of `ddp_model`: a "
        "backward pass after the call is averaged over the ranks as one before it was.\n\n"
        "The check runs two ranks side "
        "by side in one process and needs no network; `torch.distributed` works there, with a group of these two."
    ),
    cases=_cases,
    arrange=_arrange,
    may_change=frozenset({"grad", "parameters"}),
    rules=(
        "In each call, every bucket of DDP's goes round once.",
        "No gradient travels by a collective of your own; a single number, such as a count, may.",
    ),
    hints=(
        "Without a word from you, DDP averages the gradients over the ranks in every backward pass. How many of a "
        "window's passes need that, and which?",
        "`no_sync()` of the wrapper is a context manager: a micro-batch inside adds to this rank's own `.grad` and sends "
        "nothing. The first one outside of it sends all that was added up.",
        "Whether the next backward will average is settled in the forward pass. What must stand inside `no_sync()`, "
        "then: the backward alone, or more?",
        "Clear. For each micro-batch, the last one apart: forward and backward inside `no_sync()`. The last: forward "
        "and backward as they are. Then one step. DDP takes the mean over ranks; the mean over the window is yours.",
    ),
    properties=(
        ("the function is called more than once", lambda spec: len(spec["windows"]) > 1),
        ("the function is called once", lambda spec: len(spec["windows"]) == 1),
        ("there are more than four micro-batches", lambda spec: max(spec["windows"]) > 4),
        (".grad was None before", lambda spec: "earlier" not in spec and "frozen_holds" not in spec),
        (".grad holds earlier gradients", lambda spec: "earlier" in spec),
        ("a parameter is frozen", lambda spec: spec["model"] == "frozen"),
        ("the model has a layer that it does not use", lambda spec: spec["model"] == "unused"),
        ("a weight is tied to two places and the optimizer is AdamW", lambda spec: spec["model"] == "tied"),
        ("the model is in eval mode", lambda spec: spec.get("eval", False)),
        ("the gradients are views of DDP's buckets", lambda spec: spec.get("views", False)),
        ("the optimizer remembers earlier steps", lambda spec: spec["optimizer"] in ("momentum", "Adam", "AdamW")),
        ("the model is float32", lambda spec: spec.get("dtype") == "float32"),
    ),
    telling={
        STEPS: "the optimizers of the two ranks stepped so often: {given}; asked is {right}.",
        ROUNDS: "in each call, DDP sent every gradient so often: {given}; asked is {right}.",
    },
    quantities={
        "the number of micro-batches": lambda spec: spec["windows"][0] if len(set(spec["windows"])) == 1 else None,
        "the number of ranks": lambda spec: RANKS,
    },
)
