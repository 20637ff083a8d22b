"""Training loops, right and broken, that were run under a ledger: the traces of exercises 5.1 and 5.9 come from them.

Each loop is a real one: a small model, real optimizers, real backward passes. A loop is given a `Bench` and trains
what stands on it; what it does wrong, if anything, is in its lines. `traces.json` holds what the ledger saw of each;
`python -m course_utils.lessons.lesson5.recordings` runs them all again and writes it, and a test compares.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path
from typing import Any

import torch
from torch import nn
from torch.nn.utils import clip_grad_norm_, clip_grad_value_

from course_utils.lessons.inputs import mean_square_error, without_global_draws
from course_utils.lessons.trace import TraceEvent, trace
from gradient_ledger import GradientLedger
from gradient_ledger.files import write_atomically

T = torch.Tensor


class Pair(nn.Module):
    """Two layers, one behind the other; `forward` may leave the second one, or the graph between them, out."""

    def __init__(self) -> None:
        super().__init__()
        self.first = nn.Linear(3, 3)
        self.second = nn.Linear(3, 3)

    def forward(self, x: T, *, only_first: bool = False, cut: bool = False) -> T:
        h = torch.tanh(self.first(x))
        if only_first:
            return h
        out: T = self.second(h.detach() if cut else h)
        return out


@dataclass
class Bench:
    """What a loop finds: a model of two layers, batches, and the numbers of the run."""

    model: Pair
    data: list[tuple[T, T]]
    epochs: int
    window: int
    """Micro-batches meant for one step, where the loop accumulates."""
    start: bool
    """Whether the loop clears at the start of a window, or right after its step."""

    def batches(self) -> Iterator[tuple[T, T]]:
        """The batches of all epochs."""
        for _ in range(self.epochs):
            yield from self.data

    def windows(self) -> Iterator[list[tuple[T, T]]]:
        """Windows of micro-batches; the batches come out even."""
        micro = list(self.batches())
        for at in range(0, len(micro) - self.window + 1, self.window):
            yield micro[at : at + self.window]

    def loss(self, x: T, y: T, **how: bool) -> T:
        """A forward and its loss."""
        return mean_square_error(self.model(x, **how), y)

    @cached_property
    def optimizer(self) -> torch.optim.Optimizer:
        """One optimizer of all parameters."""
        return torch.optim.SGD(self.model.parameters(), lr=0.05)

    @cached_property
    def two(self) -> tuple[torch.optim.Optimizer, torch.optim.Optimizer]:
        """Two optimizers, one of each layer."""
        return self.of(self.model.first), self.of(self.model.second)

    @staticmethod
    def of(layer: nn.Module) -> torch.optim.Optimizer:
        """An optimizer of one layer."""
        return torch.optim.Adam(layer.parameters(), lr=0.01)


Loop = Callable[[Bench], None]


def _layer() -> nn.Linear:
    return without_global_draws(lambda: nn.Linear(3, 3)).double()


# ------------------------------------------------------------------ one optimizer


def plain(b: Bench) -> None:
    """Cleared once for each step, at the start or at the end."""
    for x, y in b.batches():
        if b.start:
            b.optimizer.zero_grad()
        b.loss(x, y).backward()
        b.optimizer.step()
        if not b.start:
            b.optimizer.zero_grad(set_to_none=False)


def cleared_twice(b: Bench) -> None:
    """Cleared at the start and at the end, and after the forward by hand."""
    for x, y in b.batches():
        b.model.zero_grad()
        loss = b.loss(x, y)
        for p in b.model.parameters():
            p.grad = None
        loss.backward()
        b.optimizer.step()
        b.optimizer.zero_grad()


def never(b: Bench) -> None:
    """No clear at all."""
    for x, y in b.batches():
        b.loss(x, y).backward()
        b.optimizer.step()


def cleared_before_the_loop(b: Bench) -> None:
    """One clear, before the first forward."""
    b.optimizer.zero_grad()
    never(b)


def cleared_after_the_loop(b: Bench) -> None:
    """One clear, after the last step."""
    never(b)
    b.optimizer.zero_grad()


def never_in_windows(b: Bench) -> None:
    """Windows of several backwards, and no clear between them."""
    for window in b.windows():
        for x, y in window:
            (b.loss(x, y) / b.window).backward()
        b.optimizer.step()


def late(b: Bench) -> None:
    """Cleared between backward and step."""
    for x, y in b.batches():
        b.loss(x, y).backward()
        b.optimizer.zero_grad()
        b.optimizer.step()


def late_with_a_frozen_layer(b: Bench) -> None:
    """Cleared between backward and step, while the optimizer also holds a layer that is frozen."""
    b.model.first.requires_grad_(False)
    late(b)


def one_layer_late(b: Bench) -> None:
    """By hand, one layer is cleared before the backward, the other between backward and step."""
    for x, y in b.batches():
        for p in b.model.first.parameters():
            p.grad = None
        b.loss(x, y).backward()
        for p in b.model.second.parameters():
            p.grad = None
        b.optimizer.step()


def late_in_windows(b: Bench) -> None:
    """Cleared after each backward of a window, the last one too."""
    for window in b.windows():
        for x, y in window:
            (b.loss(x, y) / b.window).backward()
            b.optimizer.zero_grad(set_to_none=b.start)
        b.optimizer.step()


def in_windows(b: Bench) -> None:
    """Windows of several backwards, cleared once each."""
    for window in b.windows():
        if b.start:
            b.optimizer.zero_grad()
        for x, y in window:
            (b.loss(x, y) / b.window).backward()
        b.optimizer.step()
        if not b.start:
            b.optimizer.zero_grad()


def cleared_inside(b: Bench) -> None:
    """Windows of several backwards, cleared before each of them."""
    for window in b.windows():
        for x, y in window:
            b.optimizer.zero_grad()
            (b.loss(x, y) / b.window).backward()
        b.optimizer.step()


def cleared_inside_every_second(b: Bench) -> None:
    """Windows of several backwards; a clear for every second one, and that after its first backward."""
    for number, window in enumerate(b.windows()):
        for at, (x, y) in enumerate(window):
            if number % 2 == 0 and at == 1:
                b.optimizer.zero_grad()
            (b.loss(x, y) / b.window).backward()
        b.optimizer.step()


def once_an_epoch(b: Bench) -> None:
    """A step for each batch, a clear for each epoch."""
    for _ in range(b.epochs):
        if b.start:
            b.optimizer.zero_grad()
        for x, y in b.data:
            b.loss(x, y).backward()
            b.optimizer.step()
        if not b.start:
            b.optimizer.zero_grad()


def two_losses(b: Bench) -> None:
    """Two losses of one forward, each with its own backward."""
    for x, y in b.batches():
        b.optimizer.zero_grad()
        out = b.model(x)
        mean_square_error(out, y).backward(retain_graph=True)
        (0.1 * out.square().mean()).backward()
        b.optimizer.step()


def frozen(b: Bench) -> None:
    """The optimizer holds a layer that is frozen."""
    b.model.first.requires_grad_(False)
    plain(b)


def frozen_and_not_cleared(b: Bench) -> None:
    """The optimizer holds a layer that is frozen; by hand, what learns is cleared."""
    b.model.first.requires_grad_(False)
    for x, y in b.batches():
        for p in b.model.second.parameters():
            p.grad = None
        b.loss(x, y).backward()
        b.optimizer.step()


def head_alone(b: Bench) -> None:
    """The optimizer holds the second layer alone; the first one gets gradients, too."""
    optimizer = b.of(b.model.second)
    for x, y in b.batches():
        optimizer.zero_grad()
        b.loss(x, y).backward()
        optimizer.step()


def replaced(b: Bench) -> None:
    """A layer is replaced after the optimizer was made."""
    optimizer = b.optimizer
    b.model.second = _layer()
    for x, y in b.batches():
        optimizer.zero_grad()
        b.loss(x, y).backward()
        optimizer.step()


def replaced_and_late(b: Bench) -> None:
    """A layer is replaced after the optimizer was made, and the clear stands between backward and step."""
    optimizer = b.optimizer
    b.model.second = _layer()
    for x, y in b.batches():
        b.loss(x, y).backward()
        optimizer.zero_grad()
        optimizer.step()


def step_first(b: Bench) -> None:
    """The loop begins with the step: the first one finds nothing, and the last gradients wait for none."""
    for x, y in b.batches():
        b.optimizer.step()
        b.optimizer.zero_grad()
        b.loss(x, y).backward()
    b.optimizer.step()


def step_first_and_cleared_last(b: Bench) -> None:
    """A step that finds nothing, and after it a right loop that clears when it has stepped."""
    b.optimizer.step()
    for x, y in b.batches():
        b.loss(x, y).backward()
        b.optimizer.step()
        b.optimizer.zero_grad()


def step_first_and_never_cleared(b: Bench) -> None:
    """A step that finds nothing, and after it a loop that never clears."""
    b.optimizer.step()
    never(b)


def late_at_every_third(b: Bench) -> None:
    """Every third batch, the second first, is cleared between backward and step; nothing else is cleared."""
    for number, (x, y) in enumerate(b.batches()):
        b.loss(x, y).backward()
        if number % 3 == 1:
            b.optimizer.zero_grad()
        b.optimizer.step()


def stepped_twice(b: Bench) -> None:
    """Two steps for each backward."""
    for x, y in b.batches():
        b.optimizer.zero_grad()
        b.loss(x, y).backward()
        b.optimizer.step()
        b.optimizer.step()


def stepped_twice_and_never_cleared(b: Bench) -> None:
    """Two steps for each backward, and no clear."""
    for x, y in b.batches():
        b.loss(x, y).backward()
        b.optimizer.step()
        b.optimizer.step()


def stepped_again_after_the_clear(b: Bench) -> None:
    """Two steps for each backward, and the clear between them: the second one finds nothing."""
    for x, y in b.batches():
        b.loss(x, y).backward()
        b.optimizer.step()
        b.optimizer.zero_grad(set_to_none=b.start)
        b.optimizer.step()


def stepped_without_backward(b: Bench) -> None:
    """Every batch steps, every second one is passed over before its clear and its backward."""
    for number, (x, y) in enumerate(b.batches()):
        loss = b.loss(x, y)
        if number % 2 == 0:
            b.optimizer.zero_grad()
            loss.backward()
        b.optimizer.step()


def frozen_on_the_way(b: Bench) -> None:
    """A layer is frozen after some steps, and only what still learns is cleared."""
    for number, (x, y) in enumerate(b.batches()):
        if number == 2:
            b.model.first.requires_grad_(False)
        for p in b.model.parameters():
            if p.requires_grad:
                p.grad = None
        b.loss(x, y).backward()
        b.optimizer.step()


def clipped(b: Bench) -> None:
    """Clipped between backward and step."""
    for x, y in b.batches():
        b.optimizer.zero_grad()
        b.loss(x, y).backward()
        clip_grad_norm_(b.model.parameters(), 0.1)
        b.optimizer.step()


def clipped_too_early(b: Bench) -> None:
    """Clipped between the clear, to zeros, and the backward: nothing is there to clip."""
    for x, y in b.batches():
        b.optimizer.zero_grad(set_to_none=False)
        clip_grad_norm_(b.model.parameters(), 0.1)
        b.loss(x, y).backward()
        b.optimizer.step()


def clipped_late(b: Bench) -> None:
    """Clipped after the step."""
    for x, y in b.batches():
        b.optimizer.zero_grad()
        b.loss(x, y).backward()
        b.optimizer.step()
        if b.start:
            clip_grad_norm_(b.model.parameters(), 0.1)
        else:
            clip_grad_value_(b.model.parameters(), 0.1)


def clipped_late_with_a_frozen_layer(b: Bench) -> None:
    """Clipped after the step, by a call that names a layer, too, that is frozen."""
    b.model.first.requires_grad_(False)
    clipped_late(b)


def clipped_between_two_steps(b: Bench) -> None:
    """Two steps for each backward, and the clip between them."""
    for x, y in b.batches():
        b.optimizer.zero_grad()
        b.loss(x, y).backward()
        b.optimizer.step()
        clip_grad_norm_(b.model.parameters(), 0.1)
        b.optimizer.step()


def first_layer_alone_cleared(b: Bench) -> None:
    """By hand, the gradients of one layer are cleared, those of the other never."""
    layer = b.model.first if b.start else b.model.second
    for x, y in b.batches():
        for p in layer.parameters():
            p.grad = None
        b.loss(x, y).backward()
        b.optimizer.step()


def one_layer_once_an_epoch(b: Bench) -> None:
    """One layer is cleared once an epoch, the other never."""
    layer = b.model.second if b.start else b.model.first
    for _ in range(b.epochs):
        layer.zero_grad()
        for x, y in b.data:
            b.loss(x, y).backward()
            b.optimizer.step()


def layers_cleared_in_turn(b: Bench) -> None:
    """One of two layers is cleared for each step, now this one and now that."""
    for number, (x, y) in enumerate(b.batches()):
        (b.model.first if (number % 2 == 0) == b.start else b.model.second).zero_grad()
        b.loss(x, y).backward()
        b.optimizer.step()


def biases_forgotten(b: Bench) -> None:
    """By hand, everything is cleared in the first epoch, and but for the biases from then on."""
    for number, (x, y) in enumerate(b.batches()):
        for name, p in b.model.named_parameters():
            if number < len(b.data) or "bias" not in name:
                p.grad = None
        b.loss(x, y).backward()
        b.optimizer.step()


def second_layer_now_and_then(b: Bench) -> None:
    """Every second batch leaves the second layer out; all is cleared for each step."""
    for number, (x, y) in enumerate(b.batches()):
        b.optimizer.zero_grad()
        b.loss(x, y, only_first=number % 2 == 1).backward()
        b.optimizer.step()


def second_layer_kept(b: Bench) -> None:
    """Every second batch leaves the second layer out, and clears the first one alone: the second steps all the same."""
    for number, (x, y) in enumerate(b.batches()):
        left_out = number % 2 == 1
        for p in (b.model.first if left_out else b.model).parameters():
            p.grad = None
        b.loss(x, y, only_first=left_out).backward()
        b.optimizer.step()


def clear_forgotten_once(b: Bench) -> None:
    """Cleared for each step but one, the third."""
    for number, (x, y) in enumerate(b.batches()):
        if number != 2:
            b.optimizer.zero_grad()
        b.loss(x, y).backward()
        b.optimizer.step()


# ------------------------------------------------------------------ two optimizers


def both_cleared(b: Bench) -> None:
    """One backward for two optimizers, both cleared."""
    for x, y in b.batches():
        for optimizer in b.two:
            optimizer.zero_grad()
        b.loss(x, y).backward()
        for optimizer in b.two:
            optimizer.step()


def one_cleared(b: Bench) -> None:
    """One backward for two optimizers, one of them cleared."""
    first, second = b.two if b.start else reversed(b.two)
    for x, y in b.batches():
        first.zero_grad()
        b.loss(x, y).backward()
        first.step()
        second.step()


def neither_cleared(b: Bench) -> None:
    """One backward for two optimizers, none cleared."""
    for x, y in b.batches():
        b.loss(x, y).backward()
        for optimizer in b.two:
            optimizer.step()


def both_once_an_epoch(b: Bench) -> None:
    """One backward for two optimizers, both cleared at the start of each epoch."""
    for _ in range(b.epochs):
        b.model.zero_grad()
        for x, y in b.data:
            b.loss(x, y).backward()
            for optimizer in b.two:
                optimizer.step()


def in_turn(b: Bench) -> None:
    """As two opponents train: the second one's backward writes to the first, which clears that before its own."""
    first, second = b.two
    for x, y in b.batches():
        second.zero_grad()
        b.loss(x, y).backward()
        second.step()
        first.zero_grad()
        (-b.loss(x, y)).backward()
        first.step()


