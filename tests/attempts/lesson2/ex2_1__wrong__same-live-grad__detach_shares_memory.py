def backward_n_times(param, loss_fn, n):
    if param.grad is not None:
        param.grad.zero_()
    snapshots = []
    for _ in range(n):
        loss_fn(param).backward()
        snapshots.append(param.grad.detach())
    return snapshots
