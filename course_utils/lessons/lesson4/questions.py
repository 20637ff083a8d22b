"""Predictions and quizzes of lesson 4."""

from __future__ import annotations

from course_utils.lessons.declare import Question
from course_utils.lessons.measured import TRUE_OR_FALSE

QUESTIONS: tuple[Question, ...] = (
    Question(
        "4.a",
        "prediction",
        "The loop of the diagram, against the usual loop, after three passes over the digits: what has become of it?",
        {
            "as well": "It reads digits about as well: all lines are there",
            "piles up": "Gradients pile up: its weights move, and it reads worse",
            "nothing": "Not one weight has moved",
        },
    ),
    Question(
        "4.b",
        "prediction",
        "The loop of the diagram clears with zeros now, and SGD has a weight decay of 0.1. What do its weights do?",
        {
            "still": "Nothing, as before",
            "shrink": "All of them shrink by the same factor, and nothing is learned",
            "learn": "It learns now: there is a gradient for the step to find",
        },
    ),
    Question(
        "4.c",
        "prediction",
        "Cleared at the start, after the forward, or at the end: how far apart are the weights after 40 batches?",
        {
            "apart": "Visibly apart for some optimizers",
            "rounding": "Apart by rounding errors",
            "bits": "Equal, bit for bit, for all of them",
        },
    ),
    Question(
        "4.d",
        "prediction",
        "Of the 24 orders of zero, forward, backward and step, how many are right from the first iteration to the last?",
        {"one": "1", "three": "3", "four": "4", "twelve": "12"},
    ),
    Question(
        "4.e",
        "prediction",
        "The loop clears at the end, and the line that logs the length of the gradient comes after that. What does it log?",
        {
            "same": "The same lengths as in a loop that clears at the start",
            "zeros": "Zeros",
            "none": "None: there is no gradient",
        },
    ),
    Question(
        "4.f",
        "prediction",
        "The validation has `model.eval()` and forgets `torch.no_grad()`. It calls no backward. What happens to `.grad`?",
        {
            "adds": "The gradient of the validation loss is added to it",
            "nothing": "Nothing",
        },
    ),
    Question(
        "4.g",
        "prediction",
        "After each epoch a validation calls `loss.backward()` and no step. In which loop does that change the training?",
        {
            "neither": "In neither: without a step, nothing can happen",
            "start": "In the one that clears at the start of the iteration",
            "end": "In the one that clears at the end of the iteration",
            "both": "In both",
        },
    ),
    Question(
        "4.h",
        "prediction",
        "The clipping stands before the backward, after the backward, or after the step. Where does it leave the weights "
        "as without any clipping?",
        {
            "before": "Before the backward alone",
            "after": "After the step alone",
            "both": "Before the backward and after the step, bit for bit",
            "neither": "In none of the three",
        },
    ),
    Question(
        "4.i",
        "prediction",
        "One page of 60 is fifty times too bright. After the two passes, how does the loop with clipping at 1 compare with "
        "the loop without?",
        {
            "saved": "It reads many more digits",
            "same": "It reads about as many: one step of 60 cannot matter much",
            "worse": "It reads fewer: clipping slows all steps",
        },
    ),
    Question(
        "4.j",
        "prediction",
        "The optimizer clears and steps the head alone, the clipping looks at all parameters of the model. How many of the "
        "12 steps are shortened?",
        {
            "none": "None: the limit is above all gradients",
            "one": "One or two",
            "most": "More than half",
        },
    ),
    Question(
        "4.k",
        "prediction",
        "What does `d_loss.backward()` leave in the `.grad` of the generator, compared with the generator's own gradient?",
        {
            "nothing": "Nothing: it is the discriminator's loss",
            "along": "Something that points the same way",
            "against": "Something that points the opposite way",
        },
    ),
    Question(
        "4.l",
        "prediction",
        "Loop 1 is right. Which of the others end with other weights?",
        {
            "none": "None of them",
            "one": "Loop 4",
            "two": "Loops 4 and 5",
            "three": "Loops 2, 4 and 5",
        },
    ),
    Question(
        "4.m",
        "prediction",
        "How often does LBFGS call the closure in one `step(closure)` here?",
        {
            "once": "Once, like SGD",
            "four": "Four times: before each inner step",
            "five": "Five times: at the start, and after each inner step",
        },
    ),
    Question(
        "4.n",
        "prediction",
        "LBFGS, with `optimizer.zero_grad()` inside the closure, or right before `step(closure)`: what do the losses do?",
        {
            "either": "They fall in the same way: each step starts clean",
            "slower": "They fall in both cases, and more slowly with the clearing outside",
            "inside": "They fall with the clearing inside, and rise with it outside",
        },
    ),
    Question(
        "4.o",
        "prediction",
        "Where your own code never calls `zero_grad()`, training goes wrong.",
        TRUE_OR_FALSE,
    ),
    Question(
        "4.p",
        "prediction",
        "A loop must clear before each batch, also when it takes one step for two batches.",
        TRUE_OR_FALSE,
    ),
    Question(
        "4.q",
        "prediction",
        "Clipping, gradient hooks and backward functions of your own need no other clearing than the ordinary one.",
        TRUE_OR_FALSE,
    ),
    Question(
        "4.r",
        "prediction",
        "In mixed precision, `zero_grad()` changes something about the loss scale.",
        TRUE_OR_FALSE,
    ),
    Question(
        "4.s",
        "prediction",
        "For a new model, a `zero_grad()` before the first batch changes nothing.",
        TRUE_OR_FALSE,
    ),
    Question(
        "4.t",
        "prediction",
        "A step and a clearing after every fourth batch, in place of every batch, make the machines talk less.",
        TRUE_OR_FALSE,
    ),
    Question(
        "4.q1",
        "quiz",
        "A loop is: forward, backward, zero, step. Its author reads that gradients must not accumulate, and adds a second "
        "`zero_grad()` at the start. What changes?",
        {
            "cured": "It trains now: it clears in a legal place",
            "nothing": "Nothing: no weight moves, as before",
            "half": "Every second gradient is used now",
        },
        answer="nothing",
        because={
            "cured": "the clearing in the legal place does no harm, and no good. The other one still throws the gradient away.",
            "nothing": "between backward and step there is still a clearing. It has to go, not to be joined by another.",
            "half": "each backward is followed by the wrong clearing before a step comes.",
        },
    ),
    Question(
        "4.q2",
        "quiz",
        "You want the length of the gradient on held-out data after each epoch, and leave the training as it is. Which is "
        "safe in a loop that clears at the end?",
        {
            "backward": "loss.backward() under model.eval(), and then read .grad",
            "no_grad": "The forward pass and loss.backward(), both under torch.no_grad()",
            "grad": "torch.autograd.grad(loss, list(model.parameters()))",
        },
        answer="grad",
        because={
            "backward": "eval mode keeps no gradient out. What it leaves there joins the first step of the next epoch.",
            "no_grad": "under no_grad the loss has no graph, so backward raises an error.",
            "grad": "it returns the gradients and writes into no parameter's .grad.",
        },
    ),
    Question(
        "4.q3",
        "quiz",
        "In a GAN, someone writes `D(G(noise).detach())` in the generator's half, to keep its backward out of D. What "
        "happens to the generator?",
        {
            "faster": "It trains as before, and faster",
            "nothing": "It learns nothing from this loss: its gradient never arrives",
            "wrong": "It is trained on the discriminator's loss",
        },
        answer="nothing",
        because={
            "faster": "the way from the loss to the generator leads through D and through the fakes. It is cut there.",
            "nothing": "detach cuts the graph between the fakes and G, and this loss has no other way to G.",
            "wrong": "the loss is still the generator's own, but no gradient of it arrives in the generator.",
        },
    ),
)
