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
# # Gradient accumulation
#
# In lesson 5 a sum of gradients was nearly always an accident. Here you make it on purpose. A
# batch that does not fit into memory goes through the model in pieces, and `.grad` adds up what
# the pieces deliver. One step for the whole batch follows. That is a few lines of code, and in
# each of them something can go wrong that nobody sees.
#
# What you will be able to do:
#
# - say which part of the memory accumulation saves, and find the largest piece that fits;
# - weight the pieces so that their sum is the whole batch's gradient: equal ones, unequal ones,
#   texts of any length;
# - treat the last, shorter window of an epoch, and what belongs to a step and not to a piece;
# - name the layers and losses for which no weighting helps, and what does;
# - prove with one comparison that a window is accumulated rightly;
# - decide when not to accumulate.

# %%
import copy
import statistics
import time
import warnings
from collections import Counter
from functools import partial

import torch
from torch import nn
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils.flop_counter import FlopCounterMode

from course_utils.data import digits, paragraphs
from course_utils.lessons.lesson2.saved import SavedBytes
from course_utils.lessons.lesson3.live import LiveBytes
from course_utils.lessons.lesson6 import figures
from course_utils.lessons.lesson6.loops import CANDIDATES, counting_hooks
from course_utils.lessons.lesson6.texts import (
    WEIGHTINGS,
    byte_model,
    counted,
    table,
    text_gradient,
    token_loss,
)
from course_utils.lessons.measured import closest, true_or_false
from course_utils.widgets import windows_of_training
from course_utils.widgets.explorers.windows import RULES as TAILS
from course_utils.widgets.explorers.windows import program, run, story
from gradient_ledger import GradientLedger

cross_entropy = nn.functional.cross_entropy

# %% [markdown]
# Helpers for the whole lesson, and the digits of lesson 2: 30 pages of 50 to learn from, 297 to
# be tested on. Where nothing else is said, numbers are float64, so that rounding does not blur a
# comparison.


# %%
def draw(*shape, seed=0):
    """Normal numbers of that shape, the same every time."""
    generator = torch.Generator().manual_seed(seed)
    return torch.randn(*shape, generator=generator, dtype=torch.float64)


def small_model(norm=None):
    """10 inputs, 16 hidden values, 2 outputs; the same weights every time."""
    layers = [nn.Linear(10, 16), nn.Tanh(), nn.Linear(16, 2)]
    model = nn.Sequential(*layers[:1], *([norm] if norm else []), *layers[1:]).double()
    with torch.no_grad():
        for index, layer in enumerate((layers[0], layers[2])):
            layer.weight.copy_(0.3 * draw(*layer.weight.shape, seed=2 * index))
            layer.bias.copy_(0.3 * draw(*layer.bias.shape, seed=2 * index + 1))
    return model


def squared_error(prediction, target):
    return ((prediction - target) ** 2).mean()


def weights(model):
    """All parameters of a model in one long vector, copied."""
    return torch.cat([p.detach().flatten() for p in model.parameters()])


def gradient(model):
    """All gradients of a model in one long vector, copied; what has none is left out."""
    return torch.cat([p.grad.flatten() for p in model.parameters() if p.grad is not None])


def whole_gradient(model, loss_fn, x, y):
    """The gradient of the whole batch, by one backward pass; .grad is cleared before."""
    model.zero_grad()
    loss_fn(model(x), y).backward()
    return gradient(model)


def off(got, wanted):
    """How far a vector is from the wanted one, in lengths of the wanted one."""
    return ((got - wanted).norm() / wanted.norm()).item()


class Scale(nn.Module):
    """A scale for section 3 on: a parameter for each sample, which is its output for it."""

    def __init__(self, samples):
        super().__init__()
        self.values = nn.Parameter(torch.zeros(samples, dtype=torch.float64))

    def forward(self, numbers):
        return self.values[numbers]


x_24, y_24 = draw(24, 10, seed=31), draw(24, 2, seed=32)  # a batch of 24 rows
data = digits()
x_test = data.x_test.double()
pages = list(zip(data.x.double().split(50), data.y.split(50), strict=True))


def reader(seed=0):
    """A network that reads digits; the same weights every time."""
    torch.manual_seed(seed)
    return nn.Sequential(nn.Linear(64, 32), nn.ReLU(), nn.Linear(32, 10)).double()


def share_right(model):
    return (model(x_test).argmax(dim=1) == data.y_test).double().mean().item()


def batches_of(pages, count):
    """So many pages at a time, joined into one batch."""
    groups = (pages[i : i + count] for i in range(0, len(pages), count))
    return [tuple(torch.cat(part) for part in zip(*group, strict=True)) for group in groups]


# %% [markdown]
# ## A batch that does not fit
#
# You want to train with batches of 200 digits. Say that only 50 fit into memory at once. So you
# search for "gradient accumulation", and find a loop like the first one below: `backward()` for
# each small batch, a step after every fourth. The small batches are called *micro-batches*, and
# those of one step a *window* (lessons 2 to 4). Beside it stands the loop that it replaces.
#
# Both train for 5 epochs on 28 pages, 7 windows of 4, with plain SGD (no
# momentum, no weight decay) and a learning rate of 0.1.


# %%
def popular_loop(model, lr, epochs=5, window=4):
    optimizer = torch.optim.SGD(model.parameters(), lr=lr)
    optimizer.zero_grad()
    for _ in range(epochs):
        for i, (x, y) in enumerate(pages[:28]):
            loss = cross_entropy(model(x), y)
            loss.backward()
            if (i + 1) % window == 0:
                optimizer.step()
                optimizer.zero_grad()
    return model


def large_batches(model, lr, epochs=5, window=4):
    optimizer = torch.optim.SGD(model.parameters(), lr=lr)
    for _ in range(epochs):
        for x, y in batches_of(pages[:28], window):
            optimizer.zero_grad()
            cross_entropy(model(x), y).backward()
            optimizer.step()
    return model


# %%
predict("6.a")

# %%
popular = popular_loop(reader(), lr=0.1)
large = large_batches(reader(), lr=0.1)
shares = share_right(popular), share_right(large)
for name, share in zip(("popular loop", "batches of 200"), shares, strict=True):
    print(f"{name:<15} {share:.0%} of the test digits read right")
ahead = shares[0] - shares[1]
compare("6.a", "popular" if ahead > 0.1 else "same" if abs(ahead) < 0.01 else "large")

# %% [markdown]
# Does accumulation improve training, then? The popular loop adds four mean losses, and their sum
# is four times their mean. With plain SGD that is a learning rate four times as large. So compare
# it with batches of 200 at that rate.

# %% claims="S1-10 S1-12 S1-13 S1-14"
popular = popular_loop(reader(), lr=0.1)
trained_at = {lr: large_batches(reader(), lr=lr) for lr in (0.1, 0.4)}
print(f"batches of 200, learning rate 0.4: {share_right(trained_at[0.4]):.0%} read right")
apart = {lr: off(weights(popular), weights(model)) for lr, model in trained_at.items()}
print(f"popular loop, off from batches of 200 with rate 0.1: {apart[0.1]:.3f}")
print(f"popular loop, off from those with rate 0.4 by less than 1e-12: {apart[0.4] < 1e-12}")
shares = share_right(popular_loop(reader(), lr=0.3)), share_right(large_batches(reader(), lr=0.3))
print(f"both at rate 0.3: popular loop {shares[0]:.0%}, batches of 200 {shares[1]:.0%}")
assert apart[0.4] < 1e-12

# %% [markdown]
# The popular loop **is** the large batch, with another learning rate. Whoever compares the two at
# 0.1 concludes that accumulation improves training; at 0.3 it seems to ruin it.
#
# Divide the loss by 4, and the loop is the large batch:

# %% claims="S1-3"
model = reader()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for _ in range(5):
    for i, (x, y) in enumerate(pages[:28]):
        (cross_entropy(model(x), y) / 4).backward()
        if (i + 1) % 4 == 0:
            optimizer.step()
            optimizer.zero_grad()
error = off(weights(model), weights(large_batches(reader(), lr=0.1)))
print("divided by 4, as the batches of 200 up to 1e-12:", error < 1e-12)
assert error < 1e-12

# %% [markdown]
# Each of the next sections is about one more thing that has to be right: what is divided by what,
# which batches a window has, what happens once in it, and what the model does with a batch. But
# first: what is it good for?
#
# ## 1. What it saves
#
# A forward pass keeps activations for the backward pass (lesson 2), more of them for more rows.
# With micro-batches only those of one piece live at a time. `window_peak` trains a network on
# 512 rows in `k` pieces, with AdamW, and measures the second step. The *peak* is the highest
# number of bytes alive at once, without the weights and the data (`LiveBytes`, lesson 3).


# %%
def wide():
    """64 inputs, two hidden layers of 128, 10 outputs, float32."""
    torch.manual_seed(0)
    sizes = (64, 128, 128, 10)
    pairs = zip(sizes, sizes[1:], strict=False)
    layers = [part for a, b in pairs for part in (nn.Linear(a, b), nn.Tanh())]
    return nn.Sequential(*layers[:-1])


x_512, y_512 = data.x[:512], data.y[:512]
P = sum(p.nbytes for p in wide().parameters())


def pass_over(model, k, program):
    """Forward and backward for all 512 rows in k pieces; leaves the mean's gradient in .grad."""
    total = 0.0
    for x, y in zip(x_512.chunk(k), y_512.chunk(k), strict=True):
        loss = cross_entropy(model(x), y) / k
        if program == "each":
            loss.backward()
        else:
            total = total + loss
    if program == "at the end":
        total.backward()


def window_peak(k, program="each", step=True):
    """(peak of a step or of its passes alone, the most that graphs kept in it), in bytes."""
    model = wide()
    optimizer = torch.optim.AdamW(model.parameters(), lr=0.001)
    with LiveBytes(model.parameters()) as live:
        for number in range(2):
            live.history.clear()
            pass_over(model, k, program)
            if step or number == 0:
                optimizer.step()
                optimizer.zero_grad()
    with SavedBytes(x_512, y_512, *model.parameters()) as saved:
        pass_over(model, k, program)
    return max(moment.alive for moment in live.history), saved.peak


# %% [markdown]
# You cut the 512 rows into 16 pieces. The graphs keep a sixteenth of what they kept. What does
# the peak do?

# %%
predict("6.b")

# %% claims="S1-3 S1-5"
cuts = (1, 2, 4, 8, 16, 64)
peaks = {k: window_peak(k) for k in cuts}
print(f"one set of gradients: {P / 1024:.0f} KiB, AdamW's memory: twice that")
print("pieces   kept by graphs         peak")
for k, (peak, kept) in peaks.items():
    print(f"{k:>6}{kept / 1024:>13.0f} KiB{peak / 1024:>9.0f} KiB   {peak / peaks[1][0]:>4.0%}")
