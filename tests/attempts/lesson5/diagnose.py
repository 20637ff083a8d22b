"""Attempts at exercise 5.1, diagnose: what learners write, and what the check must say of it."""

import re
from collections import Counter, defaultdict
from dataclasses import dataclass, field

from course_utils.authoring.attempts import raised, right, wrong
from course_utils.checks import effects
from course_utils.lessons.lesson5.diagnose import mistakes

ORDER = [
    "layer-replaced-after-optimizer",
    "zeroed-before-step",
    "zeroed-inside-window",
    "zeroed-once-per-epoch",
    "one-of-two-optimizers-zeroed",
    "never-zeroed",
    "stepped-on-used-gradients",
    "clipped-after-step",
]


def walk(events):
    """For each step and clip: what the gradients it names hold ("", "new", "old", "both")."""
    state = defaultdict(str)
    for at, event in enumerate(events):
        names = event["names"]
        if event["kind"] == "accumulate":
            for name in names:
                state[name] = "both" if state[name] in ("old", "both") else "new"
        elif event["kind"] == "clear":
            for name in names:
                state[name] = ""
        elif event["kind"] in ("step", "clip"):
            yield at, event, {name: state[name] for name in names}
            if event["kind"] == "step":
                for name in names:
                    state[name] = "old" if state[name] else ""


def stories(events):
    names = {name for event in events for name in event["names"]}
    letter = {"accumulate": "w", "clear": "z", "step": "s"}
    return {
        name: "".join(
            letter.get(e["kind"], "") if name in e["names"] else "o" if e["kind"] == "step" else "" for e in events
        )
        for name in names
    }


def first_of_those_that_fit(events, order, *, clear_asked=True):
    """Collects all that fit, and answers with the first in that order."""
    told = stories(events)
    fitting = set()

    def all_with(pattern):
        return {n for n in told if re.search(pattern, told[n])}

    written, stepped, cleared = all_with("w"), all_with("s"), all_with("z")
    if written - stepped and stepped - written:
        fitting.add(ORDER[0])
    sums, groups = set(), []
    for at, e, held in walk(events):
        if e["kind"] == "clip":
            if {what for what in held.values() if what} == {"old"}:
                fitting.add(ORDER[7])
            continue
        groups.append(set(held))
        sums |= {n for n, what in held.items() if what == "both"}
        if "old" in held.values():
            fitting.add(ORDER[6])
        before = stories(events[:at])
        since = [before.get(n, "").rpartition("s")[2] for n in held]
        if not any(held.values()) and any(re.search("w.*z", story) for story in since):
            fitting.add(ORDER[1])
    if all_with("w[^so]*z[^so]*w"):
        fitting.add(ORDER[2])
    if sums:
        fitting.add(ORDER[5])
        if sums & cleared:
            fitting.add(ORDER[3])
        if any(not g & sums and (g <= cleared or not clear_asked) for g in groups):
            fitting.add(ORDER[4])
    return next((name for name in order if name in fitting), None)


def turned(at):
    return [*ORDER[:at], ORDER[at + 1], ORDER[at], *ORDER[at + 2 :]]


# ------------------------------------------------------------------ right


@right
def states_and_stories(events):
    told = stories(events)
    stepped = {n for n, s in told.items() if "s" in s}
    written = {n for n, s in told.items() if "w" in s}
    steps = [(at, e, held) for at, e, held in walk(events) if e["kind"] == "step"]
    if written - stepped and stepped - written:
        return ORDER[0]
    for at, e, held in steps:
        if not any(held.values()):
            for name in e["names"]:
                since = stories(events[:at]).get(name, "").rpartition("s")[2]
                if re.search("w.*z", since):
                    return ORDER[1]
    if any(re.search("w[^so]*z[^so]*w", s) for s in told.values()):
        return ORDER[2]
    sums = {n for _, e, held in steps for n, what in held.items() if what == "both"}
    cleared = {n for n, s in told.items() if "z" in s}
    if sums & cleared:
        return ORDER[3]
    if sums:
        for _, e, _held in steps:
            if not sums & set(e["names"]) and set(e["names"]) <= cleared:
                return ORDER[4]
        return ORDER[5]
    if any("old" in held.values() for _, _, held in steps):
        return ORDER[6]
    for _, e, held in walk(events):
        if e["kind"] == "clip" and {what for what in held.values() if what} == {"old"}:
            return ORDER[7]
    return None


