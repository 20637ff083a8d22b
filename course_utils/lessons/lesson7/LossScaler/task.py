"""Exercise 7.2: a loss scaler, as a class. Each case is a script of rounds that the scaler is taken through."""

from __future__ import annotations

import re
import traceback
from collections.abc import Mapping, Sequence
from random import Random
from types import TracebackType
from typing import Any

import torch
from torch import nn

from course_utils.exercise import Arrangement, Case, Exercise
from course_utils.lessons.inputs import cases, mean_square_error, model_and_batch
from course_utils.lessons.training import optimizer_of

UNWRITTEN = "methods that return `...`"
RETURNED = "what came back"
SCALED = "scale(loss) divided by the loss"
SCALES = "get_scale() at first and after each update()"
STEPS = "the optimizer's step in each round"
GRADIENTS = "finite gradients"
REFUSED = "calls out of order raised"
IN_ORDER = "a call in order that was refused"
SAID = "what was said of it"
NOTHING = "none"
UPDATE = "the update"
USED = "scalers of torch's own"

TENSOR, FLOAT = "a tensor with a graph", "a float"
FINITE, HUGE, LARGEST = "finite", "huge", "near the largest"
_BAD: Mapping[str, Sequence[float]] = {
    "inf": (float("inf"),),
    "-inf": (float("-inf"),),
    "nan": (float("nan"),),
    "both": (float("inf"), float("-inf")),
}
"""What is put into a gradient, by the word for it in a case."""
Round = dict[str, Any]
Spec = Mapping[str, Any]


def a_round(*calls: str, found: Sequence[str] | str = FINITE, losses: int = 1) -> Round:
    """A round: `losses` backward passes for each optimizer, what is then `found` in its gradients, and the calls.

    A call is a word, and the number of the optimizer where that is not 0: "unscale_", "step 1", "update"; with a
    mark, "step!", it is out of order. "clip", "mend" and "drop" are what the caller does to `.grad`: scale it down, put
    zeros where it is not finite, set it to None. An optimizer that is found "absent" has no part in the round.
    """
    return {"found": [found] if isinstance(found, str) else list(found), "calls": list(calls), "losses": losses}


# ------------------------------------------------------------------ taking a scaler through a script


class _OwnScalers:
    """Notes, in its block, each `GradScaler` of torch that is made."""

    def __init__(self) -> None:
        self.used: list[str] = []

    def __enter__(self) -> _OwnScalers:
        self._original = torch.amp.GradScaler.__init__

        def noted(scaler: torch.amp.GradScaler, *args: Any, **kwargs: Any) -> None:
            self.used.append("torch.amp.GradScaler")
            self._original(scaler, *args, **kwargs)

        torch.amp.GradScaler.__init__ = noted  # type: ignore[assignment, method-assign]
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        torch.amp.GradScaler.__init__ = self._original  # type: ignore[method-assign]


