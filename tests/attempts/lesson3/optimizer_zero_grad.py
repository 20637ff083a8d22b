"""Attempts at exercise 3.2, optimizer_zero_grad: what learners write, and what the check must say of it."""

from itertools import chain

import torch
from torch import nn

from course_utils.authoring.attempts import raised, right, wrong
from course_utils.checks import effects
from course_utils.lessons.lesson3.optimizer_zero_grad import mistakes


@right
def two_loops(optimizer, set_to_none=True):
    for group in optimizer.param_groups:
        for p in group["params"]:
            if p.grad is not None:
                if set_to_none:
                    p.grad = None
                else:
                    p.grad.zero_()


@right
def chained(optimizer, set_to_none=True):
    for p in chain.from_iterable(group["params"] for group in optimizer.param_groups):
        if set_to_none:
            del p.grad
        elif p.grad is not None:
            p.grad.detach_()
            p.grad.fill_(0)


def clear_gradients(params, set_to_none=True):
    for p in params:
        if set_to_none:
            p.grad = None
        elif p.grad is not None:
            p.grad.zero_()


@right
def by_the_first_exercise(optimizer, set_to_none=True):
    clear_gradients((p for g in optimizer.param_groups for p in g["params"]), set_to_none=set_to_none)


@right
def foreach_by_group(optimizer, set_to_none=True):
    for group in optimizer.param_groups:
        held = [p for p in group["params"] if p.grad is not None]
        if set_to_none:
            for p in held:
                p.grad = None
        elif held:
            torch._foreach_zero_([p.grad for p in held])


@right
def state_was_looked_at(optimizer, set_to_none=True):
    # optimizer.state is a defaultdict: looking makes an empty entry, which does not count.
    for group in optimizer.param_groups:
        for p in group["params"]:
            optimizer.state[p]
            if set_to_none:
                p.grad = None
            elif p.grad is not None:
                p.grad.data.zero_()


@right
def by_index(optimizer, set_to_none=True):
    i = 0
    while i < len(optimizer.param_groups):
        params = optimizer.param_groups[i]["params"]
        for j in range(len(params)):
            if params[j].grad is None:
                continue
            if set_to_none:
                params[j].grad = None
            else:
                params[j].grad[...] = 0.0
        i += 1
    return optimizer


# ------------------------------------------------------------------ wrong


@wrong(mistakes.first_group_alone)
def one_group_is_enough(optimizer, set_to_none=True):
    for p in optimizer.param_groups[0]["params"]:
        if set_to_none:
            p.grad = None
        elif p.grad is not None:
            p.grad.zero_()


@wrong(mistakes.last_group_alone)
def loop_beside_the_loop(optimizer, set_to_none=True):
    for group in optimizer.param_groups:
        params = group["params"]
    for p in params:
        if set_to_none:
            p.grad = None
        elif p.grad is not None:
            p.grad.zero_()


@wrong(mistakes.first_of_each_group)
def first_of_the_params(optimizer, set_to_none=True):
    for group in optimizer.param_groups:
        p = group["params"][0]
        if set_to_none:
            p.grad = None
        elif p.grad is not None:
            p.grad.zero_()


@wrong(mistakes.first_of_each_group)
def return_in_the_loop(optimizer, set_to_none=True):
    for group in optimizer.param_groups:
        for p in group["params"]:
            if set_to_none:
                p.grad = None
            elif p.grad is not None:
                p.grad.zero_()
            return


@wrong(mistakes.those_with_state_alone)
def over_the_state(optimizer, set_to_none=True):
    for p in optimizer.state:
        if set_to_none:
            p.grad = None
        elif p.grad is not None:
            p.grad.zero_()


@wrong(mistakes.state_thrown_away)
def state_cleared(optimizer, set_to_none=True):
    for group in optimizer.param_groups:
        for p in group["params"]:
            if set_to_none:
                p.grad = None
            elif p.grad is not None:
                p.grad.zero_()
    optimizer.state.clear()


@wrong(mistakes.state_thrown_away)
def state_of_each_popped(optimizer, set_to_none=True):
    for group in optimizer.param_groups:
        for p in group["params"]:
            optimizer.state.pop(p, None)
            if set_to_none:
                p.grad = None
            elif p.grad is not None:
                p.grad.zero_()


