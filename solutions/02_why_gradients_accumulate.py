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
# In lesson 1, `backward()` put a gradient into `.grad`. This lesson is about the second call,
# when something is there already. You will measure what happens, tensor by tensor. You will see
# why it is a good design, and which other things in a training loop do not behave like this at
# all.
#
# What you will be able to do:
#
# - say what is in `.grad` after a sequence of backward calls and clearings, without running it;
# - tell the two sums apart: uses of a weight inside one backward call, and backward calls one
#   after the other;
# - use accumulation on purpose, for several losses and for several small batches, and measure
#   what each way keeps in memory;
# - get gradients that do not accumulate, one per sample if you want;
# - name what accumulates, what is averaged, what is counted, and who owns it;
# - write the backward pass of a small engine, and find a mistake in a loop by the picture of its
#   ledger.

# %%
import copy
import inspect
import io
import math
import warnings

import torch
from torch import nn
from torch.func import functional_call, grad, vmap
from torch.utils.checkpoint import checkpoint

from course_utils.data import digits
from course_utils.lessons.lesson2 import figures
from course_utils.lessons.lesson2.saved import SavedBytes
from course_utils.lessons.lesson2.scalars import Value
from course_utils.lessons.measured import closest, true_or_false
from course_utils.widgets import gradient_buffer
from gradient_ledger import GradientLedger

device = "cuda" if torch.cuda.is_available() else "cpu"

# %% [markdown]
# Five small helpers for the whole lesson. Nearly everything runs in float64, so that rounding
# does not blur a comparison.

# %%
kind = {"dtype": torch.float64, "device": device}


def draw(*shape, seed=0):
    """Normal numbers of that shape, the same every time."""
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


def apart(a, b):
    """How far a lies from b, in lengths of b."""
    return ((a - b).norm() / b.norm()).item()


x, y = draw(24, 10, seed=1), draw(24, 2, seed=2)

# %% [markdown]
# ## A line is taken out
#
# A network learns to read handwritten digits: 1500 to learn from, 297 to be tested on. It goes
# over them ten times. For each batch of 50 its loop clears, runs forward and backward, and steps.
# You take out one line, `optimizer.zero_grad()`, and change nothing else.

# %%
predict("2.a")

# %%
data = digits()
x_train, x_test = data.x.double(), data.x_test.double()


def accuracies(clear, start, passes=10):
    """The share of test digits read right after each pass, with or without zero_grad()."""
    torch.manual_seed(start)
    model = nn.Sequential(nn.Linear(64, 32), nn.ReLU(), nn.Linear(32, 10)).double()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    shares = []
    for _ in range(passes):
        for pixels, labels in zip(x_train.split(50), data.y.split(50), strict=True):
            if clear:
                optimizer.zero_grad()
            nn.functional.cross_entropy(model(pixels), labels).backward()
            optimizer.step()
        right = model(x_test).argmax(dim=1) == data.y_test
        shares.append(right.double().mean().item())
    return shares


cleared = [accuracies(clear=True, start=start) for start in range(3)]
kept = [accuracies(clear=False, start=start) for start in range(3)]
print("test digits read right (%)      start 1   start 2   start 3")
for name, runs in (("with the line", cleared), ("without it", kept)):
    for passes in (1, 10):
        shown = "   ".join(f"{100 * run[passes - 1]:7.0f}" for run in runs)
        print(f"{name:<15}after pass {passes:>2}   {shown}")
figures.accuracies(cleared, kept)
first, last = (sum(run[at] for run in kept) > sum(run[at] for run in cleared) for at in (0, -1))
compare(
    "2.a", "turns" if first and not last else "better" if first else "same" if last else "worse"
)

# %% [markdown] claims="S0-3 S0-23 S0-45 S0-46"
# Nothing raised an error. After one pass the loop without the line looks like a discovery: it is
# far ahead. Whoever stops there keeps the mistake. After ten passes it reads fewer digits than it
# did after one.
#
# The line empties `.grad`. Without it, every step but the first uses something else than the
# gradient of its batch. What exactly? That is this lesson. Why it helps at first is lesson 5.
#
# ## 1. A second call
#
# A *parameter* is a tensor that training changes: a weight or a bias. It is a *leaf*: no graph
# leads to it. A new parameter's `.grad` is `None`. After the first backward call that reaches it,
# it is a tensor with the shape of the parameter. We call that tensor the *gradient buffer*.
#
# You run the same batch through the same model three times. Each time you call `loss.backward()`.
# You clear nothing in between. The *norm* of a gradient is its length: the root of the sum of its
# squared entries. Lengths alone could hide a rotation, so the cell compares every entry, too.
#
# > **Fact.** `backward()` adds the new gradient to what `.grad` already holds. After three calls
# > that bring the same gradient, every entry is three times that of one call.

# %%
three, once = small_model(), small_model()
print(".grad of new parameters:", [p.grad for p in three.parameters()])
squared_error(once(x), y).backward()
for _ in range(3):
    squared_error(three(x), y).backward()
    print(f"norm of .grad: {flat(three).norm().item():.4f}")
print("every entry three times that of one call:", torch.equal(flat(three), 3 * flat(once)))
assert torch.equal(flat(three), 3 * flat(once))

# %% [markdown]
# A *ledger* is the book in which a shop writes its entries, one below the other, with a running
# total. `.grad` holds the running total of such a book, and only that. With $L_1, \dots, L_n$ the
# losses that went backward since the last clearing, and $w_k$ the weights when the $k$-th was
# computed, it is, up to rounding and if nobody else writes into it,
#
# $$\texttt{.grad} = \sum_{k=1}^{n} \nabla L_k(w_k).$$
#
# ### The same tensor, or a new one?
#
# "Adds" can mean two things. Either a new tensor takes the place of the old one, or the numbers
# inside the same tensor change. The second is called *in place*.

# %%
predict("2.b")

# %%
w = torch.tensor([1.0, 2.0, 3.0], **kind, requires_grad=True)
(w**2).sum().backward()
kept_name = w.grad
values = kept_name.tolist()
print("after the first: ", values)
(w**2).sum().backward()
print("after the second:", w.grad.tolist(), " the same tensor?", w.grad is kept_name)
in_place = "in place" if w.grad.tolist() == [2 * v for v in values] else "overwritten"
compare("2.b", in_place if w.grad is kept_name else "new")

# %% [markdown]
# The later call added in place. So a name for `w.grad` is no copy of it: what you put aside
# changes under your hands. (There are exceptions, in which the sum is a new tensor. Two of them
# stand in the optional section.)

# %%
quiz("2.q1")

# %% [markdown]
# ### Who takes the gradient away?
#
# `backward()` fills `.grad`. Here it runs once, and then `step()` three times, with plain SGD and
# learning rate 0.1. The loss is `(w - 2)**2`, and `w` starts at 5.

# %%
predict("2.c")

# %%
w = nn.Parameter(torch.tensor(5.0, **kind))
optimizer = torch.optim.SGD([w], lr=0.1)
((w - 2) ** 2).backward()
path = [w.item()]
for _ in range(3):
    optimizer.step()
    path.append(w.item())
moves = [before - after for before, after in zip(path, path[1:], strict=False)]
print("w:    ", [f"{value:.2f}" for value in path])
print("moved:", [f"{value:.2f}" for value in moves], "  .grad:", w.grad.item())
later = "same" if max(moves) - min(moves) < 1e-12 else "shrinking"
compare("2.c", "used up" if moves[1] == 0 else later)

# %% [markdown]
# This `step()` uses the gradient and leaves it where it is. It does not ask whether the gradient
# still fits the weights.
#
# ### Press the buttons
#
# The explorer holds one real parameter `w`, which starts at 5, the loss `(w - 2)**2` and an SGD
# optimizer with learning rate 0.1. Each button does one thing and writes one line into the
# ledger. Find a way to bring `.grad` back to 0 without clearing it. Twelve presses are enough,
# and nine will do.

# %%
gradient_buffer()

