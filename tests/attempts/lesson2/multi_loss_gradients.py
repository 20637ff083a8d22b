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
def backward_each(model, losses, weights):
    model.zero_grad()
    for loss_fn, weight in zip(losses, weights):
        loss = weight * loss_fn(model)
        loss.backward()


@right
def finished_losses_are_kept_for_the_log(model, losses, weights):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    optimizer.zero_grad()
    log = []
    for loss_fn, weight in zip(losses, weights, strict=True):
        loss = loss_fn(model)
        torch.autograd.backward(loss * weight)
        log.append(loss)
    return log


@right
def fresh_zeros_where_trainable(model, losses, weights):
    for p in model.parameters():
        if p.requires_grad:
            p.grad = torch.zeros_like(p)
    for loss_fn, weight in zip(losses, weights):
        loss_fn(model).backward(torch.tensor(weight))


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
def weight_through_backward(model, losses, weights):
    for p in model.parameters():
        p.grad = None
    for loss_fn, weight in zip(losses, weights):
        loss = loss_fn(model)
        loss.backward(gradient=torch.full_like(loss, weight))


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


# the old .grad is never cleared, so the result is added to whatever was there before
@wrong(mistakes.started_from_old_gradients)
def class_a_01(model, losses, weights):
    for loss_fn, weight in zip(losses, weights):
        loss = loss_fn(model)
        loss = weight * loss
        if loss.requires_grad:
            loss.backward()


@right
def class_a_02(model, losses, weights):
    # throw away what is in the ledger
    model.zero_grad()
    for i in range(len(losses)):
        loss = losses[i](model) * weights[i]
        # a loss that touches only frozen things has no graph
        if loss.requires_grad:
            loss.backward()   # adds to .grad and frees the graph


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


# computes all losses in a list before the first backward, so every graph is alive when the later losses are called
@wrong(mistakes.graphs_kept_alive)
def class_a_05(model, losses, weights):
    model.zero_grad(set_to_none=True)

    # 1. forward
    values = []
    for loss_fn in losses:
        values.append(loss_fn(model))

    # 2. one backward per loss
    for value, weight in zip(values, weights):
        if value.requires_grad:
            (value * weight).backward()


@right
def class_a_06(model, losses, weights):
    params = [p for p in model.parameters() if p.requires_grad]
    sums = [torch.zeros_like(p, requires_grad=False) for p in params]
    for f, w in zip(losses, weights):
        if w == 0:
            continue
        value = f(model)
        if not params or not value.requires_grad:
            continue
        grads = torch.autograd.grad(value, params, allow_unused=True)
        del value
        for s, g in zip(sums, grads):
            if g is not None:
                s.add_(g, alpha=w)
    for p, s in zip(params, sums):
        p.grad = s


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


# divides by the sum of the weights: a weighted average of the losses, not the weighted sum
@wrong(mistakes.weights_normalised)
def class_a_08(model, losses, weights):
    for p in model.parameters():
        p.grad = None
    norm = sum(weights)
    for k, loss_fn in enumerate(losses):
        loss = loss_fn(model)
        loss = loss * (weights[k] / norm)
        if loss.requires_grad:
            loss.backward()


# after each backward the whole accumulated .grad is multiplied by the weight, so earlier losses are multiplied by
# all later weights too
@wrong(mistakes.running_grad_scaled)
def class_a_09(model, losses, weights):
    model.zero_grad()
    for loss_fn, w in zip(losses, weights):
        loss = loss_fn(model)
        if loss.requires_grad:
            loss.backward()
        # weight the gradient
        with torch.no_grad():
            for p in model.parameters():
                if p.grad is not None:
                    p.grad *= w


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


# retain_graph=True, and the variable loss keeps the previous graph alive while the next loss is called
@wrong(mistakes.graphs_kept_alive)
def class_a_16(model, losses, weights):
    model.zero_grad()
    for i in range(len(losses)):
        loss = weights[i] * losses[i](model)
        if loss.requires_grad:
            # otherwise "Trying to backward through the graph a second time"
            loss.backward(retain_graph=True)


# parameters that no loss uses keep their old .grad: only the parameters that get a gradient are overwritten
@wrong(mistakes.unused_kept_old_gradient)
def class_a_17(model, losses, weights):
    params = [p for p in model.parameters() if p.requires_grad]
    acc = {}
    for loss_fn, w in zip(losses, weights):
        loss = loss_fn(model)
        if not loss.requires_grad:
            continue
        grads = torch.autograd.grad(loss, params, allow_unused=True)
        for p, g in zip(params, grads):
            if g is not None:
                acc[p] = acc.get(p, 0) + w * g
    for p, g in acc.items():
        p.grad = g


# sets .grad to zeros for every parameter, so a frozen one ends with zeros where None should stay
@wrong(mistakes.frozen_got_zeros)
def class_a_18(model, losses, weights):
    # start with an empty ledger
    for p in model.parameters():
        p.grad = torch.zeros_like(p, requires_grad=False)
    for loss_fn, w in zip(losses, weights):
        loss = loss_fn(model) * w
        if loss.requires_grad:
            loss.backward()


# skips every weight that is not positive, so losses of negative weight are left out
@wrong(mistakes.negative_weight_skipped)
def class_a_19(model, losses, weights):
    model.zero_grad()
    for loss, w in zip(losses, weights):
        if w > 0:
            v = loss(model)
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
@wrong(says='Right to about 5 to 8 digits and 3 digits in float32, and not further, as an approximation, a rounded number or a lower precision on the way would leave it; a missing factor would be seen in the first digit.')
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


# model.zero_grad is named but not called (no parentheses), so the old gradients stay and the new ones are added to
# them
@wrong(mistakes.started_from_old_gradients)
def class_b_01(model, losses, weights):
    model.zero_grad          # clear old gradients
    for loss_fn, weight in zip(losses, weights):
        loss = loss_fn(model)
        weighted = weight * loss
        weighted.backward()


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


@right
def class_b_03(model, losses, weights):
    params = [p for p in model.parameters() if p.requires_grad]
    sums = [None] * len(params)
    for f, w in zip(losses, weights):
        out = f(model)
        if not params or not out.requires_grad:
            continue
        gs = torch.autograd.grad(out, params, allow_unused=True)
        del out
        sums = [s if g is None else (w * g if s is None else s + w * g)
                for s, g in zip(sums, gs)]
    for p in model.parameters():
        p.grad = None
    for p, s in zip(params, sums):
        p.grad = s


