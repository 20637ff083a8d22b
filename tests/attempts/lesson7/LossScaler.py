"""Attempts at exercise 7.2, LossScaler: what learners write, and what the check must say of it."""

import enum
import math
import weakref
from collections import defaultdict
from dataclasses import dataclass, field
from types import SimpleNamespace

import torch

from course_utils.authoring.attempts import raised, right, wrong
from course_utils.checks import effects
from course_utils.lessons.lesson7.LossScaler import mistakes


@right
class WithStates:
    def __init__(self, init_scale, growth_factor, backoff_factor, growth_interval):
        self.s = float(init_scale)
        self.gf, self.bf, self.gi = growth_factor, backoff_factor, growth_interval
        self.tracker = 0
        self.states = defaultdict(lambda: {"stage": "ready", "inf": False})

    def scale(self, loss):
        return self.s * loss

    def unscale_(self, optimizer):
        state = self.states[id(optimizer)]
        if state["stage"] == "unscaled":
            raise RuntimeError("unscale_() has already been called")
        if state["stage"] == "stepped":
            raise RuntimeError("unscale_() after step()")
        for group in optimizer.param_groups:
            for p in group["params"]:
                if p.grad is None:
                    continue
                if not torch.isfinite(p.grad).all():
                    state["inf"] = True
                p.grad.div_(self.s)
        state["stage"] = "unscaled"

    def begin_step(self, optimizer):
        state = self.states[id(optimizer)]
        if state["stage"] == "stepped":
            raise RuntimeError("step() twice")
        if state["stage"] == "ready":
            self.unscale_(optimizer)
        state["stage"] = "stepped"
        return state

    def step(self, optimizer):
        if not self.begin_step(optimizer)["inf"]:
            return optimizer.step()

    def update(self):
        if any(state["inf"] for state in self.states.values()):
            self.back_off()
        else:
            self.count()
        self.states.clear()

    def back_off(self):
        self.s = self.s * self.bf
        self.tracker = 0

    def count(self):
        self.tracker += 1
        if self.tracker == self.gi:
            self.s = self.s * self.gf
            self.tracker = 0

    def get_scale(self):
        return self.s


@right
def made_of_functions(init_scale, growth_factor, backoff_factor, growth_interval):
    """No class at all: closures over one namespace."""
    now = SimpleNamespace(scale=init_scale, good=0, unscaled={}, stepped=[])

    def unscale_(optimizer):
        if optimizer in now.unscaled or optimizer in now.stepped:
            raise RuntimeError
        every = [p for g in optimizer.param_groups for p in g["params"] if p.grad is not None]
        now.unscaled[optimizer] = all(math.isfinite(v) for p in every for v in p.grad.flatten().tolist())
        for p in every:
            p.grad = p.grad / now.scale

    def step(optimizer):
        if optimizer in now.stepped:
            raise RuntimeError
        if optimizer not in now.unscaled:
            unscale_(optimizer)
        now.stepped.append(optimizer)
        if now.unscaled[optimizer]:
            optimizer.step()

    def update():
        fine = all(now.unscaled.values())
        now.good = now.good + 1 if fine else 0
        if not fine:
            now.scale *= backoff_factor
        elif now.good % growth_interval == 0:
            now.scale *= growth_factor
        now.unscaled, now.stepped = {}, []

    return SimpleNamespace(
        scale=lambda loss: loss * now.scale,
        unscale_=unscale_,
        step=step,
        update=update,
        get_scale=lambda: float(now.scale),
    )


class Stage(enum.Enum):
    READY = 0
    UNSCALED = 1
    STEPPED = 2


