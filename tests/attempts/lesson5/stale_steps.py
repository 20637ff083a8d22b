"""Attempts at exercise 5.9, stale_steps: what learners write, and what the check must say of it."""

from collections import defaultdict

from course_utils.authoring.attempts import raised, right, wrong
from course_utils.checks import effects
from course_utils.lessons.lesson5.stale_steps import mistakes

# ------------------------------------------------------------------ right


@right
def two_sets(events):
    written, used, stale = set(), set(), []
    for e in events:
        names = set(e["names"])
        if e["kind"] == "accumulate":
            written |= names
        if e["kind"] == "clear":
            written -= names
            used -= names
        if e["kind"] == "step":
            if used & names:
                stale.append(e["step"])
            used |= written & names
    return stale


@right
def a_state_for_each_name(events):
    state, stale, count = defaultdict(lambda: "empty"), set(), 0
    for e in events:
        for name in e["names"]:
            if e["kind"] == "accumulate" and state[name] == "empty":
                state[name] = "new"
            elif e["kind"] == "clear":
                state[name] = "empty"
            elif e["kind"] == "step":
                if state[name] == "used":
                    stale.add(count)
                if state[name] == "new":
                    state[name] = "used"
        count += e["kind"] == "step"
    return stale


@right
def lists_of_writes(events):
    holds = {}
    used_by = {}
    stale = []
    for at, e in enumerate(events):
        for name in e["names"]:
            if e["kind"] == "accumulate":
                holds.setdefault(name, []).append((at, name))
            elif e["kind"] == "clear":
                holds[name] = []
        if e["kind"] == "step":
            mine = [w for name in e["names"] for w in holds.get(name, [])]
            if any(w in used_by for w in mine):
                stale.append(e["step"])
            for w in mine:
                used_by.setdefault(w, e["step"])
    return stale


@right
def looking_back_from_each_step(events):
    def is_stale(at, name):
        stepped = False
        for e in reversed(events[:at]):
            if name not in e["names"]:
                continue
            if e["kind"] == "clear":
                return False
            if e["kind"] == "step":
                stepped = True
            if e["kind"] == "accumulate" and stepped:
                return True
        return False

    steps = [at for at, e in enumerate(events) if e["kind"] == "step"]
    return [i for i, at in enumerate(steps) if any(is_stale(at, name) for name in events[at]["names"])]


@right
def old_and_new(events):
    old, new, answer = set(), set(), []
    for event in events:
        match event["kind"]:
            case "accumulate":
                new.update(event["names"])
            case "clear":
                old.difference_update(event["names"])
                new.difference_update(event["names"])
            case "step":
                names = set(event["names"])
                answer += [event["step"]] * bool(names & old)
                old |= names & new
                new -= names
    return answer


@right
def tuple_and_frozenset(events):
    return frozenset(two_sets(events))


# ------------------------------------------------------------------ wrong


@wrong(mistakes.sums_left_out)
def a_write_makes_it_fresh(events):
    used, stale, written = set(), [], set()
    for e in events:
        names = set(e["names"])
        if e["kind"] == "accumulate":
            used -= names
            written |= names
        elif e["kind"] == "clear":
            used -= names
            written -= names
        elif e["kind"] == "step":
            if names & used:
                stale.append(e["step"])
            used |= names & written
    return stale


@wrong(mistakes.old_alone_left_out)
def only_writes_onto_used(events):
    used, mixed, written, stale = set(), set(), set(), []
    for e in events:
        names = set(e["names"])
        if e["kind"] == "accumulate":
            mixed |= names & used
            written |= names
        elif e["kind"] == "clear":
            used -= names
            mixed -= names
            written -= names
        elif e["kind"] == "step":
            if names & mixed:
                stale.append(e["step"])
            mixed -= names
            used |= names & written
    return stale


@wrong(mistakes.names_of_clears_ignored)
def any_clear_is_a_fresh_start(events):
    written, used, stale = set(), set(), []
    for e in events:
        names = set(e["names"])
        if e["kind"] == "accumulate":
            written |= names
        elif e["kind"] == "clear":
            written, used = set(), set()
        elif e["kind"] == "step":
            if used & names:
                stale.append(e["step"])
            used |= written & names
    return stale


@wrong(mistakes.names_of_steps_ignored)
def each_step_uses_all(events):
    written, used, stale = set(), set(), []
    for e in events:
        if e["kind"] == "accumulate":
            written |= set(e["names"])
        elif e["kind"] == "clear":
            written -= set(e["names"])
            used -= set(e["names"])
        elif e["kind"] == "step":
            if used:
                stale.append(e["step"])
            used = set(written)
    return stale


@wrong(mistakes.names_ignored)
def one_flag(events):
    stale, used = [], False
    for e in events:
        if e["kind"] == "clear":
            used = False
        elif e["kind"] == "step":
            if used:
                stale.append(e["step"])
            used = True
    return stale


