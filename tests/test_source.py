"""What the text around a line says, where a rule stands on the text: texts that say it, and texts that nearly do."""

from __future__ import annotations

import ast
import sys
from pathlib import Path

import pytest
import torch

from gradient_ledger import (
    GradientLedger,
    behind,
    buffers,
    conditions,
    counters,
    cuts,
    divisions,
    frozen,
    lastones,
    lossfacts,
    making,
    midway,
    misplaced,
    outside,
    overwritten,
    piled,
    printing,
    reduced,
    repeated,
    restored,
    samples,
    scalers,
    source,
    targets,
    timetables,
    told,
    uncalled,
    unweighted,
)
from gradient_ledger.events import Forward, Place


def written(folder: Path, text: str) -> str:
    file = folder / "train.py"
    file.write_text(text)
    return str(file)


COUNTING = {
    "f = lambda x: cosine(x, args.iters_per_epoch * args.epochs)\n": "lambda(x)",
    "f = lambda n: 1 - n / (num_epochs * len(train_loader))\n": "lambda(n)",
    "f = lambda n: 1 - n / (num_epochs * 2)\n": "",
    "f = lambda n: 1 - n / len(train_loader)\n": "",
    "def rate(step):\n    return min(1, step / warmup_steps)\n": "rate(step)",
    "f = lambda it: 1 - it / args.max_iters\n": "lambda(it)",
    "def rate(step_num):\n    return step_num ** -0.5 * cfg.n_warm_up_step\n": "rate(step_num)",
    'f = lambda step: min(1, (step + 1) / cfg["warmup_steps"])\n': "lambda(step)",
    'def rate(step):\n    return 1 - step / cfg["train"]["max_iters"]\n': "rate(step)",
    'f = lambda step: min(1, (step + 1) / cfg["warmup_epochs"])\n': "",
    'f = lambda epoch: min(1, (epoch + 1) / cfg["warmup_steps"])\n': "",
    'f = lambda step: cfg["rates"][step]\n': "",
    "def rate(epoch):\n    return min(1, epoch / warmup_steps)\n": "",
    "def rate(step):\n    return 0.95 ** step\n": "",
    "def rate(step):\n    return min(1, step / warmup_epochs)\n": "",
    "def rate(step):\n    return 1 - step / num_epochs\n": "",
    "def rate():\n    return warmup_steps\n": "",
}


@pytest.mark.parametrize("text", COUNTING)
def test_a_function_counts_steps_by_its_argument_and_by_a_number_of_them(text: str, tmp_path: Path) -> None:
    assert timetables.counts_steps(written(tmp_path, text), 1) == COUNTING[text]


STEPPING = {
    "optimizer.step()\n": False,
    "self.optim.step()\nscaler.step(self.optim)\nenv.step(action)\n": False,
    "optimizer.step()\nscheduler.step()\n": True,
    "optimizer.step()\nfor one in parts:\n    one.step()\n": True,
    "def f(when):\n    optimizer.step()\n    if when == 'batch':\n        scheduler.step()\n": True,
    "scheduler.step()\n": None,
    "trainer.fit(model)\n": None,
    "def f(i):\n    optimizer.step()\n    if i % 100 == 0:\n        scheduler.step()\n": None,
    "def f(i):\n    optimizer.step()\n    if i > 100:\n        scheduler.step()\n": None,
    "def f(decay):\n    optimizer.step()\n    if decay:\n        scheduler.step()\n": None,
    "def f(args):\n    optimizer.step()\n    if args.schedule == 'epoch':\n        scheduler.step()\n": None,
    "def f():\n    optimizer.step()\n    if scheduler is not None:\n        scheduler.step()\n": None,
}


@pytest.mark.parametrize("text", STEPPING)
def test_whether_a_text_steps_schedules(text: str, tmp_path: Path) -> None:
    assert timetables.steps_schedules((written(tmp_path, text),)) is STEPPING[text]


@pytest.mark.parametrize(("line", "found"), [(2, False), (1, True)])
def test_a_text_steps_the_schedule_of_another_optimizer_alone(line: int, found: bool, tmp_path: Path) -> None:
    file = written(tmp_path, "optimizer.step()\nscheduler_g.step()\n")
    assert timetables.steps_schedules((file,), frozenset({(file, line)})) is found


def _loop(*lines: str) -> str:
    return "for x, y in group:\n" + "".join(f"    {line}\n" for line in lines)


PILED = {
    _loop("losses.append(criterion(model(x), y))"): True,
    _loop("total += loss_fn(model(x), y)"): True,
    _loop("loss = f(model(x), y)", "total = total + loss"): True,
    _loop("total_loss += f(model(x), y).item()"): False,
    _loop("logits.append(model(x))"): False,
    _loop("out, h = model(x, h); loss += f(out, y)"): False,
    _loop("loss = f(model(x), y)", "loss.backward()"): False,
    "x = 1\nloss = f(model(x), y)\n": False,
    "def f(self):\n    loss = g(self.model(x)) / k\n    self.window_loss += loss\n": True,
    "def f(self):\n    loss = g(self.model(x)) / k\n    self.losses.append(loss)\n": False,
    "def f(self):\n    loss = g(self.model(x))\n    total = total + loss\n": False,
}


@pytest.mark.parametrize("text", PILED)
def test_losses_of_micro_batches_are_piled_up_in_a_loop(text: str, tmp_path: Path) -> None:
    assert piled.piles_losses(written(tmp_path, text), 2) is PILED[text]


def _window(*rounds: str, back: str = "total.backward()", after: str = "total = 0") -> str:
    """A loop whose backward pass stands in line 3."""
    lines = "".join(f"    {line}\n" for line in rounds)
    return f"for i, x in enumerate(data):\n    if i % 4 == 3:\n        {back}\n        {after}\n{lines}"


SUMS_OF_WINDOWS = {
    _window("total = total + loss_of(x)"): True,
    _window("total += criterion(model.forward(x))"): True,
    _window("total += loss_of(x)", back="scaler.scale(total).backward()", after="total = torch.zeros(())"): True,
    _window("total += loss_of(x)", back="(total / 4).backward() if no else scale(total).backward()"): True,
    _window("losses.append(loss_of(x))", back="sum(losses).backward()", after="losses.clear()"): True,
    _window("losses.append(loss_of(x))", back="torch.stack(losses).mean().backward()", after="losses = []"): True,
    _window("shown.append(1)", "total += loss_of(x)", "shown = []"): True,
    _window("count += 1", "y = f(x)", "y = g(y)", "total += loss_of(y)"): True,
    _window("total += loss_of(x)", after="pass"): False,
    _window("total += loss_of(x).item()"): False,
    _window("total += f(x)"): False,
    _window("total = loss_of(x)"): False,
    _window("total += loss_of(x)", back="loss_of(x).backward()"): False,
    _window("y, h = f(x, h)", "total += loss_of(y)"): False,
    _window("y, h = f(\n        x, h)", "total += loss_of(y)"): False,
    _window("self.h = f(x, self.h)", "total += loss_of(self.h)"): False,
    _window("h = f(x, h)", "total += loss_of(h)", "if done: h = None"): False,
    "for x in data:\n    total += loss_of(x)\ntotal.backward()\ntotal = 0\n": False,
    "for x in micro_batches:\n    total += loss_of(x)\ntotal.backward()\ntotal = 0\n": True,
    "for _ in range(self.accumulation_steps):\n    total = total + loss\n(total * scale).backward()\n": True,
    "for x in micro_batches:\n    total += loss_of(x).item()\ntotal.backward()\n": False,
    "for x in micro_batches:\n    total += loss_of(x)\nother.backward()\n": False,
    "for x in micro_batches:\n    y, h = f(x, h); total += loss_of(y)\ntotal.backward()\n": False,
}


@pytest.mark.parametrize("text", SUMS_OF_WINDOWS)
def test_a_sum_of_a_window_goes_backward_under_a_condition_and_begins_anew(text: str, tmp_path: Path) -> None:
    assert piled.window_sum(written(tmp_path, text), 3) is SUMS_OF_WINDOWS[text]


KEPT = "def f(a, b):\n    d = a.state_dict()\n    d['w'] = b\n    return d\n"
DROPPED = {
    f"{KEPT}f(model, w)\n": [3],
    f"{KEPT}class A:\n    def update(self):\n        f(self.model, w)\n": [3],
    f"{KEPT}model.load_state_dict(f(model, w))\n": [],
    f"{KEPT}new = f(model, w)\n": [],
    f"{KEPT}f(model, w)\nnew = f(model, w)\n": [],
    f"{KEPT}register(f)\nf(model, w)\n": [],
    KEPT: [],
}


@pytest.mark.parametrize("text", DROPPED)
def test_a_changed_dictionary_that_is_returned_is_lost_where_nobody_takes_it(text: str, tmp_path: Path) -> None:
    assert [place.line for place in misplaced.unloaded([written(tmp_path, text)])] == DROPPED[text]


LOWERED = {
    "lr = 0.1\noptimizer = SGD(p, lr=lr)\nfor epoch in range(3):\n    lr /= 2\n    print(lr)\n": [4],
    "def f(p, lr):\n    o = torch.optim.Adam(p, lr)\n    for e in range(3):\n        lr = lr * 0.5\n": [4],
    "lr = 0.1\noptimizer = SGD(p, lr=lr)\nfor epoch in range(3):\n    lr /= 2\n    set_rate(optimizer, lr)\n": [],
    "lr = 0.1\noptimizer = SGD(p, lr=lr)\nfor epoch in range(3):\n    lr /= 2\n    g['lr'] = lr\n": [],
    "lr = 0.1\nfor epoch in range(3):\n    optimizer = SGD(p, lr=lr)\n    lr /= 2\n": [],
    "lr = 0.1\noptimizer = SGD(p, lr=lr)\nlr /= 2\n": [],
    "lr = 0.1\noptimizer = SGD(p, lr=lr)\nfor epoch in range(3):\n    lr += 1\n": [],
    "lr = 0.1\nf = lambda: lr\noptimizer = SGD(p, lr=lr)\nfor epoch in range(3):\n    lr /= 2\n": [],
}


@pytest.mark.parametrize("text", LOWERED)
def test_a_rate_is_lowered_in_a_number_that_no_optimizer_reads(text: str, tmp_path: Path) -> None:
    assert [place.line for place in misplaced.in_numbers([written(tmp_path, text)])] == LOWERED[text]


class Plain:
    def __init__(self, optimizer):
        self.optimizer = optimizer

    def zero_grad(self):
        """Clear what the optimizer holds."""
        self.optimizer.zero_grad()


class Telling(Plain):
    def zero_grad(self):
        self.cleared = True
        self.optimizer.zero_grad()


@pytest.mark.parametrize(("kind", "within"), [(Plain, "told_of"), (Telling, "zero_grad")])
def test_a_clear_belongs_to_the_caller_of_a_method_that_does_nothing_else(kind: type[Plain], within: str) -> None:
    assert told_of(kind) == within


def told_of(kind: type[Plain]) -> str:
    """The function that a clear by a wrapper of this kind is said to stand in."""
    import torch

    model = torch.nn.Linear(2, 1)
    wrapped = kind(torch.optim.SGD(model.parameters(), lr=0.1))
    with GradientLedger(model) as ledger:
        model(torch.ones(1, 2)).sum().backward()
        wrapped.zero_grad()
    (clear,) = [event for event in ledger.log.events if event.kind == "clear"]
    assert clear.where is not None
    return clear.where.function


UPDATE = "def update_ema(average, model):\n    for p, q in zip(average, model):\n        p.lerp_(q, 0.1)\n"
METHOD = (
    "class Learner:\n    def update_target(self):\n        copy_over(self.target, self.net)\n"
    "def copy_over(a, b):\n    for p, q in zip(a, b):\n        p.data = q.data\n"
)
FOLLOWING = {
    UPDATE + "train()\n": "update_ema",
    METHOD + "train()\n": "update_target",
    "def _momentum_update_key_encoder():\n    update_moving_average()\n" + UPDATE + "train()\n": "update_ema",
    UPDATE + "update_ema(average, model)\n": None,
    UPDATE + "register(on_step=update_ema)\n": None,
    METHOD + "def step(self):\n    self.learner.update_target()\n": None,
    METHOD + "copy_over(target, net)\n": None,
    "def update_rate():\n    pass\n": None,
    UPDATE + "for p, q in pairs:\n    p.data = 0.9 * p.data + 0.1 * q.data\n": None,
    UPDATE + "for epoch in range(3):\n    target.load_state_dict(net.state_dict())\n": None,
    UPDATE + "def initializes_target():\n    for p, q in pairs:\n        p.copy_(q)\n": "update_ema",
    UPDATE + "class A:\n    def __init__(self):\n        for p, q in pairs:\n            p.copy_(q)\n": "update_ema",
}


@pytest.mark.parametrize("text", FOLLOWING)
def test_a_function_that_should_let_an_average_follow_is_called_nowhere(text: str, tmp_path: Path) -> None:
    found = uncalled.update((written(tmp_path, text),))
    assert (found and found.name) == FOLLOWING[text]


USED_UP = {
    "a = (p for p in net)\nprint(len(list(a)))\nopt = SGD([{'params': a}])\n": 2,
    "a = filter(f, net.parameters())\nb = 1\nfor p in a:\n    f(p)\ngroups = [{'params': a}]\nopt = SGD(groups)\n": 3,
    "a = net.parameters()\nclip(a)\nopt = SGD(a)\n": 2,
    "a = [p for p in net]\nprint(len(a))\nopt = SGD(a)\n": None,
    "a = list(net.parameters())\nclip(a)\nopt = SGD(a)\n": None,
    "a = (p for p in net)\nopt = SGD(a)\nprint(a)\n": None,
    "a = (p for p in net)\nclip(a)\na = (p for p in net)\nopt = SGD(a)\n": None,
}


@pytest.mark.parametrize("text", USED_UP)
def test_what_an_optimizer_is_given_was_gone_through_before(text: str, tmp_path: Path) -> None:
    file = written(tmp_path, text)
    line = next(number for number, one in enumerate(text.split("\n"), 1) if one.startswith("opt"))
    found = source.used_up_at(source.Place(file, line))
    assert (found and found.line) == USED_UP[text]


STATE = "for k, v in ema.state_dict().items():\n"
REBOUND = {
    STATE + "    v = v * 0.9 + model[k] * 0.1\n": 2,
    STATE + "    v = v * 0.9 + model[k] * 0.1\n    new[k] = v\n": None,
    STATE + "    v.copy_(v * 0.9 + model[k] * 0.1)\n": None,
    STATE + "    k = 'module.' + k\n    new[k] = v\n": None,
    "for k, v in table.items():\n    v = v * 0.9\n": None,
}


FILLS = "def __init__(self):\n    self.target = Net()\n    self.target.load_state_dict(self.q.state_dict())\n"
COPIED_BACK = {
    FILLS + "def refresh(self):\n    self.q.load_state_dict(self.target.state_dict())\n": 5,
    "def __init__(self):\n    self.target = copy.deepcopy(self.q)\n"
    "def refresh(self):\n    self.q.load_state_dict(self.target.state_dict())\n": 4,
    FILLS + "def refresh(self):\n    self.q.load_state_dict(self.target.state_dict())\n"
    "def load(self, kept):\n    self.target.load_state_dict(kept['target'])\n": 5,
    # it follows after all, is no target, is kept for another time, or was not filled from that one
    FILLS + "def refresh(self):\n    self.target.load_state_dict(self.q.state_dict())\n": None,
    FILLS
    + "def refresh(self):\n    self.target.load_state_dict(self.q.state_dict())\n"
    + "def undo(self):\n    self.q.load_state_dict(self.target.state_dict())\n": None,
    FILLS + "def soft(self):\n    soft_update(self.target, self.q)\n"
    "def undo(self):\n    self.q.load_state_dict(self.target.state_dict())\n": None,
    FILLS + "def restore(self):\n    self.q.load_state_dict(self.target.state_dict())\n": None,
    FILLS + "def refresh(self):\n    self.other.load_state_dict(self.target.state_dict())\n": None,
    FILLS.replace("target", "best") + "def refresh(self):\n    self.q.load_state_dict(self.best.state_dict())\n": None,
}


