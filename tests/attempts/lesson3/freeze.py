"""Attempts at exercise 3.3, freeze: what learners write, and what the check must say of it."""

import torch
from torch import nn

from course_utils.authoring.attempts import raised, right, wrong
from course_utils.checks import effects
from course_utils.lessons.lesson3.freeze import mistakes


@right
def both_for_each(module):
    for p in module.parameters():
        p.requires_grad = False
        p.grad = None


@right
def two_methods_of_the_module(module):
    module.requires_grad_(False)
    module.zero_grad()


@right
def two_methods_the_other_way_round(module):
    module.zero_grad(set_to_none=True)
    return module.requires_grad_(False)


@right
def part_by_part(module):
    for part in module.modules():
        for name, p in part.named_parameters(recurse=False):
            p.requires_grad_(False)
            if p.grad is not None:
                del p.grad


@right
def detached_in_place(module):
    for p in module.parameters():
        p.detach_()
        p.grad = None


@right
def a_hook_that_clears(module):
    def clear(p):
        p.grad = None

    for p in module.parameters():
        p.grad = None
        if p.requires_grad:
            p.register_post_accumulate_grad_hook(clear)


@right
def both_belts(module):
    def clear(p):
        p.grad = None

    for p in module.parameters():
        if p.requires_grad:
            p.register_post_accumulate_grad_hook(clear)
            p.requires_grad_(False)
        p.grad = None


@right
def recursively(module):
    for child in module.children():
        recursively(child)
    for p in module._parameters.values():
        if p is not None:
            p.requires_grad_(False)
            p.grad = None


# ------------------------------------------------------------------ wrong


@wrong(mistakes.waiting_gradient_left)
def requires_grad_alone(module):
    for p in module.parameters():
        p.requires_grad = False


@wrong(mistakes.waiting_gradient_left)
def by_the_method_alone(module):
    module.requires_grad_(False)


@wrong(mistakes.cleared_alone)
def zero_grad_alone(module):
    module.zero_grad()


@wrong(mistakes.zeros_left)
def zeroed_in_place(module):
    for p in module.parameters():
        p.requires_grad_(False)
        if p.grad is not None:
            p.grad.zero_()


@wrong(mistakes.zeros_left)
def zeros_for_all(module):
    module.requires_grad_(False)
    for p in module.parameters():
        p.grad = torch.zeros_like(p)


@wrong(mistakes.zeros_left)
def zero_grad_to_zeros(module):
    module.requires_grad_(False)
    module.zero_grad(set_to_none=False)


@wrong(mistakes.zeros_arrive)
def hook_of_zeros(module):
    for p in module.parameters():
        p.grad = None
        if p.requires_grad:
            p.register_hook(lambda grad: grad * 0)


@wrong(mistakes.zeros_arrive)
def zeroed_after_accumulating(module):
    def zero(p):
        p.grad.zero_()

    module.zero_grad()
    for p in module.parameters():
        if p.requires_grad:
            p.register_post_accumulate_grad_hook(zero)


@wrong(says="Tensor post accumulate grad hooks should return None.")
def hook_that_returns_something(module):
    module.zero_grad()
    for p in module.parameters():
        if p.requires_grad:
            p.register_post_accumulate_grad_hook(lambda p: p.grad.zero_())


@wrong(mistakes.nothing_frozen)
def hook_that_returns_none(module):
    for p in module.parameters():
        if p.requires_grad:
            p.register_hook(lambda grad: None)


@wrong(effects.changed_mode)
def waiting_and_eval(module):
    module.requires_grad_(False)
    module.eval()


@wrong(mistakes.eval_alone)
def eval_mode(module):
    module.eval()


@wrong(mistakes.eval_as_well)
def eval_for_good_measure(module):
    for p in module.parameters():
        p.requires_grad = False
        p.grad = None
    module.eval()


@wrong(mistakes.attribute_on_the_module)
def attribute(module):
    module.requires_grad = False


