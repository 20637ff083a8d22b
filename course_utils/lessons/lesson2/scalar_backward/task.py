"""Exercise 2.6: the backward pass of a tiny scalar engine."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from course_utils.exercise import Arrangement, Case, Exercise
from course_utils.lessons.inputs import Draw, cases
from course_utils.lessons.lesson2.scalars import Edge, Value

GRAD = ".grad after"
CHANGED = "what else changed"
VISITS = "most often that the parents of one value were read"


class _Watched(Value):
    """A `Value` that counts how often its parents are read."""

    def __init__(self, data: float, parents: Iterable[Edge] = ()) -> None:
        super().__init__(data, parents)
        self.reads = 0

    @property
    def parents(self) -> tuple[Edge, ...]:
        self.reads += 1
        return self._parents

    @parents.setter
    def parents(self, parents: tuple[Edge, ...]) -> None:
        self._parents = parents


def _values(case: Case) -> dict[str, _Watched]:
    """The values of a case by name, its inputs first; the last one is the output."""
    draw, spec = Draw(case), case.spec
    values: dict[str, _Watched] = {}
    for name in spec["inputs"]:
        values[name] = _Watched(draw.normal().item())
        if name in spec.get("earlier", ()):
            values[name].grad = draw.normal().item()
    for name, other in spec.get("opposite", {}).items():
        values[name].data = -values[other].data
    for name, other in spec.get("equal", {}).items():
        values[name].data = values[other].data
    for name, operation, *operands in spec["steps"]:
        first, *rest = (values[operand] for operand in operands)
        made = first.tanh() if operation == "tanh" else first + rest[0] if operation == "+" else first * rest[0]
        values[name] = _Watched(made.data, made.parents)
    return values


def _doublings(count: int) -> list[list[str]]:
    names = ["x", *(f"d{number}" for number in range(1, count + 1))]
    return [[after, "+", before, before] for before, after in zip(names, names[1:], strict=False)]


def _cases(seed: int) -> list[Case]:
    chain = [[f"{kind}{step}", *rest] for step in range(1, 4) for kind, *rest in _link(step)]
    diamond = [["a", "*", "w", "x"], ["b", "tanh", "a"]]
    return cases(
        seed,
        [
            ("y = w * x: each value used once", {"inputs": ["w", "x"], "steps": [["y", "*", "w", "x"]]}),
            ("y = x * x: one value used twice", {"inputs": ["x"], "steps": [["y", "*", "x", "x"]]}),
            (
                "y = tanh(w * x + b)",
                {"inputs": ["w", "x", "b"], "steps": [["a", "*", "w", "x"], ["s", "+", "a", "b"], ["y", "tanh", "s"]]},
            ),
            (
                "y = a * x with a = w * x: x used in two places",
                {"inputs": ["w", "x"], "steps": [["a", "*", "w", "x"], ["y", "*", "a", "x"]]},
            ),
            (
                "y = a + tanh(a) with a = w * x",
                {"inputs": ["w", "x"], "steps": [*diamond, ["y", "+", "a", "b"]]},
            ),
            (
                "y = tanh(a) + a with a = w * x",
                {"inputs": ["w", "x"], "steps": [*diamond, ["y", "+", "b", "a"]]},
            ),
            (
                "y = c + tanh(c) with c = a + tanh(a) and a = w * x",
                {
                    "inputs": ["w", "x"],
                    "steps": [*diamond, ["c", "+", "a", "b"], ["d", "tanh", "c"], ["y", "+", "c", "d"]],
                },
            ),
            ("three times h = tanh(w * h)", {"inputs": ["w", "h0"], "steps": chain}),
            (
                "y = w * x, where w and x hold the gradients of earlier calls",
                {"inputs": ["w", "x"], "steps": [["y", "*", "w", "x"]], "earlier": ["w", "x"]},
            ),
            (
                "y = a * x with a = x * x, where x holds the gradient of earlier calls",
                {"inputs": ["x"], "steps": [["a", "*", "x", "x"], ["y", "*", "a", "x"]], "earlier": ["x"]},
            ),
            (
                "y = a * u + a * v with v = -u: the two uses of a cancel",
                {
                    "inputs": ["a", "u", "v"],
                    "opposite": {"v": "u"},
                    "steps": [["p", "*", "a", "u"], ["q", "*", "a", "v"], ["y", "+", "p", "q"]],
                },
            ),
            (
                "y = tanh(u) * tanh(v), where u and v are two values of the same number",
                {
                    "inputs": ["u", "v"],
                    "equal": {"v": "u"},
                    "steps": [["p", "tanh", "u"], ["q", "tanh", "v"], ["y", "*", "p", "q"]],
                },
            ),
            (
                "y = w * x, and another value made of w that y does not use",
                {"inputs": ["w", "x"], "steps": [["other", "*", "w", "w"], ["y", "*", "w", "x"]]},
            ),
            ("y is a value without operands", {"inputs": ["y"], "steps": []}),
            ("twelve doublings: each value is the sum of the one before with itself", _doubling_spec(12)),
        ],
    )


def _link(step: int) -> list[list[str]]:
    return [["p", "*", "w", f"h{step - 1}"], ["h", "tanh", f"p{step}"]]


def _doubling_spec(count: int) -> dict[str, Any]:
    return {"inputs": ["x"], "steps": _doublings(count)}


def _arrange(case: Case) -> Arrangement:
    values = _values(case)

    def state() -> list[tuple[object, ...]]:
        return [(value.data, value._parents, set(vars(value))) for value in values.values()]

    before = state()

    def facts(_: object) -> dict[str, object]:
        pairs = list(zip(before, state(), strict=True))
        words = (".data", ".parents", "the attributes")
        changed = [word for place, word in enumerate(words) if any(a[place] != b[place] for a, b in pairs)]
        return {
            GRAD: {name: value.grad for name, value in values.items()},
            CHANGED: " and ".join(changed) or "nothing",
            VISITS: max(value.reads for value in values.values()),
        }

    for value in values.values():
        value.reads = 0
    return Arrangement((list(values.values())[-1],), facts=facts)


def _operands(spec: Any) -> list[str]:
    return [operand for _, _, *operands in spec["steps"] for operand in operands]


def _passes_on_what_is_used_twice(spec: Any) -> bool:
    inner = {name for name, *_ in spec["steps"]}
    return any(_operands(spec).count(name) > 1 for name in inner)


EXERCISE = Exercise(
    id="2.6",
    name="scalar_backward",
    title="An engine's backward pass",
    difficulty=4,
    minutes=20,
    goal=(
        "Write `scalar_backward(output)`, the backward pass of the engine above. For every `Value` that `output` was "
        "made of, near or far, and for `output` itself, add the derivative of `output` with respect to it to its "
        "`.grad`. A value without operands may hold the gradient of earlier calls; all others, and `output`, begin "
        "with 0.0. All else of a value stays as it is: `.data`, `.parents`, and no attribute is left on it. No way through "
        "the graph is longer than a hundred steps. What the function returns does not matter."
    ),
    cases=_cases,
    arrange=_arrange,
    rules=(
        "Each value passes its gradient on once, when all who use it have delivered: twelve doublings are twelve steps, "
        "though four thousand paths lead through them.",
    ),
    hints=(
        "Which derivative do you know before any work? Where does the backward pass begin, and with which number?",
        "A value used twice gets two deliveries. When may it pass on what it holds: after the first of them, or when "
        "no other can come?",
        "Make a list in which every value stands after all of its operands: append a value once its operands are in "
        "the list, and never twice. Read that list from its end.",
        "Give output the gradient 1.0. Then, from the end of the list, each value hands each of its operands the "
        "slope times what it holds itself, on top of what is there.",
    ),
    properties=(
        ("a value that was itself made of others is used twice", _passes_on_what_is_used_twice),
        ("a value is used twice", lambda spec: len(set(_operands(spec))) < len(_operands(spec))),
        ("no value is used twice", lambda spec: len(set(_operands(spec))) == len(_operands(spec))),
        ("a value holds the gradient of earlier calls", lambda spec: "earlier" in spec),
        ("no value holds the gradient of earlier calls", lambda spec: "earlier" not in spec),
        ("two values hold the same number", lambda spec: "equal" in spec),
        ("output was made in one step", lambda spec: len(spec["steps"]) == 1),
        ("output was made in several steps", lambda spec: len(spec["steps"]) > 1),
        ("a tanh is among the steps", lambda spec: any(step[1] == "tanh" for step in spec["steps"])),
    ),
    quantities={"the number of steps": lambda spec: len(spec["steps"])},
)
