# %% [markdown]
# # What gradients are
#
# A gradient is a measurement. It says how much a loss moves when one weight moves a little. In this lesson you measure
# gradients first, then derive them by hand, then let PyTorch compute them. At the end you know what a gradient says,
# what it does not say, where it is kept, and who turns it into a step.
#
# What you will be able to do:
#
# - measure any gradient with a few calls of a function, and say how far to trust the result
# - derive a gradient by hand with the chain rule
# - read the graph that PyTorch records, and find the place where it was cut
# - say where a gradient is kept, when it is `None`, and who can use it
# - tell the gradient apart from the step that an optimizer makes of it
# - take a gradient back through two layers, station by station
#
# You need Python and a little calculus: the slope of `x**2` is `2 * x`. Everything else is explained where it is first
# used.

# %%
import warnings

import matplotlib.pyplot as plt
import torch
from torch import nn
from torch.utils.checkpoint import checkpoint

from course_utils.widgets import expression_graph, loss_surface
from gradient_ledger.figures import COLOURS, show, style

torch.manual_seed(0)
f64 = (
    torch.float64
)  # about 16 digits, so that small effects stay visible; PyTorch's default, float32, has about 7


def sig(value: object) -> str:
    """A number, or several, to four significant digits."""
    if isinstance(value, torch.Tensor):
        value = value.detach().tolist()
    if isinstance(value, list):
        return "[" + ", ".join(sig(item) for item in value) + "]"
    return f"{value:.4g}"


def frame(colour):
    """A rounded box around a word in a picture."""
    return {"boxstyle": "round,pad=0.4", "facecolor": "white", "edgecolor": COLOURS[colour]}


# %% [markdown]
# ## 1. A gradient is a measured slope
#
# Here are 24 deliveries by bicycle. For each you know the distance in kilometres and the time in minutes. A *tensor* is
# PyTorch's grid of numbers; `km` and `minutes` are tensors with 24 entries each.
#
# The model predicts `minutes = pace * km + start`. `pace` (minutes per kilometre) and `start` (minutes before the wheels
# turn) are *weights*: numbers that training may change. The *loss* is one number that says how bad the predictions are.
# Here it is the mean of the squared errors, so its unit is minutes squared. A tensor with a single number and no axes,
# like this loss, is a *scalar*.

# %%
generator = torch.Generator().manual_seed(0)
km = 3 * torch.rand(24, generator=generator, dtype=f64)
minutes = 4 * km + 6 + torch.randn(24, generator=generator, dtype=f64)


def delivery_loss(pace, start=6.0, distance=km):
    """Mean squared error of the delivery model, in minutes squared."""
    return (pace * distance + start - minutes).square().mean()


print("three deliveries:", sig(km[:3]), "km took", sig(minutes[:3]), "minutes")
print("loss at pace 2:  ", sig(delivery_loss(2.0)), "minutes squared")
print("loss at pace 2.1:", sig(delivery_loss(2.1)), "minutes squared")

# %% [markdown]
# The loss is *sensitive* to the pace: you moved one, and the other moved. Keep `start` where it is, and make the move
# smaller and smaller. Say first what you expect.

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
compare(
    "1.a",
    min({"a": 10, "b": 100, "c": 10_000}.items(), key=lambda item: abs(item[1] / shrink - 1))[0],
)

# %% [markdown]
# The change itself shrinks to nothing. The last column does not: it settles. The number it settles at is the **gradient**
# of the loss with respect to `pace`, at pace 2.
#
# Read it with its unit, minutes squared per (minute per kilometre). The minus sign says that the loss falls when the
# pace rises. The size says how steeply, for small moves. With several weights there is one such number for each, and the
# word gradient means all of them together, in the shape of the weights.
#
# PyTorch computes this number too. You mark the weight with `requires_grad=True`, compute the loss, and call
# `backward()` on it. The part of PyTorch that does this is called *autograd*.
#
# > **Fact.** After `loss.backward()`, the gradient stands in the weight's `.grad`, and it is the slope that the
# > shrinking moves settle at.

# %%
pace = torch.tensor(2.0, dtype=f64, requires_grad=True)
loss = delivery_loss(pace)
loss.backward()

print("autograd:          ", sig(pace.grad))
print("measured, move 1e-6:", sig((delivery_loss(2.0 + 1e-6) - delivery_loss(2.0)) / 1e-6))
assert abs((delivery_loss(2.0 + 1e-6) - delivery_loss(2.0)) / 1e-6 - pace.grad) < 1e-4

# %% [markdown]
# On a picture the gradient is the slope of the line that touches the curve. A line through two points of the curve comes
# close to it when the points come close to each other.

# %%
paces = torch.linspace(0.0, 8.0, 161, dtype=f64)
with style():
    fig, ax = plt.subplots()
    ax.plot(paces, [delivery_loss(p).item() for p in paces], label="loss")
    reach = torch.tensor([0.5, 3.1])
    ax.plot(
        reach,
        loss.item() + pace.grad.item() * (reach - 2),
        label=f"slope at pace 2: {sig(pace.grad)}",
    )
    for far, colour in ((3.5, "bluish green"), (2.5, "reddish purple")):
        secant = (delivery_loss(far) - delivery_loss(2.0)).item() / (far - 2.0)
        ends = torch.tensor([2.0, far])
        ax.plot(
            ends,
            [delivery_loss(e).item() for e in ends],
            "o:",
            color=COLOURS[colour],
            label=f"through 2 and {far}: {sig(secant)}",
        )
    ax.set(xlabel="pace (minutes per km)", ylabel="loss (minutes squared)", ylim=(0, 45))
    ax.legend()
show(
    fig,
    alt="The loss over the pace is a bowl with its lowest point near pace 4. At pace 2 a touching line falls with slope "
    f"{sig(pace.grad)}. Lines through pace 2 and pace 3.5, and through pace 2 and pace 2.5, are less steep; the nearer "
    "pair is closer to the touching line.",
)

# %% [markdown]
# A gradient has a unit, and that has a consequence. Write the same distances in metres. The same
# predictions now need a pace of 0.002 minutes per metre. The deliveries are the same, and so is the loss.

# %%
predict("1.b")

# %%
pace_per_metre = torch.tensor(0.002, dtype=f64, requires_grad=True)
loss_in_metres = delivery_loss(pace_per_metre, distance=1000 * km)
loss_in_metres.backward()
ratio = (pace_per_metre.grad / pace.grad).item()

print("loss:    ", sig(loss), "in kilometres,", sig(loss_in_metres), "in metres")
print("gradient:", sig(pace.grad), "in kilometres,", sig(pace_per_metre.grad), "in metres")
print(f"ratio of the gradients: {ratio:.0f}")
compare("1.b", "a" if abs(ratio - 1) < 0.01 else "b" if ratio < 1 else "c")

# %% [markdown]
# The weight became 1000 times smaller, and its gradient 1000 times larger. So the size of a gradient does not say how
# important a weight is, nor how far it stands from its best value. It says how steep the loss is *per unit of this
# weight*.
#
# ### How small should the move be?
#
# You can measure a gradient of any function with two calls of it. The *forward difference* moves one way,
# `(f(x + h) - f(x)) / h`. The *central difference* moves both ways, `(f(x + h) - f(x - h)) / (2 * h)`. Calculus lets `h`
# go to zero. A computer keeps about 16 digits of a number in float64, and about 7 in float32.

# %%
predict("1.c")

# %%
points = torch.linspace(-2.0, 2.0, 101, dtype=f64)


def curve(x):
    return torch.exp(torch.sin(x))


def curve_slope(x):
    return torch.cos(x) * torch.exp(torch.sin(x))


def error(h, dtype=f64, central=True):
    """Typical (median) distance between a numerical slope and the true one, over 101 points."""
    x = points.to(dtype)
    estimate = (
        (curve(x + h) - curve(x - h)) / (2 * h) if central else (curve(x + h) - curve(x)) / h
    )
    return (estimate.double() - curve_slope(x.double())).abs().median().item()


print("h        central, float64   central, float32")
for power in range(1, 13):
    h = 10.0**-power
    print(f"1e-{power:02d}    {error(h):>16.0e}   {error(h, torch.float32):>16.0e}")

best = min(error(10.0**-power) for power in range(1, 13))
compare(
    "1.c", "b" if error(1e-12) > 10 * best else "a" if error(1e-12) < error(1e-5) / 10 else "c"
)