@wrong(mistakes.attribute_on_the_module)
def attribute_and_zero_grad(module):
    module.zero_grad()
    module.requires_grad = False


@wrong(mistakes.nothing_frozen)
def names_rebound(module):
    for p in module.parameters():
        p = p.detach()


@wrong(mistakes.nothing_frozen)
def data_does_not_require_anyway(module):
    for p in module.parameters():
        p.data.requires_grad = False


@wrong(mistakes.direct_parameters_alone)
def without_the_parts(module):
    for p in module._parameters.values():
        p.requires_grad_(False)
        p.grad = None


@wrong(mistakes.parts_alone)
def children_alone(module):
    for child in module.children():
        child.requires_grad_(False)
        child.zero_grad()


@wrong(mistakes.weights_alone)
def by_name(module):
    for name, p in module.named_parameters():
        if "weight" in name:
            p.requires_grad_(False)
            p.grad = None


@wrong(mistakes.frozen_before_passed_by)
def those_that_require(module):
    for p in module.parameters():
        if p.requires_grad:
            p.requires_grad_(False)
            p.grad = None


@wrong(mistakes.parameters_replaced)
def new_parameters(module):
    for part in module.modules():
        for name, p in list(part.named_parameters(recurse=False)):
            setattr(part, name, nn.Parameter(p.data, requires_grad=False))


@wrong(mistakes.parameters_replaced)
def buffers_instead(module):
    for part in module.modules():
        for name, p in list(part.named_parameters(recurse=False)):
            delattr(part, name)
            part.register_buffer(name, p.detach().clone())


@wrong(mistakes.cut_off_in_front)
def forward_without_graph(module):
    module.requires_grad_(False)
    module.zero_grad()
    module.forward = torch.no_grad()(module.forward)


@wrong(mistakes.cut_off_in_front)
def output_detached(module):
    for p in module.parameters():
        p.requires_grad = False
        p.grad = None
    module.register_forward_hook(lambda module, args, output: output.detach())


@wrong(mistakes.two_levels_alone)
def the_module_and_its_children(module):
    for part in [module, *module.children()]:
        for p in part.parameters(recurse=False):
            p.requires_grad_(False)
            p.grad = None


@wrong(mistakes.forward_without_recording)
def no_grad_around_the_forward(module):
    forward = module.forward

    def without_graph(*args):
        with torch.no_grad():
            return forward(*args)

    module.forward = without_graph
    module.zero_grad()


@wrong(mistakes.statistics_stopped)
def momentum_of_batch_norm(module):
    for part in module.modules():
        if isinstance(part, nn.modules.batchnorm._BatchNorm):
            part.momentum = 0
    for p in module.parameters():
        p.requires_grad = False
        p.grad = None


@wrong(mistakes.recording_switched_off)
def for_everybody(module):
    torch.set_grad_enabled(False)
    for p in module.parameters():
        p.grad = None


@raised(effects.grad_is_none)
def zero_on_none(module):
    for p in module.parameters():
        p.requires_grad = False
        p.grad.zero_()


@raised(effects.no_such_attribute)
def weight_and_bias(module):
    for p in (module.weight, module.bias):
        p.requires_grad_(False)
        p.grad = None


@wrong(mistakes.eval_as_well)
def batch_norm_in_eval(module):
    for part in module.modules():
        if isinstance(part, nn.BatchNorm1d):
            part.eval()
    for p in module.parameters():
        p.requires_grad = False
        p.grad = None


@wrong(mistakes.cut_off_in_front)
def input_detached(module):
    forward = module.forward
    module.forward = lambda x: forward(x.detach())
    for p in module.parameters():
        p.requires_grad = False
        p.grad = None


@wrong(mistakes.cleared_alone)
def values_copied_and_cleared(module):
    for p in module.parameters():
        p.data = p.detach().clone()
        p.grad = None


@wrong(mistakes.nothing_frozen)
def copies_of_the_state_dict(module):
    for p in module.state_dict().values():
        p.requires_grad_(False)


