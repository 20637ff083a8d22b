"""What is often done instead in exercise 1.4."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torch

from course_utils.checks.mistakes import mistake
from course_utils.lessons.lesson1.gradient_descent.task import DIFFERENT
from course_utils.lessons.lesson1.inputs import Scalar
from course_utils.lessons.lesson1.numerical_gradient.answers import right as central_differences

T = torch.Tensor
Code = Callable[[Scalar, T, float, int], Any]


def _slope(f: Scalar, at: T) -> T:
    leaf = at.detach().clone().requires_grad_()
    return torch.autograd.grad(f(leaf), leaf)[0]


def _walk(f: Scalar, x0: T, lr: float, steps: int, move: Callable[[Sequence[T]], T] = lambda seen: seen[-1]) -> list[T]:
    """Points of `x <- x - lr * move(gradients so far)`."""
    points, seen = [x0.detach().clone()], []
    for _ in range(steps):
        seen.append(_slope(f, points[-1]))
        points.append(points[-1] - lr * move(seen))
    return points


def _moving(move: Callable[[Sequence[T]], T]) -> Code:
    return lambda f, x0, lr, steps: _walk(f, x0, lr, steps, move)


def _on_a_clone(code: Code) -> Code:
    """The same on x0.clone(), which is no leaf where x0 requires gradients: its .grad is None there."""

    def stumbling(f: Scalar, x0: T, lr: float, steps: int) -> Any:
        if x0.requires_grad and steps > 0:
            _ = lr * x0.clone().grad  # type: ignore[operator]
        return code(f, x0, lr, steps)

    return stumbling


def _in_one_tensor(first: bool, cleared: bool) -> Code:
    """One leaf, updated in place and appended each time; `first`: x0's copy stands in front."""

    def code(f: Scalar, x0: T, lr: float, steps: int) -> list[T]:
        x = x0.detach().clone().requires_grad_()
        points = [x0.detach().clone() if first else x]
        for _ in range(steps):
            if cleared:
                x.grad = None
            f(x).backward()
            assert x.grad is not None
            with torch.no_grad():
                x -= lr * x.grad
            points.append(x)
        return points

    return code


# ------------------------------------------------------------------ the list


@mistake(
    "Points of the list share one memory",
    "Several positions hold one tensor, or detach() and views of it, which copy nothing. Where such a tensor is "
    "changed in place, all of them show its last values.",
    "Append x.detach().clone() in each step: it has memory of its own, and no graph.",
    "A list stores references, not values, and detach() copies nothing.",
    also=(
        _in_one_tensor(first=True, cleared=True),
        *(_on_a_clone(_in_one_tensor(first, cleared=True)) for first in (False, True)),
    ),
    signs=(DIFFERENT,),
)
def same_tensor_in_list(f: Scalar, x0: T, lr: float, steps: int) -> list[T]:
    return _in_one_tensor(first=False, cleared=True)(f, x0, lr, steps)


@mistake(
    "One tensor many times in the list, and gradients of earlier steps added in",
    "Two things at once. Several positions show the same values: the list holds one tensor, or views of it, which copy "
    "nothing. And each step used the sum of all gradients so far, as where .grad is not cleared between the backward "
    "calls.",
    "Append a new tensor in each step, for example a clone; and move by the present gradient alone: clear .grad before "
    "each backward, make a fresh leaf each round, or use torch.autograd.grad.",
    "A list stores references, not values; and backward() adds into .grad.",
    also=(
        _in_one_tensor(first=True, cleared=False),
        *(_on_a_clone(_in_one_tensor(first, cleared=False)) for first in (False, True)),
    ),
    signs=(DIFFERENT,),
)
def same_tensor_and_old_gradients(f: Scalar, x0: T, lr: float, steps: int) -> list[T]:
    return _in_one_tensor(first=False, cleared=False)(f, x0, lr, steps)


