"""What is often done instead in exercise 4.5."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch
from torch import nn

from course_utils.checks.mistakes import mistake
from course_utils.lessons.lesson4.adversarial_step.task import D_LEFT, D_STEPS, G_LEFT, G_STEPS
from course_utils.lessons.training import LossFn

T = torch.Tensor
Optimizer = torch.optim.Optimizer
Code = Callable[[nn.Module, nn.Module, Optimizer, Optimizer, LossFn, T, T], object]


def _labelled(loss_fn: LossFn, logits: T, label: float) -> T:
    return loss_fn(logits, torch.full_like(logits, label))


@dataclass(frozen=True)
class _Way:
    """One way to write the step. The right one is `_Way()`."""

    clear_d: bool = True
    clear_g: bool = True
    clear_at: str = "backward"
    """When both are cleared: right before the "backward" or after the "step" of their own, at the "start" or "end"."""
    zeros: bool = False
    detach: bool = True
    real_label: float = 1.0
    fake_label: float = 0.0
    wanted: float = 1.0
    """The label under which the generator's loss is taken."""
    g_sign: float = 1.0
    halves: str = "both"
    """Which halves of the discriminator's loss go backward: "both", "real", "fake"."""
    share: float = 1.0
    """The factor on the sum of the two halves."""
    d_steps: bool = True
    g_steps: bool = True
    d_again: bool = False
    """Whether the discriminator steps once more after the generator's backward."""
    fakes_in_eval: bool = False
    """Whether the generator is in eval mode when it makes the discriminator's fake rows."""
    judged_in_eval: bool = False
    """Whether the discriminator is in eval mode in the generator's half."""
    left_in_train: bool = False
    """Whether the discriminator is in train mode after that, whatever it was in."""

    def run(
        self,
        generator: nn.Module,
        discriminator: nn.Module,
        g_optimizer: Optimizer,
        d_optimizer: Optimizer,
        loss_fn: LossFn,
        real: T,
        noise: T,
    ) -> tuple[float, float]:
        def clear(optimizer: Optimizer, wanted: bool, here: str) -> None:
            if wanted and here == self.clear_at:
                optimizer.zero_grad(set_to_none=not self.zeros)

        def clear_both(here: str) -> None:
            clear(d_optimizer, self.clear_d, here)
            clear(g_optimizer, self.clear_g, here)

        clear_both("start")
        was = generator.training
        if self.fakes_in_eval:
            generator.eval()
        fake = generator(noise)
        if self.fakes_in_eval:
            generator.train(was)
        shown = fake.detach() if self.detach else fake
        halves = []
        if self.halves != "fake":
            halves.append(_labelled(loss_fn, discriminator(real), self.real_label))
        if self.halves != "real":
            halves.append(_labelled(loss_fn, discriminator(shown), self.fake_label))
        d_loss = sum(halves[1:], halves[0]) * self.share
        clear(d_optimizer, self.clear_d, "backward")
        d_loss.backward(retain_graph=not self.detach)
        if self.d_steps:
            d_optimizer.step()
        clear(d_optimizer, self.clear_d, "step")
        was = discriminator.training
        if self.judged_in_eval:
            discriminator.eval()
        # The second forward of the generator gives the same rows: it has not moved.
        g_loss = self.g_sign * _labelled(loss_fn, discriminator(generator(noise)), self.wanted)
        clear(g_optimizer, self.clear_g, "backward")
        g_loss.backward()
        if self.g_steps:
            g_optimizer.step()
        clear(g_optimizer, self.clear_g, "step")
        if self.judged_in_eval:
            discriminator.train(was or self.left_in_train)
        if self.d_again:
            d_optimizer.step()
        clear_both("end")
        return d_loss.item(), g_loss.item()


# ------------------------------------------------------------------ what leaks