@dataclass
class Gradient:
    new: bool = False
    old: bool = False
    lost: bool = False
    stepped: bool = False
    written: bool = False
    cleared: bool = False
    sum: bool = False
    stale: bool = False
    since: list = field(default_factory=list)


@right
def a_class_for_each_gradient(events):
    book = {name: Gradient() for event in events for name in event["names"]}
    nothing = middle = clipped = False
    groups = []
    for event in events:
        mine = [book[name] for name in event["names"]]
        if event["kind"] == "accumulate":
            for g in mine:
                middle = middle or g.since == ["w", "z"]
                g.since = ["w"]
                g.new = g.written = True
        if event["kind"] == "clear":
            for g in mine:
                if g.since == ["w"]:
                    g.since = ["w", "z"]
                g.lost = g.lost or g.new
                g.cleared = True
                g.new = g.old = False
        if event["kind"] == "clip":
            full = [g for g in mine if g.new or g.old]
            clipped = clipped or bool(full) and not any(g.new for g in full)
        if event["kind"] == "step":
            groups.append(event["names"])
            if not any(g.new or g.old for g in mine) and any(g.lost for g in mine):
                nothing = True
            for g in mine:
                g.sum = g.sum or g.new and g.old
                g.stale = g.stale or g.old and not g.new
                g.old, g.new = g.old or g.new, False
                g.lost, g.stepped = False, True
            for g in book.values():
                g.since = []
    every = list(book.values())
    fits = {
        "layer-replaced-after-optimizer": any(g.written and not g.stepped for g in every)
        and any(g.stepped and not g.written for g in every),
        "zeroed-before-step": nothing,
        "zeroed-inside-window": middle,
        "zeroed-once-per-epoch": any(g.sum and g.cleared for g in every),
        "one-of-two-optimizers-zeroed": any(g.sum for g in every)
        and any(all(book[n].cleared and not book[n].sum for n in names) for names in groups),
        "never-zeroed": any(g.sum for g in every),
        "stepped-on-used-gradients": any(g.stale for g in every),
        "clipped-after-step": clipped,
    }
    for name in ORDER:
        if fits[name]:
            return name


@right
def events_kept_in_each_gradient(events):
    """Each gradient holds the numbers of its writes; each write remembers whether a step has used it."""
    holds, used = defaultdict(list), set()
    found = set()
    thrown = defaultdict(bool)
    window = defaultdict(str)
    cleared, sums = set(), set()
    written, stepped, groups = set(), set(), set()
    for number, e in enumerate(events):
        for n in e["names"]:
            if e["kind"] == "accumulate":
                if window[n] == "wz":
                    found.add("zeroed-inside-window")
                window[n] = "w"
                holds[n].append(number)
                written.add(n)
            elif e["kind"] == "clear":
                if window[n] == "w":
                    window[n] = "wz"
                if any(w not in used for w in ((w, n) for w in holds[n])):
                    thrown[n] = True
                holds[n].clear()
                cleared.add(n)
        if e["kind"] == "clip":
            all_held = [(w, n) for n in e["names"] for w in holds[n]]
            if all_held and all(one in used for one in all_held):
                found.add("clipped-after-step")
        if e["kind"] == "step":
            groups.add(tuple(e["names"]))
            if not any(holds[n] for n in e["names"]) and any(thrown[n] for n in e["names"]):
                found.add("zeroed-before-step")
            for n in e["names"]:
                old = [w for w in holds[n] if (w, n) in used]
                new = [w for w in holds[n] if (w, n) not in used]
                if old and new:
                    sums.add(n)
                elif old:
                    found.add("stepped-on-used-gradients")
                used |= {(w, n) for w in new}
                thrown[n] = False
                stepped.add(n)
            window.clear()
    if written - stepped and stepped - written:
        found.add("layer-replaced-after-optimizer")
    if sums & cleared:
        found.add("zeroed-once-per-epoch")
    elif sums:
        found.add("never-zeroed")
    if sums and any(set(g) <= cleared and not set(g) & sums for g in groups):
        found.add("one-of-two-optimizers-zeroed")
    return min(found, key=ORDER.index) if found else None


