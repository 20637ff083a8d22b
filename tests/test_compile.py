"""Under torch.compile: the same numbers, the same graphs, nothing in the way, and no word about what is not seen."""

from __future__ import annotations

import functools
import json
import os
import random
import shutil
import subprocess
import sys
import warnings
from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
import torch
import torch._dynamo
from torch import Tensor, nn
from torch._dynamo.utils import counters

from gradient_ledger import GradientLedger
from gradient_ledger.events import Forward, Step

pytestmark = pytest.mark.turns

COMPILER = next((c for c in (os.environ.get("CXX"), "g++", "c++", "clang++") if c and shutil.which(c)), None)
BACKWARD = hasattr(torch._dynamo.config, "trace_autograd_ops")
inductor = pytest.mark.skipif(COMPILER is None, reason="Inductor needs a C++ compiler, and none is here")

Train = Callable[[Tensor, Tensor], Tensor]
loss_of = nn.functional.mse_loss


class Net(nn.Module):
    """Draws random numbers and keeps batch statistics: what a graph broken in another place does otherwise."""

    def __init__(self) -> None:
        super().__init__()
        self.first, self.norm, self.drop, self.last = (
            nn.Linear(6, 8),
            nn.BatchNorm1d(8),
            nn.Dropout(0.3),
            nn.Linear(8, 2),
        )

    def forward(self, x: Tensor) -> Tensor:
        out: Tensor = self.last(self.drop(torch.relu(self.norm(self.first(x)))))
        return out


NAMES = [name for name, _ in Net().named_parameters()]


class Sign(torch.optim.Optimizer):
    """An optimizer whose step Dynamo can put into one graph with the rest: those of torch break it themselves."""

    def __init__(self, parameters: Any, lr: float = 0.01):
        super().__init__(parameters, {"lr": lr})

    @torch.no_grad()
    def step(self, closure: Any = None) -> None:
        for group in self.param_groups:
            for p in group["params"]:
                if p.grad is not None:
                    p.add_(p.grad.sign(), alpha=-group["lr"])


# ------------------------------------------------------------------ ways to compile a training loop


def around(model: nn.Module, optimizer: Any, call: Callable[[Tensor, Tensor], Tensor]) -> Train:
    def train(x: Tensor, y: Tensor) -> Tensor:
        optimizer.zero_grad()
        loss = call(x, y)
        loss.backward()
        optimizer.step()
        return loss.detach()

    return train


def sgd(model: nn.Module) -> torch.optim.Optimizer:
    return torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)


def a_model(model: nn.Module, compiled: Any) -> Train:
    wrapped = compiled(model, fullgraph=True)
    return around(model, sgd(model), lambda x, y: loss_of(wrapped(x), y))


def a_models_own_method(model: nn.Module, compiled: Any) -> Train:
    model.compile(fullgraph=True, **compiled.keywords)
    return around(model, sgd(model), lambda x, y: loss_of(model(x), y))


def a_container(model: nn.Module, compiled: Any) -> Train:
    """A module of torch's own, which Dynamo takes another way, with a compiled part in it."""
    whole = nn.Sequential(nn.Linear(6, 6), nn.Dropout(0.2), compiled(model))
    wrapped = compiled(whole)
    return around(whole, sgd(whole), lambda x, y: loss_of(wrapped(x), y))


def a_function_that_calls_a_model(model: nn.Module, compiled: Any) -> Train:
    return around(model, sgd(model), compiled(lambda x, y: loss_of(model(x), y), fullgraph=True))


def a_loss(model: nn.Module, compiled: Any) -> Train:
    loss = compiled(lambda out, y: (out - y).square().mean() + 0.1 * out.abs().mean(), fullgraph=True)
    return around(model, sgd(model), lambda x, y: loss(model(x), y))


def a_whole_step(model: nn.Module, compiled: Any) -> Train:
    return compiled(around(model, sgd(model), lambda x, y: loss_of(model(x), y)))


def a_whole_step_with_clipping(model: nn.Module, compiled: Any) -> Train:
    optimizer = sgd(model)

    def train(x: Tensor, y: Tensor) -> Tensor:
        loss = loss_of(model(x), y)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 0.1)
        optimizer.step()
        model.zero_grad()
        return loss.detach()

    return compiled(train)


