"""What is often done instead in exercise 3.3."""

from __future__ import annotations

from collections.abc import Callable, Iterable

import torch
from torch import nn

from course_utils.checks.mistakes import mistake
from course_utils.lessons.lesson3.freeze.task import ATTRIBUTE, GRAD, REQUIRES

Code = Callable[[nn.Module], object]


def _off(params: Iterable[torch.Tensor]) -> None:
    for param in params:
        param.requires_grad_(False)


def _cleared(params: Iterable[torch.Tensor]) -> None:
    for param in params:
        param.grad = None


def _frozen(params: Iterable[torch.Tensor]) -> None:
    """As the exercise asks, for these tensors."""
    for param in params:
        param.requires_grad_(False)
        param.grad = None


# ------------------------------------------------------------------ half of it


def _hook_that_clears(module: nn.Module) -> None:
    def clear(param: torch.Tensor) -> None:
        param.grad = None

    for param in module.parameters():
        if param.requires_grad:
            param.register_post_accumulate_grad_hook(clear)


@mistake(
    "The gradient that waited in .grad still moved them",
    "No new gradient moves them, and that is half of it. What waited in .grad at the call, zeros or not, is still there "
    "when the function returns. A step used it, or the zeros that the loop had filled it with.",
    "A step moves whatever has something in .grad, frozen or not. What should it find there?",
    "Where no backward brings anything more, all seems to be done. Nothing takes away what is there already.",
    also=(_hook_that_clears,),
    signs=(GRAD,),
)
def waiting_gradient_left(module: nn.Module) -> None:
    _off(module.parameters())


@mistake(
    "The next backward brought new gradients",
    ".grad was empty when the function returned. The backward after it filled it again, and the step moved the "
    "module's parameters.",
    "What keeps backward from bringing a parameter a gradient at all?",
    "Clearing is about the past. It says nothing about the next backward.",
    signs=(ATTRIBUTE, GRAD),
)
def cleared_alone(module: nn.Module) -> None:
    _cleared(module.parameters())


def _zeros_everywhere(module: nn.Module) -> None:
    _off(module.parameters())
    for param in module.parameters():
        param.grad = torch.zeros_like(param)


@mistake(
    "Zeros are a gradient, too",
    "No new gradient arrives, and .grad of parameters of the module holds zeros. An optimizer steps on zeros: with "
    "momentum, Adam's averages or weight decay it moved them all the same.",
    "What must stand in .grad, so that a step passes the parameter by?",
    "With plain SGD and no weight decay a gradient of zeros moves nothing.",
    also=(_zeros_everywhere,),
    signs=(GRAD,),
)
def zeros_left(module: nn.Module) -> None:
    _off(module.parameters())
    for param in module.parameters():
        if param.grad is not None:
            param.grad.zero_()


def _hook_alone(module: nn.Module) -> None:
    for param in module.parameters():
        if param.requires_grad:
            param.register_hook(torch.zeros_like)


def _zeroed_afterwards(module: nn.Module) -> None:
    def zero(param: torch.Tensor) -> None:
        assert param.grad is not None
        param.grad.zero_()

    for param in module.parameters():
        param.grad = None
        if param.requires_grad:
            param.register_post_accumulate_grad_hook(zero)


@mistake(
    "After a backward .grad holds zeros",
    "backward still leaves a gradient in .grad of the module's parameters, and it is zero. Where the optimizer has "
    "momentum, Adam's averages or weight decay, they moved all the same.",
    "What must stand in .grad, so that a step passes the parameter by? A hook that leaves None there is one way, "
    "asking for no gradient another.",
    "A gradient of zero sounds like no change.",
    also=(_zeroed_afterwards,),
    signs=(REQUIRES,),
)
def zeros_arrive(module: nn.Module) -> None:
    _cleared(module.parameters())
    _hook_alone(module)


