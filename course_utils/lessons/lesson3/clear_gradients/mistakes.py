"""What is often done instead in exercise 3.1."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

import torch
from torch import nn

from course_utils.checks.mistakes import mistake

T = torch.Tensor
Clear = Callable[[T], object]
Code = Callable[..., object]


def _nothing(param: T) -> None:
    pass


def _none(param: T) -> None:
    param.grad = None


def _zeros(param: T) -> None:
    if param.grad is not None:
        param.grad.zero_()


def _loop(to_none: Clear = _none, to_zeros: Clear = _zeros, where: Callable[[T], bool] = lambda param: True) -> Code:
    """Over all tensors for which `where` holds."""

    def code(params: Iterable[T], set_to_none: bool = True) -> None:
        for param in params:
            if where(param):
                (to_none if set_to_none else to_zeros)(param)

    return code


# ------------------------------------------------------------------ what set_to_none asks for


@mistake(
    "Every .grad is None, whatever set_to_none says",
    "With set_to_none=False every .grad is None. Those that held a tensor were to keep it, filled with zeros.",
    "Which line of yours reads set_to_none, and what does it do where it is False?",
)
def always_none(params: Iterable[T], set_to_none: bool = True) -> None:
    _loop(to_zeros=_none)(params, set_to_none)


def _zeros_everywhere(param: T) -> None:
    param.grad = torch.zeros_like(param, requires_grad=False)


@mistake(
    "Zeros, where None was asked for",
    "With set_to_none=True each .grad that held a tensor holds zeros. Zeros are a gradient: they take memory, and an "
    "optimizer steps on them.",
    "What must .grad be, so that it holds no tensor at all?",
    "The name zero_grad says zero. Since PyTorch 2.0 its default is None.",
    also=(_loop(to_none=_zeros_everywhere),),
)
def always_zeros(params: Iterable[T], set_to_none: bool = True) -> None:
    _loop(to_none=_zeros)(params, set_to_none)


@mistake(
    "set_to_none does the opposite",
    "With set_to_none=True the gradients are zeros, and with set_to_none=False they are None.",
    "Read your condition aloud: what happens if set_to_none is true?",
)
def flag_the_other_way_round(params: Iterable[T], set_to_none: bool = True) -> None:
    _loop(to_none=_zeros, to_zeros=_none)(params, set_to_none)


@mistake(
    "Without set_to_none zeros are made",
    "Where the call says nothing of set_to_none, a .grad that held a tensor holds zeros afterwards. The default that "
    "was asked for gives None.",
    "Compare the first line of your function with the exercise's text.",
    "Before PyTorch 2.0 zeros were the default.",
)
def default_is_zeros(params: Iterable[T], set_to_none: bool = False) -> None:
    _loop()(params, set_to_none)


# ------------------------------------------------------------------ how zeros come in


def _other_zeros(param: T) -> None:
    if param.grad is not None:
        param.grad = torch.zeros_like(param.grad)


def _other_memory(param: T) -> None:
    if param.grad is not None:
        param.grad.data = torch.zeros_like(param.grad)


@mistake(
    ".grad lies in other memory than before",
    "With set_to_none=False a .grad that held a tensor holds one in other memory after the call: another tensor, or the "
    "same one with other memory under it.",
    "Write the zeros into the tensor that is there, and assign nothing.",
    "An assignment, to .grad or to .grad.data, puts other memory there. Seen through .grad alone the zeros look the same.",
    also=(_loop(to_zeros=_other_memory),),
)
def written_into_other_memory(params: Iterable[T], set_to_none: bool = True) -> None:
    _loop(to_zeros=_other_zeros)(params, set_to_none)


def _detached(param: T) -> None:
    if param.grad is not None:
        param.grad = param.grad.detach()
        param.grad.zero_()


@mistake(
    "Another tensor in .grad, in the old one's memory",
    "With set_to_none=False the zeros are in the memory that .grad had before, and .grad is another tensor than it was: "
    "one that shares its memory.",
    "Write into the tensor that is there, and assign nothing.",
    "detach() looks like an act on the tensor. It makes a second one on the same memory.",
)
def another_tensor_in_its_memory(params: Iterable[T], set_to_none: bool = True) -> None:
    _loop(to_zeros=_detached)(params, set_to_none)


def _zeros_for_none(param: T) -> None:
    if param.grad is None:
        param.grad = torch.zeros_like(param, requires_grad=False)
    param.grad.zero_()


@mistake(
    "Zeros where there was no gradient",
    "With set_to_none=False a .grad that was None is a tensor of zeros afterwards. None is cleared already.",
    "What should happen to a parameter whose .grad is None?",
    "As numbers zeros and nothing look alike; an optimizer steps on zeros, and passes None by.",
)
def zeros_where_none_was(params: Iterable[T], set_to_none: bool = True) -> None:
    _loop(to_zeros=_zeros_for_none)(params, set_to_none)


def _times_zero(param: T) -> None:
    if param.grad is not None:
        param.grad.mul_(0)


@mistake(
    "Not a number is left where a gradient was infinite or NaN",
    "With set_to_none=False finite entries are zero. Where an entry was infinite or NaN, NaN stands now: that is what "
    "infinity times 0 gives, or infinity minus itself, and whatever is computed with NaN.",
    "Fill the tensor instead of computing with what is in it.",
    "A finite number times zero is zero, and so is one minus itself.",
)
def cleared_by_arithmetic(params: Iterable[T], set_to_none: bool = True) -> None:
    _loop(to_zeros=_times_zero)(params, set_to_none)


def _times_zero_without_nan(param: T) -> None:
    if param.grad is not None:
        param.grad.nan_to_num_(nan=0.0, posinf=float("inf"), neginf=-float("inf")).mul_(0)


@mistake(
    "Not a number is left where a gradient was infinite",
    "With set_to_none=False finite entries are zero, and so are those that were NaN. Where an entry was infinite, NaN "
    "stands now: that is what infinity times 0 gives, or infinity minus itself.",
    "Fill the tensor instead of computing with what is in it.",
    "NaN was thought of; what is computed with infinity makes a new one.",
)
def infinity_cleared_by_arithmetic(params: Iterable[T], set_to_none: bool = True) -> None:
    _loop(to_zeros=_times_zero_without_nan)(params, set_to_none)


def _all_rows(param: T) -> None:
    if param.grad is not None:
        param.grad[:] = 0


def _row_by_row(param: T) -> None:
    for row in param.grad if param.grad is not None else ():
        row.zero_()


def _by_length(param: T) -> None:
    if param.grad is not None:
        for place in range(len(param.grad)):
            param.grad[place] = 0


def _by_first_size(param: T) -> None:
    if param.grad is not None:
        for place in range(param.grad.shape[0]):
            param.grad[place] = 0


@mistake(
    "A 0-d tensor has no rows",
    "Rows of a .grad were asked for: all of them with [:], one after the other, or how many there are. A tensor of one "
    "number is 0-d and has no rows, and PyTorch, or Python, refused.",
    "Which operation fills a tensor of any shape?",
    "Weights and biases have rows. A learned temperature is often a single number.",
    also=tuple(_loop(to_zeros=one) for one in (_row_by_row, _by_length, _by_first_size)),
)
def rows_of_a_number(params: Iterable[T], set_to_none: bool = True) -> None:
    _loop(to_zeros=_all_rows)(params, set_to_none)


# ------------------------------------------------------------------ what is passed by


def _does_not_sum_to_zero(param: T) -> bool:
    return param.grad is not None and bool(param.grad.sum() != 0)


@mistake(
    "A gradient whose entries sum to zero was left",
    "Gradients whose sum is zero are what they were before the call. A sum of zero does not say that the entries are "
    "zero, and a gradient of zeros is not None.",
    "Ask whether there is a gradient, not what is in it.",
    also=(
        _loop(to_none=lambda p: _none(p) if _does_not_sum_to_zero(p) else None),
        _loop(to_zeros=lambda p: _zeros(p) if _does_not_sum_to_zero(p) else None),
    ),
)
def sum_taken_for_emptiness(params: Iterable[T], set_to_none: bool = True) -> None:
    _loop(where=_does_not_sum_to_zero)(params, set_to_none)


def _holds_no_nan(param: T) -> bool:
    return param.grad is not None and not bool(param.grad.isnan().any())


@mistake(
    "A gradient that holds NaN was left",
    "On these cases gradients with NaN in them are what they were before the call. No number is above NaN, and none below: "
    "whatever asks so passes them by.",
    "Ask whether there is a gradient, not what is in it.",
    "The size of a gradient seems to be above zero wherever anything is left.",
    also=(_loop(where=_holds_no_nan),),
)
def nan_taken_for_emptiness(params: Iterable[T], set_to_none: bool = True) -> None:
    _loop(to_zeros=lambda param: _zeros(param) if _holds_no_nan(param) else None)(params, set_to_none)


@mistake(
    "A gradient of zeros was left, where None was asked for",
    "With set_to_none=True a .grad that holds zeros still holds them. Zeros are not None.",
    "Ask whether there is a gradient, not what is in it.",
)
def zeros_taken_for_emptiness(params: Iterable[T], set_to_none: bool = True) -> None:
    _loop(where=lambda param: param.grad is not None and bool(param.grad.any()))(params, set_to_none)


@mistake(
    "Gradients of frozen parameters were left",
    "A parameter with requires_grad=False still holds the gradient that it held. Such a gradient is from before it "
    "was frozen, and an optimizer that finds it there uses it.",
    "Which condition leaves these parameters out? Ask about the gradient instead.",
    "A frozen parameter gets no new gradient. It may have an old one.",
)
def frozen_left(params: Iterable[T], set_to_none: bool = True) -> None:
    _loop(where=lambda param: param.requires_grad)(params, set_to_none)


@mistake(
    "Tensors that are no nn.Parameter were left",
    "Plain tensors that require gradients still hold the gradient that they held.",
    "Which condition leaves them out? Or does something make a Parameter of its own out of each? Any leaf tensor may "
    "hold a gradient.",
)
def parameters_alone(params: Iterable[T], set_to_none: bool = True) -> None:
    _loop(where=lambda param: isinstance(param, nn.Parameter))(params, set_to_none)


def _ended_by_none_to_zeros_alone(params: Iterable[T], set_to_none: bool = True) -> None:
    for param in params:
        if param.grad is None and not set_to_none:
            break
        (_none if set_to_none else _zeros)(param)


@mistake(
    "What comes after a parameter without a gradient was left",
    "The loop came to a .grad that is None, and the gradients behind it are what they were.",
    "break and return end the whole loop. What goes on with the next parameter?",
    also=(_ended_by_none_to_zeros_alone,),
)
def stopped_at_the_first_without(params: Iterable[T], set_to_none: bool = True) -> None:
    for param in params:
        if param.grad is None:
            break
        (_none if set_to_none else _zeros)(param)


@mistake(
    "Only the first parameter was cleared",
    "The first one's gradient was cleared; those behind it are what they were.",
    "How far is the last line of your loop indented?",
    "A return inside the loop ends it in the first round.",
)
def first_alone(params: Iterable[T], set_to_none: bool = True) -> None:
    for param in params:
        (_none if set_to_none else _zeros)(param)
        return


def _begun_before(params: Iterable[T], set_to_none: bool = True) -> None:
    if any(param.grad is not None for param in params):
        _loop()(params, set_to_none)


@mistake(
    "Of a generator nothing was cleared, or not the first",
    "A generator's tensors were left, all of them or the first. That is what a second walk over a generator misses: it "
    "gives each tensor once.",
    "Does anything walk over params before your loop? Walk once, or keep what it gives in a list first.",
    "A list can be walked through as often as one likes. model.parameters() is no list.",
    also=(_begun_before,),
)
def generator_used_up(params: Iterable[T], set_to_none: bool = True) -> None:
    list(params)
    _loop()(params, set_to_none)


@mistake(
    "Of a generator the gradients are zeros, not None",
    "Where params is a generator and set_to_none=True, each .grad that held a tensor holds zeros; where params is a list "
    "it is None.",
    "How many loops over params run one after the other? In a generator the second one finds nothing.",
    "A list can be walked through as often as one likes. model.parameters() is no list.",
)
def second_walk_found_nothing(params: Iterable[T], set_to_none: bool = True) -> None:
    _loop(to_none=_zeros)(params, set_to_none)
    if set_to_none:
        _loop()(params, set_to_none)


def _by_position(params: Sequence[T], set_to_none: bool = True) -> None:
    if params:
        params[0]
    _loop()(params, set_to_none)


@mistake(
    "A generator has no length and no positions",
    "The code asks params for its length, or for an entry by its number. Lists have both, generators neither.",
    "A for loop over params itself needs neither.",
    also=(_by_position,),
)
def asked_for_length_or_position(params: Sequence[T], set_to_none: bool = True) -> None:
    len(params)
    _loop()(params, set_to_none)


@mistake(
    "Only the last parameter was cleared",
    "The last one's gradient was cleared; those before it are what they were.",
    "How far is the line that clears indented? It belongs into the loop.",
    "After a loop its variable still holds the last value.",
)
def last_alone(params: Iterable[T], set_to_none: bool = True) -> None:
    _loop()(list(params)[-1:], set_to_none)


@mistake(
    "An optimizer refuses to be made without parameters",
    "params may be empty, and torch.optim raises on an empty list.",
    "What is there to clear where params gives nothing? A loop of your own needs no optimizer.",
    "An optimizer has zero_grad, with the very same argument.",
)
def optimizer_of_nothing(params: Iterable[T], set_to_none: bool = True) -> None:
    torch.optim.SGD(params, lr=0.1).zero_grad(set_to_none)


# ------------------------------------------------------------------ what never arrives


@mistake(
    "No gradient was cleared",
    "Every .grad holds what it held before the call.",
    "Assign to param.grad, or write into its tensor. `grad = param.grad` and then `grad = None` only changes what the "
    "name grad stands for.",
)
def nothing_cleared(params: Iterable[T], set_to_none: bool = True) -> None:
    _loop(to_none=_nothing, to_zeros=_nothing)(params, set_to_none)


@mistake(
    "With set_to_none=True nothing was cleared",
    "With set_to_none=True every .grad holds what it held before the call.",
    "Does the line for None assign to the attribute .grad, or to a name of your own?",
    "zero_() through another name reaches the tensor, since both name the same one. An assignment does not.",
)
def none_never_arrived(params: Iterable[T], set_to_none: bool = True) -> None:
    _loop(to_none=_nothing)(params, set_to_none)


@mistake(
    "With set_to_none=False nothing was cleared",
    "With set_to_none=False every .grad holds what it held before the call.",
    "Which operation of yours writes into the tensor in .grad?",
    "An operation without an underscore at its end makes a new tensor, and leaves the old one as it was.",
)
def zeros_never_arrived(params: Iterable[T], set_to_none: bool = True) -> None:
    _loop(to_zeros=_nothing)(params, set_to_none)


def _data_to_none(param: T) -> None:
    if param.grad is not None:
        param.grad.data = None  # type: ignore[assignment]


@mistake(
    "A tensor's data cannot be None",
    "None was assigned to the .data of a tensor, which must be a tensor: PyTorch refused.",
    "What is to be None is the attribute .grad of the parameter.",
)
def data_set_to_none(params: Iterable[T], set_to_none: bool = True) -> None:
    _loop(to_none=_data_to_none)(params, set_to_none)


def _values_to_zero(param: T) -> None:
    param.data.zero_()


def _both_to_zero(param: T) -> None:
    param.data.zero_()
    _zeros(param)


@mistake(
    "The parameters themselves were set to zero",
    "The values of parameters are zero now. Clearing is about their gradients.",
    "The gradient stands in param.grad. What do param and param.data stand for?",
    "A parameter and its gradient have the same shape, so nothing complains.",
    also=(
        _loop(to_zeros=_values_to_zero),
        _loop(to_zeros=_both_to_zero),
        _loop(to_none=_both_to_zero, to_zeros=_both_to_zero),
    ),
)
def weights_set_to_zero(params: Iterable[T], set_to_none: bool = True) -> None:
    _loop(to_none=_values_to_zero, to_zeros=_values_to_zero)(params, set_to_none)
