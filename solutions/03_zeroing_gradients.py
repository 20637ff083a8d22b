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
# # How to zero gradients
#
# In lesson 2 you saw that `.grad` adds up, and that clearing it is your loop's task. This lesson
# is about that one line. There are several ways to write it. They look alike, and they do
# different things to your weights and to your memory.
#
# What you will be able to do:
#
# - name four ways to clear, and say for each which gradients it reaches and what it leaves;
# - predict what an optimizer does with a gradient that is `None`, and with one that is 0;
# - find the parameters that a call of `zero_grad()` does not reach;
# - freeze a layer so that no later step moves it;
# - count the bytes that clearing moves, and measure the memory that it saves, or does not save.

# %%
import copy
import inspect
from bisect import bisect_right

import torch
from torch import nn
from torch.nn.utils import clip_grad_norm_
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils.flop_counter import FlopCounterMode

from course_utils.data import digits
from course_utils.lessons.lesson3 import figures
from course_utils.lessons.lesson3.live import LiveBytes
from course_utils.lessons.measured import closest, true_or_false

# %% [markdown]
# Four small helpers for the whole lesson, as in lesson 2.

# %%
f64 = torch.float64


def draw(*shape, seed=0):
    """Normal numbers of that shape, the same every time."""
    generator = torch.Generator().manual_seed(seed)
    return torch.randn(*shape, generator=generator, dtype=f64)


def fill(module, seed=0):
    """Give a module weights that are the same every time."""
    with torch.no_grad():
        for index, parameter in enumerate(module.to(f64).parameters()):
            parameter.copy_(0.3 * draw(*parameter.shape, seed=seed + index))
    return module


def small_model():
    """10 inputs, 16 hidden values, 2 outputs."""
    return fill(nn.Sequential(nn.Linear(10, 16), nn.Tanh(), nn.Linear(16, 2)))


def squared_error(prediction, target):
    return ((prediction - target) ** 2).mean()


x, y = draw(24, 10, seed=1), draw(24, 2, seed=2)

# %% [markdown]
# ## Two branches, one in use
#
# A model has two branches, two small networks side by side. One reads handwritten digits, the
# other reads the same digits turned upside down. One optimizer, Adam with a weight decay of 0.01,
# holds the parameters of both.
#
# For five passes over the data both branches are trained. Then the project changes. For twenty
# further passes only upright digits come. The second branch is still in the model, and its
# parameters are still in the optimizer, but it is in no loss. No gradient arrives at it any more.
#
# Two loops train this model. They differ in one argument: one calls
# `zero_grad(set_to_none=True)`, which sets every `.grad` to `None`. The other calls
# `zero_grad(set_to_none=False)`, which fills every `.grad` with zeros.

# %%
data = digits()
pixels, test_pixels = data.x.double(), data.x_test.double()


def upside_down(rows):
    return rows.flip(1)  # 64 pixels from the last to the first: half a turn


def two_branches(set_to_none, make=torch.optim.Adam, decay=0.01, trained=5, passes=25):
    """The second branch's share of right digits after each pass, and both branches at the end."""
    torch.manual_seed(0)
    upright, turned = (
        nn.Sequential(nn.Linear(64, 32), nn.ReLU(), nn.Linear(32, 10)).double() for _ in range(2)
    )
    both = [*upright.parameters(), *turned.parameters()]
    optimizer = make(both, lr=0.01, weight_decay=decay)
    shares = []
    for number in range(passes):
        for rows, labels in zip(pixels.split(50), data.y.split(50), strict=True):
            optimizer.zero_grad(set_to_none=set_to_none)
            loss = nn.functional.cross_entropy(upright(rows), labels)
            if number < trained:
                loss = loss + nn.functional.cross_entropy(turned(upside_down(rows)), labels)
            loss.backward()
            optimizer.step()
        right = turned(upside_down(test_pixels)).argmax(dim=1) == data.y_test
        shares.append(right.double().mean().item())
    return shares, upright, turned


# %%
predict("3.a")

# %% claims="S2-14 S3-21 S3-22"
with_none, *none_branches = two_branches(set_to_none=True)
with_zeros, *zeros_branches = two_branches(set_to_none=False)
print("upside-down digits read right (%)   None   zeros")
for passes in (5, 10, 25):
    a, b = 100 * with_none[passes - 1], 100 * with_zeros[passes - 1]
    print(f"after pass {passes:<25}{a:>4.0f}{b:>8.0f}")
lengths = [
    torch.cat([p.detach().flatten() for p in branch.parameters()]).norm().item()
    for _, branch in (none_branches, zeros_branches)
]
print(f"length of its weights at the end{lengths[0]:>7.2f}{lengths[1]:>8.2f}")
in_use = (branches[0].parameters() for branches in (none_branches, zeros_branches))
same = all(torch.equal(a, b) for a, b in zip(*in_use, strict=True))
print("the branch in use is the same in both loops:", same)
figures.forgetting({"set to None": with_none, "filled with zeros": with_zeros}, trained=5)
forgot = {name for name, run in (("none", with_none), ("zeros", with_zeros)) if run[-1] < 0.5}
compare("3.a", "both" if len(forgot) == 2 else "".join(forgot) or "same")

# %% [markdown]
# Nothing raised an error. The branch in use is the same in both loops, to the last bit, so its
# loss and its accuracy are the same, too. Nobody would look at the other branch. When it is
# needed again, one loop has kept it and the other has unlearned it, down to guessing: its weights
# are nearly gone.
#
# Is it the zeros alone, or has the optimizer a part in it? *Weight decay* is a small pull towards
# 0, which an optimizer puts into its steps. The cell fills with zeros once more: without that
# pull, and with AdamW in place of Adam.

# %%
print("upside-down digits read right (%)   after pass 5     10     25")
shares = {}
for name, make, decay in (
    ("Adam, weight decay 0.01", torch.optim.Adam, 0.01),
    ("Adam, no weight decay", torch.optim.Adam, 0.0),
    ("AdamW, weight decay 0.01", torch.optim.AdamW, 0.01),
):
    shares[name], *_ = two_branches(set_to_none=False, make=make, decay=decay)
    numbers = "".join(f"{100 * shares[name][n - 1]:>7.0f}" for n in (5, 10, 25))
    print(f"{name:<42}{numbers}")
assert [run[-1] < 0.5 for run in shares.values()] == [True, False, False]

# %% [markdown]
# The three differ before pass 5, too: there both branches are trained, each in its way. From
# then on each loses digits. Only one goes down to guessing. Section 3 comes back to this table.
#
# `None` and 0 both seem to say "no gradient". This lesson shows where they are the same, where
# they are not, and what else differs between the ways to clear.
#
# ## 1. Four ways to clear
#
# You meet these four in programs:
#
# - `optimizer.zero_grad()`
# - `model.zero_grad()`
# - `p.grad = None`, in a loop over the parameters
# - `p.grad.zero_()`, in a loop over the parameters
#
# Here they are as functions of a model and its optimizer. `after_backward` makes a model whose
# `.grad` are filled.


# %%
def set_each_to_none(model, optimizer):
    for p in model.parameters():
        p.grad = None


def zero_each_in_place(model, optimizer):
    for p in model.parameters():
        p.grad.zero_()


ways = {
    "optimizer.zero_grad()": lambda model, optimizer: optimizer.zero_grad(),
    "model.zero_grad()": lambda model, optimizer: model.zero_grad(),
    "p.grad = None": set_each_to_none,
    "p.grad.zero_()": zero_each_in_place,
}


def after_backward():
    """A model with a gradient in every parameter, and its optimizer."""
    model = small_model()
    squared_error(model(x), y).backward()
    return model, torch.optim.SGD(model.parameters(), lr=0.1)


