"""Attempts at exercise 4.3, is_valid_order: what learners write, and what the check must say of it."""

import re

import torch

from course_utils.authoring.attempts import raised, right, wrong
from course_utils.checks import effects
from course_utils.lessons.lesson4.is_valid_order import mistakes


@right
def two_flags(events):
    waiting, used = False, False
    for event in events:
        if event == "zero":
            if waiting:
                return False
            used = False
        elif event == "backward":
            if used:
                return False
            waiting = True
        elif event == "step":
            if used:
                return False
            used, waiting = waiting, False
    return not waiting


@right
def one_state(events):
    state = "empty"
    for event in events:
        if event == "backward":
            if state == "used":
                return False
            state = "fresh"
        elif event == "zero":
            if state == "fresh":
                return False
            state = "empty"
        elif event == "step":
            if state != "fresh":
                return False
            state = "used"
    return state != "fresh"


@right
def by_numbers(events):
    held, wanted, number = [], [], 0
    for event in events:
        if event == "backward":
            number += 1
            held.append(number)
            wanted.append(number)
        elif event == "zero":
            held = []
        elif event == "step":
            if held != wanted:
                return False
            wanted = []
    return not wanted


@right
def by_a_pattern(events):
    text = "".join(event[0] for event in events if event != "forward")
    return re.fullmatch(r"z*(b+s(z+|$))*", text) is not None


@right
def on_a_real_parameter(events):
    w = torch.zeros(events.count("backward"), requires_grad=True)
    count = start = 0
    for event in events:
        if event == "zero":
            w.grad = None
        elif event == "backward":
            w[count].backward()
            count += 1
        elif event == "step":
            wanted = torch.zeros_like(w)
            wanted[start:count] = 1
            if w.grad is None or not torch.equal(w.grad, wanted.detach()):
                return False
            start = count
    return start == count


@right
def by_a_table(events):
    table = {
        ("clear", "zero"): "clear",
        ("clear", "backward"): "fresh",
        ("fresh", "backward"): "fresh",
        ("fresh", "step"): "stale",
        ("stale", "zero"): "clear",
    }
    state = "clear"
    for event in events:
        if event != "forward":
            state = table.get((state, event))
            if state is None:
                return False
    return state != "fresh"


@right
def everything_counted(events):
    pending, old = 0, 0
    good = True
    for event in events:
        match event:
            case "zero":
                good = good and pending == 0
                pending = old = 0
            case "backward":
                good = good and old == 0
                pending += 1
            case "step":
                good = good and pending > 0
                pending, old = 0, old + pending
    return good and pending == 0


@right
def steps_taken_apart(events):
    rest = [event for event in events if event != "forward"]
    cleared = True
    while "step" in rest:
        end = rest.index("step")
        part, rest = rest[:end], rest[end + 1 :]
        while part and part[0] == "zero":
            part.pop(0)
            cleared = True
        if not part or "zero" in part or not cleared:
            return False
        cleared = False
    return "backward" not in rest


# ------------------------------------------------------------------ wrong orders that pass


@wrong(mistakes.every_order_passes)
def all_true(events):
    for event in events:
        if event not in ("zero", "forward", "backward", "step"):
            return False
    return True


@wrong(mistakes.zero_before_step_passes)
def only_zero_between_backwards(events):
    waiting = used = False
    for i, event in enumerate(events):
        if event == "zero":
            later = [e for e in events[i:] if e in ("backward", "step")]
            if waiting and (not later or later[0] != "step"):
                return False
            waiting = used = False
        elif event == "backward":
            if used:
                return False
            waiting = True
        elif event == "step":
            if used:
                return False
            used, waiting = waiting, False
    return not waiting


@wrong(mistakes.zero_between_backwards_passes)
def only_zero_before_a_step(events):
    waiting = used = False
    for i, event in enumerate(events):
        if event == "zero":
            later = [e for e in events[i:] if e in ("backward", "step")]
            if waiting and (not later or later[0] == "step"):
                return False
            waiting = used = False
        elif event == "backward":
            if used:
                return False
            waiting = True
        elif event == "step":
            if used:
                return False
            used, waiting = waiting, False
    return not waiting


