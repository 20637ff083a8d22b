"""Attempts at exercise 6.8, fuse_optimizer_into_backward: what learners write, and what the check must say of it."""

import contextlib
import itertools
from functools import partial
from types import SimpleNamespace

import torch
from torch import nn

from course_utils.authoring.attempts import raised, right, wrong
from course_utils.checks import effects
from course_utils.lessons.lesson6.fuse_optimizer_into_backward import mistakes


class Hooks:
    def __init__(self, handles):
        self.handles = handles

    def remove(self):
        while self.handles:
            self.handles.pop().remove()


@right
def counts_in_a_dict(model, make_optimizer, window):
    trainable = [p for p in model.parameters() if p.requires_grad]
    optimizers = {p: make_optimizer([p]) for p in trainable}
    counts = dict.fromkeys(trainable, 0)

    def hook(p):
        counts[p] += 1
        if counts[p] == window:
            counts[p] = 0
            optimizers[p].step()
            p.grad = None

    return Hooks([p.register_post_accumulate_grad_hook(hook) for p in trainable])


@right
def cycle_and_default_arguments(model, make_optimizer, window):
    handles = []
    for p in model.parameters():
        if not p.requires_grad:
            continue
        turns = itertools.cycle([False] * (window - 1) + [True])

        def hook(param, optimizer=make_optimizer([p]), turns=turns):
            if next(turns):
                optimizer.step()
                optimizer.zero_grad(set_to_none=True)

        handles.append(p.register_post_accumulate_grad_hook(hook))
    return SimpleNamespace(remove=lambda: [handle.remove() for handle in handles])


@right
def a_buffer_of_its_own(model, make_optimizer, window):
    """.grad is emptied in every backward, and the sum is kept elsewhere."""

    class Account:
        def __init__(self, p):
            self.optimizer = make_optimizer([p])
            self.total, self.passes = None, 0
            self.handle = p.register_post_accumulate_grad_hook(self.enter)

        def enter(self, p):
            self.total = p.grad if self.total is None else self.total + p.grad
            p.grad = None
            self.passes += 1
            if self.passes == window:
                p.grad, self.total, self.passes = self.total, None, 0
                self.optimizer.step()
                p.grad = None

    return Hooks([Account(p).handle for p in model.parameters() if p.requires_grad])


@right
def partial_of_a_top_level_function(model, make_optimizer, window):
    hooks = [
        p.register_post_accumulate_grad_hook(partial(_step_when_due, make_optimizer([p]), window, itertools.count(1)))
        for p in filter(lambda p: p.requires_grad, model.parameters())
    ]
    return Hooks(hooks)


def _step_when_due(optimizer, window, passes, param):
    if next(passes) % window == 0:
        optimizer.step()
        param.grad = None


@right
def switched_off_instead_of_removed(model, make_optimizer, window):
    """The hooks stay, and do nothing any more."""

    class Switch:
        on = True

        def remove(self):
            self.on = False

    switch = Switch()
    for p in model.parameters():
        if p.requires_grad:

            def hook(param, optimizer=make_optimizer([p]), passes=iter(range(1, 10**9))):
                if switch.on and next(passes) % window == 0:
                    optimizer.step()
                    param.grad = None

            p.register_post_accumulate_grad_hook(hook)
    return switch


@right
def hooks_of_the_accumulating_nodes(model, make_optimizer, window):
    """As one did it before parameters had a hook for it."""
    nodes, handles = [], []
    for p in model.parameters():
        if not p.requires_grad:
            continue
        node = p.expand_as(p).grad_fn.next_functions[0][0]

        def hook(*_, p=p, optimizer=make_optimizer([p]), passes=itertools.count(1)):
            if next(passes) % window == 0:
                optimizer.step()
                p.grad = None

        nodes.append(node)
        handles.append(node.register_hook(hook))
    keeper = Hooks(handles)
    keeper.nodes = nodes
    return keeper


