"""What is often done instead in exercise 1.2."""

from __future__ import annotations

from collections.abc import Callable

import torch

from course_utils.checks.mistakes import mistake

T = torch.Tensor


def _parts(w: T, x: T, y: T) -> tuple[T, int, int]:
    """(x transposed times the residual, n, d)."""
    return x.T @ _residual(w, x, y), *x.shape  # type: ignore[return-value]


def _residual(w: T, x: T, y: T) -> T:
    return x @ w.detach() - y


@mistake(
    "Half of the gradient: the 2 of the square does not show",
    "Every entry is half of what it should be: the derivative of r**2 is 2r. Is the 2 missing, or is there a 1/2 "
    "beside it?",
    "Differentiate the square once more, on paper.",
    "Some books put 1/2 in front of the loss to make the 2 vanish; this loss has none.",
)
def missing_factor_two(w: T, x: T, y: T) -> T:
    total, n, _ = _parts(w, x, y)
    return total / n


@mistake(
    "The gradient of the sum, not of the mean",
    "Every entry is n times what it should be, n the number of rows; the direction is right.",
    "A mean divides by the number of its terms, and so does its gradient.",
    "The direction is right, so a loss curve may not tell; only the step size grows with the batch.",
)
def loss_not_averaged(w: T, x: T, y: T) -> T:
    return 2 * _parts(w, x, y)[0]


@mistake(
    "Neither the 2 nor the mean is there",
    "What came back is x transposed times the residual: beside the right result it lacks the 2 of the square, and the "
    "division by the number of rows.",
    "Differentiate the whole of mean((x @ w - y)**2) on paper: first the mean, then the square, then the inside.",
    "The direction is right, so descent with it works where the steps are small enough.",
)
def neither_two_nor_mean(w: T, x: T, y: T) -> T:
    return _parts(w, x, y)[0]


@mistake(
    "The sign is flipped",
    "The result points downhill. A gradient points uphill; going against it is the optimizer's business.",
    "Check which of the two, prediction or target, is subtracted from which, what the derivative of the inside is, and "
    "whether a minus stands in front.",
    "Descent is what one does with a gradient, so the minus is easily drawn into it.",
)
def gradient_sign_flipped(w: T, x: T, y: T) -> T:
    total, n, _ = _parts(w, x, y)
    return -2 * total / n


@mistake(
    "Divided by the number of features",
    "The mean runs over the n rows, and what was divided by is d, the number of features.",
    "Count the terms of the mean in the loss.",
    "len(w) and len(y) are easily mixed up; with as many rows as features they agree.",
)
def averaged_over_features(w: T, x: T, y: T) -> T:
    total, _, d = _parts(w, x, y)
    return 2 * total / d


@mistake(
    "Divided by rows times features",
    "The mean runs over the n residuals; x has n times d entries, which is another count.",
    "Count the terms of the mean in the loss.",
)
def averaged_over_all_entries(w: T, x: T, y: T) -> T:
    total, n, d = _parts(w, x, y)
    return 2 * total / (n * d)


@mistake(
    "Divided by n squared, not by n",
    "Every entry is 1/n of what it should be, n the number of rows: the loss divides by n once.",
    "Divide by n once: in the formula, or with mean(), not with both.",
)
def averaged_twice(w: T, x: T, y: T) -> T:
    total, n, _ = _parts(w, x, y)
    return 2 * total / n**2


def _rows_undivided(w: T, x: T, y: T) -> T:
    return 2 * x * _residual(w, x, y)[:, None]


@mistake(
    "The rows were not added up",
    "The result has one gradient a row. A weight that serves every row receives the sum over the rows.",
    "Sum over the batch dimension, and look again at what the mean divides by.",
    also=(_rows_undivided,),
)
def rows_not_summed(w: T, x: T, y: T) -> T:
    return _rows_undivided(w, x, y) / len(y)


@mistake(
    "The features were averaged too",
    "The result is one number, the mean over rows and features. Each entry of w has a slope of its own.",
    "Average over the rows only: mean() without a dimension takes all there are.",
)
def averaged_the_features_too(w: T, x: T, y: T) -> T:
    return _rows_undivided(w, x, y).mean()


