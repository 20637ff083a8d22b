"""What is often done instead in exercise 1.6."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import torch

from course_utils.checks.mistakes import mistake
from course_utils.lessons.lesson1.find_cuts.task import Station

T = torch.Tensor
Stations = Sequence[Station]
Cuts = Callable[[Station, T], bool]
"""Whether a station cuts at a leaf that holds what arrives there."""


def _gradient(f: Station, leaf: T) -> T | None:
    total = f(leaf).sum()
    if not total.requires_grad:
        return None
    found: T | None = torch.autograd.grad(total, leaf, allow_unused=True)[0]
    return found


def _slope(f: Station, at: T, move: float) -> T:
    slope = torch.zeros_like(at)
    for i in range(at.numel()):
        up, down = at.detach().clone(), at.detach().clone()
        up.view(-1)[i] += move
        down.view(-1)[i] -= move
        slope.view(-1)[i] = (f(up).sum() - f(down).sum()).item() / (2 * move)
    return slope


def _judged(move: float, tolerance: float) -> Cuts:
    def cuts(station: Station, leaf: T) -> bool:
        found = _gradient(station, leaf)
        slope = _slope(station, leaf, move)
        return not torch.allclose(torch.zeros_like(leaf) if found is None else found, slope, rtol=0, atol=tolerance)

    return cuts


_differs = _judged(1e-3, 0.05)


def _is_missing(station: Station, leaf: T) -> bool:
    return _gradient(station, leaf) is None


def _without_grad(station: Station, leaf: T) -> bool:
    return not station(leaf).requires_grad


def _at_each(stations: Stations, x: T, cuts: Cuts) -> list[int]:
    """The positions where a station cuts, each judged at a leaf of its own."""
    found, h = [], x.detach()
    for position, station in enumerate(stations):
        if cuts(station, h.clone().requires_grad_()):
            found.append(position)
        h = station(h).detach()
    return found


def _right(stations: Stations, x: T) -> list[int]:
    return _at_each(stations, x, _differs)


# ------------------------------------------------------------------ what is asked


@mistake(
    "A station that cuts was let pass: its output requires a gradient",
    "Missing in the list are stations whose output requires a gradient although the way to their input is cut, wholly or "
    "in part: a new leaf, weights of their own, or another line keep it so.",
    "Ask not what the output requires, but what arrives at the input, and compare that with a measurement.",
    "requires_grad and grad_fn say that some line leads back to something; not to what, nor whether all lines do.",
)
def output_requires_a_gradient(stations: Stations, x: T) -> list[int]:
    return _at_each(stations, x, _without_grad)


@mistake(
    "Cuts on some of the lines are missing",
    "The list holds the stations that hand no gradient back at all. Those that hand back a part of it are missing.",
    "A gradient that is there may still be wrong. Who tells you what it should be?",
    "A cut is silent as long as another line is left.",
)
def only_missing_gradients(stations: Stations, x: T) -> list[int]:
    return _at_each(stations, x, _is_missing)


def _missing_or(differs: Cuts) -> Cuts:
    return lambda station, leaf: _is_missing(station, leaf) or differs(station, leaf)


@mistake(
    "A station of slope zero is named, since it hands nothing back",
    "Where the output does not move when the input moves, there is nothing to hand back: a missing gradient counts as "
    "zero, and zero is the slope. Such a station stands in the list.",
    "Take zeros for a gradient that is missing, and compare them with the measured slope as everywhere.",
    "Where a gradient is missing, it was nearly always lost.",
)
def missing_is_a_cut(stations: Stations, x: T) -> list[int]:
    return _at_each(stations, x, _missing_or(_differs))


def _by_sign(station: Station, leaf: T) -> bool:
    found = _gradient(station, leaf)
    given = torch.zeros_like(leaf) if found is None else found
    return not torch.equal(given.sign(), _slope(station, leaf, 1e-3).sign())


@mistake(
    "Signs were compared, not slopes",
    "A station is in the list where a gradient is missing or points the other way. One that has the right sign and the "
    "wrong size was let pass.",
    "Compare the numbers themselves, to a tolerance.",
    also=(lambda stations, x: _at_each(stations, x, _missing_or(_by_sign)),),
)
def signs_compared(stations: Stations, x: T) -> list[int]:
    return _at_each(stations, x, _by_sign)


def _differ_by(size: Callable[[T], T]) -> Cuts:
    """Whether a number made of gradient minus slope is large."""

    def cuts(station: Station, leaf: T) -> bool:
        found = _gradient(station, leaf)
        given = torch.zeros_like(leaf) if found is None else found
        return size(given - _slope(station, leaf, 1e-3)).item() > 0.05

    return cuts


def _by(size: Callable[[T], T]) -> Callable[[Stations, T], list[int]]:
    return lambda stations, x: _at_each(stations, x, _differ_by(size))


@mistake(
    "Entries that are too large make up for entries that are too small",
    "A station was let pass whose gradient is wrong in some entries, in both directions: added up, what is missing and what "
    "is too much are nothing.",
    "Compare entry by entry: abs() first, then max() or sum().",
    "A sum or a mean is one number, and easily compared.",
    also=(_by(lambda off: off.mean().abs()),),
)
def sums_compared(stations: Stations, x: T) -> list[int]:
    return _by(lambda off: off.sum().abs())(stations, x)


@mistake(
    "Only one sign of the difference counts",
    "Stations were let pass whose gradient differs from the slope to one side alone: everywhere too small, or everywhere "
    "too large.",
    "A difference may be negative: abs() comes before max().",
    also=(_by(lambda off: (-off).max()),),
)
def without_abs(stations: Stations, x: T) -> list[int]:
    return _by(lambda off: off.max())(stations, x)


def _by_the_mean(station: Station, leaf: T) -> bool:
    found, slope = _gradient(station, leaf), _slope(station, leaf, 1e-3)
    return float((slope if found is None else slope - found).abs().mean()) > 0.08


@mistake(
    "One wrong entry among right ones was let pass",
    "Missing in the list is a station whose gradient is wrong at one entry alone.",
    "Let each entry decide: one that is wrong is a cut. A mean over all entries, or a look at some of them, lets it pass.",
)
def one_entry_let_pass(stations: Stations, x: T) -> list[int]:
    return _at_each(stations, x, _by_the_mean)


def _judged_by_one_side(move: float, tolerance: float) -> Cuts:
    def cuts(station: Station, leaf: T) -> bool:
        found, rises = _gradient(station, leaf), torch.zeros_like(leaf)
        start = station(leaf.detach()).sum().item()
        for i in range(leaf.numel()):
            moved = leaf.detach().clone()
            moved.view(-1)[i] += move
            rises.view(-1)[i] = (station(moved).sum().item() - start) / move
        return not torch.allclose(torch.zeros_like(leaf) if found is None else found, rises, rtol=0, atol=tolerance)

    return cuts


@mistake(
    "Curved stations are named that cut nothing",
    "Nothing is missing in the list, but it holds curved stations, too. Over a wide move to one side a curved function "
    "rises by another amount than its slope says, though nothing is cut.",
    "By how much do you move an entry, and to one side or to both? How far is what you measure from the slope of h ** 3?",
    "On a straight function any move measures the slope.",
    also=(
        lambda stations, x: _at_each(stations, x, _judged_by_one_side(0.1, 0.05)),
        lambda stations, x: _at_each(stations, x, _judged_by_one_side(0.01, 0.01)),
    ),
)
def measured_over_a_wide_move(stations: Stations, x: T) -> list[int]:
    return _at_each(stations, x, _judged_by_one_side(0.1, 0.1))


# ------------------------------------------------------------------ where it is asked


def _begins(stations: Stations, x: T, cuts: Cuts) -> list[int]:
    """Every station, from x to which something is cut: the whole way up to it is judged as one station."""

    def way(position: int) -> Station:
        def walk(at: T) -> T:
            for station in stations[: position + 1]:
                at = station(at)
            return at

        return walk

    return [p for p in range(len(stations)) if cuts(way(p), x.detach().clone().requires_grad_())]


def _along_one_graph(stations: Stations, x: T, measured: bool = False) -> list[int]:
    """Each station's output against its input, both on one graph; with `measured` also against the slope."""
    found, h = [], x.detach().clone().requires_grad_()
    for position, station in enumerate(stations):
        out = station(h)
        total, given = out.sum(), None
        if h.requires_grad and total.requires_grad:
            given = torch.autograd.grad(total, h, allow_unused=True, retain_graph=True)[0]
        if given is None or measured and not torch.allclose(given, _slope(station, h, 1e-3), rtol=0, atol=0.05):
            found.append(position)
        h = out
    return found