# %%
steps = torch.logspace(0, -14, 57).tolist()
best_h = {
    name: min(steps, key=lambda h, dtype=dtype: error(h, dtype))
    for name, dtype in {"float64": f64, "float32": torch.float32}.items()
}
slope_of = {
    "forward, large h": torch.tensor(
        error(1e-2, central=False) / error(1e-4, central=False)
    ).log10()
    / 2,
    "central, large h": torch.tensor(error(1e-2) / error(1e-4)).log10() / 2,
    "central, small h": torch.tensor(error(1e-9) / error(1e-12)).log10() / 3,
}
for name, power in slope_of.items():
    print(f"{name}: the error goes with h to the power {power:.0f}")
print(
    "smallest error of the central difference:",
    ", ".join(f"{n} near h = {h:.0e}" for n, h in best_h.items()),
)
too_small = torch.tensor(1.0) + 1e-9 == torch.tensor(1.0) - 1e-9
print("in float32, are 1 + 1e-9 and 1 - 1e-9 the same number?", too_small.item())

with style():
    fig, ax = plt.subplots(figsize=(6.8, 4.4))
    ax.loglog(steps, [error(h) for h in steps], label="central, float64")
    ax.loglog(steps, [error(h, torch.float32) for h in steps], label="central, float32")
    ax.loglog(steps, [error(h, central=False) for h in steps], label="forward, float64")
    ax.annotate("rounding:\nworse as h shrinks", (1e-11, 3e-6), (1e-13, 3e-10), ha="left")
    ax.annotate("truncation:\nbetter as h shrinks", (1e-2, 1e-5), (1e-3, 3e-11), ha="left")
    ax.set(xlabel="h", ylabel="error of the slope", ylim=(1e-12, 10))
    ax.legend(loc="upper left", ncols=3, fontsize=9)
show(
    fig,
    alt="Error against h, both on logarithmic axes: three curves. From the right, the errors fall as h shrinks, "
    "with h squared for the central and with h for the forward difference. Then they rise again, until x + h and x - h are "
    "the same number and the error stays flat. The central difference "
    f"is best near h = {best_h['float64']:.0e} in float64 and near {best_h['float32']:.0e} in float32, where its best is "
    "far worse.",
)

# %% [markdown]
# Two errors work against each other. *Truncation* is the error of the formula: a curve is not a line. It shrinks with
# `h`. *Rounding* is the error of the numbers: `f(x + h)` and `f(x - h)` agree in nearly all their digits, the difference
# keeps the few that are left, and the division by a small `h` blows their error up. It grows as `h` shrinks, until `x + h`
# and `x - h` are the same number: then the slope reads 0, and the error is the whole slope.
#
# So there is a best `h`, and it is not tiny. float32 has fewer digits and needs a *larger* one.
#
# ### The judge, and what it costs
#
# The central difference is never quite exact, but it has one great virtue: it knows nothing about derivatives. That
# makes it the judge of everyone who claims to know them. PyTorch ships this measurement as `torch.autograd.gradcheck`.
#
# > **Fact.** `gradcheck` compares a derivative rule with central differences, at the points you give it: here it accepts
# > the right rule and refuses the wrong one.


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
        return incoming * ctx.factor * x, None


probe = torch.linspace(-1.0, 1.0, 4, dtype=f64, requires_grad=True)
verdicts = [
    torch.autograd.gradcheck(Square.apply, (probe, factor), raise_exception=False)
    for factor in (2, 1)
]
print("rule 2 * x: gradcheck says", verdicts[0])
print("rule 1 * x: gradcheck says", verdicts[1])
assert verdicts == [True, False]

# %% [markdown]
# Then why does nobody train with central differences? Count how often `gradcheck` calls the function, and how often
# autograd does.

# %%
calls = 0


def counted(x):
    global calls
    calls += 1
    return curve(x).mean()


def calls_of_gradcheck(size):
    """How often the function is called to check the gradient of `size` weights."""
    global calls
    calls = 0
    torch.autograd.gradcheck(
        counted, torch.linspace(-1.0, 1.0, size, dtype=f64, requires_grad=True)
    )
    return calls


per_weight = (calls_of_gradcheck(200) - calls_of_gradcheck(100)) / 100
print("calls for each further weight, central difference:", sig(per_weight))

calls = 0
counted(torch.linspace(-1.0, 1.0, 200, dtype=f64, requires_grad=True)).backward()
print("calls for the gradient of 200 weights, autograd:  ", calls, "and one backward pass")

# %%
quiz("1.q1")

# %% [markdown]
# Now write that judge yourself, for any number of weights. Two questions decide whether it is right. Which entries
# move while you measure one of them? And who else holds the tensor you move?


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
# A loss is computed in steps. Think of *stations* on a line: each takes the numbers of the one before and hands on its
# own. Each station has a *local slope*: how its output moves when its input moves a little. Local slopes are easy. The
# chain rule says how to combine them.
#
# Along one line you multiply. If `u` moves 4 times as fast as `x`, and the loss moves 6 times as fast as `u`, then the
# loss moves 24 times as fast as `x`. But often one number reaches the loss along two lines. Take `u = x**2`,
# `v = 3 * x`, and `loss = u * v`, at `x = 2`.

# %%
predict("1.d")


# %%
def slope(f, at, h=1e-5):
    """The slope of `f` at a number, by a central difference."""
    return (f(at + h) - f(at - h)) / (2 * h)


# Each station alone, at x = 2, where u = 4 and v = 6.
through_u = slope(lambda u: u * 6, 4.0) * slope(lambda x: x**2, 2.0)
through_v = slope(lambda v: 4 * v, 6.0) * slope(lambda x: 3 * x, 2.0)
whole = slope(lambda x: x**2 * (3 * x), 2.0)

x = torch.tensor(2.0, dtype=f64, requires_grad=True)
u, v = x**2, 3 * x
(u * v).backward()

print(
    f"line through u: {slope(lambda u: u * 6, 4.0):.4g} * {slope(lambda x: x**2, 2.0):.4g} = {through_u:.4g}"
)
print(
    f"line through v: {slope(lambda v: 4 * v, 6.0):.4g} * {slope(lambda x: 3 * x, 2.0):.4g} = {through_v:.4g}"
)
print(f"all at once, measured: {whole:.4g}    autograd: {x.grad:.4g}")
answers = {"a": max(through_u, through_v), "b": through_u + through_v, "c": through_u * through_v}
compare("1.d", min(answers, key=lambda key: abs(answers[key] - whole)))

# %% [markdown]
# Along one line the local slopes multiply. Where several lines meet in one number, their products add. That is the whole
# chain rule, and all that `backward()` does is apply it from the loss backwards.

# %%
slopes = {
    ("x", "u"): slope(lambda x: x**2, 2.0),
    ("x", "v"): slope(lambda x: 3 * x, 2.0),
    ("u", "loss"): slope(lambda u: u * 6, 4.0),
    ("v", "loss"): slope(lambda v: 4 * v, 6.0),
}
places = {"x": (0, 0), "u": (1, 0.6), "v": (1, -0.6), "loss": (2, 0)}
values = {"x": 2, "u": 4, "v": 6, "loss": 24}
with style():
    fig, ax = plt.subplots(figsize=(6.4, 2.9))
    for (source, target), value in slopes.items():
        (x0, y0), (x1, y1) = places[source], places[target]
        ax.annotate(
            "", (x1, y1), (x0, y0), arrowprops={"arrowstyle": "->", "shrinkA": 30, "shrinkB": 36}
        )
        ax.text(
            (x0 + x1) / 2,
            (y0 + y1) / 2 + 0.12,
            f"slope {value:.4g}",
            ha="center",
            color=COLOURS["vermillion"],
        )
    for name, (px, py) in places.items():
        ax.text(
            px,
            py,
            f"{name} = {values[name]}",
            ha="center",
            va="center",
            bbox={"boxstyle": "round", "fc": "white"},
        )
    ax.text(
        1,
        -1.1,
        f"{through_u:.4g} + {through_v:.4g} = {whole:.4g}",
        ha="center",
        color=COLOURS["blue"],
    )
    ax.set(xlim=(-0.4, 2.4), ylim=(-1.25, 0.95))
    ax.axis("off")