# %% [markdown]
# Start with a new model, of which no backward has run. You clear it, to be on the safe side.

# %%
predict("3.b")

# %% claims="S0-49"
raised = []
for name, clear in ways.items():
    model = small_model()
    try:
        clear(model, torch.optim.SGD(model.parameters(), lr=0.1))
        print(f"{name:<23}fine")
    except AttributeError as error:
        raised.append(name)
        print(f"{name:<16}AttributeError: {error}")
choices = {(): "none", ("p.grad.zero_()",): "zero", tuple(ways): "all"}
compare("3.b", choices.get(tuple(raised), "two"))

# %% [markdown]
# `None` has no method `zero_`. The two `zero_grad` ask first whether there is a gradient. A loop
# of your own that calls `zero_()` has to ask, too.
#
# Now the same four after a backward. What stands in `.grad` afterwards? And if it is a tensor, is
# it the one that was there? Each `zero_grad` is called twice: as it is, and with
# `set_to_none=False`.

# %% claims="S0-1 S0-13 S0-24 S0-25 S2-4 S2-11 S2-16 S3-5 S3-12"
every_way = {
    **ways,
    "optimizer.zero_grad(set_to_none=False)": lambda _, o: o.zero_grad(set_to_none=False),
    "model.zero_grad(set_to_none=False)": lambda m, _: m.zero_grad(set_to_none=False),
}
print(f"{'':<40}.grad is     the same tensor")
left = {}
for name, clear in every_way.items():
    model, optimizer = after_backward()
    before = [p.grad for p in model.parameters()]
    clear(model, optimizer)
    after = [p.grad for p in model.parameters()]
    is_none = all(g is None for g in after)
    left[name] = "None" if is_none else f"{max(g.abs().max().item() for g in after):g}"
    same = all(a is b for a, b in zip(after, before, strict=True))
    print(f"{name:<40}{left[name]:<13}{'-' if is_none else same}")
    assert is_none or same
assert [name for name in left if left[name] == "0"] == [
    "p.grad.zero_()",
    "optimizer.zero_grad(set_to_none=False)",
    "model.zero_grad(set_to_none=False)",
]

# %% [markdown] claims="S0-8"
# So there are two families. One takes the tensor away from the parameter and leaves `None`. The
# other keeps the tensor and writes zeros into it. Both clear: after either, backward adds to no
# old gradient. The name `zero_grad` comes from the second family, its default belongs to the
# first. Clearing is like emptying a glass before it is filled again, people say. `zero_()`
# empties it. The default takes the glass away, and backward brings another.
#
# > **Fact.** `zero_grad()`, of an optimizer and of a module, sets `.grad` to `None` unless you
# > say `set_to_none=False`.

# %% claims="S2-10 S3-1"
for owner in (torch.optim.Optimizer, nn.Module):
    default = inspect.signature(owner.zero_grad).parameters["set_to_none"].default
    print(f"{owner.__name__}.zero_grad: set_to_none={default}")
    assert default is True

# %% [markdown]
# It was not always so. The argument came with PyTorch 1.7, and `False` was the default
# (pytorch/pytorch#42754). PyTorch 2.0 turned the default around (pytorch/pytorch#92731). A text
# from before says that `zero_grad()` fills with zeros, and that `set_to_none=True` is a flag to
# be switched on. Both were right when it was written.
#
# ### Who else holds the tensor?
#
# You put a gradient aside under a name, to look at it later: `kept = model[0].bias.grad`. Then
# the loop clears. It does so with `p.grad.zero_()`, or with `p.grad = None`.

# %%
predict("3.c")

# %%
contents = {}
for name in ("p.grad.zero_()", "p.grad = None"):
    model, optimizer = after_backward()
    kept = model[0].bias.grad
    before = kept.norm().item()
    ways[name](model, optimizer)
    contents[name] = "old" if kept.norm().item() == before else "zeros"
    print(f"{name:<16}norm of kept: before {before:.4f}, after {kept.norm().item():.4f}")
found = tuple(contents.values())
compare("3.c", {("zeros", "old"): "differ"}.get(found, found[0]))

# %% [markdown]
# A name holds the tensor, not the place it came from. Filling with zeros writes into the tensor,
# and everybody who holds it sees zeros. Setting `None` empties the place, and whoever holds the
# tensor keeps the old numbers, and their memory. Section 5 measures that.

# %%
quiz("3.q1")

# %% [markdown]
# ### Who reads `.grad` after the clearing?
#
# Programs log the norm of the gradients, or clip them. Suppose such a line runs too early or too
# late, when the gradients are cleared. Here are three readers, and both states.

# %%
readers = {
    "p.grad.norm()": lambda params: max(p.grad.norm().item() for p in params),
    "the same, if not None": lambda params: max(
        (p.grad.norm().item() for p in params if p.grad is not None), default="no gradient"
    ),
    "clip_grad_norm_": lambda params: clip_grad_norm_(params, 1.0).item(),
}
read = {}
for reader, look in readers.items():
    for none in (True, False):
        model, optimizer = after_backward()
        optimizer.zero_grad(set_to_none=none)
        try:
            read[reader, none] = look(list(model.parameters()))
        except AttributeError as error:
            read[reader, none] = type(error).__name__
    print(f"{reader:<23}None: {read[reader, True]!s:<16}zeros: {read[reader, False]}")
assert read["p.grad.norm()", True] == "AttributeError"
assert [read["p.grad.norm()", False], read["clip_grad_norm_", True]] == [0, 0]

# %% [markdown]
# With zeros, each of these readers gets a number, 0, and a log shows gradients that seem to have
# vanished. With `None`, a reader that does not ask fails at once. That is a nuisance in old
# programs, and it tells you that something is out of order. When PyTorch 2.0 changed the default,
# programs that counted on a tensor there had to be mended: pytorch/examples#1172 and
# limbo018/DREAMPlace#112 are two of them. But `clip_grad_norm_` passes over `None` and says 0.
#
# ### Zero times infinity
#
# There are more ways to write zeros than `zero_()`. One is to multiply by 0. On most days it
# works.
#
# > **Fact.** `p.grad *= 0` does not clear a gradient that is infinite or NaN: the entry is NaN
# > afterwards. `zero_()` clears it.

# %%
p = nn.Parameter(torch.ones(4))
p.grad = torch.tensor([1.0, 2.0, float("inf"), float("nan")])
p.grad *= 0
print("*= 0:   ", p.grad.tolist())
assert p.grad.isnan().tolist() == [False, False, True, True]
p.grad.zero_()
print("zero_():", p.grad.tolist())
assert p.grad.tolist() == [0, 0, 0, 0]

# %% [markdown]
# Infinite gradients are no rarity: in lesson 7, with half precision, they are part of the plan.
#
# ### Your turn
#
# Write both families as one function.


# %% exercise="3.1"
def clear_gradients(params, set_to_none=True):
    """Clear the .grad of every tensor in params: to None, or to zeros in the same tensor."""
    ### BEGIN SOLUTION
    for param in params:
        if set_to_none:
            param.grad = None
        elif param.grad is not None:
            param.grad.zero_()
    ### END SOLUTION


# %% [markdown]
# ## 2. Whose gradients?
#
# `model.zero_grad()` goes over the parameters of the model. `optimizer.zero_grad()` goes over the
# parameters that the optimizer was given. Often these are the same. Where they are not, something
# is cleared that is not stepped, or stepped that is not cleared, or neither.
#
# ### An optimizer for the last layer
#
# You have a trained model and a new task. You give the optimizer only the last layer, the *head*.
# The first layer, the *trunk*, is not frozen: nobody called `requires_grad_(False)`. Each step
# clips: `clip_grad_norm_(model.parameters(), 2.0)` shortens all gradients together to a total
# norm of 2, if it is larger, and returns the norm it found.