@mistake(
    "Stations were judged together with what lies in front of them",
    "Behind a cut the list holds stations that cut nothing, as where one graph is followed from x: what reaches those is "
    "whole no more. And where the whole way from x is judged, a cut behind a station of slope zero is missing.",
    "Judge each station alone, at an input of its own that holds the values which arrive there.",
    "Behind a cut everything looks cut.",
    also=(lambda stations, x: _along_one_graph(stations, x, measured=True),),
)
def behind_a_cut(stations: Stations, x: T) -> list[int]:
    return _begins(stations, x, _differs)


@mistake(
    "Stations behind a cut are named, and cuts on some of the lines are missing",
    "Two things at once. Behind a station that hands nothing back, others stand in the list that hand everything back: "
    "what reached them had no graph any more. And stations that hand a part of the gradient back are missing.",
    "Judge each station at a fresh leaf that holds the values which arrive there; and compare what autograd gives with a "
    "measurement, not with None.",
    "Behind a cut everything looks cut; and a gradient that is there looks right.",
    also=(_along_one_graph,),
)
def behind_a_cut_and_parts_missing(stations: Stations, x: T) -> list[int]:
    return _begins(stations, x, _is_missing)


@mistake(
    "Where nothing requires a gradient any more, stations are named that cut nothing",
    "The list holds the stations whose output requires no gradient when one graph is followed through all of them. That is "
    "so behind a cut, too; and it is not so where a new leaf, weights or another line take the place.",
    "Judge each station at a fresh leaf, and ask what arrives there in place of what the output requires.",
    "requires_grad says that some line leads back to something, not to what.",
)
def lost_along_the_way(stations: Stations, x: T) -> list[int]:
    found, h = [], x.detach().clone().requires_grad_()
    for position, station in enumerate(stations):
        h = station(h)
        if not h.requires_grad:
            found.append(position)
    return found


