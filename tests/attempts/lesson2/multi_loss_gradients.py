"""Attempts at exercise 2.4, multi_loss_gradients: what learners write, and what the check must say of it."""

from collections import deque
from functools import reduce
from torch.autograd import grad
from torch.nn.utils import clip_grad_norm_
import copy
import numpy as np
import torch
import torch.nn as nn
import torch.optim as optim

from course_utils.authoring.attempts import raised, right, wrong
from course_utils.checks import effects
from course_utils.lessons.lesson2.multi_loss_gradients import mistakes


@raised(effects.grad_is_none)
def zero_on_none(model, losses, weights):
    for p in model.parameters():
        p.grad.zero_()
    for loss_fn, weight in zip(losses, weights):
        (weight * loss_fn(model)).backward()


@raised(mistakes.graph_freed)
def running_sum(model, losses, weights):
    model.zero_grad()
    total = 0
    for loss_fn, weight in zip(losses, weights):
        total = total + weight * loss_fn(model)
        total.backward()


@raised(mistakes.loss_not_called)
def backward_of_the_function(model, losses, weights):
    model.zero_grad()
    for loss in losses:
        loss.backward()


@raised(effects.no_graph)
def item(model, losses, weights):
    model.zero_grad()
    for loss_fn, weight in zip(losses, weights):
        loss = torch.tensor(weight * loss_fn(model).item())
        loss.backward()


@raised(mistakes.fixed_number_of_losses)
def hard_coded_two_losses(model, losses, weights):
    model.zero_grad()
    a, b = losses
    (weights[0] * a(model)).backward()
    (weights[1] * b(model)).backward()


@right
def autograd_grad_and_assign(model, losses, weights):
    params = [p for p in model.parameters() if p.requires_grad]
    totals = [torch.zeros_like(p) for p in params]
    for loss_fn, weight in zip(losses, weights):
        grads = torch.autograd.grad(loss_fn(model), params, allow_unused=True)
        for total, grad in zip(totals, grads):
            if grad is not None:
                total += weight * grad
    for p, total in zip(params, totals):
        p.grad = total
    return {name: p.grad for name, p in model.named_parameters()}


@right
def last_loss_first(model, losses, weights):
    for p in model.parameters():
        del p.grad
    pairs = list(zip(losses, weights))
    while pairs:
        loss_fn, weight = pairs.pop()
        loss_fn(model).mul(weight).backward()


@right
def retain_graph_without_keeping_it(model, losses, weights):
    # Nothing names the loss after its backward, so the retained graph goes at once.
    model.zero_grad()
    for loss_fn, weight in zip(losses, weights):
        (weight * loss_fn(model)).backward(retain_graph=True)


@right
def saved_aside_each_time(model, losses, weights):
    total = {p: torch.zeros_like(p) for p in model.parameters() if p.requires_grad}
    for loss_fn, weight in zip(losses, weights):
        model.zero_grad()
        loss_fn(model).backward()
        for p in total:
            if p.grad is not None:
                total[p] += weight * p.grad
    model.zero_grad()
    for p, g in total.items():
        p.grad = g.clone()


@right
def tensor_hooks_scale(model, losses, weights):
    for p in model.parameters():
        if p.grad is not None:
            p.grad.data.zero_()
    k = 0
    while k < len(losses):
        loss = losses[k](model)
        loss.register_hook(lambda g, k=k: g * weights[k])
        loss.backward()
        del loss
        k += 1


@right
def zeros_in_place_and_zero_weight_skipped(model, losses, weights):
    model.zero_grad(set_to_none=False)
    for i in range(len(losses)):
        if weights[i] == 0:
            continue
        (losses[i](model) * weights[i]).backward()
    return model


@wrong(mistakes.averaged_over_losses)
def mean(model, losses, weights):
    model.zero_grad()
    for loss_fn, weight in zip(losses, weights):
        (weight * loss_fn(model) / len(losses)).backward()


@wrong(effects.changed_mode)
def train_afterwards(model, losses, weights):
    model.eval()
    model.zero_grad()
    for loss_fn, weight in zip(losses, weights):
        (weight * loss_fn(model)).backward()
    model.train()


@wrong(effects.changed_parameters)
def steps_too(model, losses, weights):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    optimizer.zero_grad()
    for loss_fn, weight in zip(losses, weights):
        (weight * loss_fn(model)).backward()
    optimizer.step()


@wrong(effects.changed_requires_grad)
def thaws_everything(model, losses, weights):
    model.zero_grad()
    for loss_fn, weight in zip(losses, weights):
        (weight * loss_fn(model)).backward()
    model.requires_grad_(True)


@wrong(mistakes.cleared_at_the_end)
def tidy(model, losses, weights):
    model.zero_grad()
    for loss_fn, weight in zip(losses, weights):
        (weight * loss_fn(model)).backward()
    model.zero_grad()


@wrong(mistakes.only_the_last_loss)
def gamed_last_only(model, losses, weights):
    model.zero_grad()
    (weights[-1] * losses[-1](model)).backward()


@wrong(mistakes.cleared_between_backwards)
def zero_in_the_loop(model, losses, weights):
    for loss_fn, weight in zip(losses, weights):
        model.zero_grad()
        (weight * loss_fn(model)).backward()


@wrong(mistakes.cleared_between_backwards)
def zeros_in_the_loop(model, losses, weights):
    for loss_fn, weight in zip(losses, weights):
        model.zero_grad(set_to_none=False)
        (weight * loss_fn(model)).backward()


@wrong(mistakes.frozen_got_zeros)
def fresh_zeros_everywhere(model, losses, weights):
    for p in model.parameters():
        p.grad = torch.zeros_like(p)
    for loss_fn, weight in zip(losses, weights):
        (weight * loss_fn(model)).backward()


@wrong(mistakes.grad_left_untouched)
def returns_a_dict(model, losses, weights):
    named = {n: p for n, p in model.named_parameters() if p.requires_grad}
    result = {n: torch.zeros_like(p) for n, p in named.items()}
    for loss_fn, weight in zip(losses, weights):
        grads = torch.autograd.grad(weight * loss_fn(model), list(named.values()), allow_unused=True)
        for name, g in zip(named, grads):
            if g is not None:
                result[name] = result[name] + g
    return result


@wrong(mistakes.graphs_kept_alive)
def all_forwards_first(model, losses, weights):
    model.zero_grad()
    values = [loss_fn(model) for loss_fn in losses]
    for value, weight in zip(values, weights):
        (weight * value).backward()


@wrong(mistakes.graphs_kept_alive)
def one_backward_on_the_sum(model, losses, weights):
    model.zero_grad()
    total = sum(weight * loss_fn(model) for loss_fn, weight in zip(losses, weights))
    total.backward()


@wrong(mistakes.graphs_kept_alive)
def retain_graph(model, losses, weights):
    model.zero_grad()
    for loss_fn, weight in zip(losses, weights):
        loss = weight * loss_fn(model)
        loss.backward(retain_graph=True)


@wrong(mistakes.loss_not_called_once)
def twice_for_the_log(model, losses, weights):
    model.zero_grad()
    total = 0.0
    for loss_fn, weight in zip(losses, weights):
        (weight * loss_fn(model)).backward()
        total += loss_fn(model).item()
    return total


@wrong(mistakes.negative_weight_skipped)
def positive_only(model, losses, weights):
    model.zero_grad()
    for loss_fn, weight in zip(losses, weights):
        if weight > 0:
            (weight * loss_fn(model)).backward()