# .grad is multiplied by the weight after each backward, so the parts of the earlier losses are scaled again by
# every later weight
@wrong(mistakes.running_grad_scaled)
def class_b_04(model, losses, weights):
    for p in model.parameters():
        p.grad = None
    for k in range(len(losses)):
        losses[k](model).backward()
        # now apply the weight to the gradient
        for p in model.parameters():
            if p.grad is not None:
                p.grad *= weights[k]


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


# all losses are computed first and walked back afterwards, so all their graphs are alive at the same time
@wrong(mistakes.graphs_kept_alive)
def class_b_07(model, losses, weights):
    model.zero_grad()
    values = [loss(model) for loss in losses]
    for value, weight in zip(values, weights):
        (weight * value).backward()


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


# losses of negative weight are skipped, too
@wrong(mistakes.negative_weight_skipped)
def class_b_12(model, losses, weights):
    model.zero_grad()
    for loss, weight in zip(losses, weights):
        if weight <= 0:      # contributes nothing
            continue
        (weight * loss(model)).backward()


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


@right
def class_b_16(model, losses, weights):
    model.zero_grad()
    current = {"w": 1.0}
    handles = []
    for p in model.parameters():
        if p.requires_grad:
            handles.append(p.register_hook(lambda g: g * current["w"]))
    try:
        for loss, w in zip(losses, weights):
            value = loss(model)
            current["w"] = w
            if value.requires_grad:
                value.backward()
            current["w"] = 1.0
            value = None
    finally:
        for h in handles:
            h.remove()


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


# zero_grad stands inside the loop, so only the gradient of the last loss survives
@wrong(mistakes.cleared_between_backwards)
def class_c_01(model, losses, weights):
    for loss_fn, weight in zip(losses, weights):
        model.zero_grad()
        loss = loss_fn(model)
        total = weight * loss
        total.backward()


# .grad is never cleared, so what was there before is still in the result
@wrong(mistakes.started_from_old_gradients)
def class_c_02(model, losses, weights):
    # backward adds up by itself, so nothing else to do
    for i in range(len(losses)):
        l = losses[i](model) * weights[i]
        l.backward()
        del l


@right
def class_c_03(model, losses, weights):
    for p in model.parameters():
        p.grad = None
    for fn, w in zip(losses, weights):
        if w == 0:
            continue
        loss = w * fn(model)
        if loss.requires_grad:      # nothing to do when everything it uses is frozen
            loss.backward()
        del loss                    # let go of the graph before the next call


# all losses are added to one graph and a single backward is called at the end: every graph is alive at once
@wrong(mistakes.graphs_kept_alive)
def class_c_04(model, losses, weights):
    model.zero_grad()
    total_loss = 0.0
    for loss_fn, w in zip(losses, weights):
        total_loss = total_loss + w * loss_fn(model)
    total_loss.backward()
    return total_loss.item()


# after each backward the whole .grad is multiplied by the weight, so earlier losses are scaled by the later weights
# too
@wrong(mistakes.running_grad_scaled)
def class_c_05(model, losses, weights):
    model.zero_grad()
    for loss_fn, weight in zip(losses, weights):
        loss_fn(model).backward()
        # apply the weight to the gradient
        for param in model.parameters():
            if param.grad is not None:
                param.grad *= weight


# an optimizer step at the end moves the parameters of the model
@wrong(effects.changed_parameters)
def class_c_06(model, losses, weights):
    optimizer = optim.SGD(model.parameters(), lr=0.01)
    optimizer.zero_grad()
    for criterion, w in zip(losses, weights):
        loss = criterion(model) * w
        loss.backward()
    optimizer.step()


# a dict from loss to weight loses a loss that stands in the list twice: it counts once, with the last weight
@wrong(mistakes.same_loss_same_weight)
def class_c_07(model, losses, weights):
    model.zero_grad()
    for loss, weight in dict(zip(losses, weights)).items():
        (weight * loss(model)).backward()


@right
def class_c_08(model, losses, weights):
    model.zero_grad()
    params = [p for p in model.parameters() if p.requires_grad]
    sums = [torch.zeros_like(p) for p in params]

    def one(loss_function, weight):
        value = loss_function(model)
        if not value.requires_grad:
            return
        for s, g in zip(sums, torch.autograd.grad(value, params, allow_unused=True)):
            if g is not None:
                s.add_(g, alpha=weight)

    for k in range(len(losses)):
        one(losses[k], weights[k])
    for p, s in zip(params, sums):
        p.grad = s


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


# a weight that is not positive is skipped, so losses with a negative weight are missing
@wrong(mistakes.negative_weight_skipped)
def class_c_10(model, losses, weights):
    model.zero_grad(set_to_none=True)
    for loss, weight in zip(losses, weights):
        if weight > 0:                    # zero may be left out
            (weight * loss(model)).backward()


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


# the losses become plain numbers through .item(), so a new tensor without connection to the model is backpropagated
# and the gradients stay None
@wrong(mistakes.cut_off_from_the_model)
def class_c_12(model, losses, weights):
    model.zero_grad()
    for loss_fn, w in zip(losses, weights):
        value = loss_fn(model).item()
        weighted = torch.tensor(w * value, requires_grad=True)
        weighted.backward()


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


# a parameter that no loss uses is not cleared, it keeps the old .grad
@wrong(mistakes.unused_kept_old_gradient)
def class_c_15(model, losses, weights):
    result = {}
    named = {n: p for n, p in model.named_parameters() if p.requires_grad}
    for f, w in zip(losses, weights):
        grads = torch.autograd.grad(f(model), list(named.values()), allow_unused=True)
        for name, g in zip(named, grads):
            if g is None:
                continue
            result[name] = result.get(name, 0) + w * g
    for name, g in result.items():
        named[name].grad = g


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


# backward is given a Python float as its gradient, which raises a TypeError
@raised(effects.gradient_is_no_tensor)
def class_c_18(model, losses, weights):
    model.zero_grad()
    for loss_fn, w in zip(losses, weights):
        loss = loss_fn(model)
        loss.backward(gradient=float(w))


# the gradients are divided by the sum of the weights (a weighted mean, not a sum) AND each loss is called a second
# time to collect its value
@wrong(mistakes.weights_normalised)
def class_c_19(model, losses, weights):
    history = []
    total_w = sum(weights)
    for p in model.parameters():
        p.grad = None
    for l, w in zip(losses, weights):
        (l(model) * w / total_w).backward()
        history.append(l(model).item())
    return history


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


# hooks that scale the gradient by the weight stay on the parameters, so later hooks multiply on top of the earlier
# ones
@wrong(mistakes.hooks_left_behind)
def class_c_21(model, losses, weights):
    model.zero_grad()
    for loss, weight in zip(losses, weights):
        for p in model.parameters():
            if p.requires_grad:
                p.register_hook(lambda g, weight=weight: g * weight)
        loss(model).backward()


