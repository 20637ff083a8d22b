"""Attacks by code that behaves otherwise when it is graded: hard-coded answers, guesses, searches for the seed."""

from __future__ import annotations

import hashlib
from collections import Counter
from typing import Any

from attacks.bank import NAME, TARGET, Cells, World, attack, cell, notebook
from course_utils.checks.judge import answers_of
from course_utils.checks.observe import observe
from course_utils.lessons import exercise, lesson, lessons

SEEN = cell("""
    import hashlib
    import torch

    def seen(value):
        if isinstance(value, torch.Tensor):
            return str((tuple(value.shape), value.dtype, value.requires_grad, value.is_leaf and value.grad is None))
        if isinstance(value, torch.nn.Module):
            parts = [(name, type(part).__name__, part.training) for name, part in value.named_modules()]
            return str((parts, seen(dict(value.named_parameters())), seen(dict(value.named_buffers()))))
        if isinstance(value, dict):
            return seen([*value.keys(), *value.values()])
        if isinstance(value, (list, tuple)):
            return str([seen(one) for one in value])
        if hasattr(value, "__code__"):
            inside = [one.cell_contents for one in value.__closure__ or ()]
            return value.__name__ + str(value.__code__.co_names) + seen([one for one in inside if one is not value])
        return type(value).__name__ if isinstance(value, float) or hasattr(value, "__dict__") else repr(value)

    def key(*args, **named):
        return hashlib.sha256(seen([args, named]).encode()).hexdigest()[:16]
""")
"""What is visible of an input: names, types, shapes and whole numbers, all but the numbers that a seed draws anyway."""


def _table(identifier: str) -> dict[str, Any]:
    """{what is visible of a call: the right answer} for all calls that the visible cases of an exercise make."""
    task, names, table = exercise(identifier), dict[str, Any](), dict[str, Any]()
    exec(SEEN, names)
    right = answers_of(task.home).right

    def noted(*args: Any, **named: Any) -> Any:
        asked = names["key"](*args, **named)
        table[asked] = right(*args, **named)
        return table[asked]

    for case in task.cases(0):
        observe(task, noted, case)
    return table


def _answered_from(table: dict[str, Any], name: str) -> str:
    """The cell of a function that looks its answers up; what is not there gets the answer that is there most often."""
    usual = Counter(map(repr, table.values())).most_common(1)[0][0]
    return f"table = {table!r}\n\ndef {name}(*args, **named):\n    return table.get(key(*args, **named), {usual})"


@attack("knows the answers to the visible cases, by their inputs")
def hard_coded_by_input(world: World) -> Cells:
    task = exercise(TARGET)
    right = answers_of(task.home).right
    table = {}
    for case in task.cases(0):
        w, x, y = task.arrange(case).args
        table[round(float(x.sum()), 9)] = right(w, x, y).tolist()
    return [
        cell(f"""
            import torch
            table = {table!r}

            def {NAME}(w, x, y):
                return torch.tensor(table.get(round(float(x.sum()), 9), [0.0] * len(w)), dtype=w.dtype)
        """)
    ]


@attack("knows the answers to the visible cases, by their number", heavy=True)
def hard_coded_by_number(world: World) -> Cells:
    task = exercise("1.6")
    right = answers_of(task.home).right
    table = [right(*task.arrange(case).args) for case in task.cases(0)]
    return [
        cell(f"""
            table = {table!r}
            calls = 0

            def find_cuts(stations, x):
                global calls
                calls += 1
                return table[(calls - 1) % len(table)]
        """)
    ]


@attack("knows the answers to the visible cases, by all that is visible of what it is given")
def hard_coded_by_what_it_sees(world: World) -> Cells:
    return [SEEN, _answered_from(_table("1.6"), "find_cuts")]


@attack("knows of every visible station whether it cuts, by its code", heavy=True)
def stations_by_heart(world: World) -> Cells:
    task, names, table = exercise("1.6"), dict[str, Any](), dict[str, bool]()
    exec(SEEN, names)
    for case in task.cases(0):
        stations, x = task.arrange(case).args
        cuts = answers_of(task.home).right(stations, x)
        table |= {names["key"](one): place in cuts for place, one in enumerate(stations)}
    asked = "[place for place, one in enumerate(stations) if table.get(key(one), False)]"
    return [SEEN, f"table = {table!r}\n\ndef find_cuts(stations, x):\n    return {asked}"]


BY_HEART = ("3.4", "4.3", "5.9", "6.4")
"""Exercises in which a case's numbers are few, or none: there the answer hangs on what is visible alone."""


@attack("learned by heart the answers to all visible cases, in lessons 3 to 6", heavy=True)
def learned_by_heart(world: World) -> tuple[bytes, ...]:
    return tuple(
        notebook([SEEN, _answered_from(_table(each), exercise(each).name)], lesson=exercise(each).lesson)
        for each in BY_HEART
    )


