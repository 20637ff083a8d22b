"""What is often done instead in exercise 3.5."""

from __future__ import annotations

from course_utils.checks.mistakes import mistake


@mistake("a", "b", "c")
def zeros_alive_in_the_forward_pass(model, optimizer, loss_fn, x, y):
    optimizer.zero_grad(set_to_none=False)


@mistake("a", "b", "c")
def gradients_alive_in_the_forward_pass(model, optimizer, loss_fn, x, y):
    optimizer.zero_grad(set_to_none=False)
