"""Attempts at exercise 7.1, underflow_fraction: what learners write, and what the check must say of it."""

from functools import reduce

import torch

from course_utils.authoring.attempts import raised, right, wrong
from course_utils.checks import effects
from course_utils.lessons.lesson7.underflow_fraction import mistakes


@right
def two_counts(gradients, scale, dtype):
    total, lost = 0, 0
    for g in gradients:
        nonzero = g != 0
        total += nonzero.sum().item()
        lost += (nonzero & ((g * scale).to(dtype) == 0)).sum().item()
    if total == 0:
        return 0.0
    return lost / total


@right
def only_the_nonzero_ones(gradients, scale, dtype):
    alive = [g[g != 0] for g in gradients]
    alive = [a for a in alive if a.numel() > 0]
    before = sum(a.numel() for a in alive)
    after = sum(int(torch.count_nonzero(torch.mul(a, scale).to(dtype))) for a in alive)
    return (before - after) / before if before else 0.0


@right
def one_long_row_of_float64(gradients, scale, dtype):
    rows = [torch.zeros(0, dtype=torch.float64)] + [g.double().reshape(-1) * scale for g in gradients]
    before = torch.cat([torch.zeros(0)] + [g.reshape(-1).bool().float() for g in gradients]) > 0
    scaled = torch.cat(rows)[before]
    if scaled.numel() == 0:
        return 0.0
    return scaled.to(dtype).eq(0).double().mean().item()


@right
def half_of_the_smallest(gradients, scale, dtype):
    info = torch.finfo(dtype)
    half = info.tiny * info.eps / 2  # what is not above it is rounded to the even neighbour, zero
    count = lambda masks: sum(int(m.sum()) for m in masks)
    nonzero = [g.ne(0) for g in gradients]
    lost = [g.mul(scale).double().abs().le(half) & n for g, n in zip(gradients, nonzero)]
    return count(lost) / (count(nonzero) or 1)


@right
def folded(gradients, scale, dtype):
    def add(pair, g):
        zero_after = torch.zeros_like(g, dtype=dtype).copy_(g * scale) == 0
        return pair[0] + int((zero_after ^ (g == 0)).sum()), pair[1] + int(g.count_nonzero())

    lost, all_of_them = reduce(add, gradients, (0, 0))
    return float(lost) / float(max(all_of_them, 1))


@right
def by_nan_of_a_division(gradients, scale, dtype):
    # 0 / 0 is NaN, x / x is 1: the mean over what is not NaN.
    marks = []
    for g in gradients:
        survives = ((g * scale).type(dtype) != 0).double()
        was = (g != 0).double()
        marks.append(torch.flatten((was - survives) / was))
    if not marks:
        return 0.0
    share = torch.nanmean(torch.cat(marks)).item()
    return 0.0 if share != share else share


@right
def an_integer_zero_where_there_is_nothing(gradients, scale, dtype):
    n = sum(int((g != 0).sum()) for g in gradients)
    if n == 0:
        return 0
    kept = sum(int(((g.detach().clone() * float(scale)).to(dtype=dtype) != 0).sum()) for g in gradients)
    return 1 - kept / n


# ------------------------------------------------------------------ wrong


@wrong(mistakes.zeros_counted_as_lost)
def zeros_after_among_all(gradients, scale, dtype):
    zeros = total = 0
    for g in gradients:
        zeros += ((g * scale).to(dtype) == 0).sum().item()
        total += g.numel()
    return zeros / total if total else 0.0


@wrong(mistakes.divided_by_all_entries)
def among_all_entries(gradients, scale, dtype):
    lost = sum(((g != 0) & ((g * scale).to(dtype) == 0)).sum().item() for g in gradients)
    return lost / max(1, sum(g.numel() for g in gradients))


@wrong(mistakes.all_zeros_over_nonzero)
def zeros_over_nonzero(gradients, scale, dtype):
    zeros = sum(((g * scale).to(dtype) == 0).sum().item() for g in gradients)
    nonzero = sum((g != 0).sum().item() for g in gradients)
    return zeros / nonzero if nonzero else 0.0


@wrong(mistakes.mean_of_shares)
def averaged_over_tensors(gradients, scale, dtype):
    shares = []
    for g in gradients:
        n = (g != 0).sum()
        if n > 0:
            shares.append((((g != 0) & ((g * scale).to(dtype) == 0)).sum() / n).item())
    return sum(shares) / len(shares) if shares else 0.0


@wrong(mistakes.one_tensor_alone)
def returned_too_early(gradients, scale, dtype):
    for g in gradients:
        n = int((g != 0).sum())
        lost = int(((g != 0) & ((g * scale).to(dtype) == 0)).sum())
        return lost / n if n else 0.0
    return 0.0


