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
# # Mixed precision, many devices
#
# Lesson 6 split a large batch into micro-batches. Two things are usually added to such a loop
# when a model grows: numbers with 16 bits, and more processes. Each adds lines to the loop, and
# each new line has its place. This lesson measures what happens in the others.
#
# What you will be able to do:
#
# - say which gradients a 16-bit number loses, at both ends, and choose a loss scale;
# - write a loss scaler, and hold it to PyTorch's over random sequences of overflows;
# - put scale, backward, unscale, clip, step, update, clear and schedule in their order;
# - accumulate in bfloat16 without stalling;
# - accumulate in two processes with one all-reduce a window, and divide by the right count;
# - write a training loop that may be killed at any window, and goes on as if it had not been.
#
# Everything runs on the CPU, with two real processes where the lesson speaks of two.

# %%
import contextlib
import copy
import io
import itertools
import math
import os
import tempfile
import warnings
from pathlib import Path

import torch
import torch.distributed as dist
from torch import nn
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import fully_shard
from torch.nn.parallel import DistributedDataParallel

from course_utils.data import digits
from course_utils.lessons.lesson7 import figures
from course_utils.lessons.lesson7.no_sync import WAYS, backwards
from course_utils.lessons.lesson7.ranks import RankError, kill_this_process, on_ranks
from course_utils.lessons.lesson7.take_home import take_home
from course_utils.lessons.measured import closest, true_or_false
from course_utils.widgets import underflow_line
from gradient_ledger import GradientLedger

# %% [markdown]
# Small helpers for the whole lesson, and the task of lessons 2 and 4: handwritten digits, in 30
# pages of 50 to learn from, and 297 to be tested on. Numbers are float32 now, unless the text
# says otherwise: the rounding is what this lesson is about.


# %%
data = digits()
x_test = data.x_test.float()
pages = list(zip(data.x.float().split(50), data.y.split(50), strict=True))
cross_entropy = nn.functional.cross_entropy


def draw(*shape, seed=0):
    """Normal numbers of that shape, the same every time."""
    generator = torch.Generator().manual_seed(seed)
    return torch.randn(*shape, generator=generator)


def reader():
    """A network that reads digits; the same weights every time."""
    torch.manual_seed(0)
    return nn.Sequential(nn.Linear(64, 32), nn.ReLU(), nn.Linear(32, 10))


def small_model():
    """4 inputs, 8 hidden values, 3 outputs; the same weights every time."""
    torch.manual_seed(0)
    return nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 3))


def weights(model):
    """All parameters of a model in one long vector, copied."""
    return torch.cat([p.detach().flatten() for p in model.parameters()])


def gradient(model):
    """All gradients of a model in one long vector, in float64."""
    return torch.cat([p.grad.flatten().double() for p in model.parameters()])


def share_right(model):
    with torch.no_grad():
        return (model(x_test).argmax(dim=1) == data.y_test).double().mean().item()


def largest(a, b):
    """The largest difference of two vectors."""
    return (a - b).abs().max().item()


def off(found, right):
    """How far a vector is from the right one, as a share of its length."""
    found, right = found.double(), right.double()
    return ((found - right).norm() / right.norm()).item()


def shown(error):
    """An error as text; what is rounding in float32 is called so."""
    return "rounding" if error < 2e-6 else f"{error:.3f}"


torch.optim.SGD(small_model().parameters(), lr=0.1)  # what the first optimizer loads, once

# %% [markdown]
# ## A factor that should not matter
#
# *Mixed precision* means that some of the work is done in 16 bits and some in 32. In PyTorch
# the forward pass stands under `torch.autocast`. It hands the matrix products their inputs in
# 16 bits, and leaves the parameters as they are.
#
# Adam divides each gradient by an average of its size. So a loss that is multiplied by
# $10^{-5}$ trains like the loss itself, as long as Adam's `eps` is far smaller than the
# gradients. Such factors are common: a second loss with a small weight, or a mean over very
# many outputs.


# %%
def learn(dtype=None, factor=1e-5, scale=None, device="cpu"):
    """The digits after three passes with Adam, forward in `dtype`; (share read right, model)."""
    model = reader().to(device)
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01, eps=1e-12)
    half = torch.autocast(device, dtype=dtype, enabled=dtype is not None)
    scaler = torch.amp.GradScaler(device, init_scale=scale or 1.0, enabled=scale is not None)
    for pixels, labels in 3 * pages:
        pixels, labels = pixels.to(device), labels.to(device)
        optimizer.zero_grad()
        with half:
            loss = factor * cross_entropy(model(pixels), labels)
        scaler.scale(loss).backward()
        scaler.step(optimizer)
        scaler.update()
    return share_right(model.cpu()), model


# %% [markdown]
# The loss of the digits is multiplied by $10^{-5}$. Then three passes in float32 and in
# float16, without a scale.

# %%
predict("7.a")

# %%
read = {}
for name, factor, dtype in (
    ("float32", 1.0, None),
    ("float32", 1e-5, None),
    ("float16", 1.0, torch.float16),
    ("float16", 1e-5, torch.float16),
):
    read[name, factor] = learn(dtype, factor)[0]
    print(f"loss * {factor:<6g} forward in {name}: {read[name, factor]:.0%} read right")
lost = read["float16", 1.0] - read["float16", 1e-5]
assert abs(read["float32", 1.0] - read["float32", 1e-5]) < 0.02
compare("7.a", "chance" if lost > 0.6 else "less" if lost > 0.05 else "same")

# %% [markdown]
# In float32 the factor does not matter. In float16 three passes lead hardly beyond guessing. No
# line failed.
#
# Two more runs with the same factor: in *bfloat16*, another format of 16 bits, and in float16
# with a `GradScaler`, which multiplies the loss by 65536 before the backward pass and divides
# the gradients by it before the step.

# %% claims="S1-18"
cures = {"bfloat16": {"dtype": torch.bfloat16}}
cures["float16, scaled"] = {"dtype": torch.float16, "scale": 65536.0}
for name, options in cures.items():
    share, model = learn(**options)
    print(f"loss * 1e-05 forward in {name:<15}: {share:.0%} read right")
    assert abs(share - learn()[0]) < 0.03
print("parameters:", {p.dtype for p in model.parameters()}, end=", ")
print(".grad:", {p.grad.dtype for p in model.parameters()})
with torch.autocast("cpu", dtype=torch.float16):
    logits = model(pages[0][0])
    logits.register_hook(lambda arriving: print("on the way, at the logits:", arriving.dtype))
    loss = cross_entropy(logits, pages[0][1])
loss.backward()

# %% [markdown]
# Both are cures. Note the last two lines: weights and `.grad` are float32 here, and what
# arrives at the logits is float16. So what got lost was lost on the way, in the backward pass.
# The end of section 1 shows the place.
#
# ## 1. Numbers that vanish
#
# A floating-point number has a sign, some bits for its exponent and some for its digits.
#
# | format | bits for the exponent | bits for the digits |
# |---|---|---|
# | float32 | 8 | 23 |
# | float16 | 5 | 10 |
# | bfloat16 | 8 | 7 |
#
# The exponent decides which sizes there are, the digits how fine they lie. So bfloat16 has
# about the sizes of float32, and few digits. float16 has more digits, and few sizes.
#
# First the gradients of one page, in float32, with the factor of the opening. They are what has
# to fit into the format.


# %%
def page_gradients(factor=1e-5):
    """The gradients of the first page in float32, a tensor each parameter."""
    model, (pixels, labels) = reader(), pages[0]
    loss = factor * cross_entropy(model(pixels), labels)
    return torch.autograd.grad(loss, list(model.parameters()))


first_page = torch.cat([part.flatten() for part in page_gradients()])
first_page = first_page[first_page != 0]
smallest, greatest = first_page.abs().aminmax()
print(f"{len(first_page)} gradients that are not zero, from {smallest:.1e} to {greatest:.1e}")

# %% [markdown]
# Where does float16 end? `torch.finfo(torch.float16).tiny` is 6.1e-5. All of these gradients
# are smaller.

# %%
predict("7.b")

# %%
print("format     largest    named smallest   smallest by halving   next after 1")
ends = {}
for dtype in (torch.float32, torch.float16, torch.bfloat16):
    value = torch.tensor(1.0, dtype=dtype)
    while value / 2 > 0:
        value = value / 2
    info = torch.finfo(dtype)
    ends[dtype] = value.item()
    name = str(dtype).removeprefix("torch.")
    print(
        f"{name:<10} {info.max:<10.3g} {info.tiny:<16.3g} {value.item():<21.3g} 1 + {info.eps:g}"
    )
compare("7.b", closest(ends[torch.float16], tiny=6.1e-5, small=6e-8, far=1e-45))

# %% [markdown]
# Below 6.1e-5 come the *subnormal* numbers: they go on to 6e-8, with fewer digits the smaller
# they are. The gap to the next number stays the same there. So an error of rounding becomes a
# larger share of the number, long before the number becomes zero.
#
# > **Fact.** A float32 number becomes 0 in float16 when its size is at most 2 to the power of
# > -25, half of the smallest float16 number.

# %%
for power, factor in ((-24, 1.0), (-25, 1.001), (-25, 1.0), (-25, 0.999)):
    number = torch.tensor(factor * 2.0**power)
    print(f"{factor:5.3f} * 2**{power}: in float16 {number.half().item():.3g}")
    assert (number.half() == 0) == (number <= 2.0**-25)

# %% [markdown]
# ### Picture: a line of sizes
#
# These are the gradients of the first page, with the factor of the opening. Move the scale:
# every gradient moves to the right with it. Find:
#
# 1. the smallest power of two that saves all of them in float16;
# 2. how far above it the first one overflows, and becomes infinite;
# 3. what bfloat16 does with scale 1.

# %%
underflow_line(page_gradients())

# %% [markdown]
# <details><summary>What the slider shows</summary>
#
# 2**12 still loses one of the gradients of this page, 2**13 none. The first infinite one comes
# at 2**37, a factor of 16 million later. bfloat16 needs no scale here: with scale 1 nothing
# becomes zero. The next cell counts.
#
# </details>

# %%
for power in (12, 13, 36, 37):
    half = (first_page * 2.0**power).half()
    print(f"2**{power}: {int((half == 0).sum())} zero, {int(half.isinf().sum())} infinite")
print("bfloat16, scale 1:", int((first_page.bfloat16() == 0).sum()), "zero")

# %% [markdown]
# The room between the two ends is wide, and it moves while a model learns. Is a larger scale
# simply better? The error is measured after dividing by the scale again.

# %%
predict("7.c")

