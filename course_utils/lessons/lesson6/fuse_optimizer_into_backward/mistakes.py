"""What is often done instead in exercise 6.8."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from itertools import count
from typing import Any

import torch
from torch import nn

from course_utils.checks.mistakes import mistake
from course_utils.lessons.lesson6.fuse_optimizer_into_backward.task import MADE, MADE_LATE

MakeList = Callable[[list[nn.Parameter]], torch.optim.Optimizer]
Clear = Callable[[torch.Tensor], None]
Code = Callable[[nn.Module, MakeList, int], object]


class Handle:
    """Takes hooks away again."""

    def __init__(self, hooks: Sequence[Any]) -> None:
        self._hooks = list(hooks)

    def remove(self) -> None:
        for hook in self._hooks:
            hook.remove()


def _trainable(model: nn.Module) -> list[nn.Parameter]:
    return [param for param in model.parameters() if param.requires_grad]


def _to_none(param: torch.Tensor) -> None:
    param.grad = None


def _to_zeros(param: torch.Tensor) -> None:
    assert param.grad is not None
    param.grad.zero_()


def _nothing(param: torch.Tensor) -> None:
    pass


def _divide(param: torch.Tensor, number: int) -> None:
    assert param.grad is not None
    param.grad /= number


def _fused(
    *,
    due: Callable[[int, int], bool] = lambda passes, window: passes % window == 0,
    clear: Clear = _to_none,
    not_due: Clear = _nothing,
    before: Callable[[torch.Tensor, int], None] = lambda param, window: None,
    anew: bool = False,
    which: Callable[[nn.Module], list[nn.Parameter]] = _trainable,
    handle: Callable[[list[Any]], object] = Handle,
) -> Code:
    """A hook for each parameter that counts its own passes, with one thing other than it should be.

    `due(passes, window)` says when the step is, `clear` runs after a step, `not_due` where there is none, `before` in
    front of a step; with `anew` the optimizer is made for each step.
    """

    def code(model: nn.Module, make_optimizer: MakeList, window: int) -> object:
        def hooked(param: nn.Parameter) -> Any:
            optimizer = None if anew else make_optimizer([param])
            passes = 0

            def arrived(_: torch.Tensor) -> None:
                nonlocal passes
                passes += 1
                if due(passes, window):
                    before(param, window)
                    (optimizer or make_optimizer([param])).step()
                    clear(param)
                else:
                    not_due(param)

            return param.register_post_accumulate_grad_hook(arrived)

        return handle([hooked(param) for param in which(model)])

    return code


def ordinary_accumulation(model: nn.Module, make_optimizer: MakeList, window: int) -> Handle:
    """One optimizer steps when the engine has finished the last backward of a window. Its numbers are the right ones,
    and it frees nothing on the way."""
    params = _trainable(model)
    optimizer = make_optimizer(params)
    engine: Any = torch.autograd.Variable._execution_engine
    passes, waiting = 0, False

    def at_the_end() -> None:
        nonlocal passes, waiting
        passes, waiting = passes + 1, False
        if passes % window == 0:
            optimizer.step()
            optimizer.zero_grad()

    def arrived(_: torch.Tensor) -> None:
        nonlocal waiting
        if not waiting:
            waiting = True
            engine.queue_callback(at_the_end)

    return Handle([param.register_post_accumulate_grad_hook(arrived) for param in params])


# ------------------------------------------------------------------ the rule


@mistake(
    "The gradients were freed at the end",
    "The numbers are right here. In the last backward of a window, gradients of layers that backward had left behind "
    "were still in .grad: the memory that this exercise is about was not saved.",
    "When is a parameter's gradient complete, and who could step and clear that very parameter then?",
    "One optimizer that holds everything seems to need every gradient before it can step.",
)
def freed_at_the_end(model: nn.Module, make_optimizer: MakeList, window: int) -> object:
    return ordinary_accumulation(model, make_optimizer, window)


def _cleared_together(model: nn.Module, make_optimizer: MakeList, window: int) -> object:
    params = _trainable(model)
    waiting: list[torch.Tensor] = []

    def cleared_when_all_have_come(param: torch.Tensor) -> None:
        waiting.append(param)
        if len(waiting) == len(params):
            for one in waiting:
                one.grad = None
            waiting.clear()

    return _fused(clear=cleared_when_all_have_come)(model, make_optimizer, window)


@mistake(
    "Cleared when all had been stepped",
    "Where the loss does not use every parameter, gradients stayed in .grad after a window. So it is where clearing waits "
    "until every trainable parameter has been stepped: one without a gradient never is.",
    "When has a parameter no more use for its gradient? Clear each one by itself then.",
    "Where every parameter gets a gradient, all of them are stepped in the end.",
    where=lambda spec: spec["model"] == "partly used",
)
def cleared_when_all_were_stepped(model: nn.Module, make_optimizer: MakeList, window: int) -> object:
    return _cleared_together(model, make_optimizer, window)


# ------------------------------------------------------------------ when it steps


@mistake(
    "Every backward stepped",
    "Each micro-batch moved the parameters, not only the last of its window. With windows of one that is the same.",
    "A hook runs in every backward. What does it need to know, so that it can let the first ones of a window pass?",
    "The usual recipe for an optimizer inside of backward knows no window. That is why the two do not go together by "
    "themselves.",
)
def stepped_in_every_backward(model: nn.Module, make_optimizer: MakeList, window: int) -> object:
    return _fused(due=lambda passes, window: True)(model, make_optimizer, window)


@mistake(
    "One count for all parameters",
    "The parameters were stepped on passes that are not the last of their window. That is what one count for all hooks "
    "does: it grows by one for each parameter in each backward.",
    "How often does your count grow in one backward? How often should it?",
    "A variable outside of the hooks is shared by all of them.",
)
def one_count_for_all(model: nn.Module, make_optimizer: MakeList, window: int) -> object:
    passes = 0

    def hooked(param: nn.Parameter) -> Any:
        optimizer = make_optimizer([param])

        def arrived(_: torch.Tensor) -> None:
            nonlocal passes
            passes += 1
            if passes % window == 0:
                optimizer.step()
                optimizer.zero_grad()

        return param.register_post_accumulate_grad_hook(arrived)

    return Handle([hooked(param) for param in _trainable(model)])


def _of_all_in_the_hook(clears_all: bool) -> Code:
    def code(model: nn.Module, make_optimizer: MakeList, window: int) -> object:
        params = _trainable(model)
        optimizer = make_optimizer(params)
        passes = dict.fromkeys(map(id, params), 0)

        def arrived(param: torch.Tensor) -> None:
            passes[id(param)] += 1
            if passes[id(param)] % window == 0:
                optimizer.step()
                optimizer.zero_grad() if clears_all else _to_none(param)

        return Handle([param.register_post_accumulate_grad_hook(arrived) for param in params])

    return code


@mistake(
    "A step moved parameters whose gradient was not complete",
    "In the last backward of a window parameters were stepped before their own gradient of that backward had come. "
    "An optimizer that holds all of them, and steps as soon as the first is complete, does that. With windows of one the "
    "others have nothing in .grad yet, and that does no harm. Where backward still needs the values that were moved, PyTorch "
    "raises.",
    "In the middle of the last backward, what do the layers that backward has not reached hold in .grad? And who is "
    "stepped when your optimizer steps?",
    also=(_of_all_in_the_hook(False),),
    signs=(MADE,),
)
def one_optimizer_for_all(model: nn.Module, make_optimizer: MakeList, window: int) -> object:
    return _of_all_in_the_hook(True)(model, make_optimizer, window)


def _of_the_last_made(*, clears_its_own: bool, one_count: bool = False) -> Code:
    def code(model: nn.Module, make_optimizer: MakeList, window: int) -> object:
        passes: dict[int, int] = {}
        params = _trainable(model)
        made = [make_optimizer([param]) for param in params]

        def arrived(one: torch.Tensor) -> None:
            place = 0 if one_count else id(one)
            passes[place] = passes.get(place, 0) + 1
            if passes[place] % window == 0:
                made[-1].step()
                made[-1].zero_grad() if clears_its_own else _to_none(one)

        return Handle([param.register_post_accumulate_grad_hook(arrived) for param in params])

    return code


@mistake(
    "The last optimizer stepped for all",
    "One parameter alone was stepped. So it is where all hooks find their optimizer under one name: when they run, it "
    "stands for the last one that was made.",
    "How does each hook get hold of its own optimizer? A function that makes the hook, or a default argument, keeps it.",
    "In the loop's body the name means this round's optimizer. In a function that is called later it means the last "
    "one's.",
    also=(
        _of_the_last_made(clears_its_own=True),
        _of_the_last_made(clears_its_own=True, one_count=True),
        _of_the_last_made(clears_its_own=False, one_count=True),
    ),
    signs=(MADE,),
)
def last_optimizer_for_all(model: nn.Module, make_optimizer: MakeList, window: int) -> object:
    return _of_the_last_made(clears_its_own=False)(model, make_optimizer, window)


@mistake(
    "Only the first window stepped",
    "The first window is right. In the others no parameter moved.",
    "Your count goes on after a window. What does it have to be at the beginning of the next one?",
    "With == the count meets the window once.",
)
def stepped_once(model: nn.Module, make_optimizer: MakeList, window: int) -> object:
    return _fused(due=lambda passes, window: passes == window)(model, make_optimizer, window)


@mistake(
    "After the first window every backward stepped",
    "The first window is right. From then on each micro-batch moved the parameters.",
    "Your count goes on after a window. What does it have to be at the beginning of the next one?",
)
def stepped_from_the_first_window_on(model: nn.Module, make_optimizer: MakeList, window: int) -> object:
    return _fused(due=lambda passes, window: passes >= window)(model, make_optimizer, window)


@mistake(
    "The first backward of a window stepped",
    "The step came in the first backward of each window, with what was in .grad by then, and not in the last.",
    "Where does your count begin, and do you ask before or after it grows?",
    "Counting from 0 and from 1 differ by one pass.",
)
def stepped_at_the_first(model: nn.Module, make_optimizer: MakeList, window: int) -> object:
    return _fused(due=lambda passes, window: (passes - 1) % window == 0)(model, make_optimizer, window)


@mistake(
    "The step came one backward late",
    "The last backward of a window moved nothing. The first one after it did.",
    "Ask your count for windows of two: what is it in the second backward, at the place where you ask?",
)
def stepped_one_late(model: nn.Module, make_optimizer: MakeList, window: int) -> object:
    return _fused(due=lambda passes, window: passes > window and passes % window == 1 % window)(
        model, make_optimizer, window
    )


@mistake(
    "No step came",
    "No parameter moved in any window.",
    "Which line of your code steps, and is it reached? Print something there, and what it waits for in each backward.",
)
def never_stepped(model: nn.Module, make_optimizer: MakeList, window: int) -> object:
    return _fused(due=lambda passes, window: False)(model, make_optimizer, window)


def _counting(total: Callable[[nn.Module], int]) -> Code:
    """A backward is over, they say, when so many hooks have run."""

    def code(model: nn.Module, make_optimizer: MakeList, window: int) -> object:
        params, calls = _trainable(model), 0
        optimizers = [make_optimizer([param]) for param in params]

        def arrived(_: torch.Tensor) -> None:
            nonlocal calls
            calls += 1
            if calls % (window * total(model)) == 0:
                for optimizer in optimizers:
                    optimizer.step()
                    optimizer.zero_grad()

        return Handle([param.register_post_accumulate_grad_hook(arrived) for param in params])

    return code


def _passes_from_calls(total: Callable[[nn.Module], int]) -> Code:
    """Which backward it is, they compute from the number of hooks that have run."""

    def code(model: nn.Module, make_optimizer: MakeList, window: int) -> object:
        calls = 0

        def hooked(param: nn.Parameter) -> Any:
            optimizer = make_optimizer([param])

            def arrived(_: torch.Tensor) -> None:
                nonlocal calls
                calls += 1
                if -(-calls // total(model)) % window == 0:
                    optimizer.step()
                    optimizer.zero_grad()

            return param.register_post_accumulate_grad_hook(arrived)

        return Handle([hooked(param) for param in _trainable(model)])

    return code


def _layers_that_wait(model: nn.Module, make_optimizer: MakeList, window: int) -> object:
    """An optimizer for each layer, which steps when all of the layer's own parameters have arrived."""
    handles = []
    for layer in model.modules():
        params = [param for param in layer.parameters(recurse=False) if param.requires_grad]
        if params:
            handles += _when_all_arrived(params, make_optimizer(params), window)
    return Handle(handles)