@wrong(mistakes.running_grad_scaled)
def weight_on_grad(model, losses, weights):
    model.zero_grad()
    for loss_fn, weight in zip(losses, weights):
        loss_fn(model).backward()
        for p in model.parameters():
            if p.grad is not None:
                p.grad *= weight


@wrong(mistakes.running_sum_backward)
def retained(model, losses, weights):
    model.zero_grad()
    total = 0
    for loss_fn, weight in zip(losses, weights):
        total = total + weight * loss_fn(model)
        total.backward(retain_graph=True)


@wrong(mistakes.started_from_old_gradients)
def never_cleared(model, losses, weights):
    for loss_fn, weight in zip(losses, weights):
        (weight * loss_fn(model)).backward()


@wrong(mistakes.unused_kept_old_gradient)
def assigns_where_reached(model, losses, weights):
    params = [p for p in model.parameters() if p.requires_grad]
    fresh = {}
    for loss_fn, weight in zip(losses, weights):
        grads = torch.autograd.grad(weight * loss_fn(model), params, allow_unused=True)
        for p, g in zip(params, grads):
            if g is not None:
                fresh[p] = fresh[p] + g if p in fresh else g
    for p, g in fresh.items():
        p.grad = g


@wrong(mistakes.weight_sign_lost)
def as_abs(model, losses, weights):
    model.zero_grad()
    for loss_fn, weight in zip(losses, weights):
        (weight * loss_fn(model)).abs().backward()


@wrong(mistakes.weighted_twice)
def loss_and_gradient(model, losses, weights):
    model.zero_grad()
    for loss_fn, weight in zip(losses, weights):
        loss = weight * loss_fn(model)
        loss.backward(torch.full_like(loss, weight))


@wrong(mistakes.weights_ignored)
def plain_sum(model, losses, weights):
    model.zero_grad()
    for loss_fn in losses:
        loss_fn(model).backward()


@wrong(mistakes.weights_normalised)
def sum_to_one(model, losses, weights):
    model.zero_grad()
    total = sum(weights)
    for loss_fn, weight in zip(losses, weights):
        (weight / total * loss_fn(model)).backward()


# zero_grad stands inside the loop, so only the gradient of the last loss is left
@wrong(mistakes.cleared_between_backwards)
def class_a_03(model, losses, weights):
    for loss_fn, w in zip(losses, weights):
        model.zero_grad()
        loss = w * loss_fn(model)
        if loss.requires_grad:
            loss.backward()
    return model


# adds all the losses up first and runs one backward at the end, so all graphs are alive together and there is not
# one backward per loss
@wrong(mistakes.graphs_kept_alive)
def class_a_04(model, losses, weights):
    model.zero_grad()
    total = 0
    for loss_fn, w in zip(losses, weights):
        total = total + w * loss_fn(model)
    if torch.is_tensor(total) and total.requires_grad:
        total.backward()
    return total


# the weights are never used AND the old gradients are not cleared
@wrong(mistakes.not_cleared_and_not_weighed)
def class_a_07(model, losses, weights):
    all_grads = []
    for loss_fn in losses:
        loss = loss_fn(model)
        if loss.requires_grad:
            loss.backward()
        all_grads.append([p.grad for p in model.parameters()])
    return all_grads


@right
def class_a_10(model, losses, weights):
    for p in model.parameters():
        if p.grad is not None:
            p.grad.detach_()
            p.grad.zero_()
    for loss_fn, w in zip(losses, weights):
        out = loss_fn(model)
        if not out.requires_grad:
            continue
        out.backward(gradient=torch.full_like(out, w))
        out = None


# ends with an optimizer step, which moves the parameters, AND then clears the gradients that should be left in
# .grad
@wrong(mistakes.cleared_at_the_end)
def class_a_11(model, losses, weights):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    optimizer.zero_grad()
    running_loss = 0.0
    for loss_fn, w in zip(losses, weights):
        loss = w * loss_fn(model)
        if loss.requires_grad:
            loss.backward()
        running_loss += loss.item()
    optimizer.step()
    optimizer.zero_grad()
    return running_loss


# takes .item() and wraps the numbers in a new tensor, which cuts the graph: no parameter ever gets a gradient
@wrong(mistakes.cut_off_from_the_model)
def class_a_12(model, losses, weights):
    model.zero_grad()
    for loss_fn, w in zip(losses, weights):
        value = loss_fn(model).item()
        loss = torch.tensor(value * w, requires_grad=True)
        loss.backward()


# hands the weight to backward as a plain float, which raises a TypeError
@raised(effects.gradient_is_no_tensor)
def class_a_13(model, losses, weights):
    model.zero_grad()
    for l, w in zip(losses, weights):
        l(model).backward(w)


def _rest(model, losses, weights):
    if len(losses) == 0:
        return
    scaled = losses[0](model).mul(weights[0])
    if scaled.requires_grad:
        scaled.backward()
    del scaled
    _rest(model, losses[1:], weights[1:])

@right
def class_a_14(model, losses, weights):
    for p in model.parameters():
        p.grad = None
    _rest(model, list(losses), list(weights))


# clears with grad *= 0, which leaves nan where the old gradient was nan or inf
@wrong(mistakes.cancelled_not_cleared)
def class_a_15(model, losses, weights):
    with torch.no_grad():
        for p in model.parameters():
            if p.grad is not None:
                p.grad *= 0
    for f, w in zip(losses, weights):
        v = f(model)
        if v.requires_grad:
            (w * v).backward()


@right
def class_a_20(model, losses, weights):
    for p in model.parameters():
        p.grad = None

    def scaled_backward(loss, weight):
        if not loss.requires_grad:
            return
        handle = loss.register_hook(lambda g: g * weight)
        loss.backward()
        handle.remove()

    for fn, weight in zip(losses, weights):
        scaled_backward(fn(model), weight)


# return stands inside the loop, so only the first loss is counted
@wrong(mistakes.only_the_first_loss)
def class_a_21(model, losses, weights):
    model.zero_grad()
    for loss_fn, weight in zip(losses, weights):
        loss = weight * loss_fn(model)
        if loss.requires_grad:
            loss.backward()
        return [p.grad for p in model.parameters()]


# puts losses and weights in a dict, so a loss function that is listed twice keeps only its last weight and is
# called once instead of twice
@wrong(mistakes.same_loss_same_weight)
def class_a_22(model, losses, weights):
    weight_of = dict(zip(losses, weights))
    model.zero_grad()
    for fn in weight_of:
        scaled = fn(model) * weight_of[fn]
        if scaled.requires_grad:
            scaled.backward()


# no allow_unused, so a parameter that one of the losses does not use raises a RuntimeError
@raised(effects.not_in_the_graph)
def class_a_23(model, losses, weights):
    theta = tuple(p for p in model.parameters() if p.requires_grad)
    g = [torch.zeros_like(t, requires_grad=False) for t in theta]
    for f, w in zip(losses, weights):
        g = [a + w * b for a, b in zip(g, torch.autograd.grad(f(model), theta))]
    for t, gi in zip(theta, g):
        t.grad = gi


# calls each loss a second time to log its value AND leaves the model in train mode
class LossLogger:
    def __init__(self):
        self.history = []

    def log(self, value):
        self.history.append(float(value))

@wrong(mistakes.loss_not_called_once)
def class_a_24(model, losses, weights):
    logger = LossLogger()
    model.train()
    model.zero_grad()
    for loss_fn, w in zip(losses, weights):
        weighted = w * loss_fn(model)
        if weighted.requires_grad:
            weighted.backward()
        with torch.no_grad():
            logger.log(loss_fn(model))
    return logger.history