summed = {k: window_peak(k, "at the end") for k in cuts}
passes = {k: window_peak(k, step=False)[0] for k in (8, 16, 64)}
shown = ", ".join(f"{peak / 1024:.0f} KiB with {k}" for k, peak in passes.items())
print("peak of the passes alone:", shown)
assert passes[8] == peaks[8][0] and max(passes[16], passes[64]) < peaks[16][0]
print("one backward:", "  ".join(f"{peak / 1024:.0f}" for peak, _ in summed.values()), "KiB")
figures.memory_against_k(peaks, summed, P)
assert 15.5 < peaks[1][1] / peaks[16][1] < 16.5 and peaks[64][0] == peaks[16][0]
compare("6.b", closest(peaks[16][0] / peaks[1][0], sixteenth=1 / 16, third=0.35, same=1))

# %% [markdown]
# The peak has activations in it, gradients, what AdamW remembers, and what operations need for a
# moment on their way. What the graphs keep shrinks with every cut. Gradients and AdamW's memory
# do not. Here the peak stays where it is from 16 pieces on. By then it is no longer in the
# passes, as their own peak tells. It is in AdamW's step, which on a CPU, by default, needs room
# of its own that no cut changes (lesson 3, section 5). So accumulation helps where activations
# are what does not fit. A model whose weights, gradients and optimizer state do not fit is not
# helped.
#
# The upper line is the same sum with **one** `backward()` at the end. Its peak falls with the
# first cuts, and then rises again. What the graphs keep does not shrink at all. (Lesson 2,
# section 3: the gradient is the same up to rounding, where no hook edits it on its way.)
#
# > **Fact.** With one backward over the sum of the losses, all graphs are kept until then: here
# > 16 of them hold as many bytes as the graph of the whole batch, and a few more.

# %%
each, at_the_end = wide().double(), wide().double()
parts = list(zip(x_512.double().chunk(16), y_512.chunk(16), strict=True))
for x, y in parts:
    (cross_entropy(each(x), y) / 16).backward()
(sum(cross_entropy(at_the_end(x), y) for x, y in parts) / 16).backward()
print("the same gradient up to 1e-12:", off(gradient(at_the_end), gradient(each)) < 1e-12)
kept = {k: window_peak(k, "at the end")[1] for k in (1, 16)}
print(f"kept by graphs, one backward: 1 piece {kept[1]} bytes, 16 pieces {kept[16]} bytes")
assert off(gradient(at_the_end), gradient(each)) < 1e-12 and 1 < kept[16] / kept[1] < 1.001

# %% [markdown]
# That happens to experts. meta-pytorch/torchtune#1875 moved the backward to the end of the
# window, to get a division right that you meet in section 4. Nine days later #1917 was opened to
# move it back, because activations stayed alive and memory grew.
#
# ## 2. Divide
#
# The loss is a mean, and the micro-batches are equal. With $k$ of them,
#
# $$
# \nabla L = \nabla \frac{1}{k} \sum_{j=1}^{k} L_j = \sum_{j=1}^{k} \frac{1}{k} \nabla L_j .
# $$
#
# `.grad` does the sum. The division is yours. What happens without it, you have seen with plain
# SGD. Now with others, too: 40 steps on windows of 4, once divided, once not. *Clipped* means
# SGD with the gradient clipped to a length of 0.1.


# %%
def micro_batch(number):
    return draw(6, 10, seed=number), draw(6, 2, seed=1000 + number)


windows = [[micro_batch(4 * w + j) for j in range(4)] for w in range(40)]
first_window = windows[0]
x_first, y_first = (torch.cat(part) for part in zip(*first_window, strict=True))
origin = weights(small_model())
makers = {
    "SGD": lambda p: torch.optim.SGD(p, lr=0.05),
    "SGD, momentum": lambda p: torch.optim.SGD(p, lr=0.05, momentum=0.9),
    "SGD, clipped": lambda p: torch.optim.SGD(p, lr=0.05),
    "Adam": lambda p: torch.optim.Adam(p, lr=0.01),
    "Adam, weight_decay": lambda p: torch.optim.Adam(p, lr=0.01, weight_decay=0.1),
    "AdamW": lambda p: torch.optim.AdamW(p, lr=0.01, weight_decay=0.1),
}


def accumulated(name, divide, limit=0.1, factor=1.0):
    """(the weights after 40 windows, the norm that clipping returned in each)."""
    model, norms = small_model(), []
    optimizer = makers[name](model.parameters())
    for window in windows:
        optimizer.zero_grad()
        for x, y in window:
            loss = factor * squared_error(model(x), y)
            (loss / len(window) if divide else loss).backward()
        if name == "SGD, clipped":
            norms.append(nn.utils.clip_grad_norm_(model.parameters(), limit).item())
        optimizer.step()
    return weights(model), norms


# %%
predict("6.c")

# %% claims="S1-4"
error = {}
assert min(accumulated("SGD, clipped", True)[1]) > 0.1, "the limit is not always active"
for name in makers:
    divided, undivided = (accumulated(name, divide)[0] for divide in (True, False))
    error[name] = off(undivided - origin, divided - origin)
    print(f"{name:<20} the way from the start is off by {error[name]:.1g}")
hidden = {name for name in ("SGD", "SGD, clipped", "AdamW") if error[name] < 1e-3}
answers = {
    frozenset({"AdamW"}): "adamw",
    frozenset({"AdamW", "SGD, clipped"}): "both",
    frozenset(): "none",
}
compare("6.c", answers[frozenset(hidden)])

# %% [markdown]
# Adam and AdamW divide each gradient by its own running size, and a clipping that is always
# active divides by its length. A factor in front cancels. So both hide the mistake.
#
# Hidden is not cured. Look at Adam with `weight_decay`. There the decay is added to the gradient,
# and a gradient four times as large makes it four times weaker beside it. AdamW adds its `eps`
# to the running size, and hides the factor only while gradients are large beside that. And look
# at the clipping. Its limit is compared with a norm that is four times too large. So the line
# that logs the norm is wrong. And where the limit was rarely or never active, it may be in every
# step:

# %%
ends = [accumulated("AdamW", divide, factor=1e-6)[0] - origin for divide in (True, False)]
print(f"AdamW, all losses times 1e-6: the way is off by {off(ends[1], ends[0]):.2f}")
divided, undivided = (accumulated("SGD, clipped", divide)[1] for divide in (True, False))
print(f"norm in the log, first window: {divided[0]:.3f} divided, {undivided[0]:.3f} not")
assert abs(undivided[0] / divided[0] - 4) < 1e-12
limit = 1.1 * max(accumulated("SGD, clipped", True, limit=float("inf"))[1])
ends = [accumulated("SGD, clipped", divide, limit) for divide in (True, False)]
often, always = (sum(norm > limit for norm in norms) for _, norms in ends)
print(f"limit {limit:.2f}: clipped in {often} of 40 steps divided, in {always} not divided")
error = off(ends[1][0] - origin, ends[0][0] - origin)
print(f"with that limit, the way is off by {error:.2f}")
assert error > 0.1

# %% [markdown]
# karpathy/nanoGPT#168 is this very finding. nanoGPT's author answers that to Adam the scale is
# all the same, and that the limit of the clipping was silently lower by the number of
# micro-batches.
#
# ### Picture: the window as a ledger
#
# Each micro-batch makes an entry, each step closes the books. Gradients add up, their lengths do
# not. What adds up is how far each of them goes *along* the gradient of the whole window. The
# picture shows that for three windows, in lengths of that gradient. A mean should end at 1.


# %% claims="S1-1 S1-6 S1-7 S1-14 S1-38"
def entries(divide):
    """For three windows: each micro-batch's entry along the window's gradient, and .grad."""
    model, books = small_model(), []
    for window in windows[:3]:
        x, y = (torch.cat(part) for part in zip(*window, strict=True))
        wanted = whole_gradient(model, squared_error, x, y)
        model.zero_grad()
        rows, before = [], torch.zeros_like(wanted)
        for x, y in window:
            loss = squared_error(model(x), y)
            (loss / 4 if divide else loss).backward()
            now = gradient(model)
            along = ((now - before) @ wanted / wanted.norm() ** 2).item()
            rows.append((along, (now @ wanted / wanted.norm() ** 2).item()))
            before = now
        books.append(rows)
    return books


ledgers = {"not divided": entries(False), "divided by 4": entries(True)}
for name, books in ledgers.items():
    ends = ", ".join(f"{rows[-1][1]:.4f}" for rows in books)
    print(f"{name:<13} what .grad holds at the three steps: {ends}")
figures.window_ledger(ledgers)

# %% [markdown]
# Accumulation is often told as a bucket that is filled from several cups. That is the upper row.
# The lower one has the division in it. (The entries are unequal because micro-batches disagree.)
#
# ### Where to divide
#
# The loss is one place. Here are four more. One of the five is wrong. (`backward(gradient=g)`
# begins with `g` where it would begin with 1.)


# %%
def divided(how):
    """The gradient of the first window of four, divided in a certain place."""
    model, k = small_model(), len(first_window)
    for x, y in first_window:
        loss = squared_error(model(x), y)
        if how == "the loss":
            (loss / k).backward()
        elif how == "backward(gradient=...)":
            loss.backward(gradient=torch.tensor(1 / k, dtype=loss.dtype))
        elif how == "sums, by the total":
            (((model(x) - y) ** 2).sum() / y_first.numel()).backward()
        else:
            loss.backward()
            if how == "each time in .grad":
                for p in model.parameters():
                    p.grad /= k
    if how == "once in .grad":
        for p in model.parameters():
            p.grad /= k
    return gradient(model)


in_loss = ("the loss", "backward(gradient=...)", "sums, by the total")
right = whole_gradient(small_model(), squared_error, x_first, y_first)
for how in (*in_loss, "once in .grad", "each time in .grad"):
    error = off(divided(how), right)
    print(f"{how:<24} {'right up to 1e-12' if error < 1e-12 else f'off by {error:.2f}'}")
    assert (error < 1e-12) == (how != "each time in .grad")

# %% [markdown]
# The last one is a mistake with a good intention: it divides the sum after every backward.

# %%
quiz("6.q1")

# %% [markdown]
# ### How to test a window
#
# You need no training run to find out whether a window is accumulated rightly. Let the loop make
# one window, and compare `.grad` with that of one big batch, from the same weights, in float64.
# Take new weights: near a minimum little is left of a gradient, and rounding counts (section 3).
# Do it in training mode, so that BatchNorm shows what it does, with the loss that you really use,
# and with dropout set to 0: for the whole it would draw anew.
#
# It proves the window that it tried: what is divided, and by what. What happens *between*
# windows (the clearing, the last window, the scheduler) needs more of them. There you compare
# weights at the end of an epoch, as section 5 does.
#
# Write that test. `accumulate(model, loss_fn, micro_batches)` leaves its gradient in `.grad`.
# Your function says whether it is the gradient of all rows at once.
#
# The cell lets your test judge six loops whose code you do not see, and then shows beside it what
# `off` says of them. Two of the loops are right.


# %%
def my_test(accumulate, model, loss_fn, micro_batches):
    """True if accumulate leaves the gradient of the joined micro-batches in .grad."""
    # yours to write


