"""What is often done instead in exercise 3.2. What is done to one gradient, 3.1 knows already."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import torch

from course_utils.checks.mistakes import Mistake, mistake
from course_utils.lessons.lesson3.clear_gradients import mistakes as of_tensors

Code = Callable[..., object]
Optimizer = torch.optim.Optimizer


def _at_once(code: Code) -> Code:
    def clear(optimizer: Optimizer, set_to_none: bool = True) -> None:
        code([param for group in optimizer.param_groups for param in group["params"]], set_to_none)

    return clear


def _by_group(code: Code) -> Code:
    def clear(optimizer: Optimizer, set_to_none: bool = True) -> None:
        for group in optimizer.param_groups:
            code(group["params"], set_to_none)

    return clear


def _in_groups(one: Mistake) -> Mistake:
    """A mistake of 3.1, made with all parameters of an optimizer, or with those of each group."""
    return replace(one, forms=tuple(through(code) for code in one.forms for through in (_at_once, _by_group)))


always_none = _in_groups(of_tensors.always_none)
always_zeros = _in_groups(of_tensors.always_zeros)
flag_the_other_way_round = _in_groups(of_tensors.flag_the_other_way_round)
written_into_other_memory = _in_groups(of_tensors.written_into_other_memory)
another_tensor_in_its_memory = _in_groups(of_tensors.another_tensor_in_its_memory)
zeros_where_none_was = _in_groups(of_tensors.zeros_where_none_was)
cleared_by_arithmetic = _in_groups(of_tensors.cleared_by_arithmetic)
zeros_taken_for_emptiness = _in_groups(of_tensors.zeros_taken_for_emptiness)
frozen_left = _in_groups(of_tensors.frozen_left)
infinity_cleared_by_arithmetic = _in_groups(of_tensors.infinity_cleared_by_arithmetic)
rows_of_a_number = _in_groups(of_tensors.rows_of_a_number)
stopped_at_the_first_without = _in_groups(
    replace(
        of_tensors.stopped_at_the_first_without,
        words=replace(
            of_tensors.stopped_at_the_first_without.words,
            mend="What goes on with the next parameter of the group? break and return end a whole loop, and what one "
            "parameter holds says nothing of the others.",
        ),
    )
)
nothing_cleared = _in_groups(of_tensors.nothing_cleared)
none_never_arrived = _in_groups(of_tensors.none_never_arrived)
zeros_never_arrived = _in_groups(of_tensors.zeros_never_arrived)
weights_set_to_zero = _in_groups(of_tensors.weights_set_to_zero)
data_set_to_none = _in_groups(of_tensors.data_set_to_none)


def _cleared(params: Any, set_to_none: bool) -> None:
    """As the exercise asks, for these tensors."""
    for param in params:
        if set_to_none:
            param.grad = None
        elif param.grad is not None:
            param.grad.zero_()


def _zeros_by_default(optimizer: Optimizer, set_to_none: bool = False) -> None:
    for group in optimizer.param_groups:
        _cleared(group["params"], set_to_none)


default_is_zeros = replace(of_tensors.default_is_zeros, forms=(_zeros_by_default,))

# ------------------------------------------------------------------ whose gradients


@mistake(
    "Only the first group was cleared",
    "The gradients of the first group were cleared; those of the groups behind it are what they were.",
    "param_groups is a list. How many of its entries does your code look at?",
    "Most optimizers have one group, and then param_groups[0] is all of them.",
)
def first_group_alone(optimizer: Optimizer, set_to_none: bool = True) -> None:
    _cleared(optimizer.param_groups[0]["params"], set_to_none)


@mistake(
    "Only the last group was cleared",
    "The gradients of the last group were cleared; those of the groups before it are what they were.",
    "Does the loop over the parameters stand inside the loop over the groups?",
    "After a loop its variable still holds the last value.",
)
def last_group_alone(optimizer: Optimizer, set_to_none: bool = True) -> None:
    _cleared(optimizer.param_groups[-1]["params"], set_to_none)


def _first_of_all(optimizer: Optimizer, set_to_none: bool = True) -> None:
    _cleared(optimizer.param_groups[0]["params"][:1], set_to_none)


@mistake(
    "Only the first parameter of a group was cleared",
    "Of a group the gradient of the first parameter was cleared; the others are what they were.",
    "A group holds a list of parameters. Is there a loop over it, and does something end it early?",
    also=(_first_of_all,),
)
def first_of_each_group(optimizer: Optimizer, set_to_none: bool = True) -> None:
    for group in optimizer.param_groups:
        _cleared(group["params"][:1], set_to_none)


@mistake(
    "Only parameters that the optimizer remembers something of were cleared",
    "The cleared ones are those with an entry in optimizer.state. Before the first step most optimizers have none, and "
    "plain SGD never has one.",
    "state is the optimizer's memory. Where does it keep the parameters that it was given?",
    "After a few steps of Adam every parameter has an entry there.",
)
def those_with_state_alone(optimizer: Optimizer, set_to_none: bool = True) -> None:
    _cleared(list(optimizer.state), set_to_none)


def _of_keys(optimizer: Any, set_to_none: bool = True) -> None:
    for group in optimizer.param_groups:
        for key in group:
            key.grad = None


def _of_lists(optimizer: Any, set_to_none: bool = True) -> None:
    for group in optimizer.param_groups:
        group["params"].grad = None


@mistake(
    "What was asked for .grad is no parameter",
    "The message names what it is: a dict is a group, a str is a key of a group, and a list is what stands under the "
    "key of the parameters. A parameter is one entry of that list.",
    "How many levels are there from param_groups down to one parameter? Each list takes a loop of its own.",
    also=(_of_keys, _of_lists),
)
def stopped_above_the_parameters(optimizer: Any, set_to_none: bool = True) -> None:
    for group in optimizer.param_groups:
        group.grad = None


@mistake(
    "A number was asked for .grad",
    "The message says int: what was asked for .grad is a number, not a parameter.",
    "state_dict() gives the numbers of the parameters, and range() gives numbers, too. Where do the parameters "
    "themselves stand?",
    "Printed, the groups of state_dict() look like those of the optimizer.",
)
def number_for_a_parameter(optimizer: Any, set_to_none: bool = True) -> None:
    for group in optimizer.state_dict()["param_groups"]:
        for param in group["params"]:
            param.grad = None


@mistake(
    "The list of groups was asked for a name",
    "param_groups is a list, and a list has positions, not names: Python refused.",
    "Which loop gives you one group at a time? A group is a dict, and has names.",
    "Most optimizers have one group, and then it looks as if param_groups were that group.",
)
def list_of_groups_asked_for_a_name(optimizer: Any, set_to_none: bool = True) -> None:
    _cleared(optimizer.param_groups["params"], set_to_none)


# ------------------------------------------------------------------ what else was changed


@mistake(
    "The optimizer's memory was thrown away",
    "What the optimizer remembered of earlier steps is gone: momentum and Adam begin anew.",
    "Leave optimizer.state alone. Clearing is about .grad.",
    "Momentum is made of old gradients, so it looks like something to clear.",
)
def state_thrown_away(optimizer: Optimizer, set_to_none: bool = True) -> None:
    _cleared([p for group in optimizer.param_groups for p in group["params"]], set_to_none)
    optimizer.state.clear()


def _averages_zeroed(optimizer: Optimizer, set_to_none: bool = True) -> None:
    _cleared([p for group in optimizer.param_groups for p in group["params"]], set_to_none)
    for entries in optimizer.state.values():
        for name, value in entries.items():
            if isinstance(value, torch.Tensor) and name != "step":
                value.zero_()


def _averages_zeroed_with_zeros(optimizer: Optimizer, set_to_none: bool = True) -> None:
    if set_to_none:
        _cleared([p for group in optimizer.param_groups for p in group["params"]], set_to_none)
    else:
        _averages_zeroed(optimizer, set_to_none)


@mistake(
    "What the optimizer remembers was set to zero",
    "The optimizer's averages of earlier gradients are zero now, so its next step is another.",
    "Leave optimizer.state alone. Clearing is about .grad.",
    "Momentum is made of old gradients, so it looks like something to clear.",
    also=(_averages_zeroed, _averages_zeroed_with_zeros),
)
def state_set_to_zero(optimizer: Optimizer, set_to_none: bool = True) -> None:
    _averages_zeroed(optimizer, set_to_none)
    for entries in optimizer.state.values():
        if isinstance(entries.get("step"), torch.Tensor):
            entries["step"].zero_()


def _groups_worked_off(optimizer: Optimizer, set_to_none: bool = True) -> None:
    while optimizer.param_groups:
        _cleared(optimizer.param_groups.pop()["params"], set_to_none)


@mistake(
    "The optimizer holds no parameters any more",
    "After the call its list of groups is empty, or the list of parameters in each of them. No later step moves anything.",
    "Clear what stands in each parameter's .grad, and leave the lists as they are. pop() and clear() change the "
    "optimizer's own list, also through a second name for it.",
    "groups = optimizer.param_groups looks like a list of one's own.",
    also=(_groups_worked_off,),
)
def groups_emptied(optimizer: Optimizer, set_to_none: bool = True) -> None:
    for group in optimizer.param_groups:
        _cleared(group["params"], set_to_none)
        group["params"].clear()


@mistake(
    "zero_grad was called",
    "What should be cleared is cleared, and a zero_grad was called on the way. The exercise asks for it by hand.",
    "Walk through the groups of the optimizer, and the parameters of each, yourself.",
    "In a training loop it is the right call.",
)
def zero_grad_called(optimizer: Optimizer, set_to_none: bool = True) -> None:
    optimizer.zero_grad(set_to_none)