show(
    fig,
    alt=f"Two lines lead from x = 2 to the loss = 24: one through u = 4 with slopes {slopes['x', 'u']:.4g} and "
    f"{slopes['u', 'loss']:.4g}, one through v = 6 with slopes {slopes['x', 'v']:.4g} and {slopes['v', 'loss']:.4g}. "
    f"The products are {through_u:.4g} and {through_v:.4g}, their sum is {whole:.4g}.",
)

# %% [markdown]
# ### By hand, for one weight
#
# Back to the deliveries, with `start` at 6. The stations are: prediction, residual, loss. A *residual* is a prediction
# minus its target. Row `i` has the residual `r[i] = pace * km[i] + 6 - minutes[i]`, and the loss is the mean of `r**2`
# over the 24 rows.
#
# - From one residual to the loss, the local slope is `2 * r[i] / 24`: the slope of a square, and the share that one row
#   has in a mean.
# - From the pace to that residual, the local slope is `km[i]`.
# - The pace reaches the loss through all 24 residuals. So: multiply along each line, and add the lines.

# %%
residual = 2.0 * km + 6 - minutes
lines = (2 * residual / 24) * km
print("the first three lines:", sig(lines[:3]))
print("all 24 added:         ", sig(lines.sum()))
print("autograd, section 1:  ", sig(pace.grad))
print("equal to 12 decimals: ", torch.allclose(lines.sum(), pace.grad, rtol=0, atol=1e-12))

# %% [markdown]
# For several weights there is one more thing to keep in mind: shapes. PyTorch *broadcasts*: where two shapes differ, it
# repeats entries until they fit. That is handy, and it can hide a mistake.
#
# > **Fact.** A column of shape `(n, 1)` minus a vector of shape `(n,)` raises nothing. It gives all `n * n` differences.

# %%
targets = torch.tensor([1.0, 2.0, 3.0], dtype=f64)
column = targets.clone().reshape(3, 1)  # predictions that are exactly right, but as a column
difference = column - targets
print(
    "shapes:",
    tuple(column.shape),
    "minus",
    tuple(targets.shape),
    "gives",
    tuple(difference.shape),
)
print(
    "loss of perfect predictions:", sig(difference.square().mean()), "with the column,", end=" "
)
print(sig((column.squeeze(1) - targets).square().mean()), "with equal shapes")
assert difference.shape == (3, 3)

# %% [markdown]
# The next one is for paper first. `x` now has one column a weight, and `x @ w` multiplies each row by the weights and
# adds: the predictions, shape `(n,)`. Write the local slopes for entry `j` of `w`, as above. Then find the one matrix
# product that does all the adding at once; its result has the shape of `w`.


# %% exercise="1.2"
def linear_mse_gradient(w, x, y):
    """The gradient of `mean((x @ w - y)**2)` with respect to `w`. Shapes: `w (d,)`, `x (n, d)`, `y (n,)`."""
    ### BEGIN SOLUTION
    residual = x @ w - y
    return 2 / len(y) * (x.T @ residual)
    ### END SOLUTION


# %% [markdown]
# ## 3. The graph that autograd records
#
# To go back from the loss, autograd must know the way. It writes the way down while you compute forward. Each recorded
# operation becomes a *node*, and points at the nodes whose results it used. All of them together are the *graph*. A
# tensor's own node is its `grad_fn`; a node's `next_functions` are the nodes one step further from the loss.
#
# A tensor that you made yourself, not by a recorded operation, is a *leaf*. At a leaf the way ends.
#
# What if a part of the computation is not written down? Four ways to compute twice a weight, each with the same value:
# `w * 2`, `(w * 2).detach()`, `w.item() * 2`, and `w * 2` inside `with torch.no_grad():`. The first is recorded, the
# other three are not. The loss is `5 * w` plus that value.

# %%
predict("1.e")


# %%
def recorded(w):
    return w * 2


def detached(w):
    return (w * 2).detach()


def through_item(w):
    return w.item() * 2  # .item() makes a Python number


def without_recording(w):
    with torch.no_grad():
        return w * 2


true_slope = slope(lambda w: 5 * w + 2 * w, 1.5)
complaints = 0
for way in (recorded, detached, through_item, without_recording):
    w = torch.tensor(1.5, dtype=f64, requires_grad=True)
    loss = 5 * w + way(w)
    try:
        loss.backward()
        said = "no complaint"
    except RuntimeError as error_raised:
        complaints += 1
        said = type(error_raised).__name__
    print(f"{way.__name__:<18} loss {loss.item():.4g}   gradient {w.grad:.4g}   {said}")
print(f"the slope, measured by moving w: {true_slope:.4g}")
compare("1.e", "a" if complaints == 3 else "c" if complaints == 0 else "b")

# %% [markdown]
# Every loss is the same, nothing is raised, and three gradients of four are wrong. A cut in the graph is silent as long
# as another line leads to the weight. Only when no line is left does `backward()` complain.
#
# > **Fact.** `detach()`, `item()` and `torch.no_grad()` cut the graph. `backward()` raises only when the loss has no
# > graph at all; a weight whose every line was cut just keeps `None` in `.grad`.
#
# Cutting is often what you want: for a target that must not move, or a number that goes into a log. It is a mistake only
# where a gradient should have passed.

# %%
w = torch.tensor(1.5, dtype=f64, requires_grad=True)
other = torch.tensor(1.0, dtype=f64, requires_grad=True)
print(
    "does the result know its way back?",
    {
        way.__name__: torch.is_tensor(way(w)) and way(w).requires_grad
        for way in (recorded, detached, without_recording)
    },
)

(detached(w) + other).backward()
print(
    "all lines to w cut, one line to another weight:",
    w.grad,
    "for w,",
    sig(other.grad),
    "for the other",
)
try:
    detached(w).backward()
    raised = "nothing"
except RuntimeError as error_raised:
    raised = f"{type(error_raised).__name__}, {str(error_raised).split(' and')[0]}"
print("no line left at all:", raised)
assert w.grad is None and raised.startswith("RuntimeError")

# %% [markdown]
# ### Read the graph
#
# You can walk it yourself, from the loss to the leaves. This is the graph of the delivery loss with both weights.


# %%
def walk(node, depth=0):
    """The nodes from the loss to the leaves, as (depth, name)."""
    found = [(depth, node.name().split("::")[-1])]
    for below, _ in node.next_functions:
        if below is not None:
            found += walk(below, depth + 1)
    return found


pace = torch.tensor(2.0, dtype=f64, requires_grad=True)
start = torch.tensor(6.0, dtype=f64, requires_grad=True)
loss = delivery_loss(pace, start)
nodes = walk(loss.grad_fn)
for depth, name in nodes:
    print("   " * depth + name)

# %% [markdown]
# Read it from the top, against the direction of the computation: mean, square (PyTorch calls it a power), minus the
# minutes, plus the start, times the kilometres. `AccumulateGrad` is the node at a leaf. It hands the gradient over to
# `.grad`, and its name says how: it accumulates, which is the subject of lesson 2.
#
# `km` and `minutes` do not appear. They are data, nobody asked for their gradient.
#
# > **Fact.** A tensor made by you is a leaf and has no `grad_fn`; a tensor made by a recorded operation has one and is no
# > leaf. Data without `requires_grad` count as leaves too, and get no gradient.

# %%
prediction = pace * km + start
print("            is_leaf   requires_grad   has a grad_fn")
for name, tensor in {"pace": pace, "km": km, "prediction": prediction, "loss": loss}.items():
    print(
        f"{name:<10}  {tensor.is_leaf!s:<8}  {tensor.requires_grad!s:<14}  {tensor.grad_fn is not None}"
    )
assert pace.is_leaf and km.is_leaf and not prediction.is_leaf
assert pace.grad_fn is None and prediction.grad_fn is not None and not km.requires_grad

# %%
chain = [(depth, name) for depth, name in nodes if name != "AccumulateGrad"]
weights_at = {}  # where each weight hangs on the chain, found through the node's own reference to it
node = loss.grad_fn
for depth in range(len(chain)):
    for below, _ in node.next_functions:
        if below is not None and hasattr(below, "variable"):
            weights_at["pace" if below.variable is pace else "start"] = depth
    node = node.next_functions[0][0]

