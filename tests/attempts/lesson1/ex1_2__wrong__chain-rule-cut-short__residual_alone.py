def linear_mse_gradient(w, x, y):
    n = x.shape[0]
    return 2 / n * (x @ w - y)