@pytest.mark.parametrize("text", COPIED_BACK)
def test_a_target_network_is_loaded_into_what_it_should_follow(text: str, tmp_path: Path) -> None:
    found = targets.copied_back((written(tmp_path, text),))
    assert (found and found.where.line) == COPIED_BACK[text]


KEEPS_TWO = "class C:\n    def __init__(self, net):\n        self.q = net\n        self.k = {0}\n"
SIDE_BY_SIDE = (
    "    def follow(self):\n        for a, b in zip(self.q.parameters(), self.k.parameters()):\n            {0}\n"
)
TWO_NAMES = {
    KEEPS_TWO.format("net") + SIDE_BY_SIDE.format("b.data = b.data * 0.9 + a.data * 0.1"): (4, "k", "q"),
    KEEPS_TWO.format("net") + SIDE_BY_SIDE.format("b.data.mul_(0.9).add_(a.data, alpha=0.1)"): (4, "k", "q"),
    # one after the other
    KEEPS_TWO.format("net") + "    def follow(self):\n        kept = {}\n"
    "        for n, p in self.q.named_parameters():\n            kept[n] = p.data\n"
    "        for n, p in self.k.named_parameters():\n            p.data.copy_(kept[n])\n": (4, "k", "q"),
    # a copy, nothing written, one of the two alone, a loop over both that only compares, or of another object
    KEEPS_TWO.format("copy.deepcopy(net)") + SIDE_BY_SIDE.format("b.data.copy_(a.data)"): None,
    KEEPS_TWO.format("other") + SIDE_BY_SIDE.format("b.data.copy_(a.data)"): None,
    KEEPS_TWO.format("net") + SIDE_BY_SIDE.format("far = far + (a - b).norm()"): None,
    KEEPS_TWO.format("net")
    + "    def freeze(self):\n        for b in self.k.parameters():\n            b.data.mul_(0.9)\n": None,
    KEEPS_TWO.format("net") + SIDE_BY_SIDE.format("b.data.copy_(a.data)").replace("self.k.", "self.m."): None,
    KEEPS_TWO.format("net"): None,
}


@pytest.mark.parametrize("text", TWO_NAMES)
def test_an_object_keeps_one_model_under_two_names(text: str, tmp_path: Path) -> None:
    found = targets.under_two_names((written(tmp_path, text),))
    assert (found and (found.where.line, found.name, found.follows)) == TWO_NAMES[text]


CROSSWISE = {
    "for p, ema_p in zip(ema.parameters(), model.parameters()):\n    p.data.copy_(ema_p)\n": 1,
    "for target, source in zip(net.parameters(), self.target_net.parameters()):\n    target.data.copy_(source)\n": 1,
    "for (n, p), (_, avg) in zip(avg.named_parameters(), net.named_parameters()):\n    p.data.copy_(avg)\n": 1,
    "for (n, p), (_, avg) in zip(net.named_parameters(), avg.named_parameters()):\n    avg.data.copy_(p)\n": None,
    "for n, (p, ema_p) in enumerate(zip(ema.parameters(), net.parameters())):\n    p.data.copy_(ema_p)\n": 1,
    "for p, ema_p in zip(model.parameters(), ema.parameters()):\n    ema_p.data.copy_(p)\n": None,
    "for a, b in zip(ema.parameters(), model.parameters()):\n    a.data.copy_(b)\n": None,
    "for p, ema_p in zip(model.parameters(), other.parameters()):\n    ema_p.data.copy_(p)\n": None,
    "for p in ema.parameters():\n    p.data.copy_(kept)\n": None,
}


@pytest.mark.parametrize("text", CROSSWISE)
def test_a_loop_goes_over_the_weights_by_the_name_of_what_follows_them(text: str, tmp_path: Path) -> None:
    found = source.swapped_at([Place(written(tmp_path, text), 2, "<module>")])
    assert (found and found.line) == CROSSWISE[text]


def test_a_line_behind_such_a_loop_is_not_in_it(tmp_path: Path) -> None:
    file = written(tmp_path, f"{next(iter(CROSSWISE))}p.data.copy_(ema_p)\n")
    assert source.swapped_at([Place(file, 3, "<module>")]) is None
    assert source.swapped_at([]) is None


TWO = "a = torch.optim.SGD(student.parameters(), 0.1)\nb = torch.optim.SGD(teacher.parameters(), 0.1)\n"
TRAIN = "def train(student, teacher, ema):\n    {0}\n"
OTHER_FOLLOWED = {
    TWO + "ema = ModelEMA(student, 0.9)\n" + TRAIN.format("ema.update(teacher)"): 5,
    TWO + "ema = copy.deepcopy(student).eval()\n" + TRAIN.format("update_ema(ema, teacher)"): 5,
    TWO + "ema = ModelEMA(student)\n" + TRAIN.format("ema.update(student)"): None,
    TWO + "ema = ModelEMA(student)\n" + TRAIN.format("ema.update(student); ema.update(teacher)"): None,
    # by another name of it: its wrapper, or what a function calls it
    TWO + "teacher = DataParallel(student)\nema = ModelEMA(student)\n" + TRAIN.format("ema.update(teacher)"): None,
    TWO + "ema = ModelEMA(student)\ndef train(teacher, ema):\n    ema.update(teacher)\n": None,
    # what the average is kept in, by its name
    "a = SGD(model.parameters())\nb = zip(swa_model.parameters())\nema = WeightSWA(swa_model)\n"
    "def train(model, swa_model, ema):\n    ema.update(model)\n": None,
    # one of the two is not trained, or it is no average
    "a = SGD(student.parameters())\nema = ModelEMA(student)\n" + TRAIN.format("ema.update(teacher)"): None,
    TWO + "best = Keeper(student)\ndef train(student, teacher, best):\n    best.update(teacher)\n": None,
}


@pytest.mark.parametrize("text", OTHER_FOLLOWED)
def test_an_average_is_updated_from_another_model(text: str, tmp_path: Path) -> None:
    found = targets.other_followed((written(tmp_path, text),))
    assert (found and found.where.line) == OTHER_FOLLOWED[text]


MAKES_ADAM = "optimizer = torch.optim.Adam(net.parameters(), lr=0.1)\n"
IN_ATTRIBUTES = {
    MAKES_ADAM + "for epoch in range(9):\n    optimizer.lr = 0.1 * 0.5 ** epoch\n": 3,
    MAKES_ADAM + "optimizer.betas = (0.5, 0.999)\n": 2,
    "self.optimizer = SGD(net.parameters(), 0.1)\nself.optimizer.lr = 0.01\n": 2,
    MAKES_ADAM + "optimizer.param_groups[0]['lr'] = 0.01\n": None,
    MAKES_ADAM + "config.lr = 0.01\n": None,
    "optimizer = Scheduled(net)\noptimizer.lr = 0.01\n": None,
    MAKES_ADAM + "optimizer.best = 3\n": None,
    MAKES_ADAM + "optimizer.lr = 0.1\nfor g in optimizer.param_groups:\n    g['lr'] = optimizer.lr\n": None,
}


@pytest.mark.parametrize("text", IN_ATTRIBUTES)
def test_an_option_is_written_into_an_attribute_of_the_optimizer(text: str, tmp_path: Path) -> None:
    file, line = written(tmp_path, text), IN_ATTRIBUTES[text]
    assert [one.line for one in misplaced.in_attributes([file])] == ([] if line is None else [line])


SETS = "    for group in {0}.param_groups:\n        group['lr'] = {1}\n"
SETS_TWICE = {
    "def decay(step):\n" + SETS.format("actor", "a") + SETS.format("actor", "b"): 4,
    "def decay(step):\n" + SETS.format("actor", "a") + SETS.format("critic", "b"): None,
    "def decay(step):\n" + SETS.format("actor", "a") + SETS.format("actor", "a"): None,
    "def decay(step):\n" + SETS.format("actor", "a") + "    wait()\n" + SETS.format("actor", "b"): None,
    "def decay(step):\n  if step < 9:\n" + SETS.format("actor", "a") + "  else:\n" + SETS.format("actor", "b"): None,
    "actor.param_groups[0]['lr'] = a\nactor.param_groups[0]['lr'] = b\n": 2,
    "actor.param_groups[0]['lr'] = a\nactor.param_groups[1]['lr'] = b\n": None,
    "steps = map(lambda step: step.param_groups, found)\nfor group in actor.param_groups:\n    group['lr'] = a\n": None,
}


@pytest.mark.parametrize("text", SETS_TWICE)
def test_a_rate_is_written_over_the_one_before(text: str, tmp_path: Path) -> None:
    file, line = written(tmp_path, text), SETS_TWICE[text]
    assert [one.line for one in misplaced.set_twice([file])] == ([] if line is None else [line])


STEPS = "def train(loader):\n    for i, batch in enumerate(loader):\n        {0}\n        loss = model(batch)\n"
STEPS += "        loss.backward()\n        if (i + 1) % k == 0:\n            optimizer.step()\n"
UNREAD = {
    STEPS.format("size = min(k, len(loader) - i)"): ("size", 3),
    STEPS.format("size = k if i < whole else rest"): ("size", 3),
    STEPS.format("size = k"): ("size", 3),
    STEPS.format("size = min(k, 9); log(size)"): None,
    STEPS.format("steps = len(loader) // k"): None,
    STEPS.format("size = min(j, 9)"): None,
    STEPS.format("k = 4; text = '%s' % name; copy = name"): None,
}


@pytest.mark.parametrize("text", UNREAD)
def test_the_size_of_a_window_is_at_hand_and_nothing_reads_it(text: str, tmp_path: Path) -> None:
    found, wanted = divisions.unread(((written(tmp_path, text), 7),)), UNREAD[text]
    assert (found and (found[0], found[1].line)) == wanted


CASTS = {
    "model = model.bfloat16()": True,
    "self.model.to(device).to(torch.bfloat16)": True,
    "model = RetrievalModel().to(config.device, dtype=torch.bfloat16)": True,
    "unet.half()": True,
    "torch.set_default_dtype(torch.bfloat16)": True,
    "model = AutoModel.from_pretrained(name, torch_dtype=torch.float16)": True,
    "model = build_model(config).to(device, dtype=amp_dtype)": True,
    "model = build_model(config).to(device, dtype=dtype)": False,
    "x = x.to(model.device, dtype=amp_dtype)": False,
    "images = images.to(model.device, torch.bfloat16)": False,
    "images = images.half()": False,
    "ctx = torch.autocast('cpu', dtype=torch.bfloat16)": False,
    "model = model.to(torch.float32)": False,
}


@pytest.mark.parametrize("text", CASTS)
def test_a_line_casts_a_model_to_half_precision(text: str, tmp_path: Path) -> None:
    assert (source.only_line([written(tmp_path, text + "\n")], source.CASTS_A_MODEL) is not None) is CASTS[text]


SHALLOW = {
    "from copy import copy\nclient = copy(server)": 2,
    "client = copy.copy(self.server).to(device)": 1,
    "client = copy.deepcopy(server)": None,
    "weights = state.copy()": None,
    "a = copy(one)\nb = copy(other)": None,
}


@pytest.mark.parametrize("text", SHALLOW)
def test_the_line_of_a_shallow_copy(text: str, tmp_path: Path) -> None:
    place = told.READERS["copied_at"]((written(tmp_path, text + "\n"),))
    assert (place and place.line) == SHALLOW[text]


AGAIN = {
    "def step(loss):\n    loss = loss / k\n    (loss / k).backward()\n": (3, "k"),
    "def step(loss):\n    loss /= k\n    loss /= k\n    loss.backward()\n": (3, "k"),
    "def step(losses):\n    losses[0] = losses[0] / k\n    (losses[0] / k).backward()\n": (3, "k"),
    "def step(a, b):\n    loss = (a + b) / 2\n    loss = loss / k\n    loss.backward()\n": (3, ""),
    "def step(loss):\n    loss = model(batch)\n    loss /= k\n    loss.backward()\n": (3, ""),
    "def step(loss):\n    loss = other / k\n    loss.backward()\n": (2, ""),
    "def step(loss):\n    loss.backward()\n": None,
}


@pytest.mark.parametrize("text", AGAIN)
def test_where_a_loss_is_divided_again(text: str, tmp_path: Path) -> None:
    place, by = divisions.divided_again(((written(tmp_path, text), text.count("\n")),))
    assert (place and (place.line, by)) == AGAIN[text]


GIVES = "def step(data):\n    {0} = model(data)\n    loss = criterion({1})\n"
GIVEN = {
    GIVES.format("logits, features", "features"): True,
    GIVES.format("logits, features", "logits, features"): False,
    GIVES.format("logits, features", "other"): False,
    GIVES.format("logits", "other"): False,
    GIVES.format("_, features", "features"): True,
}


@pytest.mark.parametrize("text", GIVEN)
def test_a_part_of_what_a_call_gives_is_thrown_away(text: str, tmp_path: Path) -> None:
    assert source.throws_away(written(tmp_path, text), 2) is GIVEN[text]


RATE = "def adjust_learning_rate(epoch):\n    return 0.1 * 0.5 ** epoch\n"
UNWRITTEN = {
    RATE + "def train(epoch):\n    lr = adjust_learning_rate(epoch)\n    print(epoch, lr)\n": 4,
    RATE + "for epoch in range(9):\n    lr = adjust_learning_rate(epoch)\n": 4,
    # it is written, handed on, or nobody knows that it is a rate
    RATE + "for epoch in range(9):\n    lr = adjust_learning_rate(epoch)\n    for g in o.param_groups:\n"
    "        g['lr'] = lr\n": None,
    RATE + "for epoch in range(9):\n    lr = adjust_learning_rate(epoch)\n    o = SGD(ps, lr=lr)\n": None,
    RATE + "for epoch in range(9):\n    lr = adjust_learning_rate(epoch)\n    w = w - lr * g\n": None,
    RATE + "for epoch in range(9):\n    lr = adjust_learning_rate(epoch)\n    w -= lr * g\n": None,
    RATE + "def rate(e):\n    lr = adjust_learning_rate(e)\n    return lr\n": None,
    "def adjust_learning_rate(o):\n    o.lr = 1\nx = adjust_learning_rate(o)\n": None,
    "def factor(epoch):\n    return 0.5 ** epoch\nlr = factor(3)\nprint(lr)\n": None,
}


@pytest.mark.parametrize("text", UNWRITTEN)
def test_a_learning_rate_is_computed_and_only_shown(text: str, tmp_path: Path) -> None:
    file, line = written(tmp_path, text), UNWRITTEN[text]
    assert [one.line for one in misplaced.unwritten([file])] == ([] if line is None else [line])


