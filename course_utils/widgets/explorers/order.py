"""An order of events as a real training loop: run some times under a gradient ledger, and told by numbers.

The loop is written as text and run as text, so what is shown is what ran, and the ledger names its lines. Which
backward passes stand in `.grad` is not assumed: a hook on each parameter keeps what every pass delivered, and the
passes held at a step are those whose deliveries add up to the `.grad` that the step found.
"""

from __future__ import annotations

import itertools
import linecache
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import nn

from gradient_ledger import GradientLedger
from gradient_ledger.catalogue import misconception
from gradient_ledger.events import Finding, Log

LINES: Mapping[str, tuple[str, ...]] = {
    "zero": ("optimizer.zero_grad()",),
    "zeros": ("optimizer.zero_grad(set_to_none=False)",),
    "forward": ("x, y = next(batches)", "loss = squared_error(model(x), y)"),
    "backward": ("loss.backward()",),
    "step": ("optimizer.step()",),
}
"""What each event stands for in the loop."""
MOST = 10
"""More events than this no longer fit on the page."""
ITERATIONS = 6
LR = 0.1
LETTERS = {"zero": "Z", "zeros": "0", "forward": "F", "backward": "B", "step": "S"}


@dataclass(frozen=True)
class Step:
    """One call of `optimizer.step()`.

    `held` are the numbers of the backward passes in `.grad` as the step found it, `used` those of them that an earlier
    step had used, `lost` the passes that were cleared since the step before and no step ever used. `norm` is the length
    of that `.grad`, `None` where it was `None`. `moved` is how far the weights went, `loss` the loss on all data then.
    """

    number: int
    held: tuple[int, ...]
    used: tuple[int, ...]
    lost: tuple[int, ...]
    norm: float | None
    moved: float
    loss: float


@dataclass(frozen=True)
class Replay:
    """An order that ran as a loop, `iterations` times unless `error` says in which iteration it stopped, and how.

    `lost` are all backward passes that were cleared unused, `left` those that stand in `.grad` at the end and that no
    step has used. `start` and `end` are the loss on all data before and after. `log` and `findings` are the ledger's.
    """

    order: tuple[str, ...]
    program: str
    iterations: int
    steps: tuple[Step, ...]
    lost: tuple[int, ...]
    left: tuple[int, ...]
    error: str | None
    start: float
    end: float
    log: Log
    findings: tuple[Finding, ...]

    @property
    def moved(self) -> bool:
        """Whether any step moved a weight."""
        return any(step.moved for step in self.steps)

    @property
    def right(self) -> bool:
        """Whether every step used the passes since the step before, all of them and no others, and none was lost."""
        fresh = all(step.held and not step.used for step in self.steps)
        return self.error is None and bool(self.steps) and fresh and not self.lost and not self.left

    @property
    def names(self) -> tuple[str, ...]:
        """The titles of what the ledger found."""
        return tuple(misconception(one.misconception).title for one in self.findings)


def replay(order: Sequence[str], iterations: int = ITERATIONS, weight_decay: float = 0.0) -> Replay:
    """Run the events of `order` (keys of `LINES`) as the body of a loop, on a small model with SGD.

    A forward takes the next 16 of 64 rows, in turn. Everything is float64 and the same on every call. `weight_decay` is
    that of SGD.

    Raises `ValueError` for an unknown event, for more than `MOST` of them or none, and for no iteration.
    """
    for event in order:
        if event not in LINES:
            raise ValueError(f"there is no event {event!r}; an order is made of {', '.join(LINES)}")
    if not 1 <= len(order) <= MOST:
        raise ValueError(f"an order has 1 to {MOST} events, not {len(order)}")
    if iterations < 1:
        raise ValueError(f"the loop runs at least once, not {iterations} times")
    text = program(order, iterations)
    # The ledger reads a program by the name of its file, and remembers what it read: each loop has a name of its own.
    file = f"<loop {''.join(LETTERS[event] for event in order)} {iterations} times>"
    linecache.cache[file] = (len(text), None, text.splitlines(keepends=True), file)
    model, x, y = _model(), *_data()
    watch = _Watch(model, torch.optim.SGD(model.parameters(), lr=LR, weight_decay=weight_decay))
    turn = _Turn()
    names: dict[str, Any] = {
        "batches": itertools.cycle(zip(x.split(16), y.split(16), strict=True)),
        "model": model,
        "optimizer": watch.optimizer,
        "squared_error": _squared_error,
        "range": turn.range,
    }
    error = None
    with GradientLedger(model, watch.optimizer) as ledger:
        try:
            exec(compile(text, file, "exec"), names)
        except (NameError, RuntimeError) as raised:
            error = f"iteration {turn.now}, {type(raised).__name__}: {str(raised).partition('.')[0].partition(':')[0]}"
    steps, lost, left = watch.told(x, y)
    start, end = (_loss(state, x, y) for state in (watch.states[0], watch.state()))
    kept = tuple(one for one in ledger.findings() if one.severity != "info")
    return Replay(tuple(order), text, iterations, steps, lost, left, error, start, end, ledger.log, kept)


