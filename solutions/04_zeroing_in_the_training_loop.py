# ---
# jupyter:
#   jupytext:
#     text_representation:
#       extension: .py
#       format_name: percent
#   kernelspec:
#     display_name: Python 3 (ipykernel)
#     language: python
#     name: python3
# ---

# %% [markdown]
# # Where zeroing fits in the loop
#
# Lesson 2 showed that `backward()` adds. Lesson 3 showed how to clear, and with what. This
# lesson is about the place. A training loop has few lines, and clearing is one of them. In some
# places it is right, in some it is wrong, and in some it is right until somebody adds validation
# or a second optimizer.
#
# What you will be able to do:
#
# - name the legal places for clearing, and say what separates them;
# - run any order of zero, forward, backward and step, and read from a ledger what was in `.grad`
#   at each step;
# - say when `.grad` may be read, and write the same loop without it;
# - keep a validation pass out of the gradients, and find one that is in them;
# - clip in the right place, and use the norm that clipping returns;
# - train two models against each other without leaks, and write a closure for LBFGS.

# %%
import itertools

import torch
from torch import nn
from torch.func import functional_call, grad

from course_utils.data import digits
from course_utils.lessons.lesson2.saved import SavedBytes
from course_utils.lessons.lesson4 import figures
from course_utils.lessons.lesson4.traffic import all_reduces
from course_utils.lessons.measured import closest, true_or_false
from course_utils.widgets import order_of_events
from course_utils.widgets.explorers.order import replay
from gradient_ledger import GradientLedger

# %% [markdown]
# Small helpers for the whole lesson. Everything runs on the CPU, and nearly everything in
# float64, so that rounding does not blur a comparison.


# %%
def draw(*shape, seed=0):
    """Normal numbers of that shape, the same every time."""
    generator = torch.Generator().manual_seed(seed)
    return torch.randn(*shape, generator=generator, dtype=torch.float64)


def small_model():
    """10 inputs, 16 hidden values, 2 outputs; the same weights every time."""
    model = nn.Sequential(nn.Linear(10, 16), nn.Tanh(), nn.Linear(16, 2)).double()
    with torch.no_grad():
        for index, parameter in enumerate(model.parameters()):
            parameter.copy_(0.3 * draw(*parameter.shape, seed=index))
    return model


def squared_error(prediction, target):
    return ((prediction - target) ** 2).mean()


def weights(model):
    """All parameters of a model in one long vector, copied."""
    return torch.cat([p.detach().flatten() for p in model.parameters()])


def length(model):
    """The length of all gradients of a model together."""
    gradients = [p.grad.flatten() for p in model.parameters() if p.grad is not None]
    return torch.cat(gradients).norm().item() if gradients else None


def gradient(model):
    """All gradients of a model in one long vector, copied; zeros where there is none."""
    full = [torch.zeros_like(p) if p.grad is None else p.grad for p in model.parameters()]
    return torch.cat([part.flatten() for part in full])


def largest(a, b):
    """The largest difference of two vectors."""
    return (a - b).abs().max().item()


batches = [(draw(8, 10, seed=100 + i), draw(8, 2, seed=200 + i)) for i in range(40)]


def plain(parameters):
    return torch.optim.SGD(parameters, lr=0.1)


makers = {
    "SGD": plain,
    "SGD, momentum and decay": lambda p: torch.optim.SGD(p, 0.1, momentum=0.9, weight_decay=0.1),
    "Adam": lambda p: torch.optim.Adam(p, lr=0.01),
    "AdamW": lambda p: torch.optim.AdamW(p, lr=0.01, weight_decay=0.1),
}

# %% [markdown]
# And the task of lesson 2: handwritten digits, in 30 pages of 50 to learn from, and 297 to be
# tested on.

# %%
data = digits()
x_test = data.x_test.double()
pages = list(zip(data.x.double().split(50), data.y.split(50), strict=True))


def reader():
    """A network that reads digits; the same weights every time."""
    torch.manual_seed(0)
    return nn.Sequential(nn.Linear(64, 32), nn.ReLU(), nn.Linear(32, 10)).double()


def share_right(model):
    return (model(x_test).argmax(dim=1) == data.y_test).double().mean().item()


# %% [markdown]
# ## A line is moved
#
# Lesson 2 took the line `optimizer.zero_grad()` out of a loop. Here you keep it, and move it.
# The reason is a diagram. In one form or another you meet it in texts on training. You will
# see it under the next cell, which has two loops: the usual one, and one that is written as the
# diagram says. Both consist of the same lines.


# %%
def usual_loop(model, optimizer, losses):
    for pixels, labels in pages:
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(model(pixels), labels)
        loss.backward()
        optimizer.step()
        losses.append(loss.item())


def loop_of_the_diagram(model, optimizer, losses, set_to_none=True):
    for pixels, labels in pages:
        loss = nn.functional.cross_entropy(model(pixels), labels)
        loss.backward()
        optimizer.zero_grad(set_to_none=set_to_none)
        optimizer.step()
        losses.append(loss.item())


def three_passes(loop):
    """The model after three passes over the pages with SGD, and its losses."""
    model, losses = reader(), []
    optimizer = plain(model.parameters())
    for _ in range(3):
        loop(model, optimizer, losses)
    return model, losses


figures.popular_diagram()

# %% [markdown]
# It reads well: work out the gradients, clean up, update.

# %%
predict("4.a")

# %% claims="S0-9 S0-26 S0-48"
moved, shares = {}, {}
for loop in (usual_loop, loop_of_the_diagram):
    model, losses = three_passes(loop)
    name = loop.__name__.replace("_", " ")
    moved[name], shares[name] = largest(weights(model), weights(reader())), share_right(model)
    shown = f"last loss {losses[-1]:.3f}, {shares[name]:.0%} read right"
    print(f"{name:<20} {shown}, largest move {moved[name]:.3g}")
assert moved["usual loop"] > 0.1 and shares["usual loop"] > 0.7
as_well = shares["loop of the diagram"] > 0.7
still = moved["loop of the diagram"] == 0
compare("4.a", "nothing" if still else "as well" if as_well else "piles up")

# %% [markdown]
# After 90 steps not one weight has moved. Every gradient was computed, and thrown away before
# the step could read it. Nothing is raised: SGD skips a parameter whose gradient is `None`. The
# share of digits is what the weights of the start reach.
#
# Some optimizers have a memory, or shrink weights by themselves. AdamW does both. Do they move?
#
# > **Fact.** With SGD, SGD with momentum and weight decay, Adam and AdamW, a step after a
# > clearing that leaves `None` moves nothing. The memory of a new optimizer stays empty.

# %% claims="S0-5"
for name, make in makers.items():
    model = reader()
    optimizer = make(model.parameters())
    loop_of_the_diagram(model, optimizer, [])
    move, entries = largest(weights(model), weights(reader())), len(optimizer.state)
    print(f"{name:<24} largest move {move}, entries in its memory: {entries}")
    assert move == 0 and entries == 0

# %% [markdown]
# ### The same, with zeros
#
# Before PyTorch 2.0 zeros were the default. With `zero_grad(set_to_none=False)` they still come,
# and the step finds a gradient: zeros.
# You also give SGD a *weight decay* of 0.1: at each step it adds 0.1 times each weight to that
# weight's gradient, and goes on with the sum.

# %%
predict("4.b")

# %%
model, losses, sizes = reader(), [], [1.0]
optimizer = torch.optim.SGD(model.parameters(), lr=0.1, weight_decay=0.1)
start = weights(model)
for _ in range(3):
    loop_of_the_diagram(model, optimizer, losses, set_to_none=False)
    sizes.append((weights(model).norm() / start.norm()).item())