class _Script:
    """Takes a scaler through the rounds of a case, and writes down what it gives and does."""

    def __init__(self, case: Case) -> None:
        self._spec = case.spec
        self.models: list[nn.Module] = []
        self._batches = []
        self.optimizers: list[torch.optim.Optimizer] = []
        for number, kind in enumerate(case.spec["models"]):
            one = Case(case.name, {**case.spec, "model": kind, "seed": case.spec["seed"] + 31 * number})
            model, x, y = model_and_batch(one)
            self.models.append(model)
            self._batches.append((x, y))
            self.optimizers.append(optimizer_of(one, model))
        self._before = [{name: p.detach().clone() for name, p in model.named_parameters()} for model in self.models]
        self._taken = [0] * len(self.models)
        for number, optimizer in enumerate(self.optimizers):
            optimizer.register_step_post_hook(lambda *_, number=number: self._count(number))
        self.own = _OwnScalers()
        self._unwritten: list[str] = []
        self._in_order = NOTHING
        self._returned = {"scale(loss)": TENSOR, "get_scale()": FLOAT, "the loss itself": "as it was"}
        self._scaled: list[float] = []
        self._scales: list[float] = []
        self._steps: dict[str, str] = {}
        self._gradients: dict[str, object] = {}
        self._refused: dict[str, str] = {}

    def _count(self, number: int) -> None:
        self._taken[number] += 1

    def __call__(self, attempt: Any) -> object:
        spec = self._spec
        scaler = attempt(*(spec[name] for name in ("init", "growth", "backoff", "interval")))
        if scaler is ...:
            return ...
        self._note_scale(scaler)
        for number, one in enumerate(spec["rounds"], 1):
            if not self._backward(scaler, one):
                return ... if self._returned["scale(loss)"] == "..." else None
            self._taken = [0] * len(self.models)
            for place, call in enumerate(one["calls"]):
                if not self._do(scaler, number, place, call, one):
                    return None
            present = [at for at, found in enumerate(self._found(one)) if found != "absent"]
            self._steps[f"round {number}"] = ", ".join(_times(self._taken[at]) for at in present)
        return None

    def _found(self, one: Round) -> list[str]:
        found = one["found"]
        return found if len(found) > 1 else found * len(self.models)

    def _backward(self, scaler: Any, one: Round) -> bool:
        """The round's losses, scaled, go backward; False where that cannot be."""
        for at, found in enumerate(self._found(one)):
            if found == "absent":
                continue
            model, (x, y) = self.models[at], self._batches[at]
            for p in model.parameters():
                if p.requires_grad:
                    p.grad = None
            for part in range(one["losses"]):
                loss = mean_square_error(model(x), (1 + part) * y)
                value = float(loss.detach())
                scaled = scaler.scale(loss)
                if float(loss.detach()) != value and value == value:
                    self._returned["the loss itself"] = "another number than before"
                if not isinstance(scaled, torch.Tensor) or not scaled.requires_grad or scaled.numel() != 1:
                    self._returned["scale(loss)"] = _kind(scaled)
                    return False
                self._scaled.append(float(scaled.detach()) / value)
                scaled.backward()  # type: ignore[no-untyped-call]
            if all(p.grad is None for p in model.parameters()):
                self._returned["scale(loss)"] = "a tensor whose graph does not reach the parameters"
                return False
            self._put(model, found)
        return True

    def _put(self, model: nn.Module, found: str) -> None:
        """Bring into the gradients what the case says was found there."""
        held = [p.grad for p in model.parameters() if p.grad is not None and p.requires_grad]
        with torch.no_grad():
            if found == HUGE:
                # Finite, all of them, and their squares are not.
                for gradient in held:
                    gradient.mul_(1e30 if gradient.dtype == torch.float32 else 1e200)
            if found == LARGEST:
                # Finite, all of them, and the sum of two is not.
                for gradient in held:
                    gradient.view(-1)[:2] = 0.75 * torch.finfo(gradient.dtype).max
            for at, value in enumerate(_BAD.get(found, ())):
                # Now in the first parameter, now in the last, and not at one end of it alone.
                held[0 if found in ("nan", "-inf") else -1].view(-1)[at if found in ("inf", "both") else -1] = value

    def _do(self, scaler: Any, number: int, place: int, call: str, one: Round) -> bool:
        """Make one call; False where the scaler refused one that is in order: what comes after it means nothing."""
        word, _, which = call.partition(" ")
        refused = call.endswith("!")
        word, which = word.rstrip("!"), which.rstrip("!")
        at = int(which or 0)
        params = [p for p in self.models[at].parameters() if p.grad is not None]
        match word:
            case "clip":
                nn.utils.clip_grad_norm_(params, 0.25)
            case "mend":
                for p in params:
                    p.grad = torch.nan_to_num(p.grad, 0.0, 0.0, 0.0)  # type: ignore[arg-type]
            case "drop":
                for p in params:
                    p.grad = None
            case _:
                if not self._call(scaler, number, place, word, at, refused):
                    return False
                if word == "update":
                    self._note_scale(scaler)
                elif self._found(one)[at] in (FINITE, HUGE, LARGEST):
                    held = [p.grad.detach().flatten() for p in self.models[at].parameters() if p.grad is not None]
                    name = f"round {number}, after {word}({_optimizer(at)})"
                    self._gradients[name] = torch.cat(held) if held else None
        return True

    def _call(self, scaler: Any, number: int, place: int, word: str, at: int, refused: bool) -> bool:
        arguments = () if word == "update" else (self.optimizers[at],)
        try:
            result = getattr(scaler, word)(*arguments)
        except Exception as error:
            if not refused:
                where = f"round {number}: {word}({'' if word == 'update' else _optimizer(at)})"
                if isinstance(error, RuntimeError) and _raised_by_hand(error):
                    self._in_order = f"{where} raised RuntimeError: {error}".rstrip(": ")
                    return False
                _say_where(error, f"in {where}")
                raise
            self._refused[f"round {number}, call {place + 1}, {word}"] = (
                "RuntimeError" if isinstance(error, RuntimeError) else type(error).__name__
            )
        else:
            if refused:
                self._refused[f"round {number}, call {place + 1}, {word}"] = "nothing"
            if result is ...:
                self._unwritten.append(word)
        return True

    def _note_scale(self, scaler: Any) -> None:
        scale = scaler.get_scale()
        if scale is ...:
            self._unwritten.append("get_scale")
        if isinstance(scale, float):
            self._scales.append(scale)
        elif scale is not ...:
            self._returned["get_scale()"] = _kind(scale)

    def facts(self) -> dict[str, object]:
        several = len(self.models) > 1
        moved = {
            (f"model {at}.{name}" if several else name): p.detach() - self._before[at][name]
            for at, model in enumerate(self.models)
            for name, p in model.named_parameters()
        }
        return {
            UNWRITTEN: ", ".join(dict.fromkeys(self._unwritten)) or "none",
            RETURNED: self._returned,
            IN_ORDER: self._in_order.split(" raised")[0],
            SAID: self._in_order,
            REFUSED: self._refused,
            STEPS: self._steps,
            SCALES: torch.tensor(self._scales, dtype=torch.float64),
            SCALED: torch.tensor(self._scaled, dtype=torch.float64),
            GRADIENTS: self._gradients,
            UPDATE: moved,
            USED: self.own.used,
        }


