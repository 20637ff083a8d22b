"""What is often done instead in exercise 1.1."""

from __future__ import annotations

from collections.abc import Callable

import torch

from course_utils.checks.mistakes import mistake
from course_utils.lessons.lesson1.inputs import Scalar
from course_utils.lessons.lesson1.numerical_gradient.answers import right
from course_utils.lessons.lesson1.numerical_gradient.task import BY, MOVED, SHAPES, H

T = torch.Tensor


@torch.no_grad()
def _measured(x: T, slope: Callable[[Callable[[float], T]], T]) -> T:
    """For each entry, `slope(at)`, where `at(a)` is x with that entry moved by a."""
    entries = []
    for i in range(x.numel()):

        def at(by: float, i: int = i) -> T:
            moved = x.detach().clone().reshape(-1)
            moved[i] += by
            return moved.reshape(x.shape)

        entries.append(slope(at))
    return torch.stack(entries).reshape(x.shape)


def _flat(x: T) -> T:
    return x.detach().clone(memory_format=torch.contiguous_format).reshape(-1)


@mistake(
    "A one-sided difference, forward",
    "The change from x to x + h was divided by h. Its error shrinks with h; the central difference's with h squared.",
    "Probe on both sides of x, and divide by the distance between the two probes.",
    "The derivative is usually defined by this quotient, for h going to zero.",
    signs=(BY,),
)
def forward_difference(f: Scalar, x: T, h: float = H) -> T:
    return _measured(x, lambda at: (f(at(h)) - f(at(0))) / h)


@mistake(
    "A one-sided difference, backward",
    "The change from x - h to x was divided by h. Its error shrinks with h; the central difference's with h squared.",
    "Probe on both sides of x, and divide by the distance between the two probes.",
    signs=(BY,),
)
def backward_difference(f: Scalar, x: T, h: float = H) -> T:
    return _measured(x, lambda at: (f(at(0)) - f(at(-h))) / h)


@mistake(
    "The change from x - h to x + h over h, not over 2h",
    "Every entry came out twice as large as it should.",
    "From x - h to x + h is a distance of 2h. Of two one-sided slopes, too, it is the mean that is asked for.",
)
def divided_by_h(f: Scalar, x: T, h: float = H) -> T:
    return _measured(x, lambda at: (f(at(h)) - f(at(-h))) / h)


@mistake(
    "The change was not divided by the distance",
    "What came back is how much f changed from x - h to x + h. A gradient is a rate: change per unit of distance.",
    "Divide by the distance between the two probes.",
)
def not_divided(f: Scalar, x: T, h: float = H) -> T:
    return _measured(x, lambda at: f(at(h)) - f(at(-h)))


@mistake(
    "The change was halved and multiplied by h",
    "The numbers are (f(x + h) - f(x - h)) / 2 * h: Python reads that from left to right, so the change is halved and "
    "then multiplied by h.",
    "Divide by the whole distance, in parentheses: / (2 * h).",
    "On paper the bar of a fraction makes the parentheses.",
)
def multiplied_by_h(f: Scalar, x: T, h: float = H) -> T:
    return _measured(x, lambda at: (f(at(h)) - f(at(-h))) / 2 * h)


def _one_slope(f: Scalar, x: T, h: float = H) -> T:
    return (f(x + h) - f(x - h)) / (2 * h)


@mistake(
    "All entries were moved at once",
    "Every entry of x was moved, as x + h does, so what was measured is one slope, along (1, 1, ..., 1): for a small h "
    "the sum of all entries of the gradient.",
    "Move one entry at a time and leave the others where they are: one pair of probes for each entry.",
    "x + h looks as if it moved one number; on a tensor it moves them all.",
    also=(_one_slope,),
    signs=(MOVED,),
)
def moved_all_entries(f: Scalar, x: T, h: float = H) -> T:
    return torch.ones_like(x) * _one_slope(f, x, h)


def _one_forward_slope(f: Scalar, x: T, h: float = H) -> T:
    return (f(x + h) - f(x)) / h


@mistake(
    "All entries were moved at once, and to one side only",
    "Every entry of x was moved, as x + h does, so what was measured is one slope, along (1, 1, ..., 1); and from x to "
    "x + h, not from x - h to x + h.",
    "Move one entry at a time, and probe on both sides of x.",
    "The usual formula is for a function of one number.",
    also=(_one_forward_slope,),
    signs=(MOVED,),
)
def moved_all_entries_forward(f: Scalar, x: T, h: float = H) -> T:
    return torch.ones_like(x) * _one_forward_slope(f, x, h)


