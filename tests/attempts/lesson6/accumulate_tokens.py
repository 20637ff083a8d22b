"""Attempts at exercise 6.3, accumulate_tokens: what learners write, and what the check must say of it."""

import torch
import torch.nn.functional as F
from torch import nn
from torch.func import functional_call, grad

from course_utils.authoring.attempts import raised, right, wrong
from course_utils.checks import effects
from course_utils.lessons.lesson6.accumulate_tokens import mistakes


@right
def sums_over_the_count(model, micro_batches, ignore_index=-100):
    n = sum((labels[:, 1:] != ignore_index).sum() for _, labels in micro_batches)
    model.zero_grad()
    for tokens, labels in micro_batches:
        logits = model(tokens)[:, :-1, :]
        target = labels[:, 1:]
        loss = F.cross_entropy(
            logits.reshape(-1, logits.size(-1)),
            target.reshape(-1),
            ignore_index=ignore_index,
            reduction="sum",
        )
        (loss / n).backward()


@right
def means_weighed_by_counts(model, micro_batches, ignore_index=-100):
    counts = [int((labels[:, 1:] != ignore_index).sum()) for _, labels in micro_batches]
    for p in model.parameters():
        p.grad = None
    for (tokens, labels), count in zip(micro_batches, counts):
        if count == 0:
            continue
        loss = F.cross_entropy(model(tokens)[:, :-1].transpose(1, 2), labels[:, 1:], ignore_index=ignore_index)
        (loss * count / sum(counts)).backward()


@right
def means_that_may_be_nan(model, micro_batches, ignore_index=-100):
    counts = [(labels[:, 1:] != ignore_index).sum().item() for _, labels in micro_batches]
    model.zero_grad()
    criterion = nn.CrossEntropyLoss(ignore_index=ignore_index)
    for (tokens, labels), count in zip(micro_batches, counts):
        loss = criterion(model(tokens)[:, :-1].flatten(0, 1), labels[:, 1:].flatten())
        loss.backward(gradient=loss.new_tensor(count / sum(counts)))


@right
def grad_divided_afterwards(model, micro_batches, ignore_index=-100):
    model.zero_grad()
    count = 0
    for tokens, labels in micro_batches:
        logp = model(tokens).log_softmax(-1)[:, :-1]
        target = labels[:, 1:]
        F.nll_loss(logp.flatten(0, 1), target.flatten(), ignore_index=ignore_index, reduction="sum").backward()
        count += target.ne(ignore_index).sum().item()
    for p in model.parameters():
        if p.grad is not None:
            p.grad /= count


@right
def gathered_by_hand(model, micro_batches, ignore_index=-100):
    model.zero_grad()
    masks = [labels[:, 1:] != ignore_index for _, labels in micro_batches]
    total = sum(mask.sum() for mask in masks)
    for (tokens, labels), mask in zip(micro_batches, masks):
        logits = model(tokens)[:, :-1][mask]
        target = labels[:, 1:][mask]
        picked = logits.gather(1, target[:, None])[:, 0]
        loss = (logits.logsumexp(1) - picked).sum()
        (loss / total).backward()


@right
def masked_without_reduction(model, micro_batches, ignore_index=-100):
    model.zero_grad()
    total = sum((labels[:, 1:] != ignore_index).sum() for _, labels in micro_batches)
    for tokens, labels in micro_batches:
        target = labels[:, 1:]
        keep = target != ignore_index
        each = F.cross_entropy(model(tokens)[:, :-1].permute(0, 2, 1), torch.where(keep, target, 0), reduction="none")
        ((each * keep).sum() / total).backward()


@right
def last_token_not_even_read(model, micro_batches, ignore_index=-100):
    model.zero_grad()
    total = sum(int((labels[:, 1:] != ignore_index).sum()) for _, labels in micro_batches)
    for tokens, labels in micro_batches:
        logits = model(tokens[:, :-1])
        loss = F.cross_entropy(logits.transpose(1, 2), labels[:, 1:], ignore_index=ignore_index, reduction="sum")
        loss.mul(1 / total).backward()


