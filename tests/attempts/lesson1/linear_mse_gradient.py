"""Attempts at exercise 1.2, linear_mse_gradient: what learners write, and what the check must say of it."""

from functools import reduce
from torch.autograd import forward_ad
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
def func_jacfwd(w, x, y):
    return torch.func.jacfwd(lambda w: ((x @ w - y) ** 2).mean())(w)


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


# squeeze() at the end also drops the only dimension when d = 1, so the result is 0-d there
@wrong(effects.wrong_shape)
def class_a_12(w, x, y):
    w2 = w.detach().unsqueeze(1)      # (d, 1)
    y2 = y.detach().unsqueeze(1)      # (n, 1), otherwise it broadcasts!
    x2 = x.detach()
    grad = 2.0 / x2.shape[0] * (x2.T @ (x2 @ w2 - y2))
    return grad.squeeze()


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


@right
def class_c_21(w, x, y):
    wn, xn, yn = (t.detach().cpu().numpy().astype(np.float64) for t in (w, x, y))
    residual = xn.dot(wn) - yn
    g = 2.0 * np.sum(xn * residual[:, np.newaxis], axis=0) / len(yn)
    return torch.tensor(g, dtype=w.dtype, device=w.device)


# y - x @ w turns the sign AND the factor 2 is missing
@wrong()
def class_c_23(w, x, y):
    return torch.mean((y - x @ w)[:, None] * x, dim=0)


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


# y is made a column (n, 1) and the prediction is not, so the subtraction broadcasts to (n, n)
@wrong(mistakes.broadcast_to_matrix)
def class_d_11(w, x, y):
    y_true = y.reshape(-1, 1)
    y_pred = x @ w
    err = y_pred - y_true
    grad = 2 * (x.T @ err).mean(dim=1)
    return grad


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


# clips the gradient to norm 1, so larger gradients come back scaled down
@wrong(mistakes.brought_to_length_1)
def class_d_22(w, x, y):
    g = 2 * ((x @ w - y).unsqueeze(1) * x).mean(0)
    norm = g.norm()
    if norm > 1.0:          # avoid exploding gradients
        g = g / norm
    return g


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


# returns the weights after a descent step (lr 0.01), not the gradient
@wrong(says='What came back is `w` minus 1/100 times the gradient, as after a step; the gradient itself is asked for.')
def class_e_06(w, x, y):
    lr = 0.01
    y_pred = x @ w
    grad_w = 2.0 * (y_pred - y) @ x / len(x)
    w = w - lr * grad_w
    return w


# y is made a column, so the subtraction broadcasts to an (n, n) table of every prediction minus every target
@wrong(mistakes.broadcast_to_matrix)
def class_e_08(w, x, y):
    n = x.shape[0]
    y = y.reshape(-1, 1)
    pred = x @ w
    err = pred - y
    return (2 / n) * (x.T @ err).mean(dim=1)


# brackets: y is subtracted after x.T was applied, so shapes (d,) and (n,) meet, which raises or broadcasts to
# nonsense
@raised(effects.shapes_do_not_fit)
def class_e_14(w, x, y):
    return 2 / x.shape[0] * (x.T @ (x @ w) - y)


# returns a NumPy array, not a tensor
@wrong(effects.wrong_type)
def class_e_17(w, x, y):
    w = w.numpy()
    x = x.numpy()
    y = y.numpy()
    return 2 * np.dot(x.T, np.dot(x, w) - y) / len(y)


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


# x.mul_ writes the products over the caller's x AND the mean is taken over all n * d entries, which gives one
# number
@wrong(mistakes.averaged_the_features_too)
def class_e_23(w, x, y):
    err = x @ w - y
    return 2 * x.mul_(err[:, None]).mean()


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


# the residuals multiply the columns of x instead of its rows (no unsqueeze), which raises or gives a wrong result
# unless n is 1
@raised(effects.shapes_do_not_fit)
def class_f_12(w, x, y):
    return (2 * (x @ w - y) * x).mean(0)


@right
def class_f_13(w, x, y):
    return torch.einsum("n,nd->d", x @ w - y, x) * (2 / y.numel())


# the inputs are squeezed first, so it raises when n or d is 1
@raised(effects.shapes_do_not_fit)
def class_f_17(w, x, y):
    # get rid of useless dimensions
    w, x, y = w.squeeze(), x.squeeze(), y.squeeze()
    n = x.shape[0]
    err = torch.matmul(x, w) - y
    return 2.0 / n * torch.matmul(x.t(), err)


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