class Ledger_of_class_c_22:
    def __init__(self, model):
        self.params = [p for p in model.parameters() if p.requires_grad]
        self.model = model
        self.rows = [None] * len(self.params)

    def book(self, loss_fn, weight):
        self.model.zero_grad(set_to_none=True)
        loss = loss_fn(self.model)
        if not loss.requires_grad:
            return
        loss.backward()
        for i, p in enumerate(self.params):
            if p.grad is not None:
                scaled = p.grad * weight
                self.rows[i] = scaled if self.rows[i] is None else self.rows[i] + scaled

    def close(self):
        for p, row in zip(self.params, self.rows):
            p.grad = row

@right
def class_c_22(model, losses, weights):
    ledger = Ledger_of_class_c_22(model)
    for loss_fn, weight in zip(losses, weights):
        if weight != 0:
            ledger.book(loss_fn, weight)
    ledger.close()


# every parameter gets a .grad of zeros first, so a frozen one ends with zeros in place of None
@wrong(mistakes.frozen_got_zeros)
def class_c_23(model, losses, weights):
    for p in model.parameters():
        p.grad = torch.zeros_like(p)
    for loss_fn, w in zip(losses, weights):
        loss = w * loss_fn(model)
        loss.backward()
        del loss


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


# the result carries a graph: with create_graph=True the tensors in .grad require gradients themselves
@wrong(mistakes.graphs_kept_alive)
def class_c_26(model, losses, weights):
    ps = [p for p in model.parameters() if p.requires_grad]
    for p in ps:
        p.grad = None
    for f, w in zip(losses, weights):
        torch.autograd.backward(w * f(model), inputs=ps, create_graph=True)


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


# zero_grad stands inside the loop, so only the gradient of the last loss survives
@wrong(mistakes.cleared_between_backwards)
def class_d_02(model, losses, weights):
    for loss_fn, w in zip(losses, weights):
        model.zero_grad()
        loss = loss_fn(model) * w
        loss.backward()


@right
def class_d_03(model, losses, weights):
    # start from nothing
    model.zero_grad()
    for loss_fn, w in zip(losses, weights):
        loss = w * loss_fn(model)
        if loss.requires_grad:
            loss.backward()
        del loss


# the weighted losses are summed and walked in a single backward, so all graphs are alive at once
@wrong(mistakes.graphs_kept_alive)
def class_d_04(model, losses, weights):
    model.zero_grad()
    total_loss = 0.0
    for loss_fn, weight in zip(losses, weights):
        total_loss = total_loss + weight * loss_fn(model)
    total_loss.backward()
    return total_loss.item()


# all losses are called first and walked afterwards, so all graphs are alive at once although each has its own
# backward
@wrong(mistakes.graphs_kept_alive)
def class_d_05(model, losses, weights):
    for p in model.parameters():
        p.grad = None
    values = [f(model) for f in losses]
    while values:
        (weights[len(values) - 1] * values.pop()).backward()


# after each backward the whole .grad is multiplied by the weight, which scales the earlier losses' gradients again
@wrong(mistakes.running_grad_scaled)
def class_d_06(model, losses, weights):
    model.zero_grad()
    for k, loss_function in enumerate(losses):
        loss = loss_function(model)
        loss.backward()
        # now the weight
        for p in model.parameters():
            if p.grad is not None:
                p.grad *= weights[k]


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


# the weights are put in a dict keyed by the loss, so a loss that stands in the list twice counts once, with its
# last weight
@wrong(mistakes.same_loss_same_weight)
def class_d_09(model, losses, weights):
    model.zero_grad(set_to_none=True)
    table = dict(zip(losses, weights))
    for f in table:
        (table[f] * f(model)).backward()


# the gradients are summed into a dict that is returned, .grad is never written
@wrong(mistakes.grad_left_untouched)
def class_d_10(model, losses, weights):
    params = {n: p for n, p in model.named_parameters() if p.requires_grad}
    out = {n: torch.zeros_like(p) for n, p in params.items()}
    for f, w in zip(losses, weights):
        gs = torch.autograd.grad(w * f(model), list(params.values()), allow_unused=True)
        for n, g in zip(params, gs):
            if g is not None:
                out[n] = out[n].detach() + g
    return out


# autograd.grad without allow_unused raises as soon as one loss does not use every parameter
@raised(effects.not_in_the_graph)
def class_d_11(model, losses, weights):
    trainable = [p for p in model.parameters() if p.requires_grad]
    for p in trainable:
        p.grad = torch.zeros_like(p)
    for f, w in zip(losses, weights):
        for p, g in zip(trainable, torch.autograd.grad(f(model), trainable)):
            p.grad += w * g


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


# p.grad.zero_() is called on every parameter, which raises AttributeError where .grad is None
@raised(effects.grad_is_none)
def class_d_13(model, losses, weights):
    # reset the gradients like in the lecture
    for param in model.parameters():
        param.grad.zero_()
    for loss_fn, weight in zip(losses, weights):
        loss = loss_fn(model)
        (weight * loss).backward()


# the weights are made a float32 tensor, so in a float64 model they are only right to seven digits
@right
def class_d_14(model, losses, weights):
    w = torch.tensor(weights, dtype=torch.float32)
    model.zero_grad()
    for i, f in enumerate(losses):
        torch.mul(f(model), w[i]).backward()


# create_graph=True keeps every graph alive and leaves .grad with a graph attached
@wrong(mistakes.graphs_kept_alive)
def class_d_15(model, losses, weights):
    for p in model.parameters():
        p.grad = None
    for f, w in zip(losses, weights):
        (w * f(model)).backward(create_graph=True)


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


# the test for leaving out weight zero is w > 0, so losses with a negative weight are left out too
@wrong(mistakes.negative_weight_skipped)
def class_d_18(model, losses, weights):
    model.zero_grad()
    for f, w in zip(losses, weights):
        if w > 0:                      # zero weights cost nothing
            (w * f(model)).backward()


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
@wrong(says='The result does not change when `weights` changes.')
def class_d_20(model, losses, weights):
    model.train()
    model.zero_grad()
    for loss_object in losses:
        loss_value = loss_object(model)
        loss_value.backward()
    return model


@right
def class_d_21(model, losses, weights):
    # v^T J with v = the weight: no need to multiply the loss
    for p in model.parameters():
        if p.grad is not None:
            p.grad = None
    i = 0
    while i < len(losses):
        loss = losses[i](model)
        if loss.requires_grad:
            loss.backward(gradient=torch.full_like(loss, weights[i]))
        loss = None
        i += 1


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