# %%
print("scale     become zero   infinite   their error  of one, up to")
kept = {}
for power in (0, 4, 8, 12, 16, 24, 32, 36, 40):
    half = (first_page * 2.0**power).half()
    zero, infinite = (half == 0).double().mean(), half.isinf().double().mean()
    back = half.double() / 2.0**power
    kept[power] = off(back, first_page)
    single = ((back - first_page) / first_page).abs().max().item()
    print(f"2**{power:<6} {zero:<13.1%} {infinite:<10.1%} {kept[power]:<12.2g} {single:.2g}")
middle = [kept[power] for power in (16, 24, 32)]
compare("7.c", "flat" if max(middle) < 1.1 * min(middle) else "larger")

# %% [markdown]
# A power of two moves the exponent of a number and leaves its digits alone. So the scale does
# not matter as long as all numbers are normal ones, neither subnormal nor infinite. At 2**16
# some of the small ones are still subnormal. The last column shows it, and the one before does
# not: there, large gradients count more.
#
# ### Lost on the way
#
# At scale 1 half of these gradients would survive. So why did the opening's run learn next to
# nothing? It never got as far as these. On its way back the gradient passes the logits, in
# float16. On the first page it has ten entries there for each of the 50 digits: one for the
# right digit, nine for others.


# %%
def arriving(scale):
    """The gradient at the logits of the first page, in float16, divided by the scale again."""
    model, (pixels, labels), seen = reader(), pages[0], []
    with torch.autocast("cpu", dtype=torch.float16):
        logits = model(pixels)
        loss = 1e-5 * cross_entropy(logits, labels)
    logits.register_hook(seen.append)
    (scale * loss).backward()
    return seen[0].double() / scale


right_digit = nn.functional.one_hot(pages[0][1], 10).bool()
for scale in (1.0, 65536.0):
    entries = arriving(scale)
    for name, where in (("right", right_digit), ("other", ~right_digit)):
        zero = int((entries[where] == 0).sum())
        print(f"scale {scale:<6g} {name} digits: {zero} of {int(where.sum())} become zero")

# %% [markdown]
# An entry for a wrong digit is its probability, here about 0.1, times $10^{-5}$, divided by 50.
# That is 2e-8, and less than 2 to the power of -25. What is left at the logits pushes the right
# digits up, and no entry pushes a wrong one down.
#
# In the exercise you measure what is lost at the lower end.


# %% exercise="7.1"
def underflow_fraction(gradients, scale, dtype):
    """The share of the nonzero entries that become zero in dtype, after times scale; a float."""
    ### BEGIN SOLUTION
    nonzero = lost = 0
    for gradient in gradients:
        before = gradient != 0
        after = (gradient * scale).to(dtype)
        nonzero += int(before.sum())
        lost += int((before & (after == 0)).sum())
    return lost / nonzero if nonzero else 0.0
    ### END SOLUTION


# %% [markdown]
# ## 2. A scale that finds itself
#
# Which scale is right depends on the model, the loss and the moment. A *loss scaler* does not
# need to know. It begins high. Whenever a gradient is infinite or NaN, it skips the step and
# halves the scale. After a number of steps without that, the *growth interval*, it doubles it.


# %%
def scaled_run(start, interval, steps):
    """(scale at each step, whether it was skipped, the model) with Adam in float16."""
    model = reader()
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
    scaler = torch.amp.GradScaler("cpu", init_scale=start, growth_interval=interval)
    scales, skipped = [], []
    for pixels, labels in (10 * pages)[:steps]:
        optimizer.zero_grad()
        with torch.autocast("cpu", dtype=torch.float16):
            loss = cross_entropy(model(pixels), labels)
        scaler.scale(loss).backward()
        scaler.step(optimizer)
        scales.append(scaler.get_scale())
        scaler.update()
        skipped.append(scaler.get_scale() < scales[-1])
    return scales, skipped, model


def round_of(scaler, factors, optimizers, parameters, unscale=()):
    """One round: gradients of these sizes for each parameter, then the optimizers' steps."""
    for parameter, factor, optimizer in zip(parameters, factors, optimizers, strict=True):
        optimizer.zero_grad()
        loss = scaler.scale((parameter * factor).sum())
        if loss is ...:  # a scaler that is yet to be written
            return
        loss.backward()
        if optimizer in unscale:
            scaler.unscale_(optimizer)
    for optimizer in optimizers:
        scaler.step(optimizer)
    scaler.update()


def two():
    """Two parameters, and an optimizer for each."""
    parameters = [nn.Parameter(torch.ones(3)) for _ in range(2)]
    return parameters, [torch.optim.SGD([p], lr=0.5) for p in parameters]


# %% [markdown]
# You give PyTorch's scaler a start of 2 to the power of 40, far too high, and a growth interval
# of 20 steps. (Its defaults are 2 to the power of 16 and 2000.) Then you train for 300 steps.

# %%
predict("7.d")


# %%
scales, skipped, model = scaled_run(2.0**40, 20, 300)
first = skipped.index(False)
later = sum(skipped[first:])
power = math.log2(scales[first])
print(f"steps skipped before the first that was taken: {first}, scale then 2**{power:.0f}")
print(f"steps skipped after it: {later} of {300 - first}")
print("on the pages:", *(step % 30 + 1 for step in range(first, 300) if skipped[step]))
print(f"{share_right(model):.0%} of the digits read right")
assert scales[first] == 2.0**20 and share_right(model) > 0.8
default = torch.amp.GradScaler("cpu")
assert (default.get_scale(), default.get_growth_interval()) == (2.0**16, 2000)
figures.scale_over_steps(scales, skipped)
compare("7.d", closest(later + 0.5, none=0.5, one=1.5, dozen=12.5))

# %% [markdown]
# The search costs a step for each power of two. Then the scaler goes on testing the upper end:
# it doubles until something overflows, skips that step, and halves.
#
# The end moves, too. Some skips come without a doubling before, as the end comes down. From the
# fifth skip on it is the last of the 30 pages each time: its gradient is too large for a scale
# that the pages just before it bear.
#
# ### What it remembers
#
# A scaler is a small machine with a memory. What lies between two calls of `update()` is a
# *round*: one step so far, a window from section 3 on. The scaler holds the scale, and the
# number of good rounds since the last change.
#
# There can be two optimizers, for two models as in lesson 4. In one round, only the first one's
# gradients overflow. Both are stepped, then `update()` is called once.

# %%
predict("7.e")


# %%
parameters, optimizers = two()
scaler = torch.amp.GradScaler("cpu", init_scale=1024.0, growth_interval=3)
round_of(scaler, (math.inf, 1.0), optimizers, parameters)
moved = [bool((p != 1).any()) for p in parameters]
print("moved:", moved, " scale:", scaler.get_scale())
compare("7.e", "both" if not any(moved) else "shared" if scaler.get_scale() < 1024 else "apart")

# %% [markdown]
# Each optimizer is judged by its own gradients, and the scale by all of them. So the scaler also
# remembers for each optimizer how far it is in this round, and what was found. The picture has
# one optimizer:

# %%
figures.scaler_states()

# %% [markdown]
# Each of its four calls does one thing:
#
# | call | what it does |
# |---|---|
# | `scale(loss)` | multiplies the loss by the scale |
# | `unscale_(optimizer)` | divides the `.grad` of each of the optimizer's parameters by the scale, and notes whether one is infinite or NaN |
# | `step(optimizer)` | unscales if that has not been done, and steps if nothing was noted |
# | `update()` | backs off if something was noted for any optimizer, else counts, and grows when it is time; forgets the notes |
#
# (An optimizer made with `fused=True` is an exception. It is called in any case, and leaves the
# weights alone by itself at an overflow. But SGD's momentum, where that was its first step, is
# then memory that nobody has filled. LibreYOLO/libreyolo#771 had NaN from it.)
#
# The scale has no floor. If all rounds are bad, it is halved each time:

# %%
parameters, optimizers = two()
scaler, rounds = torch.amp.GradScaler("cpu"), 0
while scaler.get_scale() >= 2.0**-127:
    round_of(scaler, (math.nan, math.nan), optimizers, parameters)
    rounds += 1
power = math.log2(scaler.get_scale())
print(f"NaN in every round: after {rounds} rounds the scale is 2**{power:.0f}")
assert all(bool((p == 1).all()) for p in parameters)
round_of(scaler, (1.0, 1.0), optimizers, parameters)
print("then a round with gradients of 1: weights", parameters[0].tolist())
assert all(bool(p.isinf().all()) for p in parameters)
parameters = [nn.Parameter(torch.ones(3))]
optimizer = torch.optim.SGD(parameters, lr=0.5, momentum=0.9, fused=True)
steps, scaler = [], torch.amp.GradScaler("cpu")
optimizer.register_step_post_hook(lambda *_: steps.append("called"))
torch.use_deterministic_algorithms(True)  # writes NaN into memory that nobody fills
round_of(scaler, (math.inf,), [optimizer], parameters)
torch.use_deterministic_algorithms(False)
print("fused=True at an overflow: step", *steps, "- weights", parameters[0].tolist())
print("    and the momentum", *optimizer.state[parameters[0]].values())

# %% [markdown]
# Skipping is for gradients that overflow now and then. It does not mend a model that gives NaN:
# every step is skipped, and nothing is said. And a scale of 2**-128 has no finite reciprocal in
# float32: the next healthy round made the weights infinite.
#
# The machine also knows some wrong orders of its calls. Three that are refused:

# %%
for calls in (("unscale_", "unscale_"), ("step", "unscale_"), ("step", "step")):
    parameters, (optimizer, _) = two()
    scaler = torch.amp.GradScaler("cpu")
    scaler.scale(parameters[0].sum()).backward()
    try:
        for call in calls:
            getattr(scaler, call)(optimizer)
        raise AssertionError("it was not refused")
    except RuntimeError as error:
        print(f"{' then '.join(calls):<23} {type(error).__name__}: {str(error)[:40]}")

# %% [markdown]
# Now you build it.