# the mean is taken over the n * d entries of x instead of the n samples AND the sign is that of y - x @ w
@wrong(says='Every number is −1/[d, the number of features] times what it should be.')
def class_f_22(w, x, y):
    error = y - torch.mv(x, w)
    # chain rule: outer * inner, then the mean over everything
    outer = 2 * error
    inner = x
    product = outer.unsqueeze(1) * inner
    return product.sum(dim=0) / product.numel()


# the prediction x @ w is left out, so it is right only where it vanishes, as for w = 0
@wrong(says='The result does not change when `w` changes.')
def class_f_24(w, x, y):
    # at the start w = 0, so the error is just -y
    n = x.shape[0]
    return torch.zeros_like(w) - 2 * x.T @ y / n


# it measures the slope by forward differences, an approximation where the exact formula is asked
@wrong(says='digits in float32, and not further, as an approximation, a rounded number or a lower precision on the way would leave it; a missing factor would be seen in the first digit.')
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


# the buffer np.zeros is float64, so float32 inputs give back a float64 gradient
@wrong(effects.wrong_dtype)
def class_g_12(w, x, y):
    X, W, Y = x.cpu().numpy(), w.cpu().numpy(), y.cpu().numpy()
    grad = np.zeros(W.shape)
    for xi, yi in zip(X, Y):
        grad += 2 * (xi.dot(W) - yi) * xi
    grad /= len(Y)
    return torch.from_numpy(grad).to(w.device)


@right
def class_g_16(w, x, y):
    res = torch.einsum("nd,d->n", x, w) - y
    rows = torch.einsum("n,nd->nd", 2 * res, x)   # gradient of each row's square
    return rows.mean(dim=0)


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


@right
def class_g_22(w, x, y):
    xn = x.detach().cpu().numpy()
    wn = w.detach().cpu().numpy()
    yn = y.detach().cpu().numpy()
    g = 2.0 * np.dot(xn.T, np.dot(xn, wn) - yn) / xn.shape[0]
    return torch.tensor(g, dtype=w.dtype, device=w.device)


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


# brackets missing around the residual: y is subtracted from the finished product and not from the prediction x @ w
@raised(effects.shapes_do_not_fit)
def class_h_09(w, x, y):
    n = x.shape[0]
    return 2 / n * x.T @ (x @ w) - y


# forward differences approximate the gradient where the exact one is asked
@wrong(says='digits in float32, and not further, as an approximation, a rounded number or a lower precision on the way would leave it; a missing factor would be seen in the first digit.')
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


# x.transpose() without dimensions is NumPy and raises a TypeError on a tensor
@raised(effects.another_signature)
def class_h_19(w, x, y):
    n = x.shape[0]
    err = x.matmul(w) - y
    grad = (2 / n) * x.transpose().matmul(err)
    return grad


# the square stays on the residual after differentiating AND the result is a column (d, 1) instead of (d,)
@wrong(says='The numbers are those of a known mistake, in another shape on cases 1, 2, 3, 4, 5, 6, 7 and 8. The residual is still squared (square-kept)')
def class_h_22(w, x, y):
    w = w.reshape(-1, 1)
    y = y.reshape(-1, 1)
    n = x.shape[0]
    grad = (2 / n) * x.T @ (x @ w - y) ** 2
    return grad


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


# returns the weights after a descent step, not the gradient AND forgets the factor 2 in that step
@wrong(says='What came back is `w` minus 1/200 times the gradient, as after a step; the gradient itself is asked for.')
def class_i_09(w, x, y, lr=0.01):
    n = x.shape[0]
    y_pred = x @ w
    dw = (1 / n) * (x.T @ (y_pred - y))
    w = w - lr * dw
    return w


@right
def class_i_13(w, x, y):
    residual = torch.einsum("nd,d->n", x, w).sub(y)
    return torch.einsum("nd,n->d", x, residual).mul(2.0 / residual.numel())


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


# multiplies with w instead of x as the inner derivative AND takes the mean over everything, so a scalar is spread
# over the shape of w
@wrong(says='Where there are several entries, they all hold the same number; the right ones differ from each other.')
def class_i_25(w, x, y):
    error = x @ w - y
    g = 2 * error.mean() * w.mean()
    return g * torch.ones_like(w)