def in_turn_one_cleared(b: Bench) -> None:
    """In turn, each backward for its own layer alone; one of the two is never cleared."""
    first, second = b.two
    for x, y in b.batches():
        if b.start:
            first.zero_grad()
        b.loss(x, y, only_first=True).backward()
        first.step()
        if not b.start:
            second.zero_grad()
        b.loss(x, y, cut=True).backward()
        second.step()


def cleared_between_the_steps(b: Bench) -> None:
    """One backward for two optimizers; the whole model is cleared after the first one's step."""
    for x, y in b.batches():
        b.loss(x, y).backward()
        b.two[0].step()
        b.model.zero_grad()
        b.two[1].step()


def clipped_between_the_steps(b: Bench) -> None:
    """One backward for two optimizers; the second one's gradients are clipped after the first one's step."""
    for x, y in b.batches():
        b.model.zero_grad()
        b.loss(x, y).backward()
        b.two[0].step()
        clip_grad_norm_(b.model.second.parameters(), 0.1)
        b.two[1].step()


def in_turn_and_all_clipped(b: Bench) -> None:
    """In turn, each backward for its own layer alone; both are cleared, and the clip before a step names both."""
    first, second = b.two
    for x, y in b.batches():
        first.zero_grad()
        b.loss(x, y, only_first=True).backward()
        clip_grad_norm_(b.model.parameters(), 0.1)
        first.step()
        second.zero_grad()
        b.loss(x, y, cut=True).backward()
        clip_grad_norm_(b.model.parameters(), 0.1)
        second.step()