def _raised_by_hand(error: Exception) -> bool:
    """Whether a `raise` of somebody's code, and no library, brought an exception about."""
    frames = traceback.extract_tb(error.__traceback__)
    return re.match(r"(if .*:\s*)?raise\b", (frames[-1].line or "").strip()) is not None


def _say_where(error: Exception, where: str) -> None:
    """Add to the message of a learner's own exception, where it is a text, in which call of the script it came."""
    if isinstance(error, RuntimeError | ValueError | AssertionError) and len(error.args) < 2:
        error.args = (" ".join([*map(str, error.args), f"[{where}]"]),)


def _times(count: int) -> str:
    return {0: "not taken", 1: "taken"}.get(count, f"taken {count} times")


def _optimizer(at: int) -> str:
    return "optimizer" if at == 0 else f"optimizer {at}"


def _kind(value: object) -> str:
    if value is ...:
        return "..."
    if isinstance(value, torch.Tensor):
        return "a tensor without a graph" if not value.requires_grad else f"a tensor of shape {tuple(value.shape)}"
    return "None" if value is None else f"a {type(value).__name__}"


# ------------------------------------------------------------------ the cases


def _drawn(chance: Random, rounds: int, optimizers: int) -> list[Round]:
    """Rounds of any kind: overflows, clips and calls out of order among them."""
    found = []
    for _ in range(rounds):
        kinds = [chance.choice([FINITE] * 5 + list(_BAD)) for _ in range(optimizers)]
        calls = []
        for at in chance.sample(range(optimizers), optimizers):
            if optimizers > 1 and chance.random() < 0.2 and "absent" not in kinds:
                kinds[at] = "absent"
                continue
            name = f" {at}"
            if chance.random() < 0.6:
                calls.append("unscale_" + name)
                calls += [f"unscale_{name}!"] if chance.random() < 0.2 else []
                calls += [chance.choice(["clip", "mend"]) + name] if chance.random() < 0.5 else []
            calls.append("step" + name)
            calls += [chance.choice(["unscale_", "step"]) + name + "!"] if chance.random() < 0.2 else []
        found.append(a_round(*calls, "update", found=kinds, losses=chance.choice([1, 1, 2])))
    return found


