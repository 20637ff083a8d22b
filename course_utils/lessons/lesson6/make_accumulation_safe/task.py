"""Exercise 6.6: change a model so that accumulated gradients are those of the whole batch, batch norm or not."""

from __future__ import annotations

import random
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import cycle
from typing import Any

import torch
from torch import nn

from course_utils.exercise import Arrangement, Case, Exercise
from course_utils.lessons.inputs import Draw, cases, mean_square_error, without_global_draws

BATCH_NORMS = (nn.BatchNorm1d, nn.BatchNorm2d, nn.BatchNorm3d)
GRADIENTS = "accumulated gradients, in micro-batches of"
OF_THE_WHOLE, OTHERS = "those of the whole batch", "others"
DISTANCE = "largest relative distance of accumulated gradients from those of the whole batch"
PASSES = "the model afterwards"
SHAPES = "shape of the predictions in"
DEAD = "parameters that no longer get a gradient"
LOST = "layers and parameters that are gone from the model"
CHANGED_LAYERS = "layers with other settings"
MODES = "layers that do not follow"
LEFT_MODE = "modes after the call that are other than before"
NORMS_LEFT = "batch norm in the model after the call"
NORM_MODES = "modes of batch norm after the call"
ACTIVE = "batch norm of before in train mode or without running statistics"
DOTTED = "names with a dot among the parts of the model itself"
RETURNED = "another module came back"
MIXES = "the first layer in which rows depend on each other"
NONE = "none"
LEAST: Mapping[torch.dtype, float] = {torch.float64: 1e-9, torch.float32: 1e-4}
"""By dtype: what is less than this, relative to the largest, is rounding."""


class _Residual(nn.Module):
    """A part with batch norm in a part of its own, and a parameter beside it."""

    def __init__(self) -> None:
        super().__init__()
        self.scale = nn.Parameter(torch.zeros(5))
        self.branch = nn.ModuleDict({"first": nn.Linear(5, 5), "norm": nn.BatchNorm1d(5)})

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        out: torch.Tensor = x * self.scale + torch.tanh(self.branch["norm"](self.branch["first"](x)))
        return out


class _Nested(nn.Module):
    """Parts inside of parts, with batch norm at every depth."""

    def __init__(self) -> None:
        super().__init__()
        self.inside = nn.BatchNorm1d(3)
        self.stem = nn.Linear(3, 5)
        self.parts = nn.ModuleList([_Residual(), nn.Sequential(nn.Linear(5, 4), nn.Sequential(nn.BatchNorm1d(4)))])
        self.head = nn.Linear(4, 2)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = self.stem(self.inside(x))
        for part in self.parts:
            x = part(x)
        out: torch.Tensor = self.head(torch.tanh(x))
        return out


class _Pooled(nn.Module):
    """The mean over all places of an image, right after batch norm."""

    def __init__(self) -> None:
        super().__init__()
        self.convolution = nn.Conv2d(1, 4, 2)
        self.norm = nn.BatchNorm2d(4)
        self.head = nn.Linear(4, 2)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        out: torch.Tensor = self.head(torch.tanh(self.norm(self.convolution(x)).mean((2, 3))))
        return out