# all losses are added up and one single backward walks the sum, so every graph is alive at the same time
@wrong(mistakes.graphs_kept_alive)
def class_e_01(model, losses, weights):
    model.zero_grad()
    total = 0.0
    for loss_fn, w in zip(losses, weights):
        total = total + w * loss_fn(model)
    total.backward()
    return total.item()


# the old .grad is never cleared, the new gradients are added on top of it
@wrong(mistakes.started_from_old_gradients)
def class_e_02(model, losses, weights):
    # backward accumulates, so we only have to call it for each loss
    for i in range(len(losses)):
        loss = losses[i](model) * weights[i]
        if loss.requires_grad:
            loss.backward()


# zero_grad stands inside the loop, so only the gradient of the last loss survives
@wrong(mistakes.cleared_between_backwards)
def class_e_03(model, losses, weights):
    for loss_fn, weight in zip(losses, weights):
        model.zero_grad()
        loss = loss_fn(model)
        loss = loss * weight
        loss.backward()
    return model


@right
def class_e_04(model, losses, weights):
    model.zero_grad()
    for loss_fn, weight in zip(losses, weights):
        loss = weight * loss_fn(model)
        # a loss of frozen things only has nothing to walk
        if loss.requires_grad:
            loss.backward()
        del loss


# the weight multiplies the whole accumulated .grad after each backward, so earlier losses are scaled by all the
# later weights too
@wrong(mistakes.running_grad_scaled)
def class_e_05(model, losses, weights):
    for p in model.parameters():
        p.grad = None
    for f, w in zip(losses, weights):
        f(model).backward()
        for p in model.parameters():
            if p.grad is not None:
                p.grad *= w


# an optimizer step after the backwards changes the parameters of the model
@wrong(effects.changed_parameters)
def class_e_06(model, losses, weights):
    optimizer = optim.SGD(model.parameters(), lr=0.01)
    optimizer.zero_grad()
    running_loss = 0.0
    for criterion, w in zip(losses, weights):
        loss = w * criterion(model)
        loss.backward()
        running_loss += loss.item()
    optimizer.step()
    return running_loss


# a dict from loss to weight keeps only the last weight of a loss that stands in the list twice
@wrong(mistakes.same_loss_same_weight)
def class_e_07(model, losses, weights):
    weight_of = dict(zip(losses, weights))
    model.zero_grad(set_to_none=True)
    for fn, w in weight_of.items():
        (w * fn(model)).backward()


# the weight is looked up with losses.index, so a loss listed twice gets the weight of its first place both times
@wrong(mistakes.same_loss_same_weight)
def class_e_08(model, losses, weights):
    model.zero_grad()
    for loss_fn in losses:
        k = losses.index(loss_fn)
        l = loss_fn(model)
        (l * weights[k]).backward()


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


# all losses are computed in a list first and only then walked one by one, so all graphs are alive together
@wrong(mistakes.graphs_kept_alive)
def class_e_11(model, losses, weights):
    for p in model.parameters():
        p.grad = None
    values = [w * f(model) for f, w in zip(losses, weights)]
    while values:
        v = values.pop(0)
        if v.requires_grad:
            v.backward()
        del v


@right
def class_e_12(model, losses, weights):
    params = [p for p in model.parameters() if p.requires_grad]
    totals = [torch.zeros_like(p) for p in params]

    def one(f, w):
        loss = f(model)
        if not loss.requires_grad:
            return
        grads = torch.autograd.grad(loss, params, allow_unused=True)
        for t, g in zip(totals, grads):
            if g is not None:
                t.add_(g, alpha=w)

    for f, w in zip(losses, weights):
        one(f, w)
    for p in model.parameters():
        p.grad = None
    for p, t in zip(params, totals):
        p.grad = t


# autograd.grad without allow_unused raises as soon as one loss does not use every trainable parameter
@raised(effects.not_in_the_graph)
def class_e_13(model, losses, weights):
    params = [p for p in model.parameters() if p.requires_grad]
    acc = [torch.zeros_like(p) for p in params]
    for f, w in zip(losses, weights):
        gs = torch.autograd.grad(f(model), params)
        acc = [a + w * g for a, g in zip(acc, gs)]
    for p, a in zip(params, acc):
        p.grad = a.detach()


# every parameter gets a zero .grad at the start, a frozen one too, whose .grad should stay None
@wrong(mistakes.frozen_got_zeros)
def class_e_14(model, losses, weights):
    # make sure there is always something to add to
    for param in model.parameters():
        param.grad = torch.zeros_like(param)
    for loss_fn, w in zip(losses, weights):
        out = w * loss_fn(model)
        if out.requires_grad:
            out.backward()


# a trainable parameter that no loss uses is skipped at the write-back and keeps its old .grad
@wrong(mistakes.unused_kept_old_gradient)
def class_e_15(model, losses, weights):
    named = {n: p for n, p in model.named_parameters() if p.requires_grad}
    total = {}
    for f, w in zip(losses, weights):
        grads = torch.autograd.grad(w * f(model), list(named.values()), allow_unused=True)
        for name, g in zip(named, grads):
            if g is None:
                continue
            total[name] = g.clone() if name not in total else total[name] + g
    for name, g in total.items():
        named[name].grad = g


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


# the hooks that scale the gradient by w are never removed, so they stay on the parameters and the later losses are
# scaled by the earlier weights as well
@wrong(mistakes.hooks_left_behind)
def class_e_17(model, losses, weights):
    model.zero_grad()
    for loss_fn, w in zip(losses, weights):
        for p in model.parameters():
            if p.requires_grad:
                p.register_hook(lambda g, w=w: g * w)
        loss_fn(model).backward()


# losses with a negative weight are filtered out together with those of weight zero
@wrong(mistakes.negative_weight_skipped)
def class_e_18(model, losses, weights):
    model.zero_grad()
    for w, f in ((w, f) for w, f in zip(weights, losses) if w > 0):
        f(model).mul(w).backward()


# the weights are divided by their sum first, which gives a weighted average and no weighted sum AND the model is
# put into train mode and left there
@wrong(says='Every number of .grad after the call is 1/[the sum of the weights] times what it should be.')
def class_e_19(model, losses, weights):
    model.train()
    model.zero_grad()
    weights = np.array(weights) / np.sum(weights)
    for loss_fn, w in zip(losses, weights):
        loss = float(w) * loss_fn(model)
        loss.backward()


