"""Bounded plain data: what a learner's code did, as tensors, numbers, strings, lists and dicts.

Nothing live crosses from the half that runs a learner's code to the half that judges it, and
nothing unbounded: every value is copied, counted and cut here. The wire form is a JSON tree
with the tensors' numbers beside it in safetensors, so reading it can never run code.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import islice
from typing import Any

import torch

MAX_ELEMENTS = 2_000_000
"""Most tensor entries kept in one piece of evidence."""
MAX_ITEMS = 20_000
"""Most list and dict entries kept in one piece of evidence."""
MAX_TEXT = 2_000
"""Longest string kept, in characters."""
MAX_DEPTH = 6
"""Deepest nesting of lists and dicts that is followed."""
_ADDRESS = re.compile(r" at 0x[0-9a-fA-F]+")
MAX_WIRE_BYTES = 64 * 2**20
"""Longest wire form that is read back, in bytes."""


@dataclass(frozen=True, eq=False)
class TensorData:
    """A tensor as it was: its values on the CPU, detached, and the facts about it that copying loses."""

    value: torch.Tensor
    device: str = "cpu"
    requires_grad: bool = False
    has_graph: bool = False


@dataclass(frozen=True)
class Opaque:
    """Something that is not plain data, or too much of it: only its type and a short description."""

    type: str
    text: str
    too_large: bool = False


Plain = Any
"""None, bool, int, float, str, TensorData, Opaque, or a list or str-keyed dict of these."""


class _Budget:
    def __init__(self) -> None:
        self.elements = MAX_ELEMENTS
        self.items = MAX_ITEMS


def to_plain(value: object) -> Plain:
    """Copy `value` into plain data, cutting what exceeds the limits of this module.

    Tuples become lists, mappings become dicts with string keys, tensors are copied to the CPU.
    Anything else that is not a number, a string or None becomes `Opaque`. Never raises for the
    sake of the value: an object whose `repr` fails is described by its type.
    """
    return _convert(value, _Budget(), 0)


def _convert(value: object, budget: _Budget, depth: int) -> Plain:
    try:
        return _convert_known(value, budget, depth)
    except Exception:  # a learner's own class may do anything in __len__, __iter__, keys, ...
        return Opaque(type(value).__name__, f"<{type(value).__name__}>")


def _convert_known(value: object, budget: _Budget, depth: int) -> Plain:
    if isinstance(value, torch.Tensor):
        return _convert_tensor(value, budget)
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, int):
        return int(value) if value.bit_length() < 256 else Opaque("int", "an integer of more than 256 bits", True)
    if isinstance(value, float):
        return float(value)
    if isinstance(value, str):
        return value if len(value) <= MAX_TEXT else value[:MAX_TEXT] + f"… ({len(value):,} characters)"
    if isinstance(value, Mapping | list | tuple):
        if depth >= MAX_DEPTH:
            return Opaque(type(value).__name__, f"nested more than {MAX_DEPTH} deep", True)
        if len(value) > budget.items:
            return Opaque(type(value).__name__, f"a {type(value).__name__} of {len(value):,} items", True)
        budget.items -= len(value)
        if isinstance(value, Mapping):
            return {str(key)[:MAX_TEXT]: _convert(item, budget, depth + 1) for key, item in list(value.items())}
        return [_convert(item, budget, depth + 1) for item in value]
    return Opaque(type(value).__name__, short_repr(value))


def _convert_tensor(tensor: torch.Tensor, budget: _Budget) -> Plain:
    if tensor.numel() > budget.elements:
        return Opaque("Tensor", f"a tensor of shape {tuple(tensor.shape)}, {tensor.numel():,} entries", True)
    budget.elements -= tensor.numel()
    try:
        plain = tensor.detach()
        if plain.layout is not torch.strided:
            plain = plain.to_dense()
        # The clone is of a plain Tensor: a subclass (Parameter, a learner's own) stays behind.
        value = plain.as_subclass(torch.Tensor).to("cpu", copy=True).resolve_conj().contiguous()
    except (RuntimeError, NotImplementedError, TypeError) as error:
        return Opaque(type(tensor).__name__, f"a tensor that could not be copied: {str(error)[:200]}")
    return TensorData(value, tensor.device.type, tensor.requires_grad, tensor.grad_fn is not None)


def short_repr(value: object, limit: int = 120) -> str:
    """`repr(value)` without memory addresses, cut to `limit` characters; never raises."""
    try:
        text = without_addresses(repr(value))
    except Exception:  # a learner's __repr__ may do anything
        return f"<{type(value).__name__}>"
    return short_text(text, limit)


def short_text(text: str, limit: int) -> str:
    """`text`, cut to `limit` characters."""
    return text if len(text) <= limit else text[: limit - 1] + "…"


def in_words(value: Plain, limit: int = 160) -> str:
    """A piece of plain data in one line of about `limit` characters: kind, shape, dtype and the first numbers."""
    if isinstance(value, TensorData):
        tensor = value.value
        numbers = ", ".join(f"{item:.6g}" if isinstance(item, float) else str(item) for item in _first(tensor, 6))
        more = ", …" if tensor.numel() > 6 else ""
        graph = ", with a graph" if value.has_graph else ""
        dtype = str(tensor.dtype).removeprefix("torch.")
        return f"a tensor of shape {tuple(tensor.shape)}, {dtype}{graph}: {numbers}{more}"
    if isinstance(value, Opaque):
        return short_text(f"{value.type}: {value.text}", limit)
    if isinstance(value, list | dict):
        named = value.items() if isinstance(value, dict) else zip([""] * len(value), value, strict=True)
        entries = [f"{name}: {in_words(item)}" if name else in_words(item) for name, item in islice(named, 4)]
        kind = f"{len(value)} {'names' if isinstance(value, dict) else 'entries'}: "
        return short_text(kind + "; ".join(entries) + ("; …" if len(value) > 4 else ""), 2 * limit)
    return short_repr(value, limit)


def _first(tensor: torch.Tensor, count: int) -> list[Any]:
    return list(tensor.flatten()[:count].tolist())


def without_addresses(text: str) -> str:
    """`text` without the `at 0x...` of objects, which differ from run to run."""
    return _ADDRESS.sub("", text)


def to_bytes(value: Plain) -> bytes:
    """Write plain data for another process: 8 bytes of length, a JSON tree, then safetensors."""
    from safetensors.torch import save

    numbers: dict[str, list[torch.Tensor]] = {}
    tree = json.dumps(_pack(value, numbers), allow_nan=False).encode()
    # Joined to one tensor a dtype: safetensors takes longer for each that it holds than for what is in it.
    joined = {dtype: torch.cat(parts) for dtype, parts in numbers.items()}
    return len(tree).to_bytes(8, "little") + tree + save(joined)


def from_bytes(data: bytes) -> Plain:
    """Read what `to_bytes` wrote. Raises `ValueError` on anything else; runs no code from `data`."""
    from safetensors.torch import load

    if len(data) > MAX_WIRE_BYTES:
        raise ValueError(f"evidence of {len(data):,} bytes is over the limit of {MAX_WIRE_BYTES:,}")
    try:
        size = int.from_bytes(data[:8], "little")
        tree = json.loads(data[8 : 8 + size])
        return _unpack(tree, load(data[8 + size :]))
    except Exception as error:  # safetensors and json raise several kinds; the data is untrusted
        raise ValueError(f"not a piece of evidence: {error}") from error


def _pack(value: Plain, numbers: dict[str, list[torch.Tensor]]) -> Any:
    """The tree of `value`; the numbers of its tensors are added to `numbers`, by dtype, in the order of the tree."""
    if isinstance(value, TensorData):
        tensor, dtype = value.value, str(value.value.dtype)
        numbers.setdefault(dtype, []).append(tensor.reshape(-1))
        facts = [dtype, list(tensor.shape), value.device, value.requires_grad, value.has_graph]
        return {"$": "tensor", "at": facts}
    if isinstance(value, Opaque):
        return {"$": "opaque", "at": [value.type, value.text, value.too_large]}
    if isinstance(value, float) and not math.isfinite(value):
        return {"$": "float", "at": repr(value)}
    if isinstance(value, dict):
        return {"$": "dict", "at": [[key, _pack(item, numbers)] for key, item in value.items()]}
    if isinstance(value, list | tuple):
        return [_pack(item, numbers) for item in value]
    return value


def _unpack(tree: Any, numbers: dict[str, torch.Tensor]) -> Plain:
    """What `_pack` packed. What a tensor takes from `numbers` is gone from there: no two share any."""
    if isinstance(tree, list):
        return [_unpack(item, numbers) for item in tree]
    if not isinstance(tree, dict):
        return tree
    at = tree["at"]
    match tree["$"]:
        case "tensor":
            dtype, shape, device, requires_grad, has_graph = at
            if any(size < 0 for size in shape):
                raise ValueError(f"a tensor of shape {shape}")
            count = math.prod(shape)
            value, numbers[dtype] = numbers[dtype][:count].reshape(shape), numbers[dtype][count:]
            return TensorData(value, str(device), bool(requires_grad), bool(has_graph))
        case "opaque":
            return Opaque(str(at[0]), str(at[1]), bool(at[2]))
        case "float":
            return float(at)
        case "dict":
            return {str(key): _unpack(item, numbers) for key, item in at}
    raise ValueError(f"unknown kind {tree['$']!r}")