@wrong(mistakes.all_must_be_old)
def all_in_place_of_any(events):
    written, used, stale = set(), set(), []
    for e in events:
        names = set(e["names"])
        if e["kind"] == "accumulate":
            written |= names
        elif e["kind"] == "clear":
            written -= names
            used -= names
        elif e["kind"] == "step":
            held = names & written
            if held and held <= used:
                stale.append(e["step"])
            used |= held
    return stale


@wrong(mistakes.numbers_of_one_optimizer)
def window_for_step(events):
    written, used, stale = set(), set(), []
    for e in events:
        names = set(e["names"])
        if e["kind"] == "accumulate":
            written |= names
        elif e["kind"] == "clear":
            written -= names
            used -= names
        elif e["kind"] == "step":
            if used & names:
                stale.append(e["window"])
            used |= written & names
    return stale


@wrong(mistakes.counted_from_one)
def from_one(events):
    return [number + 1 for number in two_sets(events)]


@wrong(mistakes.places_in_the_trace)
def where_it_stands(events):
    steps = [at for at, e in enumerate(events) if e["kind"] == "step"]
    return [steps[number] for number in two_sets(events)]


@wrong(mistakes.first_one_alone)
def returned_inside_the_loop(events):
    for number in two_sets(events):
        return [number]
    return []


@wrong(mistakes.once_for_each_gradient)
def no_break(events):
    written, used, stale = set(), set(), []
    for e in events:
        for name in e["names"]:
            if e["kind"] == "accumulate":
                written.add(name)
            elif e["kind"] == "clear":
                written.discard(name)
                used.discard(name)
            elif e["kind"] == "step":
                if name in used:
                    stale.append(e["step"])
                if name in written:
                    used.add(name)
    return stale


@wrong(mistakes.empty_gradients_counted)
def names_of_steps_are_used(events):
    used, stale = set(), []
    for e in events:
        names = set(e["names"])
        if e["kind"] == "clear":
            used -= names
        elif e["kind"] == "step":
            if names & used:
                stale.append(e["step"])
            used |= names
    return stale


@wrong(mistakes.own_steps_alone)
def for_each_optimizer(events):
    written, used, stale = set(), defaultdict(set), []
    for e in events:
        names = set(e["names"])
        if e["kind"] == "accumulate":
            written |= names
        elif e["kind"] == "clear":
            written -= names
            for mine in used.values():
                mine -= names
        elif e["kind"] == "step":
            mine = used[tuple(e["names"])]
            if names & mine:
                stale.append(e["step"])
            mine |= names & written
    return stale


@wrong(mistakes.earlier_step_named)
def the_step_before(events):
    return [number - 1 for number in two_sets(events)]


@wrong(mistakes.nothing_named)
def always_empty(events):
    return []


@wrong(mistakes.next_step_blamed)
def spoiled_by_a_write(events):
    written, used, stale, spoiled = set(), set(), [], False
    for e in events:
        names = set(e["names"])
        if e["kind"] == "accumulate":
            spoiled = spoiled or bool(names & used)
            written |= names
        elif e["kind"] == "clear":
            written -= names
            used -= names
        elif e["kind"] == "step":
            if spoiled:
                stale.append(e["step"])
            spoiled = False
            used |= names & written
    return stale


@wrong(mistakes.all_but_the_first)
def something_was_used_before(events):
    steps = [e for e in events if e["kind"] == "step"]
    return [e["step"] for e in steps if e["step"] > 0]


@wrong(mistakes.once_old_always_old)
def a_mark_that_stays(events):
    written, used, stale, spoiled = set(), set(), [], False
    for e in events:
        names = set(e["names"])
        if e["kind"] == "accumulate":
            written |= names
        elif e["kind"] == "clear":
            written -= names
            used -= names
        elif e["kind"] == "step":
            spoiled = spoiled or bool(names & used)
            if spoiled:
                stale.append(e["step"])
            used |= names & written
    return stale


@wrong(effects.returned_nothing)
def printed(events):
    print(two_sets(events))


@raised(effects.no_such_attribute)
def dots_for_brackets(events):
    return [e.step for e in events if e.kind == "step"]


@wrong(mistakes.empty_ones_called_used)
def whatever_a_step_names_is_used(events):
    used, full, out = set(), set(), []
    for e in events:
        names = set(e["names"])
        if e["kind"] == "accumulate":
            full |= names
        elif e["kind"] == "clear":
            full -= names
            used -= names
        elif e["kind"] == "step":
            if used & names & full:
                out.append(e["step"])
            used |= names
    return out


# ------------------------------------------------------------------ steps that use nothing