@right
def a_hook_for_each_place_and_a_count_of_its_own(model, make_optimizer, window):
    """A shared weight has two hooks; the second finds nothing in .grad."""

    def fused(p):
        optimizer, passes = make_optimizer([p]), 0

        def hook(_):
            nonlocal passes
            passes = (passes + 1) % window
            if not passes:
                optimizer.step()
                optimizer.zero_grad()

        return p.register_post_accumulate_grad_hook(hook)

    return Hooks(
        [fused(p) for m in model.modules() for p in m._parameters.values() if p is not None and p.requires_grad]
    )


# ------------------------------------------------------------------ wrong


def in_each_hook(body):
    """An optimizer and a count for each parameter, as most of the class wrote it; `body` is what the hook does."""

    def attempt(model, make_optimizer, window):
        optimizers = {p: make_optimizer([p]) for p in model.parameters() if p.requires_grad}
        counts = dict.fromkeys(optimizers, 0)

        def hook(p):
            body(p, optimizers[p], counts, window)

        return Hooks([p.register_post_accumulate_grad_hook(hook) for p in optimizers])

    return attempt


@wrong(mistakes.stepped_in_every_backward)
def as_in_the_tutorial(model, make_optimizer, window):
    optimizers = {p: make_optimizer([p]) for p in model.parameters() if p.requires_grad}

    def hook(p):
        optimizers[p].step()
        optimizers[p].zero_grad()

    return Hooks([p.register_post_accumulate_grad_hook(hook) for p in optimizers])


@wrong(mistakes.freed_at_the_end)
def one_step_when_all_are_there(model, make_optimizer, window):
    trainable = [p for p in model.parameters() if p.requires_grad]
    optimizer = make_optimizer(trainable)
    engine, state = torch.autograd.Variable._execution_engine, SimpleNamespace(passes=0, queued=False)

    def finish():
        state.queued = False
        state.passes += 1
        if state.passes % window == 0:
            optimizer.step()
            optimizer.zero_grad()

    def hook(p):
        if not state.queued:
            state.queued = True
            engine.queue_callback(finish)

    return Hooks([p.register_post_accumulate_grad_hook(hook) for p in trainable])


@wrong(mistakes.one_count_for_all)
def nonlocal_count(model, make_optimizer, window):
    count, handles = 0, []
    for p in model.parameters():
        if p.requires_grad:

            def hook(param, optimizer=make_optimizer([p])):
                nonlocal count
                count += 1
                if count % window == 0:
                    optimizer.step()
                    optimizer.zero_grad()

            handles.append(p.register_post_accumulate_grad_hook(hook))
    return Hooks(handles)


@wrong(mistakes.last_optimizer_for_all)
def late_binding(model, make_optimizer, window):
    handles, counts = [], {}
    for p in model.parameters():
        if not p.requires_grad:
            continue
        optimizer = make_optimizer([p])
        counts[p] = 0

        def hook(param):
            counts[param] += 1
            if counts[param] % window == 0:
                optimizer.step()
                param.grad = None

        handles.append(p.register_post_accumulate_grad_hook(hook))
    return Hooks(handles)


@wrong(mistakes.last_optimizer_for_all)
def late_binding_and_the_optimizer_clears(model, make_optimizer, window):
    handles, counts = [], {}
    for p in model.parameters():
        if not p.requires_grad:
            continue
        optimizer = make_optimizer([p])

        def hook(param):
            counts[param] = counts.get(param, 0) + 1
            if counts[param] % window == 0:
                optimizer.step()
                optimizer.zero_grad()

        handles.append(p.register_post_accumulate_grad_hook(hook))
    return Hooks(handles)


@wrong(mistakes.last_optimizer_for_all)
def late_binding_of_optimizer_and_count(model, make_optimizer, window):
    handles = []
    for p in model.parameters():
        if not p.requires_grad:
            continue
        optimizer, passes = make_optimizer([p]), 0

        def hook(param):
            nonlocal passes
            passes += 1
            if passes % window == 0:
                optimizer.step()
                optimizer.zero_grad()

        handles.append(p.register_post_accumulate_grad_hook(hook))
    return Hooks(handles)


