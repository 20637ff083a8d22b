def linear_mse_gradient(w, x, y):
    ((x @ w - y) ** 2).mean().backward()
    return w.grad
