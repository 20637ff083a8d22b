"""From a Python frame to the user's line, fast: files are told apart once, by name."""

from __future__ import annotations

import inspect
import os
import sysconfig
from itertools import islice
from types import CodeType, FrameType
from typing import Any, NamedTuple

import torch

from gradient_ledger.events import Place, Trail

QUIET, CLIP, LIBRARY, USER = 0, 1, 2, 3
"""Torch, the standard library and this package; torch's clipping; other installed packages; everything else."""

_TORCH = os.path.dirname(torch.__file__) + os.sep
_OURS = os.path.dirname(os.path.abspath(__file__)) + os.sep
_STANDARD = tuple(
    {os.path.realpath(sysconfig.get_path(name)) + os.sep for name in ("stdlib", "platstdlib")}
    | {sysconfig.get_path(name) + os.sep for name in ("stdlib", "platstdlib")}
)

kinds: dict[str, int] = {}
"""File name to kind, filled as files are met. Read without a lock: writing twice writes the same."""


def absolute(file: str) -> str:
    """The file's whole path; as it is, where the folder that the process works in was removed."""
    try:
        return os.path.abspath(file)
    except OSError:
        return file


def kind_of(file: str) -> int:
    """Whose code a file holds: one of `QUIET`, `CLIP`, `LIBRARY`, `USER`."""
    found = kinds.get(file)
    if found is None:
        found = kinds[file] = _classify(file)
    return found


def claim(file: str) -> None:
    """Count `file` as the user's own, wherever it stands: the script of an audit may be an installed one."""
    kinds[file] = USER


def forward_of(kind: type[torch.nn.Module]) -> Any:
    """What runs when a module of this class is called, behind our taps; of one that TorchScript has compiled nothing
    that Python runs."""
    return inspect.unwrap(inspect.getattr_static(kind, "forward", None))


def is_ours(file: str) -> bool:
    """Whether a file is one of this package."""
    return file.startswith(_OURS)


def _classify(file: str) -> int:
    if file.startswith(_TORCH):
        return CLIP if file.endswith("clip_grad.py") else QUIET
    if file.startswith((_OURS, "<frozen")) or file.endswith("typing_extensions.py"):
        return QUIET
    if f"{os.sep}site-packages{os.sep}" in file or f"{os.sep}dist-packages{os.sep}" in file:
        return LIBRARY
    return QUIET if file.startswith(_STANDARD) else USER


_places: dict[tuple[str, int, str, str], Place] = {}
"""Places by what they hold: the same line is asked for again and again."""


class _Spot(NamedTuple):
    """One instruction of a code object, and the line it stands on."""

    code: CodeType
    place: Place
    line: tuple[str, int]


_spots: dict[tuple[int, int], _Spot] = {}
"""By the `id` of a code object, which is kept alive here, and the instruction: working out a line takes longer."""
MOST_SPOTS = 10_000
"""Programs that make code as they run must not fill the memory."""


def _spot(frame: FrameType) -> _Spot:
    code, at = frame.f_code, frame.f_lasti
    found = _spots.get((id(code), at))
    if found is None:
        if len(_spots) >= MOST_SPOTS:
            _spots.clear()
        place = _place(frame)
        found = _spots[id(code), at] = _Spot(code, place, (place.file, place.line))
    return found


def _place(frame: FrameType, through: str = "") -> Place:
    key = (frame.f_code.co_filename, frame.f_lineno, frame.f_code.co_name, through)
    found = _places.get(key)
    if found is None:
        found = _places[key] = Place(*key)
    return found


def user_place(frame: FrameType | None) -> Place | None:
    """The innermost line outside torch and outside installed libraries, walking outwards from `frame`.

    Where no frame is the user's, the innermost library line; None where there is neither (threads of torch).
    """
    library: FrameType | None = None
    while frame is not None:
        file = frame.f_code.co_filename
        kind = kinds.get(file)
        if kind is None:
            kind = kind_of(file)
        if kind == USER:
            if library is not None:
                return _place(frame, _short(library))
            return (_spots.get((id(frame.f_code), frame.f_lasti)) or _spot(frame)).place
        if kind == LIBRARY and library is None:
            library = frame
        frame = frame.f_back
    return _place(library) if library is not None else None