print("length of the weights after 0, 1, 2, 3 passes:", *(f"{size:.3f}" for size in sizes))
print(f"0.99 to the power of 90: {0.99**90:.3f}")
print(f"loss of the first page: {losses[0]:.4f} at first, {losses[60]:.4f} in the third pass")
only_shrunk = torch.allclose(weights(model), 0.99**90 * start)
print("every weight shrank by that factor:", only_shrunk)
runs = (three_passes(loop)[1] for loop in (usual_loop, loop_of_the_diagram))
runs = dict(zip(("usual loop", "loop of the diagram"), runs, strict=True))
figures.moved_line(runs, losses, [0.99**step for step in range(91)])
compare("4.b", "shrink" if only_shrunk else "learn" if share_right(model) > 0.5 else "still")

# %% [markdown]
# The weights move, and the loss even falls a little. Nothing is learned: each step multiplies
# every weight by 1 - 0.1 * 0.1. With no weights left, all ten digits would get the same score.
# The loss of that is the logarithm of 10, 2.303. This loop looks alive.
#
# ### What a ledger says
#
# `GradientLedger` (lesson 2) watches the loop of the diagram.

# %% claims="S0-48b" tags=["nbval-ignore-output"]
with GradientLedger() as ledger:
    model = reader()
    loop_of_the_diagram(model, plain(model.parameters()), [])
assert [found.misconception for found in ledger.findings()] == ["zeroed-before-step"]
ledger.plot(windows=4)

# %% [markdown]
# One backward, and the clearing empties `.grad` before the step gets there. The frame marks the
# clearing, and the line stands below. Nothing accumulates here: the gradients get lost.
#
# ## 1. Where may it stand?
#
# One iteration has a forward pass, a backward pass and a step. Clearing can go before the
# forward pass, between forward and backward, or after the step. You train the small model on 40
# batches in all three ways.


# %%
places = ("start", "after the forward", "end", "start and end")


def trained(place, make, stale=False):
    """The weights after a step on each of the 40 batches, with zero_grad() in a certain place."""
    model = small_model()
    optimizer = make(model.parameters())
    if stale:  # somebody has left a gradient there
        squared_error(model(batches[-1][0]), 9.0).backward()
    for x, y in batches:
        if place in ("start", "start and end"):
            optimizer.zero_grad()
        loss = squared_error(model(x), y)
        if place == "after the forward":
            optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if place in ("end", "start and end"):
            optimizer.zero_grad()
    return weights(model)


# %%
predict("4.c")

# %% claims="S0-31 S0-40 S3-2"
apart = []
for name, make in makers.items():
    ends = {place: trained(place, make) for place in places}
    apart.append(max(largest(ends["start"], other) for other in ends.values()))
    print(f"{name:<24} largest difference between the places: {apart[-1]}")
compare("4.c", "bits" if max(apart) == 0 else "rounding" if max(apart) < 1e-9 else "apart")

# %% [markdown]
# Equal to the last bit. Where does the stretch end in which clearing is right? A *window* is
# what belongs to one step: all backward passes since the step before (lesson 2, and lesson 6 in
# full). In the next cell a window has two batches, and AdamW steps after the second. You clear
# after one of its five events.
#
# > **Fact.** When `.grad` is empty at the beginning, clearing after the step or before the
# > window's first backward gives the same weights, bit for bit. Between that first backward and
# > the step it loses gradients. (Here with AdamW.)


# %% claims="S0-6 S0-14 S0-15 S0-16 S0-28 S0-38"
def in_windows(moment):
    """The weights after 20 steps of two batches each, cleared after one event of every window."""
    model = small_model()
    optimizer = makers["AdamW"](model.parameters())
    for pair in zip(batches[::2], batches[1::2], strict=True):
        for number, (x, y) in enumerate(pair, start=1):
            loss = squared_error(model(x), y) / 2
            if moment == f"forward {number}":
                optimizer.zero_grad()
            loss.backward()
            if moment == f"backward {number}":
                optimizer.zero_grad()
        optimizer.step()
        if moment == "step":
            optimizer.zero_grad()
    return weights(model)


right, off = in_windows("step"), {}
for moment in ("step", "forward 1", "backward 1", "forward 2", "backward 2"):
    end = in_windows(moment)
    off[moment] = largest(end, right)
    moved = "not at all" if torch.equal(end, weights(small_model())) else "yes"
    print(f"cleared after {moment:<11} off by {off[moment]:<8.3g} weights moved: {moved}")
assert [moment for moment, error in off.items() if error == 0] == ["step", "forward 1"]

# %% [markdown]
# Clearing after backward 1 and after forward 2 are off by the same: both throw away the gradient
# of each window's first batch, and nothing else.
#
# So the rule names no line. It names a stretch of the loop: **after a step has used the
# gradients, and before the next window's first backward.**

# %%
figures.legal_arc()

# %% [markdown]
# People ask about the last place: inyeoplee77/SAGPool#15 wonders about a clearing that comes
# after the step. It is right. Karpathy's nanoGPT has this habit: it clears at the end of an
# iteration, when the step is done. So "always at the start" is a habit, too, and no law.
#
# ### Two legal places that are not the same
#
# They differ in what they trust. (And in what `.grad` holds in between: section 3.) Say that
# somebody has called `backward()` before your loop begins, to test something, and forgot it.

# %%
for place in places:
    error = largest(trained(place, plain, stale=True), trained(place, plain))
    print(f"{place:<18} with a gradient left over: weights differ by {error:.3g}")
    assert (error > 0.01) == (place == "end")

# %% [markdown]
# A clearing at the end protects the next iteration from this one. It does not protect the first
# iteration from what was before. A clearing at the start asks nobody.
#
# In the first exercise you write one iteration that asks nobody.


# %% exercise="4.1"
def train_step(model, optimizer, loss_fn, x, y):
    """One right step on the batch (x, y), whatever .grad holds; returns the loss before it."""
    ### BEGIN SOLUTION
    optimizer.zero_grad()
    loss = loss_fn(model(x), y)
    loss.backward()
    optimizer.step()
    return loss.item()
    ### END SOLUTION


# %% [markdown]
# Then the whole loop. One pass over all batches is called an *epoch*. One thing to know before:
# the loss of an epoch is usually reported as one number, and the last batch is often smaller
# than the others. The mean of the batch losses is then not the mean over the samples.

# %%
model, rows, wanted = small_model(), draw(20, 10, seed=5), draw(20, 2, seed=6)
wanted[18:] += 3  # the last two samples are hard
pieces = list(zip(rows.split(6), wanted.split(6), strict=True))
losses = [squared_error(model(a), b).item() for a, b in pieces]
sizes = [len(a) for a, _ in pieces]
print("batch sizes:", sizes, "  losses:", [f"{loss:.3f}" for loss in losses])
by_sample = sum(loss * size for loss, size in zip(losses, sizes, strict=True)) / sum(sizes)
whole = squared_error(model(rows), wanted).item()
print(f"mean of the batch losses {sum(losses) / len(losses):.3f}")
print(f"mean over the samples    {by_sample:.3f}, loss of all 20 at once {whole:.3f}")
assert abs(by_sample - whole) < 1e-12


