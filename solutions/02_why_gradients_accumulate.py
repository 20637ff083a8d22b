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
# # Why gradients accumulate
#
# In lesson 1, `backward()` put a gradient into `.grad`. This lesson is about the second call, when something is there already. You will measure what happens, tensor by tensor. You will see why it is the right design, and which other things in a training loop do not behave like this at all.
#
# What you will be able to do:
#
# - say what is in `.grad` after any sequence of backward calls, without running it;
# - tell the two sums apart: uses of a weight inside one backward call, and backward calls one after the other;
# - use accumulation on purpose, for several losses and for several small batches, and measure the memory it saves;
# - get gradients that do not accumulate, one per sample if you want;
# - name what accumulates, what is averaged, what is counted, and who owns it.

# %%
import copy
import io
import math
import warnings
from collections import Counter

import matplotlib.pyplot as plt
import torch
from torch import nn
from torch.func import functional_call, grad, vmap
from torch.utils.checkpoint import checkpoint

from course_utils.widgets import gradient_buffer
from gradient_ledger.figures import COLOURS, show, style

torch.manual_seed(0)
device = "cuda" if torch.cuda.is_available() else "cpu"

# %% [markdown]
# Four small helpers for the whole lesson. Nearly everything runs in float64, so that rounding does not blur a comparison.

# %%
kind = {"dtype": torch.float64, "device": device}


def draw(*shape, seed=0):
    """Normal numbers of that shape, the same on every machine."""
    generator = torch.Generator().manual_seed(seed)
    return torch.randn(*shape, generator=generator, dtype=torch.float64).to(device)


def small_model():
    """10 inputs, 16 hidden values, 2 outputs; the same weights every time."""
    model = nn.Sequential(nn.Linear(10, 16), nn.Tanh(), nn.Linear(16, 2)).to(**kind)
    with torch.no_grad():
        for index, parameter in enumerate(model.parameters()):
            parameter.copy_(0.3 * draw(*parameter.shape, seed=index))
    return model


def flat(model):
    """All gradients of a model in one long vector, copied."""
    return torch.cat([p.grad.flatten() for p in model.parameters()]).clone()


def squared_error(prediction, target):
    return ((prediction - target) ** 2).mean()


x, y = draw(24, 10, seed=1), draw(24, 2, seed=2)

# %% [markdown]
# ## 1. A second call
#
# A *parameter* is a tensor that training changes: a weight or a bias. It is a *leaf*: nobody computed it from something else. Every parameter has an attribute `.grad`. Before the first backward call it is `None`. After it, it is a tensor with the shape of the parameter. We call that tensor the *gradient buffer*.
#
# You run the same batch through the same model three times. Each time you call `loss.backward()`. You clear nothing in between. The *norm* of a gradient is its length: the root of the sum of its squared entries.

# %%
predict("2.a")

# %%
model = small_model()
norms = []
try:
    for _ in range(3):
        squared_error(model(x), y).backward()
        norms.append(flat(model).norm().item())
    ratios = tuple(round(norm / norms[0], 6) for norm in norms)
    print("norm of the gradient after each backward:", [f"{norm:.4g}" for norm in norms])
    print("divided by the first:                    ", ratios)
    measured = {(1, 1, 1): "replace", (1, 2, 3): "add", (1, 2, 4): "double"}[ratios]
except RuntimeError as error:
    print(error)
    measured = "error"
compare("2.a", measured)

# %% [markdown]
# A *ledger* is the book in which a shop writes its entries, one below the other, with a running total. `.grad` holds the running total of such a book. Lengths alone could hide a rotation, so compare every entry.
#
# > **Fact.** `backward()` adds the new gradient to whatever `.grad` already holds. After three calls on the same batch, every entry is three times that of one call.

# %%
once = small_model()
squared_error(once(x), y).backward()
print("largest difference from three times one gradient:", (flat(model) - 3 * flat(once)).abs().max().item())
assert torch.equal(flat(model), 3 * flat(once))

# %% [markdown]
# ### The same tensor, or a new one?
#
# "Adds" can mean two things. Either a new tensor takes the place of the old one, or the numbers inside the same tensor change. The second is called *in place*. PyTorch counts in-place changes of a tensor in `tensor._version`.

# %%
predict("2.b")

# %%
w = torch.tensor([1.0, 2.0, 3.0], **kind, requires_grad=True)
addresses = []
# A tensor hook sees the arriving gradient before it reaches .grad. Only its address is kept, not the tensor.
w.register_hook(lambda arriving: addresses.append(arriving.data_ptr()))

print("before any backward:", w.grad)
(w**2).sum().backward()
first = w.grad
print("after the first:    ", first.tolist(), " _version", first._version)
assigned = first.data_ptr() == addresses[0]
print("is .grad the very memory that arrived?", assigned)
assert assigned and first._version == 0

values = first.tolist()
(w**2).sum().backward()
print("after the second:   ", w.grad.tolist(), " _version", w.grad._version)
print("is it still the same tensor?", w.grad is first)
if w.grad is not first:
    measured = "new"
else:
    measured = "in place" if w.grad.tolist() == [2 * value for value in values] else "overwritten"
compare("2.b", measured)

# %% [markdown]
# The later call added in place. But the first entry is not an addition at all. There is nothing to add to. PyTorch takes the arriving tensor and makes it `.grad`: it *steals* it, without copying a single number.
#
# Stealing is safe when nobody else holds the arriving tensor. When somebody does, PyTorch copies it. It also copies when the numbers lie in memory in another order than the parameter's.
#
# > **Fact.** The first backward takes over the arriving tensor when nobody else holds it and it has the parameter's layout in memory. Otherwise it makes a copy. This is how PyTorch works inside: do not build on it.

# %%
held = []


def taken_over(loss_fn, hold=False, shape=(3,)):
    """True when .grad is the memory that arrived, False when it is a copy."""
    w = draw(*shape).requires_grad_()
    seen = []

    def look(arriving):
        seen.append(arriving.data_ptr())
        if hold:
            held.append(arriving)

    w.register_hook(look)
    loss_fn(w).backward()
    return w.grad.data_ptr() == seen[0]


plain = taken_over(lambda w: (w**2).sum())
held_by_us = taken_over(lambda w: (w**2).sum(), hold=True)
# The gradient of w.sum() is a single 1 that pretends to have the shape of w: all entries are one place in memory.
expanded = taken_over(lambda w: w.sum())
# Here the gradient arrives with its rows and columns stored the other way round.
turned = taken_over(lambda w: (w.t().contiguous() ** 2).sum(), shape=(2, 3))
print("taken over, (w**2).sum():                          ", plain)
print("taken over, the same while a hook keeps a reference:", held_by_us)
print("taken over, w.sum(), one number seen as three:     ", expanded)
print("taken over, stored the other way round:            ", turned)
assert (plain, held_by_us, expanded, turned) == (True, False, False, False)

# %% [markdown]
# "In place" has exceptions. With `create_graph=True`, backward builds a graph of the gradient itself, for second derivatives. A tensor that is part of a graph must not be changed under it. So there the sum is a new tensor. And a *sparse* gradient, which stores only the rows that are not zero, has no room for an ordinary, dense one: when a dense gradient arrives on a sparse one, the sum is a new tensor, too.

# %%
w = torch.tensor([1.0, 2.0, 3.0], **kind, requires_grad=True)
with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # PyTorch warns that .grad and its graph now refer to each other
    (w**3).sum().backward(create_graph=True)
    first = w.grad
    (w**3).sum().backward(create_graph=True)
print("create_graph=True: same tensor?", w.grad is first, " values", w.grad.tolist())
assert w.grad is not first
w.grad = first = None  # breaks the circle, so that its memory is freed

table = nn.Embedding(4, 2, sparse=True).to(**kind)
table(torch.tensor([1], device=device)).sum().backward()
first = table.weight.grad
(table.weight**2).sum().backward()
print("dense onto sparse: same tensor?", table.weight.grad is first)
assert first.is_sparse and table.weight.grad is not first

# %% [markdown]
# ### Press the buttons
#
# The explorer holds one real parameter `w`, which starts at 5, the loss `(w - 2)**2` and an SGD optimizer with learning rate 0.1. Each button does one thing and writes one line into the ledger. Find a way to bring `.grad` back to 0 without clearing it. Twelve presses are enough.

# %%
gradient_buffer()

# %% [markdown]
# One way: `backward()` once, `step()` ten times, `backward()` once. The ten steps all use the same gradient, because `step()` reads `.grad` and does not clear it. They carry `w` past the minimum, to where the gradient has the opposite sign.

# %%
w = nn.Parameter(torch.tensor(5.0, **kind))
optimizer = torch.optim.SGD([w], lr=0.1)
((w - 2) ** 2).backward()
print("after one backward: .grad =", w.grad.item())
for _ in range(10):
    optimizer.step()
print(f"after ten steps:    w = {w.item():.4f}, .grad = {w.grad.item()}")
((w - 2) ** 2).backward()
print(f"after the second:   .grad = {abs(w.grad.item()):.4f}")
assert abs(w.grad.item()) < 1e-12

# %%
quiz("2.q1")

# %% [markdown]
# ### Picture: the running total
#
# One weight, five backward calls with five different losses, one clearing in the middle. Each bar starts where the buffer stood and ends where it stands afterwards. A downward bar is a gradient with a minus sign.

