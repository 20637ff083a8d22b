import torch


def two_layer_backward(W1, b1, W2, b2, x, y):
    leaves = {n: t.clone().requires_grad_() for n, t in dict(W1=W1, b1=b1, W2=W2, b2=b2).items()}
    out = torch.tanh(x @ leaves["W1"] + leaves["b1"]) @ leaves["W2"] + leaves["b2"]
    ((out - y) ** 2).mean().backward()
    return {n: t.grad for n, t in leaves.items()}
