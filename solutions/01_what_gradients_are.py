# %% [markdown]
# # What gradients are
#
# A gradient is a measurement. It says how much a loss moves when one weight moves a little. In
# this lesson you measure gradients first, then derive them by hand, then let PyTorch compute
# them. At the end you know what a gradient says, what it does not say, where it is kept, who
# turns it into a step, and how to find the place where it got lost.
#
# What you will be able to do:
#
# - measure any gradient with a few calls of a function, and say how far to trust the result
# - derive a gradient by hand with the chain rule
# - say where a gradient is kept, when it is `None`, and who can use it
# - tell the gradient apart from the step that an optimizer makes of it
# - take a gradient back through two layers, station by station
# - read the graph that PyTorch records, and build a tool that finds where it was cut
#
# You need Python and a little calculus: the slope of $x^2$ is $2x$. What you need beyond that
# is explained where it is first used.

# %%
import warnings

import torch
from torch import nn

from course_utils.data import digits
from course_utils.lessons.lesson1 import figures
from course_utils.lessons.lesson1.deliveries import deliveries
from course_utils.lessons.measured import closest, sig, true_or_false
from course_utils.widgets import expression_graph, loss_surface

f64 = torch.float64  # about 16 digits; PyTorch's default, float32, has about 7

# %% [markdown]
# ## First, a network that reads digits
#
# Here are 1797 digits, written by hand, as pictures of 8 by 8 pixels. A network of two layers
# turns the 64 grey values of a picture into 10 scores, one for each digit; the highest score is
# what it reads. It is trained on 1500 of them in 200 steps and tested on the other 297. You
# need not know yet what each line does.

# %%
data = digits()


class Network(nn.Module):
    def __init__(self, change=None):
        super().__init__()
        torch.manual_seed(0)  # the same weights at the start, every time
        self.first, self.second = nn.Linear(64, 16), nn.Linear(16, 10)
        self.change = change  # something that is done to the values in the middle

    def forward(self, x):
        middle = torch.tanh(self.first(x))
        if self.change:
            middle = self.change(middle)
        return self.second(middle)


def train(network, steps=200):
    """Train in place; the loss of every step."""
    optimizer = torch.optim.SGD(network.parameters(), lr=0.5)
    losses = []
    for _ in range(steps):
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(network(data.x), data.y)
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return losses


def share_right(network):
    """The share of the test digits that the network reads right."""
    return (network(data.x_test).argmax(1) == data.y_test).float().mean().item()


# %%
network = Network()
print(f"before training: {share_right(network):.0%} of the test digits are right")
losses = train(network)
print(f"loss {losses[0]:.3g} -> {losses[-1]:.3g}, and {share_right(network):.0%} are right")
figures.read_digits(data, network)

# %% [markdown]
# That took 200 steps. Now somebody wants to look at the values in the middle, writes
# `.detach()` behind them, as one does before a plot, and forgets it there. The values stay the
# same, bit for bit, and no other line is touched.

# %%
predict("1.0")

# %%
whole, changed = Network(), Network(change=lambda middle: middle.detach())
same_scores = torch.equal(whole(data.x), changed(data.x))
before = changed.first.weight.detach().clone()
runs = {"as it was": train(whole), "with .detach()": train(changed)}

print("the same scores before training, bit for bit:", same_scores)
for name, net in (("as it was", whole), ("with .detach()", changed)):
    print(f"{name:<15} last loss {runs[name][-1]:.3g}, {share_right(net):.0%} are right")
moved = not torch.equal(before, changed.first.weight)
print("the first layer has moved:", moved, "  its gradient:", changed.first.weight.grad)
sizes = [sum(p.numel() for p in layer.parameters()) for layer in (changed.first, changed.second)]
print("weights in the two layers:", sizes)
figures.training_losses(runs)
compare("1.0", closest(share_right(changed), b=0.1, c=0.75, d=share_right(whole)))

# %% [markdown]
# Nothing was raised, the loss falls, and nearly three digits of four are read right: it looks
# like a network that needs more training. Yet its first layer, which holds most of its weights,
# has never moved. Its gradient is `None`.
#
# Many mistakes with gradients are like this. To see them you must know what a gradient is,
# where it lives, and by which way it comes there. In the last exercise you build a tool that
# finds this `.detach()`, and ones that hide better.

# %% [markdown]
# ## 1. A gradient is a measured slope
#
# Something smaller, in which every number can be followed: 24 deliveries by bicycle. For each
# you know the distance in kilometres and the time in minutes. A *tensor* is PyTorch's grid of
# numbers; `km` and `minutes` are tensors with 24 entries each.
#
# The model predicts the minutes as pace times kilometres plus start. The `pace` (minutes per
# kilometre) and the `start` (minutes before the wheels turn) are *weights*: numbers that
# training may change. The *loss* is one number that says how bad the predictions are. Here it
# is the mean of the squared errors, so its unit is minutes squared:
#
# $$
# \text{loss} = \frac{1}{24}\sum_{i=1}^{24}
# \big(\text{pace}\cdot\text{km}_i + \text{start} - \text{minutes}_i\big)^2
# $$
#
# A tensor with a single number and no axes, like this loss, is a *scalar*, or 0-d.

# %%
km, minutes = deliveries()


def delivery_loss(pace, start=6.0, distance=km):
    """Mean squared error of the delivery model, in minutes squared."""
    return (pace * distance + start - minutes).square().mean()


print("three deliveries:", sig(km[:3]), "km took", sig(minutes[:3]), "minutes")
print("loss at pace 2:  ", sig(delivery_loss(2.0)), "minutes squared")
print("loss at pace 2.1:", sig(delivery_loss(2.1)), "minutes squared")

# %% [markdown]
# The loss is *sensitive* to the pace: you moved one, and the other moved. Keep `start` where it
# is, and make the move smaller and smaller. Say first what you expect.

# %%
predict("1.a")

# %%
changes = {}
print("move of pace   change of loss   change / move")
for move in (1.0, 0.1, 0.01, 0.001, 0.0001):
    changes[move] = (delivery_loss(2.0 + move) - delivery_loss(2.0)).item()
    print(f"{move:<12g}   {sig(changes[move]):>14}   {sig(changes[move] / move):>13}")

shrink = changes[0.1] / changes[0.001]
print(f"\na move 100 times smaller changed the loss {shrink:.0f} times less")
compare("1.a", closest(shrink, a=10, b=100, c=10_000))

# %% [markdown]
# The change itself shrinks to nothing. The last column does not: it settles. The number it
# settles at is the **gradient** of the loss with respect to `pace`, at pace 2:
#
# $$
# \frac{\partial\,\text{loss}}{\partial\,\text{pace}} = \lim_{\text{move}\to 0}
# \frac{\text{loss}(\text{pace}+\text{move}) - \text{loss}(\text{pace})}{\text{move}}
# $$
#
# Read it with its unit, minutes squared per (minute per kilometre). The minus sign says that
# the loss falls when the pace rises. The size says how steeply, for small moves. With several
# weights there is one such number for each, and the word gradient means all of them together,
# in the shape of the weights.
#
# PyTorch computes this number too. You mark the weight with `requires_grad=True`, compute the
# loss, and call `backward()` on it. The part of PyTorch that does this is called *autograd*.
#
# > **Fact.** `loss.backward()` puts a gradient into the weight's `.grad`, if that was empty
# > before: here it is the slope that the shrinking moves settle at. If something stood there,
# > the gradient is added to it.

# %%
pace = torch.tensor(2.0, dtype=f64, requires_grad=True)
delivery_loss(pace).backward()
measured = (delivery_loss(2.0 + 1e-6) - delivery_loss(2.0)) / 1e-6
first = pace.grad.clone()
print("autograd:            ", sig(first))
print("measured, move 1e-6: ", sig(measured))

delivery_loss(pace).backward()
print("after a second one:  ", sig(pace.grad), "- lesson 2 is about this")
assert abs(measured - first) < 1e-4 and torch.equal(pace.grad, 2 * first)

# %% [markdown]
# On a picture the gradient is the slope of the line that touches the curve. A line through two
# points of the curve comes close to it when the points come close to each other.