# %%
w = torch.tensor(1.0, **kind, requires_grad=True)
slopes = [2.0, 1.5, -2.5, None, 3.0, -1.0]  # None: clear the buffer
story = []
for slope in slopes:
    before = 0.0 if w.grad is None else w.grad.item()
    if slope is None:
        w.grad = None
        story.append(("clear", before, None))
    else:
        (slope * w).backward()
        story.append((f"backward\n{slope:+g}", before, w.grad.item()))
print("after each event:", [after for _, _, after in story])

with style():
    fig, ax = plt.subplots(figsize=(7.2, 3.8))
    for place, (_, before, after) in enumerate(story):
        if after is None:
            ax.axvspan(place - 0.5, place + 0.5, color="#e6e6e6", zorder=0)
            ax.text(place, 1.7, ".grad\nis None", ha="center", va="center")
            continue
        up = after >= before
        colour = COLOURS["blue"] if up else COLOURS["vermillion"]
        ax.bar(
            place, after - before, bottom=before, width=0.6, color=colour, hatch="" if up else "//", edgecolor="white"
        )
        ax.text(
            place,
            after + (0.15 if up else -0.15),
            f"{after:g}",
            ha="center",
            va="bottom" if up else "top",
            weight="bold",
        )
        if place + 1 < len(story) and story[place + 1][2] is not None:
            ax.plot([place + 0.3, place + 0.7], [after, after], color="black", linewidth=1, linestyle="-")
    ax.axhline(0, color="black", linewidth=1)
    ax.set_xticks(range(len(story)), [name for name, _, _ in story])
    ax.set_ylim(-0.6, 4.3)
    ax.set_ylabel("value in .grad")
    ax.set_title("The buffer holds the sum of all backward calls since the last clearing")
show(
    fig,
    alt="Waterfall chart of .grad of one weight over six events. Backward calls add 2, then 1.5, then minus 2.5, so the "
    "buffer reads 2, 3.5 and 1. A grey column marks a clearing, after which .grad is None. Two more calls add 3 and "
    "minus 1, so the buffer reads 3 and then 2: the sum of the calls since the clearing.",
)

# %% [markdown]
# The third bar goes down. A sum need not grow.
#
# > **Fact.** Gradients that point against each other cancel in `.grad`. Alternating the losses `w` and `-w` gives 1, 0, 1, 0.

# %%
w = torch.tensor(5.0, **kind, requires_grad=True)
readings = []
for sign in (1, -1, 1, -1):
    (sign * w).backward()
    readings.append(w.grad.item())
print(readings)
assert readings == [1, 0, 1, 0]

# %% [markdown]
# ### The same in a training loop
#
# Here is the loop that many texts print to show accumulation: a linear model with 10 inputs and 2 outputs, one sample, three steps of SGD. Without a seed it shows other numbers on every run, and you cannot check a sentence about them. With a seed it becomes a table. The column "delivered" is what backward brought in that step, seen by a hook.

# %%


def bias_gradients(clear):
    """(delivered, in .grad) for the bias, in each of three steps of the same small training loop."""
    torch.manual_seed(0)
    layer = nn.Linear(10, 2)
    sample, wanted = torch.randn(1, 10), torch.tensor([[1.0, 0.0]])
    sgd = torch.optim.SGD(layer.parameters(), lr=0.01)
    delivered, rows = [], []
    layer.bias.register_hook(lambda arriving: delivered.append(arriving.clone()))
    for _ in range(3):
        if clear:
            sgd.zero_grad()
        nn.functional.mse_loss(layer(sample), wanted).backward()
        sgd.step()
        rows.append((delivered[-1], layer.bias.grad.clone()))
    return rows


def text(vector):
    return "[" + ", ".join(f"{value:.4f}" for value in vector.tolist()) + "]"


both = {"not cleared": bias_gradients(False), "cleared": bias_gradients(True)}
print("step  loop         delivered         in .grad")
for name, rows in both.items():
    total = torch.zeros(2)
    for step, (delivered, held_now) in enumerate(rows, start=1):
        print(f"{step}     {name:<13}{text(delivered)}  {text(held_now)}")
        total = total + delivered
    expected = total if name == "not cleared" else rows[-1][0]
    assert torch.allclose(rows[-1][1], expected)
arrived = [[delivered for delivered, _ in rows] for rows in both.values()]
print("same delivery in both loops, by step:", [torch.equal(a, b) for a, b in zip(*arrived, strict=True)])
assert [torch.equal(a, b) for a, b in zip(*arrived, strict=True)] == [True, True, False]

# %% [markdown]
# In the cleared loop the last two columns agree. In the other one, `.grad` is the running total of what was delivered. The first two deliveries are the same in both loops: the first step used the same gradient. From the third on they differ, because from the second step on the weights have moved differently. Whether this makes training worse is another question, and its answer is less simple than most texts say. Lesson 5 measures it.
#
# ### Your turn
#
# First you record the ledger. A name is not a copy: if you put `param.grad` itself into a list three times, the list holds one tensor three times. You have just seen that later calls change that tensor in place.


# %% exercise="2.1"
def backward_n_times(param, loss_fn, n):
    """A list of n tensors: what .grad held after each of n backward calls of loss_fn(param), from a cleared start."""
    ### BEGIN SOLUTION
    param.grad = None
    snapshots = []
    for _ in range(n):
        loss_fn(param).backward()
        snapshots.append(param.grad.detach().clone())
    return snapshots
    ### END SOLUTION


# %% [markdown]
# Then you write the ledger's rule yourself: what backward does with an incoming gradient. You know the two cases. You also know when PyTorch steals and when it copies. In this exercise the caller still holds `incoming`.


# %% exercise="2.2"
def accumulate_grad(param, incoming):
    """Do to param.grad what backward does with the gradient `incoming`; returns None."""
    ### BEGIN SOLUTION
    if incoming.shape != param.shape:
        raise ValueError(f"a gradient of shape {tuple(incoming.shape)} for a parameter of shape {tuple(param.shape)}")
    if param.grad is None:
        param.grad = incoming.detach().clone()
    else:
        param.grad.add_(incoming.detach())
    ### END SOLUTION


# %% [markdown]
# ## 2. One weight, several uses
#
# So far one backward call brought one gradient. But a weight can be used twice in one forward pass. Each use has its own influence on the loss. Several arrows of the graph then lead to the same leaf. This is called *fan-in*.
#
# PyTorch can call a function of yours each time it has written into a `.grad`. It is called a *post-accumulate hook*. Here a weight is used twice and one `backward()` runs.

# %%
predict("2.c")

# %%
w = torch.tensor([1.0, 1.0], **kind, requires_grad=True)
calls = []
w.register_post_accumulate_grad_hook(lambda leaf: calls.append(leaf.grad.tolist()))
loss = (2 * w).sum() + (3 * w).sum()
loss.backward()
print("calls of the hook, with .grad as they found it:", calls)
compare("2.c", {(1, 5.0): "once, sum", (2, 5.0): "twice", (1, 3.0): "once, last"}[(len(calls), calls[-1][0])])

# %% [markdown]
# > **Fact.** Within one backward call, the engine adds the contributions of all uses first, and writes the sum into `.grad` once.
#
# There are two sums, then. The inner one belongs to calculus: when a quantity influences the result along several paths, the influences add. No framework could do without it. The outer one, from call to call, is a decision of PyTorch's designers. The next cell separates them: one call with two uses against two calls with one use each.

# %%
one_call, two_calls = [], []
for calls, losses in (
    (one_call, [lambda w: (2 * w).sum() + (3 * w).sum()]),
    (two_calls, [lambda w: (2 * w).sum(), lambda w: (3 * w).sum()]),
):
    w = torch.tensor([1.0, 1.0], **kind, requires_grad=True)
    w.register_post_accumulate_grad_hook(lambda leaf, calls=calls: calls.append(leaf.grad.tolist()))
    for make_loss in losses:
        make_loss(w).backward()
print("one backward, two uses:   ", one_call)
print("two backwards, a use each:", two_calls)
assert one_call == [[5.0, 5.0]] and two_calls == [[2.0, 2.0], [5.0, 5.0]]

# %% [markdown]
# ### What is the contribution of one use?
#
# Take a chain that uses the same weight at every step: `h = tanh(w * h)`, four times. Recurrent networks are built like this. *Unrolled*, the chain is four steps in a row, and `w` stands in each.
#
# Lesson 1 measured a slope by nudging a number. Do that here, but nudge `w` in **one** use and leave the other three alone. The slope you find is the contribution of that use.

# %%


def unrolled(weights, start):
    """The values h along the chain; `weights` gives each use its own weight."""
    values = [start]
    for weight in weights:
        values.append(math.tanh(weight * values[-1]))
    return values


weight, start, depth, h = 1.5, 0.3, 4, 1e-5
by_use = []
for use in range(depth):
    up = [weight + (h if i == use else 0.0) for i in range(depth)]
    down = [weight - (h if i == use else 0.0) for i in range(depth)]
    by_use.append((unrolled(up, start)[-1] - unrolled(down, start)[-1]) / (2 * h))

w = torch.tensor(weight, **kind, requires_grad=True)
state = torch.tensor(start, **kind)
for _ in range(depth):
    state = torch.tanh(w * state)
state.backward()
print("nudged in one use at a time:", [f"{value:.4f}" for value in by_use])
print(f"their sum:     {sum(by_use):.4f}")
print(f"w.grad:        {w.grad.item():.4f}")
assert abs(sum(by_use) - w.grad.item()) < 1e-8

# %% [markdown]
# ### Picture: the unrolled weight