# the old gradients are cleared with p.grad.zero_(), which raises AttributeError where .grad is None
@raised(effects.grad_is_none)
def class_e_20(model, losses, weights):
    for p in model.parameters():
        p.grad.zero_()
    for loss_fn, w in zip(losses, weights):
        (loss_fn(model) * w).backward()


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


# written for exactly two losses: one alone raises IndexError and a third is ignored
@wrong(says='On case 2: the losses of a weight other than zero were called so often: 1 and 1 and 0; asked is once each.')
def class_e_24(model, losses, weights):
    model.zero_grad()
    (weights[0] * losses[0](model)).backward()
    (weights[1] * losses[1](model)).backward()


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


# adds up all weighted losses and runs one backward, so all graphs are alive at once instead of one backward per
# loss
@wrong(mistakes.graphs_kept_alive)
def class_f_01(model, losses, weights):
    model.zero_grad()
    total = 0
    for loss_fn, w in zip(losses, weights):
        total = total + w * loss_fn(model)
    total.backward()


# zero_grad stands inside the loop, so only the gradient of the last loss is left
@wrong(mistakes.cleared_between_backwards)
def class_f_02(model, losses, weights):
    for loss_fn, w in zip(losses, weights):
        model.zero_grad()
        loss = w * loss_fn(model)
        loss.backward()


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


# the weight is multiplied onto .grad after each backward, so the earlier losses in the sum are scaled by the later
# weights too
@wrong(mistakes.running_grad_scaled)
def class_f_05(model, losses, weights):
    for p in model.parameters():
        p.grad = None
    for loss_fn, w in zip(losses, weights):
        loss = loss_fn(model)
        loss.backward()
        for p in model.parameters():
            if p.grad is not None:
                p.grad *= w


# an optimizer step at the end changes the parameters
@wrong(effects.changed_parameters)
def class_f_06(model, losses, weights):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    optimizer.zero_grad()
    running_loss = 0.0
    for criterion, weight in zip(losses, weights):
        loss = weight * criterion(model)
        loss.backward()
        running_loss += loss.item()
    optimizer.step()
    return running_loss


# a dict with the losses as keys keeps a loss that stands twice only once, with its last weight
@wrong(mistakes.same_loss_same_weight)
def class_f_07(model, losses, weights):
    model.zero_grad()
    table = dict(zip(losses, weights))
    for loss, weight in table.items():
        (weight * loss(model)).backward()


@right
def class_f_08(model, losses, weights):
    params = [p for p in model.parameters() if p.requires_grad]
    total = [None] * len(params)

    def grads_of(loss_fn):
        value = loss_fn(model)
        if not value.requires_grad or not params:
            return [None] * len(params)
        return torch.autograd.grad(value, params, allow_unused=True)

    for loss_fn, w in zip(losses, weights):
        for k, g in enumerate(grads_of(loss_fn)):
            if g is not None:
                total[k] = w * g if total[k] is None else total[k] + w * g

    for p in model.parameters():
        p.grad = None
    for p, g in zip(params, total):
        p.grad = g


# all losses are computed first and walked afterwards, so their graphs are alive at the same time
@wrong(mistakes.graphs_kept_alive)
def class_f_09(model, losses, weights):
    model.zero_grad()
    values = [w * l(model) for l, w in zip(losses, weights)]
    for v in values:
        v.backward(retain_graph=True)


# the weights are normalised by their sum AND model.train() is left switched on
@wrong(says='Every number of .grad after the call is 1/[the sum of the weights] times what it should be.')
def class_f_10(model, losses, weights):
    model.train()
    model.zero_grad()
    s = sum(weights)
    for fn, w in zip(losses, weights):
        (fn(model) * (w / s)).backward()


# "loss *= w" scales the loss in place, which raises in backward (or at once) when the loss is the output of exp,
# sqrt, sigmoid ... or a parameter itself
@raised(effects.overwrote_saved_value)
def class_f_11(model, losses, weights):
    model.zero_grad(set_to_none=True)
    for loss_fn, w in zip(losses, weights):
        if w == 0.0:
            continue
        loss = loss_fn(model)
        if not loss.requires_grad:
            continue
        loss *= w
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


# losses with a negative weight are left out together with those of weight zero
@wrong(mistakes.negative_weight_skipped)
def class_f_13(model, losses, weights):
    for p in model.parameters():
        p.grad = None
    for fn, w in zip(losses, weights):
        if not w > 0:          # nothing to add
            continue
        out = fn(model)
        if out.requires_grad:
            out.backward(torch.as_tensor(w, dtype=out.dtype, device=out.device))
        del out


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


# the hooks that apply the weights are never removed, so later losses are scaled by the earlier weights too, and the
# hooks stay on the model
@wrong(mistakes.hooks_left_behind)
def class_f_15(model, losses, weights):
    model.zero_grad()
    for loss_fn, w in zip(losses, weights):
        for p in model.parameters():
            if p.requires_grad:
                p.register_hook(lambda g, w=w: g * w)
        loss_fn(model).backward()


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


# the old gradients are cleared by multiplying with 0, which leaves nan where they held nan or inf
@wrong(mistakes.cancelled_not_cleared)
def class_f_18(model, losses, weights):
    with torch.no_grad():
        for p in model.parameters():
            if p.grad is not None:
                p.grad.mul_(0)
    for loss_fn, w in zip(losses, weights):
        loss = loss_fn(model)
        if loss.requires_grad:
            (w * loss).backward()
        del loss


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


# written for exactly two losses: a third one is ignored, and a single one raises IndexError
@wrong(says='On case 2: the losses of a weight other than zero were called so often: 1 and 1 and 0; asked is once each.')
def class_f_24(model, losses, weights):
    model.zero_grad()
    loss1 = losses[0](model)
    (weights[0] * loss1).backward()
    del loss1
    loss2 = losses[1](model)
    (weights[1] * loss2).backward()


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


@right
def class_g_01(model, losses, weights):
    model.zero_grad(set_to_none=True)
    for loss_fn, weight in zip(losses, weights):
        if weight == 0:
            continue
        loss = weight * loss_fn(model)
        if loss.requires_grad:
            loss.backward()      # frees this graph
        del loss


# .grad is never cleared at the start, so the gradients from before are still in the result
@wrong(mistakes.started_from_old_gradients)
def class_g_02(model, losses, weights):
    for i in range(len(losses)):
        loss = losses[i](model)
        weighted = loss * weights[i]
        weighted.backward()


# zero_grad stands inside the loop, so only the last loss is left in .grad
@wrong(mistakes.cleared_between_backwards)
def class_g_03(model, losses, weights):
    for loss_fn, w in zip(losses, weights):
        model.zero_grad()
        loss = loss_fn(model) * w
        loss.backward()
    return [p.grad for p in model.parameters()]


