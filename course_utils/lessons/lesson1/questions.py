"""Predictions and quizzes of lesson 1."""

from __future__ import annotations

from course_utils.lessons.declare import Question
from course_utils.lessons.measured import TRUE_OR_FALSE

QUESTIONS: tuple[Question, ...] = (
    Question(
        "1.0",
        "prediction",
        "The network is trained again, with `.detach()` behind the values in the middle. What happens?",
        {
            "a": "`backward()` raises an error",
            "b": "nothing is raised, and it reads one digit of ten: it guesses",
            "c": "nothing is raised, and it reads about three digits of four",
            "d": "nothing is raised, and it reads as many as before: the values are the same",
        },
    ),
    Question(
        "1.a",
        "prediction",
        "You raise the pace from 2 by 0.1, and then, from 2 again, by 0.001: a move 100 times smaller. How does the "
        "change of the loss shrink?",
        {
            "a": "about 10 times",
            "b": "about 100 times, like the move",
            "c": "about 10 000 times, like the square of the move",
        },
    ),
    Question(
        "1.b",
        "prediction",
        "Distances in metres instead of kilometres, the pace in minutes per metre, everything else the same. What happens "
        "to the gradient of the loss with respect to the pace?",
        {
            "a": "it stays the same, since the loss stays the same",
            "b": "it becomes 1000 times smaller, like the weight",
            "c": "it becomes 1000 times larger",
        },
    ),
    Question(
        "1.c",
        "prediction",
        "You measure slopes of exp(sin(x)) by central differences in float64, with `h` from 1e-1 down to 1e-12. What does "
        "the error do?",
        {
            "a": "it shrinks all the way",
            "b": "it shrinks at first, then grows again",
            "c": "it shrinks at first, then stays where it is",
        },
    ),
    Question(
        "1.d",
        "prediction",
        "The line through `u` alone gives 24, the line through `v` alone gives 12. What is the slope of the loss with "
        "respect to `x`?",
        {
            "a": "24: the steeper line decides",
            "b": "36: the lines add",
            "c": "288: the lines multiply",
        },
    ),
    Question(
        "1.e",
        "prediction",
        "`loss = 5 * w + value`, with the value computed in each of the four ways. In which does `loss.backward()` raise "
        "an error?",
        {
            "a": "in the three that are not recorded",
            "b": "in one of them",
            "c": "in none",
        },
    ),
    Question(
        "1.f",
        "prediction",
        "After `loss.backward()`: which of `x` (data), `w` (a weight), `h = w * x` and `loss` have a gradient in `.grad`?",
        {
            "a": "`w` alone",
            "b": "`w`, `h` and `loss`: all that the graph goes through",
            "c": "all four",
        },
    ),
    Question(
        "1.g",
        "prediction",
        "Adam sees the gradient [100, 1, 0.01] in its first step. How far does it move the three weights?",
        {
            "a": "in proportion to the gradient: the first 10 000 times as far as the third",
            "b": "all three equally far",
            "c": "in between: with the root of the gradient, the first 100 times as far as the third",
        },
    ),
    Question(
        "1.h",
        "prediction",
        "The printed curvatures are those of the delivery loss. Up to which learning rate does gradient descent still come "
        "nearer to the minimum?",
        {
            "a": "1 / steepest curvature",
            "b": "2 / steepest curvature",
            "c": "2 / flattest curvature: the flat direction needs the large steps",
        },
    ),
    Question(
        "1.i",
        "prediction",
        "A unit's value before `tanh` is 3.8, so that `h` is 0.999. By about what is a gradient multiplied on its way back "
        "through this `tanh`?",
        {
            "a": "0.999, like the value",
            "b": "0.002",
            "c": "1: it passes unchanged",
        },
    ),
    Question(
        "1.j",
        "prediction",
        "The generator's loss is the sum of both losses, and the judgement is detached. What does its gradient hold?",
        {
            "a": "both losses: the discriminator alone is spared",
            "b": "the first loss alone",
            "c": "zeros",
        },
    ),
    Question(
        "1.k",
        "prediction",
        "True or false: downhill, every weight of the delivery model moves towards its best value (from pace 2, start 7).",
        TRUE_OR_FALSE,
    ),
    Question(
        "1.l",
        "prediction",
        "A prediction `w * x` misses its target by 10, and the loss is the squared error. True or false: the gradient of "
        "`w` can be zero all the same.",
        TRUE_OR_FALSE,
    ),
    Question(
        "1.m",
        "prediction",
        "True or false: multiply a loss by 1000, and SGD's first step becomes 1000 times longer, while Adam's stays as "
        "long as it was.",
        TRUE_OR_FALSE,
    ),
    Question(
        "1.n",
        "prediction",
        "True or false: after `model.eval()`, a forward pass records no graph.",
        TRUE_OR_FALSE,
    ),
    Question(
        "1.o",
        "prediction",
        "`relu(x)` is `x` where that is positive and 0 elsewhere, so `relu(x) - relu(-x)` is `x` everywhere. True or "
        "false: autograd gives its slope as 1 everywhere.",
        TRUE_OR_FALSE,
    ),
    Question(
        "1.p",
        "prediction",
        "True or false: a linear model is given every row of a batch twice, and the gradient of its mean loss stays the "
        "same.",
        TRUE_OR_FALSE,
    ),
    Question(
        "1.q1",
        "quiz",
        "A model has one million weights. How many calls of its loss does the central difference need for the whole "
        "gradient?",
        {"a": "two", "b": "one million", "c": "two million"},
        answer="c",
        because={
            "a": "two calls give one entry of the gradient; each weight has to be moved alone.",
            "b": "each weight is moved up and down, and each of the two moves needs a call.",
            "c": "one call up and one call down for every weight, as you just counted.",
        },
    ),
    Question(
        "1.q2",
        "quiz",
        "A training loop runs, the loss is a sensible number, and `backward()` raises nothing. What do you know about the "
        "gradients?",
        {
            "a": "every weight has its right gradient",
            "b": "at least one line leads from the loss to something that requires a gradient",
            "c": "every weight has some gradient, right or wrong",
        },
        answer="b",
        because={
            "a": "three of the four ways above raised nothing and gave a wrong gradient.",
            "b": "it had something to walk. Whether the other lines are whole it does not ask; you have to check.",
            "c": "a weight whose every line was cut kept None, and nothing was raised.",
        },
    ),
    Question(
        "1.q3",
        "quiz",
        "Two optimizers were made for the same model, and `loss.backward()` was called once. How many gradient tensors "
        "does each parameter that the loss uses have now?",
        {"a": "one", "b": "two, one for each optimizer", "c": "none before the first step of an optimizer"},
        answer="a",
        because={
            "a": "the gradient is attached to the parameter, and both optimizers hold references to that parameter.",
            "b": "both refer to the same parameters, and these own their gradients; backward() knows of no optimizer.",
            "c": "backward() needs no optimizer at all: section 1 had a gradient without any.",
        },
    ),
    Question(
        "1.q4",
        "quiz",
        "Plain SGD with learning rate 0.1; the gradient of a weight is -2. What does the step do to the weight?",
        {"a": "it lowers it by 0.2", "b": "it raises it by 0.2", "c": "it raises it by 2"},
        answer="b",
        because={
            "a": "the step goes against the gradient: minus 0.1 times minus 2 is plus.",
            "b": "-lr * gradient = -0.1 * (-2) = +0.2. For a small move, the loss falls when this weight rises.",
            "c": "the gradient says the direction and the steepness; the learning rate scales it.",
        },
    ),
    Question(
        "1.q5",
        "quiz",
        "`Z = X @ W + b` with 5 rows and 4 units, and `G`, of shape (5, 4), arrives at `Z`. What is the gradient of `b`, of "
        "shape (4,)?",
        {"a": "`G` added over the rows", "b": "`G` averaged over the rows", "c": "the first row of `G`"},
        answer="a",
        because={
            "a": "`b` reaches the loss through every row with local slope 1, and lines that meet add.",
            "b": "lines add. If the loss is a mean, the share of a row stands in `G` already.",
            "c": "`b` is added to every row, so every row is a line of its own.",
        },
    ),
)