# %% [markdown]
# <details><summary>One way in twelve presses, one in nine</summary>
#
# `backward()` once, `step()` ten times, `backward()` once. The ten steps all use the same
# gradient, 6. Each moves `w` by 0.6, so `w` goes from 5 to -1, past the minimum. There the
# gradient is -6, and 6 - 6 is 0.
#
# In nine: `backward()` twice, `step()` five times, `backward()` twice. The steps use 12 and are
# twice as long.
#
# </details>
#
# ### Picture: the running total
#
# One weight, five backward calls with five different losses, one clearing in the middle. Each bar
# starts where the buffer stood and ends where it stands afterwards. A downward bar is a gradient
# with a minus sign.

# %% claims="S0-12"
w = torch.tensor(1.0, **kind, requires_grad=True)
story = []
for slope in (2.0, 1.5, -2.5, None, 3.0, -1.0):  # None: clear the buffer
    before = 0.0 if w.grad is None else w.grad.item()
    if slope is None:
        w.grad = None
        story.append(("clear", before, None))
    else:
        (slope * w).backward()
        story.append((f"backward\n{slope:+g}", before, w.grad.item()))
print("after each event:", [after for _, _, after in story])
figures.waterfall(story)

# %% [markdown]
# The third bar goes down. A sum need not grow: gradients that point against each other cancel.
#
# ### The same in a training loop
#
# Here is the loop that many texts print to show accumulation: a linear model with 10 inputs and 2
# outputs, one sample, three steps of SGD. Without a seed it shows other numbers on every run, and
# you cannot check a sentence about them. With a seed it becomes a table. The column "delivered"
# is what backward brought in that step, seen by a *hook*: a function of yours that PyTorch calls
# with the arriving gradient.


# %% claims="S0-17 S2-6 S2-8 S2-18"
def bias_gradients(clear):
    """(delivered, in .grad) for the bias, in each of three steps of the same small loop."""
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


loops = {"not cleared": bias_gradients(False), "cleared": bias_gradients(True)}
print("loop         step  delivered         in .grad")
for name, rows in loops.items():
    for step, row in enumerate(rows, start=1):
        texts = ["[" + ", ".join(f"{v:.4f}" for v in part.tolist()) + "]" for part in row]
        print(f"{name:<13}{step}     {'  '.join(texts)}")
arrived = {name: [delivered for delivered, _ in rows] for name, rows in loops.items()}
assert torch.allclose(loops["not cleared"][2][1], sum(arrived["not cleared"]))
assert all(torch.equal(*row) for row in loops["cleared"])
same = [torch.equal(a, b) for a, b in zip(*arrived.values(), strict=True)]
print("same delivery in both loops, step by step:", same)
assert same == [True, True, False]

# %% [markdown]
# In the cleared loop the last two columns agree. In the other one, `.grad` is the running total
# of what was delivered. The first two deliveries are the same in both loops, because the first
# step was the same. The second step was not, so from the third delivery on they differ.
#
# ### Your turn
#
# First you record the ledger.


# %% exercise="2.1"
def backward_n_times(param, loss_fn, n):
    """.grad after each of n backward calls of loss_fn(param), cleared before: n tensors."""
    ### BEGIN SOLUTION
    param.grad = None
    snapshots = []
    for _ in range(n):
        loss_fn(param).backward()
        snapshots.append(param.grad.detach().clone())
    return snapshots
    ### END SOLUTION


# %% [markdown]
# Then you write the ledger's rule yourself: what happens when a gradient arrives. You know the
# two cases: nothing there yet, and something there. In this exercise the caller still holds
# `incoming`, and may change it later.


# %% exercise="2.2"
def accumulate_grad(param, incoming):
    """Do to param.grad what backward does with the gradient `incoming`; returns None."""
    ### BEGIN SOLUTION
    if incoming.shape != param.shape:
        raise ValueError(f"a gradient of shape {incoming.shape} for a parameter of {param.shape}")
    if param.grad is None:
        param.grad = incoming.detach().clone()
    else:
        param.grad.add_(incoming.detach())
    ### END SOLUTION


# %% [markdown]
# ## 2. One weight, several uses
#
# So far one backward call brought one gradient. But a weight can be used twice in one forward
# pass. Each use has its own influence on the loss. Several arrows of the graph then lead to the
# same leaf. This is called *fan-in*.
#
# PyTorch can call a function of yours each time it has written into a `.grad`. It is called a
# *post-accumulate hook*. Here a weight is used twice and one `backward()` runs.

# %%
predict("2.d")

# %%
w = torch.tensor([1.0, 1.0], **kind, requires_grad=True)
calls = []
w.register_post_accumulate_grad_hook(lambda leaf: calls.append(leaf.grad.tolist()))
((2 * w).sum() + (3 * w).sum()).backward()
print("calls of the hook, with .grad as they found it:", calls)
seen = {(1, 5.0): "once, sum", (2, 5.0): "twice", (1, 3.0): "once, last"}
compare("2.d", seen[len(calls), calls[-1][0]])

# %% [markdown] claims="S0-21"
# > **Fact.** Within one backward call, the engine adds the contributions of all uses first, and
# > writes the sum into `.grad` once. (One form of checkpointing breaks this. It stands in the
# > optional section.)
#
# There are two sums, then. The inner one belongs to calculus: when a quantity influences the
# result along several paths, the influences add. A gradient without it would be wrong. The outer
# one, from call to call, is a decision of PyTorch's designers. The next cell separates them: one
# call with two uses against two calls with one use each.


# %%
def written(*losses):
    """What each write left in .grad of one weight, when the losses go backward in turn."""
    w = torch.tensor([1.0, 1.0], **kind, requires_grad=True)
    calls = []
    w.register_post_accumulate_grad_hook(lambda leaf: calls.append(leaf.grad.tolist()))
    for loss in losses:
        loss(w).backward()
    return calls


one_call = written(lambda w: (2 * w).sum() + (3 * w).sum())
two_calls = written(lambda w: (2 * w).sum(), lambda w: (3 * w).sum())
print("one backward, two uses:   ", one_call)
print("two backwards, a use each:", two_calls)
assert one_call == [[5.0, 5.0]] and two_calls == [[2.0, 2.0], [5.0, 5.0]]

# %% [markdown]
# ### What is the contribution of one use?
#
# Take a chain that uses the same weight at every step. Recurrent networks are built like this.
# Write $w^{(k)}$ for the weight in its $k$-th use; all of them are equal. *Unrolled*, the chain
# is
#
# $$
# h_k = \tanh\left(w^{(k)}\, h_{k-1}\right), \quad k = 1, \dots, 4, \qquad
# \frac{\mathrm{d} h_4}{\mathrm{d} w} = \sum_{k=1}^{4} \frac{\partial h_4}{\partial w^{(k)}}.
# $$
#
# Lesson 1 measured a slope by nudging a number. Do that here, but nudge `w` in **one** use and
# leave the other three alone. The slope you find is the contribution of that use.


# %%
def chain(weights, start):
    """The values h along the chain; `weights` gives each use its own weight."""
    values = [start]
    for weight in weights:
        values.append(math.tanh(weight * values[-1]))
    return values


weight, start, depth, h = 1.5, 0.3, 4, 1e-5
by_use = []
for use in range(depth):
    up, down = ([weight + (s if i == use else 0) for i in range(depth)] for s in (h, -h))
    by_use.append((chain(up, start)[-1] - chain(down, start)[-1]) / (2 * h))

w = torch.tensor(weight, **kind, requires_grad=True)
state = torch.tensor(start, **kind)
for _ in range(depth):
    state = torch.tanh(w * state)
state.backward()
print("nudged in one use at a time:", [f"{value:.4f}" for value in by_use])
print(f"their sum: {sum(by_use):.4f}   w.grad: {w.grad.item():.4f}")
assert abs(sum(by_use) - w.grad.item()) < 1e-8
figures.unrolled(chain([weight] * depth, start), by_use, weight, w.grad.item())

# %% [markdown]
# The uses do not contribute equally. Each one acts on another value of `h`, and the early ones
# act through all later steps.