FIRST = "def f():\n    loss = criterion(a, b)\n"
TURNS = "def f():\n    for x in xs:\n        loss = mse(x, y)\n"
OVERWRITTEN = {
    FIRST + "    loss = criterion(c, d)\n    return loss\n": 3,
    FIRST + "    c = net(x)\n    with torch.no_grad():\n        d = net(y)\n    loss = 0.5 * mse_loss(c, d)\n": 6,
    "def f():\n    for x in data:\n        err = l1(x, y)\n        err = l1(z, y).mean()\n        err.backward()\n": 4,
    "def f():\n    if twice:\n        loss = twice_loss(a, b)\n    c = net(x)\n    loss = criterion(c, d)\n": 5,
    "def f():\n    if twice:\n        a = net(x)\n        if both:\n            loss = kl(a, b)\n"
    "    loss = mse(c, d)\n": 6,
    "def f():\n    loss = ce(a, b)\n    if some:\n        loss = loss[mask].mean()\n    else:\n"
    "        loss = loss.mean() * 0\n    loss = ce(c, d)\n": 7,
    "def f():\n    loss = Lx\n    if w > 0:\n        loss = w * Lu\n    loss.backward()\n": 4,
    "def f():\n    for q in qs:\n        q = q.gather(1, a)\n        loss = mse(q, y)\n    loss.backward()\n": 4,
    "def f():\n    for q in qs:\n        loss = mse(q, y)\n    opt.zero_grad()\n    scaler.scale(loss).backward()\n": 3,
    # it is chosen, or the last one is meant
    "def f():\n    loss = mse(a, b)\n    if robust:\n        loss = 0.5 * huber(a, b)\n    loss.backward()\n": None,
    "def f():\n    loss = Lx\n    if w > 0:\n        loss = loss + w * Lu\n    loss.backward()\n": None,
    "def f():\n    loss = Lx\n    if w > 0:\n        loss = w * Lu\n    else:\n        loss = Lx\n": None,
    "def f():\n    for x in xs:\n        h = cell(x, h)\n        loss = mse(h, y)\n    loss.backward()\n": None,
    "def f():\n    for x in xs:\n        total.append(x)\n        loss = mse(x, y)\n    loss.backward()\n": None,
    "def f():\n    for x in xs:\n        loss = mse(x, y)\n        if loss < 1:\n            break\n"
    "    loss.backward()\n": None,
    "def f():\n    for x in xs:\n        loss = mse(x, y)\n    print(loss)\n": None,
    "def f():\n    for x in xs:\n        loss = mse(x, y)\n    loss = mse(z, y)\n    loss.backward()\n": None,
    # what is written down of each of them is a number
    TURNS + "        total += loss.item()\n    loss.backward()\n": 3,
    TURNS + "        seen.append(loss.detach().item())\n    loss.backward()\n": 3,
    TURNS + "        total += float(loss)\n    scaler.scale(loss).backward()\n": 3,
    TURNS + "        total += loss\n    total.backward()\n": None,
    TURNS + "        seen.append(loss)\n    loss.backward()\n": None,
    TURNS + "        y = cell(x, y)\n        total += loss.item()\n    loss.backward()\n": None,
    # it is read, or may be, or is no loss that was computed
    "def f():\n    if twice:\n        loss = kl(a, b)\n    else:\n        loss = mse(c, d)\n    return loss\n": None,
    "def f():\n    if twice:\n        loss = kl(a, b)\n        show(loss)\n    loss = mse(c, d)\n": None,
    "def f():\n    if twice:\n        loss = kl(a, b)\n        return loss\n    loss = mse(c, d)\n": None,
    "def f():\n    if twice:\n        loss = kl(a, b)\n    loss = loss + mse(c, d)\n": None,
    "def f():\n    for x in data:\n        if bad(x):\n            if worse(x):\n                continue\n"
    "            loss = kl(x, b)\n        loss = mse(c, d)\n": None,
    "def f():\n    loss = torch.where(e.lt(0), u * q_loss, v * q_loss)\n    loss = q_loss.mean(dim=2)\n": 3,
    "def f():\n    vf_loss = mse(v, t)\n    loss = vf_loss\n    q_loss = mse(q, r)\n    loss = q_loss\n": 5,
    "def f():\n    loss = loss_fn\n    loss = mse(a, b)\n": None,
    "def f():\n    loss = loss_weight.sum()\n    loss = mse(a, b)\n": None,
    FIRST + "    loss += criterion(c, d)\n": None,
    FIRST + "    loss = loss + criterion(c, d)\n": None,
    FIRST + "    print(loss)\n    loss = criterion(c, d)\n": None,
    FIRST + "    loss.backward()\n    loss = criterion(c, d)\n": None,
    FIRST + "    if late:\n        loss = criterion(c, d)\n": None,
    FIRST + "    if late:\n        return 0\n    loss = criterion(c, d)\n": None,
    FIRST + "    loss = loss_fn(a, loss)\n": None,
    FIRST + "    loss = 0\n": None,
    "def f():\n    loss = torch.zeros(1)\n    loss = criterion(c, d)\n": None,
    "def f():\n    loss = 0.0\n    loss = criterion(c, d)\n": None,
    "def f():\n    out = criterion(a, b)\n    out = criterion(c, d)\n": None,
}


@pytest.mark.parametrize("text", OVERWRITTEN)
def test_the_name_of_a_loss_is_given_to_another_one(text: str, tmp_path: Path) -> None:
    file, line = written(tmp_path, text), OVERWRITTEN[text]
    ran = Forward(
        number=0, step=0, window=0, where=Place(file, 2, "f"), names=(), model="Net", training=True, grad=True
    )
    assert [one.line for one in overwritten.found([file], [ran])] == ([] if line is None else [line])
    assert not overwritten.found([file], [])


WALK = "for p in net.parameters():\n"
MADE = "self.w = nn.Parameter(torch.ones(1))\n"
IN_VAIN = {
    WALK + "    p.data.clamp(-1, 1)\n": 2,
    WALK + "    p.clamp(-1, 1)\n": 2,
    WALK + "    torch.clamp(p.data, -1, 1)\n": 2,
    WALK + "    p.data * 0.9\n": 2,
    "for n, p in net.named_parameters():\n    p.data.mul(0.9)\n": 2,
    MADE + "torch.clamp(self.w, 1e-6)\n": 2,
    MADE + "self.w.clamp(min=1e-6)\n": 2,
    "net.fc.weight.data.clamp(-1, 1)\n": 1,
    # it is changed, or what is made is used, or it is no weight
    WALK + "    p.data.clamp_(-1, 1)\n": None,
    WALK + "    torch.clamp(p.data, -1, 1, out=p.data)\n": None,
    WALK + "    p.data = p.data.clamp(-1, 1)\n": None,
    WALK + "    p.grad.clamp(-1, 1)\n": None,
    WALK + "    total.add(p)\n": None,
    "for x in batches:\n    x.clamp(0, 1)\n": None,
    MADE + "loss = torch.clamp(self.w, 1e-6) * x\n": None,
    "self.w = torch.ones(1)\nself.w.clamp(0, 1)\n": None,
    "seen.add(weight)\n": None,
}


@pytest.mark.parametrize("text", IN_VAIN)
def test_a_line_makes_something_of_a_weight_and_does_nothing_with_it(text: str, tmp_path: Path) -> None:
    assert buffers.weights_in_vain(written(tmp_path, text)) == (() if IN_VAIN[text] is None else (IN_VAIN[text],))


@pytest.mark.parametrize("text", REBOUND)
def test_a_loop_binds_its_own_name_to_what_nothing_reads(text: str, tmp_path: Path) -> None:
    found = buffers.rebound([written(tmp_path, text)])
    assert [one.line for one in found] == ([] if REBOUND[text] is None else [REBOUND[text]])


PASSED = "for p in net.parameters():\n    if not p.requires_grad:\n        continue\n    ps.append(p)\n"
FILTERED = {
    "ps = []\n" + PASSED + "opt = SGD(ps)\n": 3,
    "def f():\n    ps = []\n" + PASSED.replace("\n", "\n    ").replace("for", "    for", 1) + "return SGD(ps)\n": 4,
    "ps = [p for p in net.parameters() if p.requires_grad]\nopt = SGD(ps)\n": 1,
    "ps = []\n" + PASSED.replace("ps.", "others.") + "opt = SGD(ps)\n": None,
    "ps = []\n" + PASSED.replace("not p.requires_grad", "p.dim() == 1") + "opt = SGD(ps)\n": None,
}


SORTED = "for n, p in m.named_parameters():\n    if n == 'head': fast.append(p)\n    else: rest.append(p)\n"
IN_NO_GROUP = {
    SORTED + "opt = SGD(rest)\n": ("fast", 2),
    SORTED + "opt = SGD([{'params': fast, 'lr': 2}, {'params': rest}])\n": None,
    SORTED + "print(len(fast))\nopt = SGD(rest)\n": None,
    SORTED + "opt = SGD(net.parameters())\n": None,  # both are left over
    SORTED.replace("m.named_parameters()", "rows") + "opt = SGD(rest)\n": None,
    "opt = SGD(rest)\n" + SORTED + "show(rest)\n": None,
    "for p in net.parameters():\n    ps.append(p)\nopt = SGD(net.parameters())\n": None,
}


@pytest.mark.parametrize("text", IN_NO_GROUP)
def test_a_list_of_parameters_is_filled_and_nothing_reads_it(text: str, tmp_path: Path) -> None:
    file = written(tmp_path, text)
    line = next(number for number, one in enumerate(text.split("\n"), 1) if "SGD(" in one)
    found = source.filled_in_vain(source.Place(file, line))
    assert (found and (found[0], found[1].line)) == IN_NO_GROUP[text]


GROUPS = "opt = SGD([{'params': fast, 'lr': 2}, {'params': rest}])\n"
OF_A_PART = {
    SORTED.replace("m.named", "m.blocks.named") + GROUPS: 1,
    SORTED.replace("m.named", "self.m.blocks.named") + GROUPS: 1,
    "for n, p in m.body.named_parameters():\n    (fast if n else rest).append(p)\n" + GROUPS: 1,
    SORTED + GROUPS: None,
    SORTED.replace("m.named", "self.m.named") + GROUPS: None,
    SORTED.replace("m.named", "m.module.named") + GROUPS: None,
    SORTED.replace("m.named", "m.blocks.named") + SORTED.replace("m.named", "m.head.named") + GROUPS: None,
    SORTED.replace("m.named", "m.blocks.named") + "opt = SGD(m.parameters())\n": None,
}


@pytest.mark.parametrize("text", OF_A_PART)
def test_what_an_optimizer_is_given_is_picked_from_a_part_of_a_model(text: str, tmp_path: Path) -> None:
    file = written(tmp_path, text)
    line = next(number for number, one in enumerate(text.split("\n"), 1) if "SGD(" in one)
    found = source.picked_from_part(source.Place(file, line))
    assert (found and found.line) == OF_A_PART[text]


@pytest.mark.parametrize("text", FILTERED)
def test_what_an_optimizer_is_given_was_chosen_by_what_is_frozen(text: str, tmp_path: Path) -> None:
    file = written(tmp_path, text)
    line = next(number for number, one in enumerate(text.split("\n"), 1) if "SGD(" in one)
    found = source.filtered_at(source.Place(file, line))
    assert (found and found.line) == FILTERED[text]


IN_STEPS = {
    "s = OneCycleLR(o, lr, args.num_steps + 100)\n": "total_steps=args.num_steps + 100",
    "s = OneCycleLR(o, lr, total_steps=total_iterations)\n": "total_steps=total_iterations",
    "s = OneCycleLR(o, lr, total_steps=num_epochs)\n": "",
    "s = OneCycleLR(o, lr, epochs=3, steps_per_epoch=8)\n": "",
    "s = OneCycleLR(o, lr, num_steps * epochs)\n": "",
    "s = OneCycleLR(o, lr, num_steps)\ns = OneCycleLR(o, lr, num_steps)\n": "",
}


@pytest.mark.parametrize("text", IN_STEPS)
def test_whether_the_time_of_a_schedule_is_called_a_number_of_steps(text: str, tmp_path: Path) -> None:
    assert timetables.length_in_steps([written(tmp_path, text)], "OneCycleLR") == IN_STEPS[text]


SWITCHED = {
    "if w:\n    a = f(x)\nelse:\n    a = 0\nb = a\n": 2,
    "a = f(x)\nif w:\n    print(a)\nelse:\n    a = 0\nb = a\n": 5,
    "if w:\n    a = f(x)\nelse:\n    a = g(x)\nb = a\n": 4,
    "if w:\n    a = f(x)\na = 0\nb = a\n": 3,
}


@pytest.mark.parametrize("text", SWITCHED)
def test_what_is_assigned_where_a_loss_may_be_switched_off(text: str, tmp_path: Path) -> None:
    within = next(iter(source.functions(written(tmp_path, text))))
    found = source.assigned(within, "a", text.count("\n"))
    assert found is not None and found.line == SWITCHED[text]


SETS = (
    "def adjust_rate(optimizer, epoch):\n    for group in optimizer.param_groups:\n        group['lr'] = 0.1 ** epoch\n"
)
FREEZES = "def freeze(part):\n    for p in part.parameters():\n        p.requires_grad = False\n"
LAYER = "class Layer:\n    def __init__(self):\n        self.w.requires_grad = False\n"
UNCALLED = {
    (SETS, ""): "adjust_rate",
    (SETS, "adjust_rate(optimizer, 3)\n"): None,
    (SETS, "# adjust_rate(optimizer, 3)\n"): None,
    (SETS + "# adjust_rate(optimizer, 3)\n", ""): None,
    (SETS, "# adjust_rates are kept\n"): "adjust_rate",
    (SETS, "for group in optimizer.param_groups:\n    group['lr'] *= 0.5\n"): None,
    (SETS, "print(optimizer.param_groups[0]['lr'] == 0.1)\n"): "adjust_rate",
    ("class Schedule:\n    def __call__(self):\n        self.group['lr'] = 0.1\n", ""): None,
    ("", SETS): None,
    (SETS + "    loss.backward()\n    optimizer.step()\n", ""): None,
    (FREEZES, ""): "freeze",
    (FREEZES, "from train import freeze\nfreeze(model)\n"): None,
    (FREEZES, "model.apply(freeze)\n"): None,
    (FREEZES, "for p in body.parameters():\n    p.requires_grad_(False)\n"): None,
    (FREEZES, LAYER): "freeze",
    ("def freeze(p, on):\n    p.requires_grad = on\n", ""): None,
    (LAYER, ""): None,
}


@pytest.mark.parametrize("texts", UNCALLED)
def test_what_sets_a_rate_or_freezes_is_called_nowhere(texts: tuple[str, str], tmp_path: Path) -> None:
    mine, other = (written(tmp_path, text) if not at else _beside(tmp_path, text) for at, text in enumerate(texts))
    found = uncalled.schedule((mine,), (other,)) or uncalled.freeze((mine,), (other,))
    assert (found and found.name) == UNCALLED[texts]


def _beside(folder: Path, text: str) -> str:
    file = folder / "helpers.py"
    file.write_text(text)
    return str(file)


MOVED = {
    "ema = EMA(model)\noptimizer.step()\n": "EMA",
    "self.ema = timm.ModelEmaV2(model)\n": "ModelEmaV2",
    "average = torch.optim.swa_utils.AveragedModel(net)\nscaler.update()\n": "AveragedModel",
    "ema = EMA(model)\nema.update()\n": None,
    "ema = EMA(model)\nif_exists(ema, ema.update)\n": None,
    "ema = EMA(model)\nif_exists(ema, model.update)\n": "EMA",
    "ema = EMA(model)\ndef f(model_ema):\n    model_ema.update_parameters(1)\n": None,
    "follower = EMA(model)\nfollower.step()\n": None,
    "beta = EMA(0.99)\nnew = beta(old, now)\n": None,
    "losses = MovingAverageMeter()\n": None,
    "norm = EMANorm(3)\n": None,
    "ema = ema_of(model)\n": None,
}


@pytest.mark.parametrize("text", MOVED)
def test_an_average_is_made_and_no_update_of_it_is_called(text: str, tmp_path: Path) -> None:
    found = uncalled.average((written(tmp_path, text),))
    assert (found and found.name) == MOVED[text]


COPIED = "self.target = copy.deepcopy(self.net)\n"
FILLED = "target_net = Net()\ntarget_net.load_state_dict(net.state_dict())\n"
LEFT_BEHIND = {
    COPIED + "loss = f(self.target(x))\n": "target",
    FILLED + "for x in data:\n    f(target_net(x))\n": "target_net",
    FILLED + "for p in target_net.parameters():\n    p.requires_grad = False\ntarget_net(x)\n": "target_net",
    FILLED + "def save():\n    torch.save(target_net.state_dict())\ntarget_net.forward(x)\n": "target_net",
    UPDATE + "ema_net = Net()\nupdate_ema(ema_net, net)\nema_net(x)\n": "ema_net",
    "slow = Net()\nfor p, q in zip(slow.parameters(), net.parameters()):\n    p.data.copy_(q)\nslow(x)\n": "slow",
    # it may change after all
    FILLED + "while step < 9:\n    target_net(x)\n    f(net.parameters())\n    follow(target_net, net)\n": None,
    FILLED + "for x in data:\n    target_net(x)\n    target_net.load_state_dict(net.state_dict())\n": None,
    FILLED + "for x in data:\n    target_net(x)\n    follow(target_net, net)\n": None,
    COPIED + "self.target(x)\ndef learn(self):\n    self.follow(self.net, self.target)\n": None,
    COPIED + "self.target(x)\ndef nets(self):\n    return self.net, self.target\n": None,
    COPIED + "self.target(x)\ndef refresh(self):\n    self.target = copy.deepcopy(self.net)\n": None,
    "def fit(net):\n    target = copy.deepcopy(net)\n    f(target(x))\nfor x in data:\n    fit(net)\n": None,
    # it is no copy, is not called, or has no such name
    "self.target = Net()\nself.target(x)\n": None,
    "target_net = Net()\ntarget_net.load_state_dict(torch.load(file))\ntarget_net(x)\n": None,
    COPIED + "f(self.net(x))\n": None,
    "reference = copy.deepcopy(net)\nreference(x)\n": None,
    "targets = copy.deepcopy(labels)\ntargets.to(device)\n": None,
}


