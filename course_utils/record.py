"""The learner's record: points, attempts, hints and commitments, one small JSON file a lesson.

The files lie in `.course/` beside the notebook, or in the folder that the environment variable
`COURSE_HOME` names. A damaged file is set aside and costs nothing but itself; where nothing
can be written the record lives in memory.
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

from gradient_ledger.files import write_atomically

Entry = dict[str, Any]

_memory: dict[int, dict[str, Entry]] = {}
"""What could not be written, by lesson: it lasts as long as the kernel."""


def home(default: Path | str = ".course") -> Path:
    """The folder of the record: COURSE_HOME where it is set, else `default`."""
    return Path(os.environ.get("COURSE_HOME") or default).expanduser().absolute()


def read(lesson: int) -> dict[str, Entry]:
    """{exercise or question id: entry} of one lesson. A file that is not a record is renamed and kept beside."""
    if lesson in _memory:
        return _memory[lesson]
    path = _path(lesson)
    try:
        data = json.loads(path.read_text(encoding="utf-8"))
        if not isinstance(data, dict) or not all(isinstance(entry, dict) for entry in data.values()):
            raise ValueError("not a record")
        return data
    except OSError:
        return {}
    except ValueError:
        _set_aside(path, "damaged")
        return {}


def damaged() -> list[Path]:
    """Files that could not be read and were set aside."""
    return sorted(home().glob("lesson*.damaged-*"))


def entry(identifier: str) -> Entry:
    """What is known of one exercise or question; empty when nothing is."""
    return dict(read(_lesson(identifier)).get(identifier, {}))


def update(identifier: str, **values: Any) -> Entry:
    """Set values of one entry and write its lesson's file, atomically. Returns the new entry."""
    lesson = _lesson(identifier)
    everything = read(lesson)  # read again: another kernel may have written since
    everything[identifier] = {**everything.get(identifier, {}), **values}
    try:
        write_atomically(_path(lesson), json.dumps(everything, indent=1, sort_keys=True, ensure_ascii=False) + "\n")
    except OSError:
        _memory[lesson] = everything
    return everything[identifier]


def clear(lesson: int) -> Path | None:
    """Begin the record of one lesson anew; gives where the old one is kept, None when there was none."""
    _memory.pop(lesson, None)
    return _set_aside(_path(lesson), "old") if _path(lesson).is_file() else None


def _lesson(identifier: str) -> int:
    return int(identifier.split(".")[0])


def _path(lesson: int) -> Path:
    return home() / f"lesson{lesson}.json"


def _set_aside(path: Path, why: str) -> Path | None:
    number = 1
    while (kept := path.with_name(f"{path.name}.{why}-{number}")).exists():
        number += 1
    try:
        os.replace(path, kept)
    except OSError:
        return None  # a read-only folder: the file stays where it is
    return kept
