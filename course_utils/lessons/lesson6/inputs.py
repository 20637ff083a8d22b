"""What the exercises of lesson 6 share: micro-batches, a small language model, and what is said of both."""

from __future__ import annotations

import torch
from torch import nn

from course_utils.exercise import Case
from course_utils.lessons.inputs import Draw, without_global_draws

Tokens = tuple[torch.Tensor, torch.Tensor]
"""(tokens, labels), both `(b, t)`."""
VOCABULARY = 13

GRAD = ".grad after the call"
ONE_GRAPH = (
    "One micro-batch's graph in memory at a time: when rows of a micro-batch go through the model, the graphs of all "
    "others have been freed. One backward over the sum of all losses breaks this rule, and so does a batch joined from "
    "several micro-batches."
)
NO_HOOKS = "No hook is left behind, on the model or its parameters."
BY_ITSELF = "The model treats each row by itself, and `loss_fn(prediction, target)` returns a mean over rows."
GRAD_BEFORE = (
    "What `.grad` held before, infinite and NaN included, plays no part. A parameter that the model does not use ends as "
    "None or zeros; a frozen one has None and keeps it. No parameter moves. What the function returns does not matter."
)


class Reader(nn.Module):
    """A language model in small: what it says at a place comes from the mean of the tokens up to there."""

    def __init__(self, kind: str) -> None:
        super().__init__()
        self.embed = nn.Embedding(VOCABULARY, 3)
        self.hidden = nn.Linear(3, 3)
        self.out = nn.Linear(3, VOCABULARY)
        self.dropout = nn.Dropout(0.5)
        self.doubles = kind == "moded"
        if kind == "unused":
            self.spare = nn.Linear(3, 2)

    def forward(self, tokens: torch.Tensor) -> torch.Tensor:
        seen = self.embed(tokens).cumsum(-2)
        counts = torch.arange(1, tokens.shape[-1] + 1, dtype=seen.dtype, device=seen.device)
        hidden = torch.tanh(self.hidden(seen / counts[:, None]))
        if self.doubles and self.training:
            hidden = 2 * hidden
        elif not self.doubles:
            hidden = self.dropout(hidden)
        logits: torch.Tensor = self.out(hidden)
        return logits


def reader_of(case: Case) -> nn.Module:
    """The language model of a case, in `spec["model"]`, with its earlier `.grad`. Only one with a mode is in train mode."""
    draw, kind = Draw(case), case.spec["model"]
    model = draw.fill(without_global_draws(lambda: Reader(kind)))
    model.train(kind == "moded")
    if kind == "frozen":
        model.embed.weight.requires_grad_(False)  # type: ignore[operator, union-attr]
    for number, parameter in enumerate(p for p in model.parameters() if p.requires_grad):
        match case.spec.get("earlier", "none"):
            case "all":
                parameter.grad = draw.normal(*parameter.shape)
            case "not finite":
                parameter.grad = torch.full_like(parameter, float("nan" if number % 2 else "inf"), requires_grad=False)
    return model


def token_batches_of(case: Case) -> list[Tokens]:
    """(tokens, labels) for each `[b, t, counted]` of `spec["shapes"]`: so many labels after the first are to be counted.

    No two rows of a case begin with the same token. The labels are the tokens, or, where the spec says `other_labels`,
    some others; where they are not to be counted they are `spec["ignore"]`, which may be a token.
    """
    chance = torch.Generator().manual_seed(int(case.spec["seed"]) + 500)
    ignore = case.spec.get("ignore", -100)
    lowest = int(ignore == 0)  # where labels are to count, none is ignore_index
    apart = bool(case.spec.get("other_labels"))
    first = (1 + torch.randperm(VOCABULARY - 1, generator=chance)).tolist()
    found = []
    for rows, length, counted in case.spec["shapes"]:
        tokens = torch.randint(0 if apart else lowest, VOCABULARY, (rows, length), generator=chance)
        tokens[:, 0] = torch.tensor([first.pop() for _ in range(rows)])
        if apart and ignore >= 0:
            tokens[:, 1] = ignore  # a token like any other: what does not count is for the labels to say
        labels = torch.randint(lowest, VOCABULARY, (rows, length), generator=chance)
        labels = labels if apart else tokens.clone()
        left_out = torch.randperm(rows * (length - 1), generator=chance)[counted:]
        targets = labels[:, 1:].reshape(-1).clone()
        targets[left_out] = ignore
        labels[:, 1:] = targets.reshape(rows, length - 1)
        labels[1::2, 0] = ignore  # a first label is nobody's target, and says nothing
        found.append((tokens, labels))
    return found
