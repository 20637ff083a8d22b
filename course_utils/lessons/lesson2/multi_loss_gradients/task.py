"""Exercise 2.4: the gradient of a weighted sum of losses, one graph at a time."""

from __future__ import annotations

import math

import torch
from torch import nn

from course_utils.exercise import Arrangement, Case, Exercise
from course_utils.lessons.inputs import Draw, cases, gradients_held, hooks_in, model_and_batch
from course_utils.lessons.memory import Remembered, share_memory

GRAD = ".grad after the call"
CALLS = "calls of each loss"
WEIGHED_CALLS = "calls of each loss whose weight is not zero"
HOOKS = "hooks left"
ALIVE = "earlier graphs alive at each call"
ARRIVED = "gradients that arrived at a parameter"
SHARED = "parameters whose .grad shares memory with another's"


def kinds_of_losses(case: Case) -> list[int]:
    """Which loss stands at each position of the list: a loss may stand there twice."""
    return list(case.spec.get("losses", range(len(case.spec["weights"]))))


class _Arrivals:
    """In its block, counts the gradients that backward adds into `.grad` of a model's parameters."""

    def __init__(self, model: nn.Module) -> None:
        self._model = model
        self._handles: list[torch.utils.hooks.RemovableHandle] = []
        self.count = 0

    @property
    def hooks(self) -> int:
        """How many hooks of its own are there now."""
        return len(self._handles)

    def __enter__(self) -> None:
        wanted = [p for p in self._model.parameters() if p.requires_grad]
        self._handles = [p.register_post_accumulate_grad_hook(self._note) for p in wanted]

    def __exit__(self, *_: object) -> None:
        for handle in self._handles:
            handle.remove()
        self._handles = []

    def _note(self, _: torch.Tensor) -> None:
        self.count += 1


class _Watch:
    """The losses of a case, and what is seen each time one is called.

    Each loss leaves one tensor that its graph alone keeps: the residual, which the operation after it saves for
    backward. A weak reference to its memory tells whether that graph has been freed; a variable that still names the
    loss itself does not matter.
    """

    def __init__(self, case: Case) -> None:
        self._heads = case.spec["model"] == "heads"
        self._scales = case.spec.get("scales")
        draw = Draw(Case(case.name, {**case.spec, "seed": case.spec["seed"] + 500}))
        outputs = 3 if case.spec["model"] == "tied" else 2
        kinds = kinds_of_losses(case)
        self._batches = [(draw.normal(4 + k, 3), draw.normal(4 + k, outputs)) for k in range(max(kinds) + 1)]
        self._graphs = Remembered()
        self.calls = [0] * len(kinds)
        self.alive: list[int] = []
        self.losses = [_Loss(self, position, kind) for position, kind in enumerate(kinds)]

    def value(self, position: int, kind: int, model: nn.Module) -> torch.Tensor:
        """The loss at that position, and a note that it was called. Each kind is positive, and one knows up from down."""
        self.calls[position] += 1
        self.alive.append(len(self._graphs.there()))
        x, y = self._batches[kind]
        difference = (model(x, kind % 2) if self._heads else model(x)) - y  # with two heads, the losses take turns
        try:
            self._graphs.note(len(self.alive), difference)
        except NotImplementedError:
            pass  # a wrapper of torch.func has no memory of its own to watch
        match kind % 3:
            case 0:
                loss = (difference**2).mean()
            case 1:
                loss = nn.functional.softplus(difference).mean()
            case _:
                loss = torch.exp((difference**2).mean() / 4)  # backward needs the value of the loss itself
        return loss * self._scales[position] if self._scales else loss


class _Loss:
    """What stands at one position of the list; equal to what stands at another if the loss is the same."""

    def __init__(self, watch: _Watch, position: int, kind: int) -> None:
        self._watch, self._position, self._kind = watch, position, kind

    def __call__(self, model: nn.Module) -> torch.Tensor:
        return self._watch.value(self._position, self._kind, model)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Loss) and other._kind == self._kind

    def __hash__(self) -> int:
        return hash(self._kind)


def _sharing(model: nn.Module) -> str:
    """The names of the parameters whose `.grad` lies in memory of another one's."""
    held = [(name, p.grad) for name, p in model.named_parameters() if p.grad is not None]
    return ", ".join(n for n, g in held if any(share_memory(g, h) for m, h in held if m != n)) or "none"