class Ledger(dict):
    def book(self, model, weight):
        for p in model.parameters():
            if p.requires_grad and p.grad is not None:
                entry = p.grad.detach() * weight
                self[p] = self[p] + entry if p in self else entry
                p.grad = None

@right
def class_a_25(model, losses, weights):
    ledger = Ledger()
    for p in model.parameters():
        p.grad = None
    for loss_fn, weight in zip(losses, weights):
        loss = loss_fn(model)
        if loss.requires_grad:
            torch.autograd.backward(loss)
        ledger.book(model, weight)
    for p, g in ledger.items():
        p.grad = g


@right
def class_a_26(model, losses, weights):
    model.zero_grad()
    step = lambda loss, w: loss.requires_grad and (loss * w).backward()
    any(step(f(model), w) for f, w in zip(losses, weights) if w != 0.0)


# finite differences instead of backward: each loss is called many times and the gradient is only an approximation
@wrong(says='digits in float32, and not further, as an approximation, a rounded number or a lower precision on the way would leave it; a missing factor would be seen in the first digit.')
def class_a_27(model, losses, weights):
    eps = 1e-3
    def total():
        return sum(w * float(f(model)) for f, w in zip(losses, weights))
    with torch.no_grad():
        for p in model.parameters():
            if not p.requires_grad:
                continue
            grad = torch.zeros_like(p)
            for i in range(p.numel()):
                old = p.view(-1)[i].item()
                p.view(-1)[i] = old + eps
                up = total()
                p.view(-1)[i] = old - eps
                down = total()
                p.view(-1)[i] = old
                grad.view(-1)[i] = (up - down) / (2 * eps)
            p.grad = grad


# the gradients are cleared after every backward, so at the end nothing at all is left in .grad
@wrong(mistakes.cleared_at_the_end)
def class_b_02(model, losses, weights):
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    for i in range(len(losses)):
        # forward
        loss = losses[i](model) * weights[i]
        # backward
        loss.backward()
        # (no step here, the exercise does not train)
        optimizer.zero_grad()
    return model


# the lambdas bind w and loss late: every one of them calls the last loss with the last weight
@wrong(says='On case 1: the losses of a weight other than zero were called so often: 0 and 2; asked is once each.')
def class_b_05(model, losses, weights):
    model.zero_grad()
    closures = []
    for loss, w in zip(losses, weights):
        closures.append(lambda: w * loss(model))   # nothing is computed yet
    for closure in closures:
        closure().backward()                       # one graph at a time


@right
def class_b_06(model, losses, weights):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    optimizer.zero_grad()
    total_loss = 0.0
    for criterion, weight in zip(losses, weights):
        loss = weight * criterion(model)
        if loss.requires_grad:
            loss.backward()
        total_loss += loss.item()
    return total_loss


# requires_grad is switched on for every parameter, so frozen ones are unfrozen and receive gradients
@wrong(says='It fails on case 9 alone, where a parameter is frozen.')
def class_b_08(model, losses, weights):
    for param in model.parameters():
        param.requires_grad = True   # we need gradients
        param.grad = None
    for loss_function, weight in zip(losses, weights):
        loss = loss_function(model) * weight
        loss.backward()


# the finished gradient is clipped to norm 1 AND every .grad, that of frozen parameters included, starts as zeros
# instead of None
@wrong()
def class_b_09(model, losses, weights):
    for p in model.parameters():
        p.grad = torch.zeros_like(p)
    for l, w in zip(losses, weights):
        (w * l(model)).backward()
    clip_grad_norm_(model.parameters(), max_norm=1.0)   # against exploding gradients


@right
def class_b_10(model, losses, weights):
    model.zero_grad(set_to_none=True)
    it = iter(weights)
    for loss in losses:
        w = next(it)
        if w == 0:
            continue
        value = loss(model)
        if value.grad_fn is None and not value.requires_grad:
            continue   # only frozen things inside
        # backward starts with w instead of 1
        value.backward(torch.full_like(value, w))


@right
def class_b_11(model, losses, weights):
    def rest(k):
        if k == len(losses):
            return
        head = losses[k](model)
        if head.requires_grad:
            head.mul(weights[k]).backward()
        del head        # or it would live on while the deeper calls run
        rest(k + 1)

    model.zero_grad()
    rest(0)


# the tensor autograd.grad hands out becomes .grad without a copy and is then added to in place: two parameters may
# share that tensor (each gets the other's part), and an expanded one raises
@wrong(says='Right: `layer.weight` (.grad after the call). Wrong: `left` (.grad after the call) and `right` (.grad after the call).')
def class_b_13(model, losses, weights):
    params = [p for p in model.parameters() if p.requires_grad]
    model.zero_grad()
    for loss_fn, w in zip(losses, weights):
        loss = w * loss_fn(model)
        grads = torch.autograd.grad(loss, params, allow_unused=True)
        for p, g in zip(params, grads):
            if g is None:
                continue
            if p.grad is None:
                p.grad = g
            else:
                p.grad += g


# the clearing sits behind the skip of zero weights: if the first weight is zero, the old gradients are never
# cleared
@wrong(says='What is too much is exactly the .grad that was there before the call.')
def class_b_14(model, losses, weights):
    for i, (loss, w) in enumerate(zip(losses, weights)):
        if w == 0:
            continue
        if i == 0:
            model.zero_grad()
        out = loss(model) * w
        out.backward()
        del out


# the weights are normalised to sum 1 AND each loss is called a second time for the log
@wrong(mistakes.weights_normalised)
def class_b_15(model, losses, weights):
    total_weight = sum(weights)
    history = []
    model.zero_grad()
    for loss_fn, w in zip(losses, weights):
        loss = (w / total_weight) * loss_fn(model)
        loss.backward()
        with torch.no_grad():
            history.append(loss_fn(model).item())
    return history


# the incoming gradient has shape (1,) while the loss is 0-d: backward raises a shape mismatch
@raised(effects.shapes_do_not_fit)
def class_b_17(model, losses, weights):
    model.zero_grad()
    for i, loss in enumerate(losses):
        w = torch.tensor([weights[i]])
        loss(model).backward(w)


# the loss is multiplied by the weight in place: it raises where backward needs the loss value itself (a loss that
# ends in sqrt or exp) or where the loss is a parameter
@raised(effects.overwrote_saved_value)
def class_b_18(model, losses, weights):
    model.zero_grad()
    for f, w in zip(losses, weights):
        loss = f(model)
        loss *= w
        loss.backward()


# the old gradients are put back at the end and the new ones only returned, so .grad does not hold the weighted sum
@wrong(mistakes.grad_left_untouched)
def class_b_19(model, losses, weights):
    # remember .grad
    old = {n: None if p.grad is None else p.grad.clone() for n, p in model.named_parameters()}
    model.zero_grad()
    for loss, w in zip(losses, weights):
        (w * loss(model)).backward()
    result = {n: p.grad for n, p in model.named_parameters()}
    # put .grad back
    for n, p in model.named_parameters():
        p.grad = old[n]
    return result


class _Accumulator:
    def __init__(self, model):
        self.model = model
        self.leaves = [p for p in model.parameters() if p.requires_grad]

    def clear(self):
        for p in self.model.parameters():
            p.grad = None
        return self

    def add(self, loss_fn, weight):
        loss = loss_fn(self.model)
        if self.leaves and loss.requires_grad:
            seed = torch.ones_like(loss) * weight
            torch.autograd.backward(loss, grad_tensors=seed, inputs=self.leaves)

