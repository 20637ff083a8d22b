"""Sentences for students about how their notebook ran."""

from __future__ import annotations

import re
import signal
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from course_utils.grading.jail.linux import INODES, OPEN_FILES
from course_utils.grading.result import Note
from course_utils.grading.sandbox.contract import Limits
from course_utils.grading.sandbox.talk import Late, Over

if TYPE_CHECKING:
    from course_utils.grading.sandbox.attempt import Attempt

Place = tuple[int, int, str]
"""(cell, line, function)."""
Lines = Mapping[int, Sequence[str]]
"""{cell: its lines}."""
_SHORT = 300
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069]+")


def clean(text: object, limit: int = _SHORT) -> str:
    """A stranger's text on one line, without control characters, cut to `limit` characters."""
    line = _CONTROL.sub(" ", text if isinstance(text, str) else "").strip()
    line = line.encode("utf-8", "replace").decode()  # lone surrogates cannot be written to a file
    return line if len(line) <= limit else line[: limit - 1] + "…"


def failed_cell(number: int, said: Mapping[str, Any], lines: Lines, limits: Limits) -> Note:
    """Of a cell that raised, or was stopped at its limit. `said` is what the child said."""
    places = _places(said.get("frames"))
    if said.get("kind") == "stopped":
        loop = busy(places, lines)
        return _cell(number, f"Cell {number} was stopped after {limits.cell:g} seconds{loop}. The cells after it ran.")
    kind, message = clean(said.get("type"), 80) or "an exception", clean(said.get("message"))
    at = _line(places[-1], lines) if places else ""
    what = f"Cell {number} raised {kind}{f': {message}' if message else ''}{f', in {at}' if at else ''}."
    for sign, reason in _REASONS:
        if sign in f"{kind}: {message}":
            what += " " + reason.format(
                memory=_size(limits.memory),
                disk=_size(limits.disk),
                processes=limits.processes,
                inodes=INODES,
                open_files=OPEN_FILES,
            )
            break
    return _cell(number, what + " The cells after it ran all the same.")


_REASONS = (
    ("MemoryError", "A submission may take {memory} of memory."),
    ("can't allocate memory", "A submission may take {memory} of memory."),
    ("[Errno 27]", "A submission may write {disk} of files."),
    ("[Errno 28]", "A submission may write {disk} of files, and {inodes:,} of them."),
    ("[Errno 24]", "A submission may hold {open_files} files open."),
    ("BlockingIOError: [Errno 11]", "A submission may start {processes} processes and threads."),
    ("can't start new thread", "A submission may start {processes} processes and threads."),
)
"""What an exception says where a limit was met, and which that is."""


def _places(frames: object) -> list[Place]:
    """Frames as a child sent them, as far as they are any."""
    found: list[Place] = []
    for frame in frames if type(frames) is list else ():
        if type(frame) is list and [type(part) for part in frame] == [int, int, str]:
            found.append((frame[0], frame[1], clean(frame[2], 80)))
    return found


def _line(place: Place, lines: Lines) -> str:
    """`line 3 of cell 1 (`while True:`), in `train``."""
    cell, line, function = place
    source = lines.get(cell, ())
    if not 0 < line <= len(source):
        return f"cell {cell}" if cell in lines else ""
    text = clean(source[line - 1], 80)
    inside = "" if function.startswith("<") else f", in `{function}`"
    return f"line {line} of cell {cell}{f' (`{text}`)' if text else ''}{inside}"


def busy(places: Sequence[Place], lines: Lines) -> str:
    """What kept a cell so long: the outermost loop it was in. It says the same whenever in the loop it is asked."""
    for cell, line, function in places:
        loop = _loop(lines.get(cell, ()), line)
        if loop:
            return f", probably by the loop in {_line((cell, loop, function), lines)}"
    return f", in {_line(places[-1], lines)}" if places and _line(places[-1], lines) else ""


def _loop(source: Sequence[str], line: int) -> int:
    """The outermost loop around a line, within its function: the loop's own line; 0 where there is none."""
    if not 0 < line <= len(source):
        return 0
    found, depth = 0, 10**6
    for number in range(line, 0, -1):
        text = source[number - 1].lstrip()
        indent = len(source[number - 1]) - len(text)
        if not text or indent >= depth:
            continue
        depth = indent
        if re.match(r"(while|for|async for)\b", text):
            found = number
        elif re.match(r"(def|async def|class)\b", text):
            break
    return found


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
    return _exercise(exercise, "What the code did could not be read back, or is far too much, so it was not judged.")


def given_up(restarts: int) -> Note:
    """Of a submission that ended too many processes."""
    return Note("file", f"The notebook ended its process {restarts + 1} times; what was not checked by then was left.")


def ended(
    attempt: Attempt,
    trouble: BaseException,
    status: int | None,
    places: Sequence[Place],
    lines: Lines,
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
    text = f"{what} {_why(trouble, status, attempt, limits)}{busy(places, lines)}. {rest}".strip()
    if attempt.cell is not None:
        return _cell(attempt.cell, text)
    return _exercise(attempt.exercise, text) if attempt.exercise else Note("file", text)


def _why(trouble: BaseException, status: int | None, attempt: Attempt, limits: Limits) -> str:
    if isinstance(trouble, Over):
        return {
            "memory": f"was stopped: it took more than {_size(limits.memory)} of memory",
            "processor": f"was stopped: it took more than {limits.total:g} seconds of processor time",
            "processes": f"was stopped: it started more than {limits.processes} processes",
            "evidence": f"was stopped: what it gave back is more than {_size(limits.evidence)}",
        }[trouble.what]
    if isinstance(trouble, Late):
        if attempt.cell is not None:
            return f"was stopped after {limits.cell:g} seconds"
        return f"was stopped after {limits.case:g} seconds on one case" if attempt.exercise else "was stopped"
    if status is None:
        return "broke the line on which its results are sent"
    if status == -signal.SIGKILL:
        return "ended its process, by signal SIGKILL, which a machine short of memory sends, too"
    return f"ended its process, {f'by signal {_signal(-status)}' if status < 0 else f'with exit code {status}'}"


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