# %%
quiz("2.q2")

# %% [markdown]
# In the exercise, `w` and `x` may be tensors, and autograd may do the work. The question is only
# how to keep the uses apart. Think of what the nudging did: it gave each use a weight of its own.


# %% exercise="2.3"
def shared_weight_gradient(w, x, depth):
    """(contributions, total) of h.sum(); h = x, then depth times h = tanh(w * h)."""
    ### BEGIN SOLUTION
    uses = [w.detach().clone().requires_grad_() for _ in range(depth)]
    h = x.detach()
    for use in uses:
        h = torch.tanh(use * h)
    contributions = list(torch.autograd.grad(h.sum(), uses))
    return contributions, torch.stack(contributions).sum(dim=0)
    ### END SOLUTION


# %% [markdown] claims="S2-3"
# ## 3. Why the design is right
#
# Taking a derivative is *linear*: the gradient of a sum is the sum of the gradients,
#
# $$\nabla (L_1 + L_2) = \nabla L_1 + \nabla L_2.$$
#
# So a buffer that adds lets several small backward calls stand for one big one. You may cut a sum
# of losses where you like, as long as each loss has a forward pass of its own. Where two losses
# share one, the first call frees what it has read, and most often the second needs that, too.
# With `retain_graph=True` the first call keeps it.
#
# > **Fact.** One backward call on a sum of losses, and one call per loss, leave the same gradient
# > up to rounding, if each loss comes out the same both times. (Dropout would draw anew.)


# %%
def size_loss(model):
    """A second loss: a twentieth of the sum of the squared parameters."""
    return 0.05 * sum((p**2).sum() for p in model.parameters())


together, one_by_one = small_model(), small_model()
(squared_error(together(x), y) + size_loss(together)).backward()
squared_error(one_by_one(x), y).backward()
size_loss(one_by_one).backward()
print("same gradient up to 1e-12:", apart(flat(one_by_one), flat(together)) < 1e-12)
assert apart(flat(one_by_one), flat(together)) < 1e-12

outputs = small_model()(x)  # one forward pass for two losses
squared_error(outputs, y).backward()
try:
    outputs.sum().backward()
    raise AssertionError("the second call went through")
except RuntimeError as error:
    print("a shared forward pass:", str(error)[:47], "...")

# %% [markdown]
# Why does PyTorch not clear `.grad` for you before each backward? Think of what that would break.

# %%
quiz("2.q3")

# %% [markdown]
# With two losses, the second would wipe out the first. You would get a gradient, without an
# error. It would be the wrong one.

# %%
automatic, second_alone = small_model(), small_model()
squared_error(automatic(x), y).backward()
automatic.zero_grad()  # what an automatic clearing would do
size_loss(automatic).backward()
size_loss(second_alone).backward()
cosine = torch.cosine_similarity(flat(automatic), flat(together), dim=0).item()
print("the gradient of the second loss alone:", torch.equal(flat(automatic), flat(second_alone)))
print(f"cosine with the wanted gradient: {cosine:.4f}")
assert torch.equal(flat(automatic), flat(second_alone)) and cosine < 0.99

# %% [markdown]
# ### What a graph keeps
#
# A forward pass keeps tensors for the backward pass: the values between the layers, called
# *activations*. Backward reads them and, unless you say `retain_graph=True`, lets them go. So a
# graph costs memory from its forward pass to its backward call.
#
# A big batch can be cut into *micro-batches*: small batches whose gradients are added up before
# one step. Here are three programs for the same gradient.
#
# - **At the end:** run all four forward passes, add the four losses, call `backward()` once.
# - **Each:** after each forward pass, call `backward()` at once.
# - **Own sum:** after each forward pass, ask `torch.autograd.grad` for the gradient and add it to
#   a sum of your own. `.grad` is not used at all.
#
# `SavedBytes` counts the bytes that living graphs keep. It leaves out the parameters, the
# gradients and the data, which are there either way: the memory of the whole program falls by
# less. The losses are sums here, so that the pieces add up without weights. Lesson 6 is about
# means.

# %%
predict("2.e")


# %%
def four_pieces(program):
    """(gradient, saved bytes after each event, their peak) of four micro-batches of 64 rows."""
    inputs, targets = draw(256, 10, seed=3), draw(256, 2, seed=4)
    model = small_model()
    params = list(model.parameters())
    own = [torch.zeros_like(p) for p in params]
    events, waiting = [], []
    with SavedBytes(inputs, targets, *params) as saved:
        for rows, wanted in zip(inputs.split(64), targets.split(64), strict=True):
            loss = ((model(rows) - wanted) ** 2).sum()
            events.append(("forward", saved.now))
            if program == "at the end":
                waiting.append(loss)
                continue
            if program == "each":
                loss.backward()
            else:
                for total, new in zip(own, torch.autograd.grad(loss, params), strict=True):
                    total += new
            events.append(("backward", saved.now))
        if waiting:
            sum(waiting).backward()
            events.append(("backward", saved.now))
    gradient = torch.cat([g.flatten() for g in own]) if program == "own sum" else flat(model)
    return gradient, events, saved.peak


found = {program: four_pieces(program) for program in ("at the end", "each", "own sum")}
for program, (gradient, _, peak) in found.items():
    error = apart(gradient, found["at the end"][0])
    print(f"{program:<12}peak {peak:>6} bytes   same gradient: {error < 1e-12}")
    assert error < 1e-12
assert found["own sum"][2] == found["each"][2]
figures.saved_bytes({program: found[program][1] for program in ("at the end", "each")})
ratio = found["each"][2] / found["at the end"][2]
compare("2.e", closest(ratio, same=1, half=1 / 2, quarter=1 / 4, more=2))

# %% [markdown]
# In the second program each graph dies in its own backward call and leaves its gradient behind in
# the sum. The sum is as large as the parameters, however many pieces there are. The buffer makes
# this program short. It is not what makes it possible: the third one does without, and its graphs
# keep as few bytes. (For a moment it holds one more set of gradients, the one that is being
# added.)
#
# You have now met three reasons for one and the same addition: several uses of a weight, several
# losses, several micro-batches. In the exercise there are several losses with weights, and only
# one graph may be alive at a time.


# %% exercise="2.4"
def multi_loss_gradients(model, losses, weights):
    """Leave the gradient of the weighted sum of losses (callables of the model) in .grad."""
    ### BEGIN SOLUTION
    model.zero_grad()
    for loss, weight in zip(losses, weights, strict=True):
        (weight * loss(model)).backward()
    ### END SOLUTION


# %% [markdown] claims="S0-27"
# > **Pause.** This is a good place to stop for the day. You know what is in `.grad` and why it
# > adds up. What follows is what the sum hides, what else in a training loop remembers, and an
# > engine of your own.
#
# ## 4. The road not taken
#
# `backward()` is not the only way to a gradient. `torch.autograd.grad(loss, tensors)` returns the
# gradients as its result. `torch.func.grad(f)` makes a new function: it takes what `f` takes and
# returns the gradient of `f` with respect to its first argument, if you do not name another.
#
# > **Fact.** `torch.autograd.grad` and `torch.func.grad` return their gradients and leave the
# > `.grad` of parameters alone. They give what a cleared `backward()` gives, up to rounding.

# %%
w = torch.tensor(1.0, **kind, requires_grad=True)
(5 * w).backward()
(returned,) = torch.autograd.grad(3 * w, w)
print("torch.autograd.grad:", returned.item(), "  .grad is still", w.grad.item())
pure = grad(lambda w: 3 * w)(w)
print("torch.func.grad:    ", pure.item(), "  .grad is still", w.grad.item())
assert (returned.item(), pure.item(), w.grad.item()) == (3, 3, 5)

by_backward, model = small_model(), small_model()
squared_error(by_backward(x), y).backward()
parameters = dict(model.named_parameters())
from_autograd = torch.autograd.grad(squared_error(model(x), y), list(parameters.values()))
from_func = grad(lambda values: squared_error(functional_call(model, values, (x,)), y))(
    parameters
)
for name, parts in (("autograd", from_autograd), ("func", from_func.values())):
    error = apart(torch.cat([part.detach().flatten() for part in parts]), flat(by_backward))
    print(f"torch.{name}.grad of a model gives what backward gives: {error < 1e-12}")
    assert error < 1e-12 and all(p.grad is None for p in model.parameters())