@right
def class_b_20(model, losses, weights):
    acc = _Accumulator(model).clear()
    for pair in zip(losses, weights):
        acc.add(*pair)


# a new scaling hook is registered for each loss, so the later losses are scaled by the earlier weights, too AND the
# hooks are never removed
@wrong(mistakes.hooks_left_behind)
def class_b_21(model, losses, weights):
    model.zero_grad()
    for loss, w in zip(losses, weights):
        for p in model.parameters():
            if p.requires_grad:
                p.register_hook(lambda grad, w=w: w * grad)
        loss(model).backward()


# named_parameters(remove_duplicate=False) lists a tied parameter once a name, and its gradient is added once a
# name, so it counts double
@wrong(says='Right: `first.bias` (.grad after the call) and `second.bias` (.grad after the call). Wrong: `first.weight` (.grad after the call).')
def class_b_22(model, losses, weights):
    named = [(n, p) for n, p in model.named_parameters(remove_duplicate=False) if p.requires_grad]
    for _, p in named:
        p.grad = torch.zeros_like(p)
    for loss, w in zip(losses, weights):
        grads = torch.autograd.grad(loss(model), [p for _, p in named], allow_unused=True)
        for (_, p), g in zip(named, grads):
            if g is not None:
                p.grad = p.grad + w * g


# written for one nn.Linear: it reads model.weight and model.bias, so it raises for other models, for a frozen
# weight and for a loss that leaves the bias out
@raised(effects.no_such_attribute)
def class_b_23(model, losses, weights):
    gw = torch.zeros_like(model.weight)
    gb = torch.zeros_like(model.bias)
    for l, w in zip(losses, weights):
        a, b = torch.autograd.grad(w * l(model), (model.weight, model.bias))
        gw += a
        gb += b
    model.weight.grad, model.bias.grad = gw, gb


@right
def class_b_24(model, losses, weights):
    snapshots = []
    for loss in losses:
        model.zero_grad()
        value = loss(model)
        if value.requires_grad:
            value.backward()
        snapshots.append([None if p.grad is None else p.grad.detach().clone()
                          for p in model.parameters()])
    model.zero_grad()
    for j, p in enumerate(model.parameters()):
        for snap, w in zip(snapshots, weights):
            if snap[j] is None:
                continue
            if p.grad is None:
                p.grad = torch.zeros_like(p)
            p.grad.add_(snap[j], alpha=w)


# the losses are turned into numbers by .item() and a new tensor is made of the sum: backward no longer reaches the
# model, every .grad ends as None
@wrong(says='None or zeros where a gradient is expected: `weight` (.grad after the call) and `bias` (.grad after the call).')
def class_b_25(model, losses, weights):
    model.zero_grad()
    total_loss = 0.0
    for loss, weight in zip(losses, weights):
        total_loss += weight * loss(model).item()   # .item() saves memory, no graph is kept
    total_loss = torch.tensor(total_loss, requires_grad=True)
    total_loss.backward()
    return total_loss.item()


# the seed is set before each loss (random state and dropout masks change) AND the model is switched to training
# mode
@wrong(effects.changed_rng)
def class_b_26(model, losses, weights):
    model.train()
    model.zero_grad()
    for loss, w in zip(losses, weights):
        torch.manual_seed(42)      # reproducible
        (loss(model) * w).backward()


# retain_graph=True and a running total that keeps each loss tensor: the graphs of the earlier losses are all still
# alive when the next is called
@wrong(mistakes.graphs_kept_alive)
def class_b_27(model, losses, weights):
    model.zero_grad()
    total = 0
    for loss_fn, weight in zip(losses, weights):
        loss = weight * loss_fn(model)
        loss.backward(retain_graph=True)
        total = total + loss
    return total.detach()


# all losses are added to one graph and a single backward is called at the end: every graph is alive at once
@wrong(mistakes.graphs_kept_alive)
def class_c_04(model, losses, weights):
    model.zero_grad()
    total_loss = 0.0
    for loss_fn, w in zip(losses, weights):
        total_loss = total_loss + w * loss_fn(model)
    total_loss.backward()
    return total_loss.item()


# zero_grad comes after the backwards, so every gradient is thrown away again
@wrong(mistakes.cleared_at_the_end)
def class_c_09(model, losses, weights):
    grads = []
    for p in model.parameters():
        p.grad = None
    for f, w in zip(losses, weights):
        out = f(model)
        (out * w).backward()
    grads = [p.grad for p in model.parameters()]
    model.zero_grad()   # clean up like in the training loop
    return grads


# the loop breaks at the first weight of zero, so the losses after it are lost
@wrong(mistakes.stopped_at_weight_zero)
def class_c_11(model, losses, weights):
    for p in model.parameters():
        p.grad = None
    i = 0
    while i < len(losses):
        if not weights[i]:
            break
        loss = losses[i](model)
        loss = loss * weights[i]
        loss.backward()
        loss = None
        i += 1


@right
def class_c_13(model, losses, weights, first=True):
    if first:
        model.zero_grad()
    if len(losses) == 0:
        return
    def head():
        l = weights[0] * losses[0](model)
        if l.grad_fn is not None:
            l.backward()
    head()
    class_c_13(model, losses[1:], weights[1:], first=False)


# p.grad is assigned instead of added to, so a parameter keeps only the gradient of the last loss that uses it AND
# an unused parameter keeps its old .grad
@wrong(mistakes.assigned_not_added)
def class_c_14(model, losses, weights):
    params = [p for p in model.parameters() if p.requires_grad]
    for f, w in zip(losses, weights):
        gs = torch.autograd.grad(w * f(model), params, allow_unused=True)
        for p, g in zip(params, gs):
            if g is not None:
                p.grad = g


# losses.index finds the first place, so a loss that stands twice gets the weight of its first place both times
@wrong(mistakes.same_loss_same_weight)
def class_c_16(model, losses, weights):
    losses = list(losses)
    model.zero_grad()
    [(weights[losses.index(l)] * l(model)).backward() for l in losses]


@right
def class_c_17(model, losses, weights):
    def push(loss, weight):
        if loss.requires_grad:
            # the seed of backward is d(total)/d(loss) = weight
            torch.autograd.backward([loss], grad_tensors=[torch.full_like(loss, weight)])
    model.zero_grad()
    for i, f in enumerate(losses):
        push(f(model), weights[i])


# old gradients are remembered by reference and not by a clone, so the subtraction at the end takes the new part
# away as well AND the weights are not used
@wrong(says='The numbers are those of a known mistake, times [the number of losses]. Divided by the number of losses, and the weights were not used (plain-mean-over-losses). To mend that: Multiply each loss by its weight before its backward, and divide by nothing.')
def class_c_20(model, losses, weights):
    old = {name: p.grad for name, p in model.named_parameters()}
    for loss in losses:
        loss(model).backward()
    # only the new part should remain
    for name, p in model.named_parameters():
        if old[name] is not None:
            p.grad = p.grad - old[name]


@right
def class_c_24(model, losses, weights):
    model.zero_grad()
    step = lambda f, w: (lambda l: l.backward() if l.requires_grad else None)(f(model) * w)
    deque(map(step, losses, weights), maxlen=0)


