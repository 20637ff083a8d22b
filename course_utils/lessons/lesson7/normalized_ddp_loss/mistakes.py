"""What is often done instead in exercise 7.6."""

from __future__ import annotations

from collections.abc import Callable

import torch

from course_utils.checks.mistakes import mistake
from course_utils.lessons.lesson7.normalized_ddp_loss.task import NAN, TRACED

T = torch.Tensor
AllReduce = Callable[[T], None]


def _total(count: T, all_reduce: AllReduce) -> T:
    total = count.clone()
    all_reduce(total)
    return total


# ------------------------------------------------------------------ what it is divided by


@mistake(
    "Each rank sent the mean over its own tokens",
    "DDP's mean over the ranks is then a mean of means: a token of a rank with few of them weighs more than a token of "
    "a rank with many. Where all have equally many, the two are the same.",
    "By what number is a token's loss divided on a rank with 10 of them, and by what on one with 2? By what in the mean "
    "over all 12?",
    "With equal batches the two are one, and a mean is what a loss function returns by default.",
    also=(lambda loss_sum, local_count, world_size, all_reduce: loss_sum / local_count,),
)
def mean_of_the_rank(loss_sum: T, local_count: T, world_size: int, all_reduce: AllReduce) -> T:
    return loss_sum / local_count.clamp(min=1)


@mistake(
    "The number of ranks is missing",
    "Each rank divided its sum by the number of all tokens. Added up that is the global mean; but DDP takes the mean "
    "of the ranks, so the gradient comes out divided by the number of ranks.",
    "What does DDP do with the sum over the ranks? Take it back in the loss.",
    "It is the right formula of the mean. What comes after it is easily forgotten.",
)
def ranks_forgotten(loss_sum: T, local_count: T, world_size: int, all_reduce: AllReduce) -> T:
    return loss_sum / _total(local_count, all_reduce)


def _own_count(loss_sum: T, local_count: T, world_size: int, all_reduce: AllReduce) -> T:
    return loss_sum * world_size / local_count


@mistake(
    "Divided by the rank's own count, and multiplied by the number of ranks",
    "The gradient is the sum over the ranks of each one's own mean: the count that was divided by is not that of all.",
    "Which call tells a rank how many tokens the others have, and where does its answer go?",
    also=(_own_count,),
)
def own_count_in_place_of_all(loss_sum: T, local_count: T, world_size: int, all_reduce: AllReduce) -> T:
    return loss_sum * world_size / local_count.clamp(min=1)


@mistake(
    "Divided by the number of ranks, in place of multiplied",
    "Each rank divided by the number of all tokens and by the number of ranks. DDP divides by the latter once more.",
    "Follow one token's loss: by what is it divided here, by what in DDP, and by what should it be?",
)
def divided_by_the_ranks(loss_sum: T, local_count: T, world_size: int, all_reduce: AllReduce) -> T:
    return loss_sum / _total(local_count, all_reduce) / world_size


@mistake(
    "Not divided by any number of tokens",
    "The gradient is that of the sum over all tokens, not of their mean.",
    "A mean has a number below the line. Which?",
)
def not_divided(loss_sum: T, local_count: T, world_size: int, all_reduce: AllReduce) -> T:
    return loss_sum * world_size


@mistake(
    "The rank's plain sum was sent backward",
    "The gradient is the mean, over the ranks, of their sums over tokens.",
    "How many tokens are there in all, and who can tell a rank?",
)
def sum_sent_backward(loss_sum: T, local_count: T, world_size: int, all_reduce: AllReduce) -> T:
    return loss_sum * 1


@mistake(
    "The sum was multiplied by its count",
    "Each rank's gradient came out as many times too long as the rank has counted tokens: as if loss_sum were a mean.",
    "Is loss_sum the mean of this rank's token losses, or their sum already?",
    "A mean times its count is the sum: that is right where a loss function hands over a mean.",
)
def multiplied_by_its_count(loss_sum: T, local_count: T, world_size: int, all_reduce: AllReduce) -> T:
    return loss_sum * local_count * world_size / _total(local_count, all_reduce)


