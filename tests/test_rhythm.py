"""Windows that repeat one another are counted, and what is written of them is what would have been written anyway.

Each loop is run twice, with the rhythm and without, and may be disturbed anywhere: all that both ledgers say must be
the same, event by event.
"""

from __future__ import annotations

import gc
import math
import re
from collections.abc import Callable, Iterator
from typing import Any

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor, nn

from gradient_ledger import GradientLedger, journal, lossfacts, rhythm
from gradient_ledger.rhythm import Listener, Rhythm

pytestmark = pytest.mark.turns


class Deaf(Listener):
    """Hears no rhythm: every window is written."""

    def window_ends(self, *_: Any) -> None:
        pass


class Disturbed(Exception):
    """What ends a loop in the middle."""


@pytest.fixture(scope="module", autouse=True)
def nothing_but_the_loop() -> Iterator[None]:
    """A ledger may ask the collector for all models there are: what the test run has made is not among them."""
    gc.collect()
    gc.freeze()
    yield
    gc.unfreeze()


@pytest.fixture(autouse=True)
def early(monkeypatch: pytest.MonkeyPatch) -> None:
    """The rhythm is listened for from the second window on, and few windows are kept one by one."""
    for name, value in {"START": 2, "PATIENCE": 1, "MOST_PATIENCE": 2, "WORTH": 1, "LOOKS": 1}.items():
        monkeypatch.setattr(rhythm, name, value)
    monkeypatch.setattr(lossfacts, "LOOKS", 1)


class Loop:
    """A training loop whose every line may be disturbed, always at the same lines."""

    def __init__(self, windows: int, passes: int, clips: int, normed: bool, sets_to_none: bool, kind: str) -> None:
        torch.manual_seed(0)
        middle: list[nn.Module] = [nn.BatchNorm1d(4)] if normed else [nn.ReLU()]
        self.windows, self.passes, self.clips, self.sets_to_none = windows, passes, clips, sets_to_none
        self.first, self.last = nn.Linear(3, 4), nn.Linear(4, 1)
        self.model = nn.Sequential(self.first, *middle, self.last)
        self.unused = nn.Parameter(torch.zeros(2))
        given = [*self.model.parameters(), self.unused]
        makes: dict[str, Callable[[], torch.optim.Optimizer]] = {
            "SGD": lambda: torch.optim.SGD(given, lr=0.1, momentum=0.5),
            "Adam": lambda: torch.optim.Adam(given, lr=0.01),
            "fused": lambda: torch.optim.AdamW(given, lr=0.01, fused=True),
        }
        self.optimizer = makes[kind]()
        self.other = nn.Linear(3, 1)
        self.others = torch.optim.SGD(self.other.parameters(), lr=0.1)
        self.data = [(torch.randn(5, 3), torch.randn(5, 1)) for _ in range(passes)]
        self.disturbances: dict[tuple[int, str], str] = {}
        self.window = 0
        self.ledger: GradientLedger | None = None
        self.first.weight.register_hook(lambda grad: self.at("inside backward"))
        self.optimizer.register_step_pre_hook(lambda *_: self.at("inside step"))

    def at(self, point: str) -> None:
        word = self.disturbances.get((self.window, point))
        if word is not None:
            DISTURBANCES[word](self)

    def run(self) -> None:
        for number in range(self.windows):
            self.window = number
            self.at("first")
            self.optimizer.zero_grad(set_to_none=self.sets_to_none)
            self.at("cleared")
            for at, (x, y) in enumerate(self.data):
                loss = nn.functional.mse_loss(self.model(x), y) / self.passes
                self.at(f"forward {at}")
                (loss * math.nan if self.disturbances.get((self.window, f"nan {at}")) else loss).backward()
                self.at(f"backward {at}")
            if self.clips == 1:
                nn.utils.clip_grad_norm_(self.model.parameters(), 1.0)
            elif self.clips:
                nn.utils.clip_grad_norm_(self.first.parameters(), 1.0)
                nn.utils.clip_grad_norm_(self.last.parameters(), 1.0)
            self.at("clipped")
            self.optimizer.step()


