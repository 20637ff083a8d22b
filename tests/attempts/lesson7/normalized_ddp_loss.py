"""Attempts at exercise 7.6, normalized_ddp_loss: what learners write, and what the check must say of it."""

import torch

from course_utils.authoring.attempts import raised, right, wrong
from course_utils.checks import effects
from course_utils.lessons.lesson7.normalized_ddp_loss import mistakes


@right
def by_the_book(loss_sum, local_count, world_size, all_reduce):
    total = local_count.clone()
    all_reduce(total)
    return loss_sum * world_size / total


@right
def count_as_a_float(loss_sum, local_count, world_size, all_reduce):
    tokens = torch.tensor(local_count.item(), dtype=loss_sum.dtype)
    all_reduce(tokens)
    return loss_sum / (tokens / world_size)


@right
def in_a_vector(loss_sum, local_count, world_size, all_reduce):
    # One exchange for two numbers: the total loss, for the log, and the count.
    both = torch.stack([loss_sum.detach().double(), local_count.double()])
    all_reduce(both)
    scale = world_size / both[1].item()
    return scale * loss_sum


@right
def global_value_with_local_gradient(loss_sum, local_count, world_size, all_reduce):
    total_loss, total_count = loss_sum.detach().clone(), local_count.detach().clone()
    all_reduce(total_loss)
    all_reduce(total_count)
    share = loss_sum * world_size / total_count
    return share - share.detach() + total_loss / total_count


@right
def mean_times_weight(loss_sum, local_count, world_size, all_reduce):
    # The rank's own mean, weighted by its share of the tokens.
    total = local_count + 0
    all_reduce(total)
    mean = loss_sum / local_count.clamp(min=1)
    weight = local_count.double() * world_size / total
    return (mean * weight).to(loss_sum.dtype)


@right
def by_hand_over_sizes(loss_sum, local_count, world_size, all_reduce):
    average = torch.zeros(1, dtype=torch.int64)
    average += local_count
    all_reduce(average)
    average = average[0] / world_size
    return torch.div(loss_sum, average)


@right
def a_hook_scales(loss_sum, local_count, world_size, all_reduce):
    total = local_count.clone()
    all_reduce(total)
    factor = world_size / total.item()
    loss = loss_sum * 1
    loss.register_hook(lambda gradient: gradient * factor)
    return loss


# ------------------------------------------------------------------ wrong


@wrong(mistakes.mean_of_the_rank)
def mean_of_means(loss_sum, local_count, world_size, all_reduce):
    return loss_sum / local_count.clamp(min=1)


@wrong(mistakes.mean_of_the_rank)
def asked_and_not_used(loss_sum, local_count, world_size, all_reduce):
    total = local_count.clone()
    all_reduce(total)
    return loss_sum / max(int(local_count), 1)


@wrong(mistakes.ranks_forgotten)
def divided_by_the_total(loss_sum, local_count, world_size, all_reduce):
    total = local_count.clone()
    all_reduce(total)
    return loss_sum / total


@wrong(mistakes.divided_by_the_ranks)
def the_wrong_way(loss_sum, local_count, world_size, all_reduce):
    total = local_count.clone()
    all_reduce(total)
    return loss_sum / total / world_size


@wrong(effects.changed_input)
def into_the_callers_tensor(loss_sum, local_count, world_size, all_reduce):
    all_reduce(local_count)
    return loss_sum * world_size / local_count


@wrong(effects.changed_input)
def a_view_of_it(loss_sum, local_count, world_size, all_reduce):
    total = local_count.detach()
    all_reduce(total)
    return loss_sum * world_size / total.item()


@wrong(effects.changed_input)
def loss_summed_too(loss_sum, local_count, world_size, all_reduce):
    total = local_count.clone()
    all_reduce(total)
    all_reduce(loss_sum)
    return loss_sum * world_size / total


@wrong(mistakes.mean_of_the_rank)
def never_asked(loss_sum, local_count, world_size, all_reduce):
    total = local_count * world_size
    return loss_sum * world_size / total.clamp(min=1)


@wrong(mistakes.not_divided)
def times_world(loss_sum, local_count, world_size, all_reduce):
    total = local_count.clone()
    all_reduce(total)
    return loss_sum * world_size


@wrong(mistakes.sum_sent_backward)
def plain_sum(loss_sum, local_count, world_size, all_reduce):
    return loss_sum


@raised(mistakes.a_rank_waits)
def empty_rank_leaves(loss_sum, local_count, world_size, all_reduce):
    if local_count == 0:
        return loss_sum * 0
    total = local_count.clone()
    all_reduce(total)
    return loss_sum * world_size / total


@wrong(mistakes.nan_on_an_empty_rank)
def own_mean_first(loss_sum, local_count, world_size, all_reduce):
    total = local_count.clone()
    all_reduce(total)
    return loss_sum / local_count * (local_count * world_size / total)


@wrong(mistakes.mean_over_the_ranks_with_tokens)
def ranks_counted(loss_sum, local_count, world_size, all_reduce):
    ranks = torch.tensor(1.0 if local_count > 0 else 0.0)
    all_reduce(ranks)
    return loss_sum / local_count.clamp(min=1) * world_size / ranks.item()