# %%
pace = torch.tensor(2.0, dtype=f64, requires_grad=True)
delivery_loss(pace).backward()
figures.touching_line(delivery_loss, at=2.0, slope=pace.grad.item(), far=(3.5, 2.5))

# %% [markdown]
# Now write the same distances in metres. The same predictions then need a pace of 0.002 minutes
# per metre. The deliveries are the same, and so is the loss.

# %%
predict("1.b")

# %%
pace = torch.tensor(2.0, dtype=f64, requires_grad=True)
pace_per_metre = torch.tensor(0.002, dtype=f64, requires_grad=True)
loss = delivery_loss(pace)
loss_in_metres = delivery_loss(pace_per_metre, distance=1000 * km)
loss.backward()
loss_in_metres.backward()
ratio = (pace_per_metre.grad / pace.grad).item()

print("loss:    ", sig(loss), "in kilometres,", sig(loss_in_metres), "in metres")
print("gradient:", sig(pace.grad), "in kilometres,", sig(pace_per_metre.grad), "in metres")
print(f"ratio of the gradients: {ratio:.0f}")
compare("1.b", closest(ratio, a=1, b=0.001, c=1000))

# %% [markdown]
# A gradient has a unit. The weight became 1000 times smaller, and its gradient 1000 times
# larger. So the size of a gradient does not say how important a weight is, nor how far it
# stands from its best value. It says how steep the loss is *per unit of this weight*.
#
# ### How large is the move?
#
# You can measure the slope of a function of one number with two calls of it. The *forward
# difference* moves one way, the *central difference* both ways:
#
# $$
# \text{forward: } \frac{f(x+h)-f(x)}{h} \qquad\qquad
# \text{central: } \frac{f(x+h)-f(x-h)}{2h}
# $$
#
# In the limit of calculus both give the slope.

# %%
predict("1.c")

# %%
points = torch.linspace(-2.0, 2.0, 101, dtype=f64)


def error(h, dtype=f64, central=True):
    """Typical (median) error of a numerical slope of exp(sin(x)), over 101 points."""
    x = points.to(dtype)
    up, here, down = (torch.exp(torch.sin(x + move)) for move in (h, 0, -h))
    estimate = (up - down) / (2 * h) if central else (up - here) / h
    slope = torch.cos(x.double()) * torch.exp(torch.sin(x.double()))
    return (estimate.double() - slope).abs().median().item()


errors = {power: error(10.0**-power) for power in range(1, 13)}
print("h        central, float64   central, float32")
for power, found in errors.items():
    print(f"1e-{power:02d}    {found:>16.0e}   {error(10.0**-power, torch.float32):>16.0e}")

compare("1.c", closest(errors[12] / errors[6], a=1e-12, b=1e6, c=1))
figures.difference_errors(error)

# %% [markdown]
# Two errors work against each other. *Truncation* is the error of the formula: a curve is not a
# line. It shrinks with `h`, with $h^2$ for the central difference and with $h$ for the forward
# one. *Rounding* is the error of the numbers: `f(x + h)` and `f(x - h)` agree in nearly all
# their digits, the difference keeps the few that are left, and the division by a small `h`
# blows their error up. It grows as `h` shrinks, until `x + h` and `x - h` are the same number:
# then the slope reads 0, and the error is the whole slope.
#
# So for this function there is a best `h`, and it is not tiny. float32 has fewer digits and
# needs a *larger* one.
#
# ### The judge, and what it costs
#
# The central difference has one great virtue: it knows nothing about derivatives. That makes it
# the judge of everyone who claims to know them. PyTorch ships this measurement as
# `torch.autograd.gradcheck`. Below it judges a rule written by hand: a `Function` has a `forward`
# for the value, and a `backward` that multiplies what arrives (`incoming`) by the slope. Why it
# multiplies is the next section.
#
# > **Fact.** `gradcheck` compares a derivative rule with central differences, at the points you
# > give it: here it accepts the right rule and refuses the wrong one.


# %%
class Square(torch.autograd.Function):
    """x**2 with a derivative rule of our own: `factor * x`. Right when the factor is 2."""

    @staticmethod
    def forward(ctx, x, factor):
        ctx.save_for_backward(x)
        ctx.factor = factor
        return x**2

    @staticmethod
    def backward(ctx, incoming):
        (x,) = ctx.saved_tensors
        return incoming * ctx.factor * x, None  # nothing for the factor


probe = torch.linspace(-1.0, 1.0, 4, dtype=f64, requires_grad=True)
verdicts = {}
for factor in (2, 1):
    verdicts[factor] = torch.autograd.gradcheck(
        Square.apply, (probe, factor), raise_exception=False
    )
    print(f"rule {factor} * x: gradcheck says", verdicts[factor])
assert verdicts == {2: True, 1: False}

# %% [markdown]
# Then why does hardly anybody train with central differences? Count how often `gradcheck` calls
# the function, and how often autograd does.

# %%
calls = 0


def counted(x):
    global calls
    calls += 1
    return torch.exp(torch.sin(x)).mean()


def calls_of_gradcheck(size):
    """How often the function is called to check the gradient of `size` weights."""
    global calls
    calls = 0
    weights = torch.linspace(-1.0, 1.0, size, dtype=f64, requires_grad=True)
    torch.autograd.gradcheck(counted, weights)
    return calls


per_weight = (calls_of_gradcheck(200) - calls_of_gradcheck(100)) / 100
print("calls for each further weight, central difference:", sig(per_weight))

calls = 0
counted(torch.linspace(-1.0, 1.0, 200, dtype=f64, requires_grad=True)).backward()
print("calls for the gradient of 200 weights, autograd:  ", calls, "and one backward pass")

# %%
quiz("1.q1")

# %% [markdown]
# Now write that judge yourself, for any number of weights. Two questions decide whether it is
# right. Which entries move while you measure one of them? And who else holds the tensor you
# move?
#
# A tensor has a *dtype*, the kind of its numbers, and a *device*, the processor that holds it;
# `torch.zeros_like(x)` takes over both. A transposed tensor keeps its numbers where they were in
# memory: in general it is not *contiguous*. `reshape` makes any tensor flat, and copies where it
# must. `view` never copies: where it would have to, it raises.


# %% exercise="1.1"
def numerical_gradient(f, x, h=1e-5):
    """The gradient of `f` at `x` by central differences: same shape, dtype and device as `x`."""
    ### BEGIN SOLUTION
    flat = x.detach().reshape(-1)
    entries = torch.zeros_like(flat)
    for i in range(flat.numel()):
        up, down = flat.clone(), flat.clone()
        up[i] += h
        down[i] -= h
        entries[i] = (f(up.reshape(x.shape)) - f(down.reshape(x.shape))).item() / (2 * h)
    return entries.reshape(x.shape)
    ### END SOLUTION


# %% [markdown]
# ## 2. The chain rule
#
# A loss is computed in steps. Think of *stations* on a line: each takes the numbers of the one
# before and hands on its own. Each station has a *local slope*: how its output moves when its
# input moves a little. Local slopes are easy. The chain rule says how to combine them.
#
# Along one line you multiply. If `u` moves 4 times as fast as `x`, and the loss moves 6 times
# as fast as `u`, then the loss moves 24 times as fast as `x`. But often one number reaches the
# loss along two lines. Take $u = x^2$, $v = 3x$, and $\text{loss} = u \cdot v$, at $x = 2$. The
# cell below measures the slope of each station alone.


# %%
def slope(f, at, h=1e-5):
    """The slope of `f` at a number, by a central difference."""
    return (f(at + h) - f(at - h)) / (2 * h)


slopes = {
    ("x", "u"): slope(lambda x: x**2, 2.0),
    ("x", "v"): slope(lambda x: 3 * x, 2.0),
    ("u", "loss"): slope(lambda u: u * 6, 4.0),  # v stays at 6
    ("v", "loss"): slope(lambda v: 4 * v, 6.0),  # u stays at 4
}
through = {name: slopes["x", name] * slopes[name, "loss"] for name in "uv"}
for name in "uv":
    first, second = slopes["x", name], slopes[name, "loss"]
    print(f"along the line through {name}: {first:.4g} * {second:.4g} = {through[name]:.4g}")

