"""Columns all the way, and back to a vector at the end."""


def linear_mse_gradient(w, x, y):
    column = x @ w[:, None] - y[:, None]
    return (2.0 / len(y) * (x.t() @ column)).squeeze(1)