def _in_one_copy(f: Scalar, x: T, h: float = H) -> T:
    moving, slopes = _flat(x), []
    for i in range(x.numel()):
        moving[i] += h
        above = f(moving.reshape(x.shape))
        moving[i] -= 2 * h
        slopes.append((above - f(moving.reshape(x.shape))) / (2 * h))
    return torch.stack(slopes).reshape(x.shape)


def _in_x_itself(f: Scalar, x: T, h: float = H) -> T:
    slopes = torch.zeros_like(x)
    for index in torch.ones_like(x).nonzero(as_tuple=False).tolist():
        at = tuple(index)
        x[at] += h
        above = f(x)
        x[at] -= 2 * h
        slopes[at] = (above - f(x)) / (2 * h)
    return slopes


def _put_back_too_little(f: Scalar, x: T, h: float = H) -> T:
    moving, slopes = _flat(x), []
    for i in range(x.numel()):
        moving[i] += h
        above = f(moving.reshape(x.shape))
        moving[i] -= 2 * h
        slopes.append((above - f(moving.reshape(x.shape))) / (2 * h))
        moving[i] += 2 * h
    return torch.stack(slopes).reshape(x.shape)


@mistake(
    "The entries before are moved as well",
    "When entry i is probed, the entries before it are moved, too: they were not put back, for instance, or a slice "
    "such as [:i + 1] was moved.",
    "Start each probe from a fresh copy of x, and move entry i alone in it.",
    also=(_in_one_copy, _in_x_itself, _put_back_too_little),
    signs=(MOVED,),
)
def perturbation_left_behind(f: Scalar, x: T, h: float = H) -> T:
    up, down, slopes = _flat(x), _flat(x), []
    for i in range(x.numel()):
        up[i] += h
        down[i] -= h
        slopes.append((f(up.reshape(x.shape)) - f(down.reshape(x.shape))) / (2 * h))
    return torch.stack(slopes).reshape(x.shape)


@mistake(
    "Whole rows were moved",
    "x[i] of a matrix is a row: all its entries moved together, and each got the slope of that common move. Of a "
    "vector it is one entry.",
    "Move one single entry, whatever the shape: flatten a copy first, or use an index for every dimension.",
    "x[i] reads as one number because in a vector it is one.",
    signs=(MOVED,),
)
def moved_whole_rows(f: Scalar, x: T, h: float = H) -> T:
    if x.ndim == 0:
        return right(f, x, h)
    slopes = torch.zeros_like(x)
    for i in range(len(x)):
        up, down = x.clone(), x.clone()
        up[i] += h
        down[i] -= h
        slopes[i] = (f(up) - f(down)) / (2 * h)
    return slopes


def _rows_and_a_0d_tensor_refused(f: Scalar, x: T, h: float = H) -> T:
    slopes = torch.zeros_like(x)
    for i in range(len(x)):
        up, down = x.clone(), x.clone()
        up[i] += h
        down[i] -= h
        slopes[i] = (f(up) - f(down)) / (2 * h)
    return slopes


@mistake(
    "Entries were counted by the first dimension",
    "len(x) and x[i] go along the first dimension: of a matrix that is its rows, which then moved as a whole, and a "
    "0-d tensor has none. That is right where each row is one entry.",
    "Count with x.numel(), and move one entry of a flattened copy.",
    "For a vector, entries and rows are the same.",
    signs=(MOVED,),
)
def assumed_a_vector(f: Scalar, x: T, h: float = H) -> T:
    return _rows_and_a_0d_tensor_refused(f, x, h)


@mistake(
    "The rows were counted, not the entries",
    "Only as many entries hold a slope as x has rows; the rest are zero.",
    "x.numel() counts the entries of a tensor of any shape; len(x) counts its rows.",
    "For a vector the two are the same.",
)
def counted_rows_for_entries(f: Scalar, x: T, h: float = H) -> T:
    slopes = right(f, x, h)
    if x.ndim:
        slopes.reshape(-1)[len(x) :] = 0
    return slopes