@right
def labels_moved_and_the_end_ignored(model, micro_batches, ignore_index=-100):
    moved = []
    for tokens, labels in micro_batches:
        target = torch.full_like(labels, ignore_index)
        target[:, :-1] = labels[:, 1:]
        moved.append((tokens, target))
    n = sum((target != ignore_index).sum() for _, target in moved)
    model.zero_grad()
    for tokens, target in moved:
        logits = model(tokens)
        loss = F.cross_entropy(
            logits.view(-1, logits.shape[-1]), target.view(-1), ignore_index=ignore_index, reduction="sum"
        )
        (loss / n).backward()


@right
def row_by_row(model, micro_batches, ignore_index=-100):
    n = sum((labels[:, 1:] != ignore_index).sum().item() for _, labels in micro_batches)
    model.zero_grad()
    for tokens, labels in micro_batches:
        for row, label in zip(tokens, labels):
            logits = model(row[None])[0, :-1]
            loss = F.cross_entropy(logits, label[1:], ignore_index=ignore_index, reduction="sum")
            (loss / n).backward()


@right
def functional(model, micro_batches, ignore_index=-100):
    params = {n: p.detach() for n, p in model.named_parameters() if p.requires_grad}
    total, count = None, 0
    for tokens, labels in micro_batches:

        def loss_of(q):
            logits = functional_call(model, q, (tokens,))[:, :-1]
            return F.cross_entropy(
                logits.flatten(0, 1), labels[:, 1:].flatten(), ignore_index=ignore_index, reduction="sum"
            )

        found = grad(loss_of)(params)
        total = found if total is None else {n: total[n] + g for n, g in found.items()}
        count += (labels[:, 1:] != ignore_index).sum()
    for n, p in model.named_parameters():
        p.grad = total[n] / count if n in total else None


@right
def asked_of_autograd(model, micro_batches, ignore_index=-100):
    params = [p for p in model.parameters() if p.requires_grad]
    n = sum((labels[:, 1:] != ignore_index).sum() for _, labels in micro_batches)
    model.zero_grad()
    for tokens, labels in micro_batches:
        loss = F.cross_entropy(
            model(tokens)[:, :-1].flatten(0, 1),
            labels[:, 1:].flatten(),
            ignore_index=ignore_index,
            reduction="sum",
        )
        for p, g in zip(params, torch.autograd.grad(loss, params, allow_unused=True)):
            if g is not None:
                p.grad = g / n if p.grad is None else p.grad + g / n


# ------------------------------------------------------------------ wrong: over how many


def _loss(model, tokens, labels, ignore_index, reduction="mean"):
    logits = model(tokens)[:, :-1]
    return F.cross_entropy(
        logits.flatten(0, 1), labels[:, 1:].flatten(), ignore_index=ignore_index, reduction=reduction
    )


def _count(micro_batches, ignore_index):
    return sum(int((labels[:, 1:] != ignore_index).sum()) for _, labels in micro_batches)


@wrong(mistakes.mean_of_means)
def loss_over_k(model, micro_batches, ignore_index=-100):
    model.zero_grad()
    for tokens, labels in micro_batches:
        (_loss(model, tokens, labels, ignore_index) / len(micro_batches)).backward()


@wrong(mistakes.mean_of_means)
def loss_over_k_where_something_counts(model, micro_batches, ignore_index=-100):
    model.zero_grad()
    for tokens, labels in micro_batches:
        if (labels[:, 1:] != ignore_index).any():
            (_loss(model, tokens, labels, ignore_index) / len(micro_batches)).backward()


@wrong(mistakes.mean_of_means)
def over_those_where_something_counts(model, micro_batches, ignore_index=-100):
    model.zero_grad()
    kept = [(t, labels) for t, labels in micro_batches if (labels[:, 1:] != ignore_index).any()]
    for tokens, labels in kept:
        (_loss(model, tokens, labels, ignore_index) / len(kept)).backward()


@wrong(mistakes.means_added)
def means_added(model, micro_batches, ignore_index=-100):
    model.zero_grad()
    for tokens, labels in micro_batches:
        _loss(model, tokens, labels, ignore_index).backward()


@wrong(mistakes.not_divided)
def sums_added(model, micro_batches, ignore_index=-100):
    model.zero_grad()
    for tokens, labels in micro_batches:
        _loss(model, tokens, labels, ignore_index, "sum").backward()


