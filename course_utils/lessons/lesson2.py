"""Lesson 2, why gradients accumulate: its exercises and questions."""

from __future__ import annotations

import gc
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import torch
from torch import nn
from torch.multiprocessing.reductions import StorageWeakRef

from course_utils.exercise import Arrangement, Case, Exercise
from course_utils.lessons.declare import Lesson
from course_utils.lessons.inputs import Draw, cases, gradients_held, mean_square_error, model_and_batch
from course_utils.lessons.questions2 import QUESTIONS

Loss = Callable[[torch.Tensor], torch.Tensor]


def hooks_on(tensor: torch.Tensor) -> int:
    """How many gradient hooks are registered on a tensor."""
    kinds = ("_backward_hooks", "_post_accumulate_grad_hooks")
    return sum(len(getattr(tensor, kind, None) or ()) for kind in kinds)


def hooks_in(model: nn.Module) -> int:
    """How many hooks are registered on a model's modules and parameters."""
    kinds = ("_forward_hooks", "_forward_pre_hooks", "_backward_hooks", "_backward_pre_hooks")
    on_modules = sum(len(getattr(module, kind)) for module in model.modules() for kind in kinds)
    return on_modules + sum(hooks_on(parameter) for parameter in model.parameters())


# ------------------------------------------------------------------ 2.1


def _ripple(p: torch.Tensor) -> torch.Tensor:
    weights = torch.arange(1, p.numel() + 1, dtype=p.dtype, device=p.device).reshape(p.shape)
    return (weights * torch.sin(p)).sum() + (p**2).sum()


def _product(p: torch.Tensor) -> torch.Tensor:
    return (p * torch.exp(0.2 * p)).mean() + p.sum() ** 2


LOSSES: Mapping[str, Loss] = {"ripple": _ripple, "product": _product}


def parameter_2_1(case: Case) -> torch.Tensor:
    """The parameter of a case of 2.1, of any shape, with its earlier `.grad` where the case has one."""
    draw, shape = Draw(case), case.spec["shape"]
    value = draw.normal(*shape)
    param = nn.Parameter(value) if case.spec.get("parameter", True) else value.requires_grad_()
    if case.spec.get("earlier"):
        param.grad = draw.normal(*shape)
    return param


def _cases_2_1(seed: int) -> list[Case]:
    return cases(
        seed,
        [
            ("3 backwards, .grad None before", {"loss": "ripple", "shape": [3], "n": 3}),
            (
                "4 backwards, .grad holds an earlier gradient",
                {"loss": "product", "shape": [4], "n": 4, "earlier": True},
            ),
            ("one backward", {"loss": "ripple", "shape": [2], "n": 1}),
            (
                "one backward, .grad holds an earlier gradient",
                {"loss": "product", "shape": [2], "n": 1, "earlier": True},
            ),
            ("no backward, .grad None before", {"loss": "ripple", "shape": [2], "n": 0}),
            ("no backward, .grad holds an earlier gradient", {"loss": "ripple", "shape": [2], "n": 0, "earlier": True}),
            (
                "5 backwards, a 0-d tensor that is no nn.Parameter",
                {"loss": "product", "shape": [], "n": 5, "parameter": False},
            ),
            ("2 backwards, a matrix of 2 by 3", {"loss": "ripple", "shape": [2, 3], "n": 2, "earlier": True}),
            ("float32, 6 backwards", {"loss": "ripple", "shape": [3], "n": 6, "dtype": "float32", "earlier": True}),
        ],
    )


def _arrange_2_1(case: Case) -> Arrangement:
    param, loss_fn = parameter_2_1(case), LOSSES[case.spec["loss"]]
    seen: dict[str, object] = {}

    def call(attempt: Any) -> object:
        result = attempt(param, loss_fn, case.spec["n"])
        seen[".grad after the call"] = None if param.grad is None else param.grad.detach().clone()
        seen["hooks left"] = hooks_on(param)
        # What a later backward would do: a snapshot that is a tensor of its own does not feel it.
        if param.grad is not None:
            with torch.no_grad():
                param.grad.add_(later_gradient(case))
        return result

    return Arrangement((), watch={"param": param}, call=call, facts=lambda _: seen)


