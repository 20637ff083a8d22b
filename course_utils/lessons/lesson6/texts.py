"""A small language model over characters, and the ways to weight a window of texts that lesson 6 compares."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import nn

Texts = tuple[torch.Tensor, torch.Tensor]
"""(tokens, labels), both (texts, places): the labels are not shifted, and -100 where a text has ended."""

WEIGHTINGS = ("mean of means", "means weighted by texts", "all places", "all labels", "shifted labels")
"""How `text_gradient` weights the micro-batches of a window."""


class ByteModel(nn.Module):
    """From tokens (texts, places) to logits (texts, places, 128) for the next character, from the last six."""

    def __init__(self) -> None:
        super().__init__()
        self.embed = nn.Embedding(128, 16)
        self.mix = nn.Conv1d(16, 48, 6)
        self.out = nn.Linear(48, 128)

    def forward(self, tokens: torch.Tensor) -> torch.Tensor:
        seen = nn.functional.pad(self.embed(tokens).transpose(1, 2), (5, 0))
        logits: torch.Tensor = self.out(torch.tanh(self.mix(seen)).transpose(1, 2))
        return logits


def byte_model(seed: int = 0) -> ByteModel:
    """The model with the weights of that seed, float32; torch's random state stays as it was."""
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        return ByteModel()


def table(texts: Sequence[str]) -> Texts:
    """Tokens and labels of some texts, filled up to the longest with 0 and -100."""
    rows = [torch.tensor(list(text.encode())) for text in texts]
    tokens = nn.utils.rnn.pad_sequence(rows, batch_first=True)
    labels = nn.utils.rnn.pad_sequence(rows, batch_first=True, padding_value=-100)
    return tokens, labels


def counted(labels: torch.Tensor) -> int:
    """How many labels are not -100."""
    return int((labels != -100).sum().item())


def token_loss(model: nn.Module, tokens: torch.Tensor, labels: torch.Tensor, reduction: str) -> torch.Tensor:
    """Cross-entropy of the logits at each place against the label at the next one; -100 does not count."""
    logits, nexts = model(tokens)[:, :-1], labels[:, 1:]
    return nn.functional.cross_entropy(logits.flatten(0, 1), nexts.flatten(), reduction=reduction)


def text_gradient(model: nn.Module, window: Sequence[Texts], rule: str) -> torch.Tensor:
    """Accumulate a window from clear gradients by one of `WEIGHTINGS`; the gradient as one vector, copied.

    A backward each. Raises `ValueError` for a rule that is not there.
    """
    if rule not in WEIGHTINGS:
        raise ValueError(f"there is no rule {rule!r}; there are {', '.join(WEIGHTINGS)}")
    model.zero_grad()
    divisors = {
        "all places": sum(labels[:, 1:].numel() for _, labels in window),
        "all labels": sum(counted(labels) for _, labels in window),
        "shifted labels": sum(counted(labels[:, 1:]) for _, labels in window),
    }
    texts = sum(len(tokens) for tokens, _ in window)
    for tokens, labels in window:
        if rule in divisors:
            loss = token_loss(model, tokens, labels, "sum") / divisors[rule]
        else:
            share = 1 / len(window) if rule == "mean of means" else len(tokens) / texts
            loss = token_loss(model, tokens, labels, "mean") * share
        loss.backward()  # type: ignore[no-untyped-call]
    return torch.cat([p.grad.flatten() for p in model.parameters() if p.grad is not None])