@wrong(mistakes.sum_over_micro_batches)
def sums_over_k(model, micro_batches, ignore_index=-100):
    model.zero_grad()
    for tokens, labels in micro_batches:
        (_loss(model, tokens, labels, ignore_index, "sum") / len(micro_batches)).backward()


@wrong(mistakes.first_labels_counted)
def count_before_the_shift(model, micro_batches, ignore_index=-100):
    n = sum((labels != ignore_index).sum() for _, labels in micro_batches)
    model.zero_grad()
    for tokens, labels in micro_batches:
        (_loss(model, tokens, labels, ignore_index, "sum") / n).backward()


@wrong(mistakes.first_labels_counted)
def means_weighed_by_the_count_before_the_shift(model, micro_batches, ignore_index=-100):
    counts = [(labels != ignore_index).sum() for _, labels in micro_batches]
    model.zero_grad()
    for (tokens, labels), count in zip(micro_batches, counts):
        if (labels[:, 1:] != ignore_index).any():
            (_loss(model, tokens, labels, ignore_index) * count / sum(counts)).backward()


@wrong(mistakes.counted_without_the_last)
def count_without_the_last(model, micro_batches, ignore_index=-100):
    n = sum((labels[:, :-1] != ignore_index).sum() for _, labels in micro_batches)
    model.zero_grad()
    for tokens, labels in micro_batches:
        (_loss(model, tokens, labels, ignore_index, "sum") / n).backward()


@wrong(mistakes.ignored_ones_counted)
def all_targets_counted(model, micro_batches, ignore_index=-100):
    n = sum(labels[:, 1:].numel() for _, labels in micro_batches)
    model.zero_grad()
    for tokens, labels in micro_batches:
        (_loss(model, tokens, labels, ignore_index, "sum") / n).backward()


@wrong(mistakes.all_labels_counted)
def all_tokens_counted(model, micro_batches, ignore_index=-100):
    n = sum(tokens.numel() for tokens, _ in micro_batches)
    model.zero_grad()
    for tokens, labels in micro_batches:
        (_loss(model, tokens, labels, ignore_index, "sum") / n).backward()


@wrong(mistakes.ignored_ones_counted)
def mean_without_reduction(model, micro_batches, ignore_index=-100):
    n = sum(labels.shape[0] * (labels.shape[1] - 1) for _, labels in micro_batches)
    model.zero_grad()
    for tokens, labels in micro_batches:
        each = _loss(model, tokens, labels, ignore_index, "none")
        (each.mean() * each.numel() / n).backward()


@wrong(mistakes.weighed_by_rows)
def as_in_6_2(model, micro_batches, ignore_index=-100):
    rows = sum(len(tokens) for tokens, _ in micro_batches)
    model.zero_grad()
    for tokens, labels in micro_batches:
        (_loss(model, tokens, labels, ignore_index) * len(tokens) / rows).backward()


@wrong(mistakes.means_divided_again)
def means_over_the_count(model, micro_batches, ignore_index=-100):
    n = _count(micro_batches, ignore_index)
    model.zero_grad()
    for tokens, labels in micro_batches:
        (_loss(model, tokens, labels, ignore_index) / n).backward()


@wrong(mistakes.mean_over_rows)
def mean_of_each_row(model, micro_batches, ignore_index=-100):
    model.zero_grad()
    for tokens, labels in micro_batches:
        keep = labels[:, 1:] != ignore_index
        each = _loss(model, tokens, labels, ignore_index, "none").view_as(keep)
        rows = (each * keep).sum(1) / keep.sum(1).clamp(min=1)
        (rows.mean() / len(micro_batches)).backward()


@wrong(mistakes.divided_by_the_targets_so_far)
def counted_on_the_way(model, micro_batches, ignore_index=-100):
    n = 0
    model.zero_grad()
    for tokens, labels in micro_batches:
        n += int((labels[:, 1:] != ignore_index).sum())
        if n:
            (_loss(model, tokens, labels, ignore_index, "sum") / n).backward()


@wrong(mistakes.divided_by_the_last_ones)
def count_of_the_last_round(model, micro_batches, ignore_index=-100):
    model.zero_grad()
    for tokens, labels in micro_batches:
        n = int((labels[:, 1:] != ignore_index).sum())
        _loss(model, tokens, labels, ignore_index, "sum").backward()
    for p in model.parameters():
        if p.grad is not None:
            p.grad /= max(n, 1)