def _cases(seed: int) -> list[Case]:
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
                "two heads, and a layer that no loss uses but that holds a gradient",
                {"model": "heads", "weights": [0.5, 1.5, 2.0], "earlier": "all"},
            ),
            ("a loss of weight zero", {"model": "heads", "weights": [2.0, 0.0, 0.5], "earlier": "some"}),
            ("the first weight is zero", {"model": "mlp", "weights": [0.0, 1.5, 0.75], "earlier": "all"}),
            ("two biases that are added to each other", {"model": "twins", "weights": [0.5, 1.25], "earlier": "some"}),
            ("a negative weight, and one weight tied to two places", {"model": "tied", "weights": [1.5, -0.5, 0.75]}),
            ("a frozen weight", {"model": "frozen", "weights": [0.25, 0.875], "earlier": "all"}),
            ("dropout and batch norm in eval mode", {"model": "eval", "weights": [1.25, 0.625], "earlier": "some"}),
            (
                "the same loss twice, with two weights",
                {"model": "mlp", "weights": [0.75, 1.25, -0.5], "losses": [0, 1, 0], "earlier": "some"},
            ),
            (
                "losses of very different scale",
                {"model": "mlp", "weights": [0.5, 0.25, 1.5], "scales": [100.0, 1.0, 0.01], "earlier": "all"},
            ),
            (
                ".grad holds infinite and NaN gradients",
                {"model": "heads", "weights": [1.5, 0.5, 0.25], "earlier": "not finite"},
            ),
            (
                "float32, four losses",
                {"model": "mlp", "weights": [0.125, 1.125, 0.625, 0.875], "earlier": "all", "dtype": "float32"},
            ),
        ],
    )


def _arrange(case: Case) -> Arrangement:
    model, _, _ = model_and_batch(case)
    watch = _Watch(case)
    arrivals = _Arrivals(model)
    return Arrangement(
        (model, watch.losses, list(case.spec["weights"])),
        watch={"model": model},
        within=(arrivals,),
        facts=lambda _: {
            GRAD: gradients_held(model),
            SHARED: _sharing(model),
            HOOKS: hooks_in(model) - arrivals.hooks,
            ARRIVED: "none" if not arrivals.count else "some",
            CALLS: watch.calls,
            WEIGHED_CALLS: [calls for calls, weight in zip(watch.calls, case.spec["weights"], strict=True) if weight],
            ALIVE: watch.alive,
        },
    )


EXERCISE = Exercise(
    id="2.4",
    name="multi_loss_gradients",
    title="Several losses, one graph at a time",
    difficulty=3,
    minutes=15,
    goal=(
        "Write `multi_loss_gradients(model, losses, weights)`. Each of `losses` is a function that takes the model "
        "and returns a 0-d loss; `weights` are floats that float32 holds exactly, one a loss. Afterwards every `.grad` "
        "holds the gradient of the weighted sum of the losses, and nothing of what was there before. A parameter that no "
        "loss uses ends as None or zeros, a frozen one keeps None. A loss that stands in the list twice counts twice, "
        "each time with the weight of its place. What the function returns does not matter."
    ),
    cases=_cases,
    arrange=_arrange,
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
    properties=(
        (".grad was None before", lambda spec: spec.get("earlier", "none") == "none"),
        ("the gradients held from before are infinite or NaN", lambda spec: spec.get("earlier") == "not finite"),
        ("there is one loss", lambda spec: len(spec["weights"]) == 1),
        ("there are two losses", lambda spec: len(spec["weights"]) == 2),
        ("there are more than two losses", lambda spec: len(spec["weights"]) > 2),
        ("a layer is used by no loss", lambda spec: spec["model"] == "heads"),
        ("the first weight is zero", lambda spec: spec["weights"][0] == 0),
        ("a weight of the sum is zero", lambda spec: 0.0 in spec["weights"]),
        ("a weight of the sum is negative", lambda spec: min(spec["weights"]) < 0),
        ("a loss stands in the list twice", lambda spec: "losses" in spec),
        ("the losses are of different scale", lambda spec: "scales" in spec),
        ("two parameters have the same gradient", lambda spec: spec["model"] == "twins"),
        ("a parameter is frozen", lambda spec: spec["model"] == "frozen"),
        ("a weight is tied to two places", lambda spec: spec["model"] == "tied"),
        ("the model has batch norm and dropout", lambda spec: spec["model"] == "eval"),
        ("the model is float32", lambda spec: spec.get("dtype") == "float32"),
    ),
    telling={
        WEIGHED_CALLS: "the losses of a weight other than zero were called so often: {given}; asked is once each."
    },
    quantities={
        "the number of losses": lambda spec: len(spec["weights"]),
        "the sum of the weights": lambda spec: sum(spec["weights"]),
        "the product of the weights": lambda spec: math.prod(spec["weights"]),
        "the first weight": lambda spec: spec["weights"][0],
        "the last weight": lambda spec: spec["weights"][-1],
    },
)