original = small_model()
right = whole_gradient(copy.deepcopy(original), squared_error, x_first, y_first)
for letter, loop in CANDIDATES.items():
    model = copy.deepcopy(original)
    loop(model, squared_error, first_window)
    error = off(gradient(model), right)
    said = my_test(loop, copy.deepcopy(original), squared_error, first_window)
    measured = "right up to 1e-12" if error < 1e-12 else f"off by {error:.2f}"
    verdict = f"{'right' if said else 'wrong'}, measured: {measured}"
    print(f"loop {letter}, your test: {'not written' if said is None else verdict}")

# %% [markdown]
# <details><summary>One that does it</summary>
#
# ```python
# def my_test(accumulate, model, loss_fn, micro_batches):
#     twin = copy.deepcopy(model)
#     accumulate(model, loss_fn, micro_batches)
#     x, y = (torch.cat(part) for part in zip(*micro_batches, strict=True))
#     loss_fn(twin(x), y).backward()
#     return off(gradient(model), gradient(twin)) < 1e-9
# ```
#
# A copy of a module made by `deepcopy` has the same weights, and no `.grad` of the original.
# `off` measures in lengths of the wanted gradient, so a mistake is not small because the loss is.
# And 1e-9 of it is far above rounding, with new weights, and far below the mistakes here.
#
# </details>
#
# <details><summary>What the six loops do</summary>
#
# A clips after each backward, C does not divide, D leaves the last micro-batch out, F clears each
# time. B divides by the number of micro-batches. E weights each by its rows.
#
# </details>
#
# B and E are both right here, because all micro-batches have six rows. They are not the same: a
# test proves what it tried. Keep yours for the next section.
#
# Now put one together yourself. It clears first, and only one micro-batch's graph may be alive
# at a time.


# %% exercise="6.1"
def accumulate_equal(model, loss_fn, micro_batches):
    """Leaves in .grad the gradient of all rows as one batch; the micro-batches are equal."""
    ### BEGIN SOLUTION
    model.zero_grad()
    for x, y in micro_batches:
        loss = loss_fn(model(x), y) / len(micro_batches)
        loss.backward()
    ### END SOLUTION


# %% [markdown]
# ## 3. Unequal pieces
#
# The last batch of a file is shorter. Or pictures of several sizes are put together as they fit.
# Take a batch of 24 samples that comes in pieces of 10, 8, 4 and 2. You divide each mean loss by
# 4, the number of pieces.
#
# What does each sample weigh in the sum? There is a scale for that. `Scale`, from the first
# cells, is a model with one parameter a sample. Its output for a sample is that parameter, and
# its loss shall be the mean of the outputs. So the gradient of a parameter is the weight of that
# sample.


# %%
def mean_of(prediction, target):
    return prediction.mean()


sizes = (10, 8, 4, 2)
x_uneven = x_24.clone()
x_uneven[20:] += 1.5  # what is put together by size is not a random part of the data
pieces = list(zip(x_uneven.split(sizes), y_24.split(sizes), strict=True))
numbers = [(part, None) for part in torch.arange(24).split(sizes)]


def weighted(model, loss_fn, micro_batches, factors):
    """The gradient of the sum of the losses, each with a factor of its own."""
    for (x, y), factor in zip(micro_batches, factors, strict=True):
        (loss_fn(model(x), y) * factor).backward()
    return gradient(model)


# %%
predict("6.d")

# %%
weighed = weighted(Scale(24), mean_of, numbers, [1 / 4] * 4)
for size, (part, _) in zip(sizes, numbers, strict=True):
    shown = ", ".join(f"{24 * value:.1f}" for value in weighed[part].unique().tolist())
    print(f"piece of {size:>2}: each sample weighs {shown} / 24")
compare("6.d", closest(weighed[-1] / weighed[0], same=1, two=2, five=5, less=1 / 5))

# %% [markdown]
# All pieces count the same, so a sample of the small one counts five times as much. What was
# meant is 1/24 for each. Multiply each mean by its rows and divide by all rows: $n_j / N$ in
# place of $1 / k$.
#
# How far off is the gradient? That depends on the data, on how much the pieces differ. Here the
# last four rows are shifted, since batches that are put together by size are no random parts.

# %% claims="S1-4"
wanted = whole_gradient(small_model(), squared_error, x_uneven, y_24)
rules = {
    "not divided": [1] * 4,
    "by the number of pieces": [1 / 4] * 4,
    "as if all had ten rows": [size / 40 for size in sizes],
    "rows / all rows": [size / 24 for size in sizes],
}
for rule, factors in rules.items():
    got = weighted(small_model(), squared_error, pieces, factors)
    cosine = torch.cosine_similarity(got, wanted, dim=0).item()
    error = off(got, wanted)
    shown = "less than 1e-12" if error < 1e-12 else f"{error:.2f}"
    print(f"{rule:<26} off by {shown:<16} cosine {cosine:.4f}")
    assert (error < 1e-12) == (rule == "rows / all rows")

# %% [markdown]
# A cosine of 1 means the right direction; the length is another matter. Dividing by the number of
# pieces is wrong in its direction. No learning rate mends that.
#
# > **Fact.** Take a loss that is a mean over rows, and a model that gives a row the same output,
# > with the same derivatives, whatever else is in the batch, and however often it was called (no
# > dropout that draws, no BatchNorm, nothing that counts forward passes), and no hook of your own
# > that edits gradients. Then the weights $n_j / N$ give the whole batch's gradient up to
# > rounding, however the batch is cut.

# %% claims="S1-8"
for cut in ((24,), (23, 1), (12, 12), (1,) * 24, (7, 2, 1, 14), sizes):
    micro_batches = list(zip(x_uneven.split(cut), y_24.split(cut), strict=True))
    errors = []
    for loss_fn in (squared_error, nn.functional.smooth_l1_loss, nn.functional.l1_loss):
        right = whole_gradient(small_model(), loss_fn, x_uneven, y_24)
        got = weighted(small_model(), loss_fn, micro_batches, [size / 24 for size in cut])
        errors.append(off(got, right))
    right = max(errors) < 1e-12
    print(f"pieces: {len(cut):>2}, smallest {min(cut):>2}: up to 1e-12 for three losses: {right}")
    assert max(errors) < 1e-12
least = nn.Linear(10, 2, bias=False).double()
with torch.no_grad():
    least.weight.copy_(torch.linalg.lstsq(x_24, y_24).solution.T)  # least squares: a minimum
right = whole_gradient(least, squared_error, x_24, y_24)
least.zero_grad()
quarters = list(zip(x_24.split(6), y_24.split(6), strict=True))
error = off(weighted(least, squared_error, quarters, [1 / 4] * 4), right)
print(f"at a minimum, length below 1e-12: {bool(right.norm() < 1e-12)};", end=" ")
print("4 pieces right up to 1e-12:", error < 1e-12)
predicted = small_model()(x_24).detach()
sides = [
    whole_gradient(small_model(), nn.functional.l1_loss, x_24, predicted + beside)
    for beside in (-1e-14, 1e-14)
]
print(f"l1, answers 1e-14 below the predictions and above: off by {off(*sides):.2f}")

# %% [markdown]
# At a minimum rounding is all that is left of a gradient, and a loss with a kink, such as l1, can
# jump there.
#
# Look twice at the word mean. With class numbers as targets, cross-entropy with class weights
# divides by the sum of the weights of the rows, not by their number. Then that sum is what a
# piece weighs.

# %%
x_rows, y_rows = draw(24, 10, seed=33), torch.arange(24) % 2
x_rows[:12] += 1.0
y_rows[:10] = 0
class_weights = torch.tensor([1.0, 5.0], dtype=torch.float64)


def weighted_loss(prediction, target):
    return cross_entropy(prediction, target, weight=class_weights)


right = whole_gradient(small_model(), weighted_loss, x_rows, y_rows)
for name, share in (("rows", torch.ones(24).double()), ("class weights", class_weights[y_rows])):
    model = small_model()
    for x, y, part in zip(*(t.split(sizes) for t in (x_rows, y_rows, share)), strict=True):
        (weighted_loss(model(x), y) * part.sum() / share.sum()).backward()
    error = off(gradient(model), right)
    print(
        f"shares by {name:<14} {'right up to 1e-12' if error < 1e-12 else f'off by {error:.2f}'}"
    )
    assert (error < 1e-12) == (name == "class weights")

# %% [markdown]
# In the exercise you get micro-batches of any size. If you wrote a test in section 2, try it on
# your answer with `pieces`.


# %% exercise="6.2"
def accumulate_uneven(model, loss_fn, micro_batches):
    """Leaves in .grad the gradient of all rows as one batch, whatever the sizes."""
    ### BEGIN SOLUTION
    rows = sum(len(x) for x, _ in micro_batches)
    model.zero_grad()
    for x, y in micro_batches:
        loss = loss_fn(model(x), y) * len(x) / rows
        loss.backward()
    ### END SOLUTION


# %% [markdown]
# ## 4. Tokens
#
# A language model reads a text and predicts, at each place, what comes next. Its loss is a mean
# over *tokens*, the pieces that a text is cut into; here each character is one. Texts have
# different lengths. So even micro-batches with the same number of texts are unequal.
#
# This is real text: 360 paragraphs and headings of the Python manual. `byte_model()` is small,
# and float32 where nothing else is said. It sees six characters and predicts the next.
# `table(texts)` makes a micro-batch: `tokens` and `labels`, filled up to the longest text. The
# places that were filled up have the label -100, and cross-entropy leaves those out (it is the
# default of its argument `ignore_index`).
#
# One thing is particular. `labels` are the same characters as `tokens`. What the model says at
# place $i$ is compared with the label at place $i + 1$: `logits[:, :-1]` against `labels[:, 1:]`.
# The labels are *shifted*.
#
# `text_gradient(model, window, rule)` clears `.grad`, accumulates a window of such tables, a
# backward for each, and returns a copy of the gradient. The rule says how the parts are weighted.
# Two of them for now: `mean of means` divides each table's mean loss by the number of tables;
# `shifted labels` divides each summed loss by the number of shifted labels in the window that are
# not -100.

# %%
texts = paragraphs()
tokens, labels = table(["else", "if"])
print("tokens", tokens.tolist())
print("labels", labels.tolist())
print("logits", tuple(byte_model()(tokens).shape), "  compared with", labels[:, 1:].tolist())
lengths = sorted(len(text) for text in texts)
print(f"{len(texts)} texts of {lengths[0]} to {lengths[-1]} characters, median {lengths[180]}")
print("the shortest:", repr(min(texts, key=len)))


def trained(rule, seed, steps=100):
    """A model after so many steps on 4 of the first 300 texts, each a micro-batch."""
    model = byte_model(seed)
    optimizer = torch.optim.AdamW(model.parameters(), lr=0.003)
    generator = torch.Generator().manual_seed(seed)
    for _ in range(steps):
        picked = torch.randint(300, (4,), generator=generator).tolist()
        text_gradient(model, [table([texts[i]]) for i in picked], rule)
        optimizer.step()
    return model


rightly_trained = trained("shifted labels", 0)

# %% [markdown]
# A window has 8 micro-batches with one text each, as on a GPU that is nearly full. The usual
# division: each micro-batch's mean loss by 8. How far is the gradient from that of the 8 texts in
# one batch? The cell tries 20 windows, with a new model, and after 100 steps of training on 4
# texts each.

# %%
predict("6.e")


