"""Exercise 1.6: find the stations of a computation that cut the graph."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping, Sequence
from typing import TypeVar

import torch

from course_utils.exercise import Arrangement, Case, Exercise
from course_utils.lessons.inputs import Draw, cases

T = torch.Tensor
Station = Callable[[T], T]
Option = TypeVar("Option")

# ------------------------------------------------------------------ stations that hand the whole gradient back


def _tanh(h: T) -> T:
    return torch.tanh(h)


def _square(h: T) -> T:
    return h * h + h


def _shifted(h: T) -> T:
    # The constant that keeps exp from overflowing cancels: to detach it changes no gradient.
    shift = h.max().detach()
    return h - shift - (h - shift).exp().sum().log()


def _logged(h: T) -> T:
    with torch.no_grad():
        _size = h.norm().item()  # a number for a log, on which nothing depends
    return torch.sin(h)


def _lifted(h: T) -> T:
    # In float32 a sum of 64 to 128 has steps of 8e-6: too coarse for a move of 1e-5, fine enough for one of 1e-3.
    return h + 25


# ------------------------------------------------------------------ stations that hand nothing back


def _step(h: T) -> T:
    # Nothing to hand back: it has no graph, and its slope is zero.
    return (h > 0).to(h.dtype)


def _detach(h: T) -> T:
    return (1.5 * h).detach()


def _item(h: T) -> T:
    return h.new_tensor([2 * value.item() for value in h.flatten()]).reshape(h.shape)


def _no_grad(h: T) -> T:
    with torch.no_grad():
        return 2 * h + 1


def _numpy(h: T) -> T:
    return torch.from_numpy(h.detach().cpu().numpy() * 1.5).to(h.device)


def _new_leaf(h: T) -> T:
    return 1.5 * h.detach().clone().requires_grad_()


# ------------------------------------------------------------------ stations that hand back a part of it


def _gate(h: T) -> T:
    return (2 + h * h) * torch.sigmoid(h).detach()


def _size(h: T) -> T:
    return torch.exp(h) * (0.5 + h.square().sum().item())


def _term(h: T) -> T:
    with torch.no_grad():
        square = h.square()
    return torch.sin(h) + square


def _damped(h: T) -> T:
    return h * (2 - h * h).detach()  # every entry of the gradient is too large


def _tilt(h: T) -> T:
    # What is missing of the gradient adds up to zero: two entries, one too small, one too large by as much.
    first, second = h.detach().flatten()[:2]
    return h + (first - second)


def _one_entry(h: T) -> T:
    entries = h.flatten()
    return torch.cat([0.3 * entries[:1].detach(), entries[1:]]).reshape(h.shape)


# ------------------------------------------------------------------ stations whose input matters


def _far(h: T) -> T:
    return 3 + h * h


def _clip_at(limit: float) -> Station:
    def clip(h: T) -> T:
        # As one clips what is too large: only then is it scaled by a number without a graph.
        size = h.norm().item()
        return 2 * h * (limit / size) if size > limit else 2 * h

    return clip


_PLAIN: Mapping[str, Station] = {
    "tanh": _tanh,
    "square": _square,
    "shifted": _shifted,
    "logged": _logged,
    "lifted": _lifted,
    "step": _step,
    "detach": _detach,
    "item": _item,
    "no_grad": _no_grad,
    "numpy": _numpy,
    "new_leaf": _new_leaf,
    "gate": _gate,
    "size": _size,
    "term": _term,
    "damped": _damped,
    "tilt": _tilt,
    "one_entry": _one_entry,
    "far": _far,
}
_OWN_WEIGHTS = ("layer", "layer_behind_a_detach", "factor_made_once")


def _with_weights(kind: str, draw: Draw, width: int) -> tuple[Station, T]:
    """A station with weights of its own, and these."""
    if kind == "factor_made_once":
        weight = draw.normal(width, scale=0.3).requires_grad_()
        factor = torch.exp(weight)
        torch.autograd.backward(factor.sum())  # an earlier pass through it, which freed what it had kept
        return lambda h: h * factor, weight
    # No negative entries: what a cut takes away cannot cancel.
    weight = (0.2 + draw.normal(width, width, scale=0.3).abs()).requires_grad_()
    if kind == "layer":
        return lambda h: torch.tanh(h @ weight), weight
    return lambda h: h.detach() @ weight, weight


def chain(case: Case) -> tuple[list[Station], T, list[T]]:
    """The stations of a case, their input `x`, whose entries are not near zero, and the stations' own weights."""
    draw, kinds = Draw(case), case.spec["stations"]
    x = draw.normal(*case.spec["shape"], scale=0.3)
    x = x + 0.6 * torch.sign(x)
    h = x
    stations: list[Station] = []
    weights: list[T] = []
    for position, kind in enumerate(kinds):
        if kind in _OWN_WEIGHTS:
            station, weight = _with_weights(kind, draw, case.spec["shape"][-1])
            weight.grad = torch.full_like(weight, 7.0, requires_grad=False) if len(weights) % 2 else None
            weights.append(weight)
        elif kind == "clip":
            # The last one cuts what "far" made large, none cuts before that; of those between, chance decides.
            large = "far" in kinds[:position]
            cuts = large and ("clip" not in kinds[position + 1 :] or draw.normal(1).item() > 0)
            station = _clip_at((0.6 if cuts else 1.6) * h.norm().item())
        else:
            station = _PLAIN[kind]
        stations.append(station)
        h = station(h).detach()
    return stations, x, weights