@right
def a_function_for_each_fault(events):
    told = stories(events)

    def some(pattern):
        return {n for n in told if re.search(pattern, told[n])}

    sums, cleared = some("w[^z]*s[^z]*w[^z]*s"), some("z")
    groups = [set(e["names"]) for e in events if e["kind"] == "step"]

    def nothing():
        for at, e in enumerate(events):
            if e["kind"] == "step":
                before = {n: stories(events[:at]).get(n, "") for n in e["names"]}
                empty = all(not re.search("w[^z]*$", s) for s in before.values())
                if empty and any(re.search("w[^s]*z[^s]*$", s) for s in before.values()):
                    return True
        return False

    def clip():
        for at, e in enumerate(events):
            if e["kind"] == "clip":
                before = [stories(events[:at]).get(n, "") for n in e["names"]]
                full = [s for s in before if re.search("w[^z]*$", s)]
                if full and all(re.search("w[^z]*s[^zw]*$", s) for s in full):
                    return True
        return False

    tests = [
        lambda: some("w") - some("s") and some("s") - some("w"),
        nothing,
        lambda: some("w[^so]*z[^so]*w"),
        lambda: sums & cleared,
        lambda: sums and any(g <= cleared and not g & sums for g in groups),
        lambda: sums,
        lambda: some("w[^z]*s[^zw]*s"),
        clip,
    ]
    return next((name for name, test in zip(ORDER, tests) if test()), None)


@right
def marks_in_one_dict(events):
    mark = {}  # name -> set of "n" (new) and "o" (old)
    flags = Counter()
    lost, cleared, sums, stepped, written = set(), set(), set(), set(), set()
    fresh, gone = set(), set()  # written, and written and cleared, since the last step of anybody
    groups = []
    for e in events:
        kind, names = e["kind"], set(e["names"])
        if kind == "accumulate":
            flags["middle"] += len(names & gone)
            fresh |= names
            written |= names
            for n in names:
                mark.setdefault(n, set()).add("n")
        elif kind == "clear":
            gone |= names & fresh
            fresh -= names
            lost |= {n for n in names if "n" in mark.get(n, ())}
            cleared |= names
            for n in names:
                mark[n] = set()
        elif kind == "clip":
            held = set().union(*(mark.get(n, set()) for n in names))
            flags["clip"] += held == {"o"}
        elif kind == "step":
            groups.append(names)
            held = {n: mark.get(n, set()) for n in names}
            flags["nothing"] += not any(held.values()) and bool(names & lost)
            flags["old"] += any(h == {"o"} for h in held.values())
            sums |= {n for n, h in held.items() if len(h) == 2}
            for n in names:
                mark[n] = {"o"} if held[n] else set()
            lost -= names
            stepped |= names
            fresh, gone = set(), set()
    another = any(g <= cleared and not g & sums for g in groups)
    answers = [
        written - stepped and stepped - written,
        flags["nothing"],
        flags["middle"],
        sums & cleared,
        sums and another,
        sums,
        flags["old"],
        flags["clip"],
    ]
    for name, yes in zip(ORDER, answers):
        if yes:
            return name
    return None


@right
def all_that_fit(events):
    return first_of_those_that_fit(events, ORDER)


# ------------------------------------------------------------------ wrong