# %%
def fine_tune(clear, clip="model", freeze_trunk=False, steps=6):
    """(the norms that clipping reports, how far the head moves), for each step."""
    model = small_model()
    head = model[2]
    model[0].requires_grad_(not freeze_trunk)
    optimizer = torch.optim.SGD(head.parameters(), lr=0.05)
    norms, moves = [], []
    for _ in range(steps):
        (optimizer if clear == "optimizer" else model).zero_grad()
        squared_error(model(x), y).backward()
        clipped = model if clip == "model" else head
        norms.append(clip_grad_norm_(clipped.parameters(), 2.0).item())
        before = head.weight.detach().clone()
        optimizer.step()
        moves.append((head.weight.detach() - before).norm().item())
    return norms, moves


# %% [markdown]
# One loop clears with `optimizer.zero_grad()`, the other with `model.zero_grad()`. What becomes
# of the norms that the clipping reports?

# %%
predict("3.d")

# %% claims="S0-29"
found = {clear: fine_tune(clear) for clear in ("model", "optimizer")}
for clear, (norms, moves) in found.items():
    print(f"{clear}.zero_grad()")
    print("  norm before clipping", "  ".join(f"{norm:.3f}" for norm in norms))
    print("  the head moves by   ", "  ".join(f"{move:.4f}"[1:] for move in moves))
rises = {clear: norms[-1] > norms[0] for clear, (norms, _) in found.items()}
kinds = {(False, False): "fall", (False, True): "optimizer", (True, False): "model"}
compare("3.d", kinds.get((rises["model"], rises["optimizer"]), "rise"))
assert max(found["model"][0]) < 2 < min(found["optimizer"][0][1:])

# %% [markdown]
# `backward()` fills the gradients of the trunk, too. The optimizer does not own the trunk, so its
# `zero_grad()` does not clear it, and the gradients pile up there. No step uses them. But the
# clipping was given all parameters. With `model.zero_grad()` the norm stays below 2, and nothing
# is clipped. With `optimizer.zero_grad()` it finds more than 2 from the second step on, and
# shortens everything, the head's fresh gradient included. So the head moves less, for a reason
# that stands nowhere near it.
#
# There are three remedies. Clear what you clip, with `model.zero_grad()`. Or clip what you step:
# the head's parameters alone. Or do not compute what nobody needs, and freeze the trunk.

# %%
remedies = {
    "clear the model": {"clear": "model"},
    "clip the head alone": {"clear": "optimizer", "clip": "head"},
    "freeze the trunk": {"clear": "optimizer", "freeze_trunk": True},
}
print("how far the head moves")
for name, options in remedies.items():
    _, moves = fine_tune(**options)
    print(f"{name:<21}", "  ".join(f"{move:.4f}"[1:] for move in moves))
    assert moves == fine_tune("model")[1] != fine_tune("optimizer")[1]

# %% [markdown]
# With all three the head moves alike, step by step. You write the freezing in section 3.
#
# ### A layer that came later
#
# An optimizer keeps the list it was given. It stands in `param_groups`: each *group* has some of
# the parameters, and a learning rate of its own. Here an optimizer is built first. Then the head
# is replaced by a new one. Who holds which weight, who clears it, who moves it?


# %%
def replaced():
    """A model whose head was replaced after its optimizer was built, gradients everywhere."""
    model = small_model()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    weights = {"trunk": model[0].weight, "old head": model[2].weight}
    squared_error(model(x), y).backward()
    model[2] = fill(nn.Linear(16, 2), seed=7)
    squared_error(model(x), y).backward()
    return model, optimizer, {**weights, "new head": model[2].weight}


table = {}
for name in ("trunk", "old head", "new head"):
    model, optimizer, weights = replaced()
    weight = weights[name]
    held = [p for group in optimizer.param_groups for p in group["params"]]
    before = weight.detach().clone()
    optimizer.step()
    optimizer.zero_grad()
    table[name] = {
        "in the model": any(weight is p for p in model.parameters()),
        "in the optimizer": any(weight is p for p in held),
        "moved by\nstep()": not torch.equal(before, weight),
        "cleared by\noptimizer\n.zero_grad()": weight.grad is None,
    }
    model, _, weights = replaced()
    model.zero_grad()
    table[name]["cleared by\nmodel\n.zero_grad()"] = weights[name].grad is None
assert [list(row.values()) for row in table.values()] == [
    [True, True, True, True, True],
    [False, True, True, True, False],
    [True, False, False, False, True],
]
figures.owners(table)

# %% [markdown]
# The new head is in use and learns nothing. Its gradients pile up. The old head is in no forward
# pass any more; here it moved once, by the gradient that still waited. No line raised. Lesson 5
# has this bug in full, with its loss curve.
#
# ### An optimizer inside an optimizer
#
# Some methods wrap one optimizer in another: the outer one does something of its own around each
# step of the inner one. `Counting` is the skeleton of such a wrapper. The outer optimizer counts
# its steps, and leaves them to an `SGD` inside. It is made so:
#
# ```python
# super().__init__(params, {"lr": lr})
# self.inside = torch.optim.SGD(self.param_groups, lr=lr)
# ```
#
# `step()` of the outer one calls `step()` of the inner one. `zero_grad()` is inherited.
#
# Later in training a second weight joins: `outer.add_param_group(...)` is the method for it. Then
# the loop goes on, `backward()`, `outer.step()`, `outer.zero_grad()`. What becomes of the weight
# that came later?

# %%
predict("3.e")


# %%
class Counting(torch.optim.Optimizer):
    """Counts its steps, and leaves them to an optimizer inside."""

    def __init__(self, params, lr):
        super().__init__(params, {"lr": lr})
        self.inside = torch.optim.SGD(self.param_groups, lr=lr)
        self.steps = 0

    def step(self):
        self.steps += 1
        self.inside.step()


def joined(inside):
    """Whether the weight that came later is moved, and whether it is cleared."""
    first, later = (nn.Parameter(torch.ones(2, dtype=f64)) for _ in range(2))
    outer = Counting([first], lr=0.1)
    (outer.inside if inside else outer).add_param_group({"params": [later]})
    (first * later).sum().backward()
    outer.step()
    outer.zero_grad()
    return bool((later != 1).all()), later.grad is None


for name, inside in (("outer", False), ("inner", True)):
    moved, cleared = joined(inside)
    print(f"added to the {name} one   moved: {moved!s:<7}cleared: {cleared}")
assert joined(inside=True) == (True, False)
words = {(True, True): "both", (False, True): "cleared", (True, False): "moved"}
compare("3.e", words.get(joined(inside=False), "neither"))

# %% [markdown]
# Two optimizers have two lists. The new group went into the outer list. The outer `zero_grad()`
# clears it, the inner `step()` does not know it: each gradient is thrown away unused. Added to
# the inner one, it is stepped and never cleared. So the question to a `zero_grad()` is always:
# whose list does it walk?
#
# ### Copies
#
# Training on several devices often means several copies of the model, each with a part of the
# batch. As a rule a copy has parameters of its own, each with a `.grad` of its own. (The copies
# that `nn.DataParallel` makes have none.) Here are two copies in one process.

# %% claims="S0-19"
copies = [small_model()]
copies.append(copy.deepcopy(copies[0]))
for model, rows, wanted in zip(copies, x.chunk(2), y.chunk(2), strict=True):
    squared_error(model(rows), wanted).backward()
