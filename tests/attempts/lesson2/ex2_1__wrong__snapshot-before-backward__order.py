import torch


def backward_n_times(param, loss_fn, n):
    param.grad = torch.zeros_like(param)
    snapshots = []
    for _ in range(n):
        snapshots.append(param.grad.clone())
        loss_fn(param).backward()
    return snapshots