@wrong(mistakes.nothing_found)
def no_fault_anywhere(events):
    return None


@wrong(mistakes.nothing_found)
def found_and_not_returned(events):
    answer = None
    for event in events:
        if event["kind"] == "clear":
            break
    else:
        answer = "never-zeroed"
    print(answer)


@wrong(mistakes.judged_by_counts)
def more_or_fewer_clears(events):
    kinds = Counter(e["kind"] for e in events)
    if kinds["clear"] == 0:
        return "never-zeroed"
    if kinds["clear"] < kinds["step"]:
        return "zeroed-once-per-epoch"
    return None


@wrong(mistakes.all_sums_never_zeroed)
def one_kind_of_sum(events):
    found = states_and_stories(events)
    return "never-zeroed" if found in ORDER[3:6] else found


@wrong(mistakes.old_alone_called_a_sum)
def no_word_for_old_alone(events):
    told = stories(events)
    found = states_and_stories(events)
    if found == "stepped-on-used-gradients":
        return "zeroed-once-per-epoch" if any("z" in s for s in told.values()) else "never-zeroed"
    return found


@wrong(mistakes.order_of_the_list_reversed)
def list_read_upwards(events):
    return first_of_those_that_fit(events, ORDER[::-1])


@wrong(mistakes.order_of_the_list_reversed)
def steps_looked_at_before_names(events):
    return first_of_those_that_fit(events, turned(0))


@wrong(mistakes.order_of_the_list_reversed)
def epochs_before_windows(events):
    return first_of_those_that_fit(events, turned(2))


@wrong(mistakes.order_of_the_list_reversed)
def optimizers_before_epochs(events):
    return first_of_those_that_fit(events, turned(3))


@wrong(mistakes.order_of_the_list_reversed)
def old_alone_before_never(events):
    return first_of_those_that_fit(events, turned(5))


@wrong(mistakes.order_of_the_list_reversed)
def old_alone_before_all_sums(events):
    return first_of_those_that_fit(events, [*ORDER[:3], ORDER[6], *ORDER[3:6], ORDER[7]])


@wrong(mistakes.order_of_the_list_reversed)
def clips_before_old_alone(events):
    return first_of_those_that_fit(events, turned(6))


@wrong(mistakes.second_that_steps_once_misnamed)
def clears_of_the_other_not_asked(events):
    return first_of_those_that_fit(events, ORDER, clear_asked=False)


@wrong(mistakes.second_step_behind_a_clear_called_a_fault)
def a_step_on_nothing_makes_old(events):
    fault = first_of_those_that_fit(events, ORDER)
    if fault is None and any(re.search("w.*s[^z]*w[^z]*s", story) for story in stories(events).values()):
        return "zeroed-once-per-epoch"
    return fault


@wrong(mistakes.second_step_behind_a_clear_called_a_fault)
def any_clear_before_an_empty_step(events):
    """What was cleared need not have been new."""
    for at, e, held in walk(events):
        if e["kind"] == "step" and not any(held.values()):
            before = stories(events[:at])
            if any(re.search("w.*z$", before.get(n, "").replace("o", "")) for n in held):
                return states_and_stories(events) or "zeroed-before-step"
    return states_and_stories(events)


@wrong(mistakes.late_clear_in_a_window_misnamed)
def last_fault_wins(events):
    inside = any(re.search("w[^so]*z[^so]*w", s) for s in stories(events).values())
    return "zeroed-inside-window" if inside else states_and_stories(events)


@wrong(mistakes.names_of_clears_ignored)
def a_clear_clears_everything(events):
    every = sorted({n for e in events for n in e["names"]})
    return states_and_stories([{**e, "names": every} if e["kind"] == "clear" else e for e in events])


@wrong(mistakes.names_of_steps_ignored)
def a_step_uses_everything(events):
    found = states_and_stories(events)
    if found == "layer-replaced-after-optimizer":
        return found
    every = sorted({n for e in events for n in e["names"]})
    return states_and_stories([{**e, "names": every} if e["kind"] == "step" else e for e in events])


