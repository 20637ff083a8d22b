import torch


def backward_n_times(param, loss_fn, n):
    param.grad = None
    snapshots = []
    for _ in range(n):
        g = torch.autograd.grad(loss_fn(param), param)[0]
        param.grad = g if param.grad is None else param.grad + g
        snapshots.append(param.grad)
    return snapshots
