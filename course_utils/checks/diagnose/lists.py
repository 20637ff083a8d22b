"""Lists of tensors: one too many or too few, out of step, right up to a point, sums or differences. Also of numbers."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise

import torch

from course_utils.checks.diagnose.run import MOST_APPROXIMATE, Run, close, digits_in_words, joined
from course_utils.checks.difference import RESULT, Container, nice, wide
from course_utils.exercise import Exercise
from course_utils.plain import TensorData

Row = list[torch.Tensor]


def questions(exercise: Exercise, group: Sequence[Run], runs: Sequence[Run]) -> list[str]:
    """Sentences about a list: the result, or, of tensors, the first thing in it."""
    listed = [run.listed for run in group]
    if group and all(one is not None for one in listed):
        return _numbers(group, [one for one in listed if one is not None])
    for where, named in ((RESULT, ""), (f"{RESULT}[0]", "In the first of the two things returned: ")):
        rows = [_rows(run, where) for run in group]
        both = [row for row in rows if row is not None]
        if len(both) == len(rows):
            said = (
                _length(both)
                or _shifted(both)
                or _sums(both)
                or _paces(both)
                or _nearly(both)
                or _first_step(both)
                or _up_to(both)
            )
            said = said or _last_alone(both) or _alike(both)
            return [named + sentence[0].lower() + sentence[1:] if named else sentence for sentence in said]
    return []


def _numbers(group: Sequence[Run], listed: Sequence[tuple[list[int], list[int]]]) -> list[str]:
    """What a list of whole numbers holds too many, and what it lacks."""

    def on(which: int) -> str:
        shown = [f"{_in_words(one[which])} on case {run.number}" for run, one in zip(group, listed, strict=True)]
        return "; ".join(shown[:3]) + (f"; and more on {len(shown) - 3} others" if len(shown) > 3 else "")

    if not any(lacks for _, lacks in listed):
        return [f"Nothing is missing in the list, but it holds what does not belong there: {on(0)}."]
    if not any(odd for odd, _ in listed):
        return [f"Nothing is in the list that does not belong there, but something is missing: {on(1)}."]
    if all(odd and lacks for odd, lacks in listed):
        return [f"The list holds what does not belong there ({on(0)}), and lacks what does ({on(1)})."]
    return []


def _in_words(numbers: Sequence[int], most: int = 4) -> str:
    """Whole numbers in one phrase: 2; 2 and 5; 0, 1, 2, 3 and 4 more."""
    shown = [str(n) for n in numbers]
    return joined(shown) if len(shown) <= most else f"{', '.join(shown[:most])} and {len(shown) - most} more"


def _rows(run: Run, where: str) -> tuple[Row, Row, float] | None:
    """Expected and given entries of a list on one case, and the tolerance."""
    wanted, got = run.expected.get(where), run.leaves.get(where)
    if not isinstance(wanted, Container) or not isinstance(got, Container):
        return None
    if wanted.kind != "list" or got.kind != "list":
        return None
    a, b = run.children(run.expected, where), run.children(run.leaves, where)
    if a is None or b is None or not all(isinstance(leaf, TensorData) for leaf in (*a, *b)):
        return None
    if not any(one.where.startswith(f"{where}[") for one in run.differences):
        return None
    limit = run.limit(a[0].value, (b or a)[0].value) if a else 1e-9
    return [wide(leaf.value) for leaf in a], [wide(leaf.value) for leaf in b], limit


def _same(a: Row, b: Row, limit: float) -> bool:
    return len(a) == len(b) and all(_near(x, y, limit, a) for x, y in zip(a, b, strict=True))


def _near(x: torch.Tensor, y: torch.Tensor, limit: float, among: Row) -> bool:
    """Near each other beside the largest of the list: early entries of a sum may be small."""
    if x.shape != y.shape or not bool(torch.isfinite(y).all()):
        return False
    scale = max((float(t.abs().max()) for t in among if t.numel()), default=0.0) or 1.0
    return not x.numel() or float((x - y).abs().max()) <= limit * scale


def _length(rows: list[tuple[Row, Row, float]]) -> list[str]:
    if all(len(b) == len(a) for a, b, _ in rows):
        return []
    offsets = {len(b) - len(a) for a, b, _ in rows}
    if len(offsets) > 1:
        if len({len(b) for _, b, _ in rows}) == 1 and len(rows) > 1:
            return [f"The list has {len(rows[0][1])} entries on every one of these cases, whatever was asked for."]
        return []
    by = offsets.pop()
    ends = by < 0 and all(_same(a[:by], b, limit) for a, b, limit in rows)
    begins = by < 0 and all(_same(a[-by:], b, limit) for a, b, limit in rows)
    if ends and not begins:
        return [f"The list is right but for its end: the last {_count(-by)} missing."]
    if begins and not ends:
        return [f"The list is right but for its beginning: the first {_count(-by)} missing."]
    if by > 0 and all(_same(a, b[by:], limit) for a, b, limit in rows):
        return [f"There {_count_too_many(by)} too many, at the beginning; the rest is the right list."]
    if by > 0 and all(_same(a, b[:-by], limit) for a, b, limit in rows):
        return [f"There {_count_too_many(by)} too many, at the end; what comes before is the right list."]
    word = "too many" if by > 0 else "too few"
    return [f"The list has {abs(by)} {'entry' if abs(by) == 1 else 'entries'} {word} on each of these cases."]


def _count(number: int) -> str:
    return "entry is" if number == 1 else f"{number} entries are"


def _count_too_many(number: int) -> str:
    return "is one entry" if number == 1 else f"are {number} entries"


def _shifted(rows: list[tuple[Row, Row, float]]) -> list[str]:
    """The right entries out of step, in reverse, or in another order."""
    long = [row for row in rows if len(row[0]) > 1]
    if not long or len(long) < len(rows):
        return []
    if all(_same(a[::-1], b, limit) for a, b, limit in rows):
        return ["The right entries stand in reverse order: the last one first."]
    if all(_same(a[:-1], b[1:], limit) for a, b, limit in rows):
        return ["The right entries stand one place too late: entry 1 holds what belongs to entry 0, and so on."]
    if all(_same(a[1:], b[:-1], limit) for a, b, limit in rows):
        return ["The right entries stand one place too early: entry 0 holds what belongs to entry 1, and so on."]
    return []


def _sums(rows: list[tuple[Row, Row, float]]) -> list[str]:
    """Running totals given for single values, or the other way round."""
    usable = [row for row in rows if len(row[0]) > 1 and len(row[0]) == len(row[1])]
    if not usable or any(len(a) != len(b) or _ragged(a) or _ragged(b) for a, b, _ in rows):
        return []
    if all(_same(_running(a), b, limit) for a, b, limit in rows):
        return ["Entry i is the sum of the right entries 0 to i."]
    if all(_same(_increments(a), b, limit) for a, b, limit in rows):
        return ["Entry i is what comes to the right list at i: its entry i minus the one before."]
    return []


def _ragged(row: Row) -> bool:
    return len({tuple(t.shape) for t in row}) > 1


def _running(row: Row) -> Row:
    return list(torch.stack(row).cumsum(0)) if row else []


def _increments(row: Row) -> Row:
    return [row[0], *(later - earlier for earlier, later in pairwise(row))] if row else []


def _paces(rows: list[tuple[Row, Row, float]]) -> list[str]:
    """Steps of one length, where the right ones differ: how far each entry is from the one before."""
    lengths = []
    for a, b, limit in rows:
        if len(a) != len(b) or len(a) < 3 or _ragged(a) or _ragged(b) or not _near(a[0], b[0], limit, a):
            continue
        if not _one_length([float((y - x).norm()) for x, y in pairwise(a)]):
            lengths.append([float((y - x).norm()) for x, y in pairwise(b)])
    if len(lengths) < 2 or not all(_one_length(case) for case in lengths):
        return []
    return [
        f"All steps of a walk have one length, {nice(lengths[0][0])} on the first of these cases: the size of the "
        "gradient does not show in them."
    ]


def _one_length(lengths: Sequence[float]) -> bool:
    return max(lengths) > 0 and max(lengths) - min(lengths) <= 1e-3 * max(lengths)


def _nearly(rows: list[tuple[Row, Row, float]]) -> list[str]:
    """The step from entry 0 to entry 1 as it should be to some digits, and not further."""
    digits = []
    for a, b, limit in rows:
        if min(len(a), len(b)) < 2 or not _near(a[0], b[0], limit, a) or a[1].shape != b[1].shape:
            return []
        right, error = a[1] - a[0], float((b[1] - a[1]).abs().max())
        if not bool(right.any()) or not limit < error / float(right.abs().max()) < MOST_APPROXIMATE:
            return []
        digits.append(max(1, int(-math.log10(error / float(right.abs().max())))))
    return [
        f"From entry 0 to entry 1 the list moves as it should to about {digits_in_words(digits)}, and not further, "
        "as where a gradient is an approximation, measured by differences for instance."
    ]


def _first_step(rows: list[tuple[Row, Row, float]]) -> list[str]:
    """What comes after the right beginning: entry 1 minus entry 0, beside what it should be."""
    ratios, sizes = [], []
    for a, b, limit in rows:
        if min(len(a), len(b)) < 2 or a[0].shape != b[0].shape or b[1].shape != a[1].shape:
            return []
        if not _near(a[0], b[0], limit, a) or _near(a[1], b[1], limit, a):
            return []
        right, given = (a[1] - a[0]).flatten(), (b[1] - b[0]).flatten()
        if not bool(right.any()) or not bool(given.any()) or not bool(torch.isfinite(given).all()):
            return []
        c = float(right @ given / (right @ right))
        ratios.append(c if close(given, c * right, 1e-6) else math.nan)
        sizes.append(float(given.abs().max() - given.abs().min()) <= 1e-4 * float(given.abs().max()))
    if any(len(a[0].flatten()) > 1 for a, _, _ in rows):
        if all(sizes):
            return ["From entry 0 to entry 1 every coordinate moves by the same amount, whatever its gradient is."]
        if all(math.isfinite(c) for c in ratios):
            way = (
                "the right way"
                if all(c > 0 for c in ratios)
                else "the opposite way"
                if all(c < 0 for c in ratios)
                else ""
            )
            shown = ", ".join(dict.fromkeys(nice(abs(c)) for c in ratios))
            if way:
                return [f"From entry 0 to entry 1 the list goes {way}, {shown} times as far as it should."]
    return []


def _up_to(rows: list[tuple[Row, Row, float]]) -> list[str]:
    """Right at the beginning, and wrong from one entry on."""
    firsts = []
    for a, b, limit in rows:
        if len(a) != len(b):
            return []
        wrong = [i for i, (x, y) in enumerate(zip(a, b, strict=True)) if not _near(x, y, limit, a)]
        if not wrong or wrong[0] == 0:
            return []
        firsts.append((wrong[0], wrong == list(range(wrong[0], len(a))), len(a)))
    if all(first == count - 1 for first, _, count in firsts) and all(count > 2 for _, _, count in firsts):
        return ["Every entry but the last is right."]
    if len({first for first, _, _ in firsts}) == 1 and all(onwards for _, onwards, _ in firsts):
        first = firsts[0][0]
        right = "entry 0 is right" if first == 1 else f"entries 0 to {first - 1} are right"
        return [f"On each of these cases {right}; from entry {first} on the list parts from the right one."]
    return []


def _last_alone(rows: list[tuple[Row, Row, float]]) -> list[str]:
    """Only the last entry right: what runs backward goes wrong after its first station."""
    for a, b, limit in rows:
        if len(a) != len(b) or len(a) < 2 or not _near(a[-1], b[-1], limit, a):
            return []
        if any(_near(x, y, limit, a) for x, y in zip(a[:-1], b[:-1], strict=True)):
            return []
    return ["The last entry is right, all those before it are wrong."]


def _alike(rows: list[tuple[Row, Row, float]]) -> list[str]:
    if not all(len(b) > 1 and all(close(b[0], other, limit) for other in b[1:]) for a, b, limit in rows):
        return []
    if all(any(_near(x, b[0], limit, a) for x in a) for a, b, limit in rows):
        if all(_near(a[-1], b[0], limit, a) for a, b, limit in rows):
            return ["Every entry is the same, and is what only the last one should be."]
        if all(_near(a[0], b[0], limit, a) for a, b, limit in rows):
            return ["Every entry is the same, and is what only the first one should be."]
    return ["Every entry of the list is the same."]