with style():
    fig, ax = plt.subplots(figsize=(7.2, 2.5))
    arrow = {"arrowstyle": "->", "shrinkA": 30, "shrinkB": 30}
    for depth, name in chain:
        ax.text(
            depth,
            0,
            name.replace("Backward0", "\nBackward0"),
            ha="center",
            va="center",
            fontsize=9,
            bbox=frame("blue"),
        )
        if depth:
            ax.annotate("", (depth, 0), (depth - 1, 0), arrowprops=arrow)
    for name, depth in weights_at.items():
        ax.text(
            depth,
            -1,
            f"Accumulate\nGrad: {name}",
            ha="center",
            va="center",
            fontsize=9,
            bbox=frame("bluish green"),
        )
        ax.annotate(
            "", (depth, -1), (depth, 0), arrowprops={**arrow, "shrinkA": 15, "shrinkB": 15}
        )
    ax.set(xlim=(-0.5, len(chain) - 0.5), ylim=(-1.5, 0.5))
    ax.axis("off")
show(
    fig,
    alt="The graph of the delivery loss, drawn from its nodes. A chain leads from the loss on the left: "
    + ", ".join(name for _, name in chain)
    + ". "
    + " ".join(
        f"The AccumulateGrad of {name} hangs below {chain[depth][1]}."
        for name, depth in weights_at.items()
    )
    + " Arrows point the way of the backward pass.",
)

# %% [markdown]
# The graph belongs to one forward pass. `backward()` frees the values that were kept for it. Where there were any, as
# here, a second call through the same graph raises. The next forward pass records a new graph.

# %%
loss.backward()
try:
    loss.backward()
    second = "went through"
except RuntimeError as error_raised:
    second = "RuntimeError, " + (
        "and it speaks of freed values" if "freed" in str(error_raised) else str(error_raised)
    )
print("backward a second time through the same graph:", second)
first_graph, next_graph = loss.grad_fn, delivery_loss(pace, start).grad_fn
print("a new forward pass has a new graph:", next_graph is not first_graph)

# %% [markdown]
# The explorer below draws the graph that PyTorch recorded and walks the backward pass station by station, with the local
# slope on every edge. It shows the gradient of the stations in between as it passes; only the leaves keep theirs. The
# second line, without its `#`, shows the two lines of section 2; put in an expression of your own.

# %%
expression_graph()
# expression_graph("x**2 * (3 * x)", {"x": 2.0})

# %%
quiz("1.q2")

# %% [markdown]
# ## 4. Where a gradient lives
#
# A forward pass touches many tensors: the data, the weights, the values in between, the loss. Take one of each:
# `x` is data, `w` is a weight, `h = w * x` lies in between, and `loss = (h - 1)**2`. Then call `loss.backward()`.

# %%
predict("1.f")

# %%
x = torch.tensor(3.0, dtype=f64)
w = torch.tensor(0.5, dtype=f64, requires_grad=True)
print("w.grad before the first backward:", w.grad)
h = w * x
loss = (h - 1) ** 2
loss.backward()

with warnings.catch_warnings(
    record=True
) as caught:  # reading .grad in between makes PyTorch warn: look at the warning
    warnings.simplefilter("always")
    held = {name: tensor.grad for name, tensor in {"x": x, "w": w, "h": h, "loss": loss}.items()}
for name, gradient in held.items():
    print(f"{name:<5} .grad is", gradient if gradient is None else sig(gradient))
print(
    "warnings:",
    len(caught),
    "of kind",
    caught[0].category.__name__,
    "about tensors that are not leaves",
)
holders = {name for name, gradient in held.items() if gradient is not None}
compare(
    "1.f", {frozenset("w"): "a", frozenset({"w", "h", "loss"}): "b"}.get(frozenset(holders), "c")
)

# %% [markdown]
# > **Fact.** `.grad` is `None` until a first `backward()` reaches the tensor: not zero, but nothing at all. Only leaves
# > that require gradients receive one. A tensor in between keeps its gradient when you call `retain_grad()` on it
# > before `backward()`.

# %%
w = torch.tensor(0.5, dtype=f64, requires_grad=True)
assert w.grad is None
h = w * x
h.retain_grad()
((h - 1) ** 2).backward()
print("h keeps its gradient now:", sig(h.grad), " and w has", sig(w.grad), "= that times x")

try:
    torch.tensor(0.5, requires_grad=True).grad.zero_()
except AttributeError as error_raised:
    print("setting the gradient of a fresh weight to zero:", error_raised)

# %% [markdown]
# In a real model the weights are *parameters*: `nn.Parameter` objects that a *module* (a layer, a model) holds. A module
# may also hold *buffers*, tensors that are saved with it but get no gradients, such as the running mean of a
# normalisation layer. Its `state_dict()` is the dictionary of all that is saved. An *optimizer* is what will change the
# parameters later. So there are many places where gradients could be.
#
# Below, `nn.Linear(2, 3)` is a layer from 2 inputs to 3 outputs, `nn.Sequential` runs layers one after the other,
# `.double()` turns their parameters into float64, and the 8 rows that go through together are a *batch*.
#
# > **Fact.** A gradient is a tensor of its own, attached to its parameter. It is neither in the parameter's values nor in
# > the `state_dict`, nor in the optimizer, which holds references to the parameters.

# %%
model = nn.Sequential(nn.Linear(2, 3), nn.BatchNorm1d(3), nn.Linear(3, 1)).double()
optimizer = torch.optim.Adam(model.parameters(), lr=0.1)
inputs = torch.randn(8, 2, dtype=f64)
model(inputs).square().mean().backward()

weight = model[0].weight
saved = set(model.state_dict())
listed = optimizer.param_groups[0]["params"]
facts = {
    "the gradient has the shape of its parameter": weight.grad.shape == weight.shape,
    "it shares no memory with the parameter's values": weight.grad.data_ptr()
    != weight.data_ptr(),
    "the state_dict of this model holds its parameters and buffers, nothing more": saved
    == {name for name, _ in model.named_parameters()}
    | {name for name, _ in model.named_buffers()},
    "the optimizer lists the very parameter objects": all(
        a is b for a, b in zip(listed, model.parameters(), strict=True)
    ),
    "this optimizer, before its first step, has kept nothing of its own": len(optimizer.state)
    == 0,
    "no buffer has a gradient": all(buffer.grad is None for buffer in model.buffers()),
}
for statement, holds in facts.items():
    print(f"{statement}: {holds}")
assert all(facts.values())

del optimizer
print("the optimizer is gone, the gradient is still there:", weight.grad is not None)

# %%
boxes = {
    "parameter": (1.0, 1.0, f"parameter 0.weight\nvalues of shape {tuple(weight.shape)}"),
    "gradient": (3.0, 1.0, f".grad\nits own tensor, {tuple(weight.grad.shape)}"),
    "optimizer": (1.0, 2.1, f"optimizer\na list of {len(listed)} references"),
    "state": (1.0, -0.1, f"state_dict\n{len(saved)} entries, no gradient"),
}
arrows = {
    ("optimizer", "parameter"): "refers to",
    ("parameter", "gradient"): "owns",
    ("state", "parameter"): "saves the values",
}
with style():
    fig, ax = plt.subplots(figsize=(6.8, 3.6))
    for (source, target), words in arrows.items():
        (x0, y0, _), (x1, y1, _) = boxes[source], boxes[target]
        ax.annotate(
            "",
            (x1, y1),
            (x0, y0),
            arrowprops={"arrowstyle": "->", "shrinkA": 30, "shrinkB": 30 if x0 == x1 else 62},
        )
        side = x0 == x1
        ax.text(
            (x0 + x1) / 2 + 0.06 * side,
            (y0 + y1) / 2 + 0.12 * (not side),
            words,
            ha="left" if side else "center",
            va="center",
        )
    for name, (px, py, label) in boxes.items():
        colour = COLOURS["vermillion" if name == "gradient" else "blue"]
        ax.text(
            px,
            py,
            label,
            ha="center",
            va="center",
            bbox={"boxstyle": "round,pad=0.5", "fc": "white", "ec": colour},
        )
    ax.set(xlim=(-0.2, 4.0), ylim=(-0.5, 2.5))
    ax.axis("off")
show(
    fig,
    alt=f"Four boxes. The optimizer, a list of {len(listed)} references, refers to the parameter. The state_dict, "
    f"{len(saved)} entries without gradients, saves its values. The parameter owns .grad, a tensor of its own of shape "
    f"{tuple(weight.grad.shape)}. No arrow leads from the optimizer or the state_dict to the gradient.",
)

# %% [markdown]
# `backward()` *stores*. There is another call that *returns*: `torch.autograd.grad(loss, tensors)` gives the gradients
# back in a tuple and writes them nowhere.
#
# > **Fact.** `torch.autograd.grad` leaves every `.grad` as it was. It raises, by default, when the loss does not
# > use one of the tensors.