@wrong(mistakes.window_called_a_fault)
def two_backwards_are_one_too_many(events):
    kinds = Counter(e["kind"] for e in events)
    found = states_and_stories(events)
    if found is None and kinds["backward"] > kinds["step"]:
        return "never-zeroed"
    return found


@wrong(mistakes.frozen_layer_called_a_fault)
def half_of_the_replaced_layer(events):
    stepped = {n for e in events if e["kind"] == "step" for n in e["names"]}
    written = {n for e in events if e["kind"] == "accumulate" for n in e["names"]}
    if stepped - written:
        return "layer-replaced-after-optimizer"
    return states_and_stories(events)


@wrong(mistakes.layer_without_optimizer_called_a_fault)
def the_other_half(events):
    stepped = {n for e in events if e["kind"] == "step" for n in e["names"]}
    written = {n for e in events if e["kind"] == "accumulate" for n in e["names"]}
    if written - stepped:
        return "layer-replaced-after-optimizer"
    return states_and_stories(events)


@wrong(mistakes.first_step_called_a_fault)
def every_empty_step(events):
    for _, e, held in walk(events):
        if e["kind"] == "step" and not any(held.values()):
            return "zeroed-before-step"
    return states_and_stories(events)


@wrong(mistakes.opponents_called_a_fault)
def a_write_is_enough(events):
    found = states_and_stories(events)
    if found is None and any(re.search("w[^z]*s[^z]*w", s) for s in stories(events).values()):
        return "zeroed-once-per-epoch"
    return found


@wrong(mistakes.right_clip_called_a_fault)
def clip_behind_any_step(events):
    found = states_and_stories(events)
    if found is None:
        last = None
        for e in events:
            if e["kind"] == "clip" and last == "step":
                return "clipped-after-step"
            last = e["kind"]
    return found


@wrong(mistakes.one_clear_misnamed)
def only_clears_between_steps(events):
    found = states_and_stories(events)
    if found == "zeroed-once-per-epoch" and not any(re.search("s.*z.*s", s) for s in stories(events).values()):
        return "never-zeroed"
    return found


@wrong(mistakes.old_alone_misnamed)
def all_of_it_must_be_old(events):
    found = states_and_stories(events)
    if found == "stepped-on-used-gradients":
        for _, e, held in walk(events):
            if e["kind"] == "step" and set(held.values()) == {"old"}:
                return found
        return None
    return found


@wrong(mistakes.neither_of_two_misnamed)
def two_optimizers_and_a_sum(events):
    found = states_and_stories(events)
    groups = {tuple(e["names"]) for e in events if e["kind"] == "step"}
    return "one-of-two-optimizers-zeroed" if found == "never-zeroed" and len(groups) == 2 else found


@wrong(mistakes.clears_of_others_counted)
def whose_clears_not_asked(events):
    found = states_and_stories(events)
    return "zeroed-once-per-epoch" if found == "one-of-two-optimizers-zeroed" else found


@wrong(mistakes.extra_clears_called_a_fault)
def two_clears_in_a_row(events):
    found = states_and_stories(events)
    kinds = Counter(e["kind"] for e in events)
    groups = {tuple(e["names"]) for e in events if e["kind"] == "step"}
    if found is None and len(groups) == 1 and kinds["clear"] > kinds["step"] + 1:
        return "zeroed-inside-window"
    return found


@wrong(mistakes.second_empty_step_misnamed)
def second_optimizer_forgotten(events):
    found = states_and_stories(events)
    groups = {tuple(e["names"]) for e in events if e["kind"] == "step"}
    return None if found == "zeroed-before-step" and len(groups) == 2 else found


@wrong(mistakes.spelled_otherwise)
def names_with_underscores(events):
    found = states_and_stories(events)
    return found and found.replace("-", "_")


