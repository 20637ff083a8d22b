"""What is often done instead in exercise 3.4."""

from __future__ import annotations

from collections.abc import Callable, Iterable

import torch
from torch import nn

from course_utils.checks.mistakes import mistake

Code = Callable[[nn.Module, bool], int]


def _trainable(model: nn.Module) -> list[torch.Tensor]:
    return [param for param in model.parameters() if param.requires_grad]


def _bytes(tensors: Iterable[torch.Tensor]) -> int:
    return sum(tensor.numel() * tensor.element_size() for tensor in tensors)


def _times(false: int, true: int = 0, of: Callable[[nn.Module], Iterable[torch.Tensor]] = _trainable) -> Code:
    """The bytes of some tensors, `false` times where set_to_none is False and `true` times where it is True."""

    def code(model: nn.Module, set_to_none: bool) -> int:
        return (true if set_to_none else false) * _bytes(of(model))

    return code


# ------------------------------------------------------------------ which operations


@mistake(
    "set_to_none was read the other way round",
    "The traffic of zeros came back for set_to_none=True, and none for set_to_none=False.",
    "Read your condition aloud: what moves bytes, zeros or None?",
)
def flag_the_other_way_round(model: nn.Module, set_to_none: bool) -> int:
    return _times(0, 4)(model, set_to_none)


@mistake(
    "A quarter of the traffic is missing",
    "With set_to_none=False three bytes came back for each byte of the gradients, and there are four. The addition "
    "reads two and writes one; before it somebody has written the zeros.",
    "List both operations, and beside each what it reads and what it writes.",
    "Each of the two operations is short by itself. The zeros have to get there, and an addition reads both its terms.",
)
def quarter_left_out(model: nn.Module, set_to_none: bool) -> int:
    return _times(3)(model, set_to_none)


@mistake(
    "Half of the traffic is missing",
    "With set_to_none=False two bytes came back for each byte of the gradients, and there are four. As many are "
    "written by the two operations together; as many are read by the addition.",
    "List both operations, and beside each what it reads and what it writes.",
)
def half_left_out(model: nn.Module, set_to_none: bool) -> int:
    return _times(2)(model, set_to_none)


@mistake(
    "Three quarters of the traffic are missing",
    "With set_to_none=False one byte came back for each byte of the gradients, and there are four. The zeros alone "
    "are as many.",
    "Writing the zeros is one operation. What does the next backward do with them?",
)
def three_quarters_left_out(model: nn.Module, set_to_none: bool) -> int:
    return _times(1)(model, set_to_none)


@mistake(
    "A quarter too much",
    "With set_to_none=False five bytes came back for each byte of the gradients, and there are four.",
    "Which entry of your list does not belong there? Filling with zeros only writes: what was there before plays no "
    "part. And what the optimizer reads does not count.",
    "Most in-place operations read what they change.",
)
def five_for_four(model: nn.Module, set_to_none: bool) -> int:
    return _times(5)(model, set_to_none)


@mistake(
    "The gradient that is handed over was counted",
    "With set_to_none=True bytes were counted. There .grad takes over the tensor that arrives: nothing is read, written "
    "or copied.",
    "What does backward do with the arriving tensor where .grad is None? Section 4 compared the memory.",
    "In the end new numbers stand in .grad, so somebody must have written them. That was the computation of the "
    "gradient, which does not count here.",
    also=(_times(4, 2), _times(4, 3)),
)
def handed_over_counted(model: nn.Module, set_to_none: bool) -> int:
    return _times(4, 1)(model, set_to_none)


@mistake(
    "No traffic at all",
    "0 came back for either value of set_to_none. With set_to_none=False zeros are written, and then added to. If you "
    "measured: in the first step every .grad is still None, and a copy of a model has no gradients either.",
    "What do clearing and accumulating do in a step before which .grad holds a tensor?",
)
def nothing_counted(model: nn.Module, set_to_none: bool) -> int:
    return 0


# ------------------------------------------------------------------ how many bytes


def _of_width(width: Callable[[list[torch.Tensor]], int]) -> Code:
    def code(model: nn.Module, set_to_none: bool) -> int:
        params = _trainable(model)
        return 0 if set_to_none else 4 * width(params) * sum(param.numel() for param in params)

    return code


def _always_of_width(width: int) -> Code:
    return lambda model, set_to_none: _of_width(lambda params: width)(model, False)


@mistake(
    "The same count, whatever set_to_none says",
    "With set_to_none=True the number came back that belongs to set_to_none=False. There no zeros are written, and "
    "nothing is added to them.",
    "What do the two operations become where .grad is None?",
    also=(_always_of_width(1), _always_of_width(4), _always_of_width(8)),
)
def flag_ignored(model: nn.Module, set_to_none: bool) -> int:
    return _times(4, 4)(model, set_to_none)


