"""Predictions and quizzes of lesson 5."""

from __future__ import annotations

from course_utils.lessons.declare import Question
from course_utils.lessons.measured import TRUE_OR_FALSE

QUESTIONS: tuple[Question, ...] = (
    Question(
        "5.a",
        "prediction",
        "In how many of the three pairs does the loop that never clears end with the lower training loss?",
        {
            "0": "In none: the loss shows the mistake each time",
            "1": "In one",
            "2": "In two",
            "3": "In all three: training losses never show it",
        },
    ),
    Question(
        "5.b",
        "prediction",
        "In the loop that never clears: how many times as long as own is used, in step 150?",
        {
            "same": "About as long: an optimizer step uses the gradient up",
            "few": "About 3 times",
            "ten": "About 10 times",
            "thirty": "About 30 times",
        },
    ),
    Question(
        "5.c",
        "prediction",
        "Each step finds zeros in `.grad`, and weight decay goes on. What does the loss do from the first epoch to the "
        "fifth?",
        {
            "flat": "It hardly changes: nothing is learned",
            "half": "It falls to less than half",
            "rises": "It rises: the weights drift",
        },
    ),
    Question(
        "5.d",
        "prediction",
        "Cleared once an epoch of 30 batches: how many times as long as own is used, in the last step of an epoch? (The "
        "mean over the six epochs.)",
        {
            "same": "About as long",
            "three": "About 3 times",
            "fifteen": "About 15 times",
            "thirty": "About 30 times: it is the sum of 30 gradients",
        },
    ),
    Question(
        "5.e",
        "prediction",
        "The loop with the maps runs with learning rate 0.1. The healthy loop without maps ends with the same weights, to "
        "the last bit, if its learning rate is …",
        {
            "half": "0.05",
            "same": "0.1: the maps change nothing",
            "double": "0.2",
            "none": "None of these: the directions differ",
        },
    ),
    Question(
        "5.f",
        "prediction",
        "Which layers differ from their start after the training?",
        {
            "both": "The body and the head",
            "body": "The body alone",
            "head": "The head alone",
            "none": "Neither",
        },
    ),
    Question(
        "5.g",
        "prediction",
        "How many times as long as own is used, in the first step of this loop?",
        {
            "same": "As long",
            "half": "About half as long",
            "mean": "About 4.5 times",
            "eight": "About 8 times",
        },
    ),
    Question(
        "5.h",
        "prediction",
        "How far does the loop that never clears get in ten steps, compared with the one that clears?",
        {
            "same": "As far: the gradient is 1 in every step",
            "double": "Twice as far",
            "five": "Five and a half times as far",
            "ten": "Ten times as far",
        },
    ),
    Question(
        "5.i",
        "prediction",
        "Never cleared, against cleared with `momentum=1.0`: the largest difference of a weight after 200 steps?",
        {
            "zero": "0, exactly",
            "rounding": "Not 0, but below a billionth: the order of the additions differs",
            "visible": "Larger: momentum is something else",
        },
    ),
    Question(
        "5.j",
        "prediction",
        "On the bowl, from 1, learning rate 0.03, never cleared: where is the weight after 120 steps and more?",
        {
            "settles": "Close to 0: the minimum stops it",
            "swings": "It swings between about 1 and -1",
            "flies": "Far outside: the swings grow",
        },
    ),
    Question(
        "5.k",
        "prediction",
        "The body is frozen and not cleared any more. In how many of the five steps that follow does it move?",
        {
            "none": "In none: it requires no gradient",
            "one": "In one: then the old gradient is used up",
            "less": "In all five, less far each time: the old gradient fades",
            "alike": "In all five, as far each time",
        },
    ),
    Question(
        "5.l",
        "prediction",
        "With learning rate 0.01, the loop without clearing gets ahead of the loop that clears in three steps, whichever of "
        "20 seeds it starts from.",
        TRUE_OR_FALSE,
    ),
    Question(
        "5.m",
        "prediction",
        "On digits, never cleared, SGD with learning rate 0.1, five epochs: used grows from each step to the next, as it does "
        "with 0.003.",
        TRUE_OR_FALSE,
    ),
    Question(
        "5.n",
        "prediction",
        "Afterwards the network, in evaluation mode, has the test loss that it had before.",
        TRUE_OR_FALSE,
    ),
    Question(
        "5.o",
        "prediction",
        "Adam divides by the size of the gradients. So it does less harm to Adam here than to SGD when nobody clears, judged by "
        "the loss of the last step.",
        TRUE_OR_FALSE,
    ),
    Question(
        "5.p",
        "prediction",
        "Over three epochs of 10 batches, some steps of this loop use more than four micro-batches.",
        TRUE_OR_FALSE,
    ),
    Question(
        "5.q",
        "prediction",
        "A loop in which the ledger, given nothing but the loop, finds no error computes the gradients that were meant.",
        TRUE_OR_FALSE,
    ),
    Question(
        "5.q1",
        "quiz",
        "A loop is meant to be plain, with one backward a step. Used is twice as long as own in each of the first 20 "
        "steps. Which explanation fits?",
        {
            "never": "Nothing is ever cleared",
            "late": "The loop clears between backward and step",
            "two": "Something else sends the same loss backward once more before each step",
        },
        answer="two",
        because={
            "never": "then used equals own in the first step.",
            "late": "then used is 0.",
            "two": "the same gradient arrives twice in every step. So the factor is 2 from the first step on.",
        },
    ),
    Question(
        "5.q2",
        "quiz",
        "The lines of a trace take turns: `clear backward step`, then `backward step`, and so on. Which sentence is true?",
        {
            "right": "It is a right loop with windows of two backwards",
            "own": "Each step uses its own batch alone",
            "old": "Every second step uses its own batch and the one before, which a step has used already",
        },
        answer="old",
        because={
            "right": "in a right window of two no step stands between the two backwards.",
            "own": "no clear stands between the first line's step and the second line's backward, which adds.",
            "old": "nothing clears after the first line's step. It is cleared now and then: `zeroed-once-per-epoch`.",
        },
    ),
    Question(
        "5.q3",
        "quiz",
        "SGD with momentum 0.9 and no weight decay has trained a right loop for a while. From now on "
        "`zero_grad(set_to_none=False)` runs between backward and step. What do the weights do?",
        {
            "stop": "They stop at once: the steps find zeros",
            "coast": "They go on in the old direction, less far with each step",
            "learn": "They go on learning, as before",
        },
        answer="coast",
        because={
            "stop": "zeros are added to the momentum buffer, and the step goes along the buffer.",
            "coast": "each step adds zeros to 0.9 times the momentum buffer, and goes along what is left of it.",
            "learn": "no new gradient reaches a step.",
        },
    ),
    Question(
        "5.q4",
        "quiz",
        "In the loop as found, somebody writes `model.zero_grad()` in place of `optimizer.zero_grad()`, and changes nothing "
        "else. What becomes of the new head?",
        {
            "learns": "It learns: its gradients are right now",
            "still": "Its `.grad` holds the gradient of one batch, and it still does not move",
            "sum": "Nothing changes: its gradients pile up",
        },
        answer="still",
        because={
            "learns": "a step moves what its optimizer holds, whatever lies in `.grad` of the rest.",
            "still": "the model clears what it has, the new head too. No optimizer holds it, so no step uses it.",
            "sum": "`model.zero_grad()` clears all parameters of the model as it is now, with the new head.",
        },
    ),
    Question(
        "5.q5",
        "quiz",
        "You mend a loop that never cleared its gradients. Its optimizer is plain SGD. The loss now falls more slowly than before. What do you do "
        "first?",
        {
            "back": "Put the old loop back: the curve decides",
            "rate": "Keep the mended loop, and look for its learning rate anew",
            "clear": "Clear less often, say every second step",
        },
        answer="rate",
        because={
            "back": "the old loop was SGD with momentum 1, which never settled on the bowl of section 9.",
            "rate": "the learning rate was chosen for steps that were much longer. Case one did this.",
            "clear": "then every second step uses a gradient that has been used before.",
        },
    ),
)
