"""Attempts at exercise 3.1, clear_gradients: what learners write, and what the check must say of it."""

import torch

from course_utils.authoring.attempts import raised, right, wrong
from course_utils.checks import effects
from course_utils.lessons.lesson3.clear_gradients import mistakes


@right
def plain_loop(params, set_to_none=True):
    for p in params:
        if p.grad is None:
            continue
        if set_to_none:
            p.grad = None
        else:
            p.grad.zero_()


@right
def flag_outside(params, set_to_none=True):
    if set_to_none:
        for p in params:
            p.grad = None
    else:
        for p in params:
            if p.grad is not None:
                p.grad.fill_(0.0)


@right
def foreach_zero(params, set_to_none=True):
    params = [p for p in params if p.grad is not None]
    if set_to_none:
        for p in params:
            del p.grad
    elif params:
        torch._foreach_zero_([p.grad for p in params])


@right
def as_pytorch_does(params, set_to_none=True):
    for p in params:
        if p.grad is not None:
            if set_to_none:
                p.grad = None
            else:
                if p.grad.grad_fn is not None:
                    p.grad.detach_()
                else:
                    p.grad.requires_grad_(False)
                p.grad.zero_()


@right
def slice_assignment(params, set_to_none=True):
    for p in params:
        grad = p.grad
        if grad is not None:
            grad[...] = 0
        if set_to_none:
            p.grad = None


@right
def through_data(params, set_to_none=True):
    with torch.no_grad():
        for p in list(params):
            if set_to_none:
                setattr(p, "grad", None)
            elif getattr(p, "grad", None) is not None:
                p.grad.data.zero_()


@right
def multiplied_after_nan_is_gone(params, set_to_none=True):
    for p in params:
        if p.grad is not None and not set_to_none:
            torch.nan_to_num_(p.grad, nan=0.0, posinf=0.0, neginf=0.0).mul_(0)
        elif set_to_none:
            p.grad = None


@right
def copied_from_zeros(params, set_to_none=True):
    iterator = iter(params)
    while (p := next(iterator, None)) is not None:
        if p.grad is not None:
            p.grad = None if set_to_none else p.grad.copy_(torch.zeros_like(p.grad))


# ------------------------------------------------------------------ wrong


@wrong(mistakes.always_none)
def flag_never_read(params, set_to_none=True):
    for p in params:
        p.grad = None


@wrong(mistakes.always_zeros)
def zeros_always(params, set_to_none=True):
    for p in params:
        if p.grad is not None:
            p.grad.zero_()


@wrong(mistakes.always_zeros)
def fresh_zeros_for_none(params, set_to_none=True):
    for p in params:
        if set_to_none:
            p.grad = torch.zeros_like(p)
        elif p.grad is not None:
            p.grad.zero_()


@wrong(mistakes.flag_the_other_way_round)
def turned_round(params, set_to_none=True):
    for p in params:
        if p.grad is not None:
            if set_to_none:
                p.grad.zero_()
            else:
                p.grad = None


@wrong(mistakes.written_into_other_memory)
def zeros_like(params, set_to_none=True):
    for p in params:
        if p.grad is not None:
            p.grad = None if set_to_none else torch.zeros_like(p.grad)


@wrong(mistakes.written_into_other_memory)
def zeros_into_data(params, set_to_none=True):
    for p in params:
        if set_to_none:
            p.grad = None
        elif p.grad is not None:
            p.grad.data = torch.zeros_like(p.grad)


@wrong(mistakes.written_into_other_memory)
def zeros_for_every_one(params, set_to_none=True):
    for p in params:
        p.grad = None if set_to_none else torch.zeros_like(p)


@wrong(mistakes.zeros_where_none_was)
def made_where_missing(params, set_to_none=True):
    for p in params:
        if set_to_none:
            p.grad = None
        elif p.grad is None:
            p.grad = torch.zeros_like(p)
        else:
            p.grad.zero_()


@wrong(mistakes.cleared_by_arithmetic)
def times_zero(params, set_to_none=True):
    for p in params:
        if p.grad is not None:
            if set_to_none:
                p.grad = None
            else:
                p.grad *= 0


@wrong(mistakes.cleared_by_arithmetic)
def minus_itself(params, set_to_none=True):
    for p in params:
        if set_to_none:
            p.grad = None
        elif p.grad is not None:
            p.grad.sub_(p.grad)


@wrong(mistakes.sum_taken_for_emptiness)
def where_the_sum_is_not_zero(params, set_to_none=True):
    for p in params:
        if p.grad is not None and p.grad.sum() != 0:
            if set_to_none:
                p.grad = None
            else:
                p.grad.zero_()


@wrong(mistakes.nan_taken_for_emptiness)
def cleared_where_anything_is_left(params, set_to_none=True):
    for p in params:
        if set_to_none:
            p.grad = None
        elif p.grad is not None and p.grad.abs().sum() > 0:
            p.grad.zero_()


