import torch


def backward_n_times(param, loss_fn, n):
    param.grad = torch.zeros_like(param)
    snapshots = []
    for _ in range(n):
        loss_fn(param).backward()
        snapshots.append(param.grad.clone())
    param.grad.zero_()
    return snapshots
