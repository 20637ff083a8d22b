import torch


def linear_mse_gradient(w, x, y):
    n, d = x.shape
    grad = torch.zeros_like(w)
    for i in range(n):
        prediction = 0.0
        for j in range(d):
            prediction = prediction + x[i, j] * w[j]
        for j in range(d):
            grad[j] += 2 * (prediction - y[i]) * x[i, j] / n
    return grad