copies[0].zero_grad()
cleared = [all(p.grad is None for p in model.parameters()) for model in copies]
print("cleared:", cleared)
assert cleared == [True, False]

# %% [markdown]
# `DistributedDataParallel`, which lesson 7 uses, has one copy in each process. Each process runs
# the same loop, so each clears its own.

# %%
quiz("3.q2")

# %% [markdown]
# ### Your turn
#
# Write what an optimizer's `zero_grad` does, from the list that it walks.


# %% exercise="3.2"
def optimizer_zero_grad(optimizer, set_to_none=True):
    """Clear the .grad of every parameter that the optimizer holds, and nothing else."""
    ### BEGIN SOLUTION
    for group in optimizer.param_groups:
        for param in group["params"]:
            if set_to_none:
                param.grad = None
            elif param.grad is not None:
                param.grad.zero_()
    ### END SOLUTION


# %% [markdown]
# ## 3. `None` and 0 for an optimizer
#
# Back to the branch that forgot. A weight is *idle* when it is in the optimizer and in no loss.
# The optimizer still comes by, in every step, and looks at its `.grad`. There are 15 optimizers in
# the `torch.optim` of PyTorch 2.13; the cells take those of the version installed. What do they
# do?
#
# The experiment has two weights. For three steps both get gradients. For three further steps only
# the first one does, and the second is idle: its `.grad` is `None`, or zeros. The cell measures
# how far the idle weight moves in these three steps.


# %%
every_optimizer = {
    name: item
    for name in sorted(dir(torch.optim))
    if isinstance(item := getattr(torch.optim, name), type)
    and issubclass(item, torch.optim.Optimizer)
    and item is not torch.optim.Optimizer
}


def idle_move(family, none, idle_steps=3, **options):
    """How far an idle weight moves after three steps in use; and both weights at the end."""
    used, idle = (nn.Parameter(torch.tensor([[1.0, 2.0], [3.0, -1.0]], dtype=f64)) for _ in "ab")
    sparse = family.__name__ == "SparseAdam"  # it takes sparse gradients and no others
    optimizer = family([used, idle], lr=0.01, **options)

    def filled(*weights):
        """A closure, as LBFGS wants it: clear, then gradients of half the squares' sum."""

        def closure():
            optimizer.zero_grad(set_to_none=none)
            for weight in weights:
                gradient = weight.detach().to_sparse() if sparse else weight.detach().clone()
                weight.grad = gradient if weight.grad is None else weight.grad + gradient
            return sum((weight.detach() ** 2).sum() / 2 for weight in weights)

        return closure

    for _ in range(3):
        optimizer.step(filled(used, idle))
    before = idle.detach().clone()
    for _ in range(idle_steps):
        optimizer.step(filled(used))
    return (idle.detach() - before).norm().item(), used.detach(), idle.detach()


# %%
predict("3.f")

# %% claims="S2-14 S2-17"
print("the idle weight     None         zeros     zeros and weight decay 0.1")
moves = {"None": set(), "zeros": set(), "zeros and decay": set()}
for name, family in {**every_optimizer, "SGD, momentum 0.9": torch.optim.SGD}.items():
    takes = inspect.signature(family).parameters
    options = {"weight_decay": 0.0} if "weight_decay" in takes else {}
    options |= {"momentum": 0.9} if "momentum 0.9" in name else {}
    row = {
        "None": idle_move(family, True, **options)[0],
        "zeros": idle_move(family, False, **options)[0],
    }
    if "weight_decay" in takes:
        row["zeros and decay"] = idle_move(family, False, **{**options, "weight_decay": 0.1})[0]
        assert idle_move(family, True, **{**options, "weight_decay": 0.1})[0] == 0
    for state, moved in row.items():
        moves[state] |= {name} if moved else set()
    cells = [f"{moved:.5f}" if moved else "-" for moved in row.values()]
    if "zeros and decay" not in row:
        cells.append("has none")
    print(f"{name:<20}{cells[0]:<13}{cells[1]:<10}{cells[2]}")
counts = ", ".join(f"{state} in {len(names)}" for state, names in moves.items())
print(f"of {len(every_optimizer) + 1} rows it moves: {counts}")
assert moves["None"] == {"LBFGS"} and not moves["zeros"] & {"SGD", "SparseAdam", "RMSprop"}
counted = len(moves["None"] - {"SGD, momentum 0.9"})
compare("3.f", {0: "0", 1: "1", len(every_optimizer): "all"}.get(counted, "some"))

# %% [markdown]
# In this experiment, with `None`, every optimizer but one passes the idle weight over. The
# exception is LBFGS, which moves it by the same amount either way: it puts all gradients into one
# long vector, with zeros for `None`, and takes its direction from the history of that vector.
#
# With zeros, it depends on what else there is in a step:
#
# - **Nothing:** plain SGD multiplies 0 by the learning rate, and RMSprop and Adagrad, as they
#   come, by another number. The weight stays.
# - **An average of past gradients:** momentum, and Adam's first moment. The weight goes on in the
#   old direction. As a rule it slows down, as the average fades.
# - **Weight decay:** each step pulls the weight towards 0, although it is in no loss. (ASGD has a
#   small decay of its own.)
#
# Now the opening can be explained. Its Adam has both, averages and weight decay. The averages
# alone cost the idle branch some digits, and then they had faded. The weight decay did the rest.
# Not every weight decay would. AdamW leaves it out of Adam's scaling, which makes small
# gradients large. With the same 0.01, its branch kept about as many as without weight decay.
#
# ### Picture: one weight, two states
#
# One weight, first in use for eight steps with the loss `(w - 3)**2 / 2`, then idle for forty.
# The two lines differ in the state of `.grad` alone. (PyTorch has Muon since 2.9.)


# %%
def path(make, none, used=8, idle=40):
    """The values of a weight that is in use first, and idle then."""
    w = nn.Parameter(torch.ones(1, 1, dtype=f64))  # Muon takes matrices alone
    optimizer, values = make([w]), [1.0]
    for step in range(used + idle):
        optimizer.zero_grad(set_to_none=none)
        if step < used:
            ((w - 3) ** 2 / 2).sum().backward()
        optimizer.step()
        values.append(w.item())
    return values


makers = {
    "SGD, weight decay": lambda params: torch.optim.SGD(params, lr=0.05, weight_decay=0.2),
    "SGD, momentum 0.9": lambda params: torch.optim.SGD(params, lr=0.05, momentum=0.9),
    "Adam": lambda params: torch.optim.Adam(params, lr=0.05),
}
if "Muon" in every_optimizer:
    makers["Muon"] = lambda params: torch.optim.Muon(params, lr=0.05, weight_decay=0.0)
paths = {
    name: {state: path(make, state == "None") for state in ("None", "zeros")}
    for name, make in makers.items()
}
for name, lines in paths.items():
    ends = "   ".join(f"{state}: {v[8]:.3f} -> {v[-1]:.3f}" for state, v in lines.items())
    print(f"{name:<20}{ends}")
    assert lines["None"][8:] == [lines["None"][8]] * 41
figures.idle_weights(paths, used=8)

# %% [markdown]
# With momentum the idle weight overshoots: it ends far beyond 3, the value that its loss wanted.
# Nothing calls it back, because the loss does not see it any more. Muon breaks the rule above: it
# stretches its average to about the same length in each step, so its idle weight does not slow
# down.
#
# **Try it.** Put an optimizer of your own choice into `makers`, with and without momentum or
# weight decay. Say first which way its idle weight will go, and how far.
#
# ### A weight that is used now and then
#
# Models with many branches, such as mixtures of experts or networks whose architecture is
# searched, use each branch only sometimes. Here a weight is in the loss in every fourth step, 40
# steps in all. Adam counts its steps for each parameter, and corrects its averages by that count.
#
# > **Fact.** For Adam, a step with `None` does not happen at that parameter: its counter stays
# > and its averages stay. A step with zeros counts, and without weight decay the averages fade.