@wrong(mistakes.any_zero_passes)
def zero_empties_everything(events):
    waiting = used = False
    for event in events:
        if event == "zero":
            waiting = used = False
        elif event == "backward":
            if used:
                return False
            waiting = True
        elif event == "step":
            if used:
                return False
            used, waiting = waiting, False
    return not waiting


@wrong(mistakes.zero_ahead_of_a_step_passes)
def a_zero_in_each_piece(events):
    pieces = [[]]
    for event in events:
        if event == "step":
            pieces.append([])
        else:
            pieces[-1].append(event)
    *full, rest = pieces
    if "backward" in rest:
        return False
    return all("backward" in piece for piece in full) and all("zero" in piece for piece in full[1:])


@wrong(mistakes.zeros_in_other_places_pass)
def zeros_enough_for_the_gaps(events):
    waiting = 0
    for event in events:
        if event == "zero" and waiting:
            return False
        if event == "backward":
            waiting += 1
        if event == "step":
            waiting = 0
    b, s, z = (events.count(word) for word in ("backward", "step", "zero"))
    return not waiting and z >= s - 1 and b >= s


@wrong(mistakes.trailing_backward_passes)
def judged_when_a_step_comes(events):
    waiting = used = False
    for event in events:
        if event == "zero":
            if waiting:
                return False
            used = False
        elif event == "backward":
            waiting = True
        elif event == "step":
            if used or not waiting:
                return False
            waiting, used = False, True
    return True


@wrong(mistakes.zero_between_backwards_passes)
def a_step_needs_something(events):
    state = "empty"
    for event in events:
        if event == "zero":
            state = "empty"
        elif event == "backward":
            if state == "used":
                return False
            state = "fresh"
        elif event == "step":
            if state != "fresh":
                return False
            state = "used"
    return state != "fresh"


@wrong(mistakes.never_cleared_passes)
def old_ones_overwritten(events):
    state = "empty"
    for event in events:
        if event == "zero":
            if state == "fresh":
                return False
            state = "empty"
        elif event == "backward":
            state = "fresh"
        elif event == "step":
            if state != "fresh":
                return False
            state = "used"
    return state != "fresh"


@wrong(mistakes.used_gradients_pass)
def only_waiting_noted(events):
    waiting = False
    for event in events:
        if event == "zero" and waiting:
            return False
        if event == "backward":
            waiting = True
        if event == "step":
            waiting = False
    return not waiting


@wrong(mistakes.repeated_step_passes)
def step_not_looked_at(events):
    waiting, used = False, False
    for event in events:
        if event == "zero":
            if waiting:
                return False
            used = False
        elif event == "backward":
            if used:
                return False
            waiting = True
        elif event == "step":
            used, waiting = used or waiting, False
    return not waiting


@wrong(mistakes.trailing_backward_passes)
def each_step_asks_what_came_before_it(events):
    held, wanted, number = [], [], 0
    for event in events:
        if event == "backward":
            number += 1
            held.append(number)
            wanted.append(number)
        elif event == "zero":
            held = []
        elif event == "step":
            if not held or held != wanted:
                return False
            wanted = []
    return True


@wrong(mistakes.trailing_backward_passes)
def end_not_looked_at(events):
    waiting, used = False, False
    for event in events:
        if event == "zero":
            if waiting:
                return False
            used = False
        elif event == "backward":
            if used:
                return False
            waiting = True
        elif event == "step":
            if used:
                return False
            used, waiting = waiting, False
    return True


@wrong(mistakes.zero_at_the_end_passes)
def a_last_zero_forgives(events):
    waiting, used = False, False
    for i, event in enumerate(events):
        if event == "zero":
            if waiting and i < len(events) - 1:
                return False
            waiting = used = False
        elif event == "backward":
            if used:
                return False
            waiting = True
        elif event == "step":
            if used:
                return False
            used, waiting = waiting, False
    return not waiting


# ------------------------------------------------------------------ right orders that are refused


