"""Exercise 7.7: a mixed-precision training run that can be killed and goes on to the very same end."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from typing import Any

import numpy
import torch
from torch import nn

from course_utils.checks.observe.ledger import findings_of
from course_utils.checks.observe.steps import Steps
from course_utils.exercise import Arrangement, Case, Exercise
from course_utils.lessons.inputs import Draw, cases, without_global_draws
from course_utils.lessons.lesson4.steps import UPDATE
from course_utils.lessons.lesson7.kills import FORWARD, Files, Folder, Moment, a_folder
from course_utils.lessons.training import Batch
from gradient_ledger import GradientLedger

FORWARDS = "forward passes"
DTYPE = "dtype of the logits"
WRITTEN = "whether files were written without a checkpoint"
ENDED = "how the run ended that was killed"
DRIFT = "where it ended, minus where it should have"
AGAIN = "micro-batches of saved windows that ran again"
FINISHED = "forward passes when the finished run was called again"
KEPT = "whether the model then holds the trained weights"
SEEDED = "whether another seed draws otherwise"
DRAWN = "whether dropout dropped other values in every micro-batch"
State = Mapping[str, torch.Tensor]
Run = Callable[[nn.Module, Mapping[str, Any]], object]
"""The attempt, from a model and a config, with the batches of the case and in its folder."""
CLASSES = 3
WHILE_SAVED = "killed while window {} was saved"


class _Model(nn.Module):
    """Layers whose forward passes are noted, in front of each, in a folder."""

    def __init__(self, layers: nn.Module) -> None:
        super().__init__()
        self.layers = layers
        self.folder: Folder | None = None
        self.forwards = 0
        self.dtypes: set[str] = set()

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        if self.folder is not None:
            self.folder.forward()
        self.forwards += 1
        logits: torch.Tensor = self.layers(x)
        self.dtypes.add(str(logits.dtype).removeprefix("torch."))
        return logits

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "folder": None}  # whoever saves the whole model saves no folder with it


class _Dropout(nn.Dropout):
    """Dropout that notes what it has dropped."""

    def __init__(self, p: float) -> None:
        super().__init__(p)
        self.dropped: list[bytes] = []

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        found: torch.Tensor = super().forward(x)
        self.dropped.append((found == 0).numpy().tobytes())
        return found


def _dropped(model: nn.Module) -> list[bytes]:
    """What was dropped in each forward pass so far."""
    return [one for module in model.modules() if isinstance(module, _Dropout) for one in module.dropped]


def _layers(kind: str) -> nn.Module:
    match kind:
        case "mlp" | "frozen":
            return nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, CLASSES))
        case "norm":
            # Without a bias, whose gradient would be nothing but rounding: batch norm takes the mean off.
            first = nn.Linear(3, 4, bias=False)
            return nn.Sequential(first, nn.BatchNorm1d(4), nn.Tanh(), nn.Linear(4, CLASSES))
        case "dropout":
            return nn.Sequential(nn.Linear(3, 8), nn.Tanh(), _Dropout(0.5), nn.Linear(8, CLASSES))
        case "hot":
            return nn.Linear(3, CLASSES)
    raise ValueError(f"unknown model {kind!r}")


def _model(case: Case) -> _Model:
    """The model of a case, as a new process would build it."""
    draw, kind = Draw(case), case.spec["model"]
    model = _Model(draw.fill(without_global_draws(lambda: _layers(kind))))
    if kind == "frozen":
        model.layers[0].weight.requires_grad_(False)  # type: ignore[index, union-attr]
    if kind == "hot":
        # The first class is certain for inputs that are large and positive, whatever a few steps change.
        with torch.no_grad():
            model.layers.weight.mul_(0.2).add_(torch.tensor([[2.0], [-2.0], [-2.0]]))  # type: ignore[union-attr, operator]
    if case.spec.get("earlier"):
        for p in model.parameters():
            p.grad = draw.normal(*p.shape)
    return model.train(not case.spec.get("eval", False))


_HOT = 1.41
"""An input whose gradient overflows float16 at a scale of 65536 and does not at 32768."""


def _batches(case: Case) -> list[Batch]:
    draw = Draw(Case(case.name, {**case.spec, "seed": case.spec["seed"] + 500}))
    found = []
    for number in range(case.spec["batches"]):
        x, y = draw.normal(4, 3, scale=0.5), (draw.normal(4).abs() * 10).long() % CLASSES
        if case.spec["model"] == "hot" and number == 0:
            x, y = torch.full_like(x, _HOT), torch.ones_like(y)
        if number == case.spec.get("infinite"):
            x[0, 0] = float("inf")
        found.append((x, y))
    return found


# ------------------------------------------------------------------ cases


def _cases(seed: int) -> list[Case]:
    def row(name: str, window: int, steps: int, batches: int, **rest: Any) -> tuple[str, dict[str, Any]]:
        spec = {"model": "mlp", "window": window, "steps": steps, "batches": batches, "lr": 0.2, "max_norm": 100.0}
        return name, {**spec, **rest}

    return cases(
        seed,
        [
            row("no checkpoint, two windows of two", 2, 2, 4),
            row(
                "no checkpoint, eval mode, a window that is not finite, clipped",
                2,
                2,
                4,
                model="norm",
                eval=True,
                infinite=1,
                max_norm=0.2,
            ),
            row("no checkpoint, float32", 2, 3, 6, dtype="float32", max_norm=0.5, lr=1.0, ledger=True),
            row(
                "killed in window 2, and a frozen weight",
                1,
                3,
                2,
                model="frozen",
                earlier=True,
                kills=[2],
                max_norm=0.2,
                end=True,
            ),
            row("killed while window 1 is saved", 1, 3, 2, saves=[1]),
            row("batch norm, killed in window 1", 1, 2, 2, model="norm", kills=[1]),
            row("float32, the scale has fallen, killed in window 1", 1, 3, 2, model="hot", dtype="float32", kills=[1]),
            row("dropout, killed in window 0 and in window 1", 2, 2, 4, model="dropout", kills=[0, 2]),
        ],
    )


def _killed(spec: Mapping[str, Any], moments: Sequence[Moment]) -> list[tuple[str, int, Moment]]:
    """(words, saved windows, moment) of each kill of a case."""
    window, found = spec["window"], []
    for number in spec.get("kills", ()):
        words = f"killed in window {number // window}, before micro-batch {number % window}"
        # The last one: what was written after a forward pass, and before this one, is there.
        found += [(words, number // window, one) for one in moments if one.what == FORWARD and one.forwards == number]
    for number in spec.get("saves", ()):
        states: list[Moment] = []
        for one in moments:
            if one.what != FORWARD and one.forwards == (number + 1) * window:
                states.append(one)
        # Whoever writes past our taps is asked for what stands there afterwards.
        states += [one for one in moments if one.what == FORWARD and one.forwards == (number + 1) * window]
        different = [
            one for place, one in enumerate(states) if all(one.files != other.files for other in states[:place])
        ]
        found += [(f"{WHILE_SAVED.format(number)}, before {one.what}", number, one) for one in different]
    return found


class _Runs:
    """Calls the attempt, and again as after each kill of a case: with the files of that moment, and a new model."""

    def __init__(self, case: Case) -> None:
        self._case = case
        self.model, self.batches = _model(case), _batches(case)
        spec = case.spec
        self._config = {name: spec[name] for name in ("lr", "window", "max_norm", "steps")}
        self._config["seed"] = spec["seed"] % 1000
        self._saving = bool(spec.get("kills") or spec.get("saves"))
        self._draws = spec["model"] == "dropout"
        self.facts: dict[str, Any] = {}

    def __call__(self, attempt: Any) -> object:
        with a_folder() as path, _own_random_state():
            folder = Folder(path, anywhere=not self._saving)
            checkpoint = (path / "run.pt",) if self._saving else ()

            def run(model: nn.Module, config: Mapping[str, Any]) -> object:
                return attempt(model, list(self.batches), dict(config), *checkpoint)

            if self._first(run, folder) is ...:
                return ...
            if self._saving:
                self._after_kills(run, folder)
            else:
                self.facts[WRITTEN] = any(one.what != FORWARD for one in folder.moments)
            return None

    def _first(self, run: Run, folder: Folder) -> object:
        """The run that nothing kills: what it does, and where it ends."""
        spec, model = self._case.spec, self.model
        before = _state(model)
        ledger, steps = GradientLedger(model), Steps({"model": model})
        with ExitStack() as stack:
            if not self._saving or spec.get("saves"):
                stack.enter_context(folder.noting())
            if spec.get("ledger"):
                stack.enter_context(ledger)
            stack.enter_context(steps)
            model.folder = folder
            result = run(model, self._config)
            model.folder = None
        self.facts |= {FORWARDS: model.forwards, DTYPE: sorted(model.dtypes)}
        if spec.get("ledger"):
            self.facts |= findings_of(ledger)
        if not self._draws:  # each draws in its own way
            moved = {name: p.detach() - before[name] for name, p in model.named_parameters()}
            self.facts |= {UPDATE: moved, **steps.found()}
        return result

    def _after_kills(self, run: Run, folder: Folder) -> None:
        """What the checkpoints are good for: the run goes on from each, is called when it is finished, or begins anew."""
        spec, config = self._case.spec, self._config
        end, dropped, finished = _state(self.model), _dropped(self.model), folder.files()

        def again(files: Files, config: Mapping[str, Any] = config) -> tuple[State, int]:
            # As in another process: the files alone are as they were.
            folder.put(files)
            torch.default_generator.manual_seed(8_191)
            other = _model(self._case)
            run(other, config)
            return _state(other), other.forwards

        ended: dict[str, str] = {}
        ran_again: dict[str, int] = {}
        drift: dict[str, torch.Tensor] = {}
        for words, saved, moment in _killed(spec, folder.moments):
            try:
                state, forwards = again(moment.files)
            except Exception:
                if "while" not in words:
                    raise
                state, forwards = end, 0
                ended[words] = UNREADABLE
            ended.setdefault(words, _compared(state, end))
            ran_again[words] = max(0, forwards - (spec["steps"] - saved) * spec["window"])
            drift[words] = _drift(state, end)
        self.facts |= {ENDED: ended, AGAIN: ran_again}
        if not self._draws:
            self.facts[DRIFT] = drift
        if spec.get("end"):
            state, forwards = again(finished)
            self.facts[KEPT] = _compared(state, end)
            # And once more: the call before may have taken the checkpoint away.
            self.facts[FINISHED] = forwards or again(folder.files())[1]
        if self._draws:
            self.facts[DRAWN] = len(set(dropped)) == len(dropped)
            self.facts[SEEDED] = _compared(again({}, {**config, "seed": config["seed"] + 1})[0], end) != _SAME


def _arrange(case: Case) -> Arrangement:
    runs = _Runs(case)
    return Arrangement((), watch={"model": runs.model, "batches": runs.batches}, call=runs, facts=lambda _: runs.facts)


_SAME = "with the same bits"
OTHER = "with other bits"
UNREADABLE = "with an exception in the call that should have gone on"


@contextmanager
def _own_random_state() -> Iterator[None]:
    """Whatever is seeded or drawn in the block, the global generators are as before it afterwards."""
    before = torch.get_rng_state(), random.getstate(), numpy.random.get_state()
    try:
        yield
    finally:
        torch.set_rng_state(before[0])
        random.setstate(before[1])
        numpy.random.set_state(before[2])


def _state(model: nn.Module) -> State:
    return {name: value.detach().clone() for name, value in model.state_dict().items()}


def _compared(given: State, wanted: State) -> str:
    same = all(torch.equal(given[name].nan_to_num(7.0), value.nan_to_num(7.0)) for name, value in wanted.items())
    return _SAME if same else OTHER


def _drift(given: State, wanted: State) -> torch.Tensor:
    """All differences in one row."""
    return torch.cat([(given[name] - value).double().flatten() for name, value in wanted.items()])


EXERCISE = Exercise(
    id="7.7",
    name="train",
    title="A run that can be killed",
    difficulty=5,
    minutes=40,
    goal=(
        "Write `train(model, batches, config, checkpoint=None)`, the training run that puts this course together. "
        "`config` is a dict with `lr`, `window`, `max_norm`, `steps` and `seed`. The run has `steps` windows of "
        "`window` micro-batches. Micro-batch `j` of window `w`, both from 0, is `batches[(w * window + j) % "
        "len(batches)]`, a pair `(x, y)` of inputs and class numbers; all have equally many rows.\n\n**The step.** The loss is the mean "
        "cross-entropy of the logits `model(x)`, and the gradient of a window that of the mean over its samples. Each "
        "micro-batch goes forward once, under `torch.autocast` in float16, and its loss backward under a "
        "`torch.amp.GradScaler` with its default settings, both for the device of `x`. (A float64 model stays in float64 under "
        "autocast; that is all right.) Whether you divide the losses, or the gradient after unscaling, by `window` never decides here whether it is finite. The gradient is clipped to `max_norm` (2-norm, over all parameters), and the optimizer is `torch.optim.SGD(model.parameters(), lr, "
        "momentum=0.9)`. Step number `s` of the optimizer, from 0, has the learning rate `lr * (1 - s / steps)`. A "
        "window whose gradient is not finite is skipped, as the scaler does it: it counts among the `steps` windows, "
        "but the optimizer makes no step, the learning rate stays, and nothing of its gradient is left for the next window. "
        "Running statistics of batch norm move with every forward pass in train mode, those of a skipped window included.\n\n"
        "**Chance and mode.** What dropout draws depends on `config['seed']`, and not on the random state that the call finds, and it is "
        "something else in every micro-batch of the run; runs of two seeds may have draws in common. The model runs, and "
        "stays, in the mode in which it came, train or eval. `.grad` may hold anything when the function is called. The model is trained "
        "in place; what is returned, what `.grad` holds and the random state afterwards do not matter.\n\n"
        "**The checkpoint.** `checkpoint` is `None`, and then nothing is written, or a `pathlib.Path` in a folder of the run's own. Then "
        "the state of the run is saved there after every window, a skipped one too, and a call that finds a checkpoint "
        "goes on from it. What the file holds is up to you, and so are further files beside it. "
        "A checkpoint that is found is one of the same run.\n\n"
        "**The kill.** The run may be killed at any moment, as with "
        "`kill -9`: no `except` and no `finally` of it runs any more. (The machine itself stays up: what was written is "
        "written.) Called again, with a model built anew with the "
        "same first weights, it must end with the very same bits, in all that `model.state_dict()` holds, as if it had "
        "never been killed. No window that was saved runs again. Where the run was killed while it was saving, "
        "it goes on from the save before. A run that has come to its end trains nothing, however often it is called again, "
        "and the model then holds the trained weights. At the end of the lesson this cell becomes a program of its own: use "
        "no helper from another cell."
    ),
    cases=_cases,
    arrange=_arrange,
    may_change=frozenset({"grad", "parameters", "buffers"}),
    rules=(
        "A `GradientLedger` around the run finds no error in it. Only what no right loop does is an error; its warnings do "
        "not count.",
    ),
    hints=(
        "First without a checkpoint: the step of 7.3 in a loop over windows, with the micro-batches by their position. "
        "Which four objects remember something from one window to the next?",
        "Each of these four has a `state_dict()`. What else must a new process know to go on: how many windows are "
        "behind it, and what dropout draws next?",
        "Random numbers are easiest made a matter of position: a seed for each window, made of config['seed'] and the "
        "window's number, needs no saving.",
        "A file is there with all its bytes or not at all when it was written under another name, in the same folder, "
        "and then renamed: `os.replace` does that in one go.",
        "At the start: build the four, and where the checkpoint exists, load all four and the number of the next "
        "window. At the end of each window, after the schedule: save all of it beside, then replace.",
    ),
    properties=(
        ("there is no checkpoint", lambda spec: not spec.get("kills") and not spec.get("saves")),
        ("the run is killed and called again", lambda spec: bool(spec.get("kills") or spec.get("saves"))),
        ("the finished run is called again", lambda spec: spec.get("end", False)),
        ("the run is killed while it saves", lambda spec: bool(spec.get("saves"))),
        ("a window is not finite", lambda spec: "infinite" in spec),
        ("the gradient is clipped", lambda spec: spec["max_norm"] < 1),
        (".grad holds earlier gradients", lambda spec: spec.get("earlier", False)),
        ("the model has dropout", lambda spec: spec["model"] == "dropout"),
        ("the model has batch norm", lambda spec: spec["model"] == "norm"),
        ("the model is in eval mode", lambda spec: spec.get("eval", False)),
        ("a parameter is frozen", lambda spec: spec["model"] == "frozen"),
        ("the model is float32", lambda spec: spec.get("dtype") == "float32"),
    ),
    telling={FORWARDS: "the first run, which nothing killed, made {given} forward passes; asked are {right}."},
    quantities={
        "the number of micro-batches in a window": lambda spec: spec["window"],
        "the number of windows": lambda spec: spec["steps"],
    },
)
