"""Names that strangers chose, made fit to be shown, in one line without control characters, and to name files."""

from __future__ import annotations

import hashlib
import os
import re
import unicodedata

MAX_NAME = 100
"""Longest name of a student, in characters."""
MAX_SHOWN = 200
"""Longest path in a message, in characters."""
_PLAIN = re.compile(r"[a-z0-9]+(?:[-_][a-z0-9]+)*")
_LONGEST = 60
"""Characters of a file's name before its digest."""
_RESERVED = re.compile(r"con|prn|aux|nul|(?:com|lpt)\d|index")
"""Names that Windows keeps for devices, and the one of a list of pages."""
_DIGITS = 16
"""Hexadecimal digits of a digest in a file's name: nobody finds two names that share these."""


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


def digest(text: str, digits: int = 6) -> str:
    """Hexadecimal digits that tell `text` from others that look alike."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:digits]


def fold(text: str) -> str:
    """What two spellings of one name share: NFC, letter case and white space apart."""
    return clean(text, 1000).casefold()


def file_stem(student: str) -> str:
    """The name of a student's files: their own identifier where it is safe, else something like it and a digest.

    Different students never share one, also where the file system does not tell upper from lower case. It holds
    lower-case ASCII letters, digits, `-` and `_` alone, and at most 78 characters.
    """
    if _PLAIN.fullmatch(student) and len(student) <= _LONGEST and not _RESERVED.fullmatch(student):
        return student
    ascii_only = unicodedata.normalize("NFKD", student).encode("ascii", "ignore").decode().lower()
    like = re.sub(r"[^a-z0-9]+", "-", ascii_only).strip("-")[:_LONGEST].rstrip("-") or "student"
    # A plain identifier never holds two hyphens in a row, so it cannot be chosen to be somebody else's name and digest.
    return f"{like}--{digest(student, _DIGITS)}"


def several_stem(student: str, which: str) -> str:
    """The name of one of several files about a student; `which` tells it from the others."""
    return f"{file_stem(student)}--{digest(which, _DIGITS)}"


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