def an_optimizers_step(model: nn.Module, compiled: Any) -> Train:
    optimizer = torch.optim.AdamW(model.parameters(), lr=0.01)
    step = compiled(optimizer.step)

    def train(x: Tensor, y: Tensor) -> Tensor:
        loss = loss_of(model(x), y)
        loss.backward()
        step()
        optimizer.zero_grad()
        return loss.detach()

    return train


def a_step_in_one_graph(model: nn.Module, compiled: Any) -> Train:
    optimizer = Sign(model.parameters())
    step = compiled(optimizer.step, fullgraph=True)

    def train(x: Tensor, y: Tensor) -> Tensor:
        loss = loss_of(model(x), y)
        loss.backward()
        step()
        for p in model.parameters():
            p.grad = None
        return loss.detach()

    return train


def a_whole_step_in_few_graphs(model: nn.Module, compiled: Any) -> Train:
    optimizer = Sign(model.parameters())
    return compiled(around(model, optimizer, lambda x, y: loss_of(model(x), y)))


def everything_in_one_graph(model: nn.Module, compiled: Any) -> Train:
    parameters = list(model.parameters())

    def train(x: Tensor, y: Tensor) -> Tensor:
        loss = loss_of(model(x), y)
        loss.backward()
        with torch.no_grad():
            for p in parameters:
                p.sub_(p.grad, alpha=0.1)
        for p in parameters:  # last: clears before backward() in one graph spoil every later one (torch 2.13)
            p.grad = None
        return loss.detach()

    return compiled(train, fullgraph=True)


WAYS = [
    a_model,
    a_models_own_method,
    a_container,
    a_function_that_calls_a_model,
    a_loss,
    a_whole_step,
    a_whole_step_with_clipping,
    an_optimizers_step,
    a_step_in_one_graph,
    a_whole_step_in_few_graphs,
    everything_in_one_graph,
]


@dataclass
class Run:
    """Numbers that must be the same to the last bit, and how Dynamo went about it."""

    losses: list[float] = field(default_factory=list)
    state: dict[str, Tensor] = field(default_factory=dict)
    grads: list[Tensor | None] = field(default_factory=list)
    rng: Tensor | None = None
    python: Any = None
    graphs: list[int] = field(default_factory=list)
    """How many there were after each turn."""
    breaks: list[int] = field(default_factory=list)
    warned: set[str] = field(default_factory=set)
    ledgers: list[GradientLedger] = field(default_factory=list)


def run(way: Callable[[nn.Module, Any], Train], turns: str, backend: str = "inductor", count: int = 2) -> Run:
    """Train for some turns, in those called `w` under a ledger; what is compiled is compiled in the first."""
    torch._dynamo.reset()
    counters.clear()
    torch.manual_seed(0)
    random.seed(0)
    batches = [(torch.randn(5, 6), torch.randn(5, 2)) for _ in range(count)]
    model, done, train = Net(), Run(), None
    one_graph = way is everything_in_one_graph
    settings: Any = torch._dynamo.config.patch("trace_autograd_ops", True) if one_graph else nullcontext()
    with warnings.catch_warnings(record=True) as warned, settings:
        warnings.simplefilter("always")
        for turn in turns:
            with GradientLedger() if turn == "w" else nullcontext() as ledger:
                train = train or way(model, functools.partial(torch.compile, backend=backend))
                done.losses += [train(x, y).item() for x, y in batches]
            done.graphs.append(counters["stats"]["unique_graphs"])
            done.breaks.append(sum(counters["graph_break"].values()))
            if ledger is not None:
                assert not ledger.trouble, ledger.trouble
                done.ledgers.append(ledger)
    done.state = {name: value.clone() for name, value in model.state_dict().items()}
    done.grads = [None if p.grad is None else p.grad.clone() for p in model.parameters()]
    done.rng, done.python = torch.random.get_rng_state(), random.getstate()
    # What a garbage collection says of other tests' sockets is none of ours.
    done.warned = {str(one.message) for one in warned if not issubclass(one.category, ResourceWarning)}
    return done