@wrong(mistakes.old_told_without_names)
def sums_by_the_kinds_alone(events):
    fault = first_of_those_that_fit(events, ORDER)
    if fault in ORDER[:3]:
        return fault
    full = stepped = written = summed = again = False
    for e in events:
        if e["kind"] == "clear":
            full = stepped = written = False
        elif e["kind"] == "accumulate":
            full = written = True
        elif e["kind"] == "step" and full:
            summed |= stepped and written
            again |= stepped and not written
            stepped, written = True, False
    if summed:
        return ORDER[3] if any(e["kind"] == "clear" for e in events) else ORDER[5]
    if again:
        return ORDER[6]
    return fault if fault == ORDER[7] else None


@wrong(mistakes.names_ignored)
def three_flags(events):
    """The first look at names is right, the rest follows one gradient that stands for all."""
    stepped = {n for e in events if e["kind"] == "step" for n in e["names"]}
    written = {n for e in events if e["kind"] == "accumulate" for n in e["names"]}
    if written - stepped and stepped - written:
        return ORDER[0]
    new = old = lost = False
    since = ""
    found = set()
    for e in events:
        if e["kind"] == "accumulate":
            if since == "wz":
                found.add(ORDER[2])
            new, since = True, "w"
        elif e["kind"] == "clear":
            since = "wz" if since else ""
            lost = lost or new
            new = old = False
        elif e["kind"] == "clip" and old and not new:
            found.add(ORDER[7])
        elif e["kind"] == "step":
            if lost and not new and not old:
                found.add(ORDER[1])
            if old:
                found.add("sum" if new else ORDER[6])
            old, new, lost, since = old or new, False, False, ""
    if "sum" in found:
        found.add(ORDER[3] if any(e["kind"] == "clear" for e in events) else ORDER[5])
    return next((name for name in ORDER if name in found), None)


@wrong(mistakes.sum_called_old_alone)
def old_is_old(events):
    found = states_and_stories(events)
    if found in ORDER[:3]:
        return found
    for _, e, held in walk(events):
        if e["kind"] == "step" and {"old", "both"} & set(held.values()):
            return "stepped-on-used-gradients"
    return found


@wrong(mistakes.sums_not_found)
def a_write_makes_new(events):
    """A write empties the mark of the old."""
    found = states_and_stories(events)
    for _, e, held in walk(events):
        if e["kind"] == "step" and "both" in held.values() and found in ORDER[3:6]:
            return None
    return found


@wrong(mistakes.layer_left_out_called_a_fault)
def each_named_gradient_must_be_full(events):
    for _, e, held in walk(events):
        if e["kind"] == "step" and "" in held.values() and any(held.values()):
            told = stories(events)
            if all("w" in told[n] for n in held):
                return "zeroed-before-step"
    return states_and_stories(events)


@wrong(mistakes.two_optimizers_called_a_fault)
def two_steps_in_a_row(events):
    found = states_and_stories(events)
    kinds = [e["kind"] for e in events]
    if found is None and any(pair == ("step", "step") for pair in zip(kinds, kinds[1:])):
        return "stepped-on-used-gradients"
    return found


@wrong(mistakes.late_clear_misnamed)
def lost_is_inside(events):
    found = states_and_stories(events)
    groups = {tuple(e["names"]) for e in events if e["kind"] == "step"}
    kinds = Counter(e["kind"] for e in events)
    if found == "zeroed-before-step" and len(groups) == 1 and kinds["backward"] == kinds["step"]:
        return "zeroed-inside-window"
    return found


@wrong(mistakes.late_clear_misnamed)
def all_must_have_been_thrown_away(events):
    found = states_and_stories(events)
    told = stories(events)
    if found == "zeroed-before-step" and any("w" not in told[n] for e in events for n in e["names"]):
        return None
    return found


@wrong(mistakes.right_clip_called_a_fault)
def one_old_gradient_clipped(events):
    for _, e, held in walk(events):
        if e["kind"] == "clip" and "old" in held.values():
            return states_and_stories(events) or "clipped-after-step"
    return states_and_stories(events)


