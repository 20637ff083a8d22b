"""Attempts at exercise 1.4, gradient_descent: what learners write, and what the check must say of it."""

import numpy as np
from functools import reduce
from itertools import accumulate
from itertools import repeat
from torch.autograd.functional import jacobian
from torch.autograd.functional import vjp
from torch.func import grad
import torch
import torch.nn as nn

from course_utils.authoring.attempts import raised, right, wrong
from course_utils.checks import effects
from course_utils.lessons.lesson1.gradient_descent import mistakes


@raised(effects.grad_of_a_non_leaf)
def second_round_is_no_leaf(f, x0, lr, steps):
    x = x0.clone().requires_grad_()
    points = [x0.clone()]
    for _ in range(steps):
        f(x).backward()
        x = x - lr * x.grad
        points.append(x.detach())
    return points


@raised(effects.in_place_on_a_leaf)
def update_without_no_grad(f, x0, lr, steps):
    x = x0.clone().detach().requires_grad_()
    points = [x0.clone()]
    for _ in range(steps):
        f(x).backward()
        x -= lr * x.grad
        x.grad.zero_()
        points.append(x.detach().clone())
    return points


@raised(effects.no_graph)
def never_required_gradients(f, x0, lr, steps):
    x = x0.clone()
    points = [x0.clone()]
    for _ in range(steps):
        f(x).backward()
        x = x - lr * x.grad
        points.append(x)
    return points


@raised(effects.another_signature)
def called_with_another_signature(f, x0, lr):
    return [x0]


@right
def fresh_leaf_each_round(f, x0, lr, steps):
    points = [x0.detach().clone()]
    for _ in range(steps):
        leaf = points[-1].clone().requires_grad_()
        (slope,) = torch.autograd.grad(f(leaf), leaf)
        points.append(points[-1] - lr * slope)
    return points


@right
def func_grad(f, x0, lr, steps):
    slope, points = grad(f), [x0]
    while len(points) < steps + 1:
        points.append(points[-1] - lr * slope(points[-1]))
    return points


# Directional derivatives along each axis make the gradient; a generator makes the walk.
def walk(f, x, lr):
    while True:
        yield x
        units = torch.eye(x.numel(), dtype=x.dtype, device=x.device).reshape(-1, *x.shape)
        slope = torch.stack([torch.func.jvp(f, (x,), (unit,))[1] for unit in units]).reshape(x.shape)
        x = x - lr * slope

@right
def generator_and_forward_mode(f, x0, lr, steps):
    points = walk(f, x0.clone(), lr)
    return [next(points) for _ in range(steps + 1)]


@right
def itertools_accumulate(f, x0, lr, steps):
    def step(x, _):
        leaf = x.detach().requires_grad_()
        return (leaf - lr * torch.autograd.grad(f(leaf), leaf)[0]).detach()

    return list(accumulate(range(steps), step, initial=x0))


# The points are leaves: they require gradients and have no graph.
@right
def leaves_that_require_gradients(f, x0, lr, steps):
    points = [x0.clone().requires_grad_()]
    for _ in range(steps):
        x = points[-1]
        slope = torch.autograd.grad(f(x), x)[0]
        points.append((x.detach() - lr * slope).requires_grad_())
    return points


@right
def one_leaf_updated_in_place(f, x0, lr, steps):
    x = x0.clone().requires_grad_(True)
    points = [x0.clone()]
    for _ in range(steps):
        x.grad = None
        f(x).backward()
        with torch.no_grad():
            x -= lr * x.grad
        points.append(x.detach().clone())
    return points


@right
def recursion(f, x0, lr, steps):
    here = x0.detach().clone()
    if steps == 0:
        return [here]
    leaf = here.clone().requires_grad_()
    f(leaf).backward()
    return [here] + recursion(f, here - lr * leaf.grad, lr, steps - 1)


@right
def rows_of_one_table(f, x0, lr, steps):
    table = x0.new_empty((steps + 1, *x0.shape))
    table[0] = x0
    for t in range(steps):
        leaf = table[t].clone().requires_grad_()
        f(leaf).backward()
        table[t + 1] = table[t] - lr * leaf.grad
    return list(table)


@right
def sgd(f, x0, lr, steps):
    x = torch.nn.Parameter(x0.detach().clone())
    optimizer = torch.optim.SGD([x], lr=lr)
    path = [x.detach().clone()]
    for _ in range(steps):
        optimizer.zero_grad()
        f(x).backward()
        optimizer.step()
        path.append(x.detach().clone())
    return path


# Old style, with .data and zero_; a tuple counts as a list.
@right
def tuple_from_backward_on_data(f, x0, lr, steps):
    x = x0.clone()
    x.requires_grad = True
    points = (x.data.clone(),)
    for _ in range(steps):
        if x.grad is not None:
            x.grad.zero_()
        f(x).backward()
        x.data = x.data - lr * x.grad.data
        points += (x.data.clone(),)
    return points


@wrong(effects.changed_input)
def walked_with_x0_itself(f, x0, lr, steps):
    points = [x0.clone()]
    for _ in range(steps):
        leaf = x0.clone().requires_grad_()
        x0 -= lr * torch.autograd.grad(f(leaf), leaf)[0]
        points.append(x0.clone())
    return points


# x0 stands first in the list and is then moved: at the end the list begins with the last point.
@wrong(mistakes.moved_x0_in_the_list)
def x0_first_and_then_moved(f, x0, lr, steps):
    x, points = x0, [x0]
    for _ in range(steps):
        leaf = x.clone().requires_grad_()
        x -= lr * torch.autograd.grad(f(leaf), leaf)[0]
        points.append(x.clone())
    return points


@wrong(effects.changed_requires_grad)
def switched_on_for_the_caller(f, x0, lr, steps):
    x0.requires_grad_()
    points = [x0.detach().clone()]
    x = x0
    for _ in range(steps):
        slope = torch.autograd.grad(f(x), x)[0]
        x = (x - lr * slope).detach().requires_grad_()
        points.append(x)
    return points


@wrong(mistakes.end_left_out)
def appended_before_the_step(f, x0, lr, steps):
    x, points = x0.clone(), []
    for _ in range(steps):
        points.append(x)
        leaf = x.clone().requires_grad_()
        x = x - lr * torch.autograd.grad(f(leaf), leaf)[0]
    return points


@wrong(mistakes.fixed_step_length)
def unit_vector(f, x0, lr, steps):
    points = [x0.clone()]
    for _ in range(steps):
        leaf = points[-1].clone().requires_grad_()
        slope = torch.autograd.grad(f(leaf), leaf)[0]
        points.append(points[-1] - lr * slope / slope.norm())
    return points


@wrong(mistakes.gradient_of_the_start)
def measured_once(f, x0, lr, steps):
    leaf = x0.clone().requires_grad_()
    slope = torch.autograd.grad(f(leaf), leaf)[0]
    points = [x0.clone()]
    for _ in range(steps):
        points.append(points[-1] - lr * slope)
    return points


@wrong(mistakes.gradients_for_points)
def slopes_collected(f, x0, lr, steps):
    x, slopes = x0.clone(), []
    for _ in range(steps):
        leaf = x.clone().requires_grad_()
        slopes.append(torch.autograd.grad(f(leaf), leaf)[0])
        x = x - lr * slopes[-1]
    return slopes


@wrong(mistakes.last_point_alone)
def returned_x(f, x0, lr, steps):
    x = x0.clone()
    for _ in range(steps):
        leaf = x.clone().requires_grad_()
        x = x - lr * torch.autograd.grad(f(leaf), leaf)[0]
    return x


@wrong(mistakes.learning_rate_ignored)
def whole_gradient(f, x0, lr, steps):
    points = [x0.clone()]
    for _ in range(steps):
        leaf = points[-1].clone().requires_grad_()
        points.append(points[-1] - torch.autograd.grad(f(leaf), leaf)[0])
    return points


@wrong(mistakes.steps_scaled_by_past_gradients)
def adam(f, x0, lr, steps):
    x = torch.nn.Parameter(x0.clone())
    optimizer = torch.optim.Adam([x], lr=lr)
    points = [x0.clone()]
    for _ in range(steps):
        optimizer.zero_grad()
        f(x).backward()
        optimizer.step()
        points.append(x.detach().clone())
    return points


# Gamed: knows the gradient of the first case's function.
@wrong(says='On each of these cases entry 0 is right; from entry 1 on the list parts from the right one.')
def formula_of_the_bowl(f, x0, lr, steps):
    points = [x0.clone()]
    weights = torch.arange(1, x0.numel() + 1, dtype=x0.dtype).reshape(x0.shape)
    for _ in range(steps):
        points.append(points[-1] - lr * weights * points[-1])
    return points


@wrong(mistakes.momentum_added)
def momentum(f, x0, lr, steps):
    x, speed, points = x0.clone(), torch.zeros_like(x0), [x0.clone()]
    for _ in range(steps):
        leaf = x.clone().requires_grad_()
        speed = 0.9 * speed + torch.autograd.grad(f(leaf), leaf)[0]
        x = x - lr * speed
        points.append(x)
    return points


@wrong(mistakes.old_gradients_added)
def momentum_one(f, x0, lr, steps):
    x = torch.nn.Parameter(x0.clone())
    optimizer = torch.optim.SGD([x], lr=lr, momentum=1.0)
    points = [x0.clone()]
    for _ in range(steps):
        optimizer.zero_grad()
        f(x).backward()
        optimizer.step()
        points.append(x.detach().clone())
    return points


@wrong(mistakes.old_gradients_added)
def no_clearing(f, x0, lr, steps):
    x = x0.clone().requires_grad_()
    points = [x0.clone()]
    for _ in range(steps):
        f(x).backward()
        with torch.no_grad():
            x -= lr * x.grad
        points.append(x.detach().clone())
    return points


@wrong(mistakes.one_step_too_many)
def range_of_steps_plus_one(f, x0, lr, steps):
    points = [x0.clone()]
    for _ in range(steps + 1):
        leaf = points[-1].clone().requires_grad_()
        points.append(points[-1] - lr * torch.autograd.grad(f(leaf), leaf)[0])
    return points


# retain_grad makes .grad of a non-leaf work, so the graph grows from round to round.
@wrong(effects.carries_a_graph)
def retained_grads(f, x0, lr, steps):
    x = x0.clone().requires_grad_()
    points = [x0.clone()]
    for _ in range(steps):
        x.retain_grad()
        f(x).backward(retain_graph=True)
        x = x - lr * x.grad
        points.append(x)
    return points


@wrong(effects.carries_a_graph)
def update_outside_no_grad(f, x0, lr, steps):
    points = [x0.clone().requires_grad_()]
    for _ in range(steps):
        x = points[-1]
        slope = torch.autograd.grad(f(x), x)[0]
        points.append(x - lr * slope)
    return points


@wrong(effects.returned_nothing)
def no_return(f, x0, lr, steps):
    points = [x0.clone()]
    for _ in range(steps):
        leaf = points[-1].clone().requires_grad_()
        points.append(points[-1] - lr * torch.autograd.grad(f(leaf), leaf)[0])


@wrong(mistakes.same_tensor_in_list)
def only_the_start_was_cloned(f, x0, lr, steps):
    x = x0.clone().requires_grad_()
    points = [x0.clone()]
    for _ in range(steps):
        slope = torch.autograd.grad(f(x), x)[0]
        with torch.no_grad():
            x -= lr * slope
        points.append(x)
    return points


@wrong(mistakes.same_tensor_in_list)
def sgd_without_clone(f, x0, lr, steps):
    x = torch.nn.Parameter(x0.clone())
    optimizer = torch.optim.SGD([x], lr=lr)
    path = [x.data]
    for _ in range(steps):
        optimizer.zero_grad()
        f(x).backward()
        optimizer.step()
        path.append(x.data)
    return path


@wrong(mistakes.same_tensor_in_list)
def updated_in_place(f, x0, lr, steps):
    x = x0.clone().requires_grad_()
    points = [x.detach()]
    for _ in range(steps):
        slope = torch.autograd.grad(f(x), x)[0]
        with torch.no_grad():
            x -= lr * slope
        points.append(x.detach())
    return points


@wrong(mistakes.sign_of_gradient)
def sign_descent(f, x0, lr, steps):
    points = [x0.clone()]
    for _ in range(steps):
        leaf = points[-1].clone().requires_grad_()
        points.append(points[-1] - lr * torch.sign(torch.autograd.grad(f(leaf), leaf)[0]))
    return points


@wrong(mistakes.start_left_out)
def appended_after_the_step(f, x0, lr, steps):
    x, points = x0.clone(), []
    for _ in range(steps):
        leaf = x.clone().requires_grad_()
        x = x - lr * torch.autograd.grad(f(leaf), leaf)[0]
        points.append(x)
    return points


# The value of f at each point: what one logs in training, and not what was asked.
@wrong(mistakes.values_for_points)
def a_loss_curve(f, x0, lr, steps):
    x, values = x0.clone(), []
    for _ in range(steps):
        leaf = x.clone().requires_grad_()
        value = f(leaf)
        values.append(value.item())
        x = x - lr * torch.autograd.grad(value, leaf)[0]
    return values + [f(x).item()]


@wrong(mistakes.walked_uphill)
def plus(f, x0, lr, steps):
    points = [x0.clone()]
    for _ in range(steps):
        leaf = points[-1].clone().requires_grad_()
        points.append(points[-1] + lr * torch.autograd.grad(f(leaf), leaf)[0])
    return points


@wrong(effects.wrong_type)
def generator(f, x0, lr, steps):
    x = x0.clone()
    yield x
    for _ in range(steps):
        leaf = x.clone().requires_grad_()
        x = x - lr * torch.autograd.grad(f(leaf), leaf)[0]
        yield x


@wrong(effects.wrong_type)
def lists_of_floats(f, x0, lr, steps):
    x, points = x0.clone(), [x0.tolist()]
    for _ in range(steps):
        leaf = x.clone().requires_grad_()
        x = x - lr * torch.autograd.grad(f(leaf), leaf)[0]
        points.append(x.tolist())
    return points


@wrong(effects.wrong_type)
def stacked(f, x0, lr, steps):
    points = [x0.clone()]
    for _ in range(steps):
        leaf = points[-1].clone().requires_grad_()
        points.append(points[-1] - lr * torch.autograd.grad(f(leaf), leaf)[0])
    return torch.stack(points)


# the same tensor is appended every time and changed in place: all points are one tensor, the last one
@wrong(mistakes.same_tensor_in_list)
def class_a_01(f, x0, lr, steps):
    x = x0.clone().detach().requires_grad_(True)
    points = [x]
    for i in range(steps):
        loss = f(x)
        loss.backward()
        with torch.no_grad():
            x -= lr * x.grad
        x.grad.zero_()
        points.append(x)
    return points