@wrong(mistakes.one_tensor_alone)
def counts_begun_anew(gradients, scale, dtype):
    n = lost = 0
    for g in gradients:
        n = int((g != 0).sum())
        lost = int(((g != 0) & ((g * scale).to(dtype) == 0)).sum())
    return lost / n if n else 0.0


@wrong(mistakes.nan_left_out)
def larger_than_zero(gradients, scale, dtype):
    n = sum(int((g.abs() > 0).sum()) for g in gradients)
    lost = sum(int(((g.abs() > 0) & ((g * scale).to(dtype) == 0)).sum()) for g in gradients)
    return lost / n if n else 0.0


@wrong(mistakes.not_finite_left_out)
def finite_ones_alone(gradients, scale, dtype):
    n = lost = 0
    for g in gradients:
        counted = torch.isfinite(g) & (g != 0)
        n += int(counted.sum())
        lost += int((counted & ((g * scale).to(dtype) == 0)).sum())
    return lost / n if n else 0.0


@wrong(mistakes.counted_after_scaling)
def scaled_under_the_same_name(gradients, scale, dtype):
    n = lost = 0
    for g in gradients:
        g = g * scale
        n += int((g != 0).sum())
        lost += int(((g != 0) & (g.to(dtype) == 0)).sum())
    return lost / n if n else 0.0


@wrong(mistakes.overflow_counted)
def overflow_is_lost_too(gradients, scale, dtype):
    n = lost = 0
    for g in gradients:
        alive = g[g != 0]
        small = (alive * scale).to(dtype)
        n += alive.numel()
        lost += int(((small == 0) | small.isinf() | small.isnan()).sum())
    return lost / n if n else 0.0


@wrong(mistakes.rounded_before_scaling)
def cast_first(gradients, scale, dtype):
    n = lost = 0
    for g in gradients:
        n += int((g != 0).sum())
        lost += int(((g.to(dtype) * scale == 0) & (g != 0)).sum())
    return lost / n if n else 0.0


@wrong(mistakes.rounded_before_scaling)
def scale_forgotten(gradients, scale, dtype):
    n = sum(int((g != 0).sum()) for g in gradients)
    lost = sum(int(((g.to(dtype) == 0) & (g != 0)).sum()) for g in gradients)
    return lost / n if n else 0.0


@wrong(mistakes.divided_by_the_scale)
def scaled_the_wrong_way(gradients, scale, dtype):
    n = sum(int((g != 0).sum()) for g in gradients)
    lost = sum(int((((g / scale).to(dtype) == 0) & (g != 0)).sum()) for g in gradients)
    return lost / n if n else 0.0


@wrong(mistakes.unscaled_in_the_small_dtype)
def there_and_back(gradients, scale, dtype):
    n = sum(int((g != 0).sum()) for g in gradients)
    lost = sum(int(((((g * scale).to(dtype) / scale) == 0) & (g != 0)).sum()) for g in gradients)
    return lost / n if n else 0.0


@wrong(mistakes.subnormals_counted_as_lost)
def below_tiny(gradients, scale, dtype):
    tiny = torch.finfo(dtype).tiny
    n = sum(int((g != 0).sum()) for g in gradients)
    lost = sum(int((((g * scale).abs() < tiny) & (g != 0)).sum()) for g in gradients)
    return lost / n if n else 0.0


@wrong(mistakes.rounding_up_forgotten)
def below_the_smallest_subnormal(gradients, scale, dtype):
    smallest = torch.finfo(dtype).smallest_normal * torch.finfo(dtype).eps
    n = sum(int((g != 0).sum()) for g in gradients)
    lost = sum(int((((g * scale).abs() < smallest) & (g != 0)).sum()) for g in gradients)
    return lost / n if n else 0.0


@wrong(mistakes.always_float16)
def half_of_everything(gradients, scale, dtype):
    n = sum(int((g != 0).sum()) for g in gradients)
    lost = sum(int((((g * scale).half() == 0) & (g != 0)).sum()) for g in gradients)
    return lost / n if n else 0.0


@wrong(mistakes.any_change_counted)
def whatever_changes(gradients, scale, dtype):
    n = lost = 0
    for g in gradients:
        scaled = g * scale
        n += int((g != 0).sum())
        lost += int(((scaled.to(dtype).to(g.dtype) != scaled) & (g != 0)).sum())
    return lost / n if n else 0.0


@wrong(mistakes.share_that_survives)
def what_is_left(gradients, scale, dtype):
    n = sum(int((g != 0).sum()) for g in gradients)
    kept = sum(int(((g * scale).to(dtype) != 0).sum()) for g in gradients)
    return kept / n if n else 0.0


@wrong(mistakes.count_returned)
def how_many(gradients, scale, dtype):
    return sum(int((((g * scale).to(dtype) == 0) & (g != 0)).sum()) for g in gradients)