_ROWS: Sequence[tuple[str, Sequence[Sequence[int]], Sequence[Sequence[str]]]] = (
    (
        "three stations, one cut",
        ([3], [4]),
        (
            ("tanh detach", "detach logged", "layer item", "item logged", "logged no_grad", "tanh numpy"),
            ("square", "logged"),
        ),
    ),
    (
        "four stations, none cuts",
        ([3], [2], [4]),
        (
            ("tanh", "logged", "layer"),
            ("logged", "tanh", "layer"),
            ("layer", "tanh", "logged"),
            ("square", "tanh", "logged", "layer"),
        ),
    ),
    (
        "two cuts, and stations behind them",
        ([4], [3]),
        (
            ("layer", "tanh"),
            ("item", "detach", "numpy"),
            ("logged", "tanh"),
            ("far", ""),
            ("no_grad", "item", "detach"),
            ("square",),
        ),
    ),
    (
        "an output that requires a gradient all the same",
        ([3], [2], [4]),
        (
            ("layer", "tanh", "logged", ""),
            ("new_leaf", "new_leaf tanh", "layer_behind_a_detach logged"),
            ("layer_behind_a_detach", "new_leaf layer_behind_a_detach", "logged layer_behind_a_detach"),
        ),
    ),
    (
        "cuts on some of the lines",
        ([3], [4]),
        (
            ("far term logged", "gate tanh", "gate logged", "tanh gate logged"),
            ("size", "gate", "far term"),
            ("logged",),
            ("far gate", "tanh far gate", "far gate logged"),
        ),
    ),
    (
        "a round trip through NumPy",
        ([3], [4]),
        (("tanh", "logged", "layer", ""), ("numpy",), ("square", "logged", "")),
    ),
    (
        "a factor whose graph was freed",
        ([3], [4]),
        (
            ("factor_made_once", "tanh factor_made_once", "factor_made_once logged"),
            ("detach", "numpy", "item"),
            ("layer",),
            ("factor_made_once",),
        ),
    ),
    (
        "a detached constant that cancels",
        ([4], [2], [3]),
        (("tanh", "logged", "layer", ""), ("shifted",), ("gate", "tanh gate", "logged gate")),
    ),
    (
        "a station that cuts where its input is large",
        ([2], [3], [4]),
        (("clip far", "far clip", "clip far clip", "clip clip far", "far clip clip"), ("clip",)),
    ),
    (
        "a matrix of 2 by 3",
        ([2, 3],),
        (
            ("layer", "tanh", "logged"),
            ("gate",),
            ("square", "tanh"),
            ("no_grad", "detach", "numpy", "item"),
            ("square", ""),
        ),
    ),
    (
        "a station of slope zero",
        ([3], [4]),
        (("", "tanh", "logged"), ("step",), ("item", "gate", "no_grad"), ("logged", "square")),
    ),
    (
        "gradients with entries that are too large",
        ([3], [4]),
        (("damped",), ("tilt", "logged tilt", "tilt tanh"), ("logged", "tanh", "layer")),
    ),
    (
        "one entry of six",
        ([2, 3],),
        (("layer", "logged", "square"), ("one_entry",), ("tanh", "", "logged")),
    ),
    ("no station at all", ([2], [3], [4]), ()),
    (
        "float32, six stations",
        ([3], [4]),
        (
            ("tanh layer", "logged layer"),
            ("far gate item", "far gate detach", "far gate numpy", "detach far gate", "numpy far gate"),
            ("logged",),
        ),
    ),
    (
        "float32, none cuts",
        ([4], [3]),
        (("square", "tanh", "logged"), ("layer", "layer logged"), ("tanh", "logged"), ("lifted",)),
    ),
)
"""Names of cases, the shapes that `x` may have, and station after station what may stand there: none, one or several.
Of all these the learner's own cases have the first. Nothing here makes an entry larger than the text says,
nor the slope along several stations so small that a cut among them would hardly show."""