@mistake(
    "Entries were counted, not bytes",
    "The number is right in entries. An entry has as many bytes as its dtype says.",
    "Multiply the entries of each parameter by the bytes of one; a tensor knows both.",
)
def entries_counted(model: nn.Module, set_to_none: bool) -> int:
    return _of_width(lambda params: 1)(model, set_to_none)


@mistake(
    "Four bytes an entry, whatever the dtype",
    "Every entry was counted with four bytes, which is right for float32. In float64 an entry has eight, in bfloat16 "
    "two.",
    "A tensor knows how many bytes an entry of it has.",
    "Four is what most models have.",
)
def four_bytes_an_entry(model: nn.Module, set_to_none: bool) -> int:
    return _of_width(lambda params: 4)(model, set_to_none)


@mistake(
    "Eight bytes an entry, whatever the dtype",
    "Every entry was counted with eight bytes, which is right for float64. In float32 an entry has four, in bfloat16 "
    "two.",
    "A tensor knows how many bytes an entry of it has.",
)
def eight_bytes_an_entry(model: nn.Module, set_to_none: bool) -> int:
    return _of_width(lambda params: 8)(model, set_to_none)


@mistake(
    "One dtype for all parameters",
    "Where parameters have two dtypes, the entries of both were counted with the bytes of one.",
    "Ask every parameter for the bytes of its entries, not one of them for all.",
    also=(
        _of_width(lambda params: params[-1].element_size() if params else 0),
        _of_width(lambda params: max([param.element_size() for param in params], default=0)),
    ),
)
def one_width_for_all(model: nn.Module, set_to_none: bool) -> int:
    return _of_width(lambda params: params[0].element_size() if params else 0)(model, set_to_none)


# ------------------------------------------------------------------ which tensors


@mistake(
    "Frozen parameters were counted",
    "Where a parameter is frozen the number is too large, by as much as it would add. A frozen parameter gets no "
    "gradient, so there is none to clear and none to add.",
    "Which parameters get a gradient at all?",
)
def frozen_counted(model: nn.Module, set_to_none: bool) -> int:
    return _times(4, of=lambda model: model.parameters())(model, set_to_none)


def _under_each_name(model: nn.Module) -> list[torch.Tensor]:
    return [param for _, param in model.named_parameters(remove_duplicate=False)]


@mistake(
    "Parameters of the model's parts were left out",
    "The number is that of the parameters that the model holds itself. Those of the modules inside of it have gradients, "
    "too.",
    "Which method gives the parameters of a model and of all its parts?",
)
def direct_parameters_alone(model: nn.Module, set_to_none: bool) -> int:
    return _times(4, of=lambda model: [p for p in model.parameters(recurse=False) if p.requires_grad])(
        model, set_to_none
    )


def _of_linear_layers(model: nn.Module) -> list[torch.Tensor]:
    layers = [part for part in model.modules() if isinstance(part, nn.Linear)]
    return [param for layer in layers for param in layer.parameters() if param.requires_grad]


@mistake(
    "Only linear layers were counted",
    "Where parameters do not belong to a linear layer the number is too small: batch norm has some, and a model may "
    "have some of its own.",
    "Is there a way to ask for all parameters, whatever they belong to?",
)
def linear_layers_alone(model: nn.Module, set_to_none: bool) -> int:
    return _times(4, of=_of_linear_layers)(model, set_to_none)


def _whose_names_end_in(*endings: str) -> Code:
    return _times(
        4, of=lambda model: [p for n, p in model.named_parameters() if n.endswith(endings) and p.requires_grad]
    )


@mistake(
    "Only the weights were counted",
    "The number is that of the parameters named weight. Biases, and parameters of other names, have gradients, too.",
    "Is there a way to ask for all parameters, whatever their names?",
)
def weights_alone(model: nn.Module, set_to_none: bool) -> int:
    return _whose_names_end_in("weight")(model, set_to_none)


@mistake(
    "Parameters of other names were left out",
    "The number is that of the parameters named weight or bias. A model may have some of other names.",
    "Is there a way to ask for all parameters, whatever their names?",
    "Most layers have a weight and a bias, and nothing else.",
)
def weights_and_biases_alone(model: nn.Module, set_to_none: bool) -> int:
    return _whose_names_end_in("weight", "bias")(model, set_to_none)


