import numpy as np
import torch


def two_layer_backward(W1, b1, W2, b2, x, y):
    nW1, nb1, nW2, nb2, nx, ny = (t.numpy() for t in (W1, b1, W2, b2, x, y))
    a = np.tanh(nx @ nW1 + nb1)
    d2 = 2 * (a @ nW2 + nb2 - ny) / ny.size
    d1 = (d2 @ nW2.T) * (1 - a**2)
    grads = {"W1": nx.T @ d1, "b1": d1.sum(axis=0), "W2": a.T @ d2, "b2": d2.sum(axis=0)}
    return {name: torch.from_numpy(np.ascontiguousarray(g)) for name, g in grads.items()}