# %%
predict("1.d")

# %%
x = torch.tensor(2.0, dtype=f64, requires_grad=True)
u, v = x**2, 3 * x
(u * v).backward()

whole = slope(lambda x: x**2 * (3 * x), 2.0)
print(f"all at once, measured: {whole:.4g}    autograd: {x.grad:.4g}")
steeper, both, product = max(through.values()), sum(through.values()), through["u"] * through["v"]
compare("1.d", closest(whole, a=steeper, b=both, c=product))
figures.two_lines(slopes, {"x": 2, "u": 4, "v": 6, "loss": 24})

# %% [markdown]
# Along one line the local slopes multiply. Where several lines meet in one number, their
# products add. That is the whole chain rule:
#
# $$
# \frac{\partial\,\text{loss}}{\partial x} = \sum_{\text{lines from } x \text{ to the loss}}\
# \prod_{\text{stations on the line}} \text{local slope}
# $$
#
# `backward()` applies it from the loss backwards, along the lines that were recorded, and
# stores what arrives at the weights.
#
# ### By hand, for one weight
#
# Back to the deliveries, with `start` at 6. The stations are: prediction, residual, loss. A
# *residual* is a prediction minus its target: $r_i = \text{pace}\cdot\text{km}_i + 6 -
# \text{minutes}_i$. The loss is the mean of $r_i^2$ over the 24 rows.
#
# - From one residual to the loss, the local slope is $2 r_i / 24$: the slope of a square, and
#   the share that one row has in a mean.
# - From the pace to that residual, the local slope is $\text{km}_i$.
# - The pace reaches the loss through all 24 residuals. So: multiply along each line, and add
#   the lines.

# %%
km, minutes = deliveries()
pace = torch.tensor(2.0, dtype=f64, requires_grad=True)
(pace * km + 6 - minutes).square().mean().backward()

residual = 2.0 * km + 6 - minutes
lines = (2 * residual / 24) * km
print("the first three lines:", sig(lines[:3]))
print("all 24 added:         ", sig(lines.sum()))
print("autograd:             ", sig(pace.grad))
print("equal to 12 decimals: ", torch.allclose(lines.sum(), pace.grad, rtol=0, atol=1e-12))

# %% [markdown]
# For several weights there is one more thing to keep in mind: shapes. PyTorch *broadcasts*:
# where one of two shapes has length 1 in a place, or no such place, it repeats entries until
# they fit. That is handy, and it can hide a mistake.
#
# > **Fact.** A column of shape `(n, 1)` minus a vector of shape `(n,)` raises nothing. It gives
# > all `n * n` differences.

# %%
targets = torch.tensor([1.0, 2.0, 3.0], dtype=f64)
column = targets.clone().reshape(3, 1)  # predictions that are exactly right, but as a column
difference = column - targets
print(tuple(column.shape), "minus", tuple(targets.shape), "gives", tuple(difference.shape))
print("loss of perfect predictions, as a column:  ", sig(difference.square().mean()))
print(
    "the same predictions in the targets' shape:", sig((column[:, 0] - targets).square().mean())
)
assert difference.shape == (3, 3)

# %% [markdown]
# The next one is for paper first. `x` now has one column a weight, and `x @ w` multiplies each
# row by the weights and adds: the predictions, shape `(n,)`. Write the local slopes for entry
# `j` of `w`, as above. Then find the one matrix product that does all the adding at once; its
# result has the shape of `w`.


# %% exercise="1.2"
def linear_mse_gradient(w, x, y):
    """The gradient of `mean((x @ w - y)**2)` for `w`. Shapes: `w (d,)`, `x (n, d)`, `y (n,)`."""
    ### BEGIN SOLUTION
    residual = x @ w - y
    return 2 / len(y) * (x.T @ residual)
    ### END SOLUTION


# %% [markdown]
# ## 3. The graph that autograd records
#
# To go back from the loss, autograd must know the way. It writes the way down while you compute
# forward. Each recorded operation becomes a *node*, and points at the nodes whose results it
# used. All of them together are the *graph*. A tensor's own node is its `grad_fn`; a node's
# `next_functions` are the nodes one step further from the loss. A tensor that no recorded
# operation made is a *leaf*: there the way ends.
#
# Here are four ways to compute twice a weight, each with the same value.


# %%
km, minutes = deliveries()


def delivery_loss(pace, start):
    """Mean squared error of the delivery model, in minutes squared."""
    return (pace * km + start - minutes).square().mean()


def recorded(w):
    return w * 2


def detached(w):
    return (w * 2).detach()


def through_item(w):
    return w.item() * 2  # .item() makes a Python number


def without_recording(w):
    with torch.no_grad():
        return w * 2


w = torch.tensor(1.5, dtype=f64, requires_grad=True)
for way in (recorded, detached, through_item, without_recording):
    value = torch.as_tensor(way(w))  # a Python number becomes a tensor, too
    node = value.grad_fn
    print(f"{way.__name__:<18} value {value.item()}   node: {node and node.name()}")

# %% [markdown]
# The first is recorded, the other three are not. Now the loss is `5 * w` plus that value.

# %%
predict("1.e")

# %%
complaints = 0
for way in (recorded, detached, through_item, without_recording):
    w = torch.tensor(1.5, dtype=f64, requires_grad=True)
    loss = 5 * w + way(w)
    said = "no complaint"
    try:
        loss.backward()
    except RuntimeError as caught:
        complaints += 1
        said = str(caught)
    print(f"{way.__name__:<18} loss {loss.item():.4g}   gradient {w.grad:.4g}   {said}")

h = 1e-5
true_slope = (5 * (1.5 + h) + 2 * (1.5 + h) - 5 * (1.5 - h) - 2 * (1.5 - h)) / (2 * h)
print(f"the slope, measured by moving w: {true_slope:.4g}")
compare("1.e", closest(complaints, a=3, b=1, c=0))

# %% [markdown]
# Every loss is the same, nothing is raised, and three gradients of four are wrong. Autograd
# gives the slope of what was *recorded*, and does not know that there was more.
#
# > **Fact.** `detach()`, `item()` and `torch.no_grad()` cut the graph. `backward()` refuses
# > where it cannot walk, as in the four loud cases below. That a line is missing it does not
# > notice: a weight whose every line was cut just keeps what stood in its `.grad`, here `None`.

# %%
w = torch.tensor(1.5, dtype=f64, requires_grad=True)
other = torch.tensor(1.0, dtype=f64, requires_grad=True)
(detached(w) + other).backward()
print(
    "all lines to w are cut, and nothing is raised: w has", w.grad, "the other", sig(other.grad)
)


def overwritten(leaf):
    kept = torch.exp(leaf)  # its slope is its own value, so that value is kept for the way back
    kept.add_(1)
    return kept


once = torch.exp(w)
once.backward()
loud = {
    "no graph at all": lambda: detached(w).backward(),
    "a loss of three numbers": lambda: (w * torch.ones(3)).backward(),
    "a graph that was freed": lambda: once.backward(),
    "a kept value overwritten": lambda: overwritten(w).backward(),
}
for what, go_back in loud.items():
    try:
        go_back()
        raise AssertionError(f"{what} raised nothing")
    except RuntimeError as caught:
        print(f"{what:<25} raises: {str(caught)[:40]}...")
assert other.grad == 1

# %% [markdown]
# Cutting is often what you want: for a target that must not move, or a number that goes into a
# log. It is a mistake only where a gradient should have passed.
#
# ### Read the graph
#
# You can walk it yourself, from the loss to the leaves. This is the graph of the delivery loss
# with both weights.


# %%
def walk(node, depth=0):
    """Print the nodes from the loss to the leaves."""
    print("   " * depth + node.name().split("::")[-1])
    for below, _ in node.next_functions:
        if below is not None:
            walk(below, depth + 1)


pace = torch.tensor(2.0, dtype=f64, requires_grad=True)
start = torch.tensor(6.0, dtype=f64, requires_grad=True)
loss = delivery_loss(pace, start)
walk(loss.grad_fn)
figures.recorded_graph(loss, {"pace": pace, "start": start})

