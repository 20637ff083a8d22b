"""Exercise 1.6: find the stations of a computation that cut the graph."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import torch

from course_utils.exercise import Arrangement, Case, Exercise
from course_utils.lessons.inputs import Draw, cases

T = torch.Tensor
Station = Callable[[T], T]

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


# ------------------------------------------------------------------ stations that hand nothing back


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


# ------------------------------------------------------------------ stations whose input matters


def _far(h: T) -> T:
    return 3 + h * h


def _clip(h: T) -> T:
    # As one clips what is too large: only then is it divided by a number without a graph.
    size = h.norm().item()
    return 2 * h / size if size > 2.9 else 2 * h


_PLAIN: Mapping[str, Station] = {
    "tanh": _tanh,
    "square": _square,
    "shifted": _shifted,
    "logged": _logged,
    "detach": _detach,
    "item": _item,
    "no_grad": _no_grad,
    "numpy": _numpy,
    "new leaf": _new_leaf,
    "gate": _gate,
    "size": _size,
    "term": _term,
    "far": _far,
    "clip": _clip,
}
_OWN_WEIGHTS = ("layer", "layer behind a detach", "factor made once")


def _with_weights(kind: str, draw: Draw, width: int) -> tuple[Station, T]:
    """A station with weights of its own, and these."""
    if kind == "factor made once":
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
    draw = Draw(case)
    x = draw.normal(*case.spec["shape"], scale=0.3)
    x = x + 0.6 * torch.sign(x)
    stations: list[Station] = []
    weights: list[T] = []
    for kind in case.spec["stations"]:
        if kind in _OWN_WEIGHTS:
            station, weight = _with_weights(kind, draw, case.spec["shape"][-1])
            weight.grad = torch.full_like(weight, 7.0, requires_grad=False) if len(weights) % 2 else None
            weights.append(weight)
        else:
            station = _PLAIN[kind]
        stations.append(station)
    return stations, x, weights


def _cases(seed: int) -> list[Case]:
    rows: list[tuple[str, Sequence[str], list[int]]] = [
        ("three stations, one cut", ["square", "detach", "tanh"], [3]),
        ("four stations, none cuts", ["tanh", "logged", "layer", "square"], [3]),
        ("two cuts, and stations behind them", ["layer", "item", "logged", "square", "no_grad", "square"], [4]),
        ("an output that requires a gradient all the same", ["layer", "new leaf", "layer behind a detach"], [3]),
        ("cuts on some of the lines", ["gate", "tanh", "size", "logged", "term"], [3]),
        ("a round trip through NumPy", ["square", "numpy", "tanh"], [2]),
        ("a factor whose graph was freed", ["factor made once", "detach", "layer", "factor made once"], [3]),
        ("a detached constant that cancels", ["tanh", "shifted", "gate"], [4]),
        ("a station that cuts where its input is large", ["clip", "far", "clip"], [2]),
        ("a matrix of 2 by 3", ["layer", "term", "square", "no_grad", "logged"], [2, 3]),
        ("no station at all", [], [2]),
        ("float32, six stations", ["tanh", "layer", "gate", "square", "item", "logged"], [3]),
        ("float32, none cuts", ["square", "layer", "tanh"], [4]),
    ]
    specs = []
    for name, stations, shape in rows:
        spec: dict[str, object] = {"stations": list(stations), "shape": shape}
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
        "some. Return the list of the positions of those that do, in order, counted from 0. A station cuts if, at the "
        "tensor `h` that reaches it, the gradient of `station(h).sum()` with respect to `h` is not the slope that you "
        "measure by moving `h`; where autograd has no gradient at all, that counts as zero. In float64 and in float32, a "
        "cut makes an entry of the gradient wrong by more than 0.1, and no entry is larger than 100.\n\nStations may have "
        "weights of their own. These and their `.grad` stay as they were, and part of their graph may have been freed by "
        "an earlier backward pass. No station has chance in it, changes what it is given, or remembers a call; `x` "
        "requires no gradient; in the check it has at most ten entries."
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
        ("a station cuts some of its lines", _has("gate", "size", "term")),
        ("a station's output requires a gradient although it cuts", _has("new leaf", "layer behind a detach")),
        ("a station uses a value whose graph was freed", _has("factor made once")),
        ("a station detaches a constant that cancels", _has("shifted")),
        ("a station cuts where its input is large", _has("clip")),
        ("a station goes through NumPy", _has("numpy")),
        ("stations have weights of their own", _has(*_OWN_WEIGHTS)),
        ("x is a matrix", lambda spec: len(spec["shape"]) == 2),
        ("the inputs are float32", lambda spec: spec.get("dtype") == "float32"),
    ),
    quantities={"the number of stations": lambda spec: len(spec["stations"])},
)
