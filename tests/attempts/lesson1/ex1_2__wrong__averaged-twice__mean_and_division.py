def linear_mse_gradient(w, x, y):
    n = len(y)
    per_row = 2 * (x @ w - y)[:, None] * x / n
    return per_row.mean(0)