@pytest.mark.parametrize("text", LEFT_BEHIND)
def test_a_copy_that_should_follow_is_left_behind(text: str, tmp_path: Path) -> None:
    found = behind.left_behind((written(tmp_path, text),))
    assert (found and found.name) == LEFT_BEHIND[text]


UPDATED = "target_net = copy.deepcopy(net)\nfor x in data:\n    target_net.load_state_dict(net.state_dict())\n"
SOFT = "self.q_target = Net()\nself.q_target.load_state_dict(self.q.state_dict())\n"
SOFT += "def soft(self):\n    for a, b in zip(self.q_target.parameters(), self.q.parameters()):\n"
SOFT += "        a.data.lerp_(b, 0.1)\n"
NEVER_ASKED = {
    UPDATED: ("target_net", "net"),
    UPDATED + "target_net.eval()\ntarget_net.requires_grad_(False)\nprint(target_net)\n": ("target_net", "net"),
    SOFT: ("q_target", "q"),
    "q_targ = Net()\nq_targ.eval()\nfor x in data:\n    soft_update(q_targ, q, 0.1)\n": ("q_targ", "q"),
    "q_targ = Net()\nq_targ.eval()\nfor x in data:\n    soft_update(q, q_targ, tau)\n": ("q_targ", "q"),
    "def soft_update(target, net):\n    pass\ntarget = Net()\ntarget.eval()\nsoft_update(target, q, tau)\n": (
        "target",
        "q",
    ),
    # it is asked, or may be
    UPDATED + "y = target_net(x)\n": None,
    UPDATED + "y = target_net.forward(x)\n": None,
    UPDATED + "y = target_net.values(x)\n": None,
    UPDATED + "y = learn(net, target_net, x)\n": None,
    UPDATED + "nets = [net, target_net]\n": None,
    UPDATED + "def target(self):\n    return self.target_net\n": None,
    SOFT + "def f(self, x):\n    return self.q_target(x)\n": None,
    # it follows nothing, several, or has no such name
    "target_net = copy.deepcopy(net)\ntarget_net.eval()\n": None,
    UPDATED + "target_net.load_state_dict(other.state_dict())\n": None,
    "ema = copy.deepcopy(net)\nfor x in data:\n    ema.load_state_dict(net.state_dict())\n": None,
    "target_ema_updater = EMA(0.9)\nfor x in data:\n    update_target(target_ema_updater, net)\n": None,
    "targets = Labels()\nfor x in data:\n    targets.load_state_dict(net.state_dict())\n": None,
}


@pytest.mark.parametrize("text", NEVER_ASKED)
def test_a_target_network_is_kept_up_to_date_and_never_asked(text: str, tmp_path: Path) -> None:
    found = targets.never_asked((written(tmp_path, text),))
    assert (found and (found.name, found.follows)) == NEVER_ASKED[text]


@pytest.mark.parametrize(
    ("call", "line"),
    [("net(next_x)", 5), ("net(x2)", 5), ("net(torch.cat([s_, a], 1))", 5), ("net(x)", None), ("other(next_x)", None)],
)
def test_the_line_that_asks_the_trained_network_instead(call: str, line: int | None, tmp_path: Path) -> None:
    text = UPDATED + f"def learn():\n    y = {call}\n    loss(net(x), y).backward()\n"
    found = targets.never_asked((written(tmp_path, text),))
    assert found is not None and (found.instead and found.instead.line) == line


RATES = {
    "def f(step):\n    return args.lr * step ** -0.5\n": "f(step)",
    "f = lambda epoch: 0.1 * learning_rate\n": "lambda(epoch)",
    "def f(step):\n    if step < 3:\n        return base_lr * step / 3\n    return 1.0\n": "f(step)",
    "def f(step):\n    return step ** -0.5\n": None,
    "def f(step):\n    return args.lr_decay * step\n": None,
    "def f(step):\n    print(args.lr * 2)\n    return 0.5\n": None,
    "def f():\n    return args.lr * 2\n": None,
}


@pytest.mark.parametrize("text", RATES)
def test_a_function_returns_a_product_with_the_learning_rate(text: str, tmp_path: Path) -> None:
    found = timetables.gives_rate(written(tmp_path, text), 1)
    assert (found and found[0]) == RATES[text]


BY_EPOCH = {
    "f = lambda epoch: 0.95 ** epoch\n": "lambda epoch: 0.95 ** epoch",
    "def f(epoch):\n    return 0.1 ** (epoch // 30)\n": "f(epoch)",
    "f = lambda epoch: 1 - epoch / num_epochs\n": "lambda epoch: 1 - epoch / num_epochs",
    "f = lambda epoch: 1 - epoch / (num_epochs * len(loader))\n": "",
    "f = lambda epoch: min(1, epoch / warmup_steps)\n": "",
    "f = lambda epoch: 0.9995 ** epoch\n": "",
    "f = lambda epoch: 0.5 ** (epoch // 20000)\n": "",
    "f = lambda e: 0.95 ** e\n": "",
    "def f():\n    return 0.95\n": "",
}


@pytest.mark.parametrize("text", BY_EPOCH)
def test_a_function_is_asked_for_the_epoch_by_the_name_that_a_loop_gives_it(text: str, tmp_path: Path) -> None:
    assert timetables.argument_in_epochs(written(tmp_path, text), 1, "epoch") == BY_EPOCH[text]


def test_a_name_of_anything_else_is_no_epoch(tmp_path: Path) -> None:
    assert timetables.argument_in_epochs(written(tmp_path, "f = lambda x: 0.95 ** x\n"), 1, "x") == ""


SHOWN = {
    "if i % print_freq == 0:\n    update_ema(net, teacher)\n    print(loss)\n": (2, "average"),
    "if i % args.log_interval == 0:\n    writer.add_scalar('loss', loss)\n    self.ema.update()\n": (3, "average"),
    "if (i + 1) % cfg.display == 0:\n    logger.info(loss)\n    scheduler.step()\n": (3, "schedule"),
    "if (i + 1) % log_every == 0:\n    print(loss)\n    optimizer_g.step()\n": (3, "optimizer"),
    "if improved:\n    torch.save(net.state_dict(), path)\n    scheduler.step()\n": (3, "schedule"),
    "if is_best:\n    save_checkpoint(net)\n    self.lr_scheduler.step()\n": (3, "schedule"),
    "if acc > best_acc:\n    save(net)\n    scheduler.step()\n": (3, "schedule"),
    "if acc > best_acc:\n    best_acc = acc\n    scheduler.step()\n": None,
    "if not improved:\n    save(net)\n    scheduler.step()\n": None,
    "if i % print_freq == 0:\n    update_ema(net, teacher)\n": None,
    "if i % accumulate == 0:\n    print(loss)\n    optimizer.step()\n": None,
    "if i % print_freq == 0:\n    print(loss)\n    average.update(loss.item())\n": None,
    "if i % print_freq == 0:\n    print(loss)\n    average_loss.update(loss, n)\n": None,
    "if i % print_freq == 0:\n    print(loss)\n    scheduler.step(loss)\n": None,
    "if i % print_freq == 0:\n    print(loss)\n    prof.step()\n": None,
    "update_ema(a, b)\nif i % print_freq == 0:\n    print(loss)\n    update_ema(a, c)\n": None,
    "if i % print_freq == 0:\n    print(loss)\nupdate_ema(a, b)\n": None,
}


@pytest.mark.parametrize("text", SHOWN)
def test_what_each_step_needs_stands_where_something_is_shown(text: str, tmp_path: Path) -> None:
    found = printing.found([written(tmp_path, text)])
    assert (found and (found.where.line, found.what)) == SHOWN[text]


OUTSIDE = {
    "for p in net.parameters():\n    n = p.norm()\np.data.div_(n)\n": (3, "p"),
    "for a, b in zip(x.parameters(), y.parameters()):\n    m = a + b\na.data.copy_(m)\n": (3, "a"),
    "for n, p in net.named_parameters():\n    print(n)\np.requires_grad = False\n": (3, "p"),
    "for p in net.parameters():\n    total += p.grad.norm()\np.grad *= limit / total\n": (3, "p"),
    "for p in net.parameters():\n    n = p.norm()\nprint(n)\nx.data.div_(n)\n": None,
    "for p in net.parameters():\n    if p.dim() > 1:\n        break\np.data.div_(2)\n": None,
    "for p in net.parameters():\n    p.data.div_(2)\nprint(p)\n": None,
    "for p in data:\n    n = f(p)\np.data.div_(n)\n": None,
    "for p in net.parameters():\n    n = p.norm()\np = p.data.div(n)\n": None,
    "for p in a.parameters():\n    f(p)\nfor p in b.parameters():\n    p.data.div_(2)\n": None,
}


@pytest.mark.parametrize("text", OUTSIDE)
def test_a_line_behind_a_loop_changes_the_last_parameter(text: str, tmp_path: Path) -> None:
    found = outside.found([written(tmp_path, text)])
    assert (found and (found.where.line, found.name)) == OUTSIDE[text]


def _summed(behind: str, together: str = "loss = a + 0.1 * b + c") -> str:
    head = "a = b = c = 0\nfor x in parts:\n    a += f(x)\n    b += g(x)\n    c += h(x)\n"
    return f"{head}{behind}{together}\nloss.backward()\n"


APART = {
    _summed("a /= n\nb /= n\n"): (8, "c", "n"),
    _summed("a /= n\nc = c / n\n", "loss = c + (a + b * w)"): (8, "b", "n"),
    _summed("a /= n\nb /= n\nc /= n\n"): None,
    _summed("a /= n\n"): None,
    _summed("a /= n\nb /= m\n"): None,
    _summed("a /= n\nb /= n\n", "loss = a + b + c / n"): None,
    _summed("a /= n\nb /= n\n", "loss = a + b"): None,
    _summed("a /= n\nb /= n\n").replace("loss.backward()", "print(loss)"): None,
    _summed("a /= n\nb /= n\n").replace("c += h(x)", "c += 1"): None,
    _summed("").replace("    c +=", "    a /= n\n    b /= n\n    c +="): None,
}


@pytest.mark.parametrize("text", APART)
def test_one_of_several_sums_of_a_loop_is_not_divided(text: str, tmp_path: Path) -> None:
    found = divisions.left_apart((written(tmp_path, text),))
    assert (found and (found.where.line, found.name, found.by)) == APART[text]


def _draws(first: str, second: str = "z = there.rsample()", more: str = "") -> str:
    return f"def f(x):\n    {first}\n    loss = net(z)\n    {second}\n{more}    return loss + net(z)\n"


DRAWN = {
    _draws("z = here.sample()"): (2, 4),
    _draws("z = here.rsample()"): None,
    _draws("z = here.sample()", "y = there.rsample()"): None,
    _draws("z = here.sample()", more="    loss += here.log_prob(z)\n"): None,
    f"@torch.no_grad()\n{_draws('z = here.sample()')}": None,
    _draws("with torch.no_grad():\n        z = here.sample()"): None,
    "def f(x):\n    if fixed:\n        z = d.sample()\n    else:\n        z = d.rsample()\n    return z\n": None,
}


@pytest.mark.parametrize("text", DRAWN)
def test_a_name_is_drawn_without_a_graph_and_with_one(text: str, tmp_path: Path) -> None:
    found = samples.drawn_beside([written(tmp_path, text)])
    assert (found and (found[0].line, found[1].line)) == DRAWN[text]


def _rounds(loss: str = "loss = f(x)", divided: str = "        loss /= k\n", test: str = "n == k") -> str:
    return f"for x in data:\n    {loss}\n    n += 1\n    if {test}:\n{divided}        loss.backward()\n"


ROUNDS = {
    _rounds(): 2,
    _rounds(test="n % k == 0"): 2,
    _rounds(divided="        loss = loss / k\n"): 2,
    _rounds(loss="loss += f(x)"): None,
    _rounds(loss="loss = loss + f(x)"): None,
    _rounds(loss="loss = rest"): None,
    _rounds(divided="        loss /= m\n"): None,
    _rounds(divided="        pass\n"): None,
    _rounds(test="n > k"): None,
    # by a quotient inside another one
    "for i in range(k):\n    loss = f(x, i)\n    loss = loss / k / 2\n    seen += loss.item()\nloss.backward()\n": 2,
    "for i in range(k):\n    loss = f(x, i)\n    loss = loss / 2 / k\nloss.backward()\n": 2,
    "for i in range(k):\n    loss = f(x, i)\n    loss = loss / 2 / m\nloss.backward()\n": None,
    "for i in range(k):\n    total += f(x, i)\n    loss = total / k / 2\nloss.backward()\n": None,
}


@pytest.mark.parametrize("text", ROUNDS)
def test_the_last_loss_of_several_rounds_is_divided_by_their_number(text: str, tmp_path: Path) -> None:
    file = written(tmp_path, text)
    found = lastones.taken(((file, text.count("\n")),))
    assert (found and found.line) == ROUNDS[text]


RATE = "def set_rate(o, step):\n    o.param_groups[0]['lr'] = 0.1 / step\n\n\ndef train():\n"
BY_PASSES = {
    "    if i % k == 0:\n        set_rate(optimizer, i)\n        optimizer.step()\n        print(i // k)\n": 7,
    "    if i % k == 0:\n        set_rate(optimizer, i // k)\n        optimizer.step()\n        print(i // k)\n": None,
    "    if i % k == 0:\n        set_rate(optimizer, i)\n        optimizer.step()\n": None,
    "    if i % k == 0:\n        show(optimizer, i)\n        optimizer.step()\n        print(i // k)\n": None,
    "    if i % k == 0:\n        set_rate(optimizer, i)\n        print(i // k)\n": None,
}


BY_TWO_LOOPS = (
    "def set_rate(o, i):\n    o.param_groups[0]['lr'] = 0.1 * (1 - i / args.steps)\n\n\ndef train():\n"
    "    for i in range({}):\n        for k in range(size):\n            {}\n            set_rate(optimizer, {})\n"
    "            loss.backward()\n{}        optimizer.step()\n"
)
BY_PASSES |= {
    BY_TWO_LOOPS.format("args.steps", "n = i * size + k", "n", ""): 9,
    BY_TWO_LOOPS.format("args.steps", "pass", "size * i + k", ""): 9,
    # by the step; of a loop whose turns it does not know; by another product; where each micro-batch is stepped
    BY_TWO_LOOPS.format("args.steps", "n = i * size + k", "i", ""): None,
    BY_TWO_LOOPS.format("epochs", "n = i * size + k", "n", ""): None,
    BY_TWO_LOOPS.format("args.steps", "n = i * other + k", "n", ""): None,
    BY_TWO_LOOPS.format("args.steps", "n = i * size + k", "n", "            optimizer.step()\n"): None,
}


RETURNED = (
    "def rate(step, warmup_steps):\n    return min(1, step / warmup_steps)\n\n\ndef train():\n"
    "    while done < n:\n        for k in range(size):\n            {}\n            for g in o.param_groups:\n"
    "                g['lr'] = lr\n            loss.backward()\n        optimizer.step()\n        done += 1\n"
)
BY_PASSES |= {
    RETURNED.format("lr = rate(done * size + k, args.warmup_steps)"): 8,
    # the warm-up in micro-batches as well; by the step; what is given is no rate
    RETURNED.format("lr = rate(done * size + k, args.warmup_steps * size)"): None,
    RETURNED.format("lr = rate(done, args.warmup_steps)"): None,
    RETURNED.format("x = rate(done * size + k, args.warmup_steps)"): None,
}