def _build(kind: str) -> nn.Module:
    match kind:
        case "vectors":
            return nn.Sequential(nn.Linear(3, 6), nn.BatchNorm1d(6), nn.Tanh(), nn.Linear(6, 2))
        case "images":
            convolutions = nn.Sequential(nn.Conv2d(1, 4, 2), nn.BatchNorm2d(4), nn.Tanh())
            return nn.Sequential(convolutions, nn.Flatten(), nn.Linear(16, 2))
        case "pooled":
            return _Pooled()
        case "volumes":
            return nn.Sequential(nn.Conv3d(1, 3, 2), nn.BatchNorm3d(3), nn.Tanh(), nn.Flatten(), nn.Linear(12, 2))
        case "sequences":
            return nn.Sequential(nn.Conv1d(2, 3, 2), nn.BatchNorm1d(3), nn.Tanh(), nn.Flatten(), nn.Linear(12, 2))
        case "nested":
            return _Nested()
        case "dropout":
            hidden = nn.Sequential(nn.Dropout(0.25), nn.Linear(7, 4), nn.Tanh(), nn.Dropout(0.5))
            return nn.Sequential(nn.Linear(3, 7), nn.BatchNorm1d(7), hidden, nn.BatchNorm1d(4), nn.Linear(4, 2))
        case "no statistics":
            return nn.Sequential(
                nn.Linear(3, 6), nn.BatchNorm1d(6, track_running_stats=False), nn.Tanh(), nn.Linear(6, 2)
            )
        case "neither":
            return nn.Sequential(
                nn.Linear(3, 5), nn.BatchNorm1d(5, affine=False, track_running_stats=False), nn.Tanh(), nn.Linear(5, 2)
            )
        case "row by row":
            return nn.Sequential(nn.Linear(3, 6), nn.LayerNorm(6), nn.Tanh(), nn.GroupNorm(2, 6), nn.Linear(6, 2))
        case "both":
            first = nn.Sequential(nn.Conv2d(1, 4, 2), nn.InstanceNorm2d(4, affine=True), nn.Conv2d(4, 3, 1))
            return nn.Sequential(first, nn.BatchNorm2d(3), nn.Flatten(), nn.LayerNorm(12), nn.Linear(12, 2))
    raise ValueError(f"unknown model {kind!r}")


def _spread(model: nn.Module, gaps: Sequence[int]) -> nn.Module:
    """Put so many layers without parameters before each part of a sequence, so that it stands at another place."""
    for whole in [part for part in model.modules() if isinstance(part, nn.Sequential | nn.ModuleList)]:
        parts: list[nn.Module] = []
        for gap, part in zip(cycle(gaps), whole.children(), strict=False):
            parts += [*(nn.Tanh() for _ in range(gap)), part]
        for place, part in enumerate(parts):
            whole.add_module(str(place), part)
    return model


ROW: Mapping[str, tuple[int, ...]] = {
    "vectors": (3,),
    "images": (1, 3, 3),
    "pooled": (1, 3, 3),
    "volumes": (1, 3, 2, 3),
    "sequences": (2, 5),
    "nested": (3,),
    "dropout": (3,),
    "no statistics": (3,),
    "neither": (3,),
    "row by row": (3,),
    "both": (1, 3, 3),
}
"""The shape of one row of the inputs, by model."""


