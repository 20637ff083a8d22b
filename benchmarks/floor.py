"""The floor under every grader: the learner's cells and the checks, in one warm process, with nothing around them.

No isolation, no fork, no transfer, no reading or writing; the next submission finds what the one before left behind.
The cells are those that the grader's plan picks, and what nobody looks at does nothing, as in the grader's sandbox.
"""

from __future__ import annotations

import multiprocessing
import time
from multiprocessing.connection import Connection
from typing import Any

from course_utils.exercise import Case, Evidence, Exercise


class Floor:
    """A process that runs submissions one after the other."""

    def __init__(self, lesson: int) -> None:
        context = multiprocessing.get_context("spawn")
        self._pipe, theirs = context.Pipe()
        self._process = context.Process(target=_serve, args=(theirs, lesson), daemon=True)
        self._process.start()
        theirs.close()

    def run(self, notebooks: list[bytes]) -> tuple[list[float], dict[str, float]]:
        """The points of each, and processor seconds of all: {"cells", "observe", "judge"}."""
        self._pipe.send(notebooks)
        found: tuple[list[float], dict[str, float]] = self._pipe.recv()
        return found

    def close(self) -> None:
        self._pipe.close()
        self._process.join(10)


def _serve(pipe: Connection, number: int) -> None:
    from course_utils.checks.judge import judge
    from course_utils.checks.observe import observe_all
    from course_utils.grading.jail.kernel import Kernel
    from course_utils.grading.jail.warm_up import warm_up
    from course_utils.grading.notebook import read_notebook
    from course_utils.lessons import lesson as find_lesson

    warm_up()
    exercises = find_lesson(number).exercises
    cases = {exercise.id: exercise.cases(7) for exercise in exercises}

    def one(cells: list[tuple[int, str]], spent: dict[str, float]) -> float:
        start = time.process_time()
        kernel = Kernel()
        for at, source in cells:
            try:
                kernel.run(at, source)
            except Exception:
                pass
        after_cells = time.process_time()
        observed: list[tuple[Exercise, list[Case], list[Evidence]]] = []
        for exercise in exercises:
            attempt = kernel.names.get(exercise.name)
            if attempt is not None:
                drawn = cases[exercise.id]
                observed.append((exercise, drawn, observe_all(exercise, attempt, drawn)))
        after_observe = time.process_time()
        points = sum(judge(exercise, drawn, evidence).points for exercise, drawn, evidence in observed)
        spent["cells"] += after_cells - start
        spent["observe"] += after_observe - after_cells
        spent["judge"] += time.process_time() - after_observe
        return points

    while True:
        try:
            notebooks: list[bytes] = pipe.recv()
        except EOFError:
            return
        spent = dict.fromkeys(("cells", "observe", "judge"), 0.0)
        planned: list[Any] = [_planned(read_notebook(data), exercises) for data in notebooks]
        pipe.send(([one(cells, spent) for cells in planned], spent))


def _planned(notebook: Any, exercises: tuple[Exercise, ...]) -> list[tuple[int, str]]:
    """(number, source) of the cells that the grader would run."""
    from course_utils.grading.jail import plan
    from course_utils.grading.jail.kernel import plain_python

    cells = [(plain_python(cell.source), cell.published) for cell in notebook.cells]
    run = plan.chosen(cells, [exercise.name for exercise in exercises])
    return [(at, source) for at, ((source, _), runs) in enumerate(zip(cells, run, strict=True), 1) if runs]
