"""A step's gradient against the one it should have used: ratio, cosine, and the weights that would be right."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import torch
from torch import Tensor

from gradient_ledger.account import FRESH, Account, grad_of
from gradient_ledger.compiled import plain_name
from gradient_ledger.events import Comparison

TOLERANCE = {torch.float64: 1e-9, torch.float32: 2e-4, torch.bfloat16: 3e-2, torch.float16: 5e-3}
"""Relative error up to which two gradients of that dtype are one: sums in another order, and autocast, stay below."""


def compare_with_reference(
    reference: Callable[[], Mapping[str, Tensor]], accounts: list[Account]
) -> tuple[Comparison | None, list[str]]:
    """Ratio and cosine of the gradient in use to the reference's; the weights each pass had and should have had.

    None, and a few of the reference's names, when it names none of these parameters. Raises `TypeError` or
    `ValueError` that say what is wrong with what the callable returned.
    """
    with _same_random_numbers():
        expected = reference()
    if not isinstance(expected, Mapping) or not all(isinstance(v, Tensor) for v in expected.values()):
        raise TypeError("reference() must return a dict of parameter names to gradient tensors")
    wanted = {plain_name(key).removeprefix("module."): value for key, value in expected.items()}
    used, right, passes = [], [], []
    dtype = torch.float64
    for account in accounts:
        key, parameter = _key(account, wanted), account.ref()
        if key is None or parameter is None:
            continue
        grad = grad_of(parameter)
        target = wanted[key].detach().double().cpu().reshape(-1)
        mine = torch.zeros_like(target) if grad is None else grad.detach().to_dense().double().cpu().reshape(-1)
        if mine.shape != target.shape:
            shapes = f"the shape {tuple(wanted[key].shape)}, the parameter has {tuple(parameter.shape)}"
            raise ValueError(f"reference() gives {key} {shapes}")
        if grad is not None and TOLERANCE.get(grad.dtype, 1e-6) > TOLERANCE[dtype]:
            dtype = grad.dtype
        used.append(mine)
        right.append(target)
        passes.append([g.double().cpu().reshape(-1) for g in account.increments] if account.status == FRESH else [])
    if not used:
        return None, sorted(wanted)[:4]  # the reference speaks of another optimizer's parameters
    u, r = torch.cat(used), torch.cat(right)
    norm_u, norm_r = float(u.norm()), float(r.norm())
    error = float((u - r).norm()) / norm_r if norm_r > 0 else (0.0 if norm_u == 0 else float("inf"))
    agree = error <= TOLERANCE[dtype]
    found = Comparison(
        right=agree,
        norm=norm_u,
        reference_norm=norm_r,
        ratio=norm_u / norm_r if norm_r > 0 else float("inf"),
        cosine=float(u @ r) / (norm_u * norm_r) if norm_u > 0 and norm_r > 0 else 0.0,
        relative_error=error,
        **(_weights(passes, r) if not agree and norm_r > 0 else {}),
    )
    return found, []


def _key(account: Account, wanted: Mapping[str, Tensor]) -> str | None:
    """The reference's name for a parameter: its own, or that name inside a wrapper or inside a larger model."""
    name = account.name.removeprefix("module.")
    if account.root is not None and name not in wanted:
        name = name.removeprefix(f"{account.root.label}.").removeprefix("module.")
    larger = [key for key in wanted if key.endswith(f".{name}")]
    while name not in wanted:
        if "." not in name:
            return larger[0] if len(larger) == 1 else None
        name = name.split(".", 1)[1]
    return name


def _weights(passes: list[list[Tensor]], reference: Tensor) -> dict[str, Any]:
    """The weights with which the passes' own gradients make up the reference, and what is left over.

    A gradient accumulated in place holds running totals; the differences are the passes' own.
    """
    count = max((len(each) for each in passes), default=0)
    if not 1 < count <= 64 or any(len(each) not in (0, count) for each in passes):
        return {}
    columns = []
    for number in range(count):
        parts = []
        for each in passes:
            if not each:
                return {}
            parts.append(each[number] - each[number - 1] if number else each[0])
        columns.append(torch.cat(parts))
    matrix = torch.stack(columns, dim=1)
    solution = torch.linalg.lstsq(matrix, reference.unsqueeze(1)).solution.squeeze(1)
    rest = float((matrix @ solution - reference).norm() / reference.norm())
    return {"weights": tuple(float(w) for w in solution), "left_over": rest}


@contextmanager
def _same_random_numbers() -> Iterator[None]:
    """What runs inside draws from the generators without moving them on."""
    import random

    python = random.getstate()
    devices = list(range(torch.cuda.device_count())) if torch.cuda.is_initialized() else []
    with torch.random.fork_rng(devices=devices):
        try:
            yield
        finally:
            random.setstate(python)
