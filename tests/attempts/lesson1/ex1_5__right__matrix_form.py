import torch


def two_layer_backward(W1, b1, W2, b2, x, y):
    hidden = torch.tanh(x @ W1 + b1)
    output = hidden @ W2 + b2
    d_output = 2 * (output - y) / y.numel()
    d_pre = (d_output @ W2.T) * (1 - hidden**2)
    return {"W1": x.T @ d_pre, "b1": d_pre.sum(0), "W2": hidden.T @ d_output, "b2": d_output.sum(0)}