@wrong(mistakes.every_order_is_refused)
def compared_with_a_string(events):
    return events == "zero forward backward step"


@wrong(mistakes.textbook_alone)
def in_fours(events):
    if len(events) % 4:
        return False
    for i in range(0, len(events), 4):
        if events[i : i + 4] != ["zero", "forward", "backward", "step"]:
            return False
    return True


@wrong(mistakes.textbook_alone)
def strict_successors(events):
    after = {"zero": ["forward"], "forward": ["backward"], "backward": ["step", "forward"], "step": ["zero"]}
    if not events or events[0] != "zero" or events[-1] != "step":
        return False
    return all(b in after[a] for a, b in zip(events, events[1:]))


@wrong(mistakes.zero_wanted_at_the_start)
def dirty_at_the_start(events):
    waiting, used = False, True
    for event in events:
        if event == "zero":
            if waiting:
                return False
            used = False
        elif event == "backward":
            if used:
                return False
            waiting = True
        elif event == "step":
            if used:
                return False
            used, waiting = waiting, False
    return not waiting


@wrong(mistakes.zero_after_forward_refused)
def nothing_between_forward_and_backward(events):
    for a, b in zip(events, events[1:]):
        if a == "forward" and b == "zero":
            return False
    return two_flags(events)


@wrong(mistakes.zero_at_the_end_refused)
def nothing_to_clear_at_the_end(events):
    return two_flags(events) and events[-1] != "zero"


@wrong(mistakes.last_event_must_be_a_step)
def ends_with_a_step(events):
    if events[-1] != "step":
        return False
    return two_flags(events)


@wrong(mistakes.used_counts_as_lost)
def any_gradient_counts_as_waiting(events):
    full = False
    used = False
    for event in events:
        if event == "zero" and full:
            return False
        if event == "backward":
            if used:
                return False
            full = True
        if event == "step":
            if used:
                return False
            used = full
    return not full or used


@wrong(mistakes.zero_twice_refused)
def no_zero_after_a_zero(events):
    return two_flags(events) and not any(a == b == "zero" for a, b in zip(events, events[1:]))


@wrong(mistakes.several_backwards_refused)
def one_backward_a_step(events):
    waiting, used = False, False
    for event in events:
        if event == "zero":
            if waiting:
                return False
            used = False
        elif event == "backward":
            if used or waiting:
                return False
            waiting = True
        elif event == "step":
            if used:
                return False
            used, waiting = waiting, False
    return not waiting


@wrong(mistakes.lone_forward_refused)
def forwards_and_backwards_balance(events):
    return two_flags(events) and events.count("forward") == events.count("backward")


@wrong(mistakes.several_steps_refused)
def one_step_only(events):
    if events.count("step") > 1:
        return False
    return two_flags(events)


@wrong(mistakes.zero_after_forward_refused)
def zero_only_before_a_forward(events):
    if any(a == "zero" and b == "backward" for a, b in zip(events, events[1:])):
        return False
    return two_flags(events)


@wrong(mistakes.zero_for_each_step)
def enough_zeros(events):
    return two_flags(events) and events.count("zero") >= events.count("step")


@wrong(mistakes.forward_on_used_refused)
def clear_before_the_next_forward(events):
    used = False
    for event in events:
        if event == "step":
            used = True
        elif event == "zero":
            used = False
        elif event == "forward" and used:
            return False
    return two_flags(events)


@wrong(mistakes.textbook_somewhere)
def a_piece_of_the_textbook(events):
    return "zero forward backward step" in " ".join(events)


@wrong(mistakes.set_off_against_each_other)
def plus_and_minus(events):
    n = 0
    for event in events:
        if event == "backward":
            n += 1
        elif event == "step":
            n -= 1
        elif event == "zero":
            n = 0
    return n == 0


@wrong(mistakes.counted_alone)
def as_many_of_each(events):
    return events.count("zero") == events.count("backward") == events.count("step")


@wrong(mistakes.counted_alone)
def as_many_steps_as_backwards(events):
    return events.count("step") == events.count("backward")