# %%
for none in (True, False):
    w = nn.Parameter(torch.tensor(1.0, dtype=f64))
    adam, averages = torch.optim.Adam([w], lr=0.05), []
    for step in range(40):
        adam.zero_grad(set_to_none=none)
        if step % 4 == 0:
            ((w - 3) ** 2 / 2).backward()
        adam.step()
        averages.append(adam.state[w]["exp_avg"].item())
    counted = adam.state[w]["step"].item()
    last = " ".join(f"{average:+.3f}" for average in averages[-4:])
    print(
        f"{'None' if none else 'zeros':<6} counted: {counted:.0f}   w: {w.item():.3f}   "
        f"last averages: {last}"
    )
    assert counted == (10 if none else 40)
    assert (averages[-4] == averages[-1]) == none

# %% [markdown]
# Neither is wrong: they are two training methods. Branches that a step did not choose, and that
# it moved all the same, are the subject of megvii-model/DetNAS#3.
#
# ### Where the two agree
#
# Many texts say that the choice makes no difference to the model. They speak of the ordinary
# case: every parameter gets a gradient in every step.
#
# > **Fact.** A gradient added to zeros is that gradient. Where each parameter gets one between
# > clearing and step, `None` and zeros end in the same weights: here, after three steps with each
# > optimizer of `torch.optim`, to the last bit.

# %% claims="S2-10 S3-23"
same = 0
for family in every_optimizer.values():
    weights = [idle_move(family, none, idle_steps=0)[1:] for none in (True, False)]
    same += all(torch.equal(a, b) for a, b in zip(*weights, strict=True))
print(f"same weights with None and with zeros: {same} of {len(every_optimizer)}")
assert same == len(every_optimizer)

# %%
quiz("3.q3")

# %% [markdown]
# ### A frozen layer
#
# To *freeze* a layer is to keep its weights as they are while the rest is trained.
# `requires_grad_(False)` tells autograd to send no gradient there. Does the optimizer hear of it?
#
# A model is trained with `SGD(momentum=0.9)`. After a backward, you call `requires_grad_(False)`
# on the first layer. The loop goes on for five steps: `step()`, then
# `zero_grad(set_to_none=False)`, then the next backward.

# %%
predict("3.g")


# %%
def frozen_moves(none):
    """How far a layer moves in each of five steps after requires_grad_(False)."""
    model, moves = small_model(), []
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
    squared_error(model(x), y).backward()
    model[0].requires_grad_(False)
    for _ in range(5):
        before = model[0].weight.detach().clone()
        optimizer.step()
        moves.append((model[0].weight.detach() - before).norm().item())
        optimizer.zero_grad(set_to_none=none)
        squared_error(model(x), y).backward()
    return moves


by_zeros, by_none = frozen_moves(False), frozen_moves(True)
print("cleared with zeros:", "  ".join(f"{move:.4f}" for move in by_zeros))
print("cleared with None: ", "  ".join(f"{move:.4f}" for move in by_none))
compare("3.g", {0: "none", 1: "one", 5: "five"}[sum(move > 0 for move in by_zeros)])

# %% [markdown]
# The optimizer does not ask for `requires_grad`. It looks at `.grad` alone. The gradient from
# before the freezing is *stale*, and the first step used it. With `None` that was the only step
# that moved the layer. With zeros, momentum carried it on, in all five. The author
# of discuss.pytorch.org/t/153740 saw "a small change in frozen layer parameters", and found the
# stale gradients.
#
# ### Your turn
#
# Write a freezing that holds, whatever `.grad` or the optimizer (LBFGS apart) remembers.


# %% exercise="3.3"
def freeze(module):
    """Take the parameters of module out of training, for every optimizer but LBFGS."""
    ### BEGIN SOLUTION
    for param in module.parameters():
        param.requires_grad_(False)
        param.grad = None
    ### END SOLUTION


# %% [markdown]
# > **Pause.** This is a good place to stop for the day. You know what the ways to clear do to the
# > weights. What follows is what they cost: the bytes they move, and the memory they hold.
#
# ## 4. Bytes that are moved
#
# Before a processor can add numbers, it must fetch them from memory, and put the result back.
# That takes time. So ask of a clearing: how many bytes does it read and write? Let $P$ be the
# bytes of all gradients of a model together.
#
# An operation on tensors passes PyTorch's *dispatcher*, which chooses the code that runs it. A
# *dispatch mode* of your own is called with each of them. This one notes two operations, and the
# bytes that they read and write: `zero_`, which writes zeros into a tensor, and `add_`, which
# adds one tensor to another in place.


# %%
class Traffic(TorchDispatchMode):
    """Notes each zero_ and add_ in its block: (name, bytes read, bytes written)."""

    def __init__(self):
        super().__init__()
        self.rows = []

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        name = func.overloadpacket.__name__
        if name in ("zero_", "add_"):
            read = args[0].nbytes + args[1].nbytes if name == "add_" else 0
            self.rows.append((name, read, args[0].nbytes))
        return func(*args, **(kwargs or {}))


def traffic_of_a_step(model, optimizer, set_to_none):
    """What clearing and backward do to the gradients in the second step of a loop."""
    squared_error(model(x), y).backward()
    optimizer.step()
    with Traffic() as traffic:
        optimizer.zero_grad(set_to_none=set_to_none)
        squared_error(model(x), y).backward()
    return traffic.rows


# %% [markdown]
# A step clears, and then backward brings a new gradient for each parameter. Compare two loops.
# One fills with zeros, the other sets `None`. How many bytes does the first move that the second
# does not?

# %%
predict("3.h")

# %% claims="S2-12a S3-9 S3-10 S3-13 S3-17 S3-18"
totals = {}
for none in (False, True):
    model = small_model()
    P = sum(p.nbytes for p in model.parameters())
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    rows = traffic_of_a_step(model, optimizer, none)
    print(f"set_to_none={none}: P is {P} bytes")
    for name in ("zero_", "add_"):
        own = [row for row in rows if row[0] == name]
        read, written = (sum(row[at] for row in own) / P for at in (1, 2))
        print(f"  {name:<6}{len(own)} calls, reads {read:g} P, writes {written:g} P")
    totals[none] = sum(read + written for _, read, written in rows) / P
print(f"moved more with zeros: {totals[False] - totals[True]:g} P")
assert totals[True] == 0
compare("3.h", str(round(totals[False] - totals[True])))

# %% [markdown]
# Zeros are written once, $P$. Then each arriving gradient is added to zeros: two tensors are
# read, one is written, $3P$. Four $P$ in all, to compute $0 + g$.
#
# With `None` none of these calls is made. Setting an attribute moves no numbers. And backward has
# nothing to add to: it makes the arriving tensor the gradient. Here it is for this model. (The
# optional section of lesson 2 has the cases where PyTorch must copy the tensor.)

# %% claims="S3-15"
model = small_model()
arrived = {}
for name, p in model.named_parameters():
    p.register_hook(lambda gradient, name=name: arrived.update({name: gradient.data_ptr()}))
taken_over = {}
for start in ("None", "zeros"):
    model.zero_grad(set_to_none=start == "None")
    squared_error(model(x), y).backward()
    taken = [p.grad.data_ptr() == arrived[name] for name, p in model.named_parameters()]
    taken_over[start] = sum(taken)
    print(f"from {start:<6}the arriving tensor becomes .grad for {sum(taken)} of {len(taken)}")
