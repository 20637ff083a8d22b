"""What is watched while a learner's code runs: tensors, models, lists and dicts, before and after the call."""

from __future__ import annotations

from typing import Any

import torch
from torch import nn

from course_utils.exercise import Change
from course_utils.plain import short_repr

_State = dict[tuple[str, str], Any]
_DEEPEST = 4
"""How deep lists and dicts are followed: a learner may have put a list into itself."""


class _Length(int):
    """How many entries a list has."""

    def __repr__(self) -> str:
        return "1 entry" if self == 1 else f"{int(self)} entries"


_PLAIN = (str, int, float, bool, type(None))


def watched_state(watch: dict[str, object]) -> _State:
    """{(shown name, aspect): value} of everything watched; tensors are cloned so that they cannot change.

    What a learner's code has put into a list or a dict may be anything: of that, the type alone is kept. Raises
    `TypeError` where a task asks to watch such a thing by itself.
    """
    state: _State = {}
    for name, item in watch.items():
        _take(state, name, item, 0)
    return state


def _take(state: _State, name: str, item: object, depth: int) -> None:
    if type(item) in _PLAIN:
        state[name, "input"] = item
    elif isinstance(item, nn.Module):
        for key, parameter in item.named_parameters():
            _tensor_state(state, f"{name}.{key}", parameter, "parameters")
        for key, buffer in item.named_buffers():
            state[f"{name}.{key}", "buffers"] = buffer.detach().clone()
        for key, module in item.named_modules():
            state[f"{name}.{key}".rstrip("."), "mode"] = "train" if module.training else "eval"
    elif isinstance(item, torch.Tensor):
        _tensor_state(state, name, item, "input")
    elif isinstance(item, list | tuple) and depth < _DEEPEST:
        for index, element in enumerate(item):
            _take(state, f"{name}[{index}]", element, depth + 1)
        state[name, "input"] = _Length(len(item))
    elif type(item) is dict and depth < _DEEPEST:
        for key, element in item.items():
            if type(key) is str:
                _take(state, f"{name}[{key!r}]", element, depth + 1)
        keys = [key for key in item if type(key) is str]
        state[name, "input"] = [*keys, *(f"<{type(key).__name__}>" for key in item if type(key) is not str)]
    elif depth:
        state[name, "input"] = f"<{type(item).__name__}>"
    else:
        raise TypeError(f"cannot watch {name}, a {type(item).__name__}")


def _tensor_state(state: _State, name: str, tensor: torch.Tensor, aspect: str) -> None:
    state[name, aspect] = tensor.detach().clone()
    state[name, "requires-grad"] = tensor.requires_grad
    if tensor.is_leaf:
        state[name, "grad"] = None if tensor.grad is None else tensor.grad.detach().clone()


def compare(before: _State, after: _State, free: frozenset[str]) -> list[Change]:
    changes = []
    lists = [key for key, value in before.items() if type(value) is _Length]
    other_lists = tuple(f"{key[0]}[" for key in lists if before[key] != after.get(key))
    for key in before:
        what, aspect = key
        if other_lists and what.startswith(other_lists):
            continue  # its entries have moved; that it is longer or shorter says so
        then, now = before[key], after.get(key)
        if then is not now and aspect not in free and not _same(then, now):
            changes.append(Change(what, aspect, *_described(then, now)))
    return changes


def _described(before: object, after: object) -> tuple[str, str]:
    """Both values in short; where they look the same in short, by how much they differ."""
    first, second = _brief(before), _brief(after)
    if isinstance(before, torch.Tensor) and isinstance(after, torch.Tensor) and before.dtype != after.dtype:
        return f"{first}, {_dtype(before)}", f"{second}, {_dtype(after)}"
    if first == second and isinstance(before, torch.Tensor) and isinstance(after, torch.Tensor):
        if before.shape == after.shape:
            # In float64 on the CPU: booleans have no difference, and two devices share none.
            off = before.to("cpu", torch.float64) - after.to("cpu", torch.float64)
            second += f", off by up to {off.abs().max().item():.1e}"
    return first, second


def _dtype(tensor: torch.Tensor) -> str:
    return str(tensor.dtype).removeprefix("torch.")


def _same(a: object, b: object) -> bool:
    if isinstance(a, torch.Tensor) and isinstance(b, torch.Tensor):
        if a.shape != b.shape or a.dtype != b.dtype or a.device != b.device:
            return False
        return torch.equal(a, b) or bool(torch.all(torch.eq(a, b) | (a.isnan() & b.isnan())))
    return type(a) is type(b) and a == b


def _brief(value: object) -> str:
    if isinstance(value, torch.Tensor):
        if value.numel() <= 4:
            return short_repr([round(v, 4) for v in value.flatten().tolist()] if value.ndim else round(value.item(), 4))
        return f"shape {tuple(value.shape)}, norm {value.double().norm().item():.4g}"
    return short_repr(value)
