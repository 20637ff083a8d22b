"""Attempts at exercise 1.2, linear_mse_gradient: what learners write, and what the check must say of it."""

import torch.nn.functional as F
from functools import reduce
from torch.autograd import forward_ad
from torch.autograd.functional import jacobian
from torch.func import grad as grad_of_torch_func
from torch.func import jacfwd
import numpy as np
import operator
import torch

from course_utils.authoring.attempts import raised, right, wrong
from course_utils.checks import effects
from course_utils.lessons.lesson1.linear_mse_gradient import mistakes


@raised(effects.mixed_dtypes)
def float64_inputs_meet_a_float32_constant(w, x, y):
    ones = torch.ones(len(y))
    residual = x @ w - y
    return 2 * (x * residual[:, None]).T @ ones / len(y)


@raised(mistakes.autograd_asked_in_vain)
def backward_without_requires_grad(w, x, y):
    ((x @ w - y) ** 2).mean().backward()
    return w.grad


@raised(effects.shapes_do_not_fit)
def forgot_the_transpose(w, x, y):
    return 2 * x @ (x @ w - y) / len(y)


@right
def backward_pass_station_by_station(w, x, y):
    prediction = x.matmul(w)
    residual = prediction.sub(y)
    d_loss = 1.0
    d_square = residual.new_full(residual.shape, d_loss / residual.numel())
    d_residual = d_square * 2 * residual
    d_prediction = d_residual
    return x.mT.matmul(d_prediction)


# Not derived, but exact: the central difference of a quadratic has no error at any step, and uses no autograd.
@right
def central_difference_of_a_quadratic(w, x, y):
    def loss(w):
        return ((x @ w - y) ** 2).mean()

    return torch.stack([(loss(w + e) - loss(w - e)) / 2 for e in torch.eye(len(w), dtype=w.dtype, device=w.device)])


# Columns all the way, and back to a vector at the end.
@right
def column_vectors_kept_straight(w, x, y):
    column = x @ w[:, None] - y[:, None]
    return (2.0 / len(y) * (x.t() @ column)).squeeze(1)


@right
def einsum(w, x, y):
    residual = torch.einsum("nd,d->n", x, w) - y
    return torch.einsum("nd,n->d", x, residual) * (2 / x.shape[0])


@right
def loops_over_rows_and_features(w, x, y):
    n, d = x.shape
    grad = torch.zeros_like(w)
    for i in range(n):
        prediction = 0.0
        for j in range(d):
            prediction = prediction + x[i, j] * w[j]
        for j in range(d):
            grad[j] += 2 * (prediction - y[i]) * x[i, j] / n
    return grad


@right
def matrix_form(w, x, y):
    return 2 * x.T @ (x @ w - y) / len(y)


@right
def mean_of_row_gradients(w, x, y):
    residual = (x * w).sum(dim=1) - y
    per_row = 2 * residual.unsqueeze(1) * x
    return per_row.mean(dim=0)


# Multiplied out: 2/n (X'X w - X'y).
@right
def normal_equations(w, x, y):
    n = y.numel()
    return (x.T @ x @ w - x.T @ y).mul(2).div(n)


@right
def numpy(w, x, y):
    xs, ws, ys = x.numpy(), w.numpy(), y.numpy()
    return torch.from_numpy(np.dot(xs.T, np.dot(xs, ws) - ys) * 2 / len(ys))


# The sum over the rows is the sum over one half and over the other.
@right
def recursion_over_halves(w, x, y):
    def total(x, y):
        if len(y) == 1:
            return 2 * (torch.dot(x[0], w) - y[0]) * x[0]
        half = len(y) // 2
        return total(x[:half], y[:half]) + total(x[half:], y[half:])

    return total(x, y) / len(y)


@wrong(mistakes.averaged_over_all_entries)
def numel_of_x(w, x, y):
    return 2 * x.T @ (x @ w - y) / x.numel()


@wrong(mistakes.averaged_over_features)
def len_of_w(w, x, y):
    return 2 * x.T @ (x @ w - y) / len(w)


@wrong(mistakes.averaged_twice)
def mean_and_division(w, x, y):
    n = len(y)
    per_row = 2 * (x @ w - y)[:, None] * x / n
    return per_row.mean(0)


@wrong(mistakes.broadcast_to_matrix)
def column_minus_row(w, x, y):
    residual = x @ w.reshape(-1, 1) - y
    n = len(y)
    return (2 * x.T @ residual / (n * n)).sum(dim=1)


@wrong(mistakes.chain_rule_cut_short)
def residual_alone(w, x, y):
    n = x.shape[0]
    return 2 / n * (x @ w - y)


@wrong(effects.changed_input)
def residual_into_y(w, x, y):
    n = len(y)
    y -= x @ w
    return -2 * x.T @ y / n


@wrong(mistakes.gradient_sign_flipped)
def target_minus_prediction(w, x, y):
    return 2 * x.T @ (y - x @ w) / len(y)


@wrong(mistakes.loss_for_gradient)
def returned_the_loss(w, x, y):
    return ((x @ w - y) ** 2).mean()


@wrong(mistakes.loss_not_averaged)
def sum_of_squares(w, x, y):
    return 2 * x.T @ (x @ w - y)


@wrong(mistakes.missing_factor_two)
def half_loss(w, x, y):
    return x.T @ (x @ w - y) / len(y)


# Half right: the 5 of the first case was written into the formula.
@wrong(says='The direction is right on each of these cases, the length is not: 1.6 on case 2, 1/5 on case 3, 1.2 on case 4, 0.8 on case 5 times as long as it should be.')
def five_rows_hard_coded(w, x, y):
    return 2 * x.T @ (x @ w - y) / 5


@wrong(mistakes.square_kept)
def squared_residual_kept(w, x, y):
    return 2 * x.T @ (x @ w - y) ** 2 / len(y)


@wrong(mistakes.prediction_for_residual)
def forgot_the_target(w, x, y):
    return 2 * x.T @ (x @ w) / len(y)


@wrong(effects.returned_nothing)
def assigned_to_grad(w, x, y):
    w.grad = 2 * x.T @ (x @ w - y) / len(y)


@wrong(mistakes.rows_not_summed)
def one_gradient_a_row(w, x, y):
    return 2 * (x @ w - y)[:, None] * x / len(y)


# The derivative of each row's own square, neither summed nor averaged.
@wrong(mistakes.rows_not_summed)
def undivided(w, x, y):
    return 2 * (x @ w - y).reshape(-1, 1) * x


@wrong(mistakes.used_autograd)
def backward(w, x, y):
    leaf = w.detach().clone().requires_grad_(True)
    ((x @ leaf - y) ** 2).mean().backward()
    return leaf.grad


# Derived by hand, and left the test against autograd inside.
@wrong(mistakes.used_autograd)
def compared_with_it_in_the_function(w, x, y):
    by_hand = 2 * x.T @ (x @ w - y) / len(y)
    leaf = w.clone().requires_grad_()
    expected = torch.autograd.grad(((x @ leaf - y) ** 2).mean(), leaf)[0]
    assert torch.allclose(by_hand, expected, atol=1e-5)
    return by_hand


@wrong(mistakes.used_autograd)
def dual_numbers(w, x, y):
    slopes = []
    with forward_ad.dual_level():
        for e in torch.eye(len(w), dtype=w.dtype):
            dual = forward_ad.make_dual(w, e)
            slopes.append(forward_ad.unpack_dual(((x @ dual - y) ** 2).mean()).tangent)
    return torch.stack(slopes)


@wrong(mistakes.used_autograd)
def func_grad(w, x, y):
    return torch.func.grad(lambda w: ((x @ w - y) ** 2).mean())(w)


@wrong(mistakes.used_autograd)
def func_jacfwd(w, x, y):
    return torch.func.jacfwd(lambda w: ((x @ w - y) ** 2).mean())(w)


@wrong(mistakes.used_autograd)
def func_jacrev(w, x, y):
    return torch.func.jacrev(lambda w: ((x @ w - y) ** 2).mean())(w)


@wrong(mistakes.used_autograd)
def func_jvp(w, x, y):
    def loss(w):
        return ((x @ w - y) ** 2).mean()

    return torch.stack([torch.func.jvp(loss, (w,), (e,))[1] for e in torch.eye(len(w), dtype=w.dtype)])


@wrong(mistakes.used_autograd)
def func_linearize(w, x, y):
    _, push = torch.func.linearize(lambda w: ((x @ w - y) ** 2).mean(), w)
    return torch.stack([push(e) for e in torch.eye(len(w), dtype=w.dtype)])


@wrong(mistakes.used_autograd)
def func_vjp(w, x, y):
    loss, pull = torch.func.vjp(lambda w: ((x @ w - y) ** 2).mean(), w)
    return pull(torch.ones_like(loss))[0]


@wrong(mistakes.used_autograd)
def functional_jacobian(w, x, y):
    return jacobian(lambda w: ((x @ w - y) ** 2).mean(), w)


@wrong(mistakes.used_autograd)
def functional_vjp(w, x, y):
    return torch.autograd.functional.vjp(lambda w: ((x @ w - y) ** 2).mean(), w)[1]


@wrong(mistakes.used_autograd)
def grad(w, x, y):
    w = w.clone().requires_grad_()
    return torch.autograd.grad(((x @ w - y) ** 2).mean(), w)[0]


@wrong(mistakes.used_autograd)
def torch_autograd_backward(w, x, y):
    leaf = w.detach().clone().requires_grad_(True)
    torch.autograd.backward([((x @ leaf - y) ** 2).mean()])
    return leaf.grad


# No backward, but the graph's own nodes do the derivation.
@wrong(effects.carries_a_graph)
def walks_the_graph_itself(w, x, y):
    leaf = w.clone().requires_grad_()
    loss = ((x @ leaf - y) ** 2).mean()
    result = torch.zeros_like(w)
    todo = [(loss.grad_fn, torch.ones_like(loss))]
    while todo:
        node, incoming = todo.pop()
        if hasattr(node, "variable"):
            result += incoming
            continue
        outgoing = node(incoming)
        outgoing = outgoing if isinstance(outgoing, tuple) else (outgoing,)
        for (following, _), gradient in zip(node.next_functions, outgoing):
            if following is not None and gradient is not None:
                todo.append((following, gradient))
    return result


@wrong(effects.wrong_dtype)
def float_everywhere(w, x, y):
    w, x, y = w.float(), x.float(), y.float()
    return 2 * x.T @ (x @ w - y) / len(y)


@wrong(mistakes.averaged_the_features_too)
def averaged_the_features_too(w, x, y):
    return (2 * (x @ w - y)[:, None] * x).mean()


@wrong(mistakes.stayed_a_column)
def stayed_a_column(w, x, y):
    column = x @ w[:, None] - y[:, None]
    return 2 * x.T @ column / len(y)


@wrong(effects.wrong_type)
def as_list(w, x, y):
    return (2 * x.T @ (x @ w - y) / len(y)).tolist()


# forgets to divide by n: this is the gradient of the sum of squares, not of the mean
@wrong(mistakes.loss_not_averaged)
def class_a_01(w, x, y):
    with torch.no_grad():
        error = x @ w - y
        grad = 2 * x.T @ error
    return grad


