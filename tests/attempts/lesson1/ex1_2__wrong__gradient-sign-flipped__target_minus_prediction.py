def linear_mse_gradient(w, x, y):
    return 2 * x.T @ (y - x @ w) / len(y)