# %% exercise="4.2"
def train(model, optimizer, loss_fn, batches, epochs):
    """One step a batch in each epoch; returns each epoch's mean loss over its samples."""
    ### BEGIN SOLUTION
    losses = []
    for _ in range(epochs):
        total, samples = 0.0, 0
        for x, y in batches:
            optimizer.zero_grad()
            loss = loss_fn(model(x), y)
            loss.backward()
            optimizer.step()
            total += loss.item() * len(x)
            samples += len(x)
        losses.append(total / samples)
    return losses
    ### END SOLUTION


# %% [markdown]
# ## 2. The order of events
#
# Now you put the loop together yourself. Each button adds an event to the body of a loop.
# **Run** goes through the loop six times, with a real model, real SGD and fresh weights. A
# forward takes the next batch. The table has one row a step: which backward passes were in
# `.grad`, whether a step had used them before, and which were lost.
#
# Find, with the buttons:
#
# 1. an order whose first step finds nothing, and whose other steps each use one new backward;
# 2. an order that loses half of its backward passes, and whose loss falls all the same;
# 3. an order in which each step uses two backward passes, and all is right;
# 4. an order that stops with an error.
#
# (`order_of_events(weight_decay=0.5)` gives SGD a weight decay, for the zeros of the first
# section.)

# %%
order_of_events()

# %% [markdown]
# <details><summary>Some that do it</summary>
#
# 1: step, zero, forward, backward. 2: zero, forward, backward, zero, forward, backward, step. The
# second zero clears what the first backward brought. 3: the same without the second zero. 4: any
# order whose first backward comes before the first forward; two backwards after one forward; or
# forward, step, zero, backward: the step changes weights that the waiting backward needs.
#
# </details>
#
# ### All of them
#
# Zero, forward, backward and step, each once: there are 24 orders. Call an order *right* if each
# step uses all backward passes since the step before, and no others, and none is lost, from the
# first iteration to the last.

# %%
predict("4.d")

# %%
events = ("zero", "forward", "backward", "step")
everything = [replay(order) for order in itertools.permutations(events)]
right = [run for run in everything if run.right]
stopped = [run for run in everything if run.error]
still = [run for run in everything if not run.error and not run.moved]
rest = [run for run in everything if not run.error and run.moved and not run.right]
counts = [len(kind_of) for kind_of in (right, rest, still, stopped)]
print("right: {}, right but for the ends: {}, no move: {}, error: {}".format(*counts))
for run in rest:  # the first step finds nothing, the last backward stays unused
    assert run.steps[0].held == () and run.left == (6,) and not run.lost
early = [run for run in stopped if run.order.index("backward") < run.order.index("forward")]
print(f"stopped with the backward in front of the forward: {len(early)}")
between = []
for run in still:  # the loop is a circle: count from its backward
    at = run.order.index("backward")
    circle = run.order[at:] + run.order[:at]
    between.append(circle.index("zero") < circle.index("step"))
print(f"nothing moves, zero between backward and step: {sum(between)}")
assert counts == [3, 2, 6, 13] and len(early) == 12 and all(between)
names = ("right", "right but for\nthe two ends", "no weight\nmoves", "stopped by\nan error")
kinds = ([run.order for run in kind_of] for kind_of in (right, rest, still, stopped))
figures.orders(dict(zip(names, kinds, strict=True)))
compare("4.d", closest(len(right), one=1, three=3, four=4, twelve=12))

# %% [markdown]
# Three are right: the three places. Two more begin with the step: its first call finds nothing,
# and the last backward is never used. In between they do what they should. Thirteen stop with an
# error, twelve of them because a backward comes before any forward. Those are the harmless ones:
# you see them.
#
# The six others run to the end and train nothing. In all six, going round the loop, a clearing
# comes after the backward and before the step.
#
# Did you expect that in a wrong order gradients pile up? Look for an order in which a step uses
# a pass that another step has used.

# %% claims="S0-31b"
everything = [
    replay(order) for order in itertools.permutations(("zero", "forward", "backward", "step"))
]
twice = [run.order for run in everything if any(step.used for step in run.steps)]
print("orders, of 24, in which a step uses what an earlier step has used:", len(twice))
assert not twice

# %% [markdown]
# In these loops, with one backward in each round, a clearing in a wrong place loses gradients,
# and nothing piles up. With more backward passes in a round it can be otherwise. You will meet
# such loops in sections 4, 6 and 7.

# %%
quiz("4.q1")

# %% [markdown]
# In the exercise you judge such orders without running them. What has to be remembered from
# event to event? Not much.


# %% exercise="4.3"
def is_valid_order(events):
    """Whether each step uses the gradients since the step before it, and none is lost."""
    ### BEGIN SOLUTION
    waiting = used = False  # what .grad holds: gradients for the next step, or of the last one
    for event in events:
        if event == "zero":
            if waiting:
                return False
            used = False
        elif event == "backward":
            if used:
                return False
            waiting = True
        elif event == "step":
            if used:
                return False
            waiting, used = False, waiting
    return not waiting
    ### END SOLUTION


# %% [markdown]
# ## 3. Who reads `.grad`, and when?
#
# `step()` is not the only reader. You may want to log the length of the gradient, look for
# layers without any, or find a NaN. You put the line for that where one puts such lines: last in
# the body of the loop.


# %%
def logged(place):
    """The lengths of .grad that the last line of the loop sees, in three iterations."""
    model, log = small_model(), []
    optimizer = plain(model.parameters())
    for x, y in batches[:3]:
        if place == "start":
            optimizer.zero_grad()
        squared_error(model(x), y).backward()
        optimizer.step()
        if place != "start":
            optimizer.zero_grad(set_to_none=place == "end")
        log.append(length(model))
    return log


# %%
predict("4.e")

# %% claims="S2-13"
for place in ("start", "end", "end, with zeros"):
    log = ["None" if seen is None else f"{seen:.4f}" for seen in logged(place)]
    print(f"cleared at the {place:<17}", log)
seen = logged("end")[-1]
compare("4.e", "none" if seen is None else "zeros" if seen == 0 else "same")

# %% [markdown]
# A line that skips parameters without a gradient logs nothing there, without a word. And a line
# that waits in this place for `None`, to show that the clearing works, does not see it in the
# loop that clears at the start.
#
# ### Picture: what `.grad` holds, and when
#
# Three iterations of the loop, one row a habit. The number is the iteration whose backward
# brought what is there.


# %%
def holdings(order, set_to_none=True, iterations=3):
    """(event, iteration whose gradient is in .grad, or "None", or "zeros") after each event."""
    model, seen, delivered = small_model(), [], []
    optimizer = plain(model.parameters())
    bias = model[-1].bias
    bias.register_hook(lambda arriving: delivered.append(arriving.clone()))
    for x, y in batches[:iterations]:
        for event in order:
            if event == "zero":
                optimizer.zero_grad(set_to_none=set_to_none)
            elif event == "forward":
                loss = squared_error(model(x), y)
            elif event == "backward":
                loss.backward()
            else:
                optimizer.step()
            now = bias.grad
            if now is None or not now.any():
                seen.append((event, "None" if now is None else "zeros"))
            else:
                place = next(i for i, d in enumerate(delivered, 1) if torch.equal(d, now))
                seen.append((event, place))
    return seen


habits = {
    "at the start": holdings(("zero", "forward", "backward", "step")),
    "after the forward": holdings(("forward", "zero", "backward", "step")),
    "at the end": holdings(("forward", "backward", "step", "zero")),
    "at the end, zeros": holdings(("forward", "backward", "step", "zero"), set_to_none=False),
}
for seen in habits.values():
    assert [held for event, held in seen if event == "backward"] == [1, 2, 3]
