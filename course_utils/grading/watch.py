"""How much the processes of a submission hold: memory and number, read from /proc."""

from __future__ import annotations

from pathlib import Path

_PAGE = 4096


def _page() -> int:
    try:
        import resource

        return resource.getpagesize()
    except ImportError:
        return _PAGE


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
    return int(words[1]) * _page() if len(words) > 1 else 0


def own(pid: int) -> int:
    """Bytes that are this process's own or, of pages shared, its share; 0 where it is gone or may not be read."""
    for row in _text(Path(f"/proc/{pid}/smaps_rollup")).splitlines():
        if row.startswith("Pss:"):
            return int(row.split()[1]) * 1024
    return 0


def _text(path: Path) -> str:
    try:
        return path.read_text()
    except OSError:
        return ""


class Watch:
    """Watches one child and its descendants."""

    def __init__(self, pid: int, memory: int, processes: int) -> None:
        # A child begins with the pages of the warm process, which are resident and not its own.
        self._pid, self._memory, self._processes = pid, memory + resident(pid), processes

    def over(self) -> str:
        """`"memory"` or `"processes"` where there is too much of it, else empty."""
        processes = family(self._pid)
        if len(processes) > self._processes:
            return "processes"
        if sum(map(resident, processes)) > self._memory and sum(map(own, processes)) > self._memory:
            return "memory"
        return ""
