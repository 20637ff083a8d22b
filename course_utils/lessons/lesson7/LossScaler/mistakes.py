"""What is often done instead in exercise 7.2."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import torch

from course_utils.checks.mistakes import mistake
from course_utils.lessons.lesson7.LossScaler.task import LARGEST, REFUSED

Optimizer = torch.optim.Optimizer
Gradients = list[torch.Tensor]
Make = Callable[[float, float, float, int], Any]


class _Scaler:
    """A right scaler, in pieces that the mistakes replace one at a time."""

    refusal: type[Exception] = RuntimeError

    def __init__(self, init: float, growth: float, backoff: float, interval: int) -> None:
        self.now, self.growth, self.backoff, self.interval = init, growth, backoff, interval
        self.good = 0
        self.found: dict[Optimizer, bool] = {}
        self.stepped: set[Optimizer] = set()

    def scale(self, loss: torch.Tensor) -> Any:
        return loss * self.now

    def get_scale(self) -> Any:
        return self.now

    def unscale_(self, optimizer: Optimizer) -> None:
        self.refuse_unscale(optimizer)
        self.unscale(optimizer)

    def unscale(self, optimizer: Optimizer) -> None:
        gradients = self.gradients(optimizer)
        self.note(optimizer, not self.finite(gradients))
        self.divide(gradients)

    def step(self, optimizer: Optimizer) -> None:
        self.refuse_step(optimizer)
        if optimizer not in self.found:
            self.unscale(optimizer)
        self.stepped.add(optimizer)
        if not self.bad(optimizer):
            optimizer.step()

    def update(self) -> None:
        if self.overflowed():
            self.back_off()
        else:
            self.count()
        self.forget()

    # The pieces.

    def refuse_unscale(self, optimizer: Optimizer) -> None:
        if optimizer in self.found:
            raise self.refusal("out of order")

    def refuse_step(self, optimizer: Optimizer) -> None:
        if optimizer in self.stepped:
            raise self.refusal("out of order")

    def gradients(self, optimizer: Optimizer) -> Gradients:
        return [p.grad for group in optimizer.param_groups for p in group["params"] if p.grad is not None]

    def finite(self, gradients: Gradients) -> bool:
        return all(bool(gradient.isfinite().all()) for gradient in gradients)

    def divide(self, gradients: Gradients) -> None:
        for gradient in gradients:
            gradient /= self.now

    def note(self, optimizer: Optimizer, bad: bool) -> None:
        self.found[optimizer] = bad

    def bad(self, optimizer: Optimizer) -> bool:
        return self.found[optimizer]

    def overflowed(self) -> bool:
        return any(self.found.values())

    def back_off(self) -> None:
        self.now *= self.backoff
        self.good = 0

    def count(self) -> None:
        self.good += 1
        if self.good == self.interval:
            self.grow()

    def grow(self) -> None:
        self.now *= self.growth
        self.good = 0

    def forget(self) -> None:
        self.found.clear()
        self.stepped.clear()


def _with(**pieces: Callable[..., Any]) -> Make:
    """A scaler with other pieces."""
    return type("_Other", (_Scaler,), pieces)


def _nothing(*_: object) -> None:
    pass


# ------------------------------------------------------------------ scale and get_scale


@mistake(
    "scale() returned the loss as it was",
    "What scale(loss) returned is the loss itself, not multiplied. unscale_ divides all the same, and the gradients "
    "become too small by the scale.",
    "What makes small gradients large enough for half precision?",
)
def loss_not_scaled(init: float, growth: float, backoff: float, interval: int) -> Any:
    return _with(scale=lambda self, loss: loss)(init, growth, backoff, interval)


@mistake(
    "The scaled loss has no graph",
    "What scale(loss) returned does not lead back to the parameters: no backward from there reaches them.",
    "Multiply the tensor itself: item(), detach() and a new tensor cut the graph.",
    also=(_with(scale=lambda self, loss: (loss.detach() * self.now).requires_grad_()),),
)
def scaled_without_graph(init: float, growth: float, backoff: float, interval: int) -> Any:
    return _with(scale=lambda self, loss: loss.detach() * self.now)(init, growth, backoff, interval)


@mistake(
    "scale() changed the loss itself",
    "The loss that was handed over is another number afterwards: it was multiplied in place.",
    "Whoever logs the loss wants it unscaled. Return a new tensor.",
    "mul_ and *= work in place; * makes a new tensor.",
)
def loss_scaled_in_place(init: float, growth: float, backoff: float, interval: int) -> Any:
    return _with(scale=lambda self, loss: loss.mul_(self.now))(init, growth, backoff, interval)


@mistake(
    "get_scale() returned a tensor",
    "The scale came back as a tensor; asked is a Python float.",
    "item() or float() makes a number of it.",
)
def tensor_for_a_scale(init: float, growth: float, backoff: float, interval: int) -> Any:
    return _with(get_scale=lambda self: torch.tensor(self.now))(init, growth, backoff, interval)


# ------------------------------------------------------------------ unscale_


def _times(self: _Scaler, gradients: Gradients) -> None:
    for gradient in gradients:
        gradient *= self.now


@mistake(
    "Multiplied once more in place of divided",
    "unscale_ left gradients that are the scaled ones times the scale.",
    "The loss was multiplied by the scale, and with it the gradients. What undoes that?",
)
def multiplied_by_the_scale_again(init: float, growth: float, backoff: float, interval: int) -> Any:
    return _with(divide=_times)(init, growth, backoff, interval)


@mistake(
    "The gradients were not divided",
    "The optimizer stepped with gradients that are as large as the scaled loss makes them.",
    "Which line divides .grad by the scale? Does it change .grad itself, or a tensor that nobody reads?",
    "g = g / scale gives the name g another tensor. .grad is still the old one.",
)
def not_divided(init: float, growth: float, backoff: float, interval: int) -> Any:
    return _with(divide=_nothing)(init, growth, backoff, interval)


def _of_first_group(self: _Scaler, optimizer: Optimizer) -> Gradients:
    return [p.grad for p in optimizer.param_groups[0]["params"] if p.grad is not None]


@mistake(
    "Only the first group of parameters was unscaled",
    "Where the optimizer has two groups, the parameters of the second one stepped with scaled gradients.",
    "param_groups is a list. Go through all of it.",
)
def first_group_alone(init: float, growth: float, backoff: float, interval: int) -> Any:
    return _with(gradients=_of_first_group)(init, growth, backoff, interval)


def _asked(ask: Callable[[Gradients], bool]) -> Make:
    return _with(finite=lambda self, gradients: ask(gradients))


def _each(ask: Callable[[torch.Tensor], torch.Tensor]) -> Make:
    return _asked(lambda gradients: not any(bool(ask(gradient).any()) for gradient in gradients))


@mistake(
    "NaN was taken for finite",
    "Where a gradient held NaN and no infinity the step was taken, and the NaN was no reason for the scale to back off.",
    "torch.isinf is false of NaN. Which function is true of neither?",
)
def nan_let_through(init: float, growth: float, backoff: float, interval: int) -> Any:
    return _each(torch.isinf)(init, growth, backoff, interval)


@mistake(
    "Infinity was taken for finite",
    "Where a gradient held an infinity and no NaN the step was taken, and the scale did not back off.",
    "torch.isnan is false of infinities. Which function is true of neither?",
)
def infinity_let_through(init: float, growth: float, backoff: float, interval: int) -> Any:
    return _each(torch.isnan)(init, growth, backoff, interval)


@mistake(
    "Only plus infinity was found",
    "Where a gradient held minus infinity or NaN, and no plus infinity, the step was taken.",
    "Three things are not finite: both infinities, and NaN. Which function is false of all three?",
)
def plus_infinity_alone_found(init: float, growth: float, backoff: float, interval: int) -> Any:
    return _each(torch.isposinf)(init, growth, backoff, interval)


@mistake(
    "Minus infinity was taken for finite",
    "Where a gradient held minus infinity and nothing else that is not finite, the step was taken.",
    "Three things are not finite: both infinities, and NaN. Which function is false of all three?",
)
def minus_infinity_let_through(init: float, growth: float, backoff: float, interval: int) -> Any:
    return _each(lambda g: g.isnan() | g.isposinf())(init, growth, backoff, interval)


def _norm(gradients: Iterable[torch.Tensor]) -> torch.Tensor:
    return torch.stack([(gradient**2).sum() for gradient in gradients]).sum().sqrt()


@mistake(
    "A sum of squares was asked whether it is finite",
    "Where the gradients were huge and finite, the step was skipped: their squares overflow.",
    "Ask the entries themselves, each one, and not a number that is made of them.",
    "A norm that is not finite mostly means an entry that is not. Not always.",
)
def finite_norm_asked(init: float, growth: float, backoff: float, interval: int) -> Any:
    return _asked(lambda gradients: bool(torch.isfinite(_norm(gradients))))(init, growth, backoff, interval)


@mistake(
    "Gradients near the largest number were taken for infinite",
    "Where every entry was finite and some were near the largest number, the step was skipped. The sum of two such entries "
    "overflows.",
    "Ask the entries themselves, each one, and not a number that is made of them.",
    "A sum that is not finite mostly means an entry that is not. Not always.",
    where=lambda spec: any(LARGEST in one["found"] for one in spec["rounds"]),
)
def finite_sum_asked(init: float, growth: float, backoff: float, interval: int) -> Any:
    return _asked(lambda gradients: all(bool(torch.isfinite(g.sum())) for g in gradients))(
        init, growth, backoff, interval
    )


@mistake(
    "One parameter's gradient was looked at",
    "Where something not finite stood in the gradient of another parameter, the step was taken.",
    "Any entry of any parameter counts. Does the loop return, or overwrite what it found, too early?",
    also=(_asked(lambda gradients: bool(gradients[-1].isfinite().all())),),
)
def one_gradient_looked_at(init: float, growth: float, backoff: float, interval: int) -> Any:
    return _asked(lambda gradients: bool(gradients[0].isfinite().all()))(init, growth, backoff, interval)


# ------------------------------------------------------------------ step


@mistake(
    "Nothing was skipped",
    "The step was taken with gradients that are not finite.",
    "Who asks for what unscale_ found, before optimizer.step() is called?",
)
def never_skipped(init: float, growth: float, backoff: float, interval: int) -> Any:
    return _with(bad=lambda self, optimizer: False)(init, growth, backoff, interval)


def _bad_now(self: _Scaler, optimizer: Optimizer) -> bool:
    return not self.finite(self.gradients(optimizer))


def _found_now(self: _Scaler, optimizer: Optimizer) -> bool:
    bad = _bad_now(self, optimizer)
    self.found[optimizer] = bad
    return bad


@mistake(
    "step() looked at the gradients anew",
    "Whether to step was decided by what .grad held when step() was called. The caller may have changed that since "
    "unscale_().",
    "What unscale_ found must be remembered, for each optimizer, until the round ends.",
    "Mostly both are the same: clipping by the norm makes no infinity finite.",
    also=(_with(bad=_found_now),),
)
def looked_again_at_step(init: float, growth: float, backoff: float, interval: int) -> Any:
    return _with(bad=_bad_now)(init, growth, backoff, interval)


def _without_unscaling(self: _Scaler, optimizer: Optimizer) -> None:
    self.refuse_step(optimizer)
    if optimizer not in self.found:
        self.note(optimizer, not self.finite(self.gradients(optimizer)))
    self.stepped.add(optimizer)
    if not self.bad(optimizer):
        optimizer.step()


@mistake(
    "step() alone does not unscale",
    "Where the caller did not call unscale_(), the step was taken with gradients that are still scaled.",
    "unscale_() is the caller's choice. If nobody has called it in this round, who does?",
)
def step_does_not_unscale(init: float, growth: float, backoff: float, interval: int) -> Any:
    return _with(step=_without_unscaling)(init, growth, backoff, interval)


def _unscaling_always(self: _Scaler, optimizer: Optimizer, keep: bool = False) -> None:
    self.refuse_step(optimizer)
    before = keep and self.found.get(optimizer, False)
    self.unscale(optimizer)
    self.found[optimizer] |= before
    self.stepped.add(optimizer)
    if not self.bad(optimizer):
        optimizer.step()


@mistake(
    "step() unscales once more",
    "Where the caller had called unscale_(), the step used gradients that were divided by the scale twice.",
    "How does step() know that unscale_() has run in this round?",
    also=(_with(step=lambda self, optimizer: _unscaling_always(self, optimizer, keep=True)),),
)
def unscaled_again_in_step(init: float, growth: float, backoff: float, interval: int) -> Any:
    return _with(step=_unscaling_always)(init, growth, backoff, interval)


def _stepping_anyway(change: Callable[[torch.Tensor], torch.Tensor]) -> Make:
    def step(self: _Scaler, optimizer: Optimizer) -> None:
        self.refuse_step(optimizer)
        if optimizer not in self.found:
            self.unscale(optimizer)
        self.stepped.add(optimizer)
        if self.bad(optimizer):
            for gradient in self.gradients(optimizer):
                gradient.copy_(change(gradient))
        optimizer.step()

    return _with(step=step)


@mistake(
    "A step was taken with zeros in place of what is not finite",
    "Where something was not finite optimizer.step() was called all the same, with zeros put in.",
    "A skipped step is no step: what is left of such a gradient is worth nothing, and momentum and Adam move the "
    "parameters on zeros, too.",
    also=(_stepping_anyway(torch.zeros_like),),
)
def stepped_with_zeros(init: float, growth: float, backoff: float, interval: int) -> Any:
    return _stepping_anyway(lambda g: torch.nan_to_num(g, 0.0, 0.0, 0.0))(init, growth, backoff, interval)


def _clearing(self: _Scaler, optimizer: Optimizer) -> None:
    _Scaler.step(self, optimizer)
    optimizer.zero_grad()


def _zeros_after(self: _Scaler, optimizer: Optimizer) -> None:
    _Scaler.step(self, optimizer)
    optimizer.zero_grad(set_to_none=False)


@mistake(
    "step() cleared the gradients",
    "After step() .grad was cleared. That is left to the caller.",
    "Who logs gradients after the step finds none. Leave .grad as the step found it.",
    also=(_with(step=_zeros_after),),
)
def cleared_by_step(init: float, growth: float, backoff: float, interval: int) -> Any:
    return _with(step=_clearing)(init, growth, backoff, interval)


# ------------------------------------------------------------------ update


@mistake(
    "The scale does not back off",
    "After a round with something that is not finite, the scale is what it was.",
    "update() has two cases. Which of them multiplies by backoff_factor?",
)
def never_backs_off(init: float, growth: float, backoff: float, interval: int) -> Any:
    return _with(back_off=lambda self: setattr(self, "good", 0))(init, growth, backoff, interval)


def _bad_in(spec: Any) -> bool:
    return any(found in ("inf", "nan") for one in spec["rounds"] for found in one["found"])


def _step_and_forget() -> Make:
    """What was found is dropped in step(): update() sees what was unscaled and not stepped."""

    def step(self: _Scaler, optimizer: Optimizer) -> None:
        self.refuse_step(optimizer)
        if optimizer not in self.found:
            self.unscale(optimizer)
        self.stepped.add(optimizer)
        if not self.found.pop(optimizer):
            optimizer.step()

    def refuse_unscale(self: _Scaler, optimizer: Optimizer) -> None:
        if optimizer in self.found or optimizer in self.stepped:
            raise self.refusal("out of order")

    return _with(step=step, refuse_unscale=refuse_unscale)


@mistake(
    "What step() saw was forgotten by update()",
    "Where something was not finite and step() had been called for that optimizer, the round counted as a good one: the "
    "scale did not back off. Where it was unscaled and not stepped, the scale did.",
    "update() asks what was found in the whole round. When may that be forgotten?",
)
def forgotten_at_step(init: float, growth: float, backoff: float, interval: int) -> Any:
    return _step_and_forget()(init, growth, backoff, interval)


@mistake(
    "The scale does not grow",
    "After growth_interval good rounds in a row the scale is what it was.",
    "What happens when the count reaches growth_interval?",
)
def never_grows(init: float, growth: float, backoff: float, interval: int) -> Any:
    return _with(grow=lambda self: setattr(self, "good", 0))(init, growth, backoff, interval)


def _back_off_alone(self: _Scaler) -> None:
    self.now *= self.backoff


@mistake(
    "Counting goes on after an overflow",
    "Good rounds before an overflow and after it were counted together: the scale grew too early.",
    "The good rounds are to be in a row. What must an overflow make of your count?",
)
def counted_across_overflows(init: float, growth: float, backoff: float, interval: int) -> Any:
    return _with(back_off=_back_off_alone)(init, growth, backoff, interval)


def _grow_on_and_on(self: _Scaler) -> None:
    self.good += 1
    if self.good >= self.interval:
        self.now *= self.growth


def _grow_once(self: _Scaler) -> None:
    self.good += 1
    if self.good == self.interval:
        self.now *= self.growth


@mistake(
    "Counting does not begin anew when the scale has grown",
    "The scale grew at the right round for the first time. What comes after it is wrong: it grew in every good round, "
    "or not again.",
    "When the scale has grown, how many good rounds in a row are there towards the next growth?",
    also=(_with(count=_grow_once),),
)
def count_kept_after_growth(init: float, growth: float, backoff: float, interval: int) -> Any:
    return _with(count=_grow_on_and_on)(init, growth, backoff, interval)


class _Steps(_Scaler):
    """Counts up with each step that was taken; a round that steps nothing is no good one."""

    def step(self, optimizer: Optimizer) -> None:
        super().step(optimizer)
        self.good += not self.bad(optimizer)

    def count(self) -> None:
        if self.good >= self.interval:
            self.grow()


@mistake(
    "Steps were counted, not rounds",
    "The count went up with each step that was taken. So a round with two steps counted twice, and a good round without any "
    "step did not count.",
    "What ends a round, and how often is that called in one? That is the place to count.",
    "With one optimizer, which steps in every round, the two numbers are the same.",
)
def steps_counted(init: float, growth: float, backoff: float, interval: int) -> Any:
    return _Steps(init, growth, backoff, interval)


def _late(self: _Scaler) -> None:
    if self.good == self.interval:
        self.grow()
    else:
        self.good += 1


@mistake(
    "The scale grows one round too late",
    "It takes one good round more than growth_interval until the scale grows.",
    "Count the rounds by hand with growth_interval 2: after which update() is the scale to be larger?",
)
def grew_a_round_late(init: float, growth: float, backoff: float, interval: int) -> Any:
    return _with(count=_late)(init, growth, backoff, interval)


@mistake(
    "The scale grows in every good round",
    "The scale was multiplied by growth_factor after each good round, whatever growth_interval is.",
    "How many good rounds in a row does it take?",
)
def grew_in_every_good_round(init: float, growth: float, backoff: float, interval: int) -> Any:
    return _with(count=_Scaler.grow)(init, growth, backoff, interval)


@mistake(
    "Factors of its own",
    "The scale is doubled and halved, whatever growth_factor and backoff_factor are.",
    "The four arguments of the constructor: does each of them take part?",
)
def fixed_factors(init: float, growth: float, backoff: float, interval: int) -> Any:
    return _Scaler(init, 2.0, 0.5, interval)


@mistake(
    "Divided by backoff_factor",
    "After an overflow the scale was divided by backoff_factor, which makes it larger.",
    "backoff_factor is smaller than 1. Multiply by it.",
)
def divided_by_the_backoff_factor(init: float, growth: float, backoff: float, interval: int) -> Any:
    return _Scaler(init, growth, 1 / backoff, interval)


@mistake(
    "The scale does not become smaller than 1",
    "Where the scale should have become smaller than 1, it stayed at 1.",
    "PyTorch's scaler knows no such limit: gradients that overflow at a scale of 1 overflow at 1, too, in the next "
    "round.",
    right_where=lambda spec: (
        spec["init"] > 1 and spec["models"] == ["linear"] and len(spec["rounds"]) < 3 and _bad_in(spec)
    ),
)
def kept_above_one(init: float, growth: float, backoff: float, interval: int) -> Any:
    def back_off(self: _Scaler) -> None:
        _Scaler.back_off(self)
        self.now = max(self.now, 1.0)

    return _with(back_off=back_off)(init, growth, backoff, interval)


@mistake(
    "The scale does not become larger than 65536",
    "Where the scale should have become larger than 65536, it stayed there.",
    "65536 is where PyTorch's scaler begins by default, not where it ends.",
)
def kept_below_a_limit(init: float, growth: float, backoff: float, interval: int) -> Any:
    def grow(self: _Scaler) -> None:
        _Scaler.grow(self)
        self.now = min(self.now, 2.0**16)

    return _with(grow=grow)(init, growth, backoff, interval)


# ------------------------------------------------------------------ several optimizers


def _anything_so_far(self: _Scaler, optimizer: Optimizer) -> bool:
    return any(self.found.values())


@mistake(
    "One optimizer's overflow skips the other one's step",
    "Once something that is not finite was found in a round, every step after that was skipped, those of optimizers "
    "whose gradients were finite, too.",
    "What was found is to be kept for each optimizer by itself. For whom does step() ask?",
    "The scale is one for all; what was found is not.",
)
def one_finding_for_all(init: float, growth: float, backoff: float, interval: int) -> Any:
    return _with(bad=_anything_so_far)(init, growth, backoff, interval)


def _last_alone(self: _Scaler) -> bool:
    return list(self.found.values())[-1]


@mistake(
    "The last finding wrote over the others",
    "update() looked at the optimizer that was unscaled last. What was found in another one before was forgotten: the "
    "scale did not back off, or grew.",
    "Any optimizer's overflow counts. How are two findings to be joined?",
)
def last_finding_alone(init: float, growth: float, backoff: float, interval: int) -> Any:
    return _with(overflowed=_last_alone)(init, growth, backoff, interval)


def _every(self: _Scaler) -> bool:
    return all(self.found.values())


@mistake(
    "The scale backs off only if all optimizers overflow",
    "Where one optimizer's gradients were not finite and another one's were, the round was counted as a good one.",
    "One overflow is enough to show that the scale is too large.",
)
def all_must_overflow(init: float, growth: float, backoff: float, interval: int) -> Any:
    return _with(overflowed=_every)(init, growth, backoff, interval)


class _EachForItself(_Scaler):
    """Backs off and counts once for each optimizer that was unscaled."""

    def update(self) -> None:
        for bad in self.found.values():
            if bad:
                self.back_off()
            else:
                self.count()
        self.forget()


class _OnceForAllButCounted(_Scaler):
    """Backs off once for each overflow, and counts each good optimizer where there is none."""

    def update(self) -> None:
        if self.overflowed():
            for bad in self.found.values():
                if bad:
                    self.back_off()
        else:
            for _ in self.found:
                self.count()
        self.forget()


def _count_optimizers(self: _Scaler) -> None:
    for _ in self.found:
        _Scaler.count(self)


class _Together(_Scaler):
    """Adds the good optimizers of a round up, and grows once when there are enough."""

    def count(self) -> None:
        self.good += len(self.found)
        if self.good >= self.interval:
            self.grow()


@mistake(
    "Each optimizer counted by itself",
    "In a round with two optimizers the scale backed off twice, or two good ones were counted. It is one round.",
    "How often does update() run in a round, and how often step()? The scale is the business of the first.",
    also=(
        _OnceForAllButCounted,
        _Together,
        _with(count=_count_optimizers),
    ),
)
def counted_for_each_optimizer(init: float, growth: float, backoff: float, interval: int) -> Any:
    return _EachForItself(init, growth, backoff, interval)


def _only_stepped(self: _Scaler) -> bool:
    return any(bad for optimizer, bad in self.found.items() if optimizer in self.stepped)


@mistake(
    "What was unscaled and not stepped does not count",
    "Where an optimizer was unscaled, held something not finite, and step() was not called for it, the round counted as a "
    "good one.",
    "update() asks for everything that was found since the last one.",
)
def only_stepped_ones_count(init: float, growth: float, backoff: float, interval: int) -> Any:
    return _with(overflowed=_only_stepped)(init, growth, backoff, interval)


class _AtOnce(_Scaler):
    """Backs off as soon as something is found, and not at the end of the round."""

    def note(self, optimizer: Optimizer, bad: bool) -> None:
        if bad and not any(self.found.values()):
            self.now *= self.backoff
        super().note(optimizer, bad)

    def unscale(self, optimizer: Optimizer) -> None:
        gradients = self.gradients(optimizer)
        self.divide(gradients)
        self.note(optimizer, not self.finite(gradients))

    def back_off(self) -> None:
        self.good = 0


@mistake(
    "The scale changed within a round",
    "The scale backed off when something was found, before update(). The gradients of the other optimizer were scaled "
    "by the old one, and were divided by the new one.",
    "The scale is one for the whole round. Which method alone may change it?",
)
def scale_changed_within_a_round(init: float, growth: float, backoff: float, interval: int) -> Any:
    return _AtOnce(init, growth, backoff, interval)


# ------------------------------------------------------------------ order


def _again(self: _Scaler, optimizer: Optimizer) -> None:
    if optimizer in self.stepped:
        raise RuntimeError("out of order")


def _unscale_once(self: _Scaler, optimizer: Optimizer) -> None:
    _again(self, optimizer)
    if optimizer not in self.found:
        self.unscale(optimizer)


@mistake(
    "unscale_() twice is let pass",
    "A second unscale_() in a round raised nothing.",
    "In which state is an optimizer after unscale_(), and which calls does that state allow?",
    also=(_with(unscale_=_unscale_once),),
)
def unscale_twice_allowed(init: float, growth: float, backoff: float, interval: int) -> Any:
    return _with(refuse_unscale=_again)(init, growth, backoff, interval)


def _only_unscaled(self: _Scaler, optimizer: Optimizer) -> None:
    if optimizer in self.found and optimizer not in self.stepped:
        raise RuntimeError("out of order")


class _OneState(_Scaler):
    """Has one state for each optimizer: unscaling after a step makes it unscaled again, and a step possible."""

    def refuse_unscale(self, optimizer: Optimizer) -> None:
        _only_unscaled(self, optimizer)

    def unscale(self, optimizer: Optimizer) -> None:
        self.stepped.discard(optimizer)
        super().unscale(optimizer)

    def note(self, optimizer: Optimizer, bad: bool) -> None:
        self.found[optimizer] = bad or self.found.get(optimizer, False)


@mistake(
    "unscale_() after step() is let pass",
    "unscale_() of an optimizer whose step() had been called in this round raised nothing.",
    "In which state is an optimizer after step(), and which calls does that state allow?",
    also=(
        _OneState,
        _with(
            unscale_=lambda self, optimizer: None if optimizer in self.stepped else _Scaler.unscale_(self, optimizer)
        ),
    ),
)
def unscale_after_step_allowed(init: float, growth: float, backoff: float, interval: int) -> Any:
    return _with(refuse_unscale=_only_unscaled)(init, growth, backoff, interval)


def _either(self: _Scaler, optimizer: Optimizer, bad: bool) -> None:
    self.found[optimizer] = bad or self.found.get(optimizer, False)


class _NotesItsCallsAlone(_Scaler):
    """Notes the calls of unscale_(); that step() has unscaled is noted nowhere."""

    def __init__(self, init: float, growth: float, backoff: float, interval: int) -> None:
        super().__init__(init, growth, backoff, interval)
        self.asked: set[Optimizer] = set()

    def refuse_unscale(self, optimizer: Optimizer) -> None:
        if optimizer in self.asked:
            raise self.refusal("out of order")
        self.asked.add(optimizer)

    def note(self, optimizer: Optimizer, bad: bool) -> None:
        _either(self, optimizer, bad)

    def forget(self) -> None:
        super().forget()
        self.asked.clear()


@mistake(
    "That step() has unscaled is not noted",
    "unscale_() after a step() that had unscaled by itself raised nothing. After unscale_() and step() it raised, as it "
    "should.",
    "step() unscales where nobody has. Where is that written down, so that unscale_() can ask for it?",
)
def unscaling_of_step_not_noted(init: float, growth: float, backoff: float, interval: int) -> Any:
    return _NotesItsCallsAlone(init, growth, backoff, interval)


@mistake(
    "unscale_() is never refused",
    "unscale_() out of order raised nothing: neither a second one in a round, nor one after step().",
    "In which state is an optimizer after unscale_(), and in which after step()? Which calls do these states allow?",
    also=(
        _with(refuse_unscale=_nothing, note=_either),
        _with(unscale_=lambda self, optimizer: None if optimizer in self.found else self.unscale(optimizer)),
    ),
)
def unscale_never_refused(init: float, growth: float, backoff: float, interval: int) -> Any:
    return _with(refuse_unscale=_nothing)(init, growth, backoff, interval)


@mistake(
    "step() twice is let pass",
    "A second step() of one optimizer in a round raised nothing.",
    "In which state is an optimizer after step(), and which calls does that state allow?",
    also=(_with(step=lambda self, optimizer: None if optimizer in self.stepped else _Scaler.step(self, optimizer)),),
)
def step_twice_allowed(init: float, growth: float, backoff: float, interval: int) -> Any:
    return _with(refuse_step=_nothing)(init, growth, backoff, interval)


class _Deaf(_Scaler):
    """Does nothing where a call is out of order."""

    def unscale_(self, optimizer: Optimizer) -> None:
        if optimizer not in self.found:
            self.unscale(optimizer)

    def step(self, optimizer: Optimizer) -> None:
        if optimizer not in self.stepped:
            super().step(optimizer)


@mistake(
    "No call is out of order",
    "Whatever the order of the calls was, nothing was raised.",
    "Three orders are to raise RuntimeError. What must be remembered of each optimizer to recognise them?",
    also=(_Deaf,),
)
def nothing_refused(init: float, growth: float, backoff: float, interval: int) -> Any:
    return _with(refuse_unscale=_nothing, refuse_step=_nothing)(init, growth, backoff, interval)


@mistake(
    "Another exception than RuntimeError",
    "Calls out of order are refused, by an exception of another type.",
    "Asked is RuntimeError, which PyTorch's scaler raises, too.",
    also=(_with(refusal=AssertionError), _with(refusal=TypeError), _with(refusal=Exception)),
)
def another_exception(init: float, growth: float, backoff: float, interval: int) -> Any:
    return _with(refusal=ValueError)(init, growth, backoff, interval)


class _TooLate(_Scaler):
    """Divides first and refuses then."""

    def unscale_(self, optimizer: Optimizer) -> None:
        late = optimizer in self.found
        self.divide(self.gradients(optimizer))
        if late:
            raise RuntimeError("out of order")
        self.note(optimizer, not self.finite(self.gradients(optimizer)))


@mistake(
    "Refused after the change",
    "unscale_() out of order raised, and had divided the gradients by then.",
    "Look at the state first: what raises is to change nothing.",
    signs=(REFUSED,),
)
def refused_too_late(init: float, growth: float, backoff: float, interval: int) -> Any:
    return _TooLate(init, growth, backoff, interval)


@mistake(
    "What a round noted is still there in the next one",
    "update() ended the round and did not forget what had been noted of the optimizers. In the next round a call in "
    "order was refused, or an unscaling was taken for done.",
    "What is kept for a round must go when it ends. Which of your attributes live as long as the scaler, and which as "
    "long as a round?",
    also=(
        _with(forget=lambda self: self.found.clear()),
        _with(forget=lambda self: self.stepped.clear()),
    ),
)
def notes_kept(init: float, growth: float, backoff: float, interval: int) -> Any:
    return _with(forget=_nothing)(init, growth, backoff, interval)


def _after_any_unscaling(self: _Scaler, optimizer: Optimizer) -> None:
    if self.found:
        raise RuntimeError("out of order")


def _after_any_step(self: _Scaler, optimizer: Optimizer) -> None:
    if self.stepped:
        raise RuntimeError("out of order")


def _unscaled_first_of_all(self: _Scaler, optimizer: Optimizer) -> None:
    _after_any_unscaling(self, optimizer)
    _Scaler.unscale(self, optimizer)


@mistake(
    "One state for all optimizers",
    "In a round with two optimizers the second one was refused a call that is in order for it: the first one's state was "
    "taken for its own.",
    "What is remembered must be found under the optimizer that it is about.",
    also=(
        _with(refuse_unscale=_after_any_unscaling, unscale=_unscaled_first_of_all),
        _with(refuse_step=_after_any_step),
    ),
)
def one_state_for_all(init: float, growth: float, backoff: float, interval: int) -> Any:
    return _with(refuse_unscale=_after_any_unscaling, refuse_step=_after_any_step)(init, growth, backoff, interval)


# ------------------------------------------------------------------ how


@mistake(
    "A scaler of torch's own is at work",
    "The numbers are right, and a GradScaler of torch made them.",
    "Keep the scale, the count and what was found in attributes of your own.",
)
def scaler_of_torchs_own(init: float, growth: float, backoff: float, interval: int) -> Any:
    return torch.amp.GradScaler("cpu", init, growth, backoff, interval)
