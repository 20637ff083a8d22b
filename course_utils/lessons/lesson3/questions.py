"""Predictions and quizzes of lesson 3."""

from __future__ import annotations

from course_utils.lessons.declare import Question
from course_utils.lessons.measured import TRUE_OR_FALSE

QUESTIONS: tuple[Question, ...] = (
    Question(
        "3.a",
        "prediction",
        "No gradient arrives at the second branch for twenty passes. How well does it read upside-down digits at the "
        "end, compared with after pass 5?",
        {
            "same": "As well as before, in both loops",
            "none": "Much worse in the loop that sets None, as well as before in the other",
            "zeros": "Much worse in the loop that fills with zeros, as well as before in the other",
            "both": "Much worse in both loops",
        },
    ),
    Question(
        "3.b",
        "prediction",
        "You clear a new model, which has no gradients yet, in each of the four ways. Which of them raises an exception?",
        {
            "none": "None of them",
            "zero": "`p.grad.zero_()` alone",
            "two": "`p.grad.zero_()` and one of the two `zero_grad()`, or both",
            "all": "All four",
        },
    ),
    Question(
        "3.c",
        "prediction",
        "You kept a gradient under a name, and the loop cleared. What is in `kept`?",
        {
            "zeros": "Zeros, both times",
            "old": "The old numbers, both times",
            "differ": "Zeros after `p.grad.zero_()`, the old numbers after `p.grad = None`",
            "other": "The old numbers after `p.grad.zero_()`, and None after `p.grad = None`",
        },
    ),
    Question(
        "3.d",
        "prediction",
        "The norm that the clipping reports, over six steps: what happens to it?",
        {
            "fall": "It falls in both loops",
            "rise": "It rises in both loops",
            "optimizer": "It ends higher than it began with `optimizer.zero_grad()`, lower with `model.zero_grad()`",
            "model": "It ends higher than it began with `model.zero_grad()`, lower with `optimizer.zero_grad()`",
        },
    ),
    Question(
        "3.e",
        "prediction",
        "A weight was added to the outer optimizer later. After `backward()`, `outer.step()` and `outer.zero_grad()`: "
        "what has become of it?",
        {
            "both": "It was moved, and its gradient was cleared",
            "cleared": "It was not moved, and its gradient was cleared",
            "moved": "It was moved, and its gradient was not cleared",
            "neither": "It was not moved, and its gradient was not cleared",
        },
    ),
    Question(
        "3.f",
        "prediction",
        "The `.grad` of the idle weight is None, and no optimizer has weight decay. How many of the optimizers of `torch.optim` move it?",
        {
            "0": "None of them: there is no gradient",
            "1": "One",
            "some": "Several: those that remember past gradients",
            "all": "All of them",
        },
    ),
    Question(
        "3.g",
        "prediction",
        "Five steps after `requires_grad_(False)`, with momentum, and cleared with zeros. In how many of them does the "
        "layer move?",
        {
            "none": "In none: it is frozen",
            "one": "In the first: the gradient from before is still there",
            "five": "In all five",
        },
    ),
    Question(
        "3.h",
        "prediction",
        "P is the number of bytes of all gradients. How many bytes more does a step read and write when it clears with "
        "zeros, compared with None?",
        {
            "1": "P",
            "2": "2 P",
            "3": "3 P",
            "4": "4 P",
        },
    ),
    Question(
        "3.i",
        "prediction",
        "Which of the three habits still hold the old gradients in memory while the forward pass runs?",
        {
            "none": "None of them",
            "zeros": "Zeros after the step, and no other",
            "two": "Zeros after the step, and None after the forward",
            "all": "All three",
        },
    ),
    Question(
        "3.j",
        "prediction",
        "A window of four micro-batches: by how much does None lower the peak of the memory, compared with zeros?",
        {
            "all": "By P, as with one batch",
            "quarter": "By a quarter of P",
            "none": "Not at all",
        },
    ),
    Question(
        "3.k",
        "prediction",
        "At the peak of a step, a loop that sets None never needs more memory than the same loop with zeros.",
        TRUE_OR_FALSE,
    ),
    Question(
        "3.l",
        "prediction",
        "With this lesson's small model, a step that sets None asks for no more memory, added up over the step, than one "
        "that fills with zeros.",
        TRUE_OR_FALSE,
    ),
    Question(
        "3.m",
        "prediction",
        "The second batch uses rows 3 and 4. With None, the second step of Adam moves rows 3 and 4 alone.",
        TRUE_OR_FALSE,
    ),
    Question(
        "3.n",
        "prediction",
        "With `set_to_none=False`, AdamW shrinks the idle weight that was in the loss once, and leaves the one that never was.",
        TRUE_OR_FALSE,
    ),
    Question(
        "3.q1",
        "quiz",
        "A loop does `history.append(w.grad)` after each backward, steps, and clears with "
        "`zero_grad(set_to_none=False)`. What does `history` hold after three batches?",
        {
            "three": "The gradients of the three batches",
            "zeros": "One tensor, three times; zeros once the loop has cleared",
            "sum": "The sum of the three, three times",
            "none": "None, three times",
        },
        answer="zeros",
        because={
            "three": "that is what it would hold with set_to_none=True, where each backward brings a new tensor.",
            "zeros": "the tensor stays the same all the time. Each backward adds into it, each clearing wipes it.",
            "sum": "there is one tensor indeed, but the clearings between the batches wiped it.",
            "none": "the list holds what .grad was when it was appended, and that was a tensor.",
        },
    ),
    Question(
        "3.q2",
        "quiz",
        "Optimizer A holds the encoder of a model, B holds its decoder. Each batch runs `A.zero_grad()`, one backward of "
        "the whole model's loss, `A.step()`, `B.step()`. What does B step with at the third batch?",
        {
            "third": "The gradient of the third batch",
            "sum": "The sum of the gradients of three batches",
            "nothing": "Nothing: A has cleared the decoder's gradients",
        },
        answer="sum",
        because={
            "third": "somebody would have had to clear the decoder's gradients. A does not hold them.",
            "sum": "backward fills the decoder's gradients each time, and nobody clears them.",
            "nothing": "A walks over its own list, and the decoder is not in it.",
        },
    ),
    Question(
        "3.q3",
        "quiz",
        "A model is trained with plain SGD: no momentum, no weight decay. A branch is idle. Does it matter for its "
        "weights whether the loop clears with None or with zeros?",
        {
            "no": "No: the branch stays where it is, either way",
            "none": "Yes: with None it moves",
            "zeros": "Yes: with zeros it moves",
        },
        answer="no",
        because={
            "no": "plain SGD subtracts the learning rate times 0, or passes over None.",
            "none": "SGD passes over a parameter whose gradient is None.",
            "zeros": "plain SGD adds nothing to the gradient, and 0 times the learning rate is 0. Momentum or weight decay "
            "would move it.",
        },
    ),
    Question(
        "3.q4",
        "quiz",
        "Eight micro-batches go backward after one clearing. With zeros, `zero_` writes P once and each of the 8 arriving "
        "gradients is added: P + 8 * 3 P = 25 P. How many bytes are moved with None?",
        {
            "0": "0",
            "21": "21 P",
            "24": "24 P",
        },
        answer="21",
        because={
            "0": "the first gradient is taken over. The other seven find a gradient there, and are added to it.",
            "21": "the first is taken over, and seven are added at 3 P each. What is saved is 4 P for all eight, not for "
            "each.",
            "24": "that would be eight additions. The first gradient finds None, and nothing is added.",
        },
    ),
    Question(
        "3.q5",
        "quiz",
        "Somebody changes `zero_grad(set_to_none=False)` to `zero_grad()`, and the peak of the memory stays the same. "
        "Which of these would not explain it?",
        {
            "window": "Each step accumulates several micro-batches",
            "held": "A list for a plot holds the gradients of the last step",
            "clears": "The loop clears after the step, before the next forward",
            "step": "The batch is small, and the optimizer is Adam",
        },
        answer="clears",
        because={
            "window": "it would: from the second micro-batch on the gradients must be alive.",
            "held": "it would: None takes the tensors from the parameters, and the list keeps them.",
            "clears": "that is where None saves most: no gradient lives during the forward.",
            "step": "it would, where the peak lies inside the step: there the gradients must be alive.",
        },
    ),
)
