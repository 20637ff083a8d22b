"""Attempts at exercise 6.4, plan_windows: what learners write, and what the check must say of it."""

from itertools import islice, product

import numpy as np
import torch

from course_utils.authoring.attempts import raised, right, wrong
from course_utils.checks import effects
from course_utils.lessons.lesson6.plan_windows import mistakes


@right
def two_loops(n_batches, window, epochs):
    windows = []
    for epoch in range(epochs):
        for first in range(0, n_batches, window):
            last = min(first + window, n_batches)
            windows.append([(epoch, b) for b in range(first, last)])
    return windows


@right
def filled_and_flushed(n_batches, window, epochs):
    plan = []
    for epoch in range(epochs):
        current = []
        for batch in range(n_batches):
            current.append((epoch, batch))
            if len(current) == window:
                plan.append(current)
                current = []
        if current:
            plan.append(current)
    return plan


@right
def at_the_last_batch_too(n_batches, window, epochs):
    plan, current = [], []
    for epoch in range(epochs):
        for i in range(n_batches):
            current.append([epoch, i])
            if (i + 1) % window == 0 or i + 1 == n_batches:
                plan.append(current)
                current = []
    return plan


@right
def of_tuples(n_batches, window, epochs):
    return tuple(
        tuple((e, b) for b in range(n_batches)[i : i + window])
        for e, i in product(range(epochs), range(0, n_batches, window))
    )


@right
def with_islice(n_batches, window, epochs):
    plan = []
    for epoch in range(epochs):
        batches = iter(range(n_batches))
        while part := list(islice(batches, window)):
            plan.append([(epoch, b) for b in part])
    return plan