# written for exactly two losses: a third is ignored and a list of one raises an IndexError
@wrong(says='On case 2: the losses of a weight other than zero were called so often: 1 and 1 and 0; asked is once each.')
def class_c_25(model, losses, weights):
    model.zero_grad()
    (weights[0] * losses[0](model)).backward()
    (weights[1] * losses[1](model)).backward()


@right
def class_c_27(model, losses, weights):
    trainable = [p for p in model.parameters() if p.requires_grad]
    if not trainable:
        return
    opt = torch.optim.SGD(model.parameters(), lr=1.0)   # never stepped, I only like its zero_grad
    opt.zero_grad()
    todo = list(zip(losses, weights))
    while todo:
        f, w = todo.pop(0)
        loss = f(model)
        if loss.requires_grad:
            (loss * w).backward(inputs=trainable)
        loss = None


# the old .grad is never cleared, so what was there before is added in
@wrong(mistakes.started_from_old_gradients)
def class_d_01(model, losses, weights):
    for i in range(len(losses)):
        loss = losses[i](model)
        weighted = weights[i] * loss
        weighted.backward()      # gradients add up by themselves
    return model


# an optimizer step at the end changes the parameters of the model
@wrong(effects.changed_parameters)
def class_d_07(model, losses, weights):
    optimizer = optim.SGD([p for p in model.parameters() if p.requires_grad], lr=0.01)
    optimizer.zero_grad()
    running = 0.0
    for criterion, w in zip(losses, weights):
        loss = criterion(model) * w
        loss.backward()
        running += loss.item()
    optimizer.step()
    return running


@right
def class_d_08(model, losses, weights):
    ps = [p for p in model.parameters() if p.requires_grad]
    totals = [torch.zeros_like(p, requires_grad=False) for p in ps]

    def one(f, w):
        value = f(model)
        if not (ps and value.requires_grad):
            return
        for t, g in zip(totals, grad(value, ps, allow_unused=True)):
            if g is not None:
                t.add_(g, alpha=w)

    for f, w in zip(losses, weights):
        one(f, w)
    for p, t in zip(ps, totals):
        p.grad = t


@right
def class_d_12(model, losses, weights):
    """clear at the bottom of the recursion, then add on the way back up"""
    if len(losses) == 0:
        for p in model.parameters():
            p.grad = None
        return
    class_d_12(model, losses[:-1], weights[:-1])
    last = losses[-1](model)
    if last.requires_grad:
        (last * weights[-1]).backward()


# the weights are made a float32 tensor, so in a float64 model they are only right to seven digits
@right
def class_d_14(model, losses, weights):
    w = torch.tensor(weights, dtype=torch.float32)
    model.zero_grad()
    for i, f in enumerate(losses):
        torch.mul(f(model), w[i]).backward()


# the losses are run on a deep copy, so the gradients land in the copy and the model's own .grad does not get them
@wrong(mistakes.cut_off_from_the_model)
def class_d_17(model, losses, weights):
    net = copy.deepcopy(model)   # so that I don't break anything
    net.zero_grad()
    model.zero_grad()
    for loss, w in zip(losses, weights):
        l = loss(net) * w
        l.backward()
    return [p.grad for p in net.parameters()]


# frozen parameters are given a .grad of zeros AND retain_graph=True with a list of the losses keeps all graphs
# alive
@wrong(mistakes.graphs_kept_alive)
def class_d_19(model, losses, weights):
    for p in model.parameters():
        p.grad = torch.zeros_like(p.data)
    all_losses = []
    for fn, w in zip(losses, weights):
        l = fn(model) * w
        l.backward(retain_graph=True)
        all_losses.append(l)
    return all_losses


# the weights are ignored AND the model is switched to train mode and left there
@wrong(mistakes.weights_ignored)
def class_d_20(model, losses, weights):
    model.train()
    model.zero_grad()
    for loss_object in losses:
        loss_value = loss_object(model)
        loss_value.backward()
    return model


# only the first loss is called and its gradient scaled by the sum of the weights, which fits lists that hold one
# loss
@wrong(says='On case 1: the losses of a weight other than zero were called so often: 1 and 0; asked is once each.')
def class_d_22(model, losses, weights):
    model.zero_grad()
    w = sum(weights)
    (losses[0](model) * w).backward()


# each loss is called a second time under no_grad, to print its value in a log
@wrong(mistakes.loss_not_called_once)
def class_d_23(model, losses, weights):
    model.zero_grad()
    log = []
    for loss_fn, w in zip(losses, weights):
        (w * loss_fn(model)).backward()
        with torch.no_grad():
            log.append(loss_fn(model).item())
    return log


# the return stands inside the loop, so only the first loss is used AND gradients that were there before are not
# cleared
@wrong(says='On case 1: the losses of a weight other than zero were called so often: 1 and 0; asked is once each.')
def class_d_24(model, losses, weights):
    grads = []
    for loss_fn, w in zip(losses, weights):
        loss = loss_fn(model)
        loss = loss * w
        loss.backward()
        for p in model.parameters():
            grads.append(p.grad)
        return grads


class Scaler:
    """scales every gradient that arrives at a parameter by the weight of the moment"""
    def __init__(self, model):
        self.w = 1.0
        self.handles = [p.register_hook(self.scale) for p in model.parameters() if p.requires_grad]

    def scale(self, g):
        return g * self.w

    def __enter__(self):
        return self

    def __exit__(self, *exc):
        for h in self.handles:
            h.remove()

@right
def class_d_25(model, losses, weights):
    for p in model.parameters():
        p.grad = None
    with Scaler(model) as s:
        for f, w in zip(losses, weights):
            s.w = w
            out = f(model)
            if out.requires_grad:
                out.backward()
            del out


@right
def class_d_26(model, losses, weights):
    step = lambda l, w: l.requires_grad and torch.autograd.backward([l], [l.new_tensor(w)])
    return model.zero_grad(), [step(f(model), w) for f, w in zip(losses, weights)] and None


class WeightedBackward:
    """Clears the ledger once, then lets every loss write its own share."""

    def __init__(self, model):
        self.model = model
        for p in model.parameters():
            p.grad = None

    def __call__(self, loss_fn, weight):
        share = torch.mul(loss_fn(self.model), weight)
        if share.grad_fn is not None:
            share.backward()

@right
def class_e_09(model, losses, weights):
    step = WeightedBackward(model)
    return list(map(step, losses, weights))


# retain_graph=True keeps the graph of the previous loss alive (the variable still holds it) while the next loss is
# called
@wrong(mistakes.graphs_kept_alive)
def class_e_10(model, losses, weights):
    model.zero_grad()
    for j, loss_fn in enumerate(losses):
        loss = weights[j] * loss_fn(model)
        # without retain_graph I once got "trying to backward a second time"
        loss.backward(retain_graph=True)
    return {n: p.grad for n, p in model.named_parameters()}


@right
def class_e_16(model, losses, weights):
    def walk(fs, ws):
        if not fs:
            return
        value = fs[0](model)
        if value.requires_grad:
            value.mul(ws[0]).backward()
        del value
        walk(fs[1:], ws[1:])

    for p in model.parameters():
        p.grad = None
    walk(list(losses), list(weights))


# the weights are divided by their sum first, which gives a weighted average and no weighted sum AND the model is
# put into train mode and left there
@wrong(mistakes.weights_normalised)
def class_e_19(model, losses, weights):
    model.train()
    model.zero_grad()
    weights = np.array(weights) / np.sum(weights)
    for loss_fn, w in zip(losses, weights):
        loss = float(w) * loss_fn(model)
        loss.backward()


