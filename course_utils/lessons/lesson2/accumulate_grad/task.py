"""Exercise 2.2: what backward does to `.grad` when a gradient arrives."""

from __future__ import annotations

from typing import Any

import torch
from torch import nn

from course_utils.exercise import Arrangement, Case, Exercise
from course_utils.lessons.inputs import Draw, cases
from course_utils.lessons.memory import share_memory

GRAD = ".grad after"
MEMORY = "where .grad lies after"
ITS_OWN, OF_INCOMING, NOWHERE = "in memory of its own", "in the memory of incoming", "nowhere"
RAISED = "raised by"
NOTHING = "nothing"
SAME_TENSOR = ".grad still the tensor that it was"
SAME_MEMORY = ".grad still in the memory where it was"
MOVED = "param has other values than before"


def _inputs(case: Case) -> tuple[torch.Tensor, list[torch.Tensor]]:
    """The parameter of a case, with the `.grad` it starts from, and what comes in, in order."""
    draw, spec = Draw(case), case.spec
    shape = spec["shape"]
    param = nn.Parameter(draw.normal(*shape))
    if spec.get("earlier"):
        param.grad = draw.normal(*shape)
    if spec.get("earlier") == "zeros":
        param.grad.zero_()  # type: ignore[union-attr]
    if spec.get("earlier") == "cancelling":
        first = param.grad[0].clone()  # type: ignore[index]
        param.grad = torch.stack([first, -first, torch.zeros_like(first), torch.zeros_like(first)])
    calls = spec.get("calls", 1)
    if spec.get("reused"):
        return param, [draw.normal(*shape)] * calls
    incoming = [draw.normal(*spec.get("incoming", shape)) for _ in range(calls)]
    if spec.get("transposed"):
        incoming = [values.t().contiguous().t() for values in incoming]
    if spec.get("expanded"):
        incoming[0] = incoming[0][:1].clone().expand(*shape)
    if spec.get("zeros"):
        incoming[0].zero_()
    return param, incoming


class _Caller:
    """Hands the gradients of a case to the attempt, one after the other, and writes down what becomes of `.grad`."""

    def __init__(self, case: Case, param: torch.Tensor, incoming: list[torch.Tensor]) -> None:
        self._param, self._incoming = param, incoming
        self._before = param.detach().clone()
        self._wrong_shape = bool(case.spec.get("refused"))
        several = len(incoming) > 1
        self._names = [f"call {number}" if several else "the call" for number in range(1, len(incoming) + 1)]
        self._facts: dict[str, Any] = {SAME_TENSOR: [], SAME_MEMORY: []}

    def __call__(self, attempt: Any) -> object:
        result: object = None
        for index, (name, incoming) in enumerate(zip(self._names, self._incoming, strict=True)):
            held = self._param.grad
            address = None if held is None else held.data_ptr()
            raised = NOTHING
            try:
                result = attempt(self._param, incoming)
            except Exception as error:
                # A wrong shape is to be refused: by what, is judged. A right one is refused by a check alone.
                if not self._wrong_shape and not isinstance(error, ValueError | AssertionError):
                    raise
                raised = "ValueError" if isinstance(error, ValueError) else type(error).__name__
            if result is ...:
                return ...
            self._note(name, index, raised, held, address)
        return result

    def _note(self, name: str, index: int, raised: str, held: torch.Tensor | None, address: int | None) -> None:
        grad = self._param.grad
        shared = any(share_memory(grad, incoming) for incoming in self._incoming[: index + 1])
        self._facts[f"{RAISED} {name}"] = raised
        self._facts[f"{GRAD} {name}"] = None if grad is None else grad.detach().clone()
        self._facts[f"{MEMORY} {name}"] = NOWHERE if grad is None else OF_INCOMING if shared else ITS_OWN
        if held is not None:
            self._facts[SAME_TENSOR].append(grad is held)
            self._facts[SAME_MEMORY].append(grad is not None and grad.data_ptr() == address)

    def facts(self) -> dict[str, object]:
        return {**self._facts, MOVED: not torch.equal(self._param.detach(), self._before)}


