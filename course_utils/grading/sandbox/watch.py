"""How much the processes of a submission hold: memory, number and processor time, read from /proc."""

from __future__ import annotations

import os
from pathlib import Path

_PAGE = os.sysconf("SC_PAGE_SIZE") if hasattr(os, "sysconf") else 4096
_TICKS = os.sysconf("SC_CLK_TCK") if hasattr(os, "sysconf") else 100


def family(pid: int) -> list[int]:
    """A process and all that descend from it; an orphan belongs to the first of its pid namespace."""
    found, left = [], [pid]
    while left:
        one = left.pop()
        found.append(one)
        for task in Path(f"/proc/{one}/task").glob("*/children"):
            left += [int(word) for word in _text(task).split()]
    return found


def resident(pid: int) -> int:
    """Bytes resident, shared pages counted in full: cheap, and never less than what is held."""
    words = _text(Path(f"/proc/{pid}/statm")).split()
    return int(words[1]) * _PAGE if len(words) > 1 else 0


def own(pid: int) -> int:
    """Bytes that are this process's own or, of pages shared, its share; 0 where it is gone or may not be read."""
    for row in _text(Path(f"/proc/{pid}/smaps_rollup")).splitlines():
        if row.startswith("Pss:"):
            return int(row.split()[1]) * 1024
    return 0


def processor_time(pid: int) -> float:
    """Seconds of processor time of a process and of those of its children that have ended."""
    fields = _text(Path(f"/proc/{pid}/stat")).rpartition(")")[2].split()
    return sum(map(int, fields[11:15])) / _TICKS if len(fields) > 14 else 0.0


def _text(path: Path) -> str:
    try:
        return path.read_text()
    except OSError:
        return ""


class Watch:
    """Watches one child and its descendants."""

    def __init__(self, pid: int, memory: int, processes: int, seconds: float) -> None:
        """It may take so many bytes beyond what it begins with, so many processes and seconds of processor time."""
        # A child begins with the pages of the warm process, which are resident and not its own.
        self._pid, self._memory, self._processes = pid, memory + resident(pid), processes
        self._seconds = seconds

    def over(self) -> str:
        """`"memory"`, `"processes"` or `"processor"` where there is too much of it, else empty."""
        processes = family(self._pid)
        if len(processes) > self._processes:
            return "processes"
        if sum(map(resident, processes)) > self._memory and sum(map(own, processes)) > self._memory:
            return "memory"
        if sum(map(processor_time, processes)) > self._seconds:
            return "processor"
        return ""