# %% exercise="7.2"
class LossScaler:
    """A loss scale that shrinks when gradients overflow, and grows after a while without."""

    ### BEGIN STUB
    def __init__(self, init_scale, growth_factor, backoff_factor, growth_interval):
        """What has to be remembered?"""
        # your code here

    def scale(self, loss):
        """The loss times the scale, with its graph."""
        return ...  # your code here

    def unscale_(self, optimizer):
        """Divide each .grad that the optimizer holds by the scale, once a round."""
        return ...  # your code here

    def step(self, optimizer):
        """Step, if every entry was finite when it was unscaled."""
        return ...  # your code here

    def update(self):
        """End the round: back off, grow, or neither."""
        return ...  # your code here

    def get_scale(self):
        """The scale, as a Python float."""
        return ...  # your code here

    ### END STUB
    ### BEGIN SOLUTION
    def __init__(self, init_scale, growth_factor, backoff_factor, growth_interval):
        self._scale = float(init_scale)
        self._growth_factor, self._backoff_factor = growth_factor, backoff_factor
        self._growth_interval, self._good_rounds = growth_interval, 0
        self._overflowed = {}  # by optimizer, since the last update()
        self._stepped = set()

    def scale(self, loss):
        """The loss times the scale, with its graph."""
        return loss * self._scale

    def unscale_(self, optimizer):
        """Divide each .grad that the optimizer holds by the scale, once a round."""
        if optimizer in self._overflowed:
            raise RuntimeError("unscale_() after unscale_() or step(), without update()")
        params = [p for group in optimizer.param_groups for p in group["params"]]
        gradients = [p.grad for p in params if p.grad is not None]
        self._overflowed[optimizer] = not all(bool(g.isfinite().all()) for g in gradients)
        for gradient in gradients:
            gradient /= self._scale

    def step(self, optimizer):
        """Step, if every entry was finite when it was unscaled."""
        if optimizer in self._stepped:
            raise RuntimeError("step() after step(), without update()")
        if optimizer not in self._overflowed:
            self.unscale_(optimizer)
        self._stepped.add(optimizer)
        if not self._overflowed[optimizer]:
            optimizer.step()

    def update(self):
        """End the round: back off, grow, or neither."""
        if any(self._overflowed.values()):
            self._scale *= self._backoff_factor
            self._good_rounds = 0
        else:
            self._good_rounds += 1
            if self._good_rounds == self._growth_interval:
                self._scale *= self._growth_factor
                self._good_rounds = 0
        self._overflowed.clear()
        self._stepped.clear()

    def get_scale(self):
        """The scale, as a Python float."""
        return self._scale

    ### END SOLUTION


# %% [markdown]
# Is it PyTorch's? The next cell plays both scalers 100 random sequences: two optimizers, twelve
# rounds, gradients that are finite, infinite or NaN, with `unscale_` called by hand or not. It
# compares every scale and every weight. (Before the exercise is solved it counts none.) The
# factors are powers of two: others are rounded, by PyTorch in float32.


# %%
def played(make, seed):
    """All scales and weights along one random sequence, for the scaler that `make` builds."""
    generator = torch.Generator().manual_seed(seed)

    def roll(n):
        return int(torch.randint(n, (), generator=generator))

    parameters, optimizers = two()
    scaler = make(
        init_scale=2.0 ** roll(8),
        growth_factor=2.0 ** (1 + roll(2)),
        backoff_factor=0.5,
        growth_interval=1 + roll(4),
    )
    seen = []
    for _ in range(12):
        factors = [(1.0, 0.25, -2.0, math.inf, math.nan)[roll(5)] for _ in range(2)]
        by_hand = [optimizer for optimizer in optimizers if roll(2)]
        round_of(scaler, factors, optimizers, parameters, by_hand)
        seen += [scaler.get_scale(), *parameters[0].tolist(), *parameters[1].tolist()]
    return seen


def official(**options):
    return torch.amp.GradScaler("cpu", **options)


alike = sum(played(LossScaler, seed) == played(official, seed) for seed in range(100))
print(f"{alike} of 100 sequences: all scales and weights equal to PyTorch's")

# %%
quiz("7.q1")

# %% [markdown]
# ## 3. The right order
#
# With clipping, a scheduler and accumulation, a window has eight kinds of lines:
#
# > scale, backward (for each micro-batch), then unscale, clip, step, update, clear, schedule.
#
# The next cell has such a loop as a function of the order. A window has two micro-batches, and
# the clipping is active.


# %%
def ordered(after, each="", scaled=True, windows=3, make=torch.optim.SGD, lr=0.1):
    """The move after some windows with these events; or the error as a string."""
    model = reader()
    optimizer = make(model.parameters(), lr=lr)
    scaler = torch.amp.GradScaler("cpu", init_scale=1024.0, growth_interval=2)
    do = {
        "unscale": lambda: scaler.unscale_(optimizer),
        "clip": lambda: nn.utils.clip_grad_norm_(model.parameters(), 0.1),
        "step": lambda: scaler.step(optimizer),
        "optimizer.step": optimizer.step,
        "update": scaler.update,
        "clear": optimizer.zero_grad,
    }
    try:
        for window in range(windows):
            for pixels, labels in pages[2 * window : 2 * window + 2]:
                with torch.autocast("cpu", dtype=torch.float16):
                    loss = cross_entropy(model(pixels), labels) / 2
                (scaler.scale(loss) if scaled else loss).backward()
                for event in each.split():
                    do[event]()
            for event in after.split():
                do[event]()
    except (RuntimeError, AssertionError) as error:
        return f"window {window + 1}: {error}"[:48]
    return weights(model) - weights(reader())


do_once = ("unscale", "clip", "step", "update", "clear")
right_move = ordered(" ".join(do_once))

# %% [markdown]
# You run it in the right order, and in nine that differ from it by a few lines, three windows
# each.

# %%
predict("7.f")

# %% claims="S1-15"
wrong = {
    "clip before unscale": {"after": "clip unscale step update clear"},
    "clip without unscale": {"after": "clip step update clear"},
    "clip after the step": {"after": "unscale step clip update clear"},
    "update before the step": {"after": "unscale clip update step clear"},
    "optimizer.step(), no unscale": {"after": "optimizer.step clear"},
    "backward without scale": {"after": "unscale clip step update clear", "scaled": False},
    "no update": {"after": "unscale clip step clear"},
    "unscale each micro-batch": {"after": "clip step update clear", "each": "unscale"},
    "the same, with update": {"after": "clip step update clear", "each": "unscale update"},
}
print(f"{'the right order':<29} length of the move {right_move.norm():.4f}")
loud = []
for name, events in wrong.items():
    move = ordered(**events)
    if isinstance(move, str):
        loud.append(name)
        print(f"{name:<29} {move.rstrip()}")
    else:
        cosine = torch.cosine_similarity(move, right_move, dim=0)
        print(f"{name:<29} length of the move {move.norm():<9.3g} cosine {cosine:.3f}")
        assert not move.isfinite().all() or abs(move.norm() / right_move.norm() - 1) > 0.01
print(f"refused: {len(loud)} of {len(wrong)}")
compare("7.f", closest(len(loud) + 1, one=1, some=5, all=10))

# %% [markdown]
# Four of the nine are refused by the scaler, two of them not before the second window. Five are
# silent, and the weights move otherwise than they should. The first two of the nine and the last
# one give steps that are far too short. A clipping after the step limits nothing. And an optimizer
# that steps by itself on gradients times 1024 takes steps so long that the weights end as NaN.
#
# A clipping that stands before `unscale_`, or has none, sees gradients that are 1024 times too
# long. It cuts them to 0.1, and the unscaling divides what is left by 1024. With SGD the loop
# trains, about a thousand times too slowly. It was found in milesial/Pytorch-UNet#468,
# pytorch/examples#1196 and victorchall/EveryDream2trainer#175.
#
# The row with `unscale_` in each micro-batch is microsoft/Swin-Transformer#311. An `update()`
# beside it silences the error, and that is the last row: what has been unscaled is unscaled
# again in the next micro-batch. `update()` before the step is refused late. In the first window
# `step()` finds no note that there was an unscaling, and unscales once more.
#
# The next cell tries all orders of the five lines that come once. It also asks what "clip before
# unscale" looks like with AdamW.

# %%
moves = [ordered(" ".join(order)) for order in itertools.permutations(do_once)]
loud = sum(isinstance(move, str) for move in moves)
same = sum(torch.equal(move, right_move) for move in moves if not isinstance(move, str))
print(f"{len(moves)} orders: {same} right, {loud} refused, {len(moves) - same - loud} silent")
assert torch.equal(ordered("unscale clip step clear update"), right_move)
again = ordered("unscale clip update step clear", windows=1)
alone = ordered("unscale clip step update clear", windows=1)
print(f"update before the step, one window: {alone.norm() / again.norm():.0f} times too short")
for make, lr in ((torch.optim.SGD, 0.1), (torch.optim.AdamW, 0.001)):
    early, late = (
        ordered(order, make=make, lr=lr)
        for order in ("clip unscale step update clear", "unscale clip step update clear")
    )
    share = (early.norm() / late.norm()).item()
    print(f"{make.__name__:<6} clip before unscale: {share:.4f} of the right length")

# %% [markdown]
# Two orders are right: update and clear may change places. AdamW hides most of the factor, as in
# lesson 6, and the mistake with it.

# %%
figures.window_order()

# %% [markdown]
# ### After a skipped step
#
# Lesson 4 left two places for clearing. A scaler adds one question: what if the step does not
# come? This author clears "when the gradients have been used":

# %%
predict("7.g")


# %% claims="S1-17"
def with_overflow(clear, scale=2.0**20, half=True):
    """Which of six windows end in a step, the scales, the move; at 2**20 the second overflows."""
    model = reader()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    scaler = torch.amp.GradScaler("cpu", init_scale=scale, enabled=half)
    taken, scales = [], []
    for pixels, labels in pages[:6]:
        with torch.autocast("cpu", dtype=torch.float16, enabled=half):
            loss = cross_entropy(model(pixels), labels)
        scales.append(scaler.get_scale())
        scaler.scale(loss).backward()
        before = weights(model)
        scaler.step(optimizer)
        scaler.update()
        taken.append(not torch.equal(weights(model), before))
        if clear == "always" or (clear == "after a step" and taken[-1]):
            optimizer.zero_grad()
    return taken, scales, weights(model) - weights(reader())


for clear in ("always", "never", "after a step"):
    taken, scales, _ = with_overflow(clear)
    powers = " ".join(f"{math.log2(scale):.0f}" for scale in scales)
    print(f"clears {clear + ':':<13} steps taken {sum(taken)} of 6, scales 2** {powers}")
assert with_overflow("always")[0] == [True, False, True, True, True, True]
compare("7.g", closest(sum(taken), one=1, some=3, five=5))
for name, half in (("float16, scale 2**16", True), ("float32, no scaler", False)):
    moves = [with_overflow(clear, 2.0**16, half)[2] for clear in ("never", "always")]
    print(f"never cleared, no overflow, {name + ':':<21} off by {off(*moves):.5f}")

# %% [markdown]
# An infinite number stays infinite, or becomes NaN, whatever is added to it. So the next window
# is skipped for the sake of the last one, and the next, and the scale is halved each time
# without a reason. espnet/espnet#3283 mends such a loop.
#
# Clearing keeps its place: after the step, or where the step would have been. But the scale
# hides that it is missing. After the step `.grad` is unscaled, and the next backward adds
# gradients times 65536 to it. What was left over hardly counts, until a window overflows. The
# micro-batches of a window, too, are added up while they are scaled, so all of them need the
# same scale. `update()`, which may change it, comes once a window.
#
# ### The schedule
#
# A scheduler that is stepped once a window counts windows. Some of them had no step. In the
# next cell the learning rate is halved by each `scheduler.step()`. Eight windows, and three of
# them overflow: the first, the second and the sixth.


