import torch


def backward_n_times(param, loss_fn, n):
    optimizer = torch.optim.SGD([param], lr=0.1)
    optimizer.zero_grad()
    snapshots = []
    while len(snapshots) < n:
        loss_fn(param).backward()
        snapshots.append(param.grad + 0)
    return snapshots