@mistake(
    "Gradients of zeros arrive, and what waited is still there",
    "backward adds zeros to .grad. A gradient that waited there was used by the steps; and where the optimizer has "
    "momentum, Adam's averages or weight decay, the module's parameters moved on zeros, too.",
    "What must stand in .grad, so that a step passes the parameter by: after the call, and after each backward?",
    "A gradient of zero sounds like no change.",
    signs=(REQUIRES,),
)
def zeros_arrive_at_what_waits(module: nn.Module) -> None:
    _hook_alone(module)


# ------------------------------------------------------------------ something else than freezing


@mistake(
    "eval() froze nothing",
    "The module is in eval mode now, and its parameters went on moving. The mode says how dropout and batch norm "
    "compute. It keeps no gradient away.",
    "Leave the mode alone. Which attribute of a parameter says whether backward brings it a gradient?",
    "Frozen layers are often put into eval mode, too, so the two look like one.",
    signs=(REQUIRES,),
)
def eval_alone(module: nn.Module) -> None:
    module.eval()


def _batch_norm_in_eval(module: nn.Module) -> None:
    _frozen(module.parameters())
    for part in module.modules():
        if isinstance(part, nn.BatchNorm1d):
            part.eval()


@mistake(
    "The mode was changed, too",
    "A module came back in eval mode: batch norm in it computes another way now, and its running statistics stand "
    "still.",
    "Leave train() and eval() to the caller.",
    "In fine-tuning one often wants both. They are two decisions.",
    also=(_batch_norm_in_eval,),
    signs=(REQUIRES,),
)
def eval_as_well(module: nn.Module) -> None:
    _frozen(module.parameters())
    module.eval()


def _attribute_and_cleared(module: nn.Module) -> None:
    module.requires_grad = False  # type: ignore[assignment]
    _cleared(module.parameters())


def _attribute_of_each_part(module: nn.Module) -> None:
    for part in module.modules():
        part.requires_grad = False  # type: ignore[assignment]


@mistake(
    "An attribute was set on the module, and nothing reads it",
    "The module has an attribute requires_grad of its own now. Its parameters went on moving: PyTorch asks each "
    "parameter, never the module.",
    "The attribute that counts is one of each parameter. A module has a method for it, whose name ends in an "
    "underscore.",
    "Python lets you set any name on a module, and says nothing.",
    also=(_attribute_and_cleared, _attribute_of_each_part),
    signs=(ATTRIBUTE,),
)
def attribute_on_the_module(module: nn.Module) -> None:
    module.requires_grad = False  # type: ignore[assignment]


@mistake(
    "Nothing was frozen",
    "Every parameter of the module went on moving as if the function had not been called.",
    "What does your code change on the parameters themselves? A name bound to something new in a loop, or a copy, "
    "reaches none of them.",
    signs=(ATTRIBUTE, REQUIRES),
)
def nothing_frozen(module: nn.Module) -> None:
    pass


# ------------------------------------------------------------------ which parameters


def _waiting_of_direct(module: nn.Module) -> None:
    _off(module.parameters(recurse=False))


@mistake(
    "Parameters of the module's parts were left out",
    "What stays is what the module holds itself. The parameters of the modules inside of it went on moving.",
    "Which method gives the parameters of a module and of all its parts?",
    also=(_waiting_of_direct,),
)
def direct_parameters_alone(module: nn.Module) -> None:
    _frozen(module.parameters(recurse=False))


@mistake(
    "Parameters deeper inside were left out",
    "What stays is what the module holds itself, and what its parts hold. The parameters of parts inside of parts went on "
    "moving.",
    "How deep does your walk go? Which method gives the parameters of a module and of all its parts, however deep?",
    "A plain Sequential of layers has one level alone.",
)
def two_levels_alone(module: nn.Module) -> None:
    for part in (module, *module.children()):
        _frozen(part.parameters(recurse=False))


def _of_children(module: nn.Module) -> list[nn.Parameter]:
    return [param for child in module.children() for param in child.parameters()]