# %%
def scheduled(only_with_the_optimizer, scale=2.0**22):
    """The learning rate after eight windows, which of them were skipped, and the warnings."""
    model = reader()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    scheduler = torch.optim.lr_scheduler.ExponentialLR(optimizer, 0.5)
    scaler, left_out = torch.amp.GradScaler("cpu", init_scale=scale), []
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        for pixels, labels in pages[:8]:
            with torch.autocast("cpu", dtype=torch.float16):
                loss = cross_entropy(model(pixels), labels)
            scaler.scale(loss).backward()
            scale = scaler.get_scale()
            scaler.step(optimizer)
            scaler.update()
            optimizer.zero_grad()
            left_out.append(scaler.get_scale() < scale)
            if not (only_with_the_optimizer and left_out[-1]):
                scheduler.step()
    said = [str(one.message)[:54] for one in caught] or ["nothing"]
    return optimizer.param_groups[0]["lr"], left_out, said


for only in (False, True):
    rate, left_out, said = scheduled(only)
    print(
        f"scheduler moves {'with the optimizer' if only else 'in every window':<19} lr {rate:.5f}"
    )
    print("    warned:", *said)
    assert rate == 0.1 * 0.5 ** (5 if only else 8)
    assert [place for place in range(8) if left_out[place]] == [0, 1, 5]
rate, left_out, said = scheduled(False, scale=2.0**20)
print(f"in every window, and window {1 + left_out.index(True)} alone is skipped: lr {rate:.5f}")
print("    warned:", *said)
assert sum(left_out) == 1

# %% [markdown]
# PyTorch warned since this run begins with a skipped step. A step that is skipped later is not
# noticed.
#
# How does the loop know that a step was skipped? The scaler has no public answer. But with one
# optimizer, and as long as the scale is not 0, a skipped step makes it smaller at `update()`.
# pytorch/pytorch#55585 and huggingface/transformers#11144 are about the warning, which the
# second way avoids.

# %%
quiz("7.q2")

# %% [markdown]
# ### Your turn
#
# Write the window, whole.


# %% exercise="7.3"
def amp_accumulation_step(
    model,
    optimizer,
    scaler,
    loss_fn,
    micro_batches,
    max_norm,
    scheduler=None,
    dtype=torch.float16,
):
    """One step on a window of micro-batches; {"loss", "grad_norm", "skipped"}."""
    ### BEGIN SOLUTION
    optimizer.zero_grad()
    total = 0.0
    for x, y in micro_batches:
        with torch.autocast(x.device.type, dtype=dtype):
            loss = loss_fn(model(x), y)
        scaler.scale(loss / len(micro_batches)).backward()
        total += loss.item()
    scaler.unscale_(optimizer)
    grad_norm = nn.utils.clip_grad_norm_(model.parameters(), max_norm)
    before = scaler.get_scale()
    scaler.step(optimizer)
    scaler.update()
    skipped = scaler.get_scale() < before
    optimizer.zero_grad()
    if scheduler is not None and not skipped:
        scheduler.step()
    return {
        "loss": total / len(micro_batches),
        "grad_norm": grad_norm.item(),
        "skipped": skipped,
    }
    ### END SOLUTION


# %% [markdown]
# Lesson 5 had three instruments. The next cell runs your step for six windows of four
# micro-batches under one of them, the ledger. Loops of this kind, with accumulation, mixed
# precision and an explicit clearing, can be read in public code: karpathy/nanoGPT has one, for
# several GPUs, too. (Before the exercise is solved it prints nothing.)

# %% claims="S1-35"
model = reader()
optimizer = torch.optim.AdamW(model.parameters(), lr=0.01)
scaler = torch.amp.GradScaler("cpu", init_scale=2.0**22)
scheduler = torch.optim.lr_scheduler.ExponentialLR(optimizer, 0.9)
told = []
with GradientLedger(window=4) as ledger:
    for start in range(0, 24, 4):
        micro_batches = pages[start : start + 4]
        told += [
            amp_accumulation_step(
                model, optimizer, scaler, cross_entropy, micro_batches, 1.0, scheduler
            )
        ]
if told[0] is not ...:
    print("skipped:", [window["skipped"] for window in told])
    print("norms:  ", [f"{window['grad_norm']:.3g}" for window in told])
    print("found:  ", [one.misconception for one in ledger.findings()])

# %% [markdown]
# ## 4. Around the order
#
# ### One `autocast` around everything
#
# In the loops above, `autocast` stands around each forward pass. It looks simpler to put it
# around the whole loop, once. Here is the same page six times, with a step of SGD after each.


# %%
def one_block(steps=6, **options):
    """Losses of the same page, the whole loop under one autocast; and the move."""
    model, losses = reader(), []
    optimizer = torch.optim.SGD(model.parameters(), lr=0.5)
    pixels, labels = pages[0]
    with torch.autocast("cpu", dtype=torch.bfloat16, **options):
        for _ in range(steps):
            optimizer.zero_grad()
            loss = cross_entropy(model(pixels), labels)
            loss.backward()
            optimizer.step()
            losses.append(loss.item())
    return losses, weights(model) - weights(reader())


# %% [markdown]
# What does the loss do?

# %%
predict("7.h")

# %%
losses, moved = one_block()
print("losses:", *(f"{loss:.4f}" for loss in losses))
print(
    f"weights moved by up to {moved.abs().max():.2f}; off from six times the first move by",
    end=" ",
)
print(shown(off(moved, 6 * one_block(steps=1)[1])))
compare("7.h", "constant" if len(set(losses)) == 1 else "falls")

# %% [markdown]
# The weights move, and the loss does not. `autocast` keeps the 16-bit copy of each weight that
# it has made, so that one forward pass does not make it twice. It throws the copies away when
# the outermost block ends. In this loop it never ends, and every forward pass sees the weights
# of the start. The gradients are those of the start, too: it is six times the same step.


# %%
def a_block_each(outer):
    """The same losses with a block around each forward pass; or with one more around the loop."""
    model, losses = reader(), []
    optimizer = torch.optim.SGD(model.parameters(), lr=0.5)
    bfloat16 = torch.autocast("cpu", dtype=torch.bfloat16)
    with bfloat16 if outer else contextlib.nullcontext():
        for _ in range(6):
            optimizer.zero_grad()
            with torch.autocast("cpu", dtype=torch.bfloat16):
                loss = cross_entropy(model(pages[0][0]), pages[0][1])
            loss.backward()
            optimizer.step()
            losses.append(loss.item())
    return losses


without, each, inside = one_block(cache_enabled=False)[0], a_block_each(False), a_block_each(True)
print("one block, cache off:        ", *(f"{loss:.4f}" for loss in without))
print("around each forward:         ", *(f"{loss:.4f}" for loss in each))
print("these inside one more block: ", *(f"{loss:.4f}" for loss in inside))
assert each == without and each == sorted(each, reverse=True)

# %% [markdown]
# So: `autocast` around the forward pass and its loss, and no block that reaches over a step. In
# X-GenGroup/Flow-Factory#186 a whole training stood still like that.
#
# ### One bad number, and no scaler
#
# With bfloat16 there is usually no scaler, and so nothing that looks for NaN. The square root
# has an infinite slope at 0. In the next cell a loss has such a term on one single weight. It
# adds 0 to the loss. Of the 2410 entries of the gradient it makes one NaN. Then comes a
# clipping to length 1, and a step of SGD.

# %%
predict("7.i")


# %%
def one_bad_entry(clip=True, check=False, infinite=False):
    """(loss, bad entries of .grad before clipping, then NaN and changed weights)."""
    model = reader()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    weight = model[0].weight[0, 0]
    with torch.autocast("cpu", dtype=torch.bfloat16):
        loss = cross_entropy(model(pages[0][0]), pages[0][1])
        nothing = weight - weight.detach()
        loss = loss + (nothing if infinite else nothing.abs()).sqrt()
    loss.backward()
    bad = int((~gradient(model).isfinite()).sum())
    norm = nn.utils.clip_grad_norm_(model.parameters(), 1.0) if clip else torch.zeros(())
    if norm.isfinite() or not check:
        optimizer.step()
    end = weights(model)
    return loss.item(), bad, int(end.isnan().sum()), int((end != weights(reader())).sum())


loss, bad, after, _ = one_bad_entry()
print(f"loss {loss:.4f}, NaN in .grad: {bad}, NaN in the weights after clip and step: {after}")
print("without the clipping:", one_bad_entry(clip=False)[2])
print("step left out where the norm is not finite:", one_bad_entry(check=True)[2])
_, infinities, nans, moved = one_bad_entry(infinite=True)
print(
    f"inf in .grad: {infinities}, NaN in the weights: {nans}, other weights moved: {moved - nans}"
)
assert math.isfinite(loss) and bad == infinities == 1
compare("7.i", closest(after, one=1, layer=2048, all=2410))

# %% [markdown]
# The length of a vector with a NaN is NaN, and clipping multiplies everything by 1 over that.
# One entry took the whole model with it, in one step, with a finite loss. With an infinity in
# its place the length is infinite. Its own weight becomes NaN, and all other gradients become 0.
#
# The cure costs a line. The norm has been computed anyway: look at it, and leave out the step
# where it is not finite. (`error_if_nonfinite=True` raises an error instead.) A scaler does the
# same by the way, for any NaN or infinity, whether or not its scale was the cause. The price is
# that the window is lost, all of its micro-batches.
#
# ### Old names
#
# Much code still has `torch.cuda.amp.GradScaler()` and `torch.cuda.amp.autocast()`. Here they
# are once:

# %% tags=["nbval-ignore-output"] claims="S1-16"
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    scaler, half = torch.cuda.amp.GradScaler(), torch.cuda.amp.autocast()
    with half:
        dtype = reader()(pages[0][0]).dtype
print(f"scaler enabled: {scaler.is_enabled()}, output of a model on the CPU: {dtype}")
for one in caught:
    print(f"{one.category.__name__}: {str(one.message)[:58]}")
deprecated = [one for one in caught if one.category is FutureWarning]
assert len(deprecated) == 2 and dtype == torch.float32

# %% [markdown]
# They are deprecated (pytorch/pytorch#126527). Their names hold the device, CUDA. The new ones
# take it as an argument: `torch.amp.GradScaler("cpu")` and `torch.autocast("cpu")`, as in all
# cells of this lesson. Without a GPU the old ones warn and switch themselves off. The forward
# pass is float32.
#
# ### On a GPU
#
# Everything so far ran on the CPU. If there is a GPU, the next cell runs the opening of this
# lesson on it.