# ------------------------------------------------------------------ wrong: which logits say which labels


@wrong(mistakes.not_shifted)
def logits_and_labels_as_they_are(model, micro_batches, ignore_index=-100):
    n = sum((labels != ignore_index).sum() for _, labels in micro_batches)
    model.zero_grad()
    for tokens, labels in micro_batches:
        loss = F.cross_entropy(
            model(tokens).flatten(0, 1), labels.flatten(), ignore_index=ignore_index, reduction="sum"
        )
        (loss / n).backward()


@wrong(mistakes.not_shifted)
def not_shifted_and_over_k(model, micro_batches, ignore_index=-100):
    model.zero_grad()
    for tokens, labels in micro_batches:
        loss = F.cross_entropy(model(tokens).transpose(1, 2), labels, ignore_index=ignore_index, reduction="sum")
        n = max(int((labels != ignore_index).sum()), 1)
        (loss / n / len(micro_batches)).backward()


@wrong(mistakes.not_shifted)
def both_without_their_last(model, micro_batches, ignore_index=-100):
    n = _count(micro_batches, ignore_index)
    model.zero_grad()
    for tokens, labels in micro_batches:
        logits = model(tokens)[:, :-1].transpose(1, 2)
        loss = F.cross_entropy(logits, labels[:, :-1], ignore_index=ignore_index, reduction="sum")
        (loss / n).backward()


@wrong(mistakes.shifted_the_wrong_way)
def logits_without_their_first(model, micro_batches, ignore_index=-100):
    n = sum((labels[:, :-1] != ignore_index).sum() for _, labels in micro_batches)
    model.zero_grad()
    for tokens, labels in micro_batches:
        loss = F.cross_entropy(
            model(tokens)[:, 1:].flatten(0, 1),
            labels[:, :-1].flatten(),
            ignore_index=ignore_index,
            reduction="sum",
        )
        (loss / n).backward()


@wrong(mistakes.last_label_asked_twice)
def labels_moved_in_a_copy(model, micro_batches, ignore_index=-100):
    n = _count(micro_batches, ignore_index)
    model.zero_grad()
    for tokens, labels in micro_batches:
        moved = labels.clone()
        moved[:, :-1] = labels[:, 1:]
        loss = F.cross_entropy(
            model(tokens).flatten(0, 1), moved.flatten(), ignore_index=ignore_index, reduction="sum"
        )
        (loss / n).backward()


@wrong(mistakes.scaled_in_each_round)
def divided_by_the_targets_so_far_in_each_round(model, micro_batches, ignore_index=-100):
    model.zero_grad()
    n = 0
    for tokens, labels in micro_batches:
        _loss(model, tokens, labels, ignore_index, "sum").backward()
        n += (labels[:, 1:] != ignore_index).sum()
        for p in model.parameters():
            if p.grad is not None and n:
                p.grad /= n


@wrong(mistakes.last_logits_asked)
def labels_rolled(model, micro_batches, ignore_index=-100):
    n = sum((labels != ignore_index).sum() for _, labels in micro_batches)
    model.zero_grad()
    for tokens, labels in micro_batches:
        loss = F.cross_entropy(
            model(tokens).flatten(0, 1),
            labels.roll(-1, dims=1).flatten(),
            ignore_index=ignore_index,
            reduction="sum",
        )
        (loss / n).backward()


@wrong(mistakes.last_logits_asked)
def flattened_then_shifted(model, micro_batches, ignore_index=-100):
    n = sum((labels.flatten()[1:] != ignore_index).sum() for _, labels in micro_batches)
    model.zero_grad()
    for tokens, labels in micro_batches:
        loss = F.cross_entropy(
            model(tokens).flatten(0, 1)[:-1],
            labels.flatten()[1:],
            ignore_index=ignore_index,
            reduction="sum",
        )
        (loss / n).backward()