class _Surgery:
    """A model that the attempt changes, and what there is to know of it before and after."""

    def __init__(self, case: Case) -> None:
        draw, spec = Draw(case), case.spec
        kind = spec["model"]
        self.model = draw.fill(without_global_draws(lambda: _spread(_build(kind), spec["gaps"])))
        self._rows: int = sum(spec["splits"][0])
        self._x = draw.normal(self._rows, *ROW[kind])
        self._splits: Sequence[Sequence[int]] = spec["splits"]
        self._least = LEAST[draw.dtype]
        self._norms = {name: part for name, part in self.model.named_modules() if isinstance(part, BATCH_NORMS)}
        for norm in self._norms.values():
            if norm.running_mean is not None and norm.running_var is not None:  # as after some training
                norm.running_mean.copy_(draw.normal(norm.num_features, scale=0.3))
                norm.running_var.copy_(1 + draw.normal(norm.num_features).square())
        with torch.no_grad():
            self._y = draw.normal(*self.model.eval()(self._x).shape)
        next(self.model.parameters()).requires_grad_(not spec.get("frozen"))
        with _kept(self.model.train()), _without_dropout(self.model):
            self._got = self._alive(self._gradients([self._rows]))
        for param in self.model.parameters():
            if spec.get("earlier") and param.requires_grad:
                param.grad = draw.normal(*param.shape)
        self.model.train(not spec.get("eval"))
        inside = {id(param) for norm in self._norms.values() for param in norm.parameters()}
        self.kept = {name: param for name, param in self.model.named_parameters() if id(param) not in inside}
        self._layers = {
            name: part
            for name, part in self.model.named_modules()
            if name not in self._norms and not list(part.children())
        }
        self._settings = {name: repr(part) for name, part in self._layers.items()}
        self._modes = {name: part.training for name, part in self._followers().items()}
        self._facts: dict[str, Any] = {}

    def __call__(self, attempt: Any) -> object:
        result = attempt(self.model)
        if result is ...:
            return ...
        self._facts[RETURNED] = isinstance(result, nn.Module) and result is not self.model
        self._note_what_is_left()
        held = {name: param.grad for name, param in self.kept.items()}
        try:
            with _kept(self.model), _without_dropout(self.model):
                self._measure()
        except Exception as error:  # a layer that refuses its input, mixed dtypes, whatever the code left
            self._facts[PASSES] = _said(error)
        for name, param in self.kept.items():
            param.grad = held[name]
        return None

    def _followers(self) -> dict[str, nn.Module]:
        """What `model.train()` and `model.eval()` are to reach: every layer that stays, and the model."""
        return {"the model itself": self.model, **self._layers}

    def _alive(self, gradients: Mapping[str, torch.Tensor]) -> set[str]:
        """Whose gradient is more than rounding."""
        largest = max((float(gradient.abs().max()) for gradient in gradients.values()), default=0.0)
        return {name for name, one in gradients.items() if float(one.abs().max()) > self._least * largest}

    def _gradients(self, split: Sequence[int]) -> dict[str, torch.Tensor]:
        """What one backward for each micro-batch leaves in `.grad`; afterwards every `.grad` is None."""
        named = dict(self.model.named_parameters())
        for param in named.values():
            param.grad = None
        for x, y in zip(self._x.split(list(split)), self._y.split(list(split)), strict=True):
            loss = mean_square_error(self.model(x), y) * (len(x) / self._rows)
            loss.backward()  # type: ignore[no-untyped-call]
        found = {name: param.grad for name, param in named.items() if param.grad is not None}
        for param in named.values():
            param.grad = None
        return found

    def _note_what_is_left(self) -> None:
        now = {id(item) for item in (*self.model.modules(), *self.model.parameters())}
        norms = [part for part in self.model.modules() if isinstance(part, (*BATCH_NORMS, nn.SyncBatchNorm))]
        self._facts |= {
            PASSES: "ran",
            LOST: _listed(name for name, item in (self._layers | self.kept).items() if id(item) not in now),
            CHANGED_LAYERS: _listed(name for name, was in self._settings.items() if repr(self._layers[name]) != was),
            LEFT_MODE: _listed(name for name, mode in self._modes.items() if self._followers()[name].training != mode),
            DEAD: NONE,
            MIXES: NONE,
            NORMS_LEFT: [_shown(norm) for norm in norms],
            NORM_MODES: ["train" if norm.training else "eval" for norm in norms],
            DOTTED: sorted(name for name in self.model._modules if "." in name),
        }

    def _measure(self) -> None:
        for mode, switch in (("eval", self.model.eval), ("train", self.model.train)):
            switch()
            self._facts[f"{MODES} {mode} mode"] = _listed(
                name for name, part in self._followers().items() if part.training != (mode == "train")
            )
            with torch.no_grad():
                self._facts[f"{SHAPES} {mode} mode"] = list(self.model(self._x).shape)
        whole = self._gradients([self._rows])
        alive = self._alive(whole)
        self._facts[DEAD] = _listed(name for name in self._got & self.kept.keys() if name not in alive)
        distances = [0.0]
        for split in self._splits:
            name = f"{GRADIENTS} {', '.join(map(str, split))} rows"
            try:
                distances.append(self._distance(whole, split))
                self._facts[name] = OF_THE_WHOLE if distances[-1] <= self._least else OTHERS
            except Exception as error:  # batch norm refuses a single row
                self._facts[name] = _said(error)
        self._facts[DISTANCE] = f"{max(distances):.2g}" if max(distances) > self._least else "0"
        if any(self._facts[name] != OF_THE_WHOLE for name in self._facts if name.startswith(GRADIENTS)):
            self._facts[MIXES] = self._where_rows_mix()
        now = set(self.model.modules())
        self._facts[ACTIVE] = sorted(
            name for name, norm in self._norms.items() if norm in now and (norm.training or norm.running_mean is None)
        )

    def _distance(self, whole: Mapping[str, torch.Tensor], split: Sequence[int]) -> float:
        """Of all gradients together."""
        accumulated = self._gradients(split)
        if accumulated.keys() != whole.keys():
            return 1.0
        off = sum(float((accumulated[name].double() - whole[name].double()).square().sum()) for name in whole)
        size = sum(float(gradient.double().square().sum()) for gradient in whole.values())
        return float((off / size) ** 0.5) if size else 0.0

    def _where_rows_mix(self) -> str:
        """The first layer that gives two rows another output by themselves than among the others."""
        outputs: list[tuple[str, torch.Tensor]] = []
        layers = [(name, part) for name, part in self.model.named_modules() if not list(part.children())]
        hooks = [
            part.register_forward_hook(
                lambda part, args, out, name=name: outputs.append((f"{name}, a {type(part).__name__}", out))
            )
            for name, part in layers
        ]
        try:
            with torch.no_grad():
                self.model(self._x)
                among, outputs[:] = list(outputs), []
                self.model(self._x[:2])
        finally:
            for hook in hooks:
                hook.remove()
        for (name, whole), (_, part) in zip(among, outputs, strict=True):
            if not torch.allclose(whole[:2], part, rtol=self._least, atol=self._least):
                return name
        return NONE

    def facts(self) -> Mapping[str, object]:
        return self._facts