assert taken_over == {"None": 4, "zeros": 0}

# %% [markdown]
# ### Is that much?
#
# The $4P$ are the same for every batch size. The work of forward and backward grows with it. The
# cell counts the arithmetic of matrix products in *flops*, one for each addition and each
# multiplication. It divides them by the bytes that clearing with zeros moves.


# %% claims="S3-20 S3-21"
def flops_per_byte(rows, width=256):
    """Flops of forward and backward, for each byte that clearing with zeros moves."""
    model = nn.Sequential(nn.Linear(width, width), nn.Tanh(), nn.Linear(width, width))  # float32
    with FlopCounterMode(display=False) as counter:
        model(torch.ones(rows, width)).square().mean().backward()
    return counter.get_total_flops() / (4 * sum(p.nbytes for p in model.parameters()))


for rows in (1, 16, 256, 4096):
    print(f"batch of {rows:>4}, width  256: {flops_per_byte(rows):>8.2f} flops a byte")
for width in (64, 1024):
    print(f"batch of   16, width {width:>4}: {flops_per_byte(16, width):>8.2f} flops a byte")
assert flops_per_byte(1) < 1 and abs(flops_per_byte(4096) / flops_per_byte(1) - 4096) < 1
assert abs(flops_per_byte(16, 64) / flops_per_byte(16, 1024) - 1) < 0.05

# %% [markdown]
# With one row, clearing moves about three bytes for each flop of these products. With thousands
# of rows it drowns in the arithmetic. The width of this model hardly matters: a wider one has
# more to clear, and as much more to compute. So the size alone does not say how much clearing
# weighs.
#
# One text makes its point with a model of 405 billion parameters, and a memory that moves 2
# terabytes a second.

# %% claims="S3-19"
gradient_bytes = 405e9 * 2  # two bytes each, in bfloat16
seconds = 4 * gradient_bytes / 2e12
print(f"gradients: {gradient_bytes / 1e9:.0f} GB, clearing with zeros: {seconds:.2f} s a step")
for devices in (1, 1024):
    print(f"spread over {devices:>4}: {seconds / devices * 1000:8.2f} ms each")

# %% [markdown]
# The arithmetic is right for one device that holds all 810 GB. A model of that size is spread
# over many, and then each clears its own part.
#
# ### A table of which a batch needs three rows
#
# An embedding is a table: each token picks its row. Here it has 10000 rows, and a batch uses
# three of them. The ordinary, *dense* gradient has 10000 rows all the same. With `sparse=True`
# the gradient stores only the rows that were used.

# %%
tokens = torch.tensor([5, 7, 5, 42])
for sparse in (False, True):
    embedding = nn.Embedding(10_000, 16, sparse=sparse)
    embedding(tokens).sum().backward()
    gradient = embedding.weight.grad
    parts = (gradient._indices(), gradient._values()) if sparse else (gradient,)
    print(f"sparse={sparse!s:<6}bytes of the gradient: {sum(part.nbytes for part in parts):>6}")
stored = [gradient._nnz()]
embedding(tokens).sum().backward()
stored.append(embedding.weight.grad._nnz())
embedding.zero_grad(set_to_none=False)
stored.append(embedding.weight.grad._nnz())
print("rows stored after one backward, two, and clearing with zeros:", stored)
assert stored == [4, 8, 0] and embedding.weight.grad.is_sparse

# %% [markdown]
# A sparse gradient grows: each backward appends its rows, one for each token, and the same row
# may stand there more than once. Filled with "zeros", it stores no row at all. Cleared with
# zeros, the dense gradient costs $4P$ of the whole table in each step, for the sake of three
# rows. (You met the optimizer that wants sparse gradients in section 3: `SparseAdam`.)

# %%
quiz("3.q4")

# %% [markdown]
# ### Your turn
#
# Now the count for any model. Some parameters are frozen, some are shared, and not every one has
# the same dtype.


# %% exercise="3.4"
def zeroing_traffic(model, set_to_none):
    """The bytes that clearing and accumulating read and write in one step, as one number."""
    ### BEGIN SOLUTION
    if set_to_none:
        return 0
    trainable = [p for p in model.parameters() if p.requires_grad]
    gradients = sum(p.numel() * p.element_size() for p in trainable)
    written_by_zero, read_by_add, written_by_add = gradients, 2 * gradients, gradients
    return written_by_zero + read_by_add + written_by_add
    ### END SOLUTION


# %% [markdown]
# ## 5. Memory over a step
#
# The other cost is memory. `LiveBytes` is a dispatch mode of this course. It counts the bytes of
# all tensors that were made in its block and are still alive. It says how many of them belong to
# gradients in `.grad`. It leaves out the parameters and the data, which are there either way. It
# measures no time, so the same program gives the same numbers on every run.
#
# A *habit* is a place and a way to clear. Take these three. In lesson 4 you will see that all
# three are right.
#
# - **Zeros, after the step:** `zero_grad(set_to_none=False)` as the last line of the loop.
# - **`None`, after the forward:** `zero_grad()` just before `backward()`.
# - **`None`, after the step:** `zero_grad()` as the last line of the loop.


# %%
def four_layers():
    """Four layers of 64 by 64, in float32."""
    torch.manual_seed(0)
    return nn.Sequential(*(part for _ in range(4) for part in (nn.Linear(64, 64), nn.Tanh())))


P = sum(p.nbytes for p in four_layers().parameters())
habits = ("zeros, after the step", "None, after the forward", "None, after the step")


def recorded(habit, rows, make=torch.optim.SGD, window=1, keep=False):
    """(moments of a step in the middle of training, the weights at the end)."""
    model = four_layers()
    optimizer = make(model.parameters(), lr=0.01)
    inputs, targets = torch.randn(rows, 64), torch.randn(rows, 64)
    held = []
    with LiveBytes(model.parameters()) as live:
        for _ in range(3):
            live.history.clear()  # the last step is the one that is shown
            for _ in range(window):
                live.phase("forward")
                loss = squared_error(model(inputs), targets)
                if habit == "None, after the forward" and window == 1:
                    live.phase("clear")
                    optimizer.zero_grad()
                live.phase("backward")
                loss.backward()
                del loss
            if keep:
                held[:] = [p.grad for p in model.parameters()]
            live.phase("step")
            optimizer.step()
            if habit != "None, after the forward":
                live.phase("clear")
                optimizer.zero_grad(set_to_none=habit.startswith("None"))
        live.phase("clear")
    return live.history, torch.cat([p.detach().flatten() for p in model.parameters()])


def peak(habit, **options):
    """The highest memory of a step, the gradients in it, both in P, and the phase."""
    moments, _ = recorded(habit, **options)
    top = max(moments, key=lambda moment: moment.alive)
    return top.alive / P, top.gradients / P, top.phase


# %% [markdown]
# The model has four layers of 64 by 64, and a batch of 64 rows. Think of the moment when the
# forward pass runs. The old gradients have done their work.

# %%
predict("3.i")

# %% claims="S0-34 S3-3 S3-4 S3-11 S3-12"
steps = {habit: recorded(habit, rows=64) for habit in habits}
print(f"P = {P} bytes           gradients during the forward    peak")
waiting = {}
for habit, (moments, _) in steps.items():
    forward = [moment.gradients for moment in moments if moment.phase == "forward"]
    waiting[habit] = max(forward) > 0
    top = max(moment.alive for moment in moments)
    print(f"{habit:<30}{max(forward) / P:>9.3f} P{'':<13}{top / P:>8.3f} P")