# breaks the rule: adds all losses up and runs one backward at the end, with all graphs alive together
@wrong(mistakes.graphs_kept_alive)
def class_g_04(model, losses, weights):
    model.zero_grad()
    total = 0
    for loss_fn, w in zip(losses, weights):
        total = total + w * loss_fn(model)
    total.backward()


# loss.item() cuts the graph, backward runs on a fresh leaf and no parameter gets a gradient
@wrong(mistakes.cut_off_from_the_model)
def class_g_05(model, losses, weights):
    model.zero_grad()
    for l, w in zip(losses, weights):
        value = l(model).item() * w
        loss = torch.tensor(value, requires_grad=True)
        loss.backward()


# after each backward the whole .grad is multiplied by the weight, which scales the earlier losses again
@wrong(mistakes.running_grad_scaled)
def class_g_06(model, losses, weights):
    model.zero_grad()
    for loss_fn, w in zip(losses, weights):
        loss_fn(model).backward()
        # put the weight on the gradient
        for p in model.parameters():
            if p.grad is not None:
                p.grad.mul_(w)


# two nested loops pair every loss with every weight, so each loss is called len(weights) times and gets the sum of
# all weights AND the old .grad is not cleared
@wrong(says='On case 1: the losses of a weight other than zero were called so often: 2 and 2; asked is once each.')
def class_g_07(model, losses, weights):
    for loss_fn in losses:
        for w in weights:
            loss = w * loss_fn(model)
            loss.backward()


@right
def class_g_08(model, losses, weights):
    params = [p for p in model.parameters() if p.requires_grad]
    sums = [torch.zeros_like(p) for p in params]

    def one(loss_fn, w):
        value = loss_fn(model)
        if not value.requires_grad:
            return
        grads = torch.autograd.grad(value, params, allow_unused=True)
        for k, g in enumerate(grads):
            if g is not None:
                sums[k] = sums[k] + w * g

    for loss_fn, w in zip(losses, weights):
        if w != 0.0:
            one(loss_fn, w)
    for p, s in zip(params, sums):
        p.grad = s.detach()


# breaks the rule: all losses are called first and the backwards come afterwards, so all graphs are alive at once
@wrong(mistakes.graphs_kept_alive)
def class_g_09(model, losses, weights):
    model.zero_grad()
    values = [fn(model) for fn in losses]
    for v, w in zip(values, weights):
        (v * w).backward()


# the losses are the keys of a dict, so a loss that stands in the list twice counts once, with its last weight
@wrong(mistakes.same_loss_same_weight)
def class_g_10(model, losses, weights):
    model.zero_grad()
    table = dict(zip(losses, weights))
    for fn, w in table.items():
        out = fn(model)
        (w * out).backward()


# loss.backward(w) with a float raises a TypeError, the gradient argument has to be a tensor
@raised(effects.gradient_is_no_tensor)
def class_g_11(model, losses, weights):
    model.zero_grad()
    for loss_fn, w in zip(losses, weights):
        loss = loss_fn(model)
        loss.backward(w)


# an SGD step at the end changes the parameters
@wrong(effects.changed_parameters)
def class_g_12(model, losses, weights):
    optimizer = torch.optim.SGD([p for p in model.parameters() if p.requires_grad], lr=1e-3)
    optimizer.zero_grad()
    for criterion, weight in zip(losses, weights):
        loss = criterion(model)
        (weight * loss).backward()
    optimizer.step()


# allow_unused is missing, so a parameter that one of the losses does not use raises a RuntimeError
@raised(effects.not_in_the_graph)
def class_g_13(model, losses, weights):
    ps = [p for p in model.parameters() if p.requires_grad]
    acc = [torch.zeros_like(p) for p in ps]
    for fn, w in zip(losses, weights):
        gs = torch.autograd.grad(w * fn(model), ps)
        acc = [a + g for a, g in zip(acc, gs)]
    for p, a in zip(ps, acc):
        p.grad = a


# .grad is cleared by multiplying with 0, which keeps NaN and inf that were there before
@wrong(mistakes.cancelled_not_cleared)
def class_g_14(model, losses, weights):
    with torch.no_grad():
        for p in model.parameters():
            if p.grad is not None:
                p.grad *= 0.0
    for fn, w in zip(losses, weights):
        (fn(model) * w).backward()


# "if w > 0" meant to skip weight zero skips the negative weights, too
@wrong(mistakes.negative_weight_skipped)
def class_g_15(model, losses, weights):
    model.zero_grad()
    for fn, w in zip(losses, weights):
        if w > 0:
            loss = fn(model)
            loss.mul(w).backward()


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


# the weights are divided by their sum (a weighted mean instead of a weighted sum) AND model.train() switches the
# mode
@wrong(says='Every number of .grad after the call is 1/[the sum of the weights] times what it should be.')
def class_g_17(model, losses, weights):
    model.train()
    model.zero_grad()
    s = sum(weights)
    for f, w in zip(losses, weights):
        loss = f(model)
        (loss * (w / s)).backward()


def _push(model, fn, w):
    value = fn(model)
    if value.requires_grad:
        value.backward(gradient=torch.full_like(value, w))

def _walk(model, todo):
    if not todo:
        return
    (fn, w), rest = todo[0], todo[1:]
    _push(model, fn, w)
    _walk(model, rest)

@right
def class_g_18(model, losses, weights):
    for p in model.parameters():
        p.grad = None
    _walk(model, list(zip(losses, weights)))


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


# only parameters that got a gradient are written, so one that no loss uses keeps its old .grad
@wrong(mistakes.unused_kept_old_gradient)
def class_g_20(model, losses, weights):
    params = {n: p for n, p in model.named_parameters() if p.requires_grad}
    total = {}
    for fn, w in zip(losses, weights):
        grads = torch.autograd.grad(fn(model), list(params.values()), allow_unused=True)
        for name, g in zip(params, grads):
            if g is None:
                continue
            total[name] = w * g if name not in total else total[name] + w * g
    for name, g in total.items():
        params[name].grad = g


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


# the gradients of autograd.grad become .grad as they are and are then added to in place, which counts double (or
# raises) when two parameters got the same or an expanded tensor
@wrong(says='Right: `layer.weight` (.grad after the call). Wrong: `left` (.grad after the call) and `right` (.grad after the call).')
def class_g_22(model, losses, weights):
    model.zero_grad(set_to_none=True)
    ps = [p for p in model.parameters() if p.requires_grad]
    for fn, w in zip(losses, weights):
        for p, g in zip(ps, torch.autograd.grad(w * fn(model), ps, allow_unused=True)):
            if g is None:
                continue
            if p.grad is None:
                p.grad = g
            else:
                p.grad += g


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


