"""Attempts at exercise 7.5, ddp_accumulation_step: what learners write, and what the check must say of it."""

import torch

from course_utils.authoring.attempts import raised, right, wrong
from course_utils.checks import effects
from course_utils.lessons.lesson7.ddp_accumulation_step import mistakes


@right
def sum_of_two(x):
    return x + x


@wrong(mistakes.handed_back_as_it_was)
def forgot_everything(x):
    return x * 1


@wrong(effects.returned_nothing)
def no_return(x):
    x + x


@raised(effects.undefined_name)
def misspelled(x):
    return torch.add(y, y)
