"""Exercise 3.4: how many bytes clearing and accumulating move in one step."""

from __future__ import annotations

import operator
import random
from collections.abc import Callable, Mapping
from typing import Any

import torch
from torch import nn

from course_utils.exercise import Arrangement, Case, Exercise
from course_utils.lessons.inputs import Draw, cases, without_global_draws
from course_utils.lessons.lesson3.inputs import hold, share_memory_of_values

Sizes = tuple[int, int, int]
"""Features that go into a model, of its hidden layer, and of what comes out."""


class _Mixed(nn.Module):
    """A body in the case's dtype, a head in another, and a temperature of one number."""

    def __init__(self, sizes: Sizes) -> None:
        super().__init__()
        into, hidden, out = sizes
        self.body = nn.Sequential(nn.Linear(into, hidden), nn.Tanh())
        self.head = nn.Linear(hidden, out)
        self.temperature = nn.Parameter(torch.zeros(()))


def _linear(sizes: Sizes) -> nn.Module:
    into, _, out = sizes
    return nn.Linear(into, out)


def _two_layers(sizes: Sizes) -> nn.Module:
    into, hidden, out = sizes
    return nn.Sequential(nn.Linear(into, hidden), nn.Tanh(), nn.Linear(hidden, out))


def _tied(sizes: Sizes) -> nn.Module:
    width, words, _ = sizes
    model = nn.Sequential(nn.Embedding(words + 1, width), nn.Linear(width, words + 1))
    model[1].weight = model[0].weight
    return model


def _norm(sizes: Sizes) -> nn.Module:
    into, hidden, out = sizes
    return nn.Sequential(nn.Linear(into, hidden), nn.BatchNorm1d(hidden), nn.Dropout(0.5), nn.Linear(hidden, out))


_MODELS: Mapping[str, Callable[[Sizes], nn.Module]] = {
    "linear": _linear,
    "two layers": _two_layers,
    "tied": _tied,
    "norm": _norm,
    "mixed": _Mixed,
}


def _model(case: Case) -> nn.Module:
    draw, spec = Draw(case), case.spec
    into, hidden, out = spec["sizes"]
    model = draw.fill(without_global_draws(lambda: _MODELS[spec["model"]]((into, hidden, out))))
    if spec["model"] == "mixed":
        model.head.to(torch.bfloat16)  # type: ignore[operator, union-attr]
    if spec.get("flat"):
        share_memory_of_values(list(model.parameters()))
    for index, (name, param) in enumerate(model.named_parameters()):
        held = spec.get("held", "none")
        if held == "all" or held == "some" and index % 2:
            hold(draw, param, "gradient")
        param.requires_grad_(name not in spec.get("frozen", ()) and not spec.get("all_frozen"))
    return model.train(not spec.get("eval"))


def _number(result: object) -> object:
    """A count as Python's own integer where it is one of NumPy's, or a 0-d tensor."""
    if isinstance(result, torch.Tensor) and result.ndim == 0 or type(result).__module__ == "numpy":
        try:
            return operator.index(result)  # type: ignore[arg-type]
        except (TypeError, ValueError):
            return result.item()  # type: ignore[attr-defined]
    return result


def _cases(seed: int) -> list[Case]:
    chance = random.Random(seed)

    def row(name: str, model: str, none: bool, **rest: Any) -> tuple[str, dict[str, Any]]:
        # At seed 0, the learner's own, the sizes are small enough to count by hand.
        sizes = [chance.randint(2, 40) for _ in range(3)] if seed else [3, 4, 2]
        return f"{name}, set_to_none={none}", {"model": model, "sizes": sizes, "set_to_none": none, **rest}

    return cases(
        seed,
        [
            row("one linear layer in float32", "linear", False, dtype="float32"),
            row("one linear layer in float32", "linear", True, dtype="float32"),
            row("two layers in float64", "two layers", False),
            row("two layers, .grad holds gradients", "two layers", False, held="all"),
            row("two layers, some hold gradients", "two layers", True, held="some"),
            row("two layers in float32, some hold gradients", "two layers", False, held="some", dtype="float32"),
            row("a frozen weight", "two layers", False, frozen=["0.weight"]),
            row(
                "a frozen weight and a frozen bias", "two layers", False, frozen=["0.weight", "2.bias"], dtype="float32"
            ),
            row("one weight tied to two places", "tied", False, dtype="float32"),
            row("batch norm and dropout", "norm", False, dtype="float32"),
            row("batch norm and dropout in eval mode", "norm", True, eval=True),
            row("float32, bfloat16 and a parameter of one number", "mixed", False, dtype="float32"),
            row("float64, bfloat16 and a parameter of one number", "mixed", False),
            row("parameters that lie in one piece of memory", "two layers", False, flat=True, held="all"),
            row("every parameter is frozen", "two layers", False, all_frozen=True),
        ],
    )