def later_gradient(case: Case) -> torch.Tensor:
    """What is added to `.grad` after the call in a case of 2.1, to see which snapshots are live."""
    return torch.full_like(parameter_2_1(case).detach(), 3.5)


# ------------------------------------------------------------------ 2.2

REFUSED = "ValueError"
NOT_REFUSED = "nothing was raised"


def ledger_inputs(case: Case) -> tuple[torch.Tensor, list[torch.Tensor]]:
    """The parameter of a case of 2.2, with the `.grad` it starts from, and the values that come in, in order."""
    draw, shape = Draw(case), case.spec["shape"]
    param = nn.Parameter(draw.normal(*shape))
    if case.spec.get("earlier"):
        param.grad = draw.normal(*shape)
    incoming = [draw.normal(*case.spec.get("incoming", shape)) for _ in range(case.spec.get("calls", 1))]
    if case.spec.get("transposed"):
        incoming = [values.t().contiguous().t() for values in incoming]
    return param, incoming


def deliver(case: Case, accumulate: Callable[[torch.Tensor, torch.Tensor], object]) -> tuple[object, dict[str, Any]]:
    """Hand the gradients of a case of 2.2 to `accumulate`, one after the other in one reused tensor.

    Returns what the last call gave back, and what was seen after each call. `incoming` is
    overwritten after each call: `.grad` must not feel it.
    """
    param, values = ledger_inputs(case)
    return _deliver(case, accumulate, param, values, values[0].clone(memory_format=torch.preserve_format))


def _deliver(
    case: Case,
    accumulate: Callable[[torch.Tensor, torch.Tensor], object],
    param: torch.Tensor,
    values: Sequence[torch.Tensor],
    incoming: torch.Tensor,
) -> tuple[object, dict[str, Any]]:
    seen: dict[str, Any] = {"same tensor": [], "same memory": []}
    result: object = None
    left = incoming
    for index, value in enumerate(values):
        with torch.no_grad():
            incoming.copy_(value)
        before = param.grad
        address = None if before is None else before.data_ptr()
        seen["a wrong shape"] = NOT_REFUSED
        try:
            result = accumulate(param, incoming)
        except ValueError:
            if not case.spec.get("refused"):
                raise
            seen["a wrong shape"] = REFUSED
        if result is ...:
            return ..., seen
        left = incoming.detach().clone() if index == 0 else left
        with torch.no_grad():
            incoming.add_(7.0)
        after = param.grad
        seen[grad_after(case, index)] = None if after is None else after.detach().clone()
        if before is not None:
            seen["same tensor"].append(after is before)
            seen["same memory"].append(after is not None and after.data_ptr() == address)
    # What was written to `incoming` here is taken back, so that what is left is the attempt's own doing.
    with torch.no_grad():
        incoming.copy_(left)
    return result, seen


def grad_after(case: Case, index: int) -> str:
    """The name of the fact that holds `.grad` after call `index` of a case of 2.2."""
    return ".grad after the call" if case.spec.get("calls", 1) == 1 else f".grad after call {index + 1}"


def _cases_2_2(seed: int) -> list[Case]:
    refused = {"refused": True}
    return cases(
        seed,
        [
            (".grad is None", {"shape": [4]}),
            (".grad holds a gradient", {"shape": [4], "earlier": True}),
            ("three calls in a row, .grad None at first", {"shape": [2, 3], "calls": 3}),
            ("a 0-d parameter, two calls", {"shape": [], "calls": 2}),
            ("a transposed, non-contiguous gradient, two calls", {"shape": [3, 2], "transposed": True, "calls": 2}),
            ("float32, two calls", {"shape": [5], "earlier": True, "calls": 2, "dtype": "float32"}),
            (
                "shape (3,) into (2, 3), .grad holds a gradient",
                {"shape": [2, 3], "incoming": [3], "earlier": True, **refused},
            ),
            ("shape (3,) into (2, 3), .grad is None", {"shape": [2, 3], "incoming": [3], **refused}),
            (
                "shape (1, 3) into (2, 3), .grad holds a gradient",
                {"shape": [2, 3], "incoming": [1, 3], "earlier": True, **refused},
            ),
            (
                "shape (3, 2) into (2, 3), .grad holds a gradient",
                {"shape": [2, 3], "incoming": [3, 2], "earlier": True, **refused},
            ),
            ("shape (6,) into (2, 3), .grad is None", {"shape": [2, 3], "incoming": [6], **refused}),
            ("shape () into (1,), .grad holds a gradient", {"shape": [1], "incoming": [], "earlier": True, **refused}),
            ("shape (2, 3) into (3,), .grad is None", {"shape": [3], "incoming": [2, 3], **refused}),
        ],
    )