@right
def class_a_02(f, x0, lr, steps):
    x = x0.detach().clone()
    points = [x]
    for _ in range(steps):
        leaf = x.clone().requires_grad_(True)
        value = f(leaf)
        if value.requires_grad:
            g = torch.autograd.grad(value, leaf, allow_unused=True)[0]
        else:
            g = None            # f does not depend on x at all
        if g is None:
            g = torch.zeros_like(x)
        x = x - lr * g.detach()
        points.append(x)
    return points


# the gradient is never cleared, so each step uses the sum of all gradients so far
@wrong(mistakes.old_gradients_added)
def class_a_03(f, x0, lr, steps):
    x = x0.detach().clone()
    x.requires_grad = True
    path = [x.detach().clone()]
    for step in range(steps):
        y = f(x)
        y.backward()
        with torch.no_grad():
            x -= lr * x.grad
        path.append(x.detach().clone())
    return path


# the step goes up (+ lr * gradient) AND the starting point is missing from the list
@wrong(says='The list has 1 entry too few on each of these cases.')
def class_a_04(f, x0, lr, steps):
    points = []
    x = x0.detach().clone()
    for i in range(steps):
        x = x.detach().requires_grad_(True)
        loss = f(x)
        grad = torch.autograd.grad(loss, x)[0]
        x = (x + lr * grad).detach()
        points.append(x)
    return points


# x = x0 is no copy: x0 itself is moved AND is left with requires_grad and a .grad
@wrong(effects.changed_requires_grad)
def class_a_05(f, x0, lr, steps):
    x = x0
    x.requires_grad_(True)
    x.grad = None
    history = [x.detach().clone()]
    for _ in range(steps):
        loss = f(x)
        loss.backward()
        with torch.no_grad():
            x -= lr * x.grad
            x.grad.zero_()
        history.append(x.detach().clone())
    return history


@right
def class_a_06(f, x0, lr, steps):
    x = torch.empty_like(x0, requires_grad=False).copy_(x0.detach()).requires_grad_()
    trail = [x.detach().clone()]
    for _ in range(steps):
        x.grad = None
        out = f(x)
        if out.requires_grad:
            out.backward(inputs=[x])       # weights inside f keep their .grad
        if x.grad is not None:
            with torch.no_grad():
                x.sub_(x.grad, alpha=lr)
        trail.append(x.detach().clone())
    return trail


# each point is noted before its step and nothing after the loop: the last point is missing
@wrong(mistakes.end_left_out)
def class_a_07(f, x0, lr, steps):
    x = x0.detach().clone()
    points = []
    for i in range(steps):
        points.append(x.clone())
        xg = x.clone().requires_grad_(True)
        g, = torch.autograd.grad(f(xg), xg)
        x = x - lr * g
    return points


# after the first update x is no leaf, its .grad is None: raises a TypeError in the second step
@raised(effects.grad_of_a_non_leaf)
def class_a_08(f, x0, lr, steps):
    x = x0.clone().detach().requires_grad_(True)
    points = [x.detach().clone()]
    for i in range(steps):
        loss = f(x)
        loss.backward()
        x = x - lr * x.grad
        points.append(x.detach())
    return points


@right
def class_a_09(f, x0, lr, steps):
    df = torch.func.grad(f)
    start = x0.detach().clone()
    return list(accumulate(range(steps), lambda x, _: x - lr * df(x).detach(), initial=start))


# only the final point is returned, not the list of all points
@wrong(mistakes.last_point_alone)
def class_a_10(f, x0, lr, steps):
    x = x0.detach().clone().requires_grad_(True)
    for epoch in range(steps):
        loss = f(x)
        g = torch.autograd.grad(loss, x)[0]
        x = (x - lr * g).detach().requires_grad_(True)
    return x.detach()


# the gradient is computed once, at x0, and used for every step
@wrong(mistakes.gradient_of_the_start)
def class_a_11(f, x0, lr, steps):
    start = x0.detach().clone().requires_grad_(True)
    loss = f(start)
    gradient = torch.autograd.grad(loss, start)[0]

    points = [x0.detach().clone()]
    for i in range(steps):
        new_point = points[-1] - lr * gradient
        points.append(new_point)
    return points


# SGD with momentum 0.9 is not plain gradient descent AND torch.manual_seed changes the random state
@wrong(mistakes.momentum_added)
def class_a_12(f, x0, lr, steps):
    torch.manual_seed(42)   # reproducible
    x = x0.detach().clone().requires_grad_(True)
    optimizer = torch.optim.SGD([x], lr=lr, momentum=0.9)
    points = [x.detach().clone()]
    for _ in range(steps):
        optimizer.zero_grad()
        f(x).backward()
        optimizer.step()
        points.append(x.detach().clone())
    return points


@right
def class_a_13(f, x0, lr, steps):
    x = x0.detach().clone().requires_grad_()
    # SGD refuses lr < 0
    opt = torch.optim.SGD([x], lr=abs(lr), maximize=lr < 0)
    points = [x.detach().clone()]
    for _ in range(steps):
        opt.zero_grad()
        y = f(x)
        if y.requires_grad:
            y.backward(inputs=[x])
        opt.step()
        points.append(x.detach().clone())
    return points


# x is never detached: every point but the first hangs on the graph of the whole walk
@wrong(effects.carries_a_graph)
def class_a_14(f, x0, lr, steps):
    x = x0.detach().clone().requires_grad_(True)
    points = [x]
    for _ in range(steps):
        g, = torch.autograd.grad(f(x), x)
        x = x - lr * g
        points.append(x)
    return points


# nothing is detached: the points carry a graph when x0, or a weight that f uses, requires gradients
@right
def class_a_15(f, x0, lr, steps):
    g = torch.func.grad(f)
    return reduce(lambda pts, _: pts + [pts[-1] - lr * g(pts[-1])], range(steps), [x0.clone()])


# one call a step: raises a RecursionError for about 1000 steps
@right
def class_a_16(f, x0, lr, steps):
    here = x0.detach().clone()
    if steps == 0:
        return [here]
    probe = here.clone().requires_grad_()
    slope, = torch.autograd.grad(f(probe), probe)
    return [here] + class_a_16(f, here - lr * slope, lr, steps - 1)