# %% [markdown]
# Read it from the top, against the direction of the computation: mean, square (PyTorch calls it
# a power), minus the minutes, plus the start, times the kilometres. `AccumulateGrad` is the
# node at a leaf. It hands the gradient over to `.grad`, and its name says how: it accumulates,
# which is the subject of lesson 2.
#
# `km` and `minutes` do not appear. They are data, nobody asked for their gradient.
#
# > **Fact.** A tensor that a recorded operation made, or changed in place, has a `grad_fn` and
# > is no leaf. All others are leaves, without a `grad_fn`: weights, data, and what `detach()`
# > returns. Only those that require gradients are on the graph.

# %%
pace = torch.tensor(2.0, dtype=f64, requires_grad=True)
prediction = pace * km + 6
tensors = {"pace": pace, "km": km, "prediction": prediction, "detached": prediction.detach()}
print("            is_leaf   requires_grad   has a grad_fn")
for name, tensor in tensors.items():
    has_node = tensor.grad_fn is not None
    print(f"{name:<10}  {tensor.is_leaf!s:<8}  {tensor.requires_grad!s:<14}  {has_node}")
    assert tensor.is_leaf != has_node
assert [t.requires_grad for t in tensors.values()] == [True, False, True, False]

# %% [markdown]
# `backward()` frees the values that the graph had kept for it. Where there were any, as here, a
# second call through the same graph raises. Each forward pass records a new graph.

# %%
pace = torch.tensor(2.0, dtype=f64, requires_grad=True)
loss = delivery_loss(pace, 6.0)
loss.backward()
try:
    loss.backward()
    second = "went through"
except RuntimeError as caught:
    second = "raised, and speaks of freed values" if "freed" in str(caught) else str(caught)
print("a second backward through the same graph", second)
new = delivery_loss(pace, 6.0)
print("a new forward pass has a new graph:", new.grad_fn is not loss.grad_fn)

# %% [markdown]
# The explorer below draws the graph that PyTorch recorded and walks the backward pass station
# by station, with the local slope on every edge.
#
# **Try it.** Put the expression of section 2 in: `expression_graph("x**2 * (3 * x)", {"x":
# 2.0})`. In which order do the stations get their gradient, and when is that of `x` complete?
#
# <details><summary>What you see</summary>
#
# The product comes first, then the two stations below it. They send 12 and 24 to `x`, and
# `x.grad` is written once, when both have arrived: 36.
#
# </details>

# %%
expression_graph()

# %%
quiz("1.q2")

# %% [markdown]
# ## 4. Where a gradient lives
#
# A forward pass touches many tensors: the data, the weights, the values in between, the loss.
# Take one of each: `x` is data, `w` is a weight, `h = w * x` lies in between, and `loss = (h -
# 1)**2`.

# %%
x = torch.tensor(3.0, dtype=f64)
w = torch.tensor(0.5, dtype=f64, requires_grad=True)
h = w * x
loss = (h - 1) ** 2
print("the loss is", sig(loss), "  w.grad before any backward:", w.grad)

# %% [markdown]
# Then `loss.backward()` runs through all of it.

# %%
predict("1.f")

# %%
x = torch.tensor(3.0, dtype=f64)
w = torch.tensor(0.5, dtype=f64, requires_grad=True)
h = w * x
loss = (h - 1) ** 2
loss.backward()

with warnings.catch_warnings(record=True) as caught:  # reading .grad in between warns
    warnings.simplefilter("always")
    held = {name: tensor.grad for name, tensor in {"x": x, "w": w, "h": h, "loss": loss}.items()}
for name, gradient in held.items():
    print(f"{name:<5} .grad is", gradient if gradient is None else sig(gradient))
print(len(caught), "warnings about a .grad that was read of a tensor that is no leaf")
holders = "".join(name for name, gradient in held.items() if gradient is not None)
compare("1.f", {"w": "a", "whloss": "b"}.get(holders, "c"))

# %% [markdown]
# > **Fact.** `.grad` begins as `None`: not zero, but nothing at all. Of the tensors that
# > `backward()` runs through, those get one that are leaves and require gradients, and those
# > that were told to keep theirs by `retain_grad()`.

# %%
w = torch.tensor(0.5, dtype=f64, requires_grad=True)
h = w * 3.0
h.retain_grad()
((h - 1) ** 2).backward()
print("h keeps its gradient now:", sig(h.grad), " and w has", sig(w.grad), "= that times 3")
assert w.grad == 3 * h.grad

try:
    torch.tensor(0.5, requires_grad=True).grad.zero_()
except AttributeError as caught:
    print("zeroing what is not there:", caught)

# %% [markdown] claims="S2-2 S1-22"
# In a real model the weights are *parameters*: `nn.Parameter` objects that a *module* (a layer,
# a model) holds. A module may also hold *buffers*, tensors that are usually saved with it but
# get no gradients, such as the running mean of a normalisation layer. Its `state_dict()` is the
# dictionary of all that is saved. An *optimizer* is what will change the parameters later. So
# there are many places where gradients could be.
#
# Below, `nn.Linear(2, 3)` is a layer from 2 inputs to 3 outputs, `nn.Sequential` runs layers
# one after the other, `.double()` turns their parameters into float64, and the 8 rows that go
# through together are a *batch*.
#
# > **Fact.** A gradient is a tensor of its own, attached to its parameter. It is neither in the
# > parameter's values nor in the `state_dict`, nor in a fresh optimizer, which holds references
# > to the parameters.

# %%
torch.manual_seed(0)
model = nn.Sequential(nn.Linear(2, 3), nn.BatchNorm1d(3), nn.Linear(3, 1)).double()
optimizer = torch.optim.Adam(model.parameters(), lr=0.1)
model(torch.randn(8, 2, dtype=f64)).square().mean().backward()

weight, listed = model[0].weight, optimizer.param_groups[0]["params"]
named = [*model.named_parameters(), *model.named_buffers()]
facts = {
    "the gradient has the shape of its parameter": weight.grad.shape == weight.shape,
    "it shares no memory with the values": weight.grad.data_ptr() != weight.data_ptr(),
    "the state_dict holds parameters and buffers, nothing more": (
        set(model.state_dict()) == {name for name, _ in named}
    ),
    "the optimizer lists the very parameter objects": (
        all(one is other for one, other in zip(listed, model.parameters(), strict=True))
    ),
    "before its first step it has kept nothing of its own": len(optimizer.state) == 0,
    "no buffer has a gradient": all(buffer.grad is None for buffer in model.buffers()),
}
for statement, holds in facts.items():
    print(f"{statement}: {holds}")
assert all(facts.values())
figures.where_gradients_live(model, optimizer)

del optimizer, listed
print("the optimizer is gone, the gradient is still there:", weight.grad is not None)

# %% [markdown]
# `backward()` *stores*. There is another call that *returns*: `torch.autograd.grad(loss,
# tensors)` gives the gradients of all these tensors in a tuple.
#
# > **Fact.** `torch.autograd.grad` leaves the `.grad` of every leaf as it was; only a tensor
# > that was told to `retain_grad()` gets one. It raises, by default, when the loss does not use
# > one of the tensors.

# %%
w = torch.tensor([1.0, 2.0], dtype=f64, requires_grad=True)
idle = torch.tensor(1.0, dtype=f64, requires_grad=True)
w.grad = torch.tensor([70.0, 80.0], dtype=f64)
(returned,) = torch.autograd.grad(w.square().sum(), [w])
print("returned:", sig(returned), "  .grad as it was:", sig(w.grad), "and", idle.grad)
try:
    torch.autograd.grad(w.square().sum(), [w, idle])
    raised = "nothing"
except RuntimeError as caught:
    raised = str(caught)
print("a tensor that the loss does not use:", raised[:36])
print("allowed:", torch.autograd.grad(w.square().sum(), [idle], allow_unused=True))
assert w.grad.tolist() == [70, 80] and idle.grad is None and raised != "nothing"

h = w * 3
h.retain_grad()
torch.autograd.grad(h.sum(), [w])
print("told to keep its own: h has", sig(h.grad), "  and w still", sig(w.grad))
assert h.grad.tolist() == [1, 1] and w.grad.tolist() == [70, 80]

# %%
quiz("1.q3")