def _arrange_2_2(case: Case) -> Arrangement:
    param, values = ledger_inputs(case)
    incoming = values[0].clone(memory_format=torch.preserve_format)
    seen: dict[str, Any] = {}

    def call(attempt: Any) -> object:
        result, facts = _deliver(case, attempt, param, values, incoming)
        seen.update(facts)
        return result

    return Arrangement((), watch={"param": param, "incoming": incoming}, call=call, facts=lambda _: seen)


# ------------------------------------------------------------------ 2.3


def shared_inputs(case: Case) -> tuple[torch.Tensor, torch.Tensor]:
    """`w` (0-d or shaped like `x`) and `x` of a case of 2.3, as leaves with earlier `.grad` where the case says so."""
    draw = Draw(case)
    w = draw.normal(*case.spec.get("w", case.spec["shape"]), scale=0.5) + 0.8
    x = draw.normal(*case.spec["shape"])
    for tensor in (w, x) if case.spec.get("leaves") else ():
        tensor.requires_grad_()
        tensor.grad = draw.normal(*tensor.shape)
    return w, x


def _cases_2_3(seed: int) -> list[Case]:
    scalar: dict[str, Any] = {"w": []}
    return cases(
        seed,
        [
            ("w and x are vectors of 3, depth 2", {"shape": [3], "depth": 2}),
            ("w and x are vectors of 4, depth 3", {"shape": [4], "depth": 3}),
            ("w is 0-d, x a vector of 4, depth 3", {"shape": [4], "depth": 3, **scalar}),
            ("depth 1", {"shape": [3], "depth": 1}),
            ("w and x are 0-d, depth 4", {"shape": [], "depth": 4, **scalar}),
            ("w and x are matrices of 2 by 3, depth 4", {"shape": [2, 3], "depth": 4}),
            ("w is 0-d, x a matrix of 2 by 3, depth 1", {"shape": [2, 3], "depth": 1, **scalar}),
            ("w and x require gradients and hold some", {"shape": [3], "depth": 3, "leaves": True}),
            (
                "w is 0-d, requires gradients and holds one, depth 5",
                {"shape": [2, 2], "depth": 5, "leaves": True, **scalar},
            ),
            ("float32, depth 3", {"shape": [4], "depth": 3, "dtype": "float32"}),
        ],
    )


def _arrange_2_3(case: Case) -> Arrangement:
    w, x = shared_inputs(case)
    return Arrangement((w, x, case.spec["depth"]), watch={"w": w, "x": x})


# ------------------------------------------------------------------ 2.4


def loss_batches(case: Case) -> list[tuple[torch.Tensor, torch.Tensor]]:
    """One `(x, y)` a loss of a case of 2.4."""
    draw = Draw(Case(case.name, {**case.spec, "seed": case.spec["seed"] + 500}))
    outputs = 3 if case.spec["model"] == "tied" else 2
    return [(draw.normal(4 + index, 3), draw.normal(4 + index, outputs)) for index in range(len(case.spec["weights"]))]


def residual(case: Case, model: nn.Module, index: int) -> torch.Tensor:
    """Prediction minus target of loss `index` of a case of 2.4; with two heads, the losses take turns."""
    x, y = loss_batches(case)[index]
    prediction = model(x, index % 2) if case.spec["model"] == "heads" else model(x)
    return prediction - y