@wrong(mistakes.stopped_at_the_first_without)
def return_for_continue(params, set_to_none=True):
    for p in params:
        if set_to_none:
            p.grad = None
        else:
            if p.grad is None:
                return
            p.grad.zero_()


@wrong(mistakes.parameters_alone)
def by_a_parameter_list(params, set_to_none=True):
    torch.nn.ParameterList(params).zero_grad(set_to_none=set_to_none)


@wrong(mistakes.zeros_taken_for_emptiness)
def where_something_is_in_it(params, set_to_none=True):
    for p in params:
        if p.grad is not None and p.grad.any():
            if set_to_none:
                p.grad = None
            else:
                p.grad.zero_()


@wrong(mistakes.frozen_left)
def trainable_ones(params, set_to_none=True):
    for p in params:
        if not p.requires_grad:
            continue
        if set_to_none:
            p.grad = None
        elif p.grad is not None:
            p.grad.zero_()


@wrong(mistakes.stopped_at_the_first_without)
def returned_at_none(params, set_to_none=True):
    for p in params:
        if p.grad is None:
            return
        if set_to_none:
            p.grad = None
        else:
            p.grad.zero_()


@wrong(mistakes.first_alone)
def return_in_the_loop(params, set_to_none=True):
    for p in params:
        if set_to_none:
            p.grad = None
        elif p.grad is not None:
            p.grad.zero_()
        return p


@wrong(mistakes.generator_used_up)
def counted_first(params, set_to_none=True):
    if sum(1 for _ in params) == 0:
        return
    for p in params:
        if set_to_none:
            p.grad = None
        elif p.grad is not None:
            p.grad.zero_()


@raised(mistakes.asked_for_length_or_position)
def by_index(params, set_to_none=True):
    for i in range(len(params)):
        if set_to_none:
            params[i].grad = None
        elif params[i].grad is not None:
            params[i].grad.zero_()


@raised(mistakes.asked_for_length_or_position)
def looked_at_the_first(params, set_to_none=True):
    if params and params[0] is None:
        return
    for p in params:
        if set_to_none:
            p.grad = None
        elif p.grad is not None:
            p.grad.zero_()


@wrong(mistakes.nothing_cleared)
def local_name(params, set_to_none=True):
    for p in params:
        grad = p.grad
        if grad is not None:
            grad = None if set_to_none else torch.zeros_like(grad)


@wrong(mistakes.nothing_cleared)
def nothing_yet(params, set_to_none=True):
    pass


@wrong(mistakes.none_never_arrived)
def name_for_none(params, set_to_none=True):
    for p in params:
        grad = p.grad
        if grad is not None:
            if set_to_none:
                grad = None
            else:
                grad.zero_()


@wrong(mistakes.zeros_never_arrived)
def product_that_nobody_keeps(params, set_to_none=True):
    for p in params:
        if set_to_none:
            p.grad = None
        elif p.grad is not None:
            p.grad * 0


@wrong(mistakes.weights_set_to_zero)
def data_to_zero(params, set_to_none=True):
    for p in params:
        if set_to_none:
            p.grad = None
        else:
            p.data.zero_()


@wrong(effects.changed_requires_grad)
def frozen_by_the_way(params, set_to_none=True):
    for p in params:
        if set_to_none:
            p.grad = None
        elif p.grad is not None:
            p.grad.zero_()
        p.requires_grad_(False)


@raised(effects.grad_is_none)
def zero_on_none(params, set_to_none=True):
    for p in params:
        if set_to_none:
            p.grad = None
        else:
            p.grad.zero_()


@raised(effects.truth_of_a_tensor)
def truth_of_a_gradient(params, set_to_none=True):
    for p in params:
        if p.grad:
            p.grad = None


@raised(effects.no_such_attribute)
def parameters_of_a_list(params, set_to_none=True):
    for p in params.parameters():
        p.grad = None


@raised(effects.in_place_on_a_leaf)
def zero_of_the_parameter(params, set_to_none=True):
    for p in params:
        p.zero_()


@wrong(mistakes.default_is_zeros)
def as_before_version_2(params, set_to_none=False):
    for p in params:
        if p.grad is not None:
            if set_to_none:
                p.grad = None
            else:
                p.grad.zero_()


@wrong(mistakes.last_alone)
def after_the_loop(params, set_to_none=True):
    p = None
    for p in params:
        grad = p.grad
    if p is None:
        return
    if set_to_none:
        p.grad = None
    elif grad is not None:
        grad.zero_()


@raised(mistakes.data_set_to_none)
def data_none(params, set_to_none=True):
    for p in params:
        if p.grad is not None:
            if set_to_none:
                p.grad.data = None
            else:
                p.grad.data.zero_()


@wrong(mistakes.written_into_other_memory)
def product_assigned(params, set_to_none=True):
    for p in params:
        if set_to_none:
            p.grad = None
        elif p.grad is not None:
            p.grad = p.grad * 0