@raised(mistakes.used_what_all_reduce_returned)
def result_of_all_reduce(loss_sum, local_count, world_size, all_reduce):
    total = all_reduce(local_count.clone())
    return loss_sum * world_size / total


@wrong(mistakes.no_graph)
def as_a_number(loss_sum, local_count, world_size, all_reduce):
    total = local_count.clone()
    all_reduce(total)
    return torch.tensor(loss_sum.item() * world_size / total.item(), requires_grad=True)


@wrong(effects.wrong_type)
def a_float(loss_sum, local_count, world_size, all_reduce):
    total = local_count.clone()
    all_reduce(total)
    return loss_sum.item() * world_size / total.item()


@wrong(effects.returned_nothing)
def sent_backward_itself(loss_sum, local_count, world_size, all_reduce):
    total = local_count.clone()
    all_reduce(total)
    (loss_sum * world_size / total).backward()


@wrong(mistakes.multiplied_by_its_count)
def mean_times_count_of_a_sum(loss_sum, local_count, world_size, all_reduce):
    total = local_count.clone()
    all_reduce(total)
    return loss_sum * local_count / total * world_size


@wrong(mistakes.divided_by_both_counts)
def own_mean_over_the_total(loss_sum, local_count, world_size, all_reduce):
    total = local_count.clone()
    all_reduce(total)
    own = loss_sum / local_count if local_count > 0 else loss_sum
    return own * world_size / total


@wrong(mistakes.ranks_forgotten)
def loss_summed_in_a_copy(loss_sum, local_count, world_size, all_reduce):
    total, loss = local_count.clone(), loss_sum.clone()
    all_reduce(total)
    all_reduce(loss)
    return loss / total


@wrong(mistakes.own_count_in_place_of_all)
def times_world_over_own(loss_sum, local_count, world_size, all_reduce):
    all_reduce(local_count.clone())
    return loss_sum * world_size / local_count


@wrong(mistakes.own_count_in_place_of_all)
def asked_with_a_copy(loss_sum, local_count, world_size, all_reduce):
    count = max(local_count.item(), 1)
    all_reduce(torch.tensor(count))
    return loss_sum * world_size / count


@wrong(mistakes.mean_of_the_rank)
def average_count_of_itself(loss_sum, local_count, world_size, all_reduce):
    return loss_sum / (local_count + (local_count == 0))


@wrong(mistakes.multiplied_by_the_ranks_with_tokens)
def only_ranks_that_count(loss_sum, local_count, world_size, all_reduce):
    both = torch.tensor([float(local_count), float(local_count > 0)])
    all_reduce(both)
    return loss_sum * both[1].item() / both[0].item()


@wrong(mistakes.whole_number_of_tokens_a_rank)
def integer_mean(loss_sum, local_count, world_size, all_reduce):
    total = local_count.clone()
    all_reduce(total)
    return loss_sum / max(int(total) // world_size, 1)


@wrong(mistakes.mean_number_not_below_one)
def bound_on_the_mean(loss_sum, local_count, world_size, all_reduce):
    total = local_count.clone()
    all_reduce(total)
    return loss_sum / max(total.item() / world_size, 1.0)


@wrong(mistakes.counted_in_16_bits)
def a_count_as_fine_as_the_model(loss_sum, local_count, world_size, all_reduce):
    tokens = local_count.to(torch.float16)
    all_reduce(tokens)
    return loss_sum * world_size / tokens


@wrong(mistakes.counted_in_16_bits)
def count_in_bfloat16(loss_sum, local_count, world_size, all_reduce):
    total = local_count.to(torch.bfloat16)
    all_reduce(total)
    return loss_sum / total.float() * world_size


@right
def count_in_float32(loss_sum, local_count, world_size, all_reduce):
    total = local_count.float()
    all_reduce(total)
    return loss_sum * (world_size / total)


@wrong(mistakes.no_graph_without_tokens)
def a_new_zero_without_tokens(loss_sum, local_count, world_size, all_reduce):
    total = local_count.clone()
    all_reduce(total)
    if local_count == 0:
        return torch.tensor(0.0, requires_grad=True)
    return loss_sum * world_size / total


@wrong(mistakes.no_graph_without_tokens)
def detached_without_tokens(loss_sum, local_count, world_size, all_reduce):
    total = local_count.clone()
    all_reduce(total)
    loss = loss_sum * world_size / total
    return loss if local_count > 0 else loss.detach()


@right
def its_own_zero_without_tokens(loss_sum, local_count, world_size, all_reduce):
    total = local_count.clone()
    all_reduce(total)
    if local_count == 0:
        return loss_sum
    return loss_sum * world_size / total


@wrong(mistakes.empty_ranks_counted_with_one)
def own_count_at_least_one(loss_sum, local_count, world_size, all_reduce):
    total = local_count.clamp(min=1)
    all_reduce(total)
    return loss_sum * world_size / total


@wrong(mistakes.empty_ranks_counted_with_one)
def own_count_or_one(loss_sum, local_count, world_size, all_reduce):
    total = torch.tensor(float(local_count.item() or 1), dtype=torch.float64)
    all_reduce(total)
    return loss_sum * (world_size / total.item())


@right
def sum_of_all_at_least_one(loss_sum, local_count, world_size, all_reduce):
    total = local_count.clone()
    all_reduce(total)
    return loss_sum * world_size / total.clamp(min=1)