def reduced(index: int, difference: torch.Tensor) -> torch.Tensor:
    """Loss `index` of a case of 2.4 from its residual; 0-d."""
    return (difference**2).mean() if index % 2 == 0 else (difference**4).mean() / 4


class _Watch:
    """The losses of a case of 2.4, and what is seen each time one is called.

    Each loss leaves one tensor that its graph alone keeps: the residual, which the power saves
    for backward. A weak reference to its memory tells whether that graph has been freed; a
    variable that still names the loss itself does not matter.
    """

    def __init__(self, case: Case) -> None:
        self._case = case
        self._graphs: list[StorageWeakRef] = []
        self.calls = [0] * len(case.spec["weights"])
        self.alive: list[int] = []

    def loss(self, index: int) -> Callable[[nn.Module], torch.Tensor]:
        def loss_of_model(model: nn.Module) -> torch.Tensor:
            self.calls[index] += 1
            self.alive.append(self._count())
            difference = residual(self._case, model, index)
            try:
                self._graphs.append(StorageWeakRef(difference.untyped_storage()))
            except NotImplementedError:
                pass  # a wrapper of torch.func has no memory of its own to watch
            return reduced(index, difference)

        return loss_of_model

    def _count(self) -> int:
        if any(not graph.expired() for graph in self._graphs):
            gc.collect(1)  # a young reference cycle that nothing reaches is not a graph somebody keeps
        return sum(not graph.expired() for graph in self._graphs)


def _cases_2_4(seed: int) -> list[Case]:
    # Weights that float32 holds exactly: a weight made with torch.tensor(weight) must not cost digits.
    return cases(
        seed,
        [
            ("two losses, .grad None before", {"model": "linear", "weights": [1.0, 0.5]}),
            (
                "three losses, .grad holds earlier gradients",
                {"model": "mlp", "weights": [0.75, 2.0, 0.375], "earlier": "all"},
            ),
            ("one loss", {"model": "mlp", "weights": [3.0], "earlier": "all"}),
            (
                "two heads, and a layer that no loss uses",
                {"model": "heads", "weights": [0.5, 1.5, 2.0], "earlier": "all"},
            ),
            ("a loss of weight zero", {"model": "heads", "weights": [2.0, 0.0, 0.5], "earlier": "some"}),
            ("a negative weight, and one weight tied to two places", {"model": "tied", "weights": [1.5, -0.5, 0.75]}),
            ("a frozen weight", {"model": "frozen", "weights": [0.25, 0.875], "earlier": "all"}),
            ("dropout and batch norm in eval mode", {"model": "eval", "weights": [1.25, 0.625], "earlier": "some"}),
            (
                "float32, four losses",
                {"model": "mlp", "weights": [0.125, 1.125, 0.625, 0.875], "earlier": "all", "dtype": "float32"},
            ),
        ],
    )


def _arrange_2_4(case: Case) -> Arrangement:
    model, _, _ = model_and_batch(case)
    watch = _Watch(case)
    losses = [watch.loss(index) for index in range(len(case.spec["weights"]))]
    return Arrangement(
        (model, losses, list(case.spec["weights"])),
        watch={"model": model},
        facts=lambda _: {
            ".grad after the call": gradients_held(model),
            "calls of each loss": watch.calls,
            "earlier graphs alive at each call": watch.alive,
        },
    )


# ------------------------------------------------------------------ 2.5


def loss_2_5(case: Case) -> Callable[[torch.Tensor, torch.Tensor], torch.Tensor]:
    """The mean loss of a case of 2.5."""
    return nn.functional.cross_entropy if case.spec.get("classes") else mean_square_error


def samples(case: Case) -> tuple[nn.Module, torch.Tensor, torch.Tensor]:
    """The model of a case of 2.5, `x (n, 3)`, and `y`: `(n, outputs)`, or class indices `(n,)`."""
    model, x, y = model_and_batch(case)
    return (model, x, y.argmax(1)) if case.spec.get("classes") else (model, x, y)