# %%
values = unrolled([weight] * depth, start)
with style():
    fig, ax = plt.subplots(figsize=(8.4, 3.9))
    box = {"boxstyle": "round,pad=0.35", "facecolor": "white", "edgecolor": "black"}
    for place, value in enumerate(values):
        name = "x" if place == 0 else f"$h_{place}$"
        ax.text(2 * place, 2, f"{name}\n{value:.3f}", ha="center", va="center", bbox=box)
        if place:
            ax.annotate("", (2 * place - 0.5, 2), (2 * place - 1.5, 2), arrowprops={"arrowstyle": "->"})
            ax.text(2 * place - 1, 2.32, "tanh(w·h)", ha="center", va="bottom", fontsize=10)
            width = 1 + 9 * abs(by_use[place - 1]) / max(map(abs, by_use))
            ax.annotate(
                "",
                (depth, 0.35),
                (2 * place - 1, 1.85),
                arrowprops={"arrowstyle": "-", "linewidth": width, "color": COLOURS["sky blue"]},
                zorder=0,
            )
            ax.text(
                2 * place - 1 + 0.42 * (depth + 1 - 2 * place),
                1.85 - 0.42 * 1.5,
                f"{by_use[place - 1]:.3f}",
                ha="center",
                va="center",
                bbox={"facecolor": "white", "edgecolor": "none", "pad": 1},
            )
    ax.text(depth, 0.15, f"w = {weight}     w.grad = {w.grad.item():.3f}", ha="center", va="center", bbox=box)
    ax.set_xlim(-0.7, 2 * depth + 0.7)
    ax.set_ylim(-0.2, 2.8)
    ax.set_axis_off()
    ax.set_title("One weight, four uses, four contributions, one sum")
described = ", ".join(f"{value:.3f}" for value in by_use)
show(
    fig,
    alt=f"A chain x, h1, h2, h3, h4 joined by four tanh steps. From each step a line leads down to the one weight w. "
    f"The contributions written on the lines are, from the first use to the last, {described}. The box of w says "
    f"w.grad = {w.grad.item():.3f}, their sum.",
)

# %% [markdown]
# The uses do not contribute equally. Each one acts on another value of `h`, and the early ones act through all later steps.

# %%
quiz("2.q2")

# %% [markdown]
# In the exercise, `w` and `x` may be tensors, and autograd may do the work. The question is only how to keep the uses apart. Think of what the nudging did: it gave each use a weight of its own.


# %% exercise="2.3"
def shared_weight_gradient(w, x, depth):
    """(contributions, total) for h = x, depth times h = tanh(w * h), loss = h.sum(); first use first."""
    ### BEGIN SOLUTION
    uses = [w.detach().clone().requires_grad_() for _ in range(depth)]
    h = x.detach()
    for use in uses:
        h = torch.tanh(use * h)
    contributions = list(torch.autograd.grad(h.sum(), uses))
    return contributions, torch.stack(contributions).sum(dim=0)
    ### END SOLUTION


# %% [markdown]
# ## 3. Why the design is right
#
# A derivative is *linear*: the gradient of a sum is the sum of the gradients. So a buffer that adds lets several small backward calls stand for one big one. You may cut a sum of losses wherever you like.
#
# > **Fact.** One backward call on a sum of losses, and one call per loss, leave the same gradient up to rounding.

# %%


def size_loss(model):
    """A second loss: half the sum of the squared parameters."""
    return sum((p**2).sum() for p in model.parameters()) / 2


together, apart = small_model(), small_model()
(squared_error(together(x), y) + 0.1 * size_loss(together)).backward()

squared_error(apart(x), y).backward()
(0.1 * size_loss(apart)).backward()

difference = (flat(apart) - flat(together)).norm() / flat(together).norm()
print(f"two losses, relative difference below 1e-12: {difference.item() < 1e-12}")
assert difference < 1e-12

# %% [markdown]
# Suppose PyTorch cleared `.grad` for you before each backward. Then the second loss would wipe out the first. You would get a gradient, without an error. It would be the wrong one.

# %%
automatic = small_model()
for make_loss in (lambda m: squared_error(m(x), y), lambda m: 0.1 * size_loss(m)):
    automatic.zero_grad()  # what an automatic clearing would do
    make_loss(automatic).backward()

second_alone = small_model()
(0.1 * size_loss(second_alone)).backward()
cosine = torch.cosine_similarity(flat(automatic), flat(together), dim=0).item()
print("equals the gradient of the second loss alone:", torch.equal(flat(automatic), flat(second_alone)))
print(f"cosine with the wanted gradient: {cosine:.4f}")
assert torch.equal(flat(automatic), flat(second_alone)) and cosine < 0.99

# %%
quiz("2.q3")

# %% [markdown]
# ### What a graph keeps
#
# A forward pass keeps tensors for the backward pass: the values between the layers, called *activations*. Backward reads them and then lets them go. So a graph costs memory from its forward pass to its backward call.
#
# A big batch can be cut into *micro-batches*: small batches whose gradients are added up before one step. Here are two programs that give the same gradient.
#
# - **One backward at the end:** run all four forward passes, add the four losses, call `backward()` once.
# - **One backward each:** after each forward pass, call `backward()` at once.
#
# `torch.autograd.graph.saved_tensors_hooks` calls you for every tensor that a graph keeps. The counter below adds its bytes, and takes them off when the graph lets the tensor go. It counts a piece of memory once, even when two operations keep it. It leaves out the parameters, the gradients and the data, which are there either way: the memory of the whole program falls by less. The losses are sums here, so that the pieces add up without weights. Lesson 6 is about means.

# %%


class SavedBytes:
    """Counts the bytes that living graphs keep for backward: at this moment, and at most."""

    def __init__(self, *there_anyway):
        self.outside = {tensor.untyped_storage().data_ptr() for tensor in there_anyway}
        self.users = Counter()
        self.now = self.peak = 0

    def pack(self, tensor):
        return Kept(tensor, self)

    def count(self, tensor, change):
        storage = tensor.untyped_storage()
        before = self.users[storage.data_ptr()]
        self.users[storage.data_ptr()] += change
        if storage.data_ptr() not in self.outside and 0 in (before, before + change):
            self.now += change * storage.nbytes()
            self.peak = max(self.peak, self.now)


class Kept:
    """One tensor kept by a graph; Python destroys this object when the graph lets it go."""

    def __init__(self, tensor, counter):
        self.tensor, self.counter = tensor, counter
        counter.count(tensor, +1)

    def __del__(self):
        self.counter.count(self.tensor, -1)


def squared_error_sum(prediction, target):
    return ((prediction - target) ** 2).sum()


def measure(one_graph_alive):
    """(gradient, saved bytes after each event, peak) of four micro-batches of 64 rows."""
    inputs, targets = draw(256, 10, seed=3), draw(256, 2, seed=4)
    model = small_model()
    counter = SavedBytes(inputs, targets, *model.parameters())
    timeline, waiting = [], []
    with torch.autograd.graph.saved_tensors_hooks(counter.pack, lambda kept: kept.tensor):
        for rows in range(0, 256, 64):
            loss = squared_error_sum(model(inputs[rows : rows + 64]), targets[rows : rows + 64])
            timeline.append(("forward", counter.now))
            if one_graph_alive:
                loss.backward()
                timeline.append(("backward", counter.now))
            else:
                waiting.append(loss)
        if waiting:
            sum(waiting).backward()
            timeline.append(("backward", counter.now))
    return flat(model), timeline, counter.peak


# %%
predict("2.d")

# %%
all_graphs, all_timeline, all_peak = measure(one_graph_alive=False)
one_graph, one_timeline, one_peak = measure(one_graph_alive=True)
print("one backward at the end, peak of saved bytes:", all_peak)
print("one backward each, peak of saved bytes:      ", one_peak)
print(f"ratio: {one_peak / all_peak:.4g}")
print("bytes of all gradient buffers:               ", [g.numel() * g.element_size() for g in (all_graphs, one_graph)])
difference = (one_graph - all_graphs).norm() / all_graphs.norm()
print("same gradient, relative difference below 1e-12:", difference.item() < 1e-12)
assert difference < 1e-12 and all_timeline[-1][1] == one_timeline[-1][1] == 0
meaning = {"same": 1.0, "half": 0.5, "quarter": 0.25, "more": 1.5}
compare("2.d", min(meaning, key=lambda name: abs(meaning[name] - one_peak / all_peak)))

# %%
with style():
    fig, (left, right) = plt.subplots(1, 2, figsize=(8.4, 3.6), sharey=True)
    for ax, timeline, title in (
        (left, all_timeline, "One backward at the end"),
        (right, one_timeline, "One backward each"),
    ):
        for place, (event, bytes_now) in enumerate(timeline):
            forward = event == "forward"
            ax.bar(place, bytes_now / 1024, width=0.7, color=COLOURS["blue" if forward else "orange"])
            ax.text(place, bytes_now / 1024 + 1, f"{bytes_now / 1024:g}", ha="center", fontsize=10)
        ax.set_xticks(range(len(timeline)), [event[0].upper() for event, _ in timeline])
        ax.set_title(title)
        ax.set_ylim(0, 1.12 * all_peak / 1024)
        ax.set_xlabel("F: after a forward, B: after a backward")
    left.set_ylabel("bytes kept for backward (KiB)")
show(
    fig,
    alt="Two bar charts of the bytes that graphs keep. Left, four forward passes and then one backward: the bars climb "
    f"in four equal steps to {all_timeline[3][1] / 1024:g} KiB and then fall to 0. Right, a backward after each "
    f"forward: every forward bar has {one_timeline[0][1] / 1024:g} KiB and every backward bar is 0.",
)