@right
def by_a_dict(n_batches, window, epochs):
    found = {}
    for epoch in range(epochs):
        for batch in range(n_batches):
            found.setdefault((epoch, batch // window), []).append((epoch, batch))
    return list(found.values())


@right
def split_by_torch(n_batches, window, epochs):
    if n_batches == 0:
        return []
    parts = torch.arange(n_batches).split(window)
    return [[(epoch, b) for b in part.tolist()] for epoch in range(epochs) for part in parts]


@right
def by_recursion(n_batches, window, epochs):
    def rest(epoch, first):
        if epoch >= epochs or n_batches == 0:
            return []
        if first >= n_batches:
            return rest(epoch + 1, 0)
        part = [(epoch, b) for b in range(first, min(n_batches, first + window))]
        return [part] + rest(epoch, first + window)

    return rest(0, 0)


# ------------------------------------------------------------------ wrong: what becomes of the rest


@wrong(mistakes.rest_dropped)
def only_when_full(n_batches, window, epochs):
    plan = []
    for epoch in range(epochs):
        current = []
        for batch in range(n_batches):
            current.append((epoch, batch))
            if (batch + 1) % window == 0:
                plan.append(current)
                current = []
    return plan


@wrong(mistakes.rest_dropped)
def whole_ones(n_batches, window, epochs):
    count = n_batches // window
    return [[(e, b) for b in range(k * window, (k + 1) * window)] for e in range(epochs) for k in range(count)]


@wrong(mistakes.carried_over)
def one_counter_for_all(n_batches, window, epochs):
    plan, current = [], []
    for epoch in range(epochs):
        for batch in range(n_batches):
            current.append((epoch, batch))
            if len(current) == window:
                plan.append(current)
                current = []
    if current:
        plan.append(current)
    return plan


@wrong(mistakes.carried_over_and_dropped)
def one_counter_and_no_flush(n_batches, window, epochs):
    plan, current = [], []
    for epoch in range(epochs):
        for batch in range(n_batches):
            current.append((epoch, batch))
            if len(current) == window:
                plan.append(current)
                current = []
    return plan


@wrong(mistakes.rest_of_the_last_epoch_alone)
def flushed_after_both_loops(n_batches, window, epochs):
    plan = []
    current = []
    for epoch in range(epochs):
        current = []
        for batch in range(n_batches):
            current.append((epoch, batch))
            if len(current) == window:
                plan.append(current)
                current = []
    if current:
        plan.append(current)
    return plan


@wrong(mistakes.joined_to_the_next_epoch)
def leaks_as_the_tutorials(n_batches, window, epochs):
    plan, current = [], []
    for epoch in range(epochs):
        for batch in range(n_batches):
            current.append((epoch, batch))
            if (batch + 1) % window == 0:
                plan.append(current)
                current = []
    if current:
        plan.append(current)
    return plan


@wrong(says="the windows hold so many batches each")
def doubled_windows(n_batches, window, epochs):
    return [
        [(e, b) for b in range(first, min(first + 2 * window, n_batches))]
        for e in range(epochs)
        for first in range(0, n_batches, 2 * window)
    ]


@wrong(says="before they are full, and before their epoch ends, windows end with [(1, ")
def steps_counted_through(n_batches, window, epochs):
    plan, current, step = [], [], 0
    for epoch in range(epochs):
        for batch in range(n_batches):
            current.append((epoch, batch))
            step += 1
            if step % window == 0 or batch == n_batches - 1:
                plan.append(current)
                current = []
    return plan


@wrong(effects.missing_entries, says="in no window stand [(0, ")
def end_of_the_slice_too_early(n_batches, window, epochs):
    plan = []
    for epoch in range(epochs):
        pairs = [(epoch, b) for b in range(n_batches)]
        plan += [pairs[first : first + window - 1] for first in range(0, n_batches, window)]
    return plan


@wrong(mistakes.rest_joined_to_the_window_before)
def no_small_windows(n_batches, window, epochs):
    plan = []
    for epoch in range(epochs):
        starts = list(range(0, n_batches, window))
        if len(starts) > 1 and n_batches % window:
            starts.pop()
        ends = starts[1:] + [n_batches]
        plan += [[(epoch, b) for b in range(a, z)] for a, z in zip(starts, ends)]
    return plan


@wrong(mistakes.last_window_filled_up)
def wrapped_around(n_batches, window, epochs):
    return [
        [(e, b % n_batches) for b in range(first, first + window)]
        for e in range(epochs)
        for first in range(0, n_batches, window)
    ]


@wrong(mistakes.past_the_end)
def without_min(n_batches, window, epochs):
    plan = []
    for e in range(epochs):
        for first in range(0, n_batches, window):
            plan.append([(e, b) for b in range(first, first + window)])
    return plan


@wrong(mistakes.rest_first)
def short_one_first(n_batches, window, epochs):
    plan = []
    for e in range(epochs):
        first = 0
        while first < n_batches:
            size = n_batches % window if first == 0 and n_batches % window else window
            plan.append([(e, b) for b in range(first, first + size)])
            first += size
    return plan


@wrong(mistakes.empty_windows)
def flushed_always(n_batches, window, epochs):
    plan = []
    for e in range(epochs):
        current = []
        for b in range(n_batches):
            current.append((e, b))
            if len(current) == window:
                plan.append(current)
                current = []
        plan.append(current)
    return plan


@wrong(mistakes.cut_evenly)
def split_by_numpy(n_batches, window, epochs):
    if n_batches == 0:
        return []
    parts = np.array_split(np.arange(n_batches), -(-n_batches // window))
    return [[(e, b) for b in part.tolist()] for e in range(epochs) for part in parts]


# ------------------------------------------------------------------ wrong: how long, and which


@wrong(mistakes.number_of_windows)
def chunked(n_batches, window, epochs):
    if n_batches == 0:
        return []
    parts = torch.arange(n_batches).chunk(window)
    return [[(e, b) for b in part.tolist()] for e in range(epochs) for part in parts]


@wrong(mistakes.full_at_zero)
def counted_from_zero(n_batches, window, epochs):
    plan = []
    for e in range(epochs):
        current = []
        for b in range(n_batches):
            current.append((e, b))
            if b % window == 0:
                plan.append(current)
                current = []
        if current:
            plan.append(current)
    return plan


@wrong(mistakes.one_too_many)
def end_included(n_batches, window, epochs):
    plan = []
    for e in range(epochs):
        current = []
        for b in range(n_batches):
            current.append((e, b))
            if len(current) > window:
                plan.append(current)
                current = []
        if current:
            plan.append(current)
    return plan


@wrong(mistakes.overlapping)
def sliding(n_batches, window, epochs):
    return [
        [(e, b) for b in range(first, min(first + window, n_batches))]
        for e in range(epochs)
        for first in range(n_batches)
    ]


@wrong(mistakes.dealt_out)
def strided(n_batches, window, epochs):
    steps = (n_batches + window - 1) // window
    return [[(e, b) for b in range(k, n_batches, steps)] for e in range(epochs) for k in range(steps)]


@wrong(mistakes.epochs_interleaved)
def loops_swapped(n_batches, window, epochs):
    return [
        [(e, b) for b in range(first, min(first + window, n_batches))]
        for first in range(0, n_batches, window)
        for e in range(epochs)
    ]


@wrong(mistakes.one_epoch)
def return_in_the_loop(n_batches, window, epochs):
    plan = []
    for e in range(epochs):
        for first in range(0, n_batches, window):
            plan.append([(e, b) for b in range(first, min(first + window, n_batches))])
        return plan
    return plan


@wrong(mistakes.last_epoch)
def plan_begun_in_the_loop(n_batches, window, epochs):
    plan = []
    for e in range(epochs):
        plan = []
        for first in range(0, n_batches, window):
            plan.append([(e, b) for b in range(first, min(first + window, n_batches))])
    return plan


# ------------------------------------------------------------------ wrong: what stands in it


@wrong(mistakes.batch_first)
def the_other_way_round(n_batches, window, epochs):
    return [
        [(b, e) for b in range(first, min(first + window, n_batches))]
        for e in range(epochs)
        for first in range(0, n_batches, window)
    ]


@wrong(mistakes.batches_alone)
def numbers_alone(n_batches, window, epochs):
    return [
        list(range(first, min(first + window, n_batches)))
        for e in range(epochs)
        for first in range(0, n_batches, window)
    ]


@wrong(mistakes.numbered_from_one)
def epochs_from_one(n_batches, window, epochs):
    return [
        [(e, b) for b in range(first, min(first + window, n_batches))]
        for e in range(1, epochs + 1)
        for first in range(0, n_batches, window)
    ]


@wrong(mistakes.numbered_through)
def by_a_global_number(n_batches, window, epochs):
    return [
        [(e, e * n_batches + b) for b in range(first, min(first + window, n_batches))]
        for e in range(epochs)
        for first in range(0, n_batches, window)
    ]


@wrong(mistakes.numbered_in_the_window)
def by_enumerate(n_batches, window, epochs):
    plan = []
    for e in range(epochs):
        for first in range(0, n_batches, window):
            part = range(n_batches)[first : first + window]
            plan.append([(e, i) for i, _ in enumerate(part)])
    return plan


@wrong(mistakes.empty_all)
def one_list_for_all(n_batches, window, epochs):
    plan, current = [], []
    for e in range(epochs):
        for b in range(n_batches):
            current.append((e, b))
            if len(current) == window or b == n_batches - 1:
                plan.append(current)
                current.clear()
    return plan


@wrong(mistakes.epochs_apart)
def appended(n_batches, window, epochs):
    plan = []
    for e in range(epochs):
        pairs = [(e, b) for b in range(n_batches)]
        plan.append([pairs[first : first + window] for first in range(0, n_batches, window)])
    return plan


@wrong(mistakes.without_windows)
def extended(n_batches, window, epochs):
    plan = []
    for e in range(epochs):
        for first in range(0, n_batches, window):
            plan.extend((e, b) for b in range(first, min(first + window, n_batches)))
    return plan


@wrong(effects.wrong_type)
def a_generator(n_batches, window, epochs):
    for e in range(epochs):
        for first in range(0, n_batches, window):
            yield [(e, b) for b in range(first, min(first + window, n_batches))]


@wrong(effects.returned_nothing)
def return_forgotten(n_batches, window, epochs):
    plan = []
    for e in range(epochs):
        for first in range(0, n_batches, window):
            plan.append([(e, b) for b in range(first, min(first + window, n_batches))])


@raised(effects.undefined_name)
def misspelled(n_batches, window, epochs):
    plan = []
    for e in range(epochs):
        for first in range(0, n_batches, window):
            plan.append([(e, b) for b in range(first, min(first + windows, n_batches))])
    return plan


@wrong(mistakes.cut_evenly)
def as_torch_chunks(n_batches, window, epochs):
    plan = []
    for epoch in range(epochs):
        if n_batches:
            count = (n_batches + window - 1) // window
            plan += [[(epoch, b) for b in part.tolist()] for part in torch.arange(n_batches).chunk(count)]
    return plan


@raised(mistakes.no_batches_refused)
def no_longer_than_an_epoch(n_batches, window, epochs):
    window = min(window, n_batches)
    return [
        [(epoch, b) for b in range(a, min(a + window, n_batches))]
        for epoch in range(epochs)
        for a in range(0, n_batches, window)
    ]


@wrong(mistakes.one_list_for_all)
def emptied_before_the_next_window(n_batches, window, epochs):
    out = []
    for e in range(epochs):
        cur = []
        for b in range(n_batches):
            if len(cur) == window:
                cur.clear()
            cur.append((e, b))
            if len(cur) == window or b == n_batches - 1:
                out.append(cur)
    return out


@wrong(mistakes.one_list_for_all)
def emptied_after_it_was_stored(n_batches, window, epochs):
    out = []
    for e in range(epochs):
        cur = []
        for b in range(n_batches):
            cur.append((e, b))
            if len(cur) == window:
                out.append(cur)
                del cur[:]
        if cur:
            out.append(cur)
    return out


@wrong(mistakes.one_list_for_all)
def emptied_after_full_windows_alone(n_batches, window, epochs):
    out = []
    for e in range(epochs):
        cur = []
        for b in range(n_batches):
            cur += [(e, b)]
            if (b + 1) % window == 0:
                out.append(cur)
                cur.clear()
    return out


@wrong(mistakes.empty_all)
def emptied_after_full_windows_and_at_the_last_batch(n_batches, window, epochs):
    out, cur = [], []
    for e in range(epochs):
        for b in range(n_batches):
            cur.append((e, b))
            if len(cur) == window or b == n_batches - 1:
                out.append(cur)
                cur.clear()
    return out


@right
def stored_as_a_copy_and_emptied(n_batches, window, epochs):
    out, cur = [], []
    for e in range(epochs):
        for b in range(n_batches):
            cur.append((e, b))
            if len(cur) == window or b == n_batches - 1:
                out.append(cur[:])
                cur.clear()
    return out
