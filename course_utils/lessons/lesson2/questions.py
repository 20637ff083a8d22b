"""Predictions and quizzes of lesson 2."""

from __future__ import annotations

from course_utils.lessons.declare import Question

QUESTIONS: tuple[Question, ...] = (
    Question(
        "2.a",
        "prediction",
        "Three backward calls on the same batch, nothing cleared. How does the norm of the gradient develop, compared "
        "with the norm after the first call?",
        {
            "replace": "1, 1, 1: each call replaces what was there",
            "add": "1, 2, 3: each call adds",
            "double": "1, 2, 4: each call doubles",
            "error": "The second call raises an error, because .grad is not empty",
        },
    ),
    Question(
        "2.b",
        "prediction",
        "After the second backward call, what is `w.grad`?",
        {
            "new": "A new tensor that holds the sum; the first one still holds the old values",
            "in place": "The same tensor as after the first call, with the sum in it",
            "overwritten": "The same tensor, with the new gradient alone in it",
        },
    ),
    Question(
        "2.c",
        "prediction",
        "One weight is used twice: the loss is `(2 * w).sum() + (3 * w).sum()`. How often does one `backward()` write "
        "into `w.grad`?",
        {
            "twice": "Twice: first 2, then 3 is added",
            "once, sum": "Once, with 5: the uses are added before",
            "once, last": "Once, with 3: the last use counts",
        },
    ),
    Question(
        "2.d",
        "prediction",
        "Four micro-batches. One program adds the four losses and calls backward once; the other calls backward after "
        "each loss. How does the peak of the bytes kept for backward compare, second program to first?",
        {
            "same": "The same: the gradients are the same size",
            "half": "About one half",
            "quarter": "About one quarter",
            "more": "More: every backward call adds its own bytes",
        },
    ),
    Question(
        "2.e",
        "prediction",
        "`w.grad` holds 5. Then you call `torch.autograd.grad(3 * w, w)`. What is in `w.grad` afterwards?",
        {
            "added": "8: it adds, like backward",
            "untouched": "5: it does not touch .grad",
            "replaced": "3: it replaces",
            "cleared": "None: it takes the gradient out",
        },
    ),
    Question(
        "2.f",
        "prediction",
        "The loss is the mean over a batch of 8 samples. You compute the gradient of each sample alone and add the 8 "
        "rows. By which factor is this sum longer than the batch gradient?",
        {
            "1": "1: the batch gradient is the sum",
            "8": "8: the batch gradient is the mean",
            "1/8": "1/8: the sum is shorter",
            "other": "No fixed factor: the directions differ",
        },
    ),
    Question(
        "2.g",
        "prediction",
        "SGD with momentum has taken three steps. You fill every gradient with zeros and call `step()` once more. Do the "
        "parameters move?",
        {
            "still": "No: zero gradient, zero update",
            "move": "Yes: the momentum buffer was not cleared",
        },
    ),
    Question(
        "2.h",
        "prediction",
        "Optimizers A and B were both given the same parameter. Its `.grad` holds 4. `A.zero_grad()` runs, then "
        "`B.step()`. How far does B move the parameter?",
        {
            "full": "By its learning rate times 4: B has its own gradient",
            "nothing": "Not at all: there is one gradient, and A cleared it",
            "error": "B.step() raises an error, because the gradient is missing",
        },
    ),
    Question(
        "2.q1",
        "quiz",
        "After the first backward you write `kept = w.grad`. Then a second backward runs. What is in `kept`?",
        {
            "first": "The first gradient",
            "sum": "The sum of both",
            "second": "The second gradient",
            "none": "None",
        },
        answer="sum",
        because={
            "first": "it would be, had you written w.grad.clone(). Without a copy, kept is another name for the one tensor.",
            "sum": "kept and w.grad are one tensor, and the second backward adds into it in place.",
            "second": "nothing is replaced. The second gradient is added to what the tensor holds.",
            "none": "clearing with None takes the tensor away from w, but nothing here cleared it.",
        },
    ),
    Question(
        "2.q2",
        "quiz",
        "A chain without tanh: h = w * h, three times, from h = x with x = 1 and w = 2. What is the contribution of each "
        "single use of w to the gradient of the last h?",
        {
            "1": "1 each",
            "4": "4 each",
            "12": "12 each",
            "2, 4, 8": "2, 4 and 8",
        },
        answer="4",
        because={
            "1": "nudging one w is multiplied by the other two weights on the way to the end.",
            "4": "nudging one w by a little changes the product by the other two weights, 2 * 2. The three uses add up to "
            "12, the derivative of w**3 at 2.",
            "12": "12 is the sum of the three contributions, the derivative of w**3 at 2.",
            "2, 4, 8": "these are the values of h along the chain. A contribution is a slope.",
        },
    ),
    Question(
        "2.q3",
        "quiz",
        "Suppose PyTorch cleared `.grad` at the start of every backward. Which of these could you no longer write as it "
        "is written today?",
        {
            "uses": "A network that uses one weight twice in a forward pass",
            "losses": "Two losses, with a backward call after each, before one step",
            "descent": "Plain training, one batch and one backward per step",
        },
        answer="losses",
        because={
            "uses": "the uses are added inside one backward call, before anything is written to .grad.",
            "losses": "the second call would wipe out the gradient of the first. You would have to add up copies yourself.",
            "descent": "that would work, and you would not even have to clear.",
        },
    ),
    Question(
        "2.q4",
        "quiz",
        "A training loop runs one forward and backward on each of 4 micro-batches, then one `step()`. How often have the "
        "running statistics of its BatchNorm layers been updated?",
        {
            "once": "Once, by the step",
            "four": "Four times, by the forward passes",
            "backward": "Four times, by the backward calls",
        },
        answer="four",
        because={
            "once": "no optimizer knows them. They are buffers of the module, not parameters.",
            "four": "each forward pass in training mode updates them, whether a backward follows or not.",
            "backward": "the number is right, the cause is not. A forward pass without any backward updates them too.",
        },
    ),
    Question(
        "2.q5",
        "quiz",
        "In the middle of accumulating you save `model.state_dict()`, and later load it into a new model. Which "
        "gradients does the new model hold?",
        {
            "same": "The ones that were there when you saved",
            "none": "None",
            "zero": "Zeros",
        },
        answer="none",
        because={
            "same": "a state_dict holds parameters and buffers of modules. A gradient is neither.",
            "none": "gradients are not in the state_dict, and a parameter without a backward call has .grad None.",
            "zero": "nobody made a tensor for them. Zeros and None are different things, as lesson 3 shows.",
        },
    ),
)