@mistake(
    "A station that cuts for large inputs alone was let pass",
    "Missing in the list is a station that cuts nothing at x, and cuts at the tensor that reaches it.",
    "Was each station judged at what the one before it gave, or at x?",
    "Where a station cuts everywhere or nowhere, both ways give the same.",
)
def judged_at_x(stations: Stations, x: T) -> list[int]:
    return [p for p, station in enumerate(stations) if _differs(station, x.detach().clone().requires_grad_())]


# ------------------------------------------------------------------ the measurement


def _measured(move: float, tolerance: float) -> Callable[[Stations, T], list[int]]:
    return lambda stations, x: _at_each(stations, x, _judged(move, tolerance))


@mistake(
    "In float32, stations are named that cut nothing",
    "In float64 the list is right. In float32 what was measured is not what autograd gives even where nothing is cut.",
    "How large is the rounding of a difference in float32, divided by the move? Compare that with your move and your "
    "tolerance, as in section 1.",
    "A move that is small enough for float64 is too small for float32.",
    also=(
        _measured(1e-5, 1e-6),
        *(_measured(move, tolerance) for move in (1e-5, 1e-6, 1e-7) for tolerance in (0.05, 0.1)),
    ),
)
def move_too_small_for_float32(stations: Stations, x: T) -> list[int]:
    return _at_each(stations, x, _judged(1e-8 if x.dtype == torch.float32 else 1e-5, 1e-3))


# ------------------------------------------------------------------ the list


@mistake(
    "Only the first cut is named",
    "The list ends with the first station that cuts.",
    "Go on behind it, with the values that it gave.",
)
def first_cut_alone(stations: Stations, x: T) -> list[int]:
    return _right(stations, x)[:1]


@mistake(
    "Positions are counted from 1",
    "Every position is larger by one than the one that the exercise counts from 0.",
    "enumerate counts from 0 unless it is told otherwise.",
)
def counted_from_one(stations: Stations, x: T) -> list[int]:
    return [position + 1 for position in _right(stations, x)]


@mistake(
    "The stations that cut nothing are named",
    "The list holds the others: those whose gradient is the measured slope.",
    "Which answer of your comparison means that a station cuts?",
)
def whole_ones_named(stations: Stations, x: T) -> list[int]:
    found = _right(stations, x)
    return [position for position in range(len(stations)) if position not in found]


@mistake(
    "A truth value stands for each station",
    "There is one True or False a station; asked for are the positions of those that cut.",
    "Keep the positions where the answer is True.",
)
def flags_for_positions(stations: Stations, x: T) -> list[bool]:
    found = _right(stations, x)
    return [position in found for position in range(len(stations))]


# ------------------------------------------------------------------ what is left behind


@mistake(
    "backward() went on into the stations' own weights",
    "The gradient was fetched by a backward pass that goes to every leaf. In weights of the stations .grad was added to; "
    "and where a part of their graph had been freed, such a pass raises.",
    "Ask for the gradient of the one leaf that you made: a function that returns it does not go further.",
    "backward() stores into every leaf that it can reach.",
)
def backward_into_every_weight(stations: Stations, x: T) -> list[int]:
    def cuts(station: Station, leaf: T) -> bool:
        total = station(leaf).sum()
        if total.requires_grad:
            torch.autograd.backward(total)
        found = torch.zeros_like(leaf) if leaf.grad is None else leaf.grad
        return not torch.allclose(found, _slope(station, leaf, 1e-3), rtol=0, atol=0.05)

    return _at_each(stations, x, cuts)