weights = [weights for _, weights in steps.values()]
print("the same weights at the end:", all(torch.equal(weights[0], other) for other in weights))
figures.step_memory({habit: moments for habit, (moments, _) in steps.items()})
holders = {(True, True, True): "all", (True, True, False): "two", (True, False, False): "zeros"}
compare("3.i", holders.get(tuple(waiting.values()), "none"))

# %% [markdown]
# Read each chart from left to right; F, B, S and C stand for forward, backward, step and clear.
# The orange area is gradients in `.grad`, the blue one is all the rest. In the forward pass the
# blue area grows: activations, which the graph keeps for backward. Early in the backward pass it
# has a spike. Then it shrinks, layer by layer, while gradients arrive. With `None` after the step
# the orange area is gone during the whole forward pass. With zeros it lies under everything, a
# floor of $P$ that never leaves. With `None` after the forward it lies under the forward pass,
# and is freed just before backward.
#
# The weights end the same in the three loops, to the last bit. The memory does not.
#
# ### Is the saving always $P$?
#
# The peak is what decides whether training fits. With zeros all of $P$ is alive in it, whenever
# it comes. With `None` that depends on the moment.
#
# "It frees memory for a larger batch", one text says. How much larger? The cell varies the batch,
# with plain SGD. The last column: how many rows fit with `None`, set after the step, into the peak
# that zeros have.

# %% claims="S3-14"
print("rows   peak with zeros   with None (.grad in it)   saved    rows that fit")
saved, fit = {}, {}
for rows in (4, 16, 64, 256, 1024):
    (zeros, _, _), (none, grads, _) = (peak(habit, rows=rows) for habit in (habits[0], habits[2]))
    saved[rows] = zeros - none
    more = range(rows, rows + 64)
    first_too_many = bisect_right(more, zeros, key=lambda n: peak(habits[2], rows=n)[0])
    fit[rows] = more[first_too_many - 1]
    print(
        f"{rows:>4}{zeros:>16.2f} P{none:>11.2f} P   ({grads:.2f} P){saved[rows]:>13.2f} P"
        f"{fit[rows]:>13}"
    )
assert saved[4] < 0.5 and saved[64] == saved[1024] == 1
assert fit[4] > 8 * 4 and fit[1024] < 1.05 * 1024

# %% [markdown]
# With 64 rows and more, the activations dominate. The peak lies early in backward, when no new
# gradient is there yet. The old ones would all be alive: $P$ is saved, exactly. With few rows the
# peak with `None` lies late in backward, when three quarters of the new gradients are there. Then
# the saving is a part of $P$.
#
# So the sentence is most true where the saving is smallest. Where zeros fit 4 rows, `None` fits
# 38. Towards the end of the table it fades: there $P$ is the price of 28 rows, and 28 are few
# among a thousand.
#
# ### A window, a list and Adam
#
# In gradient accumulation, as in lesson 2, a *window* of several micro-batches goes forward and
# backward before one step. The loop clears once a window. Take four micro-batches of 256 rows. By
# how much does `None` lower the peak of the window, compared with zeros?

# %%
predict("3.j")

# %% claims="S3-14"
cases = {
    "SGD, 256 rows": {"rows": 256},
    "the same, a window of 4": {"rows": 256, "window": 4},
    "the same, gradients kept": {"rows": 256, "keep": True},
    "Adam, 4 rows": {"rows": 4, "make": torch.optim.Adam},
}
saved = {}
print(f"{'':<26}saved   peak with None      (.grad in it)")
for name, options in cases.items():
    (zeros, _, _), (none, grads, phase) = (peak(h, **options) for h in (habits[0], habits[2]))
    saved[name] = zeros - none
    print(f"{name:<25}{saved[name]:>5.2f} P{none:>7.2f} P in {phase:<10}({grads:.2f} P)")
assert list(saved.values()) == [1, 0, 0, 0]
compare("3.j", closest(saved["the same, a window of 4"], none=0, quarter=0.25, all=1))

# %% [markdown]
# - **In a window** the gradients of the first micro-batch must live while the second one goes
#   forward and backward: they are what accumulates. `None` was set before.
# - **Gradients that are kept:** the loop of the third line holds a list of the last gradients,
#   for a plot. `None` takes them away from the parameters, and the list keeps them alive.
# - **Adam with a small batch:** the peak lies in `step()`, where the gradients must be alive.
#
# ### On a GPU
#
# If there is a GPU, the next cell asks for the peak there. PyTorch's *allocator*, which hands out
# the memory of the GPU, keeps count of it. The model is another one, so the numbers are not those
# of the table. The cell warms up first, because libraries ask for memory of their own at the
# first call.


# %% tags=["nbval-ignore-output"] claims="S3-14"
def gpu_peak(none, rows, width=1024):
    """Peak bytes of the GPU's allocator in one step after two others, with SGD; and P."""
    model = nn.Sequential(*(nn.Linear(width, width) for _ in range(4))).cuda()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    inputs = torch.ones(rows, width, device="cuda")
    for _ in range(3):
        torch.cuda.reset_peak_memory_stats()
        model(inputs).square().mean().backward()
        optimizer.step()
        optimizer.zero_grad(set_to_none=none)
    return torch.cuda.max_memory_allocated(), sum(p.nbytes for p in model.parameters())


if torch.cuda.is_available():
    gpu_peak(True, 16)
    for rows in (16, 1024, 16384):
        (zeros, size), (none, _) = gpu_peak(False, rows), gpu_peak(True, rows)
        print(f"{rows:>6} rows: None lowers the peak by {(zeros - none) / size:.2f} P")
else:
    print("no GPU here: nothing was measured")

# %%
quiz("3.q5")

# %% [markdown]
# ### Your turn
#
# Write a step that never holds a gradient while the model runs forward.


# %% exercise="3.5"
def train_step_low_memory(model, optimizer, loss_fn, x, y):
    """One step on the batch x, y, with no .grad alive in the forward pass; the loss before it."""
    ### BEGIN SOLUTION
    optimizer.zero_grad(set_to_none=True)
    loss = loss_fn(model(x), y)
    loss.backward()
    optimizer.step()
    return loss.item()
    ### END SOLUTION


# %% [markdown]
# The picture of your own step, at a model with gradients left over from before. Before the
# exercise is solved it shows these alone.

# %%
model = four_layers()
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
inputs, targets = draw(64, 64).float(), draw(64, 64, seed=1).float()
with LiveBytes(model.parameters()) as live:
    for p in model.parameters():
        p.grad = torch.ones_like(p)
    live.history.clear()
    live.phase("clear")
    model.register_forward_pre_hook(lambda *_: live.phase("forward"))
    model.register_forward_hook(lambda *_: live.phase("backward"))
    optimizer.register_step_pre_hook(lambda *_: live.phase("step"))
    optimizer.register_step_post_hook(lambda *_: live.phase("clear"))
    train_step_low_memory(model, optimizer, squared_error, inputs, targets)
    live.phase("clear")
figures.step_memory({"your step": live.history})

# %% [markdown]
# ## True or false
#
# Four statements. Some of them you will meet elsewhere. Commit to each before you measure it.
#
# **One: in place.** One text says: zeroing in place makes no new tensor, so it saves memory.
# Somebody answers: at the peak of a step, a loop that sets None never needs more than the same
# loop with zeros. Is the answer right?

# %%
predict("3.k")


