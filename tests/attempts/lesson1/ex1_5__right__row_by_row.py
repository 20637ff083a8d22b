import torch


def two_layer_backward(W1, b1, W2, b2, x, y):
    grads = {name: torch.zeros_like(p) for name, p in [("W1", W1), ("b1", b1), ("W2", W2), ("b2", b2)]}
    for row, target in zip(x, y):
        hidden = torch.tanh(row @ W1 + b1)
        signal = 2 * (hidden @ W2 + b2 - target)
        back = (W2 @ signal) * (1 - hidden * hidden)
        grads["W2"] += torch.outer(hidden, signal)
        grads["b2"] += signal
        grads["W1"] += torch.outer(row, back)
        grads["b1"] += back
    return {name: g / y.numel() for name, g in grads.items()}