def _listed(names: Iterable[str]) -> str:
    return ", ".join(sorted(names)) or NONE


def _said(error: Exception) -> str:
    return f"{type(error).__name__}: {(str(error).splitlines() or [''])[0][:150]}"


def _shown(norm: nn.Module) -> str:
    frozen = ", parameters frozen" if any(not param.requires_grad for param in norm.parameters()) else ""
    return f"{norm} in {'train' if norm.training else 'eval'} mode{frozen}"


@contextmanager
def _without_dropout(model: nn.Module) -> Iterator[None]:
    """With every probability of dropout at 0, in its block."""
    layers = [part for part in model.modules() if isinstance(part, nn.Dropout)]
    were = [part.p for part in layers]
    for part in layers:
        part.p = 0.0
    try:
        yield
    finally:
        for part, p in zip(layers, were, strict=True):
            part.p = p


@contextmanager
def _kept(model: nn.Module) -> Iterator[None]:
    """With buffers that are afterwards as they were."""
    held = [(buffer, buffer.detach().clone()) for buffer in model.buffers()]
    try:
        yield
    finally:
        with torch.no_grad():
            for buffer, values in held:
                buffer.copy_(values)


def _cases(seed: int) -> list[Case]:
    chance = random.Random(seed)

    def row(name: str, model: str, **rest: Any) -> tuple[str, dict[str, Any]]:
        # None in the learner's own, whose models are printed when something is wrong.
        gaps = [chance.randint(0, 2) if seed else 0 for _ in range(5)]
        return name, {"model": model, "gaps": gaps, "splits": [[3, 3], [1, 2, 3]], **rest}

    fours: dict[str, Any] = {"splits": [[2, 2], [1, 3]]}
    return cases(
        seed,
        [
            row("one BatchNorm1d between two linear layers", "vectors"),
            row("convolution, BatchNorm2d, in a part of the model", "images", **fours),
            row("parts inside of parts, and a parameter of their own", "nested", splits=[[3, 3], [2, 4], [1, 2, 3]]),
            row("BatchNorm1d with track_running_stats=False", "no statistics", earlier=True),
            row("a BatchNorm1d with neither, five features", "neither"),
            row("two batch norms, one of seven features, and dropout", "dropout"),
            row("convolution of sequences, BatchNorm1d", "sequences", **fours),
            row("convolution of volumes, BatchNorm3d", "volumes", **fours),
            row("layer norm and group norm, no batch norm", "row by row", earlier=True),
            row("batch norm among layer norm and instance norm", "both", earlier=True, **fours),
            row("BatchNorm2d, and right after it the mean over all places", "pooled", **fours),
            row("in eval mode at the call", "vectors", eval=True),
            row("float32, a frozen weight", "vectors", dtype="float32", frozen=True, earlier=True),
        ],
    )


def _arrange(case: Case) -> Arrangement:
    surgery = _Surgery(case)
    return Arrangement(
        (surgery.model,),
        watch={f"model.{name}": param for name, param in surgery.kept.items()},
        call=surgery,
        facts=lambda _: surgery.facts(),
    )