@wrong(mistakes.empty_steps_not_counted)
def empty_steps_passed_over(events):
    old, new, stale, number = set(), set(), [], 0
    for e in events:
        names = set(e["names"])
        if e["kind"] == "accumulate":
            new |= names
        elif e["kind"] == "clear":
            old -= names
            new -= names
        elif e["kind"] == "step":
            if not names & (old | new):
                continue
            if names & old:
                stale.append(number)
            old |= names & new
            number += 1
    return stale


@wrong(mistakes.empty_steps_not_counted)
def counted_from_the_first_write_on(events):
    while events and events[0]["kind"] != "accumulate":
        events = events[1:]
    states, stale, number = {}, set(), 0
    for e in events:
        for name in e["names"]:
            if e["kind"] == "accumulate":
                states.setdefault(name, "new")
            if e["kind"] == "clear":
                states.pop(name, None)
        if e["kind"] == "step":
            if "used" in [states.get(name) for name in e["names"]]:
                stale.add(number)
            states.update({name: "used" for name in e["names"] if name in states})
            number += 1
    return stale


@wrong(mistakes.cleared_ones_called_used)
def fresh_with_the_next_write_alone(events):
    used, cleared, written, stale = set(), set(), set(), []
    for e in events:
        names = set(e["names"])
        if e["kind"] == "clear":
            cleared |= names
        if e["kind"] == "accumulate":
            used -= names & cleared
            cleared -= names
            written |= names
        if e["kind"] == "step":
            if names & used:
                stale.append(e["step"])
            used |= names & written - cleared
    return stale


@wrong(effects.changed_input)
def numbers_written_into_the_events(events):
    for number, e in enumerate([e for e in events if e["kind"] == "step"]):
        e["number"] = number
    return [number for number in two_sets(events) if any(e.get("number") == number for e in events)]


@wrong(effects.changed_input)
def events_taken_out_one_by_one(events):
    written, used, stale = set(), set(), []
    while events:
        e = events.pop(0)
        names = set(e["names"])
        if e["kind"] == "accumulate":
            written |= names
        if e["kind"] == "clear":
            written -= names
            used -= names
        if e["kind"] == "step":
            if used & names:
                stale.append(e["step"])
            used |= written & names
    return stale


@right
def names_made_sets_in_copies(events):
    copies = [{**e, "names": set(e["names"])} for e in events]
    written, used, stale = set(), set(), []
    while copies:
        e = copies.pop(0)
        if e["kind"] == "accumulate":
            written |= e["names"]
        if e["kind"] == "clear":
            written -= e["names"]
            used -= e["names"]
        if e["kind"] == "step":
            if used & e["names"]:
                stale.append(e["step"])
            used |= written & e["names"]
    return stale


@wrong(mistakes.last_step_alone_remembered)
def what_was_used_is_made_anew(events):
    holds, used, stale = set(), set(), []
    for e in events:
        names = set(e["names"])
        match e["kind"]:
            case "accumulate":
                holds |= names
            case "clear":
                holds -= names
                used -= names
            case "step":
                if used & names:
                    stale.append(e["step"])
                used = {name for name in names if name in holds}
    return stale


@wrong(mistakes.clips_counted_as_uses)
def else_is_a_step(events):
    states, stale = {}, set()
    for e in events:
        for name in e["names"]:
            if e["kind"] == "accumulate":
                states.setdefault(name, "new")
            elif e["kind"] == "clear":
                states.pop(name, None)
            else:
                if e["kind"] == "step" and states.get(name) == "used":
                    stale.add(e["step"])
                if name in states:
                    states[name] = "used"
    return stale


@wrong(mistakes.empty_ones_called_used)
def cleared_of_the_mark_alone(events):
    holds, used, stale = set(), set(), []
    for e in events:
        names = set(e["names"])
        if e["kind"] == "accumulate":
            holds |= names
        elif e["kind"] == "clear":
            used -= names
        elif e["kind"] == "step":
            if names & used:
                stale.append(e["step"])
            used |= names & holds
    return stale


@wrong(mistakes.steps_of_the_list_use_nothing)
def either_found_or_marked(events):
    holds, used, stale = set(), set(), []
    for e in events:
        names = set(e["names"])
        if e["kind"] == "accumulate":
            holds |= names
        elif e["kind"] == "clear":
            holds -= names
            used -= names
        elif e["kind"] == "step":
            if names & used:
                stale.append(e["step"])
            else:
                used |= names & holds
    return stale


@wrong(mistakes.old_ones_elsewhere_counted)
def anything_old_at_all(events):
    holds, used, found = set(), set(), []
    for event in events:
        names = set(event["names"])
        if event["kind"] == "accumulate":
            holds |= names
        elif event["kind"] == "clear":
            holds -= names
            used -= names
        elif event["kind"] == "step":
            if used:
                found.append(event["step"])
            used |= holds & names
    return found