# %% [markdown]
# (`functional_call` runs a model with other values in place of its parameters. So the loss
# becomes a function of the parameters, as `torch.func` wants it.)
#
# These functions keep no books. The bookkeeping is yours: you hold the gradients, you add them,
# you drop them.

# %%
predict("2.f")

# %%
u, v = torch.ones(3, **kind, requires_grad=True), torch.ones(3, **kind, requires_grad=True)
of_u, of_v = torch.autograd.grad((2 * (u + v)).sum(), [u, v])
print("gradient of u:", of_u.tolist(), "  gradient of v:", of_v.tolist())
of_u += 10
print("of_u += 10")
print("gradient of u:", of_u.tolist(), "  gradient of v:", of_v.tolist())
compare("2.f", {2.0: "apart", 12.0: "both"}[of_v[0].item()])

# %% [markdown]
# For `u + v` the two gradients are equal, and PyTorch handed out one tensor twice. So copy a
# returned gradient before you change it in place. With `backward()`, the two leaves get memory of
# their own, as the cell shows.

# %%
left, right = (torch.ones(3, **kind, requires_grad=True) for _ in range(2))
(2 * (left + right)).sum().backward()
left.grad += 10
print("left.grad:", left.grad.tolist(), "  right.grad:", right.grad.tolist())
assert right.grad.tolist() == [2, 2, 2]

# %% [markdown]
# ## 5. What a sum hides
#
# A batch gradient is already a sum, over the samples. What do the samples say one by one? For
# plain tensors, `torch.func.vmap` answers in one line. `vmap(f, in_dims=(None, 0, 0))` runs `f`
# for every row of its second and third argument, and keeps the first one fixed.

# %%
truth, weights = torch.tensor([1.0, -0.5], **kind), torch.tensor([0.8, -0.2], **kind)


def mean_error(weights, rows, wanted):
    return ((rows @ weights - wanted) ** 2).mean()


def samples(n, seed):
    """n points and the values of a noisy line at them; `weights` lie not far from its truth."""
    points = draw(n, 2, seed=seed)
    return points, points @ truth + draw(n, seed=seed + 1)


by_sample = vmap(grad(mean_error), in_dims=(None, 0, 0))

# %%
predict("2.g")

# %%
points, values = samples(8, seed=231)
rows = by_sample(weights, points, values)
batch = grad(mean_error)(weights, points, values)
each = [grad(mean_error)(weights, points[i : i + 1], values[i : i + 1]) for i in range(8)]
print("shape of the per-sample gradients:", tuple(rows.shape))
print("a loop over batches of one gives the same:", torch.allclose(rows, torch.stack(each)))
factors = (rows.sum(dim=0) / batch).tolist()
print("sum of the rows divided by the batch gradient:", [f"{value:.4g}" for value in factors])
assert torch.allclose(rows, torch.stack(each)) and max(factors) - min(factors) < 1e-9
compare("2.g", closest(factors[0], one=1, n=8, inverse=1 / 8))

# %% [markdown]
# The rows add up to 8 times the batch gradient, because the loss is a mean. With $\ell_i$ the
# loss of sample $i$ alone, and a model that looks at each sample by itself,
#
# $$\nabla L = \frac{1}{n} \sum_{i=1}^{n} \nabla \ell_i.$$
#
# ### Why `X.T @ G`
#
# In lesson 1 the gradient of a weight matrix was a matrix product. It is this sum, too. Let $Z =
# X W$ with one sample a row, and let $G$ hold the gradient of the loss with respect to each entry
# of $Z$. Row $i$ of $X$ reaches the loss through row $i$ of $Z$ alone, so sample $i$ contributes
# the table of all products of an input with a gradient, $x_i g_i^\top$. The samples add up:
#
# $$
# \nabla_W L = \sum_{i=1}^{n} x_i\, g_i^\top = X^\top G, \qquad
# \left(X^\top G\right)_{jk} = \sum_i X_{ij}\, G_{ik}.
# $$
#
# The transpose is there because a matrix product sums over the columns of its left factor, and
# what is to be summed over are the rows of $X$: the samples.

# %%
X, W = draw(8, 3, seed=60), draw(3, 2, seed=61).requires_grad_()
Z = X @ W
Z.retain_grad()
(torch.tanh(Z) ** 2).sum().backward()
G = Z.grad
tables = torch.stack([torch.outer(X[i], G[i]) for i in range(8)])
print("one table of products a sample:", tuple(tables.shape), "  W:", tuple(W.shape))
print("their sum is X.T @ G:", torch.allclose(tables.sum(dim=0), X.T @ G))
print("and X.T @ G is W.grad:", torch.allclose(X.T @ G, W.grad))
assert torch.allclose(tables.sum(dim=0), X.T @ G) and torch.allclose(X.T @ G, W.grad)

# %% [markdown]
# ### Picture: how far the samples disagree
#
# On the left, the gradients of eight samples and their mean. On the right, the same question for
# batches: how far does the gradient of a random batch lie from the gradient of all the data?

# %%
eight = by_sample(weights, *samples(8, seed=231))
many = by_sample(weights, *samples(2**16, seed=7))
sizes, noise = [1, 4, 16, 64, 256], []
for size in sizes:
    means = many.reshape(-1, size, 2).mean(dim=1)  # the data cut into batches of that size
    noise.append(((means - many.mean(dim=0)) ** 2).sum(dim=1).mean().sqrt().item())
    print(f"batch size {size:>3}: typical distance from the full gradient {noise[-1]:.4f}")
print(
    f"eight samples: mean length {eight.norm(dim=1).mean().item():.4g}, "
    f"length of their mean {eight.mean(dim=0).norm().item():.4g}"
)
figures.spread(eight, eight.mean(dim=0), sizes, noise)

# %% [markdown]
# The sum hides this spread. The rows let you clip each sample's gradient, as private training
# does, or find the samples that pull hardest.
#
# In the exercise the function is a model, so the answer has one entry per parameter name. A loop
# and `vmap` are both welcome. If you loop, remember what a batch of one looks like.


# %% exercise="2.5"
def per_sample_gradients(model, loss_fn, x, y):
    """{name: tensor (n, *shape)}, row i the gradient of sample i; .grad stays as it was."""
    ### BEGIN SOLUTION
    named = {name: p for name, p in model.named_parameters() if p.requires_grad}
    rows = {name: [] for name in named}
    for i in range(len(x)):
        loss = loss_fn(model(x[i : i + 1]), y[i : i + 1])
        gradients = torch.autograd.grad(
            loss, list(named.values()), allow_unused=True, materialize_grads=True
        )
        for name, gradient in zip(named, gradients, strict=True):
            rows[name].append(gradient.detach())  # torch 2.6 makes zeros that ask for gradients
    return {name: torch.stack(gradients) for name, gradients in rows.items()}
    ### END SOLUTION


# %% [markdown]
# ## 6. What accumulates, and what does not
#
# `.grad` is not the only thing in a training loop with a memory. Three others are easily mixed up
# with it.
#
# - **Optimizer state.** SGD with momentum keeps a *momentum buffer*, a fading sum of past
#   gradients. In its plain form: $v \leftarrow 0.9\,v + g$, and then $w \leftarrow w - \eta\,v$.
#   Adam keeps two fading averages, its *moments*: one of the gradients, one of their squares. They
#   belong to the optimizer.
# - **BatchNorm statistics.** A BatchNorm layer keeps a running mean and variance of what passes
#   through it, and counts the batches in `num_batches_tracked`. They are *module buffers*:
#   tensors that belong to the model but are not trained. (The word "buffer" has two meanings
#   here. `.grad` is not a module buffer.)
# - **Weights.** In this loop they change in `step()` alone.
#
# `momentum_sgd` makes a weight with three steps behind it.