@mistake(
    "What .grad held before is counted in",
    "Whatever .grad of the two networks held before the call, their steps used it, too.",
    "Which lines empty .grad of the two networks, and do they run before the backward of each one's own loss?",
    also=(
        _Way(clear_d=False, clear_g=False, detach=False).run,
        _Way(clear_g=False, clear_at="end").run,
        _Way(clear_g=False, clear_at="end", detach=False).run,
    ),
    signs=(G_LEFT, D_LEFT),
)
def old_gradients_counted(*args: Any) -> object:
    return _Way(clear_d=False, clear_g=False).run(*args)


@mistake(
    "Cleared after the step alone",
    "Whatever .grad of the two networks held before the call, their steps used it, too. After the call .grad of the "
    "generator is clear, which helps the next call and not this one.",
    "Nobody promises that .grad is empty when the function begins, and the generator's backward fills .grad of the "
    "discriminator as well. Where must each be emptied, then?",
    "With one network, in a loop that begins clean, clearing after each step is as good as clearing before.",
    also=tuple(
        _Way(clear_at=place, clear_d=clear_d, detach=detach).run
        for place, clear_d in (("step", True), ("end", True), ("end", False))
        for detach in (True, False)
    )
    + (_Way(clear_at="step", fakes_in_eval=True).run,),
    signs=(G_LEFT,),
)
def cleared_after_the_step(*args: Any) -> object:
    return _Way(clear_at="step").run(*args)


@mistake(
    "The discriminator's step used an old gradient",
    "The discriminator's step used what its .grad held before the call, on top of the gradient of its loss, and the "
    "generator then met a wrong discriminator. The last generator step of a training loop leaves such a gradient there.",
    "The generator's loss passes through the discriminator and fills its .grad. Who empties it before the next "
    "discriminator step?",
    "g_optimizer.zero_grad() empties what g_optimizer holds, and no more.",
    also=(_Way(clear_d=False, detach=False).run,),
)
def discriminator_on_an_old_gradient(*args: Any) -> object:
    return _Way(clear_d=False).run(*args)


@mistake(
    "The generator's step used an old gradient",
    "The generator's step used what its .grad held before the call, too.",
    "Which line empties the generator's .grad, and does it run before the backward of the generator's loss?",
)
def generator_on_an_old_gradient(*args: Any) -> object:
    return _Way(clear_g=False).run(*args)


@mistake(
    "The discriminator's loss leaked into the generator",
    "The generator's step used the gradient of its own loss and that of the discriminator's loss, which reached it "
    "through the fake rows.",
    "The fake rows are made of the generator's parameters. Either that way is cut in the first half, or the generator "
    "is cleared after it.",
    "Clearing everything at the start looks tidy; the first backward fills the generator's .grad again.",
    also=(_Way(clear_g=False, detach=False).run, _Way(detach=False, clear_at="start", zeros=True).run),
)
def leaked_into_the_generator(*args: Any) -> object:
    return _Way(detach=False, clear_at="start").run(*args)


def _generator_first(
    generator: nn.Module,
    discriminator: nn.Module,
    g_optimizer: Optimizer,
    d_optimizer: Optimizer,
    loss_fn: LossFn,
    real: T,
    noise: T,
    *,
    clear_late: bool = True,
) -> tuple[float, float]:
    g_optimizer.zero_grad()
    d_optimizer.zero_grad()
    g_loss = _labelled(loss_fn, discriminator(generator(noise)), 1.0)
    g_loss.backward()
    g_optimizer.step()
    if clear_late:
        d_optimizer.zero_grad()
    shown = generator(noise).detach()
    d_loss = _labelled(loss_fn, discriminator(real), 1.0) + _labelled(loss_fn, discriminator(shown), 0.0)
    d_loss.backward()
    d_optimizer.step()
    return d_loss.item(), g_loss.item()


@mistake(
    "The generator stepped first",
    "The generator's step was taken against the discriminator as it came, and the discriminator's on rows that the "
    "generator made after its step.",
    "Which of the two is updated first, and which discriminator judges the generator's rows?",
    also=(lambda *args: _generator_first(*args, clear_late=False),),
)
def generator_first(*args: Any) -> object:
    return _generator_first(*args)