def in_turn_and_clipped_late(b: Bench) -> None:
    """As two opponents train; what the second one's step has used is clipped after it."""
    first, second = b.two
    for x, y in b.batches():
        second.zero_grad()
        b.loss(x, y).backward()
        second.step()
        clip_grad_norm_(b.model.second.parameters(), 0.1)
        first.zero_grad()
        (-b.loss(x, y)).backward()
        first.step()


def second_steps_seldom(b: Bench) -> None:
    """The second optimizer steps, and clears, after every second batch: its gradients add up over two."""
    first, second = b.two
    for number, (x, y) in enumerate(b.batches()):
        first.zero_grad()
        b.loss(x, y).backward()
        first.step()
        if number % 2 == 1:
            second.step()
            second.zero_grad()


def second_clears_too_late(b: Bench) -> None:
    """The second optimizer steps after every batch, and clears after every second one."""
    first, second = b.two
    for number, (x, y) in enumerate(b.batches()):
        first.zero_grad()
        b.loss(x, y).backward()
        first.step()
        second.step()
        if number % 2 == 1:
            second.zero_grad()


def second_steps_at_the_end(b: Bench) -> None:
    """One backward for two optimizers, none cleared; the second one steps once, after the last batch."""
    first, second = b.two
    for x, y in b.batches():
        b.loss(x, y).backward()
        first.step()
    second.step()