def same(plain: Run, watched: Run) -> None:
    assert watched.losses == plain.losses
    assert all(torch.equal(plain.state[name], watched.state[name]) for name in plain.state)
    for a, b in zip(plain.grads, watched.grads, strict=True):
        assert (a is None) == (b is None) and (a is None or b is None or torch.equal(a, b))
    assert plain.rng is not None and watched.rng is not None and torch.equal(plain.rng, watched.rng)
    assert watched.python == plain.python
    assert watched.warned <= plain.warned


# ------------------------------------------------------------------ it changes nothing


@inductor
@pytest.mark.parametrize("way", WAYS, ids=lambda way: way.__name__)
def test_training_is_bit_identical_and_the_graphs_are_the_same(way: Callable[[nn.Module, Any], Train]) -> None:
    if way is everything_in_one_graph and not BACKWARD:
        pytest.skip("this torch cannot compile backward()")
    plain = run(way, "ppp")
    # Compiled under a ledger, called without one, and under another. Then: compiled before there is one.
    inside, before = run(way, "wpw"), run(way, "pwp")
    for watched in (inside, before):
        same(plain, watched)
        # Where a step is in a graph, Dynamo sees the ledger's hooks come and go: once, and never again. The same holds
        # for a clip, which is in a graph of its own.
        assert watched.graphs[-1] <= plain.graphs[-1] + 1 + (way is a_whole_step_with_clipping)
        for ledger in watched.ledgers:
            assert ledger.findings() == [], str(ledger)
            assert not any("_orig_mod" in p.name for p in ledger.log.parameters)
    assert plain.graphs[0] > 0
    assert inside.graphs[0] == plain.graphs[0]
    assert inside.breaks[0] <= plain.breaks[0]  # from Python 3.13 on one of them is not met


@inductor
@pytest.mark.parametrize(
    "way",
    [a_whole_step_in_few_graphs, pytest.param(a_whole_step_with_clipping, marks=pytest.mark.heavy)],
    ids=lambda way: way.__name__,
)
def test_the_hooks_of_many_ledgers_do_not_make_dynamo_compile_again_and_again(
    way: Callable[[nn.Module, Any], Train],
) -> None:
    plain, often = (run(way, turns * 10, count=1) for turns in ("pp", "pw"))
    same(plain, often)
    assert often.graphs[2:] == [often.graphs[2]] * 18


def test_a_compiled_model_is_left_as_it_was() -> None:
    """In a process of its own: Dynamo is not imported before the ledger is open."""
    script = """if True:
        import sys, torch
        from torch import nn
        from torch.nn.modules import module
        from gradient_ledger import GradientLedger
        assert "torch._dynamo" not in sys.modules
        plain = nn.Module.__call__
        with GradientLedger() as ledger:
            model = nn.Sequential(nn.Linear(3, 3), nn.Linear(3, 1))
            compiled = torch.compile(model, backend="eager", fullgraph=True)
            optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
            compiled(torch.ones(2, 3)).sum().backward()
            optimizer.step()
            assert nn.Module.__call__ is not plain and not module._global_forward_pre_hooks
        assert nn.Module.__call__ is plain and not hasattr(torch.optim.SGD.step, "gradient_ledger")
        names = "torch._dynamo.utils", "torch._dynamo.variables.nn_module"
        assert all(getattr(sys.modules[name], "unpatched_nn_module_call", plain) is plain for name in names)
        compiled(torch.ones(2, 3)).sum().backward()
        print(ledger.trouble or "no trouble", [event.kind for event in ledger.events])
    """
    done = subprocess.run(
        [sys.executable, "-W", "error::UserWarning", "-c", script], capture_output=True, text=True, timeout=120
    )
    kinds = ["forward", "backward", "accumulate", "step"]
    assert (done.returncode, done.stdout) == (0, f"no trouble {kinds}\n"), done.stderr[-2000:]


# ------------------------------------------------------------------ what it sees, and what it says it does not