# %%
def momentum_sgd():
    """A weight and its SGD with momentum 0.9, after three steps on (w**2).sum()."""
    w = nn.Parameter(torch.tensor([1.0, 2.0], **kind))
    optimizer = torch.optim.SGD([w], lr=0.1, momentum=0.9)
    for _ in range(3):
        optimizer.zero_grad()
        (w**2).sum().backward()
        optimizer.step()
    return w, optimizer


# %% [markdown]
# You clear, in one of two ways, and call `step()` once more. There is no new backward in between.

# %%
predict("2.h")


# %%
def moved_after_clearing(set_to_none):
    w, optimizer = momentum_sgd()
    before = w.detach().clone()
    optimizer.zero_grad(set_to_none=set_to_none)
    optimizer.step()
    return (w.detach() - before).norm().item()


with_zeros, with_none = moved_after_clearing(False), moved_after_clearing(True)
print(f"gradients filled with zeros: w moves by {with_zeros:.4f}")
print(f"gradients set to None:       w moves by {with_none:.4f}")
moving = {
    (True, True): "both",
    (True, False): "zeros",
    (False, True): "none",
    (False, False): "still",
}
compare("2.h", moving[with_zeros > 0, with_none > 0])

# %% [markdown] claims="S0-7 S0-33 S2-5"
# With zeros, the old direction carries on: the momentum buffer is still full. With `None`, the
# optimizer skips the parameter. Lesson 3 treats this difference in full. After `zero_grad()` as
# it is called today, `.grad` is `None`.
#
# In an ordinary loop a new backward follows, and the old gradients act all the same.
#
# > **Fact.** `zero_grad()` does not clear optimizer state. With `SGD(momentum=0.9)`, the update
# > after a clearing is the learning rate times (new gradient + 0.9 times the momentum buffer).

# %%
w, optimizer = momentum_sgd()
memory, before = optimizer.state[w]["momentum_buffer"].clone(), w.detach().clone()
optimizer.zero_grad()
kept_memory = torch.equal(optimizer.state[w]["momentum_buffer"], memory)
print(".grad after zero_grad():", w.grad)
print("momentum buffer unchanged:", kept_memory)
print("weights unchanged:        ", torch.equal(w.detach(), before))
assert w.grad is None and kept_memory and torch.equal(w.detach(), before)

(w**2).sum().backward()
new = w.grad.clone()
optimizer.step()
update = before - w.detach()
for name, value in (
    ("update:", update),
    ("new gradient alone:", 0.1 * new),
    ("with the old momentum:", 0.1 * (new + 0.9 * memory)),
):
    print(f"{name:<23}", [f"{entry:.4f}" for entry in value.tolist()])
assert torch.allclose(update, 0.1 * (new + 0.9 * memory))

# %% [markdown]
# So clearing `.grad` removes old gradients from the ledger. It does not remove them from the
# update.
#
# Now BatchNorm. It changes in the *forward* pass, in training mode, whether or not a backward
# follows. And its running mean is not a sum. By default it is an average that fades,
#
# $$m \leftarrow 0.9\,m + 0.1\,\bar{x}.$$
#
# The 0.1 is called `momentum` there, which is not the momentum of an optimizer.
#
# > **Fact.** With its default settings, BatchNorm updates its statistics once per forward pass in
# > training mode, and not in eval mode. LayerNorm has no such statistics.

# %%
norm = nn.BatchNorm1d(1).to(**kind)
print("buffers of BatchNorm:", [name for name, _ in norm.named_buffers()])
print("buffers of LayerNorm:", [name for name, _ in nn.LayerNorm(1).named_buffers()])
batch = torch.tensor([[9.0], [11.0]], **kind)  # its mean is 10
readings = []
for _ in range(3):
    norm(batch)  # no backward at all
    readings.append(round(norm.running_mean.item(), 4))
norm.zero_grad()
print("running mean after 1, 2, 3 forward passes:", readings)
print("num_batches_tracked:", norm.num_batches_tracked.item())
norm.eval()
norm(batch)
print("after one more forward in eval mode:", norm.num_batches_tracked.item())
assert readings == [1.0, 1.9, 2.71] and norm.num_batches_tracked.item() == 3
assert not list(nn.LayerNorm(1).named_buffers())

# %% [markdown]
# ### Picture: four memories, four calls
#
# Three rounds of forward, backward, step and clear. Each row of the picture is one memory. Look
# at which of the four calls moves it.

# %%
net = nn.Sequential(nn.Linear(2, 3), nn.BatchNorm1d(3), nn.Linear(3, 1)).to(**kind)
with torch.no_grad():
    for index, parameter in enumerate(net.parameters()):
        parameter.copy_(draw(*parameter.shape, seed=20 + index))
sgd = torch.optim.SGD(net.parameters(), lr=0.05, momentum=0.9)
first, events = net[0].weight, []
track = {".grad (norm)": [], "momentum buffer (norm)": [], "BatchNorm count": [], "a weight": []}


def read(event):
    momentum = sgd.state[first].get("momentum_buffer")
    events.append(event)
    track[".grad (norm)"].append(None if first.grad is None else first.grad.norm().item())
    track["momentum buffer (norm)"].append(None if momentum is None else momentum.norm().item())
    track["BatchNorm count"].append(net[1].num_batches_tracked.item())
    track["a weight"].append(first[0, 0].item())


read("start")
for number in range(3):
    loss = squared_error(net(draw(8, 2, seed=30 + number)), draw(8, 1, seed=40 + number))
    read("forward")
    loss.backward()
    read("backward")
    sgd.step()
    read("step")
    sgd.zero_grad()
    read("clear")
movers = {
    name: {events[i] for i in range(1, len(events)) if readings[i] != readings[i - 1]}
    for name, readings in track.items()
}
assert list(movers.values()) == [{"backward", "clear"}, {"step"}, {"forward"}, {"step"}]
figures.memories(events, track)

# %%
quiz("2.q4")

# %% [markdown]
# ## 7. Where gradients live
#
# It is easy to think of the gradient as something the optimizer has. After all,
# `optimizer.zero_grad()` clears it and `optimizer.step()` uses it.
#
# Give one parameter to two optimizers, A and B. Two losses send gradients 1 and 3. A clears, and
# B steps.

# %%
predict("2.i")

# %%
p = nn.Parameter(torch.tensor(10.0, **kind))
A, B = torch.optim.SGD([p], lr=0.5), torch.optim.SGD([p], lr=0.5)
(1 * p).backward()  # meant for A
(3 * p).backward()  # meant for B
print("p.grad:", p.grad.item())
A.zero_grad()
print("after A.zero_grad():", p.grad)
B.step()
print("B.step() moves p by", 10 - p.item())
compare("2.i", closest(10 - p.item(), nothing=0, own=1.5, both=2))

# %% [markdown] claims="S1-29"
# `backward()` knows no optimizer. It writes to the parameter.
#
# > **Fact.** `.grad` is an attribute of the parameter. An optimizer holds references to
# > parameters, and `step()` reads their `.grad`. Deleting an optimizer changes no gradient, and
# > one that comes later steps with it.

# %%
p = nn.Parameter(torch.tensor(10.0, **kind))
model, first, second = nn.ParameterList([p]), *(torch.optim.SGD([p], lr=0.5) for _ in range(2))
(7 * p).backward()
print("what the first optimizer saves as its state:", first.state_dict()["state"])
del first
newcomer = torch.optim.SGD([p], lr=0.5)
newcomer.step()
print("a new optimizer steps with the old gradient: moved by", 10 - p.item())
assert p.grad.item() == 7 and 10 - p.item() == 3.5
in_second, in_new = (one.param_groups[0]["params"][0] for one in (second, newcomer))
figures.one_slot(p, {"model": model[0], "second optimizer": in_second, "newcomer": in_new})

# %% [markdown]
# The gradient is not inside the parameter's memory either. It is a second tensor, in its own
# memory. Does it travel with the model? That depends on how.
#
# > **Fact.** `model.float()` and `model.to(dtype)` convert the gradients with the weights. A
# > saved `state_dict()` holds no gradient, and `copy.deepcopy` of a module of ordinary parameters
# > leaves it behind.