@right
@dataclass
class ADataclass:
    init_scale: float
    growth_factor: float
    backoff_factor: float
    growth_interval: int
    streak: int = 0
    stage: dict = field(default_factory=dict)
    overflow: set = field(default_factory=set)

    def scale(self, loss):
        return torch.mul(loss, self.init_scale)

    def unscale_(self, optimizer):
        if self.stage.get(optimizer, Stage.READY) is not Stage.READY:
            raise RuntimeError(f"{self.stage[optimizer]}")
        self.stage[optimizer] = Stage.UNSCALED
        with torch.no_grad():
            for p in sum((group["params"] for group in optimizer.param_groups), []):
                if p.grad is not None:
                    # x * 0 is 0 for everything that is finite, and NaN for what is not
                    if (p.grad * 0).sum() != 0:
                        self.overflow.add(optimizer)
                    p.grad.mul_(1.0 / self.init_scale)

    def step(self, optimizer):
        match self.stage.get(optimizer, Stage.READY):
            case Stage.STEPPED:
                raise RuntimeError("twice")
            case Stage.READY:
                self.unscale_(optimizer)
        self.stage[optimizer] = Stage.STEPPED
        if optimizer not in self.overflow:
            optimizer.step()

    def update(self):
        if self.overflow:
            self.init_scale *= self.backoff_factor
            self.streak = 0
        else:
            self.streak += 1
        if self.streak >= self.growth_interval:
            self.init_scale *= self.growth_factor
            self.streak = 0
        self.stage.clear()
        self.overflow.clear()

    def get_scale(self):
        return self.init_scale


@right
class WithTorchsOwnKernels:
    def __init__(self, init_scale, growth_factor, backoff_factor, growth_interval):
        self.scale_tensor = torch.tensor(init_scale, dtype=torch.float32)
        self.tracker = torch.tensor(0, dtype=torch.int32)
        self.rest = (growth_factor, backoff_factor, growth_interval)
        self.infs, self.stepped = {}, set()

    def scale(self, loss):
        return loss * self.scale_tensor.to(loss.device)

    def unscale_(self, optimizer):
        if optimizer in self.infs:
            raise RuntimeError("unscale_")
        found = torch.zeros(())
        inverse = self.scale_tensor.double().reciprocal().float()
        for group in optimizer.param_groups:
            for p in group["params"]:
                if p.grad is not None:
                    torch._amp_foreach_non_finite_check_and_unscale_([p.grad], found, inverse)
        self.infs[optimizer] = found

    def step(self, optimizer):
        if optimizer in self.stepped:
            raise RuntimeError("step")
        if optimizer not in self.infs:
            self.unscale_(optimizer)
        self.stepped.add(optimizer)
        if self.infs[optimizer].item() == 0:
            optimizer.step()

    def update(self):
        total = torch.stack(list(self.infs.values())).sum()
        torch._amp_update_scale_(self.scale_tensor, self.tracker, total, *self.rest)
        self.infs, self.stepped = {}, set()

    def get_scale(self):
        return self.scale_tensor.item()


@right
class AJournal:
    """Writes down what happened, and reads it again."""

    def __init__(self, init_scale, growth_factor, backoff_factor, growth_interval):
        self.start, self.up, self.down, self.every = init_scale, growth_factor, backoff_factor, growth_interval
        self.rounds = []
        self.lines = []

    def get_scale(self):
        scale, good = float(self.start), 0
        for fine in self.rounds:
            good = good + 1 if fine else 0
            if not fine:
                scale *= self.down
            if good == self.every:
                scale, good = scale * self.up, 0
        return scale

    def scale(self, loss):
        return loss * self.get_scale()

    def _did(self, what, optimizer):
        return any(line[0] == what and line[1] is optimizer for line in self.lines)

    def unscale_(self, optimizer):
        if self._did("unscale", optimizer):
            raise RuntimeError("unscale_() once a round")
        scale, fine = self.get_scale(), True
        for group in optimizer.param_groups:
            for p in group["params"]:
                if p.grad is not None:
                    low, high = p.grad.aminmax()
                    fine = fine and bool(low > -math.inf) and bool(high < math.inf)  # NaN is neither
                    p.grad /= scale
        self.lines.append(("unscale", optimizer, fine))

    def step(self, optimizer):
        if self._did("step", optimizer):
            raise RuntimeError("step() once a round")
        if not self._did("unscale", optimizer):
            self.unscale_(optimizer)
        self.lines.append(("step", optimizer))
        if [line[2] for line in self.lines if line[0] == "unscale" and line[1] is optimizer] == [True]:
            optimizer.step()

    def update(self):
        self.rounds.append(all(line[2] for line in self.lines if line[0] == "unscale"))
        self.lines = []