def one_for_all_and_one_for_the_second(b: Bench) -> None:
    """One optimizer holds everything, another one the second layer, too: both step after each backward."""
    for x, y in b.batches():
        b.optimizer.zero_grad()
        b.loss(x, y).backward()
        b.optimizer.step()
        b.two[1].step()


LOOPS: Mapping[str, Loop] = {
    loop.__name__: loop
    for loop in (
        plain,
        cleared_twice,
        never,
        cleared_before_the_loop,
        cleared_after_the_loop,
        never_in_windows,
        late,
        late_with_a_frozen_layer,
        one_layer_late,
        late_in_windows,
        in_windows,
        cleared_inside,
        cleared_inside_every_second,
        once_an_epoch,
        two_losses,
        frozen,
        frozen_and_not_cleared,
        head_alone,
        replaced,
        replaced_and_late,
        step_first,
        step_first_and_cleared_last,
        step_first_and_never_cleared,
        late_at_every_third,
        stepped_twice,
        stepped_twice_and_never_cleared,
        stepped_again_after_the_clear,
        stepped_without_backward,
        frozen_on_the_way,
        clipped,
        clipped_too_early,
        clipped_late,
        clipped_late_with_a_frozen_layer,
        clipped_between_two_steps,
        first_layer_alone_cleared,
        one_layer_once_an_epoch,
        layers_cleared_in_turn,
        biases_forgotten,
        second_layer_now_and_then,
        second_layer_kept,
        clear_forgotten_once,
        both_cleared,
        one_cleared,
        neither_cleared,
        both_once_an_epoch,
        in_turn,
        in_turn_one_cleared,
        cleared_between_the_steps,
        clipped_between_the_steps,
        in_turn_and_all_clipped,
        in_turn_and_clipped_late,
        second_steps_seldom,
        second_clears_too_late,
        second_steps_at_the_end,
        one_for_all_and_one_for_the_second,
    )
}
"""Every loop, by its name."""