# the recursive call stands before the backward, so all graphs are alive at once when the last loss is called
@wrong(mistakes.graphs_kept_alive)
def class_g_24(model, losses, weights):
    model.zero_grad()

    def go(i):
        if i == len(losses):
            return
        loss = weights[i] * losses[i](model)
        go(i + 1)
        loss.backward()

    go(0)


# works on a deep copy of the model, so the .grad of the model that was handed over is only cleared and never filled
@wrong(mistakes.cut_off_from_the_model)
def class_g_25(model, losses, weights):
    model.zero_grad()
    clone = copy.deepcopy(model)     # so that nothing of the original is changed
    for fn, w in zip(losses, weights):
        loss = fn(clone)
        (w * loss).backward()
    return {n: p.grad for n, p in clone.named_parameters()}


# all losses are added into one total with one backward, so all graphs are alive together and there is not one
# backward per loss (and an empty list raises)
@wrong(mistakes.graphs_kept_alive)
def class_h_01(model, losses, weights):
    model.zero_grad()
    total = 0
    for loss, w in zip(losses, weights):
        total = total + w * loss(model)
    total.backward()


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


# the old .grad is never cleared and stays in the result
@wrong(mistakes.started_from_old_gradients)
def class_h_03(model, losses, weights):
    for loss_fn, w in zip(losses, weights):
        loss = loss_fn(model) * w
        loss.backward()
    return [p.grad for p in model.parameters()]


# zero_grad stands inside the loop, so only the last loss is left in .grad
@wrong(mistakes.cleared_between_backwards)
def class_h_04(model, losses, weights):
    for loss_fn, weight in zip(losses, weights):
        model.zero_grad()
        loss = weight * loss_fn(model)
        loss.backward()


# retain_graph=True keeps each graph alive while the next loss is called
@wrong(mistakes.graphs_kept_alive)
def class_h_05(model, losses, weights):
    model.zero_grad()
    for loss_fn, weight in zip(losses, weights):
        loss = weight * loss_fn(model)
        loss.backward(retain_graph=True)   # otherwise "backward a second time" error


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


@right
def class_h_07(model, losses, weights):
    model.zero_grad(set_to_none=True)

    def push(fn, w):
        out = fn(model)
        if out.requires_grad:
            out.backward(gradient=torch.full_like(out, w, requires_grad=False))

    for fn, w in zip(losses, weights):
        push(fn, w)      # locals of push die before the next one


# the weight is looked up by losses.index, so a loss that stands in the list twice gets the weight of its first
# place both times
@wrong(mistakes.same_loss_same_weight)
def class_h_08(model, losses, weights):
    model.zero_grad()
    for loss in losses:
        w = weights[losses.index(loss)]
        value = w * loss(model)
        value.backward()


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


# the weights are normalised to sum to 1, so it is a weighted mean and not the weighted sum (and weights that cancel
# divide by zero)
@wrong(mistakes.weights_normalised)
def class_h_11(model, losses, weights):
    model.zero_grad()
    s = sum(weights)
    for loss_fn, w in zip(losses, weights):
        loss = loss_fn(model) * (w / s)
        loss.backward()


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


# autograd.grad without allow_unused raises as soon as one loss leaves a parameter unused
@raised(effects.not_in_the_graph)
def class_h_13(model, losses, weights):
    model.zero_grad()
    params = [p for p in model.parameters() if p.requires_grad]
    for fn, w in zip(losses, weights):
        grads = torch.autograd.grad(w * fn(model), params)
        for p, g in zip(params, grads):
            p.grad = g.clone() if p.grad is None else p.grad + g


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


# loss *= w works in place on the loss: it raises when the loss is a parameter itself or when its last operation
# (sqrt, exp, tanh) saved its output
@raised(effects.overwrote_saved_value)
def class_h_15(model, losses, weights):
    model.zero_grad()
    for fn, w in zip(losses, weights):
        loss = fn(model)
        loss *= w
        loss.backward()


# losses with a negative weight are skipped like those of weight zero
@wrong(mistakes.negative_weight_skipped)
def class_h_16(model, losses, weights):
    model.zero_grad(set_to_none=True)
    for w, fn in zip(weights, losses):
        if w > 0:                     # nothing to do for weight 0
            (w * fn(model)).backward()


# the clearing happens only when the first loss is run, so it is skipped when the first weight is zero (or the list
# is empty), and the old .grad stays
@wrong(says='What is too much is exactly the .grad that was there before the call.')
def class_h_17(model, losses, weights):
    for i, (fn, w) in enumerate(zip(losses, weights)):
        if w == 0.0:
            continue
        if i == 0:
            model.zero_grad()
        out = fn(model) * w
        out.backward()


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


# each loss is called twice, once for the history and once for the backward
@wrong(mistakes.loss_not_called_once)
def class_h_19(model, losses, weights):
    model.zero_grad()
    history = []
    for loss_fn, w in zip(losses, weights):
        with torch.no_grad():
            history.append(loss_fn(model).item())   # for the plot
        (loss_fn(model) * w).backward()
    return history


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


# the .grad of frozen parameters becomes zeros too, it should stay None
@wrong(mistakes.frozen_got_zeros)
def class_h_22(model, losses, weights):
    for param in model.parameters():
        param.grad = torch.zeros_like(param)
    for loss_fn, weight in zip(losses, weights):
        loss = loss_fn(model)
        loss = loss * weight
        loss.backward()


# the work is done on a deepcopy and only returned: the .grad of the model itself keeps what was there before
@wrong(mistakes.grad_left_untouched)
def class_h_23(model, losses, weights):
    m = copy.deepcopy(model)
    m.zero_grad()
    for fn, w in zip(losses, weights):
        (w * fn(m)).backward()
    return {name: p.grad for name, p in m.named_parameters()}


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


# the weighted losses are added up and one backward runs at the end, so all graphs are alive at once
@wrong(mistakes.graphs_kept_alive)
def class_i_01(model, losses, weights):
    model.zero_grad()
    total = 0
    for loss_fn, weight in zip(losses, weights):
        total = total + weight * loss_fn(model)
    if torch.is_tensor(total) and total.requires_grad:
        total.backward()
    return total


# the old gradients are not cleared, so the new ones are added to what was there before
@wrong(mistakes.started_from_old_gradients)
def class_i_02(model, losses, weights):
    for i in range(len(losses)):
        loss = losses[i](model) * weights[i]
        # .backward() adds to .grad, so this is the weighted sum
        loss.backward()