@pytest.mark.parametrize("text", BY_PASSES)
def test_a_rate_is_set_by_a_count_of_micro_batches(text: str, tmp_path: Path) -> None:
    found = timetables.rate_by_passes([written(tmp_path, text if text.startswith("def") else RATE + text)])
    assert (found and found.where.line) == BY_PASSES[text]


GUESSED = {
    "pseudo_label": True,
    "soft_pseudo_label": True,
    "guessed_targets": True,
    "u_soft_targets_1": True,
    "targets_u": True,
    "pseudo_label_loss": False,
    "pseudo_logits": False,
    "targets": False,
    "soft_labels_and_hard_ones": False,
}


@pytest.mark.parametrize("name", GUESSED)
def test_names_of_labels_that_a_model_guesses(name: str) -> None:
    assert bool(lossfacts._GUESSED.search(name)) is GUESSED[name]


HALVED = {
    "loss = loss_real + loss_fake / 2\nloss.backward()\n": (1, "loss_real", "loss_fake"),
    "loss = loss_real + 0.5 * loss_fake\nloss.backward()\n": (1, "loss_real", "loss_fake"),
    "loss = loss_fake * 0.5 + loss_real\nloss.backward()\n": (1, "loss_real", "loss_fake"),
    "loss = self.loss_i2t + self.loss_t2i / 2\nloss.backward()\n": (1, "self.loss_i2t", "self.loss_t2i"),
    "d_loss = dRealLoss + dFakeLoss / 2\nd_loss.backward()\n": (1, "dRealLoss", "dFakeLoss"),
    # halved together, each, or neither; by another number; of two kinds; no losses; or nothing goes backward
    "loss = (loss_real + loss_fake) / 2\nloss.backward()\n": None,
    "loss = loss_real / 2 + loss_fake / 2\nloss.backward()\n": None,
    "loss = loss_real + loss_fake\nloss.backward()\n": None,
    "loss = loss_real + loss_fake / 4\nloss.backward()\n": None,
    "loss = loss_real - loss_fake / 2\nloss.backward()\n": None,
    "loss = loss_real + 2 / loss_fake\nloss.backward()\n": None,
    "loss = recon_loss + kl_loss / 2\nloss.backward()\n": None,
    "loss = loss_real + loss_real / 2\nloss.backward()\n": None,
    "loss = loss + loss_fake / 2\nloss.backward()\n": None,
    "at = left + right / 2\nloss.backward()\n": None,
    "loss = f(loss_real) + loss_fake / 2\nloss.backward()\n": None,
    "print(loss_real + loss_fake / 2)\n": None,
}


@pytest.mark.parametrize("text", HALVED)
def test_one_of_two_losses_of_a_kind_is_halved(text: str, tmp_path: Path) -> None:
    found = divisions.halved_alone((written(tmp_path, text),))
    assert (found and (found.where.line, found.name, *found.others)) == HALVED[text]


SUMS = {
    "kl = -0.5 * torch.sum(1 + v - m ** 2)\n": 1,
    "def f(v):\n    return (v ** 2).sum()\n": 2,
    "loss = mse_loss(x, y, reduction='sum')\n": 1,
    "a = F.mse_loss(x, y)\nb = torch.sum(\n    v ** 2\n)\n": 2,
    # over a dimension, divided, averaged, a count or a number that is shown, or no assignment
    "kl = torch.sum(v ** 2, dim=1)\n": None,
    "kl = torch.sum(v ** 2, 1)\n": None,
    "kl = v.sum(dim=-1)\n": None,
    "kl = v.sum(1)\n": None,
    "kl = v.sum() / len(x)\n": None,
    "kl = v.sum().div(n)\n": None,
    "kl = v.sum(1).mean() + w.sum()\n": None,
    "total = v.sum().item()\n": None,
    "right = (out == y).sum()\n": None,
    "loss = mse_loss(x, y, reduction='mean')\n": None,
    "print(v.sum())\n": None,
    "all = sum(losses)\n": None,
    # two of them: it is not known which
    "a = v.sum()\nb = w.sum()\n": None,
}


@pytest.mark.parametrize("text", SUMS)
def test_the_one_line_with_a_sum_that_nothing_divides(text: str, tmp_path: Path) -> None:
    found = reduced.written_at([written(tmp_path, text)])
    assert (found and found.line) == SUMS[text]


DIVIDED = {
    "recon_loss = F.mse_loss(out, x) / x.size(0)\n": 1,
    "a = f(x)\nloss = (kl_loss + a) / x.shape[0]\n": 2,
    "loss = mse_loss(a, b) / len(layers) + other\n": None,
    "loss = l1_loss(a, b) / batch_size\n": 1,
    "return loss_fn(a, b) / (self.batchsize * 2)\n": 1,
    "kl_loss = kl_loss / B\n": 1,
    # a sum, a number that is shown or gathered, no loss, another number, or two such lines
    "loss = mse_loss(a, b).sum() / x.size(0)\n": None,
    "loss = mse_loss(a, b, reduction='none') / x.size(0)\n": None,
    "shown = loss.item() / len(loader)\n": None,
    "total_loss += loss / len(loader)\n": None,
    "mean = total / len(x)\n": None,
    "loss = mse_loss(a, b) / steps\n": None,
    "loss = mse_loss(a, b) / x.size(1)\n": None,
    "a_loss = a / len(x)\nb_loss = b / len(x)\n": None,
}


@pytest.mark.parametrize("text", DIVIDED)
def test_the_one_line_that_divides_a_loss_by_the_number_of_rows(text: str, tmp_path: Path) -> None:
    found = reduced.divided_at([written(tmp_path, text)])
    assert (found and found.line) == DIVIDED[text]


ANEW = "for epoch in range(3):\n    global_step = 0\n    for x in data:\n        {0}\n        global_step += 1\n"
WARMS = "rate = min(1, global_step / 9)"
IN_CALL = "def run_epoch(self):\n    self.global_step = 0\n    for x in data:\n"
IN_CALL += "        self.follow(1 - 1 / (self.global_step + 1))\n        self.global_step = self.global_step + 1\n"
ONE_EPOCH = "def one(epoch):\n    run_epoch(model)\n"
FOLLOWS = "def {0}(net, slow, global_step):\n    keep = min(1 - 1 / (global_step + 1), 0.99)\n    mix(slow, keep)\n"
TAKES_STEPS = "for epoch in range(3):\n    for x in data:\n        {0}\n"
BEGUN_ANEW = {
    ANEW.format(WARMS): (2, "global_step"),
    ANEW.format("ema.update(decay(global_step))"): (2, "global_step"),
    ANEW.format(WARMS).replace("global_step", "global_iter"): (2, "global_iter"),
    IN_CALL + "def main():\n    for epoch in range(3):\n        trainer.run_epoch()\n": (2, "self.global_step"),
    IN_CALL + f"{ONE_EPOCH}for epoch in range(3):\n    one(epoch)\n": (2, "self.global_step"),
    # set once, or in another loop; shown alone, or an end; counted nowhere; of the steps of one epoch by its name
    f"global_step = 0\nfor epoch in range(3):\n    for x in data:\n        {WARMS}\n        global_step += 1\n": None,
    ANEW.format(WARMS).replace("epoch in range(3)", "seed in seeds"): None,
    ANEW.format("print(global_step)"): None,
    ANEW.format("writer.add_scalar('loss', loss, global_step)"): None,
    ANEW.format("text = f'{global_step} of {most}'"): None,
    ANEW.format("if global_step > most: break"): None,
    ANEW.format("pass"): None,
    ANEW.format(WARMS).replace("        global_step += 1\n", ""): None,
    ANEW.format(WARMS).replace("global_step", "batch_step"): None,
    ANEW.format(WARMS).replace("global_step", "total_steps"): None,
    ANEW.format("rate(epoch * len(data) + global_step)"): None,
    ANEW.format("kept = {'step': global_step}"): None,
    ANEW.format(WARMS).replace("= 0", "= epoch * len(data)"): None,
    IN_CALL: None,
    IN_CALL + "def main():\n    for seed in seeds:\n        trainer.run_epoch()\n": None,
    IN_CALL.replace("run_epoch", "__init__") + "for epoch in range(3):\n    T.__init__(t)\n": None,
    # the number of the epoch stands for that of all steps, but where it is only shown
    FOLLOWS.format("follow") + TAKES_STEPS.format("follow(net, slow, epoch)"): (6, "epoch"),
    FOLLOWS.format("follow") + TAKES_STEPS.format("follow(net, slow, step)"): None,
    FOLLOWS.format("log_norm") + TAKES_STEPS.format("log_norm(net, slow, epoch)"): None,
    FOLLOWS.format("follow") + "for epoch in range(3):\n    follow(net, slow, epoch)\n": None,
}


@pytest.mark.parametrize("text", BEGUN_ANEW)
def test_a_counter_of_all_steps_begins_anew_in_each_epoch(text: str, tmp_path: Path) -> None:
    found = counters.begun_anew((written(tmp_path, text),))
    assert (found and (found.where.line, found.name)) == BEGUN_ANEW[text]


SETS_RATE = "def adjust(optimizer, epoch):\n    for g in optimizer.param_groups:\n        g['lr'] = 0.1 ** epoch\n"
IN_STEPS_OF_EPOCHS = "for epoch in range(3):\n    for i, x in enumerate(data):\n        {0}\n        step += 1\n"
GIVEN_FOR_EPOCHS = {
    SETS_RATE + IN_STEPS_OF_EPOCHS.format("adjust(optimizer, step)"): (6, "step"),
    SETS_RATE + IN_STEPS_OF_EPOCHS.format("adjust(optimizer, self.global_step)"): (6, "self.global_step"),
    SETS_RATE + IN_STEPS_OF_EPOCHS.format("adjust(optimizer, batch_idx)"): (6, "batch_idx"),
    SETS_RATE + IN_STEPS_OF_EPOCHS.replace("(data)", "(data, start=epoch * n)").format("adjust(optimizer, step)"): (
        6,
        "step",
    ),
    SETS_RATE.replace("optimizer, epoch", "self, current_epoch")
    + IN_STEPS_OF_EPOCHS.format("self.adjust(total_iter)"): (6, "total_iter"),
    # an epoch, a part of one, something else; a function that takes steps, or that sets no rate
    SETS_RATE + IN_STEPS_OF_EPOCHS.format("adjust(optimizer, epoch)"): None,
    SETS_RATE + IN_STEPS_OF_EPOCHS.format("adjust(optimizer, epoch + i / len(data))"): None,
    SETS_RATE + IN_STEPS_OF_EPOCHS.format("adjust(optimizer, step // len(data))"): None,
    SETS_RATE + IN_STEPS_OF_EPOCHS.format("adjust(optimizer)"): None,
    SETS_RATE + IN_STEPS_OF_EPOCHS.format("other(optimizer, step)"): None,
    SETS_RATE.replace("epoch", "step") + IN_STEPS_OF_EPOCHS.format("adjust(optimizer, step)"): None,
    SETS_RATE.replace("g['lr'] =", "rate =") + IN_STEPS_OF_EPOCHS.format("adjust(optimizer, step)"): None,
    IN_STEPS_OF_EPOCHS.format("adjust(optimizer, step)"): None,
}


@pytest.mark.parametrize("text", GIVEN_FOR_EPOCHS)
def test_a_step_is_handed_to_what_sets_the_rate_by_epochs(text: str, tmp_path: Path) -> None:
    found = counters.given_for_epochs((written(tmp_path, text),))
    assert (found and (found.where.line, found.name)) == GIVEN_FOR_EPOCHS[text]


SAVED = "torch.save({'model': model.state_dict(), 'opt_state': optimizer.state_dict()}, path)\n"
RESTORES = "def resume(ckpt):\n    if '{0}' in ckpt:\n        optimizer.load_state_dict(ckpt['{0}'])\n"
ASKED_IN_VAIN = {
    SAVED + RESTORES.format("opt"): (3, "optimizer", "opt", "opt_state"),
    SAVED.replace("optimizer.", "self.optimizer.") + RESTORES.format("opt"): (3, "optimizer", "opt", "opt_state"),
    "state = dict(opt_state=optimizer.state_dict())\nstate['epoch'] = 1\ntorch.save(state, path)\n"
    + RESTORES.format("opt"): (5, "optimizer", "opt", "opt_state"),
    # by its own key; without a condition; two keys, an old one and a new one; set behind; not all of it in the text
    SAVED + RESTORES.format("opt_state"): None,
    SAVED + "optimizer.load_state_dict(ckpt['opt'])\n": None,
    SAVED + RESTORES.format("opt") + RESTORES.format("opt_state"): None,
    "state = dict(opt_state=optimizer.state_dict())\nstate['opt'] = 1\ntorch.save(state, path)\n"
    + RESTORES.format("opt"): None,
    SAVED + "torch.save(everything(), path)\n" + RESTORES.format("opt"): None,
    SAVED.replace("{'model'", "{**more, 'model'") + RESTORES.format("opt"): None,
    # another object's state; nothing is saved at all, or a state alone
    SAVED + RESTORES.format("opt").replace("optimizer.", "ema."): None,
    RESTORES.format("opt"): None,
    "torch.save(optimizer.state_dict(), path)\n" + RESTORES.format("opt"): None,
}


@pytest.mark.parametrize("text", ASKED_IN_VAIN)
def test_a_state_is_asked_for_by_another_key_than_it_is_saved_by(text: str, tmp_path: Path) -> None:
    found = restored.asked_for_in_vain((written(tmp_path, text),))
    assert (found and (found.where.line, found.of, found.key, found.saved)) == ASKED_IN_VAIN[text]


KEEPS = "torch.save({'model': m.state_dict(), 'optim': optimizer.state_dict(), 'epoch': e}, path)\n"
LOOP = "for e in range(start, 9):\n    train()\n"
GOES_ON = f"ckpt = torch.load(path)\nm.load_state_dict(ckpt['model'])\nstart = ckpt['epoch']\n{LOOP}"
RESUMES = (
    "def resume(path, m, optimizer=None):\n    ckpt = torch.load(path)\n    m.load_state_dict(ckpt['model'])\n"
    "    if optimizer is not None:\n        optimizer.load_state_dict(ckpt['optim'])\n    return ckpt['epoch']\n"
)
LEFT_IN_CHECKPOINT = {
    KEEPS + GOES_ON: (3, "optimizer", "optim"),
    KEEPS.replace("'epoch'", "'global_step'") + GOES_ON.replace("epoch", "global_step"): (3, "optimizer", "optim"),
    KEEPS + GOES_ON.replace("start = ", "self.at = 1 + ").replace(LOOP, "while self.at < 9:\n    train()\n"): (
        3,
        "optimizer",
        "optim",
    ),
    "def resume():\n    " + GOES_ON.replace("\n", "\n    ") + "pass\n" + KEEPS: (3, "optimizer", "optim"),
    # it is loaded; for an evaluation; of another object; nothing is saved
    KEEPS + GOES_ON + "optimizer.load_state_dict(ckpt['optim'])\n": None,
    KEEPS + GOES_ON + "for key, one in held.items():\n    one.load(ckpt['optim'])\n": None,
    KEEPS + GOES_ON + "self.optimizer.load_state_dict(everything)\n": None,
    KEEPS + GOES_ON.replace("start = ckpt['epoch']\n", ""): None,
    KEEPS + GOES_ON.replace(LOOP, "print(start)\n"): None,
    KEEPS + GOES_ON.replace("start = ckpt['epoch']", "print(ckpt['epoch'])"): None,
    KEEPS + GOES_ON.replace("start = ckpt", "start = other"): None,
    KEEPS.replace("optimizer.", "ema.") + GOES_ON: (3, "ema", "optim"),
    KEEPS.replace("optimizer.", "schedule.") + GOES_ON + "schedule.step()\n": (3, "schedule", "optim"),
    # a scheduler that is told where it stands, or brought there; what a run does not gather
    KEEPS.replace("optimizer.", "schedule.")
    + GOES_ON
    + "schedule = StepLR(o, 2, last_epoch=start)\nschedule.step()\n": None,
    KEEPS.replace("optimizer.", "schedule.") + GOES_ON + "schedule.step()\nschedule.step()\n": None,
    KEEPS.replace("optimizer.", "best.") + GOES_ON: None,
    GOES_ON: None,
    # a function loads it where it is given the object
    KEEPS + RESUMES + "start = resume(path, m)\n" + LOOP: (8, "optimizer", "optim"),
    KEEPS + RESUMES + "start = resume(m=m, path=path)\n" + LOOP: (8, "optimizer", "optim"),
    KEEPS + RESUMES.replace("resume(path", "resume(self, path") + "start = t.resume(path, m)\n" + LOOP: (
        8,
        "optimizer",
        "optim",
    ),
    KEEPS + RESUMES + "start = resume(path, m, opt)\n" + LOOP: None,
    KEEPS + RESUMES + "start = resume(path, m, optimizer=opt)\n" + LOOP: None,
    KEEPS + RESUMES + "start = resume(path, **held)\n" + LOOP: None,
    KEEPS + RESUMES + "start = resume(path, m)\nprint(start)\n": None,
    KEEPS + RESUMES + "resume(path, m)\n" + LOOP: None,
    KEEPS + RESUMES + "start = resume(path, m)\nopt.load_state_dict(torch.load(path)['optim'])\n" + LOOP: None,
    RESUMES + "start = resume(path, m)\n" + LOOP: None,
}