@mistake(
    "A tied parameter was counted twice",
    "Where one weight stands in two places the traffic of its .grad was counted twice. It is one tensor with one "
    ".grad.",
    "model.parameters() gives a tied parameter once. Where do yours come from?",
    "Each layer has a weight, and both names are there.",
    also=(_times(4, of=_under_each_name),),
)
def tied_counted_twice(model: nn.Module, set_to_none: bool) -> int:
    return _times(4, of=lambda model: [p for p in _under_each_name(model) if p.requires_grad])(model, set_to_none)


@mistake(
    "Buffers were counted",
    "Where the model has batch norm the number is too large, by what its running statistics and its counter would add. "
    "They are buffers, and have no gradient.",
    "What has a .grad that backward fills? state_dict() gives more than that.",
)
def buffers_counted(model: nn.Module, set_to_none: bool) -> int:
    return _times(4, of=lambda model: [*_trainable(model), *model.buffers()])(model, set_to_none)


@mistake(
    "All that state_dict() holds was counted",
    "The number is that of every entry of state_dict(): frozen parameters, buffers, and a tied parameter under each of "
    "its names. None of these has a gradient of its own.",
    "Which tensors have a .grad that backward fills? There is a method that gives the parameters, each of them once.",
    "state_dict() is what is saved of a model, so it seems to be the list of what there is.",
)
def state_dict_counted(model: nn.Module, set_to_none: bool) -> int:
    return _times(4, of=lambda model: model.state_dict().values())(model, set_to_none)


def _held_now(model: nn.Module) -> list[torch.Tensor]:
    return [param for param in model.parameters() if param.grad is not None]


@mistake(
    "Only gradients that are there now were counted",
    "Where .grad is None at the call the number is too small: after the first step each parameter that requires "
    "gradients has one.",
    "The question is about a later step of the loop, not about this moment.",
)
def those_held_now(model: nn.Module, set_to_none: bool) -> int:
    return _times(4, of=_held_now)(model, set_to_none)


@mistake(
    "Gradients that are there now were counted, and not four times",
    "Two things: where .grad is None at the call nothing was counted for it, and each byte of the others counted another "
    "number of times than four.",
    "The question is about a later step of the loop: by then each parameter that requires gradients has one. And list "
    "both operations, with what each of them reads and writes.",
    also=tuple(_times(count, of=_held_now) for count in (1, 2, 3, 6)),
)
def those_held_now_miscounted(model: nn.Module, set_to_none: bool) -> int:
    return _times(5, of=_held_now)(model, set_to_none)


@mistake(
    "Zeros were counted for gradients that are there now alone",
    "Where .grad is None at the call three bytes came back for each byte of the gradient, and there are four: the "
    "write of its zeros is missing. After the first step each parameter that requires gradients has a .grad to fill.",
    "The question is about a later step of the loop, not about this moment.",
)
def zeros_for_those_held_now(model: nn.Module, set_to_none: bool) -> int:
    held = [param for param in _trainable(model) if param.grad is not None]
    return 0 if set_to_none else 3 * _bytes(_trainable(model)) + _bytes(held)


def _by(key: Callable[[torch.Tensor], object]) -> Code:
    return _times(4, of=lambda model: {key(param): param for param in _trainable(model)}.values())


@mistake(
    "Of parameters that are alike one was counted",
    "Where two parameters have the same shape, or the same number of entries or bytes, only one of them was counted.",
    "Two parameters are one where they are one object, not where they look alike. model.parameters() gives each of them "
    "once already.",
    "A set drops what is there twice. Numbers that are equal are the same to it.",
    also=(_by(lambda param: param.numel()), _by(lambda param: param.shape)),
)
def alike_counted_once(model: nn.Module, set_to_none: bool) -> int:
    return _by(lambda param: param.nbytes)(model, set_to_none)


def _memory(tensor: torch.Tensor) -> int:
    return tensor.untyped_storage().nbytes()


def _each_memory_once(model: nn.Module, set_to_none: bool) -> int:
    pieces = {param.untyped_storage().data_ptr(): _memory(param) for param in _trainable(model)}
    return 0 if set_to_none else 4 * sum(pieces.values())


@mistake(
    "The memory behind the parameters was counted",
    "Where parameters lie in a larger piece of memory the number is that of the whole piece, once or for each of them.",
    "A gradient has its parameter's shape, and memory of its own. Which bytes belong to the tensor, and which to the "
    "storage behind it?",
    "Most parameters have a storage that is just as large.",
    also=(_each_memory_once,),
    where=lambda spec: bool(spec.get("flat")),
)
def memory_counted(model: nn.Module, set_to_none: bool) -> int:
    return 0 if set_to_none else 4 * sum(_memory(param) for param in _trainable(model))
