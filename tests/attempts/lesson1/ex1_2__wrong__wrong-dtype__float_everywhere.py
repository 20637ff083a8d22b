def linear_mse_gradient(w, x, y):
    w, x, y = w.float(), x.float(), y.float()
    return 2 * x.T @ (x @ w - y) / len(y)