@right
class WeakAndCountingDown:
    def __init__(self, init_scale, growth_factor, backoff_factor, growth_interval):
        self._scale, self._f, self._b, self._n = init_scale, growth_factor, backoff_factor, growth_interval
        self._left = growth_interval
        self._new_round()

    def _new_round(self):
        self._fine = weakref.WeakKeyDictionary()
        self._done = weakref.WeakSet()

    def scale(self, loss):
        return loss.mul(self._scale)

    def unscale_(self, optimizer):
        if optimizer in self._fine:
            raise RuntimeError("unscale_() out of order")
        params = [p for group in optimizer.param_groups for p in group["params"]]
        params = [p for p in params if p.grad is not None]
        flat = torch.cat([p.grad.double().flatten() for p in params])
        self._fine[optimizer] = not (flat.isnan().any() or flat.isinf().any())
        torch._foreach_div_([p.grad for p in params], self._scale)

    def step(self, optimizer):
        if optimizer in self._done:
            raise RuntimeError("step() out of order")
        self._fine.get(optimizer, None) is None and self.unscale_(optimizer)
        self._done.add(optimizer)
        self._fine[optimizer] and optimizer.step()

    def update(self):
        if not all(self._fine.values()):
            self._scale, self._left = self._scale * self._b, self._n
        else:
            self._left -= 1
            if self._left == 0:
                self._scale, self._left = self._scale * self._f, self._n
        self._new_round()

    def get_scale(self):
        return self._scale


# ------------------------------------------------------------------ wrong


@wrong(mistakes.loss_not_scaled)
class ReturnsTheLoss(WithStates):
    def scale(self, loss):
        return loss


@wrong(mistakes.scaled_without_graph)
class ScalesANumber(WithStates):
    def scale(self, loss):
        return torch.as_tensor(loss.item() * self.s)


@wrong(mistakes.loss_scaled_in_place)
class ScalesInPlace(WithStates):
    def scale(self, loss):
        loss *= self.s
        return loss


@wrong(mistakes.tensor_for_a_scale)
class KeepsATensor(WithStates):
    def __init__(self, init_scale, growth_factor, backoff_factor, growth_interval):
        super().__init__(init_scale, growth_factor, backoff_factor, growth_interval)
        self.s = torch.tensor(init_scale)


@wrong(mistakes.multiplied_by_the_scale_again)
class Multiplies(WithStates):
    def unscale_(self, optimizer):
        scale = self.s
        self.s = 1 / scale
        try:
            super().unscale_(optimizer)
        finally:
            self.s = scale


class Looks(WithStates):
    """Collects the gradients, looks whether one is bad, and divides them, each in a method of its own."""

    def grads(self, optimizer):
        return [p.grad for group in optimizer.param_groups for p in group["params"] if p.grad is not None]

    def bad(self, gradients):
        return not all(bool(g.isfinite().all()) for g in gradients)

    def divide(self, gradients):
        for g in gradients:
            g.div_(self.s)

    def unscale_(self, optimizer):
        state = self.states[id(optimizer)]
        if state["stage"] != "ready":
            raise RuntimeError("order")
        grads = self.grads(optimizer)
        state["inf"] = bool(self.bad(grads))
        self.divide(grads)
        state["stage"] = "unscaled"


@wrong(mistakes.not_divided)
class DividesACopy(Looks):
    def divide(self, gradients):
        for g in gradients:
            g = g / self.s


@wrong(mistakes.first_group_alone)
class FirstGroup(Looks):
    def grads(self, optimizer):
        return [p.grad for p in optimizer.param_groups[0]["params"] if p.grad is not None]


@wrong(mistakes.nan_let_through)
class InfAlone(Looks):
    def bad(self, gradients):
        return any(torch.isinf(g).any() for g in gradients)


@wrong(mistakes.infinity_let_through)
class NanAlone(Looks):
    def bad(self, gradients):
        return any(torch.isnan(g).any() for g in gradients)


@wrong(mistakes.plus_infinity_alone_found)
class EqualToInf(Looks):
    def bad(self, gradients):
        return any((g == float("inf")).any() for g in gradients)


@wrong(mistakes.minus_infinity_let_through)
class NotBelowTheLargest(Looks):
    def bad(self, gradients):
        return any(not bool((g < math.inf).all()) for g in gradients)


@wrong(mistakes.finite_norm_asked)
class FiniteNorm(Looks):
    def bad(self, gradients):
        return not torch.isfinite(torch.stack([g.norm() ** 2 for g in gradients]).sum().sqrt())


