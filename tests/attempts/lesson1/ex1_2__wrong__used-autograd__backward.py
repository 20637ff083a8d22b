def linear_mse_gradient(w, x, y):
    leaf = w.detach().clone().requires_grad_(True)
    ((x @ leaf - y) ** 2).mean().backward()
    return leaf.grad