# %% [markdown]
# In the right-hand program each graph dies in its own backward call and leaves its gradient behind in the sum. The sum is as large as the parameters, however many pieces there are. The buffer makes this program short, not possible: with `torch.autograd.grad` and a sum of your own you get the same gradient in the same memory, as the cell shows.


# %%
def own_sum():
    """(gradient, peak) of the same four micro-batches, without any .grad."""
    inputs, targets = draw(256, 10, seed=3), draw(256, 2, seed=4)
    model = small_model()
    counter = SavedBytes(inputs, targets, *model.parameters())
    total = [torch.zeros_like(p) for p in model.parameters()]
    with torch.autograd.graph.saved_tensors_hooks(counter.pack, lambda kept: kept.tensor):
        for rows in range(0, 256, 64):
            loss = squared_error_sum(model(inputs[rows : rows + 64]), targets[rows : rows + 64])
            for part, new in zip(total, torch.autograd.grad(loss, list(model.parameters())), strict=True):
                part += new
    return torch.cat([part.flatten() for part in total]), counter.peak


by_hand, own_peak = own_sum()
print("peak of saved bytes with a sum of your own:", own_peak)
print("same gradient:", torch.allclose(by_hand, one_graph, rtol=1e-12))
assert own_peak == one_peak and torch.allclose(by_hand, one_graph, rtol=1e-12)

# %% [markdown]
# You have now met three reasons for one and the same addition: several uses of a weight, several losses, several micro-batches. In the exercise there are several losses with weights, and only one graph may be alive at a time.


# %% exercise="2.4"
def multi_loss_gradients(model, losses, weights):
    """Leave the gradient of the weighted sum of losses (callables taking the model) in .grad, one graph at a time."""
    ### BEGIN SOLUTION
    model.zero_grad()
    for loss, weight in zip(losses, weights, strict=True):
        (weight * loss(model)).backward()
    ### END SOLUTION


# %% [markdown]
# ## 4. The road not taken, and what a sum hides
#
# `backward()` is not the only way to a gradient. `torch.autograd.grad(loss, tensors)` returns the gradients as its result. `torch.func.grad(f)` makes a new function: it takes what `f` takes and returns the gradient of `f` with respect to its first argument.

# %%
predict("2.e")

# %%
w = torch.tensor(1.0, **kind, requires_grad=True)
(5 * w).backward()
print("after backward:            .grad is", w.grad.item())
(fresh,) = torch.autograd.grad(3 * w, w)
print("torch.autograd.grad gives ", fresh.item(), "and .grad is", None if w.grad is None else w.grad.item())
measured = {8.0: "added", 5.0: "untouched", 3.0: "replaced", None: "cleared"}[None if w.grad is None else w.grad.item()]
pure = grad(lambda w: 3 * w)(w)  # the very w that has a .grad
print("torch.func.grad gives     ", pure.item(), "and .grad is", w.grad.item())
assert fresh.item() == pure.item() == 3 and w.grad.item() == 5
compare("2.e", measured)

# %% [markdown]
# > **Fact.** `torch.autograd.grad` and `torch.func.grad` return their gradients. They leave `.grad` alone, and they give what a cleared `backward()` gives. Two of the returned tensors can be one piece of memory, so copy a result before you change it in place.

# %%
model = small_model()
squared_error(model(x), y).backward()
reference = flat(model)

model.zero_grad()
parameters = dict(model.named_parameters())
from_autograd = torch.autograd.grad(squared_error(model(x), y), list(parameters.values()))


def loss_of(values, inputs, targets):
    """The loss as a function of the parameters: functional_call runs the model with these instead of its own."""
    return squared_error(functional_call(model, values, (inputs,)), targets)


from_func = grad(loss_of)(parameters, x, y)  # the model's own parameters, which have a .grad to fill

for name, found in (("torch.autograd.grad", from_autograd), ("torch.func.grad", from_func.values())):
    vector = torch.cat([part.detach().flatten() for part in found])
    error = ((vector - reference).norm() / reference.norm()).item()
    print(f"{name:<20} equals backward (relative difference below 1e-12): {error < 1e-12}")
    assert error < 1e-12
print("every .grad afterwards:", {p.grad for p in model.parameters()})
assert all(p.grad is None for p in model.parameters())

u, v = torch.ones(3, **kind, requires_grad=True), torch.ones(3, **kind, requires_grad=True)
of_u, of_v = torch.autograd.grad((2 * (u + v)).sum(), [u, v])
print("gradients of u and v for a loss of u + v, one memory:", of_u.data_ptr() == of_v.data_ptr())
assert of_u.data_ptr() == of_v.data_ptr()

# %% [markdown]
# These functions keep no books. The bookkeeping is yours. You hold the gradients, you add them, you drop them. Nothing is left over, and nothing adds up by itself.
#
# ### One gradient per sample
#
# A batch gradient is already a sum, over the samples. What do the samples say one by one? For plain tensors, `torch.func.vmap` answers in one line. `vmap(f, in_dims=(None, 0, 0))` runs `f` for every row of its second and third argument, and keeps the first one fixed.

# %%
predict("2.f")

# %%
truth, weights = torch.tensor([1.0, -0.5], **kind), torch.tensor([0.8, -0.2], **kind)
points = draw(8, 2, seed=231)
targets = points @ truth + draw(8, seed=232)  # a line with noise, and weights not far from it


def mean_error(weights, rows, wanted):
    return ((rows @ weights - wanted) ** 2).mean()


per_sample = vmap(grad(mean_error), in_dims=(None, 0, 0))(weights, points, targets)
in_a_loop = torch.stack([grad(mean_error)(weights, points[i : i + 1], targets[i : i + 1]) for i in range(8)])
batch = grad(mean_error)(weights, points, targets)
print("per-sample gradients have shape", tuple(per_sample.shape))
print("a loop over batches of one gives the same:", torch.allclose(per_sample, in_a_loop))
factor = (per_sample.sum(dim=0) / batch).tolist()
print("sum of the rows divided by the batch gradient, entry by entry:", [f"{value:.4g}" for value in factor])
named = {"1": 1.0, "8": 8.0, "1/8": 0.125}
hits = [name for name, value in named.items() if all(abs(entry - value) < 1e-9 for entry in factor)]
compare("2.f", hits[0] if hits else "other")

# %% [markdown]
# The rows add up to 8 times the batch gradient, because the loss is a mean. And their lengths and directions differ, as the picture shows. On the right, the same question for batches: how far does the gradient of a random batch lie from the gradient of all the data?

# %%
many_points = draw(2**16, 2, seed=7)
many_targets = many_points @ truth + draw(2**16, seed=8)
rows = vmap(grad(mean_error), in_dims=(None, 0, 0))(weights, many_points, many_targets)
everything = rows.mean(dim=0)
sizes = [1, 4, 16, 64, 256]
noise = []
for size in sizes:
    means = rows.reshape(-1, size, 2).mean(dim=1)  # the data cut into batches of that size
    noise.append(((means - everything) ** 2).sum(dim=1).mean().sqrt().item())
for size, value in zip(sizes, noise, strict=True):
    print(f"batch size {size:>3}: typical distance from the full gradient {value:.4f}")
lengths = per_sample.norm(dim=1)
print(f"the 8 rows: mean length {lengths.mean().item():.4g}, length of their mean {batch.norm().item():.4g}")

with style():
    fig, (left, right) = plt.subplots(1, 2, figsize=(8.6, 3.9))
    for row in per_sample.tolist():
        left.annotate("", row, (0, 0), arrowprops={"arrowstyle": "->", "color": COLOURS["sky blue"], "linewidth": 1.5})
    left.annotate("", batch.tolist(), (0, 0), arrowprops={"arrowstyle": "->", "color": "black", "linewidth": 3})
    left.text(*(1.7 * batch).tolist(), "mean", weight="bold", ha="center", va="center")
    reach = 1.15 * per_sample.abs().max().item()
    left.set_xlim(-reach, reach)
    left.set_ylim(-reach, reach)
    left.set_xlabel("gradient entry 1")
    left.set_ylabel("gradient entry 2")
    left.set_title("8 samples and their mean")
    right.loglog(sizes, noise, marker="o", label="measured")
    right.loglog(sizes, [noise[0] / size**0.5 for size in sizes], color=COLOURS["vermillion"], label="1 / root of size")
    right.set_xticks(sizes, [str(size) for size in sizes])
    right.set_yticks(noise, [f"{value:.2g}" for value in noise])
    right.minorticks_off()
    right.set_xlabel("batch size")
    right.set_ylabel("distance from full gradient")
    right.set_title("Noise that the mean averages out")
    right.legend()
show(
    fig,
    alt="Left: eight thin arrows from the origin, one per sample, with very different "
    "directions and lengths; a thick black arrow, their mean, is shorter than most of them. Right: distance of a batch gradient "
    f"from the full gradient against batch size on logarithmic axes, falling from {noise[0]:.3g} at size 1 to "
    f"{noise[-1]:.3g} at size 256, close to the line of one over the root of the size.",
)

# %% [markdown]
# The sum hides this spread. You need the rows to clip each sample's gradient, as private training does, or to find the samples that pull hardest.
#
# In the exercise the function is a model, so the answer has one entry per parameter name. A loop and `vmap` are both welcome. If you loop, remember what a batch of one looks like.


