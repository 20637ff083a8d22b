"""One submission: run its cells, find its functions, observe them on the cases. Sends what comes of it, at once."""

from __future__ import annotations

import faulthandler
import json
import os
import random
import re
import signal
import socket
import traceback
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy
import torch

from course_utils.checks.observe import describe_exception, observe_all
from course_utils.checks.observe.deadline import TimeIsUp, limited
from course_utils.exercise import Arrangement, Case, Evidence, Exercise
from course_utils.grading.jail import plan, wire
from course_utils.grading.jail.kernel import CELL, Kernel, plain_python
from course_utils.lessons import exercise as find_exercise
from course_utils.plain import to_bytes

WHERE = getattr(signal, "SIGUSR2", None)
"""The signal at which the process writes down where it is."""
_LONGEST = 20_000
"""Most characters of an exercise's code that are sent."""
_FRAMES = 50


def live(line: socket.socket, trouble: int) -> None:
    """Take one job from `line` and do it. `trouble` is where the stack is written to when the outer half asks."""
    if WHERE is not None:
        faulthandler.register(WHERE, file=trouble, all_threads=False)
    torch.default_generator.manual_seed(0)
    random.seed(0)
    numpy.random.seed(0)
    voice = _Voice(line)
    voice.say(wire.frame(wire.READY))
    kind, payload = wire.receive(line)
    if kind != wire.JOB:
        return
    job = json.loads(payload)
    found, said = _cells(voice, job)
    voice.say(wire.notice(wire.FOUND, said))
    _, payload = wire.receive(line)
    for identifier, cases in json.loads(payload).items():
        if identifier in found:
            voice.say(wire.notice(wire.EXERCISE, identifier))
            drawn = [Case(name, spec) for name, spec in cases]
            evidence = _observed(voice, find_exercise(identifier), found[identifier], drawn, job["case limit"])
            packed = to_bytes([one.to_plain() for one in evidence])
            voice.say(wire.frame(wire.EVIDENCE, packed))
    voice.say(wire.frame(wire.DONE))


class _Voice:
    """What this process says to the outer half. A fork that a learner's code let run on is told to end."""

    def __init__(self, line: socket.socket) -> None:
        self._line, self._me = line, os.getpid()

    def say(self, framed: bytes) -> None:
        if os.getpid() != self._me:
            os._exit(0)
        wire.send(self._line, framed)


# ------------------------------------------------------------------ cells


def _cells(voice: _Voice, job: Mapping[str, Any]) -> tuple[dict[str, object], dict[str, Any]]:
    """Run the cells that matter: {exercise: its object}, and what to say of each of the job's exercises."""
    wanted: dict[str, str] = job["exercises"]
    numbers = [number for number, _, _ in job["cells"]]
    cells = [(plain_python(source), published) for _, source, published in job["cells"]]
    run = plan.chosen(cells, wanted.values())
    kernel, left_out = Kernel(), set(job["left out"])
    last: dict[str, object] = {}
    for number, (source, published), runs in zip(numbers, cells, run, strict=True):
        if not runs or number in left_out:
            continue
        voice.say(wire.notice(wire.CELL, number))
        failed = _ran(kernel, number, source, job["cell limit"])
        if failed is not None:
            voice.say(wire.notice(wire.FAILED, failed))
        if not published:
            # What stands there after a learner's cell is theirs: no cell of the course takes its place.
            last.update({name: kernel.names[name] for name in wanted.values() if name in kernel.names})
    held = {**kernel.names, **last}
    found, said = {}, {}
    for identifier, name in wanted.items():
        if name not in held:
            said[identifier] = {"state": "missing"}
        elif not callable(held[name]) and held[name] is not ...:
            said[identifier] = {"state": "no function", "type": type(held[name]).__name__}
        else:
            found[identifier] = held[name]
            said[identifier] = {"state": "found", "code": _code(cells, name)}
    return found, said


def _ran(kernel: Kernel, number: int, source: str, limit: float) -> dict[str, Any] | None:
    """Run a cell; what happened where it did not end well."""
    try:
        limited(lambda: kernel.run(number, source), limit)
        return None
    except BaseException as raised:  # SystemExit, KeyboardInterrupt and GeneratorExit, too: the next cell runs
        error = raised
    told = describe_exception(error)
    kind = "stopped" if isinstance(error, TimeIsUp) else "raised"
    return {"kind": kind, "type": told.type, "message": told.message, "frames": _frames(error)}


def _frames(error: BaseException) -> list[tuple[int, int, str]]:
    """(cell, line, function) of each frame in a cell, the innermost last."""
    frames = [(entry.filename, entry.lineno or 0, entry.name) for entry in traceback.extract_tb(error.__traceback__)]
    if isinstance(error, SyntaxError):
        frames.append((error.filename or "", error.lineno or 0, "<module>"))
    cells = ((re.fullmatch(CELL, name), line, function) for name, line, function in frames)
    return [(int(cell[1]), line, function) for cell, line, function in cells if cell][-_FRAMES:]


def _code(cells: list[tuple[str, bool]], name: str) -> str:
    """The text of the last definition, a learner's before one of the course."""
    for published in (False, True):
        for source, of_course in reversed(cells):
            if of_course is published and name in plan.names_of(source).binds:
                text = plan.definition(source, name)
                if text:
                    return text[:_LONGEST]
    return ""


# ------------------------------------------------------------------ exercises


def _observed(voice: _Voice, exercise: Exercise, attempt: object, cases: list[Case], limit: float) -> list[Evidence]:
    if attempt is ...:
        return [Evidence(cases[0].name, "not attempted")]

    def arrange(case: Case) -> Arrangement:
        voice.say(wire.frame(wire.CASE))
        return exercise.arrange(case)

    try:
        return observe_all(replace(exercise, arrange=arrange), attempt, cases, limit)
    except BaseException as error:  # the machinery was taken apart, or interrupted: that is all there is to say
        return [Evidence(cases[0].name, "raised", raised=describe_exception(error))]