@wrong(mistakes.waiting_gradient_left)
def hook_for_what_comes_alone(module):
    def clear(p):
        p.grad = None

    for p in module.parameters():
        if p.requires_grad:
            p.register_post_accumulate_grad_hook(clear)


@right
def applied_to_every_part(module):
    def one(part):
        for p in part.parameters(recurse=False):
            p.requires_grad_(False).grad = None

    module.apply(one)


@wrong(mistakes.weights_and_biases_alone)
def the_usual_names(module):
    for part in module.modules():
        for name in ("weight", "bias"):
            p = getattr(part, name, None)
            if isinstance(p, nn.Parameter):
                p.requires_grad_(False)
                p.grad = None


@wrong(mistakes.frozen_at_the_next_forward)
def by_a_hook_before_the_forward(module):
    def hook(part, args):
        for p in part.parameters():
            p.requires_grad_(False)
            p.grad = None

    module.register_forward_pre_hook(hook)


@wrong(mistakes.frozen_at_the_next_forward)
def cleared_now_and_frozen_by_a_hook(module):
    module.zero_grad()
    module.register_forward_pre_hook(lambda part, args: part.requires_grad_(False) and None)


@right
def frozen_now_and_by_a_hook(module):
    def hook(part, args):
        part.requires_grad_(False)

    module.requires_grad_(False)
    module.zero_grad()
    module.register_forward_pre_hook(hook)


@wrong(mistakes.moved_and_put_back)
def values_back_before_each_forward(module):
    kept = [p.detach().clone() for p in module.parameters()]

    def restore(part, args):
        with torch.no_grad():
            for p, values in zip(part.parameters(), kept, strict=True):
                p.copy_(values)

    for p in module.parameters():
        p.grad = None
    module.register_forward_pre_hook(restore)


@wrong(mistakes.moved_and_put_back)
def values_back_in_the_forward(module):
    kept = {name: value.clone() for name, value in module.state_dict().items()}
    names = [name for name, _ in module.named_parameters()]
    forward = module.forward

    def restored(*args):
        with torch.no_grad():
            for name in names:
                module.get_parameter(name).copy_(kept[name])
        return forward(*args)

    module.forward = restored


@wrong(mistakes.direct_parts_alone)
def one_level_of_children(module):
    for child in module.children():
        for p in child._parameters.values():
            if p is not None:
                p.requires_grad = False
                p.grad = None


@wrong(mistakes.direct_parts_alone)
def one_level_of_children_and_nothing_cleared(module):
    for _, child in module.named_children():
        for p in child.parameters(recurse=False):
            p.requires_grad_(False)


@right
def children_and_their_children(module):
    for child in module.children():
        children_and_their_children(child)
    for p in module.parameters(recurse=False):
        p.requires_grad_(False)
        p.grad = None


@wrong(says="these parameters of the module moved in the further steps: ")
def all_but_the_last(module):
    for p in list(module.parameters())[:-1]:
        p.requires_grad_(False)
        p.grad = None


@wrong(mistakes.cut_off_in_front)
def output_detached_by_a_hook(module):
    for p in module.parameters():
        p.requires_grad_(False)
        p.grad = None
    module.register_forward_hook(lambda part, args, out: out.detach())


@wrong(mistakes.zeros_arrive_at_what_waits)
def times_zero_on_arrival(module):
    for p in module.parameters():
        if p.requires_grad:
            p.register_hook(lambda gradient: gradient * 0)


@wrong(mistakes.cut_off_in_front)
def zeros_passed_on(module):
    for p in module.parameters():
        p.requires_grad_(False)
        p.grad = None
    module.register_full_backward_hook(lambda part, into, out: tuple(g if g is None else 0 * g for g in into))


@wrong(mistakes.zeros_left)
def zeros_everywhere_and_no_new_gradient(module):
    for p in module.parameters():
        p.requires_grad_(False)
        p.grad = torch.zeros_like(p)