@wrong(mistakes.one_gradient_looked_at)
class LastOneWins(Looks):
    def bad(self, gradients):
        for g in gradients:
            found = not bool(torch.isfinite(g).all())
        return found


@wrong(mistakes.one_gradient_looked_at)
class ReturnsTooEarly(Looks):
    def bad(self, gradients):
        for g in gradients:
            return not bool(torch.isfinite(g).all())


@wrong(mistakes.never_skipped)
class NeverSkips(WithStates):
    def step(self, optimizer):
        self.begin_step(optimizer)
        optimizer.step()


@wrong(mistakes.looked_again_at_step)
class LooksAtStep(Looks):
    def step(self, optimizer):
        self.begin_step(optimizer)
        if not self.bad(self.grads(optimizer)):
            optimizer.step()


@wrong(mistakes.step_does_not_unscale)
class StepsScaled(Looks):
    def step(self, optimizer):
        state = self.states[id(optimizer)]
        if state["stage"] == "stepped":
            raise RuntimeError("twice")
        if state["stage"] == "ready":
            state["inf"] = self.bad(self.grads(optimizer))
        state["stage"] = "stepped"
        if not state["inf"]:
            optimizer.step()


@wrong(mistakes.unscaled_again_in_step)
class UnscalesInStep(WithStates):
    def step(self, optimizer):
        state = self.states[id(optimizer)]
        if state["stage"] == "stepped":
            raise RuntimeError("twice")
        state["stage"] = "ready"
        self.unscale_(optimizer)
        state["stage"] = "stepped"
        if not state["inf"]:
            optimizer.step()


@wrong(mistakes.stepped_with_zeros)
class ZeroesAndSteps(WithStates):
    def step(self, optimizer):
        if self.begin_step(optimizer)["inf"]:
            for group in optimizer.param_groups:
                for p in group["params"]:
                    if p.grad is not None:
                        p.grad.zero_()
        optimizer.step()


@wrong(mistakes.cleared_by_step)
class ClearsAfterStep(WithStates):
    def step(self, optimizer):
        super().step(optimizer)
        for group in optimizer.param_groups:
            for p in group["params"]:
                p.grad = None


@wrong(mistakes.never_backs_off)
class NoBackoff(WithStates):
    def back_off(self):
        self.tracker = 0


@wrong(mistakes.never_grows)
class NoGrowth(WithStates):
    def count(self):
        pass


@wrong(mistakes.counted_across_overflows)
class CountsAcross(WithStates):
    def back_off(self):
        self.s *= self.bf


@wrong(mistakes.count_kept_after_growth)
class GrowsOnAndOn(WithStates):
    def count(self):
        self.tracker += 1
        if self.tracker >= self.gi:
            self.s *= self.gf


@wrong(mistakes.grew_a_round_late)
class OneTooMany(WithStates):
    def count(self):
        if self.tracker == self.gi:
            self.s *= self.gf
            self.tracker = 0
        else:
            self.tracker += 1


@wrong(mistakes.grew_in_every_good_round)
class GrowsAlways(WithStates):
    def count(self):
        self.s *= self.gf


@wrong(mistakes.fixed_factors)
class DoublesAndHalves(WithStates):
    def back_off(self):
        self.s /= 2
        self.tracker = 0

    def count(self):
        self.tracker += 1
        if self.tracker == self.gi:
            self.s *= 2
            self.tracker = 0


@wrong(mistakes.divided_by_the_backoff_factor)
class DividesByBackoff(WithStates):
    def back_off(self):
        self.s /= self.bf
        self.tracker = 0


@wrong(mistakes.kept_above_one)
class AtLeastOne(WithStates):
    def update(self):
        super().update()
        self.s = max(self.s, 1.0)


@wrong(mistakes.kept_below_a_limit)
class AtMost65536(WithStates):
    def update(self):
        super().update()
        self.s = min(self.s, 65536.0)


@wrong(mistakes.one_finding_for_all)
class OneFlag(WithStates):
    def step(self, optimizer):
        self.begin_step(optimizer)
        if not any(each["inf"] for each in self.states.values()):
            optimizer.step()


@wrong(mistakes.last_finding_alone)
class Overwritten(Looks):
    def unscale_(self, optimizer):
        super().unscale_(optimizer)
        self.inf = self.states[id(optimizer)]["inf"]

    def update(self):
        for state in self.states.values():
            state["inf"] = self.inf
        super().update()


