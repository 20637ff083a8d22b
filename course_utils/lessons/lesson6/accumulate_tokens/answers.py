"""What is right in exercise 6.3."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import nn

from course_utils.checks.answers import Answers
from course_utils.lessons.cleared import gradients_alone
from course_utils.lessons.lesson6.answers import assign_gradient, rules, trainable_in
from course_utils.lessons.lesson6.inputs import GRAD, Tokens, reader_of


def right(model: nn.Module, micro_batches: Sequence[Tokens], ignore_index: int = -100) -> None:
    """The probability of each target that counts, gathered one by one; the mean of all of them goes backward once."""
    said = []
    for tokens, labels in micro_batches:
        probabilities = model(tokens).softmax(-1)
        for row in range(tokens.shape[0]):
            for place in range(tokens.shape[1] - 1):
                target = int(labels[row, place + 1])
                if target != ignore_index:
                    said.append(probabilities[row, place, target])
    assign_gradient(model, -torch.stack(said).log().mean())


ANSWERS = Answers(right, graded=(GRAD,), accept=gradients_alone(GRAD, trainable_in(reader_of)), rules=rules)
