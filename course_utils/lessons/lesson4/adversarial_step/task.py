"""Exercise 4.5: two networks, two optimizers, and nothing that leaks from one to the other."""

from __future__ import annotations

from typing import Any

import torch
from torch import nn

from course_utils.exercise import Arrangement, Case, Exercise
from course_utils.lessons.inputs import Draw, cases, mean_square_error, without_global_draws
from course_utils.lessons.lesson4.steps import LEFT, STEPS, StepWatch
from course_utils.lessons.training import optimizer_of

OF_GENERATOR, OF_DISCRIMINATOR = "the generator's update", "the discriminator's update"
G_STEPS, D_STEPS = "calls of g_optimizer.step", "calls of d_optimizer.step"
G_LEFT, D_LEFT = ".grad of the generator after the call", ".grad of the discriminator after the call"

_LOSSES = {"logits": nn.functional.binary_cross_entropy_with_logits, "squared error": mean_square_error}


def _cases(seed: int) -> list[Case]:
    def row(name: str, real: int, noise: int, optimizers: tuple[str, str] = ("SGD", "SGD"), **rest: Any) -> Any:
        g_optimizer, d_optimizer = optimizers
        spec = {"real": real, "noise": noise, "g_optimizer": g_optimizer, "d_optimizer": d_optimizer, "loss": "logits"}
        return name, {**spec, **rest}

    return cases(
        seed,
        [
            row("four real rows and four of noise", 4, 4),
            row("more rows of noise than real ones", 3, 5),
            row(".grad of both holds earlier gradients", 4, 4, earlier="both"),
            row(".grad of the generator holds earlier gradients", 4, 4, earlier="generator"),
            row(".grad of the discriminator holds earlier gradients", 4, 4, earlier="discriminator"),
            row("one row of each", 1, 1, loss="squared error"),
            row("momentum for both, after a step", 3, 3, ("momentum", "momentum"), stepped=1),
            row("Adam for both, after two steps", 4, 4, ("Adam", "Adam"), stepped=2, earlier="both"),
            row("a loss_fn that is the squared error", 4, 2, loss="squared error"),
            row("a frozen layer in the discriminator", 4, 3, frozen="discriminator", earlier="generator"),
            row("a frozen layer in the generator", 3, 3, ("SGD", "decay"), frozen="generator"),
            row(
                "a frozen layer in each network holds a gradient",
                3,
                4,
                frozen="both",
                frozen_holds=True,
                earlier="both",
            ),
            row("networks that behave otherwise in train mode, in which they are", 4, 3, moded=True, earlier="both"),
            row("the same networks in eval mode", 3, 4, moded=True, eval=True),
            row("float32, Adam and SGD", 5, 4, ("Adam", "SGD"), stepped=1, earlier="both", dtype="float32"),
        ],
    )


class _Moded(nn.Tanh):
    """Something else in train mode than in eval mode, as dropout is, without a draw."""

    def forward(self, input: torch.Tensor) -> torch.Tensor:
        given = super().forward(input)
        return 2 * given.roll(1, dims=-1) if self.training else given


def _network(draw: Draw, case: Case, *sizes: int) -> nn.Module:
    first, hidden, last = sizes
    middle = _Moded if "moded" in case.spec else nn.Tanh
    build = lambda: nn.Sequential(nn.Linear(first, hidden), middle(), nn.Linear(hidden, last))  # noqa: E731
    return draw.fill(without_global_draws(build), scale=0.8).train("eval" not in case.spec)


def _optimizer(case: Case, model: nn.Module, name: str) -> torch.optim.Optimizer:
    return optimizer_of(Case(case.name, {**case.spec, "optimizer": name, "lr": 0.1}), model)


def _arrange(case: Case) -> Arrangement:
    draw, spec = Draw(case), case.spec
    networks = {"generator": _network(draw, case, 2, 4, 3), "discriminator": _network(draw, case, 3, 4, 1)}
    for name, network in networks.items():
        if spec.get("frozen") in ("both", name):
            network[0].requires_grad_(False)  # type: ignore[index, operator]
        if spec.get("earlier") in ("both", name):
            for parameter in network.parameters():
                if parameter.requires_grad or "frozen_holds" in spec:
                    parameter.grad = draw.normal(*parameter.shape)
    generator, discriminator = networks.values()
    g_optimizer = _optimizer(case, generator, spec["g_optimizer"])
    d_optimizer = _optimizer(case, discriminator, spec["d_optimizer"])
    real, noise = draw.normal(spec["real"], 3), draw.normal(spec["noise"], 2)
    of_g, of_d = StepWatch(generator, g_optimizer), StepWatch(discriminator, d_optimizer)

    def facts(_: object) -> dict[str, object]:
        g, d = of_g.facts(), of_d.facts()
        return {
            OF_DISCRIMINATOR: of_d.update(),
            OF_GENERATOR: of_g.update(),
            G_STEPS: g[STEPS],
            D_STEPS: d[STEPS],
            G_LEFT: g[LEFT],
            D_LEFT: d[LEFT],
        }

    return Arrangement(
        (generator, discriminator, g_optimizer, d_optimizer, _LOSSES[spec["loss"]], real, noise),
        watch={"generator": generator, "discriminator": discriminator, "real": real, "noise": noise},
        facts=facts,
    )