@mistake(
    "Divided by the rank's own count, and by that of all",
    "Each rank made the mean of its own tokens, and divided it by the number of all tokens once more.",
    "How often is a sum divided to become a mean, and by which of the two counts?",
)
def divided_by_both_counts(loss_sum: T, local_count: T, world_size: int, all_reduce: AllReduce) -> T:
    return loss_sum / local_count.clamp(min=1) * world_size / _total(local_count, all_reduce)


@mistake(
    "A mean of the means of those ranks that have tokens",
    "Ranks without a token are left out as they should be. But every other rank weighs the same, however many tokens it "
    "has.",
    "What should be counted over all ranks: the ranks, or the tokens?",
)
def mean_over_the_ranks_with_tokens(loss_sum: T, local_count: T, world_size: int, all_reduce: AllReduce) -> T:
    ranks = _total((local_count > 0).double(), all_reduce)
    return loss_sum / local_count.clamp(min=1) * world_size / ranks.item()


@mistake(
    "The ranks with tokens were counted, in place of all",
    "Where a rank has no token, the gradient is too small: it is multiplied by the number "
    "of ranks that have tokens, and DDP divides by the number of all.",
    "By how many ranks does DDP divide: by those that have something to say?",
)
def multiplied_by_the_ranks_with_tokens(loss_sum: T, local_count: T, world_size: int, all_reduce: AllReduce) -> T:
    ranks = _total((local_count > 0).double(), all_reduce)
    return loss_sum * ranks.item() / _total(local_count, all_reduce)


def _counted_in(dtype: torch.dtype) -> Callable[[T, T, int, AllReduce], T]:
    def loss(loss_sum: T, local_count: T, world_size: int, all_reduce: AllReduce) -> T:
        total = local_count.to(dtype)
        all_reduce(total)
        return loss_sum * world_size / total

    return loss


@mistake(
    "The number of all tokens was rounded",
    "Where thousands of tokens are counted, the gradient is a little too long or too short, as with a count in 16 bits: float16 holds every whole number up to 2048, bfloat16 up to 256.",
    "Which dtype has the tensor that all_reduce adds up, and is 4103 a number of it?",
    "With a handful of tokens nothing is rounded.",
    also=(_counted_in(torch.bfloat16),),
)
def counted_in_16_bits(loss_sum: T, local_count: T, world_size: int, all_reduce: AllReduce) -> T:
    return _counted_in(torch.float16)(loss_sum, local_count, world_size, all_reduce)