def _when_all_arrived(params: list[nn.Parameter], optimizer: torch.optim.Optimizer, window: int) -> list[Any]:
    calls = 0

    def arrived(_: torch.Tensor) -> None:
        nonlocal calls
        calls += 1
        if calls == window * len(params):
            calls = 0
            optimizer.step()
            optimizer.zero_grad()

    return [param.register_post_accumulate_grad_hook(arrived) for param in params]


@mistake(
    "A parameter that gets no gradient was counted, too",
    "In the model shown, where some parameters get no gradient, the steps did not come, or came on other passes. So it "
    "is with a count that takes a backward to run one hook for each parameter.",
    "Which hooks run in a backward of such a model? A count for each parameter needs to know nothing of the others.",
    "In most models every parameter gets a gradient.",
    also=(
        _counting(lambda model: len(list(model.parameters()))),
        _counting(lambda model: len(_trainable(model))),
        _passes_from_calls(lambda model: len(list(model.parameters()))),
        _passes_from_calls(lambda model: len(_trainable(model))),
        _layers_that_wait,
    ),
    where=lambda spec: spec["model"] in ("frozen", "partly used"),
)
def waited_for_all(model: nn.Module, make_optimizer: MakeList, window: int) -> object:
    params = _trainable(model)
    return Handle(_when_all_arrived(params, make_optimizer(params), window))


