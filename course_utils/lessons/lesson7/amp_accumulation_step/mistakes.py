"""What is often done instead in exercise 7.3."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import nn

from course_utils.checks.mistakes import mistake
from course_utils.lessons.lesson7.amp_accumulation_step.task import STEPS
from course_utils.lessons.training import Batch, LossFn

Optimizer = torch.optim.Optimizer
Scaler = torch.amp.GradScaler
Code = Callable[..., object]


class _Window:
    """A right window, in pieces that the mistakes replace one at a time."""

    def __init__(
        self,
        model: nn.Module,
        optimizer: Optimizer,
        scaler: Scaler,
        loss_fn: LossFn,
        micro_batches: Sequence[Batch],
        max_norm: float,
        scheduler: Any = None,
        dtype: torch.dtype = torch.float16,
    ) -> None:
        self.model, self.optimizer, self.scaler, self.loss_fn = model, optimizer, scaler, loss_fn
        self.micro_batches, self.max_norm, self.scheduler, self.dtype = micro_batches, max_norm, scheduler, dtype
        self.k = len(micro_batches)
        self.norm: Any = math.nan
        self.losses: list[float] = []

    def run(self) -> object:
        self.start()
        self.before = self.scaler.get_scale()
        for x, y in self.micro_batches:
            self.begin()
            loss = self.forward(x, y)
            self.scaled(loss * self.factor(len(x))).backward()
            self.losses.append(loss.item())
            self.end()
        self.close()
        self.finish()
        self.schedule()
        return self.told()

    # The pieces.

    def close(self) -> None:
        self.unscale()
        self.clip()
        self.step()
        self.update()
        self.skipped = self.ask()

    def start(self) -> None:
        self.optimizer.zero_grad()

    def begin(self) -> None:
        pass

    def forward(self, x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        with torch.autocast(x.device.type, dtype=self.dtype):
            return self.loss_fn(self.model(x), y)

    def factor(self, rows: int) -> float:
        return 1 / self.k

    def scaled(self, loss: torch.Tensor) -> Any:
        return self.scaler.scale(loss)

    def end(self) -> None:
        pass

    def unscale(self) -> None:
        self.scaler.unscale_(self.optimizer)

    def clip(self) -> None:
        self.norm = nn.utils.clip_grad_norm_(self.model.parameters(), self.max_norm).item()

    def step(self) -> None:
        self.scaler.step(self.optimizer)

    def update(self) -> None:
        self.scaler.update()

    def ask(self) -> bool:
        return self.scaler.get_scale() < self.before

    def finish(self) -> None:
        self.optimizer.zero_grad()

    def schedule(self) -> None:
        if self.scheduler is not None and not self.skipped:
            self.scheduler.step()

    def loss(self) -> float:
        return sum(self.losses) / self.k

    def rows(self) -> int:
        return sum(len(x) for x, _ in self.micro_batches)

    def told(self) -> object:
        return {"loss": self.loss(), "grad_norm": self.norm, "skipped": self.skipped}


def _nothing(self: _Window) -> None:
    pass


def _with(**pieces: Callable[..., Any]) -> Code:
    """A window with other pieces."""
    other = type("_Other", (_Window,), pieces)

    def code(*args: Any, **kwargs: Any) -> object:
        return other(*args, **kwargs).run()

    return code


# ------------------------------------------------------------------ clearing


@mistake(
    "What .grad held at the call is counted in",
    "Norm and step are those of this window's gradient and of what .grad held when the function was called. Where that "
    "was not finite, the step was skipped.",
    "Clearing at the end serves the next window. What serves the first one?",
    also=(_with(start=_nothing, finish=lambda self: self.optimizer.zero_grad(set_to_none=False)),),
)
def cleared_at_the_end_alone(*args: Any, **kwargs: Any) -> object:
    return _with(start=_nothing)(*args, **kwargs)


@mistake(
    "The gradients are still there at the end",
    "After the call .grad holds numbers: the window's gradient is still there.",
    "The text asks for None or zeros at the end, too.",
    "Where every window begins by clearing nothing is wrong in the numbers. The memory is held all the same, and after a "
    "skipped step it holds what is not finite.",
)
def not_cleared_at_the_end(*args: Any, **kwargs: Any) -> object:
    return _with(finish=_nothing)(*args, **kwargs)


def _unless_skipped(self: _Window) -> None:
    if not self.skipped:
        self.optimizer.zero_grad()


@mistake(
    "Not cleared after a skipped step",
    "Where the step was skipped, .grad was left as it was: something in it is not finite.",
    "Clear whether the step was taken or not. Only the scheduler asks for that.",
)
def not_cleared_after_a_skip(*args: Any, **kwargs: Any) -> object:
    return _with(finish=_unless_skipped)(*args, **kwargs)


@mistake(
    "Cleared only after a step that was made",
    "What .grad held when the function was called is counted in. After a skipped step that is what was not finite: it "
    "stays there, and every window from then on is skipped, too.",
    "Which line empties .grad before the first backward of a window? After a skipped step it is needed most.",
    "A scale that falls and falls looks like a learning rate that is too high.",
)
def stays_in_grad(*args: Any, **kwargs: Any) -> object:
    return _with(start=_nothing, finish=_unless_skipped)(*args, **kwargs)


@mistake(
    "Never cleared",
    "Each window's gradient was added to those of all windows before it.",
    "A window begins with an empty .grad. Which line sees to that?",
    "With a large scale it hardly shows: what was left is unscaled, and what is added to it is not.",
)
def never_cleared(*args: Any, **kwargs: Any) -> object:
    return _with(start=_nothing, finish=_nothing)(*args, **kwargs)


def _trainable_alone(self: _Window) -> None:
    for p in self.model.parameters():
        if p.requires_grad:
            p.grad = None


def _clip_trainable(self: _Window) -> None:
    params = [p for p in self.model.parameters() if p.requires_grad]
    self.norm = nn.utils.clip_grad_norm_(params, self.max_norm).item()


@mistake(
    "A frozen weight's gradient is still at work",
    "The frozen weight held a gradient from before, and nothing cleared that first: it was unscaled and stepped with, and "
    "where all parameters are measured the norm counts it, too.",
    "requires_grad=False stops backward, not the scaler and not the optimizer. Empty that one, too.",
    also=(
        _with(start=_trainable_alone, finish=_trainable_alone, clip=_clip_trainable),
        _with(start=_trainable_alone, clip=_clip_trainable),
        _with(start=_trainable_alone),
    ),
)
def frozen_not_cleared(*args: Any, **kwargs: Any) -> object:
    return _with(start=_trainable_alone, finish=_trainable_alone)(*args, **kwargs)


@mistake(
    "Cleared at the end alone, and a frozen weight not at all",
    "Two things at once. What .grad held when the function was called is counted in: clearing at the end comes too late "
    "for the first window. And the frozen weight keeps its gradient for good.",
    "Which line empties .grad before the first backward, and does it reach every parameter?",
    "requires_grad=False stops backward, not the scaler and not the optimizer.",
    also=(_with(start=_nothing, finish=_trainable_alone, clip=_clip_trainable),),
)
def trainable_cleared_at_the_end_alone(*args: Any, **kwargs: Any) -> object:
    return _with(start=_nothing, finish=_trainable_alone)(*args, **kwargs)


def _times_zero(self: _Window) -> None:
    for p in self.model.parameters():
        if p.grad is not None:
            p.grad.mul_(0)


@mistake(
    "Cleared by multiplying by zero",
    "Where .grad held something that is not finite, it was not cleared: infinity times 0 is NaN.",
    "zero_() and None clear anything.",
    also=(_with(start=_times_zero),),
    right_where=lambda spec: spec.get("earlier") in ("all", "some"),
)
def multiplied_by_zero(*args: Any, **kwargs: Any) -> object:
    return _with(start=_times_zero, finish=_times_zero)(*args, **kwargs)


@mistake(
    "Cleared before each micro-batch",
    "What reached the step is the gradient of the last micro-batch, divided by their number.",
    "How often is .grad to be empty in a window?",
)
def cleared_for_each_micro_batch(*args: Any, **kwargs: Any) -> object:
    return _with(begin=lambda self: self.optimizer.zero_grad())(*args, **kwargs)


# ------------------------------------------------------------------ which gradient


@mistake(
    "Not divided by the number of micro-batches",
    "The gradient is the sum over the micro-batches: as many times too long as there are micro-batches.",
    "loss_fn gives a mean of one micro-batch. What is the mean over the window?",
    "Where the clip is active, the step hides it; the norm tells.",
    also=(_with(factor=lambda self, rows: 1.0, loss=lambda self: sum(self.losses)),),
)
def not_divided(*args: Any, **kwargs: Any) -> object:
    return _with(factor=lambda self, rows: 1.0)(*args, **kwargs)


@mistake(
    "Divided twice",
    "The gradient was divided by the number of micro-batches twice.",
    "Is the loss divided, and .grad once more?",
    also=(_with(factor=lambda self, rows: 1 / self.k**2, loss=lambda self: sum(self.losses) / self.k**2),),
)
def divided_twice(*args: Any, **kwargs: Any) -> object:
    return _with(factor=lambda self, rows: 1 / self.k**2)(*args, **kwargs)


@mistake(
    "Divided by the number of rows",
    "The gradient was divided by the number of rows of the window: loss_fn had divided by those of a micro-batch already.",
    "What is left to divide a sum of micro-batch means by?",
    also=(_with(factor=lambda self, rows: 1 / (rows * self.k), loss=lambda self: sum(self.losses) / self.rows()),),
)
def divided_by_rows(*args: Any, **kwargs: Any) -> object:
    return _with(factor=lambda self, rows: 1 / (rows * self.k))(*args, **kwargs)


def _scaled_in_vain(self: _Window, loss: torch.Tensor) -> torch.Tensor:
    self.scaler.scale(loss)
    return loss


@mistake(
    "The loss was not scaled",
    "backward started from the unscaled loss. Unscaling divides the gradient by the scale all the same, or raises, where "
    "scaler.scale was never called.",
    "What goes backward is what scaler.scale returns.",
    also=(_with(scaled=lambda self, loss: loss),),
)
def not_scaled(*args: Any, **kwargs: Any) -> object:
    return _with(scaled=_scaled_in_vain)(*args, **kwargs)


# ------------------------------------------------------------------ autocast


def _plain(self: _Window, x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    return self.loss_fn(self.model(x), y)


@mistake(
    "No autocast",
    "The forwards ran without autocast.",
    "Which context manager makes a forward run in half precision, for which type of device, and which call stands "
    "inside it?",
)
def no_autocast(*args: Any, **kwargs: Any) -> object:
    return _with(forward=_plain)(*args, **kwargs)


def _to(dtype: torch.dtype) -> Code:
    def forward(self: _Window, x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        with torch.autocast(x.device.type, dtype=dtype):
            return self.loss_fn(self.model(x), y)

    return _with(forward=forward)


@mistake(
    "Autocast to another dtype",
    "The forwards ran under autocast to another dtype than the argument says.",
    "torch.autocast takes dtype=. Without it, it chooses one by the device.",
    also=(_to(torch.bfloat16),),
)
def dtype_ignored(*args: Any, **kwargs: Any) -> object:
    return _to(torch.float16)(*args, **kwargs)


def _round_parameters(self: _Window) -> None:
    with torch.no_grad():
        for p in self.model.parameters():
            p.copy_(p.to(self.dtype))


def _cleared_and_rounded(self: _Window) -> None:
    self.optimizer.zero_grad()
    _round_parameters(self)


@mistake(
    "The parameters were rounded to dtype",
    "After the call the parameters are not where the step alone would have brought them: their own values were rounded to "
    "`dtype`, and the digits beyond it are lost.",
    "Which line writes to the parameters beside the optimizer? autocast rounds copies, in the forward.",
    "In half precision the weights that take part in a product are halves. Those that are stepped are not.",
    also=(_with(finish=_cleared_and_rounded), _with(start=_cleared_and_rounded, finish=_cleared_and_rounded)),
)
def parameters_rounded(*args: Any, **kwargs: Any) -> object:
    return _with(start=_cleared_and_rounded)(*args, **kwargs)


# ------------------------------------------------------------------ unscale and clip


def _clip_scaled(self: _Window) -> None:
    self.norm = nn.utils.clip_grad_norm_(self.model.parameters(), self.max_norm).item() / self.before


@mistake(
    "Clipped before it was unscaled",
    "clip_grad_norm_ worked on scaled gradients. Where it cut them to max_norm, dividing by the scale made them shorter "
    "once more, by that factor.",
    "max_norm is meant for gradients of their real size. What has to run before the clip?",
    "scaler.step unscales by itself where nobody has. By then the clip is over.",
    also=(_with(unscale=_nothing, clip=_clip_scaled),),
)
def clipped_before_unscaling(*args: Any, **kwargs: Any) -> object:
    return _with(unscale=_nothing)(*args, **kwargs)


def _norm_of(self: _Window) -> float:
    held = [p.grad for p in self.model.parameters() if p.grad is not None]
    return math.sqrt(sum(float((gradient.double() ** 2).sum()) for gradient in held))


def _measured_alone(self: _Window) -> None:
    self.norm = _norm_of(self)


@mistake(
    "Not clipped",
    "The step used the gradient unclipped.",
    "What changes .grad between unscaling and the step?",
)
def not_clipped(*args: Any, **kwargs: Any) -> object:
    return _with(clip=_measured_alone)(*args, **kwargs)


def _by_value(self: _Window) -> None:
    self.norm = _norm_of(self)
    nn.utils.clip_grad_value_(self.model.parameters(), self.max_norm)


@mistake(
    "Each entry was clipped by itself",
    "Every entry of the gradient was cut to the range from -max_norm to max_norm. That changes its direction.",
    "Which function of torch.nn.utils works on the norm, and which on the values?",
)
def clipped_by_value(*args: Any, **kwargs: Any) -> object:
    return _with(clip=_by_value)(*args, **kwargs)


def _to_max_norm(self: _Window) -> None:
    self.norm = nn.utils.get_total_norm([p.grad for p in self.model.parameters() if p.grad is not None]).item()
    for p in self.model.parameters():
        if p.grad is not None:
            p.grad *= self.max_norm / self.norm


@mistake(
    "Short gradients were made longer",
    "Each gradient was scaled to max_norm, the shorter ones as well.",
    "What becomes of a gradient that is shorter than max_norm?",
    "max_norm / norm is the right factor where the gradient is longer.",
    where=lambda spec: spec["max_norm"] > 100,
)
def always_scaled(*args: Any, **kwargs: Any) -> object:
    return _with(clip=_to_max_norm)(*args, **kwargs)


@mistake(
    "Unscaled for each micro-batch",
    "unscale_ was called in the loop over the micro-batches. The second call of a window raises: after unscaling, "
    "gradients are no longer scaled, and adding scaled ones to them would mix the two.",
    "Unscaling belongs to the window, not to the micro-batch. How far is the line indented?",
)
def unscaled_in_the_loop(*args: Any, **kwargs: Any) -> object:
    return _with(end=_Window.unscale, unscale=_nothing)(*args, **kwargs)


# ------------------------------------------------------------------ step and update


@mistake(
    "The step did not go through the scaler",
    "optimizer.step() was called, whatever the gradients held. Where the scaler would have skipped, the parameters are "
    "no longer finite.",
    "Who knows what unscale_ found?",
    signs=(STEPS,),
)
def stepped_past_the_scaler(*args: Any, **kwargs: Any) -> object:
    return _with(step=lambda self: self.optimizer.step())(*args, **kwargs)


@mistake(
    "update() for each micro-batch",
    "update() was called before anything was unscaled or stepped. The scaler raises: it has nothing to judge by, and the "
    "scale must not change within a window.",
    "Which calls are made once a window?",
)
def updated_in_the_loop(*args: Any, **kwargs: Any) -> object:
    return _with(end=lambda self: self.scaler.update())(*args, **kwargs)


@mistake(
    "update() was forgotten",
    "The first window is right but for the scaler, which still thinks that the window is not over: in the next one it "
    "refuses.",
    "What tells the scaler that a window has ended?",
)
def update_forgotten(*args: Any, **kwargs: Any) -> object:
    return _with(update=_nothing)(*args, **kwargs)


def _close_and_clear(self: _Window) -> None:
    _Window.close(self)
    self.optimizer.zero_grad()


@mistake(
    "A step for each micro-batch",
    "The optimizer stepped after each micro-batch: clip, step and update ran as often as there are micro-batches.",
    "How many steps does a window give? What stands inside the loop, and what after it?",
    also=(_with(end=_close_and_clear, close=_nothing, factor=lambda self, rows: 1.0),),
    signs=(STEPS,),
)
def stepped_for_each_micro_batch(*args: Any, **kwargs: Any) -> object:
    return _with(end=_close_and_clear, close=_nothing)(*args, **kwargs)


def _closed_where(number: Callable[[_Window], float]) -> Code:
    """A window that leaves the scaler out where a number of its own is not finite."""

    def close(self: _Window) -> None:
        self.skipped = not math.isfinite(number(self))
        if not self.skipped:
            _Window.close(self)

    return _with(close=close)


def _closed_after_clipping(self: _Window) -> None:
    self.unscale()
    self.clip()
    self.skipped = not math.isfinite(self.norm)
    if not self.skipped:
        self.step()
        self.update()


@mistake(
    "The scaler was left out where the loss or the gradient is not finite",
    "The step was skipped by the code itself, without scaler.step and update: the scale did not back off.",
    "Let the scaler see what is not finite: it skips the step, and makes the scale smaller.",
    also=(_closed_where(_norm_of), _with(close=_closed_after_clipping)),
)
def skipped_without_the_scaler(*args: Any, **kwargs: Any) -> object:
    return _closed_where(lambda self: sum(self.losses))(*args, **kwargs)


def _mended(self: _Window) -> None:
    for p in self.model.parameters():
        if p.grad is not None:
            torch.nan_to_num_(p.grad, 0.0, 0.0, 0.0)


def _mended_then_unscaled(self: _Window) -> None:
    _mended(self)
    self.scaler.unscale_(self.optimizer)


@mistake(
    "What is not finite was replaced by zeros",
    "Where the gradient was not finite, a step was taken with what was left of it.",
    "One infinity says that the scale is too large for this window. What the other entries hold is worth nothing, either.",
)
def replaced_by_zeros(*args: Any, **kwargs: Any) -> object:
    return _with(unscale=_mended_then_unscaled)(*args, **kwargs)


# ------------------------------------------------------------------ was it skipped?


@mistake(
    "A scale that grew was taken for a skipped step",
    "Where the scale grew, the step was called skipped, and the scheduler was held back.",
    "The scale changes in two cases. In which direction after a skipped step?",
)
def growth_taken_for_a_skip(*args: Any, **kwargs: Any) -> object:
    return _with(ask=lambda self: self.scaler.get_scale() != self.before)(*args, **kwargs)


@mistake(
    "A scale that stayed was taken for a skipped step",
    "Steps were called skipped after which the scale is what it was, and the scheduler was held back there.",
    "The scale may stay as it is. What does only a skipped step do to it?",
)
def unchanged_taken_for_a_skip(*args: Any, **kwargs: Any) -> object:
    return _with(ask=lambda self: self.scaler.get_scale() <= self.before)(*args, **kwargs)


@mistake(
    "Never called skipped",
    '"skipped" is False in each window, in those whose step was skipped, too, and the scheduler moved there.',
    "What do you take as the sign of a skipped step? The scale is smaller after update(), not yet after step(). A norm "
    "that is not finite may be NaN as well as infinite.",
)
def never_called_skipped(*args: Any, **kwargs: Any) -> object:
    return _with(ask=lambda self: False)(*args, **kwargs)


@mistake(
    "Always called skipped",
    '"skipped" is True in each window, and the scheduler, where there is one, never moved.',
    "The scaler does not say whether it skipped, and scaler.step returns what optimizer.step does: None. What does a "
    "skipped step do to the scale?",
)
def always_called_skipped(*args: Any, **kwargs: Any) -> object:
    return _with(ask=lambda self: True)(*args, **kwargs)


@mistake(
    "The loss was asked whether the step was skipped",
    "Where all losses are finite and the gradient is not, the skipped step was called taken.",
    "Scaled gradients overflow in backward, after the loss. Who sees that?",
    "With a NaN in the data both are not finite.",
)
def loss_asked(*args: Any, **kwargs: Any) -> object:
    return _with(ask=lambda self: not math.isfinite(sum(self.losses)))(*args, **kwargs)


@mistake(
    '"skipped" the wrong way round',
    '"skipped" is True where the step was taken, and False where it was skipped.',
    "Read the name once more.",
)
def skipped_turned_round(*args: Any, **kwargs: Any) -> object:
    def told(self: _Window) -> object:
        return {"loss": self.loss(), "grad_norm": self.norm, "skipped": not self.skipped}

    return _with(told=told)(*args, **kwargs)


# ------------------------------------------------------------------ the scheduler


def _always(self: _Window) -> None:
    if self.scheduler is not None:
        self.scheduler.step()


@mistake(
    "The scheduler moved after a skipped step",
    "Where the step was skipped, the learning rate went on all the same.",
    "The scheduler counts the optimizer's steps. Was there one?",
    "In a long run that begins with some skipped steps the learning rate is ahead for good.",
)
def scheduler_after_a_skip(*args: Any, **kwargs: Any) -> object:
    return _with(schedule=_always)(*args, **kwargs)


@mistake(
    "The scheduler was not moved",
    "The learning rate is the same in all windows.",
    "Which object moves the learning rate, and when is it not None?",
)
def scheduler_forgotten(*args: Any, **kwargs: Any) -> object:
    return _with(schedule=_nothing)(*args, **kwargs)


def _each_time(self: _Window) -> None:
    for _ in range(0 if self.skipped else self.k):
        _always(self)


@mistake(
    "The scheduler moved for each micro-batch",
    "The learning rate moved as often as there are micro-batches.",
    "The scheduler counts the optimizer's steps. How many are there in a window?",
    also=(_with(schedule=_nothing, end=_always),),
)
def scheduler_for_each_micro_batch(*args: Any, **kwargs: Any) -> object:
    return _with(schedule=_each_time)(*args, **kwargs)


def _scheduled_first(when: Callable[[_Window], bool]) -> Code:
    def step(self: _Window) -> None:
        if when(self):
            _always(self)
        self.scaler.step(self.optimizer)

    return _with(step=step, schedule=_nothing)


@mistake(
    "The scheduler moved before the step",
    "The scheduler moved first, and the step was taken at the learning rate of the next window.",
    "The step comes first, at the rate that the window came with. Then the scheduler moves on.",
    also=(_scheduled_first(lambda self: math.isfinite(self.norm)),),
)
def scheduler_before_the_step(*args: Any, **kwargs: Any) -> object:
    return _scheduled_first(lambda self: True)(*args, **kwargs)


# ------------------------------------------------------------------ what is returned


@mistake(
    "The loss of the last micro-batch was returned",
    "What came back as the loss is that of the last micro-batch, or its share of the mean.",
    "Asked is the mean over all rows of the window.",
    also=(_with(loss=lambda self: self.losses[-1] / self.k),),
)
def loss_of_the_last(*args: Any, **kwargs: Any) -> object:
    return _with(loss=lambda self: self.losses[-1])(*args, **kwargs)


@mistake(
    "What .grad held at the call is counted in, and the loss of the last micro-batch was returned",
    "Two things at once. Norm and step are those of this window's gradient and of what .grad held when the function was "
    "called. And what came back as the loss is that of the last micro-batch, or its share of the mean.",
    "Which line empties .grad before the first backward? And over which micro-batches is the loss a mean?",
    also=(_with(start=_nothing, loss=lambda self: self.losses[-1] / self.k),),
)
def cleared_at_the_end_and_loss_of_the_last(*args: Any, **kwargs: Any) -> object:
    return _with(start=_nothing, loss=lambda self: self.losses[-1])(*args, **kwargs)


@mistake(
    "The losses of the micro-batches were added up",
    "What came back as the loss is the sum over the micro-batches.",
    "Asked is the mean over all rows of the window.",
)
def losses_added_up(*args: Any, **kwargs: Any) -> object:
    return _with(loss=lambda self: sum(self.losses))(*args, **kwargs)


@mistake(
    "The returned loss was divided once too often",
    "What came back as the loss is the mean divided by the number of micro-batches.",
    "Do you add up losses that are divided already, and divide the sum?",
)
def loss_divided_again(*args: Any, **kwargs: Any) -> object:
    return _with(loss=lambda self: sum(self.losses) / self.k**2)(*args, **kwargs)


@mistake(
    "The returned loss is scaled",
    "What came back as the loss is the scaled one.",
    "Take the number before scaler.scale.",
    also=(_with(loss=lambda self: self.before * self.losses[-1] / self.k),),
)
def scaled_loss_returned(*args: Any, **kwargs: Any) -> object:
    return _with(loss=lambda self: self.before * sum(self.losses) / self.k)(*args, **kwargs)


def _norm_scaled(self: _Window) -> None:
    self.norm = _norm_of(self) * self.before
    nn.utils.clip_grad_norm_(self.model.parameters(), self.max_norm)


@mistake(
    "The returned norm is that of the scaled gradient",
    "What came back as the norm was measured before unscaling.",
    "clip_grad_norm_ returns the norm that it found. Does it find the gradient at its real size?",
)
def scaled_norm_returned(*args: Any, **kwargs: Any) -> object:
    return _with(clip=_norm_scaled)(*args, **kwargs)


def _norm_after(self: _Window) -> None:
    nn.utils.clip_grad_norm_(self.model.parameters(), self.max_norm)
    self.norm = _norm_of(self)


@mistake(
    "The norm after clipping was returned",
    "What came back as the norm was measured after clipping.",
    "What clip_grad_norm_ returns is the norm before.",
)
def norm_after_clipping(*args: Any, **kwargs: Any) -> object:
    return _with(clip=_norm_after)(*args, **kwargs)


def _in_train_mode(self: _Window) -> None:
    self.model.train()
    self.optimizer.zero_grad()


@mistake(
    "The model was put into train mode",
    "Where dropout and batch norm came in eval mode, dropout drew and batch norm used the statistics of the micro-batch.",
    "The mode is the caller's choice: leave model.train() out.",
    where=lambda spec: spec["model"] == "part eval",
)
def put_into_train_mode(*args: Any, **kwargs: Any) -> object:
    return _with(start=_in_train_mode)(*args, **kwargs)
