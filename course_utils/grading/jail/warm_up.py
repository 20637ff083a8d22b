"""What the warm process does before its first child: whatever takes long the first time, and silence."""

from __future__ import annotations

import builtins
import getpass
import importlib
import inspect
import os
import sys
import warnings
from types import ModuleType

from course_utils.grading.jail.kernel import nothing

_SHOWS = ("check", "compare", "hint", "predict", "progress", "quiz", "solution")
"""Functions of the course that show, ask or remember something."""
_WANTED = (
    "asyncio",
    "IPython.core.inputtransformer2",
    "IPython.display",
    "multiprocessing.pool",
    "safetensors.torch",
    "torch.distributed.fsdp",
    "torch.nn.parallel",
    "torch.utils.checkpoint",
    "torch.utils.data",
    "torch.utils.flop_counter",
    "matplotlib.pyplot",
)
"""What cells and checks may import; what is not installed is left out."""


def warm_up() -> None:
    """Import and use once whatever takes long the first time, in one thread; silence what is there for a reader.

    The whole process is changed: nobody answers `input`, `check` and figures do nothing.
    """
    _without_a_reader()  # before the names of torch and of Python are noted
    os.environ.setdefault("MPLBACKEND", "template")  # figures that nobody judges are not drawn
    import torch

    torch.set_num_threads(1)
    optimizer = torch.optim.SGD([torch.nn.Parameter(torch.ones(2))], lr=0.1)  # imports a good part of torch, once
    optimizer.step()
    from course_utils.lessons import lessons

    for name in _WANTED:
        _import(name)
    for lesson in lessons():
        figures = _import(f"course_utils.lessons.lesson{lesson.number}.figures")
        if figures is not None:
            _silence_figures(figures)
    _silence_the_course()
    from course_utils.checks.observe import observe_all

    importlib.import_module("course_utils.grading.jail.child")  # what each child runs
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for lesson in lessons():
            for exercise in lesson.exercises:
                observe_all(exercise, lambda *_, **__: ..., exercise.cases(0)[:1])


def _import(name: str) -> ModuleType | None:
    try:
        return importlib.import_module(name)
    except Exception:  # not installed, or broken: whoever needs it in a cell will be told
        return None


def _without_a_reader() -> None:
    """Nobody answers, and nobody looks."""
    vars(builtins)["input"] = lambda prompt="": ""
    getpass.getpass = lambda *_, **__: ""
    sys.breakpointhook = nothing


def _silence_the_course() -> None:
    """What shows, asks and remembers does nothing here."""
    course = importlib.import_module("course_utils")
    for name in _SHOWS:
        setattr(course, name, nothing)
    for home in ("learner", "widgets.questions"):
        module = _import(f"course_utils.{home}")
        for name in _SHOWS:
            if hasattr(module, name):
                setattr(module, name, nothing)
    widgets = importlib.import_module("course_utils.widgets")
    for name in widgets.__all__:
        setattr(widgets, name, nothing)
    vars(importlib.import_module("gradient_ledger.figures"))["show"] = nothing
    if "matplotlib" in sys.modules:
        vars(sys.modules["matplotlib"])["use"] = nothing


def _silence_figures(figures: ModuleType) -> None:
    """Functions of a lesson that draw and give nothing back do nothing."""
    for name, value in list(vars(figures).items()):
        ours = inspect.isfunction(value) and value.__module__ == figures.__name__ and not name.startswith("_")
        if ours and value.__annotations__.get("return") == "None":
            setattr(figures, name, nothing)