# %% [markdown]
# In the next exercise somebody else's gradients may already stand in `.grad`, and you must not
# disturb them. Frozen parameters (`requires_grad` is `False`), unused ones and *tied* ones (one
# parameter used in two places) are part of the game. `model.named_parameters()` gives pairs of
# name and parameter.


# %% exercise="1.3"
def parameter_gradients(model, loss_fn, x, y):
    """{name: gradient} of `loss_fn(model(x), y)` for this batch; `.grad` stays as it was."""
    ### BEGIN SOLUTION
    parameters = {name: p for name, p in model.named_parameters() if p.requires_grad}
    loss = loss_fn(model(x), y)
    gradients = torch.autograd.grad(loss, list(parameters.values()), allow_unused=True)
    return {
        name: torch.zeros_like(p) if gradient is None else gradient
        for (name, p), gradient in zip(parameters.items(), gradients, strict=True)
    }
    ### END SOLUTION


# %% [markdown]
# > **Pause.** A good place to stop for the day: what follows begins afresh. Tomorrow, run the
# > first two code cells of the notebook and go on here. Your points are kept.

# %% [markdown]
# ## 5. The gradient points uphill, the optimizer decides the step
#
# With two weights the gradient has two entries, so it is an arrow on the map of pace and start.
# Where does it point?
#
# > **Fact.** Of all directions on the map, drawn in these units, a small move raises the loss
# > most along the gradient, and lowers it most against it.

# %%
km, minutes = deliveries()


def delivery_loss(weights):
    """The delivery loss of `weights = [pace, start]`."""
    return (weights[0] * km + weights[1] - minutes).square().mean()


def gradient_at(weights):
    """The gradient of the delivery loss there."""
    leaf = weights.detach().clone().requires_grad_()
    return torch.autograd.grad(delivery_loss(leaf), leaf)[0]


here = torch.tensor([2.0, 7.0], dtype=f64)
angles = torch.arange(360, dtype=f64).deg2rad()
small_moves = 1e-4 * torch.stack([angles.cos(), angles.sin()], dim=1)
heights = torch.stack([delivery_loss(here + move) for move in small_moves])
up, down = heights.argmax().item(), heights.argmin().item()

gradient = gradient_at(here)
angle = torch.atan2(gradient[1], gradient[0]).rad2deg().item() % 360
print(f"of 360 small moves the loss rises most at {up} degrees and falls most at {down}")
print(f"the gradient {sig(gradient)} points at {angle:.1f} degrees")
assert abs(up - angle) < 1 and abs(down + 180 - angle) < 1

# %% [markdown]
# So the gradient points uphill. *Gradient descent* goes the other way. The *learning rate* `lr`
# is a number that you choose:
#
# $$\text{weight} \leftarrow \text{weight} - \text{lr}\cdot\text{gradient}$$
#
# PyTorch calls this rule SGD. *Adam* is another optimizer: it reads the same `.grad`, and has a
# rule of its own. Take the loss `100 * a + 1 * b + 0.01 * c`, and hand each of the two its
# gradient, `[100, 1, 0.01]`, with `lr = 0.1`.

# %%
predict("1.g")

# %%
slopes = torch.tensor([100.0, 1.0, 0.01], dtype=f64)
moved = {}
for name, make in (("SGD", torch.optim.SGD), ("Adam", torch.optim.Adam)):
    weights = torch.zeros(3, dtype=f64, requires_grad=True)
    weights.grad = slopes.clone()
    make([weights], lr=0.1).step()
    moved[name] = weights.detach()
    print(f"the first step of {name:<4} moves the weights by {sig(moved[name])}")
adam = moved["Adam"].abs()
compare("1.g", closest(adam[0] / adam[2], a=10_000, b=1, c=100))

# %% [markdown] claims="S0-2 S0-10"
# SGD moves in proportion to the gradient. Adam divides a running mean of the gradient by a
# running size of it: in the first step the size cancels, and every weight moves equally far.
# Other optimizers have other rules. SGD with *momentum* adds a share of its last move to the
# next one.
#
# > **Fact.** Plain SGD changes a weight by `-lr * gradient`, up to rounding. Momentum as below
# > does so in its first step, Adam in general not even there: what they do depends on their
# > rule, and after the first step on earlier gradients too.

# %%
makers = {
    "SGD": lambda p: torch.optim.SGD(p, lr=0.1),
    "momentum 0.9": lambda p: torch.optim.SGD(p, lr=0.1, momentum=0.9),
    "Adam": lambda p: torch.optim.Adam(p, lr=0.1),
}
steps = {}
for name, make in makers.items():
    weight = torch.zeros((), dtype=f64, requires_grad=True)
    optimizer = make([weight])
    steps[name] = []
    for slope in (2.0, 2.0, -0.5):
        before = weight.item()
        weight.grad = torch.tensor(slope, dtype=f64)
        optimizer.step()
        steps[name].append(round((weight.item() - before) / -0.1, 4))
    print(f"gradients 2, 2, -0.5: {name:<13} moves by -lr times {steps[name]}")
assert steps["SGD"] == [2, 2, -0.5] and steps["momentum 0.9"][0] == 2 != steps["Adam"][0]
assert steps["momentum 0.9"][1:] == [3.8, 2.92]

# %% [markdown]
# ### How large may the learning rate be?
#
# For a bowl-shaped (quadratic) loss the answer can be measured, and predicted. The *curvature*
# says how fast the slope itself changes. With two weights there is a flattest and a steepest
# direction; PyTorch computes all second derivatives with `torch.autograd.functional.hessian`,
# and the *eigenvalues* of that matrix are the curvatures along those special directions.

# %%
hessian = torch.autograd.functional.hessian(delivery_loss, torch.zeros(2, dtype=f64))
flattest, steepest = torch.linalg.eigvalsh(hessian).tolist()
print(f"curvature: flattest {flattest:.4g}, steepest {steepest:.4g}")
for name, rate in (
    ("1 / steepest", 1 / steepest),
    ("2 / steepest", 2 / steepest),
    ("2 / flattest", 2 / flattest),
):
    print(f"{name}: {rate:.4g}")

# %%
predict("1.h")

# %%
design = torch.stack([km, torch.ones_like(km)], dim=1)
best = torch.linalg.lstsq(design, minutes[:, None]).solution[:, 0]  # the exact minimum
curvatures, directions = torch.linalg.eigh(design.T @ design * 2 / 24)  # flattest, steepest


def descend(lr, steps, begin=here):
    """The points of gradient descent on the delivery loss, `(steps + 1, 2)`."""
    track = [begin]
    for _ in range(steps):
        track.append(track[-1] - lr * gradient_at(track[-1]))
    return torch.stack(track)


def distance_left(lr, steps=200, begin=here):
    """How far from the minimum the walk ends, as a share of the distance at its beginning."""
    track = descend(lr, steps, begin)
    return ((track[-1] - best).norm() / (track[0] - best).norm()).item()


low, high = 0.01, 2.0  # the first comes nearer, the second does not: halve the interval
for _ in range(12):
    middle = (low + high) / 2
    low, high = (middle, high) if distance_left(middle) < 1 else (low, middle)
print("walks end nearer to the minimum up to lr =", sig(low))
flattest, steepest = curvatures.tolist()
compare("1.h", closest(low, a=1 / steepest, b=2 / steepest, c=2 / flattest))

limit = 2 / steepest
shares = (0.3, 0.9, 1.05)
walks = {f"lr = {share:g} * limit": descend(share * limit, 12) for share in shares}
figures.descents(delivery_loss, walks, best)

# %% [markdown]
# The reason is one line. Along a direction of curvature $c$, at a distance $d$ from the
# minimum, the slope is $c\cdot d$. A step leads to
#
# $$d - \text{lr}\cdot c\cdot d = (1 - \text{lr}\cdot c)\, d,$$
#
# and that is nearer than $d$ exactly when $|1 - \text{lr}\cdot c| < 1$, which is $\text{lr} <
# 2/c$ (for $c > 0$). Each special direction has its own factor; the largest curvature is the
# first to break the rule.
#
# > **Fact.** On a bowl gradient descent converges below `lr = 2 / (largest curvature)`. Above
# > it, the distance along the steepest direction grows in every step by the factor `|1 - lr *
# > curvature|`: from every start that is off the minimum in that direction, the walk diverges.