@mistake(
    "The copy that was moved is not the tensor that f saw",
    "On the non-contiguous matrix no entry moved, and every slope came out as zero. Of a contiguous tensor reshape(-1) "
    "and flatten() give a view; of a transposed one they give a copy, and what is written into that copy does not "
    "reach the tensor itself.",
    "Keep the flat copy in a name, write into that one, and give it the shape of x again for the call of f.",
    "Whether reshape copies depends on the strides, and it says nothing about it.",
    signs=(MOVED,),
)
def reshape_made_a_copy(f: Scalar, x: T, h: float = H) -> T:
    slopes = []
    for i in range(x.numel()):
        up, down = x.clone(), x.clone()
        up.reshape(-1)[i] += h
        down.reshape(-1)[i] -= h
        slopes.append((f(up) - f(down)) / (2 * h))
    return torch.stack(slopes).reshape(x.shape)


def _both_probes_one_tensor(f: Scalar, x: T, h: float = H) -> T:
    slopes = []
    for i in range(x.numel()):
        plus = _flat(x)
        minus = plus
        plus[i] += h
        minus[i] -= h
        slopes.append((f(plus.reshape(x.shape)) - f(minus.reshape(x.shape))) / (2 * h))
    return torch.stack(slopes).reshape(x.shape)


@mistake(
    "x itself was probed where x - h belongs",
    "f was called at x itself, and never at x - h. That is so, for instance, where both probes share one memory: the "
    "two moves undo each other.",
    "Did you write minus = plus, plus = x, or x.detach()? None of them copies. Make each probe from x.clone(), one "
    "moved up by h and one down by h.",
    "Numbers seem to be copied by =, because they cannot be changed in place. Tensors can.",
    also=(_both_probes_one_tensor,),
    signs=(BY, MOVED),
)
def assignment_is_no_copy(f: Scalar, x: T, h: float = H) -> T:
    slopes, moving = [], _flat(x)
    for i in range(x.numel()):
        plus = minus = moving
        plus[i] += h
        above = f(plus.reshape(x.shape))
        minus[i] -= h
        slopes.append((above - f(minus.reshape(x.shape))) / (2 * h))
    return torch.stack(slopes).reshape(x.shape)


@mistake(
    "The second probe is x itself: did a kept entry move along?",
    "f was called at x itself where the probe at x - h belongs. After old = flat[i], old is no number but a view of "
    "that entry: once flat[i] = old + h is done it holds the moved value, and old - h is where it began.",
    "Keep a number (flat[i].item()) or a clone, or build both probes, x + h and x - h, from fresh copies of x.",
    "Of a Python list, and of a NumPy vector, a[i] is a value of its own.",
    signs=(BY, MOVED),
)
def kept_a_view_of_the_entry(f: Scalar, x: T, h: float = H) -> T:
    slopes, flat = [], _flat(x)
    for i in range(x.numel()):
        old = flat[i]
        flat[i] = old + h
        above = f(flat.reshape(x.shape))
        flat[i] = old - h
        slopes.append((above - f(flat.reshape(x.shape))) / (2 * h))
        flat[i] = old
    return torch.stack(slopes).reshape(x.shape)


def _richardson(f: Scalar, x: T, h: float = H) -> T:
    wide = _measured(x, lambda at: (f(at(h)) - f(at(-h))) / (2 * h))
    near = _measured(x, lambda at: (f(at(h / 2)) - f(at(-h / 2))) / h)
    return (4 * near - wide) / 3


@mistake(
    "A higher-order formula",
    "Four probes an entry give a closer estimate of the derivative, but not (f(x + h) - f(x - h)) / 2h, as asked.",
    "Use the two probes x + h and x - h only.",
    "A better formula for another exercise: at h = 0.1 the difference shows.",
    also=(_richardson,),
    signs=(BY,),
)
def five_point_stencil(f: Scalar, x: T, h: float = H) -> T:
    return _measured(x, lambda at: (8 * (f(at(h)) - f(at(-h))) - (f(at(2 * h)) - f(at(-2 * h)))) / (12 * h))


@mistake(
    "The argument h was not used",
    "The result is what h = 1e-5 gives, although the call asked for another step.",
    "Use the h that was passed in, both in the probes and in the division.",
)
def ignored_h(f: Scalar, x: T, h: float = H) -> T:
    return right(f, x, H)