# ------------------------------------------------------------------ recorded

RUNS: tuple[Mapping[str, Any], ...] = (
    {"epochs": 2, "batches": 2, "window": 2, "start": True},
    {"epochs": 3, "batches": 2, "window": 3, "start": False},
    {"epochs": 2, "batches": 3, "window": 3, "start": True},
    {"epochs": 3, "batches": 3, "window": 2, "start": False},
)
"""How long each loop was run, and in which of its two forms."""
LAYERS = (("body", "head"), ("encoder", "decoder"), ("trunk", "classifier"), ("stem", "top"))
"""What the two layers are called in a case: recorded they are `first` and `second`."""
_FILE = Path(__file__).with_name("traces.json")
_LETTERS = {"forward": "F", "backward": "B", "accumulate": "A", "clip": "C", "clear": "Z", "step": "S"}
_KINDS = {letter: kind for kind, letter in _LETTERS.items()}


def record(loop: str, run: Mapping[str, Any]) -> list[TraceEvent]:
    """Run a loop under a ledger; its trace."""
    draw = torch.Generator().manual_seed(0)
    model = without_global_draws(Pair).double()
    with torch.no_grad():
        for p in model.parameters():
            p.copy_(0.5 * torch.randn(p.shape, generator=draw, dtype=p.dtype))
    shape, count = (2, 4, 3), int(run["batches"])
    pairs = [torch.randn(shape, generator=draw, dtype=torch.float64) for _ in range(count)]
    data = [(pair[0], pair[1]) for pair in pairs]
    bench = Bench(model, data, int(run["epochs"]), int(run["window"]), bool(run["start"]))
    with GradientLedger() as ledger:
        LOOPS[loop](bench)
    return trace(ledger)