EXERCISE = Exercise(
    id="4.5",
    name="adversarial_step",
    title="Two optimizers, one step each",
    difficulty=4,
    minutes=20,
    goal=(
        "Write `adversarial_step(generator, discriminator, g_optimizer, d_optimizer, loss_fn, real, noise)`. "
        "`generator(noise)` makes fake rows that look like those of `real`, perhaps another number of them; "
        "`discriminator(rows)` returns logits of shape `(rows, 1)`. `loss_fn(logits, labels)` is a mean over its rows, "
        "and `labels` has the shape of `logits`. First the discriminator takes one step. Its loss is the sum of "
        "two: `loss_fn` of the real rows with labels 1, and of the fake rows with labels 0. Then the generator takes "
        "one step. Its loss is `loss_fn` of the fake rows with labels 1, where the **updated** discriminator judges "
        "them. Each step uses the gradient of its own loss and nothing else: neither the other loss's nor what `.grad` "
        "held before the call, any finite numbers. Each optimizer holds all parameters of its network, "
        "not all of them frozen. Each network moves in its own step alone. A frozen parameter does not move; where one holds a gradient, the optimizers are plain "
        "SGD. The networks may run as often as you like: none draws random "
        "numbers or keeps statistics. Return `(d_loss, g_loss)`, the two losses before their steps, "
        "as Python floats. What `.grad` holds afterwards does not matter; modes and `requires_grad` stay as they were."
    ),
    cases=_cases,
    arrange=_arrange,
    may_change=frozenset({"grad", "parameters"}),
    hints=(
        "Write down, for each of the two backward calls, which parameters its loss is made of. Whose .grad does it "
        "write into?",
        "The discriminator's loss is made of the fake rows, and those of the generator's parameters. The generator's "
        "loss passes through the discriminator. Which of the two ways may you cut, and which not?",
        "In the first half, detach the fake rows, so that backward stops there. In the second half nothing may be cut: "
        "the generator learns through the discriminator. What backward leaves in the discriminator's .grad then must "
        "be gone before its next step.",
        "Clear each optimizer's gradients right before the backward of its own loss. Ask the discriminator about the "
        "fake rows a second time, after its step.",
    ),
    properties=(
        ("there are more rows of noise than real ones", lambda spec: spec["real"] < spec["noise"]),
        ("there are fewer rows of noise than real ones", lambda spec: spec["real"] > spec["noise"]),
        ("the numbers of rows differ", lambda spec: spec["real"] != spec["noise"]),
        ("the numbers of rows are equal", lambda spec: spec["real"] == spec["noise"]),
        (".grad was None before", lambda spec: "earlier" not in spec),
        (".grad of the generator holds earlier gradients", lambda spec: spec.get("earlier") in ("both", "generator")),
        (
            ".grad of the discriminator holds earlier gradients",
            lambda spec: spec.get("earlier") in ("both", "discriminator"),
        ),
        ("frozen layers hold gradients", lambda spec: "frozen_holds" in spec),
        ("a layer is frozen", lambda spec: "frozen" in spec),
        ("a layer of the generator is frozen", lambda spec: spec.get("frozen") == "generator"),
        ("the optimizers have steps behind them", lambda spec: "stepped" in spec),
        ("loss_fn is the squared error", lambda spec: spec["loss"] == "squared error"),
        ("the networks are in eval mode", lambda spec: "eval" in spec),
        ("the networks behave otherwise in train mode than in eval mode", lambda spec: "moded" in spec),
        ("the networks are float32", lambda spec: spec.get("dtype") == "float32"),
    ),
    telling={
        G_STEPS: "`g_optimizer.step()` was called so often: {given}; asked is {right}.",
        D_STEPS: "`d_optimizer.step()` was called so often: {given}; asked is {right}.",
    },
    quantities={
        "the number of real rows": lambda spec: spec["real"],
        "the number of fake rows": lambda spec: spec["noise"],
    },
)