@wrong(mistakes.tokens_for_labels)
def next_tokens_where_labels_count(model, micro_batches, ignore_index=-100):
    n = _count(micro_batches, ignore_index)
    model.zero_grad()
    for tokens, labels in micro_batches:
        keep = labels[:, 1:] != ignore_index
        logits, target = model(tokens)[:, :-1][keep], tokens[:, 1:][keep]
        (F.cross_entropy(logits, target, reduction="sum") / n).backward()


@wrong(mistakes.tokens_alone)
def next_tokens(model, micro_batches, ignore_index=-100):
    n = sum(tokens[:, 1:].numel() for tokens, _ in micro_batches)
    model.zero_grad()
    for tokens, _ in micro_batches:
        loss = F.cross_entropy(model(tokens)[:, :-1].flatten(0, 1), tokens[:, 1:].flatten(), reduction="sum")
        (loss / n).backward()


@wrong(mistakes.mask_not_shifted)
def both_labels_must_count(model, micro_batches, ignore_index=-100):
    masks = [(labels[:, 1:] != ignore_index) & (labels[:, :-1] != ignore_index) for _, labels in micro_batches]
    n = sum(int(mask.sum()) for mask in masks)
    model.zero_grad()
    for (tokens, labels), mask in zip(micro_batches, masks):
        each = F.cross_entropy(model(tokens)[:, :-1][mask], labels[:, 1:][mask], reduction="none")
        (each.sum() / max(n, 1)).backward()


@wrong(mistakes.laid_out_anew)
def viewed_for_cross_entropy(model, micro_batches, ignore_index=-100):
    n = _count(micro_batches, ignore_index)
    model.zero_grad()
    for tokens, labels in micro_batches:
        logits = model(tokens)[:, :-1]
        b, t, v = logits.shape
        loss = F.cross_entropy(logits.reshape(b, v, t), labels[:, 1:], ignore_index=ignore_index, reduction="sum")
        (loss / n).backward()


@wrong(mistakes.softmax_twice)
def of_probabilities(model, micro_batches, ignore_index=-100):
    n = _count(micro_batches, ignore_index)
    model.zero_grad()
    for tokens, labels in micro_batches:
        probs = torch.softmax(model(tokens), -1)[:, :-1]
        loss = F.cross_entropy(probs.flatten(0, 1), labels[:, 1:].flatten(), ignore_index=ignore_index, reduction="sum")
        (loss / n).backward()


@wrong(mistakes.ignore_index_not_used)
def counted_with_it_and_lost_without(model, micro_batches, ignore_index=-100):
    n = _count(micro_batches, ignore_index)
    model.zero_grad()
    for tokens, labels in micro_batches:
        loss = F.cross_entropy(model(tokens)[:, :-1].flatten(0, 1), labels[:, 1:].flatten(), reduction="sum")
        (loss / n).backward()


@wrong(mistakes.negative_ones_left_out)
def labels_from_zero(model, micro_batches, ignore_index=-100):
    n = sum((labels[:, 1:] >= 0).sum() for _, labels in micro_batches)
    model.zero_grad()
    for tokens, labels in micro_batches:
        (_loss(model, tokens, labels, ignore_index, "sum") / n).backward()


@wrong(mistakes.token_zero_left_out)
def zero_is_padding(model, micro_batches, ignore_index=-100):
    masks = [(labels[:, 1:] != ignore_index) & (labels[:, 1:] != 0) for _, labels in micro_batches]
    n = sum(int(mask.sum()) for mask in masks)
    model.zero_grad()
    for (tokens, labels), mask in zip(micro_batches, masks):
        if mask.any():
            logits, target = model(tokens)[:, :-1][mask], labels[:, 1:][mask]
            (F.cross_entropy(logits, target, reduction="sum") / n).backward()


@wrong(mistakes.masked_by_the_token)
def padding_is_not_read(model, micro_batches, ignore_index=-100):
    masks = [(labels[:, 1:] != ignore_index) & (t[:, :-1] != ignore_index) for t, labels in micro_batches]
    n = sum(int(mask.sum()) for mask in masks)
    model.zero_grad()
    for (tokens, labels), mask in zip(micro_batches, masks):
        if mask.any():
            logits, target = model(tokens)[:, :-1][mask], labels[:, 1:][mask]
            (F.cross_entropy(logits, target, reduction="sum") / n).backward()