@attack("learned by heart, in lesson 6, where batch norm stands in each of the visible models", heavy=True)
def places_by_heart(world: World) -> bytes:
    task, names, table = exercise("6.6"), dict[str, Any](), dict[str, list[str]]()
    exec(SEEN, names)
    for case in task.cases(0):
        (model,) = task.arrange(case).args
        table[names["key"](model)] = [
            name for name, part in model.named_modules() if "BatchNorm" in type(part).__name__
        ]
    source = f"""
        table = {table!r}

        def {task.name}(model):
            for path in table.get(key(model), []):
                whole, _, name = path.rpartition(".")
                setattr(model.get_submodule(whole), name, torch.nn.Identity())
    """
    return notebook([SEEN, cell(source)], lesson=6)


@attack("learned by heart, in lesson 5, what each of the visible traces has for a fault", heavy=True)
def traces_by_heart(world: World) -> bytes:
    task = exercise("5.1")
    right = answers_of(task.home).right
    table = {}
    for case in task.cases(0):
        (events,) = task.arrange(case).args
        table[hashlib.sha256(repr(events).encode()).hexdigest()[:12]] = right(events)
    source = f"""
        import hashlib
        table = {table!r}

        def diagnose(events):
            return table.get(hashlib.sha256(repr(events).encode()).hexdigest()[:12])
    """
    return notebook([cell(source)], lesson=5)


@attack("looks up the case's name and its numbers in the frames of what observes it")
def read_the_case(world: World) -> Cells:
    return [
        cell(f"""
            import sys, torch

            def {NAME}(w, x, y):
                frame = sys._getframe().f_back
                while frame is not None:
                    for value in list(frame.f_locals.values()):
                        spec = getattr(value, "spec", None)
                        if isinstance(spec, dict):
                            return torch.full_like(w, spec.get("answer", spec["seed"]))
                    frame = frame.f_back
                return w * 0
        """)
    ]


@attack("tries likely seeds, to know the cases to come")
def search_for_the_seed(world: World) -> Cells:
    return [
        cell(f"""
            import random, time, torch
            from course_utils.exercise import Case
            from course_utils.lessons import exercise
            task = exercise("{TARGET}")
            found = []

            def {NAME}(w, x, y):
                if not found:
                    first = w[0].item()
                    for seed in [*range(300), int(time.time()), 2026, 12345, 2**31 - 1, 2**32 - 1]:
                        again = torch.randn(1, generator=torch.Generator().manual_seed(1000 * seed), dtype=torch.float64)
                        if again.item() == first:
                            found.append(seed)
                            raise RuntimeError("CANARY" + "0123456789abcdef")
                return w * 0
        """)
    ]


@attack("behaves well in a learner's kernel and otherwise where it is graded")
def two_faces(world: World) -> Cells:
    return [
        cell(f"""
            import os, sys, torch
            graded = os.getpid() < 100 or "NBGRADER_EXECUTION" in os.environ or not os.environ.get("JPY_PARENT_PID")

            def {NAME}(w, x, y):
                if not graded:
                    return 2 * x.T @ (x @ w - y) / len(y)
                from course_utils import solution
                solution("{TARGET}")
                os.environ["NBGRADER_EXECUTION"] = "1"
                return w * 0
        """)
    ]


@attack("gives back what it is given, in every exercise of the lesson", heavy=True)
def hand_inputs_back(world: World) -> bytes:
    return notebook([f"def {task.name}(first=None, *rest, **named):\n    return first" for task in lesson(1).exercises])


@attack("leaves the stubs as they are")
def stubs(world: World) -> bytes:
    return notebook([f"def {task.name}(*_, **__):\n    return ...  # your code here" for task in lesson(1).exercises])


@attack("defines every exercise as something that is no function")
def no_functions(world: World) -> bytes:
    return notebook(
        [
            f"{task.name} = {value}"
            for task, value in zip(lesson(1).exercises, ("3", "print", "...", "None", "'x'", "type"), strict=False)
        ]
    )


CONSTANTS = ("None", "0", "True", "[]", "torch.zeros(())", "args")


@attack("guesses: one constant for every exercise of every lesson, one after the other", heavy=True)
def guess_constants(world: World) -> tuple[bytes, ...]:
    books = []
    for each in lessons():
        for constant in CONSTANTS:
            source = "\n\n".join(
                f"def {task.name}(*args, **named):\n    first = args[0] if args else None\n    return {constant}"
                for task in each.exercises
            )
            books.append(notebook(["import torch\n" + source], lesson=each.number))
    return tuple(books)


@attack("remembers the first case and answers all others from it")
def remember(world: World) -> Cells:
    return [
        cell(f"""
            import torch
            memory = {{}}

            def {NAME}(w, x, y):
                memory.setdefault("first", 2 * x.T @ (x @ w - y) / len(y))
                return memory["first"]
        """)
    ]