@wrong(mistakes.all_must_overflow)
class AllMust(WithStates):
    def update(self):
        seen = [state["inf"] for state in self.states.values() if state["stage"] != "ready"]
        for state in self.states.values():
            state["inf"] = all(seen)
        super().update()


@wrong(mistakes.counted_for_each_optimizer)
class UpdatesEach(WithStates):
    def update(self):
        for state in self.states.values():
            if state["inf"]:
                self.back_off()
            else:
                self.count()
        self.states.clear()


@wrong(mistakes.only_stepped_ones_count)
class CountsTheStepped(WithStates):
    def update(self):
        self.states = defaultdict(
            self.states.default_factory, {k: v for k, v in self.states.items() if v["stage"] == "stepped"}
        )
        super().update()


@wrong(mistakes.scale_changed_within_a_round)
class BacksOffAtOnce(WithStates):
    def unscale_(self, optimizer):
        before = any(state["inf"] for state in self.states.values())
        super().unscale_(optimizer)
        if self.states[id(optimizer)]["inf"] and not before:
            self.s *= self.bf

    def update(self):
        if any(state["inf"] for state in self.states.values()):
            self.tracker = 0
            self.states.clear()
        else:
            super().update()


@wrong(mistakes.unscale_twice_allowed)
class DividesTwice(WithStates):
    def unscale_(self, optimizer):
        state = self.states[id(optimizer)]
        if state["stage"] == "stepped":
            raise RuntimeError("after step")
        state["stage"] = "ready"
        super().unscale_(optimizer)


@wrong(mistakes.unscale_twice_allowed)
class UnscalesOnce(WithStates):
    """A second call returns, and has done nothing."""

    def unscale_(self, optimizer):
        if self.states[id(optimizer)]["stage"] != "unscaled":
            super().unscale_(optimizer)


@wrong(mistakes.unscale_never_refused)
class RefusesStepsAlone(WithStates):
    def unscale_(self, optimizer):
        state = self.states[id(optimizer)]
        stage, state["stage"] = state["stage"], "ready"
        super().unscale_(optimizer)
        state["stage"] = stage if stage == "stepped" else "unscaled"


@wrong(mistakes.unscale_never_refused)
class UnscalesOnceAndAgainAfterStep(WithStates):
    """Any `unscale_()` out of order returns, and has done nothing."""

    def unscale_(self, optimizer):
        if self.states[id(optimizer)]["stage"] == "ready":
            super().unscale_(optimizer)


@wrong(mistakes.unscale_after_step_allowed)
class UnscalesAfterStep(WithStates):
    def unscale_(self, optimizer):
        state = self.states[id(optimizer)]
        if state["stage"] == "stepped":
            state["stage"] = "ready"
            super().unscale_(optimizer)
            state["stage"] = "stepped"
        else:
            super().unscale_(optimizer)


@wrong(mistakes.step_twice_allowed)
class StepsTwice(WithStates):
    def step(self, optimizer):
        state = self.states[id(optimizer)]
        if state["stage"] == "ready":
            self.unscale_(optimizer)
        state["stage"] = "stepped"
        if not state["inf"]:
            optimizer.step()


@wrong(mistakes.nothing_refused)
class NoStates:
    def __init__(self, init_scale, growth_factor, backoff_factor, growth_interval):
        self.s, self.gf, self.bf, self.gi = init_scale, growth_factor, backoff_factor, growth_interval
        self.tracker, self.found = 0, {}

    def scale(self, loss):
        return loss * self.s

    def unscale_(self, optimizer):
        grads = [p.grad for group in optimizer.param_groups for p in group["params"] if p.grad is not None]
        self.found[optimizer] = not all(bool(g.isfinite().all()) for g in grads)
        for g in grads:
            g.div_(self.s)

    def step(self, optimizer):
        if optimizer not in self.found:
            self.unscale_(optimizer)
        if not self.found[optimizer]:
            optimizer.step()

    def update(self):
        if any(self.found.values()):
            self.s *= self.bf
            self.tracker = 0
        else:
            self.tracker += 1
            if self.tracker == self.gi:
                self.s *= self.gf
                self.tracker = 0
        self.found = {}

    def get_scale(self):
        return self.s


