"""What is often done instead in exercise 6.3."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import torch
from torch import nn

from course_utils.checks.mistakes import Code, made_by, mistake
from course_utils.lessons.lesson6 import mistakes as shared
from course_utils.lessons.lesson6.inputs import Tokens
from course_utils.lessons.lesson6.mistakes import Weigh, alike, by_rows, each, sent, so_far

See = Callable[[torch.Tensor, torch.Tensor, torch.Tensor, int], tuple[torch.Tensor, torch.Tensor]]
"""From logits, tokens, labels and ignore_index to the logits that are asked and the targets they are to say."""
Count = Callable[[torch.Tensor, torch.Tensor, int], int]
"""From tokens, labels and ignore_index to the size of a micro-batch."""
Reduce = Callable[[torch.Tensor, torch.Tensor, int], torch.Tensor]
"""From such logits and targets to the loss of a micro-batch."""


# ------------------------------------------------------------------ what is asked of which logits


def _shifted(logits: torch.Tensor, tokens: torch.Tensor, labels: torch.Tensor, ignore: int) -> Any:
    return logits[:, :-1], labels[:, 1:]


def _in_place(logits: torch.Tensor, tokens: torch.Tensor, labels: torch.Tensor, ignore: int) -> Any:
    return logits, labels


def _backwards(logits: torch.Tensor, tokens: torch.Tensor, labels: torch.Tensor, ignore: int) -> Any:
    return logits[:, 1:], labels[:, :-1]


def _rolled(logits: torch.Tensor, tokens: torch.Tensor, labels: torch.Tensor, ignore: int) -> Any:
    return logits, labels.roll(-1, 1)


def _moved_in_place(logits: torch.Tensor, tokens: torch.Tensor, labels: torch.Tensor, ignore: int) -> Any:
    return logits, torch.cat([labels[:, 1:], labels[:, -1:]], dim=1)


def _cut_alike(logits: torch.Tensor, tokens: torch.Tensor, labels: torch.Tensor, ignore: int) -> Any:
    return logits[:, :-1], labels[:, :-1]


def _both_without_the_first(logits: torch.Tensor, tokens: torch.Tensor, labels: torch.Tensor, ignore: int) -> Any:
    return logits[:, 1:], labels[:, 1:]


def _flat_shift(logits: torch.Tensor, tokens: torch.Tensor, labels: torch.Tensor, ignore: int) -> Any:
    return logits.flatten(0, 1)[None, :-1], labels.flatten()[None, 1:]


def _tokens_for_labels(logits: torch.Tensor, tokens: torch.Tensor, labels: torch.Tensor, ignore: int) -> Any:
    return logits[:, :-1], tokens[:, 1:].masked_fill(labels[:, 1:] == ignore, ignore)


def _tokens_where_labels_count(logits: torch.Tensor, tokens: torch.Tensor, labels: torch.Tensor, ignore: int) -> Any:
    return logits[:, :-1], tokens[:, 1:].masked_fill(labels[:, 1:] == ignore, -100)


def _tokens_alone(logits: torch.Tensor, tokens: torch.Tensor, labels: torch.Tensor, ignore: int) -> Any:
    return logits[:, :-1], tokens[:, 1:]


def _from_zero(logits: torch.Tensor, tokens: torch.Tensor, labels: torch.Tensor, ignore: int) -> Any:
    return logits[:, :-1], labels[:, 1:].masked_fill(labels[:, 1:] < 0, -100)


def _masked_in_place(logits: torch.Tensor, tokens: torch.Tensor, labels: torch.Tensor, ignore: int) -> Any:
    counts = (labels[:, 1:] != ignore) & (labels[:, :-1] != ignore)
    return logits[:, :-1], labels[:, 1:].masked_fill(~counts, ignore)


def _up_to_the_first_ignored(logits: torch.Tensor, tokens: torch.Tensor, labels: torch.Tensor, ignore: int) -> Any:
    before = (labels[:, 1:] != ignore).cumprod(1).bool()
    return logits[:, :-1], labels[:, 1:].masked_fill(~before, ignore)


def _laid_out_anew(logits: torch.Tensor, tokens: torch.Tensor, labels: torch.Tensor, ignore: int) -> Any:
    rows, places, words = logits[:, :-1].shape
    return logits[:, :-1].reshape(rows, words, places).transpose(1, 2), labels[:, 1:]


# ------------------------------------------------------------------ from there to a loss, and to a size


def _sum(logits: torch.Tensor, targets: torch.Tensor, ignore: int) -> torch.Tensor:
    return nn.functional.cross_entropy(logits.flatten(0, 1), targets.flatten(), ignore_index=ignore, reduction="sum")


def _mean(logits: torch.Tensor, targets: torch.Tensor, ignore: int) -> torch.Tensor:
    return nn.functional.cross_entropy(logits.flatten(0, 1), targets.flatten(), ignore_index=ignore)


def _mean_by_hand(logits: torch.Tensor, targets: torch.Tensor, ignore: int) -> torch.Tensor:
    counts = targets != ignore
    said = logits.log_softmax(-1).gather(-1, targets.masked_fill(~counts, 0)[..., None])[..., 0]
    return -(said * counts).sum() / counts.sum()


def _mean_or_nothing(logits: torch.Tensor, targets: torch.Tensor, ignore: int) -> torch.Tensor:
    return _sum(logits, targets, ignore) / max(int((targets != ignore).sum()), 1)


def _mean_of_rows(logits: torch.Tensor, targets: torch.Tensor, ignore: int) -> torch.Tensor:
    rows = [_mean_or_nothing(logits[[i]], targets[[i]], ignore) for i in range(len(logits))]
    return torch.stack(rows).mean()


def _mean_of_filled_rows(logits: torch.Tensor, targets: torch.Tensor, ignore: int) -> torch.Tensor:
    rows = [_mean_or_nothing(logits[[i]], targets[[i]], ignore) for i in range(len(logits))]
    return torch.stack(rows).sum() / max(int((targets != ignore).any(1).sum()), 1)


def _sum_of_the_default(logits: torch.Tensor, targets: torch.Tensor, ignore: int) -> torch.Tensor:
    return _sum(logits, targets, -100)


def _sum_of_probabilities(logits: torch.Tensor, targets: torch.Tensor, ignore: int) -> torch.Tensor:
    return _sum(logits.softmax(-1), targets, ignore)


def _counted(tokens: torch.Tensor, labels: torch.Tensor, ignore: int) -> int:
    return int((labels[:, 1:] != ignore).sum())


def _counted_with_the_last_twice(tokens: torch.Tensor, labels: torch.Tensor, ignore: int) -> int:
    return int((labels[:, 1:] != ignore).sum() + (labels[:, -1] != ignore).sum())


def _counted_with_the_first(tokens: torch.Tensor, labels: torch.Tensor, ignore: int) -> int:
    return int((labels != ignore).sum())


def _counted_without_the_last(tokens: torch.Tensor, labels: torch.Tensor, ignore: int) -> int:
    return int((labels[:, :-1] != ignore).sum())


def _flat_counted(tokens: torch.Tensor, labels: torch.Tensor, ignore: int) -> int:
    return int((labels.flatten()[1:] != ignore).sum())


def _counted_by_the_default(tokens: torch.Tensor, labels: torch.Tensor, ignore: int) -> int:
    return int((labels[:, 1:] != -100).sum())


def _counted_from_zero(tokens: torch.Tensor, labels: torch.Tensor, ignore: int) -> int:
    return int((labels[:, 1:] >= 0).sum())


def _counted_up_to_the_first_ignored(tokens: torch.Tensor, labels: torch.Tensor, ignore: int) -> int:
    return int((labels[:, 1:] != ignore).cumprod(1).sum())


def _targets(tokens: torch.Tensor, labels: torch.Tensor, ignore: int) -> int:
    return labels[:, 1:].numel()


def _labels(tokens: torch.Tensor, labels: torch.Tensor, ignore: int) -> int:
    return labels.numel()


def _rows(tokens: torch.Tensor, labels: torch.Tensor, ignore: int) -> int:
    return len(labels)


def _filled_rows(tokens: torch.Tensor, labels: torch.Tensor, ignore: int) -> int:
    return int((labels[:, 1:] != ignore).any(1).sum())


_over_all = alike(lambda sizes: 1 / max(sum(sizes), 1))
_over_count = alike(lambda sizes: 1 / len(sizes))
_over_filled = alike(lambda sizes: 1 / max(sum(n > 0 for n in sizes), 1))
_whole = alike(lambda sizes: 1.0)
_over_own = each(lambda n, sizes: 1 / max(n, 1))
_over_own_and_count = each(lambda n, sizes: 1 / max(n, 1) / len(sizes))


def _over_so_far(sizes: Sequence[int]) -> list[float]:
    return [1 / max(sum(sizes[: place + 1]), 1) for place in range(len(sizes))]


def _over_the_last(sizes: Sequence[int]) -> list[float]:
    return [1 / max(sizes[-1], 1)] * len(sizes)


def _on_tokens(
    weigh: Weigh = _over_all,
    *,
    see: See = _shifted,
    reduce: Reduce = _sum,
    count: Count = _counted,
    how: Callable[..., None] = sent,
    old: Callable[[Sequence[int]], float] | None = None,
    **rest: Any,
) -> Code:
    """An answer that goes about it as `how` does: what is seen, reduced to a loss, weighed by what is counted."""

    def code(model: nn.Module, micro_batches: Sequence[Tokens], ignore_index: int = -100) -> None:
        def loss(tokens: torch.Tensor, labels: torch.Tensor) -> torch.Tensor:
            return reduce(*see(model(tokens), tokens, labels, ignore_index), ignore_index)

        sizes = [count(tokens, labels, ignore_index) for tokens, labels in micro_batches]
        more = rest if old is None else {**rest, "old": old(sizes)}
        how(model, [partial(loss, *pair) for pair in micro_batches], weigh(sizes), **more)

    return code


def _means(weigh: Weigh, count: Count = _counted) -> Code:
    """Such an answer from means. Where nothing counts the mean is NaN, and its gradient zero, as if it were left out."""
    return _on_tokens(weigh, reduce=_mean, count=count)


several_graphs_at_once = made_by(shared.several_graphs_at_once, _on_tokens(how=shared.together))
hooks_left_behind = made_by(shared.hooks_left_behind, _on_tokens(how=shared.hooked))

# ------------------------------------------------------------------ over how many the mean is taken


@mistake(
    "The mean of the means was taken",
    "Each micro-batch counts alike, however few targets count in it. A target in a micro-batch with few of them counts "
    "more than one among many.",
    "The mean is asked over all targets that count, of all micro-batches together. By what is the sum of their losses to "
    "be divided, and when do you know that number?",
    "Where as many targets count in each micro-batch it is the same. For years trainers of language models did it so.",
    also=(_means(_over_filled),),
)
def mean_of_means(model: nn.Module, micro_batches: Sequence[Tokens], ignore_index: int = -100) -> None:
    _means(_over_count)(model, micro_batches, ignore_index)


@mistake(
    "The means of the micro-batches were added up",
    "The gradient is that of the sum of the micro-batches' means: each counts alike, however few targets count in it, "
    "and nothing was divided.",
    "The mean is asked over all targets that count, of all micro-batches together. By what is the sum of their losses to "
    "be divided?",
)
def means_added(model: nn.Module, micro_batches: Sequence[Tokens], ignore_index: int = -100) -> None:
    _means(_whole)(model, micro_batches, ignore_index)


@mistake(
    "The gradient is that of the sum",
    "Each target that counts does so alike, and the gradient has the right direction. It is too long by the number of "
    "these targets.",
    "By what is a sum over targets divided to become their mean?",
)
def not_divided(model: nn.Module, micro_batches: Sequence[Tokens], ignore_index: int = -100) -> None:
    _on_tokens(_whole)(model, micro_batches, ignore_index)


@mistake(
    "The sum was divided by the number of micro-batches",
    "Each target that counts does so alike. But the sum over them was divided by the number of micro-batches.",
    "What is counted in the sum, targets or micro-batches? The mean divides by the same.",
    "The division by the number of micro-batches was right in 6.1.",
)
def sum_over_micro_batches(model: nn.Module, micro_batches: Sequence[Tokens], ignore_index: int = -100) -> None:
    _on_tokens(_over_count)(model, micro_batches, ignore_index)


@mistake(
    "The first labels were counted, too",
    "The number that divides counts the labels that are not ignore_index, those at the first place included. No logits "
    "say them: they are no targets.",
    "Which labels are targets, after the shift? Count those.",
    "The unshifted labels lie ready, and a count of them looks right. Frameworks have made this slip.",
    also=(_means(by_rows, _counted_with_the_first),),
)
def first_labels_counted(model: nn.Module, micro_batches: Sequence[Tokens], ignore_index: int = -100) -> None:
    _on_tokens(count=_counted_with_the_first)(model, micro_batches, ignore_index)


@mistake(
    "Other labels were counted than are asked for",
    "The number that divides counts the labels without the last place. The targets are the labels without the first.",
    "Which labels are targets, after the shift? Count those.",
    also=(_means(by_rows, _counted_without_the_last),),
)
def counted_without_the_last(model: nn.Module, micro_batches: Sequence[Tokens], ignore_index: int = -100) -> None:
    _on_tokens(count=_counted_without_the_last)(model, micro_batches, ignore_index)


@mistake(
    "Targets that do not count were counted",
    "The sum of the losses leaves out what is ignore_index. The number that divides it, or the weight of a micro-batch, "
    "counts all targets.",
    "How many targets does the sum consist of? Divide by as many.",
    "Without ignored targets the two numbers are the same.",
    also=(_means(by_rows, _targets),),
)
def ignored_ones_counted(model: nn.Module, micro_batches: Sequence[Tokens], ignore_index: int = -100) -> None:
    _on_tokens(count=_targets)(model, micro_batches, ignore_index)


@mistake(
    "All labels were counted",
    "The number that divides, or the weight of a micro-batch, counts every label: those that are ignore_index, and those "
    "at the first place, which are no targets.",
    "Which labels are targets, after the shift, and which of those count?",
    "The shape gives this number at once.",
    also=(_means(by_rows, _labels),),
)
def all_labels_counted(model: nn.Module, micro_batches: Sequence[Tokens], ignore_index: int = -100) -> None:
    _on_tokens(count=_labels)(model, micro_batches, ignore_index)


@mistake(
    "Weighed by rows, not by targets",
    "Each micro-batch counts with its number of rows. But its rows hold different numbers of targets that count.",
    "Over what is the mean of a micro-batch taken, rows or targets? Its weight is the number of the same.",
    "In 6.2 the rows were right.",
    also=(_on_tokens(count=_rows),),
)
def weighed_by_rows(model: nn.Module, micro_batches: Sequence[Tokens], ignore_index: int = -100) -> None:
    _means(by_rows, _rows)(model, micro_batches, ignore_index)


@mistake(
    "The mean was divided by the number of targets again",
    "Each micro-batch's mean was divided by the number of targets that count, its own or that of all micro-batches. It "
    "is a mean before that.",
    "What does cross_entropy return, a sum or a mean? That is what reduction= is for.",
    also=(_means(_over_own), _means(_over_own_and_count)),
)
def means_divided_again(model: nn.Module, micro_batches: Sequence[Tokens], ignore_index: int = -100) -> None:
    _means(_over_all)(model, micro_batches, ignore_index)


@mistake(
    "0 was divided by 0",
    "Where a micro-batch has no target that counts, NaN came into .grad. That is what its mean is: 0 divided by 0. "
    "Multiplying by 0 afterwards leaves it NaN.",
    "How large is the number below the line in such a micro-batch? Which number is needed below the line, and when is it "
    "known?",
    "F.cross_entropy divides by 0 there, too; but it sends zeros backward.",
    where=lambda spec: any(counted == 0 for *_, counted in spec["shapes"]),
)
def zero_over_zero(model: nn.Module, micro_batches: Sequence[Tokens], ignore_index: int = -100) -> None:
    _on_tokens(by_rows, reduce=_mean_by_hand)(model, micro_batches, ignore_index)


@mistake(
    "The mean over rows was taken",
    "Each row counts alike within its micro-batch, however few of its targets count.",
    "Over what is the mean asked: rows, or targets?",
    also=(
        _on_tokens(by_rows, reduce=_mean_of_rows, count=_rows),
        _on_tokens(by_rows, reduce=_mean_of_rows),
        _on_tokens(by_rows, reduce=_mean_of_filled_rows, count=_filled_rows),
        _on_tokens(_over_count, reduce=_mean_of_filled_rows),
    ),
)
def mean_over_rows(model: nn.Module, micro_batches: Sequence[Tokens], ignore_index: int = -100) -> None:
    _on_tokens(_over_count, reduce=_mean_of_rows)(model, micro_batches, ignore_index)


@mistake(
    "Divided by the targets so far",
    "Each micro-batch's sum was divided by the number of targets up to and with its own: an early one counts more than "
    "a late one.",
    "The number of all targets that count is needed before the first backward. Where is it counted?",
    "One loop seems to be enough: count and go backward in the same round.",
    also=(_on_tokens(so_far, reduce=_mean_or_nothing),),
)
def divided_by_the_targets_so_far(model: nn.Module, micro_batches: Sequence[Tokens], ignore_index: int = -100) -> None:
    _on_tokens(_over_so_far)(model, micro_batches, ignore_index)


@mistake(
    "Divided by the last micro-batch's targets",
    "The sum over all targets was divided by the number of those in the last micro-batch.",
    "After a loop a name holds what its last round gave it. Where is the count added up?",
)
def divided_by_the_last_ones(model: nn.Module, micro_batches: Sequence[Tokens], ignore_index: int = -100) -> None:
    _on_tokens(_over_the_last)(model, micro_batches, ignore_index)


# ------------------------------------------------------------------ which logits say which labels


@mistake(
    "Nothing was shifted",
    "Each place was asked to say the label of its own place, and not the next one.",
    "labels[:, i] stands where tokens[:, i] stands. Which logits come before it has been read?",
    "Many libraries shift inside the model, or hand over labels that are shifted already. Here neither is so.",
    also=(
        _on_tokens(see=_in_place),
        _on_tokens(_over_count, see=_in_place, reduce=_mean),
        _on_tokens(see=_cut_alike, count=_counted_without_the_last),
        _on_tokens(see=_cut_alike),
        _on_tokens(see=_both_without_the_first),
    ),
)
def not_shifted(model: nn.Module, micro_batches: Sequence[Tokens], ignore_index: int = -100) -> None:
    _on_tokens(see=_in_place, count=_counted_with_the_first)(model, micro_batches, ignore_index)


@mistake(
    "Shifted the wrong way",
    "Each place was asked to say the label before its own.",
    "The logits at place i are to say labels[:, i + 1]. Which of the two loses its first place, and which its last?",
    also=(
        _on_tokens(see=_backwards),
        _on_tokens(_over_count, see=_backwards, reduce=_mean),
    ),
)
def shifted_the_wrong_way(model: nn.Module, micro_batches: Sequence[Tokens], ignore_index: int = -100) -> None:
    _on_tokens(see=_backwards, count=_counted_without_the_last)(model, micro_batches, ignore_index)


@mistake(
    "The last logits were asked for a first label",
    "The logits of a row's last place were counted in: they were asked to say the first label of a row.",
    "What comes after the last place? Leave its logits out, and the first labels with them.",
    "roll() brings to the end what falls off at the beginning, and a shift after flattening runs from row to row.",
    also=(
        _on_tokens(see=_rolled),
        _on_tokens(_over_count, see=_rolled, reduce=_mean),
        _on_tokens(see=_flat_shift),
        _on_tokens(see=_flat_shift, count=_flat_counted),
    ),
)
def last_logits_asked(model: nn.Module, micro_batches: Sequence[Tokens], ignore_index: int = -100) -> None:
    _on_tokens(see=_rolled, count=_counted_with_the_first)(model, micro_batches, ignore_index)


@mistake(
    "The last logits were asked for the last label once more",
    "The logits of a row's last place were counted in: they were asked to say the row's last label, which is the target "
    "of the place before.",
    "What comes after the last place? Leave its logits out, or let `ignore_index` be what they are to say.",
    "Labels that are moved one place in a copy leave the last one where it was.",
    also=(
        _on_tokens(see=_moved_in_place, count=_counted_with_the_last_twice),
        _on_tokens(_over_count, see=_moved_in_place, reduce=_mean),
    ),
)
def last_label_asked_twice(model: nn.Module, micro_batches: Sequence[Tokens], ignore_index: int = -100) -> None:
    _on_tokens(see=_moved_in_place)(model, micro_batches, ignore_index)


@mistake(
    "The tokens were taken for the labels",
    "Where a label that counts is another number than the token at its place, the gradient is that of saying the token.",
    "Which of the two tensors holds what is to be said?",
    "In plain language modelling the labels are the tokens.",
    also=(_on_tokens(see=_tokens_where_labels_count, reduce=_sum_of_the_default),),
)
def tokens_for_labels(model: nn.Module, micro_batches: Sequence[Tokens], ignore_index: int = -100) -> None:
    _on_tokens(see=_tokens_for_labels)(model, micro_batches, ignore_index)


@mistake(
    "The labels were not looked at",
    "Every next token was a target, also where its label is ignore_index.",
    "What says which targets count, and what they are?",
    also=(
        _on_tokens(see=_tokens_alone),
        _on_tokens(see=_tokens_alone, count=_targets, reduce=_sum_of_the_default),
        _on_tokens(_over_count, see=_tokens_alone, reduce=_mean, count=_targets),
    ),
)
def tokens_alone(model: nn.Module, micro_batches: Sequence[Tokens], ignore_index: int = -100) -> None:
    _on_tokens(see=_tokens_alone, count=_targets)(model, micro_batches, ignore_index)


@mistake(
    "A target was left out because of the label before it",
    "A target counted only where its own label and the one before it are not ignore_index.",
    "After the shift, which label decides whether a target counts?",
    also=(_on_tokens(see=_masked_in_place),),
)
def mask_not_shifted(model: nn.Module, micro_batches: Sequence[Tokens], ignore_index: int = -100) -> None:
    def count(tokens: torch.Tensor, labels: torch.Tensor, ignore: int) -> int:
        return int(((labels[:, 1:] != ignore) & (labels[:, :-1] != ignore)).sum())

    _on_tokens(see=_masked_in_place, count=count)(model, micro_batches, ignore_index)


@mistake(
    "A row ended at its first ignored target",
    "Targets that stand behind an ignored one in their row were left out, though their own labels are not ignore_index.",
    "What says whether a target counts: its own label, or also those in front of it?",
    "Padding stands at the end of a row. A prompt that is not to be learned stands at its start.",
    also=(_on_tokens(see=_up_to_the_first_ignored),),
)
def cut_at_the_first_ignored(model: nn.Module, micro_batches: Sequence[Tokens], ignore_index: int = -100) -> None:
    _on_tokens(see=_up_to_the_first_ignored, count=_counted_up_to_the_first_ignored)(model, micro_batches, ignore_index)


@mistake(
    "The logits were laid out anew",
    "The numbers of the logits were brought from (b, t, v) to (b, v, t) by counting them off, which puts the logits of one "
    "place under another.",
    "To change the order of dimensions is one thing, to cut a row of numbers otherwise another. Which one is transpose, "
    "and which are view and reshape?",
    "The shape is what cross_entropy asks for.",
    also=(_on_tokens(_over_count, see=_laid_out_anew, reduce=_mean),),
)
def laid_out_anew(model: nn.Module, micro_batches: Sequence[Tokens], ignore_index: int = -100) -> None:
    _on_tokens(see=_laid_out_anew)(model, micro_batches, ignore_index)


@mistake(
    "The softmax was taken twice",
    "The gradient is that of a cross-entropy of probabilities, where logits are asked for.",
    "cross_entropy takes logits, and makes probabilities of them itself.",
    also=(_on_tokens(_over_count, reduce=lambda *all: _mean(all[0].softmax(-1), *all[1:])),),
)
def softmax_twice(model: nn.Module, micro_batches: Sequence[Tokens], ignore_index: int = -100) -> None:
    _on_tokens(reduce=_sum_of_probabilities)(model, micro_batches, ignore_index)


@mistake(
    "ignore_index was not used",
    "Where ignore_index is not -100, targets that do not count were counted: in the loss, in the number that divides it, "
    "or in both. PyTorch refuses a target that is no token.",
    "The function is told which targets do not count. Who has to be told in turn?",
    "With the default nothing is wrong.",
    also=(_on_tokens(reduce=_sum_of_the_default), _on_tokens(count=_counted_by_the_default)),
)
def ignore_index_not_used(model: nn.Module, micro_batches: Sequence[Tokens], ignore_index: int = -100) -> None:
    _on_tokens(reduce=_sum_of_the_default, count=_counted_by_the_default)(model, micro_batches, ignore_index)


@mistake(
    "Only negative labels were left out",
    "Where ignore_index is a token, targets with that label were counted: in the number that divides the loss, or in the "
    "loss as well.",
    "ignore_index may be any number. With what is a label to be compared?",
    "-100 and -1 are negative.",
    also=(_on_tokens(see=_from_zero, count=_counted_from_zero, reduce=_sum_of_the_default),),
    where=lambda spec: spec.get("ignore", -100) >= 0,
)
def negative_ones_left_out(model: nn.Module, micro_batches: Sequence[Tokens], ignore_index: int = -100) -> None:
    _on_tokens(count=_counted_from_zero)(model, micro_batches, ignore_index)


def _without_zero(logits: torch.Tensor, tokens: torch.Tensor, labels: torch.Tensor, ignore: int) -> Any:
    return logits[:, :-1], labels[:, 1:].masked_fill(labels[:, 1:] == 0, ignore)


def _counted_without_zero(tokens: torch.Tensor, labels: torch.Tensor, ignore: int) -> int:
    return int(((labels[:, 1:] != ignore) & (labels[:, 1:] != 0)).sum())


@mistake(
    "Token 0 did not count",
    "Where ignore_index is another number, targets that are token 0 were left out: of the number that divides the loss, "
    "or of the loss as well.",
    "Only ignore_index says that a target does not count. With what is a label to be compared?",
    "0 often stands for padding.",
    also=(_on_tokens(count=_counted_without_zero),),
)
def token_zero_left_out(model: nn.Module, micro_batches: Sequence[Tokens], ignore_index: int = -100) -> None:
    _on_tokens(see=_without_zero, count=_counted_without_zero)(model, micro_batches, ignore_index)


def _without_padding_read(logits: torch.Tensor, tokens: torch.Tensor, labels: torch.Tensor, ignore: int) -> Any:
    return logits[:, :-1], labels[:, 1:].masked_fill(tokens[:, :-1] == ignore, ignore)


def _counted_without_padding_read(tokens: torch.Tensor, labels: torch.Tensor, ignore: int) -> int:
    return int(((labels[:, 1:] != ignore) & (tokens[:, :-1] != ignore)).sum())


def _without_padding_said(logits: torch.Tensor, tokens: torch.Tensor, labels: torch.Tensor, ignore: int) -> Any:
    return logits[:, :-1], labels[:, 1:].masked_fill(tokens[:, 1:] == ignore, ignore)


def _counted_without_padding_said(tokens: torch.Tensor, labels: torch.Tensor, ignore: int) -> int:
    return int(((labels[:, 1:] != ignore) & (tokens[:, 1:] != ignore)).sum())


@mistake(
    "A target was left out because of a token",
    "Where ignore_index is a token, a target did not count if that token stands in tokens: at the target's own place, or "
    "at the one before, whose logits are asked.",
    "Which of the two tensors says what counts, and at which place?",
    "Attention masks look at tokens.",
    also=(_on_tokens(see=_without_padding_said, count=_counted_without_padding_said),),
    where=lambda spec: spec.get("ignore", -100) >= 0,
)
def masked_by_the_token(model: nn.Module, micro_batches: Sequence[Tokens], ignore_index: int = -100) -> None:
    _on_tokens(see=_without_padding_read, count=_counted_without_padding_read)(model, micro_batches, ignore_index)


# ------------------------------------------------------------------ as in 6.1 and 6.2

_LIKELY: tuple[dict[str, Any], ...] = (
    {},
    {"weigh": _over_count, "reduce": _mean},
    {"weigh": _whole},
)

not_cleared = made_by(shared.not_cleared, _on_tokens(clear="never"))
old_gradients_scaled_in = made_by(
    shared.old_gradients_scaled_in,
    _on_tokens(clear="never", old=lambda sizes: 1 / sum(sizes)),
    _on_tokens(clear="never", old=lambda sizes: 1 / len(sizes)),
)
old_gradients_and_weights = made_by(
    shared.old_gradients_and_weights, *(_on_tokens(**likely, clear="never") for likely in _LIKELY[1:])
)
cleared_in_each_round = made_by(
    shared.cleared_in_each_round, *(_on_tokens(**likely, clear="each") for likely in _LIKELY)
)
last_alone = made_by(shared.last_alone, *(_on_tokens(**likely, which=slice(-1, None)) for likely in _LIKELY))
first_alone = made_by(shared.first_alone, *(_on_tokens(**likely, which=slice(1)) for likely in _LIKELY))
assigned_not_added = made_by(
    shared.assigned_not_added, *(_on_tokens(**likely, how=shared.assigned) for likely in _LIKELY)
)
cleared_at_the_end = made_by(shared.cleared_at_the_end, _on_tokens(clear="after"))
nothing_sent = made_by(shared.nothing_sent, _on_tokens(which=slice(0)))
cancelled_not_cleared = made_by(shared.cancelled_not_cleared, _on_tokens(clear="times zero"))
unused_not_cleared = made_by(shared.unused_not_cleared, _on_tokens(clear="used alone"))
cleared_in_part = made_by(shared.cleared_in_part, _on_tokens(clear="weights alone"), _on_tokens(clear="biases alone"))
frozen_given_zeros = made_by(shared.frozen_given_zeros, _on_tokens(clear="zeros for all"))
counted_again = made_by(
    shared.counted_again,
    _on_tokens(shared.again_in_later_rounds(_over_all)),
    _on_tokens(shared.again_in_later_rounds(_over_count), reduce=_mean),
)
scaled_in_each_round = made_by(
    shared.scaled_in_each_round,
    *(_on_tokens(shared.in_later_rounds(by)) for by in (_over_all, shared.by_sum_so_far)),
)


def _in_eval_mode(model: nn.Module, micro_batches: Sequence[Tokens], ignore_index: int = -100) -> None:
    modes = [(module, module.training) for module in model.modules()]
    model.eval()
    _on_tokens()(model, micro_batches, ignore_index)
    for module, mode in modes:
        module.training = mode


mean_of_old_and_new = made_by(
    shared.mean_of_old_and_new, _means(shared.halved_in_each_round), _on_tokens(shared.halved_in_each_round)
)
predicted_in_eval_mode = made_by(shared.predicted_in_eval_mode, _in_eval_mode)