def reads(loop: Loop) -> None:
    assert loop.first.weight.grad is None or isinstance(loop.first.weight.grad, Tensor)


def edits(loop: Loop) -> None:
    for parameter in loop.model.parameters():
        if parameter.grad is not None:
            parameter.grad.mul_(0.5)


def clears_one(loop: Loop) -> None:
    loop.first.bias.grad = None


def clears_all(loop: Loop) -> None:
    loop.model.zero_grad()


def clears_again(loop: Loop) -> None:
    loop.optimizer.zero_grad()


def writes_weights(loop: Loop) -> None:
    with torch.no_grad():
        loop.first.weight.add_(0.01)


def evaluates(loop: Loop) -> None:
    loop.model.eval()
    with torch.no_grad():
        loop.model(loop.data[0][0])
    loop.model.train()


def runs_in_vain(loop: Loop) -> None:
    loop.model(loop.data[0][0])


def one_more_pass(loop: Loop) -> None:
    nn.functional.mse_loss(loop.model(loop.data[0][0]), loop.data[0][1]).backward()


def twice_backward(loop: Loop) -> None:
    loss = nn.functional.mse_loss(loop.model(loop.data[0][0]), loop.data[0][1])
    loss.backward(retain_graph=True)
    loss.backward()


def steps_again(loop: Loop) -> None:
    loop.optimizer.step()


def steps_another(loop: Loop) -> None:
    loop.others.zero_grad()
    loop.other(loop.data[0][0]).mean().backward()
    loop.others.step()


def slows(loop: Loop) -> None:
    loop.optimizer.param_groups[0]["lr"] *= 0.9


def freezes(loop: Loop) -> None:
    for parameter in loop.first.parameters():
        parameter.requires_grad_(not parameter.requires_grad)


def clips_again(loop: Loop) -> None:
    nn.utils.clip_grad_norm_(loop.model.parameters(), 0.5)


def clips_part(loop: Loop) -> None:
    nn.utils.clip_grad_value_(loop.first.parameters(), 0.1)


def adds_a_group(loop: Loop) -> None:
    if len(loop.optimizer.param_groups) < 2:
        loop.optimizer.add_param_group({"params": [nn.Parameter(torch.ones(1))]})


def hooks(loop: Loop) -> None:
    loop.last.weight.register_hook(lambda grad: grad * 2)


def schedules(loop: Loop) -> None:
    torch.optim.lr_scheduler.ExponentialLR(loop.optimizer, 0.9).step()


def asks(loop: Loop) -> None:
    assert loop.ledger is not None and isinstance(loop.ledger.events, tuple)


def raises(loop: Loop) -> None:
    raise Disturbed


DISTURBANCES: dict[str, Callable[[Loop], None]] = {
    one.__name__: one
    for one in (
        *(reads, edits, clears_one, clears_all, clears_again, writes_weights, evaluates, runs_in_vain, one_more_pass),
        *(twice_backward, steps_again, steps_another, slows, freezes, clips_again, clips_part, adds_a_group, hooks),
        *(schedules, asks, raises),
    )
}
LATE = 22
"""A window in the middle of a rhythm."""
WITHIN = ("reads", "edits", "slows", "asks", "hooks", "clears_one")
"""What can be done inside a backward pass or a step."""


def watched(make: Callable[[], Loop], digests: bool = False) -> tuple[list[Any], int]:
    """Everything a ledger says of a loop, event by event, and how many windows were only counted."""
    counted = 0
    leave = Rhythm.leave

    def counting(self: Rhythm) -> bool:
        nonlocal counted
        counted += self.windows if self.state.rhythm is self else 0
        return leave(self)

    loop = make()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Rhythm, "leave", counting)
        try:
            with GradientLedger(digests=digests) as ledger:
                loop.ledger = ledger
                loop.run()
        except (Disturbed, RuntimeError):  # torch, too, refuses some of what is done to these loops
            pass
    assert not ledger.trouble, ledger.trouble
    log = ledger.log
    state = [(p.detach().clone(), None if p.grad is None else p.grad.clone()) for p in loop.model.parameters()]
    return [*log.events, *log.parameters, *log.optimizers, log.dropped, ledger.findings(), repr(state)], counted


