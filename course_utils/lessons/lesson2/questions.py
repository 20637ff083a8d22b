"""Predictions and quizzes of lesson 2."""

from __future__ import annotations

from course_utils.lessons.declare import Question
from course_utils.lessons.measured import TRUE_OR_FALSE

QUESTIONS: tuple[Question, ...] = (
    Question(
        "2.a",
        "prediction",
        "The training loop without `optimizer.zero_grad()`: how well does it read the test digits, compared with the "
        "loop that has the line?",
        {
            "worse": "Worse after one pass, and worse after ten",
            "turns": "Better after one pass, worse after ten",
            "better": "Better after one pass, and better after ten",
            "same": "Worse after one pass, as well or better after ten",
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
        "One `backward()`, then three times `step()`. How far does `w` move in each step?",
        {
            "used up": "In the first step only: it uses the gradient up",
            "same": "By the same amount in each of the three",
            "shrinking": "Less and less: the slope shrinks on the way to the minimum",
        },
    ),
    Question(
        "2.d",
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
        "2.e",
        "prediction",
        "How does the peak of the bytes kept for backward compare, the second program (each) to the first (at the end)?",
        {
            "same": "The same: the gradients are the same size",
            "half": "About one half",
            "quarter": "About one quarter",
            "more": "More: every backward call adds its own bytes",
        },
    ),
    Question(
        "2.f",
        "prediction",
        "You ask `torch.autograd.grad` for the gradients of `u` and of `v` for a loss of `u + v`. Both are 2. Then you "
        "add 10 to the gradient of `u`, in place. What is the gradient of `v`?",
        {
            "apart": "2: it is another tensor",
            "both": "12: it changes too",
            "raises": "There is none: adding in place raises",
        },
    ),
    Question(
        "2.g",
        "prediction",
        "The loss is the mean over a batch of 8 samples. You compute the gradient of each sample alone and add the 8 "
        "rows. By which factor is this sum longer than the batch gradient?",
        {
            "one": "1: the batch gradient is the sum",
            "n": "8: the batch gradient is the mean",
            "inverse": "1/8: the sum is shorter",
        },
    ),
    Question(
        "2.h",
        "prediction",
        "You clear the gradients of SGD with momentum, once by filling them with zeros and once by setting them to "
        "None. Then you call `step()`. In which case does the weight move?",
        {
            "still": "In neither: there is no gradient",
            "zeros": "With zeros, but not with None",
            "none": "With None, but not with zeros",
            "both": "In both: the momentum is still there",
        },
    ),
    Question(
        "2.i",
        "prediction",
        "Optimizers A and B, both with learning rate 0.5, were given the same parameter. Gradients 1 and 3 arrived, "
        "meant for A and for B. `A.zero_grad()` runs, then `B.step()`. How far does B move the parameter?",
        {
            "both": "By 2: half of 1 + 3",
            "own": "By 1.5: half of its own 3",
            "nothing": "Not at all",
        },
    ),
    Question(
        "2.j",
        "prediction",
        "The line with `=` runs for `y = x * x` at `x = 3`. What is in `x.grad` afterwards?",
        {
            "one": "3",
            "both": "6, the derivative of x squared",
            "square": "9",
        },
    ),
    Question(
        "2.k",
        "prediction",
        "No optimizer of `torch.optim` clears the gradients that it has used.",
        TRUE_OR_FALSE,
    ),
    Question(
        "2.l",
        "prediction",
        "In bfloat16, a thousand gradients of 1 add up to 1000 in `.grad`, give or take one percent.",
        TRUE_OR_FALSE,
    ),
    Question(
        "2.m",
        "prediction",
        "For a model with BatchNorm, too, k equal pieces, each mean loss weighted with 1/k, give the gradient of the whole "
        "batch.",
        TRUE_OR_FALSE,
    ),
    Question(
        "2.n",
        "prediction",
        "Adam can step uphill, along the fresh gradient, right after a clearing.",
        TRUE_OR_FALSE,
    ),
    Question(
        "2.o",
        "prediction",
        "The flag `retain_graph=True` makes the rows wrong.",
        TRUE_OR_FALSE,
    ),
    Question(
        "2.p",
        "prediction",
        "The attack works against the training, so in `.grad` the two cancel in part: the training step gets shorter.",
        TRUE_OR_FALSE,
    ),
    Question(
        "2.q1",
        "quiz",
        "From a cleared `.grad`, three backward calls bring 1, 2 and 3. After each you write `seen.append(w.grad)`. What "
        "does `seen` show at the end?",
        {
            "brought": "1, 2, 3",
            "sums": "1, 3, 6",
            "last": "3, 3, 3",
            "live": "6, 6, 6",
        },
        answer="live",
        because={
            "brought": "nothing was cleared in between, and .grad holds sums, not single gradients.",
            "sums": "it would, had you appended w.grad.clone(). A name is no copy.",
            "last": "nothing is replaced: each gradient is added to what the tensor holds.",
            "live": "the list holds one tensor three times, and each later backward adds into it in place.",
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
        "Suppose PyTorch cleared `.grad` at the start of every backward. Which of these would train differently from "
        "today?",
        {
            "uses": "A network that uses one weight twice in a forward pass",
            "losses": "Two losses, with a backward call after each, before one step",
            "descent": "Plain training, one batch and one backward per step",
        },
        answer="losses",
        because={
            "uses": "the uses are added inside one backward call, before anything is written to .grad.",
            "losses": "the second call would wipe out the gradient of the first. You would have to add up copies yourself.",
            "descent": "it would train as it does today, and you would not even have to clear.",
        },
    ),
    Question(
        "2.q4",
        "quiz",
        "A training loop runs forward and backward on each of 4 micro-batches, then one `step()` of SGD with momentum. How "
        "often has each of these changed: a `.grad`, BatchNorm's running mean, a momentum buffer?",
        {
            "once": "4 times, once, once",
            "four": "4 times, 4 times, once",
            "all": "4 times each",
            "step": "Once each",
        },
        answer="four",
        because={
            "once": "the running mean belongs to the module, not to the optimizer: every forward pass in training mode "
            "moves it.",
            "four": "each backward adds to .grad, each forward pass moves the running mean, and the one step moves the "
            "momentum buffer.",
            "all": "only a step moves the momentum buffer, and there was one.",
            "step": "each backward adds to .grad at once, and each forward pass moves the running mean.",
        },
    ),
    Question(
        "2.q5",
        "quiz",
        "Two of four micro-batches have gone backward. You save `model.state_dict()` and `optimizer.state_dict()`, load "
        "both in a new process, run the other two micro-batches there, and step. Which gradients does this step use?",
        {
            "four": "Those of all four",
            "last": "Those of the last two",
            "first": "Those of the first two",
        },
        answer="last",
        because={
            "four": "neither file holds a gradient, so the first two are lost.",
            "last": "neither file holds a gradient: the new process begins with .grad None, and nothing tells you.",
            "first": "they stayed in the old process. What went backward in the new one is all there is.",
        },
    ),
    Question(
        "2.q6",
        "quiz",
        "The picture of the loop without its clearing: what does the third step use?",
        {
            "one": "The gradient of the third batch",
            "fresh": "The gradients of three batches, none of which a step has used before",
            "used": "The gradients of three batches, two of which a step has used before",
        },
        answer="used",
        because={
            "one": "the stack before the third step is three blocks high.",
            "fresh": "two of the three blocks are hatched: a step has used them.",
            "used": "the first batch's gradient is now used for the third time, the second batch's for the second.",
        },
    ),
)