# %%
w = torch.tensor([1.0, 2.0], dtype=f64, requires_grad=True)
idle = torch.tensor(1.0, dtype=f64, requires_grad=True)
(returned,) = torch.autograd.grad(w.square().sum(), [w])
print("returned:", sig(returned), " stored:", w.grad)
try:
    torch.autograd.grad(w.square().sum(), [w, idle])
    raised = "nothing"
except RuntimeError as error_raised:
    raised = str(error_raised)
print("with a tensor that the loss does not use:", raised)
print("allowed:", torch.autograd.grad(w.square().sum(), [idle], allow_unused=True))
assert w.grad is None and raised != "nothing"

# %%
quiz("1.q3")

# %% [markdown]
# In the next exercise somebody else's gradients may already stand in `.grad`, and you must not disturb them. Frozen
# parameters (`requires_grad` is `False`), unused ones and *tied* ones (one parameter used in two places) are part of the
# game. `model.named_parameters()` gives pairs of name and parameter.


# %% exercise="1.3"
def parameter_gradients(model, loss_fn, x, y):
    """{name: gradient} of `loss_fn(model(x), y)` for this batch alone. Every `.grad` stays as it was."""
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
# ## 5. The gradient points uphill, the optimizer decides the step
#
# With two weights the gradient has two entries, so it is an arrow on the map of pace and start. Where does it point?
#
# > **Fact.** Of all directions on the map, drawn in these units, the loss rises fastest along the gradient, and falls
# > fastest against it.


# %%
def both(weights):
    """The delivery loss of `weights = [pace, start]`."""
    return delivery_loss(weights[0], weights[1])


here = torch.tensor([2.0, 7.0], dtype=f64, requires_grad=True)
(gradient,) = torch.autograd.grad(both(here), here)

angles = torch.arange(360, dtype=f64)
rises = torch.stack(
    [both(here.detach() + 1e-4 * torch.stack([a.cos(), a.sin()])) for a in angles.deg2rad()]
)
arrow_angle = torch.atan2(gradient[1], gradient[0]).rad2deg() % 360
print(
    "of 360 small moves the loss rises most at",
    rises.argmax().item(),
    "degrees and falls most at",
    rises.argmin().item(),
)
print(f"the gradient points at {arrow_angle:.1f} degrees")
assert abs(rises.argmax() - arrow_angle) < 1 and abs(rises.argmin() + 180 - arrow_angle) < 1

# %% [markdown]
# So the gradient points uphill. *Gradient descent* goes the other way: `weight <- weight - lr * gradient`. The *learning
# rate* `lr` is a number that you choose. PyTorch calls this rule SGD. Other optimizers read the same gradient and make
# something else of it.
#
# Take a loss whose slopes never change: `100 * a + 1 * b + 0.01 * c`. Give each optimizer the same gradient,
# `[100, 1, 0.01]`, and look at the very first step with `lr = 0.1`.

# %%
predict("1.g")

# %%
slopes = torch.tensor([100.0, 1.0, 0.01], dtype=f64)


def moves(make_optimizer, steps=3):
    """How far each weight moved in each step; the gradient is the same at every step."""
    weights = torch.zeros(3, dtype=f64, requires_grad=True)
    optimizer = make_optimizer([weights])
    moved = []
    for _ in range(steps):
        before = weights.detach().clone()
        weights.grad = slopes.clone()
        optimizer.step()
        moved.append(weights.detach() - before)
    return moved


rules = {
    "SGD": lambda p: torch.optim.SGD(p, lr=0.1),
    "SGD, momentum 0.9": lambda p: torch.optim.SGD(p, lr=0.1, momentum=0.9),
    "Adam": lambda p: torch.optim.Adam(p, lr=0.1),
}
moved = {name: moves(rule) for name, rule in rules.items()}
for name, steps_made in moved.items():
    print(name)
    for number, step in enumerate(steps_made, 1):
        print(
            f"   step {number}: moved {sig(step)},  moved / -(lr * gradient) = {sig(step / (-0.1 * slopes))}"
        )

adam = moved["Adam"][0].abs()
compare(
    "1.g",
    "b"
    if adam.max() / adam.min() < 1.01
    else "a"
    if torch.allclose(adam / adam[1], slopes)
    else "c",
)

# %% [markdown]
# SGD moves in proportion to the gradient, and so did momentum at its first step. Then momentum grows, although the gradient
# is the same, because it remembers earlier ones. Adam divides a running mean of the gradient by a running size of it. These
# slopes stay the same, so their size cancels, and every weight moves equally far.
#
# > **Fact.** Plain SGD changes a weight by exactly `-lr * gradient`. Adam and momentum do not: the change also depends on
# > gradients of earlier steps and on the optimizer's rule.

# %%
target = -0.1 * slopes
for name, steps_made in moved.items():
    print(
        f"{name:<18} every step is -lr * gradient:",
        all(torch.allclose(step, target) for step in steps_made),
    )
assert [all(torch.allclose(s, target) for s in made) for made in moved.values()] == [
    True,
    False,
    False,
]

# %% [markdown]
# ### How large may the learning rate be?
#
# For a bowl-shaped (quadratic) loss the answer can be measured, and predicted. The *curvature* says how fast the slope
# itself changes. With two weights there is a flattest and a steepest direction; PyTorch computes all second derivatives
# with `torch.autograd.functional.hessian`, and the *eigenvalues* of that matrix are the curvatures along those special
# directions. Both weights of the delivery model are free here.

# %%
hessian = torch.autograd.functional.hessian(both, torch.tensor([2.0, 7.0], dtype=f64))
curvatures = torch.linalg.eigvalsh(hessian)
print("curvatures, flattest and steepest direction:", sig(curvatures))
print(
    "1 / steepest:",
    sig(1 / curvatures[1]),
    "  2 / steepest:",
    sig(2 / curvatures[1]),
    "  2 / flattest:",
    sig(2 / curvatures[0]),
)

# %%
predict("1.h")

# %%
design = torch.stack([km, torch.ones_like(km)], dim=1)
best_weights = torch.linalg.lstsq(design, minutes[:, None]).solution[:, 0]  # the exact minimum


def descend(lr, steps, start_at=(2.0, 7.0)):
    """The points of gradient descent on the delivery loss."""
    weights = torch.tensor(start_at, dtype=f64)
    track = [weights]
    for _ in range(steps):
        leaf = weights.clone().requires_grad_()
        (gradient,) = torch.autograd.grad(both(leaf), leaf)
        weights = weights - lr * gradient
        track.append(weights)
    return track


def distance_left(lr, steps=200):
    """How far from the minimum the walk ends, as a share of the distance at its beginning."""
    track = descend(lr, steps)
    return ((track[-1] - best_weights).norm() / (track[0] - best_weights).norm()).item()


low, high = 0.01, 2.0  # the first converges, the second diverges: halve the interval between them
for _ in range(12):
    middle = (low + high) / 2
    low, high = (middle, high) if distance_left(middle) < 1 else (low, middle)
print("walks end nearer to the minimum up to lr =", sig(low))
threshold = low
candidates = {"a": 1 / curvatures[1], "b": 2 / curvatures[1], "c": 2 / curvatures[0]}
compare("1.h", min(candidates, key=lambda key: abs(candidates[key].item() - threshold)))

# %% [markdown]
# > **Fact.** On a bowl-shaped quadratic loss gradient descent converges below `lr = 2 / (largest curvature)`, and above it
# > diverges from almost any start. The steepest direction sets the limit, for all weights.

# %%
limit = (2 / curvatures[1]).item()
left = {share: distance_left(share * limit, 400) for share in (0.5, 0.99, 1.01, 1.1)}
for share, distance in left.items():
    print(
        f"lr = {share:g} * limit: after 400 steps the distance is {distance:.1e} of the first one"
    )
assert left[0.99] < 0.01 and left[1.01] > 100 and abs(threshold / limit - 1) < 0.01