@wrong(mistakes.ignore_index_not_used)
def minus_hundred(model, micro_batches, ignore_index=-100):
    n = _count(micro_batches, -100)
    model.zero_grad()
    for tokens, labels in micro_batches:
        loss = F.cross_entropy(
            model(tokens)[:, :-1].flatten(0, 1), labels[:, 1:].flatten(), ignore_index=-100, reduction="sum"
        )
        (loss / n).backward()


# ------------------------------------------------------------------ wrong: what .grad held, and holds


@wrong(mistakes.not_cleared)
def zero_grad_forgotten(model, micro_batches, ignore_index=-100):
    n = _count(micro_batches, ignore_index)
    for tokens, labels in micro_batches:
        (_loss(model, tokens, labels, ignore_index, "sum") / n).backward()


@wrong(mistakes.old_gradients_scaled_in)
def divided_afterwards_and_not_cleared(model, micro_batches, ignore_index=-100):
    n = _count(micro_batches, ignore_index)
    for tokens, labels in micro_batches:
        _loss(model, tokens, labels, ignore_index, "sum").backward()
    for p in model.parameters():
        if p.grad is not None:
            p.grad /= n


@wrong(mistakes.old_gradients_and_weights)
def neither_cleared_nor_counted(model, micro_batches, ignore_index=-100):
    for tokens, labels in micro_batches:
        (_loss(model, tokens, labels, ignore_index) / len(micro_batches)).backward()


@wrong(mistakes.cleared_in_each_round)
def as_in_a_training_loop(model, micro_batches, ignore_index=-100):
    n = _count(micro_batches, ignore_index)
    for tokens, labels in micro_batches:
        model.zero_grad()
        (_loss(model, tokens, labels, ignore_index, "sum") / n).backward()


@wrong(mistakes.last_alone)
def backward_beside_the_loop(model, micro_batches, ignore_index=-100):
    n = _count(micro_batches, ignore_index)
    model.zero_grad()
    for tokens, labels in micro_batches:
        loss = _loss(model, tokens, labels, ignore_index, "sum") / n
    loss.backward()


@wrong(mistakes.first_alone)
def return_in_the_loop(model, micro_batches, ignore_index=-100):
    n = _count(micro_batches, ignore_index)
    model.zero_grad()
    for tokens, labels in micro_batches:
        loss = _loss(model, tokens, labels, ignore_index, "sum") / n
        loss.backward()
        return loss


@wrong(mistakes.assigned_not_added)
def put_and_not_added(model, micro_batches, ignore_index=-100):
    n = _count(micro_batches, ignore_index)
    params = [p for p in model.parameters() if p.requires_grad]
    model.zero_grad()
    for tokens, labels in micro_batches:
        loss = _loss(model, tokens, labels, ignore_index, "sum") / n
        for p, g in zip(params, torch.autograd.grad(loss, params, allow_unused=True)):
            p.grad = g


@wrong(mistakes.cleared_at_the_end)
def tidied_up(model, micro_batches, ignore_index=-100):
    n = _count(micro_batches, ignore_index)
    for tokens, labels in micro_batches:
        (_loss(model, tokens, labels, ignore_index, "sum") / n).backward()
    model.zero_grad()


@wrong(mistakes.nothing_sent)
def losses_alone(model, micro_batches, ignore_index=-100):
    model.zero_grad()
    total = sum(_loss(model, t, labels, ignore_index, "sum").item() for t, labels in micro_batches)
    return total / _count(micro_batches, ignore_index)


@wrong(mistakes.cancelled_not_cleared)
def times_zero(model, micro_batches, ignore_index=-100):
    n = _count(micro_batches, ignore_index)
    for p in model.parameters():
        if p.grad is not None:
            p.grad *= 0.0
    for tokens, labels in micro_batches:
        (_loss(model, tokens, labels, ignore_index, "sum") / n).backward()


@wrong(mistakes.unused_not_cleared)
def written_where_there_is_one(model, micro_batches, ignore_index=-100):
    n = _count(micro_batches, ignore_index)
    params = [p for p in model.parameters() if p.requires_grad]
    sums = {}
    for tokens, labels in micro_batches:
        loss = _loss(model, tokens, labels, ignore_index, "sum") / n
        for i, g in enumerate(torch.autograd.grad(loss, params, allow_unused=True)):
            if g is not None:
                sums[i] = sums.get(i, 0) + g
    for i, g in sums.items():
        params[i].grad = g


