"""Global state of torch, NumPy and Python that an attempt may leave changed: put back, and written down."""

from __future__ import annotations

import os
import random
from dataclasses import dataclass
from typing import Any

import numpy
import torch

from course_utils.exercise import Change


class Switches:
    """Global state of torch and Python that an attempt may leave changed; puts it back and says what changed.

    Code that draws random numbers draws the same ones in every run of the case: they are seeded here.
    """

    def __init__(self, seed: int) -> None:
        self._before = _random_states()
        # Not torch.manual_seed, which also writes down where it was called: that takes longer than most attempts.
        torch.default_generator.manual_seed(seed)
        if torch.cuda.is_available():
            torch.cuda.manual_seed_all(seed)
        random.seed(seed)
        numpy.random.seed(seed % 2**32)
        self._seeded = _random_states()
        self._grad = torch.is_grad_enabled()
        self._dtype = torch.get_default_dtype()
        self._anomaly = torch.is_anomaly_enabled()
        self._directory = os.getcwd()

    def put_back(self) -> list[Change]:
        changes = []
        if torch.is_grad_enabled() != self._grad:
            changes.append(Change("torch.is_grad_enabled()", "global", str(self._grad), str(not self._grad)))
            torch.set_grad_enabled(self._grad)
        if torch.get_default_dtype() != self._dtype:
            now = torch.get_default_dtype()
            changes.append(Change("torch.get_default_dtype()", "global", str(self._dtype), str(now)))
            torch.set_default_dtype(self._dtype)
        if torch.is_anomaly_enabled() != self._anomaly:
            changes.append(Change("anomaly detection", "global", str(self._anomaly), str(not self._anomaly)))
            torch.autograd.set_detect_anomaly(self._anomaly)
        if _random_states().moved_from(self._seeded):
            changes.append(Change("the random number generator", "rng", "as before the call", "moved or re-seeded"))
        self._before.restore()
        if os.getcwd() != self._directory:
            os.chdir(self._directory)
        return changes


@dataclass(frozen=True)
class _RandomStates:
    """The states of the global generators of torch, Python and NumPy."""

    of_torch: torch.Tensor
    of_cuda: list[torch.Tensor]
    of_python: tuple[Any, ...]
    of_numpy: dict[str, Any]

    def moved_from(self, other: _RandomStates) -> bool:
        mine, theirs = self.of_numpy["state"], other.of_numpy["state"]
        same_numpy = mine["pos"] == theirs["pos"] and numpy.array_equal(mine["key"], theirs["key"])
        same_torch = torch.equal(self.of_torch, other.of_torch)
        return not (same_numpy and same_torch and self.of_python == other.of_python)

    def restore(self) -> None:
        torch.set_rng_state(self.of_torch)
        random.setstate(self.of_python)
        numpy.random.set_state(self.of_numpy)
        for index, state in enumerate(self.of_cuda):
            torch.cuda.set_rng_state(state, index)


def _random_states() -> _RandomStates:
    cuda = torch.cuda.get_rng_state_all() if torch.cuda.is_available() else []
    return _RandomStates(torch.get_rng_state(), cuda, random.getstate(), numpy.random.get_state(legacy=False))
