"""Evidence as a child sends it: read as plain data of bounded size, or not at all."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from course_utils.exercise import Case, Change, Evidence, Frame, Raised
from course_utils.plain import MAX_TEXT, Opaque, TensorData, from_bytes

_TREE = 8 * 2**20
"""Longest part of evidence that is not tensors, in bytes: a megabyte of brackets is many of memory."""
_ITEMS = 20_000
"""Most entries of lists and dicts in one exercise's evidence: the right answers have less than a thousand."""
_CHANGES = 200


def read_evidence(data: bytes, cases: Sequence[Case]) -> list[Evidence] | None:
    """What a child says that it observed; None where that is no evidence, or holds what no evidence holds."""
    try:
        if int.from_bytes(data[:8], "little") > _TREE:
            return None
        pieces = _tidy(from_bytes(data))
        if type(pieces) is not list or not 0 < len(pieces) <= len(cases):
            return None
        if _items(pieces) > _ITEMS:
            return None
        return [_bounded(Evidence.from_plain(piece)) for piece in pieces]
    except (ValueError, TypeError, RecursionError):
        return None


def _items(value: Any) -> int:
    """How many entries there are in all lists and dicts."""
    if isinstance(value, dict | list):
        return len(value) + sum(map(_items, value.values() if isinstance(value, dict) else value))
    return 0


def _bounded(piece: Evidence) -> Evidence:
    """Evidence with no more words than an honest child sends."""
    raised = piece.raised
    if raised is not None:
        frames = tuple(Frame(one.function[:200], one.line, one.source[:200]) for one in raised.frames[-5:])
        raised = Raised(raised.type[:200], raised.message, frames)
    changes = (Change(one.what[:200], one.aspect[:200], one.before[:300], one.after[:300]) for one in piece.changes)
    return replace(
        piece,
        case=piece.case[:300],
        raised=raised,
        changes=tuple(changes)[:_CHANGES],
        warned=tuple(text[:300] for text in piece.warned[:5]),
    )


def _tidy(value: Any) -> Any:
    """Plain data without what costs its reader dear. Raises `ValueError` for what no honest child sends."""
    if isinstance(value, dict):
        return {_text(key): _tidy(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_tidy(item) for item in value]
    if isinstance(value, str):
        return _text(value)
    if isinstance(value, Opaque):
        return Opaque(_text(value.type), _text(value.text), value.too_large)
    if isinstance(value, TensorData) and any(size >= 2**31 for size in value.value.shape):
        raise ValueError("a tensor of impossible size")
    if isinstance(value, int) and value.bit_length() > 256:
        raise ValueError("an integer of impossible size")
    return value


def _text(text: str) -> str:
    """At most as much as evidence holds, and nothing that cannot be written to a file."""
    if len(text) <= MAX_TEXT and text.isascii():
        return text
    return text[: MAX_TEXT + 100].encode("utf-8", "replace").decode()