@wrong(mistakes.empty_clip_called_a_fault)
def nothing_new_is_enough(events):
    found, new = states_and_stories(events), set()
    for e in events:
        if e["kind"] == "clip" and not new & set(e["names"]) and found is None:
            return "clipped-after-step"
        if e["kind"] == "accumulate":
            new |= set(e["names"])
        elif e["kind"] in ("clear", "step"):
            new -= set(e["names"])
    return found


@wrong(mistakes.clear_in_the_middle_misnamed)
def cleared_after_a_write(events):
    found = states_and_stories(events)
    lost = any(re.search("w[^so]*z", s) for s in stories(events).values())
    return "zeroed-before-step" if lost and found == "zeroed-inside-window" else found


@wrong(mistakes.rare_clear_misnamed)
def a_step_behind_the_clear_looks_fine(events):
    found = states_and_stories(events)
    if found == "zeroed-once-per-epoch" and any(re.search("s.*z", s) for s in stories(events).values()):
        return None
    return found


@wrong(mistakes.one_of_two_misnamed)
def only_one_backward_for_two(events):
    found = states_and_stories(events)
    kinds = Counter(e["kind"] for e in events)
    if found == "one-of-two-optimizers-zeroed" and kinds["backward"] == kinds["step"]:
        return "never-zeroed"
    return found


@wrong(mistakes.no_clear_misnamed)
def windows_without_a_clear(events):
    found = states_and_stories(events)
    kinds = Counter(e["kind"] for e in events)
    return None if found == "never-zeroed" and kinds["backward"] > kinds["step"] else found


@wrong(mistakes.replaced_layer_misnamed)
def names_of_the_optimizer_not_asked(events):
    found = states_and_stories(events)
    return None if found == "layer-replaced-after-optimizer" else found


@wrong(mistakes.clears_so_far_alone)
def returns_at_the_first_sum(events):
    found, sums = states_and_stories(events), ORDER[3:6]
    if found not in sums:
        return found
    for at, e in enumerate(events):
        if e["kind"] == "step" and (name := states_and_stories(events[: at + 1])) in sums:
            return name
    return found


@wrong(mistakes.last_clear_misnamed)
def only_clears_seen_so_far(events):
    found, seen, old, new = states_and_stories(events), set(), set(), set()
    if found != "zeroed-once-per-epoch":
        return found
    for e in events:
        names = set(e["names"])
        if e["kind"] == "clear":
            seen, old, new = seen | names, old - names, new - names
        elif e["kind"] == "accumulate":
            new |= names
        elif e["kind"] == "step":
            if names & old & new & seen:
                return found
            old, new = old | (names & new), new - names
    return "never-zeroed"


@wrong(mistakes.partly_empty_step_called_a_fault)
def one_layer_thrown_away_is_enough(events):
    found, thrown, new = states_and_stories(events), set(), set()
    for e in events:
        names = set(e["names"])
        if e["kind"] == "clear":
            thrown, new = thrown | (names & new), new - names
        elif e["kind"] == "accumulate":
            thrown, new = thrown - names, new | names
        elif e["kind"] == "step":
            if found is None and names & thrown:
                return "zeroed-before-step"
            thrown, new = thrown - names, new - names
    return found


@wrong(mistakes.late_clip_misnamed)
def nothing_new_anywhere(events):
    found, old, new = states_and_stories(events), set(), set()
    if found != "clipped-after-step":
        return found
    for e in events:
        names = set(e["names"])
        if e["kind"] == "clip" and old and not new:
            return found
        if e["kind"] == "accumulate":
            new |= names
        elif e["kind"] == "clear":
            old, new = old - names, new - names
        elif e["kind"] == "step":
            old, new = old | (names & new), new - names
    return None


@wrong(mistakes.late_clip_misnamed)
def a_clip_changes_old_ones(events):
    found = states_and_stories(events)
    return "stepped-on-used-gradients" if found == "clipped-after-step" else found