def _x0_moved_without_recording(f: Scalar, x0: T, lr: float, steps: int) -> list[T]:
    points = [x0]
    for _ in range(steps):
        slope = _slope(f, x0)
        with torch.no_grad():
            x0 -= lr * slope
        points.append(x0.detach().clone())
    return points


@mistake(
    "x0 stands first, and was moved afterwards",
    "The list begins with x0 itself, or with a view of it such as x0.detach(), and x0 was then changed in place: at "
    "the end the first entry is the last point, and the caller's own tensor has moved.",
    "Walk with a copy of x0, and leave x0 as it is.",
    "The list stores a reference to x0, not the values it had.",
    also=(_x0_moved_without_recording,),
)
def moved_x0_in_the_list(f: Scalar, x0: T, lr: float, steps: int) -> list[T]:
    points = [x0]
    for _ in range(steps):
        x0 -= lr * _slope(f, x0)
        points.append(x0.detach().clone())
    return points


@mistake(
    "The starting point is missing",
    "The list begins after the first step.",
    "Put x0 first; the list has steps + 1 points.",
    also=(_on_a_clone(lambda f, x0, lr, steps: _walk(f, x0, lr, steps)[1:]),),
)
def start_left_out(f: Scalar, x0: T, lr: float, steps: int) -> list[T]:
    return _walk(f, x0, lr, steps)[1:]


def _one_step_too_few(f: Scalar, x0: T, lr: float, steps: int) -> list[T]:
    return _walk(f, x0, lr, steps - 1)


@mistake(
    "The last point is missing",
    "The list ends one point early: before the last step's result.",
    "Count the updates and the appended points: the list has steps + 1 points, the last one after the last update.",
    also=(
        _one_step_too_few,
        _on_a_clone(_one_step_too_few),
        _on_a_clone(lambda f, x0, lr, steps: _walk(f, x0, lr, steps)[:-1]),
    ),
)
def end_left_out(f: Scalar, x0: T, lr: float, steps: int) -> list[T]:
    return _walk(f, x0, lr, steps)[:-1]


@mistake(
    "One step too many",
    "The list has steps + 2 points.",
    "x0 is the first point; only `steps` updates follow.",
    also=(_on_a_clone(lambda f, x0, lr, steps: _walk(f, x0, lr, steps + 1)),),
)
def one_step_too_many(f: Scalar, x0: T, lr: float, steps: int) -> list[T]:
    return _walk(f, x0, lr, steps + 1)


def _last_in_a_list(f: Scalar, x0: T, lr: float, steps: int) -> list[T]:
    return _walk(f, x0, lr, steps)[-1:]


@mistake(
    "Only the last point was returned",
    "The last point is right, but the points before it were not returned.",
    "Collect the points in a list, the starting point first.",
    also=(_last_in_a_list, _on_a_clone(lambda f, x0, lr, steps: _walk(f, x0, lr, steps)[-1])),
)
def last_point_alone(f: Scalar, x0: T, lr: float, steps: int) -> T:
    return _walk(f, x0, lr, steps)[-1]


def _slopes(f: Scalar, x0: T, lr: float, steps: int) -> list[T]:
    return [_slope(f, at) for at in _walk(f, x0, lr, steps)]


def _slopes_but_the_last(f: Scalar, x0: T, lr: float, steps: int) -> list[T]:
    return _slopes(f, x0, lr, steps)[:-1]


def _slopes_behind_x0(f: Scalar, x0: T, lr: float, steps: int) -> list[T]:
    return [x0.detach().clone(), *_slopes_but_the_last(f, x0, lr, steps)]


@mistake(
    "Gradients were collected instead of points",
    "The list holds slopes of f where points of the walk belong.",
    "Append the point after each update.",
    also=(_slopes_but_the_last, _slopes_behind_x0),
)
def gradients_for_points(f: Scalar, x0: T, lr: float, steps: int) -> list[T]:
    return _slopes(f, x0, lr, steps)


