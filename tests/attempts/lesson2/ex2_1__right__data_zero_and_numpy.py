import torch


def backward_n_times(param, loss_fn, n):
    if param.grad is not None:
        param.grad.data.mul_(0)
    snapshots = []
    for _ in range(n):
        loss_fn(param).backward()
        snapshots.append(torch.tensor(param.grad.tolist(), dtype=param.dtype, device=param.device))
    return snapshots
