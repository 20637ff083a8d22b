"""Names that strangers chose, made fit to be shown: one line, no control characters, bounded."""

from __future__ import annotations

import hashlib
import os
import unicodedata

MAX_NAME = 100
"""Longest name of a student, in characters."""
MAX_SHOWN = 200
"""Longest path in a message, in characters."""


def clean(text: str, limit: int = MAX_NAME) -> str:
    """`text` in NFC on one line, without control and format characters; empty when nothing is left.

    What is cut keeps a digest of the whole, so that two long names stay two. Bytes of a file name that are not UTF-8
    are read as Latin-1.
    """
    if not text.isprintable() or not text.isascii():
        text = unicodedata.normalize("NFC", _decoded(text))
        # Control, format (direction marks, too), surrogate, private and unassigned characters; line separators.
        text = "".join(" " if c.isspace() else c for c in text if c.isspace() or unicodedata.category(c)[0] != "C")
    text = " ".join(text.split())
    return text if len(text) <= limit else f"{text[: limit - 8].rstrip()}…{digest(text)}"


def shown(path: str) -> str:
    """A path for a message: as `clean` gives it, and never empty."""
    return clean(path, MAX_SHOWN) or "?"


def digest(text: str) -> str:
    """Six hexadecimal digits that tell `text` from others that look alike."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:6]


def fold(text: str) -> str:
    """What two spellings of one name share: NFC, letter case and white space apart."""
    return clean(text, 1000).casefold()


def _decoded(text: str) -> str:
    """`text` without the surrogates that stand for undecodable bytes of a file name."""
    try:
        text.encode("utf-8")
        return text
    except UnicodeEncodeError:
        pass
    try:
        return os.fsencode(text).decode("latin-1")
    except UnicodeEncodeError:  # surrogates that no file name can hold
        return text