# %%
grid_pace, grid_start = torch.meshgrid(
    torch.linspace(-0.5, 8.5, 91, dtype=f64),
    torch.linspace(1.5, 9.5, 81, dtype=f64),
    indexing="ij",
)
heights = (grid_pace[..., None] * km + grid_start[..., None] - minutes).square().mean(-1)
with style():
    fig, axes = plt.subplots(1, 3, figsize=(9.6, 3.5), sharey=True)
    for ax, share in zip(axes, (0.3, 0.9, 1.05), strict=True):
        ax.contour(
            grid_pace, grid_start, heights.log(), levels=9, colors="#999999", linewidths=0.8
        )
        track = torch.stack(descend(share * limit, 12))
        ax.plot(
            track[:, 0], track[:, 1], "o-", markersize=4, linewidth=1.4, color=COLOURS["blue"]
        )
        ax.plot(*best_weights, "*", markersize=12, color=COLOURS["vermillion"])
        ax.set(title=f"lr = {share:g} * limit", xlabel="pace", xlim=(-0.5, 8.5), ylim=(1.5, 9.5))
    axes[0].set_ylabel("start")
show(
    fig,
    alt="Contour lines of the delivery loss over pace and start: a long narrow valley with the minimum, a star, near pace "
    f"{best_weights[0]:.2g} and start {best_weights[1]:.2g}. Twelve steps each. At 0.3 of the limit the walk drops into the "
    "valley and creeps along it. At 0.9 it jumps from wall to wall, a little nearer each time. At 1.05 each jump is longer "
    "than the one before.",
)

# %% [markdown]
# The gradient at the starting point is the same in all three pictures. What became of it was the optimizer's doing. Now
# choose the learning rate yourself. The explorer fits another line, with weights `w` and `b`; its limit stands in the
# text below the map. Another start goes into the call, such as `loss_surface(start=(3.0, 2.0))`.

# %%
loss_surface()

# %%
quiz("1.q4")

# %% [markdown]
# Your own descent. Two things can go wrong without a word. A list may hold the same tensor many times, and then every
# entry shows its last value. And a point may still carry the graph of all points before it.


# %% exercise="1.4"
def gradient_descent(f, x0, lr, steps):
    """The `steps + 1` points of gradient descent on `f` from `x0`, each its own tensor without graph."""
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
# A network of two layers is a longer line of stations. The first layer multiplies by weights and adds a *bias*, `tanh`
# bends the result, the second layer multiplies and adds again.
#
# Going back, each station asks one thing: a gradient arrived at my output; what do I hand to my input? It multiplies by
# its local slope. For `tanh` that slope is `1 - h**2`, where `h` is the value that came *out* of it.

# %%
predict("1.i")

# %%
z = torch.tensor(3.8, dtype=f64, requires_grad=True)
h = torch.tanh(z)
h.backward()
by_rule = (1 - h**2).item()
measured = slope(lambda z: torch.tanh(torch.as_tensor(z, dtype=f64)).item(), 3.8)

print("h = tanh(3.8) =", sig(h))
print(
    "local slope: by the rule",
    sig(by_rule),
    "  autograd",
    sig(z.grad),
    "  measured",
    sig(measured),
)
options = {"a": h.item(), "b": 0.0018, "c": 1.0}
compare("1.i", min(options, key=lambda key: abs(options[key] - measured)))

# %% [markdown]
# A unit near 1 or -1 is *saturated*. Its value is large, but the gradient that passes back through it is nearly gone.
#
# ### One number at a time
#
# Here is the smallest network with two layers: one input, one hidden unit, one output. Forward, keep what you pass.
# Backward, visit the same stations in the opposite order. Every number computed by hand stands beside autograd's.

# %%
x, y = torch.tensor(0.7, dtype=f64), torch.tensor(0.2, dtype=f64)
w1, b1, w2, b2 = (
    torch.tensor(value, dtype=f64, requires_grad=True) for value in (1.2, -0.3, 0.9, 0.1)
)

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

# %%
line = [("x", x), ("z", z), ("h", h), ("out", out), ("loss", loss)]
local = {"z": w1, "h": 1 - h**2, "out": w2, "loss": 2 * (out - y)}
with style():
    fig, (top, bottom) = plt.subplots(2, 1, figsize=(7.2, 5.0), height_ratios=(1, 1.5))
    for place, (name, tensor) in enumerate(line):
        top.text(
            place,
            0,
            f"{name}\n{sig(tensor)}",
            ha="center",
            va="center",
            bbox={"boxstyle": "round", "fc": "white"},
        )
        if place:
            top.annotate(
                "",
                (place - 0.22, 0.12),
                (place - 0.78, 0.12),
                arrowprops={"arrowstyle": "->", "color": "#666666"},
            )
            top.annotate(
                "",
                (place - 0.78, -0.12),
                (place - 0.22, -0.12),
                arrowprops={"arrowstyle": "->", "color": COLOURS["vermillion"]},
            )
            top.text(
                place - 0.5,
                -0.42,
                f"slope {sig(local[name])}",
                ha="center",
                color=COLOURS["vermillion"],
                fontsize=10,
            )
    top.set(
        xlim=(-0.4, 4.4),
        ylim=(-0.6, 0.5),
        title="Forward along the line, back by the local slopes",
    )
    top.axis("off")
    axis = torch.linspace(-5, 5, 201, dtype=f64)
    bottom.plot(axis, torch.tanh(axis), label="tanh(z)")
    bottom.plot(axis, 1 - torch.tanh(axis) ** 2, label="its slope")
    bottom.plot(z.item(), 1 - h.item() ** 2, "o", color=COLOURS["vermillion"])
    bottom.plot(3.8, measured, "s", color=COLOURS["vermillion"])
    bottom.annotate("this network", (z.item(), 1 - h.item() ** 2), (1.2, 0.62))
    bottom.annotate("saturated", (3.8, measured), (3.3, 0.15))
    bottom.set(xlabel="z")
    bottom.legend(loc="upper left")
show(
    fig,
    alt="Above, five stations in a line, x, z, h, out and loss, with their values and the local slope under each link: "
    + ", ".join(f"{sig(value)} into {name}" for name, value in local.items())
    + ". Below, tanh and its slope over z: the slope is a bump around zero. This network's unit sits on the bump, the "
    "saturated one at z = 3.8 far out where the slope is nearly zero.",
)

# %% [markdown]
# ### Whole layers at once
#
# With many rows and units the numbers become matrices, and the local rule must produce the right *shape*. A layer
# computes `Z = X @ W + b`. Let `G` be the gradient that arrives at `Z`, with the shape of `Z`. Which product of `G` with
# `X` is the gradient of `W`, and which product of `G` with `W` is that of `X`? (`.T` swaps rows and columns.) Try them
# all, first with sizes that differ, then with as many inputs as units.


# %%
def products(name, other, incoming):
    """Every product of `other` and `incoming`, either way round, transposed or not, that is defined."""
    for left_name, left in ((name, other), (f"{name}.T", other.T)):
        for right_name, right in (("G", incoming), ("G.T", incoming.T)):
            if left.shape[1] == right.shape[0]:
                yield f"{left_name} @ {right_name}", left @ right
            if right.shape[1] == left.shape[0]:
                yield f"{right_name} @ {left_name}", right @ left


def try_products(rows, inputs, units):
    """Print which products have the shape of the wanted gradient, and which equal it."""
    draw = torch.Generator().manual_seed(1)
    X = torch.randn(rows, inputs, generator=draw, dtype=f64, requires_grad=True)
    W = torch.randn(inputs, units, generator=draw, dtype=f64, requires_grad=True)
    G = torch.randn(rows, units, generator=draw, dtype=f64)
    of_w, of_x = torch.autograd.grad(X @ W, [W, X], grad_outputs=G)  # G arrives, these leave
    print(f"{rows} rows, {inputs} inputs, {units} units")
    for wanted, gradient_wanted, partner_name, partner in (
        ("W", of_w, "X", X),
        ("X", of_x, "W", W),
    ):
        print(f"   gradient of {wanted}, shape {tuple(gradient_wanted.shape)}")
        for formula, product in products(partner_name, partner, G):
            fits = product.shape == gradient_wanted.shape
            verdict = (
                "does not fit"
                if not fits
                else "right"
                if torch.allclose(product, gradient_wanted)
                else "fits, WRONG"
            )
            print(f"      {formula:<10} {tuple(product.shape)}  {verdict}")


try_products(rows=5, inputs=3, units=4)
try_products(rows=5, inputs=3, units=3)

# %% [markdown]
# When all sizes differ, one product alone has the right shape, and it is right. So shapes find the formula. They do not
# prove it: with as many inputs as units, a transposed formula fits and is wrong. Test with sizes that differ, and compare
# with a measurement.
#
# The bias is simpler. Row by row it is added to every row, so it reaches the loss along as many lines as there are rows.
# What does the chain rule say about several lines?

