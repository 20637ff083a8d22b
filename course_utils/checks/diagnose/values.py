"""What are the numbers that were given: an input, a multiple, an approximation, something added?"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from itertools import combinations, permutations

import torch

from course_utils.checks.diagnose.run import (
    MOST_APPROXIMATE,
    Pair,
    Run,
    close,
    digits_in_words,
    inputs_of,
    names_of,
    on_all,
)
from course_utils.checks.difference import RESULT, nice
from course_utils.exercise import Exercise


def questions(exercise: Exercise, group: Sequence[Run], runs: Sequence[Run]) -> list[str]:
    """Sentences about values, where nothing but values is wrong."""
    if not on_all(group, lambda run: run.comparable):
        return []
    said = _zeros(group) or _inputs(exercise, group) or _approximation(group, runs)
    said = said or _whole_factor(exercise, group, runs) or _descended(exercise, group) or _added(exercise, group)
    return said or _clipped(group) or _absolute(group) or _by_place(exercise, group, runs)


def _wrong_by_place(group: Sequence[Run]) -> dict[str, list[Pair]]:
    """{place: its pairs over the cases}, for places that are wrong on every case of the group."""
    common = set.intersection(*({pair.where for pair in run.wrong} for run in group))
    first = [pair.where for pair in group[0].wrong if pair.where in common]
    return {where: [next(p for p in run.wrong if p.where == where) for run in group] for where in first}


# ------------------------------------------------------------------ zeros, inputs


def _zeros(group: Sequence[Run]) -> list[str]:
    if not on_all(group, lambda run: all(not bool(pair.given.any()) for pair in run.wrong)):
        return []
    places = list(dict.fromkeys(pair.where for run in group for pair in run.wrong))
    if places == [RESULT]:
        return ["Every entry that was given is zero."]
    if any(".grad" in where for where in places):
        return [f"No gradient but zero, or None, is left at {names_of(places)}."]
    if _one_number(places, group):
        return [f"{_as_subject(places[0])} is 0."]
    right = [pair.where for pair in group[0].pairs if pair.where not in places and pair.where.startswith(RESULT)]
    rest = "; the others are right" if right else ""
    first = [pair.where for pair in group[0].wrong]
    if len(first) < len(places):  # lists of other lengths: not all places are there on each case
        return [f"What is wrong holds nothing but zeros: on case {group[0].number}, {names_of(first)}{rest}."]
    return [f"Nothing but zeros stands at {names_of(places)}{rest}."]


def _one_number(places: Sequence[str], group: Sequence[Run]) -> bool:
    """Whether it is about a single place that has a name of its own, and one number there."""
    at = [pair for run in group for pair in run.wrong if pair.where in places]
    return len(places) == 1 and "[" not in places[0] and all(pair.expected.ndim == 0 for pair in at)


def _as_subject(where: str) -> str:
    return where[0].upper() + where[1:]


def _untouched(exercise: Exercise, run: Run) -> dict[str, torch.Tensor]:
    """The inputs that still hold their values after the call: of the others, "itself" would be of two minds."""
    changed = {change.what for change in run.given.changes}
    return {name: value for name, value in inputs_of(exercise, run.case).items() if name not in changed}


def _inputs(exercise: Exercise, group: Sequence[Run]) -> list[str]:
    """Is the result an input itself, its parameter's value, its earlier gradient?"""
    all_inputs = [_untouched(exercise, run) for run in group]
    for where in _wrong_by_place(group):
        key = where.split("'")[1] if where.endswith("']") else ""
        pairs = [next(p for p in run.wrong if p.where == where) for run in group]
        for name in all_inputs[0]:
            if not all(name in inputs for inputs in all_inputs):
                continue
            for words, made in _MADE.items():
                if all(
                    pair.agree(pair.given, made(inputs[name])) for pair, inputs in zip(pairs, all_inputs, strict=True)
                ):
                    if name == key and not where.startswith(RESULT) and words == _ITSELF:
                        return [f"{names_of([where])}: as it was before the call."]
                    shown = _input_name(name, key)
                    return [f"{_subject(where)} {words.format(shown)}."]
    return []