@pytest.mark.parametrize("text", LEFT_IN_CHECKPOINT)
def test_a_run_goes_on_without_the_state_of_its_optimizer(text: str, tmp_path: Path) -> None:
    found = restored.left_behind((written(tmp_path, text),))
    assert (found and (found.where.line, found.of, found.saved)) == LEFT_IN_CHECKPOINT[text]


BETWEEN = "def train(x):\n    out = net(x)\n    {0}\n    loss = f(out)\n    loss.backward()\n    p.data.mul_(2)\n"
WRITTEN_BETWEEN = {
    BETWEEN.format("p.data.mul_(0.9)"): (3,),
    BETWEEN.format("p.data = p.data * 0.9"): (3,),
    BETWEEN.format("p.data[0] += 1"): (3,),
    BETWEEN.format("w = p.data.numpy()"): (3,),
    BETWEEN.format("w = p.detach().numpy()"): (3,),
    BETWEEN.format("p.copy_(q)"): (3,),
    BETWEEN.format("y = p.data"): (),
    BETWEEN.format("if p.data == 3: pass"): (),
    BETWEEN.format("p.grad.data.mul_(0.9)"): (),
    BETWEEN.format("pass  # p.data.mul_(0.9)"): (),
    "def train(x):\n    out = net(x)\n    p.data.mul_(0.9)\n    return out\n": (),
}


BOTH = "    net(x).sum().backward()\n"
WRITTEN_BETWEEN |= {  # another model's loss may go backward first
    "def train(x):\n    out = g(x)\n" + BOTH + "    p.data.mul_(0.9)\n    out.sum().backward()\n": (4,),
    "def train(x):\n    out = g(x)\n    p.data.mul_(2)\n" + BOTH + "    p.data.mul_(3)\n    out.backward()\n": (3, 5),
}


@pytest.mark.parametrize("text", WRITTEN_BETWEEN)
def test_lines_between_a_forward_and_a_backward_write_to_tensors(text: str, tmp_path: Path) -> None:
    assert midway.writes_behind(written(tmp_path, text), 2) == WRITTEN_BETWEEN[text]


CLIPS_BESIDE = {
    "clip_grad_norm_(model.head.parameters(), c)\nclip_grad_norm_(model.parameters(), c)\n": 2,
    "clip_grad_norm_(model.parameters(), c)\nclip_grad_norm_(model.head.parameters(), c)\n": None,
    "clip_grad_norm_(model.head.parameters(), 1)\nclip_grad_norm_(model.parameters(), c)\n": None,
    "clip_grad_norm_(model.head.parameters(), c)\nclip_grad_norm_(model.body.parameters(), c)\n": None,
    "clip_grad_norm_(model_b.parameters(), c)\nclip_grad_norm_(model.parameters(), c)\n": None,
    "clip_grad_norm_(model.head.parameters(), c)\n": None,
}


@pytest.mark.parametrize("text", CLIPS_BESIDE)
def test_another_line_clips_the_whole_by_the_same_limit(text: str, tmp_path: Path) -> None:
    assert source.whole_is_clipped(written(tmp_path, text), 1) == CLIPS_BESIDE[text]


PICKS = {
    "opt = SGD([p for p in net.parameters() if p.ndim > 1])\n": True,
    "w = [p for p in net.parameters() if p.dim() >= 2]\nopt = SGD(w)\n": True,
    "w = [p for p in net.parameters() if len(p.shape) != 1]\nopt = SGD(w)\n": True,
    "w = [p for p in ps if p.ndim > 1]\nv = [p for p in ps if not p.ndim > 1]\nopt = SGD(w)\n": False,
    "opt = SGD(net.parameters())\n": False,
}


@pytest.mark.parametrize("text", PICKS)
def test_the_text_picks_parameters_by_their_dimensions_once(text: str, tmp_path: Path) -> None:
    file = written(tmp_path, text)
    assert making.by_dimensions(Place(file, text.count("\n"), "<module>")) is PICKS[text]


CUTS = {
    "def penalty(x):\n    g = grad(x)\n    return g.data.norm()\n\nloss = f(y) + penalty(x)\n": 3,
    "def penalty(x):\n    return grad(x).detach().norm()\n\np = penalty(x)\nloss = f(y) + p\n": 2,
    "@torch.no_grad()\ndef extra(x):\n    return x\n\np = w * extra(x)\nq = p + 1\nloss = f(y) + q\n": 1,
    "def extra(x):\n    with torch.no_grad():\n        return h(x)\n\nloss = f(y) + extra(x)\n": 2,
    "def extra(x):\n    return x.data\n\ndef total(a):\n    return a + 1\n\ntotal(extra(x))\nloss = total(b)\n": None,
    "class A:\n    def give(self):\n        return self.x.detach()\nclass B:\n    def give(self):\n"
    "        return self.x\nloss = a.give() + f(y)\n": 3,
    # where a name on the way got its value
    "def step():\n    with torch.no_grad():\n        z = encode(x)\n    e = z\n    logits = decode(e)\n"
    "    loss = f(y) + bce(logits)\n": 2,
    "def step():\n    e = encode(x).detach()\n    logits = decode(e)\n    loss = f(y) + bce(logits)\n": 2,
    "def step():\n    e = encode(x)\n    with torch.no_grad():\n        z = e\n    loss = f(y) + bce(e)\n": None,
    # in two places; in what is not called; where nothing cuts
    "def extra(x):\n    return x.data\n\ndef more(x):\n    return x.data\nloss = extra(x) + more(x)\n": None,
    "def extra(x):\n    return x.data\n\nloss = f(y) + other(x)\n": None,
    "def extra(x):\n    x.data = y\n    return x\n\nloss = f(y) + extra(x)\n": None,
    "loss = f(y) + 1\n": None,
}


@pytest.mark.parametrize("text", CUTS)
def test_the_one_line_that_takes_a_value_out_of_its_graph(text: str, tmp_path: Path) -> None:
    found = cuts.on_the_way(str(written(tmp_path, text)), text.count("\n"))
    assert (found and found.line) == CUTS[text]


def _layer(after: str, inside: str = "r = self.base(x)", head: str = "torch.no_grad()") -> str:
    return f"class A:\n    def forward(self, x):\n        with {head}:\n            {inside}\n        return {after}\n"


LAYERS_WITHOUT = {
    _layer("r + self.up(self.down(x)) * 2"): ("x", 3),
    _layer("self.up(x) + r", head="torch.inference_mode()"): ("x", 3),
    _layer("torch.cat([r, self.side(x)], dim=1)"): ("x", 3),
    _layer("torch.cat((self.side(x), r), 1)"): ("x", 3),
    _layer("r.add_(self.up(x))"): ("x", 3),
    _layer("r").replace("return r", "y = self.up(x)\n        r += y\n        return r"): ("x", 3),
    _layer("x.add(y)", inside="x = self.base(x)").replace("        with", "        y = self.up(x)\n        with"): (
        "x",
        4,
    ),
    _layer("r"): None,
    _layer("self.head(r)"): None,
    _layer("r + self.bias"): None,
    _layer("x + r + self.up(x)"): None,
    _layer("x + (r - x).detach()"): None,
    _layer("r + self.up(x).detach()"): None,
    _layer("r + self.up(x)", head="torch.enable_grad()"): None,
    _layer("r + self.up(x)", inside="r = quantize(x)"): None,
    _layer("r + self.up(x)", inside="r = self.base(self.y)"): None,
    _layer("r + self.up(x)", inside="r, q = self.base(x)"): None,
}


@pytest.mark.parametrize("text", LAYERS_WITHOUT)
def test_a_layer_under_no_grad_whose_output_goes_on_beside_others(text: str, tmp_path: Path) -> None:
    line = text.count("\n", 0, text.index("with ")) + 2
    assert cuts.layer_without_graph(written(tmp_path, text), line) == LAYERS_WITHOUT[text]


GUARDING = {
    "if not torch.isfinite(loss):\n    o.zero_grad()\n": 1,
    "if math.isnan(norm) or math.isinf(norm):\n    skipped += 1\n    model.zero_grad(set_to_none=True)\n": 1,
    "if loss != loss or loss == float('inf'):\n    o.zero_grad()\n": 1,
    "if step % 4 == 0:\n    o.zero_grad()\n": 0,
    "if finance:\n    o.zero_grad()\n": 0,
    "o.zero_grad()\n": 0,
}


@pytest.mark.parametrize("text", GUARDING)
def test_a_clear_stands_under_a_condition_that_asks_for_what_is_not_finite(text: str, tmp_path: Path) -> None:
    assert len(uncalled.guarding_clears([written(tmp_path, text)])) == GUARDING[text]


SETTING = "def rate(o):\n    o.param_groups[0]['lr'] = 0.1\n"
CALLING = {
    f"{SETTING}rate(o)\n": 3,
    f"{SETTING}class A:\n    def run(self):\n        self.rate(o)\n": 5,
    f"{SETTING}rate(o)\nrate(o)\n": None,
    SETTING: None,
    "x = 1\no.param_groups[0]['lr'] = 0.1\n": None,
}


@pytest.mark.parametrize("text", CALLING)
def test_the_one_line_that_calls_what_a_line_stands_in(text: str, tmp_path: Path) -> None:
    file = written(tmp_path, text)
    found = source.only_call([file], Place(file, 2))
    assert (found and found.line) == CALLING[text]


def test_what_a_function_is_given_is_cut_where_it_was_made(tmp_path: Path) -> None:
    text = (
        "def extra(x):\n    return x.data\n\ndef total(a, b):\n    return a + b\n\nq = extra(x)\nloss = total(c, b=q)\n"
    )
    found = cuts.on_the_way(str(written(tmp_path, text)), 5)
    assert found is not None and found.line == 2


VIEWED = "def f(p):\n    g = p.grad.numpy()\n    {0}\n"
CHANGED_VIEWS = {
    VIEWED.format("g *= g\n    return g.sum()"): (3, True),
    VIEWED.format("g[0] /= 2\n    print(g.max())"): (3, True),
    VIEWED.replace("p.grad.numpy()", "np.asarray(p.grad)").format("g **= 2\n    seen.append(g.mean())"): (3, True),
    VIEWED.format("g *= 0.5"): (3, False),
    VIEWED.format("most = g.max()\n    g /= most"): (4, False),
    VIEWED.format("g = g * g\n    return g.sum()"): None,
    "def f(ps):\n    gs = [p.grad.numpy() for p in ps]\n    for g in gs:\n        g *= 0.5\n": (4, False),
    "def f(ps):\n    gs = [p.grad.numpy() for p in ps]\n    for g in gs:\n        g *= g\n        show(g)\n": (
        4,
        True,
    ),
    VIEWED.replace(".numpy()", ".clone()").format("g *= g\n    return g.sum()"): None,
    VIEWED.format("h *= g\n    return h.sum()"): None,
    VIEWED.format("np.clip(g, -1, 1, out=g)"): (3, False),
    VIEWED.format("n += np.square(g, out=g).sum()"): (3, True),
    VIEWED.format("np.nan_to_num(g, copy=False)"): (3, False),
    VIEWED.format("np.copyto(g, 0)"): (3, False),
    VIEWED.format("np.nan_to_num(g)"): None,
    VIEWED.format("np.clip(g, -1, 1, out=h)"): None,
}


@pytest.mark.parametrize("text", CHANGED_VIEWS)
def test_a_view_of_a_gradient_is_changed_in_place(text: str, tmp_path: Path) -> None:
    found = buffers.changed_view(str(written(tmp_path, text)), 2)
    assert (found and (found.place.line, found.read)) == CHANGED_VIEWS[text]


@pytest.mark.parametrize("moved", [True, False])
def test_a_view_that_was_taken_by_way_of_the_cpu(moved: bool, tmp_path: Path) -> None:
    text = VIEWED.replace("p.grad", "p.grad.cpu()" if moved else "p.grad").format("g *= 2")
    found = buffers.changed_view(written(tmp_path, text), 2)
    assert found is not None
    assert found.may_be_copy is moved


def _branches(first: str, second: str, test: str = "i % k == 0") -> str:
    branches = f"    if scaler:\n        {first}\n    else:\n        {second}\n"
    return f"def f(loss, i):\n{branches}    if {test}:\n        step()\n"


BRANCHES = {
    _branches("scaler.scale(loss / k).backward()", "loss.backward()"): (3, "k"),
    _branches("part = loss / k\n        scaler.scale(part).backward()", "loss.backward()"): (3, "k"),
    _branches("scaler.scale(loss / k).backward()", "(loss / k).backward()"): None,
    _branches("scaler.scale(loss / 2).backward()", "loss.backward()"): None,
    _branches("scaler.scale(loss / k).backward()", "loss.backward()", test="done"): None,
    _branches("scaler.scale(loss).backward()", "loss.backward()"): None,
    _branches("show(loss / k)", "loss.backward()"): None,
}


@pytest.mark.parametrize("text", BRANCHES)
def test_one_branch_divides_what_it_sends_backward_and_the_other_does_not(text: str, tmp_path: Path) -> None:
    line = text.count("\n", 0, text.index("else")) + 2
    found = divisions.in_other_branch(((written(tmp_path, text), line),))
    assert (found and (found.place.line, found.by)) == BRANCHES[text]


READS_SCALE = {
    "scaler.scale(loss).backward()\nscaler.update(scaler.get_scale())\n": False,
    "optimizer.step()\n": False,
    "g = g / scaler.get_scale()\n": True,
    "s = self.scaler._scale\n": True,
    "g.mul_(inv_scale)\n": True,
    "scaler.unscale_(optimizer)\n": True,
}


@pytest.mark.parametrize("text", READS_SCALE)
def test_the_text_may_take_the_scale_off_by_hand(text: str, tmp_path: Path) -> None:
    assert scalers.reads_scale((str(written(tmp_path, text)),)) is READS_SCALE[text]


CLEARS_IN_VAIN = {
    "def clear_grads():\n    for p in ps:\n        grad = p.grad\n        grad = None\nclear_grads()\n": 4,
    "def reset_grad(ps):\n    for p in ps:\n        g = p.grad\n        g = zeros_like(p.grad)\nt.reset_grad(ps)\n": 4,
    "def zero_all_grads(m):\n    for p in ps:\n        p.grad.detach_()\nzero_all_grads(m)\n": 3,
    # it clears, by itself or by another function; it is not called; it says another thing by its name
    "def clear_grads():\n    for p in ps:\n        p.grad = None\nclear_grads()\n": None,
    "def clear_grads():\n    for p in ps:\n        p.grad.zero_()\nclear_grads()\n": None,
    "def clear_grads():\n    opt.zero_grad()\nclear_grads()\n": None,
    "def wipe(g):\n    g.grad = None\n\ndef clear_grads():\n    g = p.grad\n    wipe(p)\nclear_grads()\n": None,
    "def clear_grads():\n    for p in ps:\n        grad = p.grad\n        grad = None\n": None,
    "def show_grads():\n    for p in ps:\n        grad = p.grad\n        grad = None\nshow_grads()\n": None,
    "def clear_grads():\n    'Of the grads.'\nclear_grads()\n": None,
}


