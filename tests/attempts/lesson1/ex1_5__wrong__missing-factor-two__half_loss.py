import torch


def two_layer_backward(W1, b1, W2, b2, x, y):
    h = torch.tanh(x @ W1 + b1)
    d2 = (h @ W2 + b2 - y) / y.numel()
    d1 = (d2 @ W2.T) * (1 - h**2)
    return {"W1": x.T @ d1, "b1": d1.sum(0), "W2": h.T @ d2, "b2": d2.sum(0)}