# the loss is wrapped in torch.tensor(..., requires_grad=True), which cuts it off the graph, so no parameter gets a
# gradient
@wrong(mistakes.cut_off_from_the_model)
def class_e_21(model, losses, weights):
    model.zero_grad()
    for loss_fn, w in zip(losses, weights):
        value = loss_fn(model).item() * w
        loss = torch.tensor(value, requires_grad=True)
        loss.backward()
    return [p.grad for p in model.parameters()]


# each loss is called twice, once to print its value and once for the backward AND the weights are applied in
# reversed order because pop takes from the end
@wrong(mistakes.weights_in_reverse)
def class_e_22(model, losses, weights):
    ws = list(weights)
    model.zero_grad()
    history = []
    for loss_fn in losses:
        history.append(loss_fn(model).item())
        loss = ws.pop() * loss_fn(model)
        loss.backward()
    return history


# the first gradient is stored as autograd gives it, and += on it raises where it is an expanded tensor (for example
# after p.sum()) AND the gradients of frozen parameters are asked for, which raises too
@wrong(says='Right: `layer.weight` (.grad after the call). Wrong: `left` (.grad after the call) and `right` (.grad after the call).')
def class_e_23(model, losses, weights):
    ps = list(model.parameters())
    for p in ps:
        p.grad = None
    for f, w in zip(losses, weights):
        for p, g in zip(ps, torch.autograd.grad(w * f(model), ps, allow_unused=True)):
            if g is None:
                continue
            if p.grad is None:
                p.grad = g
            else:
                p.grad += g


@right
def class_e_25(model, losses, weights):
    def push(m, pair):
        f, w = pair
        if w != 0:
            out = f(m)
            if out.requires_grad:
                out.backward(gradient=torch.full_like(out, w))
        return m

    model.zero_grad(set_to_none=True)
    return reduce(push, zip(losses, weights), model)


# the backward is indented too little, and nothing is cleared
@wrong(mistakes.last_loss_on_old_gradients)
def dedented_uncleared(model, losses, weights):
    for idx in range(len(losses)):
        value = losses[idx](model) * weights[idx]
    value.backward()


# the mean of the losses, without their weights
@wrong(mistakes.plain_mean_over_losses)
def mean_unweighed(model, losses, weights):
    model.zero_grad()
    how_many = len(losses)
    for fn in losses:
        out = fn(model) / how_many
        out.backward()


# each weighted loss goes backward as many times as there are losses
@wrong(mistakes.whole_sum_each_time)
def times_the_count(model, losses, weights):
    model.zero_grad()
    for fn, w in zip(losses, weights):
        out = w * fn(model)
        for again in range(len(losses)):
            out.backward(retain_graph=again < len(losses) - 1)


# adds w * .grad to a sum in each round and never empties .grad in between
@wrong(mistakes.running_grad_weighed)
def gathers_uncleared(model, losses, weights):
    model.zero_grad()
    gathered = {}
    for fn, w in zip(losses, weights):
        fn(model).backward()
        for n, p in model.named_parameters():
            if p.grad is not None:
                gathered[n] = gathered.get(n, 0) + w * p.grad
    for n, p in model.named_parameters():
        p.grad = gathered.get(n)


# all losses first, then one multiplication with the weight the loop ended with
@wrong(mistakes.scaled_as_a_whole)
def weighs_after_the_loop(model, losses, weights):
    model.zero_grad()
    for fn, w in zip(losses, weights):
        fn(model).backward()
    with torch.no_grad():
        for p in model.parameters():
            if p.grad is not None:
                p.grad.mul_(w)


# counts from one, so each loss gets the weight after its own
@wrong(mistakes.weights_one_position_off)
def counted_from_one(model, losses, weights):
    model.zero_grad(set_to_none=True)
    for place, fn in enumerate(losses, start=1):
        w = weights[place % len(weights)]
        (fn(model) * w).backward()


# computes the weighted losses and forgets their backward
@wrong(mistakes.no_backward)
def forward_only(model, losses, weights):
    model.zero_grad()
    history = []
    for fn, w in zip(losses, weights):
        value = w * fn(model)
        history.append(value.item())
    return sum(history)


# multiplies the function by its weight instead of what it returns
@raised(mistakes.weighed_the_function)
def forgot_the_call(model, losses, weights):
    model.zero_grad()
    for k in range(len(losses)):
        weighed = weights[k] * losses[k]
        weighed(model).backward()


# a hook for each weight, all of them removed only after the loop
@wrong(mistakes.weights_pile_up)
def hooks_off_too_late(model, losses, weights):
    model.zero_grad()
    handles = []
    for fn, w in zip(losses, weights):
        for p in model.parameters():
            if p.requires_grad:
                handles.append(p.register_hook(lambda g, w=w: g * w))
        fn(model).backward()
    for h in handles:
        h.remove()


# the old gradients are never cleared, so what was in .grad before stays in the sum
@wrong(mistakes.started_from_old_gradients)
def class_f_03(model, losses, weights):
    for i in range(len(losses)):
        loss = losses[i](model) * weights[i]
        loss.backward()          # backward adds to .grad by itself
    return [p.grad for p in model.parameters()]


@right
def class_f_04(model, losses, weights):
    model.zero_grad(set_to_none=True)
    for loss_fn, w in zip(losses, weights):
        if w == 0:
            continue
        loss = w * loss_fn(model)
        if loss.requires_grad:       # a loss of frozen parameters only has no graph
            loss.backward()
        del loss


# autograd.grad is asked for all parameters and raises when one is frozen or not used by a loss
@raised(effects.not_in_the_graph)
def class_f_12(model, losses, weights):
    params = list(model.parameters())
    sums = [torch.zeros_like(p) for p in params]
    for loss_fn, w in zip(losses, weights):
        grads = torch.autograd.grad(w * loss_fn(model), params)
        sums = [s + g for s, g in zip(sums, grads)]
    for p, s in zip(params, sums):
        p.grad = s


@right
def class_f_14(model, losses, weights):
    trainable = [p for p in model.parameters() if p.requires_grad]
    model.zero_grad(set_to_none=True)
    for loss_fn, w in zip(losses, weights):
        if w == 0:
            continue
        handles = [p.register_hook(lambda g, w=w: g * w) for p in trainable]
        try:
            loss = loss_fn(model)
            if loss.requires_grad:
                loss.backward()
            del loss
        finally:
            for handle in handles:
                handle.remove()


# the gradients of each loss are kept without clone and then zeroed in place, so all snapshots are the same tensor
# and only the last loss is seen, times the sum of the weights
@wrong(mistakes.last_gradient_for_every_loss)
def class_f_16(model, losses, weights):
    params = [p for p in model.parameters() if p.requires_grad]
    for p in params:
        p.grad = torch.zeros_like(p)
    per_loss = []
    for loss_fn in losses:
        model.zero_grad(set_to_none=False)
        loss_fn(model).backward()
        per_loss.append([p.grad for p in params])
    for k, p in enumerate(params):
        p.grad = sum(w * g[k] for w, g in zip(weights, per_loss))


# every parameter starts with a zero .grad, the frozen ones too, whose .grad must stay None
@wrong(mistakes.frozen_got_zeros)
def class_f_17(model, losses, weights):
    for p in model.parameters():
        p.grad = torch.zeros_like(p)
    for loss_fn, w in zip(losses, weights):
        if w != 0:
            value = loss_fn(model)
            if value.requires_grad:
                (w * value).backward()
            del value