def unnamed() -> dict[str, list[TraceEvent]]:
    """The traces that section 2 shows: five faults under letters, for the learner to name, and two right loops."""
    shown = {"A": "late", "B": "cleared_inside", "C": "stepped_twice", "D": "one_cleared", "E": "clipped_late"}
    loops = {f"trace {letter}": loop for letter, loop in shown.items()}
    loops |= {"right, windows": "in_windows", "right, two optimizers": "both_cleared"}
    return {title: record(loop, RUNS[2]) for title, loop in loops.items()}


def packed(events: list[TraceEvent]) -> dict[str, Any]:
    """A trace in few words: the lists of names it has, and each event as `letter step window list`, -1 for no list."""
    lists: list[list[str]] = []
    words = []
    for event in events:
        names = event["names"]
        if names and names not in lists:
            lists.append(names)
        at = lists.index(names) if names else -1
        words.append(f"{_LETTERS[event['kind']]} {event['step']} {event['window']} {at}")
    return {"names": lists, "events": ", ".join(words)}


def unpacked(text: str, layers: tuple[str, str] = ("first", "second")) -> list[TraceEvent]:
    """The trace that was packed, as JSON, with the layers under the names given; a list of one's own."""
    return [
        {"kind": kind, "step": step, "window": window, "names": list(names)}
        for kind, step, window, names in _parsed(text, layers)
    ]


@cache
def _parsed(text: str, layers: tuple[str, str]) -> tuple[tuple[str, int, int, tuple[str, ...]], ...]:
    found = json.loads(text)
    called = dict(zip(("first", "second"), layers, strict=True))

    def name(recorded: str) -> str:
        layer, dot, rest = recorded.partition(".")
        return called.get(layer, layer) + dot + rest

    lists = [tuple(name(one) for one in names) for names in found["names"]]
    words = [word.split() for word in found["events"].split(", ")]
    return tuple(
        (_KINDS[letter], int(step), int(window), lists[int(at)] if int(at) >= 0 else ())
        for letter, step, window, at in words
    )


def recorded(spec: Mapping[str, Any]) -> list[TraceEvent]:
    """What the ledger saw of `spec["loop"]` in the run of number `spec["run"]`, with its layers as `spec["layers"]`.

    Where there is `spec["steps"]`, the run was stopped right after so many steps.
    """
    first, second = spec["layers"]
    events = unpacked(_book()[f"{spec['loop']} {spec['run']}"], (first, second))
    steps = [at for at, event in enumerate(events) if event["kind"] == "step"]
    return events[: steps[spec["steps"] - 1] + 1] if "steps" in spec else events


@cache
def _book() -> Mapping[str, str]:
    found: Mapping[str, Any] = json.loads(_FILE.read_text(encoding="utf-8"))
    return {key: json.dumps(one) for key, one in found.items()}


def every_recording() -> dict[str, Any]:
    """{loop and number of the run: packed trace}, all of them run now."""
    return {f"{loop} {at}": packed(record(loop, run)) for loop in LOOPS for at, run in enumerate(RUNS)}


def as_text(book: Mapping[str, Any]) -> str:
    """What stands in the file: a line for each recording."""
    return "{\n" + ",\n".join(f"{json.dumps(key)}: {json.dumps(one)}" for key, one in book.items()) + "\n}\n"


if __name__ == "__main__":
    write_atomically(_FILE, as_text(every_recording()))