@wrong()
def nearly_zero(params, set_to_none=True):
    for p in params:
        if set_to_none:
            p.grad = None
        elif p.grad is not None:
            p.grad.fill_(1e-12)


@right
def detached_in_place_and_zeroed(params, set_to_none=True):
    for p in params:
        if p.grad is not None:
            p.grad.detach_()
            p.grad.zero_()
            if set_to_none:
                p.grad = None


@right
def by_an_optimizer_made_for_it(params, set_to_none=True):
    params = list(params)
    if params:
        torch.optim.SGD(params, lr=0.1).zero_grad(set_to_none=set_to_none)


@wrong(mistakes.another_tensor_in_its_memory)
def detached_and_assigned(params, set_to_none=True):
    for p in params:
        if p.grad is None:
            continue
        if set_to_none:
            p.grad = None
        else:
            p.grad = p.grad.detach().zero_()


@wrong(mistakes.generator_used_up)
def asked_whether_there_is_anything(params, set_to_none=True):
    if not any(p.grad is not None for p in params):
        return
    for p in params:
        if set_to_none:
            p.grad = None
        elif p.grad is not None:
            p.grad.zero_()


@wrong(mistakes.parameters_alone)
def of_that_class(params, set_to_none=True):
    for p in params:
        if isinstance(p, torch.nn.Parameter):
            if set_to_none:
                p.grad = None
            elif p.grad is not None:
                p.grad.zero_()


@wrong(mistakes.second_walk_found_nothing)
def zeros_for_all_and_none_on_top(params, set_to_none=True):
    for p in params:
        if p.grad is not None:
            p.grad.zero_()
    if set_to_none:
        for p in params:
            p.grad = None


def _to_none(p):
    p.grad = None


@raised(mistakes.rows_of_a_number)
def all_rows(params, set_to_none=True):
    for p in params:
        if set_to_none:
            p.grad = None
        elif p.grad is not None:
            p.grad[:] = 0


@raised(mistakes.rows_of_a_number)
def row_after_row(params, set_to_none=True):
    for p in params:
        if set_to_none:
            _to_none(p)
            continue
        if p.grad is not None:
            for i in range(len(p.grad)):
                p.grad[i] = 0.0


@right
def everything_by_an_ellipsis(params, set_to_none=True):
    for p in params:
        if set_to_none:
            p.grad = None
        elif p.grad is not None:
            p.grad[...] = 0


@right
def flattened_and_filled(params, set_to_none=True):
    for p in params:
        if set_to_none:
            p.grad = None
        elif p.grad is not None:
            p.grad.masked_fill_(torch.ones_like(p.grad, dtype=torch.bool), 0)


@wrong(mistakes.sum_taken_for_emptiness)
def no_zeros_where_the_sum_is_zero(params, set_to_none=True):
    for p in params:
        if set_to_none:
            p.grad = None
        elif p.grad is not None and p.grad.sum() != 0:
            p.grad.zero_()


@wrong(mistakes.infinity_cleared_by_arithmetic)
def nan_put_away_first(params, set_to_none=True):
    for p in params:
        if set_to_none:
            p.grad = None
        elif p.grad is not None:
            p.grad[p.grad.isnan()] = 0
            p.grad *= 0


@raised(mistakes.optimizer_of_nothing)
def lent_by_an_optimizer(params, set_to_none=True):
    torch.optim.SGD(params, lr=0.1).zero_grad(set_to_none=set_to_none)


@raised(mistakes.optimizer_of_nothing)
def lent_by_adam(params, set_to_none=True):
    held = [p for p in params]
    torch.optim.AdamW(held).zero_grad(set_to_none)


@right
def lent_where_there_is_something(params, set_to_none=True):
    params = list(params)
    if params:
        torch.optim.SGD(params, lr=1.0).zero_grad(set_to_none=set_to_none)


@wrong(mistakes.written_into_other_memory)
def zeroed_and_then_copied(params, set_to_none=True):
    for p in params:
        if set_to_none:
            p.grad = None
        elif p.grad is not None:
            p.grad.zero_()
            p.grad = p.grad.clone()


@wrong(mistakes.nan_taken_for_emptiness)
def where_the_norm_is_above_zero(params, set_to_none=True):
    for p in params:
        if p.grad is not None and (set_to_none and not p.grad.any() or p.grad.norm() > 0):
            if set_to_none:
                p.grad = None
            else:
                p.grad.zero_()


@wrong(says="still what they were are the gradients of: param 1")
def where_there_are_rows(params, set_to_none=True):
    for p in params:
        if p.grad is None or p.dim() == 0:
            continue
        if set_to_none:
            p.grad = None
        else:
            p.grad.zero_()


@wrong(says="still what they were are the gradients of: param 2")
def every_second_one(params, set_to_none=True):
    walk = iter(params)
    for p in walk:
        if p.grad is not None:
            if set_to_none:
                p.grad = None
            else:
                p.grad.zero_()
        next(walk, None)