_ITSELF = "is {} itself, value for value"
_MADE: Mapping[str, Callable[[torch.Tensor], torch.Tensor]] = {
    _ITSELF: lambda t: t,
    "is {} with its sign changed": lambda t: -t,
    "is the square of {}": lambda t: t**2,
    "is {} transposed": lambda t: t.T if t.ndim == 2 else t + math.nan,
}


def _input_name(name: str, key: str) -> str:
    if key and name == key:
        return "the parameter's own value"
    return name if name.startswith("the earlier") else f"`{name}`"


def _subject(where: str) -> str:
    return "What came back" if where == RESULT else f"What stands at {names_of([where])}"


# ------------------------------------------------------------------ factors


def _telling(pairs: Sequence[Pair]) -> bool:
    """Whether a factor says anything of these: of a single number that is not zero there always is one."""
    sizes = [pair.expected.flatten().abs() for pair in pairs if pair.expected.numel()]
    return sum(int((size > 1e-3 * size.max()).sum()) for size in sizes if bool(size.any())) > 1


def _factor(pairs: Sequence[Pair]) -> float | None:
    """The one number that all of these were multiplied by; None when there is none."""
    a = torch.cat([pair.expected.flatten() for pair in pairs])
    b = torch.cat([pair.given.flatten() for pair in pairs])
    return _ratio(a, b, max(pair.limit for pair in pairs))


def _ratio(a: torch.Tensor, b: torch.Tensor, limit: float) -> float | None:
    if not bool(a.any()) or not bool(b.any()):
        return None
    c = float(a @ b / (a @ a))
    return c if close(b, c * a, limit) else None


def _whole_factor(exercise: Exercise, group: Sequence[Run], runs: Sequence[Run]) -> list[str]:
    """One factor for everything that was given on a case, right places included."""
    # The result, or the one fact that is wrong: what is right beside it must not take part.
    roots = [run.wrong[0].where.split("[")[0] for run in group]
    factors = [
        _factor([pair for pair in run.pairs if pair.where.split("[")[0] == root])
        for run, root in zip(group, roots, strict=True)
    ]
    if not _telling(
        [pair for run, root in zip(group, roots, strict=True) for pair in run.pairs if pair.where.startswith(root)]
    ):
        return []
    if len(set(roots)) > 1:
        return []
    if roots[0] == RESULT:
        return _said_of_factors(exercise, group, runs, factors, "Every number")
    number = _one_number([pair.where for pair in group[0].wrong], group)
    subject = _as_subject(roots[0]) if number else f"Every number of {roots[0]}"
    said = _said_of_factors(exercise, group, runs, factors, subject)
    return [one if one.startswith(subject) else f"At {roots[0]}: {one[0].lower()}{one[1:]}" for one in said]


def _said_of_factors(
    exercise: Exercise, group: Sequence[Run], runs: Sequence[Run], factors: Sequence[float | None], subject: str
) -> list[str]:
    found = [c for c in factors if c is not None]
    # Where much is tolerated, a factor near 1 is none.
    least = [max(MOST_APPROXIMATE, *(2 * pair.limit for pair in run.wrong)) for run in group]
    if len(found) < len(group) or any(abs(c - 1) < near and c != 1 for c, near in zip(found, least, strict=True)):
        return []
    limit = 1e-4
    if all(math.isclose(c, found[0], rel_tol=limit) for c in found):
        c = found[0]
        if math.isclose(c, -1, rel_tol=limit):
            return [f"{subject} has the right size and the opposite sign."]
        named = _quantity(exercise, group, found, limit) if len(set(map(_spec_key(exercise), group))) > 1 else None
        text = f"{subject} is {nice(c)} times what it should be" + (
            ", on each of these cases." if len(group) > 1 else "."
        )
        return [text if named is None else f"{subject} is {named} times what it should be."]
    named = _quantity(exercise, group, found, limit)
    if named is not None:
        return [f"{subject} is {named} times what it should be."]
    root = group[0].wrong[0].where.split("[")[0]
    if all(pair.expected.numel() == 1 for run in group for pair in run.pairs if pair.where.split("[")[0] == root):
        return []  # numbers have no direction, and of a single one there always is a factor
    lengths = [
        math.sqrt(sum(float((p.given**2).sum()) for p in run.pairs if p.where.startswith(RESULT))) for run in group
    ]
    if len(group) > 1 and lengths[0] and all(math.isclose(one, lengths[0], rel_tol=1e-5) for one in lengths):
        length = nice(lengths[0])
        return [f"The direction is right on each of these cases, and the length is always {length}, whatever is right."]
    shown = ", ".join(f"{nice(c)} on case {run.number}" for c, run in list(zip(found, group, strict=True))[:4])
    return [f"The direction is right on each of these cases, the length is not: {shown} times as long as it should be."]