def _values(numbers: bool, last: bool) -> Code:
    def code(f: Scalar, x0: T, lr: float, steps: int) -> list[Any]:
        values = [f(at) for at in _walk(f, x0, lr, steps)]
        kept = values if last else values[:-1]
        return [value.item() for value in kept] if numbers else kept

    return code


@mistake(
    "Values of f were collected instead of points",
    "The list holds how high points of the walk lie, not where they are.",
    "Append the point after each update.",
    "In training one logs the loss; here the walk itself is asked for.",
    also=(_values(numbers=True, last=True), _values(numbers=False, last=False), _values(numbers=True, last=False)),
)
def values_for_points(f: Scalar, x0: T, lr: float, steps: int) -> list[Any]:
    return _values(numbers=False, last=True)(f, x0, lr, steps)  # type: ignore[no-any-return]


# ------------------------------------------------------------------ the direction


@mistake(
    "The walk goes uphill",
    "Each step adds lr times the gradient, which points to where f is higher.",
    "The gradient of f points uphill; subtract it.",
    also=(_on_a_clone(lambda f, x0, lr, steps: _walk(f, x0, -lr, steps)),),
)
def walked_uphill(f: Scalar, x0: T, lr: float, steps: int) -> list[T]:
    return _walk(f, x0, -lr, steps)


@mistake(
    "Gradients of earlier steps are added in",
    "Each step uses the sum of all gradients so far, as where .grad is not cleared between the backward calls.",
    "Move by the gradient at the present point alone: clear .grad before each backward, make a fresh leaf each round, "
    "or use torch.autograd.grad; an optimizer needs momentum 0.",
    "backward() adds into .grad. Plain descent without clearing is descent with momentum 1.",
)
def old_gradients_added(f: Scalar, x0: T, lr: float, steps: int) -> list[T]:
    return _walk(f, x0, lr, steps, lambda seen: torch.stack(tuple(seen)).sum(0))


def _speed(momentum: float, damped: bool = False) -> Callable[[Sequence[T]], T]:
    def move(seen: Sequence[T]) -> T:
        speed = torch.zeros_like(seen[0])
        for gradient in seen:
            speed = momentum * speed + (1 - momentum if damped else 1) * gradient
        return speed

    return move


def _until_flat(f: Scalar, x0: T, lr: float, steps: int) -> list[T]:
    points = [x0.detach().clone()]
    for _ in range(steps):
        slope = torch.func.grad(f)(points[-1])
        if float(slope.abs().max()) < 1e-9:
            break
        points.append(points[-1] - lr * slope)
    return points


@mistake(
    "The list ends early where f is flat",
    "From a start where f is flat the list has fewer than steps + 1 points.",
    "Does the loop stop when nothing moves any more? Take all the steps: points may be equal.",
    "Many minimisers stop when they have arrived; this exercise counts its steps.",
)
def stopped_where_f_is_flat(f: Scalar, x0: T, lr: float, steps: int) -> list[T]:
    return _until_flat(f, x0, lr, steps)


@mistake(
    "The steps have momentum",
    "Each step moves along a mixture of the gradients so far, in which earlier ones fade; the exercise asks for the "
    "gradient at the present point alone.",
    "Move by lr times the gradient where you stand, and let nothing pass from round to round but the point.",
    "Many optimizers in use have momentum; plain descent has none.",
    also=(
        *(_moving(_speed(m)) for m in (0.5, 0.99)),
        _moving(_speed(0.9, damped=True)),
        _moving(_speed(0.5, damped=True)),
    ),
)
def momentum_added(f: Scalar, x0: T, lr: float, steps: int) -> list[T]:
    return _walk(f, x0, lr, steps, _speed(0.9))


@mistake(
    "The gradient of the starting point was used in every step",
    "The walk is a straight line with equal steps: each is lr times the gradient at x0.",
    "Measure the gradient again at each new point.",
)
def gradient_of_the_start(f: Scalar, x0: T, lr: float, steps: int) -> list[T]:
    return _walk(f, x0, lr, steps, lambda seen: seen[0])