@mistake(
    "The result stayed a column",
    "The numbers are right, in shape (d, 1); the exercise asks for the shape of w, (d,).",
    "Turn the column into a vector at the end, or work with vectors throughout.",
)
def stayed_a_column(w: T, x: T, y: T) -> T:
    total, n, _ = _parts(w, x, y)
    return (2 * total / n)[:, None]


@mistake(
    "The target was left out",
    "The result uses the prediction where the residual, prediction minus target, belongs.",
    "Differentiate (prediction - target)**2: the inner term stays as it is.",
)
def prediction_for_residual(w: T, x: T, y: T) -> T:
    return 2 * x.T @ (x @ w.detach()) / len(y)


@mistake(
    "The residual is still squared",
    "The result uses the square of the residual, where the derivative of the square, twice the residual, belongs. A "
    "squared residual has lost its sign.",
    "What is the derivative of r**2 with respect to r?",
    "The exponent 2 comes down as a factor, and what is left above is 1: the second half is easily forgotten.",
)
def square_kept(w: T, x: T, y: T) -> T:
    return 2 * x.T @ _residual(w, x, y) ** 2 / len(y)


def _loss_summed(w: T, x: T, y: T) -> T:
    return (_residual(w, x, y) ** 2).sum()


@mistake(
    "A loss was returned, not its gradient",
    "The result is one number: how wrong the prediction is, not how that changes with w.",
    "Return one slope for each entry of w.",
    also=(_loss_summed,),
)
def loss_for_gradient(w: T, x: T, y: T) -> T:
    return (_residual(w, x, y) ** 2).mean()


def _undivided_residual(w: T, x: T, y: T) -> T:
    return 2 * _residual(w, x, y)


@mistake(
    "The chain rule stopped one link early",
    "The result has one entry a row: the derivative of the squares, or of their mean, with respect to the residuals. "
    "The residual's own derivative with respect to w is missing.",
    "Multiply by how each residual moves with w, which is a row of x, and add over the rows.",
    also=(_undivided_residual,),
)
def chain_rule_cut_short(w: T, x: T, y: T) -> T:
    return 2 * _residual(w, x, y) / len(y)


def _all_pairs(w: T, x: T, y: T) -> T:
    """Entry i, j: the prediction of row i minus the target of row j."""
    return (x @ w.detach())[:, None] - y


def _pairs_kept(w: T, x: T, y: T) -> T:
    return 2 * x.T @ _all_pairs(w, x, y) / len(y)


def _pairs_summed(w: T, x: T, y: T) -> T:
    return _pairs_kept(w, x, y).sum(1)


def _paired(turned: bool, over: int, mean: bool, divided: bool) -> Callable[[T, T, T], T]:
    """x.T times the matrix of all pairs, reduced over one of its dimensions, times two."""

    def code(w: T, x: T, y: T) -> T:
        pairs = (x @ w)[:, None] - y
        product = x.T @ (pairs.T if turned else pairs)
        if over and mean:
            product = product.mean(1)
        elif over:
            product = product.sum(1)
        else:
            product = x.T @ (pairs.T if turned else pairs).sum(1)
        return 2 * product / (len(y) if divided else 1)

    return code


_PAIRED = tuple(
    _paired(turned, over, mean, divided)
    for turned in (False, True)
    for over, mean in ((0, False), (1, False), (1, True))
    for divided in (False, True)
)


@mistake(
    "A residual for all pairs, as of a column and a row",
    "The numbers are those of a residual of shape (n, n), every prediction minus every target, which is what shapes "
    "(n, 1) and (n,) broadcast to. Where it is reduced at once, that is a mean inside the residual.",
    "Print the shape of the residual: it must be (n,), in each row that row's prediction minus its target.",
    "Subtraction broadcasts without a word, and losses often meet this trap.",
    also=(_pairs_kept, _pairs_summed, *_PAIRED),
)
def broadcast_to_matrix(w: T, x: T, y: T) -> T:
    return _pairs_kept(w, x, y).mean(1)


def _means(factor: float, divided: bool) -> Callable[[T, T, T], T]:
    def code(w: T, x: T, y: T) -> T:
        product = factor * x.mean(0) * (x @ w - y).mean()
        return product / len(y) if divided else product

    return code