# %%
layouts = {"8 micro-batches of 1 text": 1, "4 of 2 texts": 2, "2 of 4 texts": 4}
errors = {(age, size): [] for age in ("new", "trained") for size in layouts.values()}
for age, learner in (("new", byte_model()), ("trained", rightly_trained)):
    model = copy.deepcopy(learner).double()
    for w in range(20):
        group = texts[8 * w : 8 * w + 8]
        right = text_gradient(model, [table(group)], "shifted labels")
        for size in layouts.values():
            micro_batches = [table(group[j : j + size]) for j in range(0, 8, size)]
            got = text_gradient(model, micro_batches, "mean of means")
            errors[age, size].append(off(got, right))
found = {key: statistics.median(values) for key, values in errors.items()}
print("off by, in the median       new model   after 100 steps")
for name, size in layouts.items():
    print(f"{name:<28}{found['new', size]:>9.2f}{found['trained', size]:>18.2f}")
compare("6.e", closest(found["trained", 1], rounding=1e-6, little=0.03, third=0.3, all=1))

# %% [markdown]
# With a new model the error is not quite half as long as the gradient. After 100 steps it is about
# as long as the gradient itself. And the same texts in other micro-batches give another gradient.
# That is how it was noticed: runs that should have been equal were not.
#
# Is it only another weighting, then, and as good? Train with both, two seeds each. The texts that
# are held out are measured, the headings among them (under 40 characters) and the long ones (200
# and more) apart.

# %%
predict("6.f")

# %%
unseen = texts[300:]
groups = ([t for t in unseen if len(t) < 40], [t for t in unseen if len(t) >= 200], unseen)
headings, long_ones, _ = map(len, groups)
print(f"{len(unseen)} texts are held out, {headings} headings and {long_ones} long ones")
results = {}
print("loss a character on held-out texts    headings   long texts    all")
for seed in (0, 1):
    for rule in ("mean of means", "shifted labels"):
        known = (rule, seed) == ("shifted labels", 0)
        model = rightly_trained if known else trained(rule, seed)
        with torch.no_grad():
            losses = [token_loss(model, *table(group), "mean").item() for group in groups]
        short, long, every = results[rule, seed] = losses
        print(f"seed {seed}, {rule:<28}{short:>8.2f}{long:>12.2f}{every:>9.2f}")
better = [
    all(results["mean of means", s][i] < results["shifted labels", s][i] for s in (0, 1))
    for i in range(3)
]
on_headings = better[0] and not better[1]
compare("6.f", "headings" if on_headings else "better" if all(better) else "worse")

# %% [markdown]
# It does better on headings, and worse on the long texts and on all together. The mean of means
# gives each text the same weight, where the big batch gives it to each character: in a text with
# $n$ predictions, one weighs $1 / (4 n)$ here. So short texts are what it was told to learn. (Two
# seeds are few, 11 headings too, and the model is tiny.) Nobody chose that aim. It came with the
# size of the micro-batch.
#
# ### Which labels count?
#
# So sum the losses, and divide by the number of tokens in the window. It is natural to count
# `labels != -100`, the rule `all labels`. Is that right?

# %%
predict("6.g")

# %%
model, micro_batches = byte_model().double(), [table([text]) for text in texts[:8]]
whole = text_gradient(model, [table(texts[:8])], "shifted labels")
got = text_gradient(model, micro_batches, "all labels")
every = sum(counted(labels) for _, labels in micro_batches)
print(f"labels: {every}, after the shift: {every - 8}, ratio {1 - 8 / every:.4f}")
cosine = torch.cosine_similarity(got, whole, dim=0).item()
share = (got.norm() / whole.norm()).item()
print(f"length of the gradient: {share:.4f} of the right one, cosine {cosine:.4f}")
headings = sorted(texts, key=len)[:8]
micro_batches = [table([text]) for text in headings]
long, short = (
    text_gradient(model, micro_batches, rule).norm().item()
    for rule in ("shifted labels", "all labels")
)
print(f"in a window of the 8 shortest texts, the length is {short / long:.4f} of the right one")
straight = cosine > 1 - 1e-9
compare("6.g", "direction" if not straight else "short" if share < 1 else "same")

# %% [markdown]
# Here each text has one label that no prediction meets, its first. (Where the beginning is masked
# with -100, as in answers to a prompt, there is none.) Counting it makes the gradient too short,
# by more where texts are shorter. AdamW hides a factor that stays the same. This one changes with
# the texts of the window. It is easily done: the Trainer of transformers counted so until
# huggingface/transformers#46204, which was merged in 2026.
#
# ### Picture: what each wrong normalisation does
#
# Window after window, 20 of them, with micro-batches of 3, 2, 2 and 1 texts. Each dot is a
# window. Two rules are new: `means weighted by texts` multiplies each mean loss by its share of
# the window's texts; `all places` sums the losses, and counts all places that have a prediction,
# filled-up ones too.

# %%
errors = {rule: [] for rule in WEIGHTINGS}
for w in range(20):
    group, model = texts[8 * w : 8 * w + 8], byte_model().double()
    right = text_gradient(model, [table(group)], "shifted labels")
    micro_batches = [table(group[a:b]) for a, b in ((0, 3), (3, 5), (5, 7), (7, 8))]
    for rule in WEIGHTINGS:
        got = text_gradient(model, micro_batches, rule)
        cosine = torch.cosine_similarity(got, right, dim=0).item()
        errors[rule].append((off(got, right), cosine > 1 - 1e-9))
for rule, found in errors.items():
    worst = max(error for error, _ in found)
    shown = "rounding" if worst < 1e-12 else f"{worst:.3f}"
    kind = "length" if all(straight for _, straight in found) else "direction"
    print(f"{rule:<24} worst: {shown:<9} {'' if worst < 1e-12 else 'wrong in ' + kind}")
assert max(error for error, _ in errors["shifted labels"]) < 1e-12
figures.normalisations(errors)

# %% [markdown]
# > **Fact.** Take a model as in section 3 that does not see the padding: this one looks back
# > only, and the padding comes last. Then losses summed over the shifted labels that count,
# > divided by their number in the whole window, give the gradient of the window in one batch, up
# > to rounding. How many texts are in a micro-batch plays no part.

# %%
model = byte_model().double()
right = text_gradient(model, [table(texts[:24])], "shifted labels")
for cut in ((24,), (12, 12), (1,) * 24, (20, 3, 1)):
    ends = [sum(cut[: j + 1]) for j in range(len(cut))]
    micro_batches = [table(texts[end - size : end]) for size, end in zip(cut, ends, strict=True)]
    error = off(text_gradient(model, micro_batches, "shifted labels"), right)
    print(f"{len(cut):>2} micro-batches, up to 1e-12: {error < 1e-12}")
    assert error < 1e-12

# %% [markdown]
# The number of a window's tokens is known after its last micro-batch. There are two ways. Look at
# the labels of the whole window first, they are small. Or go backward with the plain sums, count
# as you go, and divide `.grad` once before the step. What you must not do to get it is keep the
# graphs, as in section 1. And a micro-batch may have no label that counts. Its sum is 0; its mean
# is 0 divided by 0:

# %%
model, (tokens, labels) = byte_model(), table(["a", "b"])
for reduction in ("sum", "mean"):
    model.zero_grad()
    loss = token_loss(model, tokens.repeat(1, 2), torch.full((2, 2), -100), reduction)
    loss.backward()
    print(f"no label counts, {reduction}: loss {loss.item()}, longest gradient", end=" ")
    print(gradient(model).abs().max().item())

# %% [markdown]
# The NaN does not reach the gradient here: for a label that does not count, cross-entropy sends
# back 0. It does reach the loss in your log.
#
# In the wild: huggingface/transformers#24725 described the mistake in 2023. In October 2024 it
# was found in several frameworks at once, and mended from huggingface/transformers#34191 on, and
# in meta-pytorch/torchtune#1875.

# %%
quiz("6.q2")

# %% [markdown]
# In the exercise, the number that marks a label to be left out is an argument, and it may be a
# token. (`token_loss` of this section knows -100 alone.)


# %% exercise="6.3"
def accumulate_tokens(model, micro_batches, ignore_index=-100):
    """Leaves in .grad the gradient of the mean next-token loss over all targets that count."""
    ### BEGIN SOLUTION
    counted = sum((labels[:, 1:] != ignore_index).sum().item() for _, labels in micro_batches)
    model.zero_grad()
    for tokens, labels in micro_batches:
        logits = model(tokens)[:, :-1]
        loss = nn.functional.cross_entropy(
            logits.flatten(0, 1),
            labels[:, 1:].flatten(),
            ignore_index=ignore_index,
            reduction="sum",
        )
        (loss / counted).backward()
    ### END SOLUTION


# %% [markdown]
# > **Pause.** This is a good place to stop for the day. You know what accumulation saves and how
# > pieces are weighted. What follows is about the loop around them, about some layers and losses,
# > and about when not to. After a restart, run the first three code cells and go on here.
#
# ## 5. The last window
#
# Ten batches and windows of four. What happens at the end of an epoch depends on the line that
# ends a window. Five such lines have a name here, and `program` writes the loop with each of
# them. This is the shortest:

# %%
print(min((program(rule, window=4, epochs=3) for rule in TAILS), key=len))

# %% [markdown]
# There are ten batches and three epochs. How many backward passes does the third step of this
# loop use?

# %%
predict("6.h")

# %% claims="S1-12 S1-31 S1-42"
stories = {rule: story(rule, batches=10, window=4, epochs=3) for rule in TAILS}
for rule, told in stories.items():
    unused = len(told.left) + len(told.lost)
    print(f"{rule:<16} never used: {unused}, in each step", *(len(step) for step in told.steps))
figures.windows({rule: told.steps for rule, told in stories.items()})
compare("6.h", closest(len(stories["leak"].steps[2]), two=2, four=4, six=6))

# %% [markdown]
# (What a batch weighs is measured, by a model with one parameter a batch, like `Scale`.)
#
# - **leak:** the two that are left over stay in `.grad`. The next epoch's first step uses six,
#   with weights that sum to 1.5. At the end of the run two are lost.
# - **drop:** somebody clears at the start of an epoch. A fifth of each epoch is not learned from.
#   Without shuffling, as here, it is always the same fifth, and that is never learned.
# - **go on:** the counter does not start again. Every window is full, but some lie in two epochs,
#   and here the end of the run loses two.
# - **step at the end:** every batch is used, and the gradient of each epoch's last step is half
#   as long as it should be: two batches, each divided by 4.
# - **own division:** the last window is divided by the batches it has. (Here they are equal.
#   Where they are not, section 3 says how.)
#
# The first four are rules of published code, as its users report them.
#
# <details><summary>Where each of them was met</summary>
#
# Leak is
# meta-pytorch/torchtune#2745: 63 batches and windows of 8 gave a step with 15. Drop is
# NVIDIA-NeMo/Automodel#2257, whose mend steps at the end and scales that window as in the last
# rule; tomhosking/torchseq#8 lost its last batches, too. Go on came with timoschick/pet#25,
# which mended a run that never stepped because its epoch was shorter than its window; #36
# reports what is lost. And step at the end is Lightning's, in
# Lightning-AI/pytorch-lightning#19987.
#
# </details>
#
# What does it do to the weights? Train on all 30 pages, windows of 4, and compare with batches of
# 200, of which the last one of each epoch has 100.