def program(order: Sequence[str], iterations: int = ITERATIONS) -> str:
    """The loop as text."""
    body = [f"    {line}" for event in order for line in LINES[event]]
    return "\n".join([f"for iteration in range({iterations}):", *body]) + "\n"


class _Turn:
    """A `range` that remembers in which iteration it is, counted from 1."""

    def __init__(self) -> None:
        self.now = 0

    def range(self, count: int) -> Iterator[int]:
        for index in range(count):
            self.now = index + 1
            yield index


class _Watch:
    """What happened to the parameters of a model: deliveries of backward passes, `.grad` at each step, and moves."""

    def __init__(self, model: nn.Module, optimizer: torch.optim.SGD) -> None:
        self.optimizer = optimizer
        self._parameters = dict(model.named_parameters())
        self._delivered: dict[str, list[torch.Tensor]] = {name: [] for name in self._parameters}
        self._found: list[tuple[int, torch.Tensor | None]] = []
        self.states = [self.state()]
        for name, parameter in self._parameters.items():
            parameter.register_hook(lambda gradient, name=name: self._delivered[name].append(gradient.clone()))
        optimizer.register_step_pre_hook(lambda *_: self._found.append(self._held()))
        optimizer.register_step_post_hook(lambda *_: self.states.append(self.state()))

    def state(self) -> dict[str, torch.Tensor]:
        """A copy of the parameters."""
        return {name: parameter.detach().clone() for name, parameter in self._parameters.items()}

    def _held(self) -> tuple[int, torch.Tensor | None]:
        """How many passes there have been, and `.grad` of everything in one vector."""
        gradients = [p.grad for p in self._parameters.values() if p.grad is not None]
        passes = min(map(len, self._delivered.values()))
        return passes, torch.cat([g.detach().flatten() for g in gradients]) if gradients else None

    def _passes(self, count: int, gradient: torch.Tensor | None) -> tuple[int, ...]:
        """The numbers of the passes, of the first `count`, that add up to `gradient`: always the last few of them."""
        if gradient is None:
            return ()
        sums = torch.zeros_like(gradient)
        for first in range(count, -1, -1):
            if first < count:
                sums = sums + torch.cat([given[first].flatten() for given in self._delivered.values()])
            if torch.allclose(sums, gradient, rtol=1e-9, atol=1e-12):
                return tuple(range(first + 1, count + 1))
        raise AssertionError("a gradient that the passes since some moment do not add up to")

    def told(self, x: torch.Tensor, y: torch.Tensor) -> tuple[tuple[Step, ...], tuple[int, ...], tuple[int, ...]]:
        """The steps, the passes that were cleared unused, and those that still wait for a step."""
        used: set[int] = set()
        gone: set[int] = set()
        steps = []
        for number, (count, gradient) in enumerate(self._found, 1):
            held = self._passes(count, gradient)
            lost = tuple(p for p in range(1, count + 1) if p not in used | gone | set(held))
            before, after = self.states[number - 1], self.states[number]
            moved = sum(float((after[name] - before[name]).square().sum()) for name in before) ** 0.5
            norm = None if gradient is None else float(gradient.norm())
            stale = tuple(p for p in held if p in used)
            steps.append(Step(number, held, stale, lost, norm, moved, _loss(after, x, y)))
            used |= set(held)
            gone |= set(lost)
        count, gradient = self._held()
        if any(len(given) > count for given in self._delivered.values()):
            gradient = None  # the last pass was cut off in the middle: what it left is no pass's gradient
        left = tuple(p for p in self._passes(count, gradient) if p not in used)
        return tuple(steps), tuple(p for p in range(1, count + 1) if p not in used | set(left)), left


def _data() -> tuple[torch.Tensor, torch.Tensor]:
    """64 rows of 3 inputs, and the sine of a sum of them. On the CPU whatever the default device is."""
    generator = torch.Generator("cpu").manual_seed(0)
    x = torch.randn(64, 3, generator=generator, dtype=torch.float64, device="cpu")
    return x, torch.sin(x @ torch.tensor([[1.5], [-1.0], [0.5]], dtype=torch.float64, device="cpu"))


def _model() -> nn.Module:
    """3 inputs, 4 hidden values, 1 output; the same weights every time, and no draw from the global random state."""
    generator = torch.Generator("cpu").manual_seed(3)
    with torch.device("cpu"):
        model = nn.utils.skip_init(nn.Linear, 3, 4), nn.Tanh(), nn.utils.skip_init(nn.Linear, 4, 1)
    built = nn.Sequential(*model).double()
    with torch.no_grad():
        for parameter in built.parameters():
            parameter.copy_(0.5 * torch.randn(parameter.shape, generator=generator, dtype=torch.float64, device="cpu"))
    return built


def _squared_error(prediction: torch.Tensor, target: torch.Tensor) -> torch.Tensor:
    return (prediction - target).square().mean()


def _loss(state: Mapping[str, torch.Tensor], x: torch.Tensor, y: torch.Tensor) -> float:
    """The loss on all data with these weights."""
    return float(_squared_error(torch.func.functional_call(_model(), dict(state), (x,)), y).detach())