# %%
hessian = torch.autograd.functional.hessian(delivery_loss, here)
curvatures, directions = torch.linalg.eigh(hessian)
minimum = here - torch.linalg.solve(hessian, gradient_at(here))  # of a bowl, exactly
limit = 2 / curvatures[1].item()
generator = torch.Generator().manual_seed(0)
starts = minimum + 5 * torch.randn(50, 2, generator=generator, dtype=f64)
gradients = torch.func.vmap(torch.func.grad(delivery_loss))  # of many points at once
for share in (0.99, 1.01):
    points, lr = starts, share * limit
    for _ in range(600):
        before, points = points, points - lr * gradients(points)
    nearer = ((points - minimum).norm(dim=1) < (starts - minimum).norm(dim=1)).sum().item()
    factors = ((points - minimum) @ directions[:, 1]) / ((before - minimum) @ directions[:, 1])
    predicted = 1 - lr * curvatures[1].item()
    print(f"lr = {share} * limit: {nearer} of 50 walks end nearer to the minimum")
    print(
        f"   the last step's factor: predicted {predicted:.4f}, "
        f"measured {factors.min():.4f} to {factors.max():.4f}"
    )
    assert nearer == (50 if share < 1 else 0) and (factors - predicted).abs().max() < 1e-3

# %% [markdown]
# The gradient at the starting point was the same in all three pictures. What became of it was
# the optimizer's doing. Now choose the learning rate yourself. The explorer fits another line,
# with weights `w` and `b`; its limit stands below the map (an eigenvalue of the Hessian is a
# curvature).
#
# **Try it.** Find the rate that comes nearest to the minimum in five steps. Is it above or below
# 1 / steepest, which is half the limit?
#
# <details><summary>What to expect</summary>
#
# Above, at about 0.5. At 1 / steepest the steepest direction is done in one step, but the flat
# one creeps. Both shrink equally fast, by the formula above, at `2 / (flattest + steepest)`. In
# a narrow valley that is just below the limit.
#
# </details>

# %%
loss_surface()

# %%
quiz("1.q4")

# %% [markdown]
# One warning before you walk. Where the gradient is zero a walk stands still, and that need not
# be a minimum.
#
# > **Fact.** A gradient of zero says that the loss is flat there. That may be a minimum, a
# > maximum, a terrace, a saddle, or a `relu` that is off (`relu(x)` is `x` where that is
# > positive, else 0); a gradient alone does not tell which.

# %%
flat_places = {
    "the bottom of a bowl, x**2": (lambda p: p[0] ** 2, (0.0,)),
    "the top of a hill, -x**2": (lambda p: -(p[0] ** 2), (0.0,)),
    "a terrace, x**3": (lambda p: p[0] ** 3, (0.0,)),
    "a saddle, x**2 - y**2": (lambda p: p[0] ** 2 - p[1] ** 2, (0.0, 0.0)),
    "a relu off, (relu(x) - 1)**2": (lambda p: (torch.relu(p[0]) - 1) ** 2, (-0.05,)),
}
for name, (f, at) in flat_places.items():
    place = torch.tensor(at, dtype=f64, requires_grad=True)
    (slope,) = torch.autograd.grad(f(place), place)
    generator = torch.Generator().manual_seed(0)
    near = place.detach() + 0.1 * torch.randn(200, len(at), generator=generator, dtype=f64)
    lower = any(f(point) < f(place) for point in near)
    print(f"{name:<30} gradient {sig(slope.abs()):<7} lower nearby: {lower}")
    assert not slope.any() and lower == (name[:10] != "the bottom")

# %% [markdown]
# Your own descent. Two things can go wrong without a word. A list may hold the same tensor many
# times, and then every entry shows its last value. And a point may still carry the graph of all
# points before it.


# %% exercise="1.4"
def gradient_descent(f, x0, lr, steps):
    """The `steps + 1` points of gradient descent on `f` from `x0`, each its own tensor."""
    ### BEGIN SOLUTION
    points = [x0.detach().clone()]
    for _ in range(steps):
        here = points[-1].clone().requires_grad_()
        (gradient,) = torch.autograd.grad(f(here), here)
        points.append(points[-1] - lr * gradient)
    return points
    ### END SOLUTION


# %% [markdown]
# ## 6. Back through two layers
#
# A network of two layers is a longer line of stations. The first layer multiplies by weights
# and adds a *bias*, `tanh` bends the result, the second layer multiplies and adds again: that
# is the network that read the digits. A *unit* is one of the numbers in between. Going back,
# each station asks one thing: a gradient arrived at my output; what do I hand to my input? It
# multiplies by its local slope.


# %%
def tanh_slope(z, h=1e-5):
    """The slope of tanh at z, by a central difference."""
    up, down = torch.tanh(torch.tensor([z + h, z - h], dtype=f64))
    return ((up - down) / (2 * h)).item()


print("h = tanh(z), at z = 3.8:", sig(torch.tanh(torch.tensor(3.8, dtype=f64))))

# %%
predict("1.i")

# %%
z = torch.tensor(3.8, dtype=f64, requires_grad=True)
h = torch.tanh(z)
h.backward()
rule = 1 - h.item() ** 2
print(f"slope of tanh at 3.8: measured {tanh_slope(3.8):.4g}, autograd {z.grad:.4g}")
print(f"by the rule 1 - h**2: {rule:.4g}")
compare("1.i", closest(tanh_slope(3.8), a=h.item(), b=0.002, c=1))

# %% [markdown]
# A unit whose value is near 1 or -1 is *saturated*: the value is nearly as large as it can get,
# and the gradient that passes back through it is nearly gone. The slope of `tanh` can be had
# from the value $h$ that came *out* of it: $1 - h^2$.
#
# ### One number at a time
#
# Here is the smallest network with two layers: one input, one hidden unit, one output. Forward,
# keep what you pass. Backward, visit the same stations in the opposite order. Every number
# computed by hand stands beside autograd's.

# %%
x, y = torch.tensor(0.7, dtype=f64), torch.tensor(0.2, dtype=f64)
w1, b1, w2, b2 = torch.tensor([1.2, -0.3, 0.9, 0.1], dtype=f64).unbind()
for weight in (w1, b1, w2, b2):
    weight.requires_grad_()

z = x * w1 + b1
h = torch.tanh(z)
out = h * w2 + b2
loss = (out - y) ** 2
for station in (z, h, out):
    station.retain_grad()
loss.backward()

by_hand = {}
by_hand["out"] = 2 * (out - y)  # the slope of a square
by_hand["w2"] = by_hand["out"] * h  # out = h * w2 + b2: moving w2 moves out h times as far
by_hand["b2"] = by_hand["out"]
by_hand["h"] = by_hand["out"] * w2
by_hand["z"] = by_hand["h"] * (1 - h**2)  # the slope of tanh
by_hand["w1"] = by_hand["z"] * x
by_hand["b1"] = by_hand["z"]

tensors = {"out": out, "w2": w2, "b2": b2, "h": h, "z": z, "w1": w1, "b1": b1}
print("station   value     gradient by hand   autograd")
for name, tensor in tensors.items():
    print(f"{name:<7}   {sig(tensor):<7}   {sig(by_hand[name]):<16}   {sig(tensor.grad)}")
    assert torch.allclose(by_hand[name], tensor.grad, rtol=0, atol=1e-12)

local = {"z": w1, "h": 1 - h**2, "out": w2, "loss": 2 * (out - y)}
values = {"x": x, "z": z, "h": h, "out": out, "loss": loss}
figures.stations(values, local, saturated=(3.8, tanh_slope(3.8)))

# %% [markdown]
# ### Whole layers at once
#
# With many rows and units the numbers become matrices, and the local rule must produce the
# right *shape*. A layer computes $Z = XW + b$. Let $G$ be the gradient that arrives at $Z$,
# with the shape of $Z$. Which product of $G$ with $X$ is the gradient of $W$, and which product
# of $G$ with $W$ is that of $X$? (`.T` swaps rows and columns.) The cell tries them all, first
# with sizes that differ, then with as many inputs as units.