@wrong(mistakes.plain_loop_called_a_fault)
def clears_counted_between_backwards(events):
    found = states_and_stories(events)
    kinds = [e["kind"] for e in events if e["kind"] not in ("forward", "accumulate")]
    plain = kinds == ["clear", "backward", "step"] * (len(kinds) // 3)
    late = kinds == ["backward", "step", "clear"] * (len(kinds) // 3)
    groups = {tuple(e["names"]) for e in events if e["kind"] == "step"}
    everything = {n for e in events for n in e["names"]}
    whole = all(set(e["names"]) == everything for e in events if e["kind"] in ("accumulate", "step"))
    if found is None and len(groups) == 1 and whole and (plain or late):
        return "zeroed-inside-window"
    return found


@raised(effects.no_such_key)
def another_key(events):
    return [e["names"] for e in events if e["type"] == "clear"]


@raised(effects.no_such_attribute)
def dots_for_brackets(events):
    return [e.kind for e in events if e.kind == "clear"]


@wrong(effects.changed_input)
def names_sorted_in_place(events):
    for event in events:
        event["names"].sort()
    return first_of_those_that_fit(events, ORDER)


@wrong(mistakes.order_of_the_list_reversed)
def the_first_fault_on_the_way(events):
    whole = first_of_those_that_fit(events, ORDER)
    if whole in (None, ORDER[0]):
        return whole
    for end in range(1, len(events) + 1):
        found = first_of_those_that_fit(events[:end], ORDER[1:3] + ORDER[5:])
        if found == "never-zeroed" and whole in ORDER[3:6]:
            return whole
        if found:
            return found
    return whole


@wrong(mistakes.one_layer_without_clears_misnamed)
def never_only_without_any_clear(events):
    found = first_of_those_that_fit(events, ORDER)
    if found == "never-zeroed" and any(e["kind"] == "clear" for e in events):
        return "zeroed-once-per-epoch"
    return found


@wrong(mistakes.one_layer_without_clears_misnamed)
def one_of_two_layers_is_one_of_two_optimizers(events):
    found = first_of_those_that_fit(events, ORDER)
    if found == "never-zeroed" and any(e["kind"] == "clear" for e in events):
        return "one-of-two-optimizers-zeroed"
    return found


@wrong(mistakes.clears_of_others_counted)
def any_clear_at_all(events):
    found = first_of_those_that_fit(events, ORDER)
    if found in ORDER[3:6]:
        return "zeroed-once-per-epoch" if any(e["kind"] == "clear" for e in events) else "never-zeroed"
    return found


def sums_and_clears(events):
    sums = {n for _, e, held in walk(events) if e["kind"] == "step" for n, what in held.items() if what == "both"}
    return sums, {n for e in events if e["kind"] == "clear" for n in e["names"]}


@wrong(mistakes.rare_clear_misnamed)
def each_sum_has_to_be_cleared(events):
    found = first_of_those_that_fit(events, ORDER)
    sums, cleared = sums_and_clears(events)
    if found == "zeroed-once-per-epoch" and not sums <= cleared:
        return "never-zeroed"
    return found


@wrong(mistakes.rare_clear_misnamed)
def one_clear_has_to_name_all(events):
    found = first_of_those_that_fit(events, ORDER)
    whole = [set(e["names"]) for e in events if e["kind"] == "clear"]
    stepped = [set(e["names"]) for e in events if e["kind"] == "step"]
    if found == "zeroed-once-per-epoch" and not any(names <= one for names in stepped for one in whole):
        return "never-zeroed"
    return found


@wrong(mistakes.late_clip_misnamed)
def each_that_a_clip_names_has_to_be_old(events):
    found = first_of_those_that_fit(events, ORDER)
    if found == "clipped-after-step":
        clips = [held for _, e, held in walk(events) if e["kind"] == "clip"]
        return found if any(set(held.values()) == {"old"} for held in clips) else None
    return found