def user_frame(frame: FrameType | None) -> FrameType | None:
    """The innermost frame of the user's own code, walking outwards from `frame`."""
    while frame is not None and kind_of(frame.f_code.co_filename) != USER:
        frame = frame.f_back
    return frame


class Call(NamedTuple):
    """One call in the user's code: two on one line are two, one in a loop is one."""

    place: Place
    code: CodeType
    at: int
    """The instruction."""

    @property
    def column(self) -> int | None:
        """Where it begins on its line, in bytes; None before Python 3.11."""
        positions: Any = getattr(self.code, "co_positions", tuple)
        found: Any = next(islice(positions(), self.at // 2, None), None)
        return found[2] if found is not None else None


def chain(frame: FrameType | None, most: int = 8) -> tuple[Call, ...]:
    """The calls in the user's own code that led here one by one, innermost first, without a library in between; the
    first is at the `user_place`."""
    innermost, frame = user_place(frame), user_frame(frame) or frame
    found: list[Call] = []
    while frame is not None and len(found) < most and (not found or kind_of(frame.f_code.co_filename) == USER):
        place = _spot(frame).place if found or innermost is None else innermost
        found.append(Call(place, frame.f_code, frame.f_lasti))
        frame = frame.f_back
    return tuple(found)


def running(frame: FrameType | None) -> set[CodeType]:
    """The code of everything that runs here."""
    found: set[CodeType] = set()
    while frame is not None:
        found.add(frame.f_code)
        frame = frame.f_back
    return found


def within(frame: FrameType | None, caller: Place | None) -> Place | None:
    """The line of `caller`'s own function from which this frame was called; None where it was called from elsewhere."""
    while frame is not None and caller is not None:
        if frame.f_code.co_filename == caller.file and frame.f_code.co_name == caller.function:
            return _place(frame)
        frame = frame.f_back
    return None


def place_and_trail(frame: FrameType | None) -> tuple[Place | None, Trail]:
    """What `user_place` says, and up to three of the user's frames, innermost first.

    A backward in a helper that two losses share is two different passes, told apart by who called the helper.
    """
    place: Place | None = None
    library: FrameType | None = None
    found: list[tuple[str, int]] = []
    while frame is not None:
        file = frame.f_code.co_filename
        kind = kinds.get(file)
        if kind is None:
            kind = kind_of(file)
        if kind == USER:
            spot = _spots.get((id(frame.f_code), frame.f_lasti)) or _spot(frame)
            if place is None:
                place = spot.place if library is None else _place(frame, _short(library))
            found.append(spot.line)
            if len(found) == 3:
                break
        elif kind == LIBRARY and library is None:
            library = frame
        frame = frame.f_back
    if place is None and library is not None:
        place = _place(library)
    return place, tuple(found)


def calls(frame: FrameType | None, most: int = 8) -> tuple[Place, ...]:
    """The lines of the user's own code that led here, innermost first. Of a function that calls itself, the innermost:
    one that walks through a model would hide who called it."""
    found: list[Place] = []
    last: CodeType | None = None
    while frame is not None and len(found) < most:
        code = frame.f_code
        if kind_of(code.co_filename) == USER and code is not last:
            found.append(_spot(frame).place)
            last = code
        frame = frame.f_back
    return tuple(found)


def site(frame: FrameType | None) -> tuple[str, int] | None:
    """The user's call itself: two calls on one line are two sites, a call in a loop is one."""
    while frame is not None:
        code = frame.f_code
        if (kinds.get(code.co_filename) or kind_of(code.co_filename)) == USER:
            return code.co_filename, code.co_firstlineno * 100_000 + frame.f_lasti
        frame = frame.f_back
    return None


def _short(frame: FrameType) -> str:
    parts = frame.f_code.co_filename.replace(os.sep, "/").split("/")
    for mark in ("site-packages", "dist-packages"):
        if mark in parts:
            parts = parts[len(parts) - parts[::-1].index(mark) :]
            break
    return f"{'/'.join(parts)}:{frame.f_lineno}"