@pytest.mark.skipif(not BACKWARD, reason="this torch cannot compile backward()")
def test_dynamo_knows_torchs_functions_after_a_process_group_began_under_a_ledger(tmp_path: Path) -> None:
    model = nn.Linear(3, 1)

    def gradient(x: Tensor) -> Tensor:
        (grad,) = torch.autograd.grad(model(x).sum(), [model.weight])
        return grad

    x = torch.ones(2, 3)
    store = torch.distributed.FileStore(str(tmp_path / "store"), 1)
    with GradientLedger() as ledger:
        torch.distributed.init_process_group("gloo", store=store, rank=0, world_size=1)
        try:
            torch.compile(lambda x: model(x).sum(), backend="eager")(x).backward()
        finally:
            torch.distributed.destroy_process_group()
    assert not ledger.trouble, ledger.trouble
    with torch._dynamo.config.patch("trace_autograd_ops", True):
        assert torch.equal(torch.compile(gradient, backend="eager", fullgraph=True)(x), torch.full((1, 3), 2.0))


def watched(loop: Callable[[Any], object], *things: object, **settings: Any) -> GradientLedger:
    torch.manual_seed(0)
    with GradientLedger(*things, **settings) as ledger:
        loop(functools.partial(torch.compile, backend="aot_eager"))
    assert not ledger.trouble, ledger.trouble
    return ledger


def batches(count: int = 8) -> list[tuple[Tensor, Tensor]]:
    return [(torch.randn(5, 6), torch.randn(5, 2)) for _ in range(count)]


@pytest.mark.parametrize("own", [False, True], ids=["torch.compile", "model.compile"])
def test_a_compiled_models_calls_are_forwards_of_that_model(own: bool) -> None:
    model = Net()

    def loop(compiled: Any) -> None:
        call = model if own else compiled(model)
        if own:
            model.compile(backend="aot_eager")
        optimizer = sgd(model)
        for number, (x, y) in enumerate(batches()):
            (loss_of(call(x), y) / 2).backward()
            if number % 2:
                optimizer.step()
                optimizer.zero_grad()

    ledger = watched(loop)
    forwards = [event for event in ledger.events if isinstance(event, Forward)]
    assert [event.model for event in forwards] == ["Net"] * 8
    assert {event.where.code for event in forwards if event.where} == {"(loss_of(call(x), y) / 2).backward()"}
    assert [p.name for p in ledger.log.parameters] == NAMES
    assert all(p.ran for p in ledger.log.parameters)
    assert "forward" in ledger.log.compiled and "step" not in ledger.log.compiled
    # How often BatchNorm ran inside is not seen, so nothing is said of it.
    assert ledger.findings() == []


def test_right_and_wrong_are_told_apart_around_a_compiled_model() -> None:
    def loop(compiled: Any, before: bool, after: bool) -> None:
        model = Net()
        optimizer, call = sgd(model), compiled(model)
        for x, y in batches():
            loss_of(call(x), y).backward()
            if before:
                optimizer.zero_grad()
            optimizer.step()
            if after:
                optimizer.zero_grad()

    for before, after, found in (
        (False, True, []),
        (False, False, ["never-zeroed"]),
        (True, False, ["zeroed-before-step"]),
    ):
        ledger = watched(functools.partial(loop, before=before, after=after))
        assert [finding.misconception for finding in ledger.findings()] == found


def test_right_and_wrong_are_told_apart_inside_a_compiled_step() -> None:
    """Dynamo leaves `backward`, `zero_grad` and the `step` of torch's optimizers as calls, so they are seen."""

    def loop(compiled: Any, clears: bool) -> None:
        model = Net()
        optimizer = sgd(model)

        @compiled
        def train(x: Tensor, y: Tensor) -> None:
            if clears:
                optimizer.zero_grad()
            loss_of(model(x), y).backward()
            optimizer.step()

        for x, y in batches():
            train(x, y)

    for clears in (True, False):
        ledger = watched(functools.partial(loop, clears=clears))
        assert [finding.misconception for finding in ledger.findings()] == ([] if clears else ["never-zeroed"])
        steps = [event for event in ledger.events if isinstance(event, Step)]
        assert len(steps) == 8 and all(event.where and event.where.file == __file__ for event in steps)
        assert [p.name for p in ledger.log.parameters] == NAMES