@wrong(mistakes.one_optimizer_for_all)
def the_whole_optimizer_in_each_hook(model, make_optimizer, window):
    params = [p for p in model.parameters() if p.requires_grad]
    optimizer = make_optimizer(params)
    counts = dict.fromkeys(params, 0)

    def hook(p):
        counts[p] += 1
        if counts[p] == window:
            counts[p] = 0
            optimizer.step()
            optimizer.zero_grad()

    return Hooks([p.register_post_accumulate_grad_hook(hook) for p in params])


@wrong(mistakes.stepped_once)
@in_each_hook
def count_meets_the_window_once(p, optimizer, counts, window):
    counts[p] += 1
    if counts[p] == window:
        optimizer.step()
        optimizer.zero_grad()


@wrong(mistakes.stepped_from_the_first_window_on)
@in_each_hook
def reached_and_never_reset(p, optimizer, counts, window):
    counts[p] += 1
    if counts[p] >= window:
        optimizer.step()
        optimizer.zero_grad()


@wrong(mistakes.stepped_one_late)
@in_each_hook
def more_than_a_window(p, optimizer, counts, window):
    counts[p] += 1
    if counts[p] > window:
        optimizer.step()
        optimizer.zero_grad()
        counts[p] -= window


@wrong(mistakes.weights_alone)
def by_the_name_weight(model, make_optimizer, window):
    optimizers = {p: make_optimizer([p]) for n, p in model.named_parameters() if "weight" in n and p.requires_grad}
    counts = dict.fromkeys(optimizers, 0)

    def hook(p):
        counts[p] += 1
        if counts[p] % window == 0:
            optimizers[p].step()
            optimizers[p].zero_grad()

    return Hooks([p.register_post_accumulate_grad_hook(hook) for p in optimizers])


@wrong(mistakes.own_parameter_left_out)
def of_the_modules_with_a_weight(model, make_optimizer, window):
    layers = [m for m in model.modules() if hasattr(m, "weight")]
    optimizers = {
        p: make_optimizer([p]) for m in layers for p in (m.weight, m.bias) if p is not None and p.requires_grad
    }
    counts = dict.fromkeys(optimizers, 0)

    def hook(p):
        counts[p] += 1
        if counts[p] % window == 0:
            optimizers[p].step()
            optimizers[p].zero_grad()

    return Hooks([p.register_post_accumulate_grad_hook(hook) for p in optimizers])


@wrong(mistakes.stepped_at_the_first)
@in_each_hook
def asked_before_it_counts(p, optimizer, counts, window):
    if counts[p] % window == 0:
        optimizer.step()
        optimizer.zero_grad()
    counts[p] += 1


@wrong(mistakes.hooked_too_early)
def register_hook(model, make_optimizer, window):
    def fused(p, optimizer, passes):
        def hook(grad):
            if next(passes) % window == 0:
                optimizer.step()
                optimizer.zero_grad()

        return p.register_hook(hook)

    trainable = [p for p in model.parameters() if p.requires_grad]
    return Hooks([fused(p, make_optimizer([p]), itertools.count(1)) for p in trainable])


@wrong(mistakes.never_cleared)
@in_each_hook
def forgot_to_clear(p, optimizer, counts, window):
    counts[p] += 1
    if counts[p] % window == 0:
        optimizer.step()


@wrong(mistakes.zeros_left)
@in_each_hook
def set_to_zeros(p, optimizer, counts, window):
    counts[p] += 1
    if counts[p] % window == 0:
        optimizer.step()
        optimizer.zero_grad(set_to_none=False)


@wrong(mistakes.cleared_in_every_backward)
@in_each_hook
def clears_each_time(p, optimizer, counts, window):
    counts[p] += 1
    if counts[p] % window == 0:
        optimizer.step()
    optimizer.zero_grad()


@wrong(mistakes.hooked_on_modules)
def full_backward_hooks(model, make_optimizer, window):
    handles = []
    for module in model.modules():
        params = [p for p in module.parameters(recurse=False) if p.requires_grad]
        if params:

            def hook(m, grad_in, grad_out, optimizer=make_optimizer(params), passes=itertools.count(1)):
                if next(passes) % window == 0:
                    optimizer.step()
                    optimizer.zero_grad()

            handles.append(module.register_full_backward_hook(hook))
    return Hooks(handles)