def _spec_key(exercise: Exercise) -> Callable[[Run], tuple[object, ...]]:
    return lambda run: tuple(take(run.case.spec) for take in exercise.quantities.values())


def _quantity(exercise: Exercise, group: Sequence[Run], factors: Sequence[float], limit: float) -> str | None:
    """The factors as a formula of the cases' own numbers, if one gives every factor and not always the same."""
    values: dict[str, list[float]] = {}
    for name, take in exercise.quantities.items():
        numbers = [take(run.case.spec) for run in group]
        if all(number is not None and number != 0 for number in numbers):
            values[name] = [float(number) for number in numbers if number is not None]
    formulas: list[tuple[str, list[float]]] = []
    for name, q in values.items():
        formulas += [
            (f"[{name}]", q),
            (f"1/[{name}]", [1 / v for v in q]),
            (f"2 · [{name}]", [2 * v for v in q]),
            (f"1/(2 · [{name}])", [1 / (2 * v) for v in q]),
            (f"2/[{name}]", [2 / v for v in q]),
            (f"[{name}]/2", [v / 2 for v in q]),
            (f"[{name}]²", [v * v for v in q]),
            (f"1/[{name}]²", [1 / (v * v) for v in q]),
        ]
    for (a, p), (b, q) in combinations(values.items(), 2):
        formulas += [
            (f"[{a}] · [{b}]", [v * w for v, w in zip(p, q, strict=True)]),
            (f"1/([{a}] · [{b}])", [1 / (v * w) for v, w in zip(p, q, strict=True)]),
        ]
    for (a, p), (b, q) in permutations(values.items(), 2):
        formulas.append((f"[{a}]/[{b}]", [v / w for v, w in zip(p, q, strict=True)]))
    for text, predicted in formulas:
        for sign in (1, -1):
            fits = all(math.isclose(c, sign * v, rel_tol=limit) for c, v in zip(factors, predicted, strict=True))
            if fits and len({round(v, 9) for v in predicted}) > 1:
                return text if sign > 0 else f"−{text}"
    return None


# ------------------------------------------------------------------ other relations of values