# only the parameters of the child modules are cleared, so a parameter that belongs to the model itself keeps its
# old gradient in the sum
@wrong(says='What is too much is exactly the .grad that was there before the call.')
def class_f_19(model, losses, weights):
    for layer in model.children():
        layer.zero_grad()
    for loss_fn, w in zip(losses, weights):
        l = w * loss_fn(model)
        if l.requires_grad:
            l.backward()
        del l


# the gradients are written into a deep copy of the model, the .grad of the model itself is left as it was
@wrong(mistakes.grad_left_untouched)
def class_f_20(model, losses, weights):
    net = copy.deepcopy(model)      # do not disturb the original
    net.zero_grad()
    for loss_fn, w in zip(losses, weights):
        (w * loss_fn(net)).backward()
    return {name: p.grad for name, p in net.named_parameters()}


# each loss is called a second time for the log AND the gradients are clipped at the end
@wrong(says='On case 1: the losses of a weight other than zero were called so often: 2 and 2; asked is once each.')
def class_f_21(model, losses, weights):
    model.zero_grad()
    history = []
    for loss_fn, w in zip(losses, weights):
        loss = w * loss_fn(model)
        loss.backward()
        with torch.no_grad():
            history.append(loss_fn(model).item())
    torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    return history


@right
def class_f_22(model, losses, weights):
    def one(loss_fn, w):
        value = loss_fn(model)
        if value.requires_grad:
            torch.autograd.backward(value, grad_tensors=torch.full_like(value, w))

    def rest(pairs):
        if not pairs:
            return
        one(*pairs[0])
        rest(pairs[1:])

    for p in model.parameters():
        p.grad = None
    rest([(l, w) for l, w in zip(losses, weights) if w != 0])


class GradientSum:
    """Adds w * gradient of one loss after the other to its own buffers."""

    def __init__(self, model):
        self.model = model
        self.sums = {}
        self.clear()

    def clear(self):
        for p in self.model.parameters():
            p.grad = None

    def add(self, loss_fn, w):
        loss = loss_fn(self.model)
        if loss.requires_grad:
            loss.backward()
        for p in self.model.parameters():
            if p.grad is not None:
                self.sums[p] = self.sums.get(p, 0) + w * p.grad
        self.clear()

    def write(self):
        for p, g in self.sums.items():
            p.grad = g

@right
def class_f_23(model, losses, weights):
    s = GradientSum(model)
    for loss_fn, w in zip(losses, weights):
        if w:
            s.add(loss_fn, w)
    s.write()


# the weight is looked up with losses.index, so a loss that stands twice gets its first weight both times AND
# requires_grad_(True) unfreezes the frozen parameters
@wrong(effects.changed_requires_grad)
def class_f_25(model, losses, weights):
    for p in model.parameters():
        p.requires_grad_(True)
        p.grad = None
    for loss_fn in losses:
        w = weights[losses.index(loss_fn)]
        loss = w * loss_fn(model)
        loss.backward()


# zero_grad stands inside the loop, so only the last loss is left in .grad
@wrong(mistakes.cleared_between_backwards)
def class_g_03(model, losses, weights):
    for loss_fn, w in zip(losses, weights):
        model.zero_grad()
        loss = loss_fn(model) * w
        loss.backward()
    return [p.grad for p in model.parameters()]


# two nested loops pair every loss with every weight, so each loss is called len(weights) times and gets the sum of
# all weights AND the old .grad is not cleared
@wrong(says='On case 1: the losses of a weight other than zero were called so often: 2 and 2; asked is once each.')
def class_g_07(model, losses, weights):
    for loss_fn in losses:
        for w in weights:
            loss = w * loss_fn(model)
            loss.backward()


# retain_graph=True and a history list keep every earlier graph alive while the next loss is called
@wrong(mistakes.graphs_kept_alive)
def class_g_16(model, losses, weights):
    model.zero_grad()
    history = []
    for loss_fn, w in zip(losses, weights):
        loss = w * loss_fn(model)
        loss.backward(retain_graph=True)   # otherwise "backward a second time" error
        history.append(loss)
    return [h.item() for h in history]


@right
def class_g_19(model, losses, weights):
    collected = {}
    for i, loss_fn in enumerate(losses):
        model.zero_grad(set_to_none=True)
        loss = loss_fn(model)
        if loss.requires_grad:
            loss.backward()
        for p in model.parameters():
            if p.grad is not None:
                part = weights[i] * p.grad
                collected[p] = collected[p] + part if p in collected else part
    for p in model.parameters():
        p.grad = collected.get(p)      # None if nobody used it


# every parameter, the frozen ones too, gets a zero .grad where None should stay AND each loss is called a second
# time for the printed log
@wrong(mistakes.loss_not_called_once)
def class_g_21(model, losses, weights, verbose=False):
    for p in model.parameters():
        p.grad = torch.zeros_like(p)
    log = []
    for fn, w in zip(losses, weights):
        (w * fn(model)).backward()
        log.append(fn(model).item())
    if verbose:
        print(log)


class _Weighted:
    """runs one loss and scales the gradient that enters its graph"""
    def __init__(self, fn, w):
        self.fn, self.w = fn, w

    def run(self, model):
        loss = self.fn(model).clone()
        if loss.requires_grad:
            loss.register_hook(lambda g: g * self.w)
            loss.backward()

@right
def class_g_23(model, losses, weights):
    for module in model.modules():
        for p in module.parameters(recurse=False):
            p.grad = None
    for job in map(_Weighted, losses, weights):
        if job.w:
            job.run(model)
    return model


# works on a deep copy of the model, so the .grad of the model that was handed over is only cleared and never filled
@wrong(mistakes.cut_off_from_the_model)
def class_g_25(model, losses, weights):
    model.zero_grad()
    clone = copy.deepcopy(model)     # so that nothing of the original is changed
    for fn, w in zip(losses, weights):
        loss = fn(clone)
        (w * loss).backward()
    return {n: p.grad for n, p in clone.named_parameters()}


@right
def class_h_02(model, losses, weights):
    for p in model.parameters():
        p.grad = None
    for i in range(len(losses)):
        if weights[i] == 0:
            continue
        loss = losses[i](model)
        if loss.requires_grad:
            loss = loss * weights[i]
            loss.backward()      # frees this graph, adds into .grad


# the whole accumulated .grad is multiplied by the weight after each backward, so earlier losses get the later
# weights too AND a parameter without .grad (unused, frozen) raises
@wrong(mistakes.running_grad_scaled)
def class_h_06(model, losses, weights):
    model.zero_grad()
    for k in range(len(losses)):
        l = losses[k](model)
        l.backward()
        for p in model.parameters():
            p.grad *= weights[k]


# a dict from loss to weight keeps a repeated loss only once, with its last weight
@wrong(mistakes.same_loss_same_weight)
def class_h_09(model, losses, weights):
    model.zero_grad(set_to_none=True)
    table = dict(zip(losses, weights))
    for f, w in table.items():
        (f(model) * w).backward()
    return {n: p.grad for n, p in model.named_parameters()}


# optimizer.step() changes the parameters, after each loss AND optimizer.zero_grad() in the loop leaves only the
# last loss in .grad
@wrong(effects.changed_parameters)
def class_h_10(model, losses, weights):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    for criterion, weight in zip(losses, weights):
        optimizer.zero_grad()
        loss = criterion(model) * weight
        loss.backward()
        optimizer.step()