def _counting_forwards(only_recorded: bool) -> Code:
    def code(model: nn.Module, make_optimizer: MakeList, window: int) -> object:
        forwards = 0

        def ran(*_: object) -> None:
            nonlocal forwards
            if torch.is_grad_enabled() or not only_recorded:
                forwards += 1

        def hooked(param: nn.Parameter) -> Any:
            optimizer = make_optimizer([param])

            def arrived(_: torch.Tensor) -> None:
                if forwards % window == 0:
                    optimizer.step()
                    optimizer.zero_grad()

            return param.register_post_accumulate_grad_hook(arrived)

        hooks = [hooked(param) for param in _trainable(model)]
        return Handle([*hooks, model.register_forward_pre_hook(ran)])

    return code


@mistake(
    "Forward passes were counted",
    "Where the model also runs forward without a backward, the steps came on other passes than the last of their window. "
    "Where every forward has its backward, counting forwards does no harm.",
    "What makes up a window is backward passes. Who knows of each of them?",
    also=(_counting_forwards(True),),
    where=lambda spec: bool(spec.get("validates")),
)
def forwards_counted(model: nn.Module, make_optimizer: MakeList, window: int) -> object:
    return _counting_forwards(False)(model, make_optimizer, window)


# ------------------------------------------------------------------ with which gradient