# %%
wanted = reader()
optimizer = torch.optim.SGD(wanted.parameters(), lr=0.4)
for _ in range(3):
    for x, y in batches_of(pages, 4):
        optimizer.zero_grad()
        cross_entropy(wanted(x), y).backward()
        optimizer.step()
start = weights(reader())
for rule in TAILS:
    model = reader()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.4)
    run(rule, model, optimizer, cross_entropy, pages, window=4, epochs=3)
    error = off(weights(model) - start, weights(wanted) - start)
    shown = "off by less than 1e-12" if error < 1e-12 else f"off by {error:.3f}"
    print(f"{rule:<16} the way of the weights is {shown}")
    assert (error < 1e-12) == (rule == "own division")

# %% [markdown]
# Does a ledger see it? It has to be told what a window should be.

# %% claims="S1-31"
for rule in TAILS:
    with GradientLedger(window=4) as ledger:
        model = reader()
        optimizer = torch.optim.SGD(model.parameters(), lr=0.4)
        run(rule, model, optimizer, cross_entropy, pages, window=4, epochs=3)
    found = [f"{finding.severity}, {finding.misconception}" for finding in ledger.findings()]
    print(f"{rule:<16} {'; '.join(found) or 'nothing'}")

# %% [markdown]
# It sees which backward passes a step has used, not what they were divided by: for that it wants
# a reference (lesson 5). Nothing found is no proof.
#
# Now try other numbers. The buttons choose a rule, the batches of an epoch and the window; each
# press runs the loop. (Where there are no buttons, `story("leak", batches=10, window=4)` measures
# the same in a cell. It counts epochs and batches from 0, where the pictures begin with 1.) Find:
#
# 1. numbers for which all five rules do the same;
# 2. numbers for which `leak` makes no step at all in the first epoch;
# 3. numbers for which the last step of an epoch uses one batch, and weighs it with 1/8.

# %%
windows_of_training()

# %% [markdown]
# <details><summary>Some that do it</summary>
#
# 1: any window that divides the number of batches, such as 12 and 4. 2: a window that is longer
# than an epoch, such as 5 batches and windows of 8; `leak` then never makes one, because `i + 1`
# never reaches 8. 3: `step at the end` with 9 batches and windows of 8.
#
# </details>
#
# In the exercise you plan the windows of a run, before a single batch is loaded. Such a plan is
# what a loop can be built on: it knows the size of each window when it begins.

# %%
quiz("6.q3")


# %% exercise="6.4"
def plan_windows(n_batches, window, epochs):
    """The windows of a training, in order; each is a list of pairs (epoch, batch)."""
    ### BEGIN SOLUTION
    windows = []
    for epoch in range(epochs):
        for first in range(0, n_batches, window):
            last = min(first + window, n_batches)
            windows.append([(epoch, batch) for batch in range(first, last)])
    return windows
    ### END SOLUTION


# %% [markdown]
# ## 6. Once in a window
#
# What else is in the loop? A scheduler, a clipping, an average of the weights, an extra loss.
# In the plain loop each stands in the body and runs once a batch. Now there are two loops, and
# each of these has to go into the right one.
#
# ### The scheduler
#
# The learning rate shall fall along a cosine, from 1 to 0 in 10 updates. The windows have 4
# micro-batches. `scheduler.step()` stands where it always stood, at the end of the loop's body.


# %%
def rates(where, updates=10, window=4):
    """(the learning rate of each update, how many warnings there were)."""
    weight, seen = nn.Parameter(torch.ones(1)), []
    optimizer = torch.optim.SGD([weight], lr=1.0)
    scheduler = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, T_max=updates)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        for _ in range(updates):
            for j in range(window):
                (weight.sum() / window).backward()
                if j == window - 1:
                    seen.append(optimizer.param_groups[0]["lr"])
                    optimizer.step()
                    optimizer.zero_grad()
                if where == "each micro-batch" or j == window - 1:
                    scheduler.step()
    return seen, len(caught)


# %%
predict("6.i")

# %% claims="S1-30"
schedules = {}
for where in ("each window", "each micro-batch"):
    schedules[where], caught = rates(where)
    print(f"{where:<17}", " ".join(f"{rate:.2f}" for rate in schedules[where]))
print("warnings in the second loop:", caught)
figures.schedules(schedules)
wanted, found = schedules["each window"][-1], schedules["each micro-batch"][-1]
compare("6.i", closest(found, zero=1e-6, same=wanted, up=1))

# %% [markdown]
# It does not fall four times as fast and stop. After the tenth call this cosine goes up again.
# And the first update already has the rate of the fourth. There is one warning, because
# here the scheduler's first call comes before the optimizer's first step; its text speaks of the
# order of two lines, and not of windows. huggingface/accelerate#963 saw it in the learning rates,
# and #999 mended it.
#
# ### The clipping
#
# It shall limit the gradient of the window. What if it stands after each backward? Take four
# micro-batches that agree on nothing: their gradients are at right angles, and equally long. Each
# loss is divided by 4, so each contributes a length of 0.25. The limit is 0.1. Which of them
# counts most in the step?

# %%
predict("6.j")

# %%
clipped = {}
for where in ("each window", "each micro-batch"):
    scale = Scale(4)
    for j in range(4):
        (scale(torch.tensor([j])).mean() / 4).backward()
        if where == "each micro-batch" or j == 3:
            nn.utils.clip_grad_norm_(scale.parameters(), 0.1)
    clipped[where] = scale.values.grad
    parts = "  ".join(f"{value:.3f}" for value in scale.values.grad.tolist())
    print(f"clipped after {where:<17} {parts}   length {scale.values.grad.norm().item():.2f}")
first, last = clipped["each micro-batch"][0], clipped["each micro-batch"][-1]
compare("6.j", "same" if torch.allclose(first, last) else "last" if last > first else "first")

# %% [markdown]
# `.grad` is a running sum, and each clipping shrinks all that is in it. The first micro-batch is
# shrunk four times, the last one once. The length of this step is right, its direction is nearer
# to that of the last micro-batch than to any other. In 2019 huggingface/transformers#986 had an
# example like this one, and #1580 mended it. facebookresearch/lingua#59 (2024) mended the same.
#
# ### An average of the weights, and an extra loss
#
# Some trainings keep an *EMA*, a fading average of the weights: $a \leftarrow d\,a + (1 - d)\,w$.
# Called after every micro-batch, it fades $k$ times as fast: with the same weights four times in
# a row, $d$ becomes $d^4$.

# %%
average = {"each window": 0.0, "each micro-batch": 0.0}
for where in average:
    # 50 updates; the weight is 1 from the first of them on, the average began at 0
    for _ in range(50 if where == "each window" else 4 * 50):
        average[where] = 0.99 * average[where] + 0.01 * 1.0
    print(f"EMA after {where + ':':<18} after 50 updates it has taken in {average[where]:.0%}")
assert abs(1 - average["each micro-batch"] - 0.99**200) < 1e-9


# %% [markdown]
# And an *auxiliary loss* is a second loss that is added, for example a penalty on the weights. It
# belongs to the window, too: once in full, or $k$ times divided by $k$.


# %%
def weights_squared(model):
    return sum((p**2).sum() for p in model.parameters())


def penalised(how):
    """The gradient of a window of four with a penalty, which is added in some way."""
    model = small_model()
    for j, (x, y) in enumerate(zip(x_24.split(6), y_24.split(6), strict=True)):
        loss, penalty = squared_error(model(x), y), 0.1 * weights_squared(model)
        if how == "inside the division":
            loss = (loss + penalty) / 4
        elif how == "outside the division":
            loss = loss / 4 + penalty
        else:
            loss = loss / 4 + (penalty if j == 3 else 0)
        loss.backward()
    return gradient(model)


model = small_model()
(squared_error(model(x_24), y_24) + 0.1 * weights_squared(model)).backward()
right = gradient(model)
for how in ("inside the division", "once, in the last", "outside the division"):
    error = off(penalised(how), right)
    shown = "right up to 1e-12" if error < 1e-12 else f"off by {error:.2f}"
    print(f"penalty {how:<22} {shown}")
    assert (error < 1e-12) == (how != "outside the division")

# %% [markdown]
# The rule for all of them: what is done *to the gradient or after an update* happens once a
# window, between its last backward and the next window's first. What is part of a *loss* counts
# once in a window: in every piece and through the division, or whole in one of them. That holds
# for a penalty on the weights. An extra loss that looks at the batch is a matter of section 8.
#
# The exercise puts the whole loop together: windows, the last one too, unequal batches, one
# clipping, one step of the scheduler.


# %% exercise="6.5"
def train_accumulated(
    model, optimizer, loss_fn, batches, window, epochs, scheduler=None, max_norm=None
):
    """One step a window, as with large batches; returns each epoch's mean loss over samples."""
    ### BEGIN SOLUTION
    losses = []
    samples = sum(len(x) for x, _ in batches)
    for _ in range(epochs):
        total = 0.0
        for first in range(0, len(batches), window):
            pieces = batches[first : first + window]
            rows = sum(len(x) for x, _ in pieces)
            optimizer.zero_grad()
            for x, y in pieces:
                loss = loss_fn(model(x), y)
                (loss * len(x) / rows).backward()
                total += loss.item() * len(x)
            if max_norm is not None:
                nn.utils.clip_grad_norm_(model.parameters(), max_norm)
            optimizer.step()
            if scheduler is not None:
                scheduler.step()
        losses.append(total / samples)
    return losses
    ### END SOLUTION


# %% [markdown]
# ## 7. Normalising layers
#
# *BatchNorm* subtracts in training mode, in each channel, the mean over the rows of its batch,
# and divides by their deviation. *LayerNorm* and *GroupNorm* do that within one row. The same
# network with each of them, 24 rows, pieces weighted as in section 3:


# %%
norms = {
    "none": lambda: None,
    "LayerNorm": lambda: nn.LayerNorm(16),
    "GroupNorm": lambda: nn.GroupNorm(4, 16),
    "BatchNorm": lambda: nn.BatchNorm1d(16),
    "BatchNorm, eval": lambda: nn.BatchNorm1d(16),  # cut_error puts it into eval mode
}


def cut_error(norm, k):
    """How far the accumulated gradient of k pieces is from that of the whole batch; the model."""
    whole, model = small_model(norms[norm]()), small_model(norms[norm]())
    if norm.endswith("eval"):
        for part in (*whole, *model):
            part.train(not isinstance(part, nn.BatchNorm1d))
    right = whole_gradient(whole, squared_error, x_24, y_24)
    for x, y in zip(x_24.chunk(k), y_24.chunk(k), strict=True):
        (squared_error(model(x), y) / k).backward()
    return off(gradient(model), right), model


# %% [markdown]
# How far off is the gradient with BatchNorm, with 2, 4 and 8 pieces?

# %%
predict("6.k")