# the loss is rebuilt from its number with torch.tensor(loss.item() * w), which cuts the graph: no gradient reaches
# the parameters AND the graph of a loss is still alive when the next one is called
@wrong(mistakes.cut_off_from_the_model)
def class_h_12(model, losses, weights):
    for p in model.parameters():
        p.grad = None
    for loss_fn, w in zip(losses, weights):
        loss = loss_fn(model)
        weighted = torch.tensor(loss.item() * w, requires_grad=True)
        weighted.backward()


@right
def class_h_14(model, losses, weights):
    params = [p for p in model.parameters() if p.requires_grad]
    sums = [None] * len(params)

    def grads_of(fn, w):
        value = fn(model)
        if not value.requires_grad:
            return [None] * len(params)
        return torch.autograd.grad(w * value, params, allow_unused=True)

    for fn, w in zip(losses, weights):
        if w != 0:
            sums = [g if s is None else s if g is None else s + g
                    for s, g in zip(sums, grads_of(fn, w))]
    for p, s in zip(params, sums):
        p.grad = None if s is None else s.detach().clone()


# .grad is written only for parameters that some loss uses, so an unused one keeps its old .grad
@wrong(mistakes.unused_kept_old_gradient)
def class_h_18(model, losses, weights):
    acc = {}
    ps = {n: p for n, p in model.named_parameters() if p.requires_grad}
    for fn, w in zip(losses, weights):
        gs = torch.autograd.grad(fn(model), list(ps.values()), allow_unused=True)
        for n, g in zip(ps, gs):
            if g is not None:
                acc[n] = acc.get(n, 0) + w * g
    for n, g in acc.items():
        ps[n].grad = g
    return acc


@right
def class_h_20(model, losses, weights):
    def rest(k):
        if k == len(losses):
            return
        value = losses[k](model)
        if value.requires_grad:
            torch.autograd.backward(value * float(weights[k]))
        del value
        rest(k + 1)

    for p in model.parameters():
        if p.grad is not None:
            p.grad = torch.zeros_like(p.grad) if p.requires_grad else None
    rest(0)


# model.train() switches the mode of the model and it is never put back (so dropout and batch norm in an eval model
# act otherwise, too)
@wrong(says='It fails on case 10 alone, where the model has batch norm and dropout.')
def class_h_21(model, losses, weights):
    model.train()
    model.zero_grad()
    for loss_fn, w in zip(losses, weights):
        loss = loss_fn(model)
        (w * loss).backward()


@right
def class_h_24(model, losses, weights):
    current = {"w": 1.0}
    handles = []
    for p in model.parameters():
        p.grad = None
        if p.requires_grad:
            handles.append(p.register_hook(lambda g: g * current["w"]))
    try:
        for fn, w in zip(losses, weights):
            current["w"] = w
            out = fn(model)
            if out.requires_grad:
                out.backward()
            del out
    finally:
        for h in handles:
            h.remove()


# written for exactly two losses, any other number raises in the unpacking AND both losses are called before the
# first backward, so two graphs are alive
@wrong(mistakes.graphs_kept_alive)
def class_h_25(model, losses, weights):
    loss_fn_a, loss_fn_b = losses
    w_a, w_b = weights
    model.zero_grad()
    loss_a = loss_fn_a(model)
    loss_b = loss_fn_b(model)
    (w_a * loss_a).backward()
    (w_b * loss_b).backward()


# the first loss's gradient replaces what is in .grad, and what it does not reach keeps its old gradient
@wrong(mistakes.cleared_where_the_first_loss_reaches)
def first_loss_replaces(model, losses, weights):
    trained = [p for p in model.parameters() if p.requires_grad]
    first = True
    for loss, weight in zip(losses, weights):
        for p, g in zip(trained, torch.autograd.grad(weight * loss(model), trained, allow_unused=True)):
            if g is not None:
                p.grad = g.clone() if first or p.grad is None else p.grad + g
        first = False


# the weight is looked up with losses.index, so the second place of a loss that stands in the list twice gets the
# weight of the first
@wrong(mistakes.same_loss_same_weight)
def class_i_08(model, losses, weights):
    model.zero_grad(set_to_none=True)
    for loss in losses:
        weight = weights[losses.index(loss)]
        if weight != 0:
            (loss(model) * weight).backward()


# optimizer.step() moves the parameters AND the gradients are clipped to norm 1
@wrong()
def class_i_10(model, losses, weights):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    optimizer.zero_grad()
    for loss_fn, weight in zip(losses, weights):
        loss = weight * loss_fn(model)
        loss.backward()
    torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    optimizer.step()


# retain_graph=True keeps the last graph alive while the next loss is called AND the sum is divided by the number of
# losses
@wrong(mistakes.averaged_over_losses)
def class_i_11(model, losses, weights):
    for p in model.parameters():
        p.grad = None
    n = len(losses)
    for loss_fn, weight in zip(losses, weights):
        loss = loss_fn(model) * weight / n
        loss.backward(retain_graph=True)


# p.grad is None for a parameter that a loss does not use, and weight * None raises TypeError
@raised(effects.grad_is_none)
def class_i_14(model, losses, weights):
    trainable = {name: p for name, p in model.named_parameters() if p.requires_grad}
    acc = {name: torch.zeros_like(p) for name, p in trainable.items()}
    for loss_fn, weight in zip(losses, weights):
        model.zero_grad()
        loss_fn(model).backward()
        for name, p in trainable.items():
            acc[name] += weight * p.grad
    model.zero_grad()
    for name, p in trainable.items():
        p.grad = acc[name]
    return acc


# the parameters are gathered module by module, so a tied one is in the list twice and its gradient is added twice
@wrong(says='Right: `first.bias` (.grad after the call) and `second.bias` (.grad after the call). Wrong: `first.weight` (.grad after the call).')
def class_i_18(model, losses, weights):
    params = [p for m in model.modules()
                for p in m.parameters(recurse=False) if p.requires_grad]
    for p in params:
        p.grad = None
    for loss_fn, weight in zip(losses, weights):
        grads = torch.autograd.grad(weight * loss_fn(model), params, allow_unused=True)
        for p, g in zip(params, grads):
            if g is None:
                continue
            p.grad = g.clone() if p.grad is None else p.grad + g


# the hooks that scale the gradients are never removed, so every later backward through the model is scaled by the
# last weight
@wrong(mistakes.hooks_left_behind)
def class_i_21(model, losses, weights):
    model.zero_grad()
    current = {"weight": 1.0}
    for p in model.parameters():
        if p.requires_grad:
            p.register_hook(lambda g: g * current["weight"])
    for loss_fn, weight in zip(losses, weights):
        current["weight"] = weight
        loss_fn(model).backward()


@right
def class_i_23(model, losses, weights):
    torch.optim.SGD(model.parameters(), lr=0.0).zero_grad()
    backward = lambda t: t.requires_grad and t.backward()
    return [backward(c * f(model)) for f, c in zip(losses, weights)] and None


class Accumulator:
    """Walks one graph after the other, the .grad fields are the ledger."""

    def __init__(self, model):
        self.model = model

    def reset(self):
        for p in self.model.parameters():
            if p.grad is not None:
                p.grad = torch.zeros_like(p) if p.requires_grad else None

    def add(self, loss_fn, weight):
        loss = loss_fn(self.model)
        if loss.requires_grad:
            (loss * weight).backward()

@right
def class_i_25(model, losses, weights):
    ledger = Accumulator(model)
    ledger.reset()
    for position in range(len(losses)):
        ledger.add(losses[position], weights[position])