# %% tags=["nbval-ignore-output"]
if torch.cuda.is_available():
    for name, options in (
        ("float32", {}),
        ("float16", {"dtype": torch.float16}),
        ("float16, scaled", {"dtype": torch.float16, "scale": 65536.0}),
        ("bfloat16", {"dtype": torch.bfloat16}),
    ):
        print(f"{name:<16} {learn(device='cuda', **options)[0]:.0%} read right")
else:
    print("no GPU here: nothing was measured")

# %% [markdown]
# > **Pause.** This is a good place to stop for the day. You know where each line of a
# > mixed-precision window stands. What follows is about long sums, many processes and runs that
# > are killed.
#
# ## 5. Long sums in bfloat16
#
# In the opening bfloat16 needed no scale. So some code makes the whole model bfloat16, with
# `model.bfloat16()`, and saves half of the memory for weights and gradients. There is no
# `autocast` in it, and `.grad` is bfloat16, too.
#
# The next cell makes such a model, and sums up its gradient in two ways.


# %%
half_model = reader().bfloat16()
rows_1000, labels_1000 = data.x.float()[:1000].bfloat16(), data.y[:1000]


def large_batch():
    """The gradient of the mean over all 1000 samples, in float64."""
    model = copy.deepcopy(half_model).double()
    cross_entropy(model(rows_1000.double()), labels_1000).backward()
    return gradient(model)


def small_batches(model, count, size=1):
    """Accumulate the gradient of the first `count` samples' mean, `size` at a time."""
    for start in range(0, count, size):
        x, y = rows_1000[start : start + size], labels_1000[start : start + size]
        (cross_entropy(model(x), y) * (len(x) / count)).backward()
    return model


exact = large_batch()
one_by_one = gradient(small_batches(copy.deepcopy(half_model), 1000))
print("weights:", half_model[0].weight.dtype, " samples:", len(rows_1000))

# %% [markdown]
# Accumulation is a sum in `.grad`. You begin with the simplest one: 5000 times 1.

# %%
predict("7.j")

# %%
sums = {}
for dtype in (torch.float32, torch.float16, torch.bfloat16):
    parameter = nn.Parameter(torch.zeros((), dtype=dtype))
    history = []
    for _ in range(5000):
        parameter.sum().backward()
        history.append(parameter.grad.item())
    name = str(dtype).removeprefix("torch.")
    sums[name] = history
    print(f"{name:<9} sum of 5000 gradients of 1: {history[-1]:g}")
print(f"256 + 1 in bfloat16: {(torch.tensor(256.0).bfloat16() + 1).item():g}")
figures.stalling(sums)
compare("7.j", closest(sums["bfloat16"][-1], early=256, late=2048, right=5000))

# %% [markdown]
# A bfloat16 has eight binary digits: the seven of the table in section 1, and a first one that
# is 1 in all normal numbers and so is not stored. Therefore above 256 the next number is
# 258. The sum 257 lies half way, and is rounded back, each time. The sum *stalls*: whatever
# comes later is lost, as long as it is small against what is there.
#
# In the next cell the gradient is that of the digits. 1000 samples are 1000 micro-batches. The
# reference is the whole batch in float64, with the same weights.

# %%
print(f"bfloat16, 1000 micro-batches: off by {off(one_by_one, exact):.3f}")
at_once = copy.deepcopy(half_model)
cross_entropy(at_once(rows_1000), labels_1000).backward()
print(f"bfloat16, one large batch:    off by {off(gradient(at_once), exact):.3f}")
assert off(one_by_one, exact) > 10 * off(gradient(at_once), exact)

# %% [markdown]
# The large batch is off by what rounding on its way costs. The long sum is off by more than a
# tenth.
#
# Where can the sum be taken instead? Four ways:
#
# 1. **fewer adds**: micro-batches of 50, and 20 of them, where memory allows;
# 2. **float32 beside the model**: after each backward, what stands in `.grad` is added to a
#    float32 buffer, and `.grad` is cleared. A hook on each parameter can do that;
# 3. **`p.grad_dtype = torch.float32`**, where torch has it: `.grad` itself is float32;
# 4. **float32 weights under `autocast`**: the forward pass is bfloat16, and `.grad` is float32,
#    as in all sections before.


# %% claims="S1-34"
def with_buffers():
    """Way 2: the sums of a hook on each parameter."""
    model = copy.deepcopy(half_model)
    buffers = {p: torch.zeros_like(p, dtype=torch.float32) for p in model.parameters()}

    def collect(parameter):
        buffers[parameter] += parameter.grad
        parameter.grad = None

    for parameter in model.parameters():
        parameter.register_post_accumulate_grad_hook(collect)
    small_batches(model, 1000)
    return torch.cat([buffer.flatten() for buffer in buffers.values()])


def under_autocast():
    """Way 4: float32 weights, the forward pass in bfloat16."""
    model = copy.deepcopy(half_model).float()
    for start in range(1000):
        with torch.autocast("cpu", dtype=torch.bfloat16):
            loss = cross_entropy(
                model(rows_1000[start : start + 1].float()), labels_1000[start : start + 1]
            )
        (loss / 1000).backward()
    return gradient(model)


ways = {
    "as it was": one_by_one,
    "fewer adds": gradient(small_batches(copy.deepcopy(half_model), 1000, size=50)),
    "float32 buffers": with_buffers(),
    "autocast": under_autocast(),
}
errors = {name: off(total, exact) for name, total in ways.items()}
for name, error in errors.items():
    print(f"{name:<17} off by {error:.4f}")
if hasattr(torch.Tensor, "grad_dtype"):  # way 3: the same sums as way 2
    model = copy.deepcopy(half_model)
    for parameter in model.parameters():
        parameter.grad_dtype = torch.float32
    assert torch.equal(gradient(small_batches(model, 1000)), ways["float32 buffers"].double())
assert errors["as it was"] > 10 * max(
    value for name, value in errors.items() if name != "as it was"
)
# %% [markdown]
# The buffers are added to by a hook, which clears `.grad` by itself each time. (Way 3 gives the
# bits of way 2. The cell asserts it where torch has it.)
#
# A fifth idea needs none of them: leave the losses undivided, so that the numbers are larger,
# and divide the sum at the end. Is it a cure?

# %%
predict("7.k")

# %%
undivided = copy.deepcopy(half_model)
for start in range(1000):
    x, y = rows_1000[start : start + 1], labels_1000[start : start + 1]
    cross_entropy(undivided(x), y).backward()
error = off(gradient(undivided) / 1000, exact)
print(f"divided at the end, not before each backward: off by {error:.4f}")
compare("7.k", "cures" if error < 0.02 else "same" if error < 0.25 else "worse")
try:
    undivided[0].weight.grad = torch.zeros(32, 64)
except RuntimeError as refused:
    print(f"{type(refused).__name__}: a float32 .grad is given to a bfloat16 weight")
undivided[0].weight.grad = torch.zeros(32, 64).bfloat16()  # rounded, it is taken

# %% [markdown]
# Dividing makes the terms and their sum smaller alike, and stalling is about how they compare.
# What cures here is a sum with more digits (ways 2, 3 and 4), or fewer terms (way 1). Way 2 costs
# 4 bytes a weight for the buffer. NVIDIA/Megatron-LM#372 asks why bfloat16 needs such buffers,
# and microsoft/DeepSpeed#2768 is about a run that diverged without.
#
# After ways 2 and 3 the step has to follow. By default a bfloat16 weight takes no float32 `.grad`:
# that is the error above. So round the sum once, or step on a float32 copy of the weights.
#
# ### Your turn


# %% exercise="7.4"
def accumulate_in_fp32(model, loss_fn, micro_batches):
    """{name: float32 gradient} of the mean loss over all rows; .grad stays as it was."""
    ### BEGIN SOLUTION
    trainable = {name: p for name, p in model.named_parameters() if p.requires_grad}
    totals = {name: torch.zeros_like(p, dtype=torch.float32) for name, p in trainable.items()}
    for x, y in micro_batches:
        loss = loss_fn(model(x), y)
        gradients = torch.autograd.grad(loss, list(trainable.values()), allow_unused=True)
        for total, gradient in zip(totals.values(), gradients, strict=True):
            if gradient is not None:
                total += gradient.float() / len(micro_batches)
    return totals
    ### END SOLUTION


# %% [markdown]
# ## 6. Two processes
#
# Lesson 4 counted all-reduces with machines that were made up. Now there are two. The function
# `on_ranks(f)` starts two processes, joins them in a group, runs `f()` in both, and returns
# what each of the two returns. Each process has a number, its *rank*. They are connected by
# *gloo*, which PyTorch uses where there is no GPU. When the call returns, both have ended.
#
# `DistributedDataParallel`, DDP for short, wraps a model in each rank. Its backward averages
# the gradients of all ranks, in *buckets* of several parameters, one all-reduce a bucket.


# %%
def counted(ddp_model):
    """A list that gets longer with every all-reduce of a bucket; averages as DDP does."""
    asked = []

    def average(state, bucket):
        asked.append(bucket.index())
        sums = dist.all_reduce(bucket.buffer(), async_op=True).get_future()
        return sums.then(lambda done: done.value()[0] / dist.get_world_size())

    ddp_model.register_comm_hook(None, average)
    return asked


def eight_pages():
    """The gradient of the mean over the first eight pages, in one process."""
    model, (pixels, labels) = reader(), (torch.cat(part) for part in zip(*pages[:8], strict=True))
    cross_entropy(model(pixels), labels).backward()
    return gradient(model)


def one_backward():
    """.grad of a plain model and of a DDP model, after a page of this rank's own."""
    pixels, labels = pages[dist.get_rank()]
    plain, model = reader(), reader()
    ddp_model = DistributedDataParallel(model)
    cross_entropy(plain(pixels), labels).backward()
    cross_entropy(ddp_model(pixels), labels).backward()
    return gradient(plain), gradient(model)


def begun():
    """The weights of a model that each rank began by itself, before DDP has it and after."""
    torch.manual_seed(dist.get_rank())
    model = nn.Linear(64, 10)
    before = weights(model)
    DistributedDataParallel(model)
    return before, weights(model)


(before_0, after_0), (before_1, after_1) = on_ranks(begun)
print("ranks begin with equal weights:", torch.equal(before_0, before_1), end=", ")
print("with DDP around the model:", torch.equal(after_0, after_1))
assert torch.equal(after_1, before_0)
(own_0, ddp_0), (own_1, ddp_1) = on_ranks(one_backward)
print(f"the ranks' own gradients differ by  {off(own_0, own_1):.2f} of their length")
print("those of DDP are equal, bit for bit:", torch.equal(ddp_0, ddp_1))
print("and off from the mean of the own by", shown(off(ddp_0, (own_0 + own_1) / 2)))
assert torch.equal(ddp_0, ddp_1) and off(ddp_0, (own_0 + own_1) / 2) < 1e-6