@mistake(
    "The module's own parameters were left out",
    "What stays is what its parts hold. The parameters that belong to the module itself went on moving; a single layer "
    "has no parts, so there that is all of them.",
    "Which method gives the parameters of a module and of all its parts?",
    "A Sequential has no parameters of its own, other modules do.",
    also=(lambda module: _off(_of_children(module)),),
)
def parts_alone(module: nn.Module) -> None:
    _frozen(_of_children(module))


@mistake(
    "Only what the direct parts hold themselves was frozen",
    "What stays is what the module's direct parts hold themselves. Its own parameters, and those of parts inside of "
    "parts, went on moving.",
    "How deep does your walk go, and where does it begin? Which method gives the parameters of a module and of all its "
    "parts?",
    "In a plain Sequential of layers the parameters belong to its direct parts.",
    also=(lambda module: _off([p for child in module.children() for p in child.parameters(recurse=False)]),),
)
def direct_parts_alone(module: nn.Module) -> None:
    for child in module.children():
        _frozen(child.parameters(recurse=False))


def _weights(module: nn.Module) -> list[nn.Parameter]:
    return [param for name, param in module.named_parameters() if name.endswith("weight")]


@mistake(
    "Only the weights were frozen",
    "The parameters named weight stay. The biases, and parameters of other names, went on moving.",
    "A bias is a parameter like any other. Is there a way to ask for all of them, whatever their names?",
    also=(lambda module: _off(_weights(module)),),
)
def weights_alone(module: nn.Module) -> None:
    _frozen(_weights(module))


@mistake(
    "Parameters of other names were left out",
    "What is named weight or bias stays. A parameter of another name, such as one of the module's own, went on moving.",
    "Is there a way to ask for all parameters, whatever their names?",
    "Most layers have a weight and a bias, and nothing else.",
)
def weights_and_biases_alone(module: nn.Module) -> None:
    _frozen([p for name, p in module.named_parameters() if name.rpartition(".")[2] in ("weight", "bias")])


@mistake(
    "A parameter that was frozen before was passed by",
    "A parameter that had requires_grad=False before the call still holds its gradient, and the step used it.",
    "Which condition leaves such a parameter out? It may have a gradient from before it was frozen.",
    "What is frozen already seems to need nothing.",
)
def frozen_before_passed_by(module: nn.Module) -> None:
    _frozen([param for param in module.parameters() if param.requires_grad])


# ------------------------------------------------------------------ what else was changed


def _all_of(module: nn.Module) -> list[tuple[nn.Module, str, nn.Parameter]]:
    return [
        (part, name, param) for part in module.modules() for name, param in list(part.named_parameters(recurse=False))
    ]


def _copied(module: nn.Module) -> None:
    for part, name, param in _all_of(module):
        setattr(part, name, nn.Parameter(param.detach().clone(), requires_grad=False))


def _made_buffers(module: nn.Module) -> None:
    for part, name, param in _all_of(module):
        delattr(part, name)
        part.register_buffer(name, param.detach().clone())


def _shared_buffers(module: nn.Module) -> None:
    for part, name, param in _all_of(module):
        delattr(part, name)
        part.register_buffer(name, param.detach())


@mistake(
    "The parameters were replaced",
    "The module has other tensors now than it had. An optimizer made before the call, and whoever else holds its "
    "parameters, holds the old ones.",
    "Change what there is: an attribute of each parameter, and what stands in its .grad.",
    "A new parameter without gradients seems the cleanest way to get rid of one with.",
    also=(_copied, _made_buffers, _shared_buffers),
)
def parameters_replaced(module: nn.Module) -> None:
    for part, name, param in _all_of(module):
        setattr(part, name, nn.Parameter(param.detach(), requires_grad=False))


