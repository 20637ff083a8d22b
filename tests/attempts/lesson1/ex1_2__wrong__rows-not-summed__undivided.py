"""The derivative of each row's own square, neither summed nor averaged."""


def linear_mse_gradient(w, x, y):
    return 2 * (x @ w - y).reshape(-1, 1) * x