def _by_a_tensor_hook(model: nn.Module, make_optimizer: MakeList, window: int, clears: bool) -> object:
    def hooked(param: nn.Parameter) -> Any:
        optimizer = make_optimizer([param])
        passes = 0

        def arriving(_: torch.Tensor) -> None:
            nonlocal passes
            passes += 1
            if passes % window == 0:
                optimizer.step()
                if clears:
                    optimizer.zero_grad()

        return param.register_hook(arriving)

    return Handle([hooked(param) for param in _trainable(model)])


@mistake(
    "The step ran before the gradient was in .grad",
    "Each step used what .grad held before the last backward of its window, and the gradient of that backward was there "
    "when it had returned. So it is with register_hook: its hook runs before the gradient is added.",
    "Which hook of a parameter runs after its .grad has been written?",
    "The two hooks differ in their name by one word, and both run once per backward.",
    also=(partial(_by_a_tensor_hook, clears=False),),
)
def hooked_too_early(model: nn.Module, make_optimizer: MakeList, window: int) -> object:
    return _by_a_tensor_hook(model, make_optimizer, window, clears=True)


def _by_hooks_of_modules(of_the_model_alone: bool) -> Code:
    def code(model: nn.Module, make_optimizer: MakeList, window: int) -> object:
        def hooked(part: nn.Module, params: list[nn.Parameter]) -> Any:
            optimizer = make_optimizer(params)
            passes = 0

            def arrived(*_: object) -> None:
                nonlocal passes
                passes += 1
                if passes % window == 0:
                    optimizer.step()
                    optimizer.zero_grad()

            return part.register_full_backward_hook(arrived)

        if of_the_model_alone:
            return Handle([hooked(model, _trainable(model))])
        own = {part: [p for p in part.parameters(recurse=False) if p.requires_grad] for part in model.modules()}
        return Handle([hooked(part, params) for part, params in own.items() if params])

    return code