def _late_by_one(f: Scalar, x0: T, lr: float, steps: int) -> list[T]:
    return _walk(f, x0, lr, steps, lambda seen: seen[-2] if len(seen) > 1 else torch.zeros_like(seen[0]))


@mistake(
    "The gradient is one point behind",
    "From the second step on, a point is left by the gradient that was measured at the point before it.",
    "In each round: first the gradient at the present point, then the move away from it.",
    also=(_late_by_one,),
)
def gradient_one_behind(f: Scalar, x0: T, lr: float, steps: int) -> list[T]:
    return _walk(f, x0, lr, steps, lambda seen: seen[-2] if len(seen) > 1 else seen[-1])


@mistake(
    "The value of f was used for its gradient",
    "Each step moves every coordinate by lr times the height f(x); a height says nothing about which way is down.",
    "Ask for the gradient of f at the point: it has the shape of the point.",
)
def value_for_gradient(f: Scalar, x0: T, lr: float, steps: int) -> list[T]:
    points = [x0.detach().clone()]
    for _ in range(steps):
        points.append(points[-1] - lr * f(points[-1]))
    return points


def _measured(h: float, number: bool) -> Code:
    """By the central differences of exercise 1.1; `number`: the quotient is taken of Python's floats."""

    def code(f: Scalar, x0: T, lr: float, steps: int) -> list[T]:
        points = [x0.detach().clone()]
        for _ in range(steps):
            slope = central_differences((lambda at: f(at).double()) if number else f, points[-1], h)
            points.append(points[-1] - lr * slope.to(x0.dtype))
        return points

    return code


@mistake(
    "In float32 the points are right to a few digits only",
    "They are what a gradient leaves that was measured by central differences, with an h of 1e-5 or 1e-4. In float32 such "
    "an h is so small that rounding takes most digits of the difference.",
    "Ask autograd for the gradient: it makes no differences, and is right to rounding.",
    "In float64 a gradient that was measured so is right to eight digits and more.",
    also=(_measured(1e-5, number=True), _measured(1e-4, number=False), _measured(1e-4, number=True)),
)
def slope_measured_in_float32(f: Scalar, x0: T, lr: float, steps: int) -> Any:
    return _measured(1e-5, number=False)(f, x0, lr, steps)


# ------------------------------------------------------------------ the length


def _unit(eps: float) -> Callable[[Sequence[T]], T]:
    return lambda seen: seen[-1] / (seen[-1].norm() + eps)


@mistake(
    "Steep or not, a step has the length lr",
    "The gradient was divided by its norm, so only its direction counts.",
    "Move by lr times the gradient itself: steep places give long steps.",
    also=(*(_moving(_unit(eps)) for eps in (1e-6, 1e-8, 1e-12)), _on_a_clone(_moving(_unit(0.0)))),
)
def fixed_step_length(f: Scalar, x0: T, lr: float, steps: int) -> list[T]:
    return _walk(f, x0, lr, steps, _unit(0.0))


@mistake(
    "Only the sign of the gradient was used",
    "Where its slope is not zero, a coordinate moves by lr, however steep the slope.",
    "Move by lr times the gradient itself.",
    also=(_on_a_clone(_moving(lambda seen: seen[-1].sign())),),
)
def sign_of_gradient(f: Scalar, x0: T, lr: float, steps: int) -> list[T]:
    return _walk(f, x0, lr, steps, lambda seen: seen[-1].sign())


@mistake(
    "The learning rate was not used",
    "Each step is the whole gradient, as if lr were 1.",
    "Multiply the gradient by lr.",
    "A gradient says which way and how steep, not how far to go.",
    also=(_on_a_clone(lambda f, x0, lr, steps: _walk(f, x0, 1.0, steps)),),
)
def learning_rate_ignored(f: Scalar, x0: T, lr: float, steps: int) -> list[T]:
    return _walk(f, x0, 1.0, steps)