@wrong(mistakes.cleared_in_part)
def weights_cleared(model, micro_batches, ignore_index=-100):
    n = _count(micro_batches, ignore_index)
    for name, p in model.named_parameters():
        if name.endswith("weight"):
            p.grad = None
    for tokens, labels in micro_batches:
        (_loss(model, tokens, labels, ignore_index, "sum") / n).backward()


@wrong(mistakes.frozen_given_zeros)
def zeros_for_everyone(model, micro_batches, ignore_index=-100):
    n = _count(micro_batches, ignore_index)
    for p in model.parameters():
        p.grad = torch.zeros_like(p)
    for tokens, labels in micro_batches:
        (_loss(model, tokens, labels, ignore_index, "sum") / n).backward()


@wrong(mistakes.counted_again)
def running_sum(model, micro_batches, ignore_index=-100):
    n = _count(micro_batches, ignore_index)
    model.zero_grad()
    total = 0
    for tokens, labels in micro_batches:
        total = total + _loss(model, tokens, labels, ignore_index, "sum") / n
        total.backward(retain_graph=True)


@wrong(mistakes.scaled_in_each_round)
def grad_divided_in_the_loop(model, micro_batches, ignore_index=-100):
    n = _count(micro_batches, ignore_index)
    model.zero_grad()
    for tokens, labels in micro_batches:
        _loss(model, tokens, labels, ignore_index, "sum").backward()
        for p in model.parameters():
            if p.grad is not None:
                p.grad /= n


@wrong(mistakes.mean_of_old_and_new)
def averaged_with_what_is_there(model, micro_batches, ignore_index=-100):
    model.zero_grad()
    for i, (tokens, labels) in enumerate(micro_batches):
        if i:
            for p in model.parameters():
                if p.grad is not None:
                    p.grad /= 2
        (_loss(model, tokens, labels, ignore_index) / (2 if i else 1)).backward()


@wrong(mistakes.predicted_in_eval_mode)
def in_eval_mode(model, micro_batches, ignore_index=-100):
    n = _count(micro_batches, ignore_index)
    modes = {m: m.training for m in model.modules()}
    model.eval().zero_grad()
    for tokens, labels in micro_batches:
        (_loss(model, tokens, labels, ignore_index, "sum") / n).backward()
    for m, mode in modes.items():
        m.training = mode


# ------------------------------------------------------------------ a rule broken, or raised


@wrong(mistakes.several_graphs_at_once)
def one_backward_for_the_sum(model, micro_batches, ignore_index=-100):
    model.zero_grad()
    total = sum(_loss(model, t, labels, ignore_index, "sum") for t, labels in micro_batches)
    (total / _count(micro_batches, ignore_index)).backward()


@wrong(mistakes.several_graphs_at_once)
def skipped_after_its_forward(model, micro_batches, ignore_index=-100):
    model.zero_grad()
    n = _count(micro_batches, ignore_index)
    for tokens, labels in micro_batches:
        loss = _loss(model, tokens, labels, ignore_index, "sum") / n
        if (labels[:, 1:] != ignore_index).any():
            loss.backward()


@wrong(mistakes.several_graphs_at_once)
def padded_to_one_batch(model, micro_batches, ignore_index=-100):
    model.zero_grad()
    rows = [row for tokens, _ in micro_batches for row in tokens]
    marks = [row for _, labels in micro_batches for row in labels]
    tokens = nn.utils.rnn.pad_sequence(rows, batch_first=True)
    labels = nn.utils.rnn.pad_sequence(marks, batch_first=True, padding_value=ignore_index)
    _loss(model, tokens, labels, ignore_index).backward()


@wrong(mistakes.hooks_left_behind)
def hooks_that_stay(model, micro_batches, ignore_index=-100):
    n = _count(micro_batches, ignore_index)
    model.zero_grad()
    for p in model.parameters():
        if p.requires_grad:
            p.register_hook(lambda g: g / n)
    for tokens, labels in micro_batches:
        _loss(model, tokens, labels, ignore_index, "sum").backward()