# %%
quiz("1.q5")


# %% exercise="1.5"
def two_layer_backward(W1, b1, W2, b2, x, y):
    """The gradients of `mean((tanh(x @ W1 + b1) @ W2 + b2 - y)**2)` as {"W1", "b1", "W2", "b2"}, by hand."""
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
# ## Myths
#
# You will meet these sentences in courses, blog posts and answers. Each is followed by a measurement.
#
# ### Claim: "The gradient tells every weight how much it should change"
#
# Start the deliveries at pace 2 and start 7, and compare what the gradient says with what each weight would need to
# reach the best values.

# %%
needed = best_weights - here.detach()
for name, g, need in zip(("pace", "start"), gradient.tolist(), needed.tolist(), strict=True):
    print(
        f"{name:<5}  downhill is {'up' if g < 0 else 'down':<4}  needed: {need:+.4g}, which is {'up' if need > 0 else 'down'}"
    )
wrong_way = [
    name
    for name, g, need in zip(("pace", "start"), gradient, needed, strict=True)
    if -g * need < 0
]
print("downhill leads away from the best value for:", ", ".join(wrong_way))
print(
    "size of the gradient:", sig(gradient.abs()), "  size of what is needed:", sig(needed.abs())
)
print(
    "Verdict: misleading. It says how the loss reacts to small moves from here, not where the best weights are."
)
assert wrong_way == ["start"]

# %% [markdown]
# At this point a larger `start` lowers the loss, because every prediction is too short. Yet the best `start` is smaller.
# The gradient is right about here, and it makes no promise about there. How much a weight changes is the optimizer's
# decision, as section 5 showed.
#
# ### Claim: "The gradient is the error, sent backwards"

# %%
residuals = design @ best_weights - minutes
gradient_at_best = 2 / 24 * design.T @ residuals
print(
    "at the best weights: mean size of the errors",
    sig(residuals.abs().mean()),
    "minutes,",
    end=" ",
)
print(
    "largest gradient",
    "below 1e-12" if gradient_at_best.abs().max() < 1e-12 else sig(gradient_at_best.abs().max()),
)

w = torch.tensor([1.0, 1.0], dtype=f64, requires_grad=True)
two_rows = torch.tensor([0.0, 5.0], dtype=f64)
per_row = (w * two_rows - (w.detach() * two_rows - 10)) ** 2  # both rows miss by exactly 10
per_row.sum().backward()
print("two weights whose predictions both miss by 10: gradients", sig(w.grad))
print(
    "Verdict: false. The error is one factor of it; the local slopes between the error and the weight are the others."
)
assert gradient_at_best.abs().max() < 1e-12 and residuals.abs().mean() > 0.1

# %% [markdown]
# ### Claim: "A gradient of zero means that the minimum is found"
#
# `relu(x)` is `x` where `x` is positive, and 0 elsewhere.

# %%
flat_places = {
    "bottom of a bowl, x**2 at 0": (lambda p: p**2, 0.0),
    "top of a hill, -x**2 at 0": (lambda p: -(p**2), 0.0),
    "a terrace, x**3 at 0": (lambda p: p**3, 0.0),
    "a dead unit, (relu(x) - 1)**2 at -2": (lambda p: (torch.relu(p) - 1) ** 2, -2.0),
}
for name, (f, at) in flat_places.items():
    p = torch.tensor(at, dtype=f64, requires_grad=True)
    (g,) = torch.autograd.grad(f(p), p)
    around = torch.linspace(at - 4, at + 4, 81, dtype=f64)
    lower = (f(around) < f(p) - 1e-12).any().item()
    print(f"{name:<36} gradient zero: {(g == 0).item()!s:<5} a lower point within 4: {lower}")
    assert g == 0
print(
    "Verdict: false. Zero says flat. Flat is a minimum, a maximum, a terrace, or a unit that hears nothing."
)

# %% [markdown]
# ### Claim: "A step against the gradient always lowers the loss"

# %%
loss_here = both(here).item()
for lr in (0.001, 0.01, 0.1, 0.2, 0.3):
    after = both(here.detach() - lr * gradient).item()
    print(
        f"one step with lr {lr:<5}: loss {loss_here:.4g} -> {after:.4g}, {'lower' if after < loss_here else 'HIGHER'}"
    )
print("Verdict: only if the step is small enough. The slope holds here; the loss is a curve.")
assert both(here.detach() - 0.001 * gradient) < loss_here < both(here.detach() - 0.3 * gradient)

# %% [markdown]
# ### Claim: "Gradients are stored inside the weights, so computing or clearing them touches what was learned"

# %%
model = nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 1)).double()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
batch = torch.randn(6, 3, dtype=f64)
learned = {name: value.clone() for name, value in model.state_dict().items()}


def unchanged():
    return all(torch.equal(value, learned[name]) for name, value in model.state_dict().items())


model(batch).square().mean().backward()
print("weights as before, bit for bit, after backward():                    ", unchanged())
for parameter in model.parameters():
    parameter.grad *= 1000
print("... after multiplying every gradient by 1000:                        ", unchanged())
model.zero_grad(set_to_none=False)
print("... after writing zeros into every gradient:                         ", unchanged())
model.zero_grad()
print("... after removing every gradient:                                   ", unchanged())
still_same = unchanged()
model(batch).square().mean().backward()
optimizer.step()
print("... after optimizer.step(), the one call that moves weights:         ", unchanged())
print(
    "Verdict: false. A gradient is a separate tensor; only the step reads it and changes the weights."
)
assert still_same and not unchanged()

# %% [markdown]
# ### Claim: "Each optimizer has its own gradients"

# %%
shared = torch.tensor(2.0, dtype=f64, requires_grad=True)
first, second = torch.optim.SGD([shared], lr=0.1), torch.optim.SGD([shared], lr=0.1)
(3 * shared).backward()
same = first.param_groups[0]["params"][0].grad is second.param_groups[0]["params"][0].grad
print("both optimizers see the same gradient tensor:", same)
first.zero_grad()
print("after first.zero_grad() the second one sees: ", second.param_groups[0]["params"][0].grad)
before = shared.item()
second.step()
print("its step then moves the weight by:           ", sig(shared.item() - before))
print(
    "Verdict: false. There is one gradient for each weight, and whoever holds the weight can use it or clear it."
)
print("Lesson 2 returns to this.")
assert same and shared.grad is None and shared.item() == before

# %% [markdown]
# ### Claim: "Gradient descent needs its gradients cleared"
#
# The same descent, once with `.grad` and a clearing call at each step, once with functions that return a gradient. With
# these there is nothing to clear.

# %%
with_storage = torch.tensor([2.0, 7.0], dtype=f64, requires_grad=True)
optimizer = torch.optim.SGD([with_storage], lr=0.1)
by_func = by_grad = torch.tensor([2.0, 7.0], dtype=f64)
for _ in range(50):
    optimizer.zero_grad()
    both(with_storage).backward()
    optimizer.step()

    by_func = by_func - 0.1 * torch.func.grad(both)(by_func)

    leaf = by_grad.clone().requires_grad_()
    by_grad = by_grad - 0.1 * torch.autograd.grad(both(leaf), leaf)[0]

print(
    "after 50 steps:",
    sig(with_storage),
    "with .grad,",
    sig(by_func),
    "torch.func.grad,",
    sig(by_grad),
    "torch.autograd.grad",
)
farthest = max((with_storage.detach() - other).abs().max().item() for other in (by_func, by_grad))
print("the three differ by less than 1e-12:", farthest < 1e-12)
print(
    "Verdict: false. The method needs a fresh gradient; clearing is the price of storing it in .grad."
)
assert farthest < 1e-12 and leaf.grad is None

# %% [markdown]
# ### Claim: "For a numerical gradient, the smaller h the better, above all in float32"

# %%
one = torch.tensor(1.0, dtype=torch.float32)
for h in (1e-1, 1e-2, 1e-5, 1e-6, 1e-7, 1e-8):
    estimate = ((one + h) ** 3 - (one - h) ** 3) / (2 * h)
    print(f"slope of x**3 at 1 in float32, h = {h:.0e}: {estimate:.4g}   (true: 3)")