# %% exercise="2.5"
def per_sample_gradients(model, loss_fn, x, y):
    """{name: tensor of shape (n, *shape)}, row i the gradient of sample i alone; .grad stays as it was."""
    ### BEGIN SOLUTION
    named = {name: p for name, p in model.named_parameters() if p.requires_grad}
    rows = {name: [] for name in named}
    for i in range(len(x)):
        loss = loss_fn(model(x[i : i + 1]), y[i : i + 1])
        gradients = torch.autograd.grad(loss, list(named.values()), allow_unused=True, materialize_grads=True)
        for name, gradient in zip(named, gradients, strict=True):
            rows[name].append(gradient)
    return {name: torch.stack(gradients) for name, gradients in rows.items()}
    ### END SOLUTION


# %% [markdown]
# ## 5. What accumulates, and what does not
#
# `.grad` is not the only thing in a training loop with a memory. Three others are easily mixed up with it.
#
# - **Optimizer state.** SGD with momentum keeps a *momentum buffer*: a fading sum of past gradients. Adam keeps two fading averages, its *moments*: one of the gradients, one of their squares. They belong to the optimizer.
# - **BatchNorm statistics.** A BatchNorm layer keeps a running mean and variance of what passes through it, and counts the batches in `num_batches_tracked`. They are *module buffers*: tensors that belong to the model but are not trained. (The word "buffer" has two meanings here. `.grad` is not a module buffer.)
# - **Weights.** They change in `step()` and nowhere else in the loop.

# %%
predict("2.g")

# %%
w = nn.Parameter(torch.tensor([1.0, 2.0], **kind))
optimizer = torch.optim.SGD([w], lr=0.1, momentum=0.9)
for _ in range(3):
    optimizer.zero_grad()
    (w**2).sum().backward()
    optimizer.step()


def moved_by_a_step(set_to_none):
    """How far one more step moves a copy of w, after a clearing and without any new backward."""
    twin = nn.Parameter(w.detach().clone())
    copy_of_optimizer = torch.optim.SGD([twin], lr=0.1, momentum=0.9)
    copy_of_optimizer.load_state_dict(copy.deepcopy(optimizer.state_dict()))
    twin.grad = w.grad.clone()
    copy_of_optimizer.zero_grad(set_to_none=set_to_none)
    copy_of_optimizer.step()
    return (twin - w).abs().max().item()


with_zeros, with_none = moved_by_a_step(False), moved_by_a_step(True)
print(f"gradients filled with zeros: moved by {with_zeros:.4f}")
print(f"gradients set to None:       moved by {with_none:.4f}")
compare("2.g", "move" if with_zeros > 0 else "still")

# %% [markdown]
# With zeros, the old direction carries on: the momentum buffer is still full. With `None`, the optimizer skips the parameter. Lesson 3 treats this difference in full. After `zero_grad()` as it is called today, `.grad` is `None`.
#
# In an ordinary loop a new backward follows, and the old gradients act all the same.
#
# > **Fact.** `zero_grad()` does not clear optimizer state. With momentum 0.9, the update after a clearing is the learning rate times (new gradient + 0.9 times the momentum buffer).

# %%
memory = optimizer.state[w]["momentum_buffer"].clone()
before = w.detach().clone()
optimizer.zero_grad()
print(".grad after zero_grad():", w.grad)
print("momentum buffer unchanged:", torch.equal(optimizer.state[w]["momentum_buffer"], memory))
print("weights unchanged:        ", torch.equal(w.detach(), before))
assert w.grad is None and torch.equal(optimizer.state[w]["momentum_buffer"], memory)
assert torch.equal(w.detach(), before)

(w**2).sum().backward()
new = w.grad.clone()
optimizer.step()
update = before - w.detach()
print("update:               ", [f"{value:.4f}" for value in update.tolist()])
print("new gradient alone:   ", [f"{value:.4f}" for value in (0.1 * new).tolist()])
print("with the old momentum:", [f"{value:.4f}" for value in (0.1 * (new + 0.9 * memory)).tolist()])
assert torch.allclose(update, 0.1 * (new + 0.9 * memory))

# %% [markdown]
# So clearing `.grad` removes old gradients from the ledger. It does not remove them from the update.
#
# Now BatchNorm. It changes in the *forward* pass, in training mode, whether or not a backward follows. And its running mean is not a sum. It is an average that fades: by default, 0.9 times the old value plus 0.1 times the new one. The 0.1 is called `momentum` there, which is not the momentum of an optimizer.
#
# > **Fact.** BatchNorm's statistics are updated once per forward pass in training mode. LayerNorm has no such statistics.

# %%
norm = nn.BatchNorm1d(1).to(**kind)
print("module buffers of BatchNorm:", [name for name, _ in norm.named_buffers()])
print("module buffers of LayerNorm:", [name for name, _ in nn.LayerNorm(1).named_buffers()])
assert not list(nn.LayerNorm(1).named_buffers())

batch = torch.tensor([[9.0], [11.0]], **kind)  # its mean is 10
readings = []
for _ in range(3):
    norm(batch)  # no backward at all
    readings.append(round(norm.running_mean.item(), 4))
print("running mean after 1, 2, 3 forward passes:", readings)
print("num_batches_tracked:", norm.num_batches_tracked.item())
assert readings == [1.0, 1.9, 2.71] and norm.num_batches_tracked.item() == 3
norm.zero_grad()
assert norm.num_batches_tracked.item() == 3
norm.eval()
norm(batch)
print("after one more forward in eval mode:", norm.num_batches_tracked.item())
assert norm.num_batches_tracked.item() == 3

# %% [markdown]
# ### Picture: four memories, four calls
#
# Three rounds of forward, backward, step and clear. Each row of the picture is one memory. Look at which of the four calls moves it.

# %%
net = nn.Sequential(nn.Linear(2, 3), nn.BatchNorm1d(3), nn.Linear(3, 1)).to(**kind)
with torch.no_grad():
    for index, parameter in enumerate(net.parameters()):
        parameter.copy_(draw(*parameter.shape, seed=20 + index))
sgd = torch.optim.SGD(net.parameters(), lr=0.05, momentum=0.9)
events, track = [], {".grad (norm)": [], "momentum buffer (norm)": [], "BatchNorm count": [], "first weight": []}
first_weight = net[0].weight


def read(event):
    state = sgd.state[first_weight].get("momentum_buffer")
    events.append(event)
    track[".grad (norm)"].append(None if first_weight.grad is None else first_weight.grad.norm().item())
    track["momentum buffer (norm)"].append(None if state is None else state.norm().item())
    track["BatchNorm count"].append(net[1].num_batches_tracked.item())
    track["first weight"].append(first_weight[0, 0].item())


read("start")
for round_number in range(3):
    loss = squared_error(net(draw(8, 2, seed=30 + round_number)), draw(8, 1, seed=40 + round_number))
    read("forward")
    loss.backward()
    read("backward")
    sgd.step()
    read("step")
    sgd.zero_grad()
    read("clear")

moved_by = {}
for name, readings in track.items():
    moved_by[name] = sorted({events[i] for i in range(1, len(events)) if readings[i] != readings[i - 1]})
    print(f"{name:<24}is changed by: {', '.join(moved_by[name])}")
assert moved_by == {
    ".grad (norm)": ["backward", "clear"],
    "momentum buffer (norm)": ["step"],
    "BatchNorm count": ["forward"],
    "first weight": ["step"],
}

with style():
    fig, axes = plt.subplots(4, 1, figsize=(8.0, 6.0), sharex=True)
    shades = {"forward": "sky blue", "backward": "blue", "step": "vermillion"}
    for ax, (name, readings) in zip(axes, track.items(), strict=True):
        numbers = [math.nan if value is None else value for value in readings]
        ax.step(range(len(events)), numbers, where="mid", color="black", linewidth=1.5)
        known = [value for value in readings if value is not None]
        lowest = 0.0 if None in readings else min(known)
        spread = max(known) - lowest
        for place, (event, value) in enumerate(zip(events, readings, strict=True)):
            if value is None:
                ax.text(place, lowest, "None", ha="center", va="center", fontsize=10)
            elif place and value != readings[place - 1]:
                ax.plot(place, value, "o", color=COLOURS[shades[event]], markersize=9, markeredgecolor="black")
        ax.set_title(f"{name}: changed by {' and '.join(moved_by[name])}", fontsize=11)
        ax.set_ylim(lowest - 0.3 * spread, lowest + 1.4 * spread)
    axes[-1].set_xticks(range(len(events)), events, rotation=60, ha="right")
show(
    fig,
    alt="Four step charts over three rounds of forward, backward, step and clear. The norm of .grad appears at each "
    "backward and is None again from each clear on. The norm of the momentum buffer is None until the first step, then "
    "changes at each step only and is never lost. The BatchNorm count rises by one at each forward. The first weight moves at each step only.",
)

# %%
quiz("2.q4")

# %% [markdown]
# ## 6. Where gradients live
#
# It is easy to think of the gradient as something the optimizer has. After all, `optimizer.zero_grad()` clears it and `optimizer.step()` uses it.
#
# Give one parameter to two optimizers, A and B. Two losses send gradients 1 and 3.

# %%
predict("2.h")

# %%
p = nn.Parameter(torch.tensor(10.0, **kind))
A, B = torch.optim.SGD([p], lr=0.5), torch.optim.SGD([p], lr=0.5)
(1 * p).backward()  # meant for A
(3 * p).backward()  # meant for B
held_by_both = p.grad.item()
print("p.grad:", held_by_both)
same_parameter = A.param_groups[0]["params"][0] is B.param_groups[0]["params"][0] is p
print("A and B hold the same object:", same_parameter)
A.zero_grad()
print("after A.zero_grad():", p.grad)
before = p.item()
try:
    B.step()
    moved = before - p.item()
    print("B.step() moves p by", moved)
    measured = "nothing" if moved == 0 else "full"
