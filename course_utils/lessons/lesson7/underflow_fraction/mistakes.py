"""What is often done instead in exercise 7.1."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import torch

from course_utils.checks.mistakes import mistake

T = torch.Tensor
Gradients = Sequence[T]
Of = Callable[[T, float, torch.dtype], T]
Code = Callable[[Gradients, float, torch.dtype], object]


def _nonzero(gradient: T, scale: float, dtype: torch.dtype) -> T:
    return gradient != 0


def _every(gradient: T, scale: float, dtype: torch.dtype) -> T:
    return torch.ones_like(gradient, dtype=torch.bool)


def _zero_after(gradient: T, scale: float, dtype: torch.dtype) -> T:
    return (gradient * scale).to(dtype) == 0


def _counts(gradients: Gradients, scale: float, dtype: torch.dtype, lost: Of, among: Of) -> list[tuple[int, int]]:
    """(lost, counted) of each tensor."""
    found = []
    for gradient in gradients:
        counted = among(gradient, scale, dtype)
        found.append((int((lost(gradient, scale, dtype) & counted).sum()), int(counted.sum())))
    return found


def _share(
    lost: Of = _zero_after,
    among: Of = _nonzero,
    told: Callable[[int, int], object] = lambda lost, counted: lost / counted if counted else 0.0,
) -> Code:
    """The share of what is `lost` among what is counted, over all tensors; `told` makes of it what comes back."""

    def code(gradients: Gradients, scale: float, dtype: torch.dtype) -> object:
        found = _counts(gradients, scale, dtype, lost, among)
        return told(sum(one for one, _ in found), sum(counted for _, counted in found))

    return code


# ------------------------------------------------------------------ what is counted


@mistake(
    "Entries that were zero before are counted as lost",
    "What came back is the share of zeros after rounding, among all entries. Entries that were zero from the start are "
    "among them.",
    "Which entries had something to lose? Look at them before scaling.",
)
def zeros_counted_as_lost(gradients: Gradients, scale: float, dtype: torch.dtype) -> object:
    return _share(among=_every)(gradients, scale, dtype)


def _lost_among_nonzero(gradient: T, scale: float, dtype: torch.dtype) -> T:
    return _zero_after(gradient, scale, dtype) & (gradient != 0)


@mistake(
    "Divided by the number of all entries",
    "The lost entries are counted right. They were divided by the number of all entries, those that were zero before "
    "included.",
    "The share is one of the nonzero entries. How many of those are there?",
    also=(
        lambda gradients, scale, dtype: _share(_lost_among_nonzero, _every, lambda lost, counted: lost / counted)(
            gradients, scale, dtype
        ),
    ),
)
def divided_by_all_entries(gradients: Gradients, scale: float, dtype: torch.dtype) -> object:
    return _share(_lost_among_nonzero, _every)(gradients, scale, dtype)


@mistake(
    "All zeros afterwards, divided by the nonzero entries before",
    "What was divided by the number of nonzero entries is the number of all zeros after rounding, those that were zero "
    "before included.",
    "Count two kinds: nonzero before, and of these the ones that are zero afterwards.",
    "Two sums are quickly written, and the first of them counts too much.",
)
def all_zeros_over_nonzero(gradients: Gradients, scale: float, dtype: torch.dtype) -> object:
    counted = sum(int((gradient != 0).sum()) for gradient in gradients)
    zeros = sum(int(_zero_after(gradient, scale, dtype).sum()) for gradient in gradients)
    return zeros / counted if counted else 0.0


def _mean_of_shares(skip: bool) -> Code:
    def code(gradients: Gradients, scale: float, dtype: torch.dtype) -> object:
        found = _counts(gradients, scale, dtype, _zero_after, _nonzero)
        shares = [lost / counted if counted else 0.0 for lost, counted in found if counted or not skip]
        return sum(shares) / len(shares) if shares else 0.0

    return code


@mistake(
    "A mean of shares",
    "What came back is the mean of the tensors' own shares. A tensor of one entry weighs as much in it as a large one.",
    "Add up the counts of all tensors, and divide once.",
    also=(_mean_of_shares(True),),
)
def mean_of_shares(gradients: Gradients, scale: float, dtype: torch.dtype) -> object:
    return _mean_of_shares(False)(gradients, scale, dtype)


def _of_one(place: int) -> Code:
    return lambda gradients, scale, dtype: _share()(gradients[place:][:1], scale, dtype)


@mistake(
    "The share of one tensor alone",
    "Where there are several tensors, what came back is the share of the first one, or of the last one, alone.",
    "Where do the counts begin at 0, and how far is the return indented?",
    also=(_of_one(-1),),
)
def one_tensor_alone(gradients: Gradients, scale: float, dtype: torch.dtype) -> object:
    return _of_one(0)(gradients, scale, dtype)


@mistake(
    "NaN was not counted as a nonzero entry",
    "Where a gradient holds NaN, the number of entries that was divided by is too small.",
    "NaN compares as false with everything, but it differs from 0: NaN > 0 is false, and NaN != 0 is true.",
)
def nan_left_out(gradients: Gradients, scale: float, dtype: torch.dtype) -> object:
    return _share(among=lambda g, scale, dtype: g.abs() > 0)(gradients, scale, dtype)


@mistake(
    "What is not finite was not counted as a nonzero entry",
    "Where a gradient holds NaN or an infinity, the number of entries that was divided by is too small.",
    "Counted are the entries that differ from 0. Do an infinity and NaN differ from it?",
)
def not_finite_left_out(gradients: Gradients, scale: float, dtype: torch.dtype) -> object:
    return _share(among=lambda g, scale, dtype: g.isfinite() & (g != 0))(gradients, scale, dtype)


@mistake(
    "Counted after the scaling",
    "Where scaling alone made an entry zero, that entry was not counted: neither as nonzero nor as lost.",
    "The entries to count are those that were nonzero when they came in.",
)
def counted_after_scaling(gradients: Gradients, scale: float, dtype: torch.dtype) -> object:
    return _share(among=lambda g, scale, dtype: g * scale != 0)(gradients, scale, dtype)


@mistake(
    "Overflow is counted as lost, too",
    "Entries that are infinite or NaN after rounding were counted with those that became zero.",
    "What overflows does not become zero. Asked is underflow alone.",
)
def overflow_counted(gradients: Gradients, scale: float, dtype: torch.dtype) -> object:
    def gone(gradient: T, scale: float, dtype: torch.dtype) -> T:
        after = (gradient * scale).to(dtype)
        return (after == 0) | ~after.isfinite()

    return _share(gone)(gradients, scale, dtype)


@mistake(
    "NaN was counted as lost",
    "Entries that are NaN were counted with those that became zero.",
    "NaN > 0 is false, and NaN is not zero either. Which comparison is true of a zero alone?",
)
def nan_counted_as_lost(gradients: Gradients, scale: float, dtype: torch.dtype) -> object:
    return _share(lambda g, scale, dtype: ~((g * scale).to(dtype).abs() > 0))(gradients, scale, dtype)


# ------------------------------------------------------------------ what becomes zero


@mistake(
    "Rounded before it was scaled, or not scaled at all",
    "The entries were rounded to the dtype at their own size. What became zero there stays zero, whatever the scale.",
    "In which order do scaling and rounding come in training? The loss is scaled before the backward.",
    also=(_share(lambda g, scale, dtype: g.to(dtype) == 0),),
)
def rounded_before_scaling(gradients: Gradients, scale: float, dtype: torch.dtype) -> object:
    return _share(lambda g, scale, dtype: g.to(dtype) * scale == 0)(gradients, scale, dtype)


@mistake(
    "Rounded before it was scaled, or not scaled, and NaN was counted as lost",
    "Two things at once. The entries were rounded to the dtype at their own size, and what became zero there stays zero, "
    "whatever the scale. And entries that are NaN were counted as lost.",
    "In which order do scaling and rounding come in training? And which comparison is true of a zero alone?",
)
def rounded_first_and_nan_counted(gradients: Gradients, scale: float, dtype: torch.dtype) -> object:
    return _share(lambda g, scale, dtype: ~((g.to(dtype) * scale).abs() > 0))(gradients, scale, dtype)


@mistake(
    "Divided by the scale",
    "The entries were divided by the scale before they were rounded.",
    "Scaling multiplies. Dividing is what the optimizer's side does afterwards, to undo it.",
)
def divided_by_the_scale(gradients: Gradients, scale: float, dtype: torch.dtype) -> object:
    return _share(lambda g, scale, dtype: (g / scale).to(dtype) == 0)(gradients, scale, dtype)


@mistake(
    "Unscaled in the small dtype",
    "Counted is what is zero after rounding, and after dividing by the scale in the small dtype. That division loses "
    "once more what the scale had saved.",
    "Asked is what becomes zero by scaling and rounding. In training, too, one unscales in float32.",
)
def unscaled_in_the_small_dtype(gradients: Gradients, scale: float, dtype: torch.dtype) -> object:
    return _share(lambda g, scale, dtype: (g * scale).to(dtype) / scale == 0)(gradients, scale, dtype)


@mistake(
    "The scale itself was rounded to the small dtype",
    "Where the scale is too large for the dtype, it became infinite there, and so did every nonzero entry that was "
    "multiplied by it: nothing was lost any more.",
    "Which numbers can float16 hold, and is the scale one of them? Leave it a Python number.",
    "Most scales are powers of two, and as long as the dtype holds them nothing is wrong.",
    where=lambda spec: spec["to"] == "float16" and spec["scale"] > 65504,
)
def scale_in_the_small_dtype(gradients: Gradients, scale: float, dtype: torch.dtype) -> object:
    return _share(lambda g, scale, dtype: (g * torch.tensor(scale, dtype=dtype)).to(dtype) == 0)(
        gradients, scale, dtype
    )


@mistake(
    "float64 was made float32 first",
    "Entries of float64 that are too small for float32 became zero before they were scaled: they were counted as lost, or "
    "not as entries at all.",
    "Which dtype do the gradients come in? Multiply in that one, and round once, to `dtype`.",
    "Tensors must be of one dtype to be joined.",
    also=(_share(lambda g, scale, dtype: _zero_after(g.float(), scale, dtype)),),
    where=lambda spec: spec["dtype"] == "float64",
)
def made_float32_first(gradients: Gradients, scale: float, dtype: torch.dtype) -> object:
    return _share()([gradient.float() for gradient in gradients], scale, dtype)


def _below(limit: Callable[[torch.dtype], float], equal: bool = False) -> Of:
    return lambda g, scale, dtype: (g * scale).abs() <= limit(dtype) if equal else (g * scale).abs() < limit(dtype)


@mistake(
    "Everything below the smallest normal number was counted",
    "Counted are the entries below torch.finfo(dtype).tiny. The dtype holds smaller ones, with fewer digits: the "
    "subnormal numbers.",
    "Let `.to(dtype)` round, and compare what comes out with zero.",
    "finfo.tiny and finfo.smallest_normal are the same number, and neither is the smallest above zero.",
)
def subnormals_counted_as_lost(gradients: Gradients, scale: float, dtype: torch.dtype) -> object:
    return _share(_below(lambda dtype: torch.finfo(dtype).tiny))(gradients, scale, dtype)


@mistake(
    "Everything below the smallest subnormal number was counted",
    "Counted are the entries below the smallest number above zero that the dtype has. Those above its half are rounded "
    "up to it and are not lost.",
    "Let `.to(dtype)` round, and compare what comes out with zero.",
)
def rounding_up_forgotten(gradients: Gradients, scale: float, dtype: torch.dtype) -> object:
    return _share(_below(lambda dtype: torch.finfo(dtype).tiny * torch.finfo(dtype).eps))(gradients, scale, dtype)


@mistake(
    "Rounded to float16, whatever the dtype",
    "The share is that of float16, on bfloat16 and float32, too.",
    "Which argument says what to round to?",
)
def always_float16(gradients: Gradients, scale: float, dtype: torch.dtype) -> object:
    return _share()(gradients, scale, torch.float16)


@mistake(
    "Every entry that changes is counted",
    "Counted are the entries whose value is another one after rounding. Most of them only lose digits.",
    "Lost to underflow is what is zero afterwards and was not before.",
)
def any_change_counted(gradients: Gradients, scale: float, dtype: torch.dtype) -> object:
    return _share(lambda g, scale, dtype: (g * scale).to(dtype).to(g.dtype) != g * scale)(gradients, scale, dtype)


# ------------------------------------------------------------------ what is returned


@mistake(
    "The share that survives",
    "What came back is the share of the nonzero entries that are still nonzero.",
    "Asked is the other part.",
    also=(_share(told=lambda lost, counted: 1 - lost / counted if counted else 1.0),),
)
def share_that_survives(gradients: Gradients, scale: float, dtype: torch.dtype) -> object:
    return _share(told=lambda lost, counted: 1 - lost / counted if counted else 0.0)(gradients, scale, dtype)


@mistake(
    "A number of entries, not a share",
    "What came back is how many entries are lost.",
    "Divide by the number of entries that were nonzero before.",
)
def count_returned(gradients: Gradients, scale: float, dtype: torch.dtype) -> object:
    return _share(told=lambda lost, counted: float(lost))(gradients, scale, dtype)


@mistake(
    "Per cent",
    "What came back is a hundred times the share.",
    "A share lies between 0 and 1.",
)
def percent_returned(gradients: Gradients, scale: float, dtype: torch.dtype) -> object:
    return _share(told=lambda lost, counted: 100 * lost / counted if counted else 0.0)(gradients, scale, dtype)


def _divided(lost: int, counted: int) -> float:
    return lost / counted


@mistake(
    "Nothing to divide by",
    "Where no entry is nonzero, the share is 0 divided by 0: NaN came back, or Python refused.",
    "What should come back where nothing could be lost? Ask before you divide.",
    also=(_share(told=_divided),),
)
def divided_by_nothing(gradients: Gradients, scale: float, dtype: torch.dtype) -> object:
    return _share(told=lambda lost, counted: lost / counted if counted else float("nan"))(gradients, scale, dtype)