@mistake(
    "The product of the means, not the mean of the products",
    "The result is made of the mean of the residuals times the mean of each feature. For one row the product of the "
    "means and the mean of the products are the same, in general not.",
    "Multiply row by row first, residual i by x[i, j], and average afterwards.",
    also=(_means(1.0, False), _means(2.0, True)),
)
def product_of_means(w: T, x: T, y: T) -> T:
    return _means(2.0, False)(w, x, y)


def _one_row(row: int, divided: bool) -> Callable[[T, T, T], T]:
    def code(w: T, x: T, y: T) -> T:
        only = 2 * x[row] * (x[row] @ w - y[row])
        return only / len(y) if divided else only

    return code


@mistake(
    "Only the last row counts",
    "The result holds the last row's gradient; what the rows before it give is not in it.",
    "Is the gradient assigned in a loop, where it should be added to? Add up what all rows give.",
    also=(_one_row(-1, True),),
)
def only_the_last_row(w: T, x: T, y: T) -> T:
    return _one_row(-1, False)(w, x, y)


@mistake(
    "Only the first row counts",
    "The result holds the first row's gradient; what the other rows give is not in it.",
    "Does a loop over the rows run to its end? A return inside it ends it in the first round. Add up what all rows "
    "give.",
    also=(_one_row(0, True),),
)
def only_the_first_row(w: T, x: T, y: T) -> T:
    return _one_row(0, False)(w, x, y)


@mistake(
    "Reshaped, not transposed",
    "x was laid out as (d, n), as reshape and view do: the shape is that of the transpose, entries stand elsewhere.",
    "Transpose with x.T: it swaps rows and columns, reshape goes on reading row by row.",
    "Both give the shape that the product needs, and no error is raised.",
)
def reshaped_not_transposed(w: T, x: T, y: T) -> T:
    n, d = x.shape
    return 2 * x.reshape(d, n) @ (x @ w - y) / n


@mistake(
    "Autograd was asked, and had nothing to say",
    "Autograd was to go back from a value that has no graph. In this exercise autograd is not to be asked at all.",
    "Derive the gradient on paper, and write the formula with tensor operations.",
)
def autograd_asked_in_vain(w: T, x: T, y: T) -> object:
    ((x @ w - y) ** 2).mean().backward()
    return w.grad


@mistake(
    "Autograd was used",
    "This exercise asks for the derivation by hand.",
    "Write the formula with tensor operations; keep autograd as the judge of your own tests.",
)
def used_autograd(w: T, x: T, y: T) -> T:
    leaf = w.detach().clone().requires_grad_()
    return torch.autograd.grad(((x @ leaf - y) ** 2).mean(), leaf)[0]


@mistake(
    "Divided by n - 1",
    "Every entry is n/(n - 1) times what it should be, and a single row leaves no finite number: a mean divides by n.",
    "Count the terms of the mean in the loss: how many rows are there?",
    "The variance of a sample divides by n - 1; a mean does not.",
)
def averaged_over_one_row_less(w: T, x: T, y: T) -> T:
    total, n, _ = _parts(w, x, y)
    return 2 * total / (torch.ones_like(total) * n - 1)


@mistake(
    "The factor 2/n became a whole number",
    "The result is zero where there are more than two rows: 2/n is less than one there, and as a whole number it is 0.",
    "Is there a // where a / should be, or an integer tensor that holds the factor?",
    "// cuts off what is behind the point; / of two integers gives a float.",
)
def factor_rounded_down(w: T, x: T, y: T) -> T:
    total, n, _ = _parts(w, x, y)
    return 2 // n * total


@mistake(
    "The result has length 1",
    "The direction is right; the length is 1, where the right gradient is longer.",
    "Return the gradient as it is: no limit on its length is asked for, and no unit vector.",
    "Clipping protects a training loop from long steps. It is a step of its own, after the gradient.",
    also=(lambda w, x, y: torch.nn.functional.normalize(_parts(w, x, y)[0], dim=0),),
)
def brought_to_length_1(w: T, x: T, y: T) -> T:
    total, n, _ = _parts(w, x, y)
    gradient = 2 * total / n
    return gradient / max(1.0, float(gradient.norm()))