def _both_at_the_end(
    generator: nn.Module,
    discriminator: nn.Module,
    g_optimizer: Optimizer,
    d_optimizer: Optimizer,
    loss_fn: LossFn,
    real: T,
    noise: T,
    *,
    kept_apart: bool,
    detach: bool = True,
) -> tuple[float, float]:
    """Both backwards before both steps; `kept_apart`, each network has the gradient of its own loss alone."""
    params = [p for p in discriminator.parameters() if p.requires_grad]
    g_optimizer.zero_grad()
    d_optimizer.zero_grad()
    fake = generator(noise)
    shown = fake.detach() if detach else fake
    d_loss = _labelled(loss_fn, discriminator(real), 1.0) + _labelled(loss_fn, discriminator(shown), 0.0)
    d_loss.backward(retain_graph=True)
    own = [None if p.grad is None else p.grad.clone() for p in params]
    g_loss = _labelled(loss_fn, discriminator(generator(noise)), 1.0)
    g_loss.backward()
    if kept_apart:
        for p, gradient in zip(params, own, strict=True):
            p.grad = gradient
    d_optimizer.step()
    g_optimizer.step()
    return d_loss.item(), g_loss.item()


@mistake(
    "The discriminator that judged was not the updated one",
    "The discriminator's step is right. The generator's loss and step are those against the discriminator as it came.",
    "When is the discriminator asked about the fake rows for the generator's loss: before its step, or after it? Which "
    "of the two networks steps first?",
    "A loss can be computed at any time, and nothing raises. Only after its step is the discriminator the updated one.",
)
def judged_by_the_old_one(*args: Any) -> object:
    return _both_at_the_end(*args, kept_apart=True)


def _reported_anew(*args: Any) -> object:
    _, discriminator, _, _, loss_fn, _, noise = args
    with torch.no_grad():
        fake = args[0](noise)
    d_loss, _ = _both_at_the_end(*args, kept_apart=True)
    with torch.no_grad():
        return d_loss, _labelled(loss_fn, discriminator(fake), 1.0).item()


@mistake(
    "The loss of the updated discriminator, and the gradient of the old one",
    "Both losses are right, and so is the discriminator's step. The generator's step used the gradient that it gets from "
    "the discriminator as it came.",
    "Which backward filled the generator's .grad? Had the discriminator stepped by then?",
    "The number comes from one pass and the gradient from another, and only the number is seen.",
)
def gradient_from_the_old_one(*args: Any) -> object:
    return _reported_anew(*args)


@mistake(
    "A value that backward needs was changed before it came",
    "A forward pass saved it for its backward, and by then it had been changed in place. An optimizer's step is such a "
    "change: it moves the weights in place.",
    "Does a backward go through scores from before the discriminator's step? The updated discriminator is to judge: ask "
    "it about the fake rows again, after its step.",
    "The scores of the fake rows are at hand. They are those of the old weights.",
)
def scores_used_again(*args: Any) -> object:
    return _one_forward(*args, keep=True)


def _one_forward(
    generator: nn.Module,
    discriminator: nn.Module,
    g_optimizer: Optimizer,
    d_optimizer: Optimizer,
    loss_fn: LossFn,
    real: T,
    noise: T,
    *,
    keep: bool,
) -> object:
    """The scores of the fake rows serve both losses."""
    scores = discriminator(generator(noise))
    d_optimizer.zero_grad()
    d_loss = _labelled(loss_fn, discriminator(real), 1.0) + _labelled(loss_fn, scores, 0.0)
    d_loss.backward(retain_graph=keep)
    d_optimizer.step()
    g_optimizer.zero_grad()
    g_loss = _labelled(loss_fn, scores, 1.0)
    g_loss.backward()
    g_optimizer.step()
    return d_loss.item(), g_loss.item()


@mistake(
    "Part of a graph was walked backward twice",
    "A backward frees the graph that it goes through, and a second one went through part of it again.",
    "Which two backwards go through the same values? If both losses use the scores of the fake rows: the second is to use "
    "those of the updated discriminator. If they share the rows alone, detach them in the first half.",
    "The error proposes retain_graph=True. That keeps the graph, and not the weights that went into it.",
)
def graph_shared(*args: Any) -> object:
    return _one_forward(*args, keep=False)