@wrong(mistakes.state_set_to_zero)
def state_zeroed(optimizer, set_to_none=True):
    for group in optimizer.param_groups:
        for p in group["params"]:
            if set_to_none:
                p.grad = None
            elif p.grad is not None:
                p.grad.zero_()
            for value in optimizer.state[p].values():
                value.zero_()


@wrong(mistakes.groups_emptied)
def groups_cleared(optimizer, set_to_none=True):
    for group in optimizer.param_groups:
        for p in group["params"]:
            if set_to_none:
                p.grad = None
            elif p.grad is not None:
                p.grad.zero_()
        group["params"] = []


@wrong(mistakes.zero_grad_called)
def its_own(optimizer, set_to_none=True):
    optimizer.zero_grad(set_to_none=set_to_none)


@wrong(mistakes.zero_grad_called)
def of_the_class(optimizer, set_to_none=True):
    torch.optim.Optimizer.zero_grad(optimizer, set_to_none)


@wrong(mistakes.zero_grad_called)
def of_a_module_around_them(optimizer, set_to_none=True):
    for group in optimizer.param_groups:
        nn.ParameterList(group["params"]).zero_grad(set_to_none)


@wrong(mistakes.always_none)
def flag_never_read(optimizer, set_to_none=True):
    for group in optimizer.param_groups:
        for p in group["params"]:
            p.grad = None


@wrong(mistakes.always_zeros)
def zeros_always(optimizer, set_to_none=True):
    for group in optimizer.param_groups:
        for p in group["params"]:
            if p.grad is not None:
                p.grad.zero_()


@wrong(mistakes.flag_the_other_way_round)
def turned_round(optimizer, set_to_none=True):
    for group in optimizer.param_groups:
        for p in group["params"]:
            if not set_to_none:
                p.grad = None
            elif p.grad is not None:
                p.grad.zero_()


@wrong(mistakes.written_into_other_memory)
def zeros_like(optimizer, set_to_none=True):
    for group in optimizer.param_groups:
        for p in group["params"]:
            if p.grad is not None:
                p.grad = None if set_to_none else torch.zeros_like(p.grad)


@wrong(mistakes.zeros_where_none_was)
def zeros_for_none(optimizer, set_to_none=True):
    for group in optimizer.param_groups:
        for p in group["params"]:
            if set_to_none:
                p.grad = None
            elif p.grad is None:
                p.grad = torch.zeros_like(p)
            else:
                p.grad.zero_()


@wrong(mistakes.cleared_by_arithmetic)
def taken_from_itself(optimizer, set_to_none=True):
    for group in optimizer.param_groups:
        for p in group["params"]:
            if set_to_none:
                p.grad = None
            elif p.grad is not None:
                p.grad.sub_(p.grad)


@wrong(mistakes.cleared_by_arithmetic)
def times_zero(optimizer, set_to_none=True):
    for group in optimizer.param_groups:
        for p in group["params"]:
            if p.grad is not None:
                if set_to_none:
                    p.grad = None
                else:
                    p.grad *= 0.0


@wrong(mistakes.zeros_taken_for_emptiness)
def where_something_is_in_it(optimizer, set_to_none=True):
    for group in optimizer.param_groups:
        for p in group["params"]:
            if p.grad is not None and p.grad.abs().sum() > 0 or p.grad is not None and p.grad.isnan().any():
                if set_to_none:
                    p.grad = None
                else:
                    p.grad.zero_()


@wrong(mistakes.frozen_left)
def trainable_ones(optimizer, set_to_none=True):
    for group in optimizer.param_groups:
        for p in group["params"]:
            if p.requires_grad and p.grad is not None:
                if set_to_none:
                    p.grad = None
                else:
                    p.grad.zero_()


@wrong(mistakes.stopped_at_the_first_without)
def break_at_none(optimizer, set_to_none=True):
    for group in optimizer.param_groups:
        for p in group["params"]:
            if p.grad is None:
                break
            if set_to_none:
                p.grad = None
            else:
                p.grad.zero_()