except (RuntimeError, AttributeError) as error:
    print(error)
    measured = "error"
assert held_by_both == 4.0 and same_parameter
compare("2.h", measured)

# %% [markdown]
# `backward()` knows no optimizer. It writes to the parameter.
#
# > **Fact.** `.grad` is an attribute of the parameter. An optimizer holds a list of references to parameters, and no gradients of its own. Deleting the optimizer changes no gradient.

# %%
p.grad = torch.tensor(7.0, **kind)
saved = A.state_dict()
print("what SGD would save:", sorted(saved), "- and its state:", saved["state"])
del A
print("after deleting A:", p.grad.item())
newcomer = torch.optim.SGD([p], lr=0.5)
before = p.item()
newcomer.step()
print("a new optimizer steps with the old gradient: moved by", before - p.item())
assert p.grad.item() == 7.0 and before - p.item() == 3.5

# %% [markdown]
# ### Picture: one slot, many references

# %%
with style():
    fig, ax = plt.subplots(figsize=(8.0, 3.4))
    holders = ["model", "optimizer B", "new optimizer"]
    model = nn.ParameterList([p])
    held_objects = [model[0], B.param_groups[0]["params"][0], newcomer.param_groups[0]["params"][0]]
    for place, (name, held_object) in enumerate(zip(holders, held_objects, strict=True)):
        height = 2 - place
        ax.text(0, height, name, ha="center", va="center", bbox=box)
        if held_object is p:
            ax.annotate("", (2.75, 1 + 0.15 * (1 - place)), (0.75, height), arrowprops={"arrowstyle": "->"})
    ax.text(3.6, 1, f"parameter p\n{p.item():g}", ha="center", va="center", bbox=box)
    ax.annotate("", (5.6, 1), (4.3, 1), arrowprops={"arrowstyle": "->"})
    ax.text(4.95, 1.12, ".grad", ha="center", va="bottom")
    ax.text(6.3, 1, f"gradient\n{p.grad.item():g}", ha="center", va="center", bbox={**box, "facecolor": "#fff7cc"})
    ax.text(
        6.3, 0.1, "one slot: whoever holds p\nmay read it, fill it, clear it", ha="center", va="center", fontsize=10
    )
    ax.set_xlim(-1.1, 7.7)
    ax.set_ylim(-0.5, 2.5)
    ax.set_axis_off()
show(
    fig,
    alt="Three boxes on the left, model, optimizer B and new optimizer, each with an arrow to the one box of parameter "
    f"p, value {p.item():g}. From p one arrow labelled .grad leads to the one box of the gradient, value "
    f"{p.grad.item():g}.",
)

# %% [markdown]
# The gradient is not inside the parameter's memory either. It is a second tensor, in its own memory. Does it travel with the model? That depends on how: moved with `.double()` or `.to(...)`, the model brings it along; saved or copied, it does not.
#
# > **Fact.** A gradient is a separate tensor. It is not in `state_dict()`, and `copy.deepcopy` of a module with ordinary parameters leaves it behind. `model.double()` and `model.to(dtype)` convert it with the weights.

# %%
layer = nn.Linear(3, 1).to(**kind)
layer(draw(4, 3)).sum().backward()
weight = layer.weight
print("weight and gradient share memory:", weight.data_ptr() == weight.grad.data_ptr())
print("state_dict holds:", list(layer.state_dict()))
print("gradient in a deepcopy of the module:", copy.deepcopy(layer).weight.grad)
file = io.BytesIO()
torch.save(layer.state_dict(), file)
file.seek(0)
restored = nn.Linear(3, 1).to(**kind)
restored.load_state_dict(torch.load(file))
print("gradient after saving and loading:   ", restored.weight.grad)
converted = copy.deepcopy(layer)
converted(draw(4, 3)).sum().backward()
converted.float()
print("gradient after .float():             ", converted.weight.grad.dtype)
assert converted.weight.grad.dtype == converted.weight.dtype == torch.float32
converted.to(torch.float64)
assert converted.weight.grad.dtype == torch.float64
assert weight.data_ptr() != weight.grad.data_ptr() and list(layer.state_dict()) == ["weight", "bias"]
assert copy.deepcopy(layer).weight.grad is None and restored.weight.grad is None

# %% [markdown]
# A plain leaf tensor that is no `nn.Parameter` behaves differently: its copy does bring the gradient along. If you copy such tensors, look at `.grad`.

# %%
tensor = torch.ones(2, **kind, requires_grad=True)
parameter = nn.Parameter(torch.ones(2, **kind))
for leaf in (tensor, parameter):
    (3 * leaf).sum().backward()
copied_tensor, copied_parameter = copy.deepcopy(tensor), copy.deepcopy(parameter)
print("gradient in a deepcopy of a plain leaf tensor:", copied_tensor.grad.tolist())
print("gradient in a deepcopy of a Parameter:        ", copied_parameter.grad)

# %%
quiz("2.q5")

# %% [markdown]
# ## Myths
#
# Claims you will meet elsewhere, each with a measurement.
#
# ### Claim: "You have to clear by yourself, with every optimizer, and PyTorch raises no error when you forget"
#
# The second half stood in section 1: three backward calls on a full buffer went through. For the first half, the cell runs a step of every optimizer in the installed `torch.optim`. LBFGS wants a *closure*, a function that computes the loss. SparseAdam wants a sparse gradient. Both get what they want.

# %%
intact, skipped = [], []
for name in sorted(dir(torch.optim)):
    family = getattr(torch.optim, name)
    if not isinstance(family, type) or not issubclass(family, torch.optim.Optimizer) or family is torch.optim.Optimizer:
        continue
    parameter = nn.Parameter(torch.ones(3, 2, device=device))
    filled = torch.full((3, 2), 0.5, device=device)
    try:
        optimizer = family([parameter], lr=0.1)
        parameter.grad = filled.to_sparse() if name == "SparseAdam" else filled.clone()
        optimizer.step(*([lambda: torch.tensor(1.0)] if name == "LBFGS" else []))
    except (RuntimeError, TypeError, ValueError) as error:
        skipped.append(f"{name}: {error}")
        continue
    moved = not torch.equal(parameter.detach(), torch.ones_like(parameter))
    if moved and parameter.grad is not None and torch.equal(parameter.grad.to_dense(), filled):
        intact.append(name)
    else:
        skipped.append(f"{name}: moved {moved}, gradient changed")
print(f"{len(intact)} optimizers moved the parameter and left the gradient as it was:")
print(", ".join(intact))
print("skipped or different:", skipped or "none")
assert len(intact) >= 13 and not skipped

# %% [markdown]
# **True.** Clearing is a call that your loop makes. `step()` never makes it for you.
#
# ### Claim: "If you do not clear, the gradients keep growing"
#
# They are a sum, and the terms of a sum can cancel. Put a linear model at the best weights it can have. Then the gradients of the batches are not zero, but together they cancel.

# %%
rows, wanted = draw(32, 3, seed=50), draw(32, 1, seed=51)
best = torch.linalg.lstsq(rows, wanted).solution
fitted = nn.Linear(3, 1, bias=False).to(**kind)
with torch.no_grad():
    fitted.weight.copy_(best.T)
sums, singles = [], []
for i in range(0, 32, 8):
    before = torch.zeros_like(fitted.weight) if fitted.weight.grad is None else fitted.weight.grad.clone()
    squared_error(fitted(rows[i : i + 8]), wanted[i : i + 8]).backward()
    singles.append((fitted.weight.grad - before).norm().item())
    sums.append(fitted.weight.grad.norm().item())
print("norm of each batch's own gradient:", [f"{value:.4f}" for value in singles])
print("norm of .grad, never cleared:     ", [f"{value:.4f}" for value in sums])
assert sums[-1] < 1e-12 < min(singles)

# %% [markdown]
# **Misleading.** Here it comes back to 0. The norm of `.grad` can grow, shrink or swing.
#
# ### Claim: "Without clearing, errors accumulate", or "the memory is corrupted"
#
# What is in the buffer is the sum of what was delivered, entry by entry, rounded to the dtype of the buffer at each addition. In float64 you hardly see the rounding. In bfloat16, which has 8 bits for the digits, a thousand ones stop at 256: 257 is no bfloat16 number, and 256 + 1 is rounded back to 256.

# %%
pieces = []
running = small_model()
for i in range(0, 24, 8):
    squared_error(running(x[i : i + 8]), y[i : i + 8]).backward()
    alone = small_model()
    squared_error(alone(x[i : i + 8]), y[i : i + 8]).backward()
    pieces.append(flat(alone))
exact = pieces[0] + pieces[1] + pieces[2]
print("largest difference from the sum of three separate gradients:", (flat(running) - exact).abs().max().item())
w = torch.ones((), dtype=torch.bfloat16, device=device, requires_grad=True)
for _ in range(1000):
    w.sum().backward()  # delivers a 1
print("a thousand ones in bfloat16:", w.grad.item())
assert torch.equal(flat(running), exact) and w.grad.item() == 256

# %% [markdown]
# **Misleading.** No memory is damaged: the picture of a ledger fits, the picture of dirty memory does not. What is mostly wrong is the use, an update from a sum you did not want. Rounding errors do pile up, and in a short dtype they matter: lesson 7.
#
# ### Claim: "Accumulation is needed for gradient clipping and for custom backward functions"
#
# *Clipping* shortens a gradient that is too long. A *custom backward function* is a derivative you write yourself. Run both without a single addition into `.grad`.

# %%