EXERCISE = Exercise(
    id="6.6",
    name="make_accumulation_safe",
    title="A model that accumulation does not change",
    difficulty=3,
    minutes=15,
    goal=(
        "Write `make_accumulation_safe(model)`. It changes `model` in place, so that afterwards, in train mode, "
        "accumulated gradients are those of the whole batch. What stands in the way is batch norm.\n\n"
        "- Batch norm is `nn.BatchNorm1d`, `nn.BatchNorm2d` and `nn.BatchNorm3d`, anywhere inside of `model`, in parts of "
        "parts, too. Some have `affine=False` or `track_running_stats=False`.\n"
        "- What you put there is yours: another normalization, none at all, or statistics that stand still. Parameters "
        "and buffers of batch norm are yours to keep or to drop.\n"
        "- It must last: the training loop calls `model.train()` after your function.\n"
        "- Micro-batches may have any number of rows, one included. The model may be float32 or float64.\n"
        "- Predictions keep their shape, in train mode and in eval mode.\n"
        "- Every other parameter stays: the same object, with the same values, `requires_grad` and `.grad`. If the whole "
        "batch gave it a gradient other than zero before, it still does.\n"
        "- Every other layer stays, dropout and layers that normalize each row by itself included: the same object with "
        "the same settings, and `model.train()` and `model.eval()` still reach it.\n"
        "- When the function returns, the model and these layers are in the modes in which they came. What you put there "
        "may be in either.\n"
        "- What the function returns does not matter.\n\n"
        "You may rely on this: the model itself is no batch norm, and none stands in two places. Each has at least three "
        "features; their number may be a prime. The check compares the model as you left it with itself, one backward for "
        "the whole batch against one for each micro-batch, mean losses weighted by rows and dropout at probability 0."
    ),
    cases=_cases,
    arrange=_arrange,
    hints=(
        "Which layers let one row of a batch have a say in what the others become? And what does model.train() do to "
        "a layer that you have put into eval mode?",
        "A layer can only be replaced in the module that holds it, under the name that it has there. You do not know "
        "how deep that module lies, so you need a walk over all of them.",
        "Walk over model.modules(), and in each over named_children(). Where a child is a batch norm, setattr puts "
        "another layer under its name. nn.GroupNorm with one group takes num_features and works for rows of any "
        "shape. Its parameters must have the dtype of the model's.",
    ),
    properties=(
        ("there is no batch norm", lambda spec: spec["model"] == "row by row"),
        ("there are other normalizations", lambda spec: spec["model"] in ("row by row", "both")),
        ("batch norm lies in a part of the model", lambda spec: spec["model"] in ("images", "nested")),
        ("batch norm is no BatchNorm1d", lambda spec: spec["model"] in ("images", "pooled", "volumes", "both")),
        (
            "batch norm works on vectors",
            lambda spec: spec["model"] in ("vectors", "nested", "no statistics", "neither", "dropout"),
        ),
        (
            "rows are more than vectors",
            lambda spec: spec["model"] in ("images", "pooled", "volumes", "sequences", "both"),
        ),
        ("the mean over all places follows batch norm", lambda spec: spec["model"] == "pooled"),
        # So that groups of a single number are not taken for something about the nesting, or about dropout.
        ("a batch norm of vectors has four features", lambda spec: spec["model"] in ("nested", "dropout")),
        ("batch norm has no parameters", lambda spec: spec["model"] == "neither"),
        ("batch norm has no running statistics", lambda spec: spec["model"] in ("no statistics", "neither")),
        ("there is dropout", lambda spec: spec["model"] == "dropout"),
        ("the number of features is a prime", lambda spec: spec["model"] in ("neither", "dropout", "volumes")),
        ("the model is in eval mode at the call", lambda spec: bool(spec.get("eval"))),
        ("the model is float32", lambda spec: spec.get("dtype") == "float32"),
        ("the model is float64", lambda spec: spec.get("dtype") != "float32"),
        (".grad holds earlier gradients", lambda spec: bool(spec.get("earlier"))),
    ),
    telling={
        PASSES: "After your function a pass of the model ended so: {given}",
        DISTANCE: "The accumulated gradients are off by up to {given} of the length of the whole batch's.",
        MIXES: "Rows of a micro-batch still depend on each other. The first layer where they do is {given}.",
        LOST: "Gone from the model, where they were to stay: {given}.",
        DEAD: "After your function the whole batch gives no gradient to: {given}. Does what comes out behind it depend on "
        "what goes in? A group of a single number, minus its own mean, does not; nor does the mean of a channel that was "
        "normalized by itself.",
    },
)