# %% claims="S1-4 S1-36"
errors = {norm: {k: cut_error(norm, k)[0] for k in (2, 4, 8)} for norm in norms}
for norm, found in errors.items():
    shown = ("rounding" if error < 1e-12 else f"{error:.2f}" for error in found.values())
    print(f"{norm:<16}", "  ".join(f"{text:>9}" for text in shown))
right = {norm for norm, found in errors.items() if max(found.values()) < 1e-12}
assert right == {*norms} - {"BatchNorm"}
growing = errors["BatchNorm"][2] < errors["BatchNorm"][4] < errors["BatchNorm"][8]
compare("6.k", "grows" if growing else "rounding" if "BatchNorm" in right else "shrinks")

# %% [markdown]
# Each row is normalised with the statistics of its own piece. So it is another model, here the
# more so the fewer rows a piece has. With three rows in each of 8 pieces, the error is longer
# than the gradient. With a single value a channel in a piece it stops. Would other weights help?
# The next cell looks for the best factors that the 4 pieces could have. And it looks at the
# memory of BatchNorm, which runs faster:

# %% claims="S1-36"
target = whole_gradient(small_model(norms["BatchNorm"]()), squared_error, x_24, y_24)
parts = torch.stack(
    [
        whole_gradient(small_model(norms["BatchNorm"]()), squared_error, x, y)
        for x, y in zip(x_24.chunk(4), y_24.chunk(4), strict=True)
    ],
    dim=1,
)
factors = torch.linalg.lstsq(parts, target[:, None]).solution
best = off((parts @ factors).flatten(), target)
print(f"4 pieces with the best factors there are: off by {best:.2f}")
assert best > 0.1
for k in (1, 4, 8):
    norm = cut_error("BatchNorm", k)[1][1]
    fraction = 1 - (1 - norm.momentum) ** norm.num_batches_tracked.item()
    print(f"{k} pieces: batches counted {norm.num_batches_tracked.item()},", end=" ")
    print(f"{fraction:.0%} of the running mean is from this window")
    assert norm.num_batches_tracked.item() == k
try:
    cut_error("BatchNorm", 24)
except ValueError as error:
    print("24 pieces of one row:", str(error).split(",")[0])

# %% [markdown]
# What helps is a layer that looks at one row at a time. Or BatchNorm in eval mode, with
# statistics that are kept as they are, as one does with a trained network that is fine-tuned: the
# last line of the table. The layer's own weight and bias still learn there.
#
# giotto-ai/giotto-deep#75 asks for BatchNorm layers that see the whole window. A loop that sends
# one piece through the whole model before the next cannot give them that: when the first one
# goes, the statistics of the others are not known.
#
# In the exercise you get a model and make it safe.


# %% exercise="6.6"
def make_accumulation_safe(model):
    """Change model in place: whole batch or micro-batches, the accumulated gradient is one."""
    ### BEGIN SOLUTION
    like = next(model.parameters())
    for module in list(model.modules()):
        for name, part in module.named_children():
            if isinstance(part, (nn.BatchNorm1d, nn.BatchNorm2d, nn.BatchNorm3d)):
                norm = nn.GroupNorm(1, part.num_features, device=like.device, dtype=like.dtype)
                setattr(module, name, norm)
    ### END SOLUTION


# %% [markdown]
# > **Pause.** Another place to stop. You can write the loop, and you know the layers that resist
# > it. What follows are other losses, the price, and a rival that saves other bytes.
#
# ## 8. Contrastive losses
#
# A *contrastive* loss learns which things belong together: pictures and their captions, questions
# and their answers. A batch has $n$ pairs. For each left one, the loss is the cross-entropy of
# finding its right one among all $n$ of the batch. The others are its *negatives*.
#
# Take 32 pairs, in 4 micro-batches of 8. Each loss is divided by 4, there is no BatchNorm, and
# the model has had 30 steps of training. How far is the gradient from that of all 32 at once?


# %%
lefts = draw(32, 10, seed=41)
rights = 0.9 * lefts + 0.44 * draw(32, 10, seed=42)  # pairs are alike


def embedded(model, rows):
    return nn.functional.normalize(model(rows), dim=1)


def contrastive(left, right):
    """Mean cross-entropy of finding each left one's partner among all right ones."""
    return cross_entropy(left @ right.T / 0.2, torch.arange(len(left)))


def encoder(steps=0):
    """10 numbers to 8, after so many steps of training with all 32 pairs."""
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(10, 32), nn.Tanh(), nn.Linear(32, 8)).double()
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
    for _ in range(steps):
        optimizer.zero_grad()
        contrastive(embedded(model, lefts), embedded(model, rights)).backward()
        optimizer.step()
    return model


def pair_gradient(model, k):
    """The gradient of k micro-batches of pairs, each with a loss of its own; their mean loss."""
    model.zero_grad()
    total = 0.0
    for left, right in zip(lefts.chunk(k), rights.chunk(k), strict=True):
        loss = contrastive(embedded(model, left), embedded(model, right)) / k
        loss.backward()
        total += loss.item()
    return gradient(model), total


# %%
predict("6.l")

# %%
print("                              new model        after 30 steps")
print("micro-batches   candidates    loss  off by       loss  off by")
errors, models = {}, {steps: encoder(steps) for steps in (0, 30)}
for k in (1, 2, 4, 8, 16, 32):
    cells = []
    for steps, model in models.items():
        wanted, _ = pair_gradient(model, 1)
        got, loss = pair_gradient(model, k)
        errors[k, steps] = off(got, wanted)
        cells.append(f"{loss:8.2f}{errors[k, steps]:8.2f}")
    print(f"{k:>13}{32 // k:>13}{'   '.join(cells)}")
assert all(errors[4, steps] > 0.2 for steps in (0, 30)) and abs(errors[32, 0] - 1) < 1e-12
compare("6.l", closest(errors[4, 30], same=1e-12, near=0.02, third=0.3, all=1.2))

# %% [markdown]
# Four times 8 candidates are not 32. A row of the big batch has 31 negatives, one of a piece has
# 7; the other pairs never meet. The task of the pieces is easier, which the loss shows. With one
# pair each there is no task at all, and the gradient is 0. With a new model it is nearer: eight
# pieces are not as far off there as two are after training. Section 7 was about the model, this
# is about the loss. In both, rows look at one another.
#
# Here a mend exists. The loss needs all embeddings. Where the model is deep, those are small
# beside the activations on the way to them. So go twice:
#
# 1. Run all pieces forward **without** a graph, and keep the embeddings.
# 2. Take the loss over all of them, and its gradient with respect to the embeddings.
# 3. Run each piece forward again, with a graph, and go backward from its embeddings with that
#    gradient: `embedding.backward(gradient=...)`, which begins with what step 2 has found.


# %%
def cached_gradient(model, k):
    """The whole batch's gradient in two forward passes, with a graph of one piece at a time."""
    model.zero_grad()
    with torch.no_grad():
        sides = [[embedded(model, part) for part in side.chunk(k)] for side in (lefts, rights)]
    known = [torch.cat(parts).requires_grad_() for parts in sides]
    contrastive(*known).backward()
    for side, embeddings in zip((lefts, rights), known, strict=True):
        for part, arriving in zip(side.chunk(k), embeddings.grad.chunk(k), strict=True):
            embedded(model, part).backward(gradient=arriving)
    return gradient(model)


wanted, _ = pair_gradient(encoder(), 1)
for k in (1, 4, 16, 32):
    error = off(cached_gradient(encoder(), k), wanted)
    print(f"{k:>2} micro-batches, as the whole batch up to 1e-12: {error < 1e-12}")
    assert error < 1e-12
for name, way, k in (
    ("the whole batch", pair_gradient, 1),
    ("16 pieces, a loss each", pair_gradient, 16),
    ("16 pieces, cached", cached_gradient, 16),
):
    model = encoder()
    with SavedBytes(lefts, rights, *model.parameters()) as saved:
        way(model, k)
    print(f"{name:<23} kept by graphs at most: {saved.peak:>5} bytes")

# %% [markdown]
# This is known as *gradient caching*. What is left of the bytes is step 2: the graph of the loss,
# over a table of 32 by 32. With this small encoder it is more than a piece needs. Nothing in it
# is particular to this loss. It needs the outputs of all pieces, a model in which no row looks at
# another (section 7), and two forward passes that give the same; with dropout they do not, unless
# the random state is kept as well.
#
# ## 9. When not to
#
# You have a batch that fits. Somebody says: accumulate over 8, large batches train better. What
# does it cost, and what does it bring?
#
# What it costs can be counted, without a clock. `FlopCounterMode` of PyTorch counts the
# multiplications and additions of matrix products. `Calls` counts how many operations PyTorch
# starts, in the passes and in the step.


# %%
class Calls(TorchDispatchMode):
    """Counts the operations that are dispatched in its block, by name."""

    def __init__(self):
        super().__init__()
        self.names = Counter()

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        self.names[func.overloadpacket.__name__] += 1
        return func(*args, **(kwargs or {}))


def window_of(model, optimizer, k, size=512):
    """One step on so many digits, in k pieces."""
    for x, y in zip(data.x[:size].chunk(k), data.y[:size].chunk(k), strict=True):
        (cross_entropy(model(x), y) / k).backward()
    optimizer.step()
    optimizer.zero_grad()


def layers():
    """64 inputs, two hidden layers of 128, 10 outputs, float32."""
    torch.manual_seed(0)
    return nn.Sequential(
        nn.Linear(64, 128), nn.ReLU(), nn.Linear(128, 128), nn.ReLU(), nn.Linear(128, 10)
    )