@wrong(mistakes.nothing_cleared)
def local_names(optimizer, set_to_none=True):
    grads = [p.grad for group in optimizer.param_groups for p in group["params"]]
    for i in range(len(grads)):
        grads[i] = None if set_to_none else 0


@wrong(mistakes.none_never_arrived)
def name_for_none(optimizer, set_to_none=True):
    for group in optimizer.param_groups:
        for p in group["params"]:
            grad = p.grad
            if set_to_none:
                grad = None
            elif grad is not None:
                grad.zero_()


@wrong(mistakes.zeros_never_arrived)
def product_that_nobody_keeps(optimizer, set_to_none=True):
    for group in optimizer.param_groups:
        for p in group["params"]:
            if set_to_none:
                p.grad = None
            elif p.grad is not None:
                torch.zeros_like(p.grad)


@wrong(mistakes.weights_set_to_zero)
def parameters_to_zero(optimizer, set_to_none=True):
    with torch.no_grad():
        for group in optimizer.param_groups:
            for p in group["params"]:
                if set_to_none:
                    p.grad = None
                else:
                    p.zero_()


@wrong(effects.changed_requires_grad)
def frozen_by_the_way(optimizer, set_to_none=True):
    for group in optimizer.param_groups:
        for p in group["params"]:
            if set_to_none:
                p.grad = None
            elif p.grad is not None:
                p.grad.zero_()
            p.requires_grad = False


@raised(effects.grad_is_none)
def zero_on_none(optimizer, set_to_none=True):
    for group in optimizer.param_groups:
        for p in group["params"]:
            if set_to_none:
                p.grad = None
            else:
                p.grad.zero_()


@raised(mistakes.stopped_above_the_parameters)
def groups_for_parameters(optimizer, set_to_none=True):
    for p in optimizer.param_groups:
        p.grad = None


@raised(mistakes.stopped_above_the_parameters)
def keys_for_parameters(optimizer, set_to_none=True):
    for group in optimizer.param_groups:
        for p in group:
            if set_to_none:
                p.grad = None
            elif p.grad is not None:
                p.grad.zero_()


@raised(mistakes.stopped_above_the_parameters)
def the_list_for_its_entries(optimizer, set_to_none=True):
    for group in optimizer.param_groups:
        if set_to_none:
            group["params"].grad = None
        else:
            group["params"].grad.zero_()


@raised(mistakes.number_for_a_parameter)
def from_the_state_dict(optimizer, set_to_none=True):
    for group in optimizer.state_dict()["param_groups"]:
        for p in group["params"]:
            if set_to_none:
                p.grad = None
            elif p.grad is not None:
                p.grad.zero_()


@raised(mistakes.list_of_groups_asked_for_a_name)
def one_group_expected(optimizer, set_to_none=True):
    for p in optimizer.param_groups["params"]:
        p.grad = None


@raised(effects.no_such_attribute)
def parameters_of_the_optimizer(optimizer, set_to_none=True):
    for p in optimizer.parameters():
        p.grad = None


@wrong(mistakes.default_is_zeros)
def as_before_version_2(optimizer, set_to_none=False):
    for group in optimizer.param_groups:
        for p in group["params"]:
            if p.grad is not None:
                if set_to_none:
                    p.grad = None
                else:
                    p.grad.zero_()


@raised(mistakes.data_set_to_none)
def data_none(optimizer, set_to_none=True):
    for group in optimizer.param_groups:
        for p in group["params"]:
            if p.grad is not None:
                if set_to_none:
                    p.grad.data = None
                else:
                    p.grad.data.zero_()


@right
def groups_by_key(optimizer, set_to_none=True):
    lists = [group.get("params") for group in optimizer.state_dict and optimizer.param_groups]
    for p in sum(lists, []):
        if p.grad is None:
            continue
        p.grad.detach_().zero_()
        if set_to_none:
            p.grad = None


@wrong(says="cleared")
def a_note_in_each_group(optimizer, set_to_none=True):
    for group in optimizer.param_groups:
        for p in group["params"]:
            if set_to_none:
                p.grad = None
            elif p.grad is not None:
                p.grad.zero_()
        group["cleared"] = True


