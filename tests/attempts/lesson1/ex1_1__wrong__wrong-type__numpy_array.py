import numpy as np


def numerical_gradient(f, x, h=1e-5):
    out = np.zeros(tuple(x.shape))
    for index in np.ndindex(out.shape):
        up, down = x.clone(), x.clone()
        up[index] += h
        down[index] -= h
        out[index] = (f(up) - f(down)).item() / (2 * h)
    return out
