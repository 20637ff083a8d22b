"""The clinic of lesson 5: a training loop runs on digits with three instruments at its bed."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import groupby
from types import TracebackType

import torch
from torch import nn
from torch.optim.optimizer import register_optimizer_step_pre_hook

from course_utils.data import digits
from course_utils.lessons.trace import TraceEvent
from course_utils.lessons.training import Batch, LossFn, MakeOptimizer
from gradient_ledger import GradientLedger
from gradient_ledger.catalogue import misconception

Loop = Callable[[nn.Module, torch.optim.Optimizer, LossFn, Sequence[Batch], int], object]

WATCHED = 4
"""Batches an epoch that the ledger is shown, in two epochs: enough for every fault of the lesson."""
WIDTH = 62
"""Columns of what is printed."""
SCRIPT = """\
import torch
from torch import nn

torch.manual_seed(0)
body, head = nn.Linear(8, 16), nn.Linear(16, 1)
model = nn.Sequential(body, nn.ReLU(), head)
slow = torch.optim.SGD(body.parameters(), lr=0.001)
fast = torch.optim.SGD(head.parameters(), lr=0.01)
for _ in range(12):
    x = torch.randn(4, 8)
    loss = nn.functional.mse_loss(model(x), x.sum(dim=1, keepdim=True))
    slow.zero_grad()
    loss.backward()
    slow.step()
    fast.step()
"""
"""The script of section 11. It has a mistake, which the learner is to find: the notebook shows it and no other text."""
_WHERE = r"(?:In\[\d+\]|cell|\S+\.py):\d+"
_PLACE = re.compile(rf" \({_WHERE}\)|, made at {_WHERE},")
"""A line in parentheses: it is printed by itself, and the numbers of cells change."""


@dataclass(frozen=True)
class Chart:
    """What the three instruments showed of one loop."""

    losses: tuple[float, ...]
    """The mean of the losses of each epoch, as most loops print it."""
    norms: tuple[float, ...]
    """The length of all gradients of the model together, right before each step: what the step uses, if its optimizer
    holds the whole model."""
    own: tuple[float, ...]
    """The length that this would have been with the step's own batches alone: the mean of their gradients."""
    share: float
    """Of the 297 test digits, those read right afterwards."""
    ledger: GradientLedger
    """The book of a short run: two epochs of a few batches."""
    model: nn.Module
    """The model as the loop left it."""


def network(seed: int = 0) -> nn.Sequential:
    """64 pixels, 32 hidden values, 10 digits, in float64; `head` is the last layer. The same weights every time."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        model = nn.Sequential()
        model.add_module("body", nn.Linear(64, 32))
        model.add_module("relu", nn.ReLU())
        model.add_module("head", nn.Linear(32, 10))
    return model.double()


def other_labels() -> nn.Sequential:
    """`network()` after 20 epochs on digits whose labels are one too high, and 0 for a 9: sure of wrong answers."""
    copy = network()
    copy.load_state_dict(_learned_otherwise())
    return copy


@cache
def _learned_otherwise() -> dict[str, torch.Tensor]:
    model = network()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for _ in range(20):
        for x, y in training_batches():
            optimizer.zero_grad()
            nn.functional.cross_entropy(model(x), (y + 1) % 10).backward()
            optimizer.step()
    return model.state_dict()


def norm(gradients: Iterable[torch.Tensor]) -> float:
    """The length of all these gradients as one long vector; 0 for none."""
    parts = [gradient.flatten() for gradient in gradients]
    return torch.cat(parts).norm().item() if parts else 0.0


def training_batches() -> list[Batch]:
    """The 1500 training digits as 30 batches of 50, always in the same order."""
    data = digits()
    return list(zip(data.x.double().split(50), data.y.split(50), strict=True))


def share_right(model: nn.Module) -> float:
    """The share of the 297 test digits that the model reads right."""
    data = digits()
    with torch.no_grad():
        return (model(data.x_test.double()).argmax(dim=1) == data.y_test).double().mean().item()


class Norms:
    """In its block: gradient norms, noted right before every step of any optimizer."""

    def __init__(self, model: nn.Module) -> None:
        self.model = model
        self.used: list[float] = []
        """Of what `.grad` held, all parameters of the model together."""
        self.own: list[float] = []
        """Of the mean gradient of the losses given to `loss` since the step before, asked for without `.grad`."""
        self._waiting: list[torch.Tensor] = []

    def loss(self, loss: torch.Tensor) -> None:
        """Ask for this loss's gradient, by a way that leaves `.grad` and the graph as they are."""
        if not loss.requires_grad:
            return
        params = [p for p in self.model.parameters() if p.requires_grad]
        parts = torch.autograd.grad(loss, params, retain_graph=True, allow_unused=True, materialize_grads=True)
        self._waiting.append(torch.cat([part.flatten() for part in parts]))

    def _before_step(self, *_: object) -> None:
        self.used.append(norm(p.grad for p in self.model.parameters() if p.grad is not None))
        if self._waiting:
            self.own.append(torch.stack(self._waiting).mean(dim=0).norm().item())
            self._waiting.clear()

    def __enter__(self) -> Norms:
        self._hook = register_optimizer_step_pre_hook(self._before_step)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._hook.remove()