# %%
layer = nn.Linear(3, 1).to(**kind)
layer(draw(4, 3)).sum().backward()
shared = layer.weight.data_ptr() == layer.weight.grad.data_ptr()
print("weight and gradient share memory:", shared)
print("state_dict holds:", list(layer.state_dict()))
file = io.BytesIO()
torch.save(layer.state_dict(), file)
file.seek(0)
restored, copied = nn.Linear(3, 1).to(**kind), copy.deepcopy(layer)
restored.load_state_dict(torch.load(file))
print("gradient after saving and loading:", restored.weight.grad)
print("gradient in a deepcopy:           ", copied.weight.grad)
before = layer.weight.grad.tolist()
layer.float()
print("gradient after .float():          ", layer.weight.grad.dtype)
layer.to(torch.float64)
print("gradient after .to(torch.float64):", layer.weight.grad.dtype)
assert not shared and list(layer.state_dict()) == ["weight", "bias"]
assert restored.weight.grad is None and copied.weight.grad is None
assert layer.weight.grad.dtype == layer.weight.dtype == torch.float64
assert torch.allclose(layer.weight.grad, torch.tensor(before, **kind))


# %%
quiz("2.q5")

# %% [markdown]
# ## 8. An engine in twenty lines
#
# Here is autograd in small, with single numbers in place of tensors. A `Value` remembers what it
# was made of: for each operand a pair of that operand and a slope, how fast the result moves when
# the operand moves. (In place of the slope, PyTorch keeps a function that computes with it.)

# %%
print(inspect.getsource(Value))

# %% [markdown]
# Going forward it needs nothing else. Going backward, each value takes the gradient it holds,
# multiplies it by the slope on an arrow, and delivers the product at the operand. Somebody has
# written the delivery as
#
# ```python
# for parent, slope in value.parents:
#     parent.grad = slope * value.grad
# ```
#
# They tried it on `y = w * x`, found both gradients right, and went home. You try it on `y = x *
# x` at `x = 3`.

# %%
predict("2.j")


# %%
def delivered(value):
    """One step back from `value`, by the line above."""
    value.grad = 1.0
    for parent, slope in value.parents:
        parent.grad = slope * value.grad


w, x3 = Value(5.0), Value(3.0)
delivered(w * x3)
print("y = w * x at w = 5, x = 3:  w.grad", w.grad, "  x.grad", x3.grad)
assert (w.grad, x3.grad) == (3.0, 5.0)
x3 = Value(3.0)
delivered(x3 * x3)
print("y = x * x at x = 3:         x.grad", x3.grad)
print("the two deliveries:        ", [slope for _, slope in (x3 * x3).parents])
compare("2.j", closest(x3.grad, one=3, both=6, square=9))

# %% [markdown]
# `x` stands in `parents` twice, with slope 3 each time. The second delivery wiped out the first.
# With `+=` it would be 6, the derivative of $x^2$ at 3. One character of difference, and no
# error. It is the inner sum of section 2: whoever builds an engine has to write it.
#
# There is a second trap. Look at $y = a + \tanh(a)$ with $a = w x$. The value `a` gets two
# deliveries, one from `y` and one from the tanh. If it passes on to `w` and `x` after the first
# and never again, they get too little. If it passes on all that it holds each time, they get too
# much.

# %%
values = {"w": Value(0.8), "x": Value(0.5)}
values["a"] = values["w"] * values["x"]
values["b"] = values["a"].tanh()
values["y"] = values["a"] + values["b"]
slope = dict(values["b"].parents)[values["a"]]
print(f"a gets 1 from y, and 1 * {slope:.4f} through b: {1 + slope:.4f} in all")
for way, passed_on in (
    ("once, when both are there", 1 + slope),
    ("after the first delivery only", 1),
    ("all it holds, each time", 1 + (1 + slope)),
):
    print(f"a passes on {way:<30} w.grad {passed_on * values['x'].data:.4f}")
small = torch.tensor([0.8, 0.5], **kind, requires_grad=True)
(small.prod() + torch.tanh(small.prod())).backward()
print(f"PyTorch:{'':<34} w.grad {small.grad[0].item():.4f}")
assert abs(small.grad[0].item() - (1 + slope) * 0.5) < 1e-12
figures.slopes(values)

# %% [markdown]
# One could pass on each delivery by itself, path by path. That gives the right numbers, but every
# value that is used twice doubles the number of paths. So engines keep an order: a value delivers
# once, when all who use it have delivered to it. Now write the whole pass.
#
# ## 9. Your engine


# %% exercise="2.6"
def scalar_backward(output):
    """Add to .grad of every Value that output was made of, and of output, d output / d value."""
    ### BEGIN SOLUTION
    order, seen = [], set()

    def visit(value):
        if value not in seen:
            seen.add(value)
            for parent, _ in value.parents:
                visit(parent)
            order.append(value)

    visit(output)
    output.grad = 1.0
    for value in reversed(order):
        for parent, slope in value.parents:
            parent.grad += slope * value.grad
    ### END SOLUTION


# %% [markdown]
# Your engine beside PyTorch's, on a chain of four steps with one weight, twice in a row without
# clearing. Before the exercise is solved, the number of your engine stays at 0.

# %%
mine, theirs = Value(1.5), torch.tensor(1.5, **kind, requires_grad=True)
for call in (1, 2):
    h, state = Value(0.3), torch.tensor(0.3, **kind)
    for _ in range(4):
        h, state = (mine * h).tanh(), torch.tanh(theirs * state)
    scalar_backward(h)
    state.backward()
    yours, torchs = mine.grad, theirs.grad.item()
    print(f"call {call}: w.grad by your engine {yours:.6f}, by PyTorch's {torchs:.6f}")

# %% [markdown]
# Both sums are in there: the four uses inside each call, and the two calls, one after the other.
# The second needed no line of its own. Nothing in a backward pass clears, so gradients
# accumulate.
#
# ## 10. The picture of a ledger
#
# `GradientLedger` watches a training loop and writes down what happens to its gradients.
# `ledger.plot()` draws what `.grad` holds after each: a block for every backward pass in it,
# hatched once a step has used it. Here is the loop from the beginning, without its clearing, for
# four batches of digits.

# %% tags=["nbval-ignore-output"]
x_train, y_train = digits().x.double(), digits().y
batches = list(zip(x_train.split(50)[:4], y_train.split(50)[:4], strict=True))


def watched(clear):
    """The ledger of four steps on digits."""
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(64, 32), nn.ReLU(), nn.Linear(32, 10)).double()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    with GradientLedger() as ledger:
        for pixels, labels in batches:
            if clear:
                optimizer.zero_grad()
            nn.functional.cross_entropy(model(pixels), labels).backward()
            optimizer.step()
    return ledger


ledger = watched(clear=False)
assert [finding.misconception for finding in ledger.findings()] == ["never-zeroed"]
ledger.plot()


# %%
quiz("2.q6")

# %% [markdown]
# The ring marks the events that belong to a finding. `print(ledger)` says it in words, with the
# line. With the clearing, nothing is found:

# %%
print(watched(clear=True))

# %% [markdown]
# ## 11. Find the mistake in this loop
#
# The next loop cuts each batch into pieces, as in section 3. It raises nothing, and it is wrong.
# Run it as it stands, then run the last cell of this section: it draws the ledger of your loop.
# Mend the loop, and draw again, until each step uses what it should. Four backward passes belong
# to a step here: a window of four, which `window=4` tells the ledger.


