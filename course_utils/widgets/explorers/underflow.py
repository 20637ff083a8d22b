"""What a loss scale does to gradients in 16 bits: every entry is multiplied and cast by PyTorch, and then counted."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import torch

FORMATS = {"float16": torch.float16, "bfloat16": torch.bfloat16}
POWERS = range(49)
"""The scales that are offered, as powers of two."""
KINDS = ("zero", "subnormal", "normal", "infinite")


@dataclass(frozen=True)
class Ends:
    """Where a format ends, as powers of two.

    At most `2 ** zero` becomes zero, below `2 ** normal` a number is subnormal, and from `2 ** infinite` on it is
    infinite (to the nearest whole power: the largest number lies just below).
    """

    zero: int
    normal: int
    infinite: int


@dataclass(frozen=True)
class Scaled:
    """Gradients after a scale of `2 ** power` and a cast to the format of that name.

    `counts` says how many nonzero entries became each of `KINDS`. `sizes` counts those before the cast, by kind and by
    the power of two at or below them: `{kind: {exponent: count}}`.
    """

    name: str
    power: int
    counts: dict[str, int]
    sizes: dict[str, dict[int, int]]

    @property
    def total(self) -> int:
        """How many entries were not zero to begin with."""
        return sum(self.counts.values())

    def share(self, kind: str) -> float:
        return self.counts[kind] / self.total


def ends(name: str) -> Ends:
    """Where the format of that name ends, as `torch.finfo` has it."""
    info = torch.finfo(FORMATS[name])
    smallest = math.log2(info.tiny) + math.log2(info.eps)
    return Ends(round(smallest) - 1, round(math.log2(info.tiny)), round(math.log2(info.max)))


def scaled(gradients: Sequence[torch.Tensor], power: int, name: str = "float16") -> Scaled:
    """Multiply every nonzero entry by `2 ** power`, cast it, and count what became of it.

    Raises `ValueError` where no entry is finite and nonzero, for an unknown format and a power that is not offered.
    """
    if name not in FORMATS:
        raise ValueError(f"there is no format {name!r}; choose from {', '.join(FORMATS)}")
    if power not in POWERS:
        raise ValueError(f"the scale is 2 to the power of {POWERS[0]} to {POWERS[-1]}, not {power}")
    before = _entries(gradients) * 2.0**power
    after = before.to(torch.float32).to(FORMATS[name]).abs()
    tiny = torch.finfo(FORMATS[name]).tiny
    masks = {
        "zero": after == 0,
        "subnormal": (after > 0) & (after < tiny),
        "normal": (after >= tiny) & ~after.isinf(),
        "infinite": after.isinf(),
    }
    exponents = before.abs().log2().floor().long()
    sizes = {kind: _histogram(exponents[mask]) for kind, mask in masks.items()}
    return Scaled(name, power, {kind: int(mask.sum()) for kind, mask in masks.items()}, sizes)


def _entries(gradients: Sequence[torch.Tensor]) -> torch.Tensor:
    """All entries that are not zero, in float64 on the CPU."""
    found = torch.cat([part.detach().to("cpu", torch.float64).flatten() for part in gradients]) if gradients else None
    if found is None or not (found != 0).any():
        raise ValueError("there is no gradient that is not zero")
    if not found.isfinite().all():
        raise ValueError("a gradient is infinite or NaN before any scale")
    return found[found != 0]


def _histogram(exponents: torch.Tensor) -> dict[int, int]:
    found, counts = exponents.unique(return_counts=True)
    return dict(zip(found.tolist(), counts.tolist(), strict=True))