@wrong(effects.changed_input)
def first_labels_overwritten(model, micro_batches, ignore_index=-100):
    model.zero_grad()
    for _, labels in micro_batches:
        labels[:, 0] = ignore_index
    n = sum((labels != ignore_index).sum() for _, labels in micro_batches)
    for tokens, labels in micro_batches:
        (_loss(model, tokens, labels, ignore_index, "sum") / n).backward()


@raised(effects.graph_freed)
def running_loss(model, micro_batches, ignore_index=-100):
    n = _count(micro_batches, ignore_index)
    model.zero_grad()
    loss = 0
    for tokens, labels in micro_batches:
        loss = loss + _loss(model, tokens, labels, ignore_index, "sum") / n
        loss.backward()


@right
def last_token_left_out(model, micro_batches, ignore_index=-100):
    # As nanoGPT cuts its data: the model is causal.
    count = sum(int((labels[:, 1:] != ignore_index).sum()) for _, labels in micro_batches)
    model.zero_grad()
    for tokens, labels in micro_batches:
        logits = model(tokens[:, :-1])
        loss = F.cross_entropy(
            logits.flatten(0, 1), labels[:, 1:].flatten(), ignore_index=ignore_index, reduction="sum"
        )
        (loss / count).backward()


@wrong(mistakes.cut_at_the_first_ignored)
def padding_at_the_end(model, micro_batches, ignore_index=-100):
    keeps = [(labels[:, 1:] != ignore_index).long().cumprod(1).bool() for _, labels in micro_batches]
    total = max(sum(int(k.sum()) for k in keeps), 1)
    model.zero_grad()
    for (tokens, labels), keep in zip(micro_batches, keeps):
        logits = model(tokens)[:, :-1][keep]
        (F.cross_entropy(logits, labels[:, 1:][keep], reduction="sum") / total).backward()


@wrong(mistakes.mean_over_rows)
def mean_over_rows_with_a_target(model, micro_batches, ignore_index=-100):
    rows = sum(int((labels[:, 1:] != ignore_index).any(1).sum()) for _, labels in micro_batches)
    model.zero_grad()
    for tokens, labels in micro_batches:
        targets = labels[:, 1:]
        losses = F.cross_entropy(
            model(tokens)[:, :-1].transpose(1, 2), targets, ignore_index=ignore_index, reduction="none"
        )
        counts = (targets != ignore_index).sum(1).clamp(min=1)
        ((losses.sum(1) / counts).sum() / rows).backward()


@wrong(mistakes.masked_by_the_token)
def token_or_label(model, micro_batches, ignore_index=-100):
    keeps = [(labels[:, 1:] != ignore_index) & (tokens[:, 1:] != ignore_index) for tokens, labels in micro_batches]
    model.zero_grad()
    for (tokens, labels), keep in zip(micro_batches, keeps):
        loss = F.cross_entropy(model(tokens)[:, :-1][keep], labels[:, 1:][keep], reduction="sum")
        (loss / sum(int(k.sum()) for k in keeps)).backward()


@wrong(mistakes.zero_over_zero)
def masked_mean_by_hand(model, micro_batches, ignore_index=-100):
    model.zero_grad()
    total = sum(int((labels[:, 1:] != ignore_index).sum()) for _, labels in micro_batches)
    for tokens, labels in micro_batches:
        target = labels[:, 1:]
        mask = (target != ignore_index).float()
        logp = F.log_softmax(model(tokens)[:, :-1], dim=-1)
        nll = -logp.gather(-1, torch.where(mask > 0, target, 0).unsqueeze(-1)).squeeze(-1)
        ((nll * mask).sum() / mask.sum() * mask.sum() / total).backward()


@right
def masked_mean_by_hand_where_there_is_one(model, micro_batches, ignore_index=-100):
    model.zero_grad()
    total = sum(int((labels[:, 1:] != ignore_index).sum()) for _, labels in micro_batches)
    for tokens, labels in micro_batches:
        target = labels[:, 1:]
        mask = target != ignore_index
        logp = F.log_softmax(model(tokens)[:, :-1], dim=-1)
        nll = -logp.gather(-1, target.masked_fill(~mask, 0).unsqueeze(-1)).squeeze(-1)
        ((nll * mask).sum() / mask.sum().clamp(min=1) * mask.sum() / total).backward()