@raised(mistakes.hook_returned_something)
def a_lambda_of_two_calls(model, make_optimizer, window):
    handles = []
    for p in model.parameters():
        if p.requires_grad:
            o, n = make_optimizer([p]), itertools.count(1)
            step = lambda p, o=o, n=n: (o.step(), o.zero_grad()) if next(n) % window == 0 else None
            handles.append(p.register_post_accumulate_grad_hook(step))
    return Hooks(handles)


@raised(mistakes.no_list_handed_over)
def a_parameter_by_itself(model, make_optimizer, window):
    optimizers = {p: make_optimizer(p) for p in model.parameters() if p.requires_grad}
    counts = dict.fromkeys(optimizers, 0)

    def hook(p):
        counts[p] += 1
        if counts[p] % window == 0:
            optimizers[p].step()
            p.grad = None

    return Hooks([p.register_post_accumulate_grad_hook(hook) for p in optimizers])


@wrong(mistakes.multiplied_by_the_window)
@in_each_hook
def undoes_the_division(p, optimizer, counts, window):
    counts[p] += 1
    if counts[p] % window == 0:
        p.grad.mul_(window)
        optimizer.step()
        p.grad = None


@wrong(says="In the first window these did not move")
def counts_at_the_first_parameter(model, make_optimizer, window):
    """Its gradient comes last, so all others step one backward late."""
    trainable = [p for p in model.parameters() if p.requires_grad]
    optimizers, passes = {p: make_optimizer([p]) for p in trainable}, [0]

    def hook(p):
        if p is trainable[0]:
            passes[0] += 1
        if passes[0] == window:
            optimizers[p].step()
            p.grad = None
            if p is trainable[0]:
                passes[0] = 0

    return Hooks([p.register_post_accumulate_grad_hook(hook) for p in trainable])


@wrong(mistakes.divided_again)
@in_each_hook
def divides_the_gradient(p, optimizer, counts, window):
    counts[p] += 1
    if counts[p] % window == 0:
        p.grad.div_(window)
        optimizer.step()
        optimizer.zero_grad()


@wrong(mistakes.optimizer_made_anew)
def makes_one_when_it_is_due(model, make_optimizer, window):
    counts = {p: 0 for p in model.parameters() if p.requires_grad}

    def hook(p):
        counts[p] += 1
        if counts[p] % window == 0:
            optimizer = make_optimizer([p])
            optimizer.step()
            optimizer.zero_grad()

    return Hooks([p.register_post_accumulate_grad_hook(hook) for p in counts])


@wrong(mistakes.tied_weight_twice)
def over_the_modules(model, make_optimizer, window):
    optimizers, counts, handles = {}, {}, []

    def hook(p):
        counts[p] += 1
        if counts[p] % window == 0:
            optimizers[p].step()
            optimizers[p].zero_grad()

    for module in model.modules():
        for p in module.parameters(recurse=False):
            if p.requires_grad:
                optimizers[p], counts[p] = make_optimizer([p]), 0
                handles.append(p.register_post_accumulate_grad_hook(hook))
    return Hooks(handles)


@wrong(mistakes.forwards_counted)
def counts_forward_passes(model, make_optimizer, window):
    passes = [0]
    optimizers = {p: make_optimizer([p]) for p in model.parameters() if p.requires_grad}

    def hook(p):
        if passes[0] % window == 0:
            optimizers[p].step()
            optimizers[p].zero_grad()

    def forward_hook(module, args, output):
        passes[0] += 1

    handles = [p.register_post_accumulate_grad_hook(hook) for p in optimizers]
    return Hooks([*handles, model.register_forward_hook(forward_hook)])


