"""What any exercise may meet, in words: results of another kind, side effects, exceptions, limits.

These are names of effects, and true wherever they are seen: a cause is named only where the facts decide.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from course_utils.exercise import Raised
from gradient_ledger.catalogue.entry import Misconception

not_a_function = Misconception(
    "not-a-function",
    "What was checked is neither a function nor a class",
    "check() received something that cannot be called.",
    'Pass the function or class itself, without parentheses: check("1.1", numerical_gradient).',
)
endless_loop = Misconception(
    "endless-loop",
    "The code did not finish",
    "The check stopped the call at its time limit; the kernel is fine.",
    "Look for a loop whose end is never reached: what changes in each round, and when is it enough?",
)

# ------------------------------------------------------------------ the result

returned_nothing = Misconception(
    "returned-nothing",
    "None stands where an answer should",
    "There is nothing to compare at that place.",
    "Is there a return statement, and does each path through the function reach it?",
)
wrong_type = Misconception(
    "wrong-type",
    "The result has another type",
    "The function returned another kind of object than the exercise asks for.",
    "Compare its type, shown below, with the one named in the exercise's text.",
)
huge_result = Misconception(
    "huge-result",
    "The result is far too large",
    "The function returned more data than any right answer to this exercise holds.",
    "Look for a loop that appends too often, or a broadcast that made a matrix out of a vector.",
)
missing_entries = Misconception(
    "missing-entries",
    "Entries are missing",
    "The result lacks entries that the exercise asks for.",
    "Compare the names or the number of entries shown below with those you return.",
)
extra_entries = Misconception(
    "extra-entries",
    "There are entries too many",
    "The result has entries that the exercise does not ask for.",
    "Compare the names or the number of entries shown below with those you return.",
)
wrong_shape = Misconception(
    "wrong-shape",
    "A result has another shape",
    "What was given is laid out in another shape than the exercise asks for.",
    "Write the shape beside each line of your code, and see where it stops being the one you want.",
)
not_a_number = Misconception(
    "not-a-number",
    "The result has NaN or infinite entries",
    "A NaN or an infinity came out where every right answer is finite.",
    "Look for a division by zero, a logarithm of zero, an overflow, or a value that was never cleared.",
)
wrong_dtype = Misconception(
    "wrong-dtype",
    "The result has another dtype",
    "What came back is not in the dtype of the inputs: precision is lost, or later code stops with a dtype error.",
    "Look for a tensor made without dtype= (torch.zeros, torch.tensor) or with a fixed one, and make it from an input, "
    "with torch.zeros_like(x) or x.new_zeros(...).",
)
wrong_device = Misconception(
    "wrong-device",
    "The result is on another device",
    "What came back does not lie on the device of the inputs, so the caller could not combine the two.",
    "Build new tensors with torch.zeros_like(x) or device=x.device.",
)
carries_a_graph = Misconception(
    "carries-a-graph",
    "The result carries a graph",
    "A returned tensor has a grad_fn: whoever keeps it keeps its graph, and all that is saved there, alive.",
    "Return detached tensors, or compute where nothing is recorded. create_graph=True gives gradients a graph too.",
    "A tensor made out of one that requires gradients remembers how it was made.",
)

BY_KIND = {
    "none": returned_nothing,
    "type": wrong_type,
    "large": huge_result,
    "missing": missing_entries,
    "extra": extra_entries,
    "shape": wrong_shape,
    "not finite": not_a_number,
    "dtype": wrong_dtype,
    "device": wrong_device,
    "graph": carries_a_graph,
}
"""By the kind of a difference. A difference in value alone has no name of its own."""

# ------------------------------------------------------------------ side effects

changed_mode = Misconception(
    "changed-mode",
    "Train or eval mode was changed",
    "The model came back in another mode than it was passed in: dropout and batch norm now behave differently.",
    "Leave model.train() and model.eval() to the caller, or put the mode back.",
)
changed_global = Misconception(
    "changed-global",
    "A global switch was left changed",
    "A switch such as torch.set_grad_enabled or the default dtype was left in another position.",
    "Leave it alone, use a context manager where there is one, for example `with torch.no_grad():`, or put the old "
    "value back at the end.",
)
changed_requires_grad = Misconception(
    "changed-requires-grad",
    "requires_grad was switched on or off",
    "A tensor of the caller's now requires gradients when it did not, or the other way round.",
    "Leave requires_grad of the caller's tensors alone, or put back what each of them had; where you need a leaf, make "
    "one of your own.",
)
changed_parameters = Misconception(
    "changed-parameters",
    "Parameters of the model were changed",
    "The weights are not as they were, and this exercise is not about updating them.",
    "Look for a step, for an in-place operation on a parameter, or for a module that was converted: float(), half() "
    "and to() change its own parameters.",
)
changed_input = Misconception(
    "changed-input",
    "An input was changed",
    "What the caller handed over, a tensor or a list, does not hold, bit for bit, what it was passed in with.",
    "Look for what writes in place (+=, x[i] = ..., del, pop, names ending in _, a function that writes its result "
    "into what it is handed) on an argument or on something that shares its memory (a view, detach(), numpy()), and "
    "work on a clone or a copy instead.",
)
changed_buffers = Misconception(
    "changed-buffers",
    "Buffers of the model were changed",
    "Running statistics or other buffers of the model are not as they were.",
    "Look for a forward pass in train mode, or for a module that was converted: float(), bfloat16(), to() and their "
    "like change its buffers, too. Work on a copy of the model if you need one.",
)
changed_grad = Misconception(
    "changed-grad",
    "A .grad was changed",
    "A .grad that belongs to the caller is not as it was before the call.",
    "Keep what you compute in names of your own, and leave .grad as you found it, or put the old values back.",
)
changed_rng = Misconception(
    "changed-rng",
    "The random state was changed",
    "Random numbers were drawn or a seed was set: whoever calls this function gets other random numbers afterwards.",
    "Leave seeds and random draws out of the function. Where the exercise asks for chance, use a torch.Generator of "
    "your own.",
)

BY_CHANGE = {
    "mode": changed_mode,
    "global": changed_global,
    "requires-grad": changed_requires_grad,
    "parameters": changed_parameters,
    "input": changed_input,
    "buffers": changed_buffers,
    "grad": changed_grad,
    "rng": changed_rng,
}
"""By the aspect that was changed; what brings others about stands first."""

# ------------------------------------------------------------------ exceptions

no_graph = Misconception(
    "no-graph",
    "Backward was asked of a value without a graph",
    "The value that went backward, or the tensor asked for its gradient, was not made from tensors that require "
    "gradients: detached, made inside no_grad, rebuilt from numbers, or never asked to require them.",
    "Follow the value back: does the tensor you differentiate with respect to require gradients, is recording on where "
    "the value is computed, and does every step from it to the loss stay in tensors?",
)
graph_freed = Misconception(
    "graph-freed",
    "One graph was walked backward twice",
    "The first backward freed what it had saved, and the second one found nothing.",
    "Which values do both backwards go through, and where do they come from? Where one of the two is not meant to go "
    "back through them, give that one their detach(). Else run the forward pass again before the next backward, or say "
    "retain_graph=True when one graph is really meant to serve twice.",
)
in_place_on_a_leaf = Misconception(
    "in-place-on-a-leaf",
    "A leaf that requires gradients was updated in place",
    "The update itself would be recorded in the graph, and a leaf's value is where the graph begins: PyTorch refuses.",
    "Update inside `with torch.no_grad():`. Does the tensor have to require gradients at all?",
    "An update is not part of the function that is differentiated.",
)
overwrote_saved_value = Misconception(
    "overwrote-saved-value",
    "A value that backward needs was overwritten",
    "The forward pass saved it for backward, and an in-place operation changed it before backward came.",
    "Find the in-place operation (+=, names ending in _, x[i] = ..., or a step of an optimizer between forward and "
    "backward) and let it make a new tensor, or come later.",
)
backward_needs_scalar = Misconception(
    "backward-needs-scalar",
    "Backward was asked of a value with many entries",
    "Only a single number has one gradient; a tensor of several must be reduced first.",
    "Reduce it to a scalar, or pass backward the weight of each entry.",
)
gradient_is_no_tensor = Misconception(
    "gradient-is-no-tensor",
    "backward was handed a gradient that is no tensor",
    "What stands in the brackets of backward() is the gradient to begin with: a tensor shaped like the loss, or None.",
    "Multiply the loss by the number before backward, or make a tensor of the number.",
)
not_in_the_graph = Misconception(
    "not-in-the-graph",
    "A gradient was asked for a tensor that the loss does not use",
    "No path of the graph leads from that tensor to the value that is differentiated, so autograd has no answer.",
    "If that may happen, say allow_unused=True and decide what None should become; if it may not, look for the step "
    "that cuts or replaces the tensor: a detach, a copy, a new tensor of the same values.",
)
no_requires_grad = Misconception(
    "no-requires-grad",
    "A gradient was asked for a tensor that does not require one",
    "One of the tensors handed to autograd has requires_grad=False, so it takes part in no graph.",
    "Which of the tensors you ask for are frozen, detached or plain data? Leave them out, or make a leaf of them.",
)
shapes_do_not_fit = Misconception(
    "shapes-do-not-fit",
    "Two shapes do not fit together",
    "An operation met tensors whose shapes do not belong together; the message says more.",
    "Write the shape beside each tensor of that line. Is a transpose missing, did one lose a dimension, or does an "
    "operand come from another station?",
)
number_of_dimensions = Misconception(
    "number-of-dimensions",
    "A function met a tensor of another number of dimensions than it takes",
    "Some functions take matrices alone, or vectors alone: mm two matrices, mv a matrix and a vector, t() at most two "
    "dimensions.",
    "Write the number of dimensions beside each tensor of that line. @ and torch.matmul take vectors, too.",
)
mixed_dtypes = Misconception(
    "mixed-dtypes",
    "Two dtypes met",
    "Two tensors of different dtypes met, in an operation or in an assignment to .grad. Many operations refuse the "
    "mixture, and so does .grad.",
    "Which of the two is not what you meant? torch.zeros and torch.ones give float32 where no dtype= is said; "
    "x.new_zeros(...) and torch.zeros_like(x) take that of an input. Where a model was converted, its inputs must be, "
    "too.",
)
grad_is_none = Misconception(
    "grad-is-none",
    ".grad was None",
    "The code used .grad where no backward had put a tensor: none had run yet, it was cleared, the parameter is "
    "frozen, or the loss does not use it.",
    "Ask `if p.grad is not None` first, and decide what should happen where there is nothing.",
)
grad_of_a_non_leaf = Misconception(
    "grad-of-a-non-leaf",
    ".grad was read of a tensor that is no leaf",
    "That tensor was made by an operation, and backward fills .grad of leaves alone: there it stays None, however "
    "often backward runs. PyTorch warned of it.",
    "Make the tensor a leaf of its own (detach().clone().requires_grad_()), or ask torch.autograd.grad for its "
    "gradient.",
    "x = x - lr * x.grad makes a new tensor with a history; so does clone() of one that requires gradients.",
)
truth_of_a_tensor = Misconception(
    "truth-of-a-tensor",
    "A tensor was asked whether it is true",
    "`if tensor:`, `tensor or ...` and `tensor in list` ask for the truth of its entries, which several entries do not "
    "have, and a single zero is false.",
    "Ask what you mean: `is None`, `.any()`, `.all()`, or torch.equal.",
)
undefined_name = Misconception(
    "undefined-name",
    "A name is not defined",
    "The function uses a name that is neither an argument nor defined in the notebook so far.",
    "Is it spelled as where it was made, was its cell run, and is its import there?",
)
another_signature = Misconception(
    "another-signature",
    "The call did not fit the function's arguments",
    "A function was called with other arguments than it takes.",
    "Which function was called, yours or a library's? Compare names and number of the arguments with the ones that it "
    "takes.",
)
index_out_of_range = Misconception(
    "index-out-of-range",
    "An index lies outside",
    "A position was asked for that the tensor or list does not have.",
    "How many entries are there in this case? A 0-d tensor has no dimension to index, a batch of one has one row.",
)
item_of_many = Misconception(
    "item-of-many",
    "One number was asked of a tensor that holds several",
    "item(), float(tensor) and their like take a tensor with a single entry; this one has more.",
    "Stay in tensors, or say which entry, or reduce first. The cases have inputs of several entries.",
)
operands_do_not_combine = Misconception(
    "operands-do-not-combine",
    "Two objects that do not combine met in one operation",
    "An operator such as + or * stands between objects of two kinds that know nothing of each other; the message names "
    "both.",
    "Is one of them a function that was not called, a list that should be a tensor, or None?",
)
gives_up = Misconception(
    "gives-up",
    "The code gives up on this case by itself",
    "A raise of your own ended the call, on a case that the exercise asks for, too.",
    "Look at the condition before that raise: what is special about this case, and what should come back for it?",
)
no_such_attribute = Misconception(
    "no-such-attribute",
    "An object has no attribute of that name",
    "What stands before a dot has nothing of the name behind it; the message names both. Either it is an object of "
    "another kind than you think, or there is no such name.",
    "Look the name up, or print type() of what stands before the dot: is it the same on every case?",
)
no_such_key = Misconception(
    "no-such-key",
    "A name is not among the keys",
    "A dict was asked for a name that it does not hold.",
    "Print the keys that there are. Do the names come from the same place as those that were put in?",
)
too_deep = Misconception(
    "too-deep",
    "The function calls itself too often",
    "Each call waits for the next one, and Python stops them at about a thousand.",
    "Is the end of the recursion ever reached? A loop needs no such end.",
)
length_of_a_0_d_tensor = Misconception(
    "length-of-a-0-d-tensor",
    "The length of a 0-d tensor was asked",
    "A 0-d tensor has no first dimension, so it has no length and no rows.",
    "numel() counts the entries of a tensor of any shape; shape compares whole shapes.",
)
unpacked_wrongly = Misconception(
    "unpacked-wrongly",
    "Something was taken apart that does not come apart so",
    "A line takes a shape, a tensor or a tuple apart into parts that it does not have: their number depends on the "
    "input.",
    "Print what is taken apart on this case. Does the line hold for any shape that the exercise allows?",
)
view_of_non_contiguous = Misconception(
    "view-of-non-contiguous",
    "view() met a non-contiguous tensor",
    "A transposed tensor's entries lie in memory in another order, so view() cannot lay them in a row without copying.",
    "Use reshape, and keep what it gives: where it has to copy, what is written there does not reach the original. At "
    "the end reshape gives it the old shape again.",
)

_DTYPES = (
    "gradient with dtype|same dtype|out tensor to have dtype|expected scalar type|Found dtype .* but expected"
    "|data of a different type|dtype .*does not match"
)
_MESSAGES: tuple[tuple[str, str, Misconception], ...] = (
    ("RuntimeError", "does not require grad and does not have a grad_fn", no_graph),
    ("RuntimeError", "backward through the graph a second time", graph_freed),
    ("RuntimeError", "grad can be implicitly created only for scalar outputs", backward_needs_scalar),
    ("RuntimeError", "leaf Variable that requires grad", in_place_on_a_leaf),
    ("RuntimeError", "modified by an inplace operation", overwrote_saved_value),
    ("RuntimeError", "appears to not have been used in the graph", not_in_the_graph),
    ("RuntimeError", "One of the differentiated Tensors does not require grad|can't retain_grad", no_requires_grad),
    (
        "RuntimeError",
        _DTYPES,
        mixed_dtypes,
    ),
    ("RuntimeError", "view size is not compatible", view_of_non_contiguous),
    ("RuntimeError", "Boolean value of Tensor", truth_of_a_tensor),
    (
        "RuntimeError|ValueError|IndexError",
        "shapes cannot be multiplied|size mismatch|must match the (existing )?size|invalid for input of size"
        "|inconsistent tensor size|could not be broadcast|mismatch in its core dimension|inconsistent shapes"
        "|must have same (size|shape)|equal size|doesn't match the broadcast shape|Dimension out of range"
        "|Mismatch in shape|assign a gradient of size|should have"
        "|expected .*D.* (input|tensor)|at least 1D"
        "|number of sizes provided|Sizes of tensors must match|cannot be concatenated|Expected .* dimensions"
        "|shape .* is invalid",
        shapes_do_not_fit,
    ),
    ("RuntimeError", "must be a (matrix|vector)|expects a tensor with|1D tensors expected", number_of_dimensions),
    ("ValueError|TypeError", "values to unpack|cannot unpack|over a 0-d tensor", unpacked_wrongly),
    ("RuntimeError|ValueError", "cannot be converted to Scalar|only one element tensors can be", item_of_many),
    ("TypeError", r"len\(\) of a 0-d tensor", length_of_a_0_d_tensor),
    ("KeyError", "", no_such_key),
    ("RecursionError", "", too_deep),
    ("IndexError", "", index_out_of_range),
    ("NameError|UnboundLocalError", "", undefined_name),
    ("TypeError", r"(missing|takes) .* (argument|positional)|unexpected keyword", another_signature),
)
_RAISE = re.compile(r"\s*(if .*:\s*)?raise\b|\s*assert\b")
_NO_GRADIENT = re.compile(r"'(float|int)' object is not iterable|gradients can be either Tensors or None")
_GRAD_IN_LINE = re.compile(r"\bgrads?\b")
_TENSOR_METHOD_OF_NONE = re.compile(
    r"'NoneType' object has no attribute '(abs|add_|clone|copy_|data|detach_?|div_|mul_|norm|zero_)'"
)
NON_LEAF = "The .grad attribute of a Tensor that is not a leaf"
"""How PyTorch's own warning begins."""