print("1 + 1e-8 is a number of its own in float32:", bool(one + 1e-8 != one))
print(
    "Verdict: false. Below its best value a smaller h is worse, until the probes coincide and the slope reads 0."
)
assert (one + 1e-8) == one

# %% [markdown]
# ### Claim: "`model.eval()` turns gradients off"
#
# A model has two modes, training and evaluation. Some layers behave differently in them: dropout sets random values to
# zero, but only in training.

# %%
layer = nn.Sequential(nn.Linear(3, 1), nn.Dropout(0.5)).double()
layer.eval()
out = layer(batch)
with torch.no_grad():
    layer.train()
    silent = layer(batch)
print("eval mode, records a graph:                ", out.requires_grad)
print("train mode inside no_grad, records a graph:", silent.requires_grad)
print(
    "Verdict: false. eval() changes what layers such as dropout do; no_grad() stops the recording."
)
assert out.requires_grad and not silent.requires_grad

# %% [markdown]
# ### Claim: "A frozen layer stops the gradients on their way"

# %%
model = nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 1)).double()
model[2].requires_grad_(False)
model(batch).square().mean().backward()
print("frozen last layer, its own gradient:", model[2].weight.grad)
print(
    "the layer before it has a gradient: ",
    model[0].weight.grad is not None and model[0].weight.grad.norm().item() > 0,
)
print(
    "Verdict: false. Freezing says that this layer wants no gradient; the way through it stays open."
)
assert model[2].weight.grad is None and model[0].weight.grad.norm() > 0

# %% [markdown]
# ### Claim: "What autograd returns is the derivative"


# %%
def autograd_slope(f, at):
    p = torch.tensor(at, dtype=f64, requires_grad=True)
    return torch.autograd.grad(f(p), p)[0].item()


def as_function(f):
    return lambda number: f(torch.tensor(number, dtype=f64)).item()


cases = {
    "sin(x) at 1, smooth": (torch.sin, 1.0),
    "relu(x) at 0, a corner": (torch.relu, 0.0),
    "relu(x) - relu(-x) at 0, which is x": (lambda p: torch.relu(p) - torch.relu(-p), 0.0),
    "where(x > 0, sqrt(x), 0 * x) at -1": (
        lambda p: torch.where(p > 0, torch.sqrt(p), 0 * p),
        -1.0,
    ),
}
print("function                              autograd   central difference")
for name, (f, at) in cases.items():
    print(f"{name:<36}  {autograd_slope(f, at):<8.4g}   {slope(as_function(f), at):.4g}")
print(
    "Verdict: where every station has a derivative, yes. At a corner it is a convention, and a convention can be wrong;"
)
print("a branch that was not chosen can still send nan, because 0 times nan is nan.")
assert autograd_slope(cases["relu(x) - relu(-x) at 0, which is x"][0], 0.0) != 1.0

# %% [markdown]
# ## In the wild
#
# Real threads in which a graph was cut, or a gradient went where nobody looked for it.
#
# **`wangle53/CSA-CDGAN#5`: the second half of a loss reached nobody.** A generator was to be trained with two losses,
# one against the true image and one through a discriminator, a second network that judges the result. The
# discriminator's judgement was detached before it went into the loss, and a reader objected that the loss could then
# update nothing. The author's wish was to spare the discriminator. The same shape in small:

# %%
generator_net, discriminator = (
    nn.Linear(2, 2).double(),
    nn.Sequential(nn.Linear(2, 1), nn.Sigmoid()).double(),
)
noise, truth = torch.randn(8, 2, dtype=f64), torch.randn(8, 2, dtype=f64)


def generator_gradient(how):
    """The generator's gradient of both losses, and whether the discriminator received one."""
    generator_net.zero_grad()
    discriminator.zero_grad()
    discriminator.requires_grad_(how != "discriminator frozen")
    fake = generator_net(noise)
    judged = discriminator(fake)
    if how == "judgement detached":
        judged = judged.detach()
    total = (fake - truth).square().mean()
    if how != "first loss alone":
        total = total - judged.log().mean()
    total.backward()
    discriminator.requires_grad_(True)
    return generator_net.weight.grad.clone(), discriminator[0].weight.grad is not None


alone, _ = generator_gradient("first loss alone")
for how in ("judgement detached", "both connected", "discriminator frozen"):
    found, reached = generator_gradient(how)
    print(
        f"{how:<21} same as without the second loss: {torch.equal(found, alone)!s:<5}  discriminator has gradients: {reached}"
    )

# %% [markdown]
# The detached version trains on the first loss alone, bit for bit. To spare the discriminator, freeze its parameters
# while the generator learns, and leave the way through it open.
#
# **`pytorch/pytorch#7617`: a checkpointed block had no graph.** *Checkpointing* saves memory: the block's inner values are
# thrown away and computed again on the way back. In its older ("reentrant") form the block's output requires a gradient
# only when an *input* does. The parameters inside do not count. Here such a block stands in front of a second layer.

# %%
block, head, data = (
    nn.Linear(4, 3).double(),
    nn.Linear(3, 1).double(),
    torch.randn(10, 4, dtype=f64),
)
for reentrant in (True, False):
    block.zero_grad()
    head.zero_grad()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        out = checkpoint(block, data, use_reentrant=reentrant)
        head(out).square().mean().backward()
    print(f"use_reentrant={reentrant}: {len(caught)} warning(s)")
    print("   the block's output requires a gradient:", out.requires_grad)
    print(
        "   the head has a gradient:",
        head.weight.grad is not None,
        "  the block:",
        block.weight.grad is not None,
    )

# %% [markdown]
# With the older form the head trains on and the block stands still; a warning, which is easily lost in a log, is all that
# tells. The newer form, `use_reentrant=False`, has no such condition.
#
# **`ronghuaiyang/arcface-pytorch#56`: the error was silenced, not mended.** `backward()` refused a loss without a graph.
# Setting `loss.requires_grad = True` made the message go away; then the loss did not fall.

# %%
model = nn.Linear(3, 1).double()
loss = torch.tensor(
    model(batch).square().mean().item(), dtype=f64
)  # somewhere on the way, the graph was lost
loss.requires_grad = True
loss.backward()
print("the loss's own gradient:", sig(loss.grad), "  the weights':", model.weight.grad)
print("the loss is now a leaf: ", loss.is_leaf)

# %% [markdown]
# The loss became a leaf, a starting point with no way behind it. The cure is to find the cut.
#
# **`BorealisAI/advertorch#113`: gradients that nobody had asked for.** An attack looks for a small change of the *input*
# that fools a model. A user saw that its `backward()` also filled the gradients of all the model's parameters, and asked
# whether these would pile up; the library has a context manager against it. `backward()` stores into every leaf it can
# reach.

# %%
model = nn.Linear(3, 1).double()
picture = torch.randn(1, 3, dtype=f64, requires_grad=True)
model(picture).square().sum().backward()
print(
    "backward():           the input has its gradient, the model's weight has one too:",
    model.weight.grad is not None,
)
model.zero_grad()
(wanted,) = torch.autograd.grad(model(picture).square().sum(), picture)
print(
    "torch.autograd.grad:  the same input gradient",
    torch.equal(wanted, picture.grad),
    "and for the weight:",
    model.weight.grad,
)

# %% [markdown]
# ## Summary
#
# | You saw | Where |
# |---|---|
# | A gradient is the slope of the loss for small moves of one weight, in units of loss per unit of weight. | 1 |
# | Change the unit of a weight, and its gradient changes with it: size is not importance. | 1 |
# | The central difference has a best `h`, and float32 needs a larger one than float64. | 1 |
# | Multiply along a line of stations, add where lines meet. | 2 |
# | Shapes that do not match can broadcast without a word. | 2 |
# | `detach`, `item` and `no_grad` cut the graph, and a cut is silent while another line is left. | 3 |
# | `.grad` is `None` before the first backward. It belongs to the leaf: not to its values, the `state_dict` or the optimizer. | 4 |
# | `backward()` stores, `torch.autograd.grad` returns. | 4 |
# | SGD moves by `-lr * gradient`; momentum and Adam do not. | 5 |
# | On a bowl, descent diverges above `2 / (largest curvature)`. | 5 |
# | A gradient has the shape of its tensor; a saturated unit lets almost nothing back. | 6 |
#
# ## What comes next
#
# You saw a node called `AccumulateGrad`. In lesson 2 you call `backward()` more than once, and find out what it does with
# the gradient that is already there, why that is so, and when it is exactly what you want.

# %%
progress(1)