# the factor 2 from the square is missing
@wrong(mistakes.missing_factor_two)
def class_a_02(w, x, y):
    n = x.shape[0]
    pred = torch.matmul(x, w)
    grad = torch.matmul(x.T, pred - y) / n   # same as in the ML course
    return grad.detach()


@right
def class_a_03(w, x, y):
    # L = 1/n sum (x_i.w - y_i)^2   ->   dL/dw = 2/n sum (x_i.w - y_i) x_i
    w = w.detach()
    x = x.detach()
    y = y.detach()
    n = x.shape[0]
    residual = x @ w - y
    return 2 * (x.T @ residual) / n


# lets autograd do the work, against the rule AND leaves w with requires_grad on and a filled .grad, in which a
# second call or an old gradient adds up
@wrong(mistakes.used_autograd)
def class_a_04(w, x, y):
    w.requires_grad_(True)
    loss = ((x @ w - y) ** 2).mean()
    loss.backward()
    return w.grad


# the prediction is (n, 1) and y is (n,), so the difference broadcasts to (n, n) and the result is a (d, n) matrix
@wrong(mistakes.broadcast_to_matrix)
def class_a_05(w, x, y):
    n = len(x)
    w_col = w.detach().reshape(-1, 1)      # column vector
    y_hat = x.detach() @ w_col
    err = y_hat - y.detach()
    return 2 / n * x.detach().T @ err


@right
@torch.no_grad()
def class_a_06(w, x, y):
    return torch.einsum("nd,n->d", x, torch.einsum("nd,d->n", x, w) - y) * 2 / y.numel()


# the inner derivative x is forgotten (chain rule): every entry is just the mean of 2 * error
@wrong(says='Where there are several entries, they all hold the same number; the right ones differ from each other.')
def class_a_07(w, x, y):
    with torch.no_grad():
        # derivative of u**2 is 2u
        u = x @ w - y
        g = (2 * u).mean()
        return g * torch.ones_like(w)


# multiplies the mean of the errors by the mean of the inputs in place of the mean of the products; right only for n
# = 1 or other lucky data
@wrong(mistakes.product_of_means)
@torch.no_grad()
def class_a_08(w, x, y):
    mean_error = (x @ w - y).mean()
    mean_input = x.mean(dim=0)
    return 2 * mean_error * mean_input


@right
def class_a_09(w, x, y):
    ws, rows, targets = w.tolist(), x.tolist(), y.tolist()
    d = len(ws)
    n = len(rows)
    total = [0.0] * d
    for row, target in zip(rows, targets):
        guess = 0.0
        for j in range(d):
            guess += row[j] * ws[j]
        for j in range(d):
            total[j] += 2.0 * (guess - target) * row[j]
    return torch.tensor([t / n for t in total], dtype=w.dtype, device=w.device)


# the sign is flipped: y - x @ w is used without the minus from the inner derivative
@wrong(mistakes.gradient_sign_flipped)
def class_a_10(w, x, y):
    w, x, y = w.detach(), x.detach(), y.detach()
    return 2 / len(y) * ((y - x @ w) @ x)


# x @ error where x.T @ error is needed: raises a RuntimeError (shapes) unless n = d, and is wrong then
@raised(effects.shapes_do_not_fit)
def class_a_11(w, x, y):
    with torch.no_grad():
        n, d = x.shape
        error = torch.mv(x, w) - y
        gradient = (2.0 / n) * torch.mv(x, error)
        return gradient


# squeeze() at the end also drops the only dimension when d = 1, so the result is 0-d there
@wrong(effects.wrong_shape)
def class_a_12(w, x, y):
    w2 = w.detach().unsqueeze(1)      # (d, 1)
    y2 = y.detach().unsqueeze(1)      # (n, 1), otherwise it broadcasts!
    x2 = x.detach()
    grad = 2.0 / x2.shape[0] * (x2.T @ (x2 @ w2 - y2))
    return grad.squeeze()


@right
def class_a_13(w, x, y):
    W, X, Y = [t.detach().cpu().numpy() for t in (w, x, y)]
    g = 2 * np.dot(X.T, np.dot(X, W) - Y) / X.shape[0]
    return torch.from_numpy(g).to(device=w.device, dtype=w.dtype)


# r is y itself and r -= ... overwrites the caller's y
@wrong(effects.changed_input)
@torch.no_grad()
def class_a_14(w, x, y):
    r = y
    r -= x @ w          # saves memory
    return (-2 / len(x)) * (x.T @ r)


# no detach and no no_grad: when w, x or y requires gradients, the result carries a graph
@right
def class_a_15(w, x, y):
    return 2 * x.T @ (x @ w - y) / x.shape[0]


# returns the weights after a descent step in place of the gradient AND does that step in place on the caller's w
@wrong(says='What came back is `w` minus 1/100 times the gradient, as after a step; the gradient itself is asked for.')
def class_a_16(w, x, y):
    lr = 0.01
    with torch.no_grad():
        y_pred = x @ w
        grad_w = 2.0 * x.t() @ (y_pred - y) / len(y)
        w -= lr * grad_w
    return w.detach()


@right
def class_a_17(w, x, y):
    with torch.no_grad():
        diff = (x * w).sum(dim=1) - y
        per_sample = 2 * diff[:, None] * x     # one gradient per row
        return per_sample.mean(dim=0)


# no derivation: measures the gradient by one-sided differences with h = 1e-4, so it is only approximate (and
# useless in float32)
@wrong()
def class_a_18(w, x, y):
    with torch.no_grad():
        loss = lambda v: ((x @ v - y) ** 2).mean()
        h = 1e-4
        g = torch.zeros_like(w)
        for i in range(w.numel()):
            v = w.clone()
            v[i] += h
            g[i] = (loss(v) - loss(w)) / h
        return g