@mistake(
    "The learning rate was used twice",
    "Each step is lr squared times the gradient.",
    "Multiply by lr in one place only.",
)
def learning_rate_squared(f: Scalar, x0: T, lr: float, steps: int) -> list[T]:
    return _walk(f, x0, lr**2, steps)


@mistake(
    "The step was divided by the learning rate",
    "Each step is the gradient divided by lr: the smaller lr, the longer the step.",
    "Multiply the gradient by lr.",
)
def divided_by_learning_rate(f: Scalar, x0: T, lr: float, steps: int) -> list[T]:
    return _walk(f, x0, 1 / lr, steps)


@mistake(
    "The learning rate shrinks from step to step",
    "The first step is right; each later one uses a smaller learning rate than lr.",
    "Use the same lr in every step.",
    "Schedules that lower the learning rate are common in training; none is asked for here.",
    also=(
        _moving(lambda seen: seen[-1] * 0.9 ** (len(seen) - 1)),
        _moving(lambda seen: seen[-1] / len(seen)),
        _moving(lambda seen: seen[-1] / len(seen) ** 0.5),
    ),
)
def learning_rate_decayed(f: Scalar, x0: T, lr: float, steps: int) -> list[T]:
    return _walk(f, x0, lr, steps, lambda seen: seen[-1] * 0.5 ** (len(seen) - 1))


def _by_size(first: float, second: float, corrected: bool) -> Callable[[Sequence[T]], T]:
    """Steps divided by the root of the mean of the squares so far: Adam, RMSprop (first = 0) and, summed, Adagrad."""

    def move(seen: Sequence[T]) -> T:
        speed, square = torch.zeros_like(seen[0]), torch.zeros_like(seen[0])
        for gradient in seen:
            speed = first * speed + (1 - first) * gradient
            square = second * square + (1 - second if second < 1 else 1) * gradient**2
        if corrected:
            speed, square = speed / (1 - first ** len(seen)), square / (1 - second ** len(seen))
        return speed / (square.sqrt() + 1e-8)

    return move


@mistake(
    "Each coordinate's step is divided by the size of its gradients so far",
    "How steep a slope is does not show in the steps: each is divided by the root of the squared gradients up to "
    "there, as in Adam, RMSprop and Adagrad.",
    "Move by lr times the gradient at the present point; torch.optim.SGD without options does so, too.",
    "Many optimizers in use scale their steps; plain descent does not.",
    also=(
        _moving(_by_size(0.0, 0.99, corrected=False)),
        _moving(_by_size(0.0, 0.9, corrected=False)),
        _moving(_by_size(0.0, 1.0, corrected=False)),
    ),
)
def steps_scaled_by_past_gradients(f: Scalar, x0: T, lr: float, steps: int) -> list[T]:
    return _walk(f, x0, lr, steps, _by_size(0.9, 0.999, corrected=True))


@mistake(
    "The coordinates were moved one after the other",
    "A coordinate's slope was measured where those before it had already moved.",
    "Measure the whole gradient at one point, then move all coordinates at once.",
    "Where coordinates do not act on each other, both ways give the same.",
)
def one_coordinate_after_the_other(f: Scalar, x0: T, lr: float, steps: int) -> list[T]:
    points = [x0.detach().clone()]
    for _ in range(steps):
        at = points[-1].clone().contiguous()
        for i in range(at.numel()):
            at.view(-1)[i] -= lr * _slope(f, at).reshape(-1)[i]
        points.append(at)
    return points


@mistake(
    "A step that leads uphill was not taken",
    "Where a step would have raised f, the walk stayed where it was.",
    "Take every step, wherever it leads: with a large lr the walk overshoots, and that is part of the answer.",
    "Line searches refuse such steps; here lr is given.",
)
def uphill_steps_refused(f: Scalar, x0: T, lr: float, steps: int) -> list[T]:
    points = [x0.detach().clone()]
    for _ in range(steps):
        there = points[-1] - lr * _slope(f, points[-1])
        points.append(there if f(there) < f(points[-1]) else points[-1].clone())
    return points
