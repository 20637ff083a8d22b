"""Sentences for students about how their notebook ran."""

from __future__ import annotations

import re
import signal
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from course_utils.grading.contract import Limits
from course_utils.grading.result import Note
from course_utils.grading.talk import Late, Over

if TYPE_CHECKING:
    from course_utils.grading.attempt import Attempt

_SHORT = 300
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069]+")


def clean(text: object, limit: int = _SHORT) -> str:
    """A stranger's text on one line, without control characters, cut to `limit` characters."""
    line = _CONTROL.sub(" ", text if isinstance(text, str) else "").strip()
    line = line.encode("utf-8", "replace").decode()  # lone surrogates cannot be written to a file
    return line if len(line) <= limit else line[: limit - 1] + "…"


def failed_cell(number: int, said: Mapping[str, Any], limit: float) -> Note:
    """Of a cell that raised, or was stopped at its limit of seconds."""
    place = _place(said.get("frames"))
    if said.get("kind") == "stopped":
        return _cell(number, f"Cell {number} was stopped after {limit:g} seconds{place}. The cells after it ran.")
    kind, message = clean(said.get("type"), 80) or "an exception", clean(said.get("message"))
    what = f"Cell {number} raised {kind}{f': {message}' if message else ''}{place}."
    if kind == "MemoryError" or "can't allocate memory" in message:
        what += " It asked for more memory than a submission may have."
    return _cell(number, what + " The cells after it ran all the same.")


def _place(frames: object) -> str:
    """Where that was, from frames that a child sent: the last one of them."""
    try:
        function, line, source = frames[-1]  # type: ignore[index]
        if type(line) is not int or not 0 <= line < 10**6:
            return ""
        return at(line, clean(function, 80), clean(source, 80))
    except (TypeError, ValueError, IndexError, KeyError):
        return ""


def at(line: int, function: str, source: str) -> str:
    """`, in line 3 of the cell (`while True:`), in `train``."""
    inside = "" if function in ("", "<module>", "<syntax>") else f", in `{function}`"
    return f", in line {line} of the cell{f' (`{source}`)' if source else ''}{inside}"


def not_found(exercise: str, name: str, said: Mapping[str, Any]) -> Note:
    """Of an exercise of which there is no function."""
    if said.get("state") == "no function":
        kind = clean(said.get("type"), 80)
        text = f"`{name}` is an object of type {kind} in the end, not a function, so there was nothing to check."
    else:
        text = f"No cell that ran defines `{name}`, so there was nothing to check."
    return _exercise(exercise, text)


def unreadable(exercise: str) -> Note:
    """Of an exercise whose evidence is none."""
    return _exercise(exercise, "What the code did could not be read back, so it was not judged.")


def given_up(restarts: int) -> Note:
    """Of a submission that ended too many processes."""
    return Note("file", f"The notebook ended its process {restarts + 1} times; what was not checked by then was left.")


def ended(
    attempt: Attempt,
    trouble: BaseException,
    status: int | None,
    place: tuple[int, int, str] | None,
    lines: Mapping[int, Sequence[str]],
    limits: Limits,
    out_of_time: bool,
) -> Note:
    """Of a process that was ended, or ended itself: why and where. `status` is as `subprocess` gives it."""
    what, rest = "The notebook", ""
    if attempt.cell is not None:
        what, rest = f"Cell {attempt.cell}", "The other cells were run without it."
    elif attempt.exercise:
        what, rest = "The code", "The other exercises were checked without it."
    if out_of_time:
        rest = f"The {limits.total:g} seconds for the whole notebook were used up, and what was not checked was left."
    text = f"{what} {_why(trouble, status, attempt, limits)}{_told(place, lines)}. {rest}".strip()
    if attempt.cell is not None:
        return _cell(attempt.cell, text)
    return _exercise(attempt.exercise, text) if attempt.exercise else Note("file", text)


def _why(trouble: BaseException, status: int | None, attempt: Attempt, limits: Limits) -> str:
    if isinstance(trouble, Over):
        return {
            "memory": f"was stopped: it took more than {_size(limits.memory)} of memory",
            "processes": f"was stopped: it started more than {limits.processes} processes",
            "evidence": f"was stopped: what it gave back is more than {_size(limits.evidence)}",
        }[trouble.what]
    if isinstance(trouble, Late):
        if attempt.cell is not None:
            return f"was stopped after {limits.cell:g} seconds"
        return f"was stopped after {limits.case:g} seconds on one case" if attempt.exercise else "was stopped"
    if status is not None and status < 0:
        return f"ended its process, by signal {_signal(-status)}"
    if status is None:
        return "ended its process"
    return "ended its process, or sent something that makes no sense"


def _told(place: tuple[int, int, str] | None, lines: Mapping[int, Sequence[str]]) -> str:
    if place is None:
        return ""
    cell, line, function = place
    source = lines.get(cell, ())
    text = source[line - 1].strip() if 0 < line <= len(source) else ""
    inside = "" if function == "<module>" else f" of `{clean(function, 80)}`"
    loop = "probably by the loop" if text.startswith(("while", "for")) else "when it was"
    return f", {loop} in line {line} of cell {cell}{f' (`{clean(text, 80)}`)' if text else ''}{inside}"


def _signal(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return str(number)


def _size(count: int) -> str:
    return f"{count / 2**30:g} GiB" if count >= 2**30 else f"{count / 2**20:g} MiB"


def _cell(number: int, text: str) -> Note:
    return Note("cell", text, f"cell {number}")


def _exercise(identifier: str, text: str) -> Note:
    return Note("exercise", text, f"exercise {identifier}")