# 2 // n is an integer division: the result is all zeros as soon as n > 2
@wrong(mistakes.factor_rounded_down)
def class_a_19(w, x, y):
    n = x.shape[0]
    total = torch.zeros_like(w.detach())
    for i in range(n):
        xi = x[i].detach()
        err = torch.dot(xi, w.detach()) - y[i].detach()
        total += err * xi
    return (2 // n) * total


# the return stands inside the loop, so only the first sample counts
@wrong(mistakes.only_the_first_row)
def class_a_20(w, x, y):
    with torch.no_grad():
        grad = torch.zeros_like(w)
        n = len(x)
        for xi, yi in zip(x, y):
            error = (xi * w).sum() - yi
            grad += 2 * error * xi / n
            return grad


class Linear:
    def forward(self, x, w):
        self.x = x
        return x @ w

    def backward(self, upstream):
        return upstream @ self.x

class MeanSquare:
    def forward(self, out, target):
        self.diff = out - target
        return (self.diff ** 2).mean()

    def backward(self):
        return self.diff * (2 / self.diff.numel())

@right
def class_a_21(w, x, y):
    lin, mse = Linear(), MeanSquare()
    mse.forward(lin.forward(x.detach(), w.detach()), y.detach())
    return lin.backward(mse.backward())


# returns the pair (loss, gradient) and not the gradient alone
@wrong(effects.wrong_type)
@torch.no_grad()
def class_a_22(w, x, y):
    residuals = x @ w - y
    loss = residuals.square().mean()
    grads = 2 * (residuals @ x) / residuals.numel()
    return loss, grads


# hands the loss to torch.func.grad, which is autograd, where a derivation by hand is asked
@wrong(mistakes.used_autograd)
def class_a_23(w, x, y):
    mse = lambda v: torch.mean((x.detach() @ v - y.detach()) ** 2)
    return torch.func.grad(mse)(w.detach())


# switches gradients off for the whole program by torch.set_grad_enabled(False) and never on again
@wrong(effects.changed_global)
def class_a_24(w, x, y):
    torch.set_grad_enabled(False)   # no autograd in this exercise
    n = x.size(0)
    residual = x.mv(w).sub(y)
    gradient = x.t().mv(residual).mul(2).div(n)
    return gradient


@right
def class_a_25(w, x, y):
    w, x, y = (t.detach() for t in (w, x, y))

    def summed(lo, hi):
        """sum of the gradients of the samples lo .. hi-1, by halving"""
        if hi <= lo:
            return torch.zeros_like(w)
        if hi - lo == 1:
            return 2 * (x[lo].dot(w) - y[lo]) * x[lo]
        mid = (lo + hi) // 2
        return summed(lo, mid) + summed(mid, hi)

    return summed(0, len(x)) / len(x)


# adds a column of ones for a bias that is not there, so x has d + 1 columns and the product with w always raises a
# RuntimeError
@raised(effects.shapes_do_not_fit)
def class_a_26(w, x, y):
    n = x.shape[0]
    ones = torch.ones(n, 1, dtype=x.dtype)
    X = torch.cat([ones, x.detach()], dim=1)   # don't forget the bias!
    err = X @ w.detach() - y.detach()
    return 2 / n * X.T @ err


# divides by d = len(w) and not by the number of samples AND collects in torch.zeros(d), so float64 inputs get a
# float32 result
@wrong(mistakes.averaged_over_features)
def class_a_27(w, x, y):
    d = len(w)
    grad = torch.zeros(d)
    err = (x @ w - y).detach()
    for j in range(d):
        grad[j] = 2 * (err * x[:, j].detach()).sum() / d
    return grad


# the inner derivative (times x) is forgotten: the result is the 0-d mean of twice the error
@wrong(effects.wrong_shape)
def class_b_01(w, x, y):
    # derivative of (..)**2 is 2*(..), and the mean stays
    with torch.no_grad():
        error = x @ w - y
        return (2 * error).mean()


# multiplies the mean of x by the mean of the error, but the mean of a product is not the product of the means
# (right for n = 1 alone)
@wrong(mistakes.product_of_means)
def class_b_02(w, x, y):
    w, x, y = w.detach(), x.detach(), y.detach()
    error = x @ w - y
    return 2 * error.mean() * x.mean(dim=0)


# w becomes a column but y does not, so the error is broadcast to (n, n): every prediction minus every target
@wrong(mistakes.broadcast_to_matrix)
def class_b_03(w, x, y):
    with torch.no_grad():
        n = x.shape[0]
        pred = x @ w.unsqueeze(1)          # (n, 1)
        err = pred - y
        grad = 2 / n * (x.T @ err)
        return grad.mean(dim=1)            # to get the shape of w


@right
def class_b_04(w, x, y):
    with torch.no_grad():
        return 2 / len(y) * (x.T @ (x @ w - y))


# reshape(d, n) is taken for the transpose: the shape fits, the numbers are mixed up (right where n or d is 1)
@wrong(mistakes.reshaped_not_transposed)
def class_b_05(w, x, y):
    n, d = x.shape
    with torch.no_grad():
        residual = torch.matmul(x, w) - y
        xt = x.reshape(d, n)
        return 2.0 / n * torch.matmul(xt, residual)


# in the loop the gradient is assigned, not added: only the last sample counts
@wrong(mistakes.only_the_last_row)
def class_b_06(w, x, y):
    w, x, y = w.detach(), x.detach(), y.detach()
    n = len(x)
    grad = torch.zeros_like(w)
    for i in range(n):
        diff = torch.dot(x[i], w) - y[i]
        grad = 2 * diff * x[i] / n
    return grad


# there is no return, the function gives None AND the factor 2 is missing (the 1/(2m) convention of another course)
@wrong(effects.returned_nothing)
def class_b_07(w, x, y):
    m = x.shape[0]
    h = torch.matmul(x.detach(), w.detach())
    # J = 1/(2m) * sum (h - y)^2
    grad = 1 / m * torch.matmul(x.detach().t(), h - y.detach())


@right
def class_b_08(w, x, y):
    W, X, Y = w.tolist(), x.tolist(), y.tolist()
    n, d = x.shape
    total = [0.0] * d
    for i in range(n):
        r = -Y[i]
        for j in range(d):
            r += X[i][j] * W[j]
        for j in range(d):
            total[j] += 2.0 * r * X[i][j]
    return torch.tensor([t / n for t in total], dtype=w.dtype, device=w.device)


# target minus prediction without the minus sign in front: the gradient points the other way AND it comes back as a
# column (d, 1)
@wrong(says='The numbers are those of a known mistake, in another shape on cases 1, 2, 3, 4, 5, 6, 7 and 8. The sign is flipped (gradient-sign-flipped). To mend that: Check which of the two, prediction or target, is subtracted from which, what the derivative of the inside is, and whether a minus stands in front.')
def class_b_09(w, x, y):
    with torch.no_grad():
        w = w.reshape(-1, 1)
        y = y.reshape(-1, 1)
        err = y - x.mm(w)
        grad = 2 * x.t().mm(err) / x.size(0)
    return grad


# makes a step of gradient descent and returns the new weights, not the gradient AND the step changes the caller's w
# in place
@wrong(says='What came back is `w` minus 1/100 times the gradient, as after a step; the gradient itself is asked for.')
def class_b_10(w, x, y):
    lr = 0.01
    with torch.no_grad():
        pred = x @ w
        grad = 2 * x.T @ (pred - y) / len(y)
        w -= lr * grad
    return w.detach()


# adds a column of ones for the bias, so x has d + 1 columns and x @ w raises
@raised(effects.shapes_do_not_fit)
def class_b_11(w, x, y):
    n = x.shape[0]
    # bias trick
    ones = torch.ones(n, 1, dtype=x.dtype, device=x.device)
    X = torch.cat([ones, x.detach()], dim=1)
    r = X @ w.detach() - y.detach()
    return 2 / n * X.T @ r


@right
def class_b_12(w, x, y):
    w, x, y = (t.detach() for t in (w, x, y))
    r = torch.einsum("nd,d->n", x, w) - y
    return torch.einsum("nd,n->d", x, r) * 2 / x.size(0)


# clone() copies the values but stays in the graph: where w, x or y requires gradients the result carries a graph
@right
def class_b_13(w, x, y):
    # work on copies so the inputs are safe
    w_, x_, y_ = w.clone(), x.clone(), y.clone()
    r = x_ @ w_ - y_
    return x_.t() @ r * (2 / r.numel())


# the error is squeezed: with one single row it becomes 0-d and the product with x.T raises
@raised(effects.shapes_do_not_fit)
def class_b_14(w, x, y):
    batch_size = x.shape[0]
    with torch.no_grad():
        y_pred = torch.matmul(x, w)
        error = (y_pred - y).squeeze()
        return 2 * torch.matmul(x.T, error) / batch_size


@right
def class_b_15(w, x, y):
    W, X, Y = (t.detach().cpu().numpy() for t in (w, x, y))
    g = 2 * np.dot(X.T, np.dot(X, W) - Y) / X.shape[0]
    return torch.tensor(g, dtype=w.dtype, device=w.device)


# torch.tensor of Python numbers is float32: for float64 inputs the dtype and half of the digits are lost
@wrong(effects.wrong_dtype)
def class_b_16(w, x, y):
    x, w, y = x.detach(), w.detach(), y.detach()
    e = x @ w - y
    g = []
    for j in range(w.shape[0]):
        # partial derivative by w_j
        g.append((2 * e * x[:, j]).mean().item())
    return torch.tensor(g, device=w.device)


# .numpy() without detach(): raises as soon as one of the inputs requires gradients
@right
def class_b_17(w, x, y):
    wn, xn, yn = w.numpy(), x.numpy(), y.numpy()
    grad = 2 * (xn * (xn @ wn - yn)[:, np.newaxis]).mean(axis=0)
    return torch.from_numpy(grad)


# it writes the gradient into w.grad and returns that: what was in .grad is gone
@wrong(effects.changed_grad)
def class_b_18(w, x, y):
    with torch.no_grad():
        r = x @ w - y
        w.grad = 2 / len(r) * (x.t() @ r)
    return w.grad


@right
def class_b_19(w, x, y):
    def summed(a, b):
        # gradient of the sum of squares over the rows a .. b-1
        if b - a == 1:
            row = xd[a]
            return 2 * ((row * wd).sum() - yd[a]) * row
        mid = (a + b) // 2
        return summed(a, mid) + summed(mid, b)

    wd, xd, yd = w.detach(), x.detach(), y.detach()
    return summed(0, len(xd)) / len(xd)


# t_() transposes the caller's x itself and leaves it transposed
@wrong(effects.changed_input)
def class_b_20(w, x, y):
    with torch.no_grad():
        n = x.shape[0]
        r = (x @ w).sub_(y)
        return x.t_().mv(r).mul_(2 / n)


# the rows are shuffled first, as in every epoch: the sum is the same but the global random state has moved
@wrong(effects.changed_rng)
def class_b_21(w, x, y):
    with torch.no_grad():
        perm = torch.randperm(x.shape[0]).to(x.device)
        xs, ys = x[perm], y[perm]
        diff = xs @ w - ys
        return 2 * (diff.unsqueeze(1) * xs).mean(dim=0)


# the brackets are lost: 2/n multiplies X'Xw alone and not X'y (right for n = 2 alone)
@wrong()
@torch.no_grad()
def class_b_22(w, x, y):
    return 2 / len(x) * x.T @ x @ w - x.T @ y


class LinearByHand:
    def __init__(self, w):
        self.w = w
    def forward(self, x):
        self.x = x
        return x.mv(self.w)
    def backward(self, upstream):
        # d pred_i / d w_j = x_ij
        return self.x.t().mv(upstream)

class MeanSquare_of_class_b_23:
    def forward(self, pred, y):
        self.r = pred - y
        return self.r.pow(2).mean()
    def backward(self):
        return 2 * self.r / self.r.numel()

@right
def class_b_23(w, x, y):
    layer, loss = LinearByHand(w.detach()), MeanSquare_of_class_b_23()
    loss.forward(layer.forward(x.detach()), y.detach())
    return layer.backward(loss.backward())


# torch.func.jacfwd is automatic differentiation in forward mode; the rule asks for a derivation by hand
@wrong(mistakes.used_autograd)
def class_b_25(w, x, y):
    x, y = x.detach(), y.detach()
    # no backward, no .grad, no graph
    return jacfwd(lambda v: ((x @ v - y) ** 2).mean())(w.detach())


# measured with one-sided differences instead of derived: only an approximation, in float32 mostly noise
@wrong(says='Right to about 4 to 5 digits, and not further, as an approximation, a rounded number or a lower precision on the way would leave it; a missing factor would be seen in the first digit.')
def class_b_26(w, x, y):
    w, x, y = w.detach(), x.detach(), y.detach()
    eps = 1e-5
    loss = lambda v: ((x @ v - y) ** 2).mean()
    base = loss(w)
    g = torch.zeros_like(w)
    for j in range(len(w)):
        v = w.clone()
        v[j] += eps
        g[j] = (loss(v) - base) / eps
    return g


@right
def class_b_27(w, x, y):
    grad = torch.zeros(w.shape, dtype=w.dtype, device=w.device)
    scale = 2 / x.shape[0]
    with torch.no_grad():
        for row, target in zip(x, y):
            grad.add_(row, alpha=scale * (row.dot(w) - target).item())
    return grad


# the 2 from the square is missing
@wrong(mistakes.missing_factor_two)
def class_c_01(w, x, y):
    error = x @ w - y
    grad = x.T @ error / len(y)
    return grad


# the sum over the samples is not divided by n
@wrong(mistakes.loss_not_averaged)
def class_c_02(w, x, y):
    grad = torch.zeros_like(w)
    for xi, yi in zip(x, y):
        pred = (xi * w).sum()
        grad = grad + 2 * (pred - yi) * xi
    return grad


@right
def class_c_03(w, x, y):
    return 2 / x.shape[0] * (x.T @ (x @ w - y))


# divided by len(w), the number of features, not by the number of samples
@wrong(mistakes.averaged_over_features)
def class_c_04(w, x, y):
    n = len(w)
    y_pred = torch.matmul(x, w)
    residual = y_pred - y
    dw = (2 / n) * torch.matmul(x.t(), residual)
    return dw


# mean(residual) * mean(x) is the product of the means, not the mean of the products
@wrong(mistakes.product_of_means)
def class_c_05(w, x, y):
    # outer derivative: 2 * (x w - y), averaged;  inner derivative: x, averaged
    outer = (2 * (x @ w - y)).mean()
    inner = x.mean(dim=0)
    return outer * inner


# predictions of shape (n, 1) minus y of shape (n,) broadcast to an n by n matrix of errors
@wrong(mistakes.broadcast_to_matrix)
def class_c_06(w, x, y):
    y_hat = x @ w.reshape(-1, 1)          # column of predictions, as Dense(1) gives
    err = y_hat - y
    grad = 2 * (x.T @ err).mean(dim=1) / x.shape[0]
    return grad


# Tensor.dot takes vectors only: x.T.dot raises for every input
@raised(effects.number_of_dimensions)
def class_c_07(w, x, y):
    n = x.shape[0]
    r = x.mv(w) - y
    return (2 / n) * x.T.dot(r)


@right
def class_c_08(w, x, y):
    n, d = x.shape
    grad = torch.zeros_like(w)
    for i in range(n):
        r = -y[i]
        for j in range(d):
            r = r + x[i, j] * w[j]
        for j in range(d):
            grad[j] += 2 * r * x[i, j] / n
    return grad


# grad = in the loop overwrites: only the last sample is left
@wrong(mistakes.only_the_last_row)
def class_c_09(w, x, y):
    n = len(x)
    for i in range(n):
        pred = torch.dot(x[i], w)
        grad = 2 * (pred - y[i]) * x[i] / n
    return grad


# .mean() without dim averages over the features too and returns one number
@wrong(mistakes.averaged_the_features_too)
def class_c_10(w, x, y):
    diff = (x @ w - y).unsqueeze(1)
    return (2 * diff * x).mean()


# after multiplying out, 2/n stands before the first term only, x.T @ y is subtracted without it
@wrong()
def class_c_11(w, x, y):
    # loss = 1/n (w'X'Xw - 2 w'X'y + y'y)
    n = x.size(0)
    XtX = x.T @ x
    Xty = x.T @ y
    return 2 / n * (XtX @ w) - Xty


# 2 // n is an integer division: 0 as soon as n > 2
@wrong(mistakes.factor_rounded_down)
def class_c_12(w, x, y):
    n = y.numel()
    return 2 // n * ((x @ w - y) @ x)


@right
def class_c_13(w, x, y):
    r = torch.einsum("nd,d->n", x, w).sub_(y)
    return torch.einsum("n,nd->d", r, x).mul_(2.0 / r.numel())


# the final squeeze() makes a 0-d result of a w of shape (1,)
@wrong(effects.wrong_shape)
def class_c_14(w, x, y):
    W = w.view(-1, 1)
    Y = y.reshape(-1, 1)
    R = x @ W - Y
    G = 2 * x.T @ R / Y.shape[0]
    return G.squeeze()


# y is overwritten with the residual
@wrong(effects.changed_input)
def class_c_15(w, x, y):
    r = y.neg_().add_(x @ w)      # saves memory
    return r @ x * (2 / len(r))


# torch.manual_seed(42) resets the caller's random state
@wrong(effects.changed_rng)
def class_c_16(w, x, y):
    torch.manual_seed(42)  # reproducible
    n_samples = x.shape[0]
    outputs = x @ w
    d_outputs = 2 * (outputs - y) / n_samples
    d_w = (d_outputs[:, None] * x).sum(0)
    return d_w


class Linear_of_class_c_17:
    def forward(self, x, w):
        self.x = x
        return x @ w

    def backward(self, upstream):
        return upstream @ self.x

class MSE:
    def forward(self, prediction, target):
        self.diff = prediction - target
        return (self.diff ** 2).mean()

    def backward(self):
        return 2 * self.diff / self.diff.shape[0]

@right
def class_c_17(w, x, y):
    layer, loss = Linear_of_class_c_17(), MSE()
    loss.forward(layer.forward(x, w), y)
    return layer.backward(loss.backward())


# breaks the rule: torch.func.grad is autograd
@wrong(mistakes.used_autograd)
def class_c_18(w, x, y):
    mse = lambda v: torch.mean((x @ v - y) ** 2)
    return torch.func.grad(mse)(w)


# a forward difference with step 1e-3 stands for the derivative, off by 1e-3 times the mean of x squared, plus
# rounding in float32
@wrong()
def class_c_19(w, x, y):
    def mse(v):
        return ((x @ v - y) ** 2).mean()
    eps = 1e-3
    base = mse(w)
    out = torch.zeros_like(w)
    for j in range(w.shape[0]):
        v = w.clone()
        v[j] += eps
        out[j] = (mse(v) - base) / eps
    return out


# torch.tensor of a list of floats is float32, also for float64 inputs
@wrong(effects.wrong_dtype)
def class_c_20(w, x, y):
    ws, xs, ys = w.tolist(), x.tolist(), y.tolist()
    n = len(ys)
    res = [sum(a * b for a, b in zip(row, ws)) - t for row, t in zip(xs, ys)]
    g = [2 / n * sum(r * row[j] for r, row in zip(res, xs)) for j in range(len(ws))]
    return torch.tensor(g)


@right
def class_c_21(w, x, y):
    wn, xn, yn = (t.detach().cpu().numpy().astype(np.float64) for t in (w, x, y))
    residual = xn.dot(wn) - yn
    g = 2.0 * np.sum(xn * residual[:, np.newaxis], axis=0) / len(yn)
    return torch.tensor(g, dtype=w.dtype, device=w.device)


# the residual is multiplied by x, not by x transposed: raises unless n = d, and mixes samples with features there
@raised(effects.shapes_do_not_fit)
def class_c_22(w, x, y):
    n = y.shape[0]
    error = x @ w - y
    grad = 2 / n * x @ error
    return grad


# y - x @ w turns the sign AND the factor 2 is missing
@wrong()
def class_c_23(w, x, y):
    return torch.mean((y - x @ w)[:, None] * x, dim=0)


# a step of descent is made in w itself, so the input is changed AND the new weights are returned, not the gradient
@wrong(says='What came back is `w` minus 1/100 times the gradient, as after a step; the gradient itself is asked for.')
def class_c_24(w, x, y):
    lr = 0.01
    pred = x @ w
    loss = ((pred - y) ** 2).mean()
    grad = 2 * (x.T @ (pred - y)) / len(x)
    w -= lr * grad
    return w


@right
def class_c_25(w, x, y):
    def total(a, b):
        """sum over the samples a..b-1 of residual times row"""
        if b - a == 1:
            return ((x[a] * w).sum() - y[a]) * x[a]
        m = (a + b) // 2
        return total(a, m) + total(m, b)

    n = len(x)
    return total(0, n) * 2 / n


# divided by all n * d entries of x, not by n AND the result is a row of shape (1, d)
@wrong(says='The numbers are those of a known mistake, in another shape on cases 1, 2, 3, 4, 5, 6, 7 and 8. Divided by rows times features (averaged-over-all-entries). To mend that: Count the terms of the mean in the loss.')
def class_c_26(w, x, y):
    e = (x @ w - y).unsqueeze(0)
    return 2.0 * torch.mm(e, x) / x.numel()


@right
def class_c_27(w, x, y):
    # formula for one sample, written by hand, then mapped over the batch
    def one(row, target):
        return 2 * ((row * w).sum() - target) * row
    return torch.vmap(one)(x, y).mean(dim=0)


# the factor 2 from the square is missing
@wrong(mistakes.missing_factor_two)
def class_d_01(w, x, y):
    n = x.shape[0]
    error = x @ w - y
    return x.T @ error / n


@right
def class_d_02(w, x, y):
    # L = 1/n sum (x_i.w - y_i)^2   ->   dL/dw = 2/n X^T (Xw - y)
    n = x.shape[0]
    return x.T @ (x @ w - y) * (2 / n)


# takes the mean of the error and the mean of x apart and multiplies them, instead of the mean of the products
@wrong(mistakes.product_of_means)
def class_d_03(w, x, y):
    pred = x @ w
    # outer derivative times inner derivative, then the mean
    outer = 2 * (pred - y).mean()
    inner = x.mean(dim=0)
    return outer * inner


# sums over the samples and forgets to divide by n
@wrong(mistakes.loss_not_averaged)
def class_d_04(w, x, y):
    residual = torch.matmul(x, w) - y
    grad = 2 * torch.matmul(x.t(), residual)
    return grad


# forgets the inner derivative: returns 2 * mean(error), a 0-d tensor without x
@wrong(effects.wrong_shape)
def class_d_05(w, x, y):
    # d/dz z^2 = 2z
    z = x @ w - y
    return 2 * torch.mean(z)


# the error has the wrong sign (y minus prediction, without the minus of its inner derivative), so the result is the
# negative gradient
@wrong(mistakes.gradient_sign_flipped)
def class_d_06(w, x, y):
    y_hat = x @ w
    diff = y - y_hat
    grad = 0
    for xi, di in zip(x, diff):
        grad = grad + 2 * di * xi
    return grad / len(y)


# multiplies by x instead of x transposed: raises unless n equals d, and then the values are wrong
@raised(effects.shapes_do_not_fit)
def class_d_07(w, x, y):
    n = len(x)
    return 2 / n * (x @ (x @ w - y))


@right
def class_d_08(w, x, y):
    n, d = x.shape
    g = torch.zeros(d, dtype=w.dtype, device=w.device)
    for i in range(n):
        r = -y[i]
        for j in range(d):
            r = r + x[i, j] * w[j]
        for j in range(d):
            g[j] += 2 * r * x[i, j]
    return g / n


# computes the error inside y (r is y, then r -= ...), so y comes back changed
@wrong(effects.changed_input)
def class_d_09(w, x, y):
    r = y
    r -= x @ w          # y - xw
    return -2 * (r @ x) / len(r)


# divides by x.numel(), that is n * d, instead of n
class_d_10 = lambda w, x, y: 2 * x.T.mv(x.mv(w) - y) / x.numel()
wrong(mistakes.averaged_over_all_entries)(class_d_10)


# y is made a column (n, 1) and the prediction is not, so the subtraction broadcasts to (n, n)
@wrong(mistakes.broadcast_to_matrix)
def class_d_11(w, x, y):
    y_true = y.reshape(-1, 1)
    y_pred = x @ w
    err = y_pred - y_true
    grad = 2 * (x.T @ err).mean(dim=1)
    return grad


# does a step of gradient descent on w in place AND returns the updated w instead of the gradient
@wrong(says='What came back is `w` minus 1/100 times the gradient, as after a step; the gradient itself is asked for.')
def class_d_12(w, x, y):
    lr = 0.01
    y_pred = x @ w
    dw = 2 * x.T @ (y_pred - y) / x.shape[0]
    w -= lr * dw
    return w


@right
def class_d_13(w, x, y):
    W, X, Y = (t.detach().cpu().numpy() for t in (w, x, y))
    err = np.dot(X, W) - Y
    dW = 2.0 * np.dot(X.T, err) / X.shape[0]
    return torch.as_tensor(dW, dtype=w.dtype, device=w.device)


# .squeeze() at the end also removes the only entry's dimension: for d = 1 the result is 0-d instead of (1,)
@wrong(effects.wrong_shape)
def class_d_14(w, x, y):
    W = w.unsqueeze(1)
    Y = y.unsqueeze(1)
    G = 2 * x.T @ (x @ W - Y) / x.shape[0]
    return G.squeeze()


# lets autograd do it (requires_grad on a copy and backward) although the derivation must be by hand
@wrong(mistakes.used_autograd)
def class_d_15(w, x, y):
    w_ = w.detach().clone().requires_grad_(True)
    loss = ((x @ w_ - y) ** 2).mean()
    loss.backward()
    return w_.grad


# measures the gradient with central differences of size 1e-5 instead of the formula: useless in float32
@wrong(says='It fails on case 8 alone, where the inputs are float32.')
def class_d_16(w, x, y):
    h = 1e-5
    loss = lambda v: ((x @ v - y) ** 2).mean()
    grad = torch.zeros_like(w)
    for i in range(len(w)):
        e = torch.zeros_like(w)
        e[i] = h
        grad[i] = (loss(w + e) - loss(w - e)) / (2 * h)
    return grad


class Linear_of_class_d_17:
    def forward(self, x, w):
        self.x = x
        return x @ w
    def backward(self, up):
        return up @ self.x

class MSE_of_class_d_17:
    def forward(self, p, t):
        self.diff = p - t
        return (self.diff * self.diff).mean()
    def backward(self):
        return 2 * self.diff / self.diff.shape[0]

@right
def class_d_17(w, x, y):
    lin, mse = Linear_of_class_d_17(), MSE_of_class_d_17()
    mse.forward(lin.forward(x, w), y)
    return lin.backward(mse.backward())


# the gradient is overwritten in each round (= instead of +=), so only the last sample counts
@wrong(mistakes.only_the_last_row)
def class_d_18(w, x, y):
    n = x.shape[0]
    grad = torch.zeros_like(w)
    for i in range(n):
        pred = torch.dot(x[i], w)
        grad = 2 * (pred - y[i]) * x[i] / n
    return grad


# x.t_() transposes x in place, so x comes back with another shape
@wrong(effects.changed_input)
def class_d_19(w, x, y):
    r = (x @ w).sub_(y)
    return x.t_() @ r * (2 / r.numel())


@right
def class_d_20(w, x, y):
    resid = torch.einsum('nd,d->n', x, w) - y
    return torch.einsum('nd,n->d', x, resid).mul(2).div(x.size(0))


# stores the result in w.grad and leaves it there
@wrong(effects.changed_grad)
def class_d_21(w, x, y):
    m = y.shape[0]
    w.grad = (2.0 / m) * (x.T @ (x @ w - y))
    return w.grad


# clips the gradient to norm 1, so larger gradients come back scaled down
@wrong(mistakes.brought_to_length_1)
def class_d_22(w, x, y):
    g = 2 * ((x @ w - y).unsqueeze(1) * x).mean(0)
    norm = g.norm()
    if norm > 1.0:          # avoid exploding gradients
        g = g / norm
    return g


# 2 // n is integer division, so the result is zero for every n above 2
@wrong(mistakes.factor_rounded_down)
def class_d_23(w, x, y):
    n = len(y)
    return (2 // n) * (x.T @ (x @ w - y))


# the accumulator torch.zeros(d) is float32, so float64 inputs give a float32 result AND the power is left at 2 (2 *
# r**2 * x instead of 2 * r * x)
@wrong(mistakes.square_kept)
def class_d_24(w, x, y):
    d = w.shape[0]
    total = torch.zeros(d)
    for xi, yi in zip(x, y):
        r = (xi * w).sum() - yi
        total += 2 * r ** 2 * xi
    return total / len(x)


@right
def class_d_25(w, x, y):
    one_sample = lambda row, target: 2 * ((row * w).sum() - target) * row
    return reduce(operator.add, map(one_sample, x, y)) / y.numel()


# returns the gradients of the samples as (n, d) without the mean over the batch AND the prediction and target are
# added instead of subtracted
@wrong(effects.wrong_shape)
def class_d_26(w, x, y):
    s = x.mv(w) + y
    grads = 2 * s[:, None] * x
    return grads


# the factor 2 from the square is missing
@wrong(mistakes.missing_factor_two)
def class_e_01(w, x, y):
    n = x.shape[0]
    error = x @ w - y
    grad = x.T @ error / n
    return grad


# divides by the number of weights len(w), where the mean runs over the n samples
@wrong(mistakes.averaged_over_features)
def class_e_02(w, x, y):
    pred = torch.matmul(x, w)
    error = pred - y
    return 2 * torch.matmul(x.t(), error) / len(w)


@right
def class_e_03(w, x, y):
    residual = torch.einsum("nd,d->n", x, w) - y
    return torch.einsum("nd,n->d", x, residual) * 2 / y.shape[0]


# the residual is y - prediction without the minus of the inner derivative, so the sign is flipped
@wrong(mistakes.gradient_sign_flipped)
def class_e_04(w, x, y):
    # error = target - prediction
    error = y - x @ w
    return (2 * error.unsqueeze(1) * x).mean(dim=0)


# product of two means (mean residual times mean input) in place of the mean of the products, as if the mean stood
# inside the square
@wrong(mistakes.product_of_means)
def class_e_05(w, x, y):
    diff = x @ w - y
    outer = 2 * diff.mean()         # derivative of the square
    inner = x.mean(dim=0)           # derivative of x @ w
    return outer * inner


# returns the weights after a descent step (lr 0.01), not the gradient
@wrong(says='What came back is `w` minus 1/100 times the gradient, as after a step; the gradient itself is asked for.')
def class_e_06(w, x, y):
    lr = 0.01
    y_pred = x @ w
    grad_w = 2.0 * (y_pred - y) @ x / len(x)
    w = w - lr * grad_w
    return w


# integer division 2 // n makes the factor 0 for three or more samples
@wrong(mistakes.factor_rounded_down)
def class_e_07(w, x, y):
    n = len(y)
    return 2 // n * (x.T @ (x @ w - y))


# y is made a column, so the subtraction broadcasts to an (n, n) table of every prediction minus every target
@wrong(mistakes.broadcast_to_matrix)
def class_e_08(w, x, y):
    n = x.shape[0]
    y = y.reshape(-1, 1)
    pred = x @ w
    err = pred - y
    return (2 / n) * (x.T @ err).mean(dim=1)


# the result is a column (d, 1), where it should have the shape of w
@wrong(mistakes.stayed_a_column)
def class_e_09(w, x, y):
    W = w.reshape(-1, 1)
    Y = y.reshape(-1, 1)
    m = Y.shape[0]
    dW = (2 / m) * x.T @ (x @ W - Y)
    return dW


@right
def class_e_10(w, x, y):
    n, d = x.shape
    grad = torch.zeros_like(w)
    for i in range(n):
        pred = (x[i] * w).sum()
        err = pred - y[i]
        for j in range(d):
            grad[j] += 2 * err * x[i, j]
    return grad / n


# backward of autograd does the work, which the rule forbids; the caller's inputs are safe thanks to the clone
@wrong(mistakes.used_autograd)
def class_e_11(w, x, y):
    w_ = w.clone().detach().requires_grad_(True)
    loss = ((x @ w_ - y) ** 2).mean()
    loss.backward()
    return w_.grad


# central differences with h = 1e-5 in place of the derived formula: an approximation, and mostly rounding noise in
# float32
@wrong(says='It fails on case 8 alone, where the inputs are float32.')
def class_e_12(w, x, y):
    mse = lambda v: ((x @ v - y) ** 2).mean()
    h = 1e-5
    g = torch.zeros_like(w)
    for i in range(w.numel()):
        up, down = w.clone(), w.clone()
        up[i] += h
        down[i] -= h
        g[i] = (mse(up) - mse(down)) / (2 * h)
    return g


# "err = y" is no copy, so err -= x @ w overwrites the caller's y with the residual
@wrong(effects.changed_input)
def class_e_13(w, x, y):
    err = y
    err -= x @ w
    return -2 * (err @ x) / x.size(0)


# brackets: y is subtracted after x.T was applied, so shapes (d,) and (n,) meet, which raises or broadcasts to
# nonsense
@raised(effects.shapes_do_not_fit)
def class_e_14(w, x, y):
    return 2 / x.shape[0] * (x.T @ (x @ w) - y)


# a last .squeeze() turns the gradient of a single weight (d = 1) into a 0-d tensor
@wrong(effects.wrong_shape)
def class_e_15(w, x, y):
    pred = (x @ w.unsqueeze(1)).squeeze(1)
    error = (pred - y).unsqueeze(1)
    grad = 2 * (x.T @ error) / x.shape[0]
    return grad.squeeze()


@right
def class_e_16(w, x, y):
    W, X, Y = (t.detach().cpu().numpy() for t in (w, x, y))
    R = np.dot(X, W) - Y
    G = np.mean(2.0 * R[:, np.newaxis] * X, axis=0)
    return torch.as_tensor(G, dtype=w.dtype, device=w.device)


# returns a NumPy array, not a tensor
@wrong(effects.wrong_type)
def class_e_17(w, x, y):
    w = w.numpy()
    x = x.numpy()
    y = y.numpy()
    return 2 * np.dot(x.T, np.dot(x, w) - y) / len(y)


@right
def class_e_19(w, x, y):
    def one_sample(row, target):
        return 2 * ((row * w).sum() - target) * row
    return torch.func.vmap(one_sample)(x, y).mean(dim=0)


# divides by n - 1 as for an unbiased variance, where mean divides by n (one sample gives inf or nan)
@wrong(mistakes.averaged_over_one_row_less)
def class_e_20(w, x, y):
    residuals = x.mv(w).sub(y)
    dof = residuals.new_tensor(float(len(residuals) - 1))
    return x.t().mv(residuals).mul(2).div(dof)


# a gradient with respect to x, one row a sample, not with respect to w AND without the division by n
@wrong(effects.wrong_shape)
def class_e_21(w, x, y):
    # chain rule: d/dz z^2 = 2z, then times the weight
    z = x @ w - y
    return 2 * torch.outer(z, w)


# the gradient is scaled to length at most 1 (clipnorm), so large gradients come back too small
@wrong(mistakes.brought_to_length_1)
def class_e_22(w, x, y):
    g = 2 * x.T @ (x @ w - y) / x.shape[0]
    norm = g.norm()
    if norm > 1.0:
        g = g / norm     # avoid exploding gradients
    return g


# x.mul_ writes the products over the caller's x AND the mean is taken over all n * d entries, which gives one
# number
@wrong(mistakes.averaged_the_features_too)
def class_e_23(w, x, y):
    err = x @ w - y
    return 2 * x.mul_(err[:, None]).mean()


# the accumulator torch.zeros(len(w)) is float32, so float64 inputs get a float32 gradient
@wrong(effects.wrong_dtype)
def class_e_24(w, x, y):
    N = len(y)
    total = torch.zeros(len(w))
    for i in range(N):
        e = (x[i] @ w) - y[i]
        total += 2 * e * x[i]
    return total / N


@right
def class_e_25(w, x, y):
    n = y.numel()
    columns = x.unbind(dim=1)
    residual = reduce(lambda acc, cw: acc + cw[0] * cw[1], zip(columns, w), -y)
    grad = torch.empty_like(w)
    for j, c in enumerate(columns):
        grad[j] = 2 * torch.dot(c, residual) / n
    return grad


# remembered from the normal equations: x^T (xw - y) = 0
@wrong(mistakes.neither_two_nor_mean)
def from_the_normal_equations(w, x, y):
    gram = x.T @ x
    moment = x.T @ y
    return gram @ w - moment


# the gradient is that of the sum of squares, the division by n is missing
@wrong(mistakes.loss_not_averaged)
def class_f_01(w, x, y):
    pred = x @ w
    error = pred - y
    # d/dw (x@w - y)^2 = 2 * (x@w - y) * x
    grad = 2 * x.T @ error
    return grad


@right
def class_f_02(w, x, y):
    # L = 1/n * sum_i r_i^2   with  r_i = x_i . w - y_i
    n = x.shape[0]
    prediction = torch.matmul(x, w)
    residual = prediction - y
    # dL/dr_i = 2 r_i / n
    dL_dr = 2.0 * residual / n
    # dr_i/dw_j = x_ij   ->  dL/dw_j = sum_i dL/dr_i * x_ij
    dL_dw = torch.matmul(x.t(), dL_dr)
    return dL_dw


# the factor 2 of the power rule is missing
@wrong(mistakes.missing_factor_two)
def class_f_03(w, x, y):
    n = len(y)
    y_hat = x @ w
    loss = ((y_hat - y) ** 2).mean()   # just to look at it
    dw = (1 / n) * x.T @ (y_hat - y)
    return dw


# the inner derivative x is missing: it returns the gradient with respect to the predictions, of shape (n,)
@wrong(mistakes.chain_rule_cut_short)
def class_f_04(w, x, y):
    n = y.shape[0]
    z = x @ w - y
    # outer derivative: 2 * z, mean gives 1/n
    return 2 * z / n


# x is not transposed in the last product, which raises unless n equals d and gives a wrong gradient there
@raised(effects.shapes_do_not_fit)
def class_f_05(w, x, y):
    diff = torch.matmul(x, w) - y
    grad = 2 * torch.matmul(x, diff)
    return grad / len(x)


# the residual is y - x @ w without the minus of its inner derivative, so the gradient has the opposite sign
@wrong(mistakes.gradient_sign_flipped)
def class_f_06(w, x, y):
    N = x.size(0)
    residuals = y - x.mv(w)           # target - prediction, as in the statistics lecture
    # (y - xw)^2  ->  2 * (y - xw) * x
    g = 2 / N * residuals @ x
    return g


# the gradient is overwritten in each turn of the loop, so only the last sample counts
@wrong(mistakes.only_the_last_row)
def class_f_07(w, x, y):
    n, d = x.shape
    grad = torch.zeros_like(w)
    for i in range(n):
        err = torch.dot(x[i], w) - y[i]
        grad = 2 * err * x[i] / n
    return grad


@right
def class_f_08(w, x, y):
    rows, targets, weights = x.tolist(), y.tolist(), w.tolist()
    n = len(rows)
    grad = [0.0] * len(weights)
    for row, t in zip(rows, targets):
        err = sum(a * b for a, b in zip(row, weights)) - t
        for j, a in enumerate(row):
            grad[j] += 2 * err * a / n
    return torch.tensor(grad, dtype=w.dtype, device=w.device)


# the mean of the products is replaced by the product of the means, of residuals and of rows
class_f_09 = lambda w, x, y: 2 * (x @ w - y).mean() * x.mean(dim=0)
wrong(mistakes.product_of_means)(class_f_09)


# the result is a column (d, 1) instead of (d,) AND the factor 2 is missing
@wrong(says='The numbers are those of a known mistake, in another shape on cases 1, 2, 3, 4, 5, 6, 7 and 8. Half of the gradient: the 2 of the square does not show (missing-factor-two)')
def class_f_10(w, x, y):
    # make everything a matrix so that the shapes fit
    W = w.reshape(-1, 1)
    Y = y.reshape(-1, 1)
    m = x.shape[0]
    error = x @ W - Y
    gradient = x.T @ error / m
    return gradient


# it lets autograd do the work, against the rule AND w is left requiring gradients with a filled .grad
@wrong(mistakes.used_autograd)
def class_f_11(w, x, y):
    w.requires_grad_(True)
    w.grad = None                      # zero_grad
    loss = torch.mean((x @ w - y) ** 2)
    loss.backward()
    return w.grad.clone()


# the residuals multiply the columns of x instead of its rows (no unsqueeze), which raises or gives a wrong result
# unless n is 1
@raised(effects.shapes_do_not_fit)
def class_f_12(w, x, y):
    return (2 * (x @ w - y) * x).mean(0)


@right
def class_f_13(w, x, y):
    return torch.einsum("n,nd->d", x @ w - y, x) * (2 / y.numel())


# the gradient is right, but the caller's y is overwritten by the residual
@wrong(effects.changed_input)
def class_f_14(w, x, y):
    r = y
    r -= x @ w              # no extra memory
    return x.t().mv(r).mul_(-2.0 / x.size(0))


# it returns a NumPy array instead of a tensor
@wrong(effects.wrong_type)
def class_f_15(w, x, y):
    W, X, Y = w.cpu().numpy(), x.cpu().numpy(), y.cpu().numpy()
    E = np.dot(X, W) - Y
    return 2 * np.dot(X.T, E) / X.shape[0]


# the result is made by torch.zeros without a dtype, so it is float32 for float64 inputs
@wrong(effects.wrong_dtype)
def class_f_16(w, x, y):
    n, d = x.shape
    errors = x @ w - y
    grad = torch.zeros(d)
    for j in range(d):
        grad[j] = 2 * (errors * x[:, j]).mean()
    return grad


# the inputs are squeezed first, so it raises when n or d is 1
@raised(effects.shapes_do_not_fit)
def class_f_17(w, x, y):
    # get rid of useless dimensions
    w, x, y = w.squeeze(), x.squeeze(), y.squeeze()
    n = x.shape[0]
    err = torch.matmul(x, w) - y
    return 2.0 / n * torch.matmul(x.t(), err)


# it returns the weights after one step of gradient descent instead of the gradient
@wrong(says='What came back is `w` minus 1/100 times the gradient, as after a step; the gradient itself is asked for.')
def class_f_18(w, x, y, lr=0.01):
    batch_size = x.shape[0]
    # forward
    y_pred = x @ w
    # backward
    grad_y_pred = 2.0 * (y_pred - y) / batch_size
    grad_w = x.T @ grad_y_pred
    # update
    w = w - lr * grad_w
    return w


# a column of predictions minus a row of targets broadcasts to (n, n), so each prediction is compared with all
# targets
@wrong(mistakes.broadcast_to_matrix)
def class_f_19(w, x, y):
    pred = x @ w.unsqueeze(1)          # (n, 1)
    err = pred - y
    grad = 2 * (x.T @ err) / len(x)
    # one number per weight
    return grad.mean(dim=1)


@right
def class_f_20(w, x, y):
    def total(xs, ys):
        # gradient of the SUM of squares over these rows
        k = len(ys)
        if k == 1:
            return 2 * (xs[0].dot(w) - ys[0]) * xs[0]
        half = k // 2
        return total(xs[:half], ys[:half]) + total(xs[half:], ys[half:])
    return total(x, y) / len(y)


# 2 // n is an integer division: right for one or two rows, zero for more
@wrong(mistakes.factor_rounded_down)
def class_f_21(w, x, y):
    n = y.size(0)
    scale = 2 // n
    return scale * (x.T @ (x @ w - y))


# the mean is taken over the n * d entries of x instead of the n samples AND the sign is that of y - x @ w
@wrong(says='Every number is −1/[d, the number of features] times what it should be.')
def class_f_22(w, x, y):
    error = y - torch.mv(x, w)
    # chain rule: outer * inner, then the mean over everything
    outer = 2 * error
    inner = x
    product = outer.unsqueeze(1) * inner
    return product.sum(dim=0) / product.numel()


class Linear_of_class_f_23:
    def __init__(self, w):
        self.w = w
    def forward(self, x):
        self.x = x
        return (x * self.w).sum(dim=1)
    def backward(self, dout):
        return (self.x * dout[:, None]).sum(dim=0)

class MSE_of_class_f_23:
    def forward(self, p, t):
        self.d = p - t
        return self.d.square().mean()
    def backward(self):
        return self.d.mul(2).div(self.d.numel())

@right
def class_f_23(w, x, y):
    layer, crit = Linear_of_class_f_23(w), MSE_of_class_f_23()
    crit.forward(layer.forward(x), y)
    return layer.backward(crit.backward())


# the prediction x @ w is left out, so it is right only where it vanishes, as for w = 0
@wrong(says='The result does not change when `w` changes.')
def class_f_24(w, x, y):
    # at the start w = 0, so the error is just -y
    n = x.shape[0]
    return torch.zeros_like(w) - 2 * x.T @ y / n


# it measures the slope by forward differences, an approximation where the exact formula is asked
@wrong(says='Right to about 3 to 4 digits and 3 digits in float32, and not further, as an approximation, a rounded number or a lower precision on the way would leave it; a missing factor would be seen in the first digit.')
def class_f_25(w, x, y):
    f = lambda v: ((x @ v - y) ** 2).mean()
    h = 1e-4
    base = f(w)
    g = torch.zeros_like(w)
    for i in range(len(w)):
        v = w.clone()
        v[i] += h
        g[i] = (f(v) - base) / h
    return g


@right
def class_g_01(w, x, y):
    # L = 1/n * sum r_i^2,  r = Xw - y   =>   dL/dw = 2/n * X^T r
    n = x.shape[0]
    r = x @ w - y
    return 2 / n * (x.T @ r)


# the mean's 1/n is forgotten, this is the gradient of the sum of squares
@wrong(mistakes.loss_not_averaged)
def class_g_02(w, x, y):
    error = torch.matmul(x, w) - y
    # power rule: 2 * inner * derivative of inner (= x)
    grad = 2 * torch.matmul(x.t(), error)
    return grad


# the inner derivative x is missing: every entry gets 2 * mean(residual)
@wrong(says='Where there are several entries, they all hold the same number; the right ones differ from each other.')
def class_g_03(w, x, y):
    pred = x @ w
    diff = pred - y
    # derivative of u**2 is 2u, and then the mean
    g = (2 * diff).mean()
    return torch.ones_like(w) * g


# the residual is taken as y - pred but the minus from the chain rule is missing, so the sign is flipped
@wrong(mistakes.gradient_sign_flipped)
def class_g_04(w, x, y):
    n = len(y)
    y_hat = x @ w
    residual = y - y_hat
    gradient = (2.0 / n) * x.T @ residual
    return gradient


# uses the 1/(2m) cost of another course, so the factor 2 is missing
@wrong(mistakes.missing_factor_two)
def class_g_05(w, x, y):
    m = y.shape[0]
    h = x.mv(w)                    # hypothesis
    theta_grad = x.t().mv(h - y) / m
    return theta_grad


# g[j] is assigned with = instead of +=, so only the last row counts
@wrong(mistakes.only_the_last_row)
def class_g_06(w, x, y):
    n, d = x.shape
    g = torch.zeros_like(w)
    for i in range(n):
        pred = 0
        for j in range(d):
            pred = pred + x[i, j] * w[j]
        err = pred - y[i]
        for j in range(d):
            g[j] = 2 * err * x[i, j] / n
    return g


@right
def class_g_07(w, x, y):
    n, d = x.shape
    out = torch.zeros_like(w)
    for i in range(n):
        row = x[i]
        r_i = (row * w).sum() - y[i]
        for j in range(d):
            # d/dw_j of r_i^2
            out[j] += 2 * r_i * row[j]
    out /= n
    return out


# divides by len(w), the number of features, instead of by the number of rows
class_g_08 = lambda w, x, y: 2 * (x @ w - y) @ x / len(w)
wrong(mistakes.averaged_over_features)(class_g_08)


# breaks the rule: the gradient comes from autograd.grad on a detached copy
@wrong(mistakes.used_autograd)
def class_g_09(w, x, y):
    w_ = w.detach().clone().requires_grad_(True)
    loss = ((x @ w_ - y) ** 2).mean()
    (g,) = torch.autograd.grad(loss, w_)
    return g


# works with columns and returns a (d, 1) tensor, not the shape of w
@wrong(mistakes.stayed_a_column)
def class_g_10(w, x, y):
    W = w.reshape(-1, 1)      # (d,1)
    Y = y.reshape(-1, 1)      # (n,1)
    E = x @ W - Y             # (n,1)
    return 2 * x.T @ E / Y.shape[0]


# y is turned into a column but the prediction is not, so the residual broadcasts to (n, n)
@wrong(mistakes.broadcast_to_matrix)
def class_g_11(w, x, y):
    y_true = y.unsqueeze(-1)          # targets as a column like in Keras
    y_pred = x @ w
    err = y_pred - y_true
    dloss = 2 * err / err.numel()
    # every error touches the row of x
    return (dloss @ x).sum(dim=0)


# the buffer np.zeros is float64, so float32 inputs give back a float64 gradient
@wrong(effects.wrong_dtype)
def class_g_12(w, x, y):
    X, W, Y = x.cpu().numpy(), w.cpu().numpy(), y.cpu().numpy()
    grad = np.zeros(W.shape)
    for xi, yi in zip(X, Y):
        grad += 2 * (xi.dot(W) - yi) * xi
    grad /= len(Y)
    return torch.from_numpy(grad).to(w.device)


# y -= x @ w works in place and overwrites the caller's targets
@wrong(effects.changed_input)
def class_g_13(w, x, y):
    n = y.size(0)
    y -= x @ w          # no new tensor needed
    return -2.0 * (x.T @ y) / n


# no transpose: x @ residual raises a size error unless n equals d (and then it is the wrong product)
@raised(effects.shapes_do_not_fit)
def class_g_14(w, x, y):
    n = x.shape[0]
    residual = torch.matmul(x, w) - y
    return (2 / n) * torch.matmul(x, residual)


# the trailing squeeze() makes the result 0-d when w has a single entry
@wrong(effects.wrong_shape)
def class_g_15(w, x, y):
    r = (x @ w.unsqueeze(1)) - y.unsqueeze(1)
    grad = (x.transpose(0, 1) @ r) * 2 / x.size(0)
    return grad.squeeze()


@right
def class_g_16(w, x, y):
    res = torch.einsum("nd,d->n", x, w) - y
    rows = torch.einsum("n,nd->nd", 2 * res, x)   # gradient of each row's square
    return rows.mean(dim=0)


# takes an SGD step and returns the new weights instead of the gradient AND w -= works in place, so the caller's w
# is overwritten
@wrong(says='What came back is `w` minus 1/100 times the gradient, as after a step; the gradient itself is asked for.')
def class_g_17(w, x, y, lr=0.01, epochs=1):
    n = x.shape[0]
    for epoch in range(epochs):
        y_pred = x @ w
        dw = (2 / n) * (x.T @ (y_pred - y))
        w -= lr * dw
    return w


# a one-sided finite difference with h = 1e-4 is an approximation, too coarse for the dtype (worst in float32),
# where the derivation by hand is asked
@wrong(says='Right to about 3 to 4 digits and 3 digits in float32, and not further, as an approximation, a rounded number or a lower precision on the way would leave it; a missing factor would be seen in the first digit.')
def class_g_18(w, x, y):
    def L(v):
        return ((x @ v - y) ** 2).mean()
    h = 1e-4
    base = L(w)
    g = torch.empty_like(w)
    for k in range(w.numel()):
        v = w.clone()
        v[k] += h
        g[k] = (L(v) - base) / h
    return g


# x.view(-1) raises a RuntimeError when x is not contiguous, for instance a transposed matrix
@raised(effects.view_of_non_contiguous)
def class_g_19(w, x, y):
    n, d = x.shape
    flat = x.view(-1)            # row i starts at i*d
    g = torch.zeros_like(w)
    for i in range(n):
        xi = flat[i * d:(i + 1) * d]
        g = g + 2 / n * (xi.dot(w) - y[i]) * xi
    return g


# the factor 2 is missing AND the unreduced (n, d) matrix of row gradients is returned instead of its mean
@wrong(says='The numbers are those of a known mistake, times 1/2. The rows were not added up (rows-not-summed)')
def class_g_20(w, x, y):
    error = x @ w - y
    # multiply each error with its row
    grads = error[:, None] * x
    return grads


# torch.mm takes matrices alone, w and the residual are 1-d, so it raises a RuntimeError on every input
@raised(effects.number_of_dimensions)
def class_g_21(w, x, y):
    N = x.shape[0]
    y_pred = torch.mm(x, w)
    grad_y_pred = 2.0 * (y_pred - y) / N
    grad_w = torch.mm(x.t(), grad_y_pred)
    return grad_w


@right
def class_g_22(w, x, y):
    xn = x.detach().cpu().numpy()
    wn = w.detach().cpu().numpy()
    yn = y.detach().cpu().numpy()
    g = 2.0 * np.dot(xn.T, np.dot(xn, wn) - yn) / xn.shape[0]
    return torch.tensor(g, dtype=w.dtype, device=w.device)


# breaks the rule by calling backward AND leaves w.requires_grad True and w.grad filled on the caller's tensor
@wrong(mistakes.used_autograd)
def class_g_23(w, x, y):
    w.requires_grad_(True)
    w.grad = None
    loss = F.mse_loss(x @ w, y)
    loss.backward()
    return w.grad.clone()


# differentiates the square of the mean, 2*mean(r)*mean(x), instead of the mean of the square; right for one row
# only
@wrong(mistakes.product_of_means)
def class_g_24(w, x, y):
    # d/dw mean(r)^2 = 2 * mean(r) * d mean(r)/dw
    r_bar = (x @ w - y).mean()
    x_bar = x.mean(0)
    return 2 * r_bar * x_bar


class _Linear:
    def __init__(self, w):
        self.w = w
    def forward(self, x):
        self.x = x
        return torch.mv(x, self.w)
    def backward(self, d_out):
        return torch.mv(self.x.t(), d_out)

class _MSE:
    def forward(self, pred, target):
        self.diff = pred - target
        return self.diff.pow(2).mean()
    def backward(self):
        return 2 * self.diff / self.diff.numel()

@right
def class_g_25(w, x, y):
    lin, mse = _Linear(w), _MSE()
    mse.forward(lin.forward(x), y)
    return lin.backward(mse.backward())


# the factor 2 from the square is missing
@wrong(mistakes.missing_factor_two)
def class_h_01(w, x, y):
    n = x.shape[0]
    prediction = x @ w
    error = prediction - y
    gradient = x.T @ error / n
    return gradient


@right
def class_h_02(w, x, y):
    return x.t() @ (x @ w - y) * (2 / len(y))


# autograd is used where the rule asks for a derivation by hand AND w is left requiring gradients, with its .grad
# filled
@wrong(mistakes.used_autograd)
def class_h_03(w, x, y):
    # tell pytorch to track w
    w.requires_grad_(True)
    loss = ((x @ w - y) ** 2).mean()
    loss.backward()
    return w.grad.clone()


# the return stands inside the loop, so only the first sample is counted
@wrong(mistakes.only_the_first_row)
def class_h_04(w, x, y):
    n = len(x)
    grad = torch.zeros_like(w)
    for i in range(n):
        pred = torch.dot(x[i], w)
        diff = pred - y[i]
        grad += 2 * diff * x[i] / n
        return grad


# the residual has the wrong sign (y - x @ w without a minus outside), so the result is minus the gradient
@wrong(mistakes.gradient_sign_flipped)
def class_h_05(w, x, y):
    residual = y - torch.matmul(x, w)
    n = y.size(0)
    return (2.0 / n) * torch.matmul(x.T, residual)


# the mean is taken over the features as well as the samples: one 0-d number comes back instead of one entry for
# each weight
@wrong(mistakes.averaged_the_features_too)
def class_h_06(w, x, y):
    y_hat = x @ w
    # derivative of (y_hat - y)^2 is 2*(y_hat - y)*x, and then the mean
    d = 2 * (y_hat - y).unsqueeze(1) * x
    return d.mean()


@right
def class_h_07(w, x, y):
    n, d = x.shape
    ws, xs, ys = w.tolist(), x.tolist(), y.tolist()
    out = [0.0] * d
    for i in range(n):
        r = -ys[i]
        for j in range(d):
            r += xs[i][j] * ws[j]
        for j in range(d):
            out[j] += 2.0 * r * xs[i][j] / n
    return torch.tensor(out, dtype=w.dtype, device=w.device)


# x is reshaped to (d, n) where it must be transposed, which mixes up the entries
@wrong(mistakes.reshaped_not_transposed)
def class_h_08(w, x, y):
    n, d = x.shape
    err = x @ w - y
    # shapes did not fit: need (d, n) @ (n,) -> (d,)
    xt = x.reshape(d, n)
    return 2 / n * (xt @ err)


# brackets missing around the residual: y is subtracted from the finished product and not from the prediction x @ w
@raised(effects.shapes_do_not_fit)
def class_h_09(w, x, y):
    n = x.shape[0]
    return 2 / n * x.T @ (x @ w) - y


# y is made a column but the prediction is not, so the difference broadcasts to an (n, n) matrix of all pairs
@wrong(mistakes.broadcast_to_matrix)
def class_h_10(w, x, y):
    n = x.shape[0]
    y = y.view(-1, 1)
    pred = x @ w
    err = pred - y
    g = 2 / n * (x.T @ err)
    return g.mean(dim=1)


# squeeze() without a dim also removes the feature dimension: with d = 1 the result is 0-d instead of shape (1,)
@wrong(effects.wrong_shape)
def class_h_11(w, x, y):
    n = x.size(0)
    W = w.unsqueeze(1)                 # (d, 1)
    Y = y.unsqueeze(1)                 # (n, 1)
    E = x.mm(W) - Y                    # (n, 1)
    G = 2.0 * x.t().mm(E) / n          # (d, 1)
    return G.squeeze()


@right
def class_h_12(w, x, y):
    W = w.detach().cpu().numpy()
    X = x.detach().cpu().numpy()
    Y = y.detach().cpu().numpy()
    residual = X.dot(W) - Y
    g = 2.0 * (X.T.dot(residual) / X.shape[0])
    return torch.as_tensor(np.array(g), dtype=w.dtype, device=w.device)


# the division by n is missing: it is the gradient of the sum of the squares, not of their mean
@wrong(mistakes.loss_not_averaged)
def class_h_13(w, x, y):
    # L = (xw - y)^2
    # dL/dw = 2 * x^T (xw - y)
    diff = x @ w - y
    return 2 * torch.einsum("nd,n->d", x, diff)


# 2 // n is an integer division: it is 0 for n > 2, and the gradient vanishes
@wrong(mistakes.factor_rounded_down)
def class_h_14(w, x, y):
    n = len(y)
    factor = 2 // n
    return factor * (x.T @ (x @ w - y))


# the result buffer is made with torch.zeros(d) and is always float32: with float64 inputs the dtype and the
# precision are lost
@wrong(effects.wrong_dtype)
def class_h_15(w, x, y):
    n, d = x.shape
    err = x @ w - y
    grad = torch.zeros(d)
    for j in range(d):
        grad[j] = 2 * (err * x[:, j]).mean()
    return grad


# the residual is computed in place in y, so the caller's y is changed
@wrong(effects.changed_input)
def class_h_16(w, x, y):
    y -= x @ w                 # residual, saves memory
    return -2 * (x.T @ y) / len(y)


# forward differences approximate the gradient where the exact one is asked
@wrong(says='Right to about 2 to 3 digits and 3 digits in float32, and not further, as an approximation, a rounded number or a lower precision on the way would leave it; a missing factor would be seen in the first digit.')
def class_h_17(w, x, y):
    def loss(v):
        return ((x @ v - y) ** 2).mean()

    h = 1e-3
    base = loss(w)
    g = torch.zeros_like(w)
    for i in range(w.numel()):
        v = w.clone()
        v[i] += h
        g[i] = (loss(v) - base) / h
    return g


@right
def class_h_18(w, x, y):
    residual = (x * w).sum(dim=1) - y
    per_sample = 2 * residual[:, None] * x      # (n, d), one gradient a row
    return per_sample.mean(dim=0)


# x.transpose() without dimensions is NumPy and raises a TypeError on a tensor
@raised(effects.another_signature)
def class_h_19(w, x, y):
    n = x.shape[0]
    err = x.matmul(w) - y
    grad = (2 / n) * x.transpose().matmul(err)
    return grad


# the weights after a step of gradient descent are returned, not the gradient
@wrong(says='What came back is `w` minus 1/100 times the gradient, as after a step; the gradient itself is asked for.')
def class_h_20(w, x, y):
    lr = 0.01
    n = x.shape[0]
    y_pred = x @ w
    dw = (2 / n) * (x.T @ (y_pred - y))
    # update
    w = w - lr * dw
    return w


# minus sign missing for the residual y - x @ w AND the division is by all n * d entries of x and not by n
@wrong(says='Every number is −1/[d, the number of features] times what it should be.')
def class_h_21(w, x, y):
    delta = y - x @ w
    total = (delta[:, None] * x).sum(0)
    return 2 * total / x.numel()


# the square stays on the residual after differentiating AND the result is a column (d, 1) instead of (d,)
@wrong(says='The numbers are those of a known mistake, in another shape on cases 1, 2, 3, 4, 5, 6, 7 and 8. The residual is still squared (square-kept)')
def class_h_22(w, x, y):
    w = w.reshape(-1, 1)
    y = y.reshape(-1, 1)
    n = x.shape[0]
    grad = (2 / n) * x.T @ (x @ w - y) ** 2
    return grad


# the means of the residual and of x are taken first and then multiplied: the mean of a product is not the product
# of the means (right for n = 1)
@wrong(mistakes.product_of_means)
def class_h_23(w, x, y):
    mean_error = (x @ w - y).mean()
    mean_x = x.mean(dim=0)
    return 2 * mean_error * mean_x


# torch.func.grad is autograd, which the rule forbids; nothing is derived by hand
@wrong(mistakes.used_autograd)
def class_h_24(w, x, y):
    mse = lambda v: torch.mean((x @ v - y) ** 2)
    return grad_of_torch_func(mse)(w)


class LinearMSE:
    def __init__(self, w):
        self.w = w

    def forward(self, x, y):
        self.x = x
        self.diff = torch.mv(x, self.w) - y
        return self.diff.pow(2).mean()

    def backward(self):
        dpred = 2 * self.diff / self.diff.numel()
        return torch.mv(self.x.t(), dpred)

@right
def class_h_25(w, x, y):
    layer = LinearMSE(w)
    layer.forward(x, y)
    return layer.backward()


# the factor 2 of the square's derivative is missing
@wrong(mistakes.missing_factor_two)
def class_i_01(w, x, y):
    n = x.shape[0]
    error = x @ w - y
    grad = x.T @ error / n      # chain rule
    return grad


# the gradient of the sum, not of the mean: the division by n is missing
@wrong(mistakes.loss_not_averaged)
def class_i_02(w, x, y):
    # outer derivative: 2 * (..), inner derivative: x
    y_hat = torch.matmul(x, w)
    diff = y_hat - y
    outer = 2 * diff
    return torch.matmul(x.t(), outer)


@right
def class_i_03(w, x, y):
    # L = 1/n sum_i r_i^2 with r_i = sum_j x_ij w_j - y_i
    # dL/dw_j = 1/n sum_i 2 r_i x_ij  =  2/n (X^T r)_j
    r = x @ w - y
    return 2 * (x.T @ r) / len(y)


# the residual is turned round (y - prediction) without the minus of the inner derivative, so the sign of the
# gradient is flipped
@wrong(mistakes.gradient_sign_flipped)
def class_i_04(w, x, y):
    n = len(x)
    pred = x @ w
    residual = y - pred
    return (2 / n) * (x.T @ residual)


# the prediction is a column (n, 1) and y stays (n,), so the difference broadcasts to (n, n) and the result has the
# shape (d, n)
@wrong(says='The numbers are those of a known mistake, in another shape on case 4. A residual for all pairs, as of a column and a row (broadcast-to-matrix)')
def class_i_05(w, x, y):
    n, d = x.shape
    w_col = w.reshape(d, 1)
    pred = x @ w_col                 # (n, 1)
    err = pred - y
    grad = 2 / n * x.T @ err
    return grad.squeeze()


# divides by the number of entries of x (n * d), not by the number of samples n
class_i_06 = lambda w, x, y: 2 * x.t() @ (x @ w - y) / x.numel()
wrong(mistakes.averaged_over_all_entries)(class_i_06)


# the means are taken too early: mean of the residuals times mean of the rows, not the mean of their products
@wrong(mistakes.product_of_means)
def class_i_07(w, x, y):
    err = (x @ w - y).mean()
    inner = x.mean(dim=0)
    return 2 * err * inner


@right
def class_i_08(w, x, y):
    n, d = x.shape
    grad = torch.zeros_like(w)
    for i in range(n):
        r = -y[i]
        for j in range(d):
            r = r + x[i, j] * w[j]
        for j in range(d):
            grad[j] += 2 * r * x[i, j] / n
    return grad


# returns the weights after a descent step, not the gradient AND forgets the factor 2 in that step
@wrong(says='What came back is `w` minus 1/200 times the gradient, as after a step; the gradient itself is asked for.')
def class_i_09(w, x, y, lr=0.01):
    n = x.shape[0]
    y_pred = x @ w
    dw = (1 / n) * (x.T @ (y_pred - y))
    w = w - lr * dw
    return w


# transposes x with reshape(d, n), which mixes the entries up instead of swapping the axes
@wrong(mistakes.reshaped_not_transposed)
def class_i_10(w, x, y):
    n, d = x.shape
    xt = x.reshape(d, n)   # so the shapes fit
    return 2 * xt @ (x @ w - y) / n


# uses autograd where the gradient is to be derived by hand
@wrong(mistakes.used_autograd)
def class_i_11(w, x, y):
    w_ = w.clone().requires_grad_(True)
    loss = ((x @ w_ - y) ** 2).mean()
    loss.backward()
    return w_.grad


# the residual is computed in place in y, so the caller's y is overwritten
@wrong(effects.changed_input)
def class_i_12(w, x, y):
    # save one allocation: reuse y
    y -= x @ w
    return x.T @ y * (-2 / x.shape[0])


@right
def class_i_13(w, x, y):
    residual = torch.einsum("nd,d->n", x, w).sub(y)
    return torch.einsum("nd,n->d", x, residual).mul(2.0 / residual.numel())


# the gradient is collected in a torch.zeros of the default dtype, so a float64 input comes back as float32
@wrong(effects.wrong_dtype)
def class_i_14(w, x, y):
    n = x.size(0)
    grad = torch.zeros(len(w))
    for xi, yi in zip(x, y):
        e = torch.dot(xi, w) - yi
        grad += 2 * e * xi
    grad /= n
    return grad


# forgets the transpose: x @ residual raises for n != d and is wrong for n == d
@raised(effects.shapes_do_not_fit)
def class_i_15(w, x, y):
    pred = x @ w
    return 2 * x @ (pred - y) / len(y)


# central finite differences instead of the formula, so the result is only approximate (useless in float32)
@wrong(says='It fails on case 8 alone, where the inputs are float32.')
def class_i_16(w, x, y):
    def L(v):
        return ((x @ v - y) ** 2).mean()
    eps = 1e-5
    out = torch.empty_like(w)
    for k in range(w.numel()):
        e = torch.zeros_like(w)
        e[k] = eps
        out[k] = (L(w + e) - L(w - e)) / (2 * eps)
    return out


# the factor is written 2 // n, which is 0 for n > 2
@wrong(mistakes.factor_rounded_down)
def class_i_17(w, x, y):
    n = x.shape[0]
    scale = 2 // n
    errors = torch.mv(x, w) - y
    return scale * torch.mv(x.T, errors)


@right
def class_i_18(w, x, y):
    W, X, Y = (t.detach().cpu().numpy() for t in (w, x, y))
    R = X.dot(W) - Y
    G = (X * R[:, None]).sum(axis=0) * (2.0 / len(Y))
    return torch.from_numpy(np.ascontiguousarray(G)).to(device=w.device, dtype=w.dtype)


# divides by len(w), the number of features, not by the number of samples AND forgets the factor 2
@wrong(says='The direction is right on each of these cases, the length is not: 0.8333 on case 1, 2 on case 2, 1/8 on case 3, 3 on case 4 times as long as it should be.')
def class_i_19(w, x, y):
    m = len(w)
    loss_grad = x @ w - y
    grad = (1 / m) * loss_grad @ x
    return grad


# squeezes x, so with one sample or one feature the matrix loses an axis and the product raises
@raised(effects.shapes_do_not_fit)
def class_i_20(w, x, y):
    n = x.shape[0]
    X = x.squeeze()
    r = X @ w - y.squeeze()
    return 2 / n * (X.T @ r)


# never subtracts y: the gradient of mean((x @ w)**2)
@wrong(mistakes.prediction_for_residual)
def class_i_21(w, x, y):
    # y is a constant, so its derivative is 0 and it drops out
    n = y.shape[0]
    return 2 / n * (x.T @ x) @ w


# returns the pair (loss, gradient), not the gradient alone
@wrong(effects.wrong_type)
def class_i_22(w, x, y):
    batch_size = x.shape[0]
    preds = x.matmul(w)
    loss = torch.mean((preds - y) ** 2)
    grads = x.T.matmul(preds - y).mul(2).div(batch_size)
    return loss, grads


class _Linear_of_class_i_23:
    def __init__(self, w):
        self.w = w
    def forward(self, x):
        self.x = x
        return x @ self.w
    def backward(self, upstream):
        return upstream @ self.x

class _MSE_of_class_i_23:
    def forward(self, p, y):
        self.diff = p - y
        return self.diff.pow(2).mean()
    def backward(self):
        return 2 * self.diff / self.diff.shape[0]

@right
def class_i_23(w, x, y):
    layer, crit = _Linear_of_class_i_23(w), _MSE_of_class_i_23()
    crit.forward(layer.forward(x), y)
    return layer.backward(crit.backward())


# shuffles the samples with torch.randperm first, which moves the global random state
@wrong(effects.changed_rng)
def class_i_24(w, x, y):
    idx = torch.randperm(len(x))      # order does not matter for a mean
    xb, yb = x[idx], y[idx]
    return (2 * (xb @ w - yb).unsqueeze(1) * xb).mean(dim=0)


# multiplies with w instead of x as the inner derivative AND takes the mean over everything, so a scalar is spread
# over the shape of w
@wrong(says='Where there are several entries, they all hold the same number; the right ones differ from each other.')
def class_i_25(w, x, y):
    error = x @ w - y
    g = 2 * error.mean() * w.mean()
    return g * torch.ones_like(w)
