def linear_mse_gradient(w, x, y):
    n = len(y)
    y -= x @ w
    return -2 * x.T @ y / n