@mistake(
    "The generator's loss leaked into the discriminator",
    "The discriminator's step used the gradient of its own loss and that of the generator's loss, which passes through "
    "it. The generator was judged by the discriminator as it came.",
    "Both backwards ran before the discriminator's step. What had the generator's one added to its .grad by then?",
    "In most loops one backward serves one step; here the second loss fills both networks.",
    also=(lambda *args: _both_at_the_end(*args, kept_apart=False, detach=False),),
)
def leaked_into_the_discriminator(*args: Any) -> object:
    return _both_at_the_end(*args, kept_apart=False)


@mistake(
    "The discriminator stepped on the generator's loss",
    "d_optimizer.step() was called again after the generator's backward, which had filled the discriminator's .grad: "
    "it moved towards taking the fakes for real.",
    "Which optimizers step in the generator's half?",
    also=(_Way(d_again=True, detach=False).run,),
    signs=(D_STEPS,),
)
def discriminator_stepped_again(*args: Any) -> object:
    return _Way(d_again=True).run(*args)


@mistake(
    "A frozen layer moved by its old gradient",
    "A frozen layer held a gradient from before, kept it, and the step moved it.",
    "requires_grad=False stops backward, not the optimizer: it steps on any .grad that it finds. Empty that one, too.",
)
def frozen_moved(*args: Any) -> object:
    for network in args[:2]:
        for p in network.parameters():
            p.grad = None if p.requires_grad else p.grad
    return _Way(clear_d=False, clear_g=False).run(*args)


# ------------------------------------------------------------------ who moves, and when


@mistake(
    "The generator did not move",
    "Both losses are right, and no parameter of the generator moved. g_optimizer.step() was called: what it found in "
    "the generator's .grad was nothing new.",
    "Follow the generator's loss back to the generator's parameters. Is the way cut by a detach, by no_grad, or is the "
    ".grad emptied before the step?",
    "The detach that is right in the first half cuts too much in the second.",
    also=(lambda *args: _cut_off(*args, zeros=True),),
    signs=(G_STEPS,),
)
def generator_cut_off(*args: Any) -> object:
    return _cut_off(*args)


def _cut_off(*args: Any, zeros: bool = False) -> object:
    generator, discriminator, g_optimizer, d_optimizer, loss_fn, real, noise = args
    losses = _Way(g_steps=False).run(*args)
    g_optimizer.zero_grad(set_to_none=not zeros)
    g_optimizer.step()
    return losses


@mistake(
    "The generator's optimizer took no step",
    "The discriminator's step and both losses are right, and g_optimizer.step() was never called.",
    "What moves the generator?",
    signs=(G_STEPS,),
)
def no_generator_step(*args: Any) -> object:
    return _Way(g_steps=False).run(*args)


@mistake(
    "The discriminator's optimizer took no step",
    "No parameter of the discriminator moved, and d_optimizer.step() was never called. The generator was judged by "
    "the discriminator as it came.",
    "What moves the discriminator, and when?",
    signs=(D_STEPS,),
)
def no_discriminator_step(*args: Any) -> object:
    return _Way(d_steps=False).run(*args)


def _two_discriminator_steps(
    generator: nn.Module,
    discriminator: nn.Module,
    g_optimizer: Optimizer,
    d_optimizer: Optimizer,
    loss_fn: LossFn,
    real: T,
    noise: T,
    *,
    clear_between: bool = True,
) -> tuple[float, float]:
    total = 0.0
    with torch.no_grad():
        fake = generator(noise)
    d_optimizer.zero_grad()
    for rows, label in ((real, 1.0), (fake, 0.0)):
        if clear_between:
            d_optimizer.zero_grad()
        half = _labelled(loss_fn, discriminator(rows), label)
        half.backward()
        d_optimizer.step()
        total += half.item()
    g_loss = _labelled(loss_fn, discriminator(generator(noise)), 1.0)
    g_optimizer.zero_grad()
    g_loss.backward()
    g_optimizer.step()
    return total, g_loss.item()