def of_exception(raised: Raised, warned: Sequence[str]) -> tuple[Misconception, ...]:
    """What an exception of PyTorch's or Python's means, where its message tells; empty where it does not."""
    for kind, pattern, words in _MESSAGES:
        if re.fullmatch(kind, raised.type) and re.search(pattern, raised.message):
            return (words,)
    if _is_about_a_missing_grad(raised):
        return (grad_of_a_non_leaf if any(NON_LEAF in text for text in warned) else grad_is_none,)
    if _RAISE.match(_last_line(raised)):
        return (gives_up,)
    if raised.type == "TypeError" and _NO_GRADIENT.search(raised.message) and "backward(" in _last_line(raised):
        return (gradient_is_no_tensor,)
    if raised.type == "TypeError" and "unsupported operand type" in raised.message:
        none_of_a_grad = "NoneType" in raised.message and any(NON_LEAF in text for text in warned)
        return (grad_of_a_non_leaf if none_of_a_grad else operands_do_not_combine,)
    if raised.type == "AttributeError" and "NoneType" not in raised.message:
        return (no_such_attribute,)
    return ()


def _is_about_a_missing_grad(raised: Raised) -> bool:
    """Whether the None in the message is a `.grad`: most are a return that was forgotten."""
    if raised.type not in ("AttributeError", "TypeError") or "NoneType" not in raised.message:
        return False
    return bool(_TENSOR_METHOD_OF_NONE.search(raised.message) or _GRAD_IN_LINE.search(_last_line(raised)))


def _last_line(raised: Raised) -> str:
    return raised.frames[-1].source if raised.frames else ""
