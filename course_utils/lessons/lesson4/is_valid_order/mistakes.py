"""What is often done instead in exercise 4.3."""

from __future__ import annotations

from collections.abc import Callable, Container, Sequence

from course_utils.checks.mistakes import mistake

Events = Sequence[str]
Code = Callable[[Events], object]
_INSIDE = ("inside", "inside, later")


def _faults(events: Events) -> set[str]:
    """What is wrong with an order: a clearing that loses gradients before a step, before another backward or at the
    end; a backward or a step on used gradients; a backward at the end. A clearing between two backwards of a step may
    come at once after the first, or later."""
    found: set[str] = set()
    waiting = used = False
    for place, event in enumerate(events):
        if event == "zero":
            if waiting:
                after = next((one for one in events[place:] if one in ("backward", "step")), "")
                at_once = "inside" if events[place - 1] == "backward" else "inside, later"
                found.add({"backward": at_once, "step": "before step", "": "at the end"}[after])
            waiting = used = False
        elif event == "backward":
            if used:
                found.add("stale")
            waiting = True
        elif event == "step":
            if used and not waiting:
                found.add("repeated")
            used = used or waiting
            waiting = False
    return found | ({"trailing"} if waiting else set())


def _but(overlooks: Container[str] = (), refuses: Callable[[Events], bool] = lambda events: False) -> Code:
    """Right but for some faults, which it overlooks, and some right orders, which it refuses."""

    def code(events: Events) -> bool:
        return all(fault in overlooks for fault in _faults(events)) and not refuses(events)

    return code


def _windows(events: Events) -> list[Events]:
    """The events up to each step, that step left out, and those after the last one."""
    found: list[list[str]] = [[]]
    for event in events:
        if event == "step":
            found.append([])
        else:
            found[-1].append(event)
    return [list(one) for one in found]


def _letters(events: Events) -> str:
    return "".join(event[0] for event in events)


# ------------------------------------------------------------------ wrong orders that pass


@mistake(
    "Every order is called right",
    "The answer was True for every order, those that lose or reuse gradients included.",
    "Which line returns False, and is it ever reached?",
)
def every_order_passes(events: Events) -> object:
    return True


@mistake(
    "Zero between backward and step is called right",
    "Orders in which zero stands after a backward and a step follows pass. That step has nothing left of the backward.",
    "What does zero do to a gradient that no step has used yet?",
    "Zero before a step sounds like tidying up. It stands where the gradient still waits.",
)
def zero_before_step_passes(events: Events) -> object:
    return _but({"before step"})(events)


@mistake(
    "Zero between two backwards of one step is called right",
    "Orders pass in which zero stands somewhere between two backwards of the same step. The first one's gradient is "
    "lost.",
    "A step is to use all the backwards since the step before it. What has zero left of the first?",
    "In a plain loop zero, forward and backward go together. Here several backwards share a step.",
    also=(_but({"inside, later"}),),
)
def zero_between_backwards_passes(events: Events) -> object:
    return _but(_INSIDE)(events)


@mistake(
    "Zero on a gradient that waits is called right",
    "Wherever zero stands, the order passes: before a step, between two backwards, or after a last backward. Each time "
    "a gradient that no step has used is lost.",
    "Zero may empty a gradient that a step has used. May it empty one that still waits?",
)
def any_zero_passes(events: Events) -> object:
    return _but({"before step", "at the end", *_INSIDE})(events)


@mistake(
    "Zero on a gradient that waits is called right, if a step comes later",
    "Orders pass in which zero stands before a step or between two backwards. Each time a gradient that no step has used "
    "is lost.",
    "Zero may empty a gradient that a step has used. May it empty one that still waits? After a last backward you do not "
    "allow it.",
)
def zero_ahead_of_a_step_passes(events: Events) -> object:
    return _but({"before step", *_INSIDE})(events)


@mistake(
    "A step with gradients of an earlier step is called right",
    "Orders pass in which a backward runs while .grad still holds what an earlier step has used. The next step uses "
    "both.",
    "What must happen to .grad between a step and the next backward?",
    "Nothing raises there: the new gradient is added to the old one.",
)
def never_cleared_passes(events: Events) -> object:
    return _but({"stale"})(events)


@mistake(
    "A step that uses the same gradients again is called right",
    "Orders pass in which a step follows a step and .grad still holds what the first one has used.",
    "Which backward belongs to the second of two steps in a row?",
)
def repeated_step_passes(events: Events) -> object:
    return _but({"repeated"})(events)


