import numpy as np
import torch


def linear_mse_gradient(w, x, y):
    xs, ws, ys = x.numpy(), w.numpy(), y.numpy()
    return torch.from_numpy(np.dot(xs.T, np.dot(xs, ws) - ys) * 2 / len(ys))