figures.holdings(habits)

# %% [markdown]
# Right after the backward all rows agree: `.grad` is there, and belongs to this batch. So read
# it between backward and step. There it also fits the weights. After the step it does not.
#
# > **Fact.** After `step()` of plain SGD, `.grad` still holds the gradient at the weights before
# > the step.

# %%
model, (x, y) = small_model(), batches[0]
optimizer = plain(model.parameters())


def now():
    """The gradient at the weights as they are now."""
    slopes = torch.autograd.grad(squared_error(model(x), y), list(model.parameters()))
    return torch.cat([slope.flatten() for slope in slopes])


before = now()
squared_error(model(x), y).backward()
optimizer.step()
print(f"gradient before the step: length {before.norm().item():.4f}")
print(f".grad after the step:     length {length(model):.4f}")
print(f"gradient after the step:  length {now().norm().item():.4f}")
assert torch.allclose(gradient(model), before) and not torch.allclose(now(), before)

# %% [markdown]
# ### Three habits, and one without
#
# Clearing is needed because `backward()` adds. A gradient that is returned needs none. The
# next cell trains the small model in four ways: plain; with `set_to_none=False`; with
# `torch.autograd.grad`, whose results are put into `.grad` for the optimizer; and with
# `torch.func.grad` (lesson 2), where neither `.grad` nor an optimizer appears.


# %% claims="S0-39 S0-44"
def plain_loop(set_to_none=True):
    model = small_model()
    optimizer = plain(model.parameters())
    for x, y in batches:
        optimizer.zero_grad(set_to_none=set_to_none)
        squared_error(model(x), y).backward()
        optimizer.step()
    return weights(model)


def assigned_loop():
    model = small_model()
    parameters, optimizer = list(model.parameters()), plain(model.parameters())
    for x, y in batches:
        returned = torch.autograd.grad(squared_error(model(x), y), parameters)
        for parameter, new in zip(parameters, returned, strict=True):
            parameter.grad = new
        optimizer.step()
    return weights(model)


def functional_loop():
    model = small_model()
    values = {name: p.detach() for name, p in model.named_parameters()}
    slopes = grad(lambda values, x, y: squared_error(functional_call(model, values, (x,)), y))
    for x, y in batches:
        values = {name: values[name] - 0.1 * s for name, s in slopes(values, x, y).items()}
    assert all(p.grad is None for p in model.parameters())
    return torch.cat([value.flatten() for value in values.values()])


reference = plain_loop()
for name, end in (
    ("set_to_none=False", plain_loop(set_to_none=False)),
    ("autograd.grad, put into .grad", assigned_loop()),
    ("torch.func.grad, no .grad at all", functional_loop()),
):
    same = "bit for bit" if torch.equal(end, reference) else "up to rounding"
    print(f"{name:<33} the weights of the plain loop {same}")
    assert torch.allclose(end, reference, rtol=1e-12, atol=1e-14)

# %% [markdown]
# So zeroing is no part of gradient descent. It is part of a design in which gradients are stored
# and added up. The last two loops have no line that clears, so none that could be forgotten.
#
# ## 4. Validation
#
# Between two epochs you look at *held-out* data, on which the model does not train. Such a pass
# should leave no trace. The usual code has two switches: `model.eval()`, and `torch.no_grad()`
# around the forward. They are easily mixed up, and either one is easily forgotten.
#
# Suppose the second one is forgotten. The validation runs forward passes, in eval mode, and
# takes the losses with `.item()`. There are gradients in `.grad` already.


# %%
def with_norm():
    """A model with BatchNorm, and gradients in .grad."""
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(10, 16), nn.BatchNorm1d(16), nn.Tanh(), nn.Linear(16, 2))
    model.double()
    squared_error(model(batches[0][0]), batches[0][1]).backward()
    return model


def validate(model, evaluation, no_grad, backward=False):
    """The bytes that validation's graphs keep at their peak, for four batches."""
    model.train(not evaluation)
    with SavedBytes(*model.parameters(), *model.buffers(), *(x for x, _ in batches)) as saved:
        for x, y in batches[:4]:
            with torch.set_grad_enabled(not no_grad):
                loss = squared_error(model(x), y)
            if backward:
                loss.backward()
            loss.item()
    model.train()
    return saved.peak


def epochs(place, validation, count=5):
    """The weights after some epochs of 8 batches, each with a validation."""
    model = small_model()
    optimizer = plain(model.parameters())
    for _ in range(count):
        for x, y in batches[:8]:
            if place == "start":
                optimizer.zero_grad()
            squared_error(model(x), y).backward()
            optimizer.step()
            if place == "end":
                optimizer.zero_grad()
        for x, y in batches[32:]:
            loss = squared_error(model(x), y)
            if validation == "with backward":
                loss.backward()
    return weights(model)


# %%
predict("4.f")

# %%
ways = {
    "eval, no_grad": (True, True),
    "eval alone": (True, False),
    "no_grad alone": (False, True),
    "eval, and a backward": (True, False, True),
}
print("validation             .grad       statistics   graphs")
traces = {}
for name, way in ways.items():
    model = with_norm()
    old, statistics = gradient(model), model[1].running_mean.clone()
    peak = validate(model, *way)
    same = torch.equal(gradient(model), old)
    traces[name] = (same, torch.equal(model[1].running_mean, statistics), peak)
    words = ["as before" if kept else "changed" for kept in traces[name][:2]]
    print(f"{name:<22} {words[0]:<11} {words[1]:<12} {'kept' if peak else 'none'}")
assert traces["eval, no_grad"] == (True, True, 0) and not traces["no_grad alone"][1]
compare("4.f", "nothing" if traces["eval alone"][0] else "adds")

# %% [markdown]
# A forward pass has nothing to write into `.grad`. What `no_grad()` saves are the graphs. What
# `eval()` protects here are BatchNorm's statistics. Neither does the other's work, and neither
# looks at `.grad`.
#
# > **Fact.** `no_grad()` does not empty `.grad`, and does not keep `step()` from using it.

# %%
model = with_norm()
optimizer, before, start = plain(model.parameters()), length(model), weights(model)
with torch.no_grad():
    model(batches[1][0])
    print("length of .grad as before, under no_grad():", length(model) == before)
    optimizer.step()
print(f"step() under no_grad() moves the weights by up to {largest(weights(model), start):.3f}")
assert length(model) == before and largest(weights(model), start) > 0

# %% [markdown]
# ### A backward in validation
#
# Why would anybody call it there? To see which pixels matter, to measure the gradient on
# held-out data, or because the lines were copied from the training loop, and only the step was
# taken out. `epochs`, at the start of this section, has such a validation after each of its
# epochs. Everything else in it is one of the legal loops.


# %%
predict("4.g")

# %%
hurt = {}
for place in ("start", "end"):
    hurt[place] = largest(epochs(place, "with backward"), epochs(place, "without"))
    print(f"cleared at the {place:<6} validation changes the weights by {hurt[place]:.3g}")
seen = tuple(error > 0 for error in hurt.values())
keys = {(False, False): "neither", (True, False): "start", (False, True): "end"}
compare("4.g", keys.get(seen, "both"))

# %% [markdown]
# The two legal places are not equally robust. After a clearing at the end, `.grad` is empty, and
# the validation fills it. The first step of the next epoch uses nine gradients. Eight of them
# come from data the model must not train on. A clearing at the start throws them away, at the
# last moment.
#
# The best is that they never get there: no backward, and where you need a gradient in
# validation, `torch.autograd.grad`.
#
# Does a ledger find it? Not by itself: it cannot know that nine backward passes before one step
# are not meant. But it shows them. Read the line of window 9.