@wrong(mistakes.counted_alone)
def as_many_zeros_as_steps(events):
    return events.count("zero") == events.count("step")


@wrong(mistakes.counted_alone)
def at_least_as_many_zeros_as_steps(events):
    return events.count("zero") >= events.count("step")


@wrong(mistakes.turned_round)
def true_for_a_fault(events):
    return not two_flags(events)


@wrong(mistakes.first_step_alone)
def returned_at_the_first_step(events):
    waiting = False
    for event in events:
        if event == "zero":
            if waiting:
                return False
        elif event == "backward":
            waiting = True
        elif event == "step":
            return waiting
    return not waiting


@wrong(mistakes.last_step_alone)
def overwritten_verdict(events):
    good, pending, used, lost = True, 0, False, False
    for event in events:
        if event == "zero":
            if pending:
                lost = True
            pending, used = 0, False
        elif event == "backward":
            pending += 1
        elif event == "step":
            good = pending > 0 and not used and not lost
            pending, used, lost = 0, True, False
    return good


# ------------------------------------------------------------------ the result, and exceptions


@raised(mistakes.looked_up_by_index)
def places_of_the_words(events):
    return events.index("zero") < events.index("backward") < events.index("step")


@wrong(effects.wrong_type)
def in_words(events):
    return "valid" if two_flags(events) else "invalid"


@wrong(effects.wrong_type)
def ones_and_zeros(events):
    return int(two_flags(events))


@wrong(effects.returned_nothing)
def only_false_returned(events):
    if not two_flags(events):
        return False


@wrong(mistakes.zero_between_backwards_passes)
def zero_right_after_a_backward(events):
    if any(a == "backward" and b == "zero" for a, b in zip(events, events[1:])):
        return False
    waiting = used = False
    for event in events:
        if event == "zero":
            waiting = used = False
        elif event == "backward":
            if used:
                return False
            waiting = True
        elif event == "step":
            if used:
                return False
            used, waiting = waiting, False
    return not waiting


@raised(effects.index_out_of_range)
def looked_beyond_the_end(events):
    for i, event in enumerate(events):
        if event == "step" and events[i + 1] == "step":
            return False
    return two_flags(events)


@raised(effects.undefined_name)
def state_never_set(events):
    for event in events:
        if event == "step" and state == "used":
            return False
        if event == "zero":
            state = "empty"
    return True


@wrong(mistakes.forward_after_the_last_backward_passes)
def only_the_last_event_asked(events):
    if events and events[-1] == "backward":
        return False
    fresh = used = False
    for e in events:
        if e == "zero":
            if fresh:
                return False
            used = False
        elif e == "backward":
            if used:
                return False
            fresh = True
        elif e == "step":
            if not fresh:
                return False
            fresh, used = False, True
    return True


@wrong(mistakes.stretch_without_a_step_refused)
def one_step_a_piece(events):
    pieces = [[]]
    for e in events:
        if e == "zero":
            pieces.append([])
        else:
            pieces[-1].append(e)
    if pieces[0] == []:
        pieces = pieces[1:]
    if pieces and pieces[-1] == []:
        pieces = pieces[:-1]
    for piece in pieces:
        if piece.count("step") != 1 or "backward" not in piece:
            return False
        if "backward" in piece[piece.index("step") :]:
            return False
    return True


@right
def a_step_for_each_piece_with_a_backward(events):
    pieces = [[]]
    for e in events:
        if e == "zero":
            pieces.append([])
        elif e != "forward":
            pieces[-1].append(e)
    return all(not piece or piece == ["backward"] * (len(piece) - 1) + ["step"] for piece in pieces)


@wrong(mistakes.judged_as_a_cycle)
def run_round(events):
    cycle = [e for e in events if e != "forward"]
    fresh = used = False
    for e in cycle:
        if e == "zero":
            if fresh:
                return False
            used = False
        elif e == "backward":
            if used:
                return False
            fresh = True
        else:
            if not fresh:
                return False
            fresh, used = False, True
    if used and not (cycle and cycle[0] == "zero"):
        return False
    return not fresh