def _said(one: Any) -> str:
    return re.sub(r"which=\d+", "which", repr(one))  # the `id` of a scheduler


def both(make: Callable[[], Loop], digests: bool = False) -> int:
    """The same loop with the rhythm and without: nothing differs. Returns how many windows were only counted."""
    found = []
    for listener in (Deaf, Listener):  # from one line: it stands in what is written
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(rhythm, "Listener", listener)
            found.append(watched(make, digests))
    (plain, none), (with_it, counted) = found
    assert not none
    for one, other in zip(plain, with_it, strict=False):
        assert _said(one) == _said(other)
    assert len(plain) == len(with_it)
    return counted


def loop(disturbed: dict[tuple[int, str], str] | None = None, **options: Any) -> Callable[[], Loop]:
    def make() -> Loop:
        given = {"windows": 25, "passes": 2, "clips": 1, "normed": False, "sets_to_none": True, "kind": "Adam"}
        one = Loop(**{**given, **options})
        one.disturbances = disturbed or {}
        return one

    return make


@pytest.mark.parametrize("options", [{"kind": "SGD"}, {"kind": "fused"}, {"normed": True}, {"clips": 0}, {"clips": 2}])
@pytest.mark.parametrize("passes", [1, 2, 5])
def test_windows_that_repeat_are_counted_and_written_alike(options: dict[str, Any], passes: int) -> None:
    assert both(loop(windows=30, passes=passes, **options)) > 5, "no rhythm was heard"


def test_of_a_long_run_as_many_windows_are_left_out_as_without_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(journal, "KEPT", 9)
    monkeypatch.setattr(journal, "ALIKE", 3)
    assert both(loop(windows=60)) > 30


@pytest.mark.parametrize("point", ["first", "cleared", "forward 0", "forward 1", "backward 1", "clipped"])
@pytest.mark.parametrize("word", sorted(DISTURBANCES))
def test_whatever_disturbs_a_rhythm_is_written_where_it_happened(word: str, point: str) -> None:
    assert both(loop({(LATE, point): word})) > 0


@pytest.mark.parametrize("point", ["inside backward", "inside step"])
@pytest.mark.parametrize("word", WITHIN)
def test_whatever_happens_inside_a_pass_or_a_step_is_written_there(word: str, point: str) -> None:
    assert both(loop({(LATE, point): word})) > 0


def test_a_rate_that_changes_inside_the_last_step_before_a_rhythm_is_seen() -> None:
    for window in range(8, 14):
        both(loop({(window, "inside step"): "slows"}, passes=1))


def test_a_loss_that_is_not_finite_is_seen_in_a_rhythm() -> None:
    assert both(loop({(LATE, "nan 1"): "nan"})) > 0


def test_where_gradients_are_set_to_zeros_every_window_is_written() -> None:
    assert both(loop(sets_to_none=False)) == 0


def test_where_every_gradient_is_read_every_window_is_written() -> None:
    assert both(loop(), digests=True) == 0


POINTS = st.sampled_from(["first", "cleared", "forward 0", "backward 0", "forward 1", "backward 1", "clipped"])
OUTSIDE = st.tuples(st.integers(0, 25), POINTS, st.sampled_from(sorted(DISTURBANCES)))
INSIDE = st.tuples(st.integers(0, 25), st.sampled_from(["inside backward", "inside step"]), st.sampled_from(WITHIN))


@settings(max_examples=40, deadline=None, derandomize=True)
@given(
    st.lists(st.one_of(OUTSIDE, INSIDE), max_size=4),
    st.integers(1, 4),
    st.integers(0, 2),
    st.booleans(),
    st.sampled_from(["SGD", "Adam", "fused"]),
)
def test_no_loop_is_written_otherwise(
    disturbed: list[tuple[int, str, str]], passes: int, clips: int, normed: bool, kind: str
) -> None:
    plan = {(window, point): word for window, point, word in disturbed}
    both(loop(plan, windows=28, passes=passes, clips=clips, normed=normed, kind=kind))