def test_steps_inside_a_graph_are_not_judged_and_the_report_says_so() -> None:
    def loop(compiled: Any, alone: bool) -> None:
        model, other = Net(), nn.Linear(2, 1)
        optimizer, seen = Sign(model.parameters()), sgd(other)
        step = compiled(optimizer.step) if alone else optimizer.step

        def train(x: Tensor, y: Tensor) -> None:  # nothing is ever cleared
            (loss_of(model(x), y) + other(y).square().mean()).backward()
            step()

        train = train if alone else compiled(train)
        for x, y in batches():
            train(x, y)
            seen.step()

    ledger = watched(functools.partial(loop, alone=False))
    assert "step" in ledger.log.compiled and ledger.log.optimizers
    assert ledger.findings() == []
    assert "Optimizer steps ran inside code compiled by torch.compile" in " ".join(str(ledger).split())
    assert "Optimizer steps ran inside code" in ledger._repr_html_()
    assert "step" in json.loads(ledger.as_json())["compiled"]
    # A step that is compiled by itself is called, and so it is seen.
    ledger = watched(functools.partial(loop, alone=True))
    assert "step" not in ledger.log.compiled
    assert {finding.misconception for finding in ledger.findings()} == {"never-zeroed"}
    # That compiled code ran under one ledger is not said of the next.
    assert "step" not in watched(lambda compiled: None).log.compiled


@pytest.mark.skipif(not hasattr(torch._dynamo.config, "trace_autograd_ops"), reason="backward() cannot be compiled")
def test_a_step_of_which_nothing_is_seen_is_mentioned() -> None:
    def loop(compiled: Any) -> None:
        train = everything_in_one_graph(Net(), compiled)
        for x, y in batches():
            train(x, y)

    with torch._dynamo.config.patch("trace_autograd_ops", True):
        ledger = watched(loop)
    assert ledger.findings() == []
    assert "no optimizer step was seen" in str(ledger) and "a step inside it is not seen" in str(ledger)


@pytest.mark.skipif(not hasattr(torch._dynamo.config, "trace_autograd_ops"), reason="backward() cannot be compiled")
@pytest.mark.parametrize("zeros", [False, True])
def test_backward_inside_a_graph_accuses_nobody(zeros: bool) -> None:
    def loop(compiled: Any) -> None:
        model = Net()
        optimizer = sgd(model)

        @functools.partial(compiled, fullgraph=True)
        def micro(x: Tensor, y: Tensor) -> Tensor:
            loss = loss_of(model(x), y) / 2
            loss.backward()
            return loss.detach()

        for number, (x, y) in enumerate(batches()):
            micro(x, y)
            if number % 2:
                optimizer.step()
                optimizer.zero_grad(set_to_none=not zeros)

    with torch._dynamo.config.patch("trace_autograd_ops", True):
        assert watched(loop).findings() == []


def test_clears_and_steps_by_hand_inside_compiled_functions_are_seen() -> None:
    model = Net()
    parameters = list(model.parameters())

    def loop(compiled: Any, zeros: bool, clears: bool) -> None:
        @compiled
        def clear() -> None:
            for p in parameters:
                if not zeros:
                    p.grad = None
                elif p.grad is not None:
                    p.grad.zero_()

        @compiled
        def step() -> None:
            with torch.no_grad():
                for p in parameters:
                    p.sub_(p.grad, alpha=0.1)

        for x, y in batches():
            if clears:
                clear()
            loss_of(model(x), y).backward()
            step()

    for zeros, clears in ((False, True), (True, True), (False, False)):
        model.zero_grad()
        ledger = watched(functools.partial(loop, zeros=zeros, clears=clears))
        assert sum(event.kind == "step" for event in ledger.events) == 8
        assert [finding.misconception for finding in ledger.findings()] == ([] if clears else ["never-zeroed"])