def _arrange(case: Case) -> Arrangement:
    model, flag = _model(case), case.spec["set_to_none"]
    return Arrangement((model, flag), watch={"model": model}, call=lambda attempt: _number(attempt(model, flag)))


EXERCISE = Exercise(
    id="3.4",
    name="zeroing_traffic",
    title="The traffic of clearing",
    difficulty=2,
    minutes=12,
    goal=(
        "Write `zeroing_traffic(model, set_to_none)`: the bytes that clearing and accumulating move in one step of a "
        "loop, as one number: an int, a float or a 0-d tensor. The loop calls `zero_grad(set_to_none=set_to_none)` on all parameters, then forward, "
        "backward and `step()`. In each step backward brings every parameter that requires gradients one dense "
        "gradient, of the parameter's shape and dtype, in memory of its own; a frozen parameter has no gradient and "
        "gets none, and one that two layers share is one parameter. Take any step after the first: what `.grad` holds "
        "when you are called plays no part. Each byte of a gradient counts once for every time that it is read and "
        "once for every time that it is written, by the clearing or by what backward does to put the arriving "
        "gradient into `.grad`. An operation that fills a tensor with zeros only writes. A tensor that is handed "
        "over, made or freed is neither read nor written. How the arriving gradient was computed does not count, nor "
        "does what the optimizer does. You may compute the number or measure it; the model, its `.grad` included, "
        "stays as it was."
    ),
    cases=_cases,
    arrange=_arrange,
    hints=(
        "Take one parameter and one step, and write down which operations touch its .grad between two steps, for "
        "either value of set_to_none. You have seen their names in the section before.",
        "An in-place addition a += b reads two tensors and writes one. Filling with zeros writes one. And backward "
        "into None, as section 4 measured: is the arriving tensor copied, or kept?",
        "A tensor has as many bytes as it has entries times the bytes of one entry; both are methods of a tensor, and "
        "the second differs from dtype to dtype. Go over the parameters that require gradients, each of them once.",
    ),
    properties=(
        ("set_to_none is True", lambda spec: spec["set_to_none"]),
        ("set_to_none is False", lambda spec: not spec["set_to_none"]),
        ("no parameter requires gradients", lambda spec: bool(spec.get("all_frozen"))),
        ("some parameters are frozen, not all", lambda spec: "frozen" in spec),
        ("a parameter is frozen", lambda spec: "frozen" in spec or bool(spec.get("all_frozen"))),
        ("a weight is tied to two places", lambda spec: spec["model"] == "tied"),
        ("the parameters lie in one piece of memory", lambda spec: bool(spec.get("flat"))),
        ("the model has batch norm", lambda spec: spec["model"] == "norm"),
        ("the parameters are of two dtypes", lambda spec: spec["model"] == "mixed"),
        ("some parameters hold no gradient", lambda spec: spec.get("held", "none") != "all"),
        ("every parameter holds a gradient", lambda spec: spec.get("held") == "all"),
        ("no parameter holds a gradient", lambda spec: spec.get("held", "none") == "none"),
        ("the model is float32", lambda spec: spec.get("dtype") == "float32" and spec["model"] != "mixed"),
    ),
    quantities={
        "the bytes of an entry": lambda spec: 4 if spec.get("dtype") == "float32" else 8,
    },
)