@wrong(mistakes.another_tensor_in_its_memory)
def detached_and_assigned(optimizer, set_to_none=True):
    for group in optimizer.param_groups:
        for p in group["params"]:
            if p.grad is not None:
                p.grad = None if set_to_none else p.grad.detach().zero_()


@wrong(says="where the gradients lie in one piece of memory")
def fills_the_whole_memory(optimizer, set_to_none=True):
    for group in optimizer.param_groups:
        for p in group["params"]:
            if set_to_none:
                p.grad = None
            elif p.grad is not None:
                p.grad.untyped_storage().fill_(0)


@wrong(mistakes.stopped_at_the_first_without)
def group_passed_by(optimizer, set_to_none=True):
    for group in optimizer.param_groups:
        if group["params"][0].grad is None:
            continue
        for p in group["params"]:
            if set_to_none:
                p.grad = None
            elif p.grad is not None:
                p.grad.zero_()


@wrong(mistakes.state_set_to_zero)
def averages_to_zero_with_the_gradients(optimizer, set_to_none=True):
    for group in optimizer.param_groups:
        for p in group["params"]:
            if set_to_none:
                p.grad = None
            elif p.grad is not None:
                p.grad.zero_()
            if not set_to_none and p in optimizer.state:
                for value in optimizer.state[p].values():
                    if torch.is_tensor(value) and value.shape == p.shape:
                        value.zero_()


@wrong(mistakes.infinity_cleared_by_arithmetic)
def nan_put_away_first(optimizer, set_to_none=True):
    inf = float("inf")
    for group in optimizer.param_groups:
        for p in group["params"]:
            if set_to_none:
                p.grad = None
            elif p.grad is not None:
                p.grad.nan_to_num_(nan=0.0, posinf=inf, neginf=-inf).mul_(0)


@wrong(says="should not be there")
def flag_kept_in_the_group(optimizer, set_to_none=True):
    for group in optimizer.param_groups:
        group.setdefault("set_to_none", set_to_none)
        for p in group["params"]:
            if group["set_to_none"]:
                p.grad = None
            elif p.grad is not None:
                p.grad.zero_()


@raised(mistakes.rows_of_a_number)
def all_rows(optimizer, set_to_none=True):
    for group in optimizer.param_groups:
        for p in group["params"]:
            if set_to_none:
                p.grad = None
            elif p.grad is not None:
                p.grad[:] = 0


@right
def all_entries(optimizer, set_to_none=True):
    for group in optimizer.param_groups:
        for p in group["params"]:
            if set_to_none:
                p.grad = None
            elif p.grad is not None:
                p.grad[()] = 0


@wrong(mistakes.groups_emptied)
def groups_worked_off_as_a_stack(optimizer, set_to_none=True):
    stack = optimizer.param_groups
    while stack:
        for p in stack.pop()["params"]:
            if set_to_none:
                p.grad = None
            elif p.grad is not None:
                p.grad.zero_()


@wrong(mistakes.groups_emptied)
def groups_deleted_afterwards(optimizer, set_to_none=True):
    clear_gradients([p for g in optimizer.param_groups for p in g["params"]], set_to_none)
    del optimizer.param_groups[:]


@wrong(says="the optimizer's groups are not what they were before the call")
def first_group_taken_off(optimizer, set_to_none=True):
    clear_gradients([p for g in optimizer.param_groups for p in g["params"]], set_to_none)
    optimizer.param_groups[0]["params"].pop()


@right
def a_copy_of_the_list_worked_off(optimizer, set_to_none=True):
    stack = list(optimizer.param_groups)
    while stack:
        clear_gradients(stack.pop()["params"], set_to_none)


@wrong(says="still what they were are the gradients of: 0.bias and 2.bias")
def those_with_two_dimensions(optimizer, set_to_none=True):
    clear_gradients([p for g in optimizer.param_groups for p in g["params"] if p.dim() > 1], set_to_none)


@wrong(mistakes.zero_grad_called)
def of_another_optimizer(optimizer, set_to_none=True):
    params = [p for g in optimizer.param_groups for p in g["params"]]
    torch.optim.SGD(params, lr=0.0).zero_grad(set_to_none=set_to_none)