@mistake(
    "Two discriminator steps",
    "d_optimizer.step() was called twice: once after the real half, once after the fake half of its loss.",
    "The discriminator's loss is the sum of both halves, and it takes one step. Backward of each half adds up in .grad "
    "by itself.",
    also=(lambda *args: _two_discriminator_steps(*args, clear_between=False),),
    signs=(D_STEPS,),
)
def stepped_after_each_half(*args: Any) -> object:
    return _two_discriminator_steps(*args)


# ------------------------------------------------------------------ labels and losses


@mistake(
    "The fake rows were shown to the discriminator as real",
    "The discriminator was trained with label 1 for the fake rows, too.",
    "Which label do the fake rows get in the discriminator's loss, and which in the generator's?",
)
def fakes_called_real(*args: Any) -> object:
    return _Way(fake_label=1.0).run(*args)


@mistake(
    "The two labels changed places",
    "The discriminator was trained with label 0 for the real rows and 1 for the fake ones.",
    "Which is 1, real or fake?",
    also=(_Way(real_label=0.0, fake_label=1.0, wanted=0.0).run,),
)
def labels_swapped(*args: Any) -> object:
    return _Way(real_label=0.0, fake_label=1.0).run(*args)


@mistake(
    "The generator is trained to be caught",
    "The discriminator's step is right. The generator's loss was taken with label 0: it learns to make rows that the "
    "discriminator takes for fakes.",
    "What does the generator want the discriminator to say of its rows?",
    "Its rows are fakes, and for the discriminator their label is 0.",
)
def generator_wants_zero(*args: Any) -> object:
    return _Way(wanted=0.0).run(*args)


@mistake(
    "The generator climbs the discriminator's loss",
    "The discriminator's step is right. The generator's loss is minus the loss of its rows with label 0. It points to "
    "the same aim by another loss, with other gradients.",
    "Asked is loss_fn of the fake rows with labels 1.",
    "In the first form of the game the two play for one number with two signs. Where the discriminator is sure of "
    "itself, that form leaves the generator hardly any gradient.",
)
def minus_the_other_loss(*args: Any) -> object:
    return _Way(wanted=0.0, g_sign=-1.0).run(*args)


@mistake(
    "A minus before the generator's loss",
    "The discriminator's step is right. The generator's loss is minus the loss of its rows with label 1: it learns to make "
    "rows that the discriminator takes for fakes.",
    "Which of the two makes that loss smaller, the generator or the discriminator? Does it need a sign?",
)
def minus_its_own_loss(*args: Any) -> object:
    return _Way(wanted=1.0, g_sign=-1.0).run(*args)


@mistake(
    "The mean of the two halves, not their sum",
    "The discriminator's step used the mean of the two halves of its loss, not their sum.",
    "Asked is the sum of the two halves.",
    "Many programs take the mean; the discriminator then learns at half the rate under plain SGD.",
    also=(lambda *args: _halved_backward(*args),),
)
def halved(*args: Any) -> object:
    return _Way(share=0.5).run(*args)


def _halved_backward(*args: Any) -> object:
    d_loss, g_loss = _Way(share=0.5).run(*args)
    return 2 * d_loss, g_loss


@mistake(
    "One mean over real and fake rows together",
    "The discriminator's loss is the mean over all its rows, real and fake, or twice that, in place of the sum of two "
    "means. Where there are more rows of one kind, that kind weighs more.",
    "Each half has a mean of its own. Over which rows does each call of loss_fn take its mean?",
    also=(lambda *args: _mean_of_all(*args, factor=2.0),),
)
def mean_of_all_rows(*args: Any) -> object:
    return _mean_of_all(*args, factor=1.0)