def _cases_2_5(seed: int) -> list[Case]:
    return cases(
        seed,
        [
            ("a linear model, 4 samples, .grad None before", {"model": "linear", "n": 4}),
            ("two layers that hold gradients already, 5 samples", {"model": "mlp", "n": 5, "earlier": "all"}),
            ("one sample", {"model": "mlp", "n": 1, "earlier": "some"}),
            ("a frozen weight", {"model": "frozen", "n": 3, "earlier": "all"}),
            ("a branch the loss does not use", {"model": "unused", "n": 3, "earlier": "some"}),
            ("one weight tied to two places", {"model": "tied", "n": 4, "earlier": "all"}),
            ("flatten, batch norm and dropout in eval mode", {"model": "eval", "n": 4, "earlier": "some"}),
            ("cross-entropy, 6 samples", {"model": "mlp", "n": 6, "classes": True}),
            ("float32, 5 samples", {"model": "mlp", "n": 5, "earlier": "all", "dtype": "float32"}),
        ],
    )


def _arrange_2_5(case: Case) -> Arrangement:
    model, x, y = samples(case)
    return Arrangement(
        (model, loss_2_5(case), x, y),
        watch={"model": model, "x": x, "y": y},
        facts=lambda _: {".grad after the call": gradients_held(model), "hooks left": hooks_in(model)},
    )


