"""Attacks by code that behaves otherwise when it is graded: hard-coded answers, guesses, searches for the seed."""

from __future__ import annotations

import hashlib
from typing import Any

from attacks.bank import NAME, TARGET, Cells, World, attack, cell, notebook
from course_utils.checks.judge import answers_of
from course_utils.lessons import exercise, lesson, lessons

FEW = (
    "the exercise has the same few inputs, but for their values, at every seed, and the answer does not depend on these"
)
"""No limit of the sandbox: whoever has the right answers to all of them can hand these in."""


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


@attack(
    "knows the answers to the visible cases, by the number, shape and names of what it is given", gains=15, limit=FEW
)
def hard_coded_by_what_it_sees(world: World) -> Cells:
    task = exercise("1.6")
    right = answers_of(task.home).right
    names: dict[str, Any] = {}
    exec(SEEN, names)
    table = {}
    for case in task.cases(0):
        stations, x = task.arrange(case).args
        table[names["seen"](stations, x)] = right(stations, x)
    return [SEEN, f"table = {table!r}\n\ndef find_cuts(stations, x):\n    return table.get(seen(stations, x), [])"]


SEEN = cell("""
    def seen(stations, x):
        return tuple(str(each.__code__.co_names) + each.__name__ for each in stations), tuple(x.shape), str(x.dtype)
""")


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


@attack(
    "learned by heart, in lesson 3, how many bytes each of the visible models moves", gains=20, limit=FEW, heavy=True
)
def bytes_by_heart(world: World) -> bytes:
    task = exercise("3.4")
    right = answers_of(task.home).right
    names: dict[str, Any] = {}
    exec(MODEL_SEEN, names)
    table = {}
    for case in task.cases(0):
        arranged = task.arrange(case)
        table[names["seen"](*arranged.args, **arranged.kwargs)] = right(*arranged.args, **arranged.kwargs)
    source = f"table = {table!r}\n\ndef {task.name}(*args, **named):\n    return table.get(seen(*args, **named), 0)"
    return notebook([MODEL_SEEN, source], lesson=3)


MODEL_SEEN = cell("""
    def seen(model, *rest, **named):
        parts = [(name, tuple(p.shape), str(p.dtype), p.requires_grad, p.grad is None) for name, p in model.named_parameters()]
        return str((parts, model.training, rest, sorted(named.items())))
""")


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