# %%
with GradientLedger() as ledger:
    epochs("end", "with backward", count=2)
print("findings:", ledger.findings())
print(ledger.timeline())

# %%
quiz("4.q2")

# %% [markdown]
# ## 5. Clipping
#
# A gradient may be longer than you like. *Clipping* shortens the gradient $g$ of all parameters
# together to a length of at most $c$,
#
# $$g \leftarrow g \cdot \min\left(1, \frac{c}{\lVert g \rVert + 10^{-6}}\right).$$
#
# (The $10^{-6}$ keeps it from dividing by 0.) `clip_grad_norm_` does that. It edits `.grad` in
# place, and returns the length, or norm, as it was before. There is one more line in the loop
# now, and it has a place, too. The loop clears at the start. You try the line in three places,
# with $c = 0.1$.


# %%
def clipped(place, limit=0.1):
    """(weights after 40 batches, what the clipping returned, the length of each move)."""
    model, norms, moves = small_model(), [], []
    optimizer = plain(model.parameters())

    def clip(here):
        if here == place:
            norms.append(nn.utils.clip_grad_norm_(model.parameters(), limit).item())

    for x, y in batches:
        optimizer.zero_grad()
        loss = squared_error(model(x), y)
        clip("before backward")
        loss.backward()
        clip("after backward")
        before = weights(model)
        optimizer.step()
        clip("after step")
        moves.append((weights(model) - before).norm().item())
    return weights(model), norms, moves


# %%
predict("4.h")

# %%
free, _, moves = clipped("nowhere")
useless = []
print("clip             first returned   longest move   as without clipping")
print(f"{'nowhere':<16} {'-':<16} {max(moves):<14.4f} True")
for place in ("before backward", "after backward", "after step"):
    end, norms, moves = clipped(place)
    useless += [place] if torch.equal(end, free) else []
    print(f"{place:<16} {norms[0]:<16.4f} {max(moves):<14.4f} {place in useless}")
measured = torch.equal(clipped("after backward", limit=float("inf"))[0], free)
print("after backward, with an infinite limit: as without clipping:", measured)
assert max(clipped("after backward")[2]) <= 0.1 * 0.1 and measured
early, late = (place in useless for place in ("before backward", "after step"))
compare(
    "4.h", "both" if early and late else "before" if early else "after" if late else "neither"
)

# %% [markdown]
# Before the backward there is nothing to clip: the length is 0. After the step it is too late:
# it shortens a gradient that has been used, and that the next clearing removes. Both loops run
# as if the line were not there, bit for bit. The second one even returns plausible norms.
#
# It happens in published code: VGraphRNN/VGRNN#4, jongwook/onsets-and-frames#24 and
# awslabs/graphstorm#1366 have the clip after the step, and Lightning-AI/pytorch-lightning#10248
# mended the same order in a framework, before its release.
#
# ### The norm is a diagnostic
#
# What `clip_grad_norm_` returns is worth a line in your log. With an infinite limit it leaves a
# gradient of finite norm as it is, and only measures. Here is the digits reader again, for two
# passes over its 30 pages. In the second pass one page comes from a broken scanner: its pixels
# are fifty times too bright.

# %%
predict("4.i")


# %%
def scanned(limit, broken, steps=60):
    """(share of test digits right, norms before clipping) after so many steps."""
    model, norms = reader(), []
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for step, (pixels, labels) in enumerate((pages + pages)[:steps], start=1):
        pixels = 50 * pixels if broken and step == 50 else pixels
        optimizer.zero_grad()
        nn.functional.cross_entropy(model(pixels), labels).backward()
        norms.append(nn.utils.clip_grad_norm_(model.parameters(), limit).item())
        optimizer.step()
    return share_right(model), norms


found = {
    "all pages well": scanned(float("inf"), broken=False),
    "one broken, no clipping": scanned(float("inf"), broken=True),
    "one broken, clipped to 1": scanned(1.0, broken=True),
}
for name, (share, norms) in found.items():
    print(f"{name:<25} {share:.0%} read right, norm in step 50: {norms[49]:.3g}")
before, after = (scanned(float("inf"), True, steps)[0] for steps in (49, 50))
print(f"no clipping: {before:.0%} read right after step 49, {after:.0%} after step 50")
figures.norms(found, limit=1.0)
_, hurt, saved = (share for share, _ in found.values())
compare("4.i", "saved" if saved - hurt > 0.2 else "same" if saved - hurt > -0.05 else "worse")

# %% [markdown]
# One step has undone most of the training, and ten more have not repaired it. The norm names the
# step, in both runs: the value before clipping is what is returned.
#
# ### Which parameters?
#
# Take a loop for *fine-tuning*: a trained model learns something new. The optimizer holds its
# last layer, the *head*. The rest, the *body*, shall stay as it is. The loop clears with
# `optimizer.zero_grad()` and clips with `model.parameters()`, the line that one always writes.
# The limit is 4, more than the length of any of these batches' gradients, of body and head
# together.

# %%
predict("4.j")


# %%
def fine_tuned(clear="optimizer", clip="model", frozen=False, steps=12):
    """(norm that clipping returned, norm of the head's gradient, length of its move), a step."""
    model, rows = small_model(), []
    body, head = model[0], model[-1]
    body.requires_grad_(not frozen)
    optimizer = plain(head.parameters())
    for x, y in batches[:steps]:
        (optimizer if clear == "optimizer" else model).zero_grad()
        squared_error(model(x), y).backward()
        own, before = length(head), weights(head)
        parameters = model.parameters() if clip == "model" else head.parameters()
        norm = nn.utils.clip_grad_norm_(parameters, 4.0).item()
        optimizer.step()
        rows.append((norm, own, (weights(head) - before).norm().item()))
    return rows


tables = {
    "as it stands": fine_tuned(),
    "model.zero_grad()": fine_tuned(clear="model"),
    "head clipped": fine_tuned(clip="head"),
    "body frozen": fine_tuned(frozen=True),
}
print("         as it stands                     model.zero_grad()")
print("step     norm   of head   moved           norm   of head   moved")
first, second, *_ = tables.values()
for step, rows in enumerate(zip(first, second, strict=True), 1):
    cells = ["  ".join(f"{value:7.3f}" for value in row) for row in rows]
    print(f"{step:>4}  {cells[0]}        {cells[1]}")
over = {name: sum(norm > 4 for norm, _, _ in table) for name, table in tables.items()}
print("shortened:", ", ".join(f"{name} {count}" for name, count in over.items()))
assert list(over.values())[1:] == [0, 0, 0]
compare("4.j", closest(over["as it stands"], none=0, one=1, most=8))

# %% [markdown]
# The body gets a gradient in every backward. No optimizer holds it, so `optimizer.zero_grad()`
# does not clear it, and it adds up. The clipping counts it. So old gradients stand in
# the norm of the log: it is 4.273 in step 8, where the other loop has 1.301. And the head is
# shortened for them in more than half of the steps.
#
# There are three cures: clear the whole model; clip what the optimizer holds; or freeze the body
# (lesson 3), so that it gets no gradient at all.


# %% exercise="4.4"
def train_step_clipped(model, optimizer, loss_fn, x, y, max_norm):
    """One step with the gradient clipped to max_norm; (loss, total norm before clipping)."""
    ### BEGIN SOLUTION
    optimizer.zero_grad()
    loss = loss_fn(model(x), y)
    loss.backward()
    total_norm = nn.utils.clip_grad_norm_(model.parameters(), max_norm)
    optimizer.step()
    return loss.item(), total_norm.item()
    ### END SOLUTION