def test_clipping_inside_a_compiled_step_of_mixed_precision_is_no_fault() -> None:
    """It shows as an edit, not as a clip, and it comes after unscale_."""
    model, scaler = Net(), torch.amp.GradScaler("cpu", init_scale=2.0**10)
    optimizer = sgd(model)

    def train(x: Tensor, y: Tensor) -> None:
        with torch.autocast("cpu", dtype=torch.float16):
            loss = loss_of(model(x), y)
        scaler.scale(loss).backward()
        scaler.unscale_(optimizer)
        torch.nn.utils.clip_grad_norm_(model.parameters(), 0.01)
        scaler.step(optimizer)
        scaler.update()
        optimizer.zero_grad()

    def loop(compiled: Any) -> None:
        call = compiled(train)
        for x, y in batches():
            call(x, y)

    assert watched(loop).findings() == []


class Cut(Net):
    """Its first layers run and are cut off; its last one but one never runs."""

    def __init__(self) -> None:
        super().__init__()
        self.unused = nn.Linear(2, 2)

    def forward(self, x: Tensor) -> Tensor:
        out: Tensor = self.last(torch.relu(self.norm(self.first(x))).detach())
        return out


@pytest.mark.parametrize("whole", [False, True])
def test_a_cut_inside_a_compiled_model_is_found_and_what_never_ran_is_not_called_cut(whole: bool) -> None:
    def loop(compiled: Any) -> None:
        model, other = (Net() if whole else Cut()), nn.Linear(2, 2)
        optimizer = torch.optim.SGD([*model.parameters(), *other.parameters()], lr=0.1)
        call = compiled(model)
        for x, y in batches():
            optimizer.zero_grad()
            out = call(x)
            loss_of(other(out.detach() if whole else out), y).backward()
            optimizer.step()

    (finding,) = watched(loop).findings()
    assert finding.misconception == "graph-cut"
    assert finding.evidence["names"] == (NAMES if whole else NAMES[:4])
    assert finding.where is not None and finding.where.code == "out = call(x)"


def test_a_compiled_model_may_be_what_is_watched_and_its_names_those_of_a_reference() -> None:
    model, given = Net(), []
    model.eval()
    compiled = torch.compile(model, backend="aot_eager")

    def reference() -> dict[str, Tensor]:
        x, y = given[-1]
        names = dict(compiled.named_parameters())
        grads = torch.autograd.grad(loss_of(model(x), y), list(names.values()))
        return dict(zip(names, grads, strict=True))

    def loop(_: Any) -> None:
        optimizer = sgd(model)
        for x, y in batches(3):
            given.append((x, y))
            optimizer.zero_grad()
            loss_of(compiled(x), y).backward()
            optimizer.step()

    ledger = watched(loop, compiled, reference=reference)
    assert [p.name for p in ledger.log.parameters] == NAMES
    checks = [event.reference for event in ledger.events if isinstance(event, Step)]
    assert len(checks) == 3 and all(check is not None and check.right for check in checks)
    ledger.assert_clean(warnings=True)


def test_an_optimizers_step_is_one_step_however_it_is_reached() -> None:
    """By itself, through a scheduler made before the ledger, through an optimizer of optimizers, compiled."""

    class Outer(torch.optim.SGD):
        def step(self, closure: Any = None) -> Any:
            inner.step()
            return super().step(closure)

    torch.manual_seed(0)
    model, second, third = nn.Linear(6, 2), nn.Linear(6, 2), nn.Linear(6, 2)
    before, inner, outer = sgd(model), sgd(second), Outer(third.parameters(), lr=0.1)
    torch.optim.lr_scheduler.StepLR(before, 10)
    with GradientLedger() as ledger:
        inside = sgd(model)
        torch.optim.lr_scheduler.StepLR(inside, 10)
        steps = [before.step, inside.step, outer.step, torch.compile(inside.step, backend="eager")]
        for step in steps:
            for one in (model, second, third):
                loss_of(one(torch.ones(1, 6)), torch.ones(1, 2)).backward()
            step()
    labels = {entry.number: entry.label for entry in ledger.log.optimizers}
    taken = [labels[event.optimizer].split(" ")[0] for event in ledger.events if isinstance(event, Step)]
    assert taken == ["SGD", "SGD", "Outer", "SGD", "SGD"]  # the fourth is the inner one, of parameters of its own