def _autograd_or_difference(f: Scalar, x: T, h: float = H) -> T:
    leaf = x.detach().clone().requires_grad_()
    value = f(leaf)
    return torch.autograd.grad(value, leaf)[0] if value.requires_grad else right(f, x, h)


def _from_torch_func(f: Scalar, x: T, h: float = H) -> T:
    return torch.func.grad(f)(x)


@mistake(
    "A derivative instead of a difference",
    "The exact derivative came back, or autograd was asked for it. The exercise asks for the central difference at the "
    "given h, and autograd cannot look into every f.",
    "Call f at x + h and x - h and use nothing else about f.",
    also=(_autograd_or_difference, _from_torch_func),
    signs=(MOVED,),
)
def derivative_not_difference(f: Scalar, x: T, h: float = H) -> T:
    leaf = x.detach().clone().requires_grad_()
    return torch.autograd.grad(f(leaf), leaf)[0]


@mistake(
    "The sign is flipped",
    "The result points downhill. A gradient points uphill; going against it is the optimizer's business.",
    "Check which of the two values is subtracted from which, and the sign of what it is divided by.",
    "Descent is what one does with a gradient, so the minus is easily drawn into it.",
)
def gradient_sign_flipped(f: Scalar, x: T, h: float = H) -> T:
    return -right(f, x, h)


@mistake(
    "f was called with a flat point",
    "f got a vector of all entries where it takes a tensor of the shape of x. Where f looks at the shape, it computes "
    "something else.",
    "Give the moved copy the shape of x again before you call f with it.",
    "For many functions the shape does not matter, so the slip shows late.",
    signs=(SHAPES,),
)
def called_f_with_a_flat_point(f: Scalar, x: T, h: float = H) -> T:
    slopes, flat = [], _flat(x)
    for i in range(x.numel()):
        up, down = flat.clone(), flat.clone()
        up[i] += h
        down[i] -= h
        slopes.append((f(up) - f(down)) / (2 * h))
    return torch.stack(slopes).reshape(x.shape)


@mistake(
    "The step was scaled by the entry",
    "Each entry was moved by h times its own value, not by h, so an entry that is zero does not move.",
    "Move every entry by h itself, whatever its value.",
    "Libraries that choose the step often scale it with the entry; here h is given.",
    signs=(BY,),
)
def step_scaled_by_the_entry(f: Scalar, x: T, h: float = H) -> T:
    slopes = []
    for i in range(x.numel()):
        up, down = _flat(x), _flat(x)
        up[i] *= 1 + h
        down[i] *= 1 - h
        slopes.append((f(up.reshape(x.shape)) - f(down.reshape(x.shape))) / (2 * h))
    return torch.stack(slopes).reshape(x.shape)


@mistake(
    "The result stayed flat",
    "The numbers are right, in one long vector; the exercise asks for the shape of x.",
    "Give the result the shape of x at the end.",
)
def result_left_flat(f: Scalar, x: T, h: float = H) -> T:
    return right(f, x, h).reshape(-1)


def _second_alone_divided(f: Scalar, x: T, h: float = H) -> T:
    return _measured(x, lambda at: f(at(h)) - f(at(-h)) / (2 * h))


@mistake(
    "Only the second value was divided",
    "The division reaches f(x - h) alone: what came back is f(x + h) minus a part, or a multiple, of f(x - h).",
    "Put the difference in parentheses, and the distance, too: (f(x + h) - f(x - h)) / (2 * h).",
    "On paper the bar of a fraction makes the parentheses; Python divides before it subtracts.",
    also=(_second_alone_divided, lambda f, x, h=H: _measured(x, lambda at: f(at(h)) - f(at(-h)) / h)),
)
def second_value_alone_divided(f: Scalar, x: T, h: float = H) -> T:
    return _measured(x, lambda at: f(at(h)) - f(at(-h)) / 2 * h)


@mistake(
    "Only the first entry was measured",
    "The first entry is not zero, all others are: the result is as it was filled at the beginning, but for that entry.",
    "Does the loop reach the other entries? A return inside it ends the function in its first round.",
    "One indentation decides whether a line runs in each round or once, at the end.",
)
def only_the_first_entry(f: Scalar, x: T, h: float = H) -> T:
    entries = right(f, x, h).clone().reshape(-1)
    entries[1:] = 0
    return entries.reshape(x.shape)