# %% [markdown]
# > **Pause.** This is a good place to stop for the day. You know where clearing, logging,
# > validation and clipping stand in a loop with one model and one optimizer. What follows has
# > two of each, and an optimizer that calls your loop.
#
# ## 6. Two optimizers
#
# Two networks play against each other. The *generator* $G$ makes samples from noise. The
# *discriminator* $D$ gives each sample a score, a *logit*: high for real, low for fake. $D$
# learns to tell them apart, $G$ learns to get high scores. Each has its own optimizer. This is a
# *GAN*, a generative adversarial network.
#
# One iteration has two halves. First $D$: its loss is large when real samples score low or fake
# ones score high. Then $G$: its loss is large when its fakes score low.
#
# In the first half the fakes come out of $G$, and `d_loss.backward()` runs.


# %%
def players():
    """A generator G and a discriminator D in one module; the same weights every time."""
    torch.manual_seed(0)
    G = nn.Sequential(nn.Linear(4, 16), nn.Tanh(), nn.Linear(16, 2))
    D = nn.Sequential(nn.Linear(2, 16), nn.Tanh(), nn.Linear(16, 1))
    return nn.ModuleDict({"G": G, "D": D}).double()


def judged(scores, real):
    """How wrong the scores are when all samples are real, or all are fake."""
    return nn.functional.binary_cross_entropy_with_logits(scores, torch.full_like(scores, real))


def samples(i):
    """Real samples and noise of iteration i."""
    return draw(32, 2, seed=300 + i) + 2, draw(32, 4, seed=400 + i)


def played(detach, g_clear, d_clear, count=12):
    """(weights of G and D, the ledger) after some iterations of the game."""
    game = players()
    G, D = game.values()
    g_optimizer, d_optimizer = plain(G.parameters()), plain(D.parameters())
    with GradientLedger(game, g_optimizer, d_optimizer) as ledger:
        for i in range(count):
            real, noise = samples(i)
            if g_clear == "at the start":
                g_optimizer.zero_grad()
            fake = G(noise)
            d_loss = judged(D(real), 1.0) + judged(D(fake.detach() if detach else fake), 0.0)
            if d_clear == "before its backward":
                d_optimizer.zero_grad()
            d_loss.backward()
            d_optimizer.step()
            if d_clear == "after its step":
                d_optimizer.zero_grad()

            g_loss = judged(D(G(noise)), 1.0)
            if g_clear == "before its backward":
                g_optimizer.zero_grad()
            g_loss.backward()
            g_optimizer.step()
    return weights(game), ledger


# %%
predict("4.k")

# %%
G, D = players().values()
real, noise = samples(0)
d_loss = judged(D(real), 1.0) + judged(D(G(noise)), 0.0)
d_loss.backward()
from_d = gradient(G)
G.zero_grad()
judged(D(G(noise)), 1.0).backward()
from_g = gradient(G)
print(f"in .grad of G, from D's loss: length {from_d.norm().item():.4f}")
print(f"in .grad of G, from its own:  length {from_g.norm().item():.4f}")
cosine = torch.cosine_similarity(from_d, from_g, dim=0).item()
print(f"cosine between the two: {cosine:.4f}")
total = from_d + from_g
with_own = torch.cosine_similarity(total, from_g, dim=0).item()
print(f"their sum: length {total.norm().item():.4f}, cosine with its own: {with_own:.4f}")
seen = "nothing" if not from_d.any() else "against" if cosine < -0.5 else "along"
compare("4.k", seen)

# %% [markdown]
# The backward of $D$'s loss goes on through the fakes into $G$, because they were made by it. It
# brings the gradient of the opposite wish: lower scores for the fakes. If it stays there, $G$'s
# own gradient is added to it. At the start of this game the two largely cancel. The foreign one
# is even the longer one: what is left points against $G$'s own.
#
# There are two ways to keep it out. `fake.detach()` cuts the graph between the two, and $G$ gets
# nothing. Or $G$ is cleared again, before its own backward. The same question stands for $D$:
# the backward of $G$'s loss has to pass through it. Here are five loops:
#
# | loop | the fakes in $D$'s loss | $G$ is cleared | $D$ is cleared |
# |---|---|---|---|
# | 1 | detached | before its backward | before its backward |
# | 2 | not detached | before its backward | before its backward |
# | 3 | detached | at the start of the iteration | before its backward |
# | 4 | not detached | at the start of the iteration | before its backward |
# | 5 | detached | before its backward | after its step |

# %%
predict("4.l")

# %%
loops = {
    "1": (True, "before its backward", "before its backward"),
    "2": (False, "before its backward", "before its backward"),
    "3": (True, "at the start", "before its backward"),
    "4": (False, "at the start", "before its backward"),
    "5": (True, "before its backward", "after its step"),
}
right, wrong = played(*loops["1"])[0], []
for name, (detach, g_clear, d_clear) in loops.items():
    end, ledger = played(detach, g_clear, d_clear)
    error = largest(end, right)
    wrong += [name] if error > 1e-9 else []
    said = ", ".join(found.misconception for found in ledger.findings()) or "nothing found"
    print(f"loop {name}: weights off by {error:<6.3g} the ledger: {said}")
compare("4.l", {"4": "one", "45": "two", "245": "three"}.get("".join(wrong), "none"))

# %% [markdown]
# Loop 2 lets the gradient leak, and throws it away before it does harm: right, for the price of
# a backward through $G$ that nobody needs. yunjey/pytorch-tutorial#56 is a discussion of just
# that. Loop 4 keeps the leak.
#
# Loop 5 is the surprise. It clears $D$ after the step of $D$, a legal place in a loop with one
# model. But then comes $G$'s backward, through $D$, and fills it again. So the clearing came too
# early: before that *foreign* backward. `detach` is no way out here: $G$ learns through $D$. In
# pytorch/examples#361 somebody wonders about this gradient in $D$. Where $D$ is cleared before
# its own backward, as in loops 1 to 4, it does no harm.
#
# Which backward passes did the second steps use? Each iteration has two, the first of $D$'s loss
# and the second of $G$'s.


# %%
def used_in_second(detach, g_clear, d_clear):
    """The backward passes that the second steps of D and of G used."""
    _, ledger = played(detach, g_clear, d_clear, count=2)
    *_, of_d, of_g = (event for event in ledger.events if event.kind == "step")
    return of_d.pass_numbers, of_g.pass_numbers


passes = {
    "loop 1": used_in_second(True, "before its backward", "before its backward"),
    "loop 4": used_in_second(False, "at the start", "before its backward"),
    "loop 5": used_in_second(True, "before its backward", "after its step"),
}
for name, (of_d, of_g) in passes.items():
    print(f"{name}: the second step of D used passes {of_d}, that of G {of_g}")
figures.leaks(passes)

# %% [markdown]
# A simple rule is right with `detach` and without, as loops 1 and 2 show: **clear each model
# right before its own backward.** (Before the first, where a model's half has several.) And
# detach, to save the backward that nobody needs.

# %%
quiz("4.q3")


