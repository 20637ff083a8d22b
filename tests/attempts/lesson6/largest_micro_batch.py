"""Attempts at exercise 6.7, largest_micro_batch: what learners write, and what the check must say of it."""

import bisect
import functools
import math

import numpy as np

from course_utils.authoring.attempts import raised, right, wrong
from course_utils.checks import effects
from course_utils.lessons.lesson6.largest_micro_batch import mistakes


@right
def two_places(peak_bytes, batch_size, budget):
    sizes = [n for n in range(1, batch_size + 1) if batch_size % n == 0]
    low, high = -1, len(sizes) - 1
    while low < high:
        middle = (low + high + 1) // 2
        if peak_bytes(sizes[middle]) <= budget:
            low = middle
        else:
            high = middle - 1
    if low < 0:
        raise ValueError("nothing fits")
    return sizes[low]


@right
def smallest_asked_first(peak_bytes, batch_size, budget):
    sizes = sorted(
        {d for n in range(1, math.isqrt(batch_size) + 1) if batch_size % n == 0 for d in (n, batch_size // n)}
    )
    if peak_bytes(sizes[0]) > budget:
        raise ValueError(f"one row needs {peak_bytes(1) if len(sizes) > 40 else 'more'} bytes")
    low, high = 0, len(sizes)
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if peak_bytes(sizes[middle]) <= budget else (low, middle)
    return sizes[low]


@right
def whole_batch_asked_first(peak_bytes, batch_size, budget):
    if peak_bytes(batch_size) <= budget:
        return batch_size

    def search(sizes):
        if not sizes:
            return 0
        middle = len(sizes) // 2
        if peak_bytes(sizes[middle]) <= budget:
            return search(sizes[middle + 1 :]) or sizes[middle]
        return search(sizes[:middle])

    found = search([n for n in range(1, batch_size) if batch_size % n == 0])
    if not found:
        raise ValueError
    return found


@right
def bisect_with_a_key(peak_bytes, batch_size, budget):
    sizes = [n for n in range(1, batch_size + 1) if not batch_size % n]
    place = bisect.bisect(sizes, budget, key=peak_bytes)
    return max(sizes[:place])  # the max of nothing is a ValueError


@right
def bisect_over_the_number_of_micro_batches(peak_bytes, batch_size, budget):
    counts = [k for k in range(1, batch_size + 1) if batch_size % k == 0]  # many micro-batches are small ones
    place = bisect.bisect_left(counts, True, key=lambda k: peak_bytes(batch_size // k) <= budget)
    if place == len(counts):
        raise ValueError("no number of micro-batches is enough")
    return batch_size // counts[place]


@right
def numpy_divisors(peak_bytes, batch_size, budget):
    sizes = np.flatnonzero(batch_size % np.arange(1, batch_size + 1) == 0) + 1
    best, rest = None, sizes
    while len(rest):
        middle = len(rest) // 2
        if peak_bytes(rest[middle]) <= budget:
            best, rest = rest[middle], rest[middle + 1 :]
        else:
            rest = rest[:middle]
    if best is None:
        raise ValueError("nothing fits")
    return best


@right
def measured_once_each(peak_bytes, batch_size, budget):
    measured = functools.lru_cache(peak_bytes)
    sizes = [n for n in range(1, batch_size + 1) if batch_size % n == 0]
    place = len(sizes) // 2
    step = max(len(sizes) // 2, 1)
    if measured(sizes[0]) > budget:
        raise ValueError("nothing fits")
    low, high = 0, len(sizes)
    while high - low > 1:
        place = low + (high - low) // 2
        if measured(sizes[place]) <= budget:
            low = place
        else:
            high = place
    assert measured(sizes[low]) <= budget and step
    return sizes[low]


# ------------------------------------------------------------------ wrong


@wrong(mistakes.too_many_measurements)
def from_the_largest_down(peak_bytes, batch_size, budget):
    for size in range(batch_size, 0, -1):
        if batch_size % size == 0 and peak_bytes(size) <= budget:
            return size
    raise ValueError("nothing fits")


@wrong(mistakes.too_many_measurements)
def every_divisor_into_a_dict(peak_bytes, batch_size, budget):
    peaks = {n: peak_bytes(n) for n in range(1, batch_size + 1) if batch_size % n == 0}
    fitting = [n for n, peak in peaks.items() if peak <= budget]
    if not fitting:
        raise ValueError("nothing fits")
    return fitting[-1]


@wrong(mistakes.other_sizes_measured)
def search_over_numbers_then_down(peak_bytes, batch_size, budget):
    low, high = 0, batch_size
    while low < high:
        middle = (low + high + 1) // 2
        if peak_bytes(middle) <= budget:
            low = middle
        else:
            high = middle - 1
    while low and batch_size % low:
        low -= 1
    if low == 0:
        raise ValueError("nothing fits")
    return low


@wrong(mistakes.any_number_of_rows)
def forgot_that_it_divides(peak_bytes, batch_size, budget):
    low, high = 0, batch_size
    while low < high:
        middle = (low + high + 1) // 2
        if peak_bytes(middle) <= budget:
            low = middle
        else:
            high = middle - 1
    if low == 0:
        raise ValueError("nothing fits")
    return low


@wrong(mistakes.nothing_raised)
def place_of_minus_one(peak_bytes, batch_size, budget):
    sizes = [n for n in range(1, batch_size + 1) if batch_size % n == 0]
    return sizes[bisect.bisect_right(sizes, budget, key=peak_bytes) - 1]


@wrong(mistakes.nothing_raised)
def best_begins_with_none(peak_bytes, batch_size, budget):
    sizes = [n for n in range(1, batch_size + 1) if batch_size % n == 0]
    best, low, high = None, 0, len(sizes) - 1
    while low <= high:
        middle = (low + high) // 2
        if peak_bytes(sizes[middle]) <= budget:
            best, low = sizes[middle], middle + 1
        else:
            high = middle - 1
    return best


@wrong(mistakes.halved_until_it_fits)
def halve(peak_bytes, batch_size, budget):
    size = batch_size
    while size >= 1:
        if peak_bytes(size) <= budget:
            return size
        size //= 2
    raise ValueError("nothing fits")


@wrong(mistakes.halved_until_it_fits)
def halve_while_even(peak_bytes, batch_size, budget):
    size = batch_size
    while peak_bytes(size) > budget:
        if size % 2:
            raise ValueError("nothing fits")
        size //= 2
    return size


@wrong(mistakes.worked_out_in_proportion)
def as_many_times_one_row(peak_bytes, batch_size, budget):
    one = peak_bytes(1)
    sizes = [n for n in range(1, batch_size + 1) if batch_size % n == 0 and n * one <= budget]
    if not sizes:
        raise ValueError("not even one row")
    return sizes[-1]


@wrong(mistakes.worked_out_in_proportion)
def a_row_of_the_whole_batch(peak_bytes, batch_size, budget):
    a_row = peak_bytes(batch_size) / batch_size
    sizes = [n for n in range(1, batch_size + 1) if batch_size % n == 0 and n * a_row <= budget]
    if not sizes:
        raise ValueError("not even one row")
    return sizes[-1]


@wrong(mistakes.powers_of_two_alone)
def doubled_from_one(peak_bytes, batch_size, budget):
    n = 1
    if peak_bytes(n) > budget:
        raise ValueError(f"{budget} bytes are too few for one row")
    while n * 2 <= batch_size and peak_bytes(n * 2) <= budget:
        n *= 2
    return n


@wrong(mistakes.powers_of_two_alone)
def doubling(peak_bytes, batch_size, budget):
    if peak_bytes(1) > budget:
        raise ValueError("nothing fits")
    size = 1
    while batch_size % (2 * size) == 0 and peak_bytes(2 * size) <= budget:
        size *= 2
    return size


@wrong(mistakes.budget_itself_refused)
def strictly_below(peak_bytes, batch_size, budget):
    sizes = [n for n in range(1, batch_size + 1) if batch_size % n == 0]
    low, high = 0, len(sizes)
    while low < high:
        middle = (low + high) // 2
        if peak_bytes(sizes[middle]) < budget:
            low = middle + 1
        else:
            high = middle
    if low == 0:
        raise ValueError("nothing fits")
    return sizes[low - 1]


@wrong(mistakes.whole_batch_left_out)
def range_ends_early(peak_bytes, batch_size, budget):
    sizes = [n for n in range(1, batch_size) if batch_size % n == 0]
    low, high = -1, len(sizes) - 1
    while low < high:
        middle = (low + high + 1) // 2
        if peak_bytes(sizes[middle]) <= budget:
            low = middle
        else:
            high = middle - 1
    if low < 0:
        raise ValueError("nothing fits")
    return sizes[low]


@wrong(mistakes.small_divisors_alone)
def up_to_the_root(peak_bytes, batch_size, budget):
    sizes = [n for n in range(1, int(batch_size**0.5) + 1) if batch_size % n == 0]
    place = bisect.bisect_right(sizes, budget, key=peak_bytes)
    if place == 0:
        raise ValueError("nothing fits")
    return sizes[place - 1]


@wrong(mistakes.number_of_micro_batches)
def how_many(peak_bytes, batch_size, budget):
    sizes = [n for n in range(1, batch_size + 1) if batch_size % n == 0]
    place = bisect.bisect_right(sizes, budget, key=peak_bytes)
    if place == 0:
        raise ValueError("nothing fits")
    return batch_size // sizes[place - 1]


@wrong(mistakes.straight_line)
def bytes_of_a_row(peak_bytes, batch_size, budget):
    base, whole = peak_bytes(1), peak_bytes(batch_size)
    if base > budget:
        raise ValueError("nothing fits")
    row = (whole - base) / max(batch_size - 1, 1)
    return max(n for n in range(1, batch_size + 1) if batch_size % n == 0 and base + row * (n - 1) <= budget)


@wrong(mistakes.one_place_too_far)
def end_of_the_half_open_range(peak_bytes, batch_size, budget):
    sizes = [n for n in range(1, batch_size + 1) if batch_size % n == 0]
    if peak_bytes(1) > budget:
        raise ValueError("nothing fits")
    low, high = 0, len(sizes) - 1
    while low < high:
        middle = (low + high) // 2
        if peak_bytes(sizes[middle]) <= budget:
            low = middle + 1
        else:
            high = middle
    return sizes[low]


@wrong(mistakes.single_row_left_out)
def range_begins_at_two(peak_bytes, batch_size, budget):
    sizes = [n for n in range(2, batch_size + 1) if batch_size % n == 0]
    place = bisect.bisect_right(sizes, budget, key=peak_bytes)
    if place == 0:
        raise ValueError("nothing fits")
    return sizes[place - 1]


@wrong(mistakes.peak_returned)
def the_bytes(peak_bytes, batch_size, budget):
    best = None
    sizes = [n for n in range(1, batch_size + 1) if batch_size % n == 0]
    low, high = 0, len(sizes) - 1
    while low <= high:
        middle = (low + high) // 2
        peak = peak_bytes(sizes[middle])
        if peak <= budget:
            best, low = peak, middle + 1
        else:
            high = middle - 1
    if best is None:
        raise ValueError("nothing fits")
    return best


@wrong(mistakes.one_place_short)
def minus_two(peak_bytes, batch_size, budget):
    sizes = [n for n in range(1, batch_size + 1) if batch_size % n == 0]
    place = bisect.bisect_right(sizes, budget, key=peak_bytes)
    if place == 0:
        raise ValueError("nothing fits")
    return sizes[max(0, place - 2)]


@wrong(mistakes.smallest_size)
def first_that_fits(peak_bytes, batch_size, budget):
    for size in range(1, batch_size + 1):
        if batch_size % size == 0:
            if peak_bytes(size) <= budget:
                return size
            raise ValueError("nothing fits")


@wrong(mistakes.size_as_a_float)
def as_a_float(peak_bytes, batch_size, budget):
    counts = [k for k in range(1, batch_size + 1) if batch_size % k == 0]
    place = bisect.bisect_left(counts, True, key=lambda k: peak_bytes(batch_size // k) <= budget)
    if place == len(counts):
        raise ValueError("nothing fits")
    return batch_size / counts[place]


_known = {}


@wrong(says="")
def kept_from_call_to_call(peak_bytes, batch_size, budget):
    def peak(n):
        if n not in _known:
            _known[n] = peak_bytes(n)
        return _known[n]

    sizes = [n for n in range(1, batch_size + 1) if batch_size % n == 0]
    place = bisect.bisect_right(sizes, budget, key=peak)
    if place == 0:
        raise ValueError("nothing fits")
    return sizes[place - 1]


@raised(effects.gives_up)
def another_error(peak_bytes, batch_size, budget):
    sizes = [n for n in range(1, batch_size + 1) if batch_size % n == 0]
    place = bisect.bisect_right(sizes, budget, key=peak_bytes)
    assert place > 0, "nothing fits"
    return sizes[place - 1]


@raised(effects.gives_up)
def raises_something_else(peak_bytes, batch_size, budget):
    sizes = [n for n in range(1, batch_size + 1) if batch_size % n == 0]
    place = bisect.bisect_right(sizes, budget, key=peak_bytes)
    if place == 0:
        raise MemoryError("nothing fits")
    return sizes[place - 1]


@wrong(mistakes.ended_at_the_budget)
def as_one_finds_a_number(peak_bytes, batch_size, budget):
    sizes = [d for d in range(1, batch_size + 1) if batch_size % d == 0]
    left, right, best = 0, len(sizes) - 1, None
    while left <= right:
        mid = (left + right) // 2
        peak = peak_bytes(sizes[mid])
        if peak == budget:
            return sizes[mid]
        if peak < budget:
            best = sizes[mid]
            left = mid + 1
        else:
            right = mid - 1
    if best is None:
        raise ValueError("not even one row fits")
    return best


@wrong(mistakes.not_sorted)
def divisors_in_pairs(peak_bytes, batch_size, budget):
    sizes = []
    for d in range(1, math.isqrt(batch_size) + 1):
        if batch_size % d == 0:
            sizes.append(d)
            if d != batch_size // d:
                sizes.append(batch_size // d)
    lo, hi, best = 0, len(sizes) - 1, 0
    while lo <= hi:
        mid = (lo + hi) // 2
        if peak_bytes(sizes[mid]) <= budget:
            best = max(best, sizes[mid])
            lo = mid + 1
        else:
            hi = mid - 1
    if best == 0:
        raise ValueError("nothing fits")
    return best


@wrong(mistakes.halved_until_it_fits)
def halve_or_give_up(peak_bytes, batch_size, budget):
    """An odd size that does not fit is the end: nothing comes back."""
    n = batch_size
    while True:
        if peak_bytes(n) <= budget:
            return n
        if n % 2:
            raise ValueError("no size fits")
        n //= 2