@wrong(mistakes.another_exception)
class Asserts(Looks):
    def unscale_(self, optimizer):
        assert self.states[id(optimizer)]["stage"] == "ready"
        super().unscale_(optimizer)

    def step(self, optimizer):
        assert self.states[id(optimizer)]["stage"] != "stepped"
        super().step(optimizer)


@wrong(mistakes.refused_too_late)
class RefusesTooLate(WithStates):
    def unscale_(self, optimizer):
        state = self.states[id(optimizer)]
        for group in optimizer.param_groups:
            for p in group["params"]:
                if p.grad is not None:
                    state["inf"] = state["inf"] or not bool(p.grad.isfinite().all())
                    p.grad /= self.s
        if state["stage"] != "ready":
            raise RuntimeError("order")
        state["stage"] = "unscaled"


@wrong(mistakes.scaler_of_torchs_own)
class Wraps:
    def __init__(self, init_scale, growth_factor, backoff_factor, growth_interval):
        self.inner = torch.amp.GradScaler("cpu", init_scale, growth_factor, backoff_factor, growth_interval)

    def __getattr__(self, name):
        return getattr(self.inner, name)


@wrong(mistakes.scaler_of_torchs_own)
class Inherits(torch.amp.GradScaler):
    def __init__(self, init_scale, growth_factor, backoff_factor, growth_interval):
        super().__init__("cpu", init_scale, growth_factor, backoff_factor, growth_interval)


@wrong(says="methods that return `...`: update; it should be: none")
class HalfWritten(WithStates):
    def update(self):
        return ...


@wrong(mistakes.one_state_for_all)
class OneStageForAll(WithStates):
    """A second optimizer finds the state of the first."""

    def __init__(self, init_scale, growth_factor, backoff_factor, growth_interval):
        super().__init__(init_scale, growth_factor, backoff_factor, growth_interval)
        self.unscaled = False

    def unscale_(self, optimizer):
        if self.unscaled:
            raise RuntimeError("unscale_() twice")
        super().unscale_(optimizer)
        self.unscaled = True

    def update(self):
        super().update()
        self.unscaled = False


@wrong(mistakes.notes_kept)
class NeverForgets(WithStates):
    def update(self):
        if any(state["inf"] for state in self.states.values()):
            self.back_off()
        else:
            self.count()


@raised(effects.grad_is_none)
class NoneForgotten(WithStates):
    def unscale_(self, optimizer):
        state = self.states[id(optimizer)]
        if state["stage"] != "ready":
            raise RuntimeError("order")
        for group in optimizer.param_groups:
            for p in group["params"]:
                p.grad.div_(self.s)
                state["inf"] |= not bool(torch.isfinite(p.grad).all())
        state["stage"] = "unscaled"


@raised(effects.no_such_attribute)
class NoUpdate:
    def __init__(self, init_scale, growth_factor, backoff_factor, growth_interval):
        self.s = init_scale

    def scale(self, loss):
        return loss * self.s

    def unscale_(self, optimizer):
        for group in optimizer.param_groups:
            for p in group["params"]:
                if p.grad is not None:
                    p.grad /= self.s

    def step(self, optimizer):
        self.unscale_(optimizer)
        optimizer.step()

    def get_scale(self):
        return self.s


@wrong(mistakes.scaled_without_graph)
class ANewLeaf(WithStates):
    def scale(self, loss):
        return torch.tensor(loss.item() * self.s, requires_grad=True)


@wrong(mistakes.steps_counted)
class CountsSteps:
    def __init__(self, init_scale, growth_factor, backoff_factor, growth_interval):
        self.s = float(init_scale)
        self.growth_factor = growth_factor
        self.backoff_factor = backoff_factor
        self.growth_interval = growth_interval
        self.good = 0
        self.found = {}
        self.stepped = set()

    def scale(self, loss):
        return loss * self.s

    def unscale_(self, optimizer):
        if optimizer in self.found:
            raise RuntimeError("unscale_ is out of order")
        bad = False
        for group in optimizer.param_groups:
            for p in group["params"]:
                if p.grad is not None:
                    p.grad = p.grad / self.s
                    bad |= not torch.isfinite(p.grad).all()
        self.found[optimizer] = bad

    def step(self, optimizer):
        if optimizer in self.stepped:
            raise RuntimeError("step was called already")
        if optimizer not in self.found:
            self.unscale_(optimizer)
        self.stepped.add(optimizer)
        if not self.found[optimizer]:
            optimizer.step()
            self.good += 1

    def update(self):
        if any(self.found.values()):
            self.s *= self.backoff_factor
            self.good = 0
        elif self.good >= self.growth_interval:
            self.s *= self.growth_factor
            self.good = 0
        self.found.clear()
        self.stepped.clear()

    def get_scale(self):
        return self.s


