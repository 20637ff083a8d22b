"""Every entry by its own sum, in Python."""

import torch


def two_layer_backward(W1, b1, W2, b2, x, y):
    n, d = x.shape
    h, k = W2.shape
    gW1, gb1, gW2, gb2 = (torch.zeros_like(t) for t in (W1, b1, W2, b2))
    for i in range(n):
        a = [torch.tanh(sum(x[i, p] * W1[p, j] for p in range(d)) + b1[j]) for j in range(h)]
        for c in range(k):
            r = sum(a[j] * W2[j, c] for j in range(h)) + b2[c] - y[i, c]
            s = 2 * r / (n * k)
            gb2[c] += s
            for j in range(h):
                gW2[j, c] += s * a[j]
                t = s * W2[j, c] * (1 - a[j] ** 2)
                gb1[j] += t
                for p in range(d):
                    gW1[p, j] += t * x[i, p]
    return {"W1": gW1, "b1": gb1, "W2": gW2, "b2": gb2}
