"""Global state of torch, NumPy and Python that an attempt may leave changed: written down, and put back."""

from __future__ import annotations

import os
import random
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy
import torch

from course_utils.exercise import Change

_seed_python, _seed_numpy = random.seed, numpy.random.seed
"""As they were at import: whatever stands there now, the same seed leaves the same states."""


@contextmanager
def random_states_kept() -> Iterator[None]:
    """After the block the global generators stand where they stood before. Once for many cases: it takes its time."""
    before = _random_states()
    try:
        yield
    finally:
        before.restore()


class Switches:
    """Global state of torch and Python that an attempt may leave changed; says what changed, and puts it back.

    Code that draws random numbers draws the same ones in every run of the case: they are seeded here. Their states
    are put back by `random_states_kept`.
    """

    def __init__(self, seed: int) -> None:
        # Not torch.manual_seed, which also writes down where it was called: that takes longer than most attempts.
        torch.default_generator.manual_seed(seed)
        if torch.cuda.is_available():
            torch.cuda.manual_seed_all(seed)
        _seed_python(seed)
        _seed_numpy(seed % 2**32)
        self._seeded = _states_after_seeding(seed)
        self._grad = torch.is_grad_enabled()
        self._dtype = torch.get_default_dtype()
        self._anomaly = torch.is_anomaly_enabled()
        self._directory = os.getcwd()

    def changes(self) -> list[Change]:
        """What is not as it was when the random numbers were seeded."""
        found = []
        if torch.is_grad_enabled() != self._grad:
            found.append(Change("torch.is_grad_enabled()", "global", str(self._grad), str(not self._grad)))
        if torch.get_default_dtype() != self._dtype:
            now = torch.get_default_dtype()
            found.append(Change("torch.get_default_dtype()", "global", str(self._dtype), str(now)))
        if torch.is_anomaly_enabled() != self._anomaly:
            found.append(Change("anomaly detection", "global", str(self._anomaly), str(not self._anomaly)))
        if _random_states().moved_from(self._seeded):
            found.append(Change("the random number generator", "rng", "as before the call", "moved or re-seeded"))
        return found

    def put_back(self) -> None:
        if torch.is_grad_enabled() != self._grad:
            torch.set_grad_enabled(self._grad)
        if torch.get_default_dtype() != self._dtype:
            torch.set_default_dtype(self._dtype)
        if torch.is_anomaly_enabled() != self._anomaly:
            torch.autograd.set_detect_anomaly(self._anomaly)
        if os.getcwd() != self._directory:
            os.chdir(self._directory)


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


_SEEDED: dict[int, _RandomStates] = {}
_MOST_SEEDED = 64


def _states_after_seeding(seed: int) -> _RandomStates:
    """The states now, right after seeding with `seed`: read once, since reading takes its time."""
    if seed not in _SEEDED:
        if len(_SEEDED) >= _MOST_SEEDED:
            _SEEDED.clear()
        _SEEDED[seed] = _random_states()
    return _SEEDED[seed]


def _random_states() -> _RandomStates:
    cuda = torch.cuda.get_rng_state_all() if torch.cuda.is_available() else []
    return _RandomStates(torch.get_rng_state(), cuda, random.getstate(), numpy.random.get_state(legacy=False))