def _mean_of_all(
    generator: nn.Module,
    discriminator: nn.Module,
    g_optimizer: Optimizer,
    d_optimizer: Optimizer,
    loss_fn: LossFn,
    real: T,
    noise: T,
    *,
    factor: float,
) -> tuple[float, float]:
    fake = generator(noise)
    d_optimizer.zero_grad()
    logits = discriminator(torch.cat([real, fake.detach()]))
    labels = torch.cat([torch.ones_like(logits[: len(real)]), torch.zeros_like(logits[len(real) :])])
    d_loss = factor * loss_fn(logits, labels)
    d_loss.backward()
    d_optimizer.step()
    g_optimizer.zero_grad()
    g_loss = _labelled(loss_fn, discriminator(fake), 1.0)
    g_loss.backward()
    g_optimizer.step()
    return d_loss.item(), g_loss.item()


@mistake(
    "The fake rows were made in eval mode",
    "The generator came in train mode. The fake rows of the discriminator's half are those that it makes in eval mode, "
    "which are others. In the generator's own half they are those of train mode.",
    "Leave the modes alone, for the time of the call, too.",
    "Where nothing is to be learned from a pass, eval mode seems right.",
)
def fakes_made_in_eval(*args: Any) -> object:
    return _Way(fakes_in_eval=True).run(*args)


def _cut_to(*, fake: bool, real: bool, whose: str = "both") -> Code:
    """No more fake rows than real ones, no more real than fake ones, or both; in "both" halves or in one network's."""

    def code(*args: Any) -> object:
        generator, discriminator, g_optimizer, d_optimizer, loss_fn, rows, noise = args
        least = min(len(rows), len(noise))
        less_noise = noise[:least] if fake else noise
        first = less_noise if whose != "generator" else noise
        second = less_noise if whose != "discriminator" else noise
        d_optimizer.zero_grad()
        shown = generator(first).detach()
        d_loss = _labelled(loss_fn, discriminator(rows[:least] if real else rows), 1.0)
        d_loss = d_loss + _labelled(loss_fn, discriminator(shown), 0.0)
        d_loss.backward()
        d_optimizer.step()
        g_optimizer.zero_grad()
        g_loss = _labelled(loss_fn, discriminator(generator(second)), 1.0)
        g_loss.backward()
        g_optimizer.step()
        return d_loss.item(), g_loss.item()

    return code


@mistake(
    "Rows were left out",
    "Where the numbers of fake and real rows differ, only as many rows of the larger kind were used as there are of the "
    "other, in one loss or in both.",
    "Every row counts. Which slice, or which zip, drops some? Labels made with ones_like and zeros_like of the logits fit "
    "any number of rows.",
    "With as many fake rows as real ones nothing is left out.",
    also=(
        _cut_to(fake=True, real=False, whose="discriminator"),
        _cut_to(fake=True, real=False, whose="generator"),
        _cut_to(fake=False, real=True),
        _cut_to(fake=True, real=True),
        _cut_to(fake=True, real=True, whose="discriminator"),
    ),
    where=lambda spec: spec["real"] != spec["noise"],
)
def rows_left_out(*args: Any) -> object:
    return _cut_to(fake=True, real=False)(*args)


@mistake(
    "The real half alone",
    "The discriminator's step used the loss of the real rows alone.",
    "Where do the fake rows enter the discriminator's loss?",
    also=(lambda *args: _whole_sum_told(_Way(halves="real"))(*args),),
)
def real_half_alone(*args: Any) -> object:
    return _Way(halves="real").run(*args)


@mistake(
    "The fake half alone",
    "The discriminator's step used the loss of the fake rows alone.",
    "Where do the real rows enter the discriminator's loss? Or was their gradient cleared before the step?",
    also=(lambda *args: _whole_sum_told(_Way(halves="fake"))(*args),),
)
def fake_half_alone(*args: Any) -> object:
    return _Way(halves="fake").run(*args)


def _whole_sum_told(way: _Way) -> Code:
    """That way, with the sum of both halves returned."""

    def code(
        generator: nn.Module,
        discriminator: nn.Module,
        g_optimizer: Optimizer,
        d_optimizer: Optimizer,
        loss_fn: LossFn,
        real: T,
        noise: T,
    ) -> tuple[float, float]:
        with torch.no_grad():
            total = _labelled(loss_fn, discriminator(real), 1.0) + _labelled(
                loss_fn, discriminator(generator(noise)), 0.0
            )
        _, g_loss = way.run(generator, discriminator, g_optimizer, d_optimizer, loss_fn, real, noise)
        return total.item(), g_loss

    return code