def _cases(seed: int) -> list[Case]:
    held: dict[str, Any] = {"earlier": "held"}
    refused = {"refused": True}
    return cases(
        seed,
        [
            (".grad is None", {"shape": [4]}),
            (".grad holds a gradient", {"shape": [4], **held}),
            (
                "one tensor incoming, handed in three times, .grad None at first",
                {"shape": [2, 3], "calls": 3, "reused": True},
            ),
            ("a 0-d parameter, two gradients", {"shape": [], "calls": 2}),
            ("transposed, non-contiguous gradients, two of them", {"shape": [3, 2], "transposed": True, "calls": 2}),
            ("float32, two gradients on top of one", {"shape": [5], "calls": 2, "dtype": "float32", **held}),
            (".grad holds zeros, two gradients", {"shape": [4], "calls": 2, "earlier": "zeros"}),
            (".grad's entries sum to zero", {"shape": [4], "earlier": "cancelling"}),
            (".grad is None, the gradient is all zeros", {"shape": [3], "zeros": True}),
            (
                "first a gradient expanded from one row, then an ordinary one",
                {"shape": [2, 3], "calls": 2, "expanded": True},
            ),
            ("shape (3,) into (2, 3), .grad holds a gradient", {"shape": [2, 3], "incoming": [3], **held, **refused}),
            ("shape (3,) into (2, 3), .grad is None", {"shape": [2, 3], "incoming": [3], **refused}),
            (
                "shape (1, 3) into (2, 3), .grad holds a gradient",
                {"shape": [2, 3], "incoming": [1, 3], **held, **refused},
            ),
            (
                "shape (2, 1) into (2, 3), .grad holds a gradient",
                {"shape": [2, 3], "incoming": [2, 1], **held, **refused},
            ),
            (
                "shape (3, 2) into (2, 3), .grad holds a gradient",
                {"shape": [2, 3], "incoming": [3, 2], **held, **refused},
            ),
            ("shape (6,) into (2, 3), .grad is None", {"shape": [2, 3], "incoming": [6], **refused}),
            ("shape () into (1,), .grad holds a gradient", {"shape": [1], "incoming": [], **held, **refused}),
            ("shape (2, 3) into (3,), .grad is None", {"shape": [3], "incoming": [2, 3], **refused}),
        ],
    )


def _arrange(case: Case) -> Arrangement:
    param, incoming = _inputs(case)
    caller = _Caller(case, param, incoming)
    if len(incoming) == 1 or case.spec.get("reused"):
        watch: dict[str, object] = {"param": param, "incoming": incoming[0]}
    else:
        watch = {"param": param, **{f"incoming of call {number}": one for number, one in enumerate(incoming, 1)}}
    return Arrangement((), watch=watch, call=caller, facts=lambda _: caller.facts())


EXERCISE = Exercise(
    id="2.2",
    name="accumulate_grad",
    title="Write backward's last line",
    difficulty=2,
    minutes=12,
    goal=(
        "Write `accumulate_grad(param, incoming)`, what backward does when a gradient arrives at a parameter. When "
        "`param.grad` is None, it becomes a tensor with the values of `incoming`, and the caller may go on changing "
        "`incoming` without changing `.grad`. Otherwise `incoming` is added to what `.grad` holds. Another shape "
        "than the parameter's raises `ValueError` and changes nothing, one that would broadcast included. Dtype and "
        "device are not yours to check. `incoming` stays as it was, and the function returns None."
    ),
    cases=_cases,
    arrange=_arrange,
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
    properties=(
        ("the shape is a wrong one", lambda spec: bool(spec.get("refused"))),
        ("the shape is the right one", lambda spec: not spec.get("refused")),
        (".grad is None before a single call", lambda spec: "earlier" not in spec and spec.get("calls", 1) == 1),
        (".grad holds zeros", lambda spec: spec.get("earlier") == "zeros"),
        ("the entries of .grad sum to zero", lambda spec: spec.get("earlier") in ("zeros", "cancelling")),
        ("incoming is all zeros", lambda spec: bool(spec.get("zeros"))),
        ("incoming is expanded from one row", lambda spec: bool(spec.get("expanded"))),
        ("incoming is transposed", lambda spec: bool(spec.get("transposed"))),
        ("param is a 0-d tensor", lambda spec: spec["shape"] == []),
        ("the inputs are float32", lambda spec: spec.get("dtype") == "float32"),
        ("there is one call", lambda spec: spec.get("calls", 1) == 1),
        ("there are several calls", lambda spec: spec.get("calls", 1) > 1),
        (".grad is None before the first call", lambda spec: "earlier" not in spec),
        (".grad holds a gradient before the first call", lambda spec: "earlier" in spec),
        ("param has more than one dimension", lambda spec: len(spec["shape"]) > 1),
    ),
    quantities={
        "the number of calls": lambda spec: spec.get("calls", 1),
        "the number of entries of param": lambda spec: torch.Size(spec["shape"]).numel(),
    },
)