# %% exercise="2.7"
def train_in_pieces(model, optimizer, loss_fn, batches, pieces):
    """A step for each (x, y), which goes through the model in pieces; returns the losses."""
    ### BEGIN STUB
    losses = []
    for x, y in batches:
        total = 0.0
        for rows, wanted in zip(x.chunk(pieces), y.chunk(pieces), strict=True):
            optimizer.zero_grad()
            loss = loss_fn(model(rows), wanted)
            loss.backward()
            total += loss.item()
        optimizer.step()
        losses.append(total)
    return losses
    ### END STUB
    ### BEGIN SOLUTION
    losses = []
    for x, y in batches:
        optimizer.zero_grad()
        total = 0.0
        for rows, wanted in zip(x.chunk(pieces), y.chunk(pieces), strict=True):
            loss = loss_fn(model(rows), wanted)
            loss.backward()
            total += loss.item()
        optimizer.step()
        losses.append(total)
    return losses
    ### END SOLUTION


# %%
model = small_model()
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
with GradientLedger(window=4) as ledger:
    train_in_pieces(model, optimizer, nn.MSELoss(reduction="sum"), [(x, y), (-x, y)], pieces=4)
ledger.plot()

# %% [markdown]
# ## Optional: how PyTorch stores the first gradient
#
# Nothing here is needed for what follows, and none of it is a promise: it is how PyTorch 2.13
# works inside. Do not build on it.
#
# The first backward has nothing to add to. PyTorch takes the arriving tensor and makes it
# `.grad`: it *steals* it, without copying a number. That is safe when nobody else holds the
# tensor. When somebody does, PyTorch copies it. It also copies when the numbers lie in memory in
# another order than the parameter's.


# %% claims="S0-11 S3-15"
def taken_over(loss_fn, hold=False, shape=(3,)):
    """True when .grad is the memory that arrived, False when it is a copy."""
    w, seen, held = draw(*shape).requires_grad_(), [], []

    def look(arriving):
        seen.append(arriving.data_ptr())
        if hold:
            held.append(arriving)

    w.register_hook(look)
    loss_fn(w).backward()
    return w.grad.data_ptr() == seen[0]


found = {
    "(w**2).sum()": taken_over(lambda w: (w**2).sum()),
    "the same, while a hook holds the gradient": taken_over(lambda w: (w**2).sum(), hold=True),
    "w.sum(), one number seen as three": taken_over(lambda w: w.sum()),
    "rows and columns stored the other way round": taken_over(
        lambda w: (w.t().contiguous() ** 2).sum(), shape=(2, 3)
    ),
}
for case, answer in found.items():
    print(f"{case:<45}taken over: {answer}")
assert list(found.values()) == [True, False, False, False]

# %% [markdown]
# Later gradients are added in place, with exceptions. With `create_graph=True`, backward builds a
# graph of the gradient itself, and a tensor in a graph must not be changed under it: the sum is a
# new tensor. And a *sparse* gradient, which stores only some rows, has no room for an ordinary,
# dense one: when a dense gradient arrives on a sparse one, the sum is a new tensor, too.

# %%
w = torch.tensor([1.0, 2.0, 3.0], **kind, requires_grad=True)
with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # PyTorch warns that .grad and its graph refer to each other
    (w**3).sum().backward(create_graph=True)
    first = w.grad
    (w**3).sum().backward(create_graph=True)
in_a_graph = w.grad is first
w.grad = first = None  # breaks the circle, so that its memory is freed
print("create_graph=True, the same tensor:", in_a_graph)

table = nn.Embedding(4, 2, sparse=True).to(**kind)
table(torch.tensor([1], device=device)).sum().backward()
sparse = table.weight.grad
(table.weight**2).sum().backward()
print("dense onto sparse, the same tensor:", table.weight.grad is sparse)
assert not in_a_graph and sparse.is_sparse and table.weight.grad is not sparse

# %% [markdown]
# One backward call writes into a `.grad` once, with an exception. *Activation checkpointing*
# throws activations away and computes them again during backward. Its older, *reentrant* form
# runs a second backward inside the first. A weight that is used inside and outside is then
# written twice (pytorch/pytorch#81296). The sum is right all the same.

# %%
forms = {
    "no checkpoint": lambda layer, rows: layer(rows),
    "not reentrant": lambda layer, rows: checkpoint(layer, rows, use_reentrant=False),
    "reentrant": lambda layer, rows: checkpoint(layer, rows, use_reentrant=True),
}
writes, gradients = {}, {}
for name, run in forms.items():
    shared, writes[name] = nn.Linear(3, 3, bias=False).to(**kind), 0
    with torch.no_grad():
        shared.weight.copy_(draw(3, 3, seed=90))

    def count(leaf, name=name):
        writes[name] += 1

    shared.weight.register_post_accumulate_grad_hook(count)
    shared(run(shared, draw(2, 3, seed=91).requires_grad_())).sum().backward()
    gradients[name] = shared.weight.grad
    norm = shared.weight.grad.norm().item()
    print(f"{name:<15}writes into .grad: {writes[name]}   norm: {norm:.4f}")
first, *others = gradients.values()
assert list(writes.values()) == [1, 1, 2]
assert all(torch.allclose(first, other) for other in others)

# %% [markdown]
# And a plain leaf tensor, one that is no `nn.Parameter`, brings its gradient along when it is
# copied. If you copy such tensors, look at `.grad`.

# %%
tensor = torch.ones(2, **kind, requires_grad=True)
parameter = nn.Parameter(torch.ones(2, **kind))
for leaf in (tensor, parameter):
    (3 * leaf).sum().backward()
copies = [copy.deepcopy(leaf) for leaf in (tensor, parameter)]
print("gradient in a deepcopy of a plain leaf tensor:", copies[0].grad.tolist())
print("gradient in a deepcopy of a Parameter:        ", copies[1].grad)
assert copies[0].grad.tolist() == [3, 3] and copies[1].grad is None

# %% [markdown]
# ## True or false
#
# Six statements that one meets, some of them in threads of real projects. Commit to each before
# you measure it.
#
# **One: the optimizers.**

# %%
predict("2.k")

# %% [markdown]
# The cell runs a step of every optimizer in the installed `torch.optim`. LBFGS wants a *closure*,
# a function that computes the loss. SparseAdam wants a sparse gradient. Both get what they want.


# %% claims="S0-30 S2-17"
def steps_and_keeps(family):
    """Whether a step moves the parameter, and whether it leaves the gradient as it was."""
    parameter = nn.Parameter(torch.ones(3, 2, device=device))
    filled = torch.full((3, 2), 0.5, device=device)
    optimizer = family([parameter], lr=0.1)
    parameter.grad = filled.to_sparse() if family.__name__ == "SparseAdam" else filled.clone()
    optimizer.step(*([lambda: torch.tensor(1.0)] if family.__name__ == "LBFGS" else []))
    moved = not torch.equal(parameter.detach(), torch.ones_like(parameter))
    return moved, parameter.grad is not None and torch.equal(parameter.grad.to_dense(), filled)


found = {}
for name in sorted(dir(torch.optim)):
    item = getattr(torch.optim, name)
    if isinstance(item, type) and issubclass(item, torch.optim.Optimizer):
        if item is not torch.optim.Optimizer:
            found[name] = steps_and_keeps(item)
print("moved the parameter:", sum(moved for moved, _ in found.values()), "of", len(found))
print("kept the gradient:  ", sum(keeps for _, keeps in found.values()), "of", len(found))
p = nn.Parameter(torch.ones((), device=device))
p.grad = torch.ones((), device=device)
torch.optim.SGD([p], lr=0.1, momentum=0.9, nesterov=True, foreach=True).step()
print(f"SGD with nesterov and foreach: .grad of 1 is {p.grad.item():.1f} after the step")
assert len(found) >= 13 and all(moved for moved, _ in found.values())
compare("2.k", true_or_false(all(keeps for _, keeps in found.values())))

# %% [markdown]
# Clearing is a call that your loop makes. A step of these optimizers does not make it for you.
# With other options a step may still write into `.grad`. Nesterov momentum in its `foreach` form,
# the default on a GPU, leaves the gradient plus a share of the momentum buffer there (PyTorch
# 2.13). So read `.grad` before the step, not after it.
#
# **Two: the sum.**

# %%
predict("2.l")