def _cases(seed: int) -> list[Case]:
    chance = Random(seed)
    plain, looked = ("step", "update"), ("unscale_", "clip", "step", "update")

    def row(name: str, *rounds: Round, models: Sequence[str] = ("linear",), **rest: Any) -> tuple[str, dict[str, Any]]:
        spec: dict[str, Any] = {"optimizer": "SGD", "n": 4, "growth": 2.0, "backoff": 0.5, "interval": 100}
        return name, {**spec, "init": 1024.0, "models": list(models), "rounds": list(rounds), **rest}

    two = ("linear", "linear")
    both = ("step 0", "step 1", "update")
    return cases(
        seed,
        [
            row("one round, all finite", a_round(*plain)),
            row("unscale_() and a clip before the step", a_round(*looked)),
            row("an infinite entry", a_round(*plain, found="inf")),
            row("a NaN entry, and then a finite round", a_round(*plain, found="nan"), a_round(*plain)),
            row("four finite rounds, growth_interval 2", *[a_round(*plain)] * 4, interval=2),
            row(
                "an overflow between finite rounds, growth_interval 3",
                *[a_round(*plain, found=kind) for kind in (FINITE, FINITE, "-inf", FINITE, FINITE, FINITE)],
                interval=3,
            ),
            row(
                "other factors than 2 and 1/2, and a large scale",
                *[a_round(*looked, found=kind) for kind in (FINITE, "both", FINITE, "inf", FINITE)],
                init=2.0**15,
                interval=1,
                growth=3.0,
                backoff=0.25,
            ),
            row("a scale of 1 that becomes smaller", a_round(*plain, found="-inf"), a_round(*plain), init=1.0),
            row("float32, gradients that are huge and finite", a_round(*plain, found=HUGE), dtype="float32"),
            row("float32, gradients near the largest number", a_round(*plain, found=LARGEST), dtype="float32"),
            row(
                ".grad is changed between unscale_() and step()",
                a_round("unscale_", "mend", "step", "update", found="nan"),
                a_round("unscale_", "drop", "step", "update", found="inf"),
                a_round("unscale_", "drop", "step", "update"),
            ),
            row(
                "unscale_() twice, and then the round goes on",
                a_round("unscale_", "unscale_!", "clip", "step", "update"),
                a_round("unscale_", "unscale_!", "step", "update", found="inf"),
                a_round(*looked),
            ),
            row(
                "unscale_() or step() after step()",
                a_round("step", "unscale_!", "update"),
                a_round("unscale_", "step", "unscale_!", "step!", "update"),
                a_round("step", "step!", "update", found="inf"),
                a_round(*plain),
            ),
            row(
                "momentum: skipped steps leave no trace",
                *[a_round(*plain, found=kind) for kind in (FINITE, "inf", "nan", FINITE)],
                optimizer="momentum",
                stepped=2,
            ),
            row(
                "two groups of parameters, several losses in a round",
                a_round(*looked, losses=3),
                a_round(*plain, losses=2, found="inf"),
                optimizer="groups",
                models=["mlp"],
            ),
            row("parameters without a gradient", a_round(*looked), a_round(*plain, found="inf"), models=["unused"]),
            row(
                "two optimizers, one overflows",
                a_round(*both, found=["inf", FINITE]),
                a_round("unscale_ 0", "unscale_ 1", *both, found=[FINITE, "nan"]),
                a_round(*both, found=["nan", "-inf"]),
                a_round(*both),
                models=two,
            ),
            row("two optimizers, growth_interval 2", *[a_round(*both)] * 4, models=two, interval=2),
            row(
                "two optimizers, one at a time",
                a_round("step 0", "update", found=[FINITE, "absent"]),
                a_round("unscale_ 1", "step 1", "update", found=["absent", "inf"]),
                a_round("unscale_ 1", "step 1", "step 0", "update"),
                models=two,
                optimizer="Adam",
            ),
            row(
                "unscaled and not stepped",
                a_round("unscale_ 0", "step 1", "update", found=["inf", FINITE]),
                a_round("unscale_ 0", "step 1", "update"),
                a_round(*both),
                models=two,
                interval=2,
            ),
            row("ten rounds of all kinds", *_drawn(chance, 10, 1), interval=2, optimizer="Adam"),
            row(
                "eight rounds with two optimizers, float32",
                *_drawn(chance, 8, 2),
                models=two,
                interval=2,
                growth=4.0,
                dtype="float32",
                optimizer="momentum",
            ),
        ],
    )


def _arrange(case: Case) -> Arrangement:
    script = _Script(case)
    watch: dict[str, object] = {f"model {at}": model for at, model in enumerate(script.models)}
    return Arrangement((), watch=watch, call=script, within=(script.own,), facts=lambda _: script.facts())


def _overflows(spec: Spec) -> bool:
    return any(kind in _BAD for one in spec["rounds"] for kind in one["found"])


def _finds(spec: Spec, found: str) -> bool:
    return any(found in one["found"] for one in spec["rounds"])


def _calls(word: str) -> Any:
    return lambda spec: any(call.startswith(word) for one in spec["rounds"] for call in one["calls"])


