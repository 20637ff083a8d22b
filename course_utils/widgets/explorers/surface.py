"""Gradient descent on a loss surface that can be drawn: a line fitted to fixed data, two parameters.

Every gradient is computed by autograd when it is asked for, and the learning rate at which
descent stops converging comes from the Hessian, also computed by autograd: 2 / its largest
eigenvalue (for a quadratic loss the error along each eigenvector is multiplied by
1 - lr * eigenvalue at every step).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

import torch

Point = tuple[float, float]
"""A value of (w, b)."""
Regime = Literal["shrinks", "swings", "stalls", "grows"]
"""What the error along the steepest direction does at a learning rate: see `regime`."""


@dataclass(frozen=True, eq=False)
class LineFit:
    """The problem: fit `w * x + b` to `y` by mean squared error. `x` and `y` have shape (n,), float64."""

    x: torch.Tensor
    y: torch.Tensor


@dataclass(frozen=True)
class DescentStep:
    """One step of gradient descent from `point`, all of it measured.

    `gradient` is (dL/dw, dL/db) at `point`, `step` is `-lr * gradient`, `after` is where the step
    leads and `loss_after` the loss there.
    """

    point: Point
    loss: float
    gradient: Point
    lr: float
    step: Point
    after: Point
    loss_after: float


@dataclass(frozen=True)
class Landscape:
    """What is fixed about a problem: its minimum, its curvature, the learning rate where descent turns.

    `eigenvalues` of the Hessian, ascending; `limit` is 2 / the largest; `minimum` the best (w, b).
    """

    minimum: Point
    lowest: float
    eigenvalues: tuple[float, float]
    limit: float


def line_fit(seed: int = 0, n: int = 24) -> LineFit:
    """`n` points around the line 1.5 x - 0.5, drawn from `seed`. Raises `ValueError` for fewer than 3."""
    if n < 3:
        raise ValueError(f"n = {n} points do not fix a line with noise: use 3 or more")
    generator = torch.Generator("cpu").manual_seed(seed)
    # On the CPU whatever the default device is: two numbers a step are no work for an accelerator.
    x = torch.randn(n, generator=generator, dtype=torch.float64, device="cpu") + 0.6
    y = 1.5 * x - 0.5 + 0.4 * torch.randn(n, generator=generator, dtype=torch.float64, device="cpu")
    return LineFit(x, y)


def loss_of(problem: LineFit, parameters: torch.Tensor) -> torch.Tensor:
    """Mean squared error, a 0-d tensor, at `parameters` = (w, b) of shape (2,); a grid (..., 2) gives (...)."""
    w, b = parameters[..., 0, None], parameters[..., 1, None]
    return (w * problem.x + b - problem.y).square().mean(dim=-1)


def descend(problem: LineFit, point: Point, lr: float) -> DescentStep:
    """The step that plain gradient descent takes from `point`; nothing is remembered between calls."""
    parameters = torch.tensor(point, dtype=torch.float64, device=problem.x.device, requires_grad=True)
    loss = loss_of(problem, parameters)
    (gradient,) = torch.autograd.grad(loss, parameters)
    step = -lr * gradient
    after = parameters.detach() + step
    return DescentStep(
        point=_pair(parameters),
        loss=float(loss.detach()),
        gradient=_pair(gradient),
        lr=lr,
        step=_pair(step),
        after=_pair(after),
        loss_after=float(loss_of(problem, after)),
    )


def path(problem: LineFit, start: Point, lr: float, steps: int) -> list[DescentStep]:
    """`steps` steps from `start`, each beginning where the one before led."""
    taken: list[DescentStep] = []
    for _ in range(steps):
        taken.append(descend(problem, taken[-1].after if taken else start, lr))
    return taken


def landscape(problem: LineFit) -> Landscape:
    """Minimum, curvature and largest learning rate of `problem`.

    One Newton step from anywhere is the exact minimum, because the loss is quadratic.
    """
    origin = torch.zeros(2, dtype=torch.float64, device=problem.x.device, requires_grad=True)
    (gradient,) = torch.autograd.grad(loss_of(problem, origin), origin)
    hessian = torch.autograd.functional.hessian(lambda p: loss_of(problem, p), origin.detach())
    if not isinstance(hessian, torch.Tensor):  # a tuple comes back only for a tuple of inputs
        raise TypeError("expected one Hessian matrix for one parameter vector")
    low, high = torch.linalg.eigvalsh(hessian).tolist()
    if low <= 1e-12 * high:
        raise ValueError("the data do not fix the line (all x are equal): no single minimum to draw")
    minimum = -torch.linalg.solve(hessian, gradient)
    return Landscape(_pair(minimum), float(loss_of(problem, minimum)), (low, high), 2.0 / high)


def regime(lr: float, limit: float) -> Regime:
    """What the error along the steepest direction does at each step, for a quadratic loss.

    It is multiplied by 1 - 2 * lr / limit: `"shrinks"` without changing sign up to half the
    limit, `"swings"` from side to side while shrinking up to the limit, `"stalls"` at it (the
    same size for ever), `"grows"` beyond.
    """
    if math.isclose(lr, limit, rel_tol=1e-9):
        return "stalls"
    if lr > limit:
        return "grows"
    return "swings" if lr > limit / 2 else "shrinks"


def learning_rates(limit: float) -> tuple[float, float]:
    """(largest rate offered, distance between rates): round numbers whose range ends beyond `limit`."""
    spacing = nice(limit / 50)
    count = math.ceil(1.3 * limit / spacing)
    return round(count * spacing, 12), spacing


def nice(value: float) -> float:
    """The largest of 1, 2 or 5 times a power of ten that is not above `value` (which is positive)."""
    if not value > 0 or math.isinf(value):
        raise ValueError(f"expected a positive finite number, got {value}")
    power = 10.0 ** math.floor(math.log10(value))
    # Half a millionth of grace: 0.2 / 0.1 is 2, whatever float64 makes of it.
    factor = max(f for f in (1, 2, 5) if f <= max(value / power * (1 + 5e-7), 1.0))
    return float(f"{factor * power:.12g}")


def _pair(values: torch.Tensor) -> Point:
    first, second = values.detach().tolist()
    return float(first), float(second)


class Descent:
    """Where the explorer stands: a problem, a start, and the steps taken from it. Nothing here draws.

    Raises `ValueError` when `start` is not two finite numbers.
    """

    def __init__(self, problem: LineFit, start: Point | None = None) -> None:
        self.problem = problem
        self.landscape = landscape(problem)
        low = self.landscape.minimum
        # Well away from the minimum, and in neither of the two directions of curvature.
        self.start: Point = (round(low[0] - 2.0, 1), round(low[1] + 1.0, 1)) if start is None else start
        if len(self.start) != 2 or not all(map(math.isfinite, self.start)):
            raise ValueError(f"start = {start} is not a point: give two finite numbers, (w, b)")
        self.taken: list[DescentStep] = []

    @property
    def point(self) -> Point:
        """The current (w, b)."""
        return self.taken[-1].after if self.taken else self.start

    def ahead(self, lr: float) -> DescentStep:
        """The step that would be taken now at `lr`; takes none."""
        return descend(self.problem, self.point, lr)

    def step(self, lr: float) -> DescentStep:
        """Take one step at `lr`."""
        self.taken.append(self.ahead(lr))
        return self.taken[-1]

    def reset(self) -> None:
        """Back to the start, with no step taken."""
        self.taken.clear()