def _approximation(group: Sequence[Run], runs: Sequence[Run]) -> list[str]:
    """Right to some digits: neither a factor nor another formula."""
    # Right in float64, and only there: a formula that is wrong would be wrong in both.
    single_alone = all(_is_single(run) for run in group) and any(not _is_single(run) for run in runs)
    single_alone = single_alone and not any(run.differences for run in runs if run not in group)
    most = 20 * MOST_APPROXIMATE if single_alone else MOST_APPROXIMATE
    digits: dict[bool, set[int]] = {True: set(), False: set()}
    for run in group:
        roots = {pair.where.split("[")[0] for pair in run.wrong}
        among = [pair for pair in run.pairs if pair.where.split("[")[0] in roots and pair.expected.numel()]
        largest = max(float(pair.expected.abs().max()) for pair in among)
        worst = 0.0
        for pair in run.wrong:
            # Beside its own largest entry; what should be zero, beside the largest of all.
            scale = float(pair.expected.abs().max()) or largest
            if not 0 < scale < math.inf:
                return []
            worst = max(worst, float((pair.given - pair.expected).abs().max()) / scale)
        if not 0 < worst < most:
            return []
        digits[_is_single(run)].add(max(1, int(0.05 - math.log10(worst))))
    parts = [digits_in_words(digits[False])] if digits[False] else []
    parts += [f"{digits_in_words(digits[True])} in float32"] if digits[True] else []
    places = list(dict.fromkeys(pair.where for run in group for pair in run.wrong))
    rest = {pair.where for run in group for pair in run.pairs if pair.where.split("[")[0] == places[0].split("[")[0]}
    subject = f"{names_of(places)}: right" if rest - set(places) else "Right"
    return [
        f"{subject} to about {' and '.join(parts)}, and not further, as an approximation, a rounded number or a lower "
        "precision on the way would leave it; a missing factor would be seen in the first digit."
    ]


def _is_single(run: Run) -> bool:
    return run.case.spec.get("dtype") == "float32"


def _clipped(group: Sequence[Run]) -> list[str]:
    """Are large entries cut off, while the others are right?"""
    runs = [[pair for pair in run.pairs if pair.where.startswith(RESULT)] for run in group]
    if not all(runs):
        return []
    bounds = [max(float(pair.given.abs().max()) for pair in pairs if pair.given.numel()) for pairs in runs]
    if not all(math.isclose(bound, bounds[0], rel_tol=1e-5) for bound in bounds):
        return []
    every = [pair for pairs in runs for pair in pairs]
    entries = torch.cat([pair.expected.flatten() for pair in every])
    beyond = int((entries.abs() > bounds[0]).sum())
    if beyond < 2 or len(entries) - beyond < 2:
        return []  # one number that is too small is not yet one that was cut off
    if all(pair.agree(pair.given, pair.expected.clamp(-bounds[0], bounds[0])) for pair in every):
        return [f"Every number beyond {nice(bounds[0])} or -{nice(bounds[0])} was cut off there; the others are right."]
    return []


def _descended(exercise: Exercise, group: Sequence[Run]) -> list[str]:
    """Is it an input minus something times what is asked, as after a step? Asked of a result that is one gradient."""
    rates: list[float] = []
    names: set[str] = set()
    for run in group:
        inputs = inputs_of(exercise, run.case)
        for pair in run.wrong:
            key = pair.where.split("'")[1] if pair.where.endswith("']") else ""
            if not pair.where.startswith(RESULT) or not (key or pair.where == RESULT) or not bool(pair.given.any()):
                return []
            if pair.expected.numel() < 2:
                continue
            rate = None
            for name in (key,) if key else [name for name in inputs if not name.startswith("the earlier")]:
                value = inputs.get(name)
                if value is not None and value.shape == pair.given.shape:
                    rate = _ratio(pair.expected.flatten(), (value - pair.given).flatten(), pair.limit)
                    if rate is not None and rate > 1e-9:
                        names.add(name)
                        rates.append(rate)
                        break
            if rate is None or rate <= 1e-9:
                return []
    if not rates:
        return []
    same = all(math.isclose(rates[0], c, rel_tol=1e-4) for c in rates)
    name = f"`{names.pop()}`" if len(names) == 1 else "each parameter"
    times = f"{nice(rates[0])} times" if same else "a multiple of"
    return [f"What came back is {name} minus {times} the gradient, as after a step; the gradient itself is asked for."]


def _added(exercise: Exercise, group: Sequence[Run]) -> list[str]:
    """Is what is too much an earlier gradient, or another input?"""
    for sign, words in ((1, "too much"), (-1, "missing")):
        names: set[str] = set()
        for run in group:
            inputs = inputs_of(exercise, run.case)
            for pair in run.wrong:
                rest = sign * (pair.given - pair.expected) if pair.given.shape == pair.expected.shape else None
                name = _which(rest, pair, inputs)
                if name is None:
                    break
                names.add(name)
            else:
                continue
            break
        else:
            earlier = all(name.startswith("the earlier") for name in names)
            if earlier:
                return [f"What is {words} is exactly the .grad that was there before the call."]
            if len(names) == 1:
                return [f"What is {words} is exactly `{names.pop()}`."]
    return []