@pytest.mark.parametrize("text", CLEARS_IN_VAIN)
def test_a_function_that_clears_by_its_name_alone(text: str, tmp_path: Path) -> None:
    found = uncalled.clears_in_vain((written(tmp_path, text),))
    line = CLEARS_IN_VAIN[text]
    assert [(one.where.line, one.called_at.line) for one in found] == ([(line, text.count("\n"))] if line else [])


SUMMED = {
    "a = f(x) / accum\nloss = a + b\n(loss / accum).backward()\n": (1, False),
    "loss = f(x) / accum + b\nscaler.scale(loss / accum).backward()\n": (1, False),
    "loss = f(x) / accum + b\nloss.backward()\n": (None, True),
    "a = f(x) / self.micro_batches\nloss = a + b\nloss.backward()\n": (None, True),
    "loss = f(x) / accum + b\n(loss / window).backward()\n": (None, False),
    "loss = f(x) / rows + b\nloss.backward()\n": (None, False),
    "loss = f(x) / window_length + b\nloss.backward()\n": (None, False),
    "a = f(x) / accum\nloss = b + w * a.float()\n(loss / accum).backward()\n": (1, False),
    "a = f(x) / accum\nloss = b + a.sqrt()\n(loss / accum).backward()\n": (None, False),
    "loss = a + b\n(loss / accum).backward()\n": (None, False),
    "loss = f(x) / accum\nloss.backward()\n": (None, False),
    # summands that are sums themselves
    "a = f(x) / accum\nloss = a + b\nloss = loss + c\n(loss / accum).backward()\n": (1, False),
    "a = f(x)\nloss = a / accum + b\ntotal = loss + c\ntotal = total / accum\nback(total)\n": (2, False),
    "loss = f(x) + b\nloss = loss + c\n(loss / accum).backward()\n": (None, False),
}


@pytest.mark.parametrize("text", SUMMED)
def test_what_divides_the_summands_of_a_loss(text: str, tmp_path: Path) -> None:
    found = divisions.of_summands(((written(tmp_path, text), text.count("\n")),))
    assert (found.again and found.again.line, found.for_windows) == SUMMED[text]


BY_WHAT = {
    "(loss / accum_steps).backward()\n": "accum_steps",
    "loss = loss / self.k\nloss.backward()\n": "self.k",
    "loss /= 4\nloss.backward()\n": "4",
    "loss.backward()\n": "",
}


@pytest.mark.parametrize("text", BY_WHAT)
def test_what_a_loss_is_divided_by_is_told_as_it_is_written(text: str, tmp_path: Path) -> None:
    assert divisions.by_what(((written(tmp_path, text), text.count("\n")),)) == BY_WHAT[text]


BY_ROWS = {
    "(loss / x.size(0)).backward()\n": 1,
    "loss = loss / len(batch)\nf(loss)\n(loss).backward()\n": 1,
    "loss /= self.batch_size\nloss.backward()\n": 1,
    "(loss / args.bs).backward()\n": 1,
    "(loss / x.shape[0]).backward()\n": 1,
    # a sequence, a loader's own, a number, a window
    "(loss / x.size(1)).backward()\n": None,
    "(loss / len(self.parts[0])).backward()\n": None,
    "(loss / 16).backward()\n": None,
    "(loss / accum_steps).backward()\n": None,
    "(loss / batch_sizes).backward()\n": None,
    "(loss / len(batches)).backward()\n": None,
    "(loss / len(train_loader)).backward()\n": None,
    "(loss / len(micro_batches)).backward()\n": None,
}


@pytest.mark.parametrize("text", BY_ROWS)
def test_a_loss_is_divided_by_what_is_called_the_rows_of_a_batch(text: str, tmp_path: Path) -> None:
    found = divisions.by_rows(((written(tmp_path, text), text.count("\n")),))
    assert (found and found.line) == BY_ROWS[text]


FOR_WINDOWS = {
    "(loss / accum_steps).backward()\n": True,
    "loss = loss / self.micro_batches\nloss.backward()\n": True,
    "(loss / self.window).backward()\n": True,
    "(loss / window_length).backward()\n": False,
    "(loss / 4).backward()\n": False,
    "loss.backward()\n": False,
}


@pytest.mark.parametrize("text", FOR_WINDOWS)
def test_a_loss_is_divided_by_what_is_called_the_size_of_a_window(text: str, tmp_path: Path) -> None:
    assert divisions.for_windows(((written(tmp_path, text), text.count("\n")),)) is FOR_WINDOWS[text]


COUNTS_TO = {
    "def step(i, k=4):\n    if (i + 1) % k == 0:\n        look()\nstep(3)\n": 4,
    "def step(i):\n    if (i + 1) % K == 0 or i == 9:\n        look()\nK = 3\nstep(2)\n": 3,
    "def step(i):\n    if (i + 1) % 5 == 0:\n        look()\nstep(4)\n": 5,
    "class C:\n    pass\nc = C()\nc.k = 6\ndef step(i):\n    if i % c.k == 0:\n        look()\nstep(6)\n": 6,
    "c = {'k': 7}\ndef step(i):\n    if i % c['k'] == 0:\n        look()\nstep(7)\n": 7,
    "def step(i, k):\n    last = (i + 1) % k == 0\n    if last:\n        look()\nstep(1, 2)\n": 2,
    "def inner():\n    look()\ndef step(i, k):\n    if i % k == 0:\n        inner()\nstep(8, 8)\n": 8,
    # what would run code, is no number, or takes two remainders; no condition at all
    "def step(i, k):\n    if i % len(k) == 0:\n        look()\nstep(2, 'ab')\n": 0,
    "def step(i, k):\n    if i % k == 0:\n        look()\nstep(2.0, 2.0)\n": 0,
    "def step(i, k):\n    if i % k == 0 and i % 2 == 0:\n        look()\nstep(4, 4)\n": 0,
    "def step(i):\n    if i:\n        look()\nstep(4)\n": 0,
    "class C:\n    k = property(lambda self: 4)\nc = C()\nif 4 % c.k == 0:\n    look()\n": 0,
}


@pytest.mark.parametrize("text", COUNTS_TO)
def test_the_number_that_a_step_counts_to_is_read_from_its_frames(text: str, tmp_path: Path) -> None:
    file, found = written(tmp_path, text), []
    look = {"look": lambda: found.append(conditions.counted_to(sys._getframe(1)))}
    exec(compile(text, file, "exec"), look)
    assert found == [COUNTS_TO[text]]


def test_the_last_of_several_schedules_in_a_row_tells_their_length() -> None:
    optimizer = torch.optim.SGD([torch.nn.Parameter(torch.zeros(1))], lr=0.1)
    sched = torch.optim.lr_scheduler
    warm, cosine = sched.LinearLR(optimizer, total_iters=3), sched.CosineAnnealingLR(optimizer, T_max=9)
    row = sched.SequentialLR(optimizer, [warm, cosine], milestones=[3])
    assert timetables.last_of(row) == (3, cosine)
    assert timetables.last_of(cosine) == (0, cosine)
    other = sched.SequentialLR(optimizer, [warm, sched.StepLR(optimizer, 2)], milestones=[3])
    assert timetables.last_of(other) == (0, other)


def _epochs(
    behind: str, steps: str = "    for x in data:\n        optimizer.step()\n", head: str = "epoch in range(9)"
) -> str:
    return f"for {head}:\n{steps}{behind}"


BEHIND = {
    _epochs("    ema.update()\n"): True,
    _epochs("    ema.update()\n", steps="    while more():\n        loss.backward()\n"): True,
    _epochs("    ema.update()\n", steps="    loss = train_one_epoch(net)\n"): True,
    _epochs("    ema.update()\n", steps="    self.fit(net)\n"): True,
    _epochs("    ema.update()\n", head="x in data"): False,
    _epochs("        ema.update()\n"): False,
    _epochs("", steps="    ema.update()\n"): False,
    _epochs("    ema.update()\n", steps="    optimizer.step()\n"): False,
    _epochs("    ema.update()\n", steps="    for x in data:\n        show(x)\n"): False,
    _epochs("    ema.update()\n", steps="    if more:\n        train(net)\n"): False,
    _epochs("ema.update()\n"): False,
}


EPOCH = "def epoch():\n    for x in data:\n        optimizer.step()\n    ema.update()\n"
ENDS = {
    EPOCH + "for number in range(epochs):\n    epoch()\n": True,
    EPOCH + "for batch in data:\n    epoch()\n": False,
    EPOCH + "epoch()\n": False,
    EPOCH.replace("    ema", "        ema") + "for number in range(epochs):\n    epoch()\n": False,
    EPOCH.replace("optimizer.step", "show") + "for number in range(epochs):\n    epoch()\n": False,
}


@pytest.mark.parametrize("text", ENDS)
def test_a_line_stands_behind_the_steps_of_a_function_that_is_called_once_an_epoch(text: str, tmp_path: Path) -> None:
    file, numbered = written(tmp_path, text), [*enumerate(text.split("\n"), 1)]
    inner, outer = (max(number for number, one in numbered if word in one) for word in ("ema", "epoch()"))
    found = timetables.once_an_epoch([Place(file, inner, "epoch"), Place(file, outer, "<module>")])
    assert (found is not None) is ENDS[text]


@pytest.mark.parametrize("text", BEHIND)
def test_a_line_stands_behind_the_steps_of_an_epoch(text: str, tmp_path: Path) -> None:
    line = next(number for number, one in enumerate(text.split("\n"), 1) if "ema" in one)
    assert timetables.behind_the_steps(Place(written(tmp_path, text), line, "main")) is BEHIND[text]


def test_many_files_are_parsed_once_and_those_that_say_nothing_of_it_never(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    parsed: list[str] = []
    parse = ast.parse

    def counting(text: str) -> ast.Module:
        parsed.append(text)
        return parse(text)

    texts = ["def update_ema():\n    pass\n", "def halve(group):\n    group['lr'] = 0.1\n", "x = 1\n"]
    files = []
    for n in range(120):
        file = tmp_path / f"module{n}.py"
        file.write_text(texts[min(n, 2)])
        files.append(str(file))
    with monkeypatch.context() as patched:  # pytest parses, too, to show a failure
        patched.setattr(ast, "parse", counting)
        of_rates = uncalled.schedule(tuple(files), ()), uncalled.freeze(tuple(files), ())
        first = [*parsed]
        of_averages = uncalled.update(tuple(files)), uncalled.update((*files, "none.py"))
    assert of_rates[0] is not None and of_rates[1] is None and None not in of_averages
    assert first == [texts[1]]
    assert sorted(parsed) == sorted([*texts[:2], *[texts[2]] * 118, ""]), "each once, to see whether they call it"


UPDATES = (
    "class Agent:\n    def __init__(self):\n        self.actor, self.critic = Actor(), Critic()\n"
    "        self.critic = Critic()\n        self.actor = Actor()\n        self.critic_target = Critic()\n\n"
    "    def update(self):\n        soft_update({}, {}, 0.01)\n"
)
MIXES = (
    "q1, q2 = Q(), Q()\nq1 = q1.train()\nq2 = q2.train()\ntarget_q1, target_q2 = copy(q1), copy(q2)\n"
    "v1, v2 = q1.vector(), q2.vector()\nv1 = q1.vector()\nv2 = q2.vector()\nt1 = target_q1.vector()\n"
    "t2 = target_q2.vector()\nnew = {}\ntarget_q2.load(new)\n"
)
LED = {
    UPDATES.format("self.actor.encoder", "self.critic_target.encoder"): ("critic_target", "critic", "actor"),
    UPDATES.format("self.critic.encoder", "self.critic_target.encoder"): None,
    UPDATES.format("self.critic.q1", "self.critic_target.q1"): None,
    # another part, a model that the text does not make, the models as wholes: these may be called as one likes
    UPDATES.format("self.actor.encoder", "self.critic_target.trunk"): None,
    UPDATES.format("self.student.encoder", "self.critic_target.encoder"): None,
    UPDATES.format("self.actor", "self.critic_target"): None,
    # by the numbers in their names, in a loop and where vectors are mixed
    MIXES.format("t2 * p + (1 - p) * v1"): ("target_q2", "q2", "q1"),
    MIXES.format("(1.0 - tau) * v1 + tau * t2").replace("1.0 -", "1 -"): ("target_q2", "q2", "q1"),
    MIXES.format("t2 * p + (1 - p) * v2"): None,
    MIXES.format("t2 * p + (1 - q) * v1"): None,
    MIXES.format("t2 * p + v1"): None,
    MIXES.format("t1 * p + (1 - p) * v1"): None,
}


@pytest.mark.parametrize("text", LED)
def test_a_part_of_a_target_is_updated_from_that_of_another_model(text: str, tmp_path: Path) -> None:
    found = targets.led_by_another((written(tmp_path, text),))
    assert (found and (found.name, found.begun, found.follows)) == LED[text]


BACKUP = """class Average:
    def apply(self):
        self.backup = {{k: {} for k, p in self.model.named_parameters()}}
        for k, p in self.model.named_parameters():
            {}

    def restore(self):
        for k, p in self.model.named_parameters():
            {}
"""
TAKEN = ("p.data", "p.data.copy_(self.shadow[k])", "p.data.copy_(self.backup[k])")
LOOPED = """class Average:
    def apply(self):
        for k, p in self.model.named_parameters():
            self.backup[k] = p.detach()
            p.data.copy_(self.shadow[k])

    def restore(self):
        for k, p in self.model.named_parameters():
            p.data.copy_(self.backup[k])
"""


@pytest.mark.parametrize(
    ("text", "line"),
    [
        (BACKUP.format(*TAKEN), 3),
        (BACKUP.format("p().detach()", *TAKEN[1:]), 3),
        (LOOPED, 4),
        # a copy; the weights get other memory; what is kept is not copied back, or nothing is copied in between
        (BACKUP.format("p.data.clone()", *TAKEN[1:]), None),
        (BACKUP.format("p.data", "p.data = self.shadow[k]", "p.data = self.backup[k]"), None),
        (BACKUP.format("p.data", "p.data = self.shadow[k]", TAKEN[2]), None),
        (BACKUP.format("p.data", TAKEN[1], "print(self.backup[k])"), None),
        (LOOPED.replace("self.backup[k] = p.detach()", "self.backup[k] = p.detach().cpu().clone()"), None),
    ],
)
def test_a_backup_that_is_no_copy_is_copied_back(tmp_path: Path, text: str, line: int | None) -> None:
    found = misplaced.backup_in_memory([written(tmp_path, text)])
    assert [one.line for one in found] == ([line] if line is not None else [])


ONE_MEMORY = (
    "def follow(net, target):\n"
    "    for p, target_p in zip(net.parameters(), target.parameters()):\n"
    "        target_p.data = p.data\n"
)


@pytest.mark.parametrize(
    ("text", "line"),
    [
        (ONE_MEMORY, 3),
        (ONE_MEMORY.replace("p.data\n", "p.detach()\n"), 3),
        (
            "def f(s):\n    for a, b in zip(s.ema.parameters(), s.net.parameters()):\n        a.data = b.data\n",
            3,
        ),
        # a copy, the other way round, a mixture, names that tell no one apart, one model
        (ONE_MEMORY.replace("= p.data\n", "= p.data.clone()\n"), None),
        (ONE_MEMORY.replace("target_p.data = p.data", "p.data = target_p.data"), None),
        (ONE_MEMORY.replace("= p.data\n", "= 0.9 * target_p.data + 0.1 * p.data\n"), None),
        (ONE_MEMORY.replace("target_p", "q").replace("target", "other"), None),
        (ONE_MEMORY.replace("follow", "__init__"), None),
        (ONE_MEMORY.replace("zip(net.parameters(), target.parameters())", "zip(a, b)"), None),
    ],
)
def test_a_target_that_is_given_the_data_of_another_model(tmp_path: Path, text: str, line: int | None) -> None:
    found = misplaced.given_memory([written(tmp_path, text)])
    assert [one.line for one in found] == ([line] if line is not None else [])


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("if t + 1 % period == 0:\n    update()\n", 1),
        ("for t in steps:\n    if done or self.t + 1 % self.k == 0:\n        update()\n", 2),
        ("if (t + 1) % period == 0:\n    update()\n", None),
        ("if t + n % period == 0:\n    update()\n", None),
        ("at = t + 1 % period\n", None),
    ],
)
def test_a_condition_with_a_remainder_of_one(tmp_path: Path, text: str, line: int | None) -> None:
    found = misplaced.remainder_of_one([written(tmp_path, text)])
    assert [one.line for one in found] == ([line] if line is not None else [])