class _Remembers:
    def __init__(self, init_scale, growth_factor, backoff_factor, growth_interval):
        self.s = float(init_scale)
        self.growth_factor, self.backoff_factor = growth_factor, backoff_factor
        self.growth_interval = growth_interval
        self.good = 0
        self.finite, self.stepped = {}, set()

    def scale(self, loss):
        return loss * self.s

    def all_finite(self, grads):
        return all(bool(g.isfinite().all()) for g in grads)

    def unscale_(self, optimizer):
        if optimizer in self.finite or optimizer in self.stepped:
            raise RuntimeError("out of order")
        grads = [p.grad for group in optimizer.param_groups for p in group["params"] if p.grad is not None]
        self.finite[optimizer] = self.all_finite(grads)
        for g in grads:
            g.div_(self.s)

    def step(self, optimizer):
        if optimizer in self.stepped:
            raise RuntimeError("step was called before")
        if optimizer not in self.finite:
            self.unscale_(optimizer)
        self.stepped.add(optimizer)
        if self.finite[optimizer]:
            optimizer.step()

    def update(self):
        if all(self.finite.values()):
            self.good += 1
            if self.good == self.growth_interval:
                self.s *= self.growth_factor
                self.good = 0
        else:
            self.s *= self.backoff_factor
            self.good = 0
        self.finite.clear()
        self.stepped.clear()

    def get_scale(self):
        return self.s


@wrong(mistakes.finite_sum_asked)
class SumsAreFinite(_Remembers):
    def all_finite(self, grads):
        return all(bool(torch.isfinite(g.sum())) for g in grads)


@wrong(mistakes.finite_sum_asked)
class MeansAreFinite(_Remembers):
    def all_finite(self, grads):
        return not any(bool(g.mean().isnan() | g.mean().isinf()) for g in grads)


@right
class LargestIsFinite(_Remembers):
    def all_finite(self, grads):
        return all(float(g.abs().max()) < float("inf") for g in grads)


@right
class TimesZeroIsZero(_Remembers):
    def all_finite(self, grads):
        return all(float((g * 0).sum()) == 0 for g in grads)


@wrong(mistakes.forgotten_at_step)
class PopsInStep(_Remembers):
    def step(self, optimizer):
        if optimizer in self.stepped:
            raise RuntimeError("step was called before")
        if optimizer not in self.finite:
            self.unscale_(optimizer)
        self.stepped.add(optimizer)
        if self.finite.pop(optimizer):
            optimizer.step()


@wrong(mistakes.kept_above_one)
class NotBelowOne(_Remembers):
    def update(self):
        super().update()
        self.s = max(self.s, 1.0)


@wrong(mistakes.unscaling_of_step_not_noted)
class StepUnscalesInSilence(WithStates):
    def unscale_(self, optimizer):
        state = self.states[id(optimizer)]
        if "called" in state:
            raise RuntimeError("unscale_() has already been called")
        state["called"] = True
        self.divide(optimizer)

    def divide(self, optimizer):
        for group in optimizer.param_groups:
            for p in group["params"]:
                if p.grad is not None:
                    p.grad.div_(self.s)
                    self.states[id(optimizer)]["inf"] |= not bool(torch.isfinite(p.grad).all())

    def step(self, optimizer):
        state = self.states[id(optimizer)]
        if state["stage"] == "stepped":
            raise RuntimeError("step() twice")
        state["stage"] = "stepped"
        if "called" not in state:
            self.divide(optimizer)
        if not state["inf"]:
            optimizer.step()


@wrong(mistakes.unscaling_of_step_not_noted)
class StepUnscalesInSilenceAndUpdateAsksTheSkipped(StepUnscalesInSilence):
    def update(self):
        if any(state["inf"] and state["stage"] == "stepped" for state in self.states.values()):
            self.back_off()
        else:
            self.count()
        self.states.clear()