# %% [markdown]
# DDP copies the weights of rank 0 to all ranks at the start. After the backward each rank holds
# the same `.grad`: the mean. So each takes the same step, and the weights stay equal.
#
# ### A window of four
#
# Each rank has four micro-batches a window. Three of the averages are of no use. The block
# `no_sync()` is there to switch them off. Here are five ways to write the window:
#
# | way | first three micro-batches | last one |
# |---|---|---|
# | plain | as always | as always |
# | inside | forward and backward inside `no_sync()` | as always |
# | backward inside | forward before it, backward inside `no_sync()` | as always |
# | forward inside | forward inside `no_sync()`, backward behind it | as always |
# | all inside | forward and backward inside `no_sync()` | inside, too |
#
# `backwards(way, …)` goes through a window in one of them, and lets the cell count after each
# backward. How many all-reduces does the third way make in the window? (This model fits into one
# bucket.)

# %%
predict("7.l")


# %% claims="S1-32"
def windows_of_four():
    """{way: (all-reduces in each of four backwards, .grad after the window)} of this rank."""
    found, mine = {}, pages[4 * dist.get_rank() :][:4]
    for way in WAYS:
        model = reader()
        ddp_model = DistributedDataParallel(model)
        asked, sent = counted(ddp_model), []
        for _ in backwards(way, ddp_model, cross_entropy, mine):
            sent.append(len(asked) - sum(sent))
        found[way] = sent, gradient(model)
    return found


rank_0, rank_1 = on_ranks(windows_of_four)
large = eight_pages()
print("way               all-reduces   off by    ranks differ by")
for way, (sent, left) in rank_0.items():
    apart = off(rank_1[way][1], left)
    print(f"{way:<17} {sum(sent):<13} {shown(off(left, large)):<9} {apart:.3f}")
figures.all_reduces({way: sent for way, (sent, _) in rank_0.items()})
assert rank_0["inside"][0] == [0, 0, 0, 1] and off(rank_0["inside"][1], large) < 1e-6
assert off(rank_1["all inside"][1], rank_0["all inside"][1]) > 0.1
compare("7.l", closest(sum(rank_0["backward inside"][0]) + 1, none=1, one=2, four=5))

# %% [markdown]
# DDP decides in the *forward* pass: a graph built outside `no_sync()` has the next backward
# averaged. With only the backward inside, `no_sync()` does nothing: the numbers are right, and
# the traffic is that of the plain way. With only the forward inside it does as much as with
# both. So keep them in pairs: a forward, then its backward. huggingface/accelerate#1726 is about
# a way around that.
#
# The last way is the opposite: no traffic, and no error either. Each rank steps on its own
# gradient, and the models drift apart. So the ranks have to agree: the same passes are averaged
# on all of them.
#
# ### Your turn


# %% exercise="7.5"
def ddp_accumulation_step(ddp_model, optimizer, loss_fn, micro_batches):
    """One step on the mean over all samples of all ranks, with one all-reduce a bucket."""
    ### BEGIN SOLUTION
    last = len(micro_batches) - 1
    optimizer.zero_grad()
    for number, (x, y) in enumerate(micro_batches):
        # DDP reads the switch in the forward pass, so that stands inside, too.
        with ddp_model.no_sync() if number < last else contextlib.nullcontext():
            loss = loss_fn(ddp_model(x), y) / len(micro_batches)
            loss.backward()
    optimizer.step()
    ### END SOLUTION


# %% [markdown]
# The check ran your step on two ranks in one process. Here it runs in two, with three windows
# of four micro-batches, against one process with large batches. (Before the exercise is solved
# nothing moves.)


# %%
def your_windows():
    """(all-reduces, weights) of this rank after three windows with your step."""
    model = reader()
    ddp_model = DistributedDataParallel(model)
    asked, optimizer = counted(ddp_model), torch.optim.SGD(model.parameters(), lr=0.5)
    for window in range(3):
        first = 8 * window + 4 * dist.get_rank()
        ddp_accumulation_step(ddp_model, optimizer, cross_entropy, pages[first : first + 4])
    return len(asked), weights(model)


model = reader()
optimizer = torch.optim.SGD(model.parameters(), lr=0.5)
for window in range(3):
    x_large, y_large = (torch.cat(part) for part in zip(*pages[8 * window :][:8], strict=True))
    optimizer.zero_grad()
    cross_entropy(model(x_large), y_large).backward()
    optimizer.step()
for rank, (count, end) in enumerate(on_ranks(your_windows, deadline=20)):
    move = off(end - weights(reader()), weights(model) - weights(reader()))
    print(f"rank {rank}: {count} all-reduces in three windows, its move is off by {shown(move)}")

# %% [markdown]
# ### Shards
#
# DDP keeps the whole model in every process. `fully_shard`, *FSDP2*, keeps a part of each
# parameter in each, a *shard*, and of each gradient too. Its switch is a setting, not a block:
# `set_requires_gradient_sync(False)`.
#
# What does `.grad` hold after the first three micro-batches of a window, while it is off?

# %%
predict("7.m")


# %%
def sharded(on_again, shard_again=True):
    """(is all .grad None after each of four micro-batches?, shapes or None, gradient or move)."""
    model, empty = reader(), []
    fully_shard(model, mesh=init_device_mesh("cpu", (dist.get_world_size(),)))
    model.set_reshard_after_backward(shard_again)
    for number, (pixels, labels) in enumerate(pages[4 * dist.get_rank() :][:4], start=1):
        model.set_requires_gradient_sync(on_again and number == 4)
        (cross_entropy(model(pixels), labels) / 4).backward()
        empty.append(all(p.grad is None for p in model.parameters()))
    if not on_again or not shard_again:
        before = [p.detach().clone() for p in model.parameters()]
        torch.optim.SGD(model.parameters(), lr=0.1).step()
        moved = [
            not torch.equal(p, old) for p, old in zip(model.parameters(), before, strict=True)
        ]
        return empty, None, any(moved)
    shapes = [tuple(p.grad.to_local().shape) for p in model.parameters()]
    return empty, shapes, torch.cat([p.grad.full_tensor().flatten() for p in model.parameters()])


def three_ways():
    return sharded(True), sharded(False), sharded(True, shard_again=False)


try:
    ((empty, shapes, whole), (never, _, moved), (kept_whole, _, _)), _ = on_ranks(three_ways)
except RankError as error:
    if "'Stream' object" not in str(error):
        raise
    print("This torch shards on GPUs alone; torch 2.13 does so on the CPU, too.")
else:
    print(".grad is None after micro-batch 1, 2, 3, 4:", empty)
    print("gradients of rank 0:", shapes)
    print("put together off by", shown(off(whole, eight_pages())))
    print("never switched on again:                   ", never)
    print("    and a step of SGD then moves a weight: ", moved)
    print("weights not sharded again after a backward:", kept_whole)
    assert off(whole, eight_pages()) < 1e-6 and all(never)
    compare("7.m", "none" if all(empty[:3]) else "sum")

# %% [markdown]
# The sums of the window are kept elsewhere until the passes are averaged again. Two things
# follow. Who looks at `.grad` in the middle of a window, to clip or to log, finds nothing. And
# who forgets to switch it on again steps on `None`: SGD moves nothing, and says nothing.
#
# That is the default. The last row has `set_reshard_after_backward(False)`, which keeps the
# weights whole between micro-batches. Then the parameters that you see are others, and `.grad`
# is there at other times.
#
# ### On a real cluster
#
# In the notebook `on_ranks` starts the processes. Outside it is `torchrun`, which starts a
# script several times and tells each copy its rank by environment variables. On one machine
# with two processes, and on two machines with eight each:
#
# ```
# torchrun --standalone --nproc-per-node 2 train.py
#
# torchrun --nnodes 2 --nproc-per-node 8 --rdzv-id 7 --rdzv-backend c10d \
#          --rdzv-endpoint FIRST_MACHINE:29500 train.py
# ```
#
# The second command is given on both machines. The script calls `dist.init_process_group()`,
# which reads the variables. The step is yours as it stands. Around it each rank takes its own
# part of the data, and one rank writes. An audit works there, too: see docs/audit.md, "CI and
# torchrun".
#
# ## 7. Whose mean?
#
# Lesson 6 divided by the number of tokens in the window, because micro-batches have different
# numbers of them. Ranks have, too. DDP takes the plain mean of the ranks' gradients. Say that
# rank 0 has ten tokens in this step, and rank 1 has two. Each sends the mean loss of its tokens
# backward.


# %%
def tokens(rank):
    """(inputs, next tokens) of a rank: ten on rank 0, two on rank 1."""
    counts = (10, 2)
    labels = torch.arange(counts[rank]) % 3
    return draw(counts[rank], 4, seed=10 + rank), labels


def token_gradients():
    """The gradients that DDP leaves: of each rank's mean, and of each rank's sum."""
    found = []
    for reduction in ("mean", "sum"):
        model = small_model()
        ddp_model = DistributedDataParallel(model)
        x, labels = tokens(dist.get_rank())
        cross_entropy(ddp_model(x), labels, reduction=reduction).backward()
        found.append(gradient(model))
    return found


def all_twelve(weigh=(1 / 12, 1 / 12)):
    """The gradient of the weighted sum of all token losses, in one process."""
    model = small_model()
    for rank, weight in enumerate(weigh):
        x, labels = tokens(rank)
        (weight * cross_entropy(model(x), labels, reduction="sum")).backward()
    return gradient(model)


(of_means, of_sums), _ = on_ranks(token_gradients)

# %% [markdown]
# How much does a token of rank 1 count in the step, against one of rank 0?

# %%
predict("7.n")

# %%
print(f"off from the mean over all twelve tokens by {off(of_means, all_twelve()):.2f}")
# A token of rank 0 has 1 / 10 of its rank's mean, and half of that in the mean of two ranks.
fits = {times: off(of_means, all_twelve((1 / 20, times / 20))) for times in (1, 2, 5, 10)}
for times, error in fits.items():
    print(f"a token of rank 1 counted {times:>2} times: off by {shown(error)}")
best = min(fits, key=fits.get)
assert fits[best] < 1e-6
figures.token_shares(10 * [1 / 20] + 2 * [best / 20], 12 * [1 / 12])
compare("7.n", closest(best, one=1, two=2, five=5))

# %% [markdown]
# Five times: each mean has the same weight, whatever it is the mean of. Sums instead of means
# give every token the same weight. What is wrong then is the length alone:

# %%
cosine = torch.cosine_similarity(of_sums, all_twelve(), dim=0).item()
factor = (of_sums.norm() / all_twelve().norm()).item()
print(f"sums on each rank: cosine with the right one {cosine:.4f}, {factor:.3f} times as long")
assert cosine > 1 - 1e-9

# %% [markdown]
# How long it should be is the exercise. It depends on the number of tokens of all ranks, and on
# the mean that DDP takes. No rank knows the first by itself. What has a rank to do that has
# no counted token at all in a window? It takes part in everything, with zeros. (If no rank has
# one, there is no mean to take, and all of them leave the window out.)


# %% exercise="7.6"
def normalized_ddp_loss(loss_sum, local_count, world_size, all_reduce):
    """A loss whose gradient, averaged over the ranks, is that of the mean over all tokens."""
    ### BEGIN SOLUTION
    total = local_count.clone()
    all_reduce(total)
    return loss_sum * world_size / total
    ### END SOLUTION


# %% [markdown]
# In a window of several micro-batches the count is that of the whole window, so this loss needs it
# before the first backward. Here are two ranks and two micro-batches each. Your function is called
# in each micro-batch, and sums up the same count again. (Before the exercise is solved there is
# nothing to compare.)


# %%
def counted_window():
    """The gradient of a window of two micro-batches with your loss."""
    model = small_model()
    ddp_model = DistributedDataParallel(model)
    x, labels = tokens(dist.get_rank())
    cut = len(x) // 2 + 1 if dist.get_rank() == 0 else 0  # rank 1 begins with nothing
    count = torch.tensor(len(x))
    for number, (rows, wanted) in enumerate(((x[:cut], labels[:cut]), (x[cut:], labels[cut:]))):
        quiet = ddp_model.no_sync() if number == 0 else contextlib.nullcontext()
        with quiet:
            loss_sum = cross_entropy(ddp_model(rows), wanted, reduction="sum")
            loss = normalized_ddp_loss(loss_sum, count, dist.get_world_size(), dist.all_reduce)
            if loss is ...:
                return None
            loss.backward()
    return gradient(model)


yours, _ = on_ranks(counted_window, deadline=20)
if yours is not None:
    print("a window of 12 tokens on two ranks: off by", shown(off(yours, all_twelve())))

# %% [markdown]
# meta-pytorch/torchtune#1917 counted the tokens of all ranks. The number of ranks came into the
# factor later, with #2172.

# %%
quiz("7.q3")


# %%
def a_window_left_out():
    """.grad of this rank after its second backward; rank 1 leaves out page 1 of three."""
    model = reader()
    ddp_model = DistributedDataParallel(model)
    for page in (0, 1) if dist.get_rank() == 0 else (0, 2):
        model.zero_grad()
        cross_entropy(ddp_model(pages[page][0]), pages[page][1]).backward()
    return gradient(model)


def mean_of(*numbers):
    """The mean of these pages' gradients, in one process."""
    model = reader()
    for number in numbers:
        (cross_entropy(model(pages[number][0]), pages[number][1]) / len(numbers)).backward()
    return gradient(model)


mixed, _ = on_ranks(a_window_left_out, deadline=20)
print(
    "rank 0, page 1: off from the mean of page 1 and page 2 by", shown(off(mixed, mean_of(1, 2)))
)

# %% [markdown]
# All-reduces are matched by their order, whatever they are for; here all have one size and dtype.
# Rank 1 left page 1 out, so its page 2 met page 1 of rank 0: no error. A page 2 of rank 0 would
# wait for a partner.

# %% [markdown]
# > **Pause.** Here, too, you can stop for the day. One thing is left: a run that is killed, and
# > goes on. It takes everything from this lesson.
#
# ## 8. A run that is killed
#
# Long runs are killed: by a time limit, a full disk, a machine that somebody needs. So they
# write a *checkpoint* now and then, and go on from it. The hard question is what belongs in it.
#
# The next run has twelve windows: Adam, a schedule, a scaler that begins too high, and dropout.
# It is killed after six. Then it goes on from a checkpoint that has everything, or everything
# but one part.


# %%
def new_run():
    """The parts of a run, at its beginning."""
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(64, 32), nn.ReLU(), nn.Dropout(0.2), nn.Linear(32, 10))
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
    schedule = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda s: max(0.0, 1 - s / 12))
    scaler = torch.amp.GradScaler("cpu", init_scale=2.0**22)
    return {"model": model, "optimizer": optimizer, "schedule": schedule, "scaler": scaler}


def go_on(run, windows):
    """Train these windows, a page each."""
    for window in windows:
        pixels, labels = pages[window]
        run["optimizer"].zero_grad()
        with torch.autocast("cpu", dtype=torch.float16):
            loss = cross_entropy(run["model"](pixels), labels)
        run["scaler"].scale(loss).backward()
        scale = run["scaler"].get_scale()
        run["scaler"].step(run["optimizer"])
        run["scaler"].update()
        if run["scaler"].get_scale() == scale:
            run["schedule"].step()
    return run


def resumed(without=None):
    """The weights of a run that was killed after six windows, its checkpoint without one part."""
    run = go_on(new_run(), range(6))
    saved = {name: copy.deepcopy(part.state_dict()) for name, part in run.items()}
    saved |= {"window": 6, "random state": torch.get_rng_state()}
    saved.pop(without, None)
    run = new_run()  # a new process
    for name, part in run.items():
        if name in saved:
            part.load_state_dict(saved[name])
    if "random state" in saved:
        torch.set_rng_state(saved["random state"])
    go_on(run, range(saved.get("window", 0), 12))
    return weights(run["model"])


# %% [markdown]
# The weights are always in the checkpoint. Five parts are left out in turn: the state of the
# optimizer, of the schedule, of the scaler, the number of the window, and the random state. In
# how many of the five does the run end with other weights?

# %%
predict("7.o")

# %%
through = weights(go_on(new_run(), range(12))["model"])
print("checkpoint with everything: the same bits:", torch.equal(resumed(), through))
assert torch.equal(resumed(), through)
others = []
for part in ("optimizer", "schedule", "scaler", "window", "random state"):
    end = resumed(without=part)
    others += [part] if not torch.equal(end, through) else []
    print(f"without {part:<13} weights off by up to {largest(end, through):.3f}")
compare("7.o", closest(len(others), one=1, three=3, five=5))

# %% [markdown]
# All five, and no error in any of them: each run goes on from somewhere else. Without its own
# state the schedule counts its steps from 0 again. (The first rate after the kill is still right:
# the optimizer's state has it.) The scaler matters because it begins too high here: without its
# state it skips windows that it had no need to skip. The random state decides which values
# dropout drops.
#
# There is a way to need fewer parts: what depends on the position alone need not be saved. Here
# the data is of that kind: window 7 always reads page 7.
#
# ### Killed while it writes
#
# A checkpoint is large, and takes time to write. The next cell has a checkpoint of window 6,
# and a process that writes the one of window 7 over it. It is killed when half of it is
# written.

# %%
predict("7.p")

# %% [markdown]
# The cell also has a second way: another name, and a renaming at the end, with `os.replace`.


# %%
def killed_while_writing(path, beside):
    """Begin to write a new checkpoint, and be killed in the middle."""
    whole = io.BytesIO()
    torch.save({"window": 7, "model": torch.ones(50_000)}, whole)
    target = path.with_name("new.part") if beside else path
    with open(target, "wb") as file:
        file.write(whole.getvalue()[: len(whole.getvalue()) // 2])
        file.flush()
        kill_this_process()
    os.replace(target, path)


def read_back(path):
    """The window of a checkpoint; or that it cannot be read."""
    try:
        return torch.load(path)["window"]
    except Exception:
        return "cannot be read"


left = {}
for beside in (False, True):
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "run.pt"
        torch.save({"window": 6, "model": torch.zeros(50_000)}, path)
        try:
            on_ranks(killed_while_writing, path, beside, ranks=1)
        except RankError as error:
            print(f"{'another name' if beside else 'the same name':<14} {error};", end=" ")
        left[beside] = read_back(path)
        print("checkpoint:", left[beside])
assert left[True] == 6
compare("7.p", "nothing" if left[False] == "cannot be read" else "old")

# %% [markdown]
# Writing begins with emptying the file. So for a while there is no checkpoint at all, neither
# the old one nor the new one. Under another name the old one stays whole. And a renaming in the
# same folder has no half for a process that is killed: before it the name means the old file,
# after it the new one. (A power cut, which `os.fsync` is for, is not tried here.)
#
# ### The capstone
#
# Everything comes together now: windows, 16 bits, a scaler, clipping, a schedule that knows of
# skipped steps, and a checkpoint.


# %% exercise="7.7"
def train(model, batches, config, checkpoint=None):
    """Train for config["steps"] windows, from the checkpoint on where there is one."""
    ### BEGIN SOLUTION
    device = batches[0][0].device.type
    optimizer = torch.optim.SGD(model.parameters(), lr=config["lr"], momentum=0.9)
    scaler = torch.amp.GradScaler(device)
    scheduler = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda s: 1 - s / config["steps"])
    parts = {"model": model, "optimizer": optimizer, "scaler": scaler, "scheduler": scheduler}
    first = 0
    if checkpoint is not None and checkpoint.exists():
        saved = torch.load(checkpoint, map_location=device)
        for name, part in parts.items():
            part.load_state_dict(saved[name])
        first = saved["windows"]
    for window in range(first, config["steps"]):
        # Seeded by position: there is no random state to save, on any device.
        torch.manual_seed(100_000 * config["seed"] + window)
        optimizer.zero_grad()
        for place in range(config["window"]):
            x, y = batches[(window * config["window"] + place) % len(batches)]
            with torch.autocast(device, dtype=torch.float16):
                loss = nn.functional.cross_entropy(model(x), y) / config["window"]
            scaler.scale(loss).backward()
        scaler.unscale_(optimizer)
        nn.utils.clip_grad_norm_(model.parameters(), config["max_norm"])
        scale = scaler.get_scale()
        scaler.step(optimizer)
        scaler.update()
        if scaler.get_scale() >= scale:
            scheduler.step()
        if checkpoint is not None:
            state = {name: part.state_dict() for name, part in parts.items()}
            beside = checkpoint.with_name(checkpoint.name + ".part")
            torch.save({**state, "windows": window + 1}, beside)
            os.replace(beside, checkpoint)
    ### END SOLUTION


# %% [markdown]
# ### Killed, for real
#
# The next cell trains the digits with your function, in processes of its own. One run goes
# through. Another is killed with `kill -9` in the middle of its seventh window, and called
# again. (Before the exercise is solved it says so.)


# %%
def a_run(folder, name, die_in=None):
    """Your run of twelve windows with a checkpoint; killed in a window if that is wanted."""
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(64, 32), nn.ReLU(), nn.Dropout(0.2), nn.Linear(32, 10))
    calls = []

    def watch(module, inputs):
        calls.append(len(inputs))
        if die_in is not None and len(calls) == 2 * die_in:
            kill_this_process()

    model.register_forward_pre_hook(watch)
    config = {"lr": 0.1, "window": 2, "max_norm": 1.0, "steps": 12, "seed": 0}
    if train(model, pages, config, Path(folder) / name) is ...:
        return None
    return len(calls), weights(model)