# %% exercise="4.5"
def adversarial_step(generator, discriminator, g_optimizer, d_optimizer, loss_fn, real, noise):
    """A step of the discriminator, then one of the generator; returns both losses."""
    ### BEGIN SOLUTION
    fake = generator(noise)
    d_optimizer.zero_grad()
    on_real, on_fake = discriminator(real), discriminator(fake.detach())
    d_loss = loss_fn(on_real, torch.ones_like(on_real))
    d_loss = d_loss + loss_fn(on_fake, torch.zeros_like(on_fake))
    d_loss.backward()
    d_optimizer.step()

    g_optimizer.zero_grad()
    judged = discriminator(fake)
    g_loss = loss_fn(judged, torch.ones_like(judged))
    g_loss.backward()
    g_optimizer.step()
    return d_loss.item(), g_loss.item()
    ### END SOLUTION


# %% [markdown]
# ## 7. Closures
#
# An optimizer like *LBFGS* looks at several points in one step. For each it needs the loss and
# the gradient there. So you hand it a function that computes both, called a *closure*, and it is
# the optimizer that runs the forward and the backward.
#
# `torch.optim.LBFGS(..., max_iter=4)` takes up to four inner steps in each `step(closure)`. SGD
# and Adam accept a closure, too.


# %%
def steps_with(make, clear, count=4):
    """(the losses that step(closure) returns, those of all closure calls in each)."""
    model, calls, losses = small_model(), [], []
    optimizer = make(model.parameters())
    rows, wanted = draw(24, 10, seed=1), draw(24, 2, seed=2)

    def closure():
        if clear == "inside":
            optimizer.zero_grad()
        loss = squared_error(model(rows), wanted)
        loss.backward()
        calls[-1].append(loss.item())
        return loss

    for _ in range(count):
        if clear == "outside":
            optimizer.zero_grad()
        calls.append([])
        losses.append(optimizer.step(closure).item())
    return losses, calls


def lbfgs(parameters):
    return torch.optim.LBFGS(parameters, lr=0.3, max_iter=4)


def searching(parameters):
    return torch.optim.LBFGS(parameters, max_iter=4, line_search_fn="strong_wolfe")


# %%
predict("4.m")

# %%
for name, make in (("SGD", plain), ("Adam", makers["Adam"]), ("LBFGS", lbfgs)):
    losses, calls = steps_with(make, clear="inside")
    print(f"{name:<6} calls of the closure in each step: {[len(call) for call in calls]}")
compare("4.m", closest(len(calls[0]), once=1, four=4, five=5))

# %% [markdown]
# After the last inner step it does not ask again. So inside one `step()` there are four backward
# passes. What does a clearing in the place that was right so far, before the step, do here?

# %%
predict("4.n")

# %% claims="S0-32"
curves = {place: steps_with(lbfgs, clear=place)[0] for place in ("inside", "outside", "nowhere")}
for place, losses in curves.items():
    print(f"cleared {place:<8}", "  ".join(f"{loss:9.3g}" for loss in losses))
figures.closures(curves)
ends = {place: losses[-1] for place, losses in curves.items()}
rises = ends["outside"] > curves["outside"][0]
compare("4.n", "inside" if rises else "slower" if ends["outside"] > ends["inside"] else "either")

# %% [markdown]
# Look into the first step. These are the losses of its four closure calls, and what `step`
# returned:

# %%
for place in ("inside", "outside"):
    losses, calls = steps_with(lbfgs, clear=place, count=1)
    shown = "  ".join(f"{loss:8.4g}" for loss in calls[0])
    print(f"cleared {place:<8} {shown}   returned {losses[0]:.4g}")
    assert losses[0] == calls[0][0]
first, second = (steps_with(lbfgs, clear=place, count=1)[1][0] for place in ("inside", "outside"))
assert first[:2] == second[:2] and first[2] != second[2]

# %% [markdown]
# The first two agree: the first inner step is right. The next one is made with the sum of two
# gradients, measured at two points.
#
# It need not explode. With a *line search*, LBFGS checks each move by its loss and its slope:

# %%
for place in ("inside", "outside"):
    losses, _ = steps_with(searching, clear=place)
    print(f"line search, cleared {place:<8}", "  ".join(f"{loss:7.3g}" for loss in losses))

# %% [markdown]
# That is worse in a way: nothing explodes, the loss falls, and after four steps it is many times
# too high.
#
# > **Fact.** With LBFGS the clearing belongs inside the closure, before its backward. With SGD,
# > which calls the closure once, both places give the same.

# %%
one, other = (steps_with(plain, clear=place)[0] for place in ("inside", "outside"))
print("SGD, the same losses:", one == other)
for make in (lbfgs, searching):
    right, wrong = (steps_with(make, clear=place)[0] for place in ("inside", "outside"))
    print(f"LBFGS, last loss: inside {right[-1]:.2g}, outside {wrong[-1]:.2g}")
    assert right == sorted(right, reverse=True) and wrong[-1] > 5 * right[-1]
assert one == other

# %% [markdown]
# It is the rule of section 1 once more. Each call of the closure asks for the gradient at one
# point, so each call is a window of its own, with a clearing of its own.
#
# The forward belongs inside, too. pytorch/pytorch#111369 had it outside:

# %%
model, (x, y) = small_model(), batches[0]
optimizer, loss = lbfgs(model.parameters()), squared_error(model(x), y)


def without_forward():
    optimizer.zero_grad()
    loss.backward()
    return loss


try:
    optimizer.step(without_forward)
    raise AssertionError("the second call went through")
except RuntimeError as error:
    print(str(error)[:55], "...")

# %% [markdown]
# In the exercise you write one such step. Which of the losses that the closure returns is the
# loss before the step?


# %% exercise="4.6"
def closure_step(model, optimizer, loss_fn, x, y):
    """One LBFGS step on the batch (x, y); returns the loss before it."""

    ### BEGIN SOLUTION
    def closure():
        optimizer.zero_grad()
        loss = loss_fn(model(x), y)
        loss.backward()
        return loss

    return optimizer.step(closure).item()
    ### END SOLUTION


# %% [markdown]
# <details><summary>Which loss is it?</summary>
#
# The first: at the first call of the closure, no inner step has moved a weight. In the table of
# the first step above, `step` returned that one.
#
# </details>

# %% [markdown]
# ## True or false
#
# Six statements that you will meet elsewhere. Commit to each before you measure it.

# %%
x, y = batches[0]


def ordinary_loop():
    """The weights after the plain loop over all batches."""
    model = small_model()
    optimizer = plain(model.parameters())
    for rows, wanted in batches:
        optimizer.zero_grad()
        squared_error(model(rows), wanted).backward()
        optimizer.step()
    return weights(model)


# %% [markdown]
# **One: code without the line.**

# %%
predict("4.o")


# %% claims="S0-37"
class Trainer:
    """A framework in ten lines: it owns the loop, you hand it a model and a loss."""

    def fit(self, model, loss_of, batches):
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        for batch in batches:
            loss = loss_of(model, batch)
            loss.backward()
            optimizer.step()
            optimizer.zero_grad()


model = small_model()
with GradientLedger() as ledger:
    Trainer().fit(model, lambda model, batch: squared_error(model(batch[0]), batch[1]), batches)
same = torch.equal(weights(model), ordinary_loop())
print("the weights of the loop with the line, bit for bit:", same)
print(ledger.timeline())
compare("4.o", true_or_false(not same))

# %% [markdown]
# Your own code may lack the line because somebody else's has it. (Or because nothing is stored:
# section 3.) Whether a framework clears for you is in its manual, and in the ledger of one short
# run.
#
# **Two: before each batch.**

# %%
predict("4.p")

