"""Mistakes any exercise can meet: types, shapes, side effects, limits."""

from __future__ import annotations

from course_utils.misconceptions.entry import Misconception

MISCONCEPTIONS = (
    Misconception(
        "returned-nothing",
        "The function returns nothing",
        "The call came back with None, so there is no answer to compare.",
        "End the function with a return statement that gives the result the exercise names.",
    ),
    Misconception(
        "not-a-function",
        "What was checked is not a function",
        "check() received something that cannot be called.",
        'Pass the function itself, without parentheses: check("1.1", numerical_gradient).',
    ),
    Misconception(
        "wrong-type",
        "The result has another type",
        "The function returned another kind of object than the exercise asks for.",
        "Compare the type above with the one named in the exercise's goal.",
    ),
    Misconception(
        "wrong-shape",
        "The result has another shape",
        "The numbers may be fine, but they are laid out in another shape than the exercise asks for.",
        "Print the shapes of the inputs and of your result, and follow where the extra or missing dimension appears.",
    ),
    Misconception(
        "wrong-dtype",
        "The result has another dtype",
        "The result does not keep the dtype of the inputs: precision is lost, or later code stops with a dtype error.",
        "Build new tensors with torch.zeros_like(x) or x.new_zeros(...), and avoid fixed dtypes.",
    ),
    Misconception(
        "wrong-device",
        "The result is on another device",
        "The result does not live on the device of the inputs, so the caller could not combine the two.",
        "Build new tensors with torch.zeros_like(x) or device=x.device.",
    ),
    Misconception(
        "missing-entries",
        "Entries are missing",
        "The result lacks entries that the exercise asks for.",
        "Compare the names or the length above with the ones you return.",
    ),
    Misconception(
        "extra-entries",
        "There are entries too many",
        "The result has entries that the exercise does not ask for.",
        "Compare the names or the length above with the ones you return.",
    ),
    Misconception(
        "huge-result",
        "The result is far too large",
        "The function returned more data than any right answer to this exercise holds.",
        "Look for a loop that appends too often, or a broadcast that made a matrix out of a vector.",
    ),
    Misconception(
        "endless-loop",
        "The code did not finish",
        "The check stopped the call at its time limit; the kernel is fine.",
        "Look for a loop whose end is never reached: what changes in each round, and when is it enough?",
    ),
    Misconception(
        "not-a-number",
        "The result has NaN or infinite entries",
        "A NaN or an infinity came out where every right answer is finite.",
        "Look for a division by zero, a logarithm of zero or an overflow; print the first value that is not finite.",
    ),
    Misconception(
        "changed-input",
        "An input was changed",
        "The caller's own tensor no longer holds the values it was passed in with: later code works with changed data. "
        "Moving an entry there and back does not restore it: rounding changes its last bits.",
        "Look for in-place operations (+=, x[i] = ..., names ending in _) on an argument, and work on x.clone() instead.",
    ),
    Misconception(
        "changed-grad",
        "A .grad was changed",
        "Gradients that belong to the caller are not as they were before the call.",
        "Compute without writing .grad (torch.autograd.grad returns gradients instead), or put the old values back.",
    ),
    Misconception(
        "changed-requires-grad",
        "requires_grad was switched on or off",
        "A tensor of the caller's now requires gradients when it did not, or the other way round.",
        "Work on a detached copy: x.detach().clone().requires_grad_().",
    ),
    Misconception(
        "changed-mode",
        "Train or eval mode was changed",
        "The model came back in another mode than it was passed in: dropout and batch norm now behave differently.",
        "Leave model.train() and model.eval() to the caller, or put the mode back.",
    ),
    Misconception(
        "changed-buffers",
        "Buffers of the model were changed",
        "Running statistics or other buffers of the model are not as they were.",
        "Find the extra forward pass in training mode; work on a copy if you need one.",
    ),
    Misconception(
        "changed-parameters",
        "Parameters of the model were changed",
        "The weights are not as they were, and this exercise is not about updating them.",
        "Look for a step, or an in-place operation on a parameter.",
    ),
    Misconception(
        "changed-rng",
        "The random state was changed",
        "Random numbers were drawn or the seed was set: whoever calls this function gets other random numbers afterwards.",
        "Leave torch.manual_seed and random draws out of the function, or use a torch.Generator of your own.",
    ),
    Misconception(
        "changed-global",
        "A global switch of torch was left changed",
        "A switch such as torch.set_grad_enabled or the default dtype was left in another position.",
        "Use the context-manager form, for example `with torch.no_grad():`, which puts it back.",
    ),
    Misconception(
        "no-graph",
        "Backward was asked of a value without a graph",
        "The value has no record of how it was made: it came from a tensor that needs no gradient, from no_grad, "
        "from .item(), .detach() or a new torch.tensor(...).",
        "Follow the value back to the parameter and find the line where the record is cut.",
        taught="lesson 1, the graph",
    ),
    Misconception(
        "graph-freed",
        "One graph was walked backward twice",
        "The first backward freed what it had saved, and the second one found nothing.",
        "Run the forward pass again before the next backward, or say retain_graph=True when one graph is really meant "
        "to serve twice.",
        taught="lesson 1, the graph",
    ),
    Misconception(
        "in-place-on-a-leaf",
        "A leaf that requires gradients was updated in place",
        "The update itself would be recorded in the graph, and a leaf's value is where the graph begins: PyTorch refuses.",
        "Update inside `with torch.no_grad():`, or make a new tensor out of the detached values.",
        "An update is not part of the function that is differentiated.",
        "1.4",
    ),
    Misconception(
        "shapes-do-not-fit",
        "Two shapes do not fit together",
        "An operation met two tensors whose sizes do not belong together; the message above names them.",
        "Write the shape beside each tensor of that line. Is a transpose missing, or does an operand come from another "
        "station?",
    ),
    Misconception(
        "mixed-dtypes",
        "Two dtypes met in one operation",
        "One operand is float32 and the other float64. Many operations refuse the mixture.",
        "Look for a tensor made without dtype=: torch.zeros and torch.ones give float32. Make it from an input, with "
        "x.new_zeros(...) or torch.zeros_like(x).",
    ),
    Misconception(
        "grad-is-none",
        ".grad was None",
        "Code used .grad before any backward had put a tensor there; a parameter the loss does not use keeps None.",
        "Ask `if p.grad is not None` first, and decide what an unused parameter should give.",
        taught="lesson 1, where .grad comes from",
    ),
    Misconception(
        "backward-needs-scalar",
        "Backward was asked of a value with many entries",
        "Only a single number has one gradient; a tensor of losses must be reduced first.",
        "Reduce it to a scalar, or pass backward the weight of each entry.",
        taught="lesson 1, the graph",
    ),
)
