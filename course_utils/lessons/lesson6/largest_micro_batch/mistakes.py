"""What is often done instead in exercise 6.7."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Sequence
from math import isqrt

from course_utils.checks.mistakes import mistake
from course_utils.lessons.lesson6.largest_micro_batch.task import divisors

Peak = Callable[[int], int]
Code = Callable[[Peak, int, int], object]


def _among(sizes: Callable[[int], Sequence[int]]) -> Code:
    """The largest of some sizes that fits."""

    def code(peak_bytes: Peak, batch_size: int, budget: int) -> object:
        candidates = sizes(batch_size)
        fitting = bisect_right(candidates, budget, key=peak_bytes)
        if fitting:
            return candidates[fitting - 1]
        raise ValueError("no size fits")

    return code


def _right_size(peak_bytes: Peak, batch_size: int, budget: int) -> int:
    """The size that is asked for, as others go on from it."""
    size = _among(divisors)(peak_bytes, batch_size, budget)
    assert isinstance(size, int)
    return size


# ------------------------------------------------------------------ rules about how


@mistake(
    "More measurements than allowed",
    "The answer is right, be it a size or a ValueError. peak_bytes was called more often than a search that halves the "
    "list of divisors has to.",
    "Each measurement says something about all smaller sizes, or about all larger ones. Which size do you measure first, "
    "so that either answer spares you half of them? And is any size measured twice?",
    "With a handful of divisors a walk from one end is as good.",
)
def too_many_measurements(peak_bytes: Peak, batch_size: int, budget: int) -> object:
    fitting = [size for size in divisors(batch_size) if peak_bytes(size) <= budget]
    if not fitting:
        raise ValueError("no size fits")
    return max(fitting)


@mistake(
    "Sizes were measured that do not divide batch_size",
    "The answer is right, be it a size or a ValueError. On the way peak_bytes was called for sizes that can never be the "
    "answer.",
    "Make the list of divisors first. Then search in it by place, not by number of rows.",
    "A search by halves comes up in textbooks as one over numbers.",
)
def other_sizes_measured(peak_bytes: Peak, batch_size: int, budget: int) -> object:
    most = _largest_of_all(peak_bytes, batch_size, budget)
    if most < 1:
        raise ValueError("no size fits")
    return max(size for size in divisors(batch_size) if size <= most)


def _largest_of_all(peak_bytes: Peak, batch_size: int, budget: int) -> int:
    return bisect_right(range(1, batch_size + 1), budget, key=peak_bytes)


# ------------------------------------------------------------------ what is taken for known


def _in_proportion_to(measured: Callable[[int], int]) -> Code:
    def code(peak_bytes: Peak, batch_size: int, budget: int) -> object:
        size = measured(batch_size)
        a_row = peak_bytes(size) / size
        fitting = [size for size in divisors(batch_size) if size * a_row <= budget]
        if not fitting:
            raise ValueError("no size fits")
        return max(fitting)

    return code


@mistake(
    "Peaks were worked out from one measurement",
    "What came back is the largest size that would fit if the peak grew in proportion to the rows. One size was measured.",
    "Section 1: part of a peak is there however few rows there are. What do you know of a size that was not measured?",
    "What the graphs keep does grow so.",
    also=(_in_proportion_to(lambda batch_size: batch_size),),
)
def worked_out_in_proportion(peak_bytes: Peak, batch_size: int, budget: int) -> object:
    return _in_proportion_to(lambda batch_size: 1)(peak_bytes, batch_size, budget)


# ------------------------------------------------------------------ where nothing fits


@mistake(
    "No ValueError where no size fits",
    "Where a single row is above the budget, something came back and nothing was raised. The caller would go on with it.",
    "What does your search hold at its end if no size has fitted? Ask for that before you return.",
    "A search that begins with a size as its best, or ends at place -1 of a list, has something to return where nothing "
    "fitted.",
)
def nothing_raised(peak_bytes: Peak, batch_size: int, budget: int) -> object:
    sizes = divisors(batch_size)
    return sizes[bisect_right(sizes, budget, key=peak_bytes) - 1]


# ------------------------------------------------------------------ which sizes


def _all_but_the_last(batch_size: int) -> Sequence[int]:
    return divisors(batch_size)[:-1] if batch_size > 1 else [1]


@mistake(
    "batch_size itself was left out",
    "Where the whole batch fits in one piece, a smaller size came back, or none.",
    "Does batch_size divide batch_size? Where does your range end?",
    "range(1, n) ends before n.",
    also=(_among(_all_but_the_last),),
)
def whole_batch_left_out(peak_bytes: Peak, batch_size: int, budget: int) -> object:
    return _among(lambda number: divisors(number)[:-1])(peak_bytes, batch_size, budget)


@mistake(
    "A single row was left out",
    "Where one row fits and no larger size does, 1 is the answer. It did not come back.",
    "Does 1 divide batch_size? Where does your range begin?",
    also=(_among(lambda number: divisors(number)[1:] or [1]),),
)
def single_row_left_out(peak_bytes: Peak, batch_size: int, budget: int) -> object:
    return _among(lambda number: divisors(number)[1:])(peak_bytes, batch_size, budget)


@mistake(
    "Divisors above the square root were left out",
    "What came back is the largest size that fits among the divisors up to the square root of batch_size.",
    "Divisors come in pairs, n and batch_size // n. Which one of a pair does your list lack?",
    "Looking for divisors up to the square root is enough, if one takes both of each pair.",
    also=(_among(lambda number: [n for n in divisors(number) if n <= isqrt(number)] + [number] * (number > 1)),),
)
def small_divisors_alone(peak_bytes: Peak, batch_size: int, budget: int) -> object:
    return _among(lambda number: [n for n in divisors(number) if n <= isqrt(number)])(peak_bytes, batch_size, budget)


@mistake(
    "The size need not divide batch_size",
    "What came back is the largest number of rows that fits. Where it does not divide batch_size, the last micro-batch of "
    "the window would be smaller than the others.",
    "Among which sizes do you search?",
)
def any_number_of_rows(peak_bytes: Peak, batch_size: int, budget: int) -> object:
    most = _largest_of_all(peak_bytes, batch_size, budget)
    if most < 1:
        raise ValueError("no size fits")
    return most


def _halved_where_it_can_be(batch_size: int) -> Sequence[int]:
    sizes = [batch_size]
    while sizes[0] % 2 == 0:
        sizes.insert(0, sizes[0] // 2)
    return sizes


def _halved(batch_size: int) -> Sequence[int]:
    sizes = [batch_size]
    while sizes[0] > 1:
        sizes.insert(0, sizes[0] // 2)
    return sizes


@mistake(
    "Sizes were left out: halving reaches few divisors",
    "The result, be it a size or a ValueError, is that of a search among batch_size, its half, the half of that, and so "
    "on, and perhaps 1. Most other divisors were left out.",
    "Write down the divisors of 12. Which of them does halving meet?",
    "Where batch_size is a power of two, its halves are all its divisors.",
    also=(
        _among(_halved_where_it_can_be),
        _among(lambda number: sorted({1, *_halved_where_it_can_be(number)})),
    ),
)
def halved_until_it_fits(peak_bytes: Peak, batch_size: int, budget: int) -> object:
    return _among(_halved)(peak_bytes, batch_size, budget)


def _doubled(peak_bytes: Peak, batch_size: int, budget: int) -> int:
    if peak_bytes(1) > budget:
        raise ValueError("no size fits")
    size = 1
    while 2 * size <= batch_size and peak_bytes(2 * size) <= budget:
        size *= 2
    return size


@mistake(
    "Powers of two alone were tried",
    "What came back is the largest power of two that fits, among all or among those that divide batch_size. Other "
    "divisors were left out.",
    "Write down the divisors of 12. Which of them are no powers of two, and which powers of two are none of them?",
    "Batch sizes are powers of two by habit.",
    also=(_doubled,),
)
def powers_of_two_alone(peak_bytes: Peak, batch_size: int, budget: int) -> object:
    return _among(lambda number: [n for n in divisors(number) if n.bit_count() == 1])(peak_bytes, batch_size, budget)


# ------------------------------------------------------------------ which answer


@mistake(
    "A peak that is the budget was refused",
    "Where the peak of a size is the very number of the budget, that size was taken as one that does not fit.",
    "At most means smaller or equal. Which comparison do you write?",
)
def budget_itself_refused(peak_bytes: Peak, batch_size: int, budget: int) -> object:
    sizes = divisors(batch_size)
    fitting = bisect_left(sizes, budget, key=peak_bytes)
    if not fitting:
        raise ValueError("no size fits")
    return sizes[fitting - 1]


def _in_pairs(batch_size: int) -> list[int]:
    """1, batch_size, 2, its half, and so on."""
    small = [size for size in range(1, isqrt(batch_size) + 1) if batch_size % size == 0]
    return list(dict.fromkeys(size for one in small for size in (one, batch_size // one)))


@mistake(
    "The divisors were not sorted",
    "What came back is what a search by halves finds in the divisors 1, batch_size, 2, its half, and so on: in the order in "
    "which they are found in pairs.",
    "Such a search throws half of a list away, and trusts that all sizes there are larger, or all smaller. In which order do "
    "yours stand?",
    "Each divisor up to the square root brings another one with it, and a list is quickly made of both.",
    also=(_among(_in_pairs),),
)
def not_sorted(peak_bytes: Peak, batch_size: int, budget: int) -> object:
    sizes = _in_pairs(batch_size)
    low, high, best = 0, len(sizes) - 1, 0
    while low <= high:
        middle = (low + high) // 2
        if peak_bytes(sizes[middle]) <= budget:
            best, low = max(best, sizes[middle]), middle + 1
        else:
            high = middle - 1
    if not best:
        raise ValueError("no size fits")
    return best


@mistake(
    "A peak that is the budget ended the search",
    "Where the peak of a size is the very number of the budget, that size came back. A larger one has the same peak "
    "there, and fits, too.",
    "peak_bytes never falls, but it may stay as it is. What do you know of the larger sizes when a peak is the budget?",
    "A search for a number in a sorted list ends when it is found. Here the last of its kind is asked for.",
    where=lambda spec: spec["kind"] == "level" and spec["fits"] is not None,
)
def ended_at_the_budget(peak_bytes: Peak, batch_size: int, budget: int) -> object:
    sizes = divisors(batch_size)
    low, high = 0, len(sizes) - 1
    while low <= high:
        middle = (low + high) // 2
        peak = peak_bytes(sizes[middle])
        if peak == budget:
            return sizes[middle]
        low, high = (middle + 1, high) if peak < budget else (low, middle - 1)
    if high < 0:
        raise ValueError("no size fits")
    return sizes[high]


@mistake(
    "The number of micro-batches was returned",
    "What came back is batch_size divided by the right size: how many micro-batches there are, not how large each is.",
    "peak_bytes is asked for a number of rows, and that is what is to come back.",
    "The window, too, is found by this search.",
)
def number_of_micro_batches(peak_bytes: Peak, batch_size: int, budget: int) -> object:
    return batch_size // _right_size(peak_bytes, batch_size, budget)


@mistake(
    "The peak was returned, not the size",
    "What came back is the peak of the right size, in bytes.",
    "Which of the two does the exercise ask for?",
)
def peak_returned(peak_bytes: Peak, batch_size: int, budget: int) -> object:
    return peak_bytes(_right_size(peak_bytes, batch_size, budget))


def _one_further(peak_bytes: Peak, batch_size: int, budget: int) -> object:
    sizes = divisors(batch_size)
    return sizes[min(bisect_right(sizes, budget, key=peak_bytes), len(sizes) - 1)]


@mistake(
    "One place too far in the list",
    "What came back is the next larger divisor after the right one: the first that does not fit.",
    "At the end of your search, do its two places point at sizes that fit, or just behind them?",
    "Half-open ranges name the place behind the last one.",
    also=(_one_further,),
)
def one_place_too_far(peak_bytes: Peak, batch_size: int, budget: int) -> object:
    if peak_bytes(1) > budget:
        raise ValueError("no size fits")
    return _one_further(peak_bytes, batch_size, budget)


@mistake(
    "One place short in the list",
    "What came back is the divisor before the right one: a larger size fits, too.",
    "At the end of your search, do its two places point at sizes that fit, or just behind them? And is the last of the "
    "list ever measured?",
)
def one_place_short(peak_bytes: Peak, batch_size: int, budget: int) -> object:
    sizes = divisors(batch_size)
    fitting = bisect_right(sizes, budget, key=peak_bytes)
    if not fitting:
        raise ValueError("no size fits")
    return sizes[max(fitting - 2, 0)]


@mistake(
    "The smallest size that fits was returned",
    "A single row came back wherever it fits. Larger sizes fit, too.",
    "Larger micro-batches mean fewer passes. From which end do you look, and where do you stop?",
)
def smallest_size(peak_bytes: Peak, batch_size: int, budget: int) -> object:
    if peak_bytes(1) > budget:
        raise ValueError("no size fits")
    return 1


def _on_the_line(first: Callable[[int], int], second: Callable[[int], int]) -> Code:
    def code(peak_bytes: Peak, batch_size: int, budget: int) -> object:
        a, b = first(batch_size), second(batch_size)
        if a == b:
            if peak_bytes(a) > budget:
                raise ValueError("no size fits")
            return a
        low, high = peak_bytes(a), peak_bytes(b)
        row = (high - low) / (b - a)
        fitting = [size for size in divisors(batch_size) if low + row * (size - a) <= budget]
        if not fitting:
            raise ValueError("no size fits")
        return max(fitting)

    return code


@mistake(
    "The peak was taken for a straight line",
    "The size is the one that a straight line through two measured peaks gives, as if each row cost the same. Where the "
    "peak grows in another way, it may be wrong.",
    "The exercise says what is known about peak_bytes: it never falls. Measure the size that you return, and the next "
    "larger one.",
    "Activations do grow with the rows, and the parameters do not, so a line is a good guess for many models.",
    also=(_on_the_line(lambda number: 1, lambda number: divisors(number)[min(1, len(divisors(number)) - 1)]),),
)
def straight_line(peak_bytes: Peak, batch_size: int, budget: int) -> object:
    return _on_the_line(lambda number: 1, lambda number: number)(peak_bytes, batch_size, budget)


@mistake(
    "The size came back as a float",
    "The number is the right one, and it is a float: rows of a tensor cannot be cut by it.",
    "In Python 12 / 4 is 3.0. Which division gives an int?",
)
def size_as_a_float(peak_bytes: Peak, batch_size: int, budget: int) -> object:
    return float(_right_size(peak_bytes, batch_size, budget))
