"""Predictions and quizzes of lesson 7."""

from __future__ import annotations

from course_utils.lessons.declare import Question
from course_utils.lessons.measured import TRUE_OR_FALSE

QUESTIONS: tuple[Question, ...] = (
    Question(
        "7.a",
        "prediction",
        "The loss is multiplied by 0.00001, the optimizer is Adam. How does the float16 run read, beside the same run "
        "without the factor?",
        {
            "chance": "Hardly better than guessing",
            "less": "Some points worse, for the rounding",
            "same": "As well: Adam divides by the size of the gradient",
        },
    ),
    Question(
        "7.b",
        "prediction",
        "You halve 1 in float16 again and again. Where is the last number that is not 0?",
        {"tiny": "At 6.1e-5", "small": "At about 6e-8", "far": "At about 1e-45, as in float32"},
    ),
    Question(
        "7.c",
        "prediction",
        "From scale 2**16 to 2**32 the largest of these gradients come closer to the upper end. What happens to the "
        "rounding error of all of them together, as a share of their length?",
        {
            "flat": "It stays about the same",
            "smaller": "It gets smaller and smaller",
            "larger": "It gets larger and larger",
        },
    ),
    Question(
        "7.d",
        "prediction",
        "After the first step that was taken, how many of the remaining steps are skipped in this healthy run?",
        {"none": "None: the scale has been found", "one": "One or two", "dozen": "About a dozen"},
    ),
    Question(
        "7.e",
        "prediction",
        "Two optimizers, one scaler. The gradients of the first overflow, those of the second do not. What happens?",
        {
            "both": "Both steps are skipped, and the scale is halved",
            "apart": "The first step is skipped, the second is taken, and the scale stays",
            "shared": "The first step is skipped, the second is taken, and the scale is halved",
        },
    ),
    Question(
        "7.f",
        "prediction",
        "How many of the nine wrong ways does PyTorch refuse with an error?",
        {"one": "None, or one", "some": "Four or five", "all": "All nine: the scaler knows its order"},
    ),
    Question(
        "7.g",
        "prediction",
        "The second of six windows overflows. The loop clears only after a step that was taken. How many of the six windows "
        "end in a step?",
        {
            "one": "One: the first",
            "some": "Two to four: it recovers after a while",
            "five": "Five: all but the second",
        },
    ),
    Question(
        "7.h",
        "prediction",
        "The whole loop stands under one `autocast`. What does the loss of the page do in six steps?",
        {
            "falls": "It falls, as with `autocast` around each forward pass",
            "constant": "It stays where it is",
            "less": "It falls, but less: the steps are rounded to 16 bits",
        },
    ),
    Question(
        "7.i",
        "prediction",
        "One of 2410 entries of the gradient is NaN. After clipping and one step, how many of the 2410 weights are NaN?",
        {"one": "1: that weight", "layer": "2048: the weights of its layer", "all": "2410: all of them"},
    ),
    Question(
        "7.j",
        "prediction",
        "`.grad` in bfloat16 gets 5000 gradients of exactly 1. What does it hold?",
        {"early": "256", "late": "2048", "right": "5000, or close to it"},
    ),
    Question(
        "7.k",
        "prediction",
        "The losses stay undivided, and the bfloat16 sum of 1000 gradients is divided once, at the end. Is that a cure?",
        {
            "cures": "Yes: larger numbers lose less",
            "same": "No: it is off by about as much",
            "worse": "No: it is off by much more, since larger numbers have larger gaps",
        },
    ),
    Question(
        "7.l",
        "prediction",
        "Only the backward of the first three micro-batches stands inside `no_sync()`, the forward before it. How many "
        "all-reduces are there in the window of four?",
        {"four": "Four", "one": "One", "none": "None"},
    ),
    Question(
        "7.m",
        "prediction",
        "FSDP2 with `set_requires_gradient_sync(False)`: what is in `.grad` after three of four micro-batches?",
        {
            "sum": "The sum of this rank's three gradients, as under `no_sync()`",
            "none": "None",
            "mean": "The mean of all ranks' three gradients",
        },
    ),
    Question(
        "7.n",
        "prediction",
        "Rank 0 has ten tokens, rank 1 has two, and each sends its mean loss backward. How much does a token of rank 1 count, "
        "against one of rank 0?",
        {"one": "As much", "two": "Twice as much", "five": "Five times as much"},
    ),
    Question(
        "7.o",
        "prediction",
        "Five parts of this run's checkpoint are left out, one at a time. In how many cases does it end with other weights?",
        {
            "one": "In one or two",
            "three": "In three or four",
            "five": "In all five",
        },
    ),
    Question(
        "7.p",
        "prediction",
        "A process writes a new checkpoint over the old one, to the same name, and is killed in the middle. What can be read?",
        {
            "old": "The old checkpoint: the new one was not finished",
            "nothing": "Neither of them",
            "half": "The first half of the new one",
        },
    ),
    Question(
        "7.q",
        "prediction",
        "In a float32 run where no number is subnormal or infinite, a scaler with scale 65536 leaves the same weights as no "
        "scaler, bit for bit.",
        TRUE_OR_FALSE,
    ),
    Question(
        "7.r",
        "prediction",
        "Under `autocast` in float16, the logits of this model are float16, and their cross-entropy is float32.",
        TRUE_OR_FALSE,
    ),
    Question(
        "7.s",
        "prediction",
        "A model made float16 by `model.half()` can take a step with a scaler, and SGD with its default settings.",
        TRUE_OR_FALSE,
    ),
    Question(
        "7.t",
        "prediction",
        "In a bfloat16 model, a smaller learning rate makes all weights move, only less far.",
        TRUE_OR_FALSE,
    ),
    Question(
        "7.u",
        "prediction",
        "A scaler may skip a step although the loss is finite, before and after it is scaled.",
        TRUE_OR_FALSE,
    ),
    Question(
        "7.v",
        "prediction",
        "What `state_dict()` of a DDP model gives can be loaded into the plain model as it is.",
        TRUE_OR_FALSE,
    ),
    Question(
        "7.q1",
        "quiz",
        "A log of a healthy run in float16 shows that the scale is halved now and then, and doubled in between. What do you do?",
        {
            "nothing": "Nothing: that is how the scaler finds the upper end",
            "lower": "Begin with a smaller scale",
            "clip": "Clip harder, since gradients explode",
        },
        answer="nothing",
        because={
            "nothing": "after a growth interval it doubles; where that is too much, it overflows, skips one step and goes back.",
            "lower": "the scaler would double it until it is there again.",
            "clip": "clipping comes after the overflow, and the loss scale is what made the number large.",
        },
    ),
    Question(
        "7.q2",
        "quiz",
        "A loop clips before `unscale_`, to a length of 1, at scale 65536. Which repair changes as little as possible, and is right?",
        {
            "limit": "Clip to 65536 in place of 1",
            "unscale": "Put `scaler.unscale_(optimizer)` before the clipping",
            "after": "Move the clipping behind `scaler.step(optimizer)`",
        },
        answer="unscale",
        because={
            "limit": "the scale does not stay at 65536.",
            "unscale": "then the clipping sees the gradients in their own size, and step() does not unscale them again.",
            "after": "the step has used the gradients by then (lesson 4).",
        },
    ),
    Question(
        "7.q3",
        "quiz",
        "In a run on two ranks, rank 1 has no counted token in this window. Its code leaves the window out with `continue`, "
        "and goes on with the next one. What happens on rank 0?",
        {
            "alone": "It steps on its own gradient",
            "half": "Its gradient is halved by the average",
            "error": "Its backward raises an error",
            "mixed": "Its gradient is averaged with that of another window of rank 1",
        },
        answer="mixed",
        because={
            "alone": "its backward asks for the average over both ranks, and that takes both.",
            "half": "the average is formed when both ranks have sent something, and rank 1 sends none for this window.",
            "error": "nobody sees it yet: rank 1 joins with its next all-reduce.",
            "mixed": "all-reduces are matched by their order, not by their window. The next cell shows it.",
        },
    ),
)