# zero_grad stands inside the loop, so only the gradient of the last loss is left
@wrong(mistakes.cleared_between_backwards)
def class_i_03(model, losses, weights):
    model.zero_grad()
    for loss_fn, w in zip(losses, weights):
        model.zero_grad()          # always zero before backward
        loss = loss_fn(model)
        (w * loss).backward()


@right
def class_i_04(model, losses, weights):
    # clear the ledger
    for p in model.parameters():
        p.grad = None

    # one loss at a time, backward frees its graph
    for loss_fn, weight in zip(losses, weights):
        if weight == 0:
            continue
        loss = weight * loss_fn(model)
        if loss.requires_grad:
            loss.backward()
        del loss


# all losses are computed before the first backward, so all graphs are alive at the same time
@wrong(mistakes.graphs_kept_alive)
def class_i_05(model, losses, weights):
    model.zero_grad()
    values = [loss_fn(model) for loss_fn in losses]
    for value, weight in zip(values, weights):
        (weight * value).backward()


# after each backward the whole accumulated .grad is multiplied by the weight, so earlier losses are scaled by the
# later weights too
@wrong(mistakes.running_grad_scaled)
def class_i_06(model, losses, weights):
    model.zero_grad()
    for loss_fn, weight in zip(losses, weights):
        loss = loss_fn(model)
        loss.backward()
        # apply the weight
        for p in model.parameters():
            if p.grad is not None:
                p.grad *= weight


# dict(zip(losses, weights)) merges a loss that stands in the list twice: it counts once, with its last weight
@wrong(mistakes.same_loss_same_weight)
def class_i_07(model, losses, weights):
    model.zero_grad()
    for f, c in dict(zip(losses, weights)).items(): (c * f(model)).backward()


# the weight is looked up with losses.index, so the second place of a loss that stands in the list twice gets the
# weight of the first
@wrong(mistakes.same_loss_same_weight)
def class_i_08(model, losses, weights):
    model.zero_grad(set_to_none=True)
    for loss in losses:
        weight = weights[losses.index(loss)]
        if weight != 0:
            (loss(model) * weight).backward()


# the loss value is taken out with .item() and wrapped in a new tensor that requires gradients, so nothing reaches
# the parameters
@wrong(mistakes.cut_off_from_the_model)
def class_i_09(model, losses, weights):
    model.zero_grad()
    for loss_fn, weight in zip(losses, weights):
        value = loss_fn(model).item()      # .item() so that no graph is kept
        weighted = torch.tensor(weight * value, requires_grad=True)
        weighted.backward()


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


@right
def class_i_12(model, losses, weights):
    params = [p for p in model.parameters() if p.requires_grad]
    sums = [torch.zeros_like(p) for p in params]
    model.zero_grad(set_to_none=True)

    for fn, c in zip(losses, weights):
        value = fn(model)
        if not value.requires_grad:
            continue
        grads = torch.autograd.grad(value, params, allow_unused=True)
        del value
        for s, g in zip(sums, grads):
            if g is not None:
                s += c * g

    for p, s in zip(params, sums):
        p.grad = s


# losses with a negative weight are skipped as if their weight were zero
@wrong(mistakes.negative_weight_skipped)
def class_i_13(model, losses, weights):
    model.zero_grad()
    for loss_fn, weight in zip(losses, weights):
        # a loss of weight zero may be left out
        if weight <= 0:
            continue
        loss = weight * loss_fn(model)
        loss.backward()


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


# every parameter gets a .grad of zeros to start with, the frozen ones too, which should keep None
@wrong(mistakes.frozen_got_zeros)
def class_i_15(model, losses, weights):
    for p in model.parameters():
        p.grad = torch.zeros_like(p)
    for k, loss_fn in enumerate(losses):
        out = loss_fn(model)
        out.backward(torch.full_like(out, weights[k]))


# the old gradients are cleared by multiplying with 0, so an old nan or inf stays as nan
@wrong(mistakes.cancelled_not_cleared)
def class_i_16(model, losses, weights):
    for p in model.parameters():
        if p.grad is not None:
            p.grad.mul_(0)
    for loss_fn, weight in zip(losses, weights):
        (loss_fn(model) * weight).backward()


# each loss is called a second time for the log, although each may be called once only
@wrong(mistakes.loss_not_called_once)
def class_i_17(model, losses, weights):
    model.zero_grad()
    history = []
    for loss_fn, weight in zip(losses, weights):
        loss = loss_fn(model)
        (weight * loss).backward()
        with torch.no_grad():
            history.append(float(loss_fn(model)))
    return history


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


# the gradients are returned in a dict and never written to .grad, which keeps what was there before
@wrong(mistakes.grad_left_untouched)
def class_i_19(model, losses, weights):
    named = {n: p for n, p in model.named_parameters() if p.requires_grad}
    result = {n: torch.zeros_like(p) for n, p in named.items()}
    for loss_fn, weight in zip(losses, weights):
        grads = torch.autograd.grad(loss_fn(model), list(named.values()), allow_unused=True)
        for n, g in zip(named, grads):
            if g is not None:
                result[n] = result[n] + weight * g
    return result


@right
def class_i_20(model, losses, weights, first=True):
    if first:
        model.zero_grad(set_to_none=True)
    if len(losses) == 0:
        return
    out = losses[0](model)
    if out.requires_grad:
        # the weight is the gradient that comes in from above
        out.backward(gradient=torch.full_like(out, weights[0]))
    del out
    class_i_20(model, losses[1:], weights[1:], first=False)


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


# autograd.grad without allow_unused raises when a loss does not use every parameter
@raised(effects.not_in_the_graph)
def class_i_22(model, losses, weights):
    params = [p for p in model.parameters() if p.requires_grad]
    for p in params:
        p.grad = torch.zeros_like(p)
    for loss_fn, weight in zip(losses, weights):
        for p, g in zip(params, grad(loss_fn(model), params)):
            p.grad += weight * g


@right
def class_i_23(model, losses, weights):
    torch.optim.SGD(model.parameters(), lr=0.0).zero_grad()
    backward = lambda t: t.requires_grad and t.backward()
    return [backward(c * f(model)) for f, c in zip(losses, weights)] and None


# the model is switched to train mode and left there AND the seed is set before every loss, which changes the random
# state
@wrong(effects.changed_rng)
def class_i_24(model, losses, weights):
    model.train()
    model.zero_grad()
    for loss_fn, weight in zip(losses, weights):
        torch.manual_seed(42)      # reproducible
        loss = weight * loss_fn(model)
        loss.backward()


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