EXERCISE = Exercise(
    id="7.2",
    name="LossScaler",
    title="The scaler as a state machine",
    difficulty=4,
    minutes=30,
    goal=(
        "Write the class `LossScaler(init_scale, growth_factor, backoff_factor, growth_interval)`: the same scales, "
        "skipped steps and parameters as with `torch.amp.GradScaler`. What happens from one `update()` to the next is "
        "called a *round*.\n\n"
        "- `scale(loss)` returns the loss times the scale, with its graph. It may be called several times in a round.\n"
        "- `unscale_(optimizer)` divides each `.grad` of the optimizer's parameters by the scale, where there is one, "
        "and finds out whether every entry is finite: neither infinite nor NaN.\n"
        "- `step(optimizer)` does the same first, unless `unscale_` has done it in this round. If every entry was "
        "finite then, it calls `optimizer.step()`; else it does not. The caller may change `.grad` between `unscale_` "
        "and `step`, clip it or clear it: what was found before counts.\n"
        "- `update()` ends the round. If anything was found in it that is not finite, in any optimizer, stepped or not, "
        "the scale is multiplied by `backoff_factor`, and counting begins anew. Else the round counts as a good one; "
        "after `growth_interval` good ones in a row the scale is multiplied by `growth_factor`, and counting begins "
        "anew.\n"
        "- `get_scale()` returns the scale as a Python float. Whether you keep it as one or in float32 does not matter.\n\n"
        "Only the optimizer in whose gradients it was found is skipped. A round may have several optimizers, each with "
        "parameters of its own, and not always the same ones.\n\n"
        "For one optimizer in one round these are out of order: "
        "`unscale_` after `unscale_`, `unscale_` after `step`, `step` after `step`. Each raises `RuntimeError` and "
        "changes nothing, and the round goes on. Every round unscales at least one optimizer, and "
        "each that is unscaled has a gradient somewhere.\n\n"
        "Clearing is the caller's: after `step`, too, `.grad` holds the "
        "unscaled gradient. "
        "Unscaling in place and putting new tensors into `.grad` are both right, and what `.grad` holds where something "
        "was not finite does not matter, nor what `unscale_`, `step` and `update` return. Losses and parameters are "
        "float32 or float64, and the scale stays far from the ends of float32."
    ),
    cases=_cases,
    arrange=_arrange,
    may_change=frozenset({"grad", "parameters"}),
    rules=("Write it yourself: no `GradScaler` of torch inside, and no subclass of one.",),
    hints=(
        "What must be remembered from call to call? Two things live as long as the scaler, and two are kept for each "
        "optimizer and forgotten at the end of a round.",
        "For each optimizer a round has three states: nothing done yet, unscaled, stepped. Which calls does each state "
        "allow? `step` in the first state is `unscale_` and then `step` in the second.",
        "`unscale_` is the place to look at the entries, and what it finds is kept under the optimizer: a dict does it. "
        "`step` asks for what was kept and not for what `.grad` holds now.",
        "`update` asks whether any of the kept findings is bad. If so: back off, count 0. If not: count one more, and "
        "when the count has reached the interval, grow and set it to 0. Then it forgets all optimizers.",
    ),
    properties=(
        ("calls are made out of order", lambda spec: any("!" in call for r in spec["rounds"] for call in r["calls"])),
        ("no call is out of order", lambda spec: not any("!" in call for r in spec["rounds"] for call in r["calls"])),
        ("there are two optimizers", lambda spec: len(spec["models"]) > 1),
        ("gradients that are finite are huge", lambda spec: _finds(spec, HUGE) or _finds(spec, LARGEST)),
        ("gradients that are finite are near the largest number", lambda spec: _finds(spec, LARGEST)),
        (".grad is changed between unscale_() and step()", lambda spec: _calls("mend")(spec) or _calls("drop")(spec)),
        ("the scale grows", lambda spec: spec["interval"] < len(spec["rounds"])),
        ("something is found that is not finite", _overflows),
        ("everything is finite", lambda spec: not _overflows(spec)),
        ("unscale_() is called by the caller", _calls("unscale_")),
        ("unscale_() is never called by the caller", lambda spec: not _calls("unscale_")(spec)),
        ("there is one round", lambda spec: len(spec["rounds"]) == 1),
        ("there are several rounds", lambda spec: len(spec["rounds"]) > 1),
        ("the model has a layer that it does not use", lambda spec: "unused" in spec["models"]),
        ("there are two groups of parameters", lambda spec: spec["optimizer"] == "groups"),
    ),
    telling={SAID: "a call was refused that is in order: {given}"},
    quantities={
        "init_scale": lambda spec: spec["init"],
        "backoff_factor": lambda spec: spec["backoff"],
        "growth_factor": lambda spec: spec["growth"],
    },
)