EXERCISES = (
    Exercise(
        id="2.1",
        name="backward_n_times",
        title="Watch the ledger fill",
        points=15,
        difficulty=1,
        minutes=8,
        goal=(
            "Write `backward_n_times(param, loss_fn, n)`. `loss_fn(param)` returns a 0-d loss. Start from a cleared "
            "`.grad`, whatever was in it, run `n` backwards without clearing in between, and return the list of `n` "
            "snapshots of `param.grad`, one after each backward. Each snapshot is a tensor of its own: a later backward "
            "changes none of them. Afterwards `param.grad` holds the sum of the `n` gradients, and `param` has its old "
            "value. `n = 0` returns `[]` and leaves `.grad` cleared: None or zeros, as you like. One graph walked `n` "
            "times is as good as `n` forward passes."
        ),
        cases=_cases_2_1,
        arrange=_arrange_2_1,
        may_change=frozenset({"grad"}),
        hints=(
            "Three things happen in each round: a loss is made, it goes backward, and what .grad holds is written down. "
            "One more thing happens once, before the first round. Which?",
            "The second backward adds in place to the tensor that the first one made. What does a list show that stores "
            "this tensor itself, once for each round?",
            "Clear before the loop, never inside it. In the loop, store a copy of the gradient that owns its memory: "
            "detach() alone shares it.",
        ),
    ),
    Exercise(
        id="2.2",
        name="accumulate_grad",
        title="Write backward's last line",
        points=20,
        difficulty=2,
        minutes=12,
        goal=(
            "Write `accumulate_grad(param, incoming)`, what backward does when a gradient arrives at a parameter. When "
            "`param.grad` is None, it becomes a tensor with the values of `incoming`, and the caller may go on changing "
            "`incoming` without changing `.grad`. Otherwise `incoming` is added to what `.grad` holds. Another shape "
            "than the parameter's raises `ValueError` and changes nothing, one that would broadcast included. Dtype and "
            "device are not yours to check. `incoming` stays as it was, and the function returns None."
        ),
        cases=_cases_2_2,
        arrange=_arrange_2_2,
        may_change=frozenset({"grad"}),
        rules=("When `.grad` holds a tensor, add to that very tensor, in place: other code may hold it too.",),
        hints=(
            "There are three ways out of this function: refuse, put the first gradient in, add a later one. In which "
            "order must you ask, so that a refusal finds everything untouched?",
            "PyTorch adds a (3,) to a (2, 3) without a word, so the comparison of shapes is yours, in the case of None "
            "too. The parameter always has a shape; its gradient may be None.",
            "The first gradient needs memory of its own, so copy it. The later ones need an operation that writes into "
            "the old tensor; an ordinary sum makes a new one.",
        ),
    ),
    Exercise(
        id="2.3",
        name="shared_weight_gradient",
        title="One weight, many uses",
        points=25,
        difficulty=4,
        minutes=20,
        goal=(
            "Let `h = x`, then `depth` times `h = tanh(w * h)`, then `loss = h.sum()`. Write "
            "`shared_weight_gradient(w, x, depth)` that returns `(contributions, total)`: what each use of `w` adds to "
            "its gradient, first use first, and their sum. `w` is 0-d or shaped like `x`, and so is each contribution. "
            "`contributions` is a list, a tuple or one stacked tensor; `depth` is at least 1. By hand or with autograd, "
            "as you like. `w` and `x` may or may not require gradients; they and their `.grad` stay as they were."
        ),
        cases=_cases_2_3,
        arrange=_arrange_2_3,
        hints=(
            "Autograd adds the uses up before you can look. What if every use had a weight of its own, all with the "
            "same value?",
            "Make depth separate copies of w that require gradients, use a fresh one in each round, and ask for the "
            "gradient of the loss with respect to all of them. The total is then an addition.",
            "Copies that are leaves have no history: detach, clone, require gradients. torch.autograd.grad takes a "
            "sequence of inputs, returns one gradient for each in the same order, and writes to no .grad.",
        ),
    ),
    Exercise(
        id="2.4",
        name="multi_loss_gradients",
        title="Several losses, one graph at a time",
        points=20,
        difficulty=3,
        minutes=15,
        goal=(
            "Write `multi_loss_gradients(model, losses, weights)`. Each of `losses` is a function that takes the model "
            "and returns a 0-d loss; `weights` are floats, one a loss. Afterwards every `.grad` holds the gradient of "
            "the weighted sum of the losses, and nothing of what was there before. A parameter that no loss uses ends "
            "as None or zeros, a frozen one keeps None. Call each loss once; one of weight zero may be left out. What "
            "the function returns does not matter."
        ),
        cases=_cases_2_4,
        arrange=_arrange_2_4,
        may_change=frozenset({"grad"}),
        rules=(
            "One backward per loss, so that one graph is alive at a time: when a loss is called, the graphs of the "
            "earlier ones have been freed.",
            "Each loss is called once; one of weight zero may be left out.",
        ),
        hints=(
            "The gradient of a sum is the sum of the gradients, and .grad adds. Who, then, has to do the adding here, "
            "and when must the page be empty?",
            "Clear once, before the first loss. Then bring each loss backward as soon as it is made: backward frees the "
            "graph it has walked.",
            "The weight belongs to the loss, before its backward; scaling .grad afterwards would scale the earlier "
            "losses too. Keep no graph with retain_graph, and keep no running sum of losses.",
        ),
    ),
    Exercise(
        id="2.5",
        name="per_sample_gradients",
        title="Undo the sum over the batch",
        points=20,
        difficulty=3,
        minutes=20,
        goal=(
            "Write `per_sample_gradients(model, loss_fn, x, y)`: a dict `{name: tensor of shape (n, *parameter shape)}` "
            "whose row `i` is the gradient of `loss_fn` on sample `i` alone, taken as a batch of one; `n` is `len(x)`, "
            "at least 1. Leave every `.grad` as it was. A frozen parameter has no entry, an unused one has zeros, a tied "
            "one appears once. The models draw no random numbers and use no batch statistics; some of them accept "
            "batches alone."
        ),
        cases=_cases_2_5,
        arrange=_arrange_2_5,
        hints=(
            "One backward over the batch has added the samples up already, and no trick on the sum brings them back. "
            "What does a batch of one sample give?",
            "Loop over the samples, or map with torch.func. Slice with i:i + 1, so that the batch dimension stays, and "
            "use a function that returns gradients instead of writing them to .grad.",
            "Collect one list of gradients for each name and stack each list at the end, along a new first dimension. "
            "Exercise 1.3 has what a single sample needs, unused and frozen parameters included.",
        ),
    ),
)

LESSON = Lesson(2, "02_why_gradients_accumulate", "Why gradients accumulate", EXERCISES, QUESTIONS, reading_minutes=35)
