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
def rows_of_one_table(f, x0, lr, steps):
    table = x0.new_empty((steps + 1, *x0.shape))
    table[0] = x0
    for t in range(steps):
        leaf = table[t].clone().requires_grad_()
        f(leaf).backward()
        table[t + 1] = table[t] - lr * leaf.grad
    return list(table)


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


@right
def class_a_09(f, x0, lr, steps):
    df = torch.func.grad(f)
    start = x0.detach().clone()
    return list(accumulate(range(steps), lambda x, _: x - lr * df(x).detach(), initial=start))


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


@right
def class_c_07(f, x0, lr, steps):
    slope = torch.func.grad(f)

    def walk(x, left):
        if left == 0:
            return [x]
        return [x] + walk(x - lr * slope(x), left - 1)

    return walk(x0.clone(), steps)


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


@right
def class_d_14(f, x0, lr, steps):
    here = x0.detach().clone()
    if steps == 0:
        return [here]
    leaf = here.clone().requires_grad_()
    value = f(leaf)
    slope = torch.autograd.grad(value, leaf)[0] if value.requires_grad else torch.zeros_like(here)
    return [here] + class_d_14(f, here - lr * slope, lr, steps - 1)


# The function of exercise 1.1, with its h.
@wrong(mistakes.slope_measured_in_float32)
def by_the_own_numerical_gradient(f, x0, lr, steps):
    def numerical_gradient(f, x, h=1e-5):
        entries = torch.empty_like(x)
        for index in torch.nonzero(torch.ones_like(x)):
            where = tuple(index)
            up, down = x.clone(), x.clone()
            up[where] += h
            down[where] -= h
            entries[where] = (f(up) - f(down)) / (2 * h)
        return entries

    points = [x0.clone()]
    for _ in range(steps):
        points.append(points[-1] - lr * numerical_gradient(f, points[-1]))
    return points


# central differences in place of the gradient: not accurate enough, in float32 above all
@wrong(mistakes.slope_measured_in_float32)
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


@right
def class_e_13(f, x0, lr, steps):
    def move(x, _):
        return x - lr * torch.autograd.functional.jacobian(f, x)
    return list(accumulate(range(steps), move, initial=x0.detach().clone()))


# the gradient is a central difference with h = 1e-3, an approximation and a coarse one in float32
@wrong(says='digits, and not further, as an approximation, a rounded number or a lower precision on the way would leave it; a missing factor would be seen in the first digit.')
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


@right
def class_f_08(f, x0, lr, steps):
    def step(p, _):
        q = p.detach().requires_grad_()
        return p - lr * torch.autograd.grad(f(q), q)[0]
    return [p.detach().clone() for p in accumulate(range(steps), step, initial=x0.clone())]


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


# lr becomes a float32 tensor, so with a float64 x0 every step uses a learning rate rounded to float32
@wrong(says='digits, and not further, as an approximation, a rounded number or a lower precision on the way would leave it; a missing factor would be seen in the first digit.')
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


# the recursion puts the start behind the walk, so the list runs from the last point to the first
@wrong(says='The numbers are those of a known mistake, in reverse order. The list ends early where f is flat (stopped-where-f-is-flat)')
def class_i_13(f, x0, lr, steps):
    if steps <= 0:
        return [x0.clone()]
    x = x0.clone().requires_grad_(True)
    g = torch.autograd.grad(f(x), x)[0]
    return class_i_13(f, x0 - lr * g, lr, steps - 1) + [x0.clone()]


@right
def class_i_20(f, x0, lr, steps):
    def step(p, _):
        q = p.detach().clone().requires_grad_(True)
        with torch.enable_grad():
            value = f(q)
        return torch.sub(p, torch.autograd.grad(value, q)[0], alpha=lr)
    return list(accumulate(range(steps), step, initial=x0.detach().clone()))


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