@wrong(mistakes.waited_for_all)
def backward_from_the_number_of_calls(model, make_optimizer, window):
    params = list(model.parameters())
    calls, handles = itertools.count(), []
    for p in params:
        if p.requires_grad:

            def hook(param, optimizer=make_optimizer([p])):
                if (next(calls) // len(params) + 1) % window == 0:
                    optimizer.step()
                    param.grad = None

            handles.append(p.register_post_accumulate_grad_hook(hook))
    return Hooks(handles)


@wrong(mistakes.waited_for_all)
def counts_up_to_all_parameters(model, make_optimizer, window):
    params = [p for p in model.parameters() if p.requires_grad]
    optimizers, calls = {p: make_optimizer([p]) for p in params}, [0]

    def hook(p):
        calls[0] += 1
        if calls[0] == window * len(params):
            calls[0] = 0
            for optimizer in optimizers.values():
                optimizer.step()
                optimizer.zero_grad()

    return Hooks([p.register_post_accumulate_grad_hook(hook) for p in params])


@wrong(mistakes.no_handle)
def a_list_of_handles(model, make_optimizer, window):
    optimizers = {p: make_optimizer([p]) for p in model.parameters() if p.requires_grad}
    counts = dict.fromkeys(optimizers, 0)

    def hook(p):
        counts[p] += 1
        if counts[p] % window == 0:
            optimizers[p].step()
            optimizers[p].zero_grad()

    return [p.register_post_accumulate_grad_hook(hook) for p in optimizers]


@wrong(mistakes.hooks_left)
def the_last_handle(model, make_optimizer, window):
    optimizers = {p: make_optimizer([p]) for p in model.parameters() if p.requires_grad}
    counts = dict.fromkeys(optimizers, 0)

    def hook(p):
        counts[p] += 1
        if counts[p] % window == 0:
            optimizers[p].step()
            optimizers[p].zero_grad()

    for p in optimizers:
        handle = p.register_post_accumulate_grad_hook(hook)
    return handle


@raised(mistakes.frozen_one_hooked)
def frozen_ones_too(model, make_optimizer, window):
    optimizers = {p: make_optimizer([p]) for p in model.parameters()}
    counts = dict.fromkeys(optimizers, 0)

    def hook(p):
        counts[p] += 1
        if counts[p] % window == 0:
            optimizers[p].step()
            optimizers[p].zero_grad()

    return Hooks([p.register_post_accumulate_grad_hook(hook) for p in optimizers])


@raised(effects.no_such_attribute)
def a_hook_of_the_optimizer(model, make_optimizer, window):
    optimizer = make_optimizer(list(model.parameters()))
    return optimizer.register_backward_hook(lambda *_: optimizer.step())


@wrong(mistakes.never_stepped)
def nothing_but_a_handle(model, make_optimizer, window):
    make_optimizer(list(nn.Module.parameters(model)))
    return Hooks([])


@wrong(mistakes.waited_for_all)
def an_optimizer_for_each_layer(model, make_optimizer, window):
    stack, seen = contextlib.ExitStack(), set()
    for module in model.modules():
        params = [p for p in module.parameters(recurse=False) if p.requires_grad and p not in seen]
        seen.update(params)
        if not params:
            continue

        def hook(p, params=params, optimizer=make_optimizer(params), passes=[0]):
            passes[0] += 1
            if passes[0] == window * len(params):
                passes[0] = 0
                optimizer.step()
                optimizer.zero_grad()

        for p in params:
            stack.callback(p.register_post_accumulate_grad_hook(hook).remove)
    stack.remove = stack.close
    return stack


@wrong(mistakes.cleared_when_all_were_stepped)
def waits_for_all_before_it_clears(model, make_optimizer, window):
    params = [p for p in model.parameters() if p.requires_grad]
    optimizers = {p: make_optimizer([p]) for p in params}
    seen, done = dict.fromkeys(params, 0), set()

    def hook(p):
        seen[p] += 1
        if seen[p] % window == 0:
            optimizers[p].step()
            done.add(p)
            if len(done) == len(params):
                for q in params:
                    q.grad = None
                done.clear()

    return Hooks([p.register_post_accumulate_grad_hook(hook) for p in params])


@right
def counts_what_is_done_and_clears_each(model, make_optimizer, window):
    params = [p for p in model.parameters() if p.requires_grad]
    optimizers = {p: make_optimizer([p]) for p in params}
    seen, done = dict.fromkeys(params, 0), set()

    def hook(p):
        seen[p] += 1
        if seen[p] % window == 0:
            optimizers[p].step()
            p.grad = None
            done.add(p)

    return Hooks([p.register_post_accumulate_grad_hook(hook) for p in params])