@mistake(
    "Gradients that a step has used may be used again",
    "Orders pass in which a step uses gradients that an earlier one has used, alone or together with new ones.",
    "After a step .grad is not empty. What do you note about what it holds?",
)
def used_gradients_pass(events: Events) -> object:
    return _but({"stale", "repeated"})(events)


@mistake(
    "Zeros enough, but in other places, are called right",
    "Orders pass in which a step uses what an earlier one has used. They have zeros enough in all for the gaps between "
    "steps, but none in the gap where one is needed.",
    "How many zeros are there is not the question. What does .grad hold when the second of two steps comes?",
    "With one zero for each step the plain loop is right.",
)
def zeros_in_other_places_pass(events: Events) -> object:
    zeros, backwards, steps = (list(events).count(one) for one in ("zero", "backward", "step"))
    return _but({"stale", "repeated"} if zeros >= steps - 1 and backwards >= steps else ())(events)


def _judged_up_to(*words: str) -> Code:
    """What comes after the last of these words is not looked at: a last backward on used gradients is not, either."""

    def code(events: Events) -> bool:
        end = max((place for place, event in enumerate(events, 1) if event in words), default=0)
        return not _faults(events[:end])

    return code


@mistake(
    "A backward that no step follows is called right",
    "Orders pass in which no step follows the last backward: no step ever uses its gradient.",
    "What must have become of each backward's gradient when the last event is over?",
    "The loop over the events ends, and nothing in it asks what is left.",
    also=(_but({"trailing", "at the end"}), _judged_up_to("step", "zero"), _judged_up_to("step")),
)
def trailing_backward_passes(events: Events) -> object:
    return _but({"trailing"})(events)


@mistake(
    "A forward after the last backward hides that it is lost",
    "Orders pass in which a backward that no step follows is not the last event: a forward comes after it. Those that end "
    "with the backward itself are refused.",
    "What must be true of .grad when the last event is over, whichever event that is?",
)
def forward_after_the_last_backward_passes(events: Events) -> object:
    return _but({"trailing"}, refuses=lambda one: bool(one) and one[-1] == "backward")(events)


@mistake(
    "A zero after the last backward makes the order right",
    "Orders pass that end with a backward and a zero, without a step between the two: the gradient is lost.",
    "An empty .grad at the end is no proof that every gradient was used.",
)
def zero_at_the_end_passes(events: Events) -> object:
    return _but({"at the end"})(events)


# ------------------------------------------------------------------ right orders that are refused


@mistake(
    "Every order is called wrong",
    "The answer was False for every order, those with every step on its own gradients included.",
    "Which line returns True, and is it ever reached?",
)
def every_order_is_refused(events: Events) -> object:
    return False


def _textbook_with_more(events: Events) -> object:
    text = _letters(events)
    while text.startswith("zfb"):
        text = text[1:]
        while text.startswith("fb"):
            text = text[2:]
        if not text.startswith("s"):
            return False
        text = text[1:]
    return not text


def _begins_like_the_textbook(events: Events) -> object:
    text = _letters(events)
    return bool(text) and all(letter == "zfbs"[place % 4] for place, letter in enumerate(text))