# %% claims="S0-25 S0-34 S2-12b S3-11"
def peak_of_a_step(none, keep):
    """The most bytes alive in the third step of a loop, in P, and what zero_grad asked for."""
    model, kept = small_model(), []
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    with LiveBytes(model.parameters()) as live:
        for _ in range(3):
            live.history.clear()
            squared_error(model(x), y).backward()
            if keep:
                kept[:] = [p.grad for p in model.parameters()]
            optimizer.step()
            asked = live.asked
            optimizer.zero_grad(set_to_none=none)
            asked = live.asked - asked
    most = max(moment.alive for moment in live.history)
    return most / sum(p.nbytes for p in model.parameters()), asked


print("peak of a step             zeros      None     asked for by zero_grad")
never_more = True
for keep in (False, True):
    (zeros, a), (none, b) = (peak_of_a_step(none, keep) for none in (False, True))
    never_more &= none <= zeros
    name = "a list keeps the gradients" if keep else "nobody keeps the gradients"
    print(f"{name}{zeros:>6.2f} P{none:>8.2f} P{a:>12} bytes, {b} bytes")
    assert (none > zeros) == keep and a == b == 0
compare("3.k", true_or_false(never_more))

# %% [markdown]
# It is true that `zero_()` makes no new tensor. Neither does `None`. What counts is what stays.
# Where nobody else holds the gradients, zeros stay and `None` does not. Where a list keeps the
# last ones, `None` may be dearer: while backward makes the new ones, the list has the old ones
# still. Zeros are written into the tensors of the list, and there is one set of them.
#
# **Two: the price of freeing.** Setting to None frees the gradients, and backward makes them
# anew. Yet over a whole step of this lesson's small model, a loop with None asks for no more
# memory than one with zeros.

# %%
predict("3.l")


# %% claims="S3-16"
def asked_in_a_step(parameters, compute_loss, none):
    """The bytes of all tensors that the second step of a loop makes."""
    optimizer = torch.optim.SGD(parameters, lr=0.1)
    with LiveBytes(parameters) as live:
        for _ in range(2):
            before = live.asked
            optimizer.zero_grad(set_to_none=none)
            compute_loss().backward()
            optimizer.step()
    return live.asked - before


model, w = small_model(), nn.Parameter(torch.ones(100, dtype=f64))
losses = {
    "the small model": (list(model.parameters()), lambda: squared_error(model(x), y)),
    "the loss w.sum()": ([w], w.sum),
}
asked = {}
print("bytes asked for         zeros     None")
for name, loss in losses.items():
    asked[name] = [asked_in_a_step(*loss, none) for none in (False, True)]
    print(f"{name:<20}{asked[name][0]:>9}{asked[name][1]:>9}")
zeros, none = asked["the small model"]
compare("3.l", true_or_false(none <= zeros))
assert asked["the loss w.sum()"][0] < asked["the loss w.sum()"][1]

# %% [markdown]
# In the small model a gradient arrives in a new tensor either way. With zeros it is added and
# then freed. With `None` it stays, as the gradient. The same tensors are made; they only live at
# other times.
#
# The gradient of `w.sum()` is one number, seen as a hundred. PyTorch can add it to zeros as it
# is. To keep it as `.grad`, it must copy it into a tensor of its own, as lesson 2 showed. So the
# statement is not true of every model.
#
# **Three: rows of a table.** With gradients set to None, Adam moves only the rows of an embedding
# that the batch has used.

# %%
predict("3.m")


# %% claims="S2-14"
def rows_moved(make, sparse):
    """Which rows of a table two steps move, where the batches use rows 0 to 2 and 3 and 4."""
    torch.manual_seed(0)
    embedding = nn.Embedding(6, 2, sparse=sparse)
    optimizer, moved = make(embedding.parameters(), lr=0.1), []
    for tokens in ([0, 1, 2], [3, 4]):
        optimizer.zero_grad()
        embedding(torch.tensor(tokens)).square().sum().backward()
        before = embedding.weight.detach().clone()
        optimizer.step()
        moved.append(
            (embedding.weight.detach() != before).any(dim=1).nonzero().flatten().tolist()
        )
    return moved


dense = rows_moved(torch.optim.Adam, sparse=False)
print("rows used by the two batches:", [[0, 1, 2], [3, 4]])
print("moved by Adam:               ", dense)
print("moved by SparseAdam:         ", rows_moved(torch.optim.SparseAdam, sparse=True))
assert rows_moved(torch.optim.SparseAdam, sparse=True) == [[0, 1, 2], [3, 4]]
compare("3.m", true_or_false(dense[1] == [3, 4]))

# %% [markdown]
# `None` is a state of a whole parameter. The table is one parameter, and its dense gradient holds
# zeros for the rows that were not used. For Adam these are gradients of 0, and its averages go
# on. `SparseAdam`, with a sparse gradient, moves the used rows alone.
#
# **Four: two weights.** A loop clears with `set_to_none=False`, and its optimizer is AdamW as it
# comes. One idle weight was in the loss once, in the first step. Another one never was. The first
# shrinks on and on, the second stays as it is.

# %%
predict("3.n")

# %% claims="S2-14 S3-21 S3-22"
used, once, never = (nn.Parameter(torch.ones((), dtype=f64)) for _ in range(3))
adamw = torch.optim.AdamW([used, once, never], lr=0.01)
values = {}
for step in range(1001):
    adamw.zero_grad(set_to_none=False)
    (used**2 + 0 * once if step == 0 else used**2).backward()
    adamw.step()
    values[step] = once.item(), never.item()
for step in (0, 500, 1000):
    print(f"step {step:>4}: in the loss once {values[step][0]:.4f}   never {values[step][1]:.4f}")
print("their gradients:", once.grad, never.grad)
shrinks = values[0][0] > values[500][0] > values[1000][0]
compare("3.n", true_or_false(shrinks and values[1000][1] == 1))

# %% [markdown]
# `set_to_none=False` fills the gradients that are there. It makes none: `None` stays `None`. The
# one backward left a gradient behind, although it was 0, and from then on AdamW's weight decay,
# 0.01 by default, had its way. For small models either will do, some texts say. This one has
# three weights.
#
# ## Summary
#
# | question | answer | shown in |
# |---|---|---|
# | What does `zero_grad()` leave? | `None`, by default; with `set_to_none=False` zeros in the tensors that are there | 1, true or false |
# | Which way fails on `None`? | `p.grad.zero_()` in a loop of your own that does not ask | 1 |
# | Does `p.grad *= 0` clear? | Not infinite or NaN entries | 1 |
# | Who sees the clearing? | With zeros everybody who holds the tensor; with `None` nobody but the parameter | 1 |
# | Whose gradients are cleared? | Those of the list that is walked: the model's parameters, or the optimizer's groups | 2 |
# | What does an optimizer neither step nor clear? | What it was not given, such as a layer that came later | 2 |
# | What does an optimizer of `torch.optim` do with `None`? | It passes the parameter over; LBFGS does not | 3 |
# | And with zeros? | Plain SGD nothing; momentum, Adam's averages and weight decay go on | 3 |
# | When do both end in the same weights? | When each parameter gets a gradient between clearing and step | 3 |
# | Does `requires_grad_(False)` freeze? | Not surely, while a tensor is left in `.grad` | 3 |
# | What does clearing with zeros move? | 4 P bytes a step more than `None`, where backward hands its tensor over | 4 |
# | What does `None` save at the peak? | P where activations dominate, less with few rows, nothing in a window of equal batches, or if it lies in the step | 5 |
# | Who keeps the memory alive all the same? | Whoever else holds the gradients; then `None` may need more than zeros | 1, 5, true or false |
#
# ## What comes next
#
# You know the ways to clear. Lesson 4 asks for the place: before the forward, after it, at the
# end of the loop, and one place that a popular diagram shows and that destroys every update.
# There you move the events of a loop around and watch what a real model does.

# %%
progress(3)