def measured_peak(size):
    """The peak of a window of 512 digits in micro-batches of so many, in bytes, with SGD."""
    model = layers()
    with LiveBytes(model.parameters()) as live:
        window_of(model, torch.optim.SGD(model.parameters(), lr=0.1), 512 // size)
    return max(moment.alive for moment in live.history)


# %% claims="S1-11 S1-27"
counts = {}
print("pieces   Mflop   operations   additions in place")
for k in (1, 4, 16, 64, 256):
    model = layers()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    with FlopCounterMode(display=False) as flops:
        window_of(model, optimizer, k)
    with Calls() as calls:
        window_of(model, optimizer, k)
    counts[k] = flops.get_total_flops(), calls.names.total()
    print(f"{k:>6}{counts[k][0] / 1e6:>8.0f}{counts[k][1]:>13}{calls.names['add_']:>21}")
assert len({flop for flop, _ in counts.values()}) == 1
figures.cost({k: calls for k, (_, calls) in counts.items()})

# %% [markdown]
# The arithmetic of the matrix products is the same for every cut. The number of operations grows
# with the pieces, and each has a price before it computes anything. Among them are the additions
# into `.grad`, which one piece does not need. (Six of the column belong to the step, one for each
# parameter.)
#
# The clock says how much that is on your machine. Its numbers differ from run to run, so the cell
# prints what holds on most machines with this small model, and keeps the numbers in `speeds`:
# samples a second, by pieces. Look at them in a cell of your own.

# %% tags=["nbval-ignore-output"] claims="S1-11"
device = "cuda" if torch.cuda.is_available() else "cpu"
model = layers().to(device)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
x_big = torch.randn(1024, 64, device=device)
y_big = torch.randint(10, (1024,), device=device)
speeds = {}
for k in (1, 4, 16, 64, 256):
    best = float("inf")
    for _ in range(12):  # the first is for warming up, the best of the others counts
        begin = time.perf_counter()
        for x, y in zip(x_big.chunk(k), y_big.chunk(k), strict=True):
            (cross_entropy(model(x), y) / k).backward()
        optimizer.step()
        optimizer.zero_grad()
        if device == "cuda":
            torch.cuda.synchronize()
        best = min(best, time.perf_counter() - begin)
    speeds[k] = 1024 / best
print("64 pieces reach less than half of the speed of one: ", speeds[64] < speeds[1] / 2)
print("256 pieces reach less than a quarter of it:         ", speeds[256] < speeds[1] / 4)

# %% [markdown]
# A few pieces may come near one, or be faster where their activations fit into a cache: your
# numbers tell. So on one device the reason to accumulate is memory, and now and then the clock.
#
# And what does it bring? The same 30 pages for 5 epochs, plain SGD, a step after every 1, 3, 10
# or 30 pages. With 30 pages that makes 5 steps in all. There are three starts, and in each the
# best of eight learning rates counts, judged by the test digits.

# %%
predict("6.m")


# %% claims="S1-33 S1-10"
def shares_right(window, lr):
    """The share of the test digits that is read right after 5 epochs, from three starts."""
    joined, shares = batches_of(pages, window), []
    for seed in range(3):
        model = reader(seed)
        optimizer = torch.optim.SGD(model.parameters(), lr=lr)
        for _ in range(5):
            for x, y in joined:
                optimizer.zero_grad()
                cross_entropy(model(x), y).backward()
                optimizer.step()
        shares.append(share_right(model))
    return shares


best = {}
print("window   steps   at rate 0.1   at the best rate   in each start")
for window in (1, 3, 10, 30):
    tried = {lr: shares_right(window, lr) for lr in (0.05, 0.1, 0.2, 0.5, 0.7, 1.0, 1.5, 2.0)}
    tops = [max(column) for column in zip(*tried.values(), strict=True)]
    best[window] = statistics.mean(tops)
    one_by_one = "  ".join(f"{top:.0%}" for top in tops)
    print(f"{window:>6}{150 // window:>8}{statistics.mean(tried[0.1]):>14.0%}", end="")
    print(f"{best[window]:>19.0%}   {one_by_one}")
ahead = best[30] - best[1]
compare("6.m", "large" if ahead > 0.05 else "same" if ahead > -0.05 else "small")

# %% [markdown]
# (The windows went through as big batches. You know that it is the same.) Same data, as many
# epochs. Here five steps do not reach what 150 do, even at their best rate. At the learning
# rate of the small batch they reach next to nothing: who accumulates and leaves the rate alone
# compares two things at once. Three pages a step came out a little ahead of one. So a larger
# batch can be worth having, or not. That is a question about the batch, and accumulation has no
# part in it. Where the batch fits, take it whole. Where it does not fit, accumulate, with pieces
# **as large as fit**. Smaller ones are for who has measured that they are faster.
#
# That is the exercise. `peak_bytes(size)` measures the peak of a micro-batch of that size, as
# `window_peak` did in section 1. A measurement costs a training step, so you cannot try them all.


# %% exercise="6.7"
def largest_micro_batch(peak_bytes, batch_size, budget):
    """The largest divisor of batch_size whose measured peak is at most budget, in bytes."""
    ### BEGIN SOLUTION
    sizes = [n for n in range(1, batch_size + 1) if batch_size % n == 0]
    fitting, too_large = 0, len(sizes)  # sizes[:fitting] fit, sizes[too_large:] do not
    while fitting < too_large:
        middle = (fitting + too_large) // 2
        if peak_bytes(sizes[middle]) <= budget:
            fitting = middle + 1
        else:
            too_large = middle
    if fitting == 0:
        raise ValueError(f"not even one row fits into {budget} bytes")
    return sizes[fitting - 1]
    ### END SOLUTION


# %% [markdown]
# Your function with real measurements: the window of 512 digits, and four budgets. (Before the
# exercise is solved, nothing is measured.)

# %%
for budget in (250, 300, 400, 900):
    asked = []

    def peak_bytes(size, asked=asked):
        asked.append(size)
        return measured_peak(size)

    size = largest_micro_batch(peak_bytes, 512, budget * 1024)
    print(f"{budget} KiB: micro-batches of {size}, measured at {asked}")

# %% [markdown]
# ## 10. The step inside the backward
#
# There is another way to save memory. In backward, gradients arrive layer by layer, last layer
# first. Once a parameter has its gradient, one could step it at once and free the gradient. Then
# all gradients never live together. PyTorch has the hook for it (lesson 2):
# `register_post_accumulate_grad_hook`. Each parameter gets an optimizer of its own.


# %%
def fused(model, lr=0.1):
    """Each parameter steps as soon as its gradient is there; returns a counter of steps."""
    steps = {"count": 0}
    for parameter in model.parameters():
        optimizer = torch.optim.SGD([parameter], lr=lr)

        def step(p, optimizer=optimizer):
            optimizer.step()
            optimizer.zero_grad()
            steps["count"] += 1

        parameter.register_post_accumulate_grad_hook(step)
    return steps


def four_layers():
    """Four layers of 64 by 64, float32."""
    torch.manual_seed(0)
    return nn.Sequential(*(part for _ in range(4) for part in (nn.Linear(64, 64), nn.Tanh())))


rows, targets = draw(16, 64, seed=1).float(), draw(16, 64, seed=2).float()


def most_gradients(train, window):
    """The most bytes of gradients that live at once in a second window, in sets of gradients."""
    model = four_layers()
    size = sum(p.nbytes for p in model.parameters())
    with LiveBytes(model.parameters()) as live:
        one_pass = train(model)
        for _ in range(2):
            live.history.clear()
            for x, y in zip(rows.chunk(window), targets.chunk(window), strict=True):
                one_pass(x, y, window)
    return max(moment.gradients for moment in live.history) / size, model


def plain_way(model):
    optimizer, done = torch.optim.SGD(model.parameters(), lr=0.1), {"backwards": 0}

    def one_pass(x, y, k):
        (squared_error(model(x), y) / k).backward()
        done["backwards"] += 1
        if done["backwards"] % k == 0:
            optimizer.step()
            optimizer.zero_grad()

    return one_pass


def fused_way(model):
    fused(model)
    return lambda x, y, k: (squared_error(model(x), y) / k).backward()


# %%
for name, way in (("step after backward", plain_way), ("step inside backward", fused_way)):
    most, model = most_gradients(way, window=1)
    print(f"{name:<21} most gradients alive: {most:.2f} sets")
ends = [weights(most_gradients(way, window=1)[1]) for way in (plain_way, fused_way)]
print("the same weights, bit for bit:", torch.equal(*ends))
assert torch.equal(*ends)

# %% [markdown]
# The same weights, and about a quarter of the gradients: one layer of four at a time.
#
# Now combine it with accumulation. 8 micro-batches in 2 windows of 4; the losses are divided by
# 4. How many steps does each parameter take?

# %%
predict("6.n")

# %% claims="S1-31"
model = four_layers()
steps = fused(model)
for _ in range(2):
    for x, y in zip(rows.chunk(4), targets.chunk(4), strict=True):
        (squared_error(model(x), y) / 4).backward()
each = steps["count"] / len(list(model.parameters()))
print(f"steps of each parameter: {each:g}, windows: 2")
twin = four_layers()
way = plain_way(twin)
for _ in range(2):
    for x, y in zip(rows.chunk(4), targets.chunk(4), strict=True):
        way(x, y, 4)
start = weights(four_layers())
error = off(weights(model) - start, weights(twin) - start)
print(f"off from two steps by {error:.3f} of their way")
compare("6.n", closest(each, one=1, two=2, eight=8))

# %% [markdown]
# The hook runs at every backward, and knows of no window. Nothing accumulates: these are eight
# small steps. With plain SGD and this learning rate they come near the two large ones, which
# makes it hard to notice.
# PyTorch's own tutorial on this technique says it in its first lines: it is for you if you do not
# need gradient accumulation.
#
# So the hook has to count, and step in the last backward of a window. `counting_hooks` of this
# lesson does that. How much of the gradients is alive at once now?

# %%
predict("6.o")


# %%
def counting_way(model, window):
    counting_hooks(model, window)
    return lambda x, y, k: (squared_error(model(x), y) / k).backward()


for window in (1, 4):
    most, model = most_gradients(partial(counting_way, window=window), window)
    twin = most_gradients(plain_way, window)[1]
    print(f"window of {window}: most gradients alive {most:.2f} sets,", end=" ")
    print("the plain loop's weights:", torch.equal(weights(model), weights(twin)))
compare("6.o", closest(most, quarter=0.25, half=0.5, all=1))

# %% [markdown]
# In a window, what accumulates in `.grad` has to live there. The gradients of the first
# micro-batch are all there until the last backward frees them, one by one. So these two ways of
# saving memory pull against each other: accumulating in `.grad` saves activations and keeps the
# gradients, the fused step saves them where nothing accumulates there. It also leaves, in one
# backward, no moment at which a clipping over all parameters could come.
#
# The exercise is the counting hook, with any optimizer, and a way to remove it.


# %% exercise="6.8"
def fuse_optimizer_into_backward(model, make_optimizer, window):
    """Let each window's last backward step and free the gradients; a handle with remove()."""

    ### BEGIN SOLUTION
    def stepping(optimizer):
        passes = 0

        def when_accumulated(param):
            nonlocal passes
            passes += 1
            if passes % window == 0:
                optimizer.step()
                optimizer.zero_grad()

        return when_accumulated

    hooks = []
    for param in model.parameters():
        if param.requires_grad:
            step = stepping(make_optimizer([param]))
            hooks.append(param.register_post_accumulate_grad_hook(step))

    class Handle:
        def remove(self):
            for hook in hooks:
                hook.remove()

    return Handle()
    ### END SOLUTION


# %% [markdown]
# ## 11. What a ledger sees
#
# You have met the mistakes one by one. Which of them would a `GradientLedger` have told you of?
# It also takes a `reference`, a function that returns the gradient which the next step should
# use, by name; and you know how to write that: one big batch.
#
# Five wrong loops and the right one, each over 6 windows.


# %%
def micro_batches_of(number, sizes):
    """One window: pairs with so many rows each."""
    pairs = zip(sizes, range(4), strict=True)
    return [
        (draw(n, 10, seed=4 * number + j), draw(n, 2, seed=900 + 4 * number + j))
        for n, j in pairs
    ]


def watched(fault, with_reference):
    """The misconceptions that a ledger finds in a loop with a fault, over 6 windows."""
    norm = nn.BatchNorm1d(16) if fault == "BatchNorm" else None
    model, here = small_model(norm), {}
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
    scheduler = torch.optim.lr_scheduler.ExponentialLR(optimizer, gamma=0.9)

    def reference():
        x, y = (torch.cat(part) for part in zip(*here["window"], strict=True))
        twin = copy.deepcopy(model)  # a forward pass moves the statistics of a BatchNorm
        names, parameters = zip(*twin.named_parameters(), strict=True)
        slopes = torch.autograd.grad(squared_error(twin(x), y), parameters)
        return dict(zip(names, slopes, strict=True))

    known = {"reference": reference} if with_reference else {}
    with warnings.catch_warnings(), GradientLedger(model, optimizer, window=4, **known) as ledger:
        warnings.simplefilter("ignore")  # the scheduler's, of section 6
        for number in range(6):
            here["window"] = micro_batches_of(
                number, (6, 5, 2, 1) if fault == "uneven" else [6] * 4
            )
            for x, y in here["window"]:
                (squared_error(model(x), y) / (1 if fault == "not divided" else 4)).backward()
                if fault == "clipped each time":
                    nn.utils.clip_grad_norm_(model.parameters(), 0.1)
                if fault == "scheduler each time":
                    scheduler.step()
            optimizer.step()
            optimizer.zero_grad()
    return [finding.misconception for finding in ledger.findings()]


# %%
predict("6.p")

# %% claims="S1-44"
faults = ("not divided", "uneven", "clipped each time", "scheduler each time", "BatchNorm")
named = {}
for with_reference in (False, True):
    print("with a reference:" if with_reference else "without:")
    for fault in ("right", *faults):
        named[fault, with_reference] = watched(fault, with_reference)
        print(f"    {fault:<20} {', '.join(named[fault, with_reference]) or 'nothing'}")
seen = sum(bool(named[fault, False]) for fault in faults)
assert not named["right", False] and not named["right", True]
assert all(named[fault, True] for fault in faults)
compare("6.p", closest(seen, none=0, three=3, five=5))

# %% [markdown]
# Three are found by what the ledger watches: a clipping between two backwards, a learning rate
# that moves inside a window, a BatchNorm that ran four times a step. What a loss was divided by
# is no event, so the other two look like the right loop. With a reference all five are named. It
# costs a second pass, and with BatchNorm that pass would leave traces; so it runs on a copy here.
# Give it for a few windows, with dropout set to 0: it is the test of section 2, in your own loop.
#
# ## True or false
#
# Five statements that you meet elsewhere. Commit to each before you measure it.


# %%
def mean_window(model, micro_batches):
    for x, y in micro_batches:
        (squared_error(model(x), y) / len(micro_batches)).backward()


some_windows = [
    [(draw(6, 10, seed=8 * w + j), draw(6, 2, seed=1000 + 8 * w + j)) for j in range(4)]
    for w in range(20)
]

# %% [markdown]
# **One: only this window.** Cleared before each window, a step with momentum depends on this
# window's micro-batches only.

# %%
predict("6.q")

# %% claims="S1-9"
moves = []
for before in (0, 3):
    model = small_model()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9)
    for window in some_windows[:before]:
        optimizer.zero_grad()
        mean_window(model, window)
        optimizer.step()
    with torch.no_grad():
        for p, q in zip(model.parameters(), small_model().parameters(), strict=True):
            p.copy_(q)  # the same weights again, for a fair comparison
    optimizer.zero_grad()
    mean_window(model, some_windows[9])
    optimizer.step()
    moves.append(weights(model) - weights(small_model()))