@mistake(
    "The two halves were subtracted",
    "The discriminator's step used the loss of the real rows minus that of the fake rows.",
    "Asked is the sum. In which direction does the discriminator go on the fake rows, if their loss stands behind a "
    "minus?",
)
def halves_subtracted(
    generator: nn.Module,
    discriminator: nn.Module,
    g_optimizer: Optimizer,
    d_optimizer: Optimizer,
    loss_fn: LossFn,
    real: T,
    noise: T,
) -> object:
    d_optimizer.zero_grad()
    fake = generator(noise)
    d_loss = _labelled(loss_fn, discriminator(real), 1.0) - _labelled(loss_fn, discriminator(fake.detach()), 0.0)
    d_loss.backward()
    d_optimizer.step()
    g_optimizer.zero_grad()
    g_loss = _labelled(loss_fn, discriminator(fake), 1.0)
    g_loss.backward()
    g_optimizer.step()
    return d_loss.item(), g_loss.item()


@mistake(
    "The real rows' label is 0.9",
    "The discriminator was trained with label 0.9 for the real rows.",
    "Asked is the label 1.",
    "Labels a little below 1 are a known trick for such networks.",
    also=(_Way(real_label=0.9, fake_label=0.1).run,),
)
def smoothed_labels(*args: Any) -> object:
    return _Way(real_label=0.9).run(*args)


@mistake(
    "A sigmoid before loss_fn",
    "loss_fn was handed probabilities, the sigmoid of the logits. It takes logits.",
    "What does the discriminator return, and what does loss_fn take? Is anything needed between the two?",
    "A loss with logits has the sigmoid in it; plain binary cross-entropy has not.",
)
def sigmoid_first(*args: Any) -> object:
    generator, discriminator, g_optimizer, d_optimizer, loss_fn, *rest = args

    def of_probabilities(logits: T, labels: T) -> T:
        found: T = loss_fn(logits.sigmoid(), labels)
        return found

    return _Way().run(generator, discriminator, g_optimizer, d_optimizer, of_probabilities, *rest)


@mistake(
    "Logits and labels changed places",
    "Losses and steps are those of loss_fn(labels, logits).",
    "In which order does loss_fn take its two arguments?",
)
def arguments_swapped(*args: Any) -> object:
    generator, discriminator, g_optimizer, d_optimizer, loss_fn, *rest = args
    return _Way().run(
        generator, discriminator, g_optimizer, d_optimizer, lambda logits, labels: loss_fn(labels, logits), *rest
    )


@mistake(
    "Another loss in place of loss_fn",
    "Where loss_fn is binary cross-entropy the numbers are right; where it is another loss they are not: the code "
    "computes binary cross-entropy itself.",
    "loss_fn is handed over. Is it called?",
)
def loss_fn_not_used(*args: Any) -> object:
    own = nn.functional.binary_cross_entropy_with_logits
    generator, discriminator, g_optimizer, d_optimizer, _, *rest = args
    return _Way().run(generator, discriminator, g_optimizer, d_optimizer, own, *rest)


@mistake(
    "Labels of another number of rows",
    "loss_fn was handed logits and labels of different shapes, and refuses. There may be more rows of noise than real "
    "ones, or fewer.",
    "Make the labels from the logits that they belong to: ones_like and zeros_like take their shape, dtype and device.",
    "With as many fake rows as real ones a single tensor of ones serves both.",
    also=(lambda *args: _labels_of_the_real(*args, flat=True),),
)
def labels_of_another_batch(*args: Any) -> object:
    return _labels_of_the_real(*args, flat=False)


def _labels_of_the_real(*args: Any, flat: bool) -> object:
    generator, discriminator, g_optimizer, d_optimizer, loss_fn, real, noise = args
    rows = real.new_ones(len(real)) if flat else real.new_ones(len(real), 1)

    def with_these(logits: T, labels: T) -> T:
        found: T = loss_fn(logits, rows * labels.flatten()[0])
        return found

    return _Way().run(generator, discriminator, g_optimizer, d_optimizer, with_these, real, noise)