def examine(
    loop: Loop,
    make_optimizer: MakeOptimizer,
    epochs: int = 5,
    *,
    batches: Sequence[Batch] | None = None,
    make_model: Callable[[], nn.Module] = network,
) -> Chart:
    """Run `loop` twice from the same start: on all batches for the numbers, on a few under a ledger.

    Two runs, because to read `.grad` between backward and step is something that a ledger notices.
    """
    rows = training_batches() if batches is None else batches
    model = make_model()
    losses: list[float] = []
    with Norms(model) as norms:

        def loss_fn(prediction: torch.Tensor, target: torch.Tensor) -> torch.Tensor:
            loss = nn.functional.cross_entropy(prediction, target)
            losses.append(loss.item())
            norms.loss(loss)
            return loss

        loop(model, make_optimizer(model.parameters()), loss_fn, rows, epochs)
    each = len(losses) // epochs
    means = tuple(sum(losses[at : at + each]) / each for at in range(0, each * epochs, each)) if each else ()

    watched = make_model()
    optimizer = make_optimizer(watched.parameters())
    with GradientLedger() as ledger:
        loop(watched, optimizer, nn.functional.cross_entropy, rows[:WATCHED], 2)
    return Chart(means, tuple(norms.used), tuple(norms.own), share_right(model), ledger, model)


def weights_of(model: nn.Module) -> torch.Tensor:
    """All parameters in one long vector, copied."""
    return torch.cat([p.detach().flatten() for p in model.parameters()])


def report(ledger: GradientLedger, mend: bool = True) -> None:
    """Print what the ledger found, without the place: the line, what was seen, and how to mend it unless `mend` is off."""
    found = ledger.findings()
    if not found:
        print("the ledger found nothing")
    for finding in found:
        title = misconception(finding.misconception).title
        severity = "note" if finding.severity == "info" else finding.severity
        print(f"{severity}: {title}\n  name  {finding.misconception}")
        if finding.where is not None and finding.where.code:
            print(f"  line  {finding.where.code}")
        seen = _PLACE.sub("", finding.text)
        _tell("seen", seen)
        if mend:
            _tell("mend", finding.remedy)


def advice(ledger: GradientLedger) -> None:
    """Print the other half of `report(ledger, mend=False)`: how to mend what the ledger found."""
    for finding in ledger.findings():
        _tell("mend", finding.remedy)


def _tell(head: str, text: str) -> None:
    first, indent = f"  {head}  ", " " * 8
    print(textwrap.fill(text, WIDTH, initial_indent=first, subsequent_indent=indent, break_on_hyphens=False))


def rows(events: Sequence[TraceEvent]) -> list[str]:
    """A trace as a line a step: forwards left out, `backward` and its `accumulate` one word, equal lines counted.

    Layers are named where an event does not concern all of them.
    """
    everything = {layer for event in events for layer in _layers(event)}
    lines: list[str] = []
    words: list[str] = []
    for event in events:
        if event["kind"] in ("forward", "backward"):
            continue
        layers = _layers(event)
        whose = f"({', '.join(layers)})" if layers and set(layers) != everything else ""
        words.append({"accumulate": "backward"}.get(event["kind"], event["kind"]) + whose)
        if event["kind"] == "step":
            lines.append(" ".join(words))
            words = []
    if words:
        lines.append(" ".join(words))
    counted = [(line, len(list(same))) for line, same in groupby(lines)]
    return [line + (f"   ({count} times)" if count > 1 else "") for line, count in counted]


def _layers(event: TraceEvent) -> list[str]:
    return list(dict.fromkeys(name.rpartition(".")[0] or name for name in event["names"]))