@wrong(mistakes.percent_returned)
def in_per_cent(gradients, scale, dtype):
    n = sum(int((g != 0).sum()) for g in gradients)
    lost = sum(int((((g * scale).to(dtype) == 0) & (g != 0)).sum()) for g in gradients)
    return 100.0 * lost / n if n else 0.0


@wrong(mistakes.divided_by_nothing)
def nan_for_nothing(gradients, scale, dtype):
    lost = torch.tensor(0.0)
    n = torch.tensor(0.0)
    for g in gradients:
        n += (g != 0).sum()
        lost += (((g * scale).to(dtype) == 0) & (g != 0)).sum()
    return (lost / n).item()


@raised(mistakes.divided_by_nothing)
def zero_division(gradients, scale, dtype):
    n = sum(int((g != 0).sum()) for g in gradients)
    return sum(int((((g * scale).to(dtype) == 0) & (g != 0)).sum()) for g in gradients) / n


@wrong(effects.wrong_type)
def a_tensor_came_back(gradients, scale, dtype):
    n = sum((g != 0).sum() for g in gradients)
    lost = sum((((g * scale).to(dtype) == 0) & (g != 0)).sum() for g in gradients)
    return lost / n if n else torch.tensor(0.0)


@wrong(effects.changed_input)
def scaled_in_place(gradients, scale, dtype):
    n = lost = 0
    for g in gradients:
        nonzero = g != 0
        g *= scale
        n += int(nonzero.sum())
        lost += int((nonzero & (g.to(dtype) == 0)).sum())
    return lost / n if n else 0.0


@wrong(says="Lost are")
def infinite_left_out_and_tiny(gradients, scale, dtype):
    tiny = torch.finfo(dtype).tiny
    n = sum(int(((g != 0) & g.isfinite()).sum()) for g in gradients)
    lost = sum(int((((g * scale).abs() < tiny) & (g != 0)).sum()) for g in gradients)
    return lost / n if n else 0.0


@raised()
def cat_of_nothing(gradients, scale, dtype):
    flat = torch.cat([g.flatten() for g in gradients])
    nonzero = flat != 0
    lost = nonzero & ((flat * scale).to(dtype) == 0)
    return (lost.sum() / nonzero.sum()).item() if nonzero.any() else 0.0


@wrong(effects.returned_nothing)
def printed_instead(gradients, scale, dtype):
    n = sum(int((g != 0).sum()) for g in gradients)
    print(n)


@wrong(mistakes.scale_in_the_small_dtype)
def scale_as_a_tensor(gradients, scale, dtype):
    s = torch.tensor(scale, dtype=dtype)
    entries = lost = 0
    for g in gradients:
        nonzero = g != 0
        entries += int(nonzero.sum())
        lost += int(((g * s).to(dtype).eq(0) & nonzero).sum())
    return lost / entries if entries else 0.0


@right
def scale_as_a_double_tensor(gradients, scale, dtype):
    s = torch.tensor(scale, dtype=torch.float64)
    entries = lost = 0
    for g in gradients:
        nonzero = g != 0
        entries += int(nonzero.sum())
        lost += int(((g * s).to(dtype).eq(0) & nonzero).sum())
    return lost / entries if entries else 0.0


@wrong(mistakes.made_float32_first)
def one_float32_vector(gradients, scale, dtype):
    if not gradients:
        return 0.0
    flat = torch.cat([g.detach().flatten().float() for g in gradients])
    flat = flat[flat != 0]
    if flat.numel() == 0:
        return 0.0
    return ((flat * scale).to(dtype) == 0).sum().item() / flat.numel()


@wrong(mistakes.rounded_first_and_nan_counted)
def cast_first_and_not_larger_than_zero(gradients, scale, dtype):
    lost = nonzero = 0
    for g in gradients:
        nz = g[g != 0]
        nonzero += nz.numel()
        lost += int((~((nz.to(dtype) * scale).abs() > 0)).sum())
    return lost / nonzero if nonzero else 0.0


@wrong(mistakes.nan_counted_as_lost)
def not_larger_than_zero(gradients, scale, dtype):
    lost = nonzero = 0
    for g in gradients:
        nz = g[g != 0]
        nonzero += nz.numel()
        lost += nz.numel() - int(((nz * scale).to(dtype).abs() > 0).sum())
    return lost / nonzero if nonzero else 0.0


@right
def not_larger_than_zero_or_nan(gradients, scale, dtype):
    lost = nonzero = 0
    for g in gradients:
        nz = g[g != 0]
        nonzero += nz.numel()
        after = (nz * scale).to(dtype)
        lost += nz.numel() - int(((after.abs() > 0) | after.isnan()).sum())
    return lost / nonzero if nonzero else 0.0