FOLLOWED = """
def follow(net, average, decay, global_step):
    pass

def train(loader, epoch):
    for i, x in enumerate(loader):
        follow(net, average, 0.99, i)

for epoch in range(3):
    train(loader, epoch)
"""


@pytest.mark.parametrize(
    ("text", "line"),
    [
        (FOLLOWED, 7),
        (FOLLOWED.replace("0.99, i)", "0.99, epoch * len(loader) + i)"), None),
        (FOLLOWED.replace("enumerate(loader)", "enumerate(loader, epoch * len(loader))"), None),
        (FOLLOWED.replace("global_step)", "step)"), None),
        (
            FOLLOWED.replace("for epoch in range(3):\n    train", "train").replace(
                "(loader, epoch)\n", "(loader, 0)\n", 1
            ),
            None,
        ),
    ],
)
def test_the_turn_of_one_epoch_that_is_handed_over_as_all_steps(tmp_path: Path, text: str, line: int | None) -> None:
    found = counters.begun_anew((written(tmp_path, text),))
    assert (found and found.where.line) == line


WEIGHED = "kl_weight = 0.1\ndef loss(x):\n    return mse(x) + kl(x)\n"


@pytest.mark.parametrize(
    ("text", "summand"),
    [
        (WEIGHED, "kl"),
        (WEIGHED.replace("+ kl(x)", "+ kl_weight * kl(x)"), None),
        (WEIGHED.replace("+ kl(x)", "+ self.kl_weight * kl(x)"), None),
        (WEIGHED.replace("+ kl(x)", "+ entropy(x)"), None),
        (WEIGHED.replace("kl(x)", "perceptual(x)").replace("kl_weight", "lambda_perc"), "perceptual"),
        (WEIGHED.replace("kl(x)", "self.aux_loss").replace("kl_weight", "AUX_LOSS_COEF"), "aux_loss"),
        (WEIGHED.replace("0.1", "1.0"), None),
        (WEIGHED.replace("0.1", "0"), None),
        (WEIGHED.replace("0.1", "'mean'"), None),
        (WEIGHED + "run(kl_weight=0.2)\n", None),
        (WEIGHED + "weight = config['kl_weight']\n", None),
        ("p.add_argument('--adv-weight', default=0.1)\nloss = l1\nloss += adv_loss\n", "adv_loss"),
        ("p.add_argument('--adv-weight', default=0.1)\nloss = l1\nloss += args.adv_weight * adv_loss\n", None),
        ("p.add_argument('--adv-weight', default=0.1)\ntime = 1\ntime += adv_time\n", None),
        ("class Settings:\n    lambda_gp: float = 10.0\n\nd_loss = fake - real + gp\n", "gp"),
        ("class Settings:\n    lambda_gp: float = 10.0\n\nd_loss = fake - real\n", None),
        ("sample_weight = 0.5\nloss = sample + other\n", "sample"),
        ("lambda_lr = 0.5\nloss = f(x) + g(y)\n", None),
    ],
)
def test_a_weight_that_nothing_reads_and_a_sum_with_its_loss(tmp_path: Path, text: str, summand: str | None) -> None:
    found = unweighted.found((written(tmp_path, text),))
    assert (found and found.summand) == summand


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("optimizer.zero_grad\nloss.backward()\n", "optimizer.zero_grad"),
        ("def train():\n    for x in data:\n        self.scaler.update\n", "self.scaler.update"),
        ("optimizer.zero_grad()\n", None),
        ("step = optimizer.step\n", None),
        ("run(optimizer.step)\n", None),
        ("model.weight\n", None),
    ],
)
def test_a_method_that_a_statement_names_and_does_not_call(tmp_path: Path, text: str, name: str | None) -> None:
    found = uncalled.named((written(tmp_path, text),))
    assert [one.name for one in found] == ([name] if name else [])


def test_the_clears_that_stand_under_a_condition(tmp_path: Path) -> None:
    text = (
        "opt.zero_grad()\nif step % k:\n    opt.zero_grad()\n    if last:\n        model.zero_grad(set_to_none=True)\n"
    )
    assert [one.line for one in uncalled.clears_under((written(tmp_path, text),))] == [3, 5]


def test_the_block_around_a_line_by_the_text_of_its_head(tmp_path: Path) -> None:
    text = "with torch.autocast('cpu'):\n    with other():\n        f()\n    g()\nh()\n"
    file = written(tmp_path, text)
    found = [source.with_around(file, line, "autocast") for line in (3, 4, 5)]
    assert [one and one.line for one in found] == [1, 1, None]


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("layers = nn.ModuleList([Layer(8)] * depth)\n", 1),
        ("x = 1\nlayers = nn.Sequential(*[nn.Linear(8, 8)] * 3)\n", 2),
        ("layers = nn.ModuleList(3 * [Layer(8)])\n", 1),
        ("layers = nn.ModuleList([Layer(8) for _ in range(depth)])\n", None),
        ("mid = ResBlock(8)\nlayers = nn.ModuleList([mid, Attention(8), mid])\n", 2),
        ("mid = nn.Linear(8, 8)\nlayers = nn.Sequential(mid, nn.ReLU(), mid)\n", 2),
        ("act = nn.ReLU()\nlayers = nn.Sequential(nn.Linear(8, 8), act, nn.Linear(8, 8), act)\n", None),
        ("layers = nn.ModuleList([mid, Attention(8), mid])\n", None),
        ("layers = nn.ModuleList([shared] * depth)\n", None),
        ("layers = nn.ModuleList([make(8)] * depth)\n", None),
        ("layers = nn.ModuleList([build_mlp(8, 1)] * critics)\n", 1),
        ("layers = nn.ModuleList([self.make_block(8)] * depth)\n", 1),
        ("sizes = [Size(8)] * depth\nlayers = nn.ModuleList(map(Layer, sizes))\n", None),
    ],
)
def test_a_list_of_one_module_times_a_number(tmp_path: Path, text: str, line: int | None) -> None:
    assert [one.line for one in repeated.found((written(tmp_path, text),))] == ([line] if line else [])


@pytest.mark.parametrize(
    ("text", "casts"),
    [
        ("self.model = deepcopy(model).eval().half()\n", True),
        ("self.shadow = {name: p.data.clone().to(torch.bfloat16) for name, p in named}\n", True),
        ("actor_target = Actor(8, 2).to(device).bfloat16()\n", True),
        ("ema_model = Model().to(device)\n", False),
        ("x = batch.half()\n", False),
        ("if target == x.half():\n    pass\n", False),
        ("model = model.half()\n", False),
    ],
)
def test_an_average_is_made_in_half_precision(tmp_path: Path, text: str, casts: bool) -> None:
    assert bool(source.lines((written(tmp_path, text),), source.CASTS_AN_AVERAGE)) is casts


TURNED = {
    "if i % k:\n    step()\n": 2,
    "if i % k != 0:\n    step()\n": 2,
    "if i % k > 0:\n    step()\n": 2,
    "if not (i % k == 0):\n    step()\n": 2,
    "if i % k == 0:\n    wait()\nelse:\n    step()\n": 4,
    "if not i % k:\n    wait()\nelse:\n    step()\n": 4,
    # the right way round, another remainder, something else as well, behind it
    "if i % k == 0:\n    step()\n": 0,
    "if not i % k:\n    step()\n": 0,
    "if i % k == k - 1:\n    step()\n": 0,
    "if i % k and ready:\n    step()\n": 0,
    "if i % k:\n    wait()\nstep()\n": 0,
    "if i / k:\n    step()\n": 0,
}


@pytest.mark.parametrize("text", TURNED)
def test_a_step_stands_under_a_remainder_that_must_not_be_zero(text: str, tmp_path: Path) -> None:
    file, line = written(tmp_path, text), 1 + text[: text.index("step()")].count("\n")
    found = conditions.of_step(Place(file, line, "main"), ((file, line),))["turned_at"]
    assert (found is not None) is bool(TURNED[text])
    assert found is None or found == Place(file, 1)


RETURNS = {
    "t = 0\n    for x in xs:\n        t += x\n        return t\n": "t",
    "t = []\n    for x in xs:\n        t.append(x)\n        return sum(t)\n": "t",
    "t = new()\n    for x in xs:\n        for y in x:\n            if y:\n                continue\n"
    "            t[x][y] = 1\n        t = t.sum()\n        return t\n": "t",
    # behind the loop, under a condition, where a turn may end before, of the turn alone, nothing returned
    "t = 0\n    for x in xs:\n        t += x\n    return t\n": "",
    "t = 0\n    for x in xs:\n        t += x\n        if t > 9:\n            return t\n": "",
    "t = 0\n    for x in xs:\n        if x:\n            continue\n        t += x\n        return t\n": "",
    "t = 0\n    for x in xs:\n        y = x + t\n        return y\n": "",
    "for x in xs:\n        t = 0\n        t += x\n        return t\n": "",
    "t = 0\n    for x in xs:\n        t += x\n        return\n": "",
    "t = 0\n    for x in xs:\n        yield t\n        t += x\n        return t\n": "",
}


@pytest.mark.parametrize("text", RETURNS)
def test_a_loop_that_fills_something_returns_in_its_first_turn(text: str, tmp_path: Path) -> None:
    body = f"def loss_of(xs):\n    {text}\n"
    found = outside.returned_at_once([written(tmp_path, f"{body}def train():\n    return loss_of(data)\n")])
    assert [one.name for one in found] == ([RETURNS[text]] if RETURNS[text] else [])
    for one in found:
        lines = body.splitlines()
        assert (lines[one.where.line - 1].split()[0], one.where.function) == ("return", "loss_of")
        assert (one.called_at.line, one.called_at.function) == (body.count("\n") + 2, "train")
    (alone := tmp_path / "alone").mkdir()
    assert outside.returned_at_once([written(alone, body)]) == (), "nobody calls it"


FOLLOWS = {
    "ema.update()": True,
    "self.ema_model.step(net.parameters())": True,
    "swa_model.update_parameters(net)": True,
    "if main:\n            averager.update()": True,
    "with quiet():\n            ema.update()": True,
    # it may wait: under a condition, behind one, by itself, in a loop of its own; no average, no update
    "if i % 4 == 0:\n            ema.update()": False,
    "if accelerator.sync_gradients:\n            ema.update()": False,
    "if (i + 1) % 4:\n            continue\n        ema.update()": False,
    "ema.update_average()": False,
    "for one in many:\n            ema.update()": False,
    "schema.update()": False,
    "counts.update()": False,
    "ema.eval()": False,
    "ema.update()\n        mean.update()\n        avg.update()": False,
}


@pytest.mark.parametrize("text", FOLLOWS)
def test_an_average_is_updated_in_each_turn_by_the_text(text: str, tmp_path: Path) -> None:
    waits = "def update_average(self):\n    if sync_gradients:\n        self.update()\n"
    before = f"{waits}def work(x):\n    loss(x).backward()\ndef train():\n    for i, x in data:\n        work(x)\n"
    file = written(tmp_path, f"{before}        {text}\n")
    found = behind.follows_each_turn((file,), ((file, 5), (file, 8)))
    assert (found is not None) is FOLLOWS[text]
    assert found is None or (found.line in (9, 10), found.function) == (True, "train")


def test_an_average_is_updated_behind_a_loop_over_micro_batches(tmp_path: Path) -> None:
    file = written(tmp_path, "for x in data:\n    for part in x:\n        loss(part).backward()\n    ema.update()\n")
    assert behind.follows_each_turn((file,), ((file, 3),)) is None
    assert behind.follows_each_turn((file,), ((file, 4),)) == Place(file, 4, "<module>")


def test_no_loop_holds_a_pass(tmp_path: Path) -> None:
    file = written(tmp_path, "loss(x).backward()\nema.update()\n")
    assert behind.follows_each_turn((file,), ((file, 1),)) is None


FREEZES = "for n, p in net.named_parameters():\n    if 'body' in n:\n        p.requires_grad = False\n"
THAWS = {
    "for p in net.parameters():\n    p.requires_grad = True\n": True,
    "for n, p in net.named_parameters():\n    p.requires_grad_()\n    groups.append(p)\n": True,
    "for p in net.parameters():\n    p.requires_grad_(True)\n": True,
    # of another model, under a condition, behind training, frozen once more, read alone
    "for p in other.parameters():\n    p.requires_grad = True\n": False,
    "for p in net.parameters():\n    if p.dim() > 1:\n        p.requires_grad = True\n": False,
    "loss.backward()\nfor p in net.parameters():\n    p.requires_grad = True\n": False,
    "for p in net.parameters():\n    p.requires_grad = False\n": False,
    "for p in net.parameters():\n    if p.requires_grad:\n        groups.append(p)\n": False,
}


@pytest.mark.parametrize("text", THAWS)
def test_what_one_loop_freezes_a_later_one_thaws(text: str, tmp_path: Path) -> None:
    found = frozen.thawed_again([written(tmp_path, FREEZES + text)])
    assert [(thaws.line, freezes.line) for thaws, freezes in found] == ([(5, 3)] if THAWS[text] else [])


def test_what_one_branch_freezes_and_the_other_thaws_is_left_alone(tmp_path: Path) -> None:
    freezes, thaws = (text.replace("\n", "\n    ").rstrip() for text in (FREEZES, next(iter(THAWS))))
    assert frozen.thawed_again([written(tmp_path, f"if lora:\n    {freezes}\nelse:\n    {thaws}\n")]) == ()


def test_what_is_frozen_under_a_condition_and_thawed_in_any_case_is_told_of(tmp_path: Path) -> None:
    freezes = FREEZES.replace("\n", "\n    ").rstrip()
    [(thaws, _)] = frozen.thawed_again([written(tmp_path, f"if freeze:\n    {freezes}\n{next(iter(THAWS))}")])
    assert thaws.line == 6


def test_what_a_loop_freezes_and_thaws_in_each_of_its_turns_is_left_alone(tmp_path: Path) -> None:
    inner = (FREEZES + "for p in net.parameters():\n    p.requires_grad = True\n").replace("\n", "\n    ")
    assert frozen.thawed_again([written(tmp_path, f"for step in steps:\n    {inner}pass\n")]) == ()


LISTED_GRADIENTS = {
    "for g in grads:\n    g.detach().mul_(factor)\n": True,
    "for g in grads:\n    g.div_(total)\n": True,
    "total = sum(g.norm() for g in grads)\n": False,
    "for g in grads:\n    total.add_(g.norm())\n": False,
    "for g in others:\n    g.mul_(factor)\n": False,
}


@pytest.mark.parametrize("text", LISTED_GRADIENTS)
def test_gradients_are_listed_and_changed_by_the_same_function(text: str, tmp_path: Path) -> None:
    file = written(tmp_path, f"grads = [p.grad for p in params if p.grad is not None]\n{text}")
    assert source.changes_gradient(Place(file, 1)) is LISTED_GRADIENTS[text]


ZEROS_PUT = {
    "def step(self):\n    p.grad = torch.zeros_like(p)\n": 2,
    "def clear():\n    p.grad = torch.zeros_like(p)\ndef step(self):\n    p.grad = zeros(3)\n": 4,
    "def clear():\n    p.grad = torch.zeros_like(p)\ndef step(self):\n    p.grad = None\n": None,
    "def step(self):\n    buffer = torch.zeros_like(p.grad)\n": None,
}


@pytest.mark.parametrize("text", ZEROS_PUT)
def test_a_step_gives_parameters_a_gradient_of_zeros(text: str, tmp_path: Path) -> None:
    found = told.WHERE_IT_TRAINS["puts_zeros_at"]((written(tmp_path, text),))
    assert (found and found.line) == ZEROS_PUT[text]
