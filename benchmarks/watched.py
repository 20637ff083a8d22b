"""Processor time and memory of this process and of all that it started, from /proc."""

from __future__ import annotations

import os
from collections import defaultdict
from pathlib import Path

_TICKS = os.sysconf("SC_CLK_TCK") if hasattr(os, "sysconf") else 100


def processor_seconds() -> float:
    """User and system time, with that of processes that ended; to a hundredth of a second."""
    return sum(sum(_fields(pid)[1:]) for pid in _family(os.getpid())) / _TICKS


def memory(of: int) -> int:
    """Bytes of a process and all that it started, shared pages counted once among those who share them (PSS)."""
    return sum(map(_pss, _family(of)))


def _family(root: int) -> list[int]:
    """A process and all its descendants that are alive."""
    children = defaultdict(list)
    for entry in os.listdir("/proc"):
        if entry.isdigit():
            children[_fields(int(entry))[0]].append(int(entry))
    found = [root]
    for pid in found:
        found += children[pid]
    return found


def _fields(pid: int) -> tuple[int, int, int, int, int]:
    """Its parent, then ticks of itself and of its children that ended: user, system, user, system."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text(encoding="ascii", errors="replace").rpartition(")")[2].split()
    except OSError:  # it ended just now
        return -1, 0, 0, 0, 0
    return int(fields[1]), int(fields[11]), int(fields[12]), int(fields[13]), int(fields[14])


def _pss(pid: int) -> int:
    try:
        rows = Path(f"/proc/{pid}/smaps_rollup").read_text(encoding="ascii").splitlines()
    except OSError:
        return 0
    return sum(int(row.split()[1]) * 1024 for row in rows if row.startswith("Pss:"))