# %% claims="S2-1"
sums = {}
for dtype in (torch.float64, torch.float32, torch.bfloat16):
    w = torch.ones((), dtype=dtype, device=device, requires_grad=True)
    for _ in range(1000):
        (1 * w).backward()
    sums[dtype] = w.grad.item()
    print(f"{str(dtype):<15} {sums[dtype]:g}")
compare("2.l", true_or_false(abs(sums[torch.bfloat16] - 1000) <= 10))

# %% [markdown]
# The sum is rounded to its dtype at each addition. Between 256 and 512, bfloat16 knows even
# numbers only: 257 is rounded back to 256, again and again. So "no error accumulates, only
# gradients do" depends on the dtype. Lesson 7 keeps such sums in float32.
#
# **Three: pieces of a batch.** The loss is a mean, so each of k equal pieces gets the weight 1/k.

# %%
predict("2.m")


# %%
def cut_error(layer, k):
    """How far the gradient of 64 rows in k pieces lies from that of the whole, and the model."""
    inputs, targets = draw(64, 10, seed=60), draw(64, 2, seed=61)
    models = []
    for pieces in (1, k):
        torch.manual_seed(1)
        parts = (nn.Linear(10, 16), layer(16), nn.Tanh(), nn.Linear(16, 2))
        models.append(nn.Sequential(*parts).to(**kind))
        for rows, wanted in zip(inputs.chunk(pieces), targets.chunk(pieces), strict=True):
            (squared_error(models[-1](rows), wanted) / pieces).backward()
    return apart(flat(models[1]), flat(models[0])), models[1]


print("pieces   BatchNorm   its updates   LayerNorm")
exact = []
for k in (1, 2, 4, 8):
    of_batch, model = cut_error(nn.BatchNorm1d, k)
    of_layer, _ = cut_error(nn.LayerNorm, k)
    exact.append(of_batch < 1e-12)
    updates = model[1].num_batches_tracked.item()
    print(f"{k:>6}   {of_batch:9.4f}   {updates:>11}   {of_layer:9.4f}")
    assert of_layer < 1e-12 and updates == k
compare("2.m", true_or_false(all(exact)))

# %% [markdown]
# BatchNorm normalises each piece by the piece's own mean and variance, so it is another function
# of the weights. LayerNorm looks at one row at a time, and the cut changes nothing. What
# BatchNorm carries from piece to piece are its running statistics, once per forward pass. Lesson
# 6 returns to this; the question is old (pytorch/pytorch#46516).
#
# **Four: Adam.**

# %%
predict("2.n")

# %%
moves = {}
for name, past in (("no past", []), ("three steps the other way", [-1.0] * 3)):
    w = nn.Parameter(torch.zeros((), **kind))
    adam = torch.optim.Adam([w], lr=0.1)
    for old in past:
        w.grad = torch.tensor(old, **kind)
        adam.step()
        adam.zero_grad()
    before = w.item()
    w.grad = torch.tensor(1.0, **kind)
    adam.step()
    moves[name] = w.item() - before
    print(f"{name:<26} the step for a gradient of +1: {moves[name]:+.4f}")
assert moves["no past"] < 0
compare("2.n", true_or_false(moves["three steps the other way"] > 0))

# %% [markdown]
# `.grad` is fresh. The optimizer's own memory is not, and is not meant to be.
#
# **Five: a flag.** *Why does ".backward(retain_graph=True)" give different values each time it is
# called?* asks a thread of 17 September 2020 in the PyTorch forum. Its author filled a *Jacobian*,
# the table of all derivatives of several outputs, row by row from `x.grad`, and got wrong rows. Is
# it the flag?

# %%
predict("2.o")


# %%
def outputs(point):
    return torch.stack([point[0] ** 2, point[0] * point[1], 5 * point[1]])


def rows_of_jacobian(clear):
    """The rows as read from .grad, one backward(retain_graph=True) each."""
    point = torch.tensor([2.0, 3.0], **kind, requires_grad=True)
    rows = []
    for entry in outputs(point):
        if clear:
            point.grad = None
        entry.backward(retain_graph=True)
        rows.append(point.grad.tolist())
    return rows


right = [[4, 0], [3, 2], [0, 5]]  # the derivatives of x**2, x * y and 5 * y at (2, 3)
print("by hand:             ", right)
print("the flag, no clearing:", rows_of_jacobian(clear=False))
print("the flag, clearing:   ", rows_of_jacobian(clear=True))
table = torch.func.jacrev(outputs)(torch.tensor([2.0, 3.0], **kind)).tolist()
print("torch.func.jacrev:    ", table)
assert table == right != rows_of_jacobian(clear=False)
compare("2.o", true_or_false(rows_of_jacobian(clear=True) != right))

# %% [markdown]
# Each row contained the rows above it. The flag is innocent: it keeps the graph for another call.
# `torch.func.jacrev` gives the table without any `.grad`.
#
# **Six: an attack.** An *adversarial attack* changes the input so that the loss grows. It needs
# the gradient of the input, and calls `loss.backward()` for it. Here it runs after the clearing
# and before the training step's own backward.

# %%
predict("2.p")


# %%
def training_gradient(by_backward):
    """What a training step uses, when the attack runs after the clearing."""
    model = small_model()
    model.zero_grad()
    changed = x.clone().requires_grad_()
    loss = squared_error(model(changed), y)
    if by_backward:
        loss.backward()  # fills the gradients of the model, too
        direction = changed.grad
    else:
        (direction,) = torch.autograd.grad(loss, changed)
    squared_error(model((changed + 0.1 * direction.sign()).detach()), y).backward()
    return flat(model)


polluted, clean = training_gradient(True), training_gradient(False)
cosine = torch.cosine_similarity(polluted, clean, dim=0).item()
print(
    f"length with the attack's gradient in it {polluted.norm().item():.4f}, "
    f"without {clean.norm().item():.4f}; cosine {cosine:.4f}"
)
compare("2.p", true_or_false(polluted.norm() < clean.norm()))

# %% [markdown]
# The attack moves the input uphill, but what it sends backward is the loss that training lowers:
# nearly the same gradient once more. So the direction hardly changes here, and the step grows as
# with a larger learning rate: easy to overlook. Users asked about it in
# BorealisAI/advertorch#113 and P2333/Bag-of-Tricks-for-AT#8. Asking `torch.autograd.grad` for the
# input's gradient alone avoids it.
#
# ## Summary
#
# | question | answer | shown in |
# |---|---|---|
# | What is in `.grad`? | The sum of all backward calls since the last clearing, signs included, rounded to its dtype | 1, true or false |
# | Does a later backward make a new tensor? | It adds in place to the one that is there; two exceptions stand in the optional section | 1 |
# | Who empties it? | Your loop: no step does it for you | 1, true or false |
# | A weight used several times? | Its contributions are added first; `.grad` is written once | 2 |
# | Why is adding useful? | Several losses and several micro-batches, with one graph alive at a time | 3 |
# | Gradients without accumulation? | `torch.autograd.grad`, `torch.func.grad`; per sample with `vmap` or a loop | 4, 5 |
# | What does the sum hide? | How the samples disagree; `X.T @ G` is a sum over them | 5 |
# | What does `zero_grad()` leave? | Weights, momentum, BatchNorm's statistics | 6 |
# | When does BatchNorm update? | Once per forward pass in training mode, no backward needed | 6 |
# | Where does a gradient live? | On the parameter: one slot, whoever holds the parameter | 7 |
# | Does it travel with the model? | With `.float()` and `.to(dtype)`; not in a saved `state_dict()`, not in a `deepcopy` | 7 |
# | What does an engine need? | The slopes, an order in which users come before operands, and `+=` | 8, 9 |
#
# ## What comes next
#
# You know what the ledger holds and why it adds up. Lesson 3 is about wiping it:
# `optimizer.zero_grad()`, `model.zero_grad()` and their relatives, the difference between `None`
# and 0, and what each costs. Lesson 4 finds the legal places for it in the loop. Lesson 5 returns
# to the line that was taken out: why it helped at first. Lesson 6 uses accumulation on purpose.

# %%
progress(2)
