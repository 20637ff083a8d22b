"""What an instructor should know of a folder of submissions: warnings, of each kind one."""

from __future__ import annotations

from course_utils.grading.names import shown

EXAMPLES = 5
"""Names in one warning."""


class Oddities:
    """What was left alone or is unclear: one warning a kind, however many files there are of it."""

    def __init__(self) -> None:
        self._kinds: dict[str, tuple[dict[str, None], set[int]]] = {}

    def add(self, kind: str, name: str) -> None:
        examples, seen = self._kinds.setdefault(kind, ({}, set()))
        seen.add(hash(name))
        if len(examples) < EXAMPLES:
            examples[shown(name)] = None

    def told(self) -> tuple[str, ...]:
        lines = []
        for kind, (examples, seen) in self._kinds.items():
            more = f" and {len(seen) - len(examples):,} more" if len(seen) > len(examples) else ""
            lines.append(f"{kind}: {', '.join(examples)}{more}.")
        return tuple(lines)
