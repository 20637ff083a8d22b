"""Predictions and quizzes of lesson 6."""

from __future__ import annotations

from course_utils.lessons.declare import Question
from course_utils.lessons.measured import TRUE_OR_FALSE

QUESTIONS: tuple[Question, ...] = (
    Question(
        "6.a",
        "prediction",
        "After 5 epochs, which of the two models reads more of the test digits?",
        {
            "same": "Neither, to a point: the one is the other in pieces",
            "popular": "That of the popular loop, by more than 10 points",
            "large": "That of batches of 200",
        },
    ),
    Question(
        "6.b",
        "prediction",
        "16 pieces in place of one: what becomes of the peak of a step with AdamW?",
        {
            "sixteenth": "About a sixteenth, like the activations",
            "third": "About a third",
            "same": "About what it was: 16 pieces are as many bytes as one batch",
        },
    ),
    Question(
        "6.c",
        "prediction",
        "SGD, SGD that always clips, AdamW: which of them hide the missing division, so that the weights after 40 steps "
        "are the same to a thousandth of their way?",
        {
            "none": "None: the gradient is four times as long in all of them",
            "adamw": "AdamW",
            "both": "AdamW and clipped SGD",
        },
    ),
    Question(
        "6.d",
        "prediction",
        "Pieces of 10, 8, 4 and 2, each mean loss divided by 4: how much does a sample of the last piece weigh, compared "
        "with one of the first?",
        {
            "same": "As much: that is what the division is for",
            "two": "Twice as much",
            "five": "Five times as much",
            "less": "A fifth",
        },
    ),
    Question(
        "6.e",
        "prediction",
        "8 micro-batches of one text, each mean loss divided by 8, after 100 steps of training: how far is the gradient "
        "from that of the 8 texts in one batch, in the median of 20 windows?",
        {
            "rounding": "Rounding: each micro-batch has one text",
            "little": "About 3 % of its length",
            "third": "About 30 % of its length",
            "all": "About its whole length",
        },
    ),
    Question(
        "6.f",
        "prediction",
        "How good is the model that was trained on the mean of means, on texts that were held out?",
        {
            "worse": "Worse on headings and on long texts",
            "headings": "Better on headings, worse on long texts",
            "better": "Better on both: short texts are not drowned by long ones",
        },
    ),
    Question(
        "6.g",
        "prediction",
        "The losses are summed over the shifted labels and divided by the number of all labels that are not -100. What "
        "becomes of the gradient?",
        {
            "short": "It points the right way and is too short",
            "same": "It is that of one big batch: -100 marks all that does not count",
            "direction": "It points another way: short texts are hit harder",
        },
    ),
    Question(
        "6.h",
        "prediction",
        "Ten batches an epoch, windows of four, `if (i + 1) % 4 == 0`, no clearing but after steps. How many backward "
        "passes does the third step use?",
        {"two": "2", "four": "4", "six": "6"},
    ),
    Question(
        "6.i",
        "prediction",
        "The cosine over 10 updates is advanced after each micro-batch, four times an update. What is the learning rate in "
        "the tenth update, the last? (It should be 0.02.)",
        {
            "zero": "0: the cosine has long come to its end, and stays there",
            "same": "0.02: the scheduler knows that there are 10 updates",
            "up": "Nearly 1",
        },
    ),
    Question(
        "6.j",
        "prediction",
        "Four gradients at right angles, each 0.25 long, and a clipping to 0.1 after each backward. Which micro-batch counts "
        "most in the step?",
        {
            "first": "The first: it was there before the limit was reached",
            "same": "All the same: each is clipped to the same length",
            "last": "The last",
        },
    ),
    Question(
        "6.k",
        "prediction",
        "With BatchNorm and equal pieces, each loss divided by their number: how does the error of the gradient depend on "
        "the number of pieces?",
        {
            "rounding": "It is rounding for all of them: the pieces are equal",
            "shrinks": "It shrinks with the number of pieces: more statistics are taken",
            "grows": "It grows with the number of pieces",
        },
    ),
    Question(
        "6.l",
        "prediction",
        "An encoder after 30 steps of training, 4 micro-batches of 8 pairs: how far is the gradient of the contrastive loss "
        "from that of 32 pairs?",
        {
            "same": "Rounding",
            "near": "About 2 % of its length",
            "third": "About 30 % of its length",
            "all": "By its whole length or more",
        },
    ),
    Question(
        "6.m",
        "prediction",
        "5 steps on batches of 1500, or 150 steps on batches of 50, each with its best learning rate, three starts: which "
        "reads more of the test digits on average?",
        {
            "large": "5 steps, by more than 5 points: its gradients are those of all the data",
            "same": "They differ by less than 5 points",
            "small": "150 steps, by more than 5 points: 5 steps are too few",
        },
    ),
    Question(
        "6.n",
        "prediction",
        "The step stands inside the backward, and 8 micro-batches go through in 2 windows of 4. How many steps does each "
        "parameter take?",
        {
            "one": "1: the hook runs when all is accumulated",
            "two": "2: one a window",
            "eight": "8: one a backward",
        },
    ),
    Question(
        "6.o",
        "prediction",
        "A hook that counts steps in the last backward of each window of 4. Without accumulation, a quarter of a set of "
        "gradients was alive at most. How much is it now?",
        {
            "quarter": "A quarter of a set, as before",
            "half": "About half a set",
            "all": "A whole set, as without the hook",
        },
    ),
    Question(
        "6.p",
        "prediction",
        "Five wrong loops: not divided, uneven pieces divided by 4, clipped after each backward, scheduler after each "
        "backward, BatchNorm. In how many does a ledger find something, without a reference?",
        {
            "none": "In none: the backwards and steps are in the right order",
            "three": "In 3",
            "five": "In all 5",
        },
    ),
    Question(
        "6.q",
        "prediction",
        "Cleared before each window, a step of SGD with momentum depends on this window's micro-batches only.",
        TRUE_OR_FALSE,
    ),
    Question(
        "6.r",
        "prediction",
        "With `zero_grad()` at the top of the loop over micro-batches, windows of 4, losses divided by 4 and plain SGD, the "
        "training is the plain one over every fourth micro-batch, with a fourth of the learning rate.",
        TRUE_OR_FALSE,
    ),
    Question(
        "6.s",
        "prediction",
        "An accumulating loop that forgets to clear after its step runs without an error and without a warning.",
        TRUE_OR_FALSE,
    ),
    Question(
        "6.t",
        "prediction",
        "A new model and AdamW with its usual weight decay: after one `step()` before the first backward, the loop ends at "
        "other weights.",
        TRUE_OR_FALSE,
    ),
    Question(
        "6.u",
        "prediction",
        "If each of two models clears its own parameters after its own step, windows of different lengths do not get in "
        "each other's way.",
        TRUE_OR_FALSE,
    ),
    Question(
        "6.q1",
        "quiz",
        "Someone divides `.grad` by 4 after every backward of a window of four. What does the first micro-batch weigh in the "
        "step?",
        {
            "quarter": "1/4, like the others",
            "sixteenth": "1/16",
            "more": "1/256",
            "nothing": "Nothing: it is divided until it is gone",
        },
        answer="more",
        because={
            "quarter": "it would, if only what has just arrived were divided. But the sum so far is divided again each time.",
            "sixteenth": "that is what the third one weighs. The first one is there for all four divisions.",
            "more": "it is divided by 4 four times. The second weighs 1/64, the third 1/16, the last 1/4.",
            "nothing": "it is small, and not nothing: 1/4 to the power of 4.",
        },
    ),
    Question(
        "6.q2",
        "quiz",
        "A run with 4 texts a micro-batch and 2 micro-batches gives another loss curve than one with 1 text and 8 "
        "micro-batches, the same texts in each step. Which single change makes them equal, up to rounding?",
        {
            "weights": "Weight each micro-batch's mean loss by its number of texts",
            "tokens": "Weight each micro-batch's mean loss by its share of the window's shifted labels that count",
            "padding": "Fill up all micro-batches to the same length",
            "adam": "Use AdamW: it does not see factors",
        },
        answer="tokens",
        because={
            "weights": "the texts of a micro-batch are equal in number here. What differs is their length.",
            "tokens": "then every character counts the same, however the texts are grouped.",
            "padding": "the places that were filled up do not count, so the means stay what they are.",
            "adam": "it hides a factor that all parts share. Here the parts have different factors.",
        },
    ),
    Question(
        "6.q3",
        "quiz",
        "63 batches, windows of 8, each loss divided by 8. The loop steps after the last batch of an epoch, too. What is "
        "wrong with that step?",
        {
            "nothing": "Nothing: no batch is lost, and none is carried over",
            "short": "Its gradient is 7/8 of the mean of its batches",
            "one": "Its gradient is 1/8 of the mean of its batches",
            "old": "It uses gradients of the window before",
        },
        answer="short",
        because={
            "nothing": "no batch is lost. But look at what they were divided by.",
            "short": "seven losses, each divided by 8. Divided by 7 it would be their mean.",
            "one": "so it would be if one batch were left over. Here seven are.",
            "old": "the step before has used those, and the loop clears after each step.",
        },
    ),
)
