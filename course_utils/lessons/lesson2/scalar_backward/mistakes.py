"""What is often done instead in exercise 2.6."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable
from functools import partial

from course_utils.checks.mistakes import mistake
from course_utils.lessons.lesson2.scalars import Edge, Value

Operands = Callable[[Value], Iterable[Edge]]


def _sorted(output: Value) -> list[Value]:
    """Every value that output was made of, users before operands."""
    found: list[Value] = []

    def visit(value: Value) -> None:
        if value not in found:
            for parent, _ in value.parents:
                visit(parent)
            found.append(value)

    visit(output)
    return found[::-1]


def _own(value: Value) -> Iterable[Edge]:
    return value.parents


def _passed_on(order: Iterable[Value], operands: Operands = _own) -> None:
    for value in order:
        for parent, slope in operands(value):
            parent.grad += slope * value.grad


def _gradients(output: Value) -> dict[Value, float]:
    """What should be added to each .grad."""
    found = dict.fromkeys(_sorted(output), 0.0)
    found[output] = 1.0
    for value in found:
        for parent, slope in value.parents:
            found[parent] += slope * found[value]
    return found


# ------------------------------------------------------------------ = against +=


@mistake(
    "A later delivery wiped out an earlier one",
    "Where a value is used twice, its .grad holds one of the two contributions; where it held the gradient of earlier "
    "calls, that is gone.",
    "Look at the line that writes into an operand's .grad: does it keep what is there?",
    "With every value used once and nothing held from before, = and += give the same.",
)
def overwrote_what_was_there(output: Value) -> None:
    output.grad = 1.0
    for value in _sorted(output):
        for parent, slope in value.parents:
            parent.grad = slope * value.grad


def _assigned(output: Value) -> None:
    for value, gradient in _gradients(output).items():
        value.grad = gradient


@mistake(
    "The gradients of earlier calls are lost",
    "What .grad held before the call was not added to: it is gone.",
    "Is .grad set to zero, or assigned to, for a value without operands? Such a value keeps what it holds.",
    "A training loop clears between steps. backward() itself does not.",
    also=(_assigned,),
)
def earlier_gradients_lost(output: Value) -> None:
    for value in _sorted(output):
        value.grad = 0.0
    output.grad = 1.0
    _passed_on(_sorted(output))


@mistake(
    "An operand that stands twice was counted once",
    "In x * x and x + x the same operand stands in parents twice, with a slope each. One of the two was dropped.",
    "Look at how you go through parents: a dict or a set holds equal things once.",
    "An operand and its slope look like a key and its value.",
)
def same_operand_counted_once(output: Value) -> None:
    output.grad = 1.0
    _passed_on(_sorted(output), lambda value: dict(value.parents).items())


def _once_a_number(output: Value, turned: bool) -> None:
    order: list[Value] = []
    seen: set[float] = set()

    def visit(value: Value) -> None:
        if value.data not in seen:
            seen.add(value.data)
            for parent, _ in value.parents[:: -1 if turned else 1]:
                visit(parent)
            order.append(value)

    visit(output)
    output.grad = 1.0
    _passed_on(order[::-1])


@mistake(
    "Two values of the same number were taken for one",
    "Where two values hold the same number, one of them passed nothing on.",
    "By what does your code know that it has met a value: by the value itself, or by its .data?",
    "Two values can hold the same number and still be two.",
    also=(partial(_once_a_number, turned=True),),
)
def told_apart_by_their_numbers(output: Value) -> None:
    _once_a_number(output, turned=False)


# ------------------------------------------------------------------ the order


def _depth_first_once(output: Value) -> None:
    output.grad = 1.0
    seen: set[Value] = set()

    def go(value: Value) -> None:
        if value not in seen:
            seen.add(value)
            for parent, slope in value.parents:
                parent.grad += slope * value.grad
                go(parent)

    go(output)


def _preorder(output: Value) -> None:
    order: list[Value] = []

    def visit(value: Value) -> None:
        if value not in order:
            order.append(value)
            for parent, _ in value.parents:
                visit(parent)

    visit(output)
    output.grad = 1.0
    _passed_on(order)


def _stack_once(output: Value) -> None:
    output.grad = 1.0
    waiting, seen = [output], {output}
    while waiting:
        value = waiting.pop()
        for parent, slope in value.parents:
            parent.grad += slope * value.grad
            if parent not in seen:
                seen.add(parent)
                waiting.append(parent)


@mistake(
    "A value passed on before all deliveries had come",
    "A value that is used twice handed on what it held before the last delivery had come. That one stayed with it and "
    "never reached its operands.",
    "Let each value wait until everything that uses it has delivered. In which order must the values stand for that?",
    "Breadth first and depth first both reach every value, but neither waits.",
    also=(_depth_first_once, _preorder, _stack_once),
)
def passed_on_too_early(output: Value) -> None:
    output.grad = 1.0
    waiting, seen = deque([output]), {output}
    while waiting:
        value = waiting.popleft()
        for parent, slope in value.parents:
            parent.grad += slope * value.grad
            if parent not in seen:
                seen.add(parent)
                waiting.append(parent)


def _recursion(output: Value) -> None:
    output.grad = 1.0

    def go(value: Value) -> None:
        for parent, slope in value.parents:
            parent.grad += slope * value.grad
            go(parent)

    go(output)


def _stack(output: Value) -> None:
    output.grad = 1.0
    waiting = [output]
    while waiting:
        value = waiting.pop()
        for parent, slope in value.parents:
            parent.grad += slope * value.grad
            waiting.append(parent)


@mistake(
    "A value passed the same delivery on more than once",
    "A value that is used twice was visited twice, and on the second visit handed on all that it held, the first "
    "delivery included. Its operands hold too much.",
    "Visit each value once, when all deliveries have come.",
    "On a chain, and on any graph in which no inner value is used twice, this gives the right numbers.",
    also=(_recursion, _stack),
)
def passed_on_more_than_once(output: Value) -> None:
    output.grad = 1.0
    waiting = deque([output])
    while waiting:
        value = waiting.popleft()
        for parent, slope in value.parents:
            parent.grad += slope * value.grad
            waiting.append(parent)


def _one_level(output: Value) -> None:
    output.grad = 1.0
    _passed_on([output])


@mistake(
    "Only the operands of output got a gradient",
    "Nothing went further than one step back: the operands of those operands hold what they held before.",
    "Does the walk go beyond output.parents? And if it does, does a value pass on before it has received?",
    "Walked from the inputs, every value hands on the 0.0 that it holds, and only output has something to give.",
    also=(_one_level,),
)
def only_the_last_step(output: Value) -> None:
    output.grad = 1.0
    _passed_on(reversed(_sorted(output)))


@mistake(
    "Every path was walked by itself",
    "The numbers are right: a derivative is the sum over all paths of the product of the slopes along them. But the "
    "number of paths doubles with every value that is used twice; twelve such steps are four thousand paths, thirty "
    "are a billion.",
    "Let each value sum up its deliveries first, and pass the sum on once.",
    "On small graphs there are few paths.",
)
def walked_every_path(output: Value) -> None:
    def follow(value: Value, product: float) -> None:
        value.grad += product
        for parent, slope in value.parents:
            follow(parent, product * slope)

    follow(output, 1.0)


# ------------------------------------------------------------------ what is passed on


def _nothing(output: Value) -> None:
    return None


@mistake(
    "Every .grad is as it was",
    "No gradient arrived anywhere, not in output either.",
    "Where does the first gradient that is not zero come from? And does your line write into .grad of a value, or into "
    "a name or a dict of your own?",
    "0.0 times any slope is 0.0, and numbers are not changed by adding to another name for them.",
    also=(_nothing,),
)
def nothing_arrived(output: Value) -> None:
    _passed_on(_sorted(output))


@mistake(
    "Only local slopes were added up",
    "Each value got the slopes of the steps it goes into, not multiplied by the gradient of what those steps made. "
    "That is right one step before output, and nowhere else.",
    "The chain rule has two factors: the slope of the step, and the gradient that has arrived behind it.",
)
def local_slopes_alone(output: Value) -> None:
    output.grad = 1.0
    for value in _sorted(output):
        for parent, slope in value.parents:
            parent.grad += slope


@mistake(
    "The operand's own value took the place of the slope",
    "What was handed on is the number that the operand holds, times the gradient. For w * x the slope of w is x, not w.",
    "The slope stands beside the operand in parents.",
)
def own_value_for_slope(output: Value) -> None:
    output.grad = 1.0
    _passed_on(_sorted(output), lambda value: [(parent, parent.data) for parent, _ in value.parents])


# ------------------------------------------------------------------ where it arrives


@mistake(
    "Values in between hold no gradient",
    "The values without operands are right. Those in between, and output, are as they were.",
    "The exercise asks for the gradient of every value, as an engine that explains itself would keep it. Did it never get "
    "there, or was it taken away again?",
    "PyTorch keeps gradients of leaves alone, unless retain_grad() asks for more.",
)
def inner_values_left_out(output: Value) -> None:
    for value, gradient in _gradients(output).items():
        if not value.parents:
            value.grad += gradient


@mistake(
    "output itself has no gradient",
    "output moves by as much as it is moved itself: its derivative is 1, and that was not added to its .grad.",
    "Is the 1 that you begin with in output.grad at the end, too?",
)
def output_left_out(output: Value) -> None:
    for value, gradient in _gradients(output).items():
        if value is not output:
            value.grad += gradient


@mistake(
    "The graph was taken apart",
    "Every .grad is right, but the parents of the values were changed on the way: who wants to go backward again, or to "
    "look at the graph, finds none.",
    "Read .parents and leave it as it is.",
    "PyTorch frees what a graph has saved after its backward. This exercise does not ask for it.",
)
def parents_emptied(output: Value) -> None:
    output.grad = 1.0
    for value in _sorted(output):
        _passed_on([value])
        value.parents = ()


@mistake(
    "An attribute was left on the values",
    "Every .grad is right, but the values have an attribute now that they did not have: a mark, for instance, that says "
    "which were visited. Whoever goes backward again, through a value with such a mark, may stop there.",
    "Keep in a set of your own which values were visited.",
    "A mark outlives the call that made it.",
)
def marks_left_behind(output: Value) -> None:
    for value, gradient in _gradients(output).items():
        value.grad += gradient
        vars(value)["visited"] = True