def _which(rest: torch.Tensor | None, pair: Pair, inputs: Mapping[str, torch.Tensor]) -> str | None:
    if rest is None or not bool(rest.any()):
        return None
    scale = float(torch.maximum(pair.expected.abs().max(), pair.given.abs().max()))
    for name, value in inputs.items():
        if value.shape == rest.shape and float((rest - value).abs().max()) <= pair.limit * max(scale, 1e-30):
            return name
    return None


def _absolute(group: Sequence[Run]) -> list[str]:
    pairs = [pair for run in group for pair in run.pairs if pair.where.startswith(RESULT)]
    if not pairs or any(not pair.where.startswith(RESULT) for run in group for pair in run.wrong):
        return []
    if all(pair.agree(pair.given, pair.expected) for pair in pairs):
        return []  # too near to tell a sign or a power from a rounding
    if all(pair.agree(pair.given, pair.expected.abs()) for pair in pairs):
        return ["Every number has the right size; those that should be negative are positive."]
    if all(pair.agree(pair.given.abs(), pair.expected.abs()) for pair in pairs):
        return ["Every number has the right size; some of the signs are wrong."]
    if all(pair.agree(pair.given, pair.expected**2) for pair in pairs):
        return ["Every number is the square of what it should be."]
    if all(pair.agree(pair.given, pair.expected.sign()) for pair in pairs):
        return ["Every number is the sign of what it should be: 1, -1 or 0."]
    if all(
        bool(pair.expected.any()) and pair.agree(pair.given, pair.expected / pair.expected.norm()) for pair in pairs
    ):
        if any(pair.expected.numel() > 1 for pair in pairs):
            return ["The result was brought to length 1: the direction is right."]
    offsets = [(pair.given - pair.expected).flatten() for pair in pairs if pair.given.shape == pair.expected.shape]
    if len(offsets) == len(pairs) and all(len(off) > 1 and close(off, off[:1].expand_as(off), 1e-6) for off in offsets):
        values = {nice(float(off[0])) for off in offsets}
        shown = f" ({values.pop()})" if len(values) == 1 else ""
        return [f"Every entry is off by the same number{shown}: something was added to all of them."]
    return []


def _by_place(exercise: Exercise, group: Sequence[Run], runs: Sequence[Run]) -> list[str]:
    """Where some entries of a dict or list are right and others wrong: which, and by what factor."""
    places = _wrong_by_place(group)
    always = {where for where in places if all(not run.right_at(where) for run in group)}
    ever = {pair.where for run in group for pair in run.wrong}
    if not places or ever != always or RESULT in places:
        return []
    roots = {where.split("[")[0] for where in places}
    near = [pair.where for pair in group[0].pairs if pair.where.split("[")[0] in roots]
    right = [where for where in near if all(run.right_at(where) for run in group)]
    said = [f"Right: {names_of(right)}. Wrong: {names_of(list(places))}."] if right else []
    by_sentence: dict[str, list[str]] = {}
    for where, pairs in places.items():
        if not _telling(pairs):
            continue
        factors = [_factor([pair]) for pair in pairs]
        for sentence in _said_of_factors(exercise, group, runs, factors, "{}"):
            by_sentence.setdefault(sentence, []).append(where)
    for sentence, wheres in by_sentence.items():
        if sentence.startswith("{}"):
            number = _one_number(wheres, group)
            subject = _as_subject(wheres[0]) if number else f"Every number of {names_of(wheres)}"
            said.append(sentence.replace("{}", subject))
        elif right:
            said.append(f"At {names_of(wheres)}: {sentence[0].lower()}{sentence[1:]}")
    return said