def _clamped(loss_sum: T, local_count: T, world_size: int, all_reduce: AllReduce) -> T:
    return loss_sum / (_total(local_count, all_reduce) // world_size).clamp(min=1)


@mistake(
    "The number of tokens a rank was rounded down",
    "Where the number of all tokens is no multiple of the number of ranks, the loss was divided by a wrong number, as by a "
    "quotient of whole numbers that leaves the rest out.",
    "Which of your divisions is one with //, or rounds?",
    also=(_clamped,),
)
def whole_number_of_tokens_a_rank(loss_sum: T, local_count: T, world_size: int, all_reduce: AllReduce) -> T:
    return loss_sum / (_total(local_count, all_reduce) // world_size)


@mistake(
    "The number of tokens a rank was held at 1 or above",
    "Where there are fewer tokens than ranks, the gradient is too small: their mean number a rank is below 1, and must "
    "stay there.",
    "Which number may be 0 here, and which one may not? Is a bound needed at all?",
    right_where=lambda spec: 0 in spec["counts"] and sum(spec["counts"]) >= len(spec["counts"]),
)
def mean_number_not_below_one(loss_sum: T, local_count: T, world_size: int, all_reduce: AllReduce) -> T:
    return loss_sum / (_total(local_count, all_reduce).double() / world_size).clamp(min=1)


def _at_least_one(loss_sum: T, local_count: T, world_size: int, all_reduce: AllReduce) -> T:
    return loss_sum * world_size / _total(local_count.clamp(min=1), all_reduce)


@mistake(
    "A rank without a token was counted with one",
    "The number of all tokens that was divided by is too large by one for each rank without a token: the gradient is too "
    "short.",
    "What may be 0, one rank's count or the sum of all? The latter is what you divide by. Is a bound needed at all?",
    "clamp(min=1) is in many losses, against a division by 0.",
    where=lambda spec: 0 in spec["counts"],
)
def empty_ranks_counted_with_one(loss_sum: T, local_count: T, world_size: int, all_reduce: AllReduce) -> T:
    return _at_least_one(loss_sum, local_count, world_size, all_reduce)


@mistake(
    "NaN or infinity on a rank without a token",
    "The rank divides by its own count, which is 0. DDP's mean carries the NaN to all ranks. Where each "
    "rank has a token, that does no harm.",
    "Is this rank's own count needed below the line at all?",
    signs=(NAN,),
)
def nan_on_an_empty_rank(loss_sum: T, local_count: T, world_size: int, all_reduce: AllReduce) -> T:
    return loss_sum / local_count * (local_count * world_size / _total(local_count, all_reduce))


# ------------------------------------------------------------------ the exchange


@mistake(
    "A rank waits for one that never comes",
    "One rank stands in all_reduce and another has returned, or hands over something of another size or dtype. On a "
    "cluster they would wait until a timeout, crash, or get a number that means nothing.",
    "Every rank must call all_reduce equally often, whatever its own numbers are. Which ranks come past your call?",
    "A rank without tokens seems to have nothing to say; the others wait for its 0.",
)
def a_rank_waits(loss_sum: T, local_count: T, world_size: int, all_reduce: AllReduce) -> T:
    if local_count == 0:
        return loss_sum * 0
    return loss_sum * world_size / _total(local_count, all_reduce)


@mistake(
    "What all_reduce returned was used",
    "all_reduce returns None: the sum stands in the tensor that it was given.",
    "Keep a name for the tensor that you hand over, and read that.",
)
def used_what_all_reduce_returned(loss_sum: T, local_count: T, world_size: int, all_reduce: AllReduce) -> T:
    total = all_reduce(local_count.clone())  # type: ignore[func-returns-value]
    return loss_sum * world_size / total  # type: ignore[operator]


@mistake(
    "No graph leads to the parameters",
    "What came back is a tensor from which no gradient reaches the parameters: backward leaves none there.",
    "item(), detach() and torch.tensor(...) keep the number and lose the way it was made. What must come back is made "
    "from loss_sum itself.",
    signs=(TRACED,),
)
def no_graph(loss_sum: T, local_count: T, world_size: int, all_reduce: AllReduce) -> T:
    return (loss_sum * world_size / _total(local_count, all_reduce)).detach()


def _none_without_tokens(leaf: bool) -> Callable[[T, T, int, AllReduce], T]:
    def code(loss_sum: T, local_count: T, world_size: int, all_reduce: AllReduce) -> T:
        total = _total(local_count, all_reduce)
        if local_count == 0:
            return torch.zeros((), dtype=loss_sum.dtype, requires_grad=leaf)
        return loss_sum * world_size / total

    return code


@mistake(
    "A rank without tokens sent nothing backward",
    "Where a rank has no token, no graph leads from what came back there to loss_sum. The gradients are right here; but "
    "DDP waits for those of every rank, and on a cluster the others would wait for this one.",
    "What is loss_sum on such a rank, and what does your formula make of it?",
    "The gradient that belongs there is 0, and a new zero has that value.",
    where=lambda spec: 0 in spec["counts"],
    also=(_none_without_tokens(leaf=False),),
)
def no_graph_without_tokens(loss_sum: T, local_count: T, world_size: int, all_reduce: AllReduce) -> T:
    return _none_without_tokens(leaf=True)(loss_sum, local_count, world_size, all_reduce)