@mistake(
    "Only the order of the textbook passes",
    "Orders pass in which each step is preceded by zero, forward, backward in that order, from the first event on. "
    "Where zero stands in another place, or is left out on an empty .grad, the order is refused, though nothing is lost "
    "and nothing old is used.",
    "The text does not ask where zero stands, but what each step uses. Run through [forward, backward, step, zero].",
    "The order of the textbook is right, and it is not the only one.",
    also=(_textbook_with_more, _begins_like_the_textbook),
)
def textbook_alone(events: Events) -> object:
    return len(events) % 4 == 0 and _letters(events) == "zfbs" * (len(events) // 4)


@mistake(
    "A first backward without a zero before it is refused",
    "Orders are refused in which no zero stands before the first backward. Every .grad is None there, and nothing old "
    "can be in it.",
    "What does .grad hold before the first event?",
    "In a notebook, where a cell can run twice, the zero is a good habit.",
)
def zero_wanted_at_the_start(events: Events) -> object:
    return _but(refuses=lambda one: "backward" in one and "zero" not in one[: list(one).index("backward")])(events)


@mistake(
    "A zero after a forward is refused",
    "Orders are refused in which zero stands after a forward, before its backward. A forward writes nothing into .grad.",
    "Which of the four events writes into .grad?",
    "Forward and backward belong together, and a line between them looks wrong.",
    also=(_but(refuses=lambda one: "zb" in _letters(one)),),
)
def zero_after_forward_refused(events: Events) -> object:
    return _but(refuses=lambda one: "fz" in _letters(one))(events)


@mistake(
    "An order that ends with zero is refused",
    "Orders are refused whose last event is a zero, though what it empties has been used by a step.",
    "What is lost when zero empties a gradient that a step has used?",
)
def zero_at_the_end_refused(events: Events) -> object:
    return _but(refuses=lambda one: bool(one) and one[-1] == "zero")(events)


@mistake(
    "An order that does not end with a step is refused",
    "Orders are refused whose last event is no step: a zero after the last step, or a forward.",
    "A backward at the end is lost. Is a zero or a forward?",
)
def last_event_must_be_a_step(events: Events) -> object:
    return _but(refuses=lambda one: not one or one[-1] != "step")(events)


@mistake(
    "What a step has used counts as lost",
    "Orders are refused in which zero empties gradients that a step has used: after the first step no zero is allowed.",
    "Zero loses a gradient that still waits. Is one that was used still waiting?",
)
def used_counts_as_lost(events: Events) -> object:
    def after_a_step(one: Events) -> bool:
        filled = False
        for event in one:
            if event == "backward":
                filled = True
            elif event == "zero" and filled:
                return True
        return False

    return _but(refuses=after_a_step)(events)


def _zeros_without_a_backward_between(events: Events) -> bool:
    return "zz" in _letters([event for event in events if event in ("zero", "backward")])


@mistake(
    "A second zero is refused",
    "Orders are refused in which zero empties a .grad that is empty already. That changes nothing.",
    "What is lost when an empty .grad is emptied?",
    also=(_but(refuses=_zeros_without_a_backward_between),),
)
def zero_twice_refused(events: Events) -> object:
    return _but(refuses=lambda one: "zz" in _letters(one))(events)


def _stretch_without_a_step(events: Events) -> bool:
    """Whether a stretch between zeros has none; an empty one at either end does not count."""
    stretches = _letters(events).split("z")
    stretches = stretches if stretches[0] else stretches[1:]
    stretches = stretches if stretches and stretches[-1] else stretches[:-1]
    return any("s" not in one for one in stretches)


@mistake(
    "A stretch without a step is refused",
    "Orders are refused in which zeros cut off a stretch without a step, or which have no step at all, though no backward "
    "there waits for one.",
    "What must be true of a stretch: that it has a step, or that each of its backwards is used by one?",
    "In a plain loop each zero begins a stretch with one step.",
)
def stretch_without_a_step_refused(events: Events) -> object:
    return _but(refuses=_stretch_without_a_step)(events)


def _used_when_it_begins_anew(events: Events) -> bool:
    text = _letters([event for event in events if event != "forward"])
    return not text.startswith("z") and "s" in text and "z" not in text[text.rindex("s") :]


@mistake(
    "The order was judged as one that begins anew",
    "Orders are refused that neither begin with a zero nor have one after their last step. Run a second time, their first "
    "backward would find what a step has used. They are run once.",
    "What does .grad hold before the first event, and what comes after the last one?",
    "A loop does begin anew after its last line.",
)
def judged_as_a_cycle(events: Events) -> object:
    return _but(refuses=_used_when_it_begins_anew)(events)


@mistake(
    "Several backwards before a step are refused",
    "Orders are refused in which more than one backward stands before a step, though that step uses all of them.",
    "Read the rule again: a step uses the gradients of all the backwards since the step before it.",
    "One backward a step is the plain loop. Larger batches in pieces need more.",
)
def several_backwards_refused(events: Events) -> object:
    return _but(refuses=lambda one: any(_letters(part).count("b") > 1 for part in _windows(one)[:-1]))(events)


def _unanswered_forward(events: Events) -> bool:
    return any(a == "forward" and b != "backward" for a, b in zip(events, [*events[1:], ""], strict=True))


def _extra_forward_in_a_window(events: Events) -> bool:
    return any(_letters(part).count("f") != _letters(part).count("b") for part in _windows(events))


@mistake(
    "A forward without a backward is refused",
    "Orders are refused in which a forward has no backward of its own. Validation is made of such forwards, and they "
    "write nothing into .grad.",
    "Which of the four events changes what .grad holds?",
    also=(
        _but(refuses=_unanswered_forward),
        _but(refuses=_extra_forward_in_a_window),
        _but(refuses=lambda one: "ff" in _letters(one) or _letters(one).endswith("f")),
    ),
)
def lone_forward_refused(events: Events) -> object:
    return _but(refuses=lambda one: one.count("forward") != one.count("backward"))(events)


@mistake(
    "An order with several steps is refused",
    "Orders are refused that have more than one step, though each step uses its own gradients.",
    "Does your note of what .grad holds go on correctly after a step and a zero?",
)
def several_steps_refused(events: Events) -> object:
    return _but(refuses=lambda one: one.count("step") > 1)(events)


@mistake(
    "A zero is wanted for each step",
    "Orders are refused that have fewer zeros than steps, though each step uses its own gradients alone.",
    "What is there to clear before the first backward? Count what .grad holds, not the zeros.",
)
def zero_for_each_step(events: Events) -> object:
    return _but(refuses=lambda one: one.count("zero") < one.count("step"))(events)


def _forward_on_used(events: Events) -> bool:
    used = waiting = False
    for event in events:
        if event == "forward" and used:
            return True
        if event == "backward":
            waiting = True
        elif event == "step":
            used, waiting = used or waiting, False
        elif event == "zero":
            used = waiting = False
    return False


@mistake(
    "A forward after a step, before zero, is refused",
    "Orders are refused in which a forward runs while .grad still holds what a step has used. A forward neither reads "
    "nor writes .grad.",
    "Which of the four events would do harm there?",
)
def forward_on_used_refused(events: Events) -> object:
    return _but(refuses=_forward_on_used)(events)


@mistake(
    "The textbook's order is looked for somewhere",
    "Orders pass that have zero, forward, backward, step one after the other in some place, whatever else is in them; "
    "all others are refused.",
    "An order may be right without that piece, and wrong with it. Follow what .grad holds, from the first event to the "
    "last.",
)
def textbook_somewhere(events: Events) -> object:
    return "zfbs" in _letters(events)


@mistake(
    "Backwards and steps were set off against each other",
    "The answer is that of a number that each backward raises and each step lowers by one, and zero sets to nothing.",
    "Two backwards may share a step, and a zero may lose one. What does one number not tell?",
)
def set_off_against_each_other(events: Events) -> object:
    balance = 0
    for event in events:
        balance = {"backward": balance + 1, "step": balance - 1, "zero": 0}.get(event, balance)
    return balance == 0


def _counts_of_two(events: Events) -> object:
    return events.count("backward") == events.count("step")


def _as_many_zeros_as_steps(events: Events) -> object:
    return events.count("zero") == events.count("step")


def _zeros_enough_for_the_steps(events: Events) -> object:
    return events.count("zero") >= events.count("step")


def _counts_of_four(events: Events) -> object:
    return len({events.count(word) for word in ("zero", "forward", "backward", "step")}) == 1


@mistake(
    "The events were counted, not followed",
    "The answer is the same for every order of the same events: only how often each occurs decides.",
    "[zero, forward, backward, step] and [forward, backward, zero, step] hold the same words. Go through them in order.",
    also=(_counts_of_two, _counts_of_four, _as_many_zeros_as_steps, _zeros_enough_for_the_steps),
)
def counted_alone(events: Events) -> object:
    return events.count("zero") == events.count("backward") == events.count("step")


@mistake(
    "The answers are the wrong way round",
    "Right orders get False, and wrong ones True.",
    "Which of the two does your function return when it finds a fault?",
)
def turned_round(events: Events) -> object:
    return bool(_faults(events))


@mistake(
    "The first step decides alone",
    "The answer is that of the events up to the first step; what comes after it changes nothing.",
    "Does your function return True before it has seen all the events?",
    "A return True inside the loop ends it at the first thing that is right.",
)
def first_step_alone(events: Events) -> object:
    end = list(events).index("step") + 1 if "step" in events else len(events)
    return not _faults(events[:end])


@mistake(
    "The last step decides alone",
    "The answer is that of the last step; a fault at an earlier one is forgotten.",
    "Is a verdict overwritten in a later round? Return False as soon as something is wrong.",
)
def last_step_alone(events: Events) -> object:
    """Whether the last step, by itself, was right."""
    verdict, waiting, used, lost = True, False, False, False
    for event in events:
        if event == "zero":
            lost = lost or waiting
            waiting = used = False
        elif event == "backward":
            waiting = True
        elif event == "step":
            verdict, waiting, used, lost = waiting and not used and not lost, False, True, False
    return verdict


# ------------------------------------------------------------------ exceptions


@mistake(
    "A word was looked for that is not there",
    "index() raises where the list lacks the word. An order may have no zero at all, no backward or no step.",
    "Go through the events one by one; what does not occur needs no line then.",
)
def looked_up_by_index(events: Events) -> object:
    return list(events).index("zero") < list(events).index("backward") < list(events).index("step")