@mistake(
    "A module's backward hook does not wait for its parameters",
    "Parameters were stepped before their gradient of the last backward was in .grad. So it is with a backward hook of a "
    "module: it runs when the gradients of its inputs or outputs are there, and where no input needs one it runs before the "
    "layer's own backward.",
    "What has to be complete is the gradient of a parameter. Which hook belongs to a parameter, and runs after its .grad has "
    "been written?",
    "For a layer in the middle of the model the hook comes late enough, by the order in which backward happens to run.",
    also=(_by_hooks_of_modules(True),),
)
def hooked_on_modules(model: nn.Module, make_optimizer: MakeList, window: int) -> object:
    return _by_hooks_of_modules(False)(model, make_optimizer, window)


@mistake(
    "A hook returned something",
    "What the hook returned is no None, and PyTorch raises: a hook of this kind may return nothing.",
    "A lambda returns what it computes. What does yours compute, and what would a def without return give back?",
    "For hooks of tensors a return value is allowed: it replaces the gradient.",
)
def hook_returned_something(model: nn.Module, make_optimizer: MakeList, window: int) -> object:
    def hooked(param: nn.Parameter) -> Any:
        optimizer, passes = make_optimizer([param]), count(1)
        stepping: Any = lambda _: (optimizer.step(), optimizer.zero_grad()) if next(passes) % window == 0 else None  # noqa: E731
        return param.register_post_accumulate_grad_hook(stepping)

    return Handle([hooked(param) for param in _trainable(model)])


@mistake(
    "make_optimizer takes a list",
    "A parameter by itself was handed to make_optimizer, and PyTorch refuses: an optimizer takes a list of them.",
    "How does a list of one look?",
)
def no_list_handed_over(model: nn.Module, make_optimizer: MakeList, window: int) -> object:
    make: Any = make_optimizer
    return [make(param) for param in _trainable(model)]


@mistake(
    "Each backward threw the gradient of the last one away",
    "The step used the gradient of the last micro-batch of its window alone. That is what .grad cleared in every backward "
    "leaves.",
    "When may .grad be cleared: in every backward, or where the step was?",
    "Where backward steps each time, clearing belongs into each hook.",
)
def cleared_in_every_backward(model: nn.Module, make_optimizer: MakeList, window: int) -> object:
    return _fused(not_due=_to_none)(model, make_optimizer, window)


@mistake(
    "Divided by the window once more",
    "Each step used the gradient of its window divided by `window`. The caller has divided the loss already.",
    "Who divides: the loop, your hook, or both?",
)
def divided_again(model: nn.Module, make_optimizer: MakeList, window: int) -> object:
    return _fused(before=_divide)(model, make_optimizer, window)


def _multiply(param: torch.Tensor, number: int) -> None:
    assert param.grad is not None
    param.grad *= number


@mistake(
    "Multiplied by the window",
    "Each step used the gradient of its window times `window`.",
    "The caller has divided the losses, so the sum in .grad is the mean already.",
)
def multiplied_by_the_window(model: nn.Module, make_optimizer: MakeList, window: int) -> object:
    return _fused(before=_multiply)(model, make_optimizer, window)


# ------------------------------------------------------------------ what is left in .grad


@mistake(
    "The gradients stayed in .grad",
    "After the last backward of a window .grad still holds the gradient that was used. It takes part in the next window "
    "once more, and its memory is not free.",
    "The loop has no zero_grad() any more. Who clears, and when?",
)
def never_cleared(model: nn.Module, make_optimizer: MakeList, window: int) -> object:
    return _fused(clear=_nothing)(model, make_optimizer, window)


@mistake(
    "Zeros stayed in .grad",
    "After each window .grad holds zeros: as many bytes as a gradient.",
    "What must stand in .grad, so that its memory is free?",
    "In numbers zeros and None are the same here.",
)
def zeros_left(model: nn.Module, make_optimizer: MakeList, window: int) -> object:
    return _fused(clear=_to_zeros)(model, make_optimizer, window)


# ------------------------------------------------------------------ which optimizers, which parameters