with tempfile.TemporaryDirectory() as folder:
    (through,) = on_ranks(a_run, folder, "through.pt", ranks=1)
    if through is None:
        print("exercise 7.7 is not solved yet")
    else:
        print(f"through:      {through[0]} forward passes")
        try:
            on_ranks(a_run, folder, "killed.pt", 7, ranks=1)
        except RankError as error:
            print(f"killed:       {error}")
        ((again, end),) = on_ranks(a_run, folder, "killed.pt", ranks=1)
        print(
            f"called again: {again} forward passes, the same bits: {torch.equal(end, through[1])}"
        )
        ((more, end),) = on_ranks(a_run, folder, "killed.pt", ranks=1)
        print(
            f"once more:    {more} forward passes, the same bits: {torch.equal(end, through[1])}"
        )

# %% [markdown]
# ### The audit
#
# The rule of the exercise was that a ledger finds no error. Here is what it writes down of six
# windows. It ends a row with the step, so what comes after the step stands in the next row, and
# there is a seventh. (Before the exercise is solved nothing is printed.)

# %%
config = {"lr": 0.1, "window": 4, "max_norm": 1.0, "steps": 6, "seed": 0}
model = reader()
with GradientLedger(model, window=4) as ledger:
    unsolved = train(model, pages, config) is ...
if not unsolved:
    print("found:", [one.misconception for one in ledger.findings() if one.severity != "info"])
    print(ledger.timeline())

# %% [markdown]
# ### Take it home
#
# The last cell of the section writes `capstone.py` into the folder of this notebook: the cell
# with your `train`, and around it a model, data and a command line. It needs PyTorch and NumPy.
# Other cells of this notebook are not in it. So if your `train` uses a name from one of them,
# that has to move into its cell. A file of that name which you have changed stays as it is.

# %% tags=["nbval-ignore-output"]
take_home(train)

# %% [markdown]
# In a terminal, in that folder:
#
# ```
# python capstone.py                 # trains, with a checkpoint after every window
# python capstone.py                 # once more: goes on from it, or finds that all is done
# gradient-ledger capstone.py -- --fresh
# ```
#
# The last line is the audit of this course, for a script as it stands.
#
# ## True or false
#
# Six statements that you will meet elsewhere. Commit to each before you measure it.

# %%
a_page, its_digits = pages[0]


def float32_run(scale=None):
    """The weights after 30 pages in float32 with SGD, with a scaler or without."""
    model = reader()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    scaler = torch.amp.GradScaler("cpu", init_scale=scale or 1.0, enabled=scale is not None)
    for x, y in pages:
        optimizer.zero_grad()
        scaler.scale(cross_entropy(model(x), y)).backward()
        scaler.step(optimizer)
        scaler.update()
    return weights(model)


# %% [markdown]
# **One: a scaler and float32.**

# %%
predict("7.q")

# %%
same = torch.equal(float32_run(scale=65536.0), float32_run())
print("the same weights as without a scaler, bit for bit:")
print("with a scale of 65536:", same)
print("with a scale of 60000:", torch.equal(float32_run(scale=60000.0), float32_run()))
compare("7.q", true_or_false(same))

# %% [markdown]
# A power of two costs no digit, as long as nothing is subnormal or becomes infinite. With
# PyTorch's defaults every scale is one.
#
# **Two: what `autocast` covers.**

# %%
predict("7.r")

# %%
model = reader()
with torch.autocast("cpu", dtype=torch.float16):
    logits = model(a_page)
    loss = cross_entropy(logits, its_digits)
print("weights:", model[0].weight.dtype, " logits:", logits.dtype, " loss:", loss.dtype)
compare("7.r", true_or_false(loss.dtype == torch.float32))

# %% [markdown]
# `autocast` has lists of operations for each kind of device. Here the matrix products took
# 16 bits, and the loss took float32.
#
# **Three: half of everything.**

# %%
predict("7.s")

# %%
works = {}
for fused in (False, True):
    model = reader().half()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, fused=fused)
    scaler = torch.amp.GradScaler("cpu", init_scale=64.0)
    scaler.scale(cross_entropy(model(a_page.half()), its_digits)).backward()
    try:
        scaler.step(optimizer)
        works[fused] = True
        print(f"fused={fused}: stepped")
    except ValueError as refused:
        works[fused] = False
        print(f"fused={fused}: {type(refused).__name__}: {refused}")
compare("7.s", true_or_false(works[False]))

# %% [markdown]
# A scaler protects gradients on their way to a float32 `.grad`. Where `.grad` itself is
# float16, dividing by the scale would lose small ones at the last moment, so it refuses. A plain
# `step()` with `fused=True` leaves that check out: the second line.
#
# **Four: smaller steps in a bfloat16 model.** One step on one page, with a learning rate that is
# ten times smaller each time.

# %%
predict("7.t")

# %%
shares = []
for rate in (0.1, 0.01, 0.001):
    for dtype in (torch.float32, torch.bfloat16):
        model = reader().to(dtype)
        before, optimizer = weights(model), torch.optim.SGD(model.parameters(), lr=rate)
        cross_entropy(model(a_page.to(dtype)), its_digits).backward()
        optimizer.step()
        reached = gradient(model) != 0
        shares.append(((weights(model) != before) & reached).sum().item() / reached.sum().item())
    print(f"lr {rate:<6g} weights that move: float32 {shares[-2]:.1%}, bfloat16 {shares[-1]:.1%}")
compare("7.t", true_or_false(shares[-1] > 0.9))

# %% [markdown]
# A weight has eight binary digits here, too (and eleven in float16). A step below about half of
# the last one is rounded away. A cure is weights with more digits than the forward pass: float32
# weights under `autocast`, or a float32 copy of them that the optimizer steps on.
#
# **Five: skipped, with a fine loss.**

# %%
predict("7.u")

# %%
model = reader()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
scaler = torch.amp.GradScaler("cpu", init_scale=2.0**21)
with torch.autocast("cpu", dtype=torch.float16):
    loss = cross_entropy(model(a_page), its_digits)
scaler.scale(loss).backward()
scaler.step(optimizer)
moved = not torch.equal(weights(model), weights(reader()))
print(
    f"loss {loss.item():.4f}, scaled loss {scaler.scale(loss).item():.3g}, weights moved: {moved}"
)
print("all gradients finite:", bool(gradient(model).isfinite().all()))
compare("7.u", true_or_false(loss.isfinite() and not moved))

# %% [markdown]
# The loss is float32 and fine, before the scaling and after it. What overflowed was a gradient
# on its way back, in float16. So a log of losses does not show skipped steps. The scale does.
#
# **Six: a checkpoint from many processes, for one.**

# %%
predict("7.v")


# %%
def saved_by_ddp():
    """What state_dict() of a DDP model calls the parameters, and of the model inside."""
    ddp_model = DistributedDataParallel(reader())
    return list(ddp_model.state_dict()), list(ddp_model.module.state_dict())


def with_batch_norm():
    """Parameters and running means of this rank after a step on its own page."""
    model = nn.Sequential(nn.Linear(64, 10), nn.BatchNorm1d(10))
    ddp_model, (pixels, labels) = DistributedDataParallel(model), pages[dist.get_rank()]
    cross_entropy(ddp_model(pixels), labels).backward()
    torch.optim.SGD(model.parameters(), lr=0.1).step()
    return weights(model), model[1].running_mean


(outside, inside), _ = on_ranks(saved_by_ddp)
print("ddp_model:       ", *outside)
print("ddp_model.module:", *inside)
fitting = outside == list(reader().state_dict())
assert inside == list(reader().state_dict())
(weights_0, mean_0), (weights_1, mean_1) = on_ranks(with_batch_norm)
print(
    "with BatchNorm: parameters equal on both ranks:", torch.equal(weights_0, weights_1), end=""
)
print(", running means:", torch.equal(mean_0, mean_1))
compare("7.v", true_or_false(fitting))

# %% [markdown]
# Save `ddp_model.module.state_dict()`, on rank 0. All ranks hold the same parameters. Buffers
# such as the averages of BatchNorm may differ, and rank 0's are those that DDP passes on.
#
# ## Summary
#
# | question | answer | shown in |
# |---|---|---|
# | What does float16 lose? | What is at most 2**-25 in size becomes zero, from about 2**16 on infinite | 1 |
# | Does a larger scale make gradients more precise? | Not while all are normal numbers | 1 |
# | What does a scaler do at an overflow? | It skips the step of that optimizer, and halves the scale at `update()` | 2 |
# | Which order? | scale, backward; unscale, clip, step, update, clear, schedule | 3 |
# | Does a wrong order raise an error? | In three windows 100 of 118 orders of five lines did; 18 were silent | 3 |
# | And after a skipped step? | Clear all the same; leave the schedule where it is | 3 |
# | Does a missing clear show? | Hardly, behind a large scale, until a window overflows | 3 |
# | Where does `autocast` stand? | Around each forward pass and its loss; no block reaches over a step | 4 |
# | What does one NaN do to a step that is clipped by its norm? | It reaches every weight: look at the norm before the step | 4 |
# | Does bfloat16 need a scale? | Not for the gradients here; its sums stall instead | opening, 5 |
# | What helped? | float32 sums, or fewer terms | 5 |
# | What does `no_sync()` need to have inside? | The forward pass; its backward comes right after it | 6 |
# | What does FSDP2 hold in `.grad` inside a window? | By default `None`, while its switch is off | 6 |
# | Who divides by what? | All ranks by the number of all tokens; times the number of ranks, for DDP's mean | 7 |
# | What belongs into a checkpoint? | All that the next window depends on; written beside, then renamed | 8 |
#
# ## What comes next
#
# This was the last lesson. The ledger of this course works outside it, on your own scripts:
#
# ```
# gradient-ledger train.py
# ```
#
# It runs your script unchanged, writes down what happens to `.grad`, and names what it finds,
# with the line. docs/audit.md says how to give it a reference, how to use it in tests and under
# `torchrun`, and what it cannot see. Begin with `capstone.py`, then take a loop of your own.
# You know how to prove a mend: with numbers, one large batch against the window.

# %%
progress(7)