# %% claims="S2-15 S0-35"
ends = {}
for clear in ("each batch", "each step"):
    model = small_model()
    optimizer = plain(model.parameters())
    for index, (rows, wanted) in enumerate(batches):
        if clear == "each batch" or index % 2 == 0:
            optimizer.zero_grad()
        (squared_error(model(rows), wanted) / 2).backward()
        if index % 2 == 1:
            optimizer.step()
    ends[clear] = weights(model)
model = small_model()
optimizer = plain(model.parameters())
for first, second in zip(batches[::2], batches[1::2], strict=True):
    optimizer.zero_grad()
    both = [torch.cat(pair) for pair in zip(first, second, strict=True)]
    squared_error(model(both[0]), both[1]).backward()
    optimizer.step()
errors = {clear: largest(end, weights(model)) for clear, end in ends.items()}
for clear, error in errors.items():
    shown = "right up to 1e-12" if error < 1e-12 else f"off by {error:.2g}"
    print(f"two batches a step, cleared before {clear:<11} {shown}")
assert errors["each step"] < 1e-12
compare("4.p", true_or_false(errors["each batch"] < 1e-12))

# %% [markdown]
# Once per step, not once per batch. Here a clearing before each batch loses every other batch.
# In gaozhihan/PreDiff#32 a reader found such a clearing: outside the `if` that guards the step.
# (The usual loop has one batch a step, so there is no difference to see in it.)
#
# **Three: clipping, hooks and functions of your own.**

# %%
predict("4.q")


# %% claims="S0-22 S0-36"
class Square(torch.autograd.Function):
    """x squared, with a backward of one's own."""

    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x**2

    @staticmethod
    def backward(ctx, arriving):
        return 2 * ctx.saved_tensors[0] * arriving


def handled(how):
    """The weights after the ordinary loop, with clipping, a hook or a Function in it."""
    model = small_model()
    optimizer = plain(model.parameters())
    if how == "hook":
        for parameter in model.parameters():
            parameter.register_hook(lambda arriving: 0.5 * arriving)
    for rows, wanted in batches:
        optimizer.zero_grad()
        off = model(rows) - wanted
        loss = (Square.apply(off) if how == "Function" else off**2).mean()
        (0.5 * loss if how == "factor" else loss).backward()
        if how == "clipping":
            nn.utils.clip_grad_norm_(model.parameters(), 1e9)
        optimizer.step()
    return weights(model)


pairs = (("clipping", "plain"), ("hook", "factor"), ("Function", "plain"))
off = {how: largest(handled(how), handled(other)) for how, other in pairs}
agree = {how: error < 1e-14 for how, error in off.items()}
for how, same in agree.items():
    print(f"{how:<10} the ordinary clearing is enough: {same}")
model = small_model()
for parameter, new in zip(
    model.parameters(),
    torch.autograd.grad(squared_error(model(x), y), model.parameters()),
    strict=True,
):
    parameter.grad = new  # no backward() has ever run on this model
norm = nn.utils.clip_grad_norm_(model.parameters(), 0.1).item()
print(f"clipping without anything accumulated: {norm:.4f} to {length(model):.4f}")
assert abs(length(model) - 0.1) < 1e-5 and all(agree.values())
compare("4.q", true_or_false(all(agree.values())))

# %% [markdown]
# None of the three changes when or how to clear: what they hand on arrives in `.grad`. (A hook or
# function that adds into a place of its own has to clear that itself.) And clipping does not need
# accumulation: it works on any `.grad`, wherever it comes from.
#
# **Four: mixed precision.** In *mixed precision* with float16, the loss is multiplied by a large
# *scale*, so that small gradients survive in 16 bits. A `GradScaler` looks after the scale
# (lesson 7).

# %%
predict("4.r")

# %% claims="S0-20 S0-42"
scales = []
for set_to_none in (True, False):
    model = small_model().float()
    optimizer = plain(model.parameters())
    scaler = torch.amp.GradScaler("cpu", init_scale=1024.0)
    scaler.scale(squared_error(model(x.float()), y.float())).backward()
    scaler.step(optimizer)
    scaler.update()
    before = (scaler.get_scale(), scaler.state_dict())
    optimizer.zero_grad(set_to_none=set_to_none)
    scales.append((scaler.get_scale(), scaler.state_dict()) == before)
    print(f"set_to_none={set_to_none!s:<6} scale {before[0]} before, {scaler.get_scale()} after")
compare("4.r", true_or_false(not all(scales)))

# %% [markdown]
# In a legal place the scaler never hears of the clearing. The line is the same with mixed precision
# and without.
#
# **Five: a clean start.**

# %%
predict("4.s")

# %%
model, other = small_model(), small_model()
print(".grad of a new model:", [p.grad for p in model.parameters()])
plain(model.parameters()).zero_grad()
print("and after a clearing:", [p.grad for p in model.parameters()])
for one in (model, other):
    squared_error(one(x), y).backward()
same = torch.equal(gradient(model), gradient(other))
print("the first gradient with the clearing and without it, bit for bit:", same)
compare("4.s", true_or_false(same))

# %% [markdown]
# A new model's `.grad` is `None`: there is nothing to clear, and nothing random in it. The calls
# matter from the second window on, and for a model that has been used before.
#
# **Six: several machines.** In *data-parallel* training each process has its own copy of the
# model and its own `.grad`. The copies are kept equal by averaging their gradients: an
# *all-reduce*.

# %%
predict("4.t")

# %% claims="S0-41"
counted = {
    "a step after each of 8 batches": all_reduces(batches=8, window=1),
    "a step after every 4": all_reduces(batches=8, window=4),
    "the same, with no_sync()": all_reduces(batches=8, window=4, no_sync=True),
}
for name, count in counted.items():
    print(f"{name:<32} all-reduces: {count}")
each, late, silent = counted.values()
assert silent == 2
compare("4.t", true_or_false(late < each))

# %% [markdown]
# (The helper wraps the model in `DistributedDataParallel`, PyTorch's data-parallel training. It
# runs in this process alone, beside three machines that are made up.) Each backward asks for an
# average, whenever the clearing comes. What saves traffic is `no_sync()`, which holds the
# average back until the last backward of a window. Lesson 7 uses it.
#
# ## Summary
#
# | question | answer | shown in |
# |---|---|---|
# | Where may clearing stand? | After a step, and before the next window's first backward | 1, 2 |
# | Do the legal places differ? | Not in the weights, if `.grad` is empty at the start and no foreign backward comes; in what they trust | 1, 4, 6 |
# | What does the popular diagram do? | It throws every gradient away; zeros with weight decay shrink the weights | first section |
# | Does a clearing in a wrong place make gradients pile up? | Not in the 24 orders: there it loses them. With more backward passes in a round it can | 2, 4, 6, 7 |
# | When may `.grad` be read? | Between backward and step | 3 |
# | Is clearing part of gradient descent? | No: of storing and adding. Returned gradients need none | 3 |
# | What does validation write into `.grad`? | Nothing, unless it calls backward | 4 |
# | Where does clipping stand? | Between backward and step; over what the optimizer holds | 5 |
# | What is the returned norm? | The length before clipping: put it into the log | 5 |
# | Does `no_grad()` protect the weights? | Not from a step: it keeps forward passes from recording a graph | 4 |
# | Two models? | Clear each right before its own backward; a foreign backward may have filled it | 6 |
# | LBFGS? | Clear inside the closure | 7 |
#
# ## What comes next
#
# The loops of this lesson were wrong by one line, and you knew which. In lesson 5 you do not.
# You get loops that run without an error and look plausible, with a loss curve that misleads,
# and you find what is wrong with them.

# %%
progress(4)