class Cube(torch.autograd.Function):
    """x**3 with a hand-written derivative."""

    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x**3

    @staticmethod
    def backward(ctx, arriving):
        (x,) = ctx.saved_tensors
        return 3 * x**2 * arriving


w = nn.Parameter(torch.tensor([1.0, 2.0], **kind))
additions = []
w.register_post_accumulate_grad_hook(lambda leaf: additions.append(1))
(gradient,) = torch.autograd.grad(Cube.apply(w).sum(), w)
print("custom backward:", gradient.tolist(), "expected", (3 * w.detach() ** 2).tolist())
w.grad = gradient.clone()
nn.utils.clip_grad_norm_([w], max_norm=1.0)
print(f"clipped to length {w.grad.norm().item():.4f}; additions into .grad: {len(additions)}")
assert torch.equal(gradient, 3 * w.detach() ** 2) and abs(w.grad.norm().item() - 1) < 1e-5 and not additions

# %% [markdown]
# **False.** Both work on any gradient. Accumulation is there for several backward calls before one step: several losses, several micro-batches. Uses of a shared weight are added inside one call, as section 2 showed.
#
# ### Claim: "After zero_grad, each step uses only fresh information"
#
# Section 5 showed momentum. Adam is next. Two Adam optimizers step with the same fresh gradient. One of them has a past.

# %%
fresh_gradient = torch.tensor([1.0, 1.0], **kind)
steps = {}
for name, past in (("no past", []), ("three steps the other way", [-fresh_gradient] * 3)):
    w = nn.Parameter(torch.zeros(2, **kind))
    adam = torch.optim.Adam([w], lr=0.1)
    for old in past:
        w.grad = old.clone()
        adam.step()
        adam.zero_grad()
    before = w.detach().clone()
    w.grad = fresh_gradient.clone()
    adam.step()
    steps[name] = (w.detach() - before)[0].item()
    print(f"{name:<26} the step for gradient +1: {steps[name]:+.4f}")
assert steps["no past"] < 0 < steps["three steps the other way"]

# %% [markdown]
# **Misleading.** The optimizer with a past even goes the other way. `.grad` is fresh. The optimizer's own memory is not, and is not meant to be.
#
# ### Claim: "BatchNorm builds on accumulated gradients"
#
# Its statistics come from forward passes. With micro-batches it sees small batches instead of one big one, so even the accumulated gradient is another gradient. The cell cuts 64 rows into k equal pieces, weights each loss with 1/k, and compares with the whole batch.

# %%


def normalised_model(layer):
    torch.manual_seed(1)
    return nn.Sequential(nn.Linear(10, 16), layer, nn.Tanh(), nn.Linear(16, 2)).to(**kind)


inputs, targets = draw(64, 10, seed=60), draw(64, 2, seed=61)
print("layer        k  difference  updates of the statistics")
errors = {}
for make in (nn.BatchNorm1d, nn.LayerNorm):
    whole = normalised_model(make(16))
    squared_error(whole(inputs), targets).backward()
    for k in (1, 2, 4, 8):
        cut = normalised_model(make(16))
        for a, b in zip(inputs.chunk(k), targets.chunk(k), strict=True):
            (squared_error(cut(a), b) / k).backward()
        error = ((flat(cut) - flat(whole)).norm() / flat(whole).norm()).item()
        errors[make.__name__, k] = error
        count = cut[1].num_batches_tracked.item() if make is nn.BatchNorm1d else "has none"
        shown = f"{error:.4f}" if error > 1e-12 else "0"
        print(f"{make.__name__:<13}{k}  {shown:<10}  {count}")
assert errors["BatchNorm1d", 2] > 0.01 and all(errors["LayerNorm", k] < 1e-12 for k in (1, 2, 4, 8))

# %% [markdown]
# **False.** The gradients play no part in its statistics, and the statistics play one in the gradient: each piece is normalised by its own mean and variance. What BatchNorm does carry from piece to piece is its running statistics, once per forward pass. LayerNorm looks at one row at a time, and the cut changes nothing. Lesson 6 returns to this; the question is old (pytorch/pytorch#46516).
#
# ### Claim: "Each optimizer manages its own gradients"
#
# Section 6 has the measurement. One number more: two optimizers over the same parameter make two steps out of one gradient.

# %%
p = nn.Parameter(torch.tensor(10.0, **kind))
pair = [torch.optim.SGD([p], lr=0.5), torch.optim.SGD([p], lr=0.5)]
(4 * p).backward()
for optimizer in pair:
    optimizer.step()
print("wanted one step of 0.5 * 4: 8.0; both stepped:", p.item())
assert p.item() == 6.0

# %% [markdown]
# **False.** There is one gradient per parameter, however many optimizers hold the parameter. How many of them *step* matters a great deal: each step uses that one gradient again.
#
# ### Claim: "Gradients accumulate within the parameter tensors", so "clearing resets what was learned"
#
# The first half would make the second half plausible. Section 6 showed that the memory is separate. The weights say the same.

# %%
model = small_model()
squared_error(model(x), y).backward()
before = [p.detach().clone() for p in model.parameters()]
model.zero_grad()
unchanged = all(torch.equal(a, b) for a, b in zip(before, model.parameters(), strict=True))
print("weights after clearing are bit-identical:", unchanged)
print(".grad after clearing:", {p.grad for p in model.parameters()})
assert unchanged

# %% [markdown]
# **False.** Clearing touches `.grad` and nothing else. By default it leaves `None`, not zeros. Lesson 3 is about that.
#
# ### Claim: "zero_grad must be called before every batch", and "without set_to_none the gradients accumulate incorrectly"
#
# A *window* is the stretch of batches whose gradients make one step. It may be one batch or many. Clear four times in a window of four, or once, and compare. Then compare the two ways of clearing.

# %%


def window_gradient(clear_before_each, set_to_none):
    model = small_model()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    squared_error(model(-x), y).backward()  # left over from before the window
    optimizer.zero_grad(set_to_none=set_to_none)
    for i in range(0, 24, 6):
        if clear_before_each:
            optimizer.zero_grad(set_to_none=set_to_none)
        (squared_error(model(x[i : i + 6]), y[i : i + 6]) / 4).backward()
    return flat(model)


whole = small_model()
squared_error(whole(x), y).backward()
last = small_model()
(squared_error(last(x[18:]), y[18:]) / 4).backward()
once_none, once_zeros = window_gradient(False, True), window_gradient(False, False)
each = window_gradient(True, True)
print("cleared once per window = whole batch:     ", torch.allclose(once_none, flat(whole)))
print("cleared before each batch = whole batch:   ", torch.allclose(each, flat(whole)))
print("cleared before each batch = last one alone:", torch.equal(each, flat(last)))
print("None and zeros give the same sum:          ", torch.allclose(once_none, once_zeros, rtol=0, atol=1e-15))
assert torch.allclose(once_none, flat(whole)) and torch.equal(each, flat(last))
assert torch.allclose(once_none, once_zeros, rtol=0, atol=1e-15)

# %% [markdown]
# **Misleading.** Clear once per window, and only if the window is one batch is that "before every batch". The flag decides between `None` and zeros, not between right and wrong sums.
#
# ### Claim: "Clearing at the wrong moment makes gradients accumulate"

# %%
model = small_model()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
before = [p.detach().clone() for p in model.parameters()]
squared_error(model(x), y).backward()
optimizer.zero_grad()  # between backward and step
optimizer.step()
moved = max((p.detach() - b).abs().max().item() for p, b in zip(model.parameters(), before, strict=True))
print("cleared between backward and step, largest movement of any weight:", moved)

rare = small_model()
optimizer = torch.optim.SGD(rare.parameters(), lr=0.0)  # the weights stand still: only clearing differs
for i in range(4):
    if i == 2:
        optimizer.zero_grad()  # every second round, though every round steps
    squared_error(rare(x), y).backward()
    optimizer.step()
once = small_model()
squared_error(once(x), y).backward()
times = (flat(rare) / flat(once)).mean().item()
print("cleared every second round, the fourth step uses the gradient", f"{times:g}", "times")
assert moved == 0.0 and abs(times - 2) < 1e-12

# %% [markdown]
# **Half true.** Between backward and step, clearing *loses* the gradient. Too rarely, gradients accumulate over steps. Lesson 4 is about the legal moments.
#
# ### Claim: "Clearing gradients is part of gradient descent, and there is hardly another way in PyTorch"
#
# Clearing is a consequence of the buffer. Descend once with `torch.func.grad`, which has no buffer, and once with SGD, which has.

# %%
model = small_model()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for _ in range(20):
    optimizer.zero_grad()
    squared_error(model(x), y).backward()
    optimizer.step()

values = {name: p.detach().clone() for name, p in small_model().named_parameters()}
gradient_of_loss = grad(loss_of)
for _ in range(20):
    fresh = gradient_of_loss(values, x, y)
    values = {name: value - 0.1 * fresh[name] for name, value in values.items()}

gap = max((values[name] - p.detach()).abs().max().item() for name, p in model.named_parameters())
print("20 steps, largest difference in any weight below 1e-12:", gap < 1e-12)
assert gap < 1e-12

# %% [markdown]
# **Misleading.** Same weights, nothing cleared. `torch.autograd.grad` and `torch.func` are core parts of PyTorch. That automatic clearing would cost you flexibility is true, though: section 3 showed which programs it would break.
#
# ## In the wild
#
# Trouble from real projects, each reduced to a few lines.
#
# **A training loop that never cleared.** In wenet-e2e/wekws#72 a reader asked whether the missing `zero_grad()` was a trick. The maintainer answered that it was a bug. In LoreGoetschalckx/GANalyze#7 a reader asks the same about another project. Neither thread reports an error message. Look at what each step really uses:

# %%


def gradient_norms(clear):
    model = small_model()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
    norms = []
    for i in range(0, 24, 4):
        if clear:
            optimizer.zero_grad()
        squared_error(model(x[i : i + 4]), y[i : i + 4]).backward()
        norms.append(flat(model).norm().item())
        optimizer.step()
    return norms


kept, cleared = gradient_norms(clear=False), gradient_norms(clear=True)
print("norm of the gradient each step used")
print("never cleared:", [f"{value:.3f}" for value in kept])
print("cleared:      ", [f"{value:.3f}" for value in cleared])
assert kept[0] == cleared[0] and kept[-1] > 2 * cleared[-1]

# %% [markdown]
# **"backward(retain_graph=True) gives different values each time."** That is the title of a thread of 17 September 2020 in the PyTorch forum. Its author filled a *Jacobian*, the table of all derivatives of several outputs, row by row from `x.grad`. Every row contained the rows above it. The flag is innocent: it only keeps the graph for another call.

# %%


def outputs(x):
    return torch.stack([x[0] ** 2, x[0] * x[1], 5 * x[1]])


point = torch.tensor([2.0, 3.0], **kind, requires_grad=True)
result = outputs(point)
from_buffer, fresh_rows = [], []
for i in range(3):
    result[i].backward(retain_graph=True)
    from_buffer.append(point.grad.tolist())
    (row,) = torch.autograd.grad(result[i], point, retain_graph=True)
    fresh_rows.append(row.tolist())
print("rows read from x.grad:       ", from_buffer)
print("rows from torch.autograd.grad:", fresh_rows)
jacobian = torch.func.jacrev(outputs)(point.detach()).tolist()
print("torch.func.jacrev:           ", jacobian)
assert fresh_rows == jacobian != from_buffer

# %% [markdown]
# The same cause hides in a common mistake: call backward on a loss, keep the graph, then call it on `loss + extra`. The first loss is counted twice.

# %%
w = torch.tensor(1.0, **kind, requires_grad=True)
loss = 2 * w
loss.backward(retain_graph=True)
(loss + 10 * w).backward()
print("gradient of loss + extra is 12; .grad holds", w.grad.item())
assert w.grad.item() == 14.0

# %% [markdown]
# **An attack that fills the model's gradients.** An *adversarial attack* changes the input so that the loss grows. It needs the gradient of the input. `loss.backward()` also delivers one to every parameter. Users noticed and asked in BorealisAI/advertorch#113 and P2333/Bag-of-Tricks-for-AT#8. The first library has a switch that turns parameter gradients off during the attack. The second clears after it. Without either, the attack's gradient ends up in the update. Asking for the input's gradient alone avoids the question.

# %%


def training_gradient(attack_by_backward):
    """The gradient a training step would use, when the attack runs between clearing and backward."""
    model = small_model()
    model.zero_grad()
    changed = x.clone().requires_grad_()
    loss = squared_error(model(changed), y)
    if attack_by_backward:
        loss.backward()
        direction = changed.grad
    else:
        (direction,) = torch.autograd.grad(loss, changed)
    attacked = (changed + 0.1 * direction.sign()).detach()
    squared_error(model(attacked), y).backward()
    return flat(model)


polluted, clean = training_gradient(True), training_gradient(False)
cosine = torch.cosine_similarity(polluted, clean, dim=0).item()
print(f"norm with the attack's gradient in it: {polluted.norm().item():.4f}")
print(f"norm without:                          {clean.norm().item():.4f}")
print(f"cosine: {cosine:.4f}")
assert polluted.norm() > 1.5 * clean.norm()

# %% [markdown]
# Here the direction hardly changes. The step grows instead, as with a larger learning rate: a mistake that is easy to overlook.
#
# The input's own gradient accumulates as well. A change that is improved over several rounds is a leaf with a `.grad`, and it is in no optimizer. In locuslab/fast_adversarial#26 a reader saw that `opt.zero_grad()` in such a loop clears the model and leaves `delta.grad` to pile up.

# %%
model = small_model()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
delta = torch.zeros_like(x, requires_grad=True)
of_model, of_delta = [], []
for _ in range(3):
    optimizer.zero_grad()
    squared_error(model(x + delta), y).backward()
    of_model.append(flat(model).norm().item())
    of_delta.append(delta.grad.norm().item())
print("norm of the model's gradient:", [f"{value:.4f}" for value in of_model])
print("norm of delta.grad:          ", [f"{value:.4f}" for value in of_delta])
assert of_model[2] == of_model[0] and abs(of_delta[2] - 3 * of_delta[0]) < 1e-12

# %% [markdown]
# **Two optimizers, one of them cleared.** Training of a *GAN* alternates between a generator and a discriminator, each with an optimizer. In Hsintien-Ng/idinvert_pytorch-reproduced#1 the discriminator's `zero_grad()` was missing. In FoundationVision/OmniTokenizer#15 a reader saw that the generator's loss also fills the discriminator's gradients, and asked what becomes of them. Clearing the generator's optimizer clears the generator only.

# %%
generator, discriminator = nn.Linear(2, 2).to(**kind), nn.Linear(2, 1).to(**kind)
with torch.no_grad():
    for index, parameter in enumerate([*generator.parameters(), *discriminator.parameters()]):
        parameter.copy_(draw(*parameter.shape, seed=70 + index))
g_optimizer = torch.optim.SGD(generator.parameters(), lr=0.1)
d_optimizer = torch.optim.SGD(discriminator.parameters(), lr=0.1)
noise_input = draw(8, 2, seed=80)

discriminator(generator(noise_input)).mean().backward()  # the generator's loss
g_optimizer.step()
g_optimizer.zero_grad()
print("generator's gradients:    ", {p.grad for p in generator.parameters()})
print("left in the discriminator:", f"norm {flat(discriminator).norm().item():.4f}")
left_over = flat(discriminator)
discriminator(noise_input).mean().backward()  # the discriminator's own loss comes on top
own = torch.cat(
    [g.flatten() for g in torch.autograd.grad(discriminator(noise_input).mean(), discriminator.parameters())]
)
print("its next gradient is the left-over plus its own:", torch.allclose(flat(discriminator), left_over + own))
assert left_over.norm() > 0 and torch.allclose(flat(discriminator), left_over + own)

# %% [markdown]
# **One backward that writes twice.** Section 2 said that one backward call writes into a `.grad` once. There is an exception. *Activation checkpointing* throws activations away and computes them again during backward. Its older, *reentrant* form runs a second backward inside the first. A weight that is used inside and outside is then written twice, and a hook is called twice: pytorch/pytorch#81296. The sum is right all the same.

# %%
counts, results = {}, {}
for name, run in (
    ("no checkpoint", lambda layer, rows: layer(rows)),
    ("checkpoint, not reentrant", lambda layer, rows: checkpoint(layer, rows, use_reentrant=False)),
    ("checkpoint, reentrant", lambda layer, rows: checkpoint(layer, rows, use_reentrant=True)),
):
    shared = nn.Linear(3, 3).to(**kind)
    with torch.no_grad():
        shared.weight.copy_(draw(3, 3, seed=90))
        shared.bias.zero_()
    writes = []
    shared.weight.register_post_accumulate_grad_hook(lambda leaf, writes=writes: writes.append(1))
    shared(run(shared, draw(2, 3, seed=91).requires_grad_())).sum().backward()
    counts[name], results[name] = len(writes), shared.weight.grad
    print(f"{name:<26} writes: {counts[name]}  norm: {shared.weight.grad.norm().item():.4f}")
first, *others = results.values()
assert list(counts.values()) == [1, 1, 2] and all(torch.allclose(first, other) for other in others)

# %% [markdown]
# ## Summary
#
# | question | answer | shown in |
# |---|---|---|
# | What does the first backward do to `.grad`? | Takes over the arriving tensor; copies it when somebody else holds it or its layout differs | 1 |
# | And every later one? | Adds in place to the same tensor (`create_graph=True`, and dense onto sparse, make a new one) | 1 |
# | What is in `.grad`? | The sum of all backward calls since the last clearing, signs included | 1 |
# | A weight used several times? | Its contributions are added first; `.grad` is written once | 2 |
# | Why is adding right? | Several losses and several micro-batches need it; one graph is alive at a time | 3 |
# | Gradients without accumulation? | `torch.autograd.grad`, `torch.func.grad`; per sample with `vmap` or a loop | 4 |
# | What does the sum hide? | How the samples disagree; for a mean loss, n times the batch gradient is the sum of the rows | 4 |
# | What is not cleared by `zero_grad()`? | Weights, momentum, Adam's moments, BatchNorm's statistics | 5, myths |
# | When does BatchNorm update? | Once per forward pass in training mode, no sum, no backward needed | 5 |
# | Where does a gradient live? | On the parameter: one slot, whoever holds the parameter | 6 |
# | Does it travel with the model? | With `.double()` and `.to(dtype)`, yes; in `state_dict()` or a `deepcopy` of a module, no | 6 |
#
# ## What comes next
#
# You know what the ledger holds and why it adds up. Lesson 3 is about wiping it: `optimizer.zero_grad()`, `model.zero_grad()` and their relatives, the difference between `None` and 0, and what each costs. Lesson 4 finds the legal places for it in the loop. Lesson 5 shows what a forgotten clearing really does to training, which is more surprising than "it diverges". Lesson 6 uses accumulation on purpose.

# %%
progress(2)