@mistake(
    "Each step was made by a new optimizer",
    "make_optimizer was called for every step. Momentum and Adam's averages begin anew each time; with plain SGD that is "
    "the same.",
    "How long does an optimizer have to live, so that it remembers the windows before?",
    signs=(MADE_LATE,),
    where=lambda spec: spec["optimizer"] in ("momentum", "Adam", "AdamW"),
)
def optimizer_made_anew(model: nn.Module, make_optimizer: MakeList, window: int) -> object:
    return _fused(anew=True)(model, make_optimizer, window)


def _of_each_module(model: nn.Module) -> list[nn.Parameter]:
    return [p for part in model.modules() for p in part.parameters(recurse=False) if p.requires_grad]


@mistake(
    "The shared weight was treated as two",
    "Where two layers share a weight, it was not stepped as one parameter. So it is when a walk over the layers meets it "
    "twice, and each time it gets a hook.",
    "How often does your walk come to a weight that two layers share? model.parameters() meets it once.",
    where=lambda spec: spec["model"] == "tied",
)
def tied_weight_twice(model: nn.Module, make_optimizer: MakeList, window: int) -> object:
    params = _of_each_module(model)
    passes = dict.fromkeys(map(id, params), 0)
    optimizers = {id(param): make_optimizer([param]) for param in params}

    def arrived(param: torch.Tensor) -> None:
        passes[id(param)] += 1
        if passes[id(param)] % window == 0:
            optimizers[id(param)].step()
            param.grad = None

    return Handle([param.register_post_accumulate_grad_hook(arrived) for param in params])


@mistake(
    "A frozen parameter takes no such hook",
    "A hook was to be registered on a parameter that does not require gradients, and PyTorch refuses.",
    "Which parameters never get a gradient? They need neither a hook nor an optimizer.",
    where=lambda spec: spec["model"] == "frozen",
)
def frozen_one_hooked(model: nn.Module, make_optimizer: MakeList, window: int) -> object:
    return _fused(which=lambda model: list(model.parameters()))(model, make_optimizer, window)


def _of_layers_alone(model: nn.Module) -> list[nn.Parameter]:
    own = {id(param) for param in model.parameters(recurse=False)} if list(model.children()) else set()
    return [param for param in _trainable(model) if id(param) not in own]


@mistake(
    "The model's own parameter was left out",
    "A parameter that belongs to the model itself, and to none of its layers, was not stepped, and its gradient stayed.",
    "Is there a way to ask for all parameters of a model, wherever they are?",
    where=lambda spec: spec["model"] == "scaled",
)
def own_parameter_left_out(model: nn.Module, make_optimizer: MakeList, window: int) -> object:
    return _fused(which=_of_layers_alone)(model, make_optimizer, window)


@mistake(
    "Only the weights were stepped",
    "The parameters named weight were stepped. The others were not, and their gradients stayed in .grad.",
    "A bias is a parameter like any other.",
)
def weights_alone(model: nn.Module, make_optimizer: MakeList, window: int) -> object:
    named = {id(param) for name, param in model.named_parameters() if name.endswith("weight")}
    return _fused(which=lambda model: [p for p in _trainable(model) if id(p) in named])(model, make_optimizer, window)


# ------------------------------------------------------------------ the handle


@mistake(
    "What came back has no remove()",
    "The training is right. What the function returned is no object with a method remove() that takes nothing.",
    "Registering a hook gives back something that can take it away again. What object could keep all of these, and take "
    "them away together?",
    "A list of handles has all that is needed, and a remove() of its own, which is another.",
)
def no_handle(model: nn.Module, make_optimizer: MakeList, window: int) -> object:
    return _fused(handle=list)(model, make_optimizer, window)


def _one_of(hooks: list[Any], place: int) -> Handle:
    return Handle(hooks[place : place + 1 or None])


@mistake(
    "remove() left hooks that still step",
    "After remove() a backward still moved parameters.",
    "How many hooks have you registered, and how many does remove() take away?",
    also=(
        _fused(handle=lambda hooks: _one_of(hooks, 0)),
        _fused(handle=lambda hooks: Handle([])),
    ),
)
def hooks_left(model: nn.Module, make_optimizer: MakeList, window: int) -> object:
    return _fused(handle=lambda hooks: _one_of(hooks, -1))(model, make_optimizer, window)