def _cases(seed: int) -> list[Case]:
    chance = random.Random(seed)

    def drawn(options: Sequence[Option]) -> Option:
        return chance.choice(options) if seed else options[0]

    specs = []
    for name, shapes, places in _ROWS:
        stations = " ".join(drawn(options) for options in places).split()
        spec: dict[str, object] = {"stations": stations, "shape": drawn(shapes)}
        if name.startswith("float32"):
            spec["dtype"] = "float32"
        specs.append((name, spec))
    return cases(seed, specs)


def _arrange(case: Case) -> Arrangement:
    stations, x, weights = chain(case)
    return Arrangement((stations, x), watch={"x": x, "weights of the stations": weights})


def _has(*kinds: str) -> Callable[[Mapping[str, object]], bool]:
    return lambda spec: bool(set(kinds) & set(spec["stations"]))  # type: ignore[call-overload]


EXERCISE = Exercise(
    id="1.6",
    name="find_cuts",
    title="Find the cuts",
    difficulty=3,
    minutes=20,
    goal=(
        "Write `find_cuts(stations, x)`. `stations` is a list of functions, at most ten: the first takes the tensor `x`, "
        "each later one the tensor that the one before it gave. Some of them cut the graph, on all of their lines or on "
        "some. Return the list of the positions of those that do, in order, counted from 0.\n\nA station cuts if, at the "
        "tensor `h` that reaches it, the gradient of `station(h).sum()` with respect to `h` is not the slope that you "
        "measure by moving `h`. Where autograd has no gradient at all, that counts as zero."
    ),
    rules=(
        "A cut makes an entry of the gradient wrong by more than 0.1, in float64 and in float32.",
        "No entry of a gradient is larger than 40. In float32, where numbers are coarse, none is larger than 15, and no "
        "number on the way through the stations is larger than 40.",
        "Stations may have weights of their own. Some were computed beforehand, and an earlier backward pass has freed "
        "that graph. The weights and their `.grad` stay as they were.",
        "No station has chance in it, changes what it is given, or remembers a call.",
        "`x` requires no gradient; in the check it has at most ten entries.",
    ),
    cases=_cases,
    arrange=_arrange,
    hints=(
        "Whether a result requires a gradient says that some line leads back to something. Which question do you have to "
        "ask in its place, and who is the judge of the answer?",
        "Behind a cut, nothing has a graph any more. Give each station an input of its own: a fresh leaf that holds the "
        "values which arrive there. Then no station pays for another.",
        "Two numbers for each entry: what torch.autograd.grad answers for that leaf alone (with allow_unused, and only "
        "where the sum requires a gradient at all), and a central difference of the sum. Mind what section 1 said of "
        "float32 before you choose the move.",
    ),
    properties=(
        ("there is no station", lambda spec: not spec["stations"]),
        ("a station's gradient is wrong at one entry alone", _has("one_entry")),
        ("a station cuts some of its lines", _has("gate", "size", "term", "damped", "tilt")),
        ("a station's output requires a gradient although it cuts", _has("new_leaf", "layer_behind_a_detach")),
        ("a station uses a value whose graph was freed", _has("factor_made_once")),
        ("a station detaches a constant that cancels", _has("shifted")),
        ("a station cuts where its input is large", _has("clip")),
        ("a station has slope zero and no gradient", _has("step")),
        ("a station gives large numbers", _has("lifted")),
        ("a station goes through NumPy", _has("numpy")),
        ("stations have weights of their own", _has(*_OWN_WEIGHTS)),
        ("x is a matrix", lambda spec: len(spec["shape"]) == 2),
        ("the inputs are float32", lambda spec: spec.get("dtype") == "float32"),
    ),
    quantities={"the number of stations": lambda spec: len(spec["stations"])},
)