print(f"the move after three other windows is off by {off(moves[1], moves[0]):.2f}")
compare("6.q", true_or_false(off(moves[1], moves[0]) < 1e-9))

# %% [markdown]
# The gradient is this window's. The momentum is not: it remembers the windows before (lesson 2,
# section 6).
#
# **Two: the habit of plain loops.** In a loop with windows of 4, losses divided by 4 and plain
# SGD, `zero_grad()` stands at the top of the loop over micro-batches, as ever. That training is
# the plain one over every fourth micro-batch, with a fourth of the learning rate.

# %%
predict("6.r")

# %% claims="S1-31 S1-40 S1-41"
habit, plain, window_wise = small_model(), small_model(), small_model()
optimizers = [
    torch.optim.SGD(model.parameters(), lr=lr)
    for model, lr in ((habit, 0.05), (plain, 0.05 / 4), (window_wise, 0.05))
]
for micro_batches in some_windows:
    for x, y in micro_batches:
        habit.zero_grad()
        (squared_error(habit(x), y) / 4).backward()
    plain.zero_grad()  # here every batch is a window, and the habit is right
    squared_error(plain(x), y).backward()
    window_wise.zero_grad()
    mean_window(window_wise, micro_batches)
    for optimizer in optimizers:
        optimizer.step()
begin = weights(small_model())
ways = [weights(model) - begin for model in (habit, plain, window_wise)]
print("as every fourth micro-batch alone, up to 1e-12:", off(ways[0], ways[1]) < 1e-12)
print(f"the way is off from that of whole windows by {off(ways[0], ways[2]):.2f}")
compare("6.r", true_or_false(off(ways[0], ways[1]) < 1e-12))

# %% [markdown]
# Three of four micro-batches were computed and thrown away, and nothing was raised.
#
# **Three: not cleared.** An accumulating loop that forgets to clear after its step runs
# without an error and without a warning.

# %%
predict("6.s")

# %% claims="S1-19 S1-20 S1-24 S1-26 S1-37 S1-44"
model, held = small_model(), []
optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    for window in some_windows:
        mean_window(model, window)
        held.append(gradient(model))
        optimizer.step()
print(f"{len(held)} windows without a clearing: no error, warnings: {len(caught)}")
twin, delivered = small_model(), []
optimizer = torch.optim.SGD(twin.parameters(), lr=0.05, momentum=1.0)
for window in some_windows:
    optimizer.zero_grad()
    mean_window(twin, window)
    delivered.append(gradient(twin))
    optimizer.step()
print("as SGD with momentum 1, cleared each window:", off(weights(model), weights(twin)) < 1e-12)
print(".grad at the end is the sum of all 20:", off(held[-1], sum(delivered)) < 1e-12)
assert off(held[-1], sum(delivered)) < 1e-12
compare("6.s", true_or_false(not caught))

# %% [markdown]
# Nothing is corrupted. `.grad` holds a well-defined sum, the wrong one (lesson 5, section 9).
# Clearing rightly is not enough either, as this whole lesson shows: the sum must be weighted,
# too.
#
# **Four: a step too early.** A model is new, and AdamW has its usual weight decay. If somebody
# calls `step()` once before the first backward, the loop ends at other weights.

# %%
predict("6.t")

# %% claims="S1-2 S1-13 S1-23 S1-25 S1-28 S1-39 S1-43"
finals = {}
for early in ("no step", "a step on None", "a step on zeros"):
    model = small_model()
    optimizer = torch.optim.AdamW(model.parameters(), lr=0.01)
    if early == "a step on zeros":
        for p in model.parameters():
            p.grad = torch.zeros_like(p)
    if early != "no step":
        optimizer.step()
        optimizer.zero_grad()
    for micro_batches in some_windows:
        mean_window(model, micro_batches)
        optimizer.step()
        before = weights(model)
        optimizer.zero_grad()
        assert torch.equal(weights(model), before), "clearing gradients moves no weight"
    finals[early] = weights(model)
print("after a clearing, .grad is:", {p.grad for p in model.parameters()})
other = not torch.equal(finals["a step on None"], finals["no step"])
print("other weights after a step on None:", other)
print(
    "other weights after a step on zeros:",
    not torch.equal(finals["a step on zeros"], finals["no step"]),
)
try:
    model.zero_weights()
except AttributeError as error:
    print("AttributeError:", error)
compare("6.t", true_or_false(other))

# %% [markdown]
# A parameter without a `.grad` is skipped, its weight decay too (lesson 4). A `.grad` of zeros is
# a gradient: AdamW counts the step and decays the weights. What is cleared is `.grad`, and never
# the weights: there is no `zero_weights()`.
#
# **Five: two models.** Two models train against each other, with windows of 4 and of 2. If each
# clears its own parameters after its own step, their windows do not get in each other's way.

# %%
predict("6.u")


# %% claims="S1-21"
def foreign(only_the_maker):
    """By how much of it the maker's backward changes the judge's .grad, at most."""
    judge, maker = small_model(), nn.Linear(10, 10).double()
    with torch.no_grad():
        maker.weight.copy_(0.3 * draw(10, 10, seed=7))
        maker.bias.zero_()
    optimizers = [torch.optim.SGD(m.parameters(), lr=0.05) for m in (judge, maker)]
    inputs, most = list(maker.parameters()) if only_the_maker else None, 0.0
    for i, (x, y) in enumerate(pair for window in some_windows[:2] for pair in window):
        (squared_error(judge(maker(x).detach()), y) / 4).backward()
        before = gradient(judge)
        (-squared_error(judge(maker(x)), y) / 2).backward(inputs=inputs)  # it wants it to fail
        most = max(most, off(gradient(judge), before))
        for optimizer, window in zip(optimizers, (4, 2), strict=True):
            if (i + 1) % window == 0:
                optimizer.step()
                optimizer.zero_grad()
    return most


print(f"the maker's backward changed the judge's .grad by up to {foreign(False):.2f} of it")
print(f"with backward(inputs=the maker's parameters): {foreign(True):.2f}")
assert foreign(True) == 0
compare("6.u", true_or_false(foreign(False) < 1e-9))

# %% [markdown]
# The maker's loss goes through the judge and leaves gradients there, in the middle of the judge's
# window (lesson 4). To clear them would clear the judge's own sum as well. So keep them out:
# `backward(inputs=...)` writes into the parameters that are named and no others.
#
# ## Summary
#
# | question | answer | shown in |
# |---|---|---|
# | What does accumulation save? | Activations. Gradients, optimizer state and weights keep their size; here, from 16 pieces on, AdamW's step set the peak | 1 |
# | One backward over the sum of the losses? | Right numbers; all graphs are kept until the end | 1 |
# | Equal micro-batches, mean losses? | Divide by their number, in the loss or once in `.grad` | 2 |
# | What does a missing division do? | Plain SGD (no weight decay): a learning rate k times as large. AdamW with gradients far above `eps`, or a clipping that is always active, hides it | first section, 2 |
# | Unequal ones? | Rows over all rows; dividing by the number of pieces turns the direction | 3 |
# | Texts? | Sum over the shifted labels that count, divided by their number in the window | 4 |
# | Batches left over? | A last, shorter window, weighted by its own rows | 3, 5 |
# | A scheduler that counts updates, clipping, EMA? | Once a window. A penalty on the weights counts once in a window, too | 6 |
# | BatchNorm? | Another model for each cut. LayerNorm, GroupNorm or kept statistics are not | 7 |
# | A contrastive loss? | Pieces never meet. Two passes with cached embeddings give the large batch, if no layer mixes rows or draws | 8 |
# | When not? | When the batch fits and pieces are no faster: the same arithmetic, more operations, the same gradient | 9 |
# | The step inside backward? | Saves gradients; while a window accumulates in `.grad`, they live all the same | 10 |
# | How to test it? | One window against one big batch: compare gradients. What lies between windows: weights at the end of an epoch. A ledger takes a reference | 2, 5, 11 |
#
# ## What comes next
#
# All of this was in float64 or float32, on one device. Lesson 7 does it in 16 bits, where small
# gradients vanish and long sums stall, and on several devices, where a window has to be averaged
# over all of them once.

# %%
progress(6)
