def linear_mse_gradient(w, x, y):
    return 2 * (x @ w - y)[:, None] * x / len(y)
