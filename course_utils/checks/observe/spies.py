"""What looks over the shoulder of the code while it runs: for rules about how, and for explanations."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

_ENGINE = "_engine_run_backward"
BACKWARDS = "backward passes into .grad"
GRADS = "gradients handed back by autograd"


class CountCalls:
    """Wrap a function handed to the learner and count how often it is called."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self._function = function
        self.calls = 0

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        self.calls += 1
        return self._function(*args, **kwargs)


class EnginePasses:
    """Count what runs through autograd's engine in its block, however the call is written."""

    def __init__(self) -> None:
        self._counts = {BACKWARDS: 0, GRADS: 0}
        self._undo: list[tuple[Any, Callable[..., Any]]] = []

    def __enter__(self) -> EnginePasses:
        for module in (torch.autograd, torch.autograd.graph):
            original = getattr(module, _ENGINE, None)  # a private name: where a torch has none, nothing is counted
            if original is not None:
                self._undo.append((module, original))
                setattr(module, _ENGINE, self._counting(original))
        return self

    def __exit__(self, *_: object) -> None:
        for module, original in self._undo:
            setattr(module, _ENGINE, original)

    def counts(self) -> dict[str, int]:
        """How often `.grad` was written to by a backward, and how often gradients were handed back instead."""
        return dict(self._counts)

    def _counting(self, original: Callable[..., Any]) -> Callable[..., Any]:
        def run(*args: Any, **kwargs: Any) -> Any:
            self._counts[BACKWARDS if kwargs.get("accumulate_grad") else GRADS] += 1
            return original(*args, **kwargs)

        return run


class AutogradSpy(torch.overrides.TorchFunctionMode):
    """Notes each use of autograd (`backward`, `autograd.grad`, `torch.func`, forward mode, nodes) in its block.

    It sees the thread it is entered in, and what goes through torch's Python interface.
    """

    def __init__(self) -> None:
        super().__init__()
        self.used: list[str] = []
        self._watched: dict[Callable[..., Any], str] = {
            torch.Tensor.backward: "backward",
            torch.autograd.backward: "torch.autograd.backward",
            torch.autograd.grad: "torch.autograd.grad",
            torch._VF._make_dual: "forward-mode autograd",
        }
        self._node = torch.Tensor.grad_fn.__get__  # type: ignore[union-attr]

    def __torch_function__(self, func, types, args=(), kwargs=None):  # type: ignore[no-untyped-def]
        if func in self._watched:
            self.used.append(self._watched[func])
        result = func(*args, **(kwargs or {}))
        if func == self._node and result is not None:
            self.used.append("grad_fn")  # whoever holds the graph's nodes can call them one by one
        return result