@mistake(
    "Only the module's forward pass was taken out of the graph",
    "What lies in front of the module, where anything does, gets no gradient through it. And the module's own parameters "
    "still learn where a loss was computed before the call, or where another layer has one of them, too.",
    "That is a statement about forward passes to come. Which attribute of a parameter keeps every backward from bringing "
    "it a gradient?",
    "While the module runs under no_grad, none of its parameters gets a gradient through it.",
    signs=(REQUIRES,),
)
def forward_without_recording(module: nn.Module) -> None:
    module.forward = torch.no_grad()(module.forward)  # type: ignore[method-assign]
    _cleared(module.parameters())


@mistake(
    "What lies in front of the module stopped learning",
    "Where other layers come before the module, no gradient comes through it to them, or one of zeros.",
    "A frozen layer still passes gradients on to what lies in front of it. It only keeps none for itself. Which line "
    "keeps them from passing?",
    "detach and no_grad cut off everything that lies in front, not the parameters alone.",
)
def cut_off_in_front(module: nn.Module) -> None:
    module.forward = torch.no_grad()(module.forward)  # type: ignore[method-assign]
    _frozen(module.parameters())


def _statistics_off(module: nn.Module) -> None:
    _frozen(module.parameters())
    for part in module.modules():
        if isinstance(part, nn.BatchNorm1d):
            part.track_running_stats = False


@mistake(
    "The running statistics stand still",
    "The running statistics of batch norm in train mode no longer move; they were to go on. They are buffers, which no "
    "gradient reaches.",
    "Take out what you do to batch norm, or to the buffers.",
    also=(_statistics_off,),
    signs=(REQUIRES,),
)
def statistics_stopped(module: nn.Module) -> None:
    _frozen(module.parameters())
    for part in module.modules():
        if isinstance(part, nn.BatchNorm1d):
            part.momentum = 0.0


def _off_for_good(module: nn.Module) -> None:
    _cleared(module.parameters())
    torch.set_grad_enabled(False)


@mistake(
    "Recording was switched off for everything",
    "Nothing is recorded from the call on: the rest of the model stopped learning, too.",
    "torch.set_grad_enabled(False) is a switch for all that comes after it. What belongs to one parameter alone?",
    also=(_off_for_good,),
)
def recording_switched_off(module: nn.Module) -> None:
    _frozen(module.parameters())
    torch.set_grad_enabled(False)


# ------------------------------------------------------------------ at another time than the call


def _at_the_next_forward(module: nn.Module) -> None:
    module.register_forward_pre_hook(lambda part, _: _frozen(part.parameters()))


def _cleared_now_frozen_later(module: nn.Module) -> None:
    _cleared(module.parameters())
    _at_the_next_forward(module)


@mistake(
    "Frozen when the module runs the next time, and not at the call",
    "When the function returned nothing was frozen yet. What comes before the module's next forward pass still moved its "
    "parameters: a step, where a gradient waits in .grad, or the backward of a loss from before the call.",
    "Freeze in the function itself. What stands in a hook or in a new forward is done when that runs.",
    "In a plain loop a forward pass comes next.",
    also=(_cleared_now_frozen_later,),
    signs=(GRAD, REQUIRES),
)
def frozen_at_the_next_forward(module: nn.Module) -> None:
    _at_the_next_forward(module)


def _put_back_before_each_forward(module: nn.Module) -> None:
    kept = [(param, param.detach().clone()) for param in module.parameters()]

    def put_back(*_: object) -> None:
        with torch.no_grad():
            for param, values in kept:
                param.copy_(values)

    module.register_forward_pre_hook(put_back)


def _cleared_and_put_back(module: nn.Module) -> None:
    _cleared(module.parameters())
    _put_back_before_each_forward(module)


@mistake(
    "The parameters moved, and were put back later",
    "Gradients still arrive, and each step moved the module's parameters. The old values were back when the module ran "
    "forward again; until then, and after the last step, they are others.",
    "After a frozen parameter's step nothing needs to be put back. What keeps a step from moving it at all?",
    "In each forward pass the module computes with the values that it had.",
    also=(_cleared_and_put_back,),
    signs=(GRAD, REQUIRES),
)
def moved_and_put_back(module: nn.Module) -> None:
    _put_back_before_each_forward(module)