# %%
def products(name, other, incoming):
    """Every product of `other` and `incoming` that is defined, transposed or not."""
    for left_name, left in ((name, other), (f"{name}.T", other.T)):
        for right_name, right in (("G", incoming), ("G.T", incoming.T)):
            if left.shape[1] == right.shape[0]:
                yield f"{left_name} @ {right_name}", left @ right
            if right.shape[1] == left.shape[0]:
                yield f"{right_name} @ {left_name}", right @ left


def try_products(rows, inputs, units):
    """Print which products have the shape of the wanted gradient, and which equal it."""
    draw = torch.Generator().manual_seed(1)
    X, W, G = (
        torch.randn(shape, generator=draw, dtype=f64)
        for shape in ((rows, inputs), (inputs, units), (rows, units))
    )
    X.requires_grad_(), W.requires_grad_()
    of_w, of_x = torch.autograd.grad(X @ W, [W, X], grad_outputs=G)  # G arrives, these leave
    print(f"{rows} rows, {inputs} inputs, {units} units")
    for wanted, right, partner, other in (("W", of_w, "X", X), ("X", of_x, "W", W)):
        print(f"   gradient of {wanted}, shape {tuple(right.shape)}")
        for formula, product in products(partner, other, G):
            verdict = "does not fit"
            if product.shape == right.shape:
                verdict = "right" if torch.allclose(product, right) else "fits, WRONG"
            print(f"      {formula:<10} {tuple(product.shape)}  {verdict}")


try_products(rows=5, inputs=3, units=4)
try_products(rows=5, inputs=3, units=3)

# %% [markdown]
# When all sizes differ, one product alone has the right shape, and it is right. So shapes find
# the formula. They do not prove it: with as many inputs as units, a transposed formula fits and
# is wrong. Test with sizes that differ, and compare with a measurement.
#
# The reason is the chain rule. The weight $W_{jk}$ takes part in every row: there it multiplies
# $X_{ij}$ and goes into $Z_{ik}$, at which $G_{ik}$ arrives. Each row is a line, and lines add:
#
# $$\frac{\partial\,\text{loss}}{\partial W_{jk}} = \sum_i X_{ij}\, G_{ik} = (X^\top G)_{jk}$$
#
# A matrix product is exactly such a sum, here over the rows. For $X_{ij}$ the lines go through
# the units $k$ instead, which gives $\sum_k G_{ik} W_{jk} = (G\,W^\top)_{ij}$. The bias $b_k$
# is added to every row. What does the chain rule say of it?

# %%
draw = torch.Generator().manual_seed(1)
X, G = (torch.randn(5, size, generator=draw, dtype=f64) for size in (3, 4))
row_by_row = sum(torch.outer(X[i], G[i]) for i in range(5))
print("row by row, added, equals X.T @ G:", torch.allclose(row_by_row, X.T @ G))

# %%
quiz("1.q5")


# %% exercise="1.5"
def two_layer_backward(W1, b1, W2, b2, x, y):
    """The gradients of `mean((tanh(x @ W1 + b1) @ W2 + b2 - y)**2)`, by hand, by name."""
    ### BEGIN SOLUTION
    hidden = torch.tanh(x @ W1 + b1)  # (n, h)
    output = hidden @ W2 + b2  # (n, k)

    to_output = 2 * (output - y) / output.numel()  # (n, k)
    to_hidden = to_output @ W2.T  # (n, h)
    to_sum = to_hidden * (1 - hidden**2)  # (n, h), before tanh
    return {
        "W1": x.T @ to_sum,
        "b1": to_sum.sum(0),
        "W2": hidden.T @ to_output,
        "b2": to_output.sum(0),
    }
    ### END SOLUTION


# %% [markdown]
# ## 7. Find the cut
#
# You know now why the second network at the top read fewer digits: all lines from the loss to
# its first layer went through the `.detach()`. The second layer had its own line, so
# `backward()` had something to walk, and said nothing.
#
# Here is something that was really built, in small (`wangle53/CSA-CDGAN#5`). A *generator*
# makes pictures. It is to learn from two losses: how far its picture is from the true one, and
# what a *discriminator*, a second network, says of it. The discriminator is not to learn in
# this step. So its judgement was detached.

# %%
torch.manual_seed(0)
generator = nn.Linear(2, 2).double()
discriminator = nn.Sequential(nn.Linear(2, 1), nn.Sigmoid()).double()
noise, truth = torch.randn(8, 2, dtype=f64), torch.randn(8, 2, dtype=f64)


def losses(detach):
    """The two losses of the generator."""
    picture = generator(noise)
    judged = discriminator(picture)
    if detach:
        judged = judged.detach()
    return (picture - truth).square().mean(), -judged.log().mean()


first, second = losses(detach=False)
print("the two losses:          ", sig(first), sig(second))
first, second = losses(detach=True)
print("with a detached judgement", sig(first), sig(second))

# %%
predict("1.j")

# %%
weight = generator.weight
(of_first,) = torch.autograd.grad(losses(detach=False)[0], weight)
(of_both,) = torch.autograd.grad(sum(losses(detach=False)), weight)
(of_detached,) = torch.autograd.grad(sum(losses(detach=True)), weight)
print("gradient of both losses, connected: ", sig(of_both.flatten()))
print("gradient of both, judgement detached", sig(of_detached.flatten()))
print("gradient of the first loss alone:   ", sig(of_first.flatten()))
assert torch.equal(of_detached, of_first)
compare("1.j", closest(of_detached[1, 1], a=of_both[1, 1], b=of_first[1, 1], c=0))

# %% [markdown]
# The second loss reached nobody: a reader of that code objected, and was right. To spare the
# discriminator, freeze its parameters: `requires_grad_(False)` says that they want no gradient,
# and leaves the way through them open.
#
# > **Fact.** A frozen layer passes gradients on to what stands before it, a `detach()` behind
# > it does not.

# %%
weight = generator.weight
(connected,) = torch.autograd.grad(losses(detach=False)[1], weight)
discriminator.requires_grad_(False)
(frozen,) = torch.autograd.grad(losses(detach=False)[1], weight)
discriminator.requires_grad_(True)
print("second loss, discriminator frozen: ", sig(frozen.flatten()))
print("the same as with a free one:       ", torch.equal(frozen, connected))
print("second loss, judgement detached:    has a graph:", losses(detach=True)[1].requires_grad)
assert (
    torch.equal(frozen, connected)
    and connected.any()
    and not losses(detach=True)[1].requires_grad
)

# %% [markdown]
# And here is how one makes it worse (`ronghuaiyang/arcface-pytorch#56`). `backward()` refused a
# loss that had lost its graph. Setting `loss.requires_grad = True` made the message go away;
# then the loss did not fall.

# %%
torch.manual_seed(0)
model = nn.Linear(3, 1).double()
loss = model(torch.randn(6, 3, dtype=f64)).square().mean()
loss = torch.tensor(loss.item(), dtype=f64)  # somewhere on the way the graph was lost
try:
    loss.backward()
except RuntimeError as caught:
    print("refused: ", str(caught)[:42])
loss.requires_grad = True
loss.backward()
print("silenced: the loss's own gradient is", sig(loss.grad), " the weights':", model.weight.grad)
assert loss.is_leaf and model.weight.grad is None

# %% [markdown]
# The loss became a leaf, with no way behind it. The cure is to find the cut. But how? A tensor
# that requires a gradient proves little: after a cut, the next layer's own weights make the
# result require one again. A gradient that is there proves little: one of two lines may be
# missing, as in section 3. You have a judge that does not look at the graph at all, though: the
# measured slope of section 1. Your own `numerical_gradient` may do the measuring (run its cell
# again), with an `h` that float32 can bear.