@right
def class_a_17(f, x0, lr, steps):
    def one(x):
        with torch.enable_grad():
            z = x.clone().requires_grad_()
            v = f(z)
        if not v.requires_grad:
            return x.clone()
        g = torch.autograd.grad(v, z, allow_unused=True)[0]
        return x.clone() if g is None else torch.add(x, g, alpha=-lr)

    def walk(x, n):          # the n points after x
        if n == 0:
            return []
        if n == 1:
            return [one(x)]
        first = walk(x, n // 2)
        return first + walk(first[-1], n - n // 2)

    start = x0.detach().clone()
    return [start] + walk(start, steps)


# the points come stacked in one tensor instead of a list
@wrong(effects.wrong_type)
def class_a_18(f, x0, lr, steps):
    points = [x0.detach().clone()]
    for _ in range(steps):
        x = points[-1].clone().requires_grad_(True)
        grad, = torch.autograd.grad(f(x), x)
        points.append((x - lr * grad).detach())
    return torch.stack(points)


# stops as soon as the gradient is small: fewer than steps + 1 points
@wrong(mistakes.stopped_where_f_is_flat)
def class_a_19(f, x0, lr, steps, tol=1e-4):
    x = x0.detach().clone()
    points = [x]
    for _ in range(steps):
        x = x.detach().clone().requires_grad_(True)
        grad, = torch.autograd.grad(f(x), x)
        if grad.norm() < tol:
            break           # converged
        x = (x - lr * grad).detach()
        points.append(x)
    return points


class Walker:
    def __init__(self, f, start, lr):
        self.f, self.lr = f, lr
        self.position = start.detach().clone()

    def slope(self):
        at = self.position.clone()
        at.requires_grad_(True)
        height = self.f(at)
        if height.grad_fn is None and height is not at:
            return torch.zeros_like(self.position)
        g = torch.autograd.grad(height, at, allow_unused=True)[0]
        return torch.zeros_like(self.position) if g is None else g

    def __iter__(self):
        return self

    def __next__(self):
        self.position = self.position - self.slope() * self.lr
        return self.position

@right
def class_a_20(f, x0, lr, steps):
    walker = Walker(f, x0, lr)
    path = [walker.position]
    for _, point in zip(range(steps), walker):
        path.append(point)
    return path


# the trip through tolist makes everything float32: float64 inputs lose dtype and precision
@wrong(effects.wrong_dtype)
def class_a_21(f, x0, lr, steps):
    points = [torch.tensor(x0.tolist())]
    for _ in range(steps):
        x = torch.tensor(points[-1].tolist(), requires_grad=True)
        g = torch.autograd.grad(f(x), x)[0]
        points.append((x - lr * g).detach())
    return points


# the gradient is a forward difference with h = 1e-3, an approximation
@wrong()
def class_a_22(f, x0, lr, steps):
    h = 1e-3
    x = x0.detach().clone()
    points = [x]
    for _ in range(steps):
        base = f(x)
        g = torch.zeros(x.numel(), dtype=x.dtype, device=x.device)
        for idx in range(x.numel()):
            moved = x.reshape(-1).clone()
            moved[idx] += h
            g[idx] = (f(moved.reshape(x.shape)) - base).detach() / h
        x = x - lr * g.reshape(x.shape)
        points.append(x)
    return points


# the gradient is taken to be 2 * x: right for sum(x**2) alone
@wrong(says='On each of these cases entry 0 is right; from entry 1 on the list parts from the right one.')
def class_a_23(f, x0, lr, steps):
    # d/dx x^2 = 2x
    xs = [x0.detach().clone()]
    for k in range(steps):
        xs.append(xs[-1] - lr * 2 * xs[-1])
    return xs


# backward also adds to the .grad of weights that f uses inside
@right
def class_a_24(f, x0, lr, steps):
    x = x0.detach().clone()
    points = [x]
    for _ in range(steps):
        x = x.clone().requires_grad_(True)
        f(x).backward()
        x = x.detach() - lr * x.grad
        points.append(x)
    return points


@right
def class_a_25(f, x0, lr, steps):
    def trail():
        x = x0.detach().clone()
        yield x
        for _ in range(steps):
            x = x - lr * jacobian(f, x)
            yield x
    return list(trail())


# .item() on the gradient: raises as soon as x has more than one entry
@raised(effects.item_of_many)
def class_a_26(f, x0, lr, steps):
    x = x0.detach().clone().requires_grad_(True)
    points = [x.detach().clone()]
    for i in range(steps):
        y = f(x)
        slope = torch.autograd.grad(y, x)[0].item()
        x = (x - lr * slope).detach().requires_grad_(True)
        points.append(x.detach().clone())
    return points


# the points are detached views of one memory that is changed in place: all end as the last point, and x0 is changed
@wrong(mistakes.same_tensor_in_list)
def class_a_27(f, x0, lr, steps):
    x = x0.detach()
    points = [x.detach()]
    for _ in range(steps):
        x.requires_grad_(True)
        g, = torch.autograd.grad(f(x), x)
        x = x.detach()
        x -= lr * g
        points.append(x.detach())
    return points


# detach is taken for a copy: the walker shares x0's memory, so the in-place steps move x0 itself
@wrong(effects.changed_input)
def class_b_01(f, x0, lr, steps):
    x = x0.detach().requires_grad_(True)   # detached, so x0 is safe
    history = [x.detach().clone()]
    for step in range(steps):
        grad = torch.autograd.grad(f(x), x)[0]
        with torch.no_grad():
            x -= lr * grad
        history.append(x.detach().clone())
    return history


@right
def class_b_02(f, x0, lr, steps):
    x = x0.detach().clone()
    points = [x]
    for _ in range(steps):
        leaf = x.clone().requires_grad_(True)
        value = f(leaf)
        if value.requires_grad:
            g, = torch.autograd.grad(value, leaf, allow_unused=True)
        else:
            g = None                      # a constant has nothing to differentiate
        x = x.clone() if g is None else x - lr * g
        points.append(x)
    return points


# x0.clone() is no leaf when x0 requires gradients: x.grad stays None (TypeError) and the gradient lands in x0.grad
@right
def class_b_03(f, x0, lr, steps):
    x = x0.clone().requires_grad_(True)
    path = [x.detach().clone()]
    for i in range(steps):
        loss = f(x)
        loss.backward()
        x = (x - lr * x.grad).detach().requires_grad_(True)
        path.append(x.detach().clone())
    return path


# the gradient is computed once, at x0, and used again in every step
@wrong(mistakes.gradient_of_the_start)
def class_b_04(f, x0, lr, steps):
    start = x0.detach().clone().requires_grad_(True)
    loss = f(start)
    gradient = torch.autograd.grad(loss, start)[0]

    points = [start.detach()]
    for i in range(steps):
        new = points[-1] - lr * gradient
        points.append(new)
    return points


# zero_grad stands between backward and step, so no step ever moves
@wrong(says='What stands at entry 1 is `x0` itself, value for value.')
def class_b_05(f, x0, lr, steps):
    x = torch.nn.Parameter(x0.detach().clone())
    opt = torch.optim.SGD([x], lr=lr)
    track = [x.detach().clone()]
    for epoch in range(steps):
        loss = f(x)
        loss.backward()
        opt.zero_grad()
        opt.step()
        track.append(x.detach().clone())
    return track


def nabla(f):
    def df(x):
        x = x.detach().clone().requires_grad_()
        y = f(x)
        if y.grad_fn is None:
            return torch.zeros_like(x).detach()
        return torch.autograd.grad(y, x, allow_unused=True, materialize_grads=True)[0]
    return df

@right
def class_b_06(f, x0, lr, steps):
    df = nabla(f)
    return list(accumulate(repeat(None, steps), lambda x, _: x - lr * df(x), initial=x0.detach().clone()))


# detach() without clone() in the list while x moves in place: all points share one memory and show the last point
@wrong(mistakes.same_tensor_in_list)
def class_b_07(f, x0, lr, steps):
    x = x0.detach().clone()
    x.requires_grad = True
    points = [x.detach()]
    for t in range(steps):
        g = torch.autograd.grad(f(x), x)[0]
        x.data -= lr * g
        points.append(x.detach())
    return points


# the walk stops early when the gradient is small, so the list has fewer than steps + 1 points
@wrong(mistakes.stopped_where_f_is_flat)
def class_b_08(f, x0, lr, steps):
    pts = [x0.detach().clone()]
    for _ in range(steps):
        p = pts[-1].clone().requires_grad_()
        (g,) = torch.autograd.grad(f(p), p)
        if g.norm() < 1e-6:
            break           # converged, nothing to do any more
        pts.append((p - lr * g).detach())
    return pts


class Descent:
    def __init__(self, f, start, lr):
        self.f, self.lr = f, lr
        self.here = start.detach().clone()

    def slope(self):
        probe = self.here.clone().requires_grad_(True)
        out = self.f(probe)
        if out.requires_grad:
            out.backward(inputs=[probe])
        return torch.zeros_like(self.here) if probe.grad is None else probe.grad

    def __iter__(self):
        while True:
            yield self.here
            self.here = self.here - self.lr * self.slope()

@right
def class_b_09(f, x0, lr, steps):
    walk = iter(Descent(f, x0, lr))
    return [next(walk) for _ in range(steps + 1)]


# the coordinates are moved one after the other, each with a gradient taken after the earlier ones have moved: right
# only where the coordinates do not interact
@wrong(mistakes.one_coordinate_after_the_other)
def class_b_10(f, x0, lr, steps):
    x = x0.detach().clone()
    points = [x.clone()]
    for _ in range(steps):
        for i in range(x.numel()):
            p = x.clone().requires_grad_(True)
            g = torch.autograd.grad(f(p), p)[0]
            mask = torch.zeros(x.numel(), dtype=x.dtype, device=x.device)
            mask[i] = 1.0
            x = x - lr * g * mask.view(x.shape)
        points.append(x.clone())
    return points


# the closed form of f(x) = sum(x**2) is returned and f is never called
@wrong(says='On each of these cases entry 0 is right; from entry 1 on the list parts from the right one.')
def class_b_11(f, x0, lr, steps):
    # gradient is 2x, so every step multiplies by (1 - 2 lr)
    x0 = x0.detach()
    return [x0 * (1 - 2 * lr) ** k for k in range(steps + 1)]


# a forward difference with h = 1e-4 stands for the gradient, good to a few digits only and much worse in float32
@wrong()
def class_b_12(f, x0, lr, steps):
    h = 1e-4
    x = x0.detach().clone()
    out = [x]
    with torch.no_grad():
        for _ in range(steps):
            base = f(x)
            g = torch.zeros(x.shape, dtype=x.dtype, device=x.device)
            for i in range(x.numel()):
                moved = x.clone().contiguous()
                moved.view(-1)[i] += h
                g.view(-1)[i] = (f(moved) - base) / h
            x = x - lr * g
            out.append(x)
    return out


@right
def class_b_13(f, x0, lr, steps):
    trail = [x0.detach().clone()]
    while len(trail) < steps + 1:
        here = trail[-1]
        trail.append(here - lr * jacobian(f, here).detach())
    return trail


# the value of f is subtracted in place of its gradient
@wrong(mistakes.value_for_gradient)
def class_b_14(f, x0, lr, steps):
    x = x0.detach().clone()
    points = [x.clone()]
    for i in range(steps):
        loss = f(x).detach()
        x = x - lr * loss       # go against the loss
        points.append(x.clone())
    return points


# each step stores the point before it moves: x0 stands twice, all others are one late and the last one is missing
@wrong(says='What stands at entry 1 is `x0` itself, value for value.')
def class_b_15(f, x0, lr, steps):
    x = x0.detach().clone()
    path = [x.clone()]
    for i in range(steps):
        path.append(x.clone())
        x.requires_grad_(True)
        g, = torch.autograd.grad(f(x), x)
        x = (x - lr * g).detach()
    return path


# the results of func.grad are not detached: when f uses another tensor that requires gradients, the points carry
# its graph
@right
def class_b_16(f, x0, lr, steps):
    df, xs = torch.func.grad(f), [x0.detach().clone()]
    for _ in range(steps): xs.append(xs[-1] - lr * df(xs[-1]))
    return xs


# the function yields its points and so returns a generator, not a list
@wrong(effects.wrong_type)
def class_b_17(f, x0, lr, steps):
    x = x0.detach().clone().requires_grad_()
    yield x.detach().clone()
    for _ in range(steps):
        g, = torch.autograd.grad(f(x), x)
        x = (x.detach() - lr * g).requires_grad_()
        yield x.detach().clone()


@right
def class_b_18(f, x0, lr, steps):
    w = x0.detach().clone(memory_format=torch.contiguous_format)
    w.requires_grad_(True)
    snapshots = [w.detach().clone()]
    for _ in range(steps):
        w.grad = None
        loss = f(w)
        if loss.requires_grad:
            loss.backward(inputs=[w])
        if w.grad is not None:
            with torch.no_grad():
                w -= lr * w.grad
        snapshots.append(w.detach().clone())
    return snapshots


# a plain backward() also fills the .grad of every other tensor that f uses, such as a model's parameters
@right
def class_b_20(f, x0, lr, steps):
    x = x0.detach().clone()
    result = [x.clone()]
    for _ in range(steps):
        x = x.detach().requires_grad_(True)
        x.grad = None
        f(x).backward()
        with torch.no_grad():
            x = x - lr * x.grad
        result.append(x.clone())
    return result


# requires_grad_ is switched on for the caller's x0 itself AND x0.grad is filled (and what was in it is lost)
@wrong(effects.changed_requires_grad)
def class_b_21(f, x0, lr, steps):
    x = x0
    points = [x0.detach().clone()]
    for i in range(steps):
        x.requires_grad_(True)
        x.grad = None
        y = f(x)
        y.backward()
        x = x.detach() - lr * x.grad
        points.append(x.clone())
    return points


# the start is rebuilt from a list of floats, which fails for a 0-d x0 or a matrix AND turns float64 into float32
@wrong(effects.wrong_dtype)
def class_b_22(f, x0, lr, steps):
    x = torch.tensor([float(v) for v in x0], requires_grad=True)
    xs = [x.detach().clone()]
    for _ in range(steps):
        grad, = torch.autograd.grad(f(x), [x])
        x = (x - lr * grad).detach().requires_grad_(True)
        xs.append(x.detach().clone())
    return xs


# nn.Parameter(x0) shares x0's memory, so the optimizer moves x0 AND clone() without detach() leaves a graph on
# every point
@wrong(effects.carries_a_graph)
def class_b_23(f, x0, lr, steps):
    weight = nn.Parameter(x0)
    optimizer = torch.optim.SGD([weight], lr=lr)
    points = [weight.clone()]
    for _ in range(steps):
        optimizer.zero_grad()
        loss = f(weight)
        loss.backward()
        optimizer.step()
        points.append(weight.clone())
    return points


def slope_at(f, point):
    caught = [torch.zeros_like(point)]
    probe = point.detach().clone().requires_grad_()
    probe.register_hook(lambda g: caught.append(g.detach()))
    value = f(probe)
    if value.requires_grad:
        value.backward(inputs=[probe])
    return caught[-1]

@right
def class_b_24(f, x0, lr, steps):
    return reduce(lambda way, _: way + [way[-1] - lr * slope_at(f, way[-1])],
                  range(steps), [x0.detach().clone()])


# one recursive call a step: RecursionError for about a thousand steps
@right
def class_b_25(f, x0, lr, steps):
    here = x0.detach().clone()
    if steps == 0:
        return [here]
    p = here.clone().requires_grad_(True)
    g = torch.autograd.grad(f(p), p)[0]
    return [here] + class_b_25(f, here - lr * g, lr, steps - 1)


@right
def class_b_26(f, x0, lr, steps):
    x = x0.detach().clone()
    return [x] + [x := x - lr * vjp(f, x)[1].detach() for _ in range(steps)]


# the history holds the values of f along the walk, not the points
@wrong(mistakes.values_for_points)
def class_b_27(f, x0, lr, steps):
    x = x0.detach().clone().requires_grad_(True)
    history = []
    for epoch in range(steps + 1):
        loss = f(x)
        history.append(loss.detach().clone())
        (dx,) = torch.autograd.grad(loss, x)
        with torch.no_grad():
            x -= lr * dx
    return history


# the same tensor is appended every time and updated in place, so every point of the list is the last one
@wrong(mistakes.same_tensor_in_list)
def class_c_01(f, x0, lr, steps):
    x = x0.clone()
    points = [x]
    for i in range(steps):
        x.requires_grad_(True)
        x.grad = None
        loss = f(x)
        loss.backward()
        with torch.no_grad():
            x -= lr * x.grad
        points.append(x)
    x.requires_grad_(False)
    x.grad = None
    return points


# the gradient is never cleared between the steps, so each step uses the sum of all gradients so far
@wrong(mistakes.old_gradients_added)
def class_c_02(f, x0, lr, steps):
    x = x0.clone().requires_grad_(True)
    history = [x0.clone()]
    for step in range(steps):
        y = f(x)
        y.backward()
        with torch.no_grad():
            x -= lr * x.grad
        history.append(x.detach().clone())
    return history


@right
def class_c_03(f, x0, lr, steps):
    points = [x0.detach().clone()]
    for _ in range(steps):
        x = points[-1].clone().requires_grad_(True)
        value = f(x)
        if value.requires_grad:
            (g,) = torch.autograd.grad(value, x)
        else:                      # f is constant, flat ground
            g = torch.zeros_like(points[-1])
        points.append(points[-1] - lr * g)
    return points


# the new x is the result of a calculation, not a leaf, so x.grad is None in the second step and the code raises
# TypeError
@raised(effects.grad_of_a_non_leaf)
def class_c_04(f, x0, lr, steps):
    x = x0.clone()
    x.requires_grad = True
    path = [x.detach().clone()]
    for t in range(steps):
        loss = f(x)
        loss.backward()
        x = x - lr * x.grad
        path.append(x.detach().clone())
    return path


# climbs: the step goes along the gradient, with plus
@wrong(mistakes.walked_uphill)
def class_c_05(f, x0, lr, steps):
    xs = [x0.clone()]
    for _ in range(steps):
        x = xs[-1].clone().requires_grad_()
        y = f(x)
        if not y.requires_grad:
            xs.append(xs[-1].clone())
            continue
        y.backward()
        xs.append((x + lr * x.grad).detach())
    return xs


# x0 itself is made to require gradients and walked in place: x0 is changed and keeps requires_grad and .grad
@wrong(effects.changed_requires_grad)
def class_c_06(f, x0, lr, steps):
    points = [x0.clone()]
    x0.requires_grad_()
    for _ in range(steps):
        x0.grad = None
        f(x0).backward()
        x0.data -= lr * x0.grad
        points.append(x0.detach().clone())
    return points


@right
def class_c_07(f, x0, lr, steps):
    slope = torch.func.grad(f)

    def walk(x, left):
        if left == 0:
            return [x]
        return [x] + walk(x - lr * slope(x), left - 1)

    return walk(x0.clone(), steps)


# the point is stored before the step and never after it: the list has steps points and the last one is missing
@wrong(mistakes.end_left_out)
def class_c_08(f, x0, lr, steps):
    x = x0.clone().requires_grad_()
    trajectory = []
    for epoch in range(steps):
        trajectory.append(x.detach().clone())
        loss = f(x)
        g = torch.autograd.grad(loss, x)[0]
        with torch.no_grad():
            x -= lr * g
    return trajectory


@right
def class_c_09(f, x0, lr, steps):
    x = x0.clone()
    points = [x.clone()]
    for i in range(steps):
        x.requires_grad_(True)
        x.grad = None
        loss = f(x)
        if loss.requires_grad:
            loss.backward()
            with torch.no_grad():
                x -= lr * x.grad
        points.append(x.detach().clone())
    return points


# the gradient is taken once, at x0, and used for all steps
@wrong(mistakes.gradient_of_the_start)
def class_c_10(f, x0, lr, steps):
    g = torch.func.grad(f)(x0)
    return [x0 - k * lr * g for k in range(steps + 1)]


@right
def class_c_11(f, x0, lr, steps):
    x = torch.nn.Parameter(x0.detach().clone())
    opt = torch.optim.SGD([x], lr=1.0)
    path = [x.detach().clone()]
    for _ in range(steps):
        opt.zero_grad()
        loss = f(x)
        if loss.requires_grad:
            loss.backward()
            x.grad.mul_(lr)      # lr goes in here, SGD itself dislikes negative ones
            opt.step()
        path.append(x.detach().clone())
    return path


# the clones are taken from the tracked x, so the points carry a graph
@wrong(effects.carries_a_graph)
def class_c_12(f, x0, lr, steps):
    x = x0.clone()
    x.requires_grad_(True)
    points = [x.clone()]
    for _ in range(steps):
        grad = torch.autograd.grad(f(x), x)[0]
        x = (x - lr * grad).detach().requires_grad_(True)
        points.append(x.clone())
    return points


# only the last point is returned, not the list
@wrong(mistakes.last_point_alone)
def class_c_13(f, x0, lr, steps):
    w = x0.clone()
    for i in range(steps):
        w = w.detach().requires_grad_(True)
        loss = f(w)
        loss.backward()
        w = w - lr * w.grad
    return w.detach()


# stops early once the gradient is small, so the list is shorter than steps + 1
@wrong(mistakes.stopped_where_f_is_flat)
def class_c_14(f, x0, lr, steps, tol=1e-6):
    pts = [x0.clone()]
    x = x0.clone()
    for _ in range(steps):
        x = x.detach().requires_grad_(True)
        g = torch.autograd.grad(f(x), x)[0]
        if g.norm() < tol:       # converged
            break
        x = (x - lr * g).detach()
        pts.append(x)
    return pts


@right
def class_c_15(f, x0, lr, steps):
    def step(x, _):
        with torch.enable_grad():
            z = x.detach().clone().requires_grad_(True)
            out = f(z)
        if out.grad_fn is None and out is not z:
            return x.clone()
        return x - torch.autograd.grad(out, z)[0] * lr
    return list(accumulate(repeat(None, steps), step, initial=x0.clone()))


# Adam in place of plain gradient descent: the steps are not lr times the gradient
@wrong(mistakes.steps_scaled_by_past_gradients)
def class_c_16(f, x0, lr, steps):
    x = x0.clone().requires_grad_(True)
    optimizer = torch.optim.Adam([x], lr=lr)
    points = [x.detach().clone()]
    for _ in range(steps):
        optimizer.zero_grad()
        loss = f(x)
        loss.backward()
        optimizer.step()
        points.append(x.detach().clone())
    return points


# no gradient of f at all: the closed form for the sum of squares, right only for f(x) = (x**2).sum()
@wrong(says='On each of these cases entry 0 is right; from entry 1 on the list parts from the right one.')
def class_c_17(f, x0, lr, steps):
    # gradient of x^2 is 2x, so each step multiplies by (1 - 2 lr)
    return [x0 * (1 - 2 * lr) ** k for k in range(steps + 1)]


# the start is rebuilt by torch.tensor(x0.tolist()), which makes float64 into float32 AND the points are joined by
# torch.stack into one tensor instead of a list
@wrong(effects.wrong_type)
def class_c_18(f, x0, lr, steps):
    x = torch.tensor(x0.tolist(), requires_grad=True)
    all_x = [x.detach().clone()]
    for _ in range(steps):
        x.grad = None
        f(x).backward()
        with torch.no_grad():
            x -= lr * x.grad
        all_x.append(x.detach().clone())
    return torch.stack(all_x)


class Hiker:
    def __init__(self, f, start, lr):
        self.f = f
        self.lr = lr
        self.position = start.detach().clone()

    def gradient(self):
        leaf = self.position.clone()
        leaf.requires_grad = True
        height = self.f(leaf)
        if height.requires_grad:
            height.backward()
        return leaf.grad if leaf.grad is not None else torch.zeros_like(self.position)

    def path(self, steps):
        yield self.position.clone()
        while steps > 0:
            self.position = self.position - self.lr * self.gradient()
            yield self.position.clone()
            steps -= 1

@right
def class_c_19(f, x0, lr, steps):
    return list(Hiker(f, x0, lr).path(steps))


# x.grad.zero_() stands before the first backward, where .grad is still None: AttributeError as soon as steps is at
# least 1
@raised(effects.grad_is_none)
def class_c_20(f, x0, lr, steps):
    x = x0.clone().detach().requires_grad_(True)
    points = [x.detach().clone()]
    for _ in range(steps):
        x.grad.zero_()
        loss = f(x)
        loss.backward()
        with torch.no_grad():
            x -= lr * x.grad
        points.append(x.detach().clone())
    return points


# moves one coordinate after the other with fresh gradients (coordinate descent), wrong where the entries of x are
# coupled AND range(len(x)) raises TypeError for a 0-d x
@raised(effects.length_of_a_0_d_tensor)
def class_c_21(f, x0, lr, steps):
    cur = x0.clone()
    res = [cur.clone()]
    for _ in range(steps):
        for i in range(len(cur)):
            t = cur.clone().requires_grad_(True)
            g = torch.autograd.grad(f(t), t)[0]
            cur[i] = cur[i] - lr * g[i]
        res.append(cur.clone())
    return res


# the gradient is scaled to length 1 when it is longer than 1 (clipping) AND torch.manual_seed changes the random
# state
@wrong()
def class_c_22(f, x0, lr, steps):
    torch.manual_seed(0)   # reproducible
    x = x0.clone().requires_grad_(True)
    out = [x0.clone()]
    for _ in range(steps):
        x.grad = None
        f(x).backward()
        torch.nn.utils.clip_grad_norm_([x], 1.0)   # so that it does not explode
        with torch.no_grad():
            x.sub_(lr * x.grad)
        out.append(x.detach().clone())
    return out


@right
def class_c_23(f, x0, lr, steps):
    table = x0.new_empty((steps + 1, *x0.shape))
    table[0] = x0
    for k in range(1, steps + 1):
        here = table[k - 1].clone().requires_grad_()
        val = f(here)
        if val.requires_grad:
            val.backward()
            table[k] = table[k - 1] - lr * here.grad
        else:
            table[k] = table[k - 1]
    return [row.clone() for row in table]


# x = x0.detach() is no copy: the in-place steps change x0 through the shared memory
@wrong(effects.changed_input)
def class_c_24(f, x0, lr, steps):
    x = x0.detach()
    trail = [x.clone()]
    for _ in range(steps):
        leaf = x.clone().requires_grad_(True)
        f(leaf).backward()
        x -= lr * leaf.grad
        trail.append(x.clone())
    return trail


# torch.set_grad_enabled(False) is called for the update and left off after the last step
@wrong(effects.changed_global)
def class_c_25(f, x0, lr, steps):
    points = [x0.clone()]
    for _ in range(steps):
        torch.set_grad_enabled(True)
        x = points[-1].clone().requires_grad_(True)
        f(x).backward()
        torch.set_grad_enabled(False)    # no graph for the update
        points.append(x - lr * x.grad)
    return points


# forward differences (f(x + h) - f(x)) / h in place of the exact gradient: an approximation, very rough in float32
@wrong()
def class_c_26(f, x0, lr, steps):
    h = 1e-3
    x = x0.clone()
    p = [x]
    for k in range(steps):
        base = f(x)
        slope = torch.zeros(x.numel(), dtype=x.dtype, device=x.device)
        for i in range(x.numel()):
            e = torch.zeros(x.numel(), dtype=x.dtype, device=x.device)
            e[i] = h
            slope[i] = (f(x + e.reshape(x.shape)) - base) / h
        x = x - lr * slope.reshape(x.shape)
        p.append(x)
    return p


# x0 is flattened and stays flat: f gets another shape than that of x0, and so have the points
@wrong(effects.wrong_shape)
def class_c_27(f, x0, lr, steps):
    x = x0.clone().reshape(-1)
    pts = [x]
    for _ in range(steps):
        x = x.detach().requires_grad_(True)
        f(x).backward()
        x = (x - lr * x.grad).detach()
        pts.append(x)
    return pts


# x.grad is never cleared, so every step uses the sum of all gradients so far
@wrong(mistakes.old_gradients_added)
def class_d_01(f, x0, lr, steps):
    x = x0.detach().clone().requires_grad_(True)
    points = [x.detach().clone()]
    for step in range(steps):
        loss = f(x)
        if loss.requires_grad:
            loss.backward()
        with torch.no_grad():
            if x.grad is not None:
                x -= lr * x.grad
        points.append(x.detach().clone())
    return points


# detach() without clone(): all points share one memory and end at the last value
@wrong(mistakes.same_tensor_in_list)
def class_d_02(f, x0, lr, steps):
    x = x0.clone()
    x.requires_grad = True
    path = [x.detach()]
    for _ in range(steps):
        y = f(x)
        if y.requires_grad:
            y.backward()
            with torch.no_grad():
                x -= lr * x.grad
            x.grad.zero_()
        path.append(x.detach())
    return path


# x0 itself is moved in place and left requiring gradients
@wrong(effects.changed_requires_grad)
def class_d_03(f, x0, lr, steps):
    points = [x0.clone().detach()]
    x = x0                     # start here
    x.requires_grad_()
    for i in range(steps):
        loss = f(x)
        if not loss.requires_grad:
            points.append(x.detach().clone())
            continue
        g = torch.autograd.grad(loss, x)[0]
        with torch.no_grad():
            x.sub_(lr * g)
        points.append(x.detach().clone())
    return points


@right
def class_d_04(f, x0, lr, steps):
    points = [x0.detach().clone()]
    for step in range(steps):
        # a fresh leaf in each step, so there is no old grad and no old graph
        x = points[-1].clone().requires_grad_(True)
        loss = f(x)
        if loss.requires_grad:
            loss.backward()
        if x.grad is None:
            gradient = torch.zeros_like(points[-1])   # flat here
        else:
            gradient = x.grad
        points.append(points[-1] - lr * gradient)
    return points


# the update inside no_grad makes a new x that needs no gradient: the second step raises
@raised(effects.no_graph)
def class_d_05(f, x0, lr, steps):
    x = x0.clone().requires_grad_(True)
    points = [x.detach().clone()]
    for _ in range(steps):
        loss = f(x)
        loss.backward()
        with torch.no_grad():
            x = x - lr * x.grad
        points.append(x.detach().clone())
    return points


# only the last point is returned, not the list
@wrong(mistakes.last_point_alone)
def class_d_06(f, x0, lr, steps):
    x = x0.detach().clone()
    for _ in range(steps):
        x.requires_grad_(True)
        loss = f(x)
        if loss.requires_grad:
            grad, = torch.autograd.grad(loss, x)
        else:
            grad = torch.zeros_like(x)
        x = (x - lr * grad).detach()
    return x


# each point is appended before the update, so the last one is missing: steps points
@wrong(mistakes.end_left_out)
def class_d_07(f, x0, lr, steps):
    x = x0.detach().clone().requires_grad_()
    history = []
    for epoch in range(steps):
        history.append(x.detach().clone())
        if x.grad is not None:
            x.grad.zero_()
        loss = f(x)
        if loss.requires_grad:
            loss.backward()
            x.data = x.data - lr * x.grad
    return history


# plus instead of minus: it walks uphill
@wrong(mistakes.walked_uphill)
def class_d_08(f, x0, lr, steps):
    pts = [x0.clone()]
    for _ in range(steps):
        p = pts[-1].clone().requires_grad_()
        v = f(p)
        pts.append(pts[-1] + lr * (torch.autograd.grad(v, p)[0] if v.requires_grad else torch.zeros_like(pts[-1])))
    return pts


# the points are not detached: they require gradients and carry the graph of the whole walk
@wrong(effects.carries_a_graph)
def class_d_09(f, x0, lr, steps):
    x = x0.clone().requires_grad_()
    points = [x]
    for _ in range(steps):
        y = f(x)
        if y.requires_grad:
            g = torch.autograd.grad(y, x, retain_graph=True)[0]
        else:
            g = torch.zeros_like(x)
        x = x - lr * g
        points.append(x)
    return points


@right
def class_d_10(f, x0, lr, steps):
    x = torch.nn.Parameter(x0.detach().clone())
    # SGD refuses a negative lr, maximize does the same thing
    opt = torch.optim.SGD([x], lr=abs(lr), maximize=lr < 0)
    points = [x.detach().clone()]
    for _ in range(steps):
        opt.zero_grad()
        loss = f(x)
        if loss.requires_grad:
            loss.backward()
        opt.step()
        points.append(x.detach().clone())
    return points


# momentum 0.9 is switched on, so from the second step on it is not plain gradient descent
@wrong(mistakes.momentum_added)
def class_d_11(f, x0, lr, steps):
    x = torch.nn.Parameter(x0.detach().clone())
    optimizer = torch.optim.SGD([x], lr=lr, momentum=0.9)
    points = [x.detach().clone()]
    for epoch in range(steps):
        optimizer.zero_grad()
        loss = f(x)
        if loss.requires_grad:
            loss.backward()
        optimizer.step()
        points.append(x.detach().clone())
    return points


# the walk stops early when the gradient is small: fewer than steps + 1 points
@wrong(mistakes.stopped_where_f_is_flat)
def class_d_12(f, x0, lr, steps):
    points = [x0.detach().clone()]
    for _ in range(steps):
        x = points[-1].clone().requires_grad_()
        fx = f(x)
        if not fx.requires_grad:
            break
        g = torch.autograd.grad(fx, x)[0]
        if g.norm() < 1e-6:      # converged
            break
        points.append((x - lr * g).detach())
    return points


# the gradient is computed once at x0 and used in every step
@wrong(mistakes.gradient_of_the_start)
def class_d_13(f, x0, lr, steps):
    leaf = x0.detach().clone().requires_grad_()
    out = f(leaf)
    g = torch.autograd.grad(out, leaf)[0] if out.requires_grad else torch.zeros_like(x0)
    return [x0 - k * lr * g for k in range(steps + 1)]


@right
def class_d_14(f, x0, lr, steps):
    here = x0.detach().clone()
    if steps == 0:
        return [here]
    leaf = here.clone().requires_grad_()
    value = f(leaf)
    slope = torch.autograd.grad(value, leaf)[0] if value.requires_grad else torch.zeros_like(here)
    return [here] + class_d_14(f, here - lr * slope, lr, steps - 1)


# a function that is constant at some point gives a value without a graph, and backward raises
@right
def class_d_15(f, x0, lr, steps):
    x = x0.detach().clone().requires_grad_(True)
    points = [x.detach().clone()]
    for _ in range(steps):
        x.grad = None
        f(x).backward()
        with torch.no_grad():
            x -= lr * x.grad
        points.append(x.detach().clone())
    return points


# the track is allocated in the default float32: float64 points come back rounded to float32
@wrong(effects.wrong_dtype)
def class_d_16(f, x0, lr, steps):
    track = torch.empty(steps + 1, *x0.shape, device=x0.device)
    x = x0.detach().clone()
    track[0] = x
    for k in range(1, steps + 1):
        x = x.detach().requires_grad_()
        val = f(x)
        if val.requires_grad:
            x = x.detach() - lr * torch.autograd.grad(val, x)[0]
        track[k] = x.detach()
    return [t.clone() for t in track]


# the gradient is zeroed before it is used, so the point never moves
@wrong(says='What stands at entry 1 is `x0` itself, value for value.')
def class_d_17(f, x0, lr, steps):
    x = x0.detach().clone().requires_grad_(True)
    points = [x.detach().clone()]
    for i in range(steps):
        loss = f(x)
        if loss.requires_grad:
            loss.backward()
            x.grad.zero_()       # don't forget to zero the gradients!!
            with torch.no_grad():
                x -= lr * x.grad
        points.append(x.detach().clone())
    return points


@right
def class_d_18(f, x0, lr, steps):
    step = lambda x, _: x - lr * vjp(f, x)[1].detach()
    return list(accumulate(range(steps), step, initial=x0.detach().clone()))


# the entries are moved one after the other, each with the gradient at the partly moved point: right only when they
# do not interact
@wrong(mistakes.one_coordinate_after_the_other)
def class_d_19(f, x0, lr, steps):
    x = x0.detach().clone().contiguous()
    points = [x.clone()]
    for _ in range(steps):
        for i in range(x.numel()):
            leaf = x.clone().requires_grad_()
            out = f(leaf)
            if out.requires_grad:
                g = torch.autograd.grad(out, leaf)[0]
                x.view(-1)[i] -= lr * g.reshape(-1)[i]
        points.append(x.clone())
    return points


# central differences in place of the gradient: not accurate enough, in float32 above all
@wrong()
def class_d_20(f, x0, lr, steps, h=1e-4):
    def slope(p):
        g = torch.zeros(p.numel(), dtype=p.dtype, device=p.device)
        for i in range(p.numel()):
            e = torch.zeros_like(g)
            e[i] = h
            e = e.reshape(p.shape)
            g[i] = (f(p + e) - f(p - e)) / (2 * h)
        return g.reshape(p.shape)

    points = [x0.detach().clone()]
    while len(points) < steps + 1:
        points.append(points[-1] - lr * slope(points[-1]))
    return points


# torch.manual_seed(0) resets the random state of the caller
@wrong(effects.changed_rng)
def class_d_21(f, x0, lr, steps):
    torch.manual_seed(0)  # reproducibility
    xs = [x0.detach().clone()]
    for _ in range(steps):
        x = xs[-1].clone().requires_grad_(True)
        out = f(x)
        g = torch.zeros_like(xs[-1])
        if out.requires_grad:
            g = torch.autograd.grad(out, x)[0]
        xs.append(xs[-1] - lr * g)
    return xs


# the gradient is divided by its length, so each step is lr long AND the result is one stacked tensor, not a list
@wrong(effects.wrong_type)
def class_d_22(f, x0, lr, steps):
    points = [x0.detach().clone()]
    for _ in range(steps):
        x = points[-1].clone().requires_grad_()
        out = f(x)
        g = torch.autograd.grad(out, x)[0] if out.requires_grad else torch.zeros_like(points[-1])
        direction = g / (g.norm() + 1e-12)
        points.append(points[-1] - lr * direction)
    return torch.stack(points)


def _walk(f, x, lr):
    while True:
        yield x
        leaf = x.clone().requires_grad_()
        # 0 * sum hangs the leaf in the graph even when f is flat
        g, = torch.autograd.grad(f(leaf) + 0 * leaf.sum(), leaf)
        x = x - lr * g

@right
def class_d_23(f, x0, lr, steps):
    gen = _walk(f, x0.detach().clone(), lr)
    return [next(gen) for _ in range(steps + 1)]


# x becomes a non-leaf after the first update, so its .grad is None and the second step raises AND the later points
# carry a graph
@raised(effects.grad_of_a_non_leaf)
def class_d_24(f, x0, lr, steps):
    x = x0.clone()
    points = [x0.clone()]
    x.requires_grad = True
    for t in range(steps):
        L = f(x)
        L.backward()
        x = x - lr * x.grad
        points.append(x)
    return points


# x0 is moved in place and brought back by adding the steps up again: it comes back with rounding errors
@wrong(effects.changed_input)
def class_d_25(f, x0, lr, steps):
    moved = torch.zeros_like(x0)
    points = [x0.detach().clone()]
    for _ in range(steps):
        leaf = x0.detach().requires_grad_()     # shares memory, no copy needed
        out = f(leaf)
        if out.requires_grad:
            delta = lr * torch.autograd.grad(out, leaf)[0]
            x0 -= delta
            moved += delta
        points.append(x0.detach().clone())
    x0 += moved                                 # undo
    return points


class Walker_of_class_d_26:
    def __init__(self, f, start, lr):
        self.f, self.lr = f, lr
        self.pos = start.detach().clone().requires_grad_()

    def snapshot(self):
        return self.pos.detach().clone()

    def step(self):
        self.pos.grad = None
        with torch.enable_grad():
            height = self.f(self.pos)
        if height.requires_grad:
            height.backward()
            with torch.no_grad():
                self.pos.sub_(self.pos.grad, alpha=self.lr)

@right
def class_d_26(f, x0, lr, steps):
    w = Walker_of_class_d_26(f, x0, lr)
    trail = [w.snapshot()]
    for _ in range(steps):
        w.step()
        trail.append(w.snapshot())
    return trail


# every entry of the list is the same tensor, updated in place, so all points show the last one
@wrong(mistakes.same_tensor_in_list)
def class_e_01(f, x0, lr, steps):
    x = x0.clone().requires_grad_(True)
    path = [x.detach()]
    for step in range(steps):
        loss = f(x)
        x.grad = None
        loss.backward()
        with torch.no_grad():
            x -= lr * x.grad
        path.append(x.detach())
    return path


@right
def class_e_02(f, x0, lr, steps):
    current = x0.detach().clone()
    path = [current]
    for _ in range(steps):
        # a fresh leaf every time, so nothing accumulates
        leaf = current.clone().requires_grad_(True)
        (g,) = torch.autograd.grad(f(leaf), leaf)
        current = current - lr * g
        path.append(current)
    return path


# .grad is never cleared, so every step uses the sum of all gradients so far
@wrong(mistakes.old_gradients_added)
def class_e_03(f, x0, lr, steps):
    x = x0.clone()
    x.requires_grad = True
    points = [x0.clone()]
    for i in range(steps):
        y = f(x)
        y.backward()
        with torch.no_grad():
            x -= lr * x.grad
        points.append(x.detach().clone())
    return points


# after the first step x is no leaf any more, its .grad is None, and the second step raises TypeError
@raised(effects.grad_of_a_non_leaf)
def class_e_04(f, x0, lr, steps):
    x = x0.clone().requires_grad_()
    points = [x0.clone()]
    for i in range(steps):
        f(x).backward()
        x = x - lr * x.grad
        points.append(x.detach().clone())
    return points


# appends before the update only, so the list has steps points and the last one is missing
@wrong(mistakes.end_left_out)
def class_e_05(f, x0, lr, steps):
    x = x0.detach().clone()
    trajectory = []
    for t in range(steps):
        trajectory.append(x.clone())
        v = x.clone().requires_grad_(True)
        loss = f(v)
        loss.backward()
        x = x - lr * v.grad
    return trajectory


# the optimizer is Adam, not plain gradient descent
@wrong(mistakes.steps_scaled_by_past_gradients)
def class_e_06(f, x0, lr, steps):
    w = torch.nn.Parameter(x0.detach().clone())
    optimizer = torch.optim.Adam([w], lr=lr)
    history = [w.detach().clone()]
    for epoch in range(steps):
        optimizer.zero_grad()
        loss = f(w)
        loss.backward()
        optimizer.step()
        history.append(w.detach().clone())
    return history


# the gradient is taken once at x0 and used for all steps
@wrong(mistakes.gradient_of_the_start)
def class_e_07(f, x0, lr, steps):
    a = x0.clone().requires_grad_(True)
    value = f(a)
    value.backward()
    slope = a.grad
    points = [x0.clone()]
    for _ in range(steps):
        points.append(points[-1] - lr * slope)
    return points


@right
def class_e_08(f, x0, lr, steps):
    start = x0.detach().clone()
    if steps == 0:
        return [start]
    probe = start.clone().requires_grad_()
    grad = torch.autograd.grad(f(probe), probe)[0]
    return [start] + class_e_08(f, start - lr * grad, lr, steps - 1)


# detach does not copy, so the in-place steps overwrite x0
@wrong(effects.changed_input)
def class_e_09(f, x0, lr, steps):
    x = x0.detach()          # own tensor, not the user's
    points = [x.clone()]
    for i in range(steps):
        x.requires_grad_(True)
        loss = f(x)
        g = torch.autograd.grad(loss, x)[0]
        x.requires_grad_(False)
        x -= lr * g
        points.append(x.clone())
    return points


# the points after the first still require gradients and hang on a graph
@wrong(effects.carries_a_graph)
def class_e_10(f, x0, lr, steps):
    points = [x0.clone()]
    x = x0.clone().requires_grad_(True)
    for _ in range(steps):
        grad, = torch.autograd.grad(f(x), x)
        x = x - lr * grad
        points.append(x)
    return points


# stops as soon as the gradient is tiny, so the list can be shorter than steps + 1
@wrong(mistakes.stopped_where_f_is_flat)
def class_e_11(f, x0, lr, steps):
    x = x0.detach().clone()
    out = [x]
    for _ in range(steps):
        z = x.clone().requires_grad_(True)
        g, = torch.autograd.grad(f(z), z)
        if g.norm() < 1e-6:   # converged
            break
        x = x - lr * g
        out.append(x)
    return out


def _walk_of_class_e_12(f, x, lr):
    while True:          # endless, the caller takes what it needs
        yield x
        v = x.clone().requires_grad_()
        box = []
        v.register_hook(box.append)
        f(v).backward()
        x = torch.sub(x, box[0] * lr)

@right
def class_e_12(f, x0, lr, steps):
    road = _walk_of_class_e_12(f, x0.detach().clone(), lr)
    return [next(road) for _ in range(steps + 1)]


@right
def class_e_13(f, x0, lr, steps):
    def move(x, _):
        return x - lr * torch.autograd.functional.jacobian(f, x)
    return list(accumulate(range(steps), move, initial=x0.detach().clone()))


# the gradient is a central difference with h = 1e-3, an approximation and a coarse one in float32
@wrong(says='entry 1, entry 2, entry 3, entry 4 and 2 more: right to about 6 to 7 digits, and not further, as an approximation, a rounded number or a lower precision on the way would leave it; a missing factor would be seen in the first digit.')
def class_e_14(f, x0, lr, steps):
    h = 1e-3
    x = x0.clone()
    points = [x.clone()]
    for _ in range(steps):
        g = torch.zeros(x.numel(), dtype=x.dtype, device=x.device)
        for i in range(x.numel()):
            e = torch.zeros(x.numel(), dtype=x.dtype, device=x.device)
            e[i] = h
            e = e.reshape(x.shape)
            g[i] = (f(x + e) - f(x - e)) / (2 * h)
        x = x - lr * g.reshape(x.shape)
        points.append(x.clone())
    return points


# x0 itself is made to require gradients and stays so AND the first point is a clone with a graph
@wrong(effects.carries_a_graph)
def class_e_15(f, x0, lr, steps):
    x0.requires_grad_(True)
    points = [x0.clone()]
    x = x0
    for _ in range(steps):
        g = torch.autograd.grad(f(x), x)[0]
        x = (x - lr * g).detach().requires_grad_(True)
        points.append(x.detach())
    return points


# the step is lr along the unit vector of the gradient, not lr times the gradient
@wrong(mistakes.fixed_step_length)
def class_e_16(f, x0, lr, steps):
    x = x0.clone()
    points = [x.clone()]
    for _ in range(steps):
        x.requires_grad_(True)
        f(x).backward()
        direction = x.grad / (x.grad.norm() + 1e-12)
        x = (x - lr * direction).detach()
        points.append(x.clone())
    return points


# the path is stored in a table of the default dtype, so float64 points come back as float32
@wrong(effects.wrong_dtype)
def class_e_17(f, x0, lr, steps):
    table = torch.zeros((steps + 1,) + tuple(x0.shape), device=x0.device)
    x = x0.detach().clone()
    table[0] = x
    for k in range(1, steps + 1):
        leaf = x.clone().requires_grad_(True)
        f(leaf).backward()
        x = x - lr * leaf.grad
        table[k] = x
    return [row.clone() for row in table]


class Walker_of_class_e_18:
    def __init__(self, f, start, lr):
        self.f, self.lr = f, lr
        self.pos = torch.nn.Parameter(start.detach().clone())

    def here(self):
        return self.pos.detach().clone()

    def step(self):
        self.pos.grad = None
        self.f(self.pos).backward()
        with torch.no_grad():
            self.pos.sub_(self.lr * self.pos.grad)

@right
def class_e_18(f, x0, lr, steps):
    w = Walker_of_class_e_18(f, x0, lr)
    points = [w.here()]
    for _ in range(steps):
        w.step()
        points.append(w.here())
    return points


# walks uphill: subtracts minus the gradient, so the step goes along it
@wrong(mistakes.walked_uphill)
def class_e_19(f, x0, lr, steps):
    x = x0.detach().clone()
    points = [x.clone()]
    for i in range(steps):
        x.requires_grad_(True)
        loss = -f(x)        # minus because we go down
        loss.backward()
        x = x.detach() - lr * x.grad
        points.append(x.clone())
    return points


# coordinates are updated one after the other, each with a gradient at the partly moved point
@wrong(mistakes.one_coordinate_after_the_other)
def class_e_20(f, x0, lr, steps):
    x = x0.detach().clone().contiguous()
    path = [x.clone()]
    for _ in range(steps):
        for i in range(x.numel()):
            z = x.clone().requires_grad_(True)
            g = torch.autograd.grad(f(z), z)[0].reshape(-1)
            x.view(-1)[i] -= lr * g[i]
        path.append(x.clone())
    return path


# the start point is missing from the list AND what is returned is a stacked tensor, not a list
@wrong(effects.wrong_type)
def class_e_21(f, x0, lr, steps):
    x = x0.detach().clone().requires_grad_(True)
    hist = []
    for _ in range(max(steps, 1)):
        g = torch.autograd.grad(f(x), x)[0]
        x = (x.detach() - lr * g).requires_grad_(True)
        hist.append(x.detach().clone())
    return torch.stack(hist)


# gradient mode is switched off for good: torch.set_grad_enabled(False) is never undone
@wrong(effects.changed_global)
def class_e_22(f, x0, lr, steps):
    torch.set_grad_enabled(False)
    x = x0.clone()
    xs = [x]
    for _ in range(steps):
        with torch.enable_grad():
            v = x.clone().requires_grad_(True)
            g = torch.autograd.grad(f(v), v)[0]
        x = x - lr * g
        xs.append(x)
    return xs


# the points are Python floats made with item(): x of more than one entry raises, and no tensors come back
@raised(effects.item_of_many)
def class_e_23(f, x0, lr, steps):
    x = x0.clone()
    points = [x.item()]
    for _ in range(steps):
        x = x.detach().requires_grad_(True)
        f(x).backward()
        x = x - lr * x.grad
        points.append(x.item())
    return points


# a step that does not lower f is refused and the old point kept, instead of always moving
@wrong(mistakes.uphill_steps_refused)
def class_e_24(f, x0, lr, steps):
    x = x0.detach().clone()
    points = [x.clone()]
    for _ in range(steps):
        leaf = x.clone().requires_grad_(True)
        here = f(leaf)
        g, = torch.autograd.grad(here, leaf)
        candidate = x - lr * g
        if f(candidate) < here:      # only walk downhill!
            x = candidate
        points.append(x.clone())
    return points


# the recursion ends at steps == 1, so steps = 0 never meets it and ends in RecursionError
def _next(f, x, lr):
    v = x.detach().clone().requires_grad_(True)
    f(v).backward()
    return x.detach() - lr * v.grad

@raised(effects.too_deep)
def class_e_25(f, x0, lr, steps):
    if steps == 1:
        return [x0.detach().clone(), _next(f, x0, lr)]
    rest = class_e_25(f, x0, lr, steps - 1)
    return rest + [_next(f, rest[-1], lr)]


# no zero_ between the rounds, and the list gets x itself each time
@wrong(mistakes.same_tensor_and_old_gradients)
def neither_cleared_nor_cloned(f, x0, lr, steps):
    x = x0.detach().clone()
    x.requires_grad = True
    path = [x.detach()]
    for _ in range(steps):
        f(x).backward()
        x.data.sub_(x.grad, alpha=lr)
        path.append(x.detach())
    return path


# the slope is measured before the move and used in the next round
@wrong(mistakes.gradient_one_behind)
def slope_kept_for_the_next_round(f, x0, lr, steps):
    def slope(p):
        p = p.detach().clone().requires_grad_(True)
        return torch.autograd.grad(f(p), p)[0]

    here = x0.detach().clone()
    track = [here]
    if steps == 0:
        return track
    g = slope(here)
    for _ in range(steps):
        there = here - lr * g
        g = slope(here)
        here = there
        track.append(here)
    return track


# the gradient is scaled by lr when it is taken, and once more in the update
@wrong(mistakes.learning_rate_squared)
def scaled_twice(f, x0, lr, steps):
    pts = [x0.detach().clone()]
    for _ in range(steps):
        leaf = pts[-1].clone().requires_grad_()
        (lr * f(leaf)).backward()
        pts.append(leaf.detach() - lr * leaf.grad)
    return pts


# a small lr was taken for "many small steps to the unit", so its reciprocal scales the slope
@wrong(mistakes.divided_by_learning_rate)
def gradient_over_lr(f, x0, lr, steps):
    scale = 1 / lr
    cur = x0.detach().clone()
    trail = [cur]
    for _ in range(steps):
        cur = cur - scale * grad(f)(cur)
        trail.append(cur)
    return trail


# a schedule: lr is halved after each step
@wrong(mistakes.learning_rate_decayed)
def halved_after_each_step(f, x0, lr, steps):
    p = x0.detach().clone()
    visited = [p]
    rate = lr
    while len(visited) <= steps:
        p = p.clone().requires_grad_()
        (g,) = torch.autograd.grad(f(p), p)
        p = p.detach() - rate * g
        rate = rate / 2
        visited.append(p)
    return visited


# the gradient is never cleared, so each step uses the sum of all gradients so far
@wrong(mistakes.old_gradients_added)
def class_f_01(f, x0, lr, steps):
    x = x0.clone().detach().requires_grad_(True)
    points = [x0.clone()]
    for i in range(steps):
        loss = f(x)
        loss.backward()
        with torch.no_grad():
            x -= lr * x.grad
        points.append(x.detach().clone())
    return points


# x.detach() shares memory with x, which is updated in place, so all points show the last position
@wrong(mistakes.same_tensor_in_list)
def class_f_02(f, x0, lr, steps):
    x = x0.clone().requires_grad_(True)
    history = [x.detach()]
    for _ in range(steps):
        loss = f(x)
        loss.backward()
        with torch.no_grad():
            x -= lr * x.grad
            x.grad.zero_()
        history.append(x.detach())
    return history


@right
def class_f_03(f, x0, lr, steps):
    # own leaf, so that x0 is not touched
    x = x0.detach().clone()
    x.requires_grad = True
    trajectory = [x.detach().clone()]
    for step in range(steps):
        # forward
        value = f(x)
        # backward
        x.grad = None
        value.backward()
        # update
        with torch.no_grad():
            x.sub_(lr * x.grad)
        trajectory.append(x.detach().clone())
    return trajectory


# the sign is wrong: the walk goes with the gradient, uphill
@wrong(mistakes.walked_uphill)
def class_f_04(f, x0, lr, steps):
    pts = [x0.clone()]
    cur = x0.clone()
    for k in range(steps):
        cur = cur.detach().requires_grad_()
        y = f(cur)
        y.backward()
        cur = (cur + lr * cur.grad).detach()
        pts.append(cur.clone())
    return pts


# the new x is built with autograd on and is no leaf, so its .grad is None in the second step (TypeError), and the
# points carry a graph
@raised(effects.grad_of_a_non_leaf)
def class_f_05(f, x0, lr, steps):
    x = x0.clone()
    x.requires_grad = True
    points = [x0.clone()]
    for i in range(steps):
        loss = f(x)
        loss.backward()
        x = x - lr * x.grad
        points.append(x)
    return points


# each point is stored before its update and the last one is never stored: steps points, not steps + 1
@wrong(mistakes.end_left_out)
def class_f_06(f, x0, lr, steps):
    x = x0.clone().requires_grad_(True)
    path = []
    for i in range(steps):
        path.append(x.detach().clone())
        f(x).backward()
        with torch.no_grad():
            x -= lr * x.grad
        x.grad.zero_()
    return path


# detach() without a clone: the in-place update walks on the memory of x0 and overwrites it
@wrong(effects.changed_input)
def class_f_07(f, x0, lr, steps):
    x = x0.detach().requires_grad_(True)
    out = [x.detach().clone()]
    for _ in range(steps):
        loss = f(x)
        grad, = torch.autograd.grad(loss, x)
        with torch.no_grad():
            x -= lr * grad
        out.append(x.detach().clone())
    return out


@right
def class_f_08(f, x0, lr, steps):
    def step(p, _):
        q = p.detach().requires_grad_()
        return p - lr * torch.autograd.grad(f(q), q)[0]
    return [p.detach().clone() for p in accumulate(range(steps), step, initial=x0.clone())]


# the gradient is taken once at x0 and used again in all steps
@wrong(mistakes.gradient_of_the_start)
def class_f_09(f, x0, lr, steps):
    x = x0.clone().requires_grad_()
    loss = f(x)
    loss.backward()
    g = x.grad.clone()
    pts = [x0.clone()]
    for _ in range(steps):
        pts.append(pts[-1] - lr * g)
    return pts


# SGD is given momentum 0.9, so from the second step on old gradients are mixed in
@wrong(mistakes.momentum_added)
def class_f_10(f, x0, lr, steps):
    x = torch.nn.Parameter(x0.clone())
    opt = torch.optim.SGD([x], lr=lr, momentum=0.9)
    points = [x0.clone()]
    for epoch in range(steps):
        opt.zero_grad()
        loss = f(x)
        loss.backward()
        opt.step()
        points.append(x.detach().clone())
    return points


# x0 itself is made to require gradients and left so AND x0.grad is left filled
@wrong(effects.changed_requires_grad)
def class_f_11(f, x0, lr, steps):
    x0.requires_grad_(True)
    x = x0
    points = [x0.detach().clone()]
    for i in range(steps):
        loss = f(x)
        loss.backward()
        x = (x - lr * x.grad).detach().requires_grad_(True)
        points.append(x.detach().clone())
    return points


# the function returns the last point alone, not the list of all points
@wrong(mistakes.last_point_alone)
def class_f_12(f, x0, lr, steps):
    x = x0.clone().detach().requires_grad_(True)
    for i in range(steps):
        loss = f(x)
        loss.backward()
        with torch.no_grad():
            x -= lr * x.grad
            x.grad.zero_()
    return x.detach()


@right
def class_f_13(f, x0, lr, steps):
    here = x0.detach().clone()
    if steps == 0:
        return [here]
    leaf = x0.detach().clone().requires_grad_(True)
    slope = torch.autograd.grad(f(leaf), leaf)[0].detach()
    return [here] + class_f_13(f, here - lr * slope, lr, steps - 1)


# the loop ends when the gradient gets small, so the list can be shorter than steps + 1
@wrong(mistakes.stopped_where_f_is_flat)
def class_f_14(f, x0, lr, steps):
    x = x0.clone()
    points = [x0.clone()]
    for i in range(steps):
        xr = x.clone().requires_grad_(True)
        g = torch.autograd.grad(f(xr), xr)[0]
        if g.norm() < 1e-6:   # converged, nothing to do any more
            break
        x = x - lr * g
        points.append(x.clone())
    return points


# the points are turned into NumPy arrays, not tensors AND the walk is done in float32 whatever x0's dtype is
@wrong(effects.wrong_type)
def class_f_15(f, x0, lr, steps):
    x = x0.numpy().copy()
    hist = [x.copy()]
    for _ in range(steps):
        t = torch.tensor(x, dtype=torch.float32, requires_grad=True)
        f(t).backward()
        x = np.asarray(t.detach().numpy() - lr * t.grad.numpy())
        hist.append(x.copy())
    return hist


# the gradient is approximated by central differences, not taken exactly
@wrong()
def class_f_16(f, x0, lr, steps):
    h = 1e-4
    x = x0.clone()
    points = [x.clone()]
    for _ in range(steps):
        g = torch.zeros_like(x, memory_format=torch.contiguous_format)
        for i in range(x.numel()):
            e = torch.zeros(x.numel(), dtype=x.dtype, device=x.device)
            e[i] = h
            e = e.reshape(x.shape)
            g.view(-1)[i] = (f(x + e) - f(x - e)) / (2 * h)
        x = x - lr * g
        points.append(x.clone())
    return points


# torch.tensor(x.tolist()) builds float32 tensors, so a float64 x0 loses its dtype and digits
@wrong(effects.wrong_dtype)
def class_f_17(f, x0, lr, steps):
    pts = [torch.tensor(x0.tolist())]
    for _ in range(steps):
        x = torch.tensor(pts[-1].tolist(), requires_grad=True)
        pts.append((x - lr * torch.autograd.grad(f(x), x)[0]).detach())
    return pts


# create_graph=True and no detach: the points after the first carry a graph through the whole walk
@wrong(effects.carries_a_graph)
def class_f_18(f, x0, lr, steps):
    x = x0.clone().requires_grad_(True)
    points = [x0.clone()]
    for _ in range(steps):
        (g,) = torch.autograd.grad(f(x), x, create_graph=True)
        x = x - lr * g
        points.append(x)
    return points


# the gradient is clipped to norm 1 before the step
@wrong()
def class_f_19(f, x0, lr, steps):
    w = torch.nn.Parameter(x0.detach().clone())
    path = [w.detach().clone()]
    for _ in range(steps):
        w.grad = None
        f(w).backward()
        torch.nn.utils.clip_grad_norm_([w], 1.0)   # otherwise it explodes for big x
        with torch.no_grad():
            w -= lr * w.grad
        path.append(w.detach().clone())
    return path


# a leaf that requires gradients is changed in place outside no_grad: RuntimeError from the first step on
@raised(effects.in_place_on_a_leaf)
def class_f_20(f, x0, lr, steps):
    x = x0.clone().requires_grad_(True)
    points = [x.detach().clone()]
    for t in range(steps):
        y = f(x)
        y.backward()
        x -= lr * x.grad
        x.grad.zero_()
        points.append(x.detach().clone())
    return points


class Walker_of_class_f_21:
    """Keeps its place on the hill and takes one step down at a time."""
    def __init__(self, f, start, lr):
        self.f, self.lr = f, lr
        self.place = start.detach().clone()

    def slope(self):
        return torch.autograd.functional.jacobian(self.f, self.place)

    def step(self):
        self.place = self.place - self.lr * self.slope()
        return self.place.clone()

@right
def class_f_21(f, x0, lr, steps):
    walker = Walker_of_class_f_21(f, x0, lr)
    points = [walker.place.clone()]
    points.extend(walker.step() for _ in range(steps))
    return points


# a step that makes f larger is rejected and lr is halved, so it is no plain gradient descent when lr is large
@wrong(says='It fails on case 7 alone, where the learning rate is above 1.')
def class_f_22(f, x0, lr, steps):
    best = x0.detach().clone()
    pts = [best.clone()]
    for _ in range(steps):
        b = best.clone().requires_grad_(True)
        value = f(b)
        g = torch.autograd.grad(value, b)[0]
        new = best - lr * g
        if f(new) > value:
            lr = lr / 2
        else:
            best = new
        pts.append(best.clone())
    return pts


# the gradient is scaled in place by mul_, which raises RuntimeError when autograd hands back an expanded gradient
# (f = sum)
@raised(says='It fails on case 10 alone, where f is the sum of the entries.')
def class_f_23(f, x0, lr, steps):
    points = [x0.clone()]
    for _ in range(steps):
        x = points[-1].clone().requires_grad_(True)
        grad = torch.autograd.grad(f(x), x)[0]
        step = grad.mul_(lr)
        points.append(x.detach() - step)
    return points


# x0 is missing from the list AND the gradient is divided by its length, so only the direction is used
@wrong(says='The list has 1 entry too few on each of these cases.')
def class_f_24(f, x0, lr, steps):
    x = x0.clone().requires_grad_(True)
    points = []
    for i in range(steps):
        loss = f(x)
        loss.backward()
        direction = x.grad / x.grad.norm()
        with torch.no_grad():
            x -= lr * direction
        x.grad = None
        points.append(x.detach().clone())
    return points


@right
def class_f_25(f, x0, lr, steps):
    x = x0.detach().clone().requires_grad_()
    points = [x.detach().clone()]

    def move(p):
        with torch.no_grad():
            p -= lr * p.grad
        p.grad = None
        points.append(p.detach().clone())

    handle = x.register_post_accumulate_grad_hook(move)
    for _ in range(steps):
        f(x).backward()
    handle.remove()
    return points


# every step's entry is x.data, a view of the one tensor that is updated in place, so all entries after the first
# show the last point
@wrong(mistakes.same_tensor_in_list)
def class_g_01(f, x0, lr, steps):
    x = x0.clone().requires_grad_(True)
    points = [x0.clone()]
    for i in range(steps):
        loss = f(x)
        loss.backward()
        with torch.no_grad():
            x -= lr * x.grad      # go downhill
        x.grad.zero_()
        points.append(x.data)     # save where we are now
    return points


@right
def class_g_02(f, x0, lr, steps):
    x = x0.detach().clone()
    points = [x]
    for step in range(steps):
        # make a fresh leaf for every step, so nothing accumulates
        leaf = x.clone().requires_grad_(True)
        loss = f(leaf)
        loss.backward()
        x = x - lr * leaf.grad
        points.append(x)
    return points


# .grad is never cleared between the steps, so each step moves by the sum of all gradients so far
@wrong(mistakes.old_gradients_added)
def class_g_03(f, x0, lr, steps):
    w = x0.clone().detach()
    w.requires_grad = True
    history = [w.detach().clone()]
    for epoch in range(steps):
        loss = f(w)
        loss.backward()
        with torch.no_grad():
            w -= lr * w.grad
        history.append(w.detach().clone())
    return history


# after the first update x is no leaf any more, its .grad is None, so the second step raises (and the points carry a
# graph)
@raised(effects.grad_of_a_non_leaf)
def class_g_04(f, x0, lr, steps):
    x = x0.clone()
    x.requires_grad_()
    points = [x0.clone()]
    for _ in range(steps):
        y = f(x)
        y.backward()
        x = x - lr * x.grad
        points.append(x)
    return points


# the points are x.clone() of a tensor that requires gradients, so every point carries a graph (detach is missing)
@wrong(effects.carries_a_graph)
def class_g_05(f, x0, lr, steps):
    x = x0.clone().requires_grad_(True)
    points = []
    points.append(x.clone())
    for i in range(steps):
        if x.grad is not None:
            x.grad.zero_()
        f(x).backward()
        with torch.no_grad():
            x -= lr * x.grad
        points.append(x.clone())   # clone, else they are all the same tensor
    return points


# x is x0 itself: the caller's x0 walks downhill in place and is left requiring gradients with a .grad
@wrong(effects.changed_requires_grad)
def class_g_06(f, x0, lr, steps):
    x = x0
    x.requires_grad_(True)
    trajectory = [x.detach().clone()]
    for t in range(steps):
        value = f(x)
        value.backward()
        with torch.no_grad():
            x -= lr * x.grad
            x.grad.zero_()
        trajectory.append(x.detach().clone())
    return trajectory


@right
def class_g_07(f, x0, lr, steps):
    step = lambda p, _: (p - lr * jacobian(f, p)).detach()
    return list(accumulate(repeat(None, steps), step, initial=x0.detach().clone()))


# the step subtracts lr times the value of f, not lr times its gradient
@wrong(mistakes.value_for_gradient)
def class_g_08(f, x0, lr, steps):
    x = x0.clone()
    points = [x]
    for i in range(steps):
        loss = f(x)
        x = x - lr * loss      # move against the loss
        points.append(x.clone())
    return points


# each point is appended before the update, so x0 stands in the list twice and the last point is missing
@wrong(says='What stands at entry 1 is `x0` itself, value for value.')
def class_g_09(f, x0, lr, steps):
    points = [x0.clone()]
    x = x0.clone()
    for i in range(steps):
        x = x.detach().requires_grad_(True)
        loss = f(x)
        loss.backward()
        points.append(x.detach().clone())
        with torch.no_grad():
            x = x - lr * x.grad
    return points


# the gradient is computed once, at x0, and the same one is used in every step
@wrong(mistakes.gradient_of_the_start)
def class_g_10(f, x0, lr, steps):
    x = x0.clone().requires_grad_(True)
    loss = f(x)
    loss.backward()
    grad = x.grad.clone()

    points = [x0.clone()]
    for i in range(steps):
        points.append(points[-1] - lr * grad)
    return points


# it adds lr times the gradient (climbs instead of descending) AND the starting point is missing from the list
@wrong(says='The list has 1 entry too few on each of these cases.')
def class_g_11(f, x0, lr, steps):
    x = x0.clone()
    g = lambda p: torch.autograd.grad(f(q := p.detach().requires_grad_()), q)[0]
    return [x := torch.add(x, g(x), alpha=lr) for _ in range(steps)]


# it stops as soon as the gradient is small, so the list is shorter than steps + 1 where the walk converges or
# starts at a minimum
@wrong(mistakes.stopped_where_f_is_flat)
def class_g_12(f, x0, lr, steps, tol=1e-6):
    x = x0.detach().clone()
    path = [x.clone()]
    for k in range(steps):
        x.requires_grad_(True)
        g, = torch.autograd.grad(f(x), x)
        if g.norm() < tol:
            break   # converged, nothing to do any more
        x = (x - lr * g).detach()
        path.append(x.clone())
    return path


@right
def class_g_13(f, x0, lr, steps):
    here = x0.detach().clone()
    if steps == 0:
        return [here]
    probe = here.clone().requires_grad_()
    with torch.enable_grad():
        (slope,) = torch.autograd.grad(f(probe), [probe])
    return [here] + class_g_13(f, here - lr * slope, lr, steps - 1)


# the points are kept in a torch.empty of the default dtype, so a float64 x0 comes back rounded to float32
@wrong(effects.wrong_dtype)
def class_g_14(f, x0, lr, steps):
    track = torch.empty(steps + 1, *x0.shape)     # preallocate, faster than append
    x = x0.clone()
    track[0] = x
    for i in range(1, steps + 1):
        x.requires_grad_(True)
        grad = torch.autograd.grad(f(x), x)[0]
        x = x.detach() - lr * grad
        track[i] = x
    return [row.clone() for row in track]


# the points are NumPy arrays, not tensors AND they are all views of the one memory that is updated in place
@wrong(effects.wrong_type)
def class_g_15(f, x0, lr, steps):
    x = torch.tensor(x0.numpy(), requires_grad=True)
    pts = [x.detach().numpy()]
    for _ in range(steps):
        f(x).backward()
        a = x.detach().numpy()
        a -= lr * np.asarray(x.grad)
        x.grad = None
        pts.append(a)
    return pts


# the optimizer has momentum=0.9, so from the second step on it moves by more than lr times the gradient
@wrong(mistakes.momentum_added)
def class_g_16(f, x0, lr, steps):
    w = nn.Parameter(x0.clone())
    optimizer = torch.optim.SGD([w], lr=lr, momentum=0.9)
    points = [w.detach().clone()]
    for epoch in range(steps):
        optimizer.zero_grad()
        loss = f(w)
        loss.backward()
        optimizer.step()
        points.append(w.detach().clone())
    return points


@right
def class_g_17(f, x0, lr, steps):
    path = [x0]                      # the start itself is never written to
    x = x0.detach().clone()
    for _ in range(steps):
        x.requires_grad_(True)
        x.grad = None
        f(x).backward()
        x.data.sub_(x.grad, alpha=lr)
        path.append(x.data.clone())
    return path


# it returns one stacked tensor instead of a list of points
@wrong(effects.wrong_type)
def class_g_18(f, x0, lr, steps):
    xs = [x0.clone()]
    for _ in range(steps):
        cur = xs[-1].clone().requires_grad_(True)
        f(cur).backward()
        xs.append((cur - lr * cur.grad).detach())
    return torch.stack(xs)


# the entries (rows) are moved one after another, each with a gradient taken after the earlier ones have moved AND a
# 0-d x0 raises at len(x)
@raised(effects.length_of_a_0_d_tensor)
def class_g_19(f, x0, lr, steps):
    x = x0.clone()
    points = [x.clone()]
    for s in range(steps):
        for i in range(len(x)):
            v = x.clone().requires_grad_(True)
            f(v).backward()
            x[i] = x[i] - lr * v.grad[i]
        points.append(x.clone())
    return points


# the gradient is only approximated, by forward differences with h = 1e-3, so the points are off already for a
# square
@wrong()
def class_g_20(f, x0, lr, steps):
    h = 1e-3
    def slope(p):
        g = torch.zeros_like(p)
        for i in range(p.numel()):
            bump = torch.zeros(p.numel(), dtype=p.dtype, device=p.device)
            bump[i] = h
            g.view(-1)[i] = (f(p + bump.reshape(p.shape)) - f(p)) / h
        return g
    x = x0.clone().contiguous()
    points = [x]
    for _ in range(steps):
        x = x - lr * slope(x)
        points.append(x)
    return points


class Walker_of_class_g_21:
    def __init__(self, f, start, lr):
        self.f = f
        self.lr = lr
        self.at = start.detach().clone()

    def gradient(self):
        leaf = self.at.clone().requires_grad_(True)
        caught = []
        leaf.register_hook(caught.append)
        self.f(leaf).backward()
        return caught[0].detach()

    def walk(self, steps):
        yield self.at
        while steps > 0:
            self.at = self.at - self.gradient() * self.lr
            yield self.at
            steps -= 1

@right
def class_g_21(f, x0, lr, steps):
    return list(Walker_of_class_g_21(f, x0, lr).walk(steps))


# the gradient is clipped to norm 1 before the step AND the entries are (point, loss) tuples, not points
@wrong(effects.wrong_type)
def class_g_22(f, x0, lr, steps):
    x = torch.nn.Parameter(x0.clone())
    log = [(x.detach().clone(), f(x).item())]
    for i in range(steps):
        loss = f(x)
        loss.backward()
        torch.nn.utils.clip_grad_norm_([x], 1.0)
        with torch.no_grad():
            x -= lr * x.grad
        x.grad.zero_()
        log.append((x.detach().clone(), f(x).item()))
    return log


# f is evaluated under no_grad, so its value has no graph and backward raises as soon as there is a step
@raised(effects.no_graph)
@torch.no_grad()
def class_g_23(f, x0, lr, steps):
    # no_grad because the points must not have a graph
    x = x0.clone().requires_grad_(True)
    points = [x.detach().clone()]
    for i in range(steps):
        f(x).backward()
        x -= lr * x.grad
        x.grad.zero_()
        points.append(x.detach().clone())
    return points


# lr becomes a float32 tensor, so with a float64 x0 every step uses a learning rate rounded to float32
@wrong(says='entry 1, entry 2, entry 3, entry 4 and 2 more: right to about 6 to 8 digits, and not further, as an approximation, a rounded number or a lower precision on the way would leave it; a missing factor would be seen in the first digit.')
def class_g_24(f, x0, lr, steps):
    lr = torch.tensor(lr, dtype=torch.float32, device=x0.device)
    x = x0.detach().clone()
    out = [x]
    for _ in range(steps):
        leaf = x.detach().requires_grad_(True)
        g, = torch.autograd.grad(f(leaf), leaf)
        x = x - (lr * g).to(x.dtype)
        out.append(x)
    return out


# it uses 2 * x as the gradient, which is right for the sum of squares alone, and never looks at f
@wrong(says='On each of these cases entry 0 is right; from entry 1 on the list parts from the right one.')
def class_g_25(f, x0, lr, steps):
    # the gradient of x**2 is 2x
    points = [x0.clone()]
    for i in range(steps):
        x = points[-1]
        grad = 2 * x
        points.append(x - lr * grad)
    return points


# x.grad is never cleared between the steps, so each step moves against the sum of all gradients so far
@wrong(mistakes.old_gradients_added)
def class_h_01(f, x0, lr, steps):
    x = x0.clone().detach().requires_grad_(True)
    path = [x.detach().clone()]
    for step in range(steps):
        loss = f(x)
        loss.backward()
        with torch.no_grad():
            x -= lr * x.grad
        path.append(x.detach().clone())
    return path


@right
def class_h_02(f, x0, lr, steps):
    x = x0.detach().clone()
    points = [x]
    for _ in range(steps):
        probe = x.clone().requires_grad_(True)
        g, = torch.autograd.grad(f(probe), probe)
        x = x - lr * g
        points.append(x)
    return points


# the same tensor, changed in place, is appended every time, without a copy, so all entries show the last point AND
# that tensor requires gradients
@wrong(mistakes.same_tensor_in_list)
def class_h_03(f, x0, lr, steps):
    x = x0.clone()
    x.requires_grad = True
    points = [x]
    for i in range(steps):
        y = f(x)
        y.backward()
        x.data = x.data - lr * x.grad
        x.grad.zero_()
        points.append(x)
    return points


# the new point is a non-leaf after the first step, its .grad is None, and the second step raises
@raised(effects.grad_of_a_non_leaf)
def class_h_04(f, x0, lr, steps):
    x = x0.clone().requires_grad_()
    out = [x0.clone()]
    for k in range(steps):
        f(x).backward()
        x = x - lr * x.grad      # move
        out.append(x.detach().clone())
    return out


# it uses SGD with momentum 0.9, so from the second step on it does not move by lr times the gradient alone
@wrong(mistakes.momentum_added)
def class_h_05(f, x0, lr, steps):
    param = torch.nn.Parameter(x0.clone())
    optimizer = torch.optim.SGD([param], lr=lr, momentum=0.9)
    history = [param.detach().clone()]
    for epoch in range(steps):
        optimizer.zero_grad()
        loss = f(param)
        loss.backward()
        optimizer.step()
        history.append(param.detach().clone())
    return history


@right
def class_h_06(f, x0, lr, steps):
    """SGD without momentum is exactly the update we need."""
    param = torch.nn.Parameter(x0.detach().clone())
    opt = torch.optim.SGD([param], lr=lr)

    def snapshot():
        return param.detach().clone()

    trajectory = [snapshot()]
    while len(trajectory) < steps + 1:
        opt.zero_grad()
        f(param).backward()
        opt.step()
        trajectory.append(snapshot())
    return trajectory


# the point is recorded before the step and the last one is never recorded: steps points come back, not steps + 1
@wrong(mistakes.end_left_out)
def class_h_07(f, x0, lr, steps):
    x = x0.detach().clone()
    points = []
    for t in range(steps):
        points.append(x.clone())
        x.requires_grad_(True)
        loss = f(x)
        grad = torch.autograd.grad(loss, x)[0]
        x = (x - lr * grad).detach()
    return points


# the points carry the graph of the update, x is never detached
@wrong(effects.carries_a_graph)
def class_h_08(f, x0, lr, steps):
    x = x0.clone()
    x.requires_grad_(True)
    points = [x0.clone()]
    for t in range(steps):
        (g,) = torch.autograd.grad(f(x), x)
        x = x - lr * g
        points.append(x)
    return points


# f is never asked for its gradient: it moves against 2 * x, which is right for the sum of squares only
@wrong(says='On each of these cases entry 0 is right; from entry 1 on the list parts from the right one.')
def class_h_09(f, x0, lr, steps):
    # f(x) = (x ** 2).sum()  ->  gradient 2x
    points = [x0.clone()]
    for _ in range(steps):
        x = points[-1]
        points.append(x - lr * 2 * x)
    return points


# x0.detach() shares memory with x0 and the in-place step changes x0
@wrong(effects.changed_input)
def class_h_10(f, x0, lr, steps):
    x = x0.detach().requires_grad_()
    res = [x0.clone()]
    for _ in range(steps):
        x.grad = None
        f(x).backward()
        with torch.no_grad():
            x.sub_(lr * x.grad)
            res.append(x.clone())
    return res


# x0 itself is made to require gradients for the first gradient, and its .grad is left filled (requires_grad is
# switched back)
@wrong(effects.changed_grad)
def class_h_11(f, x0, lr, steps):
    points = [x0.clone()]
    cur = x0
    for _ in range(steps):
        cur.requires_grad_(True)
        f(cur).backward()
        cur.requires_grad_(False)
        cur = cur - lr * cur.grad
        points.append(cur)
    return points


@right
def class_h_12(f, x0, lr, steps):
    def step(x, _):
        z = x.detach().requires_grad_()
        return x.sub(torch.autograd.grad(f(z), z)[0], alpha=lr)
    return list(accumulate(repeat(None, steps), step, initial=x0.detach().clone()))


# the gradient is computed once, at x0, and used for all steps
@wrong(mistakes.gradient_of_the_start)
def class_h_13(f, x0, lr, steps):
    g = grad(f)(x0)
    return [x0 - lr * k * g for k in range(steps + 1)]


# the step goes up the gradient, not down AND the result is one stacked tensor, not a list
@wrong(effects.wrong_type)
def class_h_14(f, x0, lr, steps):
    xs = [x0.clone()]
    for i in range(steps):
        x = xs[-1].clone().requires_grad_(True)
        loss = f(x)
        loss.backward()
        xs.append((x + lr * x.grad).detach())
    return torch.stack(xs)


# it stops as soon as the gradient is almost zero, so the list is shorter than steps + 1 when the walk converges or
# starts at a minimum
@wrong(mistakes.stopped_where_f_is_flat)
def class_h_15(f, x0, lr, steps, tol=1e-6):
    x = x0.clone()
    points = [x]
    for _ in range(steps):
        v = x.clone().requires_grad_(True)
        f(v).backward()
        if v.grad.norm() < tol:
            break  # converged
        x = x - lr * v.grad
        points.append(x)
    return points


# a step that does not lower f is taken back and lr is halved, so it is wrong whenever lr overshoots
@wrong(says='It fails on case 7 alone, where the learning rate is above 1.')
def class_h_16(f, x0, lr, steps):
    current = x0.detach().clone()
    points = [current.clone()]
    for _ in range(steps):
        leaf = current.clone().requires_grad_(True)
        value = f(leaf)
        value.backward()
        candidate = current - lr * leaf.grad
        if f(candidate) > value.detach():
            lr = lr / 2
            candidate = current.clone()
        current = candidate
        points.append(current)
    return points


# the gradient is clipped to norm 1, so it is wrong wherever the gradient is longer than that
@wrong()
def class_h_17(f, x0, lr, steps):
    w = x0.clone().requires_grad_(True)
    weights = [w.detach().clone()]
    for _ in range(steps):
        w.grad = None
        f(w).backward()
        torch.nn.utils.clip_grad_norm_([w], max_norm=1.0)   # stability
        with torch.no_grad():
            w -= lr * w.grad
        weights.append(w.detach().clone())
    return weights


# the point is rebuilt from a Python list, so it becomes float32 (the default dtype) even when x0 is float64
@wrong(effects.wrong_dtype)
def class_h_18(f, x0, lr, steps):
    values = [x0.clone()]
    for _ in range(steps):
        x = torch.tensor(values[-1].tolist(), requires_grad=True)
        loss = f(x)
        loss.backward()
        values.append(x.detach() - lr * x.grad)
    return values


@right
def class_h_19(f, x0, lr, steps):
    here = x0.clone()
    if steps == 0:
        return [here]
    leaf = x0.clone()
    leaf.requires_grad = True
    f(leaf).backward()
    return [here] + class_h_19(f, here - lr * leaf.grad, lr, steps - 1)


# the gradient is measured by forward differences with h = 1e-4, an approximation far below the precision of the
# dtype
@wrong()
def class_h_20(f, x0, lr, steps):
    h = 1e-4
    x = x0.clone()
    pts = [x.clone()]
    for _ in range(steps):
        base = f(x)
        g = torch.zeros(x.shape, dtype=x.dtype, device=x.device)
        for i in range(x.numel()):
            e = torch.zeros(x.numel(), dtype=x.dtype, device=x.device)
            e[i] = h
            g.view(-1)[i] = (f(x + e.reshape(x.shape)) - base) / h
        x = x - lr * g
        pts.append(x.clone())
    return pts


# the leaf that requires gradients is changed in place outside no_grad, which raises a RuntimeError in the first
# step
@raised(effects.in_place_on_a_leaf)
def class_h_21(f, x0, lr, steps):
    x = x0.clone().requires_grad_(True)
    points = [x.detach().clone()]
    for _ in range(steps):
        f(x).backward()
        x -= lr * x.grad
        x.grad.zero_()
        points.append(x.detach().clone())
    return points


# the entries are updated one after the other, each with a gradient at the already half moved point (coordinate
# descent), so it is right only for f without cross terms
@wrong(mistakes.one_coordinate_after_the_other)
def class_h_22(f, x0, lr, steps):
    x = x0.detach().clone().contiguous()
    result = [x.clone()]
    for _ in range(steps):
        for i in range(x.numel()):
            v = x.clone().requires_grad_(True)
            g = torch.autograd.grad(f(v), v)[0]
            x.view(-1)[i] -= lr * g.reshape(-1)[i]
        result.append(x.clone())
    return result


# the values of f along the walk are returned in place of the points AND the value at the last point is missing, so
# there are steps entries
@wrong(mistakes.values_for_points)
def class_h_23(f, x0, lr, steps):
    x = x0.clone().requires_grad_(True)
    losses = []
    for epoch in range(steps):
        loss = f(x)
        loss.backward()
        with torch.no_grad():
            x -= lr * x.grad
            x.grad.zero_()
        losses.append(loss.detach())
    return losses


# the gradient is divided by its length, so every step is lr long AND the random state is changed by a seed
torch.manual_seed(42)

@wrong(mistakes.fixed_step_length)
def class_h_24(f, x0, lr, steps):
    torch.manual_seed(42)
    p = x0.detach().clone()
    visited = [p]
    for _ in range(steps):
        q = p.clone().requires_grad_(True)
        d = torch.autograd.grad(f(q), q)[0]
        d = d / (d.norm() + 1e-12)     # direction of steepest descent
        p = p - lr * d
        visited.append(p)
    return visited


class Walker_of_class_h_25:
    def __init__(self, f, start, lr):
        self.f = f
        self.pos = start.detach().clone()
        self.lr = lr

    def slope(self):
        with torch.enable_grad():
            p = self.pos.clone().requires_grad_(True)
            self.f(p).backward()
        return p.grad

    def walk(self, n):
        yield self.pos
        for _ in range(n):
            self.pos = self.pos - self.lr * self.slope()
            yield self.pos

@right
def class_h_25(f, x0, lr, steps):
    return [*Walker_of_class_h_25(f, x0, lr).walk(steps)]


@right
def class_i_01(f, x0, lr, steps):
    x = x0.detach().clone()
    points = [x]
    for _ in range(steps):
        x = x.clone().requires_grad_(True)
        (g,) = torch.autograd.grad(f(x), x)
        x = (x - lr * g).detach()
        points.append(x)
    return points


# detach() shares its memory with the one tensor that is moved in place, so all points of the list hold the last
# point
@wrong(mistakes.same_tensor_in_list)
def class_i_02(f, x0, lr, steps):
    x = x0.clone().requires_grad_(True)
    points = [x.detach()]
    for i in range(steps):
        loss = f(x)
        loss.backward()
        with torch.no_grad():
            x -= lr * x.grad
            x.grad.zero_()
        points.append(x.detach())
    return points


# the gradient is never cleared, so every step moves by the sum of all gradients so far
@wrong(mistakes.old_gradients_added)
def class_i_03(f, x0, lr, steps):
    x = x0.clone()
    x.requires_grad = True
    path = [x0.clone()]
    for step in range(steps):
        loss = f(x)
        loss.backward()
        with torch.no_grad():
            x -= lr * x.grad
        path.append(x.detach().clone())
    return path


# after the first step x is no leaf any more, so x.grad is None and the second step raises a TypeError
@raised(effects.grad_of_a_non_leaf)
def class_i_04(f, x0, lr, steps):
    x = x0.clone().requires_grad_()
    points = [x.detach().clone()]
    for i in range(steps):
        y = f(x)
        y.backward()
        x = x - lr * x.grad        # update
        points.append(x.detach().clone())
    return points


# x0 itself is made to require gradients and is left so, with a .grad of its own
@wrong(effects.changed_requires_grad)
def class_i_05(f, x0, lr, steps):
    x0.requires_grad_(True)
    points = [x0.detach().clone()]
    x = x0
    for i in range(steps):
        x.grad = None
        f(x).backward()
        with torch.no_grad():
            new = x - lr * x.grad
        x = new.requires_grad_(True)
        points.append(new.detach().clone())
    return points


# detach() shares its memory with x0, so the in-place steps walk x0 away
@wrong(effects.changed_input)
def class_i_06(f, x0, lr, steps):
    x = x0.detach()            # a copy without graph
    x.requires_grad_(True)
    history = [x.detach().clone()]
    for _ in range(steps):
        x.grad = None
        loss = f(x)
        loss.backward()
        x.data -= lr * x.grad
        history.append(x.detach().clone())
    x.requires_grad_(False)
    return history


# the point is recorded before the step, so the list has only steps points and the last one is missing
@wrong(mistakes.end_left_out)
def class_i_07(f, x0, lr, steps):
    w = torch.nn.Parameter(x0.clone())
    optimizer = torch.optim.SGD([w], lr=lr)
    trajectory = []
    for epoch in range(steps):
        trajectory.append(w.detach().clone())
        optimizer.zero_grad()
        loss = f(w)
        loss.backward()
        optimizer.step()
    return trajectory


@right
def class_i_08(f, x0, lr, steps):
    w = torch.nn.Parameter(x0.detach().clone())
    optimizer = torch.optim.SGD([w], lr=lr)
    trajectory = [w.detach().clone()]
    for epoch in range(steps):
        optimizer.zero_grad()
        loss = f(w)
        loss.backward()
        optimizer.step()
        trajectory.append(w.detach().clone())
    return trajectory


# Adam is used instead of a plain step of lr times the gradient
@wrong(mistakes.steps_scaled_by_past_gradients)
def class_i_09(f, x0, lr, steps):
    x = x0.clone().requires_grad_(True)
    opt = torch.optim.Adam([x], lr=lr)
    pts = [x.detach().clone()]
    for _ in range(steps):
        opt.zero_grad()
        f(x).backward()
        opt.step()
        pts.append(x.detach().clone())
    return pts


# the points are never detached: every point but the first carries the graph of all steps before it
@wrong(effects.carries_a_graph)
def class_i_10(f, x0, lr, steps):
    xs = [x0.clone()]
    x = x0.clone().requires_grad_()
    for _ in range(steps):
        x = x - lr * torch.autograd.grad(f(x), x)[0]
        xs.append(x)
    return xs


# f is called once and its graph walked again and again with x changed under it through .data, so the intermediate
# values stay those of x0 and later gradients are wrong unless f is as simple as a sum of squares
@wrong(says='Right: entry 0 and entry 1. Wrong: entry 2, entry 3 and entry 4.')
def class_i_11(f, x0, lr, steps):
    x = x0.clone().requires_grad_(True)
    loss = f(x)
    points = [x0.clone()]
    for _ in range(steps):
        x.grad = None
        loss.backward(retain_graph=True)
        x.data = x.data - lr * x.grad
        points.append(x.data.clone())
    return points


@right
def class_i_12(f, x0, lr, steps):
    here = x0.detach().clone()
    if steps == 0:
        return [here]
    leaf = here.clone().requires_grad_(True)
    f(leaf).backward()
    nxt = here - lr * leaf.grad
    return [here] + class_i_12(f, nxt, lr, steps - 1)


# the recursion puts the start behind the walk, so the list runs from the last point to the first
@wrong(says='The numbers are those of a known mistake, in reverse order. The list ends early where f is flat (stopped-where-f-is-flat)')
def class_i_13(f, x0, lr, steps):
    if steps <= 0:
        return [x0.clone()]
    x = x0.clone().requires_grad_(True)
    g = torch.autograd.grad(f(x), x)[0]
    return class_i_13(f, x0 - lr * g, lr, steps - 1) + [x0.clone()]


# a step that would not lower f is thrown away and the point stays, where the exercise always steps
@wrong(mistakes.uphill_steps_refused)
def class_i_14(f, x0, lr, steps):
    x = x0.clone()
    points = [x.clone()]
    for _ in range(steps):
        x.requires_grad_(True)
        old = f(x)
        g, = torch.autograd.grad(old, x)
        x = x.detach()
        candidate = x - lr * g
        # only walk if it really goes downhill
        if f(candidate) < old:
            x = candidate
        points.append(x.clone())
    return points


# it stops as soon as the gradient is tiny, so the list is shorter than steps + 1 at a flat point
@wrong(mistakes.stopped_where_f_is_flat)
def class_i_15(f, x0, lr, steps, tol=1e-8):
    x = x0.clone()
    out = [x]
    for k in range(steps):
        z = x.clone().requires_grad_(True)
        g = torch.autograd.grad(f(z), z)[0]
        if g.norm() < tol:
            break
        x = x - lr * g
        out.append(x)
    return out


# the start is rebuilt with torch.tensor(..., dtype=torch.float32), so float64 becomes float32 AND the points come
# back as NumPy arrays
@wrong(effects.wrong_type)
def class_i_16(f, x0, lr, steps):
    x = torch.tensor(x0.detach().cpu().numpy(), dtype=torch.float32, requires_grad=True)
    path = [x.detach().numpy().copy()]
    for _ in range(steps):
        loss = f(x)
        loss.backward()
        with torch.no_grad():
            x -= lr * x.grad
        x.grad.zero_()
        path.append(np.array(x.detach().numpy()))
    return path


# the entries are moved one after another, each with a gradient taken after the earlier entries have moved
# (coordinate descent) AND len() raises on a 0-d x0
@raised(effects.length_of_a_0_d_tensor)
def class_i_17(f, x0, lr, steps):
    x = x0.clone()
    points = [x.clone()]
    for s in range(steps):
        for i in range(len(x)):
            leaf = x.clone().requires_grad_(True)
            f(leaf).backward()
            x[i] = x[i] - lr * leaf.grad[i]
        points.append(x.clone())
    return points


# the gradient is approximated by central differences, which is too coarse, in float32 above all
@wrong()
def class_i_18(f, x0, lr, steps):
    h = 1e-4
    def slope(p):
        g = torch.zeros_like(p)
        for idx in range(p.numel()):
            d = torch.zeros(p.numel(), dtype=p.dtype, device=p.device)
            d[idx] = h
            d = d.reshape(p.shape)
            g = g + (f(p + d) - f(p - d)) / (2 * h) * (d / h)
        return g
    pts = [x0.clone()]
    for _ in range(steps):
        pts.append(pts[-1] - lr * slope(pts[-1]))
    return pts


# the whole walk stands under no_grad, so f builds no graph and backward raises a RuntimeError
@raised(effects.no_graph)
@torch.no_grad()
def class_i_19(f, x0, lr, steps):
    x = x0.clone()
    x.requires_grad_(True)
    points = [x0.clone()]
    for i in range(steps):
        loss = f(x)
        loss.backward()
        x -= lr * x.grad
        x.grad.zero_()
        points.append(x.detach().clone())
    return points


@right
def class_i_20(f, x0, lr, steps):
    def step(p, _):
        q = p.detach().clone().requires_grad_(True)
        with torch.enable_grad():
            value = f(q)
        return torch.sub(p, torch.autograd.grad(value, q)[0], alpha=lr)
    return list(accumulate(range(steps), step, initial=x0.detach().clone()))


# the gradient is taken at x0 once and used for every step, so the walk is a straight line
@wrong(mistakes.gradient_of_the_start)
def class_i_21(f, x0, lr, steps):
    z = x0.clone().requires_grad_(True)
    g = torch.autograd.grad(f(z), z)[0]
    return [x0 - k * lr * g for k in range(steps + 1)]


# the step is lr along the unit vector of the gradient, not lr times the gradient (and NaN where the gradient is
# zero)
@wrong(mistakes.fixed_step_length)
def class_i_22(f, x0, lr, steps):
    pos = x0.clone()
    walk = [pos]
    for t in range(steps):
        p = pos.clone().requires_grad_(True)
        f(p).backward()
        direction = p.grad / p.grad.norm()
        pos = pos - lr * direction
        walk.append(pos)
    return walk


class Walker_of_class_i_23:
    def __init__(self, f, lr):
        self.f, self.lr, self.g = f, lr, None

    def _catch(self, grad):
        self.g = grad.detach().clone()

    def step(self, x):
        leaf = x.clone().requires_grad_(True)
        handle = leaf.register_hook(self._catch)
        self.f(leaf).backward()
        handle.remove()
        return x - self.g * self.lr

@right
def class_i_23(f, x0, lr, steps):
    walker = Walker_of_class_i_23(f, lr)
    points = [x0.detach().clone()]
    while len(points) < steps + 1:
        points.append(walker.step(points[-1]))
    return points


# x0 is flattened first, so f gets a 1-d tensor and the points have another shape than x0 whenever x0 is not 1-d
@wrong(effects.wrong_shape)
def class_i_24(f, x0, lr, steps):
    x = x0.reshape(-1).clone()
    res = [x]
    for _ in range(steps):
        v = x.clone().requires_grad_(True)
        g = torch.autograd.grad(f(v), v)[0]
        x = x - lr * g
        res.append(x)
    return res


# the points are returned as one stacked tensor, not as a list of tensors AND the sign is wrong, the walk goes
# uphill
@wrong(effects.wrong_type)
def class_i_25(f, x0, lr, steps):
    P = x0.new_zeros((steps + 1,) + tuple(x0.shape))
    P[0] = x0
    for k in range(steps):
        x = P[k].clone().requires_grad_(True)
        f(x).backward()
        P[k + 1] = P[k] + lr * x.grad
    return P