# ------------------------------------------------------------------ what is returned


@mistake(
    "The two losses changed places",
    "Both steps are right. What came back is (g_loss, d_loss).",
    "Asked is (d_loss, g_loss).",
)
def losses_turned_round(*args: Any) -> object:
    d_loss, g_loss = _Way().run(*args)
    return g_loss, d_loss


@mistake(
    "One half of the discriminator's loss was returned",
    "Both steps are right. What came back as d_loss is one of its two halves.",
    "Which name holds the sum?",
    also=(lambda *args: _half_told(*args, label=0.0),),
)
def half_returned(*args: Any) -> object:
    return _half_told(*args, label=1.0)


def _half_told(*args: Any, label: float) -> object:
    generator, discriminator, _, _, loss_fn, real, noise = args
    with torch.no_grad():
        rows = real if label else generator(noise)
        half = _labelled(loss_fn, discriminator(rows), label).item()
    return half, _Way().run(*args)[1]


@mistake(
    "The mean of the two halves was returned",
    "Both steps are right. What came back as d_loss is half of it.",
    "Asked is the sum of the two halves.",
)
def half_of_d_loss_returned(*args: Any) -> object:
    d_loss, g_loss = _Way().run(*args)
    return d_loss / 2, g_loss


@mistake(
    "A loss was measured after the step",
    "Both steps are right. One of the losses that came back, or both, was computed anew after a step.",
    "Which losses went backward? Return those, as numbers.",
    also=(
        lambda *args: _told_afterwards(*args, d=True, g=False),
        lambda *args: _told_afterwards(*args, d=False, g=True),
    ),
)
def losses_after_the_steps(*args: Any) -> object:
    return _told_afterwards(*args, d=True, g=True)


def _told_afterwards(*args: Any, d: bool, g: bool) -> object:
    generator, discriminator, _, _, loss_fn, real, noise = args
    d_loss, g_loss = _Way().run(*args)
    with torch.no_grad():
        fake = discriminator(generator(noise))
        again = _labelled(loss_fn, discriminator(real), 1.0) + _labelled(loss_fn, fake, 0.0)
        return again.item() if d else d_loss, _labelled(loss_fn, fake, 1.0).item() if g else g_loss


@mistake(
    "New noise was drawn",
    "The generator was fed other noise than was handed over: the numbers are those of other fake rows, and the random "
    "state has moved.",
    "noise is an argument. Use it for both halves.",
    "Many programs draw fresh noise for the generator's half.",
    also=(lambda *args: _other_noise(*args, both=True),),
)
def new_noise(*args: Any) -> object:
    return _other_noise(*args, both=False)


def _other_noise(*args: Any, both: bool) -> object:
    generator, discriminator, g_optimizer, d_optimizer, loss_fn, real, noise = args
    drawn = torch.randn_like(noise)
    if both:
        return _Way().run(generator, discriminator, g_optimizer, d_optimizer, loss_fn, real, drawn)
    first, _ = _Way(g_steps=False).run(generator, discriminator, g_optimizer, d_optimizer, loss_fn, real, noise)
    g_optimizer.zero_grad()
    g_loss = _labelled(loss_fn, discriminator(generator(drawn)), 1.0)
    g_loss.backward()
    g_optimizer.step()
    return first, g_loss.item()


@mistake(
    "In the generator's half the discriminator was in eval mode",
    "The discriminator's step is right. For the generator's loss it was in eval mode: with a layer that behaves otherwise "
    "in train mode, such as dropout, that is another loss, and another gradient.",
    "Leave both networks in the mode in which they came.",
    "eval() changes what layers compute. It records a graph all the same.",
    also=(_Way(judged_in_eval=True, left_in_train=True).run,),
)
def judged_in_eval(*args: Any) -> object:
    return _Way(judged_in_eval=True).run(*args)