# %% exercise="1.6"
def find_cuts(stations, x):
    """The positions of the stations at which autograd's gradient is not the measured slope."""
    ### BEGIN SOLUTION
    cuts = []
    for position, station in enumerate(stations):
        leaf = x.detach().clone().requires_grad_()
        total = station(leaf).sum()
        gradient = None
        if total.requires_grad:
            (gradient,) = torch.autograd.grad(total, leaf, allow_unused=True)
        if gradient is None:
            gradient = torch.zeros_like(leaf)

        slope = torch.zeros_like(leaf)
        for i in range(leaf.numel()):
            move = torch.zeros_like(leaf).flatten()
            move[i] = 1e-3  # large enough for float32
            move = move.reshape(leaf.shape)
            up, down = station(leaf.detach() + move), station(leaf.detach() - move)
            slope.view(-1)[i] = (up - down).sum() / 2e-3
        if (gradient - slope).abs().max() > 0.05:
            cuts.append(position)
        x = station(x).detach()
    return cuts
    ### END SOLUTION


# %% [markdown]
# Now let it look for the cut of the first section. The network's stations stand in the order of
# its forward pass.

# %%
torch.manual_seed(0)
layers = nn.Linear(64, 16), nn.Linear(16, 10)
stations = [layers[0], torch.tanh, lambda middle: middle.detach(), layers[1]]
print("cuts in the network with .detach():", find_cuts(stations, digits().x[:1]))
del stations[2]
print("and in the one without:            ", find_cuts(stations, digits().x[:1]))

# %% [markdown]
# ## True or false
#
# Six sentences that you will meet elsewhere, or that you may come to believe. Decide, then
# measure.

# %%
km, minutes = deliveries()
torch.manual_seed(0)
batch = torch.randn(6, 3, dtype=f64)


def gradient_of(loss, at):
    """The gradient of a function at a point."""
    leaf = torch.tensor(at, dtype=f64, requires_grad=True)
    return torch.autograd.grad(loss(leaf), leaf)[0]


# %%
predict("1.k")


# %%
def delivery_loss(weights):
    return (weights[0] * km + weights[1] - minutes).square().mean()


design = torch.stack([km, torch.ones_like(km)], dim=1)
best = torch.linalg.lstsq(design, minutes[:, None]).solution[:, 0]
here = torch.tensor([2.0, 7.0], dtype=f64)
downhill = -gradient_of(delivery_loss, here.tolist())
for name, step, need in zip(("pace", "start"), downhill, best - here, strict=True):
    way, wanted = ("up" if number > 0 else "down" for number in (step, need))
    print(f"{name:<5}  downhill is {way:<4}  to the best value it is {need:+.4g}: {wanted}")
short = (here[0] * km + here[1] < minutes).sum().item()
print(f"{short} of 24 predictions are too short here, so a later start helps here")
later = -gradient_of(delivery_loss, [best[0].item(), 7.0])[1]
print("at the best pace, from start 7, downhill is", "up" if later > 0 else "down")
compare("1.k", true_or_false((downhill * (best - here) > 0).all()))

# %% [markdown]
# A gradient is right about here, and makes no promise about there. At the best pace, the same
# start is too late.

# %%
predict("1.l")

# %%
rows = torch.tensor([0.0, 5.0], dtype=f64)
misses = torch.tensor([10.0, 10.0], dtype=f64)
gradient = gradient_of(lambda w: (w * rows - (rows - misses)).square().sum(), [1.0, 1.0])
print("two predictions w * x, for x = 0 and x = 5, that both miss by 10")
print("the gradients of their weights:", sig(gradient))
compare("1.l", true_or_false((gradient == 0).any()))

# %% [markdown]
# The error is one factor of a gradient. The local slope from the weight to the prediction is
# another, and `x = 0` makes it zero.

# %%
predict("1.m")

# %%
lengths = {}
for name, make in (("SGD", torch.optim.SGD), ("Adam", torch.optim.Adam)):
    for scale in (1, 1000):
        torch.manual_seed(0)
        layer = nn.Linear(3, 1).double()
        before = layer.weight.detach().clone()
        (scale * layer(batch).square().mean()).backward()
        make(layer.parameters(), lr=0.1).step()
        lengths[name, scale] = (layer.weight.detach() - before).norm().item()
        print(f"{name:<4}  loss times {scale:<4}  the weight moved by {lengths[name, scale]:.4g}")
sgd, adam = (lengths[name, 1000] / lengths[name, 1] for name in ("SGD", "Adam"))
compare("1.m", true_or_false(abs(sgd / 1000 - 1) < 1e-4 and abs(adam - 1) < 1e-4))

# %% [markdown]
# It is so as long as the gradients are far above Adam's `eps`, 1e-8. In lesson 6 this is a trap:
# a loss that is too large by a factor shows with SGD, and hides with Adam.

# %%
predict("1.n")

# %%
layer = nn.Sequential(nn.Linear(3, 1), nn.Dropout(0.5)).double()
layer.eval()
records = layer(batch).requires_grad
with torch.no_grad():
    layer.train()
    silent = layer(batch).requires_grad
print("evaluation mode records a graph:           ", records)
print("training mode inside no_grad records one:  ", silent)
compare("1.n", true_or_false(not records))

# %% [markdown]
# The mode changes what layers such as dropout do. Whether a graph is recorded is another
# switch: `torch.no_grad()` and its relatives.

# %%
predict("1.o")


# %%
def same_as_x(p):
    return torch.relu(p) - torch.relu(-p)


h = 1e-5
answers = []
print("x       relu(x) - relu(-x)   autograd   measured")
for at in (-1.5, -0.5, 0.0, 0.5, 1.5):
    up, down = (same_as_x(torch.tensor(at + move, dtype=f64)).item() for move in (h, -h))
    answers.append(gradient_of(same_as_x, at).item())
    value = same_as_x(torch.tensor(at)).item()
    print(f"{at:<6}  {value:<19}  {answers[-1]:<9}  {(up - down) / (2 * h):.4g}")
compare("1.o", true_or_false(all(answer == 1 for answer in answers)))

# %% [markdown]
# Autograd applies the chain rule to the stations, with a convention where a station has a
# corner. The convention for `relu` at 0 is slope 0, and here two conventions add up to a wrong
# answer. So expect the derivative, up to rounding, where nothing was cut, every rule is right,
# and every station has a derivative at the point.

# %%
predict("1.p")

# %%
w = torch.tensor([1.0, -2.0, 0.5], dtype=f64, requires_grad=True)
(once,) = torch.autograd.grad((batch @ w).square().mean(), w)
(twice,) = torch.autograd.grad((torch.cat([batch, batch]) @ w).square().mean(), w)
(summed,) = torch.autograd.grad((torch.cat([batch, batch]) @ w).square().sum(), w)
print("mean over 6 rows:              ", sig(once))
print("mean over the same rows, twice:", sig(twice))
print("sum over the same rows, twice: ", sig(summed))
compare("1.p", true_or_false(torch.allclose(once, twice)))

# %% [markdown]
# A mean does not notice that all rows were counted twice, a sum does. Lesson 6 builds on that.

# %% [markdown]
# ## Summary
#
# | You saw | Where |
# |---|---|
# | A gradient is the slope of the loss for small moves of one weight, in units of loss per unit of weight. | 1 |
# | Change the unit of a weight, and its gradient changes with it: size is not importance. | 1 |
# | The central difference of `exp(sin(x))` has a best `h`; float32 needs a larger one than float64. | 1 |
# | Multiply along a line of stations, add where lines meet. | 2 |
# | Shapes that do not match can broadcast without a word. | 2 |
# | `detach`, `item` and `no_grad` cut the graph, and a cut is silent while the loss has a graph left. | 3, 7 |
# | `.grad` is `None` before the first backward. It belongs to the leaf: not to its values, the `state_dict` or the optimizer. | 4 |
# | `backward()` stores, `torch.autograd.grad` returns. | 4 |
# | SGD moves by `-lr * gradient`; momentum and Adam have rules of their own. | 5 |
# | On a bowl the steepest direction limits the learning rate: `2 / (largest curvature)`. | 5 |
# | A gradient of zero says flat, not minimum. | 5 |
# | A gradient has the shape of its tensor; a saturated unit lets almost nothing back. | 6 |
# | A measurement tells a whole gradient from a part of one; `requires_grad` does not. | 7 |
#
# ## What comes next
#
# You saw a node called `AccumulateGrad`, and a second `backward()` that doubled a gradient. In
# lesson 2 you call `backward()` more than once on purpose, and find out what it does with the
# gradient that is already there, why that is so, and when it is exactly what you want.

# %%
progress(1)
